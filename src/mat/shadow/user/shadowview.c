/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The shadow's lines in the output of -mat_view ::ascii_info and -ksp_view
*/
#include "mat/shadow/core/shadow.h"

#define VIEW_LONGEST 96 /* bytes of the longest answer */
#define VIEW_KINDS   6

/* Sums the figures of info over all processes, for the process that prints, and sets the longest times. Other members, and the words for format, kernel
   and reason, come from the first process whose products run on a format or, without such a process, from the first. */
static PetscErrorCode MatShadowReduceInfo(Mat A, MatShadowInfo *info, char words[3][VIEW_LONGEST], PetscMPIInt *process, char where[32])
{
  const MPI_Comm        comm   = PetscObjectComm((PetscObject)A);
  PetscLogDouble *const sum[]  = {&info->nonzeros, &info->stored_values, &info->bytes_csr, &info->bytes_model, &info->bytes_stored, &info->bytes_extra};
  PetscLogDouble *const most[] = {&info->time_convert, &info->time_update, &info->time_csr, &info->time_format, &info->time_tune, &info->time_tune_beside};
  PetscLogDouble        s[PETSC_STATIC_ARRAY_LENGTH(sum)], m[PETSC_STATIC_ARRAY_LENGTH(most)];
  const int             ns = PETSC_STATIC_ARRAY_LENGTH(sum), nm = PETSC_STATIC_ARRAY_LENGTH(most);
  PetscMPIInt           rank, size;
  PetscBool             onaij;

  PetscFunctionBegin;
  for (int k = 0; k < ns; k++) s[k] = *sum[k];
  for (int k = 0; k < nm; k++) m[k] = *most[k];
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, s, ns, MPI_DOUBLE, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, m, nm, MPI_DOUBLE, MPI_MAX, comm));
  for (int k = 0; k < ns; k++) *sum[k] = s[k];
  for (int k = 0; k < nm; k++) *most[k] = m[k];
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscStrcmp(info->format, "csr", &onaij));
  *process = onaij ? size : rank;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, process, 1, MPI_INT, MPI_MIN, comm));
  if (*process == size) *process = 0;
  PetscCall(PetscStrncpy(words[0], info->format, VIEW_LONGEST));
  PetscCall(PetscStrncpy(words[1], info->kernel, VIEW_LONGEST));
  PetscCall(PetscStrncpy(words[2], info->reason, VIEW_LONGEST));
  PetscCallMPI(MPI_Bcast(words, 3 * VIEW_LONGEST, MPI_CHAR, *process, comm));
  PetscCallMPI(MPI_Bcast(info, (PetscMPIInt)sizeof(*info), MPI_BYTE, *process, comm)); /* another process's strings are invalid addresses here */
  if (*process) PetscCall(PetscSNPrintf(where, 32, " on process %d", *process));
  else if (size > 1) PetscCall(PetscStrncpy(where, " on the first process", 32));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints the figures of the format of a process, as that format words them */
