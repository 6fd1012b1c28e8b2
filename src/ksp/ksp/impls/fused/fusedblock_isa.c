/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The passes over blocks of vectors, compiled once for each instruction set SYS_ISA (sys/sysisa.h)

   Each pass is a function of the number of vectors in a row, which FUSED_BLOCK_OF() makes a constant.
*/
#include "sys/sysisa.h"
#include "mat/impls/spmm/host/spmmtile.h"
#include "ksp/ksp/impls/fused/fusedblock.h"

#define MOST 16 /* vectors of 16 bytes or registers in a row of a panel */

/* Row i of a panel as vectors; an entry, in each column, of a factor */
#define ROW(Vec, panel, i)  ((Vec *)((panel) + (i)*width))
#define FACTOR(Vec, factor) ((const Vec *)(factor))
#define EACH                _Pragma("GCC unroll 16") for (int v = 0; v < nvector; v++)

#define AHEAD 16 /* rows from a row to the one whose last row of the panel, the first that no earlier row of a band has read, is fetched */

/* Rows lo to hi - 1 of the product: four sums of a row's terms, so that an addition seldom waits for another. Most rows are short: the last terms have no loop. The terms are
   copied, so that the compiler knows that the product does not overwrite them. */
#define FUSED_BLOCK_MULT(name, Vec) \
  static SYS_INLINE void name(const int nvector, const int nterm, const SpmmTerm term[], int64_t m, int64_t lo, int64_t hi, SysReal *product) \
  { \
    const int           width  = nvector * (int)(sizeof(Vec) / sizeof(SysReal)); \
    const SysInt *const i_of[] = {term[0].i, term[nterm - 1].i}, *const j_of[] = {term[0].j, term[nterm - 1].j}; \
    const SysReal *const a_of[] = {term[0].a, term[nterm - 1].a}, *const panel_of[] = {term[0].panel, term[nterm - 1].panel}; \
\
    for (int64_t r = lo; r < hi; r++) { \
      Vec sum[4][MOST]; \
\
      _Pragma("GCC unroll 4") for (int s = 0; s < 4; s++) \
      { \
        EACH sum[s][v] = (Vec){0}; \
      } \
      _Pragma("GCC unroll 2") for (int t = 0; t < nterm; t++) \
      { \
        const SysInt  *i = i_of[t], *j = j_of[t]; \
        const SysReal *a = a_of[t], *panel = panel_of[t]; \
        const int64_t  end = i[r + 1]; \
        int64_t        k   = i[r]; \
\
        if (r + AHEAD < m && i[r + AHEAD + 1]) { \
          const char *row = (const char *)(panel + (int64_t)j[i[r + AHEAD + 1] - 1] * width); \
\
          _Pragma("GCC unroll 4") for (int line = 0; line * SPMM_ALIGN < nvector * (int)sizeof(Vec); line++) __builtin_prefetch(row + line * SPMM_ALIGN); \
        } \
        for (; k + 4 <= end; k += 4) { \
          _Pragma("GCC unroll 4") for (int s = 0; s < 4; s++) \
          { \
            EACH sum[s][v] += a[k + s] * ROW(const Vec, panel, (int64_t)j[k + s])[v]; \
          } \
        } \
        if (k < end) { EACH sum[0][v] += a[k] * ROW(const Vec, panel, (int64_t)j[k])[v]; } \
        if (k + 1 < end) { EACH sum[1][v] += a[k + 1] * ROW(const Vec, panel, (int64_t)j[k + 1])[v]; } \
        if (k + 2 < end) { EACH sum[2][v] += a[k + 2] * ROW(const Vec, panel, (int64_t)j[k + 2])[v]; } \
      } \
      EACH ROW(Vec, product, r - lo)[v] = (sum[0][v] + sum[1][v]) + (sum[2][v] + sum[3][v]); \
    } \
  }
FUSED_BLOCK_MULT(FusedBlockMult16, Spmm16)
FUSED_BLOCK_MULT(FusedBlockMult32, Spmm32)
FUSED_BLOCK_MULT(FusedBlockMult64, Spmm64)

