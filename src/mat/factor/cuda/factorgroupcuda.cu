/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Several factors as one: the rows of each factor follow the rows of the factor before it, and no row depends on a row of another factor. Level k of the group has the rows
   of level k of every factor, so that the group has as many levels as the factor with the most.

   Work space: 5 integers a row and one an entry, in the set-up; the values are kept twice.
*/
#include <stdlib.h>

#include "mat/factor/cuda/factortriangle.cuh"

struct FactorGroup_ {
  FactorDevice device;
  int          n;      /* factors */
  int64_t     *nz;     /* of each factor, the entries of the factors before it; n + 1 numbers */
  SysScalar   *values; /* of all factors */
};

/* to[k] = from[k] + offset */
static __global__ void __launch_bounds__(SYS_THREADS) FactorShiftKernel(int64_t n, const int *from, int offset, int *to)
{
  SYS_FOR_EACH(k, n) to[k] = from[k] + offset;
}

static SysStatus FactorShift(int64_t n, const int *from, int64_t offset, int *to, cudaStream_t stream)
{
  return n ? SysLaunch(FactorShiftKernel, SysBlocksLoop(n), SYS_THREADS, 0, stream, n, from, (int)offset, to) : SYS_SUCCESS;
}

/* Joins the arrays of all pairs to arrays of one pair, in the scratch */
static SysStatus FactorGroupJoin(int n, const FactorPair *pair, FactorPair *all, SysScratch *scratch, cudaStream_t stream)
{
  SysArena arena = {};
  int     *begin[2], *end[2], *diagonal, *j;
  int64_t  row = 0, entry = 0;

  for (int pass = 0; pass < 2; pass++) {
    for (int t = 0; t < 2; t++) {
      SysArenaTake(&arena, &begin[t], (size_t)all->n);
      SysArenaTake(&arena, &end[t], (size_t)all->n);
    }
    SysArenaTake(&arena, &diagonal, (size_t)all->n);
    SysArenaTake(&arena, &j, (size_t)all->nz);
    if (!pass) SYS_CALL(SysArenaAllocate(&arena));
    scratch->memory = arena.memory;
  }
  for (int k = 0; k < n; k++) {
    for (int t = 0; t < 2; t++) {
      SYS_CALL(FactorShift(pair[k].n, pair[k].begin[t], entry, begin[t] + row, stream));
      SYS_CALL(FactorShift(pair[k].n, pair[k].end[t], entry, end[t] + row, stream));
    }
    SYS_CALL(FactorShift(pair[k].n, pair[k].diagonal, entry, diagonal + row, stream));
    SYS_CALL(FactorShift(pair[k].nz, pair[k].j, row, j + entry, stream));
    row += pair[k].n;
    entry += pair[k].nz;
  }
  for (int t = 0; t < 2; t++) {
    all->begin[t] = begin[t];
    all->end[t]   = end[t];
  }
  all->diagonal = diagonal;
  all->j        = j;
  return SYS_SUCCESS;
}

static SysStatus FactorGroupSetUp(FactorGroup G, const FactorPair *pair, const SysInt *source, const SysInt *target, cudaStream_t stream)
{
  FactorPair all = pair[0];
  SysScratch scratch;
  char      *memory;

  all.n = all.nz = 0;
  all.source     = source;
  all.target     = target;
  for (int k = 0; k < G->n; k++) {
    G->nz[k] = all.nz;
    all.n += pair[k].n;
    all.nz += pair[k].nz;
  }
  G->nz[G->n] = all.nz;
  if (all.n > INT32_MAX || all.nz > INT32_MAX) return SYS_TOO_LARGE;
  SYS_CALL(FactorGroupJoin(G->n, pair, &all, &scratch, stream));
  SYS_CALL(FactorDeviceCreate(&all, &G->device, stream));
  SYS_CALL(SysDeviceAllocate(&memory, (size_t)all.nz * sizeof(*G->values)));
  G->values = (SysScalar *)memory;
  SYS_CUDA(cudaStreamSynchronize(stream)); /* the scratch goes */
  return SYS_SUCCESS;
}

SysStatus FactorGroupCreate(int n, const FactorPair *pair, const SysInt *source, const SysInt *target, FactorGroup *result, SysStream stream)
{
  FactorGroup G      = (FactorGroup)calloc(1, sizeof(*G));
  SysStatus   status = SYS_OUT_OF_MEMORY;

  if (G) {
    G->n  = n;
    G->nz = (int64_t *)calloc((size_t)n + 1, sizeof(*G->nz));
    if (G->nz) status = FactorGroupSetUp(G, pair, source, target, (cudaStream_t)stream);
    if (status != SYS_SUCCESS) FactorGroupDestroy(&G);
  }
  *result = G;
  return status;
}

