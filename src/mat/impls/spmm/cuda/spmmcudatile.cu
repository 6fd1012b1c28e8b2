/* SPDX-License-Identifier: BSD-2-Clause */
/*
   SpMM on a CUDA device with tiles in shared memory: adaptive sparse tiling. For comparison (-mat_spmm_tiles).

   A column is heavy in a block of rows if at least `threshold` of them have an entry in it. Heavy columns are grouped into tiles: a tile loads its
   columns' rows of the panel into shared memory, where all rows of the block read them. A row's other entries follow, as without tiles.

   Source: C. Hong et al., Adaptive sparse tiling for sparse matrix multiplication, PPoPP 2019.

   spmmhost.h has the idea.
*/
#include <new>
#include <vector>

#include "mat/impls/spmm/cuda/spmmcudarow.cuh"

#define SPMM_TILES_SHARED (32 << 10) /* bytes of shared memory */

/* ------------------------------------------------- plan ------------------------------------------------- */

/* The arrays of SpmmTiles on the host */
struct SpmmTileList {
  std::vector<int> first, column, start, j, position;
  int64_t          ncolumn = 0, nentry = 0;
};

/* Assigns the columns of rows r0 to r1 - 1 to tiles. slot[] is -1 for all columns on entry and on return. */
static void SpmmTileBlock(int64_t r0, int64_t r1, int most, const int *rows, const int *columns, int threshold, int slots, std::vector<int> &count, std::vector<int> &slot, SpmmTileList &L)
{
  std::vector<int> seen;
  int              heavy = 0;

  for (int64_t r = r0; r < r1; r++) {
    for (int k = rows[r]; rows[r + 1] - rows[r] <= most && k < rows[r + 1]; k++) {
      if (!count[(size_t)columns[k]]++) seen.push_back(columns[k]);
    }
  }
  for (const int c : seen) {
    if (count[(size_t)c] >= threshold) {
      slot[(size_t)c] = heavy++;
      L.column.push_back(c);
    }
  }
  const int tiles = (heavy + slots - 1) / slots;

  L.ncolumn += heavy;
  L.column.resize(L.column.size() + (size_t)(tiles * slots - heavy), -1);
  L.first.push_back(L.first.back() + tiles);
  const size_t base = L.start.size();

  L.start.resize(base + (size_t)((tiles + 1) * SPMM_BLOCK_ROWS));
  for (int64_t r = r0; r < r1; r++) {
    const bool cut = rows[r + 1] - rows[r] > most;
    int        at  = rows[r];

    for (int t = 0; t <= tiles; t++) {
      L.start[base + (size_t)(t * SPMM_BLOCK_ROWS + (r - r0))] = at;
      for (int k = rows[r]; !cut && k < rows[r + 1]; k++) {
        const int s = slot[(size_t)columns[k]];

        if (s < 0 ? t < tiles : s / slots != t) continue;
        L.j[(size_t)at]        = s < 0 ? columns[k] : s % slots;
        L.position[(size_t)at] = k;
        L.nentry += s >= 0;
        at++;
      }
    }
  }
  for (const int c : seen) {
    count[(size_t)c] = 0;
    slot[(size_t)c]  = -1;
  }
}

static SysStatus SpmmTileUpload(const std::vector<int> &from, int *to, cudaStream_t stream)
{
  if (!from.empty()) SYS_CUDA(cudaMemcpyAsync(to, from.data(), from.size() * sizeof(int), cudaMemcpyHostToDevice, stream));
  return SYS_SUCCESS;
}

