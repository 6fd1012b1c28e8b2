/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Options of a whole program. The library reads them when PETSc loads it, and again whenever an object that they concern is created, because many
   programs set options after PetscInitialize(). A value stays until another one is set, whatever PetscOptionsClear() removes.
*/
#pragma once

#include <petscamb.h>

/* Call after looking up the option for a new object that it concerns */
extern PetscErrorCode MatShadowOptionSought(const char name[]);

/* Remembers the options of petsc-amb that code has used so far, because PetscOptionsClear() resets PETSc's record */
extern PetscErrorCode MatShadowOptionsRemember(void);

extern PetscErrorCode MatShadowOptionsRegister(void);

/* Called on the first process at the end: prints misspelt options, options set too late and, in the table of -petscamb_view, unused options. made:
   the process had a matrix of petsc-amb; others: the list of matrices of types that petsc-amb does not convert, or "". */
extern PetscErrorCode MatShadowOptionsReport(PetscBool table, PetscBool made, const char others[]);
