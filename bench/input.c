/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench.h"

/* Loads a Matrix Market file, compressed or not, or a PETSc binary file, or makes the matrix that the generator of that name describes */
PetscErrorCode InputCreateMat(MPI_Comm comm, const char name[], Mat *A)
{
  const unsigned char petsc[4] = {0x00, 0x12, 0x7b, 0x50}; /* MAT_FILE_CLASSID in the byte order of PETSc's files */
  const char *const   packed[] = {"\x1f\x8b",
                                  "\xfd"
                                    "7zXZ",
                                  "BZh"}; /* the first bytes of what gzip, xz and bzip2 write */
  unsigned char       head[16] = {0};
  PetscMPIInt         rank;
  PetscBool           known, compressed = PETSC_FALSE;
  int                 length = -1; /* of the head, or -1 if the file cannot be opened */

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (rank == 0) {
    FILE *f = fopen(name, "rb");

    if (f) {
      length = (int)fread(head, 1, sizeof(head) - 1, f);
      (void)fclose(f);
    }
  }
  PetscCallMPI(MPI_Bcast(&length, 1, MPI_INT, 0, comm));
  PetscCallMPI(MPI_Bcast(head, (int)sizeof(head), MPI_UNSIGNED_CHAR, 0, comm));
  if (length < 0) {
    PetscCall(GeneratorMatches(name, &known));
    PetscCheck(known, comm, PETSC_ERR_FILE_OPEN, "%s: no file that can be read, and no generator of that name (petscamb --help lists them)", name);
    PetscCall(GeneratorCreateMat(comm, name, A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetType(*A, MATAIJ));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(packed); k++) compressed = compressed || !strncmp((char *)head, packed[k], strlen(packed[k])) ? PETSC_TRUE : PETSC_FALSE;
  if (compressed || !strncmp((char *)head, "%%MatrixMarket", 14)) {
    PetscCall(MatLoadMatrixMarket(*A, name));
  } else {
    PetscViewer viewer;

    PetscCheck(length >= 4 && !memcmp(head, petsc, 4), comm, PETSC_ERR_FILE_UNEXPECTED, "%s: neither a Matrix Market file (%%%%MatrixMarket, also of gzip, xz or bzip2) nor a matrix in PETSc's binary format", name);
    PetscCall(PetscViewerBinaryOpen(comm, name, FILE_MODE_READ, &viewer));
    PetscCall(MatLoad(*A, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RowsGet(Mat A, Rows *rows)
{
  PetscMPIInt size;
  PetscBool   done;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  if (size > 1) PetscCall(MatMPIAIJGetLocalMat(A, MAT_INITIAL_MATRIX, &rows->seq));
  else {
    PetscCall(PetscObjectReference((PetscObject)A));
    rows->seq = A;
  }
  PetscCall(MatGetSize(A, &rows->M, &rows->N));
  PetscCall(MatGetOwnershipRange(A, &rows->rstart, NULL));
  PetscCall(MatGetOwnershipRangeColumn(A, &rows->cstart, &rows->cend));
  PetscCall(MatGetRowIJ(rows->seq, 0, PETSC_FALSE, PETSC_FALSE, &rows->m, &rows->i, &rows->j, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No row access");
  PetscCall(MatSeqAIJGetArrayRead(rows->seq, &rows->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RowsRestore(Rows *rows)
{
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJRestoreArrayRead(rows->seq, &rows->a));
  PetscCall(MatRestoreRowIJ(rows->seq, 0, PETSC_FALSE, PETSC_FALSE, &rows->m, &rows->i, &rows->j, &done));
  PetscCall(MatDestroy(&rows->seq));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries in [-1,1] that depend on their place alone */
PetscErrorCode VecFill(Vec v, PetscInt64 seed)
{
  PetscScalar *a;
  PetscInt     first, last;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(v, &first, &last));
  PetscCall(VecGetArrayWrite(v, &a));
  for (PetscInt k = first; k < last; k++) a[k - first] = 2.0 * GeneratorUniform((PetscInt64)k * 4 + seed) - 1.0;
  PetscCall(VecRestoreArrayWrite(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CaseCreate(MPI_Comm comm, const char name[], Case *c)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(c, sizeof(*c)));
  c->name = name;
  PetscCall(InputCreateMat(comm, name, &c->A));
  PetscCall(RowsGet(c->A, &c->rows));
  PetscCall(ShapeCompute(c->A, &c->rows, &c->shape));
  PetscCall(MatCreateVecs(c->A, &c->x, &c->y));
  PetscCall(MatCreateVecs(c->A, &c->yt, &c->xt));
  PetscCall(VecDuplicate(c->y, &c->z));
  PetscCall(VecFill(c->x, 1));
  PetscCall(VecFill(c->xt, 2));
  PetscCall(VecFill(c->z, 3));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CaseDestroy(Case *c)
{
  PetscFunctionBegin;
  PetscCall(VecDestroy(&c->x));
  PetscCall(VecDestroy(&c->y));
  PetscCall(VecDestroy(&c->z));
  PetscCall(VecDestroy(&c->xt));
  PetscCall(VecDestroy(&c->yt));
  for (int p = 0; p < PAIRS; p++) PetscCall(PairDestroy(&c->pairs[p]));
  PetscCall(RowsRestore(&c->rows));
  PetscCall(MatDestroy(&c->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
