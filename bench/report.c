/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Results as a table for a terminal, as comma-separated values and as JSON. Rank 0 writes.
*/
#include "bench.h"

#define UNSTEADY 1.5 /* times the minimum: a median above it is worth a warning */

PetscErrorCode ReportMachine(MPI_Comm comm, const Machine *m)
{
  PetscFunctionBegin;
  PetscCall(ReportPrintf(comm, "%s, %d processors of which %d may be used; %d rank%s x %d thread%s\n", m->about.cpu, m->about.processors, m->allowed, m->ranks, m->ranks > 1 ? "s" : "", m->threads, m->threads > 1 ? "s" : ""));
  PetscCall(ReportPrintf(comm, "memory: read %.1f GB/s, copy %.1f GB/s (read and write counted); read %.1f GB/s within half of the %.0f MiB last-level cache\n", m->read_memory / 1e9, m->copy_memory / 1e9, m->read_cache / 1e9, m->llc / 1048576));
  if (m->ranks * m->threads > m->allowed * (m->allowed < m->about.processors ? m->ranks : 1)) PetscCall(ReportPrintf(comm, "warning: more threads than processors to run them on; times will be meaningless\n"));
  if (AboutBusy(&m->about))
    PetscCall(ReportPrintf(comm, "warning: the load of the last minute, %.1f, is above the number of processors: other programs share them, and times may mean nothing; try OMP_NUM_THREADS=1 and -processor_time\n", m->about.load));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints a figure, or a dash if it is unknown */
static PetscErrorCode Cell(char text[], size_t len, const char format[], double value)
{
  PetscFunctionBegin;
  if (value > 0) PetscCall(PetscSNPrintf(text, len, format, value));
  else PetscCall(PetscStrncpy(text, "-", len));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReportCase(MPI_Comm comm, const Case *k, PetscInt n, const Result results[])
{
  const Shape *s = &k->shape;

  PetscFunctionBegin;
  PetscCall(ReportPrintf(comm, "\n%s: %" PetscInt_FMT " x %" PetscInt_FMT ", %.0f nonzeros, %.1f a row, at most %" PetscInt_FMT "%s\n", k->name, s->M, s->N, s->nonzeros, s->row_mean, s->row_max, s->fem_like ? ", FEM-like" : ""));
  PetscCall(ReportPrintf(comm, "  %-8s %-10s %11s %11s %8s %7s %6s %6s %7s %-11s  %s\n", "op", "type", "median us", "min us", "GFLOP/s", "GB/s", "%read", "B/nnz", "vs aij", "interval", ""));
  for (PetscInt i = 0; i < n; i++) {
    const Result *r = &results[i];
    char          flops[16], rate[16], read[16], bytes[16], ratio[16], interval[32] = "", note[128];

    if (!r->reps) {
      PetscCall(ReportPrintf(comm, "  %-8s %-10s absent: %s\n", "", r->type, r->absent));
      continue;
    }
    PetscCall(Cell(flops, sizeof(flops), "%.2f", r->flops / 1e9));
    PetscCall(Cell(rate, sizeof(rate), "%.1f", r->bytes / r->median / 1e9));
    PetscCall(Cell(read, sizeof(read), "%.0f%%", 100 * r->read));
    PetscCall(Cell(bytes, sizeof(bytes), "%.2f", r->matrix_bytes / PetscMax(r->nonzeros, 1)));
    PetscCall(Cell(ratio, sizeof(ratio), "%.2fx", r->ratio));
    if (r->ratio > 0 && strcmp(r->type, MATAIJ)) PetscCall(PetscSNPrintf(interval, sizeof(interval), "%.2f-%.2f", r->ratio_low, r->ratio_high));
    if (r->product) PetscCall(PetscSNPrintf(note, sizeof(note), "%s", r->note));
    else PetscCall(PetscSNPrintf(note, sizeof(note), "= %.1f products", r->products));
    PetscCall(ReportPrintf(comm, "  %-8s %-10s %11.2f %11.2f %8s %7s %6s %6s %7s %-11s  %s%s\n", r->op, r->type, 1e6 * r->median, 1e6 * r->least, flops, rate, read, bytes, ratio, interval, r->error <= 1 ? "" : "WRONG ", note));
    if (!(r->error <= 1)) PetscCall(ReportPrintf(comm, "  %-8s %-10s off by %g times the rounding error that is allowed\n", "", "", (double)r->error));
  }
  for (PetscInt i = 0; i < n; i++) {
    const Result *r = &results[i];

    if (r->reps && r->median > UNSTEADY * r->least) PetscCall(ReportPrintf(comm, "  warning: %s %s: the median is %.1f times the minimum: other programs took part of the time, or the threads were moved\n", r->op, r->type, r->median / r->least));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints one line: the mean result of one type for one operation over a group of matrices; group 0: FEM-like, 1: others, 2: all */
static PetscErrorCode SummaryLine(MPI_Comm comm, PetscInt n, const Result results[], const Result *like, int group)
{
  const char *const name[] = {"FEM-like", "others", "all"};
  PetscLogDouble    logs = 0, least = PETSC_MAX_REAL, cost = 0;
  PetscInt          count = 0;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) {
    const Result *r = &results[i];

    if (!r->reps || strcmp(r->op, like->op) || strcmp(r->type, like->type) || (group < 2 && r->fem_like != (group == 0 ? PETSC_TRUE : PETSC_FALSE))) continue;
    if (r->product && r->ratio > 0) {
      logs += log(r->ratio);
      least = PetscMin(least, r->ratio);
      count++;
    } else if (!r->product && r->products > 0) {
      logs += log(r->products);
      cost = PetscMax(cost, r->products);
      count++;
    }
  }
  if (!count) PetscFunctionReturn(PETSC_SUCCESS);
  if (like->product) PetscCall(ReportPrintf(comm, "  %-8s %-10s %-9s %8" PetscInt_FMT " %9.2fx %9.2fx\n", like->op, like->type, name[group], count, exp(logs / count), least));
  else PetscCall(ReportPrintf(comm, "  %-8s %-10s %-9s %8" PetscInt_FMT " %9.1f  %9.1f  products\n", like->op, like->type, name[group], count, exp(logs / count), cost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReportSummary(MPI_Comm comm, PetscInt n, const Result results[])
{
  PetscInt wrong = 0, checked = 0;

  PetscFunctionBegin;
  PetscCall(ReportPrintf(comm, "\n  %-8s %-10s %-9s %8s %10s %10s\n", "op", "type", "group", "matrices", "geomean", "worst"));
  for (PetscInt i = 0; i < n; i++) {
    PetscBool first = PETSC_TRUE, both[2] = {PETSC_FALSE, PETSC_FALSE};

    if (!results[i].reps) continue;
    for (PetscInt j = 0; j < n; j++) {
      if (!results[j].reps || strcmp(results[i].op, results[j].op) || strcmp(results[i].type, results[j].type)) continue;
      if (j < i) first = PETSC_FALSE;
      both[results[j].fem_like ? 0 : 1] = PETSC_TRUE;
    }
    checked++;
    wrong += results[i].error <= 1 ? 0 : 1;
    if (!first || !strcmp(results[i].type, MATAIJ)) continue;
    for (int group = 0; group < 3; group++) {
      if (group == 2 ? both[0] && both[1] : both[group]) PetscCall(SummaryLine(comm, n, results, &results[i], group));
    }
  }
  if (wrong) PetscCall(ReportPrintf(comm, "\nWRONG: %" PetscInt_FMT " of %" PetscInt_FMT " results\n", wrong, checked));
  else PetscCall(ReportPrintf(comm, "\nall %" PetscInt_FMT " results agree with products in extended precision\n", checked));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReportCSVHeader(FILE *f)
{
  PetscFunctionBegin;
  fprintf(f, "matrix,rows,cols,nonzeros,fem_like,ranks,threads,op,type,status,reps,median_s,min_s,flops_per_s,bytes,matrix_bytes,read_fraction,ratio_aij,products,error,note,median_low_s,median_high_s,ratio_low,ratio_high");
  PetscCall(AboutCSVHeader(f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReportCSV(FILE *f, const Machine *m, PetscInt n, const Result results[])
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) {
    const Result *r = &results[i];

    fprintf(f, "\"%s\",%" PetscInt_FMT ",%" PetscInt_FMT ",%.0f,%d,%d,%d,%s,%s,%s,%" PetscInt_FMT ",%.9g,%.9g,%.6g,%.0f,%.0f,%.4f,%.4f,%.3f,%.3g,\"%s\",%.9g,%.9g,%.4f,%.4f", r->matrix, r->rows, r->cols, r->nonzeros, (int)r->fem_like, m->ranks, m->threads, r->op, r->type, r->status, r->reps, r->median, r->least, r->flops, r->bytes, r->matrix_bytes, r->read, r->ratio, r->products,
            (double)r->error, r->reps ? r->note : r->absent, r->median_low, r->median_high, r->ratio_low, r->ratio_high);
    PetscCall(AboutCSV(f, &m->about));
  }
  PetscCheck(!fflush(f), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "the file of results could not be written; is the disk full?");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReportJSON(MPI_Comm comm, const char name[], const Machine *m, PetscInt n, const Result results[])
{
  FILE *f;

  PetscFunctionBegin;
  PetscCall(ReportOpen(comm, name, &f));
  if (!f) PetscFunctionReturn(PETSC_SUCCESS);
  fprintf(f, "{\n  \"machine\": {");
  PetscCall(AboutJSON(f, &m->about));
  fprintf(f, ", \"processors\": %d, \"allowed\": %d, \"ranks\": %d, \"threads\": %d, \"llc_bytes\": %.0f, \"read_memory\": %.6g, \"read_cache\": %.6g, \"copy_memory\": %.6g},\n  \"results\": [", m->about.processors, m->allowed, m->ranks, m->threads, m->llc, m->read_memory, m->read_cache, m->copy_memory);
  for (PetscInt i = 0; i < n; i++) {
    const Result *r = &results[i];

    fprintf(f, "%s\n    {\"matrix\": ", i ? "," : "");
    PetscCall(JSONString(f, r->matrix));
    fprintf(f, ", \"rows\": %" PetscInt_FMT ", \"cols\": %" PetscInt_FMT ", \"nonzeros\": %.0f, \"fem_like\": %s, \"op\": \"%s\", \"type\": ", r->rows, r->cols, r->nonzeros, r->fem_like ? "true" : "false", r->op);
    PetscCall(JSONString(f, r->type));
    fprintf(f, ", \"status\": \"%s\", \"note\": ", r->status);
    PetscCall(JSONString(f, r->reps ? r->note : r->absent));
    if (r->reps) {
      fprintf(f, ", \"reps\": %" PetscInt_FMT ", \"median_s\": %.9g, \"min_s\": %.9g, \"error\": %.3g", r->reps, r->median, r->least, (double)r->error);
      if (r->flops > 0) fprintf(f, ", \"flops_per_s\": %.6g", r->flops);
      if (r->bytes > 0) fprintf(f, ", \"bytes\": %.0f, \"matrix_bytes\": %.0f, \"read_fraction\": %.4f", r->bytes, r->matrix_bytes, r->read);
      fprintf(f, ", \"median_low_s\": %.9g, \"median_high_s\": %.9g", r->median_low, r->median_high);
      if (r->ratio > 0) fprintf(f, ", \"ratio_aij\": %.4f, \"ratio_low\": %.4f, \"ratio_high\": %.4f", r->ratio, r->ratio_low, r->ratio_high);
      if (r->products > 0) fprintf(f, ", \"products\": %.3f", r->products);
    }
    fprintf(f, "}");
  }
  fprintf(f, "\n  ]\n}\n");
  PetscCall(ReportClose(name, PETSC_FALSE, f));
  PetscFunctionReturn(PETSC_SUCCESS);
}
