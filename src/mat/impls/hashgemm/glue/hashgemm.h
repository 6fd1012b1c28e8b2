/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products of AIJ matrices by the kernels of spgemmhost.h, behind PETSc's MatProduct
*/
#pragma once

#include "mat/product/product.h"
#include "mat/impls/hashgemm/host/hashgemmrows.h"
#include "mat/impls/hashgemm/cuda/spgemmcuda.h"
#include "mat/impls/hashgemm/host/spgemmhost.h"

/* A matrix at the last product. Equal object states and addresses: nothing changed. Otherwise the matrix, or its replacement, has the same entries if
   its pattern's fingerprint is equal. */
typedef struct {
  PetscObjectId    id;
  PetscObjectState state, nonzerostate;
  const PetscInt  *i[2];
  PetscBool        deferred;
  PetscBool        device[2]; /* where products use the values */
  uint64_t         pattern;
} HashGEMMSeen;

typedef enum {
  HASHGEMM_SAME,
  HASHGEMM_NEW_VALUES,
  HASHGEMM_NEW_PATTERN,
  HASHGEMM_NOT_ASCENDING /* a row's columns do not ascend, or repeat: PETSc computes the product */
} HashGEMMChange;

typedef struct _HashGEMMParallel HashGEMMParallel;
typedef struct _HashGEMMHalo     HashGEMMHalo;
typedef struct _HashGEMMColumns  HashGEMMColumns;

/* A product's data, reused for new values */
typedef struct {
  Mat_Product      *product; /* owner of these data */
  SpgemmOptions     options;
  Spgemm           *spgemm;
  SpgemmDevice     *device;             /* replaces spgemm in a device product */
  HashGEMMSeen      operand[3], result; /* result.id is 0 before the first result */
  PetscBool         fresh;              /* the symbolic phase computed the values, and no numeric phase followed yet */
  Mat               between;            /* on several processes: B^T of ABt and RARt, B C of ABC */
  HashGEMMParallel *parallel;
} HashGEMMProduct;

extern PetscLogEvent MAT_HashGEMMSymbolic, MAT_HashGEMMNumeric;

extern PetscErrorCode MatProductSymbolic_HashGEMM(Mat);

/* Operands */
extern PetscErrorCode HashGEMMGetFactors(Mat, PetscErrorCode (*get)(Mat, SysCSR *), SysCSR factor[3]);
extern PetscErrorCode HashGEMMGlance(Mat, HashGEMMSeen *);
extern PetscErrorCode HashGEMMGetChange(Mat, HashGEMMSeen *, HashGEMMChange *);
extern PetscBool      HashGEMMSamePattern(const HashGEMMSeen *, const HashGEMMSeen *);

/* Ends a product's step, with an error or with figures */
extern PetscErrorCode HashGEMMCheck(MPI_Comm, SysStatus, double nonzeros, double bytes, double asked);
extern PetscErrorCode HashGEMMAgree(Mat, SysStatus, const SpgemmInfo *);
extern PetscErrorCode HashGEMMAgreeAll(Mat, SysStatus, const SpgemmInfo *, PetscBool *all);
extern PetscErrorCode HashGEMMReport(Mat, const SpgemmInfo *);

/* Sets the result's type, sizes and block sizes; HashGEMMPreallocate() allocates its rows, which begin at starts[] */
extern PetscErrorCode HashGEMMInherit(Mat, const HashGEMMProduct *, PetscInt m, PetscInt n, PetscInt M, PetscInt N);
extern PetscErrorCode HashGEMMPreallocate(Mat, const HashGEMMProduct *, int64_t m, int64_t n, const PetscInt starts[]);

/* The same for a result on one process that is filled in its own arrays before its entries are counted: SpgemmCreate() calls HashGEMMRoomCreate(); call
   HashGEMMRoomSetUp() after it. setrow is NULL if memory was short. */
typedef struct {
  Mat                    C;
  const HashGEMMProduct *p;
  int64_t                m, n, entries; /* entries: allocated */
  PetscInt              *j;
  PetscScalar           *a;
  PetscErrorCode         ierr;
  PetscErrorCode (*setrow)(Mat, PetscInt, const PetscInt[], PetscInt, const PetscInt[], const PetscScalar[], InsertMode);
} HashGEMMRoom;

