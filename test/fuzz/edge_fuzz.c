/* SPDX-License-Identifier: BSD-2-Clause */
/*
   libFuzzer target for the parser of edge lists: whatever the bytes are, its answer does not depend on how they are cut, and no vertex is negative. The first four bytes
   seed the cuts.
*/
#include <math.h>

#include "fuzz.h"
#include "graph/io/edgeparse.h"
#include "mat/io/mtxparse.h"

typedef struct {
  EdgeStatus  status;
  const char *reason;
  Edge       *edges;
  size_t      count;
  int64_t     lines;
} Result;

static uint32_t state;

/* The lines before the edges; returns the status at their end */
static EdgeStatus Head(const char *text, size_t length, int cut, EdgeHead *head)
{
  size_t     given = 0, used;
  EdgeStatus status;

  *head = (EdgeHead){0, 0, 0};
  do {
    const size_t left = length - (size_t)head->bytes - given, more = cut ? 1 + Random(&state, 16) : left;
    char        *copy;

    given += more < left ? more : left;
    copy = malloc(given ? given : 1);
    memcpy(copy, text + head->bytes, given);
    if (cut && given < 3 && given < length && !head->bytes) { /* a reader passes more than the byte order mark */
      free(copy);
      status = EDGE_MORE;
      continue;
    }
    status = EdgeParseHead(head, copy, given, (size_t)head->bytes + given == length, &used);
    free(copy);
    CHECK(used <= given);
    given -= used;
  } while (status == EDGE_MORE && (size_t)head->bytes + given < length);
  CHECK(head->names <= head->lines && (status == EDGE_FULL || (size_t)head->bytes == length));
  return status;
}

static void Parse(const char *text, size_t length, int cut, Result *r)
{
  size_t begin = 0, given = 0;

  *r = (Result){EDGE_MORE, NULL, malloc((length + 1) * sizeof(Edge)), 0, 0};
  while (1) {
    const size_t left = length - begin - given, more = cut ? 1 + Random(&state, Random(&state, 4) ? 16 : 2000) : left;
    const size_t room = cut ? 1 + Random(&state, 8) : length + 1;
    size_t       count, used;
    char        *copy;
    Edge        *edges = malloc(room * sizeof(*edges));

    given += more < left ? more : left;
    copy = malloc(given ? given : 1);
    memcpy(copy, text + begin, given);
    r->status = EdgeParse(copy, given, begin + given == length, edges, room, &count, &used, &r->lines, &r->reason);
    CHECK(count <= room && used <= given && r->count + count <= length);
    CHECK(r->status != EDGE_FULL || count == room);
    memcpy(r->edges + r->count, edges, count * sizeof(*edges));
    r->count += count;
    free(copy);
    free(edges);
    begin += used;
    given -= used;
    if (r->status == EDGE_BAD || (r->status == EDGE_MORE && begin == length)) break;
    CHECK(r->status == EDGE_FULL || begin + given < length);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  Result   whole, cut;
  EdgeHead head, pieces;

  if (size < 4) return 0;
  MtxPrepareDecimal();
  memcpy(&state, data, 4);
  CHECK(Head((const char *)data + 4, size - 4, 0, &head) == Head((const char *)data + 4, size - 4, 1, &pieces));
  CHECK(head.bytes == pieces.bytes && head.lines == pieces.lines && head.names == pieces.names);
  Parse((const char *)data + 4, size - 4, 0, &whole);
  Parse((const char *)data + 4, size - 4, 1, &cut);
  CHECK(whole.status == cut.status && whole.count == cut.count && whole.lines == cut.lines);
  CHECK(whole.status != EDGE_BAD || (whole.reason && whole.reason == cut.reason));
  for (size_t k = 0; k < whole.count; k++) {
    const Edge e = whole.edges[k], f = cut.edges[k];

    CHECK(e.from == f.from && e.to == f.to && e.weight == f.weight);
    CHECK(e.from >= 0 && e.to >= EDGE_NONE && isfinite(e.weight));
  }
  free(whole.edges);
  free(cut.edges);
  return 0;
}
