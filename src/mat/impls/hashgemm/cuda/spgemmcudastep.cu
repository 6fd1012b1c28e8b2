/* SPDX-License-Identifier: BSD-2-Clause */
/*
   SpGEMM on a CUDA device: one product of two matrices, step by step, and its memory

   spgemmhost.h has the idea.
*/
#include <limits.h>
#include <stddef.h>
#include <string.h>

#include "mat/impls/hashgemm/cuda/spgemmcudastep.cuh"

SysStatus SpgemmTake(SpgemmDevice *S, size_t bytes, SpgemmArray *array, cudaStream_t stream)
{
  const SysStatus status = SysPoolAllocate(bytes, &array->data, stream);

  if (status) {
    S->info.bytes_asked = (double)(bytes ? bytes : 1);
    return status;
  }
  array->bytes = bytes;
  S->bytes += (double)bytes;
  if (S->bytes > S->info.bytes_peak) S->info.bytes_peak = S->bytes;
  return SYS_SUCCESS;
}

void SpgemmDrop(SpgemmDevice *S, std::initializer_list<SpgemmArray *> arrays, cudaStream_t stream)
{
  for (SpgemmArray *array : arrays) {
    if (!array->data) continue;
    SysPoolRelease(array->data, stream);
    S->bytes -= (double)array->bytes;
    array->data  = NULL;
    array->bytes = 0;
  }
}

SysStatus SpgemmTakePieces(SpgemmDevice *S, SpgemmArray *memory, std::initializer_list<SpgemmPiece> pieces, cudaStream_t stream)
{
  size_t bytes = 0;

  for (const SpgemmPiece &piece : pieces) bytes += SysPadded(piece.bytes);
  SYS_CALL(SpgemmTake(S, bytes, memory, stream));
  bytes = 0;
  for (const SpgemmPiece &piece : pieces) {
    piece.array->data  = (char *)memory->data + bytes;
    piece.array->bytes = piece.bytes;
    bytes += SysPadded(piece.bytes);
  }
  return SYS_SUCCESS;
}

/* Streams for independent kernels, at most one a kernel. A single one stays in the original stream, because each further stream costs four calls.
   After an error they are joined before their memory is released, which only the first stream orders. */
struct Streams {
  const SpgemmDeviceContext *context;
  cudaStream_t               from, stream[SPGEMM_STREAMS];
  int                        n = 0, next;
  bool                       joined;

  ~Streams()
  {
    for (int s = 0; s < n && !joined; s++) (void)cudaStreamSynchronize(context->side[s]);
  }
};

static SysStatus StepFork(const SpgemmDeviceContext *context, int kernels, cudaStream_t from, Streams *streams)
{
  streams->context = context;
  streams->from    = from;
  streams->joined  = false;
  streams->n       = kernels < 2 ? 0 : kernels < SPGEMM_STREAMS ? kernels : SPGEMM_STREAMS;
  streams->next    = 0;
  for (int s = 0; s < SPGEMM_STREAMS; s++) streams->stream[s] = streams->n ? context->side[s % streams->n] : from;
  if (streams->n) SYS_CUDA(cudaEventRecord(context->fork, from));
  for (int s = 0; s < streams->n; s++) SYS_CUDA(cudaStreamWaitEvent(context->side[s], context->fork, 0));
  return SYS_SUCCESS;
}

static cudaStream_t StepStream(Streams *streams)
{
  return streams->stream[streams->next++ % SPGEMM_STREAMS];
}

static SysStatus StepJoin(Streams *streams)
{
  for (int s = 0; s < streams->n; s++) {
    SYS_CUDA(cudaEventRecord(streams->context->join[s], streams->context->side[s]));
    SYS_CUDA(cudaStreamWaitEvent(streams->from, streams->context->join[s], 0));
  }
  streams->joined = true;
  return SYS_SUCCESS;
}

static SpgemmOperands StepOperands(const SpgemmStep *step, const SysCSR *A, const SysCSR *B)
{
  const SpgemmOperands P = {(int)A->m, (int)B->m, (int)B->n, A->i, A->j, B->i, B->j, A->a, B->a, (int4 *)step->rowB.data, (uint2 *)step->wordB.data};

  return P;
}

/* Memory for the count */
typedef struct {
  SpgemmArray memory, counters, size, work, range, kind, pattern, values, scan, long_rows, first;
  size_t      scan_bytes;
  bool        sample; /* rows for the estimate of memory */
} Counting;

static SpgemmMade StepMade(const SpgemmStep *step)
{
  const SpgemmMade made = {(int *)step->made_column.data, (SysScalar *)step->made_value.data, (unsigned *)step->made_place.data, NULL, step->made_column.bytes / sizeof(int)};

  return made;
}

