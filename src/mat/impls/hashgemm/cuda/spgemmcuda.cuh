/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Sparse products on the device: what the kernels share

   The columns of B are looked at in words of 32: a row of B is also a list of words and of the bits in them, which is all that the pattern of the
   result needs, and for most matrices from meshes much shorter. A row of the result is a set of words too. The place of a
   column's value is the number of entries before its word and of the bits below its own.

   The pattern of a row of few products is made by a team of 8, 16 or 32 threads. If rows of B have many columns in a word, its words are in a hash table,
   which is sorted once; otherwise the columns of all products are sorted. Any other row is cut into units, windows of columns, to be made by a block
   each, with an array of all words of the window.

   Values are added by a team, where a table of the known columns says; long rows are cut into parts, for a warp each; rows of grids by a lane each, for
   groups of rows that follow each other.

   Determinism: what makes patterns sets bits, in any order. Values are added in the order of A's entries: within a row of B no two threads meet, and
   the team waits for all its threads between two rows of B.
*/
#pragma once

#include <initializer_list>

#include "sys/syscuda.cuh"
#include "mat/impls/hashgemm/cuda/spgemmcuda.h"

#define SPGEMM_STREAMS 4
#define SPGEMM_BINS    64
#define SPGEMM_NOWORD  0xffffffffu

/* Values of a row are a team's only if it has no more entries in A than the first of these, and in the result than the second */
#define SPGEMM_LONG_ROW     256
#define SPGEMM_TEAM_ENTRIES 512

#define SPGEMM_UNIT_WORDS    2048   /* at most */
#define SPGEMM_UNIT_PRODUCTS 131072 /* aimed at */
#define SPGEMM_UNIT_THREADS  128
#define SPGEMM_PART_CLASSES  3     /* by their entries: at most 256, 512, 1024 */
#define SPGEMM_PART_ENTRIES  1024  /* at most */
#define SPGEMM_PART_PRODUCTS 32768 /* aimed at, */
#define SPGEMM_PART_LEAST    256   /* unless entries become fewer */
#define SPGEMM_NARROW        2     /* a part that spans fewer words than a half of its class's entries has an array of them all, */
#define SPGEMM_FEW_WORDS     4     /* another that has at most a quarter a table of words */

/* Shared memory that a block may have on every device. What a kernel needs is known when it is compiled; one that needs more than this has a limit below. */
#define SPGEMM_SHARED      (48 << 10)
#define SPGEMM_FITS(bytes) static_assert((bytes) <= SPGEMM_SHARED, "more shared memory than each device has")

/* What follows from the shared memory that a block may have on the device. Rows beyond a limit go to kernels that need less. */
typedef struct {
  unsigned hash_words;      /* of a row whose pattern is hashed, at most */
  unsigned table_products;  /* of a row that the largest table of columns and sums makes, at most: others have the next smaller one */
  int      team_entries[2]; /* of a row whose values 16 threads make, in the result; [1] if its columns are looked for by words */
  unsigned line_bytes;      /* of a group of lines */
} SpgemmLimits;

/* Bins of rows while entries are counted, by an upper bound of their words: what a table holds up to three quarters */
enum {
  COUNT_EMPTY,
  COUNT_COPY,
  COUNT_HEAP_8, /* by entries in A */
  COUNT_HEAP_16,
  COUNT_MERGE,
  COUNT_SORT_64, /* by products */
  COUNT_SORT_128,
  COUNT_SORT_256,
  COUNT_SORT_512,
  COUNT_128,
  COUNT_256,
  COUNT_512,
  COUNT_1024,
  COUNT_2048,
  COUNT_4096,
  COUNT_WINDOW
};

/* Bins of rows for the pattern, by team and entries */
enum {
  PATTERN_EMPTY,
  PATTERN_COPY,
  PATTERN_8_32,
  PATTERN_8_64,
  PATTERN_16_64,
  PATTERN_16_128,
  PATTERN_32_64,
  PATTERN_32_128,
  PATTERN_32_256,
  PATTERN_32_512,
  PATTERN_32_1024,
  PATTERN_32_MORE, /* of no more than 3072 words */
  PATTERN_WINDOW,
  PATTERN_KEPT_32, /* whose words were kept, by entries */
  PATTERN_KEPT_64,
  PATTERN_KEPT_MORE,
  PATTERN_SORTED_64, /* whose columns were kept */
  PATTERN_SORTED_MORE,
  PATTERN_SORT_64, /* or not: by products again */
  PATTERN_SORT_128,
  PATTERN_SORT_256,
  PATTERN_SORT_512,
  PATTERN_MADE /* made as they were counted */
};

