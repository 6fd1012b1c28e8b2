/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Operations on graphs and vectors on a GPU. *done: the device ran the operation, the same on all processes
*/
#pragma once

#include <petscvec.h>
#include <petscambgraph.h>

#include "mat/aij/aij.h"
#include "sys/systypes.h"
#include "sys/syscuda.h"

typedef struct {
  PetscReal        inflation, prune, batch, rest;
  PetscInt         keep, most;
  MatMarkovMonitor monitor;
  void            *context;
} GraphMarkovParameters;

/* The stubs do not write their results: callers initialize done with PETSC_FALSE. Searches support several processes, the other operations on whole
   matrices one. */
SYS_DEVICE PetscErrorCode GraphTrianglesDevice(Mat A, PetscInt64 *count, PetscBool *done) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode GraphSearchDevice(Mat A, PetscInt n, const PetscInt source[], PetscInt64 level[], PetscInt64 *reached, PetscInt64 *farthest, PetscBool *done) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode GraphMarkovOnDevice(Mat *M, const GraphMarkovParameters *, PetscInt *iterations, PetscReal *chaos, PetscBool *done) SYS_STUB(PETSC_SUCCESS);

/* The operation of VecShiftToSum() or VecScaleToSum() on z, and its results */
typedef struct {
  Vec         z, where, x;
  PetscBool   scale;
  PetscReal   weight, change;
  PetscScalar sum, total;
} VecToSum;

/* Runs the operation if all vectors are on a GPU */
SYS_DEVICE PetscErrorCode VecToSumDevice(VecToSum *s, PetscBool *done) SYS_STUB((*done = PETSC_FALSE, PETSC_SUCCESS));

/* Gets the k largest local entries and their positions, as GraphTop(), if x is on a GPU and k is small against its length. */
SYS_DEVICE PetscErrorCode VecTopDevice(Vec x, PetscMPIInt k, int64_t position[], PetscReal value[], PetscBool *done) SYS_STUB(PETSC_SUCCESS);
