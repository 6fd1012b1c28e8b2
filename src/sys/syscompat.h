/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Differences between the versions of PETSc that petsc-amb supports, 3.18 and later
*/
#pragma once

#include <petscmat.h>

#if PETSC_VERSION_LT(3, 18, 0)
  #error petsc-amb needs PETSc 3.18 or later
#endif

/* The number of processes of PetscSFGetRootRanks() and PetscSFGetLeafRanks() */
#if PETSC_VERSION_LT(3, 23, 0)
typedef PetscInt PetscAMBSFCount;
#else
typedef PetscMPIInt      PetscAMBSFCount;
#endif

/* A container's destructor gets its context; from 3.23 on the context's address, declared void * from 3.25 on. The options object is a pointer type
   from 3.23 on. */
#if PETSC_VERSION_LT(3, 23, 0)
typedef void             *PetscAMBCtxArgument;
typedef PetscOptionItems *PetscAMBOptionItems;
  #define PetscAMBCtxGet(arg)               (arg)
  #define PetscContainerSetCtxDestroy(c, f) PetscContainerSetUserDestroy(c, f)
#else
  #if PETSC_VERSION_LT(3, 25, 0)
typedef void           **PetscAMBCtxArgument;
  #else
typedef PetscCtxRt PetscAMBCtxArgument;
  #endif
typedef PetscOptionItems PetscAMBOptionItems;
  #define PetscAMBCtxGet(arg) (*(void **)(arg))
#endif

/* As PETSc's functions of these names, 3.23: composes an object with a context, which destroy() ends with it; gets the context, or NULL */
static inline PetscErrorCode PetscAMBObjectContainerCompose(PetscObject obj, const char name[], void *ctx, PetscErrorCode (*destroy)(PetscAMBCtxArgument))
{
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
  PetscCall(PetscContainerSetPointer(container, ctx));
  PetscCall(PetscContainerSetCtxDestroy(container, destroy));
  PetscCall(PetscObjectCompose(obj, name, (PetscObject)container));
  PetscCall(PetscContainerDestroy(&container));
  PetscFunctionReturn((PetscErrorCode)0);
}

static inline PetscErrorCode PetscAMBObjectContainerQuery(PetscObject obj, const char name[], void **ctx)
{
  PetscContainer container;

  PetscFunctionBegin;
  *ctx = NULL;
  PetscCall(PetscObjectQuery(obj, name, (PetscObject *)&container));
  if (container) PetscCall(PetscContainerGetPointer(container, ctx));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* The destructor of product data gets the data's address from 3.25 on */
#if PETSC_VERSION_LT(3, 25, 0)
typedef void *PetscAMBProductArgument;
  #define PetscAMBProductGet(arg) (arg)
#else
typedef PetscCtxRt       PetscAMBProductArgument;
  #define PetscAMBProductGet(arg) (*(void **)(arg))
#endif

/* garray: global columns of the second block. The new matrix owns it from 3.23 on; before, that block loses its block size. */
#if PETSC_VERSION_LT(3, 23, 0)
static inline PetscErrorCode PetscAMBCreateMPIAIJWithSeqAIJ(MPI_Comm comm, PetscInt M, PetscInt N, Mat A, Mat B, PetscInt *garray, Mat *mat)
{
  PetscInt bs;

  PetscFunctionBegin;
  PetscCall(MatGetBlockSizes(A, &bs, NULL));
  PetscCall(MatCreateMPIAIJWithSeqAIJ(comm, A, B, garray, mat));
  PetscCall(MatMPIAIJGetSeqAIJ(*mat, NULL, &B, NULL));
  PetscCall(MatSetBlockSizes(B, bs, 1));
  PetscCall(PetscFree(garray));
  PetscFunctionReturn((PetscErrorCode)0); /* PETSc 3.18 lacks PETSC_SUCCESS */
}
#else
  #define PetscAMBCreateMPIAIJWithSeqAIJ MatCreateMPIAIJWithSeqAIJ
#endif
