#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The commands of the pages. The opening line of a code block says what it is:
#   ```sh run [WHAT...]      each line must end with exit code 0, and one that ends with "# fails" must not. Lines need what is named: gpu, python (a petsc4py
#                            of this PETSc), fortran, cmake, or slow (minutes: tier deep only); lines without it are counted as skipped
#   ```sh by FILE...         these scripts run the same commands: each line's program, make target or option of configure.py is in one of them
#   ```sh site               a machine that no test has: hosts by name, a queue
#   ```c NAME, ```python NAME, ```fortran NAME, ```cmake NAME   a file for the lines that follow
# A block that begins with a command and says nothing of this is an error. No output is compared and no time judged.
#
# make test sets BIN, LIB, EXAMPLES, BUILD, PETSC_DIR and PETSC_ARCH. The commands run in a folder that has bin, data, ex45, ... as a user has them.
# gpu: 3
# timeoutfactor: 10
# tier: test
# tier: deep slow
set -u
. "$(dirname "$0")/../shell/expect.sh"
BIN=${BIN:-$root/bin}
export work root
cd "$work" || exit 1
library=${LIB:-$(cd -P "$BIN/.." && pwd)/lib/libpetscamb.so}
examples=${EXAMPLES:-$(cd -P "$BIN/.." && pwd)/examples}
build=${BUILD:-$(cd -P "$BIN/.." && pwd)}
home=$PETSC_DIR/${PETSC_ARCH:-}

# ------------------------------------------------- what the pages say -------------------------------------------------

"${PYTHON:-python3}" - "$root" >plan <<'END' || exit 1
import glob, os, re, sys

WHAT = {"gpu", "python", "fortran", "cmake", "slow"}
FILES = {"c", "python", "fortran", "cmake"}
OTHER = {"sh format"}  # test/source/addformat.sh types these
os.chdir(sys.argv[1])
faults = []


def blocks(page):
    """Opening line, number and lines of each code block."""
    mark = None
    with open(page, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            found = re.match(r"(```+|~~~+)\s*(.*?)\s*$", line)
            if mark is None and found:
                mark, opening, start, lines = found.group(1), found.group(2), number, []
            elif mark and line.rstrip() == mark:
                mark = None
                yield opening, start, lines
            elif mark:
                lines.append(line.rstrip("\n"))


def commands(lines):
    """Lines without comments of their own; one that ends with a backslash goes on in the next."""
    joined = re.sub(r" *\\\n *", " ", "\n".join(lines))
    return [line for line in joined.split("\n") if line.strip() and not line.lstrip().startswith("#")]


def keys(line):
    """What of a command must be in the script that runs it: options with two hyphens, else the target of make, else the program."""
    words = [word for word in line.split("  #")[0].split() if not re.match(r"[A-Z_]+=", word)]
    while words and (words[0] in ("mpiexec", "-n") or words[0].isdigit()):
        words.pop(0)
    if not words or words[0] in ("export", "./your_program"):
        return []
    if re.match(r"(/usr/bin/)?python3?$", words[0]):
        words.pop(0)
    options = [re.split("[=[]", word)[0] for word in words if word.startswith("--")]
    targets = [word for word in words[1:] if re.match(r"[a-z][a-z-]*$", word)] if words[0] == "make" else []
    return options or targets or [os.path.basename(words[0])]


pages = ["README.md", "CONTRIBUTING.md"] + sorted(glob.glob("docs/**/*.md", recursive=True)) + ["data/README.md", "config/packaging/README.md"]
for page in pages:
    for opening, start, lines in blocks(page):
        words = opening.split()
        where = "%s:%d" % (page, start)
        if words[:2] == ["sh", "run"]:
            if set(words[2:]) - WHAT:
                faults.append("%s: sh run knows %s" % (where, ", ".join(sorted(WHAT))))
            for line in commands(lines):
                print("%s\t%s\t%s" % (page, " ".join(words[2:]) or "-", line.strip()))
        elif words[:2] == ["sh", "by"]:
            missing = [name for name in words[2:] if not os.path.exists(name)]
            texts = "".join(open(name, encoding="utf-8").read() for name in words[2:] if name not in missing)
            faults += ["%s: there is no %s" % (where, name) for name in missing]
            faults += ["%s: %s is not in %s" % (where, key, " ".join(words[2:])) for line in commands(lines) for key in keys(line) if key not in texts]
        elif words[:1] and words[0] in FILES and len(words) == 2:
            os.makedirs(os.path.join(os.environ["work"], "files", page), exist_ok=True)
            with open(os.path.join(os.environ["work"], "files", page, words[1]), "w", encoding="utf-8") as file:
                file.write("\n".join(lines) + "\n")
            print("%s\tfile\t%s" % (page, words[1]))
        elif words[:1] == ["sh"] and opening not in OTHER | {"sh site"}:
            faults.append("%s: which script runs this block? (sh run, sh by, sh site)" % where)
        elif not words and lines and re.match(r"\$ |(\./|bin/|bench/|DIR/)[a-z]|(make|mpiexec|export|python3|pip|apt-get) ", lines[0]):
            faults.append("%s: commands in a block without a word" % where)
for fault in faults:
    print("not ok " + fault, file=sys.stderr)
sys.exit(1 if faults else 0)
END
echo "ok every block of commands says which script runs it"

# ------------------------------------------------- what a user has -------------------------------------------------

ln -s "$BIN" bin
for folder in data src tool bench docs config; do ln -s "$root/$folder" $folder; done
for example in ex45 ex56; do ln -s "$examples/$example" $example; done
case $library in *[[:space:]]*) ln -s "$library" libpetscamb.so && library=$work/libpetscamb.so ;; esac # PETSc's options end at a space
printf '#!/bin/sh\nexec ./ex56 -ne 6 -pc_type jacobi "$@"\n' >your_program # of a user: knows nothing of petsc-amb, reads -mat_type
chmod +x your_program
cat >your_program.py <<'END'
import sys
import petsc4py
petsc4py.init(sys.argv)
from petsc4py import PETSc
A = PETSc.Mat().create()
A.setSizes(9)
A.setFromOptions()
A.setUp()
A.assemble()
A.shift(2)
x, y = A.createVecs()
A.mult(x, y)
END
zcat data/cage10.mtx.gz >matrix.mtx

