/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The pattern of a transposed matrix on a CUDA device
*/
#pragma once

#include <cuda_runtime.h>

#include "sys/syscuda.h"

/* Gets the bytes of the memory to work in */
cudaError_t SysTransposeSize(const SysCSR *, size_t *bytes);

/* Makes the pattern i (n + 1 numbers) and j of the transposed matrix, of which entry k is entry from[k] of the matrix */
cudaError_t SysTransposePattern(const SysCSR *, void *work, size_t bytes, int *i, int *j, int *from, cudaStream_t);
