/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Setters and getters of the shadow of a matrix, for a sequential matrix or for the blocks of an MPI matrix
*/
#include "mat/shadow/core/shadow.h"

const char *const MatShadowDevices[]     = {"auto", "cpu", "gpu", "MatShadowDevice", "MAT_SHADOW_DEVICE_", NULL};
const char *const MatShadowHalos[]       = {"auto", "mpi", "nccl", "staged", "peer", "MatShadowHalo", "MAT_SHADOW_HALO_", NULL};
const char *const MatShadowSORs[]        = {"auto", "natural", "color", "MatShadowSOR", "MAT_SHADOW_SOR_", NULL};
const char *const MatShadowValuesNames[] = {"double", "exact", "single", "table", "MatShadowValues", "MAT_SHADOW_VALUES_", NULL};
_Static_assert((int)MAT_SHADOW_VALUES_EXACT == SYS_VALUES_EXACT && (int)MAT_SHADOW_VALUES_SINGLE == SYS_VALUES_SINGLE && (int)MAT_SHADOW_VALUES_TABLE == SYS_VALUES_TABLE, "the kernels have the same numbers");
const char *const MatShadowTunes[] = {"off", "model", "measure", "online", "MatShadowTune", "MAT_SHADOW_TUNE_", NULL};

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

