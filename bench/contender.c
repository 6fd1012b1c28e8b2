/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench.h"

/* The other libraries by name; any other name is taken for a Mat type */
static const Peer *const Peers[] = {&PeerCSR, &PeerMKL, &PeerGraphBLAS};

PetscErrorCode ContenderCreate(Case *k, const char name[], Contender *contender)
{
  Contender c;
  char     *slash;

  PetscFunctionBegin;
  PetscCall(PetscNew(&c));
  PetscCall(PetscStrncpy(c->name, name, sizeof(c->name)));
  PetscCall(PetscStrncpy(c->type, name, sizeof(c->type)));
  PetscCall(PetscStrchr(c->type, '/', &slash));
  if (slash) {
    *slash = 0;
    PetscCall(PetscStrncpy(c->algorithm, slash + 1, sizeof(c->algorithm)));
  }
  PetscCall(NameSplitPrefix(c->type, sizeof(c->prefix), c->prefix));
  c->peer = &PeerMat;
  for (int p = 0; p < (int)PETSC_STATIC_ARRAY_LENGTH(Peers); p++) {
    PetscBool same;

    PetscCall(PetscStrcmp(name, Peers[p]->name, &same));
    if (same) c->peer = Peers[p];
  }
  PetscCall((*c->peer->create)(c, k));
  *contender = c;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecTransfer(Vec from, Vec to)
{
  const PetscScalar *f;
  PetscScalar       *t;
  PetscInt           n;

  PetscFunctionBegin;
  if (from == to) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetLocalSize(to, &n));
  PetscCall(VecGetArrayRead(from, &f));
  PetscCall(VecGetArrayWrite(to, &t));
  PetscCall(PetscArraycpy(t, f, n));
  PetscCall(VecRestoreArrayWrite(to, &t));
  PetscCall(VecRestoreArrayRead(from, &f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ContenderDestroyPair(Contender c)
{
  PetscFunctionBegin;
  for (int f = 0; f < 3; f++) PetscCall(MatDestroy(&c->pair[f]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ContenderTime(Contender c, int *batch, PetscLogDouble *time)
{
  int unused;

  PetscFunctionBegin;
  if (c->peer->wait) PetscCall((*c->peer->wait)(c, batch ? batch : &unused));
  PetscCall(MachineTime(time));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ContenderProduct(Contender c, MatProductType type, Mat A, Mat B, Mat *C)
{
  PetscFunctionBegin;
  PetscCall(MatProductCreate(A, B, NULL, C));
  PetscCall(MatProductSetType(*C, type));
  if (c->algorithm[0]) PetscCall(MatProductSetAlgorithm(*C, c->algorithm));
  PetscCall(MatProductSetFill(*C, PETSC_DEFAULT));
  if (c->prefix[0]) PetscCall(MatSetOptionsPrefix(*C, c->prefix));
  PetscCall(MatProductSetFromOptions(*C));
  PetscCall(MatProductSymbolic(*C));
  PetscCall(MatProductNumeric(*C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DenseCreate(Contender c, PetscInt columns, Vec from, Mat *D)
{
  PetscInt n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(from, &n));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)from), D));
  PetscCall(MatSetSizes(*D, n, PETSC_DECIDE, PETSC_DETERMINE, columns));
  PetscCall(MatSetType(*D, c->device[0] ? MATDENSECUDA : MATDENSE));
  PetscCall(MatSetUp(*D));
  for (PetscInt column = 0; column < columns; column++) {
    Vec v;

    PetscCall(MatDenseGetColumnVecWrite(*D, column, &v));
    PetscCall(VecCopy(from, v));
    PetscCall(VecScale(v, 1 - (PetscReal)column / (2 * columns)));
    PetscCall(MatDenseRestoreColumnVecWrite(*D, column, &v));
  }
  PetscCall(MatAssemblyBegin(*D, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*D, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ContenderDense(Contender c, const Case *k, PetscBool transpose, Vec from, PetscBool *made)
{
  PetscInt columns = 0;

  PetscFunctionBegin;
  if (c->dense[0]) PetscCall(MatGetSize(c->dense[0], NULL, &columns));
  *made = (PetscBool)(columns != k->columns || c->densetranspose != transpose);
  if (!*made) PetscFunctionReturn(PETSC_SUCCESS);
  for (int d = 0; d < 2; d++) PetscCall(MatDestroy(&c->dense[d]));
  PetscCall(DenseCreate(c, k->columns, from, &c->dense[0]));
  c->densetranspose = transpose;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ContenderFactors(Contender c, const Case *k, Vec rows, Vec columns, PetscBool *made)
{
  PetscInt K = 0;

  PetscFunctionBegin;
  if (c->factor[0]) PetscCall(MatGetSize(c->factor[0], NULL, &K));
  *made = (PetscBool)(K != k->columns);
  if (!*made) PetscFunctionReturn(PETSC_SUCCESS);
  for (int d = 0; d < 2; d++) PetscCall(MatDestroy(&c->factor[d]));
  PetscCall(MatDestroy(&c->sampled));
  PetscCall(DenseCreate(c, k->columns, rows, &c->factor[0]));
  PetscCall(DenseCreate(c, k->columns, columns, &c->factor[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ContenderDenseColumn(Contender c, PetscInt column, Vec x, Vec y)
{
  const Vec to[2] = {x, y};

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) {
    Vec v;

    PetscCall(MatDenseGetColumnVecRead(c->dense[k], column, &v));
    PetscCall(VecTransfer(v, to[k]));
    PetscCall(MatDenseRestoreColumnVecRead(c->dense[k], column, &v));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ContenderPoison(Contender c, Vec v)
{
  PetscFunctionBegin;
  PetscCall(VecPoison(v));
  if (c->device[0]) PetscCall((*c->peer->load)(c, v));
  if (c->dense[1]) PetscCall(MatScale(c->dense[1], NAN));
  if (c->sampled) PetscCall(MatScale(c->sampled, NAN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ContenderDestroy(Contender *c)
{
  PetscFunctionBegin;
  for (int d = 0; d < 2; d++) {
    PetscCall(MatDestroy(&(*c)->dense[d]));
    PetscCall(MatDestroy(&(*c)->factor[d]));
  }
  PetscCall(MatDestroy(&(*c)->sampled));
  PetscCall(ContenderDestroyPair(*c));
  PetscCall((*(*c)->peer->destroy)(*c));
  PetscCall(PetscFree(*c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Raises an error if a name of -types has no meaning */
PetscErrorCode ContenderCheckType(MPI_Comm comm, const char name[])
{
  const char *names[PETSC_STATIC_ARRAY_LENGTH(Peers)];

  PetscFunctionBegin;
  for (size_t p = 0; p < PETSC_STATIC_ARRAY_LENGTH(Peers); p++) names[p] = Peers[p]->name;
  PetscCall(NameCheckType(comm, name, PETSC_STATIC_ARRAY_LENGTH(Peers), names));
  PetscFunctionReturn(PETSC_SUCCESS);
}
