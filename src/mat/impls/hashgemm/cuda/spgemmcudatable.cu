/* SPDX-License-Identifier: BSD-2-Clause */
/*
   SpGEMM on the device, accumulator hash, for comparison: the thesis's hash table, which stores columns and their sums, one table for each team
   of 8, 16 or 32 threads. A team computes one row of the result: it adds one row of B after the other, sorts the columns, in registers or, if they are many,
   by a bit set, and looks up their sums. There is no pass that only counts. The table is in shared memory, and moves to global memory if the row has
   more columns than it holds.

   Source:
.  * - Y. Nagasaka, "Performance optimization of sparse matrix kernels for many-core architectures", doctoral thesis, Tokyo Institute of Technology, 2019, chapter 5

   spgemmhost.h has the idea.
*/
#include <limits.h>

#include "mat/impls/hashgemm/cuda/spgemmcudaentries.cuh"

#define NO_COLUMN         (-1)
#define TABLE_LARGEST_LOG 12 /* log2 of the slots of the largest table in shared memory */
#define ANY_LOG           0  /* LOG of the kernel for large tables; its launch decides on their size */
#define BLOCK(LOG)        ((LOG) == ANY_LOG ? SYS_WARP : 128)
#define TEAMS(T, LOG)     (BLOCK(LOG) / (T))
#define LISTED(log)       ((log) < 9 ? 1 << (log) : SPGEMM_TABLE_SORTED)

typedef struct {
  int       *column;
  SysScalar *value;
  unsigned   slots;
} Table;

/* A team's shared memory */
typedef struct {
  SysScalar *value; /* a slot's */
  Entry     *entry;
  int       *column;
  unsigned  *list; /* the first columns found, unordered; or a bit set of a range of columns */
  unsigned  *found;
} TableRow;

static __host__ __device__ constexpr size_t TableShared(int T, int log)
{
  return (((sizeof(SysScalar) + sizeof(int)) << log) + (size_t)T * sizeof(Entry) + (LISTED(log) + 1) * sizeof(unsigned) + 15) / 16 * 16;
}

template <int T>
static __device__ __forceinline__ TableRow TableAt(char *shared, int log)
{
  TableRow own;

  own.value  = (SysScalar *)shared;
  own.entry  = (Entry *)(own.value + (1 << log));
  own.column = (int *)(own.entry + T);
  own.list   = (unsigned *)(own.column + (1 << log));
  own.found  = own.list + LISTED(log);
  return own;
}

static __device__ __forceinline__ unsigned TableFirst(int column, unsigned slots)
{
  return __umulhi((unsigned)column * 0x9E3779B1u, slots);
}

static __device__ __forceinline__ unsigned TableNext(unsigned h, unsigned slots)
{
  return h + 1 < slots ? h + 1 : 0;
}

/* Returns a column's slot, inserting it if new. No other thread inserts the same column concurrently, and the table never fills up. */
static __device__ __forceinline__ unsigned TableInsert(const Table &t, int column, bool *is_new)
{
  for (unsigned h = TableFirst(column, t.slots);; h = TableNext(h, t.slots)) {
    int seen = *(volatile int *)(t.column + h);

    if (seen == NO_COLUMN) seen = atomicCAS(t.column + h, NO_COLUMN, column);
    if (seen != NO_COLUMN && seen != column) continue;
    *is_new = seen == NO_COLUMN;
    return h;
  }
}

static __device__ __forceinline__ SysScalar TableValue(const Table &t, int column)
{
  unsigned h = TableFirst(column, t.slots);

  while (t.column[h] != column) h = TableNext(h, t.slots);
  return t.value[h];
}

/* Adds a product; returns whether its column is new */
static __device__ __forceinline__ bool TableAdd(const Table &t, int column, SysScalar a, SysScalar b)
{
  bool           is_new;
  const unsigned h = TableInsert(t, column, &is_new);

  if (is_new) t.value[h] = 0;
  KnownAdd(t.value + h, a, b);
  return is_new;
}

template <int T>
static __device__ __forceinline__ void TableClear(const Table &t, int lane)
{
#pragma unroll 4
  for (unsigned h = (unsigned)lane; h < t.slots; h += T) t.column[h] = NO_COLUMN;
  __syncwarp();
}

/* ---- The result ---- */

template <int T, int R>
static __device__ __forceinline__ void TableSortRow(const Table &t, const unsigned *list, int found, int lane, int *column, SysScalar *value)
{
  unsigned key[R];

#pragma unroll
  for (int r = 0; r < R; r++) key[r] = r * T + lane < found ? list[r * T + lane] : SPGEMM_NOWORD;
  TeamSort<T, R>(key, lane);
#pragma unroll
  for (int r = 0; r < R; r++) {
    if (r * T + lane >= found) continue;
    column[r * T + lane] = (int)key[r];
    value[r * T + lane]  = TableValue(t, (int)key[r]);
  }
}