#define FUSED_BLOCK_MULT_OF(nterm) \
  switch (width * (int)sizeof(SysReal)) { \
  case 16: \
    FusedBlockMult16(1, nterm, term, m, lo, hi, product); \
    break; \
  case 32: \
    if (SPMM_TILE_BYTES == 16) FusedBlockMult16(2, nterm, term, m, lo, hi, product); \
    else FusedBlockMult32(1, nterm, term, m, lo, hi, product); \
    break; \
  case 64: \
    SPMM_REGISTER(FusedBlockMult)(per, nterm, term, m, lo, hi, product); \
    break; \
  case 128: \
    SPMM_REGISTER(FusedBlockMult)(2 * per, nterm, term, m, lo, hi, product); \
    break; \
  case 192: \
    SPMM_REGISTER(FusedBlockMult)(3 * per, nterm, term, m, lo, hi, product); \
    break; \
  default: \
    SPMM_REGISTER(FusedBlockMult)(SPMM_VECTORS * per, nterm, term, m, lo, hi, product); \
  }

static void SYS_ISA_NAME(FusedBlockMult)(int width, const SpmmTerm term[], int nterm, int64_t m, int64_t lo, int64_t hi, SysReal *product)
{
  const int per = SPMM_ALIGN / SPMM_TILE_BYTES;

  if (nterm == 1) {
    FUSED_BLOCK_MULT_OF(1)
  } else {
    FUSED_BLOCK_MULT_OF(2)
  }
}

/* z = M r for rows i to i + bs - 1, which are a block of M; z may be r. Without dense blocks the caller passes bs = 1. */
#define FUSED_BLOCK_APPLY(name, Vec) \
  static SYS_INLINE void name(const int nvector, const FusedBlockPass *f, const FusedKind kind, const int64_t i, const SysReal *r, SysReal *z) \
  { \
    const int width = nvector * (int)(sizeof(Vec) / sizeof(SysReal)); \
\
    if (kind == FUSED_POINT) { \
      EACH ROW(Vec, z, 0)[v] = f->d[i] * ROW(const Vec, r, 0)[v]; \
    } else if (kind == FUSED_BLOCKS) { \
      Vec sum[FUSED_BLOCKS_MAX]; \
\
      EACH \
      { \
        for (int k = 0; k < f->bs; k++) sum[k] = f->d[i + k] * ROW(const Vec, r, 0)[v]; \
        for (int j = 1; j < f->bs; j++) { \
          for (int k = 0; k < f->bs; k++) sum[k] += f->d[j * f->n + i + k] * ROW(const Vec, r, j)[v]; \
        } \
        for (int k = 0; k < f->bs; k++) ROW(Vec, z, k)[v] = sum[k]; \
      } \
    } else if (z != r) { \
      EACH ROW(Vec, z, 0)[v] = ROW(const Vec, r, 0)[v]; \
    } \
  }
FUSED_BLOCK_APPLY(FusedBlockApply16, Spmm16)
FUSED_BLOCK_APPLY(FusedBlockApply32, Spmm32)
FUSED_BLOCK_APPLY(FusedBlockApply64, Spmm64)

/* Sums in registers, between BEGIN and END */
#define SUMS_BEGIN(Vec) \
  Vec zr[MOST], zz[MOST], rr[MOST]; \
\
  EACH zr[v] = zz[v] = rr[v] = (Vec) \
  { \
    0 \
  }
#define SUMS_END(Vec) \
  EACH \
  { \
    ROW(Vec, sums, 0)[v] = zr[v]; \
    ROW(Vec, sums, 1)[v] = zz[v]; \
    ROW(Vec, sums, 2)[v] = rr[v]; \
  }
#define SUMS_ADD(zv, rv) \
  do { \
    zr[v] += (zv) * (rv); \
    zz[v] += (zv) * (zv); \
    rr[v] += (rv) * (rv); \
  } while (0)

#define UNUSED (void)kind, (void)product, (void)sums /* in some passes */

