/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The strength graph on a CUDA device; agggraph.c explains the steps, which are the same. A thread has a vertex.
*/
#include <limits.h>

#include "ksp/pc/impls/gamg/cuda/aggcuda.cuh"
#include "sys/syscub.cuh"

/* A part of a matrix: its columns are those of own vertices, or those of ghosts, which have numbers from first on */
struct AggPart {
  const int       *i, *j, *ghost;
  const SysScalar *a;
  int              first;
};

/* The parts of AggMatrix that kernels need, by value */
struct AggView {
  AggPart  part[2];
  int      parts, bs;
  unsigned counts; /* a bit for each component of a block that counts */
};

static __device__ __forceinline__ int AggColumn(const AggPart &p, int k)
{
  return p.ghost ? p.ghost[p.j[k]] : p.j[k];
}

/* The edges of vertex v in one part: their number, and if j is not NULL their ends and strengths */
static __device__ int AggMergePart(const AggView &A, const AggPart &p, int v, int *j, double *s, double *diag)
{
  int at[AGG_DEVICE_BLOCK], count = 0;

  for (int r = 0; r < A.bs; r++) at[r] = p.i[v * A.bs + r];
  for (;;) {
    int    next     = INT_MAX;
    double strength = 0;

    for (int r = 0; r < A.bs; r++) {
      if (at[r] < p.i[v * A.bs + r + 1]) next = min(next, AggColumn(p, at[r]) / A.bs);
    }
    if (next == INT_MAX) return count;
    for (int r = 0; r < A.bs; r++) {
      for (; at[r] < p.i[v * A.bs + r + 1] && AggColumn(p, at[r]) / A.bs == next; at[r]++) {
        if (j && (A.counts >> r & 1) && (A.counts >> AggColumn(p, at[r]) % A.bs & 1)) strength += fabs((double)p.a[at[r]]);
      }
    }
    if (!p.ghost && next == v) {
      if (j) *diag = strength;
      continue;
    }
    if (j) {
      j[count] = p.first + next;
      s[count] = strength;
    }
    count++;
  }
}

