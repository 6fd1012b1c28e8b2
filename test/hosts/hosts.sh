#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Matrices on several hosts: network namespaces of this machine, each with a name and an address of its own, and Open MPI between them by TCP.
#   bash test/hosts/hosts.sh          programs on two and three hosts, with a fast network and with one of 5 ms and 1 % loss; a host that goes away
#   bash test/hosts/hosts.sh model    the time of a product against latency and bytes of the halo, as a table
#   bash test/hosts/hosts.sh links [PROGRAM...]   conformance programs (change, mult ...; by default seven) over a network of 1 ms, and of 1 ms and 1 % loss, on 2 and 4 processes
#
# make check-deep sets BUILD, BIN, MPIEXEC and PYTHON; by hand, what bin/ points to and the programs found serve.
# gpu: 2
# tier: deep
# timeoutfactor: 10
# nsize: 2
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
BIN=${BIN:-$root/bin}
BUILD=${BUILD:-$(cd -P "$root/bin/.." && pwd)}
MPIEXEC=${MPIEXEC-mpiexec}
PYTHON=${PYTHON:-python3}
failed=0

skip() {
  echo "skip hosts: $1"
  exit 0
}
[ "$(id -u)" = 0 ] || skip "namespaces need root"
for tool in ip unshare; do command -v $tool >/dev/null || skip "there is no $tool: install iproute2 and util-linux"; done
[ -n "$MPIEXEC" ] && $MPIEXEC --version 2>&1 | grep -qi 'open.\?mpi\|openrte' || skip "it starts its processes as Open MPI does, which is not here"

work=$(mktemp -d "${TMPDIR:-/tmp}/petscamb-hosts-XXXXXX")
tag=amb$$
network=10.$((RANDOM % 200 + 20)).$((RANDOM % 250))
wire=
# all that runs in the namespaces was started here
end_hosts() {
  local name
  [ -z "$wire" ] || kill "$wire" 2>/dev/null
  wire=
  for name in $(ip netns list | sed -n "s/^\($tag[^ ]*\).*/\1/p"); do
    kill -9 $(ip netns pids "$name") 2>/dev/null
    ip netns del "$name"
  done
}
trap 'end_hosts; rm -rf "$work"' EXIT
ip netns add "$tag-try" 2>/dev/null || skip "this kernel, or its container, allows no network namespaces"
ip netns del "$tag-try"

