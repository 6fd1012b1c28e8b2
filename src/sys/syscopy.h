/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Copies of a sparse matrix in another library's arrays
*/
#pragma once

#include "sys/syscuda.h"

SYS_C_BEGIN

/* Copies A into i, j and a, or only the values if i and j are NULL. diagonal_first: swaps each row's diagonal entry, if any, with its first entry. An
   A without entries may lack arrays; then nothing is written. */
void SysCopy(const SysCSR *A, int diagonal_first, SysInt *i, SysInt *j, SysScalar *a, int threads);

/* The same on a device, where the other library may use its own streams: waits for the device before and after */
SYS_DEVICE SysStatus SysCopyDevice(const SysCSR *A, int diagonal_first, SysInt *i, SysInt *j, SysScalar *a) SYS_STUB(SYS_SUCCESS);

SYS_C_END
