/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The cycles of PCMG and PCGAMG as lists of steps: the mathematics of PETSc's PCMGMCycle_Private(), for smoothers that run on passes. The coarsest solver, which is linear,
   is applied to the columns of the identity once, and is a dense product from then on.
*/
#include "ksp/pc/impls/mg/glue/mgcycle.h"
#include "mat/shadow/user/shadowoptions.h"

PetscErrorCode MGCycleRegister(void);

#define MG_CYCLE_NAME "PCMGCycle" /* of the context, among the objects that are attached to the PC */
#define ROWS_MOST     1024        /* of the coarsest level */
#define ROWS_AT_ONCE  32          /* of a coarsest level that is inverted for the first application */
#define ROWS_REPAID   1024        /* the square of the rows over this are the applications that repay the inverse of a larger one */
#define CONDITION     1e10        /* of the coarsest operator, at most, in the norm of the largest sum of a row */

PetscErrorCode MGCycleAgree(PC pc, const char **why)
{
  int         yes = !*why;
  PetscMPIInt nproc;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &nproc));
  if (nproc == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &yes, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)pc)));
  if (!yes && !*why) *why = "another process cannot queue it";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- steps ------------------------------------------------- */

static PetscErrorCode MGCycleAdd(MGCycle *c, MGCycleKind kind, MGCycleStep **step)
{
  PetscFunctionBegin;
  if (c->nstep == c->room) {
    const PetscInt room = PetscMax(64, 2 * c->room);
    MGCycleStep   *more;

    PetscCall(PetscMalloc1(room, &more));
    PetscCall(PetscArraycpy(more, c->step, c->nstep));
    PetscCall(PetscFree(c->step));
    c->step = more;
    c->room = room;
  }
  *step = c->step + c->nstep++;
  PetscCall(PetscMemzero(*step, sizeof(**step)));
  (*step)->kind = kind;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MGCycleAddProduct(MGCycle *c, Mat A, PetscBool transpose, PetscReal alpha, Vec x, Vec y, Vec z)
{
  MGCycleStep *step = NULL;

  PetscFunctionBegin;
  PetscCall(MGCycleAdd(c, MG_CYCLE_PRODUCT, &step));
  step->A         = A;
  step->transpose = transpose;
  step->alpha     = alpha;
  step->x         = x;
  step->y         = y;
  step->z         = z;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets *constant if constants are the null space of an operator, or says why the cycle does not remove it */
static PetscErrorCode MGCycleNullSpace(Mat A, PetscBool *constant, const char **why)
{
  MatNullSpace plain, transposed;
  PetscInt     n;
  PetscMPIInt  nproc;

  PetscFunctionBegin;
  *constant = PETSC_FALSE;
  PetscCall(MatGetNullSpace(A, &plain));
  PetscCall(MatGetTransposeNullSpace(A, &transposed));
  if (plain && !transposed) {
    PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &nproc));
    PetscCall(MatNullSpaceGetVecs(plain, constant, &n, NULL));
    if (n || plain->remove || nproc > 1) *constant = PETSC_FALSE;
  }
  if ((plain || transposed) && !*constant) *why = "an operator has a null space that is not the one of constants on one process";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A step of KSPAMBChebyshevIterate() */
static PetscErrorCode MGCycleChebyshevStep(KSP ksp, KSPAMB *amb, Mat A, FusedPass *pass, const Vec v[], void *ctx)
{
  MGCycle     *c    = (MGCycle *)ctx;
  MGCycleStep *step = NULL;

  PetscFunctionBegin;
  if (v[FUSED_P]) PetscCall(MGCycleAddProduct(c, A, PETSC_FALSE, 1.0, v[FUSED_P], NULL, v[FUSED_W]));
  PetscCall(MGCycleAdd(c, MG_CYCLE_PASS, &step));
  step->smoother = ksp;
  step->a        = pass->a;
  step->b        = pass->b;
  step->c        = pass->c;
  PetscCall(PetscArraycpy(step->v, v, FUSED_VECTORS));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the parameters of MatSOR() that PCSOR of a smoother passes to the matrix of this process. PETSc has no function that returns the shift: PCSOR is applied, and MatSOR() describes itself. */
static PetscErrorCode MGCycleGetSweep(KSP ksp, MatSORAMBCall *call, const char **why)
{
  const PetscInt *columns;
  Mat             block[2];
  MatSORType      type;
  PetscInt        its;
  PetscBool       color = PETSC_FALSE;
  PetscErrorCode  error;

  PetscFunctionBegin;
  PetscCall(PCSORGetIterations(ksp->pc, &its, NULL));
  PetscCall(PCSORGetSymmetric(ksp->pc, &type));
  *why = "rows are not swept by color";
  if (!MatShadowIsOurs(ksp->pc->pmat)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatAIJGetBlocks(ksp->pc->pmat, block, &columns));
  *why = NULL;
  if (its != 1 || (type & (SOR_EISENSTAT | SOR_APPLY_UPPER | SOR_APPLY_LOWER)) || !(type & (block[1] ? SOR_LOCAL_SYMMETRIC_SWEEP : SOR_LOCAL_SYMMETRIC_SWEEP | SOR_SYMMETRIC_SWEEP))) *why = "a sweep of a smoother is not one of each process";
  if (!*why) PetscCall(MatSORAMBAsk(block[0], call, &color));
  if (!*why && !color) *why = "rows are not swept by color";
  if (*why) PetscFunctionReturn(PETSC_SUCCESS);
  error = (*ksp->pc->ops->apply)(ksp->pc, ksp->vec_rhs, ksp->work[0]);
  PetscCall(MatSORAMBAsk(block[0], NULL, &color));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  MGCycle      *cycle;
  MatSORAMBCall call;
  PetscBool     constant; /* the null space of the operator is to be removed */
} MGCycleSweeps;

/* A step of KSPAMBChebyshevIterate() with PCSOR */
static PetscErrorCode MGCycleSweepStep(KSP ksp, KSPAMB *amb, Mat A, FusedPass *pass, const Vec v[], void *ctx)
{
  MGCycleSweeps *s    = (MGCycleSweeps *)ctx;
  MGCycleStep   *step = NULL;

  PetscFunctionBegin;
  if (v[FUSED_P]) PetscCall(MGCycleAddProduct(s->cycle, A, PETSC_FALSE, -1.0, v[FUSED_P], v[FUSED_R], v[FUSED_W]));
  PetscCall(MGCycleAdd(s->cycle, MG_CYCLE_SWEEP, &step));
  step->smoother        = ksp;
  step->call            = s->call;
  step->call.sweep.zero = PETSC_TRUE;
  step->x               = v[FUSED_P] ? v[FUSED_W] : v[FUSED_R];
  if (s->constant) { /* the sweep alone, for the next step */
    step->a          = 1;
    step->v[FUSED_X] = ksp->work[1];
    PetscCall(MGCycleAdd(s->cycle, MG_CYCLE_REMOVE, &step));
    step->x = ksp->work[1];
  }
  step->a          = pass->a;
  step->b          = pass->b;
  step->c          = pass->c;
  step->v[FUSED_X] = v[FUSED_X];
  step->v[FUSED_P] = v[FUSED_P];
  step->v[FUSED_Z] = v[FUSED_Z];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The operation of a PC that KSPRICHARDSON calls instead of its own iteration, unless it has a scale */
static PetscBool richardson;

static PetscErrorCode MGCycleAskRichardson(PC pc, Vec b, Vec x, Vec w, PetscReal rtol, PetscReal abstol, PetscReal dtol, PetscInt its, PetscBool guesszero, PetscInt *outits, PCRichardsonConvergedReason *reason)
{
  PetscFunctionBegin;
  richardson = PETSC_TRUE;
  *outits    = its;
  *reason    = PCRICHARDSON_CONVERGED_ITS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds the sweeps of KSPRICHARDSON with PCSOR. PETSc has no function that returns the scale of KSPRICHARDSON: its solve runs with an operation of the PC that only says that it was called. */
static PetscErrorCode MGCycleRichardson(MGCycle *c, KSP ksp, const char **why)
{
  const PetscInt *columns;
  PetscObjectId   id;
  PetscErrorCode  error;
  MGCycleSweeps   sweeps           = {.cycle = c};
  MGCycleStep    *step             = NULL;
  FusedPass       pass             = {.a = 1, .b = 1};
  Vec             v[FUSED_VECTORS] = {NULL};
  Mat             block[2];

  PetscFunctionBegin;
  PetscCall(PetscObjectGetId((PetscObject)ksp, &id));
  if (PetscDefined(USE_COMPLEX)) *why = "the scalars are complex";
  else if (ksp->transpose_solve || ksp->err_hist || id == c->scaled) *why = "a richardson smoother has a scale, a history of errors or a transposed solve";
  else PetscCall(MGCycleGetSweep(ksp, &sweeps.call, why));
  if (*why) PetscFunctionReturn(PETSC_SUCCESS);
  {
    PetscErrorCode (*const apply)(PC, Vec, Vec, Vec, PetscReal, PetscReal, PetscReal, PetscInt, PetscBool, PetscInt *, PCRichardsonConvergedReason *) = ksp->pc->ops->applyrichardson;

    richardson                    = PETSC_FALSE;
    ksp->pc->ops->applyrichardson = MGCycleAskRichardson;
    error                         = (*ksp->ops->solve)(ksp);
    ksp->pc->ops->applyrichardson = apply;
    PetscCall(error);
  }
  if (!richardson) {
    c->scaled = id;
    *why      = "a richardson smoother has a scale or a test of convergence";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatAIJGetBlocks(ksp->pc->pmat, block, &columns));
  if (!block[1]) {
    PetscCall(MGCycleAdd(c, MG_CYCLE_SWEEP, &step));
    step->smoother        = ksp;
    step->call            = sweeps.call;
    step->call.sweep.zero = ksp->guess_zero;
    step->call.sweep.its *= (int)ksp->max_it;
    step->a          = 1;
    step->x          = ksp->vec_rhs;
    step->v[FUSED_X] = ksp->vec_sol;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  v[FUSED_X] = ksp->vec_sol; /* of several processes: a sweep from zero for the residual is a sweep from the iterate */
  v[FUSED_R] = ksp->vec_rhs;
  v[FUSED_W] = ksp->work[0];
  for (PetscInt i = 0; i < ksp->max_it; i++) {
    v[FUSED_P] = i || !ksp->guess_zero ? ksp->vec_sol : NULL;
    PetscCall(MGCycleSweepStep(ksp, NULL, ksp->pc->pmat, &pass, v, &sweeps));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MGCycleSmoothSet(MGCycle *c, KSP ksp, const char **why)
{
  PetscErrorCode (*solve)(KSP, KSPAMB *);
  PetscBool     chebyshev = PETSC_FALSE, rich, sor;
  MGCycleSweeps sweeps    = {.cycle = c};
  KSPAMB       *amb;
  Mat           A;

  PetscFunctionBegin;
  if (ksp->setupstage != KSP_SETUP_NEWRHS) PetscCall(KSPSetUp(ksp));
  if (ksp->ops->solve == KSPSolve_AMB) {
    PetscCall(KSPAMBGet(ksp, &amb));
    PetscCall(PetscStrcmp(amb->extends, KSPCHEBYSHEV, &chebyshev));
  }
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(MGCycleNullSpace(A, &sweeps.constant, why));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPRICHARDSON, &rich));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCSOR, &sor));
  if (*why) PetscFunctionReturn(PETSC_SUCCESS);
  if (!chebyshev && !(rich && sor)) *why = "a smoother is neither a chebyshev that runs on passes nor a richardson with sor";
  else if (ksp->max_it < 1) *why = "a smoother makes no step";
  else if (MGCycleWatched(ksp)) *why = "a monitor or a view is attached to a smoother";
  else if (sweeps.constant && !(chebyshev && sor && ksp->pc_side == PC_LEFT)) *why = "the operator of a smoother that is not chebyshev with sor has a null space";
  else if (ksp->reason == KSP_DIVERGED_PC_FAILED || ksp->pc->failedreason) *why = "the set-up of a smoother failed";
  if (*why) PetscFunctionReturn(PETSC_SUCCESS);
  if (!chebyshev) {
    PetscCall(MGCycleRichardson(c, ksp, why));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  amb->sweeps = sor;
  PetscCall(KSPAMBSupports(ksp, amb, why, &solve));
  amb->sweeps = PETSC_FALSE;
  if (sor && !*why) PetscCall(MGCycleGetSweep(ksp, &sweeps.call, why));
  if (*why) PetscFunctionReturn(PETSC_SUCCESS);
  if (sor) PetscCall(KSPAMBChebyshevIterate(ksp, amb, MGCycleSweepStep, &sweeps));
  else PetscCall(KSPAMBChebyshevIterate(ksp, amb, MGCycleChebyshevStep, c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* zero: x is known to be 0, as PETSc finds out by its norm */
static PetscErrorCode MGCycleSmooth(MGCycle *c, KSP ksp, Vec b, Vec x, PetscBool zero, const char **why)
{
  const struct {
    Vec       x, b;
    PetscBool zero;
  } own = {ksp->vec_sol, ksp->vec_rhs, ksp->guess_zero};
  PetscErrorCode error;

  PetscFunctionBegin;
  ksp->vec_sol    = x;
  ksp->vec_rhs    = b;
  ksp->guess_zero = (PetscBool)(own.zero || zero);
  error           = MGCycleSmoothSet(c, ksp, why);
  ksp->vec_sol    = own.x;
  ksp->vec_rhs    = own.b;
  ksp->guess_zero = own.zero;
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- the coarsest level ------------------------------------------------- */

/* Sets whether the solver of the coarsest level is linear and needs no other process */
static PetscErrorCode MGCycleLinear(KSP ksp, PetscBool *linear)
{
  PetscBool   preonly, block;
  PetscInt    n;
  PetscMPIInt nproc;
  KSP        *sub;

  PetscFunctionBegin;
  *linear = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPPREONLY, &preonly));
  if (!preonly || !ksp->guess_zero || MGCycleWatched(ksp) || ksp->pc->failedreason) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCBJACOBI, &block));
  if (block) {
    PetscCall(PCBJacobiGetSubKSP(ksp->pc, &n, NULL, &sub));
    if (n == 1) PetscCall(MGCycleLinear(sub[0], linear));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)ksp), &nproc));
  if (nproc == 1) PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp->pc, linear, PCLU, PCCHOLESKY, PCSVD, PCAMBINVERSE, ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves for the columns of the identity, without their means if constants are the null space, in the vectors of the level. The right-hand sides are set, and the solutions read, on the host: factors of small matrices are
   there. */
static PetscErrorCode MGCycleInvert(MGCycle *c, PC_MG_Levels *level, PetscInt n)
{
  const PC           pc = level->smoothd->pc;
  const PetscScalar *column;
  PetscScalar       *unit, *row, mean;
  PetscReal          norm, sum, largest = 0;
  PetscInt           have = -1;

  PetscFunctionBegin;
  if (c->inverse) PetscCall(VecGetLocalSize(c->inverse, &have));
  if (have != n * n) {
    PetscCall(VecDestroy(&c->inverse));
    PetscCall(VecCreate(PETSC_COMM_SELF, &c->inverse));
    PetscCall(VecSetSizes(c->inverse, n * n, n * n));
    PetscCall(VecSetType(c->inverse, ((PetscObject)level->b)->type_name));
  }
  PetscCall(VecGetArrayWrite(c->inverse, &row));
  for (PetscInt j = 0; j < n; j++) {
    PetscCall(VecGetArrayWrite(level->b, &unit));
    for (PetscInt i = 0; i < n; i++) unit[i] = (i == j) - (c->constant ? 1 / (PetscReal)n : 0);
    PetscCall(VecRestoreArrayWrite(level->b, &unit));
    PetscCall(PCApply(pc, level->b, level->x));
    if (c->constant) {
      PetscCall(VecSum(level->x, &mean));
      PetscCall(VecShift(level->x, -mean / (PetscReal)n));
    }
    PetscCall(VecGetArrayRead(level->x, &column));
    for (PetscInt i = 0; i < n; i++) row[i * n + j] = column[i];
    PetscCall(VecRestoreArrayRead(level->x, &column));
  }
  for (PetscInt i = 0; i < n; i++) {
    sum = 0;
    for (PetscInt j = 0; j < n; j++) sum += PetscAbsScalar(row[i * n + j]);
    if (!(sum <= largest)) largest = sum; /* a NaN too */
  }
  PetscCall(VecRestoreArrayWrite(c->inverse, &row));
  PetscCall(MatNorm(pc->pmat, NORM_INFINITY, &norm));
  c->regular = (PetscBool)(norm * largest <= CONDITION);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes note of the coarsest operator: another one, or new values, have no inverse yet */
static PetscErrorCode MGCycleCoarsestState(MGCycle *c, Mat P)
{
  PetscObjectState state;
  PetscObjectId    id;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetId((PetscObject)P, &id));
  PetscCall(PetscObjectStateGet((PetscObject)P, &state));
  if (id == c->id && state == c->state) PetscFunctionReturn(PETSC_SUCCESS);
  c->id       = id;
  c->state    = state;
  c->waited   = 0;
  c->inverted = PETSC_FALSE;
  PetscCall(MatGetLocalSize(P, &c->most, NULL));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &c->most, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)P)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MGCycleCoarsest(PC pc, MGCycle *c, const char **why)
{
  PC_MG_Levels *level = ((PC_MG *)pc->data)->levels[0];
  const KSP     ksp   = level->smoothd;
  PetscInt      n;
  PetscBool     linear, constant;
  Mat           A, P;

  PetscFunctionBegin;
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPSetUpOnBlocks(ksp));
  PetscCall(KSPGetOperators(ksp, &A, &P));
  PetscCall(MGCycleNullSpace(A, &constant, why));
  PetscCall(MGCycleLinear(ksp, &linear));
  PetscCall(MGCycleCoarsestState(c, P));
  if (!linear) *why = "the coarsest level is not solved by preonly with lu, cholesky, svd or ambinverse, or by these in a block of each process";
  else if (c->most > ROWS_MOST) *why = "the coarsest level is too large";
  PetscCall(MGCycleAgree(pc, why));
  if (*why) PetscFunctionReturn(PETSC_SUCCESS);
  if (!c->inverted && c->most > c->at_once && c->waited < (PetscInt)((PetscInt64)c->most * c->most / ROWS_REPAID)) {
    c->waited++;
    *why = "the inverse of the coarsest operator is not repaid yet";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGetLocalSize(level->b, &n));
  if (constant != c->constant) c->inverted = PETSC_FALSE;
  c->constant = constant;
  if (!c->inverted) PetscCall(MGCycleInvert(c, level, n));
  c->inverted = PETSC_TRUE;
  if (!c->regular) *why = "the coarsest operator is nearly singular";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- the cycle ------------------------------------------------- */

static PetscErrorCode MGCycleLevel(PC_MG *mg, MGCycle *c, PetscInt l, Vec b, Vec x, PetscBool zero, const char **why)
{
  const PC_MG_Levels *level = mg->levels[l], *coarse = l ? mg->levels[l - 1] : NULL;
  const PetscInt      cycles = l == 1 ? 1 : level->cycles;
  MGCycleStep        *step   = NULL;
  PetscInt            M, n;

  PetscFunctionBegin;
  if (!l) {
    PetscCall(MGCycleAdd(c, MG_CYCLE_COARSEST, &step));
    step->x = b;
    step->z = x;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MGCycleSmooth(c, level->smoothd, b, x, zero, why));
  if (*why) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MGCycleAddProduct(c, level->A, PETSC_FALSE, -1.0, x, b, level->r));
  PetscCall(VecGetSize(x, &n));
  PetscCall(MatGetSize(level->restrct, &M, NULL));
  PetscCall(MGCycleAddProduct(c, level->restrct, (PetscBool)(M == n), 1.0, level->r, NULL, coarse->b));
  for (PetscInt k = 0; k < cycles && !*why; k++) PetscCall(MGCycleLevel(mg, c, l - 1, coarse->b, coarse->x, (PetscBool)(k == 0), why));
  if (*why) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetSize(level->interpolate, &M, NULL));
  PetscCall(MGCycleAddProduct(c, level->interpolate, (PetscBool)(M != n), 1.0, coarse->x, x, x));
  PetscCall(MGCycleSmooth(c, level->smoothu, b, x, PETSC_FALSE, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MGCycleBuild(PC pc, MGCycle *c, Vec b, Vec x, const char **why)
{
  PC_MG *mg = (PC_MG *)pc->data;

  PetscFunctionBegin;
  *why     = NULL;
  c->nstep = 0;
  if (mg->nlevels < 2) *why = "there is one level";
  else if (mg->am != PC_MG_MULTIPLICATIVE) *why = "the cycle is not multiplicative";
  else if (mg->stageApply) *why = "cycles have a stage of the log";
  for (PetscInt l = 0; l < mg->nlevels && !*why; l++) {
    const PC_MG_Levels *level = mg->levels[l];

    if (level->eventsmoothsolve) *why = "levels have events of the log";
    else if (level->cr) *why = "a level has a compatible relaxation";
    else if (l && level->residual != PCMGResidualDefault) *why = "the program makes a residual";
    else if (l && !level->A) *why = "a level has no operator yet";
  }
  for (PetscInt k = 0; k < mg->cyclesperpcapply && !*why; k++) PetscCall(MGCycleLevel(mg, c, mg->nlevels - 1, b, x, (PetscBool)(k == 0), why));
  PetscCall(MGCycleAgree(pc, why));
  if (*why) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MGCycleExpectDevice(c));
  PetscCall(MGCycleCoarsest(pc, c, why)); /* last, since it is not for nothing then */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApply_MGCycle(PC pc, Vec b, Vec x)
{
  const char *why = "the vectors are on the host";
  MGCycle    *c;

  PetscFunctionBegin;
  PetscCall(MGCycleGet(pc, &c));
  PetscCall(MGCycleApplyDevice(pc, c, b, x, &why));
  if (why && why != c->reason) PetscCall(PetscInfo(pc, "The cycle is PETSc's own, since %s\n", why));
  c->reason = why;
  if (!why) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*c->apply)(pc, b, x));
  c->applied[MG_CYCLE_PETSC]++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- registration ------------------------------------------------- */

PetscErrorCode MGCycleGet(PC pc, MGCycle **c)
{
  PetscFunctionBegin;
  PetscCall(PetscAMBObjectContainerQuery((PetscObject)pc, MG_CYCLE_NAME, (void **)c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MGCycleDestroy(PetscAMBCtxArgument arg)
{
  MGCycle *c = (MGCycle *)PetscAMBCtxGet(arg);

  PetscFunctionBegin;
  PetscCall(MGCycleDestroyDevice(c));
  PetscCall(VecDestroy(&c->inverse));
  PetscCall(PetscFree(c->step));
  PetscCall(PetscFree(c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode (*create_mg)(PC);
static PetscBool wanted, asked; /* -petscamb_mg_graph: its value, and whether it was given */

/* PETSc's PCGAMG and others begin as a PCMG, and keep its operation */
static PetscErrorCode PCCreate_MGCycle(PC pc)
{
  MGCycle  *c;
  PetscBool set;

  PetscFunctionBegin;
  PetscCall((*create_mg)(pc));
  PetscCall(MGBlockCompose(pc));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-petscamb_mg_graph", &wanted, &set));
  PetscCall(MatShadowOptionSought("-petscamb_mg_graph"));
  if (set) asked = PETSC_TRUE;
  if (!wanted || (!asked && !PetscDefined(HAVE_CUDA))) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&c));
  c->at_once     = ROWS_AT_ONCE;
  c->apply       = pc->ops->apply;
  pc->ops->apply = PCApply_MGCycle;
  PetscCall(PetscAMBObjectContainerCompose((PetscObject)pc, MG_CYCLE_NAME, c, MGCycleDestroy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Calls the other constructor of PCMG first. Without CUDA a PCMG gets the cycle only if the program sets it. */
PetscErrorCode MGCycleRegister(void)
{
  PetscFunctionBegin;
  wanted = PETSC_TRUE;
  PetscCall(PCInitializePackage());
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "petsc-amb, cycles of multigrid", "PC");
  PetscCall(PetscOptionsBool("-petscamb_mg_graph", "Cycles of PCMG and PCGAMG on GPUs are queued without a wait and replayed as CUDA graphs", "PCMG", wanted, &wanted, &asked));
  PetscOptionsEnd();
  PetscCall(PetscFunctionListFind(PCList, PCMG, &create_mg));
  PetscCall(PCRegister(PCMG, PCCreate_MGCycle));
  PetscFunctionReturn(PETSC_SUCCESS);
}
