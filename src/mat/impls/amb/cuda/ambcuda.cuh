/* SPDX-License-Identifier: BSD-2-Clause */
/*
   AMB on a GPU: the layout, which the converting and the multiplying kernels share. host/ambhost.h has the idea; on a GPU there are no segments, and
   a warp takes the place of a chunk's registers.

   Layout. 32 consecutive slots are a chunk. A slot is a row, or, if rows are sorted, the row that perm[] puts there among its scope's rows. All rows
   of a chunk get T lanes each, T a power of two; a task is one warp's work on C = 32/T rows, and lane l works on row l mod C.

     T = 8, C = 4:   lane      0  1  2  3 | 4  5  6  7 | ... | 28 29 30 31
                     row       0  1  2  3 | 0  1  2  3 | ... |  0  1  2  3
     step s, k < b:  val[(s*b + k)*32 + lane]              a row's blocks go to its lanes in turn

   The columns in which a step's blocks begin are stored in one of three kinds, one kind a chunk:
     diagonal  base[s], one number for all lanes, relative to the row or to the first row of its group of row_group rows
     narrow    base[s], and 16 bits for each lane
     wide      32 bits for each lane

   A row with more entries than a warp takes in A->steps steps is split into pieces, one task each. The task that ends last adds the pieces' sums in
   their order, so products are deterministic. In a split row no block crosses a multiple of A->steps entries, so each lane walks one run on its own.

   Variants. ambcudastencil.cu stores a matrix of constant coefficients as one stencil and a bit mask a row; ambcudastored.cuh multiplies coded
   values.

   Work space. A conversion allocates one Workspace (ambcudacreate.cu), O(m). Further values need a map of 4 bytes a stored value, from the first
   update on; the transposed product needs a transposed copy.

   Complexity. Conversion: one pass over sampled windows for each block size, a radix sort of the row lengths, one pass over the entries. A product
   reads the stored blocks once.

   Callers. glue/amb.c, each segment of MATNUSSELL, and the transposed products of MATNUSSELL, MATCCOO and MATTILECOMPOSITE. Source: chapter 4 of the thesis in host/ambhost.h.
*/
#pragma once

#include "sys/syscuda.cuh"
#include "mat/impls/amb/cuda/ambcuda.h"
#include "mat/impls/amb/host/ambpolicy.h"

#define AMB_QUAD        4     /* steps that share a word of coded values */
#define AMB_QUAD_FLOATS 4     /* smallest block size at which floats share words too */
#define AMB_SCOPE       32768 /* most rows of a scope: 15-bit offsets */
#define AMB_GROUPS      3     /* largest row_group that the model considers */

/* most threads of a product's thread block, and the resident blocks for the same register budget as `blocks` blocks of 256 threads */
#if !defined(AMB_MOST_THREADS)
  #define AMB_MOST_THREADS 256
#endif
#define AMB_RESIDENT_BLOCKS(blocks) ((blocks)*256 / AMB_MOST_THREADS)

enum {
  AMB_DIAGONAL,
  AMB_NARROW,
  AMB_WIDE
};

/* steps in the lowest 16 bits of `what`, then log2 T, the kind, and whether slot indexes split[] */
typedef struct {
  unsigned step, idx, slot, what;
} AmbTask;

#define AMB_TASK(steps, logt, kind, split) ((unsigned)(steps) | (unsigned)(logt) << 16 | (unsigned)(kind) << 19 | (unsigned)(split) << 21)
#define AMB_TASK_STEPS(what)               ((what)&0xffffu)
#define AMB_TASK_LOGT(what)                ((what) >> 16 & 7u)
#define AMB_TASK_KIND(what)                ((what) >> 19 & 3u)
#define AMB_TASK_SPLIT(what)               ((what) >> 21 & 1u)

typedef struct {
  unsigned slot, pieces, task, partial; /* task: the row's first task; partial: the index of its first sum */
} AmbSplit;

/* Numbers of tasks, steps, indices, split rows and partial sums: of one chunk, or of all chunks before it */
typedef struct {
  unsigned task, step, idx, split, partial; /* idx in units of 32 indices of 16 bits */
} AmbCount;

