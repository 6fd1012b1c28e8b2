/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "Memory is short on one process, at each allocation of an operation in turn: the operation succeeds without it, or all processes raise the same\n\
error; the same call works afterwards.\n\
  -faults_device <memory,lost>   memory of the GPU and pinned memory in place of the host's; or the GPU fails at each call of CUDA in turn, and does not come back\n\n";

#include <stdio.h>
#include <string.h>

#include "../testutil.h"
#include "../testfault.h"

static const TestShape grid   = {"grid", 144, 144, TestRowGrid, TestValueGeneral, PETSC_FALSE};
static const TestShape blocks = {"blocks", 150, 150, TestRowBlocks, TestValueGeneral, PETSC_FALSE};

static char marketfile[PETSC_MAX_PATH_LEN], edgefile[PETSC_MAX_PATH_LEN];

/* What an operation works on. call() is made with the fault; it may leave results, which clear() takes back after a failure too. */
typedef struct {
  Mat            A, R, D, E, again, out;
  Vec            x, y, v[7];
  MatBatch       batch;
  GraphConv      layer;
  KSP            ksp;
  IS             is;
  PetscInt64    *ids, count[2];
  PetscLogDouble sum;
} Work;

typedef struct {
  const char *name;
  PetscErrorCode (*prepare)(Work *);
  PetscErrorCode (*call)(Work *);
  PetscErrorCode (*judge)(TestDiff *, Work *);
  int limits;
} Operation;

#define REAL  1 /* not with complex numbers */
#define ONE   2 /* only on one process */
#define NAMED 4 /* only by -test_only: it has many allocations */

/* ------------------------------------------------- products with vectors ------------------------------------------------- */

