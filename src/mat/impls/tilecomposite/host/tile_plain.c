/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The tile-composite kernel in plain C, for any scalar type and processor
*/
#define SYS_ISA Plain

#include "mat/impls/tilecomposite/host/tilekernels.h"
