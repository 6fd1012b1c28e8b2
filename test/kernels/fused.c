/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The fused passes of Krylov methods against loops over entries, without PETSc: every instruction set this processor has, all kinds of preconditioners, sizes
   with and without a rest, vectors at odd addresses. The same bits whatever the number of threads.

   Prints "ok NAME" or "not ok NAME" for each combination of instruction set, preconditioner and size.
*/
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ksp/ksp/impls/fused/fusedbasis.h"

#define MAX_N   50000 /* enough for three threads */
#define SHIFT   1     /* entries: no vector begins at a cache line */
#define EPSILON (sizeof(SysReal) == 4 ? 1.2e-7 : 2.3e-16)

static int failures = 0;

typedef struct {
  SysReal    *v[FUSED_VECTORS], *d;
  long double sums[FUSED_SUMS], scale[FUSED_SUMS]; /* by the reference: sums, and those of absolute values */
} State;

static double Random(int64_t k, int seed)
{
  const uint64_t h = ((uint64_t)k * 0x9e3779b97f4a7c15u + (uint64_t)seed * 0xbf58476d1ce4e5b9u) ^ 0x94d049bb133111ebu;

  return (double)((h * 0xd6e8feb86659fd93u) >> 11) / 4503599627370496.0 - 1.0;
}

static void StateCreate(State *s, int64_t n, int bs)
{
  for (int k = 0; k < FUSED_VECTORS; k++) {
    s->v[k] = (SysReal *)malloc((size_t)(n + SHIFT + 1) * sizeof(SysReal));
    s->v[k] += SHIFT;
    for (int64_t i = 0; i <= n; i++) s->v[k][i] = (SysReal)Random(i, k);
  }
  s->d = (SysReal *)malloc((size_t)(n * bs + SHIFT) * sizeof(SysReal));
  s->d += SHIFT;
  for (int64_t i = 0; i < n * bs; i++) s->d[i] = (SysReal)Random(i, 100);
}

static void StateDestroy(State *s)
{
  for (int k = 0; k < FUSED_VECTORS; k++) free(s->v[k] - SHIFT);
  free(s->d - SHIFT);
}

/* ------------------------------------------------- the reference ------------------------------------------------- */

static void Sum(State *s, int k, double a, double b)
{
  s->sums[k] += (long double)a * b;
  s->scale[k] += fabsl((long double)a * b);
}

/* to = M from, entry by entry */
static void Apply(const FusedPass *f, const SysReal *from, SysReal *to)
{
  SysReal column[FUSED_BLOCKS_MAX];

  if (f->kind == FUSED_NONE || f->kind == FUSED_OTHER) return;
  for (int64_t k = 0; k < f->n; k += f->bs) {
    for (int j = 0; j < f->bs; j++) column[j] = from[k + j];
    for (int i = 0; i < f->bs; i++) {
      double sum = 0;

      for (int j = 0; j < f->bs; j++) sum += (double)f->d[j * f->n + k + i] * (double)column[j];
      to[k + i] = (SysReal)sum;
    }
  }
}

static void SumsOf(State *s, const SysReal *z, const SysReal *r, int64_t n)
{
  for (int64_t k = 0; k < n; k++) {
    Sum(s, 0, z[k], r[k]);
    Sum(s, 1, z[k], z[k]);
    Sum(s, 2, r[k], r[k]);
  }
}

static void Step(State *s, const FusedPass *f, SysReal **v)
{
  for (int64_t k = 0; k < f->n; k++) {
    if (v[FUSED_X]) v[FUSED_X][k] += f->a * v[FUSED_P][k];
    v[FUSED_R][k] -= f->a * v[FUSED_W][k];
  }
  Apply(f, v[FUSED_R], v[FUSED_Z]);
  SumsOf(s, f->kind == FUSED_OTHER ? v[FUSED_R] : v[FUSED_Z], v[FUSED_R], f->n);
}

static void Single(State *s, const FusedPass *f, SysReal **v)
{
  for (int64_t k = 0; k < f->n; k++) {
    v[FUSED_P][k] = v[FUSED_Z][k] + f->b * v[FUSED_P][k];
    v[FUSED_W][k] = v[FUSED_S][k] + f->b * v[FUSED_W][k];
  }
  Step(s, f, v);
}

static void ApplyPass(State *s, const FusedPass *f, SysReal **v)
{
  Apply(f, v[FUSED_R], v[FUSED_Z]);
  SumsOf(s, v[FUSED_Z], v[FUSED_R], f->n);
}

