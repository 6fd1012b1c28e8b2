/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products of a sparse matrix of petsc-amb's types and a dense matrix, behind PETSc's MatProduct
*/
#pragma once

#include <petscsf.h>

#include "mat/product/product.h"
#include "mat/impls/spmm/host/spmmhost.h"

/* The pattern of a sparse operand, as a product saw it last */
typedef struct {
  PetscObjectId    id;
  PetscObjectState nonzerostate;
  const PetscInt  *i[2];
  PetscBool        device[2]; /* are the values of the block used on a device? */
} SpmmSeen;

/* Memory of the kernels */
typedef struct {
  SysReal *a;
  size_t   bytes;
} SpmmMemory;

/* What products on the host keep */
typedef struct {
  int            nthread;
  int64_t        ring;          /* rows of the ring of each thread, or 0 */
  SpmmTransposed transposed[2]; /* of A^T B: the blocks of A */
  SpmmMemory     panel, ghost, result;
} SpmmHost;

/* The data of a product, kept for other values and for other dense operands */
typedef struct {
  Mat_Product          *product; /* the owner of these data */
  SpmmSeen              seen;
  PetscSF               sf;     /* of several processes: from the rows of other processes to those of this one */
  PetscBool             lacked; /* the device should have made the product, and could not */
  PetscBool             made;   /* a numeric phase has computed values */
  SpmmHost              host;
  struct _SpmmOnDevice *device; /* NULL: the host makes the product */
} SpmmProduct;

extern PetscLogEvent MAT_SpmmSymbolic, MAT_SpmmNumeric, MAT_Sddmm;

extern PetscErrorCode MatProductSymbolic_Spmm(Mat);

/* What a product sees of a sparse matrix, and whether it is what it saw before */
extern PetscErrorCode SpmmLook(Mat, SpmmSeen *);
extern PetscBool      SpmmSeenSame(const SpmmSeen *, const SpmmSeen *);

extern PetscErrorCode SpmmMemoryCreate(size_t numbers, SpmmMemory *, SysStatus *);
extern PetscErrorCode SpmmMemoryDestroy(SpmmMemory *);

/* On the host. *status says if memory was short. */
extern PetscErrorCode SpmmHostMake(PetscBool transpose, const Mat block[2], Mat B, Mat C, SpmmProduct *, SysStatus *);
extern PetscErrorCode SpmmHostMult(PetscBool transpose, Mat A, Mat B, Mat C, const SpmmProduct *);
extern PetscErrorCode SpmmHostReset(SpmmHost *);

/* On a device. *done remains PETSC_FALSE if memory is short. degree[] has for each row of A^T B how many other processes add to it. */
SYS_DEVICE PetscErrorCode SpmmOnDeviceMake(PetscBool transpose, const Mat block[2], const PetscInt degree[], Mat B, Mat C, SpmmProduct *p, PetscBool *done) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode SpmmOnDeviceMult(PetscBool transpose, Mat A, Mat B, Mat C, const SpmmProduct *p) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode SpmmOnDeviceReset(struct _SpmmOnDevice **device) SYS_STUB(PETSC_SUCCESS);

/* Registers the paper behind both kinds of products for -citations */
extern PetscErrorCode SpmmCite(void);

/* The same of MatSDDMM(). In Make(), *done remains PETSC_FALSE if memory is short; it is called for each product, and makes what is missing. */
SYS_DEVICE PetscErrorCode SddmmOnDeviceMake(Mat S, Mat D1, Mat D2, Mat O, struct _SpmmOnDevice **device, PetscBool *done) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode SddmmOnDeviceMult(Mat S, Mat D1, Mat D2, PetscBool scale, Mat O, PetscSF sf, struct _SpmmOnDevice *device) SYS_STUB(PETSC_SUCCESS);
