/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Template of the SpGEMM row kernels; spgemmhost.h has the idea. The including file defines

     SYS_ISA                    the instruction set, see sys/sysisa.h
     SPGEMM_KEYS                keys of a chunk of the vectorised hash table, a power of two
     KeyMask(keys, key)         a mask of the chunk's keys that equal key
     Flags(flag)                a mask of the set ones of 64 flags; clears them
     Counter, CountBlock(counter, mask), CountSum(counter)
                                count the bits of blocks of SPGEMM_BLOCK columns; clear them
     ListBlock(mask, col, bits, cols)
                                lists a block's nonzero words and each one's first column; clears the block, returns their number, may write
                                SPGEMM_BLOCK / 64 beyond
     Extent, ExpandRow(eights, add, j, a, n, f, col, val, extent), ExtentOfNone(), ExtentLow(extent), ExtentHigh(extent)
                                copy n columns and f times the values, may write SPGEMM_PAD beyond; eights, if not 0: n is at most 8 times
                                that; SPGEMM_EXPAND: the instruction set gains from it
     Scale(eights, n, f, a, val)   copies f times n values, like ExpandRow()
     Stream(to, from, size), StreamEnd()
                                copies aligned cache lines around the caches; call StreamEnd() after the last copy
     SPGEMM_SORT                if the following four exist: most keys to sort
     MakeKeys(vectors, n, lo, col, key)
                                sets 16 keys a vector: n columns, relative to lo, above their numbers, then the largest numbers; may read as
                                many columns as keys
     SortKeys(vectors, key)     sorts them
     CountSorted(n, key)        returns the number of columns of n sorted keys
     TakeSorted(vectors, n, key, lo, val, j, a)
                                writes columns and sums of sorted products, whose keys are a column above a product's 8-bit number; may
                                write SPGEMM_PAD beyond; returns the length
     EmitWord(bits, col, j)     writes col + k for each bit k; may write SPGEMM_PAD entries beyond
     SYS_INLINE                 inlines a function into its callers
*/
#include <string.h>

#include "mat/impls/hashgemm/host/spgemmimpl.h"

typedef struct {
  SysInt  k, end;   /* range of the row's entries in A */
  SysInt  lo, hi;   /* range of the result's columns */
  int64_t products; /* 0: the row is empty, lo and hi are undefined */
} Row;

static SYS_INLINE Row GetRow(const SpgemmProduct *P, int64_t r)
{
  const SysInt *bi = P->B.i, *bj = P->B.j;
  Row           row = {P->A.i[r], P->A.i[r + 1], 0, -1, 0};

  for (SysInt k = row.k; k < row.end; k++) {
    const SysInt s = bi[P->A.j[k]], e = bi[P->A.j[k] + 1];

    if (s == e) continue;
    if (!row.products || bj[s] < row.lo) row.lo = bj[s];
    if (bj[e - 1] > row.hi) row.hi = bj[e - 1];
    row.products += e - s;
  }
  return row;
}

/* Returns the end of row r's batch. Rows before the end of an earlier batch are done; a part begins with a batch. */
static SYS_INLINE int64_t BatchEnd(const SpgemmProduct *P, int64_t r, int64_t end, int64_t last)
{
  while (end <= r) end += P->batch;
  return end < last ? end : last;
}

/* Prefetches the row of B for an entry some way after k of A; hardware cannot predict the order of rows of B */
static SYS_INLINE void PrefetchRow(const SpgemmProduct *P, SysInt k)
{
  const SysInt s = P->B.i[P->A.j[k + SPGEMM_PREFETCH_ENTRIES < P->last ? k + SPGEMM_PREFETCH_ENTRIES : P->last]];

  __builtin_prefetch(P->B.j + s);
  __builtin_prefetch(P->B.a + s);
  if (P->lengthB < 8) return;
  __builtin_prefetch(P->B.a + s + 64 / sizeof(SysScalar));
  __builtin_prefetch(P->B.a + s + 128 / sizeof(SysScalar));
  if (P->lengthB < 32) return;
  for (int l = 1; l < 3; l++) __builtin_prefetch(P->B.j + s + l * 64 / sizeof(SysInt));
  for (int l = 3; l < 8; l++) __builtin_prefetch(P->B.a + s + l * 64 / sizeof(SysScalar));
}

