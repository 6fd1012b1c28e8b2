/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Sparse products on a CUDA device: one product of two matrices, of which each kind of product takes one or two, and its memory
*/
#pragma once

#include "mat/impls/hashgemm/cuda/spgemmcuda.cuh"

struct _SpgemmDeviceContext {
  SpgemmLimits    limits;
  cudaMemPool_t   pool;
  cudaStream_t    side[SPGEMM_STREAMS];
  cudaEvent_t     fork, join[SPGEMM_STREAMS], counted;
  SpgemmCounters *counters; /* on the host, where the device can write to it */
};

/* Memory, and who was told its size */
typedef struct {
  void  *data;
  size_t bytes;
} SpgemmArray;

typedef struct {
  int               m;
  int64_t           nz;
  double            products, rows[SPGEMM_ROWS_KINDS];
  int               pattern[SPGEMM_BINS], values[SPGEMM_BINS], parts[SPGEMM_PART_CLASSES], units; /* how many */
  SpgemmArray       i;
  SpgemmArray       pattern_memory, pattern_rows, kept_words;         /* until the pattern is made: rows, bin after bin; words kept of each row; */
  SpgemmArray       words_memory, rowB, wordB;                        /* words of B, for a large product in memory of their own; */
  SpgemmArray       unit, kept_word, kept_bits, sorted, sorted_place; /* units; words, bits and columns of the result */
  int               capacity;                                         /* of kept_word */
  SpgemmAccumulator accumulator;
  SpgemmArray       made_memory, made_column, made_value, made_place; /* until the first values are made; */
  bool              made_values;                                      /* with the pattern they already have been */
  SpgemmArray       values_rows, part_memory, part, order, kinds;     /* for values: rows; parts, those of each kind, and how many these are */
  double            pairs;                                            /* of parts and entries of A */
  SpgemmArray       line_memory, shifted, line, group;                /* lines of shifted rows, if there are any: */
  int               groups;                                           /* how many, */
  unsigned          line_bytes;                                       /* shared memory of the largest, */
  double            line_rows, line_products;                         /* and what is made so */
  int               again, mode;                                      /* values were made never, once or more often; how the next will be */
  SpgemmArray       place, offset, pair, list, pair_next;
} SpgemmStep;

struct _SpgemmDevice {
  SpgemmDeviceContext *context;
  SpgemmType           type;
  SpgemmAccumulator    accumulator;
  bool                 makes;   /* values as entries are counted; then those of the first of two products are made at once */
  int                  reverse; /* of two steps, the other order */
  int                  nstep;
  int64_t              size[3][3];       /* of A, B, C: rows, columns, entries */
  SpgemmStep           step[2];          /* the last makes the result */
  SysCSR               transpose, inner; /* the transposed operand, and the result of the first of two steps */
  SpgemmArray          transpose_i, transpose_j, transpose_a, from, inner_j, inner_a;
  double               bytes; /* now */
  SpgemmInfo           info;
};

/* Several arrays in one allocation, which is dropped as memory */
typedef struct {
  SpgemmArray *array;
  size_t       bytes;
} SpgemmPiece;

SysStatus SpgemmTake(SpgemmDevice *, size_t bytes, SpgemmArray *, cudaStream_t);
SysStatus SpgemmTakePieces(SpgemmDevice *, SpgemmArray *memory, std::initializer_list<SpgemmPiece>, cudaStream_t);
void      SpgemmDrop(SpgemmDevice *, std::initializer_list<SpgemmArray *>, cudaStream_t);

/* The entries of the rows; the pattern in i and j, of which i is that of the step, and if a is not NULL, also such values as are there; values, again and again */
SysStatus SpgemmStepCount(SpgemmDevice *, SpgemmStep *, const SysCSR *A, const SysCSR *B, cudaStream_t);
SysStatus SpgemmStepPattern(SpgemmDevice *, SpgemmStep *, const SysCSR *A, const SysCSR *B, const int *i, int *j, SysScalar *a, cudaStream_t);
SysStatus SpgemmStepValues(SpgemmDevice *, SpgemmStep *, const SysCSR *A, const SysCSR *B, const int *i, const int *j, SysScalar *a, cudaStream_t);
SysStatus SpgemmStepFirstValues(SpgemmDevice *, SpgemmStep *, const SysCSR *A, const SysCSR *B, const int *i, const int *j, SysScalar *a, cudaStream_t); /* of the operands that were counted */
void      SpgemmStepDrop(SpgemmDevice *, SpgemmStep *, cudaStream_t);
