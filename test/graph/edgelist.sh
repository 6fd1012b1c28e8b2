#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# MatLoadEdgeList(), by petscamb graph: ids, columns, line ends, compressed files, the same rows on any number of processes, and each fault with its file and line
# gpu: 0
set -u
. "$(dirname "$0")/../shell/expect.sh"
cd "$work" || exit 1

# levels FILE: the vertices that the first one reaches
levels() { "$BIN/petscamb" graph bfs "$1" -sources 1 -csv 2>&1; }

# ------------------------------------------------- what is accepted -------------------------------------------------

printf '# two\n1 2\n 1\t9223372036854775807  0.5\t\n\n  # three\n2\t3000000000\r\n7\n1 2 3' >all.txt
printf 'source,id,level\n1,1,0\n1,2,1\n1,3000000000,2\n1,9223372036854775807,1\n' >want
levels all.txt | diff want - && echo "ok columns, blanks, comments, ids, no last line feed" || failed=1
expect "vertices and edges" 0 "^all.txt: 5 vertices, 3 edges$" "$BIN/petscamb" graph bfs all.txt -sources 1
# half of the walk from 1 along the edges of weights 4 and 0.5
expect "weights, added up" 0 "^ +2 +0\.44444" "$BIN/petscamb" graph rwr all.txt -seeds 1 -c 0.5 -iterations 1 -tol 0
gzip -c all.txt >all.txt.gz
levels all.txt.gz | diff want - && echo "ok a compressed file" || failed=1
for ranks in 2 3 8; do
  for file in all.txt all.txt.gz; do
    ${MPIEXEC:-mpiexec} -n $ranks "$BIN/petscamb" graph bfs $file -sources 1 -csv 2>&1 | diff want - && echo "ok $file on $ranks processes" || failed=1
  done
done
: >empty.txt
expect "an empty file" 0 "^empty.txt: 0 vertices, 0 edges$" "$BIN/petscamb" graph pagerank empty.txt

# comments of KONECT, commas, names of columns, a byte order mark; the columns are the same on any number of processes
printf '%% sym unweighted\n%% 3 4 4\n1 2\n2 3\n3 1\n' >percent.txt
expect "comments that begin with a percent sign" 0 "^percent.txt: 3 vertices, 3 edges$" "$BIN/petscamb" graph pagerank percent.txt
printf '\357\273\277# a comment\n\n"from", to,weight\n%% more\n1,2\n 1 , 9223372036854775807 ,0.5\r\n2\t3000000000\n7\n1,2,3' >all.csv
printf 'From\tTo\n1\t2\t4\n1\t9223372036854775807\t0.5\n2\t3000000000\n7\n' >all.tsv
gzip -c all.csv >all.csv.gz
for ranks in 1 2 3 8; do
  for file in all.csv all.tsv all.csv.gz; do
    ${MPIEXEC:-mpiexec} -n $ranks "$BIN/petscamb" graph bfs $file -sources 1 -csv 2>&1 | diff want - && echo "ok $file on $ranks processes" || failed=1
  done
done
printf '%% nothing\n' >comments.txt
expect "comments alone" 0 "^comments.txt: 0 vertices, 0 edges$" "$BIN/petscamb" graph pagerank comments.txt
printf '%%%%matrixmarket matrix coordinate real general\n2 2 1\n1 2 1\n' >market.txt && gzip -c market.txt >market.gz
for file in market.txt market.gz; do expect "a Matrix Market file of another name: $file" 0 "^$file: 2 vertices, 1 edges$" "$BIN/petscamb" graph pagerank $file; done
gzip -c percent.txt >edges.mtx.gz
expect "an edge list of another name" 0 "^edges.mtx.gz: 3 vertices, 3 edges$" "$BIN/petscamb" graph pagerank edges.mtx.gz

# more than one piece of text: 300,000 lines of 14 bytes or more
awk 'BEGIN { for (k = 0; k < 300000; k++) print 1000000 + k, 1000001 + k }' >long.txt
if "$BIN/petscamb" --version | grep -q 'complex numbers'; then
  echo "skip several pieces: PETSc has complex numbers, and triangles are counted with real ones"
else
  expect "several pieces" 0 "^long.txt: 300001 vertices, 300000 edges$" "$BIN/petscamb" graph triangles long.txt
  expect "several pieces on several processes" 0 "^long.txt: 300001 vertices, 300000 edges$" ${MPIEXEC:-mpiexec} -n 3 "$BIN/petscamb" graph triangles long.txt
fi

# ------------------------------------------------- faults -------------------------------------------------

fault() { # NAME LINE REASON TEXT
  printf "1 2\n# comment\n$4\n3 4\n" >fault.txt
  expect "$1" 1 "^petscamb: fault.txt:3: $3$" "$BIN/petscamb" graph bfs fault.txt
}
for line in "source target" "-1 2"; do # text that begins like no file of another kind
  echo "$line" >first.txt
  expect "the first line: $line" 1 "^petscamb: first.txt:1: a vertex is a (whole number|number that is not negative)$" "$BIN/petscamb" graph bfs first.txt
done
fault "a word" 3 "a vertex is a whole number" "1 x"
fault "a negative vertex" 3 "a vertex is a number that is not negative" "-1 2"
printf '# no names\nsource,target\nalice,bob\n1,2\n' >names.csv
expect "two lines of names" 1 "^petscamb: names.csv:3: a vertex is a whole number$" "$BIN/petscamb" graph bfs names.csv
fault "names behind an edge" 3 "a vertex is a whole number" "from to"
fault "an empty column" 3 "a column is empty" "1,,2"
fault "an empty weight" 3 "a column is empty" "1,2,"
fault "a fraction" 3 "a vertex is a whole number, and a blank, a tab or a comma follows it" "1.5 2"
fault "a large vertex" 3 "the number of a vertex is larger than 2\^63 - 1" "9223372036854775808 1"
fault "no weight" 3 "the third column is no number" "1 2 heavy"
fault "half a weight" 3 "the third column is no number" "1 2 1.5kg"
fault "a large weight" 3 "the weight is too large for a number of 64 bits" "1 2 1e999"
fault "four columns" 3 "a line has at most three columns: two vertices and a weight; cut the others off" "1 2 3 4"
fault "four columns with commas" 3 "a line has at most three columns: two vertices and a weight; cut the others off" "1,2,3,4"
fault "a comment at the end" 3 "the third column is no number" "1 2 # why"
sed '250000s/.*/1000000 here/' long.txt >broken.txt
for ranks in 1 2 3; do
  expect "the line, on $ranks processes" 1 "^petscamb: broken.txt:250000: a vertex is a whole number$" ${MPIEXEC:-mpiexec} -n $ranks "$BIN/petscamb" graph bfs broken.txt
done
gzip -c broken.txt >broken.txt.gz
expect "the line of a compressed file" 1 "^petscamb: broken.txt.gz:250000: a vertex is a whole number$" ${MPIEXEC:-mpiexec} -n 2 "$BIN/petscamb" graph bfs broken.txt.gz
head -c 100000 broken.txt.gz >cut.txt.gz
expect "a compressed file that is cut off" 1 "^petscamb: cut.txt.gz:[0-9]+: the compressed data are damaged or cut off: [^<]+$" "$BIN/petscamb" graph bfs cut.txt.gz
awk 'BEGIN { printf "1 "; for (k = 0; k < 5000000; k++) printf " "; print 2 }' >blanks.txt
expect "a line that is too long" 1 "^petscamb: blanks.txt:1: the line is too long$" "$BIN/petscamb" graph bfs blanks.txt
exit $failed