/* The same for listed rows: the processor does not see past a row's sort, so later rows are prefetched earlier */
static SYS_INLINE void PrefetchFar(const SpgemmProduct *P, SysInt k)
{
  const SysInt last = P->last, s = P->B.i[P->A.j[k + SPGEMM_PREFETCH_LISTED < last ? k + SPGEMM_PREFETCH_LISTED : last]];

  __builtin_prefetch(P->B.i + P->A.j[k + 2 * SPGEMM_PREFETCH_LISTED < last ? k + 2 * SPGEMM_PREFETCH_LISTED : last]);
  __builtin_prefetch(P->B.j + s);
  __builtin_prefetch(P->B.a + s);
  __builtin_prefetch(P->B.a + s + 64 / sizeof(SysScalar));
}

/* Returns the columns from the first block that the row reaches to the end of the last */
static SYS_INLINE int64_t RowReach(const Row *row)
{
  return ((int64_t)(row->hi / SPGEMM_BLOCK) - row->lo / SPGEMM_BLOCK + 1) * SPGEMM_BLOCK;
}

/* Returns whether the row uses the dense accumulator; nearly empty rows with a long reach are faster in a table of their size */
static SYS_INLINE int Dense(const SpgemmProduct *P, const Row *row, int64_t products)
{
  const int64_t reach = RowReach(row);

  return reach <= P->window && reach <= SPGEMM_DENSE_COLUMNS * products;
}

static SYS_INLINE SpgemmAccumulator Choose(const SpgemmProduct *P, const Row *row)
{
  if (row->end - row->k == 1 && !P->unsortedB) return SPGEMM_AUTO;
  if (P->accumulator && P->accumulator != SPGEMM_ESC) return P->accumulator;
  return Dense(P, row, row->products) ? SPGEMM_DENSE : SPGEMM_HASH;
}

#include "mat/impls/hashgemm/host/spgemmdense.h"
#include "mat/impls/hashgemm/host/spgemmhash.h"
#include "mat/impls/hashgemm/host/spgemmsort.h"
#include "mat/impls/hashgemm/host/spgemmruns.h"
#include "mat/impls/hashgemm/host/spgemmplaces.h"

/* Returns whether a listed row needs neither window nor table */
static SYS_INLINE int Sorts(const SpgemmProduct *P, const Row *row)
{
  return !P->unsorted && (P->accumulator == SPGEMM_AUTO || P->accumulator == SPGEMM_ESC) && CanSort(row) && (P->accumulator || RowReach(row) >= SPGEMM_SORT_COLUMNS * row->products);
}

static SYS_INLINE int Few(const SpgemmProduct *P, const Row *row)
{
  return row->products <= SPGEMM_INSERTION_PRODUCTS && (P->accumulator == SPGEMM_AUTO || P->accumulator == SPGEMM_ESC) && (row->end - row->k > 1 || P->unsortedB);
}

/* Inserts each product from the end of the present ones. met: the nmet entries of A that meet nonempty rows; NULL: all. */
static SYS_INLINE int64_t FewRow(const int fill, const SpgemmProduct *P, const Row *row, int nmet, const SysInt *met, SysInt *j, SysScalar *a)
{
  const SysScalar zero = 0; /* sums start with it, as sums of new values do */
  const SysInt    last = met ? nmet : row->end - row->k;
  int64_t         n    = 0;

  for (SysInt l = 0; l < last; l++) {
    const SysInt    k = met ? met[l] : row->k + l, end = P->B.i[P->A.j[k] + 1];
    const SysScalar f = fill ? P->A.a[k] : 0;

    for (SysInt q = P->B.i[P->A.j[k]]; q < end; q++) {
      const SysInt c  = P->B.j[q];
      int64_t      at = n;

      while (at && j[at - 1] > c) at--;
      if (at && j[at - 1] == c) {
        if (fill) a[at - 1] += f * P->B.a[q];
        continue;
      }
      for (int64_t to = n++; to > at; to--) {
        j[to] = j[to - 1];
        if (fill) a[to] = a[to - 1];
      }
      j[at] = c;
      if (fill) a[at] = zero + f * P->B.a[q];
    }
  }
  return n;
}

