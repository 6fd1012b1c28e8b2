/*
   What differs between the PETSc versions this compiles against, 3.18 and later
*/
#pragma once

#include <petscsys.h>

#if PETSC_VERSION_LT(3, 18, 0)
  #error petsc-amb needs PETSc 3.18 or later
#endif

#if PETSC_VERSION_LT(3, 19, 0)
  #define PETSC_SUCCESS 0
#endif

/* A container's destructor gets its context, from 3.23 on the address of it; the options object became a pointer type in the same version */
#if PETSC_VERSION_LT(3, 23, 0)
typedef void             *AmbCtxArgument;
typedef PetscOptionItems *AmbOptionItems;
  #define AmbCtxGet(arg)                    (arg)
  #define PetscContainerSetCtxDestroy(c, f) PetscContainerSetUserDestroy(c, f)
#else
typedef void           **AmbCtxArgument;
typedef PetscOptionItems AmbOptionItems;
  #define AmbCtxGet(arg) (*(arg))
#endif
