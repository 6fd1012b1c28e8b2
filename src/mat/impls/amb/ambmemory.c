/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ambmemory.h"

#define LARGE 4 /* huge pages */

/* Bytes to the next huge page */
static inline size_t Head(const void *p)
{
  return (AMB_HUGE_PAGE - (uintptr_t)p % AMB_HUGE_PAGE) % AMB_HUGE_PAGE;
}

#if defined(MADV_HUGEPAGE) && defined(MAP_ANONYMOUS)
size_t AmbMappedSize(size_t size, int pages)
{
  return size >= (size_t)pages * AMB_HUGE_PAGE ? (size + AMB_HUGE_PAGE - 1) / AMB_HUGE_PAGE * AMB_HUGE_PAGE : 0;
}

void *AmbMap(size_t size, int promised)
{
  char  *p = mmap(NULL, size + AMB_HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (promised ? 0 : MAP_NORESERVE), -1, 0);
  size_t head;

  if (p == MAP_FAILED) return NULL;
  head = Head(p);
  if (head) (void)munmap(p, head);
  (void)munmap(p + head + size, AMB_HUGE_PAGE - head);
  (void)madvise(p + head, size, MADV_HUGEPAGE);
  return p + head;
}

void AmbUnmap(void *p, size_t size)
{
  (void)munmap(p, size);
}

void AmbAdvise(void *p, size_t size)
{
  if (size >= LARGE * AMB_HUGE_PAGE) (void)madvise((char *)p + Head(p), (size - Head(p)) / AMB_HUGE_PAGE * AMB_HUGE_PAGE, MADV_HUGEPAGE);
}
#else
size_t AmbMappedSize(size_t size, int pages)
{
  (void)size;
  (void)pages;
  return 0;
}

void *AmbMap(size_t size, int promised)
{
  (void)size;
  (void)promised;
  return NULL;
}

void AmbUnmap(void *p, size_t size)
{
  (void)p;
  (void)size;
}

void AmbAdvise(void *p, size_t size)
{
  (void)p;
  (void)size;
}
#endif

void *AmbAllocate(size_t size)
{
  const size_t mapped = AmbMappedSize(size, LARGE);
  void        *p;

  if (mapped) return AmbMap(mapped, 1);
  return posix_memalign(&p, 64, size + 64) ? NULL : p;
}

void *AmbAllocateZero(size_t size)
{
  void *p = AmbAllocate(size);

  if (p && !AmbMappedSize(size, LARGE)) memset(p, 0, size);
  return p;
}

void AmbRelease(void *p, size_t size)
{
  const size_t mapped = AmbMappedSize(size, LARGE);

  if (p && mapped) AmbUnmap(p, mapped);
  else free(p);
}
