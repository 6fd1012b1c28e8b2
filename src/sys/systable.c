/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "sys/systable.h"

void SysTableClear(SysTable *T)
{
  memset(T, 0, sizeof(*T));
}

int SysTableAdd(SysTable *T, const SysScalar *a)
{
  const int    found = SysTableFind(T, a);
  SysTableBits b     = SysTableBitsOf(a);
  uint64_t     h     = SysTableHash(b) % SYS_TABLE_SLOTS;

  if (found >= 0 || T->n == SYS_TABLE_VALUES) return found;
  while (T->slot[h]) h = (h + 1) % SYS_TABLE_SLOTS;
  memcpy(&T->value[T->n], a, sizeof(*a));
  T->slot[h] = (uint16_t)++T->n;
  return T->n - 1;
}

/* A value of the sample, its number of occurrences, and its first occurrence */
typedef struct {
  SysTableBits bits;
  int32_t      count, first;
} Counted;

/* Most frequent first; equally frequent values by first occurrence */
static int SysTableCompare(const void *a, const void *b)
{
  const Counted *p = (const Counted *)a, *q = (const Counted *)b;

  if (p->count != q->count) return p->count < q->count ? 1 : -1;
  return (p->first > q->first) - (p->first < q->first);
}

SysStatus SysTableAddFrequent(SysTable *T, int64_t n, const SysScalar *a)
{
  const int64_t sample = n < SYS_TABLE_SAMPLE ? n : SYS_TABLE_SAMPLE, nwindow = (sample + SYS_TABLE_WINDOW - 1) / SYS_TABLE_WINDOW;
  int64_t       slots = 16;
  Counted      *counted;
  int32_t      *slot;
  int32_t       found = 0, position = 0;

  while (slots < 2 * sample) slots *= 2;
  counted = (Counted *)malloc(sizeof(*counted) * (size_t)(sample + 1));
  slot    = (int32_t *)calloc((size_t)slots, sizeof(*slot));
  if (!counted || !slot) {
    free(counted);
    free(slot);
    return SYS_OUT_OF_MEMORY;
  }
  for (int64_t w = 0; w < nwindow; w++) {
    const int64_t all   = (n + SYS_TABLE_WINDOW - 1) / SYS_TABLE_WINDOW; /* windows */
    const int64_t first = (nwindow > 1 ? (all - 1) * w / (nwindow - 1) : 0) * SYS_TABLE_WINDOW, end = first + SYS_TABLE_WINDOW < n ? first + SYS_TABLE_WINDOW : n;

    for (int64_t k = first; k < end; k++, position++) {
      const SysTableBits b = SysTableBitsOf(a + k);
      uint64_t           h = SysTableHash(b) % (uint64_t)slots;

      while (slot[h] && !SysTableSame(counted[slot[h] - 1].bits, b)) h = (h + 1) % (uint64_t)slots;
      if (!slot[h]) {
        counted[found] = (Counted){b, 0, position};
        slot[h]        = ++found;
      }
      counted[slot[h] - 1].count++;
    }
  }
  if (found > SYS_TABLE_VALUES) { /* single occurrences need no sort */
    int32_t kept = 0;

    for (int32_t k = 0; k < found; k++) {
      if (counted[k].count > 1) counted[kept++] = counted[k];
    }
    found = kept;
  }
  qsort(counted, (size_t)found, sizeof(*counted), SysTableCompare);
  for (int32_t k = 0; k < found && T->n < SYS_TABLE_VALUES; k++) {
    SysScalar value;

    memcpy(&value, &counted[k].bits, sizeof(value));
    (void)SysTableAdd(T, &value);
  }
  free(counted);
  free(slot);
  return SYS_SUCCESS;
}

/* Neighbours are often equal: skips the repeated look-up */
int SysTableCovers(SysTable *T, int add, int64_t n, const SysScalar *a)
{
  for (int64_t k = 0; k < n; k++) {
    if (k && SysTableSame(SysTableBitsOf(a + k), SysTableBitsOf(a + k - 1))) continue;
    if ((add ? SysTableAdd(T, a + k) : SysTableFind(T, a + k)) < 0) return 0;
  }
  return 1;
}

void SysTableEncode(const SysTable *T, int64_t n, const SysScalar *a, uint8_t *position)
{
  for (int64_t k = 0; k < n; k++) position[k] = k && SysTableSame(SysTableBitsOf(a + k), SysTableBitsOf(a + k - 1)) ? position[k - 1] : (uint8_t)SysTableFind(T, a + k);
}
