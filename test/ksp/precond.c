/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "Solvers and preconditioners take the same number of iterations to the same solution as with MATAIJ.\n\
  -group NAME : which table to run: solvers, base, serial, or a package that PETSc was built with\n";

#include "../testutil.h"

/* ------------------------------------------------- systems ------------------------------------------------- */

static PetscScalar ValueBlocks(PetscInt i, PetscInt j)
{
  return i == j ? 8.0 : 0.5 * TestReal(PetscMin(i, j), PetscMax(i, j));
}

static PetscInt RowAggregate(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  cols[0] = i * N / M;
  return 1;
}

static PetscScalar ValueOne(PetscInt i, PetscInt j)
{
  return 1.0;
}

static const TestShape symmetric     = {"symmetric", 900, 900, TestRowGrid, TestValueSymmetric, PETSC_FALSE};
static const TestShape convection    = {"convection", 900, 900, TestRowGrid, TestValueConvection, PETSC_FALSE};
static const TestShape blocks        = {"blocks", 324, 324, TestRowBlocks, ValueBlocks, PETSC_FALSE};
static const TestShape interpolation = {"interpolation", 900, 225, RowAggregate, ValueOne, PETSC_FALSE};

/* ------------------------------------------------- tables ------------------------------------------------- */

typedef struct {
  const char      *name;
  const TestShape *shape;
  const char      *options;
} Solve;

/* Not PTScotch, which hangs here in builds with 64-bit indices */
#define PARTITION " -mat_partitioning_type average -ref_mat_partitioning_type average"

static const Solve solvers[] = {
  {"cg",                   &symmetric,  "-ksp_type cg -pc_type jacobi"                      },
  {"pipecg",               &symmetric,  "-ksp_type pipecg -pc_type jacobi"                  },
  {"minres",               &symmetric,  "-ksp_type minres -pc_type jacobi"                  },
  {"chebyshev",            &symmetric,  "-ksp_type chebyshev -pc_type jacobi"               },
  {"richardson",           &blocks,     "-ksp_type richardson -pc_type sor"                 },
  {"gmres",                &convection, "-ksp_type gmres -pc_type jacobi"                   },
  {"gmres from the right", &convection, "-ksp_type gmres -ksp_pc_side right -pc_type jacobi"},
  {"fgmres",               &convection, "-ksp_type fgmres -pc_type jacobi"                  },
  {"bcgs",                 &convection, "-ksp_type bcgs -pc_type jacobi"                    },
  {"bcgsl",                &convection, "-ksp_type bcgsl -pc_type jacobi"                   },
  {"tfqmr",                &convection, "-ksp_type tfqmr -pc_type jacobi"                   },
  {"gcr",                  &convection, "-ksp_type gcr -pc_type jacobi"                     },
  {"cgne, transposed too", &blocks,     "-ksp_type cgne -pc_type jacobi"                    },
  {"lsqr, transposed too", &blocks,     "-ksp_type lsqr -pc_type none"                      },
  {"bicg, transposed too", &blocks,     "-ksp_type bicg -pc_type jacobi"                    },
  {NULL,                   NULL,        NULL                                                }
};

