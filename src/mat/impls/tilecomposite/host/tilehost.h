/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Tile-composite on the host (layout: tilelayout.h), on raw arrays
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
  int64_t                   *first; /* nthread + 1: each thread's first rectangle */
  SysScalar                 *val;   /* layout.nentry values */
  SysScalar                 *xs;    /* the entries of x in tiles */
  SysScalar                 *sums;  /* one for each slot */
  SysStretches               work;  /* for the transposed product */
} TileHost;

/* The kernels of one instruction set, instances of tilekernels.h */
typedef struct _TileKernels {
  const char *name;
  int (*supported)(void);
  void (*mult)(const TileHost *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z);
} TileKernels;

extern const TileKernels TileKernelsPlain, TileKernelsAVX2, TileKernelsAVX512;

const TileKernels *TileHostKernels(void);

/* Converts a matrix. Returns SYS_TOO_MANY_BYTES before it stores entries if the bytes exceed `most`. With a == NULL call TileHostUpdate() before the
   first product. Products run on nthread threads, the conversion on nworker. */
SysStatus TileHostCreate(const SysCSR *, const TileParams *, int nthread, int nworker, const TileKernels *, double most, double *bytes, TileHost **);

/* TileHostUpdate() stores new values in the same pattern; TileHostMult() computes z = alpha A x + beta y, TileHostMultTranspose() the same with A^T,
   from the given CSR. data is a TileHost. All ignore the stream. */
SysStatus TileHostUpdate(void *data, const SysCSR *, SysStream);
SysStatus TileHostMult(void *data, const SysCSR *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream);
SysStatus TileHostMultTranspose(void *data, const SysCSR *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream);
void      TileHostDestroy(void *data);
