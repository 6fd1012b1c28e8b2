#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# One process of a solve is killed: the job ends, with a message, and does not wait for it. Prints ok, not ok or skip.
#
# make test sets BIN and MPIEXEC; by hand, bin/ and the mpiexec found serve.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
BIN=${BIN:-$root/bin}
MPIEXEC=${MPIEXEC-mpiexec}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
export OMP_NUM_THREADS=1

if [ -z "$MPIEXEC" ]; then
  echo "skip killed: there is no mpiexec"
  exit 0
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/petscamb-killed-XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
: >pids
timeout 60 "$MPIEXEC" -n 3 sh -c 'echo $$ >>pids; exec "$0" "$@"' "$BIN/multigpu" -n 20 -its 100000000 >out 2>&1 &
job=$!
for _ in $(seq 100); do
  [ "$(wc -l <pids)" -lt 3 ] || break
  sleep 0.2
done
sleep 2 # they iterate
victim=$(tail -n 1 pids)
kill -9 "$victim" 2>/dev/null
wait "$job"
status=$?
if [ $status -ne 0 ] && [ $status -ne 124 ] && grep -qiE 'signal|killed|terminated' out; then
  echo "ok killed"
else
  echo "not ok killed"
  echo "the job ended with status $status" >&2
  sed 's/^/    /' out >&2
  exit 1
fi
