#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Make the tables of this folder from the raw results (make results):

    docs/results/results.py            # writes README.md from each NAME.csv
    docs/results/results.py --check    # compares; exit code 1 if README.md is another one
"""
import hashlib
import json
import os
import statistics
import sys
import textwrap

import measure
import pages

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
HEAD = """# Results

This page shows raw results as tables. `make results` makes it from the CSV files in this folder.

```sh by docs/results/measure.py makefile
docs/results/measure.py host                       # measures one run of runs.json again
MATRICES=DIR docs/results/measure.py 'gpu*'        # measures all runs on a GPU
make results
```

Each run measures each matrix in a process of its own. The first lines of a CSV have the command, the machine with its
clocks, the commit, the date, and the checksums of the matrix files. Its columns are those of `petscamb bench -csv`
([bench](../bench.md#how-the-figures-come-about)) and of `petscamb solve -csv`. The table has no ratio where one of the
two medians is above 1.5 times the minimum. A run that was cut off says so, with the names of the missing inputs.

[data](../../data/README.md) says where the files come from. measure.py looks for files that are not kept here in the
folder `MATRICES`, and names those that are missing. A generated matrix follows from its name.

`test/source/results.sh` checks that this page follows from the raw results.

## Reproduce a table

The tables of measurements in the users' pages are also in `pages/PAGE.csv`. The first lines of that file are the
sources: command, matrices, peer, machine, commit and date of each. `raw/` has the numbers of larger runs, a command in
the first line of each file. A commit is the one that brought the figures or changed them last.

1. Find the section in `pages/PAGE.csv`; the column source has the number of the source. Words in capital letters are
   yours to choose: INPUT is one of the source's matrices, DIR and FOLDER are folders, NAME is a configuration.
2. Build what the command needs: `make` for `bin/`, `make examples` for `ex45` and `ex56` in `build/NAME/examples`
   (load the library by `export PETSC_OPTIONS="-dll_append $(make -s where)"`), `bench/cuda/build.sh DIR` for `DIR/spmv`
   and the other programs without PETSc.
3. Run it, and compare ratios before times, since another machine moves both types. Fix `OMP_NUM_THREADS`. *Busy* means
   that other programs used the processors; such figures are ratios of the shortest or of processor times in turns.

On a host, six seconds for one matrix, with the times of this page beside the new ones:

```sh run
OMP_NUM_THREADS=1 bin/petscamb bench data/cage10.mtx.gz -types aij,amb,nussell -compare docs/results/host.csv
```

On a GPU, 12 seconds on an H200:

```sh by docs/results/measure.py
docs/results/measure.py gpu-bicgstab FOLDER    # writes FOLDER/gpu-bicgstab.csv
```

Since 25 November 2026 (8ce84be) `exact` is the default storage of values. Older figures of matrices whose values repeat
need `-mat_shadow_values double`, and their commands have it.
"""



def bench_lines(run, rows):
    """The lines of the table: matrix, rows, nonzeros, label, cells, gain over the base with the same matrix and operation, None if one is unsteady."""
    base = {(row["matrix"], row["op"]): float(row["median_s"]) for row in rows if row["type"] == run["base"] and row["status"] == "ok"}
    shaky = {(row["matrix"], row["op"]) for row in rows if row["type"] == run["base"] and row["status"] == "ok" and unsteady(row)}
    lines = []
    for row in rows:
        if row["status"] != "ok" or (row["matrix"], row["op"]) not in base:
            continue
        median, size = float(row["median_s"]), float(row["bytes"])
        cells = [row["type"], "%.2f" % (1e6 * median), "%.2f" % (1e6 * float(row["min_s"])), "%.1f" % (size / median / 1e9) if size else "", "%.2f" % (float(row["matrix_bytes"]) / float(row["nonzeros"])) if size else ""]
        if "-ops" in run["options"]:
            cells.insert(0, row["op"])
        lines.append((row["matrix"], row["rows"], row["nonzeros"], " ".join(cells[:2]) if "-ops" in run["options"] else row["type"], cells,
                      None if unsteady(row) or (row["matrix"], row["op"]) in shaky else base[row["matrix"], row["op"]] / median))
    return lines


def solve_lines(run, rows):
    """The same of solves: medians of the rounds; the gain is that of the second solve."""
    rounds = {}
    for row in rows:
        rounds.setdefault((row["matrix"], row["type"]), []).append(row)

    def median(matrix, kind, name):
        return statistics.median(float(row[name]) for row in rounds[matrix, kind])

    lines = []
    for matrix, kind in rounds:
        if (matrix, run["base"]) not in rounds:
            continue
        first = rounds[matrix, kind][0]
        cells = [kind, first["iterations"]] + ["%.4f" % median(matrix, kind, name) for name in ("setup_s", "first_s", "second_s")] + ["%.2f" % (1e6 * median(matrix, kind, "mult_s")), str(len(rounds[matrix, kind]))]
        lines.append((matrix, first["rows"], first["nonzeros"], kind, cells, median(matrix, run["base"], "second_s") / median(matrix, kind, "second_s")))
    return lines


def wrapped(line):
    """An item of a list in lines of at most 120 characters."""
    if not line.startswith("- "):
        return [line]
    return textwrap.wrap(line, 120, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def unsteady(row):
    """Other programs took so much of the time that a ratio says nothing."""
    return float(row["median_s"]) > 1.5 * float(row["min_s"])


def missing(run, rows):
    """What the run was to measure and has no rows of: inputs, or types of an input."""
    types = run["options"][run["options"].index("-types") + 1].split(",")
    found = {}
    for row in rows:
        found.setdefault(row["matrix"], set()).add(row["type"])
    names = [os.path.basename(one) for one in run["inputs"]]
    return [name for name in names if name not in found] + ["%s %s" % (name, kind) for name in names if name in found for kind in types if kind not in found[name]]


def load(path):
    """The run of a CSV, from its comments, with its rows."""
    comments, rows = pages.load(path)
    heads = [line[2:].split(" = ", 1) for line in comments]
    return dict({head[0]: json.loads(head[1]) for head in heads if len(head) == 2}, rows=rows)


class Run:
    def __init__(self, name, about):
        self.name, self.about, self.run = name, about, about["run"]
        self.rows = about["rows"]
        self.solve = self.run.get("command") == "solve"
        self.lines = (solve_lines if self.solve else bench_lines)(self.run, self.rows)
        self.what = "Speed of the second solve" if self.solve else "Speed"

    def table(self):
        heads = ["type", "iterations", "set-up s", "first solve s", "second solve s", "MatMult us", "rounds"] if self.solve else ["type", "median us", "min us", "GB/s", "bytes a nonzero"]
        if "-ops" in self.run["options"]:
            heads.insert(0, "operation")
        heads = ["matrix", "rows", "nonzeros"] + heads + ["%s over %s" % (self.what.lower(), self.run["base"])]
        out = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
        last = None
        for matrix, rows, nonzeros, _, cells, gain in self.lines:
            head = ["", "", ""] if matrix == last else [matrix, rows, nonzeros]
            last = matrix
            out.append("| " + " | ".join(head + cells + ["unsteady" if gain is None else "%.2f" % gain]) + " |")
        return out

    def text(self):
        first, loads = self.rows[0], [float(row["load"]) for row in self.rows]
        machine = self.about["host"]
        cpu, gpus = machine["processor"], machine["GPU: name, clocks (most, memory, now), memory, driver"]
        uses_gpu = first["gpu"] and self.name.startswith("gpu")
        allowed = int(machine.get("processors allowed", cpu.get("CPU(s)", 1)))
        out = ["", "## %s" % self.run["title"], ""]
        clocks = ", ".join("%s %s" % (key, cpu[key]) for key in ("CPU(s)", "L3 cache", "Hypervisor vendor") if key in cpu)
        out += ["- Command: `%s`, for each matrix in turn%s" % (measure.command_of(self.run), " and for each type by itself" if self.run.get("apart") else ""),
                "- Processor: %s (%s)%s, %s MHz" % (first["cpu"], clocks, ", of which the run had %d" % allowed if allowed < int(cpu.get("CPU(s)", 1)) else "", ", ".join(machine["MHz now"]) or "unknown"),
                "- GPU: %s" % ("%s; clocks (most, memory, now), memory, driver: %s" % (first["gpu"], "; ".join(dict.fromkeys(line.split(", ", 1)[1] for line in gpus))) if uses_gpu else "not used" if first["gpu"] else "none"),
                "- petsc-amb %s, commit `%s`; PETSc %s" % (first["version"], first["commit"], first["petsc"]),
                "- Measured from %s to %s" % (min(row["date"] for row in self.rows), max(row["date"] for row in self.rows)),
                "- Load before each matrix: %.1f to %.1f%s" % (min(loads), max(loads), "; other programs shared the processors" if max(loads) > float(cpu.get("CPU(s)", 1)) else "")]
        out += ["- %s" % note for note in self.about.get("notes", [])]
        shaky = [] if self.solve else sorted({"%s %s %s" % (row["matrix"], row["op"], row["type"]) for row in self.rows if row["status"] == "ok" and unsteady(row)})
        if shaky:
            out.append("- Unsteady, with a median above 1.5 times the minimum, and therefore without a ratio: %s" % ", ".join(shaky))
        without = missing(self.run, self.rows)
        if without:
            out.append("- **Not complete.** Without figures, as the run was stopped or the file was missing: %s" % ", ".join(without))
        out += ["- sha256 of `%s`: `%s`" % pair for pair in sorted(self.about["sha256"].items())]
        return [part for line in out for part in wrapped(line)] + [""] + self.table()


def main():
    with open(os.path.join(HERE, "runs.json")) as file:
        names = list(json.load(file))
    runs, page, wrong = 0, [HEAD.rstrip("\n")], []
    for name in names:
        path = os.path.join(HERE, name + ".csv")
        if not os.path.exists(path):
            continue
        run = Run(name, load(path))
        page += run.text()
        for one, digest in run.about["sha256"].items():
            if not os.path.dirname(one): # a matrix that is not kept here
                continue
            with open(os.path.join(ROOT, one), "rb") as file:
                if hashlib.sha256(file.read()).hexdigest() != digest:
                    wrong.append("%s: %s is another file than the one that was measured" % (name, one))
        wrong += ["%s: a wrong result: %s %s" % (name, row["matrix"], row["type"]) for row in run.rows if row.get("status") == "WRONG" or row.get("reason", "CONVERGED").startswith("DIVERGED")]
        runs += 1
    path, text = os.path.join(HERE, "README.md"), "\n".join(page) + "\n"
    if sys.argv[1:] == ["--check"]:
        if not os.path.exists(path) or open(path, encoding="utf-8").read() != text:
            wrong.append("docs/results/README.md is not what the results give: make results")
    else:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    for line in wrong:
        print("    " + line, file=sys.stderr)
    if sys.argv[1:] == ["--check"]:
        print("%s docs/results is what %d runs give" % ("not ok" if wrong else "ok", runs))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
