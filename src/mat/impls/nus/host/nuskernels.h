/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Template of the host's NUS-SELL kernels; nushost.h has the layout. nus_isa.c includes it.

   Non-finite entries of x. Filling multiplies zeros with entries of x in columns where the row has no entry. If such an entry of x is not finite, the
   sum is a NaN. The kernels recompute every row whose sum is a NaN from CSR, so that a NaN or an infinity reaches only rows that have an entry in its
   column.
*/
#include "sys/sysstore.h"
#include "mat/impls/nus/host/nushost.h"
#if defined(__FMA__)
  #include <immintrin.h>
#endif

#define PREFETCH 8192 /* bytes ahead; with the hardware prefetcher alone a third of the bandwidth was unused */

#if defined(SYS_COMPLEX)
/* Adds a step of eight lanes; with NUS_DIAGONAL lane l has column l */
static SYS_INLINE void NusStep8(const int kind, const SysStorage stored, const SysTable *table, const char *v, const uint16_t *col, const SysScalar *x, SysScalar *s)
{
  SysScalar val[8];

  if (stored == SYS_STORAGE_PLACES) SysTableDecode(table, 8, (const uint8_t *)v, val);
  else __builtin_memcpy(val, v, sizeof(val));
  for (int l = 0; l < 8; l++) {
    uint32_t j = (uint32_t)l;

    if (kind == NUS_NARROW) j = col[l];
    if (kind == NUS_WIDE) __builtin_memcpy(&j, col + 2 * l, sizeof(j));
    s[l] += val[l] * x[j];
  }
}
#else
typedef SysReal Lanes __attribute__((vector_size(SYS_LANES * sizeof(SysReal)), aligned(sizeof(SysReal)), may_alias));
typedef float   FloatLanes __attribute__((vector_size(SYS_LANES * sizeof(float)), aligned(sizeof(float)), may_alias));

/* SysMulAdd() in each lane */
static SYS_INLINE Lanes NusMulAdd(Lanes a, Lanes b, Lanes c)
{
  #if !defined(__FMA__)
  return a * b + c;
  #elif defined(SYS_SINGLE)
  return (Lanes)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
  #elif SYS_REGISTER == 64
  return (Lanes)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
  #else
  return (Lanes)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
  #endif
}

  #if SYS_LANES == 8
    #define NUS_GATHER(x, at, l) \
      (Lanes) \
      { \
        x[at(l)], x[at(l + 1)], x[at(l + 2)], x[at(l + 3)], x[at(l + 4)], x[at(l + 5)], x[at(l + 6)], x[at(l + 7)] \
      }
  #elif SYS_LANES == 4
    #define NUS_GATHER(x, at, l) \
      (Lanes) \
      { \
        x[at(l)], x[at(l + 1)], x[at(l + 2)], x[at(l + 3)] \
      }
  #else
    #define NUS_GATHER(x, at, l) \
      (Lanes) \
      { \
        x[at(l)], x[at(l + 1)] \
      }
  #endif

/* The index of lane l */
  #define NUS_AT16(l) (uint16_t)(q[(l) / 4] >> 16 * ((l) % 4))
  #define NUS_AT32(l) (uint32_t)(q[(l) / 2] >> 32 * ((l) % 2))

/* Adds a step of eight lanes. Shifts the indices out of 64-bit loads: gather instructions and single loads were slower on some processors. */
static SYS_INLINE void NusStep8(const int kind, const SysStorage stored, const SysTable *table, const char *val, const uint16_t *col, const SysScalar *x, SysScalar *s)
{
  uint64_t  q[4] = {0};
  SysScalar v[8];

  if (kind == NUS_NARROW) __builtin_memcpy(q, col, 16);
  if (kind == NUS_WIDE) __builtin_memcpy(q, col, 32);
  if (stored == SYS_STORAGE_PLACES) SysTableDecode(table, 8, (const uint8_t *)val, v);
  #pragma GCC unroll 4
  for (int l = 0; l < 8; l += SYS_LANES) {
    Lanes xs, vs;

    if (kind == NUS_DIAGONAL) xs = *(const Lanes *)(x + l);
    else if (kind == NUS_NARROW) xs = NUS_GATHER(x, NUS_AT16, l);
    else xs = NUS_GATHER(x, NUS_AT32, l);
    if (stored == SYS_STORAGE_PLACES) vs = *(const Lanes *)(v + l);
    else if (stored == SYS_STORAGE_SINGLE) vs = __builtin_convertvector(*(const FloatLanes *)((const float *)val + l), Lanes);
    else vs = *(const Lanes *)((const SysScalar *)val + l);
    *(Lanes *)(s + l) = NusMulAdd(vs, xs, *(Lanes *)(s + l));
  }
}
#endif

