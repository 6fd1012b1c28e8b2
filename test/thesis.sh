#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# bench/thesis.py: each table and figure of the thesis has an experiment or a reason, and two of them run. No time is judged.
#
# make test sets BIN.
set -u
. "$(dirname "$0")/shell/expect.sh"
export PETSCAMB=$BIN/petscamb
python=$(command -v "${PYTHON:-python3}")
thesis=$root/bench/thesis.py
cd "$work" || exit 1
"$python" "$thesis" --list >list
{ for k in $(seq 1 15); do echo 3.$k; done && for k in $(seq 3 9); do echo 4.$k; done && for k in $(seq 3 8); do echo 5.$k; done && for k in $(seq 5 17); do echo 6.$k; done; } >wanted
expect "every experiment is listed" 0 "^same$" sh -c "grep -oE '^[0-9]+\.[0-9]+' list | diff - wanted && echo same"
expect "each says what differs" 0 "^41 41$" sh -c 'echo $(wc -l <wanted) $(grep -cE "^      (differs|not repeated).*: ." list)'
expect "an unknown one" 2 "^9.9: there is no such experiment" "$python" "$thesis" 9.9
expect "one that cannot be repeated" 2 "^6.5 .* cannot be repeated: needs" "$python" "$thesis" 6.5
expect "one for a GPU, without one" 2 "^3.4 .* needs a GPU" "$python" -c '
import runpy, shutil, sys
shutil.which = lambda name: None
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")' "$thesis" 3.4
expect "no number" 2 "which experiment" "$python" "$thesis"
expect "block sizes" 0 "^4.8 Figure" "$python" "$thesis" --small 4.8 -o out1
expect "a tall matrix" 0 "^6.16 Figure" "$python" "$thesis" --small 6.16 -o out1
cat >rows.py <<'END2'
import csv
blocks, tall = (list(csv.DictReader(open("out1/%s.csv" % name))) for name in ("4.8", "6.16"))
assert {row["matrix"] for row in blocks} == {"elasticity:5", "p27:8"} and {row["type"] for row in blocks} == {"aij", "amb"} | {"amb@b%d" % b for b in range(1, 9)}, blocks
assert {row["type"] for row in tall} == {"aij", "hashgemm", "hashgemm@hash", "hashgemm@hashvec", "hashgemm@heap"} and {row["op"] for row in tall} == {"tall"}, tall
assert all(float(row["median_s"]) > 0 and row["status"] == "ok" for row in blocks + tall)
assert all("block_size %s," % row["type"][-1] in row["note"] for row in blocks if "@" in row["type"])
assert all(float(row["speed"]) == 1 for row in tall if row["type"] == "aij")
print("rows are there")
END2
expect "their rows" 0 "^rows are there$" "$python" rows.py
if "$python" -c 'import matplotlib' 2>/dev/null; then expect "the picture again" 0 "</svg>" sh -c "'$python' '$thesis' --draw 4.8 -o out1 && tail -1 out1/4.8.svg"
else expect "no picture without matplotlib" 0 "^4.8: no picture" "$python" "$thesis" --draw 4.8 -o out1; fi
exit $failed
