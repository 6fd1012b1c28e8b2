#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Options that a program sets after PETSc has loaded the library, and after PetscOptionsClear()
set -u
. "$(dirname "$0")/../shell/expect.sh"
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
/* BEFORE and AFTER: options that the program sets before or after its matrix; -clear: clears and inserts all again, before and after; -blocks TYPE: a matrix of
   another type; -twice: all of it once more, after PetscFinalize(); -solve: a solver before AFTER is set; -values: each product has new values */
static Mat Create(const char type[])
{
  ISLocalToGlobalMapping map;
  Mat                    A = NULL, block[4];
  PetscInt               id[400];

  for (PetscInt k = 0; k < 400; k++) id[k] = k;
  if (!strcmp(type, "baij")) PetscCallAbort(PETSC_COMM_WORLD, MatCreateBAIJ(PETSC_COMM_WORLD, 2, PETSC_DECIDE, PETSC_DECIDE, 400, 400, 1, NULL, 0, NULL, &A));
  else if (!strcmp(type, "sbaij")) PetscCallAbort(PETSC_COMM_WORLD, MatCreateSBAIJ(PETSC_COMM_WORLD, 2, PETSC_DECIDE, PETSC_DECIDE, 400, 400, 1, NULL, 0, NULL, &A));
  else if (!strcmp(type, "is")) {
    PetscCallAbort(PETSC_COMM_WORLD, ISLocalToGlobalMappingCreate(PETSC_COMM_WORLD, 1, 400, id, PETSC_COPY_VALUES, &map));
    PetscCallAbort(PETSC_COMM_WORLD, MatCreate(PETSC_COMM_WORLD, &A));
    PetscCallAbort(PETSC_COMM_WORLD, MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, 400, 400));
    PetscCallAbort(PETSC_COMM_WORLD, MatSetType(A, MATIS));
    PetscCallAbort(PETSC_COMM_WORLD, MatSetLocalToGlobalMapping(A, map, map));
    PetscCallAbort(PETSC_COMM_WORLD, ISLocalToGlobalMappingDestroy(&map));
    PetscCallAbort(PETSC_COMM_WORLD, MatSetFromOptions(A));
    PetscCallAbort(PETSC_COMM_WORLD, MatISSetPreallocation(A, 1, NULL, 0, NULL));
    PetscCallAbort(PETSC_COMM_WORLD, MatSeqAIJSetPreallocation(A, 1, NULL));
    PetscCallAbort(PETSC_COMM_WORLD, MatMPIAIJSetPreallocation(A, 1, NULL, 0, NULL));
  } else PetscCallAbort(PETSC_COMM_WORLD, MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 400, 400, 1, NULL, 0, NULL, &A));
  PetscCallAbort(PETSC_COMM_WORLD, MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCallAbort(PETSC_COMM_WORLD, MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  if (strcmp(type, "nest")) return A;
  for (int k = 0; k < 4; k++) block[k] = A;
  PetscCallAbort(PETSC_COMM_WORLD, MatCreateNest(PETSC_COMM_WORLD, 2, NULL, 2, NULL, block, &A));
  PetscCallAbort(PETSC_COMM_WORLD, MatDestroy(block));
  return A;
}

int main(int argc, char **argv)
{
  char     *all, type[8] = "aij";
  PetscBool clear, twice, solve, values;
  static PetscBool again = PETSC_FALSE;
  Mat       A;
  Vec       x, y;
  KSP       ksp;

  if (!again) MPI_Init(&argc, &argv);
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-clear", &clear));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-twice", &twice));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-solve", &solve));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-values", &values));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-blocks", type, sizeof(type), NULL));
  PetscCall(PetscOptionsInsertString(NULL, getenv("BEFORE")));
  for (int k = 0; k < 2; k++) {
    if (clear) {
      PetscCall(PetscOptionsGetAll(NULL, &all));
      PetscCall(PetscOptionsClear(NULL));
      PetscCall(PetscOptionsInsertString(NULL, all));
      PetscCall(PetscFree(all));
    }
    if (k) break;
    A = Create(type);
    PetscCall(MatCreateVecs(A, &x, &y));
    PetscCall(VecSet(x, 1));
    for (int i = 0; i < 60; i++) {
      if (values) PetscCall(MatShift(A, 1));
      PetscCall(MatMult(A, x, y));
    }
    if (solve) {
      PetscCall(MatShift(A, 2));
      PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
      PetscCall(KSPSetOperators(ksp, A, A));
      PetscCall(KSPSetType(ksp, KSPCG));
      PetscCall(KSPSetFromOptions(ksp));
      PetscCall(KSPSolve(ksp, x, y));
      PetscCall(KSPDestroy(&ksp));
    }
  }
  PetscCall(PetscOptionsInsertString(NULL, getenv("AFTER")));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(PetscFinalize());
  if (!twice || again) return MPI_Finalize();
  again = PETSC_TRUE;
  return main(argc, argv);
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
others="of types that petsc-amb does not convert"
mpi="${MPIEXEC:-mpiexec} -n 2 $run"
for processes in 1 2; do
  [ $processes = 1 ] && launch=$run || launch=$mpi
  expect "BAIJ are counted, on $processes" 0 "$others: 1 baij; -mat_type amb, .* changes baij" $launch -blocks baij -petscamb_for_aij amb -petscamb_view
  without "no advice that was followed, on $processes" "(give .*|amb; |; )-petscamb_for_aij"
  if grep -qw avx2 /proc/cpuinfo 2>/dev/null && grep -q "AMB_SCALAR := real" "$BUILD/conf.mk"; then
    expect "products of BAIJ are counted, on $processes" 0 "^  products of baij and sbaij with vectors: [1-9][0-9]* by petsc-amb" $launch -blocks baij -petscamb_for_aij amb -petscamb_view
  else echo "skip products of BAIJ are counted, on $processes: complex numbers, or a processor without AVX2"
  fi
  expect "BAIJ: the advice, on $processes" 0 "$others: 1 baij; -petscamb_for_aij amb multiplies by baij" $launch -blocks baij -petscamb_view
  expect "SBAIJ are counted, on $processes" 0 "$others: 1 sbaij; .*, sbaij only if it sets both triangles .-mat_ignore_lower_triangular.$" $launch -blocks sbaij -petscamb_view
  # the AIJ inside
  expect "MATIS: the advice, on $processes" 0 "$others: 1 is; give -petscamb_for_aij amb, which converts the aij inside" $launch -blocks is -petscamb_view
  expect "MATIS: the advice is true, on $processes" 0 "^  amb +[1-9]" $launch -blocks is -petscamb_view -petscamb_for_aij amb
  without "MATIS: no advice that was followed, on $processes" "give -petscamb_for_aij"
  expect "MATIS: another type, on $processes" 0 "^  amb +[1-9]" $launch -blocks is -petscamb_view -mat_type amb
  without "MATIS: another type counts no more, on $processes" "$others"
  expect "MATNEST: the advice, on $processes" 0 "$others: 1 nest; give -petscamb_for_aij amb, which converts the aij inside" $launch -blocks nest -petscamb_view
  expect "MATNEST: the advice is true, on $processes" 0 "^  amb +[1-9]" $launch -blocks nest -petscamb_view -petscamb_for_aij amb -mat_shadow_tune model