/* The layout, an argument of the kernels */
typedef struct {
  int            m, n, nz, block_size, row_group;
  int            steps; /* most steps of a task, except where rows have one lane each */
  unsigned       nchunk, ntask;
  AmbTask       *task;
  AmbSplit      *split;
  unsigned      *arrived; /* for each split row, the number of its finished tasks */
  SysScalar     *partial;
  uint16_t      *perm; /* NULL if rows are not sorted */
  int           *base;
  uint16_t      *idx;
  SysScalar     *val;
  int           *map;   /* for each value its entry, or -1; NULL until the first update */
  AmbCount      *count; /* for each chunk the counts of all chunks before it; for updates */
  unsigned char *shape; /* for each chunk log2 T + 8 kind */
} AmbLayout;

/* Coded values; layout.val is NULL then */
typedef struct {
  SysStorage       stored; /* SYS_STORAGE_PLAIN: the values are in layout.val */
  const void      *small;  /* table indices or floats: quads in the order of AmbMultQuads(), or floats of short blocks in the order of val[] */
  const SysScalar *table;
} AmbStored;

/* A storage that replaces all arrays of the layout if nearly all rows have the same values on the same diagonals */
#define AMB_STENCIL_WORD    31 /* entries in a word of a mask */
#define AMB_STENCIL_WORDS   3
#define AMB_STENCIL_MOST    (AMB_STENCIL_WORD * AMB_STENCIL_WORDS)
#define AMB_STENCIL_THREADS 96 /* at least AMB_STENCIL_MOST */
typedef struct {
  int       n, words, group;                      /* entries, or 0: no stencil; words of a mask; rows of a group */
  int       offset[AMB_STENCIL_MOST];             /* columns relative to the first row of the group */
  SysScalar value[AMB_GROUPS * AMB_STENCIL_MOST]; /* entry k of row q of a group is value[k * group + q] */
  unsigned *mask;                                 /* m masks for each word */
  unsigned  others;                               /* number of rows computed from CSR */
} AmbStencil;

/* CSR for the kernels; the value of entry k is a[from[k]], or a[k] if from is NULL */
typedef struct {
  const int       *i, *j;
  const SysScalar *a;
  const int       *from;
} AmbArrays;

/* The transposed copy, created by the first transposed product */
typedef struct {
  AmbDevice   *A;      /* NULL: not created */
  AmbArrays    arrays; /* arrays of the transposed matrix, except a */
  void        *memory; /* the memory of these arrays, from the pool in this stream */
  cudaStream_t stream;
  double       bytes;
  int          stale;
  SysValues    values; /* the requested storage */
} AmbTransposed;

struct _AmbDevice {
  AmbLayout        layout;
  AmbStored        stored;
  AmbDeviceInfo    info;   /* excludes the transposed matrix */
  cudaStream_t     stream; /* in which the pool gave the memory */
  void            *memory; /* all arrays of the layout, except val if it can be freed */
  void            *small;  /* the memory of stored.small */
  SysScalar       *val;    /* the memory of layout.val, unless it is part of memory */
  SysTable        *table;  /* on the device */
  AmbStencil       stencil;
  double           bytes_pattern; /* the part of bytes_stored that is not values */
  double           bytes_plain;   /* the model's bytes with plain values */
  SysValuesChoice  values;
  int              filled;  /* the layout's arrays are filled; false while a stencil replaces them */
  int              deep;    /* products use the deep kernel */
  int              early;   /* the device supports programmatic dependent launch */
  int              written; /* the layout changed after the last product */
  struct _AmbLive *live;    /* the running choice of the kernel, or NULL */
  AmbTransposed    transposed;
};

SysStatus AmbStencilCreate(int m, const AmbArrays *, int group, cudaStream_t, AmbStencil *);
SysStatus AmbStencilLaunch(const AmbStencil *, int m, int threads, int early, const AmbArrays *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, cudaStream_t);
SysStatus AmbStencilLaunchDot(const AmbStencil *, int m, int threads, int early, const AmbArrays *, const SysScalar *x, SysScalar *z, SysScalar *parts, int64_t *nparts, cudaStream_t);
void      AmbStencilDestroy(AmbStencil *, cudaStream_t);

