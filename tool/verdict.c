/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The verdict of petscamb info: the Mat type to take, the speed to expect, and after how many products the conversion has paid.

   The library decides, as for -mat_type autosparse with -mat_shadow_tune model; this file prints its decision. The cost of the conversion is timed on this machine.
*/
#include "tool.h"

#define UNTIMED  2   /* products before those that are timed */
#define PRODUCTS 12  /* timed products; with those before them they are fewer than the products after which a matrix is converted, on the host and on a GPU */
#define ROUNDS   3   /* of products on the host, and of conversions: the shortest counts, since a single one may have been disturbed */
#define ENOUGH   0.2 /* seconds after which conversions are not repeated */

/* Gets the name of the format that all processes have chosen, or MATAUTOSPARSE if they have chosen several; "csr" stands for the AIJ */
static PetscErrorCode CommonFormat(Mat A, char name[], size_t len)
{
  const char *const *types;
  MatShadowInfo      info;
  PetscInt           n, chosen[2];

  PetscFunctionBegin;
  PetscCall(MatShadowGetInfo(A, &info));
  PetscCall(PetscAMBGetTypes(PETSC_TRUE, &n, &types));
  chosen[0] = -1;
  for (PetscInt t = 0; t < n; t++) {
    PetscBool same;

    PetscCall(PetscStrcmp(types[t], info.format, &same));
    if (same) chosen[0] = t;
  }
  chosen[1] = -chosen[0];
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, chosen, 2, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)A)));
  PetscCall(PetscStrncpy(name, chosen[0] != -chosen[1] ? MATAUTOSPARSE : chosen[0] < 0 ? "csr" : types[chosen[0]], len));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Asks autosparse for its choice without a product, and on which side the matrix lives */
