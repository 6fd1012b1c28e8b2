/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "Measures and describes sparse matrices.\n\
  petscamb bench FILE|GENERATOR... [options]   time operations with Mat types and other libraries\n\
  petscamb solve FILE|GENERATOR... [options]   solve systems with Mat types and any solver of PETSc, side by side\n\
  petscamb info FILE|GENERATOR... [options]    the shape of a matrix, the bytes that each format would store, and the type to take\n\
  petscamb graph ALGORITHM FILE [options]      PageRank, triangles and other questions about graphs (petscamb graph -h tells more)\n\
  petscamb tiletable FILE                      measure the GPU for -mat_tilecomposite_table, and write the table to a file\n\
  petscamb -h                                  all inputs, operations and options\n\
  petscamb --version                           the version of petsc-amb and of its PETSc\n\n";

#include "../bench/bench.h"
#include <ctype.h>
#include <signal.h>

static PetscErrorCode Help(MPI_Comm comm)
{
  PetscFunctionBegin;
  PetscCall(PetscPrintf(comm, "%s", help));
  PetscCall(PetscPrintf(comm, "Inputs: Matrix Market files (.mtx, also .gz, .xz, .bz2), PETSc binary files, or generated matrices:\n"));
  PetscCall(GeneratorHelp(comm));
  PetscCall(PetscPrintf(comm, "\nOperations (-ops, default spmv):\n"));
  PetscCall(OperationHelp(comm));
  PetscCall(PetscPrintf(comm, "\nOptions of bench, after the inputs:\n\
  -types LIST            Mat types (aij/rowmerge: with an algorithm; amb@one: with options -one_mat_...), and csr (a plain loop), mkl, graphblas; default aij,amb,nussell,sell,aijperm,csr,mkl,graphblas\n\
  -ops LIST              operations\n\
  -columns LIST          columns of the dense matrices in spmm, spmmt and sddmm; default 32\n\
  -reps N                timed runs of each; default as many as fit -seconds, at least 11\n\
  -seconds S             time for one operation of one type, about; default 0.3\n\
  -processor_time        the time of the processors, summed over threads, in the place of the clock's: for a busy host\n\
  -csv [FILE]            results as comma-separated values, as they come; without FILE on standard output, in place of the tables\n\
  -json [FILE]           results as JSON, likewise\n\
  -html FILE             results as a picture: bars and a roofline\n\
  -compare FILE          results beside those that -csv wrote in an earlier run\n\
  -mkl_dir DIR           where libmkl_rt.so is, or the environment it was installed into; else MKLROOT, VIRTUAL_ENV\n\
  -graphblas_lib FILE    libgraphblas.so, if the loader does not find it\n\
\nOptions of info, after the inputs:\n\
  -csv [FILE]            bytes of each format as comma-separated values; without FILE on standard output, in place of the table\n\
  -json [FILE]           all figures as JSON, likewise\n\
  -plot FILE             a picture: the pattern and histograms as .svg or .html, the pattern as .png\n\
\nOptions of solve, after the inputs:\n\
  -types LIST            Mat types (amb/ambcg: with a KSP type; amb@one: with options -one_mat_...); default aij,amb\n\
  -seconds S             types take turns until each has solved for so long; default 0.2\n\
  -rounds N              and at least so often; default 3\n\
  -limit S               but in so many seconds, as near as may be; default 3600\n\
  -scaled                solve each system once more, with rows and columns scaled so that no values repeat\n\
  -apart                 each type solves all systems before the next one begins; default: with aijcusparse beside our types\n\
  -csv [FILE]            every round as comma-separated values; without FILE on standard output, in place of the table\n\
  -json [FILE]           the same as JSON, an object for each system\n\
and any option of PETSc. --option VALUE and --option=VALUE are the same as -option VALUE. Under mpiexec the time of the slowest rank counts; OMP_NUM_THREADS gives threads.\n\
Exit code: 0 if all results are right; 1 if not, or if something is wrong with the input; 2 if the command, an option or a type\n\
does not exist, if an option was not used, or if its value is missing.\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Version(MPI_Comm comm)
{
  PetscInt major, minor, subminor;

  PetscFunctionBegin;
  PetscCall(PetscGetVersionNumber(&major, &minor, &subminor, NULL));
  PetscCall(PetscPrintf(comm, "petscamb %d.%d.%d, PETSc %" PetscInt_FMT ".%" PetscInt_FMT ".%" PetscInt_FMT ", %s numbers of %d bits, %d-bit indices, %s\n", PETSCAMB_VERSION_MAJOR, PETSCAMB_VERSION_MINOR, PETSCAMB_VERSION_SUBMINOR, major, minor, subminor, PetscDefined(USE_COMPLEX) ? "complex" : "real", (int)(8 * sizeof(PetscReal)), (int)(8 * sizeof(PetscInt)), PetscDefined(HAVE_CUDA) ? "CUDA" : "no GPU"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The commands with the options of their own; any option of PETSc may follow, too */
typedef struct {
  const char *name;
  const char *options[24]; /* end with NULL */
} Command;

static const Command Commands[] = {
  {"bench",     {"types", "ops", "columns", "reps", "seconds", "processor_time", "csv", "json", "html", "compare", "mkl_dir", "graphblas_lib"}                                                                            },
  {"solve",     {"types", "seconds", "rounds", "limit", "csv", "json", "scaled", "apart"}                                                                                                                                 },
  {"info",      {"csv", "json", "plot"}                                                                                                                                                                                   },
  {"graph",     {"undirected", "unweighted", "top", "json", "csv", "mat_type", "tol", "iterations", "c", "dangling", "order", "peer", "graphblas_lib", "seeds", "sources", "count", "inflation", "prune", "keep", "batch"}},
  {"tiletable", {NULL}                                                                                                                                                                                                    }
};

/* Those that have no value, or need none */
static const char *const Flags[] = {"processor_time", "scaled", "apart", "undirected", "unweighted"}, *const Outputs[] = {"json", "csv"};

/* Finds the command */
static PetscErrorCode CommandFind(int argc, char **argv, const Command **command)
{
  const char *names[PETSC_STATIC_ARRAY_LENGTH(Commands)], *nearest;

  PetscFunctionBegin;
  PetscCheck(argc > 1, PETSC_COMM_WORLD, PETSC_ERR_ARG_UNKNOWN_TYPE, "no command: say bench, info, solve, graph or tiletable (petscamb -h tells more)");
  *command = NULL;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Commands); k++) {
    names[k] = Commands[k].name;
    if (!strcmp(argv[1], names[k])) *command = &Commands[k];
  }
  if (*command) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(NameNearest(argv[1], PETSC_STATIC_ARRAY_LENGTH(Commands), names, &nearest));
  PetscCheck(!nearest, PETSC_COMM_WORLD, PETSC_ERR_ARG_UNKNOWN_TYPE, "%s: there is no such command; did you mean %s?", argv[1], nearest);
  SETERRQ(PETSC_COMM_WORLD, PETSC_ERR_ARG_UNKNOWN_TYPE, "%s: there is no such command; say bench, info, solve, graph or tiletable (petscamb -h tells more)", argv[1]);
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

static PetscBool Among(const char name[], size_t n, const char *const names[])
{
  for (size_t k = 0; k < n; k++) {
    if (!strcmp(name, names[k])) return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

/* Looks for misspelt options, for options without their values, and for outputs that would overwrite an input, before any work */
static PetscErrorCode CheckOptions(const Command *command, PetscInt n, int argc, char **argv, int ninputs)
{
  PetscFunctionBegin;
  PetscCall(CommandCheckMisspelt(argc, argv, n, command->options));
  for (int a = 2; a < argc; a++) {
    const char     *name  = CommandOption(argv[a]);
    const PetscBool value = (PetscBool)(a + 1 < argc && !CommandOption(argv[a + 1]) && argv[a + 1][0]);

    if (!name || !Among(name, (size_t)n, command->options) || Among(name, PETSC_STATIC_ARRAY_LENGTH(Flags), Flags)) continue;
    PetscCheck(value || Among(name, PETSC_STATIC_ARRAY_LENGTH(Outputs), Outputs), PETSC_COMM_WORLD, PETSC_ERR_ARG_UNKNOWN_TYPE, "%s: its value is missing (petscamb -h tells more)", argv[a]);
    for (int i = 2; i < 2 + ninputs && value; i++) PetscCheck(strcmp(argv[a + 1], argv[i]), PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "%s %s: this is an input; name another file", argv[a], argv[i]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Measures the performance model of tile-composite */
static PetscErrorCode TileTableRun(int n, char *words[])
{
  PetscFunctionBegin;
  PetscCheck(n == 1, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "tiletable needs the name of one file to write, and gets %d", n);
  PetscCheck(PetscDefined(HAVE_CUDA), PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "tiletable measures a GPU, and this PETSc is built without CUDA");
  PetscCall(MatTileCompositeMeasure(words[0]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: written; -mat_tilecomposite_table %s uses it\n", words[0], words[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run(int argc, char **argv, int *code)
{
  int            n;
  PetscInt       noptions = 0;
  const Command *command;
  PetscBool      right = PETSC_TRUE, unused;

  PetscFunctionBegin;
  PetscCall(CommandFind(argc, argv, &command));
  PetscCall(Inputs(argc, argv, &n));
  while (command->options[noptions]) noptions++;
  PetscCall(CheckOptions(command, noptions, argc, argv, n));
  PetscCall(PetscAMBInitializePackage());
  if (!strcmp(command->name, "bench")) PetscCall(BenchRun(PETSC_COMM_WORLD, n, argv + 2, &right));
  else if (!strcmp(command->name, "solve")) PetscCall(SolveRun(PETSC_COMM_WORLD, n, argv + 2, &right));
  else if (!strcmp(command->name, "graph")) PetscCall(GraphRun(PETSC_COMM_WORLD, n, argv + 2, &right));
  else if (!strcmp(command->name, "tiletable")) PetscCall(TileTableRun(n, argv + 2));
  else PetscCall(InfoRun(PETSC_COMM_WORLD, n, argv + 2));
  PetscCall(CommandCheckUnused("petscamb", argc, argv, noptions, command->options, &unused));
  *code = !right ? 1 : unused ? COMMAND_UNKNOWN : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

CommandErrors ToolErrors = {"petscamb", PETSC_SUCCESS};

int main(int argc, char **argv)
{
  PetscErrorCode (*print)(MPI_Comm) = NULL;
  PetscErrorCode ierr;
  PetscMPIInt    size;
  int            code  = 0;
  const int      topic = argc > 2 && !strcmp(argv[1], "help") ? 2 : 1; /* petscamb help graph, as petscamb graph -h */

  for (int a = 1; a < argc && !print; a++) {
    if (!strcmp(argv[a], "--help") || !strcmp(argv[a], "-h") || (a < 3 && !strcmp(argv[a], "-help")) || (a == 1 && !strcmp(argv[a], "help"))) print = strcmp(argv[topic], "graph") ? Help : GraphHelp;
    if (!strcmp(argv[a], "--version") || (a == 1 && (!strcmp(argv[a], "-version") || !strcmp(argv[a], "version")))) print = Version;
  }
  CommandSplit(&argc, &argv);
  if (print) argc = 1; /* PETSc's list of options would hide petscamb's */
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  (void)signal(SIGPIPE, SIG_DFL); /* a closed pipe, as by "| head", ends the program silently */
  PetscCall(PetscPushErrorHandler(CommandErrorHandler, &ToolErrors));
  ierr = print ? print(PETSC_COMM_WORLD) : Run(argc, argv, &code);
  if (ierr) return CommandFail(&ToolErrors, size);
  PetscCall(PetscPopErrorHandler());
  PetscCall(PetscFinalize());
  if (fflush(stdout) || ferror(stdout)) {
    (void)fprintf(stderr, "petscamb: " COMMAND_OUTPUT_LOST "\n");
    code = 1;
  }
  return code;
}
