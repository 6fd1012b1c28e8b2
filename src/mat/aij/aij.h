/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Access to PETSc's AIJ and AIJCUSPARSE. No other folder knows how these types store a matrix: pattern, arrays, blocks of an MPI matrix, arrays on a device, pinned
   memory, huge pages, exchange of rows between processes, transpose, conversion to hypre. This folder knows no shadow and no format.
*/
#pragma once

#include <petscamb.h>
#include <petsc/private/matimpl.h>

#include "sys/syscompat.h"
#include "sys/syscuda.h"
#include "sys/systhreads.h"
#include "sys/systuning.h"

/* ------------------------------------------------- operations ------------------------------------------------- */

/* The operations of seqaij and mpiaij, which PETSc does not export; set by MatAIJSetUp() */
extern struct _MatOps MatAIJBaseSeq, MatAIJBaseMPI;
extern PetscErrorCode MatAIJSetUp(void);

/* The operations of the base type of A: AIJ or AIJCUSPARSE, sequential or MPI */
extern const struct _MatOps *MatAIJGetBase(Mat A);

/* Creates a matrix of one row by a constructor of PETSc; the second function returns the operations of such a matrix */
extern PetscErrorCode MatAIJCreateEmpty(PetscErrorCode (*create)(Mat), Mat *A);
extern PetscErrorCode MatAIJGetOperations(PetscErrorCode (*create)(Mat), struct _MatOps *ops);

/* Moves the product and the variable blocks of A to B, which has none */
static inline void MatAIJMoveProduct(Mat A, Mat B)
{
  B->product = A->product;
  B->nblocks = A->nblocks;
  B->bsizes  = A->bsizes;
  A->product = NULL;
  A->nblocks = 0;
  A->bsizes  = NULL;
}

/* ------------------------------------------------- arrays ------------------------------------------------- */

/* Gets the pattern of a sequential matrix on the host */
extern PetscErrorCode MatAIJGetPattern(Mat A, SysCSR *csr);

/* Gets the pattern and the values of a sequential matrix on the host. PETSc copies newer values from the device. */
extern PetscErrorCode MatAIJGetArrays(Mat A, SysCSR *csr);

/* Gets the blocks of a matrix, the second NULL on one process, and the global columns of the second */
extern PetscErrorCode MatAIJGetBlocks(Mat A, Mat block[2], const PetscInt **garray);

/* Gets the star forest from the columns of this process to the columns of the off-diagonal block of an assembled MPIAIJ: PETSc's of MatMult(), or a new one. The caller destroys it. Collective. */
extern PetscErrorCode MatAIJGetScatter(Mat A, PetscSF *sf);

/* Returns PETSC_TRUE if A is an AIJCUSPARSE, sequential or MPI, deferred or not */
extern PetscBool MatAIJIsCUSPARSE(Mat A);

/* The type that a matrix of this type has once it is complete, which is another one for deferred matrices; for other matrices that are to have the type of A */
extern MatType        MatAIJCompleteType(MatType type);
static inline MatType MatAIJGetType(Mat A)
{
  return MatAIJCompleteType(((PetscObject)A)->type_name);
}

/* Gets the sizes of a sequential matrix, and its pattern if the host has it: only MatAIJGetPattern() fetches the pattern of a deferred matrix */
extern PetscErrorCode MatAIJGetSizes(Mat A, SysCSR *csr);

/* Returns the number of host threads for loops over nz entries */
static inline int MatAIJThreads(PetscInt nz)
{
  return (int)PetscMin(SysThreads(), 1 + (PetscInt64)nz / SYS_TUNE_THREAD_NONZEROS);
}

/* ------------------------------------------------- operations on whole matrices ------------------------------------------------- */

/* Creates the transpose, of a type, of an assembled MPIAIJ or of a type that extends it */
extern PetscErrorCode MatAIJTransposeMPI(Mat A, MatType type, Mat *B);

/* MatTranspose() of an MPIAIJ: MatAIJTransposeMPI() for a new matrix, else the operation of PETSc */
extern PetscErrorCode MatTranspose_MPIAIJ_AMB(Mat A, MatReuse reuse, Mat *B);

/* Replaces the conversion of A to MATHYPRE by a copy of arrays, or restores PETSc's; does nothing in a build without hypre */
extern PetscErrorCode MatAIJHYPRECompose(Mat A, PetscBool seq, PetscBool add);

/* Between Begin and End, which nest, PETSc allocates large arrays on huge pages. Call End after errors too. */
extern void           MatAIJPagesSetUse(PetscBool use); /* PETSC_FALSE: Begin and End do nothing */
extern PetscErrorCode MatAIJPagesSetFromOptions(void);
extern void           MatAIJPagesBegin(void);
extern void           MatAIJPagesEnd(void);

/* ------------------------------------------------- device ------------------------------------------------- */

