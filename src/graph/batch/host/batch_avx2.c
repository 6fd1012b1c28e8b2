/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The batch kernel for processors with AVX2
*/
#define SYS_ISA AVX2

#include "graph/batch/host/batchkernels.h"
