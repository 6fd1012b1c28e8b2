/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Tests of the Matrix Market parser without PETSc: numbers against strtod(), every cut of a text, every complaint
*/
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "mat/io/mtxparse.h"

static int failures;

static void Report(const char *name, int good)
{
  printf("%s %s\n", good ? "ok" : "not ok", name);
  failures += !good;
}

static uint64_t state = 88172645463325252ull;

static uint64_t Random(void)
{
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

/* Whether a number is read as strtod() reads it, bit by bit, and up to its end */
static int Same(const char *text)
{
  char        line[MTX_LINE_MAX + 2];
  char       *stop;
  double      expected, got = 0;
  int         overflow;
  const char *end;

  snprintf(line, sizeof(line), "%s\n", text);
  expected = strtod(text, &stop);
  end      = MtxReadDecimal(line, &got, &overflow);
  if (isinf(expected)) {
    if (!end && overflow) return 1;
  } else if (end == line + (stop - text) && !memcmp(&expected, &got, sizeof(got))) return 1;
  printf("# %s: strtod %a, here %a\n", text, expected, got);
  return 0;
}

static double AnyDouble(void)
{
  double   d;
  uint64_t bits;

  do {
    bits = Random();
    memcpy(&d, &bits, sizeof(d));
  } while (!isfinite(d));
  return d;
}

static int RandomDecimals(int style)
{
  char text[2000];

  for (int k = 0; k < 300000; k++) {
    const double d = AnyDouble();

    if (style == 0) snprintf(text, sizeof(text), "%.17g", d);
    else if (style == 1) snprintf(text, sizeof(text), "%.*e", (int)(Random() % 30), d);
    else if (style == 2) snprintf(text, sizeof(text), "%.*f", (int)(Random() % 20), ldexp(d, -ilogb(d) + (int)(Random() % 100) - 40));
    else if (style == 3) {
      /* digits of any number, with a point anywhere and any exponent */
      int n = 1 + (int)(Random() % 40), point = (int)(Random() % (uint64_t)(n + 1)), at = 0;

      if (Random() % 2) text[at++] = Random() % 2 ? '-' : '+';
      for (int q = 0; q < n; q++) {
        if (q == point) text[at++] = '.';
        text[at++] = (char)('0' + Random() % 10);
      }
      text[at] = 0;
      if (Random() % 4) snprintf(text + at, sizeof(text) - (size_t)at, "%c%s%d", Random() % 2 ? 'e' : 'E', Random() % 2 ? "-" : Random() % 2 ? "+" : "", (int)(Random() % 360));
    } else {
      /* the middle between two neighbours, exactly, and just beside it */
      const double next   = nextafter(d, INFINITY);
      char        *digits = text;
      long double  middle;

      if (!isfinite(next)) continue;
      middle = ((long double)d + next) / 2;
      snprintf(text, sizeof(text), "%.*Le", 60 + (int)(Random() % 740), middle);
      if (Random() % 2) {
        digits  = strchr(text, 'e') - 1;
        *digits = (char)(*digits == '0' ? '1' : '0' + Random() % 10);
      }
    }
    if (!Same(text)) return 0;
  }
  return 1;
}

static int HardDecimals(void)
{
  static const char *const hard[] = {"0", "-0", "+0", "0.0", "00000", "-0e999999999999", "0.000e-5", "1", "01", "1.", ".5", "-.5e1", "9007199254740993", "9007199254740992.999999999999999", "9007199254740993.00000000000000000000000000000000001", "18446744073709551615", "18446744073709551616", "9999999999999999999", "10000000000000000000", "99999999999999999999", "1e22", "1e23", "8.5e22", "123456789012345678e-30", "1e308", "1.7976931348623157e308", "1.7976931348623158e308", "1.7976931348623159e308", "1e309", "1e400", "1e99999999999999999999", "17976931348623157e292", "2.2250738585072014e-308", "2.2250738585072011e-308", "2.2250738585072012e-308", "4.9e-324", "2.4703282292062327e-324", "2.4703282292062328e-324", "1e-330", "1e-400", "1e-99999999999999999999", "5e-324", "0.1", "0.2", "0.3", "3.14159265358979323846264338327950288419716939937510582", "6.02214076e23", "1.00000000000000011102230246251565404236316680908203125", "1.00000000000000011102230246251565404236316680908203124", "1.00000000000000011102230246251565404236316680908203126", "7.2057594037927933e16", "104308485241983990666713401708072175773165034278685682046111762292412", "0.000000000000000000000000000000000000000000000000000000000000000000000000000000000001234567890123456789012"};
  char                     text[MTX_LINE_MAX];
  int                      good = 1;

  for (size_t k = 0; k < sizeof(hard) / sizeof(hard[0]); k++) good &= Same(hard[k]);
  /* thousands of digits */
  memset(text, '0', sizeof(text));
  text[0] = '0';
  text[1] = '.';
  strcpy(text + 3000, "123e3000");
  good &= Same(text);
  memset(text, '7', 4000);
  strcpy(text + 4000, "e-3900");
  good &= Same(text);
  memset(text, '0', 4000);
  text[0] = '1';
  strcpy(text + 4000, "e-4000");
  good &= Same(text);
  return good;
}

static int FortranExponents(void)
{
  double value;
  int    overflow;

  return MtxReadDecimal("1.5D2\n", &value, &overflow) && value == 150 && MtxReadDecimal("-2d-1 ", &value, &overflow) && value == -0.2 && MtxReadDecimal("1.23456789012345678901234D2\n", &value, &overflow) && value == 1.23456789012345678901234e2;
}

static int NoDecimals(void)
{
  static const char *const none[] = {"", "-", "+", ".", "-.", "e5", ".e5", "1e", "1e+", "--1", "+-1", "nan", "inf", "x"};
  char                     line[16];
  double                   value;
  int                      overflow;

  for (size_t k = 0; k < sizeof(none) / sizeof(none[0]); k++) {
    snprintf(line, sizeof(line), "%s\n", none[k]);
    if (MtxReadDecimal(line, &value, &overflow) || overflow) return 0;
  }
  /* a hexadecimal number is a 0 with text behind it */
  return *MtxReadDecimal("0x10\n", &value, &overflow) == 'x';
}

/* Under a locale whose decimal point is a comma, if the machine has one */
static void Locales(void)
{
  static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8", "fr_FR.utf8", "fr_FR"};
  double                   value;
  int                      overflow;

  for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
    if (setlocale(LC_ALL, names[k])) break;
  }
  printf("# decimal point of the locale: %s\n", localeconv()->decimal_point);
  Report("locale", MtxReadDecimal("1.5\n", &value, &overflow) && value == 1.5 && MtxReadDecimal("1.50000000000000000000000001\n", &value, &overflow) && value == 1.5);
  setlocale(LC_ALL, "C");
}

