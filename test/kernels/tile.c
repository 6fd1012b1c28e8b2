/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The tile-composite kernels against a plain reference, without PETSc: every instruction set this processor has, rectangles of all kinds, and the same bits on any
   number of threads.

   Prints "ok NAME" or "not ok NAME" for each combination of shape and instruction set, and for each subject.
*/
#include "mat/impls/tilecomposite/host/tilehost.h"
#include "shapes.h"

static const TileParams cases[] = {
  {0,     -1, 0,    0},
  {0,     0,  64,   0},
  {7,     -1, 32,   0},
  {100,   2,  512,  0},
  {50,    -1, 32,   1},
  {0,     -1, 1024, 1},
  {70000, -1, 0,    0}
};
#define NCASES ((int)(sizeof(cases) / sizeof(*cases)))

KERNEL_SETS(Tile)

/* What Multiply() takes */
typedef struct {
  TileHost *A;
  SysCSR    csr;
} Tested;

static int Multiply(const void *data, int transpose, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z)
{
  const Tested *T = (const Tested *)data;

  return !(transpose ? TileHostMultTranspose : TileHostMult)(T->A, &T->csr, alpha, x, beta, y, z, NULL);
}

/* Every entry of the matrix is stored once, in a piece of its row, and everything else is padding */
static int Same(const Builder *B, const TileHost *A)
{
  const TileLayout *L      = &A->layout;
  char             *stored = calloc((size_t)B->nz + 1, 1);
  int64_t           n      = 0;
  int               good   = stored != NULL;

  for (int64_t k = 0; k < L->nentry && good; k++) {
    const SysInt from    = L->from[k];
    const int    padding = k < L->nnarrow ? L->narrow[k] == UINT16_MAX : L->wide[k - L->nnarrow] == TILE_NO_COLUMN;

    good = padding == (from < 0);
    if (from < 0) continue;
    good = good && !stored[from] && !memcmp(&A->val[k], &B->a[from], sizeof(SysScalar));
    n++;
    stored[from] = 1;
  }
  free(stored);
  return good && n == B->nz;
}

static int CheckOne(Builder *B, const void *set, int k, int nthread, const char **what)
{
  const TileKernels *kernels = (const TileKernels *)set;
  TileParams         params  = cases[k];
  Tested             T       = {
                      NULL, {B->m, B->n, B->nz, B->i, B->j, B->a}
  };
  SysCSR pattern = T.csr;
  double bytes;
  int    good;

  *what     = "conversion";
  pattern.a = NULL;
  good      = TileHostCreate(&pattern, &params, nthread, 1 + nthread % 2, kernels, INFINITY, &bytes, &T.A) == SYS_SUCCESS && TileHostUpdate(T.A, &T.csr, NULL) == SYS_SUCCESS;
  if (good && (bytes != TileLayoutBytes(&T.A->layout) || !Same(B, T.A))) {
    *what = "what is stored";
    good  = 0;
  }
  if (good) good = CheckProducts(B, &T, Multiply, 0, what);
  for (SysInt k = 0; k < B->nz; k++) B->a[k] = RandomScalar();
  if (good) {
    good = TileHostUpdate(T.A, &T.csr, NULL) == SYS_SUCCESS && Same(B, T.A) && CheckProducts(B, &T, Multiply, 0, what);
    if (!good) *what = "update of values";
  }
  if (good) {
    good = CheckProducts(B, &T, Multiply, 5, what);
    if (!good) *what = "products with NaN and infinity";
  }
  TileHostDestroy(T.A);
  return good;
}

static void Check(const char *name, Builder *B)
{
  KernelSet sets[3];
  const int nset = Sets(sets);

  for (int s = 0; s < nset; s++) CheckCases(name, B, &sets[s], s, nset, NCASES, CheckOne);
}

