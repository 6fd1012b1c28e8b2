/* SPDX-License-Identifier: BSD-2-Clause */
/*
   petscamb graph: counting triangles. With a GPU the graph goes there, and the number comes back.
*/
#include "graph.h"
#include <petsctime.h>

PetscErrorCode GraphTriangles(Graph *g, GraphResult *r)
{
  PetscLogDouble start, end;
  PetscInt64     count;

  PetscFunctionBegin;
  PetscCall(PetscTime(&start));
  PetscCall(GraphConvert(g));
  PetscCall(PetscTime(&end));
  r->setup = end - start;
  PetscCall(MatCountTriangles(g->A, &count));
  r->count[0]   = "triangles";
  r->counted[0] = count;
  r->ncount     = 1;
  r->peer       = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
