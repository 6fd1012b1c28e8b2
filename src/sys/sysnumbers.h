/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Sets of numbers, such as columns of other processes. A bit for each number of the range takes the place of sorting and of searching, if the range has at most
   64 numbers for each one of the set.
*/
#pragma once

#include <stdint.h>

#include "sys/systypes.h"

/* Sorts numbers and leaves each once; returns how many these are, or -1 if bits do not serve */
int64_t SysNumbersSort(int64_t n, SysInt numbers[]);

/* Ascending numbers, each once, which belong to the caller */
typedef struct {
  int64_t       n;
  const SysInt *numbers;
  uint64_t     *used;   /* a bit for each number from the first one on, or NULL */
  SysInt       *before; /* for each word of these, the bits in the words before it */
} SysNumbers;

void SysNumbersCreate(int64_t n, const SysInt numbers[], SysNumbers *);
void SysNumbersDestroy(SysNumbers *);

/* The place of a number, or -1 if the set does not have it */
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
