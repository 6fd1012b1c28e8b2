/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The command line of a program: GNU's spellings of options, misspelt options, and errors of users in one line.
*/
#pragma once

#include <unistd.h>

#include "ksp/examples/examples.h"

#define COMMAND_UNKNOWN 2 /* the exit code if a name on the command line does not exist, or an option was not used */

/* ------------------------------------------------- results for other programs ------------------------------------------------- */

/* Gets the files that -csv and -json name; "-" without a name. Results on the standard output replace tables, and what PETSc prints goes to the error output. */
static inline PetscErrorCode CommandGetOutputs(MPI_Comm comm, char csv[], char json[], size_t length)
{
  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) {
    char     *name = k ? json : csv;
    PetscBool given;

    name[0] = 0;
    PetscCall(PetscOptionsGetString(NULL, NULL, k ? "-json" : "-csv", name, length, &given));
    if (given && !name[0]) PetscCall(PetscStrncpy(name, "-", length));
    if (!strcmp(name, "-")) PETSC_STDOUT = stderr;
  }
  PetscCheck(strcmp(csv, "-") || strcmp(json, "-"), comm, PETSC_ERR_USER_INPUT, "-csv and -json: only one of them can go to the standard output; name a file for the other");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A figure in a row of results: a word, or a number if text is NULL */
typedef struct {
  const char *name;
  char       *text;
  double      value;
} CommandFigure;

static CommandFigure *CommandFigures; /* the rows of the program, one after the other; each has the same names in the same order */
static PetscInt       CommandNumber;

