/*
   Sparse products on the device: values, into a pattern that is known. The columns of a row, or of a part of it, are in shared memory with a hash table
   of their places, and the sums.
*/
#include <limits.h>

#include "spgemmcuda.cuh"

#define TEAM_BLOCK  128 /* threads */
#define COPY_BLOCK  128
#define COPY_TEAM   16
#define NO_POSITION 0xffffu

/* A row of B, or what of it lies in a part, and the value of A that it is multiplied by */
typedef struct {
  int       from, length;
  AmbScalar a;
} Entry;

/* ROOM columns in a table four times as large, since the longest of 32 searches counts; two places in a word */
template <int ROOM>
struct Table {
  unsigned slot[2 * ROOM];
};

extern __shared__ double2 spgemm_shared[];

static __device__ constexpr int Log(int n)
{
  return n > 1 ? 1 + Log(n / 2) : 0;
}

template <int ROOM>
static __device__ __forceinline__ unsigned Hash(int column)
{
  return (unsigned)column * 0x9E3779B1u >> (30 - Log(ROOM));
}

template <int ROOM>
static __device__ __forceinline__ void Insert(Table<ROOM> *table, int column, unsigned position)
{
  for (unsigned h = Hash<ROOM>(column);; h = (h + 1) & (4 * ROOM - 1)) {
    unsigned      *slot  = table->slot + h / 2;
    const unsigned shift = h % 2 * 16;
    unsigned       seen  = *(volatile unsigned *)slot;

    while ((seen >> shift & 0xffffu) == NO_POSITION) { /* the other half may change meanwhile */
      const unsigned now = atomicCAS(slot, seen, (seen & ~(0xffffu << shift)) | position << shift);

      if (now == seen) return;
      seen = now;
    }
  }
}

/* Where the sum of a column is, or -1: of other columns of a part, or with other operands than those of the pattern */
template <int ROOM>
static __device__ __forceinline__ int Position(const Table<ROOM> *table, const int *columns, int column)
{
  const unsigned short *slot = (const unsigned short *)table->slot;

  for (unsigned h = Hash<ROOM>(column);; h = (h + 1) & (4 * ROOM - 1)) {
    const unsigned position = slot[h];

    if (position == NO_POSITION) return -1;
    if (columns[position] == column) return (int)position;
  }
}

template <int T>
static __device__ __forceinline__ int WarpMost(int n)
{
  return T == SPGEMM_WARP ? n : __reduce_max_sync(SPGEMM_ALL, n);
}

/* ---- A row by a team ---- */

template <int T, int ROOM>
struct TeamShared {
  AmbScalar   sum[ROOM];
  Entry       entry[T];
  int         column[ROOM];
  Table<ROOM> table;
};

template <int T, int ROOM>
static __global__ void __launch_bounds__(TEAM_BLOCK) Teams(SpgemmOperands P, const int *rows, int n, const int *Ci, const int *Cj, AmbScalar *Ca)
{
  const int            lane = (int)threadIdx.x % T, at = (int)(blockIdx.x * (TEAM_BLOCK / T) + threadIdx.x / T);
  TeamShared<T, ROOM> &own = ((TeamShared<T, ROOM> *)spgemm_shared)[threadIdx.x / T];
  const int            row = at < n ? rows[at] : -1, begin = row < 0 ? 0 : P.Ai[row], end = row < 0 ? 0 : P.Ai[row + 1];
  const int            first = row < 0 ? 0 : Ci[row], size = row < 0 ? 0 : Ci[row + 1] - first;
  const int            most = WarpMost<T>(end - begin);

  for (int k = lane; k < 2 * ROOM; k += T) own.table.slot[k] = SPGEMM_NOWORD;
  __syncwarp();
  for (int k = lane; k < size; k += T) {
    const int c = Cj[first + k];

    own.column[k] = c;
    own.sum[k]    = 0;
    Insert(&own.table, c, (unsigned)k);
  }
  for (int k0 = 0; k0 < most; k0 += T) {
    const int k     = begin + k0 + lane;
    Entry     entry = {0, 0, 0};

    if (k < end) {
      const int c = P.Aj[k];

      entry.from   = P.Bi[c];
      entry.length = P.Bi[c + 1] - entry.from;
      entry.a      = P.Aa[k];
    }
    __syncwarp();
    own.entry[lane] = entry;
    __syncwarp();
    const int count  = min(T, most - k0);
    Entry     next   = own.entry[0];
    int       next_c = 0;
    AmbScalar next_b = 0;

    if (lane < next.length) {
      next_c = P.Bj[next.from + lane];
      next_b = P.Ba[next.from + lane];
    }
    for (int e = 0; e < count; e++) {
      const Entry now = next;
      int         c   = next_c;
      AmbScalar   b   = next_b;

      if (e + 1 < count) { /* on its way while this one is added */
        next = own.entry[e + 1];
        if (lane < next.length) {
          next_c = P.Bj[next.from + lane];
          next_b = P.Ba[next.from + lane];
        }
      }
      if (lane < now.length) {
        const int position = Position(&own.table, own.column, c);

        if (position >= 0) own.sum[position] += now.a * b;
      }
      for (int q = lane + T; q < now.length; q += T) {
        const int position = Position(&own.table, own.column, P.Bj[now.from + q]);

        if (position >= 0) own.sum[position] += now.a * P.Ba[now.from + q];
      }
      __syncwarp();
    }
  }
  __syncwarp();
  for (int k = lane; k < size; k += T) Ca[first + k] = own.sum[k];
}

