/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "sys/syscuda.cuh"
#include "ksp/ksp/impls/fused/fusedcuda.h"

#define FUSED_GRID  1024 /* thread blocks, at most: about as many as a large GPU runs at a time */
#define FUSED_WARPS (SYS_THREADS / SYS_WARP)

/* What kernels need besides vectors */
typedef struct {
  FusedState *state;
  SysReal    *partial; /* the sums of each thread block */
  unsigned   *arrived; /* thread blocks that have written theirs */
} FusedShared;

struct _FusedDevice {
  FusedShared     shared;
  char           *memory;
  FusedState     *slot; /* two, in pinned memory */
  cudaEvent_t     sent[2];
  cudaStream_t    record;
  cudaGraphExec_t exec;
};

/* ------------------------------------------------- sums ------------------------------------------------- */

/* The sums of all threads of a thread block, in thread 0 */
static __device__ void FusedBlockSum(SysReal sum[FUSED_SUMS])
{
  __shared__ SysReal all[FUSED_SUMS][FUSED_WARPS];
  const unsigned     lane = threadIdx.x % SYS_WARP, warp = threadIdx.x / SYS_WARP;

  for (int s = 0; s < FUSED_SUMS; s++) {
    for (unsigned d = SYS_WARP / 2; d; d /= 2) sum[s] += __shfl_xor_sync(SYS_ALL_LANES, sum[s], d);
    if (lane == 0) all[s][warp] = sum[s];
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int s = 0; s < FUSED_SUMS; s++) {
      sum[s] = 0;
      for (int w = 0; w < FUSED_WARPS; w++) sum[s] += all[s][w];
    }
  }
  __syncthreads();
}

