/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Allocations that fail. The linker puts these functions in the place of those that the library calls (--wrap in the makefile); those of PETSc, MPI and the runtime of
   OpenMP remain. One source file of a program includes this file. Threads allocate too.
*/
#pragma once

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

static atomic_int FaultLeft = 0; /* allocations up to the one that fails */

void *__wrap_malloc(size_t);
void *__real_malloc(size_t);
void *__wrap_calloc(size_t, size_t);
void *__real_calloc(size_t, size_t);
void *__wrap_realloc(void *, size_t);
void *__real_realloc(void *, size_t);
int   __wrap_posix_memalign(void **, size_t, size_t);
int   __real_posix_memalign(void **, size_t, size_t);
void *__wrap_mmap(void *, size_t, int, int, int, off_t);
void *__real_mmap(void *, size_t, int, int, int, off_t);

static inline int FaultNow(void)
{
  return atomic_fetch_sub(&FaultLeft, 1) == 1;
}

void *__wrap_malloc(size_t size)
{
  return FaultNow() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
  return FaultNow() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
  return FaultNow() ? NULL : __real_realloc(p, size);
}

int __wrap_posix_memalign(void **p, size_t align, size_t size)
{
  return FaultNow() ? ENOMEM : __real_posix_memalign(p, align, size);
}

void *__wrap_mmap(void *p, size_t size, int protection, int flags, int fd, off_t offset)
{
  return FaultNow() ? MAP_FAILED : __real_mmap(p, size, protection, flags, fd, offset);
}

/* The failing-th allocation from now on fails, or none if that is FAULT_NONE */
#define FAULT_NONE 100000000
static inline void FaultBegin(int failing)
{
  atomic_store(&FaultLeft, failing);
}

/* No further allocation fails. Returns how many there were. */
static inline int FaultEnd(int failing)
{
  const int left = atomic_exchange(&FaultLeft, 0);

  return failing - left;
}
