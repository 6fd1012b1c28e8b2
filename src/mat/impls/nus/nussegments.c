/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MATNUSSELL: its parameters and its figures of segments, the same on the host and on a device
*/
#include "mat/impls/nus/nus.h"

/* Translates the parameters for the kernels, as far as they do not depend on the matrix */
void NusGetParams(const NusSellParams *from, PetscInt n, NusParams *to)
{
  static const NusSegmentation segmentation[] = {NUS_NONUNIFORM, NUS_UNIFORM, NUS_NONE};

  to->segmentation = segmentation[from->segmentation];
  to->rows         = from->rows == MAT_NUSSELL_ROWS_JDS ? NUS_JDS : NUS_SELL;
  to->c            = (int)from->c;
  to->sigma        = (int)from->sigma;
  for (int k = 0; k < 2; k++) {
    to->width[k] = from->width[k];
    to->count[k] = from->count[k] < 0 ? (from->tune == MAT_NUSSELL_TUNE_OFF ? 0 : -1) : PetscMin(from->count[k], n);
  }
}

void NusDescribeSegments(const NusParams *p, int64_t gathered, double figure[])
{
  figure[NUS_FIGURE_S1]       = (double)p->width[0];
  figure[NUS_FIGURE_K1]       = (double)p->count[0];
  figure[NUS_FIGURE_S2]       = (double)p->width[1];
  figure[NUS_FIGURE_K2]       = (double)p->count[1];
  figure[NUS_FIGURE_GATHERED] = (double)gathered;
}

PetscErrorCode NusViewSegments(const double figure[], const char where[], PetscViewer viewer)
{
  PetscFunctionBegin;
  if (figure[NUS_FIGURE_K1] + figure[NUS_FIGURE_K2] > 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  %.0f segments of %.0f columns, %.0f of %.0f; %.0f columns in another order%s\n", figure[NUS_FIGURE_K1], figure[NUS_FIGURE_S1], figure[NUS_FIGURE_K2], figure[NUS_FIGURE_S2], figure[NUS_FIGURE_GATHERED], where));
  PetscFunctionReturn(PETSC_SUCCESS);
}
