#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The host's side of matrices, on two processes of two threads each or on one, built from the sources without vector instructions, under the thread sanitizer.
# PETSc and MPI are as they are installed: what they do by themselves is not looked at.
#   bash test/mat/threads.sh [PROGRAM...]   all programs, or these
#
# make test sets BUILD and MPIEXEC; by hand, what bin/ points to and the mpiexec found serve.
# tier: deep
# timeoutfactor: 10
cd "$(dirname "$0")/../.." || exit 1
BUILD=${BUILD:-$(cd -P bin/.. && pwd)}
MPIEXEC=${MPIEXEC-mpiexec}
. test/shell/hostkernels.sh
name="matrices under the thread sanitizer"
if [ -z "$MPIEXEC" ]; then
  echo "skip $name: there is no mpiexec"
  exit 0
fi
if ! thread_sanitizer; then
  echo "skip $name: it does not understand the OpenMP libraries of ${KERNEL_CC:-gcc} and clang"
  exit 0
fi
export OMPI_CC=$cc MPICH_CC=$cc # what mpicc calls
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
export OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive PETSC_OPTIONS="-device_enable none"

conf() { sed -n "s/^$1 := //p" "$BUILD/conf.mk"; }
grep -vE "AVX|POOL" "$BUILD/petscambconf.h" >"$dir/petscambconf.h"
includes=(-include "$dir/petscambconf.h" -Iinclude -Isrc)

members=$(ar t "$BUILD/lib/libpetscamb.a") # the sources that this configuration has
mkdir "$dir/parts" "$dir/programs"
compile() { # SOURCE OBJECT
  $(conf AMB_LINK) -std=gnu11 -O1 -g -fPIC -Wno-c2x-extensions "${openmp[@]}" -fsanitize=thread "${includes[@]}" $(conf AMB_INCLUDES) -DSYS_ISA=Plain -c "$1" -o "$dir/$2.o" || touch "$dir/failed"
}
cores=$(env -u OMP_NUM_THREADS nproc)
for source in $(find src -name "*.c" -not -path "src/ksp/examples/*") test/test{util,product}.c test/{mat/online,product/{hashgemm,spmm,sddmm},graph/{batch,graphconv,graphops},ksp/{krylov,ambagg}}.c src/ksp/examples/multigpu.c; do
  folder=parts
  case $source in
  *_avx2.c | *_avx512.c | */systhreadspool.c) continue ;; # clang has its own library of OpenMP
  test/testutil.c | test/testproduct.c) ;;
  test/* | src/ksp/examples/*) folder=programs ;;
  *) grep -qxF "$(basename "${source/%_isa.c/_isa_plain.c}" .c).o" <<<"$members" || continue ;;
  esac
  while [ "$(jobs -rp | wc -l)" -ge "$cores" ]; do wait -n; done
  object=${source%.c}
  if [ $folder = programs ]; then object=${object##*/}; else object=${object//\//-}; fi # parts of the same name lie in several folders
  compile "$source" $folder/$object &
done
wait
if [ -e "$dir/failed" ]; then
  echo "not ok $name: does not build"
  exit 1
fi

wanted=" $* "
# run PROGRAM OPTIONS...
run() {
  local program=$1 out="$dir/out" rc
  shift
  [[ $wanted =~ ^\ *$ || $wanted = *" $program "* ]] || return
  if ! $(conf AMB_LINK) "${openmp[@]}" -fsanitize=thread -Wl,--as-needed "$dir/programs/$program.o" "$dir"/parts/*.o $(find "$BUILD/obj" -name '*.cu.o') $(conf AMB_LIBS) $(conf AMB_CUDA_LIBS) -o "$dir/programs/$program"; then
    echo "not ok $name, $program: does not link"
    status=1
    return
  fi
  timeout 500 "$MPIEXEC" -n ${ranks:-2} "$dir/programs/$program" "$@" >"$out" 2>&1
  rc=$?
  if [ $rc -eq 0 ] && ! grep -qE '^not ok|WRONG|ThreadSanitizer' "$out"; then
    echo "ok $name, $program"
  else
    echo "not ok $name, $program: exit code $rc"
    sed 's/^/    /' "$out" >&2
    status=1
  fi
}
run online -mat_type amb
run multigpu -n 24 -types amb,nussell,ccoo,tilecomposite,autosparse -solvers cg,bicg -mat_shadow_tune online -times 0 -rounds 1
run hashgemm -mat_type hashgemm
run spmm -mat_type amb -mat_shadow_tune off
run sddmm -mat_type amb -mat_shadow_tune off
run batch
run graphconv
run graphops -mat_type amb -mat_shadow_tune off
run krylov -mat_type amb -mat_shadow_tune off
ranks=1 run ambagg -mat_type amb -mat_shadow_tune off -options_left no
exit $status