/* Computes the sums of the C rows of a chunk of n steps */
static SYS_INLINE void NusChunkOfKind(const int kind, const SysStorage stored, const SysTable *table, const int C, uint32_t n, const char *val, const uint16_t *col, const SysScalar *x, SysScalar *sum)
{
  const size_t size = SysStorageSize(stored);
  SysScalar    s[NUS_MAX_C];

  for (int l = 0; l < C; l++) s[l] = 0;
  __asm__("" : "+r"(x)); /* otherwise the compiler adds the base to every index */
  for (uint32_t i = 0; i < n; i++, val += size * C, col += kind == NUS_DIAGONAL ? 2 : (kind == NUS_NARROW ? C : 2 * C)) {
    const SysScalar *xs = x;

    if (stored == SYS_STORAGE_SINGLE || stored == SYS_STORAGE_PLACES) __builtin_prefetch(val + PREFETCH, 0, 2); /* a step's values fill one or two lines */
    if (kind == NUS_DIAGONAL) {
      uint32_t first;

      __builtin_memcpy(&first, col, sizeof(first));
      xs = x + first;
    }
#pragma GCC unroll 4
    for (int g = 0; g < C; g += 8) {
      if (stored == SYS_STORAGE_PLAIN) __builtin_prefetch(val + size * g + PREFETCH, 0, 2);
      NusStep8(kind, stored, table, val + size * g, col + (kind == NUS_WIDE ? 2 * g : g), kind == NUS_DIAGONAL ? xs + g : xs, s + g);
    }
  }
  for (int l = 0; l < C; l++) sum[l] = s[l];
}

static SYS_INLINE void NusChunkAll(const int C, const SysStorage stored, const SysTable *table, NusChunk h, const char *val, const uint16_t *col, const SysScalar *x, SysScalar *sum)
{
  if (h.kind == NUS_DIAGONAL) NusChunkOfKind(NUS_DIAGONAL, stored, table, C, h.n, val, col, x, sum);
  else if (h.kind == NUS_NARROW) NusChunkOfKind(NUS_NARROW, stored, table, C, h.n, val, col, x + h.base, sum);
  else NusChunkOfKind(NUS_WIDE, stored, table, C, h.n, val, col, x + h.base, sum);
}

/* Returns the product of row r's entries in the tile's segment, from CSR */
static SysScalar SYS_ISA_NAME(RowSum)(const NusHost *A, const NusTile *T, int64_t r, const SysScalar *x)
{
  SysScalar s = 0;
  int64_t   position;

  for (SysInt k = A->csr.i[r]; k < A->csr.i[r + 1]; k++) {
    if (NusSegmentOf(A, A->csr.j[k], &position) == T->segment) s = SysMulAdd(A->csr.a[k], x[A->csr.j[k]], s);
  }
  return s;
}

/* Returns the number of rows of an unsplit chunk: C, or fewer in the last chunk of a sorted tile or of the matrix */
static SYS_INLINE int NusChunkRows(const NusHost *A, const NusTile *T, const int C, int c)
{
  const int64_t left = T->sorted ? T->nrow - (int64_t)(c - T->nsplit) * C : A->csr.m - T->row - C * (int64_t)A->perm[T->perm + c];

  return left < C ? (int)left : C;
}

/* Recomputes the NaN sums of nl rows, the first of which is row r, from CSR */
static SYS_NOINLINE void SYS_ISA_NAME(ReplaceNaNs)(const NusHost *A, const NusTile *T, int nl, int64_t r, const uint16_t *perm, const SysScalar *x, SysScalar *sum)
{
  for (int l = 0; l < nl; l++) {
    if (sum[l] != sum[l]) sum[l] = SYS_ISA_NAME(RowSum)(A, T, r + (T->sorted ? perm[l] : l), x);
  }
}

