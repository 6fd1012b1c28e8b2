# SPDX-License-Identifier: BSD-2-Clause
# Graphs: an entry (i, j) of a matrix is an edge from vertex i to vertex j


def graph_orient(Mat A, Vec key):
    """Copy the entries (i, j) of a square matrix for which vertex i comes before vertex j.

    Parameters
    ----------
    A : Mat, shape (n, n)
    key : Vec, shape (n,)
        Vertex i comes before j if its key is smaller, or the keys are equal and i < j.

    Returns
    -------
    Mat, shape (n, n)

    Raises
    ------
    PETSc.Error
        The matrix is no AIJ, not assembled or not square, or `key` is distributed differently.

    See Also
    --------
    MatGraphOrient : in C
    """
    cdef Mat B = PETSc.Mat()
    check(MatGraphOrient(mat_of(A), vec_of(key), &B.mat))
    return B


def graph_transpose(Mat A):
    """Compute the transpose of a matrix; on several processes faster than `Mat.transpose()`.

    Parameters
    ----------
    A : Mat, shape (m, n)

    Returns
    -------
    Mat, shape (n, m)

    Raises
    ------
    PETSc.Error
        The matrix is no AIJ or not assembled.

    See Also
    --------
    MatGraphTranspose : in C
    """
    cdef Mat B = PETSc.Mat()
    check(MatGraphTranspose(mat_of(A), &B.mat))
    return B


def graph_permute(Mat A, IS rows, IS columns=None):
    """Give the rows and columns of a matrix new numbers and new processes.

    Parameters
    ----------
    A : Mat, shape (m, n)
    rows : IS
        On each process, the rows of `A` that become its rows, in their new order.
    columns : IS, optional
        The same of the columns; `rows` by default.

    Returns
    -------
    Mat, shape (m, n)

    Raises
    ------
    PETSc.Error
        An index set is no permutation, or the matrix is no AIJ or not assembled.

    See Also
    --------
    MatGraphPermute : in C
    """
    cdef Mat B = PETSc.Mat()
    check(MatGraphPermute(mat_of(A), is_of(rows), is_of(rows if columns is None else columns), &B.mat))
    return B


def prune_rows(Mat A, least, keep):
    """Copy the largest entries of each row.

    Parameters
    ----------
    A : Mat, shape (m, n)
    least : float
        The least absolute value of an entry to copy; the largest of a row is always copied.
    keep : int
        The most entries of a row.

    Returns
    -------
    Mat, shape (m, n)

    Raises
    ------
    PETSc.Error
        `keep` is less than 1, or the matrix is no AIJ or not assembled.

    See Also
    --------
    MatPruneRows : in C
    """
    cdef Mat B = PETSc.Mat()
    check(MatPruneRows(mat_of(A), least, keep, &B.mat))
    return B


def pow_entries(Mat A, power):
    """Replace each stored entry by its absolute value to a power.

    Parameters
    ----------
    A : Mat
        The matrix to change.
    power : float
        0 makes all stored entries 1.

    Raises
    ------
    PETSc.Error
        The matrix is no AIJ or not assembled.

    See Also
    --------
    MatPowEntries : in C
    """
    check(MatPowEntries(mat_of(A), power))


def mask_entries(Mat A, Mat M, complement=False):
    """Copy the entries of a matrix at the positions that another one stores, or at all other positions.

    Parameters
    ----------
    A : Mat, shape (m, n)
    M : Mat, shape (m, n)
        The mask; its values do not count.
    complement : bool, optional
        True copies the entries at positions that `M` does not store.

    Returns
    -------
    Mat, shape (m, n)

    Raises
    ------
    PETSc.Error
        Sizes or distributions differ, or a matrix is no AIJ or not assembled.

    See Also
    --------
    MatMaskEntries : in C
    """
    cdef Mat B = PETSc.Mat()
    check(MatMaskEntries(mat_of(A), mat_of(M), <PetscBool>bool(complement), &B.mat))
    return B


