/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The choice among several ways to store a matrix, its candidates.

   The format lists candidates. On the host the first replaces the AIJ as shadow.c describes. Each further one is timed against the best so far in the
   solver's own products, and the faster stays. Tuning ends with the list, or when it has cost SYS_TUNE_BUDGET products. A solver that waits for
   conversions first runs as many products as may repay the next: many solvers end sooner.

   With MAT_SHADOW_TUNE_ONLINE another thread lays out a candidate while the solver runs. That thread reads copies of the pattern and the parameters,
   which no other thread writes, and does not call PETSc; the solver's thread fills in the values between two products. The solver waits for the other
   thread only if tuning ends early.
*/
#include <pthread.h>
#include <stdatomic.h>

#include "mat/shadow/core/shadow.h"

typedef struct _MatShadowTuner MatShadowTuner;
struct _MatShadowTuner {
  MatShadowTuner *next;  /* in the list of tuners with a thread */
  int             best;  /* the candidate in use, -1 for the AIJ */
  int             timed; /* number of candidates timed so far */
  PetscBool       ready; /* the current candidate is laid out, or none is left */
  PetscBool       over;

  /* the other thread owns these members while it runs */
  MatShadowCandidate  list[MAT_SHADOW_CANDIDATES];
  int                 n;    /* number of candidates, -1 before they are ranked */
  int                 k;    /* the current candidate */
  int                 from; /* the candidate before the thread's first one */
  const MatShadowOps *side;
  MatShadowTune       tune;
  void               *params;
  PetscInt           *i, *j; /* copies of the pattern */
  MatShadowCSR        csr;
  double              most;   /* most bytes of the next candidate */
  PetscLogDouble      least;  /* the best time so far, 0 for the AIJ */
  const char         *reason; /* why no candidate was laid out */
  void               *data;   /* the matrix in the current candidate's storage */
  PetscLogDouble      seconds;
  pthread_t           thread;
  PetscBool           busy;
  PetscBool           alone, lost; /* in the child of fork(): the thread does not exist, and had not finished */
  atomic_int          done;

  MatShadowTrial duel; /* of the candidate against the best so far */
  PetscInt       calm; /* products since the last verdict */
  PetscBool      transpose, stale;
  PetscLogDouble spent;  /* seconds that tuning cost the solver */
  PetscLogDouble last;   /* seconds of these for the last candidate before it was timed */
  PetscLogDouble dear;   /* the largest such cost of a candidate */
  PetscLogDouble beside; /* seconds of other threads */
};

static atomic_int      running = 0; /* number of threads */
static MatShadowTuner *tuners  = NULL;
static pthread_once_t  watched = PTHREAD_ONCE_INIT;

/* Returns a format's fastest timed candidate, or its first if none was timed */
static const MatShadowCandidate *MatShadowTuneBest(const MatShadowTuner *t, const MatShadowFormat *format)
{
  const MatShadowCandidate *best = NULL;

  for (int k = 0; k < t->n; k++) {
    const MatShadowCandidate *c = t->list + k;

    if (c->format == format && (!best || (c->time > 0 && (best->time == 0 || c->time < best->time)))) best = c;
  }
  return best;
}

/* Returns PETSC_TRUE if a format's best candidate was more than `times` times slower than the best so far, so its others are not tried */
static PetscBool MatShadowTuneHopeless(const MatShadowTuner *t, const MatShadowFormat *format, PetscLogDouble times)
{
  const MatShadowCandidate *best = MatShadowTuneBest(t, format);

  return (PetscBool)(t->least > 0 && best->time > times * t->least);
}

/* Returns why a format did not lay out a matrix, in words for users */
static const char *MatShadowTuneReason(SysStatus status, PetscBool device)
{
  switch (status) {
  case SYS_OUT_OF_MEMORY:
    return device ? "not enough memory on the GPU for the format" : "not enough memory for the format";
  case SYS_NOT_ASCENDING:
    return "some rows have columns that are repeated or not in ascending order";
  case SYS_TOO_MANY_BYTES:
    return "the format has more bytes than the AIJ";
  default:
    return "the matrix is too large for the 32-bit positions of the format";
  }
}

