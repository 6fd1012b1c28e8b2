/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products of MPI matrices: what their parts on the host and on the device share
*/
#pragma once

#include "mat/impls/hashgemm/glue/hashgemmdevicestub.h"

#include <petscsf.h>

/* Copies of rows of other processes: each of the n entries has its place in the arrays of rows they were put in */
typedef struct {
  PetscSF      sf; /* from the entries of the rows where they are */
  PetscInt     n, *place;
  PetscScalar *values;
} HashGEMMHalo;

/* Columns of other processes, ascending; column n + k here is global[k] */
typedef struct {
  PetscInt first, n, nglobal, *global;
} HashGEMMColumns;

/* Where a row is at the process of that rank: there its entries are those from begin to end */
typedef struct {
  PetscInt rank, begin, end;
} HashGEMMPlace;

typedef struct _HashGEMMDeviceParallel HashGEMMDeviceParallel;

struct _HashGEMMParallel {
  HashGEMMColumns         columns; /* of the right factor and of the local product */
  HashGEMMRows            left;    /* the left factor, while it is needed */
  HashGEMMRows            right;   /* the right factor, and below it the rows that were fetched */
  HashGEMMHalo            fetched; /* no sf: none were */
  HashGEMMRows            result;  /* what the local product makes; without values between two numeric phases */
  HashGEMMDeviceParallel *device;  /* where the local product is made there: the left and right factor and the values of the result are there too */
  /* rows sent here, added to those of our own that have some: the product of a matrix of ones with all of them */
  HashGEMMHalo sent; /* no sf: the product has no rows for others */
  Spgemm      *add;
  PetscInt     nsum, *sums; /* our rows with a sum */
  SysInt      *from;        /* of every row of ours, its number among these, or -1 */
  HashGEMMRows ones, pieces, sum;
};

extern PetscErrorCode HashGEMMColumnsCreate(PetscInt first, PetscInt n, PetscInt nknown, const PetscInt known[], PetscInt nentry, const PetscInt entries[], HashGEMMColumns *c);
extern PetscErrorCode HashGEMMColumnsUsed(const HashGEMMColumns *c, PetscInt m, const HashGEMMRows *rows, PetscInt *nused, PetscInt **used);
extern PetscErrorCode HashGEMMColumnsMap(const HashGEMMColumns *c, PetscInt nknown, const PetscInt known[], PetscInt **map);
extern PetscErrorCode HashGEMMHaloDestroy(HashGEMMHalo *halo);
extern PetscErrorCode HashGEMMHaloCreate(MPI_Comm comm, PetscInt nroot, PetscInt nrow, const HashGEMMPlace rows[], HashGEMMHalo *halo, PetscInt *most);
extern PetscErrorCode HashGEMMHaloColumns(HashGEMMHalo *halo, const PetscInt here[], PetscInt **columns);
extern PetscErrorCode HashGEMMHaloPut(HashGEMMHalo *halo, const HashGEMMColumns *c, const PetscInt columns[], PetscInt k, PetscInt length, PetscInt place, PetscInt order[], PetscInt j[]);
extern PetscErrorCode HashGEMMHaloValuesBegin(HashGEMMHalo *halo, const PetscScalar here[]);
extern PetscErrorCode HashGEMMHaloValuesEnd(HashGEMMHalo *halo, const PetscScalar here[]);
extern void           HashGEMMHaloPlace(const HashGEMMHalo *halo, PetscScalar a[]);

extern PetscErrorCode HashGEMMRowsCreate(int64_t m, int64_t n, int64_t nz, HashGEMMRows *);
