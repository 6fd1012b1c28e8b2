/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "MatPageRank(), MatHITS() and MatRandomWalkWithRestart() against plain loops over a dense matrix, in double precision: dangling vertices restarted, removed\n\
and untreated, each order, known graphs, no edge and no vertex, shells and dense matrices, monitors, reasons, and errors that lose nothing.\n\n";

#include <math.h>
#include "../testutil.h"

#define N     40
#define SEEDS 4
#define TOL   (PetscDefined(USE_REAL_SINGLE) ? 1e-4 : 1e-9)

typedef enum {
  GRAPH_RANDOM, /* weights from 0 to 3, a hub, every fifth vertex without edges, a chain at the end, loops */
  GRAPH_CYCLE,
  GRAPH_STAR, /* all others have an edge to vertex 0, which has none */
  GRAPH_NONE  /* no edge */
} Kind;

/* The weight of the edge from i to j; negative: no entry */
static double Weight(Kind kind, PetscInt i, PetscInt j)
{
  const unsigned h = ((unsigned)i * 2654435761u) ^ ((unsigned)j * 40503u + 77u) * 2246822519u;

  if (kind == GRAPH_CYCLE) return j == (i + 1) % N ? 2 : -1;
  if (kind == GRAPH_STAR) return i && !j ? 1 : -1;
  if (kind == GRAPH_NONE || i % 5 == 3) return -1;
  if (i > N - 8) return j == i + 1 ? 1.5 : -1;
  return i == 0 || (h >> 13) % 6 == 0 ? (double)((h >> 20) % 4) : -1;
}

