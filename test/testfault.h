/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Allocations that fail, on the host or of CUDA, and a GPU that does not answer any more. The linker puts these functions in the place of those that the library calls
   (--wrap in the makefile); those of PETSc, MPI and the runtime of OpenMP remain. One source file of a program includes this file. Threads allocate too.
*/
#pragma once

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <petscsys.h>

typedef enum {
  FAULT_NOTHING,
  FAULT_HOST,   /* one allocation on the host fails */
  FAULT_DEVICE, /* one allocation of CUDA fails, on the GPU or in pinned memory */
  FAULT_LOST    /* one call of CUDA fails, and all that follow */
} Fault;

static atomic_int FaultKind = FAULT_NOTHING;
static atomic_int FaultLeft = 0; /* calls up to the one that fails */

void *__wrap_malloc(size_t);
void *__real_malloc(size_t);
void *__wrap_calloc(size_t, size_t);
void *__real_calloc(size_t, size_t);
void *__wrap_realloc(void *, size_t);
void *__real_realloc(void *, size_t);
int   __wrap_posix_memalign(void **, size_t, size_t);
int   __real_posix_memalign(void **, size_t, size_t);
void *__wrap_mmap(void *, size_t, int, int, int, off_t);
void *__real_mmap(void *, size_t, int, int, int, off_t);

static inline int FaultNow(Fault kind)
{
  int left;

  if (atomic_load(&FaultKind) != (int)kind) return 0;
  left = atomic_fetch_sub(&FaultLeft, 1);
  return kind == FAULT_LOST ? left <= 1 : left == 1;
}

void *__wrap_malloc(size_t size)
{
  return FaultNow(FAULT_HOST) ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
  return FaultNow(FAULT_HOST) ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
  return FaultNow(FAULT_HOST) ? NULL : __real_realloc(p, size);
}

int __wrap_posix_memalign(void **p, size_t align, size_t size)
{
  return FaultNow(FAULT_HOST) ? ENOMEM : __real_posix_memalign(p, align, size);
}

void *__wrap_mmap(void *p, size_t size, int protection, int flags, int fd, off_t offset)
{
  return FaultNow(FAULT_HOST) ? MAP_FAILED : __real_mmap(p, size, protection, flags, fd, offset);
}

#if defined(PETSC_HAVE_CUDA)
  #include <cublas_v2.h>
  #include <cuda_runtime_api.h>
  #include <cusparse.h>

  #define FAULT_CALL(type, name, allocates, short_, lost, parameters, arguments) \
    type __real_##name parameters; \
    type __wrap_##name parameters; \
    type __wrap_##name parameters \
    { \
      if (allocates && FaultNow(FAULT_DEVICE)) return short_; \
      return FaultNow(FAULT_LOST) ? lost : __real_##name arguments; \
    }
  /* what waits for the GPU waits before it says that the GPU is lost: here kernels go on running */
  #define FAULT_WAIT(name, parameters, arguments) \
    cudaError_t __real_##name parameters; \
    cudaError_t __wrap_##name parameters; \
    cudaError_t __wrap_##name parameters \
    { \
      const cudaError_t error = __real_##name arguments; \
      return FaultNow(FAULT_LOST) ? cudaErrorLaunchFailure : error; \
    }
  #define FAULT_CUDA(name, allocates, parameters, arguments) FAULT_CALL(cudaError_t, name, allocates, cudaErrorMemoryAllocation, cudaErrorLaunchFailure, parameters, arguments)

FAULT_CUDA(cudaMalloc, 1, (void **p, size_t size), (p, size))
FAULT_CUDA(cudaMallocFromPoolAsync, 1, (void **p, size_t size, cudaMemPool_t pool, cudaStream_t stream), (p, size, pool, stream))
FAULT_CUDA(cudaMemPoolCreate, 1, (cudaMemPool_t * pool, const struct cudaMemPoolProps *properties), (pool, properties))
FAULT_CUDA(cudaMallocHost, 1, (void **p, size_t size), (p, size))
FAULT_CUDA(cudaHostAlloc, 1, (void **p, size_t size, unsigned flags), (p, size, flags))
FAULT_CUDA(cudaHostRegister, 1, (void *p, size_t size, unsigned flags), (p, size, flags))
FAULT_CUDA(cudaStreamCreateWithFlags, 1, (cudaStream_t * stream, unsigned flags), (stream, flags))
FAULT_CUDA(cudaStreamCreateWithPriority, 1, (cudaStream_t * stream, unsigned flags, int priority), (stream, flags, priority))
FAULT_CUDA(cudaEventCreate, 1, (cudaEvent_t * event), (event))
FAULT_CUDA(cudaEventCreateWithFlags, 1, (cudaEvent_t * event, unsigned flags), (event, flags))
  #if CUDART_VERSION >= 12000
