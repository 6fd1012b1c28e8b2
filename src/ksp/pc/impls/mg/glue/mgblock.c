/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Cycles of PCMG and PCGAMG with several right-hand sides on the host: the mathematics of PETSc's PCMGMCycle_Private() on panels (fused/fusedblock.h), so that a cycle
   reads each matrix once for all columns. A step of a Chebyshev smoother with PCNONE, PCJACOBI or PCPBJACOBI is one pass with its product. Other smoothers, matrices that are no
   AIJ, and the coarsest solver run column by column.
*/
#include "ksp/pc/impls/mg/glue/mgcycle.h"
#include "ksp/ksp/impls/ambksp/ambkspblock.h"
#include "sys/sysmemory.h"
#include "sys/systhreads.h"

#define MG_BLOCK_NAME    "PCMGBlock" /* of the context, among the objects that are attached to the PC */
#define MG_BLOCK_STEPS   16          /* of a smoother, at most */
#define MG_BLOCK_COLUMNS 16          /* of PCMatApply() in one cycle, at most */

typedef struct {
  KSP                        ksp;
  PetscInt                   nstep; /* 0: column by column */
  KSPAMBChebyshevStepFactors step[MG_BLOCK_STEPS];
  FusedKind                  kind;
  PetscInt                   bs;
  SysReal                   *d; /* as in FusedPass */
  size_t                     bytes;
} MGBlockSmoother;

typedef struct {
  PetscInt        n;
  KSPBlockMat     A, interpolate, restrct;
  PetscBool       up, down; /* the interpolation, the restriction are the transposed matrices */
  MGBlockSmoother smoother[2];
  Vec             vec[2]; /* of operations by columns */
  KSPBlockPanel   memory[3];
  SysReal        *b, *x, *r;
} MGBlockLevel;

typedef struct {
  PetscErrorCode (*matapply)(PC, Mat, Mat); /* PETSc's own */
  const char   *reason;                     /* why the last set-up chose PETSc's own cycle; NULL if it did not */
  PetscInt      nlevel;
  MGBlockLevel *level;
  KSPBlockPanel memory[3]; /* of PCMatApply() */
} MGBlock;

/* ------------------------------------------------- set-up ------------------------------------------------- */

static PetscErrorCode MGBlockReset(MGBlock *c)
{
  PetscFunctionBegin;
  for (PetscInt l = 0; l < c->nlevel; l++) {
    MGBlockLevel *level = &c->level[l];

    PetscCall(KSPBlockMatDestroy(&level->A));
    PetscCall(KSPBlockMatDestroy(&level->interpolate));
    PetscCall(KSPBlockMatDestroy(&level->restrct));
    for (int k = 0; k < 2; k++) {
      if (level->smoother[k].d) SysRelease(level->smoother[k].d, level->smoother[k].bytes);
      PetscCall(VecDestroy(&level->vec[k]));
    }
    for (int k = 0; k < 3; k++) PetscCall(KSPBlockPanelDestroy(&level->memory[k]));
  }
  PetscCall(PetscFree(c->level));
  c->nlevel = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The steps of a smoother, and the numbers of its preconditioner */
static PetscErrorCode MGBlockSmootherSetUp(KSP ksp, Mat A, Vec vec[2], MGBlockSmoother *s)
{
  PetscBool chebyshev;
  FusedHost host = {0};
  size_t    bytes;
  PetscInt  n;
  KSPAMB    amb;
  Mat       own;

  PetscFunctionBegin;
  s->ksp   = ksp;
  s->nstep = 0;
  if (ksp->setupstage != KSP_SETUP_NEWRHS) PetscCall(KSPSetUp(ksp));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp, &chebyshev, KSPCHEBYSHEV, KSPAMBCHEBYSHEV, ""));
  PetscCall(PCGetOperators(ksp->pc, &own, NULL));
  if (!chebyshev || own != A || ksp->normtype != KSP_NORM_NONE || ksp->pc_side != PC_LEFT || ksp->transpose_solve || MGCycleWatched(ksp) || ksp->reason == KSP_DIVERGED_PC_FAILED || ksp->pc->failedreason || ksp->err_hist || ksp->res_hist)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMemzero(&amb, sizeof(amb)));
  PetscCall(KSPAMBCheckPC(ksp, &amb));
  if (amb.kind == FUSED_OTHER) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPAMBChebyshevGetSteps(ksp, MG_BLOCK_STEPS, &s->nstep, s->step));
  s->kind = amb.kind;
  s->bs   = amb.bs;
  if (!s->nstep || s->kind == FUSED_NONE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetLocalSize(vec[0], &n));
  bytes = ((size_t)n + 1) * (size_t)s->bs * sizeof(SysReal);
  if (bytes != s->bytes) {
    if (s->d) SysRelease(s->d, s->bytes);
    s->d     = SysAllocate(bytes);
    s->bytes = s->d ? bytes : 0;
    PetscCheck(s->d, PETSC_COMM_SELF, PETSC_ERR_MEM, "Not enough memory for the numbers of a smoother's preconditioner");
  }
  PetscCheck(!FusedHostCreate(n, (int)s->bs, SysThreads(), &host), PETSC_COMM_SELF, PETSC_ERR_MEM, "Not enough memory for the passes of a smoother");
  PetscCall(KSPAMBGetPCNumbers(ksp->pc, &host, s->bs, vec[0], vec[1], s->d));
  FusedHostDestroy(&host);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets *why if PETSc's own cycle has to run */