/* The launchers of one storage: [block size - 1][deep] */
typedef cudaError_t (*AmbLauncher)(const AmbLayout *, const AmbStored *, int threads, int early, const AmbArrays *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, cudaStream_t);
typedef AmbLauncher       AmbLaunchers[AMB_MAX_BLOCK][2];
extern const AmbLaunchers AmbLaunchersPlain, AmbLaunchersSingle, AmbLaunchersPositions;

SysStatus AmbDeviceConvert(const SysCSR *, const int *from, const AmbDeviceParams *, cudaStream_t, AmbDevice **);
void      AmbDeviceFree(AmbDevice *); /* without the transposed copy */
SysStatus AmbDeviceRenew(AmbDevice *, const AmbArrays *, cudaStream_t);
SysStatus AmbDeviceProduct(AmbDevice *, const AmbArrays *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, cudaStream_t);
SysStatus AmbDeviceProductDot(AmbDevice *, const AmbArrays *, const SysScalar *x, SysScalar *z, SysScalar *parts, int64_t *nparts, cudaStream_t);
SysStatus AmbDeviceFill(const AmbLayout *, const AmbArrays *, cudaStream_t);
SysStatus AmbDeviceRefill(const AmbLayout *, size_t n, const SysScalar *a, cudaStream_t);

/* The storage of values. AmbValuesChoose() chooses it for the nz values a[from[k]], or a[k] if from is NULL; the others store the values from
   layout.val, or from a[] by the map, and set the figures. */
SysStatus AmbValuesChoose(SysValuesChoice *, int64_t nz, const SysScalar *a, const int *from, cudaStream_t);
SysStatus AmbValuesStore(AmbDevice *, const SysScalar *a, cudaStream_t);
SysStatus AmbValuesStencil(AmbDevice *, const AmbArrays *, cudaStream_t);
void      AmbValuesDescribe(AmbDevice *);
SysStatus AmbValuesRoom(AmbDevice *);

/* z = alpha A x + beta y, for any storage. early: the kernel may start before its predecessor ends, if the matrix did not change since the last
   product. */
SysStatus AmbDeviceLaunch(const AmbDevice *, int threads, int deep, int early, const AmbArrays *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, cudaStream_t);

/* Chooses the kernel during the caller's products: AmbLiveBegin() returns the kernel of the next product, and AmbLiveEnd() follows the products it
   times */
typedef struct _AmbLive AmbLive;
typedef struct {
  int threads, deep, timed;
} AmbKernel;

void      AmbLiveCreate(AmbDevice *, bool fixed);
AmbKernel AmbLiveBegin(AmbDevice *, int kind, cudaStream_t);
void      AmbLiveEnd(AmbDevice *, cudaStream_t);
void      AmbLiveDestroy(AmbDevice *);

/* Transposed products; threads: size of the thread blocks, or 0 to choose it */
SysStatus AmbTransposedMult(AmbTransposed *, const SysCSR *, int threads, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, cudaStream_t);
double    AmbTransposedBytes(const AmbTransposed *);
void      AmbTransposedDestroy(AmbTransposed *);

static __device__ inline SysScalar AmbEntry(const AmbArrays &A, int k)
{
  return A.a[A.from ? A.from[k] : k];
}

/* Returns the row at this slot */
static __device__ inline int AmbRowAt(const uint16_t *perm, unsigned slot)
{
  return perm ? (int)(slot & ~(AMB_SCOPE - 1u)) + perm[slot] : (int)slot;
}

/* The traffic model's bytes in the sampled chunks, for each block size */
typedef struct {
  unsigned long long sorted;              /* rows sorted by length */
  unsigned long long natural[AMB_GROUPS]; /* rows in their original order */
} AmbSample;

typedef struct {
  int first, last, steps[AMB_MAX_BLOCK + 1]; /* first and last block size, and for each the steps of a task */
  int columns;                               /* as in AmbDeviceParams */
} AmbSampleSizes;

SysStatus AmbDeviceSample(const SysCSR *, const AmbSampleSizes *, AmbSample *device, int windows, cudaStream_t);
SysStatus AmbDeviceCount(const SysCSR *, int block_size, int steps, int *blocks, unsigned *bad, cudaStream_t);
SysStatus AmbDeviceKeys(int64_t m, int scope, const int *blocks, unsigned *key, uint16_t *row, cudaStream_t);
SysStatus AmbDevicePlan(const AmbLayout *, const AmbArrays *, const int *blocks, int columns, cudaStream_t);
