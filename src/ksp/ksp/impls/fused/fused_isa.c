/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The fused passes, compiled once for each instruction set SYS_ISA (sys/sysisa.h)

   FUSED_LOOP() expands the work on an entry for the entries of a register and for one. Sums add eight entries at a time for registers of any length, so
   that they have the same bits.
*/
#include "sys/sysisa.h"
#include "ksp/ksp/impls/fused/fusedhost.h"

typedef SysReal FusedLanes __attribute__((vector_size(SYS_LANES * sizeof(SysReal)), aligned(sizeof(SysReal)), may_alias));

#define AT(T, array) (*(T *)((array) + k))

/* Does the work, a statement or a block, on entries lo to hi - 1, eight at a time and then one at a time. T is the type of the entries. */
#define FUSED_EACH(SUMS_OF_EIGHT, SUMS_OF_TAIL, ...) \
  do { \
    int64_t k = lo; \
\
    while (k + 8 <= hi) { \
      _Pragma("GCC unroll 4") for (int part = 0; part < 8 / SYS_LANES; part++, k += SYS_LANES) \
      { \
        typedef FusedLanes T; \
        SUMS_OF_EIGHT; \
        __VA_ARGS__; \
      } \
    } \
    for (; k < hi; k++) { \
      typedef SysReal T; \
      SUMS_OF_TAIL; \
      __VA_ARGS__; \
    } \
  } while (0)
#define FUSED_LOOP(...) FUSED_EACH(, , __VA_ARGS__)

/* The same between FUSED_SUMS_BEGIN and FUSED_SUMS_END; S are the sums of the entries */
#define FUSED_SUM_LOOP(...) FUSED_EACH(T *const S = eight[part], T *const S = tail, __VA_ARGS__)

#define FUSED_SUMS_BEGIN \
  FusedLanes eight[8 / SYS_LANES][FUSED_SUMS] = {{{0}}}; \
  SysReal    tail[FUSED_SUMS]                 = {0}
#define FUSED_SUMS_END \
  for (int s_ = 0; s_ < FUSED_SUMS; s_++) { \
    SysReal e_[8]; \
\
    for (int l_ = 0; l_ < 8; l_++) e_[l_] = eight[l_ / SYS_LANES][s_][l_ % SYS_LANES]; \
    sums[s_] = (((e_[0] + e_[4]) + (e_[2] + e_[6])) + ((e_[1] + e_[5]) + (e_[3] + e_[7]))) + tail[s_]; \
  }

static SYS_INLINE void FusedNoSums(SysReal sums[])
{
  for (int s = 0; s < FUSED_SUMS; s++) sums[s] = 0;
}

/* z = M r for dense blocks; z may be r */
static SYS_INLINE void FusedBlocksOf(const int bs, const FusedPass *f, const SysReal *r, SysReal *z, int64_t lo, int64_t hi)
{
  for (int64_t k = lo; k < hi; k += bs) {
    SysReal entry[FUSED_BLOCKS_MAX], sum[FUSED_BLOCKS_MAX];

    for (int j = 0; j < bs; j++) entry[j] = r[k + j];
    for (int i = 0; i < bs; i++) sum[i] = f->d[k + i] * entry[0];
    for (int j = 1; j < bs; j++) {
      for (int i = 0; i < bs; i++) sum[i] += f->d[j * f->n + k + i] * entry[j];
    }
    for (int i = 0; i < bs; i++) z[k + i] = sum[i];
  }
}

static void SYS_ISA_NAME(FusedBlocks)(const FusedPass *f, const SysReal *r, SysReal *z, int64_t lo, int64_t hi)
{
  if (f->bs == 2) FusedBlocksOf(2, f, r, z, lo, hi);
  else if (f->bs == 3) FusedBlocksOf(3, f, r, z, lo, hi);
  else if (f->bs == 4) FusedBlocksOf(4, f, r, z, lo, hi);
  else if (f->bs == 5) FusedBlocksOf(5, f, r, z, lo, hi);
  else if (f->bs == 6) FusedBlocksOf(6, f, r, z, lo, hi);
  else FusedBlocksOf(f->bs, f, r, z, lo, hi);
}

