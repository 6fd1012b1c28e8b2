/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Getters of a matrix's shadow: information and figures, summed over an MPI matrix's blocks
*/
#include "mat/shadow/core/shadow.h"

/* Updates s->info, and gets the format's figures */
static PetscErrorCode MatShadowDescribe(MatShadow *s, double figure[])
{
  MatShadowInfo *info = &s->info;

  PetscFunctionBegin;
  for (int k = 0; k < MAT_SHADOW_FIGURES; k++) figure[k] = 0;
  info->time_csr    = s->trial[0].time_csr;
  info->time_format = s->trial[0].time_format;
  info->tuning      = PETSC_FALSE;
  if (s->data) (*s->ops->describe)(s->data, info, figure);
  PetscCall(MatShadowTuneGetInfo(s, info));
  if (s->data && info->tuning && info->time_csr > 0 && info->time_format > 0 && !s->trial[0].verdict) info->reason = "on trial: the times so far do not decide yet";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds a block's info to the sum. Members that cannot be added stay the first block's, which has nearly all entries. */
static PetscErrorCode MatShadowGetInfo_One(Mat A, MatShadow *s, void *ctx)
{
  MatShadowInfo *sum = (MatShadowInfo *)ctx, *info = &s->info;
  double         figure[MAT_SHADOW_FIGURES];

  PetscFunctionBegin;
  PetscCall(MatShadowDescribe(s, figure));
  if (!sum->format) *sum = *info;
  else {
    sum->tried += info->tried;
    if (!MatShadowOnDevice(s)) sum->tuning = (PetscBool)(sum->tuning || info->tuning); /* on the device the halo may multiply by this block instead */
    sum->candidates += info->candidates;
    sum->time_tune += info->time_tune;
    sum->time_tune_beside += info->time_tune_beside;
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

/* Adds a block's figures to the sum, except figures of scope MAT_SHADOW_OF_BLOCK, which stay the first block's. Skips a block in another format. */
static PetscErrorCode MatShadowGetFigures_One(Mat A, MatShadow *s, void *ctx)
{
  MatShadowFigures *sum = (MatShadowFigures *)ctx;
  double            figure[MAT_SHADOW_FIGURES];

  PetscFunctionBegin;
  if (!s->data) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowDescribe(s, figure));
  if (!sum->ops) {
    sum->ops = s->ops;
    PetscCall(PetscArraycpy(sum->value, figure, MAT_SHADOW_FIGURES));
  } else if (sum->ops == s->ops) {
    for (int k = 0; s->ops->figures && s->ops->figures[k].name; k++) sum->value[k] += s->ops->figures[k].scope != MAT_SHADOW_OF_BLOCK ? figure[k] : 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the format's figures of the matrix on this process */
PetscErrorCode MatShadowGetFigures(Mat A, MatShadowFigures *figures)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(figures, sizeof(*figures)));
  PetscCall(MatShadowForEach(A, MatShadowGetFigures_One, figures));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatShadowGetFigure - gets a figure of the format that a matrix is stored in

  Not Collective

  Input Parameters:
+ A    - the matrix
- name - the name of the figure, such as "block_size"

  Output Parameter:
. value - the figure of this process, or -1 if the format of the matrix has no figure of this name

  Level: advanced

  Notes:
  `MATAMB` and `MATNUSSELL` on the host have "block_size" (columns that share one index), "chunk_size" (rows of a chunk), "sort_scope" (rows among which lengths are
  sorted) and "tiles".

  On a GPU they have "block_size", "threads" (of a thread block), "steps" (most blocks of one thread) and "tasks" (units of work of a warp). Of the tasks, "tasks_diagonal"
  store columns as diagonals, "tasks_narrow" and "tasks_wide" with 16-bit and 32-bit indices, and "tasks_split" are parts of rows shared by several warps. "stencil" is the
  number of entries of the stencil that replaces all of these, or 0.

  `MATNUSSELL` also has "chunks_distinct" (on the host: chunks with distinct values, or 0 if chunks do not share values), "s1", "k1", "s2" and "k2" (widths and numbers of
  segments) and "gathered" (columns in another order).

  Both have "values_bits" (of a stored value), "values_distinct" (values in the table, or 0) and "values_exact" (1, or 0 if values are rounded).

  For an MPI matrix, counts such as "tasks" are summed over the blocks; other figures, such as "block_size", are the diagonal block's.

  Example:
.vb
  PetscLogDouble b;

  PetscCall(MatShadowSetUp(A));
  PetscCall(MatShadowGetFigure(A, "block_size", &b)); // -1 if products stay on the AIJ
.ve

.seealso: `MatShadowGetInfo()`, `MATAMB`, `MATNUSSELL`
@*/
PetscErrorCode MatShadowGetFigure(Mat A, const char name[], PetscLogDouble *value)
{
  MatShadowFigures figures;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  *value = -1;
  PetscCall(MatShadowGetFigures(A, &figures));
  for (int k = 0; figures.ops && figures.ops->figures && figures.ops->figures[k].name; k++) {
    PetscBool same;

    PetscCall(PetscStrcmp(name, figures.ops->figures[k].name, &same));
    if (same) *value = figures.value[k];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatShadowGetFigureAt - gets one of the figures of the format that a matrix is stored in, by its number

  Not Collective

  Input Parameters:
+ A - the matrix
- k - the number of the figure, from 0 on

  Output Parameters:
+ name  - the name of the figure, or `NULL` if there are no more figures
- value - the figure of this process

  Level: advanced

  Note:
  The name belongs to the library. A matrix that is not converted has no figures.

  Example:
.vb
  const char    *name;
  PetscLogDouble value;

  for (PetscInt k = 0;; k++) {
    PetscCall(MatShadowGetFigureAt(A, k, &name, &value));
    if (!name) break;
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s = %g\n", name, value));
  }
.ve

.seealso: `MatShadowGetFigure()`, `MatShadowGetInfo()`
@*/
PetscErrorCode MatShadowGetFigureAt(Mat A, PetscInt k, const char **name, PetscLogDouble *value)
{
  MatShadowFigures figures;
  PetscInt         n = 0;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  *name  = NULL;
  *value = 0;
  PetscCall(MatShadowGetFigures(A, &figures));
  if (!figures.ops || !figures.ops->figures || k < 0) PetscFunctionReturn(PETSC_SUCCESS);
  while (n < k && figures.ops->figures[n].name) n++;
  *name = figures.ops->figures[n].name;
  if (*name) *value = figures.value[n];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatShadowGetInfo - gets the format of the shadow of a matrix, its bytes and the times measured

  Not Collective

  Input Parameter:
. A - the matrix

  Output Parameter:
. info - the figures of this process, in bytes and seconds; `format` is `NULL` if the type of `A` has no shadow. The figures of the diagonal and
         off-diagonal blocks of an MPI matrix are added up; the format, its reason and the times of a product are
         the diagonal block's.

  Level: advanced

  Notes:
  Before the first products, or `MatShadowSetUp()`, `format` is "csr", and most figures are zero.

  The texts belong to the library: do not free them. The other figures are copies, which later products do not change.

  Fortran Note:
  The texts of `type(MatShadowInfo)` are character variables, which truncate texts: to 32 characters for format and kernel, to 256 for reason.

  Example:
.vb
  MatShadowInfo info;

  PetscCall(MatShadowGetInfo(A, &info));
  if (info.format) PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %s\n", info.format, info.reason));
.ve

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
  if (!info->format) { /* an MPI matrix without blocks */
    PetscCall(MatShadowGetFormat(A, &format));
    if (format) {
      PetscCall(MatShadowGet(A, &s));
      PetscCall(MatShadowGetInfo_One(A, s, info));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
