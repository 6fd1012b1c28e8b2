/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The tentative prolongator: a QR factorization, by Householder's reflections, of the near-null space on each aggregate
*/
#include <math.h>
#include <stdlib.h>

#include "sys/systhreads.h"
#include "ksp/pc/impls/gamg/host/agghost.h"

/* The Euclidean length of x[0] to x[m - 1], without overflow */
static double FactorLength(int64_t m, const double x[])
{
  double most = 0, sum = 0;

  for (int64_t k = 0; k < m; k++) {
    if (!(fabs(x[k]) <= most)) most = fabs(x[k]); /* also if it is no number */
  }
  if (!(most > 0)) return most;
  for (int64_t k = 0; k < m; k++) sum += (x[k] / most) * (x[k] / most);
  return most * sqrt(sum);
}

/* Applies I - tau v v^T to the column x, where v[0] stands for 1 */
static void FactorReflect(int64_t m, const double v[], double tau, double x[])
{
  double sum = x[0];

  for (int64_t k = 1; k < m; k++) sum += v[k] * x[k];
  sum *= tau;
  x[0] -= sum;
  for (int64_t k = 1; k < m; k++) x[k] -= sum * v[k];
}

/* a, with n columns of m >= n rows, becomes Q; r[c * stride + k] becomes R. As with LAPACK, a column that is zero below its first entry is not reflected. */
static void FactorColumns(int64_t m, int n, double a[], double tau[], SysReal r[], int64_t stride)
{
  for (int c = 0; c < n; c++) {
    double      *x     = a + c * m + c;
    const double below = FactorLength(m - c - 1, x + 1);

    tau[c] = 0;
    if (below != 0) {
      const double length = hypot(x[0], below), beta = x[0] >= 0 ? -length : length;

      tau[c] = (beta - x[0]) / beta;
      for (int64_t k = 1; k < m - c; k++) x[k] /= x[0] - beta;
      x[0] = beta;
    }
    for (int l = c + 1; l < n; l++) FactorReflect(m - c, x, tau[c], a + l * m + c);
    for (int k = 0; k < n; k++) r[c * stride + k] = (SysReal)(k <= c ? a[c * m + k] : 0);
  }
  for (int c = n - 1; c >= 0; c--) {
    double *x = a + c * m;

    for (int l = c + 1; l < n; l++) FactorReflect(m - c, x + c, tau[c], a + l * m + c);
    for (int64_t k = 0; k < c; k++) x[k] = 0;
    for (int64_t k = c + 1; k < m; k++) x[k] *= -tau[c];
    x[c] = 1 - tau[c];
  }
}

SysStatus AggFactor(int64_t nagg, const SysInt start[], const SysInt member[], int bs, int nvec, int nthread, SysReal block[], SysReal r[])
{
  const int64_t stride = nagg * nvec;
  int64_t       most   = nvec;
  size_t        room;
  double       *work;

  for (int64_t k = 0; k < nagg; k++) {
    if ((int64_t)(start[k + 1] - start[k]) * bs > most) most = (int64_t)(start[k + 1] - start[k]) * bs;
  }
  room = ((size_t)most + 1) * (size_t)nvec + 8; /* a cache line between threads */
  work = malloc((size_t)nthread * room * sizeof(*work));
  if (!work) return SYS_OUT_OF_MEMORY;
#pragma omp parallel for num_threads(nthread) schedule(static)
  for (int64_t k = 0; k < nagg; k++) {
    const int64_t rows = (int64_t)(start[k + 1] - start[k]) * bs, m = rows > nvec ? rows : nvec;
    double       *a = work + (size_t)omp_get_thread_num() * room, *tau = a + m * nvec;

    for (int64_t l = 0; l < rows; l++) {
      const SysReal *b = block + ((int64_t)member[start[k] + l / bs] * bs + l % bs) * nvec;

      for (int c = 0; c < nvec; c++) a[c * m + l] = b[c];
    }
    for (int64_t l = rows; l < m; l++) {
      for (int c = 0; c < nvec; c++) a[c * m + l] = 0;
    }
    FactorColumns(m, nvec, a, tau, r + k * nvec, stride);
    for (int64_t l = 0; l < rows; l++) {
      SysReal *b = block + ((int64_t)member[start[k] + l / bs] * bs + l % bs) * nvec;

      for (int c = 0; c < nvec; c++) b[c] = (SysReal)a[c * m + l];
    }
  }
  free(work);
  return SYS_SUCCESS;
}
