#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Builds the device benchmarks, for double and for float:
#   bench/cuda/build.sh DIR [NVCC FLAGS...]     makes spmv, spgemm, spmm and batched in DIR, those for float: spmv_float and so on, and merge
set -eu
[ $# -ge 1 ] || { echo "usage: $0 DIR [NVCC FLAGS...]" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nvcc=${NVCC:-nvcc}
cc=${CC:-gcc}
. config/werror.sh
cores=$(env -u OMP_NUM_THREADS nproc) # with the variable, nproc says how many threads a program may have
# how a job ended is kept in a file: bash forgets it as soon as the process id is given out again
for source in src/mat/io/mtxparse.c src/mat/io/mtxdecimal.c; do
  "$cc" -std=gnu11 -O3 -Wall -Wextra "${werror[@]}" -Isrc -c -o "$work/$(basename "$source" .c).o" "$source"
done
for type in double float; do
  single=$([ $type = float ] && echo -DSYS_SINGLE || true)
  mkdir "$work/$type"
  for source in src/sys/sys{table,values,memory}.c src/mat/impls/tilecomposite/host/tileplan.c src/mat/impls/tilecomposite/host/tilelayout.c src/mat/impls/nus/host/nussearch.c; do
    "$cc" -std=gnu11 -O3 -fopenmp -Wall -Wextra "${werror[@]}" -DSYS_TYPES_GIVEN $single -Isrc -c -o "$work/$type/$(basename "$source" .c).o" "$source"
  done
  for source in bench/cuda/spmv.cu bench/cuda/spgemm.cu bench/cuda/spmm.cu bench/cuda/batched.cu bench/cuda/matrix.cc src/sys/*.cu src/mat/impls/amb/cuda/*.cu src/mat/impls/nus/cuda/*.cu src/mat/impls/ccoo/cuda/*.cu src/mat/impls/tilecomposite/cuda/*.cu src/mat/impls/hashgemm/cuda/spgemmcuda*.cu src/mat/impls/spmm/cuda/*.cu src/graph/batch/cuda/*.cu; do
    { "$nvcc" -O3 -std=c++17 -lineinfo -arch="${CUDA_ARCH:-sm_90}" "${nvwerror[@]}" -Xcompiler -fopenmp,-Wall -DSYS_TYPES_GIVEN $single -Isrc "$@" -c -o "$work/$type/$(basename "$source").o" "$source" || : >"$work/failed"; } &
    while [ "$(jobs -rp | wc -l)" -ge "$cores" ]; do sleep 0.1; done
  done
done
{ "$nvcc" -O3 -std=c++17 -arch="${CUDA_ARCH:-sm_90}" "${nvwerror[@]}" "$@" -o "$out/merge" bench/cuda/merge.cu || : >"$work/failed"; } &
wait
[ ! -e "$work/failed" ]
for type in double float; do
  suffix=$([ $type = float ] && echo _float || true)
  "$nvcc" -arch="${CUDA_ARCH:-sm_90}" -Xcompiler -fopenmp -o "$out/spmv$suffix" "$work/$type"/{spmv.cu,matrix.cc}.o "$work/$type"/{nuscuda,nussearch,ccoocuda,tile,ambcuda,sys}*.o "$work"/*.o -lcusparse -lpthread
  "$nvcc" -arch="${CUDA_ARCH:-sm_90}" -Xcompiler -fopenmp -o "$out/spgemm$suffix" "$work/$type"/{spgemm.cu,matrix.cc}.o "$work/$type"/{spgemmcuda,sys}*.o "$work"/*.o -lcusparse -lpthread
  "$nvcc" -arch="${CUDA_ARCH:-sm_90}" -Xcompiler -fopenmp -o "$out/spmm$suffix" "$work/$type"/{spmm.cu,matrix.cc}.o "$work/$type"/{spmmcuda,sddmmcuda,sys}*.o "$work"/*.o -lcusparse -lpthread
  "$nvcc" -arch="${CUDA_ARCH:-sm_90}" -Xcompiler -fopenmp -o "$out/batched$suffix" "$work/$type"/{batched.cu,matrix.cc}.o "$work/$type"/{batchcuda,sys}*.o "$work"/*.o -lcusparse -lcublas -lpthread
done