static void Direction(State *s, const FusedPass *f, SysReal **v)
{
  (void)s;
  for (int64_t k = 0; k < f->n; k++) v[FUSED_P][k] = v[FUSED_Z][k] + (f->b == 0 ? 0 : f->b * v[FUSED_P][k]);
}

static void Dot(State *s, const FusedPass *f, SysReal **v)
{
  for (int64_t k = 0; k < f->n; k++) Sum(s, 0, v[FUSED_P][k], v[FUSED_W][k]);
}

static void Update(State *s, const FusedPass *f, SysReal **v)
{
  (void)s;
  for (int64_t k = 0; k < f->n; k++) v[FUSED_X][k] += f->a * v[FUSED_P][k];
}

static void BiDirection(State *s, const FusedPass *f, SysReal **v)
{
  (void)s;
  for (int64_t k = 0; k < f->n; k++) v[FUSED_P][k] = v[FUSED_R][k] + (f->b == 0 ? 0 : f->b * v[FUSED_P][k] + f->c * v[FUSED_V][k]);
  if (v[FUSED_Z]) Apply(f, v[FUSED_P], v[FUSED_Z]);
}

static void BiShadow(State *s, const FusedPass *f, SysReal **v)
{
  if (!v[FUSED_Z]) Apply(f, v[FUSED_V], v[FUSED_V]);
  for (int64_t k = 0; k < f->n; k++) Sum(s, 0, v[FUSED_V][k], v[FUSED_Q][k]);
}

static void BiHalf(State *s, const FusedPass *f, SysReal **v)
{
  (void)s;
  for (int64_t k = 0; k < f->n; k++) v[FUSED_R][k] -= f->a * v[FUSED_V][k];
  if (v[FUSED_Z]) Apply(f, v[FUSED_R], v[FUSED_Z]);
}

static void BiDots(State *s, const FusedPass *f, SysReal **v)
{
  if (!v[FUSED_Z]) Apply(f, v[FUSED_T], v[FUSED_T]);
  SumsOf(s, v[FUSED_T], v[FUSED_R], f->n);
}

static void BiStep(State *s, const FusedPass *f, SysReal **v)
{
  for (int64_t k = 0; k < f->n; k++) {
    v[FUSED_X][k] += f->a * v[FUSED_P][k] + f->b * v[FUSED_R][k];
    v[FUSED_R][k] -= f->b * v[FUSED_T][k];
    Sum(s, 0, v[FUSED_R][k], v[FUSED_Q][k]);
    Sum(s, 1, v[FUSED_R][k], v[FUSED_R][k]);
  }
}

static void Chebyshev(State *s, const FusedPass *f, SysReal **v)
{
  (void)s;
  for (int64_t k = 0; k < f->n; k++) v[FUSED_S][k] = v[FUSED_R][k] - (v[FUSED_P] ? v[FUSED_W][k] : 0);
  Apply(f, v[FUSED_S], v[FUSED_S]);
  for (int64_t k = 0; k < f->n; k++) v[FUSED_X][k] = f->a * v[FUSED_S][k] + (v[FUSED_P] ? f->b * v[FUSED_P][k] : 0) + (v[FUSED_Z] ? f->c * v[FUSED_Z][k] : 0);
}

/* ------------------------------------------------- the passes ------------------------------------------------- */

typedef struct {
  const char *name;
  void (*reference)(State *, const FusedPass *, SysReal **);
  size_t   function; /* its position in FusedKernels */
  int      nsum;
  unsigned absent; /* vectors that are NULL */
  enum {
    APART,
    Z_IS_W,
    X_IS_Z,
    X_IS_P
  } same;
  int zero; /* b is 0, and p and v are NaN */
} Pass;

#define PASS(member) offsetof(FusedKernels, member)

