#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The command lines of the programs in bin/: -h, --version, names that do not exist, and the verdict of petscamb info. No time is judged.
# gpu: 0
# timeoutfactor: 3
set -u
. "$(dirname "$0")/../shell/expect.sh"
cd "$work" || exit 1
petscamb=$BIN/petscamb
data=$root/data

# ------------------------------------------------- -h and --version -------------------------------------------------

for program in "$BIN"/*; do
  name=$(basename "$program")
  for option in -h --help; do
    expect "$name $option" 0 "^  " "$program" $option
    [ "$(wc -l <out)" -lt 80 ] && ! grep -q "PETSC ERROR\|Petsc Release" out && continue
    echo "not ok $name $option: this is more than the help of the program"
    failed=1
  done
done
expect "petscamb bench p7:9 -h" 0 "^Options of bench" "$petscamb" bench p7:9 -h
expect "petscamb help" 0 "^Options of bench" "$petscamb" help
expect "petscamb help graph" 0 "^Algorithms:$" "$petscamb" help graph
expect "petscamb graph -h" 0 "^Algorithms:$" "$petscamb" graph -h
ln -s "${LIB:-$BIN/../lib/libpetscamb.so}" libpetscamb.so # PETSC_OPTIONS takes no path with a space
PETSC_OPTIONS="${PETSC_OPTIONS:-} -dll_append $work/libpetscamb.so -petscamb_view" expect "petscamb with -dll_append" 0 "^  amb +[1-9]" "$petscamb" solve p7:9 -rounds 1 -seconds 0
[ "$(grep -c "^petsc-amb on" out)" = 1 ] && echo "ok petscamb with -dll_append: one library" || { echo "not ok petscamb with -dll_append: one library" && failed=1; }
expect "--version" 0 "^petscamb $(cat "$root/VERSION"), PETSc 3\." "$petscamb" --version
expect "petscamb version" 0 "^petscamb $(cat "$root/VERSION"), PETSc 3\." "$petscamb" version
expect "make help" 0 "^make run  " make -s -C "$root" help
[ "$(grep -c "^make " out)" -gt 15 ] && ! grep -qv "^make \|^PETSC_DIR\|^$" out && echo "ok make help: the targets alone" || { echo "not ok make help: the targets alone" && failed=1; }

# ------------------------------------------------- names that do not exist -------------------------------------------------

expect "no command" 2 "^petscamb: no command: say bench, info, solve, graph or tiletable" "$petscamb"
expect "a misspelt command" 2 "^petscamb: inf: there is no such command; did you mean info\?$" "$petscamb" inf p7:5
expect "another word as command" 2 "^petscamb: measure: there is no such command; say bench" "$petscamb" measure p7:5
expect "a misspelt algorithm" 2 "^petscamb: pagrank: there is no such algorithm; did you mean pagerank\?$" "$petscamb" graph pagrank p5:4
expect "tiletable without a file" 1 "^petscamb: tiletable needs the name of one file" "$petscamb" tiletable
expect "no algorithm" 2 "^petscamb: no algorithm: say petscamb graph ALGORITHM FILE" "$petscamb" graph
expect "no graph" 1 "^petscamb: graph pagerank needs one file or generator, such as rmat:10,8, and gets 0$" "$petscamb" graph pagerank
expect "an option of another algorithm" 2 "^petscamb: -seeds: this option was not used$" "$petscamb" graph pagerank er:4,2 -seeds 0
expect "a misspelt option of graph" 2 "^petscamb: -sedes: there is no such option; did you mean -seeds\?$" "$petscamb" graph rwr er:4,2 -sedes 0
expect "an option with letters left out" 2 "^petscamb: -cnt: there is no such option; did you mean -count\?$" "$petscamb" graph bfs er:4,2 -cnt 3
expect "a vertex that does not exist" 1 "^petscamb: er:4,2 has no vertex 16$" "$petscamb" graph rwr er:4,2 -seeds 16
expect "no list of vertices" 1 "^petscamb: -sources 1,x: write ids with commas between them and no blanks$" "$petscamb" graph bfs er:4,2 -sources 1,x
expect "a misspelt type of graph" 2 "^petscamb: Unknown Mat type given: amd$" "$petscamb" graph pagerank er:4,2 -mat_type amd
expect "another way with dangling vertices" 2 "^petscamb: -dangling away: say uniform or remove$" "$petscamb" graph pagerank er:4,2 -dangling away
expect "another order" 2 "^petscamb: -order deg: say none, degree or bitonic$" "$petscamb" graph pagerank er:4,2 -order deg
expect "an order of one process on two" 1 "^petscamb: -order degree is for one process; say bitonic or none$" ${MPIEXEC:-mpiexec} -n 2 "$petscamb" graph pagerank er:4,2 -order degree
expect "negative weights" 1 "^petscamb: p5:4: a weight is negative or no number; -unweighted leaves the weights out$" "$petscamb" graph hits p5:4
expect "no convergence" 1 "^pagerank: 3 iterations \(NOT CONVERGED\)" "$petscamb" graph pagerank er:4,2 -iterations 3
expect "iterations by their number" 0 "^pagerank: 3 iterations, [^(]" "$petscamb" graph pagerank er:4,2 -iterations 3 -tol 0
expect "a misspelt option with two dashes" 2 "^petscamb: -type: there is no such option; did you mean -types\?$" "$petscamb" solve p7:5 --type=aij
expect "GNU's spelling" 0 "^  spmv +amb " "$petscamb" bench p7:5 --types aij,amb --reps=1
expect "an output that is an input" 1 "^petscamb: -json lower.mtx: this is an input; name another file$" sh -c "printf '%%%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n' >lower.mtx; '$petscamb' info lower.mtx --json=lower.mtx"
# -json and -csv mean the same in each command: a file; or the standard output, in place of the tables, without a value and with -
json() { "$@" 2>errors | "${PYTHON:-python3}" -c 'import json, sys; json.load(sys.stdin); print("json alone")'; }
for value in --json "--json -" -json=-; do
  expect "bench $value" 0 "^json alone$" json "$petscamb" bench p7:5 -types aij -reps 1 $value
  expect "info $value" 0 "^json alone$" json "$petscamb" info p7:5 $value
  expect "petscamb solve $value" 0 "^json alone$" json "$petscamb" solve p7:5 p5:6 -types aij,amb -rounds 1 -seconds 0 -apart $value
  expect "bin/solve $value" 0 "^json alone$" json "$BIN/solve" -f "$data/cage10.mtx.gz" -compare $value
  expect "graph $value" 0 "^json alone$" json "$petscamb" graph pagerank rmat:4,4 $value -ksp_type cg
done
for value in --csv "-csv -"; do
  expect "bench $value" 0 "^1$" sh -c "'$petscamb' bench p7:5 -types aij -reps 1 $value | grep -vc '^matrix,'"
  expect "solve $value" 0 "^1$" sh -c "'$petscamb' solve p7:5 -types aij -rounds 1 -seconds 0 $value | grep -vc '^matrix,'"
  expect "info $value" 0 "^[6-9]$" sh -c "'$petscamb' info p7:5 $value | grep -c '^.p7:5.,125,125,'"
  expect "bin/solve $value" 0 "^2$" sh -c "'$BIN/solve' -f '$data/cage10.mtx.gz' -compare $value | grep -vc '^matrix,'"
  expect "graph $value" 0 "^id,value$" sh -c "'$petscamb' graph pagerank rmat:4,4 $value | sed -n 1p"
done
example() { # NAME COMMAND-LINE: a small run of an example of bin/
  local name=$1 words=$2
  expect "bin/$name --json" 0 "^json alone$" json "$BIN/$name" $words --json
  expect "bin/$name -csv" 0 "^same columns$" sh -c "'$BIN/$name' $words -csv | '${PYTHON:-python3}' -c 'import csv, sys; rows = list(csv.reader(sys.stdin)); print(len(rows) > 1 and len(set(map(len, rows))) == 1 and \"same columns\")'"
  expect "two outputs for one place: bin/$name" 1 "^$name: -csv and -json: only one of them" "$BIN/$name" $words --json --csv
  expect "an option that nothing reads: bin/$name" 2 "^$name: -xyz: this option was not used$" "$BIN/$name" $words -xyz 3
}
example bfs "-n 5"
example galerkin "-ne 3"
example heat "-n 5 -steps 2"
example mcl "-groups 3 -group_size 8"
example multigpu "-n 5 -rounds 1"
example triangles "-scale 4"
if "$petscamb" --version | grep -q 'complex numbers'; then
  echo "skip -json of gcn, lobpcg, lowrank: they need real numbers"
else
  example gcn "-graphs 20 -epochs 2"
  example lobpcg "-n 6 -nev 2"
  example lowrank "-users 60 -items 40 -epochs 2"
fi
for command in bench info solve graph; do
  [ $command = graph ] && words="pagerank rmat:4,4" || words="p7:5"
  expect "$command --json=FILE" 0 "^json$" sh -c "'$petscamb' $command $words --json=values.json >/dev/null && '${PYTHON:-python3}' -m json.tool values.json >/dev/null && echo json"
done
for command in "bench p7:5" "info p7:5" "solve p7:5" "graph pagerank rmat:4,4"; do
  # shellcheck disable=SC2086
  expect "two outputs for one place: $command" 1 "^petscamb: -csv and -json: only one of them" "$petscamb" $command --json --csv
done
expect "two outputs for one place: bin/solve" 1 "^solve: -csv and -json: only one of them" "$BIN/solve" -f "$data/cage10.mtx.gz" --json --csv
expect "an option without its value" 2 "^petscamb: -types: its value is missing" "$petscamb" bench p7:5 -types -seconds 0.01
expect "an option without its value, at the end" 2 "^petscamb: -compare: its value is missing" "$petscamb" bench p7:5 -types aij -compare
expect "an option that needs none" 0 "^{\"top\"" "$petscamb" graph pagerank rmat:6,4 -json -undirected
expect "a word in place of a number" 1 "^petscamb: Input string ten has no integer value" "$petscamb" bench p7:5 -types aij -reps ten
[ "$(grep -c "PETSC ERROR" out)" = 0 ] && echo "ok a word in place of a number: no trace" || { echo "not ok a word in place of a number: a trace" && failed=1; }
expect "a generator without its number" 1 "^petscamb: p7: write p7:N with positive numbers" "$petscamb" info p7
expect "a misspelt option" 2 "^petscamb: -type: there is no such option; did you mean -types\?$" "$petscamb" solve p7:5 -type aij
expect "an option of another command" 2 "^petscamb: -rounds: this option was not used$" "$petscamb" info p7:5 -rounds 3
expect "an option that nothing reads" 2 "^petscamb: -xyz: this option was not used$" "$petscamb" solve p7:5 -xyz 3 -seconds 0 -rounds 1
expect "a misspelt option of PETSc" 2 "^petscamb: -ksp_tpye: this option was not used; did you mean -ksp_type\?$" "$petscamb" solve p7:5 -ksp_tpye cg -seconds 0 -rounds 1
expect "a misspelt type of petsc-amb" 2 "^petscamb: -types nusell: there is no such type; did you mean nussell\?$" "$petscamb" bench p7:5 -types aij,nusell
expect "a misspelt type of PETSc" 2 "^petscamb: -types aijcuspars: there is no such type; did you mean aijcusparse\?$" "$petscamb" bench p7:5 -types aijcuspars
expect "a misspelt peer" 2 "^petscamb: -types graphblass: there is no such type; did you mean graphblas\?$" "$petscamb" bench p7:5 -types graphblass
expect "aijcusparse after a type of petsc-amb" 1 "^petscamb: -types: aijcusparse/cg comes after amb@one/cg, whose format it would get on a GPU; name it first$" "$petscamb" solve p7:5 -types aij,amb@one/cg,aijcusparse/cg
expect "another word as type" 2 "^petscamb: -types something: there is no such type$" "$petscamb" solve p7:5 -types something
expect "a type of some PETScs" 0 "^ +scalapack +absent: |^  spmv +scalapack " "$petscamb" bench p7:5 -types aij,scalapack -reps 1
expect "products with dense matrices" 0 "^  spmmt:3 +amb +[0-9]" "$petscamb" bench p7:5 -types aij,amb -ops spmm,spmmt -columns 2,3 -reps 1
expect "the time of the processors" 0 "^times are those of the processors" "$petscamb" bench p7:5 -types aij,amb -reps 1 -processor_time
expect "products of matrices with unsorted rows" 0 "^  unsorted +hashgemm +[0-9]" "$petscamb" bench p7:5 -types aij,aij/rowmerge,hashgemm,amb -ops unsorted,square -reps 1
expect "new values of a product" 0 "^  reap +hashgemm +[0-9]" "$petscamb" bench p7:5 -types aij,aij/rowmerge,hashgemm -ops reap,ap -reps 1
if "$petscamb" --version | grep -q 'complex numbers'; then
  echo "skip sampled products: PETSc has complex numbers, and MatSDDMM() multiplies real ones"
else
  expect "sampled products" 0 "^  sddmm:3 +csr +[0-9]" "$petscamb" bench p7:5 -types aij,amb,csr -ops sddmm -columns 2,3 -reps 1
fi
expect "no columns" 1 "^petscamb: -columns 0 must be positive$" "$petscamb" bench p7:5 -ops spmm -columns 0
expect "a misspelt operation" 2 "^petscamb: -ops spvm: there is no such operation; did you mean spmv\?$" "$petscamb" bench p7:5 -ops spvm
expect "a misspelt type of KSP" 2 "^petscamb: Unable to find requested KSP type cgg$" "$petscamb" solve p7:5 -ksp_type cgg
expect "a file that does not exist" 1 "^petscamb: nowhere.mtx: no file that can be read" "$petscamb" info nowhere.mtx
# files that MatLoadMatrixMarket() reads, whatever their first line looks like
printf '%%%%matrixmarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 1\n' >lower.mtx
printf '  %%%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 1\n' >leading.mtx
printf '\n%%%%MatrixMarket matrix coordinate real general\r\n2 2 2\r\n1 1 1\r\n2 2 1\r\n' >later.mtx
printf '%%%%MatrixMarket matrix coordinate unsigned-integer general\n%%\n2 2 2\n1 1 2\n2 2 1\n' >unsigned.mtx
gzip -c later.mtx >later.gz
for file in lower.mtx leading.mtx later.mtx unsigned.mtx later.gz; do
  expect "petscamb reads $file" 0 "^  rows x columns +2 x 2$" "$petscamb" info $file
  expect "solve reads $file" 0 "^$file: 2 rows, 2 nonzeros" "$BIN/solve" -f $file
  expect "multigpu reads $file" 0 "2 unknowns" "$BIN/multigpu" -f $file -rounds 1
done
printf '1 2\n' >edges.txt
expect "a list of edges" 1 "^petscamb: edges.txt: neither a Matrix Market file .*; lists of edges are for petscamb graph$" "$petscamb" info edges.txt
expect "a pattern with values" 1 "^petscamb: values.mtx:3: the entry has the value '5', and the header promises a pattern without values; write real" sh -c "printf '%%%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 1 5\n' >values.mtx; '$petscamb' info values.mtx"
# what is not possible is told in one line
printf '%%%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n' >complex.mtx
printf '%%%%MatrixMarket matrix coordinate real general\n99999999999 99999999999 1\n1 1 1\n' >huge.mtx
printf '%%%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 5\n' >skew.mtx
one_line() { # NAME MESSAGE COMMAND...
  local name=$1 message=$2
  shift 2
  expect "$name" fail "$message" "$@"
  [ "$(wc -l <out)" = 1 ] || { echo "not ok $name: more than one line" && failed=1; }
}
if ! "$petscamb" --version | grep -q 'complex numbers'; then
  one_line "petscamb: complex numbers" "^petscamb: complex.mtx holds complex numbers and this PETSc is built for real ones; use" "$petscamb" info complex.mtx
  one_line "solve: complex numbers" "^solve: complex.mtx holds complex numbers and this PETSc is built for real ones; use" "$BIN/solve" -f complex.mtx
fi
if ! "$petscamb" --version | grep -q '64-bit indices'; then
  one_line "petscamb: sizes beyond PetscInt" "^petscamb: huge.mtx is a matrix of .* too large for the PetscInt of 4 bytes; use" "$petscamb" info huge.mtx
  one_line "multigpu: sizes beyond PetscInt" "^multigpu: huge.mtx is a matrix of .* too large for the PetscInt of 4 bytes; use" "$BIN/multigpu" -f huge.mtx
fi
one_line "petscamb: a missing diagonal" "^petscamb: Matrix is missing diagonal entr(y 0|ies); give -pc_type jacobi" "$petscamb" solve skew.mtx
one_line "solve: a missing diagonal" "^solve: Matrix is missing diagonal entr(y 0|ies); give -pc_type jacobi" "$BIN/solve" -f skew.mtx
one_line "solve: another word" '^solve: Unknown option "?some"? for -rhs. Available options: ones random' "$BIN/solve" -f lower.mtx -rhs some
one_line "solve: a misspelt option" "^solve: -compar: there is no such option; did you mean -compare\?$" "$BIN/solve" -f lower.mtx --compar
one_line "multigpu: a misspelt option" "^multigpu: -round: there is no such option; did you mean -rounds\?$" "$BIN/multigpu" --round=3
one_line "bfs: a misspelt option" "^bfs: -source: there is no such option; did you mean -sources\?$" "$BIN/bfs" --source=3
one_line "bfs: a number" "^bfs: -n 0 is 1 to 40000" "$BIN/bfs" --n=0
one_line "bfs: a file that does not exist" "^bfs: nowhere.mtx: cannot open the file" "$BIN/bfs" -f nowhere.mtx
one_line "mcl: a misspelt option" "^mcl: -inflaton: there is no such option; did you mean -inflation\?$" "$BIN/mcl" --inflaton=3
one_line "mcl: a number" "^mcl: -inflation 1. is more than 1" "$BIN/mcl" -inflation 1
one_line "triangles: a misspelt option" "^triangles: -scal: there is no such option; did you mean -scale\?$" "$BIN/triangles" --scal 3
one_line "triangles: a number" "^triangles: -scale 99 is 1 to 30" "$BIN/triangles" -scale 99
one_line "lowrank: a misspelt option" "^lowrank: -epoch: there is no such option; did you mean -epochs\?$" "$BIN/lowrank" --epoch=3
one_line "lowrank: a number" "^lowrank: -rank and -epochs are 1 or more" "$BIN/lowrank" -rank 0
one_line "lobpcg: a misspelt option" "^lobpcg: -neev: there is no such option; did you mean -nev\?$" "$BIN/lobpcg" --neev=3
one_line "lobpcg: a number" "^lobpcg: -nev is at least 1" "$BIN/lobpcg" -nev 0
for program in bfs mcl triangles lobpcg $("$petscamb" --version | grep -q 'complex numbers' || echo lowrank); do
  expect "$program: an option that nothing reads" 2 "^$program: -xyz: this option was not used$" "$BIN/$program" -xyz 3 --times=0
done
# errors about an option are one line, whoever raises them; those that a fault of the program may raise keep the trace
one_line "solve: a number that a type refuses" "^solve: A chunk cannot have -3 rows; use" "$BIN/solve" -f lower.mtx -mat_type nussell -mat_nussell_c -3
expect "solve: an error of PETSc keeps its trace" 1 "PETSC ERROR: #1 KSPGMRESSetRestart" "$BIN/solve" -f lower.mtx -ksp_type gmres -ksp_gmres_restart 0
expect "solve: a misspelt option of PETSc" 2 "^solve: -ksp_tpye: this option was not used; did you mean -ksp_type\?$" "$BIN/solve" -f lower.mtx -ksp_tpye cg
expect "multigpu: a solve that -its stops" 0 "^amb, cg: stopped after the iterations of -its$" "$BIN/multigpu" -n 8 -times 0 -its 5 -rounds 1
expect "multigpu: a solve of a low tolerance" 0 "^amb, cg: the solution is right$" "$BIN/multigpu" -n 8 -times 0 --ksp_rtol=1e-2 -rounds 1
expect "multigpu: a solve that stops early" 1 "^multigpu: aij: DIVERGED_ITS$" "$BIN/multigpu" -n 8 -times 0 -rounds 1 -ksp_max_it 3
# solve -compare: rounding changes the iterations of BiCGStab, an unfinished solve is told by its reason, and a solution that the values are too short for is wrong
if "$petscamb" --version | grep -q "real numbers of 64 bits"; then
  agree() { "$BIN/solve" -f "$data/bar_elasticity.mtx.gz" -compare -times 0 -pc_type jacobi -ksp_max_it 5000 -mat_shadow_tune off "$@" >answer 2>&1; echo "code $? $(grep -c DISAGREE answer)"; }
  expect "solve -compare: rounding" 0 "^code 0 0$" agree -ksp_type bcgs
  expect "solve -compare: unfinished" 0 "^code 1 0$" agree -ksp_type bcgs -ksp_rtol 1e-11
  expect "solve -compare: a wrong solution" 0 "^code 1 1$" agree -ksp_type cg -ksp_rtol 1e-13 -mat_shadow_values single
fi
expect "a folder" 1 "^petscamb: .*: this is a folder; name a file in it$" "$petscamb" info "$data"
"$BIN/solve" -f "$data/cage10.mtx.gz" -ksp_max_it 1 -ksp_view_mat binary:whole.dat >/dev/null 2>&1
for classid in '' '\0\0\0\0'; do # with indices of four and of eight bytes
  printf "$classid\\0\\022\\173\\120\\0\\0\\0" >classid.dat
  expect "a binary file of indices of $((${#classid} / 2 ? 8 : 4)) bytes" 1 "^petscamb: classid.dat: the file is cut off or damaged, or was written by a PETSc whose indices or numbers have another size$" "$petscamb" info classid.dat
done
expect "a binary file" 0 "^  rows x columns +11397 x 11397$" "$petscamb" info whole.dat
for bytes in 10 3000; do
  head -c $bytes whole.dat >cut.dat
  expect "a binary file of $bytes bytes" 1 "^petscamb: cut.dat: the file is cut off or damaged, or was written by a PETSc whose indices or numbers have another size$" "$petscamb" info cut.dat
done
# one row, one entry, in a column that is not there; then a row of -1 entries: MatLoad() believes both
if "$petscamb" --version | grep -q '64-bit indices'; then
  echo "skip binary files with wrong columns and lengths: those of the test have indices of 32 bits"
else
  printf '\0\22\173\120\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\1\0\0\200\0\77\360\0\0\0\0\0\0' >column.dat
  printf '\0\22\173\120\0\0\0\2\0\0\0\1\0\0\0\1\377\377\377\377\0\0\0\2\0\0\0\0\77\360\0\0\0\0\0\0' >length.dat
  expect "a binary file with a column that is not there" 1 "^petscamb: column.dat: the file is damaged: entry 0 has the column 32768$" "$petscamb" info column.dat
  expect "a binary file with a row of less than no entries" 1 "^petscamb: length.dat: the file is damaged: row 0 has the length -1$" ${MPIEXEC:-mpiexec} -n 2 "$petscamb" info length.dat
fi
PETSC_OPTIONS="${PETSC_OPTIONS:-} -some_option" expect "an option of the environment that nothing reads" 0 "verdict" "$petscamb" info p7:5

# ------------------------------------------------- storages of values -------------------------------------------------

# two values on a grid; as many as entries; and 65,537 of them, which are not counted
expect "distinct values: of a grid" 0 "^  distinct values +2$" "$petscamb" info p7:5
expect "distinct values: the table" 0 "^  table +[0-9.]+ +8 +[0-9.]+x$" "$petscamb" info p7:5
expect "distinct values: exact" 0 "^  exact +[0-9.]+ +(8|32|128) +[0-9.]+x$" "$petscamb" info p7:5
awk 'BEGIN { print "%%MatrixMarket matrix coordinate real general\n3 3 5"; for (k = 0; k < 5; k++) print int(k / 2) + 1, k % 2 + 1, k / 7 }' >five.mtx
expect "distinct values: all differ" 0 "^  distinct values +5$" "$petscamb" info five.mtx
awk 'BEGIN { print "%%MatrixMarket matrix coordinate real general\n300 300 65537"; for (k = 0; k < 65537; k++) print int(k / 300) + 1, k % 300 + 1, k + 1 }' >many.mtx
expect "distinct values: too many" 0 "^  distinct values +more than 65536$" "$petscamb" info many.mtx

# ------------------------------------------------- the verdict -------------------------------------------------

# chosen FILE: the type that autosparse takes by the traffic model, or aij
chosen() {
  "$BIN/solve" -f "$1" -mat_type autosparse -mat_shadow_tune model -mat_autosparse_device cpu -ksp_type cg -pc_type none -ksp_max_it 1 -ksp_view_mat ::ascii_info 2>&1 |
    sed -nE 's/^ *products run on ([a-z]+), .*/\1/p; s/^ *products run on the AIJ, .*/aij/p' | sed 's/^the$/aij/' | head -1
}
# the smallest grids, in Matrix Market's format: the formats have more bytes than the AIJ, many more for the first
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 1\n' >two.mtx
cp "$data"/*.mtx.gz .
for file in bar_elasticity.mtx.gz cage10.mtx.gz PGPgiantcompo.mtx.gz two.mtx; do
  type=$(chosen "$file")
  expect "verdict of $file: the type of autosparse" 0 "^    type +${type:-no type was found}$" env PETSC_OPTIONS="${PETSC_OPTIONS:-} -mat_autosparse_device cpu -mat_amb_device cpu -mat_nussell_device cpu" "$petscamb" info "$file" -json info.json
  cp out info.txt
  expect "verdict of $file: its option" 0 "^    options +-mat_type $type$" cat info.txt
  expect "verdict of $file: the figures agree" 0 "^agree$" "${PYTHON:-python3}" - "$file" "$type" <<'END'
import json, math, sys

(info,) = json.load(open("info.json"))
verdict, stored = info["verdict"], {f["format"]: f["bytes"] for f in info["formats"]}
entries = info["rows"] + info["cols"]
scalar = (verdict["bytes_aij"] - stored["csr"]) / entries
assert scalar in (4, 8, 16), scalar
read = {name: stored["csr" if name == "aij" else name] + scalar * entries for name in ("aij", sys.argv[2])}
assert verdict["type"] == sys.argv[2]
assert verdict["bytes_aij"] == read["aij"] and verdict["bytes"] == read[sys.argv[2]], (verdict, read)
assert abs(verdict["expected_ratio"] - read["aij"] / verdict["bytes"]) < 1e-4
if sys.argv[2] == "aij":
    assert "pays_after" not in verdict and "conversion_s" not in verdict
else:
    cost = verdict["conversion_s"] / verdict["product_aij_s"]
    assert cost > 0 and abs(verdict["pays_after"] - cost / (1 - 1 / verdict["expected_ratio"])) < 1 + 0.01 * verdict["pays_after"], verdict
print("agree")
END
done
printf '%%%%MatrixMarket matrix coordinate real general\n0 0 0\n' >nothing.mtx
expect "verdict of nothing" 0 "^    options +-mat_type aij$" "$petscamb" info nothing.mtx -json info.json
expect "verdict of nothing: numbers" 0 '"expected_ratio": 1.0' "${PYTHON:-python3}" -m json.tool info.json
grid=p5:4 # so small that no format has fewer bytes than aij, which depends on the bits of its indices and numbers
case $("$petscamb" --version) in
*'64-bit indices'*) grid=p5:3 ;;
*'numbers of 32 bits'*) grid=p5:5 ;;
esac
expect "verdict: the model against the clock" 0 "^    but +[a-z]+ may still be faster here" "$petscamb" info $grid -mat_autosparse_device cpu
# the load, by a library that stands before that of C
printf 'int getloadavg(double load[], int n)\n{\n  load[0] = LOAD;\n  return n;\n}\n' >load.c
for load in 0 1e6; do $(sed -n "s/^AMB_LINK := //p" "$BUILD/conf.mk") -shared -fPIC -DLOAD=$load load.c -o load$load.so; done
expect "verdict on a busy machine" 0 "^    busy machine +the load of the last minute was 1000000.0 on [0-9]+ processors" env LD_PRELOAD="$PWD/load1e6.so" "$petscamb" info bar_elasticity.mtx.gz -json info.json -mat_autosparse_device cpu
expect "info: JSON says when, by what and where" 0 "^0.*-.*T.*Z 1000000.0$" "${PYTHON:-python3}" -c "import json; (i,) = json.load(open('info.json')); print(i['version'], i['date'], i['load']); [i[k] for k in ('petsc', 'commit', 'cpu', 'gpu')]"
expect "verdict on an idle machine" fail "^    to measure" sh -c "LD_PRELOAD='$PWD/load0.so' '$petscamb' info bar_elasticity.mtx.gz -mat_autosparse_device cpu | tee idle; grep -q 'busy machine' idle"
expect "verdict on two processes" 0 "^    options +-mat_type [a-z]+$" ${MPIEXEC:-mpiexec} -n 2 "$petscamb" info "$data/cage10.mtx.gz"
exit $failed