/* Kinds of rows for values, by team and entries; the second time those of B's rows that have many columns in a word. Each is two bins: in the second are
   rows that were made as they were counted. */
enum {
  VALUES_EMPTY,
  VALUES_COPY,
  VALUES_8_32,
  VALUES_8_64,
  VALUES_16_64,
  VALUES_16_128,
  VALUES_16_256,
  VALUES_16_384,
  VALUES_32_64,
  VALUES_32_128,
  VALUES_32_256,
  VALUES_32_512,
  VALUES_WORDS_8_32,
  VALUES_WORDS_8_64,
  VALUES_WORDS_16_64,
  VALUES_WORDS_16_128,
  VALUES_WORDS_16_256,
  VALUES_WORDS_32_64,
  VALUES_WORDS_32_128,
  VALUES_WORDS_32_256,
  VALUES_PARTS
};

/* Of a row: its bin for counting; the team that suits the length of the rows of B it needs, 8, 16 or 32 threads, 3 for
   longer ones, 4 if the row of A is long too; and whether they have many columns in a word */
#define SPGEMM_KIND(bin, team, words) ((unsigned char)((bin) | (team) << 4 | (words) << 7))
#define SPGEMM_KIND_BIN(kind)         ((kind)&15)
#define SPGEMM_KIND_TEAM(kind)        ((kind) >> 4 & 7)
#define SPGEMM_KIND_WORDS(kind)       ((kind) >> 7)

typedef struct {
  unsigned rows[SPGEMM_BINS], place[SPGEMM_BINS];
} SpgemmBins;

typedef struct {
  SpgemmBins         count, pattern, values;
  unsigned           parts[SPGEMM_PART_CLASSES], part_place[SPGEMM_PART_CLASSES], unit_next, long_rows;
  unsigned           line_groups, line_rows, line_bytes;           /* of lines of shifted rows: groups that were found, rows of those that are made so, shared memory */
  unsigned long long products, units, nonzeros, pairs, hash_words; /* pairs of parts and entries of A; words of rows that are counted by hashing, at most */
  unsigned long long window_words, bits_next;                      /* of all units; of the words that units keep, the first that is not taken yet */
  unsigned long long made, made_next, unmade;                      /* products of rows that are made as they are counted, or by auto can be; of these rows' places, the first that is not taken yet; sorted rows that cannot be made so */
  unsigned long long sampled, found;                               /* products of a sample of the sorted rows, and their entries */
  unsigned long long line_products;                                /* of rows in lines */
  long long          shifted;                                      /* of some rows of B, four times the shifted ones less three times all */
  long long          scattered;                                    /* of some rows of B, twice their words less their columns; behind what is counted again if there is no memory */
} SpgemmCounters;

/* A bin for each row, among other bits; the lists of the rows of each bin, one after the other; and how many they are */
typedef struct {
  const unsigned char *bin;
  unsigned char        mask;
  int                 *rows;
  SpgemmBins          *bins;
} SpgemmLists;

/* From here on places are not kept: 32 bits cannot count the pairs, or the products of a row */
#define SPGEMM_MANY_PAIRS (1ull << 32)

/* Are rows of the bin made as they are counted? */
static __host__ __device__ inline bool SpgemmMakes(SpgemmAccumulator accumulator, int bin)
{
  return bin == COUNT_HEAP_8 || bin == COUNT_HEAP_16 || bin == COUNT_MERGE || (accumulator == SPGEMM_ESC && bin >= COUNT_SORT_64 && bin <= COUNT_SORT_512) || (accumulator == SPGEMM_TABLE && bin >= COUNT_128 && bin < COUNT_WINDOW);
}

/* A and B as a kernel sees them */
typedef struct {
  int              m, k, n; /* rows of A, rows of B, columns of B */
  const int       *Ai, *Aj, *Bi, *Bj;
  const SysScalar *Aa, *Ba;
  int4            *rowB;  /* of every row of B: where it begins, its words, first and last column */
  uint2           *wordB; /* word and bits; those of row r from Bi[r] on */
} SpgemmOperands;

