/* SPDX-License-Identifier: BSD-2-Clause */
#include "ksp/ksp/impls/fused/fusedcuda.cuh"

/* RIGHT: z = M p; LEFT: v = M v and t = M t; neither: there is no preconditioner, or one of dense blocks, which FusedBiBlocks() applies between the passes */
typedef enum {
  PLAIN,
  LEFT,
  RIGHT
} Side;

static __device__ void FusedBiNext(FusedState *state)
{
  const SysReal b = (state->beta / state->betaold) * (state->a / state->omega);

  state->b    = b;
  state->c    = -state->omega * b;
  state->stop = FUSED_GO;
}

static __device__ void FusedFinishBiShadow(FusedState *state, SysReal vq)
{
  state->dpi = vq;
  if (!isfinite(vq)) state->stop = FUSED_STOP_DPI;
  else if (vq == 0) state->stop = FUSED_STOP_MAT;
  else state->a = state->beta / vq;
}

static __device__ void FusedFinishBiDots(FusedState *state, const SysReal sum[3])
{
  state->rr = sum[2];
  if (sum[1] == 0) state->stop = FUSED_STOP_LAST;
  else state->omega = sum[0] / sum[1];
}

static __device__ void FusedFinishBiStep(FusedState *state, FusedNorm kind, const SysReal sum[2])
{
  const SysReal norm = kind == FUSED_NORM_NONE ? 0 : sqrt(sum[1]);

  state->norm = norm;
  if (!isfinite(norm)) {
    state->stop = FUSED_STOP_NORM;
    return;
  }
  state->betaold                             = state->beta;
  state->beta                                = sum[0];
  state->history[state->its % FUSED_HISTORY] = norm;
  state->its++;
  if (kind != FUSED_NORM_NONE && (norm <= state->least || norm >= state->most)) state->stop = FUSED_STOP_TEST;
  else if (state->betaold == 0) state->stop = FUSED_STOP_ZERO;
  else if (state->its >= state->max_it) state->stop = FUSED_STOP_TEST;
  else FusedBiNext(state);
}

template <Side SIDE>
static __global__ void __launch_bounds__(SYS_THREADS) FusedBiDirectionKernel(const FusedState *state, int64_t n, const SysReal *r, const SysReal *v, SysReal *p, SysReal *z, const SysReal *d)
{
  SysReal b, c;

  if (state->stop) return;
  b = state->b;
  c = state->c;
  SYS_FOR_EACH(k, n)
  {
    const SysReal p0 = b == 0 ? r[k] : r[k] + c * v[k] + b * p[k];

    p[k] = p0;
    if (SIDE == RIGHT) z[k] = d[k] * p0;
  }
}

template <Side SIDE>
static __global__ void __launch_bounds__(SYS_THREADS) FusedBiShadowKernel(const FusedShared shared, int64_t n, SysReal *v, const SysReal *q, const SysReal *d)
{
  SysReal sum[1] = {0};

  if (shared.state->stop) return;
  SYS_FOR_EACH(k, n)
  {
    SysReal v0 = v[k];

    if (SIDE == LEFT) {
      v0 *= d[k];
      v[k] = v0;
    }
    sum[0] += v0 * q[k];
  }
  if (FusedGridSum<1>(shared, sum)) FusedFinishBiShadow(shared.state, sum[0]);
}

template <Side SIDE>
static __global__ void __launch_bounds__(SYS_THREADS) FusedBiHalfKernel(const FusedState *state, int64_t n, SysReal *r, const SysReal *v, SysReal *z, const SysReal *d)
{
  SysReal a;

  if (state->stop) return;
  a = state->a;
  SYS_FOR_EACH(k, n)
  {
    const SysReal r0 = r[k] - a * v[k];

    r[k] = r0;
    if (SIDE == RIGHT) z[k] = d[k] * r0;
  }
}

template <Side SIDE>
static __global__ void __launch_bounds__(SYS_THREADS) FusedBiDotsKernel(const FusedShared shared, int64_t n, SysReal *t, const SysReal *r, const SysReal *d)
{
  SysReal sum[3] = {0};

  if (shared.state->stop) return;
  SYS_FOR_EACH(k, n)
  {
    const SysReal r0 = r[k];
    SysReal       t0 = t[k];

    if (SIDE == LEFT) {
      t0 *= d[k];
      t[k] = t0;
    }
    sum[0] += t0 * r0;
    sum[1] += t0 * t0;
    sum[2] += r0 * r0;
  }
  if (FusedGridSum<3>(shared, sum)) FusedFinishBiDots(shared.state, sum);
}

