/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Sparse products on the host: what the driver and the kernels share

   A product is made in two passes over the rows, each by its accumulator: the first counts, the second writes columns and values where they
   belong. Nothing is held in between, so that no memory is touched but that of the result: fresh pages cost more than the second pass does.
   Where a sample of the rows shows many multiplications for each entry it is the other way round: the rows are made at once and copied.
*/
#pragma once

#include "sys/sysisa.h"
#include "sys/systhreads.h"
#include "mat/impls/hashgemm/host/spgemmhost.h"

#define SPGEMM_PAD   64        /* entries that kernels may write behind a row */
#define SPGEMM_LANES 8         /* rows of a run that are made side by side */
#define SPGEMM_LINE  512       /* vectors of a line of rows of B, turned, */
#define SPGEMM_LINES 128       /* and lines */
#define SPGEMM_BLOCK 512       /* columns of the dense accumulator that share a flag: a cache line of the bit mask */
#if !defined(SPGEMM_DENSE_MAX) /* tests make do with less */
  #define SPGEMM_DENSE_MAX (1 << 22)
#endif
#if !defined(SPGEMM_WINDOWS)         /* and here too */
  #define SPGEMM_WINDOWS (256 << 20) /* bytes of the windows of all threads: with many threads they are smaller */
#endif
#if !defined(SPGEMM_STREAM)        /* and here too */
  #define SPGEMM_STREAM (32 << 20) /* bytes of values, from which on a result is not expected to stay in a cache */
#endif

/* arrays that a hash table has besides its keys */
#define SPGEMM_VALUES 1
#define SPGEMM_PLACES 2

/* The columns of a matrix, gathered into words of 64: worth while where they come in clusters */
typedef struct {
  int64_t   m, n; /* rows and words */
  int64_t  *i;    /* m + 1 */
  SysInt   *word; /* column / 64 */
  uint64_t *bits;
} SpgemmWords;

typedef struct {
  SysInt  first;     /* entry of B */
  int64_t rows, run; /* the last run that met it */
} SpgemmLine;

/* Tables of a thread; between rows they are empty */
typedef struct {
  /* dense: a window of the columns, in a circle, so that its size follows from the rows' reach and not from the number of columns */
  int64_t    window; /* a power of two */
  uint64_t  *mask;   /* a bit for each column */
  uint8_t   *flag;   /* a byte for each block of the mask that is not empty */
  uint8_t   *byte;   /* instead of the mask: a byte for each column */
  uint64_t  *bits;   /* the words of a row that are not empty, */
  SysInt    *cols;   /* and the column of the first bit of each */
  int        lanes;  /* sums for each column, of rows that are made together: a power of two */
  SysScalar *sum;
  /* hash */
  uint64_t   size, capacity; /* slots in use, and slots there are: powers of two */
  SysInt    *key;            /* -1: free */
  SysScalar *val;
  int64_t   *place;
  int64_t    nslot; /* length of the following two */
  uint64_t  *slot, *sorted;
  /* stamps */
  int64_t             nstamp;
  struct SpgemmStamp *stamp; /* for each column of B */
  uint64_t            now;   /* the row that is made */
  /* heap */
  int64_t            nheap;
  struct SpgemmHeap *heap;
  /* runs of rows */
  uint16_t *rank; /* the place of a column in the row, for each column of the window */
  int64_t   nrank;
  uint16_t *list; /* the place of each product */
  int64_t   nlist;
  SysScalar (*run)[SPGEMM_LANES];
  int64_t nrun;
  SysScalar (*factor)[SPGEMM_LANES], (*turned)[SPGEMM_LANES]; /* entries of A, and lines of B behind them */
  SpgemmLine line[SPGEMM_LINES];
  int        nline;
  int64_t    nruns;
  /* a row that must not be written beyond its end */
  int64_t    nrow;
  SysInt    *rowj;
  SysScalar *rowa;
  /* a part of the rows */
  int64_t    npart;
  SysInt    *partj;
  SysScalar *parta;
  double     bytes;
  double     rows[SPGEMM_HOST_ROWS], products, bysort; /* bysort: of the products that were counted, those of rows that would be sorted */
} SpgemmWork;

/* A sum, and the row that it belongs to: those of other rows count as zero, so that nothing is cleared */
struct SpgemmStamp {
  uint64_t  row;
  SysScalar sum;
};

struct SpgemmHeap {
  SysInt    col;
  SysInt    k, end; /* entries of the row of B that are still to come */
  SysScalar a;
};

