/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Deferred matrices: AIJCUSPARSE whose entries kernels created, and which are on the device only.

   PETSc's AIJ requires its pattern on the host before it has arrays on the device: two copies over the bus, and several passes of one thread over all rows, which take
   longer than the kernels that compute an interpolation. A deferred matrix has three arrays on the device instead, from which it is converted to a format and multiplied. Any other
   operation completes it first: then it is the AIJCUSPARSE that it would have been from the beginning. A deferred MPI matrix has deferred blocks.

   The type name differs from AIJCUSPARSE's until then: PETSc reads the data of an operand if it knows the name.
*/
#include <petscdevice_cuda.h>

#include "mat/aij/aijcuda.h"
#include "mat/aij/aijdefer.h"
#include "sys/sysmemory.h"

#define DEFERRED "MatAIJDeferred"

PetscErrorCode MatAIJDeferredGet(Mat A, MatAIJDeferred **d)
{
  PetscFunctionBegin;
  PetscCall(PetscAMBObjectContainerQuery((PetscObject)A, DEFERRED, (void **)d));
  PetscCheck(*d, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A deferred matrix lost its arrays");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatAIJDeferredDestroy(PetscAMBCtxArgument arg)
{
  MatAIJDeferred *d = (MatAIJDeferred *)PetscAMBCtxGet(arg);

  PetscFunctionBegin;
  MatAIJPoolRelease(d->device.i);
  MatAIJPoolRelease(d->device.j);
  MatAIJPoolRelease(d->device.a);
  PetscCall(PetscFree(d->i));
  PetscCall(PetscFree(d->j));
  PetscCall(PetscFree(d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- arrays ------------------------------------------------- */

/* Copies an array of the device to new memory of the host. All threads create the pages: one alone would take longer than the copy. */
static PetscErrorCode MatAIJDeviceFetch(PetscInt n, const int *device, PetscInt **host)
{
  const PetscInt page = 4096 / (PetscInt)sizeof(**host);
  PetscInt      *array;
  PetscBool      pinned;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &array));
  SysAdvise(array, n * sizeof(*array));
#pragma omp parallel for num_threads(SysThreads()) schedule(static)
  for (PetscInt k = 0; k < n; k += page) array[k] = 0;
  PetscCall(MatAIJDevicePin(array, n * sizeof(*array), &pinned));
  PetscCallCUDA(cudaMemcpyAsync(array, device, n * sizeof(*array), cudaMemcpyDeviceToHost, PetscDefaultCudaStream));
  PetscCallCUDA(cudaStreamSynchronize(PetscDefaultCudaStream));
  PetscCall(MatAIJDeviceUnpin(array, pinned));
  PetscCall(PetscLogGpuToCpu(n * (PetscLogDouble)sizeof(*array)));
  *host = array;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatAIJDeferredGetPattern(Mat A, SysCSR *csr)
{
  MatAIJDeferred *d;

  PetscFunctionBegin;
  PetscCall(MatAIJDeferredGet(A, &d));
  if (!d->i) {
    PetscCall(MatAIJDeviceFetch((PetscInt)d->device.m + 1, d->device.i, &d->i));
    PetscCall(MatAIJDeviceFetch((PetscInt)d->device.nz, d->device.j, &d->j));
  }
  *csr   = d->device;
  csr->i = d->i;
  csr->j = d->j;
  csr->a = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatAIJDeferredGetDevice(Mat A, SysCSR *csr)
{
  MatAIJDeferred *d;

  PetscFunctionBegin;
  PetscCall(MatAIJDeferredGet(A, &d));
  *csr = d->device;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAIJDeferredGetDiagonal(Mat A, Vec v)
{
  MatAIJDeferred *d;
  PetscScalar    *diagonal;
  SysStatus       status;

  PetscFunctionBegin;
  PetscCall(MatAIJDeferredGet(A, &d));
  PetscCall(VecCUDAGetArrayWrite(v, &diagonal));
  status = AijDiagonal(&d->device, diagonal, PetscDefaultCudaStream);
  PetscCall(VecCUDARestoreArrayWrite(v, &diagonal));
  PetscCheck(status == SYS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_GPU, "The diagonal of a matrix on the GPU: %s", SysDeviceErrorText());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- creation ------------------------------------------------- */

/* PETSc takes A for assembled from now on */
static PetscErrorCode MatAIJDeferSetUp(Mat A)
{
  PetscFunctionBegin;
  PetscCall(PetscLayoutSetUp(A->rmap));
  PetscCall(PetscLayoutSetUp(A->cmap));
  A->preallocated     = PETSC_TRUE;
  A->assembled        = PETSC_TRUE;
  A->nonzerostate     = 1;
  A->ass_nonzerostate = 1; /* for PETSc, another assembly changes nothing */
  A->num_ass          = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAIJDeferCreate(const SysCSR *csr, Mat *A)
{
  const PetscInt m = (PetscInt)csr->m, n = (PetscInt)csr->n;
  PetscInt      *i, *j;
  PetscScalar   *a;
  Mat            B;

  PetscFunctionBegin;
  if (MAT_AIJ_DEFERS) {
    PetscCall(MatCreate(PETSC_COMM_SELF, &B));
    PetscCall(MatSetSizes(B, m, n, m, n));
    PetscCall(MatSetType(B, MATSEQAIJCUSPARSE));
    PetscCall(MatAIJDeferSetUp(B));
  } else {
    PetscCall(MatAIJDeviceFetch(m + 1, csr->i, &i));
    PetscCall(MatAIJDeviceFetch((PetscInt)csr->nz, csr->j, &j));
    PetscCall(PetscMalloc1(csr->nz, &a)); /* without pages until an operation reads the values on the host */
    SysAdvise(a, csr->nz * sizeof(*a));
    PetscCall(MatAIJDeviceCreateWithArrays(m, n, i, j, a, PETSC_TRUE, &B));
  }
  *A = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const MatAIJDeferredAccess access_functions = {MatAIJDeferredGetPattern, MatAIJDeferredGetDevice, MatAIJComplete};

/* Moves the arrays of *csr to A and replaces the operations of A. *done = PETSC_FALSE if PETSc has operations that petsc-amb does not know: the arrays remain with the caller. */
static PetscErrorCode MatAIJDeferTry(Mat A, SysCSR *csr, PetscBool grows, PetscBool *done)
{
  MatAIJDeferred *d;
  PetscContainer  container;

  PetscFunctionBegin;
  PetscCall(PetscNew(&d));
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
  PetscCall(PetscContainerSetPointer(container, d));
  PetscCall(PetscContainerSetCtxDestroy(container, MatAIJDeferredDestroy));
  d->grows                = grows;
  *done                   = PETSC_TRUE;
  MatAIJDeferredFunctions = &access_functions;
  PetscCall(MatAIJDeferOperations(A, d, done));
  if (*done) {
    d->device = *csr;
    csr->i = csr->j = NULL;
    csr->a          = NULL;
    PetscCall(PetscObjectCompose((PetscObject)A, DEFERRED, (PetscObject)container));
    A->offloadmask = PETSC_OFFLOAD_GPU;
  }
  PetscCall(PetscContainerDestroy(&container));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAIJDeferNew(Mat A, SysCSR *csr, PetscBool *done)
{
  PetscFunctionBegin;
  *done = PETSC_FALSE;
  if (MAT_AIJ_DEFERS) PetscCall(MatAIJDeferTry(A, csr, PETSC_TRUE, done));
  if (*done) PetscCall(MatAIJDeferSetUp(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As MatAssemblyEnd() */
PetscErrorCode MatAIJDeferredAssembled(Mat A)
{
  PetscFunctionBegin;
  if (!A->symmetry_eternal) A->symmetric = A->hermitian = PETSC_BOOL3_UNKNOWN;
  if (!A->spd_eternal) A->spd = PETSC_BOOL3_UNKNOWN;
  A->num_ass++;
  PetscCall(PetscObjectStateIncrease((PetscObject)A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the values of *csr, which is on the device, to an AIJCUSPARSE with its pattern */
static PetscErrorCode MatAIJCopyValues(Mat A, const SysCSR *csr)
{
  SysCSR       own;
  PetscScalar *a;

  PetscFunctionBegin;
  if (!csr->nz) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatAIJDeviceGetArrays(A, &own));
  PetscCall(MatSeqAIJCUSPARSEGetArrayWrite(A, &a));
  PetscCallCUDA(cudaMemcpyAsync(a, csr->a, csr->nz * sizeof(*a), cudaMemcpyDeviceToDevice, PetscDefaultCudaStream));
  PetscCall(MatSeqAIJCUSPARSERestoreArrayWrite(A, &a));
  PetscCallCUDA(cudaStreamSynchronize(PetscDefaultCudaStream)); /* the arrays end */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fills an AIJCUSPARSE without rows */
static PetscErrorCode MatAIJFill(Mat A, const SysCSR *pattern, const SysCSR *device, PetscBool grows)
{
  const PetscInt m = (PetscInt)pattern->m;
  PetscInt      *lengths;
  SysCSR         csr;

  PetscFunctionBegin;
  A->preallocated  = PETSC_FALSE;
  A->assembled     = PETSC_FALSE;
  A->was_assembled = PETSC_FALSE;
  A->offloadmask   = PETSC_OFFLOAD_UNALLOCATED;
  PetscCall(PetscMalloc1(m, &lengths));
  for (PetscInt r = 0; r < m; r++) lengths[r] = pattern->i[r + 1] - pattern->i[r];
  PetscCall(MatSeqAIJSetPreallocation(A, 0, lengths));
  PetscCall(PetscFree(lengths));
  PetscCall(MatAIJGetPattern(A, &csr));
  PetscCall(PetscArraycpy((PetscInt *)csr.j, pattern->j, pattern->nz));
  PetscCall(MatSeqAIJSetColumnIndices(A, (PetscInt *)csr.j)); /* the columns are in place: the call sets the rows' lengths */
  PetscCall(MatSetOption(A, MAT_USE_INODES, PETSC_FALSE));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATION_ERR, (PetscBool)!grows));
  PetscCall(MatAIJCopyValues(A, device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAIJDefer(Mat A, SysCSR *csr, PetscBool products, PetscBool grows)
{
  PetscBool done    = PETSC_FALSE;
  SysCSR    pattern = *csr;
  PetscInt *i, *j;

  PetscFunctionBegin;
  if (!MAT_AIJ_DEFERS) {
    PetscCall(MatAIJCopyValues(A, csr));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (products) PetscCall(MatAIJDeferTry(A, csr, grows, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatAIJDeviceFetch((PetscInt)csr->m + 1, csr->i, &i));
  PetscCall(MatAIJDeviceFetch((PetscInt)csr->nz, csr->j, &j));
  pattern.i = i;
  pattern.j = j;
  PetscCall(MatAIJFill(A, &pattern, csr, grows));
  PetscCall(PetscFree(i));
  PetscCall(PetscFree(j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAIJDeferMPI(Mat A, PetscBool grows)
{
  SysCSR    none = {0};
  PetscBool done;

  PetscFunctionBegin;
  if (MAT_AIJ_DEFERS) PetscCall(MatAIJDeferTry(A, &none, grows, &done)); /* also if memory was short for a block: all processes have the same type */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- completion ------------------------------------------------- */

PetscErrorCode MatAIJComplete(Mat A)
{
  MatAIJDeferred *d;
  PetscObject     container;
  PetscBool       seq;
  SysCSR          pattern;
  Mat             block[2];

  PetscFunctionBegin;
  if (!MatAIJIsDeferred(A)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscInfo(A, "The entries are on the GPU only; an operation requires an AIJ\n"));
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MAT_AIJ_DEFERRED_SEQ, &seq));
  if (seq) PetscCall(MatAIJDeferredGetPattern(A, &pattern));
  PetscCall(MatAIJDeferredGet(A, &d));
  PetscCall(PetscObjectQuery((PetscObject)A, DEFERRED, &container));
  PetscCall(PetscObjectReference(container));
  PetscCall(PetscObjectCompose((PetscObject)A, DEFERRED, NULL));
  PetscCall(MatAIJDeferRestore(A, d));
  if (seq) PetscCall(MatAIJFill(A, &pattern, &d->device, d->grows));
  else {
    PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
    for (int k = 0; k < 2; k++) {
      PetscCall(MatAIJComplete(block[k]));
      if (d->grows) PetscCall(MatSetOption(block[k], MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_TRUE)); /* as in a matrix that PETSc has preallocated */
    }
    A->offloadmask = PETSC_OFFLOAD_BOTH; /* as after an assembly: the blocks have their own */
  }
  PetscCall(PetscObjectDereference(container));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Without its arrays; the matrix is about to end, or to change its type */
PetscErrorCode MatAIJDeferredForget(Mat A)
{
  MatAIJDeferred *d;

  PetscFunctionBegin;
  PetscCall(MatAIJDeferredGet(A, &d));
  PetscCall(MatAIJDeferRestore(A, d));
  PetscCall(PetscObjectCompose((PetscObject)A, DEFERRED, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
