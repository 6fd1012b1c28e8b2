/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "PCGAMG whose type nobody chose: ambagg where -petscamb_for_gamg says so, else agg, with the hierarchy of the same type by name.\n\
  -served   this run's matrices get ambagg\n\n";

#include "../testutil.h"
#include <petscksp.h>
#include <petscamb.h>
#include <petsc/private/pcgamgimpl.h>

#if PETSC_VERSION_LT(3, 20, 0)
  #define COARSEN "-mat_coarsen_type "
#else
  #define COARSEN "-pc_gamg_mat_coarsen_type "
#endif

static const char *expected = PCGAMGAGG; /* the type of a PCGAMG if nobody chose one */

#define SIDE 24

/* The Laplacian of a grid, the off-diagonals weaker in one direction */
static PetscScalar ValueLaplacian(PetscInt i, PetscInt j)
{
  return i == j ? 2.5 : PetscAbsInt(i - j) == 1 ? -1.0 : -0.25;
}

static PetscInt RowSquare(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  PetscInt n = 0;

  if (i >= SIDE) cols[n++] = i - SIDE;
  if (i % SIDE) cols[n++] = i - 1;
  cols[n++] = i;
  if (i % SIDE < SIDE - 1) cols[n++] = i + 1;
  if (i + SIDE < M) cols[n++] = i + SIDE;
  return n;
}

static const TestShape shape = {"square", SIDE *SIDE, SIDE *SIDE, RowSquare, ValueLaplacian, PETSC_FALSE};

/* A solver with options of its own; the type is set before the options, unless it is NULL */
typedef struct {
  KSP          ksp;
  PC           pc;
  PetscOptions options;
} Solver;

