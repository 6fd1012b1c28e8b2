/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The pattern of a transposed matrix on a CUDA device
*/
#pragma once

#include <cuda_runtime.h>

#include "sys/syscuda.h"

/* Gets the bytes of the work space */
cudaError_t SysTransposeSize(const SysCSR *, size_t *bytes);

/* Computes the transposed pattern i (n + 1 numbers) and j, whose entry k is the matrix's entry from[k] */
cudaError_t SysTransposePattern(const SysCSR *, void *work, size_t bytes, int *i, int *j, int *from, cudaStream_t);
