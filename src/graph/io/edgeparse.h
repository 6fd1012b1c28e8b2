/* SPDX-License-Identifier: BSD-2-Clause */
/*
   A parser of edge lists, without PETSc: converts bytes to edges, and reports the first fault of the text with its line.

   A line has one vertex, or two and an optional weight, separated by blanks, tabs or commas. A line that begins with # or % is a comment. Column
   names may precede the first edge.

   The text may come in pieces: each call consumes complete lines, sets *used to their bytes, and the caller passes the rest again with more text after
   it. last: no text follows, so a line without an end is complete. mat/io/mtxparse.h is the same for Matrix Market text.
*/
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A line: the edge, or a vertex without edges, whose `to` is EDGE_NONE */
typedef struct {
  int64_t from, to;
  double  weight;
} Edge;

#define EDGE_NONE ((int64_t)-1)

typedef enum {
  EDGE_MORE, /* all complete lines of the text are consumed: the caller reads more */
  EDGE_FULL, /* stopped before the end of the text: edges[] is full, or the head has ended */
  EDGE_BAD   /* the first line after the consumed text has a fault, which *reason names */
} EdgeStatus;

/* The head of a file, the lines before the edges: comments and column names. The caller passes zeros at the begin of a file. */
typedef struct {
  int64_t bytes, lines; /* consumed so far */
  int64_t names;        /* line number of the column names, or 0 */
} EdgeHead;

/* Consumes lines of the head. EDGE_FULL: the edges begin; if the file ends before, its line of names, if any, is a faulty edge. */
EdgeStatus EdgeParseHead(EdgeHead *, const char *text, size_t length, int last, size_t *used);

/* Consumes lines after the head, sets edges[0] to edges[*count - 1], and adds the number of lines to *lines. The caller has called MtxPrepareDecimal(), once. */
EdgeStatus EdgeParse(const char *text, size_t length, int last, Edge *edges, size_t capacity, size_t *count, size_t *used, int64_t *lines, const char **reason);
