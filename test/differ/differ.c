/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "Random sequences of PETSc calls on matrices of the type under test and on plain MATAIJ, with everything compared after each call; see docs/testing.md.\n\
  -differ_seed <1>       the seed of the first sequence\n\
  -differ_sequences <10> how many sequences, of which the seeds follow one another\n\
  -differ_length <20>    operations of a sequence\n\
  -differ_seconds <0>    an end to all before that number, if it is not 0\n\
  -differ_list           print the sequences and do not run them\n\
  -differ_run <file>     run the sequences in that file, a line each: the seed of the pool, then OPERATION:SEED for each operation; with -differ_seed, then the others\n\
  -differ_third <type>   with which the type under test may agree instead of AIJ; aijcusparse if the type under test lives on a GPU\n\
  -differ_talk           name each operation before it is applied\n";

#include "differ.h"
#include <stdlib.h>
#if defined(PETSC_HAVE_CUDA)
  #include <petscdevice_cuda.h>
#endif

#define LENGTH 4096 /* operations of a sequence at most */
#define ALONE  10   /* seconds after which a process that got an error takes the others for lost */

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
static MPI_Comm              meeting;
static DifferNote           *notes[DIFFER_SIDES];

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
static void GetStates(const DifferPool *pool, PetscObjectState before[][DIFFER_SIDES][2])
{
  for (int k = 0; k < DIFFER_SLOTS; k++) {
    for (int side = 0; side < DIFFER_SIDES; side++) {
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
  PetscBool goes[DIFFER_SLOTS];

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < PetscMax(s->nresults[0], s->nresults[1]); k++) {
    DifferPair pair = {.ours = s->ours[k]};
    int        slot = (int)(DifferMix(s->seed + (uint64_t)k) % DIFFER_SLOTS);

    if (failed) continue; /* PETSc may not be able to destroy it */
    for (int side = 0; side < DIFFER_SIDES; side++) pair.m[side] = s->results[side][k];
    for (int j = 0; j < DIFFER_SLOTS && (s->pool->pair[slot].m[0] || s->touched[slot]); j++) slot = (slot + 1) % DIFFER_SLOTS;
    if (s->pool->pair[slot].m[0]) slot = (int)(DifferMix(s->seed + (uint64_t)k) % DIFFER_SLOTS);
    PetscCall(DifferPairDestroy(&s->pool->pair[slot]));
    PetscCall(DifferPairUpdate(&pair, PETSC_TRUE));
    s->pool->pair[slot] = pair;
    s->touched[slot]    = PETSC_TRUE;
    s->dropped[slot]    = PETSC_FALSE;
  }
  for (int k = 0; k < DIFFER_SLOTS; k++) {
    const DifferPair *pair = &s->pool->pair[k];
    const Mat         R    = pair->m[DIFFER_REFERENCE];

    goes[k] = (PetscBool)(s->touched[k] && R && (failed || s->dropped[k] || (!(pair->norm < PETSC_MAX_REAL) && s->seed % 3 == 0) || pair->norm > 1e8 || R->rmap->N > 400 || R->cmap->N > 400));
  }
  PetscCall(DifferOnAny(DIFFER_SLOTS, goes));
  for (int k = 0; k < DIFFER_SLOTS; k++) {
    if (!goes[k]) continue;
    if (failed) PetscCall(PetscMemzero(&s->pool->pair[k], sizeof(DifferPair)));
    else PetscCall(DifferPairDestroy(&s->pool->pair[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Says where an error was raised and goes on: PETSc's own handler ends all processes but the first */
static PetscErrorCode Trace(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode n, PetscErrorType type, const char *text, void *ctx)
{
  (void)printf("#     %s %s:%d %s\n", function, file, line, type == PETSC_ERROR_INITIAL && text ? text : "");
  return TestKeepMessage(comm, line, function, file, n, type, text, ctx);
}

#define Swap(Type, a, b) \
  do { \
    Type a_ = (a); \
    (a)     = (b); \
    (b)     = a_; \
  } while (0)

/* The third type takes the place of AIJ, and AIJ that of the third type */
static void SwapReferences(DifferStep *s, PetscObjectState before[][DIFFER_SIDES][2], PetscErrorCode ierr[])
{
  for (int k = 0; k < DIFFER_SLOTS; k++) {
    Swap(Mat, s->pool->pair[k].m[DIFFER_REFERENCE], s->pool->pair[k].m[DIFFER_THIRD]);
    for (int which = 0; which < 2; which++) Swap(PetscObjectState, before[k][DIFFER_REFERENCE][which], before[k][DIFFER_THIRD][which]);
  }
  for (int k = 0; k < DIFFER_RESULTS; k++) Swap(Mat, s->results[DIFFER_REFERENCE][k], s->results[DIFFER_THIRD][k]);
  Swap(PetscInt, s->nresults[DIFFER_REFERENCE], s->nresults[DIFFER_THIRD]);
  Swap(PetscInt, s->nnotes[DIFFER_REFERENCE], s->nnotes[DIFFER_THIRD]);
  Swap(DifferNote *, s->notes[DIFFER_REFERENCE], s->notes[DIFFER_THIRD]);
  Swap(PetscErrorCode, ierr[DIFFER_REFERENCE], ierr[DIFFER_THIRD]);
}

/* The differences of a step from AIJ or, if there are some, from the third type. Where AIJ and the third type differ, their matrices have to go. */
static PetscErrorCode Judge(DifferStep *s, const Item *item, PetscObjectState before[][DIFFER_SIDES][2], PetscErrorCode ierr[], PetscBool *failed, PetscBool last, TestDiff *d)
{
  TestDiff    t = {NULL, 0};
  static char what[1024], both[2048];

  PetscFunctionBeginUser;
  s->against = DIFFER_REFERENCE;
  PetscCall(DifferCompare(s, (const PetscObjectState(*)[DIFFER_SIDES][2])before, ierr, *failed, last, d));
  if (!DifferThird()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrncpy(what, d->what ? d->what : "", sizeof(what)));
  s->against = DIFFER_THIRD;
  SwapReferences(s, before, ierr);
  PetscCall(DifferCompare(s, (const PetscObjectState(*)[DIFFER_SIDES][2])before, ierr, *failed, last, &t));
  SwapReferences(s, before, ierr);
  if (d->what) {
    PetscCall(PetscSNPrintf(both, sizeof(both), "%s; against the third type: %s", what, t.what ? t.what : ""));
    d->what = both;
  }
  if ((d->err > TEST_TOLERANCE) == (t.err > TEST_TOLERANCE)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "# %s:%llu, AIJ and the third type differ, this side is %s: %s\n", item->op->name, (unsigned long long)item->seed, t.err > TEST_TOLERANCE ? "as AIJ" : "as the third type", t.err > TEST_TOLERANCE ? (t.what ? t.what : "") : what));
  d->what = NULL;
  d->err  = 0;
  *failed = PETSC_TRUE;
  s->pool->excused++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ends the program: what AIJ and the third type cannot do is not asked for, and the sequence does not count */
static void LeaveOut(const DifferStep *s, const char *op, const char *why)
{
  (void)printf("%s: %s:%llu: %s\n", s->side == DIFFER_TEST ? "not ok" : "left out", op, (unsigned long long)s->seed, why);
  (void)fflush(stdout);
  (void)MPI_Abort(PETSC_COMM_WORLD, 1);
}

/* Waits until all processes have applied an operation. One that got an error waits some seconds only: if the others do not come, they are in a call that this process has
   left, and never end. */
static PetscErrorCode Meet(const DifferStep *s, const char *op, PetscErrorCode ierr)
{
  const double begin = MPI_Wtime();
  int          all   = 0;
  MPI_Request  request;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Ibarrier(meeting, &request));
  if (!ierr) PetscCallMPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
  while (ierr && !all) {
    PetscCallMPI(MPI_Test(&request, &all, MPI_STATUS_IGNORE));
    if (!all && MPI_Wtime() - begin > ALONE) {
      char why[2200];

      PetscCall(PetscSNPrintf(why, sizeof(why), "error %d on single processes: %s", (int)ierr, TestErrorMessage));
      LeaveOut(s, op, why);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An error of a kernel shows late: on the side that launched it, if that side waits for the GPU */
static PetscErrorCode Synchronize(const DifferStep *s, const char *op)
{
#if defined(PETSC_HAVE_CUDA)
  if (DifferThird() && cudaDeviceSynchronize() != cudaSuccess) {
    if (s->side == DIFFER_THIRD) LeaveOut(s, op, "the third type has stopped the GPU");
    return PETSC_ERR_GPU;
  }
#endif
  return PETSC_SUCCESS;
}

static PetscErrorCode Step(DifferPool *pool, const Item *item, PetscBool last, TestDiff *d)
{
  static const char *const names[] = {"matrix under test", "reference", "third type"};
  static const int         order[] = {DIFFER_REFERENCE, DIFFER_THIRD, DIFFER_TEST}; /* an error of PETSc itself shows first */
  DifferStep               s       = {.pool = pool, .seed = item->seed};
  PetscObjectState         before[DIFFER_SLOTS][DIFFER_SIDES][2];
  PetscErrorCode           ierr[DIFFER_SIDES] = {PETSC_SUCCESS};
  int                      worst              = 0;
  PetscBool                failed;

  PetscFunctionBeginUser;
  for (int side = 0; side < DIFFER_SIDES; side++) s.notes[side] = notes[side];
  GetStates(pool, before);
  TestErrorMessage[0] = 0;
  for (int k = 0; k < DIFFER_SIDES; k++) {
    if (order[k] == DIFFER_THIRD && !DifferThird()) continue;
    s.side   = order[k];
    s.state  = item->seed;
    s.npicks = 0;
    if (talk) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "# %s:%llu on the %s\n", item->op->name, (unsigned long long)item->seed, names[s.side]));
    DifferSetSide(s.side);
    PetscCall(PetscPushErrorHandler(talk ? Trace : TestKeepMessage, NULL));
    ierr[s.side] = (*item->op->apply)(&s);
    PetscCall(PetscPopErrorHandler());
    if (!ierr[s.side]) ierr[s.side] = Synchronize(&s, item->op->name);
    PetscCall(Meet(&s, item->op->name, ierr[s.side]));
    DifferSetSide(DIFFER_TEST);
    worst = PetscMax(worst, (int)ierr[s.side]);
    if (talk && ierr[s.side]) PetscCall(PetscFPrintf(PETSC_COMM_SELF, stdout, "#   error %d: %s\n", (int)ierr[s.side], TestErrorMessage));
    for (int slot = 0; talk && slot < DIFFER_SLOTS; slot++) {
      const Mat A = pool->pair[slot].m[s.side];

      if (s.touched[slot] && A) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "#   slot %d: %s, %" PetscInt_FMT " x %" PetscInt_FMT ", nonzero state %lld\n", slot, ((PetscObject)A)->type_name, A->rmap->N, A->cmap->N, (long long)A->nonzerostate));
    }
    for (PetscInt r = 0; talk && r < s.nresults[s.side]; r++) {
      const Mat A = s.results[s.side][r];

      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "#   makes %s, nonzero state %lld\n", A ? ((PetscObject)A)->type_name : "nothing", A ? (long long)A->nonzerostate : 0));
    }
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD));
  PetscCall(PetscObjectDestroy(&s.shared));
  failed = (PetscBool)(worst != 0);
  PetscCall(Judge(&s, item, before, ierr, &failed, last, d));
  if (d->err > TEST_TOLERANCE) PetscFunctionReturn(PETSC_SUCCESS);
  if (failed) pool->errors++;
  PetscCall(Settle(&s, failed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt excused = 0; /* operations of all sequences */

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
  excused += pool->excused;
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
  int            step       = 0;
  char           what[2048] = "";

  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "sequence %llu\n", (unsigned long long)q->seed));
  (void)fflush(stdout);
  PetscCall(Run(q, &d, &step, &left));
  if (DifferThird()) left = 0; /* of which type the memory is cannot be told */
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

/* AIJCUSPARSE, if the type under test goes to a GPU */
static PetscErrorCode ChooseThird(void)
{
  char      name[64];
  PetscBool given, device = PETSC_FALSE;
  Mat       A;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-differ_third", name, sizeof(name), &given));
  if (!given && !DifferIsPlain()) {
    PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
    PetscCall(MatSetSizes(A, 1, 1, PETSC_DETERMINE, PETSC_DETERMINE));
    PetscCall(MatSetFromOptions(A));
    PetscCall(MatSetUp(A));
    PetscCall(TestOnDevice(A, &device));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(DifferSetThird(given ? name : device ? MATAIJCUSPARSE : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Sequence      *q;
  PetscInt       count = 10, length = 20, first = 1, run = 0;
  PetscReal      seconds = 0;
  PetscLogDouble begin, now;
  PetscBool      list, given, drawn, good = PETSC_TRUE;
  char           path[PETSC_MAX_PATH_LEN];

  PetscCall(PetscMallocSetDebug(PETSC_FALSE, PETSC_TRUE)); /* counts what is allocated, and fills it with what is no number */
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-differ_seed", &first, &drawn));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-differ_sequences", &count, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-differ_length", &length, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-differ_seconds", &seconds, NULL));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-differ_talk", &talk));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-differ_list", &list));
  PetscCallMPI(MPI_Comm_dup(PETSC_COMM_WORLD, &meeting));
  PetscCall(ChooseThird());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-differ_run", path, sizeof(path), &given));
  PetscCheck(length <= LENGTH, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-differ_length: at most %d", LENGTH);
  PetscCall(PetscNew(&q));
  for (int side = 0; side < DIFFER_SIDES; side++) PetscCall(PetscMalloc1(DIFFER_NOTES, &notes[side]));
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
  }
  for (PetscInt k = 0; k < count && good && (drawn || !given); k++) {
    Draw((uint64_t)(first + k), (int)length, q);
    if (list) {
      PetscCall(Print(q));
      continue;
    }
    PetscCall(RunAndReport(q, &good));
    run++;
    PetscCall(PetscTime(&now));
    PetscCallMPI(MPI_Bcast(&now, 1, MPI_DOUBLE, 0, PETSC_COMM_WORLD));
    if (seconds > 0 && now - begin > seconds) count = k + 1;
  }
  if (good && !list) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "ok %" PetscInt_FMT " sequences\n", run));
  if (DifferThird()) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "excused %" PetscInt_FMT " operations in which AIJ and the third type differ\n", excused));
  for (int side = 0; side < DIFFER_SIDES; side++) PetscCall(PetscFree(notes[side]));
  PetscCall(PetscFree(q));
  PetscCallMPI(MPI_Comm_free(&meeting));
  DifferSetSide(DIFFER_REFERENCE); /* or PETSc says that nobody has used -mat_type */
  PetscCall(PetscFinalize());
  return good ? 0 : 1;
}
