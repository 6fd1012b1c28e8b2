#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Fuzzes parsers and kernels with clang's libFuzzer, under the address and undefined behaviour sanitizers.
#   test/fuzz/fuzz.sh                          runs the corpus of all targets, and prints ok or not ok for each
#   test/fuzz/fuzz.sh targets                  names the targets
#   test/fuzz/fuzz.sh TARGET [SECONDS] [FLAGS] fuzzes one for so long (600 seconds); FLAGS are for the compiler: -DSYS_SINGLE, -DSYS_COMPLEX, -DSYS_INT64
#   test/fuzz/fuzz.sh replay TARGET            runs the corpus of one
#   test/fuzz/fuzz.sh keep TARGET [MANY]       writes the corpus of TARGET anew: of what was found the inputs that cover most, so many at most (300)
# Programs and what they find are in build/fuzz. test/fuzz/corpus.tar.xz has the inputs of the corpus, in a folder for each target.
# gpu: 0
# tier: deep
# timeoutfactor: 10
# nsize: 2
set -eu
cd "$(dirname "$0")/../.."
CLANG=${CLANG:-clang}
folder=build/fuzz
targets=(mtx edge unpack format sizes product dense)

if [ "${1:-}" = targets ]; then
  echo "${targets[@]}"
  exit 0
fi
if [ $# = 0 ]; then
  if [ "$(uname -m)" != x86_64 ]; then
    echo "skip corpus of fuzz targets: they call the kernels for x86 processors by name"
    exit 0
  fi
  if ! command -v "$CLANG" >/dev/null || ! echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return d == 0 && n; }' | "$CLANG" -x c - -fsanitize=fuzzer,address,undefined -o /dev/null 2>/dev/null; then
    echo "skip corpus of fuzz targets: there is no clang with libFuzzer (Debian: clang libclang-rt-14-dev)"
    exit 0
  fi
fi
command -v "$CLANG" >/dev/null || { echo "fuzzing needs clang and its compiler-rt (Debian: clang libclang-rt-14-dev)" >&2; exit 1; }

# limits TARGET: what a program may allocate, in MB
limits() {
  export ASAN_OPTIONS=allocator_may_return_null=1
  [ "$1" != sizes ] || ASAN_OPTIONS+=:max_allocation_size_mb=256
}

