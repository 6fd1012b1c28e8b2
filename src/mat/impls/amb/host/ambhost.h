/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Adaptive Multi-level Blocking (AMB) on the host: the layout and the operations on raw arrays, without PETSc's objects.

   Reference:
.  * - Y. Nagasaka, "Performance optimization of sparse matrix kernels for many-core architectures", doctoral thesis, Tokyo Institute of Technology, 2019, chapters 3 and 4

   The three levels. Rows are cut into scopes of at most 32,768 rows; each scope belongs to one thread, so that no two threads add to the same row.
   The columns a scope touches are cut into segments of at most 65,536 columns, so that a column needs 16 bits. The part of a scope in one
   segment is a tile: SELL-C-sigma chunks of C rows, sorted by length unless that gains nothing, of blocks of b contiguous columns that share
   one index. The segments of a scope begin where its columns begin, not at multiples of 65,536: a banded matrix has one tile per scope.

   A chunk of n steps holds n*C blocks; block i of lane l has its index at col[i*C + l] and its values at val[(i*C + l)*b].
   The first tile of a scope holds every row of the scope, so that it can assign y; later tiles leave out empty rows and add to y.
   A row much longer than its neighbours gets a chunk of its own, in which its blocks are dealt to the lanes.
*/
#pragma once

#include "sys/sysstretch.h"
#include "sys/systhreads.h"
#include "sys/syscuda.h"
#include "sys/sysisa.h"
#include "sys/sysvalues.h"

#define AMB_C         8  /* rows of a chunk: the doubles of a 512-bit register */
#define AMB_MAX_BLOCK 10 /* longest block */
#define AMB_BLOCKS(F) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10)
#if defined(SYS_HAVE_STORAGE_SINGLE)
  #define AMB_SINGLE(F, b) F(b, SYS_STORAGE_SINGLE)
#else
  #define AMB_SINGLE(F, b)
#endif
#define AMB_MAX_SCOPE     32768 /* rows that are numbered by a 16-bit offset, at most */
#define AMB_SEGMENT_WIDTH 65536 /* columns that a 16-bit index can number */
#define AMB_MODEL_ROWS    4096  /* rows of a window that the traffic model looks at, at most */
#define AMB_MODEL_WINDOWS 8     /* the model looks at this many windows at least, or at all if the matrix has fewer, */
#define AMB_MODEL_EVERY   12    /* and at one of this many at least */

typedef struct {
  int64_t row;     /* first row of the scope */
  int64_t lo, hi;  /* the entries of a row in this tile are those with lo <= column < hi */
  int64_t col;     /* the column that index 0 stands for */
  int64_t step;    /* steps before this tile: its blocks begin at step * C */
  int64_t chunk;   /* its nchunk + 1 entries of start[] begin here */
  int64_t perm;    /* its entries of perm[] begin here */
  int32_t nsplit;  /* leading chunks that hold one long row each */
  int32_t nchunk;  /* chunks, the split ones included */
  int32_t nfilled; /* chunks before the first empty one; all chunks after that are empty too */
  int32_t nrow;    /* in a sorted tile: rows of the chunks that are not split */
  int16_t first;   /* the tile assigns y */
  int16_t only;    /* the scope has no other tile */
  int32_t sorted;  /* perm[] has an offset for each row; otherwise one for each chunk, in units of C rows */
} AmbTile;

/* The result of the traffic model: the bytes of the format that a product reads, for every block size, estimated from some of the rows */
typedef struct {
  int       block_size; /* the block size with the fewest bytes, or the one that the caller asked for */
  int       scope;      /* rows of a scope */
  int       nthread;
  SysValues values;                   /* the storage of values that is asked for; the block size does not depend on it, so that sums have one order */
  int64_t   trial;                    /* one thread tries a table for exact values of a matrix with so many entries */
  double    bytes[AMB_MAX_BLOCK + 1]; /* by block size; 0 for block sizes that were not considered */
} AmbPlan;

struct _AmbKernels;

typedef struct {
  SysCSR                    csr; /* the matrix in CSR: rows that meet a NaN or an infinity are computed from it */
  const struct _AmbKernels *kernels;
  int                       block_size, scope, nthread;
  int64_t                   nscope, ntile, nstep, nchunk, nperm;
  int64_t                  *scope_tile;   /* nscope + 1: the first tile of each scope */
  int64_t                  *thread_scope; /* nthread + 1: the first scope of each thread */
  AmbTile                  *tile;
  uint32_t                 *start; /* per tile, nchunk + 1: steps before each chunk, from the tile's first */
  uint16_t                 *perm;
  uint16_t                 *col;
  void                     *val; /* as values.stored says */
  SysValuesChoice           values;
  int                       filled; /* val has values */
  int                       tries;  /* the first time that a table has room for all values, products tell whether it pays */
  uint8_t                  *place;  /* while val is filled: the place of each entry in the table */
  SysStretches              work;   /* of the transposed product */
} AmbHost;

/* One set of kernels for each instruction set, made from the same template */
typedef struct _AmbKernels {
  const char *name;
  int (*supported)(void);
  void (*count)(const SysCSR *, int64_t row, int nrow, int64_t lo, int64_t hi, SysInt *pos, int32_t *count);
  void (*mult)(const AmbHost *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z);
  void (*multtranspose)(const AmbHost *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z);
} AmbKernels;

/* AmbKernelsGatherAVX512 has the layouts and the bits of AmbKernelsAVX512 */
extern const AmbKernels AmbKernelsPlain, AmbKernelsAVX2, AmbKernelsAVX512, AmbKernelsGatherAVX512;

/* The row of entry k */
static inline int64_t AmbRowOfEntry(const SysCSR *A, int64_t k)
{
  int64_t lo = 0, hi = A->m; /* i[lo] <= k < i[hi] */

  while (hi - lo > 1) {
    const int64_t middle = (lo + hi) / 2;

    if (A->i[middle] <= k) lo = middle;
    else hi = middle;
  }
  return lo;
}

const AmbKernels *AmbHostKernels(void);

/* Products are made by nthread threads, plan and conversion by nworker. If a is NULL the conversion needs only the pattern; AmbHostUpdate() brings the values
   before the first product. */
SysStatus AmbPlanCreate(const SysCSR *, int block_size, int scope, int nthread, int nworker, const AmbKernels *, AmbPlan *);
SysStatus AmbHostCreate(const SysCSR *, const AmbPlan *, int nworker, const AmbKernels *, AmbHost **);
SysStatus AmbHostPrepareTranspose(AmbHost *);

/* New values, and z = alpha A x + beta y, and the same with the transposed matrix. data is an AmbHost; the stream is not used, nor is the CSR of a product. */
SysStatus AmbHostUpdate(void *data, const SysCSR *, SysStream);
SysStatus AmbHostMult(void *data, const SysCSR *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream);
SysStatus AmbHostMultTranspose(void *data, const SysCSR *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream);

double AmbHostBytes(const AmbHost *);
void   AmbHostDestroy(void *data);
