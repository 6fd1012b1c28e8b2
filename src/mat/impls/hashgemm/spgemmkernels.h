/*
   The row kernels of sparse products, a template: the file that includes this defines

     SPGEMM_NAME(name)          the name with the suffix of the instruction set
     SPGEMM_KEYS                keys of a chunk of the vectorised hash table, a power of two
     KeyMask(keys, key)         which keys of a chunk are the given one
     Flags(flag)                which of 64 flags are set; clears them
     Counter, CountBlock(counter, mask), CountSum(counter)
                                counts the bits of blocks of SPGEMM_BLOCK columns; clears them
     ListBlock(mask, col, bits, cols)
                                the words of a block that are not 0, and the column of the first bit of each; clears the block, returns how
                                many, may write SPGEMM_BLOCK / 64 beyond
     Extent, Expand(eights, add, j, a, n, f, col, val, extent), ExtentOfNone(), ExtentLow(extent), ExtentHigh(extent)
                                copies n columns and f times the values, may write SPGEMM_PAD beyond; eights, if not 0: n is no more than 8
                                times that; with SPGEMM_EXPAND, where there is something to gain from it
     EmitWord(bits, col, j)     writes col + k for each bit k; may write SPGEMM_PAD entries beyond
     MAYBE_INLINE               forces a function into its callers
*/
#include <string.h>

#include "spgemmimpl.h"

#define PREFETCH    8         /* entries of A */
#define GROUP_SUMS  (1 << 20) /* sums that they need at most */
#define SPARSE_HASH 8192      /* entries of a row up to which a quarter of its hash table is filled, then half */
#define GROUP       8         /* rows that are made together at most */
#define DENSE_REACH 16384     /* columns for each product up to which the dense accumulator is the better */
#define BYTES_REACH 16        /* columns for each product up to which bytes are the better marks */
#define LIST        1024      /* products of a row that are listed at most */
#define LIST_LENGTH 24        /* length of the rows of B, on average, up to which they are listed */

typedef struct {
  AmbInt  k, end;   /* the row's entries in A */
  AmbInt  lo, hi;   /* no column of the result is outside of these */
  int64_t products; /* 0: the row is empty, and lo and hi are meaningless */
} Row;

static MAYBE_INLINE Row GetRow(const SpgemmProduct *P, int64_t r)
{
  const AmbInt *bi = P->B.i, *bj = P->B.j;
  Row           row = {P->A.i[r], P->A.i[r + 1], 0, -1, 0};

  for (AmbInt k = row.k; k < row.end; k++) {
    const AmbInt s = bi[P->A.j[k]], e = bi[P->A.j[k] + 1];

    if (s == e) continue;
    if (!row.products || bj[s] < row.lo) row.lo = bj[s];
    if (bj[e - 1] > row.hi) row.hi = bj[e - 1];
    row.products += e - s;
  }
  return row;
}

/* The row of B that an entry some way after k of A meets: rows of B come in no order that the processor could foresee */
static MAYBE_INLINE void Prefetch(const SpgemmProduct *P, AmbInt k)
{
  const AmbInt s = P->B.i[P->A.j[k + PREFETCH < P->last ? k + PREFETCH : P->last]];

  __builtin_prefetch(P->B.j + s);
  __builtin_prefetch(P->B.a + s);
  if (P->lengthB < 8) return;
  __builtin_prefetch(P->B.a + s + 64 / sizeof(AmbScalar));
  __builtin_prefetch(P->B.a + s + 128 / sizeof(AmbScalar));
}

/* Columns between the beginning of the first block that the row reaches and the end of the last */
static MAYBE_INLINE int64_t Reach(const Row *row)
{
  return ((int64_t)(row->hi / SPGEMM_BLOCK) - row->lo / SPGEMM_BLOCK + 1) * SPGEMM_BLOCK;
}

/* Rows that are almost nothing but reach far are better in a table that is as short as they are */
static MAYBE_INLINE int Dense(const Row *row, int64_t products)
{
  const int64_t reach = Reach(row);

  return reach <= SPGEMM_DENSE_MAX && reach <= DENSE_REACH * products;
}

static MAYBE_INLINE SpgemmAccumulator Choose(const SpgemmProduct *P, const Row *row)
{
  if (row->end - row->k == 1 && !P->unsortedB) return SPGEMM_AUTO;
  if (P->accumulator) return P->accumulator;
  return Dense(row, row->products) ? SPGEMM_DENSE : SPGEMM_HASH;
}

/*
   Dense: sums in a window of the columns, and marks that tell which of them the row has, in the order of the columns. How a row is marked
   depends on how far it reaches for what is in it.
*/
typedef enum {
  MARK_NONE,
  MARK_BYTES, /* a byte for each column: no mark waits for another, but there is more to look through */
  MARK_BITS,  /* a bit for each column */
  MARK_FLAGS  /* and a flag for each block that has some, where most blocks can be expected to be empty */
} Marks;

