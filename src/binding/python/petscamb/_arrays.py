# SPDX-License-Identifier: BSD-2-Clause
"""Functions that take arrays of NumPy and matrices of SciPy besides objects of petsc4py; SciPy is imported only where a result needs it."""
import numpy
from petsc4py import PETSc

from . import _amb


def _is_sparse(A):
    """Whether A is a sparse matrix of SciPy, without an import of SciPy."""
    return hasattr(A, "tocsr") and hasattr(A, "nnz")


def _real(array, name):
    """An array of PETSc's numbers; complex ones are refused where PETSc has real ones."""
    array = numpy.asarray(array)
    if array.dtype.kind == "c" and numpy.dtype(PETSc.ScalarType).kind != "c":
        raise ValueError("%s has complex numbers, and this PETSc has real ones" % name)
    return array.astype(PETSc.ScalarType, copy=False)


def _sparse(A, name, type):
    """A matrix of PETSc from a sparse one: the object itself, or a copy on this process."""
    if isinstance(A, PETSc.Mat):
        return A
    if not _is_sparse(A):
        raise TypeError("%s must be a Mat of petsc4py or a sparse matrix of SciPy, not %s" % (name, A.__class__.__name__))
    csr = A.tocsr()
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    if csr.nnz > numpy.iinfo(PETSc.IntType).max:
        raise ValueError("%s has too many entries for PetscInt" % name)
    pattern = (csr.indptr.astype(PETSc.IntType, copy=False), csr.indices.astype(PETSc.IntType, copy=False))
    mat = PETSc.Mat().createAIJ(csr.shape, csr=pattern + (_real(csr.data, name),), comm=PETSc.COMM_SELF)
    if type != "aij":
        mat.convert(type)
    return mat


def _dense(B, name):
    """A dense matrix of PETSc from an array of two dimensions: the object itself, or a copy on this process."""
    if isinstance(B, PETSc.Mat):
        return B
    array = _real(B, name)
    if array.ndim != 2:
        raise ValueError("%s has the shape %s, and not two dimensions" % (name, array.shape))
    mat = PETSc.Mat().createDense(array.shape, comm=PETSc.COMM_SELF)
    mat.setUp()
    mat.getDenseArray()[:] = array
    mat.assemble()
    return mat


class _Copies:
    """Destroys the matrices of PETSc that a call created from arrays."""

    def __init__(self):
        self.mats = []

    def __enter__(self):
        return self

    def __exit__(self, *error):
        for mat in self.mats:
            mat.destroy()

    def __call__(self, mat, given):
        if mat is not given:
            self.mats.append(mat)
        return mat


def spmm(A, B, type="amb"):
    """Multiply a sparse matrix with a dense one.

    Parameters
    ----------
    A : Mat or sparse matrix of SciPy, shape (m, k)
    B : Mat or array, shape (k, n)
    type : str, optional
        The type of PETSc for a matrix of SciPy.

    Returns
    -------
    Mat or numpy.ndarray, shape (m, n)
        A Mat if both operands are.

    Raises
    ------
    TypeError
        `A` is neither of these.
    ValueError
        `B` is no array of two dimensions, or has complex numbers where PETSc has real ones.
    PETSc.Error
        Sizes do not fit.
    """
    with _Copies() as copies:
        sparse, dense = copies(_sparse(A, "A", type), A), copies(_dense(B, "B"), B)
        product = sparse.matMult(dense)
        if not copies.mats:
            return product
        copies(product, None)
        return product.getDenseArray().copy()


