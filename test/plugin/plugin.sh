#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The plugin as users load it: PETSc's own unmodified ex2, compiled without this library, and Python. Every way to load it, what it adds to
# -help, -citations and -log_view, and the guard against another PETSc. Prints ok, not ok or skip for each.
#
# make test sets BUILD, LIB, EXAMPLES, PETSC_DIR, PETSC_ARCH, MPIEXEC; by hand, what bin/ points to and the distribution's PETSc serve.
# timeoutfactor: 5
set -u
. "$(dirname "$0")/../shell/expect.sh"
BUILD=${BUILD:-$(cd "$root/bin/.." 2>/dev/null && pwd -P)}
LIB=${LIB:-$BUILD/lib/libpetscamb.so}
EXAMPLES=${EXAMPLES:-$BUILD/examples}
PETSC_DIR=${PETSC_DIR:-$(pkg-config --variable=prefix PETSc)}
PETSC_ARCH=${PETSC_ARCH:-}
MPIEXEC=${MPIEXEC-mpiexec}
conf() { eval "echo $(sed -n "s/^$1 := //p" "$BUILD/conf.mk")"; }
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
unset PETSC_OPTIONS

export HOME=$work
# PETSc's strings and files of options end a word at a space
case $LIB in *[[:space:]]*) ln -s "$LIB" "$work/libpetscamb.so" && LIB=$work/libpetscamb.so ;; esac
cd "$work" || exit 1

ok() { echo "ok $1"; }
skip() { echo "skip $1: $2"; }
not_ok() { # NAME FILE: what was printed goes to stderr
  echo "not ok $1"
  sed 's/^/    /' "$2" >&2
  failed=1
}

# ------------------------------------------------- the example -------------------------------------------------

# compile FLAGS SOURCE TARGET LIBRARIES: with the compiler that PETSc was built with
compile() { $(conf AMB_LINK) -w $1 "$2" -o "$3" $4 >compile.log 2>&1; }

