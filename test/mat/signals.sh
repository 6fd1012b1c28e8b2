#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Signals while a program converts, while another thread converts, and between products: Ctrl-C, SIGTERM and the signals of time limits end the program within seconds, with the
# code of that signal or of an error. Prints ok or not ok for each.
#
# make test sets BUILD; by hand, what bin/ points to serves.
set -u
BUILD=${BUILD:-$(cd -P "$(dirname "$0")/../../bin/" && cd .. && pwd -P)}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive
export OMPI_MCA_ess_singleton_isolated=1 # no daemon of Open MPI, whose start once took longer than the program may
failed=0
work=$(mktemp -d "${TMPDIR:-/tmp}/petscamb-signals-XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# interrupt SIGNAL WHAT: the program of that loop; a shell's children in the background ignore SIGINT unless something sets it back
interrupt() {
  local pid status
  : >out # the shell in the background empties it too, but maybe later than the first look into it
  python3 -c 'import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])' "$BUILD/test/signals" -mat_type amb -mat_shadow_tune off -signals_loop "$2" >out 2>err &
  pid=$!
  for _ in $(seq 300); do
    grep -q begun out && break
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  sleep "0.$((RANDOM % 3))"
  kill -s "$1" "$pid"
  for _ in $(seq 300); do
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  kill -9 "$pid" 2>/dev/null && echo "the program goes on 30 s after the signal" >&2
  wait "$pid" 2>/dev/null
  status=$?
  if grep -q begun out && [ $status -ne 0 ] && [ $status -ne 137 ]; then
    echo "ok SIG$1, $2"
  else
    echo "not ok SIG$1, $2"
    echo "exit code $status" >&2
    tail -n 20 err >&2
    failed=1
  fi
}
for what in conversion tuner products; do
  for signal in INT TERM ALRM XCPU; do interrupt $signal $what 2>&1; done
done
exit $failed
