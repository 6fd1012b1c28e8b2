/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "KSPMatSolve() of KSPAMBCG and PCMatApply() of PCMG for several right-hand sides beside a solve and an application for each column: norms, ends, cycles, monitors, batches.\n";

#include "../testutil.h"
#include "ksp/ksp/impls/ambksp/ambksp.h"
#include "ksp/pc/impls/mg/glue/mgcycle.h"
#include "sys/systhreads.h"

#define HISTORY 20000

static PetscScalar ValueSymmetric(PetscInt i, PetscInt j)
{
  return i == j ? 4.05 + 0.5 * PetscAbsReal(TestReal(i, i)) : -1 + 0.3 * PetscAbsReal(TestReal(PetscMin(i, j), PetscMax(i, j)));
}

static const TestShape symmetric  = {"symmetric", 900, 900, TestRowGrid, ValueSymmetric, PETSC_FALSE};
static const TestShape nodes      = {"nodes", 900, 900, TestRowBlocks, TestValueNodes, PETSC_FALSE};
static const TestShape indefinite = {"indefinite", 900, 900, TestRowGrid, TestValueIndefinite, PETSC_FALSE};
static const TestShape neumann    = {"neumann", 900, 900, TestRowGrid, TestValueNeumann, PETSC_FALSE};
static const TestShape skew       = {"skew", 900, 900, TestRowPairs, TestValueSkew, PETSC_FALSE};

#define LEVELS "-pc_type gamg -pc_gamg_coarse_eq_limit 10 "

static const struct {
  const char      *options;
  const TestShape *shape;
  PetscBool        guess, together; /* an initial guess other than zero; whether columns iterate together */
} cases[] = {
  {"-pc_type none",                                                   &symmetric,  PETSC_FALSE, PETSC_TRUE },
  {"-pc_type none -ksp_norm_type unpreconditioned",                   &symmetric,  PETSC_TRUE,  PETSC_TRUE },
  {"-pc_type jacobi",                                                 &symmetric,  PETSC_TRUE,  PETSC_TRUE },
  {"-pc_type jacobi -ksp_norm_type natural",                          &symmetric,  PETSC_FALSE, PETSC_TRUE },
  {"-pc_type jacobi -ksp_norm_type none -ksp_max_it 9",               &symmetric,  PETSC_FALSE, PETSC_TRUE },
  {"-pc_type jacobi -ksp_norm_type unpreconditioned -ksp_max_it 12",  &symmetric,  PETSC_FALSE, PETSC_TRUE },
  {"-pc_type jacobi -ksp_max_it 0",                                   &symmetric,  PETSC_FALSE, PETSC_TRUE },
  {"-pc_type jacobi -ksp_converged_maxits -ksp_max_it 7",             &symmetric,  PETSC_FALSE, PETSC_TRUE },
  {"-pc_type jacobi -ksp_convergence_test skip -ksp_max_it 7",        &symmetric,  PETSC_FALSE, PETSC_TRUE },
  {"-pc_type jacobi -ksp_divtol 0.9 -ksp_rtol 1e-12",                 &symmetric,  PETSC_FALSE, PETSC_TRUE },
  {"-pc_type jacobi -ksp_check_norm_iteration 3",                     &symmetric,  PETSC_FALSE, PETSC_TRUE },
  {"-pc_type none",                                                   &indefinite, PETSC_FALSE, PETSC_TRUE },
  {"-pc_type jacobi",                                                 &indefinite, PETSC_FALSE, PETSC_TRUE },
  {"-pc_type none",                                                   &skew,       PETSC_FALSE, PETSC_TRUE },
  {"-pc_type pbjacobi",                                               &nodes,      PETSC_FALSE, PETSC_TRUE },
  {"-pc_type pbjacobi -ksp_norm_type unpreconditioned",               &nodes,      PETSC_TRUE,  PETSC_TRUE },
  {LEVELS,                                                            &symmetric,  PETSC_FALSE, PETSC_TRUE },
  {LEVELS "-ksp_norm_type unpreconditioned",                          &symmetric,  PETSC_TRUE,  PETSC_TRUE },
  {LEVELS "-pc_mg_cycle_type w -mg_levels_ksp_max_it 3",              &symmetric,  PETSC_FALSE, PETSC_TRUE },
  {LEVELS "-mg_levels_ksp_max_it 1 -pc_mg_multiplicative_cycles 2",   &symmetric,  PETSC_FALSE, PETSC_TRUE },
  {LEVELS "-mg_levels_ksp_type ambchebyshev -mg_levels_pc_type none", &symmetric,  PETSC_FALSE, PETSC_TRUE },
  {LEVELS "-mg_levels_1_pc_type sor",                                 &symmetric,  PETSC_FALSE, PETSC_TRUE },
  {LEVELS "-mg_levels_1_ksp_type richardson",                         &symmetric,  PETSC_FALSE, PETSC_TRUE },
  {LEVELS "-mg_levels_pc_type pbjacobi",                              &nodes,      PETSC_FALSE, PETSC_TRUE },
  {LEVELS "-mg_levels_pc_type sor",                                   &symmetric,  PETSC_FALSE, PETSC_FALSE},
  {LEVELS "-pc_mg_type kaskade",                                      &symmetric,  PETSC_FALSE, PETSC_FALSE},
  {"-pc_type sor",                                                    &symmetric,  PETSC_FALSE, PETSC_FALSE},
  {"-pc_type jacobi -ksp_cg_single_reduction",                        &symmetric,  PETSC_FALSE, PETSC_FALSE}
};

