#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The Python package petscamb (src/binding/python): each function by binding.py; types, setters, figures and errors; arrays and the program gamg.py with SciPy.
# Prints ok, not ok or skip.
#
# make test sets LIB, BUILD, PETSC_DIR and PETSC_ARCH.
# timeoutfactor: 3
# tier: test
# tier: deep pip
set -u
. "$(dirname "$0")/../shell/expect.sh"
cd "$work" || exit 1
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1 PETSCAMB_LIBRARY=$LIB PETSC_ARCH=${PETSC_ARCH:-}
unset PETSC_OPTIONS
source=$root/src/binding/python

expect "the version of the package" 0 "^2$" sh -c 'grep -cE "^(__)?version(__)? = \"'"$(cat "$root/VERSION")"'\"$" "$0/pyproject.toml" "$0/petscamb/__init__.py" | cut -d: -f2 | paste -sd+ | sed "s/1+1/2/"' "$source"

find_petsc4py "petscamb for Python"
if ! "$python" -c "
import Cython, os, setuptools, sysconfig
assert os.path.exists(sysconfig.get_path('include') + '/Python.h')" 2>/dev/null; then
  echo "skip petscamb for Python: no Cython, setuptools or Python.h for $python (Debian: cython3 python3-setuptools python3-dev)"
  exit $failed
fi

# a source distribution, installed in a fresh environment beside the petsc4py of PETSC_DIR
if [ "${1:-}" = pip ]; then
  if ! "$python" -c "import venv, ensurepip, wheel" 2>/dev/null; then
    echo "skip pip install: no venv or wheel for $python (Debian: python3-venv python3-wheel)"
    exit $failed
  fi
  mkdir -p tree/src/binding && cp -r "$source" tree/src/binding/python && cp -r "$root/include" tree/
  expect "a source distribution" 0 "" sh -c "cd tree/src/binding/python && '$python' setup.py -q sdist && echo"
  expect "the sources in it" 0 "^12$" sh -c "tar tzf tree/src/binding/python/dist/petscamb-*.tar.gz | grep -cE '(_amb.pyx|[.]pxi|_library.py|py.typed|__init__.pyi)$'"
  tar xzf tree/src/binding/python/dist/petscamb-*.tar.gz -C tree/src/binding
  mv tree/src/binding/petscamb-* tree/src/binding/unpacked
  "$python" -m venv --system-site-packages venv
  expect "pip install" 0 "Successfully installed petscamb" venv/bin/python -m pip install --disable-pip-version-check --no-input --no-index --no-build-isolation tree/src/binding/unpacked
  expect "pip install: the package" 0 "venv/lib.*/_amb.*so$" env PYTHONPATH="$folder" venv/bin/python -c "import petscamb; petscamb.init(); print(petscamb._amb.__file__)"
  exit $failed
fi

expect "the extension: the C compiler accepts each call" 0 "/python$" env -u MAKEFLAGS -u MAKELEVEL -u TESTS -u PETSC_DIR -u PETSC_ARCH make -C "$root" -s python PYTHON="$python" BUILD="$(basename "$BUILD")"
export PYTHONPATH=$(realpath "$BUILD")/python${folder:+:$folder}
expect "each public function has a binding" 0 "^ok MatSDDMM$" "$python" "$root/test/plugin/binding.py" table "$root"/include/petscamb{,graph}.h
echo "PETSC_EXTERN PetscErrorCode MatNobodyKnows(Mat);" >new.h
expect "a function without a binding fails" 1 "^not ok MatNobodyKnows: no binding: no call in binding.py: no row in docs/python.md$" "$python" "$root/test/plugin/binding.py" table "$root"/include/petscamb{,graph}.h new.h
expect "a call of each function" 0 "^ok calls of PetscAMBInitializePackage" "$python" "$root/test/plugin/binding.py" calls
expect "10,000 calls" 0 "^ok after 10000 calls" "$python" "$root/test/plugin/binding.py" leaks -malloc_dump
expect "python -m petscamb" 0 "^petscamb [0-9].*PETSc" "$python" -m petscamb --version
expect "python -m petscamb without the library" 1 "nowhere.so: there is no such file" env PETSCAMB_LIBRARY=nowhere.so "$python" -m petscamb info
expect "the extension is not built" 1 "^ImportError: the extension of petscamb is not built .*make python" env PYTHONPATH="$source${folder:+:$folder}" "$python" -c "import petscamb; petscamb.init()"
expect "a function that is imported before init()" 0 "amb" "$python" -c "
from petscamb import types
import petscamb
petscamb.init()
print(*types())"

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
import sys

