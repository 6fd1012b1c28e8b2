#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The CCOO kernels without PETSc, for every number type
#   bash test/ccoo.sh sanitize     for double, under the address and undefined behaviour sanitizers
# gpu: 0
# tier: test
# tier: deep sanitize
# timeoutfactor: 5
cd "$(dirname "$0")/.." || exit 1
. test/kernels/build.sh
ccoo=src/mat/impls/ccoo/host
sources=(test/kernels/ccoo.c $ccoo/ccoo{host,layout,values,plan,_plain,_avx2,_avx512}.c src/sys/sys{memory,table}.c)

if [ "${1:-}" = sanitize ]; then sanitized kernels; else every_number_type; fi
exit $status
