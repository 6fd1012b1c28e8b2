/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The host's kernels of smoothed aggregation, without PETSc: what an independent set, aggregates, a QR factorization and a smoothed prolongator have to
   fulfil, and the same results for any number of threads
*/
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sys/sysnumbers.h"
#include "ksp/pc/impls/gamg/host/aggkeys.h"

static int failed = 0;

static void Report(const char *name, int good)
{
  printf("%s %s\n", good ? "ok" : "not ok", name);
  failed |= !good;
}

static uint64_t seed = 1;

static double Random(void)
{
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return (double)(seed >> 11) / 9007199254740992.;
}

typedef struct {
  int        n, bs;
  SysInt    *i, *j;
  SysScalar *a;
} Matrix;

/* n nodes of bs rows, each coupled with nodes that differ by up to reach, and some with a far one; one-sided couplings too if asked for */
static Matrix MatrixCreate(int n, int bs, int reach, int onesided)
{
  Matrix A     = {n, bs, calloc((size_t)n * bs + 1, sizeof(SysInt)), NULL, NULL};
  char  *there = calloc((size_t)n * n, 1);
  SysInt nz    = 0;

  for (int v = 0; v < n; v++) {
    there[v * n + v] = 1;
    for (int d = 1; d <= reach && v % 11; d++) {
      const int u = d == reach && v % 5 == 0 ? (v * 7 + 3) % n : v + d;

      if (u >= n || u % 11 == 0) continue;
      there[v * n + u] = 1;
      if (!onesided || v % 3) there[u * n + v] = 1;
    }
  }
  A.j = malloc((size_t)n * n * bs * bs * sizeof(SysInt));
  A.a = malloc((size_t)n * n * bs * bs * sizeof(SysScalar));
  for (int r = 0; r < n * bs; r++) {
    for (int c = 0; c < n * bs; c++) {
      if (!there[r / bs * n + c / bs] || (r != c && bs > 1 && (r + c) % 4 == 0)) continue;
      A.j[nz]   = c;
      A.a[nz++] = (SysReal)(r == c ? 4 : Random() - 0.7);
    }
    A.i[r + 1] = nz;
  }
  free(there);
  return A;
}

static void MatrixDestroy(Matrix *A)
{
  free(A->i);
  free(A->j);
  free(A->a);
}

static int GraphMake(const Matrix *A, int symmetrize, double threshold, int nthread, AggGraph *g)
{
  AggMatrix M = {
    .d = {(int64_t)A->n * A->bs, (int64_t)A->n * A->bs, A->i[A->n * A->bs], A->i, A->j, A->a},
      .bs = A->bs
  };

  return !AggGraphCreate(&M, nthread, g) && (!symmetrize || !AggGraphSymmetrize(g, NULL, nthread)) && !AggGraphFinish(g, threshold, nthread);
}

/* Every edge has its transposed edge, of the same weight */
static int GraphSymmetric(const AggGraph *g)
{
  for (int64_t v = 0; v < g->n; v++) {
    for (int64_t k = g->i[v]; k < g->i[v + 1]; k++) {
      int64_t l = g->i[g->j[k]];

      if (g->j[k] == v || (k > g->i[v] && g->j[k] <= g->j[k - 1])) return 0;
      while (l < g->i[g->j[k] + 1] && g->j[l] != v) l++;
      if (l == g->i[g->j[k] + 1] || g->w[l] != g->w[k]) return 0;
    }
  }
  return 1;
}

/* The sum of the absolute values of a block */
static double Strength(const Matrix *A, int64_t v, int64_t u)
{
  double sum = 0;

  for (int64_t r = v * A->bs; r < (v + 1) * A->bs; r++) {
    for (SysInt k = A->i[r]; k < A->i[r + 1]; k++) sum += A->j[k] / A->bs == u ? fabs((double)A->a[k]) : 0;
  }
  return sum;
}

/* The weights of A + A', in units of 2^-24 */
static int GraphWeighs(const AggGraph *g, const Matrix *A)
{
  for (int64_t v = 0; v < g->n; v++) {
    for (int64_t k = g->i[v]; k < g->i[v + 1]; k++) {
      const int64_t u = g->j[k];
      const double  w = (Strength(A, v, u) + Strength(A, u, v)) / (2 * sqrt(Strength(A, v, v) * Strength(A, u, u)));

      if (fabs(ldexp(w, 24) - g->w[k]) > 2) return 0;
    }
  }
  return 1;
}

