/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The choice of the kernel while a solver runs: the solver's own products are made by one kernel after the other, between two events

   All kernels and all sizes of thread blocks add in the same order, so that every product has the bits that it would have without the choice. Nothing is laid out or
   allocated, and the host never waits: while the events of one product have not been met, the next ones are made by the kernel that is the best so far.
*/
#include <stdlib.h>

#include "sys/systuning.h"
#include "mat/impls/amb/ambcuda.cuh"

#define KERNELS 6
#define ROUNDS  4     /* products by each kernel, at most */
#define FAR     1.15  /* after two rounds kernels that take so many times the least time make no further product */
#define TICK    2.e-4 /* milliseconds by which events may differ */

typedef struct {
  int   threads, deep;
  float least; /* milliseconds of the shortest product, or 0 */
} Kernel;

struct _AmbLive {
  cudaEvent_t event[2];
  Kernel      kernel[KERNELS]; /* the model's choice first */
  int         n, k, round;
  int         busy;  /* the events have been recorded for kernel k */
  int         kind;  /* of the first product; others are not timed */
  int         state; /* of the storage of values, for which times hold */
};

/* Values that are stored otherwise are multiplied by other kernels */
static int AmbLiveState(const AmbDevice *A)
{
  return 2 * (int)A->stored.stored + (A->stencil.n > 0);
}

static void AmbLiveRestart(AmbDevice *A)
{
  AmbLive *L = A->live;

  for (int k = 0; k < L->n; k++) L->kernel[k].least = 0;
  L->k = L->round = L->busy = 0;
  L->kind                   = -1;
  L->state                  = AmbLiveState(A);
  A->info.live              = 0;
}

/* Begins the choice, of the kernel alone where the size of thread blocks is fixed; without memory for it, the model's kernel stays */
void AmbLiveCreate(AmbDevice *A, bool fixed)
{
  static const int sizes[] = {64, 128, 256};
  AmbLive         *L       = (AmbLive *)calloc(1, sizeof(*L));

  if (!L) return;
  for (int k = 0; k < 2; k++) {
    if (cudaEventCreate(&L->event[k]) == cudaSuccess) continue;
    (void)cudaGetLastError();
    if (k) (void)cudaEventDestroy(L->event[0]);
    free(L);
    return;
  }
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
  for (cudaEvent_t e : L->event) (void)cudaEventDestroy(e);
  free(L);
  A->live      = NULL;
  A->info.live = 0;
}

static const Kernel *AmbLiveBest(const AmbLive *L)
{
  const Kernel *best = L->kernel;

  for (int k = 1; k < L->n; k++) {
    const float limit = best == L->kernel ? fminf((float)SYS_TUNE_GAIN * best->least, best->least - (float)TICK) : best->least;

    if (L->kernel[k].least > 0 && L->kernel[k].least < limit) best = L->kernel + k;
  }
  return best;
}

/* Takes the time of the last product, and goes on to the next kernel; at the end the best one stays */
static void AmbLiveTake(AmbDevice *A)
{
  AmbLive *L = A->live;
  float    time;

  L->busy = 0;
  if (cudaEventElapsedTime(&time, L->event[0], L->event[1]) != cudaSuccess) {
    (void)cudaGetLastError();
    AmbLiveDestroy(A);
    return;
  }
  A->info.tried++;
  if (L->kernel[L->k].least == 0 || time < L->kernel[L->k].least) L->kernel[L->k].least = time;
  do {
    if (++L->k == L->n) {
      L->k = 0;
      L->round++;
    }
  } while (L->k && L->round >= 2 && L->kernel[L->k].least > FAR * AmbLiveBest(L)->least);
  if (L->round < ROUNDS) return;
  A->info.threads = AmbLiveBest(L)->threads;
  A->deep         = AmbLiveBest(L)->deep;
  AmbLiveDestroy(A);
}

/* The kernel that makes this product. kind tells products from each other that are made by different kernels anyway. */
AmbKernel AmbLiveBegin(AmbDevice *A, int kind, cudaStream_t stream)
{
  AmbLive                *L       = A->live;
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusActive;
  AmbKernel               kernel  = {A->info.threads, A->deep, 0};
  cudaError_t             met     = cudaSuccess;

  if (cudaStreamIsCapturing(stream, &capture) != cudaSuccess || capture != cudaStreamCaptureStatusNone) return kernel;
  if (L->busy) met = cudaEventQuery(L->event[1]);
  if (met != cudaSuccess) {
    (void)cudaGetLastError();
    return kernel;
  }
  if (L->state != AmbLiveState(A)) AmbLiveRestart(A);
  else if (L->busy) AmbLiveTake(A);
  L = A->live;
  if (L && L->kind < 0) L->kind = kind;
  if (!L || L->kind != kind || cudaEventRecord(L->event[0], stream) != cudaSuccess) {
    if (L && L->kind == kind) (void)cudaGetLastError();
    kernel.threads = A->info.threads;
    kernel.deep    = A->deep;
    return kernel;
  }
  kernel.threads = L->kernel[L->k].threads;
  kernel.deep    = L->kernel[L->k].deep;
  kernel.timed   = 1;
  A->info.live   = 1;
  return kernel;
}

/* Called after a product that is timed */
void AmbLiveEnd(AmbDevice *A, cudaStream_t stream)
{
  if (cudaEventRecord(A->live->event[1], stream) == cudaSuccess) A->live->busy = 1;
  else (void)cudaGetLastError();
}
