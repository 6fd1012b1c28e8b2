/* SPDX-License-Identifier: BSD-2-Clause */
/*
   SpGEMM on the host: shared declarations of driver and kernels; spgemmhost.h has the idea
*/
#pragma once

#include <string.h>

#include "sys/sysisa.h"
#include "sys/systhreads.h"
#include "mat/impls/hashgemm/host/spgemmhost.h"
#include "mat/impls/hashgemm/host/spgemmpolicy.h"

#define SPGEMM_PAD   64  /* entries that kernels may write past a row's end */
#define SPGEMM_LANES 8   /* rows of a run computed side by side */
#define SPGEMM_LINE  512 /* vectors of a line of transposed rows of B */
#define SPGEMM_LINES 128 /* lines */
#define SPGEMM_BLOCK 512 /* columns of the dense accumulator with one flag: a cache line of the bit mask */

/* arrays of a hash table besides the keys */
#define SPGEMM_VALUES 1
#define SPGEMM_PLACES 2

/* A matrix's columns in words of 64, for clustered columns */
typedef struct {
  int64_t   m, n; /* rows and words */
  int64_t  *i;    /* m + 1 */
  SysInt   *word; /* column / 64 */
  uint64_t *bits;
} SpgemmWords;

typedef struct {
  SysInt  first;     /* the first entry of B */
  int64_t rows, run; /* the last run that used it */
} SpgemmLine;

/* A thread's tables; empty between rows */
typedef struct {
  /* dense: a cyclic window of the columns, so its size follows from the rows' reach and not from the number of columns */
  int64_t    window; /* a power of two */
  uint64_t  *mask;   /* one bit a column */
  uint8_t   *flag;   /* one byte for each nonempty block of the mask */
  uint8_t   *byte;   /* replaces the mask: one byte a column */
  uint64_t  *bits;   /* the nonzero words of a row */
  SysInt    *cols;   /* and each one's first column */
  int        lanes;  /* sums a column, for rows computed together: a power of two */
  SysScalar *sum;
  /* hash */
  uint64_t   size, capacity; /* slots in use and allocated: powers of two */
  SysInt    *key;            /* -1: free */
  SysScalar *val;
  int64_t   *position;
  int64_t    nslot; /* length of the next two */
  uint64_t  *slot, *sorted;
  /* stamps */
  int64_t             nstamp;
  struct SpgemmStamp *stamp; /* for each column of B */
  uint64_t            now;   /* the current row */
  /* heap */
  int64_t            nheap;
  struct SpgemmHeap *heap;
  /* runs of rows */
  uint16_t *rank; /* the position of a window's column in the row */
  int64_t   nrank;
  uint16_t *list; /* the position of each product */
  int64_t   nlist;
  SysScalar (*run)[SPGEMM_LANES];
  int64_t nrun;
  SysScalar (*factor)[SPGEMM_LANES], (*turned)[SPGEMM_LANES]; /* entries of A, followed by lines of B */
  SpgemmLine line[SPGEMM_LINES];
  int        nline;
  int64_t    nruns;
  /* a row that must not be written past its end */
  int64_t    nrow;
  SysInt    *rowj;
  SysScalar *rowa;
  /* a partition of the rows */
  int64_t    npart;
  SysInt    *partj;
  SysScalar *parta;
  double     bytes;
  double     rows[SPGEMM_HOST_ROWS], products, bysort; /* bysort: counted products of rows that would be sorted */
} SpgemmWork;

/* A sum and its row: sums of other rows count as zero, so nothing is cleared */
struct SpgemmStamp {
  uint64_t  row;
  SysScalar sum;
};

struct SpgemmHeap {
  SysInt    col;
  SysInt    k, end; /* remaining entries of the row of B */
  SysScalar a;
};

typedef struct {
  SysCSR            A, B;
  SysInt            last;              /* the entry of A */
  double            lengthB, longestB; /* entries of a row of B, mean and maximum */
  SpgemmWords       words;             /* of B; i is NULL if there are none */
  const uint8_t    *same;              /* same[r]: row r of B has row r - 1's columns; NULL if hardly any does */
  const uint8_t    *shift;             /* shift[r]: number of rows of B after r that are each the previous one shifted by one column; NULL if hardly any */
  SpgemmAccumulator accumulator;
  int64_t           window;    /* most columns of a window, for SPGEMM_AUTO */
  int64_t           batch;     /* rows of a thread's batch; rows of two batches are never computed together */
  int               far;       /* B exceeds the caches */
  int               stamps;    /* many products an entry, and few columns in B */
  int               stream;    /* large results bypass the caches */
  int               unsorted;  /* the result's columns may have any order, except that the first is the least and the last the greatest */
  int               unsortedB; /* the same for B */
  SysInt           *i;         /* counting: i[r + 1] becomes the length of row r */
  SysInt           *j;
  SysScalar        *a;
  int64_t          *placed;    /* new values: counts the products of rows with positions unless NULL */
  uint16_t         *positions; /* the position of each of these products in its row, or NULL */
  int               known;     /* positions are known; 0: look them up and store them */
} SpgemmProduct;

