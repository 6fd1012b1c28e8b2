/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "Measures and describes sparse matrices.\n\
  petscamb bench FILE|GENERATOR... [options]   time operations with Mat types and other libraries\n\
  petscamb solve FILE|GENERATOR... [options]   solve systems with Mat types and any solver of PETSc, side by side\n\
  petscamb info FILE|GENERATOR... [-json FILE] the shape of a matrix and the bytes that each format would store\n\
  petscamb --help                              all inputs, operations and options\n\n";

#include "bench.h"
#include <signal.h>

static PetscErrorCode Help(MPI_Comm comm)
{
  PetscFunctionBegin;
  PetscCall(PetscPrintf(comm, "%s", help));
  PetscCall(PetscPrintf(comm, "Inputs: Matrix Market files (.mtx, .mtx.gz), PETSc binary files, or generated matrices:\n"));
  PetscCall(GeneratorHelp(comm));
  PetscCall(PetscPrintf(comm, "\nOperations (-ops, default spmv):\n"));
  PetscCall(OperationHelp(comm));
  PetscCall(PetscPrintf(comm, "\nOptions of bench, after the inputs:\n\
  -types LIST            Mat types (aij/rowmerge: with an algorithm), and csr (a plain loop), mkl, graphblas; default aij,amb,nussell,sell,aijperm,csr,mkl,graphblas\n\
  -ops LIST              operations\n\
  -reps N                timed runs of each; default as many as fit -seconds, at least 11\n\
  -seconds S             time for one operation of one type, about; default 0.3\n\
  -csv FILE              results as comma-separated values\n\
  -json FILE             results as JSON\n\
  -mkl_dir DIR           where libmkl_rt.so is, or the environment it was installed into; else MKLROOT, VIRTUAL_ENV\n\
  -graphblas_lib FILE    libgraphblas.so, if the loader does not find it\n\
\nOptions of solve, after the inputs:\n\
  -types LIST            Mat types (amb/ambcg: with a KSP type); default aij,amb\n\
  -seconds S             types take turns until each has solved for so long; default 0.2\n\
  -rounds N              and at least so often; default 3\n\
  -limit S               but in so many seconds, as near as may be; default 3600\n\
  -csv FILE              every round as comma-separated values\n\
and any option of PETSc. Under mpiexec the time of the slowest rank counts; OMP_NUM_THREADS gives threads.\n\
Exit code: 0 if all results are right, 1 if not or if something is wrong with the input.\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reports errors of users in one line; all other errors keep PETSc's trace */
static PetscErrorCode UserErrorHandler(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode code, PetscErrorType type, const char *message, void *ctx)
{
  PetscErrorCode *told = (PetscErrorCode *)ctx;
  const PetscBool user = code == PETSC_ERR_USER_INPUT || code == PETSC_ERR_FILE_OPEN || code == PETSC_ERR_FILE_UNEXPECTED ? PETSC_TRUE : PETSC_FALSE;
  PetscMPIInt     rank = 0;

  if (!user) return PetscTraceBackErrorHandler(comm, line, function, file, code, type, message, NULL);
  if (*told) return code;
  *told = code;
  (void)MPI_Comm_rank(comm == MPI_COMM_NULL ? PETSC_COMM_SELF : comm, &rank);
  if (rank == 0) (void)fprintf(stderr, "petscamb: %s\n", message);
  else (void)PetscSleep(1.0); /* process 0 must print the error before another process ends the run */
  return code;
}

/* The inputs precede the first option; a later word without a hyphen can only be the value of an option */
static PetscErrorCode Inputs(int argc, char **argv, int *n)
{
  PetscFunctionBegin;
  *n = 0;
  while (2 + *n < argc && argv[2 + *n][0] != '-') (*n)++;
  for (int a = 3 + *n; a < argc; a++) PetscCheck(argv[a][0] == '-' || argv[a - 1][0] == '-', PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "%s: inputs go before the options", argv[a]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A mistyped option would silently measure something else */
static PetscErrorCode WarnUnused(void)
{
  PetscInt n;
  char   **names, **values;

  PetscFunctionBegin;
  PetscCall(PetscOptionsLeftGet(NULL, &n, &names, &values));
  for (PetscInt o = 0; o < n; o++) PetscCall(PetscFPrintf(PETSC_COMM_WORLD, stderr, "petscamb: warning: nobody asked for option -%s\n", names[o]));
  PetscCall(PetscOptionsLeftRestore(NULL, &n, &names, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run(int argc, char **argv, PetscBool *right)
{
  int       n;
  PetscBool bench = PETSC_FALSE, info = PETSC_FALSE, solve = PETSC_FALSE;

  PetscFunctionBegin;
  if (argc > 1) {
    PetscCall(PetscStrcmp(argv[1], "bench", &bench));
    PetscCall(PetscStrcmp(argv[1], "info", &info));
    PetscCall(PetscStrcmp(argv[1], "solve", &solve));
  }
  PetscCheck(bench || info || solve, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "%s: say bench, info or solve (petscamb --help tells more)", argc > 1 ? argv[1] : "no command");
  PetscCall(Inputs(argc, argv, &n));
  PetscCall(PetscAMBInitializePackage());
  if (bench) PetscCall(BenchRun(PETSC_COMM_WORLD, n, argv + 2, right));
  else if (solve) PetscCall(SolveRun(PETSC_COMM_WORLD, n, argv + 2, right));
  else PetscCall(InfoRun(PETSC_COMM_WORLD, n, argv + 2));
  PetscCall(WarnUnused());
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscBool      right = PETSC_TRUE, wants_help = PETSC_FALSE;
  PetscErrorCode ierr, told                     = PETSC_SUCCESS;
  PetscMPIInt    size;

  for (int a = 1; a < argc && a < 3; a++) {
    if (!strcmp(argv[a], "--help") || !strcmp(argv[a], "-help") || !strcmp(argv[a], "-h")) {
      wants_help = PETSC_TRUE;
      argc       = a; /* PETSc's list of options would hide that of petscamb */
    }
  }
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  (void)signal(SIGPIPE, SIG_DFL); /* a closed pipe, as by "| head", ends the program silently */
  PetscCall(PetscPushErrorHandler(UserErrorHandler, &told));
  ierr = wants_help ? Help(PETSC_COMM_WORLD) : Run(argc, argv, &right);
  if (ierr) {
    if (size > 1) MPI_Abort(PETSC_COMM_WORLD, 1);
    return 1;
  }
  PetscCall(PetscPopErrorHandler());
  PetscCall(PetscFinalize());
  return right ? 0 : 1;
}
