/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The kernels of BAIJ, compiled once for each instruction set SYS_ISA (sys/sysisa.h); the plain table is in baijhost.c
*/
#include "sys/sysisa.h"

#if defined(SYS_COMPLEX) || SYS_ISA_NAME(SYS_ISA_IS_)
typedef int SYS_ISA_NAME(BAIJKernelsAbsent);
#else
  #include "mat/baij/host/baijregisters.h"
  #include "sys/systhreads.h"

/* Prefetches the values that a later block needs in place of block a. PETSc's loops hint that no cache keeps the values: they then come from memory at each product, also if a
   cache could hold them. */
static SYS_INLINE void BAIJPrefetch(const int bs, const int resident, const SysScalar *a)
{
  for (size_t k = 0; k < bs * bs * sizeof(*a); k += 64) {
    if (resident) _mm_prefetch((const char *)a + BAIJ_AHEAD + k, _MM_HINT_T1);
    else _mm_prefetch((const char *)a + BAIJ_STREAM + k, _MM_HINT_NTA);
  }
}

  /* Columns of up to 4 numbers */
  #define BAIJ(name) name##4
  #define BAIJ_SHORT 1
  #include "mat/baij/host/baijkernels.h"
  #undef BAIJ
  #undef BAIJ_SHORT

  /* and of up to 8 */
  #define BAIJ(name) name##8
  #define BAIJ_SHORT 0
  #include "mat/baij/host/baijkernels.h"

  /* Calls a kernel with the block size, and where the values are, as constants */
  #define BAIJ_CASE(bs, kernel, ...) \
  case bs: \
    if (resident) kernel(bs, 1, __VA_ARGS__); \
    else kernel(bs, 0, __VA_ARGS__); \
    break;
  #define BAIJ_SIZES(kernel, A, entries, ...) \
    const int resident = sizeof(SysScalar) * (size_t)(entries) <= BAIJ_RESIDENT; \
\
    switch ((A)->bs) { \
      BAIJ_CASE(2, kernel##4, A, __VA_ARGS__) \
      BAIJ_CASE(3, kernel##4, A, __VA_ARGS__) \
      BAIJ_CASE(4, kernel##4, A, __VA_ARGS__) \
      BAIJ_CASE(5, kernel##8, A, __VA_ARGS__) \
      BAIJ_CASE(6, kernel##8, A, __VA_ARGS__) \
      BAIJ_CASE(7, kernel##8, A, __VA_ARGS__) \
      BAIJ_CASE(8, kernel##8, A, __VA_ARGS__) \
    }

static SYS_NOINLINE void BAIJRowsOf(const BAIJHost *A, int64_t from, int64_t to, const SysScalar *x, const SysScalar *y, SysScalar *z)
{
  BAIJ_SIZES(BAIJRows, A, A->i[A->m] * A->bs * A->bs, from, to, x, y, z)
}

static SYS_NOINLINE void BAIJNodesOf(const BAIJHost *A, int64_t from, int64_t to, const SysScalar *x, const SysScalar *y, SysScalar *z)
{
  BAIJ_SIZES(BAIJNodes, A, A->i[A->m * A->bs], from, to, x, y, z)
}

/* Returns the first block row, of `rows` rows, of a part of parts with equally many entries */
static int64_t BAIJPart(const BAIJHost *A, int rows, int part, int parts)
{
  const SysInt target = (SysInt)((double)A->i[A->m * rows] * part / parts);
  int64_t      low = 0, high = A->m;

  while (low < high) {
    const int64_t middle = low + (high - low) / 2;

    if (A->i[middle * rows] < target) low = middle + 1;
    else high = middle;
  }
  return part == 0 ? 0 : part < parts ? low : A->m;
}

static void BAIJMult(const BAIJHost *A, int threads, const SysScalar *x, const SysScalar *y, SysScalar *z)
{
  #pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
  for (int t = 0; t < threads; t++) BAIJRowsOf(A, BAIJPart(A, 1, t, threads), BAIJPart(A, 1, t + 1, threads), x, y, z);
}

static void BAIJMultNodes(const BAIJHost *A, int threads, const SysScalar *x, const SysScalar *y, SysScalar *z)
{
  #pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
  for (int t = 0; t < threads; t++) BAIJNodesOf(A, BAIJPart(A, A->bs, t, threads), BAIJPart(A, A->bs, t + 1, threads), x, y, z);
}

static void BAIJMultTranspose(const BAIJHost *A, const SysScalar *x, SysScalar *z)
{
  BAIJ_SIZES(BAIJTranspose, A, A->i[A->m] * A->bs * A->bs, x, z)
}

static void BAIJMultSymmetric(const BAIJHost *A, const SysScalar *x, SysScalar *z)
{
  BAIJ_SIZES(BAIJSymmetric, A, A->i[A->m] * A->bs * A->bs, x, z)
}

const BAIJKernels SYS_ISA_NAME(BAIJKernels) = {SYS_KERNELS_NAME, SYS_ISA_NAME(SysSupported), BAIJMult, BAIJMultNodes, BAIJMultTranspose, BAIJMultSymmetric};
#endif
