/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products of AIJ matrices by the kernels of spgemmhost.h, behind PETSc's MatProduct
*/
#pragma once

#include "mat/shadow/shadow.h"
#include "mat/impls/hashgemm/host/hashgemmrows.h"
#include "mat/impls/hashgemm/cuda/spgemmcuda.h"
#include "mat/impls/hashgemm/host/spgemmhost.h"

/* A matrix as a product last saw it. Object state and addresses tell at once that nothing has changed; the fingerprint of the pattern tells
   whether a matrix that did change, or another one in its place, still has the same entries. */
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
  HASHGEMM_NEW_PATTERN
} HashGEMMChange;

typedef struct _HashGEMMParallel HashGEMMParallel;

/* What a product keeps for new values */
typedef struct {
  Mat_Product      *product; /* what this is the data of */
  SpgemmOptions     options;
  Spgemm           *spgemm;
  SpgemmDevice     *device;             /* in place of spgemm, where the product is made there */
  HashGEMMSeen      operand[3], result; /* result.id 0: there is none yet */
  PetscBool         fresh;              /* the values are those that the symbolic phase made with the pattern */
  Mat               between;            /* on several processes: the transpose that ABt and RARt are made with, the second product of ABC */
  HashGEMMParallel *parallel;
} HashGEMMProduct;

extern PetscLogEvent MAT_HashGEMMSymbolic, MAT_HashGEMMNumeric;
extern const char    HashGEMMCitation[];
extern PetscBool     HashGEMMCited;

extern PetscErrorCode MatProductSymbolic_HashGEMM(Mat);

/* The operands of a product; the third is NULL if there are two */
static inline void HashGEMMGetOperands(Mat C, Mat operand[3])
{
  operand[0] = C->product->A;
  operand[1] = C->product->B;
  operand[2] = C->product->type == MATPRODUCT_ABC ? C->product->C : NULL;
}

/* Operands */
extern PetscErrorCode HashGEMMGetPattern(Mat, SysCSR *);
extern PetscErrorCode HashGEMMGetCSR(Mat, SysCSR *);
extern PetscErrorCode HashGEMMGetFactors(Mat, PetscErrorCode (*get)(Mat, SysCSR *), SysCSR factor[3]);
extern PetscErrorCode HashGEMMGlance(Mat, HashGEMMSeen *);
extern PetscErrorCode HashGEMMLook(Mat, HashGEMMSeen *, HashGEMMChange *);
extern PetscBool      HashGEMMSamePattern(const HashGEMMSeen *, const HashGEMMSeen *);

/* Success of a step of a product: the only places that turn a SysStatus into an error of PETSc */
extern PetscErrorCode HashGEMMCheck(MPI_Comm, SysStatus, double nonzeros, double bytes);
extern PetscErrorCode HashGEMMAgree(Mat, SysStatus, const SpgemmInfo *);
extern PetscErrorCode HashGEMMReport(Mat, const SpgemmInfo *);

/* Room in the result for rows that begin there */
extern PetscErrorCode HashGEMMPreallocate(Mat, const HashGEMMProduct *, int64_t m, int64_t n, const PetscInt starts[]);

/* A B, A^T B, or B^T A B of MPI matrices */
extern PetscErrorCode HashGEMMParallelSymbolic(Mat, SpgemmType, Mat A, Mat B, HashGEMMProduct *, Mat *);
extern PetscErrorCode HashGEMMParallelNumeric(Mat, SpgemmType, Mat A, Mat B, PetscBool newB, HashGEMMProduct *);
extern PetscErrorCode HashGEMMParallelDestroy(HashGEMMParallel **);
