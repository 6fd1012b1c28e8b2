/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Decimal text to double, correctly rounded and independent of the locale.

   Up to 19 digits are held exactly in 64 bits and multiplied by a 64-bit approximation of the power of ten. The error of that product is
   known, so nearly always it is also known how the exact product rounds to 53 bits; where it is not, and for subnormal, huge and tiny
   numbers, the C library decides.
*/
#define _GNU_SOURCE
#include <locale.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if defined(__APPLE__)
  #include <xlocale.h>
#endif
#include "mat/io/mtxparse.h"

typedef unsigned __int128 u128;

#define POWER_MIN  -330
#define POWER_MAX  308
#define DIGITS_MAX 19 /* 10^19 < 2^64 */

static uint64_t       power10[POWER_MAX - POWER_MIN + 1]; /* leading 64 bits of 10^e, rounded down */
static locale_t       c_locale;
static pthread_once_t prepared = PTHREAD_ONCE_INIT;

/* Computes with 128 bits, so that the rounding errors of at most 330 steps stay far below the 64 bits of the result */
static void MtxDecimalPrepare(void)
{
  u128 p = (u128)1 << 127;

  for (int e = 0; e <= POWER_MAX; e++) {
    u128 sum = p + (p >> 2); /* 10 = 8 * 5/4 */

    power10[e - POWER_MIN] = (uint64_t)(p >> 64);
    p                      = sum < p ? sum >> 1 | (u128)1 << 127 : sum;
  }
  p = (u128)1 << 127;
  for (int e = -1; e >= POWER_MIN; e--) {
    int  s = p / 5 >> 125 ? 2 : 3;
    u128 q = (p / 5 << s) + ((p % 5) << s) / 5;

    p                      = q;
    power10[e - POWER_MIN] = (uint64_t)(p >> 64);
  }
  c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* The value by the C library; the text is a number of the grammar below, no longer than a line */
static double MtxDecimalExact(const char *text, size_t length)
{
  char  copy[MTX_LINE_MAX + 1];
  char *d;

  memcpy(copy, text, length);
  copy[length] = 0;
  if ((d = strpbrk(copy, "dD"))) *d = 'e';
  return c_locale ? strtod_l(copy, NULL, c_locale) : strtod(copy, NULL);
}

/* Rounds w * 10^e; if digits were dropped, the true w may be larger by less than 1. Returns 0 if the rounding is not decided by w. */
static int MtxDecimalRound(uint64_t w, int e, int dropped, double *value)
{
  int      shift, exponent, rest;
  u128     product;
  uint64_t high, bits;

  shift   = __builtin_clzll(w);
  product = (u128)(w << shift) * power10[e - POWER_MIN];
  /* floor(e log2(10)) is the binary exponent of the power */
  exponent = ((e * 217706) >> 16) + 64 - shift;
  if (!(product >> 127)) {
    product <<= 1;
    exponent--;
  }
  high = (uint64_t)(product >> 64);
  /* The exact product lies in [high, high + 4), or in [high, high + 44) with digits dropped, in units of the last bit of high */
  rest = (int)(high & 2047);
  if (rest <= 1024 && rest + (dropped ? 44 : 4) > 1024) return 0;
  if (exponent < -1021 || exponent > 1022) return 0;
  bits = (high >> 11) + (rest > 1024); /* a carry out of the mantissa goes into the exponent, which is right */
  bits += (uint64_t)(exponent + 1022) << 52;
  memcpy(value, &bits, sizeof(bits));
  return 1;
}

void MtxPrepareDecimal(void)
{
  pthread_once(&prepared, MtxDecimalPrepare);
}

const char *MtxReadDecimal(const char *text, double *value, int *overflow)
{
  const char *p        = text, *digits, *first, *end;
  int         negative = 0, significant, dropped = 0, e = 0;
  uint64_t    w = 0;

  *overflow = 0;
  if (*p == '-' || *p == '+') negative = *p++ == '-';
  digits = p;
  while (*p == '0') p++;
  first = p;
  while (MtxIsDigit(*p)) w = 10 * w + (uint64_t)(*p++ - '0');
  significant = p - first < 100 ? (int)(p - first) : 100;
  end         = p;
  if (*p == '.') {
    const char *fraction = ++p;

    if (!significant) {
      while (*p == '0') p++;
      first = p;
    }
    while (MtxIsDigit(*p)) w = 10 * w + (uint64_t)(*p++ - '0');
    e           = fraction - p < -MTX_LINE_MAX ? 0 : (int)(fraction - p);
    significant = p - first < 100 ? (int)(p - first) - (significant && first < fraction) : 100;
    if (p == fraction && fraction - 1 == digits) return NULL;
    end = p;
  } else if (p == digits) return NULL;

  if ((*p | 32) == 'e' || (*p | 32) == 'd') {
    const char *q    = p + 1;
    int         sign = 1, x = 0;

    if (*q == '-' || *q == '+') sign = *q++ == '-' ? -1 : 1;
    if (!MtxIsDigit(*q)) return NULL;
    for (; MtxIsDigit(*q); q++) {
      if (x < 100000) x = 10 * x + (*q - '0');
    }
    e += sign * x;
    p = q;
  }
  if (p - text > MTX_LINE_MAX) return NULL;

  if (significant > DIGITS_MAX) {
    int kept = 0;

    w = 0;
    for (const char *q = first; q < end; q++) {
      if (*q == '.') continue;
      if (kept < DIGITS_MAX) {
        w = 10 * w + (uint64_t)(*q - '0');
        kept++;
      } else e++;
    }
    dropped = 1;
  }
  if (!w) {
    *value = negative ? -0.0 : 0.0;
    return p;
  }
  if (e < POWER_MIN || e > POWER_MAX || !MtxDecimalRound(w, e, dropped, value)) {
    *value = MtxDecimalExact(digits, (size_t)(p - digits));
    if (*value > 1.7976931348623157e308) {
      *overflow = 1;
      return NULL;
    }
  }
  if (negative) *value = -*value;
  return p;
}
