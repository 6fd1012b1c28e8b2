/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The kernels of sparse products for processors with AVX2
*/
#define SYS_ISA AVX2

#if defined(__clang__)
  #pragma clang attribute push(__attribute__((target("bmi,bmi2,popcnt"))), apply_to = function)
#else
  #pragma GCC target("bmi,bmi2,popcnt")
#endif
#include <immintrin.h>

#include "mat/impls/hashgemm/host/spgemmimpl.h"

#if defined(SYS_INT64)
  #define SPGEMM_KEYS 4
#else
  #define SPGEMM_KEYS 8
#endif

static SYS_INLINE unsigned KeyMask(const SysInt *keys, SysInt key)
{
  const __m256i k = _mm256_load_si256((const __m256i *)keys);

#if defined(SYS_INT64)
  return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(k, _mm256_set1_epi64x(key))));
#else
  return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(k, _mm256_set1_epi32(key))));
#endif
}

static SYS_INLINE uint64_t Flags(uint8_t *flag)
{
  const __m256i zero = _mm256_setzero_si256(), a = _mm256_loadu_si256((const __m256i *)flag), b = _mm256_loadu_si256((const __m256i *)(flag + 32));

  _mm256_storeu_si256((__m256i *)flag, zero);
  _mm256_storeu_si256((__m256i *)(flag + 32), zero);
  return (uint32_t)_mm256_movemask_epi8(_mm256_cmpgt_epi8(a, zero)) | (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpgt_epi8(b, zero)) << 32;
}

static SYS_INLINE void Stream(void *to, const void *from, size_t size)
{
  for (size_t q = 0; q < size; q += 32) _mm256_stream_si256((__m256i *)((char *)to + q), _mm256_load_si256((const __m256i *)((const char *)from + q)));
}

static SYS_INLINE void StreamEnd(void)
{
  _mm_sfence();
}

#include "mat/impls/hashgemm/host/spgemmwords.h"

static int SpgemmSupportedAVX2(void)
{
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}

#include "mat/impls/hashgemm/host/spgemmkernels.h"

#if defined(__clang__)
  #pragma clang attribute pop
#endif