template <int T, int ROOM>
static SpgemmDeviceStatus LaunchTeams(const SpgemmOperands *P, const int *rows, int n, const int *Ci, const int *Cj, AmbScalar *Ca, cudaStream_t stream)
{
  return SpgemmLaunch(Teams<T, ROOM>, SpgemmBlocks(n, TEAM_BLOCK / T), TEAM_BLOCK, TEAM_BLOCK / T * sizeof(TeamShared<T, ROOM>), stream, *P, rows, n, Ci, Cj, Ca);
}

/* Rows of one entry in A */
static __global__ void __launch_bounds__(COPY_BLOCK) Copy(SpgemmOperands P, const int *rows, int n, const int *Ci, AmbScalar *Ca)
{
  const int at = (int)((blockIdx.x * (int64_t)COPY_BLOCK + threadIdx.x) / COPY_TEAM), lane = (int)threadIdx.x % COPY_TEAM;

  if (at >= n) return;
  const int       row = rows[at], k = P.Ai[row], from = P.Bi[P.Aj[k]], to = Ci[row], length = Ci[row + 1] - to;
  const AmbScalar a = P.Aa[k];

#pragma unroll 4
  for (int e = lane; e < length; e += COPY_TEAM) Ca[to + e] = a * P.Ba[from + e];
}

SpgemmDeviceStatus SpgemmDeviceValues(const SpgemmOperands *P, int bin, const int *rows, int n, const int *Ci, const int *Cj, AmbScalar *Ca, cudaStream_t stream)
{
  switch (bin) {
  case VALUES_COPY:
    return SpgemmLaunch(Copy, SpgemmBlocks((int64_t)n * COPY_TEAM, COPY_BLOCK), COPY_BLOCK, 0, stream, *P, rows, n, Ci, Ca);
  case VALUES_8_32:
    return LaunchTeams<8, 32>(P, rows, n, Ci, Cj, Ca, stream);
  case VALUES_8_64:
    return LaunchTeams<8, 64>(P, rows, n, Ci, Cj, Ca, stream);
  case VALUES_16_64:
    return LaunchTeams<16, 64>(P, rows, n, Ci, Cj, Ca, stream);
  case VALUES_16_128:
    return LaunchTeams<16, 128>(P, rows, n, Ci, Cj, Ca, stream);
  case VALUES_16_256:
    return LaunchTeams<16, 256>(P, rows, n, Ci, Cj, Ca, stream);
  case VALUES_32_64:
    return LaunchTeams<32, 64>(P, rows, n, Ci, Cj, Ca, stream);
  case VALUES_32_128:
    return LaunchTeams<32, 128>(P, rows, n, Ci, Cj, Ca, stream);
  case VALUES_32_256:
    return LaunchTeams<32, 256>(P, rows, n, Ci, Cj, Ca, stream);
  case VALUES_32_512:
    return LaunchTeams<32, 512>(P, rows, n, Ci, Cj, Ca, stream);
  default:
    return SPGEMM_DEVICE_SUCCESS;
  }
}

/* ---- A part of a row by a block ---- */

#define WARPS (SPGEMM_PART_THREADS / SPGEMM_WARP)
#define AHEAD 2 /* products of a thread that are on their way at a time */

template <int ROOM>
struct PartShared {
  AmbScalar   sum[ROOM];
  Entry       entry[SPGEMM_PART_THREADS];
  int         column[ROOM], count[WARPS];
  Table<ROOM> table;
};

/* Entries of a row of B, AHEAD for each thread */
typedef struct {
  int       c[AHEAD]; /* then the place of its sum; -1 for none */
  AmbScalar b[AHEAD];
} Chunk;

static __device__ __forceinline__ void LoadChunk(const SpgemmOperands &P, const Entry &entry, Chunk *chunk)
{
#pragma unroll
  for (int u = 0; u < AHEAD; u++) {
    const int q = (int)threadIdx.x + u * SPGEMM_PART_THREADS;

    chunk->c[u] = -1;
    if (q < entry.length) {
      chunk->c[u] = P.Bj[entry.from + q];
      chunk->b[u] = P.Ba[entry.from + q];
    }
  }
}

template <int ROOM>
static __device__ __forceinline__ void FindChunk(const PartShared<ROOM> &own, Chunk *chunk)
{
#pragma unroll
  for (int u = 0; u < AHEAD; u++) {
    if (chunk->c[u] >= 0) chunk->c[u] = Position(&own.table, own.column, chunk->c[u]);
  }
}