/* Edges from v to the nearest root, or hops + 1 */
static int Distance(const AggGraph *g, const SysInt join[], int64_t v, int hops, int self)
{
  int least = join[v] == v && self ? 0 : hops + 1;

  if (!least || !hops) return least;
  for (int64_t k = g->i[v]; k < g->i[v + 1]; k++) {
    const int d = 1 + Distance(g, join, g->j[k], hops - 1, 1);

    if (d < least) least = d;
  }
  return least;
}

/* Roots within hops edges of v, but v: walks of up to hops edges that end at another root */
static int OtherRoots(const AggGraph *g, const SysInt join[], int64_t v, int64_t from, int hops)
{
  if (v != from && join[v] == v) return 1;
  for (int64_t k = g->i[v]; k < g->i[v + 1] && hops; k++) {
    if (OtherRoots(g, join, g->j[k], from, hops - 1)) return 1;
  }
  return 0;
}

static int CheckAggregates(const AggGraph *g, const SysInt join[], int hops)
{
  for (int64_t v = 0; v < g->n; v++) {
    SysInt u = join[v];

    if ((u < 0) != (g->i[v + 1] == g->i[v])) return 0; /* in no aggregate if alone */
    if (u < 0) continue;
    if (u == v && OtherRoots(g, join, v, v, hops)) return 0;
    if (Distance(g, join, v, hops, 1) > hops) return 0; /* maximal */
    for (int h = 0; join[u] != u; h++) {
      if (h == hops || join[u] < 0) return 0;
      u = join[u];
    }
    if (u == v) continue;
    u = 0;
    for (int64_t k = g->i[v]; k < g->i[v + 1]; k++) u |= g->j[k] == join[v];
    if (!u) return 0; /* joins a neighbour */
  }
  return 1;
}

static void Aggregates(void)
{
  int graphs = 1, weights = 1, sets = 1, threads = 1;

  for (int kind = 0; kind < 12; kind++) {
    const int    bs        = kind % 3 == 2 ? 3 : 1;
    Matrix       A         = MatrixCreate(kind == 0 ? 1 : 60 + kind, bs, 1 + kind % 4, kind % 2);
    const double threshold = kind % 4 == 3 ? 0.05 : -1;
    AggGraph     first, g;

    if (!GraphMake(&A, 1, threshold, 1, &first)) graphs = 0;
    graphs &= GraphSymmetric(&first);
    weights &= GraphWeighs(&first, &A);
    for (int hops = 1; hops <= 3; hops++) {
      for (int o = 0; o < 3; o++) {
        const AggOptions options = {.hops = hops, .lowdegree = o == 1, .strongest = o == 2};
        SysInt           join[2][128];
        int              rounds;

        for (int t = 1; t <= 3; t++) {
          if (!GraphMake(&A, 1, threshold, t, &g)) graphs = 0;
          threads &= g.i[g.n] == first.i[g.n] && !memcmp(g.j, first.j, (size_t)g.i[g.n] * sizeof(*g.j)) && !memcmp(g.w, first.w, (size_t)g.i[g.n] * sizeof(*g.w));
          if (AggAggregate(&g, 5, NULL, &options, NULL, t, join[t > 1], &rounds)) sets = 0;
          sets &= (rounds > 0) == (first.i[first.n] > 0);
          threads &= t == 1 || !memcmp(join[0], join[1], (size_t)g.n * sizeof(SysInt));
          AggGraphDestroy(&g);
        }
        sets &= CheckAggregates(&first, join[0], hops);
      }
    }
    AggGraphDestroy(&first);
    MatrixDestroy(&A);
  }
  Report("graphs are symmetric", graphs);
  Report("weights are those of the sum of the matrix and its transpose", weights);
  Report("roots are far apart, and near all other vertices", sets);
  Report("the same for any number of threads", threads);
}

static SysInt RootOf(const SysInt join[], SysInt v)
{
  while (v >= 0 && join[v] != v) v = join[v];
  return v;
}

