/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Columns of a block in registers, of up to 4 and up to 8 numbers: Col4 and Col8. A function ...4 or ...8 has the number bs of lanes in use, a constant.
   Lanes beyond stay zero. BAIJSums returns the sums of 4 or 8 registers, sum c in lane c. BAIJAccumulate adds to memory without masks: a load waits for a masked store to
   the same place until the cache has it, and neighbouring block rows add to the same places.
*/
#pragma once

#include <immintrin.h>

#include "mat/baij/host/baijhost.h"

/* clang-format off */
#if defined(SYS_SINGLE)
typedef __m128 Col4;
typedef __m256 Col8;
  #define BAIJ_MASK4(bs) _mm_setr_epi32(-1, -((bs) > 1), -((bs) > 2), -((bs) > 3))
  #define BAIJ_MASK8(bs) _mm256_setr_epi32(-1, -1, -1, -1, -1, -((bs) > 5), -((bs) > 6), -((bs) > 7))
#else
typedef __m256d Col4;
  #define BAIJ_MASK4(bs) _mm256_setr_epi64x(-1, -((bs) > 1), -((bs) > 2), -((bs) > 3))
#endif
/* clang-format on */

#define BAIJ_LANES(bs) ((__mmask8)((1 << (bs)) - 1))

#if defined(SYS_SINGLE)
static SYS_INLINE Col4 BAIJZero4(void)
{
  return _mm_setzero_ps();
}

static SYS_INLINE Col4 BAIJLoad4(const int bs, const SysScalar *p)
{
  if (bs == 4) return _mm_loadu_ps(p);
  return _mm_maskload_ps(p, BAIJ_MASK4(bs));
}

static SYS_INLINE void BAIJStore4(const int bs, SysScalar *p, Col4 a)
{
  if (bs == 4) _mm_storeu_ps(p, a);
  else _mm_maskstore_ps(p, BAIJ_MASK4(bs), a);
}

static SYS_INLINE Col4 BAIJAdd4(Col4 a, Col4 b)
{
  return _mm_add_ps(a, b);
}

static SYS_INLINE Col4 BAIJMul4(Col4 a, Col4 b)
{
  return _mm_mul_ps(a, b);
}

static SYS_INLINE Col4 BAIJFma4(Col4 a, Col4 b, Col4 c)
{
  return _mm_fmadd_ps(a, b, c);
}

/* a x + c */
static SYS_INLINE Col4 BAIJAxpy4(const int bs, Col4 a, SysScalar x, Col4 c)
{
  const __m128 all = _mm_set1_ps(x);

  return _mm_fmadd_ps(a, bs == 4 ? all : _mm_and_ps(all, _mm_castsi128_ps(BAIJ_MASK4(bs))), c);
}

/* Adds a to p[0] to p[bs - 1], bs from 1 */
static SYS_INLINE void BAIJAccumulate4(const int bs, SysScalar *p, Col4 a)
{
  if (bs == 4) _mm_storeu_ps(p, _mm_add_ps(_mm_loadu_ps(p), a));
  else {
    if (bs > 1) _mm_storel_pi((__m64 *)p, _mm_add_ps(_mm_loadl_pi(_mm_setzero_ps(), (const __m64 *)p), a));
    if (bs == 3) p[2] += _mm_cvtss_f32(_mm_movehl_ps(a, a));
    if (bs == 1) p[0] += _mm_cvtss_f32(a);
  }
}

static SYS_INLINE Col4 BAIJSums4(const Col4 p[])
{
  return _mm_hadd_ps(_mm_hadd_ps(p[0], p[1]), _mm_hadd_ps(p[2], p[3]));
}

static SYS_INLINE Col8 BAIJZero8(void)
{
  return _mm256_setzero_ps();
}

static SYS_INLINE Col8 BAIJLoad8(const int bs, const SysScalar *p)
{
  if (bs == 8) return _mm256_loadu_ps(p);
  return _mm256_maskload_ps(p, BAIJ_MASK8(bs));
}

static SYS_INLINE void BAIJStore8(const int bs, SysScalar *p, Col8 a)
{
  if (bs == 8) _mm256_storeu_ps(p, a);
  else _mm256_maskstore_ps(p, BAIJ_MASK8(bs), a);
}

static SYS_INLINE Col8 BAIJAdd8(Col8 a, Col8 b)
{
  return _mm256_add_ps(a, b);
}

static SYS_INLINE Col8 BAIJMul8(Col8 a, Col8 b)
{
  return _mm256_mul_ps(a, b);
}

static SYS_INLINE Col8 BAIJFma8(Col8 a, Col8 b, Col8 c)
{
  return _mm256_fmadd_ps(a, b, c);
}