FAULT_CUDA(cudaGraphInstantiate, 1, (cudaGraphExec_t * exec, cudaGraph_t graph, unsigned long long flags), (exec, graph, flags))
  #else
FAULT_CUDA(cudaGraphInstantiate, 1, (cudaGraphExec_t * exec, cudaGraph_t graph, cudaGraphNode_t *node, char *log, size_t size), (exec, graph, node, log, size))
  #endif
FAULT_CALL(cublasStatus_t, cublasCreate_v2, 1, CUBLAS_STATUS_ALLOC_FAILED, CUBLAS_STATUS_EXECUTION_FAILED, (cublasHandle_t * handle), (handle))
FAULT_CALL(cusparseStatus_t, cusparseCreate, 1, CUSPARSE_STATUS_ALLOC_FAILED, CUSPARSE_STATUS_EXECUTION_FAILED, (cusparseHandle_t * handle), (handle))
FAULT_CUDA(cudaMemcpy, 0, (void *to, const void *from, size_t size, enum cudaMemcpyKind kind), (to, from, size, kind))
FAULT_CUDA(cudaMemcpyAsync, 0, (void *to, const void *from, size_t size, enum cudaMemcpyKind kind, cudaStream_t stream), (to, from, size, kind, stream))
FAULT_CUDA(cudaMemcpy2DAsync, 0, (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream), (to, to_pitch, from, from_pitch, width, height, kind, stream))
FAULT_CUDA(cudaMemset, 0, (void *p, int value, size_t size), (p, value, size))
FAULT_CUDA(cudaMemsetAsync, 0, (void *p, int value, size_t size, cudaStream_t stream), (p, value, size, stream))
FAULT_CUDA(cudaMemset2DAsync, 0, (void *p, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream), (p, pitch, value, width, height, stream))
FAULT_CUDA(cudaFuncGetAttributes, 0, (struct cudaFuncAttributes * attributes, const void *kernel), (attributes, kernel))
FAULT_CUDA(cudaFuncSetAttribute, 0, (const void *kernel, enum cudaFuncAttribute attribute, int value), (kernel, attribute, value))
FAULT_CUDA(cudaLaunchKernelExC, 0, (const cudaLaunchConfig_t *config, const void *kernel, void **arguments), (config, kernel, arguments))
FAULT_CUDA(cudaLaunchCooperativeKernel, 0, (const void *kernel, dim3 blocks, dim3 threads, void **arguments, size_t shared, cudaStream_t stream), (kernel, blocks, threads, arguments, shared, stream))
FAULT_CUDA(cudaGraphLaunch, 0, (cudaGraphExec_t graph, cudaStream_t stream), (graph, stream))
FAULT_CUDA(cudaEventRecord, 0, (cudaEvent_t event, cudaStream_t stream), (event, stream))
FAULT_CUDA(cudaEventQuery, 0, (cudaEvent_t event), (event))
FAULT_WAIT(cudaEventSynchronize, (cudaEvent_t event), (event))
FAULT_CUDA(cudaEventElapsedTime, 0, (float *ms, cudaEvent_t begin, cudaEvent_t end), (ms, begin, end))
FAULT_CUDA(cudaStreamQuery, 0, (cudaStream_t stream), (stream))
FAULT_CUDA(cudaStreamWaitEvent, 0, (cudaStream_t stream, cudaEvent_t event, unsigned flags), (stream, event, flags))
FAULT_WAIT(cudaStreamSynchronize, (cudaStream_t stream), (stream))
FAULT_WAIT(cudaDeviceSynchronize, (void), ())
/* of a launch by <<<>>> */
FAULT_CUDA(cudaPeekAtLastError, 0, (void), ())
FAULT_CUDA(cudaGetLastError, 0, (void), ())
#endif

/* What fails, by -faults_device <memory,lost>: the memory of the host without it */
static inline PetscErrorCode FaultFromOptions(Fault *kind)
{
  const char *kinds[] = {"host", "memory", "lost"};
  PetscInt    n       = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-faults_device", kinds, PETSC_STATIC_ARRAY_LENGTH(kinds), &n, NULL));
  *kind = (Fault)(FAULT_HOST + n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* May an operation raise this error? */
static inline PetscBool FaultError(Fault kind, PetscErrorCode code)
{
  return (PetscBool)(!code || (kind != FAULT_LOST && code == PETSC_ERR_MEM) || (kind != FAULT_HOST && code == PETSC_ERR_GPU));
}

/* The failing-th call from now on fails, or none if that is FAULT_NONE */
#define FAULT_NONE 100000000
static inline void FaultBegin(Fault kind, int failing)
{
  atomic_store(&FaultLeft, failing);
  atomic_store(&FaultKind, kind);
}

/* No further call fails. Returns how many there were. */
static inline int FaultEnd(int failing)
{
  atomic_store(&FaultKind, FAULT_NOTHING);
  return failing - atomic_load(&FaultLeft);
}
