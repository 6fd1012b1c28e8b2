/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The algorithm "hashgemm" of MatProduct: its phases, and products on one process.

   The symbolic phase makes the values too. PETSc asks for them right afterwards, and this first numeric phase has nothing to do. Later numeric phases
   compare the operands with the last ones: other values in the same pattern are multiplied in that pattern, while an operand with other entries means a
   new product.
*/
#include "sys/systhreads.h"
#include "mat/impls/hashgemm/glue/hashgemmparallel.h"

PetscLogEvent MAT_HashGEMMSymbolic, MAT_HashGEMMNumeric;

static PetscBool  HashGEMMCited      = PETSC_FALSE;
static const char HashGEMMCitation[] = "@article{nagasaka2019spgemm,\n"
                                       "  title   = {Performance optimization, modeling and analysis of sparse matrix-matrix products on multi-core and many-core processors},\n"
                                       "  author  = {Yusuke Nagasaka and Satoshi Matsuoka and Ariful Azad and Ayd{\\i}n Bulu{\\c{c}}},\n"
                                       "  journal = {Parallel Computing},\n"
                                       "  volume  = {90},\n"
                                       "  year    = {2019}\n}\n";

/* ------------------------------------------------- products on one process ------------------------------------------------- */

static PetscErrorCode HashGEMMSequentialSymbolic(Mat C, HashGEMMProduct *p)
{
  static const SpgemmType types[] = {SPGEMM_AB, SPGEMM_AB, SPGEMM_ATB, SPGEMM_ABT, SPGEMM_PTAP, SPGEMM_RART, SPGEMM_ABC}; /* by MatProductType */
  const SpgemmType        type    = types[C->product->type];
  SysCSR                  factor[3], csr;
  SpgemmInfo              info;
  SysStatus               status;
  PetscScalar            *a;
  int64_t                 m, n;
  PetscBool               done = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(HashGEMMDeviceSymbolic(C, type, p, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HashGEMMGetFactors(C, HashGEMMGetCSR, factor));
  status = SpgemmCreate(type, &factor[0], &factor[1], &factor[2], &p->options, &p->spgemm, &info);
  PetscCall(HashGEMMAgree(C, status, &info));
  SpgemmSize(type, &factor[0], &factor[1], &factor[2], &m, &n);
  PetscCall(HashGEMMPreallocate(C, p, m, n, SpgemmRowStarts(p->spgemm)));
  PetscCall(MatShadowGetPattern(C, &csr));
  PetscCall(MatSeqAIJGetArrayWrite(C, &a));
  status = SpgemmFill(p->spgemm, &factor[0], &factor[1], &factor[2], (PetscInt *)csr.i, (PetscInt *)csr.j, a);
  SpgemmGetInfo(p->spgemm, &info);
  PetscCall(MatSeqAIJRestoreArrayWrite(C, &a));
  MatShadowDeviceHostWritten(C);
  PetscCall(HashGEMMAgree(C, status, &info));
  PetscCall(HashGEMMReport(C, &info));
  if (csr.j) PetscCall(MatSeqAIJSetColumnIndices(C, (PetscInt *)csr.j)); /* the columns are in place: this call sets the lengths of the rows */
  PetscCall(MatAssemblyBegin(C, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(C, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetOption(C, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
  PetscCall(HashGEMMDeviceSettle(C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HashGEMMSequentialNumeric(Mat C, HashGEMMProduct *p)
{
  SysCSR       factor[3], csr;
  SpgemmInfo   info;
  SysStatus    status;
  PetscScalar *a;

  PetscFunctionBegin;
  if (p->device) {
    PetscCall(HashGEMMDeviceNumeric(C, p));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(HashGEMMGetFactors(C, HashGEMMGetCSR, factor));
  PetscCall(MatShadowGetPattern(C, &csr));
  PetscCall(MatSeqAIJGetArrayWrite(C, &a));
  status = SpgemmRevalue(p->spgemm, &factor[0], &factor[1], &factor[2], csr.i, csr.j, a);
  SpgemmGetInfo(p->spgemm, &info);
  PetscCall(MatSeqAIJRestoreArrayWrite(C, &a));
  MatShadowDeviceHostWritten(C);
  PetscCall(HashGEMMAgree(C, status, &info));
  PetscCall(PetscLogFlops(2 * info.products));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- phases ------------------------------------------------- */

static PetscErrorCode MatProductNumeric_HashGEMM(Mat);

static PetscErrorCode HashGEMMReset(HashGEMMProduct *p)
{
  PetscFunctionBegin;
  SpgemmDestroy(&p->spgemm);
  PetscCall(HashGEMMDeviceDestroy(p));
  PetscCall(HashGEMMParallelDestroy(&p->parallel));
  PetscCall(MatDestroy(&p->between));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HashGEMMDestroy(PetscAMBProductArgument arg)
{
  HashGEMMProduct *p = (HashGEMMProduct *)PetscAMBProductGet(arg);

  PetscFunctionBegin;
  if (p->product->alg) { /* the product goes on: PETSc looks for an algorithm for operands of another type, to which "hashgemm" may be unknown */
    PetscCall(PetscFree(p->product->alg));
    PetscCall(PetscStrallocpy(MATPRODUCTALGORITHMDEFAULT, &p->product->alg));
  }
  PetscCall(HashGEMMReset(p));
  PetscCall(PetscFree(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Several processes have three kinds of products, of two factors each. The other kinds are made of these. */
static void HashGEMMGetParallelFactors(Mat C, const HashGEMMProduct *p, SpgemmType *type, Mat *A, Mat *B)
{
  static const SpgemmType types[] = {SPGEMM_AB, SPGEMM_AB, SPGEMM_ATB, SPGEMM_AB, SPGEMM_PTAP, SPGEMM_PTAP, SPGEMM_AB}; /* by MatProductType */

  *type = types[C->product->type];
  *A    = C->product->A;
  *B    = p->between ? p->between : C->product->B;
}

/* The second factor, if it is no operand: B^T for A B^T and B A B^T, B C for A B C */
static PetscErrorCode HashGEMMMakeBetween(Mat C, HashGEMMProduct *p)
{
  Mat_Product *product = C->product;
  PetscObject  accumulator;

  PetscFunctionBegin;
  if (product->type == MATPRODUCT_ABC) {
    PetscCall(MatProductCreate(product->B, product->C, NULL, &p->between));
    PetscCall(MatProductSetType(p->between, MATPRODUCT_AB));
    PetscCall(MatProductSetAlgorithm(p->between, MATPRODUCTALGORITHMHASHGEMM));
    PetscCall(PetscObjectQuery((PetscObject)C, "MatHashGEMMAccumulator", &accumulator));
    PetscCall(PetscObjectCompose((PetscObject)p->between, "MatHashGEMMAccumulator", accumulator));
    PetscCall(MatProductSymbolic_HashGEMM(p->between));
  } else if (product->type == MATPRODUCT_ABt || product->type == MATPRODUCT_RARt) PetscCall(MatTranspose(product->B, MAT_INITIAL_MATRIX, &p->between));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HashGEMMRenewBetween(Mat C, HashGEMMProduct *p)
{
  Mat_Product *product = C->product;

  PetscFunctionBegin;
  if (product->type == MATPRODUCT_ABC) {
    PetscCall(MatProductReplaceMats(product->B, product->C, NULL, p->between));
    PetscCall(MatProductNumeric(p->between));
  } else PetscCall(MatTranspose(product->B, MAT_REUSE_MATRIX, &p->between));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives C, which has new blocks, a higher nonzero state. The next assembly makes that state the sum of those of the blocks of all processes, as it is for every
   MPIAIJ: a state that is not this sum would change without another pattern, or remain with one. */
static PetscErrorCode HashGEMMSetNonzeroState(Mat C, Mat block[2])
{
  PetscObjectState state;

  PetscFunctionBegin;
  block[0]->nonzerostate += C->nonzerostate + 1;
  state = block[0]->nonzerostate + block[1]->nonzerostate;
  PetscCallMPI(MPI_Allreduce(&state, &C->nonzerostate, 1, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)C)));
  C->ass_nonzerostate = C->nonzerostate;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* C takes the blocks of W and remains the same object; W is destroyed */
static PetscErrorCode HashGEMMTakeBlocks(Mat C, const HashGEMMProduct *p, Mat *W)
{
  const MatShadowFormat *format;
  Mat                    block[2];
  void                  *data;

  PetscFunctionBegin;
  PetscCall(HashGEMMInherit(C, p, (*W)->rmap->n, (*W)->cmap->n, (*W)->rmap->N, (*W)->cmap->N));
  PetscCall(PetscLayoutSetUp(C->rmap));
  PetscCall(PetscLayoutSetUp(C->cmap));
  PetscCall(HashGEMMDeviceConvert(C, *W));
  data       = C->data;
  C->data    = (*W)->data;
  (*W)->data = data;
  PetscCall(MatDestroy(W));
  C->preallocated = C->assembled = PETSC_TRUE;
  C->was_assembled               = PETSC_FALSE;
  C->num_ass++; /* PETSc clears flags that are not eternal from the second assembly on */
  PetscCall(MatMPIAIJGetSeqAIJ(C, &block[0], &block[1], NULL));
  PetscCall(HashGEMMSetNonzeroState(C, block));
  PetscCall(PetscObjectStateIncrease((PetscObject)C));
  PetscCall(MatSetBlockSizes(block[0], PetscAbs(C->rmap->bs), PetscAbs(C->cmap->bs)));
  PetscCall(MatSetBlockSizes(block[1], PetscAbs(C->rmap->bs), 1));
  PetscCall(MatShadowGetFormat(C, &format));
  if (format) PetscCall(MatShadowAttachBlocks(C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Pattern and values */
static PetscErrorCode HashGEMMMake(Mat C, HashGEMMProduct *p)
{
  Mat            operand[3], A, B, W;
  SpgemmType     type;
  HashGEMMChange change;
  PetscBool      mpi;

  PetscFunctionBegin;
  MatProductGetOperands(C, operand);
  for (int k = 0; k < 3 && operand[k]; k++) PetscCall(HashGEMMLook(operand[k], &p->operand[k], &change));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)operand[0], MATMPIAIJ, &mpi));
  if (mpi) {
    PetscCall(HashGEMMMakeBetween(C, p));
    HashGEMMGetParallelFactors(C, p, &type, &A, &B);
    PetscCall(HashGEMMParallelSymbolic(C, type, A, B, p, &W));
    PetscCall(HashGEMMTakeBlocks(C, p, &W));
    PetscCall(HashGEMMDeviceCut(C, p->parallel));
  } else PetscCall(HashGEMMSequentialSymbolic(C, p));
  C->ops->productsymbolic = MatProductSymbolic_HashGEMM;
  C->ops->productnumeric  = MatProductNumeric_HashGEMM;
  PetscCall(HashGEMMGlance(C, &p->result));
  p->fresh = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The values are in place since the symbolic phase. PETSc looks for I-nodes in an assembly, and MAT_USE_INODES may have changed since. */
static PetscErrorCode HashGEMMLookForInodes(Mat C, const HashGEMMProduct *p)
{
  Mat       block[2] = {C, NULL};
  PetscBool mpi;

  PetscFunctionBegin;
  if (p->device || (p->parallel && p->parallel->device)) PetscFunctionReturn(PETSC_SUCCESS); /* no I-nodes on a device */
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)C, MATMPIAIJ, &mpi));
  if (mpi) PetscCall(MatMPIAIJGetSeqAIJ(C, &block[0], &block[1], NULL));
  for (int k = 0; k < 2 && block[k]; k++) {
    PetscCall(MatAssemblyBegin(block[k], MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(block[k], MAT_FINAL_ASSEMBLY));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatProductNumeric_HashGEMM(Mat C)
{
  HashGEMMProduct *p = (HashGEMMProduct *)C->product->data;
  Mat              operand[3], A, B;
  HashGEMMChange   change;
  HashGEMMSeen     result;
  SpgemmType       type;
  PetscBool        mpi, nooffproc;
  PetscMPIInt      news[4]; /* HashGEMMChange of the operands and of the result */
  PetscLogDouble   since;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(MAT_HashGEMMNumeric, C, 0, 0, 0));
  PetscCall(MatShadowReportProductBegin(&since));
  PetscCall(PetscArrayzero(news, 4));
  MatProductGetOperands(C, operand);
  for (int k = 0; k < 3 && operand[k]; k++) {
    const HashGEMMSeen before = p->operand[k];

    PetscCall(HashGEMMLook(operand[k], &p->operand[k], &change));
    if (k && p->between && !HashGEMMSamePattern(&before, &p->operand[k])) change = HASHGEMM_NEW_PATTERN; /* MatTranspose() renews a transpose only from the matrix that it was made of */
    news[k] = change;
  }
  PetscCall(HashGEMMGlance(C, &result));
  if (!HashGEMMSamePattern(&result, &p->result)) news[3] = HASHGEMM_NEW_PATTERN;
  else if (!p->fresh || result.state != p->result.state) news[3] = HASHGEMM_NEW_VALUES;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)C, MATMPIAIJ, &mpi));
  if (mpi) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, news, 4, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)C)));
  for (int k = 0; k < 3; k++) change = (HashGEMMChange)(k ? PetscMax((int)change, news[k]) : news[k]);
  change = (HashGEMMChange)PetscMax((int)change, news[3]);
  if (change == HASHGEMM_NEW_PATTERN) {
    PetscCall(PetscInfo(C, "The operands have other entries than in the symbolic phase, the product is made anew\n"));
    PetscCall(HashGEMMReset(p));
    PetscCall(HashGEMMMake(C, p));
  } else if (change == HASHGEMM_NEW_VALUES) {
    if (p->between && (news[1] || news[2])) PetscCall(HashGEMMRenewBetween(C, p));
    if (mpi) {
      HashGEMMGetParallelFactors(C, p, &type, &A, &B);
      PetscCall(HashGEMMParallelNumeric(C, type, A, B, (PetscBool)(news[1] || news[2]), p));
    } else PetscCall(HashGEMMSequentialNumeric(C, p));
    nooffproc           = C->nooffprocentries;
    C->nooffprocentries = PETSC_TRUE;
    PetscCall(MatAssemblyBegin(C, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(C, MAT_FINAL_ASSEMBLY));
    C->nooffprocentries = nooffproc;
  } else PetscCall(HashGEMMLookForInodes(C, p));
  p->fresh = PETSC_FALSE;
  PetscCall(MatShadowReportProductEnd(C, since, (PetscBool)(change != HASHGEMM_SAME)));
  PetscCall(PetscLogEventEnd(MAT_HashGEMMNumeric, C, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatProductSymbolic_HashGEMM(Mat C)
{
  Mat_Product     *product = C->product;
  HashGEMMProduct *p;
  PetscContainer   container;
  int             *accumulator;
  PetscLogDouble   since;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(MAT_HashGEMMSymbolic, C, 0, 0, 0));
  PetscCall(MatShadowReportProductBegin(&since));
  PetscCall(PetscCitationsRegister(HashGEMMCitation, &HashGEMMCited));
  PetscCall(PetscNew(&p));
  PetscCall(PetscObjectQuery((PetscObject)C, "MatHashGEMMAccumulator", (PetscObject *)&container));
  if (container) {
    PetscCall(PetscContainerGetPointer(container, (void **)&accumulator));
    p->options.accumulator = (SpgemmAccumulator)*accumulator;
  }
  p->options.nthread = SysThreads();
  p->product         = product;
  product->data      = p;
  product->destroy   = HashGEMMDestroy;
  PetscCall(HashGEMMMake(C, p));
  PetscCall(MatShadowReportProductEnd(C, since, PETSC_FALSE));
  PetscCall(PetscLogEventEnd(MAT_HashGEMMSymbolic, C, 0, 0, 0));
  if (product->type == MATPRODUCT_PtAP) PetscCall(MatShadowExpectLevel(product->A, product->B));
  PetscFunctionReturn(PETSC_SUCCESS);
}
