/* SPDX-License-Identifier: BSD-2-Clause */
#include <sys/stat.h>

#include "bench.h"

PetscBool InputIsCompressed(const unsigned char head[INPUT_HEAD])
{
  return (PetscBool)(!memcmp(head, "\x1f\x8b", 2) || !memcmp(head, "\3757zXZ", 5) || !memcmp(head, "BZh", 3));
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
