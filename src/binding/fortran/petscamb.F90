! SPDX-License-Identifier: BSD-2-Clause
! The public functions of petsc-amb for Fortran, with the names and arguments that they have in C and the error code behind them:
!
!   use petscamb
!   call PetscAMBInitializePackage(ierr)
!   call MatSetType(A, MATAMB, ierr)
!   call MatShadowSetTune(A, MAT_SHADOW_TUNE_OFF, ierr)
!
! Compile this file with the Fortran compiler of the program, and link with libpetscamb.
module petscamb
#include <petsc/finclude/petscmat.h>
  use petscmat
  use, intrinsic :: iso_c_binding
  implicit none
  private

  integer, parameter, private :: pi = kind(PETSC_DECIDE)

  character(len=*), parameter, public :: MATAMB = 'amb', MATNUSSELL = 'nussell', MATCCOO = 'ccoo', MATAUTOSPARSE = 'autosparse', MATHASHGEMM = 'hashgemm'
  character(len=*), parameter, public :: KSPAMBCG = 'ambcg', KSPAMBBCGS = 'ambbcgs', KSPAMBGMRES = 'ambgmres', KSPAMBFGMRES = 'ambfgmres', KSPAMBCHEBYSHEV = 'ambchebyshev', PCAMBINVERSE = 'ambinverse', PCAMBILU = 'ambilu', PCGAMGAMBAGG = 'ambagg', MATSOLVERAMB = 'amb', MATORDERINGAMBCOLOR = 'ambcolor'

  enum, bind(C)
    enumerator :: MAT_SHADOW_TUNE_OFF, MAT_SHADOW_TUNE_MODEL, MAT_SHADOW_TUNE_MEASURE, MAT_SHADOW_TUNE_ONLINE
  end enum
  enum, bind(C)
    enumerator :: MAT_SHADOW_VALUES_DOUBLE, MAT_SHADOW_VALUES_EXACT, MAT_SHADOW_VALUES_SINGLE, MAT_SHADOW_VALUES_TABLE
  end enum
  enum, bind(C)
    enumerator :: MAT_SHADOW_DEVICE_AUTO, MAT_SHADOW_DEVICE_CPU, MAT_SHADOW_DEVICE_GPU
  end enum
  enum, bind(C)
    enumerator :: MAT_SHADOW_HALO_AUTO, MAT_SHADOW_HALO_MPI, MAT_SHADOW_HALO_NCCL, MAT_SHADOW_HALO_STAGED, MAT_SHADOW_HALO_PEER
  end enum
  enum, bind(C)
    enumerator :: MAT_SHADOW_SOR_AUTO, MAT_SHADOW_SOR_NATURAL, MAT_SHADOW_SOR_COLOR
  end enum
  enum, bind(C)
    enumerator :: MAT_NUSSELL_SEGMENTATION_NONUNIFORM, MAT_NUSSELL_SEGMENTATION_UNIFORM, MAT_NUSSELL_SEGMENTATION_NONE
  end enum
  enum, bind(C)
    enumerator :: MAT_NUSSELL_ROWS_SELL, MAT_NUSSELL_ROWS_JDS
  end enum
  enum, bind(C)
    enumerator :: MAT_NUSSELL_TUNE_MODEL, MAT_NUSSELL_TUNE_ONLINE, MAT_NUSSELL_TUNE_EXHAUSTIVE, MAT_NUSSELL_TUNE_OFF
  end enum
  enum, bind(C)
    enumerator :: MAT_HASHGEMM_AUTO, MAT_HASHGEMM_HASH, MAT_HASHGEMM_HASHVEC, MAT_HASHGEMM_HEAP, MAT_HASHGEMM_DENSE
    enumerator :: MAT_HASHGEMM_WINDOW, MAT_HASHGEMM_ESC, MAT_HASHGEMM_MERGE, MAT_HASHGEMM_TABLE, MAT_HASHGEMM_WORDS
  end enum
  enum, bind(C)
    enumerator :: MAT_LOAD_OTHER, MAT_LOAD_MATRIX_MARKET, MAT_LOAD_EDGE_LIST, MAT_LOAD_PETSC
  end enum
  public :: MAT_SHADOW_TUNE_OFF, MAT_SHADOW_TUNE_MODEL, MAT_SHADOW_TUNE_MEASURE, MAT_SHADOW_TUNE_ONLINE
  public :: MAT_SHADOW_VALUES_DOUBLE, MAT_SHADOW_VALUES_EXACT, MAT_SHADOW_VALUES_SINGLE, MAT_SHADOW_VALUES_TABLE
  public :: MAT_SHADOW_DEVICE_AUTO, MAT_SHADOW_DEVICE_CPU, MAT_SHADOW_DEVICE_GPU
  public :: MAT_SHADOW_SOR_AUTO, MAT_SHADOW_SOR_NATURAL, MAT_SHADOW_SOR_COLOR
  public :: MAT_SHADOW_HALO_AUTO, MAT_SHADOW_HALO_MPI, MAT_SHADOW_HALO_NCCL, MAT_SHADOW_HALO_STAGED, MAT_SHADOW_HALO_PEER
  public :: MAT_NUSSELL_SEGMENTATION_NONUNIFORM, MAT_NUSSELL_SEGMENTATION_UNIFORM, MAT_NUSSELL_SEGMENTATION_NONE
  public :: MAT_NUSSELL_ROWS_SELL, MAT_NUSSELL_ROWS_JDS
  public :: MAT_NUSSELL_TUNE_MODEL, MAT_NUSSELL_TUNE_ONLINE, MAT_NUSSELL_TUNE_EXHAUSTIVE, MAT_NUSSELL_TUNE_OFF
  public :: MAT_HASHGEMM_AUTO, MAT_HASHGEMM_HASH, MAT_HASHGEMM_HASHVEC, MAT_HASHGEMM_HEAP, MAT_HASHGEMM_DENSE
  public :: MAT_HASHGEMM_WINDOW, MAT_HASHGEMM_ESC, MAT_HASHGEMM_MERGE, MAT_HASHGEMM_TABLE, MAT_HASHGEMM_WORDS
  public :: MAT_LOAD_OTHER, MAT_LOAD_MATRIX_MARKET, MAT_LOAD_EDGE_LIST, MAT_LOAD_PETSC

  ! The struct of C
  type, bind(C) :: InfoC
    type(c_ptr)        :: format, reason, kernel
    logical(c_bool)    :: tuning
    integer(pi)        :: tried, candidates, conversions, updates
    real(c_double)     :: nonzeros, stored_values, bytes_csr, bytes_model, bytes_stored, bytes_extra, time_convert, time_update, time_tune, time_tune_beside, time_csr, time_format
  end type InfoC

  ! What MatShadowGetInfo() returns; texts are cut off at the length of the variables
  type, public :: MatShadowInfo
    character(len=32)  :: format = ' ', kernel = ' '
    character(len=256) :: reason = ' '
    logical            :: tuning
    integer(pi)        :: tried, candidates, conversions, updates
    real(c_double)     :: nonzeros, stored_values, bytes_csr, bytes_model, bytes_stored, bytes_extra, time_convert, time_update, time_tune, time_tune_beside, time_csr, time_format
  end type MatShadowInfo

  abstract interface
    integer(c_int) function SetEnumC(A, value) bind(C)
      import
      integer(c_intptr_t), value :: A
      integer(c_int), value      :: value
    end function SetEnumC
  end interface

  procedure(SetEnumC), bind(C, name='MatShadowSetTune') :: SetTuneC
  procedure(SetEnumC), bind(C, name='MatShadowSetValues') :: SetValuesC
  procedure(SetEnumC), bind(C, name='MatShadowSetDevice') :: SetDeviceC
  procedure(SetEnumC), bind(C, name='MatShadowSetHalo') :: SetHaloC
  procedure(SetEnumC), bind(C, name='MatShadowSetSOR') :: SetSORC
  procedure(SetEnumC), bind(C, name='MatNUSSELLSetSegmentation') :: NUSSetSegmentationC
  procedure(SetEnumC), bind(C, name='MatNUSSELLSetRows') :: NUSSetRowsC
  procedure(SetEnumC), bind(C, name='MatNUSSELLSetTune') :: NUSSetTuneC
  procedure(SetEnumC), bind(C, name='MatHashGEMMSetAccumulator') :: SetAccumulatorC

  interface
    integer(c_int) function InitializeC(major, minor, subminor) bind(C, name='PetscAMBInitializePackageVersion')
      import
      integer(c_int), value :: major, minor, subminor
    end function InitializeC
    integer(c_int) function SetUpC(A) bind(C, name='MatShadowSetUp')
      import
      integer(c_intptr_t), value :: A
    end function SetUpC
    integer(c_int) function GetInfoC(A, info) bind(C, name='MatShadowGetInfo')
      import
      integer(c_intptr_t), value :: A
      type(InfoC)                :: info
    end function GetInfoC
    integer(c_int) function GetFigureC(A, name, figure) bind(C, name='MatShadowGetFigure')
      import
      integer(c_intptr_t), value :: A
      character(c_char)          :: name(*)
      real(c_double)             :: figure
    end function GetFigureC
    integer(c_int) function PreallocateBlockCOOC(A, n, i, j) bind(C, name='MatSetPreallocationBlockCOO')
      import
      integer(c_intptr_t), value  :: A
      integer(c_intptr_t), value :: n
      integer(pi)                 :: i(*), j(*)
    end function PreallocateBlockCOOC
    integer(c_int) function SetValuesBlockCOOC(A, v, mode) bind(C, name='MatSetValuesBlockCOO')
      import
      integer(c_intptr_t), value :: A
      PetscScalar                :: v(*)
      integer(c_int), value      :: mode
    end function SetValuesBlockCOOC
    integer(c_int) function AMBSetBlockSizeC(A, size) bind(C, name='MatAMBSetBlockSize')
      import
      integer(c_intptr_t), value :: A
      integer(pi), value         :: size
    end function AMBSetBlockSizeC
    integer(c_int) function NUSSetChunkC(A, rows, scope) bind(C, name='MatNUSSELLSetChunk')
      import
      integer(c_intptr_t), value :: A
      integer(pi), value         :: rows, scope
    end function NUSSetChunkC
    integer(c_int) function NUSSetSegmentsC(A, s1, k1, s2, k2) bind(C, name='MatNUSSELLSetSegments')
      import
      integer(c_intptr_t), value :: A
      integer(pi), value         :: s1, k1, s2, k2
    end function NUSSetSegmentsC
    integer(c_int) function LoadC(A, file) bind(C, name='MatLoadMatrixMarket')
      import
      integer(c_intptr_t), value :: A
      character(c_char)          :: file(*)
    end function LoadC
    integer(c_int) function GetFormatC(comm, file, format) bind(C, name='MatLoadGetFormat')
      import
      integer(c_intptr_t), value :: comm
      character(c_char)          :: file(*)
      integer(c_int)             :: format
    end function GetFormatC
    integer(c_int) function GetCommC(A, comm) bind(C, name='PetscObjectGetComm')
      import
      integer(c_intptr_t), value :: A
      integer(c_intptr_t)        :: comm
    end function GetCommC
  end interface

  public :: PetscAMBInitializePackage, MatShadowSetUp, MatShadowSetTune, MatShadowSetValues, MatShadowSetDevice, MatShadowSetHalo, MatShadowSetSOR, MatShadowGetInfo, MatShadowGetFigure
  public :: MatAMBSetBlockSize, MatNUSSELLSetSegmentation, MatNUSSELLSetRows, MatNUSSELLSetTune, MatNUSSELLSetChunk, MatNUSSELLSetSegments, MatHashGEMMSetAccumulator
  public :: MatSetPreallocationBlockCOO, MatSetValuesBlockCOO
  public :: MatLoadMatrixMarket, MatLoadGetFormat

