/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The SpGEMM kernels for processors with AVX-512
*/
#define SYS_ISA AVX512

/* Later extensions of AVX-512; processors without them use the AVX2 kernels */
#if defined(__clang__)
  #pragma clang attribute push(__attribute__((target("avx512vbmi2,avx512vpopcntdq,bmi,bmi2,popcnt"))), apply_to = function)
#else
  #pragma GCC target("avx512vbmi2,avx512vpopcntdq,bmi,bmi2,popcnt")
#endif
#include <immintrin.h>

#include "mat/impls/hashgemm/host/spgemmimpl.h"

#if defined(SYS_INT64)
  #define SPGEMM_KEYS 8
#else
  #define SPGEMM_KEYS 16
#endif

static SYS_INLINE unsigned KeyMask(const SysInt *keys, SysInt key)
{
  const __m512i k = _mm512_load_si512(keys);

#if defined(SYS_INT64)
  return _mm512_cmpeq_epi64_mask(k, _mm512_set1_epi64(key));
#else
  return _mm512_cmpeq_epi32_mask(k, _mm512_set1_epi32(key));
#endif
}

static SYS_INLINE uint64_t Flags(uint8_t *flag)
{
  const __m512i f = _mm512_loadu_si512(flag);

  _mm512_storeu_si512(flag, _mm512_setzero_si512());
  return _mm512_test_epi8_mask(f, f);
}

static SYS_INLINE void Stream(void *to, const void *from, size_t size)
{
  for (size_t q = 0; q < size; q += 64) _mm512_stream_si512((__m512i *)((char *)to + q), _mm512_load_si512((const char *)from + q));
}

static SYS_INLINE void StreamEnd(void)
{
  _mm_sfence();
}

typedef __m512i Counter;

static SYS_INLINE void CountBlock(Counter *counter, uint64_t *mask)
{
  *counter = _mm512_add_epi64(*counter, _mm512_popcnt_epi64(_mm512_load_si512(mask)));
  _mm512_store_si512(mask, _mm512_setzero_si512());
}

static SYS_INLINE int64_t CountSum(Counter counter)
{
  return _mm512_reduce_add_epi64(counter);
}

static SYS_INLINE int64_t ListBlock(uint64_t *mask, SysInt col, uint64_t *bits, SysInt *cols)
{
  const __m512i  m    = _mm512_load_si512(mask);
  const __mmask8 some = _mm512_test_epi64_mask(m, m);

  _mm512_store_si512(mask, _mm512_setzero_si512());
  _mm512_storeu_si512(bits, _mm512_maskz_compress_epi64(some, m));
#if defined(SYS_INT64)
  _mm512_storeu_si512(cols, _mm512_maskz_compress_epi64(some, _mm512_add_epi64(_mm512_set1_epi64(col), _mm512_setr_epi64(0, 64, 128, 192, 256, 320, 384, 448))));
#else
  _mm256_storeu_si256((__m256i *)cols, _mm256_maskz_compress_epi32(some, _mm256_add_epi32(_mm256_set1_epi32(col), _mm256_setr_epi32(0, 64, 128, 192, 256, 320, 384, 448))));
#endif
  return __builtin_popcount(some);
}