static SYS_INLINE Col8 BAIJAxpy8(const int bs, Col8 a, SysScalar x, Col8 c)
{
  const __m256 all = _mm256_set1_ps(x);

  return _mm256_fmadd_ps(a, bs == 8 ? all : _mm256_and_ps(all, _mm256_castsi256_ps(BAIJ_MASK8(bs))), c);
}

static SYS_INLINE void BAIJAccumulate8(const int bs, SysScalar *p, Col8 a)
{
  if (bs == 8) _mm256_storeu_ps(p, _mm256_add_ps(_mm256_loadu_ps(p), a));
  else {
    BAIJAccumulate4(4, p, _mm256_castps256_ps128(a));
    BAIJAccumulate4(bs - 4, p + 4, _mm256_extractf128_ps(a, 1));
  }
}

static SYS_INLINE Col8 BAIJSums8(const Col8 p[])
{
  const __m256 a = _mm256_hadd_ps(_mm256_hadd_ps(p[0], p[1]), _mm256_hadd_ps(p[2], p[3]));
  const __m256 b = _mm256_hadd_ps(_mm256_hadd_ps(p[4], p[5]), _mm256_hadd_ps(p[6], p[7]));

  return _mm256_add_ps(_mm256_permute2f128_ps(a, b, 0x20), _mm256_permute2f128_ps(a, b, 0x31));
}

#else
static SYS_INLINE Col4 BAIJZero4(void)
{
  return _mm256_setzero_pd();
}

static SYS_INLINE Col4 BAIJLoad4(const int bs, const SysScalar *p)
{
  if (bs == 4) return _mm256_loadu_pd(p);
  #if defined(__AVX512VL__)
  return _mm256_maskz_loadu_pd(BAIJ_LANES(bs), p);
  #else
  return _mm256_maskload_pd(p, BAIJ_MASK4(bs));
  #endif
}

static SYS_INLINE void BAIJStore4(const int bs, SysScalar *p, Col4 a)
{
  if (bs == 4) _mm256_storeu_pd(p, a);
  #if defined(__AVX512VL__)
  else _mm256_mask_storeu_pd(p, BAIJ_LANES(bs), a);
  #else
  else _mm256_maskstore_pd(p, BAIJ_MASK4(bs), a);
  #endif
}

static SYS_INLINE Col4 BAIJAdd4(Col4 a, Col4 b)
{
  return _mm256_add_pd(a, b);
}

static SYS_INLINE Col4 BAIJMul4(Col4 a, Col4 b)
{
  return _mm256_mul_pd(a, b);
}

static SYS_INLINE Col4 BAIJFma4(Col4 a, Col4 b, Col4 c)
{
  return _mm256_fmadd_pd(a, b, c);
}

static SYS_INLINE Col4 BAIJAxpy4(const int bs, Col4 a, SysScalar x, Col4 c)
{
  const __m256d all = _mm256_set1_pd(x);

  if (bs == 4) return _mm256_fmadd_pd(a, all, c);
  #if defined(__AVX512VL__)
  return _mm256_mask3_fmadd_pd(a, all, c, BAIJ_LANES(bs));
  #else
  return _mm256_fmadd_pd(a, _mm256_and_pd(all, _mm256_castsi256_pd(BAIJ_MASK4(bs))), c);
  #endif
}

static SYS_INLINE void BAIJAccumulate4(const int bs, SysScalar *p, Col4 a)
{
  if (bs == 4) _mm256_storeu_pd(p, _mm256_add_pd(_mm256_loadu_pd(p), a));
  else {
    if (bs > 1) _mm_storeu_pd(p, _mm_add_pd(_mm_loadu_pd(p), _mm256_castpd256_pd128(a)));
    if (bs == 3) p[2] += _mm_cvtsd_f64(_mm256_extractf128_pd(a, 1));
    if (bs == 1) p[0] += _mm256_cvtsd_f64(a);
  }
}

static SYS_INLINE Col4 BAIJSums4(const Col4 p[])
{
  const __m256d a = _mm256_hadd_pd(p[0], p[1]), b = _mm256_hadd_pd(p[2], p[3]);

  return _mm256_add_pd(_mm256_blend_pd(a, b, 12), _mm256_permute2f128_pd(a, b, 0x21));
}

  #if defined(__AVX512F__)
typedef __m512d Col8;

static SYS_INLINE Col8 BAIJZero8(void)
{
  return _mm512_setzero_pd();
}

static SYS_INLINE Col8 BAIJLoad8(const int bs, const SysScalar *p)
{
  if (bs == 8) return _mm512_loadu_pd(p);
  return _mm512_maskz_loadu_pd(BAIJ_LANES(bs), p);
}