/* Adds a word, or a number if text is NULL, to the results that CommandMain() writes to -csv and -json; the name of the first figure begins a new row */
static inline PetscErrorCode CommandAdd(const char name[], const char text[], double value)
{
  PetscFunctionBegin;
  PetscCall(PetscRealloc((size_t)(CommandNumber + 1) * sizeof(CommandFigure), &CommandFigures));
  CommandFigures[CommandNumber] = (CommandFigure){name, NULL, value};
  if (text) PetscCall(PetscStrallocpy(text, &CommandFigures[CommandNumber].text));
  CommandNumber++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes a word between quotes, or a number; JSON has no word for infinity */
static inline void CommandWriteFigure(FILE *f, PetscBool json, const CommandFigure *figure)
{
  if (!figure->text) {
    fprintf(f, json && !isfinite(figure->value) ? "null" : "%.15g", figure->value);
    return;
  }
  fputc('"', f);
  for (const char *c = figure->text; *c; c++) fprintf(f, *c == '"' || (*c == '\\' && json) ? (json ? "\\%c" : "\"%c") : "%c", *c);
  fputc('"', f);
}

/* Writes the results to a file, or to the standard output; process 0 writes */
static inline PetscErrorCode CommandWrite(const char name[], PetscBool json)
{
  PetscMPIInt rank;
  PetscInt    columns = 1;
  int         bad     = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  while (columns < CommandNumber && strcmp(CommandFigures[columns].name, CommandFigures[0].name)) columns++;
  if (rank == 0) {
    FILE *f = strcmp(name, "-") ? fopen(name, "w") : stdout;

    for (PetscInt k = 0; k < columns && f && !json; k++) fprintf(f, "%s%s", CommandFigures[k].name, k + 1 < columns ? "," : "\n");
    for (PetscInt k = 0; k < CommandNumber && f; k++) {
      const char *before = k % columns ? (json ? ", " : ",") : !json ? "" : k ? ",\n {" : "[{";

      fprintf(f, json ? "%s\"%s\": " : "%s", before, CommandFigures[k].name);
      CommandWriteFigure(f, json, &CommandFigures[k]);
      if (k % columns == columns - 1) fputs(json ? "}" : "\n", f);
    }
    if (f && json) fprintf(f, "]\n");
    bad = !f || ferror(f) || (f == stdout ? fflush(f) : fclose(f));
  }
  PetscCallMPI(MPI_Bcast(&bad, 1, MPI_INT, 0, PETSC_COMM_WORLD));
  PetscCheck(!bad, PETSC_COMM_WORLD, PETSC_ERR_FILE_WRITE, "%s: cannot be written", strcmp(name, "-") ? name : "standard output");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs a program between the reading of -csv and -json and the writing of its results */
static inline PetscErrorCode CommandRun(PetscErrorCode (*run)(PetscBool *right), PetscBool *right)
{
  char files[2][PETSC_MAX_PATH_LEN];

  PetscFunctionBegin;
  PetscCall(CommandGetOutputs(PETSC_COMM_WORLD, files[0], files[1], sizeof(files[0])));
  PetscCall((*run)(right));
  for (int k = 0; k < 2; k++) {
    if (files[k][0]) PetscCall(CommandWrite(files[k], (PetscBool)k));
  }
  for (PetscInt k = 0; k < CommandNumber; k++) PetscCall(PetscFree(CommandFigures[k].text));
  PetscCall(PetscFree(CommandFigures));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- names ------------------------------------------------- */

#define NAME_MISSPELT 2  /* letters to add, to remove or to replace, at most */
#define NAME_LONGEST  64 /* letters of a name that count */

/* The number of letters to add, to remove or to replace to turn one name into the other */
static inline int NameDistance(const char a[], const char b[])
{
  int row[NAME_LONGEST + 1], n = (int)PetscMin(strlen(b), NAME_LONGEST);

  for (int j = 0; j <= n; j++) row[j] = j;
  for (int i = 1; a[i - 1]; i++) {
    int diagonal = row[0];

    row[0] = i;
    for (int j = 1; j <= n; j++) {
      const int replaced = diagonal + (tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[j - 1]));

      diagonal = row[j];
      row[j]   = PetscMin(replaced, 1 + PetscMin(row[j], row[j - 1]));
    }
  }
  return row[n];
}

/* Returns whether one name has two neighbouring letters of the other in the wrong order */
static inline int NameSwapped(const char a[], const char b[])
{
  size_t k = 0;

  while (a[k] && a[k] == b[k]) k++;
  return a[k] && a[k + 1] && b[k] && a[k] == b[k + 1] && a[k + 1] == b[k] && !strcmp(a + k + 2, b + k + 2);
}

/* Returns whether one name has the letters of the other, in their order, with more between them */
static inline int NameContains(const char name[], const char part[])
{
  for (; *name && *part; name++) part += *name == *part;
  return !*part;
}

/* *nearest is the known name that the user may have meant, or NULL. A name of one or two letters may differ in one. Letters in the wrong order are one mistake.
   Of names at the same distance, one with missing letters is likelier: cnt is count, not csv. */
static inline PetscErrorCode NameNearest(const char name[], PetscInt n, const char *const known[], const char **nearest)
{
  int least = 2 * (strlen(name) > 2 ? NAME_MISSPELT : 1) + 1;

  PetscFunctionBegin;
  *nearest = NULL;
  for (PetscInt k = 0; k < n; k++) {
    const int distance = 2 * (NameSwapped(name, known[k]) ? 1 : NameDistance(name, known[k])) - NameContains(known[k], name);

    if (distance >= least) continue;
    least    = distance;
    *nearest = known[k];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- options ------------------------------------------------- */

/* Looks, before any work, for options that are misspellings of a program's own */
static inline PetscErrorCode CommandCheckMisspelt(int argc, char **argv, PetscInt n, const char *const own[])
{
  PetscFunctionBegin;
  for (int a = 1; a < argc; a++) {
    const char *name = CommandOption(argv[a]), *nearest = NULL;

    if (name) PetscCall(NameNearest(name, n, own, &nearest));
    PetscCheck(!nearest || !strcmp(name, nearest), PETSC_COMM_WORLD, PETSC_ERR_ARG_UNKNOWN_TYPE, "%s: there is no such option; did you mean -%s?", argv[a], nearest);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define COMMAND_NAMES 1024

static char        CommandName[COMMAND_NAMES][NAME_LONGEST];
static const char *CommandNames[COMMAND_NAMES];
static PetscInt    CommandCount;

/* Keeps the name at the beginning of a line of -help, without the prefix of CommandPrintOptions() */
static inline void CommandCollect(const char line[])
{
  const char *name;
  size_t      length;

  while (isspace((unsigned char)*line)) line++;
  name = CommandOption(line);
  if (!name || strncmp(name, "list", 4) || !name[4] || name[5] != '_' || CommandCount == COMMAND_NAMES) return;
  name += 6;
  for (length = 0; isalnum((unsigned char)name[length]) || name[length] == '_'; length++) { }
  if (length >= NAME_LONGEST) return;
  (void)memcpy(CommandName[CommandCount], name, length);
  CommandName[CommandCount][length] = 0;
  CommandNames[CommandCount]        = CommandName[CommandCount];
  CommandCount++;
}

/* Prints by -help the options that a matrix of each type of petsc-amb, a vector and a solver read. Each has a prefix of its own, because PETSc prints them once for a prefix. */
static inline PetscErrorCode CommandPrintOptions(void)
{
  const char *const *types;
  PetscInt           ntypes;
  Mat                A;
  Vec                x;
  KSP                ksp;
  char               prefix[] = "list?_";

  PetscFunctionBegin;
  PetscCall(PetscOptionsSetValue(NULL, "-help", NULL));
  PetscCall(PetscAMBGetTypes(PETSC_FALSE, &ntypes, &types));
  for (PetscInt t = 0; t <= ntypes; t++) {
    PetscCall(MatCreate(PETSC_COMM_SELF, &A));
    PetscCall(MatSetSizes(A, 1, 1, 1, 1));
    prefix[4] = (char)('a' + t);
    PetscCall(MatSetOptionsPrefix(A, prefix));
    PetscCall(MatSetType(A, t < ntypes ? types[t] : MATAIJ));
    PetscCall(MatSetUp(A));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    if (t == ntypes) {
      PetscCall(MatSetFromOptions(A));
      PetscCall(VecCreateSeq(PETSC_COMM_SELF, 1, &x));
      PetscCall(VecSetOptionsPrefix(x, prefix));
      PetscCall(VecSetFromOptions(x));
      PetscCall(VecDestroy(&x));
      PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
      PetscCall(KSPSetOperators(ksp, A, A));
      PetscCall(KSPSetOptionsPrefix(ksp, prefix));
      PetscCall(KSPSetFromOptions(ksp));
      PetscCall(KSPDestroy(&ksp));
    }
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscOptionsClearValue(NULL, "-help"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lists these options and the program's own. PETSc prints some to the standard output whatever PETSC_STDOUT is, so that goes to a file meanwhile; without one the list is
   that of the program. */
static inline PetscErrorCode CommandListOptions(PetscInt n, const char *const own[])
{
  FILE          *file = tmpfile(), *before = PETSC_STDOUT;
  char           line[1024];
  int            output = -1;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  CommandCount = 0;
  for (PetscInt k = 0; k < n; k++) CommandNames[CommandCount++] = own[k];
  if (file && !fflush(stdout)) output = dup(1);
  if (output >= 0) {
    PETSC_STDOUT = stdout;
    (void)dup2(fileno(file), 1);
    ierr = CommandPrintOptions();
    (void)fflush(stdout);
    (void)dup2(output, 1);
    (void)close(output);
    PETSC_STDOUT = before;
    PetscCall(ierr);
    rewind(file);
    while (fgets(line, sizeof(line), file)) CommandCollect(line);
  }
  if (file) (void)fclose(file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Options that PETSc or petsc-amb reads at the end of the program */
static inline PetscBool CommandIsLate(const char name[])
{
  static const char *const late[] = {"log_", "malloc", "memory_view", "objects_dump", "options_left", "options_view", "petscamb_", "mat_shadow_", "hashgemm_for_", "fp_trap", "on_error_", "citations", "checkfunctionlist"};

  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(late); k++) {
    if (!strncmp(name, late[k], strlen(late[k]))) return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

/* Names the options of the command line that nothing has read, of the program or of PETSc, with the nearest that something reads; others may come from the environment */
static inline PetscErrorCode CommandCheckUnused(const char program[], int argc, char **argv, PetscInt nown, const char *const own[], PetscBool *unused)
{
  PetscInt n;
  char   **names, **values;

  PetscFunctionBegin;
  *unused = PETSC_FALSE;
  PetscCall(PetscOptionsLeftGet(NULL, &n, &names, &values));
  for (PetscInt o = 0; o < n; o++) {
    for (int a = 1; a < argc; a++) {
      const char *name = CommandOption(argv[a]), *nearest;

      if (!name || strcmp(name, names[o]) || CommandIsLate(name)) continue;
      if (!*unused) PetscCall(CommandListOptions(nown, own));
      *unused = PETSC_TRUE;
      PetscCall(NameNearest(name, CommandCount, CommandNames, &nearest));
      if (nearest && !strcmp(name, nearest)) nearest = NULL; /* it exists, and this run had no use for it */
      PetscCall(PetscFPrintf(PETSC_COMM_WORLD, stderr, "%s: %s: this option was not used%s%s%s\n", program, argv[a], nearest ? "; did you mean -" : "", nearest ? nearest : "", nearest ? "?" : ""));
      break;
    }
  }
  PetscCall(PetscOptionsLeftRestore(NULL, &n, &names, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- errors ------------------------------------------------- */

/* The context of CommandErrorHandler() */
typedef struct {
  const char    *program;
  PetscErrorCode told; /* the error that was printed */
} CommandErrors;

#define COMMAND_OUTPUT_LOST "the standard output could not be written whole; is the disk full?"

/* Returns PETSC_TRUE for an error that a tool or a reader of files raised, or whose message names an option or a remedy ("; use ", "; give ") */
static inline PetscBool CommandIsAboutInput(const char file[], const char message[])
{
  static const char *const sources[] = {"src/ksp/examples/", "tool/", "bench/", "src/mat/io/", "src/graph/io/"};
  const char              *option    = message;

  for (size_t k = 0; file && k < PETSC_STATIC_ARRAY_LENGTH(sources); k++) {
    if (strstr(file, sources[k])) return PETSC_TRUE;
  }
  if (message && (strstr(message, "; use ") || strstr(message, "; give "))) return PETSC_TRUE;
  while (option && *option && !((option == message || option[-1] == ' ') && CommandOption(option))) option++;
  return (PetscBool)(option && *option);
}

/* Returns PETSC_TRUE for an error in the user's input; all others keep PETSc's trace. Faults of the program raise the codes of the second list, too. */
static inline PetscBool CommandIsUserError(const char file[], PetscErrorCode code, const char message[])
{
  const PetscErrorCode users[]  = {PETSC_ERR_USER_INPUT, PETSC_ERR_FILE_OPEN, PETSC_ERR_FILE_READ, PETSC_ERR_FILE_WRITE, PETSC_ERR_FILE_UNEXPECTED, PETSC_ERR_ARG_UNKNOWN_TYPE, PETSC_ERR_NOT_CONVERGED, PETSC_ERR_MAT_LU_ZRPVT, PETSC_ERR_MAT_CH_ZRPVT};
  const PetscErrorCode either[] = {PETSC_ERR_SUP, PETSC_ERR_SUP_SYS, PETSC_ERR_ARG_OUTOFRANGE, PETSC_ERR_ARG_SIZ, PETSC_ERR_ARG_INCOMP, PETSC_ERR_CONV_FAILED};

  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(users); k++) {
    if (code == users[k]) return PETSC_TRUE;
  }
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(either); k++) {
    if (code == either[k] && CommandIsAboutInput(file, message)) return PETSC_TRUE;
  }
  return (PetscBool)(message && (!strncmp(message, "Input string ", 13) || !strncmp(message, "Unknown option ", 15) || strstr(message, "issing diagonal"))); /* no number or no word of the list after an option that wants one; a matrix that ILU cannot factor */
}

/* Reports errors of users in one line, with the name of the program and what to do next */
static inline PetscErrorCode CommandErrorHandler(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode code, PetscErrorType type, const char *message, void *ctx)
{
  CommandErrors *errors = (CommandErrors *)ctx;
  PetscMPIInt    rank   = 0;
  const char    *advice = "";

  if (errors->told) return code;
  if (!CommandIsUserError(file, code, message)) return PetscTraceBackErrorHandler(comm, line, function, file, code, type, message, NULL);
  errors->told = code;
  (void)MPI_Comm_rank(comm == MPI_COMM_NULL ? PETSC_COMM_SELF : comm, &rank);
  if (code == PETSC_ERR_FILE_WRITE && ferror(stdout)) message = COMMAND_OUTPUT_LOST; /* PetscFFlush() of new versions names no file */
  if (message && strstr(message, "issing diagonal")) advice = "; give -pc_type jacobi, or store the diagonal, zeros too";
  if (code == PETSC_ERR_MAT_LU_ZRPVT || code == PETSC_ERR_MAT_CH_ZRPVT) advice = "; give -pc_factor_shift_type nonzero, or another -pc_type";
  if (rank == 0) (void)fprintf(stderr, "%s: %s%s\n", errors->program, message ? message : "an error without a message", advice);
  else (void)PetscSleep(1.0); /* process 0 must print the error before another process ends the run */
  return code;
}

/* Ends the program after an error; returns the exit code */
static inline int CommandFail(const CommandErrors *errors, PetscMPIInt size)
{
  const int code = errors->told == PETSC_ERR_ARG_UNKNOWN_TYPE ? COMMAND_UNKNOWN : 1;

  if (size > 1) MPI_Abort(PETSC_COMM_WORLD, code);
  return code;
}

/* The main function of a program with these options of its own: run() clears *right if the program's answer is wrong, and adds its results by CommandAdd() */
static inline int CommandMain(const char program[], int argc, char **argv, const char help[], PetscInt nown, const char *const own[], PetscErrorCode (*run)(PetscBool *right))
{
  CommandErrors  errors = {program, PETSC_SUCCESS};
  PetscBool      right = PETSC_TRUE, unused = PETSC_FALSE;
  PetscMPIInt    size;
  PetscErrorCode ierr;

  PetscCall(ExampleInitialize(&argc, &argv, help));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscPushErrorHandler(CommandErrorHandler, &errors));
  ierr = CommandCheckMisspelt(argc, argv, nown, own);
  if (!ierr) ierr = CommandRun(run, &right);
  if (!ierr) ierr = CommandCheckUnused(program, argc, argv, nown, own, &unused);
  if (ierr) return CommandFail(&errors, size);
  PetscCall(PetscPopErrorHandler());
  PetscCall(PetscFinalize());
  return !right ? 1 : unused ? COMMAND_UNKNOWN : 0;
}
