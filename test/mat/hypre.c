/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "The way into hypre: MATHYPRE from the type under test beside MATHYPRE from MATAIJ.\n\
  -hypre_times N prints seconds of conversions and set-ups for a Laplacian of N x N x N, of the type under test and with -ref_mat_type in turns, and nothing else\n";

#include "../testutil.h"

#include <petsctime.h>
#if defined(PETSCAMB_HAVE_HYPRE)
  #include <petscmathypre.h>

static PetscScalar ValueSymmetric(PetscInt i, PetscInt j)
{
  return i == j ? 4.0 + TestReal(i, i) : TestReal(PetscMin(i, j), PetscMax(i, j));
}

/* Columns on both sides of the diagonal entry, and of those of other processes */
static PetscInt RowWide(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  PetscInt n = 0;

  for (PetscInt j = i % 3; j < N; j += 5) cols[n++] = j;
  return n;
}

static const TestShape grid  = {"grid", 225, 225, TestRowGrid, ValueSymmetric, PETSC_FALSE};
static const TestShape wide  = {"wide", 40, 97, RowWide, TestValueGeneral, PETSC_FALSE};
static const TestShape tall  = {"tall", 97, 40, RowWide, TestValueGeneral, PETSC_FALSE};
static const TestShape hub   = {"hub", 60, 60, TestRowHub, TestValueGeneral, PETSC_FALSE};
static const TestShape other = {"other", 60, 60, RowWide, TestValueGeneral, PETSC_FALSE};
static const TestShape full  = {"full", 23, 23, TestRowFull, TestValueGeneral, PETSC_FALSE};
static const TestShape none  = {"none", 10, 10, TestRowNone, TestValueGeneral, PETSC_FALSE};
static const TestShape small = {"small", 1, 1, TestRowFull, TestValueGeneral, PETSC_FALSE}; /* more processes than rows */
static const TestShape last  = {"last", 30, 30, RowWide, TestValueGeneral, PETSC_TRUE};

