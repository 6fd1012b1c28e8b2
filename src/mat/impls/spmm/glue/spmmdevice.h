/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Operands of SpMM and SDDMM on a device: work memory, sparse arrays, dense arrays
*/
#pragma once

#include <petscdevice_cuda.h>

#include "mat/impls/spmm/glue/spmm.h"
#include "mat/impls/spmm/cuda/spmmcuda.h"

/* Device memory, and data of the sparse operand's pattern */
typedef struct _SpmmOnDevice {
  SpmmDevice *block[2];      /* NULL: the block is empty */
  SpmmMemory  panel, ghost;  /* of the packed dense operand: local rows, ghost rows */
  SpmmMemory  result, slots; /* A^T B on several processes: this process's contributions, and the others' */
  int        *first;         /* each row's first slot, and the end of the last */
  SpmmMemory  staged[2];     /* one panel's columns of both dense matrices, if on the host */
} SpmmOnDevice;

/* Raises an error; for SYS_OUT_OF_MEMORY sets *done = PETSC_FALSE instead */
extern PetscErrorCode SpmmOnDeviceCheck(SysStatus, PetscBool *done);

/* Ensures memory for `numbers` numbers; sets *done = PETSC_FALSE if memory is short */
extern PetscErrorCode SpmmOnDeviceReserve(size_t numbers, SpmmMemory *, PetscBool *done);

/* A dense matrix's local array, on device or host */
typedef struct {
  PetscBool    device;
  PetscScalar *a;
  PetscInt     ld;
} SpmmArray;

extern PetscErrorCode SpmmArrayGetLayout(Mat, SpmmArray *);
extern PetscErrorCode SpmmArrayGetRead(Mat, SpmmArray *);
extern PetscErrorCode SpmmArrayRestoreRead(Mat, SpmmArray *);

/* Copies ncol columns of n rows from the host; *columns becomes the copy, with leading dimension n */
extern PetscErrorCode SpmmArrayStage(const SpmmArray *, PetscInt n, int ncol, const SysReal **columns, const SpmmMemory *staged);
