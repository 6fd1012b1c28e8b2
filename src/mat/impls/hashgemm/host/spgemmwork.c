/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Memory of SpGEMM: a thread's tables, which grow with its rows, and the sort of hashed rows
*/
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "sys/sysmemory.h"
#include "mat/impls/hashgemm/host/spgemmimpl.h"

void *SpgemmAllocate(size_t size)
{
  const size_t mapped = SysMappedSize(size, SPGEMM_MAPPED_PAGES);
  void        *p;

  if (mapped) return SysMap(mapped, 0);
  if (posix_memalign(&p, 64, size + 64)) return NULL;
  return memset(p, 0, size);
}

void SpgemmRelease(void *p, size_t size)
{
  const size_t mapped = SysMappedSize(size, SPGEMM_MAPPED_PAGES);

  if (p && mapped) SysUnmap(p, mapped);
  else free(p);
}

size_t SpgemmShrink(void *p, size_t size, size_t first)
{
  const size_t mapped = SysMappedSize(size, SPGEMM_MAPPED_PAGES), rest = (first / SYS_HUGE_PAGE + 1) * SYS_HUGE_PAGE;

  if (!mapped || rest >= mapped) return size;
  SysUnmap((char *)p + rest, mapped - rest);
  return rest;
}

void SpgemmForget(void *p, size_t size, size_t n)
{
  if (SysMappedSize(size, SPGEMM_MAPPED_PAGES)) SysForget(p, n);
}

/* Frees an array that a larger one will replace */
static void SpgemmWorkDrop(SpgemmWork *w, void *p, size_t size)
{
  void **array = p;

  SpgemmRelease(*array, size);
  if (*array) w->bytes -= (double)size;
  *array = NULL;
}

/* Arrays of one length are all freed before the first is allocated anew, so that none keeps another length after a failure */
static SysStatus SpgemmWorkMake(SpgemmWork *w, void *p, size_t size)
{
  void **array = p;

  *array = SpgemmAllocate(size);
  if (*array) w->bytes += (double)size;
  return *array ? SYS_SUCCESS : SYS_OUT_OF_MEMORY;
}

/* Replaces *p by a larger array, without its contents */
static SysStatus SpgemmWorkRenew(SpgemmWork *w, void *p, size_t old, size_t size)
{
  SpgemmWorkDrop(w, p, old);
  return SpgemmWorkMake(w, p, size);
}

/* Kernels read and clear 64 flags at a time, and list a block's words at a time */
static size_t SpgemmWorkFlagSize(int64_t window)
{
  return window / SPGEMM_BLOCK + 64;
}

static size_t SpgemmWorkListSize(int64_t window)
{
  return window / 64 + SPGEMM_BLOCK / 64;
}

SysStatus SpgemmWorkWindow(SpgemmWork *w, int64_t columns, int rows)
{
  if (columns > w->window) {
    const int64_t old = w->window;

    SpgemmWorkDrop(w, &w->sum, sizeof(*w->sum) * old * w->lanes);
    SpgemmWorkDrop(w, &w->mask, old / 8);
    SpgemmWorkDrop(w, &w->flag, SpgemmWorkFlagSize(old));
    SpgemmWorkDrop(w, &w->byte, old);
    SpgemmWorkDrop(w, &w->bits, sizeof(*w->bits) * SpgemmWorkListSize(old));
    SpgemmWorkDrop(w, &w->cols, sizeof(*w->cols) * SpgemmWorkListSize(old));
    if (!w->window) w->window = 4096;
    while (w->window < columns) w->window *= 2;
    if (SpgemmWorkMake(w, &w->mask, w->window / 8)) return SYS_OUT_OF_MEMORY;
    if (SpgemmWorkMake(w, &w->flag, SpgemmWorkFlagSize(w->window))) return SYS_OUT_OF_MEMORY;
    if (SpgemmWorkMake(w, &w->byte, w->window)) return SYS_OUT_OF_MEMORY;
    if (SpgemmWorkMake(w, &w->bits, sizeof(*w->bits) * SpgemmWorkListSize(w->window))) return SYS_OUT_OF_MEMORY;
    if (SpgemmWorkMake(w, &w->cols, sizeof(*w->cols) * SpgemmWorkListSize(w->window))) return SYS_OUT_OF_MEMORY;
  }
  if (rows > w->lanes) {
    SpgemmWorkDrop(w, &w->sum, sizeof(*w->sum) * w->window * w->lanes);
    if (!w->lanes) w->lanes = 1;
    while (w->lanes < rows) w->lanes *= 2;
  }
  return rows && !w->sum ? SpgemmWorkMake(w, &w->sum, sizeof(*w->sum) * w->window * w->lanes) : SYS_SUCCESS;
}

