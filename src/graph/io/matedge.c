/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MatLoadEdgeList(): from a list of edges to a distributed matrix.

   Each process reads the lines that begin in its share of a plain file; the first process reads a compressed file. The ids are numbered; then the
   edges are handled as the entries of a Matrix Market file.
*/
#include <petsc/private/petscimpl.h>
#include <petscambgraph.h>
#include "graph/io/edgeids.h"
#include "graph/io/edgeparse.h"
#include "mat/io/mtxfile.h"

#define EDGE_BATCH 1024 /* edges parsed at a time */

typedef struct {
  Edge  *edges;
  size_t count, capacity;
} EdgeStore;

/* Parses an open file to its end or its first fault. *lines: lines before. */
static PetscErrorCode MatEdgeParse(MtxFile *f, EdgeStore *store, int64_t *lines, MtxFault *fault)
{
  PetscFunctionBegin;
  MtxPrepareDecimal();
  while (MtxFileFill(f, fault, *lines + 1)) {
    EdgeStatus  status;
    const char *reason;
    size_t      used, count, begin = f->begin;

    do {
      if (store->capacity - store->count < EDGE_BATCH) {
        store->capacity = store->capacity + store->capacity / 2 + EDGE_BATCH;
        PetscCall(PetscRealloc(store->capacity * sizeof(*store->edges), &store->edges));
      }
      status = EdgeParse(f->text + f->begin, f->length, f->last, store->edges + store->count, EDGE_BATCH, &count, &used, lines, &reason);
      store->count += count;
      f->begin += used;
      f->length -= used;
    } while (status == EDGE_FULL);
    if (status == EDGE_BAD) MtxFileFault(fault, PETSC_ERR_FILE_UNEXPECTED, *lines + 1, reason, NULL);
    else if (!f->last && f->begin == begin) MtxFileFault(fault, PETSC_ERR_FILE_UNEXPECTED, *lines + 1, "the line is too long", NULL);
    if (f->last || fault->code) break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the lines before the edges, on the first process */
static PetscErrorCode MatEdgeReadHead(MtxFile *f, EdgeHead *head, MtxFault *fault)
{
  EdgeStatus status = EDGE_MORE;
  size_t     used   = 1;

  PetscFunctionBegin;
  while (status == EDGE_MORE && used && MtxFileFill(f, fault, head->lines + 1)) { /* a line that is too long consumes nothing; MatEdgeParse() reports it */
    status = EdgeParseHead(head, f->text + f->begin, f->length, f->last, &used);
    f->begin += used;
    f->length -= used;
    if (f->last) break;
  }
  if (status == EDGE_MORE && f->last && head->names && !fault->code) MtxFileFault(fault, PETSC_ERR_FILE_UNEXPECTED, head->names, "a vertex is a whole number", NULL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads this process's share. A fault has its line within the share. */
static PetscErrorCode MatEdgeReadShare(MPI_Comm comm, const char file[], EdgeStore *store, int64_t *lines, MtxFault *fault)
{
  MtxFile     f;
  PetscMPIInt size, rank;
  EdgeHead    head = {0, 0, 0};
  int64_t     about[2];

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(MtxFileOpenAll(file, &f, fault));
  if (!rank && !fault->code) PetscCall(MatEdgeReadHead(&f, &head, fault));
  *lines   = head.lines;
  about[0] = f.size;
  about[1] = head.bytes;
  PetscCallMPI(MPI_Bcast(about, 2, MPIU_INT64, 0, comm));
  if (!fault->code && about[0] != f.size) MtxFileFault(fault, PETSC_ERR_FILE_OPEN, 0, "processes see different files", NULL);
  if (!fault->code && (f.unpacker ? !rank : MtxFileSetRange(&f, about[1], rank, size, fault))) PetscCall(MatEdgeParse(&f, store, lines, fault));
  PetscCall(MtxFileClose(&f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Distributes the first faulty process's fault, with its line in the file */
static PetscErrorCode MatEdgeAgree(MPI_Comm comm, int64_t lines, MtxFault *fault)
{
  PetscMPIInt rank, mine, first;
  int64_t     upto;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  mine = fault->code ? rank : PETSC_MPI_INT_MAX;
  PetscCallMPI(MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm));
  if (first == PETSC_MPI_INT_MAX) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Scan(&lines, &upto, 1, MPIU_INT64, MPI_SUM, comm));
  if (fault->line) fault->line += upto - lines;
  PetscCallMPI(MPI_Bcast(fault, (PetscMPIInt)sizeof(*fault), MPI_BYTE, first, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the matrix of all edges and the ids of this process's rows; frees the edges */
static PetscErrorCode MatEdgeFill(Mat A, const char file[], PetscMPIInt tag, EdgeStore *store, PetscInt64 **rows)
{
  MPI_Comm        comm    = PetscObjectComm((PetscObject)A);
  MtxHeader       h       = {.format = MTX_COORDINATE, .field = MTX_REAL, .symmetry = MTX_GENERAL};
  MtxStore        entries = {.entries = NULL};
  EdgeIds         ids, range;
  int64_t        *list, n = 0, first;
  const PetscInt *ranges;
  PetscInt        m;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(2 * store->count, &list));
  for (size_t k = 0; k < store->count; k++) {
    list[n++] = store->edges[k].from;
    if (store->edges[k].to != EDGE_NONE) list[n++] = store->edges[k].to;
  }
  PetscCall(EdgeIdsCreate(n, list, &ids));
  PetscCall(PetscFree(list));
  PetscCall(EdgeIdsNumber(comm, &ids, &h.m, &first, &range));
  h.n = h.m;
  PetscCall(MatMMCheckMatrix(A, file, &h));
  PetscCall(PetscMalloc1(store->count, &entries.entries));
  for (size_t k = 0; k < store->count; k++) {
    const Edge e = store->edges[k];

    if (e.to == EDGE_NONE) continue;
    entries.entries[entries.count++] = (MtxEntry){(PetscInt)ids.number[EdgeIdsFind(&ids, e.from)], (PetscInt)ids.number[EdgeIdsFind(&ids, e.to)], (PetscScalar)e.weight};
  }
  entries.capacity = store->count;
  PetscCall(PetscFree(store->edges));
  PetscCall(EdgeIdsDestroy(&ids));
  PetscCall(MatMMFill(A, file, &h, tag, &entries));
  PetscCall(MtxStoreDestroy(&entries));
  if (rows) {
    PetscCall(MatGetLocalSize(A, &m, NULL));
    PetscCall(MatGetOwnershipRanges(A, &ranges));
    PetscCall(PetscMalloc1(m, rows));
    PetscCall(EdgeIdsToRows(comm, first, &range, ranges, *rows));
  }
  PetscCall(EdgeIdsDestroy(&range));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
   MatLoadEdgeList - Fills a square matrix from a list of edges, as the Stanford Network Analysis Project (SNAP) publishes graphs

   Collective

   Input Parameters:
+  A    - the matrix, from `MatCreate()`; its type and sizes may be set; a type that is not set becomes `MATAIJ`
-  file - the name of the file, which all processes can read; it may be compressed by gzip, xz or bzip2

   Output Parameter:
.  ids - for each row of this process the id of its vertex in the file; free it with `PetscFree()`; pass `NULL` if you do not need it

   Level: beginner

   Notes:
   Each line has one or more blanks or tabs, or a comma, between its columns. Two columns are an edge from the first to the second vertex, of weight 1; a third
   column is the weight of the edge. A line with one column names a vertex, which may have no edge. Lines that begin with # or % are comments. One line before the
   first edge may have the names of the columns.

   An id is a whole number from 0 to 2^63 - 1. Vertices have the rows 0 to n - 1 in ascending order of their ids, on any number of processes.
   An edge from i to j is the entry (i, j). The weights of an edge that occurs more than once are added up.

   Each process reads a part of a plain file. The first process reads a compressed file.

   All processes get an error of the file; A is unchanged then.

   Errors:
+  `PETSC_ERR_FILE_OPEN`       - the file cannot be opened, is no regular file, or the processes see different files
.  `PETSC_ERR_FILE_READ`       - reading failed
.  `PETSC_ERR_FILE_UNEXPECTED` - the file violates the format, or its compressed data are damaged; the message has the line and the reason
.  `PETSC_ERR_SUP_SYS`         - the library was built without the decompressor of the file
.  `PETSC_ERR_ARG_SIZ`         - sizes or the block size of `A` do not fit the graph
.  `PETSC_ERR_ARG_OUTOFRANGE`  - the matrix is too large for `PetscInt`
.  `PETSC_ERR_SUP`             - one process has more than 2^31 - 1 vertices
-  `PETSC_ERR_ARG_NULL`        - `file` is `NULL`

   Example:
.vb
   PetscInt64 *ids;

   PetscCall(MatLoadEdgeList(A, "soc-graph.txt.gz", &ids));
   PetscCall(PetscPrintf(PETSC_COMM_SELF, "the first row is vertex %" PetscInt64_FMT "\n", ids[0]));
   PetscCall(PetscFree(ids));
.ve

.seealso: `MatLoadGetFormat()`, `MatLoadMatrixMarket()`, `MatCountTriangles()`, `MatBreadthFirst()`, `MatLoad()`, `MatCreate()`, `MATAIJ`, `MATAMB`
@*/
PetscErrorCode MatLoadEdgeList(Mat A, const char file[], PetscInt64 *ids[])
{
  MPI_Comm    comm;
  PetscMPIInt tag;
  EdgeStore   store = {NULL, 0, 0};
  MtxFault    fault = {.code = 0};
  int64_t     lines = 0;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscCall(PetscObjectGetComm((PetscObject)A, &comm));
  PetscCheck(file, comm, PETSC_ERR_ARG_NULL, "The name of the file is NULL");
  PetscCall(PetscObjectGetNewTag((PetscObject)A, &tag));
  PetscCall(MatEdgeReadShare(comm, file, &store, &lines, &fault));
  PetscCall(MatEdgeAgree(comm, lines, &fault));
  if (fault.code) PetscCall(PetscFree(store.edges));
  PetscCheck(!fault.code || !fault.line, comm, (PetscErrorCode)fault.code, "%s:%lld: %s", file, (long long)fault.line, fault.reason);
  PetscCheck(!fault.code, comm, (PetscErrorCode)fault.code, "%s: %s", file, fault.reason);
  PetscCall(MatEdgeFill(A, file, tag, &store, ids));
  PetscFunctionReturn(PETSC_SUCCESS);
}
