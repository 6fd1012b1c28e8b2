/* SPDX-License-Identifier: BSD-2-Clause */
/*
   petscamb graph -peer graphblas: triangles and searches by SuiteSparse:GraphBLAS on the host, found at run time as in peer_graphblas.c. The methods follow LAGraph: for triangles
   the product of the lower and the upper part over the positions of the lower one, for searches a product of the vertices reached last, a row for each source, with the graph.
*/
#include "graph.h"
#include <petsctime.h>
#include <dlfcn.h>

#if defined(PETSC_USE_REAL_DOUBLE) && !defined(PETSC_USE_COMPLEX)

typedef unsigned long long GrBIndex; /* 64 bits, by the specification of GraphBLAS */

static struct {
  void *library;
  int (*init)(int);
  int (*import)(void **, void *, GrBIndex, GrBIndex, const GrBIndex *, const GrBIndex *, const double *, GrBIndex, GrBIndex, GrBIndex, int);
  int (*create)(void **, void *, GrBIndex, GrBIndex);
  int (*destroy)(void **);
  int (*entries)(GrBIndex *, void *);
  int (*set)(void *, _Bool, GrBIndex, GrBIndex);
  int (*wait)(void *, int);
  int (*add)(void *, void *, void *, void *, void *, void *, void *);
  int (*select)(void *, void *, void *, void *, void *, int64_t, void *);
  int (*extract)(void *, void *, void *, void *, const GrBIndex *, GrBIndex, const GrBIndex *, GrBIndex, void *);
  int (*multiply)(void *, void *, void *, void *, void *, void *, void *);
  int (*reduce)(int64_t *, void *, void *, void *, void *);
} GrB;

  #define PetscCallGrB(...) \
    do { \
      int grb_info = (__VA_ARGS__); \
      PetscCheck(!grb_info, PETSC_COMM_SELF, PETSC_ERR_LIB, "GraphBLAS returned %d", grb_info); \
    } while (0)

