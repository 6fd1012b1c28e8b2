/* SPDX-License-Identifier: BSD-2-Clause */
/*
   KSPMatSolve() of KSPAMBCG on the host: the systems of all columns iterate together, each with its own coefficients and its own end, as KSPSolve() would solve them one
   by one. A product, a pass and an application of the preconditioner serve all columns, which a panel holds by rows (fused/fusedblock.h). A column that ends is copied to the
   solution at once; when the rest fits a narrower panel, the panels shrink.

   Histories and monitors of residuals get the norms after the solve, column by column, as from a solve for each. The solver's reason is a column's that diverged, or else
   the one with the most iterations.
*/
#include "ksp/ksp/impls/ambcg/ambcg.h"
#include "ksp/ksp/impls/ambksp/ambkspblock.h"

#define KSPAMBCG_COLUMNS 16 /* that iterate together, at most */

typedef struct {
  PetscReal          beta, betaold, dpi, dpiold, rnorm0, ttol, rnorm;
  PetscInt           its, ntest; /* iterations, calls of the convergence test */
  KSPConvergedReason reason;
} KSPAMBCGColumn;

typedef struct _KSPAMBCGBlock {
  KSPBlock        block;
  KSPBlockMat     A;
  KSPBlockPanel   memory[5];
  SysReal        *x, *r, *z, *p, *w;
  Vec             vec[2]; /* of operations by columns */
  FusedBlockPass  pass;
  SysReal         sums[FUSED_SUMS * FUSED_BLOCK_COLUMNS];
  KSPAMBCGColumn  column[KSPAMBCG_COLUMNS];
  int             lane[FUSED_BLOCK_COLUMNS]; /* the column in each place of a row of the panels */
  PetscBool       behind;                    /* the last step of x is still to be made, by the next direction */
  int             ncol, nactive;             /* columns of this block, columns that iterate */
  KSPBlockPCApply apply;                     /* of the preconditioner on panels; NULL: a pass or columns */
  PetscReal      *norm;                      /* of test k of column c at k ncol + c */
  PetscInt        room;
  SysReal        *solution; /* first column of this block */
  PetscInt        ld;
} KSPAMBCGBlock;

/* ------------------------------------------------- which solves are made together? ------------------------------------------------- */