/* For a B of mostly empty rows: lists the entries of row r that meet nonempty ones, branch-free, because no processor predicts them. Most rows have
   no products and leave after the first loop. Returns 0 if the row has few or no products. */
static SYS_INLINE int MeetsMany(const SpgemmProduct *P, int64_t r, SysInt *met, int *nmet, Row *row)
{
  int n = 0;

  *row = (Row){P->A.i[r], P->A.i[r + 1], 0, -1, 0};
  if (row->end - row->k > SPGEMM_LISTED_PRODUCTS) return 1;
  for (SysInt k = row->k; k < row->end; k++) row->products += P->B.i[P->A.j[k] + 1] - P->B.i[P->A.j[k]];
  for (SysInt k = row->k; k < row->end && row->products; k++) {
    met[n] = k;
    n += P->B.i[P->A.j[k] + 1] > P->B.i[P->A.j[k]];
  }
  *nmet = n;
  return n && !Few(P, row);
}

/* Copies a row with one entry in A */
static SYS_INLINE void CopyRow(const SpgemmProduct *P, const Row *row, int64_t n, SysInt *j, SysScalar *a)
{
  const SysInt     s  = P->B.i[P->A.j[row->k]];
  const SysInt    *bj = P->B.j + s;
  const SysScalar *ba = P->B.a + s, f = P->A.a[row->k];

  if (j) memcpy(j, bj, sizeof(*j) * n);
  for (int64_t q = 0; q < n; q++) a[q] = f * ba[q];
}

static SysStatus SYS_ISA_NAME(Count)(const SpgemmProduct *P, int64_t first, int64_t last, SpgemmWork *w)
{
  const int rare = P->lengthB <= SPGEMM_RARE_LENGTH;

  for (int64_t r = first, end = first; r < last;) {
    const SysInt *list   = NULL;
    SysStatus     status = SYS_SUCCESS;
    Row           row;
    int64_t       run, g, n;
    SysInt        col[SPGEMM_LISTED_PRODUCTS + SPGEMM_PAD];
    int           nmet;

    if (rare && !MeetsMany(P, r, col, &nmet, &row)) {
      SysInt few[SPGEMM_INSERTION_PRODUCTS];

      w->products += (double)row.products;
      P->i[++r] = (SysInt)FewRow(0, P, &row, nmet, col, few, NULL);
      continue;
    }
    end = BatchEnd(P, r, end, last);
    run = RunLength(P, r, end);
    g   = run > 1 ? run : Group(P, r, end);
    if (run == 1 && Listed(P, r)) {
      row  = ListRow(0, P, r, col, NULL);
      list = col;
    } else row = GetRow(P, r);
    n = row.products;
    w->products += (double)g * (double)n;
    if (n && list && Sorts(P, &row)) {
      w->bysort += (double)n;
      n = SortCount(&row, col);
    } else if (n && Few(P, &row)) n = FewRow(0, P, &row, 0, NULL, col, NULL);
    else if (n) {
      switch (Choose(P, &row)) {
      case SPGEMM_AUTO:
        break;
      case SPGEMM_DENSE:
        status = SpgemmWorkWindow(w, RowReach(&row), 0);
        if (status) break;
        if (list && HowToMark(P, &row, 1) != MARK_BYTES) n = DenseCountList(n, w, col);
        else n = DenseRow(0, 0, P, &row, list, NULL, w, NULL);
        break;
      case SPGEMM_HEAP:
        status = HeapRow(0, P, &row, w, &n, NULL, NULL);
        break;
      case SPGEMM_HASHVEC:
        status = HashRow(1, 0, P, &row, w, &n, NULL, NULL);
        break;
      case SPGEMM_HASH:
      default:
        status = HashRow(0, 0, P, &row, w, &n, NULL, NULL);
        break;
      }
      if (status) return status;
    }
    for (int64_t l = 0; l < g; l++) P->i[++r] = (SysInt)n;
  }
  return SYS_SUCCESS;
}