def sddmm(S, D1, D2, scale=True, result=None):
    """Compute the entries of D1 D2^T in the pattern of a sparse matrix (sampled dense-dense matrix product).

    Parameters
    ----------
    S : Mat or sparse matrix of SciPy, shape (m, n)
    D1 : Mat or array, shape (m, k)
    D2 : Mat or array, shape (n, k)
    scale : bool, optional
        True multiplies each entry by the entry of `S`; False reads only the pattern of `S`.
    result : Mat, optional
        The result of an earlier call with a matrix of the same pattern, for matrices of petsc4py; a new one by default.

    Returns
    -------
    Mat or scipy.sparse.csr_matrix, shape (m, n)
        A matrix of SciPy if `S` is.

    Raises
    ------
    TypeError
        `S` is neither of these, or `result` is given for a matrix of SciPy.
    PETSc.Error
        Sizes do not fit, `S` is no AIJ, `result` has another pattern, or scalars are complex.

    See Also
    --------
    MatSDDMM : in C
    """
    with _Copies() as copies:
        sparse, first = copies(_sparse(S, "S", "aij"), S), copies(_dense(D1, "D1"), D1)
        second = first if D2 is D1 else copies(_dense(D2, "D2"), D2)
        if isinstance(S, PETSc.Mat):
            return _amb.sddmm_mat(sparse, first, second, scale, result)
        if result is not None:
            raise TypeError("result is for matrices of petsc4py")
        from scipy.sparse import csr_matrix

        product = copies(_amb.sddmm_mat(sparse, first, second, scale), None)
        start, column, value = product.getValuesCSR()
        return csr_matrix((value.copy(), column.copy(), start.copy()), shape=S.shape)


def solve(A, b, x0=None, type="amb", ksp_type=None, pc_type=None, rtol=1e-8, max_it=None, prefix=None):
    """Solve A x = b by a Krylov method.

    Parameters
    ----------
    A : Mat or sparse matrix of SciPy, shape (n, n)
    b : Vec or array, shape (n,)
    x0 : Vec or array, shape (n,), optional
        The first guess; zeros by default.
    type : str, optional
        The type of PETSc for a matrix of SciPy.
    ksp_type, pc_type : str, optional
        The method and the preconditioner, such as "cg" and "gamg"; by default the values of the options, or PETSc's.
    rtol : float, optional
        The residual's norm at the end, relative to the norm of b.
    max_it : int, optional
        The most iterations.
    prefix : str, optional
        The prefix of the options of PETSc that change the solver.

    Returns
    -------
    Vec or numpy.ndarray, shape (n,)
        A Vec if `b` is.

    Raises
    ------
    TypeError
        `A` is neither of these.
    ValueError
        `b` or `x0` has another shape.
    ArithmeticError
        The method did not converge; the message has PETSc's reason.
    """
    with _Copies() as copies:
        mat = copies(_sparse(A, "A", type), A)
        ksp = copies(PETSc.KSP().create(mat.comm), None)
        ksp.setOperators(mat)
        if ksp_type:
            ksp.setType(ksp_type)
        if pc_type:
            ksp.getPC().setType(pc_type)
        ksp.setTolerances(rtol=rtol, max_it=max_it)
        ksp.setOptionsPrefix(prefix)
        ksp.setFromOptions()
        operands = []
        for name, given in (("b", b), ("x0", x0)):
            if isinstance(given, PETSc.Vec):
                operands.append(given)
                continue
            operands.append(copies(mat.createVecLeft(), None))
            if given is None:
                continue
            array = _real(given, name)
            if array.shape != (mat.getLocalSize()[0],):
                raise ValueError("%s has the shape %s, not (%d,)" % (name, array.shape, mat.getLocalSize()[0]))
            operands[-1].setArray(array)
        solution = operands[1].duplicate()
        copies(solution, solution if isinstance(b, PETSc.Vec) else None)
        if x0 is not None:
            operands[1].copy(solution)
            ksp.setInitialGuessNonzero(True)
        ksp.solve(operands[0], solution)
        reason = ksp.getConvergedReason()
        if reason < 0:
            names = {value: key for key, value in vars(PETSc.KSP.ConvergedReason).items() if not key.startswith("_")}
            raise ArithmeticError("no convergence after %d iterations: %s" % (ksp.getIterationNumber(), names.get(reason, reason)))
        return solution if isinstance(b, PETSc.Vec) else solution.getArray().copy()