/* All passes for one vector type and, as a constant, the number of vectors in a row and the kind of M */
#define FUSED_BLOCK_PASSES(bytes, Vec) \
  static SYS_INLINE void FusedBlockStep##bytes(const int nvector, const FusedKind kind, const FusedBlockPass *f, int64_t lo, int64_t hi, const SysReal *product, SysReal *sums) \
  { \
    UNUSED; \
    const int width = nvector * (int)(sizeof(Vec) / sizeof(SysReal)), bs = kind == FUSED_BLOCKS ? f->bs : 1; \
    SysReal  *r = f->v[FUSED_R], *w = f->v[FUSED_W], z[FUSED_BLOCKS_MAX * MOST * sizeof(Vec) / sizeof(SysReal)]; \
    SUMS_BEGIN(Vec); \
\
    for (int64_t i = lo; i < hi; i += bs) { \
      for (int k = 0; k < bs; k++) { EACH ROW(Vec, r, i + k)[v] -= FACTOR(Vec, f->a)[v] * ROW(Vec, w, i + k)[v]; } \
      if (kind == FUSED_OTHER) { \
        EACH rr[v] += ROW(Vec, r, i)[v] * ROW(Vec, r, i)[v]; \
        continue; \
      } \
      FusedBlockApply##bytes(nvector, f, kind, i, r + i * width, z); \
      for (int k = 0; k < bs; k++) { EACH SUMS_ADD(ROW(Vec, z, k)[v], ROW(Vec, r, i + k)[v]); } \
    } \
    SUMS_END(Vec) \
  } \
  static SYS_INLINE void FusedBlockPrecondition##bytes(const int nvector, const FusedKind kind, const FusedBlockPass *f, int64_t lo, int64_t hi, const SysReal *product, SysReal *sums) \
  { \
    UNUSED; \
    const int width = nvector * (int)(sizeof(Vec) / sizeof(SysReal)), bs = kind == FUSED_BLOCKS ? f->bs : 1; \
    SysReal  *r = f->v[FUSED_R], own[FUSED_BLOCKS_MAX * MOST * sizeof(Vec) / sizeof(SysReal)]; \
    SUMS_BEGIN(Vec); \
\
    for (int64_t i = lo; i < hi; i += bs) { \
      const SysReal *z = kind == FUSED_OTHER ? f->v[FUSED_Z] + i * width : own; \
\
      if (kind != FUSED_OTHER) FusedBlockApply##bytes(nvector, f, kind, i, r + i * width, own); \
      for (int k = 0; k < bs; k++) { EACH SUMS_ADD(ROW(const Vec, z, k)[v], ROW(Vec, r, i + k)[v]); } \
    } \
    SUMS_END(Vec) \
  } \
  static SYS_INLINE void FusedBlockDirection##bytes(const int nvector, const FusedKind kind, const FusedBlockPass *f, int64_t lo, int64_t hi, const SysReal *product, SysReal *sums) \
  { \
    UNUSED; \
    const int width = nvector * (int)(sizeof(Vec) / sizeof(SysReal)), bs = kind == FUSED_BLOCKS ? f->bs : 1; \
    SysReal  *x = f->v[FUSED_X], *p = f->v[FUSED_P], own[FUSED_BLOCKS_MAX * MOST * sizeof(Vec) / sizeof(SysReal)]; \
\
    for (int64_t i = lo; i < hi; i += bs) { \
      const SysReal *z = kind == FUSED_OTHER ? f->v[FUSED_Z] + i * width : own; \
\
      if (kind != FUSED_OTHER) FusedBlockApply##bytes(nvector, f, kind, i, f->v[FUSED_R] + i * width, own); \
      for (int k = 0; k < bs; k++) { \
        EACH \
        { \
          const Vec old = ROW(Vec, p, i + k)[v]; \
\
          ROW(Vec, x, i + k)[v] += FACTOR(Vec, f->a)[v] * old; \
          ROW(Vec, p, i + k)[v] = ROW(const Vec, z, k)[v] + FACTOR(Vec, f->b)[v] * old; \
        } \
      } \
    } \
  } \
  static SYS_INLINE void FusedBlockUpdate##bytes(const int nvector, const FusedKind kind, const FusedBlockPass *f, int64_t lo, int64_t hi, const SysReal *product, SysReal *sums) \
  { \
    UNUSED; \
    const int width = nvector * (int)(sizeof(Vec) / sizeof(SysReal)); \
\
    for (int64_t i = lo; i < hi; i++) { EACH ROW(Vec, f->v[FUSED_X], i)[v] += FACTOR(Vec, f->a)[v] * ROW(Vec, f->v[FUSED_P], i)[v]; } \
  } \
  static SYS_INLINE void FusedBlockDot##bytes(const int nvector, const FusedKind kind, const FusedBlockPass *f, int64_t lo, int64_t hi, const SysReal *product, SysReal *sums) \
  { \
    UNUSED; \
    const int width = nvector * (int)(sizeof(Vec) / sizeof(SysReal)); \
    SUMS_BEGIN(Vec); \
\
    for (int64_t i = lo; i < hi; i++) { \
      EACH \
      { \
        const Vec w = ROW(const Vec, product, i - lo)[v]; \
\
        ROW(Vec, f->v[FUSED_W], i)[v] = w; \
        zr[v] += ROW(Vec, f->v[FUSED_P], i)[v] * w; \
      } \
    } \
    SUMS_END(Vec) \
  } \
  static SYS_INLINE void FusedBlockResidual##bytes(const int nvector, const FusedKind kind, const FusedBlockPass *f, int64_t lo, int64_t hi, const SysReal *product, SysReal *sums) \
  { \
    UNUSED; \
    const int width = nvector * (int)(sizeof(Vec) / sizeof(SysReal)); \
\
    for (int64_t i = lo; i < hi; i++) { EACH ROW(Vec, f->v[FUSED_W], i)[v] = ROW(Vec, f->v[FUSED_R], i)[v] - ROW(const Vec, product, i - lo)[v]; } \
  } \
  static SYS_INLINE void FusedBlockAdd##bytes(const int nvector, const FusedKind kind, const FusedBlockPass *f, int64_t lo, int64_t hi, const SysReal *product, SysReal *sums) \
  { \
    UNUSED; \
    const int width = nvector * (int)(sizeof(Vec) / sizeof(SysReal)); \
\
    for (int64_t i = lo; i < hi; i++) { EACH ROW(Vec, f->v[FUSED_X], i)[v] += ROW(const Vec, product, i - lo)[v]; } \
  } \
  static SYS_INLINE void FusedBlockChebyshev##bytes(const int nvector, const FusedKind kind, const FusedBlockPass *f, int64_t lo, int64_t hi, const SysReal *product, SysReal *sums) \
  { \
    UNUSED; \
    const int width = nvector * (int)(sizeof(Vec) / sizeof(SysReal)), bs = kind == FUSED_BLOCKS ? f->bs : 1; \
    SysReal  *x = f->v[FUSED_X], *r = f->v[FUSED_R], *z = f->v[FUSED_Z], *p = f->v[FUSED_P]; \
    SysReal   step[FUSED_BLOCKS_MAX * MOST * sizeof(Vec) / sizeof(SysReal)]; \
    SUMS_BEGIN(Vec); \
\
    for (int64_t i = lo; i < hi; i += bs) { \
      for (int k = 0; k < bs; k++) { \
        EACH \
        { \
          Vec now = ROW(Vec, r, i + k)[v]; \
\
          if (p) now -= ROW(const Vec, product, i - lo + k)[v]; \
          ROW(Vec, step, k)[v] = now; \
        } \
      } \
      FusedBlockApply##bytes(nvector, f, kind, i, step, step); \
      for (int k = 0; k < bs; k++) { \
        EACH \
        { \
          Vec next = FACTOR(Vec, f->a)[v] * ROW(Vec, step, k)[v]; \
\
          if (p) next += FACTOR(Vec, f->b)[v] * ROW(Vec, p, i + k)[v]; \
          if (z) next += FACTOR(Vec, f->c)[v] * ROW(Vec, z, i + k)[v]; \
          ROW(Vec, x, i + k)[v] = next; \
          if (sums) SUMS_ADD(next, ROW(Vec, r, i + k)[v]); \
        } \
      } \
    } \
    if (sums) { SUMS_END(Vec) } \
  }
