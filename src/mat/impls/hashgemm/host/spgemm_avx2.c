/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The SpGEMM kernels for processors with AVX2
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

#if !defined(SYS_COMPLEX) && !defined(SYS_SINGLE)
  #define SPGEMM_RUNS

static SYS_INLINE void TransposeFours(__m256d x[4])
{
  const __m256d y0 = _mm256_unpacklo_pd(x[0], x[1]), y1 = _mm256_unpackhi_pd(x[0], x[1]), y2 = _mm256_unpacklo_pd(x[2], x[3]), y3 = _mm256_unpackhi_pd(x[2], x[3]);

  x[0] = _mm256_permute2f128_pd(y0, y2, 0x20);
  x[1] = _mm256_permute2f128_pd(y1, y3, 0x20);
  x[2] = _mm256_permute2f128_pd(y0, y2, 0x31);
  x[3] = _mm256_permute2f128_pd(y1, y3, 0x31);
}

/* Returns a mask of the first n lanes */
static SYS_INLINE __m256i Lanes(int64_t n)
{
  return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
}

static SYS_INLINE void RunTurn(int64_t rows, int64_t n, const double *b, double (*turned)[SPGEMM_LANES])
{
  for (int64_t q = 0; q < n; q += 4) {
    const __m256i m = Lanes(n - q);

  #pragma GCC unroll 2
    for (int half = 0; half < SPGEMM_LANES; half += 4) {
      __m256d x[4];

  #pragma GCC unroll 4
      for (int l = 0; l < 4; l++) x[l] = _mm256_maskload_pd(b + (half + l < rows ? half + l : rows - 1) * n + q, m);
      TransposeFours(x);
  #pragma GCC unroll 4
      for (int l = 0; l < 4; l++) _mm256_store_pd(turned[q + l] + half, x[l]);
    }
  }
}

/* Two vectors hold the eight lanes. Consecutive entries of B add to consecutive sums, which stay in registers. */
static SYS_INLINE void RunAdd(const int some, int64_t n, double (*f)[SPGEMM_LANES], double (*turned)[SPGEMM_LANES], double (*next)[SPGEMM_LANES], const uint16_t *position, double (*sum)[SPGEMM_LANES])
{
  for (int half = 0; half < SPGEMM_LANES; half += 4) {
    const __m256d f0 = _mm256_load_pd(f[0] + half), f1 = some > 1 ? _mm256_load_pd(f[1] + half) : f0, f2 = some > 2 ? _mm256_load_pd(f[2] + half) : f0;

    for (int64_t q = 0; q < n;) {
      int64_t p  = position[q];
      __m256d s0 = _mm256_load_pd(sum[p] + half), s1 = _mm256_load_pd(sum[p + 1] + half), s2;

      do {
        const __m256d v = _mm256_load_pd(turned[q] + half), w = half ? _mm256_load_pd(next[q]) : _mm256_load_pd(turned[q] + 4), two = _mm256_permute2f128_pd(v, w, 0x21);

        s0 = _mm256_add_pd(s0, _mm256_mul_pd(f0, v));
        _mm256_store_pd(sum[p++] + half, s0);
        s2 = _mm256_load_pd(sum[p + 1] + half);
        if (some > 1) s1 = _mm256_add_pd(s1, _mm256_mul_pd(f1, _mm256_shuffle_pd(v, two, 5)));
        if (some > 2) s2 = _mm256_add_pd(s2, _mm256_mul_pd(f2, two));
        s0 = s1;
        s1 = s2;
        q++;
      } while (q < n && position[q] == p);
      if (some > 1) _mm256_store_pd(sum[p] + half, s0);
      if (some > 2) _mm256_store_pd(sum[p + 1] + half, s1);
    }
  }
}

static SYS_INLINE void RunFlush(int64_t g, int64_t n, double (*sum)[SPGEMM_LANES], double *a)
{
  for (int64_t q = 0; q < n; q += 4) {
    const __m256i m = Lanes(n - q);

  #pragma GCC unroll 2
    for (int half = 0; half < SPGEMM_LANES; half += 4) {
      __m256d x[4];

  #pragma GCC unroll 4
      for (int l = 0; l < 4; l++) {
        x[l] = _mm256_load_pd(sum[q + l] + half);
        _mm256_store_pd(sum[q + l] + half, _mm256_setzero_pd());
      }
      TransposeFours(x);
  #pragma GCC unroll 4
      for (int l = 0; l < 4; l++) {
        if (half + l < g) _mm256_maskstore_pd(a + (half + l) * n + q, m, x[l]);
      }
    }
  }
}
#endif

static int SpgemmSupportedAVX2(void)
{
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}

#include "mat/impls/hashgemm/host/spgemmkernels.h"

#if defined(__clang__)
  #pragma clang attribute pop
#endif
