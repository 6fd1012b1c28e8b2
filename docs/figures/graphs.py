#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The drawing of docs/graphs.md: the edges of data/PGPgiantcompo in the order of the file and in that of the program, and how often each part of x is read.

    docs/figures/graphs.py [FILE]     # writes FILE, or graphs.svg beside this file
"""
import gzip
import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
CELLS, CELL, GAP, TOP, BARS, SHADES = 48, 5, 40, 24, 56, 8
SIDE = CELLS * CELL
BLUE, ORANGE = "#3b6ea8", "#d9822b"


def edges(name):
    """The number of vertices, and both directions of each edge."""
    with gzip.open(os.path.join(HERE, "..", "..", "data", name + ".mtx.gz"), "rt") as file:
        symmetric = "symmetric" in file.readline()
        line = file.readline()
        while line.startswith("%"):
            line = file.readline()
        n = int(line.split()[0])
        pairs = [tuple(int(word) - 1 for word in line.split()[:2]) for line in file]
    return n, pairs + ([(j, i) for i, j in pairs if i != j] if symmetric else [])


def ordered(n, pairs):
    """The new number of each vertex: by the power of 2 of its edges, the greatest first."""
    degree = [0] * n
    for i, _ in pairs:
        degree[i] += 1
    place = [0] * n
    for k, v in enumerate(sorted(range(n), key=lambda v: -degree[v].bit_length())):
        place[v] = k
    return place


def panel(x, title, n, pairs, place):
    """A panel at x: how many edges lie in each cell, and below, the share of them in each column of cells."""
    count, reads = [[0] * CELLS for _ in range(CELLS)], [0] * CELLS
    for i, j in pairs:
        r, c = place[j] * CELLS // n, place[i] * CELLS // n  # the product reads x at the first vertex of an edge
        count[r][c] += 1
        reads[c] += 1
    most, shade = max(map(max, count)), [[] for _ in range(SHADES)]
    out = ['<text x="%g" y="%d" text-anchor="middle">%s</text>' % (x + SIDE / 2, TOP - 8, title), '<rect x="%g" y="%d" width="%d" height="%d" fill="none" stroke="#888"/>' % (x, TOP, SIDE, SIDE)]
    for r in range(CELLS):
        for c in range(CELLS):
            if count[r][c]:
                level = min(SHADES - 1, int(SHADES * math.log(1 + count[r][c]) / math.log(1 + most)))
                shade[level].append("M%d %dh%dv%dh-%dz" % (x + c * CELL, TOP + r * CELL, CELL, CELL, CELL))
    out += ['<path fill="%s" fill-opacity="%.2f" d="%s"/>' % (BLUE, (level + 1) / SHADES, "".join(cells)) for level, cells in enumerate(shade)]
    top = max(reads) / len(pairs)
    for c in range(CELLS):
        height = BARS * reads[c] / len(pairs) / top
        out.append('<rect x="%g" y="%.2f" width="%g" height="%.2f" fill="%s"/>' % (x + c * CELL, TOP + SIDE + 8 + BARS - height, CELL - 0.5, height, ORANGE))
    first, share = 0, 0
    while share < 0.5 * len(pairs):
        share += sorted(reads, reverse=True)[first]
        first += 1
    out.append('<text x="%g" y="%d" text-anchor="middle">half of the reads in %d of %d parts of x</text>' % (x + SIDE / 2, TOP + SIDE + BARS + 24, first, CELLS))
    return out


def main():
    n, pairs = edges("PGPgiantcompo")
    width, height = 2 * SIDE + 3 * GAP, TOP + SIDE + BARS + 34
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">' % (width, height, width, height), '<rect width="%d" height="%d" fill="white"/>' % (width, height)]
    out += panel(GAP, "in the order of the file", n, pairs, range(n))
    out += panel(2 * GAP + SIDE, "vertices with many edges first", n, pairs, ordered(n, pairs))
    with open(sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "graphs.svg"), "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n</svg>\n")


if __name__ == "__main__":
    main()
