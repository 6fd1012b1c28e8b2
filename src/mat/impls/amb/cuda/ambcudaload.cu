/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Loads the kernels of first conversions and products. CUDA loads a kernel's code at its first call, which takes up to milliseconds; this file calls
   the kernels on a matrix of a few rows, in a thread beside the assembly.

   ambhost.h has the idea.
*/
#include <vector>

#include "mat/impls/amb/cuda/ambcuda.cuh"

#define AMB_LOAD_NODES  64 /* in a line, with three unknowns each */
#define AMB_LOAD_POINTS 64 /* in a line, with one unknown each */

/* The arrays of the matrix and of two vectors, in one allocation */
typedef struct {
  char      *memory;
  SysCSR     csr;
  SysScalar *x, *z;
} Small;

/* Creates a line of nodes with the given unknowns, each coupled with all within reach; all values are 1 */
static SysStatus AmbLoadSmallCreate(int nodes, int unknowns, int reach, cudaStream_t stream, Small *S)
{
  const int              m = unknowns * nodes;
  std::vector<int>       i(1, 0), j;
  std::vector<SysScalar> a;
  size_t                 starts, columns, values, vector;

  for (int r = 0; r < m; r++) {
    for (int node = r / unknowns - reach; node <= r / unknowns + reach; node++) {
      for (int c = unknowns * node; c < unknowns * (node + 1) && node >= 0 && node < nodes; c++) j.push_back(c);
    }
    i.push_back((int)j.size());
  }
  a.assign(j.size(), 1);
  starts  = SysPadded(sizeof(int) * i.size());
  columns = SysPadded(sizeof(int) * j.size());
  values  = SysPadded(sizeof(SysScalar) * a.size());
  vector  = SysPadded(sizeof(SysScalar) * (size_t)m);
  SYS_CUDA(cudaMalloc(&S->memory, starts + columns + values + 2 * vector));
  S->x   = (SysScalar *)(S->memory + starts + columns + values);
  S->z   = S->x + vector / sizeof(*S->x);
  S->csr = {m, m, (int64_t)j.size(), (int *)S->memory, (int *)(S->memory + starts), (SysScalar *)(S->memory + starts + columns)};
  SYS_CUDA(cudaMemcpyAsync((void *)S->csr.i, i.data(), sizeof(int) * i.size(), cudaMemcpyHostToDevice, stream));
  SYS_CUDA(cudaMemcpyAsync((void *)S->csr.j, j.data(), sizeof(int) * j.size(), cudaMemcpyHostToDevice, stream));
  SYS_CUDA(cudaMemcpyAsync((void *)S->csr.a, a.data(), sizeof(SysScalar) * a.size(), cudaMemcpyHostToDevice, stream));
  SYS_CUDA(cudaMemsetAsync(S->x, 0, 2 * vector, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  return SYS_SUCCESS;
}

static SysStatus AmbLoadProducts(const Small *S, const AmbDevice *A, cudaStream_t stream)
{
  const AmbArrays arrays = {S->csr.i, S->csr.j, S->csr.a, NULL};

  for (int deep = 0; deep < 2; deep++) {
    for (int beta = 0; beta < 2; beta++) SYS_CALL(AmbDeviceLaunch(A, A->info.threads, deep, 0, &arrays, 1, S->x, beta, S->z, S->z, stream));
  }
  return SYS_SUCCESS;
}

/* Converts the matrix, multiplies by it, and sets new values */
static SysStatus AmbLoadSmall(const Small *S, int block_size, SysValues values, cudaStream_t stream)
{
  const AmbDeviceParams params = {block_size, 0, 0, 0, values};
  AmbDevice            *A      = NULL;
  SysStatus             status = AmbDeviceConvert(&S->csr, NULL, &params, stream, &A);

  if (!status) status = AmbLoadProducts(S, A, stream);
  if (!status) status = AmbDeviceUpdate(A, &S->csr, stream);
  if (!status) (void)cudaStreamSynchronize(stream);
  AmbDeviceDestroy(A);
  return status;
}

/* Loads the kernels for blocks of one and three columns (grids and elasticity), then the stencil kernels: short, long, and groups of three rows.
   Other kernels load at their first call. */
SysStatus AmbDeviceLoad(SysStream stream)
{
  Small     nodes = {}, points = {};
  SysStatus status = AmbLoadSmallCreate(AMB_LOAD_NODES, 3, 1, stream, &nodes);

  for (int block_size = 0; block_size <= 3 && !status; block_size++) {
    if (block_size != 2) status = AmbLoadSmall(&nodes, block_size, SYS_VALUES_DOUBLE, stream);
  }
  if (!status) status = AmbLoadSmall(&nodes, 0, SYS_VALUES_EXACT, stream);
  for (int reach = 1; reach <= 8 && !status; reach += 7) {
    status = AmbLoadSmallCreate(AMB_LOAD_POINTS, 1, reach, stream, &points);
    if (!status) status = AmbLoadSmall(&points, 1, SYS_VALUES_EXACT, stream);
    (void)cudaFree(points.memory);
    points.memory = NULL;
  }
  (void)cudaFree(nodes.memory);
  return status;
}
