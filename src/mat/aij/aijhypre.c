/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Conversion of an AIJ or AIJCUSPARSE to MATHYPRE by copying the arrays of its blocks: on the device if the values are used there and hypre supports
   it, else on the host.

   PETSc creates a second AIJ beside the MATHYPRE and sets every entry by its coordinates, which one host thread sorts. hypre's structure has the same
   two blocks as an MPIAIJ, each with local column numbers; only the diagonal entry comes first in its row. New values in the same pattern are copied
   the same way. PETSc's own conversion remains for conversions in place, and for a matrix of which a process has no rows or columns; new values in
   its results are PETSc's too.
*/
#include "mat/aij/aij.h"

#if defined(PETSCAMB_HAVE_HYPRE)
  #include <petscmathypre.h>

  #include "sys/syscopy.h"
  #include "sys/systhreads.h"

  #define MAT_AIJ_HYPRE "MatAIJHYPRE" /* marks a MATHYPRE of this file; the container holds the communicator of hypre's matrix */

typedef PetscErrorCode (*MatConvertFunction)(Mat, MatType, MatReuse, Mat *);

static MatConvertFunction convert_petsc = NULL; /* the conversion of PETSc from AIJ, and from AIJCUSPARSE */

typedef struct {
  MPI_Comm owner, comm;
} MatAIJHYPRE;