static MAYBE_INLINE Marks HowToMark(const SpgemmProduct *P, const Row *row)
{
  const int64_t reach = Reach(row);

  if (!P->words.i && reach <= BYTES_REACH * row->products) return MARK_BYTES;
  return reach <= SPGEMM_BLOCK / 2 * row->products ? MARK_BITS : MARK_FLAGS;
}

static MAYBE_INLINE void DenseMarkWords(const Marks marks, const SpgemmProduct *P, const Row *row, SpgemmWork *w)
{
  const AmbInt window = (AmbInt)(w->window / 64 - 1);

  for (AmbInt k = row->k; k < row->end; k++) {
    const int64_t end = P->words.i[P->A.j[k] + 1];

    if (P->same && k > row->k && P->A.j[k] == P->A.j[k - 1] + 1 && P->same[P->A.j[k]]) continue;
    for (int64_t q = P->words.i[P->A.j[k]]; q < end; q++) {
      const AmbInt c = P->words.word[q] & window;

      w->mask[c] |= P->words.bits[q];
      if (marks == MARK_FLAGS) w->flag[c / (SPGEMM_BLOCK / 64)] = 1;
    }
  }
}

static MAYBE_INLINE void DenseAdd(const Marks marks, const int add, const SpgemmProduct *P, const Row *row, SpgemmWork *w)
{
  const AmbInt     window = (AmbInt)(w->window - 1), *bj = P->B.j;
  const AmbScalar *ba   = P->B.a;
  AmbScalar       *sum  = w->sum;
  uint64_t        *mask = w->mask;
  uint8_t         *flag = w->flag, *byte = w->byte;

  for (AmbInt k = row->k; k < row->end; k++) {
    const AmbInt    end = P->B.i[P->A.j[k] + 1];
    const AmbScalar a   = add ? P->A.a[k] : 0;

    if (!add && P->same && k > row->k && P->A.j[k] == P->A.j[k - 1] + 1 && P->same[P->A.j[k]]) continue;
    if (add) Prefetch(P, k);
#pragma GCC unroll 4
    for (AmbInt q = P->B.i[P->A.j[k]]; q < end; q++) {
      const uint64_t c = (uint64_t)(bj[q] & window);

      if (marks == MARK_BYTES) byte[c] = 1;
      if (marks >= MARK_BITS) mask[c / 64] |= (uint64_t)1 << (c % 64);
      if (marks == MARK_FLAGS) flag[c / SPGEMM_BLOCK] = 1;
      if (add) sum[c] += a * ba[q];
    }
  }
}

#if defined(SPGEMM_EXPAND)
  #define LIST_PAYS 1
#else
  #define LIST_PAYS 0
typedef struct {
  AmbInt lo, hi;
} Extent;

static MAYBE_INLINE Extent ExtentOfNone(void)
{
  return (Extent){0, -1};
}

static MAYBE_INLINE AmbInt ExtentLow(Extent extent)
{
  return extent.lo;
}

static MAYBE_INLINE AmbInt ExtentHigh(Extent extent)
{
  return extent.hi;
}

static MAYBE_INLINE void Expand(const int eights, const int add, const AmbInt *j, const AmbScalar *a, int64_t n, AmbScalar f, AmbInt *col, AmbScalar *val, Extent *extent)
{
  (void)eights;
  for (int64_t q = 0; q < n; q++) {
    col[q] = j[q];
    if (add) val[q] = f * a[q];
    if (extent->hi < 0 || j[q] < extent->lo) extent->lo = j[q];
    if (j[q] > extent->hi) extent->hi = j[q];
  }
}
#endif

/*
   Where the rows of B are short, the processor would mispredict the end of most of them. There the products of a row are listed first, many at
   a time.
*/
static MAYBE_INLINE int Listed(const SpgemmProduct *P, int64_t r)
{
  return LIST_PAYS && P->lengthB <= LIST_LENGTH && P->A.i[r + 1] - P->A.i[r] > 1 && (double)(P->A.i[r + 1] - P->A.i[r]) * P->longestB <= LIST;
}

static MAYBE_INLINE Row ListRowOf(const int eights, const int add, const SpgemmProduct *P, int64_t r, AmbInt *col, AmbScalar *val)
{
  Row     row    = {P->A.i[r], P->A.i[r + 1], 0, -1, 0};
  Extent  extent = ExtentOfNone();
  int64_t n      = 0;

  for (AmbInt k = row.k; k < row.end; k++) {
    const AmbInt s = P->B.i[P->A.j[k]], e = P->B.i[P->A.j[k] + 1];

    Expand(eights, add, P->B.j + s, P->B.a + s, e - s, add ? P->A.a[k] : 0, col + n, val + n, &extent);
    n += e - s;
  }
  row.products = n;
  row.lo       = ExtentLow(extent);
  row.hi       = ExtentHigh(extent);
  return row;
}

/* Of rows of B that are never longer than that, the ends need not be predicted */
static MAYBE_INLINE Row ListRow(const int add, const SpgemmProduct *P, int64_t r, AmbInt *col, AmbScalar *val)
{
  if (P->longestB <= 8) return ListRowOf(1, add, P, r, col, val);
  if (P->longestB <= 16) return ListRowOf(2, add, P, r, col, val);
  return ListRowOf(0, add, P, r, col, val);
}

