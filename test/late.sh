#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Options that a program sets after PETSc has loaded the library, and after PetscOptionsClear()
set -u
. "$(dirname "$0")/shell/expect.sh"
BUILD=${BUILD:-$(cd "$root/bin/.." 2>/dev/null && pwd -P)}
LIB=${LIB:-$BUILD/lib/libpetscamb.so}
PETSC_DIR=${PETSC_DIR:-$(pkg-config --variable=prefix PETSc)}
CC=${CC:-mpicc}
command -v "$CC" >/dev/null || CC=mpicc
unset PETSC_OPTIONS
cd "$work" || exit 1
cat >late.c <<'END'
#include <petscksp.h>
#include <stdlib.h>
/* BEFORE and AFTER: options that the program sets before or after its matrix; -clear: clears and inserts all again, before and after; -blocks: BAIJ */
int main(int argc, char **argv)
{
  char     *all;
  PetscBool clear, blocks;
  Mat       A;
  Vec       x, y;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-clear", &clear));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-blocks", &blocks));
  PetscCall(PetscOptionsInsertString(NULL, getenv("BEFORE")));
  for (int k = 0; k < 2; k++) {
    if (clear) {
      PetscCall(PetscOptionsGetAll(NULL, &all));
      PetscCall(PetscOptionsClear(NULL));
      PetscCall(PetscOptionsInsertString(NULL, all));
      PetscCall(PetscFree(all));
    }
    if (k) break;
    if (blocks) PetscCall(MatCreateBAIJ(PETSC_COMM_WORLD, 2, PETSC_DECIDE, PETSC_DECIDE, 400, 400, 1, NULL, 0, NULL, &A));
    else PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 400, 400, 1, NULL, 0, NULL, &A));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatCreateVecs(A, &x, &y));
    PetscCall(VecSet(x, 1));
    for (int i = 0; i < 60; i++) PetscCall(MatMult(A, x, y));
  }
  PetscCall(PetscOptionsInsertString(NULL, getenv("AFTER")));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  return PetscFinalize();
}
END
lib=$(ls "$PETSC_DIR/${PETSC_ARCH:-}/lib" | grep -E '^libpetsc(64)?(_[a-z]+)?\.so$' | head -n 1 | sed 's/^lib//; s/\.so$//')
if ! $CC -w late.c -o late -I"$PETSC_DIR/include" ${PETSC_ARCH:+-I"$PETSC_DIR/$PETSC_ARCH/include"} -L"$PETSC_DIR/${PETSC_ARCH:-}/lib" -Wl,-rpath,"$PETSC_DIR/${PETSC_ARCH:-}/lib" -l"${lib:-petsc}" >compile.log 2>&1; then
  echo "skip late: a program of PETSc does not compile here"
  exit 0
fi
# without NAME PATTERN: the last command printed a table without such a line
without() {
  if ! grep -q "^petsc-amb on" out || grep -qE -e "$2" out; then
    echo "not ok $1"
    failed=1
  else echo "ok $1"; fi
}
run="./late -dll_append $LIB"
expect "set before the first matrix" 0 "^  amb +1 " env BEFORE="-petscamb_for_aij amb -petscamb_view" $run
expect "-petscamb_view set last" 0 "^  without the seconds of 60 products" env AFTER=-petscamb_view $run -petscamb_for_aij amb
expect "set too late" 0 "^petsc-amb: option -petscamb_for_aij amb: set after the last AIJ matrix was created, too late" env AFTER="-petscamb_for_aij amb" $run
expect "cleared and inserted again" 0 "^  amb +1 " $run -petscamb_for_aij amb -petscamb_view -mat_shadow_tune model -clear
without "no option is unused" "option -(petscamb|mat)"
expect "BAIJ are counted" 0 "of types that petsc-amb does not convert: 1 baij;" $run -blocks -petscamb_for_aij amb -petscamb_view
without "no advice that was followed" "give .*-petscamb_for_aij"
exit $failed
