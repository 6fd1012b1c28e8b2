/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The operands of products with dense matrices on a device: memory, the arrays of a sparse matrix, the array of a dense matrix
*/
#pragma once

#include <petscdevice_cuda.h>

#include "mat/impls/spmm/glue/spmm.h"
#include "mat/impls/spmm/cuda/spmmcuda.h"

/* Memory on the device, and what depends on the pattern of the sparse operand */
typedef struct _SpmmOnDevice {
  SpmmDevice *block[2];      /* NULL: the block has no entries */
  SpmmMemory  panel, ghost;  /* of the dense operand that is packed: rows of this process, rows of others */
  SpmmMemory  result, slots; /* of A^T B on several processes: what this process adds to its rows, and what others do */
  int        *first;         /* the first slot of each row, and behind the last one */
  SpmmMemory  staged[2];     /* some columns of both dense matrices, if these are on the host */
} SpmmOnDevice;

/* Raises an error, but for lack of memory, which makes *done PETSC_FALSE */
extern PetscErrorCode SpmmOnDeviceCheck(SysStatus, PetscBool *done);

/* Sees to it that there is memory for so many numbers. *done becomes PETSC_FALSE if memory is short. */
extern PetscErrorCode SpmmOnDeviceReserve(size_t numbers, SpmmMemory *, PetscBool *done);

/* The local array of a dense matrix, on the device or on the host */
typedef struct {
  PetscBool    device;
  PetscScalar *a;
  PetscInt     ld;
} SpmmArray;

extern PetscErrorCode SpmmArrayGetLayout(Mat, SpmmArray *);
extern PetscErrorCode SpmmArrayGetRead(Mat, SpmmArray *);
extern PetscErrorCode SpmmArrayRestoreRead(Mat, SpmmArray *);

/* Copies ncol columns of n rows of an array on the host; *columns then points to the copy, whose columns follow after n numbers each */
extern PetscErrorCode SpmmArrayStage(const SpmmArray *, PetscInt n, int ncol, const SysReal **columns, const SpmmMemory *staged);
