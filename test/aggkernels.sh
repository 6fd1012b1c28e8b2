#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The host's kernels of smoothed aggregation without PETSc, for every number type
#   bash test/aggkernels.sh sanitize     for double, under the address and undefined behaviour sanitizers
# gpu: 0
# tier: test
# tier: deep sanitize
cd "$(dirname "$0")/.." || exit 1
. test/kernels/build.sh
gamg=src/ksp/pc/impls/gamg/host
sources=(test/kernels/aggkernels.c src/sys/sysmemory.c src/sys/sysnumbers.c $gamg/agg{graph,regate,prolongator,smooth,estimate}.c)
if [ "${1:-}" = sanitize ]; then sanitized "aggregates"; else every_number_type; fi
exit $status