static PetscErrorCode MGBlockSupports(PC pc, const char **why)
{
  PC_MG    *mg = (PC_MG *)pc->data;
  PetscBool host;

  PetscFunctionBegin;
  *why = NULL;
  if (PetscDefined(USE_COMPLEX)) *why = "the scalars are complex";
  else if (mg->nlevels < 2) *why = "there is one level";
  else if (mg->am != PC_MG_MULTIPLICATIVE) *why = "the cycle is not multiplicative";
  else if (mg->stageApply) *why = "cycles have a stage of the log";
  for (PetscInt l = 0; l < mg->nlevels && !*why; l++) {
    PC_MG_Levels *level = mg->levels[l];

    if (level->eventsmoothsolve) *why = "levels have events of the log";
    else if (level->cr) *why = "a level has a compatible relaxation";
    else if (l && level->residual != PCMGResidualDefault) *why = "the program makes a residual";
    if (!*why) PetscCall(PetscObjectTypeCompareAny((PetscObject)(l ? level->r : level->b), &host, VECSEQ, VECMPI, ""));
    if (!*why && !host) *why = "the vectors are not on the host";
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MGBlockLevelSetUp(PC_MG *mg, PetscInt l, int width, MGBlockLevel *level)
{
  PC_MG_Levels *petsc = mg->levels[l];
  PetscInt      M, N;

  PetscFunctionBegin;
  if (!level->vec[0]) {
    for (int k = 0; k < 2; k++) PetscCall(VecDuplicate(l ? petsc->r : petsc->b, &level->vec[k]));
  }
  PetscCall(VecGetLocalSize(level->vec[0], &level->n));
  for (int k = 0; k < 3; k++) {
    if (l == mg->nlevels - 1) continue; /* the caller has the panels of the finest level */
    PetscCall(KSPBlockPanelAllocate((size_t)level->n, width, &level->memory[k]));
  }
  level->b = level->memory[0].a;
  level->x = level->memory[1].a;
  level->r = level->memory[2].a;
  if (!l) PetscFunctionReturn(PETSC_SUCCESS);
  if (!petsc->A) {
    PetscCall(KSPGetOperators(petsc->smoothu, &petsc->A, NULL));
    PetscCall(PetscObjectReference((PetscObject)petsc->A));
  }
  PetscCall(KSPBlockMatBegin(petsc->A, PETSC_FALSE, &level->A));
  PetscCall(VecGetSize(level->vec[0], &N));
  PetscCall(MatGetSize(petsc->interpolate, &M, NULL));
  level->up = (PetscBool)(M != N);
  PetscCall(MatGetSize(petsc->restrct, &M, NULL));
  level->down = (PetscBool)(M == N);
  PetscCall(KSPBlockMatBegin(petsc->interpolate, level->up, &level->interpolate));
  PetscCall(KSPBlockMatBegin(petsc->restrct, level->down, &level->restrct));
  PetscCall(MGBlockSmootherSetUp(petsc->smoothd, petsc->A, level->vec, &level->smoother[0]));
  if (petsc->smoothu != petsc->smoothd) PetscCall(MGBlockSmootherSetUp(petsc->smoothu, petsc->A, level->vec, &level->smoother[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MGBlockSetUp(PC pc, KSPBlock *b, PetscBool *has)
{
  PC_MG      *mg = (PC_MG *)pc->data;
  const char *why;
  MGBlock    *c;
  PetscInt    n;

  PetscFunctionBegin;
  PetscCall(PetscAMBObjectContainerQuery((PetscObject)pc, MG_BLOCK_NAME, (void **)&c));
  PetscCall(MGBlockSupports(pc, &why));
  c->reason = why;
  *has      = PETSC_FALSE;
  if (why) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt l = 0; l < c->nlevel && c->nlevel == mg->nlevels; l++) {
    PetscCall(VecGetLocalSize(l ? mg->levels[l]->r : mg->levels[l]->b, &n));
    if (n != c->level[l].n) PetscCall(MGBlockReset(c));
  }
  if (c->nlevel != mg->nlevels) {
    PetscCall(MGBlockReset(c));
    PetscCall(PetscCalloc1(mg->nlevels, &c->level));
    c->nlevel = mg->nlevels;
  }
  for (PetscInt l = 0; l < c->nlevel; l++) PetscCall(MGBlockLevelSetUp(mg, l, b->width, &c->level[l]));
  {
    const MGBlockLevel *finest = &c->level[c->nlevel - 1];

    if (!finest->A.plain || !finest->smoother[0].nstep || (mg->levels[c->nlevel - 1]->smoothu != mg->levels[c->nlevel - 1]->smoothd && !finest->smoother[1].nstep)) why = "smoothers of the finest level run column by column";
  }
  PetscCall(KSPSetUp(mg->levels[0]->smoothd));
  c->reason = why;
  *has      = (PetscBool)!why;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- the cycle ------------------------------------------------- */

typedef struct {
  PC        pc;
  KSP       ksp;
  PetscBool zero; /* the guess */
} MGBlockSolve;

static PetscErrorCode MGBlockSolveColumn(void *ctx, Vec b, Vec x)
{
  const MGBlockSolve *solve = (const MGBlockSolve *)ctx;

  PetscFunctionBegin;
  if (solve->zero) PetscCall(VecSet(x, 0.0));
  PetscCall(KSPSolve(solve->ksp, b, x));
  PetscCall(KSPCheckSolve(solve->ksp, solve->pc, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x and r may change places; r is work space. summed: with sums of x.b, x.x and b.b. */
static PetscErrorCode MGBlockSmooth(PC pc, KSPBlock *block, MGBlockLevel *level, int up, const PC_MG_Levels *petsc, PetscBool zero, PetscBool *summed, SysReal sums[])
{
  const MGBlockSmoother *s     = &level->smoother[petsc->smoothu == petsc->smoothd ? 0 : up];
  const PetscInt         moves = zero ? s->nstep - 1 : s->nstep;
  MGBlockSolve           solve = {pc, s->ksp, zero};
  SysReal               *now = level->x, *next = level->r, *before = NULL;
  FusedBlockPass         pass = {.kind = s->kind, .bs = (int)s->bs, .n = level->n, .d = s->d};

  PetscFunctionBegin;
  if (!s->nstep) {
    *summed = PETSC_FALSE;
    PetscCall(KSPBlockColumns(block, level->b, level->x, (PetscBool)!zero, level->vec[0], level->vec[1], MGBlockSolveColumn, &solve));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (zero && moves % 2 == 0) { /* the first step writes where the last one then does */
    now  = level->r;
    next = level->x;
  }
  pass.v[FUSED_R] = level->b;
  for (PetscInt i = 0; i < s->nstep; i++) {
    const PetscBool first = (PetscBool)(zero && i == 0), sum = (PetscBool)(*summed && i == s->nstep - 1);

    for (int k = 0; k < block->width; k++) {
      pass.a[k] = s->step[i].a;
      pass.b[k] = s->step[i].b;
      pass.c[k] = s->step[i].c;
    }
    pass.v[FUSED_X] = next;
    pass.v[FUSED_P] = first ? NULL : now;
    pass.v[FUSED_Z] = s->step[i].c != 0.0 ? before : NULL;
    if (first) PetscCall(KSPBlockRun(block, block->kernels->chebyshev, &pass, sum ? sums : NULL));
    else PetscCall(KSPBlockMatMult(block, &level->A, now, block->kernels->chebyshev, &pass, sum ? sums : NULL));
    before = first ? NULL : now; /* is next's array two steps later */
    next   = now;
    now    = pass.v[FUSED_X];
  }
  level->x = now;
  level->r = next;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* summed as MGBlockSmooth() has it, for the last smoother */
static PetscErrorCode MGBlockCycle(PC pc, KSPBlock *block, MGBlock *c, PetscInt l, PetscBool zero, PetscBool *summed, SysReal sums[])
{
  PC_MG         *mg    = (PC_MG *)pc->data;
  MGBlockLevel  *level = &c->level[l], *coarse = l ? level - 1 : NULL;
  const PetscInt cycles = l == 1 ? 1 : (PetscInt)mg->levels[l]->cycles;
  FusedBlockPass pass   = {.kind = FUSED_NONE, .bs = 1, .n = level->n};
  PetscBool      no     = PETSC_FALSE;

  PetscFunctionBegin;
  if (!l) {
    MGBlockSolve solve = {pc, mg->levels[0]->smoothd, PETSC_TRUE};

    PetscCall(KSPBlockColumns(block, level->b, level->x, PETSC_FALSE, level->vec[0], level->vec[1], MGBlockSolveColumn, &solve));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MGBlockSmooth(pc, block, level, 0, mg->levels[l], zero, &no, NULL));
  pass.v[FUSED_R] = level->b;
  pass.v[FUSED_W] = level->r;
  PetscCall(KSPBlockMatMult(block, &level->A, level->x, block->kernels->residual, &pass, NULL));
  if (level->down) PetscCall(KSPBlockMatMultTranspose(block, &level->restrct, level->r, coarse->b));
  else {
    pass.n          = coarse->n;
    pass.v[FUSED_X] = coarse->b;
    PetscCall(PetscArrayzero(coarse->b, (size_t)coarse->n * block->width));
    PetscCall(KSPBlockMatMult(block, &level->restrct, level->r, block->kernels->add, &pass, NULL));
    pass.n = level->n;
  }
  for (PetscInt k = 0; k < cycles; k++) PetscCall(MGBlockCycle(pc, block, c, l - 1, (PetscBool)(k == 0), &no, NULL));
  pass.v[FUSED_X] = level->x;
  if (level->up) {
    PetscCall(KSPBlockMatMultTranspose(block, &level->interpolate, coarse->x, level->r));
    for (int64_t i = 0; i < (int64_t)level->n * block->width; i++) level->x[i] += level->r[i];
  } else PetscCall(KSPBlockMatMult(block, &level->interpolate, coarse->x, block->kernels->add, &pass, NULL));
  PetscCall(MGBlockSmooth(pc, block, level, 1, mg->levels[l], PETSC_FALSE, summed, sums));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MGBlockApply(PC pc, KSPBlock *block, SysReal *b, SysReal **x, SysReal **work, PetscBool *summed, SysReal sums[])
{
  const PetscInt cycles = ((PC_MG *)pc->data)->cyclesperpcapply;
  PetscBool      no     = PETSC_FALSE;
  MGBlockLevel  *finest;
  MGBlock       *c;

  PetscFunctionBegin;
  PetscCall(PetscAMBObjectContainerQuery((PetscObject)pc, MG_BLOCK_NAME, (void **)&c));
  finest    = &c->level[c->nlevel - 1];
  finest->b = b;
  finest->x = *x;
  finest->r = *work;
  for (PetscInt k = 0; k < cycles; k++) PetscCall(MGBlockCycle(pc, block, c, c->nlevel - 1, (PetscBool)(k == 0), k == cycles - 1 ? summed : &no, sums));
  *x    = finest->x;
  *work = finest->r;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- PCMatApply() ------------------------------------------------- */

static PetscErrorCode MGBlockMatApply(PC pc, MGBlock *c, PetscInt ncol, const PetscScalar *b, PetscInt ldb, PetscScalar *x, PetscInt ldx, PetscBool *has)
{
  SysReal  *panel[3];
  PetscBool no = PETSC_FALSE;
  PetscInt  n;
  KSPBlock  block;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(pc->pmat, &n, NULL));
  PetscCall(KSPBlockCreate(PetscObjectComm((PetscObject)pc), n, ncol, &block));
  PetscCall(MGBlockSetUp(pc, &block, has));
  if (*has) {
    for (int k = 0; k < 3; k++) {
      PetscCall(KSPBlockPanelAllocate((size_t)n, block.width, &c->memory[k]));
      panel[k] = c->memory[k].a;
    }
    SpmmPack(block.nthread, n, (int)ncol, block.width, (const SysReal *)b, ldb, panel[0]);
    PetscCall(MGBlockApply(pc, &block, panel[0], &panel[1], &panel[2], &no, NULL));
    SpmmUnpack(block.nthread, n, (int)ncol, block.width, panel[1], (SysReal *)x, ldx);
  }
  PetscCall(KSPBlockDestroy(&block));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCMatApply_MGBlock(PC pc, Mat B, Mat X)
{
  const PetscInt     N = B->cmap->N, nblock = (N + MG_BLOCK_COLUMNS - 1) / MG_BLOCK_COLUMNS;
  PetscBool          host[2], has           = PETSC_FALSE;
  const PetscScalar *b;
  PetscScalar       *x;
  PetscInt           ldb, ldx;
  MGBlock           *c;

  PetscFunctionBegin;
  PetscCall(PetscAMBObjectContainerQuery((PetscObject)pc, MG_BLOCK_NAME, (void **)&c));
  PetscCall(KSPBlockDenseIsHost(B, &host[0]));
  PetscCall(KSPBlockDenseIsHost(X, &host[1]));
  if (host[0] && host[1] && N > 1) {
    PetscCall(MatDenseGetLDA(B, &ldb));
    PetscCall(MatDenseGetLDA(X, &ldx));
    PetscCall(MatDenseGetArrayRead(B, &b));
    PetscCall(MatDenseGetArrayWrite(X, &x));
    for (PetscInt k = 0; k < nblock && (has || !k); k++) {
      const PetscInt first = k * N / nblock, ncol = (k + 1) * N / nblock - first;

      PetscCall(MGBlockMatApply(pc, c, ncol, b + (size_t)first * ldb, ldb, x + (size_t)first * ldx, ldx, &has));
    }
    PetscCall(MatDenseRestoreArrayWrite(X, &x));
    PetscCall(MatDenseRestoreArrayRead(B, &b));
  }
  if (has) PetscFunctionReturn(PETSC_SUCCESS);
  if (!host[0] || !host[1]) c->reason = "the dense matrices are not on the host";
  else if (N < 2) c->reason = "there is one column";
  PetscCall(PetscInfo(pc, "The cycle of several right-hand sides is PETSc's own, since %s\n", c->reason));
  PetscCall((*c->matapply)(pc, B, X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- the context ------------------------------------------------- */

PetscErrorCode MGBlockGetReason(PC pc, const char **why)
{
  MGBlock *c;

  PetscFunctionBegin;
  PetscCall(PetscAMBObjectContainerQuery((PetscObject)pc, MG_BLOCK_NAME, (void **)&c));
  *why = c ? c->reason : "the PC is no PCMG";
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MGBlockDestroy(PetscAMBCtxArgument arg)
{
  MGBlock *c = (MGBlock *)PetscAMBCtxGet(arg);

  PetscFunctionBegin;
  PetscCall(MGBlockReset(c));
  for (int k = 0; k < 3; k++) PetscCall(KSPBlockPanelDestroy(&c->memory[k]));
  PetscCall(PetscFree(c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MGBlockCompose(PC pc)
{
  MGBlock *c;

  PetscFunctionBegin;
  PetscCall(PetscNew(&c));
  c->matapply       = pc->ops->matapply;
  pc->ops->matapply = PCMatApply_MGBlock;
  PetscCall(PetscAMBObjectContainerCompose((PetscObject)pc, MG_BLOCK_NAME, c, MGBlockDestroy));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, KSPBLOCK_SETUP, MGBlockSetUp));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, KSPBLOCK_APPLY, MGBlockApply));
  PetscFunctionReturn(PETSC_SUCCESS);
}