SysStatus SpgemmWorkHash(SpgemmWork *w, int64_t slots, int64_t n, int values)
{
  if (slots > (int64_t)w->capacity) {
    const int64_t old = (int64_t)w->capacity;

    SpgemmWorkDrop(w, &w->val, sizeof(*w->val) * old);
    SpgemmWorkDrop(w, &w->position, sizeof(*w->position) * old);
    w->capacity = slots;
    if (SpgemmWorkRenew(w, &w->key, sizeof(*w->key) * old, sizeof(*w->key) * slots)) return SYS_OUT_OF_MEMORY;
    memset(w->key, 0xff, sizeof(*w->key) * slots);
  }
  if (n > w->nslot) {
    const int64_t old = w->nslot;

    SpgemmWorkDrop(w, &w->slot, sizeof(*w->slot) * old);
    SpgemmWorkDrop(w, &w->sorted, sizeof(*w->sorted) * old);
    w->nslot = 2 * n;
    if (SpgemmWorkMake(w, &w->slot, sizeof(*w->slot) * w->nslot)) return SYS_OUT_OF_MEMORY;
    if (SpgemmWorkMake(w, &w->sorted, sizeof(*w->sorted) * w->nslot)) return SYS_OUT_OF_MEMORY;
  }
  if (values == SPGEMM_VALUES && !w->val) return SpgemmWorkMake(w, &w->val, sizeof(*w->val) * w->capacity);
  if (values == SPGEMM_PLACES && !w->position) return SpgemmWorkMake(w, &w->position, sizeof(*w->position) * w->capacity);
  return SYS_SUCCESS;
}

SysStatus SpgemmWorkHeap(SpgemmWork *w, int64_t n)
{
  const int64_t old = w->nheap;

  if (n <= old) return SYS_SUCCESS;
  w->nheap = 2 * n;
  return SpgemmWorkRenew(w, &w->heap, sizeof(*w->heap) * old, sizeof(*w->heap) * w->nheap);
}

SysStatus SpgemmWorkStamps(SpgemmWork *w, int64_t columns)
{
  const int64_t old = w->nstamp;

  if (columns <= old) return SYS_SUCCESS;
  w->nstamp = columns;
  return SpgemmWorkRenew(w, &w->stamp, sizeof(*w->stamp) * old, sizeof(*w->stamp) * columns);
}

static const size_t spgemm_turned_size = sizeof(SysScalar) * SPGEMM_LANES * (SPGEMM_LINES + SPGEMM_LANES + SPGEMM_LINE * SPGEMM_LINES);

SysStatus SpgemmWorkRun(SpgemmWork *w, int64_t products, int64_t n)
{
  const int64_t rows = 2 * n + 4 * SPGEMM_LANES; /* the sums, and their transposed form */

  if (w->window > w->nrank) {
    const int64_t old = w->nrank;

    w->nrank = w->window;
    if (SpgemmWorkRenew(w, &w->rank, sizeof(*w->rank) * old, sizeof(*w->rank) * w->nrank)) return SYS_OUT_OF_MEMORY;
  }
  if (products > w->nlist) {
    const int64_t old = w->nlist;

    w->nlist = 2 * products;
    if (SpgemmWorkRenew(w, &w->list, sizeof(*w->list) * old, sizeof(*w->list) * w->nlist)) return SYS_OUT_OF_MEMORY;
    if (!w->factor && SpgemmWorkMake(w, &w->factor, spgemm_turned_size)) return SYS_OUT_OF_MEMORY;
    w->turned = w->factor + SPGEMM_LINES + SPGEMM_LANES;
  }
  if (rows > w->nrun) {
    const int64_t old = w->nrun;

    w->nrun = 2 * rows;
    if (SpgemmWorkRenew(w, &w->run, sizeof(*w->run) * old, sizeof(*w->run) * w->nrun)) return SYS_OUT_OF_MEMORY;
  }
  return SYS_SUCCESS;
}

