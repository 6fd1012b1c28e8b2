/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The pattern of a sparse operand, as the kernels of its products with dense matrices use it
*/
#pragma once

#include "sys/syscuda.cuh"
#include "mat/impls/spmm/cuda/spmmcuda.h"

#define SPMM_VECTOR (16 / (int)sizeof(SysReal)) /* numbers of a vector that a lane reads at once */

struct _SpmmDevice {
  int      most; /* entries of a row that is not cut, at most */
  int64_t  npart;
  int     *begin; /* of each part: its first entry, and behind its last one; only longer rows have parts */
  int     *end;
  int     *first; /* of each row: the number of parts before it; not for sampled products */
  int     *row;   /* of each part: its row; for sampled products */
  SysReal *sums;  /* a row of a panel for each part */
  char    *memory;
  int     *i, *j, *place; /* the transposed pattern, whose entry k has the value of entry place[k] of A; or NULL */
  char    *transposed;
};
