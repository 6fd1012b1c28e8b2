/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The AMB layout on the device, shared by the kernels that make it and those that use it

   A warp does one task: C = 32/T rows, to each of which T of its lanes belong, lane l to row l mod C. The blocks of a row go to its lanes in turn,
   one in each step. A block is b contiguous columns of a row; the values of step s are val[(s*b + k)*32 + l] for k < b.
   The columns where the blocks of a step begin are stored in one of three ways:
     diagonal  one number for all lanes, base[s], relative to the row, or to the first row of its group of row_group rows;
     narrow    base[s], and 16 bits for each lane;
     wide      32 bits for each lane.
   A slot is a place among the rows: the row itself or, if rows are sorted, the row that perm[] puts at this place, among the rows of its scope.
   32 slots, a chunk, are laid out together: they share T and the kind. A row that has more entries than a warp takes in the largest allowed number of steps
   is split into pieces, a task each; the task that ends last adds their sums in the order of the pieces. In a split row no block goes past a multiple of
   that number of steps, counted in entries, so that each lane can walk such a run by itself.
*/
#pragma once

#include "sys/syscuda.cuh"
#include "mat/impls/amb/cuda/ambcuda.h"

#define AMB_MAX_BLOCK   10
#define AMB_QUAD        4     /* steps whose values share a word, if values are not stored as they are */
#define AMB_QUAD_FLOATS 4     /* block size from which on floats share words too */
#define AMB_SCOPE       32768 /* rows that a 15-bit offset can number */
#define AMB_GROUPS      3     /* groups of 1, 2 and 3 rows are considered */

/* Threads of a thread block in a product, at most, and the blocks of that size that take as many registers as so many of 256 */
#if !defined(AMB_MOST_THREADS)
  #define AMB_MOST_THREADS 256
#endif
#define AMB_BLOCKS(blocks) ((blocks)*256 / AMB_MOST_THREADS)

enum {
  AMB_DIAGONAL,
  AMB_NARROW,
  AMB_WIDE
};

/* what has the steps in its lowest 16 bits, then log2 T, the kind, and whether slot is an index of split[] */
typedef struct {
  unsigned step, idx, slot, what;
} AmbTask;

#define AMB_TASK(steps, logt, kind, split) ((unsigned)(steps) | (unsigned)(logt) << 16 | (unsigned)(kind) << 19 | (unsigned)(split) << 21)
#define AMB_TASK_STEPS(what)               ((what)&0xffffu)
#define AMB_TASK_LOGT(what)                ((what) >> 16 & 7u)
#define AMB_TASK_KIND(what)                ((what) >> 19 & 3u)
#define AMB_TASK_SPLIT(what)               ((what) >> 21 & 1u)

typedef struct {
  unsigned slot, pieces, task, partial; /* task: the first task of the row; partial: the place of its first sum */
} AmbSplit;

/* Numbers of tasks, steps and so on of one chunk, or of all chunks before it */
typedef struct {
  unsigned task, step, idx, split, partial; /* idx in units of 32 indices of 16 bits */
} AmbCount;

/* The layout, as the kernels take it */
typedef struct {
  int            m, n, nz, block_size, row_group;
  int            steps; /* steps of a task, at most, unless its rows have a lane each */
  unsigned       nchunk, ntask;
  AmbTask       *task;
  AmbSplit      *split;
  unsigned      *arrived; /* for each split row the number of its tasks that have ended */
  SysScalar     *partial;
  uint16_t      *perm; /* NULL if rows are not sorted */
  int           *base;
  uint16_t      *idx;
  SysScalar     *val;
  int           *map;   /* for each value the entry it comes from, or -1; NULL until the first update */
  AmbCount      *count; /* for each chunk the counts of all chunks before it, for new values */
  unsigned char *shape; /* for each chunk log2 T + 8 kind */
} AmbLayout;

/* Values that are not stored in val[] of the layout, which is then NULL */
typedef struct {
  SysStorage       stored; /* SYS_STORAGE_PLAIN: they are in val[] */
  const void      *small;  /* places in the table, or floats of long blocks, in the order of AmbMultQuads(); floats of short blocks in the order of val[] */
  const SysScalar *table;
} AmbStored;

/* A storage in place of all arrays of the layout, for matrices in which nearly all rows have the same values on the same diagonals */
#define AMB_STENCIL_WORD    31 /* entries in a word of a mask */
#define AMB_STENCIL_WORDS   3
#define AMB_STENCIL_MOST    (AMB_STENCIL_WORD * AMB_STENCIL_WORDS)
#define AMB_STENCIL_THREADS 96 /* at least AMB_STENCIL_MOST */
typedef struct {
  int       n, words, group;                      /* entries, or 0 without a stencil; words of a mask; rows of a group */
  int       offset[AMB_STENCIL_MOST];             /* columns relative to the first row of the group */
  SysScalar value[AMB_GROUPS * AMB_STENCIL_MOST]; /* entry k of row q of a group is value[k * group + q] */
  unsigned *mask;                                 /* for each word, m of them */
  unsigned  others;                               /* rows that are computed from CSR */
} AmbStencil;

/* A CSR as the kernels read it; entry k has the value a[from[k]], or a[k] if from is NULL */
typedef struct {
  const int       *i, *j;
  const SysScalar *a;
  const int       *from;
} AmbArrays;

/* A copy of the transposed matrix, made for the first product with it */
typedef struct {
  AmbDevice *A;      /* NULL: not made yet */
  AmbArrays  arrays; /* the arrays of the transposed matrix, but for a */
  void      *memory; /* the memory of these arrays */
  double     bytes;
  int        stale;
  SysValues  values; /* the storage that is asked for */
} AmbTransposed;

