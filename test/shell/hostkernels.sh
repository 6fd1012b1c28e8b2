# SPDX-License-Identifier: BSD-2-Clause
# Sourced by the tests of the host's kernels, which build from the sources, without PETSc: $cc, $dir and what works there
cc=${KERNEL_CC:-gcc}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
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
. config/werror.sh
openmp=(-Wno-unknown-pragmas)
works -fopenmp && openmp=(-fopenmp)

# what this processor cannot run is compiled only, and without optimisation
idle512=()
grep -qw avx512f /proc/cpuinfo 2>/dev/null || idle512=(-O0)

have=()
[ ${#avx2[@]} -gt 0 ] && have+=(-DPETSCAMB_HAVE_AVX2)
[ ${#avx512[@]} -gt 0 ] && have+=(-DPETSCAMB_HAVE_AVX512)

# flags of the makefile for these sources; a script sets them
flags=()

# The name that build_and_run has for the number type of the library in BUILD. Its objects, which make has built with gcc and no flags of the user, are tested then.
library=
if [ -n "${BUILD:-}" ] && [ -z "${KERNEL_CC:-}" ]; then
  conf() { sed -n "s/^$1 := //p" "$BUILD/conf.mk"; }
  case $(conf AMB_PRECISION),$(conf AMB_SCALAR),$(conf AMB_INDEX),$(conf AMB_POOL),$(conf AMB_CFLAGS)$(conf AMB_LDFLAGS) in
  double,real,32,1,) library="double" ;;
  single,real,32,1,) library="float" ;;
  double,complex,32,1,) library="double complex" ;;
  double,real,64,1,) library="double, 64-bit indices" ;;
  esac
fi

# build_and_run NAME FLAGS...: the program of ${sources[@]}, of which the first is the driver; those for instructions that the compiler or ${avx2[@]}, ${avx512[@]} do not
# have are left out. The flag -g, which takes a third of the time of compiling, comes with the sanitizers only.
build_and_run() {
  local name=$1 source object flag
  local -a objects=()
  shift
  if [ "$name" = "$library" ]; then
    local -a have=(-include "$BUILD/petscambconf.h") given=("$@")
    set --
    for flag in "${given[@]}"; do # the library's objects have their own numbers
      [[ $flag = -D* && $flag != -DSYS_* ]] || set -- "$@" "$flag"
    done
  fi
  rm -f "$dir"/*.o "$dir/failed"
  for source in "${sources[@]}"; do
    if [ "$name" = "$library" ] && [[ $source = src/* ]]; then
      object=$BUILD/obj/${source%.c}.o # no object: the library's compiler has no such instructions
      [ ! -e "$object" ] || objects+=("$object")
      continue
    fi
    local isa=() last=() file=$source
    case $source in
    *_avx2.c)
      [ ${#avx2[@]} -gt 0 ] || continue
      isa=("${avx2[@]}")
      ;;
    *_avx512.c)
      [ ${#avx512[@]} -gt 0 ] || continue
      isa=("${avx512[@]}") last=("${idle512[@]}")
      ;;
    esac
    case $source in # NAME_isa.c is compiled for each instruction set, as by the makefile
    *_isa_plain.c) isa+=(-DSYS_ISA=Plain) file=${source%_plain.c}.c ;;
    *_isa_avx2.c) isa+=(-DSYS_ISA=AVX2) file=${source%_avx2.c}.c ;;
    *_isa_avx512.c) isa+=(-DSYS_ISA=AVX512) file=${source%_avx512.c}.c ;;
    esac
    { "$cc" -std=gnu11 -Wall -Wextra "${werror[@]}" "${openmp[@]}" -DSYS_TYPES_GIVEN "${have[@]}" -Isrc "${isa[@]}" "${flags[@]}" "$@" "${last[@]}" -c -o "$dir/$(basename "$source" .c).o" "$file" || : >"$dir/failed"; } &
  done
  wait
  if [ ! -e "$dir/failed" ] && "$cc" "${openmp[@]}" "$@" "$dir"/*.o "${objects[@]}" -lm -o "$dir/program"; then
    # freed memory stays with the program: fresh pages took up to half of the time
    MALLOC_MMAP_THRESHOLD_=1073741824 MALLOC_TRIM_THRESHOLD_=4294967296 MALLOC_TOP_PAD_=16777216 OMP_NUM_THREADS=3 OMP_WAIT_POLICY=passive "$dir/program" >"$dir/out" 2>&1
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

# sanitized WHAT FLAGS...: the program for double under the address and undefined behaviour sanitizers
sanitized() {
  local what=$1
  shift
  if works -fsanitize=address,undefined; then
    build_and_run "double, sanitizers" -O1 -g "$@" -fsanitize=address,undefined -fno-sanitize-recover=all
  else
    echo "skip $what under sanitizers: $cc has no address sanitizer here"
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
  "$cc" -g -O1 "${openmp[@]}" -fsanitize=thread "$dir/race.c" -o "$dir/race" 2>/dev/null && TSAN_OPTIONS=ignore_noninstrumented_modules=1 "$dir/race" >/dev/null 2>&1
}

# Threads are the same whatever the instructions; clang's library tells the sanitizer what it does. Fails where neither compiler's does.
thread_sanitizer() {
  avx2=()
  avx512=()
  have=()
  export TSAN_OPTIONS=ignore_noninstrumented_modules=1
  understands_threads && return
  local given=$cc
  cc=clang
  understands_threads && return
  cc=$given
  return 1
}

# under_thread_sanitizer WHAT FLAGS...: the program for double under the thread sanitizer
under_thread_sanitizer() {
  local what=$1
  shift
  if thread_sanitizer; then
    build_and_run "double, thread sanitizer" -O1 -g "$@" -fsanitize=thread
  else
    echo "skip $what under the thread sanitizer: it does not understand the OpenMP libraries of ${KERNEL_CC:-gcc} and clang"
  fi
}
