/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Large arrays of the host's kernels. What is large is mapped, on huge pages: malloc() may give out again what it has on small ones. Nothing is
   touched here, so that the thread that fills an array places it.
*/
#pragma once

#include <stddef.h>

#define SYS_HUGE_PAGE ((size_t)2 << 20)

/* What is mapped for size bytes, or 0 if these are fewer than so many huge pages, or cannot be mapped here */
size_t SysMappedSize(size_t size, int pages);

/* size: as SysMappedSize() says. promised: memory is set aside for all of it, where the system does that, not as it is written to. Reads as zero. */
void *SysMap(size_t size, int promised);
void  SysUnmap(void *, size_t size);

/* Asks for huge pages for memory of others that nothing was written to yet: most of the time to write a large result is the time of its page faults */
void SysAdvise(void *, size_t size);

/* Aligned to cache lines; mapped from four huge pages on. The second reads as zero. */
void *SysAllocate(size_t size);
void *SysAllocateZero(size_t size);
void  SysRelease(void *, size_t size);
