/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MatSetPreallocationBlockCOO() and MatSetValuesBlockCOO(): assembly from coordinates of blocks. The kernels are in aijblocks.h.

   The first function sends the coordinates of other processes' rows to their owners, plans the diagonal and the off-diagonal block, and creates their pattern by PETSc's
   preallocation. The second one sends the values of the same blocks, and sums all into the arrays of the matrix, on the side where operations use them. PETSc's functions sort,
   send and map single entries; they have the blocks of types that are not AIJ, whose coordinates are expanded.
*/
#include <petscsf.h>

#include "mat/aij/aij.h"
#include "mat/aij/aijcoo.h"

#define BLOCK_COO "MatAIJBlockCOO"

static PetscErrorCode MatAIJBlockCOODestroy(PetscAMBCtxArgument arg)
{
  MatAIJBlockCOO *coo = (MatAIJBlockCOO *)PetscAMBCtxGet(arg);

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) {
    PetscCall(MatAIJBlockCOODeviceFree(&coo->part[k]));
    AijBlocksFree(&coo->part[k].plan);
  }
  PetscCall(PetscSFDestroy(&coo->sf));
  if (coo->unit != MPI_DATATYPE_NULL) PetscCallMPI(MPI_Type_free(&coo->unit));
  PetscCall(MatAIJBlockCOODeviceFreeList(coo));
  PetscCall(PetscFree(coo->list));
  PetscCall(PetscFree(coo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatAIJBlockCOOCreate(Mat A, MatAIJBlockCOO **coo)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(coo));
  (*coo)->unit = MPI_DATATYPE_NULL;
  PetscCall(PetscAMBObjectContainerCompose((PetscObject)A, BLOCK_COO, *coo, MatAIJBlockCOODestroy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An AIJ whose operations use its arrays on the host, or an AIJCUSPARSE */
static PetscErrorCode MatAIJBlockCOOSupports(Mat A, PetscBool *supports)
{
  PetscBool seq, mpi, host;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQAIJ, &seq));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  PetscCall(PetscStrcmp(A->defaultvectype, VECSTANDARD, &host));
  *supports = (PetscBool)((seq || mpi) && (host || MatAIJIsCUSPARSE(A)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- coordinates ------------------------------------------------- */

/* Creates the star forest from the blocks that processes send to those that their owners receive, these by process. count[p] blocks go to process p. */
static PetscErrorCode MatAIJBlockCOOSetUpExchange(Mat A, MatAIJBlockCOO *coo, const PetscInt count[])
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)A);
  PetscMPIInt    size, nto = 0, nfrom, *to, *from, *order;
  PetscInt      *data, *received, begin = 0, n = 0;
  PetscSFNode   *remote;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  for (PetscMPIInt p = 0; p < size; p++) nto += count[p] > 0;
  PetscCall(PetscMalloc2(nto, &to, 2 * nto, &data));
  nto = 0;
  for (PetscMPIInt p = 0; p < size; p++) {
    if (!count[p]) continue;
    to[nto]           = p;
    data[2 * nto]     = begin;
    data[2 * nto + 1] = count[p];
    begin += count[p];
    nto++;
  }
  PetscCall(PetscCommBuildTwoSided(comm, 2, MPIU_INT, nto, to, data, &nfrom, &from, &received));
  PetscCall(PetscMalloc1(nfrom, &order));
  for (PetscMPIInt k = 0; k < nfrom; k++) {
    order[k] = k;
    PetscCheck(received[2 * k + 1] <= PETSC_MAX_INT - n, PETSC_COMM_SELF, PETSC_ERR_SUP, "Other processes send more blocks than the indices of this PETSc count");
    n += received[2 * k + 1];
  }
  PetscCall(PetscSortMPIIntWithArray(nfrom, from, order));
  PetscCall(PetscMalloc1(n, &remote));
  coo->nreceive = 0;
  for (PetscMPIInt k = 0; k < nfrom; k++) {
    for (PetscInt l = 0; l < received[2 * order[k] + 1]; l++) {
      remote[coo->nreceive].rank    = from[k];
      remote[coo->nreceive++].index = received[2 * order[k]] + l;
    }
  }
  PetscCall(PetscSFCreate(comm, &coo->sf));
  PetscCall(PetscSFSetFromOptions(coo->sf));
  PetscCall(PetscSFSetGraph(coo->sf, coo->nsend, n, NULL, PETSC_OWN_POINTER, remote, PETSC_OWN_POINTER));
  PetscCall(PetscSFSetUp(coo->sf));
  PetscCallMPI(MPI_Type_contiguous((PetscMPIInt)(coo->rbs * coo->cbs), MPIU_SCALAR, &coo->unit));
  PetscCallMPI(MPI_Type_commit(&coo->unit));
  PetscCall(PetscFree(order));
  PetscCall(PetscFree(from));
  PetscCall(PetscFree(received));
  PetscCall(PetscFree2(to, data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces bi[] by rows of this process, negative for other blocks. With blocks of other processes, *ci and *cj are new arrays with the coordinates received behind the caller's; otherwise
   they are bi and bj. Collective. */
static PetscErrorCode MatAIJBlockCOOExchange(Mat A, MatAIJBlockCOO *coo, PetscInt bi[], PetscInt bj[], PetscInt **ci, PetscInt **cj)
{
  const PetscInt *ranges;
  PetscInt       *count, *position, *si, *sj, own = coo->own;
  PetscMPIInt     rank, size, any;

  PetscFunctionBegin;
  *ci = bi;
  *cj = bj;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)A), &rank));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  PetscCall(PetscLayoutGetRanges(A->rmap, &ranges));
  PetscCall(PetscMalloc2(size, &count, size, &position));
  AijBlocksOwners(own, bi, bj, size, ranges, (int)coo->rbs, rank, count, NULL);
  for (PetscMPIInt p = 0; p < size; p++) coo->nsend += p == rank ? 0 : count[p];
  count[rank] = 0;
  PetscCheck(!A->nooffprocentries || !coo->nsend, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "MAT_NO_OFF_PROC_ENTRIES is set, but %" PetscInt_FMT " blocks are in rows of other processes", coo->nsend);
  any = coo->nsend > 0;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)A)));
  PetscCall(PetscArraycpy(position, count, size));
  PetscCall(PetscMalloc1(coo->nsend + 1, &coo->list));
  PetscCall(PetscMalloc2(coo->nsend, &si, coo->nsend, &sj));
  if (any) { /* the second call below replaces the rows */
    PetscInt *global;

    PetscCall(PetscMalloc1(own, &global));
    PetscCall(PetscArraycpy(global, bi, own));
    AijBlocksOwners(own, bi, bj, size, ranges, (int)coo->rbs, rank, position, coo->list);
    AijBlocksPack(coo->nsend, coo->list, sizeof(*si), global, si);
    AijBlocksPack(coo->nsend, coo->list, sizeof(*sj), bj, sj);
    PetscCall(PetscFree(global));
    PetscCall(MatAIJBlockCOOSetUpExchange(A, coo, count));
    PetscCheck(coo->nreceive <= PETSC_MAX_INT - own, PETSC_COMM_SELF, PETSC_ERR_SUP, "More blocks than the indices of this PETSc count");
    PetscCall(PetscMalloc1(own + coo->nreceive, ci));
    PetscCall(PetscMalloc1(own + coo->nreceive, cj));
    PetscCall(PetscArraycpy(*ci, bi, own));
    PetscCall(PetscArraycpy(*cj, bj, own));
    PetscCall(PetscSFBcastBegin(coo->sf, MPIU_INT, si, *ci + own, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(coo->sf, MPIU_INT, si, *ci + own, MPI_REPLACE));
    PetscCall(PetscSFBcastBegin(coo->sf, MPIU_INT, sj, *cj + own, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(coo->sf, MPIU_INT, sj, *cj + own, MPI_REPLACE));
    for (PetscInt k = own; k < own + coo->nreceive; k++) (*ci)[k] -= ranges[rank] / coo->rbs;
  } else AijBlocksOwners(own, bi, bj, size, ranges, (int)coo->rbs, rank, position, coo->list);
  PetscCall(PetscFree2(si, sj));
  PetscCall(PetscFree2(count, position));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- pattern ------------------------------------------------- */

static PetscErrorCode MatAIJBlockCOOPlan(Mat A, MatAIJBlockCOO *coo, const PetscInt ci[], const PetscInt cj[], PetscInt *columns[2])
{
  const PetscInt n = coo->own + coo->nreceive, m = A->rmap->n / coo->rbs, first = A->cmap->rstart / coo->cbs, last = A->cmap->rend / coo->cbs;

  PetscFunctionBegin;
  for (int k = 0; k < coo->nparts; k++) {
    AijBlocks *plan   = &coo->part[k].plan;
    SysStatus  status = AijBlocksPlan(m, n, ci, cj, first, last, !k, MatAIJThreads(n), plan, &columns[k]);

    PetscCheck(status == SYS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_MEM, "Out of memory for the plan of %" PetscInt_FMT " blocks", n);
    PetscCheck(plan->nb <= PETSC_MAX_INT / (coo->rbs * coo->cbs), PETSC_COMM_SELF, PETSC_ERR_SUP, "The matrix has more entries on one process than the %d-bit indices of this PETSc hold; use more processes", (int)(8 * sizeof(PetscInt)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Assembles A with the pattern of both plans, and zeros */
static PetscErrorCode MatAIJBlockCOOFill(Mat A, MatAIJBlockCOO *coo, PetscInt *columns[2])
{
  const PetscObjectState state = A->nonzerostate;
  const PetscInt        *garray, m = A->rmap->n;
  PetscInt              *lengths[2];
  PetscBool              nooffproc = A->nooffprocentries;
  PetscErrorCode         raised;
  SysCSR                 csr;
  Mat                    block[2];

  PetscFunctionBegin;
  PetscCall(PetscCalloc2(m, &lengths[0], m, &lengths[1]));
  for (int k = 0; k < coo->nparts; k++) AijBlocksLengths(&coo->part[k].plan, (int)coo->rbs, (int)coo->cbs, lengths[k]);
  MatAIJPagesBegin();
  raised = coo->nparts == 2 ? MatMPIAIJSetPreallocation(A, 0, lengths[0], 0, lengths[1]) : MatSeqAIJSetPreallocation(A, 0, lengths[0]);
  MatAIJPagesEnd();
  PetscCall(raised);
  PetscCall(PetscFree2(lengths[0], lengths[1]));
  PetscCall(MatAIJGetBlocks(A, block, &garray));
  for (int k = 0; k < coo->nparts; k++) {
    block[k]->nonzerostate++;
    MatAIJSetHostNewest(block[k]); /* a copy on the device has the previous pattern */
    PetscCall(MatAIJGetPattern(block[k], &csr));
    if (!coo->part[k].plan.nb) continue;
    AijBlocksColumns(&coo->part[k].plan, (int)coo->rbs, (int)coo->cbs, columns[k], k ? 0 : A->cmap->rstart / coo->cbs, MatAIJThreads(csr.nz), (PetscInt *)csr.j);
    PetscCall(MatSeqAIJSetColumnIndices(block[k], (PetscInt *)csr.j)); /* the columns are in place: the call sets the rows' lengths */
  }
  PetscCall(MatSetOption(A, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetOption(A, MAT_NO_OFF_PROC_ENTRIES, nooffproc));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_TRUE)); /* as PETSc's function */
  if (A->nonzerostate <= state) {                                       /* the sum over the blocks, one of which is new */
    A->nonzerostate     = state + 1;
    A->ass_nonzerostate = A->nonzerostate; /* the assembly is over */
    if (!A->structural_symmetry_eternal) A->structurally_symmetric = PETSC_BOOL3_UNKNOWN;
  }
  coo->nonzerostate = A->nonzerostate;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatAIJBlockCOOSetUp(Mat A, MatAIJBlockCOO *coo, PetscInt bi[], PetscInt bj[])
{
  const int64_t wrong      = AijBlocksCheck(coo->own, bi, bj, A->rmap->N / coo->rbs, A->cmap->N / coo->cbs);
  PetscInt     *columns[2] = {NULL, NULL}, *ci, *cj;

  PetscFunctionBegin;
  PetscCheck(wrong < 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "Block %" PetscInt64_FMT " has the coordinates (%" PetscInt_FMT ", %" PetscInt_FMT "), but the matrix has %" PetscInt_FMT " x %" PetscInt_FMT " blocks", (PetscInt64)wrong, bi[wrong], bj[wrong],
             A->rmap->N / coo->rbs, A->cmap->N / coo->cbs);
  PetscCall(MatAIJBlockCOOExchange(A, coo, bi, bj, &ci, &cj));
  PetscCall(MatAIJBlockCOOPlan(A, coo, ci, cj, columns));
  if (ci != bi) {
    PetscCall(PetscFree(ci));
    PetscCall(PetscFree(cj));
  }
  PetscCall(MatAIJBlockCOOFill(A, coo, columns));
  free(columns[0]);
  free(columns[1]);
  PetscCall(MatAIJDeviceUpload(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's function for other types, with the coordinates of all entries */
static PetscErrorCode MatAIJBlockCOOExpand(Mat A, const MatAIJBlockCOO *coo, const PetscInt bi[], const PetscInt bj[])
{
  const PetscCount n = (PetscCount)coo->own * coo->rbs * coo->cbs;
  PetscInt        *si, *sj;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(n, &si, n, &sj));
  AijBlocksExpand(coo->own, bi, bj, (int)coo->rbs, (int)coo->cbs, si, sj);
  PetscCall(MatSetPreallocationCOO(A, n, si, sj));
  PetscCall(PetscFree2(si, sj));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   MatSetPreallocationBlockCOO - sets the pattern of a matrix from the coordinates of blocks, for `MatSetValuesBlockCOO()`

   Collective

   Input Parameters:
+  A  - the matrix, whose type and block sizes are set
.  n  - the number of blocks that this process contributes
.  bi - their block rows
-  bj - their block columns

   Level: intermediate

   Notes:
   The matrix gets the pattern that `MatSetPreallocationCOO()` creates from the coordinates of all entries, with one row and one column number a block in place of rbs x cbs, the block sizes of
   `MatSetBlockSizes()`. Blocks may be in rows of other processes, and coordinates may repeat. Blocks with a negative coordinate are ignored. Both arrays may be on a GPU; this function
   may change them.

   The matrix stores a map for `MatSetValuesBlockCOO()` of one number for each block that is contributed to this process, and one for each of its blocks if coordinates repeat. The map belongs to
   this pattern and to this matrix: `MatDuplicate()` does not copy it.

   `MATAIJ`, `MATAIJCUSPARSE` and the types of petsc-amb are assembled by blocks. For other types the function calls `MatSetPreallocationCOO()`.

   Example:
.vb
   PetscCall(MatSetBlockSize(A, 3));
   PetscCall(MatSetPreallocationBlockCOO(A, n, bi, bj));
   PetscCall(MatSetValuesBlockCOO(A, v, INSERT_VALUES)); // 9 n values, on the host or on the GPU
.ve

.seealso: `MatSetValuesBlockCOO()`, `MatSetBlockSizes()`, `MatSetPreallocationCOO()`
@*/
PetscErrorCode MatSetPreallocationBlockCOO(Mat A, PetscCount n, PetscInt bi[], PetscInt bj[])
{
  PetscInt        rbs, cbs, *hi = bi, *hj = bj;
  MatAIJBlockCOO *coo;
  PetscBool       mpi;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscValidType(A, 1);
  PetscCheck(n >= 0 && n <= PETSC_MAX_INT, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt64_FMT " blocks; use more processes", (PetscInt64)n);
  PetscCheck(!n || (bi && bj), PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "No coordinates of %" PetscInt64_FMT " blocks", (PetscInt64)n);
  PetscCall(PetscLayoutSetUp(A->rmap));
  PetscCall(PetscLayoutSetUp(A->cmap));
  PetscCall(MatGetBlockSizes(A, &rbs, &cbs));
  PetscCheck(rbs * cbs <= 1 << 20, PETSC_COMM_SELF, PETSC_ERR_SUP, "Blocks of %" PetscInt_FMT " x %" PetscInt_FMT " values", rbs, cbs);
  PetscCall(MatAIJComplete(A));
  PetscCall(MatAIJBlockCOOCreate(A, &coo));
  coo->own = (PetscInt)n;
  coo->rbs = rbs;
  coo->cbs = cbs;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  coo->nparts = mpi ? 2 : 1;
  PetscCall(MatAIJBlockCOOSupports(A, &coo->supports));
  PetscCall(MatAIJBlockCOOGetHost(n, &hi, &hj));
  if (coo->supports) {
    PetscCall(PetscLogEventBegin(MAT_PreallCOO, A, 0, 0, 0));
    PetscCall(MatAIJBlockCOOSetUp(A, coo, hi, hj));
    PetscCall(PetscLogEventEnd(MAT_PreallCOO, A, 0, 0, 0));
  } else PetscCall(MatAIJBlockCOOExpand(A, coo, hi, hj));
  if (hi != bi) {
    PetscCall(PetscFree(hi));
    PetscCall(PetscFree(hj));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- values ------------------------------------------------- */

/* Only PETSc's own functions for coordinates can set another pattern without another nonzero state, for several processes */
static PetscErrorCode MatAIJBlockCOOCheck(Mat A, const MatAIJBlockCOO *coo)
{
  const PetscInt *garray;
  PetscBool       same = (PetscBool)(A->nonzerostate == coo->nonzerostate);
  SysCSR          csr;
  Mat             block[2];

  PetscFunctionBegin;
  PetscCall(MatAIJGetBlocks(A, block, &garray));
  for (int k = 0; k < coo->nparts && same; k++) {
    PetscCall(MatAIJGetPattern(block[k], &csr));
    same = (PetscBool)(csr.nz == coo->part[k].plan.nb * coo->rbs * coo->cbs);
  }
  PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_ORDER, "The pattern has changed since MatSetPreallocationBlockCOO()");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On the host: blocks for other processes are sent before this one's are summed */
static PetscErrorCode MatAIJBlockCOOSum(Mat A, MatAIJBlockCOO *coo, const PetscScalar v[], InsertMode mode)
{
  const PetscInt values = coo->rbs * coo->cbs, *garray;
  AijBlockValues input  = {(int)coo->rbs, (int)coo->cbs, coo->own, v, NULL};
  PetscScalar   *send = NULL, *received = NULL, *a;
  Mat            block[2];

  PetscFunctionBegin;
  if (coo->sf) {
    PetscCall(PetscMalloc2((size_t)coo->nsend * values, &send, (size_t)coo->nreceive * values, &received));
    AijBlocksPack(coo->nsend, coo->list, values * sizeof(*v), v, send);
    PetscCall(PetscSFBcastWithMemTypeBegin(coo->sf, coo->unit, PETSC_MEMTYPE_HOST, send, PETSC_MEMTYPE_HOST, received, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(coo->sf, coo->unit, send, received, MPI_REPLACE));
    input.received = received;
  }
  PetscCall(MatAIJGetBlocks(A, block, &garray));
  for (int k = 0; k < coo->nparts; k++) {
    const AijBlocks *plan = &coo->part[k].plan;

    PetscCall(mode == ADD_VALUES ? MatSeqAIJGetArray(block[k], &a) : MatSeqAIJGetArrayWrite(block[k], &a));
    AijBlocksSum(plan, &input, mode == ADD_VALUES, MatAIJThreads((PetscInt)(plan->nb * values)), a);
    PetscCall(mode == ADD_VALUES ? MatSeqAIJRestoreArray(block[k], &a) : MatSeqAIJRestoreArrayWrite(block[k], &a));
    MatAIJSetHostNewest(block[k]);
  }
  PetscCall(PetscFree2(send, received));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   MatSetValuesBlockCOO - sets the values of a matrix with a pattern from `MatSetPreallocationBlockCOO()`, and assembles it

   Collective

   Input Parameters:
+  A    - the matrix
.  v    - the blocks' values in the order of the coordinates, each block row by row; on the host or on the GPU
-  mode - `INSERT_VALUES` or `ADD_VALUES`

   Level: intermediate

   Notes:
   Values of blocks with the same coordinates are added, whatever the mode, in an order that does not change from run to run: first values of this process, then values of others. Then
   they replace the values of the matrix (`INSERT_VALUES`) or are added to them (`ADD_VALUES`). The function may be called again for other values.

   Values on a GPU are summed where they are into the matrix on that GPU, without another copy of them.

.seealso: `MatSetPreallocationBlockCOO()`, `MatSetValuesCOO()`, `MatSetValuesBlocked()`
@*/
PetscErrorCode MatSetValuesBlockCOO(Mat A, const PetscScalar v[], InsertMode mode)
{
  MatAIJBlockCOO *coo;
  PetscBool       nooffproc, done = PETSC_FALSE;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscValidType(A, 1);
  PetscValidLogicalCollectiveEnum(A, mode, 3);
  PetscCheck(mode == INSERT_VALUES || mode == ADD_VALUES, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE, "The mode is neither INSERT_VALUES nor ADD_VALUES");
  PetscCall(PetscAMBObjectContainerQuery((PetscObject)A, BLOCK_COO, (void **)&coo));
  PetscCheck(coo, PetscObjectComm((PetscObject)A), PETSC_ERR_ORDER, "Call MatSetPreallocationBlockCOO() first");
  if (!coo->supports) {
    PetscCall(MatSetValuesCOO(A, v, mode));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatAIJComplete(A));
  PetscCall(MatAIJBlockCOOCheck(A, coo));
  PetscCheck(!coo->own || v || A->structure_only, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "No values of %" PetscInt_FMT " blocks", coo->own);
  PetscCall(PetscLogEventBegin(MAT_SetVCOO, A, 0, 0, 0));
  if (!A->structure_only) {
    PetscCall(MatAIJBlockCOOSumDevice(A, coo, v, mode, MatAIJBlockCOOSum, &done));
    if (!done) PetscCall(MatAIJBlockCOOSum(A, coo, v, mode));
  }
  nooffproc = A->nooffprocentries;
  PetscCall(MatSetOption(A, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetOption(A, MAT_NO_OFF_PROC_ENTRIES, nooffproc));
  PetscCall(PetscLogEventEnd(MAT_SetVCOO, A, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
