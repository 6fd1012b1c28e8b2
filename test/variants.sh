#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The plugin for the distribution's other PETScs, complex and with 64-bit indices, where they are installed: configured, built, and the quick
# solve of make check.
# tier: deep
# timeoutfactor: 5
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
failed=0
current=$(readlink "$root/bin") # make points it at what it built last
trap '[ -z "$current" ] || ln -sfn "$current" "$root/bin"' EXIT

# variant NAME PACKAGE PETSC_DIR
variant() {
  local name=$1 package=$2 petsc=$3 out
  if [ ! -f "$petsc/include/petscconf.h" ]; then
    echo "skip $name: Debian's $package is not installed"
  elif out=$(env -u MAKEFLAGS -u MAKELEVEL -u PETSC_ARCH make -C "$root" PETSC_DIR="$petsc" PETSC_ARCH= check 2>&1); then
    echo "ok $name"
  else
    echo "$out"
    echo "not ok $name"
    failed=1
  fi
}

platform=$(gcc -print-multiarch 2>/dev/null)
variant "complex PETSc" libpetsc-complex-dev "$(echo /usr/lib/petscdir/petsc3.*/"$platform"-complex)"
variant "PETSc with 64-bit indices" libpetsc64-real-dev "$(echo /usr/lib/petscdir/petsc64-3.*/"$platform"-real)"
exit $failed
