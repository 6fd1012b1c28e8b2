#!/bin/bash
# The kernels of AMB and of sparse products without PETSc, for every number type, then once more under the address and undefined behaviour sanitizers
# timeoutfactor: 5
cd "$(dirname "$0")/.." || exit 1
cc=${KERNEL_CC:-gcc}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
amb=src/mat/impls/amb
hash=src/mat/impls/hashgemm
status=0

works() { echo 'int main(void){return 0;}' | "$cc" "$@" -x c - -o "$dir/try" 2>/dev/null; }

avx2=()
avx512=()
case $(uname -m) in
x86_64)
  works -mavx2 -mfma && avx2=(-mavx2 -mfma)
  works -mavx512f -mavx512vl -mavx512bw -mavx512dq && avx512=("${avx2[@]}" -mavx512f -mavx512vl -mavx512bw -mavx512dq)
  ;;
esac
openmp=()
works -fopenmp && openmp=(-fopenmp)

have=()
[ ${#avx2[@]} -gt 0 ] && have+=(-DPETSCAMB_HAVE_AVX2)
[ ${#avx512[@]} -gt 0 ] && have+=(-DPETSCAMB_HAVE_AVX512)

# sources TEST KERNELS...: those that this compiler has instructions for
sources() {
  local source
  for source in "$@"; do
    case $source in
    *_avx2.c) [ ${#avx2[@]} -gt 0 ] && echo "$source" ;;
    *_avx512.c) [ ${#avx512[@]} -gt 0 ] && echo "$source" ;;
    *) echo "$source" ;;
    esac
  done
}

# build_and_run TEST NAME FLAGS... -- SOURCES...
build_and_run() {
  local test=$1 name=$2 source pids=() flags=() built=1
  shift 2
  while [ "$1" != -- ]; do
    flags+=("$1")
    shift
  done
  shift
  rm -f "$dir"/*.o
  for source in $(sources "$@"); do
    local isa=()
    case $source in
    *_avx2.c) isa=("${avx2[@]}") ;;
    *_avx512.c) isa=("${avx512[@]}") ;;
    esac
    "$cc" -std=gnu11 -g -Wall -Wextra -Werror "${openmp[@]}" -DAMB_TYPES_GIVEN "${have[@]}" -I$amb -I$hash "${isa[@]}" "${flags[@]}" -c -o "$dir/$(basename "$source" .c).o" "$source" &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do wait "$pid" || built=0; done
  if [ $built = 1 ] && "$cc" "${openmp[@]}" "${flags[@]}" "$dir"/*.o -lm -o "$dir/$test"; then
    OMP_NUM_THREADS=3 OMP_WAIT_POLICY=passive "$dir/$test" >"$dir/out" 2>&1
    local rc=$?
    sed "s/^\(ok\|not ok\) /&$name: /" "$dir/out"
    if [ $rc -ne 0 ]; then
      echo "not ok $test, $name: exit code $rc"
      status=1
    fi
  else
    echo "not ok $test, $name: does not build"
    status=1
  fi
}

# both NAME FLAGS...
both() {
  build_and_run amb "$@" -- test/kernels/kernels.c $amb/ambhost.c $amb/amblayout.c $amb/amb_plain.c $amb/amb_avx2.c $amb/amb_avx512.c
  build_and_run products "$@" -- test/kernels/spgemm.c $hash/spgemm*.c
}

both "double" -O2
both "float" -O1 -DAMB_SINGLE
both "double complex" -O1 -DAMB_COMPLEX
both "double, 64-bit indices" -O1 -DAMB_INT64
if works -fsanitize=address,undefined; then
  both "double, sanitizers" -O1 -fsanitize=address,undefined -fno-sanitize-recover=all
else
  echo "skip kernels under sanitizers: $cc has no address sanitizer here"
fi
exit $status
