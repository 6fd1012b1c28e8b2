/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Setters and getters of the shadow of a matrix, for a sequential matrix or for the blocks of an MPI matrix
*/
#include "mat/shadow/shadow.h"

const char *const MatShadowHalos[]       = {"auto", "mpi", "nccl", "staged", "MatShadowHalo", "MAT_SHADOW_HALO_", NULL};
const char *const MatShadowValuesNames[] = {"double", "exact", "single", "table", "MatShadowValues", "MAT_SHADOW_VALUES_", NULL};
_Static_assert((int)MAT_SHADOW_VALUES_EXACT == SYS_VALUES_EXACT && (int)MAT_SHADOW_VALUES_SINGLE == SYS_VALUES_SINGLE && (int)MAT_SHADOW_VALUES_TABLE == SYS_VALUES_TABLE, "the kernels have the same numbers");
const char *const MatShadowTunes[] = {"off", "model", "measure", "online", "MatShadowTune", "MAT_SHADOW_TUNE_", NULL};

/* Calls f on the shadow of a sequential matrix, or on the shadows of the blocks of an assembled MPI matrix; does nothing for a matrix without a shadow */
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

static PetscErrorCode MatShadowSetValues_Shadow(Mat A, MatShadowValues values)
{
  MatShadow *s;

  PetscFunctionBegin;
  PetscCall(MatShadowGet(A, &s));
  if (s->values == values) PetscFunctionReturn(PETSC_SUCCESS);
  s->values = values;
  PetscCall(MatShadowParamsChanged(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatShadowSetKeepAIJ_One(Mat A, MatShadow *s, void *keep)
{
  PetscFunctionBegin;
  s->keep = *(const PetscBool *)keep;
  s->copy = NULL;
  if (s->keep) PetscCall(MatShadowDeviceForgetRows(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatShadowSetKeepAIJ_Shadow(Mat A, PetscBool keep)
{
  MatShadow *s;

  PetscFunctionBegin;
  PetscCall(MatShadowGet(A, &s));
  PetscCall(MatShadowSetKeepAIJ_One(A, s, &keep));
  PetscCall(MatShadowForEach(A, MatShadowSetKeepAIJ_One, &keep));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatShadowComposeSetters(Mat A, PetscBool add)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatShadowSetTune_C", add ? MatShadowSetTune_Shadow : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatShadowSetValues_C", add ? MatShadowSetValues_Shadow : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatShadowSetKeepAIJ_C", add ? MatShadowSetKeepAIJ_Shadow : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatShadowSetDevice_C", add ? MatShadowSetDevice_Shadow : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatShadowSetTune - sets how far a matrix of a shadow format, such as `MATAMB`, tunes itself

  Logically Collective

  Input Parameters:
+ A    - the matrix; nothing happens if its type has no shadow
- tune - `MAT_SHADOW_TUNE_OFF`, `MAT_SHADOW_TUNE_MODEL`, `MAT_SHADOW_TUNE_MEASURE` (the default) or `MAT_SHADOW_TUNE_ONLINE`

  Options Database Key:
. -mat_shadow_tune <off,model,measure,online> - the same for matrices created later

  Level: intermediate

  Notes:
  With `MAT_SHADOW_TUNE_MEASURE`, the default, the choice between the format and the AIJ follows from timing, so that results may differ in
  the last bits from run to run. With `MAT_SHADOW_TUNE_ONLINE` the choice is among all parameters of the format, and results may differ more often. With the other
  two, runs on the same number of threads give the same bits.

  With `MAT_SHADOW_TUNE_ONLINE` another thread lays out the matrix while the solver goes on. Parameters change between two products. On a GPU
  `MAT_SHADOW_TUNE_ONLINE` is the layout of `MAT_SHADOW_TUNE_MODEL`, whose kernels and thread blocks are tried in up to 24 products of the solver: the solver waits
  for nothing, and products have the bits that they have with `MAT_SHADOW_TUNE_MODEL`.

  The setting may be made at any time, before or after the assembly. A change drops the format; the next products convert the matrix anew. The values
  of the matrix stay.

  Errors:
. `PETSC_ERR_ARG_OUTOFRANGE` - `tune` is none of these

  Example:
.vb
  PetscCall(MatShadowSetTune(A, MAT_SHADOW_TUNE_MODEL)); // the same bits in every run
  PetscCall(MatShadowSetUp(A));                          // converts here, not in the first solve
.ve

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
  MatShadowSetValues - sets how the format of a matrix, such as `MATAMB`, stores the values of the matrix

  Logically Collective

  Input Parameters:
+ A      - the matrix; nothing happens if its type has no shadow
- values - `MAT_SHADOW_VALUES_DOUBLE`, `MAT_SHADOW_VALUES_EXACT` (the default), `MAT_SHADOW_VALUES_SINGLE` or `MAT_SHADOW_VALUES_TABLE`

  Options Database Key:
. -mat_shadow_values <double,exact,single,table> - the same for matrices created later

  Level: intermediate

  Notes:
  With `MAT_SHADOW_VALUES_EXACT` and `MAT_SHADOW_VALUES_TABLE` products give the bits that they give with `MAT_SHADOW_VALUES_DOUBLE`; transposed ones on the host may differ in
  rounding where `MATNUSSELL` stores the values of equal chunks once. The table has room for 0 and
  255 other values, which are compared by their bits. The storage follows new values. With `MAT_SHADOW_VALUES_EXACT`, the default, values that have changed twice are stored
  as they are, so that later changes cost no search. It takes a table on the host only where that was measured to be no slower: of up to 16 values in `MATNUSSELL`, and of
  more, or in `MATAMB`, if several threads multiply a matrix that lies in no cache. `MAT_SHADOW_VALUES_TABLE` takes one in any case.

  With `MAT_SHADOW_VALUES_SINGLE` products are those of the rounded values, unless these are all exact. The AIJ keeps its values, and so do all other operations. This
  setting is meant for preconditioners.

  On a GPU the stencil of a grid with constant coefficients may take the place of the table. `-petscamb_mg_values` sets the storage of the levels of `PCMG` and
  `PCGAMG`.

  Each block of an MPI matrix has a storage of its own. `MATAMB` and `MATNUSSELL` heed this setting, on the host and on a GPU, also as candidates of `MATAUTOSPARSE`.
  `MATCCOO` has a table of its own. With complex numbers and with single precision, `MAT_SHADOW_VALUES_SINGLE` does nothing.

  The setting may be made at any time, before or after the assembly. A change drops the format; the next products convert the matrix anew. The values
  of the matrix stay.

  Errors:
. `PETSC_ERR_ARG_OUTOFRANGE` - `values` is none of these

  Example:
.vb
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &P));
  PetscCall(MatShadowSetValues(P, MAT_SHADOW_VALUES_SINGLE)); // for the preconditioner only
  PetscCall(KSPSetOperators(ksp, A, P));
.ve

.seealso: `MatShadowValues`, `MatShadowGetFigure()`, `MatShadowSetTune()`, `MATAMB`
@*/
PetscErrorCode MatShadowSetValues(Mat A, MatShadowValues values)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscCheck(values >= MAT_SHADOW_VALUES_DOUBLE && values <= MAT_SHADOW_VALUES_TABLE, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE, "No such storage of values: %d; use MAT_SHADOW_VALUES_DOUBLE, EXACT, SINGLE or TABLE", (int)values);
  PetscTryMethod(A, "MatShadowSetValues_C", (Mat, MatShadowValues), (A, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatShadowSetKeepAIJ - sets whether a matrix on a GPU keeps the copy of the AIJ there beside its format, such as that of `MATAMB`

  Logically Collective

  Input Parameters:
+ A    - the matrix; nothing happens if its type has no shadow, or if the matrix is on the host
- keep - `PETSC_TRUE`, the default, or `PETSC_FALSE` to free that copy after the conversion

  Options Database Key:
. -mat_shadow_keep_aij <true,false> - the same for matrices created later

  Level: intermediate

  Notes:
  Without the copy, the GPU has the format only. The pattern and the values of the AIJ then lie in pinned memory of the host, from which the GPU reads rows that meet a
  NaN. Whatever else needs the copy has it made again, from the host; the next product gives it back. This takes time: diagonals, products of matrices and new values
  need the copy.

  The copy stays if the matrix is the result of `MatProductNumeric()`, if it is a block of a matrix that `MatSetValuesCOO()` fills, and if some rows of a stencil have
  other values. `MatView()` with `PETSC_VIEWER_ASCII_INFO` says so. A program that calls `MatSeqAIJCUSPARSEGetArrayWrite()` itself must keep the copy.

  Example:
.vb
  PetscCall(MatShadowSetKeepAIJ(A, PETSC_FALSE));
  PetscCall(MatShadowSetUp(A)); // from here on the GPU has the format only
.ve

.seealso: `MatShadowSetValues()`, `MatShadowSetDevice()`, `MATAMB`, `MATAIJCUSPARSE`
@*/
PetscErrorCode MatShadowSetKeepAIJ(Mat A, PetscBool keep)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscValidLogicalCollectiveBool(A, keep, 2);
  PetscTryMethod(A, "MatShadowSetKeepAIJ_C", (Mat, PetscBool), (A, keep));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatShadowSetUp - converts a matrix to its shadow format now, instead of after the first few products

  Not Collective

  Input Parameter:
. A - the assembled matrix; nothing happens if its type has no shadow

  Level: intermediate

  Notes:
  With `MAT_SHADOW_TUNE_MEASURE` and `MAT_SHADOW_TUNE_ONLINE` the products that follow still decide whether the format stays.

  Later new values in the same pattern are taken over by one of the next products, or by another call of this function. With another pattern the
  matrix is converted anew.

  If the format cannot be made, as for lack of memory, or if `MAT_SHADOW_TUNE_MODEL` sees no gain, products stay on the AIJ; `MatShadowGetInfo()` says
  why.

  Errors:
. `PETSC_ERR_ARG_WRONGSTATE` - the matrix is not assembled

  Example:
.vb
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatShadowSetUp(A));
  PetscCall(MatMult(A, x, y)); // on the format
.ve

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

/* Brings s->info up to date, and gets the format's own figures */
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

/* Adds the info of a block to the sum. Members that cannot be added stay those of the first block, which has nearly all entries. */
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

/* Gets the format's own figures of the matrix on this process */
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
  `MATAMB` and `MATNUSSELL` on the host have "block_size" (columns that share one index), "chunk_size" (rows that advance together), "sort_scope" (rows among
  which lengths are sorted) and "tiles". On a GPU they have "block_size", "threads" (of a thread block), "steps" (blocks that one thread takes, at most) and
  "tasks" (one warp does one task); of these tasks "tasks_diagonal" find columns by diagonals, "tasks_narrow" have 16-bit and "tasks_wide" 32-bit indices, and
  "tasks_split" are parts of rows shared by several warps; "stencil" has the entries of the stencil that takes the place of all of these, or 0. `MATNUSSELL` also has "chunks_distinct" (on the host: chunks that differ in their values, or 0 if chunks do not share values), "s1", "k1", "s2" and "k2" (widths and numbers of segments) and "gathered"
  (columns in another order). `MATAMB` and `MATNUSSELL` have "values_bits" (of a stored value), "values_distinct" (values in the table, or 0) and "values_exact" (1, or 0 if values are
  rounded).

  Figures of the blocks of an MPI matrix add up if they are numbers of things, such as "tasks"; others, such as "block_size", are those of the
  diagonal block.

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

/*@C
  MatShadowGetInfo - gets the format of the shadow of a matrix, its bytes and the times measured

  Not Collective

  Input Parameter:
. A - the matrix

  Output Parameter:
. info - the figures of this process, in bytes and seconds; `format` is `NULL` if the type of `A` has no shadow. The figures of the diagonal and
         off-diagonal blocks of an MPI matrix are added up; those that do not add up (the format and its reason, the times of a product) are
         those of the diagonal block.

  Level: advanced

  Notes:
  Before the first products, or `MatShadowSetUp()`, `format` is "csr", and most figures are zero.

  The texts belong to the library: do not free them. The other figures are copies, which later products do not change.

  Fortran Note:
  The texts of `type(MatShadowInfo)` are character variables, which cut off what is longer: 32 characters for format and kernel, 256 for reason.

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
  if (!info->format) { /* an MPI matrix that has no blocks yet */
    PetscCall(MatShadowGetFormat(A, &format));
    if (format) {
      PetscCall(MatShadowGet(A, &s));
      PetscCall(MatShadowGetInfo_One(A, s, info));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatShadowSetHalo - sets how the processes exchange entries of vectors in products of an MPI matrix of a shadow format, such as `MATAMB`, on GPUs

  Logically Collective

  Input Parameters:
+ A    - the matrix; nothing happens if its type has no shadow
- path - `MAT_SHADOW_HALO_AUTO` (the default), `MAT_SHADOW_HALO_MPI`, `MAT_SHADOW_HALO_NCCL` or `MAT_SHADOW_HALO_STAGED`

  Options Database Key:
. -mat_shadow_halo <auto,mpi,nccl,staged> - the same for matrices created later; with the name of a format, as in -mat_amb_halo, for those of
                                            this format

  Level: intermediate

  Notes:
  The path is used by `MatMult()`, `MatMultAdd()`, `MatMultTranspose()` and `MatMultTransposeAdd()` of matrices on GPUs. All other operations, and
  these on the host, use PETSc's own scatter.

  Errors:
+ `PETSC_ERR_ARG_OUTOFRANGE` - `path` is none of these
- `PETSC_ERR_SUP`            - in the next product: the machine or the build does not support the path, and the error says why

  Example:
.vb
  PetscCall(MatShadowSetHalo(A, MAT_SHADOW_HALO_STAGED)); // as with an MPI that cannot read GPU memory
  PetscCall(MatMult(A, x, y));
.ve

.seealso: `MatShadowHalo`, `MatShadowGetHaloInfo()`, `MatShadowSetDevice()`, `MatShadowGetInfo()`, `MATAMB`
@*/
PetscErrorCode MatShadowSetHalo(Mat A, MatShadowHalo path)
{
  const MatShadowFormat *format;
  MatShadow             *s;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(A, path, 2);
  PetscCheck(path >= MAT_SHADOW_HALO_AUTO && path <= MAT_SHADOW_HALO_STAGED, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE, "No such path: %d; use MAT_SHADOW_HALO_AUTO, MPI, NCCL or STAGED", (int)path);
  PetscCall(MatShadowGetFormat(A, &format));
  if (!format) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowGet(A, &s));
  s->halo_wanted = path;
  if (s->halo) PetscCall((*MatShadowExchangeOfVectors->changed)(A, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatShadowGetHaloInfo - gets how the processes exchange entries of vectors in products of an MPI matrix on GPUs

  Not Collective

  Input Parameter:
. A - the matrix

  Output Parameter:
. info - the figures of this process; `path` is `NULL` if PETSc makes the exchange

  Level: advanced

  Note:
  PETSc makes the exchange on the host and on one process. On GPUs it makes the first 60 exchanges, or 10 if the matrix has more than 2,000,000 columns, unless
  `MatShadowSetHalo()` has chosen a path or `MatShadowSetTune()` forbids measuring. The text belongs to the library.

  Example:
.vb
  MatShadowHaloInfo info;

  PetscCall(MatShadowGetHaloInfo(A, &info));
  if (info.path) PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %g bytes\n", info.path, info.bytes));
.ve

.seealso: `MatShadowHaloInfo`, `MatShadowSetHalo()`
@*/
PetscErrorCode MatShadowGetHaloInfo(Mat A, MatShadowHaloInfo *info)
{
  const MatShadowFormat *format;
  MatShadow             *s;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscCall(PetscMemzero(info, sizeof(*info)));
  PetscCall(MatShadowGetFormat(A, &format));
  if (!format) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowGet(A, &s));
  if (s->halo) PetscCall((*MatShadowExchangeOfVectors->getinfo)(A, s, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}
