/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Graph operations on AIJ matrices: a matrix's local rows, and words or numbers of other processes' vertices
*/
#pragma once

#include <petscsf.h>

#include "mat/aij/aij.h"
#include "graph/host/graphhost.h"

/* This process's rows in two blocks; the second exists on several processes, and its column k is the matrix's column garray[k] */
typedef struct {
  Mat             block[2];
  SysCSR          csr[2];
  const PetscInt *garray;
} GraphRows;

/* This process's rows with global columns, ascending if A's are */
typedef struct {
  Mat    local;
  SysCSR csr;
} GraphLocal;

extern PetscErrorCode GraphCheckAIJ(Mat A, const char function[]);
extern PetscErrorCode GraphCheckShape(Mat A, const char function[]); /* assembled and square, of any type */
extern PetscErrorCode GraphCheckSquare(Mat A, const char function[]);
extern PetscErrorCode GraphRowsGet(Mat A, GraphRows *); /* without values */
extern PetscErrorCode GraphLocalGet(Mat A, GraphLocal *);
extern PetscErrorCode GraphLocalGetPattern(Mat A, GraphLocal *); /* without values */
extern PetscErrorCode GraphLocalRestore(GraphLocal *);

/* Creates a matrix of A's type and layouts from rows with global columns */
extern PetscErrorCode GraphCreateLike(Mat A, const PetscInt i[], const PetscInt j[], const PetscScalar a[], Mat *B);
