/* SPDX-License-Identifier: BSD-2-Clause */
/*
   What products of a sparse and a dense matrix know of the pattern of the sparse matrix: long rows, and the transposed pattern
*/
#include <new>
#include <vector>

#include "sys/systranspose.cuh"
#include "mat/impls/spmm/cuda/spmmcuda.cuh"

#define PART         32        /* entries of a part of a row of few columns */
#define SAMPLED_PART 32        /* entries of a part of a row of sampled products, whose results are not added */
#define LONG_TIMES   4         /* rows with so many times the mean are cut, because other rows would wait for them; no row of one part is cut */
#define LONG_MOST    1024      /* entries of a row that is always cut, one more */
#define BUSY         (1 << 18) /* threads that keep a device busy. If the teams of all rows have fewer, shorter rows are cut; with less than a quarter, rows of any length. */
#define TEAM         8         /* lanes of a part of a row, at least */

/* Entries of a part, least for a row that is not much longer. The parts of a row are summed up side by side, then one after the other. */
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
    SysArenaTake(&arena, &s->place, (size_t)A->nz);
  }
  SYS_CUDA(SysTransposeSize(A, &bytes));
  SYS_CALL(SysDeviceAllocate(&work.memory, bytes));
  SYS_CUDA(SysTransposePattern(A, work.memory, bytes, s->i, s->j, s->place, stream));
  rows.resize((size_t)A->n + 1);
  SYS_CUDA(cudaMemcpyAsync(rows.data(), s->i, rows.size() * sizeof(int), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  return SYS_SUCCESS;
}

/* The parts of long rows: of each part its first entry, behind its last one, and the place of its row among the long ones; of each row the number of parts before
   it; long rows, and those with many parts */
struct SpmmPartList {
  std::vector<int> begin, end, owner, first, longs, join;
};

/* The length of the longest row that is not cut, if parts have least entries or more and are made by teams of so many lanes; 0: whether the device is busy does not
   matter */
static int SpmmMost(int64_t m, int64_t nz, int least, int lanes)
{
  const int64_t teams = lanes ? BUSY / lanes : 0;
  int64_t       most  = m ? LONG_TIMES * nz / m : 0;

  if (4 * m < teams) most = SysMin(most, nz / teams);
  else if (m < teams) most = SysMin(most, 2 * nz / m);
  return (int)(most < least ? least : SysMin(most, LONG_MOST));
}

/* Cuts the long ones of m rows into parts of least entries or more */
static void SpmmCut(int64_t m, const int *rows, int least, int most, bool sampled, SpmmPartList &parts)
{
  parts.first.resize((size_t)m + 1);
  for (int64_t r = 0; r < m; r++) {
    const int length = rows[r + 1] - rows[r], part = sampled ? least : SpmmPart(length, least);

    parts.first[(size_t)r] = (int)parts.begin.size();
    if (length <= most) continue;
    for (int k = rows[r]; k < rows[r + 1]; k += part) {
      parts.begin.push_back(k);
      parts.end.push_back(k + part < rows[r + 1] ? k + part : rows[r + 1]);
      parts.owner.push_back((int)parts.longs.size());
    }
    parts.longs.push_back((int)r);
    if ((int)parts.begin.size() - parts.first[(size_t)r] > JOINED) parts.join.push_back((int)r);
  }
  parts.first[(size_t)m] = (int)parts.begin.size();
}

static SysStatus SpmmUpload(const std::vector<int> &from, int *to, cudaStream_t stream)
{
  if (!from.empty()) SYS_CUDA(cudaMemcpyAsync(to, from.data(), from.size() * sizeof(int), cudaMemcpyHostToDevice, stream));
  return SYS_SUCCESS;
}

/* Parts of rows whose results are added, or of rows of sampled products. Panels are at most width numbers wide. */
static SysStatus SpmmMakeParts(int64_t m, const int *rows, int least, int width, int lanes, bool sampled, SpmmDevice *s, cudaStream_t stream)
{
  SpmmPartList parts;
  SysArena     arena = {NULL, 0};

  s->most = SpmmMost(m, m ? rows[m] : 0, least, lanes);
  SpmmCut(m, rows, least, s->most, sampled, parts);
  s->npart = (int64_t)parts.begin.size();
  if (!s->npart) return SYS_SUCCESS;
  s->njoin = sampled ? 0 : (int64_t)parts.join.size();
  s->nlong = (int64_t)parts.longs.size();
  for (int pass = 0; pass < 2; pass++) {
    if (pass) SYS_CALL(SysArenaAllocate(&arena));
    s->memory = arena.memory;
    SysArenaTake(&arena, &s->begin, parts.begin.size());
    SysArenaTake(&arena, &s->end, parts.end.size());
    if (sampled) {
      SysArenaTake(&arena, &s->owner, parts.owner.size());
      SysArenaTake(&arena, &s->longs, parts.longs.size());
    } else {
      SysArenaTake(&arena, &s->first, parts.first.size());
      SysArenaTake(&arena, &s->join, parts.join.size());
    }
    SysArenaTake(&arena, &s->sums, (sampled ? parts.longs.size() : parts.begin.size()) * (size_t)width);
  }
  SYS_CALL(SpmmUpload(parts.begin, s->begin, stream));
  SYS_CALL(SpmmUpload(parts.end, s->end, stream));
  SYS_CALL(sampled ? SpmmUpload(parts.owner, s->owner, stream) : SpmmUpload(parts.first, s->first, stream));
  SYS_CALL(sampled ? SpmmUpload(parts.longs, s->longs, stream) : SpmmUpload(parts.join, s->join, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  return SYS_SUCCESS;
}

/* Does a row that is not the first one of its node differ in its columns from the row before? */
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
    SpmmDifferent<<<SysBlocks(m * SYS_WARP), SYS_THREADS, 0, stream>>>(m, node, i, j, (int *)flag.memory);
    SYS_CUDA(cudaPeekAtLastError());
    SYS_CUDA(cudaMemcpyAsync(&different, flag.memory, sizeof(different), cudaMemcpyDeviceToHost, stream));
    SYS_CUDA(cudaStreamSynchronize(stream));
    if (!different) s->node = node;
  }
  return SYS_SUCCESS;
}

SysStatus SpmmDeviceCreate(const SysCSR *A, const SysInt *rows, int transpose, int width, SpmmDevice **S, SysStream stream)
{
  const int        lanes = width / SPMM_VECTOR;
  std::vector<int> columns;

  *S = new (std::nothrow) SpmmDevice();
  if (!*S) return SYS_OUT_OF_MEMORY;
  if (transpose) SYS_CALL(SpmmTransposePattern(A, *S, columns, stream));
  SYS_CALL(SpmmFindNodes(transpose ? A->n : A->m, transpose ? (*S)->i : A->i, transpose ? (*S)->j : A->j, *S, stream));
  SYS_CALL(SpmmMakeParts(transpose ? A->n : A->m, transpose ? columns.data() : rows, 2 * lanes < PART ? PART : 2 * lanes, width, (*S)->node > 1 ? 0 : lanes < TEAM ? TEAM : lanes, false, *S, stream));
  if ((*S)->npart) (*S)->node = 1;
  return SYS_SUCCESS;
}

SysStatus SddmmDeviceCreate(const SysCSR *A, const SysInt *rows, SpmmDevice **S, SysStream stream)
{
  *S = new (std::nothrow) SpmmDevice();
  if (!*S) return SYS_OUT_OF_MEMORY;
  return SpmmMakeParts(A->m, rows, SAMPLED_PART, SPMM_DEVICE_WIDTH, TEAM, true, *S, stream);
}

void SpmmDeviceDestroy(SpmmDevice **S)
{
  if (!*S) return;
  SpmmTilesDestroy(&(*S)->tiles);
  (void)cudaFree((*S)->memory);
  (void)cudaFree((*S)->transposed);
  delete *S;
  *S = NULL;
}