static SYS_INLINE void EmitWord(uint64_t bits, SysInt col, SysInt *j)
{
  const __m512i position = _mm512_set_epi8(63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  __m512i       set      = _mm512_maskz_compress_epi8(bits, position);
  int           n        = __builtin_popcountll(bits);

#if defined(SYS_INT64)
  for (;; n -= 8, j += 8) {
    _mm512_storeu_si512(j, _mm512_add_epi64(_mm512_set1_epi64(col), _mm512_cvtepu8_epi64(_mm512_castsi512_si128(set))));
    if (n <= 8) return;
    set = _mm512_permutexvar_epi64(_mm512_setr_epi64(1, 2, 3, 4, 5, 6, 7, 7), set);
  }
#else
  for (;; n -= 16, j += 16) {
    _mm512_storeu_si512(j, _mm512_add_epi32(_mm512_set1_epi32(col), _mm512_cvtepu8_epi32(_mm512_castsi512_si128(set))));
    if (n <= 16) return;
    set = _mm512_shuffle_i64x2(set, set, 0x39);
  }
#endif
}

#if !defined(SYS_COMPLEX)
  #define SPGEMM_EXPAND

typedef struct {
  #if defined(SYS_INT64)
  __m512i lo, hi;
  #else
  __m256i lo, hi;
  #endif
} Extent;

static SYS_INLINE Extent ExtentOfNone(void)
{
  #if defined(SYS_INT64)
  return (Extent){_mm512_set1_epi64(INT64_MAX), _mm512_set1_epi64(-1)};
  #else
  return (Extent){_mm256_set1_epi32(INT32_MAX), _mm256_set1_epi32(-1)};
  #endif
}

static SYS_INLINE SysInt ExtentLow(Extent extent)
{
  #if defined(SYS_INT64)
  return _mm512_reduce_min_epi64(extent.lo);
  #else
  return _mm512_mask_reduce_min_epi32(0xff, _mm512_castsi256_si512(extent.lo));
  #endif
}

static SYS_INLINE SysInt ExtentHigh(Extent extent)
{
  #if defined(SYS_INT64)
  return _mm512_reduce_max_epi64(extent.hi);
  #else
  return _mm512_mask_reduce_max_epi32(0xff, _mm512_castsi256_si512(extent.hi));
  #endif
}

static SYS_INLINE void ExpandRow(const int eights, const int add, const SysInt *j, const SysScalar *a, int64_t n, SysScalar f, SysInt *col, SysScalar *val, Extent *extent)
{
  for (int64_t q = 0; eights ? q < 8 * eights : q < n; q += 8) {
    const int64_t  left = n - q < 0 ? 0 : n - q < 8 ? n - q : 8;
    const __mmask8 m    = (__mmask8)_bzhi_u32(0xff, (unsigned)left);
  #if defined(SYS_INT64)
    const __m512i c = _mm512_maskz_loadu_epi64(m, j + q);

    _mm512_storeu_si512(col + q, c);
    extent->lo = _mm512_mask_min_epi64(extent->lo, m, extent->lo, c);
    extent->hi = _mm512_max_epi64(extent->hi, c);
  #else
    const __m256i c = _mm256_maskz_loadu_epi32(m, j + q);

    _mm256_storeu_si256((__m256i *)(col + q), c);
    extent->lo = _mm256_mask_min_epi32(extent->lo, m, extent->lo, c);
    extent->hi = _mm256_max_epi32(extent->hi, c);
  #endif
  #if defined(SYS_SINGLE)
    if (add) _mm256_storeu_ps(val + q, _mm256_mul_ps(_mm256_set1_ps(f), _mm256_maskz_loadu_ps(m, a + q)));
  #else
    if (add) _mm512_storeu_pd(val + q, _mm512_mul_pd(_mm512_set1_pd(f), _mm512_maskz_loadu_pd(m, a + q)));
  #endif
  }
}

static SYS_INLINE void Scale(const int eights, int64_t n, SysScalar f, const SysScalar *a, SysScalar *val)
{
  const uint64_t m = _bzhi_u64(~(uint64_t)0, (unsigned)n);

  #pragma GCC unroll 8
  for (int l = 0; l < eights; l++) {
  #if defined(SYS_SINGLE)
    _mm256_storeu_ps(val + 8 * l, _mm256_mul_ps(_mm256_set1_ps(f), _mm256_maskz_loadu_ps((__mmask8)(m >> 8 * l), a + 8 * l)));
  #else
    _mm512_storeu_pd(val + 8 * l, _mm512_mul_pd(_mm512_set1_pd(f), _mm512_maskz_loadu_pd((__mmask8)(m >> 8 * l), a + 8 * l)));
  #endif
  }
}
#endif

#if !defined(SYS_COMPLEX)
  #define SPGEMM_SORT 256

/* Returns in lane l the smaller of x and y, or the larger if upper has bit l */
static SYS_INLINE __m512i SortStep(__mmask16 upper, __m512i x, __m512i y)
{
  return _mm512_mask_max_epu32(_mm512_min_epu32(x, y), upper, x, y);
}

static SYS_INLINE __m512i SortReverse(__m512i x)
{
  return _mm512_permutexvar_epi32(_mm512_setr_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0), x);
}

/* The last four steps of a bitonic merge, within a vector */
static SYS_INLINE __m512i SortMerge(__m512i x)
{
  x = SortStep(0xff00, x, _mm512_shuffle_i32x4(x, x, 0x4e));
  x = SortStep(0xf0f0, x, _mm512_shuffle_i32x4(x, x, 0xb1));
  x = SortStep(0xcccc, x, _mm512_shuffle_epi32(x, (_MM_PERM_ENUM)0x4e));
  return SortStep(0xaaaa, x, _mm512_shuffle_epi32(x, (_MM_PERM_ENUM)0xb1));
}

static SYS_INLINE __m512i SortVector(__m512i x)
{
  const __m512i eights = _mm512_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8);

  x = SortStep(0xaaaa, x, _mm512_shuffle_epi32(x, (_MM_PERM_ENUM)0xb1));
  x = SortStep(0xcccc, x, _mm512_shuffle_epi32(x, (_MM_PERM_ENUM)0x1b));
  x = SortStep(0xaaaa, x, _mm512_shuffle_epi32(x, (_MM_PERM_ENUM)0xb1));
  x = SortStep(0xf0f0, x, _mm512_permutexvar_epi32(eights, x));
  x = SortStep(0xcccc, x, _mm512_shuffle_epi32(x, (_MM_PERM_ENUM)0x4e));
  x = SortStep(0xaaaa, x, _mm512_shuffle_epi32(x, (_MM_PERM_ENUM)0xb1));
  x = SortStep(0xff00, x, SortReverse(x));
  x = SortStep(0xf0f0, x, _mm512_shuffle_i32x4(x, x, 0xb1));
  x = SortStep(0xcccc, x, _mm512_shuffle_epi32(x, (_MM_PERM_ENUM)0x4e));
  return SortStep(0xaaaa, x, _mm512_shuffle_epi32(x, (_MM_PERM_ENUM)0xb1));
}

