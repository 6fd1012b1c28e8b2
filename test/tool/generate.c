/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "The generators of the measuring program against what their names promise; one expected output serves every number of ranks.\n";

#include "../testutil.h"
#include "../../tool/generate.c"

/* The entry (i,j), whoever owns it, or 0 */
static PetscErrorCode Entry(Mat A, PetscInt i, PetscInt j, PetscScalar *v)
{
  PetscInt first, last;

  PetscFunctionBeginUser;
  *v = 0;
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  if (i >= first && i < last) PetscCall(MatGetValues(A, 1, &i, 1, &j, v));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, v, 1, MPIU_SCALAR, MPIU_SUM, PetscObjectComm((PetscObject)A)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sizes, nonzeros and no slack in the preallocation */
static PetscErrorCode ExpectShape(TestDiff *d, Mat A, PetscInt rows, PetscInt bs, PetscLogDouble nonzeros)
{
  PetscInt M, N, b;
  MatInfo  info;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &M, &N));
  PetscCall(MatGetBlockSize(A, &b));
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  TestExpect(d, "rows and columns", M == rows && N == rows ? PETSC_TRUE : PETSC_FALSE);
  TestExpect(d, "block size", b == bs ? PETSC_TRUE : PETSC_FALSE);
  TestExpect(d, "nonzeros", info.nz_used == nonzeros ? PETSC_TRUE : PETSC_FALSE);
  TestExpect(d, "exact preallocation", info.nz_allocated == info.nz_used && info.mallocs == 0 ? PETSC_TRUE : PETSC_FALSE);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A x where x_i = i + 1: for a Laplacian, zero away from the boundary */
