/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Symmetrization of a graph between processes: each edge to a ghost also goes, transposed, to the owner of the ghost
*/
#include "ksp/pc/impls/gamg/glue/agg.h"

/* Transposes the edges to ghosts and sorts them by ghosts; the edges for process rank[k] are begin[k] to begin[k + 1] - 1 */
static PetscErrorCode AmbAggSortEdges(const AmbAggLevel *level, PetscInt n, const AggEdge cut[], PetscMPIInt *nrank, PetscMPIInt **rank, PetscInt **begin, AggEdge **edges)
{
  const PetscSFNode *owner;
  PetscInt          *place;

  PetscFunctionBegin;
  PetscCall(PetscSFGetGraph(level->sf, NULL, NULL, NULL, &owner));
  PetscCall(PetscCalloc1(level->nghost + 1, &place));
  for (PetscInt k = 0; k < n; k++) place[cut[k].column + 1]++;
  for (PetscInt c = 0; c < level->nghost; c++) place[c + 1] += place[c];
  PetscCall(PetscMalloc1(n, edges));
  PetscCall(PetscMalloc2(level->nghost, rank, level->nghost + 1, begin));
  *nrank = 0;
  for (PetscInt c = 0; c < level->nghost; c++) {
    if (*nrank && (*rank)[*nrank - 1] == owner[c].rank) continue;
    (*begin)[*nrank]    = place[c];
    (*rank)[(*nrank)++] = (PetscMPIInt)owner[c].rank;
  }
  (*begin)[*nrank] = n;
  for (PetscInt k = 0; k < n; k++) {
    const PetscInt c = (PetscInt)cut[k].column;

    (*edges)[place[c]].row    = level->ghosts[c];
    (*edges)[place[c]].column = level->first + (PetscInt)cut[k].row;
    (*edges)[place[c]++].s    = cut[k].s;
  }
  PetscCall(PetscFree(place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AmbAggSwapEdges(const AmbAggLevel *level, PetscInt n, const AggEdge cut[], PetscInt *ncome, AggEdge **come)
{
  PetscMPIInt  nto = 0, nfrom, *to, *from, tag, count;
  PetscInt    *begin, *length, *lengths;
  AggEdge     *edges;
  MPI_Datatype edge; /* bytes of many edges are more than an int counts */
  MPI_Request *requests;
  MPI_Comm     comm;

  PetscFunctionBegin;
  PetscCall(PetscCommDuplicate(level->comm, &comm, &tag));
  PetscCallMPI(MPI_Type_contiguous(sizeof(AggEdge), MPI_BYTE, &edge));
  PetscCallMPI(MPI_Type_commit(&edge));
  PetscCall(AmbAggSortEdges(level, n, cut, &nto, &to, &begin, &edges));
  PetscCall(PetscMalloc1(nto, &length));
  for (PetscMPIInt k = 0; k < nto; k++) length[k] = begin[k + 1] - begin[k];
  PetscCall(PetscCommBuildTwoSided(comm, 1, MPIU_INT, nto, to, length, &nfrom, &from, &lengths));
  PetscCall(PetscSortMPIIntWithIntArray(nfrom, from, lengths)); /* the order of the processes is that of their vertices */
  *ncome = 0;
  for (PetscMPIInt k = 0; k < nfrom; k++) *ncome += lengths[k];
  PetscCall(PetscMalloc1(*ncome, come));
  PetscCall(PetscMalloc1(nfrom + nto, &requests));
  for (PetscInt k = 0, start = 0; k < nfrom; k++) {
    PetscCall(PetscMPIIntCast(lengths[k], &count));
    PetscCallMPI(MPI_Irecv(*come + start, count, edge, from[k], tag, comm, &requests[k]));
    start += lengths[k];
  }
  for (PetscMPIInt k = 0; k < nto; k++) {
    PetscCall(PetscMPIIntCast(length[k], &count));
    PetscCallMPI(MPI_Isend(edges + begin[k], count, edge, to[k], tag, comm, &requests[nfrom + k]));
  }
  PetscCallMPI(MPI_Waitall(nfrom + nto, requests, MPI_STATUSES_IGNORE));
  PetscCallMPI(MPI_Type_free(&edge));
  PetscCall(PetscFree(requests));
  PetscCall(PetscFree(length));
  PetscCall(PetscFree(lengths));
  PetscCall(PetscFree(from));
  PetscCall(PetscFree(edges));
  PetscCall(PetscFree2(to, begin));
  PetscCall(PetscCommDestroy(&comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}
