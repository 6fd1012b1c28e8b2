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
  PetscInt            :: two = 2, three = 3, bi(3), bj(3)
  PetscScalar         :: v(12) = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
  PetscReal           :: norm

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
  PetscCallA(MatShadowSetSOR(A, MAT_SHADOW_SOR_NATURAL, ierr))
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
  PetscCallA(MatSetSizes(A, n, n, n, n, ierr))
  PetscCallA(MatSetBlockSize(A, two, ierr))
  PetscCallA(MatSetType(A, MATAMB, ierr))
  bi = [3, 3, -1]
  bj = [9, 9, 0]
  PetscCallA(MatSetPreallocationBlockCOO(A, three, bi, bj, ierr))
  PetscCallA(MatSetValuesBlockCOO(A, v, INSERT_VALUES, ierr))
  PetscCallA(MatSetValuesBlockCOO(A, v, ADD_VALUES, ierr))
  PetscCallA(MatNorm(A, NORM_1, norm, ierr))
  print '(a, l1)', 'blocks from coordinates: ', abs(norm - 40) < 1e-6
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
# Each setter with two arguments that differ in the info, the figures or the error of a matrix, in which rows have one to 30 entries; MatHashGEMMSetAccumulator() has PetscInfo()'s line
cat >effects.F90 <<'END'
program effects
#include <petsc/finclude/petscmat.h>
  use petscmat
  use petscamb
  use iso_c_binding
  implicit none
  character(len=25), parameter :: setters(9) = [character(len=25) :: 'MatShadowSetTune', 'MatShadowSetValues', 'MatShadowSetDevice', 'MatAMBSetBlockSize', &
    'MatNUSSELLSetSegmentation', 'MatNUSSELLSetRows', 'MatNUSSELLSetTune', 'MatNUSSELLSetChunk', 'MatNUSSELLSetSegments']
  PetscErrorCode     :: ierr
  Mat                :: A, C
  character(len=512) :: text(2)
  integer            :: k, side

  PetscCallA(PetscInitialize(PETSC_NULL_CHARACTER, ierr))
  PetscCallA(PetscAMBInitializePackage(ierr))
  do k = 1, 9
    do side = 1, 2
      call Describe(setters(k), side, text(side))
    end do
    if (text(1) == text(2)) print '(3a)', trim(setters(k)), ' has no effect: ', trim(text(1))
    if (text(1) /= text(2)) print '(2a)', 'effect of ', trim(setters(k))
  end do
  call Describe('MatShadowSetUp', 1, text(1))
  call Describe('MatShadowSetTune', 2, text(2))
  print '(a, l1)', 'effect of MatShadowSetUp: ', text(1) /= text(2)
  PetscCallA(MatCreate(PETSC_COMM_WORLD, A, ierr))
  call Fill(A, MATHASHGEMM)
  PetscCallA(MatHashGEMMSetAccumulator(A, MAT_HASHGEMM_HEAP, ierr))
  PetscCallA(MatMatMult(A, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT_REAL, C, ierr))
  PetscCallA(MatDestroy(C, ierr))
  PetscCallA(MatDestroy(A, ierr))
  PetscCallA(PetscFinalize(ierr))