/* Bitonic sort in registers; vectors is a power of two */
static SYS_INLINE void SortVectors(const int vectors, __m512i *x)
{
  #pragma GCC unroll 16
  for (int v = 0; v < vectors; v++) x[v] = SortVector(x[v]);
  #pragma GCC unroll 4
  for (int half = 1; half < vectors; half *= 2) {
  #pragma GCC unroll 16
    for (int v = 0; v < vectors; v++) {
      if (!(v & half)) {
        const int     w = (v ^ (2 * half - 1)) & (vectors - 1);
        const __m512i y = x[v], z = SortReverse(x[w]);

        x[v] = _mm512_min_epu32(y, z);
        x[w] = _mm512_max_epu32(y, z);
      }
    }
  #pragma GCC unroll 4
    for (int apart = half / 2; apart > 0; apart /= 2) {
  #pragma GCC unroll 16
      for (int v = 0; v < vectors; v++) {
        if (!(v & apart)) {
          const int     w = (v + apart) & (vectors - 1);
          const __m512i y = x[v], z = x[w];

          x[v] = _mm512_min_epu32(y, z);
          x[w] = _mm512_max_epu32(y, z);
        }
      }
    }
  #pragma GCC unroll 16
    for (int v = 0; v < vectors; v++) x[v] = SortMerge(x[v]);
  }
}

static SYS_INLINE void SortKeys(const int vectors, uint32_t *key)
{
  __m512i x[SPGEMM_SORT / 16];

  #pragma GCC unroll 16
  for (int v = 0; v < vectors; v++) x[v] = _mm512_load_si512(key + 16 * v);
  SortVectors(vectors, x);
  #pragma GCC unroll 16
  for (int v = 0; v < vectors; v++) _mm512_store_si512(key + 16 * v, x[v]);
}

/* Sets the keys of n products: columns relative to lo above the products' numbers, padded with the largest numbers to the end of a vector. Reads col
   as far. */
static SYS_INLINE void MakeKeys(const int vectors, int64_t n, SysInt lo, const SysInt *col, uint32_t *key)
{
  const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);

  #pragma GCC unroll 16
  for (int v = 0; v < vectors; v++) {
    const __m512i   number = _mm512_add_epi32(lanes, _mm512_set1_epi32(16 * v));
    const __mmask16 some   = _mm512_cmplt_epi32_mask(number, _mm512_set1_epi32((int)n));
  #if defined(SYS_INT64)
    const __m512i base = _mm512_set1_epi64(lo);
    const __m256i low  = _mm512_cvtepi64_epi32(_mm512_sub_epi64(_mm512_loadu_si512(col + 16 * v), base));
    const __m256i high = _mm512_cvtepi64_epi32(_mm512_sub_epi64(_mm512_loadu_si512(col + 16 * v + 8), base));
    const __m512i c    = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
  #else
    const __m512i c = _mm512_sub_epi32(_mm512_loadu_si512(col + 16 * v), _mm512_set1_epi32(lo));
  #endif

    _mm512_store_si512(key + 16 * v, _mm512_mask_or_epi32(_mm512_set1_epi32(-1), some, _mm512_slli_epi32(c, 8), number));
  }
}

/* Returns which of 16 sorted keys have another column than their predecessor. some: valid keys; before: the previous 16 keys' columns. */
static SYS_INLINE __mmask16 SortedFirsts(__mmask16 some, __m512i columns, __m512i before)
{
  return _mm512_mask_cmpneq_epi32_mask(some, columns, _mm512_alignr_epi32(columns, before, 15));
}

static SYS_INLINE int64_t CountSorted(int64_t n, const uint32_t *key)
{
  __m512i before = _mm512_set1_epi32(-1);
  int64_t length = 0;

  for (int64_t q = 0; q < n; q += 16) {
    const __m512i columns = _mm512_srli_epi32(_mm512_load_si512(key + q), 8);

    length += __builtin_popcount(SortedFirsts((__mmask16)_bzhi_u32(0xffff, n - q < 16 ? (unsigned)(n - q) : 16), columns, before));
    before = columns;
  }
  return length;
}

  #if defined(SYS_SINGLE)
/* Returns 16 products' values by number, from one or two registers if all fit; gathers take longer */
static SYS_INLINE __m512 PickValues(const int vectors, __mmask16 some, __m512i from, const SysScalar *val)
{
  if (vectors == 1) return _mm512_maskz_permutexvar_ps(some, from, _mm512_loadu_ps(val));
  if (vectors == 2) return _mm512_maskz_permutex2var_ps(some, _mm512_loadu_ps(val), from, _mm512_loadu_ps(val + 16));
  return _mm512_mask_i32gather_ps(_mm512_setzero_ps(), some, from, val, 4);
}
  #else