static PetscErrorCode AskAutoSparse(Mat A, MatShadowTune tune, char name[], size_t len, PetscBool *device)
{
  Mat B;

  PetscFunctionBegin;
  PetscCall(FormatBegin(A, MATAUTOSPARSE, &B));
  PetscCall(MatShadowSetTune(B, tune));
  PetscCall(MatShadowSetUp(B));
  PetscCall(CommonFormat(B, name, len));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)B, device, MATSEQAIJCUSPARSE, MATMPIAIJCUSPARSE, ""));
  PetscCall(FormatEnd(A, &B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Times products on the AIJ, or on AIJCUSPARSE where the matrix lives on a GPU, and then the conversion */
static PetscErrorCode MeasureConversion(Mat A, PetscBool device, Verdict *v)
{
  const int      rounds = device ? 1 : ROUNDS, products = PRODUCTS / rounds; /* to wait for a GPU takes as long as products do */
  Mat            B;
  Vec            x, y;
  MatShadowInfo  info;
  PetscLogDouble t0, t1, seconds, spent = 0;

  PetscFunctionBegin;
  PetscCall(FormatBegin(A, v->type, &B));
  PetscCall(MatShadowSetTune(B, MAT_SHADOW_TUNE_MEASURE));
  PetscCall(MatCreateVecs(B, &x, &y));
  PetscCall(VecSet(x, 1.0));
  for (int k = 0; k < UNTIMED; k++) PetscCall(MatMult(B, x, y));
  for (int round = 0; round < rounds; round++) {
    PetscCall(MachineNow(y, &t0));
    for (int k = 0; k < products; k++) PetscCall(MatMult(B, x, y));
    PetscCall(MachineNow(y, &t1));
    seconds = (t1 - t0) / products;
    if (!round || seconds < v->product) v->product = seconds;
  }
  for (int round = 0; round < ROUNDS && spent < ENOUGH; round++) {
    PetscCall(MatShadowSetTune(B, MAT_SHADOW_TUNE_MEASURE)); /* back to the AIJ */
    PetscCall(MatShadowSetTune(B, MAT_SHADOW_TUNE_OFF));
    PetscCall(MachineNow(y, &t0));
    PetscCall(MatShadowSetUp(B));
    PetscCall(MachineNow(y, &t1));
    seconds = t1 - t0;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, PetscObjectComm((PetscObject)A)));
    if (!round || seconds < v->conversion) v->conversion = seconds;
    spent += seconds;
  }
  PetscCall(MatShadowGetInfo(B, &info));
  v->bytes = info.bytes_stored;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &v->bytes, 1, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)A)));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(FormatEnd(A, &B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VerdictMake(Mat A, const Shape *shape, Verdict *v)
{
  const PetscLogDouble vectors = (PetscLogDouble)sizeof(PetscScalar) * ((PetscLogDouble)shape->M + (PetscLogDouble)shape->N);
  PetscBool            same, device;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(v, sizeof(*v)));
  PetscCall(AskAutoSparse(A, MAT_SHADOW_TUNE_MODEL, v->type, sizeof(v->type), &device));
  v->base = device ? MATAIJCUSPARSE : MATAIJ;
  PetscCall(PetscStrcmp(v->type, "csr", &same));
  v->bytes_aij = shape->bytes_csr + vectors;
  if (same || !(shape->nonzeros > 0)) {
    PetscCall(PetscStrncpy(v->type, v->base, sizeof(v->type)));
    PetscCall(AskAutoSparse(A, MAT_SHADOW_TUNE_MEASURE, v->tried, sizeof(v->tried), &device));
    PetscCall(PetscStrcmp(v->tried, "csr", &same));
    if (same || !(shape->nonzeros > 0)) v->tried[0] = 0;
    v->bytes = v->bytes_aij;
    v->ratio = 1;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MeasureConversion(A, device, v));
  v->bytes += vectors;
  v->ratio = v->bytes_aij / v->bytes;
  if (v->ratio > 1) v->pays = PetscCeilReal((PetscReal)(v->conversion / v->product / (1 - 1 / v->ratio)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VerdictPrint(MPI_Comm comm, const char name[], const Verdict *v, const About *about)
{
  PetscBool stays;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(v->type, v->base, &stays));
  PetscCall(ReportPrintf(comm, "  verdict of the traffic model\n"));
  PetscCall(ReportPrintf(comm, "    type              %s\n", v->type));
  PetscCall(ReportPrintf(comm, "    expected speed    %.2f times that of %s: a product reads %.0f bytes in place of %.0f, x and y included\n", v->ratio, v->base, v->bytes, v->bytes_aij));
  if (stays) {
    PetscCall(ReportPrintf(comm, "    conversion        none: no format has fewer bytes than %s\n", v->base));
    if (v->tried[0]) PetscCall(ReportPrintf(comm, "    but               %s may still be faster here: with autosparse the times of products decide\n", v->tried));
    PetscCall(ReportPrintf(comm, "    options           -mat_type %s\n", v->tried[0] ? MATAUTOSPARSE : v->base));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(ReportPrintf(comm, "    conversion        %.3g ms, as long as %.1f products of %s (measured here)\n", 1e3 * v->conversion, v->conversion / v->product, v->base));
  if (v->pays > 0) PetscCall(ReportPrintf(comm, "    pays after        %.0f products with one nonzero pattern\n", (double)v->pays));
  else PetscCall(ReportPrintf(comm, "    pays after        no number of products, by the bytes\n"));
  if (AboutBusy(about)) PetscCall(ReportPrintf(comm, "    busy machine      the load of the last minute was %.1f on %d processors: an idle machine converts faster, and bench may disagree here\n", about->load, about->processors));
  PetscCall(ReportPrintf(comm, "    options           -mat_type %s\n", v->type));
  PetscCall(ReportPrintf(comm, "    to measure        petscamb bench %s -types %s,%s\n", name, v->base, v->type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VerdictJSON(FILE *f, const Verdict *v)
{
  PetscFunctionBegin;
  fprintf(f, "{\"type\": \"%s\", \"expected_ratio\": %.4f, \"bytes\": %.0f, \"bytes_aij\": %.0f", v->type, v->ratio, v->bytes, v->bytes_aij);
  if (v->tried[0]) fprintf(f, ", \"tried\": \"%s\"", v->tried);
  if (v->product > 0) fprintf(f, ", \"product_aij_s\": %.6g, \"conversion_s\": %.6g", v->product, v->conversion);
  if (v->pays > 0) fprintf(f, ", \"pays_after\": %.0f", (double)v->pays);
  fprintf(f, "}");
  PetscFunctionReturn(PETSC_SUCCESS);
}
