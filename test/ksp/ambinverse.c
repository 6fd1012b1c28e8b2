/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "The preconditioner ambinverse: solutions, transposed ones, new values, blocks of several processes, the coarsest level of multigrid.\n";

#include "../testutil.h"
#include <petscksp.h>
#include <petscamb.h>

static PetscScalar ValueLaplacian(PetscInt i, PetscInt j)
{
  return i == j ? 4.05 : -1.0;
}

static const TestShape convection = {"convection", 400, 400, TestRowGrid, TestValueConvection, PETSC_FALSE};
static const TestShape large      = {"large", 8281, 8281, TestRowGrid, TestValueConvection, PETSC_FALSE};
static const TestShape laplacian  = {"laplacian", 2500, 2500, TestRowGrid, ValueLaplacian, PETSC_FALSE};

/* Is y = scale x? */
static PetscErrorCode Near(TestDiff *d, Vec y, PetscReal scale, Vec x, const char what[])
{
  PetscReal norm, err;

  PetscFunctionBeginUser;
  PetscCall(VecNorm(x, NORM_2, &norm));
  PetscCall(VecAXPY(y, -scale, x));
  PetscCall(VecNorm(y, NORM_2, &err));
  TestExpect(d, what, (PetscBool)(err <= 1e5 * PETSC_MACHINE_EPSILON * norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The block of this process, as a matrix of its own */
static PetscErrorCode Apply(TestDiff *d)
{
  Mat A, B;
  Vec x, y, b;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&convection, NULL, &A));
  PetscCall(MatGetDiagonalBlock(A, &B));
  PetscCall(MatCreateVecs(B, &x, &b));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(TestVecSet(x, 3));
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetOperators(pc, B, B));
  PetscCall(PCSetType(pc, PCAMBINVERSE));
  PetscCall(PCSetUp(pc));
  PetscCall(MatMult(B, x, b));
  PetscCall(PCApply(pc, b, y));
  PetscCall(Near(d, y, 1, x, "the inverse gives another solution"));
  PetscCall(MatMultTranspose(B, x, b));
  PetscCall(PCApplyTranspose(pc, b, y));
  PetscCall(Near(d, y, 1, x, "the transposed inverse gives another solution"));
  PetscCall(MatMult(B, x, b));
  PetscCall(MatScale(B, 4.0));
  PetscCall(PCSetUp(pc));
  PetscCall(PCApply(pc, b, y));
  PetscCall(Near(d, y, 0.25, x, "another solution with new values"));
  PetscCall(TestDestroy(&pc, &x, &y, &b, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Iterations(const TestShape *shape, const char options[], PetscInt *its)
{
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(TestSolve(shape, options, 1e-6, 100, &reason, its));
  PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "%s: no convergence", options);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In place of LU */
static PetscErrorCode InPlaceOfLU(TestDiff *d)
{
  PetscInt own, petsc;

  PetscFunctionBeginUser;
  PetscCall(Iterations(&convection, "-ksp_type gmres -pc_type bjacobi -sub_pc_type lu", &petsc));
  PetscCall(Iterations(&convection, "-ksp_type gmres -pc_type bjacobi -sub_pc_type ambinverse", &own));
  TestExpect(d, "blocks: another number of iterations than with lu", (PetscBool)(own == petsc));
  PetscCall(Iterations(&laplacian, "-ksp_type cg -pc_type gamg", &petsc));
  PetscCall(Iterations(&laplacian, "-ksp_type cg -pc_type gamg -mg_coarse_sub_pc_type ambinverse", &own));
  TestExpect(d, "multigrid: another number of iterations than with lu", (PetscBool)(own == petsc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Errors(TestDiff *d)
{
  PetscMPIInt nproc;
  Mat         A;
  PC          pc;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &nproc));
  PetscCall(TestShapeCreate(nproc > 1 ? &convection : &large, NULL, &A));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetType(pc, PCAMBINVERSE));
  if (nproc > 1) TestExpectError(d, PETSC_ERR_SUP, "use it for the blocks of PCBJACOBI", PCSetUp(pc));
  else TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "use PCLU", PCSetUp(pc));
  PetscCall(TestDestroy(&pc, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const TestCase tests[] = {
  {"apply",          Apply      },
  {"in place of lu", InPlaceOfLU},
  {"errors",         Errors     },
  {NULL,             NULL       }
};

int main(int argc, char **argv)
{
  return TestMain(argc, argv, help, tests);
}

/*TEST

  test:
    nsize: {{1 3}}
    args: -mat_type {{aij @types-ccoo-tilecomposite}} -mat_shadow_tune off -options_left no
    checks: 3

TEST*/
