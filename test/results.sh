#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The tables and plots in docs/results are those that the raw results give, and the matrices that were measured are those of data/.
# A run that was cut off says what it lacks, and a ratio of unsteady times is left out.
# tier: check
set -u
. "$(dirname "$0")/shell/expect.sh"
python=${PYTHON:-python3}
expect "docs/results" 0 "^ok docs/results is what" "$python" "$root/docs/results/results.py" --check
mkdir -p "$work/docs/results" && ln -s "$root/data" "$work/data" && cd "$work/docs/results" || exit 1
cp "$root"/docs/results/{*.py,runs.json,host.csv,host.machine.json} . || exit 1
cat >cut.py <<'END'
import csv
with open("host.csv", newline="") as file:
    rows = list(csv.DictReader(file))
rows = [row for row in rows if row["matrix"] != "rmat:14,16" and (row["matrix"], row["type"]) != ("p27:65", "sell")]
for row in rows:
    if (row["matrix"], row["type"]) == ("cage10.mtx.gz", "aij"):
        row["min_s"] = str(float(row["median_s"]) / 2)
with open("host.csv", "w", newline="") as file:
    writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
END
"$python" cut.py
expect "what does not fit its results" 1 "README.md is not what the results give" "$python" results.py --check
expect "a run that was cut off" 0 "Not complete.*: rmat:14,16, p27:65 sell$" sh -c "'$python' results.py && cat README.md"
expect "unsteady times have no ratio" 0 "^6$" sh -c "awk -F'|' '/^## /{run = \$0} /cage10.mtx.gz \\|/{on = 1} /PGPgiantcompo.mtx.gz \\|/{on = 0} on' README.md | grep -c 'unsteady |'"
exit $failed
