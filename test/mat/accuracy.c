/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "Rounding errors of products and solvers against sums in twice the precision, beside those of AIJ. An error counts relative to the sum of the\n\
magnitudes of its terms, |y - y_exact| / sum |a_ij| |x_j|, in units of roundoff, 2^-53.\n\
  -accuracy_table           print the errors; else only whether they are in their bounds\n\
  -accuracy_matrices \"A B\"  files, and generated matrices as in petscamb -h, with + for rows and columns scaled by random numbers\n\
  -accuracy_types A,B       matrix types (default: all types of petsc-amb), after aij\n\n";

#include "../testutil.h"

#if defined(PETSC_USE_REAL_DOUBLE) && !defined(PETSC_USE_COMPLEX)
  #include "../../tool/generate.c"

  #define UNIT      (PETSC_MACHINE_EPSILON / 2)
  #define COLUMNS   8   /* of dense matrices */
  #define MOST      2e8 /* multiplications of a product of matrices; larger ones are left out */
  #define MAX_LINES 128
  #define MEAN      4.0 /* times the mean error of AIJ, and half a unit, is a mean that is right */

/* ------------------------------------------------- twice the precision ------------------------------------------------- */

typedef struct {
  double hi, lo;
} Double2;

/* s + a, without the error of the rounding */
static inline void Add(Double2 *s, double a)
{
  const double t = s->hi + a, b = t - s->hi;

  s->lo += (s->hi - (t - b)) + (a - b);
  s->hi = t;
}

/* s + a b */
static inline void AddProduct(Double2 *s, double a, double b)
{
  const double p = a * b;

  s->lo += fma(a, b, -p);
  Add(s, p);
}

/* s + (p.hi + p.lo) a */
static inline void AddProduct2(Double2 *s, Double2 p, double a)
{
  AddProduct(s, p.hi, a);
  AddProduct(s, p.lo, a);
}

/* ------------------------------------------------- errors ------------------------------------------------- */

/* Of one operation with one matrix */
typedef struct {
  double   most, sum, bound; /* in units of roundoff; bound: the largest part of what any order of summation may lose */
  PetscInt n;
} Error;

/* The errors of an operation and a variant with all matrices */
typedef struct {
  const char *operation;
  char        variant[64], worst[64];
  double      most, mean, bound, base; /* mean: of the means; base: of those of aij with the same matrices */
  PetscInt    n;
} Line;

static Line     lines[MAX_LINES];
static PetscInt nlines;

/* y is the rounded sum of so many terms, each of which may be wrong by `given` units already */
static void ErrorAdd(Error *e, double y, Double2 right, double magnitude, double terms, double given)
{
  const double diff = fabs((y - right.hi) - right.lo), units = diff == 0 ? 0 : magnitude > 0 ? diff / (magnitude * UNIT) : PETSC_MAX_REAL;

  e->most  = !(units <= e->most) ? units : e->most; /* NaN is the worst */
  e->bound = !(units / (terms + 3 + given) <= e->bound) ? units / (terms + 3 + given) : e->bound;
  e->sum += units;
  e->n++;
}

/* Is the error in its bound, and no worse than AIJ's in the mean? */
static void ErrorTake(TestDiff *d, const char operation[], const char variant[], const char matrix[], const Error *e, const Error *base, double given)
{
  const double mean = e->n ? e->sum / (double)e->n : 0, aij = base && base->n ? base->sum / (double)base->n : mean;
  PetscInt     k = 0;

  while (k < nlines && (strcmp(lines[k].operation, operation) || strcmp(lines[k].variant, variant))) k++;
  if (k == MAX_LINES) {
    TestExpect(d, "more lines than there is room for", PETSC_FALSE);
    return;
  }
  if (k == nlines) {
    lines[nlines++].operation = operation;
    (void)snprintf(lines[k].variant, sizeof(lines[k].variant), "%s", variant);
  }
  if (!(e->most < lines[k].most) || !lines[k].n) {
    lines[k].most = e->most;
    (void)snprintf(lines[k].worst, sizeof(lines[k].worst), "%s", strrchr(matrix, '/') ? strrchr(matrix, '/') + 1 : matrix);
  }
  lines[k].bound = PetscMax(lines[k].bound, e->bound);
  lines[k].mean += mean;
  lines[k].base += aij;
  lines[k].n++;
  TestExpect(d, lines[k].variant, (PetscBool)(e->bound <= 1 && (!base || mean <= MEAN * aij + 0.5 + given)));
}

