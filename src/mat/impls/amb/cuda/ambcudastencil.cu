/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Stencils: a storage for matrices in which nearly all rows have the same values on the same diagonals, such as grids with constant coefficients.

   The stencil is a kernel argument. Each row has a mask with one bit for each of the stencil's entries, so a product reads 4 bytes a row (8 or 12 for
   long stencils) besides x and y. Rows with other entries are multiplied from CSR. With groups of rows (several unknowns a node), diagonals count
   from the group's first row, and each row of a group has its own values.

   The kernels add a row's terms in the order of its columns: the sums have the bits of AmbMultMult() if that kernel assigns one lane to each row.

   ambhost.h has the idea.
*/
#include <string.h>

#include "mat/impls/amb/cuda/ambcudamult.cuh"

#define AMB_STENCIL_OTHER 0x80000000u /* bit in the first word of a row's mask: the row has entries outside the stencil, and is multiplied from CSR */

/* ------------------------------------------------- product ------------------------------------------------- */

/* A lane has G groups of Q rows. It loads entries of x once for a group: the rows' terms have the same columns. */
template <int Q, int G>
struct Rows {
  int       first[G]; /* the group's first row */
  unsigned  mask[G][Q];
  SysScalar sum[G][Q];
};

/* Adds the entries of one mask word times alpha; ALL: every lane has all of these entries in all of its rows */
template <int Q, int G, int U, bool ALL>
static __device__ __forceinline__ void AmbStencilWord(const AmbStencil &S, int begin, int n, SysScalar alpha, const SysScalar *x, Rows<Q, G> &rows)
{
  for (int s = 0; s < n; s += U) {
    SysScalar e[U][G];

#pragma unroll
    for (int u = 0; u < U; u++) {
      if (s + u < n) {
#pragma unroll
        for (int g = 0; g < G; g++) {
          unsigned any = 0;

#pragma unroll
          for (int q = 0; q < Q; q++) any |= rows.mask[g][q];
          if (ALL || any >> (s + u) & 1) e[u][g] = x[rows.first[g] + S.offset[begin + s + u]];
        }
      }
    }
#pragma unroll
    for (int u = 0; u < U; u++) {
      if (s + u < n) {
#pragma unroll
        for (int q = 0; q < Q; q++) {
          const SysScalar v = S.value[(begin + s + u) * Q + q];

#pragma unroll
          for (int g = 0; g < G; g++) {
            if (ALL || rows.mask[g][q] >> (s + u) & 1) rows.sum[g][q] += v * (alpha * e[u][g]);
          }
        }
      }
    }
  }
}

/* With DOT each warp stores its part of x.z */
template <int Q, int G, int U, int BLOCKS, bool ADD, bool DOT>
static __global__ void __launch_bounds__(AMB_MOST_THREADS, AMB_RESIDENT_BLOCKS(BLOCKS)) AmbStencilMult(const __grid_constant__ AmbStencil S, const __grid_constant__ AmbArrays csr, int m, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysScalar *parts)
{
  const int64_t   thread = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  const int64_t   begin  = thread / SYS_WARP * SYS_WARP * G + thread % SYS_WARP; /* this lane's first group */
  const SysScalar inner  = ADD ? alpha : 1;                                      /* multiplies each product */
  Rows<Q, G>      rows;
  unsigned        other = 0; /* bit i: row i has other entries */
  SysScalar       dot   = 0;

#pragma unroll
  for (int g = 0; g < G; g++) rows.first[g] = (int)min((begin + g * SYS_WARP) * Q, (int64_t)m);
  if (!__any_sync(SYS_ALL_LANES, rows.first[0] < m)) return;
  for (int w = 0; w < S.words; w++) {
    const int      n    = min(AMB_STENCIL_WORD, S.n - AMB_STENCIL_WORD * w);
    const unsigned full = (1u << n) - 1;
    bool           all  = true;

#pragma unroll
    for (int g = 0; g < G; g++) {
#pragma unroll
      for (int q = 0; q < Q; q++) {
        rows.mask[g][q] = rows.first[g] + q < m ? __ldg(S.mask + (size_t)w * m + rows.first[g] + q) : 0;
        all &= rows.mask[g][q] == full;
        if (rows.mask[g][q] & AMB_STENCIL_OTHER) other |= 1u << (g * Q + q);
      }
    }
    if (w == 0) {
      SysWait();
#pragma unroll
      for (int g = 0; g < G; g++) {
#pragma unroll
        for (int q = 0; q < Q; q++) rows.sum[g][q] = ADD && rows.first[g] + q < m ? beta * y[rows.first[g] + q] : 0;
      }
    }
    if (__all_sync(SYS_ALL_LANES, all)) AmbStencilWord<Q, G, U, true>(S, AMB_STENCIL_WORD * w, n, inner, x, rows);
    else AmbStencilWord<Q, G, U, false>(S, AMB_STENCIL_WORD * w, n, inner, x, rows);
  }
#pragma unroll
  for (int g = 0; g < G; g++) {
#pragma unroll
    for (int q = 0; q < Q; q++) {
      const int row = rows.first[g] + q;

      if (row >= m) continue;
      if (other >> (g * Q + q) & 1) {
        for (int k = csr.i[row]; k < csr.i[row + 1]; k++) rows.sum[g][q] += AmbEntry(csr, k) * (inner * x[csr.j[k]]);
      }
      z[row] = ADD ? rows.sum[g][q] : alpha * rows.sum[g][q];
      if (DOT) dot += x[row] * rows.sum[g][q];
    }
  }
  if (DOT) {
    dot = AmbMultWarpSum(dot, 1);
    if (thread % SYS_WARP == 0) parts[thread / SYS_WARP] = dot;
  }
}

