/* SPDX-License-Identifier: BSD-2-Clause */
/*
   KSPAMBGMRES and KSPAMBFGMRES on GPUs: iterations are queued ahead of their results. Passes apply a diagonal preconditioner; PCApply() applies others between the
   passes, and iterations are then not recorded. A function of the program that may change the preconditioner needs the norm of each iteration, and so do monitors and
   tests of the program: the host then waits.
*/
#include <petscdevice_cuda.h>

#include "ksp/ksp/impls/ambgmres/ambgmres.h"
#include "ksp/ksp/impls/ambksp/ambkspqueue.h"
#include "ksp/ksp/impls/fused/fusedbasiscuda.h"

#define CALL(call) PetscCall(KSPAMBQueueCheck(call))

typedef struct _KSPAMBGMRES Context;

/* Vectors in ksp->work: the product, the operand, the residual, the operand of the preconditioner */
enum {
  WORK_W,
  WORK_P,
  WORK_T,
  WORK_U,
  WORK_ALL
};

struct _KSPAMBGMRESQueue {
  KSPAMBQueue q;
  PetscBool   watched;           /* the host reads the norm of each iteration: a monitor or a viewer is attached */
  PetscInt    at, first;         /* iterations that are queued in this cycle; those before it */
  int         restarts, resumed; /* restarts that the host knows of; those at which the host let the device go on */
};
typedef struct _KSPAMBGMRESQueue Solve;

_Static_assert(KSPAMBGMRES_RESTART == FUSED_BASIS_MOST, "vectors of the basis");

static FusedBasisPass Pass(const KSPAMB *amb, const KSPAMBQueue *q)
{
  const PetscBool point = (PetscBool)(amb->kind == FUSED_POINT);
  FusedBasisPass  pass  = {.n = q->pass.n, .w = q->pass.v[FUSED_W]};

  pass.p     = amb->gmres->given ? NULL : q->pass.v[FUSED_P];
  pass.left  = point && !amb->gmres->right ? q->pass.d : NULL;
  pass.right = point && amb->gmres->right ? q->pass.d : NULL;
  return pass;
}

/* With several processes: gathers n sums of all */
static SysStatus Gather(KSPAMB *amb, const KSPAMBQueue *q, KSPAMBProduct *product, int n, SysStream stream)
{
  SysReal *mine, *all;

  (void)FusedBasisDeviceSums(amb->gmres->device, &mine, &all);
  for (int k = 0; k < n && !product->error; k += FUSED_BASIS_GROUP) { product->error = MatHaloGather(q->about, (size_t)PetscMin(FUSED_BASIS_GROUP, n - k), mine + k, all + k * q->nproc, (cudaStream_t)stream); }
  return product->error ? SYS_ERROR : SYS_SUCCESS;
}

static SysStatus Orthogonalise(KSPAMB *amb, const KSPAMBQueue *q, KSPAMBProduct *product, int again, SysStream stream)
{
  FusedBasisDevice    *device = amb->gmres->device;
  const FusedBasisPass pass   = Pass(amb, q);
  SysReal             *mine, *all;
  SysStatus            status = FusedBasisDeviceDots(device, &pass, again, stream);

  if (q->nproc > 1 && status == SYS_SUCCESS) status = Gather(amb, q, product, FusedBasisDeviceSums(device, &mine, &all), stream);
  if (q->nproc > 1 && status == SYS_SUCCESS) status = FusedBasisDeviceFinishDots(device, again, stream);
  if (status == SYS_SUCCESS) status = FusedBasisDeviceUpdate(device, &pass, again, stream);
  if (q->nproc > 1 && status == SYS_SUCCESS) status = Gather(amb, q, product, 1, stream);
  if (q->nproc > 1 && status == SYS_SUCCESS) status = FusedBasisDeviceFinishUpdate(device, again, stream);
  return status;
}

static SysStatus Iteration(KSPAMB *amb, const KSPAMBQueue *q, KSPAMBProduct *product, SysStream stream)
{
  SysStatus status = KSPAMBQueueMultiply(q, product, FUSED_P, FUSED_W, stream);

  if (status == SYS_SUCCESS) status = Orthogonalise(amb, q, product, 0, stream);
  if (!amb->gmres->modified && amb->gmres->refine && status == SYS_SUCCESS) status = Orthogonalise(amb, q, product, 1, stream);
  return status;
}

