/*
   Runs of rows, each of which is the one before moved by one column, in A and in all rows of B that it meets, as in stencils on grids: so are the
   rows of the result. The columns are found once for all rows of a run, and their sums lie side by side, at the place that the column has in the
   row: no table of columns is looked at but for the first row.

   Part of the template in spgemmkernels.h. With SPGEMM_RUNS the file that includes that defines

     RunAdd(g, strideA, a, n, b, place, sum)   adds, for l < g, a[l strideA] b[l n + q] to sum[place[q]] for q < n
     RunTake(g, n, sum, a)                     a[l n + q] = sum[q] for l < g and q < n
*/
#define RUN_LEAST    4         /* rows */
#define RUN_ENTRIES  2048      /* of a row of the result, at most: their sums are to stay in a cache */
#define RUN_PRODUCTS (1 << 18) /* of a row, at most: there is a place for each */

#if !defined(SPGEMM_RUNS)
static MAYBE_INLINE void RunAdd(int64_t g, int64_t stride, const AmbScalar *a, int64_t n, const AmbScalar *b, const uint16_t *place, AmbScalar (*sum)[SPGEMM_LANES])
{
  AmbScalar        f[SPGEMM_LANES];
  const AmbScalar *row[SPGEMM_LANES];

  for (int l = 0; l < SPGEMM_LANES; l++) {
    f[l]   = a[l < g ? l * stride : 0];
    row[l] = b + (l < g ? l * n : 0);
  }
  for (int64_t q = 0; q < n; q++) {
    AmbScalar *y = sum[place[q]];

    for (int l = 0; l < SPGEMM_LANES; l++) y[l] += f[l] * row[l][q];
  }
}

static MAYBE_INLINE void RunTake(int64_t g, int64_t n, AmbScalar (*sum)[SPGEMM_LANES], AmbScalar *a)
{
  for (int64_t l = 0; l < g; l++) {
    for (int64_t q = 0; q < n; q++) a[l * n + q] = sum[q][l];
  }
}
#endif

/* How many rows from r on are a run; 1 if too few */
static MAYBE_INLINE int64_t Run(const SpgemmProduct *P, int64_t r, int64_t last)
{
  const AmbInt  n    = P->A.i[r + 1] - P->A.i[r];
  const AmbInt *j    = P->A.j + P->A.i[r];
  int64_t       most = last - r, g = 1;

  if (!P->shift || n < 2) return 1;
  for (AmbInt k = 0; k < n && most >= RUN_LEAST; k++) most = most <= P->shift[j[k]] ? most : P->shift[j[k]] + 1;
  for (; most >= RUN_LEAST && g < most && P->A.i[r + g + 1] - P->A.i[r + g] == n && SpgemmShifted(j, n); g++) j += n;
  return g >= RUN_LEAST ? g : 1;
}

static MAYBE_INLINE int RunFits(const Row *row, int64_t n)
{
  return n <= RUN_ENTRIES && row->products <= RUN_PRODUCTS;
}

/* Both begin at the same place of a cache line */
static MAYBE_INLINE void StreamLike(AmbScalar *to, const AmbScalar *from, int64_t n)
{
  const int64_t line = 64 / sizeof(*to), first = (line - (int64_t)((uintptr_t)to % 64 / sizeof(*to))) % line, head = first < n ? first : n, end = head + (n - head) / line * line;

  for (int64_t q = 0; q < head; q++) to[q] = from[q];
  Stream(to + head, from + head, (end - head) * sizeof(*to));
  for (int64_t q = end; q < n; q++) to[q] = from[q];
}

/* The values of the g rows of a run, the first of which has the columns j */
static MAYBE_INLINE SpgemmStatus RunRevalue(const SpgemmProduct *P, const Row *row, int64_t g, SpgemmWork *w, int64_t n, const AmbInt *j, AmbScalar *a)
{
  const AmbInt window = (AmbInt)(w->window - 1), lengthA = row->end - row->k;
  SpgemmStatus status = SpgemmWorkRun(w, row->products, n);
  int64_t      t      = 0;

  if (status) return status;
  for (int64_t q = 0; q < n; q++) w->rank[j[q] & window] = (uint16_t)q;
  for (AmbInt k = row->k; k < row->end; k++) {
    for (AmbInt q = P->B.i[P->A.j[k]]; q < P->B.i[P->A.j[k] + 1]; q++) w->list[t++] = w->rank[P->B.j[q] & window];
  }
  for (int64_t l = 0; l < g; l += SPGEMM_LANES) {
    const int64_t   lanes = g - l < SPGEMM_LANES ? g - l : SPGEMM_LANES;
    const uint16_t *place = w->list;

    memset(w->run, 0, sizeof(*w->run) * n);
    for (AmbInt k = row->k; k < row->end; k++) {
      const AmbInt s = P->B.i[P->A.j[k] + l], length = P->B.i[P->A.j[k] + l + 1] - s;

      RunAdd(lanes, lengthA, P->A.a + k + l * lengthA, length, P->B.a + s, place, w->run);
      place += length;
    }
    if (P->stream) {
      /* moved as the result is, so that its cache lines are ours: two rows of sums, if they are floats, make a line */
      AmbScalar *made = w->run[(n + SPGEMM_LANES) / 2 * 2 + 2] + (uintptr_t)(a + l * n) % 64 / sizeof(*a);

      RunTake(lanes, n, w->run, made);
      StreamLike(a + l * n, made, lanes * n);
    } else RunTake(lanes, n, w->run, a + l * n);
  }
  if (P->stream) StreamEnd();
  return SPGEMM_SUCCESS;
}

/* The columns of the rows after the first */
static MAYBE_INLINE void RunColumns(int64_t g, int64_t n, const AmbInt *first, AmbInt *j)
{
  for (int64_t l = 0; l < g; l++) {
    for (int64_t q = 0; q < n; q++) j[l * n + q] = first[q] + (AmbInt)l;
  }
}
