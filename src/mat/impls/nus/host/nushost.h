/* SPDX-License-Identifier: BSD-2-Clause */
/*
   NUS-SELL-C-sigma, non-uniformly segmented SELL-C-sigma, on the host, on raw arrays. cuda/nuscuda.h has the variant for a GPU.

   Idea. In a graph a few columns have most of the nonzeros, and x is larger than the caches. Columns are therefore cut into segments by their number
   of nonzeros, N = S1 K1 + S2 K2 + S3, so that the part of x in use stays in a cache: the K1 segments of S1 columns, for the first-level cache, get
   the columns with the most nonzeros; the K2 segments of S2 columns, for the second-level cache, get the next; the other S3 columns form the last
   segment. Other matrices have one segment, which is SELL-C-sigma.

         columns by rank:  | S1 | S1 |    S2    |    S2    |        S3         |
                             K1 = 2       K2 = 2              last segment
         x:                 gathered into xg[] once a product  read where it is (as are segments of equal width)

                           +----+----+----------+----------+-------------------+
         scope (sigma rows)| tile    | tile     |          | tile              |  one thread a scope:
                           +----+----+----------+----------+-------------------+  no two threads add to a row
         scope             | ...

   Layout of a tile: chunks of C rows, sorted by length unless sorting saves less than 2 %, each as many steps long as its longest row. The first tile
   of a scope has all rows and assigns y; other tiles omit empty rows and chunks. A row that would leave more than half of its chunk to zeros gets a
   chunk of its own, with its entries dealt to the lanes.

         chunk of C = 8 rows, n steps:   entry i of lane l at i*C + l
           NUS_DIAGONAL   col: c0 c1 ... c(n-1)            one number a step: lane l has the column after lane l - 1's
           NUS_NARROW     col: 16 bits an entry, from the chunk's least column
           NUS_WIDE       col: 32 bits an entry

   With NUS_JDS (jagged diagonals) there is no filling: entry i of row k of the tile, by descending length, lies at diag[i] + k. Chunks may share
   their values (nusshare.h).

   Work space. A thread lays out one scope at a time in a NusWork, O(entries of a scope) with several segments. A product needs xg[]; the transposed
   product needs one SysStretch and sums for the gathered columns for each thread.

   Complexity. The plan samples NUS_SAMPLE_ENTRIES entries; ranking the columns is a counting sort, O(nz + n); layout and filling are O(nz)
   with one segment and one more pass with several. A product reads the stored entries once, and y once for each segment.

   Callers. glue/nus.c (MATNUSSELL), and MATAUTOSPARSE through the format's table.

   Source:
.  * - Y. Nagasaka, "Performance optimization of sparse matrix kernels for many-core architectures", doctoral thesis, Tokyo Institute of Technology, 2019, chapter 3
*/
#pragma once

#include "mat/impls/amb/host/ambhost.h"
#include "mat/impls/nus/host/nusparams.h"

#define NUS_MAX_C        32
#define NUS_MAX_SCOPE    65536 /* 16-bit row offsets */
#define NUS_MAX_SEGMENTS 65535
#define NUS_ALTERNATIVES 16 /* most results of NusHostAlternatives() */

/* Bytes of the caches of a core, of the cache it shares with others, and of a cache line */
typedef struct {
  int64_t l1, l2, l3, line;
} NusCache;

typedef enum {
  NUS_DIAGONAL, /* one column a step */
  NUS_NARROW,   /* 16 bits an entry */
  NUS_WIDE      /* 32 bits an entry */
} NusKind;

typedef struct {
  uint32_t n : 30, kind : 2; /* n: steps */
  uint32_t base;             /* the column of index 0 in the segment's vector; with NUS_JDS the number of steps that all lanes have */
} NusChunk;

typedef struct {
  int64_t  row;    /* first row of the scope */
  int64_t  slot;   /* the tile's first value, unless chunks share values */
  int64_t  col;    /* the tile's first index, in units of 16 bits */
  int64_t  chunk;  /* the tile's first chunk */
  int64_t  perm;   /* the tile's first entry of perm[] */
  int64_t  diag;   /* the tile's first of ndiag + 1 entries of diag[] */
  int64_t  lo, hi; /* range of the tile's columns in the segment's vector: lo <= column < hi */
  int64_t  nslot;  /* number of values */
  int64_t  ncol;   /* number of units of 16 bits */
  int32_t  nperm;
  int32_t  segment;
  int32_t  nsplit;  /* leading chunks of one long row each */
  int32_t  nchunk;  /* chunks, including the split ones */
  int32_t  nfilled; /* chunks before the first empty one; all later chunks are empty */
  int32_t  nrow;    /* in a sorted tile: rows of the unsplit chunks */
  int32_t  ndiag;   /* number of jagged diagonals */
  int16_t  first;   /* the tile assigns y */
  int16_t  sorted;  /* perm[] has an offset for each row; otherwise one for each chunk, in units of C rows */
  int32_t  kind;    /* with NUS_JDS: the kind of all chunks */
  uint32_t base;    /* with NUS_JDS: the column of index 0 */
} NusTile;

struct _NusKernels;