static const Pass passes[] = {
  {"step",                          Step,        PASS(step),        3, 0,                             APART,  0},
  {"step, z is w",                  Step,        PASS(step),        3, 0,                             Z_IS_W, 0},
  {"step without x",                Step,        PASS(step),        3, 1U << FUSED_X,                 APART,  0},
  {"single",                        Single,      PASS(single),      3, 0,                             APART,  0},
  {"single without x",              Single,      PASS(single),      3, 1U << FUSED_X,                 APART,  0},
  {"apply",                         ApplyPass,   PASS(apply),       3, 0,                             APART,  0},
  {"direction",                     Direction,   PASS(direction),   0, 0,                             APART,  0},
  {"first direction",               Direction,   PASS(direction),   0, 0,                             APART,  1},
  {"dot",                           Dot,         PASS(dot),         1, 0,                             APART,  0},
  {"update",                        Update,      PASS(update),      0, 0,                             APART,  0},
  {"bidirection",                   BiDirection, PASS(bidirection), 0, 1U << FUSED_Z,                 APART,  0},
  {"bidirection, right",            BiDirection, PASS(bidirection), 0, 0,                             APART,  0},
  {"first bidirection, right",      BiDirection, PASS(bidirection), 0, 0,                             APART,  1},
  {"bishadow",                      BiShadow,    PASS(bishadow),    1, 1U << FUSED_Z,                 APART,  0},
  {"bishadow, right",               BiShadow,    PASS(bishadow),    1, 0,                             APART,  0},
  {"bihalf",                        BiHalf,      PASS(bihalf),      0, 1U << FUSED_Z,                 APART,  0},
  {"bihalf, right",                 BiHalf,      PASS(bihalf),      0, 0,                             APART,  0},
  {"bidots",                        BiDots,      PASS(bidots),      3, 1U << FUSED_Z,                 APART,  0},
  {"bidots, right",                 BiDots,      PASS(bidots),      3, 0,                             APART,  0},
  {"bistep",                        BiStep,      PASS(bistep),      2, 0,                             APART,  0},
  {"chebyshev",                     Chebyshev,   PASS(chebyshev),   0, 0,                             X_IS_Z, 0},
  {"chebyshev, the last",           Chebyshev,   PASS(chebyshev),   0, 0,                             X_IS_P, 0},
  {"chebyshev without z",           Chebyshev,   PASS(chebyshev),   0, 1U << FUSED_Z,                 APART,  0},
  {"chebyshev without z, the last", Chebyshev,   PASS(chebyshev),   0, 1U << FUSED_Z,                 X_IS_P, 0},
  {"chebyshev without p",           Chebyshev,   PASS(chebyshev),   0, 1U << FUSED_Z | 1U << FUSED_P, APART,  0}
};

static const int threads[] = {1, 3};

static void Fill(State *s, const Pass *p, const FusedPass *f, SysReal **v)
{
  for (int k = 0; k < FUSED_VECTORS; k++) v[k] = p->absent & (1U << k) ? NULL : s->v[k];
  if (p->same == Z_IS_W) v[FUSED_Z] = v[FUSED_W];
  if (p->same == X_IS_Z) v[FUSED_X] = v[FUSED_Z];
  if (p->same == X_IS_P) v[FUSED_X] = v[FUSED_P];
  if (f->kind == FUSED_NONE && !(p->absent & (1U << FUSED_Z)) && p->reference != Chebyshev) v[FUSED_Z] = v[FUSED_R];
  for (int64_t k = 0; p->reference == Chebyshev && !v[FUSED_P] && k < f->n; k++) v[FUSED_W][k] = (SysReal)NAN;
  for (int64_t k = 0; p->zero && k < f->n; k++) v[FUSED_P][k] = v[FUSED_V][k] = (SysReal)NAN;
}

