/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products of AIJ matrices by the kernels of spgemmhost.h, behind PETSc's MatProduct
*/
#pragma once

#include "mat/product/product.h"
#include "mat/impls/hashgemm/host/hashgemmrows.h"
#include "mat/impls/hashgemm/cuda/spgemmcuda.h"
#include "mat/impls/hashgemm/host/spgemmhost.h"

/* A matrix as a product last saw it. The same object state and addresses mean that nothing has changed. Otherwise the matrix, or another one in its
   place, has the same entries if its pattern has the same fingerprint. */
typedef struct {
  PetscObjectId    id;
  PetscObjectState state, nonzerostate;
  const PetscInt  *i[2];
  PetscBool        device[2]; /* where the values are used */
  uint64_t         pattern;
} HashGEMMSeen;

typedef enum {
  HASHGEMM_SAME,
  HASHGEMM_NEW_VALUES,
  HASHGEMM_NEW_PATTERN,
  HASHGEMM_NOT_ASCENDING /* a row has columns that are not in ascending order, or repeated: PETSc makes the product */
} HashGEMMChange;

typedef struct _HashGEMMParallel HashGEMMParallel;

/* The data of a product, kept for new values */
typedef struct {
  Mat_Product      *product; /* the owner of these data */
  SpgemmOptions     options;
  Spgemm           *spgemm;
  SpgemmDevice     *device;             /* in place of spgemm, if the device makes the product */
  HashGEMMSeen      operand[3], result; /* result.id is 0 as long as there is no result */
  PetscBool         fresh;              /* the symbolic phase has made the values, and no numeric phase has followed */
  Mat               between;            /* on several processes: B^T of ABt and RARt, B C of ABC */
  HashGEMMParallel *parallel;
} HashGEMMProduct;

extern PetscLogEvent MAT_HashGEMMSymbolic, MAT_HashGEMMNumeric;

extern PetscErrorCode MatProductSymbolic_HashGEMM(Mat);

/* Operands */
extern PetscErrorCode HashGEMMGetFactors(Mat, PetscErrorCode (*get)(Mat, SysCSR *), SysCSR factor[3]);
extern PetscErrorCode HashGEMMGlance(Mat, HashGEMMSeen *);
extern PetscErrorCode HashGEMMLook(Mat, HashGEMMSeen *, HashGEMMChange *);
extern PetscBool      HashGEMMSamePattern(const HashGEMMSeen *, const HashGEMMSeen *);

/* The end of a step of a product, with an error or with figures */
extern PetscErrorCode HashGEMMCheck(MPI_Comm, SysStatus, double nonzeros, double bytes, double asked);
extern PetscErrorCode HashGEMMAgree(Mat, SysStatus, const SpgemmInfo *);
extern PetscErrorCode HashGEMMReport(Mat, const SpgemmInfo *);

/* The type, sizes and block sizes of the result, and room in it for rows that begin at starts[] */
extern PetscErrorCode HashGEMMInherit(Mat, const HashGEMMProduct *, PetscInt m, PetscInt n, PetscInt M, PetscInt N);
extern PetscErrorCode HashGEMMPreallocate(Mat, const HashGEMMProduct *, int64_t m, int64_t n, const PetscInt starts[]);

/* The same for a result on one process that is made, in its own arrays, before its entries are counted: HashGEMMRoomTake() is called in SpgemmCreate(), and after it
   HashGEMMRoomSettle(). setrow is NULL if there was no room. */
typedef struct {
  Mat                    C;
  const HashGEMMProduct *p;
  int64_t                m, n;
  PetscInt              *j;
  PetscScalar           *a;
  PetscErrorCode         ierr;
  PetscErrorCode (*setrow)(Mat, PetscInt, const PetscInt[], PetscInt, const PetscInt[], const PetscScalar[], InsertMode);
} HashGEMMRoom;

extern int            HashGEMMRoomTake(void *room, int64_t entries, PetscInt **j, PetscScalar **a);
extern PetscErrorCode HashGEMMRoomSettle(HashGEMMRoom *, const PetscInt starts[]);

/* A B, A^T B, or B^T A B of MPI matrices */
extern PetscErrorCode HashGEMMParallelSymbolic(Mat, SpgemmType, Mat A, Mat B, HashGEMMProduct *, Mat *);
extern PetscErrorCode HashGEMMParallelNumeric(Mat, SpgemmType, Mat A, Mat B, PetscBool newB, HashGEMMProduct *);
extern PetscErrorCode HashGEMMParallelCut(Mat, HashGEMMParallel *);
extern PetscErrorCode HashGEMMParallelDestroy(HashGEMMParallel **);
