/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The sum of a vector, and the step of a fixed-point iteration such as PageRank: z = f z + t w, with the change |x - z|. A vector is cut into a fixed
   number of parts, whose sums are added in order, so the bits do not depend on the number of threads.
*/
#include <math.h>

#include "graph/host/graphhost.h"

#define GRAPH_SUM_PARTS 512

#if defined(SYS_COMPLEX)
  #define Magnitude(x) ((SysReal)cabs((double _Complex)(x)))
#else
  #define Magnitude(x) ((SysReal)fabs((double)(x)))
#endif

SysScalar GraphSum(int nthread, int64_t n, const SysScalar *x)
{
  SysScalar part[GRAPH_SUM_PARTS], sum = 0;

#pragma omp parallel for num_threads(nthread) if (nthread > 1) schedule(static)
  for (int p = 0; p < GRAPH_SUM_PARTS; p++) {
    SysScalar s = 0;

    for (int64_t k = n * p / GRAPH_SUM_PARTS; k < n * (p + 1) / GRAPH_SUM_PARTS; k++) s += x[k];
    part[p] = s;
  }
  for (int p = 0; p < GRAPH_SUM_PARTS; p++) sum += part[p];
  return sum;
}

SysReal GraphStep(int nthread, int64_t n, SysScalar f, SysScalar t, const SysScalar *w, const SysScalar *x, SysScalar *z)
{
  SysReal part[GRAPH_SUM_PARTS], sum = 0;

#pragma omp parallel for num_threads(nthread) if (nthread > 1) schedule(static)
  for (int p = 0; p < GRAPH_SUM_PARTS; p++) {
    SysReal s = 0;

    for (int64_t k = n * p / GRAPH_SUM_PARTS; k < n * (p + 1) / GRAPH_SUM_PARTS; k++) {
      z[k] = f * z[k] + (w ? t * w[k] : t);
      if (x) s += Magnitude(x[k] - z[k]);
    }
    part[p] = s;
  }
  for (int p = 0; p < GRAPH_SUM_PARTS; p++) sum += part[p];
  return sum;
}
