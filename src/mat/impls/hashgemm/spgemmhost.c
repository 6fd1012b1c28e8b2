/*
   Sparse products on the host: the sequence of steps that each kind of product is, and the threads of each step

   Reference:
.  * - Y. Nagasaka, "Sparse matrix computations on many-core processors", doctoral thesis, Tokyo Institute of Technology, 2019, chapter 6
*/
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "spgemmimpl.h"

#define ROW_COST    8     /* of a row besides its products, in products */
#define THREAD_COST 20000 /* from which on a further thread is worth while */

#if defined(AMB_INT64)
  #define AMB_INT_MAX INT64_MAX
#else
  #define AMB_INT_MAX INT32_MAX
#endif

/* One product of two matrices: its rows are cut so that each thread has as many multiplications */
typedef struct {
  int64_t *cuts;
  int      nthread;
  int64_t  m;
  double   nonzeros;
  AmbInt  *i; /* until it is in the result */
} Step;

struct _Spgemm {
  SpgemmType           type;
  SpgemmOptions        options;
  const SpgemmKernels *kernels;
  int                  right; /* A (B C) instead of (A B) C */
  int                  nstep;
  Step                 step[2]; /* the last makes the result */
  SpgemmTranspose      transpose;
  SpgemmCSR            inner; /* the result of the first of two steps */
  size_t               inner_size_j, inner_size_a;
  SpgemmWords          words;
  double               bytes; /* now */
  SpgemmInfo           info;
};

static const SpgemmKernels *Kernels(void)
{
#if defined(PETSCAMB_HAVE_AVX512)
  if (SpgemmKernelsAVX512.supported()) return &SpgemmKernelsAVX512;
#endif
#if defined(PETSCAMB_HAVE_AVX2)
  if (SpgemmKernelsAVX2.supported()) return &SpgemmKernelsAVX2;
#endif
  return &SpgemmKernelsPlain;
}

