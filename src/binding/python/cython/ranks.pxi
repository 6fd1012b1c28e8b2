# SPDX-License-Identifier: BSD-2-Clause
# Ranks of the vertices of a graph

DANGLING = ("restart", "remove", "none")
ORDERS = ("natural", "degree", "bitonic")
REASONS = {0: "iterating", 2: "tol", 4: "its", -3: "diverged its", -9: "diverged nan or inf"}


cdef int place(value, names) except -1:
    if value not in names:
        raise ValueError("%r is none of %s" % (value, ", ".join(names)))
    return names.index(value)


cdef class GraphIteration:
    """Parameters and results of `page_rank()`, `hits()` and `random_walk_with_restart()`.

    Parameters
    ----------
    damping : float, optional
        The probability that a walk follows an edge, 0.85 by default.
    tol : float, optional
        The 1-norm of the change at the end.
    max_it : int, optional
        The most iterations.
    dangling : {"restart", "remove", "none"}, optional
        What a walk does in a vertex without outgoing edges.
    order : {"natural", "degree", "bitonic"}, optional
        The order of the vertices in the computation; results are in the graph's order.
    monitor : callable, optional
        `monitor(iteration, change)` is called before the first iteration and after each on all processes. Its exception ends the iteration and reaches the caller;
        on several processes all of them must raise it.

    Attributes
    ----------
    its : int
        The number of iterations of the last call.
    change : float
        The 1-norm of the last change.
    reason : str
        "tol", "its", "diverged its" or "diverged nan or inf".

    Raises
    ------
    ValueError
        A word is none of these.

    See Also
    --------
    MatGraphIteration : in C
    """

    cdef MatGraphIteration c
    cdef public object monitor

    def __init__(self, damping=None, tol=None, max_it=None, dangling=None, order=None, monitor=None):
        self.initialize()
        for name, value in (("damping", damping), ("tol", tol), ("max_it", max_it), ("dangling", dangling), ("order", order), ("monitor", monitor)):
            if value is not None:
                setattr(self, name, value)

    def initialize(self):
        """Set all parameters to their defaults.

        See Also
        --------
        MatGraphIterationInitialize : in C
        """
        check(MatGraphIterationInitialize(&self.c))
        self.monitor = None

    @property
    def damping(self):
        return self.c.damping

    @damping.setter
    def damping(self, value):
        self.c.damping = value

    @property
    def tol(self):
        return self.c.tol

    @tol.setter
    def tol(self, value):
        self.c.tol = value

    @property
    def max_it(self):
        return self.c.max_it

    @max_it.setter
    def max_it(self, value):
        self.c.max_it = value

    @property
    def dangling(self):
        return DANGLING[<int>self.c.dangling]

    @dangling.setter
    def dangling(self, value):
        self.c.dangling = <MatGraphDangling>place(value, DANGLING)

    @property
    def order(self):
        return ORDERS[<int>self.c.order]

    @order.setter
    def order(self, value):
        self.c.order = <MatGraphOrder>place(value, ORDERS)

    @property
    def its(self):
        return self.c.its

    @property
    def change(self):
        return self.c.change

    @property
    def reason(self):
        return REASONS[<int>self.c.reason]

    cdef list begin(self):
        """The context of `call_monitor()`, for which the caller holds a reference."""
        cdef list state = [self.monitor, None]
        self.c.monitor = <MatGraphMonitor>NULL if self.monitor is None else <MatGraphMonitor>call_monitor
        self.c.context = <void *>state
        return state

    cdef int end(self, int code, list state) except -1:
        self.c.monitor = <MatGraphMonitor>NULL
        self.c.context = NULL
        if state[1] is not None:
            raise state[1]
        return check(code)


def page_rank(Mat A, Vec ranks=None, GraphIteration iteration=None):
    """Compute the PageRank of the vertices of a graph; `pagerank()` takes a matrix of SciPy, too.

    Parameters
    ----------
    A : Mat, shape (n, n)
        Weights that are not negative.
    ranks : Vec, shape (n,), optional
        The vector for the result; a new one by default.
    iteration : GraphIteration, optional
        Parameters, and afterwards the results of the iteration.

    Returns
    -------
    Vec
        `ranks`, which have the sum 1 unless `dangling` is "none".

    Raises
    ------
    PETSc.Error
        The matrix is not square or not assembled, or a weight or a parameter is out of its range.

    See Also
    --------
    MatPageRank : in C
    """
    mat_of(A)
    cdef GraphIteration how = GraphIteration() if iteration is None else iteration
    cdef Vec result = A.createVecLeft() if ranks is None else ranks
    cdef PetscVec target = vec_of(result)
    cdef list state = how.begin()
    how.end(MatPageRank(A.mat, &how.c, target), state)
    return result


def hits(Mat A, Vec authorities=None, Vec hubs=None, GraphIteration iteration=None):
    """Compute the authorities and hubs of a graph.

    Parameters
    ----------
    A : Mat, shape (n, n)
        Weights that are not negative.
    authorities, hubs : Vec, shape (n,), optional
        The vectors for the results; new ones by default.
    iteration : GraphIteration, optional
        Parameters, and afterwards the results of the iteration.

    Returns
    -------
    authorities, hubs : Vec
        Both have the sum 1.

    Raises
    ------
    PETSc.Error
        The matrix is not square or not assembled, or a weight or a parameter is out of its range.

    See Also
    --------
    MatHITS : in C
    """
    mat_of(A)
    cdef GraphIteration how = GraphIteration() if iteration is None else iteration
    cdef Vec first = A.createVecLeft() if authorities is None else authorities
    cdef Vec second = A.createVecLeft() if hubs is None else hubs
    cdef PetscVec target = vec_of(first)
    cdef PetscVec other = vec_of(second)
    cdef list state = how.begin()
    how.end(MatHITS(A.mat, &how.c, target, other), state)
    return first, second


def random_walk_with_restart(Mat A, seeds, GraphIteration iteration=None):
    """Compute where random walks from some vertices are, which return to their seed.

    Parameters
    ----------
    A : Mat, shape (n, n)
        Weights that are not negative.
    seeds : sequence of int
        The vertices, the same on all processes.
    iteration : GraphIteration, optional
        Parameters, and afterwards the results of the iteration.

    Returns
    -------
    Mat, shape (n, len(seeds))
        A dense matrix, whose column s has the probabilities of the walk from `seeds[s]`.

    Raises
    ------
    ValueError
        `seeds` is no sequence of integers.
    PETSc.Error
        There is no seed, a seed is no row, the matrix is not square or not assembled, or a weight or a parameter is out of its range.

    See Also
    --------
    MatRandomWalkWithRestart : in C
    """
    mat_of(A)
    cdef GraphIteration how = GraphIteration() if iteration is None else iteration
    cdef Mat walks = PETSc.Mat()
    first = integers(seeds, "seeds")
    cdef list state = how.begin()
    how.end(MatRandomWalkWithRestart(A.mat, <PetscInt>first.size, <const PetscInt *>address(first), &how.c, &walks.mat), state)
    return walks
