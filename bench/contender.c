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

PetscErrorCode ContenderPoison(Contender c, Vec v)
{
  PetscFunctionBegin;
  PetscCall(VecPoison(v));
  if (c->device[0]) PetscCall((*c->peer->load)(c, v));
  if (c->dense[1]) PetscCall(MatScale(c->dense[1], NAN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ContenderDestroy(Contender *c)
{
  PetscFunctionBegin;
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
