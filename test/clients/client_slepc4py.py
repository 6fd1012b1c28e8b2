# SPDX-License-Identifier: BSD-2-Clause
"""slepc4py's own demos."""
import os

from client import PYTHON, Case, Skip, packaged_version

# /usr/lib/slepc, where Debian's slepc4py looks for itself, is a link of slepc-dev
PACKAGES = ["slepc-dev", "python3-slepc4py", "python3-slepc4py-real", "python-slepc4py-doc", "python3-numpy"]
DEMOS = "/usr/share/doc/python-slepc4py-doc/examples/demo"

# name, demo, options, option of the type, timed
PROBLEMS = [
    ("laplace-1d", "ex1.py", "-n 60 -eps_view -eps_converged_reason", "-mat_type", None),
    ("laplace-2d", "ex2.py", "-N 30 -eps_view -eps_converged_reason", "-mat_type", "-N 150 -eps_tol 1e-6"),
    ("laplace-2d-gamg", "ex2.py", "-N 30 -eps_nev 3 -eps_target 0 -st_type sinvert -st_ksp_type cg -st_ksp_rtol 1e-10 -st_pc_type gamg -eps_view -eps_converged_reason", "-mat_type", None),
    ("singular-values", "ex4.py", "-svd_view -svd_converged_reason", "-mat_type", None),
    ("quadratic", "ex5.py", "-m 16 -pep_view -pep_converged_reason", "-mat_type", None),
    ("exponential", "ex6.py", "-mfn_view", "-mat_type", None),
    ("fixes-aij", "ex7.py", "-nep_view -nep_converged_reason", None, None),
]


def version(context):
    if not os.path.isdir(DEMOS):
        raise Skip("slepc4py's demos are not installed")
    context.distribution_petsc("slepc4py")
    return "slepc4py " + (packaged_version("python3-slepc4py-real") or "of unknown version")


def cases(context, wanted):
    for name, demo, options, option, timed in PROBLEMS:
        if wanted(name):
            # errors of eigenpairs are what their tolerance leaves
            yield Case(name, [PYTHON, os.path.join(DEMOS, demo)], options, option, floor=1e-6, timed=timed and (timed, []))
