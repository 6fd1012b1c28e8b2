#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Sparse products without PETSc, for every number type
#   bash test/spgemm.sh sanitize     for double, under the address, undefined behaviour and thread sanitizers
# gpu: 0
# tier: test
# tier: deep sanitize
# timeoutfactor: 20
cd "$(dirname "$0")/.." || exit 1
. test/kernels/build.sh
flags=(-ffp-contract=off)
hashgemm=src/mat/impls/hashgemm
sources=(test/kernels/spgemm.c src/sys/sysmemory.c $hashgemm/host/spgemm{host,operand,work,_plain,_avx2,_avx512}.c)

# less than SPGEMM_DENSE_MAX says suffices to go beyond it: memory is what this test spends its time on. Likewise SPGEMM_WINDOWS, SPGEMM_STREAM, BATCH and BATCH_MOST.
less="-DSPGEMM_DENSE_MAX=65536 -DSPGEMM_WINDOWS=2097152 -DSPGEMM_STREAM=4096 -DBATCH=12 -DBATCH_MOST=24"

if [ "${1:-}" != sanitize ]; then
  every_number_type $less
  exit $status
fi
sanitized "sparse products" $less
if thread_sanitizer; then
  build_and_run "double, thread sanitizer" -O1 -g $less -fsanitize=thread
else
  echo "skip sparse products under the thread sanitizer: it does not understand the OpenMP libraries of ${KERNEL_CC:-gcc} and clang"
fi
exit $status
