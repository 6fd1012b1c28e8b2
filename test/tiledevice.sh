#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Tile-composite on a CUDA device, without PETSc
#   bash test/tiledevice.sh             all tests
#   bash test/tiledevice.sh sanitize    those on small shapes under compute-sanitizer
# tier: test
# tier: deep sanitize
# timeoutfactor: 8
# gpu: 0 build
# gpu: 1 run
# gpu: 1 alone memory
# gpumem: 4
cd "$(dirname "$0")/.." || exit 1
sources=(test/kernels/tiledevice.cu src/sys/*.cu src/sys/sys{table,values,memory}.c src/mat/impls/tilecomposite/{cuda/*.cu,host/tile{plan,layout}.c} src/mat/impls/amb/cuda/*.cu)
groups=("products" "transposed products" "new values" "not finite" "same bits" "all rectangles" "random shapes" "refused" "table" "memory given back")
small=("${groups[@]:0:7}") # the others look at how much memory is free, of which the tool takes some
. test/kernels/device.sh
