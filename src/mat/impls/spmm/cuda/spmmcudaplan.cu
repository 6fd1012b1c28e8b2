/* SPDX-License-Identifier: BSD-2-Clause */
/*
   What products of a sparse and a dense matrix know of the pattern of the sparse matrix: long rows, and the transposed pattern
*/
#include <new>
#include <vector>

#include "sys/systranspose.cuh"
#include "mat/impls/spmm/cuda/spmmcuda.cuh"

#define PART       32   /* entries of a part of a row of few columns */
#define LONG_TIMES 4    /* rows with so many times the mean are cut, because other rows would wait for them; no row of one part is cut */
#define LONG_MOST  1024 /* entries of a row that is always cut, one more */

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

/* Cuts the long ones of m rows */
static SysStatus SpmmCut(int64_t m, const int *rows, int width, SpmmDevice *s, cudaStream_t stream)
{
  const int        lanes = width / SPMM_VECTOR, least = 2 * lanes < PART ? PART : 2 * lanes;
  const int64_t    often = m ? LONG_TIMES * (int64_t)rows[m] / m : 0;
  std::vector<int> first((size_t)m + 1), begin, end;
  SysArena         arena = {NULL, 0};

  s->most = (int)(often < least ? least : often > LONG_MOST ? LONG_MOST : often);
  for (int64_t r = 0; r < m; r++) {
    const int length = rows[r + 1] - rows[r], part = SpmmPart(length, least);

    first[(size_t)r] = (int)begin.size();
    for (int k = rows[r]; length > s->most && k < rows[r + 1]; k += part) {
      begin.push_back(k);
      end.push_back(k + part < rows[r + 1] ? k + part : rows[r + 1]);
    }
  }
  first[(size_t)m] = (int)begin.size();
  s->npart         = (int64_t)begin.size();
  if (!s->npart) return SYS_SUCCESS;
  for (int pass = 0; pass < 2; pass++) {
    if (pass) SYS_CALL(SysArenaAllocate(&arena));
    s->memory = arena.memory;
    SysArenaTake(&arena, &s->first, first.size());
    SysArenaTake(&arena, &s->begin, begin.size());
    SysArenaTake(&arena, &s->end, end.size());
    SysArenaTake(&arena, &s->sums, begin.size() * (size_t)width);
  }
  SYS_CUDA(cudaMemcpyAsync(s->first, first.data(), first.size() * sizeof(int), cudaMemcpyHostToDevice, stream));
  SYS_CUDA(cudaMemcpyAsync(s->begin, begin.data(), begin.size() * sizeof(int), cudaMemcpyHostToDevice, stream));
  SYS_CUDA(cudaMemcpyAsync(s->end, end.data(), end.size() * sizeof(int), cudaMemcpyHostToDevice, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  return SYS_SUCCESS;
}

SysStatus SpmmDeviceCreate(const SysCSR *A, const SysInt *rows, int transpose, int width, SpmmDevice **S, SysStream stream)
{
  std::vector<int> columns;

  *S = new (std::nothrow) SpmmDevice();
  if (!*S) return SYS_OUT_OF_MEMORY;
  if (transpose) SYS_CALL(SpmmTransposePattern(A, *S, columns, stream));
  return SpmmCut(transpose ? A->n : A->m, transpose ? columns.data() : rows, width, *S, stream);
}

void SpmmDeviceDestroy(SpmmDevice **S)
{
  if (!*S) return;
  (void)cudaFree((*S)->memory);
  (void)cudaFree((*S)->transposed);
  delete *S;
  *S = NULL;
}