static SYS_INLINE __m512d PickValues(const int vectors, __mmask8 some, __m256i from, const SysScalar *val)
{
  const __m512i f = _mm512_cvtepu32_epi64(from);

  if (vectors == 1) return _mm512_maskz_permutex2var_pd(some, _mm512_loadu_pd(val), f, _mm512_loadu_pd(val + 8));
  if (vectors == 2) {
    const __mmask8 upper = _mm512_test_epi64_mask(f, _mm512_set1_epi64(16));
    const __m512d x = _mm512_maskz_permutex2var_pd(some, _mm512_loadu_pd(val), f, _mm512_loadu_pd(val + 8));

    return _mm512_mask_blend_pd(upper & some, x, _mm512_permutex2var_pd(_mm512_loadu_pd(val + 16), f, _mm512_loadu_pd(val + 24)));
  }
  return _mm512_mask_i32gather_pd(_mm512_setzero_pd(), some, from, val, 8);
}
  #endif

/* Writes to a[] the sums of neighbouring lanes, from each lane of firsts to the next, in lane order; the first starts with sum. Adds four lanes
   unconditionally, because their number is unpredictable. */
static SYS_INLINE void PutSums(const int vectors, __mmask16 firsts, __mmask16 some, SysScalar sum, __m512i from, const SysScalar *val, SysScalar *a)
{
  const __mmask16 rest = some & ~firsts, lasts = some & (__mmask16)(firsts >> 1 | ~(some >> 1));
  __mmask16       next = (__mmask16)(firsts << 1) & rest; /* lanes to add to their predecessor */

  #if defined(SYS_SINGLE)
  __m512 x = _mm512_add_ps(_mm512_zextps128_ps512(_mm_set_ss(sum)), PickValues(vectors, some, from, val));

  while (next) {
    for (int l = 0; l < 4; l++, next = (__mmask16)(next << 1) & rest) {
      const __m512i u = _mm512_castps_si512(x);

      x = _mm512_mask_add_ps(x, next, _mm512_castsi512_ps(_mm512_alignr_epi32(u, u, 15)), x);
    }
  }
  _mm512_storeu_ps(a, _mm512_maskz_compress_ps(lasts, x));
  #else
  const __mmask8 low = (__mmask8)lasts;
  __m512d x = _mm512_add_pd(_mm512_zextpd128_pd512(_mm_set_sd(sum)), PickValues(vectors, (__mmask8)some, _mm512_castsi512_si256(from), val));
  __m512d y = _mm512_add_pd(_mm512_setzero_pd(), PickValues(vectors, (__mmask8)(some >> 8), _mm512_extracti64x4_epi64(from, 1), val));

  while (next) {
    for (int l = 0; l < 4; l++, next = (__mmask16)(next << 1) & rest) {
      const __m512i u = _mm512_castpd_si512(x), w = _mm512_castpd_si512(y);

      y = _mm512_mask_add_pd(y, (__mmask8)(next >> 8), _mm512_castsi512_pd(_mm512_alignr_epi64(w, u, 7)), y);
      x = _mm512_mask_add_pd(x, (__mmask8)next, _mm512_castsi512_pd(_mm512_alignr_epi64(u, u, 7)), x);
    }
  }
  _mm512_storeu_pd(a, _mm512_maskz_compress_pd(low, x));
  _mm512_storeu_pd(a + __builtin_popcount(low), _mm512_maskz_compress_pd((__mmask8)(lasts >> 8), y));
  #endif
}

static SYS_INLINE void PutColumns(__mmask16 firsts, __m512i columns, SysInt lo, SysInt *j)
{
  const __m512i c = _mm512_maskz_compress_epi32(firsts, columns);

  #if defined(SYS_INT64)
  _mm512_storeu_si512(j, _mm512_add_epi64(_mm512_set1_epi64(lo), _mm512_cvtepu32_epi64(_mm512_castsi512_si256(c))));
  _mm512_storeu_si512(j + 8, _mm512_add_epi64(_mm512_set1_epi64(lo), _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(c, 1))));
  #else
  _mm512_storeu_si512(j, _mm512_add_epi32(_mm512_set1_epi32(lo), c));
  #endif
}

/* Computes columns and sums of sorted products. With many products an entry it adds one product at a time; adding lanes would take as many steps as
   the longest sum. */
static SYS_INLINE int64_t TakeSorted(const int vectors, int64_t n, const uint32_t *key, SysInt lo, const SysScalar *val, SysInt *j, SysScalar *a)
{
  const __m512i last   = _mm512_set1_epi32(SPGEMM_SORT - 1);
  __m512i       before = _mm512_set1_epi32(-1);
  int64_t       length = 0;

  for (int64_t q = 0; q < n; q += 16) {
    const __m512i   k = _mm512_load_si512(key + q), columns = _mm512_srli_epi32(k, 8);
    const int       left = n - q < 16 ? (int)(n - q) : 16;
    const __mmask16 some = (__mmask16)_bzhi_u32(0xffff, (unsigned)left), news = SortedFirsts(some, columns, before);

    before = columns;
    if (news == some || (vectors <= 2 && 4 * __builtin_popcount(news) >= left)) {
      const int       more   = !(news & 1); /* the first key continues the previous keys' sum */
      const __mmask16 firsts = news | 1;

      length -= more;
      PutColumns(firsts, columns, lo, j + length);
      PutSums(vectors, firsts, some, more ? a[length] : 0, _mm512_and_si512(k, last), val, a + length);
      length += __builtin_popcount(firsts);
    } else {
      SysScalar sum = length ? a[length - 1] : 0;

      for (int l = 0; l < left; l++) {
        const int       f = news >> l & 1;
        const SysScalar v = val[key[q + l] & (SPGEMM_SORT - 1)];

        sum = (f ? 0 : sum) + v;
        length += f;
        j[length - 1] = (SysInt)(key[q + l] >> 8) + lo;
        a[length - 1] = sum;
      }
    }
  }
  return length;
}
#endif

