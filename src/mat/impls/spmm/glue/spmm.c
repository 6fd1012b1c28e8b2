/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The MatProduct algorithm "spmm": A B and A^T B with A sparse and B dense, on one process or several.

   The symbolic phase creates the dense result and the data of A's pattern. The numeric phase reads the values of A and B where PETSc stores them, on
   the host (spmmhost.c) or on a device (spmmdevice.c). Several processes exchange whole rows of a panel of B, or of the result of A^T B.
*/
#include "sys/systhreads.h"
#include "mat/impls/spmm/glue/spmm.h"

#define SPMM_COLUMNS 5 /* columns from which on one thread beats PETSc; 1 column and several threads always run here */

PetscLogEvent MAT_SpmmSymbolic, MAT_SpmmNumeric;

static PetscBool  SpmmCited      = PETSC_FALSE;
static const char SpmmCitation[] = "@inproceedings{hong2019adaptive,\n"
                                   "  title     = {Adaptive sparse tiling for sparse matrix multiplication},\n"
                                   "  author    = {Changwan Hong and Aravind Sukumaran-Rajam and Israt Nisa and Kunal Singh and P. Sadayappan},\n"
                                   "  booktitle = {Proceedings of the 24th Symposium on Principles and Practice of Parallel Programming (PPoPP)},\n"
                                   "  year      = {2019}\n}\n";

