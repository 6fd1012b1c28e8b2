#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The drawings of the formats in docs/choose.md, from matrices of data/ and a stencil (needs matplotlib):

    docs/figures/formats.py            # writes amb.svg, nussell.svg, diagonals.svg, ccoo.svg, tilecomposite.svg and tiles.svg beside this file

The drawings are computed from the patterns alone, without the library. Numbers in them belong to the matrix that is drawn.
"""
import gzip
import io
import os
import re

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.hashsalt": "formats", "svg.fonttype": "none", "font.size": 8, "axes.titlesize": 9})  # the same file each time
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
from matplotlib.colors import to_rgb  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
BLUE, ORANGE, GREEN, GREY = "#3b6ea8", "#d9822b", "#4c9f70", "#b8b8b8"


def load(name):
    """The pattern of a matrix of data/: the number of rows, and the columns of each row in ascending order."""
    with gzip.open(os.path.join(HERE, "..", "..", "data", name + ".mtx.gz"), "rt") as file:
        symmetric = "symmetric" in file.readline()
        line = file.readline()
        while line.startswith("%"):
            line = file.readline()
        rows = int(line.split()[0])
        entries = [tuple(int(word) - 1 for word in line.split()[:2]) for line in file]
    columns = [[] for _ in range(rows)]
    for i, j in entries:
        columns[i].append(j)
        if symmetric and i != j:
            columns[j].append(i)
    return rows, [sorted(row) for row in columns]


def pattern(axes, rows, columns, title):
    """The whole pattern, as an image of few bytes."""
    size = 150
    image = np.zeros((size, size))
    for i, row in enumerate(columns):
        for j in row:
            image[i * size // rows, j * size // rows] = 1
    axes.imshow(image, cmap="Blues", vmax=1.4, extent=(0, rows, rows, 0), interpolation="nearest")
    axes.set_title(title)
    axes.set_xlabel("column")
    axes.set_ylabel("row")


def steps(axes, lengths, width, height):
    """Rows one below the other, each as long as its entries; behind them, hollow, what chunks of so many rows store."""
    stored = 0
    for first in range(0, len(lengths), height):
        chunk = lengths[first:first + height]
        stored += height * max(chunk) * width
        axes.barh(first, max(chunk), height=height, align="edge", color="none", edgecolor=ORANGE, linewidth=0.7)
    axes.fill_betweenx(np.arange(len(lengths) + 1), list(lengths) + [lengths[-1]], step="post", color=BLUE, linewidth=0)
    axes.set_ylim(len(lengths), 0)
    return stored / (sum(lengths) * width)


def compact(text):
    """An SVG of matplotlib with a line for each path and coordinates in hundredths of a point."""
    text = re.sub(r' d="([^"]*)"', lambda found: ' d="%s"' % " ".join(re.sub(r"-?\d+\.\d+", lambda one: "%.10g" % round(float(one.group()), 2), found.group(1)).split()), text)
    return re.sub(r"base64,([^\"]*)", lambda found: "base64," + found.group(1).replace("\n", ""), text)


def save(figure, name):
    figure.tight_layout()
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")), dpi=100)
    with open(os.path.join(HERE, name), "w", encoding="utf-8") as file:
        file.write(compact(text.getvalue()))


def amb():
    """The three levels of AMB: scopes and segments, chunks of rows, blocks of columns."""
    rows, columns = load("bar_elasticity")
    scope, chosen, height, block = 1024, 4, 8, 3
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(10, 3.9), gridspec_kw={"width_ratios": [1.1, 0.8, 1.9]})

    pattern(left, rows, columns, "1. scopes of rows, segments of columns")
    for first in range(scope, rows, scope):
        left.axhline(first, color=GREY, linewidth=0.5)
    left.axhspan(chosen * scope, (chosen + 1) * scope, color=ORANGE, alpha=0.35)
    left.set_xlabel("column (one segment: fewer than 65,536)")

    inside = sorted(columns[chosen * scope:(chosen + 1) * scope], key=len, reverse=True)
    part = inside[:64]
    fill = steps(middle, [len(row) for row in part], 1, height)
    middle.set_title("2. chunks of 8 rows,\nsorted by length")
    middle.set_xlabel("entries")
    middle.set_ylabel("first 64 rows of the scope")
    middle.text(0.04, 0.03, "stored / nonzeros:\n%.3f" % fill, transform=middle.transAxes, color="white")

    chunk = part[16:16 + height]
    most = 8  # blocks that the drawing has room for
    for lane, row in enumerate(chunk):
        heads = row[::block]
        for k, head in enumerate(heads[:most]):
            assert row[k * block:(k + 1) * block] == list(range(head, head + block)), "these rows have no runs of 3 columns"
            left_edge = k * (block + 0.6)
            right.add_patch(plt.Rectangle((left_edge, lane + 0.08), block, 0.84, facecolor=BLUE))
            right.text(left_edge + block / 2, lane + 0.42, str(head), ha="center", color="white", fontsize=7)
            right.vlines([left_edge + 1, left_edge + 2], lane + 0.52, lane + 0.92, color="white", linewidth=0.6)
    right.set_xlim(-0.2, most * (block + 0.6))
    right.set_ylim(height, 0)
    right.set_yticks([lane + 0.5 for lane in range(height)], ["row %d" % (lane + 1) for lane in range(height)])
    right.set_xticks([])
    right.set_title("3. blocks of 3 columns share one index of 16 bits (the number)")
    right.set_xlabel("a step multiplies one block of all 8 rows; 8 steps are drawn")
    save(figure, "amb.svg")


def nussell():
    """Segments of NUS-SELL, by the number of entries of a column, and what sorting rows saves."""
    rows, columns = load("PGPgiantcompo")
    weight = np.bincount([j for row in columns for j in row], minlength=rows)
    order = np.argsort(-weight, kind="stable")
    place = np.empty(rows, dtype=int)
    place[order] = np.arange(rows)
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(10, 3.9), gridspec_kw={"width_ratios": [1, 1.25, 1]})

    pattern(left, rows, columns, "1. the matrix")
    pattern(middle, rows, [[place[j] for j in row] for row in columns], "2. columns by their entries, cut into segments")
    bounds = [0, 512, 1024, 3072, 5120, rows]  # K1 = 2 segments of S1 = 512 columns, K2 = 2 of S2 = 2048, and the rest
    names = ["K1", "K1", "K2", "K2", "remainder"]
    share = np.concatenate([[0], np.cumsum(weight[order])]) / weight.sum()
    for k, name in enumerate(names):
        first, last = bounds[k], bounds[k + 1]
        middle.axvspan(first, last, color=[ORANGE, ORANGE, GREEN, GREEN, GREY][k], alpha=0.18)
        middle.axvline(last, color="black", linewidth=0.5)
        middle.text((first + last) / 2, rows * (0.35 + 0.15 * (k % 2)), "%s: %.0f %%" % (name, 100 * (share[last] - share[first])), rotation=90, ha="center", va="center", fontsize=7, bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5})
    middle.set_xlabel("column in the new order; %: of the nonzeros")
    middle.set_ylabel("")

    lengths = [len(row) for row in columns[:256]]
    plain = sum(8 * max(lengths[k:k + 8]) for k in range(0, len(lengths), 8)) / sum(lengths)
    fill = steps(right, sorted(lengths, reverse=True), 1, 8)
    right.set_title("3. slices of 8 rows,\nsorted by length in a scope")
    right.set_xlabel("entries")
    right.set_ylabel("256 rows")
    right.text(0.97, 0.06, "stored / nonzeros: %.2f\nunsorted: %.2f" % (fill, plain), transform=right.transAxes, ha="right")
    save(figure, "nussell.svg")


def diagonals():
    """A chunk of rows that have the same neighbours: one number for a step in place of 32 indices. Only grids have such chunks, hence a 7-point stencil."""
    size, height = 20, 32
    offsets = [-size * size, -size, -1, 0, 1, size, size * size]

    def held(row, offset):
        """Is the neighbour inside of the grid of size^3 points?"""
        line, plane = row // size % size, row // size // size
        place = {1: row % size, size: line, size * size: plane}.get(abs(offset))
        return place is None or 0 <= place + (offset > 0) - (offset < 0) < size

    first = 10 * size * size + 9 * size + 6
    rows = range(first, first + height)
    used = sorted({row + offset for row in rows for offset in offsets if held(row, offset)})
    at = {j: k for k, j in enumerate(used)}
    matrix, stored = np.ones((height, len(used), 3)), np.ones((height, len(offsets), 3))
    for i, row in enumerate(rows):
        for k, offset in enumerate(offsets):
            stored[i, k] = to_rgb(BLUE if held(row, offset) else ORANGE)
            if held(row, offset):
                matrix[i, at[row + offset]] = to_rgb(BLUE)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), gridspec_kw={"width_ratios": [1.6, 1]})
    left.imshow(matrix, aspect="auto", interpolation="nearest")
    left.set_title("32 rows of the 7-point stencil on %d x %d x %d points" % (size, size, size))
    left.set_xlabel("columns that have entries")
    left.set_ylabel("row %d + ..." % first)
    right.imshow(stored, aspect="auto", interpolation="nearest")
    for k in range(1, len(offsets)):
        right.axvline(k - 0.5, color="white", linewidth=2)
    right.set_xticks(range(len(offsets)), ["%+d" % offset if offset else "0" for offset in offsets])
    right.set_xlabel("column - row: 4 bytes for the 32 entries of a step")
    right.set_title("7 steps; orange: a zero fills the end of a line")
    right.set_yticks([])
    save(figure, "diagonals.svg")


def ccoo():
    """Rows of CCOO as groups: rows and columns count from the chunk's own, values are places in a table."""
    with gzip.open(os.path.join(HERE, "..", "..", "data", "cage10.mtx.gz"), "rt") as file:
        lines = [line.split() for line in file if not line.startswith("%")][1:]
    rows = {}
    for i, j, value in lines:
        rows.setdefault(int(i) - 1, []).append((int(j) - 1, value))
    count = {}
    for entries in rows.values():
        for _, value in entries:
            count[value] = count.get(value, 0) + 1
    table = {value: place for place, value in enumerate(sorted(count, key=lambda value: -count[value])[:256])}
    entries_of = 2  # K
    first = next(r for r in sorted(rows) if r > 4000 and all(value in table for k in range(3) for _, value in rows[r + k]) and sum(len(rows[r + k]) for k in range(3)) <= 26)
    shown = range(first, first + 3)
    least = min(j for r in shown for j, _ in rows[r])
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), gridspec_kw={"width_ratios": [1, 1]})

    left.set_title("AIJ: 12 bytes an entry")
    y = 0
    for r in shown:
        for place, (j, value) in enumerate(sorted(rows[r])):
            left.add_patch(plt.Rectangle((0, y), 1, 0.86, facecolor=BLUE, alpha=0.85))
            left.add_patch(plt.Rectangle((1.05, y), 2, 0.86, facecolor=GREEN, alpha=0.85))
            left.text(0.5, y + 0.62, str(j), ha="center", color="white", fontsize=6.5)
            left.text(2.05, y + 0.62, value, ha="center", color="white", fontsize=6.5)
            if place == 0:
                left.text(-0.1, y + 0.62, "row %d" % r, ha="right", fontsize=7)
            y += 1
    left.text(0.5, y + 0.9, "column, 4 bytes", ha="center", fontsize=7)
    left.text(2.05, y + 0.9, "value, 8 bytes", ha="center", fontsize=7)
    height = y
    right.set_title("CCOO: groups of %d entries, %d bytes" % (entries_of, 1 + entries_of * 3))
    y = 0
    for r in shown:
        row = sorted(rows[r])
        for k in range(0, len(row), entries_of):
            group = row[k:k + entries_of]
            right.add_patch(plt.Rectangle((0, y), 0.5, 1.6, facecolor=GREY))
            right.text(0.25, y + 1, str(r - first), ha="center", fontsize=7)
            for e in range(entries_of):
                inside = e < len(group)
                right.add_patch(plt.Rectangle((0.55 + 1.05 * e, y), 1, 1.6, facecolor=BLUE if inside else ORANGE, alpha=0.85))
                right.add_patch(plt.Rectangle((0.55 + 1.05 * entries_of + 0.55 * e, y), 0.5, 1.6, facecolor=GREEN if inside else ORANGE, alpha=0.85))
                right.text(1.05 + 1.05 * e, y + 1, str(group[e][0] - least) if inside else "", ha="center", color="white", fontsize=6.5)
                right.text(0.8 + 1.05 * entries_of + 0.55 * e, y + 1, str(table[group[e][1]]) if inside else "", ha="center", color="white", fontsize=6.5)
            y += 1.75
    right.text(0.25, height + 0.9, "row", ha="center", fontsize=7)
    right.text(1.55, height + 0.9, "column - %d, 2 bytes each" % least, ha="center", fontsize=7)
    right.text(3.3, height + 0.9, "place, 1 byte each", ha="center", fontsize=7)
    most = sorted(table, key=table.get)[:8]
    right.text(4.3, 0.6, "table of 256 values", fontsize=7)
    for place, value in enumerate(most):
        right.text(4.3, 1.9 + 1.2 * place, "%d: %s" % (place, value), fontsize=6.5)
    right.text(4.3, 1.9 + 1.2 * len(most), "...", fontsize=6.5)
    for axes, width in ((left, 3.4), (right, 6)):
        axes.set_xlim(-0.9 if axes is left else -0.2, width)
        axes.set_ylim(max(height, y) + 1.5, -0.3)
        axes.axis("off")
    save(figure, "ccoo.svg")


