# SPDX-License-Identifier: BSD-2-Clause
"""The performance tests of FEniCSx: Poisson's equation and elasticity on a cube. DOLFINx makes AIJ matrices."""
import os

from client import Case, Skip, packaged_version

PACKAGES = ["fenicsx-performance-tests"]
PROGRAM = "/usr/bin/dolfinx-scaling-test"
# the table of times, whose width depends on them, and dates
DROP = (r"\| *\d+ +\d+\.\d+ +\d+\.\d+$", r"Summary of timings", r"^-+$", r"^\d{4}-\d\d-\d\d")

# name, problem, options
PROBLEMS = [
    ("poisson", "poisson", "-ksp_type cg -pc_type gamg -ksp_rtol 1e-8"),
    ("elasticity", "elasticity", "-ksp_type cg -pc_type gamg -ksp_rtol 1e-8 -mg_levels_pc_type jacobi"),
]


def version(context):
    if not os.path.exists(PROGRAM):
        raise Skip("FEniCSx's performance tests are not installed")
    context.same_petsc(PROGRAM, "DOLFINx")
    return "FEniCSx performance tests " + (packaged_version("fenicsx-performance-tests") or "of unknown version")


def cases(context, wanted):
    # with several threads SCOTCH parts the mesh in another way each time
    for name, problem, options in PROBLEMS:
        if wanted(name):
            command = [PROGRAM, "--problem_type", problem, "--scaling_type", "strong", "--ndofs"]
            yield Case(name, command + ["20000"], options + " -ksp_view -ksp_converged_reason", None, drop=DROP, env="SCOTCH_PTHREAD_NUMBER=1")
            yield Case(name + "-large", command + ["200000"], options, None, drop=DROP, env="SCOTCH_PTHREAD_NUMBER=1", timed=(options, []))
