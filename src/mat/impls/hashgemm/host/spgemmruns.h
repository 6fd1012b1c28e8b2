/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Runs of rows. In a run each row of A is the previous one shifted by one column, and so are all rows of B that it names, as in stencils on grids;
   then the rows of the result are shifted too. The columns are found once for the run, and the rows' sums lie side by side at the column's position in
   the row: only the first row needs a table of columns.

   The rows of B for one entry of A over all rows of the run are a line. Lines are transposed, so that a vector holds one entry of eight rows, and
   kept, because the next run uses most of them again. Up to three consecutive entries of A use the same line, each one row further: their sums are
   neighbours and stay in registers.

   Part of the template in spgemmkernels.h. With SPGEMM_RUNS the file that includes that defines

     RunTurn(rows, n, a, turned)   turned[q][l] = a[l n + q] for q < n and l < rows, or l < SPGEMM_LANES if there are more; may write 8 beyond
     RunAdd(some, n, f, turned, next, position, sum)
                                   adds to sum[position[q] + k][l], for k < some, f[k][l] times turned[q][l + k], or next[q][l + k - SPGEMM_LANES]
     RunFlush(g, n, sum, a)         a[l n + q] = sum[q][l] for l < g and q < n; clears all lanes of sum
*/

#if !defined(SPGEMM_RUNS)
static SYS_INLINE void RunTurn(int64_t rows, int64_t n, const SysScalar *a, SysScalar (*turned)[SPGEMM_LANES])
{
  for (int64_t l = 0; l < SPGEMM_LANES; l++) {
    const SysScalar *row = a + (l < rows ? l : rows - 1) * n;

    for (int64_t q = 0; q < n; q++) turned[q][l] = row[q];
  }
}

static SYS_INLINE void RunAdd(const int some, int64_t n, SysScalar (*f)[SPGEMM_LANES], SysScalar (*turned)[SPGEMM_LANES], SysScalar (*next)[SPGEMM_LANES], const uint16_t *position, SysScalar (*sum)[SPGEMM_LANES])
{
  for (int64_t q = 0; q < n; q++) {
    for (int k = 0; k < some; k++) {
      SysScalar *y = sum[position[q] + k];

      for (int l = 0; l < SPGEMM_LANES; l++) y[l] += f[k][l] * (l + k < SPGEMM_LANES ? turned[q][l + k] : next[q][l + k - SPGEMM_LANES]);
    }
  }
}

static SYS_INLINE void RunFlush(int64_t g, int64_t n, SysScalar (*sum)[SPGEMM_LANES], SysScalar *a)
{
  for (int64_t l = 0; l < g; l++) {
    for (int64_t q = 0; q < n; q++) a[l * n + q] = sum[q][l];
  }
  memset(sum, 0, sizeof(*sum) * (size_t)n);
}
#endif

/* Returns the number of rows of the run from r on; 1 if too few */
static SYS_INLINE int64_t RunLength(const SpgemmProduct *P, int64_t r, int64_t last)
{
  const SysInt  n    = P->A.i[r + 1] - P->A.i[r];
  const SysInt *j    = P->A.j + P->A.i[r];
  int64_t       most = last - r, g = 1;

  if (!P->shift || n < 2) return 1;
  if (P->A.i == P->B.i) most = most <= P->shift[r] ? most : P->shift[r] + 1;
  for (SysInt k = 0; k < n && most >= SPGEMM_RUN_ROWS; k++) most = most <= P->shift[j[k]] ? most : P->shift[j[k]] + 1;
  if (P->A.i == P->B.i) return most >= SPGEMM_RUN_ROWS ? most : 1;
  for (; most >= SPGEMM_RUN_ROWS && g < most && P->A.i[r + g + 1] - P->A.i[r + g] == n && SpgemmShifted(j, n); g++) j += n;
  return g >= SPGEMM_RUN_ROWS ? g : 1;
}

static SYS_INLINE SysInt RunLongest(const SpgemmProduct *P, const Row *row)
{
  SysInt longest = 0;

  for (SysInt k = row->k; k < row->end; k++) {
    const SysInt n = P->B.i[P->A.j[k] + 1] - P->B.i[P->A.j[k]];

    if (n > longest) longest = n;
  }
  return longest;
}

static SYS_INLINE int RunFits(const SpgemmProduct *P, const Row *row, int64_t n)
{
  return n <= SPGEMM_RUN_ENTRIES && row->products <= SPGEMM_RUN_PRODUCTS && row->end - row->k <= SPGEMM_LINES && RunLongest(P, row) <= SPGEMM_LINE / 4;
}

/* Returns how many entries of A from k on are consecutive */
static SYS_INLINE int RunSome(const SpgemmProduct *P, SysInt k, SysInt end)
{
  const SysInt *j = P->A.j;

  if (k + 1 >= end || j[k + 1] != j[k] + 1) return 1;
  return k + 2 < end && j[k + 2] == j[k] + 2 ? 3 : 2;
}

