# SPDX-License-Identifier: BSD-2-Clause
"""SLEPc's own tutorials: eigenvalues, singular values, polynomial and nonlinear eigenproblems, functions of matrices."""
import glob
import os
import subprocess

from client import MULTIARCH, Case, Skip

PACKAGES = ["slepc-dev", "libslepc3.18-dev-examples"]
GAMG = "-st_ksp_type cg -st_ksp_rtol 1e-10 -st_pc_type gamg "

# name, program, options, option of the type, options of the timed run
PROBLEMS = [
    ("laplace-2d", "eps/tutorials/ex2", "-n 40 -eps_nev 4 -eps_ncv 20", "-mat_type", "-n 220 -eps_nev 4 -eps_ncv 20 -eps_tol 1e-6"),
    ("markov", "eps/tutorials/ex5", "-m 30 -eps_largest_real -eps_nev 4 -eps_two_sided", "-mat_type", None),
    ("shift-invert-gamg", "eps/tutorials/ex13", "-n 30 -eps_nev 3 -eps_tol 1e-7 -eps_target 0 -st_type sinvert " + GAMG, "-mat_type", None),
    # three different sides: in a cube eigenvalues coincide, and iterations depend on rounding
    ("laplace-3d-gamg", "eps/tutorials/ex19", "-da_grid_x 9 -da_grid_y 12 -da_grid_z 16 -eps_nev 3 -eps_smallest_real -eps_type lobpcg -eps_tol 1e-7 -st_pc_type gamg", "-dm_mat_type",
     "-da_grid_x 28 -da_grid_y 28 -da_grid_z 28 -eps_nev 4 -eps_smallest_real -eps_type lobpcg -eps_tol 1e-5 -st_pc_type gamg"),
    ("singular-values", "svd/tutorials/ex8", "-n 60", "-mat_type", None),
    ("quadratic", "pep/tutorials/ex16", "-n 12 -pep_nev 4 -pep_ncv 21", "-mat_type", None),
    ("delay", "nep/tutorials/ex22", "-n 64 -nep_type slp", "-mat_type", None),
    ("exponential", "mfn/tutorials/ex23", "-m 30 -mfn_ncv 12", "-mat_type", "-m 500 -mfn_ncv 12"),
]
# the matrix of PETSc's ex56, which SLEPc's ex4 reads from a file
ELASTICITY = "-eps_hermitian -eps_smallest_real -eps_type lobpcg -eps_nev 6 -eps_tol 1e-5 -eps_max_it 400 -st_pc_type gamg"
VIEWS = {solver: "-%s_view -%s_converged_reason -%s_error_relative -%s_view_values" % ((solver,) * 4) for solver in ("eps", "svd", "pep", "nep")}
VIEWS["mfn"] = "-mfn_view -mfn_converged_reason -mfn_view_solution"


def folder(context):
    for place in (os.environ.get("SLEPC_DIR"), "/usr/lib/slepcdir/slepc3.18/%s-real" % MULTIARCH):
        if place and os.path.isdir(os.path.join(place, "include")):
            return place
    raise Skip("SLEPc is not installed")


def examples(place):
    for base in [os.path.join(place, "src")] + sorted(glob.glob("/usr/share/slepc/*/share/slepc/examples/src")):
        if os.path.isdir(base):
            return base
    raise Skip("SLEPc's examples are not installed")


def library(place, context):
    for name in sorted(glob.glob(os.path.join(place, "lib", "libslepc*.so"))):
        return name
    raise Skip("no libslepc*.so in %s" % place)


def version(context):
    path = library(folder(context), context)
    context.same_petsc(path, "SLEPc")
    return "SLEPc " + os.path.realpath(path).split(".so.")[-1]


def elasticity(context, size):
    """A file with the matrix of PETSc's ex56, for size^3 elements."""
    if not context.conf["AMB_EXAMPLES_SRC"]:
        raise Skip("PETSc's examples are not installed")
    program = context.compile_c("slepc-petsc-ex56", os.path.join(context.conf["AMB_EXAMPLES_SRC"], "src/ksp/ksp/tutorials/ex56.c"))
    path = os.path.join(context.folder, "elasticity-%d.bin" % size)
    if not os.path.exists(path):
        subprocess.run([program, "-ne", str(size), "-ksp_max_it", "1", "-pc_type", "none", "-ksp_view_mat", "binary:" + path + ".new"], check=True, capture_output=True, stdin=subprocess.DEVNULL)
        os.rename(path + ".new", path)
    return path


def cases(context, wanted):
    place = folder(context)
    path = library(place, context)
    links = ["-L" + os.path.dirname(path), "-Wl,-rpath," + os.path.dirname(path), "-l" + os.path.basename(path)[3:-3]]
    for name, program, options, option, timed in PROBLEMS:
        if not wanted(name):
            continue
        kind = program.split("/")[0]
        binary = context.compile_c("slepc-%s-%s" % (kind, os.path.basename(program)), os.path.join(examples(place), program + ".c"), [os.path.join(place, "include")], links)
        # errors of eigenpairs are what the tolerances, up to 1e-7, leave
        yield Case(name, [binary], "%s %s" % (options, VIEWS[kind]), option, timed=timed and (timed, []), floor=1e-6)
    if wanted("elasticity-lobpcg"):
        binary = context.compile_c("slepc-eps-ex4", os.path.join(examples(place), "eps/tutorials/ex4.c"), [os.path.join(place, "include")], links)
        options = ELASTICITY + " -matload_block_size 3 -file "
        yield Case("elasticity-lobpcg", [binary], options + elasticity(context, 7) + " " + VIEWS["eps"], "-mat_type", timed=(options + elasticity(context, 15), []), floor=1e-5)
