#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Make the last section of docs/options.md from what -help prints:

    docs/site/options.py bin/solve             # writes the section
    docs/site/options.py bin/solve --check     # is it what this program prints? exit code 1 if not

The program is run once with each matrix type. It prints all options of petsc-amb but -petscamb_peers, which is read on several GPUs alone.
"""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = os.path.join(ROOT, "docs", "options.md")
TITLE = "## As `-help` prints them\n"
HEAD = TITLE + """
`docs/site/options.py` has made this table from the output of `-help`, and `test/source/help.sh` compares them. A
program prints the options of the types that it uses: `bin/solve -f FILE -mat_type amb -help`. `-petscamb_peers` is
missing here: it is read on several GPUs alone.

| option | values | default | what `-help` says | function |
|---|---|---|---|---|
"""
# an option of PETSc's four kinds: a bool, a number, a word of a list, a text
LINE = re.compile(r"^ *(-\S+?):? <(?:now )?(.*?) : .*?>:? (.*?)(?: \(choose one of\) (.*?))? \((\w+)\)\s*$")
OURS = re.compile(r"-(petscamb_|hashgemm_for_|mat_(%s|shadow|spmm)_|pc_gamg_ambagg_|pc_ambilu_)")


def printed(program):
    types = subprocess.run([sys.executable, os.path.join(ROOT, "test", "runtests.py"), "--types"], stdout=subprocess.PIPE, universal_newlines=True, check=True).stdout.split()
    ours = re.compile(OURS.pattern % "|".join(types))
    rows = {}
    gamg, ilu = ["gamg", "-pc_gamg_type", "ambagg"], ["ambilu"]
    for kind, solver in [(kind, gamg) for kind in types] + [("amb", ilu)]:
        out = subprocess.run([program, "-f", os.path.join(ROOT, "test", "solve.mtx.gz"), "-mat_type", kind, "-ksp_max_it", "1", "-pc_type", *solver, "-help"],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True).stdout
        for line in out.splitlines():
            found = LINE.match(line)
            if found and ours.match(found.group(1)) and "base_mat" not in found.group(1):
                name, default, text, words, function = found.groups()
                values = ", ".join("`%s`" % word for word in words.split()) if words else "a bool" if default in ("TRUE", "FALSE") else "a number" if re.match(r"-?\d", default) else "text"
                default = default.lower() if values == "a bool" else default
                rows[name] = "| `%s` | %s | %s | %s | `%s` |\n" % (name, values, "`%s`" % default if default else "", text, function)
    return rows


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    rows = printed(sys.argv[1])
    with open(PAGE, encoding="utf-8") as file:
        before, title, section = file.read().partition(TITLE)
    if "--check" not in sys.argv:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(before.rstrip("\n") + "\n\n" + HEAD + "".join(rows[name] for name in sorted(rows)))
        return
    there = section.splitlines(keepends=True)
    wrong = [rows[name] for name in sorted(rows) if rows[name] not in there]
    gone = [line for line in there if line.startswith("| `-") and line.split("`")[1] not in rows]
    for row in wrong:
        print("not ok docs/options.md lacks, or has in another way: " + row, end="")
    for row in gone:
        print("not ok -help does not print: " + row, end="")
    if not title or not rows or wrong or gone:
        sys.exit(1)
    print("ok docs/options.md has the %d options as -help prints them" % len(rows))


if __name__ == "__main__":
    main()
