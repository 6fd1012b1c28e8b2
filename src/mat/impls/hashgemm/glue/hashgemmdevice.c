/* SPDX-License-Identifier: BSD-2-Clause */
/*
   hashgemm products of AIJCUSPARSE matrices through spgemmcuda.h.

   A new result is computed in temporary memory: AIJCUSPARSE has no arrays before the host has the pattern. A second stream works on the pattern, and copies
   it to the host, while the device computes the values. AIJCUSPARSE copies the pattern back, and the values are copied on the device. New values in the same
   pattern are computed in place, and nothing crosses the bus.
*/
#include "mat/impls/hashgemm/glue/hashgemm.h"

#include "sys/sysmemory.h"
#include "sys/systhreads.h"
#include "mat/impls/hashgemm/glue/hashgemmdevice.h"

#define HASHGEMM_DEFER_ROWS 2000 /* rows of a level on each process from which on it stays on the device */
#define HASHGEMM_LONG_ROWS  16   /* mean entries of a row from which on a second matrix for the pattern costs less than a useless copy of the values */

/* Shared by all products of the process; created by the first */
SpgemmDeviceContext *HashGEMMDeviceContext = NULL;
static cudaStream_t  hashgemm_pattern; /* for work on patterns, while PETSc's stream computes values */
static cudaEvent_t   hashgemm_made;    /* recorded when the pattern is complete */
static cudaEvent_t   hashgemm_joined;  /* recorded when the stream of patterns has no more work */

