/* SPDX-License-Identifier: BSD-2-Clause */
/*
   How a format stores the values of a matrix: as they are, rounded to single precision, as places of 8 bits in a table of the distinct values, or as they are but
   once for all parts of the matrix that have the same values.

   The table has 0 at place 0, for filling, and room for 255 other values. Values are compared by their bits: a value that is read from a table, or from single
   precision if the storage is exact, has the bits of the value that was stored.
*/
#pragma once

#include "sys/systable.h"

/* The storage that is asked for: the smallest one that gives back the same bits; single precision in any case; the table, if it has room for all values */
typedef enum {
  SYS_VALUES_DOUBLE,
  SYS_VALUES_EXACT,
  SYS_VALUES_SINGLE,
  SYS_VALUES_TABLE
} SysValues;

/* The storage that is used. With complex numbers, and where scalars have single precision already, SYS_STORAGE_SINGLE is not used. A format that shares values sets
   SYS_STORAGE_SHARED itself. */
typedef enum {
  SYS_STORAGE_PLAIN,
  SYS_STORAGE_SINGLE,
  SYS_STORAGE_PLACES,
  SYS_STORAGE_SHARED
} SysStorage;

#if !defined(SYS_SINGLE) && !defined(SYS_COMPLEX)
  #define SYS_HAVE_STORAGE_SINGLE
#endif

/* Values that have changed so often are stored as they are if SYS_VALUES_EXACT is asked for: a search for equal ones would come with every change */
#define SYS_VALUES_CHANGES 2

/* A matrix whose values take so many bytes lies in no cache */
#define SYS_VALUES_LARGE 64.e6

typedef struct {
  SysValues  asked;
  SysStorage stored;
  int        most;    /* values besides 0 in a table, at most, if SYS_VALUES_EXACT is asked for */
  int        exact;   /* stored values have the bits of the values of the matrix */
  int        changes; /* how often values were stored, after the first time */
  SysTable   table;
} SysValuesChoice;

static inline size_t SysStorageSize(SysStorage stored)
{
  return stored == SYS_STORAGE_PLACES ? 1 : stored == SYS_STORAGE_SINGLE ? sizeof(float) : sizeof(SysScalar);
}

/* Must the values be looked at before the storage is known? */
static inline int SysValuesMustLook(const SysValuesChoice *V)
{
  return V->asked == SYS_VALUES_TABLE || (V->asked == SYS_VALUES_EXACT && V->changes < SYS_VALUES_CHANGES);
}

/* Sets the storage; fits: the table has all values, floats: all values have the same bits if they are rounded to single precision and back */
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

/* ------------------------------------------------- values on the host ------------------------------------------------- */

/* Value number at */
static SYS_INLINE SysScalar SysValuesAt(const SysStorage stored, const SysTable *T, const void *val, size_t at)
{
  if (stored == SYS_STORAGE_PLACES) return T->value[((const uint8_t *)val)[at]];
#if defined(SYS_HAVE_STORAGE_SINGLE)
  if (stored == SYS_STORAGE_SINGLE) return ((const float *)val)[at];
#endif
  return ((const SysScalar *)val)[at];
}

/* Stores a[k], of which place[k] is the place in the table, as value number at */
static SYS_INLINE void SysValuesPut(const SysStorage stored, void *val, int64_t at, const SysScalar *a, const uint8_t *place, int64_t k)
{
  if (stored == SYS_STORAGE_PLACES) ((uint8_t *)val)[at] = place[k];
#if defined(SYS_HAVE_STORAGE_SINGLE)
  else if (stored == SYS_STORAGE_SINGLE) ((float *)val)[at] = (float)a[k];
#endif
  else ((SysScalar *)val)[at] = a[k];
}

/* Stores 0, which is filling */
static SYS_INLINE void SysValuesPutZero(const SysStorage stored, void *val, int64_t at)
{
  if (stored == SYS_STORAGE_PLACES) ((uint8_t *)val)[at] = 0;
#if defined(SYS_HAVE_STORAGE_SINGLE)
  else if (stored == SYS_STORAGE_SINGLE) ((float *)val)[at] = 0;
#endif
  else ((SysScalar *)val)[at] = 0;
}

#if defined(__cplusplus)
extern "C" {
#endif

/* Begins a choice, before the first values are there: they would be stored as they are. most: the values besides 0 for which SYS_VALUES_EXACT takes a table */
void SysValuesBegin(SysValuesChoice *, SysValues asked, int most);

/* The same on the host, where nthread threads multiply nz entries. A look-up takes a core longer than a value from its caches, unless the table has so few values (fast)
   that registers hold it; longer tables are taken if several threads share the memory that values as they are would come from. */
void SysValuesBeginHost(SysValuesChoice *, SysValues asked, int fast, int64_t nz, int nthread);

/* Sets the storage that exact values in a table would have without it */
void SysValuesLeaveTable(SysValuesChoice *);

/* Chooses the storage of n values on the host */
void SysValuesChoose(SysValuesChoice *, int64_t n, const SysScalar *, int nworker);

/* Chooses the storage of the values of a matrix, if it has values already, and makes room for n stored ones if it is another storage than before, or if *val is NULL. A room
   that is new reads as zero if zero is not 0. filled: values were stored before. *place gets the places of all values in the table, for SysValuesPut(), or NULL if they are
   not stored by places. SysRelease() frees them, one byte for each value. */
SysStatus SysValuesMakeRoom(SysValuesChoice *, const SysCSR *, size_t n, int filled, int zero, int nworker, void **val, uint8_t **place);

/* Chooses the storage of n values by what was found elsewhere: slot[] has, in any order, the bits of the values that are not 0, and 0 where it has none */
void SysValuesTake(SysValuesChoice *, int nslot, const uint64_t slot[], int overflow, int floats);

#if defined(__cplusplus)
}
#endif
