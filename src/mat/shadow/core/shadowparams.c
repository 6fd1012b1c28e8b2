/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Parameters of a shadow: those of the format, and those of all formats. A change drops the format.
*/
#include "mat/shadow/core/shadow.h"

/* Takes the parameters of another shadow, or takes note that its own have changed: drops the format made with the old ones */
PetscErrorCode MatShadowTakeParams(Mat A, MatShadow *s, void *ctx)
{
  const MatShadow *from = (const MatShadow *)ctx;

  PetscFunctionBegin;
  if (s != from) {
    s->tune   = from->tune;
    s->values = from->values;
    s->keep   = from->keep;
    PetscCall(PetscMemcpy(s->params, from->params, s->format->params_size));
  }
  PetscCall(MatShadowDrop(s));
  s->tuned = PETSC_FALSE;
  PetscCall(PetscArrayzero(s->trial, 2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called after a setter has changed the parameters of A: copies them to the blocks of an MPI matrix, and drops the formats made with the old ones */
PetscErrorCode MatShadowParamsChanged(Mat A)
{
  MatShadow *s;

  PetscFunctionBegin;
  PetscCall(MatShadowGet(A, &s));
  PetscCall(MatShadowForEach(A, MatShadowTakeParams, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For setters of formats: gets the parameters of A, and its tuning */
PetscErrorCode MatShadowGetParams(Mat A, void *params, MatShadowTune *tune)
{
  MatShadow *s;

  PetscFunctionBegin;
  PetscCall(MatShadowGet(A, &s));
  PetscCall(PetscMemcpy(params, s->params, s->format->params_size));
  *tune = s->tune;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For setters of formats: sets the parameters of A, and its tuning; does nothing if A has the same already */
PetscErrorCode MatShadowSetParams(Mat A, const void *params, MatShadowTune tune)
{
  MatShadow *s;
  PetscBool  same;

  PetscFunctionBegin;
  PetscCall(MatShadowGet(A, &s));
  PetscCall(PetscMemcmp(s->params, params, s->format->params_size, &same));
  if (same && s->tune == tune) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMemcpy(s->params, params, s->format->params_size));
  s->tune = tune;
  PetscCall(MatShadowParamsChanged(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