static MAYBE_INLINE void DenseAddList(const Marks marks, const int add, int64_t n, SpgemmWork *w, const AmbInt *col, const AmbScalar *val)
{
  const AmbInt window = (AmbInt)(w->window - 1);
  AmbScalar   *sum    = w->sum;
  uint64_t    *mask   = w->mask;
  uint8_t     *flag = w->flag, *byte = w->byte;

#pragma GCC unroll 4
  for (int64_t q = 0; q < n; q++) {
    const uint64_t c = (uint64_t)(col[q] & window);

    if (marks == MARK_BYTES) byte[c] = 1;
    if (marks >= MARK_BITS) mask[c / 64] |= (uint64_t)1 << (c % 64);
    if (marks == MARK_FLAGS) flag[c / SPGEMM_BLOCK] = 1;
    if (add) sum[c] += val[q];
  }
}

/* Counts the marks of a row, or lists the words that have some; clears them */
static MAYBE_INLINE int64_t DenseScan(const int list, const Marks marks, const Row *row, SpgemmWork *w)
{
  const int64_t window = w->window / SPGEMM_BLOCK, last = row->hi / SPGEMM_BLOCK + 1;
  int64_t       n       = 0;
  Counter       counter = {0};

  for (int64_t b = row->lo / SPGEMM_BLOCK; b < last;) {
    const int64_t first = b & (window - 1), end = first + (last - b) < window ? first + (last - b) : window, shift = b - first;

    if (marks == MARK_BYTES) {
      for (int64_t c = first * SPGEMM_BLOCK; c < end * SPGEMM_BLOCK; c += 64) {
        const uint64_t bits = Flags(w->byte + c);

        if (list) {
          w->bits[n] = bits;
          w->cols[n] = (AmbInt)(c + shift * SPGEMM_BLOCK);
          n += bits != 0;
        } else n += __builtin_popcountll(bits);
      }
    } else if (marks == MARK_FLAGS) {
      for (int64_t c = first; c < end; c += 64) {
        for (uint64_t set = Flags(w->flag + c); set; set &= set - 1) {
          const int64_t d = c + __builtin_ctzll(set);

          if (list) n += ListBlock(w->mask + d * (SPGEMM_BLOCK / 64), (AmbInt)((d + shift) * SPGEMM_BLOCK), w->bits + n, w->cols + n);
          else CountBlock(&counter, w->mask + d * (SPGEMM_BLOCK / 64));
        }
      }
    } else {
      for (int64_t d = first; d < end; d++) {
        if (list) n += ListBlock(w->mask + d * (SPGEMM_BLOCK / 64), (AmbInt)((d + shift) * SPGEMM_BLOCK), w->bits + n, w->cols + n);
        else CountBlock(&counter, w->mask + d * (SPGEMM_BLOCK / 64));
      }
    }
    b += end - first;
  }
  return list || marks == MARK_BYTES ? n : CountSum(counter);
}

/* Writes the columns of the listed words */
static MAYBE_INLINE int64_t DenseEmit(const SpgemmWork *w, int64_t words, AmbInt *j)
{
  int64_t n = 0;

  for (int64_t q = 0; q < words; q++) {
    EmitWord(w->bits[q], w->cols[q], j + n);
    n += __builtin_popcountll(w->bits[q]);
  }
  return n;
}

static MAYBE_INLINE void DenseTake(SpgemmWork *w, int64_t n, const AmbInt *j, AmbScalar *a)
{
  const AmbInt window = (AmbInt)(w->window - 1);

  for (int64_t q = 0; q < n; q++) {
    const AmbInt c = j[q] & window;

    a[q]      = w->sum[c];
    w->sum[c] = 0;
  }
}

/* How many columns a row has whose products are listed: what is marked is cleared without looking for it */
static MAYBE_INLINE int64_t DenseCountList(int64_t n, SpgemmWork *w, AmbInt *col)
{
  const AmbInt window = (AmbInt)(w->window - 1);
  uint8_t     *byte   = w->byte;
  int64_t      count  = 0;

#pragma GCC unroll 4
  for (int64_t q = 0; q < n; q++) {
    const AmbInt c = col[q] & window;

    col[count] = c;
    count += !byte[c];
    byte[c] = 1;
  }
  for (int64_t q = 0; q < count; q++) byte[col[q]] = 0;
  return count;
}

/* Length and columns of a row; its sums too, unless they are to be made otherwise. col: its products are listed. */
static MAYBE_INLINE int64_t DensePattern(const int emit, const Marks marks, const int add, const SpgemmProduct *P, const Row *row, const AmbInt *col, const AmbScalar *val, SpgemmWork *w, AmbInt *j)
{
  int64_t n;

  if (col) DenseAddList(marks, add, row->products, w, col, val);
  else if (P->words.i && marks != MARK_BYTES) {
    DenseMarkWords(marks, P, row, w);
    if (add) DenseAdd(MARK_NONE, 1, P, row, w);
  } else DenseAdd(marks, add, P, row, w);
  n = DenseScan(emit, marks, row, w);
  return emit ? DenseEmit(w, n, j) : n;
}

