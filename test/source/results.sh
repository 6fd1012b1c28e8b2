#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The tables in docs/results are those that the raw results give, and the matrices that were measured are those of data/.
# A run that was cut off says what it lacks, and a ratio of unsteady times is left out. measure.py makes its folder, and says what is missing.
# gpu: 0
# tier: check
set -u
. "$(dirname "$0")/../shell/expect.sh"
python=${PYTHON:-python3}
expect "docs/results" 0 "^ok docs/results is what" "$python" "$root/docs/results/results.py" --check
mkdir -p "$work/docs/results" && ln -s "$root/data" "$work/data" && cd "$work/docs/results" || exit 1
cp "$root"/docs/results/{*.py,runs.json,host.csv} . || exit 1
cat >cut.py <<'END'
import csv
with open("host.csv", newline="") as file:
    lines = file.readlines()
heads = [line for line in lines if line.startswith("#")]
rows = list(csv.DictReader(lines[len(heads):]))
rows = [row for row in rows if row["matrix"] != "rmat:14,16" and (row["matrix"], row["type"]) != ("p27:65", "sell")]
for row in rows:
    if (row["matrix"], row["type"]) == ("cage10.mtx.gz", "aij"):
        row["min_s"] = str(float(row["median_s"]) / 2)
with open("host.csv", "w", newline="") as file:
    file.writelines(heads)
    writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
END
"$python" cut.py
expect "what does not fit its results" 1 "README.md is not what the results give" "$python" results.py --check
expect "a run that was cut off" 0 "Not complete.*: rmat:14,16, p27:65 sell$" sh -c "'$python' results.py && cat README.md"
expect "unsteady times have no ratio" 0 "^6$" sh -c "awk -F'|' '/^## /{run = \$0} /cage10.mtx.gz \\|/{on = 1} /PGPgiantcompo.mtx.gz \\|/{on = 0} on' README.md | grep -c 'unsteady |'"

printf '#!/bin/sh\nwhile [ "$1" != -csv ]; do shift; done\nprintf "matrix,type\\nM,aij\\n" >"$2"\n' >tool
chmod +x tool
expect "measure.py: the folder of the results is made" 0 "^M,aij$" sh -c "PETSCAMB='$PWD/tool' '$python' measure.py host new/folder >out && cat new/folder/host.csv"
expect "measure.py: the first lines name the command" 0 "^# command: OMP_NUM_THREADS=1 bin/petscamb bench MATRIX -types " head -n 1 new/folder/host.csv
expect "measure.py: a folder that cannot be made" 1 "^\*\*\* runs.json: " env PETSCAMB="$PWD/tool" "$python" measure.py host runs.json
expect "measure.py: no such run" 1 "^\*\*\* hots: no run of that name; runs.json has host, " "$python" measure.py hots
expect "measure.py: no program" 1 "^\*\*\* nowhere: no such program" env PETSCAMB=nowhere "$python" measure.py host
exit $failed
