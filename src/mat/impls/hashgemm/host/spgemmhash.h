/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Hash, vectorised hash and heap accumulators. Part of the template in spgemmkernels.h.
*/
static SYS_INLINE uint64_t HashOf(SysInt key)
{
  return (uint64_t)key * 0x9E3779B97F4A7C15u >> 20;
}

/* Returns a key's slot, or the slot to insert it at with *found = 0 */
static SYS_INLINE uint64_t Probe(const int vec, const SpgemmWork *w, SysInt key, int *found)
{
  const SysInt *keys = w->key;

  if (vec) {
    uint64_t c = HashOf(key) * SPGEMM_KEYS & (w->size - 1);

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
    uint64_t c = HashOf(key) & (w->size - 1);

    while (keys[c] != key && keys[c] != -1) c = (c + 1) & (w->size - 1);
    *found = keys[c] == key;
    return c;
  }
}

/* Sizes the table for at most n keys; emptier tables collide less, as long as they fit the cache */
static SYS_INLINE SysStatus HashSize(SpgemmWork *w, int64_t n, int values)
{
  const int64_t least = (n <= SPGEMM_SPARSE_HASH_ENTRIES ? 4 : 2) * n;
  int64_t       size  = 64;

  while (size < least) size *= 2;
  w->size = size;
  return SpgemmWorkHash(w, size, n, values);
}

static SYS_INLINE int BitsOf(uint64_t x)
{
  return x ? 64 - __builtin_clzll(x) : 0;
}

static SYS_INLINE void SwapEntries(SysInt *j, SysScalar *a, int64_t p, int64_t q)
{
  const SysInt    t = j[p];
  const SysScalar s = a[p];

  j[p] = j[q];
  a[p] = a[q];
  j[q] = t;
  a[q] = s;
}

/* Moves the table's entries to the row of the result */
static SYS_INLINE void HashFlush(const SpgemmProduct *P, const Row *row, SpgemmWork *w, int64_t n, SysInt *j, SysScalar *a)
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
      SwapEntries(j, a, first, 0);
      for (int64_t q = 1; q < n; q++) {
        if (j[q] > j[last]) last = q;
      }
      SwapEntries(j, a, last, n - 1);
    }
    return;
  }
  for (int64_t q = 0; q < n; q++) slot[q] |= (uint64_t)(w->key[slot[q]] - row->lo) << low;
  slot = SpgemmSort(slot, w->sorted, n, low, BitsOf((uint64_t)row->hi - row->lo));
  for (int64_t q = 0; q < n; q++) {
    const uint64_t c = slot[q] & (w->size - 1);

    j[q]      = (SysInt)(slot[q] >> low) + row->lo;
    a[q]      = w->val[c];
    w->key[c] = -1;
  }
}

/* *length on entry: an upper bound */
static SYS_INLINE SysStatus HashRow(const int vec, const int fill, const SpgemmProduct *P, const Row *row, SpgemmWork *w, int64_t *length, SysInt *j, SysScalar *a)
{
  const SysScalar zero  = 0; /* sums start with it, as sums of new values do: -0 becomes 0 */
  const int64_t   reach = (int64_t)row->hi - row->lo + 1;
  int64_t         n     = 0;
  SysStatus       status;

  status = HashSize(w, *length < reach ? *length : reach, fill ? SPGEMM_VALUES : 0);
  if (status) return status;
  for (SysInt k = row->k; k < row->end; k++) {
    const SysInt    end = P->B.i[P->A.j[k] + 1];
    const SysScalar s   = fill ? P->A.a[k] : 0;

    if (fill) PrefetchRow(P, k);
    for (SysInt q = P->B.i[P->A.j[k]]; q < end; q++) {
      int            found;
      const uint64_t c = Probe(vec, w, P->B.j[q], &found);

      if (found) {
        if (fill) w->val[c] += s * P->B.a[q];
      } else {
        w->key[c]    = P->B.j[q];
        w->slot[n++] = c;
        if (fill) w->val[c] = zero + s * P->B.a[q];
      }
    }
  }
  if (fill) HashFlush(P, row, w, n, j, a);
  else {
    for (int64_t q = 0; q < n; q++) w->key[w->slot[q]] = -1;
  }
  *length = n;
  return SYS_SUCCESS;
}

/* Order of the heap: equal columns in the order of A's entries, whose columns ascend, so all accumulators add in the same order */
static SYS_INLINE int HeapBefore(const struct SpgemmHeap *a, const struct SpgemmHeap *b)
{
  return a->col < b->col || (a->col == b->col && a->k < b->k);
}

/* Moves the heap's entry q down */
static SYS_INLINE void HeapSink(struct SpgemmHeap *heap, int64_t n, int64_t q)
{
  const struct SpgemmHeap top = heap[q];

  for (;;) {
    int64_t child = 2 * q + 1;

    if (child >= n) break;
    if (child + 1 < n && HeapBefore(&heap[child + 1], &heap[child])) child++;
    if (!HeapBefore(&heap[child], &top)) break;
    heap[q] = heap[child];
    q       = child;
  }
  heap[q] = top;
}

static SYS_INLINE SysStatus HeapRow(const int fill, const SpgemmProduct *P, const Row *row, SpgemmWork *w, int64_t *length, SysInt *j, SysScalar *a)
{
  const SysStatus    status = SpgemmWorkHeap(w, row->end - row->k);
  struct SpgemmHeap *heap   = w->heap;
  int64_t            n = 0, nheap = 0;
  SysInt             col = -1;

  if (status) return status;
  for (SysInt k = row->k; k < row->end; k++) {
    const SysInt s = P->B.i[P->A.j[k]], e = P->B.i[P->A.j[k] + 1];

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
  return SYS_SUCCESS;
}

/* Computes values of a known pattern, with a table from columns to positions in the row */
static SYS_INLINE SysStatus HashRevalue(const SpgemmProduct *P, const Row *row, SpgemmWork *w, int64_t n, const SysInt *j, SysScalar *a)
{
  const SysStatus status = HashSize(w, n, SPGEMM_PLACES);
  int             found;

  if (status) return status;
  for (int64_t q = 0; q < n; q++) {
    const uint64_t c = Probe(0, w, j[q], &found);

    w->key[c]      = j[q];
    w->position[c] = q;
    w->slot[q]     = c;
    a[q]           = 0;
  }
  for (SysInt k = row->k; k < row->end; k++) {
    const SysInt    end = P->B.i[P->A.j[k] + 1];
    const SysScalar s   = P->A.a[k];

    PrefetchRow(P, k);
    for (SysInt q = P->B.i[P->A.j[k]]; q < end; q++) a[w->position[Probe(0, w, P->B.j[q], &found)]] += s * P->B.a[q];
  }
  for (int64_t q = 0; q < n; q++) w->key[w->slot[q]] = -1;
  return SYS_SUCCESS;
}
