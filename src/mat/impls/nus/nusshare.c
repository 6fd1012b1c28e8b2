/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "mat/impls/nus/nusshare.h"

#define FIRST_BLOCKS 64 /* that there is room for at first */

void NusBlocksDestroy(NusBlocks *B)
{
  free(B->val);
  free(B->begin);
  free(B->last);
  free(B->slot);
  memset(B, 0, sizeof(*B));
}

/* A number for the bits of a block, in four chains that do not wait for each other; C is a multiple of 8 */
static uint64_t NusBlockHash(const SysScalar *val, int64_t n)
{
  const char    *at   = (const char *)val;
  const uint64_t K    = UINT64_C(0x9e3779b97f4a7c15);
  uint64_t       h[4] = {1, 2, 3, 4}, word[4];

  for (size_t k = 0; k < sizeof(*val) * (size_t)n; k += sizeof(word)) {
    memcpy(word, at + k, sizeof(word));
    for (int l = 0; l < 4; l++) h[l] = (h[l] ^ word[l]) * K + (h[l] >> 29);
  }
  for (int l = 1; l < 4; l++) h[0] = (h[0] ^ (h[l] >> 32)) * K + h[l];
  return h[0] ^ h[0] >> 32;
}

/* Makes room for the values of one more block */
static SysStatus NusBlocksReserve(NusBlocks *B, int64_t n)
{
  const int64_t room = 2 * (B->nval + n);
  SysScalar    *val;

  if (B->nval + n <= B->room) return SYS_SUCCESS;
  val = realloc(B->val, sizeof(*val) * (size_t)room);
  if (!val) return SYS_OUT_OF_MEMORY;
  B->val  = val;
  B->room = room;
  return SYS_SUCCESS;
}

static int64_t NusBlockSlot(const NusBlocks *B, const SysScalar *val, int64_t n, int64_t *block)
{
  int64_t h = (int64_t)(NusBlockHash(val, n) % (uint64_t)B->nslot);

  for (;; h = (h + 1) % B->nslot) {
    *block = B->slot[h] - 1;
    if (*block < 0) return h;
    if (B->begin[*block + 1] - B->begin[*block] == n && !memcmp(B->val + B->begin[*block], val, sizeof(*val) * (size_t)n)) return h;
  }
}

/* Makes room for the numbers of one more block */
static SysStatus NusBlocksGrow(NusBlocks *B)
{
  const int64_t capacity = B->capacity ? 2 * B->capacity : FIRST_BLOCKS;
  int64_t      *begin, *last, *slot;

  if (B->n < B->capacity) return SYS_SUCCESS;
  begin = realloc(B->begin, sizeof(*begin) * (size_t)(capacity + 1));
  if (begin) B->begin = begin;
  last = realloc(B->last, sizeof(*last) * (size_t)capacity);
  if (last) B->last = last;
  slot = calloc((size_t)(2 * capacity), sizeof(*slot));
  if (!begin || !last || !slot) {
    free(slot);
    return SYS_OUT_OF_MEMORY;
  }
  free(B->slot);
  B->slot     = slot;
  B->nslot    = 2 * capacity;
  B->capacity = capacity;
  if (!B->n) B->begin[0] = 0;
  for (int64_t b = 0; b < B->n; b++) {
    int64_t none;

    B->slot[NusBlockSlot(B, B->val + B->begin[b], B->begin[b + 1] - B->begin[b], &none)] = b + 1;
  }
  return SYS_SUCCESS;
}

/* Finds the block of n values that were written after the blocks, or makes it one of them */
static SysStatus NusBlocksFind(NusBlocks *B, int64_t n, int64_t *begin)
{
  SysStatus status = NusBlocksGrow(B);
  int64_t   block, slot;

  if (status) return status;
  slot = NusBlockSlot(B, B->val + B->nval, n, &block);
  if (block < 0) {
    if (B->nval + n > B->most) return SYS_TOO_MANY_BYTES;
    block = B->n++;
    B->nval += n;
    B->begin[block + 1] = B->nval;
    B->slot[slot]       = block + 1;
    B->far += n;
  } else if (B->seen - B->last[block] > B->near) B->far += n;
  B->last[block] = B->seen;
  B->seen += n;
  *begin = B->begin[block];
  return SYS_SUCCESS;
}

SysStatus NusShareTile(const NusHost *A, const NusTile *T, const NusPart *P, SysFill what, NusBlocks *B, uint32_t *share)
{
  const int C      = A->params.c;
  uint16_t *col    = A->col + (what == SYS_FILL_ALL ? T->col : 0);
  SysStatus status = SYS_SUCCESS;

  for (int c = 0; c < T->nfilled && !status; c++) {
    const NusChunk h     = A->chunk[T->chunk + c];
    const int64_t  n     = (int64_t)C * h.n;
    int64_t        begin = 0;

    status = NusBlocksReserve(B, n);
    if (status) break;
    NusFillChunk(A, T, P, c, what, B->val + B->nval, col);
    if (what == SYS_FILL_ALL) col += (int64_t)NusStepUnits(h.kind, C) * h.n;
    status = NusBlocksFind(B, n, &begin);
    if (begin / C > UINT32_MAX) status = SYS_TOO_MANY_BYTES;
    if (share) share[c] = (uint32_t)(begin / C);
  }
  return status;
}