#if !defined(SYS_COMPLEX) && !defined(SYS_SINGLE) && !defined(SYS_INT64)
  #define SPGEMM_SHORT 32

/* Sorts eight products' keys, as SortVector() sorts sixteen */
static SYS_INLINE __m256i SortHalfStep(__mmask8 upper, __m256i x, __m256i y)
{
  return _mm256_mask_max_epu32(_mm256_min_epu32(x, y), upper, x, y);
}

static SYS_INLINE __m256i SortHalf(__m256i x)
{
  x = SortHalfStep(0xaa, x, _mm256_shuffle_epi32(x, 0xb1));
  x = SortHalfStep(0xcc, x, _mm256_shuffle_epi32(x, 0x1b));
  x = SortHalfStep(0xaa, x, _mm256_shuffle_epi32(x, 0xb1));
  x = SortHalfStep(0xf0, x, _mm256_permutevar8x32_epi32(x, _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0)));
  x = SortHalfStep(0xcc, x, _mm256_shuffle_epi32(x, 0x4e));
  return SortHalfStep(0xaa, x, _mm256_shuffle_epi32(x, 0xb1));
}

/* Computes up to eight products, in one register each for keys and values. single: each row of B has one entry. */
static SYS_INLINE int64_t ShortEight(const int single, const SpgemmProduct *P, SysInt k, SysInt end, SysInt *j, SysScalar *a)
{
  const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  __m256i       key   = _mm256_set1_epi32(-1), columns;
  __m512d       val   = _mm512_setzero_pd(), sum;
  __m512i       at, last;
  int64_t       n = 0;
  unsigned      some, firsts;
  int           length;

  if (single) {
    const __mmask8 m = (__mmask8)_bzhi_u32(0xff, (unsigned)(end - k));
    const __m256i  r = _mm256_maskz_loadu_epi32(m, P->A.j + k);

    key = _mm256_mmask_i32gather_epi32(key, m, r, P->B.j, 4);
    val = _mm512_mul_pd(_mm512_maskz_loadu_pd(m, P->A.a + k), _mm512_mask_i32gather_pd(val, m, r, P->B.a, 8));
    n   = end - k;
    k   = end;
  }
  for (; k < end; k++) {
    const SysInt   r = P->A.j[k];
    const int64_t  s = P->B.i[r], from = s - n;
    const __mmask8 m = (__mmask8)(_bzhi_u64(~(uint64_t)0, (unsigned)(P->B.i[r + 1] - s)) << n);

    key = _mm256_mask_loadu_epi32(key, m, P->B.j + from);
    val = _mm512_mask_mul_pd(val, m, _mm512_set1_pd(P->A.a[k]), _mm512_maskz_loadu_pd(m, P->B.a + from));
    n += P->B.i[r + 1] - s;
  }
  some    = _bzhi_u32(0xff, (unsigned)n);
  key     = SortHalf(_mm256_mask_or_epi32(key, (__mmask8)some, _mm256_slli_epi32(key, 8), lanes));
  columns = _mm256_srli_epi32(key, 8);
  firsts  = _mm256_mask_cmpneq_epi32_mask((__mmask8)some, columns, _mm256_permutevar8x32_epi32(columns, _mm256_setr_epi32(0, 0, 1, 2, 3, 4, 5, 6))) | (some & 1);
  length  = __builtin_popcount(firsts);
  _mm256_storeu_si256((__m256i *)j, _mm256_maskz_compress_epi32((__mmask8)firsts, columns));
  val = _mm512_add_pd(_mm512_setzero_pd(), _mm512_permutexvar_pd(_mm512_cvtepu32_epi64(_mm256_and_si256(key, _mm256_set1_epi32(7))), val));
  if (firsts == some) {
    _mm512_storeu_pd(a, val);
    return length;
  }
  at   = _mm512_maskz_compress_epi64((__mmask8)firsts, _mm512_cvtepu32_epi64(lanes));
  last = _mm512_maskz_compress_epi64((__mmask8)(some & (firsts >> 1 | ~(some >> 1))), _mm512_cvtepu32_epi64(lanes));
  sum  = _mm512_permutexvar_pd(at, val);
  for (__mmask8 more = _mm512_cmplt_epi64_mask(at, last); more;) {
  #pragma GCC unroll 2
    for (int step = 0; step < 2; step++) {
      at   = _mm512_add_epi64(at, _mm512_set1_epi64(1));
      sum  = _mm512_mask_add_pd(sum, more, sum, _mm512_permutexvar_pd(at, val));
      more = _mm512_cmplt_epi64_mask(at, last);
    }
  }
  _mm512_storeu_pd(a, sum);
  return length;
}