static PetscErrorCode Create(Kind kind, PetscInt n, PetscReal corner, Mat *A)
{
  PetscInt first, last;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, n, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, n, NULL, n, NULL));
  PetscCall(MatGetOwnershipRange(*A, &first, &last));
  for (PetscInt i = first; i < last; i++) {
    for (PetscInt j = 0; j < n; j++) {
      if (Weight(kind, i, j) >= 0) PetscCall(MatSetValue(*A, i, j, Weight(kind, i, j), INSERT_VALUES));
    }
    if (corner != 0 && i == n - 1) PetscCall(MatSetValue(*A, i, 0, corner, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The fixed point of x = c P x + what is lost, which returns to the seed, or to all vertices that stay if the seed is -1 */
static void Reference(Kind kind, MatGraphDangling dangling, double c, PetscInt seed, double x[])
{
  double    keep[N], out[N], restart[N], z[N], stay = 0;
  PetscBool more = PETSC_TRUE;

  for (PetscInt i = 0; i < N; i++) keep[i] = 1;
  while (more) {
    more = PETSC_FALSE;
    for (PetscInt i = 0; i < N; i++) {
      out[i] = 0;
      for (PetscInt j = 0; j < N; j++) out[i] += PetscMax(Weight(kind, i, j), 0) * keep[j];
      if (dangling != MAT_GRAPH_DANGLING_REMOVE || out[i] > 0 || keep[i] == 0) continue;
      keep[i] = 0;
      more    = PETSC_TRUE;
    }
  }
  for (PetscInt i = 0; i < N; i++) stay += keep[i];
  for (PetscInt i = 0; i < N; i++) restart[i] = seed >= 0 ? i == seed : stay > 0 ? keep[i] / stay : 0;
  for (PetscInt i = 0; i < N; i++) x[i] = restart[i];
  for (int step = 0; step < 160; step++) {
    double back = dangling == MAT_GRAPH_DANGLING_NONE ? 1 - c : 1;

    for (PetscInt j = 0; j < N; j++) {
      z[j] = 0;
      for (PetscInt i = 0; i < N; i++) z[j] += out[i] > 0 && keep[i] > 0 ? c * x[i] * keep[j] * PetscMax(Weight(kind, i, j), 0) / out[i] : 0;
      if (dangling != MAT_GRAPH_DANGLING_NONE) back -= z[j];
    }
    for (PetscInt j = 0; j < N; j++) x[j] = z[j] + back * restart[j];
  }
}

/* Adds the largest difference between a vector and numbers */
static PetscErrorCode Compare(TestDiff *d, const char what[], Vec x, const double want[])
{
  const PetscScalar *a;
  PetscInt           first, last;
  PetscReal          worst = 0;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(x, &first, &last));
  PetscCall(VecGetArrayRead(x, &a));
  for (PetscInt i = first; i < last; i++) worst = PetscMax(worst, PetscAbsScalar(a[i - first] - (PetscScalar)want[i]));
  PetscCall(VecRestoreArrayRead(x, &a));
  TestExpect(d, what, (PetscBool)(worst <= TOL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A shell with the products of a matrix */
static PetscErrorCode ShellMult(Mat S, Vec x, Vec y)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(S, &A));
  PetscCall(MatMult(A, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ShellMultTranspose(Mat S, Vec x, Vec y)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(S, &A));
  PetscCall(MatMultTranspose(A, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ShellFail(Mat S, Vec x, Vec y)
{
  SETERRQ(PetscObjectComm((PetscObject)S), PETSC_ERR_USER, "the product fails");
}

static PetscErrorCode CreateShell(Mat A, PetscBool transpose, Mat *S)
{
  PetscInt m;
  VecType  type;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &m, NULL));
  PetscCall(MatCreateShell(PETSC_COMM_WORLD, m, m, PETSC_DETERMINE, PETSC_DETERMINE, A, S));
  PetscCall(MatGetVecType(A, &type));
  PetscCall(MatShellSetVecType(*S, type));
  PetscCall(MatShellSetOperation(*S, MATOP_MULT, (void (*)(void))ShellMult));
  if (transpose) PetscCall(MatShellSetOperation(*S, MATOP_MULT_TRANSPOSE, (void (*)(void))ShellMultTranspose));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PageRank and walks on A, with each treatment of dangling vertices */
static PetscErrorCode Walks(TestDiff *d, Mat A, Kind kind, MatGraphOrder order)
{
  const PetscInt    seeds[SEEDS] = {0, 3, N - 1, 0}; /* 3 and N - 1 have no edge in a random graph */
  double            want[N];
  Vec               x;
  Mat               walks;
  MatGraphIteration it;

  PetscFunctionBeginUser;
  PetscCall(MatGraphIterationInitialize(&it));
  it.order = order;
  if (PetscDefined(USE_REAL_SINGLE)) it.tol = 1e-5; /* sums of equal numbers round by 4e-6 back and forth */
  PetscCall(MatCreateVecs(A, NULL, &x));
  for (int dangling = MAT_GRAPH_DANGLING_RESTART; dangling <= MAT_GRAPH_DANGLING_NONE; dangling++) {
    it.dangling = (MatGraphDangling)dangling;
    it.damping  = 0.85;
    PetscCall(VecSet(x, -7.0));
    PetscCall(MatPageRank(A, &it, x));
    Reference(kind, it.dangling, 0.85, -1, want);
    PetscCall(Compare(d, "PageRank", x, want));
    TestExpect(d, "PageRank converges", (PetscBool)(it.reason == MAT_GRAPH_CONVERGED_TOL));
    it.damping = 0.6;
    PetscCall(MatRandomWalkWithRestart(A, SEEDS, seeds, &it, &walks));
    TestExpect(d, "walks converge", (PetscBool)(it.reason == MAT_GRAPH_CONVERGED_TOL && it.its > 0 && it.change < it.tol));
    for (PetscInt s = 0; s < SEEDS; s++) {
      Vec column;

      Reference(kind, it.dangling, 0.6, seeds[s], want);
      PetscCall(MatDenseGetColumnVecRead(walks, s, &column));
      PetscCall(Compare(d, "a walk with restart", column, want));
      PetscCall(MatDenseRestoreColumnVecRead(walks, s, &column));
    }
    PetscCall(MatDestroy(&walks));
  }
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Hubs and authorities on A */
static PetscErrorCode Hubs(TestDiff *d, Mat A, Kind kind, MatGraphOrder order)
{
  double            a[N], h[N];
  Vec               authorities, hubs;
  MatGraphIteration it;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < N; i++) h[i] = kind == GRAPH_NONE ? 0 : 1.0 / N;
  for (int step = 0; step < 500; step++) {
    double sum = 0;

    for (PetscInt j = 0; j < N; j++) {
      a[j] = 0;
      for (PetscInt i = 0; i < N; i++) a[j] += PetscMax(Weight(kind, i, j), 0) * h[i];
    }
    for (PetscInt i = 0; i < N; i++) {
      h[i] = 0;
      for (PetscInt j = 0; j < N; j++) h[i] += PetscMax(Weight(kind, i, j), 0) * a[j];
      sum += h[i];
    }
    for (PetscInt i = 0; i < N && sum > 0; i++) h[i] /= sum;
    sum = 0;
    for (PetscInt i = 0; i < N; i++) sum += a[i];
    for (PetscInt i = 0; i < N && sum > 0; i++) a[i] /= sum;
  }
  PetscCall(MatGraphIterationInitialize(&it));
  it.order = order;
  if (!PetscDefined(USE_REAL_SINGLE)) it.tol = 1e-12;
  PetscCall(MatCreateVecs(A, &authorities, &hubs));
  PetscCall(MatHITS(A, &it, authorities, hubs));
  PetscCall(Compare(d, "authorities", authorities, a));
  PetscCall(Compare(d, "hubs", hubs, h));
  TestExpect(d, "HITS converges", (PetscBool)(it.reason == MAT_GRAPH_CONVERGED_TOL && it.its > 0));
  PetscCall(VecDestroy(&authorities));
  PetscCall(VecDestroy(&hubs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Graphs(TestDiff *d, MatGraphOrder order)
{
  PetscFunctionBeginUser;
  for (int kind = GRAPH_RANDOM; kind <= GRAPH_NONE; kind++) {
    Mat A;

    PetscCall(Create((Kind)kind, N, 0, &A));
    PetscCall(Walks(d, A, (Kind)kind, order));
    PetscCall(Hubs(d, A, (Kind)kind, order));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestNatural(TestDiff *d)
{
  PetscFunctionBeginUser;
  PetscCall(Graphs(d, MAT_GRAPH_ORDER_NATURAL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestOrders(TestDiff *d)
{
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(Graphs(d, MAT_GRAPH_ORDER_BITONIC));
  if (size == 1) PetscCall(Graphs(d, MAT_GRAPH_ORDER_DEGREE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Types that only multiply */
static PetscErrorCode TestOthers(TestDiff *d)
{
  Mat      A, B;
  PetscInt first, last;

  PetscFunctionBeginUser;
  PetscCall(Create(GRAPH_RANDOM, N, 0, &A));
  PetscCall(CreateShell(A, PETSC_TRUE, &B));
  PetscCall(Walks(d, B, GRAPH_RANDOM, MAT_GRAPH_ORDER_NATURAL));
  PetscCall(Hubs(d, B, GRAPH_RANDOM, MAT_GRAPH_ORDER_NATURAL));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&A));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, N, N, NULL, &B));
  PetscCall(MatGetOwnershipRange(B, &first, &last));
  for (PetscInt i = first; i < last; i++) {
    for (PetscInt j = 0; j < N; j++) PetscCall(MatSetValue(B, i, j, PetscMax(Weight(GRAPH_RANDOM, i, j), 0), INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  PetscCall(Walks(d, B, GRAPH_RANDOM, MAT_GRAPH_ORDER_NATURAL));
  PetscCall(Hubs(d, B, GRAPH_RANDOM, MAT_GRAPH_ORDER_NATURAL));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A graph without vertices, and one with a vertex on the first or last process alone */
static PetscErrorCode TestSmall(TestDiff *d)
{
  const PetscInt    seed = 0;
  MatGraphIteration it;

  PetscFunctionBeginUser;
  PetscCall(MatGraphIterationInitialize(&it));
  for (PetscInt n = 0; n < 2; n++) {
    Mat       A, walks;
    Vec       x, y;
    PetscReal sum;

    PetscCall(Create(GRAPH_NONE, n, 0, &A));
    PetscCall(MatCreateVecs(A, &x, &y));
    PetscCall(MatPageRank(A, &it, x));
    PetscCall(VecNorm(x, NORM_1, &sum));
    TestExpect(d, "PageRank", (PetscBool)(sum == n && it.its == n && it.reason == MAT_GRAPH_CONVERGED_TOL));
    PetscCall(MatHITS(A, &it, x, y));
    PetscCall(VecNorm(x, NORM_1, &sum));
    TestExpect(d, "HITS", (PetscBool)(sum == 0 && it.its == n && it.reason == MAT_GRAPH_CONVERGED_TOL));
    if (n) {
      PetscCall(MatRandomWalkWithRestart(A, 1, &seed, &it, &walks));
      PetscCall(MatNorm(walks, NORM_FROBENIUS, &sum));
      TestExpect(d, "a walk", (PetscBool)(sum == 1));
      PetscCall(MatDestroy(&walks));
    } else TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "seed 0 is 0, and the matrix has 0 rows", MatRandomWalkWithRestart(A, 1, &seed, &it, &walks));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts the calls of a monitor, which fails at the call `fails` */
typedef struct {
  PetscInt  calls, fails;
  PetscReal last;
} Calls;

static PetscErrorCode Monitor(PetscInt iteration, PetscReal change, void *context)
{
  Calls *c = (Calls *)context;

  PetscFunctionBeginUser;
  if (iteration != c->calls || (!iteration && change != PETSC_MAX_REAL)) c->calls = -1000;
  PetscCheck(c->calls != c->fails, PETSC_COMM_WORLD, PETSC_ERR_USER, "the monitor fails");
  c->calls++;
  c->last = change;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestReasons(TestDiff *d)
{
  const PetscInt    seed  = 1;
  Calls             calls = {0, -1, 0};
  MatGraphIteration it;
  Mat               A, walks;
  Vec               x, y;

  PetscFunctionBeginUser;
  PetscCall(Create(GRAPH_RANDOM, N, 0, &A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(MatGraphIterationInitialize(&it));
  it.monitor = Monitor;
  it.context = &calls;
  PetscCall(MatPageRank(A, &it, x));
  TestExpect(d, "a monitor sees each iteration of PageRank", (PetscBool)(calls.calls == it.its + 1 && it.its > 3 && calls.last == it.change));
  calls.calls = 0;
  PetscCall(MatHITS(A, &it, x, y));
  TestExpect(d, "a monitor sees each iteration of HITS", (PetscBool)(calls.calls == it.its + 1 && it.its > 3 && calls.last == it.change));
  calls.calls = 0;
  PetscCall(MatRandomWalkWithRestart(A, 1, &seed, &it, &walks));
  TestExpect(d, "a monitor sees each iteration of a walk", (PetscBool)(calls.calls == it.its + 1 && it.its > 3 && calls.last == it.change));
  PetscCall(MatDestroy(&walks));
  it.monitor = NULL;
  it.max_it  = 3;
  PetscCall(MatPageRank(A, &it, x));
  TestExpect(d, "the limit is reached", (PetscBool)(it.its == 3 && it.reason == MAT_GRAPH_DIVERGED_ITS));
  it.tol = 0;
  PetscCall(MatHITS(A, &it, x, y));
  TestExpect(d, "all iterations were wanted", (PetscBool)(it.its == 3 && it.reason == MAT_GRAPH_CONVERGED_ITS));
  it.max_it = 0;
  PetscCall(MatPageRank(A, &it, x));
  TestExpect(d, "no iteration was wanted", (PetscBool)(it.its == 0 && it.reason == MAT_GRAPH_CONVERGED_ITS));
  PetscCall(MatDestroy(&A));
  PetscCall(Create(GRAPH_RANDOM, N, (PetscReal)INFINITY, &A));
  PetscCall(MatGraphIterationInitialize(&it));
  PetscCall(MatPageRank(A, &it, x));
  TestExpect(d, "an infinite weight of PageRank", (PetscBool)(it.its < 100 && it.reason == MAT_GRAPH_DIVERGED_NANORINF));
  PetscCall(MatRandomWalkWithRestart(A, 1, (const PetscInt[]){N - 1}, &it, &walks));
  TestExpect(d, "an infinite weight of a walk", (PetscBool)(it.its < 100 && it.reason == MAT_GRAPH_DIVERGED_NANORINF));
  PetscCall(MatDestroy(&walks));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestErrors(TestDiff *d)
{
  const PetscInt    seed = 1, far[2] = {0, N}, before = -1;
  Calls             calls = {0, 2, 0};
  MatGraphIteration it, good;
  Mat               A, B, shell, walks = NULL;
  Vec               x, y, z;
  PetscMPIInt       size;
  PetscReal         norm;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(Create(GRAPH_RANDOM, N, 0, &A));
  PetscCall(CreateShell(A, PETSC_FALSE, &shell));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecCreateMPI(PETSC_COMM_WORLD, PETSC_DECIDE, 2 * N, &z));
  PetscCall(VecSet(x, 3.0));
  PetscCall(MatGraphIterationInitialize(&good));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "seed 1 is 40, and the matrix has 40 rows", MatRandomWalkWithRestart(A, 2, far, NULL, &walks));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "seed 0 is -1", MatRandomWalkWithRestart(A, 1, &before, NULL, &walks));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "0 seeds were given", MatRandomWalkWithRestart(A, 0, NULL, NULL, &walks));
  it         = good;
  it.damping = 1;
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "the damping is 1", MatPageRank(A, &it, x));
  it     = good;
  it.tol = -1;
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "the tolerance is -1", MatHITS(A, &it, x, y));
  it       = good;
  it.order = (MatGraphOrder)7;
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "order is 7", MatPageRank(A, &it, x));
  it.order = MAT_GRAPH_ORDER_DEGREE;
  if (size > 1) TestExpectError(d, PETSC_ERR_SUP, "MAT_GRAPH_ORDER_BITONIC", MatPageRank(A, &it, x));
  TestExpectError(d, PETSC_ERR_SUP, "has no MatMultTranspose()", MatPageRank(shell, NULL, x));
  PetscCall(MatShellSetOperation(shell, MATOP_MULT_TRANSPOSE, (void (*)(void))ShellFail));
  TestExpectError(d, PETSC_ERR_USER, "the product fails", MatPageRank(shell, NULL, x));
  TestExpectError(d, PETSC_ERR_USER, "the product fails", MatHITS(shell, NULL, x, y));
  TestExpectError(d, PETSC_ERR_USER, "the product fails", MatRandomWalkWithRestart(shell, 1, &seed, NULL, &walks));
  PetscCall(MatShellSetOperation(shell, MATOP_MULT, (void (*)(void))ShellFail));
  it          = good;
  it.dangling = MAT_GRAPH_DANGLING_REMOVE;
  TestExpectError(d, PETSC_ERR_USER, "the product fails", MatPageRank(shell, &good, x));
  TestExpectError(d, PETSC_ERR_USER, "the product fails", MatPageRank(shell, &it, x));
  TestExpectError(d, PETSC_ERR_ARG_SIZ, "create the vector by MatCreateVecs()", MatPageRank(A, NULL, z));
  TestExpectError(d, PETSC_ERR_ARG_IDN, "give two", MatHITS(A, NULL, x, x));
  it         = good;
  it.monitor = Monitor;
  it.context = &calls;
  TestExpectError(d, PETSC_ERR_USER, "the monitor fails", MatPageRank(A, &it, x));
  calls.calls = 0;
  TestExpectError(d, PETSC_ERR_USER, "the monitor fails", MatHITS(A, &it, x, y));
  calls.calls = 0;
  TestExpectError(d, PETSC_ERR_USER, "the monitor fails", MatRandomWalkWithRestart(A, 1, &seed, &it, &walks));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &B));
  PetscCall(MatSetSizes(B, PETSC_DECIDE, PETSC_DECIDE, N, N));
  PetscCall(MatSetType(B, MATAIJ));
  PetscCall(MatSetUp(B));
  TestExpectError(d, PETSC_ERR_ARG_WRONGSTATE, "is not assembled", MatPageRank(B, NULL, x));
  PetscCall(MatDestroy(&B));
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, N, 3 * N, 0, NULL, 0, NULL, &B));
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  TestExpectError(d, PETSC_ERR_ARG_SIZ, "as many of both", MatHITS(B, NULL, x, y));
  PetscCall(MatDestroy(&B));
  for (int nan = 0; nan < 2; nan++) {
    PetscCall(Create(GRAPH_RANDOM, N, nan ? (PetscReal)NAN : -1, &B));
    TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "a weight is negative or no number", MatPageRank(B, NULL, x));
    TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "a weight is negative or no number", MatHITS(B, NULL, x, y));
    TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "a weight is negative or no number", MatRandomWalkWithRestart(B, 1, &seed, NULL, &walks));
    PetscCall(MatDestroy(&B));
  }
  PetscCall(VecNorm(x, NORM_INFINITY, &norm));
  TestExpect(d, "errors change nothing", (PetscBool)(norm == 3 && !walks));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&shell));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const TestCase tests[] = {
    {"ranks, hubs and walks against plain loops", TestNatural},
    {"the same in other orders",                  TestOrders },
    {"the same of types that only multiply",      TestOthers },
    {"no vertex, and one",                        TestSmall  },
    {"monitors and reasons",                      TestReasons},
    {"errors",                                    TestErrors },
    {NULL,                                        NULL       }
  };

  return TestMain(argc, argv, help, tests);
}

/*TEST

  test:
    requires: !complex
    nsize: {{1 2 3}}
    args: -mat_type {{aij amb}} -malloc_dump
    checks: 6

  test:
    requires: !complex
    suffix: types
    args: -mat_type {{@types-amb-tilecomposite}}
    checks: 6

TEST*/
