/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The MatProduct algorithm "hashgemm": its phases, and products on one process.

   The symbolic phase computes the values too; PETSc's first numeric phase follows directly and does nothing. Later numeric phases compare the
   operands with the last ones: new values in the same pattern are multiplied in that pattern, other entries start a new product.
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

/* source of the accumulators heap, esc and merge */
static PetscBool  FrameworkCited      = PETSC_FALSE;
static const char FrameworkCitation[] = "@article{liu2015framework,\n"
                                        "  title   = {A framework for general sparse matrix-matrix multiplication on {GPUs} and heterogeneous processors},\n"
                                        "  author  = {Weifeng Liu and Brian Vinter},\n"
                                        "  journal = {Journal of Parallel and Distributed Computing},\n"
                                        "  note    = {arXiv:1504.05022},\n"
                                        "  year    = {2015}\n}\n";

/* ------------------------------------------------- products on one process ------------------------------------------------- */

static PetscErrorCode HashGEMMSequentialSymbolic(Mat C, HashGEMMProduct *p)
{
  static const SpgemmType types[] = {SPGEMM_AB, SPGEMM_AB, SPGEMM_ATB, SPGEMM_ABT, SPGEMM_PTAP, SPGEMM_RART, SPGEMM_ABC}; /* by MatProductType */
  const SpgemmType        type    = types[C->product->type];
  SysCSR                  factor[3], csr;
  HashGEMMRoom            room    = {.C = C, .p = p};
  SpgemmOptions           options = p->options;
  SpgemmInfo              info;
  SysStatus               status;
  PetscScalar            *a;
  PetscBool               done = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(HashGEMMDeviceSymbolic(C, type, p, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HashGEMMGetFactors(C, MatAIJGetArrays, factor));
  SpgemmSize(type, &factor[0], &factor[1], &factor[2], &room.m, &room.n);
  options.room    = HashGEMMRoomCreate;
  options.context = &room;
  status          = SpgemmCreate(type, &factor[0], &factor[1], &factor[2], &options, &p->spgemm, &info);
  PetscCall(room.ierr);
  PetscCall(HashGEMMAgree(C, status, &info));
  PetscCall(HashGEMMRoomSetUp(&room, SpgemmRowStarts(p->spgemm)));
  PetscCall(MatAIJGetPattern(C, &csr));
  PetscCall(MatSeqAIJGetArrayWrite(C, &a));
  status = SpgemmFill(p->spgemm, &factor[0], &factor[1], &factor[2], (PetscInt *)csr.i, (PetscInt *)csr.j, a);
  SpgemmGetInfo(p->spgemm, &info);
  PetscCall(MatSeqAIJRestoreArrayWrite(C, &a));
  MatAIJSetHostNewest(C);
  PetscCall(HashGEMMAgree(C, status, &info));
  PetscCall(HashGEMMReport(C, &info));
  if (csr.j && !room.setrow) PetscCall(MatSeqAIJSetColumnIndices(C, (PetscInt *)csr.j)); /* the columns are in place: the call sets the rows' lengths */
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
  PetscCall(HashGEMMGetFactors(C, MatAIJGetArrays, factor));
  PetscCall(MatAIJGetPattern(C, &csr));
  PetscCall(MatSeqAIJGetArrayWrite(C, &a));
  status = SpgemmRevalue(p->spgemm, &factor[0], &factor[1], &factor[2], csr.i, csr.j, a);
  SpgemmGetInfo(p->spgemm, &info);
  PetscCall(MatSeqAIJRestoreArrayWrite(C, &a));
  MatAIJSetHostNewest(C);
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

static PetscErrorCode HashGEMMFree(HashGEMMProduct *p)
{
  PetscFunctionBegin;
  if (p->product->alg) { /* PETSc then looks for an algorithm for operands of another type, which may not support "hashgemm" */
    PetscCall(PetscFree(p->product->alg));
    PetscCall(PetscStrallocpy(MATPRODUCTALGORITHMDEFAULT, &p->product->alg));
  }
  PetscCall(HashGEMMReset(p));
  PetscCall(PetscFree(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HashGEMMDestroy(PetscAMBProductArgument arg)
{
  PetscFunctionBegin;
  PetscCall(HashGEMMFree((HashGEMMProduct *)PetscAMBProductGet(arg)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On several processes there are three kinds of products, of two factors each; the other kinds use these */
static void HashGEMMGetParallelFactors(Mat C, const HashGEMMProduct *p, SpgemmType *type, Mat *A, Mat *B)
{
  static const SpgemmType types[] = {SPGEMM_AB, SPGEMM_AB, SPGEMM_ATB, SPGEMM_AB, SPGEMM_PTAP, SPGEMM_PTAP, SPGEMM_AB}; /* by MatProductType */

  *type = types[C->product->type];
  *A    = C->product->A;
  *B    = p->between ? p->between : C->product->B;
}

/* Finds the accumulator set on the product, or else on its first operand that has one; NULL: none */
static PetscErrorCode HashGEMMFindAccumulator(Mat C, PetscContainer *found)
{
  Mat mats[4] = {C};

  PetscFunctionBegin;
  MatProductGetOperands(C, mats + 1);
  *found = NULL;
  for (int k = 0; k < 4 && mats[k] && !*found; k++) PetscCall(PetscObjectQuery((PetscObject)mats[k], "MatHashGEMMAccumulator", (PetscObject *)found));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the second factor if it is not an operand: B^T for A B^T and B A B^T, B C for A B C */
static PetscErrorCode HashGEMMMakeBetween(Mat C, HashGEMMProduct *p)
{
  Mat_Product   *product = C->product;
  PetscContainer accumulator;

  PetscFunctionBegin;
  if (product->type == MATPRODUCT_ABC) {
    PetscCall(MatProductCreate(product->B, product->C, NULL, &p->between));
    PetscCall(MatProductSetType(p->between, MATPRODUCT_AB));
    PetscCall(MatProductSetAlgorithm(p->between, MATPRODUCTALGORITHMHASHGEMM));
    PetscCall(HashGEMMFindAccumulator(C, &accumulator));
    PetscCall(PetscObjectCompose((PetscObject)p->between, "MatHashGEMMAccumulator", (PetscObject)accumulator));
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

/* Moves W's blocks to C, which stays the same object, and destroys W. Raises C's nonzero state: the next assembly sets it to the sum of the blocks'
   states on all processes, as in every MPIAIJ, so a state that is not this sum would change without a new pattern, or not change with one. */
static PetscErrorCode HashGEMMSetBlocks(Mat C, const HashGEMMProduct *p, Mat *W)
{
  const MatShadowFormat *format;
  PetscObjectState       state;
  Mat                    block[2];
  void                  *data;

  PetscFunctionBegin;
  PetscCall(MatAIJComplete(C)); /* a deferred matrix ends with its old entries */
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
  block[0]->nonzerostate += C->nonzerostate + 1;
  state = block[0]->nonzerostate + block[1]->nonzerostate;
  PetscCallMPI(MPI_Allreduce(&state, &C->nonzerostate, 1, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)C)));
  C->ass_nonzerostate = C->nonzerostate;
  PetscCall(PetscObjectStateIncrease((PetscObject)C));
  PetscCall(MatSetBlockSizes(block[0], PetscAbs(C->rmap->bs), PetscAbs(C->cmap->bs)));
  PetscCall(MatSetBlockSizes(block[1], PetscAbs(C->rmap->bs), 1));
  PetscCall(MatShadowGetFormat(C, &format));
  if (format) PetscCall(MatShadowAttachBlocks(C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A process that computes on the host completes deferred operands, which changes their state and not their entries */
static PetscErrorCode HashGEMMUpdateSeen(Mat C, HashGEMMProduct *p)
{
  Mat            operand[3];
  HashGEMMChange change;

  PetscFunctionBegin;
  MatProductGetOperands(C, operand);
  for (int k = 0; k < 3 && operand[k]; k++) PetscCall(HashGEMMGetChange(operand[k], &p->operand[k], &change));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes pattern and values */
static PetscErrorCode HashGEMMMake(Mat C, HashGEMMProduct *p)
{
  Mat        A, B, W;
  SpgemmType type;
  PetscBool  mpi;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)C->product->A, MATMPIAIJ, &mpi));
  if (mpi) {
    PetscCall(HashGEMMMakeBetween(C, p));
    HashGEMMGetParallelFactors(C, p, &type, &A, &B);
    PetscCall(HashGEMMParallelSymbolic(C, type, A, B, p, &W));
    PetscCall(HashGEMMSetBlocks(C, p, &W));
    PetscCall(HashGEMMParallelCut(C, p->parallel));
    PetscCall(HashGEMMUpdateSeen(C, p));
  } else PetscCall(HashGEMMSequentialSymbolic(C, p));
  C->ops->productsymbolic = MatProductSymbolic_HashGEMM;
  C->ops->productnumeric  = MatProductNumeric_HashGEMM;
  PetscCall(HashGEMMGlance(C, &p->result));
  p->fresh = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds I-nodes if necessary. The values exist since the symbolic phase; PETSc looks for I-nodes in an assembly, and MAT_USE_INODES may have changed
   since. */
static PetscErrorCode HashGEMMFindInodes(Mat C, const HashGEMMProduct *p)
{
  const PetscBool device   = (PetscBool)(p->device || (p->parallel && p->parallel->device));
  Mat             block[2] = {C, NULL};
  PetscBool       mpi;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)C, MATMPIAIJ, &mpi));
  if (mpi) PetscCall(MatMPIAIJGetSeqAIJ(C, &block[0], &block[1], NULL));
  for (int k = 0; k < 2 && block[k]; k++) {
    PetscInt *sizes = NULL;

    PetscCall(MatInodeGetInodeSizes(block[k], NULL, &sizes, NULL));
    if (device && !sizes) continue; /* most device results have no I-nodes, and an assembly would count as new values */
    PetscCall(MatAssemblyBegin(block[k], MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(block[k], MAT_FINAL_ASSEMBLY));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares the operands, and an existing result C, with the last ones. Sets news[] to each one's change over all processes, and *most to the largest
   change. */
static PetscErrorCode HashGEMMCompare(Mat C, HashGEMMProduct *p, PetscMPIInt news[4], HashGEMMChange *most)
{
  Mat            operand[3];
  HashGEMMChange change;
  HashGEMMSeen   result;
  PetscBool      mpi;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(news, 4));
  MatProductGetOperands(C, operand);
  for (int k = 0; k < 3 && operand[k]; k++) {
    const HashGEMMSeen before = p->operand[k];

    PetscCall(HashGEMMGetChange(operand[k], &p->operand[k], &change));
    if (k && p->between && C->product->type != MATPRODUCT_ABC && !HashGEMMSamePattern(&before, &p->operand[k])) change = (HashGEMMChange)PetscMax(change, HASHGEMM_NEW_PATTERN); /* MatTranspose() updates a transpose only from its original matrix */
    news[k] = change;
  }
  if (p->result.id) {
    PetscCall(HashGEMMGlance(C, &result));
    if (!HashGEMMSamePattern(&result, &p->result)) news[3] = HASHGEMM_NEW_PATTERN;
    else if (!p->fresh || result.state != p->result.state) news[3] = HASHGEMM_NEW_VALUES;
  }
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)operand[0], MATMPIAIJ, &mpi));
  if (mpi) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, news, 4, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)C)));
  *most = HASHGEMM_SAME;
  for (int k = 0; k < 4; k++) *most = (HashGEMMChange)PetscMax((int)*most, news[k]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Leaves the product to PETSc, most of whose algorithms accept unsorted columns. Raises an error where PETSc's result would be wrong: A B^T and P^T A
   P; A B on several processes; R A R^T on a device, which begins with A R^T; and products of which only some operands are on a device. */
static PetscErrorCode HashGEMMDecline(Mat C)
{
  static const char reason[] = "an operand has a row whose columns are not in ascending order, or repeated";
  HashGEMMProduct  *p        = (HashGEMMProduct *)C->product->data;
  PetscBool         mpi, wrong;
  Mat               operand[3];

  PetscFunctionBegin;
  MatProductGetOperands(C, operand);
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)operand[0], MATMPIAIJ, &mpi));
  wrong = (PetscBool)(C->product->type == MATPRODUCT_ABt || C->product->type == MATPRODUCT_PtAP || (mpi && (C->product->type == MATPRODUCT_AB || C->product->type == MATPRODUCT_ABC)) || (C->product->type == MATPRODUCT_RARt && MatAIJValuesOnDevice(operand[0])));
  for (int k = 1; k < 3 && operand[k]; k++) wrong = (PetscBool)(wrong || MatAIJIsCUSPARSE(operand[k]) != MatAIJIsCUSPARSE(operand[0]));
  C->product->data    = NULL;
  C->product->destroy = NULL;
  PetscCall(HashGEMMFree(p));
  PetscCheck(!wrong, PetscObjectComm((PetscObject)C), PETSC_ERR_ARG_WRONGSTATE, "No %s product: %s; assemble the operand with MatSetValues()", MatProductTypes[C->product->type], reason);
  PetscCall(MatProductDecline(C, reason));
  PetscCall((*C->ops->productsymbolic)(C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Assembles C, which has new values in the same pattern */
static PetscErrorCode HashGEMMAssembled(Mat C)
{
  const PetscBool nooffproc = C->nooffprocentries;

  PetscFunctionBegin;
  if (MatAIJIsDeferred(C)) PetscCall(MatAIJDeferredAssembled(C));
  else {
    C->nooffprocentries = PETSC_TRUE;
    PetscCall(MatAssemblyBegin(C, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(C, MAT_FINAL_ASSEMBLY));
    C->nooffprocentries = nooffproc;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatProductNumeric_HashGEMM(Mat C)
{
  HashGEMMProduct *p = (HashGEMMProduct *)C->product->data;
  Mat              A, B;
  HashGEMMChange   change;
  SpgemmType       type;
  PetscMPIInt      news[4];
  PetscLogDouble   since;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(MAT_HashGEMMNumeric, C, 0, 0, 0));
  PetscCall(MatShadowReportProductBegin(&since));
  PetscCall(HashGEMMCompare(C, p, news, &change));
  PetscCheck(change != HASHGEMM_NOT_ASCENDING, PetscObjectComm((PetscObject)C), PETSC_ERR_ARG_WRONGSTATE, "An operand has other entries than in the symbolic phase, and a row whose columns are not in ascending order, or repeated; make a new product");
  if (change == HASHGEMM_NEW_PATTERN) {
    PetscCall(PetscInfo(C, "The operands have other entries than in the symbolic phase, the product is computed anew\n"));
    PetscCall(HashGEMMReset(p));
    PetscCall(HashGEMMMake(C, p));
  } else if (change == HASHGEMM_NEW_VALUES) {
    if (C->product->type == MATPRODUCT_PtAP) PetscCall(MatShadowForgetStale(C->product->A));
    if (p->between && (news[1] || news[2])) PetscCall(HashGEMMRenewBetween(C, p));
    if (p->parallel) {
      HashGEMMGetParallelFactors(C, p, &type, &A, &B);
      PetscCall(HashGEMMParallelNumeric(C, type, A, B, (PetscBool)(news[1] || news[2]), p));
    } else PetscCall(HashGEMMSequentialNumeric(C, p));
    PetscCall(HashGEMMAssembled(C));
  } else PetscCall(HashGEMMFindInodes(C, p));
  p->fresh = PETSC_FALSE;
  PetscCall(MatShadowReportProductEnd(C, since, change == HASHGEMM_SAME ? MAT_SHADOW_PRODUCT_UNCOUNTED : MAT_SHADOW_PRODUCT_RENEWED));
  PetscCall(PetscLogEventEnd(MAT_HashGEMMNumeric, C, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatProductSymbolic_HashGEMM(Mat C)
{
  Mat_Product     *product = C->product;
  HashGEMMProduct *p;
  PetscContainer   container;
  int             *accumulator;
  HashGEMMChange   change;
  PetscMPIInt      news[4];
  PetscLogDouble   since;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(MAT_HashGEMMSymbolic, C, 0, 0, 0));
  PetscCall(MatShadowReportProductBegin(&since));
  PetscCall(PetscCitationsRegister(HashGEMMCitation, &HashGEMMCited));
  PetscCall(PetscNew(&p));
  PetscCall(HashGEMMFindAccumulator(C, &container));
  if (container) {
    PetscCall(PetscContainerGetPointer(container, (void **)&accumulator));
    p->options.accumulator = (SpgemmAccumulator)*accumulator;
  }
  if (p->options.accumulator == SPGEMM_HEAP || p->options.accumulator == SPGEMM_ESC || p->options.accumulator == SPGEMM_MERGE) PetscCall(PetscCitationsRegister(FrameworkCitation, &FrameworkCited));
  p->options.nthread = SysThreads();
  p->product         = product;
  product->data      = p;
  product->destroy   = HashGEMMDestroy;
  PetscCall(HashGEMMCompare(C, p, news, &change));
  if (change != HASHGEMM_NOT_ASCENDING) PetscCall(HashGEMMMake(C, p));
  PetscCall(MatShadowReportProductEnd(C, since, change == HASHGEMM_NOT_ASCENDING ? MAT_SHADOW_PRODUCT_UNCOUNTED : MAT_SHADOW_PRODUCT_CREATED));
  PetscCall(PetscLogEventEnd(MAT_HashGEMMSymbolic, C, 0, 0, 0));
  if (change == HASHGEMM_NOT_ASCENDING) PetscCall(HashGEMMDecline(C));
  else if (product->type == MATPRODUCT_PtAP) PetscCall(MatShadowExpectLevel(product->A, product->B));
  PetscFunctionReturn(PETSC_SUCCESS);
}
