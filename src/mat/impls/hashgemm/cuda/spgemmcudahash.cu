/* SPDX-License-Identifier: BSD-2-Clause */
/*
   SpGEMM on the device, accumulator words: the pattern of rows of few products, with a hash table of words in shared memory for each team of 8, 16 or
   32 threads

   spgemmhost.h has the idea.
*/
#include <limits.h>

#include "mat/impls/hashgemm/cuda/spgemmcudateam.cuh"

/* A slot of the table: word below, bits above */
typedef unsigned long long Slot;

#define NO_SLOT           ((Slot)SPGEMM_NOWORD)
#define HASH_LARGEST_LOG  12   /* log2 of the largest table's slots */
#define HASH_LARGEST_LIST 4096 /* words in its team's list */

/* LOG of kernels whose launch decides on the table's size */
#define ANY_LOG 0

/* Threads of a block, and its teams; with large tables a block is one warp */
#define BLOCK(LOG)    ((LOG) == ANY_LOG || (LOG) > 10 ? SYS_WARP : 128)
#define TEAMS(T, LOG) (BLOCK(LOG) / (T))

extern __shared__ double2 spgemm_shared[];

/* Returns a word's slot in a table of 2^log, inserting it if new. The table never fills up. */
static __device__ __forceinline__ unsigned HashInsert(Slot *table, int log, unsigned word, bool *is_new)
{
  unsigned h = TeamHash(word, log);

  *is_new = false;
  for (;; h = (h + 1) & ((1u << log) - 1)) {
    unsigned *key  = (unsigned *)(table + h);
    unsigned  seen = *(volatile unsigned *)key;

    if (seen == word) return h;
    if (seen != SPGEMM_NOWORD) continue;
    seen = atomicCAS(key, SPGEMM_NOWORD, word);
    if (seen == SPGEMM_NOWORD) {
      *is_new = true;
      return h;
    }
    if (seen == word) return h;
  }
}

/* Adds bits to a slot; returns how many are new */
static __device__ __forceinline__ int HashAddBits(Slot *slot, unsigned bits)
{
  unsigned *to = (unsigned *)slot + 1;

  return bits & ~*(volatile unsigned *)to ? __popc(bits & ~atomicOr(to, bits)) : 0;
}

template <int T>
static __device__ __forceinline__ void HashClear(Slot *table, int log, int lane)
{
  ulonglong2 *to = (ulonglong2 *)table;

#pragma unroll 4
  for (int k = lane; k < (1 << log) / 2; k += T) to[k] = make_ulonglong2(NO_SLOT, NO_SLOT);
}

/* ---- How many entries ---- */

template <int T, int LOG>
static __global__ void __launch_bounds__(BLOCK(LOG)) HashCountKernel(SpgemmOperands P, const int *rows, int n, int *size, SpgemmKept kept)
{
  const int       lane = (int)threadIdx.x % T, team = (int)threadIdx.x / T, at = (int)blockIdx.x * TEAMS(T, LOG) + team;
  Slot           *table = (Slot *)spgemm_shared + ((size_t)team << LOG);
  int            *count = (int *)((Slot *)spgemm_shared + ((size_t)TEAMS(T, LOG) << LOG)) + team;
  unsigned short *list  = (unsigned short *)((int *)((Slot *)spgemm_shared + ((size_t)TEAMS(T, LOG) << LOG)) + TEAMS(T, LOG)) + team * SPGEMM_KEPT_WORDS;
  const int       row = at < n ? rows[at] : -1, begin = row < 0 ? 0 : P.Ai[row], end = row < 0 ? 0 : P.Ai[row + 1];
  int             sum = 0, words;

  HashClear<T>(table, LOG, lane);
  if (lane == 0) *count = 0;
  __syncwarp();
  TeamForWords<T>(P, begin, end, lane, [&](unsigned word, unsigned bits) {
    bool           is_new;
    const unsigned slot = HashInsert(table, LOG, word, &is_new);

    if (is_new) {
      const int to = atomicAdd(count, 1);

      if (to < SPGEMM_KEPT_WORDS) list[to] = (unsigned short)slot;
    }
    sum += HashAddBits(table + slot, bits);
  });
  __syncwarp();
  for (int step = T / 2; step; step /= 2) sum += __shfl_xor_sync(SYS_ALL_LANES, sum, step);
  if (row < 0) return;
  if (lane == 0) size[row] = sum;
  words = *count;
  if (words > kept.capacity) return;
  if (lane == 0) kept.words[row] = (unsigned char)words;
  for (int k = lane; k < words; k += T) {
    const Slot slot = table[list[k]];

    kept.word[(size_t)row * (size_t)kept.capacity + (size_t)k] = make_uint2((unsigned)slot, (unsigned)(slot >> 32));
  }
}

