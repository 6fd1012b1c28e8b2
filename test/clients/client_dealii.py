# SPDX-License-Identifier: BSD-2-Clause
"""deal.II's tutorials that use PETSc: elasticity (step-17, step-18) and an adaptive Laplace problem (step-40). They make AIJ matrices by themselves."""
import glob
import os
import re
import subprocess

from client import MULTIARCH, Case, Skip

PACKAGES = ["libdeal.ii-dev", "libdeal.ii-doc", "libslepc-real3.18-dev", "g++"]
LIBRARY = "/usr/lib/%s/libdeal.ii.so" % MULTIARCH
EXAMPLES = "/usr/share/doc/libdeal.ii-doc/examples"
VIEW = "-ksp_view -ksp_converged_reason"
TIMES = (r"\d+(\.\d+)?s", r"^[+|]")  # tables of times

# name, options
PROBLEMS = [
    ("step-17", VIEW),
    ("step-18", "-ksp_converged_reason"),
    ("step-40", VIEW),
]


def version(context):
    if not os.path.exists(LIBRARY):
        raise Skip("libdeal.ii.so is not installed")
    context.same_petsc(LIBRARY, "deal.II")
    return "deal.II " + os.path.realpath(LIBRARY).split(".so.")[-1]


def compiler(context):
    """The words of the compiler, and of the libraries with which libdeal.ii.so was linked: the linker asks for Trilinos by the names it has on this system."""
    petsc = os.path.join(context.conf["AMB_PETSC_DIR"], context.conf["AMB_PETSC_ARCH"])
    slepc = sorted(glob.glob("/usr/lib/slepcdir/slepc*/%s-real/include" % MULTIARCH))
    if not slepc:
        raise Skip("SLEPc's headers are not installed")
    linked = subprocess.run(["ldd", LIBRARY], capture_output=True, text=True).stdout
    trilinos = sorted(set(re.findall(r"\blibtrilinos_[\w-]+\.so", linked)))
    flags = ["mpicxx", "-std=c++17", "-O2", "-w", "-DNDEBUG", "-I/usr/include/deal.II", "-isystem", "/usr/include/trilinos", "-isystem", "/usr/include/suitesparse",
             "-I" + os.path.join(petsc, "include"), "-I" + os.path.join(context.conf["AMB_PETSC_DIR"], "include"), "-I" + slepc[-1]]
    name = re.sub(r"\.so.*", "", os.path.basename(context.petsc()))[3:]
    return flags, ["-l:" + one for one in trilinos] + ["-ldeal.ii", "-L" + os.path.join(petsc, "lib"), "-l" + name, "-ltbb", "-lp4est", "-lsc"]


def cases(context, wanted):
    flags, libraries = compiler(context)
    for name, options in PROBLEMS:
        if not wanted(name):
            continue
        source = os.path.join(EXAMPLES, name, name + ".cc")
        program = context.compile("dealii-" + name, source, flags + [source] + libraries)
        yield Case(name, [program], options, drop=TIMES, timed=("", []), timeout=1200)
