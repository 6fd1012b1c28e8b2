/* SPDX-License-Identifier: BSD-2-Clause */
/*
   A parser of edge lists, without PETSc: converts bytes to edges, and reports the first fault of the text with its line.

   A line has one vertex, or two and an optional weight, separated by blanks, tabs or commas. A line that begins with # or % is a comment. Column
   names may precede the first edge. The text may come in pieces, as for the parser of Matrix Market text.
*/
#pragma once

#include <stddef.h>
#include <stdint.h>

/* to is EDGE_NONE if the line has one vertex */
typedef struct {
  int64_t from, to;
  double  weight;
} Edge;

#define EDGE_NONE ((int64_t)-1)

typedef enum {
  EDGE_MORE, /* all complete lines of the text are consumed */
  EDGE_FULL, /* the batch is full, call again */
  EDGE_BAD   /* the first line after the consumed text has a fault */
} EdgeStatus;

/* The lines before the edges: comments and column names. Zeroed at the begin of a file. */
typedef struct {
  int64_t bytes, lines; /* that were consumed */
  int64_t names;        /* the line of the column names, or 0 */
} EdgeHead;

/* Consumes complete lines before the edges; EDGE_FULL: the edges begin. If the text ends first, a line of names was an error. last: no text follows. */
EdgeStatus EdgeParseHead(EdgeHead *, const char *text, size_t length, int last, size_t *used);

/*
   Consumes complete lines, and sets edges[0] to edges[*count - 1]. last: no text follows. Adds the consumed lines to *lines. Call MtxPrepareDecimal()
   first.
*/
EdgeStatus EdgeParse(const char *text, size_t length, int last, Edge *edges, size_t capacity, size_t *count, size_t *used, int64_t *lines, const char **reason);
