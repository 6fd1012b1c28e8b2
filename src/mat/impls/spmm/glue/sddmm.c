/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MatSDDMM(): entries of the product of two dense matrices in the pattern of a sparse matrix
*/
#include <petscamb.h>

#include "sys/systhreads.h"
#include "mat/impls/spmm/glue/spmm.h"

PetscLogEvent MAT_Sddmm;

/* Checks that O's blocks have the pattern of S's */
static PetscErrorCode SddmmCheckPattern(Mat S, Mat O)
{
  Mat             s[2], o[2];
  const PetscInt *gs, *go;
  PetscBool       same = PETSC_TRUE;
  PetscMPIInt     all;

  PetscFunctionBegin;
  PetscCall(MatAIJGetBlocks(S, s, &gs));
  PetscCall(MatAIJGetBlocks(O, o, &go));
  for (int k = 0; k < 2 && s[k]; k++) {
    SysCSR cs, co;

    PetscCall(MatAIJGetPattern(s[k], &cs));
    PetscCall(MatAIJGetPattern(o[k], &co));
    same = (PetscBool)(same && cs.m == co.m && cs.n == co.n && cs.nz == co.nz);
    same = (PetscBool)(same && !memcmp(cs.i, co.i, sizeof(*cs.i) * (size_t)(cs.m + 1)) && (!cs.nz || !memcmp(cs.j, co.j, sizeof(*cs.j) * (size_t)cs.nz)));
    if (k && same) same = (PetscBool)(!cs.n || !memcmp(gs, go, sizeof(*gs) * (size_t)cs.n));
  }
  all = same;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)S)));
  PetscCheck(all, PetscObjectComm((PetscObject)S), PETSC_ERR_ARG_WRONG, "MatSDDMM(): the matrix to use again has other entries than the sparse matrix; use MAT_INITIAL_MATRIX");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Data composed with a result, for the next product */
typedef struct {
  SpmmSeen              seen[2]; /* of S and of the result */
  PetscSF               sf;
  int                   width, nthread; /* on the host: the panel's width, and the threads of the work space */
  int64_t               ring;
  SpmmMemory            panel, ghost, work;
  struct _SpmmOnDevice *device; /* NULL: on the host */
} Sddmm;

