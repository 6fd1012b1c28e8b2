/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Template of the host's AMB kernels; ambhost.h has the layout. The including file defines

     SYS_ISA                                          the instruction set, see sys/sysisa.h
     AmbChunk1(gather, stored, n, A, at, col, x, sum) sums of the C rows of a chunk of n steps with blocks of 1, whose first value has index at.
                                                      gather, a constant, selects gather instructions; plain storage only
     AmbChunkB(b, stored, n, A, at, col, x, sum)      the same for blocks of b > 1, called with constant b
     SYS_INLINE                                       inlines a function into its callers, where b is constant

   Non-finite entries of x. Filling multiplies zeros with entries of x in columns where the row has no entry. If such an entry of x is not finite, the
   sum is a NaN. The kernels recompute every row whose sum is a NaN from CSR, so that a NaN or an infinity reaches only rows that have an entry in its
   column.
*/
#include "mat/impls/amb/host/ambhost.h"
#include "sys/sysstore.h"

/* Returns the product of row r's entries in tile T, from CSR */
static SysScalar SYS_ISA_NAME(RowSum)(const AmbHost *A, const AmbTile *T, int64_t r, const SysScalar *x)
{
  SysScalar s = 0;

  for (SysInt k = A->csr.i[r]; k < A->csr.i[r + 1]; k++) {
    if (A->csr.j[k] >= T->lo && A->csr.j[k] < T->hi) s += A->csr.a[k] * x[A->csr.j[k]];
  }
  return s;
}

/* Returns the number of rows of an unsplit chunk: C, or fewer in the last chunk of a sorted tile or of the matrix */
static SYS_INLINE int AmbChunkRows(const AmbHost *A, const AmbTile *T, int c, const uint16_t *perm)
{
  const int64_t left = T->sorted ? T->nrow - (c - T->nsplit) * AMB_C : A->csr.m - T->row - AMB_C * (int64_t)*perm;

  return left < AMB_C ? (int)left : AMB_C;
}

/* Multiplies the split chunks, one long row each; b and stored are constants of the callers */
static SYS_INLINE void AmbTileSplit(const int gather, const int b, const SysStorage stored, SysStore how, const AmbHost *A, const AmbTile *T, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z)
{
  const uint32_t *start = A->start + T->chunk;

  for (int c = 0; c < T->nsplit; c++) {
    const int64_t r  = T->row + A->perm[T->perm + c];
    const size_t  at = AMB_C * ((size_t)T->step + start[c]);
    SysScalar     sum[AMB_C], s = 0;

    if (b == 1) AmbChunk1(gather, stored, start[c + 1] - start[c], A, at, A->col + at, x + T->col, sum);
    else AmbChunkB(b, stored, start[c + 1] - start[c], A, at * b, A->col + at, x + T->col, sum);
    for (int l = 0; l < AMB_C; l++) s += sum[l];
    if (s != s) s = SYS_ISA_NAME(RowSum)(A, T, r, x);
    z[r] = SysStored(how, alpha, s, beta, y, z, r);
  }
}

static SYS_INLINE void AmbTileAll(const int gather, const int b, const SysStorage stored, const SysStore how, const AmbHost *A, const AmbTile *T, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z)
{
  const uint32_t  *start = A->start + T->chunk;
  const uint16_t  *perm = A->perm + T->perm + T->nsplit, *col = A->col + AMB_C * T->step;
  const SysScalar *xs  = x + T->col;
  const size_t     val = (size_t)AMB_C * b * T->step;
  SysScalar        sum[AMB_C];
  int64_t          r0;
  int              c;

  for (c = T->nsplit; c < T->nfilled; c++) {
    const int nl = AmbChunkRows(A, T, c, perm);

    if (b == 1) AmbChunk1(gather, stored, start[c + 1] - start[c], A, val + (size_t)AMB_C * start[c], col + (int64_t)AMB_C * start[c], xs, sum);
    else AmbChunkB(b, stored, start[c + 1] - start[c], A, val + (size_t)AMB_C * b * start[c], col + (int64_t)AMB_C * start[c], xs, sum);
    r0 = T->sorted ? T->row : T->row + AMB_C * (int64_t)*perm;
    if (SysAnyNaN(AMB_C, sum)) {
      for (int l = 0; l < nl; l++) {
        if (sum[l] != sum[l]) sum[l] = SYS_ISA_NAME(RowSum)(A, T, r0 + (T->sorted ? perm[l] : l), x);
      }
    }
    if (nl < AMB_C) {
#pragma GCC unroll 1
      for (int l = 0; l < nl; l++) {
        const int64_t r = r0 + (T->sorted ? perm[l] : l);

        z[r] = SysStored(how, alpha, sum[l], beta, y, z, r);
      }
    } else if (T->sorted) {
      for (int l = 0; l < AMB_C; l++) z[r0 + perm[l]] = SysStored(how, alpha, sum[l], beta, y, z, r0 + perm[l]);
    } else {
      for (int l = 0; l < AMB_C; l++) z[r0 + l] = SysStored(how, alpha, sum[l], beta, y, z, r0 + l);
    }
    perm += T->sorted ? AMB_C : 1;
  }
  /* empty rows come last in the first tile */
  if (how == SYS_STORE_ADD) return;
  for (; c < T->nchunk; c++) {
    const int nl = AmbChunkRows(A, T, c, perm);

    for (int l = 0; l < nl; l++) {
      const int64_t r = T->row + (T->sorted ? perm[l] : AMB_C * *perm + l);

      z[r] = SysStored(how, alpha, 0, beta, y, z, r);
    }
    perm += T->sorted ? AMB_C : 1;
  }
}

