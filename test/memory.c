/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "A product of matrices for which memory is short on one process: all processes raise the same error.\n";

#include "testproduct.h"
#include "testfault.h"

static const TestShape grid   = {"grid", 144, 144, TestRowGrid, TestValueGeneral, PETSC_FALSE};
static const TestShape coarse = {"coarse", 144, 40, TestRowAggregate, TestValueGeneral, PETSC_FALSE};

/* Makes the product, or makes it again, with the failure of an allocation of the last process. Have all processes the same error code? *allocations become those that
   the last process made. */
static PetscErrorCode Fail(TestDiff *d, const TestProduct *p, const TestOperands *o, PetscBool again, int failing, int *allocations, PetscErrorCode *raised)
{
  PetscMPIInt    rank, size;
  PetscErrorCode ierr[2];
  Mat            C;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(TestProductCreate(p, o, &C));
  PetscCall(MatProductSetFromOptions(C));
  if (again) {
    PetscCall(MatProductSymbolic(C));
    PetscCall(MatProductNumeric(C));
    PetscCall(TestChangeValues(o->A, 3));
    PetscCall(TestChangeValues(o->P, 4));
  }
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  FaultBegin(FAULT_HOST, rank == size - 1 ? failing : 0);
  *raised      = again ? MatProductNumeric(C) : MatProductSymbolic(C);
  *allocations = FaultEnd(failing);
  PetscCall(PetscPopErrorHandler());
  PetscCallMPI(MPI_Bcast(allocations, 1, MPI_INT, size - 1, PETSC_COMM_WORLD));
  ierr[0] = *raised;
  ierr[1] = (PetscErrorCode) - *raised;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, ierr, 2, MPI_INT, MPI_MAX, PETSC_COMM_WORLD));
  TestExpect(d, "not all processes have the same error", (PetscBool)(ierr[0] == -ierr[1]));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each allocation fails in turn */
static PetscErrorCode Run(TestDiff *d, const TestProduct *p, PetscBool again)
{
  TestOperands   o;
  PetscErrorCode raised;
  int            allocations, unused, failures = 0;
  Mat            A, P;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&grid, NULL, &A));
  PetscCall(TestShapeCreate(&coarse, NULL, &P));
  PetscCall(TestOperandsCreate(A, P, &o));
  PetscCall(Fail(d, p, &o, again, FAULT_NONE, &allocations, &raised));
  TestExpect(d, "an error although no allocation failed", (PetscBool)(raised == 0));
  for (int k = 1; k <= allocations; k++) {
    PetscCall(Fail(d, p, &o, again, k, &unused, &raised));
    TestExpect(d, "another error than PETSC_ERR_MEM", (PetscBool)(raised == 0 || raised == PETSC_ERR_MEM));
    failures += raised != 0;
  }
  TestExpect(d, "no error although allocations failed", (PetscBool)(failures > 0 || !allocations));
  PetscCall(TestOperandsDestroy(&o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The set-up of GAMG with the aggregates of petsc-amb; each allocation of the last process fails in turn */
static PetscErrorCode Aggregates(void)
{
  TestDiff    d           = {NULL, 0};
  int         allocations = 0, failures = 0;
  PetscMPIInt rank, size;
  Mat         A;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(TestShapeCreate(&grid, NULL, &A));
  for (int k = 0; k <= allocations && size < 3; k++) { /* a third process adds time and no other case */
    const int failing = k ? k : FAULT_NONE;
    int       codes[2], many;
    PC        pc;

    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(PCSetType(pc, PCGAMG));
    PetscCall(PCGAMGSetType(pc, PCGAMGAMBAGG));
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    FaultBegin(FAULT_HOST, rank == size - 1 ? failing : 0);
    codes[0] = (int)PCSetUp(pc);
    many     = FaultEnd(failing);
    PetscCall(PetscPopErrorHandler());
    codes[1] = -codes[0];
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, codes, 2, MPI_INT, MPI_MAX, PETSC_COMM_WORLD));
    TestExpect(&d, "not all processes have the same error", (PetscBool)(codes[0] == -codes[1]));
    TestExpect(&d, k ? "another error than PETSC_ERR_MEM" : "an error although no allocation failed", (PetscBool)(codes[0] == 0 || (k && codes[0] == PETSC_ERR_MEM)));
    failures += codes[0] != 0;
    if (!k) {
      allocations = many;
      PetscCallMPI(MPI_Bcast(&allocations, 1, MPI_INT, size - 1, PETSC_COMM_WORLD));
    }
    PetscCall(PCDestroy(&pc));
  }
  TestExpect(&d, "no error although allocations failed", (PetscBool)(failures > 0 || size > 2));
  PetscCall(MatDestroy(&A));
  PetscCall(TestReport("aggregates", &d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const struct {
    const char *name;
    TestProduct product;
  } products[] = {
    {"A P",    {MATPRODUCT_AB, "AP"}  },
    {"A' P",   {MATPRODUCT_AtB, "AP"} },
    {"A R'",   {MATPRODUCT_ABt, "AR"} },
    {"P' A P", {MATPRODUCT_PtAP, "AP"}},
    {"R A R'", {MATPRODUCT_RARt, "AR"}},
    {"R A P",  {MATPRODUCT_ABC, "RAP"}}
  };

  PetscCall(TestInitialize(&argc, &argv, help));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(products); k++) {
    for (int again = 0; again < 2; again++) {
      TestDiff d = {NULL, 0};
      char     name[32];

      if (Run(&d, &products[k].product, (PetscBool)again)) TestDiffAdd(&d, "PETSc raised an error, see above", PETSC_MAX_REAL);
      PetscCall(PetscSNPrintf(name, sizeof(name), "%s%s", products[k].name, again ? " again" : ""));
      PetscCall(TestReport(name, &d));
    }
  }
  PetscCall(Aggregates());
  return TestFinalize();
}

/*TEST

  test:
    nsize: {{1 2 3}}
    env: OMP_NUM_THREADS=2
    args: -mat_type hashgemm -mat_hashgemm_device cpu
    output_file: output/memory.out

TEST*/