static PetscErrorCode MatShadowViewFigures(Mat A, PetscMPIInt process, const char where[], PetscViewer viewer)
{
  const MatShadowFormat *const *formats;
  const MatShadowOps           *ops;
  MatShadowFigures              figures;
  double                        sum[MAT_SHADOW_FIGURES];
  PetscMPIInt                   which = -1; /* twice the format's number, plus one for the device */
  int                           n;

  PetscFunctionBegin;
  n = MatShadowGetFormats(&formats);
  PetscCall(MatShadowGetFigures(A, &figures));
  for (int k = 0; k < n; k++) {
    if (figures.ops == &formats[k]->host) which = 2 * k;
    if (figures.ops == &formats[k]->device) which = 2 * k + 1;
  }
  PetscCallMPI(MPI_Bcast(&which, 1, MPI_INT, process, PetscObjectComm((PetscObject)A)));
  if (which < 0) PetscFunctionReturn(PETSC_SUCCESS);
  ops = which % 2 ? &formats[which / 2]->device : &formats[which / 2]->host;
  if (!ops->view) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0; k < MAT_SHADOW_FIGURES; k++) sum[k] = figures.ops == ops ? figures.value[k] : 0;
  PetscCallMPI(MPI_Bcast(figures.value, MAT_SHADOW_FIGURES, MPI_DOUBLE, process, PetscObjectComm((PetscObject)A)));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, MAT_SHADOW_FIGURES, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)A)));
  for (int k = 0; ops->figures[k].name; k++) {
    if (ops->figures[k].scope == MAT_SHADOW_OF_ALL) figures.value[k] = sum[k];
  }
  PetscCall((*ops->view)(figures.value, where, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints how the processes exchange entries of x, if petsc-amb does it */
static PetscErrorCode MatShadowViewHalo(Mat A, PetscViewer viewer)
{
  MatShadowHaloInfo info;
  PetscLogDouble    sum, most[3];

  PetscFunctionBegin;
  PetscCall(MatShadowGetHaloInfo(A, &info));
  if (!info.path) PetscFunctionReturn(PETSC_SUCCESS);
  sum = most[0] = info.bytes;
  most[1]       = info.neighbors;
  most[2]       = info.products > 0 ? info.syncs / info.products : 0;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)A)));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 3, MPI_DOUBLE, MPI_MAX, PetscObjectComm((PetscObject)A)));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  halo by %s: %.0f bytes in a product, at most %.0f to one process, from %.0f others; the host waits for the GPU %.2g times\n", info.path, sum, most[0], most[1], most[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints the formats of an MPI matrix's blocks, and why: each answer once, with the number of processes that have it */
