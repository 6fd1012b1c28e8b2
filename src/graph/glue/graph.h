/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Graph operations on AIJ matrices: the local rows of a matrix, and words or numbers of vertices that other processes own
*/
#pragma once

#include <petscsf.h>

#include "mat/aij/aij.h"
#include "graph/host/graphhost.h"

/* The rows of this process in two blocks, the second of several processes only: its column k is the column garray[k] of the matrix */
typedef struct {
  Mat             block[2];
  SysCSR          csr[2];
  const PetscInt *garray;
} GraphRows;

/* The rows of this process with the columns of the whole matrix, ascending if those of A are */
typedef struct {
  Mat    local;
  SysCSR csr;
} GraphLocal;

extern PetscErrorCode GraphCheckAIJ(Mat A, const char function[]);
extern PetscErrorCode GraphCheckSquare(Mat A, const char function[]);
extern PetscErrorCode GraphRowsGet(Mat A, GraphRows *); /* without values */
extern PetscErrorCode GraphRowsCreateSF(Mat A, const GraphRows *, PetscSF *);
extern PetscErrorCode GraphLocalGet(Mat A, GraphLocal *);
extern PetscErrorCode GraphLocalGetPattern(Mat A, GraphLocal *); /* without values */
extern PetscErrorCode GraphLocalRestore(GraphLocal *);

/* Makes a matrix of the type and the layouts of A from rows with the columns of the whole matrix */
extern PetscErrorCode GraphCreateLike(Mat A, const PetscInt i[], const PetscInt j[], const PetscScalar a[], Mat *B);
