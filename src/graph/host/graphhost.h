/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The host's kernels of graph operations, on CSR. Real numbers, except in GraphPower(). Results do not depend on the number of threads.
*/
#pragma once

#include "sys/syscsr.h"

/*
   Sets sum[r] to the sum of row r of (A B) o M. A's columns are B's rows: column j is row position[j], or j if position is NULL. Reads the real
   parts of complex values. work: for each thread as many zeros as B and M have columns; zero again on return.
*/
void GraphMaskSum(int nthread, const SysCSR *A, const SysInt *position, const SysCSR *B, const SysCSR *M, double *sum, SysReal *work);

/* Counts in length[r] the entries of row r to keep. longest: entries of the longest row; work: 2 * longest numbers a thread. A NaN counts as infinity. */
void GraphPruneCount(int nthread, const SysCSR *A, SysReal least, int64_t keep, int64_t longest, SysInt *length, SysReal *work);

/* Writes these entries of row r to j[i[r]], a[i[r]] and behind */
void GraphPruneFill(int nthread, const SysCSR *A, SysReal least, int64_t keep, int64_t longest, const SysInt *i, SysInt *j, SysScalar *a, SysReal *work);

/* Counts in length[r] the entries of A's row r in columns that M's row r stores, or does not store if complement is 1; both matrices have the same size.
   work: GraphMaskWords(columns) zeros a thread; zero again on return. */
int64_t GraphMaskWords(int64_t n);
void    GraphMaskCount(int nthread, const SysCSR *A, const SysCSR *M, int complement, SysInt *length, uint32_t *work);

/* Writes these entries of row r to j[i[r]], a[i[r]] and behind, in the order of A */
void GraphMaskFill(int nthread, const SysCSR *A, const SysCSR *M, int complement, const SysInt *i, SysInt *j, SysScalar *a, uint32_t *work);

/* Sets y[r] |= x[j] for row r's columns j, restricted to the bits of want[r] */
void GraphOr(int nthread, const SysCSR *A, const uint64_t *x, const uint64_t *want, uint64_t *y);

/* Sets y[j] |= x[r] for row r's columns j, restricted to the bits of want[j] unless want is NULL */
void GraphOrTranspose(int nthread, const SysCSR *A, const uint64_t *x, const uint64_t *want, uint64_t *y);

/* Sets a[k] = |a[k]|^power */
void GraphPower(int nthread, int64_t n, SysReal power, SysScalar *a);

/* Sorts n keys from 0 to most, ascending and stably; work: n numbers */
void GraphOrder(int64_t n, const SysInt *key, SysInt most, SysInt *order, SysInt *work);

/* Permutes the rows and columns of two blocks. Row k of the result, from i[k] on, is row order[k] of both blocks: column j becomes position[j] in the first
   block of n columns, and position[n + j] in the second. The new columns are distinct, at most `most`, and ascend in the result. jwork, awork: `longest`
   numbers a thread, the entries of the longest row. */
void GraphRenumber(int nthread, int64_t m, const SysInt *order, const SysCSR block[2], const SysInt *position, SysInt most, const SysInt *i, SysInt *j, SysScalar *a, int64_t longest, SysInt *jwork, SysScalar *awork);

/* Gets the k largest of n numbers and their indices, descending, equal numbers by index; returns the number of results, at most n */
int64_t GraphTop(int64_t n, const SysScalar *x, int64_t k, int64_t *position, SysReal *value);

/* Returns the sum of n numbers */
SysScalar GraphSum(int nthread, int64_t n, const SysScalar *x);

/* Sets z[k] = f z[k] + t w[k], with w[k] = 1 if w is NULL; returns the sum of |x[k] - z[k]|, or 0 if x is NULL */
SysReal GraphStep(int nthread, int64_t n, SysScalar f, SysScalar t, const SysScalar *w, const SysScalar *x, SysScalar *z);

/* Returns 1 if the real part of a number is negative or NaN */
int GraphNegative(int nthread, int64_t n, const SysScalar *a);

/* Sets out[r] to the sum of row r, in which keep weights the columns, or to the plain sum if keep is NULL */
void GraphOutWeights(int nthread, const SysCSR *A, const SysScalar *keep, SysScalar *out);

/* Removes vertices without an edge of positive weight to a vertex that stays, until there are none: sets keep[v] to 1 or, of removed vertices, to 0. Visits each
   edge once. Returns the number of vertices that stay. work: 4 m numbers. */
int64_t GraphRemoveDangling(const SysCSR *A, SysScalar *keep, SysInt *work);

/* Numbers vertices with 2^k edges or more before those with fewer, for k from the largest down: position[v] is the number of vertex v, vertex[k] the vertex of number k */
SysStatus GraphOrderByDegree(int nthread, const SysCSR *A, SysInt *position, SysInt *vertex);

/* Sets i, j and a to the transpose of a square matrix, whose edge from v to w has the value right[v] left[w] A(v, w), or without the factors that are NULL. Vertices
   get the numbers of GraphOrderByDegree(), or keep their own if position and vertex are NULL. Columns ascend. */
SysStatus GraphTransposeScaled(int nthread, const SysCSR *A, const SysInt *position, const SysInt *vertex, const SysScalar *left, const SysScalar *right, SysInt *i, SysInt *j, SysScalar *a);

/* A set of columns, one bit a column: all words are zero, GraphBitsSet() adds the columns of row r, GraphBitsClear() clears the words again */

#define GRAPH_BITS_SHIFT 5 /* a word has 2^5 bits */
#define GRAPH_BITS_MASK  31

static inline void GraphBitsSet(uint32_t *bits, const SysCSR *A, int64_t r)
{
  for (SysInt q = A->i[r]; q < A->i[r + 1]; q++) bits[A->j[q] >> GRAPH_BITS_SHIFT] |= (uint32_t)1 << (A->j[q] & GRAPH_BITS_MASK);
}

static inline void GraphBitsClear(uint32_t *bits, const SysCSR *A, int64_t r)
{
  for (SysInt q = A->i[r]; q < A->i[r + 1]; q++) bits[A->j[q] >> GRAPH_BITS_SHIFT] = 0;
}

/* Returns 1 if the set has column j */
static inline uint32_t GraphBitsHave(const uint32_t *bits, SysInt j)
{
  return bits[j >> GRAPH_BITS_SHIFT] >> (j & GRAPH_BITS_MASK) & 1;
}
