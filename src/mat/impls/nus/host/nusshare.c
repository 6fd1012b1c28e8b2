/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "mat/impls/nus/host/nusshare.h"

#define NUS_BLOCKS_FIRST 64 /* initial capacity of a NusBlocks, in blocks */

void NusBlocksDestroy(NusBlocks *B)
{
  free(B->val);
  free(B->begin);
  free(B->last);
  free(B->slot);
  memset(B, 0, sizeof(*B));
}

/* Hashes the bits of a block in four independent chains; C is a multiple of 8 */
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

/* Ensures capacity for the values of one more block */
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

/* Ensures capacity for one more block */
static SysStatus NusBlocksGrow(NusBlocks *B)
{
  const int64_t capacity = B->capacity ? 2 * B->capacity : NUS_BLOCKS_FIRST;
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

/* Counts another chunk with this block of n values */
static void NusBlocksSee(NusBlocks *B, int64_t block, int64_t n)
{
  if (B->seen - B->last[block] > B->near) B->far += n;
  B->last[block] = B->seen;
  B->seen += n;
}

/* Finds the block of the n values after the last block, or appends it */
static SysStatus NusBlocksFind(NusBlocks *B, int64_t n, int64_t *block)
{
  SysStatus status = NusBlocksGrow(B);
  int64_t   slot;

  if (status) return status;
  slot = NusBlockSlot(B, B->val + B->nval, n, block);
  if (*block < 0) {
    if (B->nval + n > B->most) return SYS_TOO_MANY_BYTES;
    *block = B->n++;
    B->nval += n;
    B->begin[*block + 1] = B->nval;
    B->slot[slot]        = *block + 1;
    B->far += n;
    B->last[*block] = B->seen;
  }
  NusBlocksSee(B, *block, n);
  return SYS_SUCCESS;
}

/* A chunk seen before */
typedef struct {
  int       row;
  NusChunk  chunk;
  int64_t   block;
  uint16_t *col; /* its columns */
} Seen;

/* Returns one of n recent chunks with the shifted entries and the values of the C rows from r on, or NULL. The values of these rows must be
   contiguous. */
static const Seen *NusShareRepeat(const NusHost *A, const NusPart *P, NusChunk h, int r, const Seen *recent, int n)
{
  const int C = A->params.c;

  for (int k = 0; k < n; k++) {
    const Seen   *s = recent + k;
    const SysInt *q = P->beg + s->row, length = P->beg[r + C] - P->beg[r];

    if (s->chunk.kind != h.kind || s->chunk.n != h.n || q[C] - q[0] != length) continue;
    if (!memcmp(A->csr.a + q[0], A->csr.a + P->beg[r], sizeof(*A->csr.a) * (size_t)length) && NusRepeats(P, s->row, r, C)) return s;
  }
  return NULL;
}

/* Writes the columns of a chunk that repeats another: diagonals are shifted, other columns count from the chunk's base */
static void NusShareColumns(const Seen *s, int moved, int C, uint16_t *col)
{
  const int n = NusStepUnits(s->chunk.kind, C) * (int)s->chunk.n;

  memcpy(col, s->col, sizeof(*col) * (size_t)n);
  for (int k = 0; k < n && s->chunk.kind == NUS_DIAGONAL; k += 2) {
    uint32_t first;

    memcpy(&first, col + k, sizeof(first));
    first += (uint32_t)moved;
    memcpy(col + k, &first, sizeof(first));
  }
}

SysStatus NusShareTile(const NusHost *A, const NusTile *T, const NusPart *P, SysFill what, NusBlocks *B, uint32_t *share)
{
  const int C      = A->params.c;
  uint16_t *col    = A->col + (what == SYS_FILL_ALL ? T->col : 0);
  SysStatus status = SYS_SUCCESS;
  Seen      recent[NUS_RECENT];
  int       nrecent = 0;

  for (int c = 0; c < T->nfilled && !status; c++) {
    const NusChunk h    = A->chunk[T->chunk + c];
    const int64_t  n    = (int64_t)C * h.n;
    Seen           here = {T->sorted ? 0 : C * A->perm[T->perm + c], h, 0, col};
    const int      may  = !T->sorted && !P->entry && here.row + C <= P->nrow;
    const Seen    *same = may ? NusShareRepeat(A, P, h, here.row, recent, (int)SysMin(nrecent, NUS_RECENT)) : NULL;

    if (same) {
      here.block = same->block;
      NusBlocksSee(B, here.block, n);
      if (what == SYS_FILL_ALL) NusShareColumns(same, (int)(P->col[P->beg[here.row]] - P->col[P->beg[same->row]]), C, col);
    } else {
      status = NusBlocksReserve(B, n);
      if (status) break;
      NusFillChunk(A, T, P, c, what, B->val + B->nval, col);
      status = NusBlocksFind(B, n, &here.block);
      if (status) break;
    }
    if (what == SYS_FILL_ALL) col += (int64_t)NusStepUnits(h.kind, C) * h.n;
    if (may) recent[nrecent++ % NUS_RECENT] = here;
    if (B->begin[here.block] / C > UINT32_MAX) status = SYS_TOO_MANY_BYTES;
    if (share) share[c] = (uint32_t)(B->begin[here.block] / C);
  }
  return status;
}