/* Adds the sums over the grid. True in thread 0 of the thread block that arrives last, which has the result. */
static __device__ bool FusedGridSum(const FusedShared shared, SysReal sum[FUSED_SUMS])
{
  __shared__ bool last;

  FusedBlockSum(sum);
  if (threadIdx.x == 0) {
    volatile SysReal *partial = shared.partial + FUSED_SUMS * blockIdx.x;

    for (int s = 0; s < FUSED_SUMS; s++) partial[s] = sum[s];
    __threadfence();
    last = atomicAdd(shared.arrived, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return false;
  __threadfence();
  for (int s = 0; s < FUSED_SUMS; s++) sum[s] = 0;
  for (unsigned k = threadIdx.x; k < gridDim.x; k += blockDim.x) {
    const volatile SysReal *partial = shared.partial + FUSED_SUMS * k;

    for (int s = 0; s < FUSED_SUMS; s++) sum[s] += partial[s];
  }
  FusedBlockSum(sum);
  if (threadIdx.x == 0) *shared.arrived = 0;
  return threadIdx.x == 0;
}

/* ------------------------------------------------- the iteration ------------------------------------------------- */

static __device__ SysReal FusedNormOf(FusedNorm norm, const SysReal sum[FUSED_SUMS])
{
  if (norm == FUSED_NORM_Z) return sqrt(sum[1]);
  if (norm == FUSED_NORM_R) return sqrt(sum[2]);
  if (norm == FUSED_NORM_NATURAL) return sqrt(fabs(sum[0]));
  return 0;
}

/* Prepares the next iteration */
static __device__ void FusedNext(FusedState *state)
{
  if (!isfinite(state->beta)) state->stop = FUSED_STOP_BETA;
  else if (state->beta == 0) state->stop = FUSED_STOP_ZERO;
  else if (state->beta * state->betaold < 0) state->stop = FUSED_STOP_PC;
  else {
    state->stop = FUSED_GO;
    state->b    = state->beta / state->betaold;
  }
}

static __device__ void FusedFinishStep(FusedState *state, FusedNorm kind, const SysReal sum[FUSED_SUMS])
{
  const SysReal norm = FusedNormOf(kind, sum);

  state->norm      = norm;
  state->betaold   = state->beta;
  state->beta      = sum[0];
  state->objective = state->objective - (SysReal)0.5 * state->a * state->betaold;
  if (!isfinite(norm)) {
    state->stop = FUSED_STOP_NORM;
    return;
  }
  state->history[state->its % FUSED_HISTORY] = norm;
  state->its++;
  if (state->its >= state->max_it || (kind != FUSED_NORM_NONE && (norm <= state->least || norm >= state->most))) state->stop = FUSED_STOP_TEST;
  else FusedNext(state);
}

static __device__ void FusedFinishDot(FusedState *state, SysReal dpi)
{
  const SysReal old = state->dpi;

  state->dpiold = old;
  state->dpi    = dpi;
  if (!isfinite(dpi)) state->stop = FUSED_STOP_DPI;
  else if (dpi == 0 || (state->its > 0 && ((dpi > 0 && old < 0) || (dpi < 0 && old > 0)))) state->stop = FUSED_STOP_MAT;
  else state->a = state->beta / dpi;
}

template <bool POINT, bool START>
static __global__ void __launch_bounds__(SYS_THREADS) FusedStepKernel(const FusedShared shared, FusedNorm norm, int64_t n, SysReal *x, SysReal *r, SysReal *z, const SysReal *p, const SysReal *w, const SysReal *d)
{
  FusedState *state           = shared.state;
  SysReal     sum[FUSED_SUMS] = {0}, a;

  if (!START && state->stop) return;
  a = START ? 0 : state->a;
  SYS_FOR_EACH(k, n)
  {
    SysReal r0 = r[k], z0;

    if (!START) {
      r0 -= a * w[k];
      r[k] = r0;
      x[k] += a * p[k];
    }
    z0 = r0;
    if (POINT) {
      z0   = d[k] * r0;
      z[k] = z0;
    }
    sum[0] += z0 * r0;
    sum[1] += z0 * z0;
    sum[2] += r0 * r0;
  }
  if (!FusedGridSum(shared, sum)) return;
  if (START) {
    state->beta      = sum[0];
    state->betaold   = 1;
    state->dpi       = 0;
    state->dpiold    = 0;
    state->a         = 0;
    state->b         = 0;
    state->norm      = FusedNormOf(norm, sum);
    state->objective = 0;
    state->its       = 0;
    state->stop      = FUSED_GO;
  } else FusedFinishStep(state, norm, sum);
}

static __global__ void __launch_bounds__(SYS_THREADS) FusedDotKernel(const FusedShared shared, int64_t n, const SysReal *p, const SysReal *w)
{
  SysReal sum[FUSED_SUMS] = {0};

  if (shared.state->stop) return;
  SYS_FOR_EACH(k, n) sum[0] += p[k] * w[k];
  if (FusedGridSum(shared, sum)) FusedFinishDot(shared.state, sum[0]);
}

static __global__ void __launch_bounds__(SYS_THREADS) FusedDirectionKernel(const FusedState *state, int64_t n, const SysReal *z, SysReal *p)
{
  SysReal b;

  if (state->stop) return;
  b = state->b;
  if (b == 0) {
    SYS_FOR_EACH(k, n) p[k] = z[k];
  } else {
    SYS_FOR_EACH(k, n) p[k] = z[k] + b * p[k];
  }
}

static __global__ void FusedLimitsKernel(FusedState *state, SysReal least, SysReal most, int max_it)
{
  state->least  = least;
  state->most   = most;
  state->max_it = max_it;
}

static __global__ void FusedApplyKernel(const FusedState *state, int64_t n, const SysReal *r, SysReal *z, const SysReal *d)
{
  if (state->stop != FUSED_STOP_TEST) return;
  SYS_FOR_EACH(k, n) z[k] = d[k] * r[k];
}

static __global__ void FusedResumeKernel(FusedState *state)
{
  if (state->stop == FUSED_STOP_TEST) FusedNext(state);
}

/* ------------------------------------------------- launches ------------------------------------------------- */

/* Each thread takes four entries, or more */
static unsigned FusedGrid(int64_t n)
{
  const int64_t blocks = (n + 4 * SYS_THREADS - 1) / (4 * SYS_THREADS);

  return (unsigned)(blocks < 1 ? 1 : blocks < FUSED_GRID ? blocks : FUSED_GRID);
}

template <bool START>
static SysStatus FusedStepLaunch(FusedDevice *f, const FusedPass *pass, FusedNorm norm, cudaStream_t stream)
{
  SysReal *const *v = pass->v;

  if (pass->kind == FUSED_POINT) FusedStepKernel<true, START><<<FusedGrid(pass->n), SYS_THREADS, 0, stream>>>(f->shared, norm, pass->n, v[FUSED_X], v[FUSED_R], v[FUSED_Z], v[FUSED_P], v[FUSED_W], pass->d);
  else FusedStepKernel<false, START><<<FusedGrid(pass->n), SYS_THREADS, 0, stream>>>(f->shared, norm, pass->n, v[FUSED_X], v[FUSED_R], v[FUSED_Z], v[FUSED_P], v[FUSED_W], NULL);
  SYS_CUDA(cudaGetLastError());
  return SYS_SUCCESS;
}

SysStatus FusedDeviceStart(FusedDevice *f, const FusedPass *pass, FusedNorm norm, SysStream stream)
{
  return FusedStepLaunch<true>(f, pass, norm, stream);
}

SysStatus FusedDeviceStep(FusedDevice *f, const FusedPass *pass, FusedNorm norm, SysStream stream)
{
  return FusedStepLaunch<false>(f, pass, norm, stream);
}

SysStatus FusedDeviceDirection(FusedDevice *f, const FusedPass *pass, SysStream stream)
{
  FusedDirectionKernel<<<FusedGrid(pass->n), SYS_THREADS, 0, stream>>>(f->shared.state, pass->n, pass->v[FUSED_Z], pass->v[FUSED_P]);
  SYS_CUDA(cudaGetLastError());
  return SYS_SUCCESS;
}

SysStatus FusedDeviceDot(FusedDevice *f, const FusedPass *pass, SysStream stream)
{
  FusedDotKernel<<<FusedGrid(pass->n), SYS_THREADS, 0, stream>>>(f->shared, pass->n, pass->v[FUSED_P], pass->v[FUSED_W]);
  SYS_CUDA(cudaGetLastError());
  return SYS_SUCCESS;
}

SysStatus FusedDeviceLimits(FusedDevice *f, SysReal least, SysReal most, int max_it, SysStream stream)
{
  FusedLimitsKernel<<<1, 1, 0, stream>>>(f->shared.state, least, most, max_it);
  SYS_CUDA(cudaGetLastError());
  return SYS_SUCCESS;
}

SysStatus FusedDeviceResume(FusedDevice *f, const FusedPass *pass, SysStream stream)
{
  if (pass->kind == FUSED_POINT) {
    FusedApplyKernel<<<FusedGrid(pass->n), SYS_THREADS, 0, stream>>>(f->shared.state, pass->n, pass->v[FUSED_R], pass->v[FUSED_Z], pass->d);
    SYS_CUDA(cudaGetLastError());
  }
  FusedResumeKernel<<<1, 1, 0, stream>>>(f->shared.state);
  SYS_CUDA(cudaGetLastError());
  return SYS_SUCCESS;
}

/* ------------------------------------------------- the host ------------------------------------------------- */

SysStatus FusedDeviceSend(FusedDevice *f, int slot, SysStream stream)
{
  SYS_CUDA(cudaMemcpyAsync(f->slot + slot, f->shared.state, sizeof(FusedState), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaEventRecord(f->sent[slot], stream));
  return SYS_SUCCESS;
}

SysStatus FusedDeviceReceive(FusedDevice *f, int slot, const FusedState **state)
{
  SYS_CUDA(cudaEventSynchronize(f->sent[slot]));
  *state = f->slot + slot;
  return SYS_SUCCESS;
}

SysStatus FusedDeviceRecordBegin(FusedDevice *f, SysStream *stream)
{
  SYS_CUDA(cudaStreamBeginCapture(f->record, cudaStreamCaptureModeThreadLocal));
  *stream = f->record;
  return SYS_SUCCESS;
}

SysStatus FusedDeviceRecordEnd(FusedDevice *f, int *recorded)
{
  cudaGraph_t graph = NULL;

  if (f->exec) (void)cudaGraphExecDestroy(f->exec);
  f->exec   = NULL;
  *recorded = cudaStreamEndCapture(f->record, &graph) == cudaSuccess && graph && cudaGraphInstantiate(&f->exec, graph, 0) == cudaSuccess;
  if (graph) (void)cudaGraphDestroy(graph);
  if (!*recorded) {
    f->exec = NULL;
    (void)cudaGetLastError();
  }
  return SYS_SUCCESS;
}

SysStatus FusedDeviceReplay(FusedDevice *f, SysStream stream)
{
  SYS_CUDA(cudaGraphLaunch(f->exec, stream));
  return SYS_SUCCESS;
}

static SysStatus FusedDeviceFill(FusedDevice *f)
{
  SysArena arena = {NULL, 0};

  for (int pass = 0; pass < 2; pass++) {
    if (pass) SYS_CALL(SysArenaAllocate(&arena));
    SysArenaTake(&arena, &f->shared.state, 1);
    SysArenaTake(&arena, &f->shared.partial, FUSED_GRID * FUSED_SUMS);
    SysArenaTake(&arena, &f->shared.arrived, 1);
    f->memory = arena.memory;
  }
  SYS_CUDA(cudaMemset(f->memory, 0, arena.used));
  SYS_CUDA(cudaMallocHost((void **)&f->slot, 2 * sizeof(FusedState)));
  for (int k = 0; k < 2; k++) SYS_CUDA(cudaEventCreateWithFlags(&f->sent[k], cudaEventDisableTiming));
  SYS_CUDA(cudaStreamCreateWithFlags(&f->record, cudaStreamNonBlocking));
  return SYS_SUCCESS;
}

SysStatus FusedDeviceCreate(FusedDevice **f)
{
  SysStatus status;

  *f = (FusedDevice *)calloc(1, sizeof(**f));
  if (!*f) return SYS_OUT_OF_MEMORY;
  status = FusedDeviceFill(*f);
  if (status != SYS_SUCCESS) FusedDeviceDestroy(f);
  return status;
}

/* The kernels of the last block may still run: cudaFree() waits for them */
void FusedDeviceDestroy(FusedDevice **f)
{
  if (!*f) return;
  (void)cudaFree((*f)->memory);
  if ((*f)->exec) (void)cudaGraphExecDestroy((*f)->exec);
  if ((*f)->record) (void)cudaStreamDestroy((*f)->record);
  for (int k = 0; k < 2; k++) {
    if ((*f)->sent[k]) (void)cudaEventDestroy((*f)->sent[k]);
  }
  (void)cudaFreeHost((*f)->slot);
  free(*f);
  *f = NULL;
}
