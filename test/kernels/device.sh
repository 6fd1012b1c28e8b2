#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The device's kernels without PETSc, for double and float. A line "test:" below is a test: its name, and the family of kernels.
#   bash test/kernels/device.sh nus             one family
#   bash test/kernels/device.sh nus sanitize    its groups of tests that are ${small[@]}, on small shapes under compute-sanitizer
# Without a device the tests are skipped by name; the program and the sources in C are compiled then, and with sanitize all sources, which make
# cuda-check compiles for double.
# DEVICE_TYPES="double" and DEVICE_TOOLS="racecheck synccheck" choose some of the types and of the tools, DEVICE_GROUPS="storages,not finite" some of the groups,
# and DEVICE_SHARE=2/4 the second fourth of the shapes, in groups that have a list of them.
# On a GPU that tests share, the runner asks for parts, one after the other in one TMPDIR: build needs no GPU, run has the groups of ${small[@]}, and memory, which wants
# the GPU alone, the others.
# Objects that make has built, in BUILD, are linked: the library's for its number type, and those of float that make test builds for a library in double.
# Under compute-sanitizer each group has a process of its own, DEVICE_AT_ONCE of them (4) at a time.
# tier: test
# tier: deep sanitize
# timeoutfactor: 8
# gpumem: 4
# gpu: 0 build
# gpu: 1 run
# gpu: 1 alone memory
# test: device.sh amb
# test: nusdevice.sh nus
# test: ccoodevice.sh ccoo
# test: tiledevice.sh tile
# test: spgemmdevice.sh spgemm
# test: aggdevice.sh gamg
# test: spmmdevice.sh spmm
# gpu: 0 build
# gpu: 1 run
# test: batchdevice.sh batch
# gpu: 0 build
# gpu: 1 run
# test: fuseddevice.sh fused
# gpu: 0 build
# gpu: 1 run
# test: sumsdevice.sh sums
# gpu: 0 build
# gpu: 1 run
# test: factordevice.sh factor
# gpu: 0 build
# gpu: 1 run
# test: sordevice.sh sor
# gpu: 0 build
# gpu: 1 run
cd "$(dirname "$0")/../.." || exit 1
impls=src/mat/impls
amb=$impls/amb/cuda/*.cu
link=()
defines=()
# Groups of tests: those of ${memory[@]} look at how much memory is free, of which compute-sanitizer takes some, or need much of it
memory=()
case ${1:-} in
amb)
  sources=(test/kernels/device.cu src/sys/*.cu src/sys/sys{memory,values,table}.c $amb)
  small=("products" "transposed products" "launches" "new values" "storages" "stencils" "not finite" "same bits" "with sums" "stream order" "chains" "live" "refused" "random shapes")
  memory=("out of memory" "memory given back")
  ;;
nus)
  sources=(test/kernels/nusdevice.cu src/sys/*.cu src/sys/sys{memory,values,table}.c $impls/nus/{cuda/*.cu,host/nussearch.c} $amb)
  small=("products" "transposed products" "new values" "storages" "not finite" "same bits" "random shapes")
  memory=("chosen" "refused" "memory given back")
  ;;
ccoo)
  sources=(test/kernels/ccoodevice.cu src/sys/*.cu src/sys/sys{memory,values,table}.c $impls/ccoo/cuda/*.cu $amb)
  small=("products" "transposed products" "new values" "not finite" "same bits" "distinct values" "all formats" "random shapes")
  memory=("refused" "memory given back")
  ;;
tile)
  sources=(test/kernels/tiledevice.cu src/sys/*.cu src/sys/sys{memory,values,table}.c $impls/tilecomposite/{cuda/*.cu,host/tile{plan,layout}.c} $amb)
  small=("products" "transposed products" "new values" "not finite" "same bits" "all rectangles" "random shapes")
  memory=("refused" "table" "memory given back")
  ;;
spgemm)
  sources=(test/kernels/spgemmdevice.cu src/sys/*.cu $impls/hashgemm/cuda/spgemmcuda*.cu)
  small=("products" "other products" "pattern first" "other sizes" "same bits" "not finite" "random shapes" "parts" "accumulators" "chosen" "order" "room" "lines" "less shared memory")
  memory=("too large" "failing allocations" "out of memory" "memory given back")
  defines=(-DSPGEMM_SAMPLE_PRODUCTS=20000 -DSPGEMM_SAMPLE_AUTO=20000 -DSPGEMM_SAMPLE_ROWS=64 -DSPGEMM_LINE_LEAST=20000) # so that small products have room by a sample, and lines
  link=(-Xlinker --wrap=cudaMallocFromPoolAsync -Xlinker --wrap=cudaFuncSetAttribute)
  ;;
gamg)
  sources=(test/kernels/aggdevice.cu src/sys/*.cu src/ksp/pc/impls/gamg/cuda/*.cu)
  small=("aggregates" "prolongators" "one-sided" "not finite" "estimates" "waits")
  memory=("no memory")
  link=(-Xlinker --wrap=cudaMalloc -Xlinker --wrap=cudaFree -Xlinker --wrap=cudaStreamSynchronize)
  ;;
spmm)
  sources=(test/kernels/spmmdevice.cu src/sys/*.cu $impls/spmm/cuda/*.cu)
  small=("products" "transposed products" "two terms" "tiles" "unpacked panels" "sampled products" "not finite" "same bits")
  ;;
batch)
  sources=(test/kernels/batchdevice.cu src/sys/syscuda.cu src/graph/batch/cuda/*.cu)
  small=("rows" "added" "atomic operations" "wide" "not finite" "same bits")
  ;;
fused)
  sources=(test/kernels/fuseddevice.cu src/sys/syscuda.cu src/ksp/ksp/impls/fused/*.cu)
  small=("iterations" "same bits" "stops" "resumed" "shared" "chebyshev" "basis" "basis stops")
  ;;
sums)
  sources=(test/kernels/sumsdevice.cu src/sys/syscuda.cu src/sys/syscub.cu src/vec/ambvec/*.cu src/mat/halo/*.cu)
  small=("sums" "several" "many" "not finite" "updates" "gathers" "exchanges" "ends")
  ;;
factor)
  sources=(test/kernels/factordevice.cu src/sys/*.cu src/mat/factor/{cuda/factor*.cu,host/factorrows.c})
  small=("solves" "several" "new values" "not finite" "computes" "inverses" "groups" "blocks" "refuses")
  ;;
sor)
  sources=(test/kernels/sordevice.cu src/sys/sys{threads,memory}.c src/sys/syscuda.cu src/mat/factor/{cuda/sorcuda.cu,host/sor{plan,host}.c})
  small=("sweeps" "new values" "singular")
  ;;
*)
  echo "usage: bash test/kernels/device.sh FAMILY [sanitize], FAMILY one of" $(sed -n 's/^# test: [a-z.]* //p' "$0") >&2
  exit 2
  ;;
esac
groups=("${small[@]}" "${memory[@]}")
shift
nvcc=${NVCC:-nvcc}
sanitizer=no
[ "${1:-}" = sanitize ] && sanitizer=yes && shift
part=${1:-all}
if [ "$part" = all ]; then
  dir=$(mktemp -d) || exit 1
  trap 'rm -rf "$dir"' EXIT
else
  dir=$TMPDIR/device
  mkdir -p "$dir"
fi
arch=(-arch=sm_90)
device=no
[ -e /dev/nvidiactl ] && [ -n "${CUDA_VISIBLE_DEVICES-all}" ] && arch=(-arch=native) device=yes
cc=${CC:-gcc}
. config/werror.sh
whole=yes optimise=-O3 fast=() standard=c++17
if [ $device = no ] && [ $sanitizer = no ]; then # what the library's build does not compile in this way: the program, and C without OpenMP
  for source in "${sources[@]:1}"; do case $source in *.c) c+=("$source") ;; esac done
  sources=("${sources[0]}" "${c[@]}") whole=no optimise=-O0 fast=(-Xcompiler -fsyntax-only) # it does not run, and the host's half is read only
  standard=c++14 # CUDA's headers take a third less time than with C++17, which CUB in the library's sources needs
  "$nvcc" --help 2>/dev/null | grep -q -e --Ofast-compile && fast+=(--Ofast-compile max)
fi
# folders of objects for a type
declare -A built=()
if [ $device = yes ] && [ -n "${BUILD:-}" ]; then
  conf() { sed -n "s/^$1 := //p" "$BUILD/conf.mk"; }
  case $(conf AMB_PRECISION),$(conf AMB_SCALAR),$(conf AMB_INDEX) in
  double,real,32) built=([double]=$BUILD/obj [float]=$BUILD/float) ;;
  single,real,32) built=([float]=$BUILD/obj) ;;
  esac
  # the library's architectures: nvcc looks for a GPU for -arch=native, and finds none that only the Multi-Process Service may use
  read -ra gencode <<<"$(conf AMB_GENCODE)"
  [ ${#gencode[@]} -eq 0 ] || arch=("${gencode[@]}")
fi
# compiled anew: sources that read the macros of this family
names=("${defines[@]%%=*}")
anew=$(IFS='|' && echo "${names[*]#-D}")
read -ra types <<<"${DEVICE_TYPES:-double float}"
read -ra tools <<<"${DEVICE_TOOLS:-memcheck racecheck initcheck synccheck}"
status=0
if [ $sanitizer = yes ] || [ "$part" = run ]; then groups=("${small[@]}"); fi
if [ "$part" = memory ]; then
  if [ $sanitizer = yes ]; then exit 0; fi
  groups=("${memory[@]}")
fi
if [ -n "${DEVICE_GROUPS:-}" ]; then
  chosen=()
  for group in "${groups[@]}"; do [[ ",$DEVICE_GROUPS," != *",$group,"* ]] || chosen+=("$group"); done
  groups=("${chosen[@]}")
  [ ${#groups[@]} -gt 0 ] || [ "$part" != all ] || { echo "not ok DEVICE_GROUPS: no group is named $DEVICE_GROUPS" && exit 1; }
fi

# of a type, all tests that were asked for are skipped
[ ${#groups[@]} -gt 0 ] || exit 0
if [ $sanitizer = yes ]; then names=("${tools[@]}"); else names=("${groups[@]}"); fi
skip() {
  local name
  for name in "${names[@]}"; do echo "skip $1, $name: $2"; done
}

fail() {
  echo "not ok $1"
  status=1
}

# build TYPE FLAGS...
build() {
  local type=$1 source
  local -a objects=()
  shift
  mkdir "$dir/$type.o"
  for source in "${sources[@]}"; do
    if [[ $source = src/*.cu ]] && [ -e "${built[$type]:-}/$source.o" ] && { [ -z "$anew" ] || ! grep -qwE "$anew" "$source"; }; then
      objects+=("${built[$type]}/$source.o")
      continue
    fi
    case $source in
    *.c) { "$cc" -std=gnu11 $optimise -Wall -Wextra -Wno-unknown-pragmas "${werror[@]}" -DSYS_TYPES_GIVEN "${defines[@]}" "$@" -Isrc -c -o "$dir/$type.o/$(basename "$source").o" "$source" || : >"$dir/$type.failed"; } && continue ;;
    esac
    { "$nvcc" $optimise "${fast[@]}" -std=$standard -lineinfo "${arch[@]}" "${nvwerror[@]}" -Xcompiler -Wall,-Wextra,-Wno-unused-parameter -DSYS_TYPES_GIVEN "${defines[@]}" "$@" -Isrc -c -o "$dir/$type.o/$(basename "$source" .cu).o" "$source" || : >"$dir/$type.failed"; } &
  done
  wait
  [ ! -e "$dir/$type.failed" ] || return 1
  [ $whole = no ] || "$nvcc" "${arch[@]}" "${link[@]}" -o "$dir/$type" "$dir/$type.o"/*.o "${objects[@]}"
}

# run TYPE
run() {
  "$dir/$1" "${groups[@]}" 2>&1 | sed -u "s/^\(ok\|not ok\) /&$1, /"
  local rc=${PIPESTATUS[0]}
  [ "$rc" = 0 ] || fail "$1: exit code $rc"
}

# sanitize TYPE
sanitize() {
  local tool flags group n=0 k
  for tool in "${tools[@]}"; do
    flags=()
    [ "$tool" = memcheck ] && flags=(--leak-check full)
    for group in "${groups[@]}"; do
      while [ "$(jobs -rp | wc -l)" -ge "${DEVICE_AT_ONCE:-4}" ]; do wait -n; done
      {
        compute-sanitizer --tool "$tool" "${flags[@]}" --error-exitcode 9 "$dir/$1" small "$group" >"$dir/out.$n" 2>&1
        echo $? >"$dir/rc.$n"
      } &
      n=$((n + 1))
    done
  done
  wait
  for ((k = 0; k < n; k++)); do
    group="$1, ${tools[k / ${#groups[@]}]}, ${groups[k % ${#groups[@]}]}"
    if [ "$(cat "$dir/rc.$k")" = 0 ]; then
      echo "ok $group"
    else
      sed 's/^\(ok\|not ok\) /  &/' "$dir/out.$k" | head -c 20000
      fail "$group: exit code $(cat "$dir/rc.$k")"
    fi
  done
}

if ! command -v "$nvcc" >/dev/null; then
  [ "$part" = build ] || for type in "${types[@]}"; do skip "$type" "there is no nvcc"; done
  exit 0
fi
for type in "${types[@]}"; do
  if [ "$part" = run ] || [ "$part" = memory ]; then
    [ $device = no ] || [ -e "$dir/$type" ] || continue # it does not compile, as was said
  elif build "$type" $([ "$type" = float ] && echo -DSYS_SINGLE); then echo "ok $type, compiles"; else
    fail "$type, compiles"
    continue
  fi
  [ "$part" != build ] || continue
  if [ $device = no ]; then
    skip "$type" "there is no device"
    continue
  fi
  reason=$("$dir/$type")
  if [ $? = 77 ]; then
    skip "$type" "$reason"
  elif [ $sanitizer = no ]; then
    run "$type"
  elif command -v compute-sanitizer >/dev/null; then
    sanitize "$type"
  else
    skip "$type" "there is no compute-sanitizer"
  fi
done
exit $status