/* Returns sorted values at up to eight positions */
static SYS_INLINE __m512d ShortPick(const int vectors, __m512i at, const __m512d *val)
{
  const __m512d x = _mm512_permutex2var_pd(val[0], at, val[1]);

  if (vectors == 1) return x;
  return _mm512_mask_blend_pd(_mm512_test_epi64_mask(at, _mm512_set1_epi64(16)), x, _mm512_permutex2var_pd(val[2], at, val[3]));
}

/* Computes up to 16 products a vector. Masks concatenate the rows of B in registers, without a store and reload. */
static SYS_INLINE int64_t ShortSome(const int vectors, const int single, const SpgemmProduct *P, SysInt k, SysInt end, SysInt *j, SysScalar *a)
{
  const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  __m512i       key[2], begins, lasts;
  __m512d       val[4], sorted[4];
  int64_t       n = 0;
  uint32_t      some, firsts, ends;
  int           length, low;

  #pragma GCC unroll 2
  for (int v = 0; v < vectors; v++) key[v] = _mm512_set1_epi32(-1);
  #pragma GCC unroll 4
  for (int v = 0; v < 2 * vectors; v++) val[v] = _mm512_setzero_pd();
  if (single) {
  #pragma GCC unroll 2
    for (int v = 0; v < vectors; v++) {
      const uint64_t  left = (uint64_t)(end - k > 16 * v ? end - k - 16 * v : 0);
      const __mmask16 m    = (__mmask16)_bzhi_u32(0xffff, left < 16 ? (unsigned)left : 16);
      const __m512i   r    = _mm512_maskz_loadu_epi32(m, P->A.j + k + 16 * v);

      key[v] = _mm512_mask_i32gather_epi32(key[v], m, r, P->B.j, 4);
  #pragma GCC unroll 2
      for (int h = 0; h < 2; h++) {
        const __mmask8 some8 = (__mmask8)(m >> 8 * h);
        const __m256i  r8    = h ? _mm512_extracti64x4_epi64(r, 1) : _mm512_castsi512_si256(r);

        val[2 * v + h] = _mm512_mul_pd(_mm512_maskz_loadu_pd(some8, P->A.a + k + 16 * v + 8 * h), _mm512_mask_i32gather_pd(val[2 * v + h], some8, r8, P->B.a, 8));
      }
    }
    n = end - k;
    k = end;
  }
  for (; k < end; k++) {
    const SysInt   r = P->A.j[k];
    const int64_t  s = P->B.i[r], from = s - n;
    const uint64_t m = _bzhi_u64(~(uint64_t)0, (unsigned)(P->B.i[r + 1] - s)) << n;
    const __m512d  f = _mm512_set1_pd(P->A.a[k]);

  #pragma GCC unroll 2
    for (int v = 0; v < vectors; v++) key[v] = _mm512_mask_loadu_epi32(key[v], (__mmask16)(m >> 16 * v), P->B.j + from + 16 * v);
  #pragma GCC unroll 4
    for (int v = 0; v < 2 * vectors; v++) val[v] = _mm512_mask_mul_pd(val[v], (__mmask8)(m >> 8 * v), f, _mm512_maskz_loadu_pd((__mmask8)(m >> 8 * v), P->B.a + from + 8 * v));
    n += P->B.i[r + 1] - s;
  }
  some = (uint32_t)_bzhi_u64(0xffffffff, (unsigned)n);
  #pragma GCC unroll 2
  for (int v = 0; v < vectors; v++) key[v] = _mm512_mask_or_epi32(key[v], (__mmask16)(some >> 16 * v), _mm512_slli_epi32(key[v], 8), _mm512_add_epi32(lanes, _mm512_set1_epi32(16 * v)));
  SortVectors(vectors, key);
  #pragma GCC unroll 4
  for (int v = 0; v < 2 * vectors; v++) {
    const __m256i half = v & 1 ? _mm512_extracti64x4_epi64(key[v / 2], 1) : _mm512_castsi512_si256(key[v / 2]);

    sorted[v] = _mm512_add_pd(_mm512_setzero_pd(), ShortPick(vectors, _mm512_cvtepu32_epi64(_mm256_and_si256(half, _mm256_set1_epi32(SPGEMM_SHORT - 1))), val));
  }
  key[0] = _mm512_srli_epi32(key[0], 8);
  firsts = SortedFirsts((__mmask16)some, key[0], _mm512_set1_epi32(-1));
  if (vectors == 2) {
    key[1] = _mm512_srli_epi32(key[1], 8);
    firsts |= (uint32_t)SortedFirsts((__mmask16)(some >> 16), key[1], key[0]) << 16;
  }
  ends   = some & (firsts >> 1 | ~(some >> 1));
  length = __builtin_popcount(firsts);
  low    = __builtin_popcount(firsts & 0xffff);
  _mm512_storeu_si512(j, _mm512_maskz_compress_epi32((__mmask16)firsts, key[0]));
  if (vectors == 2) _mm512_storeu_si512(j + low, _mm512_maskz_compress_epi32((__mmask16)(firsts >> 16), key[1]));
  if (firsts == some) {
  #pragma GCC unroll 4
    for (int v = 0; v < 2 * vectors; v++) _mm512_storeu_pd(a + 8 * v, sorted[v]);
    return length;
  }
  /* begin and end of each column's sum among the sorted values, one byte each */
  {
    const __m256i bytes = _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);

    begins = _mm512_castsi256_si512(_mm256_maskz_compress_epi8(firsts, bytes));
    lasts  = _mm512_castsi256_si512(_mm256_maskz_compress_epi8(ends, bytes));
  }
  for (int q = 0; q < length; q += 8) {
    __m512i       at   = _mm512_cvtepu8_epi64(_mm512_castsi512_si128(begins));
    const __m512i last = _mm512_cvtepu8_epi64(_mm512_castsi512_si128(lasts));
    __m512d       sum  = ShortPick(vectors, at, sorted);

    for (__mmask8 more = _mm512_cmplt_epi64_mask(at, last); more;) {
  #pragma GCC unroll 2
      for (int step = 0; step < 2; step++) {
        at   = _mm512_add_epi64(at, _mm512_set1_epi64(1));
        sum  = _mm512_mask_add_pd(sum, more, sum, ShortPick(vectors, at, sorted));
        more = _mm512_cmplt_epi64_mask(at, last);
      }
    }
    _mm512_storeu_pd(a + q, sum);
    begins = _mm512_alignr_epi64(begins, begins, 1);
    lasts  = _mm512_alignr_epi64(lasts, lasts, 1);
  }
  return length;
}

