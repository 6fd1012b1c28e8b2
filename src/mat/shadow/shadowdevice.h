/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The device side of shadows, included by shadow.h. Where there is no device no matrix is an AIJCUSPARSE, and nothing is done.
*/
#pragma once

/* The arrays of vectors in a product */
typedef struct {
  const PetscScalar *x, *y;
  PetscScalar       *z;
} MatShadowVectors;

extern PetscErrorCode MatShadowDeviceVecOptions(const MatShadowFormat *);

#if defined(SYS_HAVE_DEVICE)

/* The operations of seqaijcusparse and mpiaijcusparse, once they are needed */
extern struct _MatOps MatShadowBaseSeqCUSPARSE, MatShadowBaseMPICUSPARSE;

/* Do the products of the owner of this shadow run on the device? */
static inline PetscBool MatShadowOnDevice(const MatShadow *s)
{
  return (PetscBool)(s->cusparse && !s->owner->boundtocpu);
}

/* Are the values of a sequential matrix used on the device? */
static inline PetscBool MatShadowValuesOnDevice(Mat A)
{
  return (PetscBool)(!A->boundtocpu && strcmp(((PetscObject)A)->type_name, MATSEQAIJCUSPARSE) == 0);
}

static inline const struct _MatOps *MatShadowBaseCUSPARSE(PetscBool seq)
{
  return seq ? &MatShadowBaseSeqCUSPARSE : &MatShadowBaseMPICUSPARSE;
}

/* A matrix that has a copy on the device: its values were written on the host */
static inline void MatShadowDeviceHostWritten(Mat A)
{
  if (A->offloadmask != PETSC_OFFLOAD_UNALLOCATED) A->offloadmask = PETSC_OFFLOAD_CPU;
}

extern PetscErrorCode MatShadowLoadStart(const MatShadowFormat *);
extern PetscErrorCode MatShadowLoadEnd(void);
extern PetscErrorCode MatShadowDeviceFound(PetscBool *);
extern PetscErrorCode MatShadowDeviceReady(void);
extern PetscErrorCode MatShadowDeviceExpect(const MatShadowFormat *);
extern PetscErrorCode MatShadowDeviceStart(const MatShadowFormat *);
extern PetscErrorCode MatShadowDeviceEnd(void);
extern PetscErrorCode MatShadowDeviceConvert(Mat);
extern PetscErrorCode MatShadowDeviceGetFormat(const MatShadowFormat **);
extern PetscErrorCode MatShadowDeviceGetCSR(Mat, MatShadowCSR *);
extern void           MatShadowDevicePin(const void *, size_t bytes, PetscBool *pinned);
extern void           MatShadowDeviceUnpin(const void *, PetscBool pinned);
extern PetscErrorCode MatShadowDeviceWait(const MatShadowCSR *);
extern PetscErrorCode MatShadowDeviceBring(Mat, int k, Vec, Vec from, Vec *);
extern PetscErrorCode MatShadowDeviceBringAll(Mat, PetscBool transpose, Vec *x, Vec *y, Vec *z);
extern PetscErrorCode MatShadowDeviceTake(Vec, Vec);
extern PetscErrorCode MatShadowDeviceCopy(Vec from, Vec to);
extern PetscErrorCode MatShadowDeviceGetVectors(Vec, Vec, Vec, MatShadowVectors *);
extern PetscErrorCode MatShadowDeviceRestoreVectors(const MatShadow *, Vec, Vec, Vec, MatShadowVectors *, PetscBool done);
extern PetscErrorCode MatShadowDeviceTry(Mat, MatShadow *, const MatShadowCSR *, PetscBool transpose, PetscBool *tried);
extern PetscErrorCode MatShadowDeviceExpectTranspose(Mat);
extern PetscErrorCode MatShadowConvertToAIJ(Mat, MatType, MatReuse, Mat *);
extern PetscErrorCode MatShadowCUSPARSECompose(Mat, PetscBool seq, PetscBool add);
extern PetscErrorCode MatShadowCUSPARSERestoreOperations(Mat, PetscBool seq);
extern PetscErrorCode MatShadowCUSPARSESetCPUSolve(Mat);
extern void           MatShadowCUSPARSESetOperations(Mat, PetscBool seq);

#else

  #define MAT_SHADOW_STUB(name, ...) \
    static inline PetscErrorCode name(__VA_ARGS__) \
    { \
      return PETSC_SUCCESS; \
    }

static inline PetscBool MatShadowOnDevice(const MatShadow *s)
{
  return PETSC_FALSE;
}

static inline PetscBool MatShadowValuesOnDevice(Mat A)
{
  return PETSC_FALSE;
}

static inline const struct _MatOps *MatShadowBaseCUSPARSE(PetscBool seq)
{
  return seq ? &MatShadowBaseSeq : &MatShadowBaseMPI;
}

static inline void MatShadowDeviceHostWritten(Mat A) { }
static inline void MatShadowCUSPARSESetOperations(Mat A, PetscBool seq) { }
static inline void MatShadowDevicePin(const void *memory, size_t bytes, PetscBool *pinned)
{
  *pinned = PETSC_FALSE;
}
static inline void MatShadowDeviceUnpin(const void *memory, PetscBool pinned) { }

static inline PetscErrorCode MatShadowDeviceTry(Mat A, MatShadow *s, const MatShadowCSR *csr, PetscBool transpose, PetscBool *tried)
{
  *tried = PETSC_FALSE;
  return PETSC_SUCCESS;
}

static inline PetscErrorCode MatShadowDeviceFound(PetscBool *found)
{
  *found = PETSC_FALSE;
  return PETSC_SUCCESS;
}

static inline PetscErrorCode MatShadowDeviceGetFormat(const MatShadowFormat **format)
{
  *format = NULL;
  return PETSC_SUCCESS;
}

MAT_SHADOW_STUB(MatShadowDeviceExpect, const MatShadowFormat *format)
MAT_SHADOW_STUB(MatShadowDeviceStart, const MatShadowFormat *format)
MAT_SHADOW_STUB(MatShadowDeviceEnd, void)
MAT_SHADOW_STUB(MatShadowDeviceConvert, Mat A)
MAT_SHADOW_STUB(MatShadowDeviceGetCSR, Mat A, MatShadowCSR *csr)
MAT_SHADOW_STUB(MatShadowDeviceWait, const MatShadowCSR *csr)
MAT_SHADOW_STUB(MatShadowDeviceBringAll, Mat A, PetscBool transpose, Vec *x, Vec *y, Vec *z)
MAT_SHADOW_STUB(MatShadowDeviceTake, Vec device, Vec v)
MAT_SHADOW_STUB(MatShadowDeviceCopy, Vec from, Vec to)
MAT_SHADOW_STUB(MatShadowDeviceGetVectors, Vec x, Vec y, Vec z, MatShadowVectors *v)
MAT_SHADOW_STUB(MatShadowDeviceRestoreVectors, const MatShadow *s, Vec x, Vec y, Vec z, MatShadowVectors *v, PetscBool done)
MAT_SHADOW_STUB(MatShadowDeviceExpectTranspose, Mat A)
MAT_SHADOW_STUB(MatShadowConvertToAIJ, Mat A, MatType type, MatReuse reuse, Mat *newmat)
MAT_SHADOW_STUB(MatShadowCUSPARSECompose, Mat A, PetscBool seq, PetscBool add)
MAT_SHADOW_STUB(MatShadowCUSPARSERestoreOperations, Mat A, PetscBool seq)
MAT_SHADOW_STUB(MatShadowCUSPARSESetCPUSolve, Mat A)

  #undef MAT_SHADOW_STUB
#endif