def tilecomposite():
    """Tiles of columns sorted by their entries, and the rows of the first tile as rectangles of about equal size."""
    rows, columns = load("PGPgiantcompo")
    width, work = 2048, 1024
    weight = np.bincount([j for row in columns for j in row], minlength=rows)
    place = np.empty(rows, dtype=int)
    place[np.argsort(-weight, kind="stable")] = np.arange(rows)
    moved = [[place[j] for j in row] for row in columns]
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(10, 3.9), gridspec_kw={"width_ratios": [1, 1, 1.3]})

    pattern(left, rows, moved, "1. columns by their entries, in tiles")
    for k, color in ((0, ORANGE), (1, GREEN)):
        left.axvspan(k * width, (k + 1) * width, color=color, alpha=0.25)
        left.text((k + 0.5) * width, rows * 0.5, "tile %d: %d %%" % (k, round(100 * weight[(place >= k * width) & (place < (k + 1) * width)].sum() / weight.sum())), rotation=90, ha="center", va="center", fontsize=7, bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5})
    left.text((rows + 2 * width) / 2, rows * 0.5, "the rest", rotation=90, ha="center", va="center", fontsize=7, bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5})
    left.set_xlabel("column in the new order; %: of the nonzeros")

    pieces = sorted((n for n in (sum(j < width for j in row) for row in moved) if n), reverse=True)
    middle.fill_betweenx(np.arange(257), pieces[:257], step="post", color=BLUE, linewidth=0)
    middle.set_ylim(256, 0)
    middle.set_title("2. the rows of tile 0,\nthe longest first")
    middle.set_xlabel("entries in the tile")
    middle.set_ylabel("256 of %d rows" % len(pieces))

    y, first, shown = 0.0, 0, 0
    while first < len(pieces) and shown < 14:
        w = pieces[first]
        high = min(max(work // w, 1), len(pieces) - first)
        inside = sum(pieces[first:first + high])
        right.add_patch(plt.Rectangle((0, y), w, high ** 0.5, facecolor=ORANGE, alpha=0.35, edgecolor=ORANGE))
        right.fill_betweenx(y + (np.arange(high + 1) / high) * high ** 0.5, pieces[first:first + high] + [pieces[first + high - 1]], step="post", color=BLUE, linewidth=0)
        right.text(w + 1.5, y + high ** 0.5 / 2, "%d x %d, %d entries: %s" % (high, w, inside, "along the rows" if w > high else "a lane for each row"), va="center", fontsize=6)
        y += high ** 0.5 + 0.8
        first += high
        shown += 1
    right.set_xlim(0, pieces[0] * 2.2)
    right.set_ylim(y, 0)
    right.set_yticks([])
    right.set_title("3. rectangles of about %d entries" % work)
    right.set_xlabel("width (height by its square root); orange: filling")
    save(figure, "tilecomposite.svg")


def tiles():
    """Tiles of products with dense matrices: the heavy columns of a block of rows side by side, and the rest."""
    rows, columns = load("PGPgiantcompo")
    height, heavy = 32, 4
    weight = [np.bincount([j for row in columns[first:first + height] for j in row], minlength=rows) for first in range(0, rows - height, height)]
    chosen = int(np.argmax([(w[w >= heavy]).sum() for w in weight]))
    block, w = columns[chosen * height:(chosen + 1) * height], weight[chosen]
    first = [int(j) for j in np.argsort(-w, kind="stable") if w[j] >= heavy]
    others = [int(j) for j in np.flatnonzero((w > 0) & (w < heavy))]
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.4))
    used = sorted(first + others)
    for axes, order, title in ((left, used, "32 rows, and the %d columns in which they have entries" % len(used)), (right, first + others, "the tile: %d columns with %d entries or more; then the rest" % (len(first), heavy))):
        at = {j: k for k, j in enumerate(order)}
        image = np.ones((height, len(order), 3))
        for i, row in enumerate(block):
            for j in row:
                image[i, at[j]] = to_rgb(ORANGE if w[j] >= heavy else BLUE)
        axes.imshow(image, aspect="auto", interpolation="nearest")
        axes.set_title(title)
        axes.set_yticks([])
    inside = sum(int(w[j]) for j in first)
    left.set_ylabel("rows")
    left.set_xlabel("columns, in order")
    right.set_xlabel("orange: %d of %d entries share %d rows of the dense matrix" % (inside, int(w.sum()), len(first)))
    right.axvline(len(first) - 0.5, color="black", linewidth=0.8)
    save(figure, "tiles.svg")


if __name__ == "__main__":
    amb()
    nussell()
    diagonals()
    ccoo()
    tilecomposite()
    tiles()