def pagerank(A, damping=0.85, tol=None, max_it=None, dangling="restart", order="natural", monitor=None, type="amb"):
    """Compute the PageRank of the vertices of a graph.

    Parameters
    ----------
    A : Mat or sparse matrix of SciPy, shape (n, n)
        An entry (i, j) is the weight of the edge from i to j, not negative.
    damping, tol, max_it, dangling, order, monitor : optional
        The parameters of `GraphIteration`.
    type : str, optional
        The type of PETSc for a matrix of SciPy.

    Returns
    -------
    Vec or numpy.ndarray, shape (n,)
        A Vec if `A` is a Mat.

    Raises
    ------
    TypeError
        `A` is neither of these.
    ValueError
        `dangling` or `order` is no word of `GraphIteration`.
    ArithmeticError
        The iteration did not converge.
    PETSc.Error
        The matrix is not square, or a weight or a parameter is out of its range.
    """
    iteration = _amb.GraphIteration(damping, tol, max_it, dangling, order, monitor)
    with _Copies() as copies:
        ranks = _amb.page_rank(copies(_sparse(A, "A", type), A), iteration=iteration)
        copies(ranks, ranks if isinstance(A, PETSc.Mat) else None)
        if iteration.reason.startswith("diverged"):
            raise ArithmeticError("no convergence after %d iterations: the change is %g" % (iteration.its, iteration.change))
        if isinstance(A, PETSc.Mat):
            return ranks
        return ranks.getArray().real.copy()


class Operator:
    """A matrix, a Krylov method or a preconditioner of PETSc as a linear operator of SciPy.

    `scipy.sparse.linalg.aslinearoperator()` and the arguments A and M of SciPy's solvers accept it.

    Parameters
    ----------
    action : Mat, KSP, PC, or sparse matrix of SciPy
        `matvec()` multiplies by a matrix, solves by a KSP, and applies a PC. All live on one process.
    type : str, optional
        The type of PETSc for a matrix of SciPy.

    Attributes
    ----------
    shape : tuple of two int
    dtype : numpy.dtype
    """

    def __init__(self, action, type="amb"):
        if isinstance(action, PETSc.KSP):
            mat, self._apply, self._transpose = action.getOperators()[0], action.solve, action.solveTranspose
        elif isinstance(action, PETSc.PC):
            mat, self._apply, self._transpose = action.getOperators()[0], action.apply, action.applyTranspose
        else:
            action = mat = _sparse(action, "action", type)
            self._apply, self._transpose = mat.mult, mat.multTranspose
        if mat.comm.getSize() > 1:
            raise ValueError("the operator lives on %d processes, and an array of NumPy on one" % mat.comm.getSize())
        self._action = action
        self._inverse = not isinstance(action, PETSc.Mat)
        self._right, self._left = mat.createVecs()
        self.shape = mat.getSize()
        self.dtype = numpy.dtype(PETSc.ScalarType)

    def _call(self, function, source, target, x):
        array = numpy.ascontiguousarray(_real(x, "x"))
        if array.size != source.getLocalSize() or array.ndim > 2 or (array.ndim == 2 and array.shape[1] != 1):
            raise ValueError("x has the shape %s, not (%d,)" % (array.shape, source.getLocalSize()))
        source.placeArray(array.reshape(-1))
        try:
            function(source, target)
        finally:
            source.resetArray()
        return target.getArray().copy().reshape(array.shape[:1] and (target.getLocalSize(),) + array.shape[1:])

    def matvec(self, x):
        """Apply the operator to a vector, shape (n,) or (n, 1)."""
        return self._call(self._apply, *((self._left, self._right) if self._inverse else (self._right, self._left)), x)

    def rmatvec(self, x):
        """Apply the adjoint operator to a vector, shape (m,) or (m, 1)."""
        x = numpy.conj(x)
        return numpy.conj(self._call(self._transpose, *((self._right, self._left) if self._inverse else (self._left, self._right)), x))

    def matmat(self, X):
        """Apply the operator to the columns of an array, shape (n, k)."""
        return numpy.stack([self.matvec(column) for column in numpy.asarray(X).T], axis=1)

    def __matmul__(self, x):
        return self.matvec(x) if numpy.ndim(x) == 1 else self.matmat(x)

    __call__ = dot = __matmul__
