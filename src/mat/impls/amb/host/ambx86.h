/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Sums of a chunk with AVX2 or AVX-512 registers, for real scalars.

   A chunk has AMB_C rows, and each lane sums one of them. With blocks of one column, lanes load x entry by entry: on many processors the gather
   instruction was no faster, on some much slower. AVX-512 has both variants, with equal sums. With longer blocks a lane loads consecutive entries
   of x and keeps partial sums in one register, which the end of the chunk adds up.
*/
#include <immintrin.h>

#include "mat/impls/amb/host/ambhost.h"

#if defined(SYS_SINGLE)
typedef __m128 Vec4;
  #define VEC4_ZERO()       _mm_setzero_ps()
  #define VEC4_LOAD(p)      _mm_loadu_ps(p)
  #define VEC4_LOAD1(p)     _mm_load_ss(p)
  #define VEC4_LOAD2(p)     _mm_castsi128_ps(_mm_loadu_si64(p))
  #define VEC4_FMA(a, b, c) _mm_fmadd_ps(a, b, c)
  #if defined(__AVX512VL__)
    #define VEC4_LOAD3(p) _mm_maskz_loadu_ps(7, p)
  #else
    #define VEC4_LOAD3(p) _mm_maskload_ps(p, _mm_setr_epi32(-1, -1, -1, 0))
  #endif
#else
typedef __m256d Vec4;
  #define VEC4_ZERO()       _mm256_setzero_pd()
  #define VEC4_LOAD(p)      _mm256_loadu_pd(p)
  #define VEC4_LOAD1(p)     _mm256_zextpd128_pd256(_mm_load_sd(p))
  #define VEC4_LOAD2(p)     _mm256_zextpd128_pd256(_mm_loadu_pd(p))
  #define VEC4_FMA(a, b, c) _mm256_fmadd_pd(a, b, c)
  #if defined(__AVX512VL__)
    #define VEC4_LOAD3(p) _mm256_maskz_loadu_pd(7, p)
  #else
    #define VEC4_LOAD3(p) _mm256_maskload_pd(p, _mm256_setr_epi64x(-1, -1, -1, 0))
  #endif
#endif

/*
   Prefetches one step of values 8 KiB ahead: into the second-level cache, or, for blocks of more than four columns, whose steps are longer, into the
   first-level cache. With the hardware prefetcher alone a third of the bandwidth was unused.
*/
static SYS_INLINE void AmbPrefetch(const SysStorage stored, const AmbHost *A, size_t at, const int b)
{
  const size_t size = stored == SYS_STORAGE_PLACES ? 1 : stored == SYS_STORAGE_SINGLE ? sizeof(float) : sizeof(SysScalar);
  const char  *val  = (const char *)A->val + size * at;

  for (size_t k = 0; k < AMB_C * b * size; k += 64) {
    if (b > 4) _mm_prefetch(val + 8192 + k, _MM_HINT_T0);
    else _mm_prefetch(val + 8192 + k, _MM_HINT_T1);
  }
}

/* Loads n values, 1 to 4, from index at on; the other elements are 0 */
static SYS_INLINE Vec4 AmbLoad(const int n, const SysStorage stored, const AmbHost *A, size_t at)
{
  if (stored == SYS_STORAGE_PLACES) {
    const uint8_t   *p = (const uint8_t *)A->val + at;
    const SysScalar *t = A->values.table.value;

#if defined(SYS_SINGLE)
    return _mm_setr_ps(t[p[0]], n > 1 ? t[p[1]] : 0, n > 2 ? t[p[2]] : 0, n > 3 ? t[p[3]] : 0);
#else
    return _mm256_setr_pd(t[p[0]], n > 1 ? t[p[1]] : 0, n > 2 ? t[p[2]] : 0, n > 3 ? t[p[3]] : 0);
#endif
  }
#if defined(SYS_HAVE_STORAGE_SINGLE)
  if (stored == SYS_STORAGE_SINGLE) {
    const float *p = (const float *)A->val + at;

    if (n == 4) return _mm256_cvtps_pd(_mm_loadu_ps(p));
    if (n == 3) return _mm256_cvtps_pd(_mm_movelh_ps(_mm_castsi128_ps(_mm_loadu_si64(p)), _mm_load_ss(p + 2)));
    if (n == 2) return _mm256_cvtps_pd(_mm_castsi128_ps(_mm_loadu_si64(p)));
    return _mm256_cvtps_pd(_mm_load_ss(p));
  }
#endif
  {
    const SysScalar *p = (const SysScalar *)A->val + at;

    if (n == 4) return VEC4_LOAD(p);
    if (n == 3) return VEC4_LOAD3(p);
    if (n == 2) return VEC4_LOAD2(p);
    return VEC4_LOAD1(p);
  }
}

static SYS_INLINE void AmbSum4x4(Vec4 a, Vec4 b, Vec4 c, Vec4 d, SysScalar sum[4])
{
#if defined(SYS_SINGLE)
  _mm_storeu_ps(sum, _mm_hadd_ps(_mm_hadd_ps(a, b), _mm_hadd_ps(c, d)));
#else
  const Vec4 ab = _mm256_hadd_pd(a, b), cd = _mm256_hadd_pd(c, d);

  _mm256_storeu_pd(sum, _mm256_add_pd(_mm256_permute2f128_pd(ab, cd, 0x20), _mm256_permute2f128_pd(ab, cd, 0x31)));
#endif
}

