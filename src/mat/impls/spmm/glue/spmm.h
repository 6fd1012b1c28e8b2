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
} SpmmSeen;

/* Memory of the host's kernels */
typedef struct {
  SysReal *a;
  size_t   bytes;
} SpmmMemory;

/* The data of a product, kept for other values and for other dense operands */
typedef struct {
  Mat_Product   *product; /* the owner of these data */
  SpmmSeen       seen;
  int            nthread;
  int64_t        ring;          /* rows of the ring of each thread, or 0 */
  SpmmTransposed transposed[2]; /* of A^T B: the blocks of A */
  PetscSF        sf;            /* of several processes: from the rows of other processes to those of this one */
  SpmmMemory     panel, ghost, result;
} SpmmProduct;

extern PetscLogEvent MAT_SpmmSymbolic, MAT_SpmmNumeric, MAT_Sddmm;

extern PetscErrorCode MatProductSymbolic_Spmm(Mat);

/* The blocks of a sparse operand, the second NULL on one process, and the columns of the second */
extern PetscErrorCode SpmmGetBlocks(Mat A, Mat block[2], const PetscInt **garray);
extern PetscErrorCode SpmmGetCSR(Mat block, SysCSR *);
extern PetscErrorCode SpmmMemoryCreate(size_t numbers, SpmmMemory *, SysStatus *);
extern PetscErrorCode SpmmMemoryDestroy(SpmmMemory *);
