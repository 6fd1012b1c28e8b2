/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The batch kernel for processors with AVX-512
*/
#define SYS_ISA AVX512

#include "graph/batch/host/batchkernels.h"
