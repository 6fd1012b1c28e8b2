/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Template of the host's CCOO kernels; ccooparams.h has the layout. ccoo_isa.c includes it.

   The kernel multiplies a chunk in pieces of 64 groups. A 64-bit word marks the groups of a piece that end a row. A row's entries are then
   contiguous, and are multiplied four at a time.

   Non-finite entries of x. Padding multiplies zeros with entries of x; if such an entry is not finite, the sum is a NaN. The kernels recompute every
   row whose sum is a NaN from CSR, so that a NaN or an infinity reaches only rows that have an entry in its column.
*/
#include "sys/sysstore.h"
#include "mat/impls/ccoo/host/ccoohost.h"

#if (defined(__AVX2__) || defined(__AVX512F__)) && !defined(SYS_COMPLEX)
  #include <immintrin.h>
  #define CCOO_VECTORS
#endif

#define CCOO_PIECE    64   /* groups of a piece: the bits of a word */
#define CCOO_PREFETCH 4096 /* bytes ahead of the current piece */

/* Returns column offset k, of 1 << width bytes */
static SYS_INLINE uint32_t CcooOffset(const int width, const uint8_t *col, int k)
{
  uint16_t narrow;
  uint32_t wide;

  if (width == 0) return col[k];
  if (width == 1) {
    __builtin_memcpy(&narrow, col + 2 * k, sizeof(narrow));
    return narrow;
  }
  __builtin_memcpy(&wide, col + 4 * k, sizeof(wide));
  return wide;
}

#if defined(CCOO_VECTORS)
typedef SysReal Vec4 __attribute__((vector_size(4 * sizeof(SysReal)), aligned(sizeof(SysReal)), may_alias));

/* Adds the products of four entries. Shifts the offsets out of longer loads: gather instructions and single loads were slower on some processors. */
static SYS_INLINE void CcooAdd4(const int width, const SysScalar *val, const uint8_t *col, const SysScalar *x, Vec4 *s)
{
  uint64_t q[2];
  uint32_t p;
  Vec4     xs;

  if (width == 0) {
    __builtin_memcpy(&p, col, 4);
    xs = (Vec4){x[(uint8_t)p], x[(uint8_t)(p >> 8)], x[(uint8_t)(p >> 16)], x[p >> 24]};
  } else if (width == 1) {
    __builtin_memcpy(q, col, 8);
    xs = (Vec4){x[(uint16_t)q[0]], x[(uint16_t)(q[0] >> 16)], x[(uint16_t)(q[0] >> 32)], x[q[0] >> 48]};
  } else {
    __builtin_memcpy(q, col, 16);
    xs = (Vec4){x[(uint32_t)q[0]], x[q[0] >> 32], x[(uint32_t)q[1]], x[q[1] >> 32]};
  }
  *s += *(const Vec4 *)val * xs;
}

static SYS_INLINE SysScalar CcooSum4(const Vec4 *s)
{
  #if defined(SYS_SINGLE)
  const __m128 a = (__m128)*s, b = _mm_add_ps(a, _mm_movehl_ps(a, a));

  return _mm_cvtss_f32(_mm_add_ss(b, _mm_movehdup_ps(b)));
  #else
  const __m128d b = _mm_add_pd(_mm256_castpd256_pd128((__m256d)*s), _mm256_extractf128_pd((__m256d)*s, 1));

  return _mm_cvtsd_f64(_mm_add_sd(b, _mm_unpackhi_pd(b, b)));
  #endif
}
#endif

