#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The cells of docs/reproducibility.md that promise the same bits: each result is made on 1, 2 and 3 threads, on 1, 2 and 3 processes, and once more.
#   bash test/mat/reproduce.sh          with the types amb and ccoo
#   bash test/mat/reproduce.sh all      with all types
#   bash test/mat/reproduce.sh device   on a GPU: once more, with all types; and which results have the bits of the host
#
# make test sets BUILD, MPIEXEC and PYTHON; by hand, what bin/ points to and the programs found serve.
# gpu: 3
# tier: test
# tier: deep all
# timeoutfactor: 5
# nsize: 2
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=${BUILD:-$(cd -P "$root/bin/.." && pwd)}
MPIEXEC=${MPIEXEC-mpiexec}
work=$(mktemp -d "${TMPDIR:-/tmp}/petscamb-reproduce-XXXXXX")
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 OMP_WAIT_POLICY=passive
failed=0

if grep -q '^AMB_SCALAR := complex' "$BUILD/conf.mk"; then
  echo "skip reproduce: operations on graphs and dense operands are for real numbers"
  exit 0
fi
types=$("${PYTHON:-python3}" "$root/test/runtests.py" --types)
[ "${1:-}" ] || types="amb ccoo"
where=cpu
[ "${1:-}" != device ] || where=gpu

# make NAME THREADS PROCESSES TUNE OPTIONS...: the numbers of all results of $type in a file NAME
make() {
  local name=$1 threads=$2 n=$3 tune=$4
  shift 4
  OMP_NUM_THREADS=$threads ${MPIEXEC:+$MPIEXEC -n $n} "$BUILD/test/reproduce" -mat_type $type -mat_${type}_device $where -mat_shadow_tune $tune "$@" >"$work/$name" 2>"$work/err"
  [ "$(grep -cE '^[a-zA-Z]+ [0-9a-f]{16}$' "$work/$name")" -eq 14 ] && return
  echo "not ok reproduce, $type: $threads threads, $n processes, $tune"
  sed 's/^/    /' "$work/err" | head -n 30 >&2
  failed=1
}

# same WHAT RESULTS FILE FILE...: these results have the same bits in all files
same() {
  local what=$1 results=$2 result bad=
  shift 2
  for result in $results; do
    [ "$(cd "$work" && grep -h "^$result " "$@" | sort -u | wc -l)" -eq 1 ] || bad="$bad $result"
  done
  if [ -z "$bad" ]; then echo "ok reproduce, $what"; else
    echo "not ok reproduce, $what: other bits in$bad"
    failed=1
  fi
}

all="mult transpose dense denseT sddmm square ptap ambcg ambbcgs ambgmres hierarchy aggregates batch graph"
threads="mult dense denseT sddmm square ptap ambcg ambbcgs ambgmres hierarchy aggregates batch"
ranks="sddmm aggregates batch"

if [ $where = gpu ]; then
  for type in $types; do
    make first 1 1 off
    make again 1 1 off
    results=$all
    # cuSPARSE makes the transposed products of hashgemm, with sums in any order
    [ $type = hashgemm ] && results=$(echo " $all " | sed 's/ transpose / /; s/ graph / /')
    same "$type on a GPU: once more" "$results" first again
    where=cpu
    make host 1 1 off
    where=gpu
    echo "$type: bits of the host in$(cd "$work" && sort first host | uniq -d | sed 's/ .*//' | tr '\n' ' ' | sed 's/^/ /')"
  done
  exit $failed
fi

# the set-up of ambagg, on products of AIJ
type=aij
for n in 1 2 3; do make $n $n 1 off; done
same "aij: 1, 2 and 3 threads" "hierarchy aggregates" 1 2 3
for type in $types; do
  make one 1 1 off
  make two 2 1 off
  make two-again 2 1 off
  make three 3 1 off
  make model 2 1 model
  make model-again 2 1 model
  same "$type: once more" "$all" two two-again
  same "$type: once more, with model" "$all" model model-again
  same "$type: 1, 2 and 3 threads" "$threads" one two three
  [ -n "$MPIEXEC" ] || continue
  make ranks2 1 2 off
  make ranks2-again 1 2 off
  make ranks2-threads 2 2 off
  make ranks3 1 3 off
  same "$type: once more on 2 processes" "$all" ranks2 ranks2-again
  same "$type: 1 and 2 threads on 2 processes" "$threads" ranks2 ranks2-threads
  same "$type: 1, 2 and 3 processes" "$ranks" one ranks2 ranks3
done
[ -n "$MPIEXEC" ] || echo "skip reproduce, several processes: there is no mpiexec"
exit $failed
