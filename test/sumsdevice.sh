#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Sums over vectors on a CUDA device, and numbers gathered from several processes, without PETSc
#   bash test/sumsdevice.sh             all tests
#   bash test/sumsdevice.sh sanitize    those on short vectors under compute-sanitizer
# tier: test
# tier: deep sanitize
# timeoutfactor: 4
# gpu: 0 build
# gpu: 1 run
# gpumem: 4
cd "$(dirname "$0")/.." || exit 1
sources=(test/kernels/sumsdevice.cu src/sys/*.cu src/vec/ambvec/*.cu src/mat/halo/*.cu)
groups=("sums" "several" "many" "not finite" "updates" "gathers" "ends")
small=("${groups[@]}")
. test/kernels/device.sh