FUSED_BLOCK_PASSES(16, Spmm16)
FUSED_BLOCK_PASSES(32, Spmm32)
FUSED_BLOCK_PASSES(64, Spmm64)

/* Defines a pass: the vectors of a row by its width, as SpmmMultRows() has them */
#define FUSED_BLOCK_WIDTHS(name, kind) \
  switch (f->width * (int)sizeof(SysReal)) { \
  case 16: \
    name##16(1, kind, f, lo, hi, product, sums); \
    break; \
  case 32: \
    if (SPMM_TILE_BYTES == 16) name##16(2, kind, f, lo, hi, product, sums); \
    else name##32(1, kind, f, lo, hi, product, sums); \
    break; \
  case 64: \
    SPMM_REGISTER(name)(per, kind, f, lo, hi, product, sums); \
    break; \
  case 128: \
    SPMM_REGISTER(name)(2 * per, kind, f, lo, hi, product, sums); \
    break; \
  case 192: \
    SPMM_REGISTER(name)(3 * per, kind, f, lo, hi, product, sums); \
    break; \
  default: \
    SPMM_REGISTER(name)(SPMM_VECTORS * per, kind, f, lo, hi, product, sums); \
  }
#define FUSED_BLOCK_OF(name) \
  static void SYS_ISA_NAME(name)(const FusedBlockPass *f, int64_t lo, int64_t hi, const SysReal *product, SysReal *sums) \
  { \
    const int per = SPMM_ALIGN / SPMM_TILE_BYTES; \
\
    FUSED_BLOCK_WIDTHS(name, FUSED_OTHER) \
  }
