#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# NUS-SELL on a CUDA device, without PETSc
#   bash test/nusdevice.sh             all tests
#   bash test/nusdevice.sh sanitize    those on small shapes under compute-sanitizer
# tier: test
# tier: deep sanitize
# timeoutfactor: 8
# gpu: 0 build
# gpu: 1 run
# gpu: 1 alone memory
# gpumem: 4
cd "$(dirname "$0")/.." || exit 1
sources=(test/kernels/nusdevice.cu src/sys/*.cu src/sys/{sysmemory,sysvalues,systable}.c src/mat/impls/nus/{cuda/*.cu,host/nussearch.c} src/mat/impls/amb/cuda/*.cu)
groups=("products" "transposed products" "new values" "storages" "not finite" "same bits" "random shapes" "chosen" "refused" "memory given back")
small=("${groups[@]:0:7}") # the others look at how much memory is free, of which the tool takes some
. test/kernels/device.sh
