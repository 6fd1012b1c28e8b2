/* SPDX-License-Identifier: BSD-2-Clause */
#include <petsc/private/pcimpl.h>
#include <petscksp.h>

#include "sys/syscompat.h"
#include <petscamb.h>

#define ROWS_MOST 8192 /* most rows: the inverse has 512 MiB then, and its computation takes about ten seconds */

typedef struct {
  Mat inverse;
} PCAMBInverse;

static PetscErrorCode PCReset_AMBInverse(PC pc)
{
  PCAMBInverse *ctx = (PCAMBInverse *)pc->data;

  PetscFunctionBegin;
  PetscCall(MatDestroy(&ctx->inverse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDestroy_AMBInverse(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCReset_AMBInverse(pc));
  PetscCall(PetscFree(pc->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Factors the matrix and computes its inverse on the host */
static PetscErrorCode PCAMBInverseMake(Mat P, Mat *inverse)
{
  IS            rows, cols;
  MatFactorInfo info;
  Mat           factors, identity;

  PetscFunctionBegin;
  PetscCall(MatConvert(P, MATSEQDENSE, MAT_INITIAL_MATRIX, &factors));
  PetscCall(MatDuplicate(factors, MAT_DO_NOT_COPY_VALUES, &identity));
  PetscCall(MatZeroEntries(identity));
  PetscCall(MatShift(identity, 1.0));
  PetscCall(MatDuplicate(identity, MAT_DO_NOT_COPY_VALUES, inverse));
  PetscCall(MatGetOrdering(factors, MATORDERINGNATURAL, &rows, &cols));
  PetscCall(MatFactorInfoInitialize(&info));
  PetscCall(MatLUFactor(factors, rows, cols, &info));
  PetscCall(MatMatSolve(factors, identity, *inverse));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&cols));
  PetscCall(MatDestroy(&identity));
  PetscCall(MatDestroy(&factors));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_AMBInverse(PC pc)
{
  PCAMBInverse *ctx = (PCAMBInverse *)pc->data;
  PetscMPIInt   nproc;
  PetscInt      m, n;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &nproc));
  PetscCheck(nproc == 1, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, "PCAMBINVERSE inverts matrices of one process, not of %d; use it for the blocks of PCBJACOBI or for PCREDUNDANT", (int)nproc);
  PetscCall(MatGetSize(pc->pmat, &m, &n));
  PetscCheck(m == n, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "PCAMBINVERSE: a matrix of %" PetscInt_FMT " rows and %" PetscInt_FMT " columns has no inverse", m, n);
  PetscCheck(n <= ROWS_MOST, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "PCAMBINVERSE: the inverse of a matrix of %" PetscInt_FMT " rows is too large, %d rows are allowed; use PCLU", n, ROWS_MOST);
  PetscCall(MatDestroy(&ctx->inverse));
  PetscCall(PCAMBInverseMake(pc->pmat, &ctx->inverse));
#if defined(PETSC_HAVE_CUDA)
  {
    PetscBool cuda;
    Vec       x;

    PetscCall(MatCreateVecs(pc->pmat, &x, NULL));
    PetscCall(PetscObjectTypeCompare((PetscObject)x, VECSEQCUDA, &cuda));
    PetscCall(VecDestroy(&x));
    if (cuda) PetscCall(MatConvert(ctx->inverse, MATSEQDENSECUDA, MAT_INPLACE_MATRIX, &ctx->inverse));
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApply_AMBInverse(PC pc, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(MatMult(((PCAMBInverse *)pc->data)->inverse, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApplyTranspose_AMBInverse(PC pc, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(MatMultTranspose(((PCAMBInverse *)pc->data)->inverse, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   PCAMBINVERSE - "ambinverse" - the inverse of a small matrix, as a dense matrix on the side of the vectors

   Level: intermediate

   Notes:
   An application is one dense product. On a GPU it is queued like any other product, while `PCLU` solves small systems on the host: the host waits for the residual,
   and the device for the solution. This is meant for the coarsest level of multigrid, on which hardly anything is computed.

   Set-up factors a dense matrix, on the host: n^3 multiplications and n^2 numbers for n rows, of which there may be 8,192.

   The matrix must be regular and belong to one process. Errors of solutions exceed the errors with `PCLU` by up to the condition number of the matrix.

   Errors:
+  `PETSC_ERR_SUP`            - the matrix belongs to several processes
.  `PETSC_ERR_ARG_SIZ`        - the matrix is not square
-  `PETSC_ERR_ARG_OUTOFRANGE` - the matrix has more than 8,192 rows

   Example:
.vb
   bin/solve -f matrix.mtx -mat_type amb -pc_type gamg -mg_coarse_sub_pc_type ambinverse
.ve

.seealso: `PCLU`, `PCGAMG`, `KSPAMBCHEBYSHEV`
M*/
static PetscErrorCode PCCreate_AMBInverse(PC pc)
{
  PCAMBInverse *ctx;

  PetscFunctionBegin;
  PetscCall(PetscNew(&ctx));
  pc->data                = ctx;
  pc->ops->setup          = PCSetUp_AMBInverse;
  pc->ops->apply          = PCApply_AMBInverse;
  pc->ops->applytranspose = PCApplyTranspose_AMBInverse;
  pc->ops->reset          = PCReset_AMBInverse;
  pc->ops->destroy        = PCDestroy_AMBInverse;
  PetscFunctionReturn(PETSC_SUCCESS);
}

extern PetscErrorCode AmbInverseRegister(void);
PetscErrorCode        AmbInverseRegister(void)
{
  PetscFunctionBegin;
  PetscCall(PCRegister(PCAMBINVERSE, PCCreate_AMBInverse));
  PetscFunctionReturn(PETSC_SUCCESS);
}
