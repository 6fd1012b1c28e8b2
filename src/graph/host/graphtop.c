/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The largest entries of a vector, by a heap whose root is the last of those found so far
*/
#include "graph/host/graphhost.h"

#if defined(SYS_COMPLEX)
  #define RealPart(x) ((SysReal)creal((double _Complex)(x)))
#else
  #define RealPart(x) (x)
#endif

/* Returns whether entry p comes after entry q */
static int GraphAfter(const SysScalar *x, int64_t p, int64_t q)
{
  const SysReal a = RealPart(x[p]), b = RealPart(x[q]);

  if (a > b || a < b) return a < b;
  if ((a != a) != (b != b)) return a != a; /* NaN comes after all numbers */
  return p > q;
}

static void GraphSift(const SysScalar *x, int64_t n, int64_t *heap, int64_t at)
{
  for (int64_t child; (child = 2 * at + 1) < n; at = child) {
    const int64_t here = heap[at];

    if (child + 1 < n && GraphAfter(x, heap[child + 1], heap[child])) child++;
    if (!GraphAfter(x, heap[child], here)) return;
    heap[at]    = heap[child];
    heap[child] = here;
  }
}

int64_t GraphTop(int64_t n, const SysScalar *x, int64_t k, int64_t *position, SysReal *value)
{
  const int64_t count = SysMin(n, k);

  if (count <= 0) return 0;
  for (int64_t p = 0; p < count; p++) position[p] = p;
  for (int64_t at = count / 2; at-- > 0;) GraphSift(x, count, position, at);
  for (int64_t p = count; p < n; p++) {
    if (!GraphAfter(x, position[0], p)) continue;
    position[0] = p;
    GraphSift(x, count, position, 0);
  }
  for (int64_t left = count; left-- > 1;) { /* the last one goes to the end */
    const int64_t last = position[0];

    position[0]    = position[left];
    position[left] = last;
    GraphSift(x, left, position, 0);
  }
  for (int64_t p = 0; p < count; p++) value[p] = RealPart(x[position[p]]);
  return count;
}