/* PETSc's own preconditioners for any number of ranks */
static const Solve base[] = {
  {"none",                      &symmetric,  "-ksp_type cg -pc_type none"                                                      },
  {"jacobi",                    &symmetric,  "-ksp_type cg -pc_type jacobi"                                                    },
  {"sor",                       &symmetric,  "-ksp_type cg -pc_type sor"                                                       },
  {"bjacobi and ilu",           &convection, "-ksp_type bcgs -pc_type bjacobi -sub_pc_type ilu"                                },
  {"bjacobi and ilu(2)",        &convection, "-ksp_type gmres -pc_type bjacobi -sub_pc_type ilu -sub_pc_factor_levels 2"       },
  {"bjacobi and icc",           &symmetric,  "-ksp_type cg -pc_type bjacobi -sub_pc_type icc"                                  },
  {"bjacobi and lu",            &convection, "-ksp_type gmres -pc_type bjacobi -sub_pc_type lu"                                },
  {"bjacobi and cholesky",      &symmetric,  "-ksp_type cg -pc_type bjacobi -sub_pc_type cholesky"                             },
  {"bjacobi, blocks of a rank", &convection, "-ksp_type gmres -pc_type bjacobi -pc_bjacobi_local_blocks 2"                     },
  {"pbjacobi",                  &blocks,     "-ksp_type cg -pc_type pbjacobi"                                                  },
  {"asm",                       &convection, "-ksp_type gmres -pc_type asm -pc_asm_overlap 2 -sub_pc_type ilu"                 },
  {"asm, several blocks",       &convection, "-ksp_type gmres -pc_type asm -pc_asm_local_blocks 3 -sub_pc_type lu" PARTITION   },
  {"gasm",                      &convection, "-ksp_type gmres -pc_type gasm -sub_pc_type ilu"                                  },
  {"redundant lu",              &convection, "-ksp_type gmres -pc_type redundant -redundant_pc_type lu"                        },
  {"kaczmarz",                  &blocks,     "-ksp_type gmres -pc_type kaczmarz"                                               },
  {"fieldsplit",                &blocks,     "-ksp_type gmres -pc_type fieldsplit -pc_fieldsplit_type multiplicative"          },
  {"gamg",                      &symmetric,  "-ksp_type cg -pc_type gamg -pc_gamg_type agg"                                    },
  {"gamg of blocks",            &blocks,     "-ksp_type cg -pc_type gamg -pc_gamg_type agg -pc_gamg_coarse_eq_limit 30"        },
  {"gamg without smoothing",    &convection, "-ksp_type gmres -pc_type gamg -pc_gamg_type agg -pc_gamg_agg_nsmooths 0"         },
  {"gamg classical",            &convection, "-ksp_type gmres -pc_type gamg -pc_gamg_type classical"                           },
  {"gamg made again",           &symmetric,  "-ksp_type cg -pc_type gamg -pc_gamg_type agg -pc_gamg_reuse_interpolation -again"},
  {"mg of Galerkin",            &symmetric,  "-ksp_type cg -pc_type mg -pc_mg_galerkin both"                                   },
  {NULL,                        NULL,        NULL                                                                              }
};

/* PETSc's own for one rank */
static const Solve serial[] = {
  {"ilu",       &convection, "-ksp_type gmres -pc_type ilu"                                  },
  {"ilu(3)",    &convection, "-ksp_type gmres -pc_type ilu -pc_factor_levels 3"              },
  {"ilu, rcm",  &convection, "-ksp_type gmres -pc_type ilu -pc_factor_mat_ordering_type rcm" },
  {"icc",       &symmetric,  "-ksp_type cg -pc_type icc"                                     },
  {"lu",        &convection, "-ksp_type preonly -pc_type lu"                                 },
  {"lu, rcm",   &convection, "-ksp_type preonly -pc_type lu -pc_factor_mat_ordering_type rcm"},
  {"lu again",  &convection, "-ksp_type preonly -pc_type lu -pc_factor_reuse_ordering -again"},
  {"cholesky",  &symmetric,  "-ksp_type preonly -pc_type cholesky"                           },
  {"eisenstat", &symmetric,  "-ksp_type cg -pc_type eisenstat"                               },
  {"svd",       &blocks,     "-ksp_type preonly -pc_type svd"                                },
  {NULL,        NULL,        NULL                                                            }
};

static const Solve hypre[] = {
  {"hypre boomeramg", &symmetric, "-ksp_type cg -pc_type hypre -pc_hypre_type boomeramg"       },
  {"hypre of blocks", &blocks,    "-ksp_type gmres -pc_type hypre -pc_hypre_type boomeramg"    },
  {"hypre again",     &symmetric, "-ksp_type cg -pc_type hypre -pc_hypre_type boomeramg -again"},
  {NULL,              NULL,       NULL                                                         }
};

/* What hypre has for the host alone */
static const Solve hypre_host[] = {
  {"hypre euclid",    &convection, "-ksp_type gmres -pc_type hypre -pc_hypre_type euclid"   },
  {"hypre parasails", &convection, "-ksp_type gmres -pc_type hypre -pc_hypre_type parasails"},
  {NULL,              NULL,        NULL                                                     }
};

static const Solve ml[] = {
  {"ml",           &symmetric, "-ksp_type cg -pc_type ml"   },
  {"ml of blocks", &blocks,    "-ksp_type gmres -pc_type ml"},
  {NULL,           NULL,       NULL                         }
};

static const Solve mumps[] = {
  {"mumps lu",       &convection, "-ksp_type preonly -pc_type lu -pc_factor_mat_solver_type mumps"       },
  {"mumps lu again", &convection, "-ksp_type preonly -pc_type lu -pc_factor_mat_solver_type mumps -again"},
  {"mumps cholesky", &symmetric,  "-ksp_type preonly -pc_type cholesky -pc_factor_mat_solver_type mumps" },
  {NULL,             NULL,        NULL                                                                   }
};