/* Returns the product of n consecutive entries, a multiple of K */
static SYS_INLINE SysScalar CcooRun(const int width, const int K, int n, const SysScalar *val, const uint8_t *col, const SysScalar *x)
{
  SysScalar s = 0;

#if defined(CCOO_VECTORS)
  Vec4 v[2] = {{0}, {0}};

  for (; n >= 8; n -= 8, val += 8, col += 8 << width) {
    CcooAdd4(width, val, col, x, &v[0]);
    CcooAdd4(width, val + 4, col + (4 << width), x, &v[1]);
  }
  v[0] += v[1];
  if (K < 8 && n & 4) {
    CcooAdd4(width, val, col, x, &v[0]);
    val += 4;
    col += 4 << width;
  }
  s = CcooSum4(&v[0]);
  if (K < 4 && n & 2) {
    s += val[0] * x[CcooOffset(width, col, 0)] + val[1] * x[CcooOffset(width, col, 1)];
    val += 2;
    col += 2 << width;
  }
  if (K < 2 && n & 1) s += val[0] * x[CcooOffset(width, col, 0)];
#else
  (void)K;
  for (int k = 0; k < n; k++) s += val[k] * x[CcooOffset(width, col, k)];
#endif
  return s;
}

#if defined(CCOO_VECTORS) && !defined(SYS_SINGLE)
  #define CCOO_ROWS_OF_8
/* Computes the sums of four rows of 8 entries, with the bits of CcooRun() */
static SYS_INLINE void CcooRows(const int width, const SysScalar *val, const uint8_t *col, const SysScalar *x, SysScalar *sum)
{
  Vec4    v[4];
  __m256d a, b;

  for (int r = 0; r < 4; r++, val += 8, col += 8 << width) {
    Vec4 w = {0};

    v[r] = (Vec4){0};
    CcooAdd4(width, val, col, x, &v[r]);
    CcooAdd4(width, val + 4, col + (4 << width), x, &w);
    v[r] += w;
  }
  a = _mm256_add_pd(_mm256_permute2f128_pd((__m256d)v[0], (__m256d)v[1], 0x20), _mm256_permute2f128_pd((__m256d)v[0], (__m256d)v[1], 0x31));
  b = _mm256_add_pd(_mm256_permute2f128_pd((__m256d)v[2], (__m256d)v[3], 0x20), _mm256_permute2f128_pd((__m256d)v[2], (__m256d)v[3], 0x31));
  a = _mm256_permute4x64_pd(_mm256_hadd_pd(a, b), 0xD8);
  _mm256_storeu_pd(sum, _mm256_add_pd(_mm256_setzero_pd(), a)); /* -0 becomes 0, as with CcooSums() */
}
#endif

/* Returns the bits of the n groups that end a row; reads n + 1 row offsets */
static SYS_INLINE uint64_t CcooEnds(const uint8_t *row, int n)
{
  const uint64_t all = n == CCOO_PIECE ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1;
  uint64_t       ends;

#if defined(__AVX512BW__) && defined(CCOO_VECTORS)
  ends = _mm512_cmpneq_epi8_mask(_mm512_loadu_si512(row), _mm512_loadu_si512(row + 1));
#elif defined(CCOO_VECTORS)
  const uint32_t lo = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_loadu_si256((const __m256i *)row), _mm256_loadu_si256((const __m256i *)(row + 1))));
  const uint32_t hi = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_loadu_si256((const __m256i *)(row + 32)), _mm256_loadu_si256((const __m256i *)(row + 33))));

  ends = ~((uint64_t)hi << 32 | lo);
#else
  ends = 0;
  for (int g = 0; g < n; g++) ends |= (uint64_t)(row[g] != row[g + 1]) << g;
#endif
  return ends & all;
}

#if defined(CCOO_VECTORS) && !defined(__AVX512F__)
  #define CCOO_REGISTER
/* Decodes n values through a table in registers */
static SYS_NOINLINE void SYS_ISA_NAME(DecodeRegister)(const SysTable *T, int n, const uint8_t *position, SysScalar *a)
{
  const __m256 t = _mm256_loadu_ps((const float *)T->value);

  #if defined(SYS_SINGLE)
  for (int k = 0; k < n; k += 8) _mm256_storeu_ps(a + k, _mm256_permutevar8x32_ps(t, _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(position + k)))));
  #else
  const __m256i lo   = _mm256_setr_epi32(~255, ~255, ~255 | 1, ~255 | 1, ~255 | 2, ~255 | 2, ~255 | 3, ~255 | 3); /* each index twice, and zeros */
  const __m256i four = _mm256_set1_epi32(4), odd = _mm256_set1_epi64x(INT64_C(1) << 32);

  for (int k = 0; k < n; k += 8) {
    int64_t q;

    __builtin_memcpy(&q, position + k, sizeof(q));
    for (int h = 0; h < 2; h++) {
      const __m256i p = _mm256_shuffle_epi8(_mm256_set1_epi64x(q), h ? _mm256_add_epi32(lo, four) : lo);

      _mm256_storeu_ps((float *)(a + k + 4 * h), _mm256_permutevar8x32_ps(t, _mm256_or_si256(_mm256_add_epi32(p, p), odd))); /* index p has words 2p and 2p + 1 */
    }
  }
  #endif
}
#endif

