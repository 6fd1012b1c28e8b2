/*
   Sparse products on the device: what the kernels share

   The columns of B are looked at in words of 32: a row of B is also a list of words and of the bits in them, which is all that the pattern of the
   result needs, and for most matrices from meshes much shorter. A row of the result is a set of words too. Where a column's value is found is told by
   the number of entries before its word, and the bits below its own.

   The pattern of a row of few products is made by a team of 8, 16 or 32 threads: its words are in a hash table, which is sorted once. That of any other
   row is cut into units, windows of columns, to be made by a block each, with an array of all words of the window.

   Values are added where a hash table of the known columns says, by a team, or by a block if the row is long; still longer rows are cut into parts.

   Determinism: what makes patterns sets bits, in any order. Values are added in the order of A's entries: within a row of B no two threads meet, and
   the team waits for all its threads between two rows of B.
*/
#pragma once

#include <cuda_runtime.h>
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  #error petsc-amb needs a GPU of compute capability 8.0 or newer
#endif

#include "spgemmcuda.h"

#define SPGEMM_WARP    32
#define SPGEMM_ALL     0xffffffffu
#define SPGEMM_STREAMS 4
#define SPGEMM_BINS    16
#define SPGEMM_NOWORD  0xffffffffu

#define SPGEMM_UNIT_WORDS    2048   /* at most */
#define SPGEMM_UNIT_PRODUCTS 131072 /* aimed at */
#define SPGEMM_UNIT_THREADS  128
#define SPGEMM_PART_CLASSES  3 /* by their entries: at most 512, 1024, 2048 */
#define SPGEMM_PART_ENTRIES  2048
#define SPGEMM_PART_THREADS  128

/* Bins of rows while entries are counted, by an upper bound of their words: what a table holds up to three quarters */
enum {
  COUNT_EMPTY,
  COUNT_COPY,
  COUNT_128,
  COUNT_256,
  COUNT_512,
  COUNT_1024,
  COUNT_2048,
  COUNT_4096,
  COUNT_WINDOW
};

/* Bins of rows for the pattern, by team and entries */
enum {
  PATTERN_EMPTY,
  PATTERN_COPY,
  PATTERN_8_32,
  PATTERN_8_64,
  PATTERN_16_64,
  PATTERN_16_128,
  PATTERN_32_64,
  PATTERN_32_128,
  PATTERN_32_256,
  PATTERN_32_512,
  PATTERN_32_1024,
  PATTERN_32_MORE, /* of no more than 3072 words */
  PATTERN_WINDOW
};

/* Bins of rows for values, by team and entries */
enum {
  VALUES_EMPTY,
  VALUES_COPY,
  VALUES_8_32,
  VALUES_8_64,
  VALUES_16_64,
  VALUES_16_128,
  VALUES_16_256,
  VALUES_32_64,
  VALUES_32_128,
  VALUES_32_256,
  VALUES_32_512,
  VALUES_BLOCK /* in parts */
};

/* Of a row: its bin for counting, and the team that suits the length of the rows of B it needs: 8, 16 or 32
   threads, 3 or, for long rows of A too, 4 for a block */
#define SPGEMM_KIND(bin, team) ((unsigned char)((bin) | (team) << 4))
#define SPGEMM_KIND_BIN(kind)  ((kind)&15)
#define SPGEMM_KIND_TEAM(kind) ((kind) >> 4)

typedef struct {
  unsigned rows[SPGEMM_BINS], place[SPGEMM_BINS];
} SpgemmBins;

typedef struct {
  SpgemmBins         count, pattern, values;
  unsigned           parts[SPGEMM_PART_CLASSES], part_place[SPGEMM_PART_CLASSES], unit_next, long_rows;
  unsigned long long products, units, nonzeros;
} SpgemmCounters;

/* What a kernel sees of A and B */
typedef struct {
  int              m, k, n; /* rows of A, rows of B, columns of B */
  const int       *Ai, *Aj, *Bi, *Bj;
  const AmbScalar *Aa, *Ba;
  int4            *rowB;  /* of every row of B: where it begins, its words, first and last column */
  uint2           *wordB; /* word and bits; those of row r from Bi[r] on */
} SpgemmOperands;

typedef struct {
  int      row;
  unsigned begin, end;      /* words */
  int      entries, offset; /* its own, and those of the row before it */
} SpgemmUnit;

typedef struct {
  int row, first, entries; /* first counts in the row */
} SpgemmPart;

