/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products of two sparse matrices other than the square: the pairs of factors, and the products of Mat types.
*/
#include "bench.h"

#define AGGREGATE 8  /* rows of an aggregate of the prolongator */
#define COLUMNS   64 /* of the tall and skinny factor */
#define DAMPING   (2.0 / 3)

/* Which entries of A a factor takes */
typedef enum {
  LOWER,
  UPPER,
  THINNED /* every n-th column, so that COLUMNS are left */
} Part;

static PetscErrorCode PairPart(const Case *c, Part part, Mat *B)
{
  const Rows    *rows = &c->rows;
  const PetscInt step = PetscMax(1, (rows->N + COLUMNS - 1) / COLUMNS), columns = (rows->N + step - 1) / step;
  PetscInt      *i, *j, n = 0;
  PetscScalar   *a;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(rows->m + 1, &i, rows->i[rows->m], &j, rows->i[rows->m], &a));
  i[0] = 0;
  for (PetscInt r = 0; r < rows->m; r++) {
    for (PetscInt k = rows->i[r]; k < rows->i[r + 1]; k++) {
      const PetscInt  row = rows->rstart + r, column = rows->j[k];
      const PetscBool take = (PetscBool)(part == LOWER ? column < row : part == UPPER ? column > row : column % step == 0);

      if (!take) continue;
      j[n]   = part == THINNED ? column / step : column;
      a[n++] = rows->a[k];
    }
    i[r + 1] = n;
  }
  PetscCall(MatCreate(PetscObjectComm((PetscObject)c->A), B));
  if (part == THINNED) PetscCall(MatSetSizes(*B, rows->m, PETSC_DECIDE, rows->M, columns));
  else PetscCall(MatSetSizes(*B, rows->m, rows->cend - rows->cstart, rows->M, rows->N));
  PetscCall(MatSetType(*B, MATAIJ));
  PetscCall(MatSeqAIJSetPreallocationCSR(*B, i, j, a));
  PetscCall(MatMPIAIJSetPreallocationCSR(*B, i, j, a));
  PetscCall(PetscFree3(i, j, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A prolongator as smoothed aggregation makes it, (I - 2/3 D^-1 A) T, of aggregates of consecutive rows */
static PetscErrorCode PairProlongator(const Case *c, Mat *P)
{
  const PetscInt m = c->rows.m, n = (m + AGGREGATE - 1) / AGGREGATE;
  PetscScalar   *d;
  PetscInt       first;
  Vec            diagonal;
  Mat            T;

  PetscFunctionBegin;
  PetscCall(MatCreate(PetscObjectComm((PetscObject)c->A), &T));
  PetscCall(MatSetSizes(T, m, n, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(T, MATAIJ));
  PetscCall(MatSeqAIJSetPreallocation(T, 1, NULL));
  PetscCall(MatMPIAIJSetPreallocation(T, 1, NULL, 0, NULL));
  PetscCall(MatGetOwnershipRangeColumn(T, &first, NULL));
  for (PetscInt r = 0; r < m; r++) PetscCall(MatSetValue(T, c->rows.rstart + r, first + r / AGGREGATE, 1.0, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(T, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(T, MAT_FINAL_ASSEMBLY));
  PetscCall(MatMatMult(c->A, T, MAT_INITIAL_MATRIX, PETSC_DEFAULT, P));
  PetscCall(VecDuplicate(c->y, &diagonal));
  PetscCall(MatGetDiagonal(c->A, diagonal));
  PetscCall(VecGetArray(diagonal, &d));
  for (PetscInt r = 0; r < m; r++) d[r] = d[r] == 0.0 ? -DAMPING : -DAMPING / d[r];
  PetscCall(VecRestoreArray(diagonal, &d));
  PetscCall(MatDiagonalScale(*P, diagonal, NULL));
  PetscCall(MatAXPY(*P, 1.0, T, DIFFERENT_NONZERO_PATTERN));
  PetscCall(VecDestroy(&diagonal));
  PetscCall(MatDestroy(&T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The factors of the pair at hand, which the first call makes */
static PetscErrorCode PairGet(Case *c, Pair **pair)
{
  Pair *p = &c->pairs[c->kind];

  PetscFunctionBegin;
  *pair = p;
  if (p->left) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(c->kind == PAIR_ATA || c->shape.M == c->shape.N, PetscObjectComm((PetscObject)c->A), PETSC_ERR_USER_INPUT, "%s: a product of a square matrix and a factor made of it was asked for, and this matrix has %" PetscInt_FMT " x %" PetscInt_FMT " entries", c->name,
             c->shape.M, c->shape.N);
  if (c->kind == PAIR_LU) {
    PetscCall(PairPart(c, LOWER, &p->left));
    PetscCall(PairPart(c, UPPER, &p->right));
  } else {
    PetscCall(PetscObjectReference((PetscObject)c->A));
    if (c->kind == PAIR_ATA) p->right = c->A;
    else p->left = c->A;
    if (c->kind == PAIR_UNSORTED) { /* the same entries in any order */
      PetscCall(PetscObjectReference((PetscObject)c->A));
      p->right = c->A;
    } else if (c->kind == PAIR_ATA) PetscCall(MatTranspose(c->A, MAT_INITIAL_MATRIX, &p->left));
    else if (c->kind == PAIR_AP) PetscCall(PairProlongator(c, &p->right));
    else PetscCall(PairPart(c, THINNED, &p->right));
  }
  PetscCall(RowsGet(p->left, &p->rows[0]));
  PetscCall(RowsGet(p->right, &p->rows[1]));
  PetscCall(MatCreateVecs(p->right, &p->x, NULL));
  PetscCall(MatCreateVecs(p->left, NULL, &p->y));
  PetscCall(VecFill(p->x, 4));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PairDestroy(Pair *p)
{
  PetscFunctionBegin;
  if (!p->left) PetscFunctionReturn(PETSC_SUCCESS);
  for (int f = 0; f < 2; f++) PetscCall(RowsRestore(&p->rows[f]));
  PetscCall(VecDestroy(&p->x));
  PetscCall(VecDestroy(&p->y));
  PetscCall(MatDestroy(&p->left));
  PetscCall(MatDestroy(&p->right));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The columns of each row in descending order, with their values */
static PetscErrorCode PairReverse(Mat A)
{
  const PetscInt *i, *j;
  PetscInt        m;
  PetscScalar    *a;
  PetscBool       done;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJGetArray(A, &a));
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &m, &i, &j, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No row access");
  for (PetscInt r = 0; r < m; r++) {
    for (PetscInt k = i[r], l = i[r + 1] - 1; k < l; k++, l--) {
      const PetscInt    column = j[k];
      const PetscScalar value  = a[k];

      ((PetscInt *)j)[k] = j[l];
      ((PetscInt *)j)[l] = column;
      a[k]               = a[l];
      a[l]               = value;
    }
  }
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &m, &i, &j, &done));
  PetscCall(MatSeqAIJRestoreArray(A, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The factors in the type of a contender; A^T A takes the matrix twice */
static PetscErrorCode ContenderFactorsOfPair(Contender c, Case *k, const Pair *p)
{
  const Mat plain[2] = {p->left, p->right};

  PetscFunctionBegin;
  if (c->pair[0] && c->kind == k->kind) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ContenderDestroyPair(c));
  c->kind     = k->kind;
  c->pairsign = 1;
  if (k->kind == PAIR_UNSORTED) {
    PetscCall(MatDuplicate(c->A, MAT_COPY_VALUES, &c->pair[0]));
    PetscCall(PairReverse(c->pair[0]));
    PetscCall(PetscObjectReference((PetscObject)c->pair[0]));
    c->pair[1] = c->pair[0];
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (int f = 0; f < 2; f++) {
    if (k->kind == PAIR_ATA || plain[f] == k->A) {
      PetscCall(PetscObjectReference((PetscObject)c->A));
      c->pair[f] = c->A;
    } else PetscCall(MatConvert(plain[f], c->type, MAT_INITIAL_MATRIX, &c->pair[f]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PairOnce(Contender c, Case *k, PetscLogDouble *seconds)
{
  PetscLogDouble t0, t1;
  Pair          *p;

  PetscFunctionBegin;
  PetscCall(PairGet(k, &p));
  PetscCall(ContenderFactorsOfPair(c, k, p));
  PetscCall(MatDestroy(&c->pair[2]));
  PetscCall(ContenderTime(c, NULL, &t0));
  PetscCall(ContenderProduct(c, k->kind == PAIR_ATA ? MATPRODUCT_AtB : MATPRODUCT_AB, c->pair[0], c->pair[1], &c->pair[2]));
  PetscCall(ContenderTime(c, NULL, &t1));
  *seconds = t1 - t0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values of the product that is there. The second factor, which is not that of the case, changes its sign, so that a product that kept its values is wrong. */
PetscErrorCode PairAgain(Contender c, Case *k, PetscLogDouble *seconds)
{
  PetscLogDouble t0, t1;

  PetscFunctionBegin;
  if (!c->pair[2] || c->kind != k->kind) PetscCall(PairOnce(c, k, seconds));
  PetscCall(MatScale(c->pair[1], -1.0));
  c->pairsign = -c->pairsign;
  PetscCall(ContenderTime(c, NULL, &t0));
  PetscCall(MatProductNumeric(c->pair[2]));
  PetscCall(ContenderTime(c, NULL, &t1));
  *seconds = t1 - t0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PairCheck(Contender c, Case *k, PetscReal *error)
{
  Pair *p = &k->pairs[k->kind];
  Vec   x, y;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(c->pair[2], &x, &y));
  PetscCall(VecTransfer(p->x, x));
  PetscCall(MatMult(c->pair[2], x, y));
  PetscCall(VecTransfer(y, p->y));
  PetscCall(VecScale(p->y, c->pairsign));
  PetscCall(ReferenceCheckProduct(&p->rows[0], &p->rows[1], p->x, p->y, error));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PairFlops(Case *k, PetscLogDouble *flops)
{
  Pair *p = &k->pairs[k->kind];

  PetscFunctionBegin;
  if (!p->products) PetscCall(ReferenceCountProducts(PetscObjectComm((PetscObject)k->A), &p->rows[0], &p->rows[1], &p->products));
  *flops = 2.0 * p->products;
  PetscFunctionReturn(PETSC_SUCCESS);
}
