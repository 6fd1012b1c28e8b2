/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The transpose of an MPI matrix. PETSc puts every entry of the off-diagonal blocks into a stash and sorts them all; on a graph, with many such
   entries, its transpose took longer than the rest of a program before the first product. Here a process transposes its two blocks by counting and
   sends each owner its columns of the off-diagonal one. Rows arrive in the order of the processes, so the entries are sorted without comparisons.
*/
#include "mat/aij/aijexchange.h"

/* Partitions the columns so that each thread has about the same number of entries */
static void ColumnsPartition(const MatAIJRows *c, int threads, PetscInt cut[])
{
  cut[0] = 0;
  for (int t = 1; t <= threads; t++) {
    cut[t] = cut[t - 1];
    while (cut[t] < c->m && c->i[cut[t] + 1] < (PetscInt64)c->nz * t / threads) cut[t]++;
  }
  cut[threads] = c->m;
}

/* Creates the columns of a block, which are rows of the transpose. Column k has the global number garray[k], or first + k if garray is NULL. Each
   thread reads all entries and writes the entries of its own columns. */
static PetscErrorCode ColumnsCreate(Mat block, const PetscInt garray[], PetscInt first, MatAIJRows *c)
{
  SysCSR    csr;
  PetscInt *cut;
  int       threads;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&csr, sizeof(csr)));
  if (block) PetscCall(MatAIJGetArrays(block, &csr)); /* one process may have no off-diagonal block */
  PetscCall(MatAIJRowsCreate((PetscInt)csr.n, csr.nz, c));
  PetscCall(PetscArrayzero(c->i, c->m + 2));
  for (PetscInt k = 0; k < c->nz; k++) c->i[csr.j[k] + 2]++;
  for (PetscInt k = 0; k < c->m; k++) {
    c->row[k] = garray ? garray[k] : first + k;
    c->i[k + 2] += c->i[k + 1];
  }
  threads = MatAIJThreads(c->nz);
  PetscCall(PetscMalloc1(threads + 1, &cut));
  ColumnsPartition(c, threads, cut);
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int t = 0; t < threads; t++) {
    const PetscInt begin = cut[t], end = cut[t + 1];

    for (PetscInt r = 0; r < (PetscInt)csr.m && begin < end; r++) {
      for (PetscInt k = csr.i[r]; k < csr.i[r + 1]; k++) {
        PetscInt at;

        if (csr.j[k] < begin || csr.j[k] >= end) continue;
        at       = c->i[csr.j[k] + 1]++; /* ends at the beginning of the next column */
        c->j[at] = r;
        c->a[at] = csr.a[k];
      }
    }
  }
  PetscCall(PetscFree(cut));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAIJTransposeMPI(Mat A, MatType type, Mat *B)
{
  const PetscLayout rows = A->rmap, columns = A->cmap;
  const MatAIJSizes size = {columns->n, rows->n, columns->N, rows->N, PetscAbs(columns->bs), PetscAbs(rows->bs)};
  Mat               Ad, Ao;
  const PetscInt   *garray;
  MatAIJRows        diagonal, other;
  MatAIJRowBlocks   parts = {0, NULL, NULL};

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, &Ad, &Ao, &garray));
  PetscCall(ColumnsCreate(Ao, garray, 0, &other));
  PetscCall(MatAIJRowBlocksAdd(&other, columns, rows->n, NULL, rows->rstart, &parts));
  PetscCall(ColumnsCreate(Ad, NULL, columns->rstart, &diagonal));
  PetscCall(MatAIJRowBlocksAdd(&diagonal, columns, rows->n, NULL, rows->rstart, &parts));
  PetscCall(MatAIJRowBlocksAssemble(A, type, &size, &parts, B));
  PetscCall(MatAIJRowsDestroy(&diagonal));
  PetscCall(MatAIJRowsDestroy(&other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatTranspose_MPIAIJ_AMB(Mat A, MatReuse reuse, Mat *B)
{
  PetscFunctionBegin;
  if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatAIJTransposeMPI(A, ((PetscObject)A)->type_name, B));
  else PetscCall((*MatAIJGetBase(A)->transpose)(A, reuse, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}
