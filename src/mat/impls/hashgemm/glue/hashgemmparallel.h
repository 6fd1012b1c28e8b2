/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products of MPI matrices: types and functions for their parts on the host and on the device
*/
#pragma once

#include "sys/sysnumbers.h"
#include "mat/impls/hashgemm/glue/hashgemm.h"

/* Copies of rows of other processes. Each process sends runs of its entries, one for each row, in ascending order of global columns; a PetscSF would have each entry by itself. Entry k
   of n is at place[k] in the arrays of the local matrix with these rows. */
struct _HashGEMMHalo {
  MPI_Comm     comm; /* MPI_COMM_NULL: there is no halo */
  PetscMPIInt  tag, nfrom, *from, nto, *to;
  PetscInt    *come, *go;             /* what process from[k] sends begins at entry come[k] of all that come; what goes to process to[k] at go[k] */
  PetscBool    refused;               /* PetscInt cannot count what comes: the halo has no rows, and come[k] is the number of entries that process from[k] sends */
  PetscInt     nrun, *run, *start;    /* run k to send has the entries run[2 k] to run[2 k + 1] of this process, and begins at start[k] of all that go */
  PetscInt     nrow, *first, *arrive; /* row r has the entries first[r] to first[r + 1], and comes at arrive[r]; NULL: rows come in their order */
  char        *out, *in;              /* during an exchange */
  MPI_Request *requests;
  PetscInt     n, *place;
  PetscScalar *values;
};

/* The columns of a local matrix: column k < n is column first + k of the MPI matrix, column n + k is column global[k]. These ascend, and the first nbelow come before column `first`. */
struct _HashGEMMColumns {
  PetscInt first, n, nglobal, *global, nbelow;
};

typedef struct _HashGEMMDeviceParallel HashGEMMDeviceParallel;

struct _HashGEMMParallel {
  HashGEMMColumns         columns; /* of the right factor and of the local product */
  HashGEMMRows            left;    /* the left factor, while it is needed */
  HashGEMMRows            right;   /* the right factor, and below it the rows that were fetched */
  HashGEMMHalo            fetched; /* no comm: no rows were fetched */
  HashGEMMRows            result;  /* what the local product makes; without values between two numeric phases */
  HashGEMMDeviceParallel *device;  /* if the device makes the local product: both factors and the values of the result */
  PetscBool               defer;   /* the result stays on the device of each process: of its columns the host has those of exchanged rows only */
  /* Sums of rows of this process and the rows that others send for them, as by HashGEMMSumPattern() */
  HashGEMMHalo sent;        /* no comm: the product has no rows for other processes */
  PetscInt     nsum, *sums; /* rows of this process that are sums */
  SysInt      *from;        /* of every row of this process, its number among the sums, or -1 */
  SysInt      *piece, *to;  /* the first piece of each sum, and the place of each entry of the pieces in the sums */
  HashGEMMRows pieces, sum;
};

extern PetscErrorCode HashGEMMColumnsCreate(PetscInt first, PetscInt n, PetscInt nknown, const PetscInt known[], PetscInt nentry, const PetscInt entries[], HashGEMMColumns *c);
extern PetscInt       HashGEMMCountBelow(PetscInt n, const PetscInt global[], PetscInt first); /* how many of the ascending columns come before column `first` */
extern PetscErrorCode HashGEMMColumnsUsed(HashGEMMParallel *q, PetscInt m, PetscInt *nused, PetscInt **used);
extern PetscErrorCode HashGEMMColumnsMap(const HashGEMMColumns *c, PetscInt nknown, const PetscInt known[], PetscInt **map);
extern PetscErrorCode HashGEMMHaloDestroy(HashGEMMHalo *halo);
extern PetscErrorCode HashGEMMHaloStart(HashGEMMHalo *halo, SpgemmInfo *info, SysStatus *status);
extern PetscErrorCode HashGEMMHaloRequest(Mat A, HashGEMMHalo *halo, PetscInt **wanted);
extern PetscErrorCode HashGEMMHaloAnswer(HashGEMMHalo *halo, SpgemmInfo *info, SysStatus *status);
extern PetscErrorCode HashGEMMHaloOffer(PetscLayout layout, PetscInt nrow, const PetscInt rows[], const PetscInt i[], HashGEMMHalo *halo, PetscInt degree[], SpgemmInfo *info, SysStatus *status);
extern PetscErrorCode HashGEMMHaloPost(HashGEMMHalo *halo, MPI_Datatype type, size_t size, const void *out, void *in, MPI_Request requests[]);
extern PetscErrorCode HashGEMMHaloBegin(HashGEMMHalo *halo, const HashGEMMColumns *c, const PetscInt j[], MPI_Datatype type, size_t size, const void *here, void *there);
extern PetscErrorCode HashGEMMHaloEnd(HashGEMMHalo *halo, size_t size, void *there);
extern PetscErrorCode HashGEMMHaloColumns(HashGEMMHalo *halo, PetscInt **here, PetscInt **columns);
extern PetscErrorCode HashGEMMHaloPut(HashGEMMHalo *halo, const HashGEMMColumns *c, const PetscInt columns[], const PetscInt place[], PetscInt j[]);
extern void           HashGEMMHaloPlace(const HashGEMMHalo *halo, PetscScalar a[]);

extern SysStatus HashGEMMRowsCreate(int64_t m, int64_t n, int64_t nz, PetscBool brief, HashGEMMRows *, SpgemmInfo *info);
