/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "Products of a sparse and a dense matrix, A B and A' B: shapes, widths, leading dimensions, entry by entry against sums by hand; made again, with other operands.\n";

#include "../testutil.h"
#include <petsc/private/matimpl.h>
#include "sys/systhreads.h"

/* ------------------------------------------------- shapes ------------------------------------------------- */

/* Up to three columns anywhere */
static PetscInt RowScattered(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  PetscInt n = 0;

  for (PetscInt j = TestInteger(i, 1, N); j < N && n < 3; j += 1 + TestInteger(i, j, N)) cols[n++] = j;
  return n;
}

/* A band that changes its position: rows of the first half are about columns of the second, then the other way round */
static PetscInt RowJump(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  const PetscInt c = (i + M / 2) % M;
  PetscInt       n = 0;

  for (PetscInt j = PetscMax(c - 3, 0); j < PetscMin(c + 4, N); j += 3) cols[n++] = j;
  return n;
}

static const TestShape shapes[] = {
  {"grid",                 144,  144,   TestRowGrid,   TestValueGeneral, PETSC_FALSE},
  {"blocks",               108,  108,   TestRowBlocks, TestValueGeneral, PETSC_FALSE},
  {"hub row and column",   200,  90,    TestRowHub,    TestValueGeneral, PETSC_FALSE},
  {"wide",                 40,   70000, RowScattered,  TestValueGeneral, PETSC_FALSE},
  {"tall",                 3000, 7,     RowScattered,  TestValueGeneral, PETSC_FALSE},
  {"one column",           50,   1,     RowScattered,  TestValueGeneral, PETSC_FALSE},
  {"no entries",           30,   20,    TestRowNone,   TestValueGeneral, PETSC_FALSE},
  {"no rows",              0,    20,    TestRowNone,   TestValueGeneral, PETSC_FALSE},
  {"no columns",           20,   0,     TestRowNone,   TestValueGeneral, PETSC_FALSE},
  {"all on the last rank", 90,   40,    RowScattered,  TestValueGeneral, PETSC_TRUE },
  {"band",                 6400, 6400,  TestRowGrid,   TestValueGeneral, PETSC_FALSE},
  {"band that jumps",      9000, 9000,  RowJump,       TestValueGeneral, PETSC_FALSE}
};

/* ------------------------------------------------- dense matrices ------------------------------------------------- */

static PetscScalar DenseGeneral(PetscInt i, PetscInt j)
{
  return TestNumber(i + 17, j);
}

static PetscScalar DenseOther(PetscInt i, PetscInt j)
{
  return TestNumber(j + 3, i);
}

/* The sum of both infinities is an invalid operation: not where that ends the program */
static PetscBool traps = PETSC_FALSE;

static PetscScalar DenseNotFinite(PetscInt i, PetscInt j)
{
  if (i == 3 && j % 2) return INFINITY;
  if (i == 11 && j % 3 == 1 && !traps) return -INFINITY;
  return i == 7 && j % 5 == 0 ? NAN : DenseGeneral(i, j);
}

static PetscScalar DensePoison(PetscInt i, PetscInt j)
{
  return NAN;
}

/* ------------------------------------------------- the reference ------------------------------------------------- */

/* An error relative to the sum of absolute values; no number must be none, and infinity must be infinity */
static PetscReal EntryError(PetscScalar c, PetscScalar sum, PetscReal scale)
{
  if (PetscIsNanScalar(sum)) return PetscIsNanScalar(c) ? 0 : 1;
  if (PetscIsInfScalar(sum)) return c == sum ? 0 : 1;
  return PetscAbsScalar(c - sum) / (scale > 0 ? scale : 1);
}

