/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MatInvertBlockDiagonal() and MatInvertVariableBlockDiagonal() of a sequential AIJCUSPARSE: a kernel inverts the blocks, and the host gets the inverses, which PETSc's callers expect
   there. PETSc's functions copy the whole matrix to the host. They run for blocks that are singular, so that errors are PETSc's, and for large ones.
*/
#include <petscdevice_cuda.h>

#include "mat/aij/aij.h"
#include "mat/aij/aijblocks.h"

#define INVERSE "MatAIJInverse"

/* The inverses that MatInvertBlockDiagonal() returns: PETSc's callers hold their address */
typedef struct {
  PetscScalar     *values;
  size_t           n;
  PetscObjectState state; /* of the matrix; 0: none */
} MatAIJInverse;

static PetscErrorCode MatAIJInverseDestroy(PetscAMBCtxArgument arg)
{
  MatAIJInverse *inverse = (MatAIJInverse *)PetscAMBCtxGet(arg);

  PetscFunctionBegin;
  PetscCall(PetscFree(inverse->values));
  PetscCall(PetscFree(inverse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Stores the n values of the inverses at out, unless a block is singular. rows has nblock + 1 numbers, and at nblock; NULL for blocks of bs rows. */
static PetscErrorCode MatAIJInvert(Mat A, PetscInt nblock, PetscInt bs, const SysInt rows[], const int64_t at[], size_t n, PetscScalar out[], PetscBool *done)
{
  const size_t bytes[4]  = {n * sizeof(*out), sizeof(int), rows ? ((size_t)nblock + 1) * sizeof(*rows) : 0, at ? (size_t)nblock * sizeof(*at) : 0};
  void        *memory[4] = {NULL, NULL, NULL, NULL}; /* inverses, singular, rows, at */
  PetscBool    enough    = PETSC_TRUE;
  int          singular  = 0;
  SysStatus    status;
  SysCSR       csr;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  PetscCall(MatAIJDeviceGetArrays(A, &csr));
  for (int k = 0; k < 4 && enough; k++) {
    if (bytes[k]) PetscCall(MatAIJPoolAllocate(bytes[k], &memory[k], &enough));
  }
  if (enough && csr.nz) {
    PetscCallCUDA(cudaMemsetAsync(memory[1], 0, sizeof(int), PetscDefaultCudaStream));
    if (rows) PetscCallCUDA(cudaMemcpyAsync(memory[2], rows, bytes[2], cudaMemcpyHostToDevice, PetscDefaultCudaStream));
    if (at) PetscCallCUDA(cudaMemcpyAsync(memory[3], at, bytes[3], cudaMemcpyHostToDevice, PetscDefaultCudaStream));
    PetscCall(PetscLogGpuTimeBegin());
    status = AijInverseDevice(&csr, nblock, (int)bs, memory[2], memory[3], bs == 1 && !rows ? PETSC_MACHINE_EPSILON : 0, memory[0], memory[1], PetscDefaultCudaStream);
    PetscCall(PetscLogGpuTimeEnd());
    PetscCheck(status == SYS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_GPU, "The diagonal blocks of a matrix on the GPU: %s", SysDeviceErrorText());
    PetscCallCUDA(cudaMemcpyAsync(&singular, memory[1], sizeof(singular), cudaMemcpyDeviceToHost, PetscDefaultCudaStream));
    PetscCallCUDA(cudaMemcpyAsync(out, memory[0], bytes[0], cudaMemcpyDeviceToHost, PetscDefaultCudaStream));
    PetscCallCUDA(cudaStreamSynchronize(PetscDefaultCudaStream));
    PetscCall(PetscLogGpuToCpu((PetscLogDouble)bytes[0]));
    *done = (PetscBool)!singular;
  }
  for (int k = 0; k < 4; k++) {
    if (memory[k]) MatAIJPoolRelease(memory[k]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatInvertBlockDiagonal_AIJDevice(Mat A, const PetscScalar **values)
{
  const PetscInt bs = PetscAbs(A->rmap->bs);
  const size_t   n  = (size_t)A->rmap->n * (size_t)bs;
  MatAIJInverse *inverse;
  PetscBool      done = PETSC_FALSE;

  PetscFunctionBegin;
  if (MatAIJValuesOnDevice(A) && bs <= AIJ_INVERSE_MOST && n) {
    PetscCall(PetscAMBObjectContainerQuery((PetscObject)A, INVERSE, (void **)&inverse));
    if (!inverse) {
      PetscCall(PetscNew(&inverse));
      PetscCall(PetscAMBObjectContainerCompose((PetscObject)A, INVERSE, inverse, MatAIJInverseDestroy));
    }
    if (inverse->n != n) {
      PetscCall(PetscFree(inverse->values));
      PetscCall(PetscMalloc1(n, &inverse->values));
      inverse->n     = n;
      inverse->state = 0;
    }
    done = (PetscBool)(inverse->state && inverse->state == ((PetscObject)A)->state);
    if (!done) PetscCall(MatAIJInvert(A, A->rmap->n / bs, bs, NULL, NULL, n, inverse->values, &done));
    inverse->state = done ? ((PetscObject)A)->state : 0;
    if (done && values) *values = inverse->values;
  }
  if (!done) PetscCall((*MatAIJBaseSeqCUSPARSE.invertblockdiagonal)(A, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatInvertVariableBlockDiagonal_AIJDevice(Mat A, PetscInt n, const PetscInt sizes[], PetscScalar values[])
{
  PetscInt  most = 0, rows = 0;
  SysInt   *row;
  int64_t  *at, end = 0;
  PetscBool done = PETSC_FALSE;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; k++) {
    most = PetscMax(most, sizes[k]);
    rows += sizes[k];
  }
  if (MatAIJValuesOnDevice(A) && most && most <= AIJ_INVERSE_MOST && rows == A->rmap->n) {
    PetscCall(PetscMalloc2(n + 1, &row, n, &at));
    row[0] = 0;
    for (PetscInt k = 0; k < n; k++) {
      row[k + 1] = row[k] + sizes[k];
      at[k]      = end;
      end += (int64_t)sizes[k] * sizes[k];
    }
    PetscCall(MatAIJInvert(A, n, most, row, at, (size_t)end, values, &done));
    PetscCall(PetscFree2(row, at));
  }
  if (!done) PetscCall((*MatAIJBaseSeqCUSPARSE.invertvariableblockdiagonal)(A, n, sizes, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}
