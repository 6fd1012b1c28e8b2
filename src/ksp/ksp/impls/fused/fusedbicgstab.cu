/* SPDX-License-Identifier: BSD-2-Clause */
#include "ksp/ksp/impls/fused/fusedcuda.cuh"

/* RIGHT: z = M p; LEFT: v = M v and t = M t; neither: there is no preconditioner */
typedef enum {
  PLAIN,
  LEFT,
  RIGHT
} Side;

static __device__ void FusedBiNext(FusedState *state, SysReal rho, SysReal rhoold, SysReal alpha, SysReal omega)
{
  const SysReal b = (rho / rhoold) * (alpha / omega);

  state->b    = b;
  state->c    = -omega * b;
  state->stop = FUSED_GO;
}

template <Side SIDE>
static __global__ void __launch_bounds__(SYS_THREADS) FusedBiDirectionKernel(const FusedState *state, int64_t n, const SysReal *r, const SysReal *v, SysReal *p, SysReal *z, const SysReal *d)
{
  const SysReal b = __ldcg(&state->b), c = __ldcg(&state->c);
  const int     stop = __ldcg(&state->stop);

  for (int64_t k = FUSED_FIRST; k < n; k += FUSED_AT_ONCE * FUSED_STRIDE) {
    SysReal r0[FUSED_AT_ONCE], v0[FUSED_AT_ONCE], p0[FUSED_AT_ONCE], d0[FUSED_AT_ONCE];

    FusedRead(r, k, n, r0);
    FusedRead(v, k, n, v0);
    FusedRead(p, k, n, p0);
    if (SIDE == RIGHT) FusedRead(d, k, n, d0);
    if (stop) return;
#pragma unroll
    for (int e = 0; e < FUSED_AT_ONCE; e++) {
      const int64_t i = k + e * FUSED_STRIDE;
      SysReal       sum;

      if (i >= n) break;
      sum  = b == 0 ? r0[e] : r0[e] + c * v0[e] + b * p0[e];
      p[i] = sum;
      if (SIDE == RIGHT) z[i] = d0[e] * sum;
    }
  }
}

template <Side SIDE>
static __global__ void __launch_bounds__(SYS_THREADS) FusedBiShadowKernel(const FusedShared shared, int64_t n, SysReal *v, const SysReal *q, const SysReal *d)
{
  const FusedNow now    = FusedLook(shared.state);
  SysReal        sum[1] = {0};

  for (int64_t k = FUSED_FIRST; k < n; k += FUSED_AT_ONCE * FUSED_STRIDE) {
    SysReal v0[FUSED_AT_ONCE], q0[FUSED_AT_ONCE], d0[FUSED_AT_ONCE];

    FusedRead(v, k, n, v0);
    FusedRead(q, k, n, q0);
    if (SIDE == LEFT) FusedRead(d, k, n, d0);
    if (now.stop) break;
#pragma unroll
    for (int e = 0; e < FUSED_AT_ONCE; e++) {
      if (SIDE == LEFT) {
        v0[e] *= d0[e];
        if (k + e * FUSED_STRIDE < n) v[k + e * FUSED_STRIDE] = v0[e];
      }
      sum[0] += v0[e] * q0[e];
    }
  }
  if (now.stop || !FusedGridSum<1>(shared, sum)) return;
  shared.state->dpi = sum[0];
  if (!isfinite(sum[0])) shared.state->stop = FUSED_STOP_DPI;
  else if (sum[0] == 0) shared.state->stop = FUSED_STOP_MAT;
  else shared.state->a = now.beta / sum[0];
}

