/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The kernel of products of a batch, for processors with AVX-512
*/
#define SYS_ISA AVX512

#include "graph/batch/host/batchkernels.h"
