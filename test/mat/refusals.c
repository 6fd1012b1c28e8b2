/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "Arguments that functions of the library refuse, with their words; the objects are as they were afterwards.\n\n";

#include "../testutil.h"
#include "ksp/ksp/impls/ambksp/ambksp.h"

static const TestShape grid = {"grid", 36, 36, TestRowGrid, TestValueGeneral, PETSC_FALSE};
static const TestShape wide = {"wide", 36, 50, TestRowFull, TestValueGeneral, PETSC_FALSE};

/* Choices that do not exist */
static PetscErrorCode Choices(TestDiff *d)
{
  Mat A, C;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&grid, NULL, &A));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "No such tuning", MatShadowSetTune(A, (MatShadowTune)17));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "No such place", MatShadowSetDevice(A, (MatShadowDevice)17));
  PetscCall(MatProductCreate(A, A, NULL, &C));
  PetscCall(MatProductSetType(C, MATPRODUCT_AB));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "No such accumulator", MatHashGEMMSetAccumulator(C, (MatHashGEMMAccumulator)17));
  PetscCall(MatDestroy(&C));
  PetscCall(TestMultiply(A, 2));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sizes that do not belong together */
static PetscErrorCode Sizes(TestDiff *d)
{
  PetscLogDouble sum;
  PetscMPIInt    size;
  Mat            A, B, W;
  Vec            x;
  KSP            ksp;
  PC             pc;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(TestShapeCreate(&grid, NULL, &A));
  PetscCall(TestShapeCreate(&wide, NULL, &W));
  PetscCall(MatCreateVecs(A, &x, NULL));
  if (!PetscDefined(USE_COMPLEX)) TestExpectError(d, PETSC_ERR_ARG_SIZ, "columns", MatMatMultMaskSum(A, A, W, &sum));
  TestExpectError(d, PETSC_ERR_ARG_SIZ, "local rows", MatGraphOrient(W, x, &A));
  TestExpectError(d, PETSC_ERR_ARG_SIZ, "the mask", MatMaskEntries(W, A, PETSC_FALSE, &B));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, size > 1 ? A : W, size > 1 ? A : W));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCAMBINVERSE));
  if (size > 1) TestExpectError(d, PETSC_ERR_SUP, "inverts matrices of one process", PCSetUp(pc));
  else TestExpectError(d, PETSC_ERR_ARG_SIZ, "has no inverse", PCSetUp(pc));
  PetscCall(TestDestroy(&ksp, &x));
  PetscCall(TestMultiply(A, 2));
  PetscCall(TestDestroy(&A, &W));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All rows, or all columns, of a matrix of the grid's size on the first process */
