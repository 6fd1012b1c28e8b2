/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "mat/factor/host/factorhost.h"

static SysInt FactorLength(const FactorRows *T, SysInt row)
{
  return T->end[row] - T->begin[row];
}

SysStatus FactorRowsTranspose(const FactorRows *T, FactorRows *R)
{
  const int64_t n  = T->n;
  int64_t       nz = 0;
  SysInt       *begin, *end, *j, *from;

  for (int64_t i = 0; i < n; i++) nz += FactorLength(T, (SysInt)i);
  begin = calloc(2 * (size_t)n + 2 * (size_t)nz + 1, sizeof(*begin));
  if (!begin) return SYS_OUT_OF_MEMORY;
  end  = begin + n;
  j    = end + n;
  from = j + nz;
  for (int64_t i = 0; i < n; i++) {
    for (SysInt k = T->begin[i]; k < T->end[i]; k++) end[T->j[k]]++;
  }
  for (int64_t i = 0, sum = 0; i < n; i++) {
    begin[i] = (SysInt)sum;
    sum += end[i];
    end[i] = begin[i];
  }
  for (int64_t i = 0; i < n; i++) {
    for (SysInt k = T->begin[i]; k < T->end[i]; k++) {
      const SysInt to = end[T->j[k]]++;

      j[to]    = (SysInt)i;
      from[to] = T->from ? T->from[k] : k;
    }
  }
  *R = (FactorRows){n, begin, end, j, from};
  return SYS_SUCCESS;
}

void FactorRowsDestroy(FactorRows *R)
{
  free((void *)R->begin);
  memset(R, 0, sizeof(*R));
}