cdef object words(values, name, length, output=False):
    """An array of 64-bit words of this length; an output is the caller's array."""
    if output and not (isinstance(values, numpy.ndarray) and values.dtype == numpy.uint64 and values.flags.c_contiguous and values.flags.writeable):
        raise ValueError("%s must be a contiguous array of numpy.uint64 that can be written" % name)
    found = numpy.ascontiguousarray(values, dtype=numpy.uint64)
    if found.shape != (length,):
        raise ValueError("%s has the shape %s, not (%d,)" % (name, found.shape, length))
    return found


def mult_or(Mat A, x, want, y, transpose=False):
    """Compute y[i] = y[i] | x[j] on words of 64 bits, for all stored entries (i, j): a step of 64 breadth-first searches.

    Parameters
    ----------
    A : Mat, shape (m, n)
    x : array of uint64, shape (local columns,)
        A word for each column of this process.
    want : array of uint64, shape (local rows,)
        The bits of `y` that may be set.
    y : numpy.ndarray of uint64, shape (local rows,)
        The array to change.
    transpose : bool, optional
        True for the entries (j, i); `x` then has a word for each row, and `want` and `y` one for each column.

    Returns
    -------
    numpy.ndarray of uint64
        `y`.

    Raises
    ------
    ValueError
        An array has another shape, or `y` is no array of uint64.
    PETSc.Error
        The matrix is no AIJ or not assembled.

    See Also
    --------
    MatMultOr : in C
    """
    mat_of(A)
    rows, columns = A.getLocalSize()
    if transpose:
        rows, columns = columns, rows
    source, wanted, target = words(x, "x", columns), words(want, "want", rows), words(y, "y", rows, True)
    check(MatMultOr(A.mat, <PetscBool>bool(transpose), <const uint64_t *>address(source), <const uint64_t *>address(wanted), <uint64_t *>address(target)))
    return y


def count_triangles(Mat A):
    """Count the triangles of a graph.

    Parameters
    ----------
    A : Mat, shape (n, n)
        Directions, values and loops do not count.

    Returns
    -------
    int

    Raises
    ------
    PETSc.Error
        The matrix is no AIJ, not assembled or not square, or scalars are complex.

    See Also
    --------
    MatCountTriangles : in C
    """
    cdef PetscInt64 found = 0
    check(MatCountTriangles(mat_of(A), &found))
    return found


def breadth_first(Mat A, sources, levels=True):
    """Search a graph from several vertices at once.

    Parameters
    ----------
    A : Mat, shape (n, n)
    sources : sequence of int
        The vertices to start from, the same on all processes.
    levels : bool, optional
        False if only the numbers matter.

    Returns
    -------
    level : numpy.ndarray of int64, shape (len(sources), local rows), or None
        The level of each local row from each source; -1 if the source does not reach it.
    reached : int
        The number of vertices that are reached, each as often as sources reach it.
    farthest : int
        The largest level.

    Raises
    ------
    ValueError
        `sources` is no sequence of integers.
    PETSc.Error
        A source is no row, or the matrix is no AIJ, not assembled or not square.

    See Also
    --------
    MatBreadthFirst : in C
    """
    cdef PetscInt64 reached = 0
    cdef PetscInt64 farthest = 0
    cdef PetscInt64 *target = NULL
    mat_of(A)
    first, level = integers(sources, "sources"), None
    if levels:
        level = numpy.empty((first.size, A.getLocalSize()[0]), dtype=numpy.int64)
        target = <PetscInt64 *>address(level)
    check(MatBreadthFirst(A.mat, <PetscInt>first.size, <const PetscInt *>address(first), target, &reached, &farthest))
    return level, reached, farthest


