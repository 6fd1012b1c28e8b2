/* SPDX-License-Identifier: BSD-2-Clause */
#include "mat/aij/aij.h"
#include "mat/order/host/orderhost.h"

/*MC
   MATORDERINGAMBCOLOR - "ambcolor" - an ordering for incomplete factors with few levels

   Level: intermediate

   Options Database Key:
. -pc_factor_mat_ordering_type ambcolor - `PCILU` and `PCICC` order by colours, with the factors of any package

   Notes:
   Blocks of some 64 neighbouring rows get colours, blocks that depend on one another different ones. Rows are ordered by colour, then by block, and within a block as
   they are in the matrix. Rows of a node, as `MatSetBlockSize()` says, stay together. For a large symmetric matrix on a GPU, without lines of strong entries, single nodes get colours.

   The triangles of a factor without fill have as many levels as the colours times the longest chain in a block, a hundred or so on any grid, where the natural order has
   as many as the grid has rows along its edges; with single nodes as many as colours. A solve on a GPU takes that much less time. Solvers need more iterations than with the natural
   order: docs/preconditioners.md has their numbers.

   Example:
.vb
   bin/solve -f matrix.mtx -mat_type amb -ksp_type cg -pc_type icc -pc_factor_mat_ordering_type ambcolor
.ve

.seealso: `MATSOLVERAMB`, `MATAMB`
M*/
static PetscErrorCode MatGetOrdering_AMBColor(Mat A, MatOrderingType type, IS *rows, IS *cols)
{
  SysCSR    csr = {0};
  PetscInt *perm, n, bs      = 1;
  PetscBool aij, nodes, done = PETSC_TRUE;
  SysStatus status;
  int64_t   colours;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQAIJ, &aij));
  if (aij) {
    PetscCall(MatAIJGetArrays(A, &csr));
    PetscCall(MatGetBlockSize(A, &bs));
  } else {
    PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_TRUE, &n, &csr.i, &csr.j, &done));
    PetscCheck(done, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "MATORDERINGAMBCOLOR: a matrix of type %s has no rows to color; use -pc_factor_mat_ordering_type natural", ((PetscObject)A)->type_name);
    csr.m = n;
  }
  PetscCall(PetscMalloc1(csr.m, &perm));
  nodes  = (PetscBool)(MatAIJValuesOnDevice(A) && csr.m >= ORDER_NODES_ROWS);
  status = OrderColour(&csr, bs, ORDER_ROWS, nodes, perm, &colours);
  if (!aij) PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_TRUE, &n, &csr.i, &csr.j, &done));
  if (status != SYS_SUCCESS) PetscCall(PetscFree(perm));
  PetscCheck(status == SYS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_MEM, "MATORDERINGAMBCOLOR: memory is short; use -pc_factor_mat_ordering_type natural");
  PetscCall(PetscInfo(A, "Ordering by %d colors\n", (int)colours));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, (PetscInt)csr.m, perm, PETSC_OWN_POINTER, rows));
  PetscCall(ISDuplicate(*rows, cols)); /* PCILU destroys one of them if both are the same */
  PetscFunctionReturn(PETSC_SUCCESS);
}

extern PetscErrorCode OrderRegister(void);
PetscErrorCode        OrderRegister(void)
{
  PetscFunctionBegin;
  PetscCall(MatOrderingRegister(MATORDERINGAMBCOLOR, MatGetOrdering_AMBColor));
  PetscFunctionReturn(PETSC_SUCCESS);
}
