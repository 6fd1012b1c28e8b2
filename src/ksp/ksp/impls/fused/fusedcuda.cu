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
static __device__ void FusedNext(FusedState *state, SysReal beta, SysReal betaold)
{
  if (!isfinite(beta)) state->stop = FUSED_STOP_BETA;
  else if (beta == 0) state->stop = FUSED_STOP_ZERO;
  else if (beta * betaold < 0) state->stop = FUSED_STOP_PC;
  else {
    state->stop = FUSED_GO;
    state->b    = beta / betaold;
  }
}

static __device__ void FusedFinishStep(FusedState *state, const FusedNow &now, FusedNorm kind, const SysReal sum[2])
{
  const SysReal norm = FusedNormOf(kind, sum);

  state->norm      = norm;
  state->betaold   = now.beta;
  state->beta      = sum[0];
  state->objective = now.objective - (SysReal)0.5 * now.a * now.beta;
  if (!isfinite(norm)) {
    state->stop = FUSED_STOP_NORM;
    return;
  }
  state->history[now.its % FUSED_HISTORY] = norm;
  state->its                              = now.its + 1;
  if (now.its + 1 >= now.max_it || (kind != FUSED_NORM_NONE && (norm <= now.least || norm >= now.most))) state->stop = FUSED_STOP_TEST;
  else FusedNext(state, sum[0], now.beta);
}

static __device__ void FusedFinishDot(FusedState *state, const FusedNow &now, SysReal dpi)
{
  const SysReal old = now.dpi;

  state->dpiold = old;
  state->dpi    = dpi;
  if (!isfinite(dpi)) state->stop = FUSED_STOP_DPI;
  else if (dpi == 0 || (now.its > 0 && ((dpi > 0 && old < 0) || (dpi < 0 && old > 0)))) state->stop = FUSED_STOP_MAT;
  else state->a = now.beta / dpi;
}

template <bool POINT, bool START>
static __global__ void __launch_bounds__(SYS_THREADS) FusedStepKernel(const FusedShared shared, FusedNorm norm, int64_t n, SysReal *x, SysReal *r, SysReal *z, const SysReal *p, const SysReal *w, const SysReal *d)
{
  FusedState *state  = shared.state;
  FusedNow    now    = {0};
  SysReal     sum[2] = {0};

  if (!START) now = FusedLook(state);
  for (int64_t k = FUSED_FIRST; k < n; k += FUSED_AT_ONCE * FUSED_STRIDE) {
    SysReal r0[FUSED_AT_ONCE], x0[FUSED_AT_ONCE], p0[FUSED_AT_ONCE], w0[FUSED_AT_ONCE], d0[FUSED_AT_ONCE];

    FusedRead(r, k, n, r0);
    if (POINT) FusedRead(d, k, n, d0);
    if (!START) {
      FusedRead(w, k, n, w0);
      FusedRead(x, k, n, x0);
      FusedRead(p, k, n, p0);
      if (now.stop) break;
    }
#pragma unroll
    for (int e = 0; e < FUSED_AT_ONCE; e++) {
      const int64_t i = k + e * FUSED_STRIDE;
      SysReal       z0;

      if (i >= n) break;
      if (!START) {
        r0[e] -= now.a * w0[e];
        r[i] = r0[e];
        x[i] = x0[e] + now.a * p0[e];
      }
      z0 = r0[e];
      if (POINT) {
        z0   = d0[e] * r0[e];
        z[i] = z0;
      }
      sum[0] += z0 * r0[e];
      sum[1] += norm == FUSED_NORM_R ? r0[e] * r0[e] : z0 * z0;
    }
  }
  if (!START && now.stop) return;
  if (!FusedGridSum<2>(shared, sum)) return;
  if (START) {
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
  } else FusedFinishStep(state, now, norm, sum);
}

static __global__ void __launch_bounds__(SYS_THREADS) FusedDotKernel(const FusedShared shared, int64_t n, const SysReal *p, const SysReal *w)
{
  const FusedNow now    = FusedLook(shared.state);
  SysReal        sum[1] = {0};

  for (int64_t k = FUSED_FIRST; k < n; k += FUSED_AT_ONCE * FUSED_STRIDE) {
    SysReal p0[FUSED_AT_ONCE], w0[FUSED_AT_ONCE];

    FusedRead(p, k, n, p0);
    FusedRead(w, k, n, w0);
    if (now.stop) break;
#pragma unroll
    for (int e = 0; e < FUSED_AT_ONCE; e++) sum[0] += p0[e] * w0[e];
  }
  if (now.stop) return;
  if (FusedGridSum<1>(shared, sum)) FusedFinishDot(shared.state, now, sum[0]);
}

static __global__ void __launch_bounds__(SYS_THREADS) FusedDirectionKernel(const FusedState *state, int64_t n, const SysReal *z, SysReal *p)
{
  const SysReal b    = __ldcg(&state->b);
  const int     stop = __ldcg(&state->stop);

  for (int64_t k = FUSED_FIRST; k < n; k += FUSED_AT_ONCE * FUSED_STRIDE) {
    SysReal z0[FUSED_AT_ONCE], p0[FUSED_AT_ONCE];

    FusedRead(z, k, n, z0);
    FusedRead(p, k, n, p0);
    if (stop) return;
#pragma unroll
    for (int e = 0; e < FUSED_AT_ONCE; e++) {
      if (k + e * FUSED_STRIDE < n) p[k + e * FUSED_STRIDE] = b == 0 ? z0[e] : z0[e] + b * p0[e];
    }
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
  if (state->stop == FUSED_STOP_TEST) FusedNext(state, state->beta, state->betaold);
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
    SysArenaTake(&arena, &f->shared.partial, FUSED_GRID * FUSED_DEVICE_SUMS);
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