contains
  subroutine Fill(A, type)
    Mat, intent(inout)           :: A
    character(len=*), intent(in) :: type
    PetscInt                     :: n = 300, one = 1, i, j
    PetscScalar                  :: value
    PetscErrorCode               :: ierr

    PetscCallA(MatSetSizes(A, n, n, n, n, ierr))
    PetscCallA(MatSetType(A, type, ierr))
    PetscCallA(MatSetUp(A, ierr))
    PetscCallA(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE, ierr))
    do i = 0, n - 1
      do j = i, min(i + mod(i * i, 30), n - 1)
        value = 1d0 / (3 + i + j)
        PetscCallA(MatSetValues(A, one, i, one, j, value, INSERT_VALUES, ierr))
      end do
    end do
    PetscCallA(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY, ierr))
    PetscCallA(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY, ierr))
  end subroutine Fill

  subroutine Describe(setter, side, text)
    character(len=*), intent(in)  :: setter
    integer, intent(in)           :: side
    character(len=*), intent(out) :: text
    character(len=12), parameter  :: names(6) = [character(len=12) :: 's1', 's2', 'block_size', 'chunk_size', 'sort_scope', 'values_bits']
    PetscInt                      :: number(4) = [8, 16, 32, 64], one = 1, two = 2, four = 4, columns = 128
    Mat                           :: A
    Vec                           :: x, y
    type(MatShadowInfo)           :: info
    real(c_double)                :: figure(6)
    PetscErrorCode                :: ierr, raised
    integer                       :: f

    PetscCallA(MatCreate(PETSC_COMM_WORLD, A, ierr))
    if (setter(1:6) == 'MatNUS') call Fill(A, MATNUSSELL)
    if (setter(1:6) /= 'MatNUS') call Fill(A, MATAMB)
    PetscCallA(MatShadowSetTune(A, MAT_SHADOW_TUNE_OFF, ierr))
    if (setter /= 'MatShadowSetDevice') then
      PetscCallA(MatShadowSetDevice(A, MAT_SHADOW_DEVICE_CPU, ierr))
    end if
    call PetscPushErrorHandler(PetscIgnoreErrorHandler, PETSC_NULL_INTEGER, ierr)
    select case (setter)
    case ('MatShadowSetUp')
      call MatShadowSetTune(A, MAT_SHADOW_TUNE_MEASURE, raised)
    case ('MatShadowSetTune')
      call MatShadowSetTune(A, merge(MAT_SHADOW_TUNE_OFF, MAT_SHADOW_TUNE_MEASURE, side == 1), raised)
    case ('MatShadowSetValues')
      call MatShadowSetValues(A, merge(MAT_SHADOW_VALUES_DOUBLE, MAT_SHADOW_VALUES_SINGLE, side == 1), raised)
    case ('MatShadowSetDevice')
      call MatShadowSetDevice(A, merge(MAT_SHADOW_DEVICE_CPU, MAT_SHADOW_DEVICE_GPU, side == 1), raised)
    case ('MatAMBSetBlockSize')
      call MatAMBSetBlockSize(A, merge(one, four, side == 1), raised)
    case ('MatNUSSELLSetSegmentation')
      PetscCallA(MatNUSSELLSetSegments(A, number(3), one, number(4), one, ierr))
      call MatNUSSELLSetSegmentation(A, merge(MAT_NUSSELL_SEGMENTATION_NONE, MAT_NUSSELL_SEGMENTATION_UNIFORM, side == 1), raised)
    case ('MatNUSSELLSetRows')
      call MatNUSSELLSetRows(A, merge(MAT_NUSSELL_ROWS_SELL, MAT_NUSSELL_ROWS_JDS, side == 1), raised)
    case ('MatNUSSELLSetTune')
      call MatNUSSELLSetTune(A, merge(MAT_NUSSELL_TUNE_OFF, MAT_NUSSELL_TUNE_EXHAUSTIVE, side == 1), raised)
    case ('MatNUSSELLSetChunk')
      call MatNUSSELLSetChunk(A, number(side), number(2 * side), raised)
    case ('MatNUSSELLSetSegments')
      if (side == 1) call MatNUSSELLSetSegments(A, number(3), one, number(4), one, raised)
      if (side == 2) call MatNUSSELLSetSegments(A, number(4), two, columns, one, raised)
    end select
    call PetscPopErrorHandler(ierr)
    if (setter /= 'MatShadowSetTune') then
      PetscCallA(MatShadowSetUp(A, ierr))
    end if
    PetscCallA(MatCreateVecs(A, x, y, ierr))
    PetscCallA(MatMult(A, x, y, ierr))
    PetscCallA(MatShadowGetInfo(A, info, ierr))
    do f = 1, 6
      PetscCallA(MatShadowGetFigure(A, names(f), figure(f), ierr))
    end do
    write (text, '(i0, 1x, 4(a, 1x), 3(i0, 1x), l1, 1x, f0.0, 6(1x, f0.0))') raised, trim(info%format), trim(info%kernel), trim(info%reason), ';', &
      info%tried, info%candidates, info%conversions, info%tuning, info%bytes_stored, figure
    PetscCallA(VecDestroy(x, ierr))
    PetscCallA(VecDestroy(y, ierr))
    PetscCallA(MatDestroy(A, ierr))
  end subroutine Describe
end program effects
END
expect "the module" 0 "^$" sh -c '"$@" && echo' - "$compiler" "${flags[@]}" -c "$source/petscamb.F90"
expect "solve.F90" 0 "^$" sh -c '"$@" && echo' - "$compiler" "${flags[@]}" "$source/solve.F90" petscamb.o -o solve "${link[@]}"
expect "solve.F90: a system" 0 "^format amb, 1 conversion, 393291\. nonzeros, right: T$" ./solve -f "$root/data/bar_elasticity.mtx.gz" -mat_amb_device cpu -ksp_type cg -pc_type jacobi -ksp_rtol 1e-9
expect "every setter: the program" 0 "^$" sh -c '"$@" && echo' - "$compiler" "${flags[@]}" setters.F90 petscamb.o -o setters "${link[@]}"
ln -s "$root/data/cage10.mtx.gz" .
expect "every setter" 0 "^nussell, s2 16\., conversions 1, tuning F, [a-z]" ./setters
expect "effects of setters: the program" 0 "^$" sh -c '"$@" && echo' - "$compiler" "${flags[@]}" effects.F90 petscamb.o -o effects "${link[@]}"
for name in $(grep -ohE "name='Mat[A-Za-z]*Set[A-Z][A-Za-z]+'" "$source/petscamb.F90" | cut -d"'" -f2 | sort -u); do
  case $name in
  MatShadowSetHalo) echo "skip effect of $name: only several processes with GPUs show it" ;;
  MatShadowSetSOR) echo "skip effect of $name: products do not show it; python.sh and sor.c do" ;;
  MatHashGEMMSetAccumulator) expect "effect of $name" 0 "by hash 0, .*heap [1-9]" ./effects -info :mat ;;
  MatShadowSetValues)
    if "$BIN/petscamb" --version | grep -q 'complex numbers\|single precision'; then
      echo "skip effect of $name: only real numbers of double precision are stored in single precision"
    else
      expect "effect of $name" 0 "^effect of $name$" ./effects
    fi
    ;;
  MatSetPreallocationBlockCOO | MatSetValuesBlockCOO) expect "effect of $name" 0 "^blocks from coordinates: T$" ./setters ;;
  MatShadowSetUp) expect "effect of $name" 0 "^effect of $name: T$" ./effects ;;
  *) expect "effect of $name" 0 "^effect of $name$" ./effects ;;
  esac
done
expect "formats of files" 0 "^formats of files: T$" ./setters
expect "no format of no file" 0 "^no format of no file: T$" ./setters
expect "an error" 0 "^an error is returned: T$" ./setters
exit $failed