/* Ensures columns and values of n entries, without contents */
static SysStatus SpgemmWorkEntries(SpgemmWork *w, int64_t n, int64_t *room, SysInt **j, SysScalar **a)
{
  const int64_t old = *room;

  if (n <= old) return SYS_SUCCESS;
  SpgemmWorkDrop(w, j, sizeof(**j) * old);
  SpgemmWorkDrop(w, a, sizeof(**a) * old);
  *room = 2 * n;
  if (SpgemmWorkMake(w, j, sizeof(**j) * *room)) return SYS_OUT_OF_MEMORY;
  return SpgemmWorkMake(w, a, sizeof(**a) * *room);
}

SysStatus SpgemmWorkRow(SpgemmWork *w, int64_t n)
{
  return SpgemmWorkEntries(w, n, &w->nrow, &w->rowj, &w->rowa);
}

SysStatus SpgemmWorkPart(SpgemmWork *w, int64_t n)
{
  return SpgemmWorkEntries(w, n, &w->npart, &w->partj, &w->parta);
}

void SpgemmWorkDestroy(SpgemmWork *w)
{
  SpgemmRelease(w->mask, w->window / 8);
  SpgemmRelease(w->flag, SpgemmWorkFlagSize(w->window));
  SpgemmRelease(w->byte, w->window);
  SpgemmRelease(w->bits, sizeof(*w->bits) * SpgemmWorkListSize(w->window));
  SpgemmRelease(w->cols, sizeof(*w->cols) * SpgemmWorkListSize(w->window));
  SpgemmRelease(w->sum, sizeof(*w->sum) * w->window * w->lanes);
  SpgemmRelease(w->key, sizeof(*w->key) * w->capacity);
  SpgemmRelease(w->val, sizeof(*w->val) * w->capacity);
  SpgemmRelease(w->position, sizeof(*w->position) * w->capacity);
  SpgemmRelease(w->slot, sizeof(*w->slot) * w->nslot);
  SpgemmRelease(w->sorted, sizeof(*w->sorted) * w->nslot);
  SpgemmRelease(w->heap, sizeof(*w->heap) * w->nheap);
  SpgemmRelease(w->stamp, sizeof(*w->stamp) * w->nstamp);
  SpgemmRelease(w->rank, sizeof(*w->rank) * w->nrank);
  SpgemmRelease(w->list, sizeof(*w->list) * w->nlist);
  SpgemmRelease(w->factor, spgemm_turned_size);
  SpgemmRelease(w->run, sizeof(*w->run) * w->nrun);
  SpgemmRelease(w->rowj, sizeof(*w->rowj) * w->nrow);
  SpgemmRelease(w->rowa, sizeof(*w->rowa) * w->nrow);
  SpgemmRelease(w->partj, sizeof(*w->partj) * w->npart);
  SpgemmRelease(w->parta, sizeof(*w->parta) * w->npart);
}

/* Sorts by insertion if short, else digit by digit; returns the sorted array, x or work */
uint64_t *SpgemmSort(uint64_t *x, uint64_t *work, int64_t n, int low, int bits)
{
  if (n <= 32) {
    for (int64_t q = 1; q < n; q++) {
      const uint64_t y = x[q];
      int64_t        k = q;

      for (; k > 0 && x[k - 1] > y; k--) x[k] = x[k - 1];
      x[k] = y;
    }
    return x;
  }
  for (int done = 0; done < bits; done += 8) {
    uint32_t  count[256] = {0};
    int64_t   begin[256], sum = 0;
    uint64_t *t = work;

    for (int64_t q = 0; q < n; q++) count[x[q] >> (low + done) & 255]++;
    for (int d = 0; d < 256; d++) {
      begin[d] = sum;
      sum += count[d];
    }
    for (int64_t q = 0; q < n; q++) work[begin[x[q] >> (low + done) & 255]++] = x[q];
    work = x;
    x    = t;
  }
  return x;
}