/* z.r, z.z and r.r of given vectors */
static SYS_INLINE void FusedSumsOf(const SysReal *z, const SysReal *r, int64_t lo, int64_t hi, SysReal sums[])
{
  FUSED_SUMS_BEGIN;

  FUSED_SUM_LOOP({
    const T r0 = AT(const T, r), z0 = AT(const T, z);

    S[0] += z0 * r0;
    S[1] += z0 * z0;
    S[2] += r0 * r0;
  });
  FUSED_SUMS_END
}

/* One function for each kind of preconditioner, with the directions in the same pass or not, with an update of x or not */
static SYS_INLINE void FusedStepOf(const int single, const int kind, const int update, const FusedPass *f, int64_t lo, int64_t hi, SysReal sums[])
{
  const SysReal  a = f->a, b = f->b;
  const SysReal *d = f->d, *s = f->v[FUSED_S];
  SysReal       *x = f->v[FUSED_X], *r = f->v[FUSED_R], *z = f->v[FUSED_Z], *p = f->v[FUSED_P], *w = f->v[FUSED_W];
  FUSED_SUMS_BEGIN;

  FUSED_SUM_LOOP({
    T p0, w0, r0, z0;

    w0 = AT(const T, w);
    if (single || update) p0 = AT(const T, p);
    if (single) {
      p0       = AT(const T, z) + b * p0;
      w0       = AT(const T, s) + b * w0;
      AT(T, p) = p0;
      AT(T, w) = w0;
    }
    r0       = AT(const T, r) - a * w0;
    AT(T, r) = r0;
    if (update) AT(T, x) += a * p0;
    if (kind == FUSED_POINT) {
      z0       = AT(const T, d) * r0;
      AT(T, z) = z0;
      S[0] += z0 * r0;
      S[1] += z0 * z0;
    }
    S[2] += r0 * r0;
  });
  FUSED_SUMS_END
  if (kind == FUSED_NONE) sums[0] = sums[1] = sums[2];
  if (kind == FUSED_BLOCKS) {
    SYS_ISA_NAME(FusedBlocks)(f, r, z, lo, hi);
    FusedSumsOf(z, r, lo, hi, sums);
  }
}

static SYS_INLINE void FusedStepUpdate(const int single, const int kind, const FusedPass *f, int64_t lo, int64_t hi, SysReal sums[])
{
  if (f->v[FUSED_X]) FusedStepOf(single, kind, 1, f, lo, hi, sums);
  else FusedStepOf(single, kind, 0, f, lo, hi, sums);
}

static SYS_INLINE void FusedStepKind(const int single, const FusedPass *f, int64_t lo, int64_t hi, SysReal sums[])
{
  if (f->kind == FUSED_NONE) FusedStepUpdate(single, FUSED_NONE, f, lo, hi, sums);
  else if (f->kind == FUSED_POINT) FusedStepUpdate(single, FUSED_POINT, f, lo, hi, sums);
  else if (f->kind == FUSED_BLOCKS) FusedStepUpdate(single, FUSED_BLOCKS, f, lo, hi, sums);
  else FusedStepUpdate(single, FUSED_OTHER, f, lo, hi, sums);
}

static void SYS_ISA_NAME(FusedStep)(const FusedPass *f, int64_t lo, int64_t hi, SysReal sums[])
{
  FusedStepKind(0, f, lo, hi, sums);
}

static void SYS_ISA_NAME(FusedSingle)(const FusedPass *f, int64_t lo, int64_t hi, SysReal sums[])
{
  FusedStepKind(1, f, lo, hi, sums);
}

/* z = M r without sums */
static SYS_INLINE void FusedApplyTo(const FusedPass *f, const SysReal *r, SysReal *z, int64_t lo, int64_t hi)
{
  const SysReal *d = f->d;

  if (f->kind == FUSED_POINT) FUSED_LOOP(AT(T, z) = AT(const T, d) * AT(const T, r));
  else if (f->kind == FUSED_BLOCKS) SYS_ISA_NAME(FusedBlocks)(f, r, z, lo, hi);
}