typedef struct {
  MtxReader reader;
  MtxStatus status;
  int64_t   i[64], j[64];
  double    re[64], im[64];
  size_t    count;
} Result;

/* Parses a text given in two pieces, cut anywhere, with a batch of some size */
static void Parse(const char *text, size_t length, size_t cut, size_t batch, Result *r)
{
  size_t begin = 0, end = cut, used;

  memset(r, 0, sizeof(*r));
  MtxReaderInit(&r->reader);
  r->status = MTX_MORE;
  while (1) {
    if (r->status == MTX_MORE) {
      r->status = MtxReadHeader(&r->reader, text + begin, end - begin, end == length, &used);
    } else {
      MtxBatch b = {r->i + r->count, r->j + r->count, r->re + r->count, r->im + r->count, batch, 0};

      r->status = MtxReadEntries(&r->reader, text + begin, end - begin, end == length, &b, &used);
      r->count += b.count;
    }
    if (r->status == MTX_BAD) return;
    begin += used;
    if (begin == length && r->status == MTX_OK) return;
    if (r->status != MTX_FULL) end = length;
  }
}

static int Equal(const Result *a, const Result *b)
{
  const size_t n = a->count;

  if (a->status != b->status || a->reader.line != b->reader.line || strcmp(a->reader.reason, b->reader.reason)) return 0;
  if (a->status == MTX_BAD) return 1;
  return n == b->count && !memcmp(a->i, b->i, n * sizeof(*a->i)) && !memcmp(a->j, b->j, n * sizeof(*a->j)) && !memcmp(a->re, b->re, n * sizeof(*a->re)) && !memcmp(a->im, b->im, n * sizeof(*a->im));
}