/* How many of n ascending columns are less than c */
static __device__ int ColumnsLess(const int *a, int n, int c)
{
  int lo = 0, hi = n;

  while (lo < hi) {
    const int mid = lo + (hi - lo) / 2;

    if (a[mid] < c) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

/* Collects as many entries of the row of A as there are threads, from k on, that reach the columns from low to high; returns how many */
template <int ROOM>
static __device__ int Collect(const SpgemmOperands &P, int k, int end, bool whole, int low, int high, PartShared<ROOM> *own)
{
  const int lane = (int)(threadIdx.x % SPGEMM_WARP), warp = (int)(threadIdx.x / SPGEMM_WARP);
  Entry     entry  = {0, 0, 0};
  int       before = 0, total = 0;

  if (k < end) {
    const int c = P.Aj[k];

    entry.from   = P.Bi[c];
    entry.length = P.Bi[c + 1] - entry.from;
    entry.a      = P.Aa[k];
    if (!whole) {
      const int skip = ColumnsLess(P.Bj + entry.from, entry.length, low);

      entry.from += skip;
      entry.length = ColumnsLess(P.Bj + entry.from, entry.length - skip, high + 1);
    }
  }
  __syncwarp();
  const unsigned some = __ballot_sync(SPGEMM_ALL, entry.length > 0);
  if (lane == 0) own->count[warp] = __popc(some);
  __syncthreads();
  for (int other = 0; other < WARPS; other++) {
    before += other < warp ? own->count[other] : 0;
    total += own->count[other];
  }
  if (entry.length > 0) own->entry[before + __popc(some & ((1u << lane) - 1))] = entry;
  __syncthreads();
  return total;
}

template <int ROOM>
static __global__ void __launch_bounds__(SPGEMM_PART_THREADS) Parts(SpgemmOperands P, const SpgemmPart *parts, const int *Ci, const int *Cj, AmbScalar *Ca)
{
  PartShared<ROOM> &own   = *(PartShared<ROOM> *)spgemm_shared;
  const SpgemmPart  part  = parts[blockIdx.x];
  const int         first = Ci[part.row] + part.first, low = Cj[first], high = Cj[first + part.entries - 1], end = P.Ai[part.row + 1];
  const bool        whole = part.entries == Ci[part.row + 1] - Ci[part.row];

  for (int k = (int)threadIdx.x; k < 2 * ROOM; k += SPGEMM_PART_THREADS) own.table.slot[k] = SPGEMM_NOWORD;
  __syncthreads();
  for (int k = (int)threadIdx.x; k < part.entries; k += SPGEMM_PART_THREADS) {
    const int c = Cj[first + k];

    own.column[k] = c;
    own.sum[k]    = 0;
    Insert(&own.table, c, (unsigned)k);
  }
  __syncthreads();
  for (int k0 = P.Ai[part.row]; k0 < end; k0 += SPGEMM_PART_THREADS) {
    const int count = Collect(P, k0 + (int)threadIdx.x, end, whole, low, high, &own);
    Chunk     now, next, then;

    if (!count) continue;
    LoadChunk(P, own.entry[0], &now);
    LoadChunk(P, own.entry[min(1, count - 1)], &next);
    FindChunk(own, &now);
    for (int e = 0; e < count; e++) {
      const Entry entry = own.entry[e];

      LoadChunk(P, own.entry[min(e + 2, count - 1)], &then);
#pragma unroll
      for (int u = 0; u < AHEAD; u++) {
        if (now.c[u] >= 0) own.sum[now.c[u]] += entry.a * now.b[u];
      }
      for (int q = (int)threadIdx.x + AHEAD * SPGEMM_PART_THREADS; q < entry.length; q += SPGEMM_PART_THREADS) {
        const int position = Position(&own.table, own.column, P.Bj[entry.from + q]);

        if (position >= 0) own.sum[position] += entry.a * P.Ba[entry.from + q];
      }
      now = next;
      FindChunk(own, &now);
      next = then;
      __syncthreads();
    }
  }
  for (int k = (int)threadIdx.x; k < part.entries; k += SPGEMM_PART_THREADS) Ca[first + k] = own.sum[k];
}

template <int ROOM>
static SpgemmDeviceStatus LaunchParts(const SpgemmOperands *P, const SpgemmPart *parts, int n, const int *Ci, const int *Cj, AmbScalar *Ca, cudaStream_t stream)
{
  return SpgemmLaunch(Parts<ROOM>, n, SPGEMM_PART_THREADS, sizeof(PartShared<ROOM>), stream, *P, parts, Ci, Cj, Ca);
}

SpgemmDeviceStatus SpgemmDevicePartValues(const SpgemmOperands *P, int part_class, const SpgemmPart *parts, int n, const int *Ci, const int *Cj, AmbScalar *Ca, cudaStream_t stream)
{
  switch (part_class) {
  case 0:
    return LaunchParts<SPGEMM_PART_ENTRIES / 4>(P, parts, n, Ci, Cj, Ca, stream);
  case 1:
    return LaunchParts<SPGEMM_PART_ENTRIES / 2>(P, parts, n, Ci, Cj, Ca, stream);
  default:
    return LaunchParts<SPGEMM_PART_ENTRIES>(P, parts, n, Ci, Cj, Ca, stream);
  }
}
