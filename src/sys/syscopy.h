/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Copies of a sparse matrix in arrays of another library
*/
#pragma once

#include "sys/syscuda.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Copies A into i, j and a, or the values alone if i and j are NULL. With diagonal_first the diagonal entry of each row that has one changes places with the first
   entry of its row. A that has no entries may have no arrays; then nothing is written. */
void SysCopy(const SysCSR *A, int diagonal_first, SysInt *i, SysInt *j, SysScalar *a, int threads);

/* The same on a device, where the other library may use streams of its own: waits for the device before and after */
SYS_DEVICE SysStatus SysCopyDevice(const SysCSR *A, int diagonal_first, SysInt *i, SysInt *j, SysScalar *a) SYS_STUB(SYS_SUCCESS);

#if defined(__cplusplus)
}
#endif
