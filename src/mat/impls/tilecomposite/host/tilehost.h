/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Tile-composite on the host: the layout (tilelayout.h) and the operations on raw arrays, without PETSc's objects
*/
#pragma once

#include "sys/sysisa.h"
#include "sys/sysmemory.h"
#include "sys/sysstretch.h"
#include "sys/syscuda.h"
#include "mat/impls/tilecomposite/host/tilelayout.h"

struct _TileKernels;

typedef struct {
  TileLayout                 layout;
  const struct _TileKernels *kernels;
  int                        nthread;
  int64_t                   *first; /* nthread + 1: the rectangles of each thread */
  SysScalar                 *val;   /* layout.nentry */
  SysScalar                 *xs;    /* the entries of x in tiles */
  SysScalar                 *sums;  /* the slots */
  SysStretches               work;  /* of the transposed product */
} TileHost;

/* One set of kernels for each instruction set, made from the same template */
typedef struct _TileKernels {
  const char *name;
  int (*supported)(void);
  void (*mult)(const TileHost *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z);
} TileKernels;

extern const TileKernels TileKernelsPlain, TileKernelsAVX2, TileKernelsAVX512;

const TileKernels *TileHostKernels(void);

/* Converts a matrix. Bytes are counted before the entries are stored, and must not exceed most. If a is NULL, TileHostUpdate() brings the values before the first
   product. Products are made by nthread threads, the conversion by nworker. */
SysStatus TileHostCreate(const SysCSR *, const TileParams *, int nthread, int nworker, const TileKernels *, double most, double *bytes, TileHost **);

/* New values, and z = alpha A x + beta y, and the same with the transposed matrix, which is made from the CSR that is given. data is a TileHost; the stream is not used. */
SysStatus TileHostUpdate(void *data, const SysCSR *, SysStream);
SysStatus TileHostMult(void *data, const SysCSR *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream);
SysStatus TileHostMultTranspose(void *data, const SysCSR *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream);
void      TileHostDestroy(void *data);
