# SPDX-License-Identifier: BSD-2-Clause
# The public interface of petsc-amb: the C compiler compares each call with petscamb.h. PETSc's types have the sizes of the header, whatever is written here.

from libc.stdint cimport uint64_t
from petsc4py.PETSc cimport MPI_Comm, PetscIS, PetscMat, PetscObject, PetscPC, PetscVec, PetscViewer

cdef extern from "petscamb.h":
    """
    #if defined(PETSC_USE_COMPLEX)
      #define PetscAMBScalar(re, im) PetscCMPLX(re, im)
    #else
      #define PetscAMBScalar(re, im) ((PetscScalar)(re))
    #endif
    static PetscErrorCode PetscAMBInitializeHeader(void)
    {
      return PetscAMBInitializePackage();
    }
    static PetscErrorCode PetscAMBGetTypesPlain(PetscBool formats_only, PetscInt *n, const char ***types)
    {
      return PetscAMBGetTypes(formats_only, n, (const char *const **)types);
    }
    /* A new error: petsc4py would keep the lines of a traceback without a beginning */
    static PetscErrorCode PetscAMBMonitorError(void)
    {
      SETERRQ(PETSC_COMM_SELF, PETSC_ERR_USER, "the Python function of a monitor raised an exception");
    }
    static PetscErrorCode PetscAMBFreeIds(PetscInt64 *ids)
    {
      return PetscFree(ids);
    }
    """
    ctypedef int PetscErrorCode
    ctypedef int PetscBool
    ctypedef int PetscInt
    ctypedef long long PetscInt64
    ctypedef Py_ssize_t PetscCount
    ctypedef double PetscReal
    ctypedef double PetscLogDouble
    ctypedef double PetscScalar
    ctypedef int MatReuse
    MatReuse MAT_INITIAL_MATRIX, MAT_REUSE_MATRIX
    MPI_Comm PETSC_COMM_SELF
    int PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR
    int PETSCAMB_VERSION_MAJOR, PETSCAMB_VERSION_MINOR, PETSCAMB_VERSION_SUBMINOR

    PetscScalar PetscAMBScalar(double, double)
    PetscErrorCode PetscAMBInitializeHeader()
    PetscErrorCode PetscAMBGetTypesPlain(PetscBool, PetscInt *, const char ***)
    PetscErrorCode PetscAMBMonitorError()
    PetscErrorCode PetscAMBFreeIds(PetscInt64 *)

    PetscErrorCode PetscAMBInitializePackageVersion(int, int, int)
    PetscErrorCode PetscAMBFinalizePackage()

    ctypedef int MatShadowTune
    ctypedef int MatShadowValues
    ctypedef int MatShadowDevice
    ctypedef int MatShadowHalo
    ctypedef int MatShadowSOR
    const char **MatShadowTunes
    const char **MatShadowValuesNames
    const char **MatShadowDevices
    const char **MatShadowHalos
    const char **MatShadowSORs
    ctypedef struct MatShadowInfo:
        const char    *format
        const char    *reason
        const char    *kernel
        PetscBool      tuning
        PetscInt       tried
        PetscInt       candidates
        PetscInt       conversions
        PetscInt       updates
        PetscLogDouble nonzeros
        PetscLogDouble stored_values
        PetscLogDouble bytes_csr
        PetscLogDouble bytes_model
        PetscLogDouble bytes_stored
        PetscLogDouble bytes_extra
        PetscLogDouble time_convert
        PetscLogDouble time_update
        PetscLogDouble time_tune
        PetscLogDouble time_tune_beside
        PetscLogDouble time_csr
        PetscLogDouble time_format
    ctypedef struct MatShadowHaloInfo:
        const char    *path
        PetscInt       neighbors
        PetscInt       products
        PetscLogDouble bytes
        PetscLogDouble syncs
    PetscErrorCode MatShadowSetTune(PetscMat, MatShadowTune)
    PetscErrorCode MatShadowSetValues(PetscMat, MatShadowValues)
    PetscErrorCode MatShadowSetKeepAIJ(PetscMat, PetscBool)
    PetscErrorCode MatShadowSetDevice(PetscMat, MatShadowDevice)
    PetscErrorCode MatShadowSetHalo(PetscMat, MatShadowHalo)
    PetscErrorCode MatShadowSetSOR(PetscMat, MatShadowSOR)
    PetscErrorCode MatShadowSetUp(PetscMat)
    PetscErrorCode MatShadowGetInfo(PetscMat, MatShadowInfo *)
    PetscErrorCode MatShadowGetFigure(PetscMat, const char *, PetscLogDouble *)
    PetscErrorCode MatShadowGetFigureAt(PetscMat, PetscInt, const char **, PetscLogDouble *)
    PetscErrorCode MatShadowGetHaloInfo(PetscMat, MatShadowHaloInfo *)

    ctypedef int MatNUSSELLSegmentation
    ctypedef int MatNUSSELLRows
    ctypedef int MatNUSSELLTune
    const char **MatNUSSELLSegmentations
    const char **MatNUSSELLRowses
    const char **MatNUSSELLTunes
    PetscErrorCode MatAMBSetBlockSize(PetscMat, PetscInt)
    PetscErrorCode MatNUSSELLSetSegmentation(PetscMat, MatNUSSELLSegmentation)
    PetscErrorCode MatNUSSELLSetRows(PetscMat, MatNUSSELLRows)
    PetscErrorCode MatNUSSELLSetTune(PetscMat, MatNUSSELLTune)
    PetscErrorCode MatNUSSELLSetChunk(PetscMat, PetscInt, PetscInt)
    PetscErrorCode MatNUSSELLSetSegments(PetscMat, PetscInt, PetscInt, PetscInt, PetscInt)
    PetscErrorCode MatCCOOSetChunk(PetscMat, PetscInt, PetscInt)
    PetscErrorCode MatCCOOSetTable(PetscMat, PetscBool)
    PetscErrorCode MatCCOOSetAtomics(PetscMat, PetscBool)
    PetscErrorCode MatTileCompositeSetTiles(PetscMat, PetscInt, PetscInt)
    PetscErrorCode MatTileCompositeSetWork(PetscMat, PetscInt)
    PetscErrorCode MatTileCompositeSetCOO(PetscMat, PetscBool)
    PetscErrorCode MatTileCompositeMeasure(const char *)

    ctypedef int MatHashGEMMAccumulator
    const char **MatHashGEMMAccumulators
    PetscErrorCode MatHashGEMMSetAccumulator(PetscMat, MatHashGEMMAccumulator)
    ctypedef enum InsertMode:
        INSERT_VALUES
        ADD_VALUES
    PetscErrorCode MatSetPreallocationBlockCOO(PetscMat, PetscCount, PetscInt *, PetscInt *)
    PetscErrorCode MatSetValuesBlockCOO(PetscMat, const PetscScalar *, InsertMode)
    PetscErrorCode MatSDDMM(PetscMat, PetscMat, PetscMat, PetscBool, MatReuse, PetscMat *)

    ctypedef int PCAMBILUType
    const char **PCAMBILUTypes
    PetscErrorCode PCAMBILUSetType(PetscPC, PCAMBILUType)
    PetscErrorCode PCAMBILUSetOrderingType(PetscPC, const char *)
    PetscErrorCode PCGAMGAmbAggSetStrongest(PetscPC, PetscBool)
    PetscErrorCode PCGAMGAmbAggSetMinAggregateSize(PetscPC, PetscInt)

    ctypedef int MatLoadFormat
    PetscErrorCode MatLoadGetFormat(MPI_Comm, const char *, MatLoadFormat *)
    PetscErrorCode MatLoadMatrixMarket(PetscMat, const char *)
    PetscErrorCode MatLoadEdgeList(PetscMat, const char *, PetscInt64 **)

    struct _p_MatBatch
    ctypedef _p_MatBatch *PetscMatBatch "MatBatch"
    PetscErrorCode MatBatchCreateCSR(MPI_Comm, PetscInt, const PetscInt *, const PetscInt *, const PetscInt *, const PetscInt *, const PetscScalar *, PetscMatBatch *)
    PetscErrorCode MatBatchCreateCOO(MPI_Comm, PetscInt, const PetscInt *, const PetscInt *, const PetscInt *, const PetscInt *, const PetscInt *, const PetscScalar *, PetscMatBatch *)
    PetscErrorCode MatBatchCreateFromMats(PetscInt, PetscMat *, PetscMatBatch *)
    PetscErrorCode MatBatchSetValues(PetscMatBatch, const PetscScalar *)
    PetscErrorCode MatBatchSetAtomic(PetscMatBatch, PetscBool)
    PetscErrorCode MatBatchGetSizes(PetscMatBatch, PetscInt *, PetscInt *, PetscInt *, PetscCount *)
    PetscErrorCode MatBatchMult(PetscMatBatch, PetscInt, PetscVec, PetscVec)
    PetscErrorCode MatBatchMultAdd(PetscMatBatch, PetscInt, PetscVec, PetscVec)
    PetscErrorCode MatBatchMultTranspose(PetscMatBatch, PetscInt, PetscVec, PetscVec)
    PetscErrorCode MatBatchView(PetscMatBatch, PetscViewer)
    PetscErrorCode MatBatchDestroy(PetscMatBatch *)

    struct _p_GraphConv
    ctypedef _p_GraphConv *PetscGraphConv "GraphConv"
    PetscErrorCode GraphConvCreate(PetscInt, PetscMatBatch *, PetscInt, PetscInt, PetscGraphConv *)
    PetscErrorCode GraphConvForward(PetscGraphConv, PetscVec, PetscVec, PetscVec, PetscVec)
    PetscErrorCode GraphConvBackward(PetscGraphConv, PetscVec, PetscVec, PetscVec, PetscVec, PetscVec, PetscVec)
    PetscErrorCode GraphConvRectify(PetscVec)
    PetscErrorCode GraphConvRectifyBackward(PetscVec, PetscVec)
    PetscErrorCode GraphConvDestroy(PetscGraphConv *)

    PetscErrorCode MatMatMultMaskSum(PetscMat, PetscMat, PetscMat, PetscLogDouble *)
    PetscErrorCode MatGraphOrient(PetscMat, PetscVec, PetscMat *)
    PetscErrorCode MatGraphTranspose(PetscMat, PetscMat *)
    PetscErrorCode MatGraphPermute(PetscMat, PetscIS, PetscIS, PetscMat *)
    PetscErrorCode MatPruneRows(PetscMat, PetscReal, PetscInt, PetscMat *)
    PetscErrorCode MatPowEntries(PetscMat, PetscReal)
    PetscErrorCode MatMaskEntries(PetscMat, PetscMat, PetscBool, PetscMat *)
    PetscErrorCode MatMultOr(PetscMat, PetscBool, const uint64_t *, const uint64_t *, uint64_t *)
    PetscErrorCode MatCountTriangles(PetscMat, PetscInt64 *)
    PetscErrorCode MatBreadthFirst(PetscMat, PetscInt, const PetscInt *, PetscInt64 *, PetscInt64 *, PetscInt64 *)
    ctypedef PetscErrorCode (*MatMarkovMonitor)(PetscInt, PetscReal, void *) noexcept
    PetscErrorCode MatMarkovCluster(PetscMat *, PetscReal, PetscReal, PetscInt, PetscReal, PetscReal, PetscInt, MatMarkovMonitor, void *, PetscInt *, PetscReal *)
    PetscErrorCode VecShiftToSum(PetscVec, PetscVec, PetscReal, PetscScalar, PetscVec, PetscReal *)
    PetscErrorCode VecScaleToSum(PetscVec, PetscScalar, PetscVec, PetscReal *, PetscBool *)
    PetscErrorCode VecGetTop(PetscVec, PetscInt, PetscInt *, PetscInt *, PetscReal *)

    ctypedef int MatGraphDangling
    ctypedef int MatGraphOrder
    ctypedef int MatGraphConvergedReason
    ctypedef PetscErrorCode (*MatGraphMonitor)(PetscInt, PetscReal, void *) noexcept
    ctypedef struct MatGraphIteration:
        PetscReal               damping
        PetscReal               tol
        PetscInt                max_it
        MatGraphDangling        dangling
        MatGraphOrder           order
        MatGraphMonitor         monitor
        void                   *context
        PetscInt                its
        PetscReal               change
        MatGraphConvergedReason reason
    PetscErrorCode MatGraphIterationInitialize(MatGraphIteration *)
    PetscErrorCode MatPageRank(PetscMat, MatGraphIteration *, PetscVec)
    PetscErrorCode MatHITS(PetscMat, MatGraphIteration *, PetscVec, PetscVec)
    PetscErrorCode MatRandomWalkWithRestart(PetscMat, PetscInt, const PetscInt *, MatGraphIteration *, PetscMat *)
