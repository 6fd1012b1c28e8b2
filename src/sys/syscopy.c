/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "sys/syscopy.h"
#include "sys/systhreads.h"

static void SysCopyRow(const SysCSR *A, int64_t row, int diagonal_first, SysInt *j, SysScalar *a)
{
  const SysInt first = A->i[row], n = A->i[row + 1] - first;

  memcpy(a + first, A->a + first, (size_t)n * sizeof(*a));
  if (j) memcpy(j + first, A->j + first, (size_t)n * sizeof(*j));
  if (!diagonal_first) return;
  for (SysInt k = first; k < first + n; k++) {
    if (A->j[k] != row) continue;
    a[k]     = A->a[first];
    a[first] = A->a[k];
    if (j) {
      j[k]     = A->j[first];
      j[first] = A->j[k];
    }
    return;
  }
}

void SysCopy(const SysCSR *A, int diagonal_first, SysInt *i, SysInt *j, SysScalar *a, int threads)
{
  if (!A->nz) return;
  if (i) memcpy(i, A->i, ((size_t)A->m + 1) * sizeof(*i));
#pragma omp parallel for num_threads(threads)
  for (int64_t row = 0; row < A->m; row++) SysCopyRow(A, row, diagonal_first, j, a);
}
