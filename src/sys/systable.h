/* SPDX-License-Identifier: BSD-2-Clause */
/*
   A table of up to 256 values, in which a byte stands for a value. Values are compared by their bits: -0.0 differs from 0.0, NaNs differ by payload,
   and decoded values have the bits of the encoded ones.
*/
#pragma once

#include <string.h>

#include "sys/syscsr.h"
#include "sys/sysisa.h"

#if defined(__AVX512F__) && !defined(SYS_COMPLEX) && !defined(__CUDACC__)
  #include <immintrin.h>
  #define SYS_TABLE_AVX512
#endif

/* For functions of host and device */
#if defined(__CUDACC__)
  #define SYS_TABLE_INLINE __host__ __device__ inline
#else
  #define SYS_TABLE_INLINE SYS_INLINE
#endif

#define SYS_TABLE_VALUES 256
#define SYS_TABLE_SLOTS  1024  /* slots of the hash table; a power of two */
#define SYS_TABLE_SAMPLE 65536 /* values among which the most frequent ones are counted, in windows */
#define SYS_TABLE_WINDOW 512   /* consecutive values of a window */

typedef struct {
  int       n;
  SysScalar value[SYS_TABLE_VALUES]; /* values after the first n are 0 */
  uint16_t  slot[SYS_TABLE_SLOTS];   /* 1 + a value's position in value[], or 0 */
} SysTable;

/* The bits of a value; 0 for the value 0 and for the unused word */
typedef struct {
  uint64_t word[2];
} SysTableBits;

static SYS_TABLE_INLINE SysTableBits SysTableBitsOf(const SysScalar *a)
{
  SysTableBits b = {
    {0, 0}
  };

  memcpy(&b, a, sizeof(*a));
  return b;
}

static SYS_TABLE_INLINE int SysTableSame(SysTableBits a, SysTableBits b)
{
  return a.word[0] == b.word[0] && (sizeof(SysScalar) <= 8 || a.word[1] == b.word[1]);
}

static SYS_TABLE_INLINE uint64_t SysTableHash(SysTableBits b)
{
  const uint64_t h = (b.word[0] ^ (sizeof(SysScalar) <= 8 ? 0 : (b.word[1] << 29 | b.word[1] >> 35))) * UINT64_C(0x9e3779b97f4a7c15);

  return h >> 32 ^ h >> 54;
}

/* Returns a value's position in the table, or -1 */
static SYS_TABLE_INLINE int SysTableFind(const SysTable *T, const SysScalar *a)
{
  const SysTableBits b = SysTableBitsOf(a);

  for (uint64_t h = SysTableHash(b) % SYS_TABLE_SLOTS; T->slot[h]; h = (h + 1) % SYS_TABLE_SLOTS) {
    if (SysTableSame(SysTableBitsOf(&T->value[T->slot[h] - 1]), b)) return T->slot[h] - 1;
  }
  return -1;
}

SYS_C_BEGIN

void SysTableClear(SysTable *);

/* Returns a value's position, adding it if the table is not full, or -1 */
int SysTableAdd(SysTable *, const SysScalar *);

/* Adds the most frequent of n values, most frequent first. Counts them in evenly spread windows; no value is missed if n is at most SYS_TABLE_SAMPLE.
   Deterministic. */
SysStatus SysTableAddFrequent(SysTable *, int64_t n, const SysScalar *);

/* Returns whether the table has all n values; add: first adds missing ones while there is space */
int SysTableCovers(SysTable *, int add, int64_t n, const SysScalar *);

/* Encodes values that are all in the table */
void SysTableEncode(const SysTable *, int64_t n, const SysScalar *, uint8_t *position);

SYS_C_END

/* Decodes n values; n is a multiple of 8 */
static SYS_INLINE void SysTableDecode(const SysTable *T, int n, const uint8_t *position, SysScalar *a)
{
#if defined(SYS_TABLE_AVX512) && !defined(SYS_SINGLE)
  if (T->n <= 16) {
    const __m512d t0 = _mm512_loadu_pd(T->value), t1 = _mm512_loadu_pd(T->value + 8);

    for (int k = 0; k < n; k += 8) _mm512_storeu_pd(a + k, _mm512_permutex2var_pd(t0, _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)(position + k))), t1));
    return;
  }
#elif defined(SYS_TABLE_AVX512) && defined(__AVX512VL__)
  if (T->n <= 16) {
    const __m256 t0 = _mm256_loadu_ps(T->value), t1 = _mm256_loadu_ps(T->value + 8);

    for (int k = 0; k < n; k += 8) _mm256_storeu_ps(a + k, _mm256_permutex2var_ps(t0, _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(position + k))), t1));
    return;
  }
#endif
  for (int k = 0; k < n; k += 8) {
    uint64_t q;

    memcpy(&q, position + k, sizeof(q));
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    q = __builtin_bswap64(q);
#endif
    for (int l = 0; l < 8; l++) a[k + l] = T->value[(uint8_t)(q >> (8 * l))];
  }
}
