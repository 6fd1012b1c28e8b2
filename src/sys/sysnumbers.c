/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "sys/sysnumbers.h"

/* Returns the number of 64-bit words of a bit set from least to most; 0 if that exceeds n, or n is 0 */
static int64_t SysNumbersWords(int64_t n, SysInt least, SysInt most)
{
  const int64_t words = n ? (int64_t)(((uint64_t)most - (uint64_t)least) / 64 + 1) : 0;

  return words <= n ? words : 0;
}

int64_t SysNumbersSort(int64_t n, SysInt numbers[])
{
  SysInt    least = n ? numbers[0] : 0, most = least;
  uint64_t *used;
  int64_t   words, count = 0;

  for (int64_t k = 1; k < n; k++) {
    if (numbers[k] < least) least = numbers[k];
    if (numbers[k] > most) most = numbers[k];
  }
  words = SysNumbersWords(n, least, most);
  if (!words) return n ? -1 : 0;
  used = (uint64_t *)calloc((size_t)words, sizeof(*used));
  if (!used) return -1;
  for (int64_t k = 0; k < n; k++) {
    const uint64_t bit = (uint64_t)numbers[k] - (uint64_t)least;

    used[bit / 64] |= (uint64_t)1 << bit % 64;
  }
  for (int64_t w = 0; w < words; w++) {
    for (uint64_t left = used[w]; left; left &= left - 1) numbers[count++] = (SysInt)(least + 64 * w + __builtin_ctzll(left));
  }
  free(used);
  return count;
}

void SysNumbersCreate(int64_t n, const SysInt numbers[], SysNumbers *s)
{
  const int64_t words  = n ? SysNumbersWords(n, numbers[0], numbers[n - 1]) : 0;
  SysInt        before = 0;

  *s = (SysNumbers){n, numbers, NULL, NULL};
  if (!words) return;
  s->used   = (uint64_t *)calloc((size_t)words, sizeof(*s->used));
  s->before = (SysInt *)malloc((size_t)words * sizeof(*s->before));
  if (!s->used || !s->before) { /* SysNumbersFind() searches the list then */
    SysNumbersDestroy(s);
    return;
  }
  for (int64_t k = 0; k < n; k++) {
    const uint64_t bit = (uint64_t)numbers[k] - (uint64_t)numbers[0];

    s->used[bit / 64] |= (uint64_t)1 << bit % 64;
  }
  for (int64_t w = 0; w < words; w++) {
    s->before[w] = before;
    before += (SysInt)__builtin_popcountll(s->used[w]);
  }
}

void SysNumbersDestroy(SysNumbers *s)
{
  free(s->used);
  free(s->before);
  s->used   = NULL;
  s->before = NULL;
}
