/* SPDX-License-Identifier: BSD-2-Clause */
/*
   SpGEMM on the device: shared declarations of the kernels.

   Idea. The pattern of C needs only which columns occur, and neighbouring columns often occur together. So the columns of B are read in words of 32:
   a row of B is also a list of words and their bits, for most meshes much shorter. A row of C is a set of words, and the place of a column's value is
   the number of entries before its word and of the bits below its own.

         row of B, columns 3 4 7 | 40 41      words: (0: bits 3 4 7) (1: bits 8 9)
         row of C = union of words            place of column 41 = entries before word 1 + bits below 9

   Rows are sorted into bins by an upper bound of their work; each bin has a kernel:

         pattern   few products       a team of 8, 16 or 32 threads: a hash table of words, sorted once;
                                      or, if words have few columns, a sort of all columns
                   other rows         units: windows of columns, a block and a bit mask each
         values    few entries        a team, with a table from columns to places
                   long rows          parts, a warp each
                   grids              lines of shifted rows, a lane a row
         at once   esc                all products expanded, sorted in registers, compressed (SPGEMM_AUTO: hardly compressing rows)
                   heap merge hash    for comparison

   Work space. Words of B, 16 bytes a row and 8 a word; bins, sizes and places, O(m); kept words and columns of C if memory suffices; rows computed at
   once need an entry a product, or a sampled estimate. New values may keep 2 bytes a product.

   Complexity. O(products) time; each product is read twice (pattern, values), once at once.

   Determinism. Kernels for patterns set bits, in any order. Values are added in the order of A's entries: within a row of B no two threads meet, and
   the team synchronizes between two rows of B.
*/
#pragma once

#include <initializer_list>

#include "sys/syscuda.cuh"
#include "mat/impls/hashgemm/cuda/spgemmcuda.h"
#include "mat/impls/hashgemm/host/spgemmpolicy.h"

#define SPGEMM_STREAMS 4
#define SPGEMM_BINS    64
#define SPGEMM_NOWORD  0xffffffffu

#define SPGEMM_UNIT_THREADS 128
#define SPGEMM_PART_CLASSES 3 /* classes of parts, by entries: at most 256, 512, 1024 */

/* Bytes of shared memory a block on every device. A kernel's need is known at compile time; one that needs more has a limit below. */
#define SPGEMM_SHARED      (48 << 10)
#define SPGEMM_FITS(bytes) static_assert((bytes) <= SPGEMM_SHARED, "more shared memory than each device has")

/* Limits from the device's shared memory a block. Rows beyond a limit use kernels that need less. */
typedef struct {
  unsigned hash_words;      /* most words of a row with a hashed pattern */
  unsigned table_products;  /* most products of a row in the largest table of columns and sums; others use the next smaller one */
  int      team_entries[2]; /* most entries of a row with values by 16 threads; [1]: columns found by words */
  unsigned line_bytes;      /* of a group of lines */
} SpgemmLimits;

/* Bins of rows while entries are counted, by an upper bound of their words: three quarters of a table's slots */
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
  PATTERN_32_MORE, /* at most 3072 words */
  PATTERN_WINDOW,
  PATTERN_KEPT_32, /* with stored words, by entries */
  PATTERN_KEPT_64,
  PATTERN_KEPT_MORE,
  PATTERN_SORTED_64, /* with stored columns */
  PATTERN_SORTED_MORE,
  PATTERN_SORT_64, /* whose columns were not kept: by products again */
  PATTERN_SORT_128,
  PATTERN_SORT_256,
  PATTERN_SORT_512,
  PATTERN_MADE /* computed while counting */
};

/* Kinds of rows for values, by team and entries; second, rows whose rows of B have many columns a word. Each kind is two bins: the second holds rows
   computed while counting. */
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

/* For each row: its bin for counting; the team for its rows of B: 8, 16 or 32 threads, 3 for longer ones, 4 if the row of A is long too; and whether
   they have many columns a word */
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
  unsigned           line_groups, line_rows, line_bytes;           /* lines of shifted rows: groups found, their rows, shared memory */
  unsigned long long products, units, nonzeros, pairs, hash_words; /* pairs: of parts and entries of A; hash_words: most words of rows counted by hashing */
  unsigned long long window_words, bits_next;                      /* of all units; index of the first free place for units' words */
  unsigned long long made, made_next, unmade;                      /* products of rows computed while counting, or that SPGEMM_AUTO could compute so; index of the first free place for these rows; sorted rows that cannot be computed so */
  unsigned long long sampled, found;                               /* products of sampled sorted rows, and their entries */
  unsigned long long line_products;                                /* of rows in lines */
  long long          shifted;                                      /* over sampled rows of B: 4 * shifted - 3 * all */
  long long          scattered;                                    /* over sampled rows of B: 2 * words - columns; members after this are counted again if memory is short */
} SpgemmCounters;

