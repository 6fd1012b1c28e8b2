/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The kernel of products of a batch, for processors with AVX2
*/
#define SYS_ISA AVX2

#include "graph/batch/host/batchkernels.h"