/* One thread and seven give the same bits; rows in many pieces, too */
static void CheckBits(void)
{
  Builder B;
  int     good = 1;

  Hub(&B, 5000);
  for (int c = 0; c < NCASES && good; c++) {
    Tested T[2] = {
      {NULL, {B.m, B.n, B.nz, B.i, B.j, B.a}},
      {NULL, {B.m, B.n, B.nz, B.i, B.j, B.a}}
    };
    SysScalar *x = malloc(sizeof(*x) * (size_t)B.n), *z[2];
    double     bytes;

    for (SysInt k = 0; k < B.n; k++) x[k] = RandomScalar();
    for (int t = 0; t < 2; t++) {
      z[t] = calloc((size_t)B.m, sizeof(*z[t]));
      good = good && !TileHostCreate(&T[t].csr, &cases[c], t ? 7 : 1, 1, TileHostKernels(), INFINITY, &bytes, &T[t].A) && Multiply(&T[t], 0, 1, x, 0, NULL, z[t]);
    }
    good = good && T[0].A->layout.nslot > 0 && !memcmp(z[0], z[1], sizeof(*z[0]) * (size_t)B.m);
    for (int t = 0; t < 2; t++) {
      TileHostDestroy(T[t].A);
      free(z[t]);
    }
    free(x);
  }
  Report(good, "the same bits on one thread and on seven");
  Finish(&B);
}

/* Too many bytes are refused before anything is stored */
static void CheckRefused(void)
{
  Builder   B;
  TileHost *A;
  double    bytes;
  int       good;

  Band(&B, 500, 3, 2);
  good = TileHostCreate(&(SysCSR){B.m, B.n, B.nz, B.i, B.j, B.a}, &cases[0], 1, 1, TileHostKernels(), 100, &bytes, &A) == SYS_TOO_MANY_BYTES && !A && bytes > 100;
  good = good && TileHostCreate(&(SysCSR){B.m, UINT32_MAX, B.nz, B.i, B.j, B.a}, &cases[0], 1, 1, TileHostKernels(), INFINITY, &bytes, &A) == SYS_TOO_LARGE && !A;
  Report(good, "refused");
  Report(TileIsRegular(&(SysCSR){B.m, B.n, B.nz, B.i, B.j, B.a}), "a band is regular");
  Finish(&B);
  Hub(&B, 1200);
  Report(!TileIsRegular(&(SysCSR){B.m, B.n, B.nz, B.i, B.j, B.a}), "hubs are not regular");
  Finish(&B);
}

/* With a model, what is left open takes no more time by it than any number of tiles and size of rectangles; the matrix is stored as with these */
static void CheckModel(void)
{
  Builder   B;
  TileModel T;
  int       good = 1, few = 0, many = 0;

  Hub(&B, 3000);
  for (int k = 0; k < 4; k++) {
    const SysCSR csr  = {B.m, B.n, B.nz, B.i, B.j, NULL};
    TileParams   open = {k < 2 ? 100 : 700, -1, 0, 0};
    TileHost     A    = {0};
    double       least;

    TileModelDefault(&T);
    T.warps = 1 + 40 * k;
    if (k % 2) T.copy = T.sum = T.meet = 0; /* nothing for tiles besides their entries */
    good = good && TileLayoutCreate(&csr, &open, &T, 0, 1, &A.layout) == SYS_SUCCESS && A.layout.time > 0;
    if (!good) break;
    A.val = malloc(sizeof(*A.val) * (size_t)A.layout.nentry);
    for (int64_t e = 0; e < A.layout.nentry; e++) A.val[e] = A.layout.from[e] < 0 ? 0 : B.a[A.layout.from[e]];
    good  = Same(&B, &A);
    least = A.layout.time;
    few += A.layout.ntile == 0;
    many += A.layout.ntile > 1;
    free(A.val);
    TileLayoutDestroy(&A.layout);
    for (int tiles = 0; tiles <= 64; tiles = tiles ? 2 * tiles : 1) {
      for (int work = 64; work <= TILE_MOST; work *= 2) {
        TileParams p = {open.width, tiles, work, 0};
        TileLayout L;

        good = good && TileLayoutCreate(&csr, &p, &T, 1, 1, &L) == SYS_SUCCESS;
        if (!good) break;
        good = L.time >= least * (1 - 1e-9);
        TileLayoutDestroy(&L);
      }
    }
  }
  Report(good, "the model's choice");
  Report(few && many, "the model takes no tiles and several");
  Finish(&B);
}

int main(void)
{
  ForEachShape(Check);
  CheckDisorder(Check);
  CheckBits();
  CheckRefused();
  CheckModel();
  return failures != 0;
}
