/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Adaptive Multi-level Blocking (AMB) on the host, on raw arrays. cuda/ambcuda.cuh has the variant for a GPU.

   Idea. SpMV on AIJ reads 12 bytes a nonzero (double precision, 32-bit indices). AMB reads fewer: b contiguous columns share one index (a block), and indices have 16 bits. Blocking for
   the caches comes for free: a 16-bit index spans at most 65,536 columns of x.

   Layout. Three levels: scopes of rows, segments of columns, chunks of C = 8 rows.

                      segment: at most 65,536 columns
                     |<---------------------->|
                     +------------------------+-------------+
        scope:       | tile = chunk 0         | tile        |  one thread multiplies all tiles
        at most      |        chunk 1 ...     |             |  of a scope, so no two threads
        32,768 rows  +------------------------+-------------+  add to the same row
                           | tile                    |
                           +-------------------------+         segments begin at a scope's first column

        chunk of n steps, b = 2:     lane 0   lane 1         lane 7
          col[]  step 0              c        c        ...   c          block i of lane l: col[i*C + l]
                 step 1              c        c        ...   c
          val[]  step 0              v v      v v      ...   v v        its values: val[(i*C + l)*b ...]

   A tile's rows are sorted by length unless sorting saves less than 2 % of the bytes. A row that would leave more than half of its chunk to zeros
   gets a chunk of its own, and its blocks go to the lanes in turn. The first tile of a scope holds every row of the scope and assigns y; later tiles
   omit empty rows and add to y. Blocks and chunks are filled with zeros.

   Work space. A thread lays out one scope at a time: AmbWorkspace of amblayout.h, O(rows of a scope). The layouts of all scopes exist before the
   arrays are allocated. The transposed product needs one SysStretch a thread.

   Complexity. The traffic model counts all block sizes in one pass over about one window of AMB_MODEL_ROWS rows in AMB_MODEL_EVERY; layout and
   filling are O(nz), the sort O(m). A product reads the stored blocks once.

   Callers. glue/amb.c (MATAMB), and MATAUTOSPARSE through the format's table.

   Source:
.  * - Y. Nagasaka, "Performance optimization of sparse matrix kernels for many-core architectures", doctoral thesis, Tokyo Institute of Technology, 2019, chapters 3 and 4
*/
#pragma once

#include "sys/sysstretch.h"
#include "sys/systhreads.h"
#include "sys/syscuda.h"
#include "sys/sysisa.h"
#include "sys/sysvalues.h"
#include "mat/impls/amb/host/ambpolicy.h"

#define AMB_C              8 /* rows of a chunk: the doubles of a 512-bit register */
#define AMB_LONG_BLOCK     3 /* least columns of a long block */
#define AMB_LONG_BLOCKS(F) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10)
#define AMB_BLOCKS(F)      F(1) F(2) AMB_LONG_BLOCKS(F)
#if defined(SYS_HAVE_STORAGE_SINGLE)
  #define AMB_SINGLE(F, b) F(b, SYS_STORAGE_SINGLE)
#else
  #define AMB_SINGLE(F, b)
#endif
#define AMB_MAX_SCOPE     32768 /* most rows of a scope: perm[] has 16-bit offsets */
#define AMB_SEGMENT_WIDTH 65536 /* most columns of a segment: 16-bit indices */

typedef struct {
  int64_t row;     /* first row of the scope */
  int64_t lo, hi;  /* the tile holds the entries of its rows with lo <= column < hi */
  int64_t col;     /* the column of index 0 */
  int64_t step;    /* steps before this tile: its blocks begin at step * C */
  int64_t chunk;   /* the tile's nchunk + 1 entries of start[] begin here */
  int64_t perm;    /* the tile's entries of perm[] begin here */
  int32_t nsplit;  /* leading chunks of one long row each */
  int32_t nchunk;  /* chunks, including the split ones */
  int32_t nfilled; /* chunks before the first empty one; all later chunks are empty */
  int32_t nrow;    /* in a sorted tile: rows of the unsplit chunks */
  int16_t first;   /* the tile assigns y */
  int16_t only;    /* the scope has no other tile */
  int32_t sorted;  /* perm[] has an offset for each row; otherwise one for each chunk, in units of C rows */
} AmbTile;

