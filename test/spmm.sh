#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The kernels of products of sparse and dense matrices without PETSc, for real numbers
#   bash test/spmm.sh sanitize     for double, under the address and undefined behaviour sanitizers
# gpu: 0
# tier: test
# tier: deep sanitize
cd "$(dirname "$0")/.." || exit 1
. test/kernels/build.sh
spmm=src/mat/impls/spmm/host
sources=(test/kernels/spmm.c $spmm/spmmhost.c $spmm/spmm_plain.c $spmm/spmm_avx2.c $spmm/spmm_avx512.c src/sys/sysmemory.c)

if [ "${1:-}" = sanitize ]; then
  sanitized kernels
else
  build_and_run "double" -O2
  build_and_run "float" -O1 -DSYS_SINGLE
  build_and_run "double, 64-bit indices" -O1 -DSYS_INT64
fi
exit $status
