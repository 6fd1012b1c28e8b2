/* SPDX-License-Identifier: BSD-2-Clause */
/*
   A level on a CUDA device: what its kernels leave for the next step
*/
#pragma once

#include "sys/syscuda.cuh"
#include "ksp/pc/impls/gamg/cuda/aggcuda.h"
#include "ksp/pc/impls/gamg/host/aggkeys.h"

struct _AggDevice {
  cudaStream_t stream;    /* of all work, and of the memory, which is from the pool */
  int          n, nghost; /* vertices of this process, and ghosts, which come after them */
  int          edges;
  int         *i, *j;
  uint32_t    *w;
  char        *memory[3]; /* of these arrays, until there are aggregates */
  double      *s, *diag;  /* the strengths of AggGraph, until the graph is finished */
  int         *ghost;     /* of AggMatrix */
  int         *ghosts;    /* global numbers of ghosts, and */
  AggEdge     *cut;       /* edges for their owners, until the graph is symmetric */

  int      nagg, firstagg;
  int     *number, *join; /* of the aggregate of each vertex and ghost, and the vertex that it joined; one allocation */
  SysReal *block;         /* the tentative prolongator: bs rows of nvec entries for each vertex; then for ghosts, or for guests before these */
  int     *column[2];     /* the columns of vertices and ghosts in both parts of the prolongator, or -1; NULL on one process */
  int      nfar;          /* columns of the second part */
  char    *arrays[2][3];  /* the parts of the prolongator: starts of rows, columns, values */
};

/* Ends of lengths: ends[0] becomes 0, and ends[k + 1], which is a length, the sum of the lengths up to it */
SysStatus AggDeviceSum(int n, int *ends, cudaStream_t stream);

/* An entry of an array on the device */
SysStatus AggDeviceLook(const int *array, int64_t place, int *entry, cudaStream_t stream);

/* Frees the strengths of edges */
void AggDeviceForgetStrengths(AggDevice *g);
