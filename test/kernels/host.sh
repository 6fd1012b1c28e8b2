#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The host's kernels without PETSc, for every number type. A line "test:" below is a test: its name, and the family of kernels.
#   bash test/kernels/host.sh nus             one family
#   bash test/kernels/host.sh nus sanitize    for double, under the address and undefined behaviour sanitizers; spgemm under the thread sanitizer too, online under that only
# gpu: 0
# timeoutfactor: 5
# tier: test
# tier: deep sanitize
# test: kernels.sh amb
# test: nus.sh nus
# test: ccoo.sh ccoo
# test: tilekernels.sh tile
# test: spmm.sh spmm
# test: batch.sh batch
# test: baijkernels.sh baij
# test: fused.sh fused
# test: fusedblock.sh block
# test: aggkernels.sh gamg
# test: online.sh online
# test: spgemm.sh spgemm
# timeoutfactor: 20
cd "$(dirname "$0")/../.." || exit 1
. test/shell/hostkernels.sh
impls=src/mat/impls
amb=$impls/amb/host/amb
nus=$impls/nus/host/nus
name=kernels # in the line of a skipped sanitizer
numbers=all  # or real: the kernels know no complex numbers
threads=no   # yes: under the thread sanitizer too; only: under no other, and for double only
less=()      # flags of all builds but the first
first=-O2    # optimisation of the first
other=-O1    # and of the others

case ${1:-} in
# -Og: templates with many instances, which the compiler takes longer for than the tests
amb) sources=(test/kernels/kernels.c src/sys/sys{memory,values,table}.c ${amb}{host,layout,_plain,_avx2,_avx512}.c) other=-Og ;;
nus) sources=(test/kernels/nus.c src/sys/sys{memory,values,table}.c ${nus}{host,layout,fill,share,plan,search,_isa_plain,_isa_avx2,_isa_avx512}.c) other=-Og ;;
ccoo) sources=(test/kernels/ccoo.c src/sys/sys{memory,table}.c $impls/ccoo/host/ccoo{host,layout,values,plan,_isa_plain,_isa_avx2,_isa_avx512}.c) ;;
tile) sources=(test/kernels/tile.c src/sys/sysmemory.c $impls/tilecomposite/host/tile{host,layout,plan,_isa_plain,_isa_avx2,_isa_avx512}.c) ;;
spmm) sources=(test/kernels/spmm.c src/sys/sysmemory.c $impls/spmm/host/spmm{host,_isa_plain,_isa_avx2,_isa_avx512}.c) numbers=real ;;
batch) sources=(test/kernels/batch.c src/sys/sysmemory.c src/graph/batch/host/batch{host,_isa_plain,_isa_avx2,_isa_avx512}.c) numbers=real ;;
baij) sources=(test/kernels/baijkernels.c src/mat/baij/host/baij{host,_isa_plain,_isa_avx2,_isa_avx512}.c) numbers=real ;;
fused) sources=(test/kernels/fused.c src/sys/sysmemory.c src/ksp/ksp/impls/fused/fused{host,basis,_isa_plain,_isa_avx2,_isa_avx512}.c) ;;
block) sources=(test/kernels/fusedblock.c src/sys/sysmemory.c src/ksp/ksp/impls/fused/fusedblock{host,_isa_plain,_isa_avx2,_isa_avx512}.c $impls/spmm/host/spmm{host,_isa_plain,_isa_avx2,_isa_avx512}.c) numbers=real other=-Og ;;
gamg) sources=(test/kernels/aggkernels.c src/sys/sys{memory,numbers}.c src/ksp/pc/impls/gamg/host/agg{graph,regate,prolongator,smooth,estimate}.c) name=aggregates ;;
online) # conversions in a thread beside the products
  sources=(test/kernels/online.c src/sys/sys{memory,values,table}.c ${amb}{host,layout,_plain,_avx2,_avx512}.c ${nus}{host,layout,fill,share,plan,search,_isa_plain,_isa_avx2,_isa_avx512}.c)
  flags=(-pthread) first=-O1 name=conversions threads=only
  ;;
spgemm)
  sources=(test/kernels/spgemm.c src/sys/sysmemory.c $impls/hashgemm/host/spgemm{host,chain,operand,work,_plain,_avx2,_avx512}.c)
  flags=(-ffp-contract=off) name="sparse products" threads=yes other=-Og
  # less than SPGEMM_DENSE_MAX says suffices to go beyond it: memory is what this test spends its time on. Likewise the others.
  less=(-DSPGEMM_DENSE_MAX=65536 -DSPGEMM_WINDOWS=2097152 -DSPGEMM_STREAM=4096 -DSPGEMM_PLAN_BYTES=20000 -DSPGEMM_BATCH_LEAST=12 -DSPGEMM_BATCH_MOST=24 -DSPGEMM_CHAIN_LEAST=50000 -DSPGEMM_REPEATS_LEAST=100)
  ;;
*)
  echo "usage: bash test/kernels/host.sh FAMILY [sanitize], FAMILY one of" $(sed -n 's/^# test: [a-z.]* //p' "$0") >&2
  exit 2
  ;;
esac

if [ "${2:-}" = sanitize ]; then
  [ $threads = only ] || sanitized "$name" "${less[@]}"
  [ $threads = no ] || under_thread_sanitizer "$name" "${less[@]}"
  exit $status
fi
build_and_run "double" $first
[ $threads != only ] || exit $status
build_and_run "float" $other -DSYS_SINGLE "${less[@]}"
[ $numbers = real ] || build_and_run "double complex" $other -DSYS_COMPLEX "${less[@]}"
build_and_run "double, 64-bit indices" $other -DSYS_INT64 "${less[@]}"
exit $status
