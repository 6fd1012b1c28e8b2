#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The AMB kernels without PETSc, for every number type
#   bash test/kernels.sh sanitize     for double, under the address and undefined behaviour sanitizers
# gpu: 0
# tier: test
# tier: deep sanitize
# timeoutfactor: 5
cd "$(dirname "$0")/.." || exit 1
. test/kernels/build.sh
amb=src/mat/impls/amb/host
sources=(test/kernels/kernels.c src/sys/{sysmemory,sysvalues,systable}.c $amb/ambhost.c $amb/amblayout.c $amb/amb_plain.c $amb/amb_avx2.c $amb/amb_avx512.c)

if [ "${1:-}" = sanitize ]; then sanitized kernels; else every_number_type; fi
exit $status
