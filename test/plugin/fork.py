# SPDX-License-Identifier: BSD-2-Clause
"""Children of os.fork() and of multiprocessing.Pool multiply, convert, solve and make products of matrices, as their parent does.
   python3 fork.py TYPE before|after [PETSC OPTIONS]    before or after the first product of the parent
A child that hangs is ended by an alarm."""
import multiprocessing
import os
import signal
import sys

import petsc4py

petsc4py.init([sys.argv[0]] + sys.argv[3:])
from petsc4py import PETSc  # noqa: E402

kind, when = sys.argv[1:3]
n = 120


def grid():
    """The 5-point matrix of an n x n grid: more nonzeros than one thread has."""
    a = PETSc.Mat().createAIJ((n * n, n * n), nnz=5, comm=PETSc.COMM_SELF)
    for row in range(n * n):
        i, j = divmod(row, n)
        cols = [row] + [k * n + l for k, l in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)) if 0 <= k < n and 0 <= l < n]
        a.setValues(row, cols, [4.0] + [-1.0] * (len(cols) - 1))
    a.assemble()
    return a


def aggregates():
    p = PETSc.Mat().createAIJ((n * n, n * n // 4), nnz=1, comm=PETSc.COMM_SELF)
    for row in range(n * n):
        p.setValue(row, row // 4, 1.0)
    p.assemble()
    return p


plain = grid()
prolongator = aggregates()
shared = plain.copy()
shared.convert(kind)


def work(_=0):
    """Norms that are the same in the parent and in its children."""
    signal.alarm(120)
    x, y = shared.createVecs()
    x.set(1.0)
    x.setValue(0, 3.0)
    x.assemble()
    norms = []
    for a in (shared, plain.copy()):
        a.convert(kind)
        for _ in range(50):
            a.mult(x, y)
        norms.append(y.norm())
        for pc in ("jacobi", "gamg"):
            ksp = PETSc.KSP().create(PETSc.COMM_SELF)
            ksp.setOperators(a)
            ksp.setType("cg")
            ksp.getPC().setType(pc)
            ksp.setTolerances(rtol=1e-10)
            ksp.solve(x, y)
            norms.append(y.norm() * (ksp.getConvergedReason() > 0))
    norms += [a.norm() for a in (shared.matMult(shared), shared.ptap(prolongator))]
    signal.alarm(0)
    return norms


def close(a, b):
    return len(a) == len(b) and all(abs(x - y) <= 1e-8 * abs(y) for x, y in zip(a, b))


def forked():
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(write, repr(work()).encode())
        finally:
            os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    with os.fdopen(read) as text:
        return eval(text.read() or "[]")


def main():
    expected = work() if when == "after" else None
    children = [forked(), forked()]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        children += pool.map_async(work, range(3)).get(timeout=300)
    expected = expected or work()
    bad = [k for k, child in enumerate(children) if not close(child, expected)]
    print("%s children, %s, %s the parent's first product" % ("not ok" if bad else "ok", kind, when))
    return bool(bad)


sys.exit(main())