/* ------------------------------------------------- matrices and vectors ------------------------------------------------- */

/* The rows of a matrix on the host */
typedef struct {
  Mat             H;
  PetscInt        m, n;
  const PetscInt *i, *j;
  const double   *a;
} Rows;

static PetscErrorCode RowsGet(Mat A, Rows *r)
{
  PetscBool done;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &r->H));
  PetscCall(MatGetRowIJ(r->H, 0, PETSC_FALSE, PETSC_FALSE, &r->m, &r->i, &r->j, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No row access");
  PetscCall(MatGetSize(A, NULL, &r->n));
  PetscCall(MatSeqAIJGetArrayRead(r->H, &r->a));
  PetscFunctionReturn(0);
}

static PetscErrorCode RowsRestore(Rows *r)
{
  PetscBool done;

  PetscFunctionBeginUser;
  PetscCall(MatSeqAIJRestoreArrayRead(r->H, &r->a));
  PetscCall(MatRestoreRowIJ(r->H, 0, PETSC_FALSE, PETSC_FALSE, &r->m, &r->i, &r->j, &done));
  PetscCall(MatDestroy(&r->H));
  PetscFunctionReturn(0);
}

static PetscErrorCode MatrixCreate(const char name[], Mat *A)
{
  char      generator[128];
  PetscBool known = PETSC_FALSE;
  size_t    length;

  PetscFunctionBeginUser;
  PetscCall(PetscStrncpy(generator, name, sizeof(generator)));
  PetscCall(PetscStrlen(generator, &length));
  if (length && generator[length - 1] == '+') generator[length - 1] = 0;
  PetscCall(GeneratorMatches(generator, &known));
  if (known) {
    PetscCall(GeneratorCreateMat(PETSC_COMM_SELF, generator, A));
    if (strcmp(generator, name)) {
      Vec          s;
      PetscScalar *sa;
      PetscInt     n;

      PetscCall(MatCreateVecs(*A, &s, NULL));
      PetscCall(VecGetLocalSize(s, &n));
      PetscCall(VecGetArrayWrite(s, &sa));
      for (PetscInt k = 0; k < n; k++) sa[k] = 0.5 + GeneratorUniform(k);
      PetscCall(VecRestoreArrayWrite(s, &sa));
      PetscCall(MatDiagonalScale(*A, s, s));
      PetscCall(VecDestroy(&s));
    }
  } else {
    PetscCall(MatCreate(PETSC_COMM_SELF, A));
    PetscCall(MatSetType(*A, MATAIJ));
    PetscCall(MatLoadMatrixMarket(*A, name));
  }
  PetscFunctionReturn(0);
}

/* Numbers in (-1, 1) that use all bits */
static double Number(PetscInt64 k, PetscInt64 seed)
{
  return 2 * (double)GeneratorUniform(8 * k + seed) - 1;
}

static PetscErrorCode VectorSet(Vec v, PetscInt64 seed)
{
  PetscScalar *a;
  PetscInt     n;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VecGetArrayWrite(v, &a));
  for (PetscInt k = 0; k < n; k++) a[k] = Number(k, seed);
  PetscCall(VecRestoreArrayWrite(v, &a));
  PetscFunctionReturn(0);
}

