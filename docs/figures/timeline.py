#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The drawing of the host in an iteration of PETSc's cg in docs/krylov.md:

    docs/figures/timeline.py [FILE]     # writes FILE, or timeline.svg beside this file

It is put together from calls that were timed one by one, many of a kind in a row: 274,625 unknowns (65^3), one H200, PETSc 3.26.1.
"""
import os
import sys

HOST, WAIT = "#3b6ea8", "#e8c9a0"
LAUNCH = 4.0  # microseconds to queue a kernel, of those that a call with a wait takes
SCALE, BAR, PANEL = 5.6, 18, 46

# an operation: its name, microseconds of the host, whether the host waits for its result
ITERATIONS = [
    ("PETSc's operations", [("p = z + b p", 7.9, False), ("A p", 3.6, False), ("p.w", 30.5, True), ("x", 4.2, False), ("r", 4.2, False), ("z", 4.6, False), ("norm", 37.9, True), ("z.r", 30.5, True)]),
    ("those of petsc-amb", [("p", 3.8, False), ("A p", 3.5, False), ("p.w", 9.7, True), ("x", 4.1, False), ("r", 4.1, False), ("z", 4.6, False), ("norm", 8.7, True), ("z.r", 9.7, True)]),
]


def bar(x, y, width, colour, text):
    out = ['<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s" stroke="white" stroke-width="0.5"/>' % (10 + SCALE * x, y, SCALE * width, BAR, colour)]
    if SCALE * width > 5.5 * len(text) + 2:
        out.append('<text x="%.1f" y="%d" text-anchor="middle" fill="%s">%s</text>' % (10 + SCALE * (x + width / 2), y + 13, "black" if colour == WAIT else "white", text))
    return out


def main():
    drawn, y, longest = [], 20, 0.0
    for title, operations in ITERATIONS:
        now = 0.0
        for name, took, waits in operations:
            work = LAUNCH if waits else took
            drawn += bar(now, y, work, HOST, "" if waits else name)
            if waits:
                drawn += bar(now + work, y, took - work, WAIT, name)
            now += took
        drawn.append('<text x="10" y="%d" font-weight="bold">%s: %.0f us</text>' % (y - 5, title, now))
        longest, y = max(longest, now), y + PANEL
    y -= 20
    drawn += ['<text x="%.1f" y="%d" text-anchor="middle">%d%s</text>' % (10 + SCALE * k, y + 8, k, " us" if k == 120 else "") for k in range(0, int(longest) + 1, 20)]
    y += 18
    for k, (colour, text) in enumerate([(HOST, "the host queues work"), (WAIT, "the host waits for a sum")]):
        drawn += ['<rect x="%d" y="%d" width="12" height="12" fill="%s"/>' % (10 + 170 * k, y, colour), '<text x="%d" y="%d">%s</text>' % (28 + 170 * k, y + 10, text)]
    head = '<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="10">' % (30 + SCALE * longest, y + 20)
    with open(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "timeline.svg"), "w", encoding="utf-8") as file:
        file.write("\n".join([head, '<rect width="100%" height="100%" fill="white"/>'] + drawn + ["</svg>", ""]))


if __name__ == "__main__":
    main()
