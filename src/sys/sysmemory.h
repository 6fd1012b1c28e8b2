/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Large arrays of the host's kernels, mapped on huge pages: malloc() may reuse memory on small pages. These functions do not touch the memory, so it
   is near the thread that fills it (first touch).
*/
#pragma once

#include <stddef.h>

#define SYS_HUGE_PAGE ((size_t)2 << 20)

/* Returns the bytes to map for size bytes, or 0 if size is less than `pages` huge pages */
size_t SysMappedSize(size_t size, int pages);

/* Maps size bytes, a result of SysMappedSize(), that read as zero. promised: reserves memory for all of them now if the system can, not at the first
   write. */
void *SysMap(size_t size, int promised);
void  SysUnmap(void *, size_t size);

/* Releases the whole pages among size bytes of memory of SysMap(); they then read as zero */
void SysForget(void *, size_t size);

/* Moves the whole pages of size bytes within memory of SysMap(); all arguments are multiples of SYS_HUGE_PAGE. *from then reads as zero. Returns 0 if the
   system cannot; *to then holds no data. */
int SysMovePages(void *to, void *from, size_t size);

/* Returns malloc()'s free memory to the system if it has at least `least` bytes; for moments before a large allocation that does not come from malloc() */
void SysTrim(size_t least);

/* Requests huge pages for memory that other code allocated and did not write yet: page faults dominate the first write of a large result */
void SysAdvise(void *, size_t size);

/* Allocate memory aligned to cache lines, on huge pages where it fills them, mapped from SYS_MAPPED_PAGES huge pages on. SysAllocateZero()'s memory
   reads as zero. */
void *SysAllocate(size_t size);
void *SysAllocateZero(size_t size);

/* As SysAllocate(), but malloc()'s memory if that would not be mapped: for short-lived arrays, since the pages of earlier ones need no clearing */
void *SysAllocateBrief(size_t size);

void SysRelease(void *, size_t size);

/* Returns the pages of an array of SysAllocate() to the system, if it is mapped: it then reads as zero */
void SysReleasePages(void *, size_t size);