/* Writes a row with one warp. Passes over the table collect the next 32 * words columns, from low on, in a bit set. */
static __device__ void TableScanRow(const Table &t, unsigned *bits, unsigned words, int low, int found, int lane, int *column, SysScalar *value)
{
  for (int done = 0; done < found;) {
    int beyond = INT_MAX;

    for (unsigned w = (unsigned)lane; w < words; w += SYS_WARP) bits[w] = 0;
    __syncwarp();
#pragma unroll 4
    for (unsigned h = (unsigned)lane; h < t.slots; h += SYS_WARP) {
      const int      c  = t.column[h];
      const unsigned at = (unsigned)c - (unsigned)low;

      if (c < low) continue;
      if (at < 32 * words) atomicOr(bits + at / 32, 1u << at % 32);
      else beyond = min(beyond, c);
    }
    __syncwarp();
    for (unsigned w0 = 0; w0 < words; w0 += SYS_WARP) {
      unsigned  mine = bits[w0 + (unsigned)lane];
      const int n = __popc(mine), until = TeamUntil<SYS_WARP>(n, lane);

      for (int at = done + until - n; mine; mine &= mine - 1, at++) {
        const int c = low + (int)(32 * (w0 + (unsigned)lane)) + __ffs((int)mine) - 1;

        column[at] = c;
        value[at]  = TableValue(t, c);
      }
      __syncwarp();
      done += __shfl_sync(SYS_ALL_LANES, until, SYS_WARP - 1);
    }
    low = __reduce_min_sync(SYS_ALL_LANES, beyond);
  }
}

template <int T>
static __device__ __forceinline__ void TableWrite(const Table &t, const TableRow &own, int log, bool moved, int low, int found, int lane, int *column, SysScalar *value)
{
  const int most = TeamMost<T>(found);

  if (most <= 4 * T) TableSortRow<T, 4>(t, own.list, found, lane, column, value);
  else if (most <= 8 * T) TableSortRow<T, 8>(t, own.list, found, lane, column, value);
  else if (log <= 9 || most <= SPGEMM_TABLE_SORTED) TableSortRow<T, 16>(t, own.list, found, lane, column, value);
  else if (!moved) TableScanRow(t, own.list, SPGEMM_TABLE_SORTED, low, found, lane, column, value);
  else TableScanRow(t, (unsigned *)own.value, (unsigned)(sizeof(SysScalar) / sizeof(unsigned)) << log, low, found, lane, column, value); /* the table has moved */
}

/* ---- Sums ---- */

/* Moves the table to global memory at place, with capacity for bound columns and, after it, the row */
static __device__ Table TableMove(const TableRow &own, int log, unsigned bound, const SpgemmMade &made, int lane, unsigned *place)
{
  const unsigned slots = SpgemmTableSlots(bound);
  unsigned       base  = 0;

  if (lane == 0) base = (unsigned)atomicAdd(made.next, (unsigned long long)slots + bound);
  base          = __shfl_sync(SYS_ALL_LANES, base, 0);
  const Table t = {made.column + base, made.value + base, slots};

  TableClear<SYS_WARP>(t, lane);
  for (int k = lane; k < 1 << log; k += SYS_WARP) {
    if (own.column[k] == NO_COLUMN) continue;
    bool           is_new;
    const unsigned h = TableInsert(t, own.column[k], &is_new);

    t.value[h] = own.value[k];
  }
  __syncwarp();
  *place = base + slots;
  return t;
}

/* Adds the products of A's entries begin to end - 1; returns the number of columns to all lanes of the team. Moves the table of a row of more columns
   than it holds; otherwise place is unchanged. */