#if defined(SYS_HAVE_DEVICE)

/* The constructors of PETSc for seqaijcusparse and mpiaijcusparse, set before others replace them; the operations of both types, set by MatAIJCUSPARSESetUp() */
extern PetscErrorCode (*MatAIJCreateSeqCUSPARSE)(Mat), (*MatAIJCreateMPICUSPARSE)(Mat);
extern struct _MatOps MatAIJBaseSeqCUSPARSE, MatAIJBaseMPICUSPARSE;

/* Deferred matrices (aijdeferdevice.c): AIJCUSPARSE with entries on the device only, which become complete when an operation other than a product requires it */
  #define MAT_AIJ_DEFERRED_SEQ "seqaijcusparsedeferred"
  #define MAT_AIJ_DEFERRED_MPI "mpiaijcusparsedeferred"
extern PetscErrorCode   MatDestroy_AIJDeferred(Mat A);
static inline PetscBool MatAIJIsDeferred(Mat A)
{
  return (PetscBool)(A->ops->destroy == MatDestroy_AIJDeferred);
}

/* Creates a sequential AIJCUSPARSE without entries that PETSc takes for assembled, with the sizes of *csr. MatAIJDefer() gives it the entries, whose arrays are from the pool.
   The matrix is deferred then if its products with vectors and matrices do not require an AIJCUSPARSE, and complete otherwise. In between the matrix may become a block of an
   MPI matrix; MatAIJDeferMPI() defers that after its blocks. A deferred matrix owns the arrays, and *csr has NULL in their place; otherwise the caller frees them. grows: the complete matrix accepts new entries, as results of products do. Without MAT_AIJ_DEFERS the first function creates an AIJ with the pattern, which is to become an AIJCUSPARSE, and the
   second copies the values. */
  #define MAT_AIJ_DEFERS PETSC_VERSION_GE(3, 23, 0)
extern PetscErrorCode MatAIJDeferCreate(const SysCSR *csr, Mat *A);
extern PetscErrorCode MatAIJDefer(Mat A, SysCSR *csr, PetscBool products, PetscBool grows);
extern PetscErrorCode MatAIJDeferMPI(Mat A, PetscBool grows);

/* Restores the operations of a complete matrix, without entries */
extern PetscErrorCode MatAIJDeferredForget(Mat A);

/* Defers a sequential AIJCUSPARSE that has its type and sizes, and no entries; the complete matrix accepts new entries. *done = PETSC_FALSE if PETSc has operations that petsc-amb does not know */
extern PetscErrorCode MatAIJDeferNew(Mat A, SysCSR *csr, PetscBool *done);

/* Gets the diagonal of a deferred matrix, in a vector on the device */
extern PetscErrorCode MatAIJDeferredGetDiagonal(Mat A, Vec d);

/* The operations of these names of a sequential AIJCUSPARSE that is not deferred: they read its values on the device */
extern PetscErrorCode MatInvertBlockDiagonal_AIJDevice(Mat A, const PetscScalar **values);
extern PetscErrorCode MatInvertVariableBlockDiagonal_AIJDevice(Mat A, PetscInt n, const PetscInt sizes[], PetscScalar values[]);

/* Access to deferred matrices, set before the first of them: the pattern on the host, the arrays on the device, completion */
typedef struct {
  PetscErrorCode (*getpattern)(Mat, SysCSR *);
  PetscErrorCode (*getdevice)(Mat, SysCSR *);
  PetscErrorCode (*complete)(Mat);
} MatAIJDeferredAccess;
extern const MatAIJDeferredAccess *MatAIJDeferredFunctions;

/* Returns PETSC_TRUE if operations use the values of a sequential matrix on the device */
static inline PetscBool MatAIJValuesOnDevice(Mat A)
{
  const char *type = ((PetscObject)A)->type_name;

  return (PetscBool)(!A->boundtocpu && (strcmp(type, MATSEQAIJCUSPARSE) == 0 || strcmp(type, MAT_AIJ_DEFERRED_SEQ) == 0));
}

static inline const struct _MatOps *MatAIJGetBaseCUSPARSE(PetscBool seq)
{
  return seq ? &MatAIJBaseSeqCUSPARSE : &MatAIJBaseMPICUSPARSE;
}

/* Marks the copy of A on the device, if any, as older than the values on the host. PETSc does not do so for a matrix bound to the CPU. */
static inline void MatAIJSetHostNewest(Mat A)
{
  if (A->offloadmask != PETSC_OFFLOAD_UNALLOCATED) A->offloadmask = PETSC_OFFLOAD_CPU;
}

#else

static inline PetscBool MatAIJIsDeferred(Mat A)
{
  return PETSC_FALSE;
}

static inline PetscBool MatAIJValuesOnDevice(Mat A)
{
  return PETSC_FALSE;
}

