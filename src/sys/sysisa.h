/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Instruction sets of the host. A template of kernels is compiled once for each of them, into tables whose names end with Plain, AVX2 and AVX512.
*/
#pragma once

#include "sys/systypes.h"

/* Functions that a kernel calls must be inlined, to be compiled for the same instructions */
#define SYS_INLINE inline __attribute__((always_inline))

#if defined(PETSCAMB_HAVE_AVX2)
  #define SYS_KERNELS_AVX2(kernels) (kernels##AVX2.supported() ? &kernels##AVX2 : &kernels##Plain)
#else
  #define SYS_KERNELS_AVX2(kernels) (&kernels##Plain)
#endif

/* The table for the best instruction set that this processor supports */
#if defined(PETSCAMB_HAVE_AVX512)
  #define SYS_KERNELS(kernels) (kernels##AVX512.supported() ? &kernels##AVX512 : SYS_KERNELS_AVX2(kernels))
#else
  #define SYS_KERNELS(kernels) SYS_KERNELS_AVX2(kernels)
#endif

/* The same for kernels that have only the plain variant with complex numbers */
#if defined(SYS_COMPLEX)
  #define SYS_KERNELS_REAL(kernels) (&kernels##Plain)
#else
  #define SYS_KERNELS_REAL(kernels) SYS_KERNELS(kernels)
#endif
