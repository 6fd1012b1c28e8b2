/* SPDX-License-Identifier: BSD-2-Clause */
/*
   CCOO on the host (layout: ccooparams.h), on raw arrays.

   The thread that multiplies a chunk also fills it (first touch). A row in several chunks has a partial sum in each; they are added in the order of
   the chunks after all chunks are done, so the bits do not depend on the number of threads.
*/
#pragma once

#include "sys/sysisa.h"
#include "sys/sysstretch.h"
#include "sys/systable.h"
#include "sys/systhreads.h"
#include "sys/syscuda.h"
#include "mat/impls/ccoo/host/ccooparams.h"

#define CCOO_SLACK 64 /* bytes after the offsets that kernels may load */

struct _CcooKernels;

typedef struct {
  SysCSR                     csr; /* the matrix; the kernels recompute rows with a NaN from it */
  const struct _CcooKernels *kernels;
  CcooParams                 params;
  int                        nthread;
  int64_t                    nchunk, ngroup;
  int64_t                    nindex, nvalue; /* bytes */
  CcooChunk                 *chunk;          /* nchunk + 1; the last has row m */
  SysInt                    *entry;          /* nchunk + 1: each chunk's first entry in CSR */
  uint8_t                   *index, *value;
  SysTable                  *table;
  SysScalar                 *carry; /* two for each chunk: sum of a first row that began earlier, and of a last row that ends later */
  SysStretches               work;  /* for the transposed product */
} CcooHost;

/* The kernels of one instruction set, instances of ccookernels.h */
typedef struct _CcooKernels {
  const char *name;
  int (*supported)(void);
  void (*mult)(const CcooHost *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z);
  void (*multtranspose)(const CcooHost *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z);
} CcooKernels;

extern const CcooKernels CcooKernelsPlain, CcooKernelsAVX2, CcooKernelsAVX512;

/* Returns the groups of chunk c */
static inline int CcooGroups(const CcooHost *A, int64_t c)
{
  const int64_t left = A->ngroup - c * A->params.b;

  return left < A->params.b ? (int)left : A->params.b;
}

/* Returns thread t's first chunk */
static inline int64_t CcooFirst(const CcooHost *A, int t)
{
  return A->nchunk * t / A->nthread;
}

const CcooKernels *CcooHostKernels(void);

/* Sets the open parameters, and estimates CcooHostBytes() from CCOO_MODEL_CHUNKS chunks; exact if there are no more. Without values it assumes plain
   values. */
#define CCOO_MODEL_CHUNKS 256
SysStatus CcooHostPlan(const SysCSR *, CcooParams *, double *bytes);

/* Converts a matrix. params: a plan without open parameters. Returns SYS_TOO_MANY_BYTES before the fill if the bytes exceed `most`. With a == NULL it
   stores the pattern only; call CcooHostUpdate() before the first product. Products run on nthread threads, the conversion on nworker. */
SysStatus CcooHostCreate(const SysCSR *, const CcooParams *, int nthread, int nworker, const CcooKernels *, double most, double *bytes, CcooHost **);
SysStatus CcooHostPrepareTranspose(CcooHost *);

/* CcooHostUpdate() stores new values in the same pattern; CcooHostMult() computes z = alpha A x + beta y, CcooHostMultTranspose() the same with A^T.
   data is a CcooHost. All ignore the stream, and products ignore the CSR. */
SysStatus CcooHostUpdate(void *data, const SysCSR *, SysStream);
SysStatus CcooHostMult(void *data, const SysCSR *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream);
SysStatus CcooHostMultTranspose(void *data, const SysCSR *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream);

void   CcooHostCount(const CcooHost *, int64_t count[CCOO_FORMATS]); /* sets the number of chunks of each format */
double CcooHostBytes(const CcooHost *);
void   CcooHostDestroy(void *data);
