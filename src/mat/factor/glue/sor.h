/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MatSOR() of the sequential matrices of petsc-amb: in the natural order of rows on the host, and by color on the host or a GPU
*/
#pragma once

#include "mat/shadow/core/shadow.h"
#include "mat/factor/cuda/sorcuda.h"

/* Replaces MatSOR() of a sequential matrix of petsc-amb, where it was PETSc's */
extern PetscErrorCode MatSORAMBInstall(Mat A);

/* While natural is PETSC_TRUE, rows of a matrix with the sweeps of petsc-amb have PETSc's order */
extern PetscErrorCode MatSORAMBSetNatural(Mat A, PetscBool natural);

/* Gets the colors of the last sweep of a matrix, 0 if its rows had the natural order, and whether the GPU made it */
extern PetscErrorCode MatSORAMBGetColors(Mat A, PetscInt *colors, PetscBool *device);

/* A call of MatSOR() for a sequential matrix */
typedef struct {
  SORSweep  sweep;
  PetscReal shift;
} MatSORAMBCall;

/* With a call, the next MatSOR() of a sequential matrix describes itself there and computes nothing; NULL: MatSOR() sweeps again. *color: sweeps are by color, and otherwise nothing
   changes. */
extern PetscErrorCode MatSORAMBAsk(Mat A, MatSORAMBCall *call, PetscBool *color);

/* The layouts of a matrix by color, with the values of a state */
typedef struct {
  PetscObjectState state;
  PetscReal        omega, shift;
  PetscBool        current, numbers, singular; /* the layout has the values; the numbers of the diagonal; one of these does not exist */
} SORColorState;
typedef struct {
  SORHost       host;
  SORDevice     device;
  SORColorState of[2];            /* host, device */
  const char   *reason;           /* why rows are not swept by color; NULL */
  PetscInt      bs, colors, made; /* made: the layout's number among the layouts of all matrices */
} SORColor;

/* Sets up the layout on the host or on the GPU for a sweep; color->reason says why there is none */
extern PetscErrorCode     SORColorSetUp(Mat A, SORColor *, PetscReal omega, PetscReal shift);
extern PetscErrorCode     SORColorPlan(Mat A, SORColor *, SORPlan *);
extern void               SORColorReset(SORColor *);
SYS_DEVICE PetscErrorCode SORColorSetUpDevice(Mat A, SORColor *color, PetscReal omega, PetscReal shift) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode SORColorSweepDevice(Mat A, SORColor *color, const MatSORAMBCall *call, Vec b, Vec x, PetscBool *done) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE void           SORColorResetDevice(SORColor *color) SYS_STUB();

/* Gets the layout of a matrix on the GPU, with its numbers for a call, and the layout's number; NULL for a matrix without rows. *why: there is none. */
extern PetscErrorCode MatSORAMBGetDevice(Mat A, const MatSORAMBCall *, SORDevice *, PetscInt *made, const char **why);