static PetscErrorCode PreparePair(Work *w)
{
  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&blocks, &w->A, &w->R));
  PetscCall(MatCreateVecs(w->A, &w->x, &w->y));
  PetscCall(TestVecSet(w->x, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ... that was converted, and has new values since */
static PetscErrorCode PrepareChanged(Work *w)
{
  PetscFunctionBeginUser;
  PetscCall(PreparePair(w));
  PetscCall(TestMultiply(w->A, 2));
  PetscCall(MatMultTranspose(w->A, w->x, w->y));
  PetscCall(TestShapeSetValues(&blocks, w->A, 1.5, INSERT_VALUES));
  PetscCall(TestShapeSetValues(&blocks, w->R, 1.5, INSERT_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CallMult(Work *w)
{
  return MatMult(w->A, w->x, w->y);
}

static PetscErrorCode CallMultTranspose(Work *w)
{
  return MatMultTranspose(w->A, w->x, w->y);
}

static PetscErrorCode CallSetUp(Work *w)
{
  return MatShadowSetUp(w->A);
}

/* ... shortly before it is converted and timed, by this thread or, while the solver goes on, by another one */
static PetscErrorCode PrepareTuned(Work *w, MatShadowTune tune)
{
  PetscFunctionBeginUser;
  PetscCall(PreparePair(w));
  PetscCall(MatShadowSetTune(w->A, tune));
  PetscCall(TestMultiply(w->A, 38));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PrepareTrials(Work *w)
{
  return PrepareTuned(w, MAT_SHADOW_TUNE_MEASURE);
}

static PetscErrorCode PrepareOnline(Work *w)
{
  return PrepareTuned(w, MAT_SHADOW_TUNE_ONLINE);
}

static PetscBool laidout; /* did the products below lead to a layout? */

static PetscErrorCode CallTrials(Work *w)
{
  MatShadowInfo info;

  PetscFunctionBeginUser;
  for (int k = 0; k < 40; k++) {
    PetscCall(MatMult(w->A, w->x, w->y));
    PetscCall(MatShadowGetInfo(w->A, &info));
    if (info.tuning) PetscCall(PetscSleep(0.0005));
  }
  laidout = (PetscBool)(info.conversions > 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode JudgePair(TestDiff *d, Work *w)
{
  Vec rows, cols;

  PetscFunctionBeginUser;
  PetscCall(TestScales(w->R, &rows, &cols));
  PetscCall(TestDiffMult(d, w->A, w->R, rows));
  PetscCall(TestDiffMultTranspose(d, w->A, w->R, cols));
  PetscCall(TestDestroy(&rows, &cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- new matrices ------------------------------------------------- */

static PetscErrorCode CallConvert(Work *w)
{
  MatType type;

  PetscFunctionBeginUser;
  PetscCall(MatGetType(w->A, &type));
  PetscCall(MatConvert(w->R, type, MAT_INITIAL_MATRIX, &w->out));
  PetscCall(MatMult(w->out, w->x, w->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CallDuplicate(Work *w)
{
  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(w->A, MAT_COPY_VALUES, &w->out));
  PetscCall(MatMult(w->out, w->x, w->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode JudgeOut(TestDiff *d, Work *w)
{
  return TestDiffMat(d, w->out, w->R);
}

/* Against the same of the plain matrix, which this function destroys */
static PetscErrorCode JudgeAgainst(TestDiff *d, Work *w, Mat plain)
{
  PetscFunctionBeginUser;
  PetscCall(TestDiffMat(d, w->out, plain));
  PetscCall(MatDestroy(&plain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- dense and sampled products ------------------------------------------------- */

static PetscErrorCode PrepareDense(Work *w)
{
  PetscFunctionBeginUser;
  PetscCall(PreparePair(w));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, blocks.N, 5, NULL, &w->D));
  PetscCall(MatSetRandom(w->D, NULL));
  PetscCall(MatDuplicate(w->D, MAT_COPY_VALUES, &w->E));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CallDense(Work *w)
{
  return MatMatMult(w->A, w->D, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &w->out);
}

static PetscErrorCode CallDenseTranspose(Work *w)
{
  return MatTransposeMatMult(w->A, w->D, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &w->out);
}

static PetscErrorCode JudgeProduct(TestDiff *d, Work *w, PetscBool transpose)
{
  Mat       R;
  PetscReal norm, scale;

  PetscFunctionBeginUser;
  if (transpose) PetscCall(MatTransposeMatMult(w->R, w->D, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &R));
  else PetscCall(MatMatMult(w->R, w->D, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &R));
  PetscCall(MatNorm(R, NORM_FROBENIUS, &scale));
  PetscCall(MatAXPY(R, -1, w->out, SAME_NONZERO_PATTERN));
  PetscCall(MatNorm(R, NORM_FROBENIUS, &norm));
  TestDiffAdd(d, "the product is wrong", norm / scale);
  PetscCall(MatDestroy(&R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode JudgeDense(TestDiff *d, Work *w)
{
  return JudgeProduct(d, w, PETSC_FALSE);
}

static PetscErrorCode JudgeDenseTranspose(TestDiff *d, Work *w)
{
  return JudgeProduct(d, w, PETSC_TRUE);
}

static PetscErrorCode CallSampled(Work *w)
{
  return MatSDDMM(w->A, w->D, w->E, PETSC_FALSE, MAT_INITIAL_MATRIX, &w->out);
}

static PetscErrorCode DiffSampled(TestDiff *d, Work *w, Mat sampled)
{
  Mat O;

  PetscFunctionBeginUser;
  PetscCall(MatSDDMM(w->R, w->D, w->E, PETSC_FALSE, MAT_INITIAL_MATRIX, &O));
  PetscCall(TestDiffMat(d, sampled, O));
  PetscCall(MatDestroy(&O));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode JudgeSampled(TestDiff *d, Work *w)
{
  return DiffSampled(d, w, w->out);
}

/* A result of 5 columns, made again for 40 */
static PetscErrorCode PrepareSampledAgain(Work *w)
{
  PetscFunctionBeginUser;
  PetscCall(PrepareDense(w));
  PetscCall(MatSDDMM(w->A, w->D, w->E, PETSC_FALSE, MAT_INITIAL_MATRIX, &w->again));
  PetscCall(TestDestroy(&w->D, &w->E));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, blocks.N, 40, NULL, &w->D));
  PetscCall(MatSetRandom(w->D, NULL));
  PetscCall(MatDuplicate(w->D, MAT_COPY_VALUES, &w->E));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CallSampledAgain(Work *w)
{
  return MatSDDMM(w->A, w->D, w->E, PETSC_FALSE, MAT_REUSE_MATRIX, &w->again);
}

static PetscErrorCode JudgeSampledAgain(TestDiff *d, Work *w)
{
  return DiffSampled(d, w, w->again);
}

/* ------------------------------------------------- sparse products ------------------------------------------------- */

static PetscErrorCode CallSquare(Work *w)
{
  return MatMatMult(w->A, w->A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &w->out);
}

static PetscErrorCode JudgeSquare(TestDiff *d, Work *w)
{
  Mat C;

  PetscFunctionBeginUser;
  PetscCall(MatMatMult(w->R, w->R, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(JudgeAgainst(d, w, C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CallTriple(Work *w)
{
  return MatPtAP(w->A, w->A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &w->out);
}

static PetscErrorCode JudgeTriple(TestDiff *d, Work *w)
{
  Mat C;

  PetscFunctionBeginUser;
  PetscCall(MatPtAP(w->R, w->R, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(JudgeAgainst(d, w, C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- graphs ------------------------------------------------- */

static PetscErrorCode CallPrune(Work *w)
{
  return MatPruneRows(w->A, 0.1, 2, &w->out);
}

static PetscErrorCode CallMask(Work *w)
{
  return MatMaskEntries(w->A, w->R, PETSC_FALSE, &w->out);
}

static PetscErrorCode CallOrient(Work *w)
{
  return MatGraphOrient(w->A, w->x, &w->out);
}

static PetscErrorCode CallTranspose(Work *w)
{
  return MatGraphTranspose(w->A, &w->out);
}

/* Rows and columns in reverse */
static PetscErrorCode Reverse(Mat A, IS *is)
{
  PetscInt M, begin, end;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &M, NULL));
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  PetscCall(ISCreateStride(PetscObjectComm((PetscObject)A), end - begin, M - 1 - begin, -1, is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CallPermute(Work *w)
{
  IS is;

  PetscFunctionBeginUser;
  PetscCall(Reverse(w->A, &is));
  PetscCall(MatGraphPermute(w->A, is, is, &w->out));
  PetscCall(ISDestroy(&is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode JudgePermute(TestDiff *d, Work *w)
{
  Mat B;
  IS  is;

  PetscFunctionBeginUser;
  PetscCall(Reverse(w->R, &is));
  PetscCall(MatCreateSubMatrix(w->R, is, is, MAT_INITIAL_MATRIX, &B));
  PetscCall(ISDestroy(&is));
  PetscCall(JudgeAgainst(d, w, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode JudgeTranspose(TestDiff *d, Work *w)
{
  Mat T;

  PetscFunctionBeginUser;
  PetscCall(MatTranspose(w->R, MAT_INITIAL_MATRIX, &T));
  PetscCall(JudgeAgainst(d, w, T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode JudgePrune(TestDiff *d, Work *w)
{
  Mat P;

  PetscFunctionBeginUser;
  PetscCall(MatPruneRows(w->R, 0.1, 2, &P));
  PetscCall(JudgeAgainst(d, w, P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode JudgeOrient(TestDiff *d, Work *w)
{
  Mat P;

  PetscFunctionBeginUser;
  PetscCall(MatGraphOrient(w->R, w->x, &P));
  PetscCall(JudgeAgainst(d, w, P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CallMaskSum(Work *w)
{
  return MatMatMultMaskSum(w->A, w->A, w->A, &w->sum);
}

static PetscErrorCode JudgeMaskSum(TestDiff *d, Work *w)
{
  PetscLogDouble sum;

  PetscFunctionBeginUser;
  PetscCall(MatMatMultMaskSum(w->R, w->R, w->R, &sum));
  TestExpect(d, "another sum under a mask", (PetscBool)(w->sum == sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CallTriangles(Work *w)
{
  return MatCountTriangles(w->A, w->count);
}

static PetscErrorCode JudgeTriangles(TestDiff *d, Work *w)
{
  PetscInt64 count;

  PetscFunctionBeginUser;
  PetscCall(MatCountTriangles(w->R, &count));
  TestExpect(d, "another number of triangles", (PetscBool)(w->count[0] == count && count > 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const PetscInt sources[] = {3, 0, 140};

static PetscErrorCode CallBreadthFirst(Work *w)
{
  return MatBreadthFirst(w->A, 3, sources, NULL, &w->count[0], &w->count[1]);
}

static PetscErrorCode JudgeBreadthFirst(TestDiff *d, Work *w)
{
  PetscInt64 count[2];

  PetscFunctionBeginUser;
  PetscCall(MatBreadthFirst(w->R, 3, sources, NULL, &count[0], &count[1]));
  TestExpect(d, "a search reaches others", (PetscBool)(w->count[0] == count[0] && w->count[1] == count[1] && count[0] > 3));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One iteration, all rows at once */
static PetscErrorCode Cluster(Mat A, Mat *M)
{
  PetscInt  iterations;
  PetscReal chaos;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, M));
  PetscCall(MatPowEntries(*M, 2));
  PetscCall(MatMarkovCluster(M, 2, 1e-3, 20, 1e9, 1e-5, 1, NULL, NULL, &iterations, &chaos));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CallCluster(Work *w)
{
  return Cluster(w->A, &w->out);
}

static PetscErrorCode JudgeCluster(TestDiff *d, Work *w)
{
  Mat M;

  PetscFunctionBeginUser;
  PetscCall(Cluster(w->R, &M));
  PetscCall(JudgeAgainst(d, w, M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CallShift(Work *w)
{
  PetscReal change;

  return VecShiftToSum(w->x, NULL, (PetscReal)blocks.N, 1, NULL, &change);
}

static PetscErrorCode JudgeShift(TestDiff *d, Work *w)
{
  PetscScalar sum;

  PetscFunctionBeginUser;
  PetscCall(VecSum(w->x, &sum));
  TestDiffAdd(d, "another sum of a vector", PetscAbsScalar(sum - 1) / 100);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The vector is on the GPU, if there is one */
static PetscErrorCode PrepareTop(Work *w)
{
  PetscFunctionBeginUser;
  PetscCall(PreparePair(w));
  PetscCall(VecScale(w->x, 2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CallTop(Work *w)
{
  PetscInt  n, index[5];
  PetscReal value[5];

  PetscFunctionBeginUser;
  PetscCall(VecGetTop(w->x, 5, &n, index, value));
  w->sum = n == 5 ? value[0] : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode JudgeTop(TestDiff *d, Work *w)
{
  PetscReal most;

  PetscFunctionBeginUser;
  PetscCall(VecMax(w->x, NULL, &most));
  TestExpect(d, "another greatest entry", (PetscBool)(w->sum == most));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows to three parts in turn, by their lengths */
static PetscErrorCode CallPartition(Work *w)
{
  MatPartitioning part;

  PetscFunctionBeginUser;
  PetscCall(MatPartitioningCreate(PETSC_COMM_WORLD, &part));
  PetscCall(MatPartitioningSetAdjacency(part, w->A));
  PetscCall(MatPartitioningSetType(part, MATPARTITIONINGBITONIC));
  PetscCall(MatPartitioningSetNParts(part, 3));
  PetscCall(MatPartitioningApply(part, &w->is));
  PetscCall(MatPartitioningDestroy(&part));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode JudgePartition(TestDiff *d, Work *w)
{
  const PetscInt *part;
  PetscInt        n, rows[3] = {0, 0, 0};

  PetscFunctionBeginUser;
  PetscCall(ISGetLocalSize(w->is, &n));
  PetscCall(ISGetIndices(w->is, &part));
  for (PetscInt k = 0; k < n; k++) rows[part[k]]++;
  PetscCall(ISRestoreIndices(w->is, &part));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, rows, 3, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  TestExpect(d, "parts of other sizes", (PetscBool)(rows[0] == blocks.M / 3 && rows[1] == rows[0] && rows[2] == rows[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- batches ------------------------------------------------- */

/* Two matrices; the sums of their rows */
static const PetscScalar rowsums[] = {1, 2, 7, 5, 6};

static PetscErrorCode BatchMake(Work *w)
{
  const PetscInt    rows[] = {3, 2}, cols[] = {2, 3}, counts[] = {4, 2}, i[] = {0, 1, 2, 2, 1, 0}, j[] = {0, 1, 1, 0, 2, 0};
  const PetscScalar a[] = {1, 2, 3, 4, 6, 5};

  PetscFunctionBeginUser;
  PetscCall(MatBatchCreateCOO(PETSC_COMM_SELF, 2, rows, cols, counts, i, j, a, &w->batch));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Ones(PetscInt n, Vec *v)
{
  PetscFunctionBeginUser;
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, n, v));
  PetscCall(VecSet(*v, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The result of a product with ones: so many times the sum of the row, in each of the width numbers of a row */
static PetscErrorCode JudgeSums(TestDiff *d, Vec y, PetscInt width, PetscScalar times)
{
  const PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(VecGetArrayRead(y, &a));
  for (PetscInt k = 0; k < 5 * width; k++) TestExpect(d, "another sum of a row", (PetscBool)(a[k] == times * rowsums[k / width]));
  PetscCall(VecRestoreArrayRead(y, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CallBatch(Work *w)
{
  PetscFunctionBeginUser;
  PetscCall(BatchMake(w));
  for (int k = 0; k < 3; k++) PetscCall(Ones(10, &w->v[k]));
  PetscCall(MatBatchMult(w->batch, 2, w->v[0], w->v[1]));
  PetscCall(MatBatchMultTranspose(w->batch, 2, w->v[1], w->v[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode JudgeBatch(TestDiff *d, Work *w)
{
  return JudgeSums(d, w->v[1], 2, 1);
}

/* The matrix twice */
static PetscErrorCode CallBatchMats(Work *w)
{
  Mat mats[2] = {w->A, w->A};

  PetscFunctionBeginUser;
  PetscCall(MatBatchCreateFromMats(2, mats, &w->batch));
  for (int k = 0; k < 2; k++) PetscCall(Ones(2 * blocks.M, &w->v[k]));
  PetscCall(MatBatchMult(w->batch, 1, w->v[0], w->v[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode JudgeBatchMats(TestDiff *d, Work *w)
{
  const PetscScalar *a, *sum;

  PetscFunctionBeginUser;
  PetscCall(VecSet(w->x, 1));
  PetscCall(MatMult(w->R, w->x, w->y));
  PetscCall(VecGetArrayRead(w->y, &sum));
  PetscCall(VecGetArrayRead(w->v[1], &a));
  for (PetscInt k = 0; k < 2 * blocks.M; k++) TestDiffAdd(d, "a sum of a row", PetscAbsScalar(a[k] - sum[k % blocks.M]) / 10);
  PetscCall(VecRestoreArrayRead(w->v[1], &a));
  PetscCall(VecRestoreArrayRead(w->y, &sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A layer from two features to three, all of whose numbers are 1 */
static PetscErrorCode CallLayer(Work *w)
{
  const PetscInt sizes[] = {10, 6, 3, 15, 10, 6, 3}; /* X, W, bias, Y and the derivatives */

  PetscFunctionBeginUser;
  PetscCall(BatchMake(w));
  PetscCall(GraphConvCreate(1, &w->batch, 2, 3, &w->layer));
  for (int k = 0; k < 7; k++) PetscCall(Ones(sizes[k], &w->v[k]));
  PetscCall(GraphConvForward(w->layer, w->v[0], w->v[1], w->v[2], w->v[3]));
  PetscCall(GraphConvBackward(w->layer, w->v[0], w->v[1], w->v[3], w->v[4], w->v[5], w->v[6]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode JudgeLayer(TestDiff *d, Work *w)
{
  return JudgeSums(d, w->v[3], 3, 3);
}

/* ------------------------------------------------- readers ------------------------------------------------- */

static PetscErrorCode PrepareReader(Work *w)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &w->A));
  PetscCall(MatSetFromOptions(w->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CallMarket(Work *w)
{
  return MatLoadMatrixMarket(w->A, marketfile);
}

static PetscErrorCode CallEdges(Work *w)
{
  return MatLoadEdgeList(w->A, edgefile, &w->ids);
}

static PetscErrorCode JudgeReader(TestDiff *d, Work *w)
{
  MatInfo info;

  PetscFunctionBeginUser;
  PetscCall(MatGetInfo(w->A, MAT_GLOBAL_SUM, &info));
  TestExpect(d, "another number of entries", (PetscBool)(info.nz_used == 40));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- solvers ------------------------------------------------- */

static PetscErrorCode PrepareSolver(Work *w, KSPType type)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&grid, &w->A, &w->R));
  PetscCall(MatShift(w->A, 20));
  PetscCall(MatCreateVecs(w->A, &w->x, &w->y));
  PetscCall(TestVecSet(w->x, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &w->ksp));
  PetscCall(KSPSetType(w->ksp, type));
  PetscCall(KSPGetPC(w->ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPSetOperators(w->ksp, w->A, w->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PrepareCG(Work *w)
{
  return PrepareSolver(w, KSPAMBCG);
}

static PetscErrorCode PrepareBCGS(Work *w)
{
  return PrepareSolver(w, KSPAMBBCGS);
}

static PetscErrorCode PrepareGMRES(Work *w)
{
  return PrepareSolver(w, KSPAMBGMRES);
}

static PetscErrorCode PrepareChebyshev(Work *w)
{
  PetscFunctionBeginUser;
  PetscCall(PrepareSolver(w, KSPAMBCHEBYSHEV));
  PetscCall(KSPChebyshevSetEigenvalues(w->ksp, 1.5, 0.5));
  PetscCall(KSPSetNormType(w->ksp, KSP_NORM_NONE));
  PetscCall(KSPSetTolerances(w->ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 8));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The preconditioner of a set-up that failed is of no use any more */
static PetscErrorCode CallPC(Work *w, PCType type)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPDestroy(&w->ksp));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &w->ksp));
  PetscCall(KSPSetType(w->ksp, KSPCG));
  PetscCall(KSPGetPC(w->ksp, &pc));
  PetscCall(PCSetType(pc, type));
  PetscCall(KSPSetOperators(w->ksp, w->A, w->A));
  PetscCall(PCGAMGSetCoarseEqLim(pc, 20));
  PetscCall(PCGAMGSetProcEqLim(pc, 1)); /* levels stay on all processes */
  PetscCall(KSPSolve(w->ksp, w->x, w->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CallInverse(Work *w)
{
  return CallPC(w, PCAMBINVERSE);
}

static PetscErrorCode CallGAMG(Work *w)
{
  return CallPC(w, PCGAMG);
}

static PetscErrorCode CallSolve(Work *w)
{
  return KSPSolve(w->ksp, w->x, w->y);
}

static PetscErrorCode JudgeSolve(TestDiff *d, Work *w)
{
  Vec       r;
  PetscReal norm, scale;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(w->x, &r));
  PetscCall(MatMult(w->A, w->y, r));
  PetscCall(VecAXPY(r, -1, w->x));
  PetscCall(VecNorm(r, NORM_2, &norm));
  PetscCall(VecNorm(w->x, NORM_2, &scale));
  TestExpect(d, "not solved", (PetscBool)(norm < 1e-2 * scale));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const Operation operations[] = {
  {"conversion",                   PreparePair,         CallMult,           JudgePair,           0         },
  {"transposed product",           PreparePair,         CallMultTranspose,  JudgePair,           0         },
  {"conversion without a product", PreparePair,         CallSetUp,          JudgePair,           0         },
  {"new values",                   PrepareChanged,      CallMult,           JudgePair,           0         },
  {"new values, transposed",       PrepareChanged,      CallMultTranspose,  JudgePair,           0         },
  {"trials",                       PrepareTrials,       CallTrials,         JudgePair,           0         },
  {"trials beside the solver",     PrepareOnline,       CallTrials,         JudgePair,           0         },
  {"MatConvert()",                 PreparePair,         CallConvert,        JudgeOut,            0         },
  {"MatDuplicate()",               PreparePair,         CallDuplicate,      JudgeOut,            0         },
  {"A D",                          PrepareDense,        CallDense,          JudgeDense,          0         },
  {"A' D",                         PrepareDense,        CallDenseTranspose, JudgeDenseTranspose, 0         },
  {"MatSDDMM()",                   PrepareDense,        CallSampled,        JudgeSampled,        REAL      },
  {"MatSDDMM() again",             PrepareSampledAgain, CallSampledAgain,   JudgeSampledAgain,   REAL      },
  {"A A",                          PreparePair,         CallSquare,         JudgeSquare,         ONE       },
  {"A' A A",                       PreparePair,         CallTriple,         JudgeTriple,         ONE       },
  {"MatPruneRows()",               PreparePair,         CallPrune,          JudgePrune,          0         },
  {"MatMaskEntries()",             PreparePair,         CallMask,           JudgeOut,            0         },
  {"MatGraphOrient()",             PreparePair,         CallOrient,         JudgeOrient,         0         },
  {"MatGraphTranspose()",          PreparePair,         CallTranspose,      JudgeTranspose,      0         },
  {"MatGraphPermute()",            PreparePair,         CallPermute,        JudgePermute,        0         },
  {"MatMatMultMaskSum()",          PreparePair,         CallMaskSum,        JudgeMaskSum,        REAL      },
  {"MatCountTriangles()",          PreparePair,         CallTriangles,      JudgeTriangles,      REAL      },
  {"MatBreadthFirst()",            PreparePair,         CallBreadthFirst,   JudgeBreadthFirst,   0         },
  {"MatMarkovCluster()",           PreparePair,         CallCluster,        JudgeCluster,        REAL | ONE},
  {"VecShiftToSum()",              PreparePair,         CallShift,          JudgeShift,          0         },
  {"VecGetTop()",                  PrepareTop,          CallTop,            JudgeTop,            0         },
  {"MatPartitioning",              PreparePair,         CallPartition,      JudgePartition,      0         },
  {"MatBatch",                     PreparePair,         CallBatch,          JudgeBatch,          REAL | ONE},
  {"MatBatch of matrices",         PreparePair,         CallBatchMats,      JudgeBatchMats,      REAL | ONE},
  {"GraphConv",                    PreparePair,         CallLayer,          JudgeLayer,          REAL | ONE},
  {"MatLoadMatrixMarket()",        PrepareReader,       CallMarket,         JudgeReader,         0         },
  {"MatLoadEdgeList()",            PrepareReader,       CallEdges,          JudgeReader,         0         },
  {"ambcg",                        PrepareCG,           CallSolve,          JudgeSolve,          0         },
  {"ambbcgs",                      PrepareBCGS,         CallSolve,          JudgeSolve,          0         },
  {"ambgmres",                     PrepareGMRES,        CallSolve,          JudgeSolve,          0         },
  {"ambchebyshev",                 PrepareChebyshev,    CallSolve,          JudgeSolve,          0         },
  {"ambinverse",                   PrepareCG,           CallInverse,        JudgeSolve,          ONE       },
  {"PCGAMG",                       PrepareCG,           CallGAMG,           JudgeSolve,          NAMED     }
};

/* ------------------------------------------------- faults ------------------------------------------------- */

static PetscErrorCode Clear(Work *w)
{
  PetscFunctionBeginUser;
  PetscCall(MatDestroy(&w->out));
  PetscCall(GraphConvDestroy(&w->layer));
  PetscCall(MatBatchDestroy(&w->batch));
  PetscCall(ISDestroy(&w->is));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(w->v); k++) PetscCall(VecDestroy(&w->v[k]));
  PetscCall(PetscFree(w->ids));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(Work *w)
{
  PetscFunctionBeginUser;
  PetscCall(Clear(w));
  PetscCall(TestDestroy(&w->A, &w->R, &w->D, &w->E, &w->again, &w->x, &w->y, &w->ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The library's calls of PetscMalloc() count too: -faults_petsc. The allocations that PETSc makes for itself do not: its objects are of no use after such an error. */
static PetscBool petscs = PETSC_FALSE;
static Fault     kind   = FAULT_HOST;
static PetscErrorCode (*allocate)(size_t, PetscBool, int, const char[], const char[], void **);

static PetscErrorCode FaultPetscMalloc(size_t size, PetscBool clear, int line, const char function[], const char file[], void **p)
{
  if (strncmp(file, "src/", 4) || !FaultNow(FAULT_HOST)) return (*allocate)(size, clear, line, function, file, p);
  *p = NULL;
  return PetscError(PETSC_COMM_SELF, line, function, file, PETSC_ERR_MEM, PETSC_ERROR_INITIAL, "memory is short");
}

/* The operation with a fault on the last process: *allocations are those of this process, *raised is its error */
static PetscErrorCode Fail(TestDiff *d, const Operation *o, int failing, int *allocations, PetscErrorCode *raised)
{
  Work        w;
  PetscMPIInt rank, size;
  int         codes[2];

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscMemzero(&w, sizeof(w)));
  PetscCall((*o->prepare)(&w));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  allocate = PetscTrMalloc;
  if (petscs) PetscTrMalloc = FaultPetscMalloc;
  if (rank == size - 1) FaultBegin(kind, failing);
  *raised       = (*o->call)(&w);
  *allocations  = rank == size - 1 ? FaultEnd(failing) : 0;
  PetscTrMalloc = allocate;
  PetscCall(PetscPopErrorHandler());
  PetscCallMPI(MPI_Bcast(allocations, 1, MPI_INT, size - 1, PETSC_COMM_WORLD));
  codes[0] = (int)*raised;
  codes[1] = -(int)*raised;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, codes, 2, MPI_INT, MPI_MAX, PETSC_COMM_WORLD));
  TestExpect(d, "not all processes have the same error", (PetscBool)(codes[0] == -codes[1]));
  if (!*raised) PetscCall((*o->judge)(d, &w));
  else if (codes[0] == -codes[1] && kind != FAULT_LOST) { /* the same call once more */
    if (w.x) {
      PetscCall(VecDestroy(&w.x)); /* PETSc leaves the vectors of a product that failed locked */
      PetscCall(VecDestroy(&w.y));
      PetscCall(MatCreateVecs(w.A, &w.x, &w.y));
      PetscCall(TestVecSet(w.x, 1));
    }
#if !defined(VecLockReadPush) /* and those of a solver, in new versions also without debugging */
    if (w.ksp && petscs) {
      PetscCall(KSPReset(w.ksp));
      PetscCall(KSPSetOperators(w.ksp, w.A, w.A));
    }
#endif
    PetscCall(Clear(&w));
    PetscCall((*o->call)(&w));
    PetscCall((*o->judge)(d, &w));
  }
  PetscCall(Destroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run(TestDiff *d, const Operation *o)
{
  PetscErrorCode raised;
  PetscBool      loud = PETSC_FALSE, amb = PETSC_FALSE;
  char           type[64] = "";
  int            allocations, unused, failures = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-faults_talk", &loud, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mat_type", type, sizeof(type), NULL));
  PetscCall(PetscStrcmp(type, MATAMB, &amb)); /* other types may decline the matrix */
  PetscCall(Fail(d, o, FAULT_NONE, &allocations, &raised));
  TestExpect(d, "an error although no allocation failed", (PetscBool)(raised == 0));
  TestExpect(d, "nothing was allocated", (PetscBool)(!petscs || o->prepare != PrepareReader || allocations > 0));
  TestExpect(d, "nothing was tried", (PetscBool)(o->call != CallTrials || laidout || !amb));
  TestExpect(d, "the GPU was not called", (PetscBool)(kind == FAULT_HOST || o != operations || allocations > 0));
  for (int k = 1; k <= allocations; k++) {
    PetscCall(Fail(d, o, k, &unused, &raised));
    if (petscs && raised == 1) raised = PETSC_ERR_MEM; /* what PetscHeaderCreate() of PETSc 3.18 makes of any error */
    TestExpect(d, kind == FAULT_LOST ? "another error than PETSC_ERR_GPU" : "another error than PETSC_ERR_MEM", FaultError(kind, raised));
    if (loud && raised && raised != PETSC_ERR_MEM) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "allocation %d: error %d\n", k, (int)raised));
    failures += raised != 0;
  }
  if (loud) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %d allocations, %d of them raise an error\n", o->name, allocations, failures));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WriteFiles(void)
{
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(TestTemporaryFile(marketfile, sizeof(marketfile)));
  PetscCall(TestTemporaryFile(edgefile, sizeof(edgefile)));
  if (!rank) {
    FILE *f = fopen(marketfile, "w"), *g = fopen(edgefile, "w");

    PetscCheck(f && g, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot write %s", marketfile);
    fprintf(f, "%%%%MatrixMarket matrix coordinate real general\n30 30 40\n");
    for (int k = 0; k < 40; k++) {
      fprintf(f, "%d %d %g\n", 1 + k * 7 % 30, 1 + k * 11 / 3 % 30, 1 + .1 * k);
      fprintf(g, "%d %d %g\n", k, (k + 1 + k / 20) % 40, 1 + .1 * k);
    }
    (void)fclose(f);
    (void)fclose(g);
  }
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char        only[64];
  PetscBool   set;
  PetscMPIInt size;

  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-test_only", only, sizeof(only), &set));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-faults_petsc", &petscs, NULL));
  PetscCall(FaultFromOptions(&kind));
  PetscCall(WriteFiles());
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(operations); k++) {
    const Operation *o = &operations[k];
    TestDiff         d = {NULL, 0};

    if (set ? strcmp(only, o->name) != 0 : (o->limits & NAMED) != 0) continue;
    if ((!PetscDefined(USE_COMPLEX) || !(o->limits & REAL)) && (size == 1 || !(o->limits & ONE))) {
      if (Run(&d, o)) TestDiffAdd(&d, "PETSc raised an error, see above", PETSC_MAX_REAL);
    }
    PetscCall(TestReport(o->name, &d));
  }
  PetscCall(TestRemoveFile(marketfile));
  PetscCall(TestRemoveFile(edgefile));
  return TestFinalize();
}

/*TEST

  testset:
    env: OMP_NUM_THREADS=2
    args: -options_left no
    checks: 37
    test:
      suffix: petsc
      requires: !cuda
      comments: with a GPU, PETSc leaves a vector locked when its own allocation fails
      args: -mat_type {{@types}} @types(-mat_%s_device cpu) -mat_shadow_tune off -faults_petsc
    test:
      suffix: two
      nsize: 2
      args: -mat_type {{@types}} @types(-mat_%s_device cpu) -mat_shadow_tune off
    test:
      suffix: gpu
      requires: cuda
      timeoutfactor: 4
      args: -mat_type {{@types}} -mat_shadow_tune off -faults_device {{memory lost}}
    test:
      suffix: search_two
      requires: cuda
      nsize: 2
      args: -mat_type amb -mat_shadow_tune off -faults_device {{memory lost}} -test_only 'MatBreadthFirst()'
      checks: 1
    test:
      suffix: multigrid
      nsize: {{1 2}}
      args: -mat_type amb -mat_amb_device cpu -mat_shadow_tune off -petscamb_for_gamg all -test_only PCGAMG
      checks: 1

TEST*/
