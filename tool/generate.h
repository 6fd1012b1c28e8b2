/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Test matrices by name, such as p7:101 or rmat:16,8. A matrix depends on its name alone, never on the number of processes, and every
   process makes its own rows.
*/
#pragma once

#include <petscmat.h>

/* Lets one binary use the widest vectors of the processor it runs on */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__gnu_linux__)
  #define WIDEST_VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
  #define WIDEST_VECTORS
#endif

PETSC_INTERN PetscErrorCode GeneratorMatches(const char[], PetscBool *);
PETSC_INTERN PetscErrorCode GeneratorCreateMat(MPI_Comm, const char[], Mat *);
PETSC_INTERN PetscErrorCode GeneratorHelp(MPI_Comm);
PETSC_INTERN PetscErrorCode GeneratorThreads(MPI_Comm, int *);

/* The k-th number of the random stream of all generators: the finalizer of splitmix64 */
static inline PetscInt64 GeneratorHash(PetscInt64 k)
{
  unsigned long long z = (unsigned long long)k * 0x9E3779B97F4A7C15ULL + 0x9E3779B97F4A7C15ULL;

  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return (PetscInt64)((z ^ (z >> 31)) >> 1);
}

/* Uniform in (0,1], of 53 bits */
static inline PetscReal GeneratorReal(PetscInt64 bits)
{
  return (PetscReal)(((double)bits + 1.0) / 9007199254740992.0);
}

static inline PetscReal GeneratorUniform(PetscInt64 k)
{
  return GeneratorReal(GeneratorHash(k) >> 10);
}
