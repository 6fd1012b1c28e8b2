/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Dense accumulator: sums in a window of the columns, and marks for the columns of the row, in order. The kind of marks depends on the row's reach
   relative to its products. Part of the template in spgemmkernels.h.
*/
typedef enum {
  MARK_NONE,
  MARK_BYTES, /* one byte a column: marks are independent, but there are more to scan */
  MARK_BITS,  /* one bit a column */
  MARK_FLAGS  /* and one flag for each nonempty block, if most blocks are empty */
} Marks;

/* Chooses the marks. Listed rows never use bits: their products share few words, and each mark would wait for the previous one. */
static SYS_INLINE Marks HowToMark(const SpgemmProduct *P, const Row *row, int listed)
{
  const int64_t reach = RowReach(row);

  if ((listed || !P->words.i) && reach <= SPGEMM_BYTES_COLUMNS * row->products) return MARK_BYTES;
  return reach <= SPGEMM_BLOCK / 2 * row->products ? MARK_BITS : MARK_FLAGS;
}

static SYS_INLINE void DenseMarkWords(const Marks marks, const SpgemmProduct *P, const Row *row, SpgemmWork *w)
{
  const SysInt window = (SysInt)(w->window / 64 - 1);

  for (SysInt k = row->k; k < row->end; k++) {
    const int64_t end = P->words.i[P->A.j[k] + 1];

    if (P->same && k > row->k && P->A.j[k] == P->A.j[k - 1] + 1 && P->same[P->A.j[k]]) continue;
    for (int64_t q = P->words.i[P->A.j[k]]; q < end; q++) {
      const SysInt c = P->words.word[q] & window;

      w->mask[c] |= P->words.bits[q];
      if (marks == MARK_FLAGS) w->flag[c / (SPGEMM_BLOCK / 64)] = 1;
    }
  }
}

static SYS_INLINE void DenseAdd(const Marks marks, const int add, const SpgemmProduct *P, const Row *row, SpgemmWork *w)
{
  const SysInt     window = (SysInt)(w->window - 1), *bj = P->B.j;
  const SysScalar *ba   = P->B.a;
  SysScalar       *sum  = w->sum;
  uint64_t        *mask = w->mask;
  uint8_t         *flag = w->flag, *byte = w->byte;

  for (SysInt k = row->k; k < row->end; k++) {
    const SysInt    end = P->B.i[P->A.j[k] + 1];
    const SysScalar a   = add ? P->A.a[k] : 0;

    if (!add && P->same && k > row->k && P->A.j[k] == P->A.j[k - 1] + 1 && P->same[P->A.j[k]]) continue;
    if (add) PrefetchRow(P, k);
#pragma GCC unroll 4
    for (SysInt q = P->B.i[P->A.j[k]]; q < end; q++) {
      const uint64_t c = (uint64_t)(bj[q] & window);

      if (marks == MARK_BYTES) byte[c] = 1;
      if (marks >= MARK_BITS) mask[c / 64] |= (uint64_t)1 << (c % 64);
      if (marks == MARK_FLAGS) flag[c / SPGEMM_BLOCK] = 1;
      if (add) sum[c] += a * ba[q];
    }
  }
}

#if defined(SPGEMM_EXPAND)
  #define SPGEMM_LIST_PAYS 1
#else
  #define SPGEMM_LIST_PAYS 0
typedef struct {
  SysInt lo, hi;
} Extent;

static SYS_INLINE Extent ExtentOfNone(void)
{
  return (Extent){0, -1};
}

static SYS_INLINE SysInt ExtentLow(Extent extent)
{
  return extent.lo;
}

static SYS_INLINE SysInt ExtentHigh(Extent extent)
{
  return extent.hi;
}

static SYS_INLINE void ExpandRow(const int eights, const int add, const SysInt *j, const SysScalar *a, int64_t n, SysScalar f, SysInt *col, SysScalar *val, Extent *extent)
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
   Returns whether a row's products are listed first, many at a time: where B's rows are short their ends would be mispredicted. If most rows of B are
   empty, that is predicted.
*/
static SYS_INLINE int Listed(const SpgemmProduct *P, int64_t r)
{
  return SPGEMM_LIST_PAYS && P->lengthB >= SPGEMM_LISTED_LENGTH_LEAST && P->lengthB <= SPGEMM_LISTED_LENGTH && P->A.i[r + 1] - P->A.i[r] > 1 && (double)(P->A.i[r + 1] - P->A.i[r]) * P->longestB <= SPGEMM_LISTED_PRODUCTS;
}

