/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products of MPI matrices: columns that other processes have, and entries fetched from there
*/
#include "sys/systhreads.h"
#include "mat/aij/aijexchange.h"
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

/* The entries of nrow rows that come, of which count[k] of process from[k], whose lengths are lengths[0], lengths[each], ... *most is the length of the longest. If PetscInt cannot
   count them, the halo has none, and *status says so: the other processes go on to the next agreement. */
static PetscErrorCode HashGEMMHaloExpect(HashGEMMHalo *h, PetscInt nrow, const PetscInt count[], PetscInt each, const PetscInt lengths[], PetscInt *most, SpgemmInfo *info, SysStatus *status)
{
  PetscInt64 n = 0;

  PetscFunctionBegin;
  *most = 0;
  for (PetscInt r = 0; r < nrow; r++) {
    n += lengths[each * r];
    *most = PetscMax(*most, lengths[each * r]);
  }
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

/* Begins a halo of nrow rows of other processes, rows[] in ascending order. *wanted become the rows of this process that others ask for, one for each run. The caller sets run[] and
   calls HashGEMMHaloStart() and HashGEMMHaloAnswer(). Collective. */
PetscErrorCode HashGEMMHaloRequest(PetscLayout layout, PetscInt nrow, const PetscInt rows[], HashGEMMHalo *h, PetscInt **wanted)
{
  PetscInt *count, *runs;

  PetscFunctionBegin;
  PetscCall(HashGEMMHaloOwners(layout, nrow, rows, h, &h->nfrom, &h->from, &count));
  PetscCall(PetscCommBuildTwoSided(h->comm, 1, MPIU_INT, h->nfrom, h->from, count, &h->nto, &h->to, (void *)&runs));
  for (PetscMPIInt k = 0; k < h->nto; k++) h->nrun += runs[k];
  PetscCall(PetscMalloc1(h->nrun, wanted));
  PetscCall(PetscMalloc2(2 * h->nrun, &h->run, h->nrun + 1, &h->start));
  PetscCall(PetscMalloc1(h->nto + h->nfrom, &h->requests));
  PetscCall(HashGEMMHaloSwap(h, 1, h->nfrom, h->from, count, rows, h->nto, h->to, runs, *wanted));
  for (PetscInt k = 0; k < h->nrun; k++) (*wanted)[k] -= layout->rstart;
  h->nrow = nrow;
  h->come = count; /* rows, until HashGEMMHaloAnswer() */
  h->go   = runs;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Exchanges the lengths of the rows. *most is the length of the longest row. Collective. */
PetscErrorCode HashGEMMHaloAnswer(HashGEMMHalo *h, PetscInt *most, SpgemmInfo *info, SysStatus *status)
{
  PetscInt *count = h->come, *runs = h->go, *lengths, *come;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(h->nrun, &lengths, h->nrow, &come));
  for (PetscInt k = 0; k < h->nrun; k++) lengths[k] = h->run[2 * k + 1] - h->run[2 * k];
  PetscCall(HashGEMMHaloSwap(h, 1, h->nto, h->to, runs, lengths, h->nfrom, h->from, count, come));
  PetscCall(PetscMalloc1(h->nto + 1, &h->go));
  h->go[0] = 0;
  for (PetscInt k = 0, run = 0; k < h->nto; k++) h->go[k + 1] = h->start[run += runs[k]];
  PetscCall(HashGEMMHaloExpect(h, h->nrow, count, 1, come, most, info, status));
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
PetscErrorCode HashGEMMHaloOffer(PetscLayout layout, PetscInt nrow, const PetscInt rows[], const PetscInt i[], HashGEMMHalo *h, PetscInt degree[], PetscInt *most, SpgemmInfo *info, SysStatus *status)
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
  PetscCall(HashGEMMHaloExpect(h, ncome, sorted, 2, pairs + 1, most, info, status));
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
    h->requests[k] = MPI_REQUEST_NULL;
    if (h->refused) continue;
    PetscCall(PetscMPIIntCast(h->come[k + 1] - h->come[k], &count));
    PetscCallMPI(MPI_Irecv(in + (size_t)h->come[k] * size, count, type, h->from[k], h->tag, h->comm, &h->requests[k]));
  }
  for (PetscMPIInt k = 0; k < h->nto; k++) {
    PetscCall(PetscMPIIntCast(h->go[k + 1] - h->go[k], &count));
    PetscCallMPI(MPI_Isend(h->out + (size_t)h->go[k] * size, count, type, h->to[k], h->tag, h->comm, &h->requests[h->nfrom + k]));
  }
  if (h->refused) PetscCall(HashGEMMHaloRefuse(h, type, size));
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

/* Sends the columns *here of all runs, one after the other, and frees them. *columns become those of the rows that come. */
PetscErrorCode HashGEMMHaloColumns(HashGEMMHalo *h, PetscInt **here, PetscInt **columns)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(h->n, columns));
  h->out = (char *)*here;
  *here  = NULL;
  PetscCall(HashGEMMHaloPost(h, MPIU_INT, sizeof(**columns), *columns));
  PetscCall(HashGEMMHaloEnd(h, sizeof(**columns), *columns));
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

/* Writes the local numbers of n columns in ascending order to row[], and their places, from `begin` on, to place[]. Columns of this process ascend, and come first here; others are
   one or two ascending lists, which are merged. Returns PETSC_FALSE if they are more. work has room for 2 n numbers. */
static PetscBool HashGEMMHaloMerge(const HashGEMMColumns *c, const SysNumbers *global, PetscInt n, const PetscInt columns[], PetscInt begin, PetscInt row[], PetscInt place[], PetscInt work[])
{
  PetscInt *number = work, *entry = work + n, nown = 0, nghost = 0, second = 0, k = 0;

  for (PetscInt l = 0; l < n; l++) {
    const PetscInt own = columns[l] - c->first;

    if (own >= 0 && own < c->n) {
      if (nown && row[nown - 1] >= own) return PETSC_FALSE;
      place[l]    = begin + nown;
      row[nown++] = own;
      continue;
    }
    number[nghost] = SysNumbersFind(global, columns[l]);
    entry[nghost]  = l;
    if (nghost && number[nghost] <= number[nghost - 1]) {
      if (second) return PETSC_FALSE;
      second = nghost;
    }
    nghost++;
  }
  for (PetscInt to = nown, first = second ? second : nghost, l = first; to < n; to++) {
    const PetscInt from = l == nghost || (k < first && number[k] < number[l]) ? k++ : l++;

    row[to]            = c->n + number[from];
    place[entry[from]] = begin + to;
  }
  return PETSC_TRUE;
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

      if (HashGEMMHaloMerge(c, &global, length, columns + k, place[r], row, h->place + k, order)) continue;
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