/* One function for each block size and storage, both constants in the kernel. Plain storage has a function for each SysStore too: a variable SysStore
   made products of short rows 10 % slower. */
#define TILE_ARGUMENTS const AmbHost *A, const AmbTile *T, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z
#define TILE_STORE(name, gather, b, how) \
  static SYS_NOINLINE void SYS_ISA_NAME(Tile_##name##_##how)(TILE_ARGUMENTS) \
  { \
    AmbTileAll(gather, b, SYS_STORAGE_PLAIN, how, A, T, alpha, x, beta, y, z); \
  }
#define TILE_PLAIN(name, gather, b) \
  TILE_STORE(name, gather, b, SYS_STORE_SET) \
  TILE_STORE(name, gather, b, SYS_STORE_AXPY) \
  TILE_STORE(name, gather, b, SYS_STORE_ADD) \
  static void SYS_ISA_NAME(Tile_##name##_SYS_STORAGE_PLAIN)(SysStore how, TILE_ARGUMENTS) \
  { \
    if (how == SYS_STORE_SET) SYS_ISA_NAME(Tile_##name##_SYS_STORE_SET)(A, T, alpha, x, beta, y, z); \
    else if (how == SYS_STORE_AXPY) SYS_ISA_NAME(Tile_##name##_SYS_STORE_AXPY)(A, T, alpha, x, beta, y, z); \
    else SYS_ISA_NAME(Tile_##name##_SYS_STORE_ADD)(A, T, alpha, x, beta, y, z); \
  }
#define TILE_SMALL(b, stored) \
  static void SYS_ISA_NAME(Tile_##b##_##stored)(SysStore how, TILE_ARGUMENTS) \
  { \
    AmbTileAll(0, b, stored, how, A, T, alpha, x, beta, y, z); \
  }
#define SPLIT_SMALL(b, stored) else AmbTileSplit(0, b, stored, how, A, T, alpha, x, beta, y, z);
#define TILE_SPLIT(b) \
  static void SYS_ISA_NAME(TileSplit_##b)(SysStore how, TILE_ARGUMENTS) \
  { \
    if (A->values.stored == SYS_STORAGE_PLAIN) AmbTileSplit(0, b, SYS_STORAGE_PLAIN, how, A, T, alpha, x, beta, y, z); \
    else if (A->values.stored == SYS_STORAGE_PLACES) AmbTileSplit(0, b, SYS_STORAGE_PLACES, how, A, T, alpha, x, beta, y, z); \
    AMB_SINGLE(SPLIT_SMALL, b) \
  }
#define TILES(b)              TILE_PLAIN(b, 0, b) AMB_SINGLE(TILE_SMALL, b) TILE_SMALL(b, SYS_STORAGE_PLACES) TILE_SPLIT(b)
#define TILE_NAMED(b, stored) [stored] = SYS_ISA_NAME(Tile_##b##_##stored)
#define TILES_NAMED(b)        {TILE_NAMED(b, SYS_STORAGE_PLAIN), TILE_NAMED(b, SYS_STORAGE_PLACES), AMB_SINGLE(TILE_NAMED, b)},

AMB_BLOCKS(TILES)

#define SPLIT_NAMED(b) SYS_ISA_NAME(TileSplit_##b),
typedef void (*TileFunction)(SysStore, TILE_ARGUMENTS);
static const TileFunction tile_functions[AMB_MAX_BLOCK][3] = {AMB_BLOCKS(TILES_NAMED)};
static const TileFunction split_functions[AMB_MAX_BLOCK]   = {AMB_BLOCKS(SPLIT_NAMED)};

/* Computes z = alpha A x + beta y. y may be z; beta == 0: y is not read. */
static void SYS_ISA_NAME(MultTiles)(TileFunction split, TileFunction f, const AmbHost *A, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z)
{
  const SysStore first = SysFirstStore(beta, y, z);

#pragma omp parallel num_threads(A->nthread) if (A->nthread > 1)
  for (int t = omp_get_thread_num(); t < A->nthread; t += omp_get_num_threads()) {
    for (int64_t k = A->scope_tile[A->thread_scope[t]]; k < A->scope_tile[A->thread_scope[t + 1]]; k++) {
      const AmbTile *T   = A->tile + k;
      const SysStore how = T->first ? first : SYS_STORE_ADD;

      if (T->nsplit) split(how, A, T, alpha, x, beta, y, z);
      f(how, A, T, alpha, x, beta, y, z);
    }
  }
}

static void SYS_ISA_NAME(Mult)(const AmbHost *A, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z)
{
  SYS_ISA_NAME(MultTiles)(split_functions[A->block_size - 1], tile_functions[A->block_size - 1][A->values.stored], A, alpha, x, beta, y, z);
}

static void SYS_ISA_NAME(RowTranspose)(const AmbHost *A, const AmbTile *T, int64_t r, SysScalar f, SysScalar *z)
{
  for (SysInt k = A->csr.i[r]; k < A->csr.i[r + 1]; k++) {
    if (A->csr.j[k] >= T->lo && A->csr.j[k] < T->hi) z[A->csr.j[k]] += A->csr.a[k] * f;
  }
}

/* Adds the products of a chunk of n steps with the factors of its lanes */
static SYS_INLINE void AmbChunkTranspose(const int b, const SysStorage stored, uint32_t n, const AmbHost *A, size_t at, const uint16_t *col, const SysScalar *factor, SysScalar *z)
{
  SysScalar f[AMB_C]; /* no store to z changes it */

  for (int l = 0; l < AMB_C; l++) f[l] = factor[l];
  for (uint32_t i = 0; i < n; i++, col += AMB_C, at += AMB_C * b) {
    for (int l = 0; l < AMB_C; l++) {
      for (int k = 0; k < b; k++) z[col[l] + k] += SysValuesAt(stored, &A->values.table, A->val, at + l * b + k) * f[l];
    }
  }
}

#define TRANSPOSE_ARGUMENTS uint32_t n, const AmbHost *A, size_t at, const uint16_t *col, const SysScalar *factor, SysScalar *z
#define TRANSPOSE(b, stored) \
  static void SYS_ISA_NAME(Transpose_##b##_##stored)(TRANSPOSE_ARGUMENTS) \
  { \
    AmbChunkTranspose(b, stored, n, A, at, col, factor, z); \
  }
#define TRANSPOSES(b)              TRANSPOSE(b, SYS_STORAGE_PLAIN) AMB_SINGLE(TRANSPOSE, b) TRANSPOSE(b, SYS_STORAGE_PLACES)
#define TRANSPOSE_NAMED(b, stored) [stored] = SYS_ISA_NAME(Transpose_##b##_##stored)
#define TRANSPOSES_NAMED(b)        [b] = {TRANSPOSE_NAMED(b, SYS_STORAGE_PLAIN), TRANSPOSE_NAMED(b, SYS_STORAGE_PLACES), AMB_SINGLE(TRANSPOSE_NAMED, b)},

AMB_LONG_BLOCKS(TRANSPOSES)

typedef void (*TransposeFunction)(TRANSPOSE_ARGUMENTS);
static const TransposeFunction transpose_functions[AMB_MAX_BLOCK + 1][3] = {AMB_LONG_BLOCKS(TRANSPOSES_NAMED)};

/* The constant b is the block size if that is 1 or 2, whose chunks are too short for a call each, and 0 for long blocks */
static SYS_INLINE void AmbTileTranspose(const int b, const SysStorage stored, const AmbHost *A, const AmbTile *T, SysScalar alpha, const SysScalar *x, SysScalar *z)
{
  const TransposeFunction f     = transpose_functions[A->block_size][A->values.stored];
  const uint32_t         *start = A->start + T->chunk;
  const uint16_t         *perm  = A->perm + T->perm;

  for (int c = 0; c < T->nfilled; c++) {
    const int      split = c < T->nsplit, nl = split ? AMB_C : AmbChunkRows(A, T, c, perm + c);
    const int64_t  slot = AMB_C * (T->step + start[c]);
    const uint32_t n    = start[c + 1] - start[c];
    SysScalar      factor[AMB_C];
    int64_t        row[AMB_C];
    int            bad = 0;

    for (int l = 0; l < AMB_C; l++) {
      const int k = l < nl ? l : 0;

      row[l]    = T->row + (split ? perm[c] : (T->sorted ? perm[T->nsplit + (c - T->nsplit) * AMB_C + k] : AMB_C * perm[c] + k));
      factor[l] = l < nl ? alpha * x[row[l]] : 0;
      bad |= SysNotFinite(factor[l]);
    }
    if (bad) {
      for (int l = 0; l < (split ? 1 : nl); l++) SYS_ISA_NAME(RowTranspose)(A, T, row[l], alpha * x[row[l]], z);
    } else if (b) AmbChunkTranspose(b, stored, n, A, (size_t)(b * slot), A->col + slot, factor, z + T->col);
    else f(n, A, (size_t)(A->block_size * slot), A->col + slot, factor, z + T->col);
  }
}

static void SYS_ISA_NAME(ThreadTranspose)(const void *data, int t, SysScalar alpha, const SysScalar *x, SysScalar *z)
{
  const AmbHost *A = (const AmbHost *)data;

  for (int64_t k = A->scope_tile[A->thread_scope[t]]; k < A->scope_tile[A->thread_scope[t + 1]]; k++) {
#define CASE(b, stored_) else if (A->block_size == b && A->values.stored == stored_) AmbTileTranspose(b, stored_, A, A->tile + k, alpha, x, z);
    if (A->block_size >= AMB_LONG_BLOCK) AmbTileTranspose(0, SYS_STORAGE_PLAIN, A, A->tile + k, alpha, x, z);
    CASE(1, SYS_STORAGE_PLAIN)
    CASE(2, SYS_STORAGE_PLAIN)
    CASE(1, SYS_STORAGE_PLACES)
    CASE(2, SYS_STORAGE_PLACES)
    AMB_SINGLE(CASE, 1)
    AMB_SINGLE(CASE, 2)
#undef CASE
  }
}

static void SYS_ISA_NAME(MultTranspose)(const AmbHost *A, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z)
{
  SysStretchesMult(&A->work, A->nthread, A->csr.n, SYS_ISA_NAME(ThreadTranspose), A, alpha, x, beta, y, z);
}

/*
   Counts, for each block size b, the blocks of nrow rows among the entries from pos[] to column hi: count[r * 16 + b - 1]. Advances pos[]. All block
   sizes advance together, one lane each.
*/
#define COUNT_LANES (SYS_REGISTER / 4)
#define COUNT_PARTS (16 / COUNT_LANES)
typedef int32_t Counts __attribute__((vector_size(SYS_REGISTER)));
static void     SYS_ISA_NAME(Count)(const SysCSR *A, int64_t row, int nrow, int64_t lo, int64_t hi, SysInt *pos, int32_t *count)
{
  static const int32_t sizes[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  Counts               size[COUNT_PARTS];

  __builtin_memcpy(size, sizes, sizeof(size));
  for (int r = 0; r < nrow; r++) {
    const SysInt end            = A->i[row + r + 1];
    SysInt       k              = pos[r];
    Counts       c[COUNT_PARTS] = {{0}}, next[COUNT_PARTS] = {{0}};

    for (; k < end && A->j[k] < hi; k++) {
      const int32_t j = (int32_t)(A->j[k] - lo);

#pragma GCC unroll 4
      for (int p = 0; p < COUNT_PARTS; p++) {
        const Counts hit = next[p] <= j;

        c[p] -= hit;
        next[p] = (hit & (j + size[p])) | (~hit & next[p]);
      }
    }
    pos[r] = k;
    __builtin_memcpy(count + 16 * r, c, sizeof(c));
  }
}

const AmbKernels SYS_ISA_NAME(AmbKernels) = {SYS_KERNELS_NAME, SYS_ISA_NAME(SysSupported), SYS_ISA_NAME(Count), SYS_ISA_NAME(Mult), SYS_ISA_NAME(MultTranspose)};