static SYS_INLINE Row ListRowOf(const int eights, const int add, const SpgemmProduct *P, int64_t r, SysInt *col, SysScalar *val)
{
  Row     row    = {P->A.i[r], P->A.i[r + 1], 0, -1, 0};
  Extent  extent = ExtentOfNone();
  int64_t n      = 0;

  for (SysInt k = row.k; k < row.end; k++) {
    const SysInt s = P->B.i[P->A.j[k]], e = P->B.i[P->A.j[k] + 1];

    if (P->far) PrefetchFar(P, k);
    ExpandRow(eights, add, P->B.j + s, P->B.a + s, e - s, add ? P->A.a[k] : 0, col + n, val + n, &extent);
    n += e - s;
  }
  row.products = n;
  row.lo       = ExtentLow(extent);
  row.hi       = ExtentHigh(extent);
  return row;
}

/* With rows of B of at most this length, ends need no prediction */
static SYS_INLINE Row ListRow(const int add, const SpgemmProduct *P, int64_t r, SysInt *col, SysScalar *val)
{
  if (P->longestB <= 8) return ListRowOf(1, add, P, r, col, val);
  if (P->longestB <= 16) return ListRowOf(2, add, P, r, col, val);
  return ListRowOf(0, add, P, r, col, val);
}

static SYS_INLINE void DenseAddList(const Marks marks, const int add, int64_t n, SpgemmWork *w, const SysInt *col, const SysScalar *val)
{
  const SysInt window = (SysInt)(w->window - 1);
  SysScalar   *sum    = w->sum;
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

/* Counts a row's marks, or lists the nonzero words; clears the marks */
static SYS_INLINE int64_t DenseScan(const int list, const Marks marks, const Row *row, SpgemmWork *w)
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
          w->cols[n] = (SysInt)(c + shift * SPGEMM_BLOCK);
          n += bits != 0;
        } else n += __builtin_popcountll(bits);
      }
    } else if (marks == MARK_FLAGS) {
      for (int64_t c = first; c < end; c += 64) {
        for (uint64_t set = Flags(w->flag + c); set; set &= set - 1) {
          const int64_t d = c + __builtin_ctzll(set);

          if (list) n += ListBlock(w->mask + d * (SPGEMM_BLOCK / 64), (SysInt)((d + shift) * SPGEMM_BLOCK), w->bits + n, w->cols + n);
          else CountBlock(&counter, w->mask + d * (SPGEMM_BLOCK / 64));
        }
      }
    } else {
      for (int64_t d = first; d < end; d++) {
        if (list) n += ListBlock(w->mask + d * (SPGEMM_BLOCK / 64), (SysInt)((d + shift) * SPGEMM_BLOCK), w->bits + n, w->cols + n);
        else CountBlock(&counter, w->mask + d * (SPGEMM_BLOCK / 64));
      }
    }
    b += end - first;
  }
  return list || marks == MARK_BYTES ? n : CountSum(counter);
}

/* Writes the columns of the listed words */
static SYS_INLINE int64_t DenseEmit(const SpgemmWork *w, int64_t words, SysInt *j)
{
  int64_t n = 0;

  for (int64_t q = 0; q < words; q++) {
    EmitWord(w->bits[q], w->cols[q], j + n);
    n += __builtin_popcountll(w->bits[q]);
  }
  return n;
}

static SYS_INLINE void DenseFlushSome(SpgemmWork *w, int64_t n, const SysInt *j, SysScalar *a)
{
  const SysInt window = (SysInt)(w->window - 1);

  for (int64_t q = 0; q < n; q++) {
    const SysInt c = j[q] & window;

    a[q]      = w->sum[c];
    w->sum[c] = 0;
  }
}

/* Moves the sums to the result. Values of long rows bypass the caches piece by piece: reading memory only to overwrite it costs as much as writing
   it. */
