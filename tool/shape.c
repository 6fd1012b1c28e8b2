/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The shape of a matrix, in figures.
*/
#include "tool.h"

/* The bytes that MATSELL stores for the columns [first,last), or for the others: slices of 8 rows as long as their longest */
static PetscLogDouble SELLBytes(const Rows *rows, PetscBool inside)
{
  PetscLogDouble bytes = 0.0;

  for (PetscInt s = 0; s < rows->m; s += 8) {
    PetscInt longest = 0;

    for (PetscInt r = s; r < PetscMin(s + 8, rows->m); r++) {
      PetscInt n = 0;

      for (PetscInt k = rows->i[r]; k < rows->i[r + 1]; k++) n += ((rows->j[k] >= rows->cstart && rows->j[k] < rows->cend) == (int)inside);
      longest = PetscMax(longest, n);
    }
    bytes += 8.0 * longest * (sizeof(PetscScalar) + sizeof(PetscInt)) + sizeof(PetscInt);
  }
  return bytes;
}

/* Compares with the transpose: the pattern, and the values to rounding against the largest of their row */
static PetscErrorCode Symmetry(Mat A, const Rows *rows, Shape *s)
{
  Mat  T;
  Rows t;
  int  same[2] = {1, 1};

  PetscFunctionBegin;
  if (rows->M != rows->N) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &T));
  PetscCall(RowsGet(T, &t));
  for (PetscInt r = 0; r < rows->m && same[0]; r++) {
    PetscReal largest = 0;

    if (t.i[r + 1] != rows->i[r + 1]) same[0] = 0;
    for (PetscInt k = rows->i[r]; k < rows->i[r + 1]; k++) largest = PetscMax(largest, PetscAbsScalar(rows->a[k]));
    for (PetscInt k = rows->i[r]; k < rows->i[r + 1] && same[0]; k++) {
      if (t.j[k] != rows->j[k]) same[0] = 0;
      else if (PetscAbsScalar(t.a[k] - rows->a[k]) > 10 * PETSC_MACHINE_EPSILON * largest) same[1] = 0;
    }
  }
  PetscCall(RowsRestore(&t));
  PetscCall(MatDestroy(&T));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, same, 2, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)A)));
  s->pattern_symmetric = same[0] ? PETSC_TRUE : PETSC_FALSE;
  s->symmetric         = same[0] && same[1] ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* 0 for 0, k for numbers from 2^(k-1) to 2^k - 1 */
static int Class(PetscInt n)
{
  int k = 0;

  while (n) {
    n >>= 1;
    k++;
  }
  return k;
}

PetscErrorCode ShapeCompute(Mat A, const Rows *rows, Shape *s)
{
  MPI_Comm       comm       = PetscObjectComm((PetscObject)A);
  PetscInt       extreme[3] = {0, 0, 0}; /* longest row, bandwidth, -shortest row */
  PetscLogDouble sum[18]    = {0};       /* nonzeros, distance, empty rows, dominant rows, CSR bytes, SELL bytes, runs */

  PetscFunctionBegin;
  PetscCall(PetscMemzero(s, sizeof(*s)));
  extreme[2] = PETSC_MIN_INT;
  for (PetscInt r = 0; r < rows->m; r++) {
    const PetscInt n = rows->i[r + 1] - rows->i[r], row = rows->rstart + r;
    PetscReal      diagonal = 0, rest = 0;
    PetscInt       run = 0;

    extreme[0] = PetscMax(extreme[0], n);
    extreme[2] = PetscMax(extreme[2], -n);
    sum[2] += n == 0;
    s->lengths[Class(n)]++;
    for (PetscInt k = rows->i[r]; k < rows->i[r + 1]; k++) {
      const PetscInt d = PetscAbs(rows->j[k] - row);

      extreme[1] = PetscMax(extreme[1], d);
      sum[1] += (PetscLogDouble)d;
      s->distances[Class(d)]++;
      if (d) rest += PetscAbsScalar(rows->a[k]);
      else diagonal += PetscAbsScalar(rows->a[k]);
      run++;
      if (k + 1 == rows->i[r + 1] || rows->j[k + 1] != rows->j[k] + 1) {
        sum[6 + PetscMin(run, 10)] += run;
        run = 0;
      }
    }
    sum[3] += diagonal > 0 && diagonal >= rest * (1 - 10 * PETSC_MACHINE_EPSILON);
  }
  sum[0] = rows->i[rows->m];
  sum[4] = sum[0] * (sizeof(PetscScalar) + sizeof(PetscInt)) + (rows->m + 1.0) * sizeof(PetscInt);
  sum[5] = SELLBytes(rows, PETSC_TRUE) + (rows->cend - rows->cstart < rows->N ? SELLBytes(rows, PETSC_FALSE) : 0);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, extreme, 3, MPIU_INT, MPI_MAX, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 18, MPI_DOUBLE, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, s->lengths, SHAPE_CLASSES, MPI_DOUBLE, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, s->distances, SHAPE_CLASSES, MPI_DOUBLE, MPI_SUM, comm));
  s->M          = rows->M;
  s->N          = rows->N;
  s->row_max    = extreme[0];
  s->bandwidth  = extreme[1];
  s->row_min    = rows->M ? -extreme[2] : 0;
  s->nonzeros   = sum[0];
  s->row_mean   = rows->M ? sum[0] / rows->M : 0;
  s->distance   = sum[0] > 0 ? sum[1] / sum[0] : 0;
  s->empty_rows = (PetscInt)sum[2];
  s->dominant   = sum[3];
  s->bytes_csr  = sum[4];
  s->bytes_sell = sum[5];
  for (int k = 0; k <= 10; k++) s->run[k] = sum[6 + k];
  PetscCall(Symmetry(A, rows, s));
  /* like the matrix of a mesh: rows of about the same length, with a symmetric pattern */
  s->fem_like = (s->pattern_symmetric && s->empty_rows == 0 && s->row_max <= 4 * s->row_mean) ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
