/* SPDX-License-Identifier: BSD-2-Clause */
#include <sys/stat.h>

#include "bench.h"

PetscBool InputIsCompressed(const unsigned char head[INPUT_HEAD])
{
  return (PetscBool)(!memcmp(head, "\x1f\x8b", 2) || !memcmp(head, "\3757zXZ", 5) || !memcmp(head, "BZh", 3));
}

/* Looks through the lengths of rows and the columns of a file in PETSc's format, which MatLoad() believes; what MatLoad() itself finds is left to it */
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

/* Loads a Matrix Market file, compressed or not, or a PETSc binary file, or makes the matrix that the generator of that name describes */
PetscErrorCode InputCreateMat(MPI_Comm comm, const char name[], Mat *A)
{
  const unsigned char petsc[4]         = {0x00, 0x12, 0x7b, 0x50}; /* MAT_FILE_CLASSID in the byte order of PETSc's files */
  unsigned char       head[INPUT_HEAD] = {0};
  PetscMPIInt         rank;
  PetscBool           known;
  int                 length = -1; /* of the head, -1 if the file cannot be opened, or -2 for a folder */

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (rank == 0) {
    FILE       *f = fopen(name, "rb");
    struct stat about;

    if (f && !fstat(fileno(f), &about) && S_ISDIR(about.st_mode)) {
      (void)fclose(f);
      length = -2;
    } else if (f) {
      length = (int)fread(head, 1, sizeof(head) - 1, f);
      (void)fclose(f);
    }
  }
  PetscCallMPI(MPI_Bcast(&length, 1, MPI_INT, 0, comm));
  PetscCallMPI(MPI_Bcast(head, (int)sizeof(head), MPI_UNSIGNED_CHAR, 0, comm));
  PetscCheck(length != -2, comm, PETSC_ERR_FILE_OPEN, "%s: this is a folder; name a file in it", name);
  if (length < 0) {
    PetscCall(GeneratorMatches(name, &known));
    PetscCheck(known, comm, PETSC_ERR_FILE_OPEN, "%s: no file that can be read, and no generator of that name (petscamb --help lists them)", name);
    PetscCall(GeneratorCreateMat(comm, name, A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetType(*A, MATAIJ));
  if (InputIsCompressed(head) || !strncmp((char *)head, "%%MatrixMarket", 14)) {
    PetscCall(MatLoadMatrixMarket(*A, name));
  } else {
    PetscViewer    viewer;
    PetscErrorCode code;

    PetscCheck(length >= 4 && !memcmp(head, petsc, 4), comm, PETSC_ERR_FILE_UNEXPECTED, "%s: neither a Matrix Market file (%%%%MatrixMarket, also of gzip, xz or bzip2) nor a matrix in PETSc's binary format", name);
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