/* Returns the values of the chunk's entries k to k + n - 1: in place, or decoded into `room` */
static SYS_INLINE const SysScalar *CcooValuesOf(const CcooHost *A, const CcooChunk *h, int k, int n, SysScalar *room)
{
  const uint8_t *value = A->value + (int64_t)CCOO_ENTRY_BYTES * h->value;

  if (!(h->format & CCOO_TABLE)) return (const SysScalar *)value + k;
#if defined(CCOO_REGISTER)
  if (A->table->n <= SYS_LANES) SYS_ISA_NAME(DecodeRegister)(A->table, n, value + k, room);
  else SysTableDecode(A->table, n, value + k, room);
#else
  SysTableDecode(A->table, n, value + k, room);
#endif
  return room;
}

static SYS_INLINE void CcooPrefetch(const uint8_t *p, int64_t n)
{
  for (int64_t k = 0; k < n; k += 64) __builtin_prefetch(p + CCOO_PREFETCH + k, 0, 2);
}

/* Computes the sums of a chunk's rows; returns their number */
static SYS_INLINE int CcooSums(const int width, const int K, const CcooHost *A, int64_t c, const SysScalar *x, SysScalar *sum)
{
  const CcooChunk *h      = A->chunk + c;
  const int        ngroup = CcooGroups(A, c), vbytes = h->format & CCOO_TABLE ? 1 : (int)sizeof(SysScalar);
  const uint8_t   *row = A->index + (int64_t)CCOO_ENTRY_BYTES * h->index, *col = row + (h->format & CCOO_ROWS ? ngroup : 0);
  SysScalar        room[CCOO_PIECE * CCOO_MAX_K], open                         = 0;
  int              nrow = 0;

  x += h->col;
  __asm__("" : "+r"(x)); /* otherwise the compiler adds the base to every offset */
  for (int g0 = 0; g0 < ngroup; g0 += CCOO_PIECE) {
    const int        n    = ngroup - g0 < CCOO_PIECE ? ngroup - g0 : CCOO_PIECE;
    const SysScalar *val  = CcooValuesOf(A, h, g0 * K, n * K, room);
    const uint8_t   *at   = col + ((int64_t)g0 * K << width);
    uint64_t         ends = h->format & CCOO_ROWS ? CcooEnds(row + g0, n) : 0;
    int              g    = 0;

    CcooPrefetch(at, (int64_t)n * K << width);
    CcooPrefetch(A->value + (int64_t)CCOO_ENTRY_BYTES * h->value + (int64_t)g0 * K * vbytes, (int64_t)n * K * vbytes);
    if (g0 + n == ngroup) ends |= UINT64_C(1) << (n - 1);
#if defined(CCOO_ROWS_OF_8)
    if (K == 8 && ends == ~UINT64_C(0)) { /* every group is a row, as in seven-point stencils */
      for (; g < n; g += 4) CcooRows(width, val + g * K, at + (g * K << width), x, sum + nrow + g);
      sum[nrow] += open;
      open = 0;
      nrow += n;
      continue;
    }
#endif
    for (; ends; ends &= ends - 1) {
      const int end = __builtin_ctzll(ends) + 1;

      sum[nrow++] = open + CcooRun(width, K, (end - g) * K, val + g * K, at + (g * K << width), x);
      open        = 0;
      g           = end;
    }
    if (g < n) open += CcooRun(width, K, (n - g) * K, val + g * K, at + (g * K << width), x);
  }
  return nrow;
}

