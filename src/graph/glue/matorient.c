/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MatGraphOrient(): one direction of each edge of a graph
*/
#include <petscambgraph.h>
#include "graph/glue/graph.h"

/* Returns PETSC_TRUE if the edge from vertex i to vertex j stays */
static inline PetscBool OrientStays(PetscReal ki, PetscInt i, PetscReal kj, PetscInt j)
{
  return (PetscBool)(ki < kj || (ki == kj && i < j));
}

/* Writes the remaining columns of row r in ascending order; j == NULL: only counts them */
static PetscInt OrientRow(Mat A, const GraphRows *rows, PetscInt r, const PetscScalar *own, const PetscScalar *other, const PetscScalar *const a[2], PetscInt *j, PetscScalar *v)
{
  const PetscInt  row = A->rmap->rstart + r, first = A->cmap->rstart;
  const PetscReal key = PetscRealPart(own[r]);
  PetscInt        n = 0, k = rows->block[1] ? rows->csr[1].i[r] : 0;
  const PetscInt  stop = rows->block[1] ? rows->csr[1].i[r + 1] : 0;

  for (int part = 0; part < 3; part++) { /* the columns before this process's, this process's, and those after */
    if (part == 1) {
      for (PetscInt q = rows->csr[0].i[r]; q < rows->csr[0].i[r + 1]; q++) {
        const PetscInt c = rows->csr[0].j[q];

        if (!OrientStays(key, row, PetscRealPart(own[c]), first + c)) continue;
        if (j) {
          j[n] = first + c;
          v[n] = a[0][q];
        }
        n++;
      }
      continue;
    }
    for (; k < stop && (part || rows->garray[rows->csr[1].j[k]] < first); k++) {
      const PetscInt c = rows->csr[1].j[k];

      if (!OrientStays(key, row, PetscRealPart(other[c]), rows->garray[c])) continue;
      if (j) {
        j[n] = rows->garray[c];
        v[n] = a[1][k];
      }
      n++;
    }
  }
  return n;
}

/*@
  MatGraphOrient - copies the entries (i, j) of a square matrix for which vertex i comes before vertex j: its key is smaller, or the keys are equal and i < j

  Collective

  Input Parameters:
+ A   - the matrix, of `MATAIJ` or a type that extends it, with ascending columns in each row
- key - the real parts of its entries are the keys of the vertices; it is distributed as the rows and columns of `A`

  Output Parameter:
. B - the matrix of the entries that stay, with the type and the layouts of `A`

  Level: intermediate

  Notes:
  The result has one direction of each edge of a symmetric `A`, and no loop. With the degrees as keys no row of the result has more than sqrt(2 m) entries, where m is the number
  of edges.

  The entries are chosen on the host.

  Errors:
+ `PETSC_ERR_ARG_WRONGSTATE` - the matrix is not assembled
. `PETSC_ERR_SUP`            - the matrix is not of `MATAIJ` or a type that extends it
- `PETSC_ERR_ARG_SIZ`        - `A` is not square, or `A` and `key` are distributed differently

  Example:
.vb
  PetscCall(MatCreateVecs(A, &ones, &degree)); // all entries of A are 1
  PetscCall(VecSet(ones, 1));
  PetscCall(MatMult(A, ones, degree));
  PetscCall(MatGraphOrient(A, degree, &U));
  PetscCall(MatMatMultMaskSum(U, U, U, &triangles));
.ve

.seealso: `MatMatMultMaskSum()`, `MatCountTriangles()`
@*/
PetscErrorCode MatGraphOrient(Mat A, Vec key, Mat *B)
{
  GraphRows          rows;
  const PetscScalar *own, *a[2] = {NULL, NULL};
  PetscScalar       *other = NULL, *v;
  PetscInt          *i, *j, m = A->rmap->n, n;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscValidHeaderSpecific(key, VEC_CLASSID, 2);
  PetscCall(GraphCheckAIJ(A, "MatGraphOrient()"));
  PetscCall(VecGetLocalSize(key, &n));
  PetscCheck(A->rmap->N == A->cmap->N && m == A->cmap->n && n == m, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "The matrix has %" PetscInt_FMT " local rows of %" PetscInt_FMT " and %" PetscInt_FMT " local columns of %" PetscInt_FMT ", the vector %" PetscInt_FMT " local entries; all must be the same", m,
             A->rmap->N, A->cmap->n, A->cmap->N, n);
  PetscCall(GraphRowsGet(A, &rows));
  PetscCall(VecGetArrayRead(key, &own));
  if (rows.block[1]) {
    PetscSF sf;

    PetscCall(MatAIJGetScatter(A, &sf));
    PetscCall(PetscMalloc1((size_t)rows.csr[1].n, &other));
    PetscCall(PetscSFBcastBegin(sf, MPIU_SCALAR, own, other, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(sf, MPIU_SCALAR, own, other, MPI_REPLACE));
    PetscCall(PetscSFDestroy(&sf));
  }
  for (int k = 0; k < 2 && rows.block[k]; k++) PetscCall(MatSeqAIJGetArrayRead(rows.block[k], &a[k]));
  PetscCall(PetscMalloc1(m + 1, &i));
  i[0] = 0;
  for (PetscInt r = 0; r < m; r++) i[r + 1] = i[r] + OrientRow(A, &rows, r, own, other, a, NULL, NULL);
  PetscCall(PetscMalloc2(i[m], &j, i[m], &v));
  for (PetscInt r = 0; r < m; r++) (void)OrientRow(A, &rows, r, own, other, a, j + i[r], v + i[r]);
  for (int k = 0; k < 2 && rows.block[k]; k++) PetscCall(MatSeqAIJRestoreArrayRead(rows.block[k], &a[k]));
  PetscCall(VecRestoreArrayRead(key, &own));
  PetscCall(PetscFree(other));
  PetscCall(GraphCreateLike(A, i, j, v, B));
  PetscCall(PetscFree2(j, v));
  PetscCall(PetscFree(i));
  PetscFunctionReturn(PETSC_SUCCESS);
}
