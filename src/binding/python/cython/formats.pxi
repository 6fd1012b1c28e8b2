# SPDX-License-Identifier: BSD-2-Clause
# Parameters of the formats; a setter does nothing if the matrix has another type


def amb_set_block_size(Mat mat, size):
    """Set the columns of a block of a matrix of type amb.

    Parameters
    ----------
    mat : Mat
    size : int

    Raises
    ------
    PETSc.Error
        There are no blocks of this size.

    See Also
    --------
    MatAMBSetBlockSize : in C
    """
    check(MatAMBSetBlockSize(mat_of(mat), size))


def nussell_set_segmentation(Mat mat, value):
    """Set how the columns of a matrix of type nussell are cut into segments.

    Parameters
    ----------
    mat : Mat
    value : {"nonuniform", "uniform", "none"}
        "nonuniform" is the default.

    Raises
    ------
    ValueError
        `value` is none of these.

    See Also
    --------
    MatNUSSELLSetSegmentation : in C
    """
    check(MatNUSSELLSetSegmentation(mat_of(mat), <MatNUSSELLSegmentation>word(<const char **>MatNUSSELLSegmentations, value)))


def nussell_set_rows(Mat mat, value):
    """Set the format of a segment of a matrix of type nussell.

    Parameters
    ----------
    mat : Mat
    value : {"sell", "jds"}
        "sell" is the default.

    Raises
    ------
    ValueError
        `value` is none of these.

    See Also
    --------
    MatNUSSELLSetRows : in C
    """
    check(MatNUSSELLSetRows(mat_of(mat), <MatNUSSELLRows>word(<const char **>MatNUSSELLRowses, value)))


def nussell_set_tune(Mat mat, value):
    """Set how a matrix of type nussell chooses parameters that have no value yet.

    Parameters
    ----------
    mat : Mat
    value : {"model", "online", "exhaustive", "off"}
        "model" is the default.

    Raises
    ------
    ValueError
        `value` is none of these.

    See Also
    --------
    MatNUSSELLSetTune : in C
    """
    check(MatNUSSELLSetTune(mat_of(mat), <MatNUSSELLTune>word(<const char **>MatNUSSELLTunes, value)))


def nussell_set_chunk(Mat mat, rows, scope):
    """Set the chunks of a matrix of type nussell.

    Parameters
    ----------
    mat : Mat
    rows : int
        Rows of a chunk.
    scope : int
        Rows among which lengths are sorted.

    Raises
    ------
    PETSc.Error
        There are no chunks of this size.

    See Also
    --------
    MatNUSSELLSetChunk : in C
    """
    check(MatNUSSELLSetChunk(mat_of(mat), rows, scope))


def nussell_set_segments(Mat mat, s1, k1, s2, k2):
    """Set the segments of a matrix of type nussell.

    Parameters
    ----------
    mat : Mat
    s1, k1 : int
        Columns and number of the segments with the most entries.
    s2, k2 : int
        Columns and number of the segments that follow.

    Raises
    ------
    PETSc.Error
        A number is out of its range.

    See Also
    --------
    MatNUSSELLSetSegments : in C
    """
    check(MatNUSSELLSetSegments(mat_of(mat), s1, k1, s2, k2))


def ccoo_set_chunk(Mat mat, block, items):
    """Set the chunks of a matrix of type ccoo.

    Parameters
    ----------
    mat : Mat
    block : {0, 32, 64, 128, 256}
        Groups of a chunk; 0 for an automatic choice.
    items : {0, 1, 2, 4, 8}
        Entries of a group; 0 for an automatic choice.

    Raises
    ------
    PETSc.Error
        A number is none of these.

    See Also
    --------
    MatCCOOSetChunk : in C
    """
    check(MatCCOOSetChunk(mat_of(mat), block, items))


def ccoo_set_table(Mat mat, table):
    """Set whether a matrix of type ccoo may store values by their positions in a table.

    Parameters
    ----------
    mat : Mat
    table : bool
        True is the default.

    See Also
    --------
    MatCCOOSetTable : in C
    """
    check(MatCCOOSetTable(mat_of(mat), <PetscBool>bool(table)))


def ccoo_set_atomics(Mat mat, atomics):
    """Set whether products of a matrix of type ccoo on a GPU add by atomic operations.

    Parameters
    ----------
    mat : Mat
    atomics : bool
        False, the default, adds in a fixed order.

    See Also
    --------
    MatCCOOSetAtomics : in C
    """
    check(MatCCOOSetAtomics(mat_of(mat), <PetscBool>bool(atomics)))


def tilecomposite_set_tiles(Mat mat, width, tiles):
    """Set the tiles of a matrix of type tilecomposite.

    Parameters
    ----------
    mat : Mat
    width : int
        Columns of a tile; 0 for 65,535.
    tiles : int
        The largest number of tiles; -1 for an automatic choice, 0 for none.

    Raises
    ------
    PETSc.Error
        A number is out of its range.

    See Also
    --------
    MatTileCompositeSetTiles : in C
    """
    check(MatTileCompositeSetTiles(mat_of(mat), width, tiles))


def tilecomposite_set_work(Mat mat, work):
    """Set the size of the rectangles of a matrix of type tilecomposite.

    Parameters
    ----------
    mat : Mat
    work : int
        Approximate entries of a rectangle, from 32 to 32,768; 0 for an automatic choice.

    Raises
    ------
    PETSc.Error
        `work` is out of its range.

    See Also
    --------
    MatTileCompositeSetWork : in C
    """
    check(MatTileCompositeSetWork(mat_of(mat), work))


def tilecomposite_set_coo(Mat mat, coo):
    """Set whether the tiles of a matrix of type tilecomposite are stored in coordinates.

    Parameters
    ----------
    mat : Mat
    coo : bool
        False, the default, stores rectangles.

    See Also
    --------
    MatTileCompositeSetCOO : in C
    """
    check(MatTileCompositeSetCOO(mat_of(mat), <PetscBool>bool(coo)))


def tilecomposite_measure(file):
    """Measure the performance model of tilecomposite on the GPU of this process.

    Parameters
    ----------
    file : str or path
        The table to write, for `-mat_tilecomposite_table`.

    Raises
    ------
    PETSc.Error
        This PETSc has no CUDA, the measurement failed, or the file cannot be written.

    See Also
    --------
    MatTileCompositeMeasure : in C
    """
    cdef bytes name = os.fsencode(file)
    check(MatTileCompositeMeasure(name))
