/*
   Sparse products on a CUDA device: memory, and the sequence of steps that each kind of product is

   Reference:
.  * - Y. Nagasaka, "Sparse matrix computations on many-core processors", doctoral thesis, Tokyo Institute of Technology, 2019, chapter 5
*/
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spgemmcuda.cuh"

static thread_local char error_text[256] = "";

const char *SpgemmDeviceErrorText(void)
{
  return error_text;
}

SpgemmDeviceStatus SpgemmDeviceFailed(cudaError_t error, const char call[])
{
  const char *open = strchr(call, '(');

  snprintf(error_text, sizeof(error_text), "%.*s: %s", open ? (int)(open - call) : 200, call, cudaGetErrorString(error));
  (void)cudaGetLastError(); /* or the next check would find it */
  return error == cudaErrorMemoryAllocation ? SPGEMM_DEVICE_OUT_OF_MEMORY : SPGEMM_DEVICE_ERROR;
}

/* ---- What products share ---- */

struct _SpgemmDeviceContext {
  cudaMemPool_t   pool;
  cudaStream_t    side[SPGEMM_STREAMS];
  cudaEvent_t     fork, join[SPGEMM_STREAMS];
  SpgemmCounters *counters; /* on the host, where the device can write to it */
};

static SpgemmDeviceStatus ContextCreate(SpgemmDeviceContext *context)
{
  cudaMemPoolProps props;
  uint64_t         threshold = UINT64_MAX;

  memset(&props, 0, sizeof(props));
  props.allocType     = cudaMemAllocationTypePinned;
  props.location.type = cudaMemLocationTypeDevice;
  SPGEMM_CUDA(cudaGetDevice(&props.location.id));
  SPGEMM_CUDA(cudaMemPoolCreate(&context->pool, &props));
  SPGEMM_CUDA(cudaMemPoolSetAttribute(context->pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  SPGEMM_CUDA(cudaMallocHost((void **)&context->counters, sizeof(*context->counters)));
  SPGEMM_CUDA(cudaEventCreateWithFlags(&context->fork, cudaEventDisableTiming));
  for (int s = 0; s < SPGEMM_STREAMS; s++) {
    SPGEMM_CUDA(cudaStreamCreateWithFlags(&context->side[s], cudaStreamNonBlocking));
    SPGEMM_CUDA(cudaEventCreateWithFlags(&context->join[s], cudaEventDisableTiming));
  }
  return SPGEMM_DEVICE_SUCCESS;
}

SpgemmDeviceStatus SpgemmDeviceContextCreate(SpgemmDeviceContext **context)
{
  SpgemmDeviceStatus status;

  *context = (SpgemmDeviceContext *)calloc(1, sizeof(**context));
  if (!*context) return SPGEMM_DEVICE_OUT_OF_MEMORY;
  status = ContextCreate(*context);
  if (status) SpgemmDeviceContextDestroy(context);
  return status;
}

void SpgemmDeviceContextTrim(SpgemmDeviceContext *context)
{
  (void)cudaMemPoolTrimTo(context->pool, 0);
}

void SpgemmDeviceContextDestroy(SpgemmDeviceContext **context)
{
  if (!*context) return;
  for (int s = 0; s < SPGEMM_STREAMS; s++) {
    if ((*context)->side[s]) (void)cudaStreamDestroy((*context)->side[s]);
    if ((*context)->join[s]) (void)cudaEventDestroy((*context)->join[s]);
  }
  if ((*context)->fork) (void)cudaEventDestroy((*context)->fork);
  if ((*context)->counters) (void)cudaFreeHost((*context)->counters);
  if ((*context)->pool) (void)cudaMemPoolDestroy((*context)->pool);
  free(*context);
  *context = NULL;
}

SpgemmDeviceStatus SpgemmDeviceAllocate(SpgemmDeviceContext *context, size_t bytes, void **memory, AmbStream stream)
{
  *memory = NULL;
  SPGEMM_CUDA(cudaMallocFromPoolAsync(memory, bytes ? bytes : 1, context->pool, stream));
  return SPGEMM_DEVICE_SUCCESS;
}

void SpgemmDeviceRelease(SpgemmDeviceContext *context, void *memory, AmbStream stream)
{
  if (memory) (void)cudaFreeAsync(memory, stream);
}

/* ---- One product of two matrices ---- */

/* Memory, and who was told its size */
typedef struct {
  void  *data;
  size_t bytes;
} Array;

typedef struct {
  int     m;
  int64_t nz;
  double  products, rows[SPGEMM_ROWS_KINDS];
  int     pattern[SPGEMM_BINS], values[SPGEMM_BINS], parts[SPGEMM_PART_CLASSES], units; /* how many */
  Array   i;
  Array   pattern_rows, unit, rowB, wordB; /* until the pattern is made: rows, bin after bin; units; words of B */
  Array   values_rows, part;               /* the same for values */
} Step;

struct _SpgemmDevice {
  SpgemmDeviceContext *context;
  SpgemmType           type;
  int                  right; /* A (B C) instead of (A B) C */
  int                  nstep;
  Step                 step[2];          /* the last makes the result */
  AmbDeviceCSR         transpose, inner; /* the transposed operand, and the result of the first of two steps */
  Array                transpose_i, transpose_j, transpose_a, from, inner_j, inner_a;
  double               bytes; /* now */
  SpgemmDeviceInfo     info;
};

static SpgemmDeviceStatus Take(SpgemmDevice *S, size_t bytes, Array *array, cudaStream_t stream)
{
  const SpgemmDeviceStatus status = SpgemmDeviceAllocate(S->context, bytes, &array->data, stream);

  if (status) {
    S->info.bytes_asked = (double)bytes;
    return status;
  }
  array->bytes = bytes;
  S->bytes += (double)bytes;
  if (S->bytes > S->info.bytes_peak) S->info.bytes_peak = S->bytes;
  return SPGEMM_DEVICE_SUCCESS;
}

static void Drop(SpgemmDevice *S, Array *array, cudaStream_t stream)
{
  if (!array->data) return;
  SpgemmDeviceRelease(S->context, array->data, stream);
  S->bytes -= (double)array->bytes;
  array->data  = NULL;
  array->bytes = 0;
}

static SpgemmDeviceStatus Fork(const SpgemmDeviceContext *context, cudaStream_t stream)
{
  SPGEMM_CUDA(cudaEventRecord(context->fork, stream));
  for (int s = 0; s < SPGEMM_STREAMS; s++) SPGEMM_CUDA(cudaStreamWaitEvent(context->side[s], context->fork, 0));
  return SPGEMM_DEVICE_SUCCESS;
}

static SpgemmDeviceStatus Join(const SpgemmDeviceContext *context, cudaStream_t stream)
{
  for (int s = 0; s < SPGEMM_STREAMS; s++) {
    SPGEMM_CUDA(cudaEventRecord(context->join[s], context->side[s]));
    SPGEMM_CUDA(cudaStreamWaitEvent(stream, context->join[s], 0));
  }
  return SPGEMM_DEVICE_SUCCESS;
}

static SpgemmOperands Operands(const Step *step, const AmbDeviceCSR *A, const AmbDeviceCSR *B)
{
  const SpgemmOperands P = {(int)A->m, (int)B->m, (int)B->n, A->i, A->j, B->i, B->j, A->a, B->a, (int4 *)step->rowB.data, (uint2 *)step->wordB.data};

  return P;
}

/* What is needed only while the entries are counted */
typedef struct {
  Array counters, size, range, kind, pattern, values, first, scan, long_rows;
} Counting;

static SpgemmDeviceStatus Counters(SpgemmDevice *S, const Counting *w, cudaStream_t stream)
{
  SPGEMM_CUDA(cudaMemcpyAsync(S->context->counters, w->counters.data, sizeof(SpgemmCounters), cudaMemcpyDeviceToHost, stream));
  SPGEMM_CUDA(cudaStreamSynchronize(stream));
  return SPGEMM_DEVICE_SUCCESS;
}

/* The bins of all rows, by what they can have at most */
static SpgemmDeviceStatus Classify(SpgemmDevice *S, Step *step, const AmbDeviceCSR *A, const AmbDeviceCSR *B, Counting *w, cudaStream_t stream)
{
  const SpgemmCounters *host = S->context->counters;
  const size_t          m    = (size_t)A->m;
  SpgemmOperands        P;
  SpgemmCounters       *counters;

  SPGEMM_CALL(Take(S, sizeof(SpgemmCounters), &w->counters, stream));
  SPGEMM_CALL(Take(S, sizeof(int) * (m + 1), &w->size, stream));
  SPGEMM_CALL(Take(S, sizeof(uint2) * m, &w->range, stream));
  SPGEMM_CALL(Take(S, m, &w->kind, stream));
  SPGEMM_CALL(Take(S, sizeof(int) * (size_t)SpgemmDeviceLongRows(B->nz), &w->long_rows, stream));
  SPGEMM_CALL(Take(S, sizeof(int) * m, &step->pattern_rows, stream));
  SPGEMM_CALL(Take(S, sizeof(int4) * (size_t)B->m, &step->rowB, stream));
  SPGEMM_CALL(Take(S, sizeof(uint2) * (size_t)B->nz, &step->wordB, stream));
  P        = Operands(step, A, B);
  counters = (SpgemmCounters *)w->counters.data;
  step->m  = (int)A->m;
  SPGEMM_CUDA(cudaMemsetAsync(counters, 0, sizeof(*counters), stream));
  SPGEMM_CUDA(cudaMemsetAsync((int *)w->size.data + m, 0, sizeof(int), stream));
  SPGEMM_CALL(SpgemmDeviceWords(&P, (int *)w->long_rows.data, counters, stream));
  SPGEMM_CALL(SpgemmDeviceClassify(&P, (int *)w->size.data, (uint2 *)w->range.data, (unsigned char *)w->kind.data, counters, stream));
  SPGEMM_CALL(SpgemmDeviceScatter(step->m, (const unsigned char *)w->kind.data, 15, (int *)step->pattern_rows.data, &counters->count, stream));
  SPGEMM_CALL(Counters(S, w, stream));
  step->products = (double)host->products;
  S->info.products += step->products;
  if (host->units > INT_MAX) { /* at least as many entries */
    S->info.nonzeros = (double)host->units;
    return SPGEMM_DEVICE_TOO_LARGE;
  }
  step->units                    = (int)host->units;
  step->rows[SPGEMM_ROWS_EMPTY]  = host->count.rows[COUNT_EMPTY];
  step->rows[SPGEMM_ROWS_COPIED] = host->count.rows[COUNT_COPY];
  for (int b = COUNT_COPY + 1; b < COUNT_WINDOW; b++) step->rows[SPGEMM_ROWS_HASH] += host->count.rows[b];
  step->rows[SPGEMM_ROWS_WINDOW] = host->count.rows[COUNT_WINDOW];
  return SPGEMM_DEVICE_SUCCESS;
}

/* The entries of all rows; one bin does not wait for another */
static SpgemmDeviceStatus CountRows(SpgemmDevice *S, const Step *step, const SpgemmOperands *P, const Counting *w, cudaStream_t stream)
{
  const SpgemmDeviceContext *context  = S->context;
  const SpgemmCounters      *host     = context->counters;
  SpgemmCounters            *counters = (SpgemmCounters *)w->counters.data;
  const int                  windows  = (int)host->count.rows[COUNT_WINDOW];
  const int                 *rows     = (const int *)step->pattern_rows.data + step->m - windows;
  SpgemmUnit                *unit     = (SpgemmUnit *)step->unit.data;
  int                       *size = (int *)w->size.data, *first = (int *)w->first.data, next = 0;

  SPGEMM_CALL(Fork(context, stream));
  SPGEMM_CALL(SpgemmDeviceUnits(windows, rows, size, (const uint2 *)w->range.data, unit, first, counters, context->side[0]));
  SPGEMM_CALL(SpgemmDeviceWindowCount(P, unit, step->units, context->side[0]));
  SPGEMM_CALL(SpgemmDeviceSumUnits(windows, rows, first, unit, size, context->side[0]));
  for (int b = COUNT_WINDOW - 1; b > COUNT_COPY; b--) {
    const int n = (int)host->count.rows[b];

    rows -= n;
    if (n) SPGEMM_CALL(SpgemmDeviceHashCount(P, b, rows, n, size, context->side[1 + next++ % (SPGEMM_STREAMS - 1)]));
  }
  return Join(context, stream);
}

static SpgemmDeviceStatus Count(SpgemmDevice *S, Step *step, const AmbDeviceCSR *A, const AmbDeviceCSR *B, Counting *w, cudaStream_t stream)
{
  const SpgemmCounters *host = S->context->counters;
  const size_t          m    = (size_t)A->m;
  size_t                scan;
  SpgemmOperands        P;
  SpgemmCounters       *counters;
  int                  *size, total = 0;

  SPGEMM_CALL(Classify(S, step, A, B, w, stream));
  SPGEMM_CALL(Take(S, sizeof(SpgemmUnit) * (size_t)step->units, &step->unit, stream));
  SPGEMM_CALL(Take(S, sizeof(int) * (size_t)host->count.rows[COUNT_WINDOW], &w->first, stream));
  SPGEMM_CALL(Take(S, m, &w->pattern, stream));
  SPGEMM_CALL(Take(S, m, &w->values, stream));
  SPGEMM_CALL(Take(S, sizeof(int) * (m + 1), &step->i, stream));
  SPGEMM_CALL(Take(S, sizeof(int) * m, &step->values_rows, stream));
  SPGEMM_CALL(SpgemmDeviceScanSize(step->m, &scan));
  SPGEMM_CALL(Take(S, scan, &w->scan, stream));
  P        = Operands(step, A, B);
  counters = (SpgemmCounters *)w->counters.data;
  size     = (int *)w->size.data;
  SPGEMM_CALL(CountRows(S, step, &P, w, stream));
  SPGEMM_CALL(SpgemmDeviceReclassify(step->m, (const unsigned char *)w->kind.data, size, (unsigned char *)w->pattern.data, (unsigned char *)w->values.data, counters, stream));
  SPGEMM_CALL(SpgemmDeviceScatter(step->m, (const unsigned char *)w->pattern.data, 255, (int *)step->pattern_rows.data, &counters->pattern, stream));
  SPGEMM_CALL(SpgemmDeviceScatter(step->m, (const unsigned char *)w->values.data, 255, (int *)step->values_rows.data, &counters->values, stream));
  SPGEMM_CALL(SpgemmDeviceScan(step->m, size, (int *)step->i.data, w->scan.data, scan, stream));
  SPGEMM_CALL(Counters(S, w, stream));
  S->info.nonzeros = (double)host->nonzeros;
  if (host->nonzeros > INT_MAX) return SPGEMM_DEVICE_TOO_LARGE;
  step->nz = (int64_t)host->nonzeros;
  for (int b = 0; b < SPGEMM_BINS; b++) {
    step->pattern[b] = (int)host->pattern.rows[b];
    step->values[b]  = (int)host->values.rows[b];
  }
  for (int c = 0; c < SPGEMM_PART_CLASSES; c++) {
    step->parts[c] = (int)host->parts[c];
    total += step->parts[c];
  }
  SPGEMM_CALL(Take(S, sizeof(SpgemmPart) * (size_t)total, &step->part, stream));
  return SpgemmDeviceParts(step->values[VALUES_BLOCK], (const int *)step->values_rows.data + step->m - step->values[VALUES_BLOCK], size, (SpgemmPart *)step->part.data, counters, stream);
}

static SpgemmDeviceStatus StepCount(SpgemmDevice *S, Step *step, const AmbDeviceCSR *A, const AmbDeviceCSR *B, cudaStream_t stream)
{
  Counting           w;
  SpgemmDeviceStatus status;

  memset(&w, 0, sizeof(w));
  status = Count(S, step, A, B, &w, stream);
  Drop(S, &w.counters, stream);
  Drop(S, &w.size, stream);
  Drop(S, &w.range, stream);
  Drop(S, &w.kind, stream);
  Drop(S, &w.pattern, stream);
  Drop(S, &w.values, stream);
  Drop(S, &w.first, stream);
  Drop(S, &w.scan, stream);
  Drop(S, &w.long_rows, stream);
  return status;
}

static void DropPattern(SpgemmDevice *S, Step *step, cudaStream_t stream)
{
  Drop(S, &step->pattern_rows, stream);
  Drop(S, &step->unit, stream);
  Drop(S, &step->rowB, stream);
  Drop(S, &step->wordB, stream);
}

static SpgemmDeviceStatus StepPattern(SpgemmDevice *S, Step *step, const AmbDeviceCSR *A, const AmbDeviceCSR *B, const int *i, int *j, cudaStream_t stream)
{
  const SpgemmDeviceContext *context = S->context;
  const SpgemmOperands       P       = Operands(step, A, B);
  const int                 *rows    = (const int *)step->pattern_rows.data + step->m;
  int                        next    = 0;

  SPGEMM_CALL(Fork(context, stream));
  SPGEMM_CALL(SpgemmDeviceWindowPattern(&P, (const SpgemmUnit *)step->unit.data, step->units, i, j, context->side[0]));
  for (int b = SPGEMM_BINS - 1; b >= 0; b--) {
    rows -= step->pattern[b];
    if (step->pattern[b]) SPGEMM_CALL(SpgemmDeviceHashPattern(&P, b, rows, step->pattern[b], i, j, context->side[1 + next++ % (SPGEMM_STREAMS - 1)]));
  }
  SPGEMM_CALL(Join(context, stream));
  DropPattern(S, step, stream);
  return SPGEMM_DEVICE_SUCCESS;
}

/* The longest rows first */
static SpgemmDeviceStatus StepValues(const SpgemmDevice *S, const Step *step, const AmbDeviceCSR *A, const AmbDeviceCSR *B, const int *i, const int *j, AmbScalar *a, cudaStream_t stream)
{
  const SpgemmDeviceContext *context = S->context;
  const SpgemmOperands       P       = Operands(step, A, B);
  const SpgemmPart          *parts   = (const SpgemmPart *)step->part.data;
  const int                 *rows    = (const int *)step->values_rows.data + step->m;
  int                        next    = 0;

  SPGEMM_CALL(Fork(context, stream));
  for (int c = SPGEMM_PART_CLASSES - 1; c >= 0; c--) {
    if (step->parts[c]) SPGEMM_CALL(SpgemmDevicePartValues(&P, c, parts, step->parts[c], i, j, a, context->side[next++ % SPGEMM_STREAMS]));
    parts += step->parts[c];
  }
  for (int b = SPGEMM_BINS - 1; b >= 0; b--) {
    rows -= step->values[b];
    if (step->values[b]) SPGEMM_CALL(SpgemmDeviceValues(&P, b, rows, step->values[b], i, j, a, context->side[next++ % SPGEMM_STREAMS]));
  }
  return Join(context, stream);
}

/* ---- Kinds of products ---- */

static SpgemmDeviceStatus Transpose(SpgemmDevice *S, const AmbDeviceCSR *A, Array *work, cudaStream_t stream)
{
  AmbDeviceCSR *T = &S->transpose;
  size_t        bytes;

  SPGEMM_CALL(SpgemmDeviceTransposeSize(A, &bytes));
  SPGEMM_CALL(Take(S, bytes, work, stream));
  SPGEMM_CALL(Take(S, sizeof(int) * ((size_t)A->n + 1), &S->transpose_i, stream));
  SPGEMM_CALL(Take(S, sizeof(int) * (size_t)A->nz, &S->transpose_j, stream));
  SPGEMM_CALL(Take(S, sizeof(int) * (size_t)A->nz, &S->from, stream));
  SPGEMM_CALL(Take(S, sizeof(AmbScalar) * (size_t)A->nz, &S->transpose_a, stream));
  T->m  = A->n;
  T->n  = A->m;
  T->nz = A->nz;
  T->i  = (int *)S->transpose_i.data;
  T->j  = (int *)S->transpose_j.data;
  T->a  = (AmbScalar *)S->transpose_a.data;
  return SpgemmDeviceTranspose(A, work->data, bytes, (int *)S->transpose_i.data, (int *)S->transpose_j.data, (int *)S->from.data, stream);
}

/* What is transposed, or NULL */
static const AmbDeviceCSR *Transposed(const SpgemmDevice *S, const AmbDeviceCSR *A, const AmbDeviceCSR *B)
{
  switch (S->type) {
  case SPGEMM_ATB:
    return A;
  case SPGEMM_ABT:
  case SPGEMM_PTAP:
  case SPGEMM_RART:
    return B;
  default:
    return NULL;
  }
}

static void Factors(const SpgemmDevice *S, int step, const AmbDeviceCSR *A, const AmbDeviceCSR *B, const AmbDeviceCSR *C, const AmbDeviceCSR **left, const AmbDeviceCSR **right)
{
  const int last = step == S->nstep - 1;

  *left  = A;
  *right = B;
  switch (S->type) {
  case SPGEMM_AB:
    break;
  case SPGEMM_ATB:
    *left = &S->transpose;
    break;
  case SPGEMM_ABT:
    *right = &S->transpose;
    break;
  case SPGEMM_PTAP:
    if (last) {
      *left  = &S->transpose;
      *right = &S->inner;
    }
    break;
  case SPGEMM_RART:
    *left  = last ? B : A;
    *right = last ? &S->inner : &S->transpose;
    break;
  case SPGEMM_ABC:
    if (S->right) {
      *left  = last ? A : B;
      *right = last ? &S->inner : C;
    } else {
      *left  = last ? &S->inner : A;
      *right = last ? C : B;
    }
    break;
  }
}

/* The first of two products: its pattern */
static SpgemmDeviceStatus MakeInner(SpgemmDevice *S, const AmbDeviceCSR *A, const AmbDeviceCSR *B, const AmbDeviceCSR *C, cudaStream_t stream)
{
  Step               *step = &S->step[0];
  const AmbDeviceCSR *left, *right;

  Factors(S, 0, A, B, C, &left, &right);
  SPGEMM_CALL(StepCount(S, step, left, right, stream));
  SPGEMM_CALL(Take(S, sizeof(int) * (size_t)step->nz, &S->inner_j, stream));
  SPGEMM_CALL(Take(S, sizeof(AmbScalar) * (size_t)step->nz, &S->inner_a, stream));
  S->inner.m  = left->m;
  S->inner.n  = right->n;
  S->inner.nz = step->nz;
  S->inner.i  = (int *)step->i.data;
  S->inner.j  = (int *)S->inner_j.data;
  S->inner.a  = (AmbScalar *)S->inner_a.data;
  return StepPattern(S, step, left, right, (int *)step->i.data, (int *)S->inner_j.data, stream);
}

static SpgemmDeviceStatus FewerProducts(SpgemmDevice *S, const AmbDeviceCSR *A, const AmbDeviceCSR *B, const AmbDeviceCSR *C, Array *work, cudaStream_t stream)
{
  unsigned long long products[2];

  SPGEMM_CALL(Take(S, sizeof(products), work, stream));
  SPGEMM_CALL(SpgemmDeviceProducts(A, B, (unsigned long long *)work->data, stream));
  SPGEMM_CALL(SpgemmDeviceProducts(B, C, (unsigned long long *)work->data + 1, stream));
  SPGEMM_CUDA(cudaMemcpyAsync(products, work->data, sizeof(products), cudaMemcpyDeviceToHost, stream));
  SPGEMM_CUDA(cudaStreamSynchronize(stream));
  S->right = products[1] < products[0];
  return SPGEMM_DEVICE_SUCCESS;
}

static SpgemmDeviceStatus Create(SpgemmDevice *S, const AmbDeviceCSR *A, const AmbDeviceCSR *B, const AmbDeviceCSR *C, cudaStream_t stream)
{
  const AmbDeviceCSR *T    = Transposed(S, A, B), *left, *right;
  Array               work = {NULL, 0};
  SpgemmDeviceStatus  status;

  S->nstep = S->type == SPGEMM_PTAP || S->type == SPGEMM_RART || S->type == SPGEMM_ABC ? 2 : 1;
  if (T || S->type == SPGEMM_ABC) {
    status = T ? Transpose(S, T, &work, stream) : FewerProducts(S, A, B, C, &work, stream);
    Drop(S, &work, stream);
    if (status) return status;
  }
  if (S->nstep == 2) SPGEMM_CALL(MakeInner(S, A, B, C, stream));
  Factors(S, S->nstep - 1, A, B, C, &left, &right);
  return StepCount(S, &S->step[S->nstep - 1], left, right, stream);
}

SpgemmDeviceStatus SpgemmDeviceCreate(SpgemmDeviceContext *context, SpgemmType type, const AmbDeviceCSR *A, const AmbDeviceCSR *B, const AmbDeviceCSR *C, AmbStream stream, SpgemmDevice **out, SpgemmDeviceInfo *info)
{
  SpgemmDevice      *S = (SpgemmDevice *)calloc(1, sizeof(*S));
  SpgemmDeviceStatus status;

  *out = NULL;
  memset(info, 0, sizeof(*info));
  if (!S) return SPGEMM_DEVICE_OUT_OF_MEMORY;
  S->context = context;
  S->type    = type;
  status     = Create(S, A, B, C, stream);
  SpgemmDeviceGetInfo(S, info);
  if (status) SpgemmDeviceDestroy(&S, stream);
  *out = S;
  return status;
}

/* New values of all but the pattern of the result, then of that */
SpgemmDeviceStatus SpgemmDeviceRevalue(SpgemmDevice *S, const AmbDeviceCSR *A, const AmbDeviceCSR *B, const AmbDeviceCSR *C, const int *i, const int *j, AmbScalar *a, AmbStream stream)
{
  const AmbDeviceCSR *T = Transposed(S, A, B), *left, *right;

  if (T) SPGEMM_CALL(SpgemmDeviceGather(T->nz, (const int *)S->from.data, T->a, (AmbScalar *)S->transpose_a.data, stream));
  if (S->nstep == 2) {
    Factors(S, 0, A, B, C, &left, &right);
    SPGEMM_CALL(StepValues(S, &S->step[0], left, right, S->inner.i, S->inner.j, (AmbScalar *)S->inner_a.data, stream));
  }
  Factors(S, S->nstep - 1, A, B, C, &left, &right);
  return StepValues(S, &S->step[S->nstep - 1], left, right, i, j, a, stream);
}

SpgemmDeviceStatus SpgemmDeviceFill(SpgemmDevice *S, const AmbDeviceCSR *A, const AmbDeviceCSR *B, const AmbDeviceCSR *C, int *i, int *j, AmbScalar *a, AmbStream stream)
{
  Step               *step = &S->step[S->nstep - 1];
  const AmbDeviceCSR *left, *right;

  Factors(S, S->nstep - 1, A, B, C, &left, &right);
  SPGEMM_CUDA(cudaMemcpyAsync(i, step->i.data, step->i.bytes, cudaMemcpyDeviceToDevice, stream));
  SPGEMM_CALL(StepPattern(S, step, left, right, i, j, stream));
  Drop(S, &step->i, stream);
  return a ? SpgemmDeviceRevalue(S, A, B, C, i, j, a, stream) : SPGEMM_DEVICE_SUCCESS;
}

void SpgemmDeviceGetInfo(const SpgemmDevice *S, SpgemmDeviceInfo *info)
{
  *info            = S->info;
  info->bytes_kept = S->bytes;
  for (int k = 0; k < S->nstep; k++) {
    for (int r = 0; r < SPGEMM_ROWS_KINDS; r++) info->rows[r] += S->step[k].rows[r];
  }
}

void SpgemmDeviceDestroy(SpgemmDevice **S, AmbStream stream)
{
  if (!*S) return;
  for (int k = 0; k < 2; k++) {
    Step *step = &(*S)->step[k];

    DropPattern(*S, step, stream);
    Drop(*S, &step->i, stream);
    Drop(*S, &step->values_rows, stream);
    Drop(*S, &step->part, stream);
  }
  Drop(*S, &(*S)->transpose_i, stream);
  Drop(*S, &(*S)->transpose_j, stream);
  Drop(*S, &(*S)->transpose_a, stream);
  Drop(*S, &(*S)->from, stream);
  Drop(*S, &(*S)->inner_j, stream);
  Drop(*S, &(*S)->inner_a, stream);
  free(*S);
  *S = NULL;
}
