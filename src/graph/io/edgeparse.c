/* SPDX-License-Identifier: BSD-2-Clause */
/*
   A parser of edge lists, without PETSc
*/
#include <string.h>
#include "graph/io/edgeparse.h"
#include "mat/io/mtxparse.h"

#define EDGE_LINE 512 /* most bytes of a line that is not a comment, without surrounding blanks */

static int EdgeIsBlank(char c)
{
  return c == ' ' || c == '\t' || c == '\r';
}

static const char *EdgeSkip(const char *p, const char *end)
{
  while (p < end && EdgeIsBlank(*p)) p++;
  return p;
}

/* Skips a separator of two columns: blanks with at most one comma */
static const char *EdgeSeparator(const char *p, const char *end)
{
  p = EdgeSkip(p, end);
  return p < end && *p == ',' ? EdgeSkip(p + 1, end) : p;
}

static int EdgeIsComment(const char *p, const char *end)
{
  return p < end && (*p == '#' || *p == '%');
}

/* Reads a vertex; on failure returns NULL and sets the reason */
static const char *EdgeVertex(const char *p, const char *end, int64_t *id, const char **reason)
{
  int64_t v = 0;

  if (p == end || !MtxIsDigit(*p)) {
    *reason = p == end || *p == ',' ? "a column is empty" : *p == '-' ? "a vertex is a number that is not negative" : "a vertex is a whole number";
    return NULL;
  }
  for (; p < end && MtxIsDigit(*p); p++) {
    const int d = *p - '0';

    if (v > (INT64_MAX - d) / 10) {
      *reason = "the number of a vertex is larger than 2^63 - 1";
      return NULL;
    }
    v = 10 * v + d;
  }
  if (p < end && !EdgeIsBlank(*p) && *p != ',') {
    *reason = "a vertex is a whole number, and a blank, a tab or a comma follows it";
    return NULL;
  }
  *id = v;
  return p;
}

/* Reads the weight at the end of a line, through a zero-terminated copy */
static int EdgeWeight(const char *p, const char *end, double *weight, const char **reason)
{
  char        text[EDGE_LINE + 1];
  const char *stop;
  int         overflow = 0;

  if (end - p > EDGE_LINE) {
    *reason = "the line is too long";
    return 0;
  }
  memcpy(text, p, (size_t)(end - p));
  text[end - p] = 0;
  stop          = MtxReadDecimal(text, weight, &overflow);
  if (p == end) *reason = "a column is empty";
  else if (!stop) *reason = overflow ? "the weight is too large for a number of 64 bits" : "the third column is no number";
  else if (*stop && !EdgeIsBlank(*stop) && *stop != ',') *reason = "the third column is no number";
  else if (EdgeSkip(p + (stop - text), end) < end) *reason = "a line has at most three columns: two vertices and a weight; cut the others off";
  else return 1;
  return 0;
}

EdgeStatus EdgeParse(const char *text, size_t length, int last, Edge *edges, size_t capacity, size_t *count, size_t *used, int64_t *lines, const char **reason)
{
  *count = *used = 0;
  while (*used < length) {
    const char *p = text + *used, *feed = memchr(p, '\n', length - *used), *end = feed ? feed : text + length;
    Edge        e = {0, EDGE_NONE, 1};

    if (!feed && !last) return EDGE_MORE;
    if (*count == capacity) return EDGE_FULL;
    p = EdgeSkip(p, end);
    if (p < end && !EdgeIsComment(p, end)) {
      p = EdgeVertex(p, end, &e.from, reason);
      if (!p) return EDGE_BAD;
      if (EdgeSkip(p, end) < end) {
        p = EdgeVertex(EdgeSeparator(p, end), end, &e.to, reason);
        if (!p) return EDGE_BAD;
        if (EdgeSkip(p, end) < end && !EdgeWeight(EdgeSeparator(p, end), end, &e.weight, reason)) return EDGE_BAD;
      }
      edges[(*count)++] = e;
    }
    *used = (size_t)(end - text) + (feed ? 1 : 0);
    (*lines)++;
  }
  return EDGE_MORE;
}

/* Returns whether the line has only column names: words that begin with a letter, an underscore or a quotation mark */
static int EdgeIsNames(const char *p, const char *end)
{
  while (p < end) {
    if (!((*p | 32) >= 'a' && (*p | 32) <= 'z') && *p != '_' && *p != '"') return 0;
    while (p < end && !EdgeIsBlank(*p) && *p != ',') p++;
    p = EdgeSeparator(p, end);
  }
  return 1;
}

EdgeStatus EdgeParseHead(EdgeHead *head, const char *text, size_t length, int last, size_t *used)
{
  *used = !head->bytes && length >= 3 && !memcmp(text, MTX_BYTE_ORDER_MARK, 3) ? 3 : 0;
  head->bytes += (int64_t)*used;
  while (*used < length) {
    const char  *p = text + *used, *feed = memchr(p, '\n', length - *used), *end = feed ? feed : text + length, *first = EdgeSkip(p, end);
    const size_t bytes = (size_t)(end - p) + (feed ? 1 : 0);

    if (!feed && !last) return EDGE_MORE;
    if (first < end && !EdgeIsComment(first, end)) {
      if (head->names || !EdgeIsNames(first, end)) return EDGE_FULL;
      head->names = head->lines + 1;
    }
    *used += bytes;
    head->bytes += (int64_t)bytes;
    head->lines++;
  }
  return EDGE_MORE;
}