template <Side SIDE>
static __global__ void __launch_bounds__(SYS_THREADS) FusedBiHalfKernel(const FusedState *state, int64_t n, SysReal *r, const SysReal *v, SysReal *z, const SysReal *d)
{
  const SysReal a    = __ldcg(&state->a);
  const int     stop = __ldcg(&state->stop);

  for (int64_t k = FUSED_FIRST; k < n; k += FUSED_AT_ONCE * FUSED_STRIDE) {
    SysReal r0[FUSED_AT_ONCE], v0[FUSED_AT_ONCE], d0[FUSED_AT_ONCE];

    FusedRead(r, k, n, r0);
    FusedRead(v, k, n, v0);
    if (SIDE == RIGHT) FusedRead(d, k, n, d0);
    if (stop) return;
#pragma unroll
    for (int e = 0; e < FUSED_AT_ONCE; e++) {
      const int64_t i = k + e * FUSED_STRIDE;

      if (i >= n) break;
      r0[e] -= a * v0[e];
      r[i] = r0[e];
      if (SIDE == RIGHT) z[i] = d0[e] * r0[e];
    }
  }
}

template <Side SIDE>
static __global__ void __launch_bounds__(SYS_THREADS) FusedBiDotsKernel(const FusedShared shared, int64_t n, SysReal *t, const SysReal *r, const SysReal *d)
{
  const FusedNow now    = FusedLook(shared.state);
  SysReal        sum[3] = {0};

  for (int64_t k = FUSED_FIRST; k < n; k += FUSED_AT_ONCE * FUSED_STRIDE) {
    SysReal t0[FUSED_AT_ONCE], r0[FUSED_AT_ONCE], d0[FUSED_AT_ONCE];

    FusedRead(t, k, n, t0);
    FusedRead(r, k, n, r0);
    if (SIDE == LEFT) FusedRead(d, k, n, d0);
    if (now.stop) break;
#pragma unroll
    for (int e = 0; e < FUSED_AT_ONCE; e++) {
      if (SIDE == LEFT) {
        t0[e] *= d0[e];
        if (k + e * FUSED_STRIDE < n) t[k + e * FUSED_STRIDE] = t0[e];
      }
      sum[0] += t0[e] * r0[e];
      sum[1] += t0[e] * t0[e];
      sum[2] += r0[e] * r0[e];
    }
  }
  if (now.stop || !FusedGridSum<3>(shared, sum)) return;
  shared.state->rr = sum[2];
  if (sum[1] == 0) shared.state->stop = FUSED_STOP_LAST;
  else shared.state->omega = sum[0] / sum[1];
}

static __device__ void FusedFinishBiStep(FusedState *state, const FusedNow &now, FusedNorm kind, const SysReal sum[2])
{
  const SysReal norm = kind == FUSED_NORM_NONE ? 0 : sqrt(sum[1]);

  state->norm = norm;
  if (!isfinite(norm)) {
    state->stop = FUSED_STOP_NORM;
    return;
  }
  state->betaold                          = now.beta;
  state->beta                             = sum[0];
  state->history[now.its % FUSED_HISTORY] = norm;
  state->its                              = now.its + 1;
  if (kind != FUSED_NORM_NONE && (norm <= now.least || norm >= now.most)) state->stop = FUSED_STOP_TEST;
  else if (now.beta == 0) state->stop = FUSED_STOP_ZERO;
  else if (now.its + 1 >= now.max_it) state->stop = FUSED_STOP_TEST;
  else FusedBiNext(state, sum[0], now.beta, now.a, now.omega);
}

static __global__ void __launch_bounds__(SYS_THREADS) FusedBiStepKernel(const FusedShared shared, FusedNorm norm, int64_t n, SysReal *x, SysReal *r, const SysReal *p, const SysReal *t, const SysReal *q)
{
  const FusedNow now    = FusedLook(shared.state);
  SysReal        sum[2] = {0};

  for (int64_t k = FUSED_FIRST; k < n; k += FUSED_AT_ONCE * FUSED_STRIDE) {
    SysReal x0[FUSED_AT_ONCE], r0[FUSED_AT_ONCE], p0[FUSED_AT_ONCE], t0[FUSED_AT_ONCE], q0[FUSED_AT_ONCE];

    FusedRead(x, k, n, x0);
    FusedRead(r, k, n, r0);
    FusedRead(p, k, n, p0);
    FusedRead(t, k, n, t0);
    FusedRead(q, k, n, q0);
    if (now.stop) break;
#pragma unroll
    for (int e = 0; e < FUSED_AT_ONCE; e++) {
      const int64_t i = k + e * FUSED_STRIDE;
      SysReal       s;

      if (i >= n) break;
      s    = r0[e] - now.omega * t0[e];
      x[i] = x0[e] + now.a * p0[e] + now.omega * r0[e];
      r[i] = s;
      sum[0] += s * q0[e];
      sum[1] += s * s;
    }
  }
  if (now.stop || !FusedGridSum<2>(shared, sum)) return;
  FusedFinishBiStep(shared.state, now, norm, sum);
}