/* Lays out the next promising candidate; does not call PETSc, because another thread may run it */
static void MatShadowTuneWork(MatShadowTuner *t)
{
  SysStatus status;

  if (t->n < 0) t->n = (*t->side->rank)(&t->csr, t->params, t->tune, t->list, &t->reason);
  while (!t->data && ++t->k < t->n) {
    MatShadowCandidate *c = t->list + t->k;

    if (MatShadowTuneHopeless(t, c->format, SYS_TUNE_FAR)) continue;
    t->reason = NULL;
    status    = (*c->format->host.layout)(&t->csr, c, MatShadowTuneBest(t, c->format), t->most, &t->reason, &t->data);
    if (!t->data && !t->reason) t->reason = MatShadowTuneReason(status, PETSC_FALSE);
  }
}

static void *MatShadowTuneThread(void *arg)
{
  MatShadowTuner *t = (MatShadowTuner *)arg;

  MatShadowTuneWork(t);
  t->seconds = SysSeconds(CLOCK_THREAD_CPUTIME_ID);
  atomic_fetch_sub(&running, 1);
  atomic_store(&t->done, 1);
  return NULL;
}

/* In the child of fork(), which has none of the threads: restarts their unfinished work; its memory is lost */
static void MatShadowTuneForked(void)
{
  atomic_store(&running, 0);
  for (MatShadowTuner *t = tuners; t; t = t->next) {
    t->alone = PETSC_TRUE;
    if (atomic_load(&t->done)) continue;
    t->k    = t->from;
    t->data = NULL;
    t->lost = PETSC_TRUE;
  }
}

static void MatShadowTuneWatchFork(void)
{
  (void)pthread_atfork(NULL, NULL, MatShadowTuneForked);
}

