/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The group of the factors of all blocks of a process, on its GPU, and new values of the blocks
*/
#include <petscdevice_cuda.h>
#include <petsc/private/pcasmimpl.h>

#include "vec/ambvec/ambvec.h"
#include "ksp/pc/impls/blocks/glue/pcblocks.h"

static PetscErrorCode PCBlocksCheck(SysStatus status, const char **why)
{
  PetscFunctionBegin;
  PetscCheck(status != SYS_ERROR, PETSC_COMM_SELF, PETSC_ERR_GPU, "Solves for blocks on the GPU: %s", SysDeviceErrorText());
  if (status != SYS_SUCCESS) *why = status == SYS_TOO_LARGE ? "all factors together are too large for the GPU's integers" : "memory on the GPU is short";
  PetscFunctionReturn(PETSC_SUCCESS);
}

void PCBlocksResetDevice(PCBlocks *c)
{
  FactorSubMatricesDestroy(&c->blocks);
  FactorGroupDestroy(&c->group);
}

/* ------------------------------------------------- values of blocks ------------------------------------------------- */

/* The PC whose set-up runs, its matrix on this process, and that matrix's own operation */
static struct {
  PCBlocks *c;
  Mat       A;
  PetscErrorCode (*create)(Mat, PetscInt, const IS[], const IS[], MatReuse, Mat *[]);
} setup;

