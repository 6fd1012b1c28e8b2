/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#if defined(__GLIBC__)
  #include <malloc.h>
#endif
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sys/sysmemory.h"

#define SYS_MAPPED_PAGES 4 /* huge pages from which on an array is mapped */
#define SYS_LAST_PAGE    3 /* a mapped array ends with a whole huge page if that adds at most 1 / SYS_LAST_PAGE to its size */
#if !defined(MADV_HUGEPAGE)
  #define MADV_HUGEPAGE   MADV_NORMAL /* the system has no huge pages */
  #define MADV_NOHUGEPAGE MADV_NORMAL
#endif

/* Returns the bytes up to the next huge page */
static inline size_t SysMemoryHead(const void *p)
{
  return (SYS_HUGE_PAGE - (uintptr_t)p % SYS_HUGE_PAGE) % SYS_HUGE_PAGE;
}

size_t SysMappedSize(size_t size, int pages)
{
  return size >= (size_t)pages * SYS_HUGE_PAGE ? (size + SYS_HUGE_PAGE - 1) / SYS_HUGE_PAGE * SYS_HUGE_PAGE : 0;
}

void *SysMap(size_t size, int promised)
{
  char  *p = mmap(NULL, size + SYS_HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (promised ? 0 : MAP_NORESERVE), -1, 0);
  size_t head;

  if (p == MAP_FAILED) return NULL;
  head = SysMemoryHead(p);
  if (head) (void)munmap(p, head);
  (void)munmap(p + head + size, SYS_HUGE_PAGE - head);
  (void)madvise(p + head, size, MADV_HUGEPAGE);
  return p + head;
}

void SysUnmap(void *p, size_t size)
{
  (void)munmap(p, size);
}

void SysForget(void *p, size_t size)
{
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), head = (page - (uintptr_t)p % page) % page;

  if (size >= head + page) (void)madvise((char *)p + head, (size - head) / page * page, MADV_DONTNEED);
}

int SysMovePages(void *to, void *from, size_t size)
{
#if defined(MREMAP_DONTUNMAP)
  if (mremap(from, size, size, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, to) != MAP_FAILED) return 1;
  if (errno == EINVAL) return 0;                                                                                /* the system knows no such call, and *to is as before */
  (void)mmap(to, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0); /* a failed call may have unmapped it */
  (void)madvise(to, size, MADV_HUGEPAGE);
  return 0;
#else
  (void)to;
  (void)from;
  (void)size;
  return 0;
#endif
}

void SysTrim(size_t least)
{
#if defined(__GLIBC__)
  #if __GLIBC_PREREQ(2, 33)
  if (mallinfo2().fordblks >= least) (void)malloc_trim(0);
  #endif
#endif
  (void)least;
}

void SysAdvise(void *p, size_t size)
{
  if (size >= SYS_MAPPED_PAGES * SYS_HUGE_PAGE) (void)madvise((char *)p + SysMemoryHead(p), (size - SysMemoryHead(p)) / SYS_HUGE_PAGE * SYS_HUGE_PAGE, MADV_HUGEPAGE);
}

void *SysAllocate(size_t size)
{
  const size_t mapped = SysMappedSize(size, SYS_MAPPED_PAGES);
  size_t       whole  = SysMappedSize(size, 0);
  void        *p;

  if (mapped) return SysMap(mapped, 1);
  if (SYS_LAST_PAGE * whole > (SYS_LAST_PAGE + 1) * size) whole = size / SYS_HUGE_PAGE * SYS_HUGE_PAGE;
  if (posix_memalign(&p, whole ? SYS_HUGE_PAGE : 64, whole > size + 64 ? whole : size + 64)) return NULL;
  if (whole) (void)madvise(p, whole, MADV_HUGEPAGE);
  return p;
}

void *SysAllocateBrief(size_t size)
{
  return SysMappedSize(size, SYS_MAPPED_PAGES) ? SysAllocate(size) : malloc(size ? size : 1);
}

void *SysAllocateZero(size_t size)
{
  void *p = SysAllocate(size);

  if (p && !SysMappedSize(size, SYS_MAPPED_PAGES)) memset(p, 0, size);
  return p;
}

void SysRelease(void *p, size_t size)
{
  const size_t mapped = SysMappedSize(size, SYS_MAPPED_PAGES);

  if (p && mapped) SysUnmap(p, mapped);
  else free(p);
}

void SysReleasePages(void *p, size_t size)
{
  if (p && SysMappedSize(size, SYS_MAPPED_PAGES)) SysForget(p, SysMappedSize(size, SYS_MAPPED_PAGES));
}