# in place of ssh: AGENT ADDRESS COMMAND...
cat >"$work/agent" <<END
#!/bin/sh
name=$tag-\${1##*.}
shift
exec ip netns exec "\$name" unshare --uts sh -c 'hostname "\$1"; shift; exec sh -c "\$*"' sh "\$name" "\$@"
END
chmod +x "$work/agent"

# Makes hosts 1 to N with the addresses NETWORK.1 to NETWORK.N: hosts N fast, hosts N late [MS] (5 ms one way, or MS), or hosts N lossy [MS] (1 % loss too)
hosts() {
  local k name names=()
  end_hosts
  for k in $(seq "$1"); do
    names+=("$tag-$k")
    ip netns add "$tag-$k"
  done
  if [ "$2" = fast ]; then
    ip netns add "$tag-switch"
    ip -n "$tag-switch" link add switch type bridge
    ip -n "$tag-switch" link set switch up
    for k in $(seq "$1"); do
      ip -n "$tag-switch" link add "port$k" type veth peer name wire netns "$tag-$k"
      ip -n "$tag-switch" link set "port$k" master switch up
    done
  else
    : >"$work/wire"
    "$PYTHON" "$root/test/hosts/wire.py" "${3:-5}" $([ "$2" = lossy ] && echo 1 || echo 0) "${names[@]}" >"$work/wire" &
    wire=$!
    for _ in $(seq 300); do
      grep -q ready "$work/wire" && break
      sleep 0.1
    done
  fi
  for k in $(seq "$1"); do
    name=$tag-$k
    ip -n "$name" addr add "$network.$k/24" dev wire
    ip -n "$name" link set wire up
    ip -n "$name" link set lo up
  done
}

# An idle connection between hosts is looked at every second, so that the end of a host is noticed
settings=(-mca plm rsh -mca plm_rsh_agent "$work/agent" -mca oob_tcp_if_include wire -mca oob_tcp_keepalive_time 3 -mca oob_tcp_keepalive_intvl 1
  -mca oob_tcp_keepalive_probes 3 -mca btl tcp,self -mca btl_tcp_if_include wire -mca pml ob1 -mca mpi_yield_when_idle 1)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1

# job SECONDS HOSTS PROCESSES COMMAND...: mpiexec on the first host
job() {
  local seconds=$1 nhosts=$2 n=$3 k list=
  shift 3
  for k in $(seq "$nhosts"); do list+=${list:+,}$network.$k:$(((n + nhosts - k) / nhosts)); done
  ip netns exec "$tag-1" unshare --uts sh -c 'hostname "$1"; shift; exec "$@"' sh "$tag-1" timeout -k 5 "$seconds" \
    $MPIEXEC -n "$n" --host "$list" "${settings[@]}" -x OMP_NUM_THREADS "$@" </dev/null
}

report() { # STATUS NAME
  if [ "$1" -eq 0 ]; then echo "ok hosts, $2"; else
    echo "not ok hosts, $2"
    tail -n 40 "$work/err" | sed 's/^/    /' >&2
    failed=1
  fi
}

# run HOSTS PROCESSES WHAT PROGRAM OPTIONS...: all lines must be "ok NAME", as many as the program's block says. Now and then Open MPI 4.1 loses a race between processes that connect at once; its
# message is then printed, and the program starts again.
run() {
  local nhosts=$1 n=$2 what=$3 program=$4 attempt rc
  shift 4
  for attempt in 1 2 3; do
    job 600 "$nhosts" "$n" "$BUILD/test/$program" -options_left no "$@" >"$work/out" 2>"$work/err" && ! grep -v '^ok ' "$work/out" >>"$work/err" &&
      [ "$(wc -l <"$work/out")" -eq "$(sed -n '/^ *checks: /{s///p;q}' "$root"/test/*/"$program.c")" ]
    rc=$?
    [ $rc -ne 0 ] && grep -q 'failed to TCP connect' "$work/err" || break
    echo "attempt $attempt: Open MPI failed to connect two processes" >&2
  done
  report $rc "$what: $program $*"
}

# The processes are on as many hosts as they should be
where() { # HOSTS PROCESSES
  job 60 "$1" "$2" sh -c hostname >"$work/out" 2>"$work/err" && [ "$(sort -u "$work/out" | wc -l)" -eq "$1" ]
  report $? "$2 processes on $1 hosts"
}

if [ "${1:-}" = model ]; then
  for network_speed in fast late lossy; do
    hosts 2 $network_speed
    for n in 8 32 64 96; do
      job 300 2 2 "$BIN/multigpu" -n $n -types aij,amb -its 0 -rounds 3 >"$work/out" 2>"$work/err" || { cat "$work/out" "$work/err"; exit 1; }
      sed "s/^/$network_speed, $((n * n * 8)) bytes each way: /" "$work/out" | grep -E 'aij|amb|Allreduce'
    done
  done
  exit 0
fi

# each message takes 1 ms, and a lost one 200 ms, until TCP sends it again
if [ "${1:-}" = links ]; then
  shift
  [ $# -gt 0 ] || set -- sub mult create query convert traits change
  for network_speed in late lossy; do
    hosts 2 $network_speed 1
    for n in 2 4; do
      for program in "$@"; do run 2 $n "$network_speed, $n processes" conformance_$program -mat_type amb -mat_shadow_tune off; done
    done
  done
  exit $failed
fi

types=$("$PYTHON" "$root/test/runtests.py" --types)
hosts 2 fast
where 2 2
for n in 2 4; do
  for type in aij $types; do
    for program in change mult; do run 2 $n "$n processes on 2 hosts" conformance_$program -mat_type $type -mat_shadow_tune off; done
  done
  for program in create sub; do run 2 $n "$n processes on 2 hosts" conformance_$program -mat_type amb -mat_shadow_tune off; done
done
run 2 2 "2 processes on 2 hosts" hashgemm -mat_type hashgemm

hosts 3 fast
where 3 4
for type in $types; do run 3 4 "4 processes on 3 hosts" conformance_mult -mat_type $type -mat_shadow_tune off; done

# each message takes 5 ms here, and the conformance programs send some ten thousand: solves of two kinds with every type, and one of these programs
hosts 2 lossy
names=aij,${types//$'\n'/,}
for n in 2 4; do
  job 240 2 $n "$BIN/multigpu" -n 12 -types "${names// /,}" -solvers cg,bicg -rounds 1 -times 0 -mat_shadow_tune off >"$work/out" 2>"$work/err"
  rc=$?
  cat "$work/out" >>"$work/err"
  [ $rc -eq 0 ] && [ "$(grep -c 'the solution is right' "$work/out")" -eq $((2 * ($(wc -w <<<"$types") + 1))) ] && ! grep -q WRONG "$work/out"
  report $? "5 ms and 1 % loss: multigpu with every type on $n processes"
done
run 2 2 "5 ms and 1 % loss" conformance_mult -mat_type amb -mat_shadow_tune off

# a host that goes away while the others iterate: its processes end, or its cable is pulled
for how in processes cable; do
  hosts 3 fast
  (job 90 3 3 "$BIN/multigpu" -n 20 -its 100000000 >"$work/out" 2>"$work/err"; echo $? >"$work/rc") &
  for _ in $(seq 50); do
    [ -z "$(ip netns pids "$tag-3")" ] || break
    sleep 0.2
  done
  sleep 3 # they iterate
  begin=$SECONDS
  if [ $how = processes ]; then kill -9 $(ip netns pids "$tag-3"); else ip -n "$tag-3" link set wire down; fi
  wait $!
  rc=$(cat "$work/rc")
  cat "$work/out" >>"$work/err"
  echo "the job ended with status $rc after $((SECONDS - begin)) s" >>"$work/err"
  [ "$rc" -ne 0 ] && [ "$rc" -ne 124 ] && [ "$rc" -ne 137 ] && grep -qiE 'lost|signal|killed|terminated|unreachable|abort' "$work/err"
  report $? "a host goes away: $how"
done
exit $failed
