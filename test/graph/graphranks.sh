#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Searches of petscamb graph on one to three processes: the same numbers with matrices on the GPUs and on the host, and with a GPU they stay there.
# Without a GPU only the numbers are compared.
# gpu: 3
set -u
. "$(dirname "$0")/../shell/expect.sh"
cd "$root" || exit 1
skip_complex "the weights of a graph are real"

# run RANKS TYPE GRAPH OPTIONS...: the numbers that it counts
run() {
  local ranks=$1 type=$2
  shift 2
  rm -f "$work"/info.*
  ${MPIEXEC:-mpiexec} -n "$ranks" "$BIN/petscamb" graph bfs "$@" -mat_type "$type" -info "$work/info:mat" >"$work/out" 2>"$work/err" || return 1
  sed -n 's/^[a-z]*: \(.*\), [0-9.e-]* s .*/\1/p' "$work/out"
}

# compare GRAPH OPTIONS...
compare() {
  local ranks want got

  want=$(run 1 aij "$@")
  for ranks in 1 2 3; do
    got=$(run $ranks amb "$@")
    if [ -n "$want" ] && [ "$got" = "$want" ]; then
      echo "ok bfs $* on $ranks: $got"
    else
      echo "not ok bfs $* on $ranks: '$got', on the host '$want'"
      sed 's/^/  /' "$work/err" | head -5
      failed=1
    fi
    if ! has_gpu; then
      echo "skip bfs $* on $ranks: there is no GPU"
    elif grep -q 'Searched on the GPU' "$work"/info.*; then # all go together, and PETSc lets the first one speak for them
      echo "ok bfs $* on $ranks: on the GPU"
    else
      echo "not ok bfs $* on $ranks: on the host, although there is a GPU"
      failed=1
    fi
  done
}

compare rmat:11,8 -count 70
compare er:9,1 -count 3
exit $failed
