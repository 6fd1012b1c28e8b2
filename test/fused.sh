#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The fused passes of Krylov methods without PETSc, for every number type
#   bash test/fused.sh sanitize     for double, under the address and undefined behaviour sanitizers
# gpu: 0
# tier: test
# tier: deep sanitize
cd "$(dirname "$0")/.." || exit 1
. test/kernels/build.sh
fused=src/ksp/ksp/impls/fused
sources=(test/kernels/fused.c $fused/fusedhost.c $fused/fused_plain.c $fused/fused_avx2.c $fused/fused_avx512.c src/sys/sysmemory.c)

if [ "${1:-}" = sanitize ]; then sanitized kernels; else every_number_type; fi
exit $status