static SYS_INLINE void DenseFlush(const SpgemmProduct *P, SpgemmWork *w, int64_t n, const SysInt *j, SysScalar *a)
{
  SysScalar buffer[SPGEMM_STREAM_PIECE] __attribute__((aligned(64)));
  int64_t   q = 0;

  if (P->stream && n >= SPGEMM_STREAM_ENTRIES) {
    q = (int64_t)((64 - (uintptr_t)a % 64) % 64 / sizeof(*a));
    DenseFlushSome(w, q, j, a);
    for (; q + SPGEMM_STREAM_PIECE <= n; q += SPGEMM_STREAM_PIECE) {
      DenseFlushSome(w, SPGEMM_STREAM_PIECE, j + q, buffer);
      Stream(a + q, buffer, sizeof(buffer));
    }
    StreamEnd();
  }
  DenseFlushSome(w, n - q, j + q, a + q);
}

/* Returns the number of columns of a listed row; clears its marks without scanning */
static SYS_INLINE int64_t DenseCountList(int64_t n, SpgemmWork *w, SysInt *col)
{
  const SysInt window = (SysInt)(w->window - 1);
  uint8_t     *byte   = w->byte;
  int64_t      count  = 0;

#pragma GCC unroll 4
  for (int64_t q = 0; q < n; q++) {
    const SysInt c = col[q] & window;

    col[count] = c;
    count += !byte[c];
    byte[c] = 1;
  }
  for (int64_t q = 0; q < count; q++) byte[col[q]] = 0;
  return count;
}

/* Computes a row's length and columns, and its sums unless `add` is 0. col: its listed products. */
static SYS_INLINE int64_t DensePattern(const int emit, const Marks marks, const int add, const SpgemmProduct *P, const Row *row, const SysInt *col, const SysScalar *val, SpgemmWork *w, SysInt *j)
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