SysStatus SpmmDeviceTile(SpmmDevice *S, const SysCSR *A, const SysInt *rows, const SysInt *columns, int threshold, int width, SysStream stream)
{
  SpmmTileList     L;
  std::vector<int> count((size_t)A->n), slot((size_t)A->n, -1);
  SysArena         arena = {NULL, 0};
  SpmmTiles       *T;

  SpmmTilesDestroy(&S->tiles);
  T = S->tiles = new (std::nothrow) SpmmTiles();
  if (!T) return SYS_OUT_OF_MEMORY;
  T->slots = SPMM_TILES_SHARED / (width * (int)sizeof(SysReal));
  L.first.push_back(0);
  L.j.resize((size_t)A->nz);
  L.position.resize((size_t)A->nz);
  for (int64_t r = 0; r < A->m; r += SPMM_BLOCK_ROWS) SpmmTileBlock(r, SysMin(r + SPMM_BLOCK_ROWS, A->m), S->most, rows, columns, threshold, T->slots, count, slot, L);
  T->ncolumn = L.ncolumn;
  T->nentry  = L.nentry;
  for (int pass = 0; pass < 2; pass++) {
    if (pass) SYS_CALL(SysArenaAllocate(&arena));
    T->memory = arena.memory;
    SysArenaTake(&arena, &T->first, L.first.size());
    SysArenaTake(&arena, &T->column, L.column.size());
    SysArenaTake(&arena, &T->start, L.start.size());
    SysArenaTake(&arena, &T->j, L.j.size());
    SysArenaTake(&arena, &T->position, L.position.size());
  }
  SYS_CALL(SpmmTileUpload(L.first, T->first, stream));
  SYS_CALL(SpmmTileUpload(L.column, T->column, stream));
  SYS_CALL(SpmmTileUpload(L.start, T->start, stream));
  SYS_CALL(SpmmTileUpload(L.j, T->j, stream));
  SYS_CALL(SpmmTileUpload(L.position, T->position, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  return SYS_SUCCESS;
}

void SpmmTilesDestroy(SpmmTiles **T)
{
  if (!*T) return;
  (void)cudaFree((*T)->memory);
  delete *T;
  *T = NULL;
}

void SpmmDeviceTileFigures(const SpmmDevice *S, int64_t *entries, int64_t *columns)
{
  *entries = S->tiles ? S->tiles->nentry : 0;
  *columns = S->tiles ? S->tiles->ncolumn : 0;
}

/* ------------------------------------------------- products ------------------------------------------------- */

/* Adds entries k0 to k1 - 1, whose rows of the panel are in slots */
template <int LANES, int PER>
static __device__ inline void SpmmSlots(const SpmmOperand &A, int k0, int k1, int t, const SpmmVector *slots, SpmmVector sum[PER])
{
  const unsigned team = SpmmTeam<LANES>();

  for (int k = k0; k < k1; k += LANES) {
    int     slot;
    SysReal value;

    SpmmEntry(A, k + t, k1, slot, value);
    for (int e = 0; e < LANES && k + e < k1; e++) {
      const int     s = __shfl_sync(team, slot, e, LANES);
      const SysReal a = __shfl_sync(team, value, e, LANES);

#pragma unroll
      for (int v = 0; v < PER; v++) SpmmAdd(sum[v], a, slots[s * (LANES * PER) + v * LANES + t]);
    }
  }
}

template <int LANES, int PER>
static __global__ void __launch_bounds__(SYS_THREADS) SpmmTiledRows(int64_t m, const SpmmOperand A, const int *rows, int nslot, const int *__restrict__ first, const int *__restrict__ column, const int *__restrict__ start, int ncol, SysReal *__restrict__ C, int64_t ld)
{
  extern __shared__ __align__(16) unsigned char memory[];
  constexpr int                                 VECTORS = LANES * PER, TEAMS = SYS_THREADS / LANES, ROWS = SPMM_BLOCK_ROWS / TEAMS;
  SpmmVector                                   *slots = (SpmmVector *)memory;
  SysReal                                      *tile  = (SysReal *)memory;
  const int                                     t = (int)threadIdx.x % LANES, y0 = (int)threadIdx.x / LANES, before = first[blockIdx.x], tiles = first[blockIdx.x + 1] - before;
  const int64_t                                 r0 = (int64_t)blockIdx.x * SPMM_BLOCK_ROWS;
  SpmmVector                                    sum[ROWS][PER], light[PER];

  start += ((int64_t)before + blockIdx.x) * SPMM_BLOCK_ROWS;
#pragma unroll
  for (int n = 0; n < ROWS * PER; n++) sum[n / PER][n % PER] = SpmmZero();
  for (int q = 0; q < tiles; q++) {
    for (int k = (int)threadIdx.x; k < nslot * VECTORS; k += SYS_THREADS) {
      const int64_t c = __ldg(&column[(int64_t)(before + q) * nslot + k / VECTORS]);

      if (c >= 0) slots[k] = __ldg(&A.panel[c * VECTORS + k % VECTORS]);
    }
    __syncthreads();
#pragma unroll
    for (int n = 0; n < ROWS; n++) {
      const int y = y0 + n * TEAMS;

      if (r0 + y < m) SpmmSlots<LANES, PER>(A, start[q * SPMM_BLOCK_ROWS + y], start[(q + 1) * SPMM_BLOCK_ROWS + y], t, slots, sum[n]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int n = 0; n < ROWS; n++) {
    const int y = y0 + n * TEAMS;

    if (r0 + y >= m) break;
    const int k0 = __ldg(&rows[r0 + y]), k1 = __ldg(&rows[r0 + y + 1]);

    if (k1 - k0 > A.most) SpmmRow<LANES, PER>(A, r0 + y, t, light);
    else SpmmSum<LANES, PER>(A, start[tiles * SPMM_BLOCK_ROWS + y], k1, t, light);
#pragma unroll
    for (int v = 0; v < PER; v++) {
      SpmmAdd(sum[n][v], 1, light[v]);
      if (!ld) ((SpmmVector *)C)[(r0 + y) * VECTORS + v * LANES + t] = sum[n][v];
      else SpmmKeep(sum[n][v], tile, SPMM_BLOCK_ROWS + 1, v * LANES + t, y);
    }
  }
  if (!ld) return;
  __syncthreads();
  SpmmWrite(tile, SPMM_BLOCK_ROWS, VECTORS * SPMM_VECTOR_NUMBERS, r0, m, ncol, C, ld);
}

template <int LANES, int PER>
static SysStatus SpmmTilesLaunch(int64_t m, const SpmmOperand &A, const int *rows, const SpmmTiles *T, int ncol, SysReal *C, int64_t ld, cudaStream_t stream)
{
  const size_t slots = (size_t)T->slots * LANES * PER * sizeof(SpmmVector), tile = (size_t)(LANES * PER * SPMM_VECTOR_NUMBERS * (SPMM_BLOCK_ROWS + 1)) * sizeof(SysReal);

  return SysLaunch(SpmmTiledRows<LANES, PER>, (m + SPMM_BLOCK_ROWS - 1) / SPMM_BLOCK_ROWS, SYS_THREADS, slots > tile ? slots : tile, stream, m, A, rows, T->slots, T->first, T->column, T->start, ncol, C, ld);
}

SysStatus SpmmTilesMult(int64_t m, const SpmmDeviceTerm *term, const int *i, int ncol, int width, SysReal *C, int64_t ld, cudaStream_t stream)
{
  const SpmmDevice *s = term->S;
  const SpmmTiles  *T = s->tiles;
  const SpmmOperand A = {i, T->j, T->position, term->A.a, (const SpmmVector *)term->panel, s->most, s->first, (const SpmmVector *)s->sums};

  switch (width / SPMM_VECTOR_NUMBERS) {
  case 8:
    return SpmmTilesLaunch<8, 1>(m, A, i, T, ncol, C, ld, stream);
  case 16:
    return SpmmTilesLaunch<8, 2>(m, A, i, T, ncol, C, ld, stream);
  default:
    return SpmmTilesLaunch<16, 2>(m, A, i, T, ncol, C, ld, stream);
  }
}
