/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Matrix Market text to entries: see mtxparse.h

   All loops over the bytes of a line stop at its line feed, because no token contains one; so only complete lines are parsed in place, and
   a last line without line feed from a copy that has one.
*/
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "mat/io/mtxparse.h"

enum {
  BANNER,
  SIZES,
  ENTRIES
};

/* Sets the reason of a fault; the functions that parse return NULL after a fault, and else the end of the text that they parsed */
static const char *MtxParseFail(MtxReader *r, const char *format, ...)
{
  va_list args;

  va_start(args, format);
  vsnprintf(r->reason, sizeof(r->reason), format, args);
  va_end(args);
  return NULL;
}

static inline const char *MtxParseSkipBlanks(const char *p)
{
  while (*p == ' ' || *p == '\t' || *p == '\r') p++;
  return p;
}

/* Copies a token for messages; bytes that are not printable become '?' */
static const char *MtxParseToken(const char *p, char token[32])
{
  int n = 0;

  while (n < 28 && p[n] != ' ' && p[n] != '\t' && p[n] != '\r' && p[n] != '\n') {
    token[n] = p[n] >= 32 && p[n] < 127 ? p[n] : '?';
    n++;
  }
  token[n] = 0;
  if (n == 28) memcpy(token + 25, "...", 4);
  return token;
}

void MtxReaderInit(MtxReader *r)
{
  memset(r, 0, sizeof(*r));
  r->limit = INT64_MAX;
  r->stage = BANNER;
  MtxPrepareDecimal();
}

void MtxReaderInitEntries(MtxReader *r, const MtxHeader *header)
{
  MtxReaderInit(r);
  r->header = *header;
  r->limit  = header->entries;
  r->stage  = ENTRIES;
}

int64_t MtxFewestBytes(const MtxHeader *h)
{
  int64_t numbers = (h->format == MTX_COORDINATE ? 2 : 0) + (h->field == MTX_PATTERN ? 0 : h->field == MTX_COMPLEX ? 2 : 1);

  if (!h->entries) return 0;
  return h->entries > INT64_MAX / (2 * numbers) ? INT64_MAX : 2 * numbers * h->entries - 1;
}

void MtxArrayPosition(const MtxHeader *h, int64_t k, int64_t *i, int64_t *j)
{
  int64_t first = h->symmetry == MTX_SKEW ? 1 : 0; /* row of the first entry of column 0 */
  int64_t low = 0, high = h->n;

  if (h->symmetry == MTX_GENERAL) {
    *j = k / h->m;
    *i = k % h->m;
    return;
  }
  /* column c begins at entry c (m - first) - c (c - 1) / 2; find the last one that begins at or before k and is not empty */
  while (high - low > 1) {
    int64_t c = low + (high - low) / 2;

    if ((__int128)c * (h->m - first) - (__int128)c * (c - 1) / 2 <= k) low = c;
    else high = c;
  }
  *j = low;
  *i = (int64_t)(low + first + (k - ((__int128)low * (h->m - first) - (__int128)low * (low - 1) / 2)));
}

/* The number of entries of the triangle or square that the file stores */
static unsigned __int128 MtxParseRoom(const MtxHeader *h)
{
  unsigned __int128 m = (unsigned __int128)h->m, n = (unsigned __int128)h->n;

  if (h->symmetry == MTX_GENERAL) return m * n;
  if (h->symmetry == MTX_SKEW && h->format == MTX_ARRAY) return m ? m * (m - 1) / 2 : 0;
  return m * (m + 1) / 2;
}