template <int T, int LOG>
static SysStatus HashLaunchCount(const SpgemmOperands *P, const int *rows, int n, int *size, const SpgemmKept *kept, cudaStream_t stream)
{
  constexpr size_t shared = TEAMS(T, LOG) * ((sizeof(Slot) << LOG) + sizeof(int) + sizeof(unsigned short) * SPGEMM_KEPT_WORDS);

  SPGEMM_FITS(shared);
  return SysLaunch(HashCountKernel<T, LOG>, SysBlocks(n, TEAMS(T, LOG)), BLOCK(LOG), shared, stream, *P, rows, n, size, *kept);
}

SysStatus SpgemmDeviceHashCount(const SpgemmOperands *P, int bin, const int *rows, int n, int *size, const SpgemmKept *kept, cudaStream_t stream)
{
  switch (bin) {
  case COUNT_128:
    return HashLaunchCount<8, 7>(P, rows, n, size, kept, stream);
  case COUNT_256:
    return HashLaunchCount<16, 8>(P, rows, n, size, kept, stream);
  case COUNT_512:
    return HashLaunchCount<32, 9>(P, rows, n, size, kept, stream);
  case COUNT_1024:
    return HashLaunchCount<32, 10>(P, rows, n, size, kept, stream);
  case COUNT_2048:
    return HashLaunchCount<32, 11>(P, rows, n, size, kept, stream);
  default:
    return HashLaunchCount<32, HASH_LARGEST_LOG>(P, rows, n, size, kept, stream);
  }
}

/* ---- The pattern ---- */

/* Sorts more words than registers hold in place; the list has capacity for the next power of two */
static __device__ void HashSortList(unsigned *list, int words, int lane)
{
  int all = 1;

  while (all < words) all *= 2;
  for (int k = words + lane; k < all; k += SYS_WARP) list[k] = SPGEMM_NOWORD;
  __syncwarp();
  for (int size = 2; size <= all; size *= 2) {
    for (int step = size / 2; step; step /= 2) {
      for (int k = lane; k < all / 2; k += SYS_WARP) {
        const int      a = 2 * step * (k / step) + k % step, b = a + step;
        const unsigned x = list[a], y = list[b];

        if ((x > y) == ((a & size) == 0)) {
          list[a] = y;
          list[b] = x;
        }
      }
      __syncwarp();
    }
  }
}

/* Writes a row of many words directly to the result */
static __device__ void HashWriteLongPattern(const Slot *table, int log, unsigned *list, int words, int lane, int *Cj)
{
  HashSortList(list, words, lane);
  for (int k0 = 0; k0 < words; k0 += SYS_WARP) {
    unsigned key = SPGEMM_NOWORD, bits = 0;
    int      until;

    if (k0 + lane < words) {
      unsigned h = TeamHash(list[k0 + lane], log);

      key = list[k0 + lane];
      while ((unsigned)table[h] != key) h = (h + 1) & ((1u << log) - 1);
      bits = (unsigned)(table[h] >> 32);
    }
    __syncwarp();
    until = TeamUntil<SYS_WARP>(__popc(bits), lane);
    for (int at = until - __popc(bits); bits; bits &= bits - 1) Cj[at++] = (int)(key << 5) + __ffs((int)bits) - 1;
    __syncwarp();
    Cj += __shfl_sync(SYS_ALL_LANES, until, SYS_WARP - 1);
  }
}