static PetscErrorCode DiffVec(TestDiff *d, const char what[], Vec x, Vec y)
{
  const PetscScalar *a, *b;
  PetscInt           n;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArrayRead(x, &a));
  PetscCall(VecGetArrayRead(y, &b));
  for (PetscInt k = 0; k < n; k++) TestDiffAdd(d, what, PetscAbsScalar(a[k] - b[k]));
  PetscCall(VecRestoreArrayRead(x, &a));
  PetscCall(VecRestoreArrayRead(y, &b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* H, a MATHYPRE, has the products of R with a vector, the transposed ones too, and its entries. On a GPU hypre takes only vectors that are there. */
static PetscErrorCode DiffHYPRE(TestDiff *d, Mat H, Mat R)
{
  Vec       right, left, Rright, Rleft, x, Hx, y, Hy;
  PetscBool same;
  Mat       back;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompare((PetscObject)H, MATHYPRE, &same));
  TestExpect(d, "the result is no MATHYPRE", same);
  PetscCall(MatCreateVecs(R, &right, &left));
  PetscCall(VecDuplicate(right, &Rright));
  PetscCall(VecDuplicate(left, &Rleft));
  PetscCall(MatCreateVecs(H, &x, &y));
  PetscCall(VecDuplicate(x, &Hy));
  PetscCall(VecDuplicate(y, &Hx));
  PetscCall(TestVecSet(right, 1));
  PetscCall(TestVecSet(left, 2));
  PetscCall(VecCopy(right, x));
  PetscCall(VecCopy(left, y));
  PetscCall(MatMult(R, right, Rleft));
  PetscCall(MatMult(H, x, Hx));
  PetscCall(DiffVec(d, "MatMult() of the MATHYPRE", Hx, Rleft));
  PetscCall(MatMultTranspose(R, left, Rright));
  PetscCall(MatMultTranspose(H, y, Hy));
  PetscCall(DiffVec(d, "MatMultTranspose() of the MATHYPRE", Hy, Rright));
  PetscCall(MatConvert(H, MATAIJ, MAT_INITIAL_MATRIX, &back));
  PetscCall(TestDiffMat(d, back, R));
  PetscCall(TestDestroy(&back, &right, &left, &Rright, &Rleft, &x, &y, &Hx, &Hy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Convert(TestDiff *d, const TestShape *shape)
{
  Mat A, R, H, copy;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(shape, &A, &R));
  PetscCall(MatConvert(A, MATHYPRE, MAT_INITIAL_MATRIX, &H));
  PetscCall(DiffHYPRE(d, H, R));
  for (PetscInt k = 0; k < 2; k++) { /* new values in the same pattern */
    PetscCall(TestShapeSetValues(shape, A, 2.0 + k, INSERT_VALUES));
    PetscCall(TestShapeSetValues(shape, R, 2.0 + k, INSERT_VALUES));
    PetscCall(MatConvert(A, MATHYPRE, MAT_REUSE_MATRIX, &H));
    PetscCall(DiffHYPRE(d, H, R));
  }
  PetscCall(MatScale(A, 0.5)); /* on a GPU these values are newer there */
  PetscCall(MatScale(R, 0.5));
  PetscCall(MatConvert(A, MATHYPRE, MAT_REUSE_MATRIX, &H));
  PetscCall(DiffHYPRE(d, H, R));
  if (!shape->last && shape != &small) { /* with empty processes PETSc 3.18 makes a wrong copy */
    PetscCall(MatDuplicate(H, MAT_COPY_VALUES, &copy));
    PetscCall(MatDestroy(&H));
    PetscCall(DiffHYPRE(d, copy, R));
    PetscCall(MatDestroy(&copy));
  } else PetscCall(MatDestroy(&H));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &copy));
  PetscCall(MatConvert(copy, MATHYPRE, MAT_INPLACE_MATRIX, &copy));
  PetscCall(DiffHYPRE(d, copy, R));
  PetscCall(MatConvert(A, MATHYPRE, MAT_REUSE_MATRIX, &copy)); /* PETSc has made this one */
  PetscCall(DiffHYPRE(d, copy, R));
  PetscCall(TestDestroy(&copy, &A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

  #define CASE(Name, shape) \
    static PetscErrorCode Name(TestDiff *d) \
    { \
      return Convert(d, &shape); \
    }
CASE(Grid, grid)
CASE(Wide, wide)
CASE(Tall, tall)
CASE(Hub, hub)
CASE(Full, full)
CASE(None, none)
CASE(Small, small)
CASE(Last, last)

/* The same MATHYPRE gets values from a matrix on the host and on a GPU; without a GPU both are there */
static PetscErrorCode Sides(TestDiff *d)
{
  Mat A, R, H, other;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&grid, &A, &R));
  PetscCall(MatConvert(A, MATHYPRE, MAT_INITIAL_MATRIX, &H));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &other));
  PetscCall(MatBindToCPU(other, PETSC_TRUE));
  PetscCall(MatScale(other, 3.0));
  PetscCall(MatScale(R, 3.0));
  PetscCall(MatConvert(other, MATHYPRE, MAT_REUSE_MATRIX, &H));
  PetscCall(DiffHYPRE(d, H, R));
  PetscCall(MatDestroy(&H));
  PetscCall(MatConvert(other, MATHYPRE, MAT_INITIAL_MATRIX, &H));
  PetscCall(DiffHYPRE(d, H, R));
  PetscCall(MatScale(A, 5.0));
  PetscCall(MatScale(R, 5.0 / 3.0));
  PetscCall(MatConvert(A, MATHYPRE, MAT_REUSE_MATRIX, &H));
  PetscCall(DiffHYPRE(d, H, R));
  PetscCall(TestDestroy(&H, &other, &A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Another pattern for an old MATHYPRE, as PCHYPRE asks for it after MatAXPY(); other sizes are an error */
static PetscErrorCode OtherPattern(TestDiff *d)
{
  Mat A, B, R, H;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&hub, NULL, &A));
  PetscCall(MatConvert(A, MATHYPRE, MAT_INITIAL_MATRIX, &H));
  PetscCall(TestPairCreate(&other, &B, &R));
  PetscCall(MatConvert(B, MATHYPRE, MAT_REUSE_MATRIX, &H));
  PetscCall(DiffHYPRE(d, H, R));
  PetscCall(MatScale(B, 2.0));
  PetscCall(MatScale(R, 2.0));
  PetscCall(MatConvert(B, MATHYPRE, MAT_REUSE_MATRIX, &H));
  PetscCall(DiffHYPRE(d, H, R));
  PetscCall(TestDestroy(&B, &R));
  PetscCall(TestShapeCreate(&full, NULL, &B));
  TestExpectError(d, PETSC_ERR_ARG_SIZ, "MAT_REUSE_MATRIX with a matrix of", MatConvert(B, MATHYPRE, MAT_REUSE_MATRIX, &H));
  PetscCall(TestDestroy(&H, &A, &B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves three times: the second time with new values, the third time with a new pattern */
static PetscErrorCode Solve(const char prefix[], const char type[], Vec *x, PetscInt iterations[3])
{
  PetscInt r0, r1;
  KSP      ksp;
  PC       pc;
  Vec      b;
  Mat      A;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&grid, prefix, &A));
  PetscCall(MatCreateVecs(A, x, &b));
  PetscCall(TestVecSet(b, 3));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetTolerances(ksp, 1e-10, 1e-50, 1e5, 200));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCHYPRE));
  PetscCall(PCHYPRESetType(pc, type));
  PetscCall(KSPSetFromOptions(ksp));
  for (PetscInt k = 0; k < 3; k++) {
    if (k == 1) PetscCall(MatShift(A, 0.5));
    if (k == 2) { /* MatAXPY() would not tell PETSc 3.26 that the pattern is another one */
      PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
      PetscCall(MatGetOwnershipRange(A, &r0, &r1));
      for (PetscInt i = r0; i < r1; i++) {
        if (i % 3 == 0) PetscCall(MatSetValue(A, i, grid.N - 1 - i, 1e-3, ADD_VALUES));
        PetscCall(MatSetValue(A, i, i, 0.25, ADD_VALUES));
      }
      PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    }
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSolve(ksp, b, *x));
    PetscCall(KSPGetIterationNumber(ksp, &iterations[k]));
  }
  PetscCall(TestDestroy(&ksp, &b, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Coarsening and smoothing depend on the order of the entries and on the side. MATAIJ is on the host, where PETSc gives BoomerAMG other defaults than on a GPU. */
static PetscErrorCode Precondition(TestDiff *d)
{
  PetscInt  n[3], r[3];
  PetscBool gpu;
  PetscReal norm, err;
  Vec       x, y;

  PetscFunctionBeginUser;
  PetscCall(Solve(NULL, "boomeramg", &x, n));
  PetscCall(Solve("ref_", "boomeramg", &y, r));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)x, &gpu, VECSEQCUDA, VECMPICUDA, ""));
  for (PetscInt k = 0; k < 3; k++) TestExpect(d, "other number of iterations than from MATAIJ", (PetscBool)(gpu ? n[k] < 2 * r[k] + 5 : n[k] == r[k]));
  PetscCall(VecNorm(y, NORM_2, &norm));
  PetscCall(VecAXPY(x, -1.0, y));
  PetscCall(VecNorm(x, NORM_2, &err));
  TestExpect(d, "other solution than from MATAIJ", (PetscBool)(err < 1e-7 * norm));
  PetscCall(TestDestroy(&x, &y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Laplacian(PetscInt n, const char prefix[], Mat *A)
{
  PetscInt r0, r1;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetOptionsPrefix(*A, prefix));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n * n * n, n * n * n));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 7, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 7, NULL, 7, NULL));
  PetscCall(MatGetOwnershipRange(*A, &r0, &r1));
  for (PetscInt i = r0; i < r1; i++) {
    const PetscInt p[3] = {i % n, i / n % n, i / (n * n)}, step[3] = {1, n, n * n};

    for (PetscInt k = 0; k < 3; k++) {
      if (p[k] > 0) PetscCall(MatSetValue(*A, i, i - step[k], -1.0, INSERT_VALUES));
      if (p[k] < n - 1) PetscCall(MatSetValue(*A, i, i + step[k], -1.0, INSERT_VALUES));
    }
    PetscCall(MatSetValue(*A, i, i, 6.0, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Times(PetscInt n)
{
  static const char *const prefix[] = {NULL, "ref_"};
  PetscLogDouble           t[3];
  PetscInt                 iterations;
  MatType                  type;
  Mat                      A, H;
  Vec                      x, b;
  KSP                      ksp;
  PC                       pc;

  PetscFunctionBeginUser;
  for (PetscInt turn = 0; turn < 4; turn++) {
    PetscCall(Laplacian(n, prefix[turn % 2], &A));
    PetscCall(MatGetType(A, &type));
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(VecSet(x, 1.0));
    PetscCall(MatMult(A, x, b)); /* on a GPU the matrix is there */
    PetscCall(PetscTime(&t[0]));
    PetscCall(MatConvert(A, MATHYPRE, MAT_INITIAL_MATRIX, &H));
    PetscCall(PetscTime(&t[1]));
    PetscCall(MatConvert(A, MATHYPRE, MAT_REUSE_MATRIX, &H));
    PetscCall(PetscTime(&t[2]));
    PetscCall(MatDestroy(&H));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-16s MatConvert() %.4f s, with new values %.4f s", type, t[1] - t[0], t[2] - t[1]));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetType(ksp, KSPCG));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCHYPRE));
    PetscCall(KSPSetFromOptions(ksp));
    for (int k = 0; k < 2; k++) {
      PetscCall(PetscTime(&t[0]));
      PetscCall(KSPSetUp(ksp));
      PetscCall(PetscTime(&t[1]));
      PetscCall(KSPSolve(ksp, b, x));
      PetscCall(PetscTime(&t[2]));
      PetscCall(KSPGetIterationNumber(ksp, &iterations));
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "; set-up %.4f s, %" PetscInt_FMT " iterations %.4f s", t[1] - t[0], iterations, t[2] - t[1]));
      PetscCall(MatScale(A, 1.25));
      PetscCall(KSPSetOperators(ksp, A, A));
    }
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
    PetscCall(TestDestroy(&ksp, &x, &b, &A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

static const TestCase tests[] = {
#if defined(PETSCAMB_HAVE_HYPRE)
  {"grid",             Grid        },
   {"wide",             Wide        },
   {"tall",             Tall        },
   {"hub",              Hub         },
   {"full",             Full        },
   {"no entries",       None        },
   {"one row",          Small       },
   {"on the last rank", Last        },
   {"both sides",       Sides       },
   {"other pattern",    OtherPattern},
   {"boomeramg",        Precondition},
#endif
  {NULL,               NULL        }
};

int main(int argc, char **argv)
{
  PetscInt n = 0;

  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-hypre_times", &n, NULL));
#if defined(PETSCAMB_HAVE_HYPRE)
  if (n) PetscCall(Times(n));
#endif
  if (!n) PetscCall(TestRun(tests));
  return TestFinalize();
}

/*TEST

  testset:
    nsize: {{1 2 3}}
    requires: double !defined(PETSC_USE_64BIT_INDICES) hypre
    args: -mat_shadow_tune off
    checks: 11
    test:
      suffix: types
      args: -mat_type {{@types-tilecomposite}}
    test:
      suffix: for_aij
      args: -mat_type aij -petscamb_for_aij amb -ref_petscamb_for_aij aij
    test:
      suffix: cuda
      requires: cuda defined(PETSC_HAVE_HYPRE_DEVICE)
      args: -mat_type amb
    test:
      suffix: for_aijcusparse
      requires: cuda defined(PETSC_HAVE_HYPRE_DEVICE)
      args: -mat_type aijcusparse -petscamb_for_aij amb -ref_petscamb_for_aij aij

TEST*/
