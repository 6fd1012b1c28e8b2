/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Operations on a graph whose matrix is on a GPU. *done: the device ran the operation, the same on all processes. Searches support several processes,
   the other operations on whole matrices one.
*/
#pragma once

#include <petscambgraph.h>

#include "mat/aij/aij.h"

typedef struct {
  PetscReal        inflation, prune, batch, rest;
  PetscInt         keep, most;
  MatMarkovMonitor monitor;
  void            *context;
} GraphMarkovParameters;

/* The stubs do not write their results: callers initialize done with PETSC_FALSE */
SYS_DEVICE PetscErrorCode GraphTrianglesDevice(Mat A, PetscInt64 *count, PetscBool *done) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode GraphSearchDevice(Mat A, PetscInt n, const PetscInt source[], PetscInt64 level[], PetscInt64 *reached, PetscInt64 *farthest, PetscBool *done) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode GraphMarkovOnDevice(Mat *M, const GraphMarkovParameters *, PetscInt *iterations, PetscReal *chaos, PetscBool *done) SYS_STUB(PETSC_SUCCESS);