/* hypre reports errors in a flag that its functions return */
static PetscErrorCode MatAIJHYPRECheck(HYPRE_Int error)
{
  char text[256] = "";

  PetscFunctionBegin;
  if (error) HYPRE_DescribeError(error, text);
  PetscCheck(!error, PETSC_COMM_SELF, PETSC_ERR_LIB, "hypre: error %d: %s", (int)error, text);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns PETSC_TRUE if hypre can copy the arrays of a block on the device */
static PetscBool MatAIJHYPREOnDevice(Mat block)
{
  #if defined(HYPRE_USING_CUDA)
  return MatAIJValuesOnDevice(block);
  #else
  return PETSC_FALSE;
  #endif
}

/* Copies block k, or only its values, into a block of hypre's matrix. If the block has moved between host and device the values cross the bus. */
static PetscErrorCode MatAIJHYPRECopy(Mat block, int k, hypre_CSRMatrix *to, PetscBool pattern)
{
  const PetscBool device = (PetscBool)(hypre_CSRMatrixMemoryLocation(to) != HYPRE_MEMORY_HOST);
  SysInt         *i = pattern ? (SysInt *)hypre_CSRMatrixI(to) : NULL, *j = pattern ? (SysInt *)hypre_CSRMatrixJ(to) : NULL;
  SysScalar      *a = (SysScalar *)hypre_CSRMatrixData(to), *values;
  SysCSR          csr;

  PetscFunctionBegin;
  PetscCall(MatAIJGetPattern(block, &csr));
  if (!csr.nz) PetscFunctionReturn(PETSC_SUCCESS);
  if (device && MatAIJHYPREOnDevice(block)) {
    PetscCall(MatAIJDeviceGetArrays(block, &csr));
    PetscCheck(SysCopyDevice(&csr, k == 0, i, j, a) == SYS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_GPU, "The copy of a matrix for hypre on the GPU: %s", SysDeviceErrorText());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatAIJGetArrays(block, &csr));
  if (!device) {
    SysCopy(&csr, k == 0, i, j, a, MatAIJThreads((PetscInt)csr.nz));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc1(csr.nz, &values));
  SysCopy(&csr, k == 0, NULL, NULL, values, MatAIJThreads((PetscInt)csr.nz));
  hypre_TMemcpy(a, values, HYPRE_Complex, csr.nz, HYPRE_MEMORY_DEVICE, HYPRE_MEMORY_HOST);
  PetscCall(PetscFree(values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatAIJHYPREDestroy(PetscAMBCtxArgument arg)
{
  MatAIJHYPRE *h = (MatAIJHYPRE *)PetscAMBCtxGet(arg);

  PetscFunctionBegin;
  PetscCall(PetscCommRestoreComm(h->owner, &h->comm));
  PetscCall(PetscCommDestroy(&h->owner));
  PetscCall(PetscFree(h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets a communicator for hypre's matrix on which PETSc sends nothing, as PETSc does. The container restores it after the matrix's destruction. */
static PetscErrorCode MatAIJHYPRECompose_Comm(Mat B, hypre_ParCSRMatrix *parcsr)
{
  MatAIJHYPRE *h;

  PetscFunctionBegin;
  PetscCall(PetscNew(&h));
  PetscCall(PetscCommDuplicate(PetscObjectComm((PetscObject)B), &h->owner, NULL));
  PetscCall(PetscCommGetComm(h->owner, &h->comm));
  hypre_ParCSRMatrixComm(parcsr) = h->comm;
  PetscCall(PetscAMBObjectContainerCompose((PetscObject)B, MAT_AIJ_HYPRE, h, MatAIJHYPREDestroy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets *supported if every process has rows and columns; otherwise MatCreateFromParCSR() of 3.18 creates a matrix of wrong sizes */
static PetscErrorCode MatAIJHYPRECheckSizes(Mat A, PetscBool *supported)
{
  PetscMPIInt size;

  PetscFunctionBegin;
  *supported = PETSC_TRUE;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  for (PetscMPIInt k = 0; k < size; k++) {
    if (A->rmap->range[k] == A->rmap->range[k + 1] || A->cmap->range[k] == A->cmap->range[k + 1]) *supported = PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatAIJHYPRECreate(Mat A, Mat *B)
{
  Mat                  block[2], first;
  const PetscInt      *garray;
  hypre_ParCSRMatrix  *parcsr;
  hypre_CSRMatrix     *to[2];
  SysCSR               csr[2] = {{0}};
  HYPRE_MemoryLocation where;
  HYPRE_BigInt         rows[2], columns[2];

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_SELF, &first)); /* the constructor of MATHYPRE initializes hypre, once */
  PetscCall(MatSetType(first, MATHYPRE));
  PetscCall(MatDestroy(&first));
  PetscCall(MatAIJGetBlocks(A, block, &garray));
  where = MatAIJHYPREOnDevice(block[0]) ? HYPRE_MEMORY_DEVICE : HYPRE_MEMORY_HOST;
  #if defined(PETSC_HAVE_HYPRE_DEVICE)
  PetscCall(MatAIJHYPRECheck(HYPRE_SetMemoryLocation(where))); /* sets the memory of the MATHYPRE and of the vectors of PCHYPRE */
  #endif
  for (int k = 0; k < 2 && block[k]; k++) PetscCall(MatAIJGetPattern(block[k], &csr[k]));
  rows[0]    = A->rmap->rstart;
  rows[1]    = A->rmap->rend;
  columns[0] = A->cmap->rstart;
  columns[1] = A->cmap->rend;
  parcsr     = hypre_ParCSRMatrixCreate(PetscObjectComm((PetscObject)A), A->rmap->N, A->cmap->N, rows, columns, (HYPRE_Int)csr[1].n, (HYPRE_Int)csr[0].nz, (HYPRE_Int)csr[1].nz);
  PetscCall(MatAIJHYPRECheck(hypre_ParCSRMatrixInitialize_v2(parcsr, where)));
  to[0] = hypre_ParCSRMatrixDiag(parcsr);
  to[1] = hypre_ParCSRMatrixOffd(parcsr);
  for (int k = 0; k < 2; k++) {
    if (block[k]) PetscCall(MatAIJHYPRECopy(block[k], k, to[k], PETSC_TRUE));
    PetscCall(MatAIJHYPRECheck(hypre_CSRMatrixSetRownnz(to[k])));
  }
  for (PetscInt k = 0; k < csr[1].n; k++) hypre_ParCSRMatrixColMapOffd(parcsr)[k] = garray[k];
  PetscCall(MatAIJHYPRECheck(hypre_ParCSRMatrixSetNumNonzeros(parcsr)));
  PetscCall(MatCreateFromParCSR(parcsr, MATHYPRE, PETSC_OWN_POINTER, B));
  #if defined(PETSC_HAVE_DEVICE)
  (*B)->boundtocpu = (PetscBool)(where == HYPRE_MEMORY_HOST);
  #endif
  PetscCall(MatAIJHYPRECompose_Comm(*B, parcsr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatAXPY() of PETSc 3.26 changes a matrix's pattern without a new nonzero state, and PCHYPRE then reuses the old MATHYPRE; this function creates a
   new one in that case */
static PetscErrorCode MatConvert_AIJ_HYPRE_AMB(Mat A, MatType type, MatReuse reuse, Mat *B)
{
  hypre_ParCSRMatrix *parcsr;
  const PetscInt     *garray;
  PetscObject         mark = NULL;
  Mat                 block[2], C;
  hypre_CSRMatrix    *to[2];
  SysCSR              csr;
  int                 other = 0;
  PetscBool           supported;

  PetscFunctionBegin;
  if (reuse == MAT_INITIAL_MATRIX) {
    PetscCall(MatAIJHYPRECheckSizes(A, &supported));
    if (supported) PetscCall(MatAIJHYPRECreate(A, B));
    else PetscCall((*convert_petsc)(A, type, reuse, B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (reuse == MAT_REUSE_MATRIX) PetscCall(PetscObjectQuery((PetscObject)*B, MAT_AIJ_HYPRE, &mark));
  if (!mark) {
    PetscCall((*convert_petsc)(A, type, reuse, B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(A->rmap->n == (*B)->rmap->n && A->cmap->n == (*B)->cmap->n, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "MAT_REUSE_MATRIX with a matrix of %" PetscInt_FMT " local rows and %" PetscInt_FMT " columns for one of %" PetscInt_FMT " and %" PetscInt_FMT,
             (*B)->rmap->n, (*B)->cmap->n, A->rmap->n, A->cmap->n);
  PetscCall(MatHYPREGetParCSR(*B, &parcsr));
  PetscCall(MatAIJGetBlocks(A, block, &garray));
  to[0] = hypre_ParCSRMatrixDiag(parcsr);
  to[1] = hypre_ParCSRMatrixOffd(parcsr);
  for (int k = 0; k < 2 && block[k]; k++) {
    PetscCall(MatAIJGetPattern(block[k], &csr));
    if (csr.nz != hypre_CSRMatrixNumNonzeros(to[k]) || (k && csr.n != hypre_CSRMatrixNumCols(to[k]))) other = 1;
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &other, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)A)));
  if (other) {
    PetscCall(MatAIJHYPRECreate(A, &C));
    PetscCall(MatHeaderReplace(*B, &C));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (int k = 0; k < 2 && block[k]; k++) PetscCall(MatAIJHYPRECopy(block[k], k, to[k], PETSC_FALSE));
  PetscCall(PetscObjectStateIncrease((PetscObject)*B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* add PETSC_FALSE: the matrix keeps its type. PETSc has no conversion for complex numbers unless hypre supports them. */
PetscErrorCode MatAIJHYPRECompose(Mat A, PetscBool seq, PetscBool add)
{
  MatConvertFunction f = NULL;
  char               name[128];

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)A, seq ? "MatConvert_seqaij_hypre_C" : "MatConvert_mpiaij_hypre_C", &f));
  if (!f) PetscFunctionReturn(PETSC_SUCCESS);
  if (f != MatConvert_AIJ_HYPRE_AMB) convert_petsc = f;
  PetscCall(PetscSNPrintf(name, sizeof(name), "MatConvert_%s_hypre_C", ((PetscObject)A)->type_name));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, name, add ? MatConvert_AIJ_HYPRE_AMB : convert_petsc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#else

PetscErrorCode MatAIJHYPRECompose(Mat A, PetscBool seq, PetscBool add)
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
