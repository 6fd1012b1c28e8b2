#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Aggregates and prolongators on a CUDA device, without PETSc
#   bash test/aggdevice.sh             all tests
#   bash test/aggdevice.sh sanitize    on small shapes under compute-sanitizer
# tier: test
# tier: deep sanitize
# timeoutfactor: 8
# gpu: 0 build
# gpu: 1 run
# gpu: 1 alone memory
# gpumem: 4
cd "$(dirname "$0")/.." || exit 1
sources=(test/kernels/aggdevice.cu src/sys/*.cu src/ksp/pc/impls/gamg/cuda/*.cu)
groups=("aggregates" "prolongators" "no memory" "one-sided" "not finite" "estimates")
link=()
small=("aggregates" "prolongators" "one-sided" "not finite" "estimates")
. test/kernels/device.sh
