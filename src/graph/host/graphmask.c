/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The sums of the rows of (A B) o M, a product of sparse matrices times a mask, entry by entry. The product is not stored: a dense array gets a row of
   M, and each row of B that the row of A names is multiplied with it (graphhost.h has the arguments).
*/
#include "sys/systhreads.h"
#include "graph/host/graphhost.h"

#define GRAPH_MASK_ROWS   64   /* rows that a thread computes at a time */
#define GRAPH_ONES_VALUES 4096 /* a thread stops after as many values once another thread has found a value that is not 1 */

/* Returns whether all values are 1; stops soon after the first other value */
static int AllOnes(int nthread, const SysCSR *A)
{
  const int64_t begin = A->i[0], end = A->i[A->m];
  int           ones = 1;

#pragma omp parallel for num_threads(nthread) schedule(static)
  for (int64_t first = begin; first < end; first += GRAPH_ONES_VALUES) {
    const int64_t last  = SysMin(first + GRAPH_ONES_VALUES, end);
    int           other = 0, still;

#pragma omp atomic read
    still = ones;
    if (!still) continue;
    for (int64_t k = first; k < last; k++) other |= A->a[k] != 1;
    if (!other) continue;
#pragma omp atomic write
    ones = 0;
  }
  return ones;
}

/* GraphMaskSum() for matrices whose values are all 1, as in the count of triangles. Reads no values; a row of M has one bit for each column and so stays
   in the caches. */
static void MaskCount(int nthread, const SysCSR *A, const SysInt *position, const SysCSR *B, const SysCSR *M, double *sum, SysReal *work)
{
#pragma omp parallel num_threads(nthread)
  {
    uint32_t *mask = (uint32_t *)(work + M->n * omp_get_thread_num());

#pragma omp for schedule(dynamic, GRAPH_MASK_ROWS) nowait
    for (int64_t r = 0; r < A->m; r++) {
      int64_t total = 0;

      sum[r] = 0;
      if (A->i[r] == A->i[r + 1] || M->i[r] == M->i[r + 1]) continue;
      GraphBitsSet(mask, M, r);
      for (SysInt p = A->i[r]; p < A->i[r + 1]; p++) {
        const SysInt row = position ? position[A->j[p]] : A->j[p];

        for (SysInt q = B->i[row]; q < B->i[row + 1]; q++) total += GraphBitsHave(mask, B->j[q]);
      }
      GraphBitsClear(mask, M, r);
      sum[r] = (double)total;
    }
  }
}

void GraphMaskSum(int nthread, const SysCSR *A, const SysInt *position, const SysCSR *B, const SysCSR *M, double *sum, SysReal *work)
{
  if (AllOnes(nthread, A) && (B->a == A->a || AllOnes(nthread, B)) && (M->a == A->a || M->a == B->a || AllOnes(nthread, M))) {
    MaskCount(nthread, A, position, B, M, sum, work);
    return;
  }
#pragma omp parallel num_threads(nthread)
  {
    SysReal *mask = work + M->n * omp_get_thread_num();

#pragma omp for schedule(dynamic, GRAPH_MASK_ROWS) nowait
    for (int64_t r = 0; r < A->m; r++) {
      double total = 0;

      sum[r] = 0;
      if (A->i[r] == A->i[r + 1] || M->i[r] == M->i[r + 1]) continue;
      for (SysInt q = M->i[r]; q < M->i[r + 1]; q++) mask[M->j[q]] = (SysReal)M->a[q];
      for (SysInt p = A->i[r]; p < A->i[r + 1]; p++) {
        const SysInt row = position ? position[A->j[p]] : A->j[p];
        double       s   = 0;

        for (SysInt q = B->i[row]; q < B->i[row + 1]; q++) s += (double)(SysReal)B->a[q] * (double)mask[B->j[q]];
        total += (double)(SysReal)A->a[p] * s;
      }
      for (SysInt q = M->i[r]; q < M->i[r + 1]; q++) mask[M->j[q]] = 0;
      sum[r] = total;
    }
  }
}
