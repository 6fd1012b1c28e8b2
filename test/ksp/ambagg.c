/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "PCGAMG of type ambagg against PETSc's type agg: iterations, complexity; the same hierarchy for any number of threads and processes; odd matrices.\n\
  -ambagg_table prints the figures that are compared\n\
  -ambagg_graph FILE compares them for the Laplacian of the graph of a matrix in a Matrix Market file, and nothing else\n\
  -ambagg_again N prints seconds and megabytes over the bus of set-ups for a Laplacian of N x N x N, and nothing else: the first, one whose matrix is on the\n\
     device already, and with new values\n";

#include "../testutil.h"
#include "sys/systhreads.h"
#include <petsc/private/matimpl.h>

/* ambagg may need so many iterations more than agg, and its operators so many percent more entries */
#define MORE_ITERATIONS 1
#define MORE_PERCENT    5

/* Before 3.20 agg takes another algorithm on aggressive levels, whose aggregates are larger on long thin graphs */
#if PETSC_VERSION_LT(3, 20, 0)
  #define THIN_PERCENT 30
#else
  #define THIN_PERCENT MORE_PERCENT
#endif

#define LEVELS 16

/* ------------------------------------------------- matrices ------------------------------------------------- */

/* A grid of N[0] x N[1] x N[2] nodes of bs unknowns; node i is in row i. The coupling of two neighbours is given by a function; the faces x = 0 and x = N[0] - 1
   have Dirichlet conditions, which are eliminated. */
typedef struct _Problem Problem;
struct _Problem {
  const char *name;
  PetscInt    N[3], bs;
  PetscInt    reach; /* neighbours differ in at most so many directions: 1 is a star, 3 all 26 */
  PetscReal (*weight)(const Problem *, const PetscInt p[], const PetscInt q[]);
  PetscReal   parameter;
  PetscReal   wind; /* upwind convection in the direction of x, which makes the matrix unsymmetric */
  PetscBool   rigid;
  PetscBool   symmetric; /* the matrix is said to be symmetric */
  const char *options;
  PetscInt    percent; /* in place of MORE_PERCENT */
};

static PetscReal Plain(const Problem *problem, const PetscInt p[], const PetscInt q[])
{
  return 1;
}

/* The last direction is weaker */
static PetscReal Anisotropic(const Problem *problem, const PetscInt p[], const PetscInt q[])
{
  const int last = problem->N[2] > 1 ? 2 : 1;

  return p[last] != q[last] ? 1 / problem->parameter : 1;
}

/* Cubes of five nodes have coefficients 1 or parameter, in no order */
static PetscReal Jumping(const Problem *problem, const PetscInt p[], const PetscInt q[])
{
  const PetscReal a = TestReal(p[0] / 5 + 100 * (p[1] / 5), p[2] / 5) > 0 ? problem->parameter : 1, b = TestReal(q[0] / 5 + 100 * (q[1] / 5), q[2] / 5) > 0 ? problem->parameter : 1;

  return 2 * a * b / (a + b);
}

/* Of each three edges one is positive */
static PetscReal Signs(const Problem *problem, const PetscInt p[], const PetscInt q[])
{
  return (p[0] + q[0] + p[1] + q[1] + p[2] + q[2]) % 3 ? 1 : -0.2;
}

/* The entries of the block that couples nodes p and q, d = q - p: springs, with some stiffness against shear */
static void Block(const Problem *problem, const PetscInt p[], const PetscInt d[], PetscScalar v[])
{
  const PetscInt  q[3] = {p[0] + d[0], p[1] + d[1], p[2] + d[2]}, bs = problem->bs;
  const PetscReal length = (PetscReal)(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]), w = (*problem->weight)(problem, p, q) / length;

  for (PetscInt k = 0; k < bs * bs; k++) {
    const PetscInt r = k / bs, c = k % bs;
    PetscReal      spring = bs == 3 ? (PetscReal)(d[r] * d[c]) / length : 0;

    v[k] = -w * (bs == 1 ? 1 : spring + (r == c ? (bs == 3 ? 0.1 : 1) : bs == 3 ? 0 : 0.1 / bs));
  }
}