/* Sorts n columns of up to `vectors` vectors and fetches their sums; reads and writes to the end of the last vector */
static SYS_INLINE void StampGather(const int vectors, const struct SpgemmStamp *stamp, int64_t n, SysInt *j, SysScalar *a)
{
  __m512i x[SPGEMM_SORT / 16];

  #pragma GCC unroll 16
  for (int v = 0; v < vectors; v++) {
    const int64_t left = n - 16 * v;

    x[v] = _mm512_mask_loadu_epi32(_mm512_set1_epi32(-1), (__mmask16)(left <= 0 ? 0 : _bzhi_u32(0xffff, left < 16 ? (unsigned)left : 16)), j + 16 * v);
  }
  SortVectors(vectors, x);
  #pragma GCC unroll 16
  for (int v = 0; v < vectors; v++) _mm512_storeu_si512(j + 16 * v, x[v]);
  for (int64_t q = 0; q < n; q += 8) {
    const __mmask8 m = (__mmask8)_bzhi_u32(0xff, n - q < 8 ? (unsigned)(n - q) : 8);
    const __m512i  c = _mm512_cvtepu32_epi64(_mm256_loadu_si256((const __m256i *)(j + q)));

    _mm512_storeu_pd(a + q, _mm512_mask_i64gather_pd(_mm512_setzero_pd(), m, _mm512_slli_epi64(c, 1), &stamp->sum, 8));
  }
}

static SYS_INLINE void StampGatherEight(const struct SpgemmStamp *stamp, int64_t n, SysInt *j, SysScalar *a)
{
  const __mmask8 m = (__mmask8)_bzhi_u32(0xff, (unsigned)n);
  const __m256i  x = SortHalf(_mm256_mask_loadu_epi32(_mm256_set1_epi32(-1), m, j));

  _mm256_storeu_si256((__m256i *)j, x);
  _mm512_storeu_pd(a, _mm512_mask_i64gather_pd(_mm512_setzero_pd(), m, _mm512_slli_epi64(_mm512_cvtepu32_epi64(x), 1), &stamp->sum, 8));
}

static void StampSort(const struct SpgemmStamp *stamp, int64_t n, SysInt *j, SysScalar *a)
{
  if (n <= 8) StampGatherEight(stamp, n, j, a);
  else if (n <= 16) StampGather(1, stamp, n, j, a);
  else if (n <= 32) StampGather(2, stamp, n, j, a);
  else if (n <= 64) StampGather(4, stamp, n, j, a);
  else if (n <= 128) StampGather(8, stamp, n, j, a);
  else StampGather(16, stamp, n, j, a);
}

static SYS_INLINE int64_t ShortRow(const int single, const SpgemmProduct *P, SysInt k, SysInt end, int64_t products, SysInt *j, SysScalar *a)
{
  if (products <= 8) return ShortEight(single, P, k, end, j, a);
  if (products <= 16) return ShortSome(1, single, P, k, end, j, a);
  return ShortSome(2, single, P, k, end, j, a);
}
#endif

#if !defined(SYS_COMPLEX) && !defined(SYS_SINGLE)
  #define SPGEMM_RUNS

