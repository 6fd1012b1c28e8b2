/* SPDX-License-Identifier: BSD-2-Clause */
/*
   A level on a CUDA device: what its kernels leave for the next step
*/
#pragma once

#include "sys/syscuda.cuh"
#include "ksp/pc/impls/gamg/aggcuda.h"
#include "ksp/pc/impls/gamg/aggkeys.h"

struct _AggDevice {
  int       n; /* vertices */
  int       edges;
  int      *i, *j;
  uint32_t *w;
  char     *memory[3]; /* of these arrays, until there are aggregates */

  int      nagg;
  int     *number, *join; /* of the aggregate of each vertex, and the vertex that it joined; one allocation */
  SysReal *block;         /* the tentative prolongator: bs rows of nvec entries for each vertex */
  char    *arrays[3];     /* the prolongator: starts of rows, columns, values */
};

/* Ends of lengths: ends[0] becomes 0, and ends[k + 1], which is a length, the sum of the lengths up to it */
SysStatus AggDeviceSum(int n, int *ends, cudaStream_t stream);

/* An entry of an array on the device */
SysStatus AggDeviceLook(const int *array, int64_t place, int *entry, cudaStream_t stream);