static PetscErrorCode MatShadowViewBlocks(Mat A, PetscViewer viewer)
{
  static const char *const name[] = {"diagonal", "off-diagonal"};
  char                     mine[2][VIEW_LONGEST], (*all)[2][VIEW_LONGEST] = NULL;
  PetscMPIInt              rank, size;
  Mat                      block[2];

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)A), &rank));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
  for (int k = 0; k < 2; k++) {
    MatShadowInfo info;
    PetscBool     onaij;

    PetscCall(MatShadowGetInfo(block[k], &info));
    PetscCall(PetscStrcmp(info.format, "csr", &onaij));
    if (onaij) PetscCall(PetscSNPrintf(mine[k], VIEW_LONGEST, "the AIJ (%s)", info.reason));
    else PetscCall(PetscStrncpy(mine[k], info.format, VIEW_LONGEST));
  }
  if (!rank) PetscCall(PetscMalloc1(size, &all));
  PetscCallMPI(MPI_Gather(mine, (PetscMPIInt)sizeof(mine), MPI_CHAR, all, (PetscMPIInt)sizeof(mine), MPI_CHAR, 0, PetscObjectComm((PetscObject)A)));
  for (int k = 0; k < 2; k++) {
    PetscMPIInt kind[VIEW_KINDS], count[VIEW_KINDS], kinds = 0; /* the first process with this answer, and the number of such processes */
    char        line[VIEW_KINDS * (VIEW_LONGEST + 32)] = "", part[VIEW_LONGEST + 32];

    for (PetscMPIInt p = 0; !rank && p < size; p++) {
      PetscMPIInt n = 0;

      while (n < kinds && strcmp(all[p][k], all[kind[n]][k])) n++;
      if (n == VIEW_KINDS) continue;
      if (n == kinds) {
        kind[kinds]    = p;
        count[kinds++] = 0;
      }
      count[n]++;
    }
    for (PetscMPIInt n = 0; n < kinds; n++) {
      PetscCall(PetscSNPrintf(part, sizeof(part), "%s %d on %s", n ? "," : "", count[n], all[kind[n]][k]));
      PetscCall(PetscStrlcat(line, part, sizeof(line)));
    }
    PetscCall(PetscViewerASCIIPrintf(viewer, "  %s blocks:%s\n", name[k], line)); /* in one call, because a sub-viewer indents each call */
  }
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints what happened to an AIJCUSPARSE's device copy if it may be freed; with several processes, on the first */
static PetscErrorCode MatShadowViewCopy(Mat A, PetscViewer viewer)
{
  MatShadow *s;
  Mat        block = A;

  PetscFunctionBegin;
  if (!MatShadowIsSequential(A)) PetscCall(MatMPIAIJGetSeqAIJ(A, &block, NULL, NULL));
  PetscCall(MatShadowGet(block, &s));
  if (s->keep || !MatShadowOnDevice(s)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  copy of the AIJ on the GPU: %s%s\n", s->copy ? "kept, because " : "given back", s->copy ? s->copy : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatShadowViewInfo(Mat A, PetscViewer viewer)
{
  const MatShadowFormat *format;
  MatShadowInfo          info;
  PetscMPIInt            process;
  PetscBool              onaij;
  PetscLogDouble         nz;
  char                   words[3][VIEW_LONGEST], where[32] = "", update[64] = "";

  PetscFunctionBegin;
  PetscCall(MatShadowGetFormat(A, &format));
  PetscCall(MatShadowSetUp(A));
  PetscCall(MatShadowGetInfo(A, &info));
  PetscCall(MatShadowReduceInfo(A, &info, words, &process, where));
  PetscCall(PetscStrcmp(words[0], "csr", &onaij));
  nz = info.nonzeros > 0 ? info.nonzeros : 1;
  if (onaij) PetscCall(PetscViewerASCIIPrintf(viewer, "products run on the AIJ, not on %s: %s\n", format->name, words[2]));
  else {
    PetscCall(PetscViewerASCIIPrintf(viewer, "products run on %s, %s kernels: %s\n", words[0], words[1], words[2]));
    PetscCall(MatShadowViewFigures(A, process, where, viewer));
    PetscCall(PetscViewerASCIIPrintf(viewer, "  bytes: %.0f stored, %.0f by the model, %.0f of the AIJ; %.2f per nonzero, AIJ %.2f; fill %.3f\n", info.bytes_stored, info.bytes_model, info.bytes_csr, info.bytes_stored / nz, info.bytes_csr / nz, info.nonzeros > 0 ? info.stored_values / nz : 1.));
    PetscCall(MatShadowViewCopy(A, viewer));
    if (info.bytes_extra > 0) PetscCall(PetscViewerASCIIPrintf(viewer, "  %.0f more bytes for new values and the transposed product\n", info.bytes_extra));
  }
  if (!MatShadowIsSequential(A)) PetscCall(MatShadowViewBlocks(A, viewer));
  PetscCall(MatShadowViewHalo(A, viewer));
  if (info.updates) PetscCall(PetscSNPrintf(update, sizeof(update), ", last update of values %.3g s", info.time_update));
  if (info.conversions) PetscCall(PetscViewerASCIIPrintf(viewer, "  conversion %.3g s%s\n", info.time_convert, update));
  if (info.time_csr > 0 && info.time_format > 0) PetscCall(PetscViewerASCIIPrintf(viewer, "  product %.3g s, on the AIJ %.3g s\n", info.time_format, info.time_csr));
  if (info.candidates) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  %" PetscInt_FMT " candidates timed in products of the solver, which lost %.3g s, or %.1f products on the AIJ, and %.3g s of another thread%s\n", info.candidates, info.time_tune,
                                     info.time_csr > 0 ? info.time_tune / info.time_csr : 0., info.time_tune_beside, where));
  }
  PetscCall(MatShadowTuneView(A, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatShadowView(Mat A, PetscViewer viewer)
{
  PetscBool         ascii;
  PetscViewerFormat format;
  MatShadow        *s;

  PetscFunctionBegin;
  PetscCall(MatShadowGet(A, &s));
  PetscCall((*(s->view ? s->view : MatAIJGetBase(A)->view))(A, viewer));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii || !A->assembled || A->factortype) PetscFunctionReturn(PETSC_SUCCESS); /* with -mat_seqaij_type factors have a shadow too, but their arrays are not CSR */
  PetscCall(PetscViewerGetFormat(viewer, &format));
  if (format == PETSC_VIEWER_ASCII_INFO || format == PETSC_VIEWER_ASCII_INFO_DETAIL) PetscCall(MatShadowViewInfo(A, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
