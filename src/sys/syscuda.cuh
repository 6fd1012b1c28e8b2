/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Declarations for all CUDA kernels: checks of calls, warps, launches, arrays that share an allocation
*/
#pragma once

#include <cuda_runtime.h>
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  #error petsc-amb needs a GPU of compute capability 8.0 or newer: build PETSc for it, or keep matrices on the host with -mat_shadow_device cpu
#endif

#include "sys/syscuda.h"

#define SYS_WARP      32
#define SYS_ALL_LANES 0xffffffffu
#define SYS_THREADS   256 /* threads of a thread block, unless a kernel needs another number */

/* Set the text of SysDeviceErrorText(), for a failed CUDA call or another error */
SysStatus SysDeviceFailed(cudaError_t, const char call[]);
SysStatus SysDeviceError(const char format[], ...);
#define SYS_CUDA(call) \
  do { \
    const cudaError_t sys_error_ = (call); \
    if (sys_error_ != cudaSuccess) return SysDeviceFailed(sys_error_, #call); \
  } while (0)
#define SYS_CALL(call) \
  do { \
    const SysStatus sys_status_ = (call); \
    if (sys_status_ != SYS_SUCCESS) return sys_status_; \
  } while (0)

/* Returns the thread blocks for n elements, `each` a block */
static inline unsigned SysBlocks(int64_t n, int64_t each = SYS_THREADS)
{
  return (unsigned)((n + each - 1) / each);
}

/* The same for loops with SYS_FOR_EACH(), in which a thread handles several elements */
static inline unsigned SysBlocksLoop(int64_t n)
{
  const int64_t blocks = SysBlocks(n);

  return (unsigned)(blocks < 1 ? 1 : blocks < 65536 ? blocks : 65536);
}

/* Launches a kernel unless the grid is empty; requests shared memory beyond 48 KB */
template <typename... P, typename... Q>
static inline SysStatus SysLaunch(void (*kernel)(P...), int64_t blocks, int threads, size_t shared, cudaStream_t stream, Q... args)
{
  if (blocks < 1) return SYS_SUCCESS;
  if (shared > 48 << 10) SYS_CUDA(cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
  kernel<<<(unsigned)blocks, (unsigned)threads, shared, stream>>>(args...);
  SYS_CUDA(cudaPeekAtLastError());
  return SYS_SUCCESS;
}

#define SYS_FOR_EACH(k, n) for (int64_t k = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; k < (n); k += (int64_t)gridDim.x * blockDim.x)

/* Returns 1 if the device supports programmatic dependent launch and the library's code for it contains SysWait() */
int SysStartsEarly(void);

/* Launches a kernel that may start early and calls SysWait() itself */
template <typename... P, typename... Q>
static inline SysStatus SysLaunchEarly(void (*kernel)(P...), dim3 grid, int threads, cudaStream_t stream, bool early, Q... args)
{
  cudaLaunchConfig_t  config    = {};
  cudaLaunchAttribute attribute = {};

  attribute.id                                         = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  config.gridDim                                       = grid;
  config.blockDim                                      = dim3((unsigned)threads);
  config.stream                                        = stream;
  config.attrs                                         = &attribute;
  config.numAttrs                                      = early;
  SYS_CUDA(cudaLaunchKernelEx(&config, kernel, P(args)...));
  return SYS_SUCCESS;
}

/* In kernels that may start early: waits until the previous kernel in the stream is done and its results are visible */
static __device__ __forceinline__ void SysWait(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* Lets the next kernel in the stream start early; it waits for the end of this one in SysWait() */
static __device__ __forceinline__ void SysLaunchDependents(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* Returns the bytes of an array that shares an allocation, rounded up */
static inline size_t SysPadded(size_t bytes)
{
  return (bytes + 255) / 256 * 256;
}

/* Arrays in one allocation. Take all of them twice: the first pass computes the size. */
typedef struct {
  char  *memory;
  size_t used;
} SysArena;

template <typename T>
static inline void SysArenaTake(SysArena *arena, T **array, size_t n)
{
  *array = arena->memory ? (T *)(arena->memory + arena->used) : NULL;
  arena->used += SysPadded(n * sizeof(T));
}

static inline SysStatus SysArenaAllocate(SysArena *arena)
{
  SYS_CALL(SysDeviceAllocate(&arena->memory, arena->used ? arena->used : 1));
  arena->used = 0;
  return SYS_SUCCESS;
}

/* Memory that its destructor frees: pool memory once the work queued in its stream is done, other memory at once, which waits for the device */
struct SysScratch {
  char        *memory = NULL;
  bool         pooled = false;
  cudaStream_t stream = NULL;

  ~SysScratch()
  {
    if (pooled) SysPoolRelease(memory, stream);
    else (void)cudaFree(memory);
  }
};

/* Allocates from the pool, so that scratch memory ends without a wait */
static inline SysStatus SysScratchAllocate(SysScratch *s, size_t bytes, cudaStream_t stream)
{
  s->pooled = true;
  s->stream = stream;
  return SysPoolAllocate(bytes, &s->memory, stream);
}

/* The same for the arrays of an arena, which the caller takes once more */
static inline SysStatus SysArenaAllocateScratch(SysArena *arena, SysScratch *s, cudaStream_t stream)
{
  SYS_CALL(SysScratchAllocate(s, arena->used, stream));
  arena->memory = s->memory;
  arena->used   = 0;
  return SYS_SUCCESS;
}

/* Returns the bits of a sort key for numbers up to `most`, at most 31 */
static inline int SysBits(int64_t most)
{
  int bits = 1;

  while (bits < 31 && most >> bits) bits++;
  return bits;
}

/* Returns how many of n ascending numbers are less than v */
template <typename T, typename N>
static __device__ inline N SysCountLess(const T *a, N n, N v)
{
  N lo = 0, hi = n;

  while (lo < hi) {
    const N mid = lo + (hi - lo) / 2;

    if (a[mid] < v) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}
