/* SPDX-License-Identifier: BSD-2-Clause */
/*
   A B, A^T B and P^T A P of MPI matrices. Each process fetches the rows of the right factor that it needs from other processes, makes one local product,
   and sends rows of the result to the processes that have them, where they are added.

   Rows and columns are numbered as in hashgemmrows.h: a local matrix has no columns that do not occur in it. In P^T A P the local A is square, with
   empty rows for the rows of P that were fetched.
*/
#include "mat/impls/hashgemm/glue/hashgemmparallel.h"

PetscErrorCode HashGEMMParallelDestroy(HashGEMMParallel **parallel)
{
  HashGEMMParallel *q = *parallel;

  PetscFunctionBegin;
  if (!q) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HashGEMMDeviceParallelDestroy(q));
  PetscCall(HashGEMMHaloDestroy(&q->fetched));
  PetscCall(HashGEMMHaloDestroy(&q->sent));
  PetscCall(PetscFree(q->columns.global));
  HashGEMMRowsFree(&q->left);
  HashGEMMRowsFree(&q->right);
  HashGEMMRowsFree(&q->result);
  HashGEMMRowsFree(&q->pieces);
  HashGEMMRowsFree(&q->sum);
  PetscCall(PetscFree3(q->sums, q->from, q->piece));
  PetscCall(PetscFree(q->to));
  PetscCall(PetscFree(*parallel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- local matrices ------------------------------------------------- */

/* get is MatAIJGetArrays(), or MatAIJGetPattern() if no values are needed, which may be on a device */
static PetscErrorCode HashGEMMGetBlocks(Mat A, PetscErrorCode (*get)(Mat, SysCSR *), SysCSR block[2], PetscInt *nglobal, const PetscInt **global)
{
  Mat d, o;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, &d, &o, global));
  PetscCall((*get)(d, &block[0]));
  PetscCall((*get)(o, &block[1]));
  *nglobal = o->cmap->n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The left factor, made of the two blocks of A side by side. If it has to be square, empty rows follow, one for each column of the second block. Without a
   second block nothing is copied. The left factor is freed after use: another one costs little. */
static PetscErrorCode HashGEMMMakeLeft(Mat A, PetscBool square, HashGEMMParallel *q, SpgemmInfo *info, SysStatus *status)
{
  HashGEMMRows   *left = &q->left;
  SysCSR          block[2];
  PetscInt        nglobal;
  const PetscInt *global;

  PetscFunctionBegin;
  if (q->device) {
    PetscCall(HashGEMMDeviceMakeLeft(A, square, q));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(HashGEMMGetBlocks(A, MatAIJGetArrays, block, &nglobal, &global));
  *left = HashGEMMRowsBorrow(&block[0]);
  if (!nglobal) PetscFunctionReturn(PETSC_SUCCESS);
  *status = HashGEMMRowsCreate(block[0].m + (square ? nglobal : 0), block[0].n + nglobal, (int64_t)block[0].i[block[0].m] + block[1].i[block[1].m], PETSC_FALSE, left, info);
  if (*status) PetscFunctionReturn(PETSC_SUCCESS);
  HashGEMMMergeLengths(block[0].m, block[0].i, block[1].i, left->i);
  for (int64_t r = block[0].m; r < left->m; r++) left->i[r + 1] = left->i[r];
  HashGEMMMergeColumns(block[0].m, block[0].i, block[0].j, block[1].i, block[1].j, 0, (PetscInt)block[0].n, NULL, left->j);
  HashGEMMMergeValues(block[0].m, block[0].i, block[0].a, block[1].i, block[1].a, left->a);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the local product, or the sums. This function neither communicates nor raises an error: HashGEMMAgree() does both. */
static SysStatus HashGEMMMakeResult(SpgemmType type, const HashGEMMRows *left, const HashGEMMRows *right, const SpgemmOptions *options, Spgemm **spgemm, HashGEMMRows *result, SpgemmInfo *info)
{
  const SysCSR A = HashGEMMRowsCSR(left), B = HashGEMMRowsCSR(right);
  SysStatus    status = SpgemmCreate(type, &A, &B, NULL, options, spgemm, info);
  int64_t      m, n;

  if (status) return status;
  SpgemmSize(type, &A, &B, NULL, &m, &n);
  if (!HashGEMMRowsAllocate(m, n, SpgemmNonzeros(*spgemm), 0, result)) return SYS_OUT_OF_MEMORY;
  status = SpgemmFill(*spgemm, &A, &B, NULL, result->i, result->j, result->a);
  SpgemmGetInfo(*spgemm, info);
  return status;
}

/* New values, likewise */
static SysStatus HashGEMMRenewResult(const HashGEMMRows *left, const HashGEMMRows *right, Spgemm *spgemm, const HashGEMMRows *result, SpgemmInfo *info)
{
  const SysCSR    A = HashGEMMRowsCSR(left), B = HashGEMMRowsCSR(right);
  const SysStatus status = SpgemmRevalue(spgemm, &A, &B, NULL, result->i, result->j, result->a);

  SpgemmGetInfo(spgemm, info);
  return status;
}

/* ------------------------------------------------- the right factor ------------------------------------------------- */

/* The runs and the columns of rows of B that other processes fetch, where the rows of a process are put together of both blocks: a run for each of rows[]. known[] are the global
   columns of the second block. */
static PetscErrorCode HashGEMMGetWanted(Mat B, const PetscInt rows[], const PetscInt known[], HashGEMMHalo *h, PetscInt **columns, SpgemmInfo *info, SysStatus *status)
{
  SysCSR          block[2];
  PetscInt        nknown;
  const PetscInt *same;

  PetscFunctionBegin;
  *columns    = NULL;
  h->start[0] = 0;
  if (!h->nrun) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HashGEMMGetBlocks(B, MatAIJGetPattern, block, &nknown, &same));
  for (PetscInt k = 0; k < h->nrun; k++) {
    const PetscInt r = rows[k];

    h->run[2 * k]     = block[0].i[r] + block[1].i[r];
    h->run[2 * k + 1] = block[0].i[r + 1] + block[1].i[r + 1];
  }
  PetscCall(HashGEMMHaloStart(h, info, status));
  PetscCall(PetscMalloc1(h->start[h->nrun], columns));
  for (PetscInt k = 0, to = 0; k < h->nrun; k++) {
    const PetscInt r     = rows[k];
    PetscInt       below = block[1].i[r];

    if (h->start[k + 1] == h->start[k]) continue;
    for (PetscInt l = block[1].i[r]; l < block[1].i[r + 1]; l++) {
      if (known[block[1].j[l]] < B->cmap->rstart) (*columns)[to++] = known[block[1].j[below++]];
    }
    for (PetscInt l = block[0].i[r]; l < block[0].i[r + 1]; l++) (*columns)[to++] = B->cmap->rstart + block[0].j[l];
    for (PetscInt l = below; l < block[1].i[r + 1]; l++) (*columns)[to++] = known[block[1].j[l]];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the rows of B that a product with A needs of other processes. *columns become their global columns, as they are there, which the caller frees unless the device exchanged them. Two
   messages for each pair of processes: lengths and columns. */
static PetscErrorCode HashGEMMFindRows(Mat A, Mat B, const PetscInt known[], HashGEMMParallel *q, PetscInt **columns, SpgemmInfo *info, SysStatus *status)
{
  HashGEMMHalo *halo = &q->fetched;
  PetscInt     *wanted, *here;
  PetscBool     done = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(HashGEMMHaloRequest(A, halo, &wanted));
  if (q->device) PetscCall(HashGEMMDeviceGetWanted(B, wanted, q, info, status, &done));
  if (!done) {
    PetscCall(HashGEMMDeviceParallelDestroy(q));
    PetscCall(HashGEMMGetWanted(B, wanted, known, halo, &here, info, status));
  }
  PetscCall(HashGEMMHaloAnswer(halo, info, status));
  if (q->device) PetscCall(HashGEMMDeviceFetchRows(B, q, columns));
  else PetscCall(HashGEMMHaloColumns(halo, &here, columns));
  PetscCall(PetscFree(wanted));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The pattern of the rows of B that this process has, in the right factor on the host. Gets the values as well: the pattern of a deferred B ends with its completion. */
static PetscErrorCode HashGEMMRightOwnRows(Mat B, const PetscInt map[], HashGEMMParallel *q)
{
  SysCSR          block[2];
  PetscInt        nknown;
  const PetscInt *known;

  PetscFunctionBegin;
  PetscCall(HashGEMMGetBlocks(B, MatAIJGetArrays, block, &nknown, &known));
  if (q->right.borrowed) q->right = HashGEMMRowsBorrow(&block[0]);
  else {
    HashGEMMMergeLengths(block[0].m, block[0].i, block[1].i, q->right.i);
    HashGEMMMergeColumns(block[0].m, block[0].i, block[0].j, block[1].i, block[1].j, 0, q->columns.n, map, q->right.j);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The pattern of the right factor on the host */
static PetscErrorCode HashGEMMMakeHostRight(Mat B, PetscInt nrow, const PetscInt columns[], HashGEMMParallel *q, SpgemmInfo *info, SysStatus *status)
{
  HashGEMMColumns *c = &q->columns;
  SysCSR           block[2];
  PetscInt         m, nz, nknown, *map = NULL;
  const PetscInt  *known;

  PetscFunctionBegin;
  PetscCall(HashGEMMGetBlocks(B, MatAIJGetSizes, block, &nknown, &known));
  m  = (PetscInt)block[0].m;
  nz = (PetscInt)(block[0].nz + block[1].nz);
  PetscCall(HashGEMMColumnsCreate(B->cmap->rstart, B->cmap->n, nknown, known, q->fetched.n, columns, c));
  if (nrow <= 0 && !nknown) q->right = HashGEMMRowsBorrow(&block[0]); /* there are no other entries */
  else if (!*status) *status = HashGEMMRowsCreate(m + PetscMax(nrow, 0), c->n + c->nglobal, (int64_t)nz + q->fetched.n, PETSC_FALSE, &q->right, info);
  if (*status) PetscFunctionReturn(PETSC_SUCCESS);
  if (!q->right.borrowed) {
    PetscCall(HashGEMMColumnsMap(c, nknown, known, &map));
    q->right.i[m] = nz;
    for (PetscInt r = 0; r < nrow; r++) q->right.i[m + r + 1] = nz + q->fetched.first[r + 1];
    if (nrow > 0) PetscCall(HashGEMMHaloPut(&q->fetched, c, columns, q->right.i + m, q->right.j));
  }
  PetscCall(HashGEMMRightOwnRows(B, map, q));
  PetscCall(PetscFree(map));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The pattern of the right factor: the rows of B that this process has, and below them the nrow rows that the second block of the left factor has columns for, unless nrow is negative */
static PetscErrorCode HashGEMMMakeRight(Mat A, Mat B, PetscInt nrow, HashGEMMParallel *q, SpgemmInfo *info, SysStatus *status)
{
  PetscInt       *columns = NULL;
  const PetscInt *known;
  PetscBool       done = PETSC_FALSE, pinned;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(B, NULL, NULL, &known));
  if (nrow >= 0) PetscCall(HashGEMMFindRows(A, B, known, q, &columns, info, status));
  pinned = (PetscBool)(q->device != NULL);
  if (q->device && !*status) PetscCall(HashGEMMDeviceMakeRight(B, PetscMax(nrow, 0), columns, q, &done));
  if (!done) {
    PetscCall(HashGEMMDeviceParallelDestroy(q));
    PetscCall(HashGEMMMakeHostRight(B, nrow, columns, q, info, status));
  }
  if (!pinned) PetscCall(PetscFree(columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The values of the rows of B that this process has */
static PetscErrorCode HashGEMMRightOwnValues(Mat B, HashGEMMParallel *q)
{
  SysCSR          block[2];
  PetscInt        nknown;
  const PetscInt *known;

  PetscFunctionBegin;
  PetscCall(HashGEMMGetBlocks(B, MatAIJGetArrays, block, &nknown, &known));
  if (q->right.borrowed) q->right.a = (PetscScalar *)block[0].a;
  else HashGEMMMergeValues(block[0].m, block[0].i, block[0].a, block[1].i, block[1].a, q->right.a);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The values of the rows of B that this process has, of which it sends those that others have asked for */
static PetscErrorCode HashGEMMRightValuesBegin(Mat B, HashGEMMParallel *q)
{
  PetscFunctionBegin;
  if (q->device) PetscCall(HashGEMMDeviceRightBegin(B, q));
  else {
    PetscCall(HashGEMMRightOwnValues(B, q));
    if (q->fetched.comm != MPI_COMM_NULL) PetscCall(HashGEMMHaloBegin(&q->fetched, &q->columns, q->right.j, MPIU_SCALAR, sizeof(PetscScalar), q->right.a, q->fetched.values));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HashGEMMRightValuesEnd(HashGEMMParallel *q)
{
  PetscFunctionBegin;
  if (q->device) PetscCall(HashGEMMDeviceRightEnd(q));
  else {
    if (q->fetched.comm != MPI_COMM_NULL) PetscCall(HashGEMMHaloEnd(&q->fetched, sizeof(PetscScalar), q->fetched.values));
    HashGEMMHaloPlace(&q->fetched, q->right.a);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes both factors on the host, since the device could not make the product */
static PetscErrorCode HashGEMMLeaveDevice(Mat A, Mat B, PetscBool square, HashGEMMParallel *q, SpgemmInfo *info, SysStatus *status)
{
  PetscInt        nknown, *map = NULL;
  const PetscInt *known;
  Mat             o;

  PetscFunctionBegin;
  PetscCall(HashGEMMDeviceCopyRight(q, info, status));
  PetscCall(HashGEMMDeviceParallelDestroy(q));
  if (!*status) PetscCall(HashGEMMMakeLeft(A, square, q, info, status));
  if (*status) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatMPIAIJGetSeqAIJ(B, NULL, &o, &known));
  nknown = o->cmap->n;
  if (!q->right.borrowed) PetscCall(HashGEMMColumnsMap(&q->columns, nknown, known, &map));
  PetscCall(HashGEMMRightOwnRows(B, map, q));
  PetscCall(PetscFree(map));
  PetscCall(HashGEMMRightOwnValues(B, q));
  HashGEMMHaloPlace(&q->fetched, q->right.a);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- rows of the result that belong elsewhere ------------------------------------------------- */

/* The pattern of the pieces: each row of this process that has something to add, followed by the rows to add. c gets the columns of all rows of this
   process. If memory is short, the pieces have no rows. */
static PetscErrorCode HashGEMMMakeSent(PetscLayout layout, const PetscInt global[], HashGEMMParallel *q, HashGEMMColumns *c, SpgemmInfo *info, SysStatus *status)
{
  const HashGEMMColumns *before = &q->columns;
  const PetscInt         m = layout->n, first = q->result.i[m], nz = (PetscInt)q->result.nz;
  PetscInt              *degree, *there, *columns, *used, *map, *places;
  PetscInt               ncome, nsum = 0, nused, piece = 0;
  int64_t                own = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(m, &degree));
  PetscCall(HashGEMMHaloOffer(layout, (PetscInt)q->result.m - m, global, q->result.i + m, &q->sent, degree, info, status));
  ncome = q->sent.nrow;
  PetscCall(PetscMalloc1(nz - first, &there));
  for (PetscInt l = first; l < nz; l++) there[l - first] = q->result.j[l] < before->n ? before->first + q->result.j[l] : before->global[q->result.j[l] - before->n];
  PetscCall(PetscMalloc1(q->sent.n, &columns));
  PetscCall(HashGEMMHaloBegin(&q->sent, before, q->result.j + first, MPIU_INT, sizeof(*there), there, columns));
  PetscCall(HashGEMMHaloEnd(&q->sent, sizeof(*columns), columns));
  PetscCall(PetscFree(there));
  PetscCall(HashGEMMColumnsUsed(q, m, &nused, &used));
  PetscCall(HashGEMMColumnsCreate(before->first, before->n, nused, used, q->sent.n, columns, c));
  PetscCall(PetscFree(used));
  PetscCall(HashGEMMColumnsMap(c, before->nglobal, before->global, &map));

  for (PetscInt r = 0; r < m; r++) {
    if (!degree[r]) continue;
    nsum++;
    own += q->result.i[r + 1] - q->result.i[r];
  }
  PetscCall(PetscMalloc3(nsum, &q->sums, m, &q->from, nsum + 1, &q->piece));
  if (!*status) *status = HashGEMMRowsCreate(nsum + ncome, c->n + c->nglobal, own + q->sent.n, PETSC_TRUE, &q->pieces, info);
  PetscCall(PetscMalloc1(ncome, &places));
  if (!*status) q->piece[0] = q->pieces.i[0] = 0;
  ncome = 0;
  for (PetscInt r = 0; r < m && !*status; r++) {
    PetscInt place = q->pieces.i[piece];

    q->from[r] = -1;
    if (!degree[r]) continue;
    for (PetscInt l = q->result.i[r]; l < q->result.i[r + 1]; l++) {
      const PetscInt column = q->result.j[l];

      q->pieces.j[place++] = column < c->n || !map ? column : c->n + map[column - c->n];
    }
    q->pieces.i[++piece] = place;
    for (PetscInt d = 0; d < degree[r]; d++, ncome++) {
      places[ncome] = place;
      place += q->sent.first[ncome + 1] - q->sent.first[ncome];
      q->pieces.i[++piece] = place;
    }
    q->from[r]         = q->nsum;
    q->sums[q->nsum++] = r;
    q->piece[q->nsum]  = piece;
  }
  if (!*status) PetscCall(HashGEMMHaloPut(&q->sent, c, columns, places, q->pieces.j));
  PetscCall(PetscFree(places));
  PetscCall(PetscFree(map));
  PetscCall(PetscFree(columns));
  PetscCall(PetscFree(degree));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The values of the pieces, from the local results of this process and of others. If there are no pieces, nothing is put together. */
static PetscErrorCode HashGEMMSend(PetscInt m, HashGEMMParallel *q)
{
  const PetscScalar *there = q->result.a + q->result.i[m];

  PetscFunctionBegin;
  PetscCall(HashGEMMHaloBegin(&q->sent, &q->columns, q->result.j + q->result.i[m], MPIU_SCALAR, sizeof(*there), there, q->sent.values));
  for (PetscInt t = 0; t < q->nsum; t++) PetscCall(PetscArraycpy(q->pieces.a + q->pieces.i[q->piece[t]], q->result.a + q->result.i[q->sums[t]], q->result.i[q->sums[t] + 1] - q->result.i[q->sums[t]]));
  PetscCall(HashGEMMHaloEnd(&q->sent, sizeof(*there), q->sent.values));
  if (q->pieces.a) HashGEMMHaloPlace(&q->sent, q->pieces.a);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sums of the pieces */
static PetscErrorCode HashGEMMMakeSums(HashGEMMParallel *q, SpgemmInfo *info, SysStatus *status)
{
  const int nthread = MatAIJThreads(q->pieces.nz);

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(q->pieces.nz, &q->to));
  if (HashGEMMSumPattern(&q->pieces, q->nsum, q->piece, nthread, q->to, &q->sum)) HashGEMMSumValues(&q->pieces, q->piece, q->to, nthread, &q->sum);
  else {
    *status           = SYS_OUT_OF_MEMORY;
    info->bytes_asked = (double)q->pieces.nz * sizeof(PetscInt);
  }
  PetscCall(PetscLogFlops((PetscLogDouble)q->pieces.nz * PETSC_FLOPS_PER_OP));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- the MPI matrix ------------------------------------------------- */

static PetscErrorCode HashGEMMMakeBlock(PetscInt m, PetscInt n, const PetscInt lengths[], SysCSR *csr, Mat *B)
{
  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_SELF, B));
  PetscCall(MatSetSizes(*B, m, n, m, n));
  PetscCall(MatSetType(*B, MATSEQAIJ));
  PetscCall(MatSeqAIJSetPreallocation(*B, 0, lengths));
  PetscCall(MatAIJGetArrays(*B, csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The blocks of a matrix on the host, or the patterns of one whose values the device will have: their memory on the host remains untouched. PETSc owns all arrays: from 3.23 on it frees
   those of MatCreateSeqAIJWithArrays() as well if an entry is inserted. */
static PetscErrorCode HashGEMMMakeHostBlocks(HashGEMMCut *cut, const PetscInt n[2], PetscBool values, Mat block[2])
{
  PetscInt *lengths[2];
  SysCSR    csr[2];

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(cut->m, &lengths[0], cut->m, &lengths[1]));
  HashGEMMCutLengths(cut, lengths[0], lengths[1]);
  for (int k = 0; k < 2; k++) PetscCall(HashGEMMMakeBlock((PetscInt)cut->m, n[k], lengths[k], &csr[k], &block[k]));
  PetscCall(PetscFree2(lengths[0], lengths[1]));
  HashGEMMCutColumns(cut, csr[0].i, csr[1].i, (PetscInt *)csr[0].j, (PetscInt *)csr[1].j);
  if (values) HashGEMMCutValues(cut, csr[0].i, csr[1].i, (PetscScalar *)csr[0].a, (PetscScalar *)csr[1].a);
  for (int k = 0; k < 2; k++) {
    if (csr[k].j) PetscCall(MatSeqAIJSetColumnIndices(block[k], (PetscInt *)csr[k].j)); /* the columns are in place: this call sets the lengths of the rows */
    if (!values) PetscCall(MatSetOption(block[k], MAT_USE_INODES, PETSC_FALSE));
    PetscCall(MatAssemblyBegin(block[k], MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(block[k], MAT_FINAL_ASSEMBLY));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes *W of the local result, and takes the columns of c */
static PetscErrorCode HashGEMMAssemble(Mat C, PetscInt M, PetscInt N, HashGEMMCut *cut, HashGEMMParallel *q, HashGEMMColumns *c, Mat *W)
{
  const PetscInt n[2]   = {c->n, c->nglobal};
  SpgemmInfo     info   = {0};
  SysStatus      status = SYS_SUCCESS;
  Mat            block[2];

  PetscFunctionBegin;
  if (q->defer) {
    PetscCall(HashGEMMDeviceMakeBlocks(cut, c->nglobal, q, block, &info, &status));
    PetscCall(HashGEMMAgree(C, status, &info));
    if (!c->global) PetscCall(PetscMalloc1(1, &c->global)); /* otherwise PETSc would look for the columns in the entries */
  } else PetscCall(HashGEMMMakeHostBlocks(cut, n, (PetscBool)!q->device, block));
  PetscCall(PetscAMBCreateMPIAIJWithSeqAIJ(PetscObjectComm((PetscObject)C), M, N, block[0], block[1], c->global, W));
  c->global = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HashGEMMCheckLayouts(SpgemmType type, Mat A, Mat B)
{
  const PetscLayout inner = type == SPGEMM_ATB ? A->rmap : A->cmap;

  PetscFunctionBegin;
  PetscCheck(inner->rstart == B->rmap->rstart && inner->rend == B->rmap->rend, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "Matrix local dimensions are incompatible, A (%" PetscInt_FMT ", %" PetscInt_FMT ") != B (%" PetscInt_FMT ", %" PetscInt_FMT ")", inner->rstart,
             inner->rend, B->rmap->rstart, B->rmap->rend);
  PetscCheck(type != SPGEMM_PTAP || (A->rmap->rstart == B->rmap->rstart && A->rmap->rend == B->rmap->rend), PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "Matrix local dimensions are incompatible, A (%" PetscInt_FMT ", %" PetscInt_FMT ") != P (%" PetscInt_FMT ", %" PetscInt_FMT ")",
             A->rmap->rstart, A->rmap->rend, B->rmap->rstart, B->rmap->rend);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HashGEMMParallelSymbolic(Mat C, SpgemmType type, Mat A, Mat B, HashGEMMProduct *p, Mat *W)
{
  PetscLayout       layout = type == SPGEMM_AB ? A->rmap : type == SPGEMM_ATB ? A->cmap : B->cmap;
  HashGEMMParallel *q;
  HashGEMMColumns   final;
  HashGEMMCut       cut;
  PetscInt          nrow, nused, *used, *map;
  const PetscInt   *rows;
  PetscMPIInt       size;
  Mat               offdiagonal;
  SpgemmInfo        info   = {0};
  SysStatus         status = SYS_SUCCESS;
  PetscBool         made   = PETSC_FALSE; /* has the device made the local product? */

  PetscFunctionBegin;
  PetscCall(HashGEMMCheckLayouts(type, A, B));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)C), &size));
  PetscCall(PetscNew(&q));
  q->fetched.comm = q->sent.comm = MPI_COMM_NULL;
  p->parallel                    = q;
  PetscCall(MatMPIAIJGetSeqAIJ(A, NULL, &offdiagonal, &rows));
  nrow = offdiagonal->cmap->n;
  PetscCall(HashGEMMDeviceParallelCreate(C, A, B, p, q));
  PetscCall(HashGEMMMakeRight(A, B, type == SPGEMM_ATB || size == 1 ? -1 : nrow, q, &info, &status));
  PetscCall(HashGEMMAgree(C, status, &info)); /* other processes fetch from the right factor */
  PetscCall(HashGEMMRightValuesBegin(B, q));
  PetscCall(HashGEMMMakeLeft(A, (PetscBool)(type == SPGEMM_PTAP), q, &info, &status));
  PetscCall(HashGEMMRightValuesEnd(q));
  if (q->device) PetscCall(HashGEMMDeviceMakeResult(C, type, layout->n, p, q, &made));
  if (q->device && !made) PetscCall(HashGEMMLeaveDevice(A, B, (PetscBool)(type == SPGEMM_PTAP), q, &info, &status));
  if (!made && !status) status = HashGEMMMakeResult(type, &q->left, &q->right, &p->options, &p->spgemm, &q->result, &info);
  if (made && size > 1) PetscCall(HashGEMMDeviceDefers(C, p, B->cmap->N / size, &q->defer));
  if (made && !q->defer) status = HashGEMMRowsCreate(q->result.m, q->result.n, q->result.nz, PETSC_TRUE, &q->result, &info);
  PetscCall(HashGEMMAgreeAll(C, status, &info, &q->defer));
  if (made && !q->defer) PetscCall(HashGEMMDeviceFetchPattern(q));
  if (!made) PetscCall(HashGEMMReport(C, &info));
  HashGEMMRowsFree(&q->left);

  cut.rows    = &q->result;
  cut.other   = &q->sum;
  cut.from    = NULL;
  cut.m       = layout->n;
  cut.n       = q->columns.n;
  cut.nthread = p->options.nthread;
  if (type == SPGEMM_AB || size == 1) {
    PetscCall(HashGEMMColumnsUsed(q, layout->n, &nused, &used));
    PetscCall(HashGEMMColumnsCreate(q->columns.first, q->columns.n, nused, used, 0, NULL, &final));
    PetscCall(PetscFree(used));
  } else {
    const PetscInt *elsewhere = type == SPGEMM_ATB ? rows : q->columns.global;

    if (q->device) PetscCall(HashGEMMDeviceMakeSums(layout, elsewhere, B->cmap->N, q, &final, &info, &status));
    else {
      PetscCall(HashGEMMMakeSent(layout, elsewhere, q, &final, &info, &status));
      PetscCall(HashGEMMSend(layout->n, q));
      if (!status) PetscCall(HashGEMMMakeSums(q, &info, &status));
    }
    PetscCall(HashGEMMAgree(C, status, &info));
    cut.from = q->from;
  }
  PetscCall(HashGEMMColumnsMap(&final, q->columns.nglobal, q->columns.global, &map));
  cut.map = map;
  PetscCall(HashGEMMAssemble(C, layout->N, B->cmap->N, &cut, q, &final, W));
  PetscCall(PetscFree(map));
  HashGEMMRowsFreeValues(&q->result);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the values of C of the result that the device has made, on the processes where it has. All processes of an AIJCUSPARSE agree whether memory sufficed. */
PetscErrorCode HashGEMMParallelCut(Mat C, HashGEMMParallel *q)
{
  SpgemmInfo info   = {0};
  SysStatus  status = SYS_SUCCESS;

  PetscFunctionBegin;
  PetscCall(HashGEMMDeviceCut(C, q, &info, &status));
  if (MatAIJIsCUSPARSE(C)) PetscCall(HashGEMMAgree(C, status, &info));
  else PetscCall(HashGEMMCheck(PETSC_COMM_SELF, status, info.nonzeros, info.bytes_peak, info.bytes_asked));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HashGEMMParallelNumeric(Mat C, SpgemmType type, Mat A, Mat B, PetscBool newB, HashGEMMProduct *p)
{
  HashGEMMParallel *q   = p->parallel;
  HashGEMMCut       cut = {.rows = &q->result, .other = &q->sum, .from = q->from, .m = C->rmap->n, .nthread = p->options.nthread};
  SysCSR            csr[2];
  SpgemmInfo        info   = {0};
  SysStatus         status = SYS_SUCCESS;
  PetscScalar      *a[2];
  Mat               block[2];

  PetscFunctionBegin;
  if (newB) PetscCall(HashGEMMRightValuesBegin(B, q));
  PetscCall(HashGEMMMakeLeft(A, (PetscBool)(type == SPGEMM_PTAP), q, &info, &status));
  if (newB) PetscCall(HashGEMMRightValuesEnd(q));
  if (!status && !q->device && !HashGEMMRowsAllocateValues(&q->result)) {
    status          = SYS_OUT_OF_MEMORY;
    info.bytes_peak = (double)q->result.nz * sizeof(PetscScalar);
  }
  if (!status && q->device) PetscCall(HashGEMMDeviceRenewResult(q, &info, &status));
  if (!status && !q->device) status = HashGEMMRenewResult(&q->left, &q->right, p->spgemm, &q->result, &info);
  PetscCall(HashGEMMAgree(C, status, &info));
  PetscCall(PetscLogFlops(2 * info.products));
  HashGEMMRowsFree(&q->left);
  if (q->sent.comm != MPI_COMM_NULL) {
    if (q->device) PetscCall(HashGEMMDeviceRenewSums(C->rmap->n, q, &info, &status));
    else {
      PetscCall(HashGEMMSend(C->rmap->n, q));
      if (!status) HashGEMMSumValues(&q->pieces, q->piece, q->to, MatAIJThreads(q->pieces.nz), &q->sum);
    }
    PetscCall(HashGEMMAgree(C, status, &info));
    PetscCall(PetscLogFlops((PetscLogDouble)q->pieces.nz * PETSC_FLOPS_PER_OP));
  }
  PetscCall(HashGEMMParallelCut(C, q));
  if (!q->device) {
    PetscCall(MatMPIAIJGetSeqAIJ(C, &block[0], &block[1], NULL));
    for (int k = 0; k < 2; k++) {
      PetscCall(MatAIJGetPattern(block[k], &csr[k]));
      PetscCall(MatSeqAIJGetArrayWrite(block[k], &a[k]));
    }
    HashGEMMCutValues(&cut, csr[0].i, csr[1].i, a[0], a[1]);
    for (int k = 0; k < 2; k++) PetscCall(MatSeqAIJRestoreArrayWrite(block[k], &a[k]));
  }
  HashGEMMRowsFreeValues(&q->result);
  PetscFunctionReturn(PETSC_SUCCESS);
}