/* Writes the columns of ascending words, number r * T + lane in a lane, through the buffer if they fit */
template <int T, int R>
static __device__ __forceinline__ void HashWriteColumns(const unsigned key[R], const unsigned bits[R], int lane, int size, int *buffer, int capacity, int *Cj)
{
  int place[R], sum = 0;

#pragma unroll
  for (int r = 0; r < R; r++) {
    const int until = TeamUntil<T>(__popc(bits[r]), lane);

    place[r] = sum + until - __popc(bits[r]);
    sum += __shfl_sync(SYS_ALL_LANES, until, T - 1, T);
  }
  __syncwarp();
#pragma unroll
  for (int r = 0; r < R; r++) {
    int *to = (size <= capacity ? buffer : Cj) + place[r];

    for (unsigned b = bits[r]; b; b &= b - 1) *to++ = (int)(key[r] << 5) + __ffs((int)b) - 1;
  }
  __syncwarp();
  if (size <= capacity) {
    for (int k = lane; k < size; k += T) Cj[k] = buffer[k];
  }
}

/* Sorts the list's words and writes the columns; the table becomes the buffer */
template <int T, int R>
static __device__ __forceinline__ void HashWritePattern(Slot *table, int log, const unsigned *list, int words, int lane, int size, int *Cj)
{
  unsigned key[R], bits[R];

#pragma unroll
  for (int r = 0; r < R; r++) key[r] = r * T + lane < words ? list[r * T + lane] : SPGEMM_NOWORD;
  TeamSort<T, R>(key, lane);
#pragma unroll
  for (int r = 0; r < R; r++) {
    bits[r] = 0;
    if (key[r] != SPGEMM_NOWORD) {
      unsigned h = TeamHash(key[r], log);

      while ((unsigned)table[h] != key[r]) h = (h + 1) & ((1u << log) - 1);
      bits[r] = (unsigned)(table[h] >> 32);
    }
  }
  __syncwarp();
  HashWriteColumns<T, R>(key, bits, lane, size, (int *)table, (int)(sizeof(Slot) / sizeof(int)) << log, Cj);
}

/* Sorts in N words a lane, or in twice as many, up to 16; only rows with more than that in their list are sorted in shared memory */
template <int T, int N, int R>
static __device__ __forceinline__ void HashWriteRow(Slot *table, int log, unsigned *list, int words, int most, int lane, int size, int *Cj)
{
  if (most <= N * T) HashWritePattern<T, N>(table, log, list, words, lane, size, Cj);
  else if constexpr (N < R && N < 16) HashWriteRow<T, 2 * N, R>(table, log, list, words, most, lane, size, Cj);
  else if constexpr (R > 16) HashWriteLongPattern(table, log, list, words, lane, Cj);
}

/* log and listed: log2 of the table's slots, and the words in a team's list; constants unless LOG is ANY_LOG */
template <int T, int LOG, int R>
static __global__ void __launch_bounds__(BLOCK(LOG)) HashPatternKernel(SpgemmOperands P, const int *rows, int n, int log, unsigned listed, const int *Ci, int *Cj)
{
  const int lane = (int)threadIdx.x % T, team = (int)threadIdx.x / T, at = (int)blockIdx.x * TEAMS(T, LOG) + team, teams = TEAMS(T, LOG);

  if (LOG != ANY_LOG) {
    log    = LOG;
    listed = T * R;
  }
  Slot     *table = (Slot *)spgemm_shared + ((size_t)team << log);
  unsigned *list = (unsigned *)((Slot *)spgemm_shared + ((size_t)teams << log)) + team * listed, *count = (unsigned *)((Slot *)spgemm_shared + ((size_t)teams << log)) + teams * listed + team;
  const int row = at < n ? rows[at] : -1, begin = row < 0 ? 0 : P.Ai[row], end = row < 0 ? 0 : P.Ai[row + 1];
  const int first = row < 0 ? 0 : Ci[row], size = row < 0 ? 0 : Ci[row + 1] - first;
  int       words, most;

  HashClear<T>(table, log, lane);
  if (lane == 0) *count = 0;
  __syncwarp();
  TeamForWords<T>(P, begin, end, lane, [&](unsigned word, unsigned bits) {
    bool           is_new;
    const unsigned slot = HashInsert(table, log, word, &is_new);

    if (is_new) {
      const unsigned to = atomicAdd(count, 1u);

      if (to < listed) list[to] = word;
    }
    (void)HashAddBits(table + slot, bits);
  });
  __syncwarp();
  words = (int)*count;
  most  = TeamMost<T>(words);
  HashWriteRow<T, 1, R>(table, log, list, words, most, lane, size, Cj + first);
}