static void SYS_ISA_NAME(FusedApply)(const FusedPass *f, int64_t lo, int64_t hi, SysReal sums[])
{
  FusedApplyTo(f, f->v[FUSED_R], f->v[FUSED_Z], lo, hi);
  FusedSumsOf(f->v[FUSED_Z], f->v[FUSED_R], lo, hi, sums);
}

static void SYS_ISA_NAME(FusedDirection)(const FusedPass *f, int64_t lo, int64_t hi, SysReal sums[])
{
  const SysReal  b = f->b;
  const SysReal *z = f->v[FUSED_Z];
  SysReal       *p = f->v[FUSED_P];

  if (b == 0) FUSED_LOOP(AT(T, p) = AT(const T, z));
  else FUSED_LOOP(AT(T, p) = AT(const T, z) + b * AT(const T, p));
  FusedNoSums(sums);
}

static void SYS_ISA_NAME(FusedDot)(const FusedPass *f, int64_t lo, int64_t hi, SysReal sums[])
{
  const SysReal *p = f->v[FUSED_P], *w = f->v[FUSED_W];
  FUSED_SUMS_BEGIN;

  FUSED_SUM_LOOP(S[0] += AT(const T, p) * AT(const T, w));
  FUSED_SUMS_END
}

static void SYS_ISA_NAME(FusedUpdate)(const FusedPass *f, int64_t lo, int64_t hi, SysReal sums[])
{
  const SysReal  a = f->a;
  const SysReal *p = f->v[FUSED_P];
  SysReal       *x = f->v[FUSED_X];

  FUSED_LOOP(AT(T, x) += a * AT(const T, p));
  FusedNoSums(sums);
}

static void SYS_ISA_NAME(FusedBiDirection)(const FusedPass *f, int64_t lo, int64_t hi, SysReal sums[])
{
  const SysReal  b = f->b, c = f->c;
  const SysReal *r = f->v[FUSED_R], *v = f->v[FUSED_V];
  SysReal       *p = f->v[FUSED_P];

  if (b == 0) FUSED_LOOP(AT(T, p) = AT(const T, r));
  else FUSED_LOOP(AT(T, p) = AT(const T, r) + c * AT(const T, v) + b * AT(const T, p));
  if (f->v[FUSED_Z]) FusedApplyTo(f, p, f->v[FUSED_Z], lo, hi);
  FusedNoSums(sums);
}

static void SYS_ISA_NAME(FusedBiShadow)(const FusedPass *f, int64_t lo, int64_t hi, SysReal sums[])
{
  const SysReal *q = f->v[FUSED_Q];
  SysReal       *v = f->v[FUSED_V];
  FUSED_SUMS_BEGIN;

  if (!f->v[FUSED_Z]) FusedApplyTo(f, v, v, lo, hi);
  FUSED_SUM_LOOP(S[0] += AT(const T, v) * AT(const T, q));
  FUSED_SUMS_END
}

static void SYS_ISA_NAME(FusedBiHalf)(const FusedPass *f, int64_t lo, int64_t hi, SysReal sums[])
{
  const SysReal  a = f->a;
  const SysReal *v = f->v[FUSED_V];
  SysReal       *r = f->v[FUSED_R];

  FUSED_LOOP(AT(T, r) = AT(const T, r) - a * AT(const T, v));
  if (f->v[FUSED_Z]) FusedApplyTo(f, r, f->v[FUSED_Z], lo, hi);
  FusedNoSums(sums);
}

static void SYS_ISA_NAME(FusedBiDots)(const FusedPass *f, int64_t lo, int64_t hi, SysReal sums[])
{
  if (!f->v[FUSED_Z]) FusedApplyTo(f, f->v[FUSED_T], f->v[FUSED_T], lo, hi);
  FusedSumsOf(f->v[FUSED_T], f->v[FUSED_R], lo, hi, sums);
}

