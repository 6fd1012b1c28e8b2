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

/*E
   MatGraphDangling - what a walk does in a vertex without outgoing edges

   Values:
+  `MAT_GRAPH_DANGLING_RESTART` - it restarts: anywhere, each vertex with the same probability, in `MatPageRank()`, and at its seed in `MatRandomWalkWithRestart()` (the default)
.  `MAT_GRAPH_DANGLING_REMOVE`  - there are no such vertices: they are removed until the others have edges to others; the values of removed vertices are 0
-  `MAT_GRAPH_DANGLING_NONE`    - it ends, and the values have a sum less than 1

   Level: intermediate

.seealso: `MatGraphIteration`, `MatPageRank()`, `MatRandomWalkWithRestart()`
E*/
typedef enum {
  MAT_GRAPH_DANGLING_RESTART,
  MAT_GRAPH_DANGLING_REMOVE,
  MAT_GRAPH_DANGLING_NONE
} MatGraphDangling;

/*E
   MatGraphOrder - the order of the vertices in the matrix of a walk, which decides the speed of its products

   Values:
+  `MAT_GRAPH_ORDER_NATURAL` - the order of the graph (the default)
.  `MAT_GRAPH_ORDER_DEGREE`  - of a sequential matrix: vertices with 2^k edges or more before those with fewer, for k from the largest down
-  `MAT_GRAPH_ORDER_BITONIC` - of several processes: rows are dealt by their lengths, see `MATPARTITIONINGBITONIC`; of one process the order of the graph

   Level: intermediate

   Note:
   Results are in the order of the graph in any case.

.seealso: `MatGraphIteration`, `MatGraphPermute()`
E*/
typedef enum {
  MAT_GRAPH_ORDER_NATURAL,
  MAT_GRAPH_ORDER_DEGREE,
  MAT_GRAPH_ORDER_BITONIC
} MatGraphOrder;

/*E
   MatGraphConvergedReason - why an iteration on a graph has ended; negative if it has not converged

   Values:
+  `MAT_GRAPH_CONVERGED_ITERATING` - it has not ended
.  `MAT_GRAPH_CONVERGED_TOL`       - the change is less than the tolerance, or there is nothing to iterate on
.  `MAT_GRAPH_CONVERGED_ITS`       - the tolerance is 0, and all iterations are done
.  `MAT_GRAPH_DIVERGED_ITS`        - all iterations are done, and the change is not less than the tolerance
-  `MAT_GRAPH_DIVERGED_NANORINF`   - the change is NaN or infinite

   Level: intermediate

.seealso: `MatGraphIteration`
E*/
typedef enum {
  MAT_GRAPH_CONVERGED_ITERATING = 0,
  MAT_GRAPH_CONVERGED_TOL       = 2,
  MAT_GRAPH_CONVERGED_ITS       = 4,
  MAT_GRAPH_DIVERGED_ITS        = -3,
  MAT_GRAPH_DIVERGED_NANORINF   = -9
} MatGraphConvergedReason;

/*S
   MatGraphMonitor - a function that an iteration on a graph calls before its first step and after each

   Input Parameters:
+  iteration - the number of iterations so far, a `PetscInt`
.  change    - the 1-norm of the last change, a `PetscReal`; before the first step `PETSC_MAX_REAL`
-  context   - `context` of `MatGraphIteration`, a pointer

   Level: intermediate

   Note:
   All processes of the matrix call it.

.seealso: `MatGraphIteration`, `MatMarkovMonitor`
S*/
typedef PetscErrorCode (*MatGraphMonitor)(PetscInt, PetscReal, void *);

/*S
   MatGraphIteration - parameters and results of `MatPageRank()`, `MatHITS()` and `MatRandomWalkWithRestart()`

   Parameters, which `MatGraphIterationInitialize()` sets to their defaults:
+  damping  - the probability that a walk follows an edge, from 0 to less than 1 (default 0.85)
.  tol      - the end: the 1-norm of the change is less (default 1e-10, in single precision 1e-6); with 0 only `max_it` ends the iteration
.  max_it   - most iterations (default 1000)
.  dangling - what a walk does in a vertex without outgoing edges
.  order    - the order of the vertices in the matrix of the walk
.  monitor  - a function that is called before the first iteration and after each, or `NULL`
-  context  - its last argument

   Results:
+  its    - the number of iterations
.  change - the last change; `PETSC_MAX_REAL` without an iteration
-  reason - why the iteration ended

   Level: intermediate

.seealso: `MatGraphIterationInitialize()`, `MatGraphDangling`, `MatGraphOrder`, `MatGraphMonitor`, `MatGraphConvergedReason`
S*/
typedef struct {
  PetscReal               damping, tol;
  PetscInt                max_it;
  MatGraphDangling        dangling;
  MatGraphOrder           order;
  MatGraphMonitor         monitor;
  void                   *context;
  PetscInt                its;
  PetscReal               change;
  MatGraphConvergedReason reason;
} MatGraphIteration;

PETSC_EXTERN PetscErrorCode MatGraphIterationInitialize(MatGraphIteration *);
PETSC_EXTERN PetscErrorCode MatPageRank(Mat, MatGraphIteration *, Vec);
PETSC_EXTERN PetscErrorCode MatHITS(Mat, MatGraphIteration *, Vec, Vec);
PETSC_EXTERN PetscErrorCode MatRandomWalkWithRestart(Mat, PetscInt, const PetscInt[], MatGraphIteration *, Mat *);

PETSC_EXTERN PetscErrorCode VecShiftToSum(Vec, Vec, PetscReal, PetscScalar, Vec, PetscReal *);
PETSC_EXTERN PetscErrorCode VecScaleToSum(Vec, PetscScalar, Vec, PetscReal *, PetscBool *);
PETSC_EXTERN PetscErrorCode VecGetTop(Vec, PetscInt, PetscInt *, PetscInt[], PetscReal[]);

PETSC_EXTERN PetscErrorCode MatLoadEdgeList(Mat, const char[], PetscInt64 *[]);
