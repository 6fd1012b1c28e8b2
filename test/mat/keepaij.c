/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "A matrix on a GPU whose AIJ does not keep its copy there: products, changes of the matrix, and its other operations. On the host the setting does nothing.\n";

#include "../testutil.h"

#define GIVEN_BACK "  copy of the AIJ on the GPU: given back"

static PetscScalar ValueFew(PetscInt i, PetscInt j)
{
  return i == j ? 4.1 : (i < j ? -1.1 : -2.1);
}

static const TestShape general = {"general", 2500, 2500, TestRowGrid, TestValueGeneral, PETSC_FALSE};
static const TestShape few     = {"few values", 2500, 2500, TestRowGrid, ValueFew, PETSC_FALSE};

/* A matrix without a copy, if it is on a GPU, and its reference on the host */
static PetscErrorCode Pair(const TestShape *shape, Mat *A, Mat *R)
{
  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(shape, A, R));
  PetscCall(MatShadowSetTune(*A, MAT_SHADOW_TUNE_OFF));
  PetscCall(MatShadowSetKeepAIJ(*A, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix has no copy on the GPU, and products are right */
static PetscErrorCode Expect(TestDiff *d, Mat A, Mat R)
{
  PetscBool device;

  PetscFunctionBeginUser;
  PetscCall(TestOnDevice(A, &device));
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(TestExpectLine(d, A, GIVEN_BACK, device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Products(TestDiff *d)
{
  const MatShadowValues kinds[] = {MAT_SHADOW_VALUES_DOUBLE, MAT_SHADOW_VALUES_EXACT};
  Mat                   A, R;

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++) {
    PetscCall(Pair(&few, &A, &R));
    PetscCall(MatShadowSetValues(A, kinds[k]));
    PetscCall(TestExpectLine(d, A, "AIJ on the GPU: kept", PETSC_FALSE));
    PetscCall(Expect(d, A, R));
    PetscCall(TestMultiply(A, 20));
    PetscCall(Expect(d, A, R));
    PetscCall(MatShadowSetKeepAIJ(A, PETSC_TRUE));
    PetscCall(TestDiffMat(d, A, R));
    PetscCall(TestExpectLine(d, A, "AIJ on the GPU", PETSC_FALSE));
    PetscCall(TestDestroy(&A, &R));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows that meet a NaN are computed from the AIJ: the others must not become one, and stored zeros count */
static PetscErrorCode NotFinite(TestDiff *d)
{
  Mat          A, R;
  Vec          x, y, xr, yr;
  PetscInt     begin, end, low;
  PetscScalar *ax, *ar;

  PetscFunctionBeginUser;
  PetscCall(Pair(&general, &A, &R));
  PetscCall(TestMultiply(A, 2));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(MatCreateVecs(R, &xr, &yr));
  PetscCall(VecSet(x, 1));
  PetscCall(VecSet(xr, 1));
  PetscCall(VecGetOwnershipRange(x, &begin, &end));
  for (PetscInt k = 7; k < 2500; k += 401) {
    if (k < begin || k >= end) continue;
    PetscCall(VecSetValue(x, k, k % 2 ? NAN : INFINITY, INSERT_VALUES));
    PetscCall(VecSetValue(xr, k, k % 2 ? NAN : INFINITY, INSERT_VALUES));
  }
  PetscCall(VecAssemblyBegin(x));
  PetscCall(VecAssemblyEnd(x));
  PetscCall(VecAssemblyBegin(xr));
  PetscCall(VecAssemblyEnd(xr));
  for (int round = 0; round < 2; round++) {
    PetscCall(MatMult(A, x, y));
    PetscCall(MatMult(R, xr, yr));
    PetscCall(VecGetOwnershipRange(y, &low, &end));
    PetscCall(VecGetArray(y, &ax));
    PetscCall(VecGetArray(yr, &ar));
    for (PetscInt k = 0; k < end - low; k++) TestExpect(d, "NaN in another row", (PetscBool)((ax[k] != ax[k]) == (ar[k] != ar[k])));
    PetscCall(VecRestoreArray(y, &ax));
    PetscCall(VecRestoreArray(yr, &ar));
    PetscCall(MatShadowSetValues(A, MAT_SHADOW_VALUES_EXACT));
  }
  PetscCall(TestDestroy(&x, &y, &xr, &yr, &A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values, set on the host and by operations on the device, and a new pattern */
static PetscErrorCode Changes(TestDiff *d)
{
  Mat A, R;
  Vec l;

  PetscFunctionBeginUser;
  PetscCall(Pair(&general, &A, &R));
  PetscCall(Expect(d, A, R));
  PetscCall(MatScale(A, 3));
  PetscCall(MatScale(R, 3));
  PetscCall(Expect(d, A, R));
  PetscCall(TestShapeSetValues(&few, A, 1.0, INSERT_VALUES));
  PetscCall(TestShapeSetValues(&few, R, 1.0, INSERT_VALUES));
  PetscCall(Expect(d, A, R));
  PetscCall(MatZeroEntries(A));
  PetscCall(MatZeroEntries(R));
  PetscCall(Expect(d, A, R));
  PetscCall(TestShapeSetValues(&general, A, 2.0, INSERT_VALUES));
  PetscCall(TestShapeSetValues(&general, R, 2.0, INSERT_VALUES));
  PetscCall(MatShift(A, 5));
  PetscCall(MatShift(R, 5));
  PetscCall(Expect(d, A, R));
  PetscCall(MatCreateVecs(R, NULL, &l));
  PetscCall(TestVecSet(l, 3));
  PetscCall(MatDiagonalScale(R, l, NULL));
  PetscCall(MatDiagonalScale(A, l, NULL));
  PetscCall(Expect(d, A, R));
  PetscCall(TestDestroy(&l, &A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Operations that read the AIJ on the GPU, and matrices that are made of it */
static PetscErrorCode Others(TestDiff *d)
{
  Mat A, R, B, C, D;
  Vec x, y;

  PetscFunctionBeginUser;
  PetscCall(Pair(&general, &A, &R));
  PetscCall(Expect(d, A, R));
  PetscCall(MatCreateVecs(A, NULL, &x));
  PetscCall(MatCreateVecs(R, NULL, &y));
  PetscCall(MatGetDiagonal(A, x));
  PetscCall(MatGetDiagonal(R, y));
  PetscCall(TestDiffVec(d, "diagonal", x, y, NULL));
  PetscCall(Expect(d, A, R));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(Expect(d, B, R));
  PetscCall(MatAXPY(B, -1, A, SAME_NONZERO_PATTERN));
  PetscCall(MatAXPY(B, 1, A, SAME_NONZERO_PATTERN));
  PetscCall(Expect(d, B, R));
  PetscCall(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(MatMatMult(R, R, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &D));
  PetscCall(TestDiffMat(d, C, D));
  PetscCall(Expect(d, A, R));
  PetscCall(MatMatMult(A, B, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(TestDiffMat(d, C, D));
  PetscCall(TestDestroy(&B, &C, &D));
  PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatTranspose(R, MAT_INITIAL_MATRIX, &C));
  PetscCall(TestDiffMat(d, B, C));
  PetscCall(Expect(d, A, R));
  PetscCall(TestDestroy(&B, &C));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(TestDiffMat(d, B, R));
  PetscCall(MatDestroy(&B));
  PetscCall(MatBindToCPU(A, PETSC_TRUE));
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(MatBindToCPU(A, PETSC_FALSE));
  PetscCall(Expect(d, A, R));
  PetscCall(TestDestroy(&x, &y, &A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The option; a matrix that gets its values by MatSetValuesCOO(), again and again */
static PetscErrorCode Options(TestDiff *d)
{
  const PetscInt n = 300;
  char           type[64];
  Mat            A, R;
  PetscInt      *i, *j, begin, end, k = 0;
  PetscScalar   *v;

  PetscFunctionBeginUser;
  PetscCall(TestTypeRoot(type, sizeof(type)));
  for (int m = 0; m < 2; m++) {
    PetscCall(PetscOptionsSetValue(NULL, "-opt_mat_shadow_keep_aij", "false"));
    PetscCall(MatCreate(PETSC_COMM_WORLD, m ? &R : &A));
    PetscCall(MatSetOptionsPrefix(m ? R : A, "opt_"));
    PetscCall(MatSetSizes(m ? R : A, PETSC_DECIDE, PETSC_DECIDE, n, n));
    PetscCall(MatSetType(m ? R : A, m ? MATAIJ : type));
    PetscCall(PetscOptionsClearValue(NULL, "-opt_mat_shadow_keep_aij"));
  }
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  PetscCall(PetscMalloc3(3 * (end - begin), &i, 3 * (end - begin), &j, 3 * (end - begin), &v));
  for (PetscInt r = begin; r < end; r++) {
    for (PetscInt c = r - 1; c <= r + 1; c++) {
      i[k]   = r;
      j[k++] = (c + n) % n;
    }
  }
  PetscCall(MatSetPreallocationCOO(A, k, i, j));
  k = 0;
  for (PetscInt r = begin; r < end; r++) {
    for (PetscInt c = r - 1; c <= r + 1; c++) {
      i[k]   = r;
      j[k++] = (c + n) % n;
    }
  }
  PetscCall(MatSetPreallocationCOO(R, k, i, j));
  PetscCall(MatShadowSetTune(A, MAT_SHADOW_TUNE_OFF));
  for (int round = 1; round <= 3; round++) {
    for (PetscInt e = 0; e < k; e++) v[e] = (PetscReal)((e * round) % 17) - 3;
    PetscCall(MatSetValuesCOO(A, v, round == 3 ? ADD_VALUES : INSERT_VALUES));
    PetscCall(MatSetValuesCOO(R, v, round == 3 ? ADD_VALUES : INSERT_VALUES));
    PetscCall(TestDiffMat(d, A, R));
    PetscCall(TestMultiply(A, 2));
  }
  PetscCall(PetscFree3(i, j, v));
  PetscCall(TestDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const TestCase tests[] = {
  {"products",   Products },
  {"not finite", NotFinite},
  {"changes",    Changes  },
  {"others",     Others   },
  {"options",    Options  },
  {NULL,         NULL     }
};

int main(int argc, char **argv)
{
  return TestMain(argc, argv, help, tests);
}

/*TEST

  test:
    nsize: {{1 2}}
    args: -mat_type {{amb nussell}}
    checks: 5

TEST*/
