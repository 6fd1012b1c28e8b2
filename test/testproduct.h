/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Shared by the tests of products of matrices: operands that are named by letters, and the two ways in which PETSc makes a product of them
*/
#pragma once

#include "testutil.h"

/* A letter names an operand; a small letter, in a list of factors, its transpose. L is P transposed; R is another name for it. X and Y are dense, or NULL. */
typedef struct {
  Mat A, P, L, X, Y;
} TestOperands;

/* A product and its operands, in the order of MatProductCreate() */
typedef struct {
  MatProductType type;
  const char    *operands;
} TestProduct;

/* Takes A and P over and transposes P; X and Y are NULL */
PetscErrorCode TestOperandsCreate(Mat A, Mat P, TestOperands *o);
PetscErrorCode TestOperandsDestroy(TestOperands *o);
Mat            TestOperand(const TestOperands *o, char letter);

/* A product without a pattern, a matrix that becomes one, and a product whose operands are replaced by others and which is made again */
PetscErrorCode TestProductCreate(const TestProduct *p, const TestOperands *o, Mat *C);
PetscErrorCode TestProductCreateWithMat(const TestProduct *p, const TestOperands *o, Mat C);
PetscErrorCode TestProductReplace(const TestProduct *p, const TestOperands *o, Mat C);

/* MatProductSetFromOptions(), then the symbolic and the numeric phase */
PetscErrorCode TestProductPhases(Mat C);

/* By the functions that most programs call, MatMatMult() and its like; by MatProductCreate() and its phases, replacing the operands if it is made again */
PetscErrorCode TestProductCall(const TestProduct *p, const TestOperands *o, MatReuse reuse, Mat *C);
PetscErrorCode TestProductSteps(const TestProduct *p, const TestOperands *o, MatReuse reuse, Mat *C);

/* Other values in the same pattern: rows are scaled */
PetscErrorCode TestChangeValues(Mat A, PetscInt seed);

/* Aggregates of four rows, each tied to another one as well */
PetscInt TestRowAggregate(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[]);
