/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "The KSP types of petsc-amb against those of PETSc that they extend: iterations, histories, monitors, reasons, solutions.\n";

#include "../testutil.h"
#include "ksp/ksp/impls/ambksp/ambksp.h"

/* ------------------------------------------------- systems ------------------------------------------------- */

static PetscScalar ValueSymmetric(PetscInt i, PetscInt j)
{
  return i == j ? 4.05 + 0.5 * PetscAbsReal(TestReal(i, i)) : -1 + 0.3 * PetscAbsReal(TestReal(PetscMin(i, j), PetscMax(i, j)));
}

static PetscScalar ValueConvection(PetscInt i, PetscInt j)
{
  return i == j ? 4.3 + 0.5 * PetscAbsReal(TestReal(i, i)) : -1 + 0.3 * PetscAbsReal(TestReal(i, j)) + (i < j ? 0.4 : -0.4);
}

static PetscInt RowDiagonal(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  cols[0] = i;
  return 1;
}

static PetscScalar ValueTwo(PetscInt i, PetscInt j)
{
  return 2.0;
}

/* Some rows have no diagonal entry */
static PetscInt RowHoles(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  const PetscInt n = TestRowGrid(i, M, N, cols);
  PetscInt       k = 0;

  for (PetscInt c = 0; c < n; c++) {
    if (cols[c] != i || i % 50) cols[k++] = cols[c];
  }
  return k;
}

static const TestShape symmetric  = {"symmetric", 900, 900, TestRowGrid, ValueSymmetric, PETSC_FALSE};
static const TestShape large      = {"large", 62500, 62500, TestRowGrid, ValueSymmetric, PETSC_FALSE};
static const TestShape convection = {"convection", 900, 900, TestRowGrid, ValueConvection, PETSC_FALSE};
static const TestShape blocks     = {"blocks", 324, 324, TestRowBlocks, TestValueNodes, PETSC_FALSE};
static const TestShape indefinite = {"indefinite", 900, 900, TestRowGrid, TestValueIndefinite, PETSC_FALSE};
static const TestShape neumann    = {"neumann", 900, 900, TestRowGrid, TestValueNeumann, PETSC_FALSE};
static const TestShape skew       = {"skew", 900, 900, TestRowPairs, TestValueSkew, PETSC_FALSE};
static const TestShape twice      = {"twice", 900, 900, RowDiagonal, ValueTwo, PETSC_FALSE};
static const TestShape holes      = {"holes", 900, 900, RowHoles, ValueSymmetric, PETSC_FALSE};
static const TestShape last       = {"last", 400, 400, TestRowGrid, ValueSymmetric, PETSC_TRUE};

/* ------------------------------------------------- methods ------------------------------------------------- */

typedef struct {
  const char *own, *petsc, *options;
  PetscBool   symmetric;
} Method;

static const Method methods[] = {
  {KSPAMBCG,     KSPCG,     "",                                                                                                                                                   PETSC_TRUE },
  {KSPAMBCG,     KSPCG,     " -ksp_cg_single_reduction",                                                                                                                          PETSC_TRUE },
  {KSPAMBBCGS,   KSPBCGS,   " -ksp_pc_side left",                                                                                                                                 PETSC_FALSE},
  {KSPAMBBCGS,   KSPBCGS,   " -ksp_pc_side right",                                                                                                                                PETSC_FALSE},
  {KSPAMBGMRES,  KSPGMRES,  " -ksp_pc_side left -ksp_gmres_restart 12 -ksp_gmres_cgs_refinement_type refine_always -ksp_orthogonalization_cgs_refinement_type refine_always",     PETSC_FALSE},
  {KSPAMBGMRES,  KSPGMRES,  " -ksp_pc_side right -ksp_gmres_restart 7",                                                                                                           PETSC_FALSE},
  {KSPAMBGMRES,  KSPGMRES,  " -ksp_pc_side left -ksp_gmres_restart 5 -ksp_gmres_modifiedgramschmidt -ksp_orthogonalization mgs",                                                  PETSC_FALSE},
  {KSPAMBFGMRES, KSPFGMRES, " -ksp_pc_side right -ksp_gmres_restart 9 -ksp_gmres_cgs_refinement_type refine_ifneeded -ksp_orthogonalization_cgs_refinement_type refine_ifneeded", PETSC_FALSE}
};

#define HISTORY 600

/* Everything that a solve shows */
typedef struct {
  PetscInt           its, monitored;
  KSPConvergedReason reason;
  PetscReal          rnorm, history[HISTORY];
  PetscInt           length;
  PetscReal          seen[HISTORY], solution[HISTORY]; /* by the monitor */
  PetscInt           built;                            /* solutions that the monitor can see: in its last call PETSc's GMRES adds the basis to the solution again */
  PetscBool          order, fused;
  Vec                x;
} Outcome;