static PetscErrorCode KSPAMBCGBlockMonitors(KSP ksp, const char **why)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < ksp->numbermonitors; k++) {
    if ((void (*)(void))ksp->monitor[k] != (void (*)(void))KSPMonitorResidual) *why = "a monitor reads more than norms";
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPAMBCGBlockSupports(KSP ksp, KSPAMB *amb, Mat B, Mat X, const char **why)
{
  PetscErrorCode (*solve)(KSP, KSPAMB *) = NULL;
  MatNullSpace nullspace[2];
  PetscBool    host[2];
  Mat          A;

  PetscFunctionBegin;
  *why = NULL;
  PetscCall(KSPBlockDenseIsHost(B, &host[0]));
  PetscCall(KSPBlockDenseIsHost(X, &host[1]));
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(MatGetNullSpace(A, &nullspace[0]));
  PetscCall(MatGetTransposeNullSpace(A, &nullspace[1]));
  if (!host[0] || !host[1]) *why = "the dense matrices are not on the host";
  else if (amb->single) *why = "the iterations have a single reduction";
  else if (ksp->guess || ksp->guess_knoll) *why = "an object makes initial guesses";
  else if (ksp->presolve || ksp->postsolve || ksp->pc->ops->presolve || ksp->pc->ops->postsolve) *why = "functions are called before or after each solve";
  else if (nullspace[0] || nullspace[1]) *why = "the operator has a null space";
  else if (ksp->err_hist) *why = "a history of errors is wanted";
  else if (ksp->converged != KSPConvergedDefault && ksp->converged != KSPConvergedSkip) *why = "the program has a convergence test";
  else if (ksp->reason == KSP_DIVERGED_PC_FAILED || ksp->pc->failedreason) *why = "the set-up of the preconditioner failed";
#if PETSC_VERSION_LT(3, 26, 0)
  else if (ksp->dscale) *why = "the system is scaled";
#endif
  if (!*why) PetscCall(KSPAMBCGBlockMonitors(ksp, why));
  if (!*why) PetscCall(KSPAMBSupports(ksp, amb, why, &solve));
  if (!*why && solve != amb->solve) *why = "the vectors are not on the host";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- columns ------------------------------------------------- */

/* Notes the end of a column */
static void KSPAMBCGBlockStop(KSP ksp, KSPAMBCGColumn *c, PetscInt its)
{
  c->its    = its;
  c->reason = ksp->reason;
}

static PetscErrorCode KSPAMBCGBlockCheckDot(KSP ksp, PetscReal value)
{
  PetscFunctionBegin;
  KSPCheckDot(ksp, value);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPAMBCGBlockCheckNorm(KSP ksp, PetscReal value)
{
  PetscFunctionBegin;
  KSPCheckNorm(ksp, value);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The right-hand side of a column, in a vector */
static PetscErrorCode KSPAMBCGBlockRhs(KSP ksp, const PetscScalar *b)
{
  PetscScalar *array;
  PetscInt     n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(ksp->vec_rhs, &n));
  PetscCall(VecGetArrayWrite(ksp->vec_rhs, &array));
  PetscCall(PetscArraycpy(array, b, n));
  PetscCall(VecRestoreArrayWrite(ksp->vec_rhs, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* KSPAMBTest() of a column: its own norms decide */
static PetscErrorCode KSPAMBCGBlockTest(KSP ksp, KSPAMBCGBlock *s, int k, PetscInt its, PetscReal norm)
{
  KSPAMBCGColumn *c = &s->column[k];

  PetscFunctionBegin;
  if (s->norm) {
    if (c->ntest == s->room) {
      PetscReal *more;

      PetscCall(PetscMalloc1(2 * s->room * s->ncol, &more));
      PetscCall(PetscArraycpy(more, s->norm, s->room * s->ncol));
      PetscCall(PetscFree(s->norm));
      s->norm = more;
      s->room *= 2;
    }
    s->norm[c->ntest * s->ncol + k] = norm;
  }
  c->ntest++;
  c->rnorm    = norm;
  ksp->its    = its;
  ksp->rnorm  = norm;
  ksp->rnorm0 = c->rnorm0;
  ksp->ttol   = c->ttol;
  PetscCall((*ksp->converged)(ksp, its, norm, &ksp->reason, ksp->cnvP));
  c->rnorm0 = ksp->rnorm0;
  c->ttol   = ksp->ttol;
  if (ksp->reason) KSPAMBCGBlockStop(ksp, c, its);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies columns that have ended to the solution, and narrows the panels if the rest fits */
static PetscErrorCode KSPAMBCGBlockRetire(KSPAMBCGBlock *s)
{
  KSPBlock *b     = &s->block;
  int       nstop = 0, nlane = 0, width, stop[FUSED_BLOCK_COLUMNS], to[FUSED_BLOCK_COLUMNS], lane[FUSED_BLOCK_COLUMNS];

  PetscFunctionBegin;
  for (int l = 0; l < b->width; l++) {
    if (!b->active[l]) continue;
    if (s->column[s->lane[l]].reason) {
      stop[nstop]  = l;
      to[nstop++]  = s->lane[l];
      b->active[l] = PETSC_FALSE;
    } else lane[nlane++] = l;
  }
  if (!nstop) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->behind) {
    FusedBlockPass update = s->pass;

    for (int k = 0; k < nlane; k++) update.a[lane[k]] = 0;
    PetscCall(KSPBlockRun(b, b->kernels->update, &update, NULL));
  }
  FusedBlockGet(b->nthread, s->pass.n, b->width, s->x, nstop, stop, to, s->solution, s->ld);
  s->nactive = nlane;
  for (int l = 0; l < b->width; l++) {
    if (!b->active[l]) s->pass.a[l] = s->pass.b[l] = 0;
  }
  if (!nlane) PetscFunctionReturn(PETSC_SUCCESS);
  (void)SpmmPanelColumns(nlane, &width);
  if (width == b->width) PetscFunctionReturn(PETSC_SUCCESS);
  {
    SysReal *const panel[] = {s->x, s->r, s->p, s->w, s->z};

    for (int k = 0; k < 5; k++) {
      if (panel[k]) FusedBlockCompact(s->pass.n, b->width, panel[k], nlane, lane, width);
    }
    for (int k = 0; k < FUSED_SUMS; k++) { /* the sums of the last pass are still to be read */
      for (int l = 0; l < nlane; l++) s->sums[k * width + l] = s->sums[k * b->width + lane[l]];
    }
  }
  for (int l = 0; l < b->width; l++) {
    if (l < nlane) s->lane[l] = s->lane[lane[l]];
    b->active[l] = (PetscBool)(l < nlane);
    s->pass.a[l] = l < nlane ? s->pass.a[lane[l]] : 0;
    s->pass.b[l] = l < nlane ? s->pass.b[lane[l]] : 0;
  }
  b->ncol = nlane;
  PetscCall(KSPBlockWidth(b, width));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- the preconditioner ------------------------------------------------- */

static PetscErrorCode KSPAMBCGBlockReduce(KSP ksp, KSPAMB *amb, KSPAMBCGBlock *s, int first, int n)
{
  PetscFunctionBegin;
  PetscCall(KSPAMBReduce(ksp, amb, n * s->block.width, s->sums + first * s->block.width));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z = M r and the sums of all processes */
static PetscErrorCode KSPAMBCGBlockPrecondition(KSP ksp, KSPAMB *amb, KSPAMBCGBlock *s)
{
  PetscBool summed = PETSC_FALSE;

  PetscFunctionBegin;
  if (s->apply) {
    summed = PETSC_TRUE;
    PetscCall((*s->apply)(ksp->pc, &s->block, s->r, &s->z, &s->w, &summed, s->sums));
    s->pass.v[FUSED_Z] = s->z;
    s->pass.v[FUSED_W] = s->w;
  }
  if (!summed) PetscCall(KSPBlockRun(&s->block, s->block.kernels->apply, &s->pass, s->sums));
  PetscCall(KSPAMBCGBlockReduce(ksp, amb, s, 0, FUSED_SUMS));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The norm of a place of the panels */
static PetscReal KSPAMBCGBlockNorm(KSP ksp, const KSPAMBCGBlock *s, int l)
{
  const int     width            = s->block.width;
  const SysReal sums[FUSED_SUMS] = {s->sums[l], s->sums[width + l], s->sums[2 * width + l]};

  return KSPAMBCGNorm(ksp, sums);
}

/* ------------------------------------------------- the solve ------------------------------------------------- */

/* Sets the panels of the start: x, and r = b - A x */
static PetscErrorCode KSPAMBCGBlockResidual(KSP ksp, KSPAMBCGBlock *s, const PetscScalar *b, PetscInt ldb)
{
  KSPBlock     *block = &s->block;
  const int     ncol = block->ncol, width = block->width;
  const int64_t n = s->pass.n;

  PetscFunctionBegin;
  SpmmPack(block->nthread, n, ncol, width, (const SysReal *)b, ldb, s->r);
  if (ksp->guess_zero) {
    FusedBlockCopy(block->nthread, n, width, NULL, s->x);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  SpmmPack(block->nthread, n, ncol, width, s->solution, s->ld, s->x);
  s->pass.v[FUSED_W] = s->r;
  PetscCall(KSPBlockMatMult(block, &s->A, s->x, block->kernels->residual, &s->pass, NULL));
  s->pass.v[FUSED_W] = s->w;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The part before the first direction */
static PetscErrorCode KSPAMBCGBlockStart(KSP ksp, KSPAMB *amb, KSPAMBCGBlock *s, const PetscScalar *b, PetscInt ldb)
{
  const PetscBool early = (PetscBool)(amb->kind != FUSED_OTHER || ksp->normtype == KSP_NORM_PRECONDITIONED || ksp->normtype == KSP_NORM_NATURAL);

  PetscFunctionBegin;
  PetscCall(KSPAMBCGBlockResidual(ksp, s, b, ldb));
  if (early) PetscCall(KSPAMBCGBlockPrecondition(ksp, amb, s));
  else if (ksp->normtype == KSP_NORM_UNPRECONDITIONED) {
    s->pass.v[FUSED_Z] = s->r;
    PetscCall(KSPBlockRun(&s->block, s->block.kernels->apply, &s->pass, s->sums));
    s->pass.v[FUSED_Z] = s->z;
    PetscCall(KSPAMBCGBlockReduce(ksp, amb, s, 2, 1));
  }
  for (int k = 0; k < s->block.ncol; k++) {
    const PetscReal norm = KSPAMBCGBlockNorm(ksp, s, k);

    ksp->reason = KSP_CONVERGED_ITERATING;
    PetscCall(KSPAMBCGBlockCheckNorm(ksp, norm));
    if (ksp->reason) KSPAMBCGBlockStop(ksp, &s->column[k], 0);
    else {
      if (!ksp->guess_zero) PetscCall(KSPAMBCGBlockRhs(ksp, b + (size_t)k * ldb)); /* the test computes its norm */
      PetscCall(KSPAMBCGBlockTest(ksp, s, k, 0, norm));
    }
  }
  PetscCall(KSPAMBCGBlockRetire(s));
  if (s->nactive && !early) PetscCall(KSPAMBCGBlockPrecondition(ksp, amb, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first sums become the betas of active columns */
static PetscErrorCode KSPAMBCGBlockBeta(KSP ksp, KSPAMBCGBlock *s, PetscInt its)
{
  PetscFunctionBegin;
  for (int l = 0; l < s->block.width; l++) {
    KSPAMBCGColumn *c = &s->column[s->block.active[l] ? s->lane[l] : 0];

    if (!s->block.active[l]) continue;
    c->beta     = s->sums[l];
    ksp->reason = KSP_CONVERGED_ITERATING;
    PetscCall(KSPAMBCGBlockCheckDot(ksp, c->beta));
    if (ksp->reason) KSPAMBCGBlockStop(ksp, c, its);
  }
  PetscCall(KSPAMBCGBlockRetire(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPAMBCGBlockDirection(KSP ksp, KSPAMBCGBlock *s, PetscInt i)
{
  PetscFunctionBegin;
  for (int l = 0; l < s->block.width; l++) {
    KSPAMBCGColumn *c = &s->column[s->block.active[l] ? s->lane[l] : 0];

    if (!s->block.active[l]) continue;
    ksp->reason = KSP_CONVERGED_ITERATING;
    PetscCall(KSPAMBCGCheckBeta(ksp, i, c->beta, c->betaold));
    if (ksp->reason) KSPAMBCGBlockStop(ksp, c, i + 1);
    s->pass.b[l] = i ? c->beta / c->betaold : 0.0;
  }
  PetscCall(KSPAMBCGBlockRetire(s));
  if (!s->nactive) PetscFunctionReturn(PETSC_SUCCESS);
  if (!i) FusedBlockCopy(s->block.nthread, s->pass.n, s->block.width, NULL, s->p);
  PetscCall(KSPBlockRun(&s->block, s->block.kernels->direction, &s->pass, NULL));
  s->behind = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* w = A p, and the factors of the step */
static PetscErrorCode KSPAMBCGBlockProduct(KSP ksp, KSPAMB *amb, KSPAMBCGBlock *s, PetscInt i)
{
  PetscFunctionBegin;
  PetscCall(KSPBlockMatMult(&s->block, &s->A, s->p, s->block.kernels->dot, &s->pass, s->sums));
  PetscCall(KSPAMBCGBlockReduce(ksp, amb, s, 0, 1));
  for (int l = 0; l < s->block.width; l++) {
    KSPAMBCGColumn *c = &s->column[s->block.active[l] ? s->lane[l] : 0];

    if (!s->block.active[l]) continue;
    c->dpiold   = c->dpi;
    c->dpi      = s->sums[l];
    ksp->reason = KSP_CONVERGED_ITERATING;
    PetscCall(KSPAMBCGBlockCheckDot(ksp, c->dpi));
    c->betaold = c->beta;
    if (!ksp->reason && (c->dpi == 0.0 || (i > 0 && PetscSign(c->dpi) * PetscSign(c->dpiold) < 0.0))) PetscCall(KSPAMBCGIndefiniteMat(ksp, c->dpi, c->dpiold));
    if (ksp->reason) KSPAMBCGBlockStop(ksp, c, i + 1);
    else s->pass.a[l] = c->beta / c->dpi;
  }
  PetscCall(KSPAMBCGBlockRetire(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPAMBCGBlockIterate(KSP ksp, KSPAMB *amb, KSPAMBCGBlock *s)
{
  const PetscBool other = (PetscBool)(amb->kind == FUSED_OTHER);
  PetscInt        i     = 0;

  PetscFunctionBegin;
  PetscCall(KSPAMBCGBlockBeta(ksp, s, 0));
  while (s->nactive) {
    const PetscBool wanted = KSPAMBCGNormWanted(ksp, i + 1), early = (PetscBool)(wanted && ksp->normtype != KSP_NORM_UNPRECONDITIONED);

    PetscCall(KSPAMBCGBlockDirection(ksp, s, i));
    if (!s->nactive) break;
    PetscCall(KSPAMBCGBlockProduct(ksp, amb, s, i));
    if (!s->nactive) break;
    PetscCall(KSPBlockRun(&s->block, s->block.kernels->step, &s->pass, s->sums));
    s->behind = PETSC_TRUE;
    if (!other) PetscCall(KSPAMBCGBlockReduce(ksp, amb, s, 0, FUSED_SUMS));
    else if (early) PetscCall(KSPAMBCGBlockPrecondition(ksp, amb, s));
    else if (wanted) PetscCall(KSPAMBCGBlockReduce(ksp, amb, s, 2, 1));
    for (int l = 0; l < s->block.width; l++) {
      PetscReal norm;

      if (!s->block.active[l]) continue;
      norm        = wanted ? KSPAMBCGBlockNorm(ksp, s, l) : 0.0;
      ksp->reason = KSP_CONVERGED_ITERATING;
      PetscCall(KSPAMBCGBlockCheckNorm(ksp, norm));
      if (ksp->reason) {
        s->column[s->lane[l]].rnorm = norm;
        KSPAMBCGBlockStop(ksp, &s->column[s->lane[l]], i + 1);
      } else PetscCall(KSPAMBCGBlockTest(ksp, s, s->lane[l], i + 1, norm));
    }
    PetscCall(KSPAMBCGBlockRetire(s));
    if (!s->nactive) break;
    if (other && !early) PetscCall(KSPAMBCGBlockPrecondition(ksp, amb, s));
    PetscCall(KSPAMBCGBlockBeta(ksp, s, i + 1));
    i++;
    if (i < ksp->max_it) continue;
    ksp->reason = KSP_DIVERGED_ITS;
    for (int l = 0; l < s->block.width; l++) {
      if (s->block.active[l]) KSPAMBCGBlockStop(ksp, &s->column[s->lane[l]], i);
    }
    PetscCall(KSPAMBCGBlockRetire(s));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Histories and monitors get the norms of each column as from its own solve */
static PetscErrorCode KSPAMBCGBlockReport(KSP ksp, KSPAMBCGBlock *s, int ncol)
{
  PetscFunctionBegin;
  for (int k = 0; k < ncol; k++) {
    const KSPAMBCGColumn *c = &s->column[k];

    if (s->norm && ksp->res_hist_reset) ksp->res_hist_len = 0;
    for (PetscInt its = 0; its < c->ntest && s->norm; its++) {
      ksp->its   = its;
      ksp->rnorm = s->norm[its * ncol + k];
      PetscCall(KSPLogResidualHistory(ksp, ksp->rnorm));
      PetscCall(KSPMonitor(ksp, its, ksp->rnorm));
    }
    PetscCall(PetscInfo(ksp, "Column %d: %" PetscInt_FMT " iterations, %s\n", k, c->its, KSPConvergedReasons[c->reason]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Notes the end of a column if it is the worst so far */
static void KSPAMBCGWorst(const KSPAMBCGColumn *c, KSPAMBCGColumn *worst)
{
  if (!worst->reason || (worst->reason > 0 && (c->reason < 0 || c->its > worst->its))) *worst = *c;
}

/* Solves for ncol columns, and adds their reasons and iterations to the worst ones so far */
static PetscErrorCode KSPAMBCGBlockSolve(KSP ksp, KSPAMB *amb, KSPAMBCGBlock *s, PetscInt ncol, const PetscScalar *b, PetscInt ldb, KSPAMBCGColumn *worst)
{
  const size_t n       = (size_t)amb->host.n;
  SysReal    **panel[] = {&s->x, &s->r, &s->p, &s->z, &s->w};

  PetscFunctionBegin;
  for (int k = 0; k < 5; k++) {
    if (k == 3 && amb->kind != FUSED_OTHER) s->z = NULL; /* passes need none */
    else {
      PetscCall(KSPBlockPanelAllocate(n, s->block.width, &s->memory[k]));
      *panel[k] = s->memory[k].a;
    }
  }
  PetscCall(PetscMemzero(&s->pass, sizeof(s->pass)));
  PetscCall(PetscMemzero(s->column, sizeof(s->column)));
  s->pass.kind       = amb->kind;
  s->pass.bs         = (int)amb->bs;
  s->pass.n          = amb->host.n;
  s->pass.d          = amb->d;
  s->pass.v[FUSED_X] = s->x;
  s->pass.v[FUSED_R] = s->r;
  s->pass.v[FUSED_Z] = s->z;
  s->pass.v[FUSED_P] = s->p;
  s->pass.v[FUSED_W] = s->w;
  s->behind          = PETSC_FALSE;
  s->ncol = s->nactive = (int)ncol;
  for (int l = 0; l < FUSED_BLOCK_COLUMNS; l++) s->lane[l] = l;
  if (ksp->res_hist || ksp->numbermonitors) {
    s->room = 64;
    PetscCall(PetscMalloc1(s->room * s->ncol, &s->norm));
  }
  PetscCall(KSPAMBCGBlockStart(ksp, amb, s, b, ldb));
  if (s->nactive) PetscCall(KSPAMBCGBlockIterate(ksp, amb, s));
  PetscCall(KSPAMBCGBlockReport(ksp, s, (int)ncol));
  PetscCall(PetscFree(s->norm));
  for (PetscInt k = 0; k < ncol; k++) {
    const KSPAMBCGColumn *c = &s->column[k];

    ksp->totalits += c->its;
    KSPAMBCGWorst(c, worst);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets *why if the preconditioner or the matrix has no form for panels; the preconditioner is ready for the first block otherwise */
static PetscErrorCode KSPAMBCGBlockSetUp(KSP ksp, KSPAMB *amb, KSPAMBCGBlock *s, PetscInt ncol, const char **why)
{
  KSPBlockPCSetUp setup;
  PetscBool       has = PETSC_FALSE;
  Mat             A;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(KSPAMBSetUp(ksp, amb));
  PetscCall(KSPBlockMatBegin(A, PETSC_FALSE, &s->A));
  s->apply = NULL;
  if (!s->A.plain) *why = "the matrix is no AIJ";
  if (*why || amb->kind != FUSED_OTHER) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectQueryFunction((PetscObject)ksp->pc, KSPBLOCK_SETUP, &setup));
  if (setup) {
    PetscCall(KSPBlockCreate(PetscObjectComm((PetscObject)ksp), (PetscInt)amb->host.n, ncol, &s->block));
    PetscCall((*setup)(ksp->pc, &s->block, &has));
    PetscCall(KSPBlockDestroy(&s->block));
  }
  if (has) PetscCall(PetscObjectQueryFunction((PetscObject)ksp->pc, KSPBLOCK_APPLY, &s->apply));
  else *why = "the preconditioner has no form for several columns";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns how many of the next n columns iterate together; 0: a solve for each is faster. A panel's row has 4, 8 or 16 columns, used or not. A cycle gains with few columns: its products
   are most of its time. Jacobi gains with whole rows of 8: the vectors of a single solve may be in cache where panels are not. */
static PetscInt KSPAMBCGBlockColumns(const KSPAMB *amb, PetscInt n)
{
  if (amb->kind != FUSED_OTHER) return n >= 8 ? 8 : 0;
  if (n >= 13) return PetscMin(n, KSPAMBCG_COLUMNS);
  return n >= 4 ? PetscMin(n, 8) : 0;
}

/* Solves for columns, sets *done to their number, or says why none. PETSc has set up the solver. */
static PetscErrorCode KSPAMBCGBlockSolveAll(KSP ksp, KSPAMB *amb, Mat B, Mat X, PetscInt *done, KSPAMBCGColumn *worst, const char **why)
{
  KSPAMBCGBlock     *s = amb->block;
  const PetscInt     N = B->cmap->N;
  const PetscScalar *b;
  PetscScalar       *x;
  PetscInt           ldb, ncol;

  PetscFunctionBegin;
  amb->poison = PETSC_FALSE;
  PetscCall(KSPAMBCheckPC(ksp, amb));
  ncol = KSPAMBCGBlockColumns(amb, N);
  if (!ncol) *why = "there are few columns";
  else PetscCall(KSPAMBCGBlockSetUp(ksp, amb, s, ncol, why));
  if (*why) PetscFunctionReturn(PETSC_SUCCESS);
  amb->reason   = NULL;
  amb->fused    = PETSC_TRUE;
  amb->together = ncol;
  PetscCall(MatDenseGetLDA(B, &ldb));
  PetscCall(MatDenseGetLDA(X, &s->ld));
  PetscCall(MatDenseGetArrayRead(B, &b));
  PetscCall(MatDenseGetArray(X, &x));
  for (; ncol; ncol = KSPAMBCGBlockColumns(amb, N - *done)) {
    s->solution = (SysReal *)(x + (size_t)*done * s->ld);
    PetscCall(KSPBlockCreate(PetscObjectComm((PetscObject)ksp), (PetscInt)amb->host.n, ncol, &s->block));
    PetscCall(KSPAMBCGBlockSolve(ksp, amb, s, ncol, b + (size_t)*done * ldb, ldb, worst));
    PetscCall(KSPBlockDestroy(&s->block));
    *done += ncol;
  }
  PetscCall(MatDenseRestoreArray(X, &x));
  PetscCall(MatDenseRestoreArrayRead(B, &b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- the operation ------------------------------------------------- */

/* KSPSolve() for each column from the first one. KSPMatSolve() makes these views itself, after all columns. */
static PetscErrorCode KSPAMBCGByColumns(KSP ksp, Mat B, Mat X, PetscInt first, KSPAMBCGColumn *worst)
{
  PetscBool *const view[] = {&ksp->view, &ksp->viewRate, &ksp->viewMat, &ksp->viewPMat, &ksp->viewRhs, &ksp->viewSol, &ksp->viewFinalRes};
  PetscBool        own[PETSC_STATIC_ARRAY_LENGTH(view)];
#if PETSC_VERSION_LT(3, 26, 0)
  const PetscBool transpose = ksp->transpose_solve;
#else
  const PetscBool transpose = ksp->transpose.solve_requested; /* of an explicit transpose too */
#endif
  const PetscInt nreason = ksp->numberreasonviews;

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(view); k++) {
    own[k]   = *view[k];
    *view[k] = PETSC_FALSE;
  }
  ksp->numberreasonviews = 0;
  for (PetscInt k = first; k < B->cmap->N; k++) {
    KSPAMBCGColumn c = {0};
    Vec            b, x;

    PetscCall(MatDenseGetColumnVecRead(B, k, &b));
    if (ksp->guess_zero) PetscCall(MatDenseGetColumnVecWrite(X, k, &x));
    else PetscCall(MatDenseGetColumnVec(X, k, &x));
    PetscCall(transpose ? KSPSolveTranspose(ksp, b, x) : KSPSolve(ksp, b, x));
    if (ksp->guess_zero) PetscCall(MatDenseRestoreColumnVecWrite(X, k, &x));
    else PetscCall(MatDenseRestoreColumnVec(X, k, &x));
    PetscCall(MatDenseRestoreColumnVecRead(B, k, &b));
    c.reason = ksp->reason;
    c.its    = ksp->its;
    c.rnorm  = ksp->rnorm;
    KSPAMBCGWorst(&c, worst);
  }
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(view); k++) *view[k] = own[k];
  ksp->numberreasonviews = nreason;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPMatSolve_AMBCG(KSP ksp, Mat B, Mat X)
{
  const Vec      own[] = {ksp->vec_sol, ksp->vec_rhs};
  KSPAMBCGColumn worst = {0};
  PetscInt       done  = 0;
  const char    *why;
  KSPAMB        *amb;
  PetscErrorCode error;

  PetscFunctionBegin;
  PetscCall(KSPAMBGet(ksp, &amb));
  if (!amb->block) PetscCall(PetscNew(&amb->block));
  amb->together = 0;
  for (int k = 0; k < 2; k++) {
    if (!amb->block->vec[k]) PetscCall(VecDuplicate(ksp->work[0], &amb->block->vec[k]));
  }
  ksp->vec_sol = amb->block->vec[1];
  ksp->vec_rhs = amb->block->vec[0];
  error        = KSPAMBCGBlockSupports(ksp, amb, B, X, &why);
#if !PETSC_VERSION_LT(3, 26, 0)
  ksp->mat_rhs = NULL; /* the convergence test is for each column */
#endif
  if (!error && !why) error = KSPAMBCGBlockSolveAll(ksp, amb, B, X, &done, &worst, &why);
  ksp->vec_sol = own[0];
  ksp->vec_rhs = own[1];
  PetscCall(error);
  if (why) PetscCall(PetscInfo(ksp, "Each column has its own solve, since %s\n", why));
  if (done < B->cmap->N) PetscCall(KSPAMBCGByColumns(ksp, B, X, done, &worst));
  ksp->its    = worst.its;
  ksp->reason = worst.reason;
  ksp->rnorm  = worst.rnorm;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBCGBlockClear(KSPAMB *amb)
{
  KSPAMBCGBlock *s = amb->block;

  PetscFunctionBegin;
  if (!s) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPBlockMatDestroy(&s->A));
  for (int k = 0; k < 5; k++) PetscCall(KSPBlockPanelDestroy(&s->memory[k]));
  for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&s->vec[k]));
  PetscCall(PetscFree(amb->block));
  PetscFunctionReturn(PETSC_SUCCESS);
}
