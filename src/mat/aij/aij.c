/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Operations, pattern, arrays and blocks of an AIJ on the host. PETSc does not export the operations of its types: MatAIJSetUp() reads them from matrices that it creates
   and destroys, before any other type is registered under the names of AIJ.
*/
#include <petscsf.h>

#include "mat/aij/aij.h"

struct _MatOps MatAIJBaseSeq, MatAIJBaseMPI;
#if defined(SYS_HAVE_DEVICE)
const MatAIJDeferredAccess *MatAIJDeferredFunctions = NULL;
#endif

PetscErrorCode MatAIJCreateEmpty(PetscErrorCode (*create)(Mat), Mat *A)
{
  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetOptionsPrefix(*A, "mat_shadow_base_")); /* or -mat_seqaij_type would make it a subtype */
  PetscCall(MatSetSizes(*A, 1, 1, 1, 1));
  PetscCall((*create)(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAIJGetOperations(PetscErrorCode (*create)(Mat), struct _MatOps *ops)
{
  Mat A;

  PetscFunctionBegin;
  PetscCall(MatAIJCreateEmpty(create, &A));
  *ops = *A->ops;
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAIJSetUp(void)
{
  PetscErrorCode (*seq)(Mat), (*mpi)(Mat);

  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(MatList, MATSEQAIJ, &seq));
  PetscCall(PetscFunctionListFind(MatList, MATMPIAIJ, &mpi));
  PetscCall(MatAIJGetOperations(seq, &MatAIJBaseSeq));
  PetscCall(MatAIJGetOperations(mpi, &MatAIJBaseMPI));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool MatAIJIsCUSPARSE(Mat A)
{
  const char *type = ((PetscObject)A)->type_name;

  return (PetscBool)(type && (strcmp(type, MATSEQAIJCUSPARSE) == 0 || strcmp(type, MATMPIAIJCUSPARSE) == 0 || MatAIJIsDeferred(A)));
}

MatType MatAIJCompleteType(MatType type)
{
#if defined(SYS_HAVE_DEVICE)
  if (strcmp(type, MAT_AIJ_DEFERRED_SEQ) == 0) return MATSEQAIJCUSPARSE;
  if (strcmp(type, MAT_AIJ_DEFERRED_MPI) == 0) return MATMPIAIJCUSPARSE;
#endif
  return type;
}

const struct _MatOps *MatAIJGetBase(Mat A)
{
  const PetscBool seq = (PetscBool)(strncmp(((PetscObject)A)->type_name, MATSEQAIJ, strlen(MATSEQAIJ)) == 0);

  if (MatAIJIsCUSPARSE(A)) return MatAIJGetBaseCUSPARSE(seq);
  return seq ? &MatAIJBaseSeq : &MatAIJBaseMPI;
}

PetscErrorCode MatAIJGetPattern(Mat A, SysCSR *csr)
{
  PetscInt  m;
  PetscBool done;

  PetscFunctionBegin;
#if defined(SYS_HAVE_DEVICE)
  if (MatAIJIsDeferred(A)) {
    PetscCall((*MatAIJDeferredFunctions->getpattern)(A, csr));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  csr->m = A->rmap->n;
  csr->n = A->cmap->n;
  csr->i = csr->j = NULL;
  csr->a          = NULL;
  PetscCall((*MatAIJBaseSeq.getrowij)(A, 0, PETSC_FALSE, PETSC_FALSE, &m, &csr->i, &csr->j, &done)); /* copies nothing, and needs no restoring */
  csr->nz = csr->i ? csr->i[csr->m] : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAIJGetSizes(Mat A, SysCSR *csr)
{
  PetscFunctionBegin;
#if defined(SYS_HAVE_DEVICE)
  if (MatAIJIsDeferred(A)) {
    PetscCall((*MatAIJDeferredFunctions->getdevice)(A, csr));
    csr->i = csr->j = NULL;
    csr->a          = NULL;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(MatAIJGetPattern(A, csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAIJGetArrays(Mat A, SysCSR *csr)
{
  const PetscScalar *a;

  PetscFunctionBegin;
#if defined(SYS_HAVE_DEVICE)
  if (MatAIJIsDeferred(A)) PetscCall((*MatAIJDeferredFunctions->complete)(A));
#endif
  PetscCall(MatAIJGetPattern(A, csr));
  PetscCall(MatSeqAIJGetArrayRead(A, &a));
  csr->a = a;
  PetscCall(MatSeqAIJRestoreArrayRead(A, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAIJGetBlocks(Mat A, Mat block[2], const PetscInt **garray)
{
  PetscBool mpi;

  PetscFunctionBegin;
  block[0] = A;
  block[1] = NULL;
  *garray  = NULL;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  if (mpi) PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], garray));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAIJGetScatter(Mat A, PetscSF *sf)
{
  PetscErrorCode (*get)(Mat, PetscSF *);
  const PetscInt *garray;
  PetscInt        nroot, nleaf = -1;
  PetscBool       basic   = PETSC_FALSE;
  PetscSF         scatter = NULL;
  Mat             d, o;

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)A, "MatGetMultPetscSF_C", &get));
  if (get) PetscCall((*get)(A, &scatter));
  if (scatter) PetscCall(PetscObjectTypeCompare((PetscObject)scatter, PETSCSFBASIC, &basic));
  if (basic) {
    PetscCall(PetscObjectReference((PetscObject)scatter));
    *sf = scatter;
  } else {
    PetscCall(MatMPIAIJGetSeqAIJ(A, &d, &o, &garray));
    PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)A), sf));
    PetscCall(PetscSFSetGraphLayout(*sf, A->cmap, o->cmap->n, NULL, PETSC_COPY_VALUES, garray));
    PetscCall(PetscSFSetUp(*sf));
  }
  if (PetscDefined(USE_DEBUG)) {
    PetscCall(MatMPIAIJGetSeqAIJ(A, &d, &o, &garray));
    PetscCall(PetscSFGetGraph(*sf, &nroot, &nleaf, NULL, NULL));
    PetscAssert(nroot == A->cmap->n && nleaf == o->cmap->n, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The star forest of PETSc's products has other sizes");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
