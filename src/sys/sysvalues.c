/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/sysvalues.h"
#include "sys/sysmemory.h"
#include "sys/systhreads.h"

static const SysScalar zero = 0;

void SysValuesBegin(SysValuesChoice *V, SysValues asked, int most)
{
  memset(V, 0, sizeof(*V));
  V->asked = asked;
  V->exact = 1;
  V->most  = asked == SYS_VALUES_TABLE ? SYS_TABLE_VALUES - 1 : most;
}

void SysValuesBeginHost(SysValuesChoice *V, SysValues asked, int fast, int64_t nz, int nthread)
{
  SysValuesBegin(V, asked, nthread > 1 && (double)sizeof(SysScalar) * (double)nz > SYS_VALUES_LARGE ? SYS_TABLE_VALUES - 1 : fast);
}

void SysValuesDropTable(SysValuesChoice *V)
{
  int floats = 1;

#if defined(SYS_HAVE_STORAGE_SINGLE)
  for (int k = 0; k < V->table.n; k++) floats &= SysIsFloat(&V->table.value[k]);
#endif
  SysValuesSet(V, 0, floats);
}

/* Adds a value to the table, which holds 0 and has space for `most` others; returns its place, or -1 */
static int SysValuesAdd(SysTable *T, int most, const SysScalar *a)
{
  const int at = SysTableAdd(T, a);

  return T->n <= most + 1 ? at : -1;
}

/* Adds n values to the table, and clears *fits if it is full and *floats if some value is no float; ends early if both are clear. place: NULL, or
   gets the values' places while they fit. */
static void SysValuesFind(SysTable *T, int most, int64_t n, const SysScalar *a, uint8_t *place, int *fits, int *floats)
{
  for (int64_t k = 0; k < n && (*fits || *floats); k++) {
    if (k && SysTableSame(SysTableBitsOf(a + k), SysTableBitsOf(a + k - 1))) {
      if (place && *fits) place[k] = place[k - 1];
      continue;
    }
    if (*fits) {
      int at = SysTableFind(T, a + k);

      if (at < 0) at = SysValuesAdd(T, most, a + k);
      *fits = at >= 0;
      if (place) place[k] = (uint8_t)at;
    }
#if defined(SYS_HAVE_STORAGE_SINGLE)
    if (*floats) *floats = SysIsFloat(a + k);
#else
    *floats = 0;
#endif
  }
}

/* A worker's values. Workers merge nothing themselves: places then depend on the partition only, and a region needs no lock. */
typedef struct {
  SysTable table;
  int      fits, floats;
} SysValuesFound;

/* With one worker sets the values' places as well, unless place is NULL: a table merged from several workers has other places */
static void SysValuesChooseAndPlace(SysValuesChoice *V, int64_t n, const SysScalar *a, int nworker, uint8_t *place)
{
  const int       must = SysValuesDepend(V);
  int             fits = must && V->most > 0 && n > 0, floats = (must || V->asked == SYS_VALUES_SINGLE) && n > 0;
  SysValuesFound *found = NULL;

  SysTableClear(&V->table);
  (void)SysTableAdd(&V->table, &zero);
  if (nworker > 1 && (fits || floats)) found = SysAllocate(sizeof(*found) * (size_t)nworker);
  if (found) {
    for (int t = 0; t < nworker; t++) {
      found[t].table.n = 0;
      found[t].fits    = fits;
      found[t].floats  = floats;
    }
#pragma omp parallel num_threads(nworker)
    {
      const int64_t   nt = omp_get_num_threads(), t = omp_get_thread_num(), begin = n / nt * t, end = t == nt - 1 ? n : n / nt * (t + 1);
      SysValuesFound *mine = found + t;

      mine->table = V->table;
      SysValuesFind(&mine->table, V->most, end - begin, a + begin, NULL, &mine->fits, &mine->floats);
    }
    for (int t = 0; t < nworker; t++) {
      fits   = fits && found[t].fits;
      floats = floats && found[t].floats;
      for (int k = 0; k < found[t].table.n && fits; k++) fits = SysValuesAdd(&V->table, V->most, &found[t].table.value[k]) >= 0;
    }
    SysRelease(found, sizeof(*found) * (size_t)nworker);
  } else if (fits || floats) SysValuesFind(&V->table, V->most, n, a, place, &fits, &floats); /* one worker, or no memory for tables */
  SysValuesSet(V, fits, floats);
}

void SysValuesChoose(SysValuesChoice *V, int64_t n, const SysScalar *a, int nworker)
{
  SysValuesChooseAndPlace(V, n, a, nworker, NULL);
}

static void SysValuesEncode(const SysValuesChoice *V, const SysCSR *A, int nworker, uint8_t *place)
{
  (void)nworker; /* unused without OpenMP */
#pragma omp parallel num_threads(nworker) if (nworker > 1)
  {
    const int64_t nt = omp_get_num_threads(), t = omp_get_thread_num(), begin = A->nz * t / nt, end = A->nz * (t + 1) / nt;

    SysTableEncode(&V->table, end - begin, A->a + begin, place + begin);
  }
}

SysStatus SysValuesMakeRoom(SysValuesChoice *V, const SysCSR *A, size_t n, int filled, int zero, int nworker, void **val, uint8_t **place)
{
  SysValuesChoice choice = *V;
  uint8_t        *places = NULL;

  if (A->a) {
    choice.changes += filled;
    if (nworker == 1 && SysValuesDepend(&choice) && choice.most > 0) places = SysAllocate((size_t)A->nz);
    SysValuesChooseAndPlace(&choice, A->nz, A->a, nworker, places);
  }
  if (choice.stored != SYS_STORAGE_PLACES) {
    SysRelease(places, (size_t)A->nz);
    places = NULL;
  } else if (A->a && !places) {
    places = SysAllocate((size_t)A->nz);
    if (!places) return SYS_OUT_OF_MEMORY;
    SysValuesEncode(&choice, A, nworker, places);
  }
  if (!*val || choice.stored != V->stored) {
    void *room = (*(zero ? SysAllocateZero : SysAllocate))(SysStorageSize(choice.stored) * n);

    if (!room) {
      SysRelease(places, (size_t)A->nz);
      return SYS_OUT_OF_MEMORY;
    }
    if (*val) SysRelease(*val, SysStorageSize(V->stored) * n);
    *val = room;
  }
  *V     = choice;
  *place = places;
  return SYS_SUCCESS;
}

void SysValuesSelect(SysValuesChoice *V, int nslot, const uint64_t slot[], int overflow, int floats)
{
  int fits = !overflow && SysValuesDepend(V);

  SysTableClear(&V->table);
  (void)SysTableAdd(&V->table, &zero);
  for (int k = 0; k < nslot && fits; k++) {
    SysScalar value = 0;

    memcpy(&value, &slot[k], sizeof(value) < sizeof(slot[k]) ? sizeof(value) : sizeof(slot[k]));
    fits = SysTableAdd(&V->table, &value) >= 0;
  }
  SysValuesSet(V, fits, floats);
}
