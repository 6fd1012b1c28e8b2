/* SPDX-License-Identifier: BSD-2-Clause */
/*
   What a program sets of the shadow of a matrix, and asks of it: on a sequential matrix, or on the blocks of an MPI matrix
*/
#include "mat/shadow/shadow.h"
#include "mat/halo/halo.h"

const char *const MatShadowTunes[] = {"off", "model", "measure", "online", "MatShadowTune", "MAT_SHADOW_TUNE_", NULL};

/* Calls f on the shadow of a sequential matrix, or on those of the blocks of an assembled MPI matrix; a matrix without one is left alone */
PetscErrorCode MatShadowForEach(Mat A, PetscErrorCode (*f)(Mat, MatShadow *, void *), void *ctx)
{
  const MatShadowFormat *format;
  MatShadow             *s;
  Mat                    block[2] = {A, NULL};

  PetscFunctionBegin;
  PetscCall(MatShadowGetFormat(A, &format));
  if (!format) PetscFunctionReturn(PETSC_SUCCESS);
  if (A->ops->mult != MatMult_Shadow) {
    if (!A->assembled && !A->was_assembled) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(MatShadowAttachBlocks(A));
    PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
  }
  for (int k = 0; k < 2; k++) {
    if (!block[k]) continue;
    PetscCall(MatShadowGet(block[k], &s));
    PetscCall((*f)(block[k], s, ctx));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Parameters from another shadow, or new ones of its own: what was made with the old ones goes */
PetscErrorCode MatShadowTakeParams(Mat A, MatShadow *s, void *ctx)
{
  const MatShadow *from = (const MatShadow *)ctx;

  PetscFunctionBegin;
  if (s != from) {
    s->tune = from->tune;
    PetscCall(PetscMemcpy(s->params, from->params, s->format->params_size));
  }
  PetscCall(MatShadowDrop(s));
  s->declined = s->tuned = PETSC_FALSE;
  PetscCall(PetscArrayzero(s->trial, 2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A setter has changed the parameters of A: the blocks of an MPI matrix get them too, and what was made with the old ones goes */
PetscErrorCode MatShadowParamsChanged(Mat A)
{
  MatShadow *s;

  PetscFunctionBegin;
  PetscCall(MatShadowGet(A, &s));
  PetscCall(MatShadowForEach(A, MatShadowTakeParams, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatShadowSetTune_Shadow(Mat A, MatShadowTune tune)
{
  MatShadow *s;

  PetscFunctionBegin;
  PetscCall(MatShadowGet(A, &s));
  if (s->tune == tune) PetscFunctionReturn(PETSC_SUCCESS);
  s->tune = tune;
  PetscCall(MatShadowParamsChanged(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatShadowComposeSetters(Mat A, PetscBool add)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatShadowSetTune_C", add ? MatShadowSetTune_Shadow : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatShadowSetDevice_C", add ? MatShadowSetDevice_Shadow : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatShadowSetTune - sets how far a matrix of a shadow format, such as `MATAMB`, tunes itself

  Logically Collective

  Input Parameters:
+ A    - the matrix; nothing happens if its type has no shadow
- tune - `MAT_SHADOW_TUNE_OFF`, `MAT_SHADOW_TUNE_MODEL`, `MAT_SHADOW_TUNE_MEASURE` or `MAT_SHADOW_TUNE_ONLINE`

  Options Database Key:
. -mat_shadow_tune <off,model,measure,online> - the same for matrices created later

  Level: intermediate

  Notes:
  With `MAT_SHADOW_TUNE_MEASURE`, the default, the choice between the format and the AIJ follows from timing, so that results may differ in
  the last bits from run to run. With `MAT_SHADOW_TUNE_ONLINE` the choice is among all parameters of the format, and they may differ more often. With the other
  two, runs on the same number of threads give the same bits.

  `MAT_SHADOW_TUNE_ONLINE` lays out the matrix in another thread while the solver goes on. The change to other parameters comes between two products. On a GPU it
  is as `MAT_SHADOW_TUNE_MEASURE`.

.seealso: `MatShadowTune`, `MatShadowSetUp()`, `MatShadowGetInfo()`, `MATAMB`
@*/
PetscErrorCode MatShadowSetTune(Mat A, MatShadowTune tune)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscCheck(tune >= MAT_SHADOW_TUNE_OFF && tune <= MAT_SHADOW_TUNE_ONLINE, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE, "No such tuning: %d; use MAT_SHADOW_TUNE_OFF, MODEL, MEASURE or ONLINE", (int)tune);
  PetscTryMethod(A, "MatShadowSetTune_C", (Mat, MatShadowTune), (A, tune));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatShadowSetUp - converts a matrix to its shadow format now, instead of after the first few products

  Not Collective

  Input Parameter:
. A - the assembled matrix; nothing happens if its type has no shadow

  Level: intermediate

  Note:
  With `MAT_SHADOW_TUNE_MEASURE` and `MAT_SHADOW_TUNE_ONLINE` the products that follow still decide whether the format stays.

.seealso: `MatShadowSetTune()`, `MatShadowGetInfo()`, `MATAMB`
@*/
PetscErrorCode MatShadowSetUp(Mat A)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscCheck(A->assembled, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE, "The matrix is not assembled; call MatAssemblyBegin() and MatAssemblyEnd() first");
  PetscCall(MatShadowForEach(A, MatShadowMakeReady, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds the block to the sum; what cannot be added is that of the first block, the one with nearly all entries */
static PetscErrorCode MatShadowGetInfo_One(Mat A, MatShadow *s, void *ctx)
{
  MatShadowInfo *sum = (MatShadowInfo *)ctx, *info = &s->info;

  PetscFunctionBegin;
  info->time_csr    = s->trial[0].time_csr;
  info->time_format = s->trial[0].time_format;
  if (s->data && s->ops->refresh) PetscCall((*s->ops->refresh)(s->data, info));
  PetscCall(MatShadowTuneGetInfo(s, info));
  if (s->data && info->tuning && info->time_csr > 0 && info->time_format > 0 && !s->trial[0].settled) info->reason = "it is on trial, and the times so far decide nothing yet";
  if (!sum->format) *sum = *info;
  else {
    sum->segments += info->segments;
    sum->tried += info->tried;
    if (!MatShadowOnDevice(s)) sum->tuning = (PetscBool)(sum->tuning || info->tuning); /* there the halo may multiply by this block */
    sum->candidates += info->candidates;
    sum->time_tune += info->time_tune;
    sum->time_tune_beside += info->time_tune_beside;
    sum->tasks += info->tasks;
    sum->tasks_diagonal += info->tasks_diagonal;
    sum->tasks_narrow += info->tasks_narrow;
    sum->tasks_wide += info->tasks_wide;
    sum->tasks_split += info->tasks_split;
    sum->bytes_extra += info->bytes_extra;
    sum->nonzeros += info->nonzeros;
    sum->stored_values += info->stored_values;
    sum->bytes_csr += info->bytes_csr;
    sum->bytes_model += info->bytes_model;
    sum->bytes_stored += info->bytes_stored;
    sum->time_convert += info->time_convert;
    sum->time_update += info->time_update;
    sum->conversions += info->conversions;
    sum->updates += info->updates;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatShadowGetInfo - tells what the shadow of a matrix is, what it costs and what it was measured to bring

  Not Collective

  Input Parameter:
. A - the matrix

  Output Parameter:
. info - the figures of this process, bytes and seconds; `format` is `NULL` if the type of `A` has no shadow. The diagonal and off-diagonal
         blocks of an MPI matrix are added up; what does not add up (the format and its parameters, the times of a product) is that of the
         diagonal block.

  Level: advanced

  Note:
  Before the first products, or `MatShadowSetUp()`, there is nothing to tell: `format` is "csr".

.seealso: `MatShadowInfo`, `MatShadowSetUp()`, `MatShadowSetTune()`, `MATAMB`
@*/
PetscErrorCode MatShadowGetInfo(Mat A, MatShadowInfo *info)
{
  const MatShadowFormat *format;
  MatShadow             *s;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscCall(PetscMemzero(info, sizeof(*info)));
  PetscCall(MatShadowForEach(A, MatShadowGetInfo_One, info));
  if (!info->format) { /* an MPI matrix that has no blocks yet */
    PetscCall(MatShadowGetFormat(A, &format));
    if (format) {
      PetscCall(MatShadowGet(A, &s));
      PetscCall(MatShadowGetInfo_One(A, s, info));
    }
  }
#if defined(MAT_SHADOW_HAVE_DEVICE)
  PetscCall(MatHaloGetInfo(A, info));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}