/* Calls must come in order, with the solution and the residual of that iteration */
static PetscErrorCode Monitor(KSP ksp, PetscInt its, PetscReal norm, void *ctx)
{
  Outcome *out = (Outcome *)ctx;
  Vec      v, x;

  PetscFunctionBeginUser;
  if (its != out->monitored) out->order = PETSC_FALSE;
  if (its < HISTORY) {
    PetscCall(KSPGetSolution(ksp, &x));
    PetscCall(VecDuplicate(x, &v));
    PetscCall(KSPBuildSolution(ksp, v, NULL));
    PetscCall(VecNorm(v, NORM_2, &out->solution[its]));
    PetscCall(VecDestroy(&v));
    out->seen[its] = norm;
  }
  out->monitored++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode IsFused(KSP ksp, PetscBool *fused)
{
  PetscObject object;
  KSPAMB     *amb;

  PetscFunctionBeginUser;
  *fused = PETSC_FALSE;
  PetscCall(PetscObjectQuery((PetscObject)ksp, "KSPAMB", &object));
  if (!object) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPAMBGet(ksp, &amb));
  *fused = amb->fused;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves and notes what can be seen */
static PetscErrorCode Solve(KSP ksp, Vec b, Vec x, Outcome *out)
{
  const PetscReal *history;
  PetscInt         n;
  PetscBool        gmres;

  PetscFunctionBeginUser;
  out->monitored = 0;
  out->order     = PETSC_TRUE;
  PetscCall(KSPMonitorCancel(ksp));
  PetscCall(KSPMonitorSet(ksp, Monitor, out, NULL));
  PetscCall(KSPSetResidualHistory(ksp, NULL, HISTORY, PETSC_TRUE));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &out->its));
  PetscCall(KSPGetConvergedReason(ksp, &out->reason));
  PetscCall(KSPGetResidualNorm(ksp, &out->rnorm));
  PetscCall(KSPGetResidualHistory(ksp, &history, &n));
  out->length = n;
  PetscCall(PetscArraycpy(out->history, history, n));
  PetscCall(IsFused(ksp, &out->fused));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp, &gmres, KSPGMRES, KSPFGMRES, KSPAMBGMRES, KSPAMBFGMRES, ""));
  out->built = PetscMin(out->monitored, HISTORY) - (gmres && out->its > 0);
  PetscCall(VecDuplicate(x, &out->x));
  PetscCall(VecCopy(x, out->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OutcomeDestroy(Outcome *out)
{
  return VecDestroy(&out->x);
}

/* |a - b| relative to b and to the first value, as rounding errors of the iterations are */
static PetscBool Near(PetscReal a, PetscReal b, PetscReal start)
{
  if (PetscIsInfOrNanReal(b)) return PetscIsInfOrNanReal(a);
  return (PetscBool)(PetscAbsReal(a - b) <= 1.e-5 * PetscAbsReal(b) + 1.e-11 * start);
}

static PetscErrorCode Compare(TestDiff *d, Outcome *own, Outcome *petsc)
{
  PetscReal norm, err;

  PetscFunctionBeginUser;
  PetscCall(VecNorm(petsc->x, NORM_2, &norm));
  /* a residual that is 0 but for rounding is below one limit or the other */
  TestExpect(d, "another reason than PETSc's", (PetscBool)(own->reason == petsc->reason || (own->reason > 0 && petsc->reason > 0 && PetscMax(own->rnorm, petsc->rnorm) < 1e-11 * petsc->history[0])));
  TestExpect(d, "another number of iterations than PETSc's", (PetscBool)(own->its == petsc->its));
  TestExpect(d, "another final norm than PETSc's", Near(own->rnorm, petsc->rnorm, petsc->length ? petsc->history[0] : 1.0));
  TestExpect(d, "another length of the history than PETSc's", (PetscBool)(own->length == petsc->length));
  for (PetscInt k = 0; k < PetscMin(own->length, petsc->length); k++) TestExpect(d, "another history than PETSc's", Near(own->history[k], petsc->history[k], petsc->history[0]));
  TestExpect(d, "monitors are called in another order", own->order);
  TestExpect(d, "monitors are called another number of times than by PETSc", (PetscBool)(own->monitored == petsc->monitored));
  for (PetscInt k = 0; k < PetscMin(PetscMin(own->monitored, petsc->monitored), HISTORY); k++) {
    TestExpect(d, "a monitor sees another norm", Near(own->seen[k], petsc->seen[k], petsc->seen[0]));
    if (k < petsc->built) TestExpect(d, "a monitor sees another solution", Near(own->solution[k], petsc->solution[k], PetscIsInfOrNanReal(norm) ? petsc->solution[petsc->built - 1] : norm));
  }
  if (PetscIsInfOrNanReal(norm)) {
    PetscCall(VecNorm(own->x, NORM_2, &err));
    TestExpect(d, "a solution where PETSc has none", PetscIsInfOrNanReal(err) ? PETSC_TRUE : PETSC_FALSE);
  } else {
    PetscCall(VecAXPY(own->x, -1.0, petsc->x));
    PetscCall(VecNorm(own->x, NORM_2, &err));
    TestExpect(d, "another solution than PETSc's", (PetscBool)(err <= 1.e-6 * norm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- one system, both solvers ------------------------------------------------- */

/* A KSP with these options, in a database of its own with the options of the command line */
static PetscErrorCode Configure(KSP ksp, const char type[], const char options[])
{
  char        *all;
  PetscOptions database;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetAll(NULL, &all));
  PetscCall(PetscOptionsCreate(&database));
  PetscCall(PetscOptionsInsertString(database, all));
  PetscCall(PetscOptionsInsertString(database, options));
  PetscCall(PetscOptionsPush(database));
  PetscCall(KSPSetType(ksp, type));
  PetscCall(KSPSetTolerances(ksp, 1e-9, 1e-50, 1e5, 500));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetUp(ksp)); /* preconditioners read their options here */
  PetscCall(PetscOptionsPop());
  PetscCall(PetscOptionsDestroy(&database));
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef enum {
  GUESS_NONE,
  GUESS_SOME,
  GUESS_EXACT
} Guess;

typedef struct {
  const char      *name;
  const TestShape *shape;
  const char      *options;
  Guess            guess;
  PetscReal        rhs; /* 0: random numbers; 1 or another number: this number in every entry, with NaN in the first one if it is NaN */
} Case;

static PetscErrorCode MakeSystem(const Case *c, Mat *A, Vec *b, Vec *x)
{
  PetscInt rstart, rend;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(c->shape, NULL, A));
  if (c->shape == &blocks) PetscCall(MatSetBlockSize(*A, 3));
  PetscCall(MatCreateVecs(*A, x, b));
  PetscCall(TestVecSet(*b, 3));
  if (PetscIsNanReal(c->rhs)) {
    PetscCall(VecGetOwnershipRange(*b, &rstart, &rend));
    if (rstart == 0 && rend > 0) PetscCall(VecSetValue(*b, 0, NAN, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(*b));
    PetscCall(VecAssemblyEnd(*b));
  } else if (c->rhs != 0) PetscCall(VecSet(*b, c->rhs < 0 ? 0.0 : c->rhs));
  if (c->guess == GUESS_EXACT) {
    PetscCall(TestVecSet(*x, 5));
    PetscCall(MatMult(*A, *x, *b));
  } else if (c->guess == GUESS_SOME) PetscCall(TestVecSet(*x, 7));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunOne(const Case *c, const Method *m, PetscBool own, Mat A, Vec b, Vec x0, Outcome *out)
{
  char options[512];
  KSP  ksp;
  Vec  x;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(x0, &x));
  PetscCall(VecCopy(x0, x));
  PetscCall(PetscSNPrintf(options, sizeof(options), "%s%s", c->options, m->options));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetInitialGuessNonzero(ksp, (PetscBool)(c->guess != GUESS_NONE)));
  PetscCall(Configure(ksp, own ? m->own : m->petsc, options));
  PetscCall(Solve(ksp, b, x, out));
  PetscCall(TestDestroy(&ksp, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is the solve on fused passes, or PETSc's own, as expected? On a GPU only some are on passes, and Device() says which. */
static PetscErrorCode CheckFused(TestDiff *d, Vec x, PetscBool wanted, PetscBool fused)
{
  PetscBool host;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)x, &host, VECSEQ, VECMPI, ""));
  if (PetscDefined(USE_COMPLEX)) wanted = PETSC_FALSE;
  TestExpect(d, "the solve is PETSc's own, or is not", (PetscBool)(fused == wanted || (!host && !fused)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Has the method the norm of the case? */
static PetscBool Makes(const Method *m, const Case *c)
{
  if (strstr(c->options, "-ksp_norm_type natural") && !m->symmetric) return PETSC_FALSE;
  if (strstr(c->options, "-ksp_norm_type none") && c->rhs == -1 && !strcmp(m->petsc, KSPFGMRES)) return PETSC_FALSE; /* PETSc's divides by a norm of 0 */
  if (strstr(c->options, "-ksp_norm_type unpreconditioned") && !m->symmetric && !strstr(m->options, "right")) return PETSC_FALSE;
  if (strstr(c->options, "-ksp_norm_type preconditioned") && !m->symmetric && !strstr(m->options, "left")) return PETSC_FALSE;
  return PETSC_TRUE;
}

/* The case with each method for such matrices; twice with the type of petsc-amb, which must give the same bits */
static PetscErrorCode RunCase(TestDiff *d, const Case *c, PetscBool cg, PetscBool bcgs)
{
  Outcome   own, again, petsc;
  PetscBool same;
  Mat       A;
  Vec       b, x;

  PetscFunctionBeginUser;
  PetscCall(MakeSystem(c, &A, &b, &x));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(methods); k++) {
    const Method *m = &methods[k];

    if (!(m->symmetric ? cg : bcgs)) continue;
    if (!Makes(m, c)) continue;
    PetscCall(RunOne(c, m, PETSC_FALSE, A, b, x, &petsc));
    PetscCall(RunOne(c, m, PETSC_TRUE, A, b, x, &own));
    PetscCall(RunOne(c, m, PETSC_TRUE, A, b, x, &again));
    PetscCall(CheckFused(d, x, PETSC_TRUE, own.fused));
    PetscCall(VecEqual(own.x, again.x, &same));
    TestExpect(d, "other bits in the second run", (PetscBool)(same || own.reason == KSP_DIVERGED_NANORINF));
    PetscCall(Compare(d, &own, &petsc));
    PetscCall(OutcomeDestroy(&own));
    PetscCall(OutcomeDestroy(&again));
    PetscCall(OutcomeDestroy(&petsc));
  }
  PetscCall(TestDestroy(&b, &x, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunCases(TestDiff *d, const Case cases[], PetscBool cg, PetscBool bcgs)
{
  PetscFunctionBeginUser;
  for (const Case *c = cases; c->name; c++) {
    TestDiff here = {NULL, 0};

    PetscCall(RunCase(&here, c, cg, bcgs));
    if (here.err > 0) {
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "    %s: %s\n", c->name, here.what));
      TestDiffAdd(d, here.what, here.err);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- checks ------------------------------------------------- */

static PetscErrorCode Norms(TestDiff *d)
{
  static const Case both[] = {
    {"preconditioned",              &symmetric, "-pc_type jacobi -ksp_norm_type preconditioned",                             GUESS_NONE, 0},
    {"unpreconditioned",            &symmetric, "-pc_type jacobi -ksp_norm_type unpreconditioned",                           GUESS_SOME, 0},
    {"natural",                     &symmetric, "-pc_type jacobi -ksp_norm_type natural",                                    GUESS_NONE, 0},
    {"none",                        &symmetric, "-pc_type jacobi -ksp_norm_type none -ksp_max_it 12",                        GUESS_NONE, 0},
    {"preconditioned, sor",         &symmetric, "-pc_type sor -ksp_norm_type preconditioned",                                GUESS_SOME, 0},
    {"unpreconditioned, sor",       &symmetric, "-pc_type sor -ksp_norm_type unpreconditioned",                              GUESS_NONE, 0},
    {"natural, sor",                &symmetric, "-pc_type sor -ksp_norm_type natural",                                       GUESS_NONE, 0},
    {"none, sor",                   &symmetric, "-pc_type sor -ksp_norm_type none -ksp_max_it 8",                            GUESS_NONE, 0},
    {"late norms",                  &symmetric, "-pc_type jacobi -ksp_check_norm_iteration 7",                               GUESS_NONE, 0},
    {"late norms, sor",             &symmetric, "-pc_type sor -ksp_check_norm_iteration 7",                                  GUESS_NONE, 0},
    {"late unpreconditioned norms", &symmetric, "-pc_type none -ksp_norm_type unpreconditioned -ksp_check_norm_iteration 5", GUESS_NONE, 0},
    {NULL,                          NULL,       NULL,                                                                        GUESS_NONE, 0}
  };

  PetscFunctionBeginUser;
  PetscCall(RunCases(d, both, PETSC_TRUE, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Preconditioners(TestDiff *d)
{
  static const Case both[] = {
    {"none",                 &symmetric, "-pc_type none",                          GUESS_SOME, 0},
    {"jacobi, rowmax",       &symmetric, "-pc_type jacobi -pc_jacobi_type rowmax", GUESS_NONE, 0},
    {"jacobi, rowsum",       &symmetric, "-pc_type jacobi -pc_jacobi_type rowsum", GUESS_NONE, 0},
    {"jacobi, abs",          &symmetric, "-pc_type jacobi -pc_jacobi_abs",         GUESS_NONE, 0},
    {"pbjacobi",             &blocks,    "-pc_type pbjacobi",                      GUESS_NONE, 0},
    {"pbjacobi, points",     &symmetric, "-pc_type pbjacobi",                      GUESS_NONE, 0},
    {"bjacobi",              &symmetric, "-pc_type bjacobi -sub_pc_type icc",      GUESS_NONE, 0},
    {"all on the last rank", &last,      "-pc_type jacobi",                        GUESS_NONE, 0},
    {"several blocks",       &large,     "-pc_type jacobi -ksp_max_it 12",         GUESS_NONE, 0},
    {NULL,                   NULL,       NULL,                                     GUESS_NONE, 0}
  };
  static const Case general[] = {
    {"convection",       &convection, "-pc_type jacobi", GUESS_SOME, 0},
    {"convection, none", &convection, "-pc_type none",   GUESS_NONE, 0},
    {"convection, sor",  &convection, "-pc_type sor",    GUESS_SOME, 0},
    {NULL,               NULL,        NULL,              GUESS_NONE, 0}
  };

  PetscFunctionBeginUser;
  PetscCall(RunCases(d, both, PETSC_TRUE, PETSC_TRUE));
  PetscCall(RunCases(d, general, PETSC_FALSE, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where iterations begin and end */
static PetscErrorCode Ends(TestDiff *d)
{
  static const Case both[] = {
    {"zero right-hand side",          &symmetric, "-pc_type jacobi",                                     GUESS_NONE,  -1 },
    {"zero right-hand side, a guess", &symmetric, "-pc_type jacobi",                                     GUESS_SOME,  -1 },
    {"zero, no norm",                 &symmetric, "-pc_type jacobi -ksp_norm_type none -ksp_max_it 3",   GUESS_NONE,  -1 },
    {"exact guess",                   &symmetric, "-pc_type jacobi -ksp_atol 1e-6",                      GUESS_EXACT, 0  },
    {"no iteration",                  &symmetric, "-pc_type jacobi -ksp_max_it 0",                       GUESS_NONE,  0  },
    {"one iteration",                 &symmetric, "-pc_type jacobi -ksp_max_it 1",                       GUESS_SOME,  0  },
    {"seven iterations",              &symmetric, "-pc_type jacobi -ksp_max_it 7",                       GUESS_NONE,  0  },
    {"as many as wanted",             &symmetric, "-pc_type jacobi -ksp_max_it 7 -ksp_converged_maxits", GUESS_NONE,  0  },
    {"diverged",                      &symmetric, "-pc_type jacobi -ksp_divtol 0.9 -ksp_rtol 1e-12",     GUESS_NONE,  0  },
    {"one step",                      &twice,     "-pc_type none",                                       GUESS_NONE,  1  },
    {"NaN",                           &symmetric, "-pc_type jacobi",                                     GUESS_NONE,  NAN},
    {"NaN without a norm",            &symmetric, "-pc_type jacobi -ksp_norm_type none -ksp_max_it 3",   GUESS_NONE,  NAN},
    {NULL,                            NULL,       NULL,                                                  GUESS_NONE,  0  }
  };
  static const Case cg[] = {
    {"indefinite matrix",         &indefinite, "-pc_type none",   GUESS_NONE, 0},
    {"indefinite preconditioner", &indefinite, "-pc_type jacobi", GUESS_NONE, 0},
    {"p.Ap is 0",                 &skew,       "-pc_type none",   GUESS_NONE, 1},
    {NULL,                        NULL,        NULL,              GUESS_NONE, 0}
  };
  static const Case bcgs[] = {
    {"breakdown", &skew, "-pc_type none", GUESS_NONE, 1},
    {NULL,        NULL,  NULL,            GUESS_NONE, 0}
  };

  PetscFunctionBeginUser;
  PetscCall(RunCases(d, both, PETSC_TRUE, PETSC_TRUE));
  PetscCall(RunCases(d, cg, PETSC_TRUE, PETSC_FALSE));
  PetscCall(RunCases(d, bcgs, PETSC_FALSE, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Applies the numbers that passes use, and PETSc's preconditioner: the same bits */
static PetscErrorCode Exactly(TestDiff *d)
{
  static const struct {
    const TestShape *shape;
    const char      *options;
    PetscBool        exact;
  } cases[] = {
    {&symmetric,  "-pc_type jacobi",                          PETSC_TRUE },
    {&symmetric,  "-pc_type jacobi -pc_jacobi_type rowmax",   PETSC_TRUE },
    {&symmetric,  "-pc_type jacobi -pc_jacobi_type rowsum",   PETSC_TRUE },
    {&indefinite, "-pc_type jacobi -pc_jacobi_abs",           PETSC_TRUE },
    {&holes,      "-pc_type jacobi",                          PETSC_TRUE },
    {&holes,      "-pc_type jacobi -pc_jacobi_fixdiagonal 0", PETSC_TRUE },
    {&blocks,     "-pc_type pbjacobi",                        PETSC_FALSE}
  };

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); k++) {
    const PetscScalar *r, *z;
    Case               c = {"", cases[k].shape, "", GUESS_NONE, 0};
    PetscBool          fused;
    PetscInt           n;
    KSPAMB            *amb;
    KSP                ksp;
    PC                 pc;
    Mat                A;
    Vec                b, x;

    PetscCall(MakeSystem(&c, &A, &b, &x));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(Configure(ksp, KSPAMBCG, cases[k].options));
    PetscCall(KSPSetTolerances(ksp, 1e-9, 1e-50, 1e5, 2));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(IsFused(ksp, &fused));
    PetscCall(KSPAMBGet(ksp, &amb));
    if (fused && amb->d) {
      PetscCall(KSPGetPC(ksp, &pc));
      PetscCall(PCApply(pc, b, x));
      PetscCall(VecGetLocalSize(b, &n));
      PetscCall(VecGetArrayRead(b, &r));
      PetscCall(VecGetArrayRead(x, &z));
      for (PetscInt i = 0; i < n; i++) {
        const PetscInt bs = amb->bs, first = i / bs * bs;
        SysReal        sum = 0, scale = 0;

        for (PetscInt j = 0; j < bs; j++) {
          sum += amb->d[j * n + i] * PetscRealPart(r[first + j]);
          scale += PetscAbsReal(amb->d[j * n + i] * PetscRealPart(r[first + j]));
        }
        if (cases[k].exact) TestExpect(d, "other bits than PCApply() gives", (PetscBool)(sum == PetscRealPart(z[i])));
        else TestDiffAdd(d, "another number than PCApply() gives", PetscAbsReal(sum - PetscRealPart(z[i])) / scale);
      }
      PetscCall(VecRestoreArrayRead(b, &r));
      PetscCall(VecRestoreArrayRead(x, &z));
    }
    PetscCall(TestDestroy(&ksp, &b, &x, &A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Stops when the true residual, which KSPBuildResidual() makes, is small enough */
static PetscErrorCode TrueResidual(KSP ksp, PetscInt its, PetscReal norm, KSPConvergedReason *reason, void *ctx)
{
  PetscReal real;
  Vec       r;

  PetscFunctionBeginUser;
  PetscCall(KSPBuildResidual(ksp, NULL, NULL, &r));
  PetscCall(VecNorm(r, NORM_2, &real));
  PetscCall(VecDestroy(&r));
  *reason = its < 40 && real > 1e-5 ? KSP_CONVERGED_ITERATING : KSP_CONVERGED_HAPPY_BREAKDOWN;
  (*(PetscInt *)ctx)++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Both solvers with what a program sets by functions */
static PetscErrorCode Both(TestDiff *d, const Case *c, PetscErrorCode (*set)(KSP, Mat, void *), void *ctx, PetscBool fused)
{
  Mat A;
  Vec b, x;

  PetscFunctionBeginUser;
  PetscCall(MakeSystem(c, &A, &b, &x));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(methods); k++) {
    Outcome out[2];

    for (int own = 0; own < 2; own++) {
      char options[256];
      KSP  ksp;
      Vec  y;

      PetscCall(VecDuplicate(x, &y));
      PetscCall(VecCopy(x, y));
      PetscCall(PetscSNPrintf(options, sizeof(options), "%s%s", c->options, methods[k].options));
      PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
      PetscCall(KSPSetOperators(ksp, A, A));
      PetscCall((*set)(ksp, A, ctx));
      PetscCall(Configure(ksp, own ? methods[k].own : methods[k].petsc, options));
      PetscCall(Solve(ksp, b, y, &out[own]));
      PetscCall(TestDestroy(&ksp, &y));
    }
    PetscCall(CheckFused(d, x, fused, out[1].fused));
    PetscCall(Compare(d, &out[1], &out[0]));
    PetscCall(OutcomeDestroy(&out[0]));
    PetscCall(OutcomeDestroy(&out[1]));
  }
  PetscCall(TestDestroy(&b, &x, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetTest(KSP ksp, Mat A, void *calls)
{
  return KSPSetConvergenceTest(ksp, TrueResidual, calls, NULL);
}

static PetscErrorCode OwnTest(TestDiff *d)
{
  const Case c     = {"", &symmetric, "-pc_type jacobi", GUESS_SOME, 0};
  PetscInt   calls = 0;

  PetscFunctionBeginUser;
  PetscCall(Both(d, &c, SetTest, &calls, PETSC_TRUE));
  TestExpect(d, "the test is not called", (PetscBool)(calls > 8));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetNullSpace(KSP ksp, Mat A, void *ctx)
{
  MatNullSpace space;

  PetscFunctionBeginUser;
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &space));
  PetscCall(MatSetNullSpace(A, space));
  PetscCall(MatNullSpaceDestroy(&space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NullSpace(TestDiff *d)
{
  const Case c[] = {
    {"", &neumann, "-pc_type jacobi -ksp_max_it 20", GUESS_NONE, 0},
    {"", &neumann, "-pc_type none -ksp_max_it 20",   GUESS_NONE, 0}
  };

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++) PetscCall(Both(d, &c[k], SetNullSpace, NULL, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two solvers take turns with one matrix, whose values and pattern change */
static PetscErrorCode Repeated(TestDiff *d)
{
  const Case c   = {"", &symmetric, "", GUESS_NONE, 0};
  PetscInt   row = 0, col = 450;
  PetscInt   rstart, rend;
  Outcome    out[2][2];
  KSP        ksp[2][2];
  Mat        A;
  Vec        b, x;

  PetscFunctionBeginUser;
  PetscCall(MakeSystem(&c, &A, &b, &x));
  for (int k = 0; k < 2; k++) {
    for (int own = 0; own < 2; own++) {
      PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp[k][own]));
      PetscCall(KSPSetOperators(ksp[k][own], A, A));
      PetscCall(Configure(ksp[k][own], own ? methods[2 * k].own : methods[2 * k].petsc, "-pc_type jacobi"));
    }
  }
  for (int round = 0; round < 5; round++) {
    if (round == 1) PetscCall(MatScale(A, 2.0));
    if (round == 2) { /* preconditioners keep the old diagonal */
      for (int k = 0; k < 4; k++) PetscCall(KSPSetReusePreconditioner(ksp[k / 2][k % 2], PETSC_TRUE));
      PetscCall(MatShift(A, 3.0));
    }
    if (round == 3) {
      for (int k = 0; k < 4; k++) PetscCall(KSPSetReusePreconditioner(ksp[k / 2][k % 2], PETSC_FALSE));
      PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATIONS, PETSC_TRUE));
      PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
      PetscCall(MatGetOwnershipRange(A, &rstart, &rend));
      if (row >= rstart && row < rend) PetscCall(MatSetValue(A, row, col, 0.25, INSERT_VALUES));
      if (col >= rstart && col < rend) PetscCall(MatSetValue(A, col, row, 0.25, INSERT_VALUES));
      PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    }
    if (round == 4) { /* a matrix of another size */
      PetscCall(TestDestroy(&A, &b, &x));
      PetscCall(TestShapeCreate(&last, NULL, &A));
      PetscCall(MatCreateVecs(A, &x, &b));
      PetscCall(TestVecSet(b, 4));
      for (int k = 0; k < 4; k++) PetscCall(KSPReset(ksp[k / 2][k % 2]));
    }
    for (int own = 0; own < 2; own++) {
      for (int k = 0; k < 2; k++) {
        PetscCall(KSPSetOperators(ksp[k][own], A, A));
        PetscCall(Solve(ksp[k][own], b, x, &out[k][own]));
      }
    }
    for (int k = 0; k < 2; k++) {
      PetscCall(Compare(d, &out[k][1], &out[k][0]));
      PetscCall(OutcomeDestroy(&out[k][0]));
      PetscCall(OutcomeDestroy(&out[k][1]));
    }
  }
  for (int k = 0; k < 4; k++) PetscCall(KSPDestroy(&ksp[k / 2][k % 2]));
  PetscCall(TestDestroy(&b, &x, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Inside other solvers: pairs of options */
static PetscErrorCode Inside(TestDiff *d)
{
  static const char *const options[][2] = {
    {"-ksp_type fgmres -pc_type bjacobi -sub_ksp_type cg -sub_ksp_max_it 5 -sub_pc_type jacobi",                    "-ksp_type fgmres -pc_type bjacobi -sub_ksp_type ambcg -sub_ksp_max_it 5 -sub_pc_type jacobi"                      },
    {"-ksp_type fgmres -pc_type ksp -ksp_ksp_type bcgs -ksp_ksp_max_it 4 -ksp_pc_type jacobi",                      "-ksp_type fgmres -pc_type ksp -ksp_ksp_type ambbcgs -ksp_ksp_max_it 4 -ksp_pc_type jacobi"                        },
    {"-ksp_type cg -pc_type ksp -ksp_ksp_type cg -ksp_ksp_rtol 1e-12 -ksp_pc_type jacobi",                          "-ksp_type ambcg -pc_type ksp -ksp_ksp_type ambcg -ksp_ksp_rtol 1e-12 -ksp_pc_type jacobi"                         },
    {"-ksp_type cg -pc_type gamg -pc_gamg_esteig_ksp_type cg -mg_levels_esteig_ksp_type cg",                        "-ksp_type ambcg -pc_type gamg -pc_gamg_esteig_ksp_type ambcg -mg_levels_esteig_ksp_type ambcg"                    },
    {"-ksp_type fgmres -pc_type gamg -mg_levels_ksp_type cg -mg_levels_ksp_norm_type none -mg_levels_ksp_max_it 2", "-ksp_type fgmres -pc_type gamg -mg_levels_ksp_type ambcg -mg_levels_ksp_norm_type none -mg_levels_ksp_max_it 2"   },
    {"-ksp_type cg -pc_type gamg -pc_gamg_use_sa_esteig 0 -mg_levels_ksp_type chebyshev -mg_levels_pc_type jacobi", "-ksp_type ambcg -pc_type gamg -pc_gamg_use_sa_esteig 0 -mg_levels_ksp_type ambchebyshev -mg_levels_pc_type jacobi"},
    {"-ksp_type cg -pc_type gamg -pc_gamg_use_sa_esteig 0 -mg_levels_ksp_type chebyshev -mg_levels_pc_type sor",    "-ksp_type ambcg -pc_type gamg -pc_gamg_use_sa_esteig 0 -mg_levels_ksp_type ambchebyshev -mg_levels_pc_type sor"   }
  };
  const Case c = {"", &symmetric, "", GUESS_NONE, 0};
  Mat        A;
  Vec        b, x;

  PetscFunctionBeginUser;
  PetscCall(MakeSystem(&c, &A, &b, &x));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(options); k++) {
    Outcome out[2];

    for (int own = 0; own < 2; own++) {
      KSP ksp;

      PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
      PetscCall(KSPSetOperators(ksp, A, A));
      PetscCall(Configure(ksp, KSPGMRES, options[k][own]));
      PetscCall(VecSet(x, 0.0));
      PetscCall(Solve(ksp, b, x, &out[own]));
      PetscCall(KSPDestroy(&ksp));
    }
    TestExpect(d, "PETSc's solver does not converge", (PetscBool)(out[0].reason > 0));
    PetscCall(Compare(d, &out[1], &out[0]));
    PetscCall(OutcomeDestroy(&out[0]));
    PetscCall(OutcomeDestroy(&out[1]));
  }
  PetscCall(TestDestroy(&b, &x, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Chebyshev smoothers: both types from the same guess, to the same iterate */
static PetscErrorCode CompareChebyshev(TestDiff *d, KSP ksp[2], Vec b, Vec x0, PetscBool wanted)
{
  KSPConvergedReason reason[2];
  PetscInt           its[2];
  PetscReal          err, norm;
  PetscBool          fused;
  Vec                x[2];

  PetscFunctionBeginUser;
  for (int own = 0; own < 2; own++) {
    PetscCall(VecDuplicate(x0, &x[own]));
    PetscCall(VecCopy(x0, x[own]));
    PetscCall(KSPSolve(ksp[own], b, x[own]));
    PetscCall(KSPGetConvergedReason(ksp[own], &reason[own]));
    PetscCall(KSPGetIterationNumber(ksp[own], &its[own]));
  }
  PetscCall(IsFused(ksp[1], &fused));
  TestExpect(d, "the smoother is PETSc's own, or is not", (PetscBool)(fused == (PetscBool)(wanted && !PetscDefined(USE_COMPLEX))));
  TestExpect(d, "another reason than PETSc's", (PetscBool)(reason[0] == reason[1]));
  TestExpect(d, "another number of iterations than PETSc's", (PetscBool)(its[0] == its[1]));
  PetscCall(VecNorm(x[0], NORM_2, &norm));
  PetscCall(VecAXPY(x[1], -1.0, x[0]));
  PetscCall(VecNorm(x[1], NORM_2, &err));
  if (PetscIsInfOrNanReal(norm)) TestExpect(d, "a number, unlike PETSc's", PetscIsInfOrNanReal(err));
  else TestDiffAdd(d, "another iterate than PETSc's", norm > 0 ? err / norm : err);
  for (int own = 0; own < 2; own++) PetscCall(VecDestroy(&x[own]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MakeChebyshev(Mat A, PetscBool guess, const char options[], KSP ksp[2])
{
  PetscFunctionBeginUser;
  for (int own = 0; own < 2; own++) {
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp[own]));
    PetscCall(KSPSetOperators(ksp[own], A, A));
    PetscCall(KSPSetInitialGuessNonzero(ksp[own], guess));
    PetscCall(Configure(ksp[own], own ? KSPAMBCHEBYSHEV : KSPCHEBYSHEV, options));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Passes make the estimate of eigenvalues exactly if expected: PETSc's solver of the estimate then has another one, and its own operation afterwards */
static PetscErrorCode ExpectEstimate(TestDiff *d, KSP ksp, PetscBool expected)
{
  KSP         estimate, plain;
  KSPType     type;
  PetscObject passes;

  PetscFunctionBeginUser;
  PetscCall(KSPChebyshevEstEigGetKSP(ksp, &estimate));
  PetscCall(PetscObjectQuery((PetscObject)estimate, "KSPAMBEstimate", &passes));
  TestExpect(d, expected ? "PETSc's solver made the estimate" : "passes made the estimate", (PetscBool)((passes != NULL) == expected));
  PetscCall(KSPGetType(estimate, &type));
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)ksp), &plain));
  PetscCall(KSPSetType(plain, type));
  TestExpect(d, "the estimate did not end", (PetscBool)(estimate->ops->solve == plain->ops->solve));
  PetscCall(KSPDestroy(&plain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Chebyshev(TestDiff *d)
{
  static const PetscInt steps[] = {4, 0, 1, 2, 3, 9};
  static const Case     fused[] = {
        {"jacobi",            &symmetric, "-pc_type jacobi",                                                                  GUESS_NONE, 0  },
        {"jacobi, a guess",   &symmetric, "-pc_type jacobi",                                                                  GUESS_SOME, 0  },
        {"jacobi, rowmax",    &symmetric, "-pc_type jacobi -pc_jacobi_type rowmax",                                           GUESS_SOME, 0  },
        {"none",              &symmetric, "-pc_type none",                                                                    GUESS_NONE, 0  },
        {"none, a guess",     &symmetric, "-pc_type none",                                                                    GUESS_SOME, 0  },
        {"pbjacobi",          &blocks,    "-pc_type pbjacobi",                                                                GUESS_NONE, 0  },
        {"pbjacobi, guess",   &blocks,    "-pc_type pbjacobi",                                                                GUESS_SOME, 0  },
        {"pbjacobi, points",  &symmetric, "-pc_type pbjacobi",                                                                GUESS_SOME, 0  },
        {"eigenvalues",       &symmetric, "-pc_type jacobi -ksp_chebyshev_eigenvalues 0.3,2.1",                               GUESS_NONE, 0  },
        {"estimate",          &symmetric, "-pc_type jacobi -ksp_chebyshev_esteig 0,0.25,0,1.3 -ksp_chebyshev_esteig_steps 7", GUESS_NONE, 0  },
        {"another solver",    &symmetric, "-pc_type jacobi -esteig_ksp_type cg",                                              GUESS_SOME, 0  },
        {"on one rank",       &last,      "-pc_type jacobi",                                                                  GUESS_SOME, 0  },
        {"several blocks",    &large,     "-pc_type jacobi",                                                                  GUESS_SOME, 0  },
        {"fourth kind",       &symmetric, "-pc_type jacobi -ksp_chebyshev_kind fourth",                                       GUESS_NONE, 0  },
        {"fourth, a guess",   &blocks,    "-pc_type pbjacobi -ksp_chebyshev_kind fourth",                                     GUESS_SOME, 0  },
        {"fourth, bounds",    &symmetric, "-pc_type none -ksp_chebyshev_kind fourth -ksp_chebyshev_eigenvalues 0.3,7",        GUESS_SOME, 0  },
        {"optimized",         &symmetric, "-pc_type jacobi -ksp_chebyshev_kind opt_fourth",                                   GUESS_NONE, 0  },
        {"optimized, guess",  &blocks,    "-pc_type pbjacobi -ksp_chebyshev_kind opt_fourth",                                 GUESS_SOME, 0  },
        {"optimized, bounds", &symmetric, "-pc_type none -ksp_chebyshev_kind opt_fourth -ksp_chebyshev_eigenvalues 0.3,7e3",  GUESS_SOME, 0  },
        {"zero",              &symmetric, "-pc_type jacobi",                                                                  GUESS_NONE, -1 },
        {"NaN",               &symmetric, "-pc_type jacobi",                                                                  GUESS_NONE, NAN}
  };
  static const Case own[] = {
    {"norms",            &symmetric, "-pc_type jacobi -ksp_norm_type preconditioned",   GUESS_SOME, 0},
    {"unpreconditioned", &symmetric, "-pc_type jacobi -ksp_norm_type unpreconditioned", GUESS_NONE, 0},
    {"sor",              &symmetric, "-pc_type sor -ksp_norm_type none",                GUESS_SOME, 0}
  };
  void (*kinds)(void);
  PetscMPIInt size;
  KSP         ksp[2];
  Mat         A;
  Vec         b, x;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(fused) + PETSC_STATIC_ARRAY_LENGTH(own); k++) {
    const PetscBool wanted = (PetscBool)(k < PETSC_STATIC_ARRAY_LENGTH(fused));
    const Case     *c      = wanted ? &fused[k] : &own[k - PETSC_STATIC_ARRAY_LENGTH(fused)];
    char            options[256];

    PetscCall(MakeSystem(c, &A, &b, &x));
    PetscCall(PetscSNPrintf(options, sizeof(options), "%s%s -ksp_max_it 9", c->options, wanted ? " -ksp_norm_type none" : ""));
    PetscCall(MakeChebyshev(A, (PetscBool)(c->guess != GUESS_NONE), options, ksp));
    PetscCall(PetscObjectQueryFunction((PetscObject)ksp[0], "KSPChebyshevGetKind_C", &kinds)); /* older versions of PETSc have no other polynomials */
    for (size_t s = 0; s < (wanted ? PETSC_STATIC_ARRAY_LENGTH(steps) : 1); s++) {
      for (int own_ksp = 0; own_ksp < 2; own_ksp++) PetscCall(KSPSetTolerances(ksp[own_ksp], PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, steps[s]));
      PetscCall(CompareChebyshev(d, ksp, b, x, (PetscBool)(wanted || (!kinds && strstr(c->options, "kind")))));
    }
    if (!strcmp(c->name, "another solver") || !strcmp(c->name, "jacobi, rowmax")) PetscCall(ExpectEstimate(d, ksp[1], PETSC_FALSE));
    if (!strcmp(c->name, "jacobi") && size == 1 && !PetscDefined(USE_COMPLEX)) PetscCall(ExpectEstimate(d, ksp[1], PETSC_TRUE));
    for (int own_ksp = 0; own_ksp < 2; own_ksp++) PetscCall(KSPDestroy(&ksp[own_ksp]));
    PetscCall(TestDestroy(&b, &x, &A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each number of steps has a polynomial of the optimized fourth kind, which the set-up chooses. A change of the number afterwards keeps its coefficients. */
static PetscErrorCode ChebyshevOptimized(TestDiff *d)
{
  static const PetscInt steps[] = {1, 2, 3, 4, 7, 12, 16};
  const Case            c       = {"", &symmetric, "", GUESS_SOME, 0};
  char                  options[256];
  KSP                   ksp[2];
  Mat                   A;
  Vec                   b, x;

  PetscFunctionBeginUser;
  PetscCall(MakeSystem(&c, &A, &b, &x));
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(steps); s++) {
    for (int guess = 0; guess < 2; guess++) {
      PetscCall(PetscSNPrintf(options, sizeof(options), "-pc_type jacobi -ksp_norm_type none -ksp_chebyshev_kind opt_fourth -ksp_max_it %" PetscInt_FMT, steps[s]));
      PetscCall(MakeChebyshev(A, (PetscBool)guess, options, ksp));
      PetscCall(CompareChebyshev(d, ksp, b, x, PETSC_TRUE));
      for (int own = 0; own < 2; own++) PetscCall(KSPSetTolerances(ksp[own], PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, PetscMax(1, steps[s] / 2)));
      PetscCall(CompareChebyshev(d, ksp, b, x, PETSC_TRUE));
      for (int own = 0; own < 2; own++) PetscCall(KSPDestroy(&ksp[own]));
    }
  }
  PetscCall(TestDestroy(&b, &x, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same smoothers again and again: numbers that were kept must not be used after a change */
static PetscErrorCode ChebyshevAgain(TestDiff *d)
{
  const Case c = {"", &symmetric, "", GUESS_SOME, 0};
  KSP        ksp[2];
  PC         pc;
  Mat        A;
  Vec        b, x;

  PetscFunctionBeginUser;
  PetscCall(MakeSystem(&c, &A, &b, &x));
  PetscCall(MakeChebyshev(A, PETSC_TRUE, "-pc_type jacobi -ksp_norm_type none -ksp_max_it 3", ksp));
  for (int round = 0; round < 12; round++) {
    if (round == 2) PetscCall(MatScale(A, 2.0));
    if (round == 4) PetscCall(MatShift(A, 3.0));
    for (int own = 0; own < 2; own++) {
      if (round == 4) PetscCall(KSPSetReusePreconditioner(ksp[own], PETSC_TRUE));
      if (round == 5) PetscCall(KSPSetReusePreconditioner(ksp[own], PETSC_FALSE));
      if (round == 6) PetscCall(KSPChebyshevSetEigenvalues(ksp[own], 2.5, 0.4));
      if (round == 7) PetscCall(KSPSetInitialGuessNonzero(ksp[own], PETSC_FALSE));
      PetscCall(KSPGetPC(ksp[own], &pc));
      if (round == 8) PetscCall(PCSetType(pc, PCNONE));
      if (round == 9) {
        PetscCall(PCSetType(pc, PCJACOBI));
        PetscCall(PCJacobiSetType(pc, PC_JACOBI_ROWMAX));
      }
      if (round == 10) {
        PetscCall(KSPReset(ksp[own]));
        PetscCall(PCJacobiSetType(pc, PC_JACOBI_DIAGONAL));
        PetscCall(KSPSetOperators(ksp[own], A, A));
      }
      if (round == 11) PetscCall(KSPSetTolerances(ksp[own], PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 6));
    }
    PetscCall(CompareChebyshev(d, ksp, b, x, PETSC_TRUE));
  }
  for (int own = 0; own < 2; own++) PetscCall(KSPDestroy(&ksp[own]));
  PetscCall(TestDestroy(&b, &x, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Smoothers whose type is PETSc's: without -petscamb_for_ksp those of matrices of petsc-amb on a GPU are on passes */
static PetscErrorCode Smoothers(TestDiff *d)
{
  const Case c = {"", &symmetric, "-pc_type jacobi -ksp_norm_type none -ksp_max_it 3", GUESS_SOME, 0};
  char       type[64];
  PetscBool  wanted, set, plain, cuda, fused;
  PetscReal  err, norm;
  KSP        ksp[2]; /* the types ambchebyshev and chebyshev */
  Mat        A;
  Vec        b, x, y[2];

  PetscFunctionBeginUser;
  PetscCall(MakeSystem(&c, &A, &b, &x));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-petscamb_for_ksp", &wanted, &set));
  PetscCall(TestTypeRoot(type, sizeof(type)));
  plain = (PetscBool)(!strcmp(type, MATAIJ) || !strcmp(type, "aijcusparse"));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)x, &cuda, "seqcuda", "mpicuda", ""));
  if (!set) wanted = (PetscBool)(cuda && !plain);
  for (int k = 0; k < 2; k++) {
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp[k]));
    PetscCall(KSPSetOperators(ksp[k], A, A));
    PetscCall(KSPSetInitialGuessNonzero(ksp[k], PETSC_TRUE));
    PetscCall(Configure(ksp[k], k ? KSPCHEBYSHEV : KSPAMBCHEBYSHEV, c.options));
    PetscCall(VecDuplicate(x, &y[k]));
    PetscCall(VecCopy(x, y[k]));
    PetscCall(KSPSolve(ksp[k], b, y[k]));
  }
  PetscCall(IsFused(ksp[1], &fused));
  TestExpect(d, "the smoother is PETSc's own, or is not", (PetscBool)(fused == (PetscBool)(wanted && !PetscDefined(USE_COMPLEX))));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp[1], KSPCHEBYSHEV, &plain));
  TestExpect(d, "another name of the type", plain);
  PetscCall(VecAXPY(y[0], -1.0, y[1]));
  PetscCall(VecNorm(y[0], NORM_2, &err));
  PetscCall(VecNorm(y[1], NORM_2, &norm));
  TestDiffAdd(d, "another iterate", err / norm);
  for (int k = 0; k < 2; k++) { PetscCall(TestDestroy(&y[k], &ksp[k])); }
  PetscCall(TestDestroy(&b, &x, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetEigenvalues(KSP ksp, Mat A, void *ctx)
{
  return KSPSetComputeEigenvalues(ksp, PETSC_TRUE);
}

/* PETSc's dot product under another address, as a program would set its own */
static PetscErrorCode (*dot)(Vec, Vec, PetscScalar *);

static PetscErrorCode DotOfProgram(Vec x, Vec y, PetscScalar *value)
{
  return (*dot)(x, y, value);
}

/* Solves that are PETSc's own */
static PetscErrorCode FallBacks(TestDiff *d)
{
  const Case c = {"", &symmetric, "-pc_type jacobi", GUESS_NONE, 0};
  PetscReal  largest[2], smallest[2];
  Mat        A;
  Vec        b, x;

  PetscFunctionBeginUser;
  PetscCall(Both(d, &c, SetEigenvalues, NULL, PETSC_FALSE));
  PetscCall(MakeSystem(&c, &A, &b, &x));
  for (int own = 0; own < 2; own++) {
    PetscBool fused;
    KSP       ksp;

    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetComputeSingularValues(ksp, PETSC_TRUE));
    PetscCall(Configure(ksp, own ? KSPAMBCG : KSPCG, c.options));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPComputeExtremeSingularValues(ksp, &largest[own], &smallest[own]));
    PetscCall(KSPSetComputeSingularValues(ksp, PETSC_FALSE));
    PetscCall(KSPSolveTranspose(ksp, b, x));
    PetscCall(IsFused(ksp, &fused));
    TestExpect(d, "the transposed solve is not PETSc's", (PetscBool)!fused);
    dot         = b->ops->dot;
    b->ops->dot = DotOfProgram;
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(IsFused(ksp, &fused));
    TestExpect(d, "the dot product of the program is not called", (PetscBool)!fused);
    b->ops->dot = dot;
    PetscCall(KSPDestroy(&ksp));
  }
  TestExpect(d, "other singular values than PETSc's", (PetscBool)(Near(largest[1], largest[0], 1.0) && Near(smallest[1], smallest[0], 1.0)));
  PetscCall(TestDestroy(&b, &x, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The functions of GMRES: each pair of solvers goes through the same calls, with a solve after each */
#if PETSC_VERSION_LT(3, 26, 0)
static PetscErrorCode ModifyPC(KSP ksp, PetscInt total, PetscInt its, PetscReal norm, void *ctx)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCJacobiSetUseAbs(pc, (PetscBool)(total % 2)));
  PetscCall(PCSetUp(pc));
  (*(PetscInt *)ctx) += its + (norm > 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OrthogonaliseOfProgram(KSP ksp, PetscInt it)
{
  return KSPGMRESClassicalGramSchmidtOrthogonalization(ksp, it);
}
#endif

static PetscErrorCode ShellMult(Mat S, Vec x, Vec y)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(S, &A));
  PetscCall(MatMult(A, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An operator that is no AIJ gets vectors of norm 1, also after the preconditioner from the right */
static PetscErrorCode GMRESShell(TestDiff *d)
{
  static const char *const types[2][2] = {
    {KSPGMRES,  KSPAMBGMRES },
    {KSPFGMRES, KSPAMBFGMRES}
  };
  const Case c = {"", &convection, "-pc_type jacobi -ksp_pc_side right -ksp_gmres_restart 6", GUESS_SOME, 0};
  Outcome    out[2];
  PetscInt   m, n;
  Mat        A, S;
  Vec        b, x[2];

  PetscFunctionBeginUser;
  PetscCall(MakeSystem(&c, &A, &b, &x[0]));
  PetscCall(VecDuplicate(x[0], &x[1]));
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(MatCreateShell(PETSC_COMM_WORLD, m, n, PETSC_DETERMINE, PETSC_DETERMINE, A, &S));
  PetscCall(MatShellSetOperation(S, MATOP_MULT, (void (*)(void))ShellMult));
  for (int flexible = 0; flexible < 2; flexible++) {
    for (int own = 0; own < 2; own++) {
      KSP ksp;

      PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
      PetscCall(KSPSetOperators(ksp, S, A));
      PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
      PetscCall(Configure(ksp, types[flexible][own], c.options));
      PetscCall(TestVecSet(x[own], 7));
      PetscCall(Solve(ksp, b, x[own], &out[own]));
      PetscCall(KSPDestroy(&ksp));
    }
    PetscCall(Compare(d, &out[1], &out[0]));
    for (int own = 0; own < 2; own++) PetscCall(OutcomeDestroy(&out[own]));
  }
  for (int own = 0; own < 2; own++) PetscCall(VecDestroy(&x[own]));
  PetscCall(TestDestroy(&b, &S, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GMRESFunctions(TestDiff *d)
{
  static const char *const types[2][2] = {
    {KSPGMRES,  KSPAMBGMRES },
    {KSPFGMRES, KSPAMBFGMRES}
  };
  const Case c = {"", &convection, "-pc_type jacobi -ksp_pc_side right", GUESS_SOME, 0};
  Outcome    out[2];
  Mat        A;
  Vec        b, x[2];

  PetscFunctionBeginUser;
  PetscCall(MakeSystem(&c, &A, &b, &x[0]));
  PetscCall(VecDuplicate(x[0], &x[1]));
  for (int flexible = 0; flexible < 2; flexible++) {
    PetscInt  restart[2], calls[2] = {0, 0};
    PetscReal largest[2], smallest[2];
    KSP       ksp[2];

    for (int own = 0; own < 2; own++) {
      PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp[own]));
      PetscCall(KSPSetOperators(ksp[own], A, A));
      PetscCall(KSPSetInitialGuessNonzero(ksp[own], PETSC_TRUE));
      PetscCall(Configure(ksp[own], types[flexible][own], c.options));
    }
    for (int round = 0; round < 8; round++) {
      PetscBool wanted = PETSC_TRUE;

      for (int own = 0; own < 2; own++) {
        if (round == 1) PetscCall(KSPGMRESSetRestart(ksp[own], 4));
        if (round == 2) PetscCall(KSPGMRESSetHapTol(ksp[own], 1e-3));
        if (round == 3) PetscCall(KSPGMRESSetHapTol(ksp[own], 1e-30));
        if (round == 3) PetscCall(KSPGMRESSetBreakdownTolerance(ksp[own], 0.0));
        if (round == 4) PetscCall(KSPGMRESSetBreakdownTolerance(ksp[own], 0.1));
        if (round == 4) PetscCall(KSPGMRESSetPreAllocateVectors(ksp[own]));
#if PETSC_VERSION_LT(3, 26, 0)
        if (round == 5) PetscCall(KSPGMRESSetOrthogonalization(ksp[own], OrthogonaliseOfProgram));
        if (round == 6) PetscCall(KSPGMRESSetOrthogonalization(ksp[own], KSPGMRESModifiedGramSchmidtOrthogonalization));
        if (round == 7 && flexible) PetscCall(KSPFGMRESSetModifyPC(ksp[own], ModifyPC, &calls[own], NULL));
        wanted = (PetscBool)(round != 5);
#endif
        PetscCall(TestVecSet(x[own], 7));
        PetscCall(Solve(ksp[own], b, x[own], &out[own]));
        PetscCall(KSPGMRESGetRestart(ksp[own], &restart[own]));
      }
      PetscCall(CheckFused(d, x[0], wanted, out[1].fused));
      TestExpect(d, "another restart than PETSc's", (PetscBool)(restart[0] == restart[1]));
      PetscCall(Compare(d, &out[1], &out[0]));
      for (int own = 0; own < 2; own++) PetscCall(OutcomeDestroy(&out[own]));
    }
    TestExpect(d, "the preconditioner is changed in other iterations than by PETSc", (PetscBool)(calls[0] == calls[1]));
    for (int own = 0; own < 2; own++) { /* a solve that only PETSc's type makes, and back */
      PetscCall(KSPReset(ksp[own]));
      PetscCall(KSPSetOperators(ksp[own], A, A));
      PetscCall(KSPSetComputeSingularValues(ksp[own], PETSC_TRUE));
      PetscCall(KSPSolve(ksp[own], b, x[own]));
      PetscCall(KSPComputeExtremeSingularValues(ksp[own], &largest[own], &smallest[own]));
      PetscCall(KSPSetComputeSingularValues(ksp[own], PETSC_FALSE));
      PetscCall(Solve(ksp[own], b, x[own], &out[own]));
    }
    TestExpect(d, "other singular values than PETSc's", (PetscBool)(Near(largest[1], largest[0], 1.0) && Near(smallest[1], smallest[0], 1.0)));
    PetscCall(Compare(d, &out[1], &out[0]));
    for (int own = 0; own < 2; own++) {
      PetscCall(OutcomeDestroy(&out[own]));
      PetscCall(KSPDestroy(&ksp[own]));
    }
  }
  for (int own = 0; own < 2; own++) PetscCall(VecDestroy(&x[own]));
  PetscCall(TestDestroy(&b, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The types change and change back; with -petscamb_for_ksp PETSc's names make the types of petsc-amb, and with CUDA that of the smoother does without the option */
static PetscErrorCode Types(TestDiff *d)
{
  static const char *const names[] = {KSPCG, KSPAMBCG, KSPBCGS, KSPAMBBCGS, KSPGMRES, KSPAMBGMRES, KSPFGMRES, KSPAMBFGMRES, KSPMINRES, KSPAMBCG, KSPCHEBYSHEV, KSPAMBCHEBYSHEV};
  PetscBool                every = PETSC_FALSE, smoother = PETSC_FALSE, set, same;
  KSP                      ksp;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-petscamb_for_ksp", &every, &set));
#if defined(SYS_HAVE_DEVICE)
  smoother = (PetscBool)!set;
#endif
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(names); k++) {
    const PetscBool wanted = (PetscBool)(!strncmp(names[k], "amb", 3) || (every && strcmp(names[k], KSPMINRES)) || (smoother && !strcmp(names[k], KSPCHEBYSHEV)));

    PetscCall(KSPSetType(ksp, names[k]));
    PetscCall(PetscObjectTypeCompare((PetscObject)ksp, names[k], &same));
    TestExpect(d, "another name", same);
    TestExpect(d, "another solve than expected", (PetscBool)((ksp->ops->solve == KSPSolve_AMB) == wanted));
    if (!strcmp(names[k], KSPAMBCG)) {
      PetscCall(KSPCGUseSingleReduction(ksp, PETSC_TRUE));
      TestExpect(d, "KSPCGUseSingleReduction() puts PETSc's solve in", (PetscBool)(ksp->ops->solve == KSPSolve_AMB));
      PetscCall(KSPCGUseSingleReduction(ksp, PETSC_FALSE));
    }
  }
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What KSPView() prints differs by the type's name only. With PETSc's factor: what petsc-amb prints of its own depends on the number of solves. */
static PetscErrorCode View(TestDiff *d)
{
  const Case  c = {"", &symmetric, "", GUESS_NONE, 0};
  char        path[2][PETSC_MAX_PATH_LEN], line[2][256], options[256];
  PetscMPIInt rank;
  Mat         A;
  Vec         b, x;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(MakeSystem(&c, &A, &b, &x));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(methods); k++) {
    PetscCall(PetscSNPrintf(options, sizeof(options), "-pc_factor_mat_solver_type petsc -sub_pc_factor_mat_solver_type petsc %s", methods[k].options));
    for (int own = 0; own < 2; own++) {
      PetscViewer viewer;
      KSP         ksp;

      PetscCall(TestTemporaryFile(path[own], sizeof(path[own])));
      PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
      PetscCall(KSPSetOperators(ksp, A, A));
      PetscCall(Configure(ksp, own ? methods[k].own : methods[k].petsc, options));
      PetscCall(KSPSolve(ksp, b, x));
      PetscCall(PetscViewerASCIIOpen(PETSC_COMM_WORLD, path[own], &viewer));
      PetscCall(KSPView(ksp, viewer));
      PetscCall(TestDestroy(&viewer, &ksp));
    }
    if (rank == 0) {
      FILE *file[2] = {fopen(path[0], "r"), fopen(path[1], "r")};

      TestExpect(d, "KSPView() wrote no file", (PetscBool)(file[0] && file[1]));
      while (file[0] && file[1] && fgets(line[0], sizeof(line[0]), file[0]) && fgets(line[1], sizeof(line[1]), file[1])) {
        char *own = strstr(line[1], methods[k].own);

        if (own) memmove(own, own + 3, strlen(own + 3) + 1);
        if (strcmp(line[0], line[1])) fprintf(stderr, "PETSc: %spetsc-amb: %s", line[0], line[1]);
        TestExpect(d, "KSPView() differs by more than the name", (PetscBool)!strcmp(line[0], line[1]));
      }
      for (int own = 0; own < 2; own++) {
        if (file[own]) fclose(file[own]);
      }
    }
    for (int own = 0; own < 2; own++) PetscCall(TestRemoveFile(path[own]));
  }
  PetscCall(TestDestroy(&b, &x, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On a GPU: blocks of iterations of several lengths, recorded and not, give the bits and the history of iterations that a monitor looks at. On the host there are
   no blocks, and one solve is compared with another. */
static PetscErrorCode Device(TestDiff *d)
{
  static const PetscInt lengths[] = {1, 3, 16, 32};
  const Method *const   which[]   = {&methods[0], &methods[1], &methods[2], &methods[3], &methods[4], &methods[5], &methods[6], &methods[7]};
  static const Case     cases[]   = {
          {"jacobi",                     &symmetric,  "-pc_type jacobi",                                    GUESS_SOME, 0},
          {"none",                       &symmetric,  "-pc_type none",                                      GUESS_NONE, 0},
          {"natural",                    &symmetric,  "-pc_type jacobi -ksp_norm_type natural",             GUESS_NONE, 0},
          {"unpreconditioned",           &symmetric,  "-pc_type jacobi -ksp_norm_type unpreconditioned",    GUESS_NONE, 0},
          {"no norm",                    &symmetric,  "-pc_type jacobi -ksp_norm_type none -ksp_max_it 12", GUESS_NONE, 0},
          {"five iterations",            &symmetric,  "-pc_type jacobi -ksp_max_it 5",                      GUESS_NONE, 0},
          {"diverged",                   &symmetric,  "-pc_type jacobi -ksp_divtol 0.9 -ksp_rtol 1e-12",    GUESS_NONE, 0},
          {"indefinite matrix",          &indefinite, "-pc_type none",                                      GUESS_NONE, 0},
          {"indefinite preconditioner",  &indefinite, "-pc_type jacobi",                                    GUESS_NONE, 0},
          {"p.Ap is 0",                  &skew,       "-pc_type none",                                      GUESS_NONE, 1},
          {"at least 50 iterations",     &symmetric,  "-pc_type jacobi -ksp_min_it 50",                     GUESS_SOME, 0},
          {"pbjacobi",                   &blocks,     "-pc_type pbjacobi",                                  GUESS_SOME, 0},
          {"pbjacobi, unpreconditioned", &blocks,     "-pc_type pbjacobi -ksp_norm_type unpreconditioned",  GUESS_NONE, 0}
  };

  char      halo[16] = "";
  PetscBool nccl;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mat_shadow_halo", halo, sizeof(halo), NULL));
  PetscCall(PetscStrcmp(halo, "nccl", &nccl));
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(cases) * PETSC_STATIC_ARRAY_LENGTH(which); c++) {
    const size_t  k = c / PETSC_STATIC_ARRAY_LENGTH(which);
    const Method *m = which[c % PETSC_STATIC_ARRAY_LENGTH(which)];
    Outcome       seen;
    PetscBool     cuda, several, recorded, same;
    char          type[64], options[256];
    Mat           A;
    Vec           b, x0;

    if (!Makes(m, &cases[k])) continue;
    PetscCall(MakeSystem(&cases[k], &A, &b, &x0));
    PetscCall(PetscObjectTypeCompare((PetscObject)x0, "seqcuda", &cuda));
    PetscCall(PetscObjectTypeCompare((PetscObject)x0, "mpicuda", &several));
    cuda = (PetscBool)(cuda || (several && nccl)); /* several GPUs make solves if NCCL is between them */
    PetscCall(TestTypeRoot(type, sizeof(type)));
    PetscCall(PetscStrcmp(type, MATAMB, &recorded)); /* the product of this type can be recorded; GMRES applies blocks by PCApply() */
    if (strstr(m->petsc, KSPGMRES) && strstr(cases[k].options, "pbjacobi")) recorded = PETSC_FALSE;
    PetscCall(RunOne(&cases[k], m, PETSC_TRUE, A, b, x0, &seen));
    for (size_t l = 0; l < (cuda ? PETSC_STATIC_ARRAY_LENGTH(lengths) : 1); l++) {
      const PetscReal   *history;
      KSPConvergedReason reason;
      PetscInt           its, n;
      PetscReal          norm;
      KSPAMB            *amb;
      KSP                ksp;
      Vec                x;

      PetscCall(VecDuplicate(x0, &x));
      PetscCall(VecCopy(x0, x));
      PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
      PetscCall(KSPSetOperators(ksp, A, A));
      PetscCall(KSPSetInitialGuessNonzero(ksp, (PetscBool)(cases[k].guess != GUESS_NONE)));
      PetscCall(PetscSNPrintf(options, sizeof(options), "%s%s", cases[k].options, m->options));
      PetscCall(Configure(ksp, m->own, options));
      PetscCall(KSPAMBGet(ksp, &amb));
      amb->length = lengths[l];
      PetscCall(KSPSetResidualHistory(ksp, NULL, HISTORY, PETSC_TRUE));
      PetscCall(KSPSolve(ksp, b, x));
      PetscCall(KSPGetIterationNumber(ksp, &its));
      PetscCall(KSPGetConvergedReason(ksp, &reason));
      PetscCall(KSPGetResidualNorm(ksp, &norm));
      PetscCall(KSPGetResidualHistory(ksp, &history, &n));
      PetscCall(VecEqual(x, seen.x, &same));
      TestExpect(d, "other bits in blocks of another length", same);
      TestExpect(d, "another end in blocks of another length", (PetscBool)(its == seen.its && reason == seen.reason && norm == seen.rnorm && n == seen.length));
      for (PetscInt i = 0; i < PetscMin(n, seen.length); i++) TestExpect(d, "another history in blocks of another length", (PetscBool)(history[i] == seen.history[i]));
      if (cuda) {
        TestExpect(d, "the device does not solve", amb->fused);
        TestExpect(d, "no iteration is recorded", (PetscBool)(!recorded || amb->replayed > 0 || seen.its < 2));
        PetscCall(VecCopy(x0, x));
        PetscCall(KSPSolve(ksp, b, x));
        PetscCall(VecEqual(x, seen.x, &same));
        TestExpect(d, "other bits in a second solve", same);
        TestExpect(d, "no iteration is recorded in a second solve", (PetscBool)(!recorded || amb->replayed > 0 || seen.its < 2));
      }
      PetscCall(TestDestroy(&ksp, &x));
    }
    PetscCall(OutcomeDestroy(&seen));
    PetscCall(TestDestroy(&b, &x0, &A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const TestCase tests[] = {
  {"norms",               Norms             },
  {"preconditioners",     Preconditioners   },
  {"ends",                Ends              },
  {"exactly",             Exactly           },
  {"own test",            OwnTest           },
  {"null space",          NullSpace         },
  {"repeated",            Repeated          },
  {"inside",              Inside            },
  {"chebyshev",           Chebyshev         },
  {"chebyshev again",     ChebyshevAgain    },
  {"chebyshev optimized", ChebyshevOptimized},
  {"smoothers",           Smoothers         },
  {"fall-backs",          FallBacks         },
  {"gmres",               GMRESFunctions    },
  {"shells",              GMRESShell        },
  {"types",               Types             },
  {"view",                View              },
  {"device",              Device            },
  {NULL,                  NULL              }
};

int main(int argc, char **argv)
{
  return TestMain(argc, argv, help, tests);
}

/*TEST

  testset:
    requires: double
    timeoutfactor: 3
    args: -mat_shadow_tune off -options_left 0 -petscamb_for_ksp 0 -options_suppress_deprecated_warnings
    checks: 18
    test:
      suffix: aij
      nsize: {{1 2 3}}
      args: -mat_type aij
    test:
      suffix: types
      nsize: {{1 3}}
      args: -mat_type {{@types-ccoo-tilecomposite}}
    test:
      suffix: threads_1
      env: OMP_NUM_THREADS=1
      args: -mat_type amb
    test:
      suffix: stencil
      args: -mat_type amb -mat_shadow_values exact
    test:
      suffix: for_ksp
      nsize: 2
      args: -mat_type amb -petscamb_for_ksp
    test:
      suffix: malloc
      nsize: 2
      args: -mat_type amb -malloc_dump
    test:
      suffix: fp_trap
      requires: !cuda !complex
      args: -mat_type amb -fp_trap
    test:
      suffix: gpus
      requires: cuda two_gpus
      nsize: 2
      args: -mat_type amb -mat_shadow_halo nccl
  testset:
    requires: double
    args: -mat_shadow_tune off -options_left 0 -options_suppress_deprecated_warnings
    checks: 18
    test:
      suffix: smoothers
      nsize: {{1 2}}
      args: -mat_type {{aij amb}}

TEST*/
