/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The batch kernel in plain C, for any processor
*/
#define SYS_ISA Plain

#include "graph/batch/host/batchkernels.h"