/* The listed products of a row whose columns may come in any order, but for the first and the last */
static MAYBE_INLINE int64_t DenseUnsorted(const Row *row, const AmbInt *col, const AmbScalar *val, SpgemmWork *w, AmbInt *j, AmbScalar *a)
{
  const AmbInt window = (AmbInt)(w->window - 1);
  AmbScalar   *sum    = w->sum, t;
  uint8_t     *byte   = w->byte;
  int64_t      n = 0, lo = 0, hi = 0;

#pragma GCC unroll 4
  for (int64_t q = 0; q < row->products; q++) {
    const AmbInt c = col[q] & window;

    j[n] = col[q];
    n += !byte[c];
    byte[c] = 1;
    sum[c] += val[q];
  }
  for (int64_t q = 0; q < n; q++) {
    const AmbInt c = j[q] & window;

    a[q]    = sum[c];
    sum[c]  = 0;
    byte[c] = 0;
    if (j[q] == row->lo) lo = q;
  }
  t     = a[lo];
  a[lo] = a[0];
  a[0]  = t;
  j[lo] = j[0];
  j[0]  = row->lo;
  for (int64_t q = 0; q < n; q++) {
    if (j[q] == row->hi) hi = q;
  }
  t        = a[hi];
  a[hi]    = a[n - 1];
  a[n - 1] = t;
  j[hi]    = j[n - 1];
  j[n - 1] = row->hi;
  return n;
}

static MAYBE_INLINE int64_t DenseRow(const int emit, const int add, const SpgemmProduct *P, const Row *row, const AmbInt *col, const AmbScalar *val, SpgemmWork *w, AmbInt *j)
{
  const Marks marks = HowToMark(P, row);

  if (marks == MARK_BYTES) return DensePattern(emit, MARK_BYTES, add, P, row, col, val, w, j);
  if (marks == MARK_BITS) return DensePattern(emit, MARK_BITS, add, P, row, col, val, w, j);
  return DensePattern(emit, MARK_FLAGS, add, P, row, col, val, w, j);
}

/* Rows from r on, one at least, that have the same columns in A, as those of the unknowns of one node do */
static MAYBE_INLINE int Group(const SpgemmProduct *P, int64_t r, int64_t last)
{
  const AmbInt  n = P->A.i[r + 1] - P->A.i[r];
  const AmbInt *j = P->A.j + P->A.i[r];
  int           g = 1;

  if (n < 2) return 1;
  while (g < GROUP && r + g < last && P->A.i[r + g + 1] - P->A.i[r + g] == n && j[g * (int64_t)n] == j[0] && !memcmp(j + g * (int64_t)n, j, sizeof(*j) * n)) g++;
  return g;
}

/* Entries of A from k on, one at least, that meet rows of B which follow one another and have the same columns; at most three */
static MAYBE_INLINE int Twins(const SpgemmProduct *P, AmbInt k, AmbInt end)
{
  const AmbInt r = P->A.j[k];

  if (!P->same || k + 1 == end || P->A.j[k + 1] != r + 1 || !P->same[r + 1]) return 1;
  return k + 2 < end && P->A.j[k + 2] == r + 2 && P->same[r + 2] ? 3 : 2;
}

/* The factor of row l of g, which meets row t of the twins */
static MAYBE_INLINE AmbScalar Factor(const SpgemmProduct *P, const Row *row, AmbInt k, int g, int t, int l)
{
  return l < g ? P->A.a[k + t + l * (int64_t)(row->end - row->k)] : 0;
}

/* Adds twins rows of B to g <= lanes rows with the same columns in A, whose sums lie side by side. In vectors where there are such: left to
   itself the compiler keeps the factors in scalars. */
#if defined(AMB_COMPLEX)
  #define LANES(lanes) \
    typedef struct { \
      AmbScalar lane[lanes]; \
    } Lanes##lanes; \
    static MAYBE_INLINE void AddLanes##lanes(Lanes##lanes *y, const Lanes##lanes *f, AmbScalar b) \
    { \
      for (int l = 0; l < lanes; l++) y->lane[l] += f->lane[l] * b; \
    }
  #define SOME_LANES(...) \
    { \
      { \
        __VA_ARGS__ \
      } \
    }
#else
  #define LANES(lanes) \
    typedef AmbScalar        Lanes##lanes __attribute__((vector_size(lanes * sizeof(AmbScalar)))); \
    static MAYBE_INLINE void AddLanes##lanes(Lanes##lanes *y, const Lanes##lanes *f, AmbScalar b) \
    { \
      *y += *f * b; \
    }
  #define SOME_LANES(...) \
    { \
      __VA_ARGS__ \
    }
#endif
#define FACTOR(l) Factor(P, row, k, g, t, l)

