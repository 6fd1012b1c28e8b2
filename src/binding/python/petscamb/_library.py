# SPDX-License-Identifier: BSD-2-Clause
"""Where libpetscamb.so and the tool are, and how they are loaded."""
import ctypes
import ctypes.util
import importlib
import os
import subprocess
import sys


def library_path():
    """Find libpetscamb.so.

    Returns
    -------
    str
        The file that the variable PETSCAMB_LIBRARY names, else that of pkg-config, else the one that the loader finds.

    Raises
    ------
    ImportError
        There is none.
    """
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


def tool_path():
    """Find the program petscamb: beside the library, where make builds or installs it, else in PATH."""
    folder = os.path.dirname(os.path.realpath(library_path()))
    for up in ("..", os.path.join("..", "..")):
        path = os.path.join(folder, up, "bin", "petscamb")
        if os.access(path, os.X_OK):
            return os.path.normpath(path)
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        path = os.path.join(folder, "petscamb")
        if os.access(path, os.X_OK) and not os.path.isdir(path):
            return path
    raise FileNotFoundError("the program petscamb is neither beside %s nor in PATH" % library_path())


def load(args, arch, comm):
    """Initialize PETSc by petsc4py, load the library and then the extension, whose symbols are the library's."""
    try:
        import petsc4py
    except ImportError as error:
        raise ImportError("petscamb needs the petsc4py of the PETSc that petsc-amb was built for, and %s has none; on Debian: apt-get install python3-petsc4py, and /usr/bin/python3" % sys.executable) from error

    petsc4py.init(args, arch, comm)
    from petsc4py import PETSc

    path = library_path()
    library = ctypes.CDLL(path, ctypes.RTLD_GLOBAL)
    started = ctypes.c_int(0)
    library.PetscInitialized(ctypes.byref(started))
    if not started.value & 255:
        raise ImportError("%s belongs to another PETSc than petsc4py: configure petsc-amb with PETSC_DIR=%s PETSC_ARCH=%s" %
                          (path, petsc4py.get_config().get("PETSC_DIR"), petsc4py.get_config().get("PETSC_ARCH")))
    try:
        _amb = importlib.import_module("petscamb._amb")
    except ModuleNotFoundError as error:
        raise ImportError("the extension of petscamb is not built for %s: make python, or pip install src/binding/python, in the folder of petsc-amb" % sys.executable) from error
    loaded = dict({name: getattr(PETSc, name)().itemsize for name in ("IntType", "RealType", "ScalarType")}, version=PETSc.Sys.getVersion()[:2])
    if loaded != _amb.compiled:
        raise ImportError("%s was compiled for another PETSc than petsc4py: %s, not %s" % (_amb.__file__, _amb.compiled, loaded))
    _amb.initialize_package()
    return _amb