static __global__ void __launch_bounds__(SYS_THREADS) FusedBiStepKernel(const FusedShared shared, FusedNorm norm, int64_t n, SysReal *x, SysReal *r, const SysReal *p, const SysReal *t, const SysReal *q)
{
  SysReal sum[2] = {0}, a, omega;

  if (shared.state->stop) return;
  a     = shared.state->a;
  omega = shared.state->omega;
  SYS_FOR_EACH(k, n)
  {
    const SysReal s0 = r[k], r0 = s0 - omega * t[k];

    x[k] = x[k] + a * p[k] + omega * s0;
    r[k] = r0;
    sum[0] += r0 * q[k];
    sum[1] += r0 * r0;
  }
  if (FusedGridSum<2>(shared, sum)) FusedFinishBiStep(shared.state, norm, sum);
}

/* Ends a pass whose sums have been gathered from all processes */
typedef enum {
  FUSED_SHADOW,
  FUSED_DOTS,
  FUSED_STEP
} FusedBiEnd;

static __global__ void FusedBiFinishKernel(FusedState *state, FusedBiEnd end, FusedNorm norm, const SysReal *all, int nproc)
{
  SysReal sum[FUSED_DEVICE_SUMS];

  FusedGathered(all, nproc, sum);
  if (threadIdx.x || state->stop) return;
  if (end == FUSED_SHADOW) FusedFinishBiShadow(state, sum[0]);
  else if (end == FUSED_DOTS) FusedFinishBiDots(state, sum);
  else FusedFinishBiStep(state, norm, sum);
}

/* to = M from with dense blocks, which may be one array: a thread block takes whole blocks, and hands the entries around in shared memory */
static __global__ void __launch_bounds__(SYS_THREADS) FusedBiBlocksKernel(const FusedState *state, int stop, int64_t n, int bs, const SysReal *from, SysReal *to, const SysReal *d)
{
  __shared__ SysReal all[SYS_THREADS];
  const int          tile = SYS_THREADS / bs * bs, me = (int)threadIdx.x, first = me - me % bs;

  if (state->stop != stop) return;
  for (int64_t base = (int64_t)blockIdx.x * tile; base < n; base += (int64_t)gridDim.x * tile) {
    const int64_t k    = base + me;
    const bool    mine = me < tile && k < n;
    SysReal       sum  = 0;

    if (mine) all[me] = from[k];
    __syncthreads();
    if (mine) {
      for (int j = 0; j < bs; j++) sum += d[j * n + k] * all[first + j];
      to[k] = sum;
    }
    __syncthreads();
  }
}
static_assert(FUSED_BLOCKS_MAX <= SYS_THREADS, "a thread for each row of a block of M");

static __global__ void FusedBiApplyKernel(const FusedState *state, int64_t n, const SysReal *from, SysReal *to, const SysReal *d)
{
  if (state->stop != FUSED_STOP_TEST) return;
  SYS_FOR_EACH(k, n) to[k] = d[k] * from[k];
}

static __global__ void FusedBiResumeKernel(FusedState *state)
{
  if (state->stop != FUSED_STOP_TEST) return;
  if (state->betaold == 0) state->stop = FUSED_STOP_ZERO;
  else FusedBiNext(state);
}

/* ------------------------------------------------- launches ------------------------------------------------- */

static Side FusedSide(const FusedPass *pass)
{
  return pass->kind != FUSED_POINT ? PLAIN : pass->v[FUSED_Z] ? RIGHT : LEFT;
}

#define LAUNCH(kernel, ...) \
  do { \
    kernel<<<FusedGrid(pass->n), SYS_THREADS, 0, stream>>>(__VA_ARGS__); \
    SYS_CUDA(cudaGetLastError()); \
  } while (0)

/* With dense blocks on that side: applies them, if the iteration is at this stop */
static SysStatus FusedBiBlocks(const FusedDevice *f, const FusedPass *pass, Side side, FusedStop stop, FusedVector from, FusedVector to, cudaStream_t stream)
{
  if (pass->kind != FUSED_BLOCKS || side != (pass->v[FUSED_Z] ? RIGHT : LEFT)) return SYS_SUCCESS;
  LAUNCH(FusedBiBlocksKernel, f->shared.state, stop, pass->n, pass->bs, pass->v[from], pass->v[to], pass->d);
  return SYS_SUCCESS;
}

SysStatus FusedDeviceBiDirection(FusedDevice *f, const FusedPass *pass, SysStream stream)
{
  SysReal *const *v = pass->v;

  if (FusedSide(pass) == RIGHT) LAUNCH(FusedBiDirectionKernel<RIGHT>, f->shared.state, pass->n, v[FUSED_R], v[FUSED_V], v[FUSED_P], v[FUSED_Z], pass->d);
  else LAUNCH(FusedBiDirectionKernel<PLAIN>, f->shared.state, pass->n, v[FUSED_R], v[FUSED_V], v[FUSED_P], NULL, NULL);
  return FusedBiBlocks(f, pass, RIGHT, FUSED_GO, FUSED_P, FUSED_Z, stream);
}

