/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The choice of the kernels of BAIJ. Without AVX2 there are none: the table of plain kernels is empty.
*/
#include <string.h>

#include "sys/sysisa.h"
#include "mat/baij/host/baijhost.h"

static int BAIJSupportedPlain(void)
{
  return 1;
}

const BAIJKernels BAIJKernelsPlain = {.name = "plain", .supported = BAIJSupportedPlain};

int BAIJFindNodes(const SysCSR *A, int bs)
{
  if (bs < BAIJ_LEAST || bs > BAIJ_MOST || A->m % bs || A->n % bs) return 0;
  for (int64_t r = 0; r < A->m; r += bs) {
    const SysInt *j = A->j + A->i[r], length = A->i[r + 1] - A->i[r];

    if (length % bs) return 0;
    for (SysInt k = 0; k < length; k += bs) {
      SysInt other = 0;

      for (int c = 1; c < bs; c++) other |= j[k + c] ^ (j[k] + c);
      if (other) return 0;
    }
    for (int s = 1; s < bs; s++) {
      if (A->i[r + s + 1] - A->i[r + s] != length || memcmp(A->j + A->i[r + s], j, sizeof(*j) * (size_t)length) != 0) return 0;
    }
  }
  return 1;
}

const BAIJKernels *BAIJKernelsGet(void)
{
  const BAIJKernels *kernels = SYS_KERNELS_REAL(BAIJKernels);

  return kernels->mult ? kernels : NULL;
}
