/* SPDX-License-Identifier: BSD-2-Clause */
/*
   GMRES and flexible GMRES on the host. The mathematics, the tests and their order equal PETSc's gmres and fgmres.

   Where passes apply the preconditioner and the matrix is an AIJ, a vector of the basis keeps the length that the orthogonalisation leaves, and a factor is stored
   beside it: no pass normalises it. The next vector gets the factor of the last one while it is orthogonalised.
*/
#include "sys/sysmemory.h"
#include "sys/systhreads.h"
#include "ksp/ksp/impls/ambgmres/ambgmres.h"

typedef struct _KSPAMBGMRES Context;

/* A new vector, whose array stays where it is. PETSc has written its array already, and gets one on huge pages, of which passes over many vectors need fewer. */
static PetscErrorCode GMRESVector(KSP ksp, PetscInt k, PetscInt *n, Vec vecs[], const SysReal *at[])
{
  const PetscScalar *array;
  PetscScalar       *large;
  PetscInt           length;
  PetscBool          owns = PETSC_FALSE;

  PetscFunctionBegin;
  if (k < *n) PetscFunctionReturn(PETSC_SUCCESS);
  if (!vecs[k]) PetscCall(VecDuplicate(ksp->vec_sol, &vecs[k]));
  PetscCall(VecGetLocalSize(vecs[k], &length));
  if ((size_t)length * sizeof(PetscScalar) >= 2 * SYS_HUGE_PAGE) PetscCall(KSPAMBVecOwnsArray(vecs[k], &owns));
  if (owns) {
    PetscCall(PetscMalloc1(length, &large));
    SysAdvise(large, (size_t)length * sizeof(PetscScalar));
    PetscCall(VecReplaceArray(vecs[k], large));
  }
  PetscCall(VecGetArrayRead(vecs[k], &array));
  at[k] = (const SysReal *)array;
  PetscCall(VecRestoreArrayRead(vecs[k], &array));
  *n = k + 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs a pass with a preconditioner of this kind; w and z are vectors that it writes, z may be NULL */
static PetscErrorCode GMRESRun(KSP ksp, KSPAMB *amb, FusedBasisFunction f, FusedBasis *pass, FusedKind kind, Vec w, Vec z, PetscInt flops, int nsum, SysReal sums[])
{
  Context     *gmres = amb->gmres;
  PetscScalar *wa, *za = NULL;

  PetscFunctionBegin;
  PetscCall(KSPAMBPassBegin(ksp));
  PetscCall(VecGetArray(w, &wa));
  if (z) PetscCall(VecGetArrayWrite(z, &za));
  if (kind == FUSED_POINT || kind == FUSED_BLOCKS) flops += 2 * amb->bs - 1;
  pass->w       = (SysReal *)wa;
  pass->z       = (SysReal *)za;
  pass->pc.kind = kind;
  pass->pc.bs   = (int)amb->bs;
  pass->pc.n    = gmres->n;
  pass->pc.d    = amb->d;
  FusedBasisHostRun(&gmres->host, f, pass, f == amb->basis->update, nsum, sums);
  if (z) PetscCall(VecRestoreArrayWrite(z, &za));
  PetscCall(VecRestoreArray(w, &wa));
  PetscCall(PetscLogFlops((PetscLogDouble)flops * (PetscLogDouble)gmres->n));
  PetscCall(KSPAMBPassEnd(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Subtracts from w the components that a pass has summed. first: w is the product with the stored vector m - 1. Returns with a reason if a sum is not finite. */
static PetscErrorCode GMRESSubtract(KSP ksp, KSPAMB *amb, PetscInt m, PetscBool first, Vec w, Vec z, SysReal *norm)
{
  Context         *gmres = amb->gmres;
  FusedHessenberg *small = &gmres->small;
  FusedBasis       pass  = {.m = (int)m, .v = gmres->at, .c = small->c};
  const PetscBool  two   = (PetscBool)(gmres->modified && first);
  const int        nsum  = (two ? 2 : 1) * (int)m;
  SysReal          sum;

  PetscFunctionBegin;
  pass.u = two ? gmres->at[m - 1] : NULL;
  PetscCall(GMRESRun(ksp, amb, amb->basis->dots, &pass, first && !z ? amb->kind : FUSED_NONE, w, NULL, 2 * nsum, nsum, gmres->sums));
  PetscCall(KSPAMBReduce(ksp, amb, nsum, gmres->sums));
  pass.scale = first ? small->scale[m - 1] : 1;
  for (PetscInt k = 0; k < m; k++) {
    SysReal h = pass.scale * small->scale[k] * gmres->sums[k];

    if (two) {
      if (k < m - 1) small->lower[k * (gmres->restart + 1) + m - 1] = small->scale[k] * small->scale[m - 1] * gmres->sums[m + k];
      for (PetscInt i = 0; i < k; i++) h -= small->lower[i * (gmres->restart + 1) + k] * small->c[i];
    }
    KSPCheckDot(ksp, h);
    small->c[k] = h;
    small->h[k] = first ? h : small->h[k] + h;
  }
  for (PetscInt k = 0; k < m; k++) small->c[k] *= small->scale[k];
  PetscCall(GMRESRun(ksp, amb, amb->basis->update, &pass, z ? amb->kind : FUSED_NONE, w, z, 2 * m + 3, 1, &sum));
  PetscCall(KSPAMBReduce(ksp, amb, 1, &sum));
  *norm = PetscSqrtReal(sum);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes w orthogonal to the m vectors of the basis and sets its norm */
static PetscErrorCode GMRESOrthogonalise(KSP ksp, KSPAMB *amb, PetscInt m, Vec w, Vec z, SysReal *norm)
{
  Context  *gmres   = amb->gmres;
  PetscReal removed = 0;
  PetscBool again   = (PetscBool)(!gmres->modified && gmres->refine == 2);

  PetscFunctionBegin;
  PetscCall(GMRESSubtract(ksp, amb, m, PETSC_TRUE, w, z, norm));
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  if (!gmres->modified && gmres->refine == 1) {
    for (PetscInt k = 0; k < m; k++) removed += gmres->small.h[k] * gmres->small.h[k];
    KSPCheckNorm(ksp, *norm);
    again = (PetscBool)(*norm < PetscSqrtReal(removed));
    if (again) PetscCall(PetscInfo(ksp, "Performing iterative refinement wnorm %g hnorm %g\n", (double)*norm, (double)PetscSqrtReal(removed)));
  }
  if (again) PetscCall(GMRESSubtract(ksp, amb, m, PETSC_FALSE, w, z, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Divides vector k of the basis by its norm, with z, the preconditioned vector, or stores the factor. PETSc's gmres leaves a vector of norm 0 as it is, and its fgmres does not come here with one but
   the first. */
static PetscErrorCode GMRESNormalise(KSP ksp, KSPAMB *amb, PetscInt k, PetscBool stored, Vec z, SysReal norm)
{
  Context      *gmres = amb->gmres;
  const SysReal scale = norm == 0 && !amb->isflexible ? 1 : 1 / norm;
  FusedBasis    pass  = {.m = 0, .scale = scale};
  SysReal       sum;

  PetscFunctionBegin;
  gmres->small.scale[k] = stored ? scale : 1;
  if (!stored && scale != 1) PetscCall(GMRESRun(ksp, amb, amb->basis->update, &pass, z ? amb->kind : FUSED_NONE, gmres->v[k], z, 1, 1, &sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBGMRESBuild(KSP ksp, KSPAMB *amb, Vec guess, Vec solution)
{
  Context   *gmres = amb->gmres;
  const Vec  t     = ksp->work[0];
  const int  m     = (int)gmres->columns;
  FusedBasis pass  = {.m = m, .v = gmres->flexible ? gmres->zat : gmres->at, .c = gmres->y};
  SysReal    sum;
  int        singular;

  PetscFunctionBegin;
  if (guess != solution) PetscCall(VecCopy(guess, solution));
  if (m) {
    singular = FusedHessenbergSolve(&gmres->small, m, amb->isflexible, gmres->y);
    if (singular >= 0) {
      PetscCall(KSPAMBGMRESSingular(ksp, singular));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    for (int k = 0; k < m; k++) gmres->y[k] *= gmres->flexible ? -1 : -gmres->small.scale[k];
    PetscCall(GMRESRun(ksp, amb, amb->basis->update, &pass, FUSED_NONE, t, NULL, 2 * m, 1, &sum));
    if (!gmres->flexible) PetscCall(KSPUnwindPreconditioner(ksp, t, ksp->work[2]));
  }
  if (m) PetscCall(VecAXPY(solution, 1.0, t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* w = the operator times vector k of the basis; z: the vector with the preconditioner from the right, made by the last pass unless a PC makes it here */
static PetscErrorCode GMRESMultiply(KSP ksp, KSPAMB *amb, Mat A, PetscInt k, Vec z, Vec w)
{
  Context *gmres = amb->gmres;

  PetscFunctionBegin;
  if (amb->kind == FUSED_OTHER && amb->isflexible) {
    PetscCall(KSP_PCApply(ksp, gmres->v[k], gmres->z[k]));
    PetscCall(PCGetOperators(ksp->pc, &A, NULL));
    PetscCall(KSP_MatMult(ksp, A, gmres->z[k], w));
  } else if (amb->kind == FUSED_OTHER) PetscCall(KSP_PCApplyBAorAB(ksp, gmres->v[k], w, ksp->work[2]));
  else PetscCall(KSP_MatMult(ksp, A, z ? z : gmres->v[k], w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Iterates until there is a reason or the basis is full. The first vector of the basis is the residual. */
static PetscErrorCode GMRESCycle(KSP ksp, KSPAMB *amb, PetscBool stored, PetscInt *its)
{
  Context         *gmres  = amb->gmres;
  FusedHessenberg *small  = &gmres->small;
  const PetscBool  passes = (PetscBool)(amb->kind == FUSED_POINT || amb->kind == FUSED_BLOCKS), flexible = amb->isflexible;
  const Vec        z    = passes && ksp->pc_side == PC_RIGHT ? ksp->work[1] : NULL;
  FusedBasis       pass = {.m = 0, .scale = 1};
  SysReal          norm, res, bound;
  PetscBool        happy = PETSC_FALSE;
  PetscInt         it    = 0;
  int              null;
  Mat              A;

  PetscFunctionBegin;
  *its           = 0;
  gmres->columns = 0;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(GMRESRun(ksp, amb, amb->basis->update, &pass, z ? amb->kind : FUSED_NONE, gmres->v[0], z, 2, 1, &res));
  PetscCall(KSPAMBReduce(ksp, amb, 1, &res));
  res = PetscSqrtReal(res);
  KSPCheckNorm(ksp, res);
  if (!flexible && ksp->rnorm > 0.0 && PetscAbsReal(res - ksp->rnorm) > amb->breakdowntol * gmres->rnorm0) {
    PetscCall(KSPAMBGMRESFar(ksp, ksp->rnorm, res, gmres->rnorm0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  small->g[0] = gmres->rnorm0 = res;
  ksp->rnorm                  = res;
  PetscCall(KSPAMBGMRESShow(ksp, res));
  if (!flexible && res == 0) {
    ksp->reason = KSP_CONVERGED_ATOL;
    PetscCall(PetscInfo(ksp, "Converged due to zero residual norm on entry\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall((*ksp->converged)(ksp, ksp->its, res, &ksp->reason, ksp->cnvP));
  if (flexible && ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GMRESNormalise(ksp, amb, 0, stored, z, res));
  while (!ksp->reason && it < gmres->restart && ksp->its < ksp->max_it) {
    if (it) PetscCall(KSPAMBGMRESShow(ksp, res));
    PetscCall(GMRESVector(ksp, it + 1, &gmres->nv, gmres->v, gmres->at));
    if (gmres->flexible) PetscCall(GMRESVector(ksp, it, &gmres->nz, gmres->z, gmres->zat));
    if (amb->modifypc) PetscCall((*amb->modifypc)(ksp, ksp->its, it, res, amb->modifyctx));
    PetscCall(GMRESMultiply(ksp, amb, A, it, z, gmres->v[it + 1]));
    PetscCall(GMRESOrthogonalise(ksp, amb, it + 1, gmres->v[it + 1], z, &norm));
    if (ksp->reason && !flexible) break;
    if (ksp->reason) {
      PetscCall(VecNorm(gmres->v[it + 1], NORM_2, &norm)); /* fgmres tests the norm alone */
      norm *= small->scale[it];
    }
    KSPCheckNorm(ksp, norm);
    if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscArraycpy(small->r + it * (gmres->restart + 2), small->h, it + 1));
    small->r[it * (gmres->restart + 2) + it + 1] = norm;
    bound                                        = PetscMin(PetscAbsReal(norm / small->g[it]), amb->haptol);
    happy                                        = (PetscBool)(flexible ? !(norm > bound) : norm < bound);
    if (happy && !flexible) PetscCall(PetscInfo(ksp, "Detected happy breakdown, current hapbnd = %14.12e tt = %14.12e\n", (double)bound, (double)norm));
    if (!happy || !flexible) PetscCall(GMRESNormalise(ksp, amb, it + 1, stored, z, norm));
    res = FusedHessenbergRotate((int)it, happy, small->r + it * (gmres->restart + 2), small->cs, small->sn, small->g, &null);
    if (null) PetscCall(KSPAMBGMRESNull(ksp));
    if (null && flexible) break;
    it++;
    gmres->columns = it;
    ksp->its++;
    ksp->rnorm = res;
    if (ksp->reason) break;
    PetscCall((*ksp->converged)(ksp, ksp->its, res, &ksp->reason, ksp->cnvP));
    if (happy) PetscCall(KSPAMBGMRESHappy(ksp, flexible, res));
  }
  *its = it;
  PetscCall(KSPAMBGMRESBuild(ksp, amb, ksp->vec_sol, ksp->vec_sol));
  gmres->columns = 0; /* the solution has them */
  if (!ksp->reason && ksp->its >= ksp->max_it) ksp->reason = KSP_DIVERGED_ITS;
  PetscCall(KSPAMBGMRESShowLast(ksp, flexible, it, res));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets whether vectors of the basis may stay without normalization. Products with other matrices may depend on the length, by differences say. */
static PetscErrorCode GMRESStored(KSP ksp, const KSPAMB *amb, PetscBool *stored)
{
  Mat A;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)A, stored, MATSEQAIJ, MATMPIAIJ, ""));
  if (amb->kind == FUSED_OTHER) *stored = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBGMRESSolve(KSP ksp, KSPAMB *amb)
{
  const PetscBool guess_zero = ksp->guess_zero;
  Context        *gmres;
  PetscBool       stored;
  PetscInt        its, total    = 0;
  int             most, missing = 0;

  PetscFunctionBegin;
  amb->basis = FusedBasisHostKernels();
  PetscCall(KSPAMBGMRESGet(ksp, amb, &gmres));
  PetscCall(GMRESStored(ksp, amb, &stored));
  gmres->flexible = (PetscBool)(amb->isflexible && amb->kind == FUSED_OTHER);
  most            = 2 * ((int)gmres->restart + 1);
  if (!gmres->host.partial || gmres->host.n != gmres->n || gmres->host.block % amb->bs) {
    FusedBasisHostDestroy(&gmres->host);
    missing = FusedBasisHostCreate(gmres->n, (int)amb->bs, most, SysThreads(), &gmres->host);
  }
  if (amb->nproc > 1) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &missing, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)ksp)));
  PetscCheck(!missing, PetscObjectComm((PetscObject)ksp), PETSC_ERR_MEM, "Not enough memory for the passes of a solve; use the KSP type of PETSc, without amb in its name");
  PetscCall(GMRESVector(ksp, 0, &gmres->nv, gmres->v, gmres->at));
  ksp->its   = 0;
  ksp->rnorm = -1.0; /* of no cycle yet */
  do {
    PetscCall(KSPInitialResidual(ksp, ksp->vec_sol, ksp->work[0], ksp->work[2], gmres->v[0], ksp->vec_rhs));
    PetscCall(GMRESCycle(ksp, amb, stored, &its));
    total += its;
    if (!ksp->reason && total >= ksp->max_it) ksp->reason = KSP_DIVERGED_ITS;
    ksp->guess_zero = PETSC_FALSE;
  } while (!ksp->reason);
  ksp->guess_zero = guess_zero;
  PetscFunctionReturn(PETSC_SUCCESS);
}
