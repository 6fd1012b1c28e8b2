/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The passes over a Krylov basis, the end of fused_isa.c
*/
#include "ksp/ksp/impls/fused/fusedbasis.h"

#define BASIS_PARTS (8 / SYS_LANES)

static SYS_INLINE FusedLanes BasisGet(const SysReal *v, int64_t k)
{
  return *(const FusedLanes *)(v + k);
}

/* The sum of eight entries, in the order of FUSED_SUMS_END */
static SYS_INLINE SysReal BasisSum(const FusedLanes eight[BASIS_PARTS])
{
  SysReal e[8];

  for (int l = 0; l < 8; l++) e[l] = eight[l / SYS_LANES][l % SYS_LANES];
  return ((e[0] + e[4]) + (e[2] + e[6])) + ((e[1] + e[5]) + (e[3] + e[7]));
}

/* The products of `count` vectors with w, and with u unless it is NULL */
static SYS_INLINE void BasisDotsOf(const int count, const int two, const SysReal *const v[], const SysReal *w, const SysReal *u, int64_t lo, int64_t hi, SysReal sums[], SysReal others[])
{
  FusedLanes first[4][BASIS_PARTS] = {{{0}}}, second[4][BASIS_PARTS] = {{{0}}};
  SysReal    tail[4] = {0}, rest[4] = {0};
  int64_t    k = lo;

  for (; k + 8 <= hi; k += 8) {
    _Pragma("GCC unroll 4") for (int p = 0; p < BASIS_PARTS; p++)
    {
      const FusedLanes w0 = BasisGet(w, k + p * SYS_LANES), u0 = two ? BasisGet(u, k + p * SYS_LANES) : w0;

      _Pragma("GCC unroll 4") for (int c = 0; c < count; c++)
      {
        const FusedLanes v0 = BasisGet(v[c], k + p * SYS_LANES);

        first[c][p] += v0 * w0;
        if (two) second[c][p] += v0 * u0;
      }
    }
  }
  for (; k < hi; k++) {
    for (int c = 0; c < count; c++) {
      tail[c] += v[c][k] * w[k];
      if (two) rest[c] += v[c][k] * u[k];
    }
  }
  for (int c = 0; c < count; c++) {
    sums[c] = BasisSum(first[c]) + tail[c];
    if (two) others[c] = BasisSum(second[c]) + rest[c];
  }
}

static SYS_INLINE void BasisDots(const int two, const FusedBasis *f, int64_t lo, int64_t hi, SysReal sums[])
{
  int i = 0;

  for (; i + 4 <= f->m; i += 4) BasisDotsOf(4, two, f->v + i, f->w, f->u, lo, hi, sums + i, sums + f->m + i);
  for (; i + 2 <= f->m; i += 2) BasisDotsOf(2, two, f->v + i, f->w, f->u, lo, hi, sums + i, sums + f->m + i);
  for (; i < f->m; i++) BasisDotsOf(1, two, f->v + i, f->w, f->u, lo, hi, sums + i, sums + f->m + i);
}

static void SYS_ISA_NAME(FusedBasisDots)(const FusedBasis *f, int64_t lo, int64_t hi, SysReal sums[])
{
  FusedApplyTo(&f->pc, f->w, f->w, lo, hi);
  if (f->u) BasisDots(1, f, lo, hi, sums);
  else BasisDots(0, f, lo, hi, sums);
}

/* w = scale w - c[0] v[0] - ... of `count` vectors; 1, 0: what scale is known to be; 2: it is any number */
static SYS_INLINE void BasisUpdateOf(const int count, const int scaled, const SysReal *const v[], const SysReal c[], SysReal scale, SysReal *w, int64_t lo, int64_t hi)
{
  FUSED_LOOP({
    T w0 = {0};

    if (scaled == 1) w0 = AT(const T, w);
    else if (scaled == 2) w0 = scale * AT(const T, w);
    _Pragma("GCC unroll 4") for (int j = 0; j < count; j++) w0 -= c[j] * AT(const T, v[j]);
    AT(T, w) = w0;
  });
}

/* Returns the number of vectors done */
static SYS_INLINE int BasisUpdate(const int scaled, const FusedBasis *f, int i, int64_t lo, int64_t hi)
{
  const int left = f->m - i;

  if (left >= 4) BasisUpdateOf(4, scaled, f->v + i, f->c + i, f->scale, f->w, lo, hi);
  else if (left == 3) BasisUpdateOf(3, scaled, f->v + i, f->c + i, f->scale, f->w, lo, hi);
  else if (left == 2) BasisUpdateOf(2, scaled, f->v + i, f->c + i, f->scale, f->w, lo, hi);
  else if (left == 1) BasisUpdateOf(1, scaled, f->v + i, f->c + i, f->scale, f->w, lo, hi);
  else BasisUpdateOf(0, scaled, NULL, NULL, f->scale, f->w, lo, hi);
  return left < 4 ? f->m : i + 4;
}

static void SYS_ISA_NAME(FusedBasisUpdate)(const FusedBasis *f, int64_t lo, int64_t hi, SysReal sums[])
{
  int i;

  if (f->scale == 0) i = BasisUpdate(0, f, 0, lo, hi);
  else if (f->scale == 1) i = BasisUpdate(1, f, 0, lo, hi);
  else i = BasisUpdate(2, f, 0, lo, hi);
  while (i < f->m) i = BasisUpdate(1, f, i, lo, hi);
  BasisDotsOf(1, 0, (const SysReal *const[1]){f->w}, f->w, NULL, lo, hi, sums, NULL);
  if (f->z) FusedApplyTo(&f->pc, f->w, f->z, lo, hi);
}

const FusedBasisKernels SYS_ISA_NAME(FusedBasisKernels) = {SYS_ISA_NAME(SysSupported), SYS_ISA_NAME(FusedBasisDots), SYS_ISA_NAME(FusedBasisUpdate)};