static void SYS_ISA_NAME(FusedBiStep)(const FusedPass *f, int64_t lo, int64_t hi, SysReal sums[])
{
  const SysReal  a = f->a, b = f->b;
  const SysReal *p = f->v[FUSED_P], *t = f->v[FUSED_T], *q = f->v[FUSED_Q];
  SysReal       *x = f->v[FUSED_X], *r = f->v[FUSED_R];
  FUSED_SUMS_BEGIN;

  FUSED_SUM_LOOP({
    const T s0 = AT(const T, r), r0 = s0 - b * AT(const T, t);

    AT(T, x) = AT(const T, x) + a * AT(const T, p) + b * s0;
    AT(T, r) = r0;
    S[0] += r0 * AT(const T, q);
    S[1] += r0 * r0;
  });
  FUSED_SUMS_END
}

static SYS_INLINE void FusedChebyshevOf(const int kind, const int products, const int older, const FusedPass *f, const SysReal *from, int64_t lo, int64_t hi)
{
  const SysReal  a = f->a, b = f->b, c = f->c;
  const SysReal *d = f->d, *w = f->v[FUSED_W], *p = f->v[FUSED_P], *z = f->v[FUSED_Z];
  SysReal       *x = f->v[FUSED_X];

  FUSED_LOOP({
    T r0 = AT(const T, from);

    if (products && kind != FUSED_BLOCKS) r0 -= AT(const T, w);
    if (kind == FUSED_POINT) r0 *= AT(const T, d);
    r0 *= a;
    if (older) r0 += c * AT(const T, z);
    if (products) r0 += b * AT(const T, p);
    AT(T, x) = r0;
  });
}

static SYS_INLINE void FusedChebyshevKind(const int kind, const FusedPass *f, const SysReal *from, int64_t lo, int64_t hi)
{
  if (f->v[FUSED_Z]) FusedChebyshevOf(kind, 1, 1, f, from, lo, hi);
  else if (f->v[FUSED_P]) FusedChebyshevOf(kind, 1, 0, f, from, lo, hi);
  else FusedChebyshevOf(kind, 0, 0, f, from, lo, hi);
}

static void SYS_ISA_NAME(FusedChebyshev)(const FusedPass *f, int64_t lo, int64_t hi, SysReal sums[])
{
  const SysReal *r = f->v[FUSED_R];
  SysReal       *w = f->v[FUSED_W];

  if (f->kind == FUSED_BLOCKS) {
    if (f->v[FUSED_P]) FUSED_LOOP(AT(T, w) = AT(const T, r) - AT(const T, w));
    SYS_ISA_NAME(FusedBlocks)(f, f->v[FUSED_P] ? w : r, w, lo, hi);
    FusedChebyshevKind(FUSED_BLOCKS, f, w, lo, hi);
  } else if (f->kind == FUSED_POINT) FusedChebyshevKind(FUSED_POINT, f, r, lo, hi);
  else FusedChebyshevKind(FUSED_NONE, f, r, lo, hi);
  FusedNoSums(sums);
}

const FusedKernels SYS_ISA_NAME(FusedKernels) = {SYS_KERNELS_NAME,          SYS_ISA_NAME(SysSupported),  SYS_ISA_NAME(FusedStep),        SYS_ISA_NAME(FusedSingle),   SYS_ISA_NAME(FusedApply),  SYS_ISA_NAME(FusedDirection),
                                                 SYS_ISA_NAME(FusedDot),    SYS_ISA_NAME(FusedUpdate),   SYS_ISA_NAME(FusedBiDirection), SYS_ISA_NAME(FusedBiShadow), SYS_ISA_NAME(FusedBiHalf), SYS_ISA_NAME(FusedBiDots),
                                                 SYS_ISA_NAME(FusedBiStep), SYS_ISA_NAME(FusedChebyshev)};

#include "ksp/ksp/impls/fused/fusedbasiskernels.h"
