/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products of sparse and dense matrices on a CUDA device, on raw arrays of real numbers: C = A D or A^T D, and entries of D1 D2^T in the pattern of A.

   A dense matrix is stored by columns, and a kernel wants the entries of a row side by side. Packing makes panels, whose rows hold up to SPMM_DEVICE_WIDTH
   columns. Sums have one order, without atomic operations: the same input gives the same bits.
*/
#pragma once

#include "sys/syscuda.h"

#if defined(__cplusplus)
extern "C" {
#endif

#define SPMM_DEVICE_WIDTH (512 / (int)sizeof(SysReal)) /* numbers of a row of a panel, at most */

/* What depends on the pattern of A: its long rows, cut into parts that are multiplied side by side. For products with the transposed matrix, also the pattern of
   that, with the places of its values in A. */
typedef struct _SpmmDevice SpmmDevice;

/* rows[] is A.i on the host, the other arrays of A lie on the device. Panels are at most width numbers wide. After an error the caller destroys what was made. */
SysStatus SpmmDeviceCreate(const SysCSR *A, const SysInt *rows, int transpose, int width, SpmmDevice **, SysStream);
void      SpmmDeviceDestroy(SpmmDevice **);

/* Has products of A, not transposed, go through tiles: rows of the dense matrix that at least `threshold` rows of a block use are read once into shared memory. rows and
   columns are A.i and A.j on the host; rows that are cut have no entries in tiles. */
SysStatus SpmmDeviceTile(SpmmDevice *, const SysCSR *A, const SysInt *rows, const SysInt *columns, int threshold, int width, SysStream);

/* Entries in tiles, and heavy columns of all blocks together: the number of rows of the dense matrix that tiles read */
void SpmmDeviceTileFigures(const SpmmDevice *, int64_t *entries, int64_t *columns);

/* The columns of the next panel if ncol columns are left, and the width of that panel in numbers */
int SpmmDevicePanelColumns(int64_t ncol, int *width);

/* A panel of n rows from ncol columns, which begin ld numbers after one another. What is behind the columns is 0. */
SysStatus SpmmDevicePack(int64_t n, int ncol, int width, const SysReal *columns, int64_t ld, SysReal *panel, SysStream);

/* The other way round. Rows first[r] to first[r + 1] - 1 of more are added to row r, in this order, unless first is NULL. */
SysStatus SpmmDeviceUnpack(int64_t n, int ncol, int width, const SysReal *panel, const int *first, const SysReal *more, SysReal *columns, int64_t ld, SysStream);

/* One term of a product: a sparse matrix as SpmmDeviceCreate() had it, perhaps with other values, and the panel of a dense matrix */
typedef struct {
  const SpmmDevice *S;
  SysCSR            A;
  const SysReal    *panel;
} SpmmDeviceTerm;

/* The sum of no, one or two terms, m rows of ncol columns. It is a panel without columns if ld is 0. */
SysStatus SpmmDeviceMult(int64_t m, const SpmmDeviceTerm term[], int nterm, int ncol, int width, SysReal *C, int64_t ld, SysStream);

/* The same for the sampled products of SddmmDevice(), of any width */
SysStatus SddmmDeviceCreate(const SysCSR *A, const SysInt *rows, SpmmDevice **, SysStream);

/* For each entry of A, the product of a row of the left and a row of the right matrix: those of its row and of its column. The left matrix has ncol columns, which
   begin ld numbers after one another; the right matrix is their panel. The products are set in values, or added to them; then the values are multiplied by those of
   A, if scale is not 0. */
SysStatus SddmmDevice(const SpmmDevice *, const SysCSR *A, int ncol, int width, const SysReal *left, int64_t ld, const SysReal *right, int add, int scale, SysReal *values, SysStream);

#if defined(__cplusplus)
}
#endif
