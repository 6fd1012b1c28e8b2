/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MATSLICED: SELL-C-sigma as a shadow of AIJ
*/
#include "mat/shadow/core/shadowformat.h"
#include "mat/impls/sliced/host/slicedhost.h"

extern const MatShadowFormat MatShadowFormatSliced;

/* There is one way to store a matrix; its bytes are those of rows without filling */
static int RankHost_Sliced(const MatShadowCSR *csr, const void *params, MatShadowTune tune, MatShadowCandidate list[], const char **reason)
{
  const MatShadowCandidate c = {.format = &MatShadowFormatSliced, .name = MATSLICED, .bytes = SlicedBytes((csr->A.m + SLICED_C - 1) / SLICED_C, csr->A.nz)};

  list[0] = c;
  return 1;
}

static SysStatus LayoutHost_Sliced(const MatShadowCSR *csr, MatShadowCandidate *c, const MatShadowCandidate *best, double most, const char **reason, void **data)
{
  SlicedHost     *host;
  const SysStatus status = SlicedHostCreate(&csr->A, csr->threads, most, &host);

  if (!status) c->bytes = SlicedBytes(host->nslice, host->nslot);
  *data = host;
  return status;
}

static const MatShadowFigure SlicedFigures[] = {
  {"slices", MAT_SHADOW_OF_PROCESS},
  {NULL,     MAT_SHADOW_OF_BLOCK  }
};

static void DescribeHost_Sliced(const void *data, MatShadowInfo *info, double figure[])
{
  const SlicedHost *host = (const SlicedHost *)data;

  info->format        = MATSLICED;
  info->kernel        = "plain";
  info->stored_values = (PetscLogDouble)host->nslot;
  info->bytes_stored  = SlicedBytes(host->nslice, host->nslot);
  figure[0]           = (double)host->nslice;
}

static PetscErrorCode ViewHost_Sliced(const double figure[], const char where[], PetscViewer viewer)
{
  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  %.0f slices of %d rows%s\n", figure[0], SLICED_C, where));
  PetscFunctionReturn(PETSC_SUCCESS);
}

MAT_SHADOW_CONSTRUCTORS(Sliced)

const MatShadowFormat MatShadowFormatSliced = {
  .name       = MATSLICED,
  .seqtype    = MATSEQAIJSLICED,
  .mpitype    = MATMPIAIJSLICED,
  .host       = {.rank = RankHost_Sliced, .layout = LayoutHost_Sliced, .update = SlicedHostUpdate, .mult = SlicedHostMult, .multtranspose = SlicedHostMultTranspose, .describe = DescribeHost_Sliced, .destroy = SlicedHostDestroy, .figures = SlicedFigures, .view = ViewHost_Sliced},
  .create_seq = MatCreate_SeqAIJSliced,
  .create_mpi = MatCreate_MPIAIJSliced,
};
