/* SPDX-License-Identifier: BSD-2-Clause */
/*
   petscamb solve: the same system with several Mat types. Each round sets up and solves the system anew with each type in turn.
*/
#include "tool.h"
#include <petscksp.h>
#include <petsctime.h>

#define MAX_TYPES  8
#define MAX_ROUNDS 200
#define SETTLE     64 /* products before the timed ones: by then a matrix has chosen its format */
#define PRODUCTS   20 /* products timed together */

/* The times of a round */
enum {
  SETUP,
  FIRST,
  SECOND,
  MULT,
  TIMES
};

typedef struct {
  char              *name, *type;
  char               prefix[32]; /* of the matrix's options; may be empty */
  const char        *ksp;        /* the type of the KSP; NULL: the type of the options */
  PetscInt           its;
  KSPConvergedReason reason;
  PetscReal          residual; /* |b - A x| / |b| of the first solve, with the plain AIJ */
  PetscLogDouble     bytes;    /* bytes of the matrix that a product reads, 0 if unknown */
  PetscReal          t[TIMES][MAX_ROUNDS];
  PetscBool          converged; /* all systems so far */
  PetscReal         *median[2]; /* of first and of second solves, for each system */
} Solver;

static PetscErrorCode BytesOf(Mat A, const char type[], PetscLogDouble *bytes)
{
  PetscBool     aij, fallen = PETSC_FALSE; /* back to the AIJ */
  PetscInt      m;
  MatInfo       info;
  MatShadowInfo shadow;

  PetscFunctionBegin;
  *bytes = 0;
  PetscCall(PetscStrbeginswith(type, MATAIJ, &aij)); /* aijcusparse, too */
  PetscCall(MatGetLocalSize(A, &m, NULL));
  PetscCall(MatShadowGetInfo(A, &shadow));
  if (shadow.format) PetscCall(PetscStrcmp(shadow.format, "csr", &fallen));
  if (shadow.format) *bytes = fallen ? shadow.bytes_csr : shadow.bytes_stored;
  else if (aij) {
    PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
    *bytes = info.nz_used * (sizeof(PetscScalar) + sizeof(PetscInt)) + sizeof(PetscInt) * (m + 1.0);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, bytes, 1, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)A)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes one round with one type, with a new matrix and a new solver */
static PetscErrorCode Round(Mat A, Vec b, Solver *s, PetscInt round)
{
  Mat            B;
  KSP            ksp;
  Vec            x, c, u, r;
  PetscReal      norm;
  PetscLogDouble t0, t1;

  PetscFunctionBegin;
  if (s->prefix[0]) PetscCall(ConvertPrefixed(A, s->type, s->prefix, &B));
  else PetscCall(MatConvert(A, s->type, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatCreateVecs(B, &x, &c)); /* on the device if the matrix is there */
  PetscCall(VecCopy(b, x));
  PetscCall(MatMult(B, x, c)); /* copies the matrix to the device */
  PetscCall(VecCopy(b, c));
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), &ksp));
  PetscCall(KSPSetOperators(ksp, B, B));
  PetscCall(KSPSetFromOptions(ksp));
  if (s->ksp) {
    PetscCall(KSPSetType(ksp, s->ksp));
    PetscCall(KSPSetFromOptions(ksp)); /* the options of this type */
  }
  PetscCall(MachineNow(x, &t0));
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPSetUpOnBlocks(ksp));
  PetscCall(MachineNow(x, &t1));
  s->t[SETUP][round] = (PetscReal)(t1 - t0);
  PetscCall(KSPSolve(ksp, c, x));
  PetscCall(MachineNow(x, &t0));
  s->t[FIRST][round] = (PetscReal)(t0 - t1);
  PetscCall(KSPGetIterationNumber(ksp, &s->its));
  PetscCall(KSPGetConvergedReason(ksp, &s->reason));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(VecDuplicate(b, &u));
  PetscCall(VecCopy(x, u));
  PetscCall(MachineNow(x, &t0));
  PetscCall(KSPSolve(ksp, c, x));
  PetscCall(MachineNow(x, &t1));
  s->t[SECOND][round] = (PetscReal)(t1 - t0);
  for (int k = 0; k < SETTLE; k++) PetscCall(MatMult(B, x, c));
  PetscCall(MachineNow(x, &t1));
  for (int k = 0; k < PRODUCTS; k++) PetscCall(MatMult(B, x, c));
  PetscCall(MachineNow(x, &t0));
  s->t[MULT][round] = (PetscReal)((t0 - t1) / PRODUCTS);
  PetscCall(BytesOf(B, s->type, &s->bytes));
  PetscCall(MatMult(A, u, r));
  PetscCall(VecAYPX(r, -1.0, b));
  PetscCall(VecNorm(r, NORM_2, &s->residual));
  PetscCall(VecNorm(b, NORM_2, &norm));
  if (norm > 0) s->residual /= norm;
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&c));
  PetscCall(VecDestroy(&x));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The quantile q of the sorted times */