/* C against the sums of f times the shape's entries, or of the transposed shape, times the entries of a dense matrix */
static PetscErrorCode DiffDense(TestDiff *d, const char *what, const TestShape *shape, PetscScalar factor, PetscBool transpose, TestDenseFunction f, Mat C)
{
  PetscInt           r0, r1, K, lda, *cols;
  const PetscScalar *c;
  PetscScalar       *sum;
  PetscReal         *scale;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(C, &r0, &r1));
  PetscCall(MatGetSize(C, NULL, &K));
  PetscCall(PetscMalloc1(shape->N + 1, &cols));
  PetscCall(PetscCalloc2((r1 - r0) * K, &sum, (r1 - r0) * K, &scale));
  for (PetscInt i = transpose ? 0 : r0; i < (transpose ? shape->M : r1); i++) {
    const PetscInt n = (*shape->row)(i, shape->M, shape->N, cols);

    for (PetscInt l = 0; l < n; l++) {
      const PetscScalar a   = factor * (*shape->value)(i, cols[l]);
      const PetscInt    row = transpose ? cols[l] : i;

      if (row < r0 || row >= r1) continue;
      for (PetscInt k = 0; k < K; k++) {
        const PetscScalar product = a * (*f)(transpose ? i : cols[l], k);

        sum[row - r0 + k * (r1 - r0)] += product;
        scale[row - r0 + k * (r1 - r0)] += PetscAbsScalar(product);
      }
    }
  }
  PetscCall(MatDenseGetLDA(C, &lda));
  PetscCall(MatDenseGetArrayRead(C, &c));
  for (PetscInt k = 0; k < K; k++) {
    for (PetscInt r = 0; r < r1 - r0; r++) TestDiffAdd(d, what, EntryError(c[r + k * lda], sum[r + k * (r1 - r0)], scale[r + k * (r1 - r0)]));
  }
  PetscCall(MatDenseRestoreArrayRead(C, &c));
  PetscCall(PetscFree2(sum, scale));
  PetscCall(PetscFree(cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The bits of all numbers */
static PetscErrorCode DiffBits(TestDiff *d, const char *what, Mat C, Mat D)
{
  PetscInt           m, K, ldc, ldd;
  const PetscScalar *c, *e;
  PetscBool          same = PETSC_TRUE, equal;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(C, &m, NULL));
  PetscCall(MatGetSize(C, NULL, &K));
  PetscCall(MatDenseGetLDA(C, &ldc));
  PetscCall(MatDenseGetLDA(D, &ldd));
  PetscCall(MatDenseGetArrayRead(C, &c));
  PetscCall(MatDenseGetArrayRead(D, &e));
  for (PetscInt k = 0; k < K; k++) {
    PetscCall(PetscMemcmp(c + k * ldc, e + k * ldd, sizeof(*c) * (size_t)m, &equal));
    same = (PetscBool)(same && equal);
  }
  PetscCall(MatDenseRestoreArrayRead(C, &c));
  PetscCall(MatDenseRestoreArrayRead(D, &e));
  TestExpect(d, what, same);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does petsc-amb make this product? */
static PetscBool Served(Mat C)
{
  return (PetscBool)(C->product->alg && strcmp(C->product->alg, MATPRODUCTALGORITHMSPMM) == 0);
}

/* Has A one of the types of petsc-amb? */
static PetscErrorCode HasOurType(Mat A, PetscBool *our)
{
  PetscBool aij;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &aij, MATSEQAIJ, MATMPIAIJ, ""));
  *our = PETSC_TRUE;
  if (aij) PetscCall(PetscOptionsHasName(NULL, NULL, "-petscamb_for_aij", our));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* petsc-amb makes the product of real numbers if A has one of its types. On the host PETSc multiplies a few columns. */
static PetscErrorCode ExpectServed(TestDiff *d, Mat A, Mat C)
{
  PetscBool   cusparse, served;
  PetscInt    K;
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &cusparse, MATSEQAIJCUSPARSE, MATMPIAIJCUSPARSE, ""));
  PetscCall(HasOurType(A, &served));
  PetscCall(MatGetSize(C, NULL, &K));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (PetscDefined(USE_COMPLEX) || (!cusparse && K > 1 && K < 5 && (size > 1 || SysThreads() == 1))) served = PETSC_FALSE;
  TestExpect(d, "the algorithm is spmm where petsc-amb serves, and only there", (PetscBool)(Served(C) == served));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- checks ------------------------------------------------- */

