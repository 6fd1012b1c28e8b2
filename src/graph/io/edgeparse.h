/* SPDX-License-Identifier: BSD-2-Clause */
/*
   A parser of edge lists, without PETSc: it turns bytes in memory into edges, and reports the first fault of the text with its line.

   A line names one vertex, or two and perhaps a weight, between blanks, tabs or commas. A line that begins with # or % is a comment. Before the first edge a line may
   have the names of the columns. The text may come in pieces, as for the parser of Matrix Market text.
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

/* The lines before the edges: comments, and the names of the columns. All zero at the beginning of a file. */
typedef struct {
  int64_t bytes, lines; /* that were consumed */
  int64_t names;        /* the line with the names of the columns, or 0 */
} EdgeHead;

/* Consumes complete lines before the edges; EDGE_FULL: the edges begin. If the text ends before, a line with names was none. last: no text follows. */
EdgeStatus EdgeParseHead(EdgeHead *, const char *text, size_t length, int last, size_t *used);

/*
   Consumes complete lines, and sets edges[0] to edges[*count - 1]. last: no text follows. *lines is increased by the lines that were consumed. MtxPrepareDecimal() must
   be called before.
*/
EdgeStatus EdgeParse(const char *text, size_t length, int last, Edge *edges, size_t capacity, size_t *count, size_t *used, int64_t *lines, const char **reason);