static PetscErrorCode DenseCreate(PetscInt m, PetscInt seed, Mat *D)
{
  PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, m, COLUMNS, NULL, D));
  PetscCall(MatDenseGetArrayWrite(*D, &a));
  for (PetscInt k = 0; k < m * COLUMNS; k++) a[k] = Number(k, seed);
  PetscCall(MatDenseRestoreArrayWrite(*D, &a));
  PetscCall(MatAssemblyBegin(*D, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*D, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* Prolongates n / 4 rows, with one or two random entries in a row */
static PetscErrorCode ProlongatorCreate(PetscInt m, Mat *P)
{
  const PetscInt n = PetscMax(m / 4, 1);
  PetscInt       cols[2];

  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, m, n, 2, NULL, P));
  for (PetscInt r = 0; r < m; r++) {
    cols[0] = (r / 4) % n;
    cols[1] = (r / 4 + 7) % n;
    for (int k = 0; k < 2; k++) PetscCall(MatSetValue(*P, r, cols[k], Number(2 * (PetscInt64)r + k, 5), INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*P, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*P, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* ------------------------------------------------- exact results ------------------------------------------------- */

/* Sums of columns: of a vector, or of one row of a product */
typedef struct {
  Double2  *sum;
  double   *magnitude, *terms;
  PetscInt *list, n; /* the columns that have one, of a row */
} Sums;

static PetscErrorCode SumsCreate(PetscInt n, Sums *s)
{
  PetscFunctionBeginUser;
  PetscCall(PetscCalloc4(n, &s->sum, n, &s->magnitude, n, &s->terms, n, &s->list));
  s->n = 0;
  PetscFunctionReturn(0);
}

static PetscErrorCode SumsDestroy(Sums *s)
{
  return PetscFree4(s->sum, s->magnitude, s->terms, s->list);
}

static void SumsAdd(Sums *s, PetscInt c, Double2 p, double magnitude, double a)
{
  if (s->terms[c] == 0) s->list[s->n++] = c;
  AddProduct2(&s->sum[c], p, a);
  s->magnitude[c] += magnitude * fabs(a);
  s->terms[c]++;
}

/* The entries of a row of C, all of which must be there; forgets the sums */
static void SumsCompare(Sums *s, const Rows *C, PetscInt row, double more, Error *e)
{
  for (PetscInt k = C->i[row]; k < C->i[row + 1]; k++) {
    const PetscInt c = C->j[k];

    ErrorAdd(e, C->a[k], s->sum[c], s->magnitude[c], s->terms[c] + more, 0);
    s->terms[c] = -1;
  }
  for (PetscInt k = 0; k < s->n; k++) {
    const PetscInt c = s->list[k];

    if (s->terms[c] > 0 && s->magnitude[c] > 0) ErrorAdd(e, 0, s->sum[c], s->magnitude[c], 0, 0);
    s->sum[c]       = (Double2){0, 0};
    s->magnitude[c] = s->terms[c] = 0;
  }
  s->n = 0;
}

/* ------------------------------------------------- operations ------------------------------------------------- */

static PetscErrorCode Mult(const Rows *A, Mat B, PetscBool transpose, double given, Error *e)
{
  Vec                x, y;
  const PetscScalar *xa, *ya;
  Sums               s;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(B, transpose ? &y : &x, transpose ? &x : &y));
  PetscCall(VectorSet(x, 1));
  for (int k = 0; k < 2; k++) PetscCall((*(transpose ? MatMultTranspose : MatMult))(B, x, y));
  PetscCall(VecGetArrayRead(x, &xa));
  PetscCall(VecGetArrayRead(y, &ya));
  PetscCall(SumsCreate(transpose ? A->n : A->m, &s));
  for (PetscInt r = 0; r < A->m; r++) {
    for (PetscInt k = A->i[r]; k < A->i[r + 1]; k++) SumsAdd(&s, transpose ? A->j[k] : r, (Double2){A->a[k], 0}, fabs(A->a[k]), xa[transpose ? r : A->j[k]]);
  }
  for (PetscInt r = 0; r < (transpose ? A->n : A->m); r++) ErrorAdd(e, ya[r], s.sum[r], s.magnitude[r], s.terms[r], given);
  PetscCall(SumsDestroy(&s));
  PetscCall(VecRestoreArrayRead(x, &xa));
  PetscCall(VecRestoreArrayRead(y, &ya));
  PetscCall(TestDestroy(&x, &y));
  PetscFunctionReturn(0);
}

/* A D or A^T D */
static PetscErrorCode Dense(const Rows *A, Mat B, PetscBool transpose, Error *e)
{
  const PetscInt     m = transpose ? A->n : A->m, n = transpose ? A->m : A->n;
  Mat                D, C;
  const PetscScalar *da, *ca;
  Sums               s;
  PetscInt           lda;

  PetscFunctionBeginUser;
  PetscCall(DenseCreate(n, 2, &D));
  PetscCall((*(transpose ? MatTransposeMatMult : MatMatMult))(B, D, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(MatDenseGetArrayRead(D, &da));
  PetscCall(MatDenseGetArrayRead(C, &ca));
  PetscCall(MatDenseGetLDA(C, &lda));
  for (PetscInt c = 0; c < COLUMNS; c++) {
    PetscCall(SumsCreate(m, &s));
    for (PetscInt r = 0; r < A->m; r++) {
      for (PetscInt k = A->i[r]; k < A->i[r + 1]; k++) SumsAdd(&s, transpose ? A->j[k] : r, (Double2){A->a[k], 0}, fabs(A->a[k]), da[(size_t)c * n + (transpose ? r : A->j[k])]);
    }
    for (PetscInt r = 0; r < m; r++) ErrorAdd(e, ca[(size_t)c * lda + r], s.sum[r], s.magnitude[r], s.terms[r], 0);
    PetscCall(SumsDestroy(&s));
  }
  PetscCall(MatDenseRestoreArrayRead(D, &da));
  PetscCall(MatDenseRestoreArrayRead(C, &ca));
  PetscCall(TestDestroy(&D, &C));
  PetscFunctionReturn(0);
}

/* A .* (D1 D2^T) */
static PetscErrorCode Sampled(const Rows *A, Mat B, Error *e)
{
  Mat                D1, D2, O;
  const PetscScalar *d1, *d2;
  Rows               C;

  PetscFunctionBeginUser;
  PetscCall(DenseCreate(A->m, 3, &D1));
  PetscCall(DenseCreate(A->n, 4, &D2));
  PetscCall(MatSDDMM(B, D1, D2, PETSC_TRUE, MAT_INITIAL_MATRIX, &O));
  PetscCall(RowsGet(O, &C));
  PetscCall(MatDenseGetArrayRead(D1, &d1));
  PetscCall(MatDenseGetArrayRead(D2, &d2));
  for (PetscInt r = 0; r < A->m; r++) {
    for (PetscInt k = A->i[r]; k < A->i[r + 1]; k++) {
      Double2 s = {0, 0}, t = {0, 0};
      double  magnitude = 0;

      for (PetscInt c = 0; c < COLUMNS; c++) {
        AddProduct(&s, d1[(size_t)c * A->m + r], d2[(size_t)c * A->n + A->j[k]]);
        magnitude += fabs(d1[(size_t)c * A->m + r] * d2[(size_t)c * A->n + A->j[k]]);
      }
      AddProduct2(&t, s, A->a[k]);
      ErrorAdd(e, C.a[k], t, magnitude * fabs(A->a[k]), COLUMNS + 1, 0);
    }
  }
  PetscCall(MatDenseRestoreArrayRead(D1, &d1));
  PetscCall(MatDenseRestoreArrayRead(D2, &d2));
  PetscCall(RowsRestore(&C));
  PetscCall(TestDestroy(&O, &D1, &D2));
  PetscFunctionReturn(0);
}

/* A A; B is A in the type under test */
static PetscErrorCode Square(const Rows *A, Mat B, const char algorithm[], MatHashGEMMAccumulator accumulator, Error *e)
{
  Mat  C;
  Rows R;
  Sums s;

  PetscFunctionBeginUser;
  PetscCall(MatProductCreate(B, B, NULL, &C));
  PetscCall(MatProductSetType(C, MATPRODUCT_AB));
  PetscCall(MatProductSetAlgorithm(C, algorithm));
  PetscCall(MatProductSetFromOptions(C));
  if (strcmp(algorithm, "default")) PetscCall(MatHashGEMMSetAccumulator(C, accumulator));
  PetscCall(MatProductSymbolic(C));
  PetscCall(MatProductNumeric(C));
  PetscCall(RowsGet(C, &R));
  PetscCall(SumsCreate(A->n, &s));
  for (PetscInt r = 0; r < A->m; r++) {
    for (PetscInt k = A->i[r]; k < A->i[r + 1]; k++) {
      for (PetscInt l = A->i[A->j[k]]; l < A->i[A->j[k] + 1]; l++) SumsAdd(&s, A->j[l], (Double2){A->a[k], 0}, fabs(A->a[k]), A->a[l]);
    }
    SumsCompare(&s, &R, r, 0, e);
  }
  PetscCall(SumsDestroy(&s));
  PetscCall(RowsRestore(&R));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(0);
}

/* P^T A P, by rows of P^T */
static PetscErrorCode Galerkin(const Rows *A, Mat B, Mat P, Error *e)
{
  Mat  C, L;
  Rows R, Pr, Lr;
  Sums s;

  PetscFunctionBeginUser;
  PetscCall(MatPtAP(B, P, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(RowsGet(C, &R));
  PetscCall(RowsGet(P, &Pr));
  PetscCall(MatTranspose(Pr.H, MAT_INITIAL_MATRIX, &L));
  PetscCall(RowsGet(L, &Lr));
  PetscCall(SumsCreate(Pr.n, &s));
  for (PetscInt r = 0; r < Lr.m; r++) {
    for (PetscInt q = Lr.i[r]; q < Lr.i[r + 1]; q++) {
      for (PetscInt k = A->i[Lr.j[q]]; k < A->i[Lr.j[q] + 1]; k++) {
        Double2 p = {0, 0};

        AddProduct(&p, Lr.a[q], A->a[k]);
        for (PetscInt l = Pr.i[A->j[k]]; l < Pr.i[A->j[k] + 1]; l++) SumsAdd(&s, Pr.j[l], p, fabs(Lr.a[q] * A->a[k]), Pr.a[l]);
      }
    }
    SumsCompare(&s, &R, r, 1, e);
  }
  PetscCall(SumsDestroy(&s));
  PetscCall(RowsRestore(&Lr));
  PetscCall(RowsRestore(&Pr));
  PetscCall(RowsRestore(&R));
  PetscCall(TestDestroy(&L, &C));
  PetscFunctionReturn(0);
}

/* Solves with a right-hand side of a known solution. The true residual relative to |A|_F |x| + |b|, in units of roundoff, and the error relative to the solution;
   its is negative if the solver did not converge. */
static PetscErrorCode Solve(const Rows *A, Mat B, KSPType type, double *residual, double *error, PetscInt *its)
{
  KSP                ksp;
  PC                 pc;
  Vec                b, x, known;
  PetscScalar       *ba;
  const PetscScalar *xa, *ka, *rhs;
  KSPConvergedReason reason;
  double             rr = 0, aa = 0, xx = 0, bb = 0, ee = 0, kk = 0;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(B, &x, &b));
  PetscCall(VecDuplicate(x, &known));
  PetscCall(VectorSet(known, 6));
  PetscCall(VecGetArrayRead(known, &ka));
  PetscCall(VecGetArrayWrite(b, &ba));
  for (PetscInt r = 0; r < A->m; r++) {
    Double2 s = {0, 0};

    for (PetscInt k = A->i[r]; k < A->i[r + 1]; k++) AddProduct(&s, A->a[k], ka[A->j[k]]);
    ba[r] = s.hi + s.lo;
  }
  PetscCall(VecRestoreArrayWrite(b, &ba));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetOperators(ksp, B, B));
  PetscCall(KSPSetType(ksp, type));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPSetTolerances(ksp, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, 3000));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  if (reason <= 0) *its = -1;
  PetscCall(VecGetArrayRead(x, &xa));
  PetscCall(VecGetArrayRead(b, &rhs));
  for (PetscInt r = 0; r < A->m; r++) {
    Double2 s = {rhs[r], 0};

    for (PetscInt k = A->i[r]; k < A->i[r + 1]; k++) {
      AddProduct(&s, -A->a[k], xa[A->j[k]]);
      aa += A->a[k] * A->a[k];
    }
    rr += (s.hi + s.lo) * (s.hi + s.lo);
    bb += rhs[r] * rhs[r];
    xx += xa[r] * xa[r];
    kk += ka[r] * ka[r];
    ee += (xa[r] - ka[r]) * (xa[r] - ka[r]);
  }
  *residual = sqrt(rr) / (sqrt(aa) * sqrt(xx) + sqrt(bb)) / UNIT;
  *error    = sqrt(ee / kk);
  PetscCall(VecRestoreArrayRead(b, &rhs));
  PetscCall(VecRestoreArrayRead(x, &xa));
  PetscCall(VecRestoreArrayRead(known, &ka));
  PetscCall(TestDestroy(&ksp, &b, &x, &known));
  PetscFunctionReturn(0);
}

/* ------------------------------------------------- types and storages ------------------------------------------------- */

enum {
  MULT,
  TRANSPOSE,
  DENSE,
  DENSETRANSPOSE,
  SAMPLED,
  SQUARE,
  GALERKIN,
  OPERATIONS
};

static const char *const operations[OPERATIONS] = {"A x", "A^T x", "A D", "A^T D", "SDDMM", "A A", "P^T A P"};
static TestDiff          diffs[OPERATIONS + 1];
static PetscBool         table;

static PetscErrorCode TypedCreate(Mat A, const char type[], MatShadowValues values, PetscBool plain, Mat *B)
{
  PetscFunctionBeginUser;
  if (plain) {
    PetscCall(MatDuplicate(A, MAT_COPY_VALUES, B));
    PetscFunctionReturn(0);
  }
  PetscCall(MatConvert(A, type, MAT_INITIAL_MATRIX, B));
  PetscCall(MatShadowSetTune(*B, MAT_SHADOW_TUNE_OFF));
  PetscCall(MatShadowSetValues(*B, values));
  PetscFunctionReturn(0);
}

/* One matrix with one type; aij comes first */
static PetscErrorCode Type(const char name[], Mat A, const Rows *rows, const char type[], PetscBool plain, double products, Error base[])
{
  const PetscBool    stores = (PetscBool)(!strcmp(type, MATAMB) || !strcmp(type, MATNUSSELL)), multiplies = (PetscBool)!strcmp(type, MATHASHGEMM);
  const char *const *all;
  PetscInt           n;
  PetscBool          format = PETSC_FALSE; /* products of matrices are those of hashgemm */
  char               variant[64];
  Mat                B, P, Q;

  PetscFunctionBeginUser;
  PetscCall(PetscAMBGetTypes(PETSC_FALSE, &n, &all));
  for (PetscInt k = 0; k < n; k++) format = (PetscBool)(format || (!multiplies && !strcmp(type, all[k])));
  for (int values = 0; values < (stores ? 4 : 1); values++) {
    const double given = values == MAT_SHADOW_VALUES_SINGLE ? 536870912 : 0; /* 2^-24 */

    PetscCall(TypedCreate(A, type, (MatShadowValues)values, plain, &B));
    PetscCall(PetscSNPrintf(variant, sizeof(variant), "%s%s%s", type, values ? ", " : "", values ? MatShadowValuesNames[values] : ""));
    for (int transpose = 0; transpose < 2; transpose++) {
      Error e = {0};

      PetscCall(Mult(rows, B, (PetscBool)transpose, given, &e));
      if (plain) base[transpose] = e;
      ErrorTake(&diffs[transpose], operations[transpose], variant, name, &e, &base[transpose], given);
    }
    PetscCall(MatDestroy(&B));
  }
  PetscCall(TypedCreate(A, type, MAT_SHADOW_VALUES_DOUBLE, plain, &B));
  for (int o = DENSE; o < OPERATIONS; o++) {
    const PetscInt naccumulator = o == SQUARE && multiplies ? 9 : 1;

    if ((o == SAMPLED && plain) || (o >= SQUARE && (products > MOST || rows->m != rows->n || format))) continue;
    for (PetscInt k = 0; k < naccumulator; k++) {
      Error e = {0};

      if (o == DENSE || o == DENSETRANSPOSE) PetscCall(Dense(rows, B, (PetscBool)(o == DENSETRANSPOSE), &e));
      if (o == SAMPLED) PetscCall(Sampled(rows, B, &e));
      if (o == SQUARE) PetscCall(Square(rows, B, multiplies ? MATPRODUCTALGORITHMHASHGEMM : "default", (MatHashGEMMAccumulator)k, &e));
      if (o == GALERKIN) {
        PetscCall(ProlongatorCreate(rows->m, &P));
        PetscCall(TypedCreate(P, type, MAT_SHADOW_VALUES_DOUBLE, plain, &Q));
        PetscCall(Galerkin(rows, B, Q, &e));
        PetscCall(TestDestroy(&Q, &P));
      }
      if (plain) base[o] = e;
      PetscCall(PetscSNPrintf(variant, sizeof(variant), "%s%s%s", type, naccumulator > 1 ? ", " : "", naccumulator > 1 ? MatHashGEMMAccumulators[k] : ""));
      ErrorTake(&diffs[o], operations[o], variant, name, &e, o == SAMPLED ? NULL : &base[o], 0);
    }
  }
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(0);
}

/* CG and BiCGSTAB of PETSc with aij, then with a type, then those of petsc-amb. The residual may be ten times that of PETSc's. */
static PetscErrorCode Solvers(const char name[], Mat A, const Rows *rows, const char type[], PetscBool plain)
{
  static const char *const pairs[2][2] = {
    {KSPCG,   KSPAMBCG  },
    {KSPBCGS, KSPAMBBCGS}
  };
  static double   base[2];
  static PetscInt baseits[2];
  PetscBool       symmetric;
  PetscReal       norm;
  Mat             B;

  PetscFunctionBeginUser;
  if (rows->m != rows->n) PetscFunctionReturn(0);
  PetscCall(MatNorm(A, NORM_FROBENIUS, &norm));
  PetscCall(MatIsSymmetric(A, 1e-13 * norm, &symmetric));
  PetscCall(TypedCreate(A, type, MAT_SHADOW_VALUES_DOUBLE, plain, &B));
  for (int p = symmetric ? 0 : 1; p < 2; p++) {
    for (int k = 0; k < (plain ? 1 : 2); k++) {
      double   residual = 0, error = 0;
      PetscInt its = -1;

      if (!plain && baseits[p] < 0) continue;
      PetscCall(Solve(rows, B, pairs[p][k], &residual, &error, &its));
      if (plain) {
        base[p]    = residual;
        baseits[p] = its;
      }
      if (its >= 0 || !plain) TestExpect(&diffs[OPERATIONS], pairs[p][k], (PetscBool)(its >= 0 && residual <= 10 * base[p] + 10));
      if (table) PetscCall(PetscPrintf(PETSC_COMM_SELF, "%-24s %-8s %-14s %6" PetscInt_FMT " %10.2f %10.1e%s\n", strrchr(name, '/') ? strrchr(name, '/') + 1 : name, pairs[p][k], type, its, residual, error, its < 0 ? "  does not converge" : ""));
    }
  }
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  char               list[8192] = "p7:10+ p27:8 elasticity:5+ rmat:9,8 er:9,6+", *name, *rest = list;
  const char *const *all;
  char              *types[16];
  PetscInt           ntypes = PETSC_STATIC_ARRAY_LENGTH(types);
  PetscBool          chosen;

  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-accuracy_matrices", list, sizeof(list), NULL));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-accuracy_table", &table));
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-accuracy_types", types, &ntypes, &chosen));
  if (!chosen) {
    PetscCall(PetscAMBGetTypes(PETSC_FALSE, &ntypes, &all));
    for (PetscInt k = 0; k < ntypes; k++) PetscCall(PetscStrallocpy(all[k], &types[k]));
  }
  if (table) PetscCall(PetscPrintf(PETSC_COMM_SELF, "%-24s %-8s %-14s %6s %10s %10s\n", "matrix", "solver", "type", "steps", "residual", "error"));
  while ((name = strsep(&rest, " "))) {
    Error  base[OPERATIONS] = {{0}};
    double products         = 0;
    Mat    A;
    Rows   rows;

    if (!*name) continue;
    PetscCall(MatrixCreate(name, &A));
    PetscCall(RowsGet(A, &rows));
    for (PetscInt k = 0; k < rows.i[rows.m] && rows.m == rows.n; k++) products += rows.i[rows.j[k] + 1] - rows.i[rows.j[k]];
    for (PetscInt k = -1; k < ntypes; k++) {
      PetscCall(Type(name, A, &rows, k < 0 ? MATAIJ : types[k], (PetscBool)(k < 0), products, base));
      PetscCall(Solvers(name, A, &rows, k < 0 ? MATAIJ : types[k], (PetscBool)(k < 0)));
    }
    PetscCall(RowsRestore(&rows));
    PetscCall(MatDestroy(&A));
  }
  if (table) PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n%-8s %-22s %8s %12s %12s %12s %10s  %s\n", "", "type", "matrices", "mean", "mean of aij", "most", "of bound", "with"));
  for (int o = 0; o < OPERATIONS && table; o++) {
    for (PetscInt k = 0; k < nlines; k++) {
      const Line *l = &lines[k];

      if (strcmp(l->operation, operations[o])) continue;
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "%-8s %-22s %8" PetscInt_FMT " %12.4g ", l->operation, l->variant, l->n, l->mean / (double)l->n));
      if (o == SAMPLED) PetscCall(PetscPrintf(PETSC_COMM_SELF, "%12s", "-"));
      else PetscCall(PetscPrintf(PETSC_COMM_SELF, "%12.4g", l->base / (double)l->n));
      PetscCall(PetscPrintf(PETSC_COMM_SELF, " %12.4g %10.2g  %s\n", l->most, l->bound, l->worst));
    }
  }
  for (int o = 0; o < OPERATIONS; o++) PetscCall(TestReport(operations[o], &diffs[o]));
  PetscCall(TestReport("CG and BiCGSTAB", &diffs[OPERATIONS]));
  for (PetscInt k = 0; k < ntypes; k++) PetscCall(PetscFree(types[k]));
  return TestFinalize();
}
#else
int main(int argc, char **argv)
{
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "rounding errors are measured in double precision, of real numbers\n"));
  return TestFinalize();
}
#endif

/*TEST

  test:
    requires: double !complex
    checks: 8

TEST*/
