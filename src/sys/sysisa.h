/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Instruction sets of the host. A template of kernels is compiled once for each, into tables named ...Plain, ...AVX2 and ...AVX512.
*/
#pragma once

#include "sys/systypes.h"

/* Kernels inline the functions they call, so that these use the same instructions */
#define SYS_INLINE   inline __attribute__((always_inline))
#define SYS_NOINLINE __attribute__((noinline))

#if defined(PETSCAMB_HAVE_AVX2)
  #define SYS_KERNELS_AVX2(kernels) (kernels##AVX2.supported() ? &kernels##AVX2 : &kernels##Plain)
#else
  #define SYS_KERNELS_AVX2(kernels) (&kernels##Plain)
#endif

/* Define NameHostMult() and NameHostMultTranspose() of a format, which call the kernels for this processor. The transposed product sets up its data at
   the first call. */
#define SYS_HOST_MULT(Name) \
  SysStatus Name##HostMult(void *data, const SysCSR *csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream stream) \
  { \
    const Name##Host *A = (const Name##Host *)data; \
\
    (void)csr; \
    (void)stream; \
    (*A->kernels->mult)(A, alpha, x, beta, y, z); \
    return SYS_SUCCESS; \
  }
#define SYS_HOST_MULT_TRANSPOSE(Name) \
  SysStatus Name##HostMultTranspose(void *data, const SysCSR *csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream stream) \
  { \
    Name##Host     *A      = (Name##Host *)data; \
    const SysStatus status = Name##HostPrepareTranspose(A); \
\
    (void)csr; \
    (void)stream; \
    if (!status) (*A->kernels->multtranspose)(A, alpha, x, beta, y, z); \
    return status; \
  }

/* Bytes of a register in a template of kernels, and numbers in it, at most eight: the compiler keeps longer vectors in memory */
#if defined(__AVX512F__)
  #define SYS_REGISTER 64
#elif defined(__AVX2__)
  #define SYS_REGISTER 32
#else
  #define SYS_REGISTER 16
#endif
#if defined(SYS_SINGLE)
  #define SYS_LANES (SYS_REGISTER == 16 ? 4 : 8)
#else
  #define SYS_LANES (SYS_REGISTER / 8)
#endif

/* SYS_ISA is Plain, AVX2 or AVX512, the suffix of all names in a template. The makefile compiles NAME_isa.c once with each; NAME_avx512.c and its like define
   SYS_ISA before their first include. */
#define SYS_ISA_JOIN_(name, isa) name##isa
#define SYS_ISA_JOIN(name, isa)  SYS_ISA_JOIN_(name, isa)
#define SYS_ISA_NAME(name)       SYS_ISA_JOIN(name, SYS_ISA)

/* Names for users, and the processor features that the kernels need */
#define SYS_KERNELS_NAME_Plain  "plain"
#define SYS_KERNELS_NAME_AVX2   "avx2"
#define SYS_KERNELS_NAME_AVX512 "avx512"
#define SYS_KERNELS_NAME        SYS_ISA_NAME(SYS_KERNELS_NAME_)
#define SYS_ISA_IS_Plain        1 /* SYS_ISA_NAME(SYS_ISA_IS_) is 1 in #if for Plain, and 0 for the others */
#if defined(SYS_ISA)
  #if defined(__x86_64__)
    #include <cpuid.h>

static inline int SysSupportedAVX2(void)
{
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static inline int SysSupportedAVX512(void)
{
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
}

/* Returns whether AVX-512's gather instruction is faster than single loads. It is not on AMD's processors. On Intel's before Sapphire Rapids, the
   first with AVX512-FP16, microcode against a data leak (CVE-2022-40982) slows it down. */
static inline int SysFastGather(void)
{
  unsigned int a, b, c, d;

  return SysSupportedAVX512() && __builtin_cpu_is("intel") && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d >> 23 & 1);
}
  #endif

static inline int SysSupportedPlain(void)
{
  return 1;
}
#endif

/* Returns the table of the best instruction set of this processor */
#if defined(PETSCAMB_HAVE_AVX512)
  #define SYS_KERNELS(kernels) (kernels##AVX512.supported() ? &kernels##AVX512 : SYS_KERNELS_AVX2(kernels))
#else
  #define SYS_KERNELS(kernels) SYS_KERNELS_AVX2(kernels)
#endif

/* The same for kernels whose complex variant is plain only */
#if defined(SYS_COMPLEX)
  #define SYS_KERNELS_REAL(kernels) (&kernels##Plain)
#else
  #define SYS_KERNELS_REAL(kernels) SYS_KERNELS(kernels)
#endif
