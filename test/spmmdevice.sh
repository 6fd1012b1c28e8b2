#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Products of sparse and dense matrices on a CUDA device, without PETSc
#   bash test/spmmdevice.sh             all tests
#   bash test/spmmdevice.sh sanitize    those on small shapes under compute-sanitizer
# tier: test
# tier: deep sanitize
# timeoutfactor: 4
# gpu: 0 build
# gpu: 1 run
# gpumem: 4
cd "$(dirname "$0")/.." || exit 1
sources=(test/kernels/spmmdevice.cu src/sys/*.cu src/mat/impls/spmm/cuda/*.cu)
groups=("products" "transposed products" "two terms" "tiles" "unpacked panels" "sampled products" "not finite" "same bits")
small=("${groups[@]}")
. test/kernels/device.sh
