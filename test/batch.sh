#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The kernels of batches of sparse matrices without PETSc, for real numbers
#   bash test/batch.sh sanitize     for double, under the address and undefined behaviour sanitizers
# gpu: 0
# tier: test
# tier: deep sanitize
cd "$(dirname "$0")/.." || exit 1
. test/kernels/build.sh
batch=src/graph/batch/host
sources=(test/kernels/batch.c $batch/batchhost.c $batch/batch_plain.c $batch/batch_avx2.c $batch/batch_avx512.c src/sys/sysmemory.c)

if [ "${1:-}" = sanitize ]; then
  sanitized kernels
else
  build_and_run "double" -O2
  build_and_run "float" -O1 -DSYS_SINGLE
  build_and_run "double, 64-bit indices" -O1 -DSYS_INT64
fi
exit $status
