#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The NUS-SELL kernels without PETSc, for every number type
#   bash test/nus.sh sanitize     for double, under the address and undefined behaviour sanitizers
# gpu: 0
# tier: test
# tier: deep sanitize
# timeoutfactor: 5
cd "$(dirname "$0")/.." || exit 1
. test/kernels/build.sh
nus=src/mat/impls/nus/host
sources=(test/kernels/nus.c $nus/nushost.c $nus/nuslayout.c $nus/nusfill.c $nus/nusshare.c $nus/nusplan.c $nus/nussearch.c $nus/nus_plain.c $nus/nus_avx2.c $nus/nus_avx512.c src/sys/{sysmemory,sysvalues,systable}.c)

if [ "${1:-}" = sanitize ]; then sanitized kernels; else every_number_type; fi
exit $status
