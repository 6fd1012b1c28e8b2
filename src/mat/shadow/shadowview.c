/*
   What -mat_view ::ascii_info and -ksp_view tell of a shadow
*/
#include "shadow.h"

/* Sums over the processes, for the process that prints; the parameters are those of the first */
static PetscErrorCode MatShadowReduceInfo(Mat A, const MatShadowInfo *info, PetscBool converted, PetscLogDouble sum[6], PetscLogDouble most[4])
{
  const PetscLogDouble s[6] = {info->nonzeros, info->stored_values, info->bytes_csr, info->bytes_model, info->bytes_stored, (PetscLogDouble)converted};
  const PetscLogDouble m[4] = {info->time_convert, info->time_update, info->time_csr, info->time_format};

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(s, sum, 6, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)A)));
  PetscCallMPI(MPI_Allreduce(m, most, 4, MPI_DOUBLE, MPI_MAX, PetscObjectComm((PetscObject)A)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatShadowViewInfo(Mat A, PetscViewer viewer)
{
  const MatShadowFormat *format;
  MatShadowInfo          info;
  PetscLogDouble         sum[6], most[4];
  PetscMPIInt            size;
  PetscBool              onaij;
  char                   update[64] = "";

  PetscFunctionBegin;
  PetscCall(MatShadowFind(((PetscObject)A)->type_name, &format));
  PetscCall(MatShadowSetUp(A));
  PetscCall(MatShadowGetInfo(A, &info));
  PetscCall(PetscStrcmp(info.format, "csr", &onaij));
  PetscCall(MatShadowReduceInfo(A, &info, (PetscBool)!onaij, sum, most));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  if (sum[5] == 0) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "products run on the AIJ, not on %s: %s\n", format->name, info.reason));
  } else {
    PetscCall(PetscViewerASCIIPrintf(viewer, "products run on %s, %s kernels: %s\n", info.format, info.kernel, info.reason));
    PetscCall(PetscViewerASCIIPrintf(viewer, "  blocks of %" PetscInt_FMT " columns, chunks of %" PetscInt_FMT " rows, scopes of %" PetscInt_FMT " rows, %" PetscInt_FMT " tiles%s\n", info.block_size, info.chunk_size, info.sort_scope, info.segments, size > 1 ? " on the first process" : ""));
    if (sum[5] < size) PetscCall(PetscViewerASCIIPrintf(viewer, "  on %d of %d processes; the others stay with the AIJ\n", (int)sum[5], size));
    PetscCall(PetscViewerASCIIPrintf(viewer, "  bytes: %.0f stored, %.0f by the model, %.0f of the AIJ; %.2f per nonzero, AIJ %.2f; fill %.3f\n", sum[4], sum[3], sum[2], sum[0] > 0 ? sum[4] / sum[0] : 0., sum[0] > 0 ? sum[2] / sum[0] : 0., sum[0] > 0 ? sum[1] / sum[0] : 1.));
  }
  if (info.updates) PetscCall(PetscSNPrintf(update, sizeof(update), ", last update of values %.3g s", most[1]));
  if (info.conversions) PetscCall(PetscViewerASCIIPrintf(viewer, "  conversion %.3g s%s\n", most[0], update));
  if (info.time_csr > 0 && info.time_format > 0) PetscCall(PetscViewerASCIIPrintf(viewer, "  product %.3g s, on the AIJ %.3g s\n", most[3], most[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatShadowView(Mat A, PetscViewer viewer)
{
  const struct _MatOps *base = A->ops->mult == MatMult_Shadow ? &MatShadowBaseSeq : &MatShadowBaseMPI;
  PetscBool             ascii;
  PetscViewerFormat     format;
  MatShadow            *s;

  PetscFunctionBegin;
  PetscCall(MatShadowGet(A, &s));
  PetscCall((*(s->view ? s->view : base->view))(A, viewer));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii || !A->assembled) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerGetFormat(viewer, &format));
  if (format == PETSC_VIEWER_ASCII_INFO || format == PETSC_VIEWER_ASCII_INFO_DETAIL) PetscCall(MatShadowViewInfo(A, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
