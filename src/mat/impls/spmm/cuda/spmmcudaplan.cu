/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The set-up of SpMM and SDDMM by the pattern of A: parts of long rows, shares, and the transposed pattern

   spmmhost.h has the idea.
*/
#include <new>
#include <vector>

#include "sys/systranspose.cuh"
#include "mat/impls/spmm/cuda/spmmcuda.cuh"

/* Returns the entries of a part; `least` for moderately long rows. A row's parts are summed in parallel, then added in order. */
static int SpmmPart(int length, int least)
{
  return least * (length <= 1024 ? 1 : length <= 8192 ? 2 : 4);
}

static SysStatus SpmmTransposePattern(const SysCSR *A, SpmmDevice *s, std::vector<int> &rows, cudaStream_t stream)
{
  SysArena   arena = {NULL, 0};
  SysScratch work;
  size_t     bytes;

  for (int pass = 0; pass < 2; pass++) {
    if (pass) SYS_CALL(SysArenaAllocate(&arena));
    s->transposed = arena.memory;
    SysArenaTake(&arena, &s->i, (size_t)A->n + 1);
    SysArenaTake(&arena, &s->j, (size_t)A->nz);
    SysArenaTake(&arena, &s->position, (size_t)A->nz);
  }
  SYS_CUDA(SysTransposeSize(A, &bytes));
  SYS_CALL(SysDeviceAllocate(&work.memory, bytes));
  SYS_CUDA(SysTransposePattern(A, work.memory, bytes, s->i, s->j, s->position, stream));
  rows.resize((size_t)A->n + 1);
  SYS_CUDA(cudaMemcpyAsync(rows.data(), s->i, rows.size() * sizeof(int), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  return SYS_SUCCESS;
}

/* The parts of long rows: each part's first entry, and the end of the last; for each row the number of parts before it; rows with many parts */
struct SpmmPartList {
  std::vector<int> begin, end, first, join;
};

/* Returns the longest uncut row for parts of at least `least` entries and teams of `lanes` lanes; lanes == 0: independent of the device's load */
static int SpmmMost(int64_t m, int64_t nz, int least, int lanes)
{
  const int64_t teams = lanes ? SPMM_BUSY / lanes : 0;
  int64_t       most  = m ? SPMM_LONG_TIMES * nz / m : 0;

  if (4 * m < teams) most = SysMin(most, nz / teams);
  else if (m < teams) most = SysMin(most, 2 * nz / m);
  return (int)(most < least ? least : SysMin(most, SPMM_LONG_MOST));
}

/* Cuts the long ones of m rows into parts of at least `least` entries */
static void SpmmCut(int64_t m, const int *rows, int least, int most, SpmmPartList &parts)
{
  parts.first.resize((size_t)m + 1);
  for (int64_t r = 0; r < m; r++) {
    const int length = rows[r + 1] - rows[r], part = SpmmPart(length, least);

    parts.first[(size_t)r] = (int)parts.begin.size();
    if (length <= most) continue;
    for (int k = rows[r]; k < rows[r + 1]; k += part) {
      parts.begin.push_back(k);
      parts.end.push_back(k + part < rows[r + 1] ? k + part : rows[r + 1]);
    }
    if ((int)parts.begin.size() - parts.first[(size_t)r] > SPMM_PARTS_OWN) parts.join.push_back((int)r);
  }
  parts.first[(size_t)m] = (int)parts.begin.size();
}

template <typename T>
static SysStatus SpmmUpload(const std::vector<T> &from, T *to, cudaStream_t stream)
{
  if (!from.empty()) SYS_CUDA(cudaMemcpyAsync(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice, stream));
  return SYS_SUCCESS;
}

/* Creates the parts of long rows; width: most numbers of a panel's row */
static SysStatus SpmmMakeParts(int64_t m, const int *rows, int least, int width, int lanes, SpmmDevice *s, cudaStream_t stream)
{
  SpmmPartList parts;
  SysArena     arena = {NULL, 0};

  s->most = SpmmMost(m, m ? rows[m] : 0, least, lanes);
  SpmmCut(m, rows, least, s->most, parts);
  s->npart = (int64_t)parts.begin.size();
  if (!s->npart) return SYS_SUCCESS;
  s->njoin = (int64_t)parts.join.size();
  for (int pass = 0; pass < 2; pass++) {
    if (pass) SYS_CALL(SysArenaAllocate(&arena));
    s->memory = arena.memory;
    SysArenaTake(&arena, &s->begin, parts.begin.size());
    SysArenaTake(&arena, &s->end, parts.end.size());
    SysArenaTake(&arena, &s->first, parts.first.size());
    SysArenaTake(&arena, &s->join, parts.join.size());
    SysArenaTake(&arena, &s->sums, parts.begin.size() * (size_t)width);
  }
  SYS_CALL(SpmmUpload(parts.begin, s->begin, stream));
  SYS_CALL(SpmmUpload(parts.end, s->end, stream));
  SYS_CALL(SpmmUpload(parts.first, s->first, stream));
  SYS_CALL(SpmmUpload(parts.join, s->join, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  return SYS_SUCCESS;
}

/* Partitions a product: as many consecutive rows as a thread block has room for, or part of a long row. A share has up to twice the entries of that
   many average rows, but fewer if the device would idle. */
static void SpmmDealRows(int64_t m, const int *rows, SpmmShape shape, bool sampled, std::vector<SpmmShare> &shares, std::vector<int> &longs, std::vector<int> &first)
{
  const int64_t nz = m ? rows[m] : 0, mean = SysMin(m ? 2 * shape.rows * nz / m : 0, nz / SPMM_SHARES_MANY), usual = SysMin(shape.entries, nz / SPMM_SHARES_BUSY < SPMM_SHARE_ENTRIES ? SPMM_SHARE_ENTRIES : nz / SPMM_SHARES_BUSY), most = mean < usual ? usual : mean;
  int part = 0;

  first.push_back(0);
  for (int64_t r = 0, q; r < m; r = q) {
    for (q = r; q < m && q < r + shape.rows && rows[q + 1] - rows[r] <= most;) q++;
    if (q == r) {
      q = r + 1;
      for (int64_t k = rows[r]; k < rows[q]; k += most) shares.push_back({(int)r, 1, (int)k, (int)SysMin(k + most, rows[q]), sampled ? -1 : part++});
      longs.push_back((int)r);
      first.push_back(part);
    } else if (rows[q] > rows[r] || !sampled) shares.push_back({(int)r, (int)(q - r), rows[r], rows[q], -1});
  }
}

/* Sets each entry's row in its share; one warp a row */
static __global__ void SpmmNumber(const SpmmShare *__restrict__ shares, const int *__restrict__ i, unsigned char *__restrict__ local)
{
  const SpmmShare share = shares[blockIdx.x];

  for (int y = (int)threadIdx.x / SYS_WARP; y < share.rows; y += (int)blockDim.x / SYS_WARP) {
    const int begin = i[share.row + y] < share.begin ? share.begin : i[share.row + y], end = i[share.row + y + 1] < share.end ? i[share.row + y + 1] : share.end;

    for (int k = begin + (int)threadIdx.x % SYS_WARP; k < end; k += SYS_WARP) local[k] = (unsigned char)y;
  }
}

/* rows: i on the host; vectors: of a panel's row, 0 for SDDMM */
static SysStatus SpmmMakeDeal(int64_t m, const int *rows, const int *i, int vectors, SpmmDeal *deal, cudaStream_t stream)
{
  const bool             sampled = !vectors;
  std::vector<SpmmShare> shares;
  std::vector<int>       longs, first;
  SysArena               arena = {NULL, 0};

  SpmmDealRows(m, rows, SpmmShareShape(sampled ? SYS_WARP : vectors), sampled, shares, longs, first);
  deal->vectors = vectors;
  deal->nshare  = (int64_t)shares.size();
  deal->nlong   = sampled ? 0 : (int64_t)longs.size();
  if (!deal->nshare) return SYS_SUCCESS;
  for (int pass = 0; pass < 2; pass++) {
    if (pass) SYS_CALL(SysArenaAllocate(&arena));
    deal->memory = arena.memory;
    SysArenaTake(&arena, &deal->share, shares.size());
    SysArenaTake(&arena, &deal->local, (size_t)rows[m]);
    SysArenaTake(&arena, &deal->longs, longs.size());
    SysArenaTake(&arena, &deal->first, first.size());
    SysArenaTake(&arena, &deal->parts, (size_t)first.back() * (size_t)(vectors * SPMM_VECTOR_NUMBERS));
  }
  SYS_CALL(SpmmUpload(shares, deal->share, stream));
  SYS_CALL(SpmmUpload(longs, deal->longs, stream));
  SYS_CALL(SpmmUpload(first, deal->first, stream));
  SYS_CALL(SysLaunch(SpmmNumber, (unsigned)deal->nshare, SYS_THREADS, 0, stream, deal->share, i, deal->local));
  SYS_CUDA(cudaStreamSynchronize(stream));
  return SYS_SUCCESS;
}

/* Sets *different if a row differs in its columns from the previous row of its node */
static __global__ void SpmmDifferent(int64_t m, int node, const int *__restrict__ i, const int *__restrict__ j, int *different)
{
  const int     lane = (int)threadIdx.x % SYS_WARP;
  const int64_t r    = ((int64_t)blockIdx.x * SYS_THREADS + threadIdx.x) / SYS_WARP;

  if (r >= m || r % node == 0) return;
  const int k0 = i[r - 1], k1 = i[r], k2 = i[r + 1];
  bool      same = k1 - k0 == k2 - k1;

  for (int k = lane; same && k < k2 - k1; k += SYS_WARP) same = j[k0 + k] == j[k1 + k];
  if (!same) *different = 1;
}

static SysStatus SpmmFindNodes(int64_t m, const int *i, const int *j, SpmmDevice *s, cudaStream_t stream)
{
  SysScratch flag;
  int        different;

  s->node = 1;
  if (!m) return SYS_SUCCESS;
  SYS_CALL(SysDeviceAllocate(&flag.memory, sizeof(different)));
  for (int node = 3; node > 1 && s->node == 1; node--) {
    if (m % node) continue;
    SYS_CUDA(cudaMemsetAsync(flag.memory, 0, sizeof(different), stream));
    SYS_CALL(SysLaunch(SpmmDifferent, SysBlocks(m * SYS_WARP), SYS_THREADS, 0, stream, m, node, i, j, (int *)flag.memory));
    SYS_CUDA(cudaMemcpyAsync(&different, flag.memory, sizeof(different), cudaMemcpyDeviceToHost, stream));
    SYS_CUDA(cudaStreamSynchronize(stream));
    if (!different) s->node = node;
  }
  return SYS_SUCCESS;
}

SysStatus SpmmDeviceCreate(const SysCSR *A, const SysInt *rows, int transpose, int width, SpmmDevice **S, SysStream stream)
{
  const int        lanes = width / SPMM_VECTOR_NUMBERS;
  std::vector<int> columns;

  *S = new (std::nothrow) SpmmDevice();
  if (!*S) return SYS_OUT_OF_MEMORY;
  if (transpose) SYS_CALL(SpmmTransposePattern(A, *S, columns, stream));
  SYS_CALL(SpmmFindNodes(transpose ? A->n : A->m, transpose ? (*S)->i : A->i, transpose ? (*S)->j : A->j, *S, stream));
  SYS_CALL(SpmmMakeParts(transpose ? A->n : A->m, transpose ? columns.data() : rows, 2 * lanes < SPMM_PART_LEAST ? SPMM_PART_LEAST : 2 * lanes, width, (*S)->node > 1 ? 0 : lanes < SPMM_TEAM_LEAST ? SPMM_TEAM_LEAST : lanes, *S, stream));
  if ((*S)->npart) (*S)->node = 1;
  if ((*S)->node > 1 && !transpose) (*S)->nvalue = (int)SpmmNodesCopied(A->m, (*S)->node, rows);
  if ((*S)->npart && SpmmShareShape(lanes).rows && (lanes > SPMM_TEAM_LEAST || A->nz <= SPMM_SHARES_MEAN * (transpose ? A->n : A->m)))
    SYS_CALL(SpmmMakeDeal(transpose ? A->n : A->m, transpose ? columns.data() : rows, transpose ? (*S)->i : A->i, lanes, &(*S)->deal, stream));
  return SYS_SUCCESS;
}

SysStatus SddmmDeviceCreate(const SysCSR *A, const SysInt *rows, SpmmDevice **S, SysStream stream)
{
  *S = new (std::nothrow) SpmmDevice();
  if (!*S) return SYS_OUT_OF_MEMORY;
  const int most = SpmmMost(A->m, A->nz, SPMM_PART_LEAST, SPMM_TEAM_LEAST);
  for (int64_t r = 0; r < A->m; r++) {
    if (rows[r + 1] - rows[r] > most) return SpmmMakeDeal(A->m, rows, A->i, 0, &(*S)->deal, stream);
  }
  return SYS_SUCCESS;
}

void SpmmDeviceDestroy(SpmmDevice **S)
{
  if (!*S) return;
  SpmmTilesDestroy(&(*S)->tiles);
  (void)cudaFree((*S)->memory);
  (void)cudaFree((*S)->deal.memory);
  (void)cudaFree((*S)->transposed);
  delete *S;
  *S = NULL;
}