static PetscReal Quantile(PetscInt n, const PetscReal sorted[], PetscReal q)
{
  const PetscReal at   = q * (PetscReal)(n - 1);
  const PetscInt  k    = (PetscInt)at;
  const PetscReal next = sorted[PetscMin(k + 1, n - 1)];

  return sorted[k] + (at - (PetscReal)k) * (next - sorted[k]);
}

/* Computes medians for system number i; the spread is the range of the middle half of the first solves. Ratios are over the first type. */
static PetscErrorCode SolveReport(MPI_Comm comm, const char name[], PetscInt M, PetscLogDouble nonzeros, PetscInt n, Solver s[], PetscInt rounds, const Solver *base, PetscInt i)
{
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(ReportPrintf(comm, "%s: %" PetscInt_FMT " rows, %.0f nonzeros; %d rank%s; %" PetscInt_FMT " round%s\n", name, M, nonzeros, size, size > 1 ? "s" : "", rounds, rounds > 1 ? "s" : ""));
  PetscCall(ReportPrintf(comm, "  %-12s %10s %13s %10s %10s %10s %11s %7s %7s %8s %8s\n", "type", "iterations", "true residual", "set-up s", "1st solve", "2nd solve", "MatMult us", "B/nnz", "spread", "1st", "2nd"));
  for (PetscInt k = 0; k < n; k++) {
    char      bytes[16] = "-", spread[16] = "-";
    PetscReal m[TIMES];

    for (int w = 0; w < TIMES; w++) {
      PetscReal sorted[MAX_ROUNDS];

      PetscCall(PetscArraycpy(sorted, s[k].t[w], rounds));
      PetscCall(PetscSortReal(rounds, sorted));
      m[w] = Quantile(rounds, sorted, 0.5);
      if (w == FIRST && rounds > 1) PetscCall(PetscSNPrintf(spread, sizeof(spread), "%.0f %%", (double)(100 * (Quantile(rounds, sorted, 0.75) - Quantile(rounds, sorted, 0.25)) / m[w])));
    }
    for (int w = 0; w < 2; w++) s[k].median[w][i] = m[FIRST + w];
    if (s[k].bytes > 0) PetscCall(PetscSNPrintf(bytes, sizeof(bytes), "%.2f", s[k].bytes / PetscMax(nonzeros, 1)));
    PetscCall(ReportPrintf(comm, "  %-12s %10" PetscInt_FMT " %13.3e %10.4f %10.4f %10.4f %11.2f %7s %7s %7.2fx %7.2fx%s%s\n", s[k].name, s[k].its, (double)s[k].residual, (double)m[SETUP], (double)m[FIRST], (double)m[SECOND], (double)(1e6 * m[MULT]), bytes, spread,
                           (double)(base->median[0][i] / m[FIRST]), (double)(base->median[1][i] / m[SECOND]), s[k].reason > 0 ? "" : "  not converged: ", s[k].reason > 0 ? "" : KSPConvergedReasons[s[k].reason]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The median and the least ratio over all systems */
static PetscErrorCode SolveSummary(MPI_Comm comm, PetscInt n, Solver s[], PetscInt systems)
{
  PetscReal *ratio[2];

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(systems, &ratio[0], systems, &ratio[1]));
  PetscCall(ReportPrintf(comm, "%" PetscInt_FMT " systems, %s over each type: median and least\n", systems, s[0].name));
  for (PetscInt k = 0; k < n; k++) {
    for (int w = 0; w < 2; w++) {
      for (PetscInt i = 0; i < systems; i++) ratio[w][i] = s[0].median[w][i] / s[k].median[w][i];
      PetscCall(PetscSortReal(systems, ratio[w]));
    }
    PetscCall(ReportPrintf(comm, "  %-12s 1st solve %6.2fx %6.2fx   2nd solve %6.2fx %6.2fx\n", s[k].name, (double)Quantile(systems, ratio[0], 0.5), (double)ratio[0][0], (double)Quantile(systems, ratio[1], 0.5), (double)ratio[1][0]));
  }
  PetscCall(PetscFree2(ratio[0], ratio[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Multiplies rows and columns by numbers between 1/2 and 3/2: the matrix stays symmetric if it was, and its values repeat no more */
static PetscErrorCode SolveScale(Mat A)
{
  Vec d;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &d, NULL));
  PetscCall(VecFill(d, 7));
  PetscCall(VecScale(d, 0.5));
  PetscCall(VecShift(d, 1));
  PetscCall(MatDiagonalScale(A, d, d));
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveCSV(FILE *f, const About *about, const char name[], PetscInt rows, PetscLogDouble nonzeros, PetscInt n, const Solver s[], PetscInt rounds)
{
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (PetscInt round = 0; round < rounds; round++) {
    for (PetscInt k = 0; k < n; k++) {
      fprintf(f, "\"%s\",%s,%" PetscInt_FMT ",%s,%.6e,%.9g,%.9g,%.9g,%.9g,%.4f,%" PetscInt_FMT ",%.0f,%d,%d", name, s[k].name, s[k].its, KSPConvergedReasons[s[k].reason], (double)s[k].residual, (double)s[k].t[SETUP][round], (double)s[k].t[FIRST][round],
              (double)s[k].t[SECOND][round], (double)s[k].t[MULT][round], s[k].bytes / PetscMax(nonzeros, 1), rows, nonzeros, (int)size, MachineThreads());
      PetscCall(AboutCSV(f, about));
    }
  }
  PetscCheck(!fflush(f), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "the file of results could not be written; is the disk full?");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Appends one system to a JSON array */
static PetscErrorCode SolveJSON(FILE *f, PetscBool first, const About *about, const char name[], PetscInt rows, PetscLogDouble nonzeros, PetscInt n, const Solver s[], PetscInt rounds)
{
  static const struct {
    const char *name;
    int         time;
  } times[] = {
    {"setup_s",  SETUP },
    {"first_s",  FIRST },
    {"second_s", SECOND},
    {"mult_s",   MULT  }
  };
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  fprintf(f, "%s  {", first ? "" : ",\n");
  PetscCall(AboutJSON(f, about));
  fprintf(f, ",\n   \"matrix\": ");
  PetscCall(JSONString(f, name));
  fprintf(f, ", \"rows\": %" PetscInt_FMT ", \"nonzeros\": %.0f, \"ranks\": %d, \"threads\": %d, \"types\": [", rows, nonzeros, (int)size, MachineThreads());
  for (PetscInt k = 0; k < n; k++) {
    fprintf(f, "%s\n    {\"type\": ", k ? "," : "");
    PetscCall(JSONString(f, s[k].name));
    fprintf(f, ", \"iterations\": %" PetscInt_FMT ", \"reason\": \"%s\", \"true_residual\": %.6e, \"bytes_per_nonzero\": %.4f", s[k].its, KSPConvergedReasons[s[k].reason], (double)s[k].residual, s[k].bytes / PetscMax(nonzeros, 1));
    for (size_t w = 0; w < PETSC_STATIC_ARRAY_LENGTH(times); w++) {
      fprintf(f, ", \"%s\": [", times[w].name);
      for (PetscInt round = 0; round < rounds; round++) fprintf(f, "%s%.9g", round ? ", " : "", (double)s[k].t[times[w].time][round]);
      fprintf(f, "]");
    }
    fprintf(f, "}");
  }
  fprintf(f, "]}");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs at least the minimum of rounds, and more until each type has solved for the requested seconds or the time limit is reached; process 0 decides for all */
static PetscErrorCode SolveRounds(Mat A, Vec b, PetscInt n, Solver s[], PetscReal seconds, PetscInt least, PetscReal limit, PetscInt *rounds)
{
  MPI_Comm       comm = PetscObjectComm((PetscObject)A);
  PetscReal      spent[MAX_TYPES];
  PetscLogDouble start, now;
  PetscMPIInt    more = 1;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(spent, n));
  PetscCall(PetscTime(&start));
  for (*rounds = 0; more && *rounds < MAX_ROUNDS;) {
    PetscReal shortest = PETSC_MAX_REAL;

    for (PetscInt k = 0; k < n; k++) {
      PetscCall(Round(A, b, &s[k], *rounds));
      spent[k] += s[k].t[FIRST][*rounds];
      shortest = PetscMin(shortest, spent[k]);
    }
    (*rounds)++;
    PetscCall(PetscTime(&now));
    more = (*rounds < least || shortest < seconds) && (PetscReal)(now - start) * (PetscReal)(*rounds + 1) / (PetscReal)*rounds <= limit;
    PetscCallMPI(MPI_Bcast(&more, 1, MPI_INT, 0, comm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves system number i with n types, in turns */
static PetscErrorCode SolveSystem(MPI_Comm comm, const char input[], PetscBool scaled, PetscInt n, Solver s[], PetscReal seconds, PetscInt least, PetscReal limit, FILE *csv, FILE *json, const About *about, const Solver *base, PetscInt i)
{
  Mat      A;
  Vec      x, b;
  PetscInt M, N, rounds;
  MatInfo  info;
  char     name[PETSC_MAX_PATH_LEN];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(name, sizeof(name), "%s%s", input, scaled ? ", scaled" : ""));
  PetscCall(InputCreateMat(comm, input, &A));
  if (scaled) PetscCall(SolveScale(A));
  PetscCall(MatGetSize(A, &M, &N));
  PetscCheck(M == N, comm, PETSC_ERR_USER_INPUT, "%s: %" PetscInt_FMT " x %" PetscInt_FMT ", but a system to solve is square", input, M, N);
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecFill(x, 1));
  PetscCall(MatMult(A, x, b));
  PetscCall(SolveRounds(A, b, n, s, seconds, least, limit, &rounds));
  PetscCall(SolveReport(comm, name, M, info.nz_used, n, s, rounds, base, i));
  if (csv) PetscCall(SolveCSV(csv, about, name, M, info.nz_used, n, s, rounds));
  if (json) PetscCall(SolveJSON(json, (PetscBool)(!i && s == base), about, name, M, info.nz_used, n, s, rounds));
  for (PetscInt k = 0; k < n; k++) s[k].converged = (PetscBool)(s[k].converged && s[k].reason > 0);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first matrix of petsc-amb on a GPU gives every later AIJCUSPARSE its format: with both, AIJCUSPARSE must come first, and the types solve all
   systems one after the other */
static PetscErrorCode SolveOrder(MPI_Comm comm, PetscInt ntypes, char *types[], PetscBool *apart)
{
  const char *const *ours;
  const char        *first    = NULL; /* the first type of petsc-amb */
  PetscBool          cusparse = PETSC_FALSE;
  PetscInt           nours;

  PetscFunctionBegin;
  PetscCall(PetscAMBGetTypes(PETSC_FALSE, &nours, &ours));
  for (PetscInt k = 0; k < ntypes; k++) {
    const size_t len = strcspn(types[k], "/@");
    PetscBool    same;

    PetscCall(PetscStrncmp(types[k], MATAIJCUSPARSE, sizeof(MATAIJCUSPARSE) - 1, &same));
    PetscCheck(!same || !first, comm, PETSC_ERR_USER_INPUT, "-types: %s comes after %s, whose format it would get on a GPU; name it first", types[k], first);
    if (same) cusparse = PETSC_TRUE;
    for (PetscInt t = 0; t < nours && !first; t++) {
      PetscCall(PetscStrncmp(types[k], ours[t], len, &same));
      if (same && strlen(ours[t]) == len) first = types[k];
    }
  }
  *apart = (PetscBool)(cusparse && first);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SolveRun(MPI_Comm comm, int n, char *inputs[], PetscBool *right)
{
  Solver   *s;
  char     *types[MAX_TYPES], csv[PETSC_MAX_PATH_LEN] = "", json[PETSC_MAX_PATH_LEN] = "";
  PetscInt  ntypes = MAX_TYPES, least = 3, systems, together;
  PetscReal seconds = 0.2, limit = 3600;
  PetscBool given, scaled = PETSC_FALSE, apart = PETSC_FALSE;
  FILE     *f = NULL, *g = NULL;
  About     about;

  PetscFunctionBegin;
  *right = PETSC_TRUE;
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-types", types, &ntypes, &given));
  for (PetscInt k = 0; k < ntypes && given; k++) PetscCall(NameCheckType(comm, types[k], 0, NULL));
  if (!given) {
    ntypes = 2;
    PetscCall(PetscStrallocpy(MATAIJ, &types[0]));
    PetscCall(PetscStrallocpy(MATAMB, &types[1]));
  }
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-seconds", &seconds, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-limit", &limit, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-rounds", &least, NULL));
  PetscCheck(least > 0 && least <= MAX_ROUNDS, comm, PETSC_ERR_USER_INPUT, "-rounds %" PetscInt_FMT " is not between 1 and %d", least, MAX_ROUNDS);
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-scaled", &scaled, NULL));
  PetscCall(SolveOrder(comm, ntypes, types, &apart));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-apart", &apart, NULL));
  together = apart ? 1 : ntypes;
  PetscCall(CommandGetOutputs(comm, csv, json, sizeof(csv)));
  PetscCheck(n > 0, comm, PETSC_ERR_USER_INPUT, "solve needs at least one file or generator, such as p7:50 (petscamb --help lists them)");
  if (csv[0]) PetscCall(ReportOpen(comm, csv, &f));
  if (json[0]) PetscCall(ReportOpen(comm, json, &g));
  PetscCall(AboutGet(&about));
  if (f) {
    fprintf(f, "matrix,type,iterations,reason,true_residual,setup_s,first_s,second_s,mult_s,bytes_per_nonzero,rows,nonzeros,ranks,threads");
    PetscCall(AboutCSVHeader(f));
  }
  if (g) fprintf(g, "[\n");
  PetscCall(PetscCalloc1(ntypes, &s));
  for (PetscInt k = 0; k < ntypes; k++) {
    char *slash;

    s[k].name = types[k];
    PetscCall(PetscStrallocpy(types[k], &s[k].type));
    PetscCall(PetscStrchr(s[k].type, '/', &slash));
    if (slash) *slash = 0;
    PetscCall(NameSplitPrefix(s[k].type, sizeof(s[k].prefix), s[k].prefix));
    s[k].ksp       = slash ? slash + 1 : NULL;
    s[k].converged = PETSC_TRUE;
    for (int w = 0; w < 2; w++) PetscCall(PetscMalloc1(2 * n, &s[k].median[w]));
  }
  systems = scaled ? 2 * n : n;
  for (PetscInt k = 0; k < ntypes; k += together) {
    for (int i = 0; i < systems; i++) { PetscCall(SolveSystem(comm, inputs[i % n], i >= n, together, s + k, seconds, least, limit, f, g, &about, s, i)); }
  }
  for (PetscInt k = 0; k < ntypes; k++) {
    if (!s[k].converged) *right = PETSC_FALSE;
  }
  if (systems > 1) PetscCall(SolveSummary(comm, ntypes, s, systems));
  if (g) fprintf(g, "\n]\n");
  PetscCall(ReportClose(csv, PETSC_TRUE, f));
  PetscCall(ReportClose(json, PETSC_FALSE, g));
  for (PetscInt k = 0; k < ntypes; k++) {
    for (int w = 0; w < 2; w++) PetscCall(PetscFree(s[k].median[w]));
    PetscCall(PetscFree(s[k].type));
    PetscCall(PetscFree(types[k]));
  }
  PetscCall(PetscFree(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}
