/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Assembly of the matrix from coordinates: of its blocks in the types of petsc-amb, of its entries in the others. Values are on the side of the matrix.
*/
#include <petsc/private/matimpl.h>

#include "bench.h"

/* The rows of this process by blocks of rbs x cbs. With v NULL only *n is set: i, j and v have room for *n blocks otherwise. */
static PetscErrorCode AssembleList(const Rows *rows, PetscInt rbs, PetscInt cbs, PetscInt *n, PetscInt i[], PetscInt j[], PetscScalar v[])
{
  PetscInt *last, count = 0; /* the last block of each block column */

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(rows->N / cbs, &last));
  for (PetscInt c = 0; c < rows->N / cbs; c++) last[c] = -1;
  for (PetscInt r = 0, begin = 0; r < rows->m; r++) {
    if (r % rbs == 0) begin = count;
    for (PetscInt k = rows->i[r]; k < rows->i[r + 1]; k++) {
      const PetscInt c = rows->j[k] / cbs;

      if (last[c] < begin) {
        last[c] = count;
        if (v) {
          i[count] = (rows->rstart + r) / rbs;
          j[count] = c;
          PetscCall(PetscArrayzero(v + count * rbs * cbs, rbs * cbs));
        }
        count++;
      }
      if (v) v[last[c] * rbs * cbs + r % rbs * cbs + rows->j[k] % cbs] = rows->a[k];
    }
  }
  *n = count;
  PetscCall(PetscFree(last));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A vector of n numbers on the side of the contender's matrix */
static PetscErrorCode AssembleVec(Contender c, PetscInt n, Vec *v)
{
  VecType type;
  Vec     like;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(c->A, &like, NULL));
  PetscCall(VecGetType(like, &type));
  PetscCall(VecCreate(PetscObjectComm((PetscObject)c->A), v));
  PetscCall(VecSetSizes(*v, n, PETSC_DETERMINE));
  PetscCall(VecSetType(*v, type));
  PetscCall(VecDestroy(&like));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ContenderAssemble(Contender c, Case *k, PetscBool again, PetscLogDouble *seconds)
{
  const PetscScalar *values;
  PetscLogDouble     t0 = 0, t1 = 0;
  PetscInt           rbs = 1, cbs = 1, n = 0, *i, *j;
  PetscScalar       *v;
  Vec                store;

  PetscFunctionBegin;
  if (c->shadow) PetscCall(MatGetBlockSizes(k->A, &rbs, &cbs));
  PetscCall(AssembleList(&k->rows, rbs, cbs, &n, NULL, NULL, NULL));
  PetscCall(PetscMalloc2(n, &i, n, &j));
  PetscCall(AssembleVec(c, n * rbs * cbs, &store));
  PetscCall(VecGetArrayWrite(store, &v));
  PetscCall(AssembleList(&k->rows, rbs, cbs, &n, i, j, v));
  PetscCall(VecRestoreArrayWrite(store, &v));
  PetscCall(VecGetArrayReadAndMemType(store, &values, NULL)); /* on the GPU now */
  PetscCall(MatDestroy(&c->fresh));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)k->A), &c->fresh));
  PetscCall(MatSetLayouts(c->fresh, k->A->rmap, k->A->cmap));
  if (c->prefix[0]) PetscCall(MatSetOptionsPrefix(c->fresh, c->prefix));
  PetscCall(MatSetType(c->fresh, c->type));
  c->sign = 1.0;
  for (int round = 0; round < (again ? 2 : 1); round++) {
    PetscCall(ContenderTime(c, NULL, &t0));
    if (!round) PetscCall(c->shadow ? MatSetPreallocationBlockCOO(c->fresh, n, i, j) : MatSetPreallocationCOO(c->fresh, n, i, j));
    PetscCall(c->shadow ? MatSetValuesBlockCOO(c->fresh, values, INSERT_VALUES) : MatSetValuesCOO(c->fresh, values, INSERT_VALUES));
    PetscCall(ContenderTime(c, NULL, &t1));
  }
  *seconds = t1 - t0;
  PetscCall(VecRestoreArrayReadAndMemType(store, &values));
  PetscCall(VecDestroy(&store));
  PetscCall(PetscFree2(i, j));
  PetscFunctionReturn(PETSC_SUCCESS);
}
