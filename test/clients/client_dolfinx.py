# SPDX-License-Identifier: BSD-2-Clause
"""DOLFINx's own demos: elasticity and Stokes with GAMG, Poisson, Cahn-Hilliard. DOLFINx makes AIJ matrices unless -mat_type says otherwise."""
import glob
import os

from client import PYTHON, Case, Skip, packaged_version

PACKAGES = ["python3-dolfinx-real", "python3-petsc4py-real", "dolfinx-doc"]
DEMOS = "/usr/share/dolfinx/demo-python"
VIEW = "-ksp_view -ksp_converged_reason"
WARM = True  # the first run compiles the forms
# a singular matrix: the direct solver divides by zero, with any matrix type
SINGULAR = r"^\(D\) Norm of"

# name, demo, options, drop
PROBLEMS = [
    ("elasticity", "demo_elasticity.py", VIEW, ()),
    ("stokes", "demo_stokes.py", VIEW, (SINGULAR,)),
    ("poisson", "demo_poisson.py", VIEW, ()),
]


def version(context):
    if not os.path.isdir(DEMOS):
        raise Skip("DOLFINx's demos are not installed")
    for library in glob.glob("/usr/lib/*/libdolfinx_real.so*"):
        context.same_petsc(library, "DOLFINx")
        return "DOLFINx " + (packaged_version("python3-dolfinx-real") or "of unknown version")
    raise Skip("libdolfinx_real.so is not installed")


def cases(context, wanted):
    # with several threads SCOTCH parts the mesh in another way each time
    cache = "SCOTCH_PTHREAD_NUMBER=1 XDG_CACHE_HOME=%s MPLBACKEND=Agg" % os.path.join(context.folder, "cache")
    for name, demo, options, drop in PROBLEMS:
        if wanted(name):
            yield Case(name, [PYTHON, os.path.join(DEMOS, demo)], options, None, drop=drop, env=cache, timed=("", []))
