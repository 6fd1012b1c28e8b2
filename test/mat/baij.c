/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "-petscamb_for_aij: BAIJ and SBAIJ stay what the program created, with products of petsc-amb, beside PETSc's and MATAIJ's.\n";

#include "../testutil.h"

#define ROWS    24 /* of blocks */
#define COLUMNS 17

/* The value of -petscamb_for_aij for matrices from now on */
static PetscErrorCode For(const char type[])
{
  return PetscOptionsSetValue(NULL, "-petscamb_for_aij", type);
}

/* Sets blocks: the diagonal, neighbours and some far ones; every fifth block row has its diagonal block only, or none if the matrix has more rows than columns. A block may have zeros. */
static PetscErrorCode SetBlocks(Mat A, PetscInt bs, PetscInt N, PetscBool upper, PetscReal factor)
{
  PetscInt     first, last;
  PetscScalar *v;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(bs * bs, &v));
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt i = first / bs; i < last / bs; i++) {
    for (PetscInt j = upper ? i : 0; j < N; j++) {
      const PetscInt  low = PetscMin(i, j), high = PetscMax(i, j);
      const PetscBool far = (PetscBool)(TestInteger(low, high, 5) == 0);

      if (i % 5 == 4 || j % 5 == 4 ? i != j : high - low > 1 && !far) continue;
      if (i % 5 == 4 && N < ROWS) continue;
      for (PetscInt r = 0; r < bs; r++) {
        for (PetscInt c = 0; c < bs; c++) {
          const PetscInt p = i <= j ? i * bs + r : j * bs + c, q = i <= j ? j * bs + c : i * bs + r; /* the matrix is symmetric */

          v[r * bs + c] = TestInteger(PetscMin(p, q), PetscMax(p, q), 4) ? factor * TestReal(PetscMin(p, q), PetscMax(p, q)) : 0;
          if (p == q) v[r * bs + c] += 4 * factor;
        }
      }
      PetscCall(MatSetValuesBlocked(A, 1, &i, 1, &j, v, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscFree(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With several processes the first has no rows and no columns */
static PetscErrorCode Create(MatType type, PetscInt bs, PetscInt N, Mat *A)
{
  PetscMPIInt rank, size;
  PetscInt    m = ROWS, n = N;
  PetscBool   upper;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (size > 1) {
    m = rank == 0 ? 0 : rank == size - 1 ? ROWS - (size - 2) * (ROWS / (size - 1)) : ROWS / (size - 1);
    n = rank == 0 ? 0 : rank == size - 1 ? N - (size - 2) * (N / (size - 1)) : N / (size - 1);
  }
  PetscCall(PetscStrcmp(type, MATSBAIJ, &upper));
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, m * bs, n * bs, ROWS * bs, N * bs));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSeqBAIJSetPreallocation(*A, bs, N, NULL));
  PetscCall(MatMPIBAIJSetPreallocation(*A, bs, N, NULL, N, NULL));
  PetscCall(MatSeqSBAIJSetPreallocation(*A, bs, N, NULL));
  PetscCall(MatMPISBAIJSetPreallocation(*A, bs, N, NULL, N, NULL));
  PetscCall(SetBlocks(*A, bs, N, upper, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same matrix with the products of petsc-amb, with PETSc's, and as an AIJ */
static PetscErrorCode CreateThree(MatType type, PetscInt bs, PetscInt N, Mat *A, Mat *B, Mat *R)
{
  PetscFunctionBeginUser;
  PetscCall(For("aij"));
  PetscCall(Create(type, bs, N, B));
  PetscCall(MatConvert(*B, MATAIJ, MAT_INITIAL_MATRIX, R));
  PetscCall(For("amb"));
  PetscCall(Create(type, bs, N, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares the products of A and R, which are the same matrix */
static PetscErrorCode DiffProducts(TestDiff *d, Mat A, Mat R)
{
  Vec rows, cols;
  Mat S;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(R, MATAIJ, MAT_INITIAL_MATRIX, &S)); /* rows of SBAIJ are halves */
  PetscCall(TestScales(S, &rows, &cols));
  PetscCall(TestDiffMult(d, A, R, rows));
  PetscCall(TestDiffMultTranspose(d, A, R, cols));
  TestDestroy(&rows, &cols, &S);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether petsc-amb multiplies, where its kernels know the block size */
static PetscErrorCode ExpectOurs(TestDiff *d, Mat A, Mat B, PetscInt bs)
{
  void (*ours)(void), (*own)(void);
  PetscMPIInt size;
  PetscBool   kernels = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (size > 1) PetscFunctionReturn(PETSC_SUCCESS); /* the blocks have them */
#if defined(__x86_64__) && !defined(PETSC_USE_COMPLEX)
  kernels = (PetscBool)(bs > 1 && bs < 9 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
#endif
  PetscCall(MatGetOperation(A, MATOP_MULT, &ours));
  PetscCall(MatGetOperation(B, MATOP_MULT, &own));
  TestExpect(d, "products are petsc-amb's", (PetscBool)((ours != own) == kernels));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Products(TestDiff *d, MatType type, PetscInt N)
{
  PetscFunctionBeginUser;
  for (PetscInt bs = 1; bs < (N == ROWS ? 10 : 8); bs++) { /* PETSc 3.18.5 multiplies wrongly by rectangles with larger blocks */
    Mat A, B, R;

    PetscCall(CreateThree(type, bs, N, &A, &B, &R));
    PetscCall(ExpectOurs(d, A, B, bs));
    PetscCall(DiffProducts(d, A, R));
    PetscCall(DiffProducts(d, A, B));
    TestDestroy(&A, &B, &R);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Square(TestDiff *d)
{
  return Products(d, MATBAIJ, ROWS);
}

static PetscErrorCode Rectangle(TestDiff *d)
{
  return Products(d, MATBAIJ, COLUMNS);
}

static PetscErrorCode Symmetric(TestDiff *d)
{
  return Products(d, MATSBAIJ, ROWS);
}

/* Rows, diagonal, norms, sizes, numbers of entries, and the type's name, beside PETSc's matrix */
static PetscErrorCode DiffObservables(TestDiff *d, Mat A, Mat B)
{
  PetscInt  first, last, bs[4];
  PetscReal norm[2];
  MatInfo   info[2];
  MatType   type[2];
  PetscBool same, upper;
  Vec       x, y;
  const Mat M[2] = {A, B};

  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &upper, MATSEQSBAIJ, MATMPISBAIJ, ""));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatGetType(M[k], &type[k]));
    PetscCall(MatGetBlockSizes(M[k], &bs[2 * k], &bs[2 * k + 1]));
    PetscCall(MatNorm(M[k], NORM_FROBENIUS, &norm[k]));
    PetscCall(MatGetInfo(M[k], MAT_GLOBAL_SUM, &info[k]));
    if (upper) PetscCall(MatGetRowUpperTriangular(M[k]));
  }
  PetscCall(PetscStrcmp(type[0], type[1], &same));
  TestExpect(d, "type", same);
  TestExpect(d, "block sizes", (PetscBool)(bs[0] == bs[2] && bs[1] == bs[3]));
  TestExpect(d, "norm", (PetscBool)(norm[0] == norm[1]));
  TestExpect(d, "entries", (PetscBool)(info[0].nz_used == info[1].nz_used));
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt i = first; i < last; i++) {
    const PetscInt    *j[2];
    const PetscScalar *a[2];
    PetscInt           n[2];

    for (int k = 0; k < 2; k++) PetscCall(MatGetRow(M[k], i, &n[k], &j[k], &a[k]));
    same = (PetscBool)(n[0] == n[1]);
    for (PetscInt k = 0; same && k < n[0]; k++) same = (PetscBool)(j[0][k] == j[1][k] && a[0][k] == a[1][k]);
    TestExpect(d, "row", same);
    for (int k = 0; k < 2; k++) PetscCall(MatRestoreRow(M[k], i, &n[k], &j[k], &a[k]));
  }
  for (int k = 0; k < 2 && upper; k++) PetscCall(MatRestoreRowUpperTriangular(M[k]));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(MatGetDiagonal(A, x));
  PetscCall(MatGetDiagonal(B, y));
  PetscCall(VecEqual(x, y, &same));
  TestExpect(d, "diagonal", same);
  TestDestroy(&x, &y);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Observables(TestDiff *d)
{
  const MatType types[] = {MATBAIJ, MATSBAIJ};

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++) {
    for (PetscInt bs = 2; bs < 9; bs += 3) {
      Mat A, B, R;

      PetscCall(CreateThree(types[k], bs, ROWS, &A, &B, &R));
      PetscCall(DiffObservables(d, A, B));
      PetscCall(DiffProducts(d, A, R));
      PetscCall(DiffObservables(d, A, B));
      TestDestroy(&A, &B, &R);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values that change without an assembly, by an assembly, and by a copy; duplicates; part of the matrix; another preallocation */
static PetscErrorCode Changes(TestDiff *d)
{
  const MatType types[] = {MATBAIJ, MATSBAIJ};

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++) {
    for (PetscInt bs = 3; bs < 7; bs += 3) {
      Mat A, B, R, C, S, T;
      IS  rows;

      PetscCall(CreateThree(types[k], bs, ROWS, &A, &B, &R));
      PetscCall(MatScale(A, 3));
      PetscCall(MatScale(R, 3));
      PetscCall(DiffProducts(d, A, R));
      PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &C));
      PetscCall(ExpectOurs(d, C, B, bs));
      PetscCall(DiffProducts(d, C, R));
      PetscCall(MatZeroEntries(C));
      PetscCall(MatCopy(B, C, SAME_NONZERO_PATTERN));
      PetscCall(DiffProducts(d, C, B));
      PetscCall(SetBlocks(C, bs, ROWS, (PetscBool)(k == 1), 2));
      PetscCall(SetBlocks(B, bs, ROWS, (PetscBool)(k == 1), 2));
      PetscCall(DiffProducts(d, C, B));
      PetscCall(DiffObservables(d, C, B));
      if (k == 0) {
        PetscInt first, last;

        PetscCall(MatGetOwnershipRange(C, &first, &last));
        PetscCall(ISCreateStride(PETSC_COMM_WORLD, PetscMin(last - first, 6 * bs), first, 1, &rows));
        PetscCall(MatCreateSubMatrix(C, rows, rows, MAT_INITIAL_MATRIX, &S));
        PetscCall(MatCreateSubMatrix(B, rows, rows, MAT_INITIAL_MATRIX, &T));
        PetscCall(DiffProducts(d, S, T));
        TestDestroy(&S, &T, &rows);
      }
      TestDestroy(&A, &B, &R, &C);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMult_Own(Mat A, Vec x, Vec y)
{
  PetscFunctionBeginUser;
  PetscCall(VecSet(y, 42));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* First products of an AIJ with the blocks of a BAIJ, which run on nodes; with new values, and with a new entry, after which a row is no part of a node */
static PetscErrorCode Nodes(TestDiff *d)
{
  PetscFunctionBeginUser;
  for (PetscInt bs = 2; bs < 9; bs++) {
    Mat      A, B, R, S;
    PetscInt first, last;

    PetscCall(CreateThree(MATBAIJ, bs, ROWS, &A, &B, &R));
    PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &S));
    PetscCall(DiffProducts(d, S, B));
    PetscCall(MatScale(S, 2));
    PetscCall(MatScale(R, 2));
    PetscCall(DiffProducts(d, S, R));
    PetscCall(MatGetOwnershipRange(S, &first, &last));
    for (int k = 0; k < 2; k++) {
      const Mat M = k ? S : R;

      PetscCall(MatSetOption(M, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
      if (last > first) PetscCall(MatSetValue(M, last - 1, first + 2 * bs, 1, INSERT_VALUES));
      PetscCall(MatAssemblyBegin(M, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(M, MAT_FINAL_ASSEMBLY));
    }
    PetscCall(DiffProducts(d, S, R));
    TestDestroy(&A, &B, &R, &S);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A program's own operation stays, and so do PETSc's products of a format that has none */
static PetscErrorCode Stays(TestDiff *d)
{
  void (*f)(void), (*g)(void);
  Mat A, B, C;

  PetscFunctionBeginUser;
  PetscCall(For("amb"));
  PetscCall(MatCreateSeqBAIJ(PETSC_COMM_SELF, 3, 3 * ROWS, 3 * ROWS, ROWS, NULL, &A));
  PetscCall(MatSetOperation(A, MATOP_MULT, (void (*)(void))MatMult_Own));
  PetscCall(SetBlocks(A, 3, ROWS, PETSC_FALSE, 1));
  PetscCall(MatGetOperation(A, MATOP_MULT, &f));
  TestExpect(d, "the program's operation stays", (PetscBool)(f == (void (*)(void))MatMult_Own));
  PetscCall(For("hashgemm"));
  PetscCall(MatCreateSeqBAIJ(PETSC_COMM_SELF, 3, 3 * ROWS, 3 * ROWS, ROWS, NULL, &B));
  PetscCall(SetBlocks(B, 3, ROWS, PETSC_FALSE, 1));
  PetscCall(For("aij"));
  PetscCall(MatCreateSeqBAIJ(PETSC_COMM_SELF, 3, 3 * ROWS, 3 * ROWS, ROWS, NULL, &C));
  PetscCall(SetBlocks(C, 3, ROWS, PETSC_FALSE, 1));
  PetscCall(MatGetOperation(B, MATOP_MULT, &f));
  PetscCall(MatGetOperation(C, MATOP_MULT, &g));
  TestExpect(d, "hashgemm multiplies by no vectors", (PetscBool)(f == g));
  TestDestroy(&A, &B, &C);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix without preallocation, which PETSc from 3.19 on assembles by hashing, and one without entries */
static PetscErrorCode Unprepared(TestDiff *d)
{
  PetscFunctionBeginUser;
  PetscCall(For("amb"));
  for (int k = 0; k < 2; k++) {
    Mat A, R;

    PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
    PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, 4 * ROWS, 4 * ROWS));
    PetscCall(MatSetBlockSize(A, 4));
    PetscCall(MatSetType(A, MATBAIJ));
    PetscCall(MatSetUp(A));
    if (k) {
      PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    } else {
      PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
      PetscCall(SetBlocks(A, 4, ROWS, PETSC_FALSE, 1));
    }
    PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &R));
    PetscCall(DiffProducts(d, A, R));
    TestDestroy(&A, &R);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves with GAMG and compares the residual */
static PetscErrorCode DiffSolve(TestDiff *d, KSP ksp, Mat A)
{
  PetscReal          norm, rhs;
  KSPConvergedReason reason;
  PetscInt           levels;
  PC                 pc;
  Vec                x, b, r;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(TestVecSet(b, 3));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCMGGetLevels(pc, &levels));
  TestExpect(d, "converged, with several levels", (PetscBool)(reason > 0 && levels > 1));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAXPY(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, &norm));
  PetscCall(VecNorm(b, NORM_2, &rhs));
  TestExpect(d, "residual", (PetscBool)(norm <= 1e-3 * rhs));
  TestDestroy(&x, &b, &r);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* GAMG with both types, in which PETSc raises an error; then with new values, another pattern, and another matrix */
static PetscErrorCode GAMG(TestDiff *d)
{
  const MatType types[] = {MATBAIJ, MATSBAIJ};

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++) {
    Mat A, B, R, operator[2];
    MatType   type;
    KSP       ksp;
    PC        pc;
    PetscBool same;

    PetscCall(CreateThree(types[k], 3, ROWS, &A, &B, &R));
    PetscCall(MatShift(A, 30));
    PetscCall(MatShift(R, 30));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetType(ksp, KSPCG));
    PetscCall(KSPSetTolerances(ksp, 1e-4, PETSC_DEFAULT, PETSC_DEFAULT, 100));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCGAMG));
    PetscCall(PCGAMGSetCoarseEqLim(pc, 5));
    PetscCall(DiffSolve(d, ksp, A));
    PetscCall(KSPGetOperators(ksp, &operator[0], &operator[1]));
    PetscCall(MatGetType(operator[1], &type));
    PetscCall(PetscStrendswith(type, types[k], &same));
    TestExpect(d, "the operators are the program's", (PetscBool)(operator[0] == A && operator[1] == A && same));
    PetscCall(MatScale(A, 2));
    PetscCall(DiffSolve(d, ksp, A));
    PetscCall(PCGAMGSetReuseInterpolation(pc, PETSC_TRUE));
    PetscCall(MatShift(A, 5));
    PetscCall(DiffSolve(d, ksp, A));
    PetscCall(MatShift(B, 40));
    PetscCall(DiffSolve(d, ksp, B));
    PetscCall(DiffSolve(d, ksp, R));
    PetscCall(DiffSolve(d, ksp, A));
    TestDestroy(&ksp, &A, &B, &R);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const TestCase tests[] = {
  {"products of BAIJ",              Square     },
  {"products of rectangles",        Rectangle  },
  {"products of SBAIJ",             Symmetric  },
  {"everything else is PETSc's",    Observables},
  {"new values, duplicates, parts", Changes    },
  {"what stays PETSc's",            Stays      },
  {"without preallocation",         Unprepared },
  {"nodes of AIJ",                  Nodes      },
  {"GAMG",                          GAMG       },
  {NULL,                            NULL       }
};

int main(int argc, char **argv)
{
  return TestMain(argc, argv, help, tests);
}

/*TEST

  test:
    nsize: {{1 2 3}}
    args: -mat_shadow_device cpu -options_left 0
    checks: 9

TEST*/
