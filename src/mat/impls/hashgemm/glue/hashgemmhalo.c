/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products of MPI matrices: columns that other processes have, and entries fetched from there
*/
#include <petscsf.h>

#include "sys/systhreads.h"
#include "mat/aij/aijexchange.h"
#include "mat/impls/hashgemm/glue/hashgemmparallel.h"

/* ------------------------------------------------- numbers ------------------------------------------------- */

/* This process has n columns, from the first on. Columns of other processes are the known ones and those of the entries. */
PetscErrorCode HashGEMMColumnsCreate(PetscInt first, PetscInt n, PetscInt nknown, const PetscInt known[], PetscInt nentry, const PetscInt entries[], HashGEMMColumns *c)
{
  PetscInt *more, nmore = 0, sorted;

  PetscFunctionBegin;
  *c = (HashGEMMColumns){.first = first, .n = n};
  PetscCall(PetscMalloc1(nentry, &more));
  for (PetscInt e = 0; e < nentry; e++) {
    if (entries[e] < first || entries[e] >= first + n) more[nmore++] = entries[e];
  }
  sorted = (PetscInt)SysNumbersSort(nmore, more);
  if (sorted < 0) PetscCall(PetscSortRemoveDupsInt(&nmore, more));
  else nmore = sorted;
  PetscCall(PetscMergeIntArray(nknown, known, nmore, more, &c->nglobal, &c->global));
  PetscCall(PetscFree(more));
  c->nbelow = HashGEMMCountBelow(c->nglobal, c->global, first);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscInt HashGEMMCountBelow(PetscInt n, const PetscInt global[], PetscInt first)
{
  PetscInt below = 0;

  while (below < n && global[below] < first) below++;
  return below;
}

/* The columns of other processes that occur in the first m rows of the local product */
PetscErrorCode HashGEMMColumnsUsed(HashGEMMParallel *q, PetscInt m, PetscInt *nused, PetscInt **used)
{
  const HashGEMMColumns *c = &q->columns;
  char                  *marks;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(c->nglobal, &marks));
  PetscCall(PetscMalloc1(c->nglobal, used));
  HashGEMMMarkUsed(m, q->result.i, q->result.j, c->n, SysThreads(), marks);
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

/* Begins a halo; the owners of n ascending rows of other processes become owner[], of which owner[k] has count[k] of them */
static PetscErrorCode HashGEMMHaloOwners(PetscLayout layout, PetscInt n, const PetscInt rows[], HashGEMMHalo *h, PetscMPIInt *nowner, PetscMPIInt **owner, PetscInt **count)
{
  const PetscInt *range;
  PetscMPIInt     size, p;

  PetscFunctionBegin;
  PetscCall(PetscCommDuplicate(layout->comm, &h->comm, &h->tag));
  PetscCallMPI(MPI_Comm_size(h->comm, &size));
  PetscCall(PetscMalloc1(PetscMin(n, size), owner));
  PetscCall(PetscMalloc1(PetscMin(n, size), count));
  PetscCall(PetscLayoutGetRanges(layout, &range));
  *nowner = 0;
  for (PetscInt r = 0, end; r < n; r = end) {
    PetscCall(PetscLayoutFindOwner(layout, rows[r], &p));
    for (end = r + 1; end < n && rows[end] < range[p + 1]; end++) { }
    (*owner)[*nowner]     = p;
    (*count)[(*nowner)++] = end - r;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sends `each` numbers for each of count[k] rows to process to[k], and receives so many for each of come[k] rows from process from[k] */
static PetscErrorCode HashGEMMHaloSwap(HashGEMMHalo *h, PetscInt each, PetscMPIInt nto, PetscMPIInt to[], PetscInt count[], const PetscInt send[], PetscMPIInt nfrom, PetscMPIInt from[], PetscInt come[], PetscInt receive[])
{
  const MatAIJMessages messages = {h->comm, h->tag, nto, nfrom, to, from, count, come};

  PetscFunctionBegin;
  PetscCall(MatAIJMessagesPost(&messages, MPIU_INT, sizeof(*send), each, send, receive, h->requests));
  PetscCallMPI(MPI_Waitall(nfrom + nto, h->requests, MPI_STATUSES_IGNORE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Places of the runs to send among all that go. If PetscInt cannot count these, runs become empty, and *status says so: other processes go on to the next agreement. */
PetscErrorCode HashGEMMHaloStart(HashGEMMHalo *h, SpgemmInfo *info, SysStatus *status)
{
  PetscInt64 n = 0;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < h->nrun; k++) n += h->run[2 * k + 1] - h->run[2 * k];
  if (n > PETSC_MAX_INT) {
    *status        = SYS_TOO_LARGE;
    info->nonzeros = (double)n;
    for (PetscInt k = 0; k < h->nrun; k++) h->run[2 * k + 1] = h->run[2 * k];
  }
  h->start[0] = 0;
  for (PetscInt k = 0; k < h->nrun; k++) h->start[k + 1] = h->start[k] + h->run[2 * k + 1] - h->run[2 * k];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The entries of nrow rows that come, of which count[k] of process from[k], whose lengths are lengths[0], lengths[each], ... If PetscInt cannot count them, the halo has
   none, and *status says so: the other processes go on to the next agreement. */
static PetscErrorCode HashGEMMHaloExpect(HashGEMMHalo *h, PetscInt nrow, const PetscInt count[], PetscInt each, const PetscInt lengths[], SpgemmInfo *info, SysStatus *status)
{
  PetscInt64 n = 0;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < nrow; r++) n += lengths[each * r];
  h->refused = (PetscBool)(n > PETSC_MAX_INT);
  h->nrow    = h->refused ? 0 : nrow;
  h->n       = h->refused ? 0 : (PetscInt)n;
  if (h->refused) {
    *status        = SYS_TOO_LARGE;
    info->nonzeros = (double)n;
  }
  PetscCall(PetscMalloc1(h->nfrom + 1, &h->come));
  h->come[0] = 0;
  for (PetscInt k = 0, r = 0; k < h->nfrom; k++) {
    PetscInt sum = 0;

    for (PetscInt end = r + count[k]; r < end; r++) sum += lengths[each * r];
    if (h->refused) h->come[k] = sum;
    else h->come[k + 1] = h->come[k] + sum;
  }
  PetscCall(PetscMalloc1(h->nrow + 1, &h->first));
  h->first[0] = 0;
  PetscCall(PetscMalloc1(h->n, &h->place));
  PetscCall(PetscMalloc1(h->n, &h->values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Begins a halo of the rows of other processes that the columns of the off-diagonal block of A name. *wanted become the rows of this process that others need, one for each run. The caller
   sets run[] and calls HashGEMMHaloStart() and HashGEMMHaloAnswer(). Collective. */
PetscErrorCode HashGEMMHaloRequest(Mat A, HashGEMMHalo *h, PetscInt **wanted)
{
  const PetscMPIInt *from, *to;
  const PetscInt    *come, *go, *leaf, *root;
  PetscAMBSFCount    nfrom, nto;
  PetscSF            sf;

  PetscFunctionBegin;
  PetscCall(PetscCommDuplicate(PetscObjectComm((PetscObject)A), &h->comm, &h->tag));
  PetscCall(MatAIJGetScatter(A, &sf));
  PetscCall(PetscSFGetRootRanks(sf, &nfrom, &from, &come, &leaf, NULL));
  PetscCall(PetscSFGetLeafRanks(sf, &nto, &to, &go, &root));
  h->nfrom = (PetscMPIInt)nfrom;
  h->nto   = (PetscMPIInt)nto;
  h->nrow  = h->nfrom ? come[h->nfrom] : 0;
  h->nrun  = h->nto ? go[h->nto] : 0;
  for (PetscInt k = 0; k < h->nrow; k++) PetscAssert(leaf[k] == k, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Columns of other processes are not in the order of these");
  PetscCall(PetscMalloc1(h->nfrom, &h->from));
  PetscCall(PetscMalloc1(h->nto, &h->to));
  PetscCall(PetscArraycpy(h->from, from, h->nfrom));
  PetscCall(PetscArraycpy(h->to, to, h->nto));
  PetscCall(PetscMalloc1(h->nfrom, &h->come)); /* rows, until HashGEMMHaloAnswer() */
  PetscCall(PetscMalloc1(h->nto, &h->go));
  for (PetscMPIInt k = 0; k < h->nfrom; k++) h->come[k] = come[k + 1] - come[k];
  for (PetscMPIInt k = 0; k < h->nto; k++) h->go[k] = go[k + 1] - go[k];
  PetscCall(PetscMalloc1(h->nrun, wanted));
  PetscCall(PetscArraycpy(*wanted, root, h->nrun));
  PetscCall(PetscMalloc2(2 * h->nrun, &h->run, h->nrun + 1, &h->start));
  PetscCall(PetscMalloc1(h->nto + h->nfrom, &h->requests));
  PetscCall(PetscSFDestroy(&sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Exchanges the lengths of the rows. Collective. */
PetscErrorCode HashGEMMHaloAnswer(HashGEMMHalo *h, SpgemmInfo *info, SysStatus *status)
{
  PetscInt *count = h->come, *runs = h->go, *lengths, *come;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(h->nrun, &lengths, h->nrow, &come));
  for (PetscInt k = 0; k < h->nrun; k++) lengths[k] = h->run[2 * k + 1] - h->run[2 * k];
  PetscCall(HashGEMMHaloSwap(h, 1, h->nto, h->to, runs, lengths, h->nfrom, h->from, count, come));
  PetscCall(PetscMalloc1(h->nto + 1, &h->go));
  h->go[0] = 0;
  for (PetscInt k = 0, run = 0; k < h->nto; k++) h->go[k + 1] = h->start[run += runs[k]];
  PetscCall(HashGEMMHaloExpect(h, h->nrow, count, 1, come, info, status));
  for (PetscInt r = 0; r < h->nrow; r++) h->first[r + 1] = h->first[r] + come[r];
  PetscCall(PetscFree2(lengths, come));
  PetscCall(PetscFree(count));
  PetscCall(PetscFree(runs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows that come, numbers and lengths in pairs[], in the order of the rows of this process and, of each, of the processes that send. degree[] become how many there are of each
   row, of n from row `first` on. */
static PetscErrorCode HashGEMMHaloOrder(HashGEMMHalo *h, PetscInt first, PetscInt n, const PetscInt pairs[], PetscInt degree[])
{
  PetscInt *next;
  PetscBool ordered = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(degree, n));
  PetscCall(PetscMalloc1(n, &next));
  PetscCall(PetscMalloc1(h->nrow, &h->arrive));
  for (PetscInt r = 0; r < h->nrow; r++) degree[pairs[2 * r] - first]++;
  for (PetscInt r = 0, sum = 0; r < n; sum += degree[r++]) next[r] = sum;
  for (PetscInt r = 0, place = 0; r < h->nrow; place += pairs[2 * r++ + 1]) {
    const PetscInt row = next[pairs[2 * r] - first]++;

    h->arrive[row]    = place;
    h->first[row + 1] = pairs[2 * r + 1];
  }
  for (PetscInt r = 0; r < h->nrow; r++) {
    h->first[r + 1] += h->first[r];
    ordered = (PetscBool)(ordered && h->arrive[r] == h->first[r]);
  }
  if (ordered) PetscCall(PetscFree(h->arrive));
  PetscCall(PetscFree(next));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A halo of the rows that other processes offer to this one. This process offers nrow rows, which are rows[] of the layout, in ascending order; row r has the entries i[r] to i[r + 1]
   of those that HashGEMMHaloColumns() gets, unless it is empty. degree[r] becomes how many rows come for row r of this process; they come in the order of the processes, whatever order
   messages have. Collective. */
PetscErrorCode HashGEMMHaloOffer(PetscLayout layout, PetscInt nrow, const PetscInt rows[], const PetscInt i[], HashGEMMHalo *h, PetscInt degree[], SpgemmInfo *info, SysStatus *status)
{
  PetscInt    *offered, *count, *runs, *sorted, *send, *pairs, ncome = 0;
  PetscMPIInt *order;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(nrow, &offered, 2 * nrow, &send));
  PetscCall(PetscMalloc2(2 * nrow, &h->run, nrow + 1, &h->start));
  for (PetscInt r = 0; r < nrow; r++) {
    const PetscInt k = h->nrun;

    if (i[r] == i[r + 1]) continue;
    offered[k] = send[2 * k] = rows[r];
    send[2 * k + 1]          = i[r + 1] - i[r];
    h->run[2 * k]            = i[r] - i[0];
    h->run[2 * k + 1]        = i[r + 1] - i[0];
    h->nrun++;
  }
  PetscCall(HashGEMMHaloStart(h, info, status));
  PetscCall(HashGEMMHaloOwners(layout, h->nrun, offered, h, &h->nto, &h->to, &count));
  PetscCall(PetscCommBuildTwoSided(h->comm, 1, MPIU_INT, h->nto, h->to, count, &h->nfrom, &h->from, (void *)&runs));
  PetscCall(PetscMalloc2(h->nfrom, &order, h->nfrom, &sorted));
  for (PetscMPIInt k = 0; k < h->nfrom; k++) order[k] = k;
  PetscCall(PetscSortMPIIntWithArray(h->nfrom, h->from, order));
  for (PetscMPIInt k = 0; k < h->nfrom; k++) ncome += sorted[k] = runs[order[k]];
  PetscCall(PetscMalloc1(2 * ncome, &pairs));
  PetscCall(PetscMalloc1(h->nto + h->nfrom, &h->requests));
  PetscCall(HashGEMMHaloSwap(h, 2, h->nto, h->to, count, send, h->nfrom, h->from, sorted, pairs));
  PetscCall(PetscMalloc1(h->nto + 1, &h->go));
  h->go[0] = 0;
  for (PetscInt k = 0, run = 0; k < h->nto; k++) h->go[k + 1] = h->start[run += count[k]];
  PetscCall(HashGEMMHaloExpect(h, ncome, sorted, 2, pairs + 1, info, status));
  PetscCall(HashGEMMHaloOrder(h, layout->rstart, layout->n, pairs, degree));
  PetscCall(PetscFree(pairs));
  PetscCall(PetscFree2(order, sorted));
  PetscCall(PetscFree(runs));
  PetscCall(PetscFree(count));
  PetscCall(PetscFree2(offered, send));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Receives entries of a halo that has no rows, and forgets them: other processes wait until they are received */
static PetscErrorCode HashGEMMHaloRefuse(HashGEMMHalo *h, MPI_Datatype type, size_t size)
{
  PetscMPIInt count;
  char       *lost;

  PetscFunctionBegin;
  for (PetscMPIInt k = 0; k < h->nfrom; k++) {
    PetscCall(PetscMPIIntCast(h->come[k], &count));
    PetscCall(PetscMalloc1((size_t)count * size, &lost));
    PetscCallMPI(MPI_Recv(lost, count, type, h->from[k], h->tag, h->comm, MPI_STATUS_IGNORE));
    PetscCall(PetscFree(lost));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Posts messages of entries of size bytes, from out[] in the order of the runs, to in[] in the order of the processes */
PetscErrorCode HashGEMMHaloPost(HashGEMMHalo *h, MPI_Datatype type, size_t size, const void *out, void *in, MPI_Request requests[])
{
  PetscMPIInt count;

  PetscFunctionBegin;
  for (PetscMPIInt k = 0; k < h->nfrom; k++) {
    requests[k] = MPI_REQUEST_NULL;
    if (h->refused) continue;
    PetscCall(PetscMPIIntCast(h->come[k + 1] - h->come[k], &count));
    PetscCallMPI(MPI_Irecv((char *)in + (size_t)h->come[k] * size, count, type, h->from[k], h->tag, h->comm, &requests[k]));
  }
  for (PetscMPIInt k = 0; k < h->nto; k++) {
    PetscCall(PetscMPIIntCast(h->go[k + 1] - h->go[k], &count));
    PetscCallMPI(MPI_Isend((const char *)out + (size_t)h->go[k] * size, count, type, h->to[k], h->tag, h->comm, &requests[h->nfrom + k]));
  }
  if (h->refused) PetscCall(HashGEMMHaloRefuse(h, type, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sends out[], which HashGEMMHaloEnd() frees, and receives to there, or to h->in if rows come in another order */
static PetscErrorCode HashGEMMHaloStartMessages(HashGEMMHalo *h, MPI_Datatype type, size_t size, void *out, void *there)
{
  PetscFunctionBegin;
  h->out = out;
  if (h->arrive) PetscCall(PetscMalloc1((size_t)h->n * size, &h->in));
  PetscCall(HashGEMMHaloPost(h, type, size, out, h->arrive ? h->in : there, h->requests));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sends the entries here[] of rows with local columns j[], which are on the host. Other processes get each row in ascending order of global columns. */
PetscErrorCode HashGEMMHaloBegin(HashGEMMHalo *h, const HashGEMMColumns *c, const PetscInt j[], MPI_Datatype type, size_t size, const void *here, void *there)
{
  const char *entries = (const char *)here;
  char       *out, *to;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)h->start[h->nrun] * size, &out));
  to = out;
  for (PetscInt k = 0; k < h->nrun; k++) {
    const PetscInt first = h->run[2 * k], end = first + h->start[k + 1] - h->start[k];
    PetscInt       own = 0, below = 0;

    for (PetscInt l = first; l < end; l++) {
      own += j[l] < c->n;
      below += j[l] >= c->n && j[l] < c->n + c->nbelow;
    }
    PetscCall(PetscMemcpy(to, entries + (size_t)(first + own) * size, (size_t)below * size));
    PetscCall(PetscMemcpy(to + (size_t)below * size, entries + (size_t)first * size, (size_t)own * size));
    PetscCall(PetscMemcpy(to + (size_t)(below + own) * size, entries + (size_t)(first + own + below) * size, (size_t)(end - first - own - below) * size));
    to += (size_t)(end - first) * size;
  }
  PetscCall(HashGEMMHaloStartMessages(h, type, size, out, there));
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

/* Sends the columns *here of all runs, one after the other, and frees them. *columns become those of the rows that come. */
PetscErrorCode HashGEMMHaloColumns(HashGEMMHalo *h, PetscInt **here, PetscInt **columns)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(h->n, columns));
  PetscCall(HashGEMMHaloStartMessages(h, MPIU_INT, sizeof(**columns), *here, *columns));
  *here = NULL;
  PetscCall(HashGEMMHaloEnd(h, sizeof(**columns), *columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Puts the rows of the halo into j[], row r from place[r] on: columns of this process first. Others stay in their order, and ascend if the row came so. */
PetscErrorCode HashGEMMHaloPut(HashGEMMHalo *h, const HashGEMMColumns *c, const PetscInt columns[], const PetscInt place[], PetscInt j[])
{
  SysNumbers global;

  PetscFunctionBegin;
  SysNumbersCreate(c->nglobal, c->global, &global);
#pragma omp parallel for num_threads(MatAIJThreads(h->n)) schedule(static)
  for (PetscInt r = 0; r < h->nrow; r++) {
    PetscInt own = place[r], ghost = place[r];

    for (PetscInt k = h->first[r]; k < h->first[r + 1]; k++) ghost += columns[k] >= c->first && columns[k] < c->first + c->n;
    for (PetscInt k = h->first[r]; k < h->first[r + 1]; k++) {
      const PetscBool here = (PetscBool)(columns[k] >= c->first && columns[k] < c->first + c->n);

      h->place[k]    = here ? own++ : ghost++;
      j[h->place[k]] = here ? columns[k] - c->first : c->n + SysNumbersFind(&global, columns[k]);
    }
  }
  SysNumbersDestroy(&global);
  PetscFunctionReturn(PETSC_SUCCESS);
}

void HashGEMMHaloPlace(const HashGEMMHalo *halo, PetscScalar a[])
{
  for (PetscInt k = 0; k < halo->n; k++) a[halo->place[k]] = halo->values[k];
}