static __global__ void FusedBiApplyKernel(const FusedState *state, int64_t n, const SysReal *from, SysReal *to, const SysReal *d)
{
  if (state->stop != FUSED_STOP_TEST) return;
  SYS_FOR_EACH(k, n) to[k] = d[k] * from[k];
}

static __global__ void FusedBiResumeKernel(FusedState *state)
{
  if (state->stop != FUSED_STOP_TEST) return;
  if (state->betaold == 0) state->stop = FUSED_STOP_ZERO;
  else FusedBiNext(state, state->beta, state->betaold, state->a, state->omega);
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

SysStatus FusedDeviceBiDirection(FusedDevice *f, const FusedPass *pass, SysStream stream)
{
  SysReal *const *v = pass->v;

  if (FusedSide(pass) == RIGHT) LAUNCH(FusedBiDirectionKernel<RIGHT>, f->shared.state, pass->n, v[FUSED_R], v[FUSED_V], v[FUSED_P], v[FUSED_Z], pass->d);
  else LAUNCH(FusedBiDirectionKernel<PLAIN>, f->shared.state, pass->n, v[FUSED_R], v[FUSED_V], v[FUSED_P], NULL, NULL);
  return SYS_SUCCESS;
}

SysStatus FusedDeviceBiShadow(FusedDevice *f, const FusedPass *pass, SysStream stream)
{
  SysReal *const *v = pass->v;

  if (FusedSide(pass) == LEFT) LAUNCH(FusedBiShadowKernel<LEFT>, f->shared, pass->n, v[FUSED_V], v[FUSED_Q], pass->d);
  else LAUNCH(FusedBiShadowKernel<PLAIN>, f->shared, pass->n, v[FUSED_V], v[FUSED_Q], NULL);
  return SYS_SUCCESS;
}

SysStatus FusedDeviceBiHalf(FusedDevice *f, const FusedPass *pass, SysStream stream)
{
  SysReal *const *v = pass->v;

  if (FusedSide(pass) == RIGHT) LAUNCH(FusedBiHalfKernel<RIGHT>, f->shared.state, pass->n, v[FUSED_R], v[FUSED_V], v[FUSED_Z], pass->d);
  else LAUNCH(FusedBiHalfKernel<PLAIN>, f->shared.state, pass->n, v[FUSED_R], v[FUSED_V], NULL, NULL);
  return SYS_SUCCESS;
}

SysStatus FusedDeviceBiDots(FusedDevice *f, const FusedPass *pass, SysStream stream)
{
  SysReal *const *v = pass->v;

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

SysStatus FusedDeviceBiResumeBegin(FusedDevice *f, const FusedPass *pass, SysStream stream)
{
  if (FusedSide(pass) == RIGHT) LAUNCH(FusedBiApplyKernel, f->shared.state, pass->n, pass->v[FUSED_P], pass->v[FUSED_Z], pass->d);
  return SYS_SUCCESS;
}

SysStatus FusedDeviceBiResumeEnd(FusedDevice *f, const FusedPass *pass, SysStream stream)
{
  if (FusedSide(pass) == LEFT) LAUNCH(FusedBiApplyKernel, f->shared.state, pass->n, pass->v[FUSED_V], pass->v[FUSED_V], pass->d);
  FusedBiResumeKernel<<<1, 1, 0, stream>>>(f->shared.state);
  SYS_CUDA(cudaGetLastError());
  return SYS_SUCCESS;
}