/* One function for each width and K, both constants in the kernel */
#define SUMS(width, K) \
  static int SYS_ISA_NAME(Sums_##width##_##K)(const CcooHost *A, int64_t c, const SysScalar *x, SysScalar *sum) \
  { \
    return CcooSums(width, K, A, c, x, sum); \
  }
#define SUMS_OF(K) SUMS(0, K) SUMS(1, K) SUMS(2, K)
#define SUMS_NAMED(K) \
  { \
    SYS_ISA_NAME(Sums_0_##K), SYS_ISA_NAME(Sums_1_##K), SYS_ISA_NAME(Sums_2_##K) \
  }

SUMS_OF(1)
SUMS_OF(2)
SUMS_OF(4)
SUMS_OF(8)

typedef int (*SumsFunction)(const CcooHost *, int64_t, const SysScalar *, SysScalar *);
static const SumsFunction sums_functions[4][3] = {SUMS_NAMED(1), SUMS_NAMED(2), SUMS_NAMED(4), SUMS_NAMED(8)};

/* Returns the product of a row, from CSR */
static SysScalar SYS_ISA_NAME(RowSum)(const CcooHost *A, int64_t r, const SysScalar *x)
{
  SysScalar s = 0;

  for (SysInt k = A->csr.i[r]; k < A->csr.i[r + 1]; k++) s += A->csr.a[k] * x[A->csr.j[k]];
  return s;
}

/* Stores the sums of the n rows that end in the chunk */
static SYS_INLINE void CcooStore(const SysStore how, const CcooHost *A, int64_t r, int n, SysScalar *sum, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z)
{
  int bad = 0;

  for (int k = 0; k < n; k++) bad |= sum[k] != sum[k];
  for (int k = 0; k < n && bad; k++) {
    if (sum[k] != sum[k]) sum[k] = SYS_ISA_NAME(RowSum)(A, r + k, x);
  }
  for (int k = 0; k < n; k++) z[r + k] = SysStored(how, alpha, sum[k], beta, y, z, r + k);
}

static SYS_INLINE void CcooChunkAll(const SysStore how, const CcooHost *A, int64_t c, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z)
{
  const CcooChunk *h = A->chunk + c;
  SysScalar        sum[CCOO_MAX_B];
  int              first = 0, last = (*sums_functions[A->params.k == 8 ? 3 : A->params.k / 2][h->format & CCOO_WIDTH])(A, c, x, sum);

  if (h->format & CCOO_CONTINUES) A->carry[2 * c] = sum[first++];
  if (h->format & CCOO_GOES_ON && last > first) A->carry[2 * c + 1] = sum[--last];
  CcooStore(how, A, (int64_t)h->row + first, last - first, sum + first, alpha, x, beta, y, z);
}

/* Adds the partial sums of the row that begins in chunk c and ends later, in the order of the chunks, and stores the row */
static SYS_INLINE void CcooCarry(const SysStore how, const CcooHost *A, int64_t c, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z)
{
  const CcooChunk *h = A->chunk + c;
  SysScalar        s = A->carry[2 * c + 1];

  if (!(h->format & CCOO_GOES_ON) || CcooThrough(h->format)) return;
  do {
    h++;
    s += A->carry[2 * (h - A->chunk)];
  } while (CcooThrough(h->format));
  CcooStore(how, A, h->row, 1, &s, alpha, x, beta, y, z);
}

static SYS_INLINE void CcooMultAll(const SysStore how, const CcooHost *A, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z)
{
#pragma omp parallel for num_threads(A->nthread) if (A->nthread > 1) schedule(static)
  for (int t = 0; t < A->nthread; t++) {
    for (int64_t c = CcooFirst(A, t); c < CcooFirst(A, t + 1); c++) CcooChunkAll(how, A, c, alpha, x, beta, y, z);
  }
#pragma omp parallel for num_threads(A->nthread) if (A->nthread > 1) schedule(static)
  for (int t = 0; t < A->nthread; t++) {
    for (int64_t c = CcooFirst(A, t); c < CcooFirst(A, t + 1); c++) CcooCarry(how, A, c, alpha, x, beta, y, z);
  }
}

/* Computes z = alpha A x + beta y. y may be z; beta == 0: y is not read. */
static void SYS_ISA_NAME(Mult)(const CcooHost *A, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z)
{
  const SysStore how = SysFirstStore(beta, y, z);

  if (!A->nchunk) SysStartSum(0, A->csr.m, beta, y, z);
  else if (how == SYS_STORE_SET) CcooMultAll(SYS_STORE_SET, A, alpha, x, beta, y, z);
  else if (how == SYS_STORE_AXPY) CcooMultAll(SYS_STORE_AXPY, A, alpha, x, beta, y, z);
  else CcooMultAll(SYS_STORE_ADD, A, alpha, x, beta, y, z);
}

/* Adds f times row r's entries in chunk c, from CSR */
static void SYS_ISA_NAME(RowTranspose)(const CcooHost *A, int64_t c, int64_t r, SysScalar f, SysScalar *z)
{
  const SysInt begin = A->csr.i[r] > A->entry[c] ? A->csr.i[r] : A->entry[c], end = A->csr.i[r + 1] < A->entry[c + 1] ? A->csr.i[r + 1] : A->entry[c + 1];

  for (SysInt k = begin; k < end; k++) z[A->csr.j[k]] += A->csr.a[k] * f;
}

static void SYS_ISA_NAME(ChunkTranspose)(const CcooHost *A, int64_t c, SysScalar alpha, const SysScalar *x, SysScalar *z)
{
  const CcooChunk *h      = A->chunk + c;
  const int        ngroup = CcooGroups(A, c), K = A->params.k, width = (int)(h->format & CCOO_WIDTH);
  const uint8_t   *row = A->index + (int64_t)CCOO_ENTRY_BYTES * h->index, *col = row + (h->format & CCOO_ROWS ? ngroup : 0);
  SysScalar        room[CCOO_PIECE * CCOO_MAX_K];

  for (int g0 = 0; g0 < ngroup; g0 += CCOO_PIECE) {
    const int        n   = ngroup - g0 < CCOO_PIECE ? ngroup - g0 : CCOO_PIECE;
    const SysScalar *val = CcooValuesOf(A, h, g0 * K, n * K, room);

    for (int g = 0; g < n; g++) {
      const int64_t   r = (int64_t)h->row + (h->format & CCOO_ROWS ? row[g0 + g] : 0);
      const SysScalar f = alpha * x[r];

      if (SysNotFinite(f)) { /* only one chunk handles the row */
        if (g0 + g == 0 || (h->format & CCOO_ROWS && row[g0 + g] != row[g0 + g - 1])) SYS_ISA_NAME(RowTranspose)(A, c, r, f, z);
        continue;
      }
      for (int k = 0; k < K; k++) z[(int64_t)h->col + CcooOffset(width, col, (g0 + g) * K + k)] += val[g * K + k] * f;
    }
  }
}

static void SYS_ISA_NAME(ThreadTranspose)(const void *data, int t, SysScalar alpha, const SysScalar *x, SysScalar *z)
{
  const CcooHost *A = (const CcooHost *)data;

  for (int64_t c = CcooFirst(A, t); c < CcooFirst(A, t + 1); c++) SYS_ISA_NAME(ChunkTranspose)(A, c, alpha, x, z);
}

static void SYS_ISA_NAME(MultTranspose)(const CcooHost *A, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z)
{
  SysStretchesMult(&A->work, A->nthread, A->csr.n, SYS_ISA_NAME(ThreadTranspose), A, alpha, x, beta, y, z);
}

const CcooKernels SYS_ISA_NAME(CcooKernels) = {SYS_KERNELS_NAME, SYS_ISA_NAME(SysSupported), SYS_ISA_NAME(Mult), SYS_ISA_NAME(MultTranspose)};
