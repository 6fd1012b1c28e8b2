/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The strength graph on a CUDA device; graph.c explains the steps, which are the same. A thread has a vertex.
*/
#include <limits.h>

#include "ksp/pc/impls/gamg/aggcuda.cuh"

/* The parts of AggMatrix that kernels need, by value */
struct AggView {
  const int       *i, *j;
  const SysScalar *a;
  int              bs;
  unsigned         counts; /* a bit for each component of a block that counts */
};

/* The edges of vertex v: their number, and if j is not NULL their ends and strengths */
static __device__ int AggMergeRow(const AggView &A, int v, int *j, double *s, double *diag)
{
  int at[AGG_DEVICE_BLOCK], count = 0;

  for (int r = 0; r < A.bs; r++) at[r] = A.i[v * A.bs + r];
  for (;;) {
    int    next     = INT_MAX;
    double strength = 0;

    for (int r = 0; r < A.bs; r++) {
      if (at[r] < A.i[v * A.bs + r + 1]) next = min(next, A.j[at[r]] / A.bs);
    }
    if (next == INT_MAX) return count;
    for (int r = 0; r < A.bs; r++) {
      for (; at[r] < A.i[v * A.bs + r + 1] && A.j[at[r]] / A.bs == next; at[r]++) {
        if (j && (A.counts >> r & 1) && (A.counts >> A.j[at[r]] % A.bs & 1)) strength += fabs((double)A.a[at[r]]);
      }
    }
    if (next == v) {
      if (j) *diag = strength;
      continue;
    }
    if (j) {
      j[count] = next;
      s[count] = strength;
    }
    count++;
  }
}

static __global__ void AggCountKernel(AggView A, int n, int *lengths)
{
  SYS_FOR_EACH(v, n) lengths[v] = AggMergeRow(A, (int)v, NULL, NULL, NULL);
}

static __global__ void AggFillKernel(AggView A, int n, const int *i, int *j, double *s, double *diag)
{
  SYS_FOR_EACH(v, n)
  {
    diag[v] = 0;
    (void)AggMergeRow(A, (int)v, j + i[v], s + i[v], diag + v);
  }
}

/* *left becomes 0 if each edge has its transposed edge */
static __global__ void AggAddKernel(int n, const int *i, const int *j, const double *s, double *sum, double *diag, unsigned long long *left)
{
  SYS_FOR_EACH(v, n)
  {
    long long alone = 0;

    diag[v] *= 2;
    for (int k = i[v]; k < i[v + 1]; k++) {
      if (j[k] < v) {
        alone++;
        continue;
      }
      const int64_t place = AggFind(j, i[j[k]], i[j[k] + 1], (int)v);

      if (place < 0) alone += (long long)1 << 32;
      else {
        sum[k] = sum[place] = s[k] + s[place];
        alone--;
      }
    }
    if (alone) atomicAdd(left, (unsigned long long)alone);
  }
}

static __global__ void AggScaleKernel(int n, double *diag)
{
  SYS_FOR_EACH(v, n) diag[v] = diag[v] != 0 ? sqrt(1 / diag[v]) : 0;
}

/* Edges that stay move to the begin of their row */
static __global__ void AggWeightKernel(int n, const int *i, int *j, const double *s, const double *scale, uint32_t *w, double threshold, int *lengths)
{
  SYS_FOR_EACH(v, n)
  {
    int kept = i[v];

    for (int k = i[v]; k < i[v + 1]; k++) {
      const double weight = s[k] * (scale[v] * scale[j[k]]);

      if (threshold >= 0 && !(weight > threshold)) continue;
      w[kept]   = AggInteger(weight);
      j[kept++] = j[k];
    }
    lengths[v] = kept - i[v];
  }
}

static __global__ void AggCloseKernel(int n, const int *i, const int *j, const uint32_t *w, const int *to, int *jto, uint32_t *wto)
{
  SYS_FOR_EACH(v, n)
  {
    for (int k = 0; k < to[v + 1] - to[v]; k++) {
      jto[to[v] + k] = j[i[v] + k];
      wto[to[v] + k] = w[i[v] + k];
    }
  }
}