static PetscErrorCode MatShadowTuneJoin(MatShadowTuner *t)
{
  MatShadowTuner **p   = &tuners;
  int              err = 0;

  PetscFunctionBegin;
  if (!t->alone) err = pthread_join(t->thread, NULL);
  PetscCheck(!err, PETSC_COMM_SELF, PETSC_ERR_SYS, "pthread_join() returned %d", err);
  t->alone = PETSC_FALSE;
  while (*p != t) p = &(*p)->next;
  *p      = t->next;
  t->busy = t->lost = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets *started = PETSC_FALSE if too many threads run, or none can be created */
static PetscErrorCode MatShadowTuneStartThread(MatShadowTuner *t, const MatShadowCSR *csr, PetscBool *started)
{
  PetscFunctionBegin;
  *started = PETSC_FALSE;
  (void)pthread_once(&watched, MatShadowTuneWatchFork);
  t->from = t->k;
  if (!t->i) {
    const PetscLogDouble t0 = SysSeconds(CLOCK_MONOTONIC);

    PetscCall(PetscMalloc2(csr->A.m + 1, &t->i, csr->A.nz, &t->j));
    PetscCall(PetscArraycpy(t->i, csr->A.i, csr->A.m + 1));
    PetscCall(PetscArraycpy(t->j, csr->A.j, csr->A.nz));
    t->spent += SysSeconds(CLOCK_MONOTONIC) - t0;
  }
  if (atomic_fetch_add(&running, 1) < SYS_TUNE_THREADS) {
    t->csr.A.i     = t->i;
    t->csr.A.j     = t->j;
    t->csr.A.a     = NULL;
    t->csr.workers = 1;
    atomic_store(&t->done, 0);
    *started = (PetscBool)(pthread_create(&t->thread, NULL, MatShadowTuneThread, t) == 0);
  }
  if (*started) {
    t->busy = PETSC_TRUE;
    t->next = tuners;
    tuners  = t;
  } else atomic_fetch_sub(&running, 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatShadowTuneCreate(MatShadow *s)
{
  MatShadowTuner *t;

  PetscFunctionBegin;
  PetscCall(PetscNew(&t));
  t->n = t->k = t->best = -1;
  t->side               = s->side;
  t->tune               = s->tune;
  PetscCall(PetscMalloc1(s->format->params_size, (char **)&t->params));
  PetscCall(PetscMemcpy(t->params, s->params, s->format->params_size));
  s->tuner = t;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Destroys the current candidate and the copies of the pattern */
static PetscErrorCode MatShadowTuneForget(MatShadowTuner *t)
{
  PetscFunctionBegin;
  if (t->data) (*t->list[t->k].format->host.destroy)(t->data);
  t->data = NULL;
  PetscCall(PetscFree2(t->i, t->j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ends tuning; waits for the other thread */
PetscErrorCode MatShadowTuneEnd(MatShadow *s)
{
  MatShadowTuner *t = s->tuner;

  PetscFunctionBegin;
  if (!t) PetscFunctionReturn(PETSC_SUCCESS);
  if (t->busy) PetscCall(MatShadowTuneJoin(t));
  PetscCall(MatShadowTuneForget(t));
  PetscCall(PetscFree(t->params));
  PetscCall(PetscFree(s->tuner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Waits for all threads before the library is unloaded, also for threads of matrices that were never destroyed */
PetscErrorCode MatShadowTuneFinalize(void)
{
  PetscFunctionBegin;
  while (tuners) PetscCall(MatShadowTuneJoin(tuners));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lays out the next candidate here or in another thread. Sets *ready once the layout has ended; always with wait. */
PetscErrorCode MatShadowTuneSetUp(Mat A, MatShadow *s, const MatShadowCSR *csr, PetscBool wait, PetscBool *ready)
{
  MatShadowTuner *t;

  PetscFunctionBegin;
  if (!s->tuner) PetscCall(MatShadowTuneCreate(s));
  t = s->tuner;
  if (t->lost) PetscCall(MatShadowTuneJoin(t));
  if (!t->ready && !t->busy) {
    PetscBool started = PETSC_FALSE;

    t->csr         = *csr;
    t->csr.threads = MatAIJThreads(csr->A.nz);
    t->csr.workers = t->csr.threads;
    t->most        = t->best < 0 ? s->info.bytes_csr : t->list[t->best].bytes;
    t->least       = t->best < 0 ? 0 : t->list[t->best].time;
    if (t->tune == MAT_SHADOW_TUNE_OFF) t->most = PETSC_MAX_REAL;
    if (t->tune >= MAT_SHADOW_TUNE_MEASURE) t->most *= t->tune == MAT_SHADOW_TUNE_ONLINE || t->best < 0 ? SYS_TUNE_FAR : SYS_TUNE_NEAR;
    if (wait || t->tune != MAT_SHADOW_TUNE_ONLINE) {
      const PetscLogDouble t0 = SysSeconds(CLOCK_MONOTONIC);

      PetscCall(PetscLogEventBegin(MAT_ShadowConvert, A, 0, 0, 0));
      MatShadowTuneWork(t);
      PetscCall(PetscLogEventEnd(MAT_ShadowConvert, A, 0, 0, 0));
      t->last = SysSeconds(CLOCK_MONOTONIC) - t0;
      t->spent += t->last;
      t->seconds = t->last;
      t->ready   = PETSC_TRUE;
    } else PetscCall(MatShadowTuneStartThread(t, csr, &started));
  }
  if (t->busy && (wait || atomic_load(&t->done))) {
    PetscCall(MatShadowTuneJoin(t));
    t->beside += t->seconds;
    t->last  = 0;
    t->ready = PETSC_TRUE;
  }
  *ready = t->ready;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fills the candidate with the matrix's current values */
static PetscErrorCode MatShadowTuneFill(Mat A, MatShadowTuner *t, const MatShadowCSR *csr)
{
  const MatShadowOps  *ops  = &t->list[t->k].format->host;
  const PetscLogDouble t0   = SysSeconds(CLOCK_MONOTONIC);
  PetscBool            done = PETSC_FALSE;
  PetscLogDouble       t1;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(MAT_ShadowUpdate, A, 0, 0, 0));
  PetscCall(MatShadowCheckStatus((*ops->update)(t->data, &csr->A, csr->stream), &done));
  if (!done) {
    t->reason = MatShadowTuneReason(SYS_OUT_OF_MEMORY, PETSC_FALSE);
    (*ops->destroy)(t->data);
    t->data = NULL;
  }
  PetscCall(PetscLogEventEnd(MAT_ShadowUpdate, A, 0, 0, 0));
  t1       = SysSeconds(CLOCK_MONOTONIC) - t0;
  t->stale = PETSC_FALSE;
  t->last += t1;
  t->spent += t1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets MatShadowTuneSetUp()'s candidate and fills in its values; t->data is NULL if there is none */
static PetscErrorCode MatShadowTuneGet(Mat A, MatShadow *s, const MatShadowCSR *csr)
{
  MatShadowTuner *t = s->tuner;

  PetscFunctionBegin;
  t->ready = PETSC_FALSE;
  if (t->data && !t->csr.A.a) PetscCall(MatShadowTuneFill(A, t, csr));
  t->dear = PetscMax(t->dear, t->last);
  if (t->data) {
    s->info.conversions++;
    s->info.time_convert = t->csr.A.a ? t->last : t->seconds + t->last;
    PetscCall(PetscInfo(A, "Laid out as %s in %g s of this thread and %g s of another\n", t->list[t->k].name, (double)t->last, t->csr.A.a ? 0. : (double)t->seconds));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the candidate the format in use */
static PetscErrorCode MatShadowTuneAdopt(MatShadow *s)
{
  MatShadowTuner     *t = s->tuner;
  MatShadowCandidate *c = t->list + t->k;
  double              figure[MAT_SHADOW_FIGURES];

  PetscFunctionBegin;
  PetscCall(MatShadowDropData(s));
  s->data             = t->data;
  s->ops              = &c->format->host;
  t->data             = NULL;
  t->best             = t->k;
  s->info.bytes_model = c->bytes;
  s->info.tried       = c->tried;
  s->info.reason      = c->bytes < s->info.bytes_csr ? "the traffic model sees a gain" : "tried against the traffic model";
  (*s->ops->describe)(s->data, &s->info, figure);
  PetscCall(MatShadowMove(s, MAT_SHADOW_CONVERTED));
  PetscCall(PetscCitationsRegister(c->format->citation, c->format->cited));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Converts to the first candidate now. If no candidate can store the matrix, s->data stays NULL and s->info.reason says why. */
PetscErrorCode MatShadowTuneConvertHost(Mat A, MatShadow *s, const MatShadowCSR *csr)
{
  PetscBool ready;

  PetscFunctionBegin;
  PetscCall(MatShadowTuneSetUp(A, s, csr, PETSC_TRUE, &ready));
  PetscCall(MatShadowTuneGet(A, s, csr));
  if (s->tuner->data) PetscCall(MatShadowTuneAdopt(s));
  else {
    s->info.reason = s->tuner->reason;
    if (s->tuner->n > 0) s->info.bytes_model = s->tuner->list[0].bytes;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lays out a candidate on the device, by the model if memory is short for trials. Sets s->info to its figures, or to the reason of a failure. */
static PetscErrorCode MatShadowTuneLayOutDevice(MatShadow *s, MatShadowCSR *csr, MatShadowCandidate *c)
{
  static const PetscReal most[] = {1e20, 1, 1.25, 1}; /* by MatShadowTune: a candidate that is timed anyway may have a few more bytes than the AIJ */
  const MatShadowOps    *ops    = &c->format->device;
  double                 figure[MAT_SHADOW_FIGURES];
  const char            *reason;
  SysStatus              status;
  PetscBool              done;

  PetscFunctionBegin;
  csr->measure = (PetscBool)(s->tuned && MatShadowMeasures(s));
  csr->live    = (PetscBool)(s->tune == MAT_SHADOW_TUNE_ONLINE);
  for (;;) {
    reason = NULL;
    status = (*ops->layout)(csr, c, NULL, most[s->tune] * s->info.bytes_csr, &reason, &s->data);
    PetscCall(MatShadowCheckStatus(status, &done));
    if (s->data || !csr->measure) break;
    csr->measure = PETSC_FALSE;
  }
  s->info.bytes_model = c->bytes;
  if (!s->data) {
    s->info.reason = reason ? reason : MatShadowTuneReason(status, PETSC_TRUE);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  s->ops = ops;
  (*ops->describe)(s->data, &s->info, figure);
  c->bytes       = s->info.bytes_model;
  s->info.tried  = c->tried;
  s->info.reason = reason ? reason : s->info.bytes_stored < s->info.bytes_csr ? "the format has fewer bytes" : "tried although the format has more bytes";
  PetscCall(PetscCitationsRegister(c->format->citation, c->format->cited));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On the device: lays out each candidate and keeps the fastest. When tuning (s->tuned), skips those that were much slower before. Times a single
   candidate only when tuning. */
PetscErrorCode MatShadowTuneConvertDevice(Mat A, MatShadow *s, const MatShadowCSR *csr)
{
  const MatShadowInfo before = s->info;
  MatShadowInfo       info   = before;
  MatShadowTrial      trial  = s->trial[0];
  MatShadowCSR        source = *csr;
  MatShadowTuner     *t;
  PetscLogDouble      t0;
  void               *data = NULL;
  int                 made = 0;

  PetscFunctionBegin;
  PetscCall(MatShadowDeviceWait(csr));
  t0 = SysSeconds(CLOCK_MONOTONIC);
  if (!s->tuner) PetscCall(MatShadowTuneCreate(s));
  t       = s->tuner;
  t->over = PETSC_TRUE;
  if (t->n < 0) t->n = (*s->side->rank)(csr, s->params, s->tune, t->list, &t->reason);
  if (!t->n) info.reason = t->reason;
  t->least = t->best < 0 ? 0 : t->list[t->best].time;
  t->best  = -1;
  t->timed = 0;
  for (t->k = 0; t->k < t->n; t->k++) {
    MatShadowCandidate *c     = t->list + t->k;
    PetscBool           tried = PETSC_FALSE;

    if (MatShadowTuneHopeless(t, c->format, SYS_TUNE_NEAR)) continue;
    s->info = before;
    PetscCall(MatShadowTuneLayOutDevice(s, &source, c));
    if (!s->data) {
      if (!data) info = s->info;
      continue;
    }
    made++;
    if (t->n > 1) t->timed++;
    PetscCall(PetscMemzero(&s->trial[0], sizeof(s->trial[0])));
    if (MatShadowMeasures(s) && (t->n > 1 || s->tuned)) PetscCall(MatShadowDeviceTry(A, s, csr, PETSC_FALSE, &tried));
    if (tried) c->time = s->trial[0].time_format;
    if (data && (tried ? c->time >= t->list[t->best].time : c->bytes >= t->list[t->best].bytes)) {
      (*s->ops->destroy)(s->data);
      s->data = NULL;
      continue;
    }
    if (data) (*t->list[t->best].format->device.destroy)(data);
    data    = s->data;
    s->data = NULL;
    info    = s->info;
    trial   = s->trial[0];
    t->best = t->k;
  }
  s->data             = data;
  s->info             = info;
  s->info.conversions = before.conversions + made;
  s->trial[0]         = trial;
  if (data) {
    s->ops = &t->list[t->best].format->device;
    PetscCall(MatShadowMove(s, MAT_SHADOW_CONVERTED));
  }
  if (t->n > 1) t->spent += SysSeconds(CLOCK_MONOTONIC) - t0;
  PetscCall(PetscInfo(A, "%s chosen among %d of %d candidates; this has taken %g s so far, a product on the AIJ takes %g s\n", data ? t->list[t->best].name : "the AIJ", made, t->n, (double)t->spent, (double)trial.time_csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Records the cost and the time of candidate k's trial */
static PetscErrorCode MatShadowTuneCount(MatShadowTuner *t, int k, const MatShadowTrial *trial)
{
  PetscFunctionBegin;
  t->spent += PetscMax(0, trial->sum_format - trial->total * trial->time_csr);
  if (t->list[k].time == 0) t->timed++;
  t->list[k].time = trial->time_format;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Records the format's verdict against the AIJ */
PetscErrorCode MatShadowTuneVerdict(MatShadow *s, const MatShadowTrial *trial)
{
  MatShadowTuner *t = s->tuner;

  PetscFunctionBegin;
  if (!t || t->best < 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (!t->busy && t->list[t->best].time == 0) PetscCall(MatShadowTuneCount(t, t->best, trial));
  if (trial->verdict == MAT_SHADOW_FOR_AIJ && trial == s->trial) t->best = -1; /* a format that loses the plain product is dropped */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Judges the candidate against the best so far, for plain or transposed products */
static PetscErrorCode MatShadowTuneDuel(Mat A, MatShadow *s)
{
  MatShadowTuner      *t     = s->tuner;
  MatShadowTrial      *trial = s->trial + t->transpose, *other = s->trial + !t->transpose;
  const MatShadowTrial duel = t->duel;
  const PetscBool      wins = (PetscBool)(!duel.noisy && MatShadowTrialRatio(&duel) < SYS_TUNE_GAIN && duel.time_format < SYS_TUNE_GAIN * duel.time_csr);

  PetscFunctionBegin;
  PetscCall(MatShadowTuneCount(t, t->k, &duel));
  PetscCall(PetscInfo(A, "Measured with %s: %g s, with the best so far %g s\n", t->list[t->k].name, (double)duel.time_format, (double)duel.time_csr));
  if (!wins) {
    (*t->list[t->k].format->host.destroy)(t->data);
    t->data = NULL;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatShadowTuneAdopt(s));
  s->info.reason     = "measured to be the fastest of those tried";
  trial->time_format = duel.time_format;
  trial->verdict     = MAT_SHADOW_FOR_FORMAT;
  PetscCall(PetscMemzero(other, sizeof(*other)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called once the current format has its verdict for this kind of products: runs this product on a further candidate or on the best so far, and times
   it */
PetscErrorCode MatShadowTuneChoose(Mat A, MatShadow *s, PetscBool transpose, PetscBool fresh, const MatShadowCSR *csr, MatShadowRun *run)
{
  MatShadowTuner      *t    = s->tuner;
  MatShadowTrial      *duel = t ? &t->duel : NULL;
  const PetscLogDouble aij  = s->trial[s->trial[0].time_csr > 0 ? 0 : 1].time_csr;

  PetscFunctionBegin;
  if (!t || t->over) PetscFunctionReturn(PETSC_SUCCESS);
  if (t->busy || !t->data) {
    PetscLogDouble best;
    PetscBool      ready;

    if (transpose && s->trial[0].ncsr + s->trial[0].nformat) PetscFunctionReturn(PETSC_SUCCESS); /* plain products decide if there are any */
    if (!t->busy && !t->ready && (t->k + 1 >= t->n || t->spent + SYS_TUNE_RESERVE * t->dear > SYS_TUNE_BUDGET * aij)) {
      t->over = PETSC_TRUE;
      PetscCall(MatShadowTuneForget(t));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    best = s->trial[transpose].verdict == MAT_SHADOW_FOR_AIJ || !s->data ? s->trial[transpose].time_csr : s->trial[transpose].time_format;
    if (t->tune != MAT_SHADOW_TUNE_ONLINE && best > 0 && SYS_TUNE_SAVES * t->calm * best < SYS_TUNE_RESERVE * t->dear) {
      t->calm++;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    t->calm = 0;
    PetscCall(MatShadowTuneSetUp(A, s, csr, PETSC_FALSE, &ready));
    if (ready) PetscCall(MatShadowTuneGet(A, s, csr));
    if (!ready || !t->data) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscMemzero(duel, sizeof(*duel)));
    duel->time_csr = best;
    t->transpose   = transpose;
  }
  if (transpose != t->transpose || (t->stale && !fresh)) PetscFunctionReturn(PETSC_SUCCESS);
  if (t->stale) PetscCall(MatShadowTuneFill(A, t, csr));
  if (!t->data) PetscFunctionReturn(PETSC_SUCCESS);
  if (MatShadowTrialOver(duel, s->patience.samples, PETSC_FALSE)) { /* a candidate must win more than one round */
    PetscCall(MatShadowTuneDuel(A, s));
    run->ops  = s->ops;
    run->data = s->trial[transpose].verdict == MAT_SHADOW_FOR_AIJ ? NULL : s->data;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  run->trial  = duel;
  run->format = (PetscBool)(duel->nformat < s->patience.samples);
  if (run->format) {
    run->ops  = &t->list[t->k].format->host;
    run->data = t->data;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Records that the AIJ has newer values than the candidate */
PetscErrorCode MatShadowTuneStale(MatShadow *s)
{
  PetscFunctionBegin;
  if (s->tuner) s->tuner->stale = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatShadowTuneGetInfo(const MatShadow *s, MatShadowInfo *info)
{
  const MatShadowTuner *t = s->tuner;

  PetscFunctionBegin;
  if (MatShadowOnDevice(s) && s->tune == MAT_SHADOW_TUNE_ONLINE) info->tuning = (PetscBool)(s->data ? info->tuning : s->phase == MAT_SHADOW_WAITING); /* the format reports it */
  else if (MatShadowOnDevice(s)) info->tuning = (PetscBool)!s->tuned;
  else info->tuning = (PetscBool)((s->phase != MAT_SHADOW_DECLINED && !s->trial[0].verdict) || (t && !t->over));
  if (s->tune < MAT_SHADOW_TUNE_MEASURE) info->tuning = PETSC_FALSE;
  info->candidates       = t ? t->timed : 0;
  info->time_tune        = t ? t->spent : 0;
  info->time_tune_beside = t ? t->beside : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints the candidates of a sequential matrix, or of the diagonal block on the first process */
PetscErrorCode MatShadowTuneView(Mat A, PetscViewer viewer)
{
  const MatShadowTuner *t;
  MatShadow            *s;
  double                least = PETSC_MAX_REAL;
  int                   far   = 0;

  PetscFunctionBegin;
  if (!MatShadowIsSequential(A)) PetscCall(MatMPIAIJGetSeqAIJ(A, &A, NULL, NULL));
  PetscCall(MatShadowGet(A, &s));
  t = s->tuner;
  if (!t || t->busy || t->n < 2) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0; k < t->n; k++) least = PetscMin(least, t->list[k].bytes);
  for (int k = -1; k < t->n; k++) {
    const MatShadowCandidate *c    = k < 0 ? NULL : t->list + k;
    const PetscLogDouble      time = c ? c->time : s->trial[0].time_csr, bytes = c ? c->bytes : s->info.bytes_csr;
    char                      seconds[32] = "not timed";

    if (c && k != t->best && time == 0 && bytes > SYS_TUNE_FAR * least) {
      far++;
      continue;
    }
    if (time > 0) PetscCall(PetscSNPrintf(seconds, sizeof(seconds), "%.3g s", time));
    PetscCall(PetscViewerASCIIPrintf(viewer, "    %s: %.2f bytes per nonzero, %s%s\n", c ? c->name : "aij", bytes / PetscMax(1, s->info.nonzeros), seconds, k == t->best ? ", in use" : ""));
  }
  if (far) PetscCall(PetscViewerASCIIPrintf(viewer, "    %d others with more than %.2f times the least bytes\n", far, SYS_TUNE_FAR));
  PetscFunctionReturn(PETSC_SUCCESS);
}