#define ADD_TWINS(lanes, ...) \
  LANES(lanes) \
  static MAYBE_INLINE void DenseAddTwins##lanes(const int twins, int g, const SpgemmProduct *P, const Row *row, AmbInt k, SpgemmWork *w) \
  { \
    const AmbInt     window = (AmbInt)(w->window - 1), s = P->B.i[P->A.j[k]], n = P->B.i[P->A.j[k] + 1] - s, *bj = P->B.j + s; \
    const AmbScalar *ba  = P->B.a + s; \
    Lanes##lanes    *sum = (Lanes##lanes *)w->sum, f[3]; \
    for (int t = 0; t < twins; t++) { \
      const Lanes##lanes factors = SOME_LANES(__VA_ARGS__); \
      f[t]                       = factors; \
    } \
    for (AmbInt q = 0; q < n; q++) { \
      const int64_t c = bj[q] & window; \
      Lanes##lanes  y = sum[c]; \
      for (int t = 0; t < twins; t++) AddLanes##lanes(&y, &f[t], ba[q + t * n]); \
      sum[c] = y; \
    } \
  } \
  static MAYBE_INLINE void DenseAddGroup##lanes(int g, const SpgemmProduct *P, const Row *row, SpgemmWork *w) \
  { \
    for (AmbInt k = row->k; k < row->end;) { \
      const int twins = Twins(P, k, row->end); \
      Prefetch(P, k); \
      if (twins == 3) DenseAddTwins##lanes(3, g, P, row, k, w); \
      else if (twins == 2) DenseAddTwins##lanes(2, g, P, row, k, w); \
      else DenseAddTwins##lanes(1, g, P, row, k, w); \
      k += twins; \
    } \
  }

ADD_TWINS(2, FACTOR(0), FACTOR(1))
ADD_TWINS(4, FACTOR(0), FACTOR(1), FACTOR(2), FACTOR(3))
ADD_TWINS(8, FACTOR(0), FACTOR(1), FACTOR(2), FACTOR(3), FACTOR(4), FACTOR(5), FACTOR(6), FACTOR(7))

static MAYBE_INLINE void DenseTakeGroup(const int lanes, int g, SpgemmWork *w, int64_t n, const AmbInt *j, AmbScalar *a)
{
  const AmbInt window = (AmbInt)(w->window - 1);

  for (int64_t q = 0; q < n; q++) {
    AmbScalar *s = w->sum + lanes * (int64_t)(j[q] & window), t[GROUP];

    for (int l = 0; l < lanes; l++) t[l] = s[l];
    for (int l = 0; l < lanes; l++) s[l] = 0;
    for (int l = 0; l < g; l++) a[q + l * n] = t[l];
  }
}

static MAYBE_INLINE void DenseGroup(int g, const SpgemmProduct *P, const Row *row, SpgemmWork *w, int64_t n, const AmbInt *j, AmbScalar *a)
{
  switch (g) {
  case 2:
    DenseAddGroup2(2, P, row, w);
    DenseTakeGroup(2, 2, w, n, j, a);
    break;
  case 3:
    DenseAddGroup4(3, P, row, w);
    DenseTakeGroup(4, 3, w, n, j, a);
    break;
  case 4:
    DenseAddGroup4(4, P, row, w);
    DenseTakeGroup(4, 4, w, n, j, a);
    break;
  default:
    DenseAddGroup8(g, P, row, w);
    DenseTakeGroup(8, g, w, n, j, a);
  }
}

/*
   Hash and vectorised hash
*/
static MAYBE_INLINE uint64_t Hash(AmbInt key)
{
  return (uint64_t)key * 0x9E3779B97F4A7C15u >> 20;
}

/* The slot of a key, or where to put it: then *found is 0 */
static MAYBE_INLINE uint64_t Probe(const int vec, const SpgemmWork *w, AmbInt key, int *found)
{
  const AmbInt *keys = w->key;

  if (vec) {
    uint64_t c = Hash(key) * SPGEMM_KEYS & (w->size - 1);

    for (;; c = (c + SPGEMM_KEYS) & (w->size - 1)) {
      unsigned m = KeyMask(keys + c, key);

      if (m) {
        *found = 1;
        return c + __builtin_ctz(m);
      }
      m = KeyMask(keys + c, -1);
      if (m) {
        *found = 0;
        return c + __builtin_ctz(m);
      }
    }
  } else {
    uint64_t c = Hash(key) & (w->size - 1);

    while (keys[c] != key && keys[c] != -1) c = (c + 1) & (w->size - 1);
    *found = keys[c] == key;
    return c;
  }
}

/* A table for n different keys at most. What is filled less collides less, as long as it lies in the cache. */
static MAYBE_INLINE SpgemmStatus HashSize(SpgemmWork *w, int64_t n, int values)
{
  const int64_t least = (n <= SPARSE_HASH ? 4 : 2) * n;
  int64_t       size  = 64;

  while (size < least) size *= 2;
  w->size = size;
  return SpgemmWorkHash(w, size, n, values);
}

