/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernels of several formats do to the result of a product, written once */
#pragma once

#include "ambtypes.h"

typedef enum {
  AMB_STORE_SET,  /* z = alpha s */
  AMB_STORE_AXPY, /* z = alpha s + beta y */
  AMB_STORE_ADD   /* z = alpha s + z */
} AmbStore;

static MAYBE_INLINE AmbScalar AmbStored(AmbStore how, AmbScalar alpha, AmbScalar s, AmbScalar beta, const AmbScalar *y, const AmbScalar *z, int64_t r)
{
  if (how == AMB_STORE_SET) return alpha * s;
  if (how == AMB_STORE_AXPY) return alpha * s + beta * y[r];
  return alpha * s + z[r];
}

/* What is first stored in a row, for z = alpha A x + beta y; y may be z */
static MAYBE_INLINE AmbStore AmbFirstStore(AmbScalar beta, const AmbScalar *y, const AmbScalar *z)
{
  return beta == 0 ? AMB_STORE_SET : (y == z && beta == 1 ? AMB_STORE_ADD : AMB_STORE_AXPY);
}

static MAYBE_INLINE int AmbNotFinite(AmbScalar a)
{
  const AmbScalar d = a - a;

  return d != 0;
}

/* z = beta y for the entries that others are then added to */
static MAYBE_INLINE void AmbStartSum(int64_t j0, int64_t j1, AmbScalar beta, const AmbScalar *y, AmbScalar *z)
{
  if (beta == 0) {
    for (int64_t j = j0; j < j1; j++) z[j] = 0;
  } else if (beta != 1 || y != z) {
    for (int64_t j = j0; j < j1; j++) z[j] = beta * y[j];
  }
}