/* Computes rows r to r + g - 1, of length *n; g > 1 if they have the same columns in A and use the dense accumulator */
static SYS_INLINE SysStatus FillRows(const SpgemmProduct *P, const Row *row, const SysInt *col, const SysScalar *val, SpgemmAccumulator accumulator, int g, SpgemmWork *w, int64_t *n, SysInt *j, SysScalar *a)
{
  SysStatus status = SYS_SUCCESS;

  switch (accumulator) {
  case SPGEMM_AUTO:
    *n = row->products;
    CopyRow(P, row, *n, j, a);
    break;
  case SPGEMM_DENSE:
    status = SpgemmWorkWindow(w, RowReach(row), g);
    if (status) return status;
    if (g > 1) {
      *n = DenseRow(1, 0, P, row, col, val, w, j);
      DenseGroup(g, P, row, w, *n, j, a);
      for (int l = 1; l < g; l++) memcpy(j + l * *n, j, sizeof(*j) * *n);
    } else if (P->unsorted && col) *n = DenseUnsorted(row, col, val, w, j, a);
    else {
      *n = DenseRow(1, 1, P, row, col, val, w, j);
      DenseFlush(P, w, *n, j, a);
    }
    break;
  case SPGEMM_HEAP:
    status = HeapRow(1, P, row, w, n, j, a);
    break;
  case SPGEMM_ESC:
    *n = col ? SortRow(row, col, val, j, a) : FewRow(1, P, row, 0, NULL, j, a);
    break;
  case SPGEMM_HASHVEC:
    status = HashRow(1, 1, P, row, w, n, j, a);
    break;
  case SPGEMM_HASH:
  default:
    status = HashRow(0, 1, P, row, w, n, j, a);
    break;
  }
  return status;
}

/* Computes the g rows of a run, of length *n */
static SYS_INLINE SysStatus RunFill(const SpgemmProduct *P, const Row *row, int64_t g, SpgemmWork *w, int64_t *n, SysInt *j, SysScalar *a)
{
  SysStatus status = SpgemmWorkWindow(w, RowReach(row), 0);

  if (!status) status = SpgemmWorkRow(w, row->products + SPGEMM_PAD);
  if (status) return status;
  *n = DenseRow(1, 0, P, row, NULL, NULL, w, w->rowj);
  RunColumns(g, *n, w->rowj, j);
  return RunRevalue(P, row, g, w, *n, w->rowj, a);
}

