/* SPDX-License-Identifier: BSD-2-Clause */
/*
   PCAMBILU: ILU(0), DILU, or sparse approximate inverses of ILU(0), of each process's diagonal block
*/
#include <petsc/private/pcimpl.h>
#include <petscksp.h>

#include "sys/syscompat.h"
#include <petscamb.h>
#include "ksp/pc/impls/ambilu/glue/ambilu.h"

const char *const PCAMBILUTypes[] = {"ilu", "dilu", "isai", "PCAMBILUType", "PC_AMBILU_", NULL};

/* ------------------------------------------------- life ------------------------------------------------- */

/* Destroys the solves of DILU on the host */
static PetscErrorCode PCAMBILUResetHost(PC_AMBILU *ctx)
{
  PetscFunctionBegin;
  FactorSolverDestroy(&ctx->solver);
  AmbILUMatrixDestroy(&ctx->matrix);
  PetscCall(PetscFree2(ctx->d, ctx->work));
  ctx->declined = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Destroys what depends on the values, the type and the pattern */
static PetscErrorCode PCReset_AMBILU(PC pc)
{
  PC_AMBILU *ctx = (PC_AMBILU *)pc->data;

  PetscFunctionBegin;
  PCAMBILUResetDevice(ctx);
  PetscCall(PCAMBILUResetHost(ctx));
  PetscCall(MatDestroy(&ctx->factor));
  for (int t = 0; t < 2; t++) PetscCall(MatDestroy(&ctx->inverse[t]));
  PetscCall(VecDestroy(&ctx->between));
  PetscCall(VecDestroy(&ctx->x));
  PetscCall(VecDestroy(&ctx->y));
  PetscCall(ISDestroy(&ctx->rows));
  PetscCall(ISDestroy(&ctx->cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDestroy_AMBILU(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCReset_AMBILU(pc));
  PetscCall(PetscFree(((PC_AMBILU *)pc->data)->ordering));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCAMBILUSetType_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCAMBILUSetOrderingType_C", NULL));
  PetscCall(PetscFree(pc->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- set-up ------------------------------------------------- */

/* A pivot that is not larger than PETSC_MACHINE_EPSILON times 100, the default of PCFactorSetZeroPivot() */
static PetscErrorCode PCAMBILUCheckPivot(PC pc, int64_t pivot)
{
  PetscFunctionBegin;
  if (pivot < 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(!pc->erroriffailure, PETSC_COMM_SELF, PETSC_ERR_MAT_LU_ZRPVT, "PCAMBILU: zero pivot in row %" PetscInt64_FMT " of the ordering; use -pc_type ilu, which shifts pivots", (PetscInt64)pivot);
  PetscCall(PetscInfo(pc, "Zero pivot in row %" PetscInt64_FMT " of the ordering\n", (PetscInt64)pivot));
  pc->failedreason = PC_FACTOR_NUMERIC_ZEROPIVOT;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's factor without fill and without shifts, which reports a zero pivot as the other types do */
static PetscErrorCode PCAMBILUSetUpFactor(PC pc, PC_AMBILU *ctx, Mat A)
{
  MatFactorInfo  info;
  MatFactorError error;

  PetscFunctionBegin;
  PetscCall(MatFactorInfoInitialize(&info));
  info.levels    = 0;
  info.fill      = 1;
  info.zeropivot = 100 * PETSC_MACHINE_EPSILON;
  if (!ctx->factor) {
    PetscCall(MatGetFactor(A, MATSOLVERAMB, MAT_FACTOR_ILU, &ctx->factor));
    PetscCall(MatILUFactorSymbolic(ctx->factor, A, ctx->rows, ctx->cols, &info));
  }
  PetscCall(MatSetErrorIfFailure(ctx->factor, pc->erroriffailure));
  PetscCall(MatLUFactorNumeric(ctx->factor, A, &info));
  PetscCall(MatFactorGetError(ctx->factor, &error));
  pc->failedreason = (PCFailedReason)error;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the block to ctx->matrix, in its ordering */
static PetscErrorCode PCAMBILUGetMatrix(PC_AMBILU *ctx, Mat A, AmbILUMatrix *M)
{
  const PetscInt *rows;
  SysCSR          csr;
  SysStatus       status  = SYS_SUCCESS;
  int64_t         missing = -1;

  PetscFunctionBegin;
  PetscCall(MatAIJGetArrays(A, &csr));
  if (!M->i) {
    PetscCall(ISGetIndices(ctx->rows, &rows));
    status = AmbILUMatrixCreate(&csr, rows, M, &missing);
    PetscCall(ISRestoreIndices(ctx->rows, &rows));
  }
  PetscCheck(status == SYS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_MEM, "PCAMBILU: memory is short; use -pc_type jacobi");
  PetscCheck(missing < 0, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "PCAMBILU: the matrix is missing the diagonal entry of row %" PetscInt64_FMT "; insert it, with the value 0 if need be", (PetscInt64)missing);
  AmbILUMatrixUpdate(M, csr.a);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes DILU of ctx->matrix */
static PetscErrorCode PCAMBILUComputeDiagonal(PC_AMBILU *ctx, int64_t *pivot)
{
  AmbILUMatrix *M = &ctx->matrix;
  FactorRows    rows[2];

  PetscFunctionBegin;
  if (!ctx->d) PetscCall(PetscMalloc2(ctx->n, &ctx->d, ctx->natural ? ctx->n : 2 * ctx->n, &ctx->work));
  AmbILUDiagonal(M, 100 * PETSC_MACHINE_EPSILON, ctx->d, pivot);
  rows[0] = (FactorRows){M->n, M->i, M->diagonal, M->j, NULL};
  rows[1] = (FactorRows){M->n, M->behind, M->i + 1, M->j, NULL};
  if (!ctx->solver && !ctx->declined) ctx->declined = (PetscBool)(FactorSolverCreate(rows, 0, &ctx->solver) != SYS_SUCCESS || !ctx->solver);
  if (ctx->solver) {
    FactorSolverUpdate(ctx->solver, rows, M->a);
    FactorSolverSetDiagonal(ctx->solver, NULL, ctx->d);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCAMBILUSetUpDiagonal(PC pc, PC_AMBILU *ctx, Mat A)
{
  int64_t pivot;

  PetscFunctionBegin;
  PetscCall(PCAMBILUGetMatrix(ctx, A, &ctx->matrix));
  ctx->current[0] = ctx->current[1] = PETSC_FALSE;
  PetscCall(PCAMBILUComputeDiagonal(ctx, &pivot));
  PetscCall(PCAMBILUCheckPivot(pc, pivot));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One of the inverses, in the order of the block */
static PetscErrorCode PCAMBILUSetUpInverse(PC_AMBILU *ctx, Mat A, const AmbILUMatrix *M, int upper)
{
  const PetscBool set = (PetscBool)!ctx->inverse[upper];
  const PetscInt *order;
  PetscInt       *row = NULL, *column = NULL;
  PetscScalar    *value;
  SysStatus       status;
  int64_t         entries;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(M->n + M->nz, &value));
  if (set) PetscCall(PetscMalloc2(M->n + M->nz, &row, M->n + M->nz, &column));
  status = AmbILUInverse(M, upper, row, column, value, &entries);
  PetscCheck(status == SYS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_MEM, "PCAMBILU: memory is short; use -pc_ambilu_type dilu");
  if (set) {
    PetscCall(ISGetIndices(ctx->rows, &order));
    for (int64_t k = 0; k < entries; k++) {
      row[k]    = order[row[k]];
      column[k] = order[column[k]];
    }
    PetscCall(ISRestoreIndices(ctx->rows, &order));
    PetscCall(MatCreate(PETSC_COMM_SELF, &ctx->inverse[upper]));
    PetscCall(MatSetSizes(ctx->inverse[upper], ctx->n, ctx->n, ctx->n, ctx->n));
    PetscCall(MatSetType(ctx->inverse[upper], ((PetscObject)A)->type_name));
    PetscCall(MatSetPreallocationCOO(ctx->inverse[upper], (PetscCount)entries, row, column));
    PetscCall(PetscFree2(row, column));
  }
  PetscCall(MatSetValuesCOO(ctx->inverse[upper], value, INSERT_VALUES));
  PetscCall(PetscFree(value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCAMBILUSetUpInverses(PC pc, PC_AMBILU *ctx, Mat A)
{
  AmbILUMatrix M = {0};
  int64_t      pivot;

  PetscFunctionBegin;
  PetscCall(PCAMBILUGetMatrix(ctx, A, &M));
  PetscCheck(AmbILUFactor(&M, 100 * PETSC_MACHINE_EPSILON, &pivot) == SYS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_MEM, "PCAMBILU: memory is short; use -pc_ambilu_type dilu");
  PetscCall(PCAMBILUCheckPivot(pc, pivot));
  for (int t = 0; t < 2; t++) PetscCall(PCAMBILUSetUpInverse(ctx, A, &M, t));
  AmbILUMatrixDestroy(&M);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets up DILU or approximate inverses where the block is, or on the host */
static PetscErrorCode PCAMBILUSetUpBlock(PC pc, PC_AMBILU *ctx, Mat A)
{
  PetscBool done = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PCAMBILUSetUpDevice(ctx, A, &done));
  if (ctx->made) PetscCall(PCAMBILUResetHost(ctx)); /* it has older values */
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  if (ctx->made) {
    PCAMBILUResetDevice(ctx);
    for (int t = 0; t < 2; t++) PetscCall(MatDestroy(&ctx->inverse[t]));
  }
  if (ctx->type == PC_AMBILU_DILU) PetscCall(PCAMBILUSetUpDiagonal(pc, ctx, A));
  else PetscCall(PCAMBILUSetUpInverses(pc, ctx, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_AMBILU(PC pc)
{
  PC_AMBILU       *ctx = (PC_AMBILU *)pc->data;
  PetscMPIInt      nproc;
  PetscInt         m, n;
  PetscBool        aij, same;
  PetscObjectState pattern;
  Mat              A;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &nproc));
  PetscCall(MatGetLocalSize(pc->pmat, &m, &n));
  PetscCheck(m == n, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "PCAMBILU: %" PetscInt_FMT " rows and %" PetscInt_FMT " columns of a process are no square block", m, n);
  PetscCall(MatAIJComplete(pc->pmat));
  PetscCall(MatGetDiagonalBlock(pc->pmat, &A));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQAIJ, &aij));
  PetscCheck(aij, PETSC_COMM_SELF, PETSC_ERR_SUP, "PCAMBILU: the matrix has the type %s; use -mat_type amb, or another type that extends AIJ", ((PetscObject)A)->type_name);
  PetscCall(MatGetNonzeroState(A, &pattern));
  if (pc->setupcalled && (pc->flag != SAME_NONZERO_PATTERN || pattern != ctx->pattern || m != ctx->n)) PetscCall(PCReset_AMBILU(pc));
  ctx->n = m;
  PetscCall(MatGetBlockSize(A, &ctx->bs));
  ctx->pattern     = pattern;
  pc->failedreason = PC_NOERROR;
  if (!ctx->rows) {
    PetscCall(MatGetOrdering(A, ctx->ordering, &ctx->rows, &ctx->cols));
    PetscCall(ISEqualUnsorted(ctx->rows, ctx->cols, &same));
    PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_SUP, "PCAMBILU: the ordering %s has other rows than columns; use -pc_ambilu_mat_ordering_type natural", ctx->ordering);
    PetscCall(ISIdentity(ctx->rows, &ctx->natural));
    if (nproc > 1) PetscCall(MatCreateVecs(A, &ctx->x, &ctx->y));
  }
  if (ctx->type == PC_AMBILU_ILU) PetscCall(PCAMBILUSetUpFactor(pc, ctx, A));
  else PetscCall(PCAMBILUSetUpBlock(pc, ctx, A));
  if (ctx->type == PC_AMBILU_ISAI && !ctx->between) PetscCall(MatCreateVecs(A, &ctx->between, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- application ------------------------------------------------- */

static PetscErrorCode PCAMBILUSolveHost(PC_AMBILU *ctx, PetscBool transpose, Vec b, Vec x)
{
  const PetscScalar *from;
  const PetscInt    *rows;
  PetscScalar       *to;
  PetscBool          done = PETSC_TRUE;
  int64_t            pivot;

  PetscFunctionBegin;
  if (ctx->made && !ctx->d) {
    PetscCall(PCAMBILUFetchDevice(ctx, &done));
    PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_MEM, "PCAMBILU: memory is short; use -pc_type jacobi");
    PetscCall(PCAMBILUComputeDiagonal(ctx, &pivot));
  }
  PetscCall(VecGetArrayRead(b, &from));
  PetscCall(VecGetArrayWrite(x, &to));
  PetscCall(ISGetIndices(ctx->rows, &rows));
  {
    const PetscScalar *rhs      = ctx->natural ? from : ctx->work;
    PetscScalar       *solution = ctx->natural ? to : ctx->work + ctx->n;

    for (PetscInt r = 0; r < ctx->n && !ctx->natural; r++) ctx->work[r] = from[rows[r]];
    if (transpose) AmbILUSolveTranspose(&ctx->matrix, ctx->d, rhs, solution);
    else if (ctx->solver) FactorSolverSweep(ctx->solver, 1, 1, 1, rhs, ctx->work, solution);
    else AmbILUSolve(&ctx->matrix, ctx->d, rhs, solution);
    for (PetscInt r = 0; r < ctx->n && !ctx->natural; r++) to[rows[r]] = solution[r];
  }
  PetscCall(ISRestoreIndices(ctx->rows, &rows));
  PetscCall(VecRestoreArrayWrite(x, &to));
  PetscCall(VecRestoreArrayRead(b, &from));
  PetscCall(PetscLogFlops(2. * (double)ctx->matrix.nz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCAMBILUApplyBlock(PC_AMBILU *ctx, PetscBool transpose, Vec b, Vec x)
{
  PetscBool done = PETSC_FALSE;

  PetscFunctionBegin;
  if (ctx->type == PC_AMBILU_ILU) PetscCall((*(transpose ? MatSolveTranspose : MatSolve))(ctx->factor, b, x));
  if (ctx->type == PC_AMBILU_DILU) {
    PetscCall(PCAMBILUSolveDevice(ctx, transpose, b, x, &done));
    if (!done) PetscCall(PCAMBILUSolveHost(ctx, transpose, b, x));
  }
  if (ctx->type == PC_AMBILU_ISAI) {
    PetscCall((*(transpose ? MatMultTranspose : MatMult))(ctx->inverse[transpose], b, ctx->between));
    PetscCall((*(transpose ? MatMultTranspose : MatMult))(ctx->inverse[!transpose], ctx->between, x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCAMBILUApply(PC pc, PetscBool transpose, Vec b, Vec x)
{
  PC_AMBILU *ctx = (PC_AMBILU *)pc->data;

  PetscFunctionBegin;
  if (ctx->x) {
    PetscCall(VecGetLocalVectorRead(b, ctx->x));
    PetscCall(VecGetLocalVector(x, ctx->y));
  }
  PetscCall(PCAMBILUApplyBlock(ctx, transpose, ctx->x ? ctx->x : b, ctx->y ? ctx->y : x));
  if (ctx->x) {
    PetscCall(VecRestoreLocalVectorRead(b, ctx->x));
    PetscCall(VecRestoreLocalVector(x, ctx->y));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApply_AMBILU(PC pc, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(PCAMBILUApply(pc, PETSC_FALSE, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApplyTranspose_AMBILU(PC pc, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(PCAMBILUApply(pc, PETSC_TRUE, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- settings ------------------------------------------------- */

/* The next PCSetUp() starts anew */
static PetscErrorCode PCAMBILURestart(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCReset_AMBILU(pc));
  pc->setupcalled = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCAMBILUSetType_AMBILU(PC pc, PCAMBILUType type)
{
  PC_AMBILU *ctx = (PC_AMBILU *)pc->data;

  PetscFunctionBegin;
  if (type == ctx->type) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCAMBILURestart(pc));
  ctx->type = type;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCAMBILUSetOrderingType_AMBILU(PC pc, MatOrderingType ordering)
{
  PC_AMBILU *ctx = (PC_AMBILU *)pc->data;
  PetscBool  same;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(ordering, ctx->ordering, &same));
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCAMBILURestart(pc));
  PetscCall(PetscFree(ctx->ordering));
  PetscCall(PetscStrallocpy(ordering, &ctx->ordering));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCAMBILUSetType - sets which incomplete factorization `PCAMBILU` makes

  Logically Collective

  Input Parameters:
+ pc   - the preconditioner; this function does nothing if its type is not `PCAMBILU`
- type - `PC_AMBILU_ILU`, `PC_AMBILU_DILU` (the default) or `PC_AMBILU_ISAI`

  Options Database Key:
. -pc_ambilu_type <ilu,dilu,isai> - the same

  Level: intermediate

  Note:
  Another type than before discards the set-up.

  Errors:
. `PETSC_ERR_ARG_OUTOFRANGE` - the type is none of these

  Example:
.vb
  PetscCall(PCSetType(pc, PCAMBILU));
  PetscCall(PCAMBILUSetType(pc, PC_AMBILU_ISAI));
.ve

.seealso: `PCAMBILU`, `PCAMBILUType`, `PCAMBILUSetOrderingType()`
@*/
PetscErrorCode PCAMBILUSetType(PC pc, PCAMBILUType type)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, type, 2);
  PetscCheck((int)type >= PC_AMBILU_ILU && (int)type <= PC_AMBILU_ISAI, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "%d is no PCAMBILUType; use PC_AMBILU_ILU, PC_AMBILU_DILU or PC_AMBILU_ISAI", (int)type);
  PetscTryMethod(pc, "PCAMBILUSetType_C", (PC, PCAMBILUType), (pc, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCAMBILUSetOrderingType - sets the order in which `PCAMBILU` eliminates rows

  Logically Collective

  Input Parameters:
+ pc       - the preconditioner; this function does nothing if its type is not `PCAMBILU`
- ordering - `MATORDERINGNATURAL` (the default), `MATORDERINGAMBCOLOR`, or another ordering of rows and columns alike

  Options Database Key:
. -pc_ambilu_mat_ordering_type <ordering> - the same

  Level: intermediate

  Note:
  Another ordering than before discards the set-up.

  Example:
.vb
  PetscCall(PCSetType(pc, PCAMBILU));
  PetscCall(PCAMBILUSetOrderingType(pc, MATORDERINGAMBCOLOR));
.ve

.seealso: `PCAMBILU`, `PCAMBILUSetType()`, `MATORDERINGAMBCOLOR`
@*/
PetscErrorCode PCAMBILUSetOrderingType(PC pc, MatOrderingType ordering)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscTryMethod(pc, "PCAMBILUSetOrderingType_C", (PC, MatOrderingType), (pc, ordering));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetFromOptions_AMBILU(PC pc, PetscAMBOptionItems PetscOptionsObject)
{
  PC_AMBILU   *ctx      = (PC_AMBILU *)pc->data;
  PCAMBILUType type     = ctx->type;
  char         name[64] = "";
  PetscBool    set;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "petsc-amb, incomplete factors");
  PetscCall(PetscOptionsEnum("-pc_ambilu_type", "ILU(0), DILU, or approximate inverses of ILU(0)", "PCAMBILUSetType", PCAMBILUTypes, (PetscEnum)type, (PetscEnum *)&type, NULL));
  PetscCall(PetscOptionsString("-pc_ambilu_mat_ordering_type", "Order in which rows are eliminated", "PCAMBILUSetOrderingType", ctx->ordering, name, sizeof(name), &set));
  PetscOptionsHeadEnd();
  PetscCall(PCAMBILUSetType(pc, type));
  if (set) PetscCall(PCAMBILUSetOrderingType(pc, name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCView_AMBILU(PC pc, PetscViewer viewer)
{
  PC_AMBILU *ctx = (PC_AMBILU *)pc->data;
  PetscBool  ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (ascii) PetscCall(PetscViewerASCIIPrintf(viewer, "  type %s, ordering %s\n", PCAMBILUTypes[ctx->type], ctx->ordering));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   PCAMBILU - "ambilu" - incomplete factorizations without fill that suit a GPU: DILU, approximate inverses, ILU(0)

   Level: intermediate

   Options Database Keys:
+  -pc_ambilu_type <ilu,dilu,isai>         - see `PCAMBILUSetType()`
-  -pc_ambilu_mat_ordering_type <ordering> - see `PCAMBILUSetOrderingType()`

   Notes:
   `dilu` computes a diagonal E and uses the entries of the matrix itself: (E + L) E^-1 (E + U), where L and U are the triangles of the matrix without its diagonal. On grids
   with 5 or 7 points it is ILU(0).

   `isai` computes ILU(0), then for each triangle an approximate inverse with the pattern of the triangle. An application is two products, by the kernels of the matrix's
   type, and has no levels. A symmetric matrix gets a symmetric preconditioner.

   `ilu` is ILU(0) of `MATSOLVERAMB`.

   The set-up runs where the matrix is; on a GPU a refused pivot, rows of more than 512 entries, or short memory move it to the host. On several processes the preconditioner is block Jacobi, with the diagonal block of each process.

   No pivot is shifted. A pivot that is at most 100 times the machine epsilon ends the solve with `KSP_DIVERGED_PC_FAILED`, or with an error after
   `KSPSetErrorIfNotConverged()`.

   Errors:
+  `PETSC_ERR_SUP`            - the type of the matrix does not extend AIJ, or the ordering has other rows than columns
.  `PETSC_ERR_ARG_SIZ`        - the block of a process is not square
.  `PETSC_ERR_ARG_WRONGSTATE` - a row of the matrix has no diagonal entry
-  `PETSC_ERR_MAT_LU_ZRPVT`   - a pivot is zero, where failures are errors

   Example:
.vb
   bin/solve -f matrix.mtx -mat_type amb -ksp_type gmres -pc_type ambilu -pc_ambilu_type dilu
.ve

.seealso: `PCAMBILUSetType()`, `PCAMBILUSetOrderingType()`, `MATSOLVERAMB`, `MATORDERINGAMBCOLOR`, `PCILU`
M*/
static PetscErrorCode PCCreate_AMBILU(PC pc)
{
  PC_AMBILU *ctx;

  PetscFunctionBegin;
  PetscCall(PetscNew(&ctx));
  ctx->type = PC_AMBILU_DILU;
  PetscCall(PetscStrallocpy(MATORDERINGNATURAL, &ctx->ordering));
  pc->data                = ctx;
  pc->ops->setup          = PCSetUp_AMBILU;
  pc->ops->apply          = PCApply_AMBILU;
  pc->ops->applytranspose = PCApplyTranspose_AMBILU;
  pc->ops->setfromoptions = PCSetFromOptions_AMBILU;
  pc->ops->view           = PCView_AMBILU;
  pc->ops->reset          = PCReset_AMBILU;
  pc->ops->destroy        = PCDestroy_AMBILU;
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCAMBILUSetType_C", PCAMBILUSetType_AMBILU));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCAMBILUSetOrderingType_C", PCAMBILUSetOrderingType_AMBILU));
  PetscFunctionReturn(PETSC_SUCCESS);
}

extern PetscErrorCode AmbILURegister(void);
PetscErrorCode        AmbILURegister(void)
{
  PetscFunctionBegin;
  PetscCall(PCRegister(PCAMBILU, PCCreate_AMBILU));
  PetscFunctionReturn(PETSC_SUCCESS);
}
