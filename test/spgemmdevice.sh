#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Sparse products on a CUDA device, without PETSc
#   bash test/spgemmdevice.sh             all tests
#   bash test/spgemmdevice.sh sanitize    those on small shapes under compute-sanitizer
# tier: test
# tier: deep sanitize
# timeoutfactor: 8
# gpu: 0 build
# gpu: 1 run
# gpu: 1 alone memory
# gpumem: 4
cd "$(dirname "$0")/.." || exit 1
sources=(test/kernels/spgemmdevice.cu src/sys/*.cu src/mat/impls/hashgemm/cuda/spgemmcuda*.cu)
groups=("products" "other products" "pattern first" "other sizes" "same bits" "not finite" "random shapes" "parts" "accumulators" "chosen" "order" "room" "lines" "less shared memory" "too large" "failing allocations" "out of memory" "memory given back")
defines=(-DSPGEMM_SAMPLE_PRODUCTS=20000 -DSPGEMM_SAMPLE_AUTO=20000 -DSPGEMM_SAMPLE_ROWS=64 -DSPGEMM_LINE_LEAST=20000) # so that small products have room by a sample, and lines
link=(-Xlinker --wrap=cudaMallocFromPoolAsync -Xlinker --wrap=cudaFuncSetAttribute)
small=("${groups[@]:0:14}") # the others look at how much memory is free, of which the tool takes some, or need much of it
. test/kernels/device.sh
