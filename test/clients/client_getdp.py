# SPDX-License-Identifier: BSD-2-Clause
"""GetDP's own demo, a magnet with air around it, by scalar and by vector potential. GetDP makes AIJ matrices."""
import glob
import os
import shutil
import subprocess

from client import Case, Skip, packaged_version

PACKAGES = ["getdp", "gmsh"]
EXAMPLES = "/usr/share/doc/getdp/examples"
SOLVER = "-ksp_type gmres -ksp_gmres_restart 100 -pc_type ilu -pc_factor_levels 3 -ksp_rtol 1e-12"
# prints fields along a line, in the place of the files that GetDP writes
PROGRAM = 'getdp magnet -msh %s -solve Magnetostatics_%s -pos %s -v 2 "$@" && cut -d" " -f3- b_%s.txt'

# name, potential
PROBLEMS = [("scalar-potential", "phi"), ("vector-potential", "a")]


def version(context):
    program = shutil.which("getdp")
    if not program or not os.path.isdir(os.path.join(EXAMPLES, "demos")):
        raise Skip("GetDP or its demos are not installed")
    context.same_petsc(program, "GetDP")
    return "GetDP " + (packaged_version("getdp") or "of unknown version")


def mesh(context):
    """The demo's mesh, finer, by Gmsh."""
    path = os.path.join(context.folder, "magnet.msh")
    if not os.path.exists(path):
        subprocess.run(["gmsh", "-2", "-clscale", "0.25", "-format", "msh2", os.path.join(EXAMPLES, "demos", "magnet.geo"), "-o", path + ".new", "-v", "1"], check=True, stdin=subprocess.DEVNULL)
        os.rename(path + ".new", path)
    return path


def cases(context, wanted):
    files = {os.path.relpath(path, EXAMPLES): path for path in glob.glob(EXAMPLES + "/*/*.[pm][rs][oh]")}
    for name, potential in PROBLEMS:
        if not wanted(name):
            continue
        program = lambda grid: ["sh", "-c", PROGRAM % (grid, potential, potential, potential), "getdp"]
        # the fields are what the tolerance leaves of values near zero
        yield Case(name, program("magnet.msh"), SOLVER + " -ksp_view -ksp_converged_reason", None, ranks=(1,), files=files, folder="demos", floor=1e-7, mpiexec=False)
        yield Case(name + "-fine", program(mesh(context)), SOLVER, None, ranks=(1,), files=files, folder="demos", floor=1e-7, mpiexec=False, timed=(SOLVER, []))
