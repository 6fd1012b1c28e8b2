/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Large arrays of the host's kernels. They are mapped, on huge pages: malloc() may reuse memory on small pages. These functions do not touch the memory,
   so that it is near the thread that fills the array.
*/
#pragma once

#include <stddef.h>

#define SYS_HUGE_PAGE ((size_t)2 << 20)

/* The bytes that are mapped for size bytes, or 0 if size is less than so many huge pages */
size_t SysMappedSize(size_t size, int pages);

/* Maps size bytes, a result of SysMappedSize(); they read as zero. promised: the system, if it can, sets memory aside for all of them now, not when they are written. */
void *SysMap(size_t size, int promised);
void  SysUnmap(void *, size_t size);

/* Gives back the whole pages among size bytes of memory of SysMap(); they read as zero then. */
void SysForget(void *, size_t size);

/* Asks for huge pages for memory that others allocated and did not write to yet: page faults take most of the time of writing a large result */
void SysAdvise(void *, size_t size);

/* Allocate memory aligned to cache lines, on huge pages where it fills them, and mapped if it has four huge pages or more. The memory of SysAllocateZero() reads as zero. */
void *SysAllocate(size_t size);
void *SysAllocateZero(size_t size);
void  SysRelease(void *, size_t size);
