#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The commands of the pages: each line of the code blocks of README.md and of docs/*.md that begin with ```sh run must end with exit code 0. A line that ends
# with "# fails" must not. The commands need no GPU, and all of them together less than 20 seconds of a processor. No output is compared and no time judged.
#
# make test sets BIN, LIB and EXAMPLES. The commands run in a folder that has bin, data, ex45 and ex56 as a user has them.
# timeoutfactor: 2
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
BIN=${BIN:-$root/bin}
work=$(mktemp -d "${TMPDIR:-/tmp}/petscamb-commands-XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
ln -s "$BIN" bin
ln -s "$root/data" data
library=${LIB:-$(cd -P "$BIN/.." && pwd)/lib/libpetscamb.so}
for example in ex45 ex56; do ln -s "${EXAMPLES:-$(cd -P "$BIN/.." && pwd)/examples}/$example" $example; done
case $library in *[[:space:]]*) ln -s "$library" libpetscamb.so && library=$work/libpetscamb.so ;; esac # PETSc's options end at a space

# the library under test in place of the one that was configured last
make() {
  [ "$*" = "-s where" ] || return 2
  echo "$library"
}
MPIEXEC=${MPIEXEC:-$(type -P mpiexec)} # not the function that follows
mpiexec() { $MPIEXEC "$@"; }
export -f make mpiexec
export library MPIEXEC OMP_NUM_THREADS=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

# blocks FILE: its runnable commands, a line each; a line that ends with a backslash goes on in the next
blocks() { awk '/^```/ { inside = ($0 == "```sh run"); next } inside' "$1" | sed -e ':a' -e '/\\$/N; s/\\\n//; ta' | grep -vE '^ *(#|$)'; }

complex=no
! bin/petscamb --version | grep -q 'complex numbers' || complex=yes

number=0
for page in README.md docs/use.md docs/tutorial.md docs/choose.md docs/troubleshooting.md docs/bench.md docs/graphs.md; do
  blocks "$root/$page" >"$work/lines"
  exported=
  while IFS= read -r line <&3; do
    number=$((number + 1))
    case $complex$line in yes"bin/petscamb graph "*)
      echo "skip $page: ${line%%  #*}: PETSc has complex numbers, and the weights of a graph are real"
      continue
      ;;
    esac
    case $line in export\ *) exported=$exported$line$'\n' ;; esac # for the lines of the page that follow
    bash -c "$exported$line" </dev/null >out 2>&1
    code=$?
    case $line in *"# fails") [ $code != 0 ] && code=0 || code=1 ;; esac
    if [ $code = 0 ]; then echo "ok $page: ${line%%  #*}"; else
      echo "not ok $page: $line"
      sed 's/^/    /' out >&2
      failed=1
    fi
  done 3<"$work/lines"
done
[ $number -ge 10 ] || { echo "not ok only $number commands were found" && failed=1; }
exit $failed
