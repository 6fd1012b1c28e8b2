/* SPDX-License-Identifier: BSD-2-Clause */
/*
   A parser of Matrix Market text, without PETSc: it turns bytes in memory into entries, and reports the first fault of the text with its line.

   The text may come in pieces of any length: each call consumes the complete lines of a piece and returns the number of bytes consumed; the
   caller passes the rest again, followed by more text. Independent readers can parse different parts of the entries of one file, if each part
   begins at the beginning of a line.

   The format: R. F. Boisvert, R. Pozo, K. A. Remington, The Matrix Market Exchange Formats: Initial Design, NISTIR 5935, 1996.
*/
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The longest line that is accepted, without its line feed; comments may be longer */
#if !defined(MTX_LINE_MAX)
  #define MTX_LINE_MAX 4096
#endif

typedef enum {
  MTX_COORDINATE,
  MTX_ARRAY
} MtxFormat;

typedef enum {
  MTX_REAL,
  MTX_INTEGER,
  MTX_PATTERN,
  MTX_COMPLEX
} MtxField;

typedef enum {
  MTX_GENERAL,
  MTX_SYMMETRIC,
  MTX_SKEW,
  MTX_HERMITIAN
} MtxSymmetry;

typedef struct {
  MtxFormat   format;
  MtxField    field;
  MtxSymmetry symmetry;
  int64_t     m, n;
  int64_t     entries; /* number of entries that the file stores */
} MtxHeader;

typedef enum {
  MTX_OK,   /* the text is used up, or, for the header, the header is complete */
  MTX_MORE, /* only for the header: pass more text */
  MTX_FULL, /* only for entries: the batch is full, call again */
  MTX_BAD   /* the text has a fault: see reason and line of the reader */
} MtxStatus;

typedef struct {
  MtxHeader header;
  int64_t   line;    /* number of lines consumed by this reader; after an error the line in which it is */
  int64_t   entries; /* entries consumed by this reader */
  int64_t   limit;   /* more entries than this are an error */
  int       stage;   /* private */
  int       comment; /* private: the beginning of a comment was consumed, its end was not */
  char      reason[160];
} MtxReader;

/* Memory for entries, provided by the caller. Indices count from 0. Array files set only values. im is needed for complex numbers only. */
typedef struct {
  int64_t *i, *j;
  double  *re, *im;
  size_t   capacity, count;
} MtxBatch;

/* Starts at the beginning of a file */
void MtxReaderInit(MtxReader *);

/* Starts at the beginning of a line among the entries of a file whose header is known */
void MtxReaderInitEntries(MtxReader *, const MtxHeader *);

/* Consumes the header: the banner, comments and the line of sizes. last: no text follows. */
MtxStatus MtxReadHeader(MtxReader *, const char *text, size_t length, int last, size_t *used);

/* Consumes entries, and appends them to the batch. last: no text follows. */
MtxStatus MtxReadEntries(MtxReader *, const char *text, size_t length, int last, MtxBatch *, size_t *used);

/* The fewest bytes that the entries of a file with this header take, without the last line feed */
int64_t MtxFewestBytes(const MtxHeader *);

/* The position of the k-th entry of an array */
void MtxArrayPosition(const MtxHeader *, int64_t k, int64_t *i, int64_t *j);

/* A text in UTF-8 may begin with it */
#define MTX_BYTE_ORDER_MARK "\xef\xbb\xbf"

static inline int MtxIsDigit(char c)
{
  return (unsigned char)(c - '0') < 10;
}

/* Must be called before MtxReadDecimal(); the init functions of the reader call it */
void MtxPrepareDecimal(void);

/*
   Reads a decimal number, correctly rounded as by strtod() in the C locale. A byte that cannot be part of a number must end the text.
   Returns the end of the number, or NULL if the text is no number or the number overflows; *overflow distinguishes the two.
*/
const char *MtxReadDecimal(const char *text, double *value, int *overflow);
