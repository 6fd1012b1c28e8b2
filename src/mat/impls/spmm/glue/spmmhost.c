/* SPDX-License-Identifier: BSD-2-Clause */
/*
   SpMM through the host's kernels
*/
#include "sys/sysmemory.h"
#include "sys/systhreads.h"
#include "mat/impls/spmm/glue/spmm.h"

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

PetscErrorCode SpmmHostReset(SpmmHost *h)
{
  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) SpmmTransposedDestroy(&h->transposed[k]);
  PetscCall(SpmmMemoryDestroy(&h->panel));
  PetscCall(SpmmMemoryDestroy(&h->ghost));
  PetscCall(SpmmMemoryDestroy(&h->result));
  h->ring = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmmHostMake(PetscBool transpose, const Mat block[2], Mat B, Mat C, SpmmProduct *p, SysStatus *status)
{
  SpmmHost *h = &p->host;
  SysCSR    csr[2];
  int       width;

  PetscFunctionBegin;
  *status    = SYS_SUCCESS;
  h->nthread = SysThreads();
  (void)SpmmPanelColumns(C->cmap->N, &width);
  for (int k = 0; k < 2 && block[k]; k++) {
    PetscCall(MatAIJGetPattern(block[k], &csr[k]));
    if (transpose) *status = (SysStatus)PetscMax(*status, SpmmTranspose(&csr[k], &h->transposed[k]));
  }
  if (block[1]) {
    PetscCall(SpmmMemoryCreate((size_t)csr[1].n * (size_t)width, &h->ghost, status));
    if (transpose) PetscCall(SpmmMemoryCreate((size_t)csr[0].n * (size_t)width, &h->result, status));
  } else if (*status == SYS_SUCCESS) h->ring = transpose ? SpmmRing(csr[0].n, csr[0].m, h->transposed[0].i, h->transposed[0].j) : SpmmRing(csr[0].m, csr[0].n, csr[0].i, csr[0].j);
  PetscCall(SpmmMemoryCreate((size_t)(h->ring ? h->nthread * SpmmRingSize(h->ring, width) : B->rmap->n * (int64_t)width), &h->panel, status));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes one panel's columns of the product */
static PetscErrorCode SpmmPanel(PetscBool transpose, Mat C, const SpmmProduct *p, const SpmmTerm term[2], int64_t n, int64_t nghost, int ncol, int width, SysReal *c, PetscInt ldc)
{
  const SpmmHost *h = &p->host;
  const int64_t   m = C->rmap->n;
  MPI_Datatype    row;

  PetscFunctionBegin;
  if (!h->ring) SpmmPack(h->nthread, n, ncol, width, term[0].columns, term[0].ld, h->panel.a);
  if (!p->sf) {
    SpmmMult(h->nthread, m, term, 1, ncol, width, c, ldc);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallMPI(MPI_Type_contiguous(width, MPIU_REAL, &row));
  PetscCallMPI(MPI_Type_commit(&row));
  if (transpose) {
    SpmmMult(h->nthread, nghost, &term[1], 1, ncol, width, h->ghost.a, 0);
    SpmmMult(h->nthread, m, &term[0], 1, ncol, width, h->result.a, 0);
    PetscCall(PetscSFReduceBegin(p->sf, row, h->ghost.a, h->result.a, MPIU_SUM));
    PetscCall(PetscSFReduceEnd(p->sf, row, h->ghost.a, h->result.a, MPIU_SUM));
    SpmmUnpack(h->nthread, m, ncol, width, h->result.a, c, ldc);
  } else {
    PetscCall(PetscSFBcastBegin(p->sf, row, h->panel.a, h->ghost.a, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(p->sf, row, h->panel.a, h->ghost.a, MPI_REPLACE));
    SpmmMult(h->nthread, m, term, 2, ncol, width, c, ldc);
  }
  PetscCallMPI(MPI_Type_free(&row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmmHostMult(PetscBool transpose, Mat A, Mat B, Mat C, const SpmmProduct *p)
{
  const SpmmHost    *h = &p->host;
  const PetscInt    *garray;
  const PetscScalar *b;
  PetscScalar       *c;
  PetscInt           ldb, ldc;
  Mat                block[2];
  SysCSR             csr[2] = {{0}};
  SpmmTerm           term[2];
  int                width;

  PetscFunctionBegin;
  PetscCall(MatAIJGetBlocks(A, block, &garray));
  PetscCall(MatDenseGetLDA(B, &ldb));
  PetscCall(MatDenseGetLDA(C, &ldc));
  PetscCall(MatDenseGetArrayRead(B, &b));
  PetscCall(MatDenseGetArrayWrite(C, &c));
  for (int k = 0; k < 2 && block[k]; k++) {
    const SpmmTransposed *T = &h->transposed[k];

    PetscCall(MatAIJGetArrays(block[k], &csr[k]));
    term[k]          = (SpmmTerm){.i = csr[k].i, .j = csr[k].j, .a = (const SysReal *)csr[k].a, .n = B->rmap->n, .ring = h->ring, .ld = ldb, .panel = k && !transpose ? h->ghost.a : h->panel.a};
    term[k].position = transpose ? T->position : NULL;
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
