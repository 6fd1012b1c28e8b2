/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Steps of device products besides multiplication, on raw CSR arrays
*/
#pragma once

#include "mat/impls/hashgemm/cuda/spgemmcuda.h"

SYS_C_BEGIN

#define HASHGEMM_FINGERPRINTS 2 /* matrices at most of one call: the blocks of an MPI matrix */

/* Sets fingerprints that matrices with the same pattern share; they differ from HashGEMMFingerprint()'s. Sets ascending[k] to 0 if a row's columns do
   not ascend, or repeat. Waits for the device once. */
SysStatus HashGEMMDeviceFingerprints(int n, const SysCSR[], SysStream, uint64_t fingerprint[], int ascending[]);

/* Merges two matrices as in hashgemmrows.h: the second's columns, renumbered by map unless NULL, follow from n on. A matrix without entries may lack
   arrays. NULL among i, j and a: not computed. */
SysStatus HashGEMMDeviceMerge(const SysCSR *d, const SysCSR *o, int n, const int *map, int *i, int *j, SysScalar *a, SysStream);

/* Rows to cut at column n, as in hashgemmrows.h: row r is row from[r] of `other` if from is not NULL and from[r] >= 0 */
typedef struct {
  const int       *i, *j, *otheri, *otherj, *from;
  const SysScalar *a, *othera;
} HashGEMMDeviceCutRows;

SysStatus HashGEMMDeviceCutValues(const HashGEMMDeviceCutRows *, int64_t m, const int *di, const int *oi, SysScalar *da, SysScalar *oa, SysStream);

/* The pattern of cut rows: where the rows of both parts begin, then their columns */
SysStatus HashGEMMDeviceCutStarts(const HashGEMMDeviceCutRows *, int64_t m, int n, int *di, int *oi, SysStream);
SysStatus HashGEMMDeviceCutColumns(const HashGEMMDeviceCutRows *, int64_t m, int n, const int *map, const int *di, const int *oi, int *dj, int *oj, SysStream);

/* Marks the columns from n on that occur; they end the rows */
SysStatus HashGEMMDeviceMarkUsed(int64_t m, const int *i, const int *j, int n, char *used, SysStream);

/* a[place[k]] = values[k] */
SysStatus HashGEMMDeviceScatter(int64_t n, const int *place, const SysScalar *values, SysScalar *a, SysStream);

/* ends[2 k] and ends[2 k + 1]: the entries where row rows[k] begins and ends */
SysStatus HashGEMMDeviceRowEnds(int64_t n, const int *rows, const int *i, int *ends, SysStream);

/* Columns of a local matrix, as HashGEMMColumns: column k < n is global column first + k, column n + k is global[k] */
typedef struct {
  int        first, n, nglobal;
  const int *global;
} HashGEMMDeviceColumns;

/* Rows that other processes get: of both blocks of a matrix or, merged, of d alone, where ghost columns are numbered from n on. Ghost k is column global[k], and the first nbelow
   ghosts belong to processes before this one. */
typedef struct {
  SysCSR     d, o;
  int        merged, first, n, nbelow;
  const int *global;
} HashGEMMDeviceSource;

/* Writes rows[k], or row k if rows is NULL, from start[k] on, or one after the other: global columns ascending, and values. NULL: not computed. */
SysStatus HashGEMMDevicePack(const HashGEMMDeviceSource *, int64_t n, const int *rows, const int *start, int *columns, SysScalar *values, SysStream);

/* Creates the ascending list, from the pool, of the known ghosts, if used[] is NULL or has a mark for them, and of all others among n columns. `end` is larger than any column. Waits
   for the device. */
SysStatus HashGEMMDeviceListGhosts(const HashGEMMDeviceColumns *known, const char *used, int64_t n, const int *columns, int end, int **list, int *nlist, SysStream);

/* Local numbers of n rows of columns as HashGEMMDevicePack() wrote them, ascending from j[i[r]] on. place[k]: where column k went. */
SysStatus HashGEMMDeviceNumberRows(const HashGEMMDeviceColumns *, int64_t n, const int *i, const int *columns, int *j, int *place, SysStream);

/* n sums: of row row[t] of this process, whose terms begin at begin[t], and of the rows r that came with sum[r] = t. Row r has the terms nown + first[r] up to nown + first[r + 1],
   which came at arrive[r]. */
typedef struct {
  int        n, nown, ncame, nterm; /* sums, terms of this process, rows that came, their terms */
  const int *row, *begin, *sum, *first, *arrive;
} HashGEMMDeviceSums;

/* The sums' rows, with columns numbered by c: entry k is the sum of the terms term[k] up to term[k + 1], in a fixed order. from[l] is the place of term l among the values of the
   local product, or ~from[l] that among the values that came. i and j are the local product's, numbered by `before`. All arrays have room for all terms, term[] for one more. */
SysStatus HashGEMMDeviceSumPattern(const HashGEMMDeviceSums *, const HashGEMMDeviceColumns *before, const HashGEMMDeviceColumns *c, const int *i, const int *j, const int *columns, int *sumi, int *sumj, int *term, int *from, SysStream);

/* The values of *nz entries, at most `most` */
SysStatus HashGEMMDeviceSumValues(int64_t most, const int *nz, const int *term, const int *from, const SysScalar *a, const SysScalar *came, SysScalar *sum, SysStream);

/* number[list[k]] = k, and -1 elsewhere */
SysStatus HashGEMMDeviceInvert(int64_t m, int64_t n, const int *list, int *number, SysStream);

SYS_C_END
