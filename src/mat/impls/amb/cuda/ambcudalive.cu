/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Chooses the kernel during the solver's own products: it runs one kernel after the other and times each between two events.

   All kernels and thread block sizes add in the same order, so the choice never changes bits. Nothing is laid out or allocated, and the host never
   waits: it may be many products ahead of the device, so each timed product has two events until the device has passed them. After the last timed
   product the fastest kernel stays.

   ambhost.h has the idea.
*/
#include <stdlib.h>

#include "sys/systuning.h"
#include "mat/impls/amb/cuda/ambcuda.cuh"

#define AMB_LIVE_PRODUCTS (AMB_LIVE_KERNELS * AMB_LIVE_ROUNDS)

typedef struct {
  int   threads, deep;
  float least; /* milliseconds of the shortest product, or 0 */
} Kernel;

struct _AmbLive {
  cudaEvent_t event[AMB_LIVE_PRODUCTS][2]; /* created on demand */
  int         made[AMB_LIVE_PRODUCTS];     /* the kernels of timed products whose time is still unknown, in order */
  int         begun, taken;                /* number of timed products, and of times read */
  Kernel      kernel[AMB_LIVE_KERNELS];    /* the model's choice first */
  int         n, k, round;                 /* index of the next product to time */
  int         kind;                        /* of the first product; only products of this kind are timed */
  int         state;                       /* storage of values to which the times belong */
};

/* Returns a number for the storage of values, which selects the kernels */
static int AmbLiveState(const AmbDevice *A)
{
  return 2 * (int)A->stored.stored + (A->stencil.n > 0);
}

static void AmbLiveRestart(AmbDevice *A)
{
  AmbLive *L = A->live;

  for (int k = 0; k < L->n; k++) L->kernel[k].least = 0;
  L->k = L->round = L->begun = L->taken = 0;
  L->kind                               = -1;
  L->state                              = AmbLiveState(A);
  A->info.live                          = 0;
}

/* Starts the choice; fixed: the caller sets the thread block size. Without memory the model's kernel stays. */
void AmbLiveCreate(AmbDevice *A, bool fixed)
{
  static const int sizes[] = {64, 128, 256};
  AmbLive         *L       = (AmbLive *)calloc(1, sizeof(*L));

  if (!L) return;
  L->kernel[L->n++] = {A->info.threads, A->deep, 0};
  if (fixed) L->kernel[L->n++] = {A->info.threads, !A->deep, 0};
  for (int deep = 0; deep < 2 && !fixed; deep++) {
    for (int size : sizes) {
      if (size != A->info.threads || deep != A->deep) L->kernel[L->n++] = {size, deep, 0};
    }
  }
  A->live = L;
  AmbLiveRestart(A);
}

void AmbLiveDestroy(AmbDevice *A)
{
  AmbLive *L = A->live;

  if (!L) return;
  for (auto &pair : L->event) {
    for (cudaEvent_t e : pair) {
      if (e) (void)cudaEventDestroy(e);
    }
  }
  free(L);
  A->live      = NULL;
  A->info.live = 0;
}

static const Kernel *AmbLiveBest(const AmbLive *L)
{
  const Kernel *best = L->kernel;

  for (int k = 1; k < L->n; k++) {
    const float limit = best == L->kernel ? fminf((float)SYS_TUNE_GAIN * best->least, best->least - (float)AMB_LIVE_TICK) : best->least;

    if (L->kernel[k].least > 0 && L->kernel[k].least < limit) best = L->kernel + k;
  }
  return best;
}

/* Returns whether the current kernel was AMB_LIVE_FAR times slower than the best in two rounds; false without times */
static bool AmbLiveFar(const AmbLive *L)
{
  return L->k && L->round >= 2 && L->round < AMB_LIVE_ROUNDS && L->kernel[L->k].least > AMB_LIVE_FAR * AmbLiveBest(L)->least;
}

