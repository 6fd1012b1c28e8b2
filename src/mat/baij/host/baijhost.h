/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products of BAIJ and SBAIJ on the host, from PETSc's own arrays.

   Block row i has the blocks i[i] to i[i + 1] - 1. Block b is in block column j[b], with its columns one after the other:

     a + b bs^2:    column 0 | column 1 | ...      bs numbers each, bs from 2 to 8

   A register holds a column, or two registers if it is too short. The other lanes are masked: they load nothing, and no operation of theirs raises a
   floating-point exception that the matrix does not. z = A x adds columns times broadcast entries of x, in up to four sums, because a sum depends on the one before.
   The transposed product multiplies the columns by the row's entries of x and adds up each register; all sums of a block take log2(8) steps together. A
   symmetric matrix has only its upper blocks; one visit of a block adds to the block row and to the block column.

   Nothing is stored or allocated, so there is no conversion to repay, and new values cost nothing. The bytes are the matrix's: 8 + 4 / bs^2 a number with FP64, half of
   them for a symmetric matrix. Blocks of one entry, blocks larger than 8, and processors without AVX2 stay with PETSc's loops.

   The same for nodes of an AIJ: the bs rows of a node have the same columns, in runs of bs. The registers hold parts of rows, as PETSc stores them:

     a + i[bs n + r]:   row r of node n: block 0 | block 1 | ...      bs numbers each

   Threads divide the block rows of z = A x by their blocks; a sum does not depend on their number. The other two products scatter to z and run on one thread, as PETSc's do.
*/
#pragma once

#include "sys/syscsr.h"
#include "mat/baij/host/baijpolicy.h"

SYS_C_BEGIN

typedef struct {
  int64_t          m; /* block rows */
  int              bs;
  const SysInt    *i, *j;
  const SysScalar *a;
} BAIJHost;

typedef struct {
  const char *name;
  int (*supported)(void);
  void (*mult)(const BAIJHost *, int threads, const SysScalar *x, const SysScalar *y, SysScalar *z);      /* z = A x + y, or z = A x if y is NULL; y may be z */
  void (*multnodes)(const BAIJHost *, int threads, const SysScalar *x, const SysScalar *y, SysScalar *z); /* the same for an AIJ with m nodes, and its i and j */
  void (*multtranspose)(const BAIJHost *, const SysScalar *x, SysScalar *z);                              /* z = z + A^T x */
  void (*multsymmetric)(const BAIJHost *, const SysScalar *x, SysScalar *z);                              /* z = z + A x with the upper blocks of A */
} BAIJKernels;

extern const BAIJKernels BAIJKernelsPlain, BAIJKernelsAVX2, BAIJKernelsAVX512;

/* Returns whether the rows of an AIJ are nodes of bs rows, whose columns come in runs of bs */
int BAIJFindNodes(const SysCSR *, int bs);

/* Returns the kernels of this processor, or NULL */
const BAIJKernels *BAIJKernelsGet(void);

SYS_C_END