# build TARGET FLAGS...: sources and what they need
build() {
  local target=$1 impls=src/mat/impls io=src/mat/io source object jobs=0
  local -a sources flags=() libraries=(-lm)
  shift
  case $target in
  mtx) sources=($io/mtxparse.c $io/mtxdecimal.c) flags=(-DMTX_LINE_MAX=64) libraries=(-lpthread) ;; # the limit of a line is met often
  edge) sources=(src/graph/io/edgeparse.c $io/mtxparse.c $io/mtxdecimal.c) libraries=(-lpthread) ;;
  unpack) sources=($io/mtxunpack.c) flags=(-DPETSCAMB_HAVE_ZLIB -DPETSCAMB_HAVE_LZMA -DPETSCAMB_HAVE_BZ2) libraries=(-lz -llzma -lbz2) ;;
  format | sizes)
    sources=(src/sys/sys{memory,values,table,numbers}.c $impls/amb/host/amb{host,layout}.c $impls/nus/host/nus{host,layout,fill,share,plan,search}.c $impls/ccoo/host/ccoo{host,layout,plan,values}.c
    $impls/tilecomposite/host/tile{host,layout,plan}.c $impls/{amb/host/amb,{nus/host/nus,ccoo/host/ccoo,tilecomposite/host/tile}_isa}_{plain,avx2,avx512}.c)
    [ "$target" = format ] || sources+=($impls/hashgemm/host/spgemm{host,chain,operand,work,_plain,_avx2,_avx512}.c $impls/spmm/host/{spmmhost,spmm_isa_{plain,avx2,avx512}}.c
      src/graph/batch/host/batch{host,_isa_plain,_isa_avx2,_isa_avx512}.c src/graph/host/graphprune.c) libraries+=(-Wl,--wrap=mmap)
    ;;
  product) sources=(src/sys/sysmemory.c $impls/hashgemm/host/spgemm{host,chain,operand,work,_plain,_avx2,_avx512}.c) flags=(-DSPGEMM_DENSE_MAX=512 -DSPGEMM_WINDOWS=65536 -DSPGEMM_STREAM=4096 -DSPGEMM_PLAN_BYTES=2000) ;;
  dense) sources=(src/sys/sys{memory,numbers}.c $impls/spmm/host/{spmmhost,sddmm,spmm_isa_{plain,avx2,avx512}}.c src/graph/batch/host/batch{host,_isa_plain,_isa_avx2,_isa_avx512}.c) ;;
  *) echo "there is no target $target: ${targets[*]}" >&2; return 1 ;;
  esac
  sources+=("test/fuzz/${target}_fuzz.c")
  mkdir -p "$folder/$target"
  rm -f "$folder/$target"/*.o
  for source in "${sources[@]}"; do
    local -a isa=()
    local file=$source
    case $source in
    *_avx2.c) isa=(-mavx2 -mfma) ;;
    *_avx512.c) isa=(-mavx2 -mfma -mavx512f -mavx512vl -mavx512bw -mavx512dq) ;;
    esac
    case $source in # NAME_isa.c is compiled for each instruction set, as by the makefile
    *_isa_plain.c) isa+=(-DSYS_ISA=Plain) file=${source%_plain.c}.c ;;
    *_isa_avx2.c) isa+=(-DSYS_ISA=AVX2) file=${source%_avx2.c}.c ;;
    *_isa_avx512.c) isa+=(-DSYS_ISA=AVX512) file=${source%_avx512.c}.c ;;
    esac
    object=$folder/$target/$(basename "$source" .c).o
    # checks of NULL and of object sizes would double the time of compiling, and the address sanitizer sees what they would
    "$CLANG" -std=gnu11 -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=null,object-size,pointer-overflow -fno-sanitize-recover=all -DSYS_TYPES_GIVEN -DPETSCAMB_HAVE_AVX2 \
      -DPETSCAMB_HAVE_AVX512 -Isrc "${flags[@]}" "${isa[@]}" "$@" -c "$file" -o "$object" &
    if [ $((++jobs % 2)) = 0 ]; then wait; fi
  done
  wait
  "$CLANG" -fsanitize=fuzzer,address,undefined "$folder/$target"/*.o "${libraries[@]}" -o "$folder/${target}_fuzz"
}

# unpack_corpus TARGET: the inputs of the corpus as files in build/fuzz/TARGET-corpus
unpack_corpus() {
  mkdir -p "$folder/$1-corpus"
  python3 -c '
import hashlib, sys, tarfile
with tarfile.open("test/fuzz/corpus.tar.xz") as corpus:
    for member in corpus:
        if member.name.startswith(sys.argv[1] + "/"):
            data = corpus.extractfile(member).read()
            open(sys.argv[2] + "/" + hashlib.sha1(data).hexdigest(), "wb").write(data)' "$1" "$folder/$1-corpus"
}

case ${1:-replay} in
replay)
  status=0
  [ $# -lt 2 ] || targets=("$2")
  for target in "${targets[@]}"; do
    rm -rf "$folder/$target-corpus"
    limits "$target"
    if build "$target" && unpack_corpus "$target" && "$folder/${target}_fuzz" -malloc_limit_mb=1000000 -runs=0 -artifact_prefix="$folder/" "$folder/$target-corpus" >"$folder/$target.log" 2>&1; then
      echo "ok corpus of $target: $(ls "$folder/$target-corpus" | wc -l) inputs"
    else
      tail -n 30 "$folder/$target.log" >&2 || :
      echo "not ok corpus of $target"
      status=1
    fi
  done
  exit $status
  ;;
keep)
  target=$2
  rm -rf "$folder/$target-least"
  mkdir -p "$folder/$target-least"
  limits "$target"
  "$folder/${target}_fuzz" -malloc_limit_mb=1000000 -merge=1 "$folder/$target-least" "$folder/$target-corpus" 2>&1 | grep MERGE-OUTER
  python3 -c '
import glob, io, os, sys, tarfile
names = sorted(glob.glob(sys.argv[1] + "/*"), key=lambda name: (os.path.getsize(name), name))
target, many = sys.argv[2], int(sys.argv[3])
kept = names if len(names) <= many else [names[k * len(names) // many] for k in range(many)]
with tarfile.open("test/fuzz/corpus.tar.xz") as corpus:
    inputs = [(member.name, corpus.extractfile(member).read()) for member in corpus if not member.name.startswith(target + "/")]
inputs += [("%s/%03d" % (target, k), data) for k, data in enumerate(sorted(open(name, "rb").read() for name in kept))]
with tarfile.open("test/fuzz/corpus.tar.xz", "w:xz") as corpus:
    for name, data in sorted(inputs):
        member = tarfile.TarInfo(name)
        member.size = len(data)
        corpus.addfile(member, io.BytesIO(data))
print(len(kept), "inputs")' "$folder/$target-least" "$target" "${3:-300}"
  ;;
*)
  target=$1
  seconds=${2:-600}
  build "$target" $(for flag in "$@"; do case $flag in -D*) echo "$flag" ;; esac; done)
  unpack_corpus "$target"
  limits "$target"
  "$folder/${target}_fuzz" -malloc_limit_mb=1000000 -max_total_time="$seconds" -max_len=2000 $([ "$target" != mtx ] || echo "-dict=test/fuzz/mtx.words") -timeout=120 -print_final_stats=1 -artifact_prefix="$folder/" "$folder/$target-corpus"
  ;;
esac