/* counted: the lengths of the rows are known. Otherwise a thread's rows are contiguous, and i[r + 1] becomes their length. */
static SYS_INLINE SysStatus FillSome(const int counted, const SpgemmProduct *P, int64_t first, int64_t last, SpgemmWork *w)
{
  const int brief = ShortSupports(P), single = P->longestB <= 1 && P->lengthB >= 1, rare = !counted && P->lengthB <= SPGEMM_RARE_LENGTH;
  int64_t   at = 0, end = first, g;

  for (int64_t r = first; r < last; r += g) {
    const int64_t     length = counted ? P->i[r + 1] - P->i[r] : 0;
    const SysInt     *list   = NULL;
    int64_t           n      = length, run;
    Row               row;
    SysInt           *j = P->j + (counted ? P->i[r] : at);
    SysScalar        *a = P->a + (counted ? P->i[r] : at);
    SpgemmAccumulator accumulator;
    SysStatus         status;
    SysInt            col[SPGEMM_LISTED_PRODUCTS + SPGEMM_PAD];
    SysScalar         val[SPGEMM_LISTED_PRODUCTS + SPGEMM_PAD];
    int               nmet, ends; /* ends: kernels would write behind the result */

    g = 1;
    if (counted && !n) continue;
    if (rare && !MeetsMany(P, r, col, &nmet, &row)) {
      n = FewRow(1, P, &row, nmet, col, j, a);
      w->rows[SPGEMM_ESC] += n > 0;
      w->products += (double)row.products;
      P->i[r + 1] = (SysInt)n;
      at += n;
      continue;
    }
    end = BatchEnd(P, r, end, last);
    run = RunLength(P, r, end);
    if (run > 1) {
      row = GetRow(P, r);
      if (Choose(P, &row) == SPGEMM_DENSE && RunFits(P, &row, counted ? n : row.products)) {
        status = RunFill(P, &row, run, w, &n, j, a);
        if (status) return status;
        g = run;
        w->rows[SPGEMM_DENSE] += (double)g;
        if (counted) continue;
        w->products += (double)g * (double)row.products;
        for (int64_t l = 0; l < g; l++) P->i[r + l + 1] = (SysInt)n;
        at += g * n;
        continue;
      }
    }
    g = Group(P, r, end);
    if (brief && g == 1 && (!counted || P->i[last] - P->i[r] >= 2 * SPGEMM_PAD)) {
      const int64_t products = ShortProducts(single, P, r);

      if (products >= 0) {
        if (!products) n = 0;
        else if (single && products <= SPGEMM_SHORT) n = ShortRow(1, P, P->A.i[r], P->A.i[r + 1], products, j, a);
        else if (products <= SPGEMM_STAMP_PRODUCTS || !P->stamps) n = ShortRow(0, P, P->A.i[r], P->A.i[r + 1], products, j, a);
        else {
          status = SpgemmWorkStamps(w, P->B.n);
          if (status) return status;
          n = StampRow(P, r, w, j, a);
        }
        w->rows[SPGEMM_ESC] += n > 0;
        if (counted) continue;
        w->products += (double)products;
        P->i[r + 1] = (SysInt)n;
        at += n;
        continue;
      }
    }
    if (g == 1 && Listed(P, r)) {
      row  = ListRow(1, P, r, col, val);
      list = col;
    } else row = GetRow(P, r);
    if (!row.products) {
      for (int64_t l = 0; l < g; l++) P->i[r + l + 1] = 0;
      continue;
    }
    accumulator = (list && Sorts(P, &row)) || (!list && g == 1 && Few(P, &row)) ? SPGEMM_ESC : Choose(P, &row);
    if (accumulator != SPGEMM_DENSE || RowReach(&row) > SPGEMM_GROUP_SUMS / SPGEMM_GROUP_ROWS) g = 1;
    w->rows[accumulator] += (double)g;
    if (!counted) {
      w->products += (double)g * (double)row.products;
      n = row.products;
    }
    ends = counted && accumulator != SPGEMM_AUTO && P->i[last] - P->i[r + g] < SPGEMM_PAD;
    if (ends) {
      status = SpgemmWorkRow(w, g * n + SPGEMM_PAD);
      if (status) return status;
    }
    status = FillRows(P, &row, list, val, accumulator, (int)g, w, &n, ends ? w->rowj : j, ends ? w->rowa : a);
    if (status) return status;
    if (ends) {
      memcpy(j, w->rowj, sizeof(*j) * g * n);
      memcpy(a, w->rowa, sizeof(*a) * g * n);
    }
    if (!counted) {
      for (int64_t l = 0; l < g; l++) P->i[r + l + 1] = (SysInt)n;
      at += g * n;
    }
  }
  return SYS_SUCCESS;
}

static SysStatus SYS_ISA_NAME(FillCounted)(const SpgemmProduct *P, int64_t first, int64_t last, SpgemmWork *w)
{
  return FillSome(1, P, first, last, w);
}

static SysStatus SYS_ISA_NAME(FillUncounted)(const SpgemmProduct *P, int64_t first, int64_t last, SpgemmWork *w)
{
  return FillSome(0, P, first, last, w);
}

/* Adds new values of a row that would be listed, if B's rows are so short that listing dominates and the sums fit the first-level cache. Rounds
   products as in a list. */