petsc_flags="$(conf AMB_CFLAGS) $(conf AMB_INCLUDES)"
petsc_libs=$(conf AMB_PETSC_LIBS)
ex2_source=$(ls "$PETSC_DIR"/src/ksp/ksp/tutorials/ex2.c /usr/share/petsc/*/share/petsc/examples/src/ksp/ksp/tutorials/ex2.c 2>/dev/null | head -n 1)
ex2=$EXAMPLES/ex2
if [ ! -x "$ex2" ]; then
  if [ -z "$ex2_source" ]; then
    skip plugin "PETSc's examples are not installed"
    exit 0
  fi
  ex2=$work/ex2
  compile "$petsc_flags" "$ex2_source" "$ex2" "$petsc_libs" || { not_ok "compile PETSc's ex2" compile.log; exit 1; }
fi
if [ ! -e "$LIB" ]; then
  echo "$LIB is not built" >out
  not_ok plugin out
  exit 1
fi

solve="-m 20 -n 17 -pc_type jacobi -ksp_type cg -ksp_rtol 1e-8"
amb="-mat_type amb -mat_amb_device cpu -mat_shadow_tune off" # the types are those of the host, whatever is there

# ------------------------------------------------- loading -------------------------------------------------

"$ex2" $solve -ksp_monitor >aij 2>&1 || not_ok "ex2 with aij" aij
same_as_aij() { # NAME COMMAND...: the same iterations, residuals to 6 digits
  local name=$1
  shift
  "$@" >out 2>&1 || { not_ok "$name" out; return; }
  sed -E 's/([0-9]\.[0-9]{6})[0-9]*e/\1e/; s/error .* iterations/iterations/' aij >aij.short
  sed -E 's/([0-9]\.[0-9]{6})[0-9]*e/\1e/; s/error .* iterations/iterations/' out >amb.short
  if diff aij.short amb.short >difference; then ok "$name"; else not_ok "$name" difference; fi
}

same_as_aij "command line" "$ex2" -dll_append "$LIB" $amb $solve -ksp_monitor
expect "command line: the type" 0 "type: seqaijamb" "$ex2" -dll_append "$LIB" $amb $solve -ksp_view

PETSC_OPTIONS="-dll_append $LIB $amb" same_as_aij "PETSC_OPTIONS" "$ex2" $solve -ksp_monitor
PETSC_OPTIONS="-dll_append $LIB $amb" expect "PETSC_OPTIONS: the type" 0 "type: seqaijamb" "$ex2" $solve -ksp_view

mkdir rc && printf '%s\n' "-dll_append $LIB" "-mat_type amb" "-mat_amb_device cpu" "-mat_shadow_tune off" >rc/.petscrc
same_as_aij ".petscrc" env -C rc "$ex2" $solve -ksp_monitor
expect ".petscrc: the type" 0 "type: seqaijamb" env -C rc "$ex2" $solve -ksp_view

all="-petscamb_for_aij amb -mat_shadow_tune off" # for programs that fix aij, as ex2 does without -mat_type
same_as_aij "-petscamb_for_aij" "$ex2" -dll_append "$LIB" $all $solve -ksp_monitor
PETSC_OPTIONS="-dll_append $LIB $all" same_as_aij "-petscamb_for_aij by PETSC_OPTIONS" "$ex2" $solve -ksp_monitor
expect "-petscamb_for_aij: the type" 0 "type: seqaij$" "$ex2" -dll_append "$LIB" $all $solve -ksp_view
expect "-petscamb_for_aij: products" 0 "products run on amb" "$ex2" -dll_append "$LIB" $all $solve -ksp_view
expect "-mat_seqaij_type" 0 "type: seqaijamb" "$ex2" -dll_append "$LIB" -mat_seqaij_type amb -mat_amb_device cpu $solve -ksp_view

expect "-mat_shadow_device cpu" 0 "type: seqaijamb" "$ex2" -dll_append "$LIB" -mat_type amb -mat_shadow_device cpu $solve -ksp_view
expect "-mat_amb_device, an old name for one type" 0 "type: seqaijamb" "$ex2" -dll_append "$LIB" -mat_type amb -mat_shadow_device gpu -mat_amb_device cpu $solve -ksp_view
if [ -e /dev/nvidiactl ]; then echo "skip -mat_shadow_device gpu without a GPU: there is one"
else expect "-mat_shadow_device gpu without a GPU" fail "use -mat_shadow_device auto" "$ex2" -dll_append "$LIB" -mat_type amb -mat_shadow_device gpu $solve
fi

printf '%s\n' "-dll_append $LIB" "-mat_type amb" "-mat_amb_device cpu" >options
expect "-options_file" 0 "type: seqaijamb" "$ex2" -options_file options $solve -ksp_view

expect "loaded twice" 0 "type: seqaijamb" "$ex2" -dll_append "$LIB,$LIB" $amb $solve -ksp_view
expect "loaded and not used" 0 "type: seqaij$" "$ex2" -dll_append "$LIB" $solve -ksp_view
expect "stays in memory" 0 "NODELETE" readelf -d "$LIB"
expect "threads that still run at the end" 0 "iterations" env OMP_WAIT_POLICY=active OMP_NUM_THREADS=2 "$ex2" -dll_append "$LIB" $amb -m 150 -n 150 -pc_type none -ksp_max_it 20

if [ -n "$MPIEXEC" ]; then
  for ranks in 2 3; do
    expect "$ranks ranks" 0 "type: mpiaijamb" $MPIEXEC -n $ranks "$ex2" -dll_append "$LIB" $amb $solve -ksp_view
    expect "$ranks ranks: blocks" 0 "off-diagonal blocks: $ranks on amb" $MPIEXEC -n $ranks "$ex2" -dll_append "$LIB" $all $solve -ksp_view
  done
else
  skip "2 ranks" "there is no mpiexec"
  skip "3 ranks" "there is no mpiexec"
fi

# ------------------------------------------------- what it adds -------------------------------------------------

expect "-help: block size" 0 "mat_amb_block_size" "$ex2" -dll_append "$LIB" $amb $solve -help
expect "-help: tuning" 0 "mat_shadow_tune" "$ex2" -dll_append "$LIB" $amb $solve -help
expect "-citations" 0 "Nagasaka" "$ex2" -dll_append "$LIB" $amb $solve -citations
"$ex2" -dll_append "$LIB" $solve -citations >out 2>&1
if grep -q Nagasaka out; then not_ok "-citations without use" out; else ok "-citations without use"; fi
expect "-petscamb_view" 0 "^  amb +1 +1 \|" "$ex2" -dll_append "$LIB" $amb $solve -petscamb_view
expect "-petscamb_view: products of matrices" 0 "by hashgemm" "$ex2" -dll_append "$LIB" $all $solve -pc_type gamg -petscamb_view
expect "a misspelt option" 0 "option -mg_mat_amb_blocksize: there is none; the nearest is -mg_mat_amb_block_size" "$ex2" -dll_append "$LIB" $solve -mg_mat_amb_blocksize 3
expect "a type that no matrix used" 0 "^petsc-amb: option -dm_mat_type amb: no matrix used it; give another of -mat_type, " "$ex2" -dll_append "$LIB" $solve -dm_mat_type amb
expect "a type that no matrix used: the report" 0 "^  option -st_mat_type seqaijamb: no matrix used it; give another of -mat_type, " "$ex2" -dll_append "$LIB" $amb $solve -st_mat_type seqaijamb -petscamb_view
"$ex2" -dll_append "$LIB" $amb $solve -dm_mat_type amb -st_mat_type aij >out 2>&1
if grep -q petsc-amb: out; then not_ok "no word of a type if another matrix has it" out; else ok "no word of a type if another matrix has it"; fi
"$ex2" -dll_append "$LIB" $solve -mg_mat_amb_block_size 3 -log_view_amb -options_left 0 >out 2>&1
if grep -q petsc-amb out; then not_ok "no word of options that are right, or of others" out; else ok "no word of options that are right, or of others"; fi
expect "-log_view" 0 "MatShadowConvert" "$ex2" -dll_append "$LIB" $amb $solve -log_view
expect "-mat_view ::ascii_info" 0 "products run on amb" "$ex2" -dll_append "$LIB" $amb $solve -mat_view ::ascii_info
expect "-ksp_view of a model's choice" 0 "products run on" "$ex2" -dll_append "$LIB" -mat_type amb -mat_shadow_tune model $solve -ksp_view

# leaks FILE: lines of -malloc_dump, as "[0]1024 bytes MatCreate() line 90"
leaks() { grep -E '^ *\[ *[0-9]+\] *[0-9]+ bytes' "$1"; }
cat >leak.c <<'EOF'
#include <petscsys.h>
int main(int argc, char **argv)
{
  void *p;
  (void)PetscInitialize(&argc, &argv, NULL, NULL);
  (void)PetscMalloc(1000, &p);
  return PetscFinalize();
}
EOF
if compile "$petsc_flags" leak.c leak "$petsc_libs" && ./leak -malloc_debug -malloc_dump >out 2>&1 && leaks out >/dev/null; then
  for type in "-mat_type aij" "$amb" "-mat_type amb -mat_shadow_tune measure" "$all -pc_type gamg -petscamb_view"; do
    "$ex2" -dll_append "$LIB" $type $solve -malloc_debug -malloc_dump >out 2>&1 || not_ok "-malloc_dump $type" out
    if leaks out >found; then not_ok "-malloc_dump $type" found; else ok "-malloc_dump $type"; fi
  done
else
  cat compile.log >>out
  not_ok "-malloc_dump tells of a leak" out
fi

# ------------------------------------------------- what it refuses -------------------------------------------------

expect "bad block size" fail "mat_amb_block_size 99 is not between" "$ex2" -dll_append "$LIB" $amb $solve -mat_amb_block_size 99
expect "bad tuning" fail "sometimes" "$ex2" -dll_append "$LIB" $solve -mat_type amb -mat_shadow_tune sometimes
expect "-petscamb_for_aij of no type" fail "petscamb_for_aij ambb: no such type; use one of amb, " "$ex2" -dll_append "$LIB" $solve -petscamb_for_aij ambb
expect "-petscamb_for_aij without a type" fail "petscamb_for_aij without a value: no such type" "$ex2" -dll_append "$LIB" $solve -petscamb_for_aij
expect "-mat_mpiaij_type" fail "use -mat_type amb, or -petscamb_for_aij amb" "$ex2" -dll_append "$LIB" $solve -mat_mpiaij_type amb
expect "no plugin, no type" fail "Unknown Mat type given: amb" "$ex2" -mat_type amb $solve

# another version: PETSc says it is the next one
cat >version.c <<'EOF'
#include <petscsys.h>
PETSC_EXTERN PetscErrorCode PetscGetVersionNumber(PetscInt *major, PetscInt *minor, PetscInt *subminor, PetscInt *release)
{
  if (major) *major = PETSC_VERSION_MAJOR;
  if (minor) *minor = PETSC_VERSION_MINOR + 1;
  if (subminor) *subminor = 0;
  if (release) *release = 1;
  return 0;
}
EOF
if compile "$petsc_flags -shared -fPIC" version.c version.so ""; then
  expect "another PETSc version" fail "was built for PETSc .* but" env LD_PRELOAD="$work/version.so" "$ex2" -dll_append "$LIB" $amb $solve
else
  not_ok "another PETSc version" compile.log
fi

# another PetscInt or PetscScalar: the distribution's other PETScs, where they are installed
others=0
for dir in /usr/lib/petscdir/petsc*/*-linux-gnu-*; do
  lib=$(ls "$dir"/lib/libpetsc*_*.so 2>/dev/null | head -n 1)
  if [ -z "$lib" ] || [ -z "$ex2_source" ] || [ "$(readlink -f "$dir")" = "$(readlink -f "$PETSC_DIR/$PETSC_ARCH")" ]; then continue; fi
  command -v mpicc >/dev/null || continue # the distribution's PETScs are of its MPI
  others=$((others + 1))
  lib=$(basename "$lib" .so)
  its_ex2=$dir/share/petsc/examples/src/ksp/ksp/tutorials/ex2.c
  [ -f "$its_ex2" ] || its_ex2=$ex2_source
  if mpicc -w "-I$dir/include" "$its_ex2" -o other "-L$dir/lib" "-l${lib#lib}" -lm >compile.log 2>&1; then
    expect "another PETSc: $lib" fail "libpetscamb was built for" ./other -dll_append "$LIB" $amb -m 20 -n 17
  else
    not_ok "another PETSc: $lib" compile.log
  fi
done
[ $others -gt 0 ] || skip "another PETSc" "only one is installed here (libpetsc64-real-dev and libpetsc-complex-dev are others)"

# ------------------------------------------------- Python -------------------------------------------------

cat >solve.py <<'EOF'
import os, sys
import petsc4py
petsc4py.init(["solve.py"] + sys.argv[1:])
from petsc4py import PETSc

home = os.environ["PETSC_DIR"]
mine = os.path.realpath(os.path.join(home, os.environ.get("PETSC_ARCH", "")))
theirs = petsc4py.get_config()
theirs = os.path.realpath(os.path.join(theirs["PETSC_DIR"], theirs.get("PETSC_ARCH", "")))
if mine != theirs:
    print("other PETSc: petsc4py is for that in %s" % theirs)
    sys.exit(0)
n, its, x = 400, {}, {}
for kind in ("aij", "amb"):
    A = PETSc.Mat().createAIJ([n, n], nnz=3)
    if "-petscamb_for_aij" not in sys.argv:
        A.setType(kind)
        A.setPreallocationNNZ(3)
    for i in range(n):
        for j, v in ((i - 1, -1.0), (i, 2.5), (i + 1, -1.5)):
            if 0 <= j < n:
                A[i, j] = v
    A.assemble()
    if kind == "amb" and "-petscamb_for_aij" not in sys.argv:
        assert A.getType() in ("seqaijamb", "seqaijcusparse"), A.getType()
        B = A.convert("aij")
        assert B.getType() == "seqaij" and B.equal(A.convert("aij"))
    x[kind], b = A.createVecs()
    b.set(1.0)
    ksp = PETSc.KSP().create()
    ksp.setOperators(A)
    ksp.setType("bcgs")
    ksp.getPC().setType("ilu")
    ksp.solve(b, x[kind])
    its[kind] = ksp.getIterationNumber()
assert its["aij"] == its["amb"], its
x["aij"].axpy(-1.0, x["amb"])
assert x["aij"].norm() < 1e-8, x["aij"].norm()
print("python agrees")
EOF
# the distribution's packages put it beside this PETSc
own=$PETSC_DIR/$PETSC_ARCH/lib/python3/dist-packages
if [ -e "$own/petsc4py" ]; then export PYTHONPATH=$own${PYTHONPATH:+:$PYTHONPATH}; fi
for python in /usr/bin/python3 "${PYTHON:-python3}"; do "$python" -c "import petsc4py" 2>/dev/null && break || python=; done
if [ -z "$python" ]; then
  skip petsc4py "not installed (python3-petsc4py)"
else
  PETSC_DIR=$PETSC_DIR PETSC_ARCH=$PETSC_ARCH "$python" solve.py -dll_append "$LIB" -mat_shadow_tune off >out 2>&1
  if grep -q "python agrees" out; then ok petsc4py
  elif grep -q "other PETSc" out; then skip petsc4py "$(sed -n 's/other PETSc: //p' out)"
  else not_ok petsc4py out; fi
  PETSC_DIR=$PETSC_DIR PETSC_ARCH=$PETSC_ARCH "$python" solve.py -dll_append "$LIB" $all -petscamb_view >out 2>&1
  if grep -q "python agrees" out && grep -qE "^  amb +2 +2 \|" out; then ok "petsc4py: createAIJ()"
  elif grep -q "other PETSc" out; then skip "petsc4py: createAIJ()" "$(sed -n 's/other PETSc: //p' out)"
  else not_ok "petsc4py: createAIJ()" out; fi
fi

exit $failed
