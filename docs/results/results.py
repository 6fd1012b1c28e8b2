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
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
GREY, BLUE, RED = "#888888", "#3b6ea8", "#b03030"
HEAD = """# Results

Raw results, and the tables and plots that `make results` makes of them. `docs/results/measure.py NAME` measures a run
again, with the command that the run names; each matrix has a process of its own. The columns of the CSV are those of
`petscamb bench -csv` ([bench](../bench.md#how-the-figures-come-about)): version, commit, date, processor, GPU and load
stand beside each number. `NAME.machine.json` has the clocks, and the checksums of the matrices from files, whose
sources are in [data](../../data/README.md). Generated matrices follow from their names.

`test/results.sh` checks that this page is what the raw results give.
"""


def escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;")


class Run:
    def __init__(self, name, about):
        self.name, self.about, self.run = name, about, about["run"]
        with open(os.path.join(HERE, name + ".csv"), newline="") as file:
            self.rows = [row for row in csv.DictReader(file)]
        base = {row["matrix"]: float(row["median_s"]) for row in self.rows if row["type"] == self.run["base"] and row["status"] == "ok"}
        self.done = [dict(row, times=base[row["matrix"]] / float(row["median_s"])) for row in self.rows if row["status"] == "ok" and row["matrix"] in base]

    def table(self):
        out = ["| matrix | rows | nonzeros | type | median us | min us | GB/s | bytes a nonzero | speed over %s |" % self.run["base"], "|---|---|---|---|---|---|---|---|---|"]
        last = None
        for row in self.done:
            median, size, entries = float(row["median_s"]), float(row["bytes"]), float(row["nonzeros"])
            head = ["", "", ""] if row["matrix"] == last else [row["matrix"], row["rows"], row["nonzeros"]]
            last = row["matrix"]
            out.append("| " + " | ".join(head + [row["type"], "%.2f" % (1e6 * median), "%.2f" % (1e6 * float(row["min_s"])), "%.1f" % (size / median / 1e9) if size else "",
                                                 "%.2f" % (float(row["matrix_bytes"]) / entries) if size else "", "%.2f" % row["times"]]) + " |")
        return out

    def text(self):
        first, loads = self.rows[0], [float(row["load"]) for row in self.rows]
        cpu = self.about["machine"]["processor"]
        out = ["", "## %s" % self.run["title"], "", "![Speeds of each type over %s](%s.svg)" % (self.run["base"], self.name), ""]
        command = " ".join("%s=%s" % pair for pair in sorted(self.run["environment"].items())) + " bin/petscamb bench MATRIX " + " ".join(self.run["options"])
        clocks = ", ".join("%s %s" % (key, cpu[key]) for key in ("CPU(s)", "L3 cache", "Hypervisor vendor") if key in cpu)
        out += ["- Command: `%s`, for each matrix in turn" % command,
                "- Processor: %s (%s), %s MHz" % (first["cpu"], clocks, ", ".join(self.about["machine"]["MHz now"]) or "unknown"),
                "- GPU: %s" % (first["gpu"] + "; " + "; ".join(self.about["machine"]["GPU: name, clocks (most, memory, now), memory, driver"]) if first["gpu"] else "none"),
                "- petsc-amb %s, commit `%s`; PETSc %s" % (first["version"], first["commit"], first["petsc"]),
                "- Measured from %s to %s" % (min(row["date"] for row in self.rows), max(row["date"] for row in self.rows)),
                "- Load before each matrix: %.1f to %.1f%s" % (min(loads), max(loads), "; other programs shared the processors" if max(loads) > float(cpu.get("CPU(s)", 1)) else "")]
        unsteady = sorted({"%s %s" % (row["matrix"], row["type"]) for row in self.done if float(row["median_s"]) > 1.5 * float(row["min_s"])})
        if unsteady:
            out.append("- Unsteady, with a median above 1.5 times the minimum: %s" % ", ".join(unsteady))
        out += ["- sha256 of `%s`: `%s`" % pair for pair in sorted(self.about["sha256"].items())]
        return out + [""] + self.table()

    def plot(self):
        most = max(row["times"] for row in self.done)
        height = 40 + 16 * len(self.done) + 8 * len({row["matrix"] for row in self.done})
        out = ['<svg xmlns="http://www.w3.org/2000/svg" width="760" height="%d" viewBox="0 0 760 %d" font-family="sans-serif" font-size="11">' % (height, height),
               '<rect width="760" height="%d" fill="white"/>' % height, '<text x="230" y="18" font-size="13">%s: speed over %s</text>' % (escape(self.run["title"]), self.run["base"])]
        y, last = 30, None
        for row in self.done:
            if row["matrix"] != last:
                y += 8
                out.append('<text x="8" y="%d">%s</text>' % (y + 10, escape(row["matrix"])))
            last = row["matrix"]
            out.append('<text x="222" y="%d" text-anchor="end">%s</text>' % (y + 10, escape(row["type"])))
            colour = GREY if row["type"] == self.run["base"] else BLUE if row["times"] >= 1 else RED
            out.append('<rect x="230" y="%d" width="%.1f" height="12" fill="%s"/>' % (y, 460 * row["times"] / most, colour))
            out.append('<text x="%.1f" y="%d">%.2f</text>' % (235 + 460 * row["times"] / most, y + 10, row["times"]))
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
            with open(os.path.join(ROOT, one), "rb") as file:
                if hashlib.sha256(file.read()).hexdigest() != digest:
                    wrong.append("%s: %s is another file than the one that was measured" % (name, one))
        wrong += ["%s: a wrong result: %s %s" % (name, row["matrix"], row["type"]) for row in run.rows if row["status"] == "WRONG"]
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