extern int            HashGEMMRoomCreate(void *room, int64_t entries, PetscInt **j, PetscScalar **a);
extern PetscErrorCode HashGEMMRoomSetUp(HashGEMMRoom *, const PetscInt starts[]);

/* A B, A^T B, or B^T A B of MPI matrices */
extern PetscErrorCode HashGEMMParallelSymbolic(Mat, SpgemmType, Mat A, Mat B, HashGEMMProduct *, Mat *);
extern PetscErrorCode HashGEMMParallelNumeric(Mat, SpgemmType, Mat A, Mat B, PetscBool newB, HashGEMMProduct *);
extern PetscErrorCode HashGEMMParallelCut(Mat, HashGEMMParallel *);
extern PetscErrorCode HashGEMMParallelDestroy(HashGEMMParallel **);

/* Device products. Without CUDA these functions do nothing: no matrix is on a device, no product has device data, and output flags stay PETSC_FALSE, as the
   caller sets them. */

/* Matrices on one process. *done == PETSC_FALSE: the host computes, for lack of memory or another reason. */
SYS_DEVICE PetscErrorCode HashGEMMDeviceLook(int n, Mat const block[], uint64_t fingerprint[], int ascending[], PetscBool *done) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceSymbolic(Mat C, SpgemmType type, HashGEMMProduct *p, PetscBool *done) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceNumeric(Mat C, HashGEMMProduct *p) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceDestroy(HashGEMMProduct *p) SYS_STUB(PETSC_SUCCESS);

/* Settle: a complete result of the host; Convert: blocks that C is about to take from W */
SYS_DEVICE PetscErrorCode HashGEMMDeviceSettle(Mat C) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceConvert(Mat C, Mat W) SYS_STUB(PETSC_SUCCESS);

/* The local product of MPI matrices. Without q->device the host computes; each process decides alone, and the exchanged data are the same. Where the
   host cannot take over any more, *status reports the shortage and *info the bytes requested; the caller ends the step with HashGEMMAgree(). */
SYS_DEVICE PetscErrorCode HashGEMMDeviceParallelCreate(Mat C, Mat A, Mat B, const HashGEMMProduct *p, HashGEMMParallel *q) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceParallelDestroy(HashGEMMParallel *q) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceMakeLeft(Mat A, PetscBool square, HashGEMMParallel *q) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceMakeRight(Mat B, PetscInt nrow, const PetscInt columns[], HashGEMMParallel *q, PetscBool *done) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceCopyRight(HashGEMMParallel *q, SpgemmInfo *info, SysStatus *status) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceRightBegin(Mat B, HashGEMMParallel *q) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceRightEnd(HashGEMMParallel *q) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceMakeResult(Mat C, SpgemmType type, PetscInt m, const HashGEMMProduct *p, HashGEMMParallel *q, PetscBool *done) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceGetWanted(Mat B, const PetscInt rows[], HashGEMMParallel *q, SpgemmInfo *info, SysStatus *status, PetscBool *done) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceFetchRows(Mat B, HashGEMMParallel *q, PetscInt **columns) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceDefers(Mat C, const HashGEMMProduct *p, PetscInt rows, PetscBool *defers) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceFetchPattern(HashGEMMParallel *q) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceMakeSums(PetscLayout layout, const PetscInt global[], PetscInt N, HashGEMMParallel *q, HashGEMMColumns *c, SpgemmInfo *info, SysStatus *status) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceRenewSums(PetscInt m, HashGEMMParallel *q, SpgemmInfo *info, SysStatus *status) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceMakeBlocks(const HashGEMMCut *cut, PetscInt far, HashGEMMParallel *q, Mat block[2], SpgemmInfo *info, SysStatus *status) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceRenewResult(HashGEMMParallel *q, SpgemmInfo *info, SysStatus *status) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceCut(Mat C, HashGEMMParallel *q, SpgemmInfo *info, SysStatus *status) SYS_STUB(PETSC_SUCCESS);