static PetscErrorCode Create(const TestShape *shape, const char options[], PetscBool guess, Mat *A, KSP *ksp)
{
  PetscOptions database;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(shape, NULL, A));
  if (shape == &nodes) PetscCall(MatSetBlockSize(*A, 3));
  PetscCall(PetscOptionsCreate(&database));
  PetscCall(PetscOptionsInsertString(database, options));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(PetscObjectSetOptions((PetscObject)*ksp, NULL));
  PetscCall(PetscOptionsPush(database));
  PetscCall(KSPSetOperators(*ksp, *A, *A));
  PetscCall(KSPSetType(*ksp, KSPAMBCG));
  PetscCall(KSPSetInitialGuessNonzero(*ksp, guess));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(KSPSetUp(*ksp));
  PetscCall(PetscOptionsPop());
  PetscCall(PetscOptionsDestroy(&database));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Constants for the skew matrix, for which each sum is 0 then; for others columns of all kinds: 0 random, 1 zero, 2 an eigenvector nearly, 3 as 0, 4 a unit vector, 5 a multiple of 0, others random */
static PetscErrorCode CreateColumns(Mat A, const TestShape *shape, PetscInt K, Mat *B, Mat *X)
{
  PetscInt m, n, start;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(MatGetOwnershipRange(A, &start, NULL));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, m, PETSC_DECIDE, A->rmap->N, K, NULL, B));
  for (PetscInt k = 0; k < K; k++) {
    PetscScalar *b;
    Vec          v;

    PetscCall(MatDenseGetColumnVecWrite(*B, k, &v));
    PetscCall(TestVecSet(v, k == 3 || k == 5 ? 3 : 3 + (int)k));
    if (k == 5) PetscCall(VecScale(v, -250.0));
    if (shape == &skew) PetscCall(VecSet(v, 1.0 + (PetscReal)k));
    PetscCall(VecGetArray(v, &b));
    for (PetscInt i = 0; i < m && shape != &skew; i++) {
      const PetscInt row = start + i;

      if (k == 1 || k == 4) b[i] = 0.0;
      if (k == 2) b[i] = PetscSinReal((PetscReal)(1 + row % 30) * PETSC_PI / 31) * PetscSinReal((PetscReal)(1 + row / 30) * PETSC_PI / 31);
      if (k == 4 && row == A->rmap->N / 2) b[i] = 1.0;
    }
    PetscCall(VecRestoreArray(v, &b));
    PetscCall(MatDenseRestoreColumnVecWrite(*B, k, &v));
  }
  PetscCall(MatAssemblyBegin(*B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatDuplicate(*B, MAT_DO_NOT_COPY_VALUES, X));
  PetscCall(MatShift(*X, 0.25)); /* the guess */
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  Mat                X;
  PetscInt           its, total, length;
  KSPConvergedReason reason;
  PetscReal         *history;
} Outcome;

