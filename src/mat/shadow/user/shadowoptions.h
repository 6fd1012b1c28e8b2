/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Options of a whole program. The library reads them when PETSc loads it, and again whenever an object is created that they concern: many programs set options after
   PetscInitialize(). A value that was found once holds until another one is set, whatever PetscOptionsClear() removes.
*/
#pragma once

#include <petscamb.h>

/* Called after the option was sought for a new object that it concerns */
extern PetscErrorCode MatShadowOptionSought(const char name[]);

/* Remembers which options of petsc-amb code has used so far, because PetscOptionsClear() makes PETSc forget that */
extern PetscErrorCode MatShadowOptionsRemember(void);

extern PetscErrorCode MatShadowOptionsRegister(void);

/* Called on the first process at the end: prints misspelt options, options that were set too late and, in the table of -petscamb_view, options that were not used.
   made: the process has had a matrix of petsc-amb; others: the matrices of types that petsc-amb does not convert, or an empty text */
extern PetscErrorCode MatShadowOptionsReport(PetscBool table, PetscBool made, const char others[]);
