/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The passes of conjugate gradients on a CUDA device

   A pass with sums writes one sum a thread block. In the next pass, every thread block adds up all of them: this costs a read of some kilobytes, and saves the
   wait for a last thread block. So all thread blocks compute the same state of the iteration, and the first one stores it for the pass after that. There are two
   states in memory, since other thread blocks may still read the old one: a pass reads one and writes the other. In the form with a single reduction a pass adds up
   the sums of the last pass and writes new ones, so that there are two arrays of sums as well.

   A pass may start while the last kernel in the stream still runs. Until SysWait() it reads nothing but M.
*/
#include <stddef.h>

#include "ksp/ksp/impls/fused/fusedcuda.cuh"

#define PASS_THREADS    512
#define PASS_GRID       264 /* most thread blocks: about as many as a large GPU runs at a time; the same on all GPUs, for the same bits */
#define PASS_WARPS      (PASS_THREADS / SYS_WARP)
#define FUSED_SUMS_MOST 4096 /* most sums that each thread block of a pass adds up */
#define FOLDED          64   /* partial sums after a fold of more than FUSED_SUMS_MOST */

static_assert(2 * PASS_GRID < FUSED_LEFT && PASS_GRID >= FOLDED, "room for the sums of a pass");
static_assert(FUSED_BLOCKS_MAX <= PASS_THREADS, "a thread for each row of a block of M");

/* The memory for the sums of a pass. With several processes the last thread block adds them up, in mine. */
typedef struct {
  SysReal  *sum, *mine; /* mine: NULL with one process */
  unsigned *arrived;
} FusedLeft;

/* The input from the previous pass, and the output for the next one */
struct FusedLink {
  SysReal    *history; /* in the state that goes to the host */
  FusedState *from, *to;
  FusedParts  step, dot; /* sums to add up: z.r and the sums of the norm; p.w */
  FusedLeft   left;      /* memory for the sums of this pass */
  FusedNorm   norm;
};

/* ------------------------------------------------- the numbers of an iteration ------------------------------------------------- */

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

  state->pending   = 0;
  state->norm      = norm;
  state->betaold   = state->beta;
  state->beta      = sum[0];
  state->objective = state->objective - (SysReal)0.5 * state->a * state->betaold;
  if (!isfinite(norm)) {
    state->stop = FUSED_STOP_NORM;
    return;
  }
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
  state->pending   = 0;
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

/* In the form with a single reduction: from z.s */
static __device__ void FusedFinishDelta(FusedState *state, SysReal delta)
{
  const SysReal old = state->dpi, ratio = state->beta / state->betaold;

  state->dpiold = old;
  state->dpi    = state->its > 0 ? delta - ratio * ratio * old : delta;
  if (state->dpi == 0 || (state->its > 0 && state->dpi * old <= 0)) state->stop = FUSED_STOP_MAT;
  else state->a = state->beta / state->dpi;
}

/* ------------------------------------------------- sums and states ------------------------------------------------- */

/* The sums of all threads of a thread block, in thread 0 */
template <int SUMS>
static __device__ inline void FusedPassSum(SysReal sum[SUMS])
{
  __shared__ SysReal all[SUMS][PASS_WARPS];
  const unsigned     lane = threadIdx.x % SYS_WARP, warp = threadIdx.x / SYS_WARP;

  for (int s = 0; s < SUMS; s++) {
    for (unsigned d = SYS_WARP / 2; d; d /= 2) sum[s] += __shfl_xor_sync(SYS_ALL_LANES, sum[s], d);
    if (lane == 0) all[s][warp] = sum[s];
  }
  __syncthreads();
  if (warp) return;
  for (int s = 0; s < SUMS; s++) {
    sum[s] = lane < PASS_WARPS ? all[s][lane] : 0;
    for (unsigned d = PASS_WARPS / 2; d; d /= 2) sum[s] += __shfl_xor_sync(SYS_ALL_LANES, sum[s], d);
  }
}

/* Adds a thread's part of the sums */
template <int SUMS>
static __device__ inline void FusedPartsOf(const FusedParts &parts, int64_t first, int64_t end, SysReal sum[SUMS])
{
  for (int s = 0; s < SUMS; s++) sum[s] = 0;
#pragma unroll 8
  for (int64_t k = first + threadIdx.x; k < end; k += PASS_THREADS) {
    for (int s = 0; s < SUMS; s++) sum[s] += parts.sum[parts.stride * k + s];
  }
}

