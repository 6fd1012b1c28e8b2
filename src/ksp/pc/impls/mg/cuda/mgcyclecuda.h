/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "sys/syscuda.h"

SYS_C_BEGIN

/* z = A x, of a dense matrix of n rows, one after the other */
SysStatus MGCycleDenseMult(int n, const SysReal *A, const SysReal *x, SysReal *z, SysStream);

/* z = alpha A x + y, or alpha A x without a y, which may be z; entry k has the value from[k], or k without a from. Without A->i, A has no entries. */
SysStatus MGCycleCSRMult(const SysCSR *A, const SysInt *from, SysReal alpha, const SysReal *x, const SysReal *y, SysReal *z, SysStream);

/* result = a (x - the mean of x) + b p + c z, with p, z or both NULL, and MG_CYCLE_SUMS numbers of work space; result may be p or z */
#define MG_CYCLE_SUMS 256
SysStatus MGCycleRemoveMean(int64_t n, SysReal a, const SysReal *x, SysReal *sums, SysReal b, const SysReal *p, SysReal c, const SysReal *z, SysReal *result, SysStream);

/* The pattern of a transposed matrix */
typedef struct {
  SysInt   *i, *j, *from; /* entry k is entry from[k] of the matrix */
  void     *memory;
  SysStream stream; /* in which the pool gave the memory */
} MGCycleTransposed;

SysStatus MGCycleTranspose(const SysCSR *A, MGCycleTransposed *, SysStream);
void      MGCycleTransposedDestroy(MGCycleTransposed *);

SYS_C_END
