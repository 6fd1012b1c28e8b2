#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# make cuda-check: the CUDA sources compile, also where nothing runs them. The compiler takes what the other tests leave of the cores.
#
# make test sets BUILD and NVCC.
# gpu: 0
# timeoutfactor: 20
set -u
[ -n "${NVCC:-}" ] || { echo "skip make cuda-check: there is no nvcc" && exit 0; }
cd "$(dirname "$0")/../.." || exit 1
cores=$(env -u OMP_NUM_THREADS nproc 2>/dev/null || echo 1)
if PETSCAMB_BUILDS=$(dirname "$BUILD") nice -n 19 env -u TESTS -u PETSC_DIR -u PETSC_ARCH make -j"$cores" BUILD="$(basename "$BUILD")" AMB_NVCC="$NVCC" cuda-check >&2; then echo "ok make cuda-check"; else
  echo "not ok make cuda-check"
  exit 1
fi