#define FUSED_BLOCK_KINDS(name) \
  static void SYS_ISA_NAME(name)(const FusedBlockPass *f, int64_t lo, int64_t hi, const SysReal *product, SysReal *sums) \
  { \
    const int per = SPMM_ALIGN / SPMM_TILE_BYTES; \
\
    if (f->kind == FUSED_POINT) { \
      FUSED_BLOCK_WIDTHS(name, FUSED_POINT) \
    } else if (f->kind == FUSED_BLOCKS) { \
      FUSED_BLOCK_WIDTHS(name, FUSED_BLOCKS) \
    } else if (f->kind == FUSED_NONE) { \
      FUSED_BLOCK_WIDTHS(name, FUSED_NONE) \
    } else { \
      FUSED_BLOCK_WIDTHS(name, FUSED_OTHER) \
    } \
  }
FUSED_BLOCK_KINDS(FusedBlockStep)
FUSED_BLOCK_KINDS(FusedBlockPrecondition)
FUSED_BLOCK_KINDS(FusedBlockDirection)
FUSED_BLOCK_KINDS(FusedBlockChebyshev)
FUSED_BLOCK_OF(FusedBlockUpdate)
FUSED_BLOCK_OF(FusedBlockDot)
FUSED_BLOCK_OF(FusedBlockResidual)
FUSED_BLOCK_OF(FusedBlockAdd)

const FusedBlockKernels SYS_ISA_NAME(FusedBlockKernels) = {SYS_KERNELS_NAME, SYS_ISA_NAME(SysSupported), SYS_ISA_NAME(FusedBlockMult), SYS_ISA_NAME(FusedBlockStep), SYS_ISA_NAME(FusedBlockPrecondition), SYS_ISA_NAME(FusedBlockDirection), SYS_ISA_NAME(FusedBlockUpdate), SYS_ISA_NAME(FusedBlockDot), SYS_ISA_NAME(FusedBlockResidual), SYS_ISA_NAME(FusedBlockAdd), SYS_ISA_NAME(FusedBlockChebyshev)};