static SYS_INLINE void TransposeEights(__m512d x[8])
{
  __m512d y[8], z[8];

  for (int l = 0; l < 8; l += 2) {
    y[l]     = _mm512_unpacklo_pd(x[l], x[l + 1]);
    y[l + 1] = _mm512_unpackhi_pd(x[l], x[l + 1]);
  }
  for (int l = 0; l < 2; l++) {
    z[l]     = _mm512_shuffle_f64x2(y[l], y[l + 2], 0x88);
    z[l + 2] = _mm512_shuffle_f64x2(y[l], y[l + 2], 0xdd);
    z[l + 4] = _mm512_shuffle_f64x2(y[l + 4], y[l + 6], 0x88);
    z[l + 6] = _mm512_shuffle_f64x2(y[l + 4], y[l + 6], 0xdd);
  }
  for (int l = 0; l < 4; l++) {
    x[l]     = _mm512_shuffle_f64x2(z[l], z[l + 4], 0x88);
    x[l + 4] = _mm512_shuffle_f64x2(z[l], z[l + 4], 0xdd);
  }
}

static SYS_INLINE void RunTurnOf(const int full, int64_t rows, int64_t n, const double *b, double (*turned)[SPGEMM_LANES])
{
  for (int64_t q = 0; q < n; q += 8) {
    const __mmask8 m = (__mmask8)_bzhi_u32(0xff, n - q < 8 ? (unsigned)(n - q) : 8);
    __m512d        x[8];

  #pragma GCC unroll 8
    for (int l = 0; l < 8; l++) {
      x[l] = _mm512_maskz_loadu_pd(m, b + (full || l < rows ? l : rows - 1) * n + q);
      if (full) __builtin_prefetch(b + (l + 8) * n + q); /* the rows transposed next */
    }
    TransposeEights(x);
  #pragma GCC unroll 8
    for (int l = 0; l < 8; l++) _mm512_store_pd(turned[q + l], x[l]);
  }
}

static SYS_INLINE void RunTurn(int64_t rows, int64_t n, const double *b, double (*turned)[SPGEMM_LANES])
{
  if (rows >= SPGEMM_LANES) RunTurnOf(1, rows, n, b, turned);
  else RunTurnOf(0, rows, n, b, turned);
}

  /* A macro, because clang requires a constant k before inlining */
  #define RUN_NEXT(k, v, next) _mm512_castsi512_pd(_mm512_alignr_epi64(_mm512_castpd_si512(next), _mm512_castpd_si512(v), k))

static SYS_INLINE void RunAdd(const int some, int64_t n, double (*f)[SPGEMM_LANES], double (*turned)[SPGEMM_LANES], double (*next)[SPGEMM_LANES], const uint16_t *position, double (*sum)[SPGEMM_LANES])
{
  const __m512d f0 = _mm512_load_pd(f[0]), f1 = some > 1 ? _mm512_load_pd(f[1]) : f0, f2 = some > 2 ? _mm512_load_pd(f[2]) : f0;

  for (int64_t q = 0; q < n;) {
    int64_t p  = position[q];
    __m512d s0 = _mm512_load_pd(sum[p]), s1 = _mm512_load_pd(sum[p + 1]), s2;

    do {
      const __m512d v = _mm512_load_pd(turned[q]), w = _mm512_load_pd(next[q]);

      s0 = _mm512_add_pd(s0, _mm512_mul_pd(f0, v));
      _mm512_store_pd(sum[p++], s0);
      s2 = _mm512_load_pd(sum[p + 1]);
      if (some > 1) s1 = _mm512_add_pd(s1, _mm512_mul_pd(f1, RUN_NEXT(1, v, w)));
      if (some > 2) s2 = _mm512_add_pd(s2, _mm512_mul_pd(f2, RUN_NEXT(2, v, w)));
      s0 = s1;
      s1 = s2;
      q++;
    } while (q < n && position[q] == p);
    if (some > 1) _mm512_store_pd(sum[p], s0);
    if (some > 2) _mm512_store_pd(sum[p + 1], s1);
  }
}

static SYS_INLINE void RunFlush(int64_t g, int64_t n, double (*sum)[SPGEMM_LANES], double *a)
{
  for (int64_t q = 0; q < n; q += 8) {
    const __mmask8 m = (__mmask8)_bzhi_u32(0xff, n - q < 8 ? (unsigned)(n - q) : 8);
    __m512d        x[8];

  #pragma GCC unroll 8
    for (int l = 0; l < 8; l++) {
      x[l] = _mm512_load_pd(sum[q + l]);
      _mm512_store_pd(sum[q + l], _mm512_setzero_pd());
    }
    TransposeEights(x);
  #pragma GCC unroll 8
    for (int l = 0; l < 8; l++) {
      if (l < g) _mm512_mask_storeu_pd(a + l * n + q, m, x[l]);
    }
  }
}
#endif

static int SpgemmSupportedAVX512(void)
{
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512vpopcntdq");
}

#include "mat/impls/hashgemm/host/spgemmkernels.h"

#if defined(__clang__)
  #pragma clang attribute pop
#endif
