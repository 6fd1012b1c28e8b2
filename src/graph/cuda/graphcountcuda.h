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
SysStatus GraphTrianglesCount(const SysCSR *A, int64_t *count, SysStream);

/* Searches from up to 64 vertices at a time. The arrays of A and cut must stay until the end. Several processes search together: cut has the edges to vertices of others, or is NULL
   with one process, and to[] (on the host) lists the vertices for which bits come from others, each as often as there are processes that send them. levels is the most sources
   of which levels are wanted. */
typedef struct _GraphSearch GraphSearch;

SysStatus GraphSearchCreate(const SysCSR *A, const SysCSR *cut, int nto, const int to[], int levels, GraphSearch **, SysStream);

/* Starts from n vertices; -1: the vertex is another process's. source must stay until the first level. */
SysStatus GraphSearchStart(GraphSearch *, int n, const int source[], SysStream);

/* Gets how many vertices level number now reaches, each as often as there are sources that reach it. Waits for it. */
SysStatus GraphSearchTake(GraphSearch *, int now, int64_t *reached, SysStream);

/* Goes one level on. Then: gets the bits for the columns of cut, and room for those for the vertices of to[], both on the host; takes over what has been put into that room. */
SysStatus GraphSearchStep(GraphSearch *, SysStream);
SysStatus GraphSearchGetOut(GraphSearch *, const uint64_t **out, uint64_t **in);
SysStatus GraphSearchTakeIn(GraphSearch *, SysStream);

/* Gets the levels from n sources, n times m numbers, -1 where a source does not reach a vertex */
SysStatus GraphSearchGetLevels(GraphSearch *, int n, int *level, SysStream);
void      GraphSearchDestroy(GraphSearch *);

#if defined(__cplusplus)
}
#endif
