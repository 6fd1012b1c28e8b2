/* SPDX-License-Identifier: BSD-2-Clause */
/*
   What products of a sparse and a dense matrix know of the pattern of the sparse matrix: long rows, and the transposed pattern
*/
#include <new>
#include <vector>

#include "sys/systranspose.cuh"
#include "mat/impls/spmm/cuda/spmmcuda.cuh"

#define PART         32   /* entries of a part of a row of few columns */
#define SAMPLED_PART 32   /* entries of a part of a row of sampled products, whose results are not added */
#define LONG_TIMES   4    /* rows with so many times the mean are cut, because other rows would wait for them; no row of one part is cut */
#define LONG_MOST    1024 /* entries of a row that is always cut, one more */

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

/* The parts of long rows: of each part its row, its first entry, and behind its last one; of each row the number of parts before it */
struct SpmmPartList {
  std::vector<int> row, begin, end, first;
};

/* Cuts the long ones of m rows into parts of least entries or more. Returns the length of the longest row that would not be cut. */
static int SpmmCut(int64_t m, const int *rows, int least, bool sampled, SpmmPartList &parts)
{
  const int64_t often = m ? LONG_TIMES * (int64_t)rows[m] / m : 0;
  const int     most  = (int)(often < least ? least : often > LONG_MOST ? LONG_MOST : often);

  parts.first.resize((size_t)m + 1);
  for (int64_t r = 0; r < m; r++) {
    const int length = rows[r + 1] - rows[r], part = sampled ? least : SpmmPart(length, least);

    parts.first[(size_t)r] = (int)parts.begin.size();
    for (int k = rows[r]; length > most && k < rows[r + 1]; k += part) {
      parts.row.push_back((int)r);
      parts.begin.push_back(k);
      parts.end.push_back(k + part < rows[r + 1] ? k + part : rows[r + 1]);
    }
  }
  parts.first[(size_t)m] = (int)parts.begin.size();
  return most;
}

static SysStatus SpmmUpload(const std::vector<int> &from, int *to, cudaStream_t stream)
{
  SYS_CUDA(cudaMemcpyAsync(to, from.data(), from.size() * sizeof(int), cudaMemcpyHostToDevice, stream));
  return SYS_SUCCESS;
}

/* Parts of rows whose results are added, or of rows of sampled products */
static SysStatus SpmmMakeParts(int64_t m, const int *rows, int least, int width, bool sampled, SpmmDevice *s, cudaStream_t stream)
{
  SpmmPartList parts;
  SysArena     arena = {NULL, 0};

  s->most  = SpmmCut(m, rows, least, sampled, parts);
  s->npart = (int64_t)parts.begin.size();
  if (!s->npart) return SYS_SUCCESS;
  for (int pass = 0; pass < 2; pass++) {
    if (pass) SYS_CALL(SysArenaAllocate(&arena));
    s->memory = arena.memory;
    SysArenaTake(&arena, &s->begin, parts.begin.size());
    SysArenaTake(&arena, &s->end, parts.end.size());
    if (sampled) SysArenaTake(&arena, &s->row, parts.row.size());
    else {
      SysArenaTake(&arena, &s->first, parts.first.size());
      SysArenaTake(&arena, &s->sums, parts.begin.size() * (size_t)width);
    }
  }
  SYS_CALL(SpmmUpload(parts.begin, s->begin, stream));
  SYS_CALL(SpmmUpload(parts.end, s->end, stream));
  SYS_CALL(sampled ? SpmmUpload(parts.row, s->row, stream) : SpmmUpload(parts.first, s->first, stream));
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
  if (!m || s->npart) return SYS_SUCCESS;
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
  SYS_CALL(SpmmMakeParts(transpose ? A->n : A->m, transpose ? columns.data() : rows, 2 * lanes < PART ? PART : 2 * lanes, width, false, *S, stream));
  return SpmmFindNodes(transpose ? A->n : A->m, transpose ? (*S)->i : A->i, transpose ? (*S)->j : A->j, *S, stream);
}

SysStatus SddmmDeviceCreate(const SysCSR *A, const SysInt *rows, SpmmDevice **S, SysStream stream)
{
  *S = new (std::nothrow) SpmmDevice();
  if (!*S) return SYS_OUT_OF_MEMORY;
  return SpmmMakeParts(A->m, rows, SAMPLED_PART, 0, true, *S, stream);
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
