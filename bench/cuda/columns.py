#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Speed against the number of columns, as a figure (needs matplotlib):

    DIR/spmv -csv columns.csv -nus none -nus uniform,s2=2097152 $(for k in $(seq 10 24); do echo rand:2000000,$((1 << k)),16; done)
    bench/cuda/columns.py columns.csv columns.svg

A line for each contender: GFLOP/s of a product with random matrices, all with as many entries in a row, over the number of columns.
"""
import csv
import sys

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "columns"  # the same figure from the same numbers
import matplotlib.pyplot as plt  # noqa: E402


def read(name):
    """{contender: {columns: GFLOP/s}}, of cuSPARSE the best"""
    lines = {}
    with open(name) as f:
        for row in csv.DictReader(f):
            if row["operation"] != "mult" or row["contender"].startswith("read") or row.get("wrong") == "1":
                continue
            line = lines.setdefault("cuSPARSE, its best" if row["contender"].startswith("cusparse") else row["contender"], {})
            columns = int(row["columns"])
            line[columns] = max(2e-3 * float(row["nonzeros"]) / float(row["us"]), line.get(columns, 0))
    return lines


def draw(lines, name):
    figure, axes = plt.subplots(figsize=(8, 4.5))
    for label, line in lines.items():
        axes.plot(sorted(line), [line[n] for n in sorted(line)], marker="o", markersize=3, label=label)
    axes.set_xscale("log", base=2)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("columns")
    axes.set_ylabel("GFLOP/s")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(name, metadata={"Date": None})


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    draw(read(sys.argv[1]), sys.argv[2])
