/* SPDX-License-Identifier: BSD-2-Clause */
/*
   PCGAMG in the versions of PETSc that petsc-amb supports
*/
#pragma once

#include <petsc/private/pcgamgimpl.h>
#include <petsc/private/matimpl.h>

#include "sys/syscompat.h"

/* In older versions the hook for the prolongator had the graph as an argument: selects the function of the hook's type */
typedef PetscErrorCode (*PCAmbAggProlongator)(PC, Mat, PetscCoarsenData *, Mat *);
typedef PetscErrorCode (*PCAmbAggProlongatorGraph)(PC, Mat, Mat, PetscCoarsenData *, Mat *);
#define PCAMBAGG_PROLONGATOR(ops, plain, graph) _Generic((ops)->prolongator, PCAmbAggProlongator : plain, PCAmbAggProlongatorGraph : graph)

/* The prefix of the coarsener's options, and whether vertices of low degree come first unless the user says otherwise */
#if PETSC_VERSION_LT(3, 20, 0)
  #define PCAMBAGG_COARSEN_PREFIX "mat_coarsen_"
  #define PCAMBAGG_LOW_DEGREE     PETSC_TRUE
#else
  #define PCAMBAGG_COARSEN_PREFIX "pc_gamg_mat_coarsen_"
  #define PCAMBAGG_LOW_DEGREE     PETSC_FALSE
#endif
