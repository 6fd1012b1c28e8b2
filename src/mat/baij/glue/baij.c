/* SPDX-License-Identifier: BSD-2-Clause */
/*
   -petscamb_for_aij for BAIJ and SBAIJ: their products with vectors run on the kernels of mat/baij/host, which read PETSc's arrays.

   The constructors of the sequential types are replaced, as shadowaij.c replaces AIJ's. At the end of an assembly, and after a duplication, a matrix gets
   the four product operations if it has PETSc's: no data belong to them, so that the matrix stays what the program created, in every other operation and in its type
   name. The parallel types call these operations for their sequential blocks.
*/
#include "mat/shadow/core/shadow.h"
#include "mat/baij/host/baijhost.h"

/* The two types. PETSc sets the products of a matrix by its block size: own[bs] has them, own[0] has the ones of a new matrix. */
typedef struct {
  MatType     type;
  const char *arrays; /* composed function that gets the values */
  PetscErrorCode (*create)(Mat);
  PetscErrorCode (*assemblyend)(Mat, MatAssemblyType);
  PetscErrorCode (*duplicate)(Mat, MatDuplicateOption, Mat *);
  PetscErrorCode (*getarray)(Mat, PetscScalar **);
  struct _MatOps own[BAIJ_MOST + 1];
  PetscBool      known[BAIJ_MOST + 1];
} BAIJType;

static BAIJType           full = {.type = MATSEQBAIJ, .arrays = "MatSeqBAIJGetArray_C"}, halves = {.type = MATSEQSBAIJ, .arrays = "MatSeqSBAIJGetArray_C"};
static const BAIJKernels *kernels;

typedef enum {
  BAIJ_PLAIN,
  BAIJ_TRANSPOSED,
  BAIJ_SYMMETRIC
} BAIJProduct;

