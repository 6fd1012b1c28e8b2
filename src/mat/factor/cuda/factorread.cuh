/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Numbers that threads of one kernel write and read: a number that is not there yet has all bits set, which is a NaN; a result never has these bits
*/
#pragma once

#include "sys/syscuda.cuh"

#define FACTOR_THREADS 128 /* threads of a thread block */
#define FACTOR_BLOCKS  4   /* thread blocks of a multiprocessor for a solve: more of them only wait and read */
#define FACTOR_MORE    6   /* the same for triangles whose tiles are so many that numbers come from memory */

#if defined(SYS_SINGLE)
  #define FACTOR_MISSING      __int_as_float(-1)
  #define FactorIsMissing(x)  (__float_as_int(x) == -1)
  #define FACTOR_NOT_A_NUMBER __int_as_float(0x7fffffff)
#else
  #define FACTOR_MISSING      __longlong_as_double(-1LL)
  #define FactorIsMissing(x)  (__double_as_longlong(x) == -1LL)
  #define FACTOR_NOT_A_NUMBER __longlong_as_double(0x7fffffffffffffffLL)
#endif

/* Past the L1 cache, each in one piece */
static __device__ __forceinline__ SysScalar FactorRead(const SysScalar *p)
{
  SysScalar x;

#if defined(SYS_SINGLE)
  asm volatile("ld.relaxed.gpu.global.f32 %0, [%1];" : "=f"(x) : "l"(p));
#else
  asm volatile("ld.relaxed.gpu.global.f64 %0, [%1];" : "=d"(x) : "l"(p));
#endif
  return x;
}

static __device__ __forceinline__ int FactorReadInteger(const int *p)
{
  int x;

  asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(x) : "l"(p));
  return x;
}

static __device__ __forceinline__ void FactorStore(SysScalar *p, SysScalar x)
{
#if defined(SYS_SINGLE)
  asm volatile("st.relaxed.gpu.global.f32 [%0], %1;" : : "l"(p), "f"(x));
#else
  asm volatile("st.relaxed.gpu.global.f64 [%0], %1;" : : "l"(p), "d"(x));
#endif
}

static __device__ __forceinline__ void FactorStoreInteger(int *p, int x)
{
  asm volatile("st.relaxed.gpu.global.s32 [%0], %1;" : : "l"(p), "r"(x));
}

static __device__ __forceinline__ void FactorWrite(SysScalar *p, SysScalar x)
{
  FactorStore(p, FactorIsMissing(x) ? FACTOR_NOT_A_NUMBER : x);
}

/* Takes the next number for this warp; all lanes get the answer by a shuffle from lane 0 */
static __device__ __forceinline__ unsigned FactorTake(unsigned *ticket, int lane)
{
  return lane == 0 ? atomicAdd(ticket, 1u) : 0;
}
