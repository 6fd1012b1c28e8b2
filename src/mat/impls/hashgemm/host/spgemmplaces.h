/* SPDX-License-Identifier: BSD-2-Clause */
/*
   New values by known positions. The position of each product's sum, two bytes, is stored at the first look-up. Later passes read no columns, and a row's
   sums are as dense as in the result and need no gathering from a window.

   Gather and scatter instructions, for eight products of a row of B at a time, took twice as long (Zen 4).

   Part of the template in spgemmkernels.h.
*/
#define PLACES_ROW 65536 /* most entries of a row: 16-bit positions */
#if defined(SPGEMM_EXPAND)
  #define PLACES_BRIEF 2 /* longest row of B for the loop without a list */
#else
  #define PLACES_BRIEF 8
#endif

static SYS_INLINE int64_t ProductsOfRow(const SpgemmProduct *P, const Row *row)
{
  int64_t n = 0;

  for (SysInt k = row->k; k < row->end; k++) n += P->B.i[P->A.j[k] + 1] - P->B.i[P->A.j[k]];
  return n;
}

/* Stores a row's positions; returns the next row's first */
static SYS_INLINE uint16_t *FindPositions(const SpgemmProduct *P, const Row *row, const SpgemmWork *w, int64_t n, const SysInt *j, uint16_t *position)
{
  const SysInt window = (SysInt)(w->window - 1), *bj = P->B.j;
  uint16_t    *rank = w->rank;

  for (int64_t q = 0; q < n; q++) rank[j[q] & window] = (uint16_t)q;
  for (SysInt k = row->k; k < row->end; k++) {
    const SysInt end = P->B.i[P->A.j[k] + 1];

    PrefetchRow(P, k);
    for (SysInt q = P->B.i[P->A.j[k]]; q < end; q++) *position++ = rank[bj[q] & window];
  }
  return position;
}

/* One load gets four positions; otherwise loads would be the bottleneck */
static SYS_INLINE const uint16_t *AddPlaced(int64_t n, const uint16_t *position, SysScalar f, const SysScalar *b, SysScalar *sum)
{
  const int little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
  int64_t   q      = 0;

  for (; q + 4 <= n; q += 4) {
    uint64_t four;

    memcpy(&four, position + q, sizeof(four));
#pragma GCC unroll 4
    for (int l = 0; l < 4; l++) sum[four >> 16 * (little ? l : 3 - l) & 0xffff] += f * b[q + l];
  }
  for (; q < n; q++) sum[position[q]] += f * b[q];
  return position + n;
}

/* Returns whether a plain loop over cached rows of B is faster: over very short rows, and in a small product, whose ends of rows the processor predicts from the last values on */
static SYS_INLINE int Brief(const SpgemmProduct *P)
{
  return !P->far && (P->longestB <= PLACES_BRIEF || (P->lengthB <= SPGEMM_BRIEF_LENGTH && P->lengthB * (double)P->A.i[P->A.m] <= SPGEMM_PLACES_FEW));
}

static SYS_INLINE const uint16_t *PlacedBrief(const SpgemmProduct *P, const Row *row, const uint16_t *position, SysScalar *sum)
{
  const SysInt    *bi = P->B.i, *aj = P->A.j;
  const SysScalar *ba = P->B.a, *aa = P->A.a;

  for (SysInt k = row->k; k < row->end; k++) {
    const SysInt    end = bi[aj[k] + 1];
    const SysScalar f   = aa[k];

    for (SysInt q = bi[aj[k]]; q < end; q++) sum[*position++] += f * ba[q];
  }
  return position;
}

static SYS_INLINE const uint16_t *PlacedRows(const SpgemmProduct *P, const Row *row, const uint16_t *position, SysScalar *sum)
{
  const int        line = 64 / sizeof(*sum), lines = P->lengthB < 8 * line ? (int)P->lengthB / line + 1 : 8;
  const SysInt    *bi = P->B.i, *aj = P->A.j, last = P->last;
  const SysScalar *ba = P->B.a, *aa = P->A.a;

  for (SysInt k = row->k; k < row->end; k++) {
    const SysInt     s    = bi[aj[k]];
    const SysScalar *next = ba + bi[aj[k + SPGEMM_PREFETCH_ENTRIES < last ? k + SPGEMM_PREFETCH_ENTRIES : last]];

    for (int l = 0; l < lines; l++) __builtin_prefetch(next + l * line);
    position = AddPlaced(bi[aj[k] + 1] - s, position, aa[k], ba + s, sum);
  }
  return position;
}