typedef struct {
  SysCSR            A, B;
  SysInt            last;              /* entry of A */
  double            lengthB, longestB; /* entries of a row of B, on average and at most */
  SpgemmWords       words;             /* of B; i is NULL if there are none */
  const uint8_t    *same;              /* has row r of B the columns of row r - 1? NULL if hardly any has */
  const uint8_t    *shift;             /* how many rows of B after row r are each the one before moved by one column? NULL if hardly any */
  SpgemmAccumulator accumulator;
  int64_t           window;    /* columns of a window at most, by auto */
  int64_t           batch;     /* rows that one thread makes, of which none is made together with rows of another batch */
  int               far;       /* B does not lie in the caches */
  int               stamps;    /* rows have many products for each entry, and the columns of B are few */
  int               stream;    /* values of the result go around the caches, where they are many at a time */
  int               unsorted;  /* the result: columns of a row in any order, but for the first and the last: the smallest and the greatest */
  int               unsortedB; /* so is B */
  SysInt           *i;         /* counting: i[r + 1] becomes the length of row r */
  SysInt           *j;
  SysScalar        *a;
  int64_t          *placed; /* new values: if not NULL, the products of the rows that places serve are counted */
  uint16_t         *places; /* if not NULL: the place of each of these products in its row of the result, */
  int               known;  /* which is looked up and written down, or known */
} SpgemmProduct;

/* One set of kernels for each instruction set, made from the same template. Rows first <= r < last. */
typedef struct {
  const char *name;
  int (*supported)(void);
  double looks; /* to count costs as much as to make the result, if as large a part of the entries of B is looked at */
  SysStatus (*count)(const SpgemmProduct *, int64_t first, int64_t last, SpgemmWork *);
  SysStatus (*fill)(const SpgemmProduct *, int64_t first, int64_t last, SpgemmWork *);
  SysStatus (*make)(const SpgemmProduct *, int64_t first, int64_t last, SpgemmWork *); /* without having counted */
  SysStatus (*revalue)(const SpgemmProduct *, int64_t first, int64_t last, SpgemmWork *);
} SpgemmKernels;

extern const SpgemmKernels SpgemmKernelsPlain, SpgemmKernelsAVX2, SpgemmKernelsAVX512;

/* Memory that reads as zero, aligned to cache lines; what is large lies on huge pages */
void *SpgemmAllocate(size_t size);
void  SpgemmRelease(void *, size_t size);

/* Frees the memory behind the first bytes; returns the size to release the rest with */
size_t SpgemmShrink(void *, size_t size, size_t first);

/* Gives back the pages of n bytes, which begin a page, of memory of SpgemmAllocate(size); they read as zero then. Not if malloc() has them. */
void SpgemmForget(void *, size_t size, size_t n);

/* Tables that serve as many columns, slots or entries as are asked for; they only grow */
SysStatus SpgemmWorkWindow(SpgemmWork *, int64_t columns, int rows);
SysStatus SpgemmWorkHash(SpgemmWork *, int64_t slots, int64_t n, int values);
SysStatus SpgemmWorkHeap(SpgemmWork *, int64_t n);
SysStatus SpgemmWorkStamps(SpgemmWork *, int64_t columns);
SysStatus SpgemmWorkRun(SpgemmWork *, int64_t products, int64_t n);
SysStatus SpgemmWorkRow(SpgemmWork *, int64_t n);
SysStatus SpgemmWorkPart(SpgemmWork *, int64_t n);
void      SpgemmWorkDestroy(SpgemmWork *);

/* Sorts by the given bits of each entry, from the low one on */
uint64_t *SpgemmSort(uint64_t *x, uint64_t *work, int64_t n, int low, int bits);

typedef struct {
  SysCSR  T;
  SysInt *from; /* the entry of the matrix that each entry comes from */
} SpgemmTranspose;

/* Row cuts[t] is where the part of thread t begins: parts of equal length of what the prefix sums i count */
void      SpgemmCut(int64_t m, const SysInt *i, int nthread, int64_t *cuts);
SysStatus SpgemmTransposeCreate(const SysCSR *, int nthread, SpgemmTranspose *);
void      SpgemmTransposeValues(const SysScalar *, int nthread, SpgemmTranspose *);
double    SpgemmTransposeBytes(const SpgemmTranspose *);
void      SpgemmTransposeDestroy(SpgemmTranspose *);

/* Leaves words->i NULL if the columns are not clustered */
SysStatus SpgemmWordsCreate(const SysCSR *, int nthread, SpgemmWords *);
double    SpgemmWordsBytes(const SpgemmWords *);
void      SpgemmWordsDestroy(SpgemmWords *);

/* Which rows have the columns of the row before; NULL if too few to make use of, or without memory for it */
uint8_t *SpgemmSameRows(const SysCSR *, int nthread);

/* How many rows after each, 255 at most, are the one before moved by one column; NULL if too few */
uint8_t *SpgemmShiftedRows(const SysCSR *, int nthread);

/* Are the n columns after the first n these, moved by one? */
static inline int SpgemmShifted(const SysInt *j, SysInt n)
{
  SysInt differ = 0;

  if (j[n] != j[0] + 1) return 0;
  for (SysInt k = 0; k < n; k++) differ |= j[n + k] ^ (j[k] + 1);
  return !differ;
}

/* SpgemmCreate() with the kernels of a certain instruction set */
SysStatus SpgemmCreateWith(const SpgemmKernels *, SpgemmType, const SysCSR *A, const SysCSR *B, const SysCSR *C, const SpgemmOptions *, Spgemm **, SpgemmInfo *);