static void StepDropMade(SpgemmDevice *S, SpgemmStep *step, cudaStream_t stream)
{
  SpgemmDrop(S, {&step->made_memory}, stream);
  step->made_column.data = step->made_value.data = step->made_place.data = NULL;
  step->made_values                                                      = false;
}

/* Takes optional memory; returns whether it was available */
static bool StepTakeIfThere(SpgemmDevice *S, size_t bytes, SpgemmArray *array, cudaStream_t stream)
{
  const double asked = S->info.bytes_asked;
  const bool   there = SpgemmTake(S, bytes, array, stream) == SYS_SUCCESS;

  S->info.bytes_asked = asked;
  return there;
}

/* Returns whether the product looks large enough, from the host's data, to economize memory */
static bool StepIsLarge(const SpgemmDevice *S, const SysCSR *A, const SysCSR *B)
{
  return (double)A->nz * (double)B->nz > (double)(S->accumulator == SPGEMM_AUTO ? SPGEMM_SAMPLE_AUTO : SPGEMM_SAMPLE_PRODUCTS) * (double)B->m;
}

/* Sorts the rows into bins */
static SysStatus StepSortRows(SpgemmDevice *S, SpgemmStep *step, const SpgemmOperands *P, Counting *w, cudaStream_t stream)
{
  SpgemmCounters *counters = (SpgemmCounters *)w->counters.data;

  SYS_CALL(SpgemmDeviceClassify(P, &S->context->limits, step->accumulator, (int *)w->size.data, (unsigned *)w->work.data, (uint2 *)w->range.data, (unsigned char *)w->kind.data, counters, stream));
  if (w->sample) SYS_CALL(SpgemmDeviceEscSample(P, (const unsigned char *)w->kind.data, (const uint2 *)w->range.data, counters, stream));
  SYS_CALL(SpgemmDeviceScatter(step->m,
                               {
                                 {(const unsigned char *)w->kind.data, 15, (int *)step->pattern_rows.data, &counters->count}
  },
                               counters, S->context->counters, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  return SYS_SUCCESS;
}

/* SPGEMM_AUTO: returns whether sorted rows are computed at once: for a small product, or if few other rows exist and the rows are long enough that
   copying their values costs less than it saves */
static bool StepEscPays(const SpgemmDevice *S, const SpgemmCounters *host)
{
  double rows = 0;

  for (int b = COUNT_SORT_64; b <= COUNT_SORT_512; b++) rows += host->count.rows[b];
  return S->makes && !host->unmade && (host->products <= SPGEMM_ESC_PRODUCTS || (2 * host->made >= host->products && (double)host->made >= SPGEMM_ESC_MEAN * rows));
}

/* Returns the entries to allocate for rows computed while counting: their products, or a little more than a sample's estimate */
static size_t StepMadeRoom(const SpgemmCounters *host)
{
  const double all = (double)host->made, some = host->sampled ? SPGEMM_SAMPLE_MORE * all * (double)host->found / (double)host->sampled : all;

  return (size_t)(some < all ? some : all);
}

/* Frees the words of B if only sorted rows remain */
static void StepDropWords(SpgemmDevice *S, SpgemmStep *step, const SpgemmCounters *host, cudaStream_t stream)
{
  for (int b = COUNT_128; b <= COUNT_WINDOW; b++) {
    if (host->count.rows[b]) return;
  }
  if (!step->words_memory.data) return;
  SpgemmDrop(S, {&step->words_memory}, stream);
  step->rowB.data = step->wordB.data = NULL;
}

static SysStatus StepTakeRoom(SpgemmDevice *S, SpgemmStep *step, size_t entries, cudaStream_t stream)
{
  SYS_CALL(SpgemmTakePieces(S, &step->made_memory,
                            {
                              {&step->made_value,  sizeof(SysScalar) * entries       },
                              {&step->made_column, sizeof(int) * entries             },
                              {&step->made_place,  sizeof(unsigned) * (size_t)step->m}
  },
                            stream));
  if (step->accumulator == SPGEMM_AUTO) step->accumulator = SPGEMM_ESC;
  SYS_CUDA(cudaMemsetAsync(step->made_place.data, 0xff, step->made_place.bytes, stream));
  return SYS_SUCCESS;
}

/* Allocates memory for rows computed while counting; without it all rows are counted first */
static SysStatus StepTakeMade(SpgemmDevice *S, SpgemmStep *step, const SpgemmOperands *P, Counting *w, cudaStream_t stream)
{
  const SpgemmCounters *host  = S->context->counters;
  const double          asked = S->info.bytes_asked;
  const bool            sorts = step->accumulator == SPGEMM_AUTO || step->accumulator == SPGEMM_ESC;

  if (!host->made || (step->accumulator == SPGEMM_AUTO && !StepEscPays(S, host))) return SYS_SUCCESS;
  if (sorts) StepDropWords(S, step, host, stream);
  if (host->made < SPGEMM_NOWORD && StepTakeRoom(S, step, StepMadeRoom(host), stream) == SYS_SUCCESS) return SYS_SUCCESS;
  S->info.bytes_asked = asked;
  if (step->accumulator == SPGEMM_AUTO) return SYS_SUCCESS;
  if (step->accumulator == SPGEMM_ESC) return StepTakeRoom(S, step, 0, stream);
  step->accumulator = SPGEMM_AUTO;
  SYS_CUDA(cudaMemsetAsync(w->counters.data, 0, offsetof(SpgemmCounters, scattered), stream));
  return StepSortRows(S, step, P, w, stream);
}

/* Allocates pattern data together, because each allocation takes time; words of B, most of it, are separate for a large product */
static SysStatus StepTakePattern(SpgemmDevice *S, SpgemmStep *step, const SysCSR *A, const SysCSR *B, cudaStream_t stream)
{
  const SpgemmPiece rows = {&step->pattern_rows, sizeof(int) * (size_t)A->m}, kept = {&step->kept_words, (size_t)A->m}, rowB = {&step->rowB, sizeof(int4) * (size_t)B->m}, wordB = {&step->wordB, sizeof(uint2) * (size_t)B->nz};

  if (!StepIsLarge(S, A, B)) return SpgemmTakePieces(S, &step->pattern_memory, {rows, kept, rowB, wordB}, stream);
  SYS_CALL(SpgemmTakePieces(S, &step->words_memory, {rowB, wordB}, stream));
  return SpgemmTakePieces(S, &step->pattern_memory, {rows, kept}, stream);
}

/* Sets all rows' bins, by an upper bound of their entries */
static SysStatus StepClassify(SpgemmDevice *S, SpgemmStep *step, const SysCSR *A, const SysCSR *B, Counting *w, cudaStream_t stream)
{
  const SpgemmCounters *host = S->context->counters;
  const size_t          m    = (size_t)A->m;
  SpgemmOperands        P;
  SpgemmCounters       *counters;
  int                  *zeros;

  SYS_CALL(SpgemmDeviceScanSize((int)A->m, &w->scan_bytes));
  SYS_CALL(SpgemmTakePieces(S, &w->memory,
                            {
                              {&w->size,      sizeof(int) * (m + 1)                            },
                              {&w->counters,  sizeof(SpgemmCounters)                           }, /* after the last size: both begin with zeros */
                              {&w->work,      sizeof(unsigned) * m                             },
                              {&w->range,     sizeof(uint2) * m                                },
                              {&w->kind,      m                                                },
                              {&w->pattern,   m                                                },
                              {&w->values,    m                                                },
                              {&w->scan,      w->scan_bytes                                    },
                              {&w->long_rows, sizeof(int) * (size_t)SpgemmDeviceLongRows(B->nz)}
  },
                            stream));
  SYS_CALL(StepTakePattern(S, step, A, B, stream));
  P                 = StepOperands(step, A, B);
  counters          = (SpgemmCounters *)w->counters.data;
  step->m           = (int)A->m;
  step->accumulator = S->accumulator;
  w->sample         = StepIsLarge(S, A, B) && S->makes && (S->accumulator == SPGEMM_AUTO || S->accumulator == SPGEMM_ESC);
  zeros             = (int *)w->size.data + m;
  SYS_CUDA(cudaMemsetAsync(zeros, 0, (size_t)((char *)(counters + 1) - (char *)zeros), stream));
  SYS_CALL(SpgemmDeviceWords(&P, (int *)w->long_rows.data, counters, stream));
  SYS_CUDA(cudaMemsetAsync(step->kept_words.data, SPGEMM_NOT_KEPT, m, stream));
  SYS_CALL(SpgemmTake(S, sizeof(int) * (m + 1), &step->i, stream)); /* overlaps with the device's work */
  SYS_CALL(SpgemmTake(S, sizeof(int) * m, &step->values_rows, stream));
  SYS_CALL(StepSortRows(S, step, &P, w, stream));
  step->products = (double)host->products;
  S->info.products += step->products;
  if (host->units > INT_MAX) { /* there are at least as many entries */
    S->info.nonzeros = (double)host->units;
    return SYS_TOO_LARGE;
  }
  SYS_CALL(StepTakeMade(S, step, &P, w, stream));
  step->units                    = (int)host->units;
  step->rows[SPGEMM_ROWS_EMPTY]  = host->count.rows[COUNT_EMPTY];
  step->rows[SPGEMM_ROWS_COPIED] = host->count.rows[COUNT_COPY];
  step->rows[SPGEMM_ROWS_HEAP]   = (double)host->count.rows[COUNT_HEAP_8] + host->count.rows[COUNT_HEAP_16];
  step->rows[SPGEMM_ROWS_MERGE]  = host->count.rows[COUNT_MERGE];
  for (int b = COUNT_SORT_64; b <= COUNT_SORT_512; b++) step->rows[SpgemmMakes(step->accumulator, b) ? SPGEMM_ROWS_ESC : SPGEMM_ROWS_SORT] += host->count.rows[b];
  for (int b = COUNT_128; b < COUNT_WINDOW; b++) step->rows[SpgemmMakes(step->accumulator, b) ? SPGEMM_ROWS_HASH : SPGEMM_ROWS_WORDS] += host->count.rows[b];
  step->rows[SPGEMM_ROWS_WINDOW] = host->count.rows[COUNT_WINDOW];
  return SYS_SUCCESS;
}

static SpgemmKept StepKept(const SpgemmStep *step)
{
  const SpgemmKept kept = {step->capacity, (uint2 *)step->kept_word.data, (unsigned char *)step->kept_words.data, (unsigned)(step->kept_bits.bytes / sizeof(unsigned)), (unsigned *)step->kept_bits.data, NULL};

  return kept;
}

static SpgemmSorted StepSorted(const SpgemmStep *step)
{
  const SpgemmSorted sorted = {(int *)step->sorted.data, (unsigned *)step->sorted_place.data};

  return sorted;
}

/* Allocates memory for sorted rows' columns; for most other rows' words, if they are most rows; and for units' bits, if products are many relative to
   words, since otherwise setting them again is as fast */
static SysStatus StepTakeKept(SpgemmDevice *S, SpgemmStep *step, cudaStream_t stream)
{
  const SpgemmCounters *host = S->context->counters;
  const size_t          m    = (size_t)step->m;
  size_t                room = 0;
  const double          bits = 33. / 32 * (double)host->window_words + (double)host->units;
  double                rows = 0, half;

  for (int b = COUNT_SORT_64; b <= COUNT_SORT_512; b++) {
    if (!SpgemmMakes(step->accumulator, b)) room += (size_t)host->count.rows[b] * (size_t)SpgemmDeviceSortRoom(b);
  }
  if (room) {
    SYS_CALL(SpgemmTake(S, sizeof(unsigned) * m, &step->sorted_place, stream));
    (void)StepTakeIfThere(S, sizeof(int) * room, &step->sorted, stream);
  }
  for (int b = COUNT_128; b < COUNT_WINDOW; b++) rows += SpgemmMakes(step->accumulator, b) ? 0 : host->count.rows[b];
  half = rows > 0 ? (double)host->hash_words / rows / 2 : 0;
  if (half > SPGEMM_KEPT_WORDS || host->count.rows[COUNT_WINDOW] > rows) half = SPGEMM_KEPT_WORDS;
  rows += host->count.rows[COUNT_WINDOW];
  step->capacity = half > 16 ? ((int)half + 7) / 8 * 8 : 16;
  if (rows <= 0.5 * (double)m || !StepTakeIfThere(S, sizeof(uint2) * m * (size_t)step->capacity, &step->kept_word, stream)) step->capacity = 0;
  if (host->units && 3 * bits < step->products && bits < (double)SPGEMM_NOWORD) (void)StepTakeIfThere(S, sizeof(unsigned) * (size_t)bits, &step->kept_bits, stream);
  return SYS_SUCCESS;
}

static SpgemmLines StepLines(const SpgemmStep *step)
{
  const SpgemmLines lines = {(unsigned char *)step->shifted.data, (unsigned char *)step->line.data, (int2 *)step->group.data};

  return lines;
}

/* Searches lines of shifted rows: only with SPGEMM_AUTO, and if B's rows are long enough for the required products an entry */
static void StepTakeLines(SpgemmDevice *S, SpgemmStep *step, const SysCSR *A, const SysCSR *B, cudaStream_t stream)
{
  const double asked = S->info.bytes_asked;

  if (S->nstep != 1 || step->accumulator != SPGEMM_AUTO || step->products < SPGEMM_LINE_LEAST || step->products < 3. * SPGEMM_LINE_PRODUCTS * (double)A->nz) return;
  if (SpgemmTakePieces(S, &step->line_memory,
                       {
                         {&step->group,   sizeof(int2) * (size_t)SpgemmDeviceMostGroups(A->m)},
                         {&step->line,    (size_t)A->m                                       },
                         {&step->shifted, (size_t)B->m                                       }
  },
                       stream) != SYS_SUCCESS)
    S->info.bytes_asked = asked;
}

static void StepDropLines(SpgemmDevice *S, SpgemmStep *step, cudaStream_t stream)
{
  SpgemmDrop(S, {&step->line_memory}, stream);
  step->group.data = step->line.data = step->shifted.data = NULL;
}

/* Counts all rows' entries; bins are independent */
static SysStatus StepCountRows(SpgemmDevice *S, const SpgemmStep *step, const SpgemmOperands *P, const Counting *w, cudaStream_t stream)
{
  const SpgemmDeviceContext *context  = S->context;
  const SpgemmCounters      *host     = context->counters;
  SpgemmCounters            *counters = (SpgemmCounters *)w->counters.data;
  const int                  windows  = (int)host->count.rows[COUNT_WINDOW];
  const int                 *rows     = (const int *)step->pattern_rows.data + step->m - windows;
  SpgemmUnit                *unit     = (SpgemmUnit *)step->unit.data;
  int                       *size = (int *)w->size.data, *first = (int *)w->first.data, kernels = windows > 0;
  SpgemmKept                 kept   = StepKept(step);
  const SpgemmSorted         sorted = StepSorted(step);
  const SpgemmLines          lines  = StepLines(step);
  SpgemmMade                 made   = StepMade(step);
  int64_t                    offset = 0;
  Streams                    streams;

  kept.bits_next = &counters->bits_next;
  made.next      = &counters->made_next;
  for (int b = COUNT_COPY + 1; b < COUNT_WINDOW; b++) kernels += host->count.rows[b] > 0;
  kernels += step->line.data != NULL;
  SYS_CALL(StepFork(context, kernels, stream, &streams));
  if (step->line.data) SYS_CALL(SpgemmDeviceFindLines(P, &context->limits, &lines, counters, StepStream(&streams)));
  if (windows) {
    const cudaStream_t side = StepStream(&streams);

    SYS_CALL(SpgemmDeviceUnits(windows, rows, size, (const uint2 *)w->range.data, unit, first, counters, side));
    SYS_CALL(SpgemmDeviceWindowCount(P, unit, step->units, &kept, side));
    SYS_CALL(SpgemmDeviceSumUnits(windows, rows, first, unit, size, side));
  }
  for (int b = COUNT_WINDOW - 1; b > COUNT_COPY; b--) {
    const int n = (int)host->count.rows[b];

    rows -= n;
    if (!n) continue;
    const cudaStream_t side = StepStream(&streams);
    if (b >= COUNT_128 && SpgemmMakes(step->accumulator, b)) SYS_CALL(SpgemmDeviceTableRows(P, b, rows, n, (const uint2 *)w->range.data, (const unsigned *)w->work.data, size, &made, side));
    else if (b >= COUNT_128) SYS_CALL(SpgemmDeviceHashCount(P, b, rows, n, size, &kept, side));
    else if (b == COUNT_MERGE) SYS_CALL(SpgemmDeviceMergeRows(P, rows, n, (const uint2 *)w->range.data, (const unsigned *)w->work.data, size, &made, side));
    else if (b < COUNT_SORT_64) SYS_CALL(SpgemmDeviceHeapRows(P, b, rows, n, (const uint2 *)w->range.data, (const unsigned *)w->work.data, size, &made, side));
    else if (SpgemmMakes(step->accumulator, b)) SYS_CALL(SpgemmDeviceEscRows(P, b, rows, n, (const uint2 *)w->range.data, size, &made, side));
    else {
      SYS_CALL(SpgemmDeviceSortCount(P, b, rows, n, size, &sorted, offset, side));
      offset += (int64_t)n * SpgemmDeviceSortRoom(b);
    }
  }
  return StepJoin(&streams);
}

static SysStatus StepCount(SpgemmDevice *S, SpgemmStep *step, const SysCSR *A, const SysCSR *B, Counting *w, cudaStream_t stream)
{
  const SpgemmCounters *host = S->context->counters;
  SpgemmOperands        P;
  SpgemmCounters       *counters;
  int                  *size, total = 0, rows;

  SYS_CALL(StepClassify(S, step, A, B, w, stream));
  if (step->units) {
    SYS_CALL(SpgemmTake(S, sizeof(SpgemmUnit) * (size_t)step->units, &step->unit, stream));
    SYS_CALL(SpgemmTake(S, sizeof(int) * (size_t)host->count.rows[COUNT_WINDOW], &w->first, stream));
  }
  SYS_CALL(StepTakeKept(S, step, stream));
  StepTakeLines(S, step, A, B, stream);
  P        = StepOperands(step, A, B);
  counters = (SpgemmCounters *)w->counters.data;
  size     = (int *)w->size.data;
  SYS_CALL(StepCountRows(S, step, &P, w, stream));
  SYS_CALL(SpgemmDeviceReclassify(step->m, &S->context->limits, step->accumulator, (const unsigned char *)w->kind.data, (const unsigned char *)step->kept_words.data, (const unsigned *)step->made_place.data, step->sorted.data != NULL, size,
                                  (const unsigned *)w->work.data, P.Ai, (unsigned char *)step->line.data, (unsigned char *)w->pattern.data, (unsigned char *)w->values.data, counters, stream));
  SYS_CALL(SpgemmDeviceScatter(step->m,
                               {
                                 {(const unsigned char *)w->pattern.data, 255, (int *)step->pattern_rows.data, &counters->pattern},
                                 {(const unsigned char *)w->values.data,  255, (int *)step->values_rows.data,  &counters->values }
  },
                               counters, S->context->counters, stream));
  SYS_CUDA(cudaEventRecord(S->context->counted, stream)); /* does not wait for the sum of the sizes */
  SYS_CALL(SpgemmDeviceScan(step->m, size, (int *)step->i.data, w->scan.data, w->scan_bytes, stream));
  SYS_CUDA(cudaEventSynchronize(S->context->counted));
  S->info.nonzeros = (double)host->nonzeros;
  if (host->nonzeros > INT_MAX) return SYS_TOO_LARGE;
  step->nz    = (int64_t)host->nonzeros;
  step->pairs = (double)host->pairs;

  step->groups        = host->line_rows ? (int)host->line_groups : 0;
  step->line_bytes    = host->line_bytes;
  step->line_rows     = host->line_rows;
  step->line_products = (double)host->line_products;
  if (!step->groups) StepDropLines(S, step, stream);
  for (int b = 0; b < SPGEMM_BINS; b++) {
    step->pattern[b] = (int)host->pattern.rows[b];
    step->values[b]  = (int)host->values.rows[b];
  }
  for (int b = COUNT_SORT_64; b <= COUNT_SORT_512 && SpgemmMakes(step->accumulator, b); b++) { /* rows without a place */
    step->rows[SPGEMM_ROWS_ESC] -= step->pattern[PATTERN_SORT_64 + b - COUNT_SORT_64];
    step->rows[SPGEMM_ROWS_SORT] += step->pattern[PATTERN_SORT_64 + b - COUNT_SORT_64];
  }
  for (int c = 0; c < SPGEMM_PART_CLASSES; c++) {
    step->parts[c] = (int)host->parts[c];
    total += step->parts[c];
  }
  rows = step->values[2 * VALUES_PARTS] + step->values[2 * VALUES_PARTS + 1];
  if (!total) return SYS_SUCCESS;
  SYS_CALL(SpgemmTakePieces(S, &step->part_memory,
                            {
                              {&step->part,  sizeof(SpgemmPart) * (size_t)total                            },
                              {&step->order, sizeof(int) * SPGEMM_PART_KINDS * (size_t)total               },
                              {&step->kinds, sizeof(unsigned) * 2 * SPGEMM_PART_KINDS * SPGEMM_PART_CLASSES}
  },
                            stream));
  return SpgemmDeviceParts(rows, (const int *)step->values_rows.data + step->m - rows, size, (const unsigned *)w->work.data, (SpgemmPart *)step->part.data, counters, stream);
}

SysStatus SpgemmStepCount(SpgemmDevice *S, SpgemmStep *step, const SysCSR *A, const SysCSR *B, cudaStream_t stream)
{
  Counting  w;
  SysStatus status;

  memset(&w, 0, sizeof(w));
  status = StepCount(S, step, A, B, &w, stream);
  SpgemmDrop(S, {&w.memory, &w.first}, stream);
  return status;
}

static void StepDropPattern(SpgemmDevice *S, SpgemmStep *step, cudaStream_t stream)
{
  SpgemmDrop(S, {&step->pattern_memory, &step->words_memory, &step->unit, &step->kept_word, &step->kept_bits, &step->sorted, &step->sorted_place}, stream);
}

static SysStatus StepRowsPattern(const SpgemmStep *step, const SpgemmOperands *P, int bin, const int *rows, int n, const int *i, int *j, SysScalar *a, cudaStream_t stream)
{
  const SpgemmKept   kept   = StepKept(step);
  const SpgemmSorted sorted = StepSorted(step);
  const SpgemmMade   made   = StepMade(step);

  if (bin == PATTERN_MADE) return SpgemmDeviceMadeRows(&made, step->m, step->nz, i, j, a, stream);
  if (bin >= PATTERN_SORT_64) return SpgemmDeviceSortPattern(P, bin - PATTERN_SORT_64 + COUNT_SORT_64, rows, n, i, j, stream);
  if (bin >= PATTERN_SORTED_64) return SpgemmDeviceSortedPattern(&sorted, bin == PATTERN_SORTED_64, rows, n, i, j, stream);
  return SpgemmDeviceHashPattern(P, &kept, bin, rows, n, i, j, stream);
}

SysStatus SpgemmStepPattern(SpgemmDevice *S, SpgemmStep *step, const SysCSR *A, const SysCSR *B, const int *i, int *j, SysScalar *a, cudaStream_t stream)
{
  const SpgemmDeviceContext *context = S->context;
  const SpgemmOperands       P       = StepOperands(step, A, B);
  const int                 *rows    = (const int *)step->pattern_rows.data + step->m;
  const SpgemmPart          *parts   = (const SpgemmPart *)step->part.data;
  const SpgemmKept           kept    = StepKept(step);
  int                       *order = (int *)step->order.data, kernels = step->units > 0;
  Streams                    streams;

  for (int b = 0; b < SPGEMM_BINS; b++) kernels += b != PATTERN_EMPTY && b != PATTERN_WINDOW && step->pattern[b];
  SYS_CALL(StepFork(context, kernels, stream, &streams));
  if (step->units) SYS_CALL(SpgemmDeviceWindowPattern(&P, (const SpgemmUnit *)step->unit.data, step->units, &kept, i, j, StepStream(&streams)));
  for (int b = SPGEMM_BINS - 1; b >= 0; b--) {
    rows -= step->pattern[b];
    if (b != PATTERN_EMPTY && b != PATTERN_WINDOW && step->pattern[b]) SYS_CALL(StepRowsPattern(step, &P, b, rows, step->pattern[b], i, j, a, StepStream(&streams)));
  }
  SYS_CALL(StepJoin(&streams));
  step->made_values = a && step->pattern[PATTERN_MADE];
  StepDropPattern(S, step, stream);
  if (!step->part.data) return SYS_SUCCESS;
  SYS_CUDA(cudaMemsetAsync(step->kinds.data, 0, step->kinds.bytes, stream));
  kernels = 0;
  for (int c = 0; c < SPGEMM_PART_CLASSES; c++) kernels += step->parts[c] > 0;
  SYS_CALL(StepFork(context, kernels, stream, &streams));
  for (int c = SPGEMM_PART_CLASSES - 1; c >= 0; c--) {
    if (step->parts[c]) SYS_CALL(SpgemmDeviceOrderParts(c, parts, step->parts[c], i, j, order, (unsigned *)step->kinds.data + 2 * SPGEMM_PART_KINDS * c, StepStream(&streams)));
    parts += step->parts[c];
    order += (size_t)SPGEMM_PART_KINDS * (size_t)step->parts[c];
  }
  return StepJoin(&streams);
}

static SpgemmPlaces StepPlaces(const SpgemmStep *step)
{
  const SpgemmPlaces places = {(unsigned short *)step->place.data, (unsigned long long *)step->offset.data, (uint4 *)step->pair.data, (uint2 *)step->list.data, (unsigned *)step->pair_next.data, (const unsigned *)step->made_place.data};

  return places;
}

static void StepDropPlaces(SpgemmDevice *S, SpgemmStep *step, cudaStream_t stream)
{
  SpgemmDrop(S, {&step->place, &step->offset, &step->pair, &step->list, &step->pair_next}, stream);
}

/* Allocates the products' places, if at most three times the memory of operands and result, and sets each row's first place */
static SysStatus StepTakePlaces(SpgemmDevice *S, SpgemmStep *step, const SysCSR *A, const SysCSR *B, cudaStream_t stream)
{
  const SpgemmOperands P        = StepOperands(step, A, B);
  const size_t         parts    = step->part.bytes / sizeof(SpgemmPart);
  const double         products = step->products - step->line_products;
  const double         asked    = sizeof(unsigned short) * products + sizeof(uint4) * step->pairs + sizeof(unsigned long long) * (double)step->m + sizeof(uint2) * (double)parts;
  const double         there    = (sizeof(int) + sizeof(SysScalar)) * ((double)A->nz + (double)B->nz + (double)step->nz);
  SpgemmArray          work     = {NULL, 0};
  size_t               scan;
  SysStatus            status;

  if (asked > 3 * there || step->pairs >= (double)SPGEMM_COUNTED_PAIRS) return SYS_SUCCESS;
  SYS_CALL(SpgemmDevicePlacesSize(step->m, &scan));
  if (StepTakeIfThere(S, sizeof(unsigned short) * (size_t)products, &step->place, stream) && StepTakeIfThere(S, sizeof(unsigned long long) * (size_t)step->m, &step->offset, stream) && StepTakeIfThere(S, sizeof(uint4) * (size_t)step->pairs, &step->pair, stream) &&
      StepTakeIfThere(S, sizeof(uint2) * parts, &step->list, stream) && StepTakeIfThere(S, sizeof(unsigned), &step->pair_next, stream) && StepTakeIfThere(S, scan, &work, stream)) {
    step->mode = SPGEMM_KEEP;
    status     = SpgemmDevicePlaces(&P, (const unsigned char *)step->line.data, (unsigned long long *)step->offset.data, work.data, scan, stream);
    SpgemmDrop(S, {&work}, stream);
    SYS_CALL(status);
    SYS_CUDA(cudaMemsetAsync(step->pair_next.data, 0, sizeof(unsigned), stream));
  } else StepDropPlaces(S, step, stream);
  return SYS_SUCCESS;
}

/* Longest rows first. Rows computed while counting already have their first values. */
static SysStatus StepRowValues(const SpgemmDevice *S, const SpgemmStep *step, const SysCSR *A, const SysCSR *B, const int *i, const int *j, SysScalar *a, cudaStream_t stream)
{
  const SpgemmDeviceContext *context = S->context;
  const SpgemmOperands       P       = StepOperands(step, A, B);
  SpgemmPlaces               places  = StepPlaces(step);
  const SpgemmPart          *parts   = (const SpgemmPart *)step->part.data;
  const SpgemmMade           made    = StepMade(step);
  const SpgemmLines          lines   = StepLines(step);
  const int                 *rows = (const int *)step->values_rows.data + step->m, *order = (const int *)step->order.data;
  int                        kernels = step->groups > 0, there = 0;
  bool                       copies;
  Streams                    streams;

  for (int v = VALUES_COPY; v < SPGEMM_BINS / 2; v++) {
    there += step->values[2 * v + 1];
    kernels += step->values[2 * v] + (made.value ? 0 : step->values[2 * v + 1]) > 0;
  }
  copies = made.value && there && !step->made_values;
  kernels += copies;
  for (int c = 0; c < SPGEMM_PART_CLASSES; c++) {
    if (!step->parts[c]) continue;
    SYS_CUDA(cudaMemsetAsync((unsigned *)step->kinds.data + (2 * c + 1) * SPGEMM_PART_KINDS, 0, sizeof(unsigned) * SPGEMM_PART_KINDS, stream));
    kernels = SPGEMM_STREAMS;
  }
  SYS_CALL(StepFork(context, kernels, stream, &streams));
  for (int c = SPGEMM_PART_CLASSES - 1; c >= 0; c--) {
    if (step->parts[c]) SYS_CALL(SpgemmDevicePartValues(&P, c, parts, order, (unsigned *)step->kinds.data + 2 * SPGEMM_PART_KINDS * c, step->parts[c], step->mode, &places, i, j, a, streams.stream));
    parts += step->parts[c];
    places.list += step->parts[c];
    order += (size_t)SPGEMM_PART_KINDS * (size_t)step->parts[c];
  }
  if (step->groups) SYS_CALL(SpgemmDeviceLineValues(&P, &lines, step->groups, step->line_bytes, i, j, a, StepStream(&streams)));
  if (copies) SYS_CALL(SpgemmDeviceMadeRows(&made, step->m, step->nz, i, NULL, a, StepStream(&streams)));
  for (int v = SPGEMM_BINS / 2 - 1; v >= 0; v--) {
    const int n = step->values[2 * v] + (made.value ? 0 : step->values[2 * v + 1]);

    rows -= step->values[2 * v] + step->values[2 * v + 1];
    if (v != VALUES_EMPTY && v != VALUES_PARTS && n) SYS_CALL(SpgemmDeviceValues(&P, v, rows, n, step->mode, &places, i, j, a, StepStream(&streams)));
  }
  return StepJoin(&streams);
}

/* Computes values. A second request means that more will follow: from then on it stores places. */
SysStatus SpgemmStepFirstValues(SpgemmDevice *S, SpgemmStep *step, const SysCSR *A, const SysCSR *B, const int *i, const int *j, SysScalar *a, cudaStream_t stream)
{
  SYS_CALL(StepRowValues(S, step, A, B, i, j, a, stream));
  StepDropMade(S, step, stream);
  if (step->mode == SPGEMM_KEEP) step->mode = SPGEMM_KNOWN;
  if (step->again < 2) step->again++;
  return SYS_SUCCESS;
}

SysStatus SpgemmStepValues(SpgemmDevice *S, SpgemmStep *step, const SysCSR *A, const SysCSR *B, const int *i, const int *j, SysScalar *a, cudaStream_t stream)
{
  StepDropMade(S, step, stream);
  if (step->again == 1) SYS_CALL(StepTakePlaces(S, step, A, B, stream));
  return SpgemmStepFirstValues(S, step, A, B, i, j, a, stream);
}

void SpgemmStepDrop(SpgemmDevice *S, SpgemmStep *step, cudaStream_t stream)
{
  StepDropPattern(S, step, stream);
  StepDropPlaces(S, step, stream);
  StepDropMade(S, step, stream);
  StepDropLines(S, step, stream);
  SpgemmDrop(S, {&step->i, &step->values_rows, &step->part_memory}, stream);
}
