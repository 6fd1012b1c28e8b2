/* SPDX-License-Identifier: BSD-2-Clause */
/* What the formats that stand on the host's kernels share as shadows */
#pragma once

#include "mat/shadow/shadow.h"
#include "mat/impls/amb/ambhost.h"

typedef struct {
  PetscInt block_size; /* 0: chosen by the traffic model */
} AmbParams;
