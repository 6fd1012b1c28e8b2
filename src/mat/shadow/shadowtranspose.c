/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The transpose of an MPI matrix. PETSc puts every entry of the off-diagonal blocks into a stash, and sorts them all: of a graph, where such entries are many, the transpose
   takes longer than all else that a program does before its first product. Here a process transposes its off-diagonal block, whose columns are sorted by their owners, and sends
   each owner its columns. The owner puts the columns of one process behind those of another: the entries are sorted without a comparison.
*/
#include "mat/shadow/shadow.h"

/* Columns of an off-diagonal block, one behind the other */
typedef struct {
  PetscInt     m, nz;   /* how many, and their entries */
  PetscInt    *i, *row; /* the place of a column's first entry, and global rows of the entries */
  PetscInt    *column;  /* global columns */
  PetscScalar *a;
} Columns;

/* Columns that go to other processes, or come from them */
typedef struct {
  PetscMPIInt n, *rank;
  PetscInt   *size; /* for each process the number of columns, and that of entries */
  Columns    *part;
} Parcels;

static PetscErrorCode ColumnsAllocate(PetscInt m, PetscInt nz, Columns *c)
{
  PetscFunctionBegin;
  c->m  = m;
  c->nz = nz;
  PetscCall(PetscMalloc4(m + 1, &c->i, nz, &c->row, m, &c->column, nz, &c->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ColumnsFree(Columns *c)
{
  PetscFunctionBegin;
  PetscCall(PetscFree4(c->i, c->row, c->column, c->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The columns of a block: garray has their global numbers, or they begin with the number first */
static PetscErrorCode ColumnsCreate(Mat block, PetscInt rstart, const PetscInt garray[], PetscInt first, Columns *c)
{
  SysCSR csr;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&csr, sizeof(csr)));
  if (block) PetscCall(MatShadowGetArrays(block, &csr)); /* one process may have no off-diagonal block */
  PetscCall(ColumnsAllocate((PetscInt)csr.n, (PetscInt)csr.nz, c));
  PetscCall(PetscArrayzero(c->i, c->m + 1));
  for (PetscInt k = 0; k < c->nz; k++) c->i[csr.j[k] + 1]++;
  for (PetscInt k = 0; k < c->m; k++) {
    c->column[k] = garray ? garray[k] : first + k;
    c->i[k + 1] += c->i[k];
  }
  for (PetscInt r = 0; r < (PetscInt)csr.m; r++) {
    for (PetscInt k = csr.i[r]; k < csr.i[r + 1]; k++) {
      const PetscInt at = c->i[csr.j[k]]++;

      c->row[at] = rstart + r;
      c->a[at]   = csr.a[k];
    }
  }
  for (PetscInt k = c->m; k > 0; k--) c->i[k] = c->i[k - 1];
  c->i[0] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cuts the columns where their owner changes; the parts are pieces of the same arrays, and column k of a part begins at i[k] of all entries */
static PetscErrorCode ParcelsPack(Mat A, const Columns *c, Parcels *p)
{
  PetscMPIInt owner, last = -1;

  PetscFunctionBegin;
  p->n = 0;
  for (PetscInt k = 0; k < c->m; k++) {
    PetscCall(PetscLayoutFindOwner(A->cmap, c->column[k], &owner));
    p->n += owner != last;
    last = owner;
  }
  PetscCall(PetscMalloc3(p->n, &p->rank, 2 * p->n, &p->size, p->n, &p->part));
  p->n = 0;
  last = -1;
  for (PetscInt k = 0; k < c->m; k++) {
    PetscCall(PetscLayoutFindOwner(A->cmap, c->column[k], &owner));
    if (owner != last) {
      p->rank[p->n] = last = owner;
      p->part[p->n++]      = (Columns){0, 0, c->i + k, c->row + c->i[k], c->column + k, c->a + c->i[k]};
    }
    p->part[p->n - 1].m++;
    p->part[p->n - 1].nz += c->i[k + 1] - c->i[k];
  }
  for (PetscMPIInt k = 0; k < p->n; k++) {
    p->size[2 * k]     = p->part[k].m;
    p->size[2 * k + 1] = p->part[k].nz;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sends parcels, and receives those of other processes, in the order of these; a column received has its entries counted from the first of its sender */
static PetscErrorCode ParcelsExchange(Mat A, const Parcels *out, Parcels *in)
{
  MPI_Comm     comm = PetscObjectComm((PetscObject)A);
  PetscMPIInt *rank, *order, tag[4], count;
  PetscInt    *size;
  MPI_Request *requests;
  int          nrequest = 0;

  PetscFunctionBegin;
  PetscCall(PetscCommBuildTwoSided(comm, 2, MPIU_INT, out->n, out->rank, out->size, &in->n, &rank, &size));
  PetscCall(PetscMalloc3(in->n, &in->rank, 2 * in->n, &in->size, in->n, &in->part));
  PetscCall(PetscMalloc2(in->n, &order, 4 * (in->n + out->n), &requests));
  for (PetscMPIInt k = 0; k < in->n; k++) order[k] = k;
  PetscCall(PetscSortMPIIntWithArray(in->n, rank, order));
  for (int t = 0; t < 4; t++) PetscCall(PetscObjectGetNewTag((PetscObject)A, &tag[t]));
  for (PetscMPIInt k = 0; k < in->n; k++) {
    Columns *c = &in->part[k];

    in->rank[k] = rank[k];
    PetscCall(ColumnsAllocate(size[2 * order[k]], size[2 * order[k] + 1], c));
    PetscCall(PetscMPIIntCast(c->m, &count));
    PetscCallMPI(MPI_Irecv(c->i, count, MPIU_INT, rank[k], tag[0], comm, &requests[nrequest++]));
    PetscCallMPI(MPI_Irecv(c->column, count, MPIU_INT, rank[k], tag[1], comm, &requests[nrequest++]));
    PetscCall(PetscMPIIntCast(c->nz, &count));
    PetscCallMPI(MPI_Irecv(c->row, count, MPIU_INT, rank[k], tag[2], comm, &requests[nrequest++]));
    PetscCallMPI(MPI_Irecv(c->a, count, MPIU_SCALAR, rank[k], tag[3], comm, &requests[nrequest++]));
  }
  for (PetscMPIInt k = 0; k < out->n; k++) {
    const Columns *c = &out->part[k];

    PetscCall(PetscMPIIntCast(c->m, &count));
    PetscCallMPI(MPI_Isend(c->i, count, MPIU_INT, out->rank[k], tag[0], comm, &requests[nrequest++]));
    PetscCallMPI(MPI_Isend(c->column, count, MPIU_INT, out->rank[k], tag[1], comm, &requests[nrequest++]));
    PetscCall(PetscMPIIntCast(c->nz, &count));
    PetscCallMPI(MPI_Isend(c->row, count, MPIU_INT, out->rank[k], tag[2], comm, &requests[nrequest++]));
    PetscCallMPI(MPI_Isend(c->a, count, MPIU_SCALAR, out->rank[k], tag[3], comm, &requests[nrequest++]));
  }
  PetscCallMPI(MPI_Waitall(nrequest, requests, MPI_STATUSES_IGNORE));
  for (PetscMPIInt k = 0; k < in->n; k++) {
    Columns       *c     = &in->part[k];
    const PetscInt begin = c->m ? c->i[0] : 0;

    for (PetscInt l = 0; l < c->m; l++) c->i[l] -= begin;
    c->i[c->m] = c->nz;
  }
  PetscCall(PetscFree2(order, requests));
  PetscCall(PetscFree(rank));
  PetscCall(PetscFree(size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Puts the columns of all parcels, rows of the transpose, one behind the other */
static PetscErrorCode ParcelsMerge(Mat A, const Parcels *in, Columns *all)
{
  PetscInt nz = 0;

  PetscFunctionBegin;
  for (PetscMPIInt k = 0; k < in->n; k++) {
    PetscCheck(nz <= PETSC_MAX_INT - in->part[k].nz, PETSC_COMM_SELF, PETSC_ERR_SUP, "The transpose has more entries on one process than the %d-bit indices of this PETSc hold; use more processes", (int)(8 * sizeof(PetscInt)));
    nz += in->part[k].nz;
  }
  PetscCall(ColumnsAllocate(A->cmap->n, nz, all));
  PetscCall(PetscArrayzero(all->i, all->m + 1));
  for (PetscMPIInt k = 0; k < in->n; k++) {
    const Columns *c = &in->part[k];

    for (PetscInt l = 0; l < c->m; l++) all->i[c->column[l] - A->cmap->rstart + 1] += c->i[l + 1] - c->i[l];
  }
  for (PetscInt l = 0; l < all->m; l++) all->i[l + 1] += all->i[l];
  for (PetscMPIInt k = 0; k < in->n; k++) {
    const Columns *c = &in->part[k];

    for (PetscInt l = 0; l < c->m; l++) {
      const PetscInt n  = c->i[l + 1] - c->i[l];
      PetscInt      *at = &all->i[c->column[l] - A->cmap->rstart];

      PetscCall(PetscArraycpy(all->row + *at, c->row + c->i[l], n));
      PetscCall(PetscArraycpy(all->a + *at, c->a + c->i[l], n));
      *at += n;
    }
  }
  for (PetscInt l = all->m; l > 0; l--) all->i[l] = all->i[l - 1];
  all->i[0] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix whose rows are the columns of a diagonal and an off-diagonal block, of the type, with the block sizes and with the options for new entries that PETSc gives a transpose */
static PetscErrorCode TransposeAssemble(Mat A, const Columns *diagonal, const Columns *other, Mat *B)
{
  PetscInt *nd, *no;

  PetscFunctionBegin;
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), B));
  PetscCall(MatSetSizes(*B, A->cmap->n, A->rmap->n, A->cmap->N, A->rmap->N));
  PetscCall(MatSetBlockSizes(*B, PetscAbs(A->cmap->bs), PetscAbs(A->rmap->bs)));
  PetscCall(MatSetType(*B, ((PetscObject)A)->type_name));
  PetscCall(PetscMalloc2(A->cmap->n, &nd, A->cmap->n, &no));
  for (PetscInt r = 0; r < A->cmap->n; r++) {
    nd[r] = diagonal->i[r + 1] - diagonal->i[r];
    no[r] = other->i[r + 1] - other->i[r];
  }
  PetscCall(MatMPIAIJSetPreallocation(*B, 0, nd, 0, no));
  for (PetscInt r = 0; r < A->cmap->n; r++) {
    const PetscInt row = A->cmap->rstart + r;

    PetscCall(MatSetValues(*B, 1, &row, nd[r], diagonal->row + diagonal->i[r], diagonal->a + diagonal->i[r], INSERT_VALUES));
    PetscCall(MatSetValues(*B, 1, &row, no[r], other->row + other->i[r], other->a + other->i[r], INSERT_VALUES));
  }
  PetscCall(PetscFree2(nd, no));
  PetscCall(MatAssemblyBegin(*B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*B, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the transpose of an assembled MPIAIJ or of a type that extends it */
PetscErrorCode MatShadowTransposeMPI(Mat A, Mat *B)
{
  Mat             Ad, Ao;
  const PetscInt *garray;
  Columns         diagonal, sent, received;
  Parcels         out, in;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, &Ad, &Ao, &garray));
  PetscCall(ColumnsCreate(Ao, A->rmap->rstart, garray, 0, &sent));
  PetscCall(ParcelsPack(A, &sent, &out));
  PetscCall(ParcelsExchange(A, &out, &in));
  PetscCall(PetscFree3(out.rank, out.size, out.part));
  PetscCall(ColumnsFree(&sent));
  PetscCall(ParcelsMerge(A, &in, &received));
  for (PetscMPIInt k = 0; k < in.n; k++) PetscCall(ColumnsFree(&in.part[k]));
  PetscCall(PetscFree3(in.rank, in.size, in.part));
  PetscCall(ColumnsCreate(Ad, A->rmap->rstart, NULL, A->cmap->rstart, &diagonal));
  PetscCall(TransposeAssemble(A, &diagonal, &received, B));
  PetscCall(ColumnsFree(&diagonal));
  PetscCall(ColumnsFree(&received));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc makes a transpose in place, and puts new values into one */
PetscErrorCode MatTranspose_MPIShadow(Mat A, MatReuse reuse, Mat *B)
{
  PetscFunctionBegin;
  if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatShadowTransposeMPI(A, B));
  else PetscCall((*MatShadowBase(A)->transpose)(A, reuse, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}
