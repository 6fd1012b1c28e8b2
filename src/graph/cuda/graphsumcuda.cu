/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The sum of a vector on a CUDA device, and a step that changes a vector's sum: two passes, and a launch that copies the results to the host
*/
#include <new>

#include "sys/syscuda.cuh"
#include "graph/cuda/graphcuda.h"

#define GRAPH_SUM_BLOCKS 1024 /* most thread blocks; each stores a partial sum */

struct _GraphSums {
  SysScalar *part   = NULL; /* on the device: 2 * GRAPH_SUM_BLOCKS */
  SysScalar *result = NULL; /* on the host: the change and the total */
};

static __device__ SysScalar GraphBlockSum(SysScalar s)
{
  __shared__ SysScalar warps[SYS_THREADS / SYS_WARP];

  for (int d = SYS_WARP / 2; d; d /= 2) s += __shfl_xor_sync(SYS_ALL_LANES, s, d);
  __syncthreads(); /* all threads have read the block's last sum */
  if (threadIdx.x % SYS_WARP == 0) warps[threadIdx.x / SYS_WARP] = s;
  __syncthreads();
  s = 0;
  for (int w = 0; w < SYS_THREADS / SYS_WARP; w++) s += warps[w];
  return s;
}

static __device__ SysScalar GraphPartSum(int n, const SysScalar *part)
{
  SysScalar s = 0;

  for (int k = (int)threadIdx.x; k < n; k += SYS_THREADS) s += part[k];
  return GraphBlockSum(s);
}

static __global__ void __launch_bounds__(SYS_THREADS) GraphSumPass(int64_t n, const SysScalar *x, SysScalar *part)
{
  SysScalar s = 0;

  SYS_FOR_EACH(k, n) s += x[k];
  s = GraphBlockSum(s);
  if (threadIdx.x == 0) part[blockIdx.x] = s;
}

static __global__ void __launch_bounds__(SYS_THREADS) GraphStepPass(int64_t n, int scale, int given, SysScalar total, SysScalar wanted, SysReal weight, const SysScalar *where, const SysScalar *x, SysScalar *z, const SysScalar *part, SysScalar *change)
{
  const SysScalar sum = given ? total : GraphPartSum((int)gridDim.x, part);
  const SysScalar f = scale && sum != 0 ? wanted / sum : 1, t = scale ? 0 : (wanted - sum) / weight;
  SysScalar       s = 0;

  SYS_FOR_EACH(k, n)
  {
    const SysScalar here = f * z[k] + (where ? t * where[k] : t);

    z[k] = here;
    if (x) s += fabs(x[k] - here);
  }
  s = GraphBlockSum(s);
  if (threadIdx.x == 0) change[blockIdx.x] = s;
}

/* Adds the partial sums and copies them to the host */
static __global__ void __launch_bounds__(SYS_THREADS) GraphReport(int n, const SysScalar *change, const SysScalar *part, SysScalar *result)
{
  const SysScalar a = change ? GraphPartSum(n, change) : 0, b = GraphPartSum(n, part);

  if (threadIdx.x == 0) {
    result[0] = a;
    result[1] = b;
  }
}

static int GraphBlocks(int64_t n)
{
  const int64_t blocks = (n + 4 * SYS_THREADS - 1) / (4 * SYS_THREADS);

  return (int)(blocks < 1 ? 1 : blocks < GRAPH_SUM_BLOCKS ? blocks : GRAPH_SUM_BLOCKS);
}

SysStatus GraphSumsCreate(GraphSums **out)
{
  GraphSums *S = new (std::nothrow) GraphSums;

  *out = S;
  if (!S) return SYS_OUT_OF_MEMORY;
  SYS_CALL(SysDeviceAllocate(&S->part, 2 * GRAPH_SUM_BLOCKS * sizeof(*S->part)));
  SYS_CUDA(cudaMallocHost((void **)&S->result, 2 * sizeof(*S->result)));
  return SYS_SUCCESS;
}

void GraphSumsDestroy(GraphSums *S)
{
  if (!S) return;
  (void)cudaFree(S->part);
  (void)cudaFreeHost(S->result);
  delete S;
}

SysStatus GraphSumsSum(GraphSums *S, int64_t n, const SysScalar *x, SysScalar *sum, SysStream stream)
{
  const int blocks = GraphBlocks(n);

  SYS_CALL(SysLaunch(GraphSumPass, blocks, SYS_THREADS, 0, stream, n, x, S->part));
  if (!sum) return SYS_SUCCESS;
  SYS_CALL(SysLaunch(GraphReport, 1, SYS_THREADS, 0, stream, blocks, (const SysScalar *)NULL, S->part, S->result));
  SYS_CUDA(cudaStreamSynchronize(stream));
  *sum = S->result[1];
  return SYS_SUCCESS;
}

SysStatus GraphSumsStep(GraphSums *S, int64_t n, int scale, const SysScalar *given, SysScalar wanted, SysReal weight, const SysScalar *where, const SysScalar *x, SysScalar *z, SysReal *change, SysScalar *total, SysStream stream)
{
  const int blocks = GraphBlocks(n);

  SYS_CALL(SysLaunch(GraphStepPass, blocks, SYS_THREADS, 0, stream, n, scale, given != NULL, given ? *given : 0, wanted, weight, where, x, z, S->part, S->part + GRAPH_SUM_BLOCKS));
  SYS_CALL(SysLaunch(GraphReport, 1, SYS_THREADS, 0, stream, blocks, S->part + GRAPH_SUM_BLOCKS, S->part, S->result));
  SYS_CUDA(cudaStreamSynchronize(stream));
  *change = S->result[0];
  *total  = given ? *given : S->result[1];
  return SYS_SUCCESS;
}
