/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "GAMG's whole hierarchy, as -ksp_view prints it, against that of MATAIJ: levels, sizes, block sizes, entries, complexity, eigenvalue estimates.\n";

#include "../testutil.h"
#include <ctype.h>
#include <stdlib.h>

#define N      9     /* nodes in a direction */
#define LENGTH 65536 /* of a view */
#define CLOSE  1.e-3 /* numbers that depend on the order of sums */

/* ------------------------------------------------- problems ------------------------------------------------- */

static PetscInt Node(PetscInt x, PetscInt y, PetscInt z)
{
  return x >= 0 && x < N && y >= 0 && y < N && z >= 0 && z < N ? (z * N + y) * N + x : -1;
}

/* A spring between neighbours in all 26 directions; those inside a ball are a thousand times softer */
static PetscReal Stiffness(const PetscInt a[], const PetscInt b[])
{
  PetscReal r = 0;

  for (int k = 0; k < 3; k++) r += PetscSqr((a[k] + b[k]) / 2. - N / 2);
  return r < N ? 1.e-3 : 1;
}

/* Unknowns are displacements along the axes, or with bs = 1 a potential; the face x = 0 is held */
static PetscErrorCode Create(PetscInt bs, const char prefix[], Mat *A)
{
  PetscInt first, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetOptionsPrefix(*A, prefix));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, bs * N * N * N, bs * N * N * N));
  PetscCall(MatSetBlockSize(*A, bs));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatShadowSetSOR(*A, MAT_SHADOW_SOR_NATURAL)); /* as PETSc sweeps, on a GPU too */
  PetscCall(MatSetOptionsPrefix(*A, NULL));               /* which is printed */
  PetscCall(MatSeqAIJSetPreallocation(*A, 27 * bs, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 27 * bs, NULL, 27 * bs, NULL));
  PetscCall(MatGetOwnershipRange(*A, &first, &end));
  for (PetscInt i = first / bs; i < end / bs; i++) {
    const PetscInt p[3]   = {i % N, i / N % N, i / N / N};
    PetscScalar    sum[9] = {0};

    if (p[0] == 0) {
      for (PetscInt k = 0; k < bs; k++) sum[k * bs + k] = 1;
    }
    for (PetscInt s = 0; s < 27; s++) {
      const PetscInt d[3] = {s % 3 - 1, s / 3 % 3 - 1, s / 9 - 1}, q[3] = {p[0] + d[0], p[1] + d[1], p[2] + d[2]}, j = Node(q[0], q[1], q[2]);
      PetscReal      length = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
      PetscScalar    v[9];

      if (s == 13 || j < 0) continue;
      for (PetscInt k = 0; k < bs * bs; k++) {
        v[k] = -Stiffness(p, q) / length * (bs == 1 ? 1 : d[k / 3] * d[k % 3] / length + (k / 3 == k % 3 ? 0.1 : 0));
        sum[k] -= v[k];
      }
      PetscCall(MatSetValuesBlocked(*A, 1, &i, 1, &j, v, INSERT_VALUES));
    }
    PetscCall(MatSetValuesBlocked(*A, 1, &i, 1, &i, sum, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetOption(*A, MAT_SPD, PETSC_TRUE));
  if (bs == 3) {
    Vec          x;
    PetscScalar *a;
    MatNullSpace rigid;

    PetscCall(VecCreateMPI(PETSC_COMM_WORLD, end - first, PETSC_DETERMINE, &x));
    PetscCall(VecSetBlockSize(x, 3));
    PetscCall(VecGetArrayWrite(x, &a));
    for (PetscInt i = first / 3; i < end / 3; i++) {
      a[3 * i - first]     = i % N;
      a[3 * i + 1 - first] = i / N % N;
      a[3 * i + 2 - first] = i / N / N;
    }
    PetscCall(VecRestoreArrayWrite(x, &a));
    PetscCall(MatNullSpaceCreateRigidBody(x, &rigid));
    PetscCall(MatSetNearNullSpace(*A, rigid));
    PetscCall(TestDestroy(&rigid, &x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- views ------------------------------------------------- */

/* What -ksp_view prints, and how the solver ended; on the first process */
static PetscErrorCode View(KSP ksp, char *view)
{
  char               path[PETSC_MAX_PATH_LEN];
  PetscViewer        viewer;
  PetscInt           iterations;
  KSPConvergedReason reason;
  PetscMPIInt        rank;
  PetscBool          whole;
  FILE              *file;

  PetscFunctionBeginUser;
  PetscCall(TestTemporaryFile(path, sizeof(path)));
  PetscCall(PetscViewerASCIIOpen(PETSC_COMM_WORLD, path, &viewer));
  PetscCall(KSPView(ksp, viewer));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(PetscViewerASCIIPrintf(viewer, "%s in %" PetscInt_FMT " iterations\n", KSPConvergedReasons[reason], iterations));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  view[0] = 0;
  if (!rank) {
    file = fopen(path, "r");
    PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s", path);
    view[fread(view, 1, LENGTH - 1, file)] = 0;
    fclose(file);
    PetscCall(TestCleanView(view, &whole));
    PetscCheck(whole, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A view of more than %d characters", LENGTH);
  }
  PetscCall(TestRemoveFile(path));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How far a number there may be off. On a level of a few unknowns the ten iterations that estimate eigenvalues have converged before their end, and what they go
   on with is rounding: of the largest the first digits remain, of the smallest nothing. */
static double Tolerance(const char *line, const char *number)
{
  if (!strstr(line, "eigenvalue")) return CLOSE;
  return number - line >= 4 && strncmp(number - 4, "min ", 4) == 0 ? PETSC_MAX_REAL : 20 * CLOSE;
}

/* Are two lines the same, but for the last digits of numbers with a decimal point? */
static PetscBool Same(const char *a, const char *b)
{
  const char *line = a;

  while (*a && *a == *b) {
    if (isdigit((unsigned char)*a)) {
      char  *enda, *endb;
      double x = strtod(a, &enda), y = strtod(b, &endb);

      if ((memchr(a, '.', (size_t)(enda - a)) || memchr(b, '.', (size_t)(endb - b))) && PetscAbsReal(x - y) <= Tolerance(line, a) * PetscAbsReal(x)) {
        a = enda;
        b = endb;
        continue;
      }
    }
    a++;
    b++;
  }
  return (PetscBool)(*a == *b);
}

/* The first line that differs */
static void DiffViews(TestDiff *d, char *view, char *reference)
{
  static char what[512];

  while (*view || *reference) {
    char *enda = strchr(view, '\n'), *endb = strchr(reference, '\n');

    if (!enda || !endb) {
      TestDiffAdd(d, "one view has more lines", 1);
      return;
    }
    *enda = *endb = 0;
    if (!Same(view, reference)) {
      (void)snprintf(what, sizeof(what), "%s, of AIJ: %s", view + strspn(view, " "), reference + strspn(reference, " "));
      TestDiffAdd(d, what, 1);
      return;
    }
    view      = enda + 1;
    reference = endb + 1;
  }
}

/* ------------------------------------------------- solvers ------------------------------------------------- */

typedef struct {
  const char *name, *options;
} Case;

static const Case cases[] = {
  {"defaults",                  ""                                                                                                                                          },
  {"threshold",                 "-pc_gamg_threshold 0.05"                                                                                                                   },
  {"small threshold, pbjacobi", "-pc_gamg_threshold 0.01 -pc_gamg_threshold_scale 0.5 -mg_levels_ksp_type chebyshev -mg_levels_pc_type pbjacobi -pc_gamg_coarse_eq_limit 50"},
  {"unsmoothed",                "-pc_gamg_agg_nsmooths 0 -pc_gamg_esteig_ksp_type gmres -mg_levels_pc_type sor -mat_shadow_sor natural"                                     },
  {"not aggressive",            "-pc_gamg_aggressive_coarsening 0 -pc_gamg_square_graph 0 -pc_gamg_coarse_eq_limit 100"                                                     },
  {"aggressive twice",          "-pc_gamg_aggressive_coarsening 2 -pc_gamg_square_graph 2 -pc_gamg_aggressive_square_graph false -pc_gamg_coarse_eq_limit 20"               },
  {"minimum degree",            "-pc_gamg_mis_k_minimum_degree_ordering true -pc_gamg_low_memory_threshold_filter true -pc_gamg_threshold 0.02"                             },
  {"reused interpolation",      "-pc_gamg_reuse_interpolation true -mg_levels_ksp_type richardson -mg_levels_pc_type bjacobi -pc_mg_cycle_type w"                           },
  {"fewer processes",           "-pc_gamg_process_eq_limit 200 -pc_gamg_coarse_eq_limit 30 -pc_gamg_use_parallel_coarse_grid_solver -pc_gamg_parallel_coarse_grid_solver"   }
};

static const Case repartitioned[] = {
  {"repartitioned", "-pc_gamg_repartition true -pc_gamg_process_eq_limit 60 -pc_gamg_coarse_eq_limit 30 -mg_levels_pc_type pbjacobi"}
};

/* Set up and solve, then again with other values: two views */
static PetscErrorCode Solve(PetscInt bs, const Case *c, int number, const char prefix[], char *view[])
{
  Mat  A;
  Vec  x, b;
  KSP  ksp;
  char own[16];

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(own, sizeof(own), "case%d_", number)); /* options of one case are not those of the next */
  PetscCall(Create(bs, prefix, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(TestVecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOptionsPrefix(ksp, own));
  PetscCall(PetscOptionsPrefixPush(NULL, own));
  PetscCall(PetscOptionsInsertString(NULL, "-pc_type gamg"));
  PetscCall(PetscOptionsInsertString(NULL, c->options));
  PetscCall(PetscOptionsPrefixPop(NULL));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetTolerances(ksp, 1.e-6, PETSC_DEFAULT, PETSC_DEFAULT, 100));
  PetscCall(KSPSetFromOptions(ksp));
  for (int k = 0; k < 2; k++) {
    if (k) PetscCall(MatShift(A, 0.01));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(VecSet(x, 0));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(View(ksp, view[k]));
  }
  PetscCall(TestDestroy(&ksp, &x, &b, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A view from a file that this program wrote, each ended by a form feed, on the first process */
static PetscErrorCode ReadView(FILE *file, char *view)
{
  PetscInt n = 0;

  PetscFunctionBeginUser;
  if (file) {
    for (int c; (c = fgetc(file)) != EOF && c != '\f' && n < LENGTH - 1;) view[n++] = (char)c;
  }
  view[n] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The reference is made in the same run or, where AIJ itself is under test, in an earlier one with -save FILE, and read with -saved FILE */
int main(int argc, char **argv)
{
  char        path[PETSC_MAX_PATH_LEN], *view[4];
  PetscBool   save, saved = PETSC_FALSE, repartition = PETSC_FALSE;
  const Case *list = cases;
  size_t      n    = PETSC_STATIC_ARRAY_LENGTH(cases);
  PetscMPIInt rank;
  FILE       *file = NULL;

  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-save", path, sizeof(path), &save));
  if (!save) PetscCall(PetscOptionsGetString(NULL, NULL, "-saved", path, sizeof(path), &saved));
  if (!rank && (save || saved)) {
    file = fopen(path, save ? "w" : "r");
    PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s", path);
  }
  for (int k = 0; k < 4; k++) PetscCall(PetscMalloc1(LENGTH, &view[k]));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-gamg_repartition", &repartition, NULL));
  if (repartition) {
    list = repartitioned;
    n    = PETSC_STATIC_ARRAY_LENGTH(repartitioned);
  }
  for (size_t c = 0; c < n; c++) {
    for (PetscInt bs = 1; bs <= 3; bs += 2) {
      TestDiff d = {NULL, 0};
      char     name[64];

      if (Solve(bs, &list[c], (int)c, NULL, &view[0])) TestDiffAdd(&d, "PETSc raised an error, see above", PETSC_MAX_REAL);
      else if (!save && !saved && Solve(bs, &list[c], (int)c, "ref_", &view[2])) TestDiffAdd(&d, "PETSc raised an error, see above", PETSC_MAX_REAL);
      for (int k = 0; k < 2 && !d.what; k++) {
        if (saved) PetscCall(ReadView(file, view[k + 2]));
        if (save && file) fprintf(file, "%s\f", view[k]);
        if (!save) DiffViews(&d, view[k], view[k + 2]);
      }
      PetscCall(PetscSNPrintf(name, sizeof(name), "%s, %" PetscInt_FMT " unknowns a node", list[c].name, bs));
      PetscCall(TestReport(name, &d));
    }
  }
  for (int k = 0; k < 4; k++) PetscCall(PetscFree(view[k]));
  if (file) fclose(file);
  return TestFinalize();
}

/*TEST

  testset:
    requires: double !cuda
    comments: each PETSc knows some of the options only; on a GPU AIJCUSPARSE is the reference, in test/ksp/gamg.sh
    args: -options_left no
    test:
      nsize: {{1 2}}
      args: -mat_type {{@types-ccoo-tilecomposite}}
      checks: 18
    test:
      suffix: repartition
      requires: partitioner
      nsize: 2
      args: -mat_type {{@types-ccoo-tilecomposite}} -gamg_repartition
      checks: 2

TEST*/