static constexpr size_t HashPatternShared(int teams, int log, unsigned listed)
{
  return teams * ((sizeof(Slot) << log) + sizeof(unsigned) * (listed + 1));
}

size_t SpgemmDeviceHashShared(void)
{
  return HashPatternShared(1, HASH_LARGEST_LOG, HASH_LARGEST_LIST);
}

template <int T, int LOG, int R>
static SysStatus HashLaunchPattern(const SpgemmOperands *P, const int *rows, int n, const int *Ci, int *Cj, cudaStream_t stream)
{
  constexpr size_t shared = HashPatternShared(TEAMS(T, LOG), LOG, T * R);

  SPGEMM_FITS(shared);
  return SysLaunch(HashPatternKernel<T, LOG, R>, SysBlocks(n, TEAMS(T, LOG)), BLOCK(LOG), shared, stream, *P, rows, n, LOG, T * R, Ci, Cj);
}

/* Rows whose words fill the registers of a warp, or a list in shared memory */
static SysStatus HashLaunchLongPattern(const SpgemmOperands *P, int log, unsigned listed, const int *rows, int n, const int *Ci, int *Cj, cudaStream_t stream)
{
  return SysLaunch(HashPatternKernel<SYS_WARP, ANY_LOG, 32>, n, SYS_WARP, HashPatternShared(1, log, listed), stream, *P, rows, n, log, listed, Ci, Cj);
}

/* ---- The pattern of rows with stored words ---- */

#define KEPT_BLOCK 128

template <int ROOM>
struct KeptShared {
  unsigned bits[SPGEMM_KEPT_WORDS];
  int      column[ROOM];
};

/* A word has at most 26 bits, its kept number 6: a key holds both */
template <int T, int R, int ROOM>
static __device__ __forceinline__ void HashWriteKept(KeptShared<ROOM> *own, const uint2 *word, int words, int lane, int size, int *Cj)
{
  unsigned key[R], bits[R];

#pragma unroll
  for (int r = 0; r < R; r++) {
    const int k = r * T + lane;

    key[r] = SPGEMM_NOWORD;
    if (k < words) {
      key[r]       = word[k].x << 6 | (unsigned)k;
      own->bits[k] = word[k].y;
    }
  }
  TeamSort<T, R>(key, lane);
  __syncwarp();
#pragma unroll
  for (int r = 0; r < R; r++) {
    bits[r] = r * T + lane < words ? own->bits[key[r] & 63] : 0;
    key[r] >>= 6;
  }
  HashWriteColumns<T, R>(key, bits, lane, size, own->column, ROOM, Cj);
}

/* Sorts in N words a lane, or in twice as many, up to all kept ones */
template <int T, int N, int ROOM>
static __device__ __forceinline__ void HashWriteKeptRow(KeptShared<ROOM> *own, const uint2 *word, int words, int most, int lane, int size, int *Cj)
{
  if constexpr (N * T == SPGEMM_KEPT_WORDS) HashWriteKept<T, N, ROOM>(own, word, words, lane, size, Cj);
  else if (most <= N * T) HashWriteKept<T, N, ROOM>(own, word, words, lane, size, Cj);
  else HashWriteKeptRow<T, 2 * N, ROOM>(own, word, words, most, lane, size, Cj);
}

