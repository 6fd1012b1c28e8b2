/* SPDX-License-Identifier: BSD-2-Clause */
/*
   PCBJACOBI and PCASM are PETSc's. If a process has several blocks, and the GPU has made ILU or ICC of each, one solve for a group of factors replaces the solves block by block.

   PCASM gathers the right-hand sides of a process in one vector, which the group reads. With a restricted method the group writes only those entries of a solution that the
   method keeps. With the basic method it writes the solutions one after the other, and a scatter adds them.
*/
#include <petsc/private/pcasmimpl.h>

#include "ksp/pc/impls/blocks/glue/pcblocks.h"

extern PetscErrorCode PCBlocksRegister(void);

#define BLOCKS_NAME "PCBlocks"

PetscErrorCode PCBlocksGet(PC pc, PCBlocks **c)
{
  PetscFunctionBegin;
  PetscCall(PetscAMBObjectContainerQuery((PetscObject)pc, BLOCKS_NAME, (void **)c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- places ------------------------------------------------- */

/* Sets place[] to the positions of the indices of `is` in `all`, whose indices ascend */
static PetscErrorCode PCBlocksLocate(IS all, IS is, PetscInt place[])
{
  const PetscInt *sorted, *index;
  PetscInt        m, n;

  PetscFunctionBegin;
  PetscCall(ISGetLocalSize(all, &m));
  PetscCall(ISGetLocalSize(is, &n));
  PetscCall(ISGetIndices(all, &sorted));
  PetscCall(ISGetIndices(is, &index));
  for (PetscInt k = 0; k < n; k++) PetscCall(PetscFindInt(index[k], m, sorted, &place[k]));
  PetscCall(ISRestoreIndices(is, &index));
  PetscCall(ISRestoreIndices(all, &sorted));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For the rows of block k of PCASM: place[] is the position of a row among the rows of the process, and kept[] the position to which a restricted method writes, or -1.
   keeper[], of each row of the process, is the last block that keeps it, or -1; *twice is set if an earlier block keeps one of these rows. */
static PetscErrorCode PCBlocksGetSchwarz(PC_ASM *osm, PetscInt k, PetscInt place[], PetscInt kept[], PetscInt keeper[], PetscBool *twice)
{
  PetscInt n, m, *local;

  PetscFunctionBegin;
  PetscCall(ISGetLocalSize(osm->is[k], &n));
  PetscCall(ISGetLocalSize(osm->is_local[k], &m));
  PetscCall(PetscMalloc1(m, &local));
  PetscCall(PCBlocksLocate(osm->lis, osm->is[k], place));
  PetscCall(PCBlocksLocate(osm->lis, osm->is_local[k], local));
  for (PetscInt r = 0; r < m; r++) {
    if (keeper[local[r]] >= 0) *twice = PETSC_TRUE;
    keeper[local[r]] = k;
  }
  for (PetscInt r = 0; r < n; r++) kept[r] = keeper[place[r]] == k ? place[r] : -1;
  PetscCall(PetscFree(local));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates c->y and c->back for these places of the rows of all blocks */
static PetscErrorCode PCBlocksCreateBack(PC_ASM *osm, PCBlocks *c, PetscInt n, const PetscInt place[])
{
  VecType type;
  IS      to;

  PetscFunctionBegin;
  PetscCall(VecScatterDestroy(&c->back));
  PetscCall(VecDestroy(&c->y));
  PetscCall(VecGetType(osm->ly, &type));
  PetscCall(VecCreate(PETSC_COMM_SELF, &c->y));
  PetscCall(VecSetSizes(c->y, n, n));
  PetscCall(VecSetType(c->y, type));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, n, place, PETSC_COPY_VALUES, &to));
  PetscCall(VecScatterCreate(c->y, NULL, osm->ly, to, &c->back));
  PetscCall(ISDestroy(&to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCBlocksGetPlaces(PC pc, PCBlocks *c, PetscInt n, const Mat F[], PetscInt source[], PetscInt target[], const char **why)
{
  PC_ASM   *osm   = c->schwarz ? (PC_ASM *)pc->data : NULL;
  PetscInt  total = 0, all = 0, *place, *kept, *keeper;
  PetscBool added = (PetscBool)(osm && osm->type == PC_ASM_BASIC), twice = PETSC_FALSE;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; k++) total += F[k]->rmap->n;
  if (osm) PetscCall(ISGetLocalSize(osm->lis, &all));
  PetscCall(PetscMalloc2(total, &place, total, &kept));
  PetscCall(PetscMalloc1(all, &keeper));
  for (PetscInt r = 0; r < all; r++) keeper[r] = -1;
  for (PetscInt k = 0, first = 0; k < n; first += F[k++]->rmap->n) {
    const PetscInt *rows, *cols;
    MatFactorAMB   *f;

    if (osm) PetscCall(PCBlocksGetSchwarz(osm, k, place + first, kept + first, keeper, &twice));
    for (PetscInt r = first; r < first + F[k]->rmap->n; r++) {
      if (!osm) place[r] = r;
      if (!osm || added) kept[r] = r;
    }
    PetscCall(MatFactorAMBGet(F[k], &f));
    PetscCall(ISGetIndices(f->rows, &rows));
    PetscCall(ISGetIndices(f->cols, &cols));
    for (PetscInt p = 0; p < F[k]->rmap->n; p++) {
      source[first + p] = place[first + rows[p]];
      target[first + p] = kept[first + cols[p]];
    }
    PetscCall(ISRestoreIndices(f->cols, &cols));
    PetscCall(ISRestoreIndices(f->rows, &rows));
  }
  if (added) PetscCall(PCBlocksCreateBack(osm, c, total, place));
  if (twice && !added) *why = "several blocks keep the same row, and their solutions are added";
  PetscCall(PetscFree(keeper));
  PetscCall(PetscFree2(place, kept));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- set-up ------------------------------------------------- */

/* Gets the solvers of the blocks; *why is set if a solve of a block is more than an application of its preconditioner, or solutions are not combined in a way that a group can */
static PetscErrorCode PCBlocksGetSolvers(PC pc, const PCBlocks *c, PetscInt *n, KSP **ksp, const char **why)
{
  PetscFunctionBegin;
  if (c->schwarz) {
    const PC_ASM *osm = (PC_ASM *)pc->data;

    *n   = osm->n_local_true;
    *ksp = osm->ksp;
    if (osm->loctype != PC_COMPOSITE_ADDITIVE) *why = "blocks are solved one after the other";
    else if (osm->type != PC_ASM_BASIC && (osm->type != PC_ASM_RESTRICT || !osm->lprolongation)) *why = "the method is neither basic nor restricted";
    else if (!osm->is_local) *why = "blocks have no part of their own";
  } else PetscCall(PCBJacobiGetSubKSP(pc, n, NULL, ksp));
  if (*n < 2) *why = "there is one block";
  for (PetscInt k = 0; k < *n && !*why; k++) {
    const KSP    s = (*ksp)[k];
    PetscBool    preonly, scaled = PETSC_FALSE;
    PetscMPIInt  size;
    MatNullSpace plain;
    Mat          A, P;

    PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)s), &size));
    PetscCall(PetscObjectTypeCompare((PetscObject)s, KSPPREONLY, &preonly));
    PetscCall(KSPGetOperators(s, &A, &P));
    PetscCall(MatGetNullSpace(A, &plain));
#if PETSC_VERSION_LT(3, 26, 0)
    PetscCall(KSPGetDiagonalScale(s, &scaled));
#endif
    if (size > 1 || !preonly || !s->guess_zero || scaled || s->presolve || s->postsolve || s->numbermonitors || s->numberreasonviews || plain) *why = "the solver of a block is not preonly";
    else if (!MatShadowIsOurs(P) || !MatAIJValuesOnDevice(P)) *why = "the matrix of a block is not of petsc-amb on a GPU";
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the factors that the GPU has made of all blocks */
static PetscErrorCode PCBlocksGetFactors(PetscInt n, const KSP ksp[], Mat F[], const char **why)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < n && !*why; k++) {
    MatSolverType type   = NULL;
    MatFactorAMB *f      = NULL, *first;
    PetscBool     factor = PETSC_FALSE, ours = PETSC_FALSE;
    PC            pc;

    PetscCall(KSPGetPC(ksp[k], &pc));
    PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, &factor, PCILU, PCICC, ""));
    if (factor && pc->setupcalled && !pc->failedreason) PetscCall(PCFactorGetMatSolverType(pc, &type));
    PetscCall(PetscStrcmp(type, MATSOLVERAMB, &ours));
    if (ours) {
      PetscCall(PCFactorGetMatrix(pc, &F[k]));
      PetscCall(MatFactorAMBGet(F[k], &f));
      PetscCall(MatFactorAMBGet(F[0], &first));
    }
    if (!ours || !f->matrix || F[k]->factorerrortype || f->symmetric != first->symmetric) *why = "the GPU has not made an incomplete factor of each block";
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUpOnBlocks_Blocks(PC pc)
{
  const char    *why = NULL;
  PetscErrorCode error;
  PCBlocks      *c;
  PetscInt       n = 0;
  KSP           *ksp;
  Mat           *F;

  PetscFunctionBegin;
  PetscCall(PCBlocksGet(pc, &c));
  PetscCall(PCBlocksGetSolvers(pc, c, &n, &ksp, &why));
  MatFactorAMBExpectGroup(why ? 1 : n);
  error = (*c->setuponblocks)(pc);
  MatFactorAMBExpectGroup(1);
  PetscCall(error);
  PetscCall(PetscMalloc1(n, &F));
  PetscCall(PCBlocksGetFactors(n, ksp, F, &why));
  if (!why) PetscCall(PCBlocksSetUpDevice(pc, c, n, F, &why));
  PetscCall(PetscFree(F));
  if (why) PCBlocksResetDevice(c);
  if (why && why != c->reason) PetscCall(PetscInfo(pc, "Blocks are solved one by one, since %s\n", why));
  c->reason  = why;
  c->current = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApply_Blocks(PC pc, Vec b, Vec x)
{
  PetscBool done = PETSC_FALSE;
  PCBlocks *c;

  PetscFunctionBegin;
  PetscCall(PCBlocksGet(pc, &c));
  if (!c->current) PetscCall(PCSetUpOnBlocks_Blocks(pc)); /* a program may call PCApply() without a solver */
  if (c->group) PetscCall(PCBlocksApplyDevice(pc, c, b, x, &done));
  if (!done) PetscCall((*c->apply)(pc, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's set-up of PCBJACOBI chooses the operations by the number of blocks */
static PetscErrorCode PCSetUp_Blocks(PC pc)
{
  PCBlocks *c;

  PetscFunctionBegin;
  PetscCall(PCBlocksGet(pc, &c));
  PetscCall(PCBlocksSetUpPETSc(pc, c));
  c->current = PETSC_FALSE;
  if (pc->ops->apply != PCApply_Blocks) {
    c->apply       = pc->ops->apply;
    pc->ops->apply = PCApply_Blocks;
  }
  if (pc->ops->setuponblocks != PCSetUpOnBlocks_Blocks) {
    c->setuponblocks       = pc->ops->setuponblocks;
    pc->ops->setuponblocks = PCSetUpOnBlocks_Blocks;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCView_Blocks(PC pc, PetscViewer viewer)
{
  PCBlocks *c;
  PetscBool ascii;

  PetscFunctionBegin;
  PetscCall(PCBlocksGet(pc, &c));
  PetscCall((*c->view)(pc, viewer));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (ascii && c->group) PetscCall(PetscViewerASCIIPrintf(viewer, "  one solve on the GPU for the factors of all blocks of a process\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- registration ------------------------------------------------- */

static PetscErrorCode PCBlocksDestroy(PetscAMBCtxArgument arg)
{
  PCBlocks *c = (PCBlocks *)PetscAMBCtxGet(arg);

  PetscFunctionBegin;
  PCBlocksResetDevice(c);
  PetscCall(VecScatterDestroy(&c->back));
  PetscCall(VecDestroy(&c->y));
  PetscCall(PetscFree2(c->made, c->state));
  PetscCall(PetscFree(c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode (*create[2])(PC); /* PETSc's, of PCBJACOBI and PCASM */

static PetscErrorCode PCCreate_Blocks(PC pc, PetscBool schwarz)
{
  PCBlocks *c;

  PetscFunctionBegin;
  PetscCall((*create[schwarz])(pc));
  PetscCall(PetscNew(&c));
  c->schwarz     = schwarz;
  c->setup       = pc->ops->setup;
  c->view        = pc->ops->view;
  pc->ops->setup = PCSetUp_Blocks;
  pc->ops->view  = PCView_Blocks;
  PetscCall(PetscAMBObjectContainerCompose((PetscObject)pc, BLOCKS_NAME, c, PCBlocksDestroy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCCreate_BlocksBJacobi(PC pc)
{
  return PCCreate_Blocks(pc, PETSC_FALSE);
}

static PetscErrorCode PCCreate_BlocksASM(PC pc)
{
  return PCCreate_Blocks(pc, PETSC_TRUE);
}

/* On hosts a solve for all blocks is not sooner than one after the other */
PetscErrorCode PCBlocksRegister(void)
{
  PetscFunctionBegin;
  if (!PetscDefined(HAVE_CUDA)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCInitializePackage());
  PetscCall(PetscFunctionListFind(PCList, PCBJACOBI, &create[0]));
  PetscCall(PetscFunctionListFind(PCList, PCASM, &create[1]));
  PetscCall(PCRegister(PCBJACOBI, PCCreate_BlocksBJacobi));
  PetscCall(PCRegister(PCASM, PCCreate_BlocksASM));
  PetscFunctionReturn(PETSC_SUCCESS);
}