/* The first failed call is kept for SpgemmDeviceErrorText() */
SpgemmDeviceStatus SpgemmDeviceFailed(cudaError_t, const char call[]);
#define SPGEMM_CUDA(call) \
  do { \
    const cudaError_t spgemm_error_ = (call); \
    if (spgemm_error_ != cudaSuccess) return SpgemmDeviceFailed(spgemm_error_, #call); \
  } while (0)
#define SPGEMM_CALL(call) \
  do { \
    const SpgemmDeviceStatus spgemm_status_ = (call); \
    if (spgemm_status_ != SPGEMM_DEVICE_SUCCESS) return spgemm_status_; \
  } while (0)

/* Launches a kernel, unless there is nothing to do; with more than 48 KB of shared memory it has to be asked for */
template <typename... P, typename... Q>
static SpgemmDeviceStatus SpgemmLaunch(void (*kernel)(P...), int64_t blocks, int threads, size_t shared, cudaStream_t stream, Q... args)
{
  if (blocks < 1) return SPGEMM_DEVICE_SUCCESS;
  if (shared > 48 << 10) SPGEMM_CUDA(cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
  kernel<<<(unsigned)blocks, (unsigned)threads, shared, stream>>>(args...);
  SPGEMM_CUDA(cudaPeekAtLastError());
  return SPGEMM_DEVICE_SUCCESS;
}

static inline int64_t SpgemmBlocks(int64_t n, int64_t each)
{
  return (n + each - 1) / each;
}

SpgemmDeviceStatus SpgemmDeviceWords(const SpgemmOperands *, int *long_rows, SpgemmCounters *, cudaStream_t);
int64_t            SpgemmDeviceLongRows(int64_t nz); /* how many there can be */
SpgemmDeviceStatus SpgemmDeviceClassify(const SpgemmOperands *, int *size, uint2 *range, unsigned char *kind, SpgemmCounters *, cudaStream_t);
SpgemmDeviceStatus SpgemmDeviceScatter(int m, const unsigned char *bin, unsigned char mask, int *rows, SpgemmBins *, cudaStream_t);
SpgemmDeviceStatus SpgemmDeviceUnits(int n, const int *rows, const int *size, const uint2 *range, SpgemmUnit *, int *first, SpgemmCounters *, cudaStream_t);
SpgemmDeviceStatus SpgemmDeviceSumUnits(int n, const int *rows, const int *first, SpgemmUnit *, int *size, cudaStream_t);
SpgemmDeviceStatus SpgemmDeviceReclassify(int m, const unsigned char *kind, const int *size, unsigned char *pattern, unsigned char *values, SpgemmCounters *, cudaStream_t);
SpgemmDeviceStatus SpgemmDeviceParts(int n, const int *rows, const int *size, SpgemmPart *, SpgemmCounters *, cudaStream_t);
SpgemmDeviceStatus SpgemmDeviceHashCount(const SpgemmOperands *, int bin, const int *rows, int n, int *size, cudaStream_t);
SpgemmDeviceStatus SpgemmDeviceHashPattern(const SpgemmOperands *, int bin, const int *rows, int n, const int *Ci, int *Cj, cudaStream_t);
SpgemmDeviceStatus SpgemmDeviceWindowCount(const SpgemmOperands *, SpgemmUnit *, int n, cudaStream_t);
SpgemmDeviceStatus SpgemmDeviceWindowPattern(const SpgemmOperands *, const SpgemmUnit *, int n, const int *Ci, int *Cj, cudaStream_t);
SpgemmDeviceStatus SpgemmDeviceValues(const SpgemmOperands *, int bin, const int *rows, int n, const int *Ci, const int *Cj, AmbScalar *Ca, cudaStream_t);
SpgemmDeviceStatus SpgemmDevicePartValues(const SpgemmOperands *, int part_class, const SpgemmPart *, int n, const int *Ci, const int *Cj, AmbScalar *Ca, cudaStream_t);

/* The transposed pattern; entry k of it is entry from[k] */
SpgemmDeviceStatus SpgemmDeviceTransposeSize(const AmbDeviceCSR *, size_t *bytes);
SpgemmDeviceStatus SpgemmDeviceTranspose(const AmbDeviceCSR *, void *work, size_t bytes, int *i, int *j, int *from, cudaStream_t);
SpgemmDeviceStatus SpgemmDeviceGather(int64_t nz, const int *from, const AmbScalar *a, AmbScalar *to, cudaStream_t);
SpgemmDeviceStatus SpgemmDeviceProducts(const AmbDeviceCSR *A, const AmbDeviceCSR *B, unsigned long long *products, cudaStream_t);
SpgemmDeviceStatus SpgemmDeviceScanSize(int m, size_t *bytes);
SpgemmDeviceStatus SpgemmDeviceScan(int m, const int *size, int *i, void *work, size_t bytes, cudaStream_t);