/* With nparts the product stores *nparts sums in parts[]; parts == NULL only sets *nparts */
template <int Q, int G, int U, int BLOCKS>
static cudaError_t AmbStencilLaunchGroup(const AmbStencil *S, int m, int threads, int early, const AmbArrays *csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysScalar *parts, int64_t *nparts, cudaStream_t stream)
{
  const unsigned      warps = SysBlocks(m, SYS_WARP * Q * G);
  const AmbMultConfig c(warps, threads, early, stream);

  if (nparts) {
    *nparts = warps;
    return parts ? cudaLaunchKernelEx(&c.config, AmbStencilMult<Q, G, U, BLOCKS, false, true>, *S, *csr, m, alpha, x, beta, y, z, parts) : cudaSuccess;
  }
  if (beta == 0) return cudaLaunchKernelEx(&c.config, AmbStencilMult<Q, G, U, BLOCKS, false, false>, *S, *csr, m, alpha, x, beta, y, z, parts);
  return cudaLaunchKernelEx(&c.config, AmbStencilMult<Q, G, U, BLOCKS, true, false>, *S, *csr, m, alpha, x, beta, y, z, parts);
}

/* Long stencils: a lane has more rows, which share the loads of the values from the arguments */
static SysStatus AmbStencilLaunchAny(const AmbStencil *S, int m, int threads, int early, const AmbArrays *csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysScalar *parts, int64_t *nparts, cudaStream_t stream)
{
  if (S->group == 1 && S->n <= AMB_STENCIL_SHORT) SYS_CUDA((AmbStencilLaunchGroup<1, 2, 5, 4>(S, m, threads, early, csr, alpha, x, beta, y, z, parts, nparts, stream)));
  else if (S->group == 1) SYS_CUDA((AmbStencilLaunchGroup<1, 4, 3, 3>(S, m, threads, early, csr, alpha, x, beta, y, z, parts, nparts, stream)));
  else SYS_CUDA((AmbStencilLaunchGroup<3, 1, 3, 5>(S, m, threads, early, csr, alpha, x, beta, y, z, parts, nparts, stream)));
  return SYS_SUCCESS;
}

SysStatus AmbStencilLaunch(const AmbStencil *S, int m, int threads, int early, const AmbArrays *csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, cudaStream_t stream)
{
  return AmbStencilLaunchAny(S, m, threads, early, csr, alpha, x, beta, y, z, NULL, NULL, stream);
}

SysStatus AmbStencilLaunchDot(const AmbStencil *S, int m, int threads, int early, const AmbArrays *csr, const SysScalar *x, SysScalar *z, SysScalar *parts, int64_t *nparts, cudaStream_t stream)
{
  return AmbStencilLaunchAny(S, m, threads, early, csr, 1, x, 0, NULL, z, parts, nparts, stream);
}

/* ------------------------------------------------- creation ------------------------------------------------- */

typedef struct {
  unsigned long long longest; /* length of the longest row in the upper half, the first such row's distance from the end in the lower */
  unsigned           others;  /* rows with entries outside the stencil */
  AmbStencil         stencil;
} Found;

static __global__ void __launch_bounds__(SYS_THREADS) AmbStencilFindLongest(int m, const int *i, Found *found)
{
  unsigned long long longest = 0;

  SYS_FOR_EACH(r, m) longest = max(longest, (unsigned long long)(unsigned)(i[r + 1] - i[r]) << 32 | (unsigned)(m - 1 - r));
  for (unsigned d = 1; d < SYS_WARP; d *= 2) longest = max(longest, __shfl_xor_sync(SYS_ALL_LANES, longest, d));
  if (threadIdx.x % SYS_WARP == 0) atomicMax(&found->longest, longest);
}

