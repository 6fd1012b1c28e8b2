/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products of MPI matrices: columns that other processes have, and entries fetched from there
*/
#include "sys/systhreads.h"
#include "mat/impls/hashgemm/glue/hashgemmparallel.h"

/* ------------------------------------------------- numbers ------------------------------------------------- */

/* This process has n columns, from the first on. Columns of other processes are the known ones and those of the entries. */
PetscErrorCode HashGEMMColumnsCreate(PetscInt first, PetscInt n, PetscInt nknown, const PetscInt known[], PetscInt nentry, const PetscInt entries[], HashGEMMColumns *c)
{
  PetscInt *more, nmore = 0, sorted;

  PetscFunctionBegin;
  c->first   = first;
  c->n       = n;
  c->nglobal = 0;
  c->global  = NULL;
  PetscCall(PetscMalloc1(nentry, &more));
  for (PetscInt e = 0; e < nentry; e++) {
    if (entries[e] < first || entries[e] >= first + n) more[nmore++] = entries[e];
  }
  sorted = (PetscInt)SysNumbersSort(nmore, more);
  if (sorted < 0) PetscCall(PetscSortRemoveDupsInt(&nmore, more));
  else nmore = sorted;
  PetscCall(PetscMergeIntArray(nknown, known, nmore, more, &c->nglobal, &c->global));
  PetscCall(PetscFree(more));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The columns of other processes that occur in the first m rows of the local product */
PetscErrorCode HashGEMMColumnsUsed(HashGEMMParallel *q, PetscInt m, PetscInt *nused, PetscInt **used)
{
  const HashGEMMColumns *c = &q->columns;
  char                  *marks;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(c->nglobal, &marks));
  PetscCall(PetscMalloc1(c->nglobal, used));
  if (q->defer) PetscCall(HashGEMMDeviceMarkColumns(q, m, marks));
  else HashGEMMMarkUsed(m, q->result.i, q->result.j, c->n, SysThreads(), marks);
  *nused = 0;
  for (PetscInt k = 0; k < c->nglobal; k++) {
    if (marks[k]) (*used)[(*nused)++] = c->global[k];
  }
  PetscCall(PetscFree(marks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* map[k] is the number in c of column known[k] of another process, and any number if c does not have it. *map is NULL if c has the known columns and no
   others. */
PetscErrorCode HashGEMMColumnsMap(const HashGEMMColumns *c, PetscInt nknown, const PetscInt known[], PetscInt **map)
{
  PetscBool same = (PetscBool)(nknown == c->nglobal);

  PetscFunctionBegin;
  *map = NULL;
  if (same) PetscCall(PetscArraycmp(known, c->global, nknown, &same));
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(nknown, map));
  for (PetscInt k = 0, l = 0; k < nknown; k++) {
    while (l < c->nglobal && c->global[l] < known[k]) l++;
    (*map)[k] = l;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- entries of other processes ------------------------------------------------- */

PetscErrorCode HashGEMMHaloDestroy(HashGEMMHalo *halo)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(halo->from));
  PetscCall(PetscFree(halo->to));
  PetscCall(PetscFree(halo->come));
  PetscCall(PetscFree(halo->go));
  PetscCall(PetscFree2(halo->run, halo->start));
  PetscCall(PetscFree(halo->first));
  PetscCall(PetscFree(halo->arrive));
  PetscCall(PetscFree(halo->requests));
  PetscCall(PetscFree(halo->place));
  PetscCall(PetscFree(halo->values));
  if (halo->comm != MPI_COMM_NULL) PetscCall(PetscCommDestroy(&halo->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts rows and entries from each process, and finds where each row arrives. all[p] becomes the number of process p among those that send, or -1. */
static PetscErrorCode HashGEMMHaloCount(HashGEMMHalo *h, const HashGEMMPlace rows[], PetscMPIInt size, PetscMPIInt all[], PetscInt **counts)
{
  PetscInt *next; /* where the next row of each process arrives */
  PetscBool ordered = PETSC_TRUE;

  PetscFunctionBegin;
  for (PetscMPIInt p = 0; p < size; p++) all[p] = -1;
  for (PetscInt r = 0; r < h->nrow; r++) all[rows[r].rank] = 0;
  for (PetscMPIInt p = 0; p < size; p++) h->nfrom += all[p] == 0;
  PetscCall(PetscMalloc1(h->nfrom, &h->from));
  PetscCall(PetscCalloc1(h->nfrom, counts));
  PetscCall(PetscCalloc1(h->nfrom + 1, &h->come));
  PetscCall(PetscMalloc1(h->nfrom, &next));
  h->nfrom = 0;
  for (PetscMPIInt p = 0; p < size; p++) {
    if (all[p] < 0) continue;
    h->from[h->nfrom] = p;
    all[p]            = h->nfrom++;
  }
  PetscCall(PetscMalloc1(h->nrow + 1, &h->first));
  PetscCall(PetscMalloc1(h->nrow, &h->arrive));
  h->first[0] = 0;
  for (PetscInt r = 0; r < h->nrow; r++) {
    const PetscMPIInt k = all[rows[r].rank];

    h->first[r + 1] = h->first[r] + rows[r].end - rows[r].begin;
    h->come[k + 1] += rows[r].end - rows[r].begin;
    (*counts)[k]++;
  }
  for (PetscMPIInt k = 0; k < h->nfrom; k++) h->come[k + 1] += h->come[k];
  PetscCall(PetscArraycpy(next, h->come, h->nfrom));
  for (PetscInt r = 0; r < h->nrow; r++) {
    PetscInt *place = next + all[rows[r].rank];

    h->arrive[r] = *place;
    *place += rows[r].end - rows[r].begin;
    ordered = (PetscBool)(ordered && h->arrive[r] == h->first[r]);
  }
  if (ordered) PetscCall(PetscFree(h->arrive));
  PetscCall(PetscFree(next));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tells the other processes which runs of their entries they will send */
static PetscErrorCode HashGEMMHaloRequest(HashGEMMHalo *h, const HashGEMMPlace rows[], const PetscMPIInt all[], const PetscInt counts[])
{
  PetscInt   *asked, *begin, *runs;
  PetscMPIInt count;

  PetscFunctionBegin;
  PetscCall(PetscCommBuildTwoSided(h->comm, 1, MPIU_INT, h->nfrom, h->from, counts, &h->nto, &h->to, (void *)&runs));
  PetscCall(PetscMalloc1(h->nto + 1, &h->go));
  PetscCall(PetscMalloc2(2 * h->nrow, &asked, h->nfrom + 1, &begin));
  begin[0] = 0;
  for (PetscMPIInt k = 0; k < h->nfrom; k++) begin[k + 1] = begin[k] + counts[k];
  for (PetscInt r = 0; r < h->nrow; r++) {
    const PetscMPIInt k = all[rows[r].rank];

    asked[2 * begin[k]]       = rows[r].begin;
    asked[2 * begin[k]++ + 1] = rows[r].end;
  }
  for (PetscMPIInt k = 0; k < h->nto; k++) h->nrun += runs[k];
  PetscCall(PetscMalloc2(2 * h->nrun, &h->run, h->nrun + 1, &h->start));
  PetscCall(PetscMalloc1(h->nto + h->nfrom, &h->requests));
  for (PetscInt k = 0, place = 0; k < h->nto; place += runs[k++]) {
    PetscCall(PetscMPIIntCast(2 * runs[k], &count));
    PetscCallMPI(MPI_Irecv(h->run + 2 * place, count, MPIU_INT, h->to[k], h->tag, h->comm, &h->requests[k]));
  }
  for (PetscInt k = 0, place = 0; k < h->nfrom; place += counts[k++]) {
    PetscCall(PetscMPIIntCast(2 * counts[k], &count));
    PetscCallMPI(MPI_Isend(asked + 2 * place, count, MPIU_INT, h->from[k], h->tag, h->comm, &h->requests[h->nto + k]));
  }
  PetscCallMPI(MPI_Waitall(h->nto + h->nfrom, h->requests, MPI_STATUSES_IGNORE));
  h->start[0] = 0;
  for (PetscInt k = 0; k < h->nrun; k++) h->start[k + 1] = h->start[k] + h->run[2 * k + 1] - h->run[2 * k];
  for (PetscInt k = 0, place = 0; k <= h->nto; k++) {
    h->go[k] = h->start[place];
    if (k < h->nto) place += runs[k];
  }
  PetscCall(PetscFree2(asked, begin));
  PetscCall(PetscFree(runs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A halo of nrow rows. *most is the length of the longest row. If PetscInt cannot count the entries, the halo has none, and *status says so: the other processes go on to
   the next agreement. Collective. */
PetscErrorCode HashGEMMHaloCreate(MPI_Comm comm, PetscInt nrow, const HashGEMMPlace rows[], HashGEMMHalo *halo, PetscInt *most, SpgemmInfo *info, SysStatus *status)
{
  PetscInt64   n = 0;
  PetscInt    *counts;
  PetscMPIInt *all, size;

  PetscFunctionBegin;
  *most = 0;
  for (PetscInt r = 0; r < nrow; r++) {
    n += rows[r].end - rows[r].begin;
    *most = PetscMax(*most, rows[r].end - rows[r].begin);
  }
  if (n > PETSC_MAX_INT) {
    *status        = SYS_TOO_LARGE;
    info->nonzeros = (double)n;
    n = nrow = 0;
  }
  halo->n    = (PetscInt)n;
  halo->nrow = nrow;
  PetscCall(PetscCommDuplicate(comm, &halo->comm, &halo->tag));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscMalloc1(size, &all));
  PetscCall(HashGEMMHaloCount(halo, rows, size, all, &counts));
  PetscCall(HashGEMMHaloRequest(halo, rows, all, counts));
  PetscCall(PetscFree(counts));
  PetscCall(PetscFree(all));
  PetscCall(PetscMalloc1(halo->n, &halo->place));
  PetscCall(PetscMalloc1(halo->n, &halo->values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sends what is in out, entries of size bytes, and receives there, or to in if rows come in another order */
PetscErrorCode HashGEMMHaloPost(HashGEMMHalo *h, MPI_Datatype type, size_t size, void *there)
{
  PetscMPIInt count;
  char       *in = there;

  PetscFunctionBegin;
  if (h->arrive) {
    PetscCall(PetscMalloc1((size_t)h->n * size, &h->in));
    in = h->in;
  }
  for (PetscMPIInt k = 0; k < h->nfrom; k++) {
    PetscCall(PetscMPIIntCast(h->come[k + 1] - h->come[k], &count));
    PetscCallMPI(MPI_Irecv(in + (size_t)h->come[k] * size, count, type, h->from[k], h->tag, h->comm, &h->requests[k]));
  }
  for (PetscMPIInt k = 0; k < h->nto; k++) {
    PetscCall(PetscMPIIntCast(h->go[k + 1] - h->go[k], &count));
    PetscCallMPI(MPI_Isend(h->out + (size_t)h->go[k] * size, count, type, h->to[k], h->tag, h->comm, &h->requests[h->nfrom + k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same of the entries here[], which are on the host */
PetscErrorCode HashGEMMHaloBegin(HashGEMMHalo *h, MPI_Datatype type, size_t size, const void *here, void *there)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)h->start[h->nrun] * size, &h->out));
  for (PetscInt k = 0; k < h->nrun; k++) PetscCall(PetscMemcpy(h->out + (size_t)h->start[k] * size, (const char *)here + (size_t)h->run[2 * k] * size, (size_t)(h->start[k + 1] - h->start[k]) * size));
  PetscCall(HashGEMMHaloPost(h, type, size, there));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HashGEMMHaloEnd(HashGEMMHalo *h, size_t size, void *there)
{
  PetscFunctionBegin;
  PetscCallMPI(MPI_Waitall(h->nfrom + h->nto, h->requests, MPI_STATUSES_IGNORE));
  for (PetscInt r = 0; h->arrive && r < h->nrow; r++) PetscCall(PetscMemcpy((char *)there + (size_t)h->first[r] * size, h->in + (size_t)h->arrive[r] * size, (size_t)(h->first[r + 1] - h->first[r]) * size));
  PetscCall(PetscFree(h->in));
  PetscCall(PetscFree(h->out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HashGEMMHaloColumns(HashGEMMHalo *halo, const PetscInt here[], PetscInt **columns)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(halo->n, columns));
  PetscCall(HashGEMMHaloBegin(halo, MPIU_INT, sizeof(**columns), here, *columns));
  PetscCall(HashGEMMHaloEnd(halo, sizeof(**columns), *columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sorts columns with their places in the row as it came. A row of another process has few ascending runs: its own columns, and those of other processes, of which this process's
   come first here. work has room for 2 n numbers. */
static void HashGEMMHaloSort(PetscInt n, PetscInt j[], PetscInt order[], PetscInt work[])
{
  PetscInt end = 1;

  while (end < n && j[end] > j[end - 1]) end++;
  while (end < n) {
    PetscInt last = end + 1, a = 0, b = end;

    while (last < n && j[last] > j[last - 1]) last++;
    for (PetscInt k = 0; k < last; k++) {
      const PetscInt from = b == last || (a < end && j[a] < j[b]) ? a++ : b++;

      work[k]     = j[from];
      work[n + k] = order[from];
    }
    for (PetscInt k = 0; k < last; k++) {
      j[k]     = work[k];
      order[k] = work[n + k];
    }
    end = last;
  }
}

/* Puts the rows of the halo into j[], row r from place[r] on, in ascending order. columns[] are those of all entries, most is the length of the longest row. */
PetscErrorCode HashGEMMHaloPut(HashGEMMHalo *h, const HashGEMMColumns *c, const PetscInt columns[], PetscInt most, const PetscInt place[], PetscInt j[])
{
  const int  nthread = MatAIJThreads(h->n);
  PetscInt  *memory;
  SysNumbers global;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(3 * (size_t)most * nthread, &memory));
  SysNumbersCreate(c->nglobal, c->global, &global);
#pragma omp parallel for num_threads(nthread) schedule(static)
  for (int t = 0; t < nthread; t++) {
    PetscInt *order = memory + 3 * (size_t)most * t;

    for (PetscInt r = (PetscInt)((PetscInt64)h->nrow * t / nthread); r < (PetscInt)((PetscInt64)h->nrow * (t + 1) / nthread); r++) {
      const PetscInt k = h->first[r], length = h->first[r + 1] - k;
      PetscInt      *row = j + place[r];

      for (PetscInt l = 0; l < length; l++) {
        const PetscInt own = columns[k + l] - c->first;

        row[l]   = own >= 0 && own < c->n ? own : c->n + SysNumbersFind(&global, columns[k + l]);
        order[l] = l;
      }
      HashGEMMHaloSort(length, row, order, order + most);
      for (PetscInt l = 0; l < length; l++) h->place[k + order[l]] = place[r] + l;
    }
  }
  SysNumbersDestroy(&global);
  PetscCall(PetscFree(memory));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void HashGEMMHaloPlace(const HashGEMMHalo *halo, PetscScalar a[])
{
  for (PetscInt k = 0; k < halo->n; k++) a[halo->place[k]] = halo->values[k];
}
