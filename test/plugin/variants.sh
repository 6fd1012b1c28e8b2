#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# make check with all other PETScs there are: those of the distribution, complex and with 64-bit indices among them, and those that this tree is configured
# for. Prints ok, not ok or skip for each. Builds the library without OpenMP, too.
#
# make check-deep sets BUILD, PETSC_DIR and PETSC_ARCH.
# tier: deep
# timeoutfactor: 10
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
failed=0
current=$(readlink "$root/bin") # make points it at what it built last
trap '[ -z "$current" ] || ln -sfn "$current" "$root/bin"' EXIT

# variant NAME VARIABLE=VALUE...
variant() {
  local name=$1 out
  shift
  if out=$(env -u MAKEFLAGS -u MAKELEVEL -u TESTS -u PETSC_DIR -u PETSC_ARCH -u BUILD make -C "$root" "$@" check 2>&1); then
    echo "ok $name"
  else
    echo "$out"
    echo "not ok $name"
    failed=1
  fi
}

found=" "
for petsc in /usr/lib/petscdir/petsc*/*-linux-gnu-*; do
  if [ ! -f "$petsc/include/petscconf.h" ] || [ "$(readlink -f "$petsc")" = "$(readlink -f "$PETSC_DIR/$PETSC_ARCH")" ]; then continue; fi
  name=$(basename "$(dirname "$petsc")")-${petsc##*-}
  found+="$name "
  variant "$name" PETSC_DIR="$petsc" PETSC_ARCH=
done
case $found in *" petsc3."*-complex" "*) ;; *) echo "skip complex PETSc: Debian's libpetsc-complex-dev is not installed" ;; esac
case $found in *" petsc64-3."*-real" "*) ;; *) echo "skip PETSc with 64-bit indices: Debian's libpetsc64-real-dev is not installed" ;; esac

for conf in "$root"/build/*/conf.mk; do
  name=$(basename "$(dirname "$conf")")
  if [ -L "$(dirname "$conf")" ] || [ "$name" = "$(basename "$BUILD")" ] || grep -q '^AMB_PETSC_DIR := /usr/lib/petscdir/' "$conf"; then continue; fi
  variant "$name" BUILD="$name"
done

work=$(mktemp -d "${TMPDIR:-/tmp}/petscamb-variants-XXXXXX")
if (cd "$work" && env -u MAKEFLAGS -u MAKELEVEL -u BUILD "$root/configure.py" --with-install=0 --with-openmp=0 --with-petsc-dir="$PETSC_DIR" --with-petsc-arch="$PETSC_ARCH" --build-dir="$work" && env -u MAKEFLAGS -u MAKELEVEL -u BUILD make -C "$work" AMB_NVCC= lib) >"$work/log" 2>&1; then echo "ok a library without OpenMP"
else
  tail -20 "$work/log"
  echo "not ok a library without OpenMP"
  failed=1
fi
rm -rf "$work"
exit $failed
