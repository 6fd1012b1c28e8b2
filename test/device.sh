#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# AMB on a CUDA device, without PETSc
#   bash test/device.sh             all tests
#   bash test/device.sh sanitize    those on small shapes under compute-sanitizer
# tier: test
# tier: deep sanitize
# timeoutfactor: 8
# gpu: 0 build
# gpu: 1 run
# gpu: 1 alone memory
# gpumem: 4
cd "$(dirname "$0")/.." || exit 1
sources=(test/kernels/device.cu src/sys/*.cu src/sys/{sysmemory,sysvalues,systable}.c src/mat/impls/amb/cuda/*.cu)
groups=("products" "transposed products" "launches" "new values" "storages" "stencils" "not finite" "same bits" "with sums" "stream order" "chains" "live" "refused" "random shapes" "out of memory" "memory given back")
small=("${groups[@]:0:14}") # the others look at how much memory is free, of which the tool takes some
. test/kernels/device.sh
