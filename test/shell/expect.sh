# SPDX-License-Identifier: BSD-2-Clause
# Sourced by the tests that run commands: $root, the folder $work, which is removed at the end, expect(), which sets $failed, skip_complex() and has_gpu()
root=$(cd "$(dirname "$0")/.." && pwd)
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
