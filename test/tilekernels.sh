#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The tile-composite kernels without PETSc, for every number type
#   bash test/tilekernels.sh sanitize     for double, under the address and undefined behaviour sanitizers
# gpu: 0
# tier: test
# tier: deep sanitize
# timeoutfactor: 5
cd "$(dirname "$0")/.." || exit 1
. test/kernels/build.sh
tile=src/mat/impls/tilecomposite/host
sources=(test/kernels/tile.c $tile/tile{host,layout,plan,_plain,_avx2,_avx512}.c src/sys/sysmemory.c)

if [ "${1:-}" = sanitize ]; then sanitized kernels; else every_number_type; fi
exit $status