SysStatus FusedDeviceBiShadow(FusedDevice *f, const FusedPass *pass, SysStream stream)
{
  SysReal *const *v = pass->v;

  SYS_CALL(FusedBiBlocks(f, pass, LEFT, FUSED_GO, FUSED_V, FUSED_V, stream));
  if (FusedSide(pass) == LEFT) LAUNCH(FusedBiShadowKernel<LEFT>, f->shared, pass->n, v[FUSED_V], v[FUSED_Q], pass->d);
  else LAUNCH(FusedBiShadowKernel<PLAIN>, f->shared, pass->n, v[FUSED_V], v[FUSED_Q], NULL);
  return SYS_SUCCESS;
}

SysStatus FusedDeviceBiHalf(FusedDevice *f, const FusedPass *pass, SysStream stream)
{
  SysReal *const *v = pass->v;

  if (FusedSide(pass) == RIGHT) LAUNCH(FusedBiHalfKernel<RIGHT>, f->shared.state, pass->n, v[FUSED_R], v[FUSED_V], v[FUSED_Z], pass->d);
  else LAUNCH(FusedBiHalfKernel<PLAIN>, f->shared.state, pass->n, v[FUSED_R], v[FUSED_V], NULL, NULL);
  return FusedBiBlocks(f, pass, RIGHT, FUSED_GO, FUSED_R, FUSED_Z, stream);
}

SysStatus FusedDeviceBiDots(FusedDevice *f, const FusedPass *pass, SysStream stream)
{
  SysReal *const *v = pass->v;

  SYS_CALL(FusedBiBlocks(f, pass, LEFT, FUSED_GO, FUSED_T, FUSED_T, stream));
  if (FusedSide(pass) == LEFT) LAUNCH(FusedBiDotsKernel<LEFT>, f->shared, pass->n, v[FUSED_T], v[FUSED_R], pass->d);
  else LAUNCH(FusedBiDotsKernel<PLAIN>, f->shared, pass->n, v[FUSED_T], v[FUSED_R], NULL);
  return SYS_SUCCESS;
}

SysStatus FusedDeviceBiStep(FusedDevice *f, const FusedPass *pass, FusedNorm norm, SysStream stream)
{
  SysReal *const *v = pass->v;

  LAUNCH(FusedBiStepKernel, f->shared, norm, pass->n, v[FUSED_X], v[FUSED_R], v[FUSED_P], v[FUSED_T], v[FUSED_Q]);
  return SYS_SUCCESS;
}

static SysStatus FusedBiFinish(FusedDevice *f, FusedBiEnd end, FusedNorm norm, cudaStream_t stream)
{
  return SysLaunch(FusedBiFinishKernel, 1, SYS_WARP, 0, stream, f->shared.state, end, norm, f->gathered + FUSED_DEVICE_SUMS, f->nproc);
}

SysStatus FusedDeviceFinishBiShadow(FusedDevice *f, SysStream stream)
{
  return FusedBiFinish(f, FUSED_SHADOW, FUSED_NORM_NONE, stream);
}

SysStatus FusedDeviceFinishBiDots(FusedDevice *f, SysStream stream)
{
  return FusedBiFinish(f, FUSED_DOTS, FUSED_NORM_NONE, stream);
}

SysStatus FusedDeviceFinishBiStep(FusedDevice *f, FusedNorm norm, SysStream stream)
{
  return FusedBiFinish(f, FUSED_STEP, norm, stream);
}

SysStatus FusedDeviceBiResumeBegin(FusedDevice *f, const FusedPass *pass, SysStream stream)
{
  if (FusedSide(pass) == RIGHT) LAUNCH(FusedBiApplyKernel, f->shared.state, pass->n, pass->v[FUSED_P], pass->v[FUSED_Z], pass->d);
  return FusedBiBlocks(f, pass, RIGHT, FUSED_STOP_TEST, FUSED_P, FUSED_Z, stream);
}

SysStatus FusedDeviceBiResumeEnd(FusedDevice *f, const FusedPass *pass, SysStream stream)
{
  SYS_CALL(FusedBiBlocks(f, pass, LEFT, FUSED_STOP_TEST, FUSED_V, FUSED_V, stream));
  if (FusedSide(pass) == LEFT) LAUNCH(FusedBiApplyKernel, f->shared.state, pass->n, pass->v[FUSED_V], pass->v[FUSED_V], pass->d);
  return SysLaunch(FusedBiResumeKernel, 1, 1, 0, stream, f->shared.state);
}
