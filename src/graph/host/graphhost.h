/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The host's kernels of graph operations, on compressed rows. Real numbers, except in GraphPower(). Results do not depend on the number of threads.
*/
#pragma once

#include "sys/syscsr.h"

/*
   sum[r] is the sum of the entries of row r of (A B) o M. The columns of A are rows of B: column j is row place[j], or j if place is NULL. work has n zeros for each thread,
   where n is the number of columns of B and M, and is zero afterwards.
*/
void GraphMaskSum(int nthread, const SysCSR *A, const SysInt *place, const SysCSR *B, const SysCSR *M, double *sum, SysReal *work);

/* Counts in length[r] the entries that stay in row r; no row has more than longest entries, and work has twice as many numbers for each thread. A NaN counts as infinity. */
void GraphPruneCount(int nthread, const SysCSR *A, SysReal least, int64_t keep, int64_t longest, SysInt *length, SysReal *work);

/* Writes the entries that stay from place i[r] on */
void GraphPruneFill(int nthread, const SysCSR *A, SysReal least, int64_t keep, int64_t longest, const SysInt *i, SysInt *j, SysScalar *a, SysReal *work);

/* Counts in length[r] the entries of row r of A whose places M stores, or does not store if complement is 1. The matrices have the same size. work has GraphMaskWords() zeros for each
   thread, where n is the number of columns, and is zero afterwards. */
int64_t GraphMaskWords(int64_t n);
void    GraphMaskCount(int nthread, const SysCSR *A, const SysCSR *M, int complement, SysInt *length, uint32_t *work);

/* Writes these entries from place i[r] on, in their order */
void GraphMaskFill(int nthread, const SysCSR *A, const SysCSR *M, int complement, const SysInt *i, SysInt *j, SysScalar *a, uint32_t *work);

/* y[r] |= x[j] for the columns j of row r, of the bits in want[r] */
void GraphOr(int nthread, const SysCSR *A, const uint64_t *x, const uint64_t *want, uint64_t *y);

/* y[j] |= x[r] for the columns j of row r, of the bits in want[j], or of all bits if want is NULL */
void GraphOrTranspose(int nthread, const SysCSR *A, const uint64_t *x, const uint64_t *want, uint64_t *y);

/* a[k] = |a[k]|^power */
void GraphPower(int nthread, int64_t n, SysReal power, SysScalar *a);

/* Order of n keys from 0 to most, the least first and equal ones in the order of their places; work has room for n numbers */
void GraphOrder(int64_t n, const SysInt *key, SysInt most, SysInt *order, SysInt *work);

/* The rows order[0], order[1], ... of two blocks side by side: row k gets the columns place[j] of the first, and those of the second from place[n] on, where n is the number of columns of
   the first, ascending, from i[k] on. All places are at most most, and differ. The work of each thread has room for a row of the longest ones. */
void GraphRenumber(int nthread, int64_t m, const SysInt *order, const SysCSR block[2], const SysInt *place, SysInt most, const SysInt *i, SysInt *j, SysScalar *a, int64_t longest, SysInt *jwork, SysScalar *awork);

/* The k greatest of n numbers, the greatest first and equal ones in the order of their places; returns how many there are */
int64_t GraphTop(int64_t n, const SysScalar *x, int64_t k, int64_t *place, SysReal *value);

/* The sum of n numbers */
SysScalar GraphSum(int nthread, int64_t n, const SysScalar *x);

/* z[k] = f z[k] + t where[k], with 1 for where[k] if where is NULL; returns the sum of the magnitudes of x[k] - z[k], or 0 if x is NULL */
SysReal GraphStep(int nthread, int64_t n, SysScalar f, SysScalar t, const SysScalar *where, const SysScalar *x, SysScalar *z);
