/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "Random sequences of PETSc calls on matrices of the type under test and on plain MATAIJ, with everything compared after each call; see docs/testing.md.\n\
  -differ_seed <1>       the seed of the first sequence\n\
  -differ_sequences <10> how many sequences, of which the seeds follow one another\n\
  -differ_length <20>    operations of a sequence\n\
  -differ_seconds <0>    an end to all before that number, if it is not 0\n\
  -differ_list           print the sequences and do not run them\n\
  -differ_run <file>     run the sequences in that file, a line each: the seed of the pool, then OPERATION:SEED for each operation\n\
  -differ_talk           name each operation before it is applied\n";

#include "differ.h"
#include <stdlib.h>

#define LENGTH 4096 /* operations of a sequence at most */

typedef struct {
  const DifferOp *op;
  uint64_t        seed;
} Item;

typedef struct {
  uint64_t seed; /* of the pool */
  int      n;
  Item     item[LENGTH];
} Sequence;

static const DifferOp *const tables[] = {DifferCreations, DifferChanges, DifferDerivations, DifferConversions, DifferProducts, DifferQuestions, DifferSolvers};
static PetscBool             talk;
static DifferNote           *notes[2];

/* ------------------------------------------------- sequences ------------------------------------------------- */

static const DifferOp *FindOp(const char *name)
{
  for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(tables); t++) {
    for (const DifferOp *op = tables[t]; op->name; op++) {
      if (strcmp(op->name, name) == 0) return op;
    }
  }
  return NULL;
}

/* By weights; a sequence begins with creations */
static const DifferOp *DrawOp(uint64_t seed, int step)
{
  const size_t last = step < 3 ? 1 : PETSC_STATIC_ARRAY_LENGTH(tables);
  int          sum  = 0, draw;

  for (size_t t = 0; t < last; t++) {
    for (const DifferOp *op = tables[t]; op->name; op++) sum += op->weight;
  }
  draw = (int)(DifferMix(seed) % (uint64_t)sum);
  for (size_t t = 0; t < last; t++) {
    for (const DifferOp *op = tables[t]; op->name; op++) {
      draw -= op->weight;
      if (draw < 0) return op;
    }
  }
  return NULL;
}

static void Draw(uint64_t seed, int length, Sequence *q)
{
  q->seed = seed;
  q->n    = length;
  for (int k = 0; k < length; k++) {
    q->item[k].seed = DifferMix(DifferMix(seed) + (uint64_t)k) >> 32;
    q->item[k].op   = DrawOp(q->item[k].seed, k);
  }
}

