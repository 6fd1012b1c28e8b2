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

/* The columns of other processes that occur in the first m rows */
PetscErrorCode HashGEMMColumnsUsed(const HashGEMMColumns *c, PetscInt m, const HashGEMMRows *rows, PetscInt *nused, PetscInt **used)
{
  char *marks;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(c->nglobal, &marks));
  PetscCall(PetscMalloc1(c->nglobal, used));
  HashGEMMMarkUsed(m, rows->i, rows->j, c->n, SysThreads(), marks);
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
  PetscCall(PetscSFDestroy(&halo->sf));
  PetscCall(PetscFree(halo->place));
  PetscCall(PetscFree(halo->values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A halo of nrow rows. Other processes may ask for the nroot entries of this one. *most is the length of the longest row. If PetscInt cannot count the entries, the
   halo has none, and *status says so: the other processes go on to the next agreement. */
PetscErrorCode HashGEMMHaloCreate(MPI_Comm comm, PetscInt nroot, PetscInt nrow, const HashGEMMPlace rows[], HashGEMMHalo *halo, PetscInt *most, SpgemmInfo *info, SysStatus *status)
{
  PetscSFNode *remote;
  PetscInt64   n = 0;

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
  halo->n = (PetscInt)n;
  PetscCall(PetscMalloc1(halo->n, &remote));
  n = 0;
  for (PetscInt r = 0; r < nrow; r++) {
    for (PetscInt k = rows[r].begin; k < rows[r].end; k++, n++) {
      remote[n].rank  = rows[r].rank;
      remote[n].index = k;
    }
  }
  PetscCall(PetscSFCreate(comm, &halo->sf));
  PetscCall(PetscSFSetGraph(halo->sf, nroot, halo->n, NULL, PETSC_OWN_POINTER, remote, PETSC_OWN_POINTER));
  PetscCall(PetscMalloc1(halo->n, &halo->place));
  PetscCall(PetscMalloc1(halo->n, &halo->values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HashGEMMHaloColumns(HashGEMMHalo *halo, const PetscInt here[], PetscInt **columns)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(halo->n, columns));
  PetscCall(PetscSFBcastBegin(halo->sf, MPIU_INT, here, *columns, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(halo->sf, MPIU_INT, here, *columns, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Puts a row of the halo, its entries k to k + length - 1, into j[] from place on, and sorts its columns: they come in the order of another process. global are the
   columns of c that other processes have. */
PetscErrorCode HashGEMMHaloPut(HashGEMMHalo *halo, const HashGEMMColumns *c, const SysNumbers *global, const PetscInt columns[], PetscInt k, PetscInt length, PetscInt place, PetscInt order[], PetscInt j[])
{
  PetscFunctionBegin;
  for (PetscInt l = 0; l < length; l++) {
    const PetscInt own = columns[k + l] - c->first;

    j[place + l] = own >= 0 && own < c->n ? own : c->n + SysNumbersFind(global, columns[k + l]);
    order[l]     = k + l;
  }
  PetscCall(PetscSortIntWithArray(length, j + place, order));
  for (PetscInt l = 0; l < length; l++) halo->place[order[l]] = place + l;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void HashGEMMHaloPlace(const HashGEMMHalo *halo, PetscScalar a[])
{
  for (PetscInt k = 0; k < halo->n; k++) a[halo->place[k]] = halo->values[k];
}
