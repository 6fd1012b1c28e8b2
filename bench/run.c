/* SPDX-License-Identifier: BSD-2-Clause */
/*
   petscamb bench: times operations on matrices. Mat types and other libraries take turns, so that a drift of the machine affects all alike.
*/
#include "bench.h"
#include <stdarg.h>
#include <unistd.h>

#define MAX_CONTENDERS 16
#define MAX_OPERATIONS 16
#define MAX_COLUMNS    16
#define TURNS          11   /* of each contender, at most */
#define SETTLE         10   /* products before anything is timed */
#define SETTLE_MOST    3000 /* at most so many, if a type that tunes itself needs more */

typedef struct {
  MPI_Comm         comm;
  Machine          machine;
  PetscInt         ntypes, nops, reps;
  char            *types[MAX_CONTENDERS];
  const Operation *ops[MAX_OPERATIONS];
  PetscInt         ncolumns, columns[MAX_COLUMNS]; /* of dense matrices */
  PetscReal        budget;                         /* approximate seconds for one operation of one contender */
  FILE            *csv;                            /* of process 0; results are written as they come */
  PetscBool        progress;                       /* somebody sees the error output of this process */
  PetscInt         nresults, capacity;
  Result          *results;
} Bench;

/* Adds an operation, if it is not in the list yet */
static PetscErrorCode BenchAddOperation(Bench *b, const Operation *op)
{
  PetscFunctionBegin;
  for (PetscInt o = 0; o < b->nops; o++) {
    if (b->ops[o] == op) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(b->nops < MAX_OPERATIONS, b->comm, PETSC_ERR_USER_INPUT, "-ops: more than %d operations", MAX_OPERATIONS);
  b->ops[b->nops++] = op;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Names of files: results as values and as JSON, the picture, and earlier results */
enum {
  CSV,
  JSON,
  HTML,
  COMPARE,
  FILES
};

static PetscErrorCode BenchOptions(Bench *b, char files[FILES][PETSC_MAX_PATH_LEN])
{
  const char *const  peers[] = {"sell", "aijperm", "csr", "mkl", "graphblas"};
  const char *const *types;
  char              *names[MAX_OPERATIONS];
  PetscInt           n = MAX_OPERATIONS, ntypes;
  PetscBool          given, processor = PETSC_FALSE;

  PetscFunctionBegin;
  b->ntypes = MAX_CONTENDERS;
  b->budget = 0.3;
  PetscCall(CommandGetOutputs(b->comm, files[CSV], files[JSON], PETSC_MAX_PATH_LEN));
  PetscOptionsBegin(b->comm, NULL, "Measuring options", "");
  PetscCall(PetscOptionsStringArray("-types", "Mat types and other libraries (csr, mkl, graphblas)", NULL, b->types, &b->ntypes, &given));
  for (PetscInt t = 0; t < b->ntypes && given; t++) PetscCall(ContenderCheckType(b->comm, b->types[t]));
  if (!given) {
    PetscCall(PetscAMBGetTypes(PETSC_TRUE, &ntypes, &types));
    PetscCheck(1 + ntypes + (PetscInt)PETSC_STATIC_ARRAY_LENGTH(peers) <= MAX_CONTENDERS, b->comm, PETSC_ERR_PLIB, "Too many formats: raise MAX_CONTENDERS");
    PetscCall(PetscStrallocpy("aij", &b->types[0]));
    for (PetscInt t = 0; t < ntypes; t++) PetscCall(PetscStrallocpy(types[t], &b->types[1 + t]));
    b->ntypes = 1 + ntypes;
    for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(peers); t++) PetscCall(PetscStrallocpy(peers[t], &b->types[b->ntypes++]));
  }
  PetscCall(PetscOptionsStringArray("-ops", "Operations", NULL, names, &n, &given));
  if (!given) {
    n = 1;
    PetscCall(PetscStrallocpy("spmv", &names[0]));
  }
  b->ncolumns = MAX_COLUMNS;
  PetscCall(PetscOptionsIntArray("-columns", "Columns of the dense matrices in spmm, spmmt and sddmm", NULL, b->columns, &b->ncolumns, &given));
  if (!given) {
    b->ncolumns   = 1;
    b->columns[0] = 32;
  }
  for (PetscInt j = 0; j < b->ncolumns; j++) PetscCheck(b->columns[j] > 0, b->comm, PETSC_ERR_USER_INPUT, "-columns %" PetscInt_FMT " must be positive", b->columns[j]);
  PetscCall(PetscOptionsInt("-reps", "Timed runs of each; by default as many as fit -seconds, at least 11", NULL, b->reps, &b->reps, &given));
  PetscCheck(!given || b->reps > 0, b->comm, PETSC_ERR_USER_INPUT, "-reps %" PetscInt_FMT " must be positive", b->reps);
  PetscCall(PetscOptionsReal("-seconds", "Time for one operation of one contender, about", NULL, b->budget, &b->budget, NULL));
  PetscCall(PetscOptionsBool("-processor_time", "The time of the processors in the place of the clock's", NULL, processor, &processor, NULL));
  if (processor) {
    MachineTimeOfProcessor();
    PetscCall(ReportPrintf(b->comm, "times are those of the processors, summed over threads\n"));
  }
  PetscCall(PetscOptionsString("-html", "File for the results as bars and a roofline", NULL, files[HTML], files[HTML], PETSC_MAX_PATH_LEN, NULL));
  PetscCall(PetscOptionsString("-compare", "File that -csv wrote in an earlier run", NULL, files[COMPARE], files[COMPARE], PETSC_MAX_PATH_LEN, NULL));
  PetscOptionsEnd();
  for (PetscInt o = 0; o < n; o++) {
    const Operation *op      = OperationFind(names[o]);
    const char      *nearest = NULL;

    if (!op) PetscCall(OperationNearest(names[o], &nearest));
    PetscCheck(op || !nearest, b->comm, PETSC_ERR_ARG_UNKNOWN_TYPE, "-ops %s: there is no such operation; did you mean %s?", names[o], nearest);
    PetscCheck(op, b->comm, PETSC_ERR_ARG_UNKNOWN_TYPE, "-ops %s: there is no such operation (petscamb --help lists them)", names[o]);
    if (!op->product) PetscCall(BenchAddOperation(b, OperationFind("spmv"))); /* costs are given in products */
    PetscCall(BenchAddOperation(b, op));
    PetscCall(PetscFree(names[o]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes over the last line of the error output, or clears it; silent if nobody sees it */
static PetscErrorCode Progress(Bench *b, const char format[], ...)
{
  va_list arguments;

  PetscFunctionBegin;
  if (!b->progress) PetscFunctionReturn(PETSC_SUCCESS);
  fputs("\r\033[K", stderr);
  if (format) {
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
  }
  fflush(stderr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Once(Bench *b, const Operation *op, Contender c, Case *k, PetscLogDouble *seconds)
{
  PetscFunctionBegin;
  PetscCallMPI(MPI_Barrier(b->comm));
  PetscCall((*op->once)(c, k, seconds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Poisons the result, runs the operation again and checks the result */
static PetscErrorCode RightOrWrong(Bench *b, const Operation *op, Contender c, Case *k, PetscReal *error)
{
  PetscLogDouble t;
  PetscReal      e;

  PetscFunctionBegin;
  PetscCall(ContenderPoison(c, op->transpose ? k->yt : k->y));
  PetscCall(Once(b, op, c, k, &t));
  PetscCall((*op->check)(c, k, &e));
  *error = PetscMax(*error, e);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The number of timed runs of a contender */
static PetscErrorCode Repetitions(Bench *b, const Operation *op, Contender c, Case *k, PetscInt *reps)
{
  PetscLogDouble t;

  PetscFunctionBegin;
  PetscCall(Once(b, op, c, k, &t));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &t, 1, MPI_DOUBLE, MPI_MAX, b->comm));
  *reps = b->reps;
  if (!*reps) *reps = (PetscInt)PetscMax(op->product ? 11.0 : 5.0, PetscMin(5000.0, b->budget / PetscMax(t, 1e-7)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The least time in which this machine reads so many bytes, measured between the products */
static PetscErrorCode ReadTurn(Bench *b, PetscLogDouble bytes, PetscLogDouble *least)
{
  const size_t mine  = (size_t)(bytes / b->machine.ranks) / 512 * 512;
  const size_t reads = PetscMin(PetscMax(mine, 512), b->machine.bytes / 512 * 512);

  PetscFunctionBegin;
  for (int pass = 0; pass < 2 * MACHINE_READ_KERNELS; pass++) {
    PetscLogDouble t;

    PetscCallMPI(MPI_Barrier(b->comm));
    PetscCall(MachineRead(&b->machine, reads, pass % MACHINE_READ_KERNELS, &t));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &t, 1, MPI_DOUBLE, MPI_MAX, b->comm));
    t *= bytes / b->machine.ranks / (PetscLogDouble)reads;
    if (pass >= MACHINE_READ_KERNELS) *least = *least > 0 ? PetscMin(*least, t) : t;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ResultAdd(Bench *b, const Operation *op, Contender c, Case *k, Result **result)
{
  Result *r;
  char   *base;

  PetscFunctionBegin;
  if (b->nresults == b->capacity) {
    Result *more;

    PetscCall(PetscCalloc1(2 * b->capacity + 64, &more));
    PetscCall(PetscArraycpy(more, b->results, b->nresults));
    PetscCall(PetscFree(b->results));
    b->results  = more;
    b->capacity = 2 * b->capacity + 64;
  }
  r = &b->results[b->nresults++];
  PetscCall(PetscStrrchr(k->name, '/', &base)); /* the part after the last slash, or all */
  PetscCall(PetscStrncpy(r->matrix, base, sizeof(r->matrix)));
  if (op->columns) PetscCall(PetscSNPrintf(r->op, sizeof(r->op), "%s:%" PetscInt_FMT, op->name, k->columns));
  else PetscCall(PetscStrncpy(r->op, op->name, sizeof(r->op)));
  PetscCall(PetscStrncpy(r->type, c->name, sizeof(r->type)));
  r->rows     = k->shape.M;
  r->cols     = k->shape.N;
  r->nonzeros = k->shape.nonzeros;
  r->fem_like = k->shape.fem_like;
  r->product  = op->product;
  *result     = r;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The middle of a list that this function sorts, and the numbers between which the median of all such lists lies with a probability of at least 95 %, as far as the list is long enough */
PetscErrorCode MedianOf(PetscInt n, PetscReal list[], PetscLogDouble *median, PetscLogDouble *low, PetscLogDouble *high)
{
  const PetscInt k = PetscMax((PetscInt)(((double)n - 1.96 * sqrt((double)n)) / 2), 1); /* quantiles of the binomial distribution */

  PetscFunctionBegin;
  PetscCall(PetscSortReal(n, list));
  *median = (list[(n - 1) / 2] + list[n / 2]) / 2;
  *low    = list[k - 1];
  *high   = list[n - k];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The end of a turn in the list of timed runs */
static PetscInt TurnEnd(PetscInt reps, PetscInt round, PetscInt rounds)
{
  return (PetscInt)((PetscInt64)reps * (round + 1) / rounds);
}

/* The median of each turn; sorts the times in each turn */
static PetscErrorCode TurnMedians(PetscInt reps, PetscInt rounds, PetscReal times[], PetscReal turns[])
{
  PetscLogDouble median, low, high;

  PetscFunctionBegin;
  for (PetscInt round = 0, begin = 0; round < rounds; round++) {
    const PetscInt end = TurnEnd(reps, round, rounds);

    PetscCall(MedianOf(end - begin, times + begin, &median, &low, &high));
    turns[round] = (PetscReal)median;
    begin        = end;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Measured(Bench *b, const Operation *op, Contender c, Case *k, PetscInt reps, PetscReal times[], PetscLogDouble read, PetscReal error, PetscBool *right)
{
  Result *r;

  PetscFunctionBegin;
  PetscCall(ResultAdd(b, op, c, k, &r));
  PetscCall(PetscStrncpy(r->note, c->note, sizeof(r->note)));
  r->reps = reps;
  PetscCall(MedianOf(reps, times, &r->median, &r->median_low, &r->median_high));
  r->least = times[0];
  r->error = error;
  if (op->product) {
    PetscLogDouble flops = 2.0 * k->shape.nonzeros;

    if (op->flops) PetscCall((*op->flops)(k, &flops));
    r->flops = flops / r->median;
    PetscCall((*op->bytes)(c, k, &r->bytes));
    r->matrix_bytes = c->bytes;
    if (read > 0) r->read = PetscMin(read / r->median, 1); /* a product that beats the loop shows how fast the bytes can be read */
  }
  if (op == OperationFind("spmv")) c->median_mult = r->median;
  if (!op->product && c->median_mult > 0) r->products = r->median / c->median_mult;
  PetscCall(PetscStrncpy(r->status, error <= 1 ? "ok" : "WRONG", sizeof(r->status)));
  if (!(error <= 1)) *right = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Times all contenders in turn, in as many rounds as the smallest number of repetitions */
static PetscErrorCode BenchOperation(Bench *b, const Operation *op, Case *k, PetscInt n, Contender all[], PetscBool *right)
{
  Contender      c[MAX_CONTENDERS];
  PetscInt       nc = 0, reps[MAX_CONTENDERS], done[MAX_CONTENDERS], rounds = PETSC_MAX_INT, first = b->nresults, aij = -1;
  PetscReal     *times[MAX_CONTENDERS], error[MAX_CONTENDERS], turns[MAX_CONTENDERS][TURNS];
  PetscLogDouble read[MAX_CONTENDERS];

  PetscFunctionBegin;
  k->kind = op->pair;
  for (PetscInt t = 0; t < n; t++) {
    PetscBool can = PETSC_FALSE;

    if (!all[t]->absent[0]) PetscCall((*op->can)(all[t], &can));
    if (can) c[nc++] = all[t];
  }
  for (PetscInt t = 0; t < nc; t++) {
    done[t]  = 0;
    error[t] = read[t] = 0;
    if (c[t]->peer->load) PetscCall((*c[t]->peer->load)(c[t], op->transpose ? k->xt : k->x));
    if (c[t]->device[0]) PetscCall((*c[t]->peer->load)(c[t], k->z));
    PetscCall(RightOrWrong(b, op, c[t], k, &error[t]));
    PetscCall(Repetitions(b, op, c[t], k, &reps[t]));
    PetscCall(PetscMalloc1(reps[t], &times[t]));
    rounds = PetscMin(rounds, PetscMin(reps[t], TURNS));
  }
  for (PetscInt round = 0; round < rounds && nc; round++) {
    for (PetscInt t = 0; t < nc; t++) {
      const PetscInt until = TurnEnd(reps[t], round, rounds);
      PetscLogDouble bytes, seconds;

      PetscCall(Progress(b, "%s %s %s: turn %" PetscInt_FMT " of %" PetscInt_FMT, k->name, op->name, c[t]->name, round + 1, rounds));
      if (op->product) PetscCall(Once(b, op, c[t], k, &seconds)); /* brings the contender's data back to the cache, as far as they fit */
      if (round == rounds - 1) PetscCall(ContenderPoison(c[t], op->transpose ? k->yt : k->y));
      while (done[t] < until) {
        PetscCall(Once(b, op, c[t], k, &seconds));
        times[t][done[t]++] = (PetscReal)seconds;
      }
      PetscCall((*op->bytes)(c[t], k, &bytes));
      if (bytes > 0 && !c[t]->device[0]) PetscCall(ReadTurn(b, bytes, &read[t])); /* the rate of the host says nothing about a GPU */
      if (round == rounds - 1) {
        PetscReal e;

        PetscCall((*op->check)(c[t], k, &e));
        error[t] = PetscMax(error[t], e);
      }
    }
  }
  for (PetscInt t = 0; t < nc; t++) {
    PetscBool plain;

    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, times[t], (PetscMPIInt)reps[t], MPIU_REAL, MPIU_MAX, b->comm));
    PetscCall(TurnMedians(reps[t], rounds, times[t], turns[t]));
    PetscCall(Measured(b, op, c[t], k, reps[t], times[t], read[t], error[t], right));
    PetscCall(PetscFree(times[t]));
    PetscCall(PetscStrcmp(c[t]->name, MATAIJ, &plain));
    if (plain && aij < 0) aij = first + t;
  }
  for (PetscInt t = 0; t < nc && aij >= 0 && op->product; t++) {
    Result        *r = &b->results[first + t];
    PetscReal      ratios[TURNS];
    PetscLogDouble middle;

    for (PetscInt round = 0; round < rounds; round++) ratios[round] = turns[aij - first][round] / turns[t][round];
    PetscCall(MedianOf(rounds, ratios, &middle, &r->ratio_low, &r->ratio_high));
    r->ratio      = b->results[aij].median / r->median;
    r->ratio_low  = PetscMin(r->ratio_low, r->ratio);
    r->ratio_high = PetscMax(r->ratio_high, r->ratio);
  }
  PetscCall(Progress(b, NULL));
  if (b->csv) PetscCall(ReportCSV(b->csv, &b->machine, b->nresults - first, b->results + first));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes products until a matrix has chosen its format */
static PetscErrorCode Settle(Bench *b, Contender c, Case *k)
{
  PetscMPIInt tuning = 1;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < SETTLE || (tuning && n < SETTLE_MOST); n++) {
    MatShadowInfo info;

    PetscCall((*c->peer->mult)(c, k->x, k->y));
    PetscCall(MatShadowGetInfo(c->A, &info));
    tuning = info.tuning ? 1 : 0;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &tuning, 1, MPI_INT, MPI_MAX, b->comm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BenchCase(Bench *b, const char name[], PetscBool *right)
{
  Contender c[MAX_CONTENDERS];
  Case      k;
  PetscInt  first = b->nresults, present = 0, measured;

  PetscFunctionBegin;
  PetscCall(Progress(b, "%s: reading", name));
  PetscCall(CaseCreate(b->comm, name, &k));
  for (PetscInt t = 0; t < b->ntypes; t++) {
    PetscCall(Progress(b, "%s: converting to %s", name, b->types[t]));
    PetscCall(ContenderCreate(&k, b->types[t], &c[t]));
    if (!c[t]->absent[0]) {
      present++;
      if (c[t]->shadow) PetscCall(Settle(b, c[t], &k));
      if (c[t]->peer->describe) PetscCall((*c[t]->peer->describe)(c[t]));
    }
  }
  PetscCheck(present, b->comm, PETSC_ERR_USER_INPUT, "None of the types asked for is here; the first, %s: %s", c[0]->name, c[0]->absent);
  for (PetscInt o = 0; o < b->nops; o++) {
    for (PetscInt j = 0; j < (b->ops[o]->columns ? b->ncolumns : 1); j++) {
      k.columns = b->columns[j];
      PetscCall(BenchOperation(b, b->ops[o], &k, b->ntypes, c, right));
    }
  }
  measured = b->nresults;
  for (PetscInt t = 0; t < b->ntypes; t++) {
    Result *r;

    if (!c[t]->absent[0]) continue;
    PetscCall(ResultAdd(b, b->ops[0], c[t], &k, &r));
    PetscCall(PetscStrncpy(r->status, "absent", sizeof(r->status)));
    PetscCall(PetscStrncpy(r->absent, c[t]->absent, sizeof(r->absent)));
  }
  if (b->csv) PetscCall(ReportCSV(b->csv, &b->machine, b->nresults - measured, b->results + measured));
  PetscCall(Progress(b, NULL));
  PetscCall(ReportCase(b->comm, &k, b->nresults - first, b->results + first));
  for (PetscInt t = 0; t < b->ntypes; t++) PetscCall(ContenderDestroy(&c[t]));
  PetscCall(CaseDestroy(&k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BenchRun(MPI_Comm comm, int n, char *inputs[], PetscBool *right)
{
  Bench       b;
  char        files[FILES][PETSC_MAX_PATH_LEN] = {"", "", "", ""};
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&b, sizeof(b)));
  b.comm = comm;
  *right = PETSC_TRUE;
  PetscCall(BenchOptions(&b, files));
  PetscCheck(n > 0, comm, PETSC_ERR_USER_INPUT, "bench needs at least one file or generator, such as p7:50 (petscamb --help lists them)");
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  b.progress = !rank && isatty(STDERR_FILENO) ? PETSC_TRUE : PETSC_FALSE;
  if (files[COMPARE][0]) PetscCall(CompareCSV(comm, files[COMPARE], NULL, 0, NULL)); /* before hours of measuring */
  if (files[CSV][0]) PetscCall(ReportOpen(comm, files[CSV], &b.csv));
  if (b.csv) PetscCall(ReportCSVHeader(b.csv));
  PetscCall(MachineCreate(comm, b.budget, &b.machine));
  PetscCall(ReportMachine(comm, &b.machine));
  for (int i = 0; i < n; i++) PetscCall(BenchCase(&b, inputs[i], right));
  PetscCall(ReportSummary(comm, b.nresults, b.results));
  if (files[COMPARE][0]) PetscCall(CompareCSV(comm, files[COMPARE], &b.machine, b.nresults, b.results));
  PetscCall(ReportClose(files[CSV], PETSC_TRUE, b.csv));
  if (files[JSON][0]) PetscCall(ReportJSON(comm, files[JSON], &b.machine, b.nresults, b.results));
  if (files[HTML][0]) PetscCall(PlotBench(comm, files[HTML], &b.machine, b.nresults, b.results));
  PetscCall(MachineDestroy(&b.machine));
  for (PetscInt t = 0; t < b.ntypes; t++) PetscCall(PetscFree(b.types[t]));
  PetscCall(PetscFree(b.results));
  PetscFunctionReturn(PETSC_SUCCESS);
}
