/* SPDX-License-Identifier: BSD-2-Clause */
/*
   petscamb bench -compare: the results of this run beside those of an earlier one, from the file that -csv wrote.
*/
#include "bench.h"

#define COLUMNS 64
#define DRIFT   1.05 /* two runs of one program may lie so far apart, whatever the intervals within each say */

/* Cuts a line of comma-separated values into at most COLUMNS texts, in place; a text may be quoted */
static int Split(char line[], char *text[])
{
  int   n = 0;
  char *p = line;

  line[strcspn(line, "\r\n")] = 0;
  while (n < COLUMNS) {
    char *end;

    if (*p == '"') {
      text[n++] = ++p;
      end       = strchr(p, '"');
      if (!end) break;
      *end++ = 0;
    } else {
      text[n++] = p;
      end       = p + strcspn(p, ",");
    }
    if (*end != ',') {
      *end = 0;
      break;
    }
    *end = 0;
    p    = end + 1;
  }
  return n;
}

static const char *const Names[] = {"matrix", "op", "type", "ranks", "threads", "status", "median_s", "median_low_s", "median_high_s", "cpu"};
enum {
  MATRIX,
  OP,
  TYPE,
  RANKS,
  THREADS,
  STATUS,
  MEDIAN,
  LOW,
  HIGH,
  CPU,
  NAMES
};

/* Prints one line if this run has a result for the matrix, operation and type of the line of the file */
static PetscErrorCode CompareLine(char *const old[], const Machine *m, PetscInt n, const Result results[], PetscInt *found)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) {
    const Result        *r      = &results[i];
    const PetscLogDouble median = strtod(old[MEDIAN], NULL), low = strtod(old[LOW], NULL), high = strtod(old[HIGH], NULL);
    const char          *verdict;

    if (!r->reps || !(median > 0) || strcmp(old[STATUS], "ok") || strcmp(old[MATRIX], r->matrix) || strcmp(old[OP], r->op) || strcmp(old[TYPE], r->type)) continue;
    if (atoi(old[RANKS]) != m->ranks || atoi(old[THREADS]) != m->threads) continue;
    verdict = r->median_high < low && median > DRIFT * r->median ? "faster" : r->median_low > high && r->median > DRIFT * median ? "slower" : "the same";
    PetscCall(ReportPrintf(PETSC_COMM_SELF, "  %-20s %-8s %-10s %11.2f %11.2f %8.2fx  %s%s\n", r->matrix, r->op, r->type, 1e6 * median, 1e6 * r->median, median / r->median, verdict, strcmp(old[CPU], m->about.cpu) ? " (another processor)" : ""));
    (*found)++;
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Without a machine it only looks whether the file is one of petscamb bench */
PetscErrorCode CompareCSV(MPI_Comm comm, const char name[], const Machine *m, PetscInt n, const Result results[])
{
  FILE       *f;
  char        line[4096], *text[COLUMNS], *old[NAMES];
  int         at[NAMES], columns, missing = -1;
  PetscInt    found = 0;
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (rank) PetscFunctionReturn(PETSC_SUCCESS);
  f = fopen(name, "r");
  PetscCheck(f, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "-compare %s: cannot be opened", name);
  columns = 0;
  while (!columns && fgets(line, sizeof(line), f)) { /* docs/results/measure.py writes comments before the columns */
    if (line[0] != '#') columns = Split(line, text);
  }
  for (int k = 0; k < NAMES; k++) {
    at[k] = -1;
    for (int c = 0; c < columns; c++) {
      if (!strcmp(text[c], Names[k])) at[k] = c;
    }
    if (at[k] < 0 && missing < 0) missing = k;
  }
  PetscCheck(missing < 0, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "-compare %s: no column %s; give a file that petscamb bench -csv wrote", name, Names[missing]);
  if (!m) {
    (void)fclose(f);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(ReportPrintf(PETSC_COMM_SELF, "\nbeside %s\n  %-20s %-8s %-10s %11s %11s %9s\n", name, "matrix", "op", "type", "then us", "now us", "speed"));
  while (fgets(line, sizeof(line), f)) {
    columns = Split(line, text);
    for (int k = 0; k < NAMES; k++) old[k] = at[k] < columns ? text[at[k]] : line + strlen(line);
    PetscCall(CompareLine(old, m, n, results, &found));
  }
  (void)fclose(f);
  if (!found) PetscCall(ReportPrintf(PETSC_COMM_SELF, "  no result of %s has a matrix, operation, type, and number of ranks and threads of this run\n", name));
  PetscFunctionReturn(PETSC_SUCCESS);
}