static PetscErrorCode MatShadowSetSOR_One(Mat A, MatShadow *s, void *order)
{
  PetscFunctionBegin;
  s->sor = *(const MatShadowSOR *)order;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatShadowSetSOR_Shadow(Mat A, MatShadowSOR order)
{
  MatShadow *s;

  PetscFunctionBegin;
  PetscCall(MatShadowGet(A, &s));
  PetscCall(MatShadowSetSOR_One(A, s, &order));
  PetscCall(MatShadowForEach(A, MatShadowSetSOR_One, &order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatShadowComposeSetters(Mat A, PetscBool add)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatShadowSetTune_C", add ? MatShadowSetTune_Shadow : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatShadowSetValues_C", add ? MatShadowSetValues_Shadow : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatShadowSetKeepAIJ_C", add ? MatShadowSetKeepAIJ_Shadow : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatShadowSetDevice_C", add ? MatShadowSetDevice_Shadow : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatShadowSetSOR_C", add ? MatShadowSetSOR_Shadow : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   MatShadow - the common behavior of the formats of petsc-amb (`MATAMB`, `MATNUSSELL`, `MATCCOO`, `MATTILECOMPOSITE`, `MATAUTOSPARSE`)

   Each format extends `MATAIJ`: `MATSEQAIJAMB` on one process, `MATMPIAIJAMB` on several, and so for the other formats. `MatMult()`, `MatMultAdd()`,
   `MatMultTranspose()` and `MatMultTransposeAdd()` run on a second copy of the matrix in the format. One of the first few products converts the matrix, and the
   copy stays if it was measured to be faster. All other operations run on the AIJ.

   With CUDA in PETSc and a GPU in the machine, the matrix and the vectors of `MatCreateVecs()` are stored on the GPU. The matrix then has the type name of
   `MATAIJCUSPARSE`, whose operations it has.

   Options Database Keys:
+  -petscamb_for_aij <format>                    - gives all `MATAIJ` and `MATAIJCUSPARSE` matrices of the program this format, however they are created
.  -petscamb_view                               - prints at the end which matrices were converted, and their products
.  -mat_shadow_values <double,exact,single,table> - how values are stored, in `MATAMB` and `MATNUSSELL`
-  -mat_shadow_tune <off,model,measure,online>  - how to choose between the format and the AIJ

   Level: beginner

   Note:
   The copy follows the matrix: one of the next products copies new values in the same pattern, a new pattern is converted anew, and both copies are destroyed together.
   `MatDuplicate()` copies the settings; the products of the duplicate convert it. Setters may be called at any time, before or after the assembly: a change drops the
   copy, and the next products convert the matrix anew.

   Errors:
+  `PETSC_ERR_GPU` - an option selects the GPU, but PETSc has none to use; or some processes have a GPU and others none
-  `PETSC_ERR_SUP` - an option selects the GPU with a PETSc without CUDA, with complex numbers or with 64-bit indices

.seealso: `MATAMB`, `MATNUSSELL`, `MATCCOO`, `MATTILECOMPOSITE`, `MATAUTOSPARSE`, `MatShadowSetValues()`, `MatShadowSetTune()`, `MatShadowSetDevice()`, `MatShadowSetUp()`, `MatShadowGetInfo()`, `MATAIJ`, `MATAIJCUSPARSE`
M*/

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

  Errors:
. `PETSC_ERR_ARG_OUTOFRANGE` - `tune` is none of these

  Example:
.vb
  PetscCall(MatShadowSetTune(A, MAT_SHADOW_TUNE_MODEL)); // the same bits in every run
  PetscCall(MatShadowSetUp(A));                          // converts here, not in the first solve
.ve

.seealso: `MatShadow`, `MatShadowTune`, `MatShadowSetUp()`, `MatShadowGetInfo()`, `MATAMB`
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
  as they are, so that later changes cost no search. On the host it uses a table only in cases that were measured to be no slower: of up to 16 values in `MATNUSSELL`, and of
  more, or in `MATAMB`, if several threads multiply a matrix that lies in no cache. `MAT_SHADOW_VALUES_TABLE` always uses one.

  With `MAT_SHADOW_VALUES_SINGLE` products use rounded values, unless all values are exact in single precision. The values of the AIJ do not change, and all other operations use them. This
  setting is for preconditioners.

  On a GPU the stencil of a grid with constant coefficients may replace the table. `-petscamb_mg_values` sets the storage of the levels of `PCMG` and
  `PCGAMG`.

  Each block of an MPI matrix chooses a storage. `MATAMB` and `MATNUSSELL` use this setting, on the host and on a GPU, also as candidates of `MATAUTOSPARSE`.
  `MATCCOO` has another table. With complex numbers and with single precision, `MAT_SHADOW_VALUES_SINGLE` does nothing.

  Errors:
. `PETSC_ERR_ARG_OUTOFRANGE` - `values` is none of these

  Example:
.vb
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &P));
  PetscCall(MatShadowSetValues(P, MAT_SHADOW_VALUES_SINGLE)); // for the preconditioner only
  PetscCall(KSPSetOperators(ksp, A, P));
.ve

.seealso: `MatShadow`, `MatShadowValues`, `MatShadowGetFigure()`, `MatShadowSetTune()`, `MATAMB`
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
  MatShadowSetKeepAIJ - sets whether a matrix on a GPU stores the AIJ there besides its format, such as `MATAMB`

  Logically Collective

  Input Parameters:
+ A    - the matrix; nothing happens if its type has no shadow, or if the matrix is on the host
- keep - `PETSC_TRUE`, the default, or `PETSC_FALSE` to free that copy after the conversion

  Options Database Key:
. -mat_shadow_keep_aij <true,false> - the same for matrices created later

  Level: intermediate

  Notes:
  Without the copy, the GPU has the format only. The pattern and the values of the AIJ then lie in pinned memory of the host, from which the GPU reads rows that meet a
  NaN. An operation that needs the copy creates it again from the host, and the next product frees it. This takes time: diagonals, products of matrices and new values
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
  MatShadowSetSOR - sets the order of rows in sweeps of `PCSOR` over a matrix of a shadow format, such as `MATAMB`

  Logically Collective

  Input Parameters:
+ A     - the matrix; nothing happens if its type has no shadow
- order - `MAT_SHADOW_SOR_AUTO` (the default), `MAT_SHADOW_SOR_NATURAL` or `MAT_SHADOW_SOR_COLOR`

  Options Database Key:
. -mat_shadow_sor <auto,natural,color> - the same for matrices created later

  Level: intermediate

  Notes:
  With `MAT_SHADOW_SOR_NATURAL`, `MatSOR()` visits the rows one after the other, as PETSc does, on the host.

  With `MAT_SHADOW_SOR_COLOR`, rows that depend on one another get different colors, and sweeps visit the colors one after the other: on the GPU if the matrix and
  the vectors are there, or with threads on the host. The rows of a block (`MatSetBlockSize()`, of at most 16 rows) are one node, and the inverse of its diagonal block is
  applied. Iterations may be more or fewer than with the natural order. Each process sweeps over its own rows, as `MatSOR()` of PETSc does.

  With `MAT_SHADOW_SOR_AUTO` the order is by color if the matrix and the vectors are on a GPU, and natural otherwise.

  Sweeps over rows without a diagonal, and those with a zero on the diagonal, are PETSc's.

  Errors:
. `PETSC_ERR_ARG_OUTOFRANGE` - `order` is none of these

  Example:
.vb
  PetscCall(MatShadowSetSOR(A, MAT_SHADOW_SOR_NATURAL)); // PETSc's order of rows, also on a GPU
  PetscCall(KSPSolve(ksp, b, x));                        // with -pc_type sor
.ve

.seealso: `MatShadowSOR`, `MatShadowSetDevice()`, `MATAMB`, `PCSOR`
@*/
PetscErrorCode MatShadowSetSOR(Mat A, MatShadowSOR order)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(A, order, 2);
  PetscCheck(order >= MAT_SHADOW_SOR_AUTO && order <= MAT_SHADOW_SOR_COLOR, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE, "No such order: %d; use MAT_SHADOW_SOR_AUTO, NATURAL or COLOR", (int)order);
  PetscTryMethod(A, "MatShadowSetSOR_C", (Mat, MatShadowSOR), (A, order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatShadowSetDevice - puts a matrix of a shadow format, such as `MATAMB`, on the GPU or on the host

  Collective

  Input Parameters:
+ A     - the matrix; nothing happens if its type has no shadow
- where - `MAT_SHADOW_DEVICE_AUTO` (the default), `MAT_SHADOW_DEVICE_CPU` or `MAT_SHADOW_DEVICE_GPU`

  Options Database Key:
. -mat_shadow_device <auto,cpu,gpu> - the same for matrices created later; the old name, with a type as in -mat_amb_device, is for this type only

  Level: intermediate

  Notes:
  On the GPU the type name of the matrix is `MATAIJCUSPARSE`, its products with vectors run on the format, and `MatCreateVecs()` makes vectors of type
  `VECCUDA`. Once a program has put a matrix on the GPU, all matrices that it creates as `MATAIJCUSPARSE` are of the format too, because PETSc makes
  matrices of the same type by that name.

  A matrix on the GPU that is set to the host stays a `MATAIJCUSPARSE`, bound to the CPU as by `MatBindToCPU()`. Vectors made before do not move.

  Errors:
+ `PETSC_ERR_ARG_OUTOFRANGE` - `where` is none of these
. `PETSC_ERR_GPU`            - `MAT_SHADOW_DEVICE_GPU`, but PETSc has no GPU to use; or some processes have a GPU and others none
. `PETSC_ERR_SUP`            - `MAT_SHADOW_DEVICE_GPU` with a PETSc without CUDA, with complex numbers or with 64-bit indices
- `PETSC_ERR_ORDER`          - a matrix on the host is to go to the GPU between its preallocation and its assembly

  Example:
.vb
  PetscCall(MatSetType(A, MATAMB));
  PetscCall(MatShadowSetDevice(A, MAT_SHADOW_DEVICE_CPU)); // stays on the host, though there is a GPU
.ve

.seealso: `MatShadowDevice`, `MatBindToCPU()`, `MatShadowSetTune()`, `MATAMB`
@*/
PetscErrorCode MatShadowSetDevice(Mat A, MatShadowDevice where)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscCheck(where >= MAT_SHADOW_DEVICE_AUTO && where <= MAT_SHADOW_DEVICE_GPU, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE, "No such place: %d; use MAT_SHADOW_DEVICE_AUTO, CPU or GPU", (int)where);
  PetscTryMethod(A, "MatShadowSetDevice_C", (Mat, MatShadowDevice), (A, where));
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

  One of the next products, or another call of this function, copies later new values in the same pattern. With another pattern the
  matrix is converted anew.

  Without memory for the format, or if `MAT_SHADOW_TUNE_MODEL` predicts no gain, products stay on the AIJ; `MatShadowGetInfo()` gives the
  reason.

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

/*@
  MatShadowSetHalo - sets how the processes exchange entries of vectors in products of an MPI matrix of a shadow format, such as `MATAMB`, on GPUs

  Logically Collective

  Input Parameters:
+ A    - the matrix; nothing happens if its type has no shadow
- path - `MAT_SHADOW_HALO_AUTO` (the default), `MAT_SHADOW_HALO_MPI`, `MAT_SHADOW_HALO_NCCL`, `MAT_SHADOW_HALO_STAGED` or `MAT_SHADOW_HALO_PEER`

  Options Database Key:
. -mat_shadow_halo <auto,mpi,nccl,staged,peer> - the same for matrices created later; the old name, with a type as in -mat_amb_halo, is for this
                                            type only

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
  PetscCheck(path >= MAT_SHADOW_HALO_AUTO && path <= MAT_SHADOW_HALO_PEER, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE, "No such path: %d; use MAT_SHADOW_HALO_AUTO, MPI, NCCL, STAGED or PEER", (int)path);
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