static const Solve superlu_dist[] = {
  {"superlu_dist",       &convection, "-ksp_type preonly -pc_type lu -pc_factor_mat_solver_type superlu_dist"       },
  {"superlu_dist again", &convection, "-ksp_type preonly -pc_type lu -pc_factor_mat_solver_type superlu_dist -again"},
  {NULL,                 NULL,        NULL                                                                          }
};

static const Solve superlu[] = {
  {"superlu", &convection, "-ksp_type gmres -pc_type bjacobi -sub_pc_type lu -sub_pc_factor_mat_solver_type superlu"},
  {NULL,      NULL,        NULL                                                                                     }
};

static const Solve suitesparse[] = {
  {"umfpack", &convection, "-ksp_type gmres -pc_type bjacobi -sub_pc_type lu -sub_pc_factor_mat_solver_type umfpack"   },
  {"klu",     &convection, "-ksp_type gmres -pc_type bjacobi -sub_pc_type lu -sub_pc_factor_mat_solver_type klu"       },
  {"cholmod", &symmetric,  "-ksp_type cg -pc_type bjacobi -sub_pc_type cholesky -sub_pc_factor_mat_solver_type cholmod"},
  {NULL,      NULL,        NULL                                                                                        }
};

static const struct {
  const char  *name;
  const Solve *solves;
} groups[] = {
  {"solvers",      solvers     },
  {"base",         base        },
  {"serial",       serial      },
  {"hypre",        hypre       },
  {"hypre_host",   hypre_host  },
  {"ml",           ml          },
  {"mumps",        mumps       },
  {"superlu_dist", superlu_dist},
  {"superlu",      superlu     },
  {"suitesparse",  suitesparse }
};

/* ------------------------------------------------- solving ------------------------------------------------- */

typedef struct {
  PetscInt           iterations[2];
  KSPConvergedReason reason[2];
  Vec                x;
} Outcome;

