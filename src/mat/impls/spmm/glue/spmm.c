/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The algorithm "spmm" of MatProduct: A B and A^T B, where A is sparse and B is dense, on one process or several.

   The symbolic phase makes the dense result, and prepares what depends on the pattern of A alone. The numeric phase reads the values of A and B where PETSc
   has them. Several processes exchange whole rows of a panel of B, or of the result of A^T B.
*/
#include "sys/sysmemory.h"
#include "sys/systhreads.h"
#include "mat/impls/spmm/glue/spmm.h"

#define SPMM_COLUMNS 5 /* fewer columns are left to PETSc, but for one column and for several threads of one process */

PetscLogEvent MAT_SpmmSymbolic, MAT_SpmmNumeric;

/* ------------------------------------------------- operands ------------------------------------------------- */

PetscErrorCode SpmmGetBlocks(Mat A, Mat block[2], const PetscInt **garray)
{
  PetscBool mpi;

  PetscFunctionBegin;
  block[0] = A;
  block[1] = NULL;
  *garray  = NULL;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  if (mpi) PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], garray));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmmGetCSR(Mat block, SysCSR *csr)
{
  const PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(MatShadowGetPattern(block, csr));
  PetscCall(MatSeqAIJGetArrayRead(block, &a));
  csr->a = a;
  PetscCall(MatSeqAIJRestoreArrayRead(block, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SpmmLook(Mat A, SpmmSeen *seen)
{
  Mat             block[2];
  const PetscInt *garray;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(seen, sizeof(*seen)));
  PetscCall(PetscObjectGetId((PetscObject)A, &seen->id));
  seen->nonzerostate = A->nonzerostate;
  PetscCall(SpmmGetBlocks(A, block, &garray));
  for (int k = 0; k < 2 && block[k]; k++) {
    SysCSR csr;

    PetscCall(MatShadowGetPattern(block[k], &csr));
    seen->i[k] = csr.i;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Operands may have been replaced since the symbolic phase */
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

/* ------------------------------------------------- memory ------------------------------------------------- */

PetscErrorCode SpmmMemoryCreate(size_t numbers, SpmmMemory *memory, SysStatus *status)
{
  PetscFunctionBegin;
  memory->bytes = numbers * sizeof(SysReal);
  memory->a     = SysAllocate(memory->bytes);
  if (!memory->a) *status = SYS_OUT_OF_MEMORY;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmmMemoryDestroy(SpmmMemory *memory)
{
  PetscFunctionBegin;
  SysRelease(memory->a, memory->bytes);
  PetscCall(PetscMemzero(memory, sizeof(*memory)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SpmmReset(SpmmProduct *p)
{
  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) SpmmTransposedDestroy(&p->transposed[k]);
  PetscCall(PetscSFDestroy(&p->sf));
  PetscCall(SpmmMemoryDestroy(&p->panel));
  PetscCall(SpmmMemoryDestroy(&p->ghost));
  PetscCall(SpmmMemoryDestroy(&p->result));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SpmmDestroy(PetscAMBProductArgument arg)
{
  SpmmProduct *p = (SpmmProduct *)PetscAMBProductGet(arg);

  PetscFunctionBegin;
  if (p->product->alg) { /* the product goes on: other operands may not know "spmm" */
    PetscCall(PetscFree(p->product->alg));
    PetscCall(PetscStrallocpy(MATPRODUCTALGORITHMDEFAULT, &p->product->alg));
  }
  PetscCall(SpmmReset(p));
  PetscCall(PetscFree(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prepares what depends on the pattern of A. One column is multiplied as a vector. */
static PetscErrorCode SpmmMake(PetscBool transpose, Mat A, Mat B, Mat C, SpmmProduct *p)
{
  const PetscInt *garray;
  SysStatus       status = SYS_SUCCESS;
  SysCSR          csr[2];
  PetscMPIInt     worst;
  Mat             block[2];
  int             width;

  PetscFunctionBegin;
  PetscCall(SpmmReset(p));
  PetscCall(SpmmLook(A, &p->seen));
  if (C->cmap->N <= 1) PetscFunctionReturn(PETSC_SUCCESS);
  p->nthread = SysThreads();
  (void)SpmmPanelColumns(C->cmap->N, &width);
  PetscCall(SpmmGetBlocks(A, block, &garray));
  for (int k = 0; k < 2 && block[k]; k++) {
    PetscCall(MatShadowGetPattern(block[k], &csr[k]));
    if (transpose) status = (SysStatus)PetscMax(status, SpmmTranspose(&csr[k], &p->transposed[k]));
  }
  if (block[1]) {
    PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)C), &p->sf));
    PetscCall(PetscSFSetGraphLayout(p->sf, A->cmap, (PetscInt)csr[1].n, NULL, PETSC_COPY_VALUES, garray));
    PetscCall(SpmmMemoryCreate((size_t)csr[1].n * (size_t)width, &p->ghost, &status));
    if (transpose) PetscCall(SpmmMemoryCreate((size_t)csr[0].n * (size_t)width, &p->result, &status));
  } else if (status == SYS_SUCCESS) p->ring = transpose ? SpmmRing(csr[0].n, csr[0].m, p->transposed[0].i, p->transposed[0].j) : SpmmRing(csr[0].m, csr[0].n, csr[0].i, csr[0].j);
  PetscCall(SpmmMemoryCreate((size_t)(p->ring ? p->nthread * SpmmRingSize(p->ring, width) : B->rmap->n * (int64_t)width), &p->panel, &status));
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

/* Some columns of the product: those that one panel has */
static PetscErrorCode SpmmPanel(PetscBool transpose, Mat C, const SpmmProduct *p, const SpmmTerm term[2], int64_t n, int64_t nghost, int ncol, int width, SysReal *c, PetscInt ldc)
{
  const int64_t m = C->rmap->n;
  MPI_Datatype  row;

  PetscFunctionBegin;
  if (!p->ring) SpmmPack(p->nthread, n, ncol, width, term[0].columns, term[0].ld, p->panel.a);
  if (!p->sf) {
    SpmmMult(p->nthread, m, term, 1, ncol, width, c, ldc);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallMPI(MPI_Type_contiguous(width, MPIU_REAL, &row));
  PetscCallMPI(MPI_Type_commit(&row));
  if (transpose) {
    SpmmMult(p->nthread, nghost, &term[1], 1, ncol, width, p->ghost.a, 0);
    SpmmMult(p->nthread, m, &term[0], 1, ncol, width, p->result.a, 0);
    PetscCall(PetscSFReduceBegin(p->sf, row, p->ghost.a, p->result.a, MPIU_SUM));
    PetscCall(PetscSFReduceEnd(p->sf, row, p->ghost.a, p->result.a, MPIU_SUM));
    SpmmUnpack(p->nthread, m, ncol, width, p->result.a, c, ldc);
  } else {
    PetscCall(PetscSFBcastBegin(p->sf, row, p->panel.a, p->ghost.a, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(p->sf, row, p->panel.a, p->ghost.a, MPI_REPLACE));
    SpmmMult(p->nthread, m, term, 2, ncol, width, c, ldc);
  }
  PetscCallMPI(MPI_Type_free(&row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SpmmPanels(PetscBool transpose, Mat A, Mat B, Mat C, const SpmmProduct *p)
{
  const PetscInt    *garray;
  const PetscScalar *b;
  PetscScalar       *c;
  PetscInt           ldb, ldc;
  Mat                block[2];
  SysCSR             csr[2] = {{0}};
  SpmmTerm           term[2];
  int                width;

  PetscFunctionBegin;
  PetscCall(SpmmGetBlocks(A, block, &garray));
  PetscCall(MatDenseGetLDA(B, &ldb));
  PetscCall(MatDenseGetLDA(C, &ldc));
  PetscCall(MatDenseGetArrayRead(B, &b));
  PetscCall(MatDenseGetArrayWrite(C, &c));
  for (int k = 0; k < 2 && block[k]; k++) {
    const SpmmTransposed *T = &p->transposed[k];

    PetscCall(SpmmGetCSR(block[k], &csr[k]));
    term[k]       = (SpmmTerm){.i = csr[k].i, .j = csr[k].j, .a = (const SysReal *)csr[k].a, .n = B->rmap->n, .ring = p->ring, .ld = ldb, .panel = k && !transpose ? p->ghost.a : p->panel.a};
    term[k].place = transpose ? T->place : NULL;
    if (transpose) {
      term[k].i = T->i;
      term[k].j = T->j;
    }
  }
  for (PetscInt col = 0; col < C->cmap->N; col += SpmmPanelColumns(C->cmap->N - col, &width)) {
    const int ncol = SpmmPanelColumns(C->cmap->N - col, &width);

    term[0].columns = (const SysReal *)b + (int64_t)col * ldb;
    PetscCall(SpmmPanel(transpose, C, p, term, B->rmap->n, csr[1].n, ncol, width, (SysReal *)c + (int64_t)col * ldc, ldc));
  }
  PetscCall(MatDenseRestoreArrayWrite(C, &c));
  PetscCall(MatDenseRestoreArrayRead(B, &b));
  PetscCall(PetscLogFlops(2.0 * (double)(csr[0].nz + csr[1].nz) * (double)C->cmap->N));
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
  PetscCall(SpmmLook(A, &seen));
  changed = seen.id != p->seen.id || seen.nonzerostate != p->seen.nonzerostate || seen.i[0] != p->seen.i[0] || seen.i[1] != p->seen.i[1];
  if (p->sf) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &changed, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)C)));
  if (changed) PetscCall(SpmmMake(transpose, A, B, C, p));
  if (C->cmap->N == 1) PetscCall(SpmmColumn(transpose, A, B, C));
  else PetscCall(SpmmPanels(transpose, A, B, C, p));
  PetscCall(MatShadowReportProductEnd(C, since, PETSC_TRUE));
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

/* The result gets sizes and type as PETSc gives it these */
static PetscErrorCode SpmmInherit(PetscBool transpose, Mat A, Mat B, Mat C)
{
  const PetscLayout rows = transpose ? A->cmap : A->rmap;
  PetscBool         dense, mpi;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)C, &dense, MATSEQDENSE, MATMPIDENSE, ""));
  PetscCall(MatSetSizes(C, rows->n, B->cmap->n, rows->N, B->cmap->N));
  if (!dense) {
    PetscCall(MatSetType(C, ((PetscObject)B)->type_name));
    PetscCall(MatSetVecType(C, B->defaultvectype));
  }
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  if (mpi && !transpose) PetscCall(MatSetBlockSizesFromMats(C, A, B));
  PetscCall(MatSetUp(C));
  if (mpi) PetscCall(MatSetOption(C, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
  PetscCall(MatAssemblyBegin(C, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(C, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc makes a triple product with a dense operand in two steps, and calls the numeric phase of the last step by its operands */
PetscErrorCode MatProductSymbolic_Spmm(Mat C)
{
  Mat_Product    *product   = C->product;
  const PetscBool transpose = (PetscBool)(product->type == MATPRODUCT_AtB);
  SpmmProduct    *p;
  PetscLogDouble  since;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(MAT_SpmmSymbolic, C, 0, 0, 0));
  PetscCall(MatShadowReportProductBegin(&since));
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
  PetscCall(MatShadowReportProductEnd(C, since, PETSC_FALSE));
  PetscCall(PetscLogEventEnd(MAT_SpmmSymbolic, C, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- dispatch ------------------------------------------------- */

/* A B and A^T B of real numbers on the host: A has a shadow, and the rows of B lie where the columns, or the rows, of A do. One thread multiplies two to four
   columns no faster than PETSc, which reads them in place. All processes decide the same. */
static PetscErrorCode SpmmServes(Mat C, PetscBool *serves)
{
  const Mat              A = C->product->A, B = C->product->B;
  const MatShadowFormat *format;
  PetscLayout            inner;
  PetscBool              dense, mpi;

  PetscFunctionBegin;
  *serves = PETSC_FALSE;
  if (PetscDefined(USE_COMPLEX) || (C->product->type != MATPRODUCT_AB && C->product->type != MATPRODUCT_AtB)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompareAny((PetscObject)B, &dense, MATSEQDENSE, MATMPIDENSE, ""));
  PetscCall(MatShadowGetFormat(A, &format));
  if (!dense || !format || MatShadowIsCUSPARSE(A)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompare((PetscObject)B, MATMPIDENSE, &mpi));
  if (B->cmap->N > 1 && B->cmap->N < SPMM_COLUMNS && (mpi || SysThreads() == 1)) PetscFunctionReturn(PETSC_SUCCESS);
  inner   = C->product->type == MATPRODUCT_AB ? A->cmap : A->rmap;
  *serves = (PetscBool)(inner->rstart == B->rmap->rstart && inner->rend == B->rmap->rend); /* PETSc reports the error */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SpmmTake(Mat C)
{
  PetscFunctionBegin;
  C->ops->productsymbolic = MatProductSymbolic_Spmm;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const MatProductProvider MatProductProviderSpmm = {MATPRODUCTALGORITHMSPMM, SpmmServes, SpmmTake};

PetscErrorCode SpmmRegister(void)
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventRegister("MatSpMMSymbolic", MAT_CLASSID, &MAT_SpmmSymbolic));
  PetscCall(PetscLogEventRegister("MatSpMMNumeric", MAT_CLASSID, &MAT_SpmmNumeric));
  PetscCall(PetscLogEventRegister("MatSDDMM", MAT_CLASSID, &MAT_Sddmm));
  PetscCall(MatProductProviderRegister(&MatProductProviderSpmm));
  PetscFunctionReturn(PETSC_SUCCESS);
}
