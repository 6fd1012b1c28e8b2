#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The Fortran module (src/binding/fortran): its program solve.F90, and every setter once. Prints ok, not ok or skip.
#
# make test sets LIB, PETSC_DIR and PETSC_ARCH.
set -u
. "$(dirname "$0")/../shell/expect.sh"
cd "$work" || exit 1
export OMP_NUM_THREADS=1
unset PETSC_OPTIONS
source=$root/src/binding/fortran
home=$PETSC_DIR/${PETSC_ARCH:-}

expect "the version of the module" 0 "InitializeC\($(sed 's/\./_c_int, /g' "$root/VERSION")_c_int\)" cat "$source/petscamb.F90"
compiler=$(sed -nE 's/^FC *= *([^ ]+).*/\1/p' "$home/lib/petsc/conf/petscvariables" 2>/dev/null)
if [ ! -e "$home/include/petscmat.mod" ] || ! command -v "${compiler:-none}" >/dev/null; then
  echo "skip the Fortran module: this PETSc has no Fortran, or its compiler is not here"
  exit $failed
fi
libraries=$(sed -nE 's/^PETSC_LIB_BASIC *= *//p' "$home/lib/petsc/conf/petscvariables")
flags=(-ffree-line-length-none "-I$PETSC_DIR/include" "-I$home/include")
link=(-L"$(dirname "$LIB")" -Wl,-rpath,"$(dirname "$LIB")" "-l$(basename "$LIB" .so | sed 's/^lib//')" -L"$home/lib" -Wl,-rpath,"$home/lib" ${libraries:--lpetsc})

cat >setters.F90 <<'END'
program setters
#include <petsc/finclude/petscmat.h>
  use petscmat
  use petscamb
  use iso_c_binding
  implicit none
  Mat                 :: A
  PetscErrorCode      :: ierr
  PetscInt            :: n = 20, one = 1, eight = 8, sixteen = 16
  PetscScalar         :: value = 2
  PetscInt            :: i, first, last
  type(MatShadowInfo) :: info
  real(c_double)      :: figure
  integer(c_int)      :: formats(2)

  PetscCallA(PetscInitialize(PETSC_NULL_CHARACTER, ierr))
  PetscCallA(PetscAMBInitializePackage(ierr))
  PetscCallA(MatCreate(PETSC_COMM_WORLD, A, ierr))
  PetscCallA(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, n, n, ierr))
  PetscCallA(MatSetType(A, MATNUSSELL, ierr))
  PetscCallA(MatSetUp(A, ierr))
  PetscCallA(MatGetOwnershipRange(A, first, last, ierr))
  do i = first, last - 1
    PetscCallA(MatSetValues(A, one, i, one, i, value, INSERT_VALUES, ierr))
  end do
  PetscCallA(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY, ierr))
  PetscCallA(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY, ierr))
  PetscCallA(MatShadowSetTune(A, MAT_SHADOW_TUNE_OFF, ierr))
  PetscCallA(MatShadowSetDevice(A, MAT_SHADOW_DEVICE_CPU, ierr))
  PetscCallA(MatShadowSetHalo(A, MAT_SHADOW_HALO_AUTO, ierr))
  PetscCallA(MatShadowSetValues(A, MAT_SHADOW_VALUES_DOUBLE, ierr))
  PetscCallA(MatNUSSELLSetTune(A, MAT_NUSSELL_TUNE_MODEL, ierr))
  PetscCallA(MatNUSSELLSetSegmentation(A, MAT_NUSSELL_SEGMENTATION_UNIFORM, ierr))
  PetscCallA(MatNUSSELLSetRows(A, MAT_NUSSELL_ROWS_JDS, ierr))
  PetscCallA(MatNUSSELLSetChunk(A, eight, sixteen, ierr))
  PetscCallA(MatNUSSELLSetSegments(A, eight, one, sixteen, one, ierr))
  PetscCallA(MatHashGEMMSetAccumulator(A, MAT_HASHGEMM_HEAP, ierr))
  PetscCallA(MatShadowSetUp(A, ierr))
  PetscCallA(MatShadowGetInfo(A, info, ierr))
  PetscCallA(MatShadowGetFigure(A, 's2', figure, ierr))
  print '(a, a, f0.0, a, i0, a, l1, a, a)', trim(info%format), ', s2 ', figure, ', conversions ', info%conversions, ', tuning ', info%tuning, ', ', trim(info%reason)
  PetscCallA(MatDestroy(A, ierr))
  PetscCallA(MatCreate(PETSC_COMM_WORLD, A, ierr))
  PetscCallA(MatSetType(A, MATAMB, ierr))
  PetscCallA(MatAMBSetBlockSize(A, one, ierr))
  call PetscPushErrorHandler(PetscIgnoreErrorHandler, PETSC_NULL_INTEGER, ierr)
  call MatLoadMatrixMarket(A, 'nowhere.mtx', ierr)
  print '(a, l1)', 'an error is returned: ', ierr /= 0
  PetscCallA(MatLoadGetFormat(PETSC_COMM_WORLD, 'cage10.mtx.gz', formats(1), ierr))
  PetscCallA(MatLoadGetFormat(PETSC_COMM_WORLD, 'setters.F90', formats(2), ierr))
  print '(a, l1)', 'formats of files: ', all(formats == [MAT_LOAD_MATRIX_MARKET, MAT_LOAD_EDGE_LIST])
  call MatLoadGetFormat(PETSC_COMM_WORLD, 'nowhere.mtx', formats(1), ierr)
  print '(a, l1)', 'no format of no file: ', ierr /= 0
  call PetscPopErrorHandler(ierr)
  PetscCallA(MatDestroy(A, ierr))
  PetscCallA(PetscFinalize(ierr))
end program setters
END
expect "the module" 0 "^$" sh -c '"$@" && echo' - "$compiler" "${flags[@]}" -c "$source/petscamb.F90"
expect "solve.F90" 0 "^$" sh -c '"$@" && echo' - "$compiler" "${flags[@]}" "$source/solve.F90" petscamb.o -o solve "${link[@]}"
expect "solve.F90: a system" 0 "^format amb, 1 conversion, 393291\. nonzeros, right: T$" ./solve -f "$root/data/bar_elasticity.mtx.gz" -mat_amb_device cpu -ksp_type cg -pc_type jacobi -ksp_rtol 1e-9
expect "every setter: the program" 0 "^$" sh -c '"$@" && echo' - "$compiler" "${flags[@]}" setters.F90 petscamb.o -o setters "${link[@]}"
ln -s "$root/data/cage10.mtx.gz" .
expect "every setter" 0 "^nussell, s2 16\., conversions 1, tuning F, [a-z]" ./setters
expect "formats of files" 0 "^formats of files: T$" ./setters
expect "no format of no file" 0 "^no format of no file: T$" ./setters
expect "an error" 0 "^an error is returned: T$" ./setters
exit $failed