/* The kernels of one instruction set, instances of spgemmkernels.h, for rows first <= r < last */
typedef struct {
  const char *name;
  int (*supported)(void);
  double looks; /* fraction of B's entries to read at which counting costs as much as computing */
  SysStatus (*count)(const SpgemmProduct *, int64_t first, int64_t last, SpgemmWork *);
  SysStatus (*fill)(const SpgemmProduct *, int64_t first, int64_t last, SpgemmWork *);
  SysStatus (*make)(const SpgemmProduct *, int64_t first, int64_t last, SpgemmWork *); /* computes without a count */
  SysStatus (*revalue)(const SpgemmProduct *, int64_t first, int64_t last, SpgemmWork *);
} SpgemmKernels;

extern const SpgemmKernels SpgemmKernelsPlain, SpgemmKernelsAVX2, SpgemmKernelsAVX512;

/* Returns zeroed memory aligned to cache lines; large memory on huge pages */
void *SpgemmAllocate(size_t size);
void  SpgemmRelease(void *, size_t size);

/* Frees the memory after the first bytes; returns the size to release the rest with */
size_t SpgemmShrink(void *, size_t size, size_t first);

/* Releases n bytes' pages, which begin a page, of memory of SpgemmAllocate(size); they then read as zero. No-op for malloc()'s memory. */
void SpgemmForget(void *, size_t size, size_t n);

/* Ensure capacity for columns, slots or entries; tables only grow */
SysStatus SpgemmWorkWindow(SpgemmWork *, int64_t columns, int rows);
SysStatus SpgemmWorkHash(SpgemmWork *, int64_t slots, int64_t n, int values);
SysStatus SpgemmWorkHeap(SpgemmWork *, int64_t n);
SysStatus SpgemmWorkStamps(SpgemmWork *, int64_t columns);
SysStatus SpgemmWorkRun(SpgemmWork *, int64_t products, int64_t n);
SysStatus SpgemmWorkRow(SpgemmWork *, int64_t n);
SysStatus SpgemmWorkPart(SpgemmWork *, int64_t n);
void      SpgemmWorkDestroy(SpgemmWork *);

/* Sorts by the given bits of each entry, from bit `low` on */
uint64_t *SpgemmSort(uint64_t *x, uint64_t *work, int64_t n, int low, int bits);

typedef struct {
  SysCSR  T;
  SysInt *from; /* each entry's entry in the original matrix */
} SpgemmTranspose;

/* Sets cuts[t], the first row of thread t's part: parts of equal length by the prefix sums i */
void SpgemmCut(int64_t m, const SysInt *i, int nthread, int64_t *cuts);
/* values: 0: the transpose gets no values. SpgemmTransposeValues() sets the values of the entries first <= q < last. */
SysStatus SpgemmTransposeCreate(const SysCSR *, int nthread, int values, SpgemmTranspose *);
void      SpgemmTransposeValues(const SysScalar *, int nthread, int64_t first, int64_t last, SpgemmTranspose *);
double    SpgemmTransposeBytes(const SpgemmTranspose *);
void      SpgemmTransposeDestroy(SpgemmTranspose *);

/* Leaves words->i NULL if the columns are not clustered */
SysStatus SpgemmWordsCreate(const SysCSR *, int nthread, SpgemmWords *);
double    SpgemmWordsBytes(const SpgemmWords *);
void      SpgemmWordsDestroy(SpgemmWords *);

/* Returns whether row r, of at least two entries, has the previous row's columns; in the same order, if they do not ascend */
static inline int SpgemmRepeatsRow(const SysCSR *A, int64_t r)
{
  const SysInt n = A->i[r + 1] - A->i[r], *j = A->j + A->i[r];

  return n >= 2 && A->i[r] - A->i[r - 1] == n && j[0] == j[-(int64_t)n] && !memcmp(j, j - n, sizeof(*j) * (size_t)n);
}

/* Returns whether many rows repeat their predecessor's columns, by a sample: a pass over the columns is then shorter if it skips these rows */
int SpgemmRepeats(const SysCSR *);

/* Returns the number of rows from r on, before last, that have row r's columns */
static inline int64_t SpgemmRepeatedRows(const SysCSR *A, int64_t r, int64_t last)
{
  int64_t g = 1;

  while (r + g < last && SpgemmRepeatsRow(A, r + g)) g++;
  return g;
}

/* Returns which rows have the previous row's columns; NULL if too few, or if memory is short */
uint8_t *SpgemmSameRows(const SysCSR *, int nthread);

/* Returns the number of rows after each, at most 255, that are the previous one shifted by one column; NULL if too few */
uint8_t *SpgemmShiftedRows(const SysCSR *, int nthread);

/* Returns whether the next n columns are these n shifted by one */
static inline int SpgemmShifted(const SysInt *j, SysInt n)
{
  SysInt differ = 0;

  if (j[n] != j[0] + 1) return 0;
  for (SysInt k = 0; k < n; k++) differ |= j[n + k] ^ (j[k] + 1);
  return !differ;
}

/* SpgemmCreate() with the kernels of a given instruction set */
SysStatus SpgemmCreateWith(const SpgemmKernels *, SpgemmType, const SysCSR *A, const SysCSR *B, const SysCSR *C, const SpgemmOptions *, Spgemm **, SpgemmInfo *);
