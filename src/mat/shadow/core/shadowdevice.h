/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The device side of shadows, included by shadow.h. Without a device no matrix is an AIJCUSPARSE, and the functions are stubs that do nothing.
*/
#pragma once

/* The arrays of vectors in a product */
typedef struct {
  const PetscScalar *x, *y;
  PetscScalar       *z;
} MatShadowVectors;

extern PetscErrorCode MatShadowDeviceVecOptions(const MatShadowFormat *);

#if defined(SYS_HAVE_DEVICE)

/* Returns PETSC_TRUE if products of this shadow's owner run on the device */
static inline PetscBool MatShadowOnDevice(const MatShadow *s)
{
  return (PetscBool)(s->cusparse && !s->owner->boundtocpu);
}

#else

static inline PetscBool MatShadowOnDevice(const MatShadow *s)
{
  return PETSC_FALSE;
}

#endif

/* The stubs do not write their results: callers initialize flags with PETSC_FALSE */
SYS_DEVICE PetscErrorCode MatShadowDeviceExpect(const MatShadowFormat *format) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowDeviceStart(const MatShadowFormat *format) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowDeviceEnd(void) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowDeviceConvert(Mat A) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowLoadStart(const MatShadowFormat *format) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowLoadEnd(void) SYS_STUB(PETSC_SUCCESS);

/* Arrays and vectors */
SYS_DEVICE PetscErrorCode MatShadowDeviceGetRows(Mat A, const MatShadow *s, MatShadowCSR *csr) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowDeviceFree(Mat A, MatShadow *s, MatShadowCSR *csr) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowDeviceForgetRows(MatShadow *s) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowDeviceWait(const MatShadowCSR *csr) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowDeviceGetVector(Mat A, int k, Vec v, Vec from, Vec *device) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowDeviceGetAll(Mat A, PetscBool transpose, Vec *x, Vec *y, Vec *z) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowDeviceRestoreVector(Vec device, Vec v) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowDeviceCopy(Vec from, Vec to) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowDeviceGetVectors(Vec x, Vec y, Vec z, MatShadowVectors *v) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowDeviceRestoreVectors(const MatShadow *s, Vec x, Vec y, Vec z, MatShadowVectors *v, PetscBool done) SYS_STUB(PETSC_SUCCESS);
/* For solvers that queue products themselves. Settled() gets the functions and data of all further products of A, or transposed ones, if all
   decisions about them are final; otherwise *data is unchanged. Count() counts such products, and those that the solver runs on the AIJ's arrays. */
SYS_DEVICE PetscErrorCode MatShadowDeviceSettled(Mat A, PetscBool transpose, MatShadowCSR *csr, const MatShadowOps **ops, void **data) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowDeviceMade(Mat A, PetscInt products, PetscBool aij) SYS_STUB(PETSC_SUCCESS);

/* Trials */
SYS_DEVICE PetscErrorCode MatShadowDeviceTry(Mat A, MatShadow *s, const MatShadowCSR *csr, PetscBool transpose, PetscBool *tried) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowDeviceExpectTranspose(Mat A) SYS_STUB(PETSC_SUCCESS);

/* Operations of an AIJCUSPARSE */
SYS_DEVICE PetscErrorCode MatShadowConvertToAIJ(Mat A, MatType type, MatReuse reuse, Mat *newmat) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowCUSPARSECompose(Mat A, PetscBool seq, PetscBool add) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowCUSPARSESetOperations(Mat A, PetscBool seq) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowCUSPARSERestoreOperations(Mat A, PetscBool seq) SYS_STUB(PETSC_SUCCESS);