static PetscErrorCode OutcomeDestroy(Outcome *o)
{
  PetscFunctionBeginUser;
  PetscCall(MatDestroy(&o->X));
  PetscCall(PetscFree(o->history));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Begin(KSP ksp, Mat X, Outcome *o)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(o, sizeof(*o)));
  PetscCall(MatDuplicate(X, MAT_COPY_VALUES, &o->X));
  PetscCall(PetscCalloc1(HISTORY, &o->history));
  PetscCall(KSPSetResidualHistory(ksp, o->history, HISTORY, PETSC_FALSE));
  PetscCall(KSPGetTotalIterations(ksp, &o->total));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode End(KSP ksp, Outcome *o)
{
  PetscInt total;

  PetscFunctionBeginUser;
  PetscCall(KSPGetTotalIterations(ksp, &total));
  o->total = total - o->total;
  PetscCall(KSPGetResidualHistory(ksp, NULL, &o->length));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solve for each column; of its ends the worst counts */
static PetscErrorCode ByColumns(KSP ksp, Mat B, Mat X, Outcome *o)
{
  KSPConvergedReason reason;
  PetscInt           its;

  PetscFunctionBeginUser;
  PetscCall(Begin(ksp, X, o));
  for (PetscInt k = 0; k < B->cmap->N; k++) {
    Vec b, x;

    PetscCall(MatDenseGetColumnVecRead(B, k, &b));
    PetscCall(MatDenseGetColumnVec(o->X, k, &x));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(MatDenseRestoreColumnVec(o->X, k, &x));
    PetscCall(MatDenseRestoreColumnVecRead(B, k, &b));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCall(KSPGetIterationNumber(ksp, &its));
    if (!k || (o->reason > 0 && (reason < 0 || its > o->its))) {
      o->reason = reason;
      o->its    = its;
    }
  }
  PetscCall(End(ksp, o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Together(KSP ksp, Mat B, Mat X, Outcome *o)
{
  PetscFunctionBeginUser;
  PetscCall(Begin(ksp, X, o));
  PetscCall(KSPMatSolve(ksp, B, o->X));
  PetscCall(KSPGetConvergedReason(ksp, &o->reason));
  PetscCall(KSPGetIterationNumber(ksp, &o->its));
  PetscCall(End(ksp, o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With single precision, rounding moves the end of a solve */
static PetscErrorCode Compare(TestDiff *d, const Outcome *o, const Outcome *ref, PetscBool bits)
{
  const PetscBool single = PetscDefined(USE_REAL_SINGLE);
  PetscReal       norm, diff;
  PetscBool       same;
  Mat             D;

  PetscFunctionBeginUser;
  PetscCall(MatNorm(ref->X, NORM_FROBENIUS, &norm));
  PetscCall(MatDuplicate(o->X, MAT_COPY_VALUES, &D));
  PetscCall(MatAXPY(D, -1.0, ref->X, SAME_NONZERO_PATTERN));
  PetscCall(MatNorm(D, NORM_FROBENIUS, &diff));
  PetscCall(MatDestroy(&D));
  if (!PetscIsInfOrNanReal(norm)) TestExpect(d, "another solution", (PetscBool)(diff <= (single ? 1e-3 : 1e-8) * (norm + 1)));
  TestExpect(d, "another reason", (PetscBool)(o->reason == ref->reason));
  if (single) PetscFunctionReturn(PETSC_SUCCESS);
  TestExpect(d, "other iterations", (PetscBool)(o->its == ref->its && o->total == ref->total && o->length == ref->length));
  for (PetscInt k = 0; k < PetscMin(o->length, ref->length); k++) TestExpect(d, "another history", (PetscBool)(PetscAbsReal(o->history[k] - ref->history[k]) <= 1e-6 * PetscAbsReal(ref->history[k]) + 1e-12));
  if (!bits) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatEqual(o->X, ref->X, &same));
  TestExpect(d, "other bits", same);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The types of vectors and the scalars for which columns are solved together */
static PetscErrorCode OnHost(Mat A, PetscBool *host)
{
  Vec v;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &v, NULL));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)v, host, VECSEQ, VECMPI, ""));
  PetscCall(VecDestroy(&v));
  if (PetscDefined(USE_COMPLEX)) *host = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All cases with some numbers of columns, twice */
static PetscErrorCode Cases(TestDiff *d)
{
  static const PetscInt columns[] = {9, 20, 3, 1}; /* with a rest of one and four */
  PetscBool             isaij;                     /* other matrices of the cycles get their format between two solves, and then other bits */
  char                  type[64];

  PetscFunctionBeginUser;
  PetscCall(TestTypeRoot(type, sizeof(type)));
  PetscCall(PetscStrcmp(type, MATAIJ, &isaij));
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(cases); c++) {
    TestDiff  here = {NULL, 0};
    PetscBool host;
    Mat       A;
    KSP       ksp;

    PetscCall(Create(cases[c].shape, cases[c].options, cases[c].guess, &A, &ksp));
    PetscCall(OnHost(A, &host));
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(columns); k++) {
      const PetscInt  K    = columns[k];
      const PetscBool many = (PetscBool)(K > 3 && cases[c].together && host);
      Outcome         ref, o;
      KSPAMB         *amb;
      Mat             B, X;

      if (!cases[c].together && K == 20) continue;
      PetscCall(CreateColumns(A, cases[c].shape, K, &B, &X));
      PetscCall(ByColumns(ksp, B, X, &ref));
      for (int again = 0; again < (K == 9 ? 2 : 1); again++) {
        PetscCall(Together(ksp, B, X, &o));
        PetscCall(KSPAMBGet(ksp, &amb));
        TestExpect(&here, "columns are not solved together, or are", (PetscBool)(amb->together == (!many ? 0 : K == 20 && strstr(cases[c].options, PCGAMG) ? 16 : 8)));
        PetscCall(Compare(&here, &o, &ref, (PetscBool)(!many && (isaij || !strstr(cases[c].options, PCGAMG)))));
        PetscCall(OutcomeDestroy(&o));
      }
      PetscCall(OutcomeDestroy(&ref));
      PetscCall(TestDestroy(&B, &X));
    }
    if (here.err > 0) {
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "    %s, %s: %s\n", cases[c].shape->name, cases[c].options, here.what));
      TestDiffAdd(d, here.what, here.err);
    }
    PetscCall(TestDestroy(&ksp, &A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A column with a NaN ends; the others do not see it */
static PetscErrorCode NotANumber(TestDiff *d)
{
  const char *const options[] = {"-pc_type jacobi", LEVELS};

  PetscFunctionBeginUser;
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(options); c++) {
    Outcome   o, ref;
    PetscReal norm, diff;
    Mat       A, B, X;
    KSP       ksp;

    PetscCall(Create(&symmetric, options[c], PETSC_FALSE, &A, &ksp));
    PetscCall(CreateColumns(A, &symmetric, 9, &B, &X));
    PetscCall(Together(ksp, B, X, &ref));
    PetscCall(MatSetValue(B, 17, 4, NAN, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
    PetscCall(Together(ksp, B, X, &o));
    TestExpect(d, "NaN is no end", (PetscBool)(o.reason == KSP_DIVERGED_NANORINF));
    for (PetscInt k = 0; k < 9; k++) {
      Vec x, y, z;

      if (k == 4) continue;
      PetscCall(MatDenseGetColumnVecRead(o.X, k, &x));
      PetscCall(MatDenseGetColumnVecRead(ref.X, k, &y));
      PetscCall(VecDuplicate(x, &z));
      PetscCall(VecWAXPY(z, -1.0, x, y));
      PetscCall(VecNorm(y, NORM_2, &norm));
      PetscCall(VecNorm(z, NORM_2, &diff));
      PetscCall(VecDestroy(&z));
      TestExpect(d, "a column sees another one's NaN", (PetscBool)(diff <= TEST_TOLERANCE * norm));
      PetscCall(MatDenseRestoreColumnVecRead(ref.X, k, &y));
      PetscCall(MatDenseRestoreColumnVecRead(o.X, k, &x));
    }
    PetscCall(OutcomeDestroy(&o));
    PetscCall(OutcomeDestroy(&ref));
    PetscCall(TestDestroy(&ksp, &A, &B, &X));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt called;

static PetscErrorCode Count(KSP ksp, PetscInt its, PetscReal norm, void *ctx)
{
  PetscFunctionBeginUser;
  called++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's monitor prints the lines of a solve for each column; the program's own sees each iteration of such solves; operators with null spaces, too */
static PetscErrorCode Watched(TestDiff *d)
{
  char         path[PETSC_MAX_PATH_LEN], options[PETSC_MAX_PATH_LEN + 64], line[256];
  PetscInt     lines = 0, begins = 0;
  PetscBool    host;
  MatNullSpace nullspace;
  PetscMPIInt  rank;
  Outcome      ref, o;
  KSPAMB      *amb;
  Mat          A, B, X;
  KSP          ksp;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(TestTemporaryFile(path, sizeof(path)));
  PetscCall(PetscSNPrintf(options, sizeof(options), "-pc_type jacobi -ksp_monitor ascii:%s", path));
  PetscCall(Create(&symmetric, options, PETSC_FALSE, &A, &ksp));
  PetscCall(OnHost(A, &host));
  PetscCall(CreateColumns(A, &symmetric, 9, &B, &X));
  PetscCall(Together(ksp, B, X, &o));
  PetscCall(KSPAMBGet(ksp, &amb));
  TestExpect(d, "PETSc's monitor keeps columns apart", (PetscBool)(amb->together == (host ? 8 : 0)));
  PetscCall(KSPMonitorCancel(ksp)); /* closes the file */
  if (rank == 0) {
    FILE *file = fopen(path, "r");

    TestExpect(d, "no lines of a monitor", (PetscBool)(file != NULL));
    while (file && fgets(line, sizeof(line), file)) {
      lines += strstr(line, "KSP Residual norm") != NULL;
      begins += strstr(line, "  0 KSP Residual norm") != NULL;
    }
    if (file) fclose(file);
    TestExpect(d, "other lines of a monitor", (PetscBool)(lines == o.length && begins == 9));
  }
  PetscCall(TestRemoveFile(path));
  PetscCall(KSPMonitorSet(ksp, Count, NULL, NULL));
  called = 0;
  PetscCall(ByColumns(ksp, B, X, &ref));
  TestExpect(d, "the monitor was not called", (PetscBool)(called == ref.length));
  PetscCall(OutcomeDestroy(&o));
  called = 0;
  PetscCall(Together(ksp, B, X, &o));
  TestExpect(d, "the monitor does not see each iteration", (PetscBool)(called == ref.length && !amb->together));
  PetscCall(Compare(d, &o, &ref, PETSC_TRUE));
  PetscCall(OutcomeDestroy(&o));
  PetscCall(OutcomeDestroy(&ref));
  PetscCall(TestDestroy(&ksp, &A, &B, &X));

  PetscCall(Create(&neumann, "-pc_type jacobi", PETSC_FALSE, &A, &ksp));
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &nullspace));
  PetscCall(MatSetNullSpace(A, nullspace));
  PetscCall(MatSetTransposeNullSpace(A, nullspace));
  PetscCall(MatNullSpaceDestroy(&nullspace));
  PetscCall(CreateColumns(A, &symmetric, 9, &B, &X));
  PetscCall(ByColumns(ksp, B, X, &ref));
  PetscCall(Together(ksp, B, X, &o));
  PetscCall(KSPAMBGet(ksp, &amb));
  TestExpect(d, "a null space is not seen", (PetscBool)!amb->together);
  PetscCall(Compare(d, &o, &ref, PETSC_TRUE));
  PetscCall(OutcomeDestroy(&o));
  PetscCall(OutcomeDestroy(&ref));
  PetscCall(TestDestroy(&ksp, &A, &B, &X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Batches, new values, a matrix of another size, numbers of threads */
static PetscErrorCode Again(TestDiff *d)
{
  const int         threads   = SysThreads();
  const char *const options[] = {"-pc_type jacobi", LEVELS};
  PetscMPIInt       nproc;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &nproc));
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(options); c++) {
    Outcome   ref, o;
    PetscBool host, same;
    KSPAMB   *amb;
    Mat       A, B, X;
    KSP       ksp;

    PetscCall(Create(&symmetric, options[c], PETSC_FALSE, &A, &ksp));
    PetscCall(OnHost(A, &host));
    PetscCall(CreateColumns(A, &symmetric, 16, &B, &X));
    PetscCall(Together(ksp, B, X, &ref));
    SysThreadsSet(3);
    PetscCall(Together(ksp, B, X, &o));
    SysThreadsSet(threads);
    PetscCall(MatEqual(o.X, ref.X, &same));
    TestExpect(d, "other bits with other threads", same);
    PetscCall(OutcomeDestroy(&o));
    PetscCall(OutcomeDestroy(&ref));

    PetscCall(MatScale(A, 1.5));
    PetscCall(MatShift(A, 0.5));
    PetscCall(ByColumns(ksp, B, X, &ref));
    PetscCall(KSPSetMatSolveBatchSize(ksp, 8));
    PetscCall(Together(ksp, B, X, &o));
    PetscCall(KSPAMBGet(ksp, &amb));
    TestExpect(d, "the size of batches has no effect", (PetscBool)(amb->together == (host ? 8 : 0)));
    o.its    = ref.its; /* PETSc keeps the last batch's */
    o.reason = ref.reason;
    PetscCall(Compare(d, &o, &ref, PETSC_FALSE));
    PetscCall(OutcomeDestroy(&o));
    PetscCall(OutcomeDestroy(&ref));
    PetscCall(TestDestroy(&B, &X));

    if (c && nproc > 1) { /* PETSc 3.18 cannot: PCGAMG keeps solvers of levels that had fewer processes */
      PetscCall(TestDestroy(&ksp, &A));
      continue;
    }
    PetscCall(KSPReset(ksp));
    PetscCall(MatDestroy(&A));
    PetscCall(TestShapeCreate(&nodes, NULL, &A));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(CreateColumns(A, &symmetric, 8, &B, &X));
    PetscCall(ByColumns(ksp, B, X, &ref));
    PetscCall(Together(ksp, B, X, &o));
    PetscCall(Compare(d, &o, &ref, PETSC_FALSE));
    PetscCall(OutcomeDestroy(&o));
    PetscCall(OutcomeDestroy(&ref));
    PetscCall(TestDestroy(&ksp, &A, &B, &X));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCMatApply() of PCMG */
static PetscErrorCode Apply(TestDiff *d)
{
  PetscFunctionBeginUser;
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(cases); c++) {
    PetscBool   host;
    PetscReal   norm, diff;
    const char *why;
    Mat         A, B, X, Y;
    KSP         ksp;
    PC          pc;

    if (strncmp(cases[c].options, LEVELS, strlen(LEVELS)) != 0) continue;
    PetscCall(Create(cases[c].shape, cases[c].options, PETSC_FALSE, &A, &ksp));
    PetscCall(OnHost(A, &host));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(CreateColumns(A, cases[c].shape, 20, &B, &X));
    PetscCall(MatDuplicate(X, MAT_COPY_VALUES, &Y));
    for (PetscInt k = 0; k < 20; k++) {
      Vec b, y;

      PetscCall(MatDenseGetColumnVecRead(B, k, &b));
      PetscCall(MatDenseGetColumnVecWrite(Y, k, &y));
      PetscCall(PCApply(pc, b, y));
      PetscCall(MatDenseRestoreColumnVecWrite(Y, k, &y));
      PetscCall(MatDenseRestoreColumnVecRead(B, k, &b));
    }
    PetscCall(PCMatApply(pc, B, X));
    PetscCall(MGBlockGetReason(pc, &why));
    TestExpect(d, "the cycle is not as expected", (PetscBool)(!why == (cases[c].together && host)));
    PetscCall(MatNorm(Y, NORM_FROBENIUS, &norm));
    PetscCall(MatAXPY(Y, -1.0, X, SAME_NONZERO_PATTERN));
    PetscCall(MatNorm(Y, NORM_FROBENIUS, &diff));
    TestExpect(d, "another result", (PetscBool)(diff <= TEST_TOLERANCE * norm));
    PetscCall(TestDestroy(&ksp, &A, &B, &X, &Y));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const TestCase tests[] = {
  {"cases",   Cases     },
  {"nan",     NotANumber},
  {"watched", Watched   },
  {"again",   Again     },
  {"apply",   Apply     },
  {NULL,      NULL      }
};

int main(int argc, char **argv)
{
  return TestMain(argc, argv, help, tests);
}

/*TEST

  testset:
    args: -mat_shadow_tune off -options_left 0 -options_suppress_deprecated_warnings -malloc_dump
    checks: 5
    gpu: 0
    test:
      nsize: {{1 3}}
      args: -mat_type {{aij amb}}
    test:
      suffix: for_ksp
      nsize: 2
      args: -mat_type amb -petscamb_for_ksp

TEST*/