contains

  integer(c_intptr_t) function Handle(A)
    Mat, intent(in) :: A
    Handle = int(A%v, c_intptr_t)
  end function Handle

  ! A string of C in a variable of fixed length
  function Text(string)
    type(c_ptr), intent(in)    :: string
    character(len=256)         :: Text
    character(c_char), pointer :: c(:)
    integer                    :: k

    Text = ' '
    if (.not. c_associated(string)) return
    call c_f_pointer(string, c, [256])
    do k = 1, 256
      if (c(k) == c_null_char) exit
      Text(k:k) = c(k)
    end do
  end function Text

  subroutine PetscAMBInitializePackage(ierr)
    PetscErrorCode, intent(out) :: ierr
    ierr = InitializeC(0_c_int, 1_c_int, 0_c_int)
  end subroutine PetscAMBInitializePackage

  subroutine MatShadowSetUp(A, ierr)
    Mat, intent(in)             :: A
    PetscErrorCode, intent(out) :: ierr
    ierr = SetUpC(Handle(A))
  end subroutine MatShadowSetUp

  subroutine MatShadowSetTune(A, tune, ierr)
    Mat, intent(in)             :: A
    integer(c_int), intent(in)  :: tune
    PetscErrorCode, intent(out) :: ierr
    ierr = SetTuneC(Handle(A), tune)
  end subroutine MatShadowSetTune

  subroutine MatShadowSetValues(A, values, ierr)
    Mat, intent(in)             :: A
    integer(c_int), intent(in)  :: values
    PetscErrorCode, intent(out) :: ierr
    ierr = SetValuesC(Handle(A), values)
  end subroutine MatShadowSetValues

  subroutine MatShadowSetDevice(A, device, ierr)
    Mat, intent(in)             :: A
    integer(c_int), intent(in)  :: device
    PetscErrorCode, intent(out) :: ierr
    ierr = SetDeviceC(Handle(A), device)
  end subroutine MatShadowSetDevice

  subroutine MatShadowSetHalo(A, halo, ierr)
    Mat, intent(in)             :: A
    integer(c_int), intent(in)  :: halo
    PetscErrorCode, intent(out) :: ierr
    ierr = SetHaloC(Handle(A), halo)
  end subroutine MatShadowSetHalo

  subroutine MatShadowSetSOR(A, order, ierr)
    Mat, intent(in)             :: A
    integer(c_int), intent(in)  :: order
    PetscErrorCode, intent(out) :: ierr
    ierr = SetSORC(Handle(A), order)
  end subroutine MatShadowSetSOR

  subroutine MatShadowGetInfo(A, info, ierr)
    Mat, intent(in)                  :: A
    type(MatShadowInfo), intent(out) :: info
    PetscErrorCode, intent(out)      :: ierr
    type(InfoC)                      :: c

    ierr = GetInfoC(Handle(A), c)
    if (ierr /= 0) return
    info%format           = Text(c%format)
    info%reason           = Text(c%reason)
    info%kernel           = Text(c%kernel)
    info%tuning           = c%tuning
    info%tried            = c%tried
    info%candidates       = c%candidates
    info%conversions      = c%conversions
    info%updates          = c%updates
    info%nonzeros         = c%nonzeros
    info%stored_values    = c%stored_values
    info%bytes_csr        = c%bytes_csr
    info%bytes_model      = c%bytes_model
    info%bytes_stored     = c%bytes_stored
    info%bytes_extra      = c%bytes_extra
    info%time_convert     = c%time_convert
    info%time_update      = c%time_update
    info%time_tune        = c%time_tune
    info%time_tune_beside = c%time_tune_beside
    info%time_csr         = c%time_csr
    info%time_format      = c%time_format
  end subroutine MatShadowGetInfo

  subroutine MatShadowGetFigure(A, name, figure, ierr)
    Mat, intent(in)               :: A
    character(len=*), intent(in)  :: name
    real(c_double), intent(out)   :: figure
    PetscErrorCode, intent(out)   :: ierr
    ierr = GetFigureC(Handle(A), trim(name) // c_null_char, figure)
  end subroutine MatShadowGetFigure

  subroutine MatAMBSetBlockSize(A, size, ierr)
    Mat, intent(in)             :: A
    integer(pi), intent(in)     :: size
    PetscErrorCode, intent(out) :: ierr
    ierr = AMBSetBlockSizeC(Handle(A), size)
  end subroutine MatAMBSetBlockSize

  subroutine MatNUSSELLSetSegmentation(A, segmentation, ierr)
    Mat, intent(in)             :: A
    integer(c_int), intent(in)  :: segmentation
    PetscErrorCode, intent(out) :: ierr
    ierr = NUSSetSegmentationC(Handle(A), segmentation)
  end subroutine MatNUSSELLSetSegmentation

  subroutine MatNUSSELLSetRows(A, rows, ierr)
    Mat, intent(in)             :: A
    integer(c_int), intent(in)  :: rows
    PetscErrorCode, intent(out) :: ierr
    ierr = NUSSetRowsC(Handle(A), rows)
  end subroutine MatNUSSELLSetRows

  subroutine MatNUSSELLSetTune(A, tune, ierr)
    Mat, intent(in)             :: A
    integer(c_int), intent(in)  :: tune
    PetscErrorCode, intent(out) :: ierr
    ierr = NUSSetTuneC(Handle(A), tune)
  end subroutine MatNUSSELLSetTune

  subroutine MatNUSSELLSetChunk(A, rows, scope, ierr)
    Mat, intent(in)             :: A
    integer(pi), intent(in)     :: rows, scope
    PetscErrorCode, intent(out) :: ierr
    ierr = NUSSetChunkC(Handle(A), rows, scope)
  end subroutine MatNUSSELLSetChunk

  subroutine MatNUSSELLSetSegments(A, s1, k1, s2, k2, ierr)
    Mat, intent(in)             :: A
    integer(pi), intent(in)     :: s1, k1, s2, k2
    PetscErrorCode, intent(out) :: ierr
    ierr = NUSSetSegmentsC(Handle(A), s1, k1, s2, k2)
  end subroutine MatNUSSELLSetSegments

  subroutine MatHashGEMMSetAccumulator(A, accumulator, ierr)
    Mat, intent(in)             :: A
    integer(c_int), intent(in)  :: accumulator
    PetscErrorCode, intent(out) :: ierr
    ierr = SetAccumulatorC(Handle(A), accumulator)
  end subroutine MatHashGEMMSetAccumulator

  ! n blocks; the function may change their coordinates
  subroutine MatSetPreallocationBlockCOO(A, n, bi, bj, ierr)
    Mat, intent(in)             :: A
    PetscInt, intent(in)        :: n
    PetscInt, intent(inout)     :: bi(*), bj(*)
    PetscErrorCode, intent(out) :: ierr
    ierr = PreallocateBlockCOOC(Handle(A), int(n, c_intptr_t), bi, bj)
  end subroutine MatSetPreallocationBlockCOO

  subroutine MatSetValuesBlockCOO(A, v, mode, ierr)
    Mat, intent(in)             :: A
    PetscScalar, intent(in)     :: v(*)
    InsertMode, intent(in)      :: mode
    PetscErrorCode, intent(out) :: ierr
    ierr = SetValuesBlockCOOC(Handle(A), v, transfer(mode, 0_c_int))
  end subroutine MatSetValuesBlockCOO

  subroutine MatLoadMatrixMarket(A, file, ierr)
    Mat, intent(in)              :: A
    character(len=*), intent(in) :: file
    PetscErrorCode, intent(out)  :: ierr
    ierr = LoadC(Handle(A), trim(file) // c_null_char)
  end subroutine MatLoadMatrixMarket

  ! The MPI_Comm of C is that of an object: it is a pointer or an int, and an integer of a pointer's size holds both
  subroutine MatLoadGetFormat(comm, file, format, ierr)
    MPI_Comm, intent(in)         :: comm
    character(len=*), intent(in) :: file
    integer(c_int), intent(out)  :: format
    PetscErrorCode, intent(out)  :: ierr
    integer(c_intptr_t)          :: processes
    PetscErrorCode               :: destroyed
    Mat                          :: A

    processes = 0
    call MatCreate(comm, A, ierr)
    if (ierr /= 0) return
    ierr = GetCommC(Handle(A), processes)
    if (ierr == 0) ierr = GetFormatC(processes, trim(file) // c_null_char, format)
    call MatDestroy(A, destroyed)
  end subroutine MatLoadGetFormat
end module petscamb
