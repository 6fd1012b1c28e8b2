# SPDX-License-Identifier: BSD-2-Clause
"""Builds the extension of petscamb against petsc4py, PETSc and the headers of petsc-amb.

PETSC_DIR and PETSC_ARCH choose the PETSc; by default petsc4py's own. The headers come from the source tree, else from pkg-config.
The extension links neither PETSc nor petsc-amb: petscamb.init() loads the library before it.
"""
import os
import re
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = os.path.dirname(os.path.abspath(__file__))
FIND = "import petsc4py; print(petsc4py.__file__); print(petsc4py.get_config()['PETSC_DIR']); print(petsc4py.get_config()['PETSC_ARCH'])"


def petsc4py_of(folder=None, python=sys.executable):
    """The folder of a petsc4py, and the PETSc that it belongs to."""
    env = dict(os.environ, **({"PYTHONPATH": folder} if folder else {}))
    try:
        found = subprocess.run([python, "-c", FIND], env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True, check=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        return None
    arch = os.environ.get("PETSC_ARCH", "") if "PETSC_DIR" in os.environ else found[2].split(os.pathsep)[0]
    return os.path.dirname(found[0]), os.path.join(os.environ.get("PETSC_DIR", found[1]), arch)


def find_petsc4py():
    """petsc4py where PETSC_DIR names a PETSc, else the interpreter's, else, in the isolation of pip, that of the interpreter below."""
    home = os.path.join(os.environ.get("PETSC_DIR", ""), os.environ.get("PETSC_ARCH", ""))
    folders = [os.path.join(home, "lib/python3/dist-packages"), os.path.join(home, "lib")] if "PETSC_DIR" in os.environ else []
    base = getattr(sys, "_base_executable", None) or sys.executable
    for folder, python in [(folder, sys.executable) for folder in folders if os.path.isdir(os.path.join(folder, "petsc4py"))] + [(None, sys.executable), (None, base)]:
        found = petsc4py_of(folder, python)
        if found:
            return found
    sys.exit("petscamb needs the petsc4py of the PETSc that petsc-amb was built for, and %s has none; on Debian: apt-get install python3-petsc4py, and /usr/bin/python3" % base)


def variables(petsc):
    """PETSc's compiler, and its folders of headers."""
    with open(os.path.join(petsc, "lib", "petsc", "conf", "petscvariables")) as file:
        return dict(re.findall(r"^(\w+) *= *(.*)$", file.read(), re.M))


def headers():
    """The folder of petscamb.h."""
    tree = os.path.join(HERE, "..", "..", "..", "include")
    if os.path.exists(os.path.join(tree, "petscamb.h")):
        return [tree]
    try:
        flags = subprocess.run(["pkg-config", "--cflags-only-I", "petscamb"], stdout=subprocess.PIPE, universal_newlines=True, check=True).stdout.split()
    except (OSError, subprocess.CalledProcessError):
        sys.exit("petscamb.h was not found: install petsc-amb (make install) and let PKG_CONFIG_PATH name the folder of petscamb.pc")
    return [flag[2:] for flag in flags]


class Build(build_ext):
    """Finds everything and runs Cython only where an extension is built, in the build folder: pip reads the metadata without them."""

    def finalize_options(self):
        from Cython.Build import cythonize

        package, petsc = find_petsc4py()
        conf = variables(petsc)
        os.environ.update(CC=conf["CC"], LDSHARED=conf["CC"] + " -shared")
        source = self.distribution.ext_modules[0]
        source.include_dirs = headers() + [os.path.join(package, "include")] + [flag[2:] for flag in conf.get("PETSC_CC_INCLUDES", "").split() if flag.startswith("-I")]
        folder = os.path.join(self.get_finalized_command("build").build_temp, "cython")
        self.distribution.ext_modules = cythonize([source], include_path=[os.path.dirname(package), "cython"], build_dir=folder, quiet=True)
        super().finalize_options()


os.chdir(HERE)
# the functions only convert arguments; the C compiler compares each call with the header
flags = ["-O1", "-g0", "-Werror=incompatible-pointer-types", "-Werror=int-conversion"]
parts = ["cython/%s.pxi" % name for name in ("prototypes", "matrices", "formats", "solvers", "products", "graphs", "ranks", "batches")]
setup(ext_modules=[Extension("petscamb._amb", ["cython/_amb.pyx"], depends=parts, extra_compile_args=flags)], cmdclass={"build_ext": Build})