/* Whether the answer is the same wherever the text is cut */
static int AnyCut(const char *text, size_t length, Result *whole)
{
  Result part;

  Parse(text, length, length, 64, whole);
  for (size_t cut = 0; cut <= length; cut++) {
    Parse(text, length, cut, 1 + cut % 3, &part);
    if (!Equal(whole, &part)) {
      printf("# cut at %zu: line %lld '%s' in place of line %lld '%s'\n", cut, (long long)part.reader.line, part.reader.reason, (long long)whole->reader.line, whole->reader.reason);
      return 0;
    }
  }
  return 1;
}

static int Good(const char *text, MtxFormat format, MtxField field, MtxSymmetry symmetry, int64_t m, int64_t n, size_t count, const double *numbers)
{
  Result           r;
  const MtxHeader *h = &r.reader.header;

  if (!AnyCut(text, strlen(text), &r)) return 0;
  if (r.status != MTX_OK) {
    printf("# line %lld: %s\n", (long long)r.reader.line, r.reader.reason);
    return 0;
  }
  if (h->format != format || h->field != field || h->symmetry != symmetry || h->m != m || h->n != n || r.count != count || h->entries != (int64_t)count) return 0;
  for (size_t k = 0; k < count; k++) {
    if (format == MTX_COORDINATE && ((double)r.i[k] + 1 != *numbers++ || (double)r.j[k] + 1 != *numbers++)) return 0;
    if (field != MTX_PATTERN && r.re[k] != *numbers++) return 0;
    if (field == MTX_COMPLEX && r.im[k] != *numbers++) return 0;
  }
  return 1;
}

static void GoodFiles(void)
{
  const double coordinate[] = {1, 1, 1.5, 3, 4, -2e-3, 2, 1, 7};
  const double complexes[]  = {1, 1, 2, 0, 2, 1, 1, -1};
  const double pattern[]    = {1, 1, 3, 2};
  const double array[]      = {1, 2, 3, 4, 5, 6};

  Report("coordinate", Good("%%MatrixMarket matrix coordinate real general\n3 4 3\n1 1 1.5\n3 4 -2e-3\n2 1 7\n", MTX_COORDINATE, MTX_REAL, MTX_GENERAL, 3, 4, 3, coordinate));
  Report("crlf", Good("%%MatrixMarket matrix coordinate real general\r\n3 4 3\r\n1 1 1.5\r\n3 4 -2e-3\r\n2 1 7\r\n", MTX_COORDINATE, MTX_REAL, MTX_GENERAL, 3, 4, 3, coordinate));
  Report("blanks-and-comments", Good("%%matrixmarket  MATRIX\tCoordinate REAL General \n%\n% text\n\n  %x\n 3\t4 3 \n\n1 1 1.5\n%more\n   3   4   -2e-3  \n \t \n\t2 1 +7\n\n\n", MTX_COORDINATE, MTX_REAL, MTX_GENERAL, 3, 4, 3, coordinate));
  Report("no-last-line-feed", Good("%%MatrixMarket matrix coordinate real general\n3 4 3\n1 1 1.5\n3 4 -2e-3\n2 1 7", MTX_COORDINATE, MTX_REAL, MTX_GENERAL, 3, 4, 3, coordinate));
  Report("last-line-comment", Good("%%MatrixMarket matrix coordinate real general\n3 4 3\n1 1 1.5\n3 4 -2e-3\n2 1 7\n%end", MTX_COORDINATE, MTX_REAL, MTX_GENERAL, 3, 4, 3, coordinate));
  Report("byte-order-mark", Good("\xef\xbb\xbf%%MatrixMarket matrix coordinate double general\n3 4 3\n1 1 1.5\n3 4 -2e-3\n2 1 7\n", MTX_COORDINATE, MTX_REAL, MTX_GENERAL, 3, 4, 3, coordinate));
  Report("unsigned-integer", Good("%%MatrixMarket matrix array Unsigned-Integer general\n2 3\n1\n2\n3\n4\n5\n6\n", MTX_ARRAY, MTX_INTEGER, MTX_GENERAL, 2, 3, 6, array));
  Report("complex", Good("%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 2 0\n2 1 1 -1\n", MTX_COORDINATE, MTX_COMPLEX, MTX_HERMITIAN, 2, 2, 2, complexes));
  Report("pattern", Good("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n1 1\n3 2\n", MTX_COORDINATE, MTX_PATTERN, MTX_SYMMETRIC, 3, 3, 2, pattern));
  Report("array", Good("%%MatrixMarket matrix array integer general\n% c\n2 3\n1\n2\n3\n4\n 5\n6\n", MTX_ARRAY, MTX_INTEGER, MTX_GENERAL, 2, 3, 6, array));
  Report("array-symmetric", Good("%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n", MTX_ARRAY, MTX_REAL, MTX_SYMMETRIC, 3, 3, 6, array));
  Report("array-skew", Good("%%MatrixMarket matrix array real skew-symmetric\n4 4\n1\n2\n3\n4\n5\n6\n", MTX_ARRAY, MTX_REAL, MTX_SKEW, 4, 4, 6, array));
  Report("nothing", Good("%%MatrixMarket matrix coordinate real general\n0 0 0\n", MTX_COORDINATE, MTX_REAL, MTX_GENERAL, 0, 0, 0, NULL));
  Report("large-sizes", Good("%%MatrixMarket matrix coordinate pattern general\n999999999999 999999999999 1\n999999999999 999999999998\n", MTX_COORDINATE, MTX_PATTERN, MTX_GENERAL, 999999999999, 999999999999, 1, (const double[]){999999999999., 999999999998.}));
}

