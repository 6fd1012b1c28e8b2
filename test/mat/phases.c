/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "The phases of a shadow, product by product: when it converts, renews values, gives up, and looks again.\n";

#include "mat/shadow/core/shadow.h"
#include "../testutil.h"
#include <petsctime.h>

static const TestShape blocks = {"blocks", 324, 324, TestRowBlocks, TestValueGeneral, PETSC_FALSE};

/* A matrix that measures, whose format has won already if settled is set */
static PetscErrorCode Create(PetscBool settled, Mat *A, MatShadow **s)
{
  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&blocks, NULL, A));
  PetscCall(MatShadowSetTune(*A, MAT_SHADOW_TUNE_MEASURE));
  if (settled) PetscCall(MatShadowSetUp(*A));
  PetscCall(MatShadowGet(*A, s));
  if (settled) (*s)->trial[0].verdict = MAT_SHADOW_FOR_FORMAT;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void ExpectMade(TestDiff *d, const char *what, const MatShadow *s, MatShadowPhase phase, PetscInt64 aij, PetscInt64 format)
{
  TestExpect(d, what, (PetscBool)(s->phase == phase && s->made[0] == aij && s->made[1] == format));
}

/* ------------------------------------------------- checks ------------------------------------------------- */

/* The table of docs/design.md */
static PetscErrorCode Transitions(TestDiff *d)
{
  static const struct {
    MatShadowEvent event;
    MatShadowPhase from, to;
  } moves[] = {
    {MAT_SHADOW_RESET,     MAT_SHADOW_WAITING,  MAT_SHADOW_WAITING },
    {MAT_SHADOW_RESET,     MAT_SHADOW_CURRENT,  MAT_SHADOW_WAITING },
    {MAT_SHADOW_RESET,     MAT_SHADOW_STALE,    MAT_SHADOW_WAITING },
    {MAT_SHADOW_RESET,     MAT_SHADOW_DECLINED, MAT_SHADOW_WAITING },
    {MAT_SHADOW_VALUES,    MAT_SHADOW_WAITING,  MAT_SHADOW_WAITING },
    {MAT_SHADOW_VALUES,    MAT_SHADOW_CURRENT,  MAT_SHADOW_STALE   },
    {MAT_SHADOW_VALUES,    MAT_SHADOW_STALE,    MAT_SHADOW_STALE   },
    {MAT_SHADOW_VALUES,    MAT_SHADOW_DECLINED, MAT_SHADOW_DECLINED},
    {MAT_SHADOW_CONVERTED, MAT_SHADOW_WAITING,  MAT_SHADOW_CURRENT },
    {MAT_SHADOW_CONVERTED, MAT_SHADOW_CURRENT,  MAT_SHADOW_CURRENT },
    {MAT_SHADOW_CONVERTED, MAT_SHADOW_STALE,    MAT_SHADOW_CURRENT },
    {MAT_SHADOW_CONVERTED, MAT_SHADOW_DECLINED, MAT_SHADOW_CURRENT },
    {MAT_SHADOW_UPDATED,   MAT_SHADOW_STALE,    MAT_SHADOW_CURRENT },
    {MAT_SHADOW_DECLINE,   MAT_SHADOW_WAITING,  MAT_SHADOW_DECLINED},
    {MAT_SHADOW_DECLINE,   MAT_SHADOW_CURRENT,  MAT_SHADOW_DECLINED},
    {MAT_SHADOW_DECLINE,   MAT_SHADOW_STALE,    MAT_SHADOW_DECLINED},
    {MAT_SHADOW_RETRY,     MAT_SHADOW_WAITING,  MAT_SHADOW_WAITING },
    {MAT_SHADOW_RETRY,     MAT_SHADOW_CURRENT,  MAT_SHADOW_CURRENT },
    {MAT_SHADOW_RETRY,     MAT_SHADOW_STALE,    MAT_SHADOW_STALE   },
    {MAT_SHADOW_RETRY,     MAT_SHADOW_DECLINED, MAT_SHADOW_WAITING }
  };

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(moves); k++) {
    MatShadow s = {.phase = moves[k].from};

    PetscCall(MatShadowMove(&s, moves[k].event));
    TestExpect(d, "an event leads to another phase", (PetscBool)(s.phase == moves[k].to));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Products on the AIJ until a conversion is repaid, the last of them timed; then as many on the format */
static PetscErrorCode Waits(TestDiff *d)
{
  PetscLogDouble since, now;
  Mat            A;
  MatShadow     *s;

  PetscFunctionBeginUser;
  PetscCall(Create(PETSC_FALSE, &A, &s));
  PetscCall(PetscTime(&since));
  for (PetscInt k = 0; k < SYS_TUNE_CONVERT; k++) {
    PetscCall(TestMultiply(A, 1));
    ExpectMade(d, "a product before the conversion", s, MAT_SHADOW_WAITING, k + 1, 0);
    TestExpect(d, "products are timed too early or too late", (PetscBool)(s->trial[0].ncsr == PetscMax(0, k + 1 - (SYS_TUNE_CONVERT - SYS_TUNE_LEAST))));
  }
  for (PetscInt k = 0; k < SYS_TUNE_LEAST; k++) {
    PetscCall(TestMultiply(A, 1));
    ExpectMade(d, "a product on trial", s, MAT_SHADOW_CURRENT, SYS_TUNE_CONVERT, k + 1);
    TestExpect(d, "products on trial are not counted", (PetscBool)(s->trial[0].nformat == k + 1 && s->trial[0].total == k + 1 && s->trial[0].verdict == MAT_SHADOW_OPEN));
  }
  PetscCall(PetscTime(&now));
  TestExpect(d, "the time of the conversion is more than all time", (PetscBool)(s->info.time_convert > 0 && s->info.time_convert <= now - since));
  TestExpect(d, "the times of the trial are not there", (PetscBool)(s->trial[0].time_csr > 0 && s->trial[0].time_format > 0 && s->trial[0].sum_format >= s->trial[0].total * s->trial[0].time_format));
  PetscCall(TestMultiply(A, 10 * SYS_TUNE_LEAST));
  TestExpect(d, "there is no verdict", (PetscBool)(s->trial[0].verdict != MAT_SHADOW_OPEN && s->trial[0].rounds > 0 && s->trial[1].verdict == MAT_SHADOW_OPEN));
  TestExpect(d, "the phase is not that of the verdict", (PetscBool)(s->phase == (s->trial[0].verdict == MAT_SHADOW_FOR_AIJ ? MAT_SHADOW_DECLINED : MAT_SHADOW_CURRENT)));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Nodes of three unknowns on a line with far neighbours: enough entries for 12 threads */
static PetscInt RowLong(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  const PetscInt distance[] = {-17, -1, 0, 1, 17};
  PetscInt       k          = 0;

  for (int d = 0; d < 5; d++) {
    const PetscInt other = i / 3 + distance[d];

    for (PetscInt dof = 0; dof < 3 && other >= 0 && other < M / 3; dof++) cols[k++] = 3 * other + dof;
  }
  return k;
}

static const TestShape large = {"large", 160000, 160000, RowLong, TestValueGeneral, PETSC_FALSE};
static const TestShape many  = {"many", 15000, 15000, RowLong, TestValueGeneral, PETSC_FALSE};

/* With more threads a conversion costs less and a product gains more: fewer products on the AIJ. A small matrix has one thread, whatever there are. */
static PetscErrorCode WaitsWithThreads(TestDiff *d)
{
  static const struct {
    const TestShape *shape;
    int              threads;
    PetscInt         convert, update, lasting;
  } cases[] = {
    {&many,   1,  40, 4, 8},
    {&many,   2,  16, 2, 4},
    {&many,   4,  8,  1, 2},
    {&many,   8,  5,  1, 1},
    {&many,   64, 4,  1, 1}, /* 12 threads; the last four products are timed */
    {&blocks, 8,  40, 4, 8}
  };
  const int before = SysThreads();

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); k++) {
    Mat        A;
    MatShadow *s;

    SysThreadsSet(cases[k].threads);
    PetscCall(TestShapeCreate(cases[k].shape, NULL, &A));
    PetscCall(MatShadowSetTune(A, MAT_SHADOW_TUNE_MEASURE));
    PetscCall(MatShadowGet(A, &s));
    PetscCall(TestMultiply(A, cases[k].convert));
    ExpectMade(d, "converted too early", s, MAT_SHADOW_WAITING, cases[k].convert, 0);
    TestExpect(d, "products before the conversion are not timed", (PetscBool)(s->trial[0].ncsr == SYS_TUNE_LEAST));
    PetscCall(TestMultiply(A, 1));
    ExpectMade(d, "converted too late", s, MAT_SHADOW_CURRENT, cases[k].convert, 1);
    s->trial[0] = (MatShadowTrial){.verdict = MAT_SHADOW_FOR_FORMAT}; /* without times, which would change the patience */
    s->served   = 0;                                                  /* as if these values had not lasted */
    PetscCall(MatScale(A, 2.0));
    PetscCall(TestMultiply(A, cases[k].update));
    ExpectMade(d, "new values are taken over too early", s, MAT_SHADOW_STALE, cases[k].convert + cases[k].update, 1);
    PetscCall(TestMultiply(A, PetscMax(1, cases[k].lasting - cases[k].update)));
    TestExpect(d, "new values are taken over too late", (PetscBool)(s->phase == MAT_SHADOW_CURRENT && s->info.updates == 1));
    PetscCall(MatScale(A, 0.5));
    PetscCall(TestMultiply(A, 1));
    TestExpect(d, "values after some that lasted are not taken over", (PetscBool)(s->phase == MAT_SHADOW_CURRENT && s->info.updates == 2));
    PetscCall(MatDestroy(&A));
  }
  SysThreadsSet(before);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values are taken over after some products, or at once if the previous ones lasted */
static PetscErrorCode Renews(TestDiff *d)
{
  Mat        A;
  MatShadow *s;

  PetscFunctionBeginUser;
  PetscCall(Create(PETSC_TRUE, &A, &s));
  PetscCall(TestMultiply(A, SYS_TUNE_LASTING - 1));
  ExpectMade(d, "products on the format", s, MAT_SHADOW_CURRENT, 0, SYS_TUNE_LASTING - 1);
  PetscCall(MatScale(A, 2.0));
  for (PetscInt k = 0; k < SYS_TUNE_UPDATE; k++) {
    PetscCall(TestMultiply(A, 1));
    ExpectMade(d, "a product with values that have to last first", s, MAT_SHADOW_STALE, k + 1, SYS_TUNE_LASTING - 1);
  }
  PetscCall(TestMultiply(A, SYS_TUNE_LASTING - SYS_TUNE_UPDATE));
  ExpectMade(d, "products with values that have lasted", s, MAT_SHADOW_CURRENT, SYS_TUNE_UPDATE, 2 * SYS_TUNE_LASTING - SYS_TUNE_UPDATE - 1);
  PetscCall(MatScale(A, 0.5));
  PetscCall(TestMultiply(A, 1));
  ExpectMade(d, "a product after values that have lasted", s, MAT_SHADOW_CURRENT, SYS_TUNE_UPDATE, 2 * SYS_TUNE_LASTING - SYS_TUNE_UPDATE);
  TestExpect(d, "the updates are not counted", (PetscBool)(s->info.updates == 2 && s->info.conversions == 1));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets of values, each multiplied by as many vectors */
static PetscErrorCode Step(Mat A, PetscInt sets, PetscInt products)
{
  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < sets; k++) {
    PetscCall(MatScale(A, 1.5));
    PetscCall(TestMultiply(A, products));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns the seconds of a conversion, with one thread, that are left after the gain of the next sets of values; each set has `products` products, and new memory takes `pages`
   seconds */
static PetscLogDouble ExpectedLoss(Mat A, const MatShadow *s, PetscInt sets, PetscInt products, PetscLogDouble pages)
{
  const PetscLogDouble convert = SYS_TUNE_CONVERT_FIXED + SYS_TUNE_CONVERT_ENTRY * (double)s->nz + SYS_TUNE_CONVERT_ROW * (double)A->rmap->n + pages;
  const PetscLogDouble product = SYS_TUNE_AIJ_ENTRY * (double)s->nz + SYS_TUNE_AIJ_ROW * (double)A->rmap->n;
  const PetscReal      more    = SYS_TUNE_SETS * (PetscReal)sets;

  return PetscMax(0, convert - product * (((1 + more) * (PetscReal)PetscMin(products, SYS_TUNE_RECENT * SYS_TUNE_LASTING) - SYS_TUNE_LEAST) * (1 - SYS_TUNE_PRODUCT) - more * SYS_TUNE_UPDATE * (1 - SYS_TUNE_PRODUCT)));
}

/* With few products for each set of values a conversion waits until the products of all sets repay it, and until what the next sets do not repay is a small part of the time. The
   test sets the times. */
static PetscErrorCode ConvertsEarly(TestDiff *d)
{
  static const PetscLogDouble ago = 1e9; /* seconds */
  static const struct {
    PetscInt       products, aij; /* with one set of values, and on the AIJ in all, if there is a conversion */
    PetscLogDouble pattern, program, slow;
  } cases[] = {
    {35, 74, ago,  ago,  1   }, /* two sets: 70 is more than 40 + 2 updates of 4, and four products are timed */
    {20, 64, ago,  ago,  1   },
    {10, 74, ago,  ago,  1   },
    {8,  84, ago,  ago,  1   },
    {7,  0,  ago,  ago,  1   }, /* new values would be copied after more products */
    {2,  0,  ago,  ago,  1   },
    {35, 0,  -ago, ago,  1   }, /* the pattern is new */
    {35, 0,  ago,  -ago, 1   }, /* other conversions took the time */
    {35, 0,  ago,  ago,  1e15}  /* conversions take longer than the model expects */
  };
  const MatShadowConversions converted = MatShadowConverted;
  const int                  before    = SysThreads();

  PetscFunctionBeginUser;
  SysThreadsSet(1);
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); k++) {
    const PetscInt aij = cases[k].aij, sets = 1 + (aij ? aij / cases[k].products : 14);
    Mat            A;
    MatShadow     *s;

    PetscCall(TestShapeCreate(&many, NULL, &A));
    PetscCall(MatShadowSetTune(A, MAT_SHADOW_TUNE_MEASURE));
    PetscCall(MatShadowGet(A, &s));
    PetscCall(TestMultiply(A, 1));
    s->past.since      = -cases[k].pattern;
    MatShadowConverted = (MatShadowConversions){.begin = -cases[k].program, .actual = cases[k].slow, .expected = 1};
    PetscCall(TestMultiply(A, cases[k].products - 1));
    PetscCall(Step(A, sets - 2, cases[k].products));
    PetscCall(Step(A, 1, aij ? 4 : cases[k].products));
    ExpectMade(d, "converted too early", s, MAT_SHADOW_WAITING, aij ? aij : sets * cases[k].products, 0);
    PetscCall(TestMultiply(A, 1));
    if (aij) ExpectMade(d, "converted too late", s, MAT_SHADOW_CURRENT, aij, 1);
    TestExpect(d, "the expected loss is not counted", PetscIsCloseAtTol(MatShadowConverted.early, aij ? ExpectedLoss(A, s, sets - 1, cases[k].products, 0) : 0, 1e-9, 1e-15));
    PetscCall(MatDestroy(&A));
  }
  MatShadowConverted = converted;
  SysThreadsSet(before);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscScalar ValueFloat(PetscInt i, PetscInt j)
{
  return 1 + (i + j) % 7;
}

static const TestShape floats = {"floats", 15000, 15000, RowLong, ValueFloat, PETSC_FALSE};

/* The smallest exact storage of values is sought for values that last, not after several changes; complex values have one storage */
static PetscErrorCode SeeksStorage(TestDiff *d)
{
  const MatShadowConversions converted = MatShadowConverted;
  const int                  before    = SysThreads();

  PetscFunctionBeginUser;
  SysThreadsSet(1);
  for (PetscInt changes = 0; changes < (PetscDefined(USE_COMPLEX) ? 1 : 4); changes += 3) {
    Mat        A;
    MatShadow *s;

    PetscCall(TestShapeCreate(&floats, NULL, &A));
    PetscCall(MatShadowSetTune(A, MAT_SHADOW_TUNE_MEASURE));
    PetscCall(MatShadowSetValues(A, MAT_SHADOW_VALUES_EXACT));
    PetscCall(MatShadowGet(A, &s));
    PetscCall(TestMultiply(A, 20));
    s->past.since      = -1e9;
    MatShadowConverted = (MatShadowConversions){.begin = -1e9, .actual = 1, .expected = 1};
    PetscCall(Step(A, changes, 20));
    PetscCall(TestMultiply(A, 30));
    TestExpect(d, "the storage of values", (PetscBool)(s->data && (s->info.bytes_stored < (double)sizeof(PetscScalar) * s->nz) == (sizeof(PetscScalar) == 8 && !changes)));
    PetscCall(MatDestroy(&A));
  }
  MatShadowConverted = converted;
  SysThreadsSet(before);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A conversion of a large matrix, whose memory is new to the process, waits longer: the time set here is enough without the system's work alone */
static PetscErrorCode CountsPages(TestDiff *d)
{
  const MatShadowConversions converted = MatShadowConverted;
  const int                  before    = SysThreads();

  PetscFunctionBeginUser;
  SysThreadsSet(1);
  for (PetscInt paged = 0; paged < 2; paged++) {
    const PetscLogDouble bytes = 15. * 160000 * sizeof(PetscScalar);
    Mat                  A;
    MatShadow           *s;

    PetscCall(TestShapeCreate(&large, NULL, &A));
    PetscCall(MatShadowSetTune(A, MAT_SHADOW_TUNE_MEASURE));
    PetscCall(MatShadowGet(A, &s));
    PetscCall(TestMultiply(A, 20));
    PetscCall(Step(A, 2, 20));
    s->past.since      = SysSeconds(CLOCK_THREAD_CPUTIME_ID) - (1e-3 + ExpectedLoss(A, s, 3, 20, paged ? SYS_TUNE_MAPPED_BYTE * bytes : 0)) / SYS_TUNE_EARLY;
    MatShadowConverted = (MatShadowConversions){.begin = -1e9};
    PetscCall(Step(A, 1, 5));
    TestExpect(d, "the pages of the format are not counted", (PetscBool)(s->phase == (paged ? MAT_SHADOW_CURRENT : MAT_SHADOW_WAITING)));
    PetscCall(MatDestroy(&A));
  }
  MatShadowConverted = converted;
  SysThreadsSet(before);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From the second update on, its time and the times of the trial decide how many products repay it: none here, or one */
static PetscErrorCode MeasuresUpdates(TestDiff *d)
{
  PetscFunctionBeginUser;
  for (int cheap = 0; cheap < 2; cheap++) {
    Mat        A;
    MatShadow *s;

    PetscCall(Create(PETSC_TRUE, &A, &s));
    s->trial[0] = (MatShadowTrial){.verdict = MAT_SHADOW_FOR_FORMAT, .time_csr = cheap ? 2e9 : 2e-9, .time_format = cheap ? 1e9 : 1e-9};
    PetscCall(TestMultiply(A, 8));
    PetscCall(Step(A, 1, 8));
    TestExpect(d, "one update changes the patience", (PetscBool)(s->info.updates == 1 && s->patience.update == SYS_TUNE_UPDATE));
    PetscCall(Step(A, 1, 8));
    TestExpect(d, "two updates do not change the patience", (PetscBool)(s->info.updates == 2 && s->patience.update == (cheap ? 1 : SYS_TUNE_UPDATE_MOST) && s->patience.lasting == s->patience.update));
    PetscCall(Step(A, 10, 3));
    ExpectMade(d, "sets of three products", s, cheap ? MAT_SHADOW_CURRENT : MAT_SHADOW_STALE, cheap ? 0 : 30, cheap ? 54 : 24);
    PetscCall(Step(A, 2, 40));
    ExpectMade(d, "sets of many products", s, MAT_SHADOW_CURRENT, cheap ? 0 : 30 + SYS_TUNE_UPDATE_MOST, cheap ? 134 : 104 - SYS_TUNE_UPDATE_MOST);
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Another pattern: everything begins anew */
static PetscErrorCode Forgets(TestDiff *d)
{
  const PetscInt    i = 0, j = 200;
  const PetscScalar a = 1.5;
  PetscInt          nz;
  Mat               A;
  MatShadow        *s;

  PetscFunctionBeginUser;
  PetscCall(Create(PETSC_TRUE, &A, &s));
  PetscCall(TestMultiply(A, 12));
  nz = s->nz;
  TestExpect(d, "products of the pattern", (PetscBool)(s->products == 12 && s->served == 12));
  s->look = 100;
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetValues(A, 1, &i, 1, &j, &a, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(TestMultiply(A, 1));
  ExpectMade(d, "a product with another pattern", s, MAT_SHADOW_WAITING, 1, 12);
  TestExpect(d, "what was known of the old pattern stays", (PetscBool)(s->products == 1 && s->served == 1 && s->past.sets == 0 && s->look == 0 && s->trial[0].verdict == MAT_SHADOW_OPEN && !s->data && s->info.bytes_stored == 0));
  TestExpect(d, "the figures are not those of the new pattern", (PetscBool)(s->nz == nz + 1 && s->info.nonzeros == s->nz && s->info.bytes_csr > s->nz * (sizeof(PetscScalar) + sizeof(PetscInt))));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An unclear verdict is forgotten when its time has come, for the format and for the AIJ */
static PetscErrorCode LooksAgain(TestDiff *d)
{
  Mat        A;
  MatShadow *s;

  PetscFunctionBeginUser;
  for (PetscInt declined = 0; declined < 2; declined++) {
    PetscCall(Create(PETSC_TRUE, &A, &s));
    PetscCall(TestMultiply(A, 1));
    if (declined) {
      PetscCall(MatShadowDropData(s));
      PetscCall(MatShadowMove(s, MAT_SHADOW_DECLINE));
      s->trial[0].verdict = MAT_SHADOW_FOR_AIJ;
    }
    s->look = 3;
    PetscCall(TestMultiply(A, 2));
    TestExpect(d, "the verdict is forgotten too early", (PetscBool)(s->look == 3 && s->trial[0].verdict == (declined ? MAT_SHADOW_FOR_AIJ : MAT_SHADOW_FOR_FORMAT)));
    PetscCall(TestMultiply(A, 1));
    TestExpect(d, "the verdict is not forgotten", (PetscBool)(s->look == 0 && s->trial[0].verdict == MAT_SHADOW_OPEN && s->phase == (declined ? MAT_SHADOW_WAITING : MAT_SHADOW_CURRENT)));
    TestExpect(d, "candidates are forgotten with a format, or kept without one", (PetscBool)(!s->tuner == (declined != 0)));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rounds that contradict each other: the shortest times of all rounds decide if they are clear, the traffic model if not, and the verdict is tried again */
static PetscErrorCode Contradicts(TestDiff *d)
{
  Mat        A;
  MatShadow *s;

  PetscFunctionBeginUser;
  for (PetscInt clear = 0; clear < 2; clear++) {
    PetscCall(Create(PETSC_TRUE, &A, &s));
    PetscCall(TestMultiply(A, 1));
    s->trial[0] = (MatShadowTrial){
      .rounds = 2, .ratio = {0.5, 0.5},
           .nformat = SYS_TUNE_LEAST, .ncsr = SYS_TUNE_LEAST, .round_csr = 20, .round_format = 30, .time_csr = clear ? 20 : 29, .time_format = 30
    };
    s->info.bytes_model = 0.5 * s->info.bytes_csr;
    PetscCall(TestMultiply(A, 1));
    TestExpect(d, "the verdict is not that of the shortest times or of the model", (PetscBool)(s->trial[0].noisy && s->phase == (clear ? MAT_SHADOW_DECLINED : MAT_SHADOW_CURRENT)));
    TestExpect(d, "the verdict is not tried again", (PetscBool)(s->look == SYS_TUNE_AGAIN && s->patience.samples == SYS_TUNE_LEAST));
    PetscCall(TestMultiply(A, s->look - 1));
    TestExpect(d, "a second trial of a small matrix is as short as the first", (PetscBool)(s->look == 0 && s->patience.samples == SYS_TUNE_MOST));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The fine operator of a Galerkin product is converted at the first product with a vector, not in the set-up, and so are its new values */
static PetscErrorCode Level(TestDiff *d)
{
  Mat        A, C;
  MatShadow *s;

  PetscFunctionBeginUser;
  PetscCall(Create(PETSC_FALSE, &A, &s));
  PetscCall(MatPtAP(A, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  TestExpect(d, "the operator is converted in the set-up", (PetscBool)(s->level && s->phase == MAT_SHADOW_WAITING));
  PetscCall(TestMultiply(A, 1));
  TestExpect(d, "the operator is not converted", (PetscBool)(s->phase == MAT_SHADOW_CURRENT && s->info.conversions == 1));
  s->trial[0].verdict = MAT_SHADOW_FOR_FORMAT;
  PetscCall(MatScale(A, 2.0));
  PetscCall(TestMultiply(A, 1));
  ExpectMade(d, "new values are not taken over", s, MAT_SHADOW_CURRENT, 0, 2);
  PetscCall(TestDestroy(&C, &A));
  PetscCall(Create(PETSC_FALSE, &A, &s));
  PetscCall(MatMatMult(A, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  TestExpect(d, "an operand of another product is converted", (PetscBool)(!s->level && s->phase == MAT_SHADOW_WAITING));
  PetscCall(TestDestroy(&C, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt RowAggregate(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  cols[0] = i / 100;
  return 1;
}

/* New values of a Galerkin product: the format's old values make room, and the next update writes all */
static PetscErrorCode MakesRoom(TestDiff *d)
{
  static const TestShape aggregates = {"aggregates", 160000, 1600, RowAggregate, TestValueGeneral, PETSC_FALSE};
  Mat                    A, B, P, C;
  Vec                    x, y, z;
  PetscReal              norm, error;
  MatShadow             *s;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&large, NULL, &A));
  PetscCall(MatShadowSetTune(A, MAT_SHADOW_TUNE_MEASURE));
  PetscCall(MatShadowGet(A, &s));
  PetscCall(TestShapeCreate(&aggregates, NULL, &P));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(MatPtAP(A, P, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(TestMultiply(A, 1));
  TestExpect(d, "the level is not converted", (PetscBool)(s->phase == MAT_SHADOW_CURRENT));
  s->trial[0].verdict = MAT_SHADOW_FOR_FORMAT;
  PetscCall(MatScale(A, 2.0));
  PetscCall(MatPtAP(A, P, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
  TestExpect(d, "old values stay during the product", (PetscBool)(s->phase == MAT_SHADOW_STALE && s->data));
  PetscCall(MatMult(A, x, y));
  TestExpect(d, "new values are not taken over", (PetscBool)(s->phase == MAT_SHADOW_CURRENT && s->info.updates == 1 && s->made[1] == 2));
  PetscCall(MatConvert(A, MATSEQAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatMult(B, x, z));
  PetscCall(VecNorm(z, NORM_2, &norm));
  PetscCall(VecAXPY(z, -1.0, y));
  PetscCall(VecNorm(z, NORM_2, &error));
  TestExpect(d, "values are lost", (PetscBool)(error <= 100 * PETSC_MACHINE_EPSILON * norm));
  PetscCall(TestDestroy(&x, &y, &z, &C, &P, &B, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* P of a Galerkin product has two products a cycle: it is converted later than other matrices */
static PetscErrorCode Interpolation(TestDiff *d)
{
  Mat        A, P, C;
  MatShadow *s, *t;

  PetscFunctionBeginUser;
  for (PetscInt before = 0; before < 2; before++) {
    PetscCall(Create(PETSC_FALSE, &A, &s));
    PetscCall(Create(PETSC_FALSE, &P, &t));
    PetscCall(TestMultiply(P, before));
    PetscCall(MatPtAP(A, P, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
    PetscCall(TestMultiply(P, SYS_TUNE_WAITS * SYS_TUNE_CONVERT - before));
    TestExpect(d, "an interpolation is converted too early", (PetscBool)(t->interpolation && !t->level && t->phase == MAT_SHADOW_WAITING));
    PetscCall(TestMultiply(P, 1));
    TestExpect(d, "an interpolation is not converted", (PetscBool)(t->info.conversions == 1));
    PetscCall(TestDestroy(&C, &P, &A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A duplicate has the settings of its original, and a shadow of its own */
static PetscErrorCode Duplicates(TestDiff *d)
{
  Mat        A, B;
  MatShadow *s, *t;

  PetscFunctionBeginUser;
  PetscCall(Create(PETSC_TRUE, &A, &s));
  PetscCall(MatAMBSetBlockSize(A, 3));
  PetscCall(MatShadowSetHalo(A, MAT_SHADOW_HALO_STAGED));
  PetscCall(MatShadowSetTune(A, MAT_SHADOW_TUNE_MODEL));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(MatShadowGet(B, &t));
  TestExpect(d, "the shadow is that of the original", (PetscBool)(t != s && t->owner == B && t->format == s->format && !t->data));
  TestExpect(d, "settings are lost", (PetscBool)(t->tune == MAT_SHADOW_TUNE_MODEL && t->halo_wanted == MAT_SHADOW_HALO_STAGED && !memcmp(t->params, s->params, s->format->params_size)));
  PetscCall(TestDestroy(&B, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After functions of PETSc that move the data of one matrix to another, a matrix has no shadow, or the shadow of the other matrix: it gets a new one */
static PetscErrorCode ComesBack(TestDiff *d)
{
  Mat            A, B;
  MatShadow     *s, *t;
  PetscContainer container;

  PetscFunctionBeginUser;
  PetscCall(Create(PETSC_TRUE, &A, &s));
  PetscCall(PetscObjectCompose((PetscObject)A, "MatShadow", NULL));
  s = (MatShadow *)&d; /* no shadow, and not NULL */
  PetscCall(MatShadowGet(A, &s));
  TestExpect(d, "the new shadow is not that of the matrix", (PetscBool)(s->owner == A && s->phase == MAT_SHADOW_WAITING && !s->data));
  PetscCall(MatShadowSetTune(A, MAT_SHADOW_TUNE_MODEL));
  PetscCall(Create(PETSC_FALSE, &B, &t));
  PetscCall(PetscObjectQuery((PetscObject)A, "MatShadow", (PetscObject *)&container));
  PetscCall(PetscObjectCompose((PetscObject)B, "MatShadow", (PetscObject)container));
  PetscCall(MatShadowGet(B, &t));
  TestExpect(d, "the shadow of another matrix stays, or its settings are lost", (PetscBool)(t != s && t->owner == B && t->tune == MAT_SHADOW_TUNE_MODEL));
  PetscCall(TestDestroy(&B, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -mat_seqaij_type gives every AIJ a format as it is made, before the format that the program asks for */
static PetscErrorCode TypeOfAIJ(TestDiff *d)
{
  static const char *const types[] = {MATSEQAIJAMB, MATSEQAIJNUSSELL};

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, "-made_mat_seqaij_type", MATSEQAIJAMB));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(types); k++) {
    MatShadow *s;
    PetscBool  same;
    Mat        A, R;

    PetscCall(PetscOptionsSetValue(NULL, "-made_mat_type", types[k]));
    PetscCall(TestShapeCreate(&blocks, "made_", &A));
    PetscCall(TestShapeCreate(&blocks, "ref_", &R));
    PetscCall(PetscObjectTypeCompare((PetscObject)A, types[k], &same));
    TestExpect(d, "the type is not that of the option", (PetscBool)(same || MatAIJIsCUSPARSE(A))); /* on a GPU the name is AIJCUSPARSE's */
    PetscCall(MatShadowGet(A, &s));
    TestExpect(d, "the format is not that of the type", (PetscBool)(strcmp(s->format->seqtype, types[k]) == 0 && s->owner == A && A->ops->mult == MatMult_Shadow));
    PetscCall(TestDiffMat(d, A, R));
    PetscCall(TestDestroy(&A, &R));
  }
  PetscCall(PetscOptionsClearValue(NULL, "-made_mat_seqaij_type"));
  PetscCall(PetscOptionsClearValue(NULL, "-made_mat_type"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix that has become AIJ again has all of AIJ's operations, and no function that petsc-amb composed */
static PetscErrorCode Leaves(TestDiff *d)
{
  static const char *const functions[] = {"MatShadowSetTune_C",
                                          "MatShadowSetDevice_C",
                                          "MatAMBSetBlockSize_C",
                                          "MatProductSetFromOptions_anytype_C",
                                          "MatConvert_seqaij_seqaijamb_C",
                                          "MatConvert_seqaijamb_seqaij_C",
                                          "MatConvert_seqaijamb_seqdense_C",
                                          "MatConvert_seqaijamb_seqaijperm_C",
                                          "MatConvert_seqaij_amb_C"};
  PetscContainer           container;
  Mat                      A, R;
  MatShadow               *s;

  PetscFunctionBeginUser;
  PetscCall(Create(PETSC_TRUE, &A, &s));
  PetscCall(TestShapeCreate(&blocks, "ref_", &R));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(functions); k++) {
    PetscErrorCode (*f)(void) = NULL;

    PetscCall(PetscObjectQueryFunction((PetscObject)A, functions[k], &f));
    TestExpect(d, "a function is not there", (PetscBool)(f != NULL));
  }
  PetscCall(MatConvert(A, MATAIJ, MAT_INPLACE_MATRIX, &A));
  TestExpect(d, "an operation is not that of AIJ", (PetscBool)!memcmp(A->ops, R->ops, sizeof(*A->ops)));
  PetscCall(PetscObjectQuery((PetscObject)A, "MatShadow", (PetscObject *)&container));
  TestExpect(d, "the shadow is still there", (PetscBool)!container);
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(functions); k++) {
    PetscErrorCode (*f)(void) = NULL, (*g)(void) = NULL;

    PetscCall(PetscObjectQueryFunction((PetscObject)A, functions[k], &f));
    PetscCall(PetscObjectQueryFunction((PetscObject)R, functions[k], &g));
    TestExpect(d, "a function is still there", (PetscBool)(f == g));
  }
  PetscCall(TestDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A first conversion on a GPU does not begin while the thread of shadowloaddevice.c loads kernels; on a host nothing loads */
static PetscErrorCode LoadsFirst(TestDiff *d)
{
  Mat        A;
  MatShadow *s;

  PetscFunctionBeginUser;
  PetscCall(Create(PETSC_FALSE, &A, &s));
  for (PetscInt k = 0; k < 1000000 && s->phase == MAT_SHADOW_WAITING; k++) PetscCall(TestMultiply(A, 1));
  TestExpect(d, "the matrix is not converted", (PetscBool)(s->info.conversions == 1));
  TestExpect(d, "the conversion does not wait for the kernels", (PetscBool)!MatShadowLoads());
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const TestCase tests[] = {
  {"transitions",            Transitions     },
  {"first conversion",       Waits           },
  {"kernels that load",      LoadsFirst      },
  {"threads",                WaitsWithThreads},
  {"new values",             Renews          },
  {"early conversions",      ConvertsEarly   },
  {"storage of values",      SeeksStorage    },
  {"new memory",             CountsPages     },
  {"measured updates",       MeasuresUpdates },
  {"another pattern",        Forgets         },
  {"an unclear verdict",     LooksAgain      },
  {"contradictory rounds",   Contradicts     },
  {"a level of multigrid",   Level           },
  {"an interpolation",       Interpolation   },
  {"values make room",       MakesRoom       },
  {"settings of duplicates", Duplicates      },
  {"shadows that are gone",  ComesBack       },
  {"-mat_seqaij_type",       TypeOfAIJ       },
  {"back to AIJ",            Leaves          },
  {NULL,                     NULL            }
};

int main(int argc, char **argv)
{
  return TestMain(argc, argv, help, tests);
}

/*TEST

  test:
    suffix: 1
    args: -mat_type amb -mat_amb_device cpu
    checks: 19

  test:
    suffix: device
    requires: cuda
    args: -mat_type amb -test_only 'kernels that load'
    checks: 1

TEST*/
