#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The host's conversions in a thread beside the products, without PETSc
#   bash test/online.sh sanitize     under the thread sanitizer
# gpu: 0
# tier: test
# tier: deep sanitize
# timeoutfactor: 5
cd "$(dirname "$0")/.." || exit 1
. test/kernels/build.sh
amb=src/mat/impls/amb/host
nus=src/mat/impls/nus/host
sources=(test/kernels/online.c src/sys/{sysmemory,sysvalues,systable}.c $amb/amb{host,layout}.c $nus/nus{host,layout,fill,share,plan,search}.c {$amb/amb,$nus/nus}_{plain,avx2,avx512}.c)

if [ "${1:-}" != sanitize ]; then
  build_and_run "double" -O1 -pthread
elif thread_sanitizer; then
  build_and_run "double, thread sanitizer" -O1 -g -pthread -fsanitize=thread
else
  echo "skip conversions under the thread sanitizer: it does not understand the OpenMP libraries of ${KERNEL_CC:-gcc} and clang"
fi
exit $status