static void AmbLiveNext(AmbLive *L)
{
  if (++L->k < L->n) return;
  L->k = 0;
  L->round++;
}

/* Reads the available times and drops kernels that are too slow; after the last time sets the best kernel and ends the choice */
static void AmbLiveTake(AmbDevice *A)
{
  AmbLive *L = A->live;

  for (; L->taken < L->begun; L->taken++) {
    const cudaEvent_t *event  = L->event[L->taken];
    Kernel            *kernel = L->kernel + L->made[L->taken];
    cudaError_t        met    = cudaEventQuery(event[1]);
    float              time;

    if (met == cudaSuccess) met = cudaEventElapsedTime(&time, event[0], event[1]);
    if (met != cudaSuccess) (void)cudaGetLastError();
    if (met == cudaErrorNotReady) break;
    if (met != cudaSuccess) {
      AmbLiveDestroy(A);
      return;
    }
    A->info.tried++;
    if (kernel->least == 0 || time < kernel->least) kernel->least = time;
  }
  while (AmbLiveFar(L)) AmbLiveNext(L);
  if (L->taken < L->begun) return;
  L->taken = L->begun = 0;
  if (L->round < AMB_LIVE_ROUNDS) return;
  A->info.threads = AmbLiveBest(L)->threads;
  A->deep         = AmbLiveBest(L)->deep;
  AmbLiveDestroy(A);
}

/* Records the first event of the next product to be timed */
static bool AmbLiveRecord(AmbLive *L, cudaStream_t stream)
{
  cudaEvent_t *event = L->event[L->begun];
  bool         done  = true;

  for (int e = 0; e < 2 && done; e++) done = event[e] || cudaEventCreate(&event[e]) == cudaSuccess;
  if (done && cudaEventRecord(event[0], stream) == cudaSuccess) return true;
  (void)cudaGetLastError();
  return false;
}

/* Returns the kernel for this product. kind distinguishes products that run different kernels regardless of the choice. */
AmbKernel AmbLiveBegin(AmbDevice *A, int kind, cudaStream_t stream)
{
  cudaStreamCaptureStatus capture  = cudaStreamCaptureStatusActive;
  const bool              captured = cudaStreamIsCapturing(stream, &capture) != cudaSuccess || capture != cudaStreamCaptureStatusNone;
  AmbLive                *L;

  if (!captured && A->live->state != AmbLiveState(A)) AmbLiveRestart(A);
  if (!captured) AmbLiveTake(A);
  L = A->live;
  if (!L) return {A->info.threads, A->deep, 0};
  if (!captured && L->kind < 0) L->kind = kind;
  if (captured || L->kind != kind || L->round == AMB_LIVE_ROUNDS || !AmbLiveRecord(L, stream)) return {AmbLiveBest(L)->threads, AmbLiveBest(L)->deep, 0};
  A->info.live = 1;
  return {L->kernel[L->k].threads, L->kernel[L->k].deep, 1};
}

/* Call after a timed product */
void AmbLiveEnd(AmbDevice *A, cudaStream_t stream)
{
  AmbLive *L = A->live;

  if (cudaEventRecord(L->event[L->begun][1], stream) == cudaSuccess) {
    L->made[L->begun++] = L->k;
    AmbLiveNext(L);
  } else (void)cudaGetLastError();
}

SysStatus AmbDeviceProduct(AmbDevice *A, const AmbArrays *arrays, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, cudaStream_t stream)
{
  const int early = A->early && !A->written;

  A->written = 0;
  if (A->live) {
    const AmbKernel k      = AmbLiveBegin(A, beta != 0, stream);
    const SysStatus status = AmbDeviceLaunch(A, k.threads, k.deep, early && !k.timed, arrays, alpha, x, beta, y, z, stream);

    if (k.timed) AmbLiveEnd(A, stream);
    return status;
  }
  return AmbDeviceLaunch(A, A->info.threads, A->deep, early, arrays, alpha, x, beta, y, z, stream);
}
