/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "sys/syscuda.h"
#include "mat/factor/host/factorhost.h"

SYS_C_BEGIN

/* Two triangles that are solved one after the other: the first one's rows depend on earlier rows, the second one's on later ones. Row i of a triangle has the columns j[k],
   k = begin[i] to end[i] - 1, in ascending order, or these are the entries of column i. The arrays may go after FactorDeviceCreate(). */
typedef struct {
  int64_t       n, nz;
  int           bs;       /* rows of a node, which are solved together if all of them have the same columns, in whole nodes; 0 or 1: each row alone */
  int64_t       boxed;    /* rows from which on boxes of rows are tried */
  double        launched; /* bytes of a level from which on each level has a launch */
  const SysInt *j, *begin[2], *end[2];
  int           turned[2];       /* i is a column of the triangle, and j[] are its rows */
  int           on_device;       /* j, begin, end and diagonal are there, source and target on the host */
  const SysInt *source, *target; /* of each row: the entry of the right-hand side and of the solution, or NULL; target is negative where a solution is not needed */
  const SysInt *diagonal;        /* of each row: the place of its factor, which multiplies */
  int           before[2];       /* the right-hand sides of the triangle */
  int           after[2];        /* the results of the triangle */
  SysScalar     sign;            /* of the entries of the triangles: -1 if they are subtracted */
} FactorPair;

typedef struct FactorDevice_ *FactorDevice;

/* Creates the triangles on the device, without values; n > 0 */
SysStatus FactorDeviceCreate(const FactorPair *, FactorDevice *, SysStream);
void      FactorDeviceDestroy(FactorDevice *);

/* Copy the values of the factor: nz numbers from the host; or queued, from the device */
SysStatus FactorDeviceUpdate(FactorDevice, int64_t nz, const SysScalar *a, SysStream);
SysStatus FactorDeviceGather(FactorDevice, const SysScalar *a, SysStream);

/* Queues the solves for columns of b, ldb apart, into the columns of x, which may be b; all on the device */
SysStatus FactorDeviceSolve(FactorDevice, int columns, const SysScalar *b, int64_t ldb, SysScalar *x, int64_t ldx, SysStream);

/* Return the entries of both triangles, the levels of a triangle (of boxes of 32 rows where these are solved together), the seconds that all levels take at least, the bytes that a
   solve moves */
int64_t FactorDeviceEntries(FactorDevice);
int     FactorDeviceLevels(FactorDevice, int t);
double  FactorDeviceLatency(FactorDevice);
double  FactorDeviceBytes(FactorDevice);

/* ------------------------------------------------- groups ------------------------------------------------- */

/* Factors that are solved together, in one launch for each triangle */
typedef struct FactorGroup_ *FactorGroup;

/* Creates a group, without values. All pairs have the same options, and arrays on the device that may go afterwards. source and target: of the rows of all factors, on the host. */
SysStatus FactorGroupCreate(int n, const FactorPair *pair, const SysInt *source, const SysInt *target, FactorGroup *, SysStream);
void      FactorGroupDestroy(FactorGroup *);

/* FactorGroupCopy() queues a copy of the values of factor k, which are on the device. After the values of all factors, FactorGroupUpdate() puts them into the order of the solves. */
SysStatus FactorGroupCopy(FactorGroup, int k, const SysScalar *a, SysStream);
SysStatus FactorGroupUpdate(FactorGroup, SysStream);

/* Returns the triangles of all factors */
FactorDevice FactorGroupDevice(FactorGroup);

/* Blocks of a matrix: block k has the rows and columns index[k][0], index[k][1], ... of the matrix. The arrays of indices are on the host and may go afterwards. */
typedef struct FactorSubMatrices_ *FactorSubMatrices;

SysStatus FactorSubMatricesCreate(int n, const int64_t size[], const SysInt *const index[], FactorSubMatrices *, SysStream);
void      FactorSubMatricesDestroy(FactorSubMatrices *);

/* Copies values of A to the arrays b[k] of its blocks B[k], all on the device; *missing: a block has an entry that A lacks. Waits for the device. */
SysStatus FactorSubMatricesCopy(FactorSubMatrices, const SysCSR *A, const SysCSR B[], SysScalar *const b[], int *missing, SysStream);

