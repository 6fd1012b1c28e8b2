#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The Python package petscamb (src/binding/python): types, setters, figures and errors by petsc4py, and the program gamg.py with SciPy. Prints ok, not ok or skip.
#
# make test sets LIB, PETSC_DIR and PETSC_ARCH.
set -u
. "$(dirname "$0")/../shell/expect.sh"
cd "$work" || exit 1
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1 PETSCAMB_LIBRARY=$LIB PETSC_ARCH=${PETSC_ARCH:-}
unset PETSC_OPTIONS
source=$root/src/binding/python

expect "the version of the package" 0 "^2$" sh -c 'grep -cE "^(__)?version(__)? = \"'"$(cat "$root/VERSION")"'\"$" "$0/pyproject.toml" "$0/petscamb/__init__.py" | cut -d: -f2 | paste -sd+ | sed "s/1+1/2/"' "$source"

find_petsc4py "petscamb for Python"
export PYTHONPATH=$source${folder:+:$folder}

cat >figures.py <<'END'
import sys

import petscamb

petscamb.init(sys.argv)
petscamb.init()
from petsc4py import PETSc


def matrix(kind):
    n = 30
    A = PETSc.Mat().createAIJ([n, n], nnz=3)
    for i in range(n):
        for j in range(max(i - 1, 0), min(i + 2, n)):
            A[i, j] = 2.5 if i == j else -1
    A.assemble()
    A.convert(kind)
    return A


def raises(error, function, *arguments):
    try:
        function(*arguments)
    except error:
        return True
    return False


assert set(petscamb.types()) >= {"amb", "nussell", "autosparse", "hashgemm"} and set(petscamb.types(True)) < set(petscamb.types())
plain = matrix("aij")
x, y = plain.createVecs()
x.set(1)
plain.mult(x, y)
assert petscamb.info(plain) is None
for kind in petscamb.types(True):
    A = matrix(kind)
    petscamb.set_tune(A, "off")
    petscamb.set_device(A, "cpu")
    if kind == "amb":
        petscamb.set_values(A, "table")
        petscamb.amb_set_block_size(A, 1)
    if kind == "nussell":
        petscamb.nussell_set_segmentation(A, "none")
        petscamb.nussell_set_rows(A, "sell")
        petscamb.nussell_set_chunk(A, 8, 16)
    petscamb.set_up(A)
    z = y.duplicate()
    A.mult(x, z)
    z.axpy(-1, y)
    info, figures = petscamb.info(A), petscamb.figures(A)
    assert z.norm() < 1e-12 and info["nonzeros"] == 88 and info["conversions"] == 1 and info["tuning"] is False, (kind, info)
    if kind != "autosparse":
        assert info["format"] == kind and info["bytes_stored"] > 0, (kind, info)
    if kind == "amb":
        assert figures["values_bits"] == 8 and figures["block_size"] == 1, figures
    if kind == "nussell":
        assert figures["chunk_size"] == 8, figures
    assert raises(ValueError, petscamb.set_tune, A, "sometimes")
hash_ = matrix("hashgemm")
petscamb.hashgemm_set_accumulator(hash_, "heap")
assert abs(hash_.matMult(hash_)[5, 5] - (2.5**2 + 2)) < 1e-12
assert raises(PETSc.Error, petscamb.amb_set_block_size, matrix("amb"), -3)
assert raises(PETSc.Error, petscamb.load, "nowhere.mtx")
B = petscamb.load(sys.argv[1], "amb")
open("edges.txt", "w").write("1 2\n")
viewer = PETSc.Viewer().createBinary("matrix.dat", "w")
B.view(viewer)
viewer.destroy()
assert [petscamb.load_format(file) for file in (sys.argv[1], "edges.txt", "matrix.dat", sys.executable)] == ["matrix market", "edge list", "petsc", "other"]
assert raises(PETSc.Error, petscamb.load_format, "nowhere.mtx")
assert B.getSize() == (11397, 11397) and B.getType() in ("seqaijamb", "seqaijcusparse")
print("types agree")
END
expect "types, setters and figures" 0 "^types agree$" "$python" figures.py "$root/data/cage10.mtx.gz"
cat >setters.py <<'END'
import re, sys

import petscamb

petscamb.init(sys.argv)
from petsc4py import PETSc

# Each setter: the type, and arguments of two calls that differ in info() or figures(). The others need more than one matrix: tests of their own.
setters = {
    "set_tune": ("amb", ("off",), ("measure",)),
    "set_values": ("amb", ("double",), ("single",)),
    "set_device": ("amb", ("cpu",), ("gpu",)),
    "amb_set_block_size": ("amb", (1,), (4,)),
    "nussell_set_segmentation": ("nussell", ("none",), ("uniform",)),
    "nussell_set_rows": ("nussell", ("sell",), ("jds",)),
    "nussell_set_tune": ("nussell", ("off",), ("exhaustive",)),
    "nussell_set_chunk": ("nussell", (8, 8), (16, 64)),
    "nussell_set_segments": ("nussell", (32, 1, 64, 1), (64, 2, 128, 1)),
}
others = {"set_up", "set_halo", "set_sor", "hashgemm_set_accumulator"}