static PetscErrorCode Print(const Sequence *q)
{
  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%llu", (unsigned long long)q->seed));
  for (int k = 0; k < q->n; k++) PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %s:%llu", q->item[k].op->name, (unsigned long long)q->item[k].seed));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Parse(char *line, Sequence *q)
{
  char *rest = line;

  PetscFunctionBeginUser;
  q->seed = strtoull(line, &rest, 10);
  q->n    = 0;
  for (char *word = strtok(rest, " \n"); word; word = strtok(NULL, " \n")) {
    char *colon = strchr(word, ':');

    PetscCheck(colon && q->n < LENGTH, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "%s is no OPERATION:SEED", word);
    *colon             = 0;
    q->item[q->n].op   = FindOp(word);
    q->item[q->n].seed = strtoull(colon + 1, NULL, 10);
    PetscCheck(q->item[q->n].op, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "There is no operation %s", word);
    q->n++;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- steps ------------------------------------------------- */

/* Object and nonzero states of all matrices, plus one: zero where there is none */
static void GetStates(const DifferPool *pool, PetscObjectState before[][2][2])
{
  for (int k = 0; k < DIFFER_SLOTS; k++) {
    for (int side = 0; side < 2; side++) {
      const Mat A = pool->pair[k].m[side];

      before[k][side][0] = before[k][side][1] = 0;
      if (!A) continue;
      (void)PetscObjectStateGet((PetscObject)A, &before[k][side][0]);
      before[k][side][0]++;
      before[k][side][1] = A->nonzerostate + 1;
    }
  }
}

/* Results go into slots; pairs that are too large, not numbers, or that an error has left in any state go */
static PetscErrorCode Settle(DifferStep *s, PetscBool failed)
{
  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < PetscMax(s->nresults[0], s->nresults[1]); k++) {
    DifferPair pair = {
      .m = {s->results[0][k], s->results[1][k]},
        .ours = s->ours[k]
    };
    int slot = (int)(DifferMix(s->seed + (uint64_t)k) % DIFFER_SLOTS);

    if (failed) continue; /* PETSc may not be able to destroy it */
    for (int j = 0; j < DIFFER_SLOTS && (s->pool->pair[slot].m[0] || s->touched[slot]); j++) slot = (slot + 1) % DIFFER_SLOTS;
    if (s->pool->pair[slot].m[0]) slot = (int)(DifferMix(s->seed + (uint64_t)k) % DIFFER_SLOTS);
    PetscCall(DifferPairDestroy(&s->pool->pair[slot]));
    PetscCall(DifferPairUpdate(&pair, PETSC_TRUE));
    s->pool->pair[slot] = pair;
    s->touched[slot]    = PETSC_TRUE;
    s->dropped[slot]    = PETSC_FALSE;
  }
  for (int k = 0; k < DIFFER_SLOTS; k++) {
    DifferPair *pair = &s->pool->pair[k];

    if (!s->touched[k] || !pair->m[DIFFER_REFERENCE]) continue;
    if (failed) PetscCall(PetscMemzero(pair, sizeof(*pair)));
    else if (s->dropped[k] || (!(pair->norm < PETSC_MAX_REAL) && s->seed % 3 == 0) || pair->norm > 1e8 || pair->m[DIFFER_REFERENCE]->rmap->N > 400 || pair->m[DIFFER_REFERENCE]->cmap->N > 400) PetscCall(DifferPairDestroy(pair));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Says where an error was raised and goes on: PETSc's own handler ends all processes but the first */
static PetscErrorCode Trace(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode n, PetscErrorType type, const char *text, void *ctx)
{
  (void)printf("#     %s %s:%d %s\n", function, file, line, type == PETSC_ERROR_INITIAL && text ? text : "");
  return TestKeepMessage(comm, line, function, file, n, type, text, ctx);
}

static PetscErrorCode Step(DifferPool *pool, const Item *item, PetscBool last, TestDiff *d)
{
  DifferStep s = {
    .pool = pool, .seed = item->seed, .notes = {notes[0], notes[1]}
  };
  PetscObjectState before[DIFFER_SLOTS][2][2];
  PetscErrorCode   ierr[2];
  int              worst[2];

  PetscFunctionBeginUser;
  GetStates(pool, before);
  TestErrorMessage[0] = 0;
  for (int k = 0; k < 2; k++) {
    s.side   = k ? DIFFER_TEST : DIFFER_REFERENCE;
    s.state  = item->seed;
    s.npicks = 0;
    if (talk) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "# %s:%llu on the %s\n", item->op->name, (unsigned long long)item->seed, k ? "matrix under test" : "reference"));
    DifferSetSide(s.side);
    PetscCall(PetscPushErrorHandler(talk ? Trace : TestKeepMessage, NULL));
    ierr[s.side] = (*item->op->apply)(&s);
    PetscCall(PetscPopErrorHandler());
    DifferSetSide(DIFFER_TEST);
    worst[s.side] = (int)ierr[s.side];
    if (talk && ierr[s.side]) PetscCall(PetscFPrintf(PETSC_COMM_SELF, stdout, "#   error %d: %s\n", (int)ierr[s.side], TestErrorMessage));
    for (int slot = 0; talk && k && slot < DIFFER_SLOTS; slot++) {
      const Mat A = pool->pair[slot].m[DIFFER_TEST];

      if (s.touched[slot] && A) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "#   slot %d: %s, %" PetscInt_FMT " x %" PetscInt_FMT "\n", slot, ((PetscObject)A)->type_name, A->rmap->N, A->cmap->N));
    }
    for (PetscInt r = 0; talk && k && r < s.nresults[DIFFER_TEST]; r++) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "#   makes %s\n", s.results[DIFFER_TEST][r] ? ((PetscObject)s.results[DIFFER_TEST][r])->type_name : "nothing"));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, worst, 2, MPI_INT, MPI_MAX, PETSC_COMM_WORLD));
  PetscCall(PetscObjectDestroy(&s.shared));
  PetscCall(DifferCompare(&s, before, ierr, (PetscBool)(worst[0] || worst[1]), last, d));
  if (d->err > TEST_TOLERANCE) PetscFunctionReturn(PETSC_SUCCESS);
  if (worst[0] || worst[1]) pool->errors++;
  PetscCall(Settle(&s, (PetscBool)(worst[0] || worst[1])));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bytes that a sequence leaves allocated, if PETSc counts them and no error has left some */