/* Ends a pass: stores the sums of the thread block, from thread 0 */
template <int SUMS>
static __device__ inline void FusedPassStoreSums(const FusedLeft &left, SysReal sum[SUMS])
{
  __shared__ bool last;

  for (int s = 0; s < SUMS && threadIdx.x == 0; s++) left.sum[SUMS * blockIdx.x + s] = sum[s];
  if (!left.mine) return;
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(left.arrived, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  FusedPartsOf<SUMS>({left.sum, gridDim.x, SUMS}, 0, gridDim.x, sum);
  FusedPassSum<SUMS>(sum);
  if (threadIdx.x) return;
  for (int s = 0; s < SUMS; s++) left.mine[s] = sum[s];
  *left.arrived = 0;
}

#define STATE_WORDS (int)(offsetof(FusedState, history) / sizeof(int))
static_assert(STATE_WORDS <= PASS_THREADS, "a thread for each word of the state");

/* Brings the state up to date, in s of each thread block: with the sums of the last step, then of the last product */
template <bool STEP, bool DOT, bool SINGLE>
static __device__ inline void FusedAdvance(const FusedLink &l, FusedState *s)
{
  const volatile FusedState *flags = s; /* read by thread 0 alone: the compiler would have its warp read them ahead */
  SysReal                    sum[(STEP ? 2 : 0) + (DOT ? 1 : 0)];

  if (threadIdx.x < STATE_WORDS) ((int *)s)[threadIdx.x] = ((const int *)l.from)[threadIdx.x];
  if (STEP) FusedPartsOf<2>(l.step, 0, l.step.n, sum);
  if (DOT) FusedPartsOf<1>(l.dot, 0, l.dot.n, sum + (STEP ? 2 : 0));
  FusedPassSum<(STEP ? 2 : 0) + (DOT ? 1 : 0)>(sum);
  if (threadIdx.x == 0) {
    if (STEP && !flags->stop && flags->pending) {
      FusedFinishStep(s, l.norm, sum);
      if (blockIdx.x == 0 && s->stop != FUSED_STOP_NORM) l.history[(s->its - 1) % FUSED_HISTORY] = s->norm;
    }
    if (DOT && !flags->stop) {
      if (SINGLE) FusedFinishDelta(s, sum[STEP ? 2 : 0]);
      else FusedFinishDot(s, sum[STEP ? 2 : 0]);
      s->pending = !s->stop;
    }
  }
  __syncthreads();
  if (blockIdx.x == 0 && threadIdx.x < STATE_WORDS) ((int *)l.to)[threadIdx.x] = ((const int *)s)[threadIdx.x];
}

/* ------------------------------------------------- passes ------------------------------------------------- */

/* The loops of passes go over tiles of TILE entries. The first tile is loaded before the state is known. */
#define EACH(u, k) _Pragma("unroll") for (int u = 0; u < U; u++) if (const int64_t k = base + u * PASS_THREADS + threadIdx.x; k < n)
#define TILES(LOAD, WORK) \
  for (;;) { \
    WORK; \
    base += (int64_t)gridDim.x * U * PASS_THREADS; \
    if (base >= n) break; \
    LOAD; \
  }

template <int U>
static __global__ void __launch_bounds__(PASS_THREADS, 2) FusedDirectionKernel(const FusedLink l, int64_t n, const SysReal *z, SysReal *p)
{
  __shared__ FusedState s;
  int64_t               base = (int64_t)blockIdx.x * U * PASS_THREADS;
  SysReal               z0[U], p0[U], b;

  SysLaunchDependents();
  SysWait();
#define LOAD \
  EACH(u, k) \
  { \
    z0[u] = z[k]; \
    p0[u] = p[k]; \
  }
  LOAD;
  FusedAdvance<true, false, false>(l, &s);
  if (s.stop) return;
  b = s.b;
  TILES(LOAD, EACH(u, k) p[k] = b == 0 ? z0[u] : z0[u] + b * p0[u])
#undef LOAD
}

template <int U>
static __global__ void __launch_bounds__(PASS_THREADS, 2) FusedDotKernel(const FusedLeft left, int64_t n, const SysReal *p, const SysReal *w)
{
  int64_t base   = (int64_t)blockIdx.x * U * PASS_THREADS;
  SysReal sum[1] = {0}, p0[U], w0[U];

  SysLaunchDependents();
  SysWait();
#define LOAD \
  EACH(u, k) \
  { \
    p0[u] = p[k]; \
    w0[u] = w[k]; \
  }
  LOAD;
  TILES(LOAD, EACH(u, k) sum[0] += p0[u] * w0[u])
#undef LOAD
  FusedPassSum<1>(sum);
  FusedPassStoreSums<1>(left, sum);
}

/* The step, or the pass of the form with a single reduction. w and z may be the same array in the former. */
template <FusedKind KIND, bool SINGLE, int U>
static __global__ void __launch_bounds__(PASS_THREADS, 2) FusedStepKernel(const FusedLink l, int64_t n, SysReal *x, SysReal *r, SysReal *z, SysReal *p, SysReal *w, const SysReal *t, const SysReal *d)
{
  __shared__ FusedState s;
  int64_t               base   = (int64_t)blockIdx.x * U * PASS_THREADS;
  SysReal               sum[2] = {0, 0}, x0[U], r0[U], z0[U], p0[U], w0[U], t0[U], d0[U], a, b;

  SysLaunchDependents();
  SysWait();
#define LOAD \
  EACH(u, k) \
  { \
    x0[u] = x[k]; \
    r0[u] = r[k]; \
    p0[u] = p[k]; \
    w0[u] = w[k]; \
    if (SINGLE) z0[u] = z[k]; \
    if (SINGLE) t0[u] = t[k]; \
    if (KIND == FUSED_POINT) d0[u] = d[k]; \
  }
  LOAD;
  FusedAdvance<SINGLE, true, SINGLE>(l, &s);
  if (s.stop) return;
  a = s.a;
  b = s.b;
#define WORK \
  EACH(u, k) \
  { \
    if (SINGLE) { \
      p0[u] = b == 0 ? z0[u] : z0[u] + b * p0[u]; \
      w0[u] = b == 0 ? t0[u] : t0[u] + b * w0[u]; \
      p[k]  = p0[u]; \
      w[k]  = w0[u]; \
    } \
    r0[u] -= a * w0[u]; \
    r[k]  = r0[u]; \
    x[k]  = x0[u] + a * p0[u]; \
    z0[u] = r0[u]; \
    if (KIND == FUSED_POINT) { \
      z0[u] *= d0[u]; \
      z[k] = z0[u]; \
    } \
    sum[0] += z0[u] * r0[u]; \
    sum[1] += l.norm == FUSED_NORM_R ? r0[u] * r0[u] : z0[u] * z0[u]; \
  }
  TILES(LOAD, WORK)
#undef LOAD
#undef WORK
  FusedPassSum<2>(sum);
  FusedPassStoreSums<2>(l.left, sum);
}

/* The same with dense blocks of M: a thread block takes whole blocks, and hands the residual around in shared memory */
template <bool SINGLE>
static __global__ void __launch_bounds__(PASS_THREADS, 2) FusedStepBlocksKernel(const FusedLink l, int64_t n, int bs, SysReal *x, SysReal *r, SysReal *z, SysReal *p, SysReal *w, const SysReal *t, const SysReal *d)
{
  __shared__ FusedState s;
  __shared__ SysReal    all[PASS_THREADS];
  const int             tile = PASS_THREADS / bs * bs, me = (int)threadIdx.x, first = me - me % bs;
  SysReal               sum[2] = {0, 0}, a, b;

  SysLaunchDependents();
  SysWait();
  FusedAdvance<SINGLE, true, SINGLE>(l, &s);
  if (s.stop) return;
  a = s.a;
  b = s.b;
  for (int64_t base = (int64_t)blockIdx.x * tile; base < n; base += (int64_t)gridDim.x * tile) {
    const int64_t k    = base + me;
    const bool    mine = me < tile && k < n;
    SysReal       r0 = 0, z0 = 0;

    if (mine) {
      SysReal p0 = p[k], w0 = w[k];

      if (SINGLE) {
        p0   = b == 0 ? z[k] : z[k] + b * p0;
        w0   = b == 0 ? t[k] : t[k] + b * w0;
        p[k] = p0;
        w[k] = w0;
      }
      r0   = r[k] - a * w0;
      r[k] = r0;
      x[k] += a * p0;
      all[me] = r0;
    }
    __syncthreads();
    if (mine) {
      for (int j = 0; j < bs; j++) z0 += d[j * n + k] * all[first + j];
      z[k] = z0;
    }
    __syncthreads();
    sum[0] += z0 * r0;
    sum[1] += l.norm == FUSED_NORM_R ? r0 * r0 : z0 * z0;
  }
  FusedPassSum<2>(sum);
  FusedPassStoreSums<2>(l.left, sum);
}

/* Adds up sums; each: the sums a thread block */
template <int SUMS>
static __global__ void __launch_bounds__(PASS_THREADS) FusedFoldKernel(const FusedParts parts, int64_t each, const FusedLeft left)
{
  const int64_t first = each * blockIdx.x;
  SysReal       sum[SUMS];

  SysLaunchDependents();
  SysWait();
  FusedPartsOf<SUMS>(parts, first, first + each < parts.n ? first + each : parts.n, sum);
  FusedPassSum<SUMS>(sum);
  FusedPassStoreSums<SUMS>(left, sum);
}

/* Brings the state up to date after the last step that is queued, and leaves one number of the last product, wherever its sums are: the next pass may be a recorded one,
   which reads the same copy each time */
static __global__ void __launch_bounds__(PASS_THREADS) FusedCloseKernel(const FusedLink l)
{
  __shared__ FusedState s;
  SysReal               dot[1];

  SysWait();
  FusedPartsOf<1>(l.dot, 0, l.dot.n, dot);
  FusedPassSum<1>(dot);
  if (threadIdx.x == 0) *l.left.sum = dot[0];
  FusedAdvance<true, false, false>(l, &s);
}

/* z = M r for entry k */
static __device__ inline SysReal FusedApplied(const FusedPass &f, int64_t k)
{
  const int64_t first = k - k % f.bs;
  SysReal       sum   = 0;

  if (f.kind == FUSED_NONE) return f.v[FUSED_R][k];
  if (f.kind == FUSED_POINT) return f.d[k] * f.v[FUSED_R][k];
  for (int j = 0; j < f.bs; j++) sum += f.d[j * f.n + k] * f.v[FUSED_R][first + j];
  return sum;
}

static __global__ void __launch_bounds__(SYS_THREADS) FusedStartKernel(const FusedShared shared, FusedNorm norm, const FusedPass f)
{
  SysReal sum[2] = {0, 0};

  SYS_FOR_EACH(k, f.n)
  {
    const SysReal r0 = f.v[FUSED_R][k], z0 = FusedApplied(f, k);

    if (f.kind != FUSED_NONE) f.v[FUSED_Z][k] = z0;
    sum[0] += z0 * r0;
    sum[1] += norm == FUSED_NORM_R ? r0 * r0 : z0 * z0;
  }
  if (FusedGridSum<2>(shared, sum)) FusedFinishStart(shared.state, norm, sum);
}

/* Ends a start after the exchange of sums */
static __global__ void FusedFinishStartKernel(FusedState *state, FusedNorm norm, const SysReal *all, int nproc)
{
  SysReal sum[FUSED_DEVICE_SUMS];

  FusedGathered(all, nproc, sum);
  if (threadIdx.x == 0) FusedFinishStart(state, norm, sum);
}

static __global__ void FusedLimitsKernel(FusedState *state, SysReal least, SysReal most, int max_it)
{
  state->least  = least;
  state->most   = most;
  state->max_it = max_it;
}

static __global__ void FusedApplyKernel(const FusedState *state, const FusedPass f)
{
  if (state->stop != FUSED_STOP_TEST) return;
  SYS_FOR_EACH(k, f.n) f.v[FUSED_Z][k] = FusedApplied(f, k);
}

static __global__ void FusedResumeKernel(FusedState *state)
{
  if (state->stop == FUSED_STOP_TEST) FusedNext(state);
}

/* ------------------------------------------------- launches ------------------------------------------------- */

/* Launches a kernel that waits for the previous one by SysWait(). Between kernels of NCCL none starts early. */
template <typename... P, typename... Q>
static SysStatus FusedLaunch(const FusedDevice *f, void (*kernel)(P...), unsigned grid, cudaStream_t stream, Q... args)
{
  return SysLaunchEarly(kernel, grid, PASS_THREADS, stream, f->early && f->nproc <= 1, args...);
}

#define DEEP 2 /* entries of a thread at a time, of long vectors */
static bool FusedDeep(int64_t n)
{
  return n > PASS_GRID * PASS_THREADS;
}

/* Thread blocks for tiles of so many entries */
static unsigned FusedPassGrid(int64_t n, int64_t tile)
{
  const int64_t blocks = (n + tile - 1) / tile;

  return (unsigned)(blocks < 1 ? 1 : blocks < PASS_GRID ? blocks : PASS_GRID);
}

static unsigned FusedGridOf(const FusedPass *pass)
{
  return FusedPassGrid(pass->n, FusedDeep(pass->n) ? DEEP * PASS_THREADS : PASS_THREADS);
}

/* Returns the memory for the sums of a pass; first: the index in mine, where sums of products follow the sums of steps */
static FusedLeft FusedLeftOf(const FusedDevice *f, SysReal *sum, int first)
{
  return {sum, f->shared.mine ? f->shared.mine + first : NULL, f->shared.arrived};
}

/* Returns the sums that the next pass adds up: one a thread block, or with several processes the gathered ones */
template <int SUMS>
static FusedParts FusedPartsLeft(const FusedDevice *f, const SysReal *sum, int64_t n)
{
  if (!f->shared.mine) return {sum, n, SUMS};
  return {f->gathered + FUSED_DEVICE_SUMS + (SUMS == 1 ? 2 : 0), f->nproc, FUSED_DEVICE_SUMS};
}

/* Swaps the two states */
static FusedLink FusedLinkOf(FusedDevice *f, FusedNorm norm)
{
  FusedLink l = {f->shared.state->history, f->state[f->at], f->state[1 - f->at], f->step, f->dot, FusedLeftOf(f, f->left[f->at], 0), norm};

  f->at = 1 - f->at;
  return l;
}

SysStatus FusedDeviceStart(FusedDevice *f, const FusedPass *pass, FusedNorm norm, SysStream stream)
{
  f->at   = 0;
  f->step = {f->left[0], 0, 2};
  return SysLaunch(FusedStartKernel, FusedGrid(pass->n), SYS_THREADS, 0, stream, f->shared, norm, *pass);
}

SysStatus FusedDeviceFinishStart(FusedDevice *f, FusedNorm norm, SysStream stream)
{
  return SysLaunch(FusedFinishStartKernel, 1, SYS_WARP, 0, stream, f->shared.state, norm, f->gathered + FUSED_DEVICE_SUMS, f->nproc);
}

SysStatus FusedDeviceLimits(FusedDevice *f, SysReal least, SysReal most, int max_it, SysStream stream)
{
  return SysLaunch(FusedLimitsKernel, 1, 1, 0, stream, f->shared.state, least, most, max_it);
}

SysStatus FusedDeviceDirection(FusedDevice *f, const FusedPass *pass, FusedNorm norm, SysStream stream)
{
  const FusedLink l = FusedLinkOf(f, norm);

  if (FusedDeep(pass->n)) return FusedLaunch(f, FusedDirectionKernel<2 * DEEP>, FusedGridOf(pass), stream, l, pass->n, pass->v[FUSED_Z], pass->v[FUSED_P]);
  return FusedLaunch(f, FusedDirectionKernel<1>, FusedGridOf(pass), stream, l, pass->n, pass->v[FUSED_Z], pass->v[FUSED_P]);
}

SysStatus FusedDeviceDot(FusedDevice *f, const FusedPass *pass, FusedVector a, FusedVector b, SysStream stream)
{
  const unsigned  grid = FusedGridOf(pass);
  const FusedLeft left = FusedLeftOf(f, f->left[2], 2);

  if (FusedDeep(pass->n)) SYS_CALL(FusedLaunch(f, FusedDotKernel<2 * DEEP>, grid, stream, left, pass->n, pass->v[a], pass->v[b]));
  else SYS_CALL(FusedLaunch(f, FusedDotKernel<1>, grid, stream, left, pass->n, pass->v[a], pass->v[b]));
  f->dot = FusedPartsLeft<1>(f, left.sum, grid);
  return SYS_SUCCESS;
}

SysStatus FusedDeviceRoom(FusedDevice *f, int64_t n, SysReal **parts)
{
  if (n > f->room) {
    SYS_CUDA(cudaFree(f->parts));
    f->parts = NULL;
    f->room  = 0;
    SYS_CALL(SysDeviceAllocate(&f->parts, (size_t)n * sizeof(SysReal)));
    f->room = n;
  }
  *parts = f->parts;
  return SYS_SUCCESS;
}

SysStatus FusedDeviceDotMade(FusedDevice *f, int64_t n, SysStream stream)
{
  const unsigned  grid = n > FUSED_SUMS_MOST ? FOLDED : 1;
  const FusedLeft left = FusedLeftOf(f, f->left[2], 2);

  f->dot = {f->parts, n, 1};
  if (n <= FUSED_SUMS_MOST && !left.mine) return SYS_SUCCESS;
  SYS_CALL(FusedLaunch(f, FusedFoldKernel<1>, grid, stream, f->dot, (n + grid - 1) / grid, left));
  f->dot = FusedPartsLeft<1>(f, left.sum, grid);
  return SYS_SUCCESS;
}

template <bool SINGLE>
static SysStatus FusedStepLaunch(FusedDevice *f, const FusedPass *pass, FusedNorm norm, cudaStream_t stream)
{
  const FusedLink l    = FusedLinkOf(f, norm);
  SysReal *const *v    = pass->v;
  unsigned        grid = FusedGridOf(pass);

#define STEP(KIND, U) FusedLaunch(f, FusedStepKernel<KIND, SINGLE, U>, grid, stream, l, pass->n, v[FUSED_X], v[FUSED_R], v[FUSED_Z], v[FUSED_P], v[FUSED_W], v[FUSED_S], pass->d)
  if (pass->kind == FUSED_BLOCKS) {
    grid = FusedPassGrid(pass->n, PASS_THREADS / pass->bs * pass->bs);
    SYS_CALL(FusedLaunch(f, FusedStepBlocksKernel<SINGLE>, grid, stream, l, pass->n, pass->bs, v[FUSED_X], v[FUSED_R], v[FUSED_Z], v[FUSED_P], v[FUSED_W], v[FUSED_S], pass->d));
  } else if (FusedDeep(pass->n)) SYS_CALL(pass->kind == FUSED_POINT ? STEP(FUSED_POINT, DEEP) : STEP(FUSED_NONE, DEEP));
  else SYS_CALL(pass->kind == FUSED_POINT ? STEP(FUSED_POINT, 1) : STEP(FUSED_NONE, 1));
#undef STEP
  f->step = FusedPartsLeft<2>(f, l.left.sum, grid);
  return SYS_SUCCESS;
}

SysStatus FusedDeviceStep(FusedDevice *f, const FusedPass *pass, FusedNorm norm, SysStream stream)
{
  return FusedStepLaunch<false>(f, pass, norm, stream);
}

SysStatus FusedDeviceSingle(FusedDevice *f, const FusedPass *pass, FusedNorm norm, SysStream stream)
{
  return FusedStepLaunch<true>(f, pass, norm, stream);
}

/* One thread block, which may overwrite the state that it has read */
SysStatus FusedDeviceClose(FusedDevice *f, FusedNorm norm, SysStream stream)
{
  FusedLink l = FusedLinkOf(f, norm);

  l.to   = f->shared.state;
  l.left = FusedLeftOf(f, f->left[2] + FUSED_LEFT - 1, 0);
  f->at  = 0;
  f->dot = {l.left.sum, 1, 1};
  return FusedLaunch(f, FusedCloseKernel, 1, stream, l);
}

SysStatus FusedDeviceResume(FusedDevice *f, const FusedPass *pass, SysStream stream)
{
  if (pass->kind != FUSED_NONE) { SYS_CALL(SysLaunch(FusedApplyKernel, FusedGrid(pass->n), SYS_THREADS, 0, stream, f->shared.state, *pass)); }
  return SysLaunch(FusedResumeKernel, 1, 1, 0, stream, f->shared.state);
}
