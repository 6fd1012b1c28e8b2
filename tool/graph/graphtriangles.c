/* SPDX-License-Identifier: BSD-2-Clause */
/*
   petscamb graph: counting triangles. With a GPU the graph of one process goes there, and the number comes back; several processes count on the host.
*/
#include "graph.h"
#include <petsctime.h>

PetscErrorCode GraphTriangles(Graph *g, GraphResult *r)
{
  PetscLogDouble start, end;
  PetscInt64     count;
  PetscMPIInt    size;

  PetscFunctionBegin;
  PetscCall(PetscTime(&start));
  PetscCallMPI(MPI_Comm_size(g->comm, &size));
  if (size == 1) PetscCall(GraphConvert(g));
  PetscCall(PetscTime(&end));
  r->setup = end - start;
  PetscCall(MatCountTriangles(g->A, &count));
  r->count[0]   = "triangles";
  r->counted[0] = count;
  r->ncount     = 1;
  r->peer       = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
