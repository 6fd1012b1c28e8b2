/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "sys/syscuda.h"

SYS_C_BEGIN

/* z = A x, of a dense matrix of n rows, one after the other */
SysStatus MGCycleDenseMult(int n, const SysReal *A, const SysReal *x, SysReal *z, SysStream);

/* z = alpha A x + y, or alpha A x without a y, which may be z; entry k has the value from[k], or k without a from. Without A->i, A has no entries. */
SysStatus MGCycleCSRMult(const SysCSR *A, const SysInt *from, SysReal alpha, const SysReal *x, const SysReal *y, SysReal *z, SysStream);

/* The pattern of a transposed matrix */
typedef struct {
  SysInt   *i, *j, *from; /* entry k is entry from[k] of the matrix */
  void     *memory;
  SysStream stream; /* in which the pool gave the memory */
} MGCycleTransposed;

SysStatus MGCycleTranspose(const SysCSR *A, MGCycleTransposed *, SysStream);
void      MGCycleTransposedDestroy(MGCycleTransposed *);

SYS_C_END