/* Each row's bin, among other bits; the rows of each bin in sequence; their numbers */
typedef struct {
  const unsigned char *bin;
  unsigned char        mask;
  int                 *rows;
  SpgemmBins          *bins;
} SpgemmLists;

/* Returns whether the bin's rows are computed while counting */
static __host__ __device__ inline bool SpgemmMakes(SpgemmAccumulator accumulator, int bin)
{
  return bin == COUNT_HEAP_8 || bin == COUNT_HEAP_16 || bin == COUNT_MERGE || (accumulator == SPGEMM_ESC && bin >= COUNT_SORT_64 && bin <= COUNT_SORT_512) || (accumulator == SPGEMM_HASH && bin >= COUNT_128 && bin < COUNT_WINDOW);
}

/* A and B for a kernel */
typedef struct {
  int              m, k, n; /* rows of A, rows of B, columns of B */
  const int       *Ai, *Aj, *Bi, *Bj;
  const SysScalar *Aa, *Ba;
  int4            *rowB;  /* each row of B: begin, words, first and last column */
  uint2           *wordB; /* words and bits, row r's from Bi[r] on */
} SpgemmOperands;

typedef struct {
  int      row;
  unsigned begin, end;      /* in words */
  int      entries, offset; /* entries of the unit, and of the row before it; before counting, offset is -1 for a row's only unit */
  unsigned kept;            /* place of its bits; SPGEMM_NOWORD: not kept */
} SpgemmUnit;

typedef struct {
  int row, first, entries; /* first: relative to the row */
} SpgemmPart;

/* Words of the result's rows, kept from the count so that the pattern need not find them again: row r's, up to capacity, from r * capacity on, in any
   order. Larger rows keep the bits of a unit: for each 32 words, a mask of nonempty ones, then these words. */
#define SPGEMM_NOT_KEPT 255
typedef struct {
  int            capacity; /* 0: memory was short */
  uint2         *word;
  unsigned char *words; /* number for each row, or SPGEMM_NOT_KEPT */

  unsigned            room; /* for units' bits and the following; 0: memory was short */
  unsigned           *bits;
  unsigned long long *bits_next;
} SpgemmKept;

/* Sorted columns of the result's rows, kept from the count: row r's from place[r] * SPGEMM_SORTED_UNIT on */
#define SPGEMM_SORTED_UNIT 64
typedef struct {
  int      *column; /* NULL: memory was short */
  unsigned *place;
} SpgemmSorted;

#define SPGEMM_HEAP_BITS 4 /* log2 of SPGEMM_HEAP_ENTRIES */

/* Rows of the result computed while counting: row r's from place[r] on. A sorted row without a place is only counted. */
typedef struct {
  int                *column;
  SysScalar          *value;
  unsigned           *place;
  unsigned long long *next; /* index of the first free place */
  size_t              room; /* in entries */
} SpgemmMade;

/* Most columns of a table in shared memory, which is then at most three quarters full; with more the row moves to another table */
#define SPGEMM_TABLE_HOLDS(LOG) ((3u << (LOG)) / 4 - SYS_WARP)

/* Returns the most entries of a row, and the slots of a table in global memory for them */
static __device__ inline unsigned SpgemmRowBound(unsigned products, unsigned span)
{
  return products <= span ? products : span + 1;
}

static __device__ inline unsigned SpgemmTableSlots(unsigned bound)
{
  return bound + bound / 3 + 1;
}

/* Lines of shifted rows */
typedef struct {
  unsigned char *shifted; /* rows of B with the previous row's columns shifted by one */
  unsigned char *line;    /* rows of the result in a group */
  int2          *group;   /* its first row, and their number */
} SpgemmLines;

/* Kinds of parts, by how they find a column's sum */
enum {
  SPGEMM_PART_NARROW,
  SPGEMM_PART_WORDS,
  SPGEMM_PART_WIDE,
  SPGEMM_PART_KINDS
};

/* Modes: values the first time; the second time, storing each product's place if memory suffices; then by these places */
enum {
  SPGEMM_FIND,
  SPGEMM_KEEP,
  SPGEMM_KNOWN
};