import petscamb

petscamb.init(sys.argv)
from petsc4py import PETSc

# Setters whose effect shows in info() or figures() of a larger matrix: the type, and arguments of two calls. binding.py has the others.
setters = {
    "set_tune": ("amb", ("off",), ("measure",)),
    "set_device": ("amb", ("cpu",), ("gpu",)),
    "nussell_set_segmentation": ("nussell", ("none",), ("uniform",)),
    "nussell_set_rows": ("nussell", ("sell",), ("jds",)),
    "nussell_set_tune": ("nussell", ("off",), ("exhaustive",)),
}


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


for name, (kind, first, second) in setters.items():
    assert effect(name, kind, first) != effect(name, kind, second), name
    print("effect of", name)
assert effect("set_tune", "amb", ("measure",))[0]["conversions"] == 0 and effect("set_up", "amb", ())[0]["conversions"] == 1
print("effect of set_up")
END
expect "setters of a larger matrix have an effect" 0 "^effect of set_up$" "$python" setters.py "$root/data/cage10.mtx.gz"
cat >processes.py <<'END'
import sys

import numpy
import petscamb

petscamb.init(sys.argv)
from petsc4py import PETSc

world = PETSc.COMM_WORLD
if world.rank == 0:
    with open("ring.txt", "w") as file:
        file.write("".join("%d %d\n" % (10 * i, 10 * (i + 1) % 100) for i in range(10)))
world.barrier()
A, ids = petscamb.load_edge_list("ring.txt")
first, last = A.getOwnershipRange()
assert A.getSize() == (10, 10) and list(ids) == [10 * i for i in range(first, last)] and petscamb.load_format("ring.txt") == "edge list"
T = petscamb.graph_transpose(A)
assert all(T[i, (i - 1) % 10] == 1 for i in range(first, last)) and T.comm.size == world.size
level, reached, farthest = petscamb.breadth_first(A, [3])
assert level[0].tolist() == [(i - 3) % 10 for i in range(first, last)] and (reached, farthest) == (10, 9)
rows = PETSc.IS().createStride(last - first, first=9 - first, step=-1)
B = petscamb.graph_permute(A, rows)
assert all(B[i, (i - 1) % 10] == 1 for i in range(first, last))
x = A.createVecLeft()
x.setArray(numpy.arange(first, last))
assert petscamb.get_top(x, 3)[0].tolist() == [9, 8, 7] and petscamb.scale_to_sum(x)[1] is False and abs(x.sum() - 1) < 1e-5


def stop(iteration, chaos):
    raise KeyError("enough")


try:
    petscamb.markov_cluster(A, rest=-1, monitor=stop)
    raise AssertionError("no exception")
except KeyError:
    pass
try:
    petscamb.MatBatch.create_csr([1], [1], [0, 1], [0], comm=world)
    assert world.size == 1
except PETSc.Error:
    pass
world.barrier()
if world.rank == 0:
    print("processes agree")
END
if [ -n "${MPIEXEC:-}" ]; then expect "two processes" 0 "^processes agree$" "$MPIEXEC" -n 2 "$python" processes.py; else echo "skip two processes: no mpiexec"; fi
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
  cat >arrays.py <<'END'
import sys

import numpy
import petscamb

petscamb.init(sys.argv)
from petsc4py import PETSc

assert "scipy" not in sys.modules, "SciPy is imported before a result needs it"
import scipy.sparse
import scipy.sparse.linalg as linalg

real = numpy.dtype(PETSc.ScalarType).kind == "f"
n, generator = 60, numpy.random.default_rng(1)
A = scipy.sparse.diags([-1, 2.5, -1], [-1, 0, 1], shape=(n, n)).tocsr()
R = scipy.sparse.random(n, 20, 0.2, format="coo", random_state=1)
b, D = generator.random(n), generator.random((20, 3))


def near(a, b):
    return numpy.allclose(a, b, rtol=1e-4, atol=1e-4)


def raises(error, function, *arguments, **keywords):
    try:
        function(*arguments, **keywords)
    except error as found:
        return str(found)
    raise AssertionError(function)