static SYS_INLINE void AmbChunkB(const int b, const SysStorage stored, uint32_t n, const AmbHost *A, size_t at, const uint16_t *col, const SysScalar *x, SysScalar sum[AMB_C])
{
  Vec4 s[AMB_C];

  for (int l = 0; l < AMB_C; l++) s[l] = VEC4_ZERO();
  for (uint32_t i = 0; i < n; i++, col += AMB_C, at += AMB_C * b) {
    AmbPrefetch(stored, A, at, b);
#pragma GCC unroll 8
    for (int l = 0; l < AMB_C; l++) {
      const SysScalar *p = x + col[l];
      const size_t     v = at + (size_t)(l * b);

#pragma GCC unroll 2
      for (int k = 0; k < b / 4; k++) s[l] = VEC4_FMA(AmbLoad(4, stored, A, v + 4 * k), VEC4_LOAD(p + 4 * k), s[l]);
      p += b / 4 * 4;
      if (b % 4 == 1) s[l] = VEC4_FMA(AmbLoad(1, stored, A, v + b / 4 * 4), VEC4_LOAD1(p), s[l]);
      if (b % 4 == 2) s[l] = VEC4_FMA(AmbLoad(2, stored, A, v + b / 4 * 4), VEC4_LOAD2(p), s[l]);
      if (b % 4 == 3) s[l] = VEC4_FMA(AmbLoad(3, stored, A, v + b / 4 * 4), VEC4_LOAD3(p), s[l]);
    }
  }
  AmbSum4x4(s[0], s[1], s[2], s[3], sum);
  AmbSum4x4(s[4], s[5], s[6], s[7], sum + 4);
}

static SYS_INLINE void AmbChunk1(const int gather, const SysStorage stored, uint32_t n, const AmbHost *A, size_t at, const uint16_t *col, const SysScalar *x, SysScalar sum[AMB_C])
{
#if defined(SYS_SINGLE)
  __m256 s = _mm256_setzero_ps();

  for (uint32_t i = 0; i < n; i++, col += AMB_C, at += AMB_C) {
    const __m256 v = stored == SYS_STORAGE_PLACES ? _mm256_insertf128_ps(_mm256_castps128_ps256(AmbLoad(4, stored, A, at)), AmbLoad(4, stored, A, at + 4), 1) : _mm256_loadu_ps((const float *)A->val + at);

    AmbPrefetch(stored, A, at, 1);
    if (gather) s = _mm256_fmadd_ps(v, _mm256_i32gather_ps(x, _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)col)), 4), s);
    else s = _mm256_fmadd_ps(v, _mm256_setr_ps(x[col[0]], x[col[1]], x[col[2]], x[col[3]], x[col[4]], x[col[5]], x[col[6]], x[col[7]]), s);
  }
  _mm256_storeu_ps(sum, s);
#else
  __m256d       s = _mm256_setzero_pd(), t = s;
  #if defined(__AVX512F__)
  const int     few = stored == SYS_STORAGE_PLACES && A->values.table.n <= 16; /* two registers hold the table */
  const __m512d t0 = _mm512_loadu_pd(A->values.table.value), t1 = _mm512_loadu_pd(A->values.table.value + 8);

  if (gather) {
    __m512d st = _mm512_setzero_pd();

    for (uint32_t i = 0; i < n; i++, col += AMB_C, at += AMB_C) {
      AmbPrefetch(stored, A, at, 1);
      st = _mm512_fmadd_pd(_mm512_loadu_pd((const double *)A->val + at), _mm512_i32gather_pd(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)col)), x, 8), st);
    }
    _mm512_storeu_pd(sum, st);
    return;
  }
  #else
  (void)gather;
  #endif

  for (uint32_t i = 0; i < n; i++, col += AMB_C, at += AMB_C) {
    uint64_t q0, q1;
    __m256d  v, w;

    AmbPrefetch(stored, A, at, 1);
    __builtin_memcpy(&q0, col, 8);
    __builtin_memcpy(&q1, col + 4, 8);
  #if defined(__AVX512F__)
    if (few) {
      const __m512d all = _mm512_permutex2var_pd(t0, _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)((const uint8_t *)A->val + at))), t1);

      v = _mm512_castpd512_pd256(all);
      w = _mm512_extractf64x4_pd(all, 1);
    } else
  #endif
    {
      v = AmbLoad(4, stored, A, at);
      w = AmbLoad(4, stored, A, at + 4);
    }
    s = _mm256_fmadd_pd(v, _mm256_setr_pd(x[(uint16_t)q0], x[(uint16_t)(q0 >> 16)], x[(uint16_t)(q0 >> 32)], x[q0 >> 48]), s);
    t = _mm256_fmadd_pd(w, _mm256_setr_pd(x[(uint16_t)q1], x[(uint16_t)(q1 >> 16)], x[(uint16_t)(q1 >> 32)], x[q1 >> 48]), t);
  }
  _mm256_storeu_pd(sum, s);
  _mm256_storeu_pd(sum + 4, t);
#endif
}