static MAYBE_INLINE int BitsOf(uint64_t x)
{
  return x ? 64 - __builtin_clzll(x) : 0;
}

/* From the slots of the table to the row of the result */
static MAYBE_INLINE void HashTake(const SpgemmProduct *P, const Row *row, SpgemmWork *w, int64_t n, AmbInt *j, AmbScalar *a)
{
  const int low  = BitsOf(w->size - 1);
  uint64_t *slot = w->slot;

  if (P->unsorted) {
    int64_t first = 0, last = 0;

    for (int64_t q = 0; q < n; q++) {
      const uint64_t c = slot[q];

      j[q]      = w->key[c];
      a[q]      = w->val[c];
      w->key[c] = -1;
      if (j[q] < j[first]) first = q;
    }
    if (n) {
      AmbInt    t = j[first];
      AmbScalar s = a[first];

      j[first] = j[0];
      a[first] = a[0];
      j[0]     = t;
      a[0]     = s;
      for (int64_t q = 1; q < n; q++) {
        if (j[q] > j[last]) last = q;
      }
      t        = j[last];
      s        = a[last];
      j[last]  = j[n - 1];
      a[last]  = a[n - 1];
      j[n - 1] = t;
      a[n - 1] = s;
    }
    return;
  }
  for (int64_t q = 0; q < n; q++) slot[q] |= (uint64_t)(w->key[slot[q]] - row->lo) << low;
  slot = SpgemmSort(slot, w->sorted, n, low, BitsOf((uint64_t)row->hi - row->lo));
  for (int64_t q = 0; q < n; q++) {
    const uint64_t c = slot[q] & (w->size - 1);

    j[q]      = (AmbInt)(slot[q] >> low) + row->lo;
    a[q]      = w->val[c];
    w->key[c] = -1;
  }
}

/* *length: no less than what it becomes */
static MAYBE_INLINE SpgemmStatus HashRow(const int vec, const int fill, const SpgemmProduct *P, const Row *row, SpgemmWork *w, int64_t *length, AmbInt *j, AmbScalar *a)
{
  const int64_t reach = (int64_t)row->hi - row->lo + 1;
  int64_t       n     = 0;
  SpgemmStatus  status;

  status = HashSize(w, *length < reach ? *length : reach, fill ? SPGEMM_VALUES : 0);
  if (status) return status;
  for (AmbInt k = row->k; k < row->end; k++) {
    const AmbInt    end = P->B.i[P->A.j[k] + 1];
    const AmbScalar s   = fill ? P->A.a[k] : 0;

    if (fill) Prefetch(P, k);
    for (AmbInt q = P->B.i[P->A.j[k]]; q < end; q++) {
      int            found;
      const uint64_t c = Probe(vec, w, P->B.j[q], &found);

      if (found) {
        if (fill) w->val[c] += s * P->B.a[q];
      } else {
        w->key[c]    = P->B.j[q];
        w->slot[n++] = c;
        if (fill) w->val[c] = s * P->B.a[q];
      }
    }
  }
  if (fill) HashTake(P, row, w, n, j, a);
  else {
    for (int64_t q = 0; q < n; q++) w->key[w->slot[q]] = -1;
  }
  *length = n;
  return SPGEMM_SUCCESS;
}

/*
   Heap: the rows of B are merged
*/
static MAYBE_INLINE void HeapSink(struct SpgemmHeap *heap, int64_t n, int64_t q)
{
  const struct SpgemmHeap top = heap[q];

  for (;;) {
    int64_t child = 2 * q + 1;

    if (child >= n) break;
    if (child + 1 < n && heap[child + 1].col < heap[child].col) child++;
    if (heap[child].col >= top.col) break;
    heap[q] = heap[child];
    q       = child;
  }
  heap[q] = top;
}

static MAYBE_INLINE SpgemmStatus HeapRow(const int fill, const SpgemmProduct *P, const Row *row, SpgemmWork *w, int64_t *length, AmbInt *j, AmbScalar *a)
{
  const SpgemmStatus status = SpgemmWorkHeap(w, row->end - row->k);
  struct SpgemmHeap *heap   = w->heap;
  int64_t            n = 0, nheap = 0;
  AmbInt             col = -1;

  if (status) return status;
  for (AmbInt k = row->k; k < row->end; k++) {
    const AmbInt s = P->B.i[P->A.j[k]], e = P->B.i[P->A.j[k] + 1];

    if (s == e) continue;
    heap[nheap].col = P->B.j[s];
    heap[nheap].k   = s;
    heap[nheap].end = e;
    heap[nheap++].a = fill ? P->A.a[k] : 0;
  }
  for (int64_t q = nheap / 2; q-- > 0;) HeapSink(heap, nheap, q);
  while (nheap) {
    if (heap->col != col) {
      col = heap->col;
      if (fill) {
        j[n] = col;
        a[n] = 0;
      }
      n++;
    }
    if (fill) a[n - 1] += heap->a * P->B.a[heap->k];
    if (++heap->k < heap->end) heap->col = P->B.j[heap->k];
    else *heap = heap[--nheap];
    HeapSink(heap, nheap, 0);
  }
  *length = n;
  return SPGEMM_SUCCESS;
}

