/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Chebyshev's estimate of eigenvalues with PCJACOBI, by passes over vectors in place of PETSc's solver.

   PETSc writes the random vector on the host and solves by GMRES or CG, with several waits for the GPU in each step. The steps of petsc-amb compute the same Arnoldi or tridiagonal matrix T.
   PETSc's solver then runs on T, whose steps from the first unit vector have T as their matrix again: the numbers, the count of steps and the reason of the end are PETSc's.

   PETSc has no function that sets the estimate. During its set-up a callback before the solve of PETSc's estimate computes T, and replaces two operations of that solver: the
   solve until the end of the set-up, the eigenvalues until the next estimate.
*/
#include "ksp/ksp/impls/ambchebyshev/ambchebyshev.h"

PetscErrorCode (*KSPAMBEstimateSteps)(Mat, PetscBool, PetscScalar[], PetscBool *) = NULL;

#define SMALL "KSPAMBEstimate" /* name of the solver for T, composed with PETSc's solver of the estimate */

/* ------------------------------------------------- the operations of PETSc's solver ------------------------------------------------- */

static PetscErrorCode KSPSolve_AMBEstimate(KSP ksp)
{
  KSP small;

  PetscFunctionBegin;
  if (ksp->reason == KSP_DIVERGED_PC_FAILED) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectQuery((PetscObject)ksp, SMALL, (PetscObject *)&small));
  ksp->its    = small->its;
  ksp->rnorm  = small->rnorm;
  ksp->reason = small->reason;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPComputeEigenvalues_AMBEstimate(KSP ksp, PetscInt n, PetscReal r[], PetscReal c[], PetscInt *neig)
{
  KSP small;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)ksp, SMALL, (PetscObject *)&small));
  PetscCall(KSPComputeEigenvalues(small, n, r, c, neig));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs PETSc's solver of this type on T from the first unit vector, with the tolerance of the estimate. *done = PETSC_FALSE if it fails. */
static PetscErrorCode KSPAMBEstimateSmall(KSP ksp, KSPType type, const PetscScalar t[], PetscBool *done)
{
  const PetscInt n = KSPAMB_ESTIMATE_STEPS + 1;
  PetscScalar   *a;
  Mat            T;
  Vec            x, b;
  KSP            small;
  PC             pc;

  PetscFunctionBegin;
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, n, n, NULL, &T));
  PetscCall(MatDenseGetArrayWrite(T, &a));
  PetscCall(PetscArrayzero(a, n * n));
  PetscCall(PetscArraycpy(a, t, n * (n - 1)));
  PetscCall(MatDenseRestoreArrayWrite(T, &a));
  PetscCall(MatAssemblyBegin(T, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(T, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(T, &x, &b));
  PetscCall(VecSetValue(b, 0, 1.0, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(b));
  PetscCall(VecAssemblyEnd(b));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &small));
  PetscCall(KSPSetType(small, type));
  PetscCall(KSPGetPC(small, &pc));
  PetscCall(PCSetType(pc, PCNONE));
  PetscCall(KSPSetOperators(small, T, T));
  PetscCall(KSPSetTolerances(small, ksp->rtol, ksp->abstol, ksp->divtol, ksp->max_it));
  PetscCall(KSPSetComputeEigenvalues(small, PETSC_TRUE));
  PetscCall(KSPSolve(small, b, x));
  *done = (PetscBool)(small->reason > 0 || small->reason == KSP_DIVERGED_ITS);
  PetscCall(PetscObjectCompose((PetscObject)ksp, SMALL, (PetscObject)small));
  PetscCall(KSPDestroy(&small));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- the steps ------------------------------------------------- */

/* The random numbers of KSPSetNoisy_Private(), which is not the same function in all versions of PETSc */
static PetscErrorCode KSPAMBEstimateNoise(Vec v)
{
  PetscScalar *a;
  PetscInt     n, first;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(v, &first, NULL));
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VecGetArrayWrite(v, &a));
  for (PetscInt k = 0; k < n; k++) a[k] = KSPNoisyHash_Private(k + first);
  PetscCall(VecRestoreArrayWrite(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called before PETSc's solver of the estimate, which has its options now */
static PetscErrorCode KSPAMBEstimatePreSolve(KSP ksp, Vec b, Vec x, void *ctx)
{
  KSP         cheb = (KSP)ctx;
  PetscScalar t[(KSPAMB_ESTIMATE_STEPS + 1) * KSPAMB_ESTIMATE_STEPS];
  PetscBool   gmres, cg, done = PETSC_FALSE;
  KSPAMB     *amb;
  Mat         A;

  PetscFunctionBegin;
  PetscCall(KSPAMBGet(cheb, &amb));
  PetscCall(KSPSetUp(ksp)); /* sets operations; older versions of PETSc call it after this function */
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPGMRES, &gmres));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPCG, &cg));
  if (amb->noise && (gmres || cg) && ksp->pc == cheb->pc && ksp->max_it == KSPAMB_ESTIMATE_STEPS && ksp->pc_side != PC_RIGHT) {
    PetscCall(KSPGetOperators(cheb, &A, NULL));
    PetscCall((*KSPAMBEstimateSteps)(A, cg, t, &done));
  }
  if (done) PetscCall(KSPAMBEstimateSmall(ksp, gmres ? KSPGMRES : KSPCG, t, &done));
  if (!done && amb->noise) PetscCall(KSPAMBEstimateNoise(b));
  PetscCall(PetscInfo(cheb, "The estimate of eigenvalues runs %s\n", done ? "on passes" : "by PETSc's solver"));
  amb->estimatesolve = ksp->ops->solve;
  if (ksp->ops->computeeigenvalues != KSPComputeEigenvalues_AMBEstimate) amb->estimatevalues = ksp->ops->computeeigenvalues; /* a new type has new operations */
  if (done) ksp->ops->solve = KSPSolve_AMBEstimate;
  ksp->ops->computeeigenvalues = done ? KSPComputeEigenvalues_AMBEstimate : amb->estimatevalues;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- the set-up ------------------------------------------------- */

