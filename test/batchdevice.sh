#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Products of batches of sparse matrices with dense matrices on a CUDA device, without PETSc
#   bash test/batchdevice.sh             all tests
#   bash test/batchdevice.sh sanitize    those on small batches under compute-sanitizer
# tier: test
# tier: deep sanitize
# timeoutfactor: 4
# gpu: 0 build
# gpu: 1 run
# gpumem: 4
cd "$(dirname "$0")/.." || exit 1
sources=(test/kernels/batchdevice.cu src/sys/*.cu src/graph/batch/cuda/*.cu)
groups=("rows" "added" "atomic operations" "wide" "not finite" "same bits")
small=("${groups[@]}")
. test/kernels/device.sh
