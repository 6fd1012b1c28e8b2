/* SPDX-License-Identifier: BSD-2-Clause */
/*
   What the fuzz targets have in common: a check that aborts, the bytes of an input, taken one after the other, and numbers that seem random. Behind the last byte there are zeros.
*/
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition) \
  do { \
    if (!(condition)) { \
      fprintf(stderr, "%s, line %d: %s\n", __FILE__, __LINE__, #condition); \
      abort(); \
    } \
  } while (0)

typedef struct {
  const uint8_t *data;
  size_t         left;
} Bytes;

static inline uint32_t TakeByte(Bytes *b)
{
  if (!b->left) return 0;
  b->left--;
  return *b->data++;
}

static inline uint32_t TakeWord(Bytes *b)
{
  const uint32_t low = TakeByte(b);

  return low | TakeByte(b) << 8;
}

/* Cuts of a text: numbers that follow from a state, which the input seeds */
static inline size_t Random(uint32_t *state, size_t below)
{
  *state = *state * 1664525u + 1013904223u;
  return (size_t)(*state >> 8) % below;
}

/* An array that has exactly n entries, so that the sanitizer sees what lies outside */
static inline void *Exactly(int64_t n, size_t size)
{
  void *p = malloc((size_t)n * size + !n);

  if (!p) abort();
  return p;
}
