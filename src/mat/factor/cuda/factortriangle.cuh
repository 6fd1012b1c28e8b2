/* SPDX-License-Identifier: BSD-2-Clause */
/*
   A triangle on the device: its plan, laid out as factorhost.h describes
*/
#pragma once

#include "mat/factor/cuda/factorcuda.h"
#include "mat/factor/cuda/factorread.cuh"

#define FACTOR_NODES       4  /* rows of a node at most */
#define FACTOR_LEVELS      32 /* levels of a triangle that is solved level by level, at most */
#define FACTOR_BOX_ENTRIES 16 /* entries of a row in a box at most */

/* Of each position: source, the entry of the right-hand side, or -1 for a position without a row; target, the entry of the solution; diagonal, the place of the diagonal's factor. Nodes of bs rows have bs positions one
   after the other and one column for bs * bs values; node[] are the entries between rows of a node, value node_from[]. */
typedef struct {
  int        n, bs, tiles, lanes, steps, levels, gap;
  int        boxes; /* 0, or the entries of the longest row: each tile is a box, whose rows get numbers of one another by shuffles */
  int        room;  /* numbers of a result: the positions of both triangles at most */
  int64_t    entries;
  int       *start, *column, *from, *node_from, *source, *target, *diagonal;
  SysScalar *value, *node, *before, *after; /* before and after: factors of right-hand sides and results, or NULL */
} FactorTriangle;

/* The values of all slots, and of all nodes */
static inline int64_t FactorSlots(const FactorTriangle *T)
{
  return (int64_t)T->steps * SYS_WARP * T->bs * T->bs;
}

static inline int64_t FactorNodeEntries(const FactorTriangle *T)
{
  return (int64_t)T->n * (T->bs - 1) / 2;
}

/* Sorts rows by level, rows of a level in their own order: row[] at each position, place[] of each row. begin: the first position of each level, if there are at most FACTOR_LEVELS. */
SysStatus FactorOrder(const FactorRows *T, int upper, int *row, int *place, int *levels, int begin[FACTOR_LEVELS + 1], cudaStream_t);

/* The launches for one triangle, a launch a level (factorlevelcuda.cu). b: right-hand sides of ldb numbers each; result: by position; x: solutions, or NULL. */
SysStatus FactorLevelsSolve(const FactorTriangle *T, const int *begin, bool early, int columns, const SysScalar *b, int64_t ldb, SysScalar *result, SysScalar *x, int64_t ldx, cudaStream_t);

/* The same by boxes of rows (factorruncuda.cu), if they have far fewer levels than P->levels: sets boxes, n and levels of P, and row[], in the scratch, which is -1 at positions without
   a row. Else P does not change. */
SysStatus FactorRuns(const FactorRows *T, int upper, SysScratch *, int **row, int *place, FactorTriangle *P, cudaStream_t);

/* Transposes a triangle; the arrays of the result are in the scratch */
SysStatus FactorTranspose(const FactorRows *T, SysScratch *, FactorRows *, cudaStream_t);

/* Chooses the threads of a row, `each` entries a thread on average at most, and counts tiles, steps and entries of a triangle whose rows are in this order. FactorPlanFill() sets start,
   column and from, which the caller allocates; column alone if P has nodes. */
SysStatus FactorPlanMeasure(const FactorRows *T, int each, const int *row, FactorTriangle *, cudaStream_t);
SysStatus FactorPlanFill(const FactorRows *T, int upper, const int *row, const int *place, const FactorTriangle *P, cudaStream_t);

/* If rows of nodes have the same columns, in whole nodes, sets the triangle of the nodes, in the scratch; else N->n is 0 */
SysStatus FactorNodesGet(const FactorRows *T, int upper, int bs, int64_t nz, SysScratch *, FactorRows *N, cudaStream_t);

/* The order of rows from the order of nodes */
SysStatus FactorNodesOrder(int64_t nodes, int upper, int bs, const int *node, int *row, int *place, cudaStream_t);

/* Sets from and node_from for rows T with nodes N */
SysStatus FactorNodesFill(const FactorRows *T, const FactorRows *N, int upper, const int *node, const FactorTriangle *P, cudaStream_t);

/* to[k] = map[from[k]], or from[k] if map is NULL or from[k] negative */
SysStatus FactorCompose(int64_t n, const int *from, const int *map, int *to, cudaStream_t);

/* The thread blocks of a kernel that takes `each` thread blocks of a multiprocessor for n threads at most */
SysStatus FactorBlocks(int64_t n, int each, int64_t *blocks);
