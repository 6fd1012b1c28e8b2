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
  #include <cuda_runtime_api.h>

  #define FAULT_CUDA(name, allocates, parameters, arguments) \
    cudaError_t __real_##name parameters; \
    cudaError_t __wrap_##name parameters; \
    cudaError_t __wrap_##name parameters \
    { \
      if (allocates && FaultNow(FAULT_DEVICE)) return cudaErrorMemoryAllocation; \
      return FaultNow(FAULT_LOST) ? cudaErrorLaunchFailure : __real_##name arguments; \
    }

FAULT_CUDA(cudaMalloc, 1, (void **p, size_t size), (p, size))
FAULT_CUDA(cudaMallocFromPoolAsync, 1, (void **p, size_t size, cudaMemPool_t pool, cudaStream_t stream), (p, size, pool, stream))
FAULT_CUDA(cudaMallocHost, 1, (void **p, size_t size), (p, size))
FAULT_CUDA(cudaHostAlloc, 1, (void **p, size_t size, unsigned flags), (p, size, flags))
FAULT_CUDA(cudaHostRegister, 1, (void *p, size_t size, unsigned flags), (p, size, flags))
FAULT_CUDA(cudaMemcpy, 0, (void *to, const void *from, size_t size, enum cudaMemcpyKind kind), (to, from, size, kind))
FAULT_CUDA(cudaMemcpyAsync, 0, (void *to, const void *from, size_t size, enum cudaMemcpyKind kind, cudaStream_t stream), (to, from, size, kind, stream))
FAULT_CUDA(cudaMemsetAsync, 0, (void *p, int value, size_t size, cudaStream_t stream), (p, value, size, stream))
FAULT_CUDA(cudaLaunchKernelExC, 0, (const cudaLaunchConfig_t *config, const void *kernel, void **arguments), (config, kernel, arguments))
FAULT_CUDA(cudaGraphLaunch, 0, (cudaGraphExec_t graph, cudaStream_t stream), (graph, stream))
FAULT_CUDA(cudaStreamSynchronize, 0, (cudaStream_t stream), (stream))
FAULT_CUDA(cudaEventSynchronize, 0, (cudaEvent_t event), (event))
#endif

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
