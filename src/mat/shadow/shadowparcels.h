/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Parcels: parts of a matrix on their way to the processes that own their rows in another matrix
*/
#pragma once

#include "mat/shadow/shadow.h"

/* Rows in compressed form that a process makes for others, those of one owner behind those of another */
typedef struct {
  PetscInt     m, nz;
  PetscInt    *i, *row; /* global rows */
  PetscInt    *j;       /* local numbers of columns, which ascend with the global ones and in each row */
  PetscScalar *a;
} ParcelRows;

/* What one process gets of another, or of itself: entry k of row l is k from i[l] - i[0] on */
typedef struct {
  PetscInt     m, nz, n;
  PetscInt    *i, *row; /* global rows */
  PetscInt    *column;  /* the n global columns that have entries, ascending */
  PetscInt    *j;       /* places in column[] */
  PetscScalar *a;
} Parcel;

typedef struct {
  PetscMPIInt n, *rank;
  Parcel     *part;
} Parcels;

/* The matrix that parcels become */
typedef struct {
  PetscInt m, n, M, N, rbs, cbs;
} ParcelSizes;

/* i has an entry more than rows need, for those who count in it */
extern PetscErrorCode ParcelRowsAllocate(PetscInt m, PetscInt64 nz, ParcelRows *);
extern PetscErrorCode ParcelRowsFree(ParcelRows *);

/* Cuts rows where their owner in the layout changes, and adds the parts to the parcels; they are pieces of the same arrays. Of n columns, local number k is
   global[k], or first + k if global is NULL. */
extern PetscErrorCode ParcelsCut(const ParcelRows *, PetscLayout rows, PetscInt n, const PetscInt global[], PetscInt first, Parcels *);

/* Makes a matrix of the type of A of parcels that all processes send each other. The parcels are used up. A row's entries in the parcels of several processes have
   ascending columns in the order of the processes. */
extern PetscErrorCode ParcelsAssemble(Mat A, const ParcelSizes *, Parcels *, Mat *B);