static const char *MtxParseReadBanner(MtxReader *r, const char *p)
{
  static const struct {
    const char *what, *choices, *words[7];
  } parts[] = {
    {"banner",   "%%MatrixMarket",                                  {"%%MatrixMarket"}                                                     },
    {"object",   "matrix",                                          {"matrix"}                                                             },
    {"format",   "coordinate or array",                             {"coordinate", "array"}                                                },
    {"field",    "real, integer, pattern or complex",               {"real", "integer", "pattern", "complex", "unsigned-integer", "double"}},
    {"symmetry", "general, symmetric, skew-symmetric or hermitian", {"general", "symmetric", "skew-symmetric", "hermitian"}                }
  };
  static const MtxField fields[] = {MTX_REAL, MTX_INTEGER, MTX_PATTERN, MTX_COMPLEX, MTX_INTEGER, MTX_REAL}; /* of the words */
  int                   found[5];
  char                  token[32];

  p = MtxParseSkipBlanks(p + (strncmp(p, MTX_BYTE_ORDER_MARK, 3) ? 0 : 3));
  for (int part = 0; part < 5; part++) {
    size_t length = strcspn(p, " \t\r\n");
    int    w      = 0;

    while (parts[part].words[w] && (strlen(parts[part].words[w]) != length || strncasecmp(parts[part].words[w], p, length))) w++;
    if (!parts[part].words[w]) {
      MtxParseToken(p, token);
      if (!part) return MtxParseFail(r, "this is no Matrix Market file: it begins with '%s' in place of '%%%%MatrixMarket'", token);
      return MtxParseFail(r, "the header's %s is '%s', it must be %s", parts[part].what, token, parts[part].choices);
    }
    found[part] = w;
    p           = MtxParseSkipBlanks(p + length);
  }
  if (*p != '\n') return MtxParseFail(r, "unexpected text '%s' at the end of the header", MtxParseToken(p, token));
  r->header.format   = (MtxFormat)found[2];
  r->header.field    = fields[found[3]];
  r->header.symmetry = (MtxSymmetry)found[4];
  if (r->header.format == MTX_ARRAY && r->header.field == MTX_PATTERN) return MtxParseFail(r, "an array cannot be of field pattern");
  if (r->header.symmetry == MTX_HERMITIAN && r->header.field != MTX_COMPLEX) return MtxParseFail(r, "only complex matrices can be hermitian");
  if (r->header.symmetry == MTX_SKEW && r->header.field == MTX_PATTERN) return MtxParseFail(r, "a pattern cannot be skew-symmetric");
  r->stage = SIZES;
  return p;
}

static const char *MtxParseReadSizes(MtxReader *r, const char *p)
{
  static const char *const names[] = {"rows", "columns", "entries"};
  MtxHeader               *h       = &r->header;
  int                      count   = h->format == MTX_COORDINATE ? 3 : 2;
  int64_t                  sizes[3];
  char                     token[32];

  for (int k = 0; k < count; k++) {
    uint64_t value = 0;

    p = MtxParseSkipBlanks(p);
    MtxParseToken(p, token);
    if (*p == '\n') return MtxParseFail(r, "the line of sizes lacks the number of %s", names[k]);
    if (*p == '-') return MtxParseFail(r, "the number of %s is negative: %s", names[k], token);
    if (*p == '+') p++;
    if (!MtxIsDigit(*p)) return MtxParseFail(r, "the number of %s is no integer: '%s'", names[k], token);
    for (; MtxIsDigit(*p); p++) {
      if (value > (INT64_MAX - 9) / 10) return MtxParseFail(r, "the number of %s overflows 64 bits: %s", names[k], token);
      value = 10 * value + (uint64_t)(*p - '0');
    }
    if (*p != ' ' && *p != '\t' && *p != '\r' && *p != '\n') return MtxParseFail(r, "the number of %s is no integer: '%s'", names[k], token);
    sizes[k] = (int64_t)value;
  }
  p = MtxParseSkipBlanks(p);
  if (*p != '\n') return MtxParseFail(r, "unexpected text '%s' at the end of the line of sizes", MtxParseToken(p, token));
  h->m = sizes[0];
  h->n = sizes[1];
  if (h->symmetry != MTX_GENERAL && h->m != h->n) return MtxParseFail(r, "a symmetric matrix must be square, this one has %" PRId64 " rows and %" PRId64 " columns", h->m, h->n);
  if (h->format == MTX_ARRAY) {
    if (MtxParseRoom(h) > INT64_MAX) return MtxParseFail(r, "an array of %" PRId64 " times %" PRId64 " overflows 64 bits", h->m, h->n);
    h->entries = (int64_t)MtxParseRoom(h);
  } else {
    h->entries = sizes[2];
    if ((unsigned __int128)h->entries > MtxParseRoom(h)) return MtxParseFail(r, "%" PRId64 " entries are more than a matrix of %" PRId64 " times %" PRId64 " has room for", h->entries, h->m, h->n);
  }
  r->limit = h->entries;
  r->stage = ENTRIES;
  return p;
}

/* Reads an index from 1 to size; on error returns NULL */
static inline const char *MtxParseReadIndex(const char *p, int64_t size, int64_t *index)
{
  const char *first;
  uint64_t    value = 0;

  if (*p == '+') p++;
  first = p;
  while (MtxIsDigit(*p)) value = 10 * value + (uint64_t)(*p++ - '0');
  if (p - first > 18 || value - 1 >= (uint64_t)size || (*p != ' ' && *p != '\t' && *p != '\r' && *p != '\n')) return NULL;
  *index = (int64_t)(value - 1);
  return p;
}