/* Two levels with a given interpolation, for -pc_type mg */
static PetscErrorCode SetLevels(PC pc, const char prefix[])
{
  PetscBool ismg;
  Mat       P;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCMG, &ismg));
  if (!ismg) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TestShapeCreate(&interpolation, prefix, &P));
  PetscCall(PCMGSetLevels(pc, 2, NULL));
  PetscCall(PCMGSetInterpolation(pc, 1, P));
  PetscCall(PCMGSetGalerkin(pc, PC_MG_GALERKIN_BOTH));
  PetscCall(MatDestroy(&P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves with the options of the default database; with -again a second time after a change of the matrix */
static PetscErrorCode RunKSP(const Solve *solve, const char prefix[], Outcome *out)
{
  PetscBool again = PETSC_FALSE;
  KSP       ksp;
  PC        pc;
  Vec       b;
  Mat       A;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(solve->shape, prefix, &A));
  PetscCall(MatShadowSetSOR(A, MAT_SHADOW_SOR_NATURAL)); /* as PETSc sweeps, on a GPU too */
  if (solve->shape == &blocks) PetscCall(MatSetBlockSize(A, 3));
  if (solve->shape == &symmetric) {
    PetscCall(MatSetOption(A, MAT_SPD, PETSC_TRUE));
    PetscCall(MatSetOption(A, MAT_HERMITIAN, PETSC_TRUE)); /* for complex scalars, whose values are real here */
  }
  PetscCall(MatCreateVecs(A, &out->x, &b));
  PetscCall(TestVecSet(b, 3));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetTolerances(ksp, 1e-9, 1e-50, 1e5, 2000));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(SetLevels(pc, prefix));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-again", &again, NULL));
  for (PetscInt k = 0; k < 2; k++) {
    if (k && again) {
      PetscCall(MatScale(A, 2.0));
      PetscCall(MatShift(A, 0.125));
      PetscCall(KSPSetOperators(ksp, A, A));
    }
    PetscCall(KSPSolve(ksp, b, out->x));
    PetscCall(KSPGetIterationNumber(ksp, &out->iterations[k]));
    PetscCall(KSPGetConvergedReason(ksp, &out->reason[k]));
  }
  PetscCall(TestDestroy(&ksp, &b, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(TestDiff *d, const Solve *solve, Outcome *a, Outcome *r)
{
  PetscReal norm, err;
  PetscBool other;

  PetscFunctionBeginUser;
  /* On a GPU hypre smooths and coarsens in other ways, by default */
  PetscCall(PetscObjectTypeCompareAny((PetscObject)a->x, &other, VECSEQCUDA, VECMPICUDA, ""));
  if (!strstr(solve->options, "-pc_type hypre")) other = PETSC_FALSE;
  for (PetscInt k = 0; k < 2; k++) {
    TestExpect(d, "MATAIJ does not converge", (PetscBool)(r->reason[k] > 0));
    TestExpect(d, "other reason to stop than with MATAIJ", (PetscBool)(a->reason[k] == r->reason[k]));
    TestExpect(d, "other number of iterations than with MATAIJ", (PetscBool)(other || a->iterations[k] == r->iterations[k]));
  }
  PetscCall(VecNorm(r->x, NORM_2, &norm));
  PetscCall(VecAXPY(a->x, -1.0, r->x));
  PetscCall(VecNorm(a->x, NORM_2, &err));
  TestExpect(d, "other solution than with MATAIJ", (PetscBool)(err < 1e-7 * norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The options of the command line and those of the table, in a database of its own */
static PetscErrorCode RunSolve(TestDiff *d, const Solve *solve)
{
  char        *all;
  PetscOptions options;
  Outcome      a, r;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetAll(NULL, &all));
  PetscCall(PetscOptionsCreate(&options));
  PetscCall(PetscOptionsInsertString(options, all));
  PetscCall(PetscOptionsInsertString(options, solve->options));
  PetscCall(PetscOptionsPush(options));
  PetscCall(RunKSP(solve, "ref_", &r));
  PetscCall(RunKSP(solve, NULL, &a));
  PetscCall(PetscOptionsPop());
  PetscCall(PetscOptionsDestroy(&options));
  PetscCall(PetscFree(all));
  PetscCall(Compare(d, solve, &a, &r));
  PetscCall(TestDestroy(&a.x, &r.x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char      group[64] = "base", only[64] = "";
  PetscBool same;

  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-group", group, sizeof(group), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-test_only", only, sizeof(only), NULL));
  for (size_t g = 0; g < PETSC_STATIC_ARRAY_LENGTH(groups); g++) {
    PetscCall(PetscStrcmp(group, groups[g].name, &same));
    if (!same) continue;
    for (const Solve *s = groups[g].solves; s->name; s++) {
      TestDiff d = {NULL, 0};

      if (only[0] && strcmp(only, s->name)) continue;
      if (RunSolve(&d, s)) TestDiffAdd(&d, "PETSc raised an error, see above", PETSC_MAX_REAL);
      PetscCall(TestReport(s->name, &d));
    }
  }
  return TestFinalize();
}

/*TEST

  testset:
    nsize: {{1 2 3}}
    args: -mat_type {{aij amb}} -mat_shadow_tune off -options_left 0
    test:
      suffix: solvers
      requires: double
      args: -group solvers
      checks: 15
    test:
      suffix: base
      requires: double
      args: -group base
      checks: 22

  testset:
    nsize: {{1 2}}
    args: -mat_type {{aij amb}} -mat_shadow_tune off -options_left 0
    test:
      suffix: hypre
      requires: double !defined(PETSC_USE_64BIT_INDICES) hypre
      args: -group hypre
      checks: 3
    test:
      suffix: hypre_host
      requires: double !defined(PETSC_USE_64BIT_INDICES) hypre
      args: -group hypre_host -mat_amb_device cpu
      checks: 2
    test:
      suffix: ml
      requires: double ml
      args: -group ml
      checks: 2
    test:
      suffix: mumps
      requires: double mumps !complex
      args: -group mumps
      checks: 3
    test:
      suffix: superlu_dist
      requires: double superlu_dist
      args: -group superlu_dist
      checks: 2
    test:
      suffix: superlu
      requires: double superlu
      args: -group superlu
      checks: 1
    test:
      suffix: suitesparse
      requires: double suitesparse !complex # the diagonal block of a Hermitian matrix is not Hermitian to PETSc
      args: -group suitesparse
      checks: 3
    test:
      suffix: suitesparse_complex
      requires: double suitesparse complex
      nsize: 1
      args: -group suitesparse
      checks: 3

  test:
    suffix: serial
    requires: double
    args: -mat_type {{aij amb}} -mat_shadow_tune off -options_left 0 -group serial
    checks: 10

  test:
    suffix: tuned
    nsize: 2
    requires: double
    args: -mat_type {{@types-tilecomposite}} -mat_shadow_tune measure -options_left 0 -group base
    checks: 22

  testset:
    nsize: 2
    requires: double
    args: -mat_type aij -petscamb_for_aij amb -ref_petscamb_for_aij aij -mat_shadow_tune off -options_left 0
    test:
      suffix: for_aij
      args: -group base
      checks: 22
    test:
      suffix: for_aij_hypre
      requires: !defined(PETSC_USE_64BIT_INDICES) hypre
      args: -group hypre
      checks: 3

TEST*/
