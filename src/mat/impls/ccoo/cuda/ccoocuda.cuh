/* SPDX-License-Identifier: BSD-2-Clause */
/*
   CCOO on the device: declarations for conversion and products
*/
#pragma once

#include "sys/systable.h"
#include "mat/impls/amb/cuda/ambcuda.cuh"
#include "mat/impls/ccoo/cuda/ccoocuda.h"

/* The layout, an argument of the kernels */
typedef struct {
  int        m, b, k;
  unsigned   nchunk, ngroup;
  CcooChunk *chunk;   /* nchunk + 1; the last has row m */
  int       *entry;   /* nchunk + 1: each chunk's first entry in CSR */
  unsigned  *origin;  /* the chunk in which a chunk's first row begins */
  unsigned  *pieces;  /* for the row that begins in a chunk and ends later, the number of its chunks */
  unsigned  *arrived; /* how many of these have stored their partial sums */
  SysScalar *carry;   /* two for each chunk: sum of a first row that began earlier, and of a last row that ends later */
  uint8_t   *index, *value;
  SysTable  *table;
} CcooLayout;

/* A matrix's chunks and their sizes */
struct CcooDeviceChunks {
  CcooLayout layout;
  char      *memory = NULL; /* holds chunk[], entry[], origin[], pieces[], arrived[], carry[] and table */
  char      *index  = NULL;
  char      *value  = NULL;
  int64_t    nindex = 0, nvalue = 0; /* in bytes */
  double     fixed  = 0;             /* bytes of memory */
  int        ntable = 0;
  int64_t    count[CCOO_FORMATS];
};

struct _CcooDevice {
  CcooParams       params;
  int              atomics;
  CcooDeviceChunks chunks;
  AmbTransposed    transposed = {};
};

/* Returns the groups of a chunk if open. On an H200 fewer were up to 4 % faster with short rows, more with groups of several parts a thread. */
static inline int CcooGroupsFor(int k)
{
  return k > 10 ? 256 : 128;
}

/* Returns the cost of a group of K entries, in bytes of a CSR product that take as long. Measured on an H200 for all K; up to three entries cost
   nothing extra. */
static inline double CcooGroupCost(int k)
{
  return k < 4 ? 34 : 17 + 5.5 * k;
}

/* Sets the cheapest K */
SysStatus CcooDeviceChooseItems(const SysCSR *, int *k, cudaStream_t);

/* Lays out the chunks' rows, columns and formats without the offsets; before[r]: groups before row r */
SysStatus CcooDeviceLayout(const SysCSR *, const CcooParams *, CcooDeviceChunks *, SysScratch *before, cudaStream_t);
SysStatus CcooDeviceFillIndex(const SysCSR *, const CcooDeviceChunks *, const int *before, cudaStream_t);

/* Chooses the table and each chunk's storage, and stores the values; the old values stay if memory is short */
SysStatus CcooDeviceChooseValues(const SysCSR *, const CcooParams *, CcooDeviceChunks *, cudaStream_t);
SysStatus CcooDeviceFillValues(const SysCSR *, const CcooDeviceChunks *, cudaStream_t);

/* Sets each chunk's first offset or first value, and the total bytes */
SysStatus CcooDevicePosition(CcooDeviceChunks *, int values, int64_t *bytes, cudaStream_t);

SysStatus CcooDeviceLaunch(const CcooLayout *, int atomics, const AmbArrays *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, cudaStream_t);

static __device__ __forceinline__ int CcooGroupsOf(const CcooLayout &L, unsigned c)
{
  const unsigned left = L.ngroup - c * (unsigned)L.b;

  return (int)(left < (unsigned)L.b ? left : (unsigned)L.b);
}

/* Returns the first CSR entry of group g of chunk c, and sets *row, whose entries end at i[*row + 1] */
static __device__ inline int CcooEntryOf(const CcooLayout &L, const CcooChunk &h, unsigned c, int g, const int *i, int *row)
{
  const uint8_t *offset = L.index + (size_t)CCOO_ENTRY_BYTES * h.index;
  int            first  = 0;

  *row = (int)h.row;
  if (h.format & CCOO_ROWS) {
    *row += offset[g];
    first = (int)SysCountLess(offset, CcooGroupsOf(L, c), (int)offset[g]);
  }
  return first ? i[*row] + L.k * (g - first) : L.entry[c] + L.k * g;
}
