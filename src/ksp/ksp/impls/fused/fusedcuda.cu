/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "ksp/ksp/impls/fused/fusedcuda.cuh"

/* ------------------------------------------------- the iteration ------------------------------------------------- */

/* From the sums z.r, and z.z or r.r */
static __device__ SysReal FusedNormOf(FusedNorm norm, const SysReal sum[2])
{
  if (norm == FUSED_NORM_Z || norm == FUSED_NORM_R) return sqrt(sum[1]);
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

static __device__ void FusedFinishStep(FusedState *state, FusedNorm kind, const SysReal sum[2])
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

static __device__ void FusedFinishStart(FusedState *state, FusedNorm norm, const SysReal sum[2])
{
  state->beta      = sum[0];
  state->betaold   = 1;
  state->dpi       = 0;
  state->dpiold    = 0;
  state->a         = 0;
  state->b         = 0;
  state->c         = 0;
  state->omega     = 1;
  state->norm      = FusedNormOf(norm, sum);
  state->objective = 0;
  state->its       = 0;
  state->stop      = FUSED_GO;
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
  FusedState *state  = shared.state;
  SysReal     sum[2] = {0}, a;

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
    sum[1] += norm == FUSED_NORM_R ? r0 * r0 : z0 * z0;
  }
  if (!FusedGridSum<2>(shared, sum)) return;
  if (START) FusedFinishStart(state, norm, sum);
  else FusedFinishStep(state, norm, sum);
}

static __global__ void __launch_bounds__(SYS_THREADS) FusedDotKernel(const FusedShared shared, int64_t n, const SysReal *p, const SysReal *w)
{
  SysReal sum[1] = {0};

  if (shared.state->stop) return;
  SYS_FOR_EACH(k, n) sum[0] += p[k] * w[k];
  if (FusedGridSum<1>(shared, sum)) FusedFinishDot(shared.state, sum[0]);
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

/* Ends a pass whose sums have been gathered from all processes */
typedef enum {
  FUSED_START,
  FUSED_DOT,
  FUSED_STEP
} FusedEnd;

static __global__ void FusedFinishKernel(FusedState *state, FusedEnd end, FusedNorm norm, const SysReal *all, int nproc)
{
  SysReal sum[FUSED_DEVICE_SUMS];

  FusedGathered(all, nproc, sum);
  if (threadIdx.x || (end != FUSED_START && state->stop)) return;
  if (end == FUSED_START) FusedFinishStart(state, norm, sum);
  else if (end == FUSED_DOT) FusedFinishDot(state, sum[0]);
  else FusedFinishStep(state, norm, sum);
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

static SysStatus FusedFinish(FusedDevice *f, FusedEnd end, FusedNorm norm, cudaStream_t stream)
{
  FusedFinishKernel<<<1, SYS_WARP, 0, stream>>>(f->shared.state, end, norm, f->gathered + FUSED_DEVICE_SUMS, f->nproc);
  SYS_CUDA(cudaGetLastError());
  return SYS_SUCCESS;
}

SysStatus FusedDeviceFinishStart(FusedDevice *f, FusedNorm norm, SysStream stream)
{
  return FusedFinish(f, FUSED_START, norm, stream);
}

SysStatus FusedDeviceFinishDot(FusedDevice *f, SysStream stream)
{
  return FusedFinish(f, FUSED_DOT, FUSED_NORM_NONE, stream);
}

SysStatus FusedDeviceFinishStep(FusedDevice *f, FusedNorm norm, SysStream stream)
{
  return FusedFinish(f, FUSED_STEP, norm, stream);
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

SysStatus FusedDeviceShare(FusedDevice *f, int nproc, SysReal **mine, SysReal **all)
{
  if (nproc > f->nproc) {
    SYS_CUDA(cudaFree(f->gathered));
    f->gathered = NULL;
    f->nproc    = 1;
    SYS_CALL(SysDeviceAllocate(&f->gathered, (size_t)FUSED_DEVICE_SUMS * ((size_t)nproc + 1) * sizeof(SysReal)));
    SYS_CUDA(cudaMemset(f->gathered, 0, FUSED_DEVICE_SUMS * sizeof(SysReal)));
  }
  f->nproc       = nproc;
  f->shared.mine = nproc > 1 ? f->gathered : NULL;
  *mine          = f->gathered;
  *all           = f->gathered ? f->gathered + FUSED_DEVICE_SUMS : NULL;
  return SYS_SUCCESS;
}

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
    SysArenaTake(&arena, &f->shared.partial, FUSED_GRID * FUSED_DEVICE_SUMS);
    SysArenaTake(&arena, &f->shared.arrived, 1);
    f->memory = arena.memory;
  }
  SYS_CUDA(cudaMemset(f->memory, 0, arena.used));
  SYS_CUDA(cudaStreamSynchronize(cudaStreamLegacy)); /* the stream of passes need not wait for that stream */
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
  (void)cudaFree((*f)->gathered);
  if ((*f)->exec) (void)cudaGraphExecDestroy((*f)->exec);
  if ((*f)->record) (void)cudaStreamDestroy((*f)->record);
  for (int k = 0; k < 2; k++) {
    if ((*f)->sent[k]) (void)cudaEventDestroy((*f)->sent[k]);
  }
  (void)cudaFreeHost((*f)->slot);
  free(*f);
  *f = NULL;
}