/* Each vertex of a small aggregate is in the aggregate beside it to which its edges weigh most, then the smaller one, then that of the larger key; or, if one of them has
   no aggregate beside it that is large enough, where it was. all[] are the aggregates of which none was dissolved. */
static int CheckDissolved(const AggGraph *g, int64_t first, const SysInt all[], const SysInt join[], int least, int lowdegree, int *dissolved)
{
  SysInt size[128]  = {0}, best[128];
  int    stays[128] = {0}, good = 1;

  for (SysInt v = 0; v < g->n; v++) {
    if (all[v] >= 0) size[RootOf(all, v)]++;
  }
  for (SysInt v = 0; v < g->n; v++) {
    const SysInt own      = RootOf(all, v);
    uint64_t     sum[128] = {0};

    best[v] = own;
    if (own < 0 || size[own] >= least) continue;
    best[v] = -1;
    for (int64_t k = g->i[v]; k < g->i[v + 1]; k++) {
      const SysInt r = RootOf(all, g->j[k]);

      if (size[r] >= least) sum[r] += g->w[k];
    }
    for (int64_t k = g->i[v]; k < g->i[v + 1]; k++) {
      const SysInt r = RootOf(all, g->j[k]), b = best[v];

      if (size[r] < least || r == b) continue;
      if (b < 0 || sum[r] > sum[b] || (sum[r] == sum[b] && (size[r] < size[b] || (size[r] == size[b] && AggKey((uint64_t)(first + r), g->i[r + 1] - g->i[r], lowdegree) > AggKey((uint64_t)(first + b), g->i[b + 1] - g->i[b], lowdegree))))) best[v] = r;
    }
    if (best[v] < 0) stays[own] = 1;
  }
  for (SysInt v = 0; v < g->n; v++) {
    const SysInt own = RootOf(all, v), want = own >= 0 && stays[own] ? own : best[v];

    good &= RootOf(join, v) == want;
    *dissolved += own != want;
  }
  return good;
}

static void Dissolved(void)
{
  int good = 1, dissolved = 0, rounds;

  for (int kind = 0; kind < 24; kind++) {
    const int64_t first = 5;
    Matrix        A     = MatrixCreate(60 + kind, 1, 1 + kind % 3, kind % 2);
    AggGraph      g;

    if (!GraphMake(&A, 1, kind % 4 == 3 ? 0.05 : -1, 1, &g)) good = 0;
    for (int hops = 1; hops <= 3; hops++) {
      for (int least = 2; least <= 6; least += 2) {
        AggOptions options = {.hops = hops, .lowdegree = kind % 5 == 4};
        SysInt     all[128], join[3][128];

        if (AggAggregate(&g, first, NULL, &options, NULL, 1, all, &rounds)) good = 0;
        options.least = least;
        for (int t = 1; t <= 3; t++) {
          if (AggAggregate(&g, first, NULL, &options, NULL, t, join[t - 1], &rounds)) good = 0;
          good &= !memcmp(join[0], join[t - 1], (size_t)g.n * sizeof(SysInt));
        }
        good &= CheckDissolved(&g, first, all, join[0], least, options.lowdegree, &dissolved);
      }
    }
    AggGraphDestroy(&g);
    MatrixDestroy(&A);
  }
  Report("small aggregates are dissolved", good && dissolved > 100);
}

/* Vertex 0 has LEGS edges, all others have one or two. The feet, of the lowest degree, are roots, and it joins an aggregate last. */
static void Spider(void)
{
  enum {
    LEGS = 40,
    N    = 2 * LEGS + 1
  };
  SysInt           i[N + 1] = {0}, j[N + 4 * LEGS], join[N];
  SysScalar        a[N + 4 * LEGS];
  const Matrix     A       = {N, 1, i, j, a};
  const AggOptions options = {.hops = 2, .lowdegree = 1};
  int              good = 1, left = 0, rounds;

  for (SysInt v = 0, nz = 0; v < N; v++) {
    for (SysInt u = 0; u < N; u++) {
      const int edge = (!v && u && u <= LEGS) || (!u && v && v <= LEGS) || (u && v && (u == v + LEGS || v == u + LEGS));

      if (u != v && !edge) continue;
      j[nz]   = u;
      a[nz++] = u == v ? 4 : -1;
    }
    i[v + 1] = nz;
  }
  for (int64_t first = 0; first < 50; first++) {
    AggGraph g;

    if (!GraphMake(&A, 0, -1, 1, &g)) good = 0;
    if (AggAggregate(&g, first, NULL, &options, NULL, 1, join, &rounds)) good = 0;
    good &= CheckAggregates(&g, join, 2);
    left += join[0] != 0 && join[join[0]] != join[0];
    AggGraphDestroy(&g);
  }
  Report("a vertex with many edges is left over", good && left);
}

