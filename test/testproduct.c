/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The functions of testproduct.h, linked to every test program
*/
#include "testproduct.h"
#include <ctype.h>

#define FILL 2.0

PetscErrorCode TestOperandsCreate(Mat A, Mat P, TestOperands *o)
{
  PetscFunctionBeginUser;
  o->A = A;
  o->P = P;
  o->X = o->Y = NULL;
  PetscCall(MatTranspose(P, MAT_INITIAL_MATRIX, &o->L));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestOperandsDestroy(TestOperands *o)
{
  return TestDestroy(&o->A, &o->P, &o->L, &o->X, &o->Y);
}

Mat TestOperand(const TestOperands *o, char letter)
{
  switch (toupper(letter)) {
  case 'A':
    return o->A;
  case 'P':
    return o->P;
  case 'L':
  case 'R':
    return o->L;
  case 'X':
    return o->X;
  case 'Y':
    return o->Y;
  default:
    return NULL;
  }
}

/* The three operands, the last NULL where there are two */
static void Operands(const TestProduct *p, const TestOperands *o, Mat M[3])
{
  for (int k = 0; k < 3; k++) M[k] = k < 2 || p->operands[2] ? TestOperand(o, p->operands[k]) : NULL;
}

PetscErrorCode TestProductCreate(const TestProduct *p, const TestOperands *o, Mat *C)
{
  Mat M[3];

  PetscFunctionBeginUser;
  Operands(p, o, M);
  PetscCall(MatProductCreate(M[0], M[1], M[2], C));
  PetscCall(MatProductSetType(*C, p->type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestProductCreateWithMat(const TestProduct *p, const TestOperands *o, Mat C)
{
  Mat M[3];

  PetscFunctionBeginUser;
  Operands(p, o, M);
  PetscCall(MatProductCreateWithMat(M[0], M[1], M[2], C));
  PetscCall(MatProductSetType(C, p->type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestProductReplace(const TestProduct *p, const TestOperands *o, Mat C)
{
  Mat M[3];

  PetscFunctionBeginUser;
  Operands(p, o, M);
  PetscCall(MatProductReplaceMats(M[0], M[1], M[2], C));
  PetscCall(MatProductNumeric(C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestProductPhases(Mat C)
{
  PetscFunctionBeginUser;
  PetscCall(MatProductSetFromOptions(C));
  PetscCall(MatProductSymbolic(C));
  PetscCall(MatProductNumeric(C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestProductCall(const TestProduct *p, const TestOperands *o, MatReuse reuse, Mat *C)
{
  Mat M[3];

  PetscFunctionBeginUser;
  Operands(p, o, M);
  switch (p->type) {
  case MATPRODUCT_AB:
    PetscCall(MatMatMult(M[0], M[1], reuse, FILL, C));
    break;
  case MATPRODUCT_AtB:
    PetscCall(MatTransposeMatMult(M[0], M[1], reuse, FILL, C));
    break;
  case MATPRODUCT_ABt:
    PetscCall(MatMatTransposeMult(M[0], M[1], reuse, FILL, C));
    break;
  case MATPRODUCT_PtAP:
    PetscCall(MatPtAP(M[0], M[1], reuse, FILL, C));
    break;
  case MATPRODUCT_RARt:
    PetscCall(MatRARt(M[0], M[1], reuse, FILL, C));
    break;
  default:
    PetscCall(MatMatMatMult(M[0], M[1], M[2], reuse, FILL, C));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestProductSteps(const TestProduct *p, const TestOperands *o, MatReuse reuse, Mat *C)
{
  PetscFunctionBeginUser;
  if (reuse == MAT_REUSE_MATRIX) PetscCall(TestProductReplace(p, o, *C));
  else {
    PetscCall(TestProductCreate(p, o, C));
    PetscCall(MatProductSetAlgorithm(*C, MATPRODUCTALGORITHMDEFAULT));
    PetscCall(MatProductSetFill(*C, FILL));
    PetscCall(TestProductPhases(*C));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestChangeValues(Mat A, PetscInt seed)
{
  Vec v;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, NULL, &v));
  PetscCall(TestVecSet(v, seed));
  PetscCall(VecShift(v, 1.25));
  PetscCall(MatDiagonalScale(A, v, NULL));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscInt TestRowAggregate(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  const PetscInt a = (i / 4) % N, b = (i / 4 + 7) % N;

  cols[0] = PetscMin(a, b);
  if (a != b) cols[1] = PetscMax(a, b);
  return a == b ? 1 : 2;
}
