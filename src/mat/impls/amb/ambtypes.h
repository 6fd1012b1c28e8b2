/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The number types of the AMB kernels. They follow PETSc's configuration unless the kernels are built on their own, with AMB_TYPES_GIVEN.
*/
#pragma once

#include <stddef.h>
#include <stdint.h>

#if !defined(AMB_TYPES_GIVEN)
  #include <petscconf.h>
  #if defined(PETSC_USE_REAL_SINGLE)
    #define AMB_SINGLE
  #endif
  #if defined(PETSC_USE_COMPLEX)
    #define AMB_COMPLEX
  #endif
  #if defined(PETSC_USE_64BIT_INDICES)
    #define AMB_INT64
  #endif
#endif

#if defined(AMB_SINGLE)
typedef float AmbReal;
#else
typedef double  AmbReal;
#endif

#if defined(AMB_COMPLEX)
  #include <complex.h>
  #if defined(AMB_SINGLE)
typedef float _Complex AmbScalar;
  #else
typedef double _Complex AmbScalar;
  #endif
#else
typedef AmbReal AmbScalar;
#endif

#if defined(AMB_INT64)
typedef int64_t AmbInt;
#else
typedef int32_t AmbInt;
#endif
