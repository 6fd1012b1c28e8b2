/* SPDX-License-Identifier: BSD-2-Clause */
/*
   petscamb graph: counting triangles. Each edge is kept in the direction from the vertex of lower degree; a triangle is then one path of two edges beside one edge.

   T. Schank, D. Wagner, Finding, Counting and Listing All Triangles in Large Graphs, WEA 2005.
*/
#include "graph.h"

PetscErrorCode GraphTriangles(Graph *g, GraphResult *r)
{
  Mat            B, U;
  Vec            ones, degree;
  PetscLogDouble count;

  PetscFunctionBegin;
  PetscCall(MatTranspose(g->A, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatAXPY(B, 1.0, g->A, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatPowEntries(B, 0));
  PetscCall(MatCreateVecs(B, &ones, &degree));
  PetscCall(VecSet(ones, 1.0));
  PetscCall(MatMult(B, ones, degree));
  PetscCall(MatGraphOrient(B, degree, &U));
  PetscCall(MatDestroy(&B));
  PetscCall(VecDestroy(&ones));
  PetscCall(VecDestroy(&degree));
  PetscCall(MatMatMultMaskSum(U, U, U, &count));
  PetscCall(MatDestroy(&U));
  r->count[0]   = "triangles";
  r->counted[0] = (PetscInt64)count;
  r->ncount     = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}
