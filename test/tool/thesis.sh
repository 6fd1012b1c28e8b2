#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# bench/thesis.py: each table and figure of the thesis has an experiment or a reason, and two of them run. No time is judged.
#
# make test sets BIN.
set -u
. "$(dirname "$0")/../shell/expect.sh"
export PETSCAMB=$BIN/petscamb
python=$(command -v "${PYTHON:-python3}")
thesis=$root/bench/thesis.py
cd "$work" || exit 1
"$python" "$thesis" --list >list
{ for k in $(seq 1 13) 13 14 15; do echo 3.$k; done && for k in 3 4 4 5 6 7 8 9; do echo 4.$k; done && for k in $(seq 3 8); do echo 5.$k; done && for k in $(seq 4 8) 8 9 9 $(seq 10 17); do echo 6.$k; done; } >wanted
expect "every experiment is listed" 0 "^same$" sh -c "grep -oE '^[0-9]+\.[0-9]+' list | diff - wanted && echo same"
expect "each says what differs" 0 "^46 47$" sh -c 'echo $(wc -l <wanted) $(grep -cE "^      (differs|not repeated).*: ." list)'
expect "an unknown one" 2 "^9.9: there is no such experiment" "$python" "$thesis" 9.9
expect "one that cannot be repeated" 2 "^6.5 .* cannot be repeated: needs" "$python" "$thesis" 6.5
expect "one for a GPU, without one" 2 "^3.4 .* needs a GPU" "$python" -c '
import runpy, shutil, sys
shutil.which = lambda name: None
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")' "$thesis" 3.4
# each level of AMB switched off, with a program that writes what bench/cuda's spmv writes in the place of it
mkdir -p gpu/bin "gpu/petscamb-thesis-$(id -u)"
printf '#!/bin/sh\n' >gpu/bin/nvidia-smi
cat >"gpu/petscamb-thesis-$(id -u)/spmv" <<'END3'
#!/usr/bin/env python3
import csv, sys
words = sys.argv[1:]
asked = [("nus " if words[k] == "-nus" else "") + words[k + 1] for k in range(len(words)) if words[k] in ("-try", "-nus")]
with open(words[words.index("-csv") + 1], "w", newline="") as file:
    rows = csv.writer(file)
    rows.writerow(("matrix", "nonzeros", "contender", "us", "stored_bytes", "parameters"))
    for k, name in enumerate(["cusparse1", "cusparse2p", "amb"] + asked + ["read as many bytes"]):
        rows.writerow((words[words.index("3") + 1], 100, name, {"cusparse1": 9, "cusparse2p": 8, "measure=0": 4}.get(name, 4 + k), 1000 + k, "b=1 model/stored=0.5 tried=0"))
END3
cat >"gpu/petscamb-thesis-$(id -u)/merge" <<'END5'
#!/bin/sh
printf '# a device\npairs,length,method,threads,Gkeys/s\n32-bit keys,32,copy,64,100.5\n32-bit keys,32,merge path,64,50\n32-bit keys and values,32,copy,64,60\n'
END5
chmod +x "gpu/petscamb-thesis-$(id -u)/merge" gpu/bin/nvidia-smi "gpu/petscamb-thesis-$(id -u)/spmv"
expect "levels switched off on a GPU" 0 "^4.4-gpu Figure" env PATH="$PWD/gpu/bin:$PATH" TMPDIR="$PWD/gpu" "$python" "$thesis" --small 4.4-gpu -o out2
cat >levels.py <<'END4'
import csv
rows = list(csv.DictReader(open("out2/4.4-gpu.csv")))
assert {row["matrix"] for row in rows} == {"p7:10", "er:8,8"}, rows
one = {row["type"]: row for row in rows if row["matrix"] == "p7:10"}
assert len(rows) == 2 * len(one) == 30, (len(rows), sorted(one))
assert one["cuSPARSE, its best"]["contender"] == "cusparse2p" and float(one["cuSPARSE, its best"]["time_over_model_layout"]) == 2
assert float(one["the model's layout"]["time_over_model_layout"]) == 1 and float(one["tuned"]["time_over_model_layout"]) == 1.5
assert float(one["tuned"]["bytes_a_nonzero"]) == 10.02 and one["no blocks"]["model_over_stored"] == "0.5"
print("levels are there")
END4
expect "merges on a GPU" 0 "^merge Figure" env PATH="$PWD/gpu/bin:$PATH" TMPDIR="$PWD/gpu" "$python" "$thesis" --small merge -o out2
expect "what they printed" 0 "^32-bit keys,32,merge path,64,50,merge path$" cat out2/merge.csv
expect "their names and ratios" 0 "^levels are there$" "$python" levels.py
cat >"gpu/petscamb-thesis-$(id -u)/spgemm" <<'END7'
#!/usr/bin/env python3
import sys
for name in sys.argv[1:]:
    if ":" in name:
        print("%s: 64 x 64, 200 nonzeros, 1000 products, 800 nonzeros of the result" % name)
        if "-accumulators" in sys.argv:
            print("  auto      0.500 ms (1.00 of auto's), count 0.1, pattern 0.1, values 0.2, new values 0.1; extra bytes 1.25 of C's; rows copied 0, hash 3")
            print("  heap      1.000 ms (2.00 of auto's), count 0.1, pattern 0.1, values 0.2, new values 0.1; extra bytes 2.00 of C's; rows copied 0, hash 3")
        else:
            print("  ours 0.900 ms (count 0.400, allocation 0.100, pattern 0.150, values 0.250), new values 0.1 (11 %), the first time 0.2; rows copied 0, hash 1; extra bytes 0.5 of C's at most")
