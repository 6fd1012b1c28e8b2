/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The public interface of petsc-amb for graphs: operations, batches of small matrices, graph convolutions, and lists of edges.

   Programs that start the library by PetscAMBInitializePackage() include petscamb.h, which includes this header too.
*/
#pragma once

#include <petscmat.h>

/* PETSc defines PETSC_SUCCESS from 3.19 on */
#if PETSC_VERSION_LT(3, 19, 0) && !defined(PETSC_SUCCESS)
  #define PETSC_SUCCESS 0
#endif

/*S
   MatBatch - a batch of small sparse matrices of different sizes, which are multiplied with dense matrices in one step

   Level: intermediate

   Note:
   A batch is an object of PETSc on one process, of the class `MATBATCH_CLASSID`: `PetscObjectReference()`, `PetscObjectSetName()` and their like take
   it. Its pattern stays, its values change by `MatBatchSetValues()`. Products with vectors on a GPU keep a copy of the batch there.

.seealso: `MatBatchCreateCSR()`, `MatBatchCreateCOO()`, `MatBatchCreateFromMats()`, `MatBatchSetValues()`, `MatBatchMult()`, `MatBatchMultTranspose()`, `MatBatchDestroy()`
S*/
typedef struct _p_MatBatch *MatBatch;
PETSC_EXTERN PetscClassId   MATBATCH_CLASSID;

/*S
   GraphConv - a layer of a graph convolutional network, for a batch of graphs at once

   Level: advanced

   Note:
   A layer is an object of PETSc on one process, of the class `GRAPHCONV_CLASSID`. It keeps references to its batches, and vectors for its own use, on
   the side of the vectors that it was last given.

.seealso: `GraphConvCreate()`, `GraphConvForward()`, `GraphConvBackward()`, `GraphConvDestroy()`, `MatBatch`
S*/
typedef struct _p_GraphConv *GraphConv;
PETSC_EXTERN PetscClassId    GRAPHCONV_CLASSID;

PETSC_EXTERN PetscErrorCode MatBatchCreateCSR(MPI_Comm, PetscInt, const PetscInt[], const PetscInt[], const PetscInt[], const PetscInt[], const PetscScalar[], MatBatch *);
PETSC_EXTERN PetscErrorCode MatBatchCreateCOO(MPI_Comm, PetscInt, const PetscInt[], const PetscInt[], const PetscInt[], const PetscInt[], const PetscInt[], const PetscScalar[], MatBatch *);
PETSC_EXTERN PetscErrorCode MatBatchCreateFromMats(PetscInt, Mat[], MatBatch *);
PETSC_EXTERN PetscErrorCode MatBatchSetValues(MatBatch, const PetscScalar[]);
PETSC_EXTERN PetscErrorCode MatBatchSetAtomic(MatBatch, PetscBool);
PETSC_EXTERN PetscErrorCode MatBatchGetSizes(MatBatch, PetscInt *, PetscInt *, PetscInt *, PetscCount *);
PETSC_EXTERN PetscErrorCode MatBatchMult(MatBatch, PetscInt, Vec, Vec);
PETSC_EXTERN PetscErrorCode MatBatchMultAdd(MatBatch, PetscInt, Vec, Vec);
PETSC_EXTERN PetscErrorCode MatBatchMultTranspose(MatBatch, PetscInt, Vec, Vec);
PETSC_EXTERN PetscErrorCode MatBatchView(MatBatch, PetscViewer);
PETSC_EXTERN PetscErrorCode MatBatchDestroy(MatBatch *);

PETSC_EXTERN PetscErrorCode GraphConvCreate(PetscInt, MatBatch[], PetscInt, PetscInt, GraphConv *);
PETSC_EXTERN PetscErrorCode GraphConvForward(GraphConv, Vec, Vec, Vec, Vec);
PETSC_EXTERN PetscErrorCode GraphConvBackward(GraphConv, Vec, Vec, Vec, Vec, Vec, Vec);
PETSC_EXTERN PetscErrorCode GraphConvRectify(Vec);
PETSC_EXTERN PetscErrorCode GraphConvRectifyBackward(Vec, Vec);
PETSC_EXTERN PetscErrorCode GraphConvDestroy(GraphConv *);

/*MC
   MATPARTITIONINGBITONIC - `MATPARTITIONINGBITONIC` = "bitonic" - a `MatPartitioningType` that deals the rows of a matrix by their lengths
M*/
#define MATPARTITIONINGBITONIC "bitonic"

PETSC_EXTERN PetscErrorCode MatMatMultMaskSum(Mat, Mat, Mat, PetscLogDouble *);
PETSC_EXTERN PetscErrorCode MatGraphOrient(Mat, Vec, Mat *);
PETSC_EXTERN PetscErrorCode MatGraphTranspose(Mat, Mat *);
PETSC_EXTERN PetscErrorCode MatGraphPermute(Mat, IS, IS, Mat *);
PETSC_EXTERN PetscErrorCode MatPruneRows(Mat, PetscReal, PetscInt, Mat *);
PETSC_EXTERN PetscErrorCode MatPowEntries(Mat, PetscReal);
PETSC_EXTERN PetscErrorCode MatMaskEntries(Mat, Mat, PetscBool, Mat *);
PETSC_EXTERN PetscErrorCode MatMultOr(Mat, PetscBool, const uint64_t[], const uint64_t[], uint64_t[]);
PETSC_EXTERN PetscErrorCode MatCountTriangles(Mat, PetscInt64 *);
PETSC_EXTERN PetscErrorCode MatBreadthFirst(Mat, PetscInt, const PetscInt[], PetscInt64[], PetscInt64 *, PetscInt64 *);

/*S
   MatMarkovMonitor - a function that `MatMarkovCluster()` calls after each iteration

   Input Parameters:
+  iteration - the number of iterations so far, a `PetscInt`
.  chaos     - the difference from the end, a `PetscReal`
-  context   - the context that `MatMarkovCluster()` was given, a pointer

   Level: intermediate

   Example:
.vb
   static PetscErrorCode Monitor(PetscInt iteration, PetscReal chaos, void *context)
   {
     PetscFunctionBeginUser;
     PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT ": %g\n", iteration, (double)chaos));
     PetscFunctionReturn(PETSC_SUCCESS);
   }
.ve

   Note:
   All processes of the matrix call it.

.seealso: `MatMarkovCluster()`
S*/
typedef PetscErrorCode (*MatMarkovMonitor)(PetscInt, PetscReal, void *);

PETSC_EXTERN PetscErrorCode MatMarkovCluster(Mat *, PetscReal, PetscReal, PetscInt, PetscReal, PetscReal, PetscInt, MatMarkovMonitor, void *, PetscInt *, PetscReal *);
PETSC_EXTERN PetscErrorCode VecShiftToSum(Vec, Vec, PetscReal, PetscScalar, Vec, PetscReal *);
PETSC_EXTERN PetscErrorCode VecScaleToSum(Vec, PetscScalar, Vec, PetscReal *, PetscBool *);
PETSC_EXTERN PetscErrorCode VecGetTop(Vec, PetscInt, PetscInt *, PetscInt[], PetscReal[]);

PETSC_EXTERN PetscErrorCode MatLoadEdgeList(Mat, const char[], PetscInt64 *[]);