#if defined(SPGEMM_EXPAND)
/* For short rows of B, whose ends would be mispredicted: lists the products first */
static SYS_INLINE const uint16_t *PlacedList(const int eights, const SpgemmProduct *P, const Row *row, const uint16_t *position, SysScalar *sum)
{
  const SysInt    *bi = P->B.i, *aj = P->A.j, last = P->last;
  const SysScalar *ba = P->B.a, *aa = P->A.a;
  SysScalar        val[SPGEMM_PLACES_LISTED + SPGEMM_PLACES_LONG + SPGEMM_PAD];
  int64_t          n = 0;

  for (SysInt k = row->k; k < row->end; k++) {
    const SysInt     s    = bi[aj[k]];
    const SysScalar *next = ba + bi[aj[k + SPGEMM_PREFETCH_ENTRIES < last ? k + SPGEMM_PREFETCH_ENTRIES : last]];

    for (int l = 0; l <= eights; l++) __builtin_prefetch(next + 8 * l);
    Scale(eights, bi[aj[k] + 1] - s, aa[k], ba + s, val + n);
    n += bi[aj[k] + 1] - s;
    if (n >= SPGEMM_PLACES_LISTED) {
      position = AddPlaced(n, position, 1, val, sum);
      n        = 0;
    }
  }
  return AddPlaced(n, position, 1, val, sum);
}
#endif

static SYS_INLINE const uint16_t *PlacedSums(const SpgemmProduct *P, const Row *row, const uint16_t *position, SysScalar *sum)
{
  if (Brief(P)) return PlacedBrief(P, row, position, sum);
#if defined(SPGEMM_EXPAND)
  if (P->longestB <= 8) return PlacedList(1, P, row, position, sum);
  if (P->longestB <= 16) return PlacedList(2, P, row, position, sum);
  if (P->longestB <= 24) return PlacedList(3, P, row, position, sum);
  if (P->longestB <= SPGEMM_PLACES_LONG) return PlacedList(SPGEMM_PLACES_LONG / 8, P, row, position, sum);
#endif
  return PlacedRows(P, row, position, sum);
}

/* Clears the values of the rows from r on, several short ones at a time; returns the end of these rows */
static SYS_INLINE int64_t ClearRows(const SpgemmProduct *P, int64_t r, int64_t last)
{
  int64_t end = r + 1;

  while (end < last && P->i[end + 1] - P->i[r] <= SPGEMM_PLACES_CLEARED) end++;
  memset(P->a + P->i[r], 0, sizeof(*P->a) * (size_t)(P->i[end] - P->i[r]));
  return end;
}

/* *position: the first place of row r, on return of the next row. *clear: the end of the rows whose values are cleared. */
static SysStatus PlacedRow(const SpgemmProduct *P, const Row *row, SpgemmWork *w, int64_t r, int64_t last, uint16_t **position, int64_t *clear)
{
  const int64_t   n      = P->i[r + 1] - P->i[r];
  SysScalar      *a      = P->a + P->i[r];
  const uint16_t *first  = *position;
  SysStatus       status = SYS_SUCCESS;

  if (!P->known) {
    status = SpgemmWorkWindow(w, RowReach(row), 0);
    if (!status) status = SpgemmWorkRun(w, 0, 0);
    if (status) return status;
    *position = FindPositions(P, row, w, n, P->j + P->i[r], *position);
  }
  if (P->stream && n >= SPGEMM_STREAM_ENTRIES) {
    SysScalar *sum;

    status = SpgemmWorkRow(w, n + SPGEMM_PAD);
    if (status) return status;
    sum = w->rowa + (uintptr_t)a % 64 / sizeof(*a);
    memset(sum, 0, sizeof(*sum) * (size_t)n);
    first = PlacedSums(P, row, first, sum);
    StreamLike(a, sum, n);
    StreamEnd();
  } else {
    if (*clear <= r) *clear = ClearRows(P, r, last);
    first = PlacedSums(P, row, first, a);
  }
  *position = P->positions + (first - P->positions);
  return SYS_SUCCESS;
}