struct _AmbDevice {
  AmbLayout        layout;
  AmbStored        stored;
  AmbDeviceInfo    info;   /* without the transposed matrix */
  void            *memory; /* all arrays of the layout, but for val if it may be given up */
  void            *small;  /* the memory of stored.small */
  SysScalar       *val;    /* the memory of layout.val, if it is not a part of the other memory */
  SysTable        *table;  /* on the device */
  AmbStencil       stencil;
  double           bytes_pattern; /* of bytes_stored, without values */
  double           bytes_plain;   /* by the model, with values as they are */
  SysValuesChoice  values;
  int              filled;  /* the arrays of the layout are: not with a stencil that was found before them */
  int              deep;    /* the deep kernel is used, not the other one */
  int              early;   /* the device can start a kernel before the last has ended */
  int              written; /* the layout is newer than the last product */
  struct _AmbLive *live;    /* the choice of the kernel goes on, or NULL */
  AmbTransposed    transposed;
};

SysStatus AmbStencilCreate(int m, const AmbArrays *, int group, cudaStream_t, AmbStencil *);
SysStatus AmbStencilLaunch(const AmbStencil *, int m, int threads, int early, const AmbArrays *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, cudaStream_t);
SysStatus AmbStencilLaunchDot(const AmbStencil *, int m, int threads, int early, const AmbArrays *, const SysScalar *x, SysScalar *z, SysScalar *parts, int64_t *nparts, cudaStream_t);
void      AmbStencilDestroy(AmbStencil *);

/* The launchers of a storage: [block size - 1][deep] */
typedef cudaError_t (*AmbLauncher)(const AmbLayout *, const AmbStored *, int threads, int early, const AmbArrays *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, cudaStream_t);
typedef AmbLauncher       AmbLaunchers[AMB_MAX_BLOCK][2];
extern const AmbLaunchers AmbLaunchersPlain, AmbLaunchersSingle, AmbLaunchersPlaces;

SysStatus AmbDeviceConvert(const SysCSR *, const int *from, const AmbDeviceParams *, cudaStream_t, AmbDevice **);
SysStatus AmbDeviceRenew(AmbDevice *, const AmbArrays *, cudaStream_t);
SysStatus AmbDeviceProduct(AmbDevice *, const AmbArrays *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, cudaStream_t);
SysStatus AmbDeviceProductDot(AmbDevice *, const AmbArrays *, const SysScalar *x, SysScalar *z, SysScalar *parts, int64_t *nparts, cudaStream_t);
SysStatus AmbDeviceFill(const AmbLayout *, const AmbArrays *, cudaStream_t);
SysStatus AmbDeviceRefill(const AmbLayout *, size_t n, const SysScalar *a, cudaStream_t);

/* The storage of values: chooses it for nz values a[from[k]], or a[k] if from is NULL; brings values that lie in layout.val, or that the map finds in a[], into it, and gives its figures */
SysStatus AmbValuesChoose(SysValuesChoice *, int64_t nz, const SysScalar *a, const int *from, cudaStream_t);
SysStatus AmbValuesStore(AmbDevice *, const SysScalar *a, cudaStream_t);
SysStatus AmbValuesStencil(AmbDevice *, const AmbArrays *, cudaStream_t);
void      AmbValuesDescribe(AmbDevice *);
SysStatus AmbValuesRoom(AmbDevice *);

/* z = alpha A x + beta y, for any storage. The kernel may start early only if the matrix was not written since the last product. */
SysStatus AmbDeviceLaunch(const AmbDevice *, int threads, int deep, int early, const AmbArrays *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, cudaStream_t);

/* The choice of the kernel while the caller makes products: the product that AmbLiveBegin() gives a kernel for is followed by AmbLiveEnd() if it is timed */
typedef struct _AmbLive AmbLive;
typedef struct {
  int threads, deep, timed;
} AmbKernel;

void      AmbLiveCreate(AmbDevice *, bool fixed);
AmbKernel AmbLiveBegin(AmbDevice *, int kind, cudaStream_t);
void      AmbLiveEnd(AmbDevice *, cudaStream_t);
void      AmbLiveDestroy(AmbDevice *);

/* Products with the transposed matrix; threads is the size of its thread blocks, or 0 to choose */
SysStatus AmbTransposedMult(AmbTransposed *, const SysCSR *, int threads, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, cudaStream_t);
double    AmbTransposedBytes(const AmbTransposed *);
void      AmbTransposedDestroy(AmbTransposed *);

static __device__ inline SysScalar AmbEntry(const AmbArrays &A, int k)
{
  return A.a[A.from ? A.from[k] : k];
}

/* The row at this slot */
static __device__ inline int AmbRowAt(const uint16_t *perm, unsigned slot)
{
  return perm ? (int)(slot & ~(AMB_SCOPE - 1u)) + perm[slot] : (int)slot;
}

/* The bytes that the traffic model counts in sampled chunks, for each block size */
typedef struct {
  unsigned long long sorted;              /* rows sorted by length */
  unsigned long long natural[AMB_GROUPS]; /* rows in their order */
} AmbSample;

typedef struct {
  int first, last, steps[AMB_MAX_BLOCK + 1]; /* the first and last block size, and for each the steps of a task */
  int columns;                               /* as in AmbDeviceParams */
} AmbSampleSizes;

SysStatus AmbDeviceSample(const SysCSR *, const AmbSampleSizes *, AmbSample *device, int windows, cudaStream_t);
SysStatus AmbDeviceCount(const SysCSR *, int block_size, int steps, int *blocks, unsigned *bad, cudaStream_t);
SysStatus AmbDeviceKeys(int64_t m, int scope, const int *blocks, unsigned *key, uint16_t *row, cudaStream_t);
SysStatus AmbDevicePlan(const AmbLayout *, const AmbArrays *, const int *blocks, int columns, cudaStream_t);