/* Q R is the block, and the columns of Q are orthonormal where the aggregate has enough rows */
static void Factors(void)
{
  const double tolerance = sizeof(SysReal) == 4 ? 1e-4 : 1e-11;
  int          good      = 1;

  for (int bs = 1; bs <= 6; bs++) {
    for (int nvec = 1; nvec <= 10; nvec++) {
      enum {
        AGGREGATES = 9,
        NODES      = 45
      };
      SysInt   start[AGGREGATES + 1] = {0}, member[NODES];
      SysReal *block = malloc(sizeof(SysReal) * NODES * 60), *before = malloc(sizeof(SysReal) * NODES * 60), *r = malloc(sizeof(SysReal) * AGGREGATES * 100);

      for (int k = 0; k < AGGREGATES; k++) start[k + 1] = start[k] + k + 1;
      for (int l = 0; l < NODES; l++) member[l] = (l * 7) % NODES;
      for (int l = 0; l < NODES * bs * nvec; l++) before[l] = block[l] = (SysReal)(nvec > 1 && l % nvec == 1 && bs == 2 ? 0 : Random() - 0.5); /* sometimes a zero column */
      if (AggFactor(AGGREGATES, start, member, bs, nvec, 1 + bs % 3, block, r)) good = 0;
      for (int k = 0; k < AGGREGATES; k++) {
        const int rows = (int)(start[k + 1] - start[k]) * bs;

        for (int c = 0; c < nvec; c++) {
          double dot[10] = {0};

          for (int l = 0; l < rows; l++) {
            const int position = (int)(member[start[k] + l / bs] * bs + l % bs) * nvec;
            double    sum      = 0;

            for (int d = 0; d < nvec; d++) sum += (double)block[position + d] * r[c * AGGREGATES * nvec + k * nvec + d];
            if (fabs(sum - before[position + c]) > tolerance) good = 0;
            for (int d = 0; d < nvec; d++) dot[d] += (double)block[position + c] * block[position + d];
          }
          for (int d = 0; d < nvec && rows >= nvec; d++) {
            if (fabs(dot[d] - (c == d)) > tolerance) good = 0;
          }
        }
      }
      free(block);
      free(before);
      free(r);
    }
  }
  Report("factors", good);
}

static double Magnitude(SysScalar x)
{
#if defined(SYS_COMPLEX)
  return cabs(x);
#else
  return fabs((double)x);
#endif
}

