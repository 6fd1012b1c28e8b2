# SPDX-License-Identifier: BSD-2-Clause
"""petsc-amb for petsc4py: its matrix types, their setters and their figures.

    import sys, petscamb
    petscamb.init(sys.argv)              # in place of petsc4py.init()
    from petsc4py import PETSc
    A = petscamb.load("matrix.mtx.gz")   # or any AIJ of petsc4py
    A.convert("amb")
    petscamb.set_tune(A, "off")
    print(petscamb.info(A)["format"])

The library is the file that the variable PETSCAMB_LIBRARY names, else that of pkg-config, else the one that the loader finds.
"""
import ctypes
import ctypes.util
import os
import subprocess
import sys

__version__ = "0.1.0"
_library = None


def library_path():
    """The path of libpetscamb.so."""
    given = os.environ.get("PETSCAMB_LIBRARY")
    if given:
        if not os.path.exists(given):
            raise ImportError("PETSCAMB_LIBRARY=%s: there is no such file" % given)
        return given
    try:
        folder = subprocess.run(["pkg-config", "--variable=libdir", "petscamb"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True).stdout.strip()
    except OSError:
        folder = ""
    if folder and os.path.exists(os.path.join(folder, "libpetscamb.so")):
        return os.path.join(folder, "libpetscamb.so")
    found = ctypes.util.find_library("petscamb")
    if not found:
        raise ImportError("libpetscamb.so was not found: set PETSCAMB_LIBRARY to the path that 'make -s where' prints in the folder of petsc-amb")
    return found


def init(args=None, arch=None, comm=None):
    """Initialize petsc4py, as petsc4py.init() does, and register the types of petsc-amb. PETSc may be initialized already."""
    global _library
    try:
        import petsc4py
    except ImportError as error:
        raise ImportError("petscamb needs the petsc4py of the PETSc that petsc-amb was built for, and %s has none; on Debian: apt-get install python3-petsc4py, and /usr/bin/python3" % sys.executable) from error

    petsc4py.init(args, arch, comm)
    from petsc4py import PETSc

    if _library is not None:
        return
    library = ctypes.CDLL(library_path())
    started = ctypes.c_int(0)
    library.PetscInitialized(ctypes.byref(started))
    if not started.value & 255:
        raise ImportError("%s belongs to another PETSc than petsc4py: configure petsc-amb with PETSC_DIR=%s PETSC_ARCH=%s" %
                          (library_path(), petsc4py.get_config().get("PETSC_DIR"), petsc4py.get_config().get("PETSC_ARCH")))
    _library = library
    _check(library.PetscAMBInitializePackageVersion(*map(int, __version__.split("."))))
    _atleast(PETSc)


def _atleast(PETSc):
    """A PETSc that petsc4py does not match would be refused by the library; this module reads sizes from petsc4py."""
    global _int, _real
    _int = {4: ctypes.c_int32, 8: ctypes.c_int64}[PETSc.IntType().itemsize]
    _real = {4: ctypes.c_float, 8: ctypes.c_double}[PETSc.RealType().itemsize]

    class MatShadowInfo(ctypes.Structure):
        _fields_ = ([(name, ctypes.c_char_p) for name in ("format", "reason", "kernel")] + [("tuning", ctypes.c_bool)] +
                    [(name, _int) for name in ("tried", "candidates", "conversions", "updates")] +
                    [(name, ctypes.c_double) for name in ("nonzeros", "stored_values", "bytes_csr", "bytes_model", "bytes_stored", "bytes_extra", "time_convert", "time_update",
                                                          "time_tune", "time_tune_beside", "time_csr", "time_format")])

    global _Info
    _Info = MatShadowInfo


def _check(code):
    if code:
        from petsc4py import PETSc

        raise PETSc.Error(code)


def _call(name, mat, *arguments):
    """Calls a function of the library whose first argument is an object of petsc4py."""
    if _library is None:
        raise RuntimeError("call petscamb.init() first")
    _check(getattr(_library, name)(ctypes.c_void_p(mat.handle), *arguments))


def _names(list_name):
    """The names of an enumeration, in small letters, from the list in the library; the last two entries are no values."""
    strings = ctypes.cast(ctypes.addressof(ctypes.c_char_p.in_dll(_library, list_name)), ctypes.POINTER(ctypes.c_char_p))
    found = []
    while strings[len(found)] is not None:
        found.append(strings[len(found)].decode().lower())
    return found[:-2]


def _set(function, list_name, mat, value):
    if _library is None:
        raise RuntimeError("call petscamb.init() first")
    names = _names(list_name)
    if str(value).lower() not in names:
        raise ValueError("%r is none of %s" % (value, ", ".join(names)))
    _call(function, mat, ctypes.c_int(names.index(str(value).lower())))


def types(formats_only=False):
    """The names of the matrix types of petsc-amb; with formats_only those that have a format for products with vectors."""
    if _library is None:
        raise RuntimeError("call petscamb.init() first")
    n, names = _int(0), ctypes.POINTER(ctypes.c_char_p)()
    _check(_library.PetscAMBGetTypes(ctypes.c_int(bool(formats_only)), ctypes.byref(n), ctypes.byref(names)))
    return tuple(names[k].decode() for k in range(n.value))


def load(file, type="aij", comm=None):
    """The matrix of a Matrix Market file, also compressed, as a matrix of this type."""
    from petsc4py import PETSc

    mat = PETSc.Mat().create(comm or PETSc.COMM_WORLD)
    mat.setType(type)
    _call("MatLoadMatrixMarket", mat, os.fsencode(file))
    return mat


def load_format(file, comm=None):
    """The format of a file, by its first bytes: "matrix market", "edge list", "petsc" or "other"; MatLoadGetFormat()."""
    from petsc4py import PETSc

    mat, processes, found = PETSc.Mat().create(comm or PETSc.COMM_WORLD), ctypes.c_void_p(0), ctypes.c_int(0)
    _call("PetscObjectGetComm", mat, ctypes.byref(processes))  # an MPI_Comm is a pointer or an int, and a pointer holds both
    _check(_library.MatLoadGetFormat(processes, os.fsencode(file), ctypes.byref(found)))
    return ("other", "matrix market", "edge list", "petsc")[found.value]


def set_tune(mat, value):
    """How the format and its parameters are chosen: off, model, measure (the default) or online; MatShadowSetTune()."""
    _set("MatShadowSetTune", "MatShadowTunes", mat, value)


def set_values(mat, value):
    """How values are stored: double (the default), exact, single or table; MatShadowSetValues()."""
    _set("MatShadowSetValues", "MatShadowValuesNames", mat, value)


def set_device(mat, value):
    """Where the matrix lives: auto (the default), cpu or gpu; MatShadowSetDevice()."""
    _set("MatShadowSetDevice", "MatShadowDevices", mat, value)


def set_halo(mat, value):
    """How processes exchange entries on GPUs: auto (the default), mpi, nccl or staged; MatShadowSetHalo()."""
    _set("MatShadowSetHalo", "MatShadowHalos", mat, value)


def set_sor(mat, value):
    """The order of rows in sweeps of PCSOR: auto (the default), natural or color; MatShadowSetSOR()."""
    _set("MatShadowSetSOR", "MatShadowSORs", mat, value)


def set_up(mat):
    """Converts the matrix now, not with the first products; MatShadowSetUp()."""
    _call("MatShadowSetUp", mat)


def amb_set_block_size(mat, size):
    """Columns of a block of a matrix of type amb; MatAMBSetBlockSize()."""
    _call("MatAMBSetBlockSize", mat, _int(size))


def nussell_set_segmentation(mat, value):
    """nonuniform (the default), uniform or none; MatNUSSELLSetSegmentation()."""
    _set("MatNUSSELLSetSegmentation", "MatNUSSELLSegmentations", mat, value)


def nussell_set_rows(mat, value):
    """sell (the default) or jds; MatNUSSELLSetRows()."""
    _set("MatNUSSELLSetRows", "MatNUSSELLRowses", mat, value)


def nussell_set_tune(mat, value):
    """model (the default), online, exhaustive or off; MatNUSSELLSetTune()."""
    _set("MatNUSSELLSetTune", "MatNUSSELLTunes", mat, value)


def nussell_set_chunk(mat, rows, scope):
    """Rows of a chunk, and rows that are sorted together; MatNUSSELLSetChunk()."""
    _call("MatNUSSELLSetChunk", mat, _int(rows), _int(scope))


def nussell_set_segments(mat, s1, k1, s2, k2):
    """Columns and numbers of the segments; MatNUSSELLSetSegments()."""
    _call("MatNUSSELLSetSegments", mat, *map(_int, (s1, k1, s2, k2)))


def hashgemm_set_accumulator(mat, value):
    """auto (the default), hash, hashvec, heap, dense, window, esc, merge or words, for the products that follow of which mat is an operand; MatHashGEMMSetAccumulator()."""
    _set("MatHashGEMMSetAccumulator", "MatHashGEMMAccumulators", mat, value)


def info(mat):
    """The format of the matrix, the reason, bytes and times, of this process; MatShadowGetInfo(). None if the type is none of petsc-amb."""
    if _library is None:
        raise RuntimeError("call petscamb.init() first")
    found = _Info()
    _call("MatShadowGetInfo", mat, ctypes.byref(found))
    if found.format is None:
        return None
    values = {name: getattr(found, name) for name, _ in found._fields_}
    return {name: value.decode() if isinstance(value, bytes) else value for name, value in values.items()}


def figures(mat):
    """The figures that the format has in addition, by their names; MatShadowGetFigureAt()."""
    result, name, value = {}, ctypes.c_char_p(), ctypes.c_double()
    while True:
        _call("MatShadowGetFigureAt", mat, _int(len(result)), ctypes.byref(name), ctypes.byref(value))
        if name.value is None:
            return result
        result[name.value.decode()] = value.value
