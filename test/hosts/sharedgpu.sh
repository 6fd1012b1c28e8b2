#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Many processes on one GPU: products of matrices, and products with vectors, are right while others compute beside them. First CUDA lets the processes take turns; then
# its Multi-Process Service (MPS), where that is installed, lets their kernels run side by side. Four processes of cuSPARSE alone run beside them: if those have wrong
# products of matrices of 32 rows (docs/troubleshooting.md), this is no error of petsc-amb, and the line says skip.
#   bash test/hosts/sharedgpu.sh [PROCESSES [TIMES]]
# Prints ok, not ok or skip for each type and for cuSPARSE.
#
# make check-deep sets BUILD and MPIEXEC; NVCC is the compiler.
# gpu: 1 alone
# tier: deep
# timeoutfactor: 3
set -u
. "$(dirname "$0")/../shell/expect.sh"
if ! has_gpu; then
  echo "skip sharedgpu: there is no GPU"
  exit 0
fi
export OMP_NUM_THREADS=1
MPIEXEC=${MPIEXEC-mpiexec}
processes=${1:-12} times=${2:-2}
types=("hashgemm -mat_shadow_tune off" "amb -mat_shadow_tune off" "aijcusparse -hashgemm_for_aij")

# together HOW: all at once, of each type as many
together() {
  local k of out wrong made verdict

  rm -f "$work"/out.* "$work"/rows.*
  if [ -x "$work/cusparserows" ]; then
    for k in 1 2 3 4; do { "$work/cusparserows" 32 20 || echo "exit code $?"; } >"$work/rows.$k" 2>&1 & done
  fi
  for k in $(seq 0 $((processes - 1))); do
    of=$((k % ${#types[@]}))
    out=$work/out.$of.$k
    # shellcheck disable=SC2086
    { ${MPIEXEC:+$MPIEXEC -n 1} "$BUILD/test/products" -products_times "$times" -options_left no -mat_type ${types[of]} || echo "exit code $?"; } >"$out" 2>&1 &
  done
  wait
  for k in "${!types[@]}"; do
    wrong=$(grep -lE '^(not ok|exit code)' "$work/out.$k".*)
    if [ -z "$wrong" ]; then echo "ok $1: ${types[k]}"; else
      echo "not ok $1: ${types[k]}, $(echo "$wrong" | wc -l) of $(ls "$work/out.$k".* | wc -l) processes"
      # shellcheck disable=SC2086
      grep -v '^ok ' $wrong | sed 's/^.*out\./  /' >&2
      failed=1
    fi
  done
  if [ ! -x "$work/cusparserows" ]; then
    echo "skip $1: cuSPARSE, there is no nvcc, or $source does not compile"
  elif grep -q 'exit code' "$work"/rows.*; then
    echo "not ok $1: cuSPARSE, or the kernel that it is compared with, does not run"
    cat "$work"/rows.* >&2
    failed=1
  else
    read -r wrong made <<<"$(awk '{ made += $1; wrong += $6 } END { print wrong, made }' "$work"/rows.*)"
    if [ "$wrong" = 0 ]; then verdict=ok; else verdict=skip; fi
    echo "$verdict $1: cuSPARSE, $wrong of $made products with 32 rows are wrong"
  fi
}

source=$(dirname "$0")/../kernels/cusparserows.cu
"${NVCC:-nvcc}" -O2 -std=c++17 -arch=native -DSYS_TYPES_GIVEN -I"$root/src" -o "$work/cusparserows" "$source" -lcusparse >&2
together "in turns"
if command -v nvidia-cuda-mps-control >/dev/null; then
  export CUDA_MPS_PIPE_DIRECTORY=$work/mps CUDA_MPS_LOG_DIRECTORY=$work/mpslog
  mkdir -p "$work/mps" "$work/mpslog"
  if nvidia-cuda-mps-control -d; then
    trap 'echo quit | nvidia-cuda-mps-control >/dev/null; rm -rf "$work"' EXIT
    together "side by side"
  else echo "skip side by side: MPS does not start"; fi
else echo "skip side by side: there is no MPS"; fi
exit $failed
