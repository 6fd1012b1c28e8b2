/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Messages between processes, and exchange of rows between the processes of an MPIAIJ: each process computes parts of rows of a new matrix and sends them
   to the owners of these rows
*/
#pragma once

#include "mat/aij/aij.h"

/* Messages of this process: go[k] elements to process to[k], and come[k] elements from process from[k] */
typedef struct {
  MPI_Comm    comm;
  PetscMPIInt tag, nto, nfrom, *to, *from;
  PetscInt   *go, *come;
} MatAIJMessages;

/* Posts the messages, `each` numbers of `size` bytes for each element. In send and receive, messages follow one another. The caller waits for nfrom + nto requests. */
extern PetscErrorCode MatAIJMessagesPost(const MatAIJMessages *, MPI_Datatype type, size_t size, PetscInt each, const void *send, void *receive, MPI_Request requests[]);

/* Rows in compressed form, sorted by their owners */
typedef struct {
  PetscInt     m, nz;
  PetscInt    *i, *row; /* global rows */
  PetscInt    *j;       /* local numbers of columns, which ascend with the global ones and in each row */
  PetscScalar *a;
} MatAIJRows;

/* Rows from one process to one owner. Row l has the entries i[l] - i[0] up to i[l + 1] - i[0]. */
typedef struct {
  PetscInt     m, nz, n;
  PetscInt    *i, *row; /* global rows */
  PetscInt    *column;  /* the n global columns that have entries, ascending */
  PetscInt    *j;       /* indices into column[] */
  PetscScalar *a;
} MatAIJRowBlock;

typedef struct {
  PetscMPIInt     n, *rank;
  MatAIJRowBlock *part;
} MatAIJRowBlocks;

/* Local and global sizes of the new matrix, and its block sizes */
typedef struct {
  PetscInt m, n, M, N, rbs, cbs;
} MatAIJSizes;

/* i has m + 2 entries, one more than rows need: a caller may count in it */
extern PetscErrorCode MatAIJRowsCreate(PetscInt m, PetscInt64 nz, MatAIJRows *);
extern PetscErrorCode MatAIJRowsDestroy(MatAIJRows *);

/* Splits rows by their owners in the layout and appends a block for each owner; the blocks point into the arrays of the rows. Of n columns, local number k is global[k],
   or first + k if global is NULL. */
extern PetscErrorCode MatAIJRowBlocksAdd(const MatAIJRows *, PetscLayout rows, PetscInt n, const PetscInt global[], PetscInt first, MatAIJRowBlocks *);

/* Sends all blocks to their owners and creates a matrix of a type that is or extends MPIAIJ; frees the blocks. If several processes send entries of one row, their columns ascend in the
   order of the processes. */
extern PetscErrorCode MatAIJRowBlocksAssemble(Mat A, MatType type, const MatAIJSizes *, MatAIJRowBlocks *, Mat *B);
