#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What make run rests on: the rounds of petscamb solve, and what bench/run.py makes of them. No time is judged. Prints ok, not ok or skip for each.
#
# make test sets BIN, MPIEXEC and PYTHON.
# gpu: 0
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/petscamb-rounds-XXXXXX")
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1
unset PETSC_OPTIONS
cd "$work" || exit 1
failed=0
solver="-ksp_type cg -pc_type jacobi -ksp_rtol 1e-6 -mat_amb_device cpu"

check() { # NAME: by the status of the command before
  if [ $? = 0 ]; then echo "ok $1"; else
    echo "not ok $1"
    head -c 5000 out ./*.csv >&2
    failed=1
  fi
}

"$BIN/petscamb" solve p7:12 $solver -seconds 0 -rounds 4 -csv rounds.csv >out 2>&1 && [ "$(cut -d, -f2 rounds.csv | paste -sd ' ')" = "type aij amb aij amb aij amb aij amb" ]
check "types take turns"
[ "$(tail -n +2 rounds.csv | cut -d, -f3,4 | sort -u | wc -l)" = 1 ] && awk -F, 'NR > 1 && !($6 >= 0 && $7 > 0 && $8 > 0 && $9 > 0 && $10 > 0) { exit 1 }' rounds.csv
check "the same solves, and all times are there"
"$BIN/petscamb" solve p7:12 $solver -seconds 1e-9 -rounds 1 -csv rounds.csv >out 2>&1 && [ "$(wc -l <rounds.csv)" = 3 ]
check "one round, if that is enough"
"$BIN/petscamb" solve p7:12 $solver -seconds 1e9 -limit 0 -csv rounds.csv >out 2>&1 && [ "$(wc -l <rounds.csv)" = 3 ]
check "one round, if there is no time"
"$BIN/petscamb" solve p7:4 $solver -seconds 1e9 -csv rounds.csv >out 2>&1 && [ "$(wc -l <rounds.csv)" = 401 ]
check "rounds have an end"
"$BIN/petscamb" solve p7:9 p5:12 $solver -scaled -seconds 0 -rounds 1 -csv rounds.csv >out 2>&1 && [ "$(cut -d'"' -f2 rounds.csv | tail -n +2 | sort -u | paste -sd ';')" = "p5:12;p5:12, scaled;p7:9;p7:9, scaled" ] && grep -q "^4 systems, aij over each type: median and least$" out
check "systems with scaled values, and their summary"
"$BIN/petscamb" solve p7:9 p5:12 $solver -apart -seconds 0 -rounds 1 -csv rounds.csv >out 2>&1 && [ "$(cut -d'"' -f2 rounds.csv | tail -n +2 | paste -sd ' ')" = "p7:9 p5:12 p7:9 p5:12" ] && [ "$(cut -d, -f2 rounds.csv | tail -n +2 | paste -sd ' ')" = "aij aij amb amb" ] && grep -q "^2 systems" out
check "types one after the other"
! "$BIN/petscamb" solve p7:12 $solver -ksp_max_it 1 -rounds 1 >out 2>&1 && grep -q "not converged: DIVERGED_ITS" out
check "a solve that does not converge"
if [ -n "${MPIEXEC-mpiexec}" ]; then
  ${MPIEXEC:-mpiexec} -n 2 "$BIN/petscamb" solve p7:12 $solver -rounds 2 -seconds 0 -csv rounds.csv >out 2>&1 && [ "$(wc -l <rounds.csv)" = 5 ]
  check "two ranks"
else
  echo "skip two ranks: there is no mpiexec"
fi

"${PYTHON:-python3}" - "$root/bench" >out 2>&1 <<'END'
import io, contextlib, sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import run

def outcome(firsts):
    return run.Outcome([run.Sample(10, 1e-9, 0.1, first, None, 1e-5, 12.0) for first in firsts])

assert outcome([3.0, 1.0, 2.0]).first == 2.0 and outcome([3.0, 1.0, 2.0]).spread == 1.0
assert outcome([1.0]).spread is None and outcome([1.0]).second is None

def closing(pairs):
    with contextlib.redirect_stdout(io.StringIO()) as text:
        run.verdict("aij", "amb", [(outcome(a), outcome(b)) for a, b in pairs], 1)
    return text.getvalue().splitlines()

# one gain, one loss, one ratio within its spread
lines = closing([([2.0, 2.02, 2.04], [1.0, 1.0, 1.0]), ([1.0, 1.0, 1.0], [2.0, 2.0, 2.02]), ([1.0, 1.1, 1.2], [1.0, 1.05, 1.1])])
assert len(lines) == 1 and "agree in all 3 solves" in lines[0] and "faster in 1, slower in 1, and within the noise (2 %) in 1" in lines[0], lines
# times that differ by half from round to round tell nothing, and that is said
lines = closing([([1.0, 1.5, 2.0], [1.0, 1.2, 1.4])])
assert len(lines) == 2 and lines[0].startswith("This machine was busy") and "faster in 0, slower in 0" in lines[1], lines
assert closing([([1.0], [0.9])])[0].startswith("This machine was busy")
END
check "what the table comes to"
exit $failed