x = petscamb.solve(A, b)
assert isinstance(x, numpy.ndarray) and near(A @ x, b)
assert near(A @ petscamb.solve(A, b, x0=x, type="aij", ksp_type="cg", pc_type="jacobi", rtol=1e-6), b)
mat = PETSc.Mat().createAIJ(A.shape, csr=(A.indptr.astype(PETSc.IntType), A.indices.astype(PETSc.IntType), A.data.astype(PETSc.ScalarType)), comm=PETSc.COMM_SELF)
vec = PETSc.Vec().createWithArray(b.astype(PETSc.ScalarType), comm=PETSc.COMM_SELF)
assert isinstance(petscamb.solve(mat, vec), PETSc.Vec) and near(petscamb.solve(mat, b), x)
assert "DIVERGED" in raises(ArithmeticError, petscamb.solve, A, b, ksp_type="cg", pc_type="none", max_it=1)
raises(ValueError, petscamb.solve, A, b[1:])
raises(TypeError, petscamb.solve, A.toarray(), b)
if real:
    raises(ValueError, petscamb.solve, A, 1j * b)

assert near(petscamb.spmm(R, D), R @ D) and near(petscamb.spmm(R, D.tolist(), type="aij"), R @ D)
dense = PETSc.Mat().createDense((n, 2), comm=PETSc.COMM_SELF)
dense.setUp()
dense.assemble()
assert isinstance(petscamb.spmm(mat, dense), PETSc.Mat)
raises(ValueError, petscamb.spmm, R, b)
raises(PETSc.Error, petscamb.spmm, A, D)
if real:
    U, V = generator.random((n, 4)), generator.random((20, 4))
    S = petscamb.sddmm(R, U, V)
    assert scipy.sparse.issparse(S) and S.shape == R.shape and near(S.toarray(), R.toarray() * (U @ V.T))
    assert near(petscamb.sddmm(A, U, U, scale=False).toarray(), (A.toarray() != 0) * (U @ U.T))
    raises(TypeError, petscamb.sddmm, R, U, V, result=mat)

graph = scipy.sparse.csr_matrix(([1.0, 1, 2, 1], ([0, 1, 1, 2], [1, 0, 2, 0])), shape=(3, 3))
ranks = petscamb.pagerank(graph, damping=0.5)
walk = (graph.multiply(1 / graph.sum(axis=1))).T
assert near(ranks, 0.5 * walk @ ranks + 0.5 / 3) and near(petscamb.pagerank(graph, damping=0.5, order="degree"), ranks)
assert "no convergence after 1 iterations" in raises(ArithmeticError, petscamb.pagerank, graph, max_it=1)
raises(TypeError, petscamb.pagerank, graph.toarray())

operator = petscamb.Operator(R)
assert operator.shape == R.shape and near(operator.matvec(b[:20]), R @ b[:20]) and near(operator.rmatvec(b), R.T @ b) and near(operator @ D, R @ D)
assert operator.matvec(b[:20, None]).shape == (n, 1)
raises(ValueError, operator.matvec, b)
pc = PETSc.PC().create(PETSc.COMM_SELF)
pc.setOperators(mat)
pc.setType("icc")
ksp = PETSc.KSP().create(PETSc.COMM_SELF)
ksp.setOperators(mat)
for M in None, petscamb.Operator(pc), petscamb.Operator(ksp):
    found, code = linalg.cg(linalg.aslinearoperator(petscamb.Operator(A)), b, M=M)
    assert code == 0 and near(A @ found, b), M
print("arrays agree")
END
  expect "arrays of NumPy and SciPy" 0 "^arrays agree$" "$python" arrays.py
  "$python" -c "import matplotlib" 2>/dev/null && picture="-o gamg.svg" || picture=
  # shellcheck disable=SC2086
  expect "gamg.py: SciPy, amb, GAMG" 0 "^amb +[1-9][0-9]* iterations, error .* format amb$" "$python" "$source/examples/gamg.py" -n 12 $picture
  if [ -n "$picture" ]; then expect "gamg.py: the picture" 0 "<svg" cat gamg.svg; else echo "skip gamg.py: the picture: no matplotlib"; fi
else
  echo "skip gamg.py: no SciPy"
fi
expect "gamg.py without SciPy says so" fail "^gamg.py needs SciPy .*: apt-get install python3-scipy" "$python" -c "
import runpy, sys
sys.modules['scipy'] = None
runpy.run_path('$source/examples/gamg.py', run_name='__main__')"
exit $failed
