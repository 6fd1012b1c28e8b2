/* SPDX-License-Identifier: BSD-2-Clause */
/*
   CCOO on the host: the layout (ccooparams.h) and the operations on raw arrays, without PETSc's objects.

   The thread that multiplies chunks has filled them, so that their memory is near that thread. A row that lies in several chunks has a partial sum in each of
   them. The partial sums are added in the order of the chunks when all chunks are done: the bits do not depend on the number of threads.
*/
#pragma once

#include "sys/sysisa.h"
#include "sys/sysstretch.h"
#include "sys/systable.h"
#include "sys/systhreads.h"
#include "sys/syscuda.h"
#include "mat/impls/ccoo/host/ccooparams.h"

#define CCOO_SLACK 64 /* bytes after the offsets, which kernels may load */

struct _CcooKernels;

typedef struct {
  SysCSR                     csr; /* the matrix in CSR: rows that meet a NaN or an infinity are computed from it */
  const struct _CcooKernels *kernels;
  CcooParams                 params;
  int                        nthread;
  int64_t                    nchunk, ngroup;
  int64_t                    nindex, nvalue; /* bytes */
  CcooChunk                 *chunk;          /* nchunk + 1; the last one has the number of rows as its row */
  SysInt                    *entry;          /* nchunk + 1: the entry of the CSR that each chunk begins with */
  uint8_t                   *index, *value;
  SysTable                  *table;
  SysScalar                 *carry; /* two for each chunk: the sum of a first row that continues, and that of a last row that begins here and goes on */
  SysStretches               work;  /* of the transposed product */
} CcooHost;

/* One set of kernels for each instruction set, made from the same template */
typedef struct _CcooKernels {
  const char *name;
  int (*supported)(void);
  void (*mult)(const CcooHost *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z);
  void (*multtranspose)(const CcooHost *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z);
} CcooKernels;

extern const CcooKernels CcooKernelsPlain, CcooKernelsAVX2, CcooKernelsAVX512;

/* The groups of chunk c */
static inline int CcooGroups(const CcooHost *A, int64_t c)
{
  const int64_t left = A->ngroup - c * A->params.b;

  return left < A->params.b ? (int)left : A->params.b;
}

/* The first chunk of thread t */
static inline int64_t CcooFirst(const CcooHost *A, int t)
{
  return A->nchunk * t / A->nthread;
}

const CcooKernels *CcooHostKernels(void);

/* Chooses the parameters left open, and estimates CcooHostBytes() from some of the chunks. The estimate is exact if there are at most CCOO_MODEL_CHUNKS. If the
   matrix has no values, the estimate is that for plain values. */
#define CCOO_MODEL_CHUNKS 256
SysStatus CcooHostPlan(const SysCSR *, CcooParams *, double *bytes);

/* Converts a matrix. The parameters are those of a plan, which leaves nothing open. Bytes are counted before the format is filled, and must not exceed most. If a
   is NULL the conversion needs only the pattern; CcooHostUpdate() brings the values before the first product. Products are made by nthread threads, the conversion
   by nworker. */
SysStatus CcooHostCreate(const SysCSR *, const CcooParams *, int nthread, int nworker, const CcooKernels *, double most, double *bytes, CcooHost **);
SysStatus CcooHostPrepareTranspose(CcooHost *);

/* New values, and z = alpha A x + beta y, and the same with the transposed matrix. data is a CcooHost; the stream is not used, nor is the CSR of a product. */
SysStatus CcooHostUpdate(void *data, const SysCSR *, SysStream);
SysStatus CcooHostMult(void *data, const SysCSR *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream);
SysStatus CcooHostMultTranspose(void *data, const SysCSR *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream);

void   CcooHostCount(const CcooHost *, int64_t count[CCOO_FORMATS]); /* the chunks of each format */
double CcooHostBytes(const CcooHost *);
void   CcooHostDestroy(void *data);
