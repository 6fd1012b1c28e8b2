/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The number types of all kernels, from PETSc's configuration unless SYS_TYPES_GIVEN builds the kernels alone
*/
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Around the functions of a header that C and CUDA sources share */
#if defined(__cplusplus)
  #define SYS_C_BEGIN extern "C" {
  #define SYS_C_END   }
#else
  #define SYS_C_BEGIN
  #define SYS_C_END
#endif

#if !defined(SYS_TYPES_GIVEN)
  #include <petscconf.h>
  #if defined(PETSC_USE_REAL_SINGLE)
    #define SYS_SINGLE
  #endif
  #if defined(PETSC_USE_COMPLEX)
    #define SYS_COMPLEX
  #endif
  #if defined(PETSC_USE_64BIT_INDICES)
    #define SYS_INT64
  #endif
  #if defined(PETSC_HAVE_CUDA) && !defined(PETSC_USE_COMPLEX) && !defined(PETSC_USE_64BIT_INDICES)
    #define SYS_HAVE_DEVICE /* the device kernels support these types */
  #endif
#endif

#if defined(SYS_SINGLE)
typedef float SysReal;
#else
typedef double  SysReal;
#endif

#if defined(SYS_COMPLEX)
  #include <complex.h>
  #if defined(SYS_SINGLE)
typedef float _Complex SysScalar;
  #else
typedef double _Complex SysScalar;
  #endif
#else
typedef SysReal SysScalar;
#endif

#if defined(SYS_INT64)
typedef int64_t SysInt;
#else
typedef int32_t SysInt;
#endif