#define COMPLEX_GENERAL   "%%MatrixMarket matrix coordinate complex general\n"
#define COMPLEX_HERMITIAN "%%MatrixMarket matrix coordinate complex hermitian\n"
#define INTEGER_GENERAL   "%%MatrixMarket matrix coordinate integer general\n"
#define PATTERN_GENERAL   "%%MatrixMarket matrix coordinate pattern general\n"
#define PATTERN_SKEW      "%%MatrixMarket matrix coordinate pattern skew-symmetric\n"
#define REAL_GENERAL      "%%MatrixMarket matrix coordinate real general\n"
#define REAL_HERMITIAN    "%%MatrixMarket matrix coordinate real hermitian\n"
#define REAL_SKEW         "%%MatrixMarket matrix coordinate real skew-symmetric\n"
#define REAL_SYMMETRIC    "%%MatrixMarket matrix coordinate real symmetric\n"

static void BadFiles(void)
{
  static const struct {
    const char *name, *text;
    int64_t     line;
    const char *reason;
  } bad[] = {
    {"empty",                 "",                                                                  1, "the file is empty"                                             },
    {"no-banner",             "3 3 1\n1 1 1\n",                                                    1, "no Matrix Market file"                                         },
    {"banner-case-only",      "%MatrixMarket matrix coordinate real general\n",                    1, "no Matrix Market file"                                         },
    {"object",                "%%MatrixMarket vector coordinate real general\n3 1\n",              1, "object is 'vector'"                                            },
    {"format",                "%%MatrixMarket matrix dense real general\n3 3\n",                   1, "format is 'dense'"                                             },
    {"field",                 "%%MatrixMarket matrix coordinate float general\n",                  1, "field is 'float'"                                              },
    {"symmetry",              "%%MatrixMarket matrix coordinate real upper\n",                     1, "symmetry is 'upper'"                                           },
    {"banner-cut",            "%%MatrixMarket matrix coordinate real\n3 3 1\n",                    1, "symmetry is ''"                                                },
    {"banner-tail",           "%%MatrixMarket matrix coordinate real general 3\n",                 1, "unexpected text '3'"                                           },
    {"array-pattern",         "%%MatrixMarket matrix array pattern general\n",                     1, "array cannot be of field pattern"                              },
    {"real-hermitian",        REAL_HERMITIAN,                                                      1, "only complex matrices"                                         },
    {"pattern-skew",          PATTERN_SKEW,                                                        1, "pattern cannot be skew"                                        },
    {"no-sizes",              REAL_GENERAL "% c\n",                                                3, "ends before the line of sizes"                                 },
    {"sizes-short",           REAL_GENERAL "3 3\n",                                                2, "lacks the number of entries"                                   },
    {"sizes-long",            REAL_GENERAL "3 3 1 1\n",                                            2, "unexpected text '1'"                                           },
    {"sizes-negative",        REAL_GENERAL "3 -3 1\n",                                             2, "the number of columns is negative: -3"                         },
    {"sizes-real",            REAL_GENERAL "3.0 3 1\n",                                            2, "the number of rows is no integer"                              },
    {"sizes-overflow",        REAL_GENERAL "3 99999999999999999999 1\n",                           2, "overflows 64 bits"                                             },
    {"array-overflow",        "%%MatrixMarket matrix array real general\n4294967296 4294967296\n", 2, "overflows 64 bits"                                             },
    {"not-square",            REAL_SYMMETRIC "3 4 1\n",                                            2, "must be square"                                                },
    {"too-many-promised",     REAL_GENERAL "3 4 13\n",                                             2, "more than a matrix of 3 times 4"                               },
    {"too-many-promised-sym", REAL_SYMMETRIC "3 3 7\n",                                            2, "more than a matrix of 3 times 3"                               },
    {"row-zero",              REAL_GENERAL "3 4 2\n1 1 1\n0 1 1\n",                                4, "the row index 0 is not within 1 to 3"                          },
    {"row-large",             REAL_GENERAL "3 4 2\n1 1 1\n4 1 1\n",                                4, "the row index 4 is not within 1 to 3"                          },
    {"column-zero",           REAL_GENERAL "3 4 2\n1 1 1\n1 0 1\n",                                4, "the column index 0 is not within 1"                            },
    {"column-large",          REAL_GENERAL "3 4 2\n1 1 1\n1 5 1\n",                                4, "the column index 5 is not within 1"                            },
    {"index-negative",        REAL_GENERAL "3 4 2\n1 1 1\n-1 1 1\n",                               4, "the row index -1 is not within 1 to 3"                         },
    {"index-overflow",        REAL_GENERAL "3 4 1\n18446744073709551617 1 1\n",                    3, "the row index 18446744073709551617"                            },
    {"index-real",            REAL_GENERAL "3 4 1\n1.0 1 1\n",                                     3, "the row index is no integer: '1.0'"                            },
    {"index-word",            REAL_GENERAL "3 4 1\n1 x 1\n",                                       3, "the column index is no integer: 'x'"                           },
    {"column-missing",        REAL_GENERAL "3 4 1\n1\n",                                           3, "the column index is missing"                                   },
    {"value-missing",         REAL_GENERAL "3 4 1\n1 1\n",                                         3, "the value is missing"                                          },
    {"value-missing-at-end",  REAL_GENERAL "3 4 2\n1 1 1\n1 2",                                    4, "the value is missing"                                          },
    {"complex-half",          COMPLEX_GENERAL "3 4 1\n1 1 1\n",                                    3, "needs two values"                                              },
    {"nan",                   REAL_GENERAL "3 4 1\n1 1 NaN\n",                                     3, "'NaN' is no finite number"                                     },
    {"minus-inf",             REAL_GENERAL "3 4 1\n1 1 -Inf\n",                                    3, "'-Inf' is no finite number"                                    },
    {"value-overflow",        REAL_GENERAL "3 4 1\n1 1 1e999\n",                                   3, "1e999 overflows double precision"                              },
    {"value-word",            REAL_GENERAL "3 4 1\n1 1 one\n",                                     3, "'one' is no number"                                            },
    {"value-comma",           REAL_GENERAL "3 4 1\n1 1 1,5\n",                                     3, "'1,5' is no number"                                            },
    {"value-hexadecimal",     REAL_GENERAL "3 4 1\n1 1 0x1p3\n",                                   3, "'0x1p3' is no number"                                          },
    {"integer-fraction",      INTEGER_GENERAL "3 4 1\n1 1 1.5\n",                                  3, "'1.5' is no integer"                                           },
    {"pattern-value",         PATTERN_GENERAL "3 4 1\n1 1 1\n",                                    3, "the entry has the value '1', and the header promises a pattern"},
    {"text-behind",           REAL_GENERAL "3 4 1\n1 1 1 %\n",                                     3, "unexpected text '%' after the entry"                           },
    {"above-diagonal",        REAL_SYMMETRIC "3 3 2\n1 1 1\n2 3 1\n",                              4, "entry (2, 3) is above the diagonal"                            },
    {"skew-diagonal",         REAL_SKEW "3 3 1\n2 2 1\n",                                          3, "skew-symmetric matrix is not zero"                             },
    {"hermitian-diagonal",    COMPLEX_HERMITIAN "3 3 1\n2 2 1 1\n",                                3, "hermitian matrix is not real"                                  },
    {"too-many",              REAL_GENERAL "3 4 1\n1 1 1\n\n1 2 1\n",                              5, "more entries than the 1"                                       },
    {"binary",                REAL_GENERAL "3 4 1\n\x01\xff\x80 1 1\n",                            3, "the row index is no integer: '?"                               }
  };
  const char *head = REAL_GENERAL;
  char        text[8 * MTX_LINE_MAX];
  Result      r;
  size_t      n;

  for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
    char      name[64];
    const int same = AnyCut(bad[k].text, strlen(bad[k].text), &r);

    snprintf(name, sizeof(name), "bad-%s", bad[k].name);
    if (same && (r.reader.line != bad[k].line || !strstr(r.reader.reason, bad[k].reason))) printf("# line %lld: %s\n", (long long)r.reader.line, r.reader.reason);
    Report(name, same && r.status == MTX_BAD && r.reader.line == bad[k].line && strstr(r.reader.reason, bad[k].reason));
  }

  n = (size_t)snprintf(text, sizeof(text), "%s3 4 2\n1 1 1\n1 2 3", head);
  n += 1; /* the terminating zero becomes part of the file */
  Report("bad-zero-byte", AnyCut(text, n, &r) && r.status == MTX_BAD && r.reader.line == 4 && strstr(r.reader.reason, "is no number"));

  n = (size_t)snprintf(text, sizeof(text), "%s3 4 1\n1 1 %*d\n", head, MTX_LINE_MAX - 4, 1);
  Report("longest-line", AnyCut(text, n, &r) && r.status == MTX_OK && r.count == 1);
  n = (size_t)snprintf(text, sizeof(text), "%s3 4 1\n1 1 %*d\n", head, MTX_LINE_MAX - 3, 1);
  Report("bad-longer-line", AnyCut(text, n, &r) && r.status == MTX_BAD && r.reader.line == 3 && strstr(r.reader.reason, "longer than"));
  n = (size_t)snprintf(text, sizeof(text), "%s3 4 1\n%%%*d\n1 1 1\n%%%*d", head, MTX_LINE_MAX + 1000, 1, MTX_LINE_MAX + 1000, 1);
  Report("long-comments", AnyCut(text, n, &r) && r.status == MTX_OK && r.count == 1);
}