/* Stores the sums of a chunk with fewer than C rows, or of a long chunk where the SysStore is no constant of the kernel */
static SYS_NOINLINE void SYS_ISA_NAME(StoreRows)(SysStore how, const NusTile *T, int nl, int64_t r, const uint16_t *perm, const SysScalar *sum, SysScalar alpha, SysScalar beta, const SysScalar *y, SysScalar *z)
{
  for (int l = 0; l < nl; l++) {
    const int64_t row = r + (T->sorted ? perm[l] : l);

    z[row] = SysStored(how, alpha, sum[l], beta, y, z, row);
  }
}

/* Stores the sums of an unsplit chunk; perm has its rows or, in an unsorted tile, its number */
static SYS_INLINE void NusStoreChunk(const int C, const SysStore how, const NusHost *A, const NusTile *T, int nl, const uint16_t *perm, SysScalar *sum, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z)
{
  const int64_t r = T->sorted ? T->row : T->row + C * (int64_t)*perm;

  if (SysAnyNaN(C, sum)) SYS_ISA_NAME(ReplaceNaNs)(A, T, nl, r, perm, x, sum);
  if (nl < C || (T->sorted && C > 8 && !__builtin_constant_p(how))) SYS_ISA_NAME(StoreRows)(how, T, nl, r, perm, sum, alpha, beta, y, z);
  else if (T->sorted) {
#pragma GCC unroll 32
    for (int l = 0; l < C; l++) z[r + perm[l]] = SysStored(how, alpha, sum[l], beta, y, z, r + perm[l]);
  } else {
    for (int l = 0; l < C; l++) z[r + l] = SysStored(how, alpha, sum[l], beta, y, z, r + l);
  }
}

/* Stores the empty rows of a scope's first tile */
static SYS_NOINLINE void SYS_ISA_NAME(StoreEmpty)(const int C, SysStore how, const NusHost *A, const NusTile *T, SysScalar alpha, SysScalar beta, const SysScalar *y, SysScalar *z)
{
  const uint16_t *perm = A->perm + T->perm;

  for (int c = T->nfilled; c < T->nchunk; c++) {
    const int nl = NusChunkRows(A, T, C, c);

    for (int l = 0; l < nl; l++) {
      const int64_t r = T->row + (T->sorted ? perm[T->nsplit + (c - T->nsplit) * C + l] : C * perm[c] + l);

      z[r] = SysStored(how, alpha, 0, beta, y, z, r);
    }
  }
}

/* Multiplies the split chunks, one long row each, which are not diagonals */
static SYS_INLINE void NusTileSplit(const int C, const SysStorage stored, SysStore how, const NusHost *A, const NusTile *T, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z)
{
  const size_t     size = SysStorageSize(stored);
  const uint16_t  *col  = A->col + T->col;
  const char      *val  = (const char *)A->val + (stored == SYS_STORAGE_SHARED ? 0 : size * (size_t)T->slot);
  const SysScalar *xs   = NusGathered(A, T->segment) ? A->xg : x;

  for (int c = 0; c < T->nsplit; c++) {
    const NusChunk h = A->chunk[T->chunk + c];
    const int64_t  r = T->row + A->perm[T->perm + c];
    SysScalar      sum[NUS_MAX_C], s = 0;

    if (stored == SYS_STORAGE_SHARED) val = (const char *)A->val + size * C * A->share[T->chunk + c];
    if (h.kind == NUS_NARROW) NusChunkOfKind(NUS_NARROW, stored, &A->values.table, C, h.n, val, col, xs + h.base, sum);
    else NusChunkOfKind(NUS_WIDE, stored, &A->values.table, C, h.n, val, col, xs + h.base, sum);
    for (int l = 0; l < C; l++) s += sum[l];
    if (s != s) s = SYS_ISA_NAME(RowSum)(A, T, r, x);
    z[r] = SysStored(how, alpha, s, beta, y, z, r);
    val += size * C * h.n;
    col += (int64_t)NusStepUnits(h.kind, C) * h.n;
  }
}

