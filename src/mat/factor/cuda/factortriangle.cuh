/* SPDX-License-Identifier: BSD-2-Clause */
/*
   A triangle on the device: its plan, laid out as factorhost.h describes
*/
#pragma once

#include "mat/factor/cuda/factorcuda.h"
#include "mat/factor/cuda/factorread.cuh"

/* Of each position: source, the entry of the right-hand side; target, the entry of the solution; diagonal, the place of the diagonal's factor */
typedef struct {
  int        n, tiles, lanes, steps, levels;
  int64_t    entries;
  int       *start, *column, *from, *source, *target, *diagonal;
  SysScalar *value, *before, *after; /* before and after: factors of right-hand sides and results, or NULL */
} FactorTriangle;

/* Sorts rows by level, rows of a level in their own order: row[] at each position, place[] of each row */
SysStatus FactorOrder(const FactorRows *T, int upper, int *row, int *place, int *levels, cudaStream_t);

/* Transposes a triangle; the arrays of the result are in the scratch */
SysStatus FactorTranspose(const FactorRows *T, SysScratch *, FactorRows *, cudaStream_t);

/* Chooses the threads of a row and counts tiles, steps and entries of a triangle whose rows are in this order; FactorPlanFill() sets start, column and from, which the caller allocates */
SysStatus FactorPlanMeasure(const FactorRows *T, const int *row, FactorTriangle *, cudaStream_t);
SysStatus FactorPlanFill(const FactorRows *T, int upper, const int *row, const int *place, const FactorTriangle *, cudaStream_t);

/* to[k] = map[from[k]], or from[k] if map is NULL */
SysStatus FactorCompose(int64_t n, const int *from, const int *map, int *to, cudaStream_t);

/* The thread blocks of a kernel that takes `each` thread blocks of a multiprocessor for n threads at most */
SysStatus FactorBlocks(int64_t n, int each, int64_t *blocks);