static PetscErrorCode HashGEMMDeviceFinalize(void)
{
  PetscFunctionBegin;
  SpgemmDeviceContextDestroy(&HashGEMMDeviceContext);
  PetscCallCUDA(cudaEventDestroy(hashgemm_made));
  PetscCallCUDA(cudaEventDestroy(hashgemm_joined));
  PetscCallCUDA(cudaStreamDestroy(hashgemm_pattern));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HashGEMMDeviceCheck(SysStatus status, PetscBool *done)
{
  PetscFunctionBegin;
  PetscCheck(status != SYS_ERROR, PETSC_COMM_SELF, PETSC_ERR_GPU, "A matrix product on the GPU failed in %s", SysDeviceErrorText());
  *done = (PetscBool)(status == SYS_SUCCESS);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HashGEMMDeviceStart(PetscBool *done)
{
  int least, greatest;

  PetscFunctionBegin;
  *done = PETSC_TRUE;
  if (HashGEMMDeviceContext) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HashGEMMDeviceCheck(SpgemmDeviceContextCreate(&HashGEMMDeviceContext), done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  PetscCallCUDA(cudaStreamCreateWithPriority(&hashgemm_pattern, cudaStreamNonBlocking, greatest)); /* its kernels are short, and the host waits for them */
  PetscCallCUDA(cudaEventCreateWithFlags(&hashgemm_made, cudaEventDisableTiming));
  PetscCallCUDA(cudaEventCreateWithFlags(&hashgemm_joined, cudaEventDisableTiming));
  PetscCall(PetscRegisterFinalize(HashGEMMDeviceFinalize));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HashGEMMDeviceTell(Mat C, const SpgemmInfo *info)
{
  PetscFunctionBegin;
  PetscCall(PetscLogGpuFlops(2 * info->products));
  PetscCall(PetscInfo(C, "%s: %.0f multiplications, %.0f nonzeros, on the GPU; rows empty %.0f, copied %.0f, by words %.0f, by windows %.0f, sorted %.0f, by esc %.0f, for comparison by heap %.0f, by merge %.0f, by hash %.0f; values in lines %.0f; bytes kept for new values %.0f, at most in use besides the result %.0f\n",
                      MatProductTypes[C->product->type], info->products, info->nonzeros, info->rows[SPGEMM_ROWS_EMPTY], info->rows[SPGEMM_ROWS_COPIED], info->rows[SPGEMM_ROWS_WORDS], info->rows[SPGEMM_ROWS_WINDOW], info->rows[SPGEMM_ROWS_SORT], info->rows[SPGEMM_ROWS_ESC],
                      info->rows[SPGEMM_ROWS_HEAP], info->rows[SPGEMM_ROWS_MERGE], info->rows[SPGEMM_ROWS_HASH], info->lines, info->bytes_kept, info->bytes_peak));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- the stream of patterns ------------------------------------------------- */

/* Gets the stream of patterns, which waits for the pattern of the last HashGEMMDeviceMake() and for no later work */
PetscErrorCode HashGEMMDeviceGetPatternStream(SysStream *stream)
{
  PetscFunctionBegin;
  PetscCallCUDA(cudaStreamWaitEvent(hashgemm_pattern, hashgemm_made, 0));
  *stream = hashgemm_pattern;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's stream waits for the stream of patterns */
PetscErrorCode HashGEMMDeviceJoinPatternStream(void)
{
  PetscFunctionBegin;
  PetscCallCUDA(cudaEventRecord(hashgemm_joined, hashgemm_pattern));
  PetscCallCUDA(cudaStreamWaitEvent(PetscDefaultCudaStream, hashgemm_joined, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- bus ------------------------------------------------- */

/* Copies to new host memory, whose pages do not exist yet. The copy starts when the device has recorded the event. */
static PetscErrorCode HashGEMMDeviceFetchPinned(void *host, const void *device, size_t bytes, PetscBool *pinned)
{
  SysStream stream;

  PetscFunctionBegin;
  SysAdvise(host, bytes);
  HashGEMMTouch(host, bytes, SysThreads());
  PetscCall(MatAIJDevicePin(host, bytes, pinned));
  PetscCall(HashGEMMDeviceGetPatternStream(&stream));
  PetscCallCUDA(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscCall(PetscLogGpuToCpu(bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HashGEMMDeviceFetch(void *host, const void *device, size_t bytes)
{
  PetscBool pinned;

  PetscFunctionBegin;
  PetscCall(HashGEMMDeviceFetchPinned(host, device, bytes, &pinned));
  PetscCall(MatAIJDeviceUnpin(host, pinned));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HashGEMMDeviceGetCSR(Mat A, SysCSR *csr)
{
  MatShadowCSR arrays;
  SysCSR       host;

  PetscFunctionBegin;
  PetscCall(MatAIJGetSizes(A, &host));
  PetscCall(MatAIJDeviceGetCSR(A, &arrays.A, &arrays.stream));
  *csr    = arrays.A;
  csr->m  = host.m;
  csr->n  = host.n;
  csr->nz = host.nz;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets A's arrays on the device for writing values. AIJCUSPARSE would create them from the host's and copy the values as well: meaningless there, and
   twice the pattern's bytes. It copies no values of a matrix without values on the host, so such a matrix borrows A's pattern and creates the arrays,
   which then move to A. */
PetscErrorCode HashGEMMDeviceGetArrays(Mat A, const int **i, const int **j, PetscScalar **a)
{
  SysCSR csr;

  PetscFunctionBegin;
  PetscCall(MatAIJGetPattern(A, &csr));
  if (A->offloadmask != PETSC_OFFLOAD_GPU && A->offloadmask != PETSC_OFFLOAD_BOTH && csr.i[csr.m] > HASHGEMM_LONG_ROWS * csr.m) {
    void *arrays = A->spptr;
    Mat   maker;

    PetscCall(MatAIJDeviceCreateWithArrays(A->rmap->n, A->cmap->n, (PetscInt *)csr.i, (PetscInt *)csr.j, NULL, PETSC_FALSE, &maker));
    PetscCall(MatConvert(maker, MATSEQAIJCUSPARSE, MAT_INPLACE_MATRIX, &maker));
    maker->nonzerostate = A->nonzerostate; /* AIJCUSPARSE identifies the arrays' pattern by this state */
    PetscCall(MatSeqAIJCUSPARSEGetIJ(maker, PETSC_FALSE, i, j));
    A->spptr     = maker->spptr;
    maker->spptr = arrays;
    PetscCall(MatDestroy(&maker));
    PetscCall(MatAIJCUSPARSESetCPUSolve(A)); /* the flag is stored with the arrays */
  } else PetscCall(MatSeqAIJCUSPARSEGetIJ(A, PETSC_FALSE, i, j));
  PetscCall(MatSeqAIJCUSPARSEGetArrayWrite(A, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets *enough if memory suffices for AIJCUSPARSE's arrays; otherwise AIJCUSPARSE would raise an error of CUDA */
PetscErrorCode HashGEMMDeviceRoom(Mat C, PetscBool *enough)
{
  SysCSR csr;
  double bytes;
  size_t available, total;

  PetscFunctionBegin;
  *enough = PETSC_TRUE;
  if (C->offloadmask == PETSC_OFFLOAD_GPU || C->offloadmask == PETSC_OFFLOAD_BOTH) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatAIJGetPattern(C, &csr));
  bytes = (64 << 20) + csr.m * (double)sizeof(PetscInt) + csr.i[csr.m] * (double)(sizeof(PetscInt) + sizeof(PetscScalar)); /* including gaps between arrays */
  PetscCallCUDA(cudaMemGetInfo(&available, &total));
  if ((double)available < bytes + (double)total / 8 && HashGEMMDeviceContext) {
    SysPoolTrim();
    PetscCallCUDA(cudaMemGetInfo(&available, &total));
  }
  *enough = (PetscBool)((double)available >= bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- a new product ------------------------------------------------- */

/* Counts, and queues all work on the device; sets rows->a = NULL if only the values lack memory */
PetscErrorCode HashGEMMDeviceMake(SpgemmType type, SpgemmAccumulator accumulator, const SysCSR factor[], SpgemmDevice **spgemm, SpgemmInfo *info, HashGEMMRows *rows, SysStatus *status)
{
  const SysStream stream = PetscDefaultCudaStream;

  PetscFunctionBegin;
  SpgemmSize(type, &factor[0], &factor[1], &factor[2], &rows->m, &rows->n);
  *status  = SpgemmDeviceCreate(HashGEMMDeviceContext, type, accumulator, &factor[0], &factor[1], &factor[2], stream, spgemm, info);
  rows->nz = (int64_t)info->nonzeros;
  if (*status || !rows->nz) PetscFunctionReturn(PETSC_SUCCESS);
  info->bytes_asked = (double)rows->nz * sizeof(*rows->j);
  *status           = SysPoolAllocate((rows->m + 1) * sizeof(*rows->i), &rows->i, stream);
  if (!*status) *status = SysPoolAllocate(rows->nz * sizeof(*rows->j), &rows->j, stream);
  if (!*status) *status = SpgemmDeviceFill(*spgemm, &factor[0], &factor[1], &factor[2], rows->i, rows->j, NULL, stream);
  if (*status) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaEventRecord(hashgemm_made, stream));
  if (SysPoolAllocate(rows->nz * sizeof(*rows->a), &rows->a, stream)) rows->a = NULL;
  else *status = SpgemmDeviceFirstValues(*spgemm, &factor[0], &factor[1], &factor[2], rows->i, rows->j, rows->a, stream);
  SpgemmDeviceGetInfo(*spgemm, info);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HashGEMMDeviceLook(int n, Mat const block[], uint64_t fingerprint[], int ascending[], PetscBool *done)
{
  SysCSR csr[HASHGEMM_FINGERPRINTS];

  PetscFunctionBegin;
  PetscCall(HashGEMMDeviceStart(done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0; k < n; k++) PetscCall(HashGEMMDeviceGetCSR(block[k], &csr[k]));
  PetscCall(HashGEMMDeviceCheck(HashGEMMDeviceFingerprints(n, csr, PetscDefaultCudaStream, fingerprint, ascending), done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets *defers if a new product with so many rows on each process may stay on the device: the operator of a coarse level whose interpolation is there only. Its smoother,
   its products and the next level need no AIJ. Small levels are factored, and cost little. */
PetscErrorCode HashGEMMDeviceDefers(Mat C, const HashGEMMProduct *p, PetscInt rows, PetscBool *defers)
{
  PetscFunctionBegin;
  *defers = (PetscBool)(C->product->type == MATPRODUCT_PtAP && MatAIJIsDeferred(C->product->B) && MatShadowIsOurs(C->product->A) && !p->result.id && rows >= HASHGEMM_DEFER_ROWS);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Moves the result to C if C may stay on the device */
static PetscErrorCode HashGEMMDeviceDefer(Mat C, const HashGEMMProduct *p, HashGEMMRows *rows, PetscBool *done)
{
  SysCSR csr = HashGEMMRowsCSR(rows);

  PetscFunctionBegin;
  PetscCall(HashGEMMDeviceDefers(C, p, (PetscInt)rows->m, done));
  *done = (PetscBool)(*done && rows->a);
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HashGEMMInherit(C, p, (PetscInt)rows->m, (PetscInt)rows->n, (PetscInt)rows->m, (PetscInt)rows->n));
  PetscCall(MatAIJDeferNew(C, &csr, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  rows->i = rows->j = NULL;
  rows->a           = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates C from the result; sets *done = PETSC_FALSE if the device lacks memory for C */
static PetscErrorCode HashGEMMDeviceAssemble(Mat C, const HashGEMMProduct *p, const SysCSR factor[], HashGEMMRows *rows, PetscBool *done)
{
  const SysStream stream = PetscDefaultCudaStream;
  PetscInt       *starts;
  const int      *i, *j;
  PetscScalar    *a;
  SysCSR          csr;
  PetscBool       pinned;

  PetscFunctionBegin;
  PetscCall(HashGEMMDeviceDefer(C, p, rows, done));
  if (*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(rows->m + 1, &starts));
  PetscCall(HashGEMMDeviceFetch(starts, rows->i, (rows->m + 1) * sizeof(*starts)));
  PetscCall(HashGEMMPreallocate(C, p, rows->m, rows->n, starts));
  PetscCall(PetscFree(starts));
  PetscCall(MatAIJGetPattern(C, &csr));
  PetscCall(HashGEMMDeviceFetchPinned((void *)csr.j, rows->j, rows->nz * sizeof(*csr.j), &pinned));
  PetscCall(MatSeqAIJSetColumnIndices(C, (PetscInt *)csr.j)); /* the columns are in place: the call sets the rows' lengths */
  PetscCall(MatSeqAIJGetArrayWrite(C, &a));                   /* the device's values belong to another pattern */
  SysAdvise(a, rows->nz * sizeof(*a));
  PetscCall(MatSeqAIJRestoreArrayWrite(C, &a));
  PetscCall(MatAssemblyBegin(C, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(C, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetOption(C, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
  PetscCall(HashGEMMDeviceRoom(C, done));
  if (*done) {
    PetscCall(HashGEMMDeviceGetArrays(C, &i, &j, &a));
    if (rows->a) PetscCallCUDA(cudaMemcpyAsync(a, rows->a, rows->nz * sizeof(*a), cudaMemcpyDeviceToDevice, stream));
    else PetscCall(HashGEMMDeviceCheck(SpgemmDeviceRevalue(p->device, &factor[0], &factor[1], &factor[2], i, j, a, stream), done));
    PetscCall(MatSeqAIJCUSPARSERestoreArrayWrite(C, &a));
  }
  PetscCall(MatAIJDeviceUnpin(csr.j, pinned));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets *supported if the device can compute this product on one process: all operands are on the device and have entries */
static PetscErrorCode HashGEMMDeviceSupports(Mat C, const HashGEMMProduct *p, PetscBool *supported)
{
  Mat operand[3];

  PetscFunctionBegin;
  MatProductGetOperands(C, operand);
  *supported = (PetscBool)(!p->result.id || MatAIJValuesOnDevice(C));
  for (int k = 0; k < 3 && operand[k] && *supported; k++) {
    SysCSR csr;

    PetscCall(MatAIJGetSizes(operand[k], &csr));
    *supported = (PetscBool)(MatAIJValuesOnDevice(operand[k]) && csr.nz);
  }
  if (*supported) PetscCall(HashGEMMDeviceStart(supported));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HashGEMMDeviceSymbolic(Mat C, SpgemmType type, HashGEMMProduct *p, PetscBool *done)
{
  const SysStream stream = PetscDefaultCudaStream;
  SysCSR          factor[3];
  HashGEMMRows    rows = {0};
  SpgemmInfo      info;
  SysStatus       status;

  PetscFunctionBegin;
  PetscCall(HashGEMMDeviceSupports(C, p, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HashGEMMGetFactors(C, HashGEMMDeviceGetCSR, factor));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(HashGEMMDeviceMake(type, p->options.accumulator, factor, &p->device, &info, &rows, &status));
  PetscCall(PetscLogGpuTimeEnd());
  if (status == SYS_TOO_LARGE) PetscCall(HashGEMMCheck(PETSC_COMM_SELF, status, info.nonzeros, 0, 0));
  PetscCall(HashGEMMDeviceCheck(status, done));
  if (*done && rows.nz) PetscCall(HashGEMMDeviceAssemble(C, p, factor, &rows, done));
  SysPoolRelease(rows.i, stream);
  SysPoolRelease(rows.j, stream);
  SysPoolRelease(rows.a, stream);
  if (*done) PetscCall(HashGEMMDeviceTell(C, &info));
  else PetscCall(PetscInfo(C, "Not enough memory on the GPU for a product (%.0f nonzeros counted, %.0f bytes requested): it runs on the host\n", info.nonzeros, info.bytes_asked));
  if (*done && rows.nz) PetscFunctionReturn(PETSC_SUCCESS);
  *done = PETSC_FALSE;
  SpgemmDeviceDestroy(&p->device, stream);
  SysPoolTrim();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Binds a result of the host to the host if the GPU lacks memory for it; its first use on the GPU would raise an error of CUDA */
PetscErrorCode HashGEMMDeviceSettle(Mat C)
{
  PetscBool enough = PETSC_TRUE;

  PetscFunctionBegin;
  if (MatAIJValuesOnDevice(C)) PetscCall(HashGEMMDeviceRoom(C, &enough));
  if (enough) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatBindToCPU(C, PETSC_TRUE));
  PetscCall(PetscInfo(C, "The GPU has no room for the result, which is kept on the host; MatBindToCPU() with PETSC_FALSE lets it go there\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Converts W to a device matrix without a shadow if C is one, bound to the host if C is */
PetscErrorCode HashGEMMDeviceConvert(Mat C, Mat W)
{
  const MatShadowFormat *format;

  PetscFunctionBegin;
  if (!MatAIJIsCUSPARSE(C)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowGetFormat(W, &format));
  if (!MatAIJIsCUSPARSE(W)) PetscCall(MatShadowDeviceConvert(W));
  else if (format) PetscCall(MatShadowDetach(W)); /* the blocks get the format of C */
  if (C->boundtocpu) PetscCall(MatBindToCPU(W, PETSC_TRUE));
  C->offloadmask = W->offloadmask;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- new values ------------------------------------------------- */

PetscErrorCode HashGEMMDeviceNumeric(Mat C, HashGEMMProduct *p)
{
  SysCSR       factor[3];
  SpgemmInfo   info;
  const int   *i, *j;
  PetscScalar *a;
  PetscBool    done;

  PetscFunctionBegin;
  PetscCall(HashGEMMGetFactors(C, HashGEMMDeviceGetCSR, factor));
  PetscCall(MatAIJDeviceGetWrite(C, &i, &j, &a));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(HashGEMMDeviceCheck(SpgemmDeviceRevalue(p->device, &factor[0], &factor[1], &factor[2], i, j, a, PetscDefaultCudaStream), &done));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(MatAIJDeviceRestoreWrite(C, &a));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_MEM, "Not enough memory on the GPU for new values of a matrix product: %s", SysDeviceErrorText());
  SpgemmDeviceGetInfo(p->device, &info);
  PetscCall(PetscLogGpuFlops(2 * info.products));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HashGEMMDeviceDestroy(HashGEMMProduct *p)
{
  PetscFunctionBegin;
  if (HashGEMMDeviceContext) SpgemmDeviceDestroy(&p->device, PetscDefaultCudaStream);
  PetscFunctionReturn(PETSC_SUCCESS);
}
