/* SPDX-License-Identifier: BSD-2-Clause */
/*
   A row's places as one bit a column. The words are zero before a row is inserted and after it is removed.
*/
#pragma once

#include "graph/host/graphhost.h"

#define GRAPH_BITS_SHIFT 5 /* a word has 2^5 bits */
#define GRAPH_BITS_MASK  31

static inline void GraphBitsPut(uint32_t *bits, const SysCSR *A, int64_t r)
{
  for (SysInt q = A->i[r]; q < A->i[r + 1]; q++) bits[A->j[q] >> GRAPH_BITS_SHIFT] |= (uint32_t)1 << (A->j[q] & GRAPH_BITS_MASK);
}

static inline void GraphBitsTake(uint32_t *bits, const SysCSR *A, int64_t r)
{
  for (SysInt q = A->i[r]; q < A->i[r + 1]; q++) bits[A->j[q] >> GRAPH_BITS_SHIFT] = 0;
}

/* Returns 1 if column j is among the places */
static inline uint32_t GraphBitsHave(const uint32_t *bits, SysInt j)
{
  return bits[j >> GRAPH_BITS_SHIFT] >> (j & GRAPH_BITS_MASK) & 1;
}