PetscErrorCode SpmmCite(void)
{
  PetscFunctionBegin;
  PetscCall(PetscCitationsRegister(SpmmCitation, &SpmmCited));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- operands ------------------------------------------------- */

PetscErrorCode SpmmGetSeen(Mat A, SpmmSeen *seen)
{
  Mat             block[2];
  const PetscInt *garray;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(seen, sizeof(*seen)));
  PetscCall(PetscObjectGetId((PetscObject)A, &seen->id));
  seen->nonzerostate = A->nonzerostate;
  PetscCall(MatAIJGetBlocks(A, block, &garray));
  for (int k = 0; k < 2 && block[k]; k++) {
    SysCSR csr;

    PetscCall(MatAIJGetPattern(block[k], &csr));
    seen->i[k]      = csr.i;
    seen->device[k] = MatAIJValuesOnDevice(block[k]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool SpmmSeenSame(const SpmmSeen *s, const SpmmSeen *t)
{
  PetscBool same = (PetscBool)(s->id == t->id && s->nonzerostate == t->nonzerostate);

  for (int k = 0; k < 2; k++) same = (PetscBool)(same && s->i[k] == t->i[k] && s->device[k] == t->device[k]);
  return same;
}

/* The user may have replaced the operands after the symbolic phase */
static PetscErrorCode SpmmCheckSizes(PetscBool transpose, Mat A, Mat B, Mat C)
{
  const PetscLayout inner = transpose ? A->rmap : A->cmap, rows = transpose ? A->cmap : A->rmap;

  PetscFunctionBegin;
  PetscCheck(inner->n == B->rmap->n && inner->N == B->rmap->N, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "%s: the sparse matrix has %" PetscInt_FMT " local %s of %" PetscInt_FMT ", the dense matrix %" PetscInt_FMT " local rows of %" PetscInt_FMT, MatProductTypes[transpose ? MATPRODUCT_AtB : MATPRODUCT_AB],
             inner->n, transpose ? "rows" : "columns", inner->N, B->rmap->n, B->rmap->N);
  PetscCheck(rows->n == C->rmap->n && rows->N == C->rmap->N && B->cmap->N == C->cmap->N, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "%s: the product has %" PetscInt_FMT " x %" PetscInt_FMT " entries, its matrix %" PetscInt_FMT " x %" PetscInt_FMT "; operands may only be replaced by others of the same sizes", MatProductTypes[transpose ? MATPRODUCT_AtB : MATPRODUCT_AB],
             rows->N, B->cmap->N, C->rmap->N, C->cmap->N);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- product data ------------------------------------------------- */

static PetscErrorCode SpmmReset(SpmmProduct *p)
{
  PetscFunctionBegin;
  PetscCall(PetscSFDestroy(&p->sf));
  PetscCall(SpmmHostReset(&p->host));
  PetscCall(SpmmOnDeviceReset(&p->device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SpmmFree(SpmmProduct *p)
{
  PetscFunctionBegin;
  if (p->product->alg) { /* later operands of this product may not support "spmm" */
    PetscCall(PetscFree(p->product->alg));
    PetscCall(PetscStrallocpy(MATPRODUCTALGORITHMDEFAULT, &p->product->alg));
  }
  PetscCall(SpmmReset(p));
  PetscCall(PetscFree(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SpmmDestroy(PetscAMBProductArgument arg)
{
  PetscFunctionBegin;
  PetscCall(SpmmFree((SpmmProduct *)PetscAMBProductGet(arg)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the data of A's pattern: on the device if A is there and memory suffices on all processes, else on the host. A single column becomes
   MatMult(). */
static PetscErrorCode SpmmMake(PetscBool transpose, Mat A, Mat B, Mat C, SpmmProduct *p)
{
  const PetscBool cusparse = MatAIJIsCUSPARSE(A);
  const PetscInt *garray, *degree = NULL;
  PetscMPIInt     worst;
  Mat             block[2];
  PetscBool       done = PETSC_FALSE;
  SysStatus       status;

  PetscFunctionBegin;
  PetscCall(SpmmReset(p));
  PetscCall(SpmmGetSeen(A, &p->seen));
  p->lacked = PETSC_FALSE;
  if (C->cmap->N <= 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatAIJGetBlocks(A, block, &garray));
  if (block[1]) {
    PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)C), &p->sf));
    PetscCall(PetscSFSetRankOrder(p->sf, PETSC_TRUE));
    PetscCall(PetscSFSetGraphLayout(p->sf, A->cmap, block[1]->cmap->n, NULL, PETSC_COPY_VALUES, garray));
    if (cusparse && transpose) {
      PetscCall(PetscSFComputeDegreeBegin(p->sf, &degree));
      PetscCall(PetscSFComputeDegreeEnd(p->sf, &degree));
    }
  }
  if (cusparse) {
    if (p->seen.device[0] && (!block[1] || p->seen.device[1])) PetscCall(SpmmOnDeviceMake(transpose, block, degree, B, C, p, &done));
    worst = done ? 0 : 1;
    if (block[1]) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)C)));
    if (!worst) PetscFunctionReturn(PETSC_SUCCESS);
    p->lacked = p->seen.device[0];
    PetscCall(SpmmOnDeviceReset(&p->device));
    PetscCall(PetscInfo(C, "The product runs on the host: the matrix is not on the GPU, or its memory does not suffice\n"));
  }
  PetscCall(SpmmHostMake(transpose, block, B, C, p, &status));
  worst = (PetscMPIInt)status;
  if (block[1]) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)C)));
  PetscCheck(worst == SYS_SUCCESS, PetscObjectComm((PetscObject)C), PETSC_ERR_MEM, "Not enough memory for a product with a dense matrix: multiply fewer columns at a time, or use PETSc's algorithm, -matmatmult_via default");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- products ------------------------------------------------- */

static PetscErrorCode SpmmColumn(PetscBool transpose, Mat A, Mat B, Mat C)
{
  Vec x, y;

  PetscFunctionBegin;
  PetscCall(MatDenseGetColumnVecRead(B, 0, &x));
  PetscCall(MatDenseGetColumnVecWrite(C, 0, &y));
  if (transpose) PetscCall(MatMultTranspose(A, x, y));
  else PetscCall(MatMult(A, x, y));
  PetscCall(MatDenseRestoreColumnVecWrite(C, 0, &y));
  PetscCall(MatDenseRestoreColumnVecRead(B, 0, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SpmmNumeric(PetscBool transpose, Mat A, Mat B, Mat C)
{
  SpmmProduct   *p = (SpmmProduct *)C->product->data;
  SpmmSeen       seen;
  PetscMPIInt    changed;
  PetscLogDouble since;

  PetscFunctionBegin;
  PetscCall(SpmmCheckSizes(transpose, A, B, C));
  PetscCall(PetscLogEventBegin(MAT_SpmmNumeric, C, 0, 0, 0));
  PetscCall(MatShadowReportProductBegin(&since));
  PetscCall(SpmmGetSeen(A, &seen));
  changed = !SpmmSeenSame(&seen, &p->seen);
  if (p->sf) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &changed, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)C)));
  if (changed) PetscCall(SpmmMake(transpose, A, B, C, p));
  if (C->cmap->N == 1) PetscCall(SpmmColumn(transpose, A, B, C));
  else if (p->device) PetscCall(SpmmOnDeviceMult(transpose, A, B, C, p));
  else PetscCall(SpmmHostMult(transpose, A, B, C, p));
  PetscCall(MatShadowReportProductEnd(C, since, p->made ? MAT_SHADOW_PRODUCT_RENEWED : MAT_SHADOW_PRODUCT_UNCOUNTED));
  p->made = PETSC_TRUE;
  PetscCall(PetscLogEventEnd(MAT_SpmmNumeric, C, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMatMultNumeric_Spmm(Mat A, Mat B, Mat C)
{
  PetscFunctionBegin;
  PetscCall(SpmmNumeric(PETSC_FALSE, A, B, C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatTransposeMatMultNumeric_Spmm(Mat A, Mat B, Mat C)
{
  PetscFunctionBegin;
  PetscCall(SpmmNumeric(PETSC_TRUE, A, B, C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatProductNumeric_Spmm(Mat C)
{
  PetscFunctionBegin;
  PetscCall(SpmmNumeric((PetscBool)(C->product->type == MATPRODUCT_AtB), C->product->A, C->product->B, C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the result's sizes, type and block sizes as PETSc does. On one process a new result is on the device if A is, whatever B is. PETSc sets block
   sizes in A B on several processes, but not in A^T B, nor for a matrix of several processes on one process with a sequential dense one. PETSc copies
   the symmetry flag in the same products, and since 3.21 in every product on several processes. */
static PetscErrorCode SpmmInherit(PetscBool transpose, Mat A, Mat B, Mat C)
{
  const PetscLayout rows = transpose ? A->cmap : A->rmap;
  PetscBool         dense, mpi, both, device, likeb;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)C, &dense, MATSEQDENSE, MATMPIDENSE, ""));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)B, MATMPIDENSE, &both));
  both = (PetscBool)(mpi && both);
  PetscCall(PetscObjectTypeCompareAny((PetscObject)B, &likeb, MATSEQDENSECUDA, MATMPIDENSECUDA, ""));
  device = (PetscBool)(!mpi && MatAIJValuesOnDevice(A));
  likeb  = (PetscBool)(likeb || !device);
  PetscCall(MatSetSizes(C, rows->n, B->cmap->n, rows->N, B->cmap->N));
  if (!dense) {
    PetscCall(MatSetType(C, likeb ? ((PetscObject)B)->type_name : MATSEQDENSECUDA));
    if (likeb) PetscCall(MatSetVecType(C, B->defaultvectype));
  }
  if ((both || device) && !transpose) PetscCall(MatSetBlockSizesFromMats(C, A, B));
  else if (device) {
    if (A->cmap->bs > 0) PetscCall(PetscLayoutSetBlockSize(C->rmap, A->cmap->bs));
    if (B->cmap->bs > 0) PetscCall(PetscLayoutSetBlockSize(C->cmap, B->cmap->bs));
  }
  PetscCall(MatSetUp(C));
  if (mpi && (!PETSC_VERSION_LT(3, 21, 0) || (both && !transpose))) PetscCall(MatSetOption(C, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
  PetscCall(MatAssemblyBegin(C, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(C, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc computes a triple product with a dense operand in two steps, and selects the numeric phase of the last by its operands */
PetscErrorCode MatProductSymbolic_Spmm(Mat C)
{
  Mat_Product    *product   = C->product;
  const PetscBool transpose = (PetscBool)(product->type == MATPRODUCT_AtB);
  SpmmProduct    *p;
  PetscLogDouble  since;
  PetscBool       leave;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(MAT_SpmmSymbolic, C, 0, 0, 0));
  PetscCall(MatShadowReportProductBegin(&since));
  PetscCall(SpmmCite());
  PetscCall(SpmmInherit(transpose, product->A, product->B, C));
  PetscCall(SpmmCheckSizes(transpose, product->A, product->B, C));
  PetscCall(PetscNew(&p));
  p->product              = product;
  product->data           = p;
  product->destroy        = SpmmDestroy;
  C->ops->productsymbolic = MatProductSymbolic_Spmm;
  C->ops->productnumeric  = MatProductNumeric_Spmm;
  if (transpose) C->ops->transposematmultnumeric = MatTransposeMatMultNumeric_Spmm;
  else C->ops->matmultnumeric = MatMatMultNumeric_Spmm;
  PetscCall(SpmmMake(transpose, product->A, product->B, C, p));
  leave = (PetscBool)(p->lacked && !p->sf); /* PETSc's device product needs less memory */
  if (leave) {
    product->data    = NULL;
    product->destroy = NULL;
    PetscCall(SpmmFree(p));
  }
  PetscCall(MatShadowReportProductEnd(C, since, leave ? MAT_SHADOW_PRODUCT_UNCOUNTED : MAT_SHADOW_PRODUCT_CREATED));
  PetscCall(PetscLogEventEnd(MAT_SpmmSymbolic, C, 0, 0, 0));
  if (leave) {
    PetscCall(MatProductDecline(C, "the GPU has not enough memory for panels of the dense matrix"));
    PetscCall((*C->ops->productsymbolic)(C));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- dispatch ------------------------------------------------- */

/* Sets *supported for A B and A^T B of real numbers, if A has a shadow and the rows of B are distributed as A's columns, or rows. On the host with one
   thread, PETSc multiplies two to four columns: it reads them in place and is as fast. A dense matrix on a device with a sparse one there runs
   there. Collective: all processes get the same result. */
static PetscErrorCode SpmmSupports(Mat C, PetscBool *supported)
{
  const Mat              A = C->product->A, B = C->product->B;
  const MatShadowFormat *format;
  PetscLayout            inner;
  PetscBool              dense, mpi, bound, device;

  PetscFunctionBegin;
  *supported = PETSC_FALSE;
  if (PetscDefined(USE_COMPLEX) || (C->product->type != MATPRODUCT_AB && C->product->type != MATPRODUCT_AtB)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatBoundToCPU(A, &bound));
  device = (PetscBool)(MatAIJIsCUSPARSE(A) && !bound);
  PetscCall(PetscObjectTypeCompareAny((PetscObject)B, &dense, MATSEQDENSE, MATMPIDENSE, device ? MATSEQDENSECUDA : "", MATMPIDENSECUDA, ""));
  PetscCall(MatShadowGetFormat(A, &format));
  if (!dense || !format) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)B, MATMPIDENSE, &mpi));
  if (!device && B->cmap->N > 1 && B->cmap->N < SPMM_COLUMNS && (mpi || SysThreads() == 1)) PetscFunctionReturn(PETSC_SUCCESS);
  inner      = C->product->type == MATPRODUCT_AB ? A->cmap : A->rmap;
  *supported = (PetscBool)(inner->rstart == B->rmap->rstart && inner->rend == B->rmap->rend); /* PETSc reports the error */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SpmmTake(Mat C)
{
  PetscFunctionBegin;
  C->ops->productsymbolic = MatProductSymbolic_Spmm;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const MatProductProvider MatProductProviderSpmm = {MATPRODUCTALGORITHMSPMM, SpmmSupports, SpmmTake};

PetscErrorCode SpmmRegister(void)
{
  PetscBool help;

  PetscFunctionBegin;
  PetscCall(PetscOptionsHasHelp(NULL, &help));
  if (help) { /* documented for products on a GPU */
    PetscInt tiles = 0;

    PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "petsc-amb, products with dense matrices", "Mat");
    PetscCall(PetscOptionsInt("-mat_spmm_tiles", "On a GPU, the least number of entries in 32 rows for which a column gets a tile; 0: no tiles", "MatProductSymbolic", tiles, &tiles, NULL));
    PetscOptionsEnd();
  }
  PetscCall(PetscLogEventRegister("MatSpMMSymbolic", MAT_CLASSID, &MAT_SpmmSymbolic));
  PetscCall(PetscLogEventRegister("MatSpMMNumeric", MAT_CLASSID, &MAT_SpmmNumeric));
  PetscCall(PetscLogEventRegister("MatSDDMM", MAT_CLASSID, &MAT_Sddmm));
  PetscCall(MatProductProviderRegister(&MatProductProviderSpmm));
  PetscFunctionReturn(PETSC_SUCCESS);
}