static PetscErrorCode Run(const Sequence *q, TestDiff *d, int *step, PetscLogDouble *left)
{
  DifferPool    *pool;
  PetscLogDouble begin, end;

  PetscFunctionBeginUser;
  PetscCall(PetscMallocGetCurrentUsage(&begin));
  PetscCall(PetscNew(&pool));
  PetscCall(DifferPoolCreate(q->seed, pool));
  for (*step = 0; *step < q->n; ++*step) {
    PetscCall(Step(pool, &q->item[*step], (PetscBool)(*step == q->n - 1), d));
    if (d->err > TEST_TOLERANCE) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(DifferPoolDestroy(pool));
  *left = pool->errors ? 0 : 1;
  PetscCall(PetscFree(pool));
  PetscCall(PetscMallocGetCurrentUsage(&end));
  *left *= end - begin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, left, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A sequence that leaves memory is run again: tables and buffers grow once, and a leak grows each time. What plain matrices leave is PETSc's. */
static PetscErrorCode RunAndReport(const Sequence *q, PetscBool *good)
{
  TestDiff       d = {NULL, 0};
  PetscLogDouble left, plain = 0;
  PetscMPIInt    rank, where;
  int            step      = 0;
  char           what[512] = "";

  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "sequence %llu\n", (unsigned long long)q->seed));
  (void)fflush(stdout);
  PetscCall(Run(q, &d, &step, &left));
  for (int again = 0; again < 2 && d.err <= TEST_TOLERANCE && left > 0; again++) PetscCall(Run(q, &d, &step, &left));
  if (d.err <= TEST_TOLERANCE && left > 0) {
    DifferBePlain(PETSC_TRUE);
    for (int again = 0; again < 2 && d.err <= TEST_TOLERANCE; again++) PetscCall(Run(q, &d, &step, &plain));
    DifferBePlain(PETSC_FALSE);
    left -= plain;
  }
  *good = (PetscBool)(d.err <= TEST_TOLERANCE && left <= 0);
  if (*good) PetscFunctionReturn(PETSC_SUCCESS);
  if (d.err <= TEST_TOLERANCE) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "not ok: %.0f bytes are left allocated each time\n", left));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  where = d.what ? rank : PETSC_MPI_INT_MAX;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &where, 1, MPI_INT, MPI_MIN, PETSC_COMM_WORLD));
  if (d.what) PetscCall(PetscStrncpy(what, d.what, sizeof(what)));
  PetscCallMPI(MPI_Bcast(what, (PetscMPIInt)sizeof(what), MPI_CHAR, where, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "not ok: %s:%llu, step %d: %s (%.1e on rank %d)\n", q->item[step].op->name, (unsigned long long)q->item[step].seed, step, what, (double)d.err, where));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Sequence      *q;
  PetscInt       count = 10, length = 20, first = 1, run = 0;
  PetscReal      seconds = 0;
  PetscLogDouble begin, now;
  PetscBool      list, given, good = PETSC_TRUE;
  char           path[PETSC_MAX_PATH_LEN];

  PetscCall(PetscMallocSetDebug(PETSC_FALSE, PETSC_TRUE)); /* counts what is allocated, and fills it with what is no number */
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-differ_seed", &first, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-differ_sequences", &count, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-differ_length", &length, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-differ_seconds", &seconds, NULL));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-differ_talk", &talk));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-differ_list", &list));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-differ_run", path, sizeof(path), &given));
  PetscCheck(length <= LENGTH, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-differ_length: at most %d", LENGTH);
  PetscCall(PetscNew(&q));
  for (int side = 0; side < 2; side++) PetscCall(PetscMalloc1(DIFFER_NOTES, &notes[side]));
  PetscCall(PetscTime(&begin));
  if (given) {
    FILE *file = fopen(path, "r");
    char *line;

    PetscCheck(file, PETSC_COMM_WORLD, PETSC_ERR_FILE_OPEN, "Cannot open %s", path);
    PetscCall(PetscMalloc1(64 * LENGTH, &line));
    while (good && fgets(line, 64 * LENGTH, file)) {
      if (*line == '#' || *line == '\n') continue;
      PetscCall(Parse(line, q));
      PetscCall(RunAndReport(q, &good));
      run++;
    }
    PetscCall(PetscFree(line));
    fclose(file);
  } else {
    for (; run < count && good; run++) {
      Draw((uint64_t)(first + run), (int)length, q);
      if (list) {
        PetscCall(Print(q));
        continue;
      }
      PetscCall(RunAndReport(q, &good));
      PetscCall(PetscTime(&now));
      PetscCallMPI(MPI_Bcast(&now, 1, MPI_DOUBLE, 0, PETSC_COMM_WORLD));
      if (seconds > 0 && now - begin > seconds) count = run + 1;
    }
  }
  if (good && !list) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "ok %" PetscInt_FMT " sequences\n", run));
  for (int side = 0; side < 2; side++) PetscCall(PetscFree(notes[side]));
  PetscCall(PetscFree(q));
  PetscCall(PetscFinalize());
  return good ? 0 : 1;
}