done
# the advice about BAIJ and SBAIJ: a program that calls MatSetFromOptions() prints 1 if products with that type agree with those of an AIJ
cat >triangles.c <<'END'
#include <petscksp.h>
int main(int argc, char **argv)
{
  Mat       A[2];
  Vec       x, y[2];
  PetscReal norm;
  PetscInt  first, last;
  PetscBool upper;
  char      type[8] = "sbaij";

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-upper", &upper));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-blocks", type, sizeof(type), NULL));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatCreate(PETSC_COMM_WORLD, &A[k]));
    PetscCall(MatSetSizes(A[k], PETSC_DECIDE, PETSC_DECIDE, 400, 400));
    PetscCall(MatSetType(A[k], k ? type : MATAIJ));
    if (k) PetscCall(MatSetFromOptions(A[k]));
    PetscCall(MatSetUp(A[k]));
    PetscCall(MatGetOwnershipRange(A[k], &first, &last));
    for (PetscInt i = first; i < last; i++) {
      for (PetscInt j = k && upper ? i : PetscMax(i - 1, 0); j < PetscMin(i + 2, 400); j++) PetscCall(MatSetValue(A[k], i, j, i == j ? 2 : -1, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(A[k], MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A[k], MAT_FINAL_ASSEMBLY));
    if (!k) PetscCall(MatCreateVecs(A[0], &x, &y[0]));
    PetscCall(VecSetRandom(x, NULL));
    if (k) PetscCall(VecDuplicate(y[0], &y[1]));
  }
  for (int k = 0; k < 2; k++) PetscCall(MatMult(A[k], x, y[k]));
  PetscCall(VecAXPY(y[1], -1, y[0]));
  PetscCall(VecNorm(y[1], NORM_2, &norm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d\n", norm < 1e-5));
  for (int k = 0; k < 2; k++) {
    PetscCall(VecDestroy(&y[k]));
    PetscCall(MatDestroy(&A[k]));
  }
  PetscCall(VecDestroy(&x));
  return PetscFinalize();
}
END
if $CC -w triangles.c -o triangles -I"$PETSC_DIR/include" ${PETSC_ARCH:+-I"$PETSC_DIR/$PETSC_ARCH/include"} -L"$PETSC_DIR/${PETSC_ARCH:-}/lib" -Wl,-rpath,"$PETSC_DIR/${PETSC_ARCH:-}/lib" -l"${lib:-petsc}" >compile.log 2>&1; then
  run="./triangles -dll_append $LIB -petscamb_view -mat_ignore_lower_triangular -options_left no"
  for type in baij sbaij; do
    expect "$type" 0 "^1$" $run -blocks $type
    expect "$type with -mat_type amb, both triangles" 0 "^1$" $run -blocks $type -mat_type amb
    grep -qE "^  amb +1 " out && echo "ok $type becomes amb" || { echo "not ok $type becomes amb" && failed=1; }
  done
  expect "sbaij, the upper triangle alone" 0 "^1$" $run -upper
  expect "sbaij with -mat_type amb, the upper triangle alone" 0 "^0$" $run -upper -mat_type amb
else
  sed 's/^/    /' compile.log >&2
  echo "not ok triangles: does not compile" && failed=1
fi
run="./late -dll_append $LIB"
expect "new values as the reason" 0 "stayed on the AIJ: 1 .new values before the products repaid a conversion." $run -values -petscamb_for_aij amb -petscamb_view
# PetscInitialize() and PetscFinalize() twice in one process: the second table counts the second run alone
expect "PETSc is initialized twice" 0 "^  amb +1 +1 " $run -twice -petscamb_for_aij amb -petscamb_view -mat_shadow_tune model
[ "$(grep -c "^  amb  *1  *1 " out)" = 2 ] && [ "$(grep -c "^petsc-amb on" out)" = 2 ] && echo "ok two tables that agree" || { echo "not ok two tables that agree" && failed=1; }
# options of solvers and preconditioners that come too late are named, with what to do
late='set after the last solver cg, bcgs or chebyshev was created, too late'
expect "an option of solvers too late" 0 "^petsc-amb: option -petscamb_for_ksp.*$late" env AFTER=-petscamb_for_ksp $run -solve
expect "an option of multigrid too late" 0 "^petsc-amb: option -petscamb_mg_values single: set after the last PCMG or PCGAMG was created, too late" env AFTER="-petscamb_mg_values single" $run -solve -pc_type gamg
exit $failed
