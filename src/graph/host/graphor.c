/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products of a pattern with words of bits, with "or" as the sum. A thread that reads a word while another sets bits of it sees some of them or none;
   the final bits are the same.
*/
#include "sys/systhreads.h"
#include "graph/host/graphhost.h"

void GraphOr(int nthread, const SysCSR *A, const uint64_t *x, const uint64_t *want, uint64_t *y)
{
#pragma omp parallel for num_threads(nthread) schedule(dynamic, 1024)
  for (int64_t r = 0; r < A->m; r++) {
    uint64_t found = 0;

    if (!want[r]) continue;
    for (SysInt k = A->i[r]; k < A->i[r + 1]; k++) {
      found |= x[A->j[k]];
      if ((found & want[r]) == want[r]) break;
    }
    y[r] |= found & want[r];
  }
}

void GraphOrTranspose(int nthread, const SysCSR *A, const uint64_t *x, const uint64_t *want, uint64_t *y)
{
#pragma omp        parallel for num_threads(nthread) schedule(dynamic, 1024)
  for (int64_t r = 0; r < A->m; r++) {
           if (!x[r]) continue;
    for (SysInt k = A->i[r]; k < A->i[r + 1]; k++) {
             const SysInt j    = A->j[k];
             uint64_t     bits = x[r] & (want ? want[j] : ~(uint64_t)0), had;

             if (!bits) continue;
#pragma omp atomic read
      had = y[j];
      bits &= ~had;
      if (!bits) continue;
#pragma omp atomic
      y[j] |= bits;
    }
  }
}
