#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The picture of gains in README.md, from the CSV files of docs/results:

    docs/figures/gains.py [FILE]       # writes FILE, or gains.svg beside this script

A bar is PETSc's time over petsc-amb's: AIJ on one core of a processor, AIJCUSPARSE on a GPU. The set-ups on a processor are CPU seconds.
"""
import os
import re
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
RESULTS = os.path.join(HERE, "..", "results")
sys.dont_write_bytecode = True
sys.path.insert(0, RESULTS)

import pages  # noqa: E402

LEFT, BAR, WIDTH = 270, 16, 360.0
HOST, GPU = "#3b6ea8", "#4c9f70"

# name of the bar, CSV, matrix, PETSc's type, petsc-amb's type, columns that are added up, operation
HOSTS = [
    ("MatMult, cage10", "host", "cage10.mtx.gz", "aij", "amb", ["median_s"], "spmv"),
    ("MatMult, 27-point 65^3", "host", "p27:65", "aij", "amb", ["median_s"], "spmv"),
    ("A A, cage10", "host-products", "cage10.mtx.gz", "aij", "hashgemm", ["median_s"], "square"),
    ("set-up of GAMG, ex45 81^3", "pages/amg", "81^3, one", None, None, None, None),
    ("first solve, CG + Jacobi, 7-point 65^3", "host-solve", "p7:65", "aij/cg", "amb/ambcg", ["setup_s", "first_s"], None),
    ("first solve, CG + Jacobi, 27-point 65^3", "host-solve", "p27:65", "aij/cg", "amb/ambcg", ["setup_s", "first_s"], None),
]
GPUS = [
    ("MatMult, elasticity 41^3", "gpu", "elasticity:41", "aijcusparse", "amb", ["median_s"], "spmv"),
    ("MatMult, 7-point 101^3", "gpu", "p7:101", "aijcusparse", "amb", ["median_s"], "spmv"),
    ("A A, elasticity 30^3", "gpu-products", "elasticity:30", "aijcusparse", "amb", ["median_s"], "square"),
    ("set-up of GAMG, elasticity 50^3", "gpu-gamg", "elasticity:50", "aijcusparse/cg", "amb/ambcg", ["setup_s"], None),
    ("set-up + first solve, GAMG, elasticity 50^3", "gpu-gamg", "elasticity:50", "aijcusparse/cg", "amb/ambcg", ["setup_s", "first_s"], None),
    ("first solve, CG + Jacobi, 27-point 101^3", "gpu-solve", "p27:101", "aijcusparse/cg", "amb/ambcg", ["setup_s", "first_s"], None),
]


def gain(name, matrix, base, kind, columns, operation):
    """PETSc's median time over petsc-amb's."""
    rows = pages.load(os.path.join(RESULTS, name + ".csv"))[1]
    if columns is None:  # a table of a page
        row = next(row for row in rows if row["row"] == matrix)
        return float(re.search(r"aij: ([\d.]+)", row["figures"]).group(1)) / float(re.search(r"`ambagg`: ([\d.]+)", row["figures"]).group(1))
    times = {one: [sum(float(row[column]) for column in columns) for row in rows if row["matrix"] == matrix and row["type"] == one and operation in (None, row.get("op"))] for one in (base, kind)}
    return statistics.median(times[base]) / statistics.median(times[kind])


def main():
    parts = (("one core of a Xeon, over MATAIJ", HOST, HOSTS), ("one GPU (H100 or H200), over MATAIJCUSPARSE", GPU, GPUS))
    panels = [(title, colour, [(bar[0], gain(*bar[1:])) for bar in bars]) for title, colour, bars in parts]
    drawn, y, longest = [], 8, max(times for _, _, bars in panels for _, times in bars)
    for title, colour, bars in panels:
        drawn.append('<text x="8" y="%d" font-weight="bold">%s</text>' % (y + 12, title))
        y += 20
        for name, times in bars:
            drawn.append('<text x="%d" y="%d" text-anchor="end">%s</text>' % (LEFT - 6, y + 12, name))
            drawn.append('<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/>' % (LEFT, y, WIDTH * times / longest, BAR - 3, colour))
            drawn.append('<text x="%.1f" y="%d">%.1f times</text>' % (LEFT + WIDTH * times / longest + 5, y + 12, times))
            y += BAR
        y += 8
    line = '<line x1="%.1f" y1="24" x2="%.1f" y2="%d" stroke="black" stroke-dasharray="2 2"/>' % (LEFT + WIDTH / longest, LEFT + WIDTH / longest, y - 8)
    size = 'width="%d" height="%d" viewBox="0 0 %d %d"' % (LEFT + WIDTH + 80, y, LEFT + WIDTH + 80, y)
    head = '<svg xmlns="http://www.w3.org/2000/svg" %s font-family="sans-serif" font-size="12">' % size
    with open(sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "gains.svg"), "w", encoding="utf-8") as file:
        file.write("\n".join([head, '<rect width="100%" height="100%" fill="white"/>'] + drawn + [line, "</svg>", ""]))


if __name__ == "__main__":
    main()
