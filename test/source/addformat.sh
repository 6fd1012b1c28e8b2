#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# docs/add-a-format.md: the commands of its blocks "sh format" make a matrix type in a copy of the tree, and the conformance programs accept it.
#
# make test sets BUILD and MPIEXEC.
# gpu: 0
# timeoutfactor: 3
set -u
. "$(dirname "$0")/../shell/expect.sh"
build=$(basename "$BUILD")
page=$root/docs/add-a-format.md
tree=$work/tree
export OMP_NUM_THREADS=2

# the copy has the objects of this tree, so that only what is new is compiled
mkdir -p "$tree/build/$build"
cd "$root" || exit 1
cp -a configure.py makefile VERSION LICENSE CITATION.cff CHANGELOG.md config src include tool bench data docs test "$tree/"
for part in conf.mk conf.json petscambconf.h obj lib stubs; do
  [ ! -e "$BUILD/$part" ] || cp -a "$BUILD/$part" "$tree/build/$build/"
done
touch "$tree/build/$build/conf.json"
cd "$tree" || exit 1

make() { env -u PETSCAMB_BUILDS -u MAKEFLAGS -u MAKELEVEL -u TESTS -u PETSC_DIR -u PETSC_ARCH make BUILD="$build" "$@"; }
made() { # the names of the type are new, and no object but those of the format and the list needs them
  touch -d @0 include/petscamb.h
  make "$@"
}
awk '/^```/ { inside = ($0 == "```sh format"); next } inside' "$page" >commands
grep -q "^make " commands || { echo "not ok the page has no commands" && failed=1; }
sed -i 's/^make /made /' commands
awk '/^```/ { inside = ($0 == "```c"); next } inside' "$page" >quoted
expect "the page quotes the table as it is" 0 "^0$" sh -c "grep -cvxFf docs/add-a-format/sliced.c quoted; test -s quoted"
{ declare -f make made && echo "build=$build; set -e" && cat commands; } >script
expect "the commands of the page" 0 "^ +type: seqaijsliced" bash script
cp "$work/out" page.out
expect "its products are right" 0 "^all 3 results agree" cat page.out
expect "its lines of the view" 0 "^ +[0-9]+ slices of 8 rows" cat page.out
# the programs of the page: conformance_mult and its like
for program in mult change convert; do
  made "build/$build/test/conformance_$program" >made.out 2>&1 || { cat made.out >&2 && failed=1; }
  for n in 1 2; do
    expect "conformance_$program on $n" 0 "^checks: $(sed -n '/^ *checks: /{s///p;q}' "test/mat/conformance_$program.c")\$" sh -c "${MPIEXEC:-mpiexec} -n $n build/$build/test/conformance_$program -mat_type sliced -mat_shadow_tune off >checks.out 2>&1 && ! grep -v '^ok ' checks.out && echo checks: \$(wc -l <checks.out)"
  done
done
exit $failed