static SYS_INLINE void NusTileAll(const int C, const SysStorage stored, const SysStore how, const NusHost *A, const NusTile *T, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z)
{
  const NusChunk  *chunk = A->chunk + T->chunk;
  const uint16_t  *perm = A->perm + T->perm + T->nsplit, *col = A->col + T->col;
  const size_t     size  = SysStorageSize(stored);
  const uint32_t  *share = stored == SYS_STORAGE_SHARED ? A->share + T->chunk : NULL;
  const char      *val   = (const char *)A->val + (stored == SYS_STORAGE_SHARED ? 0 : size * (size_t)T->slot);
  const SysTable  *table = &A->values.table;
  const SysScalar *xs    = NusGathered(A, T->segment) ? A->xg : x;
  SysScalar        sum[NUS_MAX_C];
  int              c;

  for (c = 0; c < T->nsplit; c++) {
    val += size * C * chunk[c].n;
    col += (int64_t)NusStepUnits(chunk[c].kind, C) * chunk[c].n;
  }
  for (; c < T->nfilled; c++) {
    if (stored == SYS_STORAGE_SHARED) val = (const char *)A->val + size * C * share[c];
    NusChunkAll(C, stored, table, chunk[c], val, col, xs, sum);
    NusStoreChunk(C, how, A, T, NusChunkRows(A, T, C, c), perm, sum, alpha, x, beta, y, z);
    val += size * C * chunk[c].n;
    col += (int64_t)NusStepUnits(chunk[c].kind, C) * chunk[c].n;
    perm += T->sorted ? C : 1;
  }
  if (how != SYS_STORE_ADD) SYS_ISA_NAME(StoreEmpty)(C, how, A, T, alpha, beta, y, z);
}

static SYS_INLINE uint32_t NusJaggedColumn(int kind, const uint16_t *col, int64_t slot)
{
  uint32_t j = 0;

  if (kind == NUS_NARROW) return col[slot];
  __builtin_memcpy(&j, col + 2 * slot, sizeof(j));
  return j;
}

/* Computes the sums of C rows of jagged diagonals: steps of all rows up to the shortest, then the remaining steps of the first rows, which are longer */
static SYS_INLINE void NusJaggedChunk(const int kind, const SysStorage stored, const int C, const NusHost *A, const NusTile *T, int c, const SysScalar *x, SysScalar *sum)
{
  const NusChunk  h    = A->chunk[T->chunk + c];
  const uint32_t *diag = A->diag + T->diag;
  const uint16_t *col  = A->col + T->col;
  const size_t    size = SysStorageSize(stored);
  const char     *val  = (const char *)A->val + size * (size_t)T->slot;
  uint32_t        i    = 0;

  for (int l = 0; l < C; l++) sum[l] = 0;
  for (; i < h.base; i++) {
    const int64_t slot = (int64_t)diag[i] + (int64_t)c * C;

#pragma GCC unroll 4
    for (int g = 0; g < C; g += 8) NusStep8(kind, stored, &A->values.table, val + size * (size_t)(slot + g), col + (kind == NUS_WIDE ? 2 : 1) * (slot + g), x, sum + g);
  }
  for (; i < h.n; i++) {
    const int64_t slot = (int64_t)diag[i] + (int64_t)c * C, left = (int64_t)diag[i + 1] - slot;
    int           l = 0;

    for (; l + 8 <= left; l += 8) NusStep8(kind, stored, &A->values.table, val + size * (size_t)(slot + l), col + (kind == NUS_WIDE ? 2 : 1) * (slot + l), x, sum + l);
    for (; l < left; l++) sum[l] = SysMulAdd(SysValuesAt(stored, &A->values.table, A->val, (size_t)(T->slot + slot + l)), x[NusJaggedColumn(kind, col, slot + l)], sum[l]);
  }
}

/* Multiplies jagged diagonals, C rows at a time */
static SYS_INLINE void NusJaggedTile(const int C, const SysStorage stored, SysStore how, const NusHost *A, const NusTile *T, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z)
{
  const uint16_t  *perm = A->perm + T->perm;
  const SysScalar *xs   = (NusGathered(A, T->segment) ? A->xg : x) + T->base;

  for (int c = 0; c < T->nfilled; c++) {
    SysScalar sum[NUS_MAX_C];

    if (T->kind == NUS_NARROW) NusJaggedChunk(NUS_NARROW, stored, C, A, T, c, xs, sum);
    else NusJaggedChunk(NUS_WIDE, stored, C, A, T, c, xs, sum);
    NusStoreChunk(C, how, A, T, NusChunkRows(A, T, C, c), perm + (int64_t)c * C, sum, alpha, x, beta, y, z);
  }
  if (how != SYS_STORE_ADD) SYS_ISA_NAME(StoreEmpty)(C, how, A, T, alpha, beta, y, z);
}