/* One pass by a number of threads: other numbers must give the same bits, and the reference nearly the same */
static const char *CheckPass(const FusedKernels *kernels, const Pass *p, FusedKind kind, int bs, int64_t n)
{
  FusedPass     f = {kind, bs, n, NULL, (SysReal)0.75, p->zero ? 0 : (SysReal)-0.625, p->zero ? 0 : (SysReal)0.4375, {NULL}};
  FusedFunction function;
  State         reference, first, other;
  SysReal      *v[FUSED_VECTORS], sums[FUSED_SUMS], again[FUSED_SUMS];
  const char   *wrong = NULL;

  memcpy(&function, (const char *)kernels + p->function, sizeof(function));
  StateCreate(&reference, n, bs);
  memset(&first, 0, sizeof(first));
  memset(reference.sums, 0, sizeof(reference.sums));
  memset(reference.scale, 0, sizeof(reference.scale));
  Fill(&reference, p, &f, v);
  f.d = reference.d;
  p->reference(&reference, &f, v);
  for (size_t t = 0; t < sizeof(threads) / sizeof(*threads) && !wrong; t++) {
    FusedHost h;

    StateCreate(&other, n, bs);
    Fill(&other, p, &f, f.v);
    f.d = other.d;
    if (FusedHostCreate(n, bs, threads[t], &h)) return "no memory";
    FusedHostRun(&h, function, &f, t ? again : sums);
    FusedHostDestroy(&h);
    if (!t) {
      first = other;
      continue;
    }
    if (p->nsum && memcmp(sums, again, (size_t)p->nsum * sizeof(SysReal))) wrong = "other sums by another number of threads";
    for (int k = 0; k < FUSED_VECTORS; k++) {
      if (memcmp(first.v[k], other.v[k], (size_t)(n + 1) * sizeof(SysReal))) wrong = "other entries by another number of threads";
    }
    StateDestroy(&other);
  }
  for (int s = 0; s < p->nsum && !wrong; s++) {
    if (kind == FUSED_OTHER && s < 2 && (p->reference == Step || p->reference == Single)) continue;
    if (!(fabsl(sums[s] - reference.sums[s]) <= 64 * EPSILON * (1 + reference.scale[s]))) wrong = "a wrong sum";
  }
  for (int k = 0; k < FUSED_VECTORS && !wrong; k++) {
    for (int64_t i = 0; i <= n; i++) {
      if (p->zero && k == FUSED_V) continue;
      if (p->reference == Chebyshev && (k == FUSED_W || k == FUSED_S)) continue; /* the pass and the reference each use one of them for their own */
      if (!(fabs((double)first.v[k][i] - (double)reference.v[k][i]) <= 8 * (bs + 4) * EPSILON)) wrong = "a wrong entry";
    }
  }
  StateDestroy(&first);
  StateDestroy(&reference);
  return wrong;
}

static void CheckAll(const FusedKernels *kernels, const char *pc, FusedKind kind, int bs)
{
  static const int64_t nodes[] = {0, 1, 7, 341, 1030, MAX_N};

  for (size_t k = 0; k < sizeof(nodes) / sizeof(*nodes); k++) {
    const int64_t n     = nodes[k] == MAX_N ? (bs % 3 ? MAX_N / 4 : MAX_N) / bs * bs : nodes[k] * bs;
    const char   *wrong = NULL, *where = "";

    for (size_t p = 0; p < sizeof(passes) / sizeof(*passes) && !wrong; p++) {
      wrong = CheckPass(kernels, &passes[p], kind, bs, n);
      where = passes[p].name;
    }
    if (wrong) {
      failures++;
      printf("not ok %s, %s, %d rows: %s: %s\n", kernels->name, pc, (int)n, where, wrong);
    } else printf("ok %s, %s, %d rows\n", kernels->name, pc, (int)n);
  }
}

/* ------------------------------------------------- passes over a basis ------------------------------------------------- */

#define BASIS 11 /* vectors, at most */

/* w = M w, its products with m vectors and those of the last one; then w = scale w - c v and its square, with z = M w. Nearly as sums in long double, and the same bits by
   any number of threads. */
