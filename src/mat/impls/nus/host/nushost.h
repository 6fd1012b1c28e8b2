/* SPDX-License-Identifier: BSD-2-Clause */
/*
   NUS-SELL-C-sigma, the non-uniformly segmented SELL-C-sigma format, on the host: the layout and the operations on raw arrays, without PETSc's
   objects.

   Reference:
.  * - Y. Nagasaka, "Performance optimization of sparse matrix kernels for many-core architectures", doctoral thesis, Tokyo Institute of Technology, 2019, chapter 3

   Columns are cut into segments, so that the part of x that is being read stays in a cache: N = S1 K1 + S2 K2 + S3. The K1 segments of S1 columns
   have the columns with the most nonzeros, the K2 segments of S2 columns those with the next most; the remaining S3 columns are one more segment. The
   entries of x for the first two kinds are gathered once for each product into an array in that order; the last segment, and segments of equal
   width, read x itself.

   Rows are cut into scopes of sigma rows; each scope belongs to one thread, so that no two threads add to the same row. The part of a scope in one
   segment is a tile: chunks of C rows, sorted by length unless that gains nothing, each as many steps long as its longest row. Empty rows and chunks
   are left out, but for the first tile of a scope, which assigns y. A row much longer than its neighbours gets a chunk of its own, in which its
   entries are dealt to the lanes. A chunk stores its columns in the shortest of three ways: one number for each step, if lane l always has the column
   after that of lane l - 1, as in grids; or, for each entry, 16 or 32 bits counted from the least column of the chunk. Chunks may share their values.

   Entry i of lane l of a chunk lies at i*C + l from its beginning. With rows as in JDS (jagged diagonals) there is no filling: entry i of row k
   of the tile, in the order of descending lengths, lies at diag[i] + k.
*/
#pragma once

#include "mat/impls/amb/host/ambhost.h"
#include "mat/impls/nus/host/nusparams.h"

#define NUS_MAX_C        32
#define NUS_MAX_SCOPE    65536 /* rows that a 16-bit offset can number */
#define NUS_MAX_SEGMENTS 65535
#define NUS_ALTERNATIVES 16 /* to a plan, at most */

/* Bytes of the caches that a core reads from, the last of which it shares with others, and of a line */
typedef struct {
  int64_t l1, l2, l3, line;
} NusCache;

typedef enum {
  NUS_DIAGONAL, /* one column for each step */
  NUS_NARROW,   /* 16 bits for each entry */
  NUS_WIDE      /* 32 bits for each entry */
} NusKind;

typedef struct {
  uint32_t n : 30, kind : 2; /* steps */
  uint32_t base;             /* the column that index 0 stands for, in its segment's vector; with jagged diagonals, the steps that all lanes have */
} NusChunk;

typedef struct {
  int64_t  row;    /* first row of the scope */
  int64_t  slot;   /* its values begin here, unless chunks share them */
  int64_t  col;    /* its indices begin here, in units of 16 bits */
  int64_t  chunk;  /* its chunks, */
  int64_t  perm;   /* its entries of perm[], */
  int64_t  diag;   /* and its ndiag + 1 entries of diag[] begin here */
  int64_t  lo, hi; /* columns that the tile reaches, in its segment's vector: lo <= column < hi */
  int64_t  nslot;  /* values */
  int64_t  ncol;   /* units of 16 bits */
  int32_t  nperm;
  int32_t  segment;
  int32_t  nsplit;  /* leading chunks that hold one long row each */
  int32_t  nchunk;  /* chunks, the split ones included */
  int32_t  nfilled; /* chunks before the first empty one; all chunks after that are empty too */
  int32_t  nrow;    /* in a sorted tile: rows of the chunks that are not split */
  int32_t  ndiag;   /* number of jagged diagonals */
  int16_t  first;   /* the tile assigns y */
  int16_t  sorted;  /* perm[] has an offset for each row; otherwise one for each chunk, in units of C rows */
  int32_t  kind;    /* with jagged diagonals, the kind of all chunks */
  uint32_t base;    /* with jagged diagonals, the column that index 0 stands for */
} NusTile;

struct _NusKernels;