/* Sets the reason why MtxParseReadIndex() rejected the index at p */
static const char *MtxParseFailIndex(MtxReader *r, const char *p, const char *what, int64_t size)
{
  char        token[32];
  const char *q = p;

  MtxParseToken(p, token);
  if (*p == '\n') return MtxParseFail(r, "the %s index is missing", what);
  if (*q == '-' || *q == '+') q++;
  if (!MtxIsDigit(*q)) return MtxParseFail(r, "the %s index is no integer: '%s'", what, token);
  while (MtxIsDigit(*q)) q++;
  if (*q != ' ' && *q != '\t' && *q != '\r' && *q != '\n') return MtxParseFail(r, "the %s index is no integer: '%s'", what, token);
  return MtxParseFail(r, "the %s index %s is not within 1 to %" PRId64, what, token, size);
}

/* Reads one value; on error returns NULL with the reason set */
static inline const char *MtxParseReadValue(MtxReader *r, const char *p, double *value)
{
  int         overflow;
  char        token[32];
  const char *end = MtxReadDecimal(p, value, &overflow);

  if (end && (*end == ' ' || *end == '\t' || *end == '\r' || *end == '\n')) {
    if (r->header.field != MTX_INTEGER) return end;
    for (const char *q = p; q < end; q++) {
      if (!MtxIsDigit(*q) && *q != '-' && *q != '+') return MtxParseFail(r, "the value '%s' is no integer, as the header promises", MtxParseToken(p, token));
    }
    return end;
  }
  if (*p == '-' || *p == '+') end = p + 1;
  else end = p;
  MtxParseToken(p, token);
  if (*p == '\n') return MtxParseFail(r, r->header.field == MTX_COMPLEX ? "a complex entry needs two values" : "the value is missing");
  if (overflow) return MtxParseFail(r, "the value %s overflows double precision", token);
  if (!strncasecmp(end, "nan", 3) || !strncasecmp(end, "inf", 3)) return MtxParseFail(r, "the value '%s' is no finite number; such values are refused", token);
  return MtxParseFail(r, "the value '%s' is no number", token);
}

/* Parses one entry that begins at p, which is no blank */
static inline const char *MtxParseReadEntry(MtxReader *r, const char *p, MtxBatch *b)
{
  const MtxHeader *h = &r->header;
  const size_t     k = b->count;
  char             token[32];
  int64_t          i = 0, j = 0;

  if (r->entries == r->limit) return MtxParseFail(r, "there are more entries than the %" PRId64 " that the header promises", h->entries);
  if (h->format == MTX_COORDINATE) {
    const char *q = MtxParseReadIndex(p, h->m, &i);

    if (!q) return MtxParseFailIndex(r, p, "row", h->m);
    p = MtxParseSkipBlanks(q);
    q = MtxParseReadIndex(p, h->n, &j);
    if (!q) return MtxParseFailIndex(r, p, "column", h->n);
    p = MtxParseSkipBlanks(q);
    if (h->symmetry != MTX_GENERAL && j > i) return MtxParseFail(r, "entry (%" PRId64 ", %" PRId64 ") is above the diagonal; a symmetric file stores only the lower triangle", i + 1, j + 1);
    b->i[k] = i;
    b->j[k] = j;
  }
  if (h->field == MTX_PATTERN) {
    b->re[k] = 1;
    if (b->im) b->im[k] = 0;
  } else {
    if (!(p = MtxParseReadValue(r, p, &b->re[k]))) return NULL;
    if (h->field == MTX_COMPLEX) {
      if (!(p = MtxParseReadValue(r, MtxParseSkipBlanks(p), &b->im[k]))) return NULL;
    } else if (b->im) b->im[k] = 0;
    p = MtxParseSkipBlanks(p);
  }
  if (*p != '\n' && h->field == MTX_PATTERN) return MtxParseFail(r, "the entry has the value '%s', and the header promises a pattern without values; write real in place of pattern", MtxParseToken(p, token));
  if (*p != '\n') return MtxParseFail(r, "unexpected text '%s' after the entry", MtxParseToken(p, token));
  if (h->format == MTX_COORDINATE && i == j && h->symmetry > MTX_SYMMETRIC) {
    if (h->symmetry == MTX_SKEW && (b->re[k] != 0 || (b->im && b->im[k] != 0))) return MtxParseFail(r, "the diagonal entry (%" PRId64 ", %" PRId64 ") of a skew-symmetric matrix is not zero", i + 1, j + 1);
    if (h->symmetry == MTX_HERMITIAN && b->im[k] != 0) return MtxParseFail(r, "the diagonal entry (%" PRId64 ", %" PRId64 ") of a hermitian matrix is not real", i + 1, j + 1);
  }
  b->count++;
  r->entries++;
  return p;
}

