/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "A product of matrices, and the set-up of ambagg, for which memory is short on one process: all processes raise the same error, or it is right without.\n\
  -faults_device <memory,lost>   memory of the GPU and pinned memory in place of the host's; or the GPU fails at each call of CUDA in turn, and does not come back\n\n";

#include "../testproduct.h"
#include "../testfault.h"

static const TestShape grid   = {"grid", 144, 144, TestRowGrid, TestValueGeneral, PETSC_FALSE};
static const TestShape coarse = {"coarse", 144, 40, TestRowAggregate, TestValueGeneral, PETSC_FALSE};

static Fault kind = FAULT_HOST;

typedef enum {
  PHASE_SYMBOLIC,
  PHASE_NUMERIC,
  PHASE_AGAIN /* the numeric phase with other values */
} Phase;

/* Makes a product, with a fault on the last process in this phase. Have all processes the same error code? *allocations become those that the last process made.
   Without an error, is the product that of a call without a fault? */
static PetscErrorCode Fail(TestDiff *d, const TestProduct *p, const TestOperands *o, Phase phase, int failing, int *allocations, PetscErrorCode *raised)
{
  PetscMPIInt    rank, size;
  PetscErrorCode ierr[2];
  Mat            C, R;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(TestProductCreate(p, o, &C));
  PetscCall(MatProductSetFromOptions(C));
  if (phase != PHASE_SYMBOLIC) PetscCall(MatProductSymbolic(C));
  if (phase == PHASE_AGAIN) {
    PetscCall(MatProductNumeric(C));
    PetscCall(TestChangeValues(o->A, 3));
    PetscCall(TestChangeValues(o->P, 4));
  }
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  FaultBegin(kind, rank == size - 1 ? failing : 0);
  *raised      = phase == PHASE_SYMBOLIC ? MatProductSymbolic(C) : MatProductNumeric(C);
  *allocations = FaultEnd(failing);
  PetscCall(PetscPopErrorHandler());
  PetscCallMPI(MPI_Bcast(allocations, 1, MPI_INT, size - 1, PETSC_COMM_WORLD));
  ierr[0] = *raised;
  ierr[1] = (PetscErrorCode) - *raised;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, ierr, 2, MPI_INT, MPI_MAX, PETSC_COMM_WORLD));
  TestExpect(d, "not all processes have the same error", (PetscBool)(ierr[0] == -ierr[1]));
  if (!ierr[0]) {
    if (phase == PHASE_SYMBOLIC) PetscCall(MatProductNumeric(C));
    PetscCall(TestProductCreate(p, o, &R));
    PetscCall(TestProductPhases(R));
    PetscCall(TestDiffRows(d, C, R));
    PetscCall(MatDestroy(&R));
  }
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each allocation fails in turn, or each call of CUDA */
static PetscErrorCode Run(TestDiff *d, const TestProduct *p, Phase phase)
{
  TestOperands   o;
  PetscErrorCode raised;
  int            allocations, unused, failures = 0;
  Mat            A, P;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&grid, NULL, &A));
  PetscCall(TestShapeCreate(&coarse, NULL, &P));
  PetscCall(TestOperandsCreate(A, P, &o));
  PetscCall(Fail(d, p, &o, phase, FAULT_NONE, &allocations, &raised));
  TestExpect(d, "an error although no allocation failed", (PetscBool)(raised == 0));
  for (int k = 1; k <= allocations; k++) {
    PetscCall(Fail(d, p, &o, phase, k, &unused, &raised));
    TestExpect(d, "an error of another kind", FaultError(kind, raised));
    failures += raised != 0;
  }
  TestExpect(d, "no error although allocations failed", (PetscBool)(failures > 0 || !allocations || kind == FAULT_DEVICE)); /* without memory of the GPU, the host makes the product */
  PetscCall(TestOperandsDestroy(&o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The set-up of GAMG with the aggregates of petsc-amb; each allocation of the last process fails in turn, or each call of CUDA */
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
    FaultBegin(kind, rank == size - 1 ? failing : 0);
    codes[0] = (int)PCSetUp(pc);
    many     = FaultEnd(failing);
    PetscCall(PetscPopErrorHandler());
    codes[1] = -codes[0];
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, codes, 2, MPI_INT, MPI_MAX, PETSC_COMM_WORLD));
    TestExpect(&d, "not all processes have the same error", (PetscBool)(codes[0] == -codes[1]));
    TestExpect(&d, k ? "an error of another kind" : "an error although no allocation failed", k ? FaultError(kind, (PetscErrorCode)codes[0]) : (PetscBool)(codes[0] == 0));
    failures += codes[0] != 0;
    if (!k) {
      allocations = many;
      PetscCallMPI(MPI_Bcast(&allocations, 1, MPI_INT, size - 1, PETSC_COMM_WORLD));
    }
    PetscCall(PCDestroy(&pc));
  }
  TestExpect(&d, "no error although allocations failed", (PetscBool)(failures > 0 || size > 2 || kind == FAULT_DEVICE));
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
  static const char *const phases[] = {"", ", values", " again"};

  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(FaultFromOptions(&kind));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(products); k++) {
    for (size_t phase = 0; phase < PETSC_STATIC_ARRAY_LENGTH(phases); phase++) {
      TestDiff d = {NULL, 0};
      char     name[32];

      if (Run(&d, &products[k].product, (Phase)phase)) TestDiffAdd(&d, "PETSc raised an error, see above", PETSC_MAX_REAL);
      PetscCall(PetscSNPrintf(name, sizeof(name), "%s%s", products[k].name, phases[phase]));
      PetscCall(TestReport(name, &d));
    }
  }
  PetscCall(Aggregates());
  return TestFinalize();
}

/*TEST

  testset:
    env: OMP_NUM_THREADS=2
    checks: 19
    test:
      nsize: {{1 2 3}}
      args: -mat_type hashgemm -mat_hashgemm_device cpu
    test:
      suffix: gpu
      requires: cuda
      timeoutfactor: 4
      args: -mat_type hashgemm -faults_device {{memory lost}}

TEST*/
