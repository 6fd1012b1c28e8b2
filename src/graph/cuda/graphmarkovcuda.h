/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Markov clustering on a CUDA device: expands, inflates and prunes a matrix's rows batch by batch. Real numbers and 32-bit indices only.
   Deterministic.
*/
#pragma once

#include "sys/syscuda.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct {
  double  inflation, prune; /* power of the entries; size below which entries are dropped */
  double  batch;            /* multiplications of a batch */
  int64_t keep;             /* most entries of a row */
} GraphMarkovOptions;

typedef struct _GraphMarkov GraphMarkov;

/* M's rows have the sum 1; its arrays must outlive the first step. nz: entries of the matrix before and after steps. */
SysStatus GraphMarkovCreate(const SysCSR *M, GraphMarkov **);
SysStatus GraphMarkovStep(GraphMarkov *, const GraphMarkovOptions *, double *chaos, SysStream);
int64_t   GraphMarkovEntries(const GraphMarkov *);
SysStatus GraphMarkovFetch(const GraphMarkov *, int *i, int *j, SysScalar *a, SysStream); /* to the host */
void      GraphMarkovDestroy(GraphMarkov *, SysStream);

#if defined(__cplusplus)
}
#endif
