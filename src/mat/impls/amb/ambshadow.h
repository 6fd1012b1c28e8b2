/* SPDX-License-Identifier: BSD-2-Clause */
/* What the formats that stand on the host's kernels share as shadows */
#pragma once

#include "../../shadow/shadow.h"
#include "ambhost.h"

typedef struct {
  PetscInt block_size; /* 0: chosen by the traffic model */
} AmbParams;

static inline void AmbGetCSR(const MatShadowCSR *from, AmbCSR *to)
{
  to->m = from->m;
  to->n = from->n;
  to->i = from->i;
  to->j = from->j;
  to->a = from->a;
}