/* The traffic model's result: for each block size the bytes that a product reads, extrapolated from sampled rows */
typedef struct {
  int       block_size; /* the block size with the fewest bytes, or the caller's */
  int       scope;      /* rows of a scope */
  int       nthread;
  SysValues values;                   /* requested storage of values. The block size does not depend on it, so every storage adds in the same order */
  int64_t   trial;                    /* with one thread, least nz of a matrix for which AmbHostCreate() times the table of values */
  double    bytes[AMB_MAX_BLOCK + 1]; /* by block size; 0 for block sizes outside the search */
} AmbPlan;

struct _AmbKernels;

typedef struct {
  SysCSR                    csr; /* the matrix; the kernels recompute rows with a NaN from it */
  const struct _AmbKernels *kernels;
  int                       block_size, scope, nthread;
  int64_t                   nscope, ntile, nstep, nchunk, nperm;
  int64_t                  *scope_tile;   /* nscope + 1: the first tile of each scope */
  int64_t                  *thread_scope; /* nthread + 1: the first scope of each thread */
  AmbTile                  *tile;
  uint32_t                 *start; /* per tile, nchunk + 1: steps before each chunk, from the tile's first */
  uint16_t                 *perm;
  uint16_t                 *col;
  void                     *val; /* in the storage values.stored */
  SysValuesChoice           values;
  int                       filled;   /* val holds values */
  int                       tries;    /* AmbHostFillAll() times the table once, when all values first fit into it */
  uint8_t                  *position; /* while val is being filled: each entry's index in the table */
  SysStretches              work;     /* for the transposed product */
} AmbHost;

/* The kernels of one instruction set, instances of ambkernels.h */
typedef struct _AmbKernels {
  const char *name;
  int (*supported)(void);
  void (*count)(const SysCSR *, int64_t row, int nrow, int64_t lo, int64_t hi, SysInt *pos, int32_t *count);
  void (*mult)(const AmbHost *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z);
  void (*multtranspose)(const AmbHost *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z);
} AmbKernels;

/* AmbKernelsGatherAVX512 uses the layouts of AmbKernelsAVX512 and computes the same bits */
extern const AmbKernels AmbKernelsPlain, AmbKernelsAVX2, AmbKernelsAVX512, AmbKernelsGatherAVX512;

/* Returns the row of entry k */
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

/* Products run on nthread threads, the plan and the conversion on nworker. With a == NULL the conversion stores the pattern only; call
   AmbHostUpdate() before the first product. */
SysStatus AmbPlanCreate(const SysCSR *, int block_size, int scope, int nthread, int nworker, const AmbKernels *, AmbPlan *);
SysStatus AmbHostCreate(const SysCSR *, const AmbPlan *, int nworker, const AmbKernels *, AmbHost **);
SysStatus AmbHostPrepareTranspose(AmbHost *);

/* AmbHostUpdate() stores new values in the same pattern; AmbHostMult() computes z = alpha A x + beta y, AmbHostMultTranspose() the same with A^T.
   data is an AmbHost. All ignore the stream, and products ignore the CSR. */
SysStatus AmbHostUpdate(void *data, const SysCSR *, SysStream);
SysStatus AmbHostMult(void *data, const SysCSR *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream);
SysStatus AmbHostMultTranspose(void *data, const SysCSR *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream);

double AmbHostBytes(const AmbHost *);
void   AmbHostDestroy(void *data);

/* Returns the memory of values that are mapped to the system; AmbHostUpdate() must follow */
void AmbHostForget(void *data);
