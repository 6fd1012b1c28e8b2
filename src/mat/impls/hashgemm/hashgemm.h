/*
   Products of AIJ matrices by the kernels of spgemmhost.h, behind PETSc's MatProduct
*/
#pragma once

#include "../../shadow/shadow.h"
#include "hashgemmrows.h"
#include "spgemmhost.h"

/* A matrix as a product last saw it. Object state and addresses tell at once that nothing has changed; the fingerprint of the pattern tells
   whether a matrix that did change, or another one in its place, still has the same entries. */
typedef struct {
  PetscObjectId    id;
  PetscObjectState state, nonzerostate;
  const PetscInt  *i[2];
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
  SpgemmOptions     options;
  Spgemm           *spgemm;
  HashGEMMSeen      operand[3], result; /* result.id 0: there is none yet */
  PetscBool         fresh;              /* the values are those that the symbolic phase made with the pattern */
  Mat               between;            /* on several processes: the transpose that ABt and RARt are made with, the second product of ABC */
  HashGEMMParallel *parallel;
} HashGEMMProduct;

/* One product of raw arrays. The matrix is what -info tells about, and whose processes fail together. */
extern PetscErrorCode HashGEMMCount(Mat, SpgemmType, const SpgemmCSR factor[], const SpgemmOptions *, Spgemm **, int64_t *m, int64_t *n);
extern PetscErrorCode HashGEMMFill(Mat, Spgemm *, const SpgemmCSR factor[], const HashGEMMRows *);
extern PetscErrorCode HashGEMMRevalue(Mat, Spgemm *, const SpgemmCSR factor[], const HashGEMMRows *);
extern PetscErrorCode HashGEMMCheckMemory(MPI_Comm, PetscBool enough, double bytes);
extern PetscErrorCode HashGEMMGetCSR(Mat, SpgemmCSR *);

/* A B, A^T B, or B^T A B of MPI matrices */
extern PetscErrorCode HashGEMMParallelSymbolic(Mat, SpgemmType, Mat A, Mat B, HashGEMMProduct *, Mat *);
extern PetscErrorCode HashGEMMParallelNumeric(Mat, SpgemmType, Mat A, Mat B, PetscBool newB, HashGEMMProduct *);
extern PetscErrorCode HashGEMMParallelDestroy(HashGEMMParallel **);