static PetscErrorCode SolverCreate(Mat A, const char type[], PetscErrorCode (*settings)(PC), const char options[], Solver *s)
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsCreate(&s->options));
  PetscCall(PetscOptionsInsertString(s->options, options));
  PetscCall(PetscOptionsPush(s->options));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &s->ksp));
  PetscCall(KSPSetType(s->ksp, KSPCG));
  PetscCall(KSPSetOperators(s->ksp, A, A));
  PetscCall(KSPGetPC(s->ksp, &s->pc));
  PetscCall(PCSetType(s->pc, PCGAMG));
  if (type) PetscCall(PCGAMGSetType(s->pc, type));
  if (settings) PetscCall((*settings)(s->pc));
  PetscCall(KSPSetFromOptions(s->ksp));
  PetscCall(KSPSetUp(s->ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolverDestroy(Solver *s)
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsPop());
  PetscCall(KSPDestroy(&s->ksp));
  PetscCall(PetscOptionsDestroy(&s->options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCGAMGGetType() returns memory that is gone if the type was given by an option */
static PetscErrorCode ExpectType(TestDiff *d, PC pc, const char type[], const char what[])
{
  PetscBool same;

  PetscFunctionBeginUser;
  PetscCall(PetscStrcmp(((PC_GAMG *)((PC_MG *)pc->data)->innerctx)->gamg_type_name, type, &same));
  TestExpect(d, what, same);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same levels with the same prolongators, bit for bit */
static PetscErrorCode ExpectSameLevels(TestDiff *d, PC a, PC b)
{
  PetscInt  na, nb;
  PetscBool equal = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(PCMGGetLevels(a, &na));
  PetscCall(PCMGGetLevels(b, &nb));
  TestExpect(d, "there are levels", (PetscBool)(na > 1));
  TestExpect(d, "as many levels as with the type by name", (PetscBool)(na == nb));
  for (PetscInt l = 1; l < PetscMin(na, nb) && equal; l++) {
    Mat      P[2];
    PetscInt n[2];

    PetscCall(PCMGGetInterpolation(a, l, &P[0]));
    PetscCall(PCMGGetInterpolation(b, l, &P[1]));
    for (int k = 0; k < 2; k++) PetscCall(MatGetSize(P[k], NULL, &n[k]));
    equal = (PetscBool)(n[0] == n[1]);
    if (equal) PetscCall(MatEqual(P[0], P[1], &equal));
  }
  TestExpect(d, "the prolongators are those of the type by name", equal);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SettingsNone(PC pc)
{
  return PETSC_SUCCESS;
}

static PetscErrorCode SettingsAll(PC pc)
{
  PetscFunctionBeginUser;
  PetscCall(PCGAMGSetNSmooths(pc, 0));
  PetscCall(PCGAMGSetAggressiveLevels(pc, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Nobody(TestDiff *d)
{
  PetscErrorCode (*const settings[])(PC) = {SettingsNone, SettingsAll};
  const char *const options[]            = {"", "-pc_gamg_agg_nsmooths 2", "-pc_gamg_threshold 0.3 -pc_gamg_aggressive_coarsening 2", "-pc_gamg_coarse_eq_limit 10 -pc_gamg_ambagg_strongest"};
  Mat               A;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&shape, NULL, &A));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(settings); k++) {
    for (size_t o = 0; o < PETSC_STATIC_ARRAY_LENGTH(options); o++) {
      Solver open, named;

      PetscCall(SolverCreate(A, NULL, settings[k], options[o], &open));
      PetscCall(ExpectType(d, open.pc, expected, "the type that -petscamb_for_gamg says"));
      PetscCall(SolverCreate(A, expected, settings[k], options[o], &named));
      PetscCall(ExpectSameLevels(d, open.pc, named.pc));
      PetscCall(SolverDestroy(&named));
      PetscCall(SolverDestroy(&open));
    }
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A type by name, by function or by option, and a coarsener of agg */
static PetscErrorCode Chosen(TestDiff *d)
{
  static const struct {
    const char *type, *options, *expected;
  } cases[] = {
    {PCGAMGAGG,       "",                                                      PCGAMGAGG      },
    {NULL,            "-pc_gamg_type agg",                                     PCGAMGAGG      },
    {NULL,            "-pc_gamg_type ambagg",                                  PCGAMGAMBAGG   },
    {PCGAMGAMBAGG,    "-pc_gamg_type agg",                                     PCGAMGAGG      },
    {PCGAMGAGG,       "-pc_gamg_type ambagg",                                  PCGAMGAMBAGG   },
    {PCGAMGCLASSICAL, "",                                                      PCGAMGCLASSICAL},
    {NULL,            COARSEN "mis -pc_gamg_aggressive_square_graph false",    PCGAMGAGG      },
    {NULL,            COARSEN "ambmis -pc_gamg_aggressive_square_graph false", PCGAMGAGG      }
  };
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&shape, NULL, &A));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); k++) {
    Solver s, agg;

    PetscCall(SolverCreate(A, cases[k].type, NULL, cases[k].options, &s));
    PetscCall(ExpectType(d, s.pc, cases[k].expected, "the type that was chosen"));
    if (!strcmp(cases[k].expected, PCGAMGAGG)) {
      PetscCall(SolverCreate(A, PCGAMGAGG, NULL, cases[k].options, &agg));
      PetscCall(ExpectSameLevels(d, s.pc, agg.pc));
      PetscCall(SolverDestroy(&agg));
    }
    PetscCall(SolverDestroy(&s));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Set up again: with other values, after PCReset(), as another preconditioner and back, with a type by name and back */
static PetscErrorCode Again(TestDiff *d)
{
  Solver s, named;
  Mat    A;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&shape, NULL, &A));
  PetscCall(SolverCreate(A, NULL, NULL, "-pc_gamg_reuse_interpolation false", &s));
  PetscCall(MatScale(A, 2.0));
  PetscCall(KSPSetUp(s.ksp));
  PetscCall(ExpectType(d, s.pc, expected, "the type with other values"));
  PetscCall(PCReset(s.pc));
  PetscCall(KSPSetOperators(s.ksp, A, A));
  PetscCall(PCSetUp(s.pc));
  PetscCall(ExpectType(d, s.pc, expected, "the type after PCReset()"));
  PetscCall(SolverCreate(A, NULL, NULL, "", &named));
  for (int k = 0; k < 2; k++) {
    PC pc = k ? named.pc : s.pc;

    PetscCall(PCSetType(pc, PCJACOBI));
    PetscCall(PCSetType(pc, PCGAMG));
    if (k) PetscCall(PCGAMGSetType(pc, expected));
    PetscCall(PCSetUp(pc));
    PetscCall(ExpectType(d, pc, expected, "the type of a preconditioner that was another one"));
  }
  PetscCall(ExpectSameLevels(d, s.pc, named.pc));
  PetscCall(SolverDestroy(&named));
  PetscCall(PCSetType(s.pc, PCJACOBI)); /* PETSc's levels keep their sizes otherwise, after PCReset() too */
  PetscCall(PCSetType(s.pc, PCGAMG));
  PetscCall(PCGAMGSetType(s.pc, PCGAMGAGG));
  PetscCall(PCSetUp(s.pc));
  PetscCall(ExpectType(d, s.pc, PCGAMGAGG, "agg by name after a set-up without"));
  PetscCall(SolverDestroy(&s));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const TestCase tests[] = {
    {"nobody chose a type", Nobody},
    {"a type was chosen",   Chosen},
    {"set up again",        Again },
    {NULL,                  NULL  }
  };

  PetscBool served;

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-served", &served));
  if (served) expected = PCGAMGAMBAGG;
  PetscCall(TestRun(tests));
  return TestFinalize();
}

/*TEST

  testset:
    requires: double
    comments: each PETSc knows some of the options only
    args: -options_left no -mat_shadow_tune off
    nsize: {{1 2}}
    checks: 3
    test:
      suffix: all
      args: -mat_type {{aij amb}} -petscamb_for_gamg all -served
    test:
      suffix: none
      args: -mat_type amb -petscamb_for_gamg none
    test:
      suffix: host
      args: -mat_type amb -mat_amb_device cpu
    test:
      suffix: gpu
      requires: cuda
      args: -mat_type {{@types-tilecomposite}} -served

TEST*/
