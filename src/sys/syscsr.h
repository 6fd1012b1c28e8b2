/* SPDX-License-Identifier: BSD-2-Clause */
/*
   A sparse matrix in compressed rows, on host or device, and the status of all kernels
*/
#pragma once

#include "sys/systypes.h"

/* The caller owns the arrays: i has m + 1 entries, j and a have nz. a may be NULL for kernels that only read the pattern. */
typedef struct {
  int64_t          m, n, nz;
  const SysInt    *i, *j;
  const SysScalar *a;
} SysCSR;

/* Of several threads' or processes' statuses the largest counts */
typedef enum {
  SYS_SUCCESS,
  SYS_OUT_OF_MEMORY,  /* the operands are unchanged, and nothing stays allocated */
  SYS_TOO_LARGE,      /* exceeds the integers or positions of the format or the result */
  SYS_NOT_ASCENDING,  /* a row's columns do not ascend, or repeat */
  SYS_TOO_MANY_BYTES, /* more bytes than the caller allowed */
  SYS_ERROR           /* a call of CUDA failed; SysDeviceErrorText() names it */
} SysStatus;

static inline int64_t SysMin(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

/* Returns the position of a column among j[begin] to j[end - 1], which ascend, or -1 */
static inline int64_t SysFindColumn(const SysInt *j, int64_t begin, int64_t end, int64_t column)
{
  int64_t low = begin, high = end;

  while (low < high) {
    const int64_t middle = low + (high - low) / 2;

    if (j[middle] < column) low = middle + 1;
    else high = middle;
  }
  return low < end && j[low] == column ? low : -1;
}

/* Returns the bytes of the arrays */
static inline double SysCSRBytes(const SysCSR *A)
{
  return (double)A->nz * (sizeof(SysScalar) + sizeof(SysInt)) + ((double)A->m + 1) * sizeof(SysInt);
}
