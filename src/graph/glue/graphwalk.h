/* SPDX-License-Identifier: BSD-2-Clause */
/*
   What MatPageRank(), MatHITS() and MatRandomWalkWithRestart() share: the matrix of a random walk, and the iteration to a fixed point
*/
#pragma once

#include <petscambgraph.h>
#include "graph/glue/graph.h"

/* A step of a walk on a graph A multiplies with P, whose entry (w, v) is the probability of the step from v to w, times the damping. Of an AIJ, P is a matrix, perhaps with
   other numbers of the vertices; of other types, a product with A^T between two products with diagonal matrices. */
typedef struct {
  Mat          A, P;              /* P: NULL for other types than AIJ */
  Vec          scale, keep, work; /* without P: the factors of each vertex before a step, or NULL. keep: 1 for the vertices that stay, 0 for others, in P's numbers; or NULL. */
  PetscInt     stay;              /* number of vertices that stay */
  PetscInt    *position, *vertex; /* a vertex's row in P, and a row's vertex; or NULL */
  PetscInt    *i, *j;             /* P's arrays, or NULL if P owns them */
  PetscScalar *a;
  IS           rows; /* on several processes: the vertices of this process's rows of P, or NULL */
} GraphWalk;

/* Checks the arguments of a function, and sets *it to the caller's parameters, or else to the defaults in *own */
extern PetscErrorCode GraphWalkCheck(Mat A, const char function[], MatGraphIteration *own, MatGraphIteration **it);

/* Checks that a vector is distributed as the rows of A */
extern PetscErrorCode GraphWalkCheckVec(Mat A, const char function[], Vec x);

/* Without probabilities, P is the transpose of A, and all vertices stay */
extern PetscErrorCode GraphWalkCreate(Mat A, PetscBool probabilities, const MatGraphIteration *, const char function[], GraphWalk *);
extern PetscErrorCode GraphWalkCreateVecs(const GraphWalk *, int n, Vec x[]); /* of vertices in P's numbers */
extern PetscErrorCode GraphWalkMult(const GraphWalk *, PetscBool transpose, Vec x, Vec z);
extern PetscErrorCode GraphWalkFind(const GraphWalk *, PetscInt vertex, PetscInt *number);   /* the number of a vertex in P */
extern PetscErrorCode GraphWalkPermute(const GraphWalk *, PetscBool back, Vec from, Vec to); /* from A's numbers to P's, or back */
extern PetscErrorCode GraphWalkDestroy(GraphWalk *);

/* Calls step() until *change is less than the tolerance, or *done is PETSC_TRUE, and sets the results in *it. done: there is nothing to iterate on. */
extern PetscErrorCode GraphWalkIterate(Mat A, MatGraphIteration *it, PetscErrorCode (*step)(void *, PetscReal *change, PetscBool *done), void *context, PetscBool done);