/*
   One complete line, ended by a line feed before end. Returns the line feed, or NULL if something is wrong. A line that is too long is
   reported as such whatever else is wrong with it, so that the answer does not depend on how the text was cut.
*/
static inline const char *MtxParseReadLine(MtxReader *r, const char *line, const char *end, MtxBatch *b)
{
  const char *p = MtxParseSkipBlanks(line), *feed;

  if (*p == '%' && r->stage != BANNER) {
    if (p - line < MTX_LINE_MAX) return memchr(p, '\n', (size_t)(end - p));
  } else {
    if (*p != '\n') p = r->stage == ENTRIES ? MtxParseReadEntry(r, p, b) : r->stage == BANNER ? MtxParseReadBanner(r, p) : MtxParseReadSizes(r, p);
    if (p && p - line <= MTX_LINE_MAX) return p;
  }
  feed = memchr(line, '\n', (size_t)(end - line));
  return feed - line > MTX_LINE_MAX ? MtxParseFail(r, "the line is longer than %d bytes; is this a text file?", MTX_LINE_MAX) : NULL;
}

/* Handles the end of the text: a line without a line feed, which may come with more text, or never */
static MtxStatus MtxParseReadRest(MtxReader *r, const char *text, size_t length, int last, MtxBatch *b, size_t *used)
{
  char   line[MTX_LINE_MAX + 2];
  size_t kept = length <= MTX_LINE_MAX ? length : MTX_LINE_MAX + 1, blanks = 0;

  *used = 0;
  if (!length || (!last && length <= MTX_LINE_MAX)) return MTX_OK;
  while (blanks < kept && (text[blanks] == ' ' || text[blanks] == '\t' || text[blanks] == '\r')) blanks++;
  r->line++;
  if (r->stage != BANNER && blanks < kept && blanks < MTX_LINE_MAX && text[blanks] == '%') {
    r->comment = 1;
  } else {
    memcpy(line, text, kept);
    line[kept] = '\n';
    if (!MtxParseReadLine(r, line, line + kept + 1, b)) return MTX_BAD;
  }
  *used = length;
  return MTX_OK;
}

/* Returns whether MtxReadEntries() must stop: at the end of the header if it began there, otherwise when the batch is full */
static inline int MtxParseStop(const MtxReader *r, int header, const MtxBatch *b)
{
  return header ? r->stage == ENTRIES : b->count == b->capacity;
}

/* Reads lines of the header too, for MtxReadHeader() */
MtxStatus MtxReadEntries(MtxReader *r, const char *text, size_t length, int last, MtxBatch *b, size_t *used)
{
  const char *p = text, *end = text + length, *feed;
  const int   header = r->stage != ENTRIES;
  size_t      rest;
  MtxStatus   status;

  *used = 0;
  if (r->reason[0]) return MTX_BAD;
  if (r->comment) {
    feed       = length ? memchr(p, '\n', length) : NULL;
    p          = feed ? feed + 1 : end;
    r->comment = !feed;
  }
  /* the last line feed, before which all lines are complete */
  for (feed = end; feed > p && feed[-1] != '\n'; feed--) { }
  while (p < feed && !MtxParseStop(r, header, b)) {
    const char *next;

    r->line++;
    if (!(next = MtxParseReadLine(r, p, feed, b))) return MTX_BAD;
    p = next + 1;
  }
  *used = (size_t)(p - text);
  if (p < end && MtxParseStop(r, header, b)) return header ? MTX_OK : MTX_FULL;
  status = MtxParseReadRest(r, p, (size_t)(end - p), last, b, &rest);
  *used += rest;
  return status;
}

MtxStatus MtxReadHeader(MtxReader *r, const char *text, size_t length, int last, size_t *used)
{
  MtxStatus status = r->stage == ENTRIES ? MTX_OK : MtxReadEntries(r, text, length, last, NULL, used);

  if (status != MTX_OK || r->stage == ENTRIES) return status;
  if (!last) return MTX_MORE;
  r->line++;
  (void)MtxParseFail(r, r->stage == BANNER ? "the file is empty" : "the file ends before the line of sizes");
  return MTX_BAD;
}