def markov_cluster(Mat M, inflation=2, prune=1e-4, keep=1000, batch=2e8, rest=1e-5, most=100, monitor=None):
    """Find the clusters of a graph: products of a matrix with itself and powers of its entries take turns.

    Parameters
    ----------
    M : Mat, shape (n, n)
        Similarities, which are not negative; afterwards the limit. Rows with the same first column are a cluster.
    inflation : float, optional
        The power of the entries, more than 1.
    prune : float, optional
        A new row drops smaller entries, but not its largest one.
    keep : int, optional
        The most entries of a row.
    batch : float, optional
        The most multiplications of a batch of rows, which bounds the memory.
    rest : float, optional
        The end: the largest difference between the largest entry of a row and the sum of squares.
    most : int, optional
        The most iterations.
    monitor : callable, optional
        `monitor(iteration, chaos)` is called after each iteration on all processes. Its exception ends the iteration and reaches the caller; on several processes
        all of them must raise it.

    Returns
    -------
    iterations : int
    chaos : float
        The difference at the end.

    Raises
    ------
    PETSc.Error
        A parameter is out of its range, or the matrix is no AIJ, not assembled or not square.

    See Also
    --------
    MatMarkovCluster : in C
    """
    cdef PetscInt iterations = 0
    cdef PetscReal chaos = 0
    cdef int code
    cdef list state = [monitor, None]
    mat_of(M)
    code = MatMarkovCluster(&M.mat, inflation, prune, keep, batch, rest, most, <MatMarkovMonitor>NULL if monitor is None else <MatMarkovMonitor>call_monitor, <void *>state, &iterations, &chaos)
    if state[1] is not None:
        raise state[1]
    check(code)
    return iterations, chaos


def shift_to_sum(Vec z, sum=1, Vec where=None, weight=None, Vec x=None):
    """Add the same number to some or all entries of a vector so that the vector gets a sum.

    Parameters
    ----------
    z : Vec
        The vector to change.
    sum : float or complex, optional
        The sum that the vector gets.
    where : Vec, optional
        1 for the entries that change and 0 for the others; by default all entries change.
    weight : float, optional
        The sum of `where`, or the number of entries; computed by default.
    x : Vec, optional
        A vector to compare with.

    Returns
    -------
    float
        The 1-norm of `x` - `z`, with the changed `z`; 0 without `x`.

    Raises
    ------
    PETSc.Error
        `weight` is not positive.

    See Also
    --------
    VecShiftToSum : in C
    """
    cdef PetscReal change = 0
    cdef double complex total = sum
    vec_of(z)
    if weight is None:
        weight = z.getSize() if where is None else where.sum().real
    check(VecShiftToSum(z.vec, NULL if where is None else vec_of(where), weight, PetscAMBScalar(total.real, total.imag), NULL if x is None else vec_of(x), &change))
    return change


def scale_to_sum(Vec z, sum=1, Vec x=None):
    """Scale a vector so that it gets a sum.

    Parameters
    ----------
    z : Vec
        The vector to change.
    sum : float or complex, optional
        The sum that the vector gets.
    x : Vec, optional
        A vector to compare with.

    Returns
    -------
    change : float
        The 1-norm of `x` - `z`, with the changed `z`; 0 without `x`.
    zero : bool
        True if the sum was 0, and nothing changed.

    See Also
    --------
    VecScaleToSum : in C
    """
    cdef PetscReal change = 0
    cdef PetscBool zero = <PetscBool>0
    cdef double complex total = sum
    check(VecScaleToSum(vec_of(z), PetscAMBScalar(total.real, total.imag), NULL if x is None else vec_of(x), &change, &zero))
    return change, bool(zero)


def get_top(Vec x, k):
    """Get the greatest entries of a vector.

    Parameters
    ----------
    x : Vec
        The real parts of its entries count.
    k : int
        The number of entries; a vector with fewer entries returns all.

    Returns
    -------
    index : numpy.ndarray of PETSc.IntType, shape (k,)
        The global indices of these entries, the greatest entry first.
    value : numpy.ndarray of PETSc.RealType, shape (k,)
        The entries.

    Raises
    ------
    PETSc.Error
        `k` is negative.

    See Also
    --------
    VecGetTop : in C
    """
    cdef PetscInt n = 0
    vec_of(x)
    room = max(0, min(k, x.getSize()))
    index, value = numpy.empty(room, dtype=PETSc.IntType), numpy.empty(room, dtype=PETSc.RealType)
    check(VecGetTop(x.vec, k if k < 0 else room, &n, <PetscInt *>address(index), <PetscReal *>address(value)))
    return index[:n], value[:n]