template <int T, int ROOM>
static __global__ void __launch_bounds__(KEPT_BLOCK) HashExpandKernel(SpgemmKept kept, const int *rows, int n, const int *Ci, int *Cj)
{
  __shared__ KeptShared<ROOM> shared[KEPT_BLOCK / T];
  const int                   lane = (int)threadIdx.x % T, team = (int)threadIdx.x / T, at = (int)blockIdx.x * (KEPT_BLOCK / T) + team;
  const int                   row = at < n ? rows[at] : -1, first = row < 0 ? 0 : Ci[row], size = row < 0 ? 0 : Ci[row + 1] - first, words = row < 0 ? 0 : kept.words[row];
  const uint2                *word = kept.word + (row < 0 ? 0 : (size_t)row * (size_t)kept.capacity);
  const int                   most = TeamMost<T>(words);

  HashWriteKeptRow<T, 1, ROOM>(shared + team, word, words, most, lane, size, Cj + first);
}

template <int T, int ROOM>
static SysStatus HashLaunchExpand(const SpgemmKept *kept, const int *rows, int n, const int *Ci, int *Cj, cudaStream_t stream)
{
  return SysLaunch(HashExpandKernel<T, ROOM>, SysBlocks(n, KEPT_BLOCK / T), KEPT_BLOCK, 0, stream, *kept, rows, n, Ci, Cj);
}

#define COPY_BLOCK 128
#define COPY_TEAM  16

/* Rows of one entry in A */
static __global__ void __launch_bounds__(COPY_BLOCK) HashCopyKernel(SpgemmOperands P, const int *rows, int n, const int *Ci, int *Cj)
{
  const int at = (int)((blockIdx.x * (int64_t)COPY_BLOCK + threadIdx.x) / COPY_TEAM), lane = (int)threadIdx.x % COPY_TEAM;

  if (at >= n) return;
  const int row = rows[at], from = P.Bi[P.Aj[P.Ai[row]]], to = Ci[row], length = Ci[row + 1] - to;

#pragma unroll 4
  for (int e = lane; e < length; e += COPY_TEAM) Cj[to + e] = P.Bj[from + e];
}

SysStatus SpgemmDeviceHashPattern(const SpgemmOperands *P, const SpgemmKept *kept, int bin, const int *rows, int n, const int *Ci, int *Cj, cudaStream_t stream)
{
  switch (bin) {
  case PATTERN_EMPTY:
  case PATTERN_WINDOW:
    return SYS_SUCCESS;
  case PATTERN_COPY:
    return SysLaunch(HashCopyKernel, SysBlocks((int64_t)n * COPY_TEAM, COPY_BLOCK), COPY_BLOCK, 0, stream, *P, rows, n, Ci, Cj);
  case PATTERN_KEPT_32:
    return HashLaunchExpand<8, 32>(kept, rows, n, Ci, Cj, stream);
  case PATTERN_KEPT_64:
    return HashLaunchExpand<16, 64>(kept, rows, n, Ci, Cj, stream);
  case PATTERN_KEPT_MORE:
    return HashLaunchExpand<32, 512>(kept, rows, n, Ci, Cj, stream);
  case PATTERN_8_32:
    return HashLaunchPattern<8, 6, 4>(P, rows, n, Ci, Cj, stream);
  case PATTERN_8_64:
    return HashLaunchPattern<8, 7, 8>(P, rows, n, Ci, Cj, stream);
  case PATTERN_16_64:
    return HashLaunchPattern<16, 7, 4>(P, rows, n, Ci, Cj, stream);
  case PATTERN_16_128:
    return HashLaunchPattern<16, 8, 8>(P, rows, n, Ci, Cj, stream);
  case PATTERN_32_64:
    return HashLaunchPattern<32, 7, 2>(P, rows, n, Ci, Cj, stream);
  case PATTERN_32_128:
    return HashLaunchPattern<32, 8, 4>(P, rows, n, Ci, Cj, stream);
  case PATTERN_32_256:
    return HashLaunchPattern<32, 9, 8>(P, rows, n, Ci, Cj, stream);
  case PATTERN_32_512:
    return HashLaunchLongPattern(P, 10, 512, rows, n, Ci, Cj, stream);
  case PATTERN_32_1024:
    return HashLaunchLongPattern(P, 11, 1024, rows, n, Ci, Cj, stream);
  default:
    return HashLaunchLongPattern(P, HASH_LARGEST_LOG, HASH_LARGEST_LIST, rows, n, Ci, Cj, stream);
  }
}
