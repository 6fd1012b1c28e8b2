#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Each section of the user's pages, and of the notes on the thesis and on sparse products, that has a table of measurements has a line in docs/notes/figures.md. A table
# of measurements has three cells or more of numbers with decimals. The drawings in the pages are those of their scripts.
# gpu: 0
# tier: check
set -u
. "$(dirname "$0")/shell/expect.sh"
cat >"$work/figures.py" <<'END'
import glob, os, re, sys

root, wrong, found = sys.argv[1], [], 0
named = set(re.findall(r"\(((?:\.\./)?[a-z-]+\.md#[^)]+)\)", open(os.path.join(root, "docs", "notes", "figures.md"), encoding="utf-8").read()))
notes = [os.path.join(root, "docs", "notes", page) for page in ("thesis.md", "measurements-products.md")]
for name in sorted(glob.glob(os.path.join(root, "docs", "*.md"))) + [name for name in notes if os.path.exists(name)]:
    page = os.path.basename(name)
    if page in ("design.md", "testing.md", "add-a-format.md"):  # for those who work on petsc-amb
        continue
    section, cells, code = "", {}, False
    for line in open(name, encoding="utf-8"):
        code ^= line.startswith("```")
        if not code and line.startswith("#"):
            section = re.sub(r"[^a-z0-9 _-]", "", line.lstrip("#").strip().lower()).replace(" ", "-")
        if not code and line.startswith("|"):
            cells[section] = cells.get(section, 0) + sum(bool(re.match(r"\s*[~<>]?\d+\.\d+\b", cell)) for cell in line.split("|"))
    for section, count in cells.items():
        if count >= 3:
            found += 1
            if "%s%s#%s" % ("" if name in notes else "../", page, section) not in named:
                wrong.append("%s#%s has a table of measurements and no line in docs/notes/figures.md" % (os.path.relpath(name, root), section))
print("\n".join(wrong) or "%d sections with measurements" % found)
sys.exit(bool(wrong))
END
expect "where figures come from" 0 "^[0-9]+ sections with measurements$" "${PYTHON:-python3}" "$work/figures.py" "$root"
mkdir -p "$work/docs/notes" && printf '# Title\n\n## A part\n\n| a | 1.5 | 2.5 |\n|---|---|---|\n| b | 3.5 | x |\n' >"$work/docs/page.md" && echo "nothing" >"$work/docs/notes/figures.md"
expect "a table without its source" 1 "docs/page.md#a-part has a table" "${PYTHON:-python3}" "$work/figures.py" "$work"
echo "[page](../page.md#a-part)" >"$work/docs/notes/figures.md"
expect "the same with its source" 0 "^1 sections" "${PYTHON:-python3}" "$work/figures.py" "$work"
cp "$work/docs/page.md" "$work/docs/notes/thesis.md"
expect "a table of the notes without its source" 1 "^docs/notes/thesis.md#a-part has a table" "${PYTHON:-python3}" "$work/figures.py" "$work"
echo "[notes](thesis.md#a-part)" >>"$work/docs/notes/figures.md"
expect "that with its source" 0 "^2 sections" "${PYTHON:-python3}" "$work/figures.py" "$work"
# drawings that need no other package are those of their scripts
same() { "${PYTHON:-python3}" "$root/docs/figures/$1.py" "$work/$1.svg" && diff "$work/$1.svg" "$root/docs/figures/$1.svg" && echo "the same"; }
for name in graphs phases timeline; do expect "the drawing $name" 0 "^the same$" same $name; done
exit $failed
