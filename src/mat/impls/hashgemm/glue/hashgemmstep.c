/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Begin and end of a product's step: the operands' arrays, errors and figures, the result's memory
*/
#include "sys/sysmemory.h"
#include "mat/impls/hashgemm/glue/hashgemmparallel.h"

#define HASHGEMM_ROOM_ROWS   512 /* rows whose lengths one step passes to PETSc */
#define HASHGEMM_ROOM_LENGTH 32  /* length below which one call passes all rows of the same length */

/* ------------------------------------------------- operands ------------------------------------------------- */

/* Gets the arrays of all operands of C, by MatAIJGetArrays() or HashGEMMDeviceGetCSR() */
PetscErrorCode HashGEMMGetFactors(Mat C, PetscErrorCode (*get)(Mat, SysCSR *), SysCSR factor[3])
{
  Mat operand[3];

  PetscFunctionBegin;
  MatProductGetOperands(C, operand);
  PetscCall(PetscMemzero(factor, 3 * sizeof(*factor)));
  for (int k = 0; k < 3 && operand[k]; k++) PetscCall((*get)(operand[k], &factor[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- success and figures ------------------------------------------------- */

/* Raises the error of a status. SYS_TOO_LARGE: PetscInt cannot count the product's entries. asked: bytes that a GPU lacked, or 0. */
PetscErrorCode HashGEMMCheck(MPI_Comm comm, SysStatus status, double nonzeros, double bytes, double asked)
{
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCheck(status != SYS_TOO_LARGE, comm, PETSC_ERR_ARG_OUTOFRANGE, "The product has %.0f nonzeros%s, but PetscInt counts to %" PetscInt_FMT ": use %sa PETSc configured with --with-64-bit-indices", nonzeros, size > 1 ? " on one process" : "", PETSC_MAX_INT, size > 1 ? "more processes, or " : "");
  PetscCheck(status != SYS_OUT_OF_MEMORY || asked == 0, comm, PETSC_ERR_MEM, "Not enough memory on the GPU for the local part of a matrix product: %.3g GB more are needed; use more processes, or matrices on the host", asked / 1e9);
  PetscCheck(status != SYS_OUT_OF_MEMORY, comm, PETSC_ERR_MEM, "Not enough memory for a matrix product: %.3g GB more are needed; use more processes, or another algorithm", bytes / 1e9);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ends a step's local work, which returns a status and figures and never communicates. Collective: every process calls it once a step, whether it
   worked on host or device and whatever the outcome, so that all raise the same error. Sets *all to PETSC_FALSE unless it is set on all processes. */
PetscErrorCode HashGEMMAgreeAll(Mat C, SysStatus status, const SpgemmInfo *info, PetscBool *all)
{
  const MPI_Comm comm     = PetscObjectComm((PetscObject)C);
  double         worst[5] = {(double)status, info->nonzeros, info->bytes_peak + info->nonzeros * (sizeof(PetscInt) + sizeof(PetscScalar)), info->bytes_asked, *all ? 0 : 1};
  PetscMPIInt    size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (size > 1) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, worst, 5, MPI_DOUBLE, MPI_MAX, comm));
  PetscCall(HashGEMMCheck(comm, (SysStatus)worst[0], worst[1], worst[2], worst[3]));
  *all = (PetscBool)(worst[4] == 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HashGEMMAgree(Mat C, SysStatus status, const SpgemmInfo *info)
{
  PetscBool all = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(HashGEMMAgreeAll(C, status, info, &all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Logs the figures of a new product of the host */
PetscErrorCode HashGEMMReport(Mat C, const SpgemmInfo *info)
{
  PetscFunctionBegin;
  PetscCall(PetscLogFlops(2 * info->products));
  PetscCall(PetscInfo(C, "%s: %.0f multiplications, %.0f nonzeros, %s kernels; rows copied %.0f, by hash %.0f, hashvec %.0f, heap %.0f, dense %.0f, sorted %.0f; bytes kept for new values %.0f, at most in use besides the result %.0f\n",
                      MatProductTypes[C->product->type], info->products, info->nonzeros, info->instructions, info->rows[0], info->rows[SPGEMM_HASH], info->rows[SPGEMM_HASHVEC], info->rows[SPGEMM_HEAP], info->rows[SPGEMM_DENSE], info->rows[SPGEMM_ESC],
                      info->bytes_kept, info->bytes_peak));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- result ------------------------------------------------- */

/* Allocates rows. Raises no error: HashGEMMAgree() does, with the figures in *info. */
SysStatus HashGEMMRowsCreate(int64_t m, int64_t n, int64_t nz, PetscBool brief, HashGEMMRows *rows, SpgemmInfo *info)
{
  const SysStatus status = nz > PETSC_MAX_INT ? SYS_TOO_LARGE : HashGEMMRowsAllocate(m, n, nz, brief, rows) ? SYS_SUCCESS : SYS_OUT_OF_MEMORY;

  if (!status) return status;
  info->nonzeros   = (double)nz;
  info->bytes_peak = (double)m * sizeof(PetscInt);
  return status;
}

/* Returns the PETSc type of a matrix, or the one that it extends */
static MatType HashGEMMBaseType(Mat A)
{
  const MatType type = MatAIJGetType(A);

  return MatAIJIsCUSPARSE(A) ? type : strncmp(type, MATSEQAIJ, strlen(MATSEQAIJ)) == 0 ? MATSEQAIJ : MATMPIAIJ;
}

static void HashGEMMGetBlockSizes(const Mat_Product *product, PetscInt *rows, PetscInt *columns)
{
  const MatProductType type = product->type;
  const Mat            A = product->A, B = product->B;
  const PetscLayout    last  = type == MATPRODUCT_ABC ? product->C->cmap : type == MATPRODUCT_ABt || type == MATPRODUCT_RARt ? B->rmap : B->cmap;
  const PetscLayout    first = type == MATPRODUCT_PtAP || type == MATPRODUCT_RARt ? last : type == MATPRODUCT_AtB ? A->cmap : A->rmap;

  *rows    = PetscAbs(first->bs); /* negative if not set */
  *columns = PetscAbs(last->bs);
}

/* Sets C's sizes and block sizes from its operands, type and format from the first; C keeps its options. Does nothing if C is a result already. */
PetscErrorCode HashGEMMInherit(Mat C, const HashGEMMProduct *p, PetscInt m, PetscInt n, PetscInt M, PetscInt N)
{
  const MatShadowFormat *format;
  MatShadow             *s;
  PetscInt               rows, columns;

  PetscFunctionBegin;
  if (p->result.id) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowGetFormat(C, &format)); /* from operands of another type */
  if (format) PetscCall(MatShadowDetach(C));
  PetscCall(MatSetSizes(C, m, n, M, N));
  PetscCall(MatSetType(C, HashGEMMBaseType(C->product->A)));
  HashGEMMGetBlockSizes(C->product, &rows, &columns);
  PetscCall(MatSetBlockSizes(C, rows, columns));
  PetscCall(MatShadowGetFormat(C->product->A, &format));
  if (!format) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowGet(C->product->A, &s));
  PetscCall(MatShadowAttach(C, format, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Allocates C's rows, which begin at starts[] */
PetscErrorCode HashGEMMPreallocate(Mat C, const HashGEMMProduct *p, int64_t m, int64_t n, const PetscInt starts[])
{
  PetscInt *lengths;

  PetscFunctionBegin;
  PetscCall(HashGEMMInherit(C, p, (PetscInt)m, (PetscInt)n, (PetscInt)m, (PetscInt)n));
  PetscCall(PetscMalloc1(m, &lengths));
  for (int64_t r = 0; r < m; r++) lengths[r] = starts[r + 1] - starts[r];
  PetscCall(MatSeqAIJSetPreallocation(C, 0, lengths));
  PetscCall(PetscFree(lengths));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatSeqAIJSetTotalPreallocation() takes a bound of the entries; rows are then set in order. If memory is short for the bound, the entries are
   counted. */
static PetscErrorCode HashGEMMRoomCreate_Private(HashGEMMRoom *room, PetscInt entries)
{
  Mat            C = room->C;
  SysCSR         csr;
  PetscErrorCode ierr;
  PetscErrorCode (*setvalues)(Mat, PetscInt, const PetscInt[], PetscInt, const PetscInt[], const PetscScalar[], InsertMode);

  PetscFunctionBegin;
  PetscCall(HashGEMMInherit(C, room->p, (PetscInt)room->m, (PetscInt)room->n, (PetscInt)room->m, (PetscInt)room->n));
  if (C->preallocated || MatAIJIsCUSPARSE(C)) PetscFunctionReturn(PETSC_SUCCESS);
  setvalues = C->ops->setvalues;
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  ierr = MatSeqAIJSetTotalPreallocation(C, entries);
  PetscCall(PetscPopErrorHandler());
  if (ierr) PetscFunctionReturn(PETSC_SUCCESS);
  room->setrow      = C->ops->setvalues;
  C->ops->setvalues = setvalues;
  PetscCall(MatAIJGetPattern(C, &csr));
  PetscCall(MatSeqAIJGetArrayWrite(C, &room->a));
  room->j = (PetscInt *)csr.j;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The kernels call it, so it raises no error: HashGEMMRoomSetUp() does */
int HashGEMMRoomCreate(void *context, int64_t entries, PetscInt **j, PetscScalar **a)
{
  HashGEMMRoom *room = (HashGEMMRoom *)context;

  room->ierr    = HashGEMMRoomCreate_Private(room, (PetscInt)entries);
  room->entries = entries;
  *j            = room->j;
  *a            = room->a;
  return room->setrow && !room->ierr;
}

/* Does not count untouched memory as allocated, as in PETSc's results, nor rows that grew as mallocs */
static PetscErrorCode MatGetInfo_HashGEMMRoom(Mat C, MatInfoType flag, MatInfo *info)
{
  PetscFunctionBegin;
  PetscCall((*MatAIJBaseSeq.getinfo)(C, flag, info));
  if (info->mallocs == 0) {
    info->nz_allocated = info->nz_used;
    info->nz_unneeded  = 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Passes the lengths of finished rows to PETSc. A call for each row takes as long as a short row itself, so one call passes all rows of the same
   length below the limit. That call overwrites their columns, because it sets rows with equal columns; they are saved and written back. Longer rows
   have a call each.
*/
static PetscErrorCode HashGEMMRoomSetLengths(HashGEMMRoom *room, const PetscInt starts[], PetscInt first, PetscInt last)
{
  Mat             C              = room->C;
  const PetscBool structure_only = C->structure_only;
  const PetscInt  n              = starts[last] - starts[first];
  PetscInt        columns[HASHGEMM_ROOM_ROWS * HASHGEMM_ROOM_LENGTH], rows[HASHGEMM_ROOM_ROWS], end[HASHGEMM_ROOM_LENGTH + 2] = {0};

  PetscFunctionBegin;
  if (n > HASHGEMM_ROOM_ROWS * HASHGEMM_ROOM_LENGTH / 2) {
    for (PetscInt r = first; r < last; r++) PetscCall((*room->setrow)(C, 1, &r, starts[r + 1] - starts[r], room->j + starts[r], room->a + starts[r], INSERT_VALUES));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscArraycpy(columns, room->j + starts[first], n));
  for (PetscInt r = first; r < last; r++) end[PetscMin(starts[r + 1] - starts[r], HASHGEMM_ROOM_LENGTH) + 1]++;
  for (PetscInt l = 0; l <= HASHGEMM_ROOM_LENGTH; l++) end[l + 1] += end[l];
  for (PetscInt r = first; r < last; r++) rows[end[PetscMin(starts[r + 1] - starts[r], HASHGEMM_ROOM_LENGTH)]++] = r;
  C->structure_only = PETSC_TRUE; /* leaves the values unchanged */
  for (PetscInt l = 0, k = 0; l < HASHGEMM_ROOM_LENGTH; k = end[l++]) {
    if (end[l] > k) PetscCall((*room->setrow)(C, end[l] - k, rows + k, l, columns, NULL, INSERT_VALUES));
  }
  for (PetscInt k = end[HASHGEMM_ROOM_LENGTH - 1]; k < last - first; k++) PetscCall((*room->setrow)(C, 1, rows + k, starts[rows[k] + 1] - starts[rows[k]], columns, NULL, INSERT_VALUES));
  C->structure_only = structure_only;
  PetscCall(PetscArraycpy(room->j + starts[first], columns, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Allocates the rows that begin at starts[]. Finished rows stay in place; only their lengths are passed to PETSc. Memory that malloc() reused for the bound of the
   entries returns to the system, but for the entries. */
PetscErrorCode HashGEMMRoomSetUp(HashGEMMRoom *room, const PetscInt starts[])
{
  PetscScalar *a = room->a;
  SysCSR       csr;

  PetscFunctionBegin;
  if (!room->setrow) {
    PetscCall(HashGEMMPreallocate(room->C, room->p, room->m, room->n, starts));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  SysForget(room->j + starts[room->m], sizeof(*room->j) * (size_t)(room->entries - starts[room->m]));
  SysForget(room->a + starts[room->m], sizeof(*room->a) * (size_t)(room->entries - starts[room->m]));
  room->C->ops->getinfo = MatGetInfo_HashGEMMRoom;
  PetscCall(MatSeqAIJRestoreArrayWrite(room->C, &a));
  PetscCall(MatAIJGetPattern(room->C, &csr));
  PetscCall(PetscArraycpy((PetscInt *)csr.i, starts, room->m + 1)); /* lengths were passed in any order */
  for (PetscInt r = 0; r < (PetscInt)room->m; r += HASHGEMM_ROOM_ROWS) PetscCall(HashGEMMRoomSetLengths(room, starts, r, (PetscInt)PetscMin(r + HASHGEMM_ROOM_ROWS, room->m)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
