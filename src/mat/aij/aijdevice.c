/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Memory of a device for an AIJCUSPARSE: its arrays there, pinned arrays of the host
*/
#include <petscdevice_cuda.h>

#include "mat/aij/aij.h"

PetscErrorCode MatAIJHasDevice(PetscBool *found)
{
  static const char *const enable[] = {"-device_enable", "-device_enable_cuda"};
  int                      n;

  PetscFunctionBegin;
  *found = PETSC_FALSE;
  for (int k = 0; k < 2; k++) {
    char      value[16] = "";
    PetscBool none;

    PetscCall(PetscOptionsGetString(NULL, NULL, enable[k], value, sizeof(value), NULL));
    PetscCall(PetscStrcasecmp(value, "none", &none));
    if (none) PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (cudaGetDeviceCount(&n) != cudaSuccess) {
    n = 0;
    (void)cudaGetLastError(); /* clears the error, or later code would report it */
  }
  *found = (PetscBool)(n > 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatAIJAllocated(SysStatus status, void *memory, PetscBool *enough)
{
  PetscFunctionBegin;
  PetscCheck(status != SYS_ERROR, PETSC_COMM_SELF, PETSC_ERR_GPU, "%s", SysDeviceErrorText());
  *enough = (PetscBool)(status == SYS_SUCCESS);
  if (!*enough) *(void **)memory = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAIJDeviceAllocate(size_t bytes, void *memory, PetscBool *enough)
{
  PetscFunctionBegin;
  PetscCall(MatAIJAllocated(SysDeviceAllocate(memory, bytes), memory, enough));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAIJPoolAllocate(size_t bytes, void *memory, PetscBool *enough)
{
  PetscFunctionBegin;
  PetscCall(MatAIJAllocated(SysPoolAllocate(bytes, memory, PetscDefaultCudaStream), memory, enough));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void MatAIJPoolRelease(const void *memory)
{
  SysPoolRelease(memory, PetscDefaultCudaStream);
}

static char  *pinned_memory = NULL;
static size_t pinned_bytes  = 0;

static PetscErrorCode MatAIJPinnedDestroy(void)
{
  PetscFunctionBegin;
  PetscCallCUDA(cudaFreeHost(pinned_memory));
  pinned_memory = NULL;
  pinned_bytes  = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAIJPinnedMemory(size_t bytes, void *memory)
{
  PetscFunctionBegin;
  if (bytes > pinned_bytes) {
    if (pinned_memory) {
      PetscCallCUDA(cudaStreamSynchronize(PetscDefaultCudaStream)); /* the memory ends here */
      PetscCall(MatAIJPinnedDestroy());
    } else PetscCall(PetscRegisterFinalize(MatAIJPinnedDestroy));
    PetscCallCUDA(cudaMallocHost((void **)&pinned_memory, 2 * bytes));
    pinned_bytes = 2 * bytes;
  }
  *(void **)memory = pinned_memory;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Pins host memory for copies to the device. Pinned memory crosses the bus three to eight times as fast, and pinning costs less than one copy of
   unpinned memory. */
PetscErrorCode MatAIJDevicePin(const void *memory, size_t bytes, PetscBool *pinned)
{
  PetscFunctionBegin;
  *pinned = (PetscBool)(bytes >= (size_t)4 << 20 && cudaHostRegister((void *)memory, bytes, cudaHostRegisterDefault) == cudaSuccess);
  if (!*pinned) (void)cudaGetLastError();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAIJDeviceUnpin(const void *memory, PetscBool pinned)
{
  PetscFunctionBegin;
  if (pinned && cudaHostUnregister((void *)memory) != cudaSuccess) (void)cudaGetLastError();
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  PetscInt    *i, *j;
  PetscScalar *a;
} MatAIJArrays;

static PetscErrorCode MatAIJArraysDestroy(PetscAMBCtxArgument arg)
{
  MatAIJArrays *arrays = (MatAIJArrays *)PetscAMBCtxGet(arg);

  PetscFunctionBegin;
  PetscCall(PetscFree(arrays->i));
  PetscCall(PetscFree(arrays->j));
  PetscCall(PetscFree(arrays->a));
  PetscCall(PetscFree(arrays));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A container that is destroyed with A */
static PetscErrorCode MatAIJOwnArrays(Mat A, PetscInt i[], PetscInt j[], PetscScalar a[])
{
  MatAIJArrays *arrays;

  PetscFunctionBegin;
  PetscCall(PetscNew(&arrays));
  *arrays = (MatAIJArrays){i, j, a};
  PetscCall(PetscAMBObjectContainerCompose((PetscObject)A, "MatAIJArrays", arrays, MatAIJArraysDestroy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAIJDeviceCreateWithArrays(PetscInt m, PetscInt n, PetscInt i[], PetscInt j[], PetscScalar a[], PetscBool own, Mat *A)
{
  PetscOptions   options;
  PetscErrorCode raised;

  PetscFunctionBegin;
  PetscCall(PetscOptionsCreate(&options));
  PetscCall(PetscOptionsSetValue(options, "-mat_no_inode", "true"));
  PetscCall(PetscOptionsPush(options));
  raised = MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, m, n, i, j, a, A);
  PetscCall(PetscOptionsPop());
  PetscCall(PetscOptionsDestroy(&options));
  PetscCall(raised);
  if (own) PetscCall(MatAIJOwnArrays(*A, i, j, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt pattern_id = -1; /* id of data composed with a matrix: 1 + the nonzero state of the pattern on the device */

static PetscErrorCode MatAIJSetDevicePattern(Mat A)
{
  PetscFunctionBegin;
  if (pattern_id < 0) PetscCall(PetscObjectComposedDataRegister(&pattern_id));
  PetscCall(PetscObjectComposedDataSetInt((PetscObject)A, pattern_id, (PetscInt)(A->nonzerostate + 1)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns PETSC_TRUE if the device has another pattern. PetscObjectComposedDataGetInt() is bound to the matrix's current state, which new values
   change. */
static PetscBool MatAIJDevicePatternIsOld(Mat A)
{
  const PetscObject object = (PetscObject)A;

  if (pattern_id < 0 || object->int_idmax <= pattern_id || !object->intcomposeddata[pattern_id]) return PETSC_FALSE;
  return (PetscBool)(object->intcomposeddata[pattern_id] != (PetscInt)(A->nonzerostate + 1));
}

/* As before its own products, PETSc copies values that are newer on the host, and the pattern if the device lacks it; it never copies from the device
   to the host. The host's arrays are pinned for the copy. */
PetscErrorCode MatAIJDeviceGetCSR(Mat A, SysCSR *csr, SysStream *stream)
{
  const PetscBool new_values  = (PetscBool)(A->offloadmask == PETSC_OFFLOAD_UNALLOCATED || A->offloadmask == PETSC_OFFLOAD_CPU);
  const PetscBool new_pattern = (PetscBool)(A->offloadmask == PETSC_OFFLOAD_UNALLOCATED || (new_values && MatAIJDevicePatternIsOld(A)));
  PetscBool       pinned[3]   = {PETSC_FALSE, PETSC_FALSE, PETSC_FALSE};
  const PetscInt *i, *j = NULL;
  PetscScalar    *a = NULL;
  PetscInt        m;
  PetscBool       done;

  PetscFunctionBegin;
  *stream = PetscDefaultCudaStream; /* AIJCUSPARSE uses this stream too */
  if (MatAIJIsDeferred(A)) {
    SysCSR device;

    PetscCall((*MatAIJDeferredFunctions->getdevice)(A, &device));
    csr->i = device.i;
    csr->j = device.j;
    csr->a = device.a;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (new_values) {
    PetscCall((*MatAIJBaseSeq.getrowij)(A, 0, PETSC_FALSE, PETSC_FALSE, &m, &i, &j, &done));
    PetscCall(MatSeqAIJGetArrayRead(A, (const PetscScalar **)&a));
    if (new_pattern) {
      PetscCall(MatAIJDevicePin(i, (m + 1) * sizeof(*i), &pinned[0]));
      PetscCall(MatAIJDevicePin(j, i[m] * sizeof(*j), &pinned[1]));
    }
    PetscCall(MatAIJDevicePin(a, i[m] * sizeof(*a), &pinned[2]));
  }
  PetscCall(MatSeqAIJCUSPARSEGetIJ(A, PETSC_FALSE, &csr->i, &csr->j));
  PetscCall(MatSeqAIJCUSPARSEGetArrayRead(A, &csr->a));
  if (new_values) {
    PetscCall(MatAIJSetDevicePattern(A));
    PetscCall(MatAIJDeviceUnpin(i, pinned[0]));
    PetscCall(MatAIJDeviceUnpin(j, pinned[1]));
    PetscCall(MatAIJDeviceUnpin(a, pinned[2]));
    PetscCall(MatSeqAIJRestoreArrayRead(A, (const PetscScalar **)&a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAIJDeviceGetArrays(Mat A, SysCSR *csr)
{
  SysCSR    device = {0}, host;
  SysStream stream;

  PetscFunctionBegin;
  PetscCall(MatAIJGetSizes(A, &host));
  if (host.nz) PetscCall(MatAIJDeviceGetCSR(A, &device, &stream));
  *csr    = device;
  csr->m  = host.m;
  csr->n  = host.n;
  csr->nz = host.nz;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAIJDeviceGetWrite(Mat A, const int **i, const int **j, PetscScalar **a)
{
  SysCSR csr;

  PetscFunctionBegin;
  if (MatAIJIsDeferred(A)) {
    PetscCall((*MatAIJDeferredFunctions->getdevice)(A, &csr));
    *i = csr.i;
    *j = csr.j;
    *a = (PetscScalar *)csr.a;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatSeqAIJCUSPARSEGetIJ(A, PETSC_FALSE, i, j));
  PetscCall(MatSeqAIJCUSPARSEGetArrayWrite(A, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAIJDeviceRestoreWrite(Mat A, PetscScalar **a)
{
  PetscFunctionBegin;
  if (MatAIJIsDeferred(A)) PetscCall(PetscObjectStateIncrease((PetscObject)A));
  else PetscCall(MatSeqAIJCUSPARSERestoreArrayWrite(A, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAIJDeviceUpload(Mat A)
{
  const PetscInt *columns;
  Mat             blocks[2];
  PetscBool       bound;
  SysCSR          csr;

  PetscFunctionBegin;
  PetscCall(MatBoundToCPU(A, &bound));
  if (!MatAIJIsCUSPARSE(A) || bound) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatAIJGetBlocks(A, blocks, &columns));
  for (int k = 0; k < 2; k++) {
    if (blocks[k]) PetscCall(MatAIJDeviceGetArrays(blocks[k], &csr));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
