# SPDX-License-Identifier: BSD-2-Clause
# Types, files, and what all formats have in common: options, figures and the exchange between processes


def types(formats_only=False):
    """Get the names of the matrix types of petsc-amb.

    Parameters
    ----------
    formats_only : bool, optional
        Only types that have a format for products with vectors.

    Returns
    -------
    tuple of str

    See Also
    --------
    PetscAMBGetTypes : in C
    """
    cdef PetscInt n = 0
    cdef const char **names = NULL
    check(PetscAMBGetTypesPlain(<PetscBool>bool(formats_only), &n, &names))
    return tuple([names[k].decode() for k in range(n)])


def load(file, type="aij", comm=None):
    """Load a Matrix Market file, which may be compressed.

    Parameters
    ----------
    file : str or path
    type : str, optional
        The type of the matrix.
    comm : Comm, optional
        The processes of the matrix; all of PETSc's by default.

    Returns
    -------
    Mat

    Raises
    ------
    PETSc.Error
        There is no such file, or it violates the format.

    See Also
    --------
    MatLoadMatrixMarket : in C
    """
    cdef Mat mat = PETSc.Mat().create(comm or PETSc.COMM_WORLD)
    mat.setType(type)
    cdef bytes name = os.fsencode(file)
    check(MatLoadMatrixMarket(mat.mat, name))
    return mat


def load_edge_list(file, type="aij", comm=None):
    """Load a graph from a list of edges, which may be compressed.

    Parameters
    ----------
    file : str or path
        Each line has two vertices and perhaps a weight; ids are integers from 0 on, comments begin with # or %.
    type : str, optional
        The type of the matrix.
    comm : Comm, optional
        The processes of the matrix; all of PETSc's by default.

    Returns
    -------
    A : Mat
        The entry (i, j) is the weight of the edge from i to j.
    ids : numpy.ndarray of int64, shape (local rows of A,)
        The id in the file of the vertex of each row.

    Raises
    ------
    PETSc.Error
        There is no such file, or it violates the format.

    See Also
    --------
    MatLoadEdgeList : in C
    """
    cdef Mat mat = PETSc.Mat().create(comm or PETSc.COMM_WORLD)
    cdef PetscInt64 *ids = NULL
    mat.setType(type)
    cdef bytes name = os.fsencode(file)
    check(MatLoadEdgeList(mat.mat, name, &ids))
    try:
        found = numpy.empty(mat.getLocalSize()[0], dtype=numpy.int64)
        memcpy(address(found), ids, found.nbytes)
    finally:
        check(PetscAMBFreeIds(ids))
    return mat, found


def load_format(file, comm=None):
    """Get the format of a file by its first bytes.

    Parameters
    ----------
    file : str or path
    comm : Comm, optional
        The processes that call the function; all of PETSc's by default.

    Returns
    -------
    str
        "matrix market", "edge list", "petsc" or "other".

    Raises
    ------
    PETSc.Error
        There is no such file.

    See Also
    --------
    MatLoadGetFormat : in C
    """
    cdef MatLoadFormat found = <MatLoadFormat>0
    cdef bytes name = os.fsencode(file)
    check(MatLoadGetFormat(GetComm(comm, GetCommDefault()), name, &found))
    return ("other", "matrix market", "edge list", "petsc")[<int>found]


def set_tune(Mat mat, value):
    """Set how a matrix chooses its format and the format's parameters.

    Parameters
    ----------
    mat : Mat
    value : {"measure", "off", "model", "online"}
        "measure" is the default.

    Raises
    ------
    ValueError
        `value` is none of these.

    See Also
    --------
    MatShadowSetTune : in C
    """
    check(MatShadowSetTune(mat_of(mat), <MatShadowTune>word(<const char **>MatShadowTunes, value)))


def set_values(Mat mat, value):
    """Set how a matrix stores its values.

    Parameters
    ----------
    mat : Mat
    value : {"double", "exact", "single", "table"}
        "double" is the default.

    Raises
    ------
    ValueError
        `value` is none of these.

    See Also
    --------
    MatShadowSetValues : in C
    """
    check(MatShadowSetValues(mat_of(mat), <MatShadowValues>word(<const char **>MatShadowValuesNames, value)))


def set_keep_aij(Mat mat, keep):
    """Set whether a matrix on a GPU stores its AIJ there besides the format.

    Parameters
    ----------
    mat : Mat
    keep : bool
        True is the default; False frees the copy after the conversion.

    See Also
    --------
    MatShadowSetKeepAIJ : in C
    """
    check(MatShadowSetKeepAIJ(mat_of(mat), <PetscBool>bool(keep)))


def set_device(Mat mat, value):
    """Set where a matrix lives.

    Parameters
    ----------
    mat : Mat
    value : {"auto", "cpu", "gpu"}
        "auto" is the default.

    Raises
    ------
    ValueError
        `value` is none of these.
    PETSc.Error
        `value` is "gpu", and there is none.

    See Also
    --------
    MatShadowSetDevice : in C
    """
    check(MatShadowSetDevice(mat_of(mat), <MatShadowDevice>word(<const char **>MatShadowDevices, value)))


def set_halo(Mat mat, value):
    """Set how processes exchange entries of vectors on GPUs.

    Parameters
    ----------
    mat : Mat
    value : {"auto", "mpi", "nccl", "staged", "peer"}
        "auto" is the default.

    Raises
    ------
    ValueError
        `value` is none of these.

    See Also
    --------
    MatShadowSetHalo : in C
    """
    check(MatShadowSetHalo(mat_of(mat), <MatShadowHalo>word(<const char **>MatShadowHalos, value)))