/* ------------------------------------------------- factors that the device makes ------------------------------------------------- */

/* The pattern of ILU(k) or ICC(k), with the values that the device computes. Of each row: in L the multipliers, on the diagonal the reciprocal of the pivot, in U the
   entries. A symmetric factor has U only, each row divided by the pivot with the opposite sign, as PETSc's. */
typedef struct FactorMatrix_ *FactorMatrix;

/* A pattern with fill, on the host: n + 1 starts of rows, columns in ascending order, and where the diagonal is. A symmetric factor has no columns before the diagonal. */
typedef struct {
  const SysInt *i, *j, *diagonal;
} FactorPattern;

/* Creates the pattern for a matrix on the device. rows: of each row of the factor, the row of the matrix; place: of each column of the matrix, the column of the factor; both
   on the host, or NULL. pattern: NULL for a factor without fill. *result is NULL if the device does not make this factor: a row has no diagonal, repeats a column or is too
   long. */
SysStatus FactorMatrixCreate(const SysCSR *A, const SysInt *rows, const SysInt *place, int symmetric, const FactorPattern *pattern, FactorMatrix *result, SysStream);
void      FactorMatrixDestroy(FactorMatrix *);

/* Sets the rows, the columns and the diagonal of a pair for solves, or for solves with the transpose */
void FactorMatrixGetPair(FactorMatrix, int transpose, FactorPair *);

/* The pivots that MatPivotCheck() of PETSc accepts */
typedef enum {
  FACTOR_PIVOT_NONZERO,          /* larger than zero times 1 */
  FACTOR_PIVOT_NONZERO_RELATIVE, /* than zero times the sum of the other entries of the row */
  FACTOR_PIVOT_POSITIVE          /* the same, with the sign */
} FactorPivot;

/* Computes the factor of new values on the device; *refused: a pivot is not accepted. Waits for the device. */
SysStatus FactorMatrixCompute(FactorMatrix, const SysScalar *a, FactorPivot, SysReal zero, int *refused, SysStream);

/* Computes DILU instead, (E + L) E^-1 (E + U) with the triangles of the matrix: the reciprocals of E. FactorMatrixScale() then sets the values for solves, or for solves with the
   transpose: the entries of the second triangle, times E^-1. The results of the first triangle alone are multiplied by the diagonal. */
SysStatus FactorMatrixComputeDiagonal(FactorMatrix, const SysScalar *a, SysReal zero, int *refused, SysStream);
SysStatus FactorMatrixScale(FactorMatrix, int transpose, SysStream);

/* Queues the approximate inverses of both triangles of ILU(0), after FactorMatrixCompute(), with the pattern of the triangles: ambiluhost.h defines them */
SysStatus FactorMatrixInvert(FactorMatrix, SysStream);

/* An inverse in the order of the matrix, arrays on the device: FactorInverseBegin() sets n + 1 starts of rows and the number of entries, and waits for the device; FactorInverseFill()
   queues columns, unless j is NULL, and values. rows: as for FactorMatrixCreate(). */
SysStatus FactorInverseBegin(FactorMatrix, int upper, const SysInt *rows, SysInt *i, int64_t *nz, SysStream);
SysStatus FactorInverseFill(FactorMatrix, int upper, const SysInt *rows, const SysInt *i, SysInt *j, SysScalar *a, SysStream);

/* Returns the number of entries and, after FactorMatrixCompute() or FactorMatrixScale(), the values on the device */
int64_t          FactorMatrixEntries(FactorMatrix);
const SysScalar *FactorMatrixValues(FactorMatrix);

/* Copies the factor to the host: n + 1 starts of rows, columns, and values unless a is NULL */
SysStatus FactorMatrixGet(FactorMatrix, SysInt *i, SysInt *j, SysScalar *a, SysStream);

/* The same with the values of the matrix, in the order of the factor, after FactorMatrixComputeDiagonal() */
SysStatus FactorMatrixGetMatrix(FactorMatrix, SysInt *i, SysInt *j, SysScalar *a, SysStream);

SYS_C_END
