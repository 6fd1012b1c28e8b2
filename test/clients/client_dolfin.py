# SPDX-License-Identifier: BSD-2-Clause
"""dolfin's own demos: elasticity with GAMG, Stokes as a nest of blocks, Stokes with BoomerAMG, hyperelasticity. dolfin makes AIJ matrices by itself."""
import os

from client import MULTIARCH, PYTHON, Case, Skip, packaged_version

PACKAGES = ["python3-dolfin", "python3-petsc4py-real", "python3-matplotlib", "dolfin-doc"]
DEMOS = "/usr/share/dolfin/demo-python"
VIEW = "-ksp_view -ksp_converged_reason"
WARM = True  # the first run compiles the forms
TALK = (r"^Calling FFC", r"^\*\*\*")

# name, demo, options, files beside the demo
PROBLEMS = [
    ("elasticity", "undocumented/elasticity/demo_elasticity.py", VIEW, {"pulley.xdmf": "undocumented/pulley.xdmf"}),
    ("stokes-nest", "undocumented/matnest/demo_matnest.py", VIEW, {}),
    ("stokes-mini", "documented/stokes-mini/demo_stokes-mini.py", VIEW, {"dolfin_fine.xml.gz": "documented/dolfin_fine.xml.gz",
                                                                       "dolfin_fine_subdomains.xml.gz": "documented/dolfin_fine_subdomains.xml.gz"}),
]


def version(context):
    if not os.path.isdir(DEMOS):
        raise Skip("dolfin's demos are not installed")
    context.same_petsc("/usr/lib/%s/libdolfin.so" % MULTIARCH, "dolfin")
    return "dolfin " + (packaged_version("python3-dolfin") or "of unknown version")


def cases(context, wanted):
    # with several threads SCOTCH parts the mesh in another way each time
    cache = os.path.join(context.folder, "cache")
    for name, demo, options, files in PROBLEMS:
        if wanted(name):
            yield Case(name, [PYTHON, os.path.join(DEMOS, demo)], options, None, files={there: os.path.join(DEMOS, path) for there, path in files.items()}, folder="run", drop=TALK,
                       env="SCOTCH_PTHREAD_NUMBER=1 DIJITSO_CACHE_DIR=%s INSTANT_CACHE_DIR=%s XDG_CACHE_HOME=%s MPLBACKEND=Agg" % (cache, cache, cache), timed=("", []))
