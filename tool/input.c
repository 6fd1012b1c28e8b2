/* SPDX-License-Identifier: BSD-2-Clause */
#include <sys/stat.h>

#include "tool.h"

/* Looks through the lengths of rows and the columns of a file in PETSc's format, which MatLoad() does not check; MatLoad() reports other mistakes */
static PetscErrorCode InputCheckPetsc(MPI_Comm comm, const char name[])
{
  const PetscInt most     = 1 << 16;
  PetscInt64     wrong[3] = {-1, 0, 0}; /* a row or an entry; is it an entry; what it has */
  PetscMPIInt    rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (rank == 0) {
    PetscViewer viewer;
    PetscInt    head[4], *buffer, got;
    PetscBool   fits;

    PetscCall(PetscViewerBinaryOpen(PETSC_COMM_SELF, name, FILE_MODE_READ, &viewer));
    PetscCall(PetscMalloc1(most, &buffer));
    PetscCall(PetscViewerBinaryRead(viewer, head, 4, &got, PETSC_INT));
    fits = (PetscBool)(got == 4 && head[1] >= 0 && head[2] >= 0); /* a dense matrix has -1 entries */
    for (int entries = 0; entries < 2; entries++) {
      const PetscInt n = head[entries ? 3 : 1], end = entries ? head[2] : PETSC_MAX_INT;

      for (PetscInt k = 0; fits && wrong[0] < 0 && k < n; k += got) {
        PetscCall(PetscViewerBinaryRead(viewer, buffer, PetscMin(n - k, most), &got, PETSC_INT));
        fits = (PetscBool)(got == PetscMin(n - k, most));
        for (PetscInt i = 0; i < got && wrong[0] < 0; i++) {
          if (buffer[i] >= 0 && buffer[i] < end) continue;
          wrong[0] = k + i;
          wrong[1] = entries;
          wrong[2] = buffer[i];
        }
      }
    }
    PetscCall(PetscFree(buffer));
    PetscCall(PetscViewerDestroy(&viewer));
  }
  PetscCallMPI(MPI_Bcast(wrong, 3, MPIU_INT64, 0, comm));
  PetscCheck(wrong[0] < 0, comm, PETSC_ERR_FILE_UNEXPECTED, "%s: the file is damaged: %s %lld has the %s %lld", name, wrong[1] ? "entry" : "row", (long long)wrong[0], wrong[1] ? "column" : "length", (long long)wrong[2]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets whether a file, or anything else, has this name. Process 0 decides. */
static PetscErrorCode InputExists(MPI_Comm comm, const char name[], PetscBool *exists)
{
  PetscMPIInt rank;
  struct stat about;
  int         there;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  there = rank ? 0 : !stat(name, &about);
  PetscCallMPI(MPI_Bcast(&there, 1, MPI_INT, 0, comm));
  *exists = there ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The format of an input; MAT_LOAD_OTHER for the name of a generator too */
PetscErrorCode InputGetFormat(MPI_Comm comm, const char name[], MatLoadFormat *format)
{
  PetscBool exists;

  PetscFunctionBegin;
  *format = MAT_LOAD_OTHER;
  PetscCall(InputExists(comm, name, &exists));
  if (exists) PetscCall(MatLoadGetFormat(comm, name, format));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Loads a Matrix Market file, compressed or not, or a PETSc binary file, or makes the matrix that the generator of that name describes */
PetscErrorCode InputCreateMat(MPI_Comm comm, const char name[], Mat *A)
{
  MatLoadFormat format;
  PetscBool     exists, known;

  PetscFunctionBegin;
  PetscCall(InputExists(comm, name, &exists));
  if (!exists) {
    PetscCall(GeneratorMatches(name, &known));
    PetscCheck(known, comm, PETSC_ERR_FILE_OPEN, "%s: no file that can be read, and no generator of that name (petscamb --help lists them)", name);
    PetscCall(GeneratorCreateMat(comm, name, A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatLoadGetFormat(comm, name, &format));
  PetscCheck(format == MAT_LOAD_MATRIX_MARKET || format == MAT_LOAD_PETSC, comm, PETSC_ERR_FILE_UNEXPECTED, "%s: neither a Matrix Market file (%%%%MatrixMarket, also of gzip, xz or bzip2) nor a matrix in PETSc's binary format%s", name, format == MAT_LOAD_EDGE_LIST ? "; lists of edges are for petscamb graph" : "");
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetType(*A, MATAIJ));
  if (format == MAT_LOAD_MATRIX_MARKET) PetscCall(MatLoadMatrixMarket(*A, name));
  else {
    PetscViewer    viewer;
    PetscErrorCode code;

    PetscCall(InputCheckPetsc(comm, name));
    PetscCall(PetscViewerBinaryOpen(comm, name, FILE_MODE_READ, &viewer));
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL)); /* PETSc's own message has no name of a file */
    code = MatLoad(*A, viewer);
    PetscCall(PetscPopErrorHandler());
    PetscCheck(code != PETSC_ERR_FILE_READ && code != PETSC_ERR_FILE_UNEXPECTED, comm, PETSC_ERR_FILE_UNEXPECTED, "%s: the file is cut off or damaged, or was written by a PETSc whose indices or numbers have another size", name);
    PetscCall(code);
    PetscCall(PetscViewerDestroy(&viewer));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
