/* SPDX-License-Identifier: BSD-2-Clause */
/*
   petscamb info: the shape of a matrix, the bytes that each format and each storage of values would take, and a verdict.
*/
#include "tool.h"
#if defined(__GLIBC__)
  #include <malloc.h>
#endif

typedef struct {
  const char    *format;
  PetscLogDouble bytes, model, values; /* model and values are 0 if the format does not report them */
  char           note[160];
} Stored;

#define STORED 16 /* formats, at most */

/* Returns freed memory to the system. Open MPI sets malloc() to retain it, and the next step needs other sizes. */
static void MemoryReturn(void)
{
#if defined(__GLIBC__)
  (void)malloc_trim(0);
#endif
}

/* Converts the matrix, even if the format does not gain, and gets the figures of the format */
static PetscErrorCode StoredShadow(Mat A, const char type[], Stored *s)
{
  MatShadowInfo  info;
  Mat            B;
  PetscLogDouble sum[3];

  PetscFunctionBegin;
  PetscCall(FormatBegin(A, type, &B));
  PetscCall(MatShadowSetTune(B, MAT_SHADOW_TUNE_OFF));
  PetscCall(MatShadowSetUp(B));
  PetscCall(MatShadowGetInfo(B, &info));
  sum[0] = info.bytes_stored;
  sum[1] = info.bytes_model;
  sum[2] = info.stored_values;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 3, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)A)));
  s->format = type;
  s->bytes  = sum[0];
  s->model  = sum[1];
  s->values = sum[2];
  PetscCall(FiguresPrint(B, s->note, sizeof(s->note)));
  PetscCall(FormatEnd(A, &B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode InfoPrint(MPI_Comm comm, const char name[], const Shape *s, int n, const Stored stored[])
{
  PetscFunctionBegin;
  PetscCall(ReportPrintf(comm, "%s\n", name));
  PetscCall(ReportPrintf(comm, "  rows x columns      %" PetscInt_FMT " x %" PetscInt_FMT "\n", s->M, s->N));
  PetscCall(ReportPrintf(comm, "  nonzeros            %.0f\n", s->nonzeros));
  PetscCall(ReportPrintf(comm, "  symmetric           %s\n", s->symmetric ? "yes" : (s->pattern_symmetric ? "in pattern" : "no")));
  PetscCall(ReportPrintf(comm, "  row lengths         %" PetscInt_FMT " to %" PetscInt_FMT ", mean %.2f, %" PetscInt_FMT " empty\n", s->row_min, s->row_max, s->row_mean, s->empty_rows));
  PetscCall(ReportPrintf(comm, "  |row - column|      at most %" PetscInt_FMT ", mean %.1f\n", s->bandwidth, s->distance));
  PetscCall(ReportPrintf(comm, "  dominant diagonal   in %.1f %% of the rows\n", s->M ? 100 * s->dominant / s->M : 0.0));
  PetscCall(ReportPrintf(comm, "  contiguous columns "));
  for (int k = 1; k <= 10; k++) {
    if (s->run[k] > 0) PetscCall(ReportPrintf(comm, " %d%s: %.1f %%", k, k == 10 ? "+" : "", 100 * s->run[k] / s->nonzeros));
  }
  PetscCall(ReportPrintf(comm, " of the nonzeros\n"));
  PetscCall(ReportPrintf(comm, "  kind                %s\n", s->fem_like ? "FEM-like: rows of about one length, a symmetric pattern" : "other"));
  PetscCall(ReportPrintf(comm, "  %-13s %14s %8s %7s %14s %7s\n", "format", "bytes stored", "B/nnz", "of csr", "bytes modelled", "fill"));
  for (int f = 0; f < n; f++) {
    char model[32] = "-", fill[32] = "-";

    if (stored[f].model > 0) PetscCall(PetscSNPrintf(model, sizeof(model), "%.0f", stored[f].model));
    if (stored[f].values > 0) PetscCall(PetscSNPrintf(fill, sizeof(fill), "%.3f", stored[f].values / PetscMax(s->nonzeros, 1)));
    PetscCall(ReportPrintf(comm, "  %-13s %14.0f %8.2f %7.3f %14s %7s  %s\n", stored[f].format, stored[f].bytes, stored[f].bytes / PetscMax(s->nonzeros, 1), stored[f].bytes / s->bytes_csr, model, fill, stored[f].note));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode InfoJSON(FILE *f, const char name[], const Shape *s, int n, const Stored stored[], const Storages *storages, const Verdict *v, const About *about)
{
  PetscFunctionBegin;
  fprintf(f, "  {");
  PetscCall(AboutJSON(f, about));
  fprintf(f, ",\n   \"matrix\": ");
  PetscCall(JSONString(f, name));
  fprintf(f, ", \"rows\": %" PetscInt_FMT ", \"cols\": %" PetscInt_FMT ", \"nonzeros\": %.0f, \"symmetric\": %s, \"pattern_symmetric\": %s, \"fem_like\": %s,\n", s->M, s->N, s->nonzeros, s->symmetric ? "true" : "false", s->pattern_symmetric ? "true" : "false", s->fem_like ? "true" : "false");
  fprintf(f, "   \"row_min\": %" PetscInt_FMT ", \"row_max\": %" PetscInt_FMT ", \"row_mean\": %.6g, \"empty_rows\": %" PetscInt_FMT ", \"bandwidth\": %" PetscInt_FMT ", \"mean_distance\": %.6g, \"dominant_rows\": %.0f,\n   \"nonzeros_in_runs\": [", s->row_min, s->row_max, s->row_mean, s->empty_rows, s->bandwidth, s->distance, s->dominant);
  for (int k = 1; k <= 10; k++) fprintf(f, "%s%.0f", k > 1 ? ", " : "", s->run[k]);
  fprintf(f, "],\n   \"formats\": [");
  for (int k = 0; k < n; k++) {
    fprintf(f, "%s{\"format\": \"%s\", \"bytes\": %.0f, \"note\": ", k ? ", " : "", stored[k].format, stored[k].bytes);
    PetscCall(JSONString(f, stored[k].note));
    if (stored[k].model > 0) fprintf(f, ", \"bytes_model\": %.0f", stored[k].model);
    if (stored[k].values > 0) fprintf(f, ", \"stored_values\": %.0f", stored[k].values);
    fprintf(f, "}");
  }
  fprintf(f, "]");
  PetscCall(StorageJSON(f, storages));
  fprintf(f, ",\n   \"verdict\": ");
  PetscCall(VerdictJSON(f, v));
  fprintf(f, "}");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A row for each format */
static PetscErrorCode InfoCSV(FILE *f, const char name[], const Shape *s, int n, const Stored stored[], const About *about)
{
  PetscFunctionBegin;
  for (int k = 0; k < n; k++) {
    fprintf(f, "\"%s\",%" PetscInt_FMT ",%" PetscInt_FMT ",%.0f,%d,%s,%.0f,%.0f,%.0f,\"%s\"", name, s->M, s->N, s->nonzeros, (int)s->fem_like, stored[k].format, stored[k].bytes, stored[k].model, stored[k].values, stored[k].note);
    PetscCall(AboutCSV(f, about));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode InfoRun(MPI_Comm comm, int n, char *inputs[])
{
  char               csv[PETSC_MAX_PATH_LEN] = "", json[PETSC_MAX_PATH_LEN] = "", plot[PETSC_MAX_PATH_LEN] = "";
  FILE              *f = NULL, *g = NULL;
  const char *const *types;
  PetscInt           ntypes;
  About              about;

  PetscFunctionBegin;
  PetscCall(AboutGet(&about));
  PetscCall(PetscAMBGetTypes(PETSC_TRUE, &ntypes, &types));
  PetscCheck(ntypes <= STORED - 2, comm, PETSC_ERR_PLIB, "Too many formats: raise STORED");
  PetscCall(CommandGetOutputs(comm, csv, json, sizeof(csv)));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-plot", plot, sizeof(plot), NULL));
  if (plot[0]) PetscCall(PlotCheckName(comm, plot));
  PetscCheck(!plot[0] || n <= 1, comm, PETSC_ERR_USER_INPUT, "-plot makes a picture of one matrix, and there are %d inputs", n);
  PetscCheck(n > 0, comm, PETSC_ERR_USER_INPUT, "info needs at least one file or generator, such as p7:50 (petscamb --help lists them)");
  if (json[0]) PetscCall(ReportOpen(comm, json, &f));
  if (f) fprintf(f, "[\n");
  if (csv[0]) PetscCall(ReportOpen(comm, csv, &g));
  if (g) {
    fprintf(g, "matrix,rows,cols,nonzeros,fem_like,format,bytes,bytes_model,stored_values,note");
    PetscCall(AboutCSVHeader(g));
  }
  for (int i = 0; i < n; i++) {
    Mat      A;
    Rows     rows;
    Shape    shape;
    Storages storages;
    Verdict  verdict;
    Stored   stored[STORED] = {
        {"csr",  0, 0, 0, "compressed rows, as MATAIJ"  },
        {"sell", 0, 0, 0, "slices of 8 rows, as MATSELL"}
    };

    PetscCall(InputCreateMat(comm, inputs[i], &A));
    MemoryReturn();
    PetscCall(RowsGet(A, &rows));
    PetscCall(ShapeCompute(A, &rows, &shape));
    if (plot[0]) PetscCall(PlotMatrix(comm, plot, inputs[i], &rows, &shape));
    PetscCall(StorageDistinct(comm, &rows, &storages.distinct));
    PetscCall(RowsRestore(&rows));
    MemoryReturn();
    PetscCall(StorageMake(A, &shape, &storages));
    stored[0].bytes = shape.bytes_csr;
    stored[1].bytes = shape.bytes_sell;
    for (PetscInt k = 0; k < ntypes; k++) PetscCall(StoredShadow(A, types[k], &stored[2 + k]));
    PetscCall(VerdictMake(A, &shape, &verdict));
    PetscCall(InfoPrint(comm, inputs[i], &shape, 2 + (int)ntypes, stored));
    PetscCall(StoragePrint(comm, &shape, &storages));
    PetscCall(VerdictPrint(comm, inputs[i], &verdict, &about));
    if (f) {
      PetscCall(InfoJSON(f, inputs[i], &shape, 2 + (int)ntypes, stored, &storages, &verdict, &about));
      fprintf(f, "%s\n", i + 1 < n ? "," : "");
    }
    if (g) PetscCall(InfoCSV(g, inputs[i], &shape, 2 + (int)ntypes, stored, &about));
    PetscCall(MatDestroy(&A));
  }
  if (f) fprintf(f, "]\n");
  PetscCall(ReportClose(csv, PETSC_TRUE, g));
  PetscCall(ReportClose(json, PETSC_FALSE, f));
  PetscFunctionReturn(PETSC_SUCCESS);
}