typedef struct {
  SysCSR                    csr; /* the matrix in CSR: rows that meet a NaN or an infinity are computed from it */
  const struct _NusKernels *kernels;
  NusParams                 params;
  int                       nthread;
  int64_t                   nsegment, nscope, ntile, nslot, ncol, nchunk, nperm, ndiag;
  int64_t                   nvalue;        /* values in val: nslot of them, or fewer if chunks share values */
  int64_t                   ngathered;     /* number of gathered columns, those with the most entries */
  uint32_t                 *rank;          /* the place of each column among them, or ngathered; NULL if ngathered is 0 */
  SysInt                   *order;         /* the column at each place */
  SysScalar                *xg;            /* the gathered entries of x */
  int64_t                  *thread_scope;  /* nthread + 1: the first scope of each thread */
  int64_t                  *thread_tile;   /* nthread + 1: the first tile of each thread, in the order of multiplication */
  int64_t                  *scope_tile;    /* nscope + 1: where the tiles of each scope begin in tile_of_scope */
  int64_t                  *tile_of_scope; /* the tiles, scope by scope */
  NusTile                  *tile;
  NusChunk                 *chunk;
  uint16_t                 *perm;
  uint32_t                 *diag;
  uint16_t                 *col;
  void                     *val;    /* as values.stored says */
  uint32_t                 *share;  /* with SYS_STORAGE_SHARED: where the values of each chunk begin, in units of C values */
  int64_t                   nblock; /* with SYS_STORAGE_SHARED: how many chunks differ in their values */
  SysValuesChoice           values;
  int                       filled; /* val has values */
  const uint8_t            *place;  /* while val is filled: the place of each entry in the table */
  SysStretches              work;   /* of the transposed product; the extra sums are those of the gathered columns */
} NusHost;

/* One set of kernels for each instruction set, made from the same template */
typedef struct _NusKernels {
  const char *name;
  int         fast; /* values besides 0 of a table that lies in registers */
  int (*supported)(void);
  void (*mult)(const NusHost *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z);
  void (*multtranspose)(const NusHost *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z);
} NusKernels;

extern const NusKernels NusKernelsPlain, NusKernelsAVX2, NusKernelsAVX512;

/* The segment of column j, and its place in the vector of that segment */
static inline int64_t NusSegmentOf(const NusHost *A, int64_t j, int64_t *place)
{
  const NusParams *p = &A->params;

  *place = j;
  if (p->segmentation == NUS_UNIFORM) return j / p->width[1];
  if (!A->ngathered) return 0;
  if (A->rank[j] == A->ngathered) return A->nsegment - 1;
  *place = A->rank[j];
  return *place < p->width[0] * p->count[0] ? *place / p->width[0] : p->count[0] + (*place - p->width[0] * p->count[0]) / p->width[1];
}

/* Does this segment read gathered entries of x? */
static inline int NusGathered(const NusHost *A, int64_t segment)
{
  return A->ngathered && segment < A->nsegment - 1;
}

/* Units of 16 bits that the indices of a step take */
static inline int NusStepUnits(int kind, int c)
{
  return kind == NUS_DIAGONAL ? 2 : (kind == NUS_NARROW ? c : 2 * c);
}

/* The bytes of a matrix in SELL without segments, in chunks of 8, 16, 24 and 32 rows, estimated from some of its rows; 0 if they were not estimated yet. Those with
   shared values follow, which are 0 too where chunks do not share them. */
#define NUS_CHUNK_SIZES (NUS_MAX_C / 8)
typedef struct {
  double of[2 * NUS_CHUNK_SIZES];
} NusBytes;

/* Rows of a scope, about sigma: a multiple of c that 16 bits can number */
static inline int NusScopeRows(int sigma, int c)
{
  return (int)SysMin((sigma + c - 1) / c, NUS_MAX_SCOPE / c) * c;
}

const NusKernels *NusHostKernels(void);
void              NusHostCache(NusCache *);
SysStatus         NusHostPlan(const SysCSR *, const NusCache *, int nthread, NusParams *, NusBytes *);                          /* chooses the parameters left open */
SysStatus         NusHostPlanPlain(const SysCSR *, NusParams *);                                                                /* the same plan for chunks that do not share their values */
SysStatus         NusHostModel(const SysCSR *, const NusParams *, NusBytes *, double *bytes);                                   /* estimates NusHostBytes() from some of the rows */
int               NusHostAlternatives(const SysCSR *, const NusCache *, const NusParams *, const NusParams *plan, NusParams *); /* lists what is worth a try besides a plan */

SysStatus NusHostCreate(const SysCSR *, const NusParams *, int nthread, int nworker, const NusKernels *, double most, double *bytes, NusHost **);
SysStatus NusHostTune(const SysCSR *, const NusCache *, int nthread, const NusKernels *, NusParams *, int *tried); /* chooses by timing */
SysStatus NusHostPrepareTranspose(NusHost *);

/* New values, and z = alpha A x + beta y, and the same with the transposed matrix. data is a NusHost; the stream is not used, nor is the CSR of a product. */
SysStatus NusHostUpdate(void *data, const SysCSR *, SysStream);
SysStatus NusHostMult(void *data, const SysCSR *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream);
SysStatus NusHostMultTranspose(void *data, const SysCSR *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream);

double NusHostBytes(const NusHost *);
void   NusHostDestroy(void *data);