def set_sor(Mat mat, value):
    """Set the order of rows in the sweeps of PCSOR.

    Parameters
    ----------
    mat : Mat
    value : {"auto", "natural", "color"}
        "auto" is the default.

    Raises
    ------
    ValueError
        `value` is none of these.

    See Also
    --------
    MatShadowSetSOR : in C
    """
    check(MatShadowSetSOR(mat_of(mat), <MatShadowSOR>word(<const char **>MatShadowSORs, value)))


def set_preallocation_block_coo(Mat mat, i, j):
    """Set the pattern of a matrix from the coordinates of blocks, for `set_values_block_coo()`.

    Parameters
    ----------
    mat : Mat
        Its type and its block sizes are set.
    i, j : sequence of int, shape (blocks,)
        The block row and the block column of each block that this process contributes. Blocks with a negative one are ignored, and blocks with the same ones add up.

    Raises
    ------
    ValueError
        The arrays have other lengths.
    PETSc.Error
        The matrix has no such block.

    See Also
    --------
    MatSetPreallocationBlockCOO : in C
    """
    i = integers(i, "i").copy()
    j = integers(j, "j", i.size).copy()
    rows, columns = mat.getBlockSizes()
    check(MatSetPreallocationBlockCOO(mat_of(mat), <PetscCount>i.size, <PetscInt *>address(i), <PetscInt *>address(j)))
    mat.setAttr("petscamb_block_coo", i.size * rows * columns)


def set_values_block_coo(Mat mat, v, addv=False):
    """Set the values of a matrix with a pattern from `set_preallocation_block_coo()`, and assemble the matrix.

    Parameters
    ----------
    mat : Mat
    v : sequence of scalars, shape (blocks, rows of a block, columns of a block)
        Any shape with as many numbers in this order.
    addv : bool, optional
        Add to the values of the matrix; False replaces them.

    Raises
    ------
    ValueError
        `v` has another length.
    PETSc.Error
        The matrix has no such pattern.

    See Also
    --------
    MatSetValuesBlockCOO : in C
    """
    length = mat.getAttr("petscamb_block_coo")
    values = scalars(v, "v", numpy.size(v) if length is None else length)
    check(MatSetValuesBlockCOO(mat_of(mat), <PetscScalar *>address(values), ADD_VALUES if addv else INSERT_VALUES))


def set_up(Mat mat):
    """Convert a matrix now, not in its first products.

    Parameters
    ----------
    mat : Mat
        An assembled matrix.

    Raises
    ------
    PETSc.Error
        The matrix is not assembled.

    See Also
    --------
    MatShadowSetUp : in C
    """
    check(MatShadowSetUp(mat_of(mat)))


cdef object text(const char *characters):
    return None if characters == NULL else characters.decode()


def info(Mat mat):
    """Get the format of a matrix, the reason for it, bytes and times, of this process.

    Parameters
    ----------
    mat : Mat

    Returns
    -------
    dict or None
        None if the type of the matrix has no format of petsc-amb.

    See Also
    --------
    MatShadowGetInfo : in C
    """
    cdef MatShadowInfo found
    check(MatShadowGetInfo(mat_of(mat), &found))
    if found.format == NULL:
        return None
    return {
        "format": text(found.format),
        "reason": text(found.reason),
        "kernel": text(found.kernel),
        "tuning": bool(found.tuning),
        "tried": found.tried,
        "candidates": found.candidates,
        "conversions": found.conversions,
        "updates": found.updates,
        "nonzeros": found.nonzeros,
        "stored_values": found.stored_values,
        "bytes_csr": found.bytes_csr,
        "bytes_model": found.bytes_model,
        "bytes_stored": found.bytes_stored,
        "bytes_extra": found.bytes_extra,
        "time_convert": found.time_convert,
        "time_update": found.time_update,
        "time_tune": found.time_tune,
        "time_tune_beside": found.time_tune_beside,
        "time_csr": found.time_csr,
        "time_format": found.time_format,
    }


def figure(Mat mat, name):
    """Get a figure of the format of a matrix.

    Parameters
    ----------
    mat : Mat
    name : str
        The name of the figure, such as "block_size"; `figures()` has all of them.

    Returns
    -------
    float
        The figure of this process; -1 if the format has no figure of this name.

    See Also
    --------
    MatShadowGetFigure : in C
    """
    cdef PetscLogDouble value = 0
    cdef bytes characters = name.encode()
    check(MatShadowGetFigure(mat_of(mat), characters, &value))
    return value


def figures(Mat mat):
    """Get the figures that the format of a matrix has besides `info()`.

    Parameters
    ----------
    mat : Mat

    Returns
    -------
    dict of str to float

    See Also
    --------
    MatShadowGetFigureAt : in C
    """
    cdef const char *name = NULL
    cdef PetscLogDouble value = 0
    result = {}
    while True:
        check(MatShadowGetFigureAt(mat_of(mat), <PetscInt>len(result), &name, &value))
        if name == NULL:
            return result
        result[name.decode()] = value


def halo_info(Mat mat):
    """Get how the processes exchange entries of vectors in products on GPUs.

    Parameters
    ----------
    mat : Mat

    Returns
    -------
    dict or None
        Path, neighbors, products, bytes and syncs of this process; None if PETSc makes the exchange.

    See Also
    --------
    MatShadowGetHaloInfo : in C
    """
    cdef MatShadowHaloInfo found
    check(MatShadowGetHaloInfo(mat_of(mat), &found))
    if found.path == NULL:
        return None
    return {"path": text(found.path), "neighbors": found.neighbors, "products": found.products, "bytes": found.bytes, "syncs": found.syncs}
