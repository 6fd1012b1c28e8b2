/* SPDX-License-Identifier: BSD-2-Clause */
/*
   A shadow's parameters: the format's, and the common ones. A change drops the format.
*/
#include "mat/shadow/core/shadow.h"

/* Copies another shadow's parameters (ctx), or handles a change of its own: drops the format created with the old ones */
PetscErrorCode MatShadowCopyParams(Mat A, MatShadow *s, void *ctx)
{
  const MatShadow *from = (const MatShadow *)ctx;

  PetscFunctionBegin;
  if (s != from) {
    s->tune   = from->tune;
    s->values = from->values;
    s->keep   = from->keep;
    s->sor    = from->sor;
    PetscCall(PetscMemcpy(s->params, from->params, s->format->params_size));
  }
  PetscCall(MatShadowDrop(s));
  s->tuned = PETSC_FALSE;
  PetscCall(PetscArrayzero(s->trial, 2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Call after a setter changed A's parameters: copies them to an MPI matrix's blocks, and drops the formats created with the old ones */
PetscErrorCode MatShadowParamsChanged(Mat A)
{
  MatShadow *s;

  PetscFunctionBegin;
  PetscCall(MatShadowGet(A, &s));
  PetscCall(MatShadowForEach(A, MatShadowCopyParams, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For formats' setters: gets A's parameters and tuning */
PetscErrorCode MatShadowGetParams(Mat A, void *params, MatShadowTune *tune)
{
  MatShadow *s;

  PetscFunctionBegin;
  PetscCall(MatShadowGet(A, &s));
  PetscCall(PetscMemcpy(params, s->params, s->format->params_size));
  *tune = s->tune;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For formats' setters: sets A's parameters and tuning; no-op if equal */
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
