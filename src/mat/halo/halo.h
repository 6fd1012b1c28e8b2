/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The halo of an MPI matrix on the device: what a product needs of x from other processes. Packed by one kernel, on its way while the diagonal
   block is multiplied, and added with the rows of the off-diagonal block that have entries. A transposed product has sums for other processes
   instead; they go the same ways backwards.
*/
#pragma once

#include <petscdevice_cuda.h>

#include "mat/shadow/shadow.h"

#include "mat/halo/halocuda.h"

/* What goes to, or comes from, other processes: that with rank[k] has the entries offset[k] to offset[k + 1] of a buffer */
typedef struct {
  PetscMPIInt  n, *rank, *offset;
  PetscScalar *buffer; /* on the device */
  PetscScalar *pinned; /* on the host, where messages are staged there */
} MatHaloSide;

/* The off-diagonal block with its rows, and for transposed products its columns, listed, and the pattern they were listed of */
typedef struct {
  PetscObjectId    block;
  PetscObjectState nonzerostate;
  const PetscInt  *i, *j;
  PetscBool        whole; /* most rows have entries, and many: it multiplies as any matrix does */
  HaloRows         rows;
  HaloColumns      columns;
  int             *rows_memory, *columns_memory;
} MatHaloBlock;

/* What is known of some processes */
#define MAT_HALO_CLASSES 40 /* of size: powers of two, in bytes */
typedef struct _MatHaloComm MatHaloComm;
struct _MatHaloComm {
  MPI_Comm     comm;
  MatHaloComm *next;
  PetscReal    seconds[MAT_HALO_CLASSES][MAT_SHADOW_HALO_STAGED + 1]; /* of an exchange by each path, 0 where it was not measured */
  PetscReal    gain;                                                  /* seconds that NCCL would have saved so far, by a model */
  PetscBool    looked;                                                /* for NCCL */
  const char  *without;                                               /* why there is no NCCL */
  void        *nccl;
};

typedef struct {
  MPI_Comm       comm;
  PetscObjectId  block; /* the off-diagonal block it was made for, */
  PetscInt       n;     /* and its columns */
  PetscInt      *garray;
  MatHaloComm   *about;
  MatShadowHalo  path;
  PetscBool      chosen; /* for good */
  int            size;   /* the class that the largest halo of all processes is in */
  MatHaloSide    from, to;
  int           *entries; /* of x that go to other processes, on the device */
  HaloSums       sums;    /* who adds to these entries in a transposed product, made for the first one */
  int           *sums_memory;
  Vec            x;          /* what comes, as a vector */
  MPI_Request   *request[2]; /* persistent, those that receive first; the second are for the way back */
  cudaStream_t   stream;
  cudaEvent_t    before, after;
  MatHaloBlock   rest;
  PetscInt       products;
  PetscLogDouble syncs; /* waits of the host for the device */
} MatHalo;

extern PetscErrorCode MatHaloExchangeBegin(MatHalo *, PetscBool back, const PetscScalar *x);
extern PetscErrorCode MatHaloExchangeWait(MatHalo *, PetscBool back);
extern PetscErrorCode MatHaloExchangeEnd(MatHalo *);
extern PetscErrorCode MatHaloUse(MatHalo *, MatShadowHalo);
extern PetscErrorCode MatHaloCommGet(MPI_Comm, MatHaloComm **);
extern PetscErrorCode MatHaloChoose(Mat, MatHalo *, MatShadowHalo wanted, PetscBool back, const PetscScalar *x);
extern PetscErrorCode MatHaloCheck(SysStatus);
extern PetscErrorCode MatHaloSendNCCL(const MatHalo *, PetscBool back);
extern PetscErrorCode MatHaloAdd(MatHalo *, Mat rest, Vec z);
extern PetscErrorCode MatHaloMultTranspose(MatHalo *, Mat rest, Vec x);
extern PetscErrorCode MatHaloAddSums(MatHalo *, Vec z);
extern PetscErrorCode MatHaloBlockDestroy(MatHaloBlock *);
extern PetscErrorCode MatHaloEnd(void);

extern const MatShadowExchange MatHaloExchange;
