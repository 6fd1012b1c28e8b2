/* SPDX-License-Identifier: BSD-2-Clause */
/*
   SpMM and SDDMM on a CUDA device, on raw device arrays of real numbers: C = A D or A^T D, and entries of D1 D2^T in the pattern of A.
   host/spmmhost.h has the idea: dense matrices are packed into panels of up to SPMM_DEVICE_WIDTH numbers a row. Sums have a fixed order and use no
   atomics: the same input gives the same bits.

   One of four kernels runs, by the pattern of A:

         rows of similar length       spmmcuda.cu        a team of lanes a row; long rows in parts
         nodes of 2 or 3 equal rows   spmmcudanode.cu    a team a node: one read of the panel for all rows
         rows of different lengths    spmmcudashare.cu   a block a share: equal numbers of entries
         -mat_spmm_tiles              spmmcudatile.cu    heavy columns in shared memory (for comparison)

   Work space. SpmmDeviceCreate() allocates the list of parts, O(long rows), and a panel's row for each part; for A^T D the transposed pattern; for
   shares one byte an entry.
*/
#pragma once

#include "sys/syscuda.h"

SYS_C_BEGIN

#define SPMM_DEVICE_WIDTH (512 / (int)sizeof(SysReal)) /* most numbers of a panel's row */

/* Data of A's pattern: its long rows, cut into parts that are multiplied in parallel; for A^T D also the transposed pattern with its values' positions
   in A */
typedef struct _SpmmDevice SpmmDevice;

/* rows: A.i on the host; the other arrays of A are on the device. width: most numbers of a panel's row. After an error the caller calls
   SpmmDeviceDestroy(). */
SysStatus SpmmDeviceCreate(const SysCSR *A, const SysInt *rows, int transpose, int width, SpmmDevice **, SysStream);
void      SpmmDeviceDestroy(SpmmDevice **);

/* Makes products A D use tiles: rows of D that at least `threshold` rows of a block use are read once into shared memory. rows, columns: A.i and A.j
   on the host. Rows in parts have no entries in tiles. */
SysStatus SpmmDeviceTile(SpmmDevice *, const SysCSR *A, const SysInt *rows, const SysInt *columns, int threshold, int width, SysStream);

/* Gets the entries in tiles, and the heavy columns summed over all blocks: the rows of D that tiles read */
void SpmmDeviceTileFigures(const SpmmDevice *, int64_t *entries, int64_t *columns);

/* Returns the columns of the next panel if ncol columns remain, and sets its width in numbers */
int SpmmDevicePanelColumns(int64_t ncol, int *width);

/* Packs a panel of n rows from ncol columns of leading dimension ld, with zeros after the last column */
SysStatus SpmmDevicePack(int64_t n, int ncol, int width, const SysReal *columns, int64_t ld, SysReal *panel, SysStream);

/* The inverse of SpmmDevicePack(). If first is not NULL, adds rows first[r] to first[r + 1] - 1 of more to row r, in order. */
SysStatus SpmmDeviceUnpack(int64_t n, int ncol, int width, const SysReal *panel, const int *first, const SysReal *more, SysReal *columns, int64_t ld, SysStream);

/* One term of a product: a sparse matrix with the pattern passed to SpmmDeviceCreate(), and a packed dense matrix */
typedef struct {
  const SpmmDevice *S;
  SysCSR            A;
  const SysReal    *panel;
} SpmmDeviceTerm;

/* Computes the sum of up to two terms, m rows of ncol columns; ld == 0: the result is a panel */
SysStatus SpmmDeviceMult(int64_t m, const SpmmDeviceTerm term[], int nterm, int ncol, int width, SysReal *C, int64_t ld, SysStream);

/* The same for SddmmDevice(), with panels of any width */
SysStatus SddmmDeviceCreate(const SysCSR *A, const SysInt *rows, SpmmDevice **, SysStream);

/* For each entry of A, computes the product of its row of the left and its column's row of the right matrix. left: ncol columns of leading dimension
   ld; right: a panel. Sets values, or adds to them; then, if scale is not 0, multiplies them by A's values. */
SysStatus SddmmDevice(const SpmmDevice *, const SysCSR *A, int ncol, int width, const SysReal *left, int64_t ld, const SysReal *right, int add, int scale, SysReal *values, SysStream);

SYS_C_END
