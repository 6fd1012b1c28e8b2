/* SPDX-License-Identifier: BSD-2-Clause */
/*
   How a format stores a matrix's values: plain, rounded to single precision, as 8-bit positions in a table of the distinct values, or plain but shared
   by all parts of the matrix with equal values.

   The table has 0 at position 0, for filling, and space for 255 other values. Values are compared by their bits: a value from a table, or from exact
   single precision, has the bits of the stored one.
*/
#pragma once

#include "sys/systable.h"

/* The requested storage: the smallest lossless one; single precision in any case; the table, if it holds all values */
typedef enum {
  SYS_VALUES_DOUBLE,
  SYS_VALUES_EXACT,
  SYS_VALUES_SINGLE,
  SYS_VALUES_TABLE
} SysValues;

/* The storage in use. SYS_STORAGE_SINGLE needs real double-precision scalars. A format that shares values sets SYS_STORAGE_SHARED itself. */
typedef enum {
  SYS_STORAGE_PLAIN,
  SYS_STORAGE_SINGLE,
  SYS_STORAGE_PLACES,
  SYS_STORAGE_SHARED
} SysStorage;

#if !defined(SYS_SINGLE) && !defined(SYS_COMPLEX)
  #define SYS_HAVE_STORAGE_SINGLE
#endif

/* SYS_VALUES_EXACT: changes of values after which they are plain, because every change would repeat the search for equal ones */
#define SYS_VALUES_CHANGES 2

/* bytes of values beyond which no cache holds a matrix */
#define SYS_VALUES_LARGE 64.e6

typedef struct {
  SysValues  asked;
  SysStorage stored;
  int        most;    /* SYS_VALUES_EXACT: most values besides 0 in a table */
  int        exact;   /* stored values have the bits of the matrix's values */
  int        changes; /* number of times that values were stored after the first */
  SysTable   table;
} SysValuesChoice;

static inline size_t SysStorageSize(SysStorage stored)
{
  return stored == SYS_STORAGE_PLACES ? 1 : stored == SYS_STORAGE_SINGLE ? sizeof(float) : sizeof(SysScalar);
}

/* Returns whether the storage depends on the values */
static inline int SysValuesDepend(const SysValuesChoice *V)
{
  return V->asked == SYS_VALUES_TABLE || (V->asked == SYS_VALUES_EXACT && V->changes < SYS_VALUES_CHANGES);
}

/* Sets the storage; fits: the table has all values; floats: all values survive rounding to single precision */
static inline void SysValuesSet(SysValuesChoice *V, int fits, int floats)
{
  V->stored = SYS_STORAGE_PLAIN;
  V->exact  = 1;
  if (fits) V->stored = SYS_STORAGE_PLACES;
#if defined(SYS_HAVE_STORAGE_SINGLE)
  else if (floats || V->asked == SYS_VALUES_SINGLE) V->stored = SYS_STORAGE_SINGLE;
  if (V->asked == SYS_VALUES_SINGLE) V->exact = floats;
  else if (V->asked != SYS_VALUES_EXACT && V->stored == SYS_STORAGE_SINGLE) V->stored = SYS_STORAGE_PLAIN;
#else
  (void)floats;
#endif
  if (V->stored != SYS_STORAGE_PLACES) SysTableClear(&V->table);
}

#if defined(SYS_HAVE_STORAGE_SINGLE)
static SYS_TABLE_INLINE int SysIsFloat(const SysScalar *a)
{
  const SysScalar back = (SysScalar)(float)*a;

  return SysTableSame(SysTableBitsOf(&back), SysTableBitsOf(a));
}
#endif

/* ------------------------------------------------- host ------------------------------------------------- */

/* Returns value `at` */
static SYS_INLINE SysScalar SysValuesAt(const SysStorage stored, const SysTable *T, const void *val, size_t at)
{
  if (stored == SYS_STORAGE_PLACES) return T->value[((const uint8_t *)val)[at]];
#if defined(SYS_HAVE_STORAGE_SINGLE)
  if (stored == SYS_STORAGE_SINGLE) return ((const float *)val)[at];
#endif
  return ((const SysScalar *)val)[at];
}

/* Stores a[k], whose position in the table is position[k], as value `at` */
static SYS_INLINE void SysValuesPut(const SysStorage stored, void *val, int64_t at, const SysScalar *a, const uint8_t *position, int64_t k)
{
  if (stored == SYS_STORAGE_PLACES) ((uint8_t *)val)[at] = position[k];
#if defined(SYS_HAVE_STORAGE_SINGLE)
  else if (stored == SYS_STORAGE_SINGLE) ((float *)val)[at] = (float)a[k];
#endif
  else ((SysScalar *)val)[at] = a[k];
}

/* Stores 0, for filling */
static SYS_INLINE void SysValuesPutZero(const SysStorage stored, void *val, int64_t at)
{
  if (stored == SYS_STORAGE_PLACES) ((uint8_t *)val)[at] = 0;
#if defined(SYS_HAVE_STORAGE_SINGLE)
  else if (stored == SYS_STORAGE_SINGLE) ((float *)val)[at] = 0;
#endif
  else ((SysScalar *)val)[at] = 0;
}

SYS_C_BEGIN

/* Begins a choice before the first values exist; until then the storage is plain. most: limit of values besides 0 for a table with SYS_VALUES_EXACT. */
void SysValuesBegin(SysValuesChoice *, SysValues asked, int most);

/* The same on the host, where nthread threads multiply nz entries. A look-up takes longer than a value from the core's caches, unless the table fits
   into registers (up to `fast` values). Longer tables pay if several threads share the memory bandwidth. */
void SysValuesBeginHost(SysValuesChoice *, SysValues asked, int fast, int64_t nz, int nthread);

/* Sets the storage that exact values would have without the table */
void SysValuesDropTable(SysValuesChoice *);

/* Chooses the storage of n values on the host */
void SysValuesChoose(SysValuesChoice *, int64_t n, const SysScalar *, int nworker);

/* Chooses the storage of a matrix's values, if it has any, and allocates n stored values if the storage changed or *val is NULL; new memory reads as
   zero if zero is set. filled: values were stored before. *position gets all values' positions in the table for SysValuesPut(), or NULL without a table;
   free it with SysRelease(), one byte a value. */
SysStatus SysValuesMakeRoom(SysValuesChoice *, const SysCSR *, size_t n, int filled, int zero, int nworker, void **val, uint8_t **position);

/* Chooses the storage by given results: slot[] has the nonzero values' bits in any order, and 0 elsewhere */
void SysValuesSelect(SysValuesChoice *, int nslot, const uint64_t slot[], int overflow, int floats);

SYS_C_END
