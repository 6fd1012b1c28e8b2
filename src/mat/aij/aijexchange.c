/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Assembly of an MPIAIJ from rows, or parts of rows, that processes send each other. PETSc puts each entry of another process into a stash and sorts
   them all. Here the sender sorts a block's entries, and an entry has the index of its column in a short sorted list. The receiver merges the lists,
   so it neither sorts nor searches entries, and writes both blocks of the matrix in place.
*/
#include "sys/syscompat.h"
#include "sys/systhreads.h"
#include "mat/aij/aijexchange.h"

PetscErrorCode MatAIJMessagesPost(const MatAIJMessages *m, MPI_Datatype type, size_t size, PetscInt each, const void *send, void *receive, MPI_Request requests[])
{
  const char *out = (const char *)send;
  char       *in  = (char *)receive;
  PetscMPIInt n;

  PetscFunctionBegin;
  for (PetscMPIInt k = 0; k < m->nfrom; k++) {
    PetscCall(PetscMPIIntCast(m->come[k] * each, &n));
    PetscCallMPI(MPI_Irecv(in, n, type, m->from[k], m->tag, m->comm, requests++));
    in += (size_t)n * size;
  }
  for (PetscMPIInt k = 0; k < m->nto; k++) {
    PetscCall(PetscMPIIntCast(m->go[k] * each, &n));
    PetscCallMPI(MPI_Isend(out, n, type, m->to[k], m->tag, m->comm, requests++));
    out += (size_t)n * size;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowBlocksCheckFit(PetscInt64 n)
{
  PetscFunctionBegin;
  PetscCheck(n <= PETSC_MAX_INT, PETSC_COMM_SELF, PETSC_ERR_SUP, "The matrix has more entries on one process than the %d-bit indices of this PETSc hold; use more processes", (int)(8 * sizeof(PetscInt)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAIJRowsCreate(PetscInt m, PetscInt64 nz, MatAIJRows *rows)
{
  PetscFunctionBegin;
  PetscCall(RowBlocksCheckFit(nz));
  rows->m  = m;
  rows->nz = (PetscInt)nz;
  PetscCall(PetscMalloc4(m + 2, &rows->i, m, &rows->row, nz, &rows->j, nz, &rows->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAIJRowsDestroy(MatAIJRows *rows)
{
  PetscFunctionBegin;
  PetscCall(PetscFree4(rows->i, rows->row, rows->j, rows->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lists the columns with entries, and replaces local column numbers by indices into the list; used has a zero bit for each local number on entry and
   on return */
static PetscErrorCode RowBlockListColumns(MatAIJRowBlock *p, PetscInt n, const PetscInt global[], PetscInt first, uint64_t used[], PetscInt position[])
{
  const PetscInt words = n / 64 + 1;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < p->nz; k++) used[p->j[k] / 64] |= UINT64_C(1) << p->j[k] % 64;
  p->n = 0;
  for (PetscInt w = 0; w < words; w++) {
    for (uint64_t bits = used[w]; bits; bits &= bits - 1) position[64 * w + __builtin_ctzll(bits)] = p->n++;
  }
  PetscCall(PetscMalloc1(p->n, &p->column));
  p->n = 0;
  for (PetscInt w = 0; w < words; w++) {
    for (uint64_t bits = used[w]; bits; bits &= bits - 1) {
      const PetscInt k = 64 * w + __builtin_ctzll(bits);

      p->column[p->n++] = global ? global[k] : first + k;
    }
    used[w] = 0;
  }
#pragma omp parallel for num_threads(MatAIJThreads(p->nz)) schedule(static)
  for (PetscInt k = 0; k < p->nz; k++) p->j[k] = position[p->j[k]];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAIJRowBlocksAdd(const MatAIJRows *rows, PetscLayout layout, PetscInt n, const PetscInt global[], PetscInt first, MatAIJRowBlocks *p)
{
  PetscMPIInt    owner = 0;
  const PetscInt parts = p->n + PetscMin(rows->m, layout->size); /* most blocks */
  PetscInt      *position;
  uint64_t      *used;

  PetscFunctionBegin;
  PetscCall(PetscRealloc((size_t)parts * sizeof(*p->rank), &p->rank));
  PetscCall(PetscRealloc((size_t)parts * sizeof(*p->part), &p->part));
  PetscCall(PetscMalloc1(n, &position));
  PetscCall(PetscCalloc1(n / 64 + 1, &used));
  for (PetscInt k = 0, l; k < rows->m; k = l) {
    while (rows->row[k] >= layout->range[owner + 1]) owner++;
    for (l = k; l < rows->m && rows->row[l] < layout->range[owner + 1];) l++;
    p->rank[p->n] = owner;
    p->part[p->n] = (MatAIJRowBlock){.m = l - k, .nz = rows->i[l] - rows->i[k], .i = rows->i + k, .row = rows->row + k, .j = rows->j + rows->i[k], .a = rows->a + rows->i[k]};
    PetscCall(RowBlockListColumns(&p->part[p->n++], n, global, first, used, position));
  }
  PetscCall(PetscFree(position));
  PetscCall(PetscFree(used));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sends blocks, and receives blocks in the order of ranks, without a copy of this process's block */
static PetscErrorCode RowBlocksExchange(Mat A, const MatAIJRowBlocks *out, MatAIJRowBlocks *in)
{
  MPI_Comm     comm = PetscObjectComm((PetscObject)A);
  PetscMPIInt  me, *from, *order, tag[5], count;
  PetscInt    *size, *got;
  MPI_Request *requests;
  int          nrequest = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &me));
  PetscCall(PetscMalloc1(3 * out->n, &size));
  for (PetscMPIInt k = 0; k < out->n; k++) {
    size[3 * k]     = out->part[k].m;
    size[3 * k + 1] = out->part[k].nz;
    size[3 * k + 2] = out->part[k].n;
  }
  PetscCall(PetscCommBuildTwoSided(comm, 3, MPIU_INT, out->n, out->rank, size, &in->n, &from, &got));
  PetscCall(PetscFree(size));
  PetscCall(PetscMalloc1(in->n, &in->rank));
  PetscCall(PetscMalloc1(in->n, &in->part));
  PetscCall(PetscMalloc2(in->n, &order, 5 * (in->n + out->n), &requests));
  for (PetscMPIInt k = 0; k < in->n; k++) order[k] = k;
  PetscCall(PetscSortMPIIntWithArray(in->n, from, order));
  for (int t = 0; t < 5; t++) PetscCall(PetscObjectGetNewTag((PetscObject)A, &tag[t]));
#define ROW_BLOCK_PIECES(call, p, rank) \
  do { \
    PetscCall(PetscMPIIntCast((p)->m + 1, &count)); \
    PetscCallMPI(call((p)->i, count, MPIU_INT, rank, tag[0], comm, &requests[nrequest++])); \
    PetscCallMPI(call((p)->row, count - 1, MPIU_INT, rank, tag[1], comm, &requests[nrequest++])); \
    PetscCall(PetscMPIIntCast((p)->n, &count)); \
    PetscCallMPI(call((p)->column, count, MPIU_INT, rank, tag[2], comm, &requests[nrequest++])); \
    PetscCall(PetscMPIIntCast((p)->nz, &count)); \
    PetscCallMPI(call((p)->j, count, MPIU_INT, rank, tag[3], comm, &requests[nrequest++])); \
    PetscCallMPI(call((p)->a, count, MPIU_SCALAR, rank, tag[4], comm, &requests[nrequest++])); \
  } while (0)
  for (PetscMPIInt k = 0; k < in->n; k++) {
    const PetscInt *s = &got[3 * order[k]];
    MatAIJRowBlock *p = &in->part[k];

    in->rank[k] = from[k];
    if (from[k] == me) continue;
    *p = (MatAIJRowBlock){.m = s[0], .nz = s[1], .n = s[2]};
    PetscCall(PetscMalloc4(p->m + 1, &p->i, p->m, &p->row, p->nz, &p->j, p->nz, &p->a));
    PetscCall(PetscMalloc1(p->n, &p->column));
    ROW_BLOCK_PIECES(MPI_Irecv, p, from[k]);
  }
  for (PetscMPIInt k = 0; k < out->n; k++) {
    if (out->rank[k] != me) ROW_BLOCK_PIECES(MPI_Isend, &out->part[k], out->rank[k]);
  }
#undef ROW_BLOCK_PIECES
  PetscCallMPI(MPI_Waitall(nrequest, requests, MPI_STATUSES_IGNORE));
  for (PetscMPIInt k = 0; k < out->n; k++) {
    for (PetscMPIInt l = 0; out->rank[k] == me && l < in->n; l++) {
      if (in->rank[l] == me) in->part[l] = out->part[k];
    }
    if (out->rank[k] != me) PetscCall(PetscFree(out->part[k].column));
  }
  PetscCall(PetscFree2(order, requests));
  PetscCall(PetscFree(from));
  PetscCall(PetscFree(got));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the off-diagonal block's columns, ascending. Column c of a row block becomes k >= 0, its number in the diagonal block, or -1 - k for the
   off-diagonal one. */
static PetscErrorCode RowBlocksUniteColumns(const MatAIJRowBlocks *in, PetscInt begin, PetscInt end, PetscInt *n, PetscInt **garray)
{
  PetscInt64 room = 0;

  PetscFunctionBegin;
  *n = 0;
  for (PetscMPIInt p = 0; p < in->n; p++) room += in->part[p].n;
  PetscCall(RowBlocksCheckFit(room));
  PetscCall(PetscMalloc1(room, garray));
  for (PetscMPIInt p = 0; p < in->n; p++) {
    for (PetscInt k = 0; k < in->part[p].n; k++) {
      const PetscInt c = in->part[p].column[k];

      if (c < begin || c >= end) (*garray)[(*n)++] = c;
    }
  }
  PetscCall(PetscIntSortSemiOrdered(*n, *garray)); /* merges the lists, which are ascending */
  PetscCall(PetscSortedRemoveDupsInt(n, *garray));
  for (PetscMPIInt p = 0; p < in->n; p++) {
    PetscInt at = 0;

    for (PetscInt k = 0; k < in->part[p].n; k++) {
      PetscInt *c = &in->part[p].column[k], step = 1;

      if (*c >= begin && *c < end) {
        *c -= begin;
        continue;
      }
      while (step < *n - at && (*garray)[at + step] <= *c) step *= 2; /* a row block may have few of many columns */
      for (; step; step /= 2) {
        if (step < *n - at && (*garray)[at + step] <= *c) at += step;
      }
      *c = -1 - at;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A sequential matrix that is filled in place */
typedef struct {
  Mat          mat;
  PetscInt    *j, *at; /* at[r]: number of row r's entries, later the position of its next one */
  PetscScalar *a;
} BlockArrays;

static PetscErrorCode BlockArraysCreate(PetscInt m, PetscInt n, PetscInt rbs, PetscInt cbs, BlockArrays *b)
{
  PetscInt64 nz = 0;
  SysCSR     csr;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < m; r++) nz += b->at[r];
  PetscCall(RowBlocksCheckFit(nz));
  PetscCall(MatCreate(PETSC_COMM_SELF, &b->mat));
  PetscCall(MatSetSizes(b->mat, m, n, m, n));
  PetscCall(MatSetBlockSizes(b->mat, rbs, cbs));
  PetscCall(MatSetType(b->mat, MATSEQAIJ));
  PetscCall(MatSeqAIJSetPreallocation(b->mat, 0, b->at));
  PetscCall(MatAIJGetPattern(b->mat, &csr));
  PetscCall(MatSeqAIJGetArrayWrite(b->mat, &b->a));
  b->j = (PetscInt *)csr.j;
  for (PetscInt r = 0, k = 0; r < m; r++) {
    const PetscInt length = b->at[r];

    b->at[r] = k;
    k += length;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BlockArraysAssemble(BlockArrays *b)
{
  PetscFunctionBegin;
  PetscCall(MatSeqAIJRestoreArrayWrite(b->mat, &b->a));
  if (b->j) PetscCall(MatSeqAIJSetColumnIndices(b->mat, b->j)); /* the columns are in place: the call sets the rows' lengths */
  PetscCall(MatAssemblyBegin(b->mat, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(b->mat, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts the rows' entries in both blocks, or writes them there; a row block has each row at most once */
static void RowBlockSpread(const MatAIJRowBlock *p, PetscInt rstart, PetscBool put, const BlockArrays *diagonal, const BlockArrays *other)
{
#pragma omp parallel for num_threads(MatAIJThreads(p->nz)) schedule(dynamic, 256)
  for (PetscInt l = 0; l < p->m; l++) {
    PetscInt d = diagonal->at[p->row[l] - rstart], o = other->at[p->row[l] - rstart];

    for (PetscInt k = p->i[l] - p->i[0]; k < p->i[l + 1] - p->i[0]; k++) {
      const PetscInt c = p->column[p->j[k]];

      if (put && c >= 0) {
        diagonal->j[d] = c;
        diagonal->a[d] = p->a[k];
      } else if (put) {
        other->j[o] = -1 - c;
        other->a[o] = p->a[k];
      }
      d += c >= 0;
      o += c < 0;
    }
    diagonal->at[p->row[l] - rstart] = d;
    other->at[p->row[l] - rstart]    = o;
  }
}

PetscErrorCode MatAIJRowBlocksAssemble(Mat A, MatType type, const MatAIJSizes *size, MatAIJRowBlocks *out, Mat *B)
{
  MPI_Comm        comm = PetscObjectComm((PetscObject)A);
  PetscMPIInt     me;
  PetscInt        rend, cend, nother, *garray;
  PetscBool       plain;
  BlockArrays     diagonal, other;
  MatAIJRowBlocks in;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &me));
  PetscCallMPI(MPI_Scan(&size->m, &rend, 1, MPIU_INT, MPI_SUM, comm));
  PetscCallMPI(MPI_Scan(&size->n, &cend, 1, MPIU_INT, MPI_SUM, comm));
  PetscCall(RowBlocksExchange(A, out, &in));
  PetscCall(PetscFree(out->rank));
  PetscCall(PetscFree(out->part));
  PetscCall(RowBlocksUniteColumns(&in, cend - size->n, cend, &nother, &garray));
  PetscCall(PetscCalloc1(size->m, &diagonal.at));
  PetscCall(PetscCalloc1(size->m, &other.at));
  for (PetscMPIInt k = 0; k < in.n; k++) RowBlockSpread(&in.part[k], rend - size->m, PETSC_FALSE, &diagonal, &other);
  PetscCall(BlockArraysCreate(size->m, size->n, size->rbs, size->cbs, &diagonal));
  PetscCall(BlockArraysCreate(size->m, nother, size->rbs, 1, &other));
  for (PetscMPIInt k = 0; k < in.n; k++) {
    RowBlockSpread(&in.part[k], rend - size->m, PETSC_TRUE, &diagonal, &other);
    PetscCall(PetscFree(in.part[k].column));
    if (in.rank[k] != me) PetscCall(PetscFree4(in.part[k].i, in.part[k].row, in.part[k].j, in.part[k].a));
  }
  PetscCall(PetscFree(in.rank));
  PetscCall(PetscFree(in.part));
  PetscCall(PetscFree(diagonal.at));
  PetscCall(PetscFree(other.at));
  PetscCall(BlockArraysAssemble(&diagonal));
  PetscCall(BlockArraysAssemble(&other));
  PetscCall(PetscAMBCreateMPIAIJWithSeqAIJ(comm, size->M, size->N, diagonal.mat, other.mat, garray, B));
  PetscCall(PetscStrcmp(type, MATMPIAIJ, &plain));
  if (!plain) PetscCall(MatConvert(*B, type, MAT_INPLACE_MATRIX, B));
  PetscCall(MatSetOption(*B, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetOption(*B, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_TRUE)); /* as in a matrix that PETSc has preallocated */
  PetscFunctionReturn(PETSC_SUCCESS);
}