typedef struct {
  int      row;
  unsigned begin, end;      /* words */
  int      entries, offset; /* its own, and those of the row before it; before they are counted, offset is -1 for the only unit of a row */
  unsigned kept;            /* the place of its bits, or SPGEMM_NOWORD if they are not kept */
} SpgemmUnit;

typedef struct {
  int row, first, entries; /* first counts in the row */
} SpgemmPart;

/* Words of rows of the result as they are counted, in a table or a single unit, so that the pattern need not find them again: those of row r, if it has no more than
   capacity, from r * capacity on, in any order. Otherwise the bits of a unit: of each 32 of its words, which have bits; then these words. */
#define SPGEMM_MOST_KEPT 64
#define SPGEMM_NOT_KEPT  255
typedef struct {
  int            capacity; /* 0: there is no memory for it */
  uint2         *word;
  unsigned char *words; /* how many of each row, or SPGEMM_NOT_KEPT */

  unsigned            room; /* for bits of units, and what comes next: 0 without memory for it */
  unsigned           *bits;
  unsigned long long *bits_next;
} SpgemmKept;

/* Columns of rows of the result, sorted as they are counted: those of row r from place[r] * SPGEMM_SORTED_UNIT on */
#define SPGEMM_SORTED_UNIT 64
typedef struct {
  int      *column; /* NULL: there is no memory for it */
  unsigned *place;
} SpgemmSorted;

/* From as many products on, rows that are sorted are made in room for as many entries as a sample of rows says, and words of B are not kept for them. That takes up to
   7 % more time, which auto spends if the room for all products would take gigabytes. */
#if !defined(SPGEMM_SAMPLE_PRODUCTS)
  #define SPGEMM_SAMPLE_PRODUCTS (1 << 21)
#endif
#if !defined(SPGEMM_SAMPLE_AUTO)
  #define SPGEMM_SAMPLE_AUTO (1 << 28)
#endif
#if !defined(SPGEMM_SAMPLE_ROWS)
  #define SPGEMM_SAMPLE_ROWS 1024
#endif
#define SPGEMM_SAMPLE_MORE (1 + 1. / 32) /* entries, for each that is expected */

/* Rows of the result that are made as they are counted: those of row r from place[r] on. A row that is sorted and does not find room is only counted. */
#define SPGEMM_MADE_PRODUCTS 512 /* of such a row, at most */
#define SPGEMM_ESC_LEAST     20  /* products of such a row on average, by auto */
#if !defined(SPGEMM_ESC_FEW)
  #define SPGEMM_ESC_FEW (1 << 21) /* products of the matrix, up to which auto makes such rows in any case: the kernels that it spares take the longer */
#endif
#define SPGEMM_MERGE_MOST   (1 << 20) /* products of a row that is merged */
#define SPGEMM_MERGE_CHUNK  512       /* of them at a time */
#define SPGEMM_MERGE_SHARED 512       /* entries of the result in shared memory */
#define SPGEMM_HEAP_ENTRIES 16        /* in A */
#define SPGEMM_HEAP_BITS    4
#define SPGEMM_TABLE_MOST   (1 << 20) /* products of a row that is made by a table */
#if !defined(SPGEMM_TABLE_LARGE)
  #define SPGEMM_TABLE_LARGE 6144 /* by the largest that is in shared memory */
#endif
typedef struct {
  int                *column;
  SysScalar          *value;
  unsigned           *place;
  unsigned long long *next; /* the first place that is not taken yet */
  size_t              room; /* entries */
} SpgemmMade;

/* A table of columns and sums in shared memory is left when it has more columns than this: it is never fuller than to three quarters */
#define SPGEMM_TABLE_HOLDS(LOG) ((3u << (LOG)) / 4 - SYS_WARP)

/* Entries that a row has at most, and slots of a table in global memory for so many */
static __device__ inline unsigned SpgemmRowBound(unsigned products, unsigned span)
{
  return products <= span ? products : span + 1;
}

static __device__ inline unsigned SpgemmTableSlots(unsigned bound)
{
  return bound + bound / 3 + 1;
}