/* A row of A with one entry */
static MAYBE_INLINE void CopyRow(const SpgemmProduct *P, const Row *row, int64_t n, AmbInt *j, AmbScalar *a)
{
  const AmbInt     s  = P->B.i[P->A.j[row->k]];
  const AmbInt    *bj = P->B.j + s;
  const AmbScalar *ba = P->B.a + s, f = P->A.a[row->k];

  if (j) memcpy(j, bj, sizeof(*j) * n);
  for (int64_t q = 0; q < n; q++) a[q] = f * ba[q];
}

static SpgemmStatus SPGEMM_NAME(Count)(const SpgemmProduct *P, int64_t first, int64_t last, SpgemmWork *w)
{
  for (int64_t r = first; r < last;) {
    const int     g      = Group(P, r, last);
    const AmbInt *list   = NULL;
    SpgemmStatus  status = SPGEMM_SUCCESS;
    Row           row;
    int64_t       n;
    AmbInt        col[LIST + SPGEMM_PAD];

    if (Listed(P, r)) {
      row  = ListRow(0, P, r, col, NULL);
      list = col;
    } else row = GetRow(P, r);
    n = row.products;
    w->products += (double)g * (double)n;
    if (n) {
      switch (Choose(P, &row)) {
      case SPGEMM_AUTO:
        break;
      case SPGEMM_DENSE:
        status = SpgemmWorkWindow(w, Reach(&row), 0);
        if (status) break;
        if (list && HowToMark(P, &row) != MARK_BYTES) n = DenseCountList(n, w, col);
        else n = DenseRow(0, 0, P, &row, list, NULL, w, NULL);
        break;
      case SPGEMM_HEAP:
        status = HeapRow(0, P, &row, w, &n, NULL, NULL);
        break;
      case SPGEMM_HASHVEC:
        status = HashRow(1, 0, P, &row, w, &n, NULL, NULL);
        break;
      case SPGEMM_HASH:
        status = HashRow(0, 0, P, &row, w, &n, NULL, NULL);
        break;
      }
      if (status) return status;
    }
    for (int l = 0; l < g; l++) P->i[++r] = (AmbInt)n;
  }
  return SPGEMM_SUCCESS;
}

/* Makes rows r to r + g - 1, of length *n; g > 1 if they have the same columns in A and the dense accumulator makes them */
static MAYBE_INLINE SpgemmStatus FillRows(const SpgemmProduct *P, const Row *row, const AmbInt *col, const AmbScalar *val, SpgemmAccumulator accumulator, int g, SpgemmWork *w, int64_t *n, AmbInt *j, AmbScalar *a)
{
  SpgemmStatus status = SPGEMM_SUCCESS;

  switch (accumulator) {
  case SPGEMM_AUTO:
    *n = row->products;
    CopyRow(P, row, *n, j, a);
    break;
  case SPGEMM_DENSE:
    status = SpgemmWorkWindow(w, Reach(row), g);
    if (status) return status;
    if (g > 1) {
      *n = DenseRow(1, 0, P, row, col, val, w, j);
      DenseGroup(g, P, row, w, *n, j, a);
      for (int l = 1; l < g; l++) memcpy(j + l * *n, j, sizeof(*j) * *n);
    } else if (P->unsorted && col) *n = DenseUnsorted(row, col, val, w, j, a);
    else {
      *n = DenseRow(1, 1, P, row, col, val, w, j);
      DenseTake(w, *n, j, a);
    }
    break;
  case SPGEMM_HEAP:
    status = HeapRow(1, P, row, w, n, j, a);
    break;
  case SPGEMM_HASHVEC:
    status = HashRow(1, 1, P, row, w, n, j, a);
    break;
  case SPGEMM_HASH:
    status = HashRow(0, 1, P, row, w, n, j, a);
    break;
  }
  return status;
}