END7
chmod +x "gpu/petscamb-thesis-$(id -u)/spgemm"
cp "gpu/petscamb-thesis-$(id -u)/spgemm" "gpu/petscamb-thesis-$(id -u)/spgemm_float"
expect "accumulators over density on a GPU" 0 "^6.9-gpu Figure" env PATH="$PWD/gpu/bin:$PATH" TMPDIR="$PWD/gpu" "$python" "$thesis" --small 6.8-gpu 6.9-gpu -o out2
expect "their lines" 0 "^.er:6,4.,heap,single,1000,1.000,0.002,2.00$" cat out2/6.8-gpu.csv
expect "a line for each accumulator, matrix and precision" 0 "^16$" sh -c "tail -n +2 out2/6.8-gpu.csv | wc -l"
expect "phases on a GPU" 0 "^5.6 Figure" env PATH="$PWD/gpu/bin:$PATH" TMPDIR="$PWD/gpu" "$python" "$thesis" --small 5.5 5.6 -o out2
expect "the phases of a product" 0 "^p7:10,allocation,0.100,0.900$" cat out2/5.5.csv
printf '#!/bin/sh\nwhile [ "$1" != -csv ]; do shift; done\nprintf "matrix,type,setup_s,first_s,second_s,mult_s\\np27:8,aijcusparse,1,2,3,4\\np27:8,aijcusparse,1,6,3,4\\np27:8,aijcusparse,1,5,3,4\\n" >"$2"\n' >gpu/solve
chmod +x gpu/solve
expect "a tuner on a GPU" 0 "^3.13-gpu Figure" env PATH="$PWD/gpu/bin:$PATH" PETSCAMB="$PWD/gpu/solve" "$python" "$thesis" --small 3.13-gpu -o out2
expect "the median of first solves" 0 "^8,p27:8,aijcusparse,1.0,5.0,3.0,4.0,3$" cat out2/3.13-gpu.csv
expect "no number" 2 "which experiment" "$python" "$thesis"
expect "block sizes" 0 "^4.8 Figure" "$python" "$thesis" --small 4.8 -o out1
expect "a tall matrix, by processor time" 0 "^6.16 Figure" "$python" "$thesis" --small --processor-time 6.16 -o out1
cat >rows.py <<'END2'
import csv
blocks, tall = (list(csv.DictReader(open("out1/%s.csv" % name))) for name in ("4.8", "6.16"))
assert {row["matrix"] for row in blocks} == {"elasticity:5", "p27:8"} and {row["type"] for row in blocks} == {"aij", "amb"} | {"amb@b%d" % b for b in range(1, 9)}, blocks
assert {row["type"] for row in tall} == {"aij", "hashgemm", "hashgemm@hash", "hashgemm@hashvec", "hashgemm@heap"} and {row["op"] for row in tall} == {"tall"}, tall
assert all(float(row["median_s"]) > 0 and row["status"] == "ok" for row in blocks + tall)
assert all("block_size %s," % row["type"][-1] in row["note"] for row in blocks if "@" in row["type"])
assert all(float(row["speed"]) == 1 for row in tall if row["type"] == "aij")
print("rows are there")
END2
expect "their rows" 0 "^rows are there$" "$python" rows.py
expect "the recipe" 0 "^auto takes at most 1.05 of the first accumulator's time in [0-4] of 4 cells" "$python" "$thesis" --small 6.4 -o out3
mkdir out4
cat >out4/6.4.csv <<'END5'
threads,matrix,op,entries,products,auto,hash,hashvec,heap,dense,esc,first,auto_over_first
1,"er:9,4",square,4.0,1.01,1,2,4,8,16,1,esc,1.000
1,"er:9,5",square,5.0,1.02,4,2,4,4,8,4,hash,2.000
2,"rmat:9,4",tall,3.5,1.50,3,6,6,6,3,6,dense,1.000
END5
recipe() { "$python" "$thesis" --draw 6.4 -o out4; }
expect "the recipe of three cells, a class" 0 "^. 1 . square . below 1.3 . at most 6 . 2 . 1.41 . 1.41 . 2.83 . 4.00 . 8.00 . 1.41 . hash . 2.00 .$" recipe
expect "another class" 0 "^. 2 . tall . 1.3 and more . at most 6 . 1 . 1.00 . 2.00 . 2.00 . 2.00 . 1.00 . 2.00 . dense . 1.00 .$" recipe
expect "and where auto is behind" 0 "^auto takes at most 1.05 of the first accumulator's time in 2 of 3 cells; er:9,5 square, 1 thread: hash, 2.000$" recipe
if "$python" -c 'import matplotlib' 2>/dev/null; then expect "the picture again" 0 "</svg>" sh -c "'$python' '$thesis' --draw 4.8 -o out1 && tail -1 out1/4.8.svg"
else expect "no picture without matplotlib" 0 "^4.8: no picture" "$python" "$thesis" --draw 4.8 -o out1; fi
exit $failed