def effect(name, kind, arguments):
    A = petscamb.load(sys.argv[1], kind)
    petscamb.set_tune(A, "off")
    if name != "set_device":
        petscamb.set_device(A, "cpu")
    try:
        getattr(petscamb, name)(A, *arguments)
    except PETSc.Error as error:
        return str(error)
    if name not in ("set_tune", "set_up"):
        petscamb.set_up(A)
    x, y = A.createVecs()
    x.set(1)
    A.mult(x, y)
    return {key: value for key, value in petscamb.info(A).items() if not key.startswith("time")}, petscamb.figures(A)


def swept(order):
    A = petscamb.load(sys.argv[1], "amb")
    petscamb.set_device(A, "cpu")
    petscamb.set_sor(A, order)
    pc = PETSc.PC().create()
    pc.setOperators(A)
    pc.setType("sor")
    x, y = A.createVecs()
    x.set(1)
    pc.apply(x, y)
    return y.norm()


assert {name for name in dir(petscamb) if re.search("(^|_)set_", name)} == set(setters) | others
for name, (kind, first, second) in setters.items():
    if name == "set_values" and PETSc.ScalarType().dtype != "float64":  # no other numbers are stored in single precision
        continue
    assert effect(name, kind, first) != effect(name, kind, second), name
    print("effect of", name)
assert effect("set_tune", "amb", ("measure",))[0]["conversions"] == 0 and effect("set_up", "amb", ())[0]["conversions"] == 1
assert swept("natural") == swept("auto") != swept("color")
print("effect of set_up")
END
expect "each setter has an effect" 0 "^effect of set_up$" "$python" setters.py "$root/data/cage10.mtx.gz"
cat >setter.py <<'END'
import sys, petscamb
petscamb.init(sys.argv)
A = petscamb.load(sys.argv[1], "hashgemm")
petscamb.hashgemm_set_accumulator(A, "heap")
C = A.matMult(A)
first = C.getValuesCSR()[2].copy()
A.matMult(A, result=C)
print("other bits", (C.getValuesCSR()[2] != first).sum())
END
expect "the accumulator of an operand" 0 "heap 11397, dense 0" "$python" setter.py "$root/data/cage10.mtx.gz" -mat_hashgemm_device cpu -info :mat
expect "new values by the heap have the same bits" 0 "^other bits 0$" "$python" setter.py "$root/data/cage10.mtx.gz" -mat_hashgemm_device cpu
expect "-citations of an accumulator" 0 "Liu and Brian Vinter" "$python" setter.py "$root/data/cage10.mtx.gz" -citations
expect "the library is not there" 1 "PETSCAMB_LIBRARY=nowhere.so: there is no such file" env PETSCAMB_LIBRARY=nowhere.so "$python" figures.py
expect "petsc4py is missing" 1 "^ImportError: petscamb needs the petsc4py of the PETSc .* has none; on Debian: apt-get install python3-petsc4py" "$python" -c "import sys; sys.modules['petsc4py'] = None; import petscamb; petscamb.init()"
expect "init() was forgotten" 1 "RuntimeError: call petscamb.init\(\) first" "$python" -c "import petscamb; petscamb.types()"
if "$python" -c "import scipy" 2>/dev/null; then
  "$python" -c "import matplotlib" 2>/dev/null && picture="-o gamg.svg" || picture=
  # shellcheck disable=SC2086
  expect "gamg.py: SciPy, amb, GAMG" 0 "^amb +[1-9][0-9]* iterations, error .* format amb$" "$python" "$source/gamg.py" -n 12 $picture
  if [ -n "$picture" ]; then expect "gamg.py: the picture" 0 "<svg" cat gamg.svg; else echo "skip gamg.py: the picture: no matplotlib"; fi
else
  echo "skip gamg.py: no SciPy"
fi
expect "gamg.py without SciPy says so" fail "^gamg.py needs SciPy .*: apt-get install python3-scipy" "$python" -c "
import runpy, sys
sys.modules['scipy'] = None
runpy.run_path('$source/gamg.py', run_name='__main__')"
if "$python" -c "import setuptools, wheel, pip" 2>/dev/null; then
  cp -r "$source" copy && mkdir site
  expect "pip install" 0 "Successfully installed petscamb" "$python" -m pip install --disable-pip-version-check --no-input --no-index --no-build-isolation --target site ./copy
  expect "pip install: the package" 0 "/site/petscamb/__init__.py$" env PYTHONPATH="$work/site${folder:+:$folder}" "$python" -c "import petscamb; print(petscamb.__file__)"
else
  echo "skip pip install: no pip, setuptools or wheel for $python"
fi
exit $failed
