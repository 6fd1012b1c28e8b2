/* SPDX-License-Identifier: BSD-2-Clause */
/*
   petscamb graph: the graph, the results of algorithms, and their output.

   To add an algorithm, write a graph*.c and name it in Algorithms[] (graph.c).
*/
#pragma once

#include "../tool.h"

typedef struct {
  MPI_Comm       comm;
  const char    *name;
  Mat            A;              /* AIJ on the host: an edge from i to j is the entry (i, j) */
  PetscInt       n, m;           /* vertices of the graph, and of this process */
  PetscLogDouble edges, entries; /* of the input, and of A, which has both directions of undirected edges */
  PetscBool      named;          /* the input names vertices by ids; otherwise row r has the id first + r */
  PetscInt64    *ids;            /* ids of the vertices of this process, ascending over all processes */
  PetscInt64     first;
  PetscBool      progress, said; /* standard error is a terminal; progress was reported */
  PetscLogDouble since;          /* time of the last report */
  PetscInt       laps;           /* iterations done; lap: the times at which the first ones ended */
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
  const char    *count[GRAPH_COUNTS]; /* names of the numbers in counted */
  PetscInt64     counted[GRAPH_COUNTS];
  PetscInt       iterations; /* 0: the algorithm does not iterate */
  PetscBool      converged;
  PetscLogDouble setup; /* seconds before the first iteration */
  PetscInt       walks; /* traversals of each edge in an iteration; 0: unknown */
  PetscInt       rows;  /* lines for -csv, on process 0; 0: the lists */
  const char    *head;  /* their columns, at most 3 */
  PetscInt64    *row;   /* the numbers of each line, one after the other */
  PetscInt       columns;
  PetscBool      peer; /* a peer can count the same, from the vertices source, or from none if NULL */
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
PETSC_INTERN PetscErrorCode GraphProgress(Graph *, const char what[], PetscInt done, PetscReal change);
PETSC_INTERN PetscErrorCode GraphReport(Graph *, const char algorithm[], const GraphResult *, PetscLogDouble seconds);
PETSC_INTERN PetscErrorCode GraphResultDestroy(GraphResult *);

PETSC_INTERN PetscErrorCode GraphGetType(Graph *, const char otherwise[], char type[], size_t);
PETSC_INTERN PetscErrorCode GraphConvert(Graph *);
PETSC_INTERN PetscErrorCode GraphGetTop(Graph *, PetscInt *top);
PETSC_INTERN PetscErrorCode GraphSymmetrize(Mat A, Mat *B);

/* Compares the count with another library's, with -peer */
PETSC_INTERN PetscErrorCode GraphPeer(Graph *, PetscInt n, const PetscInt source[], PetscInt64 counted);

/* The algorithms */
PETSC_INTERN PetscErrorCode GraphPageRank(Graph *, GraphResult *);
PETSC_INTERN PetscErrorCode GraphHITS(Graph *, GraphResult *);
PETSC_INTERN PetscErrorCode GraphRWR(Graph *, GraphResult *);
PETSC_INTERN PetscErrorCode GraphTriangles(Graph *, GraphResult *);
PETSC_INTERN PetscErrorCode GraphBFS(Graph *, GraphResult *);
PETSC_INTERN PetscErrorCode GraphMCL(Graph *, GraphResult *);
