/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The MatProduct algorithm "spmm", and MatSDDMM(): a sparse matrix of petsc-amb's types and dense matrices
*/
#pragma once

#include <petscsf.h>

#include "mat/product/product.h"
#include "mat/impls/spmm/host/spmmhost.h"

/* The state of a sparse operand at the last product */
typedef struct {
  PetscObjectId    id;
  PetscObjectState nonzerostate;
  const PetscInt  *i[2];
  PetscBool        device[2]; /* the block's values are on a device */
} SpmmSeen;

/* Memory for panels */
typedef struct {
  SysReal *a;
  size_t   bytes;
} SpmmMemory;

/* A product's data on the host */
typedef struct {
  int            nthread;
  int64_t        ring;          /* rows of each thread's ring, or 0 */
  SpmmTransposed transposed[2]; /* for A^T B: the transposed blocks of A */
  SpmmMemory     panel, ghost, result;
} SpmmHost;

/* A product's data, reused for new values and other dense operands */
typedef struct {
  Mat_Product          *product; /* owner of these data */
  SpmmSeen              seen;
  PetscSF               sf;     /* with several processes: from other processes' rows to this process's */
  PetscBool             lacked; /* the product was meant for the device, but memory was short */
  PetscBool             made;   /* a numeric phase has run */
  SpmmHost              host;
  struct _SpmmOnDevice *device; /* NULL: on the host */
} SpmmProduct;

extern PetscLogEvent MAT_SpmmSymbolic, MAT_SpmmNumeric, MAT_Sddmm;

extern PetscErrorCode MatProductSymbolic_Spmm(Mat);

/* Gets the state of a sparse matrix, and compares it with an earlier state */
extern PetscErrorCode SpmmGetSeen(Mat, SpmmSeen *);
extern PetscBool      SpmmSeenSame(const SpmmSeen *, const SpmmSeen *);

extern PetscErrorCode SpmmMemoryCreate(size_t numbers, SpmmMemory *, SysStatus *);
extern PetscErrorCode SpmmMemoryDestroy(SpmmMemory *);

/* On the host; *status: SYS_OUT_OF_MEMORY if memory is short */
extern PetscErrorCode SpmmHostMake(PetscBool transpose, const Mat block[2], Mat B, Mat C, SpmmProduct *, SysStatus *);
extern PetscErrorCode SpmmHostMult(PetscBool transpose, Mat A, Mat B, Mat C, const SpmmProduct *);
extern PetscErrorCode SpmmHostReset(SpmmHost *);

/* On a device; leaves *done PETSC_FALSE if memory is short. degree[r]: number of other processes that add to row r of A^T B. */
SYS_DEVICE PetscErrorCode SpmmOnDeviceMake(PetscBool transpose, const Mat block[2], const PetscInt degree[], Mat B, Mat C, SpmmProduct *p, PetscBool *done) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode SpmmOnDeviceMult(PetscBool transpose, Mat A, Mat B, Mat C, const SpmmProduct *p) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode SpmmOnDeviceReset(struct _SpmmOnDevice **device) SYS_STUB(PETSC_SUCCESS);

/* Registers the source paper of SpMM and SDDMM for -citations */
extern PetscErrorCode SpmmCite(void);

/* The same for MatSDDMM(). Make() leaves *done PETSC_FALSE if memory is short; each product calls it, and it creates what is missing. */
SYS_DEVICE PetscErrorCode SddmmOnDeviceMake(Mat S, Mat D1, Mat D2, Mat O, struct _SpmmOnDevice **device, PetscBool *done) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode SddmmOnDeviceMult(Mat S, Mat D1, Mat D2, PetscBool scale, Mat O, PetscSF sf, struct _SpmmOnDevice *device) SYS_STUB(PETSC_SUCCESS);