static inline const struct _MatOps *MatAIJGetBaseCUSPARSE(PetscBool seq)
{
  return seq ? &MatAIJBaseSeq : &MatAIJBaseMPI;
}

static inline void MatAIJSetHostNewest(Mat A) { }

#endif

/* The stubs do not write their results: callers initialize flags with PETSC_FALSE */

/* Sets *found if the machine has a device that PETSc may use; does not initialize the device */
SYS_DEVICE PetscErrorCode MatAIJHasDevice(PetscBool *found) SYS_STUB(PETSC_SUCCESS);

/* SetUp reads the operations of AIJCUSPARSE, which initializes the device; called before the first AIJCUSPARSE of the program. Finalize resets that. */
SYS_DEVICE PetscErrorCode MatAIJCUSPARSESetUp(void) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatAIJCUSPARSEFinalize(void) SYS_STUB(PETSC_SUCCESS);

/* Frees the copy of a sequential AIJCUSPARSE on the device. The host has its values. */
SYS_DEVICE PetscErrorCode MatAIJCUSPARSEReset(Mat A) SYS_STUB(PETSC_SUCCESS);

/* Sets the triangular solves of a small AIJCUSPARSE to the host, unless an option says otherwise */
SYS_DEVICE PetscErrorCode MatAIJCUSPARSESetCPUSolve(Mat A) SYS_STUB(PETSC_SUCCESS);

/* Allocates device memory that other processes may open, and stores its address at memory: NULL, with *enough PETSC_FALSE, if memory is short. Raises
   an error for any other failure. */
SYS_DEVICE PetscErrorCode MatAIJDeviceAllocate(size_t bytes, void *memory, PetscBool *enough) SYS_STUB(PETSC_SUCCESS);

/* The same from the pool, in PETSc's stream: faster, but other processes cannot open it */
SYS_DEVICE PetscErrorCode MatAIJPoolAllocate(size_t bytes, void *memory, PetscBool *enough) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE void           MatAIJPoolRelease(const void *memory) SYS_STUB();

/* Gets the arrays of a sequential AIJCUSPARSE on the device, without sizes, and PETSc's stream; the other function gets sizes and arrays. A matrix
   without entries has no arrays. */
SYS_DEVICE PetscErrorCode MatAIJDeviceGetCSR(Mat A, SysCSR *csr, SysStream *stream) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatAIJDeviceGetArrays(Mat A, SysCSR *csr) SYS_STUB(PETSC_SUCCESS);

/* Gets the arrays of a sequential AIJCUSPARSE on the device to write its values, all of them, in the same pattern */
SYS_DEVICE PetscErrorCode MatAIJDeviceGetWrite(Mat A, const int **i, const int **j, PetscScalar **a) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatAIJDeviceRestoreWrite(Mat A, PetscScalar **a) SYS_STUB(PETSC_SUCCESS);

/* Uploads an AIJCUSPARSE, or both blocks of a MPIAIJCUSPARSE, unless it is on the GPU or bound to the CPU */
SYS_DEVICE PetscErrorCode MatAIJDeviceUpload(Mat A) SYS_STUB(PETSC_SUCCESS);

/* Makes an AIJCUSPARSE of a deferred matrix; no-op for others */
SYS_DEVICE PetscErrorCode MatAIJComplete(Mat A) SYS_STUB(PETSC_SUCCESS);

/* Ends an assembly that gave a deferred matrix new values in the same pattern */
SYS_DEVICE PetscErrorCode MatAIJDeferredAssembled(Mat A) SYS_STUB(PETSC_SUCCESS);

/* Creates a sequential AIJ from these arrays. With own, they are from PetscMalloc(), and the matrix frees them; otherwise they stay the caller's. PETSc does not search its rows for
   I-nodes, which would take one thread longer than everything else; its preallocation would need five arrays of one entry a row in place of two. */
SYS_DEVICE PetscErrorCode MatAIJDeviceCreateWithArrays(PetscInt m, PetscInt n, PetscInt i[], PetscInt j[], PetscScalar a[], PetscBool own, Mat *A) SYS_STUB(PETSC_SUCCESS);

/* Pinned memory for messages of set-ups, which follow one another in PETSc's stream: valid until the next call. Before the host writes there, the caller waits for the stream. CUDA takes about a millisecond to allocate it, so all share it. */
SYS_DEVICE PetscErrorCode MatAIJPinnedMemory(size_t bytes, void *memory) SYS_STUB(PETSC_SUCCESS);

/* Pins large host memory; Unpin reverses it if *pinned was set */
SYS_DEVICE PetscErrorCode MatAIJDevicePin(const void *memory, size_t bytes, PetscBool *pinned) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatAIJDeviceUnpin(const void *memory, PetscBool pinned) SYS_STUB(PETSC_SUCCESS);
