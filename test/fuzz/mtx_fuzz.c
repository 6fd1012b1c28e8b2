/* SPDX-License-Identifier: BSD-2-Clause */
/*
   libFuzzer target for the Matrix Market parser: whatever the bytes are, the parser must not fault, and its answer must not depend on how
   they are cut. The first four bytes seed the cuts, the rest is the file. See fuzz.sh.
*/
#include "fuzz.h"
#include "mat/io/mtxparse.h"

typedef struct {
  MtxStatus status;
  MtxReader reader;
  int64_t  *i, *j;
  double   *re, *im;
  size_t    count;
} Result;

static uint32_t state;

/* How much text the next call gets; seldom much, so that the last line is often cut */
static size_t Cut(size_t left)
{
  size_t n = Random(&state, 4) ? 1 + Random(&state, 16) : 1 + Random(&state, 2 * MTX_LINE_MAX);

  return n < left ? n : left;
}

static void Allocate(Result *r, size_t length)
{
  r->i     = malloc((length + 1) * sizeof(*r->i));
  r->j     = malloc((length + 1) * sizeof(*r->j));
  r->re    = malloc((length + 1) * sizeof(*r->re));
  r->im    = malloc((length + 1) * sizeof(*r->im));
  r->count = 0;
}

/* Parses text behind a reader that is ready, cutting it or not; copies of exact size let the sanitizer see reads behind the end */
static void Parse(const char *text, size_t length, int cut, Result *r)
{
  size_t    begin = 0, given = 0;
  MtxStatus status = MTX_MORE;

  Allocate(r, length);
  while (1) {
    MtxBatch b    = {r->i + r->count, r->j + r->count, r->re + r->count, r->im + r->count, cut ? 1 + Random(&state, 8) : length + 1, 0};
    size_t   used = 0;
    char    *copy;

    given += cut ? Cut(length - begin - given) : length - begin - given;
    copy = malloc(given ? given : 1);
    memcpy(copy, text + begin, given);
    if (status == MTX_MORE) {
      status = MtxReadHeader(&r->reader, copy, given, begin + given == length, &used);
    } else {
      status = MtxReadEntries(&r->reader, copy, given, begin + given == length, &b, &used);
      r->count += b.count;
    }
    free(copy);
    CHECK(status == MTX_BAD || used <= given);
    if (status == MTX_BAD) break;
    CHECK(status != MTX_MORE || begin + given < length);
    begin += used;
    given -= used;
    if (status == MTX_OK && begin == length) break;
  }
  r->status = status;
}

static void Release(Result *r)
{
  free(r->i);
  free(r->j);
  free(r->re);
  free(r->im);
}

static void Same(const Result *a, size_t from, const Result *b)
{
  if (a->reader.header.format == MTX_COORDINATE) {
    CHECK(!memcmp(a->i + from, b->i, b->count * sizeof(*b->i)));
    CHECK(!memcmp(a->j + from, b->j, b->count * sizeof(*b->j)));
  }
  CHECK(!memcmp(a->re + from, b->re, b->count * sizeof(*b->re)));
  CHECK(!memcmp(a->im + from, b->im, b->count * sizeof(*b->im)));
}

/* Entries parsed by several readers that take the lines beginning in their shares, as the processes of a communicator do */
static void Shares(const char *text, size_t length, const Result *whole)
{
  MtxReader header;
  size_t    begin = 0, count = 0;
  int64_t   lines;
  int       bad = 0;

  MtxReaderInit(&header);
  CHECK(MtxReadHeader(&header, text, length, 1, &begin) == MTX_OK);
  lines = header.line;
  while (begin < length && !bad) {
    size_t      end  = begin + Cut(length - begin);
    const char *feed = end < length ? memchr(text + end - 1, '\n', length - end + 1) : NULL;
    size_t      used = 0, n;
    MtxBatch    b;
    Result      part;

    end = feed ? (size_t)(feed - text) + 1 : length;
    n   = end - begin;
    memset(&part, 0, sizeof(part));
    MtxReaderInitEntries(&part.reader, &header.header);
    Allocate(&part, n);
    b           = (MtxBatch){part.i, part.j, part.re, part.im, n + 1, 0};
    part.status = MtxReadEntries(&part.reader, text + begin, n, 1, &b, &used);
    part.count  = b.count;
    CHECK(part.status == MTX_BAD || used == n);
    bad = part.status == MTX_BAD;
    if (!bad && count + part.count <= whole->count) Same(whole, count, &part);
    count += part.count;
    lines += part.reader.line;
    Release(&part);
    begin = end;
  }
  if (whole->status == MTX_BAD) CHECK(bad || count > (size_t)header.header.entries);
  else CHECK(!bad && count == whole->count && lines == whole->reader.line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  Result whole, cut;

  if (size < 4) return 0;
  memcpy(&state, data, 4);
  data += 4;
  size -= 4;
  memset(&whole, 0, sizeof(whole));
  memset(&cut, 0, sizeof(cut));
  MtxReaderInit(&whole.reader);
  MtxReaderInit(&cut.reader);
  Parse((const char *)data, size, 0, &whole);
  Parse((const char *)data, size, 1, &cut);
  CHECK(whole.status == cut.status && whole.reader.line == cut.reader.line && !strcmp(whole.reader.reason, cut.reader.reason));
  if (whole.status != MTX_BAD) {
    const MtxHeader *h = &whole.reader.header;

    CHECK(!memcmp(h, &cut.reader.header, sizeof(*h)));
    CHECK(whole.count == cut.count && whole.reader.entries == cut.reader.entries && (int64_t)whole.count == whole.reader.entries);
    CHECK((int64_t)whole.count <= h->entries);
    Same(&whole, 0, &cut);
    for (size_t k = 0; k < whole.count; k++) {
      int64_t i = whole.i[k], j = whole.j[k];

      if (h->format == MTX_ARRAY) MtxArrayPosition(h, (int64_t)k, &i, &j);
      CHECK(i >= 0 && i < h->m && j >= 0 && j < h->n);
      CHECK(h->symmetry == MTX_GENERAL || j <= i);
      CHECK(whole.re[k] - whole.re[k] == 0 && whole.im[k] - whole.im[k] == 0);
    }
    if ((int64_t)whole.count == h->entries) CHECK((size_t)MtxFewestBytes(h) <= size);
  } else {
    CHECK(whole.reader.reason[0] && whole.reader.line > 0);
  }
  if (whole.status != MTX_BAD || whole.reader.entries) Shares((const char *)data, size, &whole);
  Release(&whole);
  Release(&cut);
  return 0;
}
