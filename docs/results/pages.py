#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Keep the figures of the pages in files that say where they come from:

    docs/results/pages.py            # writes the tables of measurements in docs/PAGE.md into docs/results/pages/PAGE.csv
    docs/results/pages.py --check    # compares them; exit code 1 if a figure has no source

A table of measurements is one whose section has three numbers with decimals or more. The first lines of a CSV are its sources, each with command, machine, commit
and date; the column source has their numbers. Rows of sections that the page does not have are figures of its sentences.
"""
import collections
import csv
import glob
import io
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DEVELOPERS = ("add-a-format.md", "design.md", "develop.md", "testing.md")
COLUMNS = ["section", "row", "figures", "source"]
NUMBER = re.compile(r"[~<>]?\d")


def cells(line):
    """The cells of a row of a table, without links."""
    return [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", cell).replace("\\|", "|").strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def tables(path):
    """The section, header and rows of each table of a page."""
    section, code, found, inside = "", False, [], False
    with open(path, encoding="utf-8") as file:
        for line in file:
            code ^= line.startswith("```")
            if not code and line.startswith("#"):
                section = line.lstrip("#").strip()
            if code or not line.startswith("|"):
                inside = False
            elif not inside:
                found.append((section, cells(line), []))
                inside = True
            elif not re.match(r"\|[-:| ]+\|$", line):
                found[-1][2].append(cells(line))
    return found


def figures(path):
    """The rows (section, row, figures) of the tables of measurements of a page."""
    found = tables(path)
    decimals = collections.Counter()
    for section, header, rows in found:
        decimals[section] += sum(bool(re.match(r"[~<>]?\d+\.\d+\b", cell)) for row in [header] + rows for cell in row)
    out = []
    for section, header, rows in found:
        first = ""
        for row in rows if decimals[section] >= 3 else []:
            first = row[0] = row[0] or first
            label = [first] + [cell for cell in row[1:] if cell and not NUMBER.match(cell)]
            values = ["%s: %s" % (name, cell) if name else cell for name, cell in list(zip(header, row))[1:] if NUMBER.match(cell)]
            out += [(section, ", ".join(label), "; ".join(values))] if values else []
    return out


def load(path):
    """The comment lines and the rows of a CSV."""
    if not os.path.exists(path):
        return [], []
    with open(path, encoding="utf-8", newline="") as file:
        lines = file.readlines()
    return [line for line in lines if line.startswith("#")], list(csv.DictReader(line for line in lines if not line.startswith("#")))


def unsourced(name, comments, rows):
    """What the sources of a file lack."""
    wrong, known = [], set()
    for comment in comments:
        source = re.match(r"# source (\d+): ", comment)
        if source:
            known.add(source.group(1))
            wrong += ["%s: source %s has no %s" % (name, source.group(1), word) for word in ("command", "machine", "commit", "date") if "; %s: " % word not in comment]
    return wrong + ["%s: %s: no source in the first lines" % (name, section) for section in sorted({row["section"] for row in rows if not row["source"] or set(row["source"].split()) - known})]


def main():
    check = sys.argv[1:2] == ["--check"]
    root = sys.argv[2] if check and len(sys.argv) > 2 else ROOT
    wrong, sections, pages = [], 0, {}
    for path in sorted(glob.glob(os.path.join(root, "docs", "*.md"))):
        if os.path.basename(path) not in DEVELOPERS:
            pages[os.path.basename(path)[:-3]] = figures(path)
    for page, found in pages.items():
        name = "docs/results/pages/%s.csv" % page
        path = os.path.join(root, name)
        comments, rows = load(path)
        if not found and not rows:
            continue
        with open(os.path.join(root, "docs", page + ".md"), encoding="utf-8") as file:
            headings = {line.lstrip("#").strip() for line in file if line.startswith("#")}
        shown = [row for row in rows if row["section"] in headings]
        if not check:
            source = {row["section"]: row["source"] for row in rows}
            source.update({(row["section"], row["row"]): row["source"] for row in rows})
            new = [dict(zip(COLUMNS, line + (source.get(line[:2], source.get(line[0], "")),))) for line in found] + [row for row in rows if row not in shown]
            text = io.StringIO()
            writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(new)
            with open(path, "w", encoding="utf-8") as file:
                file.write("".join(comments) + text.getvalue())
            rows = shown = new
        elif collections.Counter(found) != collections.Counter((row["section"], row["row"], row["figures"]) for row in shown):
            differ = {line[0] for line in set(found) ^ {(row["section"], row["row"], row["figures"]) for row in shown}}
            wrong.append("%s: the page has other figures in: %s; run docs/results/pages.py" % (name, ", ".join(sorted(differ))))
        wrong += unsourced(name, comments, rows)
        sections += len({line[0] for line in found})
    for path in sorted(glob.glob(os.path.join(root, "docs", "results", "raw", "*.csv"))):
        first = "".join(load(path)[0])
        wrong += ["%s: no %s in the first lines" % (os.path.relpath(path, root), word) for word in ("command", "machine", "commit", "date") if word + ":" not in first]
    print("\n".join(wrong) or "%d sections with measurements" % sections)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