PetscErrorCode KSPAMBOptionsHave(PetscObject obj, const char word[], PetscBool *given)
{
  char *all, *found = NULL;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetAll(obj->options, &all));
  PetscCall(PetscStrstr(all, word, &found));
  *given = (PetscBool)(found != NULL);
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets *supports if steps can replace PETSc's estimate for this system */
static PetscErrorCode KSPAMBEstimateSupports(KSP ksp, KSPAMB *amb, PetscBool *supports)
{
  PetscBool    jacobi, seq, mpi, useabs, given;
  PCJacobiType type;
  MatNullSpace null;
  Mat          A, P;

  PetscFunctionBegin;
  *supports = PETSC_FALSE;
  if (PetscDefined(USE_COMPLEX) || !KSPAMBEstimateSteps || amb->ownrhs || !ksp->pc || ksp->pc->reusepreconditioner) PetscFunctionReturn(PETSC_SUCCESS); /* an older set-up may have another diagonal */
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCJACOBI, &jacobi));
  if (!jacobi) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCJacobiGetType(ksp->pc, &type));
  PetscCall(PCJacobiGetUseAbs(ksp->pc, &useabs));
  PetscCall(KSPGetOperators(ksp, &A, &P));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQAIJ, &seq));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  PetscCall(MatGetNullSpace(A, &null));
  if (type != PC_JACOBI_DIAGONAL || useabs || A != P || !(seq || mpi) || null) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetTransposeNullSpace(A, &null));
  PetscCall(KSPAMBOptionsHave((PetscObject)ksp, "esteig_", &given)); /* options of PETSc's solver of the estimate */
  *supports = (PetscBool)(!null && !given);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBEstimateCreated(KSP ksp, KSPAMB *amb)
{
  KSP       estimate = NULL;
  PetscBool supports;
  Mat       A;

  PetscFunctionBegin;
  if (!amb->estimates || amb->noise) PetscFunctionReturn(PETSC_SUCCESS);
  PetscTryMethod(ksp, "KSPChebyshevEstEigGetKSP_C", (KSP, KSP *), (ksp, &estimate));
  if (!estimate || estimate->presolve) PetscFunctionReturn(PETSC_SUCCESS);
  if (estimate->ops->computeeigenvalues == KSPComputeEigenvalues_AMBEstimate) estimate->ops->computeeigenvalues = amb->estimatevalues; /* of the last estimate */
  PetscCall(KSPAMBEstimateSupports(ksp, amb, &supports));
  if (!supports) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPSetPreSolve(estimate, KSPAMBEstimatePreSolve, ksp));
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(MatCreateVecs(A, NULL, &amb->noise));
  amb->before  = ksp->vec_rhs;
  ksp->vec_rhs = amb->noise; /* without "noisy" PETSc does not write it */
  PetscCall((*amb->setnoisy)(ksp, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBEstimateBegin(KSP ksp, KSPAMB *amb)
{
  PetscFunctionBegin;
  amb->estimates = PETSC_TRUE;
  PetscCall(KSPAMBEstimateCreated(ksp, amb));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBEstimateEnd(KSP ksp, KSPAMB *amb)
{
  KSP estimate = NULL;

  PetscFunctionBegin;
  amb->estimates = PETSC_FALSE;
  PetscTryMethod(ksp, "KSPChebyshevEstEigGetKSP_C", (KSP, KSP *), (ksp, &estimate));
  if (estimate && estimate->presolve == KSPAMBEstimatePreSolve) {
    PetscCall(KSPSetPreSolve(estimate, NULL, NULL));
    if (estimate->ops->solve == KSPSolve_AMBEstimate) estimate->ops->solve = amb->estimatesolve;
  }
  if (!amb->noise) PetscFunctionReturn(PETSC_SUCCESS);
  ksp->vec_rhs = amb->before;
  amb->before  = NULL;
  PetscCall(VecDestroy(&amb->noise));
  PetscCall((*amb->setnoisy)(ksp, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
