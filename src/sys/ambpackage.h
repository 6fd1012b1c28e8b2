/* SPDX-License-Identifier: BSD-2-Clause */
/*
   What the parts of the library share: log events, the citation, the processor
*/
#pragma once

#include <petscamb.h>

#include "ambcompat.h"

extern PetscLogEvent MAT_ShadowConvert, MAT_ShadowUpdate;

/* The threads a kernel may use in this process */
extern PetscErrorCode PetscAMBGetNumThreads(int *);
