#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What bin/petscamb writes besides its tables: pictures, results as values, their comparison with earlier ones, warnings, progress; the manual page and the
# completion of the shell. Numbers are compared with each other; no time is judged.
# gpu: 0
# timeoutfactor: 3
set -u
. "$(dirname "$0")/../shell/expect.sh"
cd "$work" || exit 1
export OMP_NUM_THREADS=1
petscamb=$BIN/petscamb
python=${PYTHON:-python3}

# ------------------------------------------------- pictures -------------------------------------------------

# three rows, a full one; the picture has a pixel for each place
printf '%%%%MatrixMarket matrix coordinate real general\n3 4 5\n1 1 1\n1 2 1\n1 3 1\n1 4 1\n3 2 1\n' >three.mtx
cat >picture.py <<'END'
import base64, re, struct, sys, xml.dom.minidom, zlib


def pixels(data):
    """The lines of a grey image; the checksums must be right."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, {}
    while at < len(data):
        length, = struct.unpack(">I", data[at:at + 4])
        name, body, crc = data[at + 4:at + 8], data[at + 8:at + 8 + length], data[at + 8 + length:at + 12 + length]
        assert struct.pack(">I", zlib.crc32(name + body)) == crc, name
        chunks[name], at = body, at + 12 + length
    width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
    raw = zlib.decompress(chunks[b"IDAT"])
    lines = [raw[k * (width + 1):(k + 1) * (width + 1)] for k in range(height)]
    assert len(raw) == height * (width + 1) and not any(line[0] for line in lines) and b"IEND" in chunks
    return ["".join("." if grey == 255 else "x" for grey in line[1:]) for line in lines]


for name in sys.argv[1:]:
    data = open(name, "rb").read()
    if not name.endswith(".png"):
        text = data.decode()
        svg = xml.dom.minidom.parseString(text[text.index("<svg"):text.index("</svg>") + 6])
        assert any("nonzeros by |row - column|" in node.firstChild.data for node in svg.getElementsByTagName("text")), name
        data = base64.b64decode(re.search("base64,([^\"]*)", text).group(1))
    print(name, *pixels(data))
END
for kind in svg html png; do expect "info -plot: .$kind" 0 "verdict" "$petscamb" info three.mtx -plot three.$kind; done
expect "info -plot: the pattern" 0 "^three.svg xxxx \.\.\.\. \.x\.\.$" "$python" picture.py three.svg
expect "info -plot: the pattern as an image" 0 "^three.png xxxx \.\.\.\. \.x\.\.$" "$python" picture.py three.png
expect "info -plot: the pattern on a page" 0 "^three.html xxxx \.\.\.\. \.x\.\.$" "$python" picture.py three.html
expect "info -plot: two processes" 0 "verdict" ${MPIEXEC:-mpiexec} -n 2 "$petscamb" info three.mtx -plot two.svg
expect "info -plot: the picture of two processes" 0 "^two.svg xxxx \.\.\.\. \.x\.\.$" "$python" picture.py two.svg
printf '%%%%MatrixMarket matrix coordinate real general\n0 0 0\n' >nothing.mtx
expect "info -plot: nothing" 0 "verdict" "$petscamb" info nothing.mtx -plot nothing.png
expect "info -plot: an image of nothing" 0 "^nothing.png \.$" "$python" picture.py nothing.png
expect "info -plot: another ending" 1 "^petscamb: -plot three.gif: the name must end in .png, .svg or .html$" "$petscamb" info three.mtx -plot three.gif
expect "info -plot: two matrices" 1 "^petscamb: -plot makes a picture of one matrix, and there are 2 inputs$" "$petscamb" info three.mtx p5:4 -plot three.svg

# ------------------------------------------------- results of bench -------------------------------------------------

# a file that cannot be read ends the run; the results of the matrix before are written by then
expect "bench -csv: results as they come" 1 "^petscamb: nowhere.mtx: no file" "$petscamb" bench p5:9 nowhere.mtx -types aij,amb -seconds 0.01 -csv early.csv
quiet() { "$@" 2>errors; }
expect "bench" 0 "^  spmv +amb .* [0-9.]+x [0-9.]+-[0-9.]+ " quiet "$petscamb" bench p5:9 p7:6 -types aij,amb -seconds 0.01 -csv one.csv -json one.json -html one.html
cp out table
expect "bench: one type with two settings" 0 "^  spmv +amb@two .*block_size 2," "$petscamb" bench p9:20 -types aij,amb@one,amb@two -seconds 0.01 -one_mat_amb_block_size 1 -one_mat_shadow_tune off \
  -two_mat_amb_block_size 2 -two_mat_shadow_tune off
cp out two
expect "bench: the other setting" 0 "^  spmv +amb@one .*block_size 1," cat two
expect "solve: one type with two settings" 0 "^  amb@one/ambcg " "$petscamb" solve p5:9 -types amb,amb@one/ambcg -seconds 0 -rounds 1 -ksp_type cg -pc_type none -one_mat_amb_block_size 1
expect "progress: silent without a terminal" 0 "^0$" sh -c "grep -c turn errors; true"
cat >results.py <<'END'
import csv, datetime, json, xml.dom.minidom

early, one = (list(csv.DictReader(open(name))) for name in ("early.csv", "one.csv"))
assert [(row["matrix"], row["type"]) for row in early] == [("p5:9", "aij"), ("p5:9", "amb")], early
document, table, page = json.load(open("one.json")), open("table").read(), open("one.html").read()
machine = document["machine"]
assert [(row["matrix"], row["type"]) for row in one] == [(matrix, kind) for matrix in ("p5:9", "p7:6") for kind in ("aij", "amb")]
for row, result in zip(one, document["results"]):
    assert None not in row and None not in row.values(), row
    median, low, high, least = (float(row[name]) for name in ("median_s", "median_low_s", "median_high_s", "min_s"))
    assert 0 < least <= low <= median <= high and abs(median - result["median_s"]) <= 1e-6 * median
    assert float(row["ratio_low"]) <= float(row["ratio_aij"]) <= float(row["ratio_high"])
    assert 0 <= float(row["read_fraction"]) <= 1
    # the warning, if and only if the figures ask for it; they are rounded, hence the gap
    warned = "warning: %s %s: the median is" % (row["op"], row["type"])
    part = table[table.index("\n%s:" % row["matrix"]):].split("\n\n")[0]
    if not 1.499 < median / least < 1.501:
        assert (warned in part) == (median / least > 1.5), (row, part)
    for name in ("version", "petsc", "commit", "date", "cpu", "gpu"):
        assert row[name] == machine[name] and (row[name] or name == "gpu"), name
    datetime.datetime.strptime(row["date"], "%Y-%m-%dT%H:%M:%SZ")
    assert abs(float(row["load"]) - machine["load"]) < 0.01
assert ("warning: the load of the last minute" in table) == (machine["load"] > machine["processors"])
svg = xml.dom.minidom.parseString(page[page.index("<svg"):page.index("</svg>") + 6])
texts = [node.firstChild.data for node in svg.getElementsByTagName("text") if node.firstChild]
assert "p5:9 spmv amb" in texts and any(text.startswith("memory, read at") for text in texts) and len(svg.getElementsByTagName("circle")) == 4, texts
assert any(machine["commit"] in text for text in texts)
# the labels of the roofline do not cover each other, and its axes have numbers
places = {node.firstChild.data: (float(node.getAttribute("x")), float(node.getAttribute("y"))) for node in svg.getElementsByTagName("text") if node.firstChild}
labels = [places["%s %s" % (matrix, kind)] for matrix in ("p5:9", "p7:6") for kind in ("aij", "amb")]
assert all(abs(a[0] - b[0]) > 100 or abs(a[1] - b[1]) > 10 for k, a in enumerate(labels) for b in labels[:k]), labels
box = next(node for node in svg.getElementsByTagName("rect") if node.getAttribute("height") == "300.0")
bottom = float(box.getAttribute("y")) + 300
numbers = [text for text, (x, y) in places.items() if (x < float(box.getAttribute("x")) or y > bottom) and y > float(box.getAttribute("y")) - 5 and text.replace(".", "", 1).isdigit()]
assert len(numbers) > 1, places
print("agree")
END
expect "bench: the files and the table agree" 0 "^agree$" "$python" results.py
# an earlier run of another speed: much longer, much shorter, and with an interval that holds every time
"$python" - <<'END'
import csv

rows = list(csv.DictReader(open("one.csv")))
for row, factor in zip(rows, (1e4, 1e-4, 1, 1)):
    for name in ("median_s", "median_low_s", "median_high_s"):
        row[name] = float(row[name]) * factor
rows[2].update(median_low_s=0, median_high_s=1)
rows[3]["type"] = "sell"
with open("old.csv", "w", newline="") as out:
    out.write("# command: a line that measure.py writes\n# machine: any\n")
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
END
expect "bench -compare" 0 "^  p5:9 +spmv +aij .*x  faster$" "$petscamb" bench p5:9 p7:6 -types aij,amb -seconds 0.01 -compare old.csv
cp out table
expect "bench -compare: slower" 0 "^  p5:9 +spmv +amb .*x  slower$" cat table
expect "bench -compare: within the intervals" 0 "^  p7:6 +spmv +aij .*x  the same$" cat table
expect "bench -compare: only what both have" 0 "^3$" grep -cE "x  (faster|slower|the same)$" table
expect "bench -compare: nothing in common" 0 "^  no result of old.csv has" "$petscamb" bench p9:4 -types aij -seconds 0.01 -compare old.csv
expect "bench -compare: another file" 1 "^petscamb: -compare three.mtx: no column matrix; give a file" "$petscamb" bench p9:4 -types aij -seconds 0.01 -compare three.mtx
expect "bench -compare: no file" 1 "^petscamb: -compare nowhere.csv: cannot be opened$" "$petscamb" bench p9:4 -types aij -compare nowhere.csv

# ------------------------------------------------- progress -------------------------------------------------

cat >terminal.py <<'END'
import os, pty, subprocess, sys

ours, theirs = pty.openpty()
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=theirs)
os.close(theirs)
text = b""
while True:
    try:
        part = os.read(ours, 4096)
    except OSError:
        break
    if not part:
        break
    text += part
assert child.wait() == 0
print(text.decode().replace("\r\x1b[K", "\n"))
END
expect "progress: on a terminal" 0 "^p5:9 spmv amb: turn 11 of 11$" "$python" terminal.py "$petscamb" bench p5:9 -types aij,amb -seconds 0.01
for stage in "reading" "making the matrix"; do
  expect "progress of a graph: $stage" 0 "^rmat:4,4: $stage" "$python" terminal.py "$petscamb" graph pagerank rmat:4,4
done
expect "progress of a graph: silent without a terminal" 0 "^0$" sh -c "'$petscamb' graph pagerank rmat:4,4 2>&1 >/dev/null | wc -c"

# ------------------------------------------------- manual page and completion -------------------------------------------------

# the commands and options in the table of tool/main.c
sed -n '/^static const Command Commands/,/^};/p' "$root/tool/main.c" | grep -oE '"[a-z_]+"' | tr -d '"' | sort -u >names
while read -r name; do
  sed 's/\\//g' "$root/docs/man/petscamb.1" | grep -qE -- "(^|[ \"-])-?$name([^a-z_]|$)" || echo "$name is not in docs/man/petscamb.1"
  grep -qE -- "[ \"-]$name([^a-z_]|$)" "$root/config/petscamb.bash" || echo "$name is not in config/petscamb.bash"
done <names >missing
expect "the manual page and the completion have every command and option" 0 "^0 missing of [2-9][0-9]$" sh -c 'cat missing; echo $(wc -l <missing) missing of $(wc -l <names)'

# the operations that -h lists
"$petscamb" -h | sed -n '/^Operations/,/^$/p' | grep -oE '^  [a-z]+' | tr -d ' ' >operations
sed -n 's/^operations: //p' "$root/docs/man/petscamb.1" | sed 's/, */\n/g' | diff operations - >differences
sed -n 's/.*-ops) words="\(.*\)" ;;/\1/p' "$root/config/petscamb.bash" | tr ' ' '\n' | diff operations - >>differences
sed -n 's/^| `-ops LIST` | \(.*\); default.*/\1/p' "$root/docs/bench.md" | head -1 | sed 's/, */\n/g' | tr -d '`' | diff operations - >>differences
expect "the manual page, the completion and docs/bench.md have the operations of -h" 0 "^0 differences of 1[0-9]$" sh -c 'cat differences; echo $(wc -l <differences) differences of $(wc -l <operations)'

# complete_words WORD...: what the completion offers for the last word
complete_words() {
  bash -c 'source "$1" && shift && COMP_WORDS=("$@") && COMP_CWORD=$(($# - 1)) && _petscamb && echo "${COMPREPLY[@]}"' - "$root/config/petscamb.bash" "$@"
}
expect "completion: a command" 0 "^solve$" complete_words petscamb so
expect "completion: an option" 0 "^-compare$" complete_words petscamb bench p7:9 -com
expect "completion: an option with two dashes" 0 "^-compare$" complete_words petscamb bench p7:9 --com
expect "completion: a type in a list" 0 "^aij,nussell$" complete_words petscamb bench p7:9 -types aij,nu
expect "completion: a file" 0 "^three.mtx$" complete_words petscamb info three.m
exit $failed
