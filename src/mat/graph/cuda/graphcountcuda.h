/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Triangles of a graph and searches in a graph on a CUDA device, on the pattern of a square matrix in compressed rows. Results are whole numbers, the same in each run.
*/
#pragma once

#include "sys/syscuda.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Counts the triangles; directions, loops and repeated entries do not count. Waits for the result. Takes 16 bytes for each entry while it runs. */
SysStatus GraphTriangles(const SysCSR *A, int64_t *count, SysStream);

/* Searches from up to 64 vertices at a time. The arrays of A must stay until the end. */
typedef struct _GraphSearch GraphSearch;

SysStatus GraphSearchCreate(const SysCSR *A, GraphSearch **, SysStream);

/* Adds the vertices that n sources reach to reached, each as often as there are sources that reach it, and makes farthest at least the largest level. level is NULL, or an array on
   the host for n times m levels, -1 where a source does not reach a vertex. */
SysStatus GraphSearchRun(GraphSearch *, int n, const int64_t source[], int *level, int64_t *reached, int64_t *farthest, SysStream);
void      GraphSearchDestroy(GraphSearch *);

#if defined(__cplusplus)
}
#endif
