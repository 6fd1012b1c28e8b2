/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Large arrays of the host's kernels. What is large is mapped, on huge pages: malloc() may give out again what it has on small ones. Nothing is
   touched here, so that the thread that fills an array places it.
*/
#pragma once

#include <stddef.h>

#define AMB_HUGE_PAGE ((size_t)2 << 20)

/* What is mapped for size bytes, or 0 if these are fewer than so many huge pages, or cannot be mapped here */
size_t AmbMappedSize(size_t size, int pages);

/* size: as AmbMappedSize() says. promised: memory is set aside for all of it, where the system does that, not as it is written to. Reads as zero. */
void *AmbMap(size_t size, int promised);
void  AmbUnmap(void *, size_t size);

/* Asks for huge pages for memory of others that nothing was written to yet: most of the time to write a large result is the time of its page faults */
void AmbAdvise(void *, size_t size);

/* Aligned to cache lines; mapped from four huge pages on. The second reads as zero. */
void *AmbAllocate(size_t size);
void *AmbAllocateZero(size_t size);
void  AmbRelease(void *, size_t size);
