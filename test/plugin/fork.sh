#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Children of os.fork() and multiprocessing.Pool (fork.py), with each type, before and after the parent's first product. Prints ok, not ok or skip for each.
#
# make test sets LIB, PETSC_DIR and PETSC_ARCH.
# timeoutfactor: 3
set -u
. "$(dirname "$0")/../shell/expect.sh"
cd "$work" || exit 1
export PYTHONDONTWRITEBYTECODE=1 PETSC_ARCH=${PETSC_ARCH:-}
unset PETSC_OPTIONS
find_petsc4py "children of fork()"
[ -z "$folder" ] || export PYTHONPATH=$folder
for type in amb nussell ccoo tilecomposite autosparse hashgemm; do
  for threads in 2 4; do
    OMP_NUM_THREADS=$threads expect "children after products, $type, $threads threads" 0 "^ok children" timeout 300 "$python" "$root/test/plugin/fork.py" $type after -dll_append "$LIB" -device_enable none -mat_shadow_tune model
  done
  OMP_NUM_THREADS=2 expect "children before products, $type" 0 "^ok children" timeout 300 "$python" "$root/test/plugin/fork.py" $type before -dll_append "$LIB" -device_enable none -mat_shadow_tune model
done
OMP_NUM_THREADS=2 expect "children while a thread converts" 0 "^ok children" timeout 300 "$python" "$root/test/plugin/fork.py" amb after -dll_append "$LIB" -device_enable none -mat_shadow_tune online
exit $failed
