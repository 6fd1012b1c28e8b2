/* SPDX-License-Identifier: BSD-2-Clause */
/*
   petscamb graph: the graph that was read, what the algorithms find out, and how it is written.

   To add an algorithm, write a graph*.c and name it in Algorithms[] (graph.c).
*/
#pragma once

#include "../tool.h"

typedef struct {
  MPI_Comm       comm;
  const char    *name;
  Mat            A;              /* AIJ on the host: an edge from i to j is the entry (i, j) */
  PetscInt       n, m;           /* vertices, and those of this process */
  PetscLogDouble edges, entries; /* of the input, and of A, which has both directions of undirected edges */
  PetscBool      named;          /* have vertices ids of their own? If not, row r has the id first + r */
  PetscInt64    *ids;            /* of the vertices of this process, ascending over all processes */
  PetscInt64     first;
  PetscBool      progress, said; /* is standard error a terminal? was progress reported? */
  PetscLogDouble since;          /* when it was reported last */
  PetscInt       laps;           /* iterations that have ended, and when the first ones of these did */
  PetscLogDouble lap[256];
  PetscLogDouble start; /* seconds to start a GPU */
} Graph;

/* Vertices with values, the greatest value first */
typedef struct {
  const char *key; /* in JSON */
  PetscInt    n;
  PetscInt64 *seed; /* NULL, or the seed that each line belongs to */
  PetscInt64 *id;
  PetscReal  *value;
} GraphList;

#define GRAPH_LISTS  2
#define GRAPH_COUNTS 3

typedef struct {
  PetscInt       nlist, ncount;
  GraphList      list[GRAPH_LISTS];
  const char    *count[GRAPH_COUNTS]; /* what was counted */
  PetscInt64     counted[GRAPH_COUNTS];
  PetscInt       iterations; /* 0: the algorithm does not iterate */
  PetscBool      converged;
  PetscLogDouble setup; /* seconds before the first iteration */
  PetscInt       walks; /* how often an iteration goes along each edge; 0: not known */
  PetscInt       rows;  /* lines for -csv, on process 0; 0: the lists */
  const char    *head;  /* their columns, at most 3 */
  PetscInt64    *row;   /* the numbers of each line, one after the other */
  PetscInt       columns;
  PetscBool      peer; /* can a peer count the same, from these vertices, or NULL? */
  PetscInt       nsource, *source;
} GraphResult;

/* Vertices and their ids */
PETSC_INTERN PetscErrorCode GraphGetIds(Graph *, PetscInt, const PetscInt index[], PetscInt64 id[]);
PETSC_INTERN PetscErrorCode GraphGetOption(Graph *, const char option[], PetscInt *n, PetscInt *index[]);
PETSC_INTERN PetscErrorCode GraphGather(Graph *, const PetscInt64 local[], PetscInt64 *all[]);
PETSC_INTERN PetscErrorCode GraphGatherIds(Graph *, PetscInt64 *all[]);
PETSC_INTERN PetscErrorCode GraphAddList(Graph *, GraphResult *, const char key[], Vec, PetscInt top);

/* Input and output */
PETSC_INTERN PetscErrorCode GraphCreate(MPI_Comm, const char name[], Graph *);
PETSC_INTERN PetscErrorCode GraphDestroy(Graph *);
PETSC_INTERN PetscErrorCode GraphStage(Graph *, const char stage[]);
PETSC_INTERN PetscErrorCode GraphIterate(PetscBool begins);
PETSC_INTERN PetscErrorCode GraphProgress(Graph *, const char what[], PetscInt done, PetscReal change);
PETSC_INTERN PetscErrorCode GraphReport(Graph *, const char algorithm[], const GraphResult *, PetscLogDouble seconds);
PETSC_INTERN PetscErrorCode GraphResultDestroy(GraphResult *);

/* Random walks: P has the probabilities of steps, times c, from its columns to its rows */
typedef struct {
  Mat          P;
  PetscInt    *place, *vertex; /* the number that a vertex has in P, and the vertex with a number; NULL: their own */
  PetscInt    *i, *j;          /* P's arrays, or NULL if they are its own */
  PetscScalar *a;
  IS           rows; /* of several processes: the vertices whose rows of P this process has; NULL: their own */
} GraphWalk;

/* keep is NULL, or 1 for the vertices that stay and 0 for the others; with c = -1 P is the transposed matrix */
PETSC_INTERN PetscErrorCode GraphWalkCreate(Graph *, PetscReal c, Vec keep, GraphWalk *);
PETSC_INTERN PetscErrorCode GraphWalkFind(Graph *, const GraphWalk *, PetscInt vertex, PetscInt *number);
PETSC_INTERN PetscErrorCode GraphWalkPermute(Graph *, const GraphWalk *, Vec x, PetscBool back, Vec *y);
PETSC_INTERN PetscErrorCode GraphWalkDestroy(GraphWalk *);
PETSC_INTERN PetscErrorCode GraphCheckWeights(Graph *);
PETSC_INTERN PetscErrorCode GraphOutWeights(Graph *, Vec keep, Vec out);
PETSC_INTERN PetscErrorCode GraphGetType(Graph *, const char otherwise[], char type[], size_t);
PETSC_INTERN PetscErrorCode GraphConvert(Graph *);
PETSC_INTERN PetscErrorCode GraphGetStop(Graph *, PetscReal *tol, PetscInt *most);
PETSC_INTERN PetscErrorCode GraphGetTop(Graph *, PetscInt *top);
PETSC_INTERN PetscErrorCode GraphSymmetrize(Mat A, Mat *B);

/* Another library answers too, if -peer is given */
PETSC_INTERN PetscErrorCode GraphPeer(Graph *, PetscInt n, const PetscInt source[], PetscInt64 counted);

/* The algorithms */
PETSC_INTERN PetscErrorCode GraphPageRank(Graph *, GraphResult *);
PETSC_INTERN PetscErrorCode GraphHITS(Graph *, GraphResult *);
PETSC_INTERN PetscErrorCode GraphRWR(Graph *, GraphResult *);
PETSC_INTERN PetscErrorCode GraphTriangles(Graph *, GraphResult *);
PETSC_INTERN PetscErrorCode GraphBFS(Graph *, GraphResult *);
PETSC_INTERN PetscErrorCode GraphMCL(Graph *, GraphResult *);
