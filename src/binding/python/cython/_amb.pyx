# cython: language_level=3, binding=True
# SPDX-License-Identifier: BSD-2-Clause
"""The functions of petsc-amb on objects of petsc4py. petscamb.init() loads the library, whose symbols this module needs, and then this module."""
from cpython.exc cimport PyErr_Occurred
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy
from petsc4py.PETSc cimport GetComm, GetCommDefault, IS, Mat, Object, PC, Vec, Viewer

import os

import numpy

from petsc4py import PETSc

include "prototypes.pxi"

# configuration of the PETSc that this module was compiled with; init() compares it with petsc4py's
compiled = {"version": (PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR), "IntType": sizeof(PetscInt), "RealType": sizeof(PetscReal), "ScalarType": sizeof(PetscScalar)}

finalized = False


cdef int check(int code) except -1:
    """Raises PETSc.Error for an error code; an exception of a Python function that PETSc called goes on."""
    if code == 0:
        return 0
    if code == -1 and PyErr_Occurred():
        return -1
    raise PETSc.Error(code)


cdef PetscMat mat_of(Mat A) except? NULL:
    if A is None or A.mat == NULL:
        raise ValueError("a matrix is None, destroyed, or not created yet")
    return A.mat


cdef PetscVec vec_of(Vec x) except? NULL:
    if x is None or x.vec == NULL:
        raise ValueError("a vector is None, destroyed, or not created yet")
    return x.vec


cdef PetscIS is_of(IS indices) except? NULL:
    if indices is None or indices.iset == NULL:
        raise ValueError("an index set is None, destroyed, or not created yet")
    return indices.iset


cdef PetscPC pc_of(PC pc) except? NULL:
    if pc is None or pc.pc == NULL:
        raise ValueError("a preconditioner is None, destroyed, or not created yet")
    return pc.pc


cdef int word(const char **names, value) except -1:
    """The number of a word in one of the library's lists, which end with the names of the enumeration and of its prefix."""
    cdef int n = 0
    known = []
    while names[n] != NULL:
        known.append(names[n].decode().lower())
        n += 1
    known = known[:-2]
    if str(value).lower() not in known:
        raise ValueError("%r is none of %s" % (value, ", ".join(known)))
    return known.index(str(value).lower())


cdef void *address(array) except? NULL:
    """The memory of a contiguous NumPy array; the caller holds a reference to the array."""
    return <void *><size_t>array.__array_interface__["data"][0]


cdef object integers(values, name, length=None):
    """An array of PetscInt with these values."""
    given = numpy.asarray(values)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise ValueError("%s must be a sequence of integers" % name)
    found = numpy.ascontiguousarray(given, dtype=PETSc.IntType)
    if given.size and not numpy.array_equal(found, given):
        raise ValueError("%s has numbers too large for PetscInt" % name)
    if length is not None and found.size != length:
        raise ValueError("%s has %d numbers, not %d" % (name, found.size, length))
    return found


cdef object scalars(values, name, length):
    """An array of PetscScalar with these values."""
    given = numpy.asarray(values)
    if given.dtype.kind == "c" and PETSc.ScalarType(0).dtype.kind != "c":
        raise ValueError("%s has complex numbers, and this PETSc has real ones" % name)
    found = numpy.ascontiguousarray(given, dtype=PETSc.ScalarType).reshape(-1)
    if found.size != length:
        raise ValueError("%s has %d numbers, not %d" % (name, found.size, length))
    return found


cdef PetscErrorCode call_monitor(PetscInt iteration, PetscReal value, void *context) noexcept with gil:
    """Calls the Python function in a list of two; an exception is stored beside it for the caller."""
    cdef list state = <list>context
    try:
        state[0](iteration, value)
    except BaseException as error:
        state[1] = error
        return PetscAMBMonitorError()
    return <PetscErrorCode>0


def initialize_package(version=None):
    """Register the types of petsc-amb; `init()` calls this function.

    Parameters
    ----------
    version : tuple of three int, optional
        The version of petsc-amb that the caller needs; by default the version of the header that this package was compiled with.

    Raises
    ------
    PETSc.Error
        The library has another major or minor version, or belongs to another PETSc.
    RuntimeError
        `finalize_package()` was called.

    See Also
    --------
    PetscAMBInitializePackage, PetscAMBInitializePackageVersion : in C
    """
    if finalized:
        raise RuntimeError("petsc-amb ended with finalize_package()")
    if version is None:
        check(PetscAMBInitializeHeader())
    else:
        major, minor, subminor = version
        check(PetscAMBInitializePackageVersion(major, minor, subminor))


def finalize_package():
    """End petsc-amb before PETSc ends, and print the table of `-petscamb_view`.

    PETSc calls the function at its end, and a program has no need of it. No matrix of petsc-amb can be created afterwards.

    See Also
    --------
    PetscAMBFinalizePackage : in C
    """
    global finalized
    if not finalized:
        check(PetscAMBFinalizePackage())
    finalized = True


include "matrices.pxi"
include "formats.pxi"
include "solvers.pxi"
include "products.pxi"
include "graphs.pxi"
include "ranks.pxi"
include "batches.pxi"
