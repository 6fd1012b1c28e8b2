/* SPDX-License-Identifier: BSD-2-Clause */
/*
   CCOO on the device: the declarations that conversion and products share
*/
#pragma once

#include "sys/systable.h"
#include "mat/impls/amb/cuda/ambcuda.cuh"
#include "mat/impls/ccoo/cuda/ccoocuda.h"

/* The layout, as the kernels take it */
typedef struct {
  int        m, b, k;
  unsigned   nchunk, ngroup;
  CcooChunk *chunk;   /* nchunk + 1; the last one has m as its row */
  int       *entry;   /* nchunk + 1: the entry of the CSR that each chunk begins with */
  unsigned  *origin;  /* the chunk in which the first row of a chunk begins */
  unsigned  *pieces;  /* chunks that have a part of the last row, where that row begins in the chunk and goes on */
  unsigned  *arrived; /* how many of these have multiplied their parts */
  SysScalar *carry;   /* two for each chunk: the sum of a first row that continues, and that of a last row that begins here and goes on */
  uint8_t   *index, *value;
  SysTable  *table;
} CcooLayout;

/* The chunks of a matrix and their sizes */
struct CcooDeviceChunks {
  CcooLayout layout;
  char      *memory = NULL; /* of chunk[], entry[], origin[], pieces[], arrived[], carry[] and table */
  char      *index  = NULL;
  char      *value  = NULL;
  int64_t    nindex = 0, nvalue = 0; /* bytes */
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

/* Groups of a chunk if the caller leaves them open: fewer are up to 4 % faster with short rows, more with groups of which a thread has several parts, on an H200 */
static inline int CcooGroupsFor(int k)
{
  return k > 10 ? 256 : 128;
}

/* A group of K entries takes as long as so many bytes of a product in CSR: measured on an H200 with groups of all sizes, where up to three entries take no time of their own */
static inline double CcooGroupCost(int k)
{
  return k < 4 ? 34 : 17 + 5.5 * k;
}

/* Chooses the number of entries in a group that costs least */
SysStatus CcooDeviceChooseItems(const SysCSR *, int *k, cudaStream_t);

/* Lays out rows, columns and formats of the chunks, without storing them; before[] has the groups before each row */
SysStatus CcooDeviceLayout(const SysCSR *, const CcooParams *, CcooDeviceChunks *, SysScratch *before, cudaStream_t);
SysStatus CcooDeviceFillIndex(const SysCSR *, const CcooDeviceChunks *, const int *before, cudaStream_t);

/* Chooses the table and the storage of each chunk's values, and stores the values; if memory is short the old values stay */
SysStatus CcooDeviceChooseValues(const SysCSR *, const CcooParams *, CcooDeviceChunks *, cudaStream_t);
SysStatus CcooDeviceFillValues(const SysCSR *, const CcooDeviceChunks *, cudaStream_t);

/* Finds where the chunks' offsets or values begin, and their bytes */
SysStatus CcooDevicePlace(CcooDeviceChunks *, int values, int64_t *bytes, cudaStream_t);

SysStatus CcooDeviceLaunch(const CcooLayout *, int atomics, const AmbArrays *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, cudaStream_t);

static __device__ __forceinline__ int CcooGroupsOf(const CcooLayout &L, unsigned c)
{
  const unsigned left = L.ngroup - c * (unsigned)L.b;

  return (int)(left < (unsigned)L.b ? left : (unsigned)L.b);
}

/* The first entry of group g of chunk c in the CSR; those of its row end at i[row + 1] */
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
