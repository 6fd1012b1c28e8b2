/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Symmetrization of a graph between processes: each edge to a ghost also goes, transposed, to the owner of the ghost
*/
#include "mat/aij/aijexchange.h"
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
  MatAIJMessages m = {.nto = 0};
  PetscInt      *begin;
  AggEdge       *edges;
  MPI_Datatype   edge; /* bytes of many edges are more than an int counts */
  MPI_Request   *requests;

  PetscFunctionBegin;
  PetscCall(PetscCommDuplicate(level->comm, &m.comm, &m.tag));
  PetscCallMPI(MPI_Type_contiguous(sizeof(AggEdge), MPI_BYTE, &edge));
  PetscCallMPI(MPI_Type_commit(&edge));
  PetscCall(AmbAggSortEdges(level, n, cut, &m.nto, &m.to, &begin, &edges));
  PetscCall(PetscMalloc1(m.nto, &m.go));
  for (PetscMPIInt k = 0; k < m.nto; k++) m.go[k] = begin[k + 1] - begin[k];
  PetscCall(PetscCommBuildTwoSided(m.comm, 1, MPIU_INT, m.nto, m.to, m.go, &m.nfrom, &m.from, (void *)&m.come));
  PetscCall(PetscSortMPIIntWithIntArray(m.nfrom, m.from, m.come)); /* the order of the processes is the order of their vertices */
  *ncome = 0;
  for (PetscMPIInt k = 0; k < m.nfrom; k++) *ncome += m.come[k];
  PetscCall(PetscMalloc1(*ncome, come));
  PetscCall(PetscMalloc1(m.nfrom + m.nto, &requests));
  PetscCall(MatAIJMessagesPost(&m, edge, sizeof(AggEdge), 1, edges, *come, requests));
  PetscCallMPI(MPI_Waitall(m.nfrom + m.nto, requests, MPI_STATUSES_IGNORE));
  PetscCallMPI(MPI_Type_free(&edge));
  PetscCall(PetscFree(requests));
  PetscCall(PetscFree(m.go));
  PetscCall(PetscFree(m.come));
  PetscCall(PetscFree(m.from));
  PetscCall(PetscFree(edges));
  PetscCall(PetscFree2(m.to, begin));
  PetscCall(PetscCommDestroy(&m.comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}
