#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Searches of petscamb graph on one to three processes: the same numbers with matrices on the GPUs and on the host, and with a GPU they stay there.
# Without a GPU only the numbers are compared.
set -u
cd "$(dirname "$0")/.." || exit 1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
status=0
if "$BIN/petscamb" --version | grep -q 'complex numbers'; then
  echo "skip graphranks.sh: PETSc has complex numbers, and the weights of a graph are real"
  exit 0
fi

# run RANKS TYPE ALGORITHM GRAPH OPTIONS...: the numbers that it counts
run() {
  local ranks=$1 type=$2
  shift 2
  rm -f "$dir"/info.*
  ${MPIEXEC:-mpiexec} -n "$ranks" "$BIN/petscamb" graph "$@" -mat_type "$type" -info "$dir/info:mat" >"$dir/out" 2>"$dir/err" || return 1
  sed -n 's/^[a-z]*: \(.*\), [0-9.e-]* s .*/\1/p' "$dir/out"
}

# compare ALGORITHM MESSAGE GRAPH OPTIONS...
compare() {
  local algorithm=$1 message=$2 ranks want got said
  shift 2

  want=$(run 1 aij "$algorithm" "$@")
  for ranks in 1 2 3; do
    got=$(run $ranks amb "$algorithm" "$@")
    said=$(grep -l "$message" "$dir"/info.* 2>/dev/null | wc -l)
    if [ -n "$want" ] && [ "$got" = "$want" ]; then
      echo "ok $algorithm $* on $ranks: $got"
    else
      echo "not ok $algorithm $* on $ranks: '$got', on the host '$want'"
      sed 's/^/  /' "$dir/err" | head -5
      status=1
    fi
    if [ ! -e /dev/nvidiactl ] || ! grep -q PETSCAMB_HAVE_CUDA "$BUILD/petscambconf.h"; then
      echo "skip $algorithm $* on $ranks: there is no GPU"
    elif [ "$said" -ge 1 ]; then # all go together, and PETSc lets the first one speak for them
      echo "ok $algorithm $* on $ranks: on the GPU"
    else
      echo "not ok $algorithm $* on $ranks: on the host, although there is a GPU"
      status=1
    fi
  done
}

compare bfs 'Searched on the GPU' rmat:11,8 -count 70
compare bfs 'Searched on the GPU' er:9,1 -count 3
exit $status
