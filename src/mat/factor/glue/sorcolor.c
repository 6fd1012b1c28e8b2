/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The layouts of a matrix for sweeps by color: creation, new values, numbers of the diagonal
*/
#include "mat/factor/glue/sor.h"

void SORColorReset(SORColor *color)
{
  SORHostDestroy(&color->host);
  SORColorResetDevice(color);
  color->reason        = NULL;
  color->of[0].current = color->of[1].current = PETSC_FALSE;
  color->of[0].numbers = color->of[1].numbers = PETSC_FALSE;
  color->of[0].singular = color->of[1].singular = PETSC_FALSE;
}

static PetscInt layouts; /* of all matrices, so far */

/* Colors the rows of a matrix; color->reason is set if sweeps by color are not possible */
PetscErrorCode SORColorPlan(Mat A, SORColor *color, SORPlan *plan)
{
  SysCSR    csr;
  SysStatus status;

  PetscFunctionBegin;
  PetscCall(MatAIJGetPattern(A, &csr));
  status = SORPlanCreate(&csr, (int)color->bs, plan);
  if (status == SYS_OUT_OF_MEMORY) color->reason = "memory is short";
  else if (status != SYS_SUCCESS) color->reason = "the matrix is too large";
  else if (!plan->colors && csr.m) color->reason = "a row has no diagonal, or rows need too many colors";
  color->colors = (PetscInt)plan->colors;
  color->made   = ++layouts;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SORColorSetUp(Mat A, SORColor *color, PetscReal omega, PetscReal shift)
{
  SORColorState   *of = &color->of[0];
  PetscObjectState state;
  SysCSR           csr;
  SORPlan          plan = {0};

  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  PetscCall(MatAIJGetArrays(A, &csr));
  if (!color->host) {
    PetscCall(SORColorPlan(A, color, &plan));
    if (!color->reason && plan.colors && SORHostCreate(&csr, &plan, &color->host) != SYS_SUCCESS) color->reason = "memory is short";
    SORPlanDestroy(&plan);
    of->current = PETSC_FALSE;
  }
  if (!color->host) PetscFunctionReturn(PETSC_SUCCESS);
  if (!of->current || of->state != state) {
    SORHostUpdate(color->host, &csr);
    of->numbers = PETSC_FALSE;
  }
  if (!of->numbers || of->omega != omega || of->shift != shift) of->singular = (PetscBool)SORHostSetDiagonal(color->host, &csr, omega, shift);
  of->current = of->numbers = PETSC_TRUE;
  of->state                 = state;
  of->omega                 = omega;
  of->shift                 = shift;
  PetscFunctionReturn(PETSC_SUCCESS);
}