/* counted: the lengths of the rows are known. Otherwise the rows of a thread lie one behind the other, and i[r + 1] becomes their length. */
static MAYBE_INLINE SpgemmStatus Fill(const int counted, const SpgemmProduct *P, int64_t first, int64_t last, SpgemmWork *w)
{
  int64_t at = 0;
  int     g;

  for (int64_t r = first; r < last; r += g) {
    const int64_t     length = counted ? P->i[r + 1] - P->i[r] : 0;
    const AmbInt     *list   = NULL;
    int64_t           n      = length;
    Row               row;
    AmbInt           *j = P->j + (counted ? P->i[r] : at);
    AmbScalar        *a = P->a + (counted ? P->i[r] : at);
    SpgemmAccumulator accumulator;
    SpgemmStatus      status;
    AmbInt            col[LIST + SPGEMM_PAD];
    AmbScalar         val[LIST + SPGEMM_PAD];

    g = 1;
    if (counted && !n) continue;
    g = Group(P, r, last);
    if (g == 1 && Listed(P, r)) {
      row  = ListRow(1, P, r, col, val);
      list = col;
    } else row = GetRow(P, r);
    if (!row.products) {
      for (int l = 0; l < g; l++) P->i[r + l + 1] = 0;
      continue;
    }
    accumulator = Choose(P, &row);
    if (accumulator != SPGEMM_DENSE || Reach(&row) > GROUP_SUMS / GROUP) g = 1;
    w->rows[accumulator] += g;
    if (!counted) {
      w->products += (double)g * (double)row.products;
      n = row.products;
    }
    if (counted && accumulator != SPGEMM_AUTO && P->i[last] - P->i[r + g] < SPGEMM_PAD) {
      status = SpgemmWorkRow(w, g * n + SPGEMM_PAD);
      if (!status) status = FillRows(P, &row, list, val, accumulator, g, w, &n, w->rowj, w->rowa);
      if (status) return status;
      memcpy(j, w->rowj, sizeof(*j) * g * n);
      memcpy(a, w->rowa, sizeof(*a) * g * n);
    } else {
      status = FillRows(P, &row, list, val, accumulator, g, w, &n, j, a);
      if (status) return status;
    }
    if (!counted) {
      for (int l = 0; l < g; l++) P->i[r + l + 1] = (AmbInt)n;
      at += g * n;
    }
  }
  return SPGEMM_SUCCESS;
}

static SpgemmStatus SPGEMM_NAME(FillCounted)(const SpgemmProduct *P, int64_t first, int64_t last, SpgemmWork *w)
{
  return Fill(1, P, first, last, w);
}

static SpgemmStatus SPGEMM_NAME(FillUncounted)(const SpgemmProduct *P, int64_t first, int64_t last, SpgemmWork *w)
{
  return Fill(0, P, first, last, w);
}

/* The values of a known pattern: a table from columns to places in the row is all that is needed */
static MAYBE_INLINE SpgemmStatus HashRevalue(const SpgemmProduct *P, const Row *row, SpgemmWork *w, int64_t n, const AmbInt *j, AmbScalar *a)
{
  const SpgemmStatus status = HashSize(w, n, SPGEMM_PLACES);
  int                found;

  if (status) return status;
  for (int64_t q = 0; q < n; q++) {
    const uint64_t c = Probe(0, w, j[q], &found);

    w->key[c]   = j[q];
    w->place[c] = q;
    w->slot[q]  = c;
    a[q]        = 0;
  }
  for (AmbInt k = row->k; k < row->end; k++) {
    const AmbInt    end = P->B.i[P->A.j[k] + 1];
    const AmbScalar s   = P->A.a[k];

    Prefetch(P, k);
    for (AmbInt q = P->B.i[P->A.j[k]]; q < end; q++) a[w->place[Probe(0, w, P->B.j[q], &found)]] += s * P->B.a[q];
  }
  for (int64_t q = 0; q < n; q++) w->key[w->slot[q]] = -1;
  return SPGEMM_SUCCESS;
}

static SpgemmStatus SPGEMM_NAME(Revalue)(const SpgemmProduct *P, int64_t first, int64_t last, SpgemmWork *w)
{
  int g;

  for (int64_t r = first; r < last; r += g) {
    const int64_t n = P->i[r + 1] - P->i[r];
    const AmbInt *j = P->j + P->i[r];
    AmbScalar    *a = P->a + P->i[r];
    Row           row;
    SpgemmStatus  status = SPGEMM_SUCCESS;
    AmbInt        col[LIST + SPGEMM_PAD];
    AmbScalar     val[LIST + SPGEMM_PAD];

    g = 1;
    if (!n) continue;
    row = (Row){P->A.i[r], P->A.i[r + 1], j[0], j[n - 1], 0};
    if (row.end - row.k == 1 && !P->unsortedB) CopyRow(P, &row, n, NULL, a);
    else if (Reach(&row) <= SPGEMM_DENSE_MAX) {
      if (Reach(&row) <= GROUP_SUMS / GROUP) g = Group(P, r, last);
      status = SpgemmWorkWindow(w, Reach(&row), g);
      if (status) return status;
      if (g > 1) DenseGroup(g, P, &row, w, n, j, a);
      else {
        if (Listed(P, r)) {
          row.products = ListRow(1, P, r, col, val).products;
          DenseAddList(MARK_NONE, 1, row.products, w, col, val);
        } else DenseAdd(MARK_NONE, 1, P, &row, w);
        DenseTake(w, n, j, a);
      }
    } else status = HashRevalue(P, &row, w, n, j, a);
    if (status) return status;
  }
  return SPGEMM_SUCCESS;
}

const SpgemmKernels SPGEMM_NAME(SpgemmKernels) = {SPGEMM_KERNELS_NAME, SPGEMM_NAME(Supported), SPGEMM_NAME(Count), SPGEMM_NAME(FillCounted), SPGEMM_NAME(FillUncounted), SPGEMM_NAME(Revalue)};
