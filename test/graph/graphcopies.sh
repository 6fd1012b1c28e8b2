#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What petscamb graph copies between host and GPU in its iterations, by PETSc's log: 100 iterations more copy numbers, and no vector.
# Without a GPU only the log's event is looked at.
set -u
. "$(dirname "$0")/../shell/expect.sh"
cd "$root" || exit 1
skip_complex "the weights of a graph are real"
graph=rmat:14,8 vertices=16384

fail() {
  echo "not ok $1"
  sed 's/^/  /' "$work/err" | head -5
  failed=1
}

# copies ALGORITHM ITERATIONS: the copies to the GPU and back of the event, each their number and MB
copies() {
  local seeds=

  [ "$1" != rwr ] || seeds=yes
  "$BIN/petscamb" graph "$1" $graph -tol 0 -iterations "$2" -top 0 ${seeds:+-seeds 0,1,2} -log_view ":$work/log" >"$work/out" 2>"$work/err" || return 1
  awk '/CpuToGpu -/ { gpu = 1 } $1 == "GraphIterate" { print gpu ? $(NF - 4) " " $(NF - 3) " " $(NF - 2) " " $(NF - 1) : "host", $2; found = 1 } END { exit !found }' "$work/log"
}

for algorithm in pagerank hits rwr; do
  if ! few=$(copies $algorithm 20) || ! many=$(copies $algorithm 120); then
    fail "$algorithm: no event GraphIterate in the log"
  elif [ ! -e /dev/nvidiactl ] || [ "${few%% *}" = host ]; then
    if [ "${few##* }" = 1 ]; then echo "ok $algorithm: the iterations are an event of the log"; else fail "$algorithm: the log has ${few##* } events"; fi
    echo "skip $algorithm: copies: there is no GPU"
  else
    # a tenth of the bytes of a vector of single precision in each iteration is far more than sums
    if awk -v few="$few" -v many="$many" -v most=$((vertices * 4 * 100 / 10)) 'BEGIN {
      split(few, f, " "); split(many, m, " ")
      exit !(m[1] + m[3] - f[1] - f[3] >= 100 && 1e6 * (m[2] - f[2]) < most && 1e6 * (m[4] - f[4]) < most)
    }'; then
      echo "ok $algorithm: no vector is copied in an iteration"
    else
      fail "$algorithm: copies to the GPU and back, number and MB: $few in 20 iterations, $many in 120"
    fi
  fi
done
exit $failed