static PetscErrorCode GridFill(const Problem *problem, PetscReal factor, Mat A)
{
  const PetscInt *N = problem->N, bs = problem->bs;
  PetscInt        first, end;
  PetscScalar    *v, *sum;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(bs * bs, &v, bs * bs, &sum));
  PetscCall(MatGetOwnershipRange(A, &first, &end));
  for (PetscInt i = first / bs; i < end / bs; i++) {
    const PetscInt p[3] = {i % N[0], i / N[0] % N[1], i / N[0] / N[1]};

    PetscCall(PetscArrayzero(sum, bs * bs));
    for (PetscInt s = 0; s < 27; s++) {
      const PetscInt d[3] = {s % 3 - 1, s / 3 % 3 - 1, s / 9 - 1}, q[3] = {p[0] + d[0], p[1] + d[1], p[2] + d[2]}, j = (q[2] * N[1] + q[1]) * N[0] + q[0];
      const PetscInt apart = PetscAbs(d[0]) + PetscAbs(d[1]) + PetscAbs(d[2]);

      if (!apart || apart > problem->reach || q[1] < 0 || q[1] >= N[1] || q[2] < 0 || q[2] >= N[2]) continue;
      Block(problem, p, d, v);
      for (PetscInt k = 0; k < bs * bs; k++) v[k] *= factor * (1 + 0.1 * TestReal(PetscMin(i, j), PetscMax(i, j)) * (factor != 1));
      if (problem->wind > 0 && d[0] == -1 && apart == 1) {
        for (PetscInt k = 0; k < bs; k++) v[k * bs + k] -= factor * problem->wind;
      }
      for (PetscInt k = 0; k < bs * bs; k++) sum[k] += bs == 1 ? PetscAbsScalar(v[k]) : -v[k];
      if (q[0] >= 0 && q[0] < N[0]) PetscCall(MatSetValuesBlocked(A, 1, &i, 1, &j, v, INSERT_VALUES));
    }
    PetscCall(MatSetValuesBlocked(A, 1, &i, 1, &i, sum, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscFree2(v, sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetRigid(const Problem *problem, Mat A)
{
  const PetscInt *N = problem->N;
  PetscInt        first, end;
  PetscScalar    *a;
  Vec             x;
  MatNullSpace    rigid;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &first, &end));
  PetscCall(VecCreateMPI(PetscObjectComm((PetscObject)A), end - first, PETSC_DETERMINE, &x));
  PetscCall(VecSetBlockSize(x, 3));
  PetscCall(VecGetArrayWrite(x, &a));
  for (PetscInt i = first / 3; i < end / 3; i++) {
    a[3 * i - first]     = i % N[0];
    a[3 * i + 1 - first] = i / N[0] % N[1];
    a[3 * i + 2 - first] = i / N[0] / N[1];
  }
  PetscCall(VecRestoreArrayWrite(x, &a));
  PetscCall(MatNullSpaceCreateRigidBody(x, &rigid));
  PetscCall(MatSetNearNullSpace(A, rigid));
  PetscCall(TestDestroy(&rigid, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GridCreate(MPI_Comm comm, const Problem *problem, Mat *A)
{
  const PetscInt n = problem->bs * problem->N[0] * problem->N[1] * problem->N[2];

  PetscFunctionBeginUser;
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetBlockSize(*A, problem->bs));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 27 * problem->bs, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 27 * problem->bs, NULL, 27 * problem->bs, NULL));
  PetscCall(GridFill(problem, 1, *A));
  if (problem->symmetric) PetscCall(MatSetOption(*A, MAT_SPD, PETSC_TRUE));
  if (problem->rigid) PetscCall(SetRigid(problem, *A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- solvers ------------------------------------------------- */

typedef struct {
  PetscInt           iterations, levels, rows[LEVELS];
  PetscLogDouble     complexity;
  KSPConvergedReason reason;
} Figures;

/* A solver, and all options that it sees */
typedef struct {
  KSP          ksp;
  PC           pc;
  PetscOptions options;
} Solver;

static PetscErrorCode SolverDestroy(Solver *s)
{
  PetscFunctionBeginUser;
  PetscCall(KSPDestroy(&s->ksp));
  PetscCall(PetscOptionsDestroy(&s->options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With PCGAMG of that type */
static PetscErrorCode SolverCreate(Mat A, const char type[], const char options[], Solver *s)
{
  PetscBool set, symmetric;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsCreate(&s->options));
  PetscCall(PetscOptionsInsertString(s->options, options));
  PetscCall(PetscOptionsPush(s->options));
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), &s->ksp));
  PetscCall(MatIsSymmetricKnown(A, &set, &symmetric));
  PetscCall(KSPSetType(s->ksp, set && symmetric ? KSPCG : KSPGMRES));
  PetscCall(KSPSetOperators(s->ksp, A, A));
  PetscCall(KSPSetTolerances(s->ksp, 1.e-8, PETSC_DEFAULT, PETSC_DEFAULT, 300));
  PetscCall(KSPGetPC(s->ksp, &s->pc));
  PetscCall(PCSetType(s->pc, PCGAMG));
  PetscCall(PCGAMGSetType(s->pc, type));
  PetscCall(KSPSetFromOptions(s->ksp));
  PetscCall(PetscOptionsPop());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolverSetUp(Solver *s, PetscInt *levels)
{
  PetscErrorCode raised;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsPush(s->options));
  raised = KSPSetUp(s->ksp);
  PetscCall(PetscOptionsPop());
  PetscCall(raised);
  PetscCall(PCMGGetLevels(s->pc, levels));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetOperator(PC pc, PetscInt level, Mat *A)
{
  KSP smoother;

  PetscFunctionBeginUser;
  PetscCall(PCMGGetSmoother(pc, level, &smoother));
  PetscCall(KSPGetOperators(smoother, NULL, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolverRun(Solver *s, Mat A, Figures *f)
{
  Vec            x, b;
  PetscLogDouble finest = 1;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(f, sizeof(*f)));
  PetscCall(SolverSetUp(s, &f->levels));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(TestVecSet(b, 1));
  PetscCall(KSPSolve(s->ksp, b, x));
  PetscCall(KSPGetIterationNumber(s->ksp, &f->iterations));
  PetscCall(KSPGetConvergedReason(s->ksp, &f->reason));
  for (PetscInt l = f->levels - 1; l >= 0; l--) {
    Mat     B;
    MatInfo info;

    PetscCall(GetOperator(s->pc, l, &B));
    PetscCall(MatGetInfo(B, MAT_GLOBAL_SUM, &info));
    PetscCall(MatGetSize(B, &f->rows[PetscMin(f->levels - 1 - l, LEVELS - 1)], NULL));
    if (l == f->levels - 1) finest = info.nz_used;
    f->complexity += info.nz_used / finest;
  }
  PetscCall(TestDestroy(&x, &b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(Mat A, const char type[], const char options[], Figures *f)
{
  Solver         s;
  PetscErrorCode raised;

  PetscFunctionBeginUser;
  PetscCall(SolverCreate(A, type, options, &s));
  raised = SolverRun(&s, A, f);
  PetscCall(SolverDestroy(&s));
  PetscCall(raised);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PrintFigures(const char name[], const Figures *agg, const Figures *ours)
{
  PetscBool table;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsHasName(NULL, NULL, "-ambagg_table", &table));
  if (table) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "| %-42s | %3" PetscInt_FMT " | %3" PetscInt_FMT " | %.3f | %.3f |\n", name, agg->iterations, ours->iterations, agg->complexity, ours->complexity));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The aggregates of agg change with the number of processes, and with them the complexity: it is compared on one process alone. Processes() compares ambagg's. */
static PetscErrorCode Compare(TestDiff *d, const char name[], Mat A, const char options[], PetscInt percent)
{
  Figures     agg, ours;
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(Solve(A, PCGAMGAGG, options, &agg));
  PetscCall(Solve(A, PCGAMGAMBAGG, options, &ours));
  PetscCall(PrintFigures(name, &agg, &ours));
  TestExpect(d, "ambagg does not converge where agg does", (PetscBool)(agg.reason <= 0 || ours.reason > 0));
  TestExpect(d, "there is one level only", (PetscBool)(agg.levels == 1 || ours.levels > 1));
  TestExpect(d, "too many iterations", (PetscBool)(ours.iterations <= agg.iterations + MORE_ITERATIONS));
  TestExpect(d, "too many entries", (PetscBool)(size > 1 || 100 * ours.complexity <= (100 + percent) * agg.complexity));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- quality ------------------------------------------------- */

#define ELASTIC "-pc_gamg_threshold 0.01 "

/* clang-format off */
static const Problem problems[] = {
  {.name = "Laplacian, 5 points",          .N = {120, 120, 1},  .bs = 1, .reach = 1, .weight = Plain,       .symmetric = PETSC_TRUE                                                              },
  {.name = "Laplacian, 7 points",          .N = {25, 25, 25},   .bs = 1, .reach = 1, .weight = Plain,       .symmetric = PETSC_TRUE                                                              },
  {.name = "Laplacian, 27 points",         .N = {17, 17, 17},   .bs = 1, .reach = 3, .weight = Plain,       .symmetric = PETSC_TRUE                                                              },
  {.name = "symmetry not known",           .N = {21, 20, 22},   .bs = 1, .reach = 1, .weight = Plain                                                                                             },
  {.name = "2D, anisotropic 1:100",        .N = {100, 100, 1},  .bs = 1, .reach = 1, .weight = Anisotropic, .parameter = 100, .symmetric = PETSC_TRUE, .options = "-pc_gamg_threshold 0.02", .percent = THIN_PERCENT},
  {.name = "2D, anisotropic 1:10000",      .N = {100, 100, 1},  .bs = 1, .reach = 1, .weight = Anisotropic, .parameter = 1.e4, .symmetric = PETSC_TRUE, .options = "-pc_gamg_threshold 0.02", .percent = THIN_PERCENT},
  {.name = "3D, anisotropic 1:100",        .N = {22, 22, 22},   .bs = 1, .reach = 1, .weight = Anisotropic, .parameter = 100, .symmetric = PETSC_TRUE, .options = "-pc_gamg_threshold 0.02"     },
  {.name = "3D, anisotropic, no threshold", .N = {22, 22, 22},   .bs = 1, .reach = 1, .weight = Anisotropic, .parameter = 100, .symmetric = PETSC_TRUE                                           },
  {.name = "jumps 1:1000",                 .N = {25, 25, 25},   .bs = 1, .reach = 1, .weight = Jumping,     .parameter = 1000, .symmetric = PETSC_TRUE                                           },
  {.name = "jumps 1:1000, threshold",      .N = {25, 25, 25},   .bs = 1, .reach = 1, .weight = Jumping,     .parameter = 1000, .symmetric = PETSC_TRUE, .options = "-pc_gamg_threshold 0.01"    },
  {.name = "both signs",                   .N = {80, 80, 1},    .bs = 1, .reach = 1, .weight = Signs,       .symmetric = PETSC_TRUE                                                              },
  {.name = "convection",                   .N = {24, 24, 24},   .bs = 1, .reach = 1, .weight = Plain,       .wind = 0.3                                                                           },
  {.name = "strong convection",            .N = {80, 80, 1},    .bs = 1, .reach = 1, .weight = Plain,       .wind = 1, .options = "-pc_gamg_threshold 0.02"                                     },
  {.name = "springs, rigid bodies",        .N = {10, 10, 10},   .bs = 3, .reach = 3, .weight = Plain,       .rigid = PETSC_TRUE, .symmetric = PETSC_TRUE                                         },
  {.name = "springs, rigid, threshold",    .N = {12, 10, 9},    .bs = 3, .reach = 3, .weight = Jumping,     .parameter = 10, .rigid = PETSC_TRUE, .symmetric = PETSC_TRUE, .options = ELASTIC      },
  {.name = "blocks of 2",                  .N = {40, 40, 1},    .bs = 2, .reach = 2, .weight = Plain,       .symmetric = PETSC_TRUE                                                              },
  {.name = "blocks of 3, too few vectors", .N = {11, 11, 11},   .bs = 3, .reach = 1, .weight = Plain,       .symmetric = PETSC_TRUE                                                              },
  {.name = "blocks of 4",                  .N = {30, 30, 1},    .bs = 4, .reach = 1, .weight = Plain,       .symmetric = PETSC_TRUE                                                              },
  {.name = "blocks of 5, unknown symmetry", .N = {9, 9, 9},      .bs = 5, .reach = 1, .weight = Jumping,     .parameter = 10                                                                     },
  {.name = "blocks of 6",                  .N = {20, 20, 1},    .bs = 6, .reach = 2, .weight = Plain,       .symmetric = PETSC_TRUE                                                              },
  {.name = "blocks of 6, threshold",       .N = {8, 8, 8},      .bs = 6, .reach = 1, .weight = Jumping,     .parameter = 100, .symmetric = PETSC_TRUE, .options = "-pc_gamg_threshold 0.02"     },
};

/* clang-format on */

static PetscErrorCode Quality(void)
{
  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(problems); k++) {
    TestDiff d = {NULL, 0};
    Mat      A;

    PetscCall(GridCreate(PETSC_COMM_WORLD, &problems[k], &A));
    PetscCall(Compare(&d, problems[k].name, A, problems[k].options ? problems[k].options : "", problems[k].percent ? problems[k].percent : MORE_PERCENT));
    PetscCall(MatDestroy(&A));
    PetscCall(TestReport(problems[k].name, &d));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const Problem grid = {
  .N = {19, 18, 17},
    .bs = 1, .reach = 1, .weight = Jumping, .parameter = 5, .symmetric = PETSC_TRUE
};
static const Problem elastic = {
  .N = {9, 8, 7},
    .bs = 3, .reach = 3, .weight = Plain, .rigid = PETSC_TRUE, .symmetric = PETSC_TRUE
};

/* All options of PCGAMG, with both types */
static PetscErrorCode Options(void)
{
  static const char *const options[] = {"-pc_gamg_threshold 0.05 -pc_gamg_threshold_scale 0.5", "-pc_gamg_threshold 0.02,0.01", "-pc_gamg_aggressive_coarsening 0 -pc_gamg_square_graph 0", "-pc_gamg_aggressive_coarsening 2 -pc_gamg_square_graph 2", "-pc_gamg_agg_nsmooths 0", "-pc_gamg_agg_nsmooths 2", "-pc_gamg_coarse_eq_limit 500", "-pc_gamg_process_eq_limit 60 -pc_gamg_parallel_coarse_grid_solver", "-pc_gamg_reuse_interpolation false -pc_gamg_sym_graph", "-pc_gamg_esteig_ksp_type gmres -pc_gamg_esteig_ksp_max_it 20", "-pc_gamg_use_sa_esteig false", "-pc_gamg_eigenvalues 0.1,2", "-pc_gamg_asm_use_agg true", "-pc_gamg_graph_symmetrize false", "-pc_gamg_low_memory_threshold_filter true -pc_gamg_threshold 0.02", "-pc_gamg_mis_k_minimum_degree_ordering true", "-pc_gamg_asm_hem_aggs 2", "-pc_gamg_rank_reduction_factors 1,1", "-pc_gamg_prolongator_filter 0.1"};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(options); k++) {
    for (int e = 0; e < 2; e++) {
      TestDiff d = {NULL, 0};
      Mat      A;
      char     name[128];

      PetscCall(PetscSNPrintf(name, sizeof(name), "%s, %s", e ? "elastic" : "scalar", options[k]));
      PetscCall(GridCreate(PETSC_COMM_WORLD, e ? &elastic : &grid, &A));
      PetscCall(Compare(&d, name, A, options[k], MORE_PERCENT));
      PetscCall(MatDestroy(&A));
      PetscCall(TestReport(name, &d));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The Laplacian of the graph of a symmetric matrix in a file; its diagonal is raised a little, so that it is not singular */
static PetscErrorCode Graph(const char path[])
{
  TestDiff d = {NULL, 0};
  Mat      A, L;
  PetscInt first, end, N;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetType(A, MATAIJ));
  PetscCall(MatLoadMatrixMarket(A, path));
  PetscCall(MatGetOwnershipRange(A, &first, &end));
  PetscCall(MatGetSize(A, &N, NULL));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &L));
  PetscCall(MatSetSizes(L, end - first, end - first, N, N));
  PetscCall(MatSetFromOptions(L));
  {
    PetscInt *lengths;

    PetscCall(PetscMalloc1(end - first, &lengths));
    for (PetscInt i = first; i < end; i++) {
      PetscCall(MatGetRow(A, i, &lengths[i - first], NULL, NULL));
      lengths[i - first]++;
      PetscCall(MatRestoreRow(A, i, NULL, NULL, NULL));
    }
    PetscCall(MatSeqAIJSetPreallocation(L, 0, lengths));
    PetscCall(MatMPIAIJSetPreallocation(L, 0, lengths, 0, lengths));
    PetscCall(PetscFree(lengths));
  }
  for (PetscInt i = first; i < end; i++) {
    PetscInt        n, degree = 0;
    const PetscInt *j;

    PetscCall(MatGetRow(A, i, &n, &j, NULL));
    for (PetscInt k = 0; k < n; k++) {
      degree += j[k] != i;
      if (j[k] != i) PetscCall(MatSetValue(L, i, j[k], -1, INSERT_VALUES));
    }
    PetscCall(MatSetValue(L, i, i, degree + 1.e-3, INSERT_VALUES));
    PetscCall(MatRestoreRow(A, i, &n, &j, NULL));
  }
  PetscCall(MatAssemblyBegin(L, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(L, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetOption(L, MAT_SPD, PETSC_TRUE));
  PetscCall(Compare(&d, "Laplacian of a graph", L, "", MORE_PERCENT));
  PetscCall(TestDestroy(&A, &L));
  PetscCall(TestReport("Laplacian of a graph", &d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- one hierarchy ------------------------------------------------- */

/* Numbers for the columns of the rows of this process, and for the entries down to their bits */
static PetscErrorCode Fingerprint(Mat A, uint64_t print[2])
{
  PetscInt first, end;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &first, &end));
  for (PetscInt i = first; i < end; i++) {
    PetscInt           n;
    const PetscInt    *j;
    const PetscScalar *a;

    PetscCall(MatGetRow(A, i, &n, &j, &a));
    for (PetscInt k = 0; k < n; k++) {
      uint64_t bits[(sizeof(*a) + 7) / 8] = {0};

      memcpy(bits, &a[k], sizeof(*a));
      for (int values = 0; values < 2; values++) {
        print[values] = (print[values] ^ (uint64_t)i) * 0x9E3779B97F4A7C15u + (uint64_t)j[k];
        if (values) print[1] += bits[0] * 31 + bits[PETSC_STATIC_ARRAY_LENGTH(bits) - 1];
        print[values] ^= print[values] >> 29;
      }
    }
    PetscCall(MatRestoreRow(A, i, &n, &j, &a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of all prolongators */
static PetscErrorCode Hierarchy(Mat A, const char options[], uint64_t print[2])
{
  Solver   s;
  PetscInt levels;

  PetscFunctionBeginUser;
  print[0] = print[1] = 0;
  PetscCall(SolverCreate(A, PCGAMGAMBAGG, options, &s));
  PetscCall(SolverSetUp(&s, &levels));
  for (PetscInt l = levels - 1; l >= 1; l--) {
    Mat P;

    PetscCall(PCMGGetInterpolation(s.pc, l, &P));
    PetscCall(Fingerprint(P, print));
  }
  PetscCall(SolverDestroy(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define WHOLE "-pc_gamg_process_eq_limit 1 -pc_gamg_parallel_coarse_grid_solver -pc_gamg_coarse_eq_limit 10 -pc_gamg_aggressive_coarsening 1 "

/* The near-null space of the first matrix for all. PETSc from 3.20 on adds the products of VecMDot() in another order where vectors lie at equal distances in memory: rigid
   bodies made anew have other last bits by chance. */
static PetscErrorCode ShareNearNullSpace(Mat A, MatNullSpace *near)
{
  PetscFunctionBeginUser;
  if (*near) PetscCall(MatSetNearNullSpace(A, *near));
  else {
    PetscCall(MatGetNearNullSpace(A, near));
    PetscCall(PetscObjectReference((PetscObject)*near));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Without smoothing a row of the prolongator says which aggregate a node is in */
static PetscErrorCode Threads(void)
{
  static const char *const options[] =
    {WHOLE, WHOLE "-pc_gamg_threshold 0.02", WHOLE "-pc_gamg_agg_nsmooths 0", WHOLE "-pc_gamg_aggressive_mis_k 3", WHOLE "-pc_gamg_ambagg_strongest -pc_gamg_aggressive_coarsening 0", WHOLE "-pc_gamg_ambagg_min_aggregate_size 6"};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(options); k++) {
    TestDiff d = {NULL, 0};
    char     name[256];

    for (int e = 0; e < 3; e++) {
      Problem      problem = e == 1 ? elastic : grid;
      MatNullSpace near    = NULL;
      uint64_t     print[4][2];
      Mat          A;

      problem.symmetric = (PetscBool)(e < 2);
      for (int t = 0; t < 4; t++) { /* the last run is as the first one */
        SysThreadsSet(t % 3 + 1);
        PetscCall(GridCreate(PETSC_COMM_WORLD, &problem, &A));
        PetscCall(ShareNearNullSpace(A, &near));
        PetscCall(Hierarchy(A, options[k], print[t]));
        PetscCall(MatDestroy(&A));
        TestExpect(&d, "the aggregates depend on threads, or on chance", (PetscBool)(print[t][0] == print[0][0]));
        TestExpect(&d, "the prolongators depend on threads, or on chance", (PetscBool)(print[t][1] == print[0][1]));
      }
      PetscCall(MatNullSpaceDestroy(&near));
    }
    PetscCall(PetscSNPrintf(name, sizeof(name), "threads, %s", options[k] + sizeof(WHOLE) - 1));
    PetscCall(TestReport(name, &d));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of a matrix against those of another one on one process: columns exactly, values up to a tolerance, or not if that is negative. Rigid bodies have
   sums over all processes, and on an aggregate of one or two nodes they depend on each other but for these last bits: their values are not compared. */
static PetscErrorCode DiffRows(TestDiff *d, PetscReal tolerance, Mat A, Mat B)
{
  PetscInt first, end, N, M;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, NULL, &M));
  PetscCall(MatGetSize(B, NULL, &N));
  TestExpect(d, "another number of aggregates", (PetscBool)(M == N));
  PetscCall(MatGetOwnershipRange(A, &first, &end));
  for (PetscInt i = first; i < end && M == N; i++) {
    PetscInt           n, m;
    const PetscInt    *j, *l;
    const PetscScalar *a, *b;

    PetscCall(MatGetRow(A, i, &n, &j, &a));
    PetscCall(MatGetRow(B, i, &m, &l, &b));
    TestExpect(d, "another number of entries", (PetscBool)(n == m));
    for (PetscInt k = 0; k < n && n == m; k++) {
      TestExpect(d, "another aggregate", (PetscBool)(j[k] == l[k]));
      if (tolerance >= 0 && !(PetscAbsScalar(a[k] - b[k]) <= tolerance)) TestDiffAdd(d, "an entry", PetscAbsScalar(a[k] - b[k]));
    }
    PetscCall(MatRestoreRow(A, i, &n, &j, &a));
    PetscCall(MatRestoreRow(B, i, &m, &l, &b));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The off-diagonal block of a prolongator is for aggregates of other processes */
static PetscErrorCode DiffColumns(TestDiff *d, Mat P)
{
  const PetscInt *columns;
  PetscInt        first, end, n;
  PetscBool       mpi;
  Mat             other;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)P, MATMPIAIJ, &mpi));
  if (!mpi) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatMPIAIJGetSeqAIJ(P, NULL, &other, &columns));
  PetscCall(MatGetSize(other, NULL, &n));
  PetscCall(MatGetOwnershipRangeColumn(P, &first, &end));
  for (PetscInt k = 0; k < n; k++) TestExpect(d, "the off-diagonal block has a column of its own process", (PetscBool)(columns[k] < first || columns[k] >= end));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All levels on all processes, and on each one alone */
static PetscErrorCode Processes(void)
{
  static const char *const options[] =
    {"", "-pc_gamg_threshold 0.02 ", "-pc_gamg_aggressive_coarsening 0 ", "-pc_gamg_aggressive_mis_k 3 ", "-pc_gamg_mis_k_minimum_degree_ordering true ", "-pc_gamg_ambagg_min_aggregate_size 9 -pc_gamg_threshold 0.02 "};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(options); k++) {
    for (int e = 0; e < 3; e++) {
      Problem  problem = e == 1 ? elastic : grid;
      TestDiff d       = {NULL, 0};
      char     name[256], all[512];
      PetscInt levels[2];
      Mat      A[2], P[2];
      Solver   solver[2];

      problem.symmetric = (PetscBool)(e < 2);
      problem.wind      = e == 2 ? 3 : 0;
      PetscCall(PetscSNPrintf(all, sizeof(all), "%s%s-pc_gamg_agg_nsmooths 0", WHOLE, options[k]));
      for (int s = 0; s < 2; s++) {
        PetscCall(GridCreate(s ? PETSC_COMM_SELF : PETSC_COMM_WORLD, &problem, &A[s]));
        PetscCall(SolverCreate(A[s], PCGAMGAMBAGG, all, &solver[s]));
        PetscCall(SolverSetUp(&solver[s], &levels[s]));
      }
      TestExpect(&d, "another number of levels", (PetscBool)(levels[0] == levels[1]));
      TestExpect(&d, "there is one level only", (PetscBool)(levels[0] > 1));
      if (levels[0] > 1 && levels[1] > 1) {
        for (int s = 0; s < 2; s++) PetscCall(PCMGGetInterpolation(solver[s].pc, levels[s] - 1, &P[s]));
        PetscCall(DiffRows(&d, problem.rigid ? -1 : TEST_TOLERANCE, P[0], P[1]));
        PetscCall(DiffColumns(&d, P[0]));
      }
      for (PetscInt l = levels[0] - 1; l >= 0 && levels[0] == levels[1]; l--) {
        PetscInt rows[2];

        for (int s = 0; s < 2; s++) {
          PetscCall(GetOperator(solver[s].pc, l, &P[s]));
          PetscCall(MatGetSize(P[s], &rows[s], NULL));
        }
        TestExpect(&d, "another size of a coarse level", (PetscBool)(rows[0] == rows[1]));
      }
      for (int s = 0; s < 2; s++) {
        PetscCall(SolverDestroy(&solver[s]));
        PetscCall(MatDestroy(&A[s]));
      }
      PetscCall(PetscSNPrintf(name, sizeof(name), "processes, %s, %s", e == 0 ? "scalar" : e == 1 ? "elastic" : "convection", options[k]));
      PetscCall(TestReport(name, &d));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Blocks of two whose first components are coupled as the nodes of a scalar matrix, and whose second ones in one direction only */
static PetscErrorCode Doubled(Mat A, Mat *B)
{
  PetscInt first, end, N;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &first, &end));
  PetscCall(MatGetSize(A, &N, NULL));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), B));
  PetscCall(MatSetSizes(*B, 2 * (end - first), 2 * (end - first), 2 * N, 2 * N));
  PetscCall(MatSetBlockSize(*B, 2));
  PetscCall(MatSetFromOptions(*B));
  PetscCall(MatSeqAIJSetPreallocation(*B, 7, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*B, 7, NULL, 6, NULL));
  for (PetscInt i = first; i < end; i++) {
    PetscInt           n;
    const PetscInt    *j;
    const PetscScalar *a;

    PetscCall(MatGetRow(A, i, &n, &j, &a));
    for (PetscInt k = 0; k < n; k++) {
      PetscCall(MatSetValue(*B, 2 * i, 2 * j[k], a[k], INSERT_VALUES));
      PetscCall(MatSetValue(*B, 2 * i + 1, 2 * j[k] + 1, i == j[k] ? 90 : PetscAbs(i - j[k]) == 1 ? -40 : -0.01, INSERT_VALUES));
    }
    PetscCall(MatRestoreRow(A, i, &n, &j, &a));
  }
  PetscCall(MatAssemblyBegin(*B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetOption(*B, MAT_SPD, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With the first component alone the blocks have the aggregates of the scalar matrix, and with both they have others */
static PetscErrorCode StrengthIndex(TestDiff *d)
{
  static const char *const options[] = {"", "-mat_coarsen_strength_index 0 -pc_gamg_mat_coarsen_strength_index 0", ""};
  char                     all[512];
  Mat                      A[3], P[3];
  Solver                   s[3];
  PetscInt                 levels, columns[3], first, end;

  PetscFunctionBeginUser;
  PetscCall(GridCreate(PETSC_COMM_WORLD, &grid, &A[0]));
  PetscCall(Doubled(A[0], &A[1]));
  PetscCall(PetscObjectReference((PetscObject)A[1]));
  A[2] = A[1];
  for (int k = 0; k < 3; k++) {
    PetscCall(PetscSNPrintf(all, sizeof(all), "%s-pc_gamg_threshold 0.1 -pc_gamg_agg_nsmooths 0 %s", WHOLE, options[k]));
    PetscCall(SolverCreate(A[k], PCGAMGAMBAGG, all, &s[k]));
    PetscCall(SolverSetUp(&s[k], &levels));
    PetscCall(PCMGGetInterpolation(s[k].pc, levels - 1, &P[k]));
    PetscCall(MatGetSize(P[k], NULL, &columns[k]));
  }
  TestExpect(d, "the components that count make no difference", (PetscBool)(columns[2] != columns[1]));
  TestExpect(d, "another number of aggregates", (PetscBool)(columns[1] == 2 * columns[0]));
  PetscCall(MatGetOwnershipRange(P[0], &first, &end));
  for (PetscInt i = first; i < end && columns[1] == 2 * columns[0]; i++) {
    PetscInt        n[2], in[2] = {-1, -1};
    const PetscInt *j;

    for (int k = 0; k < 2; k++) {
      PetscCall(MatGetRow(P[k], (1 + k) * i, &n[k], &j, NULL));
      if (n[k]) in[k] = j[0] / (1 + k);
      PetscCall(MatRestoreRow(P[k], (1 + k) * i, &n[k], &j, NULL));
    }
    TestExpect(d, "another aggregate", (PetscBool)(in[0] == in[1]));
  }
  for (int k = 0; k < 3; k++) {
    PetscCall(SolverDestroy(&s[k]));
    PetscCall(MatDestroy(&A[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix type under test, which may be on a device, against AIJ on the host: the finest prolongator and the size of the next level. The estimate of
   eigenvalues, which is in the values of the prolongator, has the rounding of ten iterations. */
#define ESTIMATE_TOLERANCE 1.e-6

static PetscErrorCode HostAndDevice(void)
{
  static const char *const options[] =
    {"", "-pc_gamg_threshold 0.02", "-pc_gamg_agg_nsmooths 0", "-pc_gamg_agg_nsmooths 2", "-pc_gamg_eigenvalues 0.1,2", "-pc_gamg_asm_use_agg true", "-pc_gamg_esteig_ksp_max_it 5 -pc_gamg_esteig_pc_type none", "-pc_gamg_reuse_interpolation false"};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(options); k++) {
    TestDiff d = {NULL, 0};
    char     name[128];

    for (int e = 0; e < 4; e++) {
      Problem  problem = e == 1 ? elastic : grid;
      Mat      A[2], P[2], C[2];
      Solver   s[2];
      PetscInt levels[2];

      problem.symmetric = (PetscBool)(e < 2);
      if (e == 3) problem.bs = 4;
      PetscCall(GridCreate(PETSC_COMM_WORLD, &problem, &A[0]));
      PetscCall(MatConvert(A[0], MATAIJ, MAT_INITIAL_MATRIX, &A[1]));
      if (problem.symmetric) PetscCall(MatSetOption(A[1], MAT_SPD, PETSC_TRUE));
      if (problem.rigid) PetscCall(SetRigid(&problem, A[1]));
      for (int own = 0; own < 2; own++) {
        PetscCall(SolverCreate(A[own], PCGAMGAMBAGG, options[k], &s[own]));
        PetscCall(SolverSetUp(&s[own], &levels[own]));
        TestExpect(&d, "there is one level only", (PetscBool)(levels[own] > 1));
        PetscCall(PCMGGetInterpolation(s[own].pc, levels[own] - 1, &P[own]));
        PetscCall(GetOperator(s[own].pc, levels[own] - 2, &C[own]));
      }
      PetscCall(DiffRows(&d, problem.rigid ? -1 : ESTIMATE_TOLERANCE, P[0], P[1]));
      for (int own = 0; own < 2; own++) PetscCall(MatGetSize(C[own], &levels[own], NULL));
      TestExpect(&d, "another size of the next level", (PetscBool)(levels[0] == levels[1]));
      for (int own = 0; own < 2; own++) {
        PetscCall(SolverDestroy(&s[own]));
        PetscCall(MatDestroy(&A[own]));
      }
    }
    PetscCall(PetscSNPrintf(name, sizeof(name), "as AIJ on the host, %s", options[k]));
    PetscCall(TestReport(name, &d));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* If the matrix is on the device: are its values there alone, without a copy on the host? */
static PetscErrorCode OnDeviceAlone(Mat A, PetscBool *alone)
{
  PetscFunctionBeginUser;
  *alone = PETSC_TRUE;
#if defined(PETSC_HAVE_CUDA)
  {
    PetscBool mpi;
    Mat       block[2] = {A, NULL};

    PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
    if (mpi) PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
    for (int k = 0; k < 1 + mpi; k++) {
      PetscBool device;
      MatInfo   info;

      PetscCall(PetscObjectTypeCompare((PetscObject)block[k], MATSEQAIJCUSPARSE, &device));
      PetscCall(MatGetInfo(block[k], MAT_LOCAL, &info));
      if (device && !block[k]->boundtocpu && info.nz_used > 0 && block[k]->offloadmask != PETSC_OFFLOAD_GPU) *alone = PETSC_FALSE;
    }
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A set-up leaves the values of the matrix and of the prolongator on the device, where it made them: the host has no copy of them */
static PetscErrorCode SetUpStays(void)
{
  static const char *const options[] = {"", "-pc_gamg_threshold 0.02", "-pc_gamg_aggressive_coarsening 0"};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(options); k++) {
    TestDiff d = {NULL, 0};
    char     name[128];

    for (int e = 0; e < 3; e++) {
      Problem   problem = e == 1 ? elastic : grid;
      Mat       A, P;
      Solver    s;
      PetscInt  levels;
      PetscBool alone;

      problem.symmetric = (PetscBool)(e < 2);
      PetscCall(GridCreate(PETSC_COMM_WORLD, &problem, &A));
      PetscCall(SolverCreate(A, PCGAMGAMBAGG, options[k], &s));
      {
        Vec x, y;

        PetscCall(MatCreateVecs(A, &x, &y));
        PetscCall(VecSet(x, 1));
        PetscCall(MatMult(A, x, y)); /* brings the matrix to the device, if it belongs there */
        PetscCall(TestDestroy(&x, &y));
      }
      PetscCall(MatScale(A, 2));
      PetscCall(OnDeviceAlone(A, &alone));
      TestExpect(&d, "scaled values are on the host", alone);
      PetscCall(SolverSetUp(&s, &levels));
      PetscCall(OnDeviceAlone(A, &alone));
      TestExpect(&d, "the host got the values of the matrix", alone);
      TestExpect(&d, "there is one level only", (PetscBool)(levels > 1));
      PetscCall(PCMGGetInterpolation(s.pc, levels - 1, &P));
      PetscCall(OnDeviceAlone(P, &alone));
      TestExpect(&d, "the host got the values of the prolongator", alone);
      PetscCall(SolverDestroy(&s));
      PetscCall(MatDestroy(&A));
    }
    PetscCall(PetscSNPrintf(name, sizeof(name), "values stay on the device, %s", options[k]));
    PetscCall(TestReport(name, &d));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- odd matrices ------------------------------------------------- */

/* Rows of a grid that are given up: they keep their diagonal entry, with others stored as zeros, or nothing at all */
typedef enum {
  ODD_DIRICHLET,
  ODD_STORED_ZEROS,
  ODD_NO_ENTRY
} Odd;

static PetscErrorCode OddCreate(Odd odd, PetscBool last, Mat *A)
{
  const PetscInt N = 40, n = N * N;
  PetscInt       first, end;
  PetscMPIInt    rank, size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, last ? (rank == size - 1 ? n : 0) : PETSC_DECIDE, last ? (rank == size - 1 ? n : 0) : PETSC_DECIDE, n, n));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 5, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 5, NULL, 4, NULL));
  PetscCall(MatGetOwnershipRange(*A, &first, &end));
  for (PetscInt i = first; i < end; i++) {
    const PetscInt  x = i % N, y = i / N, near[4] = {x ? i - 1 : -1, x < N - 1 ? i + 1 : -1, y ? i - N : -1, y < N - 1 ? i + N : -1};
    const PetscBool mine = (PetscBool)(i % 7 == 3);

    for (int k = 0; k < 4; k++) {
      const PetscBool given = (PetscBool)(mine || near[k] % 7 == 3);

      if (near[k] >= 0 && (!given || odd == ODD_STORED_ZEROS)) PetscCall(MatSetValue(*A, i, near[k], given ? 0 : -1, INSERT_VALUES));
    }
    if (!mine || odd != ODD_NO_ENTRY) PetscCall(MatSetValue(*A, i, i, 4, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetOption(*A, MAT_SPD, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows without edges have no entry in the prolongator, all others have one */
static PetscErrorCode OddRows(void)
{
  static const char *const names[] = {"rows of Dirichlet conditions", "rows of stored zeros", "rows without an entry"};

  PetscFunctionBeginUser;
  for (int odd = ODD_DIRICHLET; odd <= ODD_NO_ENTRY; odd++) {
    for (int last = 0; last < 2; last++) {
      TestDiff d = {NULL, 0};
      char     name[128];
      Mat      A, P;
      Solver   s;
      PetscInt levels, first, end;

      PetscCall(PetscSNPrintf(name, sizeof(name), "%s%s", names[odd], last ? ", all on the last process" : ""));
      PetscCall(OddCreate((Odd)odd, (PetscBool)last, &A));
      PetscCall(SolverCreate(A, PCGAMGAMBAGG, odd == ODD_STORED_ZEROS ? "-pc_gamg_agg_nsmooths 0 -pc_gamg_threshold 0" : "-pc_gamg_agg_nsmooths 0", &s));
      PetscCall(SolverSetUp(&s, &levels));
      TestExpect(&d, "there is one level only", (PetscBool)(levels > 1));
      PetscCall(PCMGGetInterpolation(s.pc, levels - 1, &P));
      PetscCall(MatGetOwnershipRange(P, &first, &end));
      for (PetscInt i = first; i < end; i++) {
        PetscInt n;

        PetscCall(MatGetRow(P, i, &n, NULL, NULL));
        TestExpect(&d, "a row without edges is in an aggregate, or one with edges in none", (PetscBool)(n == (i % 7 != 3)));
        PetscCall(MatRestoreRow(P, i, &n, NULL, NULL));
      }
      PetscCall(SolverDestroy(&s));
      if (odd == ODD_DIRICHLET) PetscCall(Compare(&d, name, A, "", MORE_PERCENT));
      PetscCall(MatDestroy(&A));
      PetscCall(TestReport(name, &d));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A diagonal matrix has no aggregates; a matrix of one entry; a dense one */
static PetscErrorCode Small(TestDiff *d)
{
  PetscFunctionBeginUser;
  for (int kind = 0; kind < 3; kind++) {
    const PetscInt n = kind == 1 ? 1 : 60;
    Mat            A;
    PetscInt       first, end;
    Figures        f;

    PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
    PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, n, n));
    PetscCall(MatSetFromOptions(A));
    PetscCall(MatSetUp(A));
    PetscCall(MatGetOwnershipRange(A, &first, &end));
    for (PetscInt i = first; i < end; i++) {
      for (PetscInt j = 0; j < n; j++) {
        if (i == j || kind == 2) PetscCall(MatSetValue(A, i, j, i == j ? n + 1 : -1, INSERT_VALUES));
      }
    }
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(Solve(A, PCGAMGAMBAGG, "", &f));
    TestExpect(d, "a small matrix is not solved", (PetscBool)(f.reason > 0));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The pattern of the matrix is not symmetric */
static PetscErrorCode OneSided(TestDiff *d)
{
  const PetscInt n = 3000;
  PetscInt       first, end;
  Mat            A;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSeqAIJSetPreallocation(A, 6, NULL));
  PetscCall(MatMPIAIJSetPreallocation(A, 6, NULL, 5, NULL));
  PetscCall(MatGetOwnershipRange(A, &first, &end));
  for (PetscInt i = first; i < end; i++) {
    const PetscInt near[5] = {i - 1, i + 1, i - 50, i + 50, i % 3 ? -1 : i + 1100};

    PetscCall(MatSetValue(A, i, i, 4.2, INSERT_VALUES));
    for (int k = 0; k < 5; k++) {
      if (near[k] >= 0 && near[k] < n) PetscCall(MatSetValue(A, i, near[k], k == 4 ? -0.2 : -1, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(Compare(d, "a pattern that is not symmetric", A, "", MORE_PERCENT));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A value that is no number, in each position of a row: PETSc's type raises an error or does not converge, and so does this one. PETSc's allocator, which a set-up
   exchanges, is its own again. */
static PetscErrorCode NotANumber(TestDiff *d)
{
  static const char *const options[]                                                             = {"", "-pc_gamg_threshold 0.02", "-pc_gamg_aggressive_coarsening 0"};
  PetscErrorCode (*const allocator)(size_t, PetscBool, int, const char[], const char[], void **) = PetscTrMalloc;
  PetscBool traps;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsHasName(NULL, NULL, "-fp_trap", &traps));
  if (traps) PetscFunctionReturn(PETSC_SUCCESS); /* the set-up compares weights, which ends the program here; so does PETSc's own set-up */
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(options); k++) {
    for (int off = 0; off < 2; off++) {
      const PetscInt i = 100, j = 100 + off;
      PetscInt       first, end;
      PetscErrorCode raised;
      Figures        f;
      Mat            A;

      PetscCall(GridCreate(PETSC_COMM_WORLD, &grid, &A));
      PetscCall(MatGetOwnershipRange(A, &first, &end));
      if (i >= first && i < end) PetscCall(MatSetValue(A, i, j, NAN, INSERT_VALUES));
      PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
      PetscCall(PetscPushErrorHandler(TestKeepMessage, NULL));
      raised = Solve(A, PCGAMGAMBAGG, options[k], &f);
      PetscCall(PetscPopErrorHandler());
      TestExpect(d, "a matrix with a value that is no number is solved", (PetscBool)(raised || f.reason <= 0));
      TestExpect(d, "PETSc has another allocator after the set-up", (PetscBool)(PetscTrMalloc == allocator));
      PetscCall(MatDestroy(&A));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- use ------------------------------------------------- */

/* New values with the old interpolation, and with a new one */
static PetscErrorCode NewValues(TestDiff *d)
{
  PetscFunctionBeginUser;
  for (int reuse = 0; reuse < 2; reuse++) {
    Figures          f[2];
    Solver           s[2];
    Mat              A, P[2] = {NULL, NULL};
    PetscObjectState state[2] = {0, 0};

    PetscCall(GridCreate(PETSC_COMM_WORLD, &grid, &A));
    for (int own = 0; own < 2; own++) PetscCall(SolverCreate(A, own ? PCGAMGAMBAGG : PCGAMGAGG, reuse ? "-pc_gamg_reuse_interpolation true" : "-pc_gamg_reuse_interpolation false", &s[own]));
    for (int round = 0; round < 3; round++) {
      for (int own = 0; own < 2; own++) PetscCall(SolverRun(&s[own], A, &f[own]));
      TestExpect(d, "no convergence with new values", (PetscBool)(f[1].reason > 0));
      TestExpect(d, "too many iterations with new values", (PetscBool)(f[1].iterations <= f[0].iterations + MORE_ITERATIONS));
      PetscCall(PCMGGetInterpolation(s[1].pc, f[1].levels - 1, &P[round > 0]));
      PetscCall(PetscObjectStateGet((PetscObject)P[round > 0], &state[round > 0]));
      if (round && reuse) TestExpect(d, "the interpolation is made anew", (PetscBool)(P[0] == P[1] && state[0] == state[1]));
      PetscCall(GridFill(&grid, 2 + round, A));
      for (int own = 0; own < 2; own++) PetscCall(KSPSetOperators(s[own].ksp, A, A));
    }
    for (int own = 0; own < 2; own++) PetscCall(SolverDestroy(&s[own]));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bytes that PETSc has counted in both directions */
static PetscLogDouble BusBytes(void)
{
#if defined(PETSC_HAVE_DEVICE)
  return petsc_ctog_sz + petsc_gtoc_sz;
#else
  return 0;
#endif
}

/* A set-up with new values: its time, and its bytes over the bus */
static PetscErrorCode SetUpAgain(Solver *s, Mat A, PetscLogDouble *seconds, PetscLogDouble *bytes)
{
  PetscLogDouble since;
  PetscInt       levels;
  PetscReal      norm;

  PetscFunctionBeginUser;
  PetscCall(MatScale(A, 1.5));
  PetscCall(KSPSetOperators(s->ksp, A, A));
  *bytes = BusBytes();
  PetscCall(PetscTime(&since));
  PetscCall(SolverSetUp(s, &levels));
  PetscCall(GetOperator(s->pc, 0, &A));
  PetscCall(MatNorm(A, NORM_FROBENIUS, &norm)); /* waits for the device */
  PetscCall(PetscTime(seconds));
  *seconds -= since;
  *bytes = BusBytes() - *bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Without new estimates of eigenvalues by KSPCHEBYSHEV, whose random numbers PETSc makes on the host */
#define AGAIN "-pc_gamg_reuse_interpolation true -pc_gamg_recompute_esteig false"

/* New values on a device with the old interpolation: nothing as large as a vector crosses the bus. On the host no bytes are counted. Bytes of several processes
   are not judged: entries beside other processes cross, and PETSc makes a level anew that it moves to fewer processes. */
static PetscErrorCode NewValuesStay(TestDiff *d)
{
  const Problem problem = {
    .N = {40, 40, 40},
      .bs = 1, .reach = 1, .weight = Plain, .symmetric = PETSC_TRUE
  };
  Figures        f;
  Solver         s;
  Mat            A;
  PetscInt       n;
  PetscMPIInt    size;
  PetscLogDouble seconds, bytes;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(GridCreate(PETSC_COMM_WORLD, &problem, &A));
  PetscCall(MatGetLocalSize(A, &n, NULL));
  PetscCall(SolverCreate(A, PCGAMGAMBAGG, AGAIN, &s));
  PetscCall(SolverRun(&s, A, &f));
  for (int round = 0; round < 2; round++) {
    PetscCall(SetUpAgain(&s, A, &seconds, &bytes));
    TestExpect(d, "a set-up with new values has copies", (PetscBool)(size > 1 || bytes < 0.5 * n * sizeof(PetscScalar)));
    PetscCall(SolverRun(&s, A, &f));
    TestExpect(d, "no convergence with new values", (PetscBool)(f.reason > 0));
  }
  PetscCall(SolverDestroy(&s));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first set-up of a solver */
static PetscErrorCode AgainFirst(Mat A, const char name[], Solver *s)
{
  PetscInt       levels;
  PetscReal      norm;
  PetscLogDouble since, seconds, bytes = BusBytes();

  PetscFunctionBeginUser;
  PetscCall(SolverCreate(A, PCGAMGAMBAGG, AGAIN, s));
  PetscCall(PetscTime(&since));
  PetscCall(SolverSetUp(s, &levels));
  PetscCall(GetOperator(s->pc, 0, &A));
  PetscCall(MatNorm(A, NORM_FROBENIUS, &norm)); /* waits for the device */
  PetscCall(PetscTime(&seconds));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %.4f s, %.1f MB\n", name, seconds - since, (BusBytes() - bytes) * 1e-6));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Again(PetscInt N)
{
  const Problem problem = {
    .N = {N, N, N},
      .bs = 1, .reach = 1, .weight = Plain, .symmetric = PETSC_TRUE
  };
  Figures        f;
  Solver         s, other;
  Mat            A;
  PetscLogDouble seconds, bytes;

  PetscFunctionBeginUser;
  PetscCall(GridCreate(PETSC_COMM_WORLD, &problem, &A));
  PetscCall(AgainFirst(A, "set-up 1", &s));
  PetscCall(AgainFirst(A, "another solver", &other));
  PetscCall(SolverDestroy(&other));
  for (int round = 2; round < 6; round++) {
    PetscCall(SolverRun(&s, A, &f));
    PetscCall(SetUpAgain(&s, A, &seconds, &bytes));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "set-up %d: %.4f s, %.1f MB; %" PetscInt_FMT " iterations before\n", round, seconds, bytes * 1e-6, f.iterations));
  }
  PetscCall(SolverDestroy(&s));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The type is changed, back and again, and settings follow */
static PetscErrorCode Types(TestDiff *d)
{
  Mat        A;
  PCGAMGType type;
  PetscBool  same;
  Figures    f[3];

  PetscFunctionBeginUser;
  PetscCall(GridCreate(PETSC_COMM_WORLD, &grid, &A));
  for (int k = 0; k < 3; k++) {
    Solver s;

    PetscCall(SolverCreate(A, PCGAMGAMBAGG, "", &s));
    for (int t = 0; t < k; t++) {
      PetscCall(PCGAMGSetType(s.pc, PCGAMGAGG));
      PetscCall(PCGAMGSetType(s.pc, PCGAMGAMBAGG));
      PetscCall(PCGAMGSetAggressiveLevels(s.pc, k == 1 ? 1 : 0));
    }
    if (k == 2) PetscCall(PCGAMGAmbAggSetStrongest(s.pc, PETSC_TRUE));
    PetscCall(PCGAMGGetType(s.pc, &type));
    PetscCall(PetscStrcmp(type, PCGAMGAMBAGG, &same));
    TestExpect(d, "PCGAMGGetType() has another name", same);
    PetscCall(SolverRun(&s, A, &f[k]));
    TestExpect(d, "no convergence after a change of type", (PetscBool)(f[k].reason > 0));
    PetscCall(SolverDestroy(&s));
  }
  TestExpect(d, "another hierarchy after a change of type", (PetscBool)(f[1].rows[1] == f[0].rows[1] && f[1].complexity == f[0].complexity));
  TestExpect(d, "PCGAMGSetAggressiveLevels() has no effect", (PetscBool)(f[2].rows[1] > f[1].rows[1]));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Without aggressive coarsening, small aggregates make operators complex; set by an option and by a function */
static PetscErrorCode SmallAggregates(TestDiff *d)
{
  Mat     A;
  Figures f[3];

  PetscFunctionBeginUser;
  PetscCall(GridCreate(PETSC_COMM_WORLD, &grid, &A));
  for (int k = 0; k < 3; k++) {
    Solver s;

    PetscCall(SolverCreate(A, PCGAMGAMBAGG, k == 1 ? "-pc_gamg_aggressive_coarsening 0 -pc_gamg_ambagg_min_aggregate_size 4" : "-pc_gamg_aggressive_coarsening 0", &s));
    if (k == 2) PetscCall(PCGAMGAmbAggSetMinAggregateSize(s.pc, 4));
    PetscCall(SolverRun(&s, A, &f[k]));
    if (k == 2) TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "give a number from 1", PCGAMGAmbAggSetMinAggregateSize(s.pc, 0));
    PetscCall(SolverDestroy(&s));
  }
  TestExpect(d, "fewer aggregates do not make operators simpler", (PetscBool)(f[1].rows[1] < f[0].rows[1] && f[1].complexity < 0.9 * f[0].complexity));
  TestExpect(d, "more than one iteration more", (PetscBool)(f[1].reason > 0 && f[1].iterations <= f[0].iterations + 1));
  TestExpect(d, "the function and the option differ", (PetscBool)(f[2].rows[1] == f[1].rows[1] && f[2].complexity == f[1].complexity));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What cannot be done is an error that says so */
static PetscErrorCode Refused(TestDiff *d)
{
  Mat      A, B;
  Solver   s;
  PetscInt levels;

  PetscFunctionBeginUser;
  PetscCall(GridCreate(PETSC_COMM_WORLD, &grid, &A));
  PetscCall(SolverCreate(A, PCGAMGAMBAGG, "-mat_coarsen_type hem -pc_gamg_mat_coarsen_type hem", &s));
  TestExpectError(d, PETSC_ERR_SUP, "use -pc_gamg_type agg", SolverSetUp(&s, &levels));
  PetscCall(SolverDestroy(&s));
  PetscCall(SolverCreate(A, PCGAMGAMBAGG, "-mat_coarsen_strength_index 3 -pc_gamg_mat_coarsen_strength_index 3", &s));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "blocks have components", SolverSetUp(&s, &levels));
  PetscCall(SolverDestroy(&s));
  PetscCall(MatConvert(A, MATBAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(SolverCreate(B, PCGAMGAMBAGG, "", &s));
  TestExpectError(d, PETSC_ERR_SUP, "needs a matrix of type aij", SolverSetUp(&s, &levels));
  PetscCall(SolverDestroy(&s));
  PetscCall(TestDestroy(&B, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's type with the coarsener of this one */
static PetscErrorCode Coarsener(TestDiff *d)
{
  static const char options[] = "-mat_coarsen_type ambmis -pc_gamg_mat_coarsen_type ambmis -pc_gamg_aggressive_square_graph false -pc_gamg_aggressive_coarsening 1";

  PetscFunctionBeginUser;
  for (int e = 0; e < 2; e++) {
    Mat     A;
    Figures f[2];

    PetscCall(GridCreate(PETSC_COMM_WORLD, e ? &elastic : &grid, &A));
    PetscCall(Solve(A, PCGAMGAGG, options, &f[0]));
    PetscCall(Solve(A, PCGAMGAMBAGG, "-pc_gamg_mis_k_minimum_degree_ordering false -pc_gamg_aggressive_coarsening 1", &f[1]));
    TestExpect(d, "no convergence with the coarsener", (PetscBool)(f[0].reason > 0));
    TestExpect(d, "the coarsener makes other aggregates", (PetscBool)(f[0].rows[1] == f[1].rows[1]));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- */

static const TestCase tests[] = {
  {"small matrices",                  Small          },
  {"a pattern that is not symmetric", OneSided       },
  {"values that are no numbers",      NotANumber     },
  {"new values",                      NewValues      },
  {"new values stay",                 NewValuesStay  },
  {"types and settings",              Types          },
  {"components that count",           StrengthIndex  },
  {"small aggregates",                SmallAggregates},
  {"refused",                         Refused        },
  {"coarsener",                       Coarsener      },
  {NULL,                              NULL           }
};

static PetscErrorCode ReductionCase(const char name[], const char options[])
{
  TestDiff d = {NULL, 0};

  PetscFunctionBeginUser;
  for (int e = 0; e < 2; e++) {
    Mat A;

    PetscCall(GridCreate(PETSC_COMM_WORLD, e ? &elastic : &grid, &A));
    PetscCall(Compare(&d, "fewer processes", A, options, MORE_PERCENT));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(TestReport(name, &d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Coarse levels on fewer processes */
static PetscErrorCode Reduction(void)
{
  PetscFunctionBeginUser;
  PetscCall(ReductionCase("fewer processes", "-pc_gamg_process_eq_limit 60 -pc_gamg_coarse_eq_limit 30"));
  PetscCall(ReductionCase("fewer processes, parallel coarse solver", "-pc_gamg_process_eq_limit 200 -pc_gamg_parallel_coarse_grid_solver"));
  PetscCall(ReductionCase("Schwarz smoothers of aggregates", "-pc_gamg_asm_use_agg true"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char        path[PETSC_MAX_PATH_LEN];
  PetscBool   graph, again, repartition = PETSC_FALSE;
  PetscInt    N;
  PetscMPIInt size;

  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-ambagg_graph", path, sizeof(path), &graph));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-ambagg_again", &N, &again));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-ambagg_repartition", &repartition, NULL));
  if (graph) PetscCall(Graph(path));
  else if (repartition) PetscCall(ReductionCase("repartitioned", "-pc_gamg_repartition true -pc_gamg_process_eq_limit 100"));
  else if (again) PetscCall(Again(N));
  else {
    if (size == 1) {
      PetscCall(Quality());
      PetscCall(Options());
      PetscCall(Threads());
    }
    PetscCall(HostAndDevice());
    PetscCall(SetUpStays());
    PetscCall(Processes());
    PetscCall(Reduction());
    PetscCall(OddRows());
    PetscCall(TestRun(tests));
  }
  return TestFinalize();
}

/*TEST

  testset:
    requires: double
    comments: each PETSc knows some of the options only
    args: -options_left no -mat_shadow_tune off
    testset:
      checks: 113
      test:
        args: -mat_type {{aij @types-amb-ccoo-tilecomposite}} @types(-mat_%s_device cpu)
      test:
        suffix: fp_trap
        requires: !cuda
        args: -mat_type amb -fp_trap
      test:
        suffix: no_trap
        requires: cuda
        args: -mat_type amb -mat_amb_device cpu
      test:
        suffix: gpu
        requires: double cuda
        comments: Schwarz smoothers have hundreds of small matrices
        timeoutfactor: 4
        args: -mat_type amb
    test:
      suffix: repartition
      requires: partitioner
      nsize: {{2 3}}
      args: -mat_type {{aij amb}} -ambagg_repartition
      checks: 1
    testset:
      checks: 48
      timeoutfactor: 4
      test:
        nsize: {{2 3}}
        args: -mat_type aij
      test:
        nsize: 2
        args: -mat_type amb -mat_amb_device cpu
      test:
        suffix: gpu
        requires: double cuda
        nsize: {{2 3}}
        args: -mat_type amb

TEST*/
