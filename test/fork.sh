#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Children of os.fork() and multiprocessing.Pool (fork.py), with each type, before and after the parent's first product. Prints ok, not ok or skip for each.
#
# make test sets LIB, PETSC_DIR and PETSC_ARCH.
set -u
. "$(dirname "$0")/shell/expect.sh"
cd "$work" || exit 1
export PYTHONDONTWRITEBYTECODE=1 PETSC_ARCH=${PETSC_ARCH:-}
unset PETSC_OPTIONS
own=$PETSC_DIR/$PETSC_ARCH/lib/python3/dist-packages
for python in /usr/bin/python3 "${PYTHON:-python3}"; do
  for folder in "$own" "$PETSC_DIR/$PETSC_ARCH/lib" ""; do
    PYTHONPATH=$folder "$python" -c "
import petsc4py, os
petsc4py.init()
from petsc4py import PETSc
assert os.path.realpath(petsc4py.get_config()['PETSC_DIR']) == os.path.realpath('$PETSC_DIR')" 2>/dev/null && break 2
  done
  python=
done
if [ -z "$python" ]; then
  echo "skip children of fork(): no petsc4py of this PETSc (Debian: python3-petsc4py)"
  exit 0
fi
[ -z "$folder" ] || export PYTHONPATH=$folder
for type in amb nussell ccoo tilecomposite autosparse hashgemm; do
  for threads in 2 4; do
    OMP_NUM_THREADS=$threads expect "children after products, $type, $threads threads" 0 "^ok children" timeout 300 "$python" "$root/test/fork.py" $type after -dll_append "$LIB" -device_enable none -mat_shadow_tune model
  done
  OMP_NUM_THREADS=2 expect "children before products, $type" 0 "^ok children" timeout 300 "$python" "$root/test/fork.py" $type before -dll_append "$LIB" -device_enable none -mat_shadow_tune model
done
OMP_NUM_THREADS=2 expect "children while a thread converts" 0 "^ok children" timeout 300 "$python" "$root/test/fork.py" amb after -dll_append "$LIB" -device_enable none -mat_shadow_tune online
exit $failed
