/* SPDX-License-Identifier: BSD-2-Clause */
/*
   A sparse matrix in compressed rows, on the host or on a device, and the status that all kernels return
*/
#pragma once

#include "sys/systypes.h"

/* The arrays belong to the caller: i has m + 1 entries, j and a have nz. For kernels that only read the pattern a may be NULL. */
typedef struct {
  int64_t          m, n, nz;
  const SysInt    *i, *j;
  const SysScalar *a;
} SysCSR;

/* If several threads or processes report a status, the largest one counts */
typedef enum {
  SYS_SUCCESS,
  SYS_OUT_OF_MEMORY,  /* the operands are unchanged, and nothing is left allocated */
  SYS_TOO_LARGE,      /* too large for the integers or positions of the format or of the result */
  SYS_NOT_ASCENDING,  /* a row has columns that are not in ascending order, or repeated */
  SYS_TOO_MANY_BYTES, /* more bytes than the caller allowed */
  SYS_ERROR           /* a call of CUDA failed; SysDeviceErrorText() names it */
} SysStatus;

static inline int64_t SysMin(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

/* The bytes of the arrays */
static inline double SysCSRBytes(const SysCSR *A)
{
  return (double)A->nz * (sizeof(SysScalar) + sizeof(SysInt)) + ((double)A->m + 1) * sizeof(SysInt);
}
