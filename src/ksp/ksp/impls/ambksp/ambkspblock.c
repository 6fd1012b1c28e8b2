/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/sysmemory.h"
#include "sys/systhreads.h"
#include "mat/aij/aij.h"
#include "mat/shadow/core/shadow.h"
#include "ksp/ksp/impls/ambksp/ambkspblock.h"

/* ------------------------------------------------- blocks and panels ------------------------------------------------- */

PetscErrorCode KSPBlockCreate(MPI_Comm comm, PetscInt n, PetscInt ncol, KSPBlock *b)
{
  int width;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(b, sizeof(*b)));
  b->kernels = FusedBlockHostKernels();
  b->nthread = SysThreads();
  b->row     = MPI_DATATYPE_NULL;
  b->ncol    = (int)ncol;
  PetscCallMPI(MPI_Comm_size(comm, &b->nproc));
  (void)SpmmPanelColumns(ncol, &width);
  /* blocks of M shorten a block of rows to half at most */
  b->partialbytes = (2 * (size_t)FusedBlockCount(n, width, 1) + 2) * FUSED_SUMS * (size_t)width * sizeof(SysReal);
  b->partial      = SysAllocate(b->partialbytes);
  PetscCheck(b->partial, PETSC_COMM_SELF, PETSC_ERR_MEM, "Not enough memory for the sums of a block of right-hand sides");
  for (int k = 0; k < FUSED_BLOCK_COLUMNS; k++) b->active[k] = (PetscBool)(k < ncol);
  PetscCall(KSPBlockWidth(b, width));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPBlockWidth(KSPBlock *b, int width)
{
  PetscFunctionBegin;
  if (b->row != MPI_DATATYPE_NULL) PetscCallMPI(MPI_Type_free(&b->row));
  b->width = width;
  if (b->nproc > 1) {
    PetscCallMPI(MPI_Type_contiguous(width, MPIU_REAL, &b->row));
    PetscCallMPI(MPI_Type_commit(&b->row));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPBlockDestroy(KSPBlock *b)
{
  PetscFunctionBegin;
  if (b->row != MPI_DATATYPE_NULL) PetscCallMPI(MPI_Type_free(&b->row));
  SysRelease(b->partial, b->partialbytes);
  PetscCall(KSPBlockPanelDestroy(&b->columns));
  PetscCall(PetscMemzero(b, sizeof(*b)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPBlockPanelAllocate(size_t rows, int width, KSPBlockPanel *p)
{
  const size_t bytes = (rows + 1) * (size_t)width * sizeof(SysReal);

  PetscFunctionBegin;
  if (p->bytes >= bytes) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPBlockPanelDestroy(p));
  p->a = SysAllocateZero(bytes); /* columns without a right-hand side may be read */
  PetscCheck(p->a, PETSC_COMM_SELF, PETSC_ERR_MEM, "Not enough memory for a block of %d columns: choose fewer with KSPSetMatSolveBatchSize()", width);
  p->bytes = bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPBlockPanelDestroy(KSPBlockPanel *p)
{
  PetscFunctionBegin;
  if (p->a) SysRelease(p->a, p->bytes);
  PetscCall(PetscMemzero(p, sizeof(*p)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPBlockDenseIsHost(Mat D, PetscBool *host)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)D, host, MATSEQDENSE, MATMPIDENSE, ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- by columns ------------------------------------------------- */

PetscErrorCode KSPBlockColumns(KSPBlock *b, const SysReal *in, SysReal *out, PetscBool load, Vec operand, Vec result, KSPBlockOperation f, void *ctx)
{
  SysReal *columns;
  PetscInt n, m;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(operand, &n));
  PetscCall(VecGetLocalSize(result, &m));
  PetscCall(KSPBlockPanelAllocate((size_t)n + (size_t)m, b->width, &b->columns));
  columns = b->columns.a;
  SpmmUnpack(b->nthread, n, b->width, b->width, in, columns, n);
  columns += (size_t)n * b->width;
  if (load) SpmmUnpack(b->nthread, m, b->width, b->width, out, columns, m);
  else FusedBlockCopy(b->nthread, m, b->width, NULL, columns);
  for (int k = 0; k < b->width; k++) {
    if (!b->active[k]) continue;
    PetscCall(VecPlaceArray(operand, (PetscScalar *)b->columns.a + (size_t)k * n));
    PetscCall(VecPlaceArray(result, (PetscScalar *)columns + (size_t)k * m));
    PetscCall((*f)(ctx, operand, result));
    PetscCall(VecResetArray(operand));
    PetscCall(VecResetArray(result));
  }
  SpmmPack(b->nthread, m, b->width, b->width, columns, m, out);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- matrices ------------------------------------------------- */

/* An AIJ of PETSc's or petsc-amb's products: the program's own and other subtypes multiply by columns */
static PetscErrorCode KSPBlockMatIsPlain(Mat A, PetscBool *plain)
{
  PetscBool seq, mpi;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQAIJ, &seq));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  *plain = (PetscBool)((seq || mpi) && !PetscDefined(USE_COMPLEX) && (MatShadowIsOurs(A) || A->ops->mult == (seq ? MatAIJBaseSeq : MatAIJBaseMPI).mult));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPBlockMatForget(KSPBlockMat *M)
{
  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) SpmmTransposedDestroy(&M->transposed[k]);
  M->id = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The transposed pattern serves until the pattern changes. Each solve copies the values, since it multiplies often. */
static PetscErrorCode KSPBlockMatTranspose(Mat A, KSPBlockMat *M)
{
  PetscObjectState nonzerostate;
  PetscObjectId    id;
  SysStatus        status = SYS_SUCCESS;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetId((PetscObject)A, &id));
  PetscCall(MatGetNonzeroState(A, &nonzerostate));
  if (M->id != id || M->nonzerostate != nonzerostate) {
    PetscCall(KSPBlockMatForget(M));
    for (PetscInt k = 0; k < M->nterm; k++) status = (SysStatus)PetscMax(status, SpmmTranspose(&M->csr[k], &M->transposed[k]));
    PetscCheck(status == SYS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_MEM, "Not enough memory for the transposed pattern of an interpolation");
  }
  for (PetscInt k = 0; k < M->nterm; k++) {
    const SysReal *a = (const SysReal *)M->csr[k].a;

    PetscCall(KSPBlockPanelAllocate((size_t)M->csr[k].nz, 1, &M->values[k]));
    for (int64_t e = 0; e < M->csr[k].nz; e++) M->values[k].a[e] = a[M->transposed[k].position[e]];
  }
  M->id           = id;
  M->nonzerostate = nonzerostate;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPBlockMatEnd(KSPBlockMat *M)
{
  PetscFunctionBegin;
  PetscCall(VecDestroy(&M->in));
  PetscCall(VecDestroy(&M->result));
  PetscCall(PetscSFDestroy(&M->sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPBlockMatBegin(Mat A, PetscBool transpose, KSPBlockMat *M)
{
  const PetscInt *garray;
  Mat             block[2];

  PetscFunctionBegin;
  PetscCall(KSPBlockMatEnd(M));
  M->A = A;
  PetscCall(KSPBlockMatIsPlain(A, &M->plain));
  if (!M->plain) {
    PetscCall(MatCreateVecs(A, &M->in, &M->result));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatAIJGetBlocks(A, block, &garray));
  M->nterm = block[1] ? 2 : 1;
  for (PetscInt k = 0; k < M->nterm; k++) PetscCall(MatAIJGetArrays(block[k], &M->csr[k]));
  if (block[1]) PetscCall(MatAIJGetScatter(A, &M->sf));
  if (transpose) PetscCall(KSPBlockMatTranspose(A, M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPBlockMatDestroy(KSPBlockMat *M)
{
  PetscFunctionBegin;
  PetscCall(KSPBlockMatEnd(M));
  PetscCall(KSPBlockMatForget(M));
  for (int k = 0; k < 2; k++) PetscCall(KSPBlockPanelDestroy(&M->values[k]));
  PetscCall(KSPBlockPanelDestroy(&M->ghost));
  PetscCall(KSPBlockPanelDestroy(&M->product));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPBlockMatMultColumn(void *ctx, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(MatMult((Mat)ctx, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPBlockMatMultTransposeColumn(void *ctx, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(MatMultTranspose((Mat)ctx, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPBlockMatFlops(const KSPBlock *b, const KSPBlockMat *M)
{
  PetscFunctionBegin;
  PetscCall(PetscLogFlops(2.0 * ((double)M->csr[0].nz + (M->nterm > 1 ? (double)M->csr[1].nz : 0.0)) * b->ncol));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPBlockRun(KSPBlock *b, FusedBlockFunction f, FusedBlockPass *pass, SysReal *sums)
{
  PetscFunctionBegin;
  pass->width = b->width;
  FusedBlockRun(b->nthread, NULL, 0, NULL, f, pass, b->partial, sums);
  PetscCall(PetscLogFlops(6.0 * (double)pass->n * b->ncol));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPBlockMatMult(KSPBlock *b, KSPBlockMat *M, const SysReal *x, FusedBlockFunction f, FusedBlockPass *pass, SysReal *sums)
{
  SpmmTerm term[2];

  PetscFunctionBegin;
  pass->width = b->width;
  if (!M->plain) {
    PetscCall(KSPBlockPanelAllocate((size_t)M->A->rmap->n, b->width, &M->product));
    PetscCall(KSPBlockColumns(b, x, M->product.a, PETSC_FALSE, M->in, M->result, KSPBlockMatMultColumn, M->A));
    FusedBlockRun(b->nthread, NULL, 0, M->product.a, f, pass, b->partial, sums);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (M->sf) {
    PetscCall(KSPBlockPanelAllocate((size_t)M->csr[1].n, b->width, &M->ghost));
    PetscCall(PetscSFBcastBegin(M->sf, b->row, x, M->ghost.a, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(M->sf, b->row, x, M->ghost.a, MPI_REPLACE));
  }
  for (PetscInt k = 0; k < M->nterm; k++) term[k] = (SpmmTerm){.i = M->csr[k].i, .j = M->csr[k].j, .a = (const SysReal *)M->csr[k].a, .n = M->csr[k].n, .panel = k ? M->ghost.a : (SysReal *)x};
  FusedBlockRun(b->nthread, term, (int)M->nterm, NULL, f, pass, b->partial, sums);
  PetscCall(KSPBlockMatFlops(b, M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPBlockMatMultTranspose(KSPBlock *b, KSPBlockMat *M, const SysReal *x, SysReal *y)
{
  SpmmTerm term[2];

  PetscFunctionBegin;
  if (!M->plain) {
    PetscCall(KSPBlockColumns(b, x, y, PETSC_FALSE, M->result, M->in, KSPBlockMatMultTransposeColumn, M->A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt k = 0; k < M->nterm; k++) {
    const SpmmTransposed *T = &M->transposed[k];

    term[k] = (SpmmTerm){.i = T->i, .j = T->j, .a = M->values[k].a, .n = M->csr[k].m, .panel = (SysReal *)x};
  }
  if (M->sf) {
    PetscCall(KSPBlockPanelAllocate((size_t)M->csr[1].n, b->width, &M->ghost));
    FusedBlockMult(b->nthread, b->width, M->csr[1].n, &term[1], 1, M->ghost.a);
  }
  FusedBlockMult(b->nthread, b->width, M->csr[0].n, &term[0], 1, y);
  if (M->sf) {
    PetscCall(PetscSFReduceBegin(M->sf, b->row, M->ghost.a, y, MPIU_SUM));
    PetscCall(PetscSFReduceEnd(M->sf, b->row, M->ghost.a, y, MPIU_SUM));
  }
  PetscCall(KSPBlockMatFlops(b, M));
  PetscFunctionReturn(PETSC_SUCCESS);
}