/* Lines of shifted rows, which are looked for from as many products on. A row is made so if it has no more entries than this, and as many products for
   each of them as that. */
#if !defined(SPGEMM_LINE_LEAST)
  #define SPGEMM_LINE_LEAST (1 << 25)
#endif
#define SPGEMM_LINE_ENTRIES  128
#define SPGEMM_LINE_PRODUCTS 4
#define SPGEMM_LINE_SHARED   (96 << 10) /* bytes of a block, at most */
typedef struct {
  unsigned char *shifted; /* rows of B that have the columns of the row before, each shifted by one */
  unsigned char *line;    /* rows of the result in a group */
  int2          *group;   /* its first row, and how many */
} SpgemmLines;

/* Parts, by how they find the sum of a column */
enum {
  SPGEMM_PART_NARROW,
  SPGEMM_PART_WORDS,
  SPGEMM_PART_WIDE,
  SPGEMM_PART_KINDS
};

/* Values the first time; the second time, when the place of the sum of each product is kept, if there is memory; then by these */
enum {
  SPGEMM_FIND,
  SPGEMM_KEEP,
  SPGEMM_KNOWN
};

typedef struct {
  unsigned short     *place;  /* of all products, counted from the first entry of the row or part */
  unsigned long long *offset; /* of row r's places; for rows in parts, of those that are not taken yet */
  uint4              *pair;   /* of parts: entry of B to begin with, entry of A, and place and length; those of part p from list[p].x on, list[p].y of them */
  uint2              *list;
  unsigned           *pair_next; /* the first that is not taken yet */
  const unsigned     *made;      /* not NULL: parts of rows that have a place here have values already; SPGEMM_NOWORD: none */
} SpgemmPlaces;

SpgemmLimits SpgemmDeviceLimits(size_t shared);    /* of a device whose blocks may have so many bytes */
size_t       SpgemmDeviceHashShared(void);         /* bytes, for rows of all words; */
size_t       SpgemmDeviceTableShared(void);        /* for the largest table of columns and sums; */
size_t       SpgemmDeviceValuesShared(bool words); /* for values by 16 threads */