# the library under test in place of the one that was configured last
make() {
  case $* in
  "-s where") echo "$library" ;;
  "-s examples") ;; # built with the tests
  "install PREFIX="* | "-s python PYTHON="*) (cd "$root" && env -u MAKEFLAGS -u MAKELEVEL -u TESTS -u PETSC_DIR -u PETSC_ARCH -u PETSC_OPTIONS make BUILD="$(basename "$build")" "$@") ;;
  *) return 2 ;;
  esac
}
MPIEXEC=${MPIEXEC:-$(type -P mpiexec)} # not the function that follows
mpiexec() { $MPIEXEC "$@"; }
mpicc() { command $(sed -n 's/^AMB_LINK := //p' "$build/conf.mk") "$@"; } # the compiler of this PETSc
export -f make mpiexec mpicc
export library root build MPIEXEC HOME=$work OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
export PKG_CONFIG_PATH=$home/lib/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
unset PETSC_OPTIONS

# ------------------------------------------------- what is here -------------------------------------------------

there="-"
grep -q '"AMB_GPU": "1"' "$build/conf.json" && there="$there gpu"
command -v cmake >/dev/null && there="$there cmake"
compiler=$(sed -nE 's/^FC *= *([^ ]+).*/\1/p' "$home/lib/petsc/conf/petscvariables" 2>/dev/null)
[ -e "$home/include/petscmat.mod" ] && command -v "${compiler:-none}" >/dev/null && there="$there fortran"
mpif90() { command "$compiler" "$@"; }
export -f mpif90
export compiler
/usr/bin/python3 -c "
import os, petsc4py
petsc4py.init()
from petsc4py import PETSc
import scipy, matplotlib, Cython, setuptools, sysconfig
assert os.path.exists(sysconfig.get_path('include') + '/Python.h')
assert os.path.realpath(petsc4py.get_config()['PETSC_DIR']) == os.path.realpath('$PETSC_DIR')" 2>/dev/null && there="$there python"
[ "${1:-}" = slow ] && there="$there slow"
complex=no
! bin/petscamb --version | grep -q 'complex numbers' || complex=yes

number=0 skipped=
while IFS=$'\t' read -r page what line <&3; do
  if [ "$page" != "${last:-}" ]; then last=$page exported=; fi
  if [ "$what" = file ]; then cp "files/$page/$line" . && continue; fi
  for need in $what; do
    case " $there " in *" $need "*) ;; *)
      case $line in export\ *) exported=$exported$line$'\n' ;; esac
      skipped="$skipped $need"
      continue 2
      ;;
    esac
  done
  case $what in *slow*) ;; *) [ "${1:-}" != slow ] || case $line in export\ *) ;; *) continue ;; esac ;; esac # make test has run the others
  case $complex$line in yes"bin/petscamb graph "*)
    echo "skip $page: ${line%%  #*}: PETSc has complex numbers, and the weights of a graph are real"
    continue
    ;;
  esac
  number=$((number + 1))
  bash -c "$exported$line" </dev/null >out 2>&1
  code=$?
  case $line in export\ *) exported=$exported$line$'\n' ;; esac # for the lines of the page that follow
  case $line in *"# fails") [ $code != 0 ] && code=0 || code=1 ;; esac
  if [ $code = 0 ]; then echo "ok $page: ${line%%  #*}"; else
    echo "not ok $page: $line"
    sed 's/^/    /' out >&2
    failed=1
  fi
done 3<plan
[ $number -ge 1 ] || { echo "not ok no command was found" && failed=1; }
for need in $(printf '%s\n' $skipped | sort -u); do
  count=$(printf '%s\n' $skipped | grep -cx "$need")
  echo "skip $count lines of the pages: they need $need"
done
exit $failed