/* Adds a row's listed products; its columns may have any order, except for the first and the last */
static SYS_INLINE int64_t DenseUnsorted(const Row *row, const SysInt *col, const SysScalar *val, SpgemmWork *w, SysInt *j, SysScalar *a)
{
  const SysInt window = (SysInt)(w->window - 1);
  SysScalar   *sum    = w->sum, t;
  uint8_t     *byte   = w->byte;
  int64_t      n = 0, lo = 0, hi = 0;

#pragma GCC unroll 4
  for (int64_t q = 0; q < row->products; q++) {
    const SysInt c = col[q] & window;

    j[n] = col[q];
    n += !byte[c];
    byte[c] = 1;
    sum[c] += val[q];
  }
  for (int64_t q = 0; q < n; q++) {
    const SysInt c = j[q] & window;

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

static SYS_INLINE int64_t DenseRow(const int emit, const int add, const SpgemmProduct *P, const Row *row, const SysInt *col, const SysScalar *val, SpgemmWork *w, SysInt *j)
{
  const Marks marks = HowToMark(P, row, col != NULL);

  if (marks == MARK_BYTES) return DensePattern(emit, MARK_BYTES, add, P, row, col, val, w, j);
  if (marks == MARK_BITS) return DensePattern(emit, MARK_BITS, add, P, row, col, val, w, j);
  return DensePattern(emit, MARK_FLAGS, add, P, row, col, val, w, j);
}

/* Returns the number of rows from r on with the same columns in A, at least one, as the unknowns of a node have */
static SYS_INLINE int Group(const SpgemmProduct *P, int64_t r, int64_t last)
{
  const SysInt  n = P->A.i[r + 1] - P->A.i[r];
  const SysInt *j = P->A.j + P->A.i[r];
  int           g = 1;

  if (n < 2) return 1;
  while (g < SPGEMM_GROUP_ROWS && r + g < last && P->A.i[r + g + 1] - P->A.i[r + g] == n && j[g * (int64_t)n] == j[0] && !memcmp(j + g * (int64_t)n, j, sizeof(*j) * n)) g++;
  return g;
}

/* Returns the number of entries of A from k on, one to three, that meet consecutive rows of B with the same columns */
static SYS_INLINE int Twins(const SpgemmProduct *P, SysInt k, SysInt end)
{
  const SysInt r = P->A.j[k];

  if (!P->same || k + 1 == end || P->A.j[k + 1] != r + 1 || !P->same[r + 1]) return 1;
  return k + 2 < end && P->A.j[k + 2] == r + 2 && P->same[r + 2] ? 3 : 2;
}

/* Returns the factor of row l of g for row t of these rows of B */
static SYS_INLINE SysScalar Factor(const SpgemmProduct *P, const Row *row, SysInt k, int g, int t, int l)
{
  return l < g ? P->A.a[k + t + l * (int64_t)(row->end - row->k)] : 0;
}

/* Adds `twins` such rows of B to g <= lanes rows with the same columns in A, whose sums are side by side. Uses vectors explicitly: the compiler would
   keep the factors in scalars. */
#if defined(SYS_COMPLEX)
  #define LANES(lanes) \
    typedef struct { \
      SysScalar lane[lanes]; \
    } Lanes##lanes; \
    static SYS_INLINE void AddLanes##lanes(Lanes##lanes *y, const Lanes##lanes *f, SysScalar b) \
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
    typedef SysScalar      Lanes##lanes __attribute__((vector_size(lanes * sizeof(SysScalar)))); \
    static SYS_INLINE void AddLanes##lanes(Lanes##lanes *y, const Lanes##lanes *f, SysScalar b) \
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
  static SYS_INLINE void DenseAddTwins##lanes(const int twins, int g, const SpgemmProduct *P, const Row *row, SysInt k, SpgemmWork *w) \
  { \
    const SysInt     window = (SysInt)(w->window - 1), s = P->B.i[P->A.j[k]], n = P->B.i[P->A.j[k] + 1] - s, *bj = P->B.j + s; \
    const SysScalar *ba  = P->B.a + s; \
    Lanes##lanes    *sum = (Lanes##lanes *)w->sum, f[3]; \
    for (int t = 0; t < twins; t++) { \
      const Lanes##lanes factors = SOME_LANES(__VA_ARGS__); \
      f[t]                       = factors; \
    } \
    for (SysInt q = 0; q < n; q++) { \
      const int64_t c = bj[q] & window; \
      Lanes##lanes  y = sum[c]; \
      for (int t = 0; t < twins; t++) AddLanes##lanes(&y, &f[t], ba[q + t * n]); \
      sum[c] = y; \
    } \
  } \
  static SYS_INLINE void DenseAddGroup##lanes(int g, const SpgemmProduct *P, const Row *row, SpgemmWork *w) \
  { \
    for (SysInt k = row->k; k < row->end;) { \
      const int twins = Twins(P, k, row->end); \
      PrefetchRow(P, k); \
      if (twins == 3) DenseAddTwins##lanes(3, g, P, row, k, w); \
      else if (twins == 2) DenseAddTwins##lanes(2, g, P, row, k, w); \
      else DenseAddTwins##lanes(1, g, P, row, k, w); \
      k += twins; \
    } \
  }

ADD_TWINS(2, FACTOR(0), FACTOR(1))
ADD_TWINS(4, FACTOR(0), FACTOR(1), FACTOR(2), FACTOR(3))
ADD_TWINS(8, FACTOR(0), FACTOR(1), FACTOR(2), FACTOR(3), FACTOR(4), FACTOR(5), FACTOR(6), FACTOR(7))

static SYS_INLINE void DenseFlushGroup(const int lanes, int g, SpgemmWork *w, int64_t n, const SysInt *j, SysScalar *a)
{
  const SysInt window = (SysInt)(w->window - 1);

  for (int64_t q = 0; q < n; q++) {
    SysScalar *s = w->sum + lanes * (int64_t)(j[q] & window), t[SPGEMM_GROUP_ROWS];

    for (int l = 0; l < lanes; l++) t[l] = s[l];
    for (int l = 0; l < lanes; l++) s[l] = 0;
    for (int l = 0; l < g; l++) a[q + l * n] = t[l];
  }
}

static SYS_INLINE void DenseGroup(int g, const SpgemmProduct *P, const Row *row, SpgemmWork *w, int64_t n, const SysInt *j, SysScalar *a)
{
  switch (g) {
  case 2:
    DenseAddGroup2(2, P, row, w);
    DenseFlushGroup(2, 2, w, n, j, a);
    break;
  case 3:
    DenseAddGroup4(3, P, row, w);
    DenseFlushGroup(4, 3, w, n, j, a);
    break;
  case 4:
    DenseAddGroup4(4, P, row, w);
    DenseFlushGroup(4, 4, w, n, j, a);
    break;
  default:
    DenseAddGroup8(g, P, row, w);
    DenseFlushGroup(8, g, w, n, j, a);
  }
}
