/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MATSOLVERAMB. PETSc makes the factor on the host: symbolic and numeric phase, shifts and zero pivots are its own, and so are all operations but solves. The GPU makes factors
   of matrices that are there (factordevice.c), in PETSc's pattern if they have fill; PETSc's arrays of these come into being when an operation needs them.
*/
#include "mat/factor/glue/factor.h"
#include "mat/factor/host/factorpolicy.h"
#include "mat/shadow/user/shadowoptions.h"

#define FACTOR_NAME "MatFactorAMB"

static const char *const where_names[] = {"petsc", "model", "device"};

PetscErrorCode FactorGetWhere(FactorWhere *where)
{
  PetscInt  k = FACTOR_MODEL;
  PetscBool set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-petscamb_factor", where_names, PETSC_STATIC_ARRAY_LENGTH(where_names), &k, &set));
  PetscCall(MatShadowOptionSought("-petscamb_factor"));
  *where = (FactorWhere)k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt together = 1;

void MatFactorAMBExpectGroup(PetscInt n)
{
  together = n;
}

PetscErrorCode MatFactorAMBGet(Mat F, MatFactorAMB **f)
{
  PetscFunctionBegin;
  PetscCall(PetscAMBObjectContainerQuery((PetscObject)F, FACTOR_NAME, (void **)f));
  PetscCheck(*f, PetscObjectComm((PetscObject)F), PETSC_ERR_PLIB, "This factor is none of MATSOLVERAMB");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatFactorAMBDestroy(PetscAMBCtxArgument arg)
{
  MatFactorAMB *f = (MatFactorAMB *)PetscAMBCtxGet(arg);

  PetscFunctionBegin;
  MatFactorAMBResetDevice(f);
  FactorSolverDestroy(&f->solver);
  FactorNodesDestroy(&f->nodes);
  PetscCall(ISDestroy(&f->rows));
  PetscCall(ISDestroy(&f->cols));
  PetscCall(PetscFree(f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- solves on the host ------------------------------------------------- */

/* Lays out the factor, or updates its values; *f->declined if PETSc's solve is as good */
static PetscErrorCode FactorSolverSetUp(Mat F, MatFactorAMB *f)
{
  FactorArrays s;
  FactorRows   rows[2], turned = {0};
  SysStatus    status = SYS_SUCCESS;
  PetscInt     nodes = 0, *start = NULL;

  PetscFunctionBegin;
  PetscCall(FactorArraysGet(F, f, &s));
  if (f->inodes) PetscCall(FactorGetNodes(F, &nodes, &start));
  if (f->symmetric) status = FactorRowsTranspose(&s.rows[1], &turned);
  rows[0] = f->symmetric ? turned : s.rows[0];
  rows[1] = s.rows[1];
  if (status == SYS_SUCCESS && nodes && !f->nodes) status = FactorNodesCreate(rows, nodes, start, 0, &f->nodes);
  if (status == SYS_SUCCESS && !nodes && !f->solver) status = FactorSolverCreate(rows, f->symmetric, &f->solver);
  if (f->nodes) FactorNodesUpdate(f->nodes, rows, s.a, s.a, s.diagonal);
  if (status == SYS_SUCCESS && f->solver) {
    FactorSolverUpdate(f->solver, rows, s.a);
    FactorSolverSetDiagonal(f->solver, s.diagonal, s.a);
  }
  f->current  = (PetscBool)(status == SYS_SUCCESS && (f->solver || f->nodes));
  f->declined = (PetscBool)!f->current;
  FactorRowsDestroy(&turned);
  PetscCall(PetscFree(start));
  PetscCall(FactorArraysFree(&s));
  if (f->declined) PetscCall(PetscInfo(F, "MATSOLVERPETSC solves: %s\n", status == SYS_SUCCESS ? "rows depend on one another in chains, or are long" : "memory is short"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns the solves with the current values that are PETSc's, until the gain of as many more would repay the layout, or the new values */
static PetscInt FactorFirstSolves(const MatFactorAMB *f)
{
  if (f->inodes) return f->nodes ? FACTOR_NODES_UPDATE_SOLVES : FACTOR_NODES_LAYOUT_SOLVES;
  return f->solver ? FACTOR_UPDATE_SOLVES : FACTOR_LAYOUT_SOLVES;
}

static PetscErrorCode MatSolve_FactorAMB(Mat F, Vec b, Vec x)
{
  MatFactorAMB      *f;
  const PetscScalar *from;
  PetscScalar       *to;
  MatInfo            info;

  PetscFunctionBegin;
  PetscCall(MatFactorAMBGet(F, &f));
  if (!f->current && !f->declined && f->solves++ >= FactorFirstSolves(f)) PetscCall(FactorSolverSetUp(F, f));
  if (!f->current) {
    PetscCall((*f->solve[0])(F, b, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGetArrayRead(b, &from));
  PetscCall(VecGetArrayWrite(x, &to));
  if (f->nodes) FactorNodesSolve(f->nodes, from, to);
  else FactorSolverSolve(f->solver, from, to);
  PetscCall(VecRestoreArrayWrite(x, &to));
  PetscCall(VecRestoreArrayRead(b, &from));
  PetscCall(MatGetInfo(F, MAT_LOCAL, &info));
  PetscCall(PetscLogFlops((f->symmetric ? 4 : 2) * info.nz_used - (f->symmetric ? 3 : 1) * F->rmap->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the solve on the host, in the natural order */
static PetscErrorCode MatFactorAMBSetUpHost(Mat F, MatFactorAMB *f)
{
  PetscInt  nodes = 0;
  PetscBool natural;

  PetscFunctionBegin;
  PetscCall(ISIdentity(f->rows, &natural));
  if (natural) PetscCall(ISIdentity(f->cols, &natural));
  if (!f->symmetric) PetscCall(MatInodeGetInodeSizes(F, &nodes, NULL, NULL));
  f->inodes  = (PetscBool)(nodes > 0);
  f->current = PETSC_FALSE;
  f->solves  = 0;
  if (natural && !f->declined && !F->factorerrortype) F->ops->solve = MatSolve_FactorAMB;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- phases ------------------------------------------------- */

PetscErrorCode MatFactorAMBSymbolicPETSc(Mat F, Mat A, MatFactorAMB *f, const MatFactorInfo *info)
{
  PetscFunctionBegin;
  if (f->symmetric) PetscCall((*f->iccsymbolic)(F, A, f->rows, info));
  else PetscCall((*f->ilusymbolic)(F, A, f->rows, f->cols, info));
  f->numeric  = f->symmetric ? F->ops->choleskyfactornumeric : F->ops->lufactornumeric;
  f->symbolic = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatFactorNumeric_AMB(Mat, Mat, const MatFactorInfo *);

static void MatFactorAMBSetNumeric(Mat F, const MatFactorAMB *f)
{
  if (f->symmetric) F->ops->choleskyfactornumeric = MatFactorNumeric_AMB;
  else F->ops->lufactornumeric = MatFactorNumeric_AMB;
}

/* PETSc copies newer values from the GPU before it factors */
static PetscErrorCode MatFactorNumeric_AMB(Mat F, Mat A, const MatFactorInfo *info)
{
  const PetscScalar *a;
  MatFactorAMB      *f;
  FactorWhere        where;
  PetscBool          done = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(MatFactorAMBGet(F, &f));
  PetscCall(FactorGetWhere(&where));
  if (f->matrix) PetscCall(MatFactorAMBNumericDevice(F, A, f, info, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  if (!f->symbolic) {
    PetscCall(MatFactorAMBSymbolicPETSc(F, A, f, &f->info));
    MatFactorAMBSetNumeric(F, f);
  }
  PetscCall(MatSeqAIJGetArrayRead(A, &a));
  PetscCall(MatSeqAIJRestoreArrayRead(A, &a));
  if (f->device) { /* the numeric phase of ICC does not set all of them */
    F->ops->solve          = f->solve[0];
    F->ops->solvetranspose = f->solve[1];
    F->ops->matsolve       = f->matsolve;
  }
  PetscCall((*f->numeric)(F, A, info));
  f->solve[0] = F->ops->solve;
  f->solve[1] = F->ops->solvetranspose;
  f->matsolve = F->ops->matsolve;
  f->device   = PETSC_FALSE;
  PetscCall(MatFactorAMBSetUpDevice(F, A, f, where));
  if (!f->device) PetscCall(MatFactorAMBSetUpHost(F, f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatFactorAMBSymbolic(Mat F, Mat A, IS rows, IS cols, const MatFactorInfo *info)
{
  MatFactorAMB *f;
  FactorWhere   where;
  PetscBool     done = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(MatFactorAMBGet(F, &f));
  PetscCall(FactorGetWhere(&where));
  MatFactorAMBResetDevice(f);
  FactorSolverDestroy(&f->solver);
  FactorNodesDestroy(&f->nodes);
  PetscCall(PetscObjectReference((PetscObject)rows));
  PetscCall(PetscObjectReference((PetscObject)cols));
  PetscCall(ISDestroy(&f->rows));
  PetscCall(ISDestroy(&f->cols));
  PetscCall(MatGetBlockSize(A, &f->bs));
  f->rows     = rows;
  f->cols     = cols;
  f->info     = *info;
  f->together = together;
  f->planned = f->declined = f->current = PETSC_FALSE;
  f->symbolic = f->complete = PETSC_FALSE;
  PetscCall(MatFactorAMBSymbolicDevice(F, A, f, info, where, &done));
  if (!done) PetscCall(MatFactorAMBSymbolicPETSc(F, A, f, info));
  MatFactorAMBSetNumeric(F, f);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatILUFactorSymbolic_AMB(Mat F, Mat A, IS rows, IS cols, const MatFactorInfo *info)
{
  PetscFunctionBegin;
  PetscCall(MatFactorAMBSymbolic(F, A, rows, cols, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatICCFactorSymbolic_AMB(Mat F, Mat A, IS perm, const MatFactorInfo *info)
{
  PetscFunctionBegin;
  PetscCall(MatFactorAMBSymbolic(F, A, perm, perm, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- operations ------------------------------------------------- */

static PetscErrorCode MatGetInfo_FactorAMB(Mat F, MatInfoType type, MatInfo *info)
{
  MatFactorAMB *f;

  PetscFunctionBegin;
  PetscCall(MatFactorAMBGet(F, &f));
  if (f->matrix && !f->symbolic) {
    PetscCall(PetscMemzero(info, sizeof(*info)));
    info->block_size   = 1;
    info->nz_allocated = info->nz_used = (PetscLogDouble)f->entries;
    info->fill_ratio_given             = f->info.fill;
    info->fill_ratio_needed            = (PetscLogDouble)f->fill;
  } else PetscCall((*f->getinfo)(F, type, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGetDiagonal_FactorAMB(Mat F, Vec d)
{
  MatFactorAMB *f;

  PetscFunctionBegin;
  PetscCall(MatFactorAMBGet(F, &f));
  PetscCall(MatFactorAMBComplete(F, f));
  PetscCall((*f->getdiagonal)(F, d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGetInertia_FactorAMB(Mat F, PetscInt *negative, PetscInt *zero, PetscInt *positive)
{
  MatFactorAMB *f;

  PetscFunctionBegin;
  PetscCall(MatFactorAMBGet(F, &f));
  PetscCall(MatFactorAMBComplete(F, f));
  PetscCall((*f->getinertia)(F, negative, zero, positive));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatView_FactorAMB(Mat F, PetscViewer viewer)
{
  MatFactorAMB     *f;
  PetscViewerFormat format;
  PetscBool         info;

  PetscFunctionBegin;
  PetscCall(MatFactorAMBGet(F, &f));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &info));
  if (info) {
    PetscCall(PetscViewerGetFormat(viewer, &format));
    info = (PetscBool)(format == PETSC_VIEWER_ASCII_INFO || format == PETSC_VIEWER_ASCII_INFO_DETAIL);
  }
  if (!info) PetscCall(MatFactorAMBComplete(F, f));
  if (!info || !f->matrix || f->complete) PetscCall((*f->view)(F, viewer));
  if (!info) PetscFunctionReturn(PETSC_SUCCESS);
  if (f->matrix) PetscCall(PetscViewerASCIIPrintf(viewer, "made on the GPU\n"));
  if (f->planned)
    PetscCall(PetscViewerASCIIPrintf(viewer, "solves on the %s: %" PetscInt_FMT " and %" PetscInt_FMT " levels, expected %.3g ms on the GPU, %.3g ms on the host\n", f->device ? "GPU" : "host", f->levels[0], f->levels[1], 1e3 * f->seconds[1], 1e3 * f->seconds[0]));
  if (f->current) PetscCall(PetscViewerASCIIPrintf(viewer, "solves in windows of rows sorted by level\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatFactorGetSolverType_AMB(Mat F, MatSolverType *type)
{
  PetscFunctionBegin;
  *type = MATSOLVERAMB;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   MATSOLVERAMB - "amb" - factors of PETSc for `PCILU` and `PCICC` that are solved with on the GPU

   Level: intermediate

   Options Database Keys:
+  -pc_factor_mat_solver_type amb        - use this package
-  -petscamb_factor (petsc|model|device) - `petsc`: other packages are the default; `model` (default): this one is for matrices of petsc-amb on a GPU; `device`: and solves are always on the GPU, not where a model expects the shorter time

   Notes:
   The GPU makes factors of a matrix of type `MATSEQAIJCUSPARSE`, in the given ordering; PETSc makes patterns with fill, and factors in which a pivot is to be shifted or reported,
   on the host. ILU(k) has the bits of `MATSOLVERPETSC` where that was compiled without fused operations; ICC(k) on the GPU adds in another order. For a matrix of
   type `MATSEQAIJCUSPARSE`, whether of petsc-amb or not, a solve is two kernels, for which the host does not wait: `MatSolve()`, `MatSolveTranspose()`, `MatSolveAdd()` and
   `MatMatSolve()`. Sums have the order of the columns, so that each run gives the same bits.

   The time of a solve grows with the number of levels, where the level of a row is the length of the longest chain of rows that it depends on. The ordering
   `MATORDERINGAMBCOLOR` makes few levels.

   For a matrix on the host only `MatSolve()` differs from `MATSOLVERPETSC`. After some solves with a factor in the natural order, it reads a second copy of the factor, in
   which rows that do not depend on one another follow each other. The order of sums, and so the bits of the result, are PETSc's.

   Example:
.vb
   bin/solve -f matrix.mtx -mat_type amb -ksp_type cg -pc_type icc -pc_factor_mat_solver_type amb
.ve

.seealso: `MATORDERINGAMBCOLOR`, `MATAMB`, `PCAMBINVERSE`
M*/
static PetscErrorCode MatGetFactor_seqaij_amb(Mat A, MatFactorType ftype, Mat *F)
{
  MatFactorAMB *f;

  PetscFunctionBegin;
  PetscCall(MatGetFactor(A, MATSOLVERPETSC, ftype, F));
  if (!*F) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&f));
  PetscCall(PetscAMBObjectContainerCompose((PetscObject)*F, FACTOR_NAME, f, MatFactorAMBDestroy));
  f->symmetric   = (PetscBool)(ftype == MAT_FACTOR_ICC);
  f->solve[0]    = (*F)->ops->solve;
  f->solve[1]    = (*F)->ops->solvetranspose;
  f->matsolve    = (*F)->ops->matsolve;
  f->ilusymbolic = (*F)->ops->ilufactorsymbolic;
  f->iccsymbolic = (*F)->ops->iccfactorsymbolic;
  f->view        = (*F)->ops->view;
  if (f->symmetric) (*F)->ops->iccfactorsymbolic = MatICCFactorSymbolic_AMB;
  else (*F)->ops->ilufactorsymbolic = MatILUFactorSymbolic_AMB;
  f->getinfo         = (*F)->ops->getinfo;
  f->getdiagonal     = (*F)->ops->getdiagonal;
  f->getinertia      = (*F)->ops->getinertia;
  (*F)->ops->view    = MatView_FactorAMB;
  (*F)->ops->getinfo = MatGetInfo_FactorAMB;
  if (f->getdiagonal) (*F)->ops->getdiagonal = MatGetDiagonal_FactorAMB;
  if (f->getinertia) (*F)->ops->getinertia = MatGetInertia_FactorAMB;
  PetscCall(PetscFree((*F)->solvertype));
  PetscCall(PetscStrallocpy(MATSOLVERAMB, &(*F)->solvertype));
  PetscCall(PetscObjectComposeFunction((PetscObject)*F, "MatFactorGetSolverType_C", MatFactorGetSolverType_AMB));
  PetscFunctionReturn(PETSC_SUCCESS);
}

extern PetscErrorCode FactorRegister(void);
PetscErrorCode        FactorRegister(void)
{
  PetscInt k = FACTOR_MODEL;

  PetscFunctionBegin;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "petsc-amb, factors", "Mat");
  PetscCall(PetscOptionsEList("-petscamb_factor", "On a GPU, PCILU and PCICC have the solver type amb by default: no, yes, yes with all solves on the GPU", "MATSOLVERAMB", where_names, PETSC_STATIC_ARRAY_LENGTH(where_names), where_names[k], &k, NULL));
  PetscOptionsEnd();
  PetscCall(MatSolverTypeRegister(MATSOLVERAMB, MATSEQAIJ, MAT_FACTOR_ILU, MatGetFactor_seqaij_amb));
  PetscCall(MatSolverTypeRegister(MATSOLVERAMB, MATSEQAIJ, MAT_FACTOR_ICC, MatGetFactor_seqaij_amb));
  PetscFunctionReturn(PETSC_SUCCESS);
}
