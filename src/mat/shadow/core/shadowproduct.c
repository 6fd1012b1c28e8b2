/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MatMult() and its variants on a matrix with a shadow
*/
#include <math.h>

#include "vec/ambvec/ambvec.h"
#include "mat/baij/host/baijhost.h"
#include "mat/shadow/core/shadow.h"

/* Returns whether an invalid operation in this thread, such as 0 times infinity, ends the program, as PETSc's -fp_trap has it. Only x86 is checked; most others cannot trap. */
static inline int TrapsInvalid(void)
{
#if defined(__x86_64__)
  return !(__builtin_ia32_stmxcsr() & 0x80); /* the mask of the invalid operation */
#else
  return 0;
#endif
}

/* Gets the arrays for z = y + ..., where y may be z or NULL */
static PetscErrorCode MatShadowGetVectors(const MatShadow *s, Vec xx, Vec yy, Vec zz, MatShadowVectors *v)
{
  PetscFunctionBegin;
  if (MatShadowOnDevice(s)) {
    PetscCall(MatShadowDeviceGetVectors(xx, yy, zz, v));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  v->y = NULL;
  PetscCall(VecGetArrayRead(xx, &v->x));
  if (yy == zz) {
    PetscCall(VecGetArray(zz, &v->z));
    v->y = v->z;
  } else PetscCall(VecGetArrayWrite(zz, &v->z));
  if (yy && yy != zz) PetscCall(VecGetArrayRead(yy, &v->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatShadowRestoreVectors(const MatShadow *s, Vec xx, Vec yy, Vec zz, MatShadowVectors *v, PetscBool done)
{
  PetscFunctionBegin;
  if (MatShadowOnDevice(s)) {
    PetscCall(MatShadowDeviceRestoreVectors(s, xx, yy, zz, v, done));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecRestoreArrayRead(xx, &v->x));
  if (yy == zz) PetscCall(VecRestoreArray(zz, &v->z));
  else PetscCall(VecRestoreArrayWrite(zz, &v->z));
  if (yy && yy != zz) PetscCall(VecRestoreArrayRead(yy, &v->y));
  if (done) PetscCall(PetscLogFlops(2.0 * s->nz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the product from the arrays of an AIJ on the host whose rows are nodes, as the block size of the matrix says */
static PetscErrorCode MatShadowNodesMult(Mat A, MatShadow *s, const MatShadowCSR *csr, Vec xx, Vec yy, Vec zz, PetscBool *done)
{
  const BAIJKernels *kernels = BAIJKernelsGet();
  const PetscInt     bs      = A->rmap->bs;
  MatShadowVectors   v;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  if (!kernels || bs < BAIJ_LEAST || bs > BAIJ_MOST || A->cmap->bs != bs || !csr->A.nz) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->nodes < 0 || (s->nodes && s->nodes != bs)) s->nodes = BAIJFindNodes(&csr->A, (int)bs) ? (int)bs : 0;
  if (!s->nodes) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowGetVectors(s, xx, yy, zz, &v));
  (*kernels->multnodes)(&(BAIJHost){.m = csr->A.m / bs, .bs = (int)bs, .i = csr->A.i, .j = csr->A.j, .a = csr->A.a}, MatAIJThreads(s->nz), v.x, v.y, v.z);
  PetscCall(MatShadowRestoreVectors(s, xx, yy, zz, &v, PETSC_TRUE));
  *done = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The product of the AIJ or AIJCUSPARSE */
static PetscErrorCode MatShadowBaseMult(Mat A, MatShadow *s, PetscBool transpose, const MatShadowCSR *csr, Vec xx, Vec yy, Vec zz)
{
  const struct _MatOps *base = MatShadowOnDevice(s) ? MatAIJGetBaseCUSPARSE(PETSC_TRUE) : &MatAIJBaseSeq;
  PetscBool             done = PETSC_FALSE;

  PetscFunctionBegin;
  if (!transpose && !MatShadowOnDevice(s)) PetscCall(MatShadowNodesMult(A, s, csr, xx, yy, zz, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatAIJComplete(A));
  if (MatShadowOnDevice(s) && transpose && yy && yy != zz) { /* AIJCUSPARSE adds to z instead of y in this product */
    PetscCall(MatShadowDeviceCopy(yy, zz));
    yy = zz;
  }
  if (transpose && !yy && !MatShadowOnDevice(s)) { /* AIJ would call the collective VecSet(), but only some processes may be on the AIJ */
    PetscScalar *z;

    PetscCall(VecGetArrayWrite(zz, &z));
    PetscCall(PetscArrayzero(z, A->cmap->n));
    PetscCall(VecRestoreArrayWrite(zz, &z));
    yy = zz;
  }
  if (transpose) {
    if (yy) PetscCall((*base->multtransposeadd)(A, xx, yy, zz));
    else PetscCall((*base->multtranspose)(A, xx, zz));
  } else {
    if (yy) PetscCall((*base->multadd)(A, xx, yy, zz));
    else PetscCall((*base->mult)(A, xx, zz));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Formats contain filled zeros, and 0 times infinity is an invalid operation. If such operations end the program (-fp_trap), runs a product with
   non-finite numbers on the AIJ: the program then ends exactly where it would with the AIJ. */
static PetscErrorCode MatShadowAvoidTrap(Vec x, MatShadowRun *run)
{
  const PetscScalar *a;
  PetscInt           n;
  PetscBool          finite = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArrayRead(x, &a));
  for (PetscInt k = 0; k < n && finite; k++) finite = (PetscBool)(isfinite(PetscRealPart(a[k])) && isfinite(PetscImaginaryPart(a[k])));
  PetscCall(VecRestoreArrayRead(x, &a));
  if (!finite) {
    run->data  = NULL;
    run->trial = NULL;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes z = A x + y, or z = A x if y is NULL; y may be z */
PetscErrorCode MatShadowProduct(Mat A, PetscBool transpose, Vec xx, Vec yy, Vec zz)
{
  const Vec        result = zz;
  MatShadow       *s;
  MatShadowCSR     csr;
  MatShadowRun     run;
  MatShadowVectors v;
  PetscBool        done = PETSC_TRUE;
  PetscLogDouble   t0   = 0, t1;

  PetscFunctionBegin;
  PetscCall(MatShadowGet(A, &s));
  if (MatShadowOnDevice(s)) {
    PetscCall(MatShadowDeviceGetAll(A, transpose, &xx, &yy, &zz));
    PetscCall(VecAMBSetOperations(xx)); /* PETSc creates no vector that is known to be for this matrix, and has no hook at the creation of one: a product is the first to see it */
    PetscCall(VecAMBSetOperations(zz));
  }
  PetscCall(MatShadowChoose(A, s, transpose, &csr, &run));
  if (run.data && !MatShadowOnDevice(s) && TrapsInvalid()) PetscCall(MatShadowAvoidTrap(xx, &run));
  s->served++;
  s->products++;
  if (run.trial || MatShadowReporting) PetscCall(PetscTime(&t0));
  if (run.data) {
    PetscCall(MatShadowGetVectors(s, xx, yy, zz, &v));
    PetscCall(MatShadowCheckStatus((*(transpose ? run.ops->multtranspose : run.ops->mult))(run.data, &csr.A, 1, v.x, yy ? 1 : 0, v.y, v.z, csr.stream), &done));
    PetscCall(MatShadowRestoreVectors(s, xx, yy, zz, &v, done));
    if (!done) PetscCall(PetscInfo(A, "Not enough memory for the %sproduct, which returns to the AIJ\n", transpose ? "transposed " : ""));
  }
  if (!done && run.data == s->data) {
    s->trial[transpose].verdict = MAT_SHADOW_FOR_AIJ;
    run.trial                   = NULL;
  }
  if (!done || !run.data) PetscCall(MatShadowBaseMult(A, s, transpose, &csr, xx, yy, zz));
  PetscCall(MatShadowCount(s, (PetscBool)(done && run.data), t0));
  if (run.trial) {
    PetscCall(PetscTime(&t1));
    MatShadowTrialAdd(run.trial, run.format, done ? t1 - t0 : PETSC_MAX_REAL);
  }
  if (zz != result) PetscCall(MatShadowDeviceRestoreVector(zz, result));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes zz = A xx + yy, or the transposed product, without yy if NULL. PETSc computes it if petsc-amb's exchange does not. */
static PetscErrorCode MatShadowProductMPI(Mat A, PetscBool transpose, Vec xx, Vec yy, Vec zz)
{
  const struct _MatOps *base = MatAIJGetBase(A);
  PetscBool             done = PETSC_FALSE;
  MatShadow            *s;

  PetscFunctionBegin;
  PetscCall((*MatShadowAdoptFunctions->attachblocks)(A));
  if (MatShadowExchangeOfVectors && MatAIJIsCUSPARSE(A)) {
    PetscCall(MatShadowGet(A, &s));
    if (MatShadowOnDevice(s)) PetscCall((*MatShadowExchangeOfVectors->mult)(A, s, transpose, xx, yy, zz, &done));
  }
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  if (yy) PetscCall((*(transpose ? base->multtransposeadd : base->multadd))(A, xx, yy, zz));
  else PetscCall((*(transpose ? base->multtranspose : base->mult))(A, xx, zz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Defines a matrix's four product operations through product(A, transpose, x, y, z); y is NULL if nothing is added */
#define MAT_SHADOW_PRODUCTS(Kind, product) \
  PetscErrorCode MatMult_##Kind(Mat A, Vec x, Vec z) \
  { \
    return product(A, PETSC_FALSE, x, NULL, z); \
  } \
  PetscErrorCode MatMultAdd_##Kind(Mat A, Vec x, Vec y, Vec z) \
  { \
    return product(A, PETSC_FALSE, x, y, z); \
  } \
  PetscErrorCode MatMultTranspose_##Kind(Mat A, Vec x, Vec z) \
  { \
    return product(A, PETSC_TRUE, x, NULL, z); \
  } \
  PetscErrorCode MatMultTransposeAdd_##Kind(Mat A, Vec x, Vec y, Vec z) \
  { \
    return product(A, PETSC_TRUE, x, y, z); \
  }

MAT_SHADOW_PRODUCTS(Shadow, MatShadowProduct)
MAT_SHADOW_PRODUCTS(MPIShadow, MatShadowProductMPI)
