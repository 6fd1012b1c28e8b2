/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MATSOLVERAMB: factors that PETSc or the GPU makes, with solves of petsc-amb
*/
#pragma once

#include "mat/shadow/core/shadow.h"
#include "mat/factor/cuda/factorcuda.h"
#include "mat/factor/host/factorsolve.h"
#include "mat/factor/host/factornodes.h"

/* The default solver type of PCILU and PCICC for matrices of petsc-amb on a GPU, and where it solves: -petscamb_factor */
typedef enum {
  FACTOR_PETSC,
  FACTOR_MODEL,
  FACTOR_DEVICE
} FactorWhere;

/* Gets the value of -petscamb_factor */
extern PetscErrorCode FactorGetWhere(FactorWhere *);

/* Composed with a factor */
typedef struct {
  PetscErrorCode (*ilusymbolic)(Mat, Mat, IS, IS, const MatFactorInfo *); /* PETSc's */
  PetscErrorCode (*iccsymbolic)(Mat, Mat, IS, const MatFactorInfo *);
  PetscErrorCode (*numeric)(Mat, Mat, const MatFactorInfo *);
  PetscErrorCode (*view)(Mat, PetscViewer);
  PetscErrorCode (*getinfo)(Mat, MatInfoType, MatInfo *);
  PetscErrorCode (*getdiagonal)(Mat, Vec);
  PetscErrorCode (*getinertia)(Mat, PetscInt *, PetscInt *, PetscInt *);
  PetscErrorCode (*solve[2])(Mat, Vec, Vec); /* PETSc's for this factor, the second for the transpose */
  PetscErrorCode (*half[2])(Mat, Vec, Vec);  /* forward and backward */
  PetscErrorCode (*matsolve)(Mat, Mat, Mat);
  IS            rows, cols;
  MatFactorInfo info;
  FactorMatrix  matrix;    /* a factor that the GPU makes, or NULL */
  PetscInt      entries;   /* of matrix */
  PetscInt      bs;        /* the block size of the matrix */
  PetscReal     fill;      /* of matrix, relative to the matrix that is factored */
  PetscBool     symbolic;  /* PETSc's symbolic phase has made the arrays of the factor on the host */
  PetscBool     complete;  /* these arrays have the values of matrix */
  PetscBool     symmetric; /* ICC: both solves use one triangle */
  PetscBool     planned;   /* levels and seconds belong to the current pattern */
  PetscBool     declined;  /* for this pattern PETSc's solve on the host is as good */
  PetscBool     current;   /* solver has the values of the factor */
  PetscInt      solves;    /* with these values, before that */
  PetscBool     inodes;    /* PETSc's solve uses I-nodes */
  PetscBool     device;    /* solves run on the GPU */
  PetscInt      together;  /* factors of the group that solves, or 1 */
  PetscInt      made;      /* the number of matrix: another one has another number */
  PetscInt      levels[2];
  double        seconds[2]; /* expected: on the host, on the GPU */
  FactorDevice  pair[2];    /* on the GPU: for solves, and for solves with the transpose, or NULL */
  FactorSolver  solver;     /* on the host, or NULL */
  FactorNodes   nodes;      /* the same for a factor with I-nodes, or NULL */
} MatFactorAMB;

extern PetscErrorCode MatFactorAMBGet(Mat, MatFactorAMB **);

/* Factors whose symbolic phase follows will be solved in groups of n, at the same time: the GPU needs the levels of one, the host the time of all. 1: each alone. */
extern void MatFactorAMBExpectGroup(PetscInt n);

/* A factor of PETSc: its triangles, and where the reciprocals of the diagonal are. LU has the rows of L one after the other, then the rows of U from the last to the first,
   each with its
   diagonal at its end. ICC has the rows of U, each with its diagonal at its end. */
typedef struct {
  FactorRows         rows[2];
  PetscInt          *begin, *diagonal, nz;
  const PetscScalar *a;
} FactorArrays;

extern PetscErrorCode FactorArraysGet(Mat, const MatFactorAMB *, FactorArrays *);
extern PetscErrorCode FactorArraysFree(FactorArrays *);

/* Gets the I-nodes of a matrix or a factor: the first row of each, and the number of rows, to be freed; *n is 0 if PETSc does not use I-nodes */
extern PetscErrorCode FactorGetNodes(Mat, PetscInt *n, PetscInt **start);

/* Calls PETSc's symbolic phase for a matrix with this pattern, and keeps its numeric one */
extern PetscErrorCode MatFactorAMBSymbolicPETSc(Mat F, Mat A, MatFactorAMB *f, const MatFactorInfo *);

/* For a factor of a matrix on the GPU: creates f->matrix and the triangles for solves. A symbolic phase on the host makes a pattern with fill. *done is PETSC_FALSE if PETSc is to make
   the factor. */
SYS_DEVICE PetscErrorCode MatFactorAMBSymbolicDevice(Mat F, Mat A, MatFactorAMB *f, const MatFactorInfo *, FactorWhere, PetscBool *done) SYS_STUB(PETSC_SUCCESS);

/* Sets the triangles of a factor, in this order: L and U; for solves with the transpose U^T and L^T; of a symmetric factor U^T and U. s: the arrays of PETSc's factor, unless the GPU
   makes it */
SYS_DEVICE void FactorPairSet(const MatFactorAMB *f, const FactorArrays *s, PetscBool transpose, FactorPair *pair) SYS_STUB();

/* Computes f->matrix on the GPU and sets the solves; if *done is PETSC_FALSE, PETSc must shift or report a pivot, or the matrix has left the GPU, and f->matrix is destroyed */
SYS_DEVICE PetscErrorCode MatFactorAMBNumericDevice(Mat F, Mat A, MatFactorAMB *f, const MatFactorInfo *, PetscBool *done) SYS_STUB(PETSC_SUCCESS);

/* Makes the arrays of PETSc's factor from f->matrix, unless they are current */
SYS_DEVICE PetscErrorCode MatFactorAMBComplete(Mat F, MatFactorAMB *f) SYS_STUB(PETSC_SUCCESS);

/* Sets the solves of a new numeric factor of a matrix on the GPU; or PETSc's solves, of a factor on the host */
SYS_DEVICE PetscErrorCode MatFactorAMBSetUpDevice(Mat F, Mat A, MatFactorAMB *f, FactorWhere) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE void           MatFactorAMBResetDevice(MatFactorAMB *f) SYS_STUB();