static SYS_INLINE void BAIJStore8(const int bs, SysScalar *p, Col8 a)
{
  if (bs == 8) _mm512_storeu_pd(p, a);
  else _mm512_mask_storeu_pd(p, BAIJ_LANES(bs), a);
}

static SYS_INLINE Col8 BAIJAdd8(Col8 a, Col8 b)
{
  return _mm512_add_pd(a, b);
}

static SYS_INLINE Col8 BAIJMul8(Col8 a, Col8 b)
{
  return _mm512_mul_pd(a, b);
}

static SYS_INLINE Col8 BAIJFma8(Col8 a, Col8 b, Col8 c)
{
  return _mm512_fmadd_pd(a, b, c);
}

static SYS_INLINE Col8 BAIJAxpy8(const int bs, Col8 a, SysScalar x, Col8 c)
{
  if (bs == 8) return _mm512_fmadd_pd(a, _mm512_set1_pd(x), c);
  return _mm512_mask3_fmadd_pd(a, _mm512_set1_pd(x), c, BAIJ_LANES(bs));
}

static SYS_INLINE void BAIJAccumulate8(const int bs, SysScalar *p, Col8 a)
{
  if (bs == 8) _mm512_storeu_pd(p, _mm512_add_pd(_mm512_loadu_pd(p), a));
  else {
    BAIJAccumulate4(4, p, _mm512_castpd512_pd256(a));
    BAIJAccumulate4(bs - 4, p + 4, _mm512_extractf64x4_pd(a, 1));
  }
}

/* Each step halves the number of registers, and the lanes that a sum has: pairs, then pairs of pairs */
static SYS_INLINE Col8 BAIJSums8(const Col8 p[])
{
  Col8 a[4], b[2];

  for (int k = 0; k < 4; k++) a[k] = _mm512_add_pd(_mm512_unpacklo_pd(p[2 * k], p[2 * k + 1]), _mm512_unpackhi_pd(p[2 * k], p[2 * k + 1]));
  for (int k = 0; k < 2; k++) b[k] = _mm512_add_pd(_mm512_shuffle_f64x2(a[2 * k], a[2 * k + 1], 0x88), _mm512_shuffle_f64x2(a[2 * k], a[2 * k + 1], 0xdd));
  return _mm512_add_pd(_mm512_shuffle_f64x2(b[0], b[1], 0x88), _mm512_shuffle_f64x2(b[0], b[1], 0xdd));
}

  #else
typedef struct {
  Col4 low, high;
} Col8;

static SYS_INLINE Col8 BAIJZero8(void)
{
  return (Col8){BAIJZero4(), BAIJZero4()};
}

static SYS_INLINE Col8 BAIJLoad8(const int bs, const SysScalar *p)
{
  return (Col8){BAIJLoad4(4, p), BAIJLoad4(bs - 4, p + 4)};
}

static SYS_INLINE void BAIJStore8(const int bs, SysScalar *p, Col8 a)
{
  BAIJStore4(4, p, a.low);
  BAIJStore4(bs - 4, p + 4, a.high);
}

static SYS_INLINE Col8 BAIJAdd8(Col8 a, Col8 b)
{
  return (Col8){BAIJAdd4(a.low, b.low), BAIJAdd4(a.high, b.high)};
}

static SYS_INLINE Col8 BAIJMul8(Col8 a, Col8 b)
{
  return (Col8){BAIJMul4(a.low, b.low), BAIJMul4(a.high, b.high)};
}

static SYS_INLINE Col8 BAIJFma8(Col8 a, Col8 b, Col8 c)
{
  return (Col8){BAIJFma4(a.low, b.low, c.low), BAIJFma4(a.high, b.high, c.high)};
}

static SYS_INLINE Col8 BAIJAxpy8(const int bs, Col8 a, SysScalar x, Col8 c)
{
  return (Col8){BAIJAxpy4(4, a.low, x, c.low), BAIJAxpy4(bs - 4, a.high, x, c.high)};
}

static SYS_INLINE void BAIJAccumulate8(const int bs, SysScalar *p, Col8 a)
{
  BAIJAccumulate4(4, p, a.low);
  BAIJAccumulate4(bs - 4, p + 4, a.high);
}

static SYS_INLINE Col8 BAIJSums8(const Col8 p[])
{
  Col4 a[8];

  for (int k = 0; k < 8; k++) a[k] = BAIJAdd4(p[k].low, p[k].high);
  return (Col8){BAIJSums4(a), BAIJSums4(a + 4)};
}
  #endif
#endif