static int ArrayPositions(void)
{
  for (int symmetry = MTX_GENERAL; symmetry <= MTX_HERMITIAN; symmetry++) {
    for (int64_t m = 1; m < 12; m++) {
      MtxHeader h = {MTX_ARRAY, MTX_REAL, (MtxSymmetry)symmetry, m, symmetry == MTX_GENERAL ? 7 : m, 0};
      int64_t   k = 0, i, j;

      for (int64_t c = 0; c < h.n; c++) {
        for (int64_t r = symmetry == MTX_GENERAL ? 0 : symmetry == MTX_SKEW ? c + 1 : c; r < m; r++, k++) {
          MtxArrayPosition(&h, k, &i, &j);
          if (i != r || j != c) return 0;
        }
      }
    }
  }
  return 1;
}

int main(void)
{
  MtxPrepareDecimal();
  Report("decimals-17-digits", RandomDecimals(0));
  Report("decimals-exponents", RandomDecimals(1));
  Report("decimals-fixed", RandomDecimals(2));
  Report("decimals-digits", RandomDecimals(3));
  Report("decimals-middles", RandomDecimals(4));
  Report("decimals-hard", HardDecimals());
  Report("decimals-fortran", FortranExponents());
  Report("decimals-none", NoDecimals());
  Locales();
  GoodFiles();
  BadFiles();
  Report("array-places", ArrayPositions());
  return failures ? 1 : 0;
}