SysStatus SpgemmDeviceWords(const SpgemmOperands *, int *long_rows, SpgemmCounters *, cudaStream_t);
int64_t   SpgemmDeviceLongRows(int64_t nz); /* how many there can be */
SysStatus SpgemmDeviceClassify(const SpgemmOperands *, const SpgemmLimits *, SpgemmAccumulator, int *size, unsigned *work, uint2 *range, unsigned char *kind, SpgemmCounters *, cudaStream_t);
/* Makes one or two lists of each row, and copies the counters to the host */
SysStatus SpgemmDeviceScatter(int m, std::initializer_list<SpgemmLists>, const SpgemmCounters *, SpgemmCounters *host, cudaStream_t);
SysStatus SpgemmDeviceUnits(int n, const int *rows, const int *size, const uint2 *range, SpgemmUnit *, int *first, SpgemmCounters *, cudaStream_t);
SysStatus SpgemmDeviceSumUnits(int n, const int *rows, const int *first, SpgemmUnit *, int *size, cudaStream_t);
/* place is that of SpgemmMade, line that of SpgemmLines, or NULL */
SysStatus SpgemmDeviceReclassify(int m, const SpgemmLimits *, SpgemmAccumulator, const unsigned char *kind, const unsigned char *words, const unsigned *place, bool sorted, const int *size, const unsigned *work, const int *Ai, unsigned char *line, unsigned char *pattern, unsigned char *values, SpgemmCounters *, cudaStream_t);
SysStatus SpgemmDeviceParts(int n, const int *rows, const int *size, const unsigned *work, SpgemmPart *, SpgemmCounters *, cudaStream_t);
SysStatus SpgemmDeviceOrderParts(int part_class, const SpgemmPart *, int n, const int *Ci, const int *Cj, int *order, unsigned count[SPGEMM_PART_KINDS], cudaStream_t);
SysStatus SpgemmDeviceHashCount(const SpgemmOperands *, int bin, const int *rows, int n, int *size, const SpgemmKept *, cudaStream_t);
SysStatus SpgemmDeviceHashPattern(const SpgemmOperands *, const SpgemmKept *, int bin, const int *rows, int n, const int *Ci, int *Cj, cudaStream_t);
int       SpgemmDeviceSortRoom(int bin); /* columns kept for each row of the bin */
SysStatus SpgemmDeviceSortCount(const SpgemmOperands *, int bin, const int *rows, int n, int *size, const SpgemmSorted *, int64_t offset, cudaStream_t);
SysStatus SpgemmDeviceSortPattern(const SpgemmOperands *, int bin, const int *rows, int n, const int *Ci, int *Cj, cudaStream_t);
SysStatus SpgemmDeviceSortedPattern(const SpgemmSorted *, bool few, const int *rows, int n, const int *Ci, int *Cj, cudaStream_t);
SysStatus SpgemmDeviceEscSample(const SpgemmOperands *, const unsigned char *kind, const uint2 *range, SpgemmCounters *, cudaStream_t);
SysStatus SpgemmDeviceEscRows(const SpgemmOperands *, int bin, const int *rows, int n, const uint2 *range, int *size, const SpgemmMade *, cudaStream_t);
SysStatus SpgemmDeviceHeapRows(const SpgemmOperands *, int bin, const int *rows, int n, const uint2 *range, const unsigned *work, int *size, const SpgemmMade *, cudaStream_t);
SysStatus SpgemmDeviceMergeRows(const SpgemmOperands *, const int *rows, int n, const uint2 *range, const unsigned *work, int *size, const SpgemmMade *, cudaStream_t);
SysStatus SpgemmDeviceTableRows(const SpgemmOperands *, int bin, const int *rows, int n, const uint2 *range, const unsigned *work, int *size, const SpgemmMade *, cudaStream_t);
SysStatus SpgemmDeviceMadeRows(const SpgemmMade *, int m, int64_t nz, const int *Ci, int *Cj, SysScalar *Ca, cudaStream_t); /* columns, values, or both: the others are NULL */
SysStatus SpgemmDeviceWindowCount(const SpgemmOperands *, SpgemmUnit *, int n, const SpgemmKept *, cudaStream_t);
SysStatus SpgemmDeviceWindowPattern(const SpgemmOperands *, const SpgemmUnit *, int n, const SpgemmKept *, const int *Ci, int *Cj, cudaStream_t);
SysStatus SpgemmDeviceValues(const SpgemmOperands *, int bin, const int *rows, int n, int mode, const SpgemmPlaces *, const int *Ci, const int *Cj, SysScalar *Ca, cudaStream_t);
/* order and count are those of SpgemmDeviceOrderParts(), behind count as many zeros; each kind has a stream of its own */
SysStatus SpgemmDevicePartValues(const SpgemmOperands *, int part_class, const SpgemmPart *, const int *order, unsigned count[2 * SPGEMM_PART_KINDS], int n, int mode, const SpgemmPlaces *, const int *Ci, const int *Cj, SysScalar *Ca, const cudaStream_t[SPGEMM_PART_KINDS]);

/* Lines of shifted rows, if most rows of B are; then values of their groups */
int64_t   SpgemmDeviceMostGroups(int64_t m); /* how many there can be */
SysStatus SpgemmDeviceFindLines(const SpgemmOperands *, const SpgemmLimits *, const SpgemmLines *, SpgemmCounters *, cudaStream_t);
SysStatus SpgemmDeviceLineValues(const SpgemmOperands *, const SpgemmLines *, int groups, unsigned bytes, const int *Ci, const int *Cj, SysScalar *Ca, cudaStream_t);

/* Where the places of every row begin; rows in lines have none */
SysStatus SpgemmDevicePlacesSize(int m, size_t *bytes);
SysStatus SpgemmDevicePlaces(const SpgemmOperands *, const unsigned char *line, unsigned long long *offset, void *work, size_t bytes, cudaStream_t);

SysStatus SpgemmDeviceGather(int64_t nz, const int *from, const SysScalar *a, SysScalar *to, cudaStream_t);
SysStatus SpgemmDeviceProducts(const SysCSR *A, const SysCSR *B, unsigned long long *products, cudaStream_t);
SysStatus SpgemmDeviceScanSize(int m, size_t *bytes);
SysStatus SpgemmDeviceScan(int m, const int *size, int *i, void *work, size_t bytes, cudaStream_t);
