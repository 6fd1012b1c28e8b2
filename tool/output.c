/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Output of the commands: parts of tables, and the files that -csv, -json and others name. Rank 0 writes.
*/
#include "tool.h"
#include <stdarg.h>
#include <unistd.h>

/* Prints a part of a table, which stands on the standard output unless results go there */
PetscErrorCode ReportPrintf(MPI_Comm comm, const char format[], ...)
{
  PetscMPIInt rank;
  va_list     arguments;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (rank || PETSC_STDOUT != stdout) PetscFunctionReturn(PETSC_SUCCESS);
  va_start(arguments, format);
  PetscCall((*PetscVFPrintf)(PETSC_STDOUT, format, arguments));
  va_end(arguments);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Opens a file on process 0, or the standard output, named "-"; on other processes the result is NULL */
PetscErrorCode ReportOpen(MPI_Comm comm, const char name[], FILE **f)
{
  PetscMPIInt rank;
  int         fine = 1;

  PetscFunctionBegin;
  *f = NULL;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (rank == 0) {
    *f   = strcmp(name, "-") ? fopen(name, "w") : stdout;
    fine = *f != NULL;
  }
  PetscCallMPI(MPI_Bcast(&fine, 1, MPI_INT, 0, comm));
  PetscCheck(fine, comm, PETSC_ERR_FILE_OPEN, "%s: cannot be written", name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ends a file, or the standard output, which has no name; NULL on other processes. An incomplete file is cut to length 0, so that no reader takes it for complete;
   but rows that were measured one after the other stay. */
PetscErrorCode ReportClose(const char name[], PetscBool rows, FILE *f)
{
  int bad;

  PetscFunctionBegin;
  if (!f) PetscFunctionReturn(PETSC_SUCCESS);
  bad = ferror(f); /* of an earlier write, about which fclose() says nothing */
  bad = (f == stdout ? fflush(f) : fclose(f)) || bad;
  if (bad && f != stdout && !rows) (void)!truncate(name, 0); /* a device has no length */
  PetscCheck(!bad, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "%s: could not be written whole; is the disk full?", f == stdout ? "standard output" : name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes a text as a string of JSON */
PetscErrorCode JSONString(FILE *f, const char text[])
{
  PetscFunctionBegin;
  fputc('"', f);
  for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
    if (*p == '"' || *p == '\\') fprintf(f, "\\%c", *p);
    else if (*p < 0x20) fprintf(f, "\\u%04x", *p);
    else fputc(*p, f);
  }
  fputc('"', f);
  PetscFunctionReturn(PETSC_SUCCESS);
}