static PetscErrorCode SddmmResetHost(Sddmm *w)
{
  PetscFunctionBegin;
  PetscCall(SpmmMemoryDestroy(&w->panel));
  PetscCall(SpmmMemoryDestroy(&w->ghost));
  PetscCall(SpmmMemoryDestroy(&w->work));
  w->ring  = 0;
  w->width = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SddmmReset(Sddmm *w)
{
  PetscFunctionBegin;
  PetscCall(PetscSFDestroy(&w->sf));
  PetscCall(SddmmResetHost(w));
  PetscCall(SpmmOnDeviceReset(&w->device));
  PetscCall(PetscMemzero(w, sizeof(*w)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SddmmDestroy(PetscAMBCtxArgument arg)
{
  Sddmm *w = (Sddmm *)PetscAMBCtxGet(arg);

  PetscFunctionBegin;
  PetscCall(SddmmReset(w));
  PetscCall(PetscFree(w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SddmmGet(Mat O, Sddmm **w)
{
  PetscFunctionBegin;
  PetscCall(PetscAMBObjectContainerQuery((PetscObject)O, "SDDMM_petscamb", (void **)w));
  if (!*w) {
    PetscCall(PetscNew(w));
    PetscCall(PetscAMBObjectContainerCompose((PetscObject)O, "SDDMM_petscamb", *w, SddmmDestroy));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Allocates the host's work space */
static PetscErrorCode SddmmMakeHost(Mat S, PetscInt K, const Mat block[2], Sddmm *w)
{
  const int   nthread = SysThreads();
  SysStatus   status  = SYS_SUCCESS;
  SysCSR      csr;
  PetscMPIInt worst;
  int         width;

  PetscFunctionBegin;
  (void)SddmmPanelColumns(K, &width);
  if (w->width == width && w->nthread == nthread) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SddmmResetHost(w));
  w->nthread = nthread;
  PetscCall(MatAIJGetPattern(block[0], &csr));
  if (!block[1]) w->ring = SpmmRing(csr.m, csr.n, csr.i, csr.j);
  PetscCall(SpmmMemoryCreate((size_t)(w->ring ? nthread * SpmmRingSize(w->ring, width) : csr.n * width), &w->panel, &status));
  PetscCall(SpmmMemoryCreate((size_t)(nthread * SddmmWorkSize(width)), &w->work, &status));
  if (block[1]) PetscCall(SpmmMemoryCreate((size_t)block[1]->cmap->n * (size_t)width, &w->ghost, &status));
  worst = (PetscMPIInt)status;
  if (block[1]) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)S)));
  PetscCheck(worst == SYS_SUCCESS, PetscObjectComm((PetscObject)S), PETSC_ERR_MEM, "Not enough memory for MatSDDMM(): use more processes");
  w->width = width;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the data of S's pattern and the work space, unless the result already has them: on the device if the matrices are there and memory suffices
   on all processes, else on the host */
static PetscErrorCode SddmmMake(Mat S, Mat D1, Mat D2, MatReuse reuse, Mat O, Sddmm *w)
{
  const PetscInt  K = PetscMax(D1->cmap->N, 1);
  const PetscInt *garray;
  Mat             block[2];
  SpmmSeen        seen[2];
  PetscMPIInt     changed, lacks;
  PetscBool       done = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(MatAIJGetBlocks(S, block, &garray));
  PetscCall(SpmmGetSeen(S, &seen[0]));
  PetscCall(SpmmGetSeen(O, &seen[1]));
  changed = !SpmmSeenSame(&seen[0], &w->seen[0]) || !SpmmSeenSame(&seen[1], &w->seen[1]);
  if (block[1]) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &changed, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)S)));
  if (changed) {
    if (reuse == MAT_REUSE_MATRIX) PetscCall(SddmmCheckPattern(S, O));
    PetscCall(SddmmReset(w));
    PetscCall(PetscArraycpy(w->seen, seen, 2));
    if (block[1]) PetscCall(MatAIJGetScatter(S, &w->sf));
  }
  if (MatAIJIsCUSPARSE(S)) {
    PetscCall(SddmmOnDeviceMake(S, D1, D2, O, &w->device, &done));
    lacks = done ? 0 : 1;
    if (block[1]) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &lacks, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)S)));
    if (!lacks) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(SpmmOnDeviceReset(&w->device));
    PetscCall(PetscInfo(O, "MatSDDMM() runs on the host: a sparse matrix is not on the GPU, or its memory does not suffice\n"));
  }
  PetscCall(SddmmMakeHost(S, K, block, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes with one panel: columns col to col + ncol - 1 of K */
static PetscErrorCode SddmmPanel(const Sddmm *w, const SpmmTerm term[2], int64_t m, PetscInt col, int ncol, PetscInt K, int width, const SysReal *left, PetscInt ld, PetscBool scale, SysReal *const values[2])
{
  const int    nthread = w->nthread, last = scale && col + ncol == K;
  MPI_Datatype row;

  PetscFunctionBegin;
  if (!w->ring) SpmmPack(nthread, term[0].n, ncol, width, term[0].columns, term[0].ld, w->panel.a);
  if (w->sf) {
    PetscCallMPI(MPI_Type_contiguous(width, MPIU_REAL, &row));
    PetscCallMPI(MPI_Type_commit(&row));
    PetscCall(PetscSFBcastBegin(w->sf, row, w->panel.a, w->ghost.a, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(w->sf, row, w->panel.a, w->ghost.a, MPI_REPLACE));
    PetscCallMPI(MPI_Type_free(&row));
  }
  for (int k = 0; k < (w->sf ? 2 : 1); k++) SddmmValues(nthread, m, &term[k], left, ld, ncol, width, col > 0, last, w->work.a, values[k]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SddmmOnHost(Mat S, Mat D1, Mat D2, PetscBool scale, Mat O, const Sddmm *w)
{
  const PetscInt     K = D1->cmap->N;
  const PetscInt    *garray;
  const PetscScalar *left, *right;
  PetscScalar       *values[2] = {NULL, NULL};
  PetscInt           ldl, ldr;
  Mat                s[2], o[2];
  SpmmTerm           term[2];
  SysCSR             csr[2] = {{0}};
  int                width;

  PetscFunctionBegin;
  PetscCall(MatAIJGetBlocks(S, s, &garray));
  PetscCall(MatAIJGetBlocks(O, o, &garray));
  PetscCall(MatDenseGetLDA(D1, &ldl));
  PetscCall(MatDenseGetLDA(D2, &ldr));
  PetscCall(MatDenseGetArrayRead(D1, &left));
  if (D2 == D1) right = left;
  else PetscCall(MatDenseGetArrayRead(D2, &right));
  for (int k = 0; k < 2 && s[k]; k++) {
    PetscCall(MatAIJGetArrays(s[k], &csr[k]));
    term[k] = (SpmmTerm){.i = csr[k].i, .j = csr[k].j, .a = (const SysReal *)csr[k].a, .n = D2->rmap->n, .ring = w->ring, .ld = ldr, .panel = k ? w->ghost.a : w->panel.a};
    PetscCall(MatSeqAIJGetArrayWrite(o[k], &values[k]));
    if (!K) PetscCall(PetscArrayzero(values[k], csr[k].nz));
  }
  for (PetscInt col = 0; col < K; col += SddmmPanelColumns(K - col, &width)) {
    const int ncol = SddmmPanelColumns(K - col, &width);

    term[0].columns = (const SysReal *)right + (int64_t)col * ldr;
    PetscCall(SddmmPanel(w, term, S->rmap->n, col, ncol, K, width, (const SysReal *)left + (int64_t)col * ldl, ldl, scale, (SysReal *const *)values));
  }
  for (int k = 0; k < 2 && s[k]; k++) PetscCall(MatSeqAIJRestoreArrayWrite(o[k], &values[k]));
  if (D2 != D1) PetscCall(MatDenseRestoreArrayRead(D2, &right));
  PetscCall(MatDenseRestoreArrayRead(D1, &left));
  PetscCall(PetscLogFlops((double)(csr[0].nz + csr[1].nz) * (2.0 * (double)K + (scale ? 1 : 0))));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatSDDMM - computes the entries of the product of two dense matrices, D1 D2^T, in the pattern of a sparse matrix S (sampled dense-dense matrix product)

  Collective

  Input Parameters:
+ S     - the sparse matrix, M x N, of `MATAIJ` or a type that extends it
. D1    - a dense matrix, M x K, whose rows are distributed as the rows of `S`
. D2    - a dense matrix, N x K, whose rows are distributed as the columns of `S`; it may be `D1`
. scale - `PETSC_TRUE`: each entry is multiplied by the entry of `S`, O = S o (D1 D2^T); `PETSC_FALSE`: only the pattern of `S` counts
- reuse - `MAT_INITIAL_MATRIX`, or `MAT_REUSE_MATRIX` if `O` is the result of such a call with a matrix of the same pattern

  Output Parameter:
. O - the sparse matrix of the entries, M x N, with the pattern and the type of `S`

  Level: intermediate

  Notes:
  Stored zeros of `S` are part of its pattern. An infinite or undefined number in a row of `D1` or `D2` reaches the entries of that row only.

  The same input gives the same bits, whatever the number of threads.

  If `S` is on a GPU, and its memory suffices, so is the product; else it runs on the host, and `-info` reports that. `D1` and `D2` may be `MATDENSE`, which cross the bus in
  each product, or `MATDENSECUDA`. On a GPU the bits do not depend on where `D1` and `D2` are.

  `O` keeps the memory of the product for the next one, up to 512 bytes for each row of `D2`.

  On several processes each product exchanges the rows of `D2` that other processes need.

  Errors:
+ `PETSC_ERR_SUP`            - scalars are complex, `S` is not of `MATAIJ` or a type that extends it, or `D1` or `D2` is not of `MATDENSE` or a type that extends it
. `PETSC_ERR_ARG_SIZ`        - sizes or distributions do not fit
. `PETSC_ERR_ARG_WRONGSTATE` - `S` is not assembled
. `PETSC_ERR_ARG_OUTOFRANGE` - `reuse` is neither of the two
. `PETSC_ERR_ARG_WRONG`      - the `O` to use again has other sizes or another pattern
. `PETSC_ERR_ARG_IDN`        - the `O` to use again is `S`
- `PETSC_ERR_MEM`            - there is too little memory

  Example:
.vb
  PetscCall(MatSDDMM(S, D1, D2, PETSC_TRUE, MAT_INITIAL_MATRIX, &O));
  PetscCall(MatScale(D1, 0.5)); // new values, in D1, in D2 or in S
  PetscCall(MatSDDMM(S, D1, D2, PETSC_TRUE, MAT_REUSE_MATRIX, &O));
  PetscCall(MatDestroy(&O));
.ve

.seealso: `MatMatMult()`, `MATPRODUCTALGORITHMSPMM`, `MATAMB`, `MATDENSE`
@*/
PetscErrorCode MatSDDMM(Mat S, Mat D1, Mat D2, PetscBool scale, MatReuse reuse, Mat *O)
{
  const Mat dense[2] = {D1, D2};
  Sddmm    *w;
  PetscBool aij, is;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(S, MAT_CLASSID, 1);
  PetscValidHeaderSpecific(D1, MAT_CLASSID, 2);
  PetscValidHeaderSpecific(D2, MAT_CLASSID, 3);
  PetscValidLogicalCollectiveBool(S, scale, 4);
  PetscValidLogicalCollectiveEnum(S, reuse, 5);
  PetscCheck(!PetscDefined(USE_COMPLEX), PetscObjectComm((PetscObject)S), PETSC_ERR_SUP, "MatSDDMM() multiplies real numbers; use a PETSc configured without complex numbers");
  PetscCall(SpmmCite());
  PetscCheck(reuse == MAT_INITIAL_MATRIX || reuse == MAT_REUSE_MATRIX, PetscObjectComm((PetscObject)S), PETSC_ERR_ARG_OUTOFRANGE, "MatSDDMM() takes MAT_INITIAL_MATRIX or MAT_REUSE_MATRIX");
  PetscCheck(S->assembled, PetscObjectComm((PetscObject)S), PETSC_ERR_ARG_WRONGSTATE, "Not for an unassembled matrix; call MatAssemblyBegin() and MatAssemblyEnd() first");
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)S, &aij, MATSEQAIJ, MATMPIAIJ, ""));
  PetscCheck(aij, PetscObjectComm((PetscObject)S), PETSC_ERR_SUP, "The sparse matrix of MatSDDMM() has the type %s; convert it to MATAIJ or a type of petsc-amb", ((PetscObject)S)->type_name);
  for (int k = 0; k < 2; k++) {
    const PetscLayout map = k ? S->cmap : S->rmap;

    PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)dense[k], &is, MATSEQDENSE, MATMPIDENSE, ""));
    PetscCheck(is, PetscObjectComm((PetscObject)S), PETSC_ERR_SUP, "D%d of MatSDDMM() has the type %s; convert it to MATDENSE", k + 1, ((PetscObject)dense[k])->type_name);
    PetscCheck(dense[k]->rmap->N == map->N && dense[k]->rmap->n == map->n, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "D%d has %" PetscInt_FMT " local rows of %" PetscInt_FMT ", but the sparse matrix has %" PetscInt_FMT " local %s of %" PetscInt_FMT, k + 1,
               dense[k]->rmap->n, dense[k]->rmap->N, map->n, k ? "columns" : "rows", map->N);
  }
  PetscCheck(D1->cmap->N == D2->cmap->N, PetscObjectComm((PetscObject)S), PETSC_ERR_ARG_SIZ, "D1 has %" PetscInt_FMT " columns, D2 %" PetscInt_FMT, D1->cmap->N, D2->cmap->N);
  PetscCall(PetscLogEventBegin(MAT_Sddmm, S, D1, D2, 0));
  if (reuse == MAT_INITIAL_MATRIX) {
    PetscCall(MatDuplicate(S, MAT_DO_NOT_COPY_VALUES, O));
    PetscCall(MatAssemblyBegin(*O, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(*O, MAT_FINAL_ASSEMBLY));
  } else {
    PetscValidHeaderSpecific(*O, MAT_CLASSID, 6);
    PetscCheck(*O != S, PetscObjectComm((PetscObject)S), PETSC_ERR_ARG_IDN, "The result of MatSDDMM() may not be its sparse matrix");
    PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)*O, &is, MATSEQAIJ, MATMPIAIJ, ""));
    PetscCheck(is && (*O)->rmap->n == S->rmap->n && (*O)->cmap->n == S->cmap->n, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "MatSDDMM(): the matrix to use again is no AIJ of the sizes of the sparse matrix; use MAT_INITIAL_MATRIX");
  }
  PetscCall(SddmmGet(*O, &w));
  PetscCall(SddmmMake(S, D1, D2, reuse, *O, w));
  if (w->device) PetscCall(SddmmOnDeviceMult(S, D1, D2, scale, *O, w->sf, w->device));
  else PetscCall(SddmmOnHost(S, D1, D2, scale, *O, w));
  PetscCall(PetscObjectStateIncrease((PetscObject)*O)); /* the values of an MPI matrix belong to its blocks */
  PetscCall(PetscLogEventEnd(MAT_Sddmm, S, D1, D2, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
