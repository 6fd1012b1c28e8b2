/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Markov clustering on a CUDA device: the rows of a matrix are expanded, inflated and pruned, some at a time. Real numbers and 32-bit indices only. The same matrix gives the same bits.
*/
#pragma once

#include "sys/syscuda.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct {
  double  inflation, prune; /* the power of the entries; smaller ones are left out */
  double  batch;            /* multiplications at a time */
  int64_t keep;             /* entries of a row, at most */
} GraphMarkovOptions;

typedef struct _GraphMarkov GraphMarkov;

/* The rows of M have the sum 1; its arrays must stay until the first step has been done. nz is the number of entries of the matrix, before and after steps. */
SysStatus GraphMarkovCreate(const SysCSR *M, GraphMarkov **);
SysStatus GraphMarkovStep(GraphMarkov *, const GraphMarkovOptions *, double *chaos, SysStream);
int64_t   GraphMarkovEntries(const GraphMarkov *);
SysStatus GraphMarkovFetch(const GraphMarkov *, int *i, int *j, SysScalar *a, SysStream); /* to the host */
void      GraphMarkovDestroy(GraphMarkov *, SysStream);

#if defined(__cplusplus)
}
#endif
