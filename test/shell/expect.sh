# SPDX-License-Identifier: BSD-2-Clause
# Sourced by the tests that run commands: $root, the folder $work, which is removed at the end, expect(), which sets $failed, skip_complex(), has_gpu() and find_petsc4py()
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/petscamb-$(basename "$0" .sh)-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
failed=0

# expect NAME CODE PATTERN COMMAND...: the command must end with this exit code ("fail": any but 0) and print a line with the pattern, to $work/out
expect() {
  local name=$1 code=$2 pattern=$3 got
  shift 3
  "$@" >"$work/out" 2>&1
  got=$?
  [ "$code" = fail ] && [ $got != 0 ] && code=$got
  if [ $got = "$code" ] && grep -qE -e "$pattern" "$work/out"; then echo "ok $name"; else
    echo "not ok $name: exit code $got, not $code, or no line with $pattern"
    sed 's/^/    /' "$work/out" >&2
    failed=1
  fi
}

# skip_complex REASON: ends a test whose subject refuses the complex numbers that PETSc may have
skip_complex() {
  "$BIN/petscamb" --version | grep -q 'complex numbers' || return 0
  echo "skip $(basename "$0"): PETSc has complex numbers, and $1"
  exit 0
}

# has_gpu: there is a GPU, and a library that uses it
has_gpu() {
  [ -e /dev/nvidiactl ] && grep -q PETSCAMB_HAVE_CUDA "$BUILD/petscambconf.h"
}

# find_petsc4py NAME: sets $python to an interpreter and $folder to what its PYTHONPATH must have for the petsc4py of this PETSc, where the distribution puts it or as the
# interpreter has it; without one, ends the test
find_petsc4py() {
  for python in /usr/bin/python3 "${PYTHON:-python3}"; do
    for folder in "$PETSC_DIR/$PETSC_ARCH/lib/python3/dist-packages" "$PETSC_DIR/$PETSC_ARCH/lib" ""; do
      PYTHONPATH=$folder "$python" -c "
import petsc4py, os
petsc4py.init()
from petsc4py import PETSc
assert os.path.realpath(petsc4py.get_config()['PETSC_DIR']) == os.path.realpath('$PETSC_DIR')" 2>/dev/null && return 0
    done
  done
  echo "skip $1: no petsc4py of this PETSc (Debian: python3-petsc4py)"
  exit $failed
}