void FactorGroupDestroy(FactorGroup *G)
{
  if (!*G) return;
  FactorDeviceDestroy(&(*G)->device);
  (void)cudaFree((*G)->values);
  free((*G)->nz);
  free(*G);
  *G = NULL;
}

SysStatus FactorGroupCopy(FactorGroup G, int k, const SysScalar *a, SysStream stream)
{
  SYS_CUDA(cudaMemcpyAsync(G->values + G->nz[k], a, (size_t)(G->nz[k + 1] - G->nz[k]) * sizeof(*a), cudaMemcpyDeviceToDevice, (cudaStream_t)stream));
  return SYS_SUCCESS;
}

SysStatus FactorGroupUpdate(FactorGroup G, SysStream stream)
{
  return FactorDeviceGather(G->device, G->values, stream);
}

FactorDevice FactorGroupDevice(FactorGroup G)
{
  return G->device;
}

/* ------------------------------------------------- values of blocks ------------------------------------------------- */

struct FactorSubMatrices_ {
  int      n;
  int64_t *first; /* of each block, the indices of the blocks before it; n + 1 numbers */
  int     *index; /* of all blocks, on the device */
  int     *missing;
};

/* A thread copies a row. Where both rows ascend, it reads each of them once. */
static __global__ void __launch_bounds__(SYS_THREADS) FactorBlockKernel(SysCSR A, SysCSR B, const int *index, SysScalar *b, int *missing)
{
  SYS_FOR_EACH(r, B.m)
  {
    const int first = A.i[index[r]], end = A.i[index[r] + 1];
    int       k = first;

    for (int e = B.i[r]; e < B.i[r + 1]; e++) {
      const int column = index[B.j[e]];
      int       left   = end - first;

      while (left && (k == end || A.j[k] != column)) {
        if (k == end) k = first;
        else {
          k++;
          left--;
        }
      }
      if (left) b[e] = A.a[k];
      else *missing = 1;
    }
  }
}

static SysStatus FactorSubMatricesSetUp(FactorSubMatrices F, const int64_t size[], const SysInt *const index[], cudaStream_t stream)
{
  char *memory;

  for (int k = 0; k < F->n; k++) F->first[k + 1] = F->first[k] + size[k];
  SYS_CALL(SysDeviceAllocate(&memory, ((size_t)F->first[F->n] + 1) * sizeof(*F->index)));
  F->missing = (int *)memory;
  F->index   = F->missing + 1;
  for (int k = 0; k < F->n; k++) SYS_CUDA(cudaMemcpyAsync(F->index + F->first[k], index[k], (size_t)size[k] * sizeof(*F->index), cudaMemcpyHostToDevice, stream));
  return SYS_SUCCESS;
}

SysStatus FactorSubMatricesCreate(int n, const int64_t size[], const SysInt *const index[], FactorSubMatrices *result, SysStream stream)
{
  FactorSubMatrices F      = (FactorSubMatrices)calloc(1, sizeof(*F));
  SysStatus         status = SYS_OUT_OF_MEMORY;

  if (F) {
    F->n     = n;
    F->first = (int64_t *)calloc((size_t)n + 1, sizeof(*F->first));
    if (F->first) status = FactorSubMatricesSetUp(F, size, index, (cudaStream_t)stream);
    if (status != SYS_SUCCESS) FactorSubMatricesDestroy(&F);
  }
  *result = F;
  return status;
}

void FactorSubMatricesDestroy(FactorSubMatrices *F)
{
  if (!*F) return;
  (void)cudaFree((*F)->missing);
  free((*F)->first);
  free(*F);
  *F = NULL;
}

SysStatus FactorSubMatricesCopy(FactorSubMatrices F, const SysCSR *A, const SysCSR B[], SysScalar *const b[], int *missing, SysStream stream)
{
  SYS_CUDA(cudaMemsetAsync(F->missing, 0, sizeof(*F->missing), (cudaStream_t)stream));
  for (int k = 0; k < F->n; k++) SYS_CALL(SysLaunch(FactorBlockKernel, B[k].m ? SysBlocksLoop(B[k].m) : 0, SYS_THREADS, 0, (cudaStream_t)stream, *A, B[k], (const int *)(F->index + F->first[k]), b[k], F->missing));
  SYS_CUDA(cudaMemcpyAsync(missing, F->missing, sizeof(*missing), cudaMemcpyDeviceToHost, (cudaStream_t)stream));
  SYS_CUDA(cudaStreamSynchronize((cudaStream_t)stream));
  return SYS_SUCCESS;
}