static PetscErrorCode PCBlocksCreateBlocks(PCBlocks *c, PetscInt n, const IS is[], const char **why)
{
  const PetscInt **index;
  int64_t         *size;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(n, &index, n, &size));
  for (PetscInt k = 0; k < n; k++) {
    PetscInt m;

    PetscCall(ISGetLocalSize(is[k], &m));
    PetscCall(ISGetIndices(is[k], &index[k]));
    size[k] = m;
  }
  PetscCall(PCBlocksCheck(FactorSubMatricesCreate((int)n, size, index, &c->blocks, PetscDefaultCudaStream), why));
  for (PetscInt k = 0; k < n; k++) PetscCall(ISRestoreIndices(is[k], &index[k]));
  PetscCall(PetscFree2(index, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *done is PETSC_FALSE if PETSc must extract the blocks */
static PetscErrorCode PCBlocksCopyValues(PCBlocks *c, Mat A, PetscInt n, const IS is[], Mat B[], PetscBool *done)
{
  const char   *why     = NULL;
  int           missing = 0;
  PetscScalar **b;
  SysCSR       *csr, from;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  if (!c->blocks) PetscCall(PCBlocksCreateBlocks(c, n, is, &why));
  if (why) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc2(n, &b, n, &csr));
  PetscCall(MatAIJDeviceGetArrays(A, &from));
  for (PetscInt k = 0; k < n; k++) {
    const int *i, *j;

    PetscCall(MatAIJDeviceGetArrays(B[k], &csr[k]));
    PetscCall(MatAIJDeviceGetWrite(B[k], &i, &j, &b[k]));
  }
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(PCBlocksCheck(FactorSubMatricesCopy(c->blocks, &from, csr, b, &missing, PetscDefaultCudaStream), &why));
  PetscCall(PetscLogGpuTimeEnd());
  for (PetscInt k = 0; k < n; k++) PetscCall(MatAIJDeviceRestoreWrite(B[k], &b[k]));
  PetscCall(PetscFree2(b, csr));
  *done = (PetscBool)(!why && !missing);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCreateSubMatrices_Blocks(Mat A, PetscInt n, const IS rows[], const IS cols[], MatReuse reuse, Mat *B[])
{
  PCBlocks *c    = setup.A == A ? setup.c : NULL;
  PetscBool done = PETSC_FALSE, same = (PetscBool)(c && reuse == MAT_REUSE_MATRIX && n > 0);

  PetscFunctionBegin;
  for (PetscInt k = 0; k < n && same; k++) same = (PetscBool)(rows[k] == cols[k] && MatAIJIsCUSPARSE((*B)[k]) && MatAIJValuesOnDevice((*B)[k]) && (*B)[k]->rmap->n);
  if (same) PetscCall(PCBlocksCopyValues(c, A, n, rows, *B, &done));
  else if (c) FactorSubMatricesDestroy(&c->blocks);
  if (!done) PetscCall((*setup.create)(A, n, rows, cols, reuse, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCBlocksSetUpPETSc(PC pc, PCBlocks *c)
{
  const PetscBool first = (PetscBool)!pc->setupcalled;
  PetscErrorCode  error;
  PetscMPIInt     size;
  Mat             A = NULL;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  if (size == 1) A = pc->pmat;
  else if (!c->schwarz && !first) PetscCall(MatGetDiagonalBlock(pc->pmat, &A));
  if (first || setup.A || !A || !MatShadowIsOurs(A) || !MatAIJIsCUSPARSE(A) || !MatAIJValuesOnDevice(A)) {
    FactorSubMatricesDestroy(&c->blocks);
    PetscCall((*c->setup)(pc));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  setup.c                   = c;
  setup.A                   = A;
  setup.create              = A->ops->createsubmatrices;
  A->ops->createsubmatrices = MatCreateSubMatrices_Blocks;
  error                     = (*c->setup)(pc);
  if (A->ops->createsubmatrices == MatCreateSubMatrices_Blocks) A->ops->createsubmatrices = setup.create;
  setup.A = NULL;
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- group ------------------------------------------------- */

static PetscErrorCode PCBlocksCreateGroup(PC pc, PCBlocks *c, PetscInt n, const Mat F[], const char **why)
{
  FactorPair   *pair;
  PetscInt      total = 0, *source, *target;
  MatFactorAMB *f;

  PetscFunctionBegin;
  FactorGroupDestroy(&c->group);
  PetscCall(PetscFree2(c->made, c->state));
  PetscCall(PetscMalloc2(n, &c->made, n, &c->state));
  c->n = n;
  PetscCall(PetscCalloc1(n, &pair));
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(MatFactorAMBGet(F[k], &f));
    FactorPairSet(f, NULL, PETSC_FALSE, &pair[k]);
    c->made[k]  = f->made;
    c->state[k] = -1;
    total += F[k]->rmap->n;
  }
  PetscCall(PetscMalloc2(total, &source, total, &target));
  PetscCall(PCBlocksGetPlaces(pc, c, n, F, source, target, why));
  if (!*why) PetscCall(PCBlocksCheck(FactorGroupCreate((int)n, pair, source, target, &c->group, PetscDefaultCudaStream), why));
  PetscCall(PetscFree2(source, target));
  PetscCall(PetscFree(pair));
  for (PetscInt k = 0; k < n && c->group; k++) { /* the group solves; a solve of one block makes its triangles anew */
    PetscCall(MatFactorAMBGet(F[k], &f));
    FactorDeviceDestroy(&f->pair[0]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCBlocksSetUpDevice(PC pc, PCBlocks *c, PetscInt n, const Mat F[], const char **why)
{
  PetscBool     same = (PetscBool)(c->group && c->n == n), current = PETSC_TRUE;
  MatFactorAMB *f;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < n && same; k++) {
    PetscCall(MatFactorAMBGet(F[k], &f));
    same = (PetscBool)(c->made[k] == f->made);
  }
  if (!same) PetscCall(PCBlocksCreateGroup(pc, c, n, F, why));
  for (PetscInt k = 0; k < n && !*why; k++) {
    PetscObjectState state;

    PetscCall(PetscObjectStateGet((PetscObject)F[k], &state));
    if (state == c->state[k]) continue;
    PetscCall(MatFactorAMBGet(F[k], &f));
    PetscCall(PCBlocksCheck(FactorGroupCopy(c->group, (int)k, FactorMatrixValues(f->matrix), PetscDefaultCudaStream), why));
    c->state[k] = state;
    current     = PETSC_FALSE;
  }
  if (!*why && !current) PetscCall(PCBlocksCheck(FactorGroupUpdate(c->group, PetscDefaultCudaStream), why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves for all blocks; all: every entry of x gets a new value */
static PetscErrorCode PCBlocksSolve(const PCBlocks *c, Vec b, Vec x, PetscBool all)
{
  const FactorDevice device = FactorGroupDevice(c->group);
  const PetscScalar *from;
  PetscScalar       *to;
  SysStatus          status;

  PetscFunctionBegin;
  PetscCall(VecCUDAGetArrayRead(b, &from));
  PetscCall((*(all ? VecCUDAGetArrayWrite : VecCUDAGetArray))(x, &to));
  PetscCall(PetscLogGpuTimeBegin());
  status = FactorDeviceSolve(device, 1, from, 0, to, 0, PetscDefaultCudaStream);
  PetscCall(PetscLogGpuTimeEnd());
  PetscCheck(status == SYS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_GPU, "Solves for blocks on the GPU: %s", SysDeviceErrorText());
  PetscCall((*(all ? VecCUDARestoreArrayWrite : VecCUDARestoreArray))(x, &to));
  PetscCall(VecCUDARestoreArrayRead(b, &from));
  PetscCall(PetscLogGpuFlops(2. * FactorDeviceEntries(device)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As PETSc's PCASM, whose scatters between vectors of the process and of a block are places of the group */
static PetscErrorCode PCBlocksApplySchwarz(PC pc, const PCBlocks *c, Vec b, Vec x)
{
  PC_ASM           *osm     = (PC_ASM *)pc->data;
  const PetscBool   added   = (PetscBool)(osm->type == PC_ASM_BASIC);
  const ScatterMode reverse = added ? SCATTER_REVERSE : SCATTER_REVERSE_LOCAL;

  PetscFunctionBegin;
  PetscCall(VecSet(x, 0.0));
  PetscCall(VecSet(osm->ly, 0.0));
  PetscCall(VecScatterBegin(osm->restriction, b, osm->lx, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(osm->restriction, b, osm->lx, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(PCBlocksSolve(c, osm->lx, added ? c->y : osm->ly, added));
  if (added) {
    PetscCall(VecScatterBegin(c->back, c->y, osm->ly, ADD_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterEnd(c->back, c->y, osm->ly, ADD_VALUES, SCATTER_FORWARD));
  }
  PetscCall(VecScatterBegin(osm->restriction, osm->ly, x, ADD_VALUES, reverse));
  PetscCall(VecScatterEnd(osm->restriction, osm->ly, x, ADD_VALUES, reverse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCBlocksApplyDevice(PC pc, PCBlocks *c, Vec b, Vec x, PetscBool *done)
{
  const PC_ASM *osm  = c->schwarz ? (PC_ASM *)pc->data : NULL;
  const Vec     v[4] = {b, x, osm ? osm->lx : NULL, osm ? osm->ly : NULL};

  PetscFunctionBegin;
  *done = PETSC_TRUE;
  for (int k = 0; k < (osm ? 4 : 2) && *done; k++) PetscCall(VecAMBOnDevice(v[k], done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  if (c->schwarz) PetscCall(PCBlocksApplySchwarz(pc, c, b, x));
  else PetscCall(PCBlocksSolve(c, b, x, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
