/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Sets of numbers, such as ghost columns. One bit a number of the range replaces sorting and searching, if the range has at most 64 numbers for each
   element.
*/
#pragma once

#include <stdint.h>

#include "sys/systypes.h"

/* Sorts numbers and removes duplicates; returns the new count, or -1 if the range is too large for bits, or memory is short: numbers[] is then unchanged */
int64_t SysNumbersSort(int64_t n, SysInt numbers[]);

/* Ascending distinct numbers, owned by the caller */
typedef struct {
  int64_t       n;
  const SysInt *numbers;
  uint64_t     *used;   /* one bit a number from the first on, or NULL */
  SysInt       *before; /* for each word the bits set in earlier words */
} SysNumbers;

void SysNumbersCreate(int64_t n, const SysInt numbers[], SysNumbers *);
void SysNumbersDestroy(SysNumbers *);

/* Returns the place of a number, or -1 */
static inline SysInt SysNumbersFind(const SysNumbers *s, SysInt number)
{
  int64_t low = 0, high = s->n - 1;

  if (!s->n || number < s->numbers[0] || number > s->numbers[high]) return -1;
  if (s->used) {
    const uint64_t bit = (uint64_t)number - (uint64_t)s->numbers[0], word = s->used[bit / 64], mask = (uint64_t)1 << bit % 64;

    return word & mask ? s->before[bit / 64] + (SysInt)__builtin_popcountll(word & (mask - 1)) : -1;
  }
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;

    if (s->numbers[middle] < number) low = middle + 1;
    else high = middle;
  }
  return s->numbers[low] == number ? (SysInt)low : -1;
}