static PetscErrorCode OneSidedCreate(PetscBool columns, Mat *A)
{
  PetscMPIInt rank;
  PetscInt    first, end, all;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  all = rank ? 0 : grid.M;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, columns ? PETSC_DECIDE : all, columns ? all : PETSC_DECIDE, grid.M, grid.N));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSetUp(*A));
  PetscCall(MatGetOwnershipRange(*A, &first, &end));
  for (PetscInt i = first; i < end; i++) PetscCall(MatSetValue(*A, i, i, 1, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Operands whose rows and columns other processes have */
static PetscErrorCode LocalSizes(TestDiff *d)
{
  PetscLogDouble sum;
  PetscMPIInt    size;
  Mat            A, rows, columns, C;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (size == 1) PetscFunctionReturn(PETSC_SUCCESS); /* it has all of them */
  PetscCall(TestShapeCreate(&grid, NULL, &A));
  PetscCall(OneSidedCreate(PETSC_FALSE, &rows));
  PetscCall(OneSidedCreate(PETSC_TRUE, &columns));
  TestExpectError(d, PETSC_ERR_ARG_SIZ, "!= B (", MatMatMult(columns, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  TestExpectError(d, PETSC_ERR_ARG_SIZ, "!= B (", MatTransposeMatMult(rows, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  TestExpectError(d, PETSC_ERR_ARG_SIZ, "!= P (", MatPtAP(rows, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  if (!PetscDefined(USE_COMPLEX)) TestExpectError(d, PETSC_ERR_ARG_SIZ, "local rows of", MatMatMultMaskSum(A, A, rows, &sum));
  TestExpectError(d, PETSC_ERR_ARG_SIZ, "local rows of", MatMaskEntries(A, rows, PETSC_FALSE, &C));
  TestExpectError(d, PETSC_ERR_ARG_SIZ, "local columns of", MatMaskEntries(A, columns, PETSC_TRUE, &C));
  PetscCall(MatMatMult(A, columns, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(TestDestroy(&C, &A, &rows, &columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers that make no sense, and names that are missing */
static PetscErrorCode Numbers(TestDiff *d)
{
  PetscInt  n, index[1];
  PetscReal value[1];
  Mat       A;
  Vec       x;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&grid, NULL, &A));
  PetscCall(MatCreateVecs(A, &x, NULL));
  PetscCall(VecSet(x, 1));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "give 0 or more", VecGetTop(x, -1, &n, index, value));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "must be positive", VecShiftToSum(x, NULL, 0, 1, NULL, value));
  TestExpectError(d, PETSC_ERR_ARG_NULL, "is NULL", MatLoadMatrixMarket(A, NULL));
  TestExpectError(d, PETSC_ERR_ARG_NULL, "is NULL", MatLoadEdgeList(A, NULL, NULL));
  TestExpectError(d, PETSC_ERR_FILE_OPEN, "no/such/file: ", MatLoadEdgeList(A, "no/such/file", NULL));
  PetscCall(VecDestroy(&x));
  PetscCall(TestMultiply(A, 2));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Matrices that are not ready */
static PetscErrorCode Unassembled(TestDiff *d)
{
  Mat A, D, P, S;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, 36, 36));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSetUp(A));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 36, 3, NULL, &D));
  PetscCall(MatAssemblyBegin(D, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(D, MAT_FINAL_ASSEMBLY));
  TestExpectError(d, PETSC_ERR_ARG_WRONGSTATE, "not assembled", MatPruneRows(A, 0, 1, &P));
  TestExpectError(d, PETSC_ERR_ARG_WRONGSTATE, "not assembled", MatMaskEntries(A, A, PETSC_FALSE, &P));
  TestExpectError(d, PETSC_ERR_SUP, "MatMaskEntries(): the matrix has the type", MatMaskEntries(D, D, PETSC_FALSE, &P));
  if (!PetscDefined(USE_COMPLEX)) TestExpectError(d, PETSC_ERR_ARG_WRONGSTATE, "unassembled matrix", MatSDDMM(A, D, D, PETSC_FALSE, MAT_INITIAL_MATRIX, &S));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(TestDestroy(&A, &D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool asked = PETSC_FALSE;

/* With a preconditioner from the right, an iteration on fused passes has no solution until a vector for it is given. Without NCCL, several processes with a GPU make PETSc's
   own iterations. */
static PetscErrorCode MonitorWithoutVector(KSP ksp, PetscInt its, PetscReal norm, void *ctx)
{
  TestDiff *d = (TestDiff *)ctx;
  KSPAMB   *amb;
  Vec       solution;

  PetscFunctionBeginUser;
  (void)norm;
  if (its == 1) {
    PetscCall(KSPAMBGet(ksp, &amb));
    if (amb->fused) TestExpectError(d, PETSC_ERR_SUP, "needs a vector for the solution", KSPBuildSolution(ksp, NULL, &solution));
    else TestExpectError(d, PETSC_ERR_SUP, "", KSPBuildSolution(ksp, NULL, &solution)); /* PETSc's own solve has none either */
    asked = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a type does not do */
static PetscErrorCode Unsupported(TestDiff *d)
{
  MatPartitioning part;
  PetscInt       *weights, m;
  PetscMPIInt     size;
  MatBatch        batch;
  KSP             ksp;
  PC              pc;
  IS              is;
  Mat             A;
  Vec             x, y;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&grid, NULL, &A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(MatGetLocalSize(A, &m, NULL));

  PetscCall(PetscCalloc1(m, &weights));
  PetscCall(MatPartitioningCreate(PETSC_COMM_WORLD, &part));
  PetscCall(MatPartitioningSetAdjacency(part, A));
  PetscCall(MatPartitioningSetType(part, MATPARTITIONINGBITONIC));
  PetscCall(MatPartitioningSetVertexWeights(part, weights)); /* they belong to the partitioning now */
  TestExpectError(d, PETSC_ERR_SUP, "does not support vertex weights", MatPartitioningApply(part, &is));
  PetscCall(MatPartitioningDestroy(&part));

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPAMBBCGS));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetPCSide(ksp, PC_RIGHT));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPMonitorSet(ksp, MonitorWithoutVector, d, NULL));
  PetscCall(KSPSolve(ksp, x, y));
  TestExpect(d, "no iteration asks for its solution", asked);
  PetscCall(KSPDestroy(&ksp));

  if (!PetscDefined(HAVE_CUDA)) {
    TestExpectError(d, PETSC_ERR_SUP, "measured on a GPU", MatTileCompositeMeasure("table"));
    TestExpectError(d, PETSC_ERR_SUP, "matrices on the GPU need a PETSc with CUDA", MatShadowSetDevice(A, MAT_SHADOW_DEVICE_GPU));
    PetscCall(MatMult(A, x, y)); /* it stays on the host */
  }
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (size > 1 && !PetscDefined(USE_COMPLEX)) TestExpectError(d, PETSC_ERR_SUP, "make a batch on each process", MatBatchCreateCOO(PETSC_COMM_WORLD, 0, NULL, NULL, NULL, NULL, NULL, NULL, &batch));
  PetscCall(TestDestroy(&x, &y, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix of 36 rows: every third number of its diagonal is third, the others are other; in its blocks of two rows and columns, skew and -skew beside the diagonal */
static PetscErrorCode MatrixCreate(PetscScalar third, PetscScalar other, PetscScalar skew, Mat *A)
{
  PetscInt begin, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, 36, 36));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSetUp(*A));
  PetscCall(MatGetOwnershipRange(*A, &begin, &end));
  for (PetscInt i = begin; i < end; i++) {
    PetscCall(MatSetValue(*A, i, i, i % 3 ? other : third, INSERT_VALUES));
    PetscCall(MatSetValue(*A, i, i % 2 ? i - 1 : i + 1, i % 2 ? -skew : skew, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The preconditioner is the product with P. Processes that share a GPU run PETSc's GMRES there, with PETSc's words. */
static PetscErrorCode CheckBreakdown(TestDiff *d, KSPType type, Mat A, Mat P, const char words[])
{
  KSP       ksp;
  PC        pc;
  Vec       x, b;
  PetscBool device, gmres;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)x, &device, "seqcuda", "mpicuda", ""));
  PetscCall(PetscStrcmp(type, KSPAMBGMRES, &gmres));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, type));
  PetscCall(KSPSetOperators(ksp, A, P));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, P == A ? PCNONE : PCMAT));
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  TestErrorMessage[0] = 0;
  PetscCall(PetscPushErrorHandler(TestKeepMessage, NULL));
  TestExpect(d, "another error than that of a breakdown", (PetscBool)(KSPSolve(ksp, b, x) == PETSC_ERR_NOT_CONVERGED));
  PetscCall(PetscPopErrorHandler());
  if (!device || !gmres || !TestSharesGPU()) TestExpect(d, words, (PetscBool)(strstr(TestErrorMessage, words) != NULL));
  PetscCall(TestDestroy(&ksp, &x, &b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves that break down, with KSPSetErrorIfNotConverged() */
static PetscErrorCode Breakdowns(TestDiff *d)
{
  Mat identity, indefinite, skew, zero;

  PetscFunctionBeginUser;
  if (PetscDefined(USE_COMPLEX)) PetscFunctionReturn(PETSC_SUCCESS); /* PETSc's own solves */
  PetscCall(MatrixCreate(1, 1, 0, &identity));
  PetscCall(MatrixCreate(-1, 2, 0, &indefinite));
  PetscCall(MatrixCreate(0, 0, 1, &skew));
  PetscCall(MatrixCreate(0, 0, 0, &zero));
  PetscCall(CheckBreakdown(d, KSPAMBCG, indefinite, indefinite, "indefinite matrix"));
  PetscCall(CheckBreakdown(d, KSPAMBCG, identity, indefinite, "indefinite preconditioner"));
  PetscCall(CheckBreakdown(d, KSPAMBBCGS, skew, skew, "zero inner product"));
  PetscCall(CheckBreakdown(d, KSPAMBGMRES, zero, identity, "maps the last vector of the basis to zero"));
  PetscCall(TestDestroy(&identity, &indefinite, &skew, &zero));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is for real numbers */
static PetscErrorCode Complex(TestDiff *d)
{
  PetscLogDouble sum;
  PetscInt64     count;
  MatBatch       batch;
  Mat            A, D, S;

  PetscFunctionBeginUser;
  if (!PetscDefined(USE_COMPLEX)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TestShapeCreate(&grid, NULL, &A));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, grid.M, 3, NULL, &D));
  PetscCall(MatAssemblyBegin(D, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(D, MAT_FINAL_ASSEMBLY));
  TestExpectError(d, PETSC_ERR_SUP, "MatCountTriangles() multiplies real numbers", MatCountTriangles(A, &count));
  TestExpectError(d, PETSC_ERR_SUP, "MatMatMultMaskSum() multiplies real numbers", MatMatMultMaskSum(A, A, A, &sum));
  TestExpectError(d, PETSC_ERR_SUP, "MatSDDMM() multiplies real numbers", MatSDDMM(A, D, D, PETSC_FALSE, MAT_INITIAL_MATRIX, &S));
  TestExpectError(d, PETSC_ERR_SUP, "A MatBatch has real numbers", MatBatchCreateCOO(PETSC_COMM_SELF, 0, NULL, NULL, NULL, NULL, NULL, NULL, &batch));
  PetscCall(MatDestroy(&D));
  PetscCall(TestMultiply(A, 2));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const TestCase tests[] = {
    {"choices",            Choices    },
    {"sizes",              Sizes      },
    {"local sizes",        LocalSizes },
    {"numbers",            Numbers    },
    {"unassembled matrix", Unassembled},
    {"not supported",      Unsupported},
    {"breakdowns",         Breakdowns },
    {"complex numbers",    Complex    },
    {NULL,                 NULL       }
  };

  return TestMain(argc, argv, help, tests);
}

/*TEST

  test:
    nsize: {{1 2}}
    args: -mat_type amb
    checks: 8

TEST*/