static SYS_INLINE void BriefAdd(const SpgemmProduct *P, const Row *row, SpgemmWork *w)
{
  const SysInt     window = (SysInt)(w->window - 1), *bi = P->B.i, *bj = P->B.j, *aj = P->A.j;
  const SysScalar *ba = P->B.a, *aa = P->A.a;
  SysScalar       *sum = w->sum;

  for (SysInt k = row->k; k < row->end; k++) {
    const SysInt    end = bi[aj[k] + 1];
    const SysScalar f   = aa[k];

    for (SysInt q = bi[aj[k]]; q < end; q++) sum[bj[q] & window] += Rounded(f * ba[q]);
  }
}

static SysStatus SYS_ISA_NAME(Revalue)(const SpgemmProduct *P, int64_t first, int64_t last, SpgemmWork *w)
{
  const int briefs   = SPGEMM_SHORT && P->lengthB <= SPGEMM_BRIEF_LENGTH && P->lengthB * (double)P->A.i[P->A.m] >= SPGEMM_BRIEF_RATIO * (double)P->i[P->A.m];
  uint16_t *position = P->positions;
  int64_t   placed = 0, end = first, clear = first, g;

  for (int64_t r = first; r < last; r += g) {
    const int64_t n = P->i[r + 1] - P->i[r];
    const SysInt *j = P->j + P->i[r];
    SysScalar    *a = P->a + P->i[r];
    int64_t       run;
    Row           row;
    SysStatus     status = SYS_SUCCESS;
    SysInt        col[SPGEMM_LISTED_PRODUCTS + SPGEMM_PAD];
    SysScalar     val[SPGEMM_LISTED_PRODUCTS + SPGEMM_PAD];

    g = 1;
    if (!n) continue;
    end = BatchEnd(P, r, end, last);
    run = RunLength(P, r, end);
    if (run > 1) {
      row = GetRow(P, r);
      if (RowReach(&row) <= P->window && RunFits(P, &row, n)) {
        status = SpgemmWorkWindow(w, RowReach(&row), 0);
        if (!status) status = RunRevalue(P, &row, run, w, n, j, a);
        if (status) return status;
        g = run;
        continue;
      }
    }
    row = (Row){P->A.i[r], P->A.i[r + 1], j[0], j[n - 1], 0};
    if (row.end - row.k == 1 && !P->unsortedB) CopyRow(P, &row, n, NULL, a);
    else if (RowReach(&row) <= P->window) {
      const int brief = briefs && Listed(P, r);

      if (RowReach(&row) <= SPGEMM_GROUP_SUMS / SPGEMM_GROUP_ROWS) g = Group(P, r, end);
      if (g == 1 && n <= PLACES_ROW && !brief) {
        if (P->positions) {
          status = PlacedRow(P, &row, w, r, last, &position, &clear);
          if (status) return status;
          continue;
        }
        if (P->placed) placed += ProductsOfRow(P, &row);
      }
      status = SpgemmWorkWindow(w, RowReach(&row), g);
      if (status) return status;
      if (g > 1) DenseGroup((int)g, P, &row, w, n, j, a);
      else {
        if (brief) BriefAdd(P, &row, w);
        else if (Listed(P, r)) {
          row.products = ListRow(1, P, r, col, val).products;
          DenseAddList(MARK_NONE, 1, row.products, w, col, val);
        } else DenseAdd(MARK_NONE, 1, P, &row, w);
        DenseFlush(P, w, n, j, a);
      }
    } else status = HashRevalue(P, &row, w, n, j, a);
    if (status) return status;
  }
  if (P->placed) *P->placed = placed;
  return SYS_SUCCESS;
}

const SpgemmKernels SYS_ISA_NAME(SpgemmKernels) = {SYS_KERNELS_NAME, SYS_ISA_NAME(SpgemmSupported), SPGEMM_LIST_PAYS ? 0.6 : 0.4, SYS_ISA_NAME(Count), SYS_ISA_NAME(FillCounted), SYS_ISA_NAME(FillUncounted), SYS_ISA_NAME(Revalue)};
