/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "Levels of ambagg that have their entries on the GPU only: set-ups and solves need no AIJ, and each operation finds the matrix that AIJ has.\n";

#include "../testutil.h"
#include <petsc/private/matimpl.h>
#include <petsc/private/vecimpl.h>
#include <petscpc.h>

static PetscScalar ValueGrid(PetscInt i, PetscInt j)
{
  return i == j ? 4.3 : -1 - 0.07 * TestReal(PetscMin(i, j), PetscMax(i, j));
}

static TestShape grid = {"grid", 3600, 3600, TestRowGrid, ValueGrid, PETSC_FALSE};
static PetscBool operators; /* tests an operator in place of an interpolation */

/* A solver by multigrid */
static PetscErrorCode CreateSolver(PetscInt limit, PetscBool repartition, KSP *ksp)
{
  Mat A;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&grid, NULL, &A));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetType(*ksp, KSPCG));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, PCGAMG));
  PetscCall(PCGAMGSetReuseInterpolation(pc, PETSC_TRUE));
  if (limit) PetscCall(PCGAMGSetProcEqLim(pc, limit));
  PetscCall(PCGAMGSetRepartition(pc, repartition));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(KSPSetUp(*ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The interpolation to the finest level, and the operator of the next one */
static PetscErrorCode GetLevel(KSP ksp, Mat *P, Mat *C)
{
  PetscInt levels;
  KSP      smoother;
  PC       pc;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCMGGetLevels(pc, &levels));
  PetscCall(PCMGGetInterpolation(pc, levels - 1, P));
  PetscCall(PCMGGetSmoother(pc, levels - 2, &smoother));
  PetscCall(KSPGetOperators(smoother, C, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solver, and the matrix under test */
static PetscErrorCode Create(KSP *ksp, Mat *P)
{
  Mat C;

  PetscFunctionBeginUser;
  PetscCall(CreateSolver(0, PETSC_FALSE, ksp));
  PetscCall(GetLevel(*ksp, P, &C));
  if (operators) *P = C;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool Deferred(Mat A)
{
  return (PetscBool)(strstr(((PetscObject)A)->type_name, "deferred") != NULL);
}

/* ------------------------------------------------- operations ------------------------------------------------- */

/* Each operation on P, which has its entries on the GPU only, and on R, the same matrix as an AIJ on the host */
typedef PetscErrorCode Operation(TestDiff *, Mat P, Mat R);

static PetscErrorCode Same(TestDiff *d, Mat P, Mat R)
{
  return TestDiffMat(d, P, R);
}

static PetscErrorCode SameAndDestroy(TestDiff *d, Mat *P, Mat *R)
{
  PetscFunctionBeginUser;
  PetscCall(TestDiffMat(d, *P, *R));
  PetscCall(TestDestroy(P, R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Rows(TestDiff *d, Mat P, Mat R)
{
  return TestDiffRows(d, P, R);
}

static PetscErrorCode Norms(TestDiff *d, Mat P, Mat R)
{
  PetscReal a, b;

  PetscFunctionBeginUser;
  PetscCall(MatNorm(P, NORM_INFINITY, &a));
  PetscCall(MatNorm(R, NORM_INFINITY, &b));
  TestDiffAdd(d, "norm", PetscAbsReal(a - b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Transposed(TestDiff *d, Mat P, Mat R)
{
  Mat T, S;

  PetscFunctionBeginUser;
  PetscCall(MatTranspose(P, MAT_INITIAL_MATRIX, &T));
  PetscCall(MatTranspose(R, MAT_INITIAL_MATRIX, &S));
  PetscCall(SameAndDestroy(d, &T, &S));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Duplicated(TestDiff *d, Mat P, Mat R)
{
  Mat C;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(P, MAT_COPY_VALUES, &C));
  PetscCall(Same(d, C, R));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Converted(TestDiff *d, Mat P, Mat R)
{
  Mat C;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(P, MATAIJ, MAT_INITIAL_MATRIX, &C));
  PetscCall(Same(d, C, R));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ConvertedInPlace(TestDiff *d, Mat P, Mat R)
{
  PetscFunctionBeginUser;
  PetscCall(MatConvert(P, MATAIJ, MAT_INPLACE_MATRIX, &P));
  PetscCall(Same(d, P, R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ConvertedToSame(TestDiff *d, Mat P, Mat R)
{
  PetscFunctionBeginUser;
  PetscCall(MatConvert(P, MATAIJCUSPARSE, MAT_INPLACE_MATRIX, &P));
  PetscCall(Same(d, P, R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TypeSet(TestDiff *d, Mat P, Mat R)
{
  PetscFunctionBeginUser;
  PetscCall(MatSetType(P, MATAMB));
  PetscCall(Same(d, P, R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TypeCopied(TestDiff *d, Mat P, Mat R)
{
  Mat C;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PetscObjectComm((PetscObject)P), &C));
  PetscCall(MatSetSizes(C, P->rmap->n, P->cmap->n, P->rmap->N, P->cmap->N));
  PetscCall(MatSetType(C, ((PetscObject)P)->type_name));
  TestExpect(d, "a matrix of the same type has no entries to defer", (PetscBool)!Deferred(C));
  PetscCall(MatDestroy(&C));
  PetscCall(MatConvert(R, ((PetscObject)P)->type_name, MAT_INITIAL_MATRIX, &C));
  PetscCall(Same(d, C, R));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Added(TestDiff *d, Mat P, Mat R)
{
  Mat Y, Z;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(R, MATAIJCUSPARSE, MAT_INITIAL_MATRIX, &Y));
  PetscCall(MatDuplicate(R, MAT_COPY_VALUES, &Z));
  PetscCall(MatAXPY(Y, 2.0, P, SAME_NONZERO_PATTERN)); /* the other matrix's operation reads P */
  PetscCall(MatScale(Z, 3.0));
  PetscCall(Same(d, Y, Z));
  PetscCall(MatAXPY(P, 2.0, R, SAME_NONZERO_PATTERN));
  PetscCall(Same(d, P, Z));
  PetscCall(TestDestroy(&Y, &Z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Equal(TestDiff *d, Mat P, Mat R)
{
  PetscBool same[2];
  Mat       Y;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(R, MATAIJCUSPARSE, MAT_INITIAL_MATRIX, &Y));
  PetscCall(MatEqual(Y, P, &same[0]));
  PetscCall(MatEqual(P, Y, &same[1]));
  TestExpect(d, "MatEqual() says that it differs", (PetscBool)(same[0] && same[1]));
  PetscCall(MatDestroy(&Y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two matrices that have their entries on the GPU only: each of these operations completes both */
static PetscErrorCode TwoDeferred(TestDiff *d, Mat P, Mat R)
{
  PetscBool same;
  KSP       ksp[2];
  Mat       X, Y, Z;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(R, MAT_COPY_VALUES, &Z));
  PetscCall(MatScale(Z, 3.0));
  for (int k = 0; k < 3; k++) {
    PetscCall(Create(&ksp[0], &X));
    PetscCall(Create(&ksp[1], &Y));
    TestExpect(d, "one of the two begins with an AIJ", (PetscBool)(Deferred(X) && Deferred(Y)));
    if (k == 0) {
      PetscCall(MatEqual(X, Y, &same));
      TestExpect(d, "MatEqual() says that it differs", same);
    } else if (k == 1) {
      PetscCall(MatAXPY(Y, 2.0, X, SAME_NONZERO_PATTERN));
    } else {
      PetscCall(MatCopy(X, Y, SAME_NONZERO_PATTERN));
    }
    PetscCall(Same(d, X, R));
    PetscCall(Same(d, Y, k == 1 ? Z : R));
    for (int i = 0; i < 2; i++) PetscCall(KSPDestroy(&ksp[i]));
  }
  PetscCall(MatDestroy(&Z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Copied(TestDiff *d, Mat P, Mat R)
{
  Mat Y;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(R, MATAIJCUSPARSE, MAT_INITIAL_MATRIX, &Y));
  PetscCall(MatZeroEntries(Y));
  PetscCall(MatCopy(P, Y, SAME_NONZERO_PATTERN));
  PetscCall(Same(d, Y, R));
  PetscCall(MatDestroy(&Y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CopiedTo(TestDiff *d, Mat P, Mat R)
{
  Mat Y;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(R, MATAIJCUSPARSE, MAT_INITIAL_MATRIX, &Y));
  PetscCall(MatScale(Y, 2.0));
  PetscCall(MatCopy(Y, P, SAME_NONZERO_PATTERN));
  PetscCall(Same(d, P, Y));
  PetscCall(MatDestroy(&Y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Scaled(TestDiff *d, Mat P, Mat R)
{
  Mat Z;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(R, MAT_COPY_VALUES, &Z));
  PetscCall(MatScale(P, 0.5));
  PetscCall(MatScale(Z, 0.5));
  PetscCall(Same(d, P, Z));
  PetscCall(MatDestroy(&Z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A new value of a present entry */
static PetscErrorCode ValueSet(TestDiff *d, Mat P, Mat R)
{
  const PetscInt    *columns;
  PetscInt           row, n, column = -1;
  const PetscScalar *values;
  Mat                Z;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(R, MAT_COPY_VALUES, &Z));
  PetscCall(MatGetOwnershipRange(R, &row, NULL));
  PetscCall(MatGetRow(R, row, &n, &columns, &values));
  if (n) column = columns[0];
  PetscCall(MatRestoreRow(R, row, &n, &columns, &values));
  for (int k = 0; k < 2; k++) {
    Mat A = k ? Z : P;

    PetscCall(MatSetValue(A, row, column, 7.0, INSERT_VALUES)); /* a negative column is ignored */
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  }
  PetscCall(Same(d, P, Z));
  PetscCall(MatDestroy(&Z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SubMatrix(TestDiff *d, Mat P, Mat R)
{
  PetscInt r[2], c[2];
  IS       rows, columns;
  Mat      S, T;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(P, &r[0], &r[1]));
  PetscCall(MatGetOwnershipRangeColumn(P, &c[0], &c[1]));
  PetscCall(ISCreateStride(PetscObjectComm((PetscObject)P), (r[1] - r[0]) / 2, r[0], 1, &rows));
  PetscCall(ISCreateStride(PetscObjectComm((PetscObject)P), c[1] - c[0], c[0], 1, &columns));
  PetscCall(MatCreateSubMatrix(P, rows, columns, MAT_INITIAL_MATRIX, &S));
  PetscCall(MatCreateSubMatrix(R, rows, columns, MAT_INITIAL_MATRIX, &T));
  PetscCall(SameAndDestroy(d, &S, &T));
  PetscCall(TestDestroy(&rows, &columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Info(TestDiff *d, Mat P, Mat R)
{
  MatInfo a, b;

  PetscFunctionBeginUser;
  PetscCall(MatGetInfo(P, MAT_GLOBAL_SUM, &a));
  PetscCall(MatGetInfo(R, MAT_GLOBAL_SUM, &b));
  TestExpect(d, "MatGetInfo() counts other entries", (PetscBool)(a.nz_used == b.nz_used && a.nz_allocated == b.nz_allocated && a.nz_unneeded == 0));
  TestExpect(d, "MatGetInfo() makes an AIJ", Deferred(P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Vectors(TestDiff *d, Mat P, Mat R)
{
  Vec rows, columns;

  PetscFunctionBeginUser;
  PetscCall(TestScales(R, &rows, &columns));
  PetscCall(TestDiffMult(d, P, R, rows));
  PetscCall(TestDiffMultTranspose(d, P, R, columns));
  PetscCall(TestDestroy(&rows, &columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DenseProduct(TestDiff *d, Mat P, Mat R)
{
  Mat C[2], D;

  PetscFunctionBeginUser;
  PetscCall(MatCreateDense(PetscObjectComm((PetscObject)P), P->cmap->n, PETSC_DECIDE, P->cmap->N, 3, NULL, &D));
  PetscCall(MatSetRandom(D, NULL));
  PetscCall(MatMatMult(P, D, MAT_INITIAL_MATRIX, PETSC_DETERMINE, &C[0]));
  PetscCall(MatMatMult(R, D, MAT_INITIAL_MATRIX, PETSC_DETERMINE, &C[1]));
  PetscCall(SameAndDestroy(d, &C[0], &C[1]));
  PetscCall(MatDestroy(&D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Products with the operator, of which only P^T A P needs no AIJ, and with dense matrices on both sides */
static PetscErrorCode Products(TestDiff *d, Mat P, Mat R)
{
  Mat A, B, C[2];

  PetscFunctionBeginUser;
  if (operators) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TestShapeCreate(&grid, NULL, &A));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatPtAP(A, P, MAT_INITIAL_MATRIX, PETSC_DETERMINE, &C[0]));
  PetscCall(MatPtAP(B, R, MAT_INITIAL_MATRIX, PETSC_DETERMINE, &C[1]));
  PetscCall(SameAndDestroy(d, &C[0], &C[1]));
  PetscCall(MatMatMult(A, P, MAT_INITIAL_MATRIX, PETSC_DETERMINE, &C[0]));
  PetscCall(MatMatMult(B, R, MAT_INITIAL_MATRIX, PETSC_DETERMINE, &C[1]));
  PetscCall(SameAndDestroy(d, &C[0], &C[1]));
  PetscCall(DenseProduct(d, P, R));
  PetscCall(TestDestroy(&A, &B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Diagonal(TestDiff *d, Mat P, Mat R)
{
  Vec v[2];

  PetscFunctionBeginUser;
  if (!operators) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreateVecs(P, &v[0], NULL));
  PetscCall(VecDuplicate(v[0], &v[1]));
  PetscCall(MatGetDiagonal(P, v[0]));
  PetscCall(MatGetDiagonal(R, v[1]));
  PetscCall(TestDiffVec(d, "diagonal", v[0], v[1], NULL));
  TestExpect(d, "MatGetDiagonal() makes an AIJ", Deferred(P));
  for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&v[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Preconditioners that read the matrix: each begins with one that has its entries on the GPU only */
static PetscErrorCode Preconditioned(TestDiff *d, Mat P, Mat R)
{
  static const struct {
    PCType    type;
    PetscBool one, factor; /* for one process only, factors by PETSc */
  } types[] = {
    {PCILU,      PETSC_TRUE,  PETSC_TRUE },
    {PCICC,      PETSC_TRUE,  PETSC_TRUE },
    {PCLU,       PETSC_TRUE,  PETSC_TRUE },
    {PCPBJACOBI, PETSC_FALSE, PETSC_FALSE},
    {PCSOR,      PETSC_FALSE, PETSC_FALSE},
    {PCBJACOBI,  PETSC_FALSE, PETSC_FALSE},
    {PCASM,      PETSC_FALSE, PETSC_FALSE},
  };
  PetscMPIInt size;
  Vec         b, x[2];
  KSP         ksp;
  PC          pc;

  PetscFunctionBeginUser;
  if (!operators) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(MatCreateVecs(P, &x[0], &b));
  PetscCall(VecDuplicate(x[0], &x[1]));
  PetscCall(TestVecSet(b, 5));
  for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(types); t++) {
    Mat A[] = {NULL, R};

    if (types[t].one && size > 1) continue;
    PetscCall(Create(&ksp, &A[0]));
    TestExpect(d, "begins with an AIJ", Deferred(A[0]));
    for (int k = 0; k < 2; k++) {
      PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
      PetscCall(PCSetOperators(pc, A[k], A[k]));
      PetscCall(PCSetType(pc, types[t].type));
      if (types[t].factor) PetscCall(PCFactorSetMatSolverType(pc, MATSOLVERPETSC));
      PetscCall(PCApply(pc, b, x[k]));
      PetscCall(PCDestroy(&pc));
    }
    PetscCall(TestDiffVec(d, types[t].type, x[0], x[1], NULL));
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(VecDestroy(&b));
  for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&x[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OnHost(TestDiff *d, Mat P, Mat R)
{
  PetscFunctionBeginUser;
  PetscCall(MatBindToCPU(P, PETSC_TRUE));
  PetscCall(Vectors(d, P, R));
  PetscCall(Same(d, P, R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Viewed(TestDiff *d, Mat P, Mat R)
{
  char path[PETSC_MAX_PATH_LEN];
  Mat  B;

  PetscFunctionBeginUser;
  PetscCall(TestTemporaryFile(path, sizeof(path)));
  PetscCall(TestMatSave(P, path));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)R), &B));
  PetscCall(MatSetSizes(B, R->rmap->n, R->cmap->n, R->rmap->N, R->cmap->N));
  PetscCall(MatSetType(B, MATAIJ));
  PetscCall(TestMatLoad(B, path));
  PetscCall(Same(d, B, R));
  PetscCall(MatDestroy(&B));
  PetscCall(TestRemoveFile(path));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const struct {
  const char *name;
  Operation  *f;
} operations[] = {
  {"MatGetRow",           Rows            },
  {"MatNorm",             Norms           },
  {"MatTranspose",        Transposed      },
  {"MatDuplicate",        Duplicated      },
  {"MatConvert",          Converted       },
  {"MatConvert in place", ConvertedInPlace},
  {"MatConvert to same",  ConvertedToSame },
  {"MatSetType",          TypeSet         },
  {"MatGetType",          TypeCopied      },
  {"MatAXPY",             Added           },
  {"MatEqual",            Equal           },
  {"MatCopy",             Copied          },
  {"MatCopy to it",       CopiedTo        },
  {"two deferred",        TwoDeferred     },
  {"MatScale",            Scaled          },
  {"MatSetValue",         ValueSet        },
  {"MatCreateSubMatrix",  SubMatrix       },
  {"MatGetInfo",          Info            },
  {"MatMult",             Vectors         },
  {"products",            Products        },
  {"MatMatMult",          DenseProduct    },
  {"MatGetDiagonal",      Diagonal        },
  {"preconditioners",     Preconditioned  },
  {"MatBindToCPU",        OnHost          },
  {"MatView",             Viewed          },
};

/* ------------------------------------------------- cases ------------------------------------------------- */

/* Set-up, ten solves and new values make no AIJ; the solve is the same after the matrix became one */
static PetscErrorCode Solves(TestDiff *d)
{
  PetscInt its[3];
  Vec      x, b;
  Mat      A, P;
  KSP      ksp;

  PetscFunctionBeginUser;
  PetscCall(Create(&ksp, &P));
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(TestVecSet(b, 3));
  for (int k = 0; k < 10; k++) PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &its[0]));
  TestExpect(d, "set-up or solves make an AIJ", Deferred(P));
  PetscCall(MatScale(A, 2.0));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &its[1]));
  TestExpect(d, "new values make an AIJ", Deferred(P));
  PetscCall(MatScale(P, 1.0)); /* becomes an AIJ between two solves */
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &its[2]));
  TestExpect(d, "other iterations after the matrix became an AIJ", (PetscBool)(PetscAbsInt(its[0] - its[2]) <= (operators ? 1 : 0) && PetscAbsInt(its[0] - its[1]) <= 1));
  PetscCall(TestDestroy(&x, &b, &ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The difference of C x and P^T A P x */
static PetscErrorCode GalerkinDiff(TestDiff *d, const char *what, Mat A, Mat P, Mat C)
{
  Vec x, y, z, fine[2];

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(C, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(MatCreateVecs(A, &fine[0], &fine[1]));
  PetscCall(TestVecSet(x, 7));
  PetscCall(MatMult(P, x, fine[0]));
  PetscCall(MatMult(A, fine[0], fine[1]));
  PetscCall(MatMultTranspose(P, fine[1], z));
  PetscCall(MatMult(C, x, y));
  PetscCall(TestDiffVec(d, what, y, z, NULL));
  PetscCall(TestDestroy(&x, &y, &z));
  for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&fine[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values of the finest operator, before and after the next one became an AIJ */
static PetscErrorCode NewValues(TestDiff *d)
{
  static const char *const what[] = {"first values", "new values", "new values of an AIJ"};
  Mat                      A, P, C;
  KSP                      ksp;

  PetscFunctionBeginUser;
  PetscCall(CreateSolver(0, PETSC_FALSE, &ksp));
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(GetLevel(ksp, &P, &C));
  for (int k = 0; k < 3; k++) {
    if (k == 2) PetscCall(MatScale(C, 2.0)); /* becomes an AIJ with other values */
    if (k) {
      PetscCall(MatShift(A, 1.0));
      PetscCall(KSPSetOperators(ksp, A, A));
      PetscCall(KSPSetUp(ksp));
      PetscCall(GetLevel(ksp, &P, &C));
    }
    PetscCall(GalerkinDiff(d, what[k], A, P, C));
    if (operators && k < 2) TestExpect(d, what[k], Deferred(C));
    TestExpect(d, "new values make an AIJ of the interpolation", Deferred(P));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two hierarchies get new values in turns, and each keeps its preconditioner once */
static PetscErrorCode Turns(TestDiff *d)
{
  PetscInt before, after;
  KSP      ksp[2];
  Vec      x, b;
  Mat      A, P, C;

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++) PetscCall(CreateSolver(0, PETSC_FALSE, &ksp[k]));
  for (int turn = 0; turn < 4; turn++) {
    KSP own = ksp[turn % 2];

    PetscCall(KSPGetOperators(own, &A, NULL));
    PetscCall(MatShift(A, 1.0 + turn));
    PetscCall(KSPSetOperators(own, A, A));
    PetscCall(KSPSetUp(own));
    PetscCall(GetLevel(own, &P, &C));
    PetscCall(GalerkinDiff(d, turn < 2 ? "first turn" : "second turn", A, P, C));
  }
  for (int k = 0; k < 2; k++) {
    PetscCall(KSPGetOperators(ksp[k], &A, NULL));
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(TestVecSet(b, 3));
    PetscCall(KSPSolve(ksp[k], b, x));
    PetscCall(KSPGetIterationNumber(ksp[k], &before));
    PetscCall(KSPSetReusePreconditioner(ksp[k], PETSC_TRUE));
    PetscCall(MatShift(A, 0.01));
    PetscCall(KSPSetOperators(ksp[k], A, A));
    PetscCall(KSPSolve(ksp[k], b, x));
    PetscCall(KSPGetIterationNumber(ksp[k], &after));
    PetscCall(GetLevel(ksp[k], &P, &C));
    TestExpect(d, "a kept preconditioner makes an AIJ", (PetscBool)(Deferred(P) && (!operators || Deferred(C))));
    TestExpect(d, "more iterations with a kept preconditioner", (PetscBool)(after <= before + 1));
    PetscCall(TestDestroy(&x, &b, &ksp[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCGAMG moves levels to fewer processes, and between processes: it reads rows of operators and interpolations */
static PetscErrorCode Moved(TestDiff *d)
{
  KSPConvergedReason reason;
  const int          cases = PetscDefined(HAVE_PARMETIS) || (PetscDefined(HAVE_PTSCOTCH) && !PetscDefined(USE_64BIT_INDICES)) ? 3 : 2; /* PETSc needs a package for a repartition */
  PetscInt           its[3];
  Vec                x, b;
  Mat                A, P, C;
  KSP                ksp;

  PetscFunctionBeginUser;
  for (int k = 0; k < cases; k++) {
    PetscCall(CreateSolver(k == 1 ? grid.M / 10 : 0, (PetscBool)(k == 2), &ksp));
    PetscCall(KSPGetOperators(ksp, &A, NULL));
    PetscCall(GetLevel(ksp, &P, &C));
    PetscCall(GalerkinDiff(d, k == 1 ? "fewer processes" : "repartition", A, P, C));
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(TestVecSet(b, 3));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCall(KSPGetIterationNumber(ksp, &its[k]));
    TestExpect(d, "no convergence", (PetscBool)(reason > 0));
    PetscCall(TestDestroy(&x, &b, &ksp));
  }
  TestExpect(d, "more iterations", (PetscBool)(its[1] <= its[0] + 2 && its[cases - 1] <= its[0] + 2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Operations(TestDiff *d)
{
  KSP reference, ksp;
  Mat P, R;

  PetscFunctionBeginUser;
  PetscCall(Create(&reference, &P));
  PetscCall(MatConvert(P, MATAIJ, MAT_INITIAL_MATRIX, &R));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(operations); k++) {
    TestDiff own = {0};

    PetscCall(Create(&ksp, &P));
    TestExpect(&own, "begins with an AIJ", Deferred(P));
    if ((*operations[k].f)(&own, P, R)) TestDiffAdd(&own, "PETSc raised an error, see above", PETSC_MAX_REAL); /* the next operation has another matrix */
    PetscCall(TestReport(operations[k].name, &own));
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(TestDestroy(&R, &reference));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On several processes a vector begins without arrays, and reads as zero */
static PetscErrorCode NewVectors(TestDiff *d)
{
  PetscMPIInt size;
  PetscReal   norm;
  Vec         v[2];
  Mat         A;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(TestShapeCreate(&grid, NULL, &A));
  for (int round = 0; round < 2; round++) {
    PetscCall(MatCreateVecs(A, &v[0], &v[1]));
    for (int k = 0; k < 2; k++) {
      TestExpect(d, "a vector begins with arrays", (PetscBool)(size == 1 || v[k]->offloadmask == PETSC_OFFLOAD_UNALLOCATED));
      PetscCall(VecNorm(v[k], NORM_INFINITY, &norm));
      TestExpect(d, "a vector does not begin with zeros", (PetscBool)(norm == 0));
      PetscCall(VecSet(v[k], 1));
      PetscCall(VecDestroy(&v[k]));
    }
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const TestCase cases[] = {
  {"vectors",    NewVectors},
  {"solves",     Solves    },
  {"new values", NewValues },
  {"turns",      Turns     },
  {"moved",      Moved     },
  {"operations", Operations},
  {NULL,         NULL      }
};

int main(int argc, char **argv)
{
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-test_operators", &operators, NULL));
  if (operators) grid.M = grid.N = size > 1 ? 90000 : 40000; /* small coarse levels are AIJ */
  PetscCall(TestRun(cases));
  return TestFinalize();
}

/*TEST

  test:
    requires: cuda double !complex
    args: -mat_type amb -pc_gamg_type ambagg -pc_gamg_coarse_eq_limit 100 -mat_shadow_sor natural -malloc_dump -test_operators {{0 1}}
    nsize: {{1 2 3}}
    checks: 31

TEST*/