/* A smoothed prolongator against sums over all columns and aggregates, on 1 to 3 threads: rows without a diagonal, vertices in no aggregate, long rows */
static int SmoothOnce(int bs, int nvec)
{
  enum {
    VERTICES   = 70,
    AGGREGATES = 50
  };
  const double tolerance = sizeof(SysReal) == 4 ? 1e-4 : 1e-11, alpha = -0.7;
  const int    n = VERTICES * bs, width = AGGREGATES * nvec;
  SysInt       number[VERTICES], *i = malloc(sizeof(SysInt) * (size_t)(n + 1)), *j = malloc(sizeof(SysInt) * (size_t)n * (size_t)n), *pi = malloc(sizeof(SysInt) * (size_t)(n + 1));
  SysScalar   *a = malloc(sizeof(SysScalar) * (size_t)n * (size_t)n), *first = NULL;
  SysReal     *block = malloc(sizeof(SysReal) * (size_t)n * (size_t)nvec);
  SysInt       nz    = 0;
  SysCSR       A;
  int          good = 1;

  for (int v = 0; v < VERTICES; v++) number[v] = v % 9 == 4 ? -1 : (SysInt)(Random() * AGGREGATES);
  for (int k = 0; k < n * nvec; k++) block[k] = (SysReal)(Random() - 0.5);
  i[0] = 0;
  for (int r = 0; r < n; r++) {
    for (int c = 0; c < n; c++) {
      if (r == c ? r % 11 == 3 : Random() > (r % 13 ? 0.05 : 0.9)) continue;
      j[nz]   = c;
      a[nz++] = (SysScalar)(r == c ? (r % 17 ? 2 : 0) : Random() - 0.5);
    }
    i[r + 1] = nz;
  }
  A = (SysCSR){n, n, nz, i, j, a};
  for (int nthread = 1; nthread <= 3; nthread++) {
    SysInt    *pj;
    SysScalar *pa;
    AggMarks   marks;

    pi[0] = 0;
    if (AggMarksCreate(&A, AGGREGATES, nthread, &marks)) return 0;
    AggSmoothLengths(&A, number, bs, nvec, &marks, pi + 1);
    for (int r = 0; r < n; r++) pi[r + 1] += pi[r];
    pj = malloc(sizeof(SysInt) * (size_t)(pi[n] + 1));
    pa = malloc(sizeof(SysScalar) * (size_t)(pi[n] + 1));
    AggSmooth(&A, number, bs, nvec, block, alpha, &marks, pi, pj, pa);
    AggMarksDestroy(&marks);
    if (first) good &= !memcmp(first, pa, sizeof(SysScalar) * (size_t)pi[n]); /* the same bits */
    for (int r = 0; r < n && !first; r++) {
      SysScalar sum[AGGREGATES * 6] = {0}, diagonal = 0;
      char      there[AGGREGATES] = {0};
      SysInt    position          = pi[r];

      for (SysInt k = i[r]; k < i[r + 1]; k++) {
        if (j[k] == r) diagonal = a[k];
      }
      for (SysInt k = i[r]; k < i[r + 1]; k++) {
        const SysInt to = number[j[k] / bs];

        if (to < 0) continue;
        there[to] = 1;
        for (int c = 0; c < nvec && diagonal != 0; c++) sum[to * nvec + c] += (SysScalar)alpha / diagonal * a[k] * block[j[k] * nvec + c];
      }
      if (number[r / bs] >= 0) there[number[r / bs]] = 1;
      for (int c = 0; c < nvec && number[r / bs] >= 0; c++) sum[number[r / bs] * nvec + c] += block[r * nvec + c];
      for (SysInt c = 0; c < width; c++) {
        if (!there[c / nvec]) continue;
        if (position == pi[r + 1] || pj[position] != c || !(Magnitude(pa[position] - sum[c]) <= tolerance)) good = 0;
        position += position < pi[r + 1];
      }
      good &= position == pi[r + 1];
    }
    free(pj);
    if (first) free(pa);
    else first = pa;
  }
  free(first);
  free(block);
  free(a);
  free(pi);
  free(j);
  free(i);
  return good;
}

static void Smooth(void)
{
  int good = 1;

  for (int bs = 1; bs <= 6; bs++) {
    for (int nvec = 1; nvec <= 6; nvec += 1 + nvec % 3) good &= SmoothOnce(bs, nvec);
  }
  Report("smoothed prolongators", good);
}

