#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A matrix of SciPy, solved with conjugate gradients and GAMG, with aij and with amb; a picture of the residuals and of the times of products.

    python3 gamg.py [-n 40] [-o gamg.svg] [options of PETSc]

petscamb needs petsc4py; this program needs SciPy, and matplotlib for the picture.
"""
import sys
import time

try:
    import numpy as np
    import scipy.sparse as sparse
except ImportError as error:
    sys.exit("gamg.py needs SciPy (%s): apt-get install python3-scipy python3-matplotlib, or pip install scipy matplotlib" % error)

import petscamb

petscamb.init(sys.argv)
from petsc4py import PETSc  # noqa: E402

options = PETSc.Options()
n, picture = options.getInt("n", 40), options.getString("o", "")


def laplacian(n):
    """The 7-point Laplacian on n x n x n points, by SciPy."""
    line = sparse.diags([-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], [-1, 0, 1])
    one = sparse.identity(n)
    return (sparse.kron(sparse.kron(line, one), one) + sparse.kron(sparse.kron(one, line), one) + sparse.kron(sparse.kron(one, one), line)).tocsr()


def solve(S, b, kind):
    """The solution, the residuals, and the seconds of a product."""
    A = PETSc.Mat().createAIJ(size=S.shape, csr=(S.indptr.astype(PETSc.IntType), S.indices.astype(PETSc.IntType), S.data.astype(PETSc.ScalarType)))
    A.convert(kind)
    if kind != "aij":
        petscamb.set_tune(A, "off")
    x, right = A.createVecs()
    right[:] = b
    right.assemble()
    solver = PETSc.KSP().create()
    solver.setOperators(A)
    solver.setType("cg")
    solver.getPC().setType("gamg")
    solver.setTolerances(rtol=1e-8)
    solver.setConvergenceHistory()
    solver.setFromOptions()
    solver.solve(right, x)
    begin = time.perf_counter()
    for _ in range(20):
        A.mult(x, right)
    seconds = (time.perf_counter() - begin) / 20
    return x[:].copy(), solver.getConvergenceHistory(), seconds, petscamb.info(A)


S = laplacian(n)
b = S @ np.ones(S.shape[0])
results = {kind: solve(S, b, kind) for kind in ("aij", "amb")}
for kind, (x, history, seconds, info) in results.items():
    print("%-4s %3d iterations, error %.1e, product %.1f us, %s" % (kind, len(history) - 1, abs(x - 1).max(), 1e6 * seconds, "format " + info["format"] if info else "no format of petsc-amb"))
if picture:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3))
    for kind, style in (("aij", "o-"), ("amb", "x--")):
        left.semilogy(results[kind][1], style, label=kind, fillstyle="none")
    left.set_xlabel("iteration")
    left.set_ylabel("residual")
    left.legend()
    right.barh(list(results), [1e6 * results[kind][2] for kind in results])
    right.set_xlabel("microseconds of a product")
    figure.tight_layout()
    figure.savefig(picture)
assert all(abs(x - 1).max() < 1e-5 for x, _, _, _ in results.values()), "a solution is wrong"
