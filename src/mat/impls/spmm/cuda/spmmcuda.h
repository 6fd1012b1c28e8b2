/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products of sparse and dense matrices on a CUDA device, on raw arrays of real numbers: C = A D, and entries of D1 D2^T in the pattern of A.

   A dense matrix is stored by columns, and a kernel wants the entries of a row side by side. Packing makes panels, whose rows hold up to SPMM_DEVICE_WIDTH
   columns. Sums have one order, without atomic operations: the same input gives the same bits.
*/
#pragma once

#include "sys/syscuda.h"

#if defined(__cplusplus)
extern "C" {
#endif

#define SPMM_DEVICE_WIDTH (512 / (int)sizeof(SysReal)) /* numbers of a row of a panel, at most */

/* What depends on the pattern of A: its long rows, cut into parts that are multiplied side by side */
typedef struct _SpmmDevice SpmmDevice;

/* rows[] is A.i on the host, the other arrays of A lie on the device */
SysStatus SpmmDeviceCreate(const SysCSR *A, const SysInt *rows, SpmmDevice **, SysStream);
void      SpmmDeviceDestroy(SpmmDevice **);

/* The columns of the next panel if ncol columns are left, and the width of that panel in numbers */
int SpmmDevicePanelColumns(int64_t ncol, int *width);

/* A panel of n rows from ncol columns, which begin ld numbers after one another. What is behind the columns is 0. */
SysStatus SpmmDevicePack(int64_t n, int ncol, int width, const SysReal *columns, int64_t ld, SysReal *panel, SysStream);

/* ncol columns of C = A D, where panel has those of D */
SysStatus SpmmDeviceMult(const SpmmDevice *, const SysCSR *A, int ncol, int width, const SysReal *panel, SysReal *C, int64_t ld, SysStream);

/* For each entry of A, the product of the row of left that belongs to its row and the row of right that belongs to its column. The products are set in values,
   or added to them; then the values are multiplied by those of A, if scale is not 0. */
SysStatus SddmmDevice(const SysCSR *A, int width, const SysReal *left, const SysReal *right, int add, int scale, SysReal *values, SysStream);

#if defined(__cplusplus)
}
#endif
