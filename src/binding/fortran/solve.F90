! SPDX-License-Identifier: BSD-2-Clause
! Solves the system of a Matrix Market file with a type of petsc-amb:
!   solve -f matrix.mtx.gz [options of PETSc]
program solve
#include <petsc/finclude/petscksp.h>
  use petscksp
  use petscamb
  implicit none
  Mat                                :: A
  Vec                                :: x, b, e
  KSP                                :: solver
  PetscErrorCode                     :: ierr
  PetscBool                          :: given
  PetscReal                          :: error
  PetscScalar                        :: one = 1, less = -1
  character(len=PETSC_MAX_PATH_LEN)  :: file
  type(MatShadowInfo)                :: info

  PetscCallA(PetscInitialize(PETSC_NULL_CHARACTER, ierr))
  PetscCallA(PetscAMBInitializePackage(ierr))
  PetscCallA(PetscOptionsGetString(PETSC_NULL_OPTIONS, PETSC_NULL_CHARACTER, '-f', file, given, ierr))
  PetscCallA(MatCreate(PETSC_COMM_WORLD, A, ierr))
  PetscCallA(MatSetType(A, MATAMB, ierr))
  PetscCallA(MatShadowSetTune(A, MAT_SHADOW_TUNE_OFF, ierr))
  PetscCallA(MatShadowSetValues(A, MAT_SHADOW_VALUES_EXACT, ierr))
  PetscCallA(MatLoadMatrixMarket(A, file, ierr))
  PetscCallA(MatCreateVecs(A, x, b, ierr))
  PetscCallA(VecDuplicate(x, e, ierr))
  PetscCallA(VecSet(e, one, ierr))
  PetscCallA(MatMult(A, e, b, ierr))
  PetscCallA(KSPCreate(PETSC_COMM_WORLD, solver, ierr))
  PetscCallA(KSPSetOperators(solver, A, A, ierr))
  PetscCallA(KSPSetFromOptions(solver, ierr))
  PetscCallA(KSPSolve(solver, b, x, ierr))
  PetscCallA(VecAXPY(x, less, e, ierr))
  PetscCallA(VecNorm(x, NORM_INFINITY, error, ierr))
  PetscCallA(MatShadowGetInfo(A, info, ierr))
  print '(a, a, a, i0, a, f0.0, a, l1)', 'format ', trim(info%format), ', ', info%conversions, ' conversion, ', info%nonzeros, ' nonzeros, right: ', error < 1e-3
  PetscCallA(KSPDestroy(solver, ierr))
  PetscCallA(VecDestroy(x, ierr))
  PetscCallA(VecDestroy(b, ierr))
  PetscCallA(VecDestroy(e, ierr))
  PetscCallA(MatDestroy(A, ierr))
  PetscCallA(PetscFinalize(ierr))
end program solve
