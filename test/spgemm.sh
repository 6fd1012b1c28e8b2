#!/bin/bash
# Sparse products without PETSc, for every number type, then once more under the sanitizers
# timeoutfactor: 20
cd "$(dirname "$0")/.." || exit 1
cc=${KERNEL_CC:-gcc}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
amb=src/mat/impls/amb
hashgemm=src/mat/impls/hashgemm
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

# build_and_run NAME FLAGS...
build_and_run() {
  local name=$1 source pids=() built=1
  shift
  rm -f "$dir"/*.o
  for source in test/kernels/spgemm.c $hashgemm/spgemmhost.c $hashgemm/spgemmoperand.c $hashgemm/spgemmwork.c $hashgemm/spgemm_plain.c \
    ${avx2:+$hashgemm/spgemm_avx2.c} ${avx512:+$hashgemm/spgemm_avx512.c}; do
    local isa=()
    case $source in
    *_avx2.c) isa=("${avx2[@]}") ;;
    *_avx512.c) isa=("${avx512[@]}") ;;
    esac
    "$cc" -std=gnu11 -g -Wall -Wextra -Werror "${openmp[@]}" -DAMB_TYPES_GIVEN "${have[@]}" -I$amb -I$hashgemm "${isa[@]}" "$@" -c -o "$dir/$(basename "$source" .c).o" "$source" &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do wait "$pid" || built=0; done
  if [ $built = 1 ] && "$cc" "${openmp[@]}" "$@" "$dir"/*.o -lm -o "$dir/spgemm"; then
    OMP_NUM_THREADS=3 OMP_WAIT_POLICY=passive "$dir/spgemm" >"$dir/out" 2>&1
    local rc=$?
    sed "s/^\(ok\|not ok\) /&$name: /" "$dir/out"
    if [ $rc -ne 0 ]; then
      echo "not ok $name: exit code $rc"
      status=1
    fi
  else
    echo "not ok $name: does not build"
    status=1
  fi
}

# a thread sanitizer that does not understand the OpenMP library at hand finds races where there are none
understands_threads() {
  cat >"$dir/race.c" <<'END'
int main(void)
{
  int a[64] = {0}, sum = 0;
#pragma omp parallel for num_threads(4)
  for (int i = 0; i < 64; i++) a[i] = i;
#pragma omp parallel for num_threads(4) reduction(+ : sum)
  for (int i = 0; i < 64; i++) sum += a[63 - i];
  return sum != 2016;
}
END
  "$cc" -g -O1 "${openmp[@]}" -fsanitize=thread "$dir/race.c" -o "$dir/race" 2>/dev/null && "$dir/race" >/dev/null 2>&1
}

build_and_run "double" -O2
build_and_run "float" -O1 -DAMB_SINGLE
build_and_run "double complex" -O1 -DAMB_COMPLEX
build_and_run "double, 64-bit indices" -O1 -DAMB_INT64
if works -fsanitize=address,undefined; then
  build_and_run "double, sanitizers" -O1 -fsanitize=address,undefined -fno-sanitize-recover=all
else
  echo "skip sparse products under sanitizers: $cc has no address sanitizer here"
fi
if understands_threads; then
  build_and_run "double, thread sanitizer" -O1 -fsanitize=thread
else
  echo "skip sparse products under the thread sanitizer: it does not understand the OpenMP library of $cc"
fi
exit $status
