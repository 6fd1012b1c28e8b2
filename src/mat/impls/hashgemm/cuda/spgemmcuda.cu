/* SPDX-License-Identifier: BSD-2-Clause */
/*
   SpGEMM on a CUDA device: the products' shared context, and the steps of each kind of product

   spgemmhost.h has the idea.
*/
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sys/systranspose.cuh"
#include "mat/impls/hashgemm/cuda/spgemmcudastep.cuh"

/* ---- The context that products share ---- */

static SysStatus SpgemmDeviceContextSetUp(SpgemmDeviceContext *context)
{
  int device, shared;

  SYS_CUDA(cudaGetDevice(&device));
  SYS_CUDA(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  SpgemmDeviceContextLimit(context, (size_t)shared);
  SYS_CUDA(cudaMallocHost((void **)&context->counters, sizeof(*context->counters)));
  SYS_CUDA(cudaEventCreateWithFlags(&context->fork, cudaEventDisableTiming));
  SYS_CUDA(cudaEventCreateWithFlags(&context->counted, cudaEventDisableTiming));
  for (int s = 0; s < SPGEMM_STREAMS; s++) {
    SYS_CUDA(cudaStreamCreateWithFlags(&context->side[s], cudaStreamNonBlocking));
    SYS_CUDA(cudaEventCreateWithFlags(&context->join[s], cudaEventDisableTiming));
  }
  return SYS_SUCCESS;
}

SysStatus SpgemmDeviceContextCreate(SpgemmDeviceContext **context)
{
  SysStatus status;

  *context = (SpgemmDeviceContext *)calloc(1, sizeof(**context));
  if (!*context) return SYS_OUT_OF_MEMORY;
  status = SpgemmDeviceContextSetUp(*context);
  if (status) SpgemmDeviceContextDestroy(context);
  return status;
}

void SpgemmDeviceContextLimit(SpgemmDeviceContext *context, size_t shared)
{
  context->limits = SpgemmDeviceLimits(shared);
}

void SpgemmDeviceContextDestroy(SpgemmDeviceContext **context)
{
  if (!*context) return;
  for (int s = 0; s < SPGEMM_STREAMS; s++) {
    if ((*context)->side[s]) (void)cudaStreamDestroy((*context)->side[s]);
    if ((*context)->join[s]) (void)cudaEventDestroy((*context)->join[s]);
  }
  if ((*context)->fork) (void)cudaEventDestroy((*context)->fork);
  if ((*context)->counted) (void)cudaEventDestroy((*context)->counted);
  if ((*context)->counters) (void)cudaFreeHost((*context)->counters);
  free(*context);
  *context = NULL;
}

/* ---- Kinds of products ---- */

static SysStatus SpgemmDeviceTranspose(SpgemmDevice *S, const SysCSR *A, SpgemmArray *work, cudaStream_t stream)
{
  SysCSR *T = &S->transpose;
  size_t  bytes;

  SYS_CUDA(SysTransposeSize(A, &bytes));
  SYS_CALL(SpgemmTake(S, bytes, work, stream));
  SYS_CALL(SpgemmTake(S, sizeof(int) * ((size_t)A->n + 1), &S->transpose_i, stream));
  SYS_CALL(SpgemmTake(S, sizeof(int) * (size_t)A->nz, &S->transpose_j, stream));
  SYS_CALL(SpgemmTake(S, sizeof(int) * (size_t)A->nz, &S->from, stream));
  SYS_CALL(SpgemmTake(S, sizeof(SysScalar) * (size_t)A->nz, &S->transpose_a, stream));
  T->m  = A->n;
  T->n  = A->m;
  T->nz = A->nz;
  T->i  = (int *)S->transpose_i.data;
  T->j  = (int *)S->transpose_j.data;
  T->a  = (SysScalar *)S->transpose_a.data;
  SYS_CUDA(SysTransposePattern(A, work->data, bytes, (int *)S->transpose_i.data, (int *)S->transpose_j.data, (int *)S->from.data, stream));
  return SYS_SUCCESS;
}

/* Computes the pattern of the first of two products */
static SysStatus SpgemmDeviceMakeInner(SpgemmDevice *S, const SysCSR *A, const SysCSR *B, const SysCSR *C, cudaStream_t stream)
{
  SpgemmStep   *step = &S->step[0];
  const SysCSR *left, *right;

  SpgemmFactors(S->type, 0, S->reverse, A, B, C, &S->transpose, &S->inner, &left, &right);
  SYS_CALL(SpgemmStepCount(S, step, left, right, stream));
  SYS_CALL(SpgemmTake(S, sizeof(int) * (size_t)step->nz, &S->inner_j, stream));
  SYS_CALL(SpgemmTake(S, sizeof(SysScalar) * (size_t)step->nz, &S->inner_a, stream));
  S->inner.m  = left->m;
  S->inner.n  = right->n;
  S->inner.nz = step->nz;
  S->inner.i  = (int *)step->i.data;
  S->inner.j  = (int *)S->inner_j.data;
  S->inner.a  = (SysScalar *)S->inner_a.data;
  SYS_CALL(SpgemmStepPattern(S, step, left, right, (int *)step->i.data, (int *)S->inner_j.data, (SysScalar *)S->inner_a.data, stream));
  return S->makes ? SpgemmStepFirstValues(S, step, left, right, S->inner.i, S->inner.j, (SysScalar *)S->inner_a.data, stream) : SYS_SUCCESS;
}

static SysStatus SpgemmDeviceTransposeValues(const SpgemmDevice *S, const SysCSR *A, const SysCSR *B, cudaStream_t stream)
{
  const SysCSR *T = SpgemmTransposed(S->type, A, B);

  return T ? SpgemmDeviceGather(T->nz, (const int *)S->from.data, T->a, (SysScalar *)S->transpose_a.data, stream) : SYS_SUCCESS;
}

/* Counts the products of the first of two steps, in either order */
static SysStatus SpgemmDeviceOrder(SpgemmDevice *S, const SysCSR *A, const SysCSR *B, const SysCSR *C, SpgemmArray *work, cudaStream_t stream)
{
  unsigned long long products[2];

  SYS_CALL(SpgemmTake(S, sizeof(products), work, stream));
  for (int reverse = 0; reverse < 2; reverse++) {
    const SysCSR *left, *right;

    SpgemmFactors(S->type, 0, reverse, A, B, C, &S->transpose, NULL, &left, &right);
    SYS_CALL(SpgemmDeviceProducts(left, right, (unsigned long long *)work->data + reverse, stream));
  }
  SYS_CUDA(cudaMemcpyAsync(products, work->data, sizeof(products), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  S->reverse = SpgemmReverses(S->type, (double)products[0], (double)products[1]);
  return SYS_SUCCESS;
}

static SysStatus SpgemmDeviceMakeSteps(SpgemmDevice *S, const SysCSR *A, const SysCSR *B, const SysCSR *C, cudaStream_t stream)
{
  const SysCSR *T    = SpgemmTransposed(S->type, A, B), *left, *right;
  SpgemmArray   work = {NULL, 0};
  SysStatus     status;

  S->nstep = S->type == SPGEMM_PTAP || S->type == SPGEMM_RART || S->type == SPGEMM_ABC ? 2 : 1;
  if (T) {
    status = SpgemmDeviceTranspose(S, T, &work, stream);
    SpgemmDrop(S, {&work}, stream);
    if (status) return status;
  }
  if (S->nstep == 2) {
    status = SpgemmDeviceOrder(S, A, B, C, &work, stream);
    SpgemmDrop(S, {&work}, stream);
    if (status) return status;
  }
  if (S->makes) SYS_CALL(SpgemmDeviceTransposeValues(S, A, B, stream));
  if (S->nstep == 2) SYS_CALL(SpgemmDeviceMakeInner(S, A, B, C, stream));
  SpgemmFactors(S->type, 1, S->reverse, A, B, C, &S->transpose, &S->inner, &left, &right);
  return SpgemmStepCount(S, &S->step[S->nstep - 1], left, right, stream);
}

/* Stores the operands' sizes, or compares them: other sizes could exceed the arrays */
static SysStatus SpgemmDeviceSizes(SpgemmDevice *S, bool first, const SysCSR *A, const SysCSR *B, const SysCSR *C)
{
  const SysCSR *operand[3] = {A, B, S->type == SPGEMM_ABC ? C : NULL};

  for (int k = 0; k < 3; k++) {
    const int64_t now[3] = {operand[k] ? operand[k]->m : 0, operand[k] ? operand[k]->n : 0, operand[k] ? operand[k]->nz : 0}, *then = S->size[k];

    if (first) memcpy(S->size[k], now, sizeof(now));
    else if (memcmp(then, now, sizeof(now))) {
      return SysDeviceError("operand %d is %lld x %lld with %lld entries, and was %lld x %lld with %lld", k + 1, (long long)now[0], (long long)now[1], (long long)now[2], (long long)then[0], (long long)then[1], (long long)then[2]);
    }
  }
  return SYS_SUCCESS;
}

SysStatus SpgemmDeviceCreate(SpgemmDeviceContext *context, SpgemmType type, SpgemmAccumulator accumulator, const SysCSR *A, const SysCSR *B, const SysCSR *C, SysStream stream, SpgemmDevice **out, SpgemmInfo *info)
{
  SpgemmDevice *S = (SpgemmDevice *)calloc(1, sizeof(*S));
  SysStatus     status;

  *out = NULL;
  memset(info, 0, sizeof(*info));
  if (!S) return SYS_OUT_OF_MEMORY;
  S->context     = context;
  S->type        = type;
  S->accumulator = accumulator;
  S->makes       = accumulator == SPGEMM_ESC || accumulator == SPGEMM_HEAP || accumulator == SPGEMM_MERGE || accumulator == SPGEMM_HASH || type == SPGEMM_AB;
  (void)SpgemmDeviceSizes(S, true, A, B, C);
  status = SpgemmDeviceMakeSteps(S, A, B, C, stream);
  SpgemmDeviceGetInfo(S, info);
  if (status) SpgemmDeviceDestroy(&S, stream);
  *out = S;
  return status;
}

/* Computes new values of the transpose, of the first of two products, and of the result */
SysStatus SpgemmDeviceRevalue(SpgemmDevice *S, const SysCSR *A, const SysCSR *B, const SysCSR *C, const int *i, const int *j, SysScalar *a, SysStream stream)
{
  const SysCSR *left, *right;

  SYS_CALL(SpgemmDeviceSizes(S, false, A, B, C));
  SYS_CALL(SpgemmDeviceTransposeValues(S, A, B, stream));
  if (S->nstep == 2) {
    SpgemmFactors(S->type, 0, S->reverse, A, B, C, &S->transpose, &S->inner, &left, &right);
    SYS_CALL(SpgemmStepValues(S, &S->step[0], left, right, S->inner.i, S->inner.j, (SysScalar *)S->inner_a.data, stream));
  }
  SpgemmFactors(S->type, 1, S->reverse, A, B, C, &S->transpose, &S->inner, &left, &right);
  return SpgemmStepValues(S, &S->step[S->nstep - 1], left, right, i, j, a, stream);
}

SysStatus SpgemmDeviceFirstValues(SpgemmDevice *S, const SysCSR *A, const SysCSR *B, const SysCSR *C, const int *i, const int *j, SysScalar *a, SysStream stream)
{
  const SysCSR *left, *right;

  if (!S->makes) return SpgemmDeviceRevalue(S, A, B, C, i, j, a, stream);
  SYS_CALL(SpgemmDeviceSizes(S, false, A, B, C));
  SpgemmFactors(S->type, 1, S->reverse, A, B, C, &S->transpose, &S->inner, &left, &right);
  return SpgemmStepFirstValues(S, &S->step[S->nstep - 1], left, right, i, j, a, stream);
}

SysStatus SpgemmDeviceFill(SpgemmDevice *S, const SysCSR *A, const SysCSR *B, const SysCSR *C, int *i, int *j, SysScalar *a, SysStream stream)
{
  SpgemmStep   *step = &S->step[S->nstep - 1];
  const SysCSR *left, *right;

  SYS_CALL(SpgemmDeviceSizes(S, false, A, B, C));
  SpgemmFactors(S->type, 1, S->reverse, A, B, C, &S->transpose, &S->inner, &left, &right);
  SYS_CUDA(cudaMemcpyAsync(i, step->i.data, step->i.bytes, cudaMemcpyDeviceToDevice, stream));
  SYS_CALL(SpgemmStepPattern(S, step, left, right, i, j, a, stream));
  SpgemmDrop(S, {&step->i}, stream);
  return a ? SpgemmDeviceFirstValues(S, A, B, C, i, j, a, stream) : SYS_SUCCESS;
}

void SpgemmDeviceGetInfo(const SpgemmDevice *S, SpgemmInfo *info)
{
  *info            = S->info;
  info->bytes_kept = S->bytes;
  for (int k = 0; k < S->nstep; k++) {
    info->lines += S->step[k].line_rows;
    for (int r = 0; r < SPGEMM_ROWS_KINDS; r++) info->rows[r] += S->step[k].rows[r];
  }
}

void SpgemmDeviceDestroy(SpgemmDevice **S, SysStream stream)
{
  if (!*S) return;
  for (int k = 0; k < 2; k++) SpgemmStepDrop(*S, &(*S)->step[k], stream);
  SpgemmDrop(*S, {&(*S)->transpose_i, &(*S)->transpose_j, &(*S)->transpose_a, &(*S)->from, &(*S)->inner_j, &(*S)->inner_a}, stream);
  free(*S);
  *S = NULL;
}
