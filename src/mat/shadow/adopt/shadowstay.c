/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Operations of a matrix on the host that create other matrices on the host
*/
#include "mat/shadow/core/shadow.h"

/* While positive, PETSc is creating sub-matrices or transposes of a host matrix by its type name: they stay on the host too, unless an option says
   otherwise */
static int MatShadowStay = 0;

PetscBool MatShadowStays(void)
{
  return (PetscBool)(MatShadowStay > 0);
}

#if defined(SYS_HAVE_DEVICE)
static PetscErrorCode MatShadowStayed(PetscErrorCode raised)
{
  PetscFunctionBegin;
  MatShadowStay--;
  PetscCall(raised);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCreateSubMatrix_HostShadow(Mat A, IS rows, IS cols, MatReuse reuse, Mat *B)
{
  PetscFunctionBegin;
  MatShadowStay++;
  PetscCall(MatShadowStayed((*MatAIJGetBase(A)->createsubmatrix)(A, rows, cols, reuse, B)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCreateSubMatrices_HostShadow(Mat A, PetscInt n, const IS rows[], const IS cols[], MatReuse reuse, Mat *B[])
{
  PetscFunctionBegin;
  MatShadowStay++;
  PetscCall(MatShadowStayed((*MatAIJGetBase(A)->createsubmatrices)(A, n, rows, cols, reuse, B)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatTranspose_HostShadow(Mat A, MatReuse reuse, Mat *B)
{
  PetscFunctionBegin;
  MatShadowStay++;
  PetscCall(MatShadowStayed((*MatAIJGetBase(A)->transpose)(A, reuse, B)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* Installs the operations of a host matrix that create other matrices, or restores PETSc's */
void MatShadowSetStay(Mat A, PetscBool stay)
{
#if defined(SYS_HAVE_DEVICE)
  const struct _MatOps *base = MatAIJGetBase(A);

  A->ops->createsubmatrix   = stay && base->createsubmatrix ? MatCreateSubMatrix_HostShadow : base->createsubmatrix;
  A->ops->createsubmatrices = stay ? MatCreateSubMatrices_HostShadow : base->createsubmatrices;
  A->ops->transpose         = stay ? MatTranspose_HostShadow : base->transpose;
#endif
}
