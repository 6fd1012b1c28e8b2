#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The passes of Krylov methods on a CUDA device, without PETSc
#   bash test/fuseddevice.sh             all tests
#   bash test/fuseddevice.sh sanitize    those on small systems under compute-sanitizer
# tier: test
# tier: deep sanitize
# timeoutfactor: 4
# gpu: 0 build
# gpu: 1 run
# gpumem: 4
cd "$(dirname "$0")/.." || exit 1
sources=(test/kernels/fuseddevice.cu src/sys/*.cu src/ksp/ksp/impls/fused/*.cu)
groups=("iterations" "same bits" "stops" "resumed" "shared" "chebyshev")
small=("${groups[@]}")
. test/kernels/device.sh