template <int T, int LOG>
static __device__ __forceinline__ int TableAddRow(const SpgemmOperands &P, int begin, int end, unsigned bound, const SpgemmMade &made, int lane, const TableRow &own, int log, Table *table, unsigned *place)
{
  constexpr bool Grows = LOG == ANY_LOG; /* the team is a warp then */
  unsigned       found = 0;

  EntriesForEach<T>(P, begin, end, TeamMost<T>(end - begin), lane, own.entry, [&](const Entry &now, Product one) {
    for (int q = lane; q - lane < now.length; q += T) {
      bool     is_new;
      unsigned to = found;

      if (q != lane) one = FindLoad(P, now.from, now.length, q);
      if (Grows && *place == SPGEMM_NOWORD && found > SPGEMM_TABLE_HOLDS(log)) {
        if constexpr (Grows) *table = TableMove(own, log, bound, made, lane, place);
      }
      is_new = one.c >= 0 && TableAdd(*table, one.c, now.a, one.b);
      if (Grows) {
        const unsigned all = __ballot_sync(SYS_ALL_LANES, is_new);

        to += (unsigned)__popc(all & ((1u << lane) - 1));
        found += (unsigned)__popc(all);
      } else if (is_new) to = atomicAdd(own.found, 1u);
      if (is_new && (log < 9 || to < SPGEMM_TABLE_SORTED)) own.list[to] = (unsigned)one.c;
    }
  });
  return (int)(Grows ? found : *own.found);
}

/* log: log2 of the table's slots, LOG unless that is ANY_LOG */
template <int T, int LOG>
static __global__ void __launch_bounds__(BLOCK(LOG)) TableKernel(SpgemmOperands P, int log, const int *rows, int n, const uint2 *range, const unsigned *work, int *size, SpgemmMade made)
{
  constexpr int       Teams = TEAMS(T, LOG);
  __shared__ unsigned sizes[Teams], base;
  const int           lane = (int)threadIdx.x % T, team = (int)threadIdx.x / T, at = (int)blockIdx.x * Teams + team;
  const int           row = at < n ? rows[at] : -1, begin = row < 0 ? 0 : P.Ai[row], end = row < 0 ? 0 : P.Ai[row + 1];
  const uint2         reach = row < 0 ? make_uint2(0, 0) : range[row];
  unsigned            place = SPGEMM_NOWORD;
  int                 found;

  if (LOG != ANY_LOG) log = LOG;
  const TableRow own   = TableAt<T>((char *)spgemm_shared + (size_t)team * TableShared(T, log), log);
  Table          table = {own.column, own.value, 1u << log};

  if (lane == 0) *own.found = 0;
  TableClear<T>(table, lane);
  found            = TableAddRow<T, LOG>(P, begin, end, row < 0 ? 0 : SpgemmRowBound(work[row], reach.y - reach.x), made, lane, own, log, &table, &place);
  const bool moved = place != SPGEMM_NOWORD;
  if (lane == 0) sizes[team] = moved ? 0 : (unsigned)found;
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned sum = 0;

    for (int other = 0; other < Teams; other++) sum += sizes[other];
    base = sum ? (unsigned)atomicAdd(made.next, (unsigned long long)sum) : 0;
  }
  __syncthreads();
  if (!moved) {
    place = base;
    for (int other = 0; other < team; other++) place += sizes[other];
  }
  if (row >= 0 && lane == 0) {
    size[row]       = found;
    made.place[row] = place;
  }
  TableWrite<T>(table, own, log, moved, (int)reach.x, found, lane, made.column + place, made.value + place);
}

size_t SpgemmDeviceTableShared(void)
{
  return TableShared(SYS_WARP, TABLE_LARGEST_LOG);
}

template <int T, int LOG>
static SysStatus TableLaunch(const SpgemmOperands *P, int log, const int *rows, int n, const uint2 *range, const unsigned *work, int *size, const SpgemmMade *made, cudaStream_t stream)
{
  SPGEMM_FITS(TEAMS(T, LOG) * TableShared(T, LOG));
  return SysLaunch(TableKernel<T, LOG>, SysBlocks(n, TEAMS(T, LOG)), BLOCK(LOG), TEAMS(T, LOG) * TableShared(T, log), stream, *P, log, rows, n, range, work, size, *made);
}

SysStatus SpgemmDeviceTableRows(const SpgemmOperands *P, int bin, const int *rows, int n, const uint2 *range, const unsigned *work, int *size, const SpgemmMade *made, cudaStream_t stream)
{
  switch (bin) {
  case COUNT_128:
    return TableLaunch<8, 7>(P, 7, rows, n, range, work, size, made, stream);
  case COUNT_256:
    return TableLaunch<16, 8>(P, 8, rows, n, range, work, size, made, stream);
  case COUNT_512:
    return TableLaunch<32, 9>(P, 9, rows, n, range, work, size, made, stream);
  case COUNT_1024:
    return TableLaunch<32, ANY_LOG>(P, 10, rows, n, range, work, size, made, stream);
  case COUNT_4096:
    return TableLaunch<32, ANY_LOG>(P, TABLE_LARGEST_LOG, rows, n, range, work, size, made, stream);
  default:
    return TableLaunch<32, ANY_LOG>(P, 11, rows, n, range, work, size, made, stream);
  }
}
