/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The right answers: row by row in extended precision from the plain AIJ, and the bound that any order of summation must keep.
*/
#include "bench.h"
#include <float.h>

#if defined(PETSC_USE_COMPLEX)
typedef long double _Complex Extended;
  #define MPI_EXTENDED MPI_C_LONG_DOUBLE_COMPLEX
#else
typedef long double Extended;
  #define MPI_EXTENDED MPI_LONG_DOUBLE
#endif

#if defined(PETSC_USE_REAL_SINGLE)
  #define SMALLEST_NORMAL FLT_MIN
#else
  #define SMALLEST_NORMAL DBL_MIN
#endif

/* Fills the result before a product with values that must not survive it */
PetscErrorCode VecPoison(Vec v)
{
  PetscScalar *a;
  PetscInt     n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VecGetArrayWrite(v, &a));
  for (PetscInt k = 0; k < n; k++) a[k] = NAN;
  PetscCall(VecRestoreArrayWrite(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* |y - right| in units of the rounding error that a sum of n terms with the given sum of magnitudes may have */
static PetscReal InBounds(PetscScalar y, Extended right, PetscInt n, PetscReal magnitude)
{
  const PetscReal diff  = (PetscReal)PetscAbsScalar((PetscScalar)((Extended)y - right));
  const PetscReal bound = ((PetscReal)n + 4) * (PETSC_MACHINE_EPSILON * magnitude + SMALLEST_NORMAL);

  if (!(magnitude <= PETSC_MAX_REAL)) return PetscIsInfOrNanScalar(y) ? 0 : PETSC_MAX_REAL; /* y must be Inf or NaN too */
  return PetscIsInfOrNanScalar(y) ? PETSC_MAX_REAL : diff / bound;
}

/* Checks y = alpha A x + z, z may be NULL */
PetscErrorCode ReferenceCheckMult(const Case *c, PetscScalar alpha, Vec x, Vec z, Vec y, PetscReal *error)
{
  const Rows        *rows = &c->rows;
  VecScatter         scatter;
  Vec                all;
  const PetscScalar *xa, *ya, *za = NULL;

  PetscFunctionBegin;
  PetscCall(VecScatterCreateToAll(x, &scatter, &all));
  PetscCall(VecScatterBegin(scatter, x, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, x, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetArrayRead(all, &xa));
  PetscCall(VecGetArrayRead(y, &ya));
  if (z) PetscCall(VecGetArrayRead(z, &za));
  *error = 0;
  for (PetscInt r = 0; r < rows->m; r++) {
    Extended  sum       = za ? za[r] : 0;
    PetscReal magnitude = za ? PetscAbsScalar(za[r]) : 0;

    for (PetscInt k = rows->i[r]; k < rows->i[r + 1]; k++) {
      sum += (Extended)alpha * (Extended)rows->a[k] * (Extended)xa[rows->j[k]];
      magnitude += PetscAbsScalar(alpha) * PetscAbsScalar(rows->a[k]) * PetscAbsScalar(xa[rows->j[k]]);
    }
    *error = PetscMax(*error, InBounds(ya[r], sum, rows->i[r + 1] - rows->i[r], magnitude));
  }
  if (z) PetscCall(VecRestoreArrayRead(z, &za));
  PetscCall(VecRestoreArrayRead(y, &ya));
  PetscCall(VecRestoreArrayRead(all, &xa));
  PetscCall(VecDestroy(&all));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, error, 1, MPIU_REAL, MPIU_MAX, PetscObjectComm((PetscObject)y)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks y = A^T x */
PetscErrorCode ReferenceCheckMultTranspose(const Case *c, Vec x, Vec y, PetscReal *error)
{
  const Rows        *rows = &c->rows;
  MPI_Comm           comm = PetscObjectComm((PetscObject)y);
  Extended          *sum;
  PetscReal         *magnitude;
  PetscInt          *terms;
  const PetscScalar *xa, *ya;

  PetscFunctionBegin;
  PetscCall(PetscCalloc3(rows->N, &sum, rows->N, &magnitude, rows->N, &terms));
  PetscCall(VecGetArrayRead(x, &xa));
  for (PetscInt r = 0; r < rows->m; r++) {
    for (PetscInt k = rows->i[r]; k < rows->i[r + 1]; k++) {
      sum[rows->j[k]] += (Extended)rows->a[k] * (Extended)xa[r];
      magnitude[rows->j[k]] += PetscAbsScalar(rows->a[k]) * PetscAbsScalar(xa[r]);
      terms[rows->j[k]]++;
    }
  }
  PetscCall(VecRestoreArrayRead(x, &xa));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, (PetscMPIInt)rows->N, MPI_EXTENDED, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, magnitude, (PetscMPIInt)rows->N, MPIU_REAL, MPIU_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, terms, (PetscMPIInt)rows->N, MPIU_INT, MPI_SUM, comm));
  PetscCall(VecGetArrayRead(y, &ya));
  *error = 0;
  for (PetscInt k = rows->cstart; k < rows->cend; k++) *error = PetscMax(*error, InBounds(ya[k - rows->cstart], sum[k], terms[k], magnitude[k]));
  PetscCall(VecRestoreArrayRead(y, &ya));
  PetscCall(PetscFree3(sum, magnitude, terms));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, error, 1, MPIU_REAL, MPIU_MAX, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vectors of which every process has all entries */
static PetscErrorCode ToAll(Vec v, VecScatter scatter, Vec all)
{
  PetscFunctionBegin;
  PetscCall(VecScatterBegin(scatter, v, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, v, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The number of multiplications of a product of two matrices */
PetscErrorCode ReferenceCountProducts(MPI_Comm comm, const Rows *left, const Rows *right, PetscLogDouble *products)
{
  VecScatter         scatter;
  Vec                length, all;
  PetscScalar       *l;
  const PetscScalar *la;

  PetscFunctionBegin;
  PetscCall(VecCreateMPI(comm, right->m, right->M, &length));
  PetscCall(VecGetArrayWrite(length, &l));
  for (PetscInt r = 0; r < right->m; r++) l[r] = (PetscReal)(right->i[r + 1] - right->i[r]);
  PetscCall(VecRestoreArrayWrite(length, &l));
  PetscCall(VecScatterCreateToAll(length, &scatter, &all));
  PetscCall(ToAll(length, scatter, all));
  PetscCall(VecGetArrayRead(all, &la));
  *products = 0;
  for (PetscInt k = 0; k < left->i[left->m]; k++) *products += PetscRealPart(la[left->j[k]]);
  PetscCall(VecRestoreArrayRead(all, &la));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecDestroy(&all));
  PetscCall(VecDestroy(&length));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, products, 1, MPI_DOUBLE, MPI_SUM, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks y = L R x. R x is kept in two vectors, its rounded values and the rounding errors, together with the sums of magnitudes and the numbers of terms. */
PetscErrorCode ReferenceCheckProduct(const Rows *left, const Rows *right, Vec x, Vec y, PetscReal *error)
{
  VecScatter         scatter, middle;
  Vec                part[4], all[4], allx;
  PetscScalar       *p[4];
  const PetscScalar *pa[4], *xa, *ya;

  PetscFunctionBegin;
  PetscCall(VecScatterCreateToAll(x, &scatter, &allx));
  PetscCall(ToAll(x, scatter, allx));
  PetscCall(VecGetArrayRead(allx, &xa));
  PetscCall(VecCreateMPI(PetscObjectComm((PetscObject)x), right->m, right->M, &part[0]));
  PetscCall(VecScatterCreateToAll(part[0], &middle, &all[0]));
  for (int q = 0; q < 4; q++) {
    if (q) PetscCall(VecDuplicate(part[0], &part[q]));
    if (q) PetscCall(VecDuplicate(all[0], &all[q]));
    PetscCall(VecGetArrayWrite(part[q], &p[q]));
  }
  for (PetscInt r = 0; r < right->m; r++) {
    Extended  sum       = 0;
    PetscReal magnitude = 0;

    for (PetscInt k = right->i[r]; k < right->i[r + 1]; k++) {
      sum += (Extended)right->a[k] * (Extended)xa[right->j[k]];
      magnitude += PetscAbsScalar(right->a[k]) * PetscAbsScalar(xa[right->j[k]]);
    }
    p[0][r] = (PetscScalar)sum;
    p[1][r] = (PetscScalar)(sum - (Extended)p[0][r]);
    p[2][r] = magnitude;
    p[3][r] = (PetscReal)(right->i[r + 1] - right->i[r]);
  }
  PetscCall(VecRestoreArrayRead(allx, &xa));
  for (int q = 0; q < 4; q++) {
    PetscCall(VecRestoreArrayWrite(part[q], &p[q]));
    PetscCall(ToAll(part[q], middle, all[q]));
    PetscCall(VecGetArrayRead(all[q], &pa[q]));
  }
  PetscCall(VecGetArrayRead(y, &ya));
  *error = 0;
  for (PetscInt r = 0; r < left->m; r++) {
    Extended  sum       = 0;
    PetscReal magnitude = 0, terms = 0;

    for (PetscInt k = left->i[r]; k < left->i[r + 1]; k++) {
      const PetscInt j = left->j[k];

      sum += (Extended)left->a[k] * ((Extended)pa[0][j] + (Extended)pa[1][j]);
      magnitude += PetscAbsScalar(left->a[k]) * PetscRealPart(pa[2][j]);
      terms += PetscRealPart(pa[3][j]);
    }
    *error = PetscMax(*error, InBounds(ya[r], sum, (PetscInt)PetscMin(terms, 1e9), magnitude));
  }
  PetscCall(VecRestoreArrayRead(y, &ya));
  for (int q = 0; q < 4; q++) {
    PetscCall(VecRestoreArrayRead(all[q], &pa[q]));
    PetscCall(VecDestroy(&all[q]));
    PetscCall(VecDestroy(&part[q]));
  }
  PetscCall(VecDestroy(&allx));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecScatterDestroy(&middle));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, error, 1, MPIU_REAL, MPIU_MAX, PetscObjectComm((PetscObject)y)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
