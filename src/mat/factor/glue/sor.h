/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "mat/shadow/core/shadow.h"

/* Replaces MatSOR() of a sequential matrix of petsc-amb on the host, where it was PETSc's */
extern PetscErrorCode MatSORAMBInstall(Mat A);