typedef struct {
  unsigned short     *place;  /* of all products, relative to the row's or part's first entry */
  unsigned long long *offset; /* row r's first place; for rows in parts, the first free one */
  uint4              *pair;   /* of parts: first entry of B, entry of A, place and length; part p's from list[p].x on, list[p].y of them */
  uint2              *list;
  unsigned           *pair_next; /* index of the first free pair */
  const unsigned     *made;      /* not NULL: rows with a place here already have values in their parts; SPGEMM_NOWORD: no place */
} SpgemmPlaces;

SpgemmLimits SpgemmDeviceLimits(size_t shared);    /* for a device with this many bytes a block */
size_t       SpgemmDeviceHashShared(void);         /* bytes for rows of all words */
size_t       SpgemmDeviceTableShared(void);        /* bytes of the largest table of columns and sums */
size_t       SpgemmDeviceValuesShared(bool words); /* bytes for values by 16 threads */

SysStatus SpgemmDeviceWords(const SpgemmOperands *, int *long_rows, SpgemmCounters *, cudaStream_t);
int64_t   SpgemmDeviceLongRows(int64_t nz); /* returns the most long rows */
SysStatus SpgemmDeviceClassify(const SpgemmOperands *, const SpgemmLimits *, SpgemmAccumulator, int *size, unsigned *work, uint2 *range, unsigned char *kind, SpgemmCounters *, cudaStream_t);
/* Lists each row in one or two lists, and copies the counters to the host */
SysStatus SpgemmDeviceScatter(int m, std::initializer_list<SpgemmLists>, const SpgemmCounters *, SpgemmCounters *host, cudaStream_t);
SysStatus SpgemmDeviceUnits(int n, const int *rows, const int *size, const uint2 *range, SpgemmUnit *, int *first, SpgemmCounters *, cudaStream_t);
SysStatus SpgemmDeviceSumUnits(int n, const int *rows, const int *first, SpgemmUnit *, int *size, cudaStream_t);
/* place: of SpgemmMade, line: of SpgemmLines; or NULL */
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
SysStatus SpgemmDeviceMadeRows(const SpgemmMade *, int m, int64_t nz, const int *Ci, int *Cj, SysScalar *Ca, cudaStream_t); /* columns, values, or both; NULL: not requested */
SysStatus SpgemmDeviceWindowCount(const SpgemmOperands *, SpgemmUnit *, int n, const SpgemmKept *, cudaStream_t);
SysStatus SpgemmDeviceWindowPattern(const SpgemmOperands *, const SpgemmUnit *, int n, const SpgemmKept *, const int *Ci, int *Cj, cudaStream_t);
SysStatus SpgemmDeviceValues(const SpgemmOperands *, int bin, const int *rows, int n, int mode, const SpgemmPlaces *, const int *Ci, const int *Cj, SysScalar *Ca, cudaStream_t);
/* order and count from SpgemmDeviceOrderParts(), followed by as many zeros; each kind runs on its own stream */
SysStatus SpgemmDevicePartValues(const SpgemmOperands *, int part_class, const SpgemmPart *, const int *order, unsigned count[2 * SPGEMM_PART_KINDS], int n, int mode, const SpgemmPlaces *, const int *Ci, const int *Cj, SysScalar *Ca, const cudaStream_t[SPGEMM_PART_KINDS]);

/* Lines of shifted rows, if most rows of B are shifted; then values of their groups */
int64_t   SpgemmDeviceMostGroups(int64_t m); /* returns the most groups */
SysStatus SpgemmDeviceFindLines(const SpgemmOperands *, const SpgemmLimits *, const SpgemmLines *, SpgemmCounters *, cudaStream_t);
SysStatus SpgemmDeviceLineValues(const SpgemmOperands *, const SpgemmLines *, int groups, unsigned bytes, const int *Ci, const int *Cj, SysScalar *Ca, cudaStream_t);

/* Sets each row's first place; rows in lines have none */
SysStatus SpgemmDevicePlacesSize(int m, size_t *bytes);
SysStatus SpgemmDevicePlaces(const SpgemmOperands *, const unsigned char *line, unsigned long long *offset, void *work, size_t bytes, cudaStream_t);

SysStatus SpgemmDeviceGather(int64_t nz, const int *from, const SysScalar *a, SysScalar *to, cudaStream_t);
SysStatus SpgemmDeviceProducts(const SysCSR *A, const SysCSR *B, unsigned long long *products, cudaStream_t);
SysStatus SpgemmDeviceScanSize(int m, size_t *bytes);
SysStatus SpgemmDeviceScan(int m, const int *size, int *i, void *work, size_t bytes, cudaStream_t);
