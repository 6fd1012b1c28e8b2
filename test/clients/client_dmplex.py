# SPDX-License-Identifier: BSD-2-Clause
"""PETSc's own examples of finite elements on DMPlex, and its elasticity examples with GAMG."""
import os

from client import Case, Skip

PACKAGES = []  # configure.py installs PETSc with its examples
VIEW = " -snes_monitor -snes_converged_reason -ksp_converged_reason -ksp_view"
SQUARES = "-dm_plex_simplex 0 -dm_plex_box_faces 2,2 -petscpartitioner_type simple "
HEXAHEDRA = "-dm_plex_dim 3 -dm_plex_simplex 0 -dm_plex_box_faces 2,2,2 -petscpartitioner_type simple "
GAMG = "-ksp_type cg -pc_type gamg -ksp_rtol 1e-8 "
STOKES = ("-ksp_type fgmres -ksp_rtol 1e-8 -pc_type fieldsplit -pc_fieldsplit_type schur -pc_fieldsplit_schur_factorization_type full "
          "-fieldsplit_velocity_ksp_type cg -fieldsplit_velocity_pc_type gamg -fieldsplit_velocity_ksp_rtol 1e-9 -fieldsplit_pressure_pc_type jacobi ")

# name, program, options, option of the type, options of the timed run
PROBLEMS = [
    ("poisson-gamg", "snes/tutorials/ex13", HEXAHEDRA + GAMG + "-dm_refine 2 -potential_petscspace_degree 1", "-dm_mat_type",
     HEXAHEDRA + GAMG + "-dm_refine 4 -potential_petscspace_degree 1"),
    ("poisson-gmg", "snes/tutorials/ex13", SQUARES + "-dm_refine_hierarchy 4 -potential_petscspace_degree 2 "
     "-ksp_type cg -ksp_rtol 1e-10 -pc_type mg -mg_levels_pc_type jacobi", "-dm_mat_type", None),
    ("poisson-variable", "snes/tutorials/ex12", "-run_type full " + SQUARES + "-dm_refine 3 -bc_type dirichlet -variable_coefficient field -mat_petscspace_degree 1 -petscspace_degree 2 "
     "-ksp_type gmres -pc_type gamg -ksp_rtol 1e-8", "-dm_mat_type", None),
    ("elasticity-q1", "snes/tutorials/ex17", HEXAHEDRA + GAMG + "-sol_type elas_trig -dm_refine 1 -displacement_petscspace_degree 1", "-dm_mat_type", None),
    ("elasticity-q2", "snes/tutorials/ex17", HEXAHEDRA + GAMG + "-sol_type elas_trig -dm_refine 1 -displacement_petscspace_degree 2", "-dm_mat_type",
     HEXAHEDRA + GAMG + "-sol_type elas_trig -dm_refine 2 -displacement_petscspace_degree 2"),
    ("elasticity-blocks", "snes/tutorials/ex56", "-cells 4,4,2 -max_conv_its 2 -petscspace_degree 2 -ksp_max_it 100 -ksp_type cg -ksp_rtol 1e-8 -pc_type gamg "
     "-pc_gamg_coarse_eq_limit 30 -pc_gamg_threshold 0.001 -use_mat_nearnullspace true -mg_levels_pc_type jacobi -petscpartitioner_type simple", "-ex56_dm_mat_type", None),
    ("stokes", "snes/tutorials/ex62", STOKES + "-sol quadratic " + SQUARES + "-dm_refine 2 -vel_petscspace_degree 2 -pres_petscspace_degree 1", "-dm_mat_type",
     STOKES + "-sol quadratic " + SQUARES + "-dm_refine 5 -vel_petscspace_degree 2 -pres_petscspace_degree 1"),
    ("stokes-viscosity", "snes/tutorials/ex69", STOKES + SQUARES + "-dm_plex_separate_marker -dm_refine 2 -vel_petscspace_degree 2 -pres_petscspace_degree 1",
     "-dm_mat_type", None),
    ("hyperelasticity", "snes/tutorials/ex77", "-run_type full " + HEXAHEDRA + "-def_petscspace_degree 2 -pres_petscspace_degree 1 -elastMat_petscspace_degree 0 "
     "-wall_pres_petscspace_degree 0 -bc_fixed 1 -bc_pressure 2 -wall_pressure 0.4 -snes_rtol 1e-5 -ksp_type fgmres -ksp_rtol 1e-8 -pc_type fieldsplit "
     "-pc_fieldsplit_type schur -pc_fieldsplit_schur_factorization_type upper -fieldsplit_deformation_ksp_rtol 1e-8 -fieldsplit_deformation_pc_type gamg "
     "-fieldsplit_pressure_ksp_rtol 1e-4 -fieldsplit_pressure_pc_type jacobi", None, None),
    ("elasticity-ksp", "ksp/ksp/tutorials/ex56", GAMG + "-ne 11 -alpha 1e-3", "-mat_type", GAMG + "-ne 29 -alpha 1e-3"),
]


def source(context, program):
    return os.path.join(context.conf["AMB_EXAMPLES_SRC"], "src", program + ".c")


def version(context):
    if not context.conf["AMB_EXAMPLES_SRC"]:
        raise Skip("PETSc's examples are not installed")
    return "PETSc %s" % context.conf["AMB_PETSC_VERSION"]


def cases(context, wanted):
    for name, program, options, option, timed in PROBLEMS:
        if not wanted(name):
            continue
        path = context.compile_c("dmplex-" + os.path.basename(program) + "-" + program.split("/")[0], source(context, program))
        # the last norms of Newton's method are what the tolerances of the linear solvers leave
        yield Case(name, [path], options + VIEW, option, timed=timed and (timed, []), floor=1e-6)
