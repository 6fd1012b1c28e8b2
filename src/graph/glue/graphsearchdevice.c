/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Searches on the GPUs of all processes. In each level the host sends the bits of other processes' vertices and receives its own; all other words
   stay on the device.
*/
#include <petscdevice_cuda.h>

#include "graph/glue/graphdevice.h"
#include "graph/cuda/graphcuda.h"
#include "graph/glue/graph.h"
#include "graph/host/graphpolicy.h"

typedef struct {
  Mat                A;
  GraphSearch       *search;
  SysStatus          status; /* of this process, until SearchAgree() */
  MPI_Comm           comm;
  PetscMPIInt        tag;
  PetscSF            sf; /* with several processes; owns the following arrays */
  PetscMPIInt        nto, nfrom;
  const PetscMPIInt *to, *from; /* processes that bits go to, and come from */
  const PetscInt    *tostart, *fromstart, *list;
  MPI_Request       *requests;
  int               *level;
} Search;

/* All processes continue or none does: sums *reached, and checks whether any device failed or lacked memory */
static PetscErrorCode SearchAgree(Search *s, int64_t *reached, PetscBool *done)
{
  PetscInt64 sum[3] = {*reached, s->status != SYS_SUCCESS, s->status == SYS_ERROR};

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 3, MPIU_INT64, MPI_SUM, s->comm));
  PetscCheck(!sum[2], s->comm, PETSC_ERR_GPU, "A search on the GPU: %s", s->status == SYS_ERROR ? SysDeviceErrorText() : "the search of another process failed");
  *reached = sum[0];
  *done    = (PetscBool)!sum[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The second block's columns ascend, so a process's are contiguous */
static PetscErrorCode SearchExchangeCreate(Search *s)
{
  const PetscInt *columns;

  PetscFunctionBegin;
  PetscCall(MatAIJGetScatter(s->A, &s->sf));
  PetscCall(PetscSFGetRootRanks(s->sf, &s->nto, &s->to, &s->tostart, &columns, NULL));
  for (PetscInt k = 0; k < s->tostart[s->nto]; k++) PetscAssert(columns[k] == k, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Columns of other processes are not in the order of these");
  PetscCall(PetscSFGetLeafRanks(s->sf, &s->nfrom, &s->from, &s->fromstart, &s->list));
  PetscCall(PetscMalloc1(s->nto + s->nfrom, &s->requests));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SearchUpload(const GraphRows *rows, SysCSR csr[2])
{
  PetscFunctionBegin;
  for (int k = 0; k < 2 && rows->block[k]; k++) PetscCall(MatAIJDeviceGetArrays(rows->block[k], &csr[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SearchCreate(Search *s, Mat A, PetscInt levels, PetscBool *done)
{
  GraphRows rows;
  SysCSR    csr[2];
  int64_t   none = 0;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(s, sizeof(*s)));
  s->A = A;
  PetscCall(PetscCommDuplicate(PetscObjectComm((PetscObject)A), &s->comm, &s->tag));
  PetscCall(GraphRowsGet(A, &rows));
  for (int k = 0; k < 2 && rows.block[k]; k++) {
    if (!MatAIJValuesOnDevice(rows.block[k])) s->status = SYS_OUT_OF_MEMORY;
  }
  PetscCall(SearchAgree(s, &none, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  if (SearchUpload(&rows, csr)) s->status = SYS_ERROR; /* SearchAgree() informs the others, which do not wait for this process */
  PetscCall(SearchAgree(s, &none, done));
  if (rows.block[1]) PetscCall(SearchExchangeCreate(s));
  if (levels) PetscCall(PetscMalloc1((size_t)levels * A->rmap->n, &s->level));
  s->status = GraphSearchCreate(&csr[0], rows.block[1] ? &csr[1] : NULL, s->sf ? s->fromstart[s->nfrom] : 0, s->list, (int)levels, &s->search, PetscDefaultCudaStream);
  PetscCall(SearchAgree(s, &none, done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SearchDestroy(Search *s)
{
  PetscFunctionBegin;
  GraphSearchDestroy(s->search);
  PetscCall(PetscFree(s->level));
  PetscCall(PetscFree(s->requests));
  PetscCall(PetscSFDestroy(&s->sf));
  PetscCall(PetscCommDestroy(&s->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A process whose device failed takes part, so that the others do not wait for it */
static PetscErrorCode SearchExchange(Search *s)
{
  const uint64_t *out;
  uint64_t       *in;
  MPI_Request    *r      = s->requests;
  const SysStatus status = GraphSearchGetOut(s->search, &out, &in);

  PetscFunctionBegin;
  if (!s->status) s->status = status;
  for (PetscMPIInt k = 0; k < s->nfrom; k++) PetscCallMPI(MPI_Irecv(in + s->fromstart[k], (PetscMPIInt)(s->fromstart[k + 1] - s->fromstart[k]), MPI_UINT64_T, s->from[k], s->tag, s->comm, r++));
  for (PetscMPIInt k = 0; k < s->nto; k++) PetscCallMPI(MPI_Isend(out + s->tostart[k], (PetscMPIInt)(s->tostart[k + 1] - s->tostart[k]), MPI_UINT64_T, s->to[k], s->tag, s->comm, r++));
  PetscCallMPI(MPI_Waitall(s->nfrom + s->nto, s->requests, MPI_STATUSES_IGNORE));
  if (!s->status) s->status = GraphSearchSetIn(s->search, PetscDefaultCudaStream);
  PetscCall(PetscLogGpuToCpu((PetscLogDouble)s->tostart[s->nto] * (PetscLogDouble)sizeof(*out)));
  PetscCall(PetscLogCpuToGpu((PetscLogDouble)s->fromstart[s->nfrom] * (PetscLogDouble)sizeof(*in)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Searches from up to 64 sources */
static PetscErrorCode SearchRun(Search *s, PetscInt n, const PetscInt source[], PetscInt64 level[], PetscInt64 *reached, PetscInt64 *farthest, PetscBool *done)
{
  const PetscInt m = s->A->rmap->n, first = s->A->rmap->rstart;
  int64_t        none = 0;
  int            from[GRAPH_SEARCH_SOURCES];

  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; k++) from[k] = source[k] >= first && source[k] < first + m ? (int)(source[k] - first) : -1;
  s->status = GraphSearchStart(s->search, (int)n, from, PetscDefaultCudaStream);
  for (int now = 0;; now++) {
    int64_t bits = 0;

    if (!s->status) s->status = GraphSearchGetReached(s->search, now, &bits, PetscDefaultCudaStream);
    PetscCall(SearchAgree(s, &bits, done));
    if (!*done || !bits) break;
    *reached += bits;
    *farthest = PetscMax(*farthest, now);
    s->status = GraphSearchStep(s->search, PetscDefaultCudaStream);
    if (s->sf) PetscCall(SearchExchange(s));
  }
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  if (level) s->status = GraphSearchGetLevels(s->search, (int)n, s->level, PetscDefaultCudaStream); /* a process without rows may have no array */
  for (size_t k = 0; level && k < (size_t)n * m; k++) level[k] = s->level[k];
  PetscCall(SearchAgree(s, &none, done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GraphSearchDevice(Mat A, PetscInt n, const PetscInt source[], PetscInt64 level[], PetscInt64 *reached, PetscInt64 *farthest, PetscBool *done)
{
  Search s;

  PetscFunctionBegin;
  *reached  = 0;
  *farthest = 0;
  PetscCall(SearchCreate(&s, A, level ? PetscMin(n, GRAPH_SEARCH_SOURCES) : 0, done));
  PetscCall(PetscLogGpuTimeBegin());
  for (PetscInt q = 0; q < n && *done; q += GRAPH_SEARCH_SOURCES) PetscCall(SearchRun(&s, PetscMin(n - q, GRAPH_SEARCH_SOURCES), source + q, level ? level + (size_t)q * A->rmap->n : NULL, reached, farthest, done));
  PetscCall(PetscLogGpuTimeEnd());
  if (*done) PetscCall(PetscInfo(A, "Searched on the GPU\n"));
  else if (s.search) PetscCall(PetscInfo(A, "Not enough memory on a GPU for a search: it runs on the host\n"));
  PetscCall(SearchDestroy(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}