static PetscErrorCode Multiply(PetscBool transpose, Mat A, Mat B, MatReuse reuse, Mat *C)
{
  PetscFunctionBeginUser;
  if (transpose) PetscCall(MatTransposeMatMult(A, B, reuse, PETSC_DEFAULT, C));
  else PetscCall(MatMatMult(A, B, reuse, PETSC_DEFAULT, C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One product, made again with other values of both operands */
static PetscErrorCode CheckWidth(TestDiff *d, const TestShape *shape, PetscBool transpose, PetscInt K, PetscInt gap, Mat A)
{
  PetscInt m, n;
  Mat      B, C;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(TestDenseCreate(transpose ? m : n, K, gap, DenseGeneral, &B));
  PetscCall(Multiply(transpose, A, B, MAT_INITIAL_MATRIX, &C));
  PetscCall(ExpectServed(d, A, C));
  PetscCall(DiffDense(d, "a new product", shape, 1.0, transpose, DenseGeneral, C));
  PetscCall(TestDenseSet(B, DenseOther));
  PetscCall(MatScale(A, 2.0));
  PetscCall(TestDenseSet(C, DensePoison));
  PetscCall(Multiply(transpose, A, B, MAT_REUSE_MATRIX, &C));
  PetscCall(DiffDense(d, "a product made again", shape, 2.0, transpose, DenseOther, C));
  PetscCall(MatScale(A, 0.5));
  PetscCall(TestDestroy(&C, &B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckShapes(TestDiff *d)
{
  static const PetscInt widths[] = {0, 1, 2, 3, 7, 31, 32, 33, 70, 512};

  PetscFunctionBeginUser;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(shapes); s++) {
    Mat       A;
    PetscBool our;

    PetscCall(TestShapeCreate(&shapes[s], NULL, &A));
    PetscCall(HasOurType(A, &our));
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(widths); k++) {
      if ((shapes[s].N > 10000 && widths[k] > 33) || (shapes[s].M > 1000 && widths[k] > 70)) continue;
      for (int transpose = 0; transpose < 2; transpose++) {
        if (transpose && !widths[k] && !our) continue; /* PETSc 3.26 makes an intermediate matrix of block size 0, an error */
        PetscCall(CheckWidth(d, &shapes[s], (PetscBool)transpose, widths[k], k % 2 ? 0 : 5, A));
      }
    }
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckRandom(TestDiff *d)
{
  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < 16; k++) {
    const TestShape shape = {"random", 1 + TestInteger(k, 1, 180), 1 + TestInteger(k, 2, 140), TestRowRandom, TestValueGeneral, PETSC_FALSE};
    Mat             A;

    PetscCall(TestShapeCreate(&shape, NULL, &A));
    for (int transpose = 0; transpose < 2; transpose++) PetscCall(CheckWidth(d, &shape, (PetscBool)transpose, 1 + TestInteger(k, 3, 90), TestInteger(k, 4, 3), A));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is no number reaches the results that it belongs to, and no others */
static PetscErrorCode CheckNotFinite(TestDiff *d)
{
  PetscFunctionBeginUser;
  for (size_t s = 0; s < 3; s++) {
    for (int transpose = 0; transpose < 2; transpose++) {
      PetscInt m, n;
      Mat      A, B, C;

      PetscCall(TestShapeCreate(&shapes[s], NULL, &A));
      PetscCall(MatGetLocalSize(A, &m, &n));
      PetscCall(TestDenseCreate(transpose ? m : n, 11, 0, DenseNotFinite, &B));
      PetscCall(Multiply((PetscBool)transpose, A, B, MAT_INITIAL_MATRIX, &C));
      PetscCall(DiffDense(d, "NaN and infinity", &shapes[s], 1.0, (PetscBool)transpose, DenseNotFinite, C));
      PetscCall(TestDestroy(&A, &B, &C));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A dense matrix of the user with gaps between its columns and nothing in it takes the product; the phases of MatProduct, and other operands in them */
static PetscErrorCode CheckPhases(TestDiff *d)
{
  const TestShape *shape = &shapes[0], other = {"other pattern", shape->M, shape->N, RowScattered, TestValueGeneral, PETSC_FALSE};

  PetscFunctionBeginUser;
  for (int transpose = 0; transpose < 2; transpose++) {
    PetscInt m, n, lda;
    Mat      A, A2, B, B2, C;

    PetscCall(TestShapeCreate(shape, NULL, &A));
    PetscCall(TestShapeCreate(&other, NULL, &A2));
    PetscCall(MatGetLocalSize(A, &m, &n));
    PetscCall(TestDenseCreate(transpose ? m : n, 9, 0, DenseGeneral, &B));
    PetscCall(TestDenseCreate(transpose ? m : n, 9, 3, DenseOther, &B2));
    PetscCall(TestDenseCreate(transpose ? n : m, 9, 4, DensePoison, &C));
    PetscCall(MatProductCreateWithMat(A, B, NULL, C));
    PetscCall(MatProductSetType(C, transpose ? MATPRODUCT_AtB : MATPRODUCT_AB));
    PetscCall(MatProductSetFromOptions(C));
    PetscCall(MatProductSymbolic(C));
    PetscCall(MatProductNumeric(C));
    PetscCall(DiffDense(d, "into a matrix of the user", shape, 1.0, (PetscBool)transpose, DenseGeneral, C));
    PetscCall(MatDenseGetLDA(C, &lda));
    TestExpect(d, "the matrix of the user keeps its leading dimension", (PetscBool)(lda == (transpose ? n : m) + 4));
    if (Served(C)) { /* PETSc refuses another leading dimension on several processes, and keeps the old A of A' B on one */
      PetscCall(MatProductReplaceMats(NULL, B2, NULL, C));
      PetscCall(MatProductNumeric(C));
      PetscCall(DiffDense(d, "another dense operand", shape, 1.0, (PetscBool)transpose, DenseOther, C));
      PetscCall(MatProductReplaceMats(A2, NULL, NULL, C));
      PetscCall(MatProductNumeric(C));
      PetscCall(DiffDense(d, "another sparse operand", &other, 1.0, (PetscBool)transpose, DenseOther, C));
    }
    PetscCall(TestDestroy(&A, &A2, &B, &B2, &C));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Operands that are bound to the CPU between two products, and no longer before the next */
static PetscErrorCode CheckBound(TestDiff *d)
{
  PetscFunctionBeginUser;
  for (int transpose = 0; transpose < 2; transpose++) {
    PetscInt m, n;
    Mat      A, B, C;

    PetscCall(TestShapeCreate(&shapes[1], NULL, &A));
    PetscCall(MatGetLocalSize(A, &m, &n));
    PetscCall(TestDenseCreate(transpose ? m : n, 12, 0, DenseGeneral, &B));
    PetscCall(Multiply((PetscBool)transpose, A, B, MAT_INITIAL_MATRIX, &C));
    for (int k = 0; k < 4 && Served(C); k++) { /* PETSc refuses such an A, and takes a C on the host for one on the GPU */
      PetscCall(MatBindToCPU(k < 2 ? A : k < 3 ? B : C, (PetscBool)(k != 1)));
      PetscCall(TestDenseSet(C, DensePoison));
      PetscCall(Multiply((PetscBool)transpose, A, B, MAT_REUSE_MATRIX, &C));
      PetscCall(DiffDense(d, "an operand that was bound to the CPU", &shapes[1], 1.0, (PetscBool)transpose, DenseGeneral, C));
    }
    PetscCall(TestDestroy(&A, &B, &C));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same bits from run to run, made new or made again, whatever the number of threads; PETSc does not promise them on a GPU */
static PetscErrorCode CheckBits(TestDiff *d)
{
  static const int which[] = {2, 10};
  const int        before  = SysThreads();

  PetscFunctionBeginUser;
  for (int s = 0; s < 2; s++) {
    for (int transpose = 0; transpose < 2; transpose++) {
      PetscInt m, n;
      Mat      A, B, C, D;

      PetscCall(TestShapeCreate(&shapes[which[s]], NULL, &A));
      PetscCall(MatGetLocalSize(A, &m, &n));
      PetscCall(TestDenseCreate(transpose ? m : n, 33, 1, DenseGeneral, &B));
      PetscCall(Multiply((PetscBool)transpose, A, B, MAT_INITIAL_MATRIX, &C));
      for (int threads = 1; threads <= 4 && Served(C); threads++) {
        SysThreadsSet(threads);
        PetscCall(Multiply((PetscBool)transpose, A, B, MAT_INITIAL_MATRIX, &D));
        PetscCall(DiffBits(d, "other bits with other threads", C, D));
        PetscCall(Multiply((PetscBool)transpose, A, B, MAT_REUSE_MATRIX, &D));
        PetscCall(DiffBits(d, "other bits in a product made again", C, D));
        PetscCall(MatDestroy(&D));
      }
      SysThreadsSet(before);
      PetscCall(TestDestroy(&A, &B, &C));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = A B C x, the factors from the right; A is transposed on demand */
static PetscErrorCode MultThree(PetscBool transpose, Mat A, Mat B, Mat C, Vec x, Vec y)
{
  Vec u, v;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(C, NULL, &u));
  PetscCall(MatCreateVecs(B, NULL, &v));
  PetscCall(MatMult(C, x, u));
  PetscCall(MatMult(B, u, v));
  if (transpose) PetscCall(MatMultTranspose(A, v, y));
  else PetscCall(MatMult(A, v, y));
  PetscCall(TestDestroy(&u, &v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Triple products, which PETSc makes in two steps: PETSc gives the numeric phase of the second step its operands, which are not those of the whole product */
static PetscErrorCode CheckTriple(TestDiff *d)
{
  static const char *const what[] = {"sparse x dense x sparse", "sparse x sparse x dense", "P^T A P of a dense A"};
  PetscInt                 n;
  PetscReal                error, norm;
  PetscBool                host;
  Mat                      S, D, C;
  Vec                      x, y, z;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&shapes[0], NULL, &S));
  PetscCall(MatGetLocalSize(S, NULL, &n));
  PetscCall(TestDenseCreate(n, shapes[0].N, 0, DenseGeneral, &D));
  PetscCall(MatCreateVecs(S, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)D, &host, MATSEQDENSE, MATMPIDENSE, ""));
  for (int k = host ? 0 : 1; k < (host ? 3 : 2); k++) { /* PETSc has no product of a dense matrix on a GPU and a sparse one */
    for (int again = 0; again < 2; again++) {
      const MatReuse reuse = again ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX;

      PetscCall(TestDenseSet(D, again ? DenseOther : DenseGeneral));
      if (k == 0) PetscCall(MatMatMatMult(S, D, S, reuse, PETSC_DEFAULT, &C));
      else if (k == 1) PetscCall(MatMatMatMult(S, S, D, reuse, PETSC_DEFAULT, &C));
      else PetscCall(MatPtAP(D, S, reuse, PETSC_DEFAULT, &C));
      PetscCall(MatMult(C, x, y));
      PetscCall(MultThree((PetscBool)(k == 2), S, k == 1 ? S : D, k == 1 ? D : S, x, z));
      PetscCall(VecNorm(z, NORM_2, &norm));
      PetscCall(VecAXPY(z, -1.0, y));
      PetscCall(VecNorm(z, NORM_2, &error));
      TestExpect(d, what[k], (PetscBool)(error <= 1000 * PETSC_MACHINE_EPSILON * norm));
    }
    PetscCall(MatDestroy(&C));
  }
  PetscCall(TestDestroy(&x, &y, &z, &S, &D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckErrors(TestDiff *d)
{
  PetscInt m, n;
  Mat      A, B, wide, wrong, C;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&shapes[2], NULL, &A));
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(TestDenseCreate(n, 8, 0, DenseGeneral, &B));
  PetscCall(TestDenseCreate(n, 9, 0, DenseGeneral, &wide));
  PetscCall(TestDenseCreate(m, 8, 0, DenseGeneral, &wrong));
  TestExpectError(d, PETSC_ERR_ARG_SIZ, "incompatible", MatMatMult(A, wrong, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  TestExpectError(d, PETSC_ERR_ARG_SIZ, "incompatible", MatTransposeMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  if (Served(C)) {
    PetscCall(MatProductReplaceMats(NULL, wide, NULL, C));
    TestExpectError(d, PETSC_ERR_ARG_SIZ, "only be replaced by others of the same sizes", MatProductNumeric(C));
    PetscCall(MatProductReplaceMats(NULL, wrong, NULL, C));
    TestExpectError(d, PETSC_ERR_ARG_SIZ, "the dense matrix", MatProductNumeric(C));
  }
  PetscCall(TestDestroy(&C, &A, &B, &wide, &wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's algorithm on demand. The result of petsc-amb has its type, with the values on the same side, and leaves the dense operand as it is. */
static PetscErrorCode CheckDefault(TestDiff *d)
{
  PetscInt         n;
  Mat              A, B, C, D;
  PetscObjectState before, after;
  PetscBool        same;
  PetscMPIInt      size;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&shapes[0], NULL, &A));
  PetscCall(MatGetLocalSize(A, NULL, &n));
  PetscCall(TestDenseCreate(n, 6, 0, DenseGeneral, &B));
  PetscCall(PetscObjectStateGet((PetscObject)B, &before));
  PetscCall(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &D));
  PetscCall(PetscObjectStateGet((PetscObject)B, &after));
  PetscCall(PetscOptionsSetValue(NULL, "-matmatmult_via", "default"));
  PetscCall(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(PetscOptionsClearValue(NULL, "-matmatmult_via"));
  TestExpect(d, "-matmatmult_via default leaves the product to PETSc", (PetscBool)!Served(C));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscObjectTypeCompare((PetscObject)C, ((PetscObject)D)->type_name, &same));
  TestExpect(d, "the type of the result", same);
#if defined(PETSC_HAVE_DEVICE)
  if (size == 1) TestExpect(d, "the side of the result's values", (PetscBool)(C->offloadmask == D->offloadmask)); /* of the local block, otherwise */
#endif
  if (Served(D)) TestExpect(d, "the dense operand is only read", (PetscBool)(before == after));
  PetscCall(DiffDense(d, "petsc-amb's product", &shapes[0], 1.0, PETSC_FALSE, DenseGeneral, D));
  PetscCall(DiffDense(d, "PETSc's product", &shapes[0], 1.0, PETSC_FALSE, DenseGeneral, C));
  PetscCall(TestDestroy(&D, &A, &B, &C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Block sizes and flags of results are those of AIJ's, on one process also those of a matrix of several processes and a sequential dense one */
static PetscErrorCode CheckTraits(TestDiff *d)
{
  static const PetscInt widths[] = {1, 4, 12};
  PetscInt              m, n, rbs[2], cbs[2];
  Mat                   A, B, C[2];

  PetscFunctionBeginUser;
  for (int k = 0; k < 12; k++) {
    const PetscBool transpose = (PetscBool)(k % 2), mpi = (PetscBool)(k / 2 % 2);

    for (int ref = 0; ref < 2; ref++) {
      char type[64] = MATMPIAIJ;

      PetscCall(TestShapeCreate(&shapes[1], ref ? "ref_" : NULL, &A));
      PetscCall(MatSetBlockSizes(A, 3, 3));
      if (!ref) PetscCall(TestTypeFull(2, type, sizeof(type)));
      if (mpi) PetscCall(MatConvert(A, type, MAT_INPLACE_MATRIX, &A));
      PetscCall(MatGetLocalSize(A, &m, &n));
      PetscCall(TestDenseCreate(transpose ? m : n, widths[k / 4], 0, DenseGeneral, &B));
      PetscCall(Multiply(transpose, A, B, MAT_INITIAL_MATRIX, &C[ref]));
      PetscCall(MatGetBlockSizes(C[ref], &rbs[ref], &cbs[ref]));
      PetscCall(TestDestroy(&A, &B));
    }
    TestExpect(d, "block sizes", (PetscBool)(rbs[0] == rbs[1] && cbs[0] == cbs[1]));
    TestExpect(d, "MAT_NO_OFF_PROC_ENTRIES", (PetscBool)(C[0]->nooffprocentries == C[1]->nooffprocentries));
    PetscCall(TestDestroy(&C[0], &C[1]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const TestCase tests[] = {
    {"shapes and widths",            CheckShapes   },
    {"random shapes",                CheckRandom   },
    {"NaN and infinity",             CheckNotFinite},
    {"phases and replaced operands", CheckPhases   },
    {"operands bound to the CPU",    CheckBound    },
    {"the same bits",                CheckBits     },
    {"triple products",              CheckTriple   },
    {"block sizes and flags",        CheckTraits   },
    {"errors",                       CheckErrors   },
    {"PETSc's algorithm",            CheckDefault  },
    {NULL,                           NULL          }
  };

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-fp_trap", &traps));
  PetscCall(TestRun(tests));
  return TestFinalize();
}

/*TEST

  testset:
    requires: !complex
    nsize: {{1 2 3}}
    checks: 10
    test:
      suffix: aij
      args: -mat_type aij
    test:
      suffix: types
      args: -mat_type {{@types-ccoo-tilecomposite}} -mat_shadow_tune off
    test:
      suffix: fp_trap
      nsize: 1
      requires: !cuda
      args: -mat_type amb -mat_shadow_tune off -fp_trap
    test:
      suffix: threads
      env: OMP_NUM_THREADS=3
      args: -mat_type amb -mat_shadow_tune off
    test:
      suffix: for_aij
      args: -mat_type aij -petscamb_for_aij amb
    test:
      suffix: densecuda
      requires: cuda
      args: -mat_type {{@types}} -mat_shadow_tune off -dense_type densecuda
    test:
      suffix: tiles
      requires: cuda
      args: -mat_type amb -mat_shadow_tune off -dense_type densecuda -mat_spmm_tiles 2
    test:
      suffix: for_aijcusparse
      requires: cuda
      args: -mat_type aijcusparse -petscamb_for_aij amb -dense_type {{dense densecuda}}

TEST*/