static int64_t Least(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

static void Account(Spgemm *S, double bytes)
{
  S->bytes += bytes;
  if (S->bytes > S->info.bytes_peak) S->info.bytes_peak = S->bytes;
}

static SpgemmCSR Transposed(const Spgemm *S)
{
  return (SpgemmCSR){S->transpose.m, S->transpose.n, S->transpose.i, S->transpose.j, S->transpose.a};
}

/* The operands of a step; those of the first come from the arguments and the transpose alone */
static SpgemmProduct Operands(const Spgemm *S, int step, const SpgemmCSR *A, const SpgemmCSR *B, const SpgemmCSR *C)
{
  const int     last = step == S->nstep - 1;
  SpgemmProduct P;

  memset(&P, 0, sizeof(P));
  switch (S->type) {
  case SPGEMM_AB:
    P.A = *A;
    P.B = *B;
    break;
  case SPGEMM_ATB:
    P.A = Transposed(S);
    P.B = *B;
    break;
  case SPGEMM_ABT:
    P.A = *A;
    P.B = Transposed(S);
    break;
  case SPGEMM_PTAP:
    P.A = last ? Transposed(S) : *A;
    P.B = last ? S->inner : *B;
    break;
  case SPGEMM_RART:
    P.A = last ? *B : *A;
    P.B = last ? S->inner : Transposed(S);
    break;
  case SPGEMM_ABC:
    if (S->right) {
      P.A = last ? *A : *B;
      P.B = last ? S->inner : *C;
    } else {
      P.A = last ? S->inner : *A;
      P.B = last ? *C : *B;
    }
    break;
  }
  P.last    = P.A.i[P.A.m] - 1;
  P.lengthB = P.B.m ? (double)P.B.i[P.B.m] / (double)P.B.m : 0;
  for (int64_t r = 0; r < P.B.m; r++) {
    const double length = (double)(P.B.i[r + 1] - P.B.i[r]);

    if (length > P.longestB) P.longestB = length;
  }
  P.accumulator = S->options.accumulator;
  /* nobody else sees the first result: it is sorted only where that costs nothing, or where the heap needs it */
  P.unsorted  = !last && P.accumulator != SPGEMM_HEAP;
  P.unsortedB = last && S->nstep == 2 && P.B.j == S->inner.j && P.accumulator != SPGEMM_HEAP;
  return P;
}

static double Products(const SpgemmCSR *A, const SpgemmCSR *B)
{
  double n = 0;

  for (AmbInt k = 0; k < A->i[A->m]; k++) n += (double)(B->i[A->j[k] + 1] - B->i[A->j[k]]);
  return n;
}

static int64_t RowProducts(const SpgemmProduct *P, int64_t r)
{
  int64_t n = 0;

  for (AmbInt k = P->A.i[r]; k < P->A.i[r + 1]; k++) n += P->B.i[P->A.j[k] + 1] - P->B.i[P->A.j[k]];
  return n;
}

/* RowsToThreads of the thesis. bound, if it is not NULL: bound[t] becomes the entries that the rows before those of thread t can have at most. */
static SpgemmStatus RowsToThreads(Spgemm *S, const SpgemmProduct *P, Step *step, int64_t *bound)
{
  const int64_t m    = P->A.m;
  const size_t  size = sizeof(int64_t) * (size_t)m;
  int64_t      *products, total = 0, before = 0, entries = 0;
  int           nthread = S->options.nthread, t = 1;

  step->nthread = 1;
  step->cuts    = calloc(nthread + 1, sizeof(*step->cuts));
  if (!step->cuts) return SPGEMM_OUT_OF_MEMORY;
  step->cuts[1] = m;
  if (nthread == 1) {
    for (int64_t r = 0; bound && r < m; r++) bound[1] += Least(RowProducts(P, r), P->B.n);
    return SPGEMM_SUCCESS;
  }
  products = SpgemmAllocate(size);
  if (!products) return SPGEMM_OUT_OF_MEMORY;
  Account(S, (double)size);
#if defined(_OPENMP)
  #pragma omp parallel for num_threads(nthread) schedule(static) reduction(+ : total)
#endif
  for (int64_t r = 0; r < m; r++) {
    products[r] = RowProducts(P, r);
    total += products[r] + ROW_COST;
  }
  step->nthread = (int)Least(nthread, 1 + total / THREAD_COST);
  for (int64_t r = 0; r < m; r++) {
    for (; t < step->nthread && (double)before >= (double)total * t / step->nthread; t++) {
      step->cuts[t] = r;
      if (bound) bound[t] = entries;
    }
    before += products[r] + ROW_COST;
    entries += Least(products[r], P->B.n);
  }
  for (; t <= step->nthread; t++) {
    step->cuts[t] = m;
    if (bound) bound[t] = entries;
  }
  SpgemmRelease(products, size);
  Account(S, -(double)size);
  return SPGEMM_SUCCESS;
}

/* place: where in j and a the part of each thread begins, unless i tells */
static SpgemmStatus Run(Spgemm *S, const Step *step, const SpgemmProduct *P, const int64_t *place, SpgemmStatus (*kernel)(const SpgemmProduct *, int64_t, int64_t, SpgemmWork *), double rows[5], double *products)
{
  int    status = SPGEMM_SUCCESS;
  double bytes = 0, n = 0, r0 = 0, r1 = 0, r2 = 0, r3 = 0, r4 = 0;

#if defined(_OPENMP)
  #pragma omp parallel num_threads(step->nthread) if (step->nthread > 1) reduction(| : status) reduction(+ : bytes, n, r0, r1, r2, r3, r4)
#endif
  for (int t = omp_get_thread_num(); t < step->nthread && !status; t += omp_get_num_threads()) {
    SpgemmProduct Q = *P;
    SpgemmWork    w;

    memset(&w, 0, sizeof(w));
    if (place) {
      Q.j += place[t];
      Q.a += place[t];
    }
    status = kernel(&Q, step->cuts[t], step->cuts[t + 1], &w);
    bytes += w.bytes;
    n += w.products;
    r0 += w.rows[0];
    r1 += w.rows[1];
    r2 += w.rows[2];
    r3 += w.rows[3];
    r4 += w.rows[4];
    SpgemmWorkDestroy(&w);
  }
  Account(S, bytes);
  Account(S, -bytes);
  if (rows) {
    rows[0] += r0;
    rows[1] += r1;
    rows[2] += r2;
    rows[3] += r3;
    rows[4] += r4;
  }
  if (products) *products += n;
  return (SpgemmStatus)status;
}

static void DropWords(Spgemm *S)
{
  Account(S, -SpgemmWordsBytes(&S->words));
  SpgemmWordsDestroy(&S->words);
}

static SpgemmStatus MakeWords(Spgemm *S, SpgemmProduct *P)
{
  SpgemmStatus status;

  if (P->A.i[P->A.m] < 3 * P->B.m || P->unsortedB || (P->accumulator != SPGEMM_AUTO && P->accumulator != SPGEMM_DENSE)) return SPGEMM_SUCCESS;
  status = SpgemmWordsCreate(&P->B, S->options.nthread, &S->words);
  if (status) return status;
  Account(S, SpgemmWordsBytes(&S->words));
  P->words = S->words;
  return SPGEMM_SUCCESS;
}

static SpgemmStatus MakeI(Spgemm *S, const SpgemmProduct *P, Step *step)
{
  step->m = P->A.m;
  step->i = SpgemmAllocate(sizeof(*step->i) * (step->m + 1));
  if (!step->i) return SPGEMM_OUT_OF_MEMORY;
  Account(S, (double)sizeof(*step->i) * (step->m + 1));
  return SPGEMM_SUCCESS;
}

/* From the lengths of the rows to the row pointers */
static SpgemmStatus SumI(Spgemm *S, Step *step)
{
  double sum = 0;

  for (int64_t r = 0; r < step->m; r++) sum += (double)step->i[r + 1];
  step->nonzeros   = sum;
  S->info.nonzeros = sum;
  if (sum > (double)AMB_INT_MAX) return SPGEMM_TOO_LARGE;
  for (int64_t r = 0; r < step->m; r++) step->i[r + 1] += step->i[r];
  return SPGEMM_SUCCESS;
}

/* The row pointers of the result of the last step */
static SpgemmStatus Count(Spgemm *S, Step *step, SpgemmProduct *P)
{
  SpgemmStatus status = MakeWords(S, P);

  if (!status) status = RowsToThreads(S, P, step, NULL);
  if (!status) status = MakeI(S, P, step);
  if (status) return status;
  P->i   = step->i;
  status = Run(S, step, P, NULL, S->kernels->count, NULL, &S->info.products);
  return status ? status : SumI(S, step);
}

static int AllocateInner(Spgemm *S, SpgemmProduct *P, int64_t entries)
{
  S->inner_size_j = sizeof(*P->j) * (size_t)entries;
  S->inner_size_a = sizeof(*P->a) * (size_t)entries;
  P->j            = SpgemmAllocate(S->inner_size_j);
  P->a            = SpgemmAllocate(S->inner_size_a);
  if (!P->j || !P->a) {
    SpgemmRelease(P->j, S->inner_size_j);
    SpgemmRelease(P->a, S->inner_size_a);
    return 0;
  }
  S->inner.j = P->j;
  S->inner.a = P->a;
  return 1;
}

/* Moves the rows of each thread behind those of the thread before */
static void Compact(const Step *step, const SpgemmProduct *P, const int64_t *place)
{
  for (int t = 1; t < step->nthread; t++) {
    const int64_t begin = step->i[step->cuts[t]], n = step->i[step->cuts[t + 1]] - begin;

    memmove(P->j + begin, P->j + place[t], sizeof(*P->j) * n);
    memmove(P->a + begin, P->a + place[t], sizeof(*P->a) * n);
  }
}

/*
   The first of two steps, all of it. Its memory is ours: there is room for as many entries as there can be, which is taken only where it is
   written to, and nothing needs to be counted first, unless there is no such room.
*/
static SpgemmStatus FillInner(Spgemm *S, SpgemmProduct *P, int64_t *place)
{
  Step        *step   = &S->step[0];
  SpgemmStatus status = MakeWords(S, P);

  if (!status) status = RowsToThreads(S, P, step, place);
  if (!status) status = MakeI(S, P, step);
  if (status) return status;
  for (int t = 0; t <= step->nthread; t++) place[t] += SPGEMM_PAD * (int64_t)t;
  S->inner = (SpgemmCSR){P->A.m, P->B.n, step->i, NULL, NULL};
  P->i     = step->i;
  if (AllocateInner(S, P, place[step->nthread])) {
    status = Run(S, step, P, place, S->kernels->make, S->info.rows, &S->info.products);
    if (!status) status = SumI(S, step);
    if (status) return status;
    Compact(step, P, place);
    S->inner_size_j = SpgemmShrink(P->j, S->inner_size_j, sizeof(*P->j) * (size_t)step->nonzeros);
    S->inner_size_a = SpgemmShrink(P->a, S->inner_size_a, sizeof(*P->a) * (size_t)step->nonzeros);
  } else {
    status = Run(S, step, P, NULL, S->kernels->count, NULL, &S->info.products);
    if (!status) status = SumI(S, step);
    if (status) return status;
    if (!AllocateInner(S, P, (int64_t)step->nonzeros)) return SPGEMM_OUT_OF_MEMORY;
    status = Run(S, step, P, NULL, S->kernels->fill, S->info.rows, NULL);
  }
  Account(S, (double)S->inner_size_j + (double)S->inner_size_a);
  return status;
}

static SpgemmStatus MakeInner(Spgemm *S, const SpgemmCSR *A, const SpgemmCSR *B, const SpgemmCSR *C)
{
  SpgemmProduct P      = Operands(S, 0, A, B, C);
  int64_t      *place  = calloc(S->options.nthread + 1, sizeof(*place));
  SpgemmStatus  status = place ? FillInner(S, &P, place) : SPGEMM_OUT_OF_MEMORY;

  free(place);
  DropWords(S);
  return status;
}

static SpgemmStatus Create(Spgemm *S, const SpgemmCSR *A, const SpgemmCSR *B, const SpgemmCSR *C)
{
  const SpgemmCSR *T = S->type == SPGEMM_ATB ? A : (S->type == SPGEMM_ABT || S->type == SPGEMM_PTAP || S->type == SPGEMM_RART ? B : NULL);
  SpgemmProduct    P;
  SpgemmStatus     status;

  S->nstep = S->type == SPGEMM_PTAP || S->type == SPGEMM_RART || S->type == SPGEMM_ABC ? 2 : 1;
  if (T) {
    status = SpgemmTransposeCreate(T, S->options.nthread, &S->transpose);
    if (status) return status;
    Account(S, SpgemmTransposeBytes(&S->transpose));
  }
  if (S->type == SPGEMM_ABC) S->right = Products(B, C) < Products(A, B);
  if (S->nstep == 2) {
    status = MakeInner(S, A, B, C);
    if (status) return status;
  }
  P = Operands(S, S->nstep - 1, A, B, C);
  return Count(S, &S->step[S->nstep - 1], &P);
}

SpgemmStatus SpgemmCreateWith(const SpgemmKernels *kernels, SpgemmType type, const SpgemmCSR *A, const SpgemmCSR *B, const SpgemmCSR *C, const SpgemmOptions *options, Spgemm **out, SpgemmInfo *info)
{
  Spgemm      *S = calloc(1, sizeof(*S));
  SpgemmStatus status;

  *out = NULL;
  if (info) memset(info, 0, sizeof(*info));
  if (!S) return SPGEMM_OUT_OF_MEMORY;
  S->type    = type;
  S->options = *options;
  S->kernels = kernels;
  if (S->options.nthread < 1) S->options.nthread = 1;
  S->info.instructions = S->kernels->name;
  status               = Create(S, A, B, C);
  if (info) SpgemmGetInfo(S, info);
  if (status) SpgemmDestroy(&S);
  *out = S;
  return status;
}

SpgemmStatus SpgemmCreate(SpgemmType type, const SpgemmCSR *A, const SpgemmCSR *B, const SpgemmCSR *C, const SpgemmOptions *options, Spgemm **S, SpgemmInfo *info)
{
  return SpgemmCreateWith(Kernels(), type, A, B, C, options, S, info);
}

int64_t SpgemmNonzeros(const Spgemm *S)
{
  return (int64_t)S->step[S->nstep - 1].nonzeros;
}

const AmbInt *SpgemmRowStarts(const Spgemm *S)
{
  return S->step[S->nstep - 1].i;
}

SpgemmStatus SpgemmFill(Spgemm *S, const SpgemmCSR *A, const SpgemmCSR *B, const SpgemmCSR *C, AmbInt *i, AmbInt *j, AmbScalar *a)
{
  Step         *step = &S->step[S->nstep - 1];
  SpgemmProduct P    = Operands(S, S->nstep - 1, A, B, C);
  const double  size = (double)sizeof(*step->i) * (P.A.m + 1);
  SpgemmStatus  status;

  memcpy(i, step->i, (size_t)size);
  SpgemmRelease(step->i, (size_t)size);
  step->i = NULL;
  Account(S, -size);
  SpgemmAdvise(j, sizeof(*j) * (size_t)step->nonzeros);
  SpgemmAdvise(a, sizeof(*a) * (size_t)step->nonzeros);
  P.words = S->words;
  P.i     = i;
  P.j     = j;
  P.a     = a;
  status  = Run(S, step, &P, NULL, S->kernels->fill, S->info.rows, NULL);
  DropWords(S);
  S->info.bytes_kept = S->bytes;
  return status;
}

SpgemmStatus SpgemmRevalue(Spgemm *S, const SpgemmCSR *A, const SpgemmCSR *B, const SpgemmCSR *C, const AmbInt *i, const AmbInt *j, AmbScalar *a)
{
  SpgemmProduct P;
  SpgemmStatus  status;

  if (S->transpose.i) SpgemmTransposeValues(S->type == SPGEMM_ATB ? A->a : B->a, S->options.nthread, &S->transpose);
  if (S->nstep == 2) {
    P      = Operands(S, 0, A, B, C);
    P.i    = (AmbInt *)S->inner.i;
    P.j    = (AmbInt *)S->inner.j;
    P.a    = (AmbScalar *)S->inner.a;
    status = Run(S, &S->step[0], &P, NULL, S->kernels->revalue, NULL, NULL);
    if (status) return status;
  }
  P   = Operands(S, S->nstep - 1, A, B, C);
  P.i = (AmbInt *)i;
  P.j = (AmbInt *)j;
  P.a = a;
  return Run(S, &S->step[S->nstep - 1], &P, NULL, S->kernels->revalue, NULL, NULL);
}

void SpgemmGetInfo(const Spgemm *S, SpgemmInfo *info)
{
  *info            = S->info;
  info->bytes_kept = S->bytes;
}

void SpgemmDestroy(Spgemm **out)
{
  Spgemm *S = *out;

  if (!S) return;
  if (S->transpose.i) SpgemmTransposeDestroy(&S->transpose);
  SpgemmWordsDestroy(&S->words);
  SpgemmRelease((void *)S->inner.j, S->inner_size_j);
  SpgemmRelease((void *)S->inner.a, S->inner_size_a);
  for (int k = 0; k < S->nstep; k++) {
    if (S->step[k].i) SpgemmRelease(S->step[k].i, sizeof(AmbInt) * (S->step[k].m + 1));
    free(S->step[k].cuts);
  }
  free(S);
  *out = NULL;
}
