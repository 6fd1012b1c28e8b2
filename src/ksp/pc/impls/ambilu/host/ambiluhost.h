/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Set-up of PCAMBILU on the host: the matrix in the order of its factor, DILU, ILU(0), and sparse approximate inverses of the triangles of ILU(0)

   DILU changes nothing but the diagonal: with A = L + D + U the preconditioner is M = (E + L) E^-1 (E + U), where

     e(i) = a(i,i) - sum of a(i,j) a(j,i) / e(j) over j < i

   so that M has the diagonal of A. It is ILU(0) if no two neighbours of a row are neighbours, as on grids with 5 or 7 points.

   A sparse approximate inverse G of a lower triangle T has the pattern of T, and G T is the identity within this pattern. A row of G solves a small triangular system; rows do
   not depend on one another. The inverse of U is computed as the one of the lower triangle U^T and transposed, so that a symmetric matrix gets a symmetric preconditioner.

   Complexity: DILU, a search in a row for each entry; ILU(0) and the inverses, for each entry below the diagonal the length of a row. Work space: an integer and a number a row.

   Source: H. Anzt, T. K. Huckle, J. Brackle, J. Dongarra, "Incomplete sparse approximate inverses for parallel preconditioning", Parallel Computing 71, 2018.
*/
#pragma once

#include "sys/syscsr.h"

/* A matrix whose rows have ascending columns and a diagonal; owns its arrays */
typedef struct {
  int64_t    n, nz;
  SysInt    *i, *j, *diagonal; /* diagonal: its place in each row */
  SysInt    *behind;           /* the place after it */
  SysInt    *from;             /* of each entry: its place in the matrix of the caller */
  SysScalar *a;
} AmbILUMatrix;

/* Copies the pattern of A. rows[p]: the row and the column of A that become row and column p. *missing: a row of A without a diagonal, or -1; M is empty in this case. */
SysStatus AmbILUMatrixCreate(const SysCSR *A, const SysInt *rows, AmbILUMatrix *M, int64_t *missing);
void      AmbILUMatrixDestroy(AmbILUMatrix *);

/* The same in two steps: allocates the arrays, and once i, j and a are filled, sets diagonal and behind. Such a matrix has no places in the matrix of the caller. */
SysStatus AmbILUMatrixAllocate(int64_t n, int64_t nz, AmbILUMatrix *M);
void      AmbILUMatrixFindDiagonal(AmbILUMatrix *M);

/* Copies the values of A */
void AmbILUMatrixUpdate(AmbILUMatrix *, const SysScalar *a);

/* d: the reciprocals of e(i) of DILU. Sets *pivot to the first row whose number is not larger than zero in absolute value, or to -1. */
void AmbILUDiagonal(const AmbILUMatrix *, SysReal zero, SysScalar *d, int64_t *pivot);

/* Solves M x = b, or M^T x = b, for DILU; x may be b */
void AmbILUSolve(const AmbILUMatrix *, const SysScalar *d, const SysScalar *b, SysScalar *x);
void AmbILUSolveTranspose(const AmbILUMatrix *, const SysScalar *d, const SysScalar *b, SysScalar *x);

/* Replaces the matrix by its factors L and U of ILU(0), in the same arrays, without the unit diagonal of L. *pivot as above. */
SysStatus AmbILUFactor(AmbILUMatrix *, SysReal zero, int64_t *pivot);

/* The inverse of a triangle of ILU(0), upper or not, by entries: row[], column[] and value[] have n + nz numbers at most, *entries is set. row and column may be NULL. */
SysStatus AmbILUInverse(const AmbILUMatrix *, int upper, SysInt *row, SysInt *column, SysScalar *value, int64_t *entries);