/* Returns the line of transposed rows of B, of n entries each, that begins with entry s */
static SYS_INLINE int RunLine(const SpgemmProduct *P, SpgemmWork *w, SysInt s, int64_t n, int64_t rows)
{
  SysScalar(*turned)[SPGEMM_LANES];
  int line = -1;

  for (int q = 0; q < w->nline; q++) {
    if (w->line[q].first == s && w->line[q].rows >= rows) {
      w->line[q].run = w->nruns;
      return q;
    }
    if (w->line[q].run < w->nruns - 1) line = q;
  }
  if (line < 0 && w->nline < SPGEMM_LINES) line = w->nline++;
  for (int q = 0; line < 0; q++) {
    if (w->line[q].run < w->nruns) line = q;
  }
  w->line[line] = (SpgemmLine){s, rows, w->nruns};
  turned        = w->turned + SPGEMM_LINE * (int64_t)line;
  for (int64_t l = 0; l < rows; l += SPGEMM_LANES, turned += n) RunTurn(rows - l, n, P->B.a + s + l * n, turned);
  return line;
}

/* Copies around the caches; source and target begin at the same offset in a cache line */
static SYS_INLINE void StreamLike(SysScalar *to, const SysScalar *from, int64_t n)
{
  const int64_t line = 64 / sizeof(*to), first = (line - (int64_t)((uintptr_t)to % 64 / sizeof(*to))) % line, head = first < n ? first : n, end = head + (n - head) / line * line;

  for (int64_t q = 0; q < head; q++) to[q] = from[q];
  Stream(to + head, from + head, (end - head) * sizeof(*to));
  for (int64_t q = end; q < n; q++) to[q] = from[q];
}

/* Sets the positions of the first row's products; of entries handled together the first one's positions determine the others' */
static SYS_INLINE void RunPositions(const SpgemmProduct *P, const Row *row, SpgemmWork *w, int64_t n, const SysInt *j)
{
  const SysInt window   = (SysInt)(w->window - 1);
  uint16_t    *position = w->list;

  for (int64_t q = 0; q < n; q++) w->rank[j[q] & window] = (uint16_t)q;
  for (SysInt k = row->k; k < row->end; k += RunSome(P, k, row->end)) {
    for (SysInt q = P->B.i[P->A.j[k]]; q < P->B.i[P->A.j[k] + 1]; q++) *position++ = w->rank[P->B.j[q] & window];
  }
}

/* Sums eight rows, row l after the first and the following; meets: their lines, which begin `before` rows earlier */
static SYS_INLINE void RunSums(const SpgemmProduct *P, const Row *row, SpgemmWork *w, const int *meets, int64_t before)
{
  SysScalar(*f)[SPGEMM_LANES] = w->factor;
  const uint16_t *position    = w->list;

  for (SysInt k = row->k, some; k < row->end; k += some, f += some, meets++) {
    const SysInt length              = P->B.i[P->A.j[k] + 1] - P->B.i[P->A.j[k]];
    SysScalar(*turned)[SPGEMM_LANES] = w->turned + SPGEMM_LINE * (int64_t)*meets + before / SPGEMM_LANES * length;

    some = RunSome(P, k, row->end);
    if (some == 3) RunAdd(3, length, f, turned, turned + length, position, w->run);
    else if (some == 2) RunAdd(2, length, f, turned, turned + length, position, w->run);
    else RunAdd(1, length, f, turned, turned, position, w->run);
    position += length;
  }
}

/* Computes the values of a run's g rows, the first of which has columns j */
static SysStatus RunRevalue(const SpgemmProduct *P, const Row *row, int64_t g, SpgemmWork *w, int64_t n, const SysInt *j, SysScalar *a)
{
  const int64_t lengthA = row->end - row->k, most = ((SPGEMM_LINE - 8) / RunLongest(P, row) - 1) * SPGEMM_LANES - 2; /* rows that fit in a line */
  SysStatus     status = SpgemmWorkRun(w, row->products, n);
  int           meets[SPGEMM_LINES];

  if (status) return status;
  RunPositions(P, row, w, n, j);
  for (int64_t first = 0; first < g; first += most) {
    const int64_t rows = g - first < most ? g - first : most;
    int           met  = 0;

    w->nruns++;
    for (SysInt k = row->k, some; k < row->end; k += some) {
      const SysInt s = P->B.i[P->A.j[k] + first];

      some         = RunSome(P, k, row->end);
      meets[met++] = RunLine(P, w, s, P->B.i[P->A.j[k] + first + 1] - s, rows + some - 1);
    }
    for (int64_t l = 0; l < rows; l += SPGEMM_LANES) {
      const int64_t lanes = rows - l < SPGEMM_LANES ? rows - l : SPGEMM_LANES;
      SysScalar    *to    = a + (first + l) * n;

      RunTurn(rows - l, lengthA, P->A.a + row->k + (first + l) * lengthA, w->factor);
      RunSums(P, row, w, meets, l);
      if (P->stream) {
        /* offset as the result is, so that no other thread shares its cache lines: two rows of float sums fill a line */
        SysScalar *made = w->run[w->nrun / 2] + (uintptr_t)to % 64 / sizeof(*a);

        RunFlush(lanes, n, w->run, made);
        StreamLike(to, made, lanes * n);
      } else RunFlush(lanes, n, w->run, to);
    }
  }
  if (P->stream) StreamEnd();
  return SYS_SUCCESS;
}

/* Sets the columns of the rows after the first */
static SYS_INLINE void RunColumns(int64_t g, int64_t n, const SysInt *first, SysInt *j)
{
  for (int64_t l = 0; l < g; l++) {
    for (int64_t q = 0; q < n; q++) j[l * n + q] = first[q] + (SysInt)l;
  }
}