static SysStatus AggMakeGraph(const AggView &A, int symmetrize, double threshold, cudaStream_t stream, AggDevice *g, int *served)
{
  const unsigned      blocks = SysBlocksLoop(g->n);
  SysScratch          strengths, sums, diagonal;
  double             *s, *diag;
  unsigned long long *left, found = 0;

  SYS_CALL(SysDeviceAllocate(&g->memory[0], ((size_t)g->n + 1) * sizeof(int)));
  g->i = (int *)g->memory[0];
  AggCountKernel<<<blocks, SYS_THREADS, 0, stream>>>(A, g->n, g->i + 1);
  SYS_CALL(AggDeviceSum(g->n, g->i, stream));
  SYS_CALL(AggDeviceLook(g->i, g->n, &g->edges, stream));
  SYS_CALL(SysDeviceAllocate(&g->memory[1], (size_t)g->edges * sizeof(int)));
  SYS_CALL(SysDeviceAllocate(&g->memory[2], (size_t)g->edges * sizeof(uint32_t)));
  SYS_CALL(SysDeviceAllocate(&strengths.memory, (size_t)g->edges * sizeof(double)));
  SYS_CALL(SysDeviceAllocate(&diagonal.memory, (size_t)g->n * sizeof(double) + sizeof(*left)));
  g->j = (int *)g->memory[1];
  g->w = (uint32_t *)g->memory[2];
  s    = (double *)strengths.memory;
  left = (unsigned long long *)diagonal.memory;
  diag = (double *)(left + 1);
  AggFillKernel<<<blocks, SYS_THREADS, 0, stream>>>(A, g->n, g->i, g->j, s, diag);
  if (symmetrize) {
    SYS_CALL(SysDeviceAllocate(&sums.memory, (size_t)g->edges * sizeof(double)));
    SYS_CUDA(cudaMemsetAsync(left, 0, sizeof(*left), stream));
    AggAddKernel<<<blocks, SYS_THREADS, 0, stream>>>(g->n, g->i, g->j, s, (double *)sums.memory, diag, left);
    s = (double *)sums.memory;
    SYS_CUDA(cudaMemcpyAsync(&found, left, sizeof(found), cudaMemcpyDeviceToHost, stream));
    SYS_CUDA(cudaStreamSynchronize(stream));
    if (found) {
      *served = 0;
      return SYS_SUCCESS;
    }
  }
  {
    SysScratch lengths, j, w;
    int       *to, edges;

    SYS_CALL(SysDeviceAllocate(&lengths.memory, ((size_t)g->n + 1) * sizeof(int)));
    to = (int *)lengths.memory;
    AggScaleKernel<<<blocks, SYS_THREADS, 0, stream>>>(g->n, diag);
    AggWeightKernel<<<blocks, SYS_THREADS, 0, stream>>>(g->n, g->i, g->j, s, diag, g->w, threshold, to + 1);
    if (threshold >= 0) {
      SYS_CALL(AggDeviceSum(g->n, to, stream));
      SYS_CALL(AggDeviceLook(to, g->n, &edges, stream));
      SYS_CALL(SysDeviceAllocate(&j.memory, (size_t)edges * sizeof(int)));
      SYS_CALL(SysDeviceAllocate(&w.memory, (size_t)edges * sizeof(uint32_t)));
      AggCloseKernel<<<blocks, SYS_THREADS, 0, stream>>>(g->n, g->i, g->j, g->w, to, (int *)j.memory, (uint32_t *)w.memory);
      SYS_CUDA(cudaStreamSynchronize(stream));
      {
        char *old[3] = {g->memory[0], g->memory[1], g->memory[2]};

        g->memory[0]   = lengths.memory;
        g->memory[1]   = j.memory;
        g->memory[2]   = w.memory;
        lengths.memory = old[0];
        j.memory       = old[1];
        w.memory       = old[2];
      }
      g->i     = (int *)g->memory[0];
      g->j     = (int *)g->memory[1];
      g->w     = (uint32_t *)g->memory[2];
      g->edges = edges;
    }
    SYS_CUDA(cudaGetLastError());
    SYS_CUDA(cudaStreamSynchronize(stream)); /* the memory ends here */
  }
  return SYS_SUCCESS;
}

SysStatus AggDeviceCreate(const AggMatrix *A, int symmetrize, double threshold, SysStream stream, AggDevice **created, int *served)
{
  AggView   view   = {A->d.i, A->d.j, A->d.a, A->bs, ~0u};
  SysStatus status = SYS_SUCCESS;

  *created = NULL;
  *served  = A->bs <= AGG_DEVICE_BLOCK;
  if (!*served) return SYS_SUCCESS;
  if (A->nindex) view.counts = 0;
  for (int k = 0; k < A->nindex; k++) view.counts |= 1u << A->index[k];
  *created      = new AggDevice();
  (*created)->n = (int)(A->d.m / A->bs);
  status        = AggMakeGraph(view, symmetrize, threshold, stream, *created, served);
  if (status || !*served) AggDeviceDestroy(created);
  return status;
}
