# SPDX-License-Identifier: BSD-2-Clause
"""petsc4py's own demos. Some let -mat_type choose, some fix aij, some make matrices by a DMDA."""
import os

from client import PYTHON, Case, Skip, packaged_version

PACKAGES = ["python3-petsc4py-real", "python-petsc4py-doc", "python3-numpy"]
DEMOS = "/usr/share/doc/python-petsc4py-doc/examples/demo"
VIEW = " -ksp_view -ksp_converged_reason -plot 0"

# name, demo, options, option of the type, timed
PROBLEMS = [
    ("ksp", "petsc-examples/ksp/ex2.py", "-m 30 -n 30 -ksp_type cg -pc_type gamg -ksp_rtol 1e-8", "-mat_type", "-m 250 -n 250 -ksp_type cg -pc_type gamg -ksp_rtol 1e-8"),
    ("fixes-aij", "kspsolve/test_mat_ksp.py", "-ksp_monitor_short -ksp_view_solution", None, None),
    ("nonlinear-gamg", "bratu3d/bratu3d.py", "-n 9 -ksp_type cg -pc_type gamg -snes_monitor_short -snes_converged_reason -ksp_rtol 1e-8 -snes_rtol 1e-7", None,
     "-n 18 -ksp_type cg -pc_type gamg -ksp_rtol 1e-8 -snes_rtol 1e-7"),
    ("heat", "ode/heat.py", "-n 60 -ts_monitor -ts_type bdf -ts_max_time 1e-2 -snes_type ksponly -ksp_rtol 1e-10 -plot_history 0", "-mat_type", None),
]


def version(context):
    if not os.path.isdir(DEMOS):
        raise Skip("petsc4py's demos are not installed")
    context.distribution_petsc("petsc4py")
    return "petsc4py " + (packaged_version("python3-petsc4py-real") or "of unknown version")


def cases(context, wanted):
    for name, demo, options, option, timed in PROBLEMS:
        if wanted(name):
            folder = os.path.dirname(os.path.join(DEMOS, demo))
            files = {other: os.path.join(folder, other) for other in os.listdir(folder) if other.endswith(".py")}
            yield Case(name, [PYTHON, os.path.basename(demo)], VIEW + " " + options, option, files=files, floor=1e-8, timed=timed and ("-plot 0 " + timed, []))