/* Makes the longest row's group the stencil, unless its rows have different columns or too many; one thread an entry */
static __global__ void AmbStencilTake(int m, const AmbArrays csr, int group, Found *found)
{
  const int  row = m - 1 - (int)(unsigned)found->longest, first = row - row % group, n = (int)(found->longest >> 32), k = (int)threadIdx.x;
  const int *i     = csr.i + first;
  bool       alike = n <= AMB_STENCIL_MOST && first + group <= m;

  for (int q = 0; q < group && alike; q++) alike = i[q + 1] - i[q] == n && (k >= n || csr.j[i[q] + k] == csr.j[i[0] + k]);
  if (!__syncthreads_and(alike)) return;
  if (k < n) {
    found->stencil.offset[k] = csr.j[i[0] + k] - first;
    for (int q = 0; q < group; q++) found->stencil.value[k * group + q] = AmbEntry(csr, i[q] + k);
  }
  if (k == 0) {
    found->stencil.n     = n;
    found->stencil.words = (n + AMB_STENCIL_WORD - 1) / AMB_STENCIL_WORD;
    found->stencil.group = group;
  }
}

/* Sets each row's mask, and adds to *others the number of rows with entries outside the stencil; AMB_STENCIL_MASK_LANES lanes a row */
static __global__ void __launch_bounds__(SYS_THREADS) AmbStencilMasks(int m, const __grid_constant__ AmbArrays csr, const __grid_constant__ AmbStencil S, unsigned *others)
{
  const int64_t row                     = (blockIdx.x * (int64_t)SYS_THREADS + threadIdx.x) / AMB_STENCIL_MASK_LANES;
  const int     lane                    = (int)(threadIdx.x % AMB_STENCIL_MASK_LANES);
  const int     group                   = row < m ? (int)(row - row % S.group) : 0;
  unsigned      mask[AMB_STENCIL_WORDS] = {0}, other = 0;

  for (int k = row < m ? csr.i[row] + lane : 0; row < m && k < csr.i[row + 1]; k += AMB_STENCIL_MASK_LANES) {
    const SysScalar a = AmbEntry(csr, k);
    const int       o = SysCountLess(S.offset, S.n, csr.j[k] - group);

    if (o < S.n && S.offset[o] == csr.j[k] - group && SysTableSame(SysTableBitsOf(&a), SysTableBitsOf(&S.value[o * S.group + row % S.group]))) {
#pragma unroll
      for (int w = 0; w < AMB_STENCIL_WORDS; w++) mask[w] |= o / AMB_STENCIL_WORD == w ? 1u << o % AMB_STENCIL_WORD : 0;
    } else other = AMB_STENCIL_OTHER;
  }
  for (unsigned d = 1; d < AMB_STENCIL_MASK_LANES; d *= 2) {
    other |= __shfl_xor_sync(SYS_ALL_LANES, other, d);
#pragma unroll
    for (int w = 0; w < AMB_STENCIL_WORDS; w++) mask[w] |= __shfl_xor_sync(SYS_ALL_LANES, mask[w], d);
  }
  if (lane || row >= m) return;
  if (other) atomicAdd(others, 1);
#pragma unroll
  for (int w = 0; w < AMB_STENCIL_WORDS; w++) {
    if (w < S.words) S.mask[(size_t)w * m + row] = other ? (w ? 0 : other) : mask[w];
  }
}

void AmbStencilDestroy(AmbStencil *S, cudaStream_t stream)
{
  SysPoolRelease(S->mask, stream);
  memset(S, 0, sizeof(*S));
}

/* Creates the stencil. S->n is 0 if the rows of the longest row's group differ in columns or have more than AMB_STENCIL_MOST entries, or if more than one row in AMB_STENCIL_OTHERS
   has other entries. */
SysStatus AmbStencilCreate(int m, const AmbArrays *csr, int group, cudaStream_t stream, AmbStencil *S)
{
  SysScratch s;
  Found      found, *device;

  AmbStencilDestroy(S, stream);
  if (!m || group == 2) return SYS_SUCCESS; /* there is no kernel for groups of two rows */
  SYS_CALL(SysScratchAllocate(&s, sizeof(found), stream));
  device = (Found *)s.memory;
  SYS_CUDA(cudaMemsetAsync(device, 0, sizeof(found), stream));
  SYS_CALL(SysLaunch(AmbStencilFindLongest, SysMin(SysBlocks(m), 1024), SYS_THREADS, 0, stream, m, csr->i, device));
  SYS_CALL(SysLaunch(AmbStencilTake, 1, AMB_STENCIL_THREADS, 0, stream, m, *csr, group, device));
  SYS_CUDA(cudaMemcpyAsync(&found, device, sizeof(found), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  if (!found.stencil.n) return SYS_SUCCESS;
  SYS_CALL(SysPoolAllocate(sizeof(*found.stencil.mask) * (size_t)found.stencil.words * (size_t)m, &found.stencil.mask, stream));
  *S = found.stencil;
  SYS_CALL(SysLaunch(AmbStencilMasks, SysBlocks((int64_t)m * AMB_STENCIL_MASK_LANES), SYS_THREADS, 0, stream, m, *csr, *S, &device->others));
  SYS_CUDA(cudaMemcpyAsync(&found.others, &device->others, sizeof(found.others), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  S->others = found.others;
  if ((int64_t)found.others * AMB_STENCIL_OTHERS > m) AmbStencilDestroy(S, stream);
  return SYS_SUCCESS;
}
