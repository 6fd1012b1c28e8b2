#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Calls of NCCL that fail on one process: a start that fails is a start that fails on all processes, and a later error ends the job. A false libnccl.so.2 stands before the
# true one, or in its place.
#   bash test/hosts/nccl.sh          all of it
#   bash test/hosts/nccl.sh start    the start alone, where GPU and NCCL are feigned
#   bash test/hosts/nccl.sh gpus     solves on two GPUs
# Prints ok, not ok or skip for each.
#
# make test sets BUILD, BIN, MPIEXEC, PETSC_DIR and PETSC_ARCH.
# gpu: 0 start
# gpu: 2 alone gpus
# timeoutfactor: 3
# nsize: 2
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
BIN=${BIN:-$root/bin}
BUILD=${BUILD:-$(cd -P "$root/bin/.." && pwd)}
MPIEXEC=${MPIEXEC-mpiexec}
conf() { eval "echo $(sed -n "s/^$1 := //p" "$BUILD/conf.mk")"; }
if ! grep -q PETSCAMB_HAVE_NCCL "$BUILD/petscambconf.h"; then
  echo "skip nccl${1:+, $1}: petsc-amb was configured without NCCL"
  exit 0
fi
if [ -z "$MPIEXEC" ]; then
  echo "skip nccl: there is no mpiexec"
  exit 0
fi
. "$(dirname "$0")/../shell/expect.sh"
export OMP_NUM_THREADS=1 OMPI_MCA_mpi_yield_when_idle=1
unset PETSC_OPTIONS

# NCCL_FAILS="NAME N RANK": the N-th call of this function on this process fails, before the true one is called. NCCL_TRUE is the true library; without it a start waits
# until the files of all processes are in the folder NCCL_MEET, and nothing else is done.
cat >"$work/false.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
typedef struct { char internal[128]; } Id;
static int rank;
static void *True(const char *name)
{
  static void *library;
  if (!getenv("NCCL_TRUE")) return NULL;
  if (!library) library = dlopen(getenv("NCCL_TRUE"), RTLD_NOW | RTLD_LOCAL);
  if (!library) abort();
  return dlsym(library, name);
}
static int Fails(const char *name)
{
  static int calls;
  char which[64];
  int n, process;
  return getenv("NCCL_FAILS") && sscanf(getenv("NCCL_FAILS"), "%63s %d %d", which, &n, &process) == 3 && rank == process && !strcmp(name + 4, which) && ++calls == n;
}
#define FALSE(name, parameters, arguments) \
  int name parameters \
  { \
    int (*call) parameters; \
    if (Fails(#name)) return 1; \
    call = True(#name); \
    return call ? call arguments : 0; \
  }
FALSE(ncclGetUniqueId, (Id *id), (id))
FALSE(ncclCommAbort, (void *comm), (comm))
FALSE(ncclCommDestroy, (void *comm), (comm))
FALSE(ncclGroupStart, (void), ())
FALSE(ncclGroupEnd, (void), ())
FALSE(ncclSend, (const void *p, size_t n, int type, int peer, void *comm, void *stream), (p, n, type, peer, comm, stream))
FALSE(ncclRecv, (void *p, size_t n, int type, int peer, void *comm, void *stream), (p, n, type, peer, comm, stream))
#ifndef LACKS_ALLGATHER
FALSE(ncclAllGather, (const void *p, void *q, size_t n, int type, void *comm, void *stream), (p, q, n, type, comm, stream))
#endif
const char *ncclGetErrorString(int code)
{
  const char *(*call)(int) = True("ncclGetErrorString");
  return call ? call(code) : "it fails";
}
int ncclCommInitRank(void **comm, int size, Id id, int me)
{
  int (*call)(void **, int, Id, int) = True("ncclCommInitRank");
  char name[4096];
  rank = me;
  if (Fails("ncclCommInitRank")) return 1;
  if (call) return call(comm, size, id, me);
  for (int k = -1; k < size; k++) {
    snprintf(name, sizeof(name), "%s/%d.%d", getenv("NCCL_MEET"), size, k < 0 ? me : k);
    if (k < 0) fclose(fopen(name, "w"));
    else while (access(name, F_OK)) usleep(1000);
  }
  *comm = &rank;
  return 0;
}
END
cat >"$work/feigned.c" <<'END'
#include <cuda_runtime_api.h>
#include <string.h>
#include <unistd.h>
cudaError_t cudaGetDevice(int *device) { return *device = 0, cudaSuccess; }
cudaError_t cudaSetDevice(int device) { return cudaSuccess; }
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *about, int device)
{
  const int id = (int)getpid();
  memset(about, 0, sizeof(*about));
  memcpy(&about->uuid, &id, sizeof(id));
  return cudaSuccess;
}
END
cat >"$work/start.c" <<'END'
#include "mat/halo/halo.h"
int main(int argc, char **argv)
{
  MatHaloComm *c;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  for (int k = 0; k < 2; k++) {
    const MPI_Comm comm = k ? PETSC_COMM_SELF : PETSC_COMM_WORLD;
    PetscCall(MatHaloCommGet(comm, &c));
    PetscCall(MatHaloStartNCCL(comm, c));
    PetscCall(PetscSynchronizedPrintf(PETSC_COMM_WORLD, "%s: %s\n", k ? "itself" : "together", c->without ? c->without : "NCCL"));
    PetscCall(PetscSynchronizedFlush(PETSC_COMM_WORLD, PETSC_STDOUT));
  }
  PetscCall(PetscFinalize());
  return 0;
}
END

# build COMMAND...: what does not compile is a failure
build() {
  "$@" >"$work/out" 2>&1 && return
  cat "$work/out" >&2
  echo "not ok nccl: compiles"
  exit 1
}
CC=${CC:-cc}
build $CC -shared -fPIC -Wl,-soname,libnccl.so.2 "$work/false.c" -o "$work/libnccl.so.2" -ldl

# ------------------------------------------------- the start -------------------------------------------------

# start FAILS [LIBRARY]: the lines of both processes, with their number
start() {
  local got
  rm -rf "$work/meet"
  mkdir "$work/meet"
  NCCL_FAILS=$1 NCCL_MEET=$work/meet timeout 60 "$MPIEXEC" -n 2 env LD_PRELOAD="$work/feigned.so $work/${2:-libnccl.so.2}" "$work/start" >"$work/lines" 2>"$work/err"
  got=$?
  cat "$work/err"
  sort "$work/lines" | uniq -c
  return $got
}

if [ "${1:-}" != gpus ]; then
  build $CC $(conf AMB_INCLUDES) -shared -fPIC "$work/feigned.c" -o "$work/feigned.so"
  mkdir "$work/lacks"
  build $CC -DLACKS_ALLGATHER -shared -fPIC -Wl,-soname,libnccl.so.2 "$work/false.c" -o "$work/lacks/libnccl.so.2" -ldl
  build $(conf AMB_LINK) -include "$BUILD/petscambconf.h" -I"$root/include" -I"$root/src" $(conf AMB_INCLUDES) $(conf AMB_CFLAGS) "$work/start.c" -o "$work/start" "$BUILD"/lib/libpetscamb*.a $(test -n "$(conf AMB_POOL)" || conf AMB_OPENMP_FLAGS) \
    $(conf AMB_LIBS) $(conf AMB_CUDA_LIBS) -Wl,--unresolved-symbols=ignore-in-shared-libs
  none="together: NCCL does not start between these processes"
  expect "NCCL starts" 0 "^ *2 together: NCCL\$" start ""
  expect "there is no id on one process" 0 "^ *2 $none" start "GetUniqueId 1 0"
  expect "a start fails on the first process" 0 "^ *2 $none" start "CommInitRank 1 0"
  expect "a start fails on the last process" 0 "^ *2 $none" start "CommInitRank 1 1"
  expect "and the next one succeeds" 0 "^ *2 itself: NCCL\$" start "CommInitRank 1 1"
  expect "a function is missing" 0 "^ *2 together: libnccl.so.2 was not found" start "" lacks/libnccl.so.2
  expect "and is missing later" 0 "^ *2 itself: libnccl.so.2 was not found" start "" lacks/libnccl.so.2
fi
[ "${1:-}" != start ] || exit $failed

# ------------------------------------------------- on two GPUs -------------------------------------------------

if [ "$(ls -d /dev/nvidia[0-9]* 2>/dev/null | wc -l)" -lt 2 ] || [[ ${CUDA_VISIBLE_DEVICES-all,all} != *,* ]]; then
  echo "skip nccl, solves: they need two GPUs"
  exit $failed
fi
true_library=
for folder in ${LD_LIBRARY_PATH:+${LD_LIBRARY_PATH//:/ }} $(conf AMB_CUDA_LIBS | grep -o -- '-L[^ ]*' | cut -c3-) $(ldconfig -p | sed -n 's/.*libnccl\.so\.2 .*=> \(.*\)\/[^/]*$/\1/p') /usr/local/cuda/lib64; do
  [ -n "$true_library" ] || [ ! -e "$folder/libnccl.so.2" ] || true_library=$folder/libnccl.so.2
done
if [ -z "$true_library" ]; then
  echo "skip nccl, solves: there is no libnccl.so.2"
  exit $failed
fi

# solve NAME FAILS CODE PATTERNS COMMAND...: one of several at a time; PATTERNS has one to a line, of which each must be found
solve() {
  local name=$1 fails=$2 code=$3 patterns=$4 pattern missing= out got begin=$SECONDS
  out=$(mktemp "$work/XXXXXX")
  shift 4
  NCCL_TRUE=$true_library NCCL_FAILS=$fails timeout -k 5 60 "$MPIEXEC" -n 2 env LD_PRELOAD="$work/libnccl.so.2" "$@" -use_gpu_aware_mpi 0 -mat_shadow_tune off >"$out" 2>&1
  got=$?
  [ "$code" = fail ] && [ $got != 0 ] && [ $got != 124 ] && [ $got != 137 ] && code=$got
  while read -r pattern; do grep -qE -e "$pattern" "$out" || missing=$pattern; done <<<"$patterns"
  if [ $got = "$code" ] && [ -z "$missing" ]; then echo "ok nccl, $name"; else
    echo "not ok nccl, $name: exit code $got after $((SECONDS - begin)) s, asked for $code${missing:+; no line with $missing}"
    tail -n 40 "$out" | sed 's/^/    /' >&2
    touch "$work/failed"
  fi
}
multigpu=("$BIN/multigpu" -n 20 -types amb -its 40 -rounds 2 -times 0 -mat_shadow_halo nccl)
right="the solution is right"
refused="The halo cannot go by nccl: NCCL does not start between these processes"
solve "no call fails" "" 0 "$right" "${multigpu[@]}" &
solve "ambcg, no call fails" "" 0 "$right" "${multigpu[@]}" -solvers ambcg -petscamb_peers 0 &
solve "no id" "GetUniqueId 1 0" fail "$refused" "${multigpu[@]}" &
solve "no start on the first process" "CommInitRank 1 0" fail "$refused" "${multigpu[@]}" &
solve "no start on the last process" "CommInitRank 1 1" fail "$refused" "${multigpu[@]}" &
wait
# 24,000 products: then auto starts NCCL, and goes on without it and says why. No other solve runs beside this one, or the processes take turns at each product.
solve "auto, no start" "CommInitRank 1 1" 0 "$right"$'\n'"less by NCCL: NCCL does not start" "${multigpu[@]}" -mat_shadow_halo auto -rounds 600 -info :mat
for call in "GroupStart 1 1" "Recv 1 1" "Send 1 1" "GroupEnd 1 1"; do solve "$call" "$call" fail "NCCL: .*, in nccl.?${call%% *}\(" "${multigpu[@]}" & done
wait
for call in "GroupStart 60 0" "Recv 60 0" "Send 60 0" "GroupEnd 60 0" "CommDestroy 1 1"; do solve "$call" "$call" fail "NCCL: .*, in nccl.?${call%% *}\(" "${multigpu[@]}" & done
wait
for call in "AllGather 1 1" "AllGather 2 0" "Send 2 1"; do solve "ambcg, $call" "$call" fail "NCCL: .*, in nccl.?${call%% *}\(" "${multigpu[@]}" -solvers ambcg -petscamb_peers 0 & done
solve "petscamb, Send 3 1" "Send 3 1" fail "NCCL: .*, in nccl.?Send\(" "$BIN/petscamb" graph pagerank rmat:10,8 -top 0 -iterations 20 -tol 0 -mat_shadow_halo nccl &
wait
[ ! -e "$work/failed" ] || failed=1
exit $failed