/* Computes z = A x + y, or z = A x if y is NULL; y may be z. Not collective: a process of a parallel matrix calls this for its block. */
static PetscErrorCode MatBAIJMult(Mat A, BAIJType *t, BAIJProduct product, Vec x, Vec y, Vec z)
{
  const PetscInt     bs = A->rmap->bs, n = product == BAIJ_TRANSPOSED ? A->cmap->n : A->rmap->n;
  const PetscScalar *xx, *yy             = NULL;
  PetscScalar       *a, *zz;
  const PetscInt    *i, *j;
  PetscInt           m;
  PetscBool          done;
  BAIJHost           blocks;

  PetscFunctionBegin;
  PetscCall((*A->ops->getrowij)(A, 0, PETSC_FALSE, PETSC_TRUE, &m, &i, &j, &done)); /* the matrix's own arrays */
  PetscCall((*t->getarray)(A, &a));
  blocks = (BAIJHost){.m = m, .bs = (int)bs, .i = i, .j = j, .a = a};
  PetscCall(VecGetArrayRead(x, &xx));
  if (y && y != z) PetscCall(VecGetArrayRead(y, &yy));
  if (y == z) PetscCall(VecGetArray(z, &zz));
  else PetscCall(VecGetArrayWrite(z, &zz));
  if (product == BAIJ_PLAIN) (*kernels->mult)(&blocks, MatAIJThreads(i[m] * bs * bs), xx, y == z ? zz : yy, zz);
  else {
    if (!y) PetscCall(PetscArrayzero(zz, n));
    else if (y != z) PetscCall(PetscArraycpy(zz, yy, n));
    (*(product == BAIJ_SYMMETRIC ? kernels->multsymmetric : kernels->multtranspose))(&blocks, xx, zz);
  }
  if (y == z) PetscCall(VecRestoreArray(z, &zz));
  else PetscCall(VecRestoreArrayWrite(z, &zz));
  if (y && y != z) PetscCall(VecRestoreArrayRead(y, &yy));
  PetscCall(VecRestoreArrayRead(x, &xx));
  PetscCall(PetscLogFlops((product == BAIJ_SYMMETRIC ? 4.0 : 2.0) * bs * bs * i[m]));
  MatShadowCounted.blocks++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Defines the operations z = A x and z = A x + y */
#define MAT_BAIJ_OPERATIONS(Mult, Type, t, product) \
  static PetscErrorCode Mult##_##Type##_AMB(Mat A, Vec x, Vec z) \
  { \
    return MatBAIJMult(A, &(t), product, x, NULL, z); \
  } \
  static PetscErrorCode Mult##Add_##Type##_AMB(Mat A, Vec x, Vec y, Vec z) \
  { \
    return MatBAIJMult(A, &(t), product, x, y, z); \
  }

MAT_BAIJ_OPERATIONS(MatMult, SeqBAIJ, full, BAIJ_PLAIN)
MAT_BAIJ_OPERATIONS(MatMultTranspose, SeqBAIJ, full, BAIJ_TRANSPOSED)
MAT_BAIJ_OPERATIONS(MatMult, SeqSBAIJ, halves, BAIJ_SYMMETRIC)

/* Gets PETSc's operations of a matrix of one block */
static PetscErrorCode MatBAIJGetOperations(BAIJType *t, PetscInt bs)
{
  Mat A;

  PetscFunctionBegin;
  if (t->known[bs]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(MatSetSizes(A, bs, bs, bs, bs));
  PetscCall(PetscLayoutSetUp(A->rmap));
  PetscCall(PetscLayoutSetUp(A->cmap));
  PetscCall((*t->create)(A));
  t->own[0]   = *A->ops;
  t->known[0] = PETSC_TRUE;
  PetscCall(PetscObjectQueryFunction((PetscObject)A, t->arrays, &t->getarray));
  if (t == &full) PetscCall(MatSeqBAIJSetPreallocation(A, bs, 0, NULL));
  else PetscCall(MatSeqSBAIJSetPreallocation(A, bs, 0, NULL));
  t->own[bs]   = *A->ops;
  t->known[bs] = PETSC_TRUE;
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces one operation if it is PETSc's: a program may have set another. Evaluates to whether it did. */
#define MAT_BAIJ_REPLACE(operation, f) ((A->ops->operation == t->own[bs].operation || A->ops->operation == t->own[0].operation) && A->ops->operation ? (A->ops->operation = (f), 1) : 0)

/* Gives an assembled matrix the products, if the program has -petscamb_for_aij with a format that multiplies by vectors, and the kernels know its block size */
static PetscErrorCode MatBAIJAttach(Mat A, BAIJType *t)
{
  const PetscInt bs = A->rmap->bs;
  int            replaced;

  PetscFunctionBegin;
  if (!MatShadowForAIJMultiplies() || !kernels || bs < BAIJ_LEAST || bs > BAIJ_MOST || A->cmap->bs != bs || A->factortype != MAT_FACTOR_NONE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatBAIJGetOperations(t, bs));
  if (!t->getarray || !A->ops->getrowij) PetscFunctionReturn(PETSC_SUCCESS);
  if (t == &full) {
    replaced = MAT_BAIJ_REPLACE(mult, MatMult_SeqBAIJ_AMB);
    replaced += MAT_BAIJ_REPLACE(multadd, MatMultAdd_SeqBAIJ_AMB);
    replaced += MAT_BAIJ_REPLACE(multtranspose, MatMultTranspose_SeqBAIJ_AMB);
    replaced += MAT_BAIJ_REPLACE(multtransposeadd, MatMultTransposeAdd_SeqBAIJ_AMB);
  } else {
    replaced = MAT_BAIJ_REPLACE(mult, MatMult_SeqSBAIJ_AMB);
    replaced += MAT_BAIJ_REPLACE(multadd, MatMultAdd_SeqSBAIJ_AMB);
    replaced += MAT_BAIJ_REPLACE(multtranspose, MatMult_SeqSBAIJ_AMB);
    replaced += MAT_BAIJ_REPLACE(multtransposeadd, MatMultAdd_SeqSBAIJ_AMB);
  }
  if (replaced) PetscCall(PetscInfo(A, "Products with vectors run on the %s kernels of petsc-amb for blocks of %d rows\n", kernels->name, (int)bs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatBAIJAssemblyEnd(Mat A, BAIJType *t, MatAssemblyType mode)
{
  PetscFunctionBegin;
  PetscCall((*t->assemblyend)(A, mode));
  if (mode == MAT_FINAL_ASSEMBLY) PetscCall(MatBAIJAttach(A, t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's duplicate has the products of a new matrix, and is not assembled again */
static PetscErrorCode MatBAIJDuplicate(Mat A, BAIJType *t, MatDuplicateOption option, Mat *B)
{
  PetscFunctionBegin;
  PetscCall((*t->duplicate)(A, option, B));
  PetscCall(MatBAIJAttach(*B, t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define MAT_BAIJ_TYPE(Type, t) \
  static PetscErrorCode MatAssemblyEnd_##Type##_AMB(Mat A, MatAssemblyType mode) \
  { \
    return MatBAIJAssemblyEnd(A, &(t), mode); \
  } \
  static PetscErrorCode MatDuplicate_##Type##_AMB(Mat A, MatDuplicateOption option, Mat *B) \
  { \
    return MatBAIJDuplicate(A, &(t), option, B); \
  } \
  static PetscErrorCode MatCreate_##Type##_AMB(Mat A) \
  { \
    PetscFunctionBegin; \
    PetscCall(MatShadowForAIJSeek(PetscObjectComm((PetscObject)A))); \
    PetscCall((*(t).create)(A)); \
    (t).assemblyend     = A->ops->assemblyend; \
    (t).duplicate       = A->ops->duplicate; \
    A->ops->assemblyend = MatAssemblyEnd_##Type##_AMB; \
    A->ops->duplicate   = MatDuplicate_##Type##_AMB; \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }

MAT_BAIJ_TYPE(SeqBAIJ, full)
MAT_BAIJ_TYPE(SeqSBAIJ, halves)

/* PetscFinalize() drops all types, so nothing is undone */
PetscErrorCode MatBAIJRegister(void)
{
  BAIJType *const types[] = {&full, &halves};

  PetscFunctionBegin;
  kernels = BAIJKernelsGet();
  for (int k = 0; k < 2; k++) {
    types[k]->create = NULL;
    PetscCall(PetscArrayzero(types[k]->known, BAIJ_MOST + 1)); /* another PetscInitialize() may have other options */
    PetscCall(PetscFunctionListFind(MatList, types[k]->type, &types[k]->create));
    if (types[k]->create) PetscCall(MatRegister(types[k]->type, k ? MatCreate_SeqSBAIJ_AMB : MatCreate_SeqBAIJ_AMB));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
