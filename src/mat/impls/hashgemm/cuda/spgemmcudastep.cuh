/* SPDX-License-Identifier: BSD-2-Clause */
/*
   SpGEMM on a CUDA device: one product of two matrices, of which each kind of product takes one or two, and its memory
*/
#pragma once

#include "mat/impls/hashgemm/cuda/spgemmcuda.cuh"

struct _SpgemmDeviceContext {
  SpgemmLimits    limits;
  cudaStream_t    side[SPGEMM_STREAMS];
  cudaEvent_t     fork, join[SPGEMM_STREAMS], counted;
  SpgemmCounters *counters; /* host memory that the device can write */
};

/* Memory, and the counter of its size */
typedef struct {
  void  *data;
  size_t bytes;
} SpgemmArray;

typedef struct {
  int               m;
  int64_t           nz;
  double            products, rows[SPGEMM_ROWS_KINDS];
  int               pattern[SPGEMM_BINS], values[SPGEMM_BINS], parts[SPGEMM_PART_CLASSES], units; /* numbers of rows, parts and units */
  SpgemmArray       i;
  SpgemmArray       pattern_memory, pattern_rows, kept_words;         /* until the pattern exists: rows by bin; words kept of each row */
  SpgemmArray       words_memory, rowB, wordB;                        /* words of B, separate for a large product */
  SpgemmArray       unit, kept_word, kept_bits, sorted, sorted_place; /* units; words, bits and columns of the result */
  int               capacity;                                         /* of kept_word */
  SpgemmAccumulator accumulator;
  SpgemmArray       made_memory, made_column, made_value, made_place; /* until the first values exist */
  bool              made_values;                                      /* the values were computed with the pattern */
  SpgemmArray       values_rows, part_memory, part, order, kinds;     /* for values: rows; parts, the parts of each kind, and their numbers */
  double            pairs;                                            /* of parts and entries of A */
  SpgemmArray       line_memory, shifted, line, group;                /* lines of shifted rows, if any */
  int               groups;                                           /* number of groups */
  unsigned          line_bytes;                                       /* shared memory of the largest group */
  double            line_rows, line_products;                         /* rows and products in lines */
  int               again, mode;                                      /* number of times that values were computed; mode of the next time */
  SpgemmArray       place, offset, pair, list, pair_next;
} SpgemmStep;

struct _SpgemmDevice {
  SpgemmDeviceContext *context;
  SpgemmType           type;
  SpgemmAccumulator    accumulator;
  bool                 makes;   /* values are computed while counting; the first of two products' at once */
  int                  reverse; /* of two steps, in the other order */
  int                  nstep;
  int64_t              size[3][3];       /* of A, B, C: rows, columns, entries */
  SpgemmStep           step[2];          /* the last computes the result */
  SysCSR               transpose, inner; /* the transposed operand, and the first step's result */
  SpgemmArray          transpose_i, transpose_j, transpose_a, from, inner_j, inner_a;
  double               bytes; /* current */
  SpgemmInfo           info;
};

/* Several arrays in one allocation */
typedef struct {
  SpgemmArray *array;
  size_t       bytes;
} SpgemmPiece;

SysStatus SpgemmTake(SpgemmDevice *, size_t bytes, SpgemmArray *, cudaStream_t);
SysStatus SpgemmTakePieces(SpgemmDevice *, SpgemmArray *memory, std::initializer_list<SpgemmPiece>, cudaStream_t);
void      SpgemmDrop(SpgemmDevice *, std::initializer_list<SpgemmArray *>, cudaStream_t);

/* Count() counts the rows' entries; Pattern() writes the pattern in i (the step's) and j and, if a is not NULL, existing values; Values() computes
   values, repeatedly */
SysStatus SpgemmStepCount(SpgemmDevice *, SpgemmStep *, const SysCSR *A, const SysCSR *B, cudaStream_t);
SysStatus SpgemmStepPattern(SpgemmDevice *, SpgemmStep *, const SysCSR *A, const SysCSR *B, const int *i, int *j, SysScalar *a, cudaStream_t);
SysStatus SpgemmStepValues(SpgemmDevice *, SpgemmStep *, const SysCSR *A, const SysCSR *B, const int *i, const int *j, SysScalar *a, cudaStream_t);
SysStatus SpgemmStepFirstValues(SpgemmDevice *, SpgemmStep *, const SysCSR *A, const SysCSR *B, const int *i, const int *j, SysScalar *a, cudaStream_t); /* of the counted operands */
void      SpgemmStepDrop(SpgemmDevice *, SpgemmStep *, cudaStream_t);