#if !defined(SYS_COMPLEX)
/* D^-1 A V = V H with orthonormal vectors, which Arnoldi's method promises, and the same bits on 1 to 3 threads */
static void Krylov(void)
{
  enum {
    ROWS = 2500
  };
  const double tolerance = sizeof(SysReal) == 4 ? 1e-3 : 1e-9;
  SysInt       i[ROWS + 1], j[3 * ROWS], nz = 0;
  SysScalar    a[3 * ROWS];
  SysReal      h[3][AGG_NUMBERS];
  SysCSR       A;
  int          good = 1;

  i[0] = 0;
  for (SysInt r = 0; r < ROWS; r++) {
    for (SysInt c = r ? r - 1 : 0; c <= r + 1 && c < ROWS; c++) {
      if (c == r && r % 97 == 5) continue; /* no diagonal */
      j[nz]   = c;
      a[nz++] = (SysScalar)(c == r ? r % 89 ? 4 + r % 3 : 0 : c < r ? -1 : -1.5);
    }
    i[r + 1] = nz;
  }
  A = (SysCSR){ROWS, ROWS, nz, i, j, a};
  for (int t = 0; t < 3; t++) {
    AggKrylov e;

    if (AggKrylovCreate(&A, t + 1, &e)) good = 0;
    for (int k = 0; k < AGG_STEPS; k++) {
      const SysReal *v = e.v + k * e.stride;
      SysReal       *w = e.v + (k + 1) * e.stride, before[ROWS];

      for (int r = 0; r < ROWS; r++) {
        SysScalar d = 0;

        w[r] = 0;
        for (SysInt l = i[r]; l < i[r + 1]; l++) {
          w[r] += a[l] * v[j[l]];
          if (j[l] == r) d = a[l];
        }
        before[r] = d != 0 ? w[r] / d : w[r];
      }
      AggKrylovStep(&e, k);
      for (int r = 0; r < ROWS; r++) {
        double sum = w[r];

        for (int l = 0; l <= k; l++) sum += e.h[AGG_H(l, k)] * e.scale[l] * e.v[l * e.stride + r];
        good &= fabs(sum - before[r] * e.scale[k]) <= tolerance;
      }
      for (int l = 0; l <= k; l++) {
        double dot = 0;

        for (int r = 0; r < ROWS; r++) dot += (double)e.v[l * e.stride + r] * v[r];
        good &= fabs(dot * e.scale[l] * e.scale[k] - (l == k)) <= tolerance;
      }
    }
    memcpy(h[t], e.h, sizeof(h[t]));
    good &= !memcmp(h[t], h[0], sizeof(h[t]));
    AggKrylovDestroy(&e);
  }
  Report("Arnoldi's method", good);
}
#endif

static int Compare(const void *a, const void *b)
{
  const SysInt x = *(const SysInt *)a, y = *(const SysInt *)b;

  return (x > y) - (x < y);
}

/* n random numbers of a range, dense or sparse, some twice: as sorted by the C library, found where they are and nowhere else */
static int Numbers(int n, SysInt least, SysInt range, int dense)
{
  SysInt    *numbers = malloc((size_t)(n + 1) * sizeof(SysInt)), *expected = malloc((size_t)(n + 1) * sizeof(SysInt));
  SysNumbers set;
  int64_t    count, unique = 0;
  int        good;

  for (int k = 0; k < n; k++) numbers[k] = expected[k] = least + (SysInt)(Random() * (double)range);
  qsort(expected, (size_t)n, sizeof(SysInt), Compare);
  for (int k = 0; k < n; k++) {
    if (!unique || expected[unique - 1] != expected[k]) expected[unique++] = expected[k];
  }
  count = SysNumbersSort(n, numbers);
  good  = dense ? count == unique && !memcmp(numbers, expected, (size_t)unique * sizeof(SysInt)) : count == -1;
  SysNumbersCreate(unique, expected, &set);
  good &= (set.used != NULL) == (dense && n);
  for (int64_t k = 0; k < unique; k++) {
    good &= SysNumbersFind(&set, expected[k]) == (SysInt)k;
    if (k && expected[k] - expected[k - 1] > 1) good &= SysNumbersFind(&set, expected[k] - 1) == -1;
  }
  if (unique) good &= SysNumbersFind(&set, expected[0] - 1) == -1 && SysNumbersFind(&set, expected[unique - 1] + 1) == -1;
  else good &= SysNumbersFind(&set, least) == -1;
  SysNumbersDestroy(&set);
  free(numbers);
  free(expected);
  return good;
}

int main(void)
{
  Aggregates();
  Spider();
  Dissolved();
  Factors();
  Smooth();
#if !defined(SYS_COMPLEX)
  Krylov();
#endif
  Report("numbers", Numbers(1000, -300, 5000, 1) && Numbers(64, 0, 64, 1) && Numbers(5, -2000000000, 1000000, 0) && Numbers(1, 7, 1, 1) && Numbers(0, 0, 1, 1));
  return failed;
}
