#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The tables of measurements in the users' pages are those of docs/results/pages, where each row has a source with command, machine, commit and date.
# The drawings in the pages are those of their scripts.
# gpu: 0
# tier: check
set -u
. "$(dirname "$0")/../shell/expect.sh"
python=${PYTHON:-python3}
check() { "$python" "$root/docs/results/pages.py" --check "$1"; }
expect "where figures come from" 0 "^[0-9]+ sections with measurements$" check "$root"
pages=$work/docs/results/pages
mkdir -p "$pages" "$work/docs/results/raw" && printf '# Title\n\n## A part\n\n| a | 1.5 | 2.5 |\n|---|---|---|\n| b | 3.5 | x |\n' >"$work/docs/page.md"
expect "a table without its source" 1 "^docs/results/pages/page.csv: the page has other figures in: A part" check "$work"
printf 'section,row,figures,source\nA part,"b, x",1.5: 3.5,1\n' >"$pages/page.csv"
expect "a row without its source" 1 "^docs/results/pages/page.csv: A part: no source in the first lines$" check "$work"
sed -i '1i # source 1: speed; command: `true`; machine: any; commit: 0000000' "$pages/page.csv"
expect "a source without its date" 1 "^docs/results/pages/page.csv: source 1 has no date$" check "$work"
sed -i '1s/$/; date: 2026-11-27/' "$pages/page.csv"
expect "the same with its source" 0 "^1 sections" check "$work"
sed -i 's/| 3.5 |/| 4.5 |/' "$work/docs/page.md"
expect "a figure that is not its source's" 1 "^docs/results/pages/page.csv: the page has other figures in: A part" check "$work"
sed -i 's/| 4.5 |/| 3.5 |/' "$work/docs/page.md" && printf '# command: true\nmatrix,us\n' >"$work/docs/results/raw/one.csv"
expect "raw figures without a machine" 1 "^docs/results/raw/one.csv: no machine in the first lines$" check "$work"
# drawings that need no other package are those of their scripts
same() { "$python" "$root/docs/figures/$1.py" "$work/$1.svg" && diff "$work/$1.svg" "$root/docs/figures/$1.svg" && echo "the same"; }
for name in gains graphs phases timeline; do expect "the drawing $name" 0 "^the same$" same $name; done
exit $failed