static const char *CheckBasis(const FusedBasisKernels *kernels, FusedKind kind, int bs, int m, SysReal scale, int64_t n)
{
  SysReal       *memory = (SysReal *)malloc((size_t)(BASIS + 4) * (size_t)(n + 1) * sizeof(SysReal)), *w[2], *z[2], *d, sums[2][2 * BASIS + 1], c[BASIS];
  const SysReal *v[BASIS];
  const char    *wrong = NULL;

  for (int k = 0; k < BASIS; k++) {
    SysReal *const to = memory + k * (n + 1);

    for (int64_t i = 0; i < n; i++) to[i] = (SysReal)Random(i, k);
    v[k] = to;
    c[k] = (SysReal)Random(k, 77);
  }
  d = (SysReal *)malloc((size_t)(n * bs + 1) * sizeof(SysReal));
  for (int64_t i = 0; i < n * bs; i++) d[i] = (SysReal)Random(i, 100);
  for (int t = 0; t < 2 && !wrong; t++) {
    FusedBasis f = {
      .pc = {.kind = kind, .bs = bs, .n = n, .d = d},
        .m = m, .v = v, .c = c, .scale = scale, .u = m ? v[m - 1] : NULL
    };
    FusedBasisHost h;

    w[t] = memory + (BASIS + 2 * t) * (n + 1);
    z[t] = w[t] + n + 1;
    for (int64_t i = 0; i < n; i++) w[t][i] = (SysReal)Random(i, 50);
    f.w = w[t];
    if (FusedBasisHostCreate(n, bs, 2 * BASIS + 1, threads[t], &h)) return "no memory";
    FusedBasisHostRun(&h, kernels->dots, &f, 0, 2 * m, sums[t]);
    if (t == 0) {
      for (int k = 0; k < 2 * m && !wrong; k++) {
        long double sum = 0, all = 0;

        for (int64_t i = 0; i < n; i++) {
          sum += (long double)v[k % m][i] * (k < m ? w[t][i] : v[m - 1][i]);
          all += fabsl((long double)v[k % m][i] * (k < m ? w[t][i] : v[m - 1][i]));
        }
        if (!(fabsl(sums[t][k] - sum) <= 64 * EPSILON * (1 + all))) wrong = "a wrong product with the basis";
      }
    }
    for (int64_t i = 0; i < n; i++) z[t][i] = w[t][i]; /* before the update */
    f.z                = scale == 0 ? NULL : z[t];
    const SysReal last = n ? w[t][n - 1] : 0;
    FusedBasisHostRun(&h, kernels->update, &f, 1, 1, sums[t] + 2 * m);
    if (n) {
      long double expected = (long double)scale * last;

      for (int k = 0; k < m; k++) expected -= (long double)c[k] * v[k][n - 1];
      if (!(fabsl(w[t][n - 1] - expected) <= 64 * EPSILON)) wrong = "a wrong update of the basis";
      if (kind == FUSED_POINT && f.z && z[t][n - 1] != d[n - 1] * w[t][n - 1]) wrong = "M is not applied after an update";
    }
    FusedBasisHostDestroy(&h);
  }
  if (!wrong && memcmp(sums[0], sums[1], (size_t)(2 * m + 1) * sizeof(SysReal))) wrong = "other sums with a basis by another number of threads";
  if (!wrong && (memcmp(w[0], w[1], (size_t)n * sizeof(SysReal)) || memcmp(z[0], z[1], (size_t)n * sizeof(SysReal)))) wrong = "other entries with a basis by another number of threads";
  free(d);
  free(memory);
  return wrong;
}

static void CheckBases(const FusedBasisKernels *kernels, const char *name)
{
  static const int64_t rows[]   = {0, 1, 6, 1035, 3 * FUSED_BASIS_BLOCK + 60};
  static const SysReal scales[] = {0, 1, (SysReal)0.75};

  for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
    const char *wrong = NULL;

    for (int m = 0; m <= BASIS && !wrong; m++) {
      for (int s = 0; s < 3 && !wrong; s++) {
        wrong = CheckBasis(kernels, FUSED_NONE, 1, m, scales[s], rows[k]);
        if (!wrong) wrong = CheckBasis(kernels, FUSED_POINT, 1, m, scales[s], rows[k]);
        if (!wrong) wrong = CheckBasis(kernels, FUSED_BLOCKS, 3, m, scales[s], rows[k] / 3 * 3);
      }
    }
    if (wrong) failures++;
    printf("%s %s, a basis, %d rows%s%s\n", wrong ? "not ok" : "ok", name, (int)rows[k], wrong ? ": " : "", wrong ? wrong : "");
  }
}

int main(void)
{
  const FusedBasisKernels *bases[3];
  const FusedKernels      *sets[3];
  int                      nset = 0;

#if defined(PETSCAMB_HAVE_AVX512)
  if (FusedKernelsAVX512.supported()) {
    bases[nset]  = &FusedBasisKernelsAVX512;
    sets[nset++] = &FusedKernelsAVX512;
  }
#endif
#if defined(PETSCAMB_HAVE_AVX2)
  if (FusedKernelsAVX2.supported()) {
    bases[nset]  = &FusedBasisKernelsAVX2;
    sets[nset++] = &FusedKernelsAVX2;
  }
#endif
  bases[nset]  = &FusedBasisKernelsPlain;
  sets[nset++] = &FusedKernelsPlain;
  for (int s = 0; s < nset; s++) {
    static const int sizes[] = {2, 3, 6, 7, FUSED_BLOCKS_MAX};
    char             name[32];

    CheckBases(bases[s], sets[s]->name);
    CheckAll(sets[s], "none", FUSED_NONE, 1);
    CheckAll(sets[s], "point", FUSED_POINT, 1);
    CheckAll(sets[s], "other", FUSED_OTHER, 1);
    for (size_t k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
      (void)snprintf(name, sizeof(name), "blocks of %d", sizes[k]);
      CheckAll(sets[s], name, FUSED_BLOCKS, sizes[k]);
    }
  }
  return failures != 0;
}
