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

/* Do the products of the owner of this shadow run on the device? */
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

/* The stubs do not write to their results: the caller initializes a flag with PETSC_FALSE */
SYS_DEVICE PetscErrorCode MatShadowDeviceExpect(const MatShadowFormat *format) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowDeviceStart(const MatShadowFormat *format) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowDeviceEnd(void) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowDeviceConvert(Mat A) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowLoadStart(const MatShadowFormat *format) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowLoadEnd(void) SYS_STUB(PETSC_SUCCESS);

/* Arrays and vectors */
SYS_DEVICE PetscErrorCode MatShadowDeviceGetRows(Mat A, const MatShadow *s, MatShadowCSR *csr) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowDeviceGiveBack(Mat A, MatShadow *s, MatShadowCSR *csr) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowDeviceForgetRows(MatShadow *s) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowDeviceWait(const MatShadowCSR *csr) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowDeviceBring(Mat A, int k, Vec v, Vec from, Vec *device) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowDeviceBringAll(Mat A, PetscBool transpose, Vec *x, Vec *y, Vec *z) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowDeviceTake(Vec device, Vec v) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowDeviceCopy(Vec from, Vec to) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowDeviceGetVectors(Vec x, Vec y, Vec z, MatShadowVectors *v) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatShadowDeviceRestoreVectors(const MatShadow *s, Vec x, Vec y, Vec z, MatShadowVectors *v, PetscBool done) SYS_STUB(PETSC_SUCCESS);
/* For solvers that queue products themselves: the functions and the data that make the products of A, or the transposed ones, from now on, if all decisions about them
   are made. Otherwise *data stays as it is. The second function counts such products, and those that the solver makes on the arrays of the AIJ. */
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
