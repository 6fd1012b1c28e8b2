/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Frees the device copy of an AIJCUSPARSE after a conversion.

   PETSc has no function for this. The copy belongs to PETSc's structure in spptr. A new temporary matrix gets an empty structure from the
   constructor, the two matrices exchange structures, and the temporary matrix's destruction frees the copy. The matrix is then like one assembled on
   the host and not yet used on the device, so all PETSc code copies it to the device when necessary.

   The format's kernels recompute rows with a NaN from CSR. While the copy is freed, these arrays are in pinned host memory, which the device reads.
*/
#include <petscdevice_cuda.h>

#include "mat/shadow/core/shadow.h"

/* A matrix's rows in pinned memory, valid for one state of the matrix */
struct _MatShadowRows {
  SysCSR           csr;
  size_t           bytes;
  PetscObjectState state, nonzerostate;
};

PetscErrorCode MatShadowDeviceForgetRows(MatShadow *s)
{
  PetscFunctionBegin;
  if (!s->rows) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaFreeHost((void *)s->rows->csr.i));
  PetscCall(PetscFree(s->rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatShadowRowsValid(Mat A, const MatShadow *s, PetscBool *valid)
{
  PetscObjectState state;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  *valid = (PetscBool)(s->rows && s->rows->state == state && s->rows->nonzerostate == A->nonzerostate);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies pattern and values, both on the host, to pinned memory; sets *kept = PETSC_FALSE if that is short */
static PetscErrorCode MatShadowRowsCreate(Mat A, MatShadow *s, const SysCSR *host, const PetscScalar *a, PetscBool *kept)
{
  const size_t rows = sizeof(PetscInt) * ((size_t)host->m + 1), columns = sizeof(PetscInt) * (size_t)host->nz, values = sizeof(PetscScalar) * (size_t)host->nz;
  const size_t first = (rows + columns + sizeof(PetscScalar) - 1) / sizeof(PetscScalar) * sizeof(PetscScalar), bytes = first + values;
  char        *memory;

  PetscFunctionBegin;
  *kept = PETSC_FALSE;
  if (s->rows && s->rows->bytes != bytes) PetscCall(MatShadowDeviceForgetRows(s));
  if (!s->rows) {
    if (cudaHostAlloc((void **)&memory, bytes, cudaHostAllocMapped) != cudaSuccess) {
      (void)cudaGetLastError();
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(PetscNew(&s->rows));
    s->rows->bytes = bytes;
  } else memory = (char *)s->rows->csr.i;
  PetscCall(PetscMemcpy(memory, host->i, rows));
  PetscCall(PetscMemcpy(memory + rows, host->j, columns));
  PetscCall(PetscMemcpy(memory + first, a, values));
  s->rows->csr          = *host;
  s->rows->csr.i        = (const PetscInt *)memory;
  s->rows->csr.j        = (const PetscInt *)(memory + rows);
  s->rows->csr.a        = (const PetscScalar *)(memory + first);
  s->rows->nonzerostate = A->nonzerostate;
  PetscCall(PetscObjectStateGet((PetscObject)A, &s->rows->state));
  *kept = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets an AIJ's arrays for products on the format: those in pinned memory if they have its values, else AIJCUSPARSE's */
PetscErrorCode MatShadowDeviceGetRows(Mat A, const MatShadow *s, MatShadowCSR *csr)
{
  PetscBool valid = PETSC_FALSE;

  PetscFunctionBegin;
  if (s->rows && s->phase == MAT_SHADOW_CURRENT) PetscCall(MatShadowRowsValid(A, s, &valid));
  if (valid) {
    csr->A      = s->rows->csr;
    csr->stream = PetscDefaultCudaStream;
  } else PetscCall(MatAIJDeviceGetCSR(A, &csr->A, &csr->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns why the device copy must stay, or NULL. MatProduct data point to the copy, and MatSetValuesCOO() of an MPI matrix writes to its blocks'
   copies unchecked. PETSc would mistake a matrix of state 0 for the empty structure's. */
static const char *MatShadowDeviceNeedsCopy(Mat A, const MatShadow *s)
{
  if (MatAIJIsDeferred(A)) return "the host has no entries";
  if (A->product) return "the matrix is the result of a product";
  if (s->coo) return "its values are set by MatSetValuesCOO()";
  if (s->ops->readsaij && (*s->ops->readsaij)(s->data)) return "products read rows of it";
  return A->nonzerostate > 0 ? NULL : "the matrix has no pattern yet";
}

/* Frees the copy, and gets the arrays that replace it. The format has A's values. */
PetscErrorCode MatShadowDeviceFree(Mat A, MatShadow *s, MatShadowCSR *csr)
{
  const PetscScalar *a;
  PetscBool          kept = PETSC_FALSE;
  SysCSR             host;

  PetscFunctionBegin;
  s->copy = MatShadowDeviceNeedsCopy(A, s);
  if (s->copy) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowRowsValid(A, s, &kept));
  if (!kept) {
    PetscCall(MatAIJGetPattern(A, &host));
    PetscCall(MatSeqAIJGetArrayRead(A, &a)); /* the newest values, perhaps from the device */
    if (a) PetscCall(MatShadowRowsCreate(A, s, &host, a, &kept));
    PetscCall(MatSeqAIJRestoreArrayRead(A, &a));
    if (!kept) s->copy = "pinned memory is short";
    if (!kept) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscInfo(A, "Freed the copy of the AIJ on the GPU\n"));
  }
  if (A->offloadmask != PETSC_OFFLOAD_UNALLOCATED) {
    PetscCallCUDA(cudaStreamSynchronize(PetscDefaultCudaStream)); /* queued products may still read the copy */
    PetscCall(MatAIJCUSPARSEReset(A));
  }
  csr->A      = s->rows->csr;
  csr->stream = PetscDefaultCudaStream;
  PetscFunctionReturn(PETSC_SUCCESS);
}
