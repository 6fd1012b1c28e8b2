#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Test programs on one process under valgrind's memcheck, for every matrix type: reads and writes outside of what was allocated, and decisions that depend
# on what was never written. Leaks are for -malloc_dump, in the tests of that name. Prints ok, not ok or skip for each.
#
# make check-deep sets BUILD; by hand, what bin/ points to serves.
# tier: deep
# timeoutfactor: 10
set -u
BUILD=${BUILD:-$(cd -P "$(dirname "$0")/../../bin/.." && pwd)}
work=$(mktemp -d "${TMPDIR:-/tmp}/petscamb-valgrind-XXXXXX")
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive
failed=0

if ! command -v valgrind >/dev/null; then
  echo "skip programs under valgrind: it is not installed"
  exit 0
fi
suppressions=() # what Open MPI and its libraries are known to do
for file in /usr/share/openmpi/openmpi-valgrind.supp /usr/share/valgrind/*mpi*.supp; do
  [ ! -e "$file" ] || suppressions+=(--suppressions="$file")
done

# run PROGRAM TYPE OPTIONS...
run() {
  local program=$1 type=$2
  shift 2
  if valgrind -q --error-exitcode=9 "${suppressions[@]}" "$BUILD/test/$program" -mat_type "$type" "$@" >"$work/out" 2>&1; then
    echo "ok $program, $type"
  else
    sed 's/^/    /' "$work/out" | tail -n 60 >&2
    echo "not ok $program, $type"
    failed=1
  fi
}

for type in amb nussell autosparse; do
  for program in conformance_change conformance_create conformance_query conformance_sub; do run $program $type -mat_shadow_tune off; done
done
for type in ccoo tilecomposite; do
  for program in conformance_change conformance_create; do run $program $type -mat_shadow_tune off; done
done
for type in amb nussell autosparse hashgemm; do run inherit $type; done
run conformance_convert amb -mat_shadow_tune off -mat_sell_slice_height 8
run hashgemm hashgemm
run graphops amb
run sddmm amb
run batch amb
run krylov amb -mat_shadow_tune off
exit $failed