static PetscErrorCode PeerFunction(const char symbol[], void *function)
{
  PetscFunctionBegin;
  *(void **)function = dlsym(GrB.library, symbol);
  PetscCheck(*(void **)function, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "-peer graphblas: this libgraphblas.so has no %s", symbol);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The value of a variable */
static PetscErrorCode PeerValue(const char symbol[], void **value)
{
  void *variable;

  PetscFunctionBegin;
  *value = NULL;
  PetscCall(PeerFunction(symbol, &variable));
  *value = *(void **)variable;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PeerFind(void)
{
  const char *const name[] = {"libgraphblas.so", "libgraphblas.so.7", "libgraphblas.so.9", "libgraphblas.so.10"};
  char              path[PETSC_MAX_PATH_LEN];
  PetscBool         given;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-graphblas_lib", path, sizeof(path), &given));
  if (given) GrB.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  for (int n = 0; !given && n < 4 && !GrB.library; n++) GrB.library = dlopen(name[n], RTLD_NOW | RTLD_LOCAL);
  PetscCheck(GrB.library, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "-peer graphblas: no libgraphblas.so: install libgraphblas-dev, or name it with -graphblas_lib FILE");
  PetscCall(PeerFunction("GrB_init", &GrB.init));
  PetscCall(PeerFunction("GrB_Matrix_import_FP64", &GrB.import));
  PetscCall(PeerFunction("GrB_Matrix_new", &GrB.create));
  PetscCall(PeerFunction("GrB_Matrix_free", &GrB.destroy));
  PetscCall(PeerFunction("GrB_Matrix_nvals", &GrB.entries));
  PetscCall(PeerFunction("GrB_Matrix_setElement_BOOL", &GrB.set));
  PetscCall(PeerFunction("GrB_Matrix_wait", &GrB.wait));
  PetscCall(PeerFunction("GrB_Matrix_eWiseAdd_BinaryOp", &GrB.add));
  PetscCall(PeerFunction("GrB_Matrix_select_INT64", &GrB.select));
  PetscCall(PeerFunction("GrB_Matrix_extract", &GrB.extract));
  PetscCall(PeerFunction("GrB_mxm", &GrB.multiply));
  PetscCall(PeerFunction("GrB_Matrix_reduce_INT64", &GrB.reduce));
  PetscCallGrB((*GrB.init)(1)); /* 1: blocking, so that a step is done when it returns */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The vertices by ascending degree, which LAGraph takes for graphs with hubs */
static PetscErrorCode PeerOrder(Graph *g, GrBIndex **order)
{
  Rows      rows;
  PetscInt *degree, *vertex;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(g->n, order));
  PetscCall(PetscMalloc2(g->n, &degree, g->n, &vertex));
  PetscCall(PetscArrayzero(degree, g->n));
  PetscCall(RowsGet(g->A, &rows));
  for (PetscInt v = 0; v < rows.m; v++) {
    vertex[v] = v;
    degree[v] += rows.i[v + 1] - rows.i[v];
    for (PetscInt k = rows.i[v]; k < rows.i[v + 1]; k++) degree[rows.j[k]]++;
  }
  PetscCall(RowsRestore(&rows));
  PetscCall(PetscSortIntWithArray(g->n, degree, vertex));
  for (PetscInt v = 0; v < g->n; v++) (*order)[v] = (GrBIndex)vertex[v];
  PetscCall(PetscFree2(degree, vertex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PeerImport(Graph *g, void **A)
{
  Rows      rows;
  GrBIndex *i, *j;
  void     *type;

  PetscFunctionBegin;
  PetscCall(PeerValue("GrB_FP64", &type));
  PetscCall(RowsGet(g->A, &rows));
  PetscCall(PetscMalloc2(rows.m + 1, &i, rows.i[rows.m], &j));
  for (PetscInt r = 0; r <= rows.m; r++) i[r] = (GrBIndex)rows.i[r];
  for (PetscInt e = 0; e < rows.i[rows.m]; e++) j[e] = (GrBIndex)rows.j[e];
  PetscCallGrB((*GrB.import)(A, type, (GrBIndex)rows.M, (GrBIndex)rows.N, i, j, rows.a, (GrBIndex)rows.m + 1, (GrBIndex)rows.i[rows.m], (GrBIndex)rows.i[rows.m], 0));
  PetscCall(PetscFree2(i, j));
  PetscCall(RowsRestore(&rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PeerTriangles(Graph *g, void *A, PetscInt64 *count, PetscLogDouble *product)
{
  void          *logical, *integer, *one, *off, *lower, *upper, *semiring, *sum, *second, *masked, *B, *C, *L, *U, *T;
  GrBIndex      *order;
  PetscLogDouble start, end;
  const GrBIndex n = (GrBIndex)g->n;

  PetscFunctionBegin;
  PetscCall(PeerValue("GrB_BOOL", &logical));
  PetscCall(PeerValue("GrB_INT64", &integer));
  PetscCall(PeerValue("GrB_ONEB_BOOL", &one));
  PetscCall(PeerValue("GrB_OFFDIAG", &off));
  PetscCall(PeerValue("GrB_TRIL", &lower));
  PetscCall(PeerValue("GrB_TRIU", &upper));
  PetscCall(PeerValue("GxB_PLUS_PAIR_INT64", &semiring));
  PetscCall(PeerValue("GrB_PLUS_MONOID_INT64", &sum));
  PetscCall(PeerValue("GrB_DESC_T1", &second));
  PetscCall(PeerValue("GrB_DESC_ST1", &masked));
  for (void **m = (void *[]){&B, &C, &L, &U, NULL}; *m; m++) PetscCallGrB((*GrB.create)((void **)*m, logical, n, n));
  PetscCallGrB((*GrB.create)(&T, integer, n, n));
  PetscCallGrB((*GrB.add)(B, NULL, NULL, one, A, A, second));
  PetscCallGrB((*GrB.select)(B, NULL, NULL, off, B, 0, NULL));
  PetscCall(PeerOrder(g, &order));
  PetscCallGrB((*GrB.extract)(C, NULL, NULL, B, order, n, order, n, NULL));
  PetscCall(PetscFree(order));
  PetscCallGrB((*GrB.select)(L, NULL, NULL, lower, C, -1, NULL));
  PetscCallGrB((*GrB.select)(U, NULL, NULL, upper, C, 1, NULL));
  PetscCall(PetscTime(&start));
  PetscCallGrB((*GrB.multiply)(T, L, NULL, semiring, L, U, masked));
  PetscCallGrB((*GrB.reduce)((int64_t *)count, NULL, sum, T, NULL));
  PetscCall(PetscTime(&end));
  *product = end - start;
  for (void **m = (void *[]){&B, &C, &L, &U, &T, NULL}; *m; m++) PetscCallGrB((*GrB.destroy)((void **)*m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PeerSearch(Graph *g, void *A, PetscInt n, const PetscInt source[], PetscInt64 *count)
{
  void    *logical, *one, *semiring, *fresh, *F, *seen;
  GrBIndex entries;

  PetscFunctionBegin;
  PetscCall(PeerValue("GrB_BOOL", &logical));
  PetscCall(PeerValue("GrB_ONEB_BOOL", &one));
  PetscCall(PeerValue("GxB_ANY_PAIR_BOOL", &semiring));
  PetscCall(PeerValue("GrB_DESC_RSC", &fresh));
  PetscCallGrB((*GrB.create)(&F, logical, (GrBIndex)n, (GrBIndex)g->n));
  PetscCallGrB((*GrB.create)(&seen, logical, (GrBIndex)n, (GrBIndex)g->n));
  for (PetscInt q = 0; q < n; q++) PetscCallGrB((*GrB.set)(F, 1, (GrBIndex)q, (GrBIndex)source[q]));
  for (;;) {
    PetscCallGrB((*GrB.add)(seen, NULL, NULL, one, seen, F, NULL));
    PetscCallGrB((*GrB.multiply)(F, seen, NULL, semiring, F, A, fresh));
    PetscCallGrB((*GrB.entries)(&entries, F));
    if (!entries) break;
  }
  PetscCallGrB((*GrB.entries)(&entries, seen));
  *count = (PetscInt64)entries;
  PetscCallGrB((*GrB.destroy)(&F));
  PetscCallGrB((*GrB.destroy)(&seen));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lets the peer answer the question too if it is wanted, says how long it takes, and fails if it counts something else; source is NULL for triangles */
PetscErrorCode GraphPeer(Graph *g, PetscInt n, const PetscInt source[], PetscInt64 counted)
{
  char           name[32];
  PetscBool      given, known;
  PetscMPIInt    size;
  PetscInt64     count;
  PetscLogDouble start, end, product = 0;
  void          *A;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-peer", name, sizeof(name), &given));
  if (!given) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrcmp(name, "graphblas", &known));
  PetscCheck(known, g->comm, PETSC_ERR_ARG_UNKNOWN_TYPE, "-peer %s: the peer that is known is graphblas", name);
  PetscCallMPI(MPI_Comm_size(g->comm, &size));
  PetscCheck(size == 1 && g->edges > 0, g->comm, PETSC_ERR_USER_INPUT, "-peer graphblas: GraphBLAS runs in one process, and on a graph with edges");
  PetscCall(PeerFind());
  PetscCall(PeerImport(g, &A));
  PetscCall(PetscTime(&start));
  if (source) PetscCall(PeerSearch(g, A, n, source, &count));
  else PetscCall(PeerTriangles(g, A, &count, &product));
  PetscCall(PetscTime(&end));
  PetscCallGrB((*GrB.destroy)(&A));
  PetscCall(PetscFPrintf(g->comm, stderr, "graphblas: %" PetscInt64_FMT " %s, %.4g s", count, source ? "reached" : "triangles", end - start));
  if (!source) PetscCall(PetscFPrintf(g->comm, stderr, " (%.4g s in the product and its sum)", product));
  PetscCall(PetscFPrintf(g->comm, stderr, "\n"));
  PetscCheck(count == counted, g->comm, PETSC_ERR_PLIB, "GraphBLAS counts %" PetscInt64_FMT ", petsc-amb %" PetscInt64_FMT, count, counted);
  PetscFunctionReturn(PETSC_SUCCESS);
}

#else

PetscErrorCode GraphPeer(Graph *g, PetscInt n, const PetscInt source[], PetscInt64 counted)
{
  PetscBool given;

  PetscFunctionBegin;
  PetscCall(PetscOptionsHasName(NULL, NULL, "-peer", &given));
  PetscCheck(!given, g->comm, PETSC_ERR_SUP, "-peer: compared in real double precision alone");
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
