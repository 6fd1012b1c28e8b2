/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The entries of a matrix at positions that another matrix stores, or does not store. A row of the mask is one bit a column, so columns may have any
   order.
*/
#include "sys/systhreads.h"
#include "graph/host/graphhost.h"

#define GRAPH_ENTRIES_ROWS 256 /* rows of a thread's chunk */

int64_t GraphMaskWords(int64_t n)
{
  return (n >> GRAPH_BITS_SHIFT) + 1;
}

/* Counts a row's remaining entries, and copies them if j is not NULL. The mask is zero on entry and on return. */
static SysInt MaskRow(const SysCSR *A, const SysCSR *M, int complement, int64_t r, uint32_t *mask, SysInt *j, SysScalar *a)
{
  SysInt n = 0;

  if (A->i[r] == A->i[r + 1]) return 0;
  GraphBitsSet(mask, M, r);
  for (SysInt p = A->i[r]; p < A->i[r + 1]; p++) {
    if ((int)GraphBitsHave(mask, A->j[p]) == complement) continue;
    if (j) {
      j[n] = A->j[p];
      a[n] = A->a[p];
    }
    n++;
  }
  GraphBitsClear(mask, M, r);
  return n;
}

void GraphMaskCount(int nthread, const SysCSR *A, const SysCSR *M, int complement, SysInt *length, uint32_t *work)
{
#pragma omp parallel num_threads(nthread)
  {
    uint32_t *mask = work + GraphMaskWords(M->n) * omp_get_thread_num();

#pragma omp for schedule(dynamic, GRAPH_ENTRIES_ROWS) nowait
    for (int64_t r = 0; r < A->m; r++) length[r] = MaskRow(A, M, complement, r, mask, NULL, NULL);
  }
}

void GraphMaskFill(int nthread, const SysCSR *A, const SysCSR *M, int complement, const SysInt *i, SysInt *j, SysScalar *a, uint32_t *work)
{
#pragma omp parallel num_threads(nthread)
  {
    uint32_t *mask = work + GraphMaskWords(M->n) * omp_get_thread_num();

#pragma omp for schedule(dynamic, GRAPH_ENTRIES_ROWS) nowait
    for (int64_t r = 0; r < A->m; r++) {
      if (i[r] < i[r + 1]) (void)MaskRow(A, M, complement, r, mask, j + i[r], a + i[r]);
    }
  }
}
