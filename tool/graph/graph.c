/* SPDX-License-Identifier: BSD-2-Clause */
/*
   petscamb graph: the list of algorithms, and the options that they share.
*/
#include "graph.h"
#include <petsctime.h>

static const struct {
  const char *name, *about;
  PetscErrorCode (*run)(Graph *, GraphResult *);
} Algorithms[] = {
  {"pagerank",  "the PageRank of the vertices",                                                       GraphPageRank },
  {"hits",      "hubs and authorities",                                                               GraphHITS     },
  {"rwr",       "random walks with restart: the vertices near to each of some seeds",                 GraphRWR      },
  {"triangles", "the number of triangles; directions, weights and loops of edges do not count",       GraphTriangles},
  {"bfs",       "breadth-first search from several vertices: the number of vertices reached",         GraphBFS      },
  {"mcl",       "Markov clustering; weights are similarities, taken by magnitude and made symmetric", GraphMCL      },
};

PetscErrorCode GraphHelp(MPI_Comm comm)
{
  PetscFunctionBegin;
  PetscCall(PetscPrintf(comm, "petscamb graph ALGORITHM FILE|GENERATOR [options]\n\nAlgorithms:\n"));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Algorithms); k++) PetscCall(PetscPrintf(comm, "  %-10s %s\n", Algorithms[k].name, Algorithms[k].about));
  PetscCall(PetscPrintf(comm, "\nInputs: edge lists as of SNAP (a line: two vertices and perhaps a weight, or one vertex; # begins a comment), Matrix Market files\n\
(.mtx), both also compressed (.gz, .xz, .bz2), PETSc binary files, and the generators of petscamb -h. An entry (i, j) is an edge from i to j.\n\
Vertices have the ids of an edge list, row numbers from 1 on of a Matrix Market file, and from 0 on otherwise.\n\
\nOptions, after the input:\n\
  -undirected       every edge counts in both directions\n\
  -unweighted       every edge has the weight 1\n\
  -top N            vertices to print (default 10)\n\
  -json [FILE]      the result as JSON; without FILE on standard output, in place of the table\n\
  -csv [FILE]       the same vertices as comma-separated values; of bfs the level of each vertex, of mcl its cluster\n\
  -mat_type TYPE    the type of the matrix (default amb, of mcl hashgemm), which decides where it is: aij stays on the host\n\
  -tol T            pagerank, hits, rwr: stop if the 1-norm of the change is smaller (default 1e-10; 1e-6 in single precision)\n\
  -iterations N     or after N iterations (default 1000; of mcl 100); -tol 0 leaves the end to N alone\n\
  -c C              pagerank, rwr: the probability to go on along an edge (default 0.85 and 0.9)\n\
  -dangling WAY     pagerank: from a vertex without outgoing edges, go anywhere (uniform, the default), or remove such vertices\n\
                    until there are none (remove); removed vertices have the rank 0\n\
  -order WAY        pagerank, hits, rwr: none (the default) keeps the order of the vertices; degree, of one process, numbers vertices\n\
                    with many edges first; bitonic, of several processes, deals the rows by their lengths\n\
  -seeds ID,...     rwr: the seeds (default: the first vertex)\n\
  -sources ID,...   bfs: the vertices to start from\n\
  -count N          bfs without -sources: the number of vertices to start from, evenly spread (default 8)\n\
  -peer graphblas   triangles, bfs, one process: SuiteSparse:GraphBLAS on the host counts too; its time goes to standard error\n\
  -graphblas_lib F  its library, if it is not where the loader looks\n\
  -inflation R      mcl: the power of the inflation (default 2): a higher power makes smaller clusters\n\
  -prune P          mcl: smaller entries are left out (default 1e-4)\n\
  -keep K           mcl: so many entries stay in a row, at most (default 1000)\n\
  -batch N          mcl: so many multiplications of the expansion at a time, at most (default 2e8), which bounds the memory\n\
and any option of PETSc. petscamb -h lists the exit codes; a result that did not converge is exit code 1.\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GraphGetType(Graph *g, const char otherwise[], char type[], size_t length)
{
  PetscFunctionBegin;
  PetscCall(PetscStrncpy(type, otherwise, length));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mat_type", type, length, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Starts a GPU that the type uses: a small matrix goes there and is multiplied */
static PetscErrorCode GraphStart(Graph *g)
{
  char           type[64];
  PetscLogDouble start, end;
  Vec            x, y;
  Mat            A;

  PetscFunctionBegin;
  PetscCall(GraphGetType(g, MATAMB, type, sizeof(type)));
  PetscCall(PetscTime(&start));
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 1, 1, 1, NULL, &A));
  PetscCall(MatSetValue(A, 0, 0, 1.0, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatConvert(A, type, MAT_INPLACE_MATRIX, &A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1.0));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscTime(&end));
  g->start = end - start;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Brings the matrix to a GPU if there is one and the type uses it */
PetscErrorCode GraphConvert(Graph *g)
{
  char type[64];

  PetscFunctionBegin;
  PetscCall(GraphGetType(g, MATAMB, type, sizeof(type)));
  PetscCall(MatConvert(g->A, type, MAT_INPLACE_MATRIX, &g->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GraphGetTop(Graph *g, PetscInt *top)
{
  PetscFunctionBegin;
  *top = 10;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-top", top, NULL));
  PetscCheck(*top >= 0, g->comm, PETSC_ERR_USER_INPUT, "-top %" PetscInt_FMT " must not be negative", *top);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds the greatest entries of a vector */
PetscErrorCode GraphAddList(Graph *g, GraphResult *r, const char key[], Vec x, PetscInt top)
{
  GraphList *list = &r->list[r->nlist++];
  PetscInt  *index;

  PetscFunctionBegin;
  list->key = key;
  top       = PetscMin(top, g->n);
  PetscCall(PetscMalloc1(top, &index));
  PetscCall(PetscMalloc1(top, &list->id));
  PetscCall(PetscMalloc1(top, &list->value));
  PetscCall(VecGetTop(x, top, &list->n, index, list->value));
  PetscCall(GraphGetIds(g, list->n, index, list->id));
  PetscCall(PetscFree(index));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GraphResultDestroy(GraphResult *r)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < r->nlist; k++) {
    PetscCall(PetscFree(r->list[k].seed));
    PetscCall(PetscFree(r->list[k].id));
    PetscCall(PetscFree(r->list[k].value));
  }
  PetscCall(PetscFree(r->row));
  PetscCall(PetscFree(r->source));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AlgorithmFind(MPI_Comm comm, const char name[], int *which)
{
  const char *names[PETSC_STATIC_ARRAY_LENGTH(Algorithms)], *nearest;

  PetscFunctionBegin;
  for (*which = 0; *which < (int)PETSC_STATIC_ARRAY_LENGTH(Algorithms); (*which)++) {
    names[*which] = Algorithms[*which].name;
    if (!strcmp(name, names[*which])) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(NameNearest(name, PETSC_STATIC_ARRAY_LENGTH(Algorithms), names, &nearest));
  PetscCheck(!nearest, comm, PETSC_ERR_ARG_UNKNOWN_TYPE, "%s: there is no such algorithm; did you mean %s?", name, nearest);
  SETERRQ(comm, PETSC_ERR_ARG_UNKNOWN_TYPE, "%s: there is no such algorithm (petscamb graph -h lists them)", name);
}

PetscErrorCode GraphRun(MPI_Comm comm, int n, char *words[], PetscBool *right)
{
  Graph          g;
  GraphResult    r = {.converged = PETSC_TRUE};
  PetscLogDouble start, end;
  PetscBool      peer;
  int            which;

  PetscFunctionBegin;
  PetscCheck(n > 0, comm, PETSC_ERR_ARG_UNKNOWN_TYPE, "no algorithm: say petscamb graph ALGORITHM FILE (petscamb graph -h tells more)");
  PetscCall(AlgorithmFind(comm, words[0], &which));
  PetscCheck(n == 2, comm, PETSC_ERR_USER_INPUT, "graph %s needs one file or generator, such as rmat:10,8, and gets %d", words[0], n - 1);
  PetscCall(GraphCreate(comm, words[1], &g));
  PetscCall(GraphStage(&g, "making the matrix"));
  PetscCall(GraphStart(&g));
  PetscCallMPI(MPI_Barrier(comm));
  PetscCall(PetscTime(&start));
  g.since = start;
  PetscCall((*Algorithms[which].run)(&g, &r));
  PetscCall(PetscTime(&end));
  PetscCall(GraphProgress(&g, NULL, 0, 0));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-peer", &peer));
  PetscCheck(!peer || r.peer, comm, PETSC_ERR_USER_INPUT, "-peer: %s has no peer; triangles and bfs have", words[0]);
  if (peer) PetscCall(GraphPeer(&g, r.nsource, r.source, r.counted[0]));
  PetscCall(GraphReport(&g, Algorithms[which].name, &r, end - start));
  *right = r.converged;
  PetscCall(GraphResultDestroy(&r));
  PetscCall(GraphDestroy(&g));
  PetscFunctionReturn(PETSC_SUCCESS);
}
