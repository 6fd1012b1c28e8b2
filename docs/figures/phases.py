#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The drawing of the parts of a set-up in docs/amg.md, from docs/results/raw/amg.csv:

    docs/figures/phases.py [FILE]       # writes FILE, or phases.svg beside this file
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
RESULTS = os.path.join(HERE, "..", "results")
sys.dont_write_bytecode = True
sys.path.insert(0, RESULTS)

import pages  # noqa: E402

WIDTH, LEFT, BAR, PANEL = 560.0, 90, 26, 44

# a part: its name, its colour, the events of -log_view that it is the sum of, and those that are taken off
PARTS = [
    ("graph, and the matrix over the bus", "#3b6ea8", ["PCGAMGCreateG"], []),
    ("aggregates", "#8fb3d9", ["GAMG Coarsen"], []),
    ("tentative prolongator", "#e8c9a0", ["PCGAMGProl"], ["PCGAMGOptProl"]),
    ("estimate of eigenvalues", "#7aa86b", ["PCGAMGOptProl"], ["GAMG smooth"]),
    ("smoothed prolongator, and its pattern over the bus", "#d9822b", ["GAMG smooth"], []),
    ("PtAP, and its pattern", "#b5533c", ["GAMG PtAP"], []),
    ("the rest of PCGAMG", "#999999", ["PCSetUp"], ["PCGAMGCreateG", "GAMG Coarsen", "PCGAMGProl", "GAMG PtAP"]),
]


def main():
    problems = {}
    for row in pages.load(os.path.join(RESULTS, "raw", "amg.csv"))[1]:
        events = problems.setdefault(row["problem"], {})
        events[row["event"]] = events.get(row["event"], 0.0) + 1e3 * float(row["seconds"])
    longest = max(events["PCSetUp"] for events in problems.values())
    drawn, y = [], 10
    for name, events in problems.items():
        x = 0.0
        drawn.append('<text x="%d" y="%d" text-anchor="end">%s</text>' % (LEFT - 6, y + 17, name))
        for _, colour, plus, minus in PARTS:
            took = sum(events[event] for event in plus) - sum(events[event] for event in minus)
            wide = WIDTH * took / longest
            drawn.append('<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s" stroke="white" stroke-width="0.5"/>' % (LEFT + x, y, wide, BAR, colour))
            if wide > 18:
                drawn.append('<text x="%.1f" y="%d" text-anchor="middle">%.0f</text>' % (LEFT + x + wide / 2, y + 17, took))
            x += wide
        drawn.append('<text x="%.1f" y="%d" font-weight="bold">%.0f ms</text>' % (LEFT + x + 6, y + 17, events["PCSetUp"]))
        y += PANEL
    for k, (name, colour, _, _) in enumerate(PARTS):
        drawn += ['<rect x="%d" y="%d" width="12" height="12" fill="%s"/>' % (LEFT + 330 * (k % 2), y + 18 * (k // 2), colour), '<text x="%d" y="%d">%s</text>' % (LEFT + 18 + 330 * (k % 2), y + 10 + 18 * (k // 2), name)]
    height = y + 18 * ((len(PARTS) + 1) // 2) + 4
    head = '<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="11">' % (LEFT + WIDTH + 70, height)
    with open(sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "phases.svg"), "w", encoding="utf-8") as file:
        file.write("\n".join([head, '<rect width="100%" height="100%" fill="white"/>'] + drawn + ["</svg>", ""]))


if __name__ == "__main__":
    main()