/* One function for each SysStore and C, both constants in the kernel; coded values have one for each C */
#define TILE_ARGUMENTS const NusHost *A, const NusTile *T, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z
#define TILE(C, how) \
  static void SYS_ISA_NAME(Tile_##C##_##how)(TILE_ARGUMENTS) \
  { \
    NusTileAll(C, SYS_STORAGE_PLAIN, how, A, T, alpha, x, beta, y, z); \
  }
#define TILE_SMALL(C) \
  static void SYS_ISA_NAME(TileSmall_##C)(SysStore how, TILE_ARGUMENTS) \
  { \
    if (A->values.stored == SYS_STORAGE_PLACES) NusTileAll(C, SYS_STORAGE_PLACES, how, A, T, alpha, x, beta, y, z); \
    else if (A->values.stored == SYS_STORAGE_SHARED) NusTileAll(C, SYS_STORAGE_SHARED, how, A, T, alpha, x, beta, y, z); \
    else NusTileAll(C, SYS_STORAGE_SINGLE, how, A, T, alpha, x, beta, y, z); \
  }
#define TILE_SPLIT(C) \
  static void SYS_ISA_NAME(TileSplit_##C)(SysStore how, TILE_ARGUMENTS) \
  { \
    if (A->values.stored == SYS_STORAGE_PLAIN) NusTileSplit(C, SYS_STORAGE_PLAIN, how, A, T, alpha, x, beta, y, z); \
    else if (A->values.stored == SYS_STORAGE_PLACES) NusTileSplit(C, SYS_STORAGE_PLACES, how, A, T, alpha, x, beta, y, z); \
    else if (A->values.stored == SYS_STORAGE_SHARED) NusTileSplit(C, SYS_STORAGE_SHARED, how, A, T, alpha, x, beta, y, z); \
    else NusTileSplit(C, SYS_STORAGE_SINGLE, how, A, T, alpha, x, beta, y, z); \
  }
#define TILES(C) TILE_SPLIT(C) TILE(C, SYS_STORE_SET) TILE(C, SYS_STORE_AXPY) TILE(C, SYS_STORE_ADD) TILE_SMALL(C)
#define TILES_NAMED(C) \
  { \
    SYS_ISA_NAME(Tile_##C##_SYS_STORE_SET), SYS_ISA_NAME(Tile_##C##_SYS_STORE_AXPY), SYS_ISA_NAME(Tile_##C##_SYS_STORE_ADD) \
  }

TILES(8)
TILES(16)
TILES(24)
TILES(32)

typedef void (*TileFunction)(TILE_ARGUMENTS);
typedef void (*TileSmallFunction)(SysStore, TILE_ARGUMENTS);
static const TileFunction      tile_functions[4][3]    = {TILES_NAMED(8), TILES_NAMED(16), TILES_NAMED(24), TILES_NAMED(32)};
static const TileSmallFunction tile_small_functions[4] = {SYS_ISA_NAME(TileSmall_8), SYS_ISA_NAME(TileSmall_16), SYS_ISA_NAME(TileSmall_24), SYS_ISA_NAME(TileSmall_32)};

static const TileSmallFunction tile_split_functions[4] = {SYS_ISA_NAME(TileSplit_8), SYS_ISA_NAME(TileSplit_16), SYS_ISA_NAME(TileSplit_24), SYS_ISA_NAME(TileSplit_32)};

static void SYS_ISA_NAME(MultJagged)(SysStore how, TILE_ARGUMENTS)
{
#define JAGGED(C) \
  if (A->values.stored == SYS_STORAGE_PLAIN) NusJaggedTile(C, SYS_STORAGE_PLAIN, how, A, T, alpha, x, beta, y, z); \
  else if (A->values.stored == SYS_STORAGE_PLACES) NusJaggedTile(C, SYS_STORAGE_PLACES, how, A, T, alpha, x, beta, y, z); \
  else NusJaggedTile(C, SYS_STORAGE_SINGLE, how, A, T, alpha, x, beta, y, z)
  if (A->params.c == 8) {
    JAGGED(8);
  } else if (A->params.c == 16) {
    JAGGED(16);
  } else if (A->params.c == 24) {
    JAGGED(24);
  } else {
    JAGGED(32);
  }
#undef JAGGED
}

static void SYS_ISA_NAME(MultTile)(const NusHost *A, const NusTile *T, SysStore first, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z)
{
  const SysStore how = T->first ? first : SYS_STORE_ADD;

  if (A->params.rows != NUS_JDS && T->nsplit) tile_split_functions[A->params.c / 8 - 1](how, A, T, alpha, x, beta, y, z);
  if (A->params.rows == NUS_JDS) SYS_ISA_NAME(MultJagged)(how, A, T, alpha, x, beta, y, z);
  else if (A->values.stored == SYS_STORAGE_PLAIN) tile_functions[A->params.c / 8 - 1][how](A, T, alpha, x, beta, y, z);
  else tile_small_functions[A->params.c / 8 - 1](how, A, T, alpha, x, beta, y, z);
}

/* Computes z = alpha A x + beta y. y may be z; beta == 0: y is not read. */
static void SYS_ISA_NAME(Mult)(const NusHost *A, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z)
{
  const SysStore first = SysFirstStore(beta, y, z);

  if (A->ngathered) {
#pragma omp parallel for num_threads(A->nthread) if (A->nthread > 1) schedule(static)
    for (int64_t k = 0; k < A->ngathered; k++) A->xg[k] = x[A->order[k]];
  }
#pragma omp parallel for num_threads(A->nthread) if (A->nthread > 1) schedule(static)
  for (int t = 0; t < A->nthread; t++) {
    for (int64_t k = A->thread_tile[t]; k < A->thread_tile[t + 1]; k++) SYS_ISA_NAME(MultTile)(A, A->tile + k, first, alpha, x, beta, y, z);
  }
}

/* Adds f times row r's entries in the segment to the sums of gathered columns or to z */
static void SYS_ISA_NAME(RowTranspose)(const NusHost *A, const NusTile *T, int64_t r, SysScalar f, SysScalar *z)
{
  for (SysInt k = A->csr.i[r]; k < A->csr.i[r + 1]; k++) {
    int64_t position;

    if (NusSegmentOf(A, A->csr.j[k], &position) == T->segment) z[position] = SysMulAdd(A->csr.a[k], f, z[position]);
  }
}

static SYS_INLINE void NusTileTranspose(const SysStorage stored, const NusHost *A, const NusTile *T, SysScalar alpha, const SysScalar *x, SysScalar *z)
{
  const int       C    = A->params.c;
  const uint16_t *perm = A->perm + T->perm, *col = A->col + T->col;
  int64_t         val = T->slot;

  for (int c = 0; c < T->nfilled; c++) {
    const NusChunk h     = A->chunk[T->chunk + c];
    const int      split = c < T->nsplit, nl = split ? 1 : NusChunkRows(A, T, C, c);
    const int64_t  begin = stored == SYS_STORAGE_SHARED ? C * (int64_t)A->share[T->chunk + c] : val;
    SysScalar     *zs    = z + (h.kind == NUS_DIAGONAL ? 0 : h.base), factor[NUS_MAX_C];
    int64_t        row[NUS_MAX_C];
    int            bad = 0;

    for (int l = 0; l < nl; l++) {
      row[l]    = T->row + (split ? perm[c] : (T->sorted ? perm[T->nsplit + (c - T->nsplit) * C + l] : C * perm[c] + l));
      factor[l] = alpha * x[row[l]];
      bad |= SysNotFinite(factor[l]);
    }
    if (bad) {
      for (int l = 0; l < nl; l++) SYS_ISA_NAME(RowTranspose)(A, T, row[l], alpha * x[row[l]], z);
    } else {
      for (int l = nl; l < C; l++) factor[l] = split ? factor[0] : 0;
      for (uint32_t i = 0; i < h.n; i++) {
        const int64_t slot = (int64_t)C * i;

        for (int l = 0; l < C; l++) {
          SysScalar *to;
          uint32_t   j;

          if (h.kind == NUS_NARROW) j = col[slot + l];
          else __builtin_memcpy(&j, col + 2 * (h.kind == NUS_WIDE ? slot + l : i), sizeof(j));
          to  = zs + (h.kind == NUS_DIAGONAL ? (int64_t)j + l : j);
          *to = SysMulAdd(SysValuesAt(stored, &A->values.table, A->val, (size_t)(begin + slot + l)), factor[l], *to);
        }
      }
    }
    val += (int64_t)C * h.n;
    col += (int64_t)NusStepUnits(h.kind, C) * h.n;
  }
}

static void SYS_ISA_NAME(TileTranspose)(const NusHost *A, const NusTile *T, SysScalar alpha, const SysScalar *x, SysScalar *z)
{
  if (A->values.stored == SYS_STORAGE_PLAIN) NusTileTranspose(SYS_STORAGE_PLAIN, A, T, alpha, x, z);
  else NusTileTranspose(A->values.stored, A, T, alpha, x, z);
}

static void SYS_ISA_NAME(JaggedTranspose)(const NusHost *A, const NusTile *T, SysScalar alpha, const SysScalar *x, SysScalar *z)
{
  const uint32_t *diag = A->diag + T->diag;

  for (int64_t k = 0; k < T->nrow; k++) {
    const SysScalar f = alpha * x[T->row + A->perm[T->perm + k]];

    for (int32_t i = 0; i < T->ndiag && (int64_t)diag[i] + k < diag[i + 1]; i++) {
      const int64_t slot = (int64_t)diag[i] + k;
      SysScalar    *to   = z + T->base + (int64_t)NusJaggedColumn(T->kind, A->col + T->col, slot);

      *to = SysMulAdd(SysValuesAt(A->values.stored, &A->values.table, A->val, (size_t)(T->slot + slot)), f, *to);
    }
  }
}

static void SYS_ISA_NAME(ThreadTranspose)(const NusHost *A, int t, SysScalar alpha, const SysScalar *x, SysScalar *gathered, SysScalar *z)
{
  for (int64_t k = A->thread_tile[t]; k < A->thread_tile[t + 1]; k++) {
    const NusTile *T  = A->tile + k;
    SysScalar     *to = NusGathered(A, T->segment) ? gathered : z;

    if (A->params.rows == NUS_JDS) SYS_ISA_NAME(JaggedTranspose)(A, T, alpha, x, to);
    else SYS_ISA_NAME(TileTranspose)(A, T, alpha, x, to);
  }
}

/* Computes z = alpha A^T x + beta y. Each thread adds to private sums for the gathered columns and to a private stretch for its rows' other columns;
   the threads' sums are added in the order of the threads, so the result depends only on their number. */
static void SYS_ISA_NAME(MultTranspose)(const NusHost *A, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z)
{
  const int64_t n = A->csr.n, P = A->ngathered;

  if (A->nthread == 1) {
    SysStartSum(0, n, beta, y, z);
    for (int64_t k = 0; k < P; k++) A->work.sums[k] = 0;
    SYS_ISA_NAME(ThreadTranspose)(A, 0, alpha, x, A->work.sums, z);
    for (int64_t k = 0; k < P; k++) z[A->order[k]] += A->work.sums[k];
    return;
  }
#pragma omp parallel for num_threads(A->nthread) schedule(static)
  for (int t = 0; t < A->nthread; t++) {
    SysScalar *stretch, *gathered = SysStretchStart(&A->work, t, &stretch);

    SYS_ISA_NAME(ThreadTranspose)(A, t, alpha, x, gathered, stretch);
  }
#pragma omp parallel for num_threads(A->nthread) schedule(static)
  for (int s = 0; s < A->nthread; s++) SysStretchesAdd(&A->work, A->nthread, s, n, beta, y, z);
  if (P) {
#pragma omp parallel for num_threads(A->nthread) schedule(static)
    for (int64_t k = 0; k < P; k++) {
      for (int t = 0; t < A->nthread; t++) z[A->order[k]] += A->work.sums[A->work.position[t] + k];
    }
  }
}

#if defined(SYS_TABLE_AVX512)
  #define FAST 15 /* 15 values: two registers */
#else
  #define FAST 0
#endif
const NusKernels SYS_ISA_NAME(NusKernels) = {SYS_KERNELS_NAME, FAST, SYS_ISA_NAME(SysSupported), SYS_ISA_NAME(Mult), SYS_ISA_NAME(MultTranspose)};