typedef struct {
  SysCSR                    csr; /* the matrix; the kernels recompute rows with a NaN from it */
  const struct _NusKernels *kernels;
  NusParams                 params;
  int                       nthread;
  int64_t                   nsegment, nscope, ntile, nslot, ncol, nchunk, nperm, ndiag;
  int64_t                   nvalue;        /* values in val: nslot of them, or fewer if chunks share values */
  int64_t                   ngathered;     /* number of gathered columns */
  uint32_t                 *rank;          /* each column's position in order[], or ngathered; NULL if ngathered is 0 */
  SysInt                   *order;         /* the gathered columns, by descending number of entries */
  SysScalar                *xg;            /* the gathered entries of x */
  int64_t                  *thread_scope;  /* nthread + 1: the first scope of each thread */
  int64_t                  *thread_tile;   /* nthread + 1: the first tile of each thread, in the order of multiplication */
  int64_t                  *scope_tile;    /* nscope + 1: each scope's first entry of tile_of_scope */
  int64_t                  *tile_of_scope; /* tiles by scope */
  NusTile                  *tile;
  NusChunk                 *chunk;
  uint16_t                 *perm;
  uint32_t                 *diag;
  uint16_t                 *col;
  void                     *val;    /* in the storage values.stored */
  uint32_t                 *share;  /* SYS_STORAGE_SHARED: each chunk's first value, in units of C values */
  int64_t                   nblock; /* SYS_STORAGE_SHARED: number of distinct value blocks */
  SysValuesChoice           values;
  int                       filled;   /* val holds values */
  const uint8_t            *position; /* while val is being filled: each entry's index in the table */
  SysStretches              work;     /* for the transposed product; its extra sums are for the gathered columns */
} NusHost;

/* The kernels of one instruction set, instances of nuskernels.h */
typedef struct _NusKernels {
  const char *name;
  int         fast; /* most values besides 0 of a table that fits into registers */
  int (*supported)(void);
  void (*mult)(const NusHost *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z);
  void (*multtranspose)(const NusHost *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z);
} NusKernels;

extern const NusKernels NusKernelsPlain, NusKernelsAVX2, NusKernelsAVX512;

/* Returns the segment of column j, and sets its position in the segment's vector */
static inline int64_t NusSegmentOf(const NusHost *A, int64_t j, int64_t *position)
{
  const NusParams *p = &A->params;

  *position = j;
  if (p->segmentation == NUS_UNIFORM) return j / p->width[1];
  if (!A->ngathered) return 0;
  if (A->rank[j] == A->ngathered) return A->nsegment - 1;
  *position = A->rank[j];
  return *position < p->width[0] * p->count[0] ? *position / p->width[0] : p->count[0] + (*position - p->width[0] * p->count[0]) / p->width[1];
}

/* Returns whether this segment reads gathered entries of x */
static inline int NusGathered(const NusHost *A, int64_t segment)
{
  return A->ngathered && segment < A->nsegment - 1;
}

/* Returns the indices of a step in units of 16 bits */
static inline int NusStepUnits(int kind, int c)
{
  return kind == NUS_DIAGONAL ? 2 : (kind == NUS_NARROW ? c : 2 * c);
}

/* Bytes without segments in chunks of 8, 16, 24 and 32 rows, estimated from sampled rows; 0: not estimated. Second half: with shared values; 0 also
   if chunks share none. */
#define NUS_CHUNK_SIZES (NUS_MAX_C / 8)
typedef struct {
  double of[2 * NUS_CHUNK_SIZES];
} NusBytes;

/* Returns the rows of a scope, about sigma: a multiple of c within 16 bits */
static inline int NusScopeRows(int sigma, int c)
{
  return (int)SysMin((sigma + c - 1) / c, NUS_MAX_SCOPE / c) * c;
}

const NusKernels *NusHostKernels(void);
void              NusHostCache(NusCache *);
SysStatus         NusHostPlan(const SysCSR *, const NusCache *, int nthread, NusParams *, NusBytes *);                          /* sets the open parameters */
SysStatus         NusHostPlanPlain(const SysCSR *, NusParams *);                                                                /* the same plan without shared values */
SysStatus         NusHostModel(const SysCSR *, const NusParams *, NusBytes *, double *bytes);                                   /* estimates NusHostBytes() from sampled rows */
int               NusHostAlternatives(const SysCSR *, const NusCache *, const NusParams *, const NusParams *plan, NusParams *); /* lists candidates besides the plan */

SysStatus NusHostCreate(const SysCSR *, const NusParams *, int nthread, int nworker, const NusKernels *, double most, double *bytes, NusHost **);
SysStatus NusHostTune(const SysCSR *, const NusCache *, int nthread, const NusKernels *, NusParams *, int *tried); /* sets the open parameters by timing */
SysStatus NusHostPrepareTranspose(NusHost *);

/* NusHostUpdate() stores new values in the same pattern; NusHostMult() computes z = alpha A x + beta y, NusHostMultTranspose() the same with A^T.
   data is a NusHost. All ignore the stream, and products ignore the CSR. */
SysStatus NusHostUpdate(void *data, const SysCSR *, SysStream);
SysStatus NusHostMult(void *data, const SysCSR *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream);
SysStatus NusHostMultTranspose(void *data, const SysCSR *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream);

double NusHostBytes(const NusHost *);
void   NusHostDestroy(void *data);
