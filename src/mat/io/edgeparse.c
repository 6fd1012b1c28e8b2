/* SPDX-License-Identifier: BSD-2-Clause */
/*
   A parser of edge lists, without PETSc
*/
#include <string.h>
#include "mat/io/edgeparse.h"
#include "mat/io/mtxparse.h"

#define EDGE_LINE 512 /* bytes of a line that are not a comment, at most, without blanks around them */

static int EdgeIsBlank(char c)
{
  return c == ' ' || c == '\t' || c == '\r';
}

static const char *EdgeSkip(const char *p, const char *end)
{
  while (p < end && EdgeIsBlank(*p)) p++;
  return p;
}

/* Reads a vertex; returns NULL and sets the reason if there is none */
static const char *EdgeVertex(const char *p, const char *end, int64_t *id, const char **reason)
{
  int64_t v = 0;

  if (!MtxIsDigit(*p)) {
    *reason = *p == '-' ? "a vertex is a number that is not negative" : "a vertex is a whole number";
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
  if (p < end && !EdgeIsBlank(*p)) {
    *reason = "a vertex is a whole number, and a blank or a tab follows it";
    return NULL;
  }
  *id = v;
  return p;
}

/* Reads the weight at the end of a line; the number is copied to text that a zero ends */
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
  if (!stop) *reason = overflow ? "the weight is too large for a number of 64 bits" : "the third column is no number";
  else if (*stop && !EdgeIsBlank(*stop)) *reason = "the third column is no number";
  else if (EdgeSkip(p + (stop - text), end) < end) *reason = "a line has at most three columns: two vertices and a weight";
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
    if (p < end && *p != '#') {
      p = EdgeVertex(p, end, &e.from, reason);
      if (!p) return EDGE_BAD;
      p = EdgeSkip(p, end);
      if (p < end) {
        p = EdgeVertex(p, end, &e.to, reason);
        if (!p) return EDGE_BAD;
        p = EdgeSkip(p, end);
        if (p < end && !EdgeWeight(p, end, &e.weight, reason)) return EDGE_BAD;
      }
      edges[(*count)++] = e;
    }
    *used = (size_t)(end - text) + (feed ? 1 : 0);
    (*lines)++;
  }
  return EDGE_MORE;
}
