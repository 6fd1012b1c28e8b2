#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Make the tables and plots of this folder from the raw results (make results):

    docs/results/results.py            # writes README.md and NAME.svg for each NAME.csv
    docs/results/results.py --check    # are they what the results give? exit code 1 if not
"""
import csv
import hashlib
import json
import os
import statistics
import sys
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
GREY, BLUE, RED = "#888888", "#3b6ea8", "#b03030"
HEAD = """# Results

This page shows raw results as tables and plots. `make results` makes it from the CSV files in this folder.

```sh by docs/results/measure.py makefile
docs/results/measure.py host                       # measures one run of runs.json again
MATRICES=DIR docs/results/measure.py 'gpu*'        # measures all runs on a GPU
make results
```

Each run names its command, and each matrix is measured in a process of its own. The columns of the CSV are those of
`petscamb bench -csv` ([bench](../bench.md#how-the-figures-come-about)) and of `petscamb solve -csv`: version, commit,
date, processor, GPU and load stand beside each number. `NAME.machine.json` has the clocks and the checksums of the
matrix files. A ratio is left out if one of its two medians is above 1.5 times the minimum. A run that was cut off says
so, with the names of what it lacks.

The files in `data/` come from where [data](../../data/README.md) says, the other files from where
[the notes](../notes/README.md#the-real-matrices) say. These are searched for in the folder `MATRICES` and left out, by
name, where they are missing. Generated matrices follow from their names.

`test/results.sh` checks that this page is what the raw results give.
"""


def escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;")


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


class Run:
    def __init__(self, name, about):
        self.name, self.about, self.run = name, about, about["run"]
        with open(os.path.join(HERE, name + ".csv"), newline="") as file:
            self.rows = list(csv.DictReader(file))
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
        machine = self.about["machine"]
        cpu, gpus = machine["processor"], machine["GPU: name, clocks (most, memory, now), memory, driver"]
        uses_gpu = first["gpu"] and self.name.startswith("gpu")
        allowed = int(machine.get("processors allowed", cpu.get("CPU(s)", 1)))
        out = ["", "## %s" % self.run["title"], "", "![%s of each type over %s](%s.svg)" % (self.what, self.run["base"], self.name), ""]
        command = " ".join("%s=%s" % pair for pair in sorted(self.run["environment"].items())) + " bin/petscamb %s MATRIX " % self.run.get("command", "bench") + " ".join(self.run["options"])
        clocks = ", ".join("%s %s" % (key, cpu[key]) for key in ("CPU(s)", "L3 cache", "Hypervisor vendor") if key in cpu)
        out += ["- Command: `%s`, for each matrix in turn%s" % (command.strip(), " and for each type by itself" if self.run.get("apart") else ""),
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

    def plot(self):
        steady = [line for line in self.lines if line[5] is not None]
        most = max(line[5] for line in steady)
        height = 40 + 16 * len(steady) + 8 * len({line[0] for line in steady})
        out = ['<svg xmlns="http://www.w3.org/2000/svg" width="760" height="%d" viewBox="0 0 760 %d" font-family="sans-serif" font-size="11">' % (height, height),
               '<rect width="760" height="%d" fill="white"/>' % height, '<text x="8" y="18" font-size="13">%s: %s over %s</text>' % (escape(self.run["title"]), self.what.lower(), self.run["base"])]
        y, last = 30, None
        for matrix, _, _, label, cells, gain in steady:
            if matrix != last:
                y += 8
                out.append('<text x="8" y="%d">%s</text>' % (y + 10, escape(matrix)))
            last = matrix
            out.append('<text x="222" y="%d" text-anchor="end">%s</text>' % (y + 10, escape(label)))
            colour = GREY if self.run["base"] in cells[:2] else BLUE if gain >= 1 else RED
            out.append('<rect x="230" y="%d" width="%.1f" height="12" fill="%s"/>' % (y, 460 * gain / most, colour))
            out.append('<text x="%.1f" y="%d">%.2f</text>' % (235 + 460 * gain / most, y + 10, gain))
            y += 16
        return "\n".join(out + ['<line x1="%.1f" y1="30" x2="%.1f" y2="%d" stroke="black" stroke-dasharray="2 2"/>' % (230 + 460 / most, 230 + 460 / most, y), "</svg>", ""])


def main():
    with open(os.path.join(HERE, "runs.json")) as file:
        names = list(json.load(file))
    files, page, wrong = {}, [HEAD.rstrip("\n")], []
    for name in names:
        about = os.path.join(HERE, name + ".machine.json")
        if not os.path.exists(about):
            continue
        with open(about) as file:
            run = Run(name, json.load(file))
        page += run.text()
        files[name + ".svg"] = run.plot()
        for one, digest in run.about["sha256"].items():
            if not os.path.dirname(one): # a matrix that is not kept here
                continue
            with open(os.path.join(ROOT, one), "rb") as file:
                if hashlib.sha256(file.read()).hexdigest() != digest:
                    wrong.append("%s: %s is another file than the one that was measured" % (name, one))
        wrong += ["%s: a wrong result: %s %s" % (name, row["matrix"], row["type"]) for row in run.rows if row.get("status") == "WRONG" or row.get("reason", "CONVERGED").startswith("DIVERGED")]
    files["README.md"] = "\n".join(page) + "\n"
    for name, text in files.items():
        path = os.path.join(HERE, name)
        if sys.argv[1:] == ["--check"]:
            if not os.path.exists(path) or open(path, encoding="utf-8").read() != text:
                wrong.append("docs/results/%s is not what the results give: make results" % name)
        else:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    for line in wrong:
        print("    " + line, file=sys.stderr)
    if sys.argv[1:] == ["--check"]:
        print("%s docs/results is what %d runs give" % ("not ok" if wrong else "ok", len(files) - 1))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
