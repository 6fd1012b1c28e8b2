/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Operations of a matrix on the host that create other matrices, which stay on the host
*/
#include "mat/shadow/core/shadow.h"

/* PETSc makes sub-matrices and transposed matrices of a matrix on the host now, by the name of its type: they stay on the host too, unless an option says otherwise */
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

/* Sets the operations of a matrix on the host that make other matrices, or PETSc's */
void MatShadowSetStay(Mat A, PetscBool stay)
{
#if defined(SYS_HAVE_DEVICE)
  const struct _MatOps *base = MatAIJGetBase(A);

  A->ops->createsubmatrix   = stay && base->createsubmatrix ? MatCreateSubMatrix_HostShadow : base->createsubmatrix;
  A->ops->createsubmatrices = stay ? MatCreateSubMatrices_HostShadow : base->createsubmatrices;
  A->ops->transpose         = stay ? MatTranspose_HostShadow : base->transpose;
#endif
}