static __device__ int AggMergeRow(const AggView &A, int v, int *j, double *s, double *diag)
{
  int count = AggMergePart(A, A.part[0], v, j, s, diag);

  if (A.parts > 1) count += AggMergePart(A, A.part[1], v, j ? j + count : NULL, s ? s + count : NULL, diag);
  return count;
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

static SysStatus AggFillGraph(const AggView &A, cudaStream_t stream, AggDevice *g)
{
  const unsigned blocks = SysBlocksLoop(g->n);

  SYS_CALL(SysPoolAllocate(((size_t)g->n + 1) * sizeof(int), &g->memory[0], stream));
  g->i = (int *)g->memory[0];
  AggCountKernel<<<blocks, SYS_THREADS, 0, stream>>>(A, g->n, g->i + 1);
  SYS_CALL(AggDeviceSum(g->n, g->i, stream));
  SYS_CALL(AggDeviceLook(g->i, g->n, &g->edges, stream));
  SYS_CALL(SysPoolAllocate((size_t)g->edges * sizeof(int), &g->memory[1], stream));
  SYS_CALL(SysPoolAllocate((size_t)g->edges * sizeof(uint32_t), &g->memory[2], stream));
  SYS_CALL(SysPoolAllocate((size_t)g->edges * sizeof(*g->s), &g->s, stream));
  SYS_CALL(SysPoolAllocate(((size_t)g->n + g->nghost) * sizeof(*g->diag), &g->diag, stream));
  g->j = (int *)g->memory[1];
  g->w = (uint32_t *)g->memory[2];
  AggFillKernel<<<blocks, SYS_THREADS, 0, stream>>>(A, g->n, g->i, g->j, g->s, g->diag);
  SYS_CUDA(cudaGetLastError());
  return SYS_SUCCESS;
}

SysStatus AggDeviceStart(const AggMatrix *A, SysStream stream, AggDevice **created, int *served)
{
  AggView view = {
    {{A->d.i, A->d.j, NULL, A->d.a, 0}, {A->o.i, A->o.j, NULL, A->o.a, (int)(A->d.m / A->bs)}},
    A->o.i ? 2 : 1, A->bs, ~0u
  };
  AggDevice *g;
  SysStatus  status = SYS_SUCCESS;

  *created = NULL;
  *served  = A->bs <= AGG_DEVICE_BLOCK;
  if (!*served) return SYS_SUCCESS;
  if (A->nindex) view.counts = 0;
  for (int k = 0; k < A->nindex; k++) view.counts |= 1u << A->index[k];
  g         = new AggDevice();
  g->stream = stream;
  g->n      = (int)(A->d.m / A->bs);
  g->nghost = (int)A->nghost;
  if (A->o.i) {
    status = SysPoolAllocate((size_t)A->o.n * sizeof(int), &g->ghost, stream);
    if (!status && cudaMemcpyAsync(g->ghost, A->ghost, (size_t)A->o.n * sizeof(int), cudaMemcpyHostToDevice, stream) != cudaSuccess) status = SysDeviceError("cudaMemcpyAsync() of ghosts");
    view.part[1].ghost = g->ghost;
  }
  if (!status) status = AggFillGraph(view, stream, g);
  if (status) AggDeviceDestroy(&g);
  *created = g;
  return status;
}

/* ------------------------------------------------- symmetrization ------------------------------------------------- */

/* Edges to ghosts are the last ones of a row */
static __global__ void AggCutLengthsKernel(int n, const int *i, const int *j, int *lengths)
{
  SYS_FOR_EACH(v, n)
  {
    int k = i[v + 1];

    while (k > i[v] && j[k - 1] >= n) k--;
    lengths[v] = i[v + 1] - k;
  }
}

/* The edges by rows, and their ghosts */
static __global__ void AggCutKernel(int n, int first, const int *i, const int *j, const double *s, const int *start, const int *ghosts, AggEdge *edges, int *ghost, int *order)
{
  SYS_FOR_EACH(v, n)
  {
    for (int l = start[v], k = i[v + 1] - (start[v + 1] - start[v]); l < start[v + 1]; l++, k++) {
      edges[l].row    = ghosts[j[k] - n];
      edges[l].column = first + (int)v;
      edges[l].s      = s[k];
      ghost[l]        = j[k] - n;
      order[l]        = l;
    }
  }
}

static __global__ void AggPermuteCutKernel(int n, const int *order, const AggEdge *edges, AggEdge *sorted)
{
  SYS_FOR_EACH(l, n) sorted[l] = edges[order[l]];
}

static __global__ void AggCutBeginKernel(int nowner, int *begin, int n, const int *ghost)
{
  SYS_FOR_EACH(k, nowner) begin[k] = SysCountLess(ghost, n, begin[k]);
}

SysStatus AggDeviceSortCut(AggDevice *g, SysInt first, const SysInt ghosts[], int nowner, SysInt begin[], SysStream stream)
{
  SysScratch starts, scratch;
  SysArena   arena = {NULL, 0};
  AggEdge   *edges;
  int       *ghost[2], *order[2], *dbegin, n;
  char      *work;
  size_t     bytes = 0;

  SYS_CALL(SysScratchAllocate(&starts, ((size_t)g->n + 1) * sizeof(int), stream));
  AggCutLengthsKernel<<<SysBlocksLoop(g->n), SYS_THREADS, 0, stream>>>(g->n, g->i, g->j, (int *)starts.memory + 1);
  SYS_CALL(AggDeviceSum(g->n, (int *)starts.memory, stream));
  SYS_CALL(AggDeviceLook((int *)starts.memory, g->n, &n, stream));
  SYS_CALL(SysPoolAllocate((size_t)g->nghost * sizeof(*g->ghosts), &g->ghosts, stream));
  SYS_CALL(SysPoolAllocate((size_t)n * sizeof(*g->cut), &g->cut, stream));
  if (n) SYS_CUDA(SysSortPairs(NULL, bytes, (const int *)NULL, (int *)NULL, NULL, NULL, n, SysBits(g->nghost), stream));
  for (int pass = 0; pass < 2; pass++) {
    for (int k = 0; k < 2; k++) {
      SysArenaTake(&arena, &ghost[k], (size_t)n);
      SysArenaTake(&arena, &order[k], (size_t)n);
    }
    SysArenaTake(&arena, &edges, (size_t)n);
    SysArenaTake(&arena, &dbegin, (size_t)nowner);
    SysArenaTake(&arena, &work, bytes);
    if (!pass) SYS_CALL(SysArenaAllocateScratch(&arena, &scratch, stream));
  }
  SYS_CUDA(cudaMemcpyAsync(g->ghosts, ghosts, (size_t)g->nghost * sizeof(*ghosts), cudaMemcpyHostToDevice, stream));
  if (n) {
    AggCutKernel<<<SysBlocksLoop(g->n), SYS_THREADS, 0, stream>>>(g->n, (int)first, g->i, g->j, g->s, (int *)starts.memory, g->ghosts, edges, ghost[0], order[0]);
    SYS_CUDA(cudaGetLastError());
    SYS_CUDA(SysSortPairs(work, bytes, (const int *)ghost[0], ghost[1], (const int *)order[0], order[1], n, SysBits(g->nghost), stream));
    AggPermuteCutKernel<<<SysBlocksLoop(n), SYS_THREADS, 0, stream>>>(n, order[1], edges, g->cut);
    SYS_CUDA(cudaGetLastError());
  }
  if (nowner) {
    SYS_CUDA(cudaMemcpyAsync(dbegin, begin, (size_t)nowner * sizeof(*begin), cudaMemcpyHostToDevice, stream));
    AggCutBeginKernel<<<SysBlocksLoop(nowner), SYS_THREADS, 0, stream>>>(nowner, dbegin, n, ghost[1]);
    SYS_CUDA(cudaGetLastError());
    SYS_CUDA(cudaMemcpyAsync(begin, dbegin, (size_t)nowner * sizeof(*begin), cudaMemcpyDeviceToHost, stream));
  }
  SYS_CUDA(cudaStreamSynchronize(stream));
  begin[nowner] = n;
  return SYS_SUCCESS;
}

SysStatus AggDeviceGetCut(const AggDevice *g, SysInt n, AggEdge edges[], SysStream stream)
{
  SYS_CUDA(cudaMemcpyAsync(edges, g->cut, (size_t)n * sizeof(*edges), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  return SYS_SUCCESS;
}

/* *left becomes 0 if each edge within this process has its transposed edge */
static __global__ void AggAddKernel(int n, const int *i, const int *j, const double *s, double *sum, double *diag, unsigned long long *left)
{
  SYS_FOR_EACH(v, n)
  {
    long long alone = 0;

    diag[v] *= 2;
    for (int k = i[v]; k < i[v + 1]; k++) {
      if (j[k] >= n) {
        sum[k] = s[k];
        continue;
      }
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

/* Edges that came from other processes. A missing edge is more than there are edges to make up for it. */
static __global__ void AggAddComeKernel(int n, int first, int nghost, const int *ghosts, int ncome, const AggEdge *come, const int *i, const int *j, double *sum, unsigned long long *left)
{
  SYS_FOR_EACH(e, ncome)
  {
    const int     v = come[e].row - first, ghost = SysCountLess(ghosts, nghost, (int)come[e].column);
    const bool    known = ghost < nghost && ghosts[ghost] == come[e].column;
    const int64_t place = known ? AggFind(j, i[v], i[v + 1], n + ghost) : -1;

    if (place >= 0) sum[place] += come[e].s;
    else atomicAdd(left, 1ull << 32);
  }
}

SysStatus AggDeviceSymmetrize(AggDevice *g, SysInt first, SysInt ncome, const AggEdge come[], SysStream stream, int *served)
{
  const unsigned      blocks = SysBlocksLoop(g->n);
  SysScratch          counter, edges, sums;
  unsigned long long *left, found = 0;

  SYS_CALL(SysScratchAllocate(&sums, (size_t)g->edges * sizeof(double), stream));
  SYS_CALL(SysScratchAllocate(&counter, sizeof(*left), stream));
  SYS_CALL(SysScratchAllocate(&edges, (size_t)ncome * sizeof(*come), stream));
  left = (unsigned long long *)counter.memory;
  SYS_CUDA(cudaMemsetAsync(left, 0, sizeof(*left), stream));
  AggAddKernel<<<blocks, SYS_THREADS, 0, stream>>>(g->n, g->i, g->j, g->s, (double *)sums.memory, g->diag, left);
  if (ncome) {
    SYS_CUDA(cudaMemcpyAsync(edges.memory, come, (size_t)ncome * sizeof(*come), cudaMemcpyHostToDevice, stream));
    AggAddComeKernel<<<SysBlocksLoop(ncome), SYS_THREADS, 0, stream>>>(g->n, (int)first, g->nghost, g->ghosts, ncome, (AggEdge *)edges.memory, g->i, g->j, (double *)sums.memory, left);
  }
  SYS_CUDA(cudaGetLastError());
  SYS_CUDA(cudaMemcpyAsync(&found, left, sizeof(found), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  *served = !found;
  SysPoolRelease(g->ghosts, stream);
  SysPoolRelease(g->cut, stream);
  g->ghosts = NULL;
  g->cut    = NULL;
  {
    char *swap = (char *)g->s;

    g->s        = (double *)sums.memory;
    sums.memory = swap;
  }
  return SYS_SUCCESS;
}

/* ------------------------------------------------- scaling and threshold ------------------------------------------------- */

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

double *AggDeviceDiagonal(AggDevice *g)
{
  return g->diag;
}

/* Only the edges that stay, if there is a threshold */
static SysStatus AggClose(AggDevice *g, int *memory[], cudaStream_t stream)
{
  SysScratch j, w;
  int       *to = memory[0], edges;

  SYS_CALL(AggDeviceSum(g->n, to, stream));
  SYS_CALL(AggDeviceLook(to, g->n, &edges, stream));
  SYS_CALL(SysScratchAllocate(&j, (size_t)edges * sizeof(int), stream));
  SYS_CALL(SysScratchAllocate(&w, (size_t)edges * sizeof(uint32_t), stream));
  AggCloseKernel<<<SysBlocksLoop(g->n), SYS_THREADS, 0, stream>>>(g->n, g->i, g->j, g->w, to, (int *)j.memory, (uint32_t *)w.memory);
  SYS_CUDA(cudaGetLastError());
  memory[1] = (int *)j.memory;
  memory[2] = (int *)w.memory;
  j.memory = w.memory = NULL;
  g->edges            = edges;
  return SYS_SUCCESS;
}

SysStatus AggDeviceFinish(AggDevice *g, double threshold, SysStream stream)
{
  const unsigned blocks = SysBlocksLoop(g->n);
  SysScratch     lengths;

  SYS_CALL(SysScratchAllocate(&lengths, ((size_t)g->n + 1) * sizeof(int), stream));
  AggScaleKernel<<<SysBlocksLoop(g->n + g->nghost), SYS_THREADS, 0, stream>>>(g->n + g->nghost, g->diag);
  AggWeightKernel<<<blocks, SYS_THREADS, 0, stream>>>(g->n, g->i, g->j, g->s, g->diag, g->w, threshold, (int *)lengths.memory + 1);
  SYS_CUDA(cudaGetLastError());
  if (threshold >= 0) {
    int *memory[3] = {(int *)lengths.memory, NULL, NULL};

    SYS_CALL(AggClose(g, memory, stream));
    lengths.memory = NULL;
    for (int k = 0; k < 3; k++) {
      SysPoolRelease(g->memory[k], stream);
      g->memory[k] = (char *)memory[k];
    }
    g->i = (int *)g->memory[0];
    g->j = (int *)g->memory[1];
    g->w = (uint32_t *)g->memory[2];
  }
  AggDeviceForgetStrengths(g);
  return SYS_SUCCESS;
}

SysStatus AggDeviceCreate(const AggMatrix *A, int symmetrize, double threshold, SysStream stream, AggDevice **g, int *served)
{
  SysStatus status = AggDeviceStart(A, stream, g, served);

  if (!status && *served && symmetrize) status = AggDeviceSymmetrize(*g, 0, 0, NULL, stream, served);
  if (!status && *served) status = AggDeviceFinish(*g, threshold, stream);
  if (status || !*served) AggDeviceDestroy(g);
  return status;
}