static PetscErrorCode LaplacianCheck(TestDiff *d, const char name[], PetscInt n, PetscInt dim, PetscInt neighbours, PetscLogDouble nonzeros)
{
  const PetscInt     rows = dim == 3 ? n * n * n : n * n;
  Mat                A;
  Vec                x, y;
  PetscScalar       *xa, v;
  const PetscScalar *ya;
  PetscInt           first, last;

  PetscFunctionBeginUser;
  PetscCall(GeneratorCreateMat(PETSC_COMM_WORLD, name, &A));
  PetscCall(ExpectShape(d, A, rows, 1, nonzeros));
  PetscCall(Entry(A, rows / 2, rows / 2, &v));
  TestDiffAdd(d, "diagonal", PetscAbsScalar(v - (PetscReal)neighbours));
  PetscCall(Entry(A, rows / 2, rows / 2 + 1, &v));
  TestDiffAdd(d, "neighbour", PetscAbsScalar(v + 1.0));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecGetOwnershipRange(x, &first, &last));
  PetscCall(VecGetArrayWrite(x, &xa));
  for (PetscInt i = first; i < last; i++) xa[i - first] = (PetscReal)(i + 1);
  PetscCall(VecRestoreArrayWrite(x, &xa));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecGetArrayRead(y, &ya));
  for (PetscInt i = first; i < last; i++) {
    const PetscInt c[3]   = {i % n, i / n % n, dim == 3 ? i / n / n : 1};
    PetscBool      inside = PETSC_TRUE;

    for (int k = 0; k < 3; k++) inside = c[k] > 0 && c[k] < n - 1 ? inside : PETSC_FALSE;
    if (inside) TestDiffAdd(d, "row sums inside", PetscAbsScalar(ya[i - first]) / rows);
  }
  PetscCall(VecRestoreArrayRead(y, &ya));
  PetscCall(TestDestroy(&x, &y, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Laplacians(TestDiff *d)
{
  PetscFunctionBeginUser;
  PetscCall(LaplacianCheck(d, "p5:6", 6, 2, 4, 36 + 4 * 6 * 5));
  PetscCall(LaplacianCheck(d, "p9:6", 6, 2, 8, 16 * 16));
  PetscCall(LaplacianCheck(d, "p7:5", 5, 3, 6, 125 + 6 * 25 * 4));
  PetscCall(LaplacianCheck(d, "p27:5", 5, 3, 26, 13 * 13 * 13));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Elasticity(TestDiff *d)
{
  Mat         A, T;
  Vec         x, y;
  PetscScalar v, dot;
  PetscReal   norm, scale;
  PetscInt    first, last;

  PetscFunctionBeginUser;
  PetscCall(GeneratorCreateMat(PETSC_COMM_WORLD, "elasticity:5", &A));
  PetscCall(ExpectShape(d, A, 375, 3, 9 * 13 * 13 * 13));
  PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &T));
  PetscCall(MatNorm(A, NORM_FROBENIUS, &scale));
  PetscCall(MatAXPY(T, -1.0, A, SAME_NONZERO_PATTERN));
  PetscCall(MatNorm(T, NORM_FROBENIUS, &norm));
  TestDiffAdd(d, "symmetry", norm / scale);
  /* around a node inside: 8 elements, each with (lambda + mu) / 9 + mu / 3 on the diagonal, lambda = mu = 0.4 */
  PetscCall(Entry(A, 3 * (2 + 5 * (2 + 5 * 2)), 3 * (2 + 5 * (2 + 5 * 2)), &v));
  TestDiffAdd(d, "diagonal", PetscAbsScalar(v - 8 * (0.8 / 9 + 0.4 / 3)));
  PetscCall(Entry(A, 1, 1, &v));
  TestExpect(d, "clamped diagonal", PetscRealPart(v) > 0 ? PETSC_TRUE : PETSC_FALSE);
  PetscCall(Entry(A, 3 * 25 + 1, 1, &v));
  TestDiffAdd(d, "clamped column", PetscAbsScalar(v));
  /* a translation of all that is free strains the first layer alone; energy is positive all the same */
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecGetOwnershipRange(x, &first, &last));
  for (PetscInt i = first; i < last; i++) PetscCall(VecSetValue(x, i, i % 3 == 1 ? 1.0 : 0.0, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(x));
  PetscCall(VecAssemblyEnd(x));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecDot(x, y, &dot));
  TestExpect(d, "positive energy", PetscRealPart(dot) > 0 ? PETSC_TRUE : PETSC_FALSE);
  for (PetscInt i = PetscMax(first, 3 * 50); i < last; i++) { /* from the third layer on nothing is strained */
    PetscCall(VecGetValues(y, 1, &i, &v));
    TestDiffAdd(d, "rigid motion", PetscAbsScalar(v) / scale);
  }
  PetscCall(TestDestroy(&x, &y, &T, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same rows as on one process */
static PetscErrorCode SameOnOne(TestDiff *d, const char name[])
{
  Mat                A, S;
  PetscInt           first, last, n, N;
  const PetscInt    *c, *C;
  const PetscScalar *v, *V;
  PetscBool          cols, vals;

  PetscFunctionBeginUser;
  PetscCall(GeneratorCreateMat(PETSC_COMM_WORLD, name, &A));
  PetscCall(GeneratorCreateMat(PETSC_COMM_SELF, name, &S));
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt i = first; i < last; i++) {
    PetscCall(MatGetRow(A, i, &n, &c, &v));
    PetscCall(MatGetRow(S, i, &N, &C, &V));
    cols = vals = PETSC_FALSE;
    if (n == N) {
      PetscCall(PetscArraycmp(c, C, n, &cols));
      PetscCall(PetscArraycmp(v, V, n, &vals));
    }
    TestExpect(d, name, cols && vals ? PETSC_TRUE : PETSC_FALSE);
    PetscCall(MatRestoreRow(S, i, &N, &C, &V));
    PetscCall(MatRestoreRow(A, i, &n, &c, &v));
  }
  PetscCall(TestDestroy(&S, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Distribution(TestDiff *d)
{
  const char *const names[] = {"p5:7", "p27:4", "elasticity:3", "rmat:7,6", "kron:7,6", "er:7,6", "random:101,0.05", "random:2,1", "p5:1", "rmat:1,1", "rand:31,7,5", "rand:5,400,20"};

  PetscFunctionBeginUser;
  for (int k = 0; k < (int)PETSC_STATIC_ARRAY_LENGTH(names); k++) PetscCall(SameOnOne(d, names[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Within ten standard deviations of what chance should give */
static PetscErrorCode Random(TestDiff *d)
{
  Mat         A;
  MatInfo     info;
  Vec         sums, ones;
  PetscInt    M, N;
  PetscScalar total;

  PetscFunctionBeginUser;
  PetscCall(GeneratorCreateMat(PETSC_COMM_WORLD, "random:1000,0.01", &A));
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  TestExpect(d, "density", PetscAbsReal(info.nz_used - 1e4) < 1000 ? PETSC_TRUE : PETSC_FALSE);
  PetscCall(MatDestroy(&A));
  PetscCall(GeneratorCreateMat(PETSC_COMM_WORLD, "random:30,1", &A));
  PetscCall(ExpectShape(d, A, 30, 1, 900));
  PetscCall(MatDestroy(&A));
  PetscCall(GeneratorCreateMat(PETSC_COMM_WORLD, "rand:100,100000,30", &A));
  PetscCall(MatGetSize(A, &M, &N));
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  TestExpect(d, "columns", M == 100 && N == 100000 ? PETSC_TRUE : PETSC_FALSE);
  TestExpect(d, "entries of a row", info.nz_used <= 3000 && info.nz_used > 2980 ? PETSC_TRUE : PETSC_FALSE);
  PetscCall(MatDestroy(&A));
  /* edges that meet add up, so that the sum of all values is that of all edges: uniform in (0,1] */
  PetscCall(GeneratorCreateMat(PETSC_COMM_WORLD, "rmat:8,40", &A));
  PetscCall(MatCreateVecs(A, &ones, &sums));
  PetscCall(VecSet(ones, 1.0));
  PetscCall(MatMult(A, ones, sums));
  PetscCall(VecSum(sums, &total));
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  TestExpect(d, "edges", PetscAbsReal(PetscRealPart(total) - 256 * 40 / 2) < 300 ? PETSC_TRUE : PETSC_FALSE);
  TestExpect(d, "edges that meet", info.nz_used < 256 * 40 ? PETSC_TRUE : PETSC_FALSE);
  PetscCall(TestDestroy(&ones, &sums, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Refused(TestDiff *d)
{
  const char *const names[] = {"p7:", "p7:x", "p7:0", "p7:-3", "p7:2.5", "p7:3,4", "p7:3 ", "rmat:4", "rmat:60,2", "random:10,1.5", "rand:5,4", "rand:5,4,6", "rand:5,4.5,2", "elasticity:1", "p9:nan", "p9:1e30", "p11:3", "p7"};
  PetscBool         known   = PETSC_FALSE;

  PetscFunctionBeginUser;
  for (int k = 0; k < (int)PETSC_STATIC_ARRAY_LENGTH(names); k++) {
    PetscErrorCode ierr;
    Mat            A = NULL;

    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    ierr = GeneratorCreateMat(PETSC_COMM_WORLD, names[k], &A);
    PetscCall(PetscPopErrorHandler());
    TestExpect(d, names[k], ierr == PETSC_ERR_USER_INPUT ? PETSC_TRUE : PETSC_FALSE);
  }
  PetscCall(GeneratorMatches("p7:x", &known));
  TestExpect(d, "p7:x is a generator", known);
  PetscCall(GeneratorMatches("p7", &known));
  TestExpect(d, "p7 is a generator", known);
  PetscCall(GeneratorMatches("p7.mtx", &known));
  TestExpect(d, "p7.mtx is none", known ? PETSC_FALSE : PETSC_TRUE);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const TestCase tests[] = {
    {"Laplacians",                    Laplacians  },
    {"elasticity",                    Elasticity  },
    {"same on every number of ranks", Distribution},
    {"random matrices and graphs",    Random      },
    {"bad names are refused",         Refused     },
    {NULL,                            NULL        }
  };

  return TestMain(argc, argv, help, tests);
}

/*TEST

  test:
    nsize: {{1 2 3}}
    checks: 5

TEST*/
