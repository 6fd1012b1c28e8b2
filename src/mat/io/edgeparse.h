/* SPDX-License-Identifier: BSD-2-Clause */
/*
   A parser of edge lists, without PETSc: it turns bytes in memory into edges, and reports the first fault of the text with its line.

   A line names one vertex, or two and perhaps a weight, between blanks or tabs. A line that begins with # is a comment. The text may come in pieces, as for the parser of
   Matrix Market text.
*/
#pragma once

#include <stddef.h>
#include <stdint.h>

/* to is EDGE_NONE if the line names one vertex */
typedef struct {
  int64_t from, to;
  double  weight;
} Edge;

#define EDGE_NONE ((int64_t)-1)

typedef enum {
  EDGE_MORE, /* the complete lines of the text are used up */
  EDGE_FULL, /* the batch is full, call again */
  EDGE_BAD   /* the text has a fault in the line that begins after the text that was used */
} EdgeStatus;

/*
   Consumes complete lines, and sets edges[0] to edges[*count - 1]. last: no text follows. *lines is increased by the lines that were consumed. MtxPrepareDecimal() must
   be called before.
*/
EdgeStatus EdgeParse(const char *text, size_t length, int last, Edge *edges, size_t capacity, size_t *count, size_t *used, int64_t *lines, const char **reason);
