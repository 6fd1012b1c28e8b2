/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The kernel of products of a batch, for all processors
*/
#define SYS_ISA Plain

#include "graph/batch/host/batchkernels.h"