/* w = the operator times the newest vector of the basis, with a preconditioner that PCApply() applies, on the host too */
static PetscErrorCode Multiply(KSP ksp, KSPAMB *amb, const KSPAMBQueue *q)
{
  const Vec          u = ksp->work[WORK_U], p = ksp->work[WORK_P], w = ksp->work[WORK_W];
  const PetscScalar *read;
  PetscScalar       *write;

  PetscFunctionBegin;
  PetscCall(VecCUDAGetArrayWrite(u, &write));
  CALL(FusedBasisDeviceGetNewest(amb->gmres->device, q->pass.n, (SysReal *)write, q->stream));
  PetscCall(VecCUDARestoreArrayWrite(u, &write));
  if (amb->gmres->flexible) {
    PetscCall(KSP_PCApply(ksp, u, p));
    PetscCall(VecCUDAGetArrayRead(p, &read));
    CALL(FusedBasisDeviceStore(amb->gmres->device, q->pass.n, (const SysReal *)read, q->stream));
    PetscCall(VecCUDARestoreArrayRead(p, &read));
    PetscCall(KSP_MatMult(ksp, q->A, p, w));
  } else PetscCall(KSP_PCApplyBAorAB(ksp, u, w, ksp->work[WORK_T]));
  PetscCall(VecCUDAGetArrayRead(w, &read)); /* where passes find it */
  PetscCall(VecCUDARestoreArrayRead(w, &read));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static SysStatus IterationGiven(KSPAMB *amb, const KSPAMBQueue *q, KSPAMBProduct *product, SysStream stream)
{
  SysStatus status;

  product->error = Multiply(amb->gmres->ksp, amb, q);
  if (product->error) return SYS_ERROR;
  status = Orthogonalise(amb, q, product, 0, stream);
  if (!amb->gmres->modified && amb->gmres->refine && status == SYS_SUCCESS) status = Orthogonalise(amb, q, product, 1, stream);
  return status;
}

static SysStatus First(KSPAMB *amb, const KSPAMBQueue *q, KSPAMBProduct *product, SysStream stream)
{
  const FusedBasisPass pass   = Pass(amb, q);
  SysStatus            status = FusedBasisDeviceStart(amb->gmres->device, &pass, amb->gmres->begins, stream);

  if (q->nproc > 1 && status == SYS_SUCCESS) status = Gather(amb, q, product, 1, stream);
  if (q->nproc > 1 && status == SYS_SUCCESS) status = FusedBasisDeviceFinishStart(amb->gmres->device, amb->gmres->begins, stream);
  return status;
}

/* Solution = x and the vectors of the basis, which FusedBasisDeviceSolve() has weighted */
static PetscErrorCode Combine(KSP ksp, KSPAMB *amb, KSPAMBQueue *q, Vec solution)
{
  Context     *gmres = amb->gmres;
  PetscScalar *x, *to, *w;
  const Vec    t = ksp->work[WORK_W];

  PetscFunctionBegin;
  PetscCall(VecCUDAGetArray(ksp->vec_sol, &x));
  if (gmres->given && gmres->right && !gmres->flexible) {
    PetscCall(VecCUDAGetArrayWrite(t, &w));
    CALL(FusedBasisDeviceCombine(gmres->device, q->pass.n, NULL, NULL, (SysReal *)w, q->stream));
    PetscCall(VecCUDARestoreArrayWrite(t, &w));
    PetscCall(KSP_PCApply(ksp, t, ksp->work[WORK_T]));
    if (solution != ksp->vec_sol) PetscCall(VecCopy(ksp->vec_sol, solution));
    PetscCall(VecCUDAGetArrayRead(ksp->work[WORK_T], (const PetscScalar **)&w));
    PetscCall(VecCUDAGetArray(solution, &to));
    CALL(FusedBasisDeviceAdd(gmres->device, q->pass.n, (SysReal *)w, (SysReal *)to, q->stream));
    PetscCall(VecCUDARestoreArray(solution, &to));
    PetscCall(VecCUDARestoreArrayRead(ksp->work[WORK_T], (const PetscScalar **)&w));
  } else {
    if (solution == ksp->vec_sol) to = x;
    else PetscCall(VecCUDAGetArrayWrite(solution, &to));
    CALL(FusedBasisDeviceCombine(gmres->device, q->pass.n, (SysReal *)x, gmres->right && !gmres->flexible ? (amb->kind == FUSED_POINT ? q->pass.d : NULL) : NULL, (SysReal *)to, q->stream));
    if (solution != ksp->vec_sol) PetscCall(VecCUDARestoreArrayWrite(solution, &to));
  }
  PetscCall(VecCUDARestoreArray(ksp->vec_sol, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Queues a restart, which the device makes only if no test holds */
static PetscErrorCode Restart(KSP ksp, KSPAMB *amb, Solve *s)
{
  PetscFunctionBegin;
  CALL(FusedBasisDeviceSolve(amb->gmres->device, 1, s->q.stream));
  PetscCall(Combine(ksp, amb, &s->q, ksp->vec_sol));
  ksp->guess_zero    = PETSC_FALSE;
  amb->gmres->begins = PETSC_FALSE;
  PetscCall(KSPInitialResidual(ksp, ksp->vec_sol, ksp->work[WORK_W], ksp->work[WORK_T], ksp->work[WORK_W], ksp->vec_rhs));
  PetscCall(KSPAMBQueueWrites(&s->q));
  PetscCall(KSPAMBQueueByPETSc(amb, &s->q, First));
  s->at = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBGMRESBuildDevice(KSP ksp, KSPAMB *amb, Vec solution)
{
  PetscFunctionBegin;
  CALL(FusedBasisDeviceSolve(amb->gmres->device, 0, amb->gmres->queue->q.stream));
  PetscCall(Combine(ksp, amb, &amb->gmres->queue->q, solution));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The start of a cycle: its residual norm is shown and tested */
static PetscErrorCode TakeStart(KSP ksp, KSPAMB *amb, Solve *s, const FusedState *state)
{
  PetscFunctionBegin;
  if (state->stop == FUSED_STOP_FAR) {
    PetscCall(KSPAMBGMRESFar(ksp, ksp->rnorm, state->start, amb->gmres->rnorm0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  KSPCheckNorm(ksp, state->start);
  ksp->rnorm = amb->gmres->rnorm0 = state->start;
  s->first                        = ksp->its;
  s->restarts                     = state->restarts;
  PetscCall(KSPAMBGMRESShow(ksp, state->start));
  if (!amb->isflexible && state->start == 0) {
    ksp->reason = KSP_CONVERGED_ATOL;
    PetscCall(PetscInfo(ksp, "Converged due to zero residual norm on entry\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall((*ksp->converged)(ksp, ksp->its, state->start, &ksp->reason, ksp->cnvP));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes note of a report: tests and shows all new norms, and ends the solve, or resumes it, if the device has stopped. *last: the norm is still to be shown, after the
   solution; *build: there is a solution to build. */
static PetscErrorCode Take(KSP ksp, KSPAMB *amb, Solve *s, const FusedState *state, PetscBool *build, PetscBool *last)
{
  PetscFunctionBegin;
  *build = *last = PETSC_FALSE;
  if (state->restarts > s->restarts) {
    PetscCall(KSPAMBGMRESShowLast(ksp, amb->isflexible, 0, ksp->rnorm)); /* of the cycle before */
    PetscCall(TakeStart(ksp, amb, s, state));
    if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt k = s->q.its + 1; k <= state->its; k++) {
    const PetscReal norm = state->history[(k - 1) % FUSED_HISTORY];
    const PetscBool end  = (PetscBool)(k == state->its && state->stop != FUSED_GO && state->stop != FUSED_STOP_TEST);

    s->q.its   = k;
    ksp->its   = k;
    ksp->rnorm = norm;
    if (end && state->stop == FUSED_STOP_NULL) PetscCall(KSPAMBGMRESNull(ksp));
    else PetscCall((*ksp->converged)(ksp, k, norm, &ksp->reason, ksp->cnvP));
    if (end && state->stop == FUSED_STOP_LAST) PetscCall(KSPAMBGMRESHappy(ksp, amb->isflexible, norm));
    if (!ksp->reason && k >= ksp->max_it) ksp->reason = KSP_DIVERGED_ITS;
    if (ksp->reason) {
      *build = *last = PETSC_TRUE;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    if (k - s->first < amb->gmres->restart) PetscCall(KSPAMBGMRESShow(ksp, norm));
  }
  if (state->stop == FUSED_STOP_TEST) {
    if (s->q.its != s->q.resumed || s->restarts != s->resumed) {
      /* not again for the report of a block that did nothing, since it was queued before the device went on */
      CALL(FusedBasisDeviceResume(amb->gmres->device, s->q.stream));
      s->q.resumed = s->q.its;
      s->resumed   = s->restarts;
      s->at        = s->q.its - s->first;
    }
  } else if (state->stop == FUSED_STOP_DPI) {
    *last  = (PetscBool)(!amb->isflexible && s->q.its > s->first);
    *build = (PetscBool)!amb->isflexible;
    if (amb->isflexible) KSPCheckNorm(ksp, state->dpi);
    KSPCheckDot(ksp, state->dpi);
  } else if (state->stop == FUSED_STOP_NORM) KSPCheckNorm(ksp, state->norm);
  else if (state->stop == FUSED_STOP_NULL) {
    *build = PETSC_TRUE;
    *last  = (PetscBool)(s->q.its > s->first);
    PetscCall(KSPAMBGMRESNull(ksp));
  } else if (state->stop == FUSED_STOP_SMALL) {
    *last = PETSC_TRUE;
    PetscCall(KSPAMBGMRESSingular(ksp, state->singular));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run(KSP ksp, KSPAMB *amb, Solve *s)
{
  const PetscBool   limits  = (PetscBool)(ksp->converged == KSPConvergedDefault);
  Context          *gmres   = amb->gmres;
  PetscBool         pending = PETSC_FALSE, build = PETSC_FALSE, last = PETSC_FALSE;
  const FusedState *state;
  PetscInt          length = 1; /* the first product may convert the matrix: it is not recorded */
  int               slot   = 0;

  PetscFunctionBegin;
  CALL(FusedDeviceLimits(amb->device, limits ? ksp->ttol : -1.0, limits ? ksp->divtol * ksp->rnorm0 : PETSC_INFINITY, (int)ksp->max_it, s->q.stream));
  do {
    if (s->at >= gmres->restart) {
      PetscCall(Restart(ksp, amb, s));
      if (s->watched) {
        CALL(FusedDeviceSend(amb->device, slot, s->q.stream));
        CALL(FusedDeviceReceive(amb->device, slot, &state));
        PetscCall(Take(ksp, amb, s, state, &build, &last));
        if (ksp->reason) break;
      }
    }
    CALL(FusedBasisDeviceRoom(gmres->device, (int)PetscMin(s->at + length, gmres->restart) + 1, s->q.stream));
    if (amb->modifypc) PetscCall((*amb->modifypc)(ksp, ksp->its, ksp->its - s->first, ksp->rnorm, amb->modifyctx));
    PetscCall(KSPAMBQueueBlock(amb, &s->q, length));
    s->at += length;
    CALL(FusedDeviceSend(amb->device, slot, s->q.stream));
    if (s->watched || pending) { /* of the block before this one, if nothing is attached */
      CALL(FusedDeviceReceive(amb->device, s->watched ? slot : 1 - slot, &state));
      PetscCall(Take(ksp, amb, s, state, &build, &last));
    }
    pending = (PetscBool)!s->watched;
    slot    = 1 - slot;
    if (!s->watched) length = s->q.length;
    if (!gmres->given) PetscCall(KSPAMBQueueRecord(ksp, amb, &s->q, length));
  } while (!ksp->reason);
  if (build) {
    CALL(FusedBasisDeviceSolve(gmres->device, 0, s->q.stream));
    PetscCall(Combine(ksp, amb, &s->q, ksp->vec_sol));
    CALL(FusedDeviceSend(amb->device, slot, s->q.stream));
    CALL(FusedDeviceReceive(amb->device, slot, &state));
    if (state->singular >= 0) PetscCall(KSPAMBGMRESSingular(ksp, state->singular));
  }
  gmres->running = PETSC_FALSE; /* the solution has the vectors of the basis */
  if (last) PetscCall(KSPAMBGMRESShow(ksp, ksp->rnorm));
  PetscCall(PetscLogGpuFlops(4.0 * 0.5 * (PetscLogDouble)PetscMin(gmres->restart, ksp->its) * (PetscLogDouble)s->q.pass.n * (PetscLogDouble)ksp->its));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUp(KSP ksp, KSPAMB *amb, Solve **queue)
{
  FusedBasisMethod method;
  Context         *gmres;
  PetscInt         blocks;
  PetscBool        aij;
  Solve           *s;
  Mat              A;

  PetscFunctionBegin;
  PetscCall(KSPAMBGMRESGet(ksp, amb, &gmres));
  if (!gmres->queue) PetscCall(PetscNew(&gmres->queue));
  *queue = s = gmres->queue;
  PetscCall(PetscMemzero(s, sizeof(*s)));
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)A, &aij, MATSEQAIJ, MATMPIAIJ, ""));
  gmres->given = (PetscBool)(!aij || amb->kind == FUSED_OTHER || amb->kind == FUSED_BLOCKS); /* products with other matrices may depend on the length of the vector */
  if (gmres->given && ksp->nwork < WORK_ALL) PetscCall(KSPSetWorkVecs(ksp, WORK_ALL));
  if (gmres->given) amb->kind = FUSED_NONE; /* that passes apply */
  PetscCall(KSPAMBQueueSetUp(ksp, amb, &s->q));
  gmres->ksp      = ksp;
  gmres->right    = (PetscBool)(ksp->pc_side == PC_RIGHT);
  gmres->flexible = (PetscBool)(amb->isflexible && gmres->given);
  if (gmres->device && gmres->nproc != s->q.nproc) FusedBasisDeviceDestroy(&gmres->device);
  if (!gmres->device) CALL(FusedBasisDeviceCreate(&gmres->device, amb->device, gmres->n, (int)gmres->restart, s->q.nproc));
  gmres->nproc = s->q.nproc;
  PetscCall(PetscMemzero(&method, sizeof(method)));
  method.restart      = (int)gmres->restart;
  method.flexible     = amb->isflexible;
  method.stored       = gmres->flexible;
  method.modified     = gmres->modified;
  method.refine       = gmres->refine;
  method.given        = gmres->given;
  method.haptol       = amb->haptol;
  method.breakdowntol = amb->breakdowntol;
  FusedBasisDeviceSet(gmres->device, &method);
  s->q.v[FUSED_W] = ksp->work[WORK_W];
  s->q.v[FUSED_P] = ksp->work[WORK_P];
  s->q.vectors    = gmres->restart + 6;
  s->q.products   = 1;
  s->q.iteration  = gmres->given ? IterationGiven : Iteration;
  s->watched      = (PetscBool)(ksp->numbermonitors || amb->modifypc || (ksp->converged != KSPConvergedDefault && ksp->converged != KSPConvergedSkip));
  PetscCall(KSPAMBQueueLength(amb, &s->q));
  s->q.length = PetscMin(s->q.length, gmres->restart);
  blocks      = (gmres->restart + s->q.length - 1) / s->q.length;
  s->q.length = (gmres->restart + blocks - 1) / blocks; /* so that the last block of a cycle is as long as the others, or nearly */
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBGMRESSolveDevice(KSP ksp, KSPAMB *amb)
{
  const PetscBool   guess_zero = ksp->guess_zero;
  const FusedState *state;
  Solve            *s = NULL;

  PetscFunctionBegin;
  PetscCall(SetUp(ksp, amb, &s));
  CALL(FusedBasisDeviceRoom(amb->gmres->device, 1, s->q.stream));
  ksp->its   = 0;
  ksp->rnorm = -1.0; /* of no cycle yet */
  PetscCall(KSPInitialResidual(ksp, ksp->vec_sol, ksp->work[WORK_W], ksp->work[WORK_T], ksp->work[WORK_W], ksp->vec_rhs));
  PetscCall(KSPAMBQueueWrites(&s->q));
  amb->gmres->begins  = PETSC_TRUE;
  amb->gmres->running = PETSC_TRUE;
  PetscCall(KSPAMBQueueByPETSc(amb, &s->q, First));
  CALL(FusedDeviceSend(amb->device, 0, s->q.stream));
  CALL(FusedDeviceReceive(amb->device, 0, &state));
  PetscCall(TakeStart(ksp, amb, s, state));
  if (!ksp->reason && !ksp->max_it) {
    ksp->reason = KSP_DIVERGED_ITS;
    PetscCall(KSPAMBGMRESShowLast(ksp, amb->isflexible, 0, ksp->rnorm));
  }
  if (!ksp->reason) PetscCall(Run(ksp, amb, s));
  amb->gmres->running = PETSC_FALSE;
  ksp->guess_zero     = guess_zero;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBGMRESDeviceClear(struct _KSPAMBGMRES *gmres)
{
  PetscFunctionBegin;
  FusedBasisDeviceDestroy(&gmres->device);
  PetscCall(PetscFree(gmres->queue));
  PetscFunctionReturn(PETSC_SUCCESS);
}
