/* SPDX-License-Identifier: BSD-2-Clause */
/*
   When a shadow is created, updated and used: products of a sequential matrix with vectors.

   MatShadowChoose() converts a matrix once its products on the AIJ with one set of values have taken as long as a conversion, and a multigrid level
   at its first product. If each set of values has fewer products, it converts once the products of all sets would have repaid the conversion and the
   updates, if what the next few sets do not repay is a small part of the time since the pattern exists. The format stays if it is no slower than the AIJ. On the host
   the times of the last products on the AIJ and of the first ones on the format decide (shadowtrial.c); several candidates may be tried
   (shadowtune.c). On the device a product's time is unknown until the queue is empty: the traffic model decides until tuning would be repaid; then
   both sides are timed on scratch vectors. A first conversion does not begin before the thread of shadowloaddevice.c has loaded CUDA's kernels.
*/
#include "mat/shadow/core/shadow.h"

/* Sets the products that repay the work on the current pattern */
static void MatShadowSetPatience(MatShadow *s)
{
  MatShadowPatience *p = &s->patience;

  if (!MatShadowOnDevice(s)) {
    const int threads = MatAIJThreads(s->nz);

    p->samples = SYS_TUNE_LEAST;
    p->convert = PetscMax(SYS_TUNE_LEAST, SysTunePatience(SYS_TUNE_CONVERT, threads)); /* the last ones are timed */
    if (s->interpolation) p->convert *= SYS_TUNE_WAITS;
    p->tune    = 0;
    p->update  = SysTunePatience(SYS_TUNE_UPDATE, threads);
    p->lasting = SysTunePatience(SYS_TUNE_LASTING, threads);
  } else {
    p->convert = SYS_TUNE_DEVICE_CONVERT + (PetscInt)(SYS_TUNE_DEVICE_FIXED / (SYS_TUNE_DEVICE_LATENCY + SYS_TUNE_DEVICE_ENTRY * (double)s->nz));
    p->tune    = s->nz > SYS_TUNE_LARGE ? SYS_TUNE_DEVICE_LARGE : SYS_TUNE_DEVICE_SMALL;
    p->update  = SYS_TUNE_DEVICE_UPDATE;
    p->lasting = SYS_TUNE_DEVICE_LASTING;
  }
  if ((s->level && p->convert < SYS_TUNE_LEVEL) || MatAIJIsDeferred(s->owner)) p->convert = p->update = 0; /* a deferred matrix has no AIJ for the first products */
}

MatShadowConversions MatShadowConverted;

/* Returns the model's seconds of a conversion on the host with one thread: other programs may use the other processors */
static PetscLogDouble MatShadowModelConvert(const MatShadow *s)
{
  const double bytes = (double)sizeof(PetscScalar) * (double)s->nz;

  return SYS_TUNE_CONVERT_FIXED + SYS_TUNE_CONVERT_ENTRY * (double)s->nz + SYS_TUNE_CONVERT_ROW * (double)s->owner->rmap->n + (bytes >= SYS_TUNE_MAPPED_BYTES ? SYS_TUNE_MAPPED_BYTE * bytes : 0);
}

/* Begins a set of values in this pattern. The average caps one set's products, so that it soon forgets a long first solve. */
static void MatShadowBeginValues(MatShadow *s)
{
  MatShadowPast  *past   = &s->past;
  const PetscReal served = PetscMin((PetscReal)s->served, (PetscReal)(SYS_TUNE_RECENT * SYS_TUNE_LASTING));

  if (!s->served) return;
  past->rate = PetscMax(served, (past->rate + served) / 2);
  past->sets++;
}

/* Returns the model's seconds of a product on the AIJ */
static PetscLogDouble MatShadowModelProduct(const MatShadow *s)
{
  return SYS_TUNE_AIJ_ENTRY * (double)s->nz + SYS_TUNE_AIJ_ROW * (double)s->owner->rmap->n;
}

/* Returns the model's seconds that products of the next sets of values save: of this set, and of SYS_TUNE_SETS of the number of sets so far,
   each with as many products as the last. The first products of this set are timed on the AIJ. */
static PetscLogDouble MatShadowModelSaved(const MatShadow *s)
{
  const double share = SysTuneShare(MatAIJThreads(s->nz)), sets = SYS_TUNE_SETS * (double)s->past.sets;
  const double products = (1 + sets) * (double)PetscMin(s->past.rate, (PetscReal)s->served) - (double)s->patience.samples;
  const double updates  = sets * SYS_TUNE_UPDATE * (1 - SYS_TUNE_PRODUCT) * share;

  return MatShadowModelProduct(s) * (products * (1 - SYS_TUNE_PRODUCT * share) - updates);
}

/* At the begin of a set of values, sets past->early if a conversion is due although no set had patience->convert products: as many products as this
   pattern has had must save the conversion and all updates, and the part of it that the next sets do not save must be a small part of the time so
   far, because the program may end after them. */
static void MatShadowExpectEarly(MatShadow *s)
{
  MatShadowPast           *past     = &s->past;
  const MatShadowPatience *patience = &s->patience;
  PetscLogDouble           now, model, loss;

  past->early = PETSC_FALSE;
  if (s->phase != MAT_SHADOW_WAITING || MatShadowOnDevice(s) || !MatShadowMeasures(s) || past->rate < patience->lasting || s->products < patience->convert + patience->update * past->sets) return;
  now         = SysSeconds(CLOCK_THREAD_CPUTIME_ID);
  model       = MatShadowModelConvert(s);
  loss        = PetscMax(0, model * (model + MatShadowConverted.actual) / (model + MatShadowConverted.expected) - MatShadowModelSaved(s));
  past->early = (PetscBool)(loss <= SYS_TUNE_EARLY * (now - past->since) && loss + MatShadowConverted.early <= SYS_TUNE_EARLY * (now - MatShadowConverted.begin));
  if (past->early) MatShadowConverted.early += loss;
}

/* Adds the seconds of a conversion on the host to the sums. Those of another thread (online tuning) are unknown here. */
static void MatShadowNoteConversion(MatShadow *s, PetscLogDouble seconds)
{
  if (s->tune != MAT_SHADOW_TUNE_ONLINE) {
    MatShadowConverted.actual += seconds;
    MatShadowConverted.expected += MatShadowModelConvert(s);
  }
  s->past.early = PETSC_FALSE;
}

/* Sets patience->update and patience->lasting to the measured number of products that repay an update. MatShadowChoose() then updates at once if
   recent sets of values had that many products, else after that many: products of shorter sets stay on the AIJ. */
static void MatShadowMeasureUpdate(MatShadow *s)
{
  const MatShadowTrial *trial    = &s->trial[0];
  MatShadowPatience    *patience = &s->patience;
  const PetscLogDouble  gain     = trial->time_csr - trial->time_format;

  if (MatShadowOnDevice(s) || !patience->update || !(s->past.update > 0) || trial->verdict != MAT_SHADOW_FOR_FORMAT || !(trial->time_csr > 0) || !(trial->time_format > 0)) return;
  patience->update  = SYS_TUNE_REPAID * s->past.update < SYS_TUNE_UPDATE_MOST * gain ? (PetscInt)PetscCeilReal(SYS_TUNE_REPAID * s->past.update / gain) : SYS_TUNE_UPDATE_MOST;
  patience->lasting = patience->update;
}

/* Gets the AIJ's arrays on the side where its products run; *i and *j are the host's */
static PetscErrorCode MatShadowGetCSR(Mat A, const MatShadow *s, MatShadowCSR *csr, const PetscInt **i, const PetscInt **j)
{
  PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(csr, sizeof(*csr)));
  csr->values = s->values == MAT_SHADOW_VALUES_EXACT && !MatShadowOnDevice(s) && s->past.sets >= SYS_VALUES_CHANGES ? SYS_VALUES_DOUBLE : (SysValues)s->values;
  PetscCall(MatAIJGetSizes(A, &csr->A));
  *i = csr->A.i;
  *j = csr->A.j;
  if (MatShadowOnDevice(s)) {
    if (csr->A.nz) PetscCall(MatShadowDeviceGetRows(A, s, csr));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatSeqAIJGetCSRAndMemType(A, NULL, NULL, &a, NULL));
  csr->A.a = a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns to the AIJ, in the state of a new shadow */
PetscErrorCode MatShadowDrop(MatShadow *s)
{
  PetscFunctionBegin;
  PetscCall(MatShadowTuneEnd(s));
  PetscCall(MatShadowDropData(s));
  PetscCall(MatShadowDeviceForgetRows(s));
  PetscCall(MatShadowMove(s, MAT_SHADOW_RESET));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Leaves products to the AIJ until its pattern changes */
static PetscErrorCode MatShadowDecline(Mat A, MatShadow *s, const char reason[])
{
  PetscFunctionBegin;
  PetscCall(MatShadowDropData(s));
  PetscCall(MatShadowMove(s, MAT_SHADOW_DECLINE));
  s->info.reason = reason;
  PetscCall(PetscInfo(A, "Products stay on the AIJ: %s\n", reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares the shadow with the matrix: another pattern or side invalidates it, other values make it stale */
static PetscErrorCode MatShadowCheckState(Mat A, MatShadow *s, MatShadowCSR *csr)
{
  const MatShadowOps *side = MatShadowOnDevice(s) ? &s->format->device : &s->format->host;
  const PetscInt     *i = NULL, *j = NULL;
  PetscObjectState    state;
  PetscBool           same;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  PetscCall(MatShadowGetCSR(A, s, csr, &i, &j));
  same = (PetscBool)(s->side == side && s->nonzerostate == A->nonzerostate && s->i == i && s->j == j && s->nz == csr->A.nz);
  if (same && s->state == state) PetscFunctionReturn(PETSC_SUCCESS);
  if (!same) {
    const PetscBool first = (PetscBool)(s->nz < 0);

    PetscCall(MatShadowDrop(s));
    s->side             = side;
    s->ops              = side;
    s->nonzerostate     = A->nonzerostate;
    s->i                = i;
    s->j                = j;
    s->nz               = csr->A.nz;
    s->nodes            = -1;
    s->products         = 0;
    s->look             = 0;
    s->tuned            = PETSC_FALSE;
    s->info.time_update = 0;
    s->info.nonzeros    = (PetscLogDouble)csr->A.nz;
    s->info.bytes_csr   = SysCSRBytes(&csr->A);
    PetscCall(PetscArrayzero(s->trial, 2));
    s->past = (MatShadowPast){.since = first ? s->past.since : SysSeconds(CLOCK_THREAD_CPUTIME_ID)};
    MatShadowSetPatience(s);
  } else {
    MatShadowBeginValues(s);
    PetscCall(MatShadowMove(s, MAT_SHADOW_VALUES));
    PetscCall(MatShadowTuneStale(s));
    MatShadowExpectEarly(s);
  }
  s->state  = state;
  s->served = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatShadowJudge(Mat A, MatShadow *s, PetscBool transpose);

static PetscErrorCode MatShadowConvert(Mat A, MatShadow *s, const MatShadowCSR *csr)
{
  const PetscLogDouble cpu = SysSeconds(CLOCK_THREAD_CPUTIME_ID);
  PetscLogDouble       t0, t1;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(MAT_ShadowConvert, A, 0, 0, 0));
  PetscCall(PetscTime(&t0));
  s->info.time_convert = 0;
  if (MatShadowOnDevice(s) && !csr->A.nz) s->info.reason = "no entries";
  else PetscCall((*(MatShadowOnDevice(s) ? MatShadowTuneConvertDevice : MatShadowTuneConvertHost))(A, s, csr));
  if (!s->data) {
    const PetscLogDouble model = s->info.bytes_model;

    PetscCall(MatShadowDecline(A, s, s->info.reason));
    s->info.bytes_model = model;
  } else if (MatShadowOnDevice(s) && MatShadowMeasures(s) && !s->trial[0].verdict) {
    if (s->trial[0].time_format > 0) PetscCall(MatShadowJudge(A, s, PETSC_FALSE));
    else s->trial[0].verdict = MAT_SHADOW_FOR_FORMAT; /* the model's verdict */
  }
  PetscCall(PetscTime(&t1));
  MatShadowCounted.convert += t1 - t0;
  s->info.time_convert = PetscMax(s->info.time_convert, t1 - t0); /* info has a longer time if another thread did part of the conversion */
  if (!MatShadowOnDevice(s)) MatShadowNoteConversion(s, SysSeconds(CLOCK_THREAD_CPUTIME_ID) - cpu);
  PetscCall(PetscLogEventEnd(MAT_ShadowConvert, A, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatShadowUpdate(Mat A, MatShadow *s, const MatShadowCSR *csr)
{
  PetscLogDouble t0, t1;
  PetscBool      done = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(MAT_ShadowUpdate, A, 0, 0, 0));
  PetscCall(PetscTime(&t0));
  PetscCall(MatShadowCheckStatus((*s->ops->update)(s->data, &csr->A, csr->stream), &done));
  PetscCall(PetscTime(&t1));
  MatShadowCounted.update += t1 - t0;
  if (done) {
    s->info.time_update = t1 - t0;
    s->info.updates++;
    if (s->past.updates++ && (s->past.update == 0 || t1 - t0 < s->past.update)) s->past.update = t1 - t0;
    MatShadowMeasureUpdate(s);
    PetscCall(MatShadowMove(s, MAT_SHADOW_UPDATED));
  } else {
    PetscCall(MatShadowTuneEnd(s));
    PetscCall(MatShadowDecline(A, s, "not enough memory for new values"));
  }
  PetscCall(PetscLogEventEnd(MAT_ShadowUpdate, A, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the verdict: the format stays if it was no slower. If it loses the plain product it is dropped, because the transposed product alone is not
   worth its memory. If the rounds contradict each other, the shortest times of all rounds decide where they are clear, because noise only adds to
   times; otherwise the traffic model. An unclear verdict is tried again later. */
static PetscErrorCode MatShadowJudge(Mat A, MatShadow *s, PetscBool transpose)
{
  MatShadowTrial      *trial = &s->trial[transpose];
  const PetscLogDouble ratio = MatShadowTrialRatio(trial), model = s->info.bytes_model;
  const PetscBool      worse = (PetscBool)(trial->noisy && trial->time_format > (1 + SYS_TUNE_CLEAR) * trial->time_csr);
  const PetscBool      doubt = (PetscBool)(trial->noisy && !worse && model < s->info.bytes_csr);

  PetscFunctionBegin;
  trial->verdict = worse || (ratio > 1 && !doubt) ? MAT_SHADOW_FOR_AIJ : MAT_SHADOW_FOR_FORMAT;
  PetscCall(PetscInfo(A, "Measured for the %sproduct: %g s, on the AIJ %g s, %g times that in the median of %d rounds%s\n", transpose ? "transposed " : "", (double)trial->time_format, (double)trial->time_csr, (double)ratio, trial->rounds, trial->noisy ? ", which contradict each other" : ""));
  PetscCall(MatShadowTuneVerdict(s, trial));
  if (ratio > 1 - SYS_TUNE_CLEAR || trial->noisy) s->look = SYS_TUNE_AGAIN * s->products;
  if (transpose) PetscFunctionReturn(PETSC_SUCCESS);
  s->info.reason = doubt ? "the traffic model sees a gain; the times of products contradict each other" : "measured to be faster than the AIJ";
  if (trial->verdict == MAT_SHADOW_FOR_AIJ) {
    PetscCall(MatShadowDecline(A, s, "measured: the AIJ is faster"));
    s->info.bytes_model = model;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Times both sides again: another program may have disturbed an unclear verdict */
static PetscErrorCode MatShadowRetry(MatShadow *s)
{
  PetscFunctionBegin;
  if (s->phase != MAT_SHADOW_CURRENT && s->phase != MAT_SHADOW_STALE) PetscCall(MatShadowTuneEnd(s));
  PetscCall(MatShadowMove(s, MAT_SHADOW_RETRY));
  PetscCall(PetscArrayzero(s->trial, 2));
  s->patience.samples = SysTuneSamples(s->nz);
  s->look             = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Decides whether the format, a candidate or the AIJ runs this product. Converts or updates the matrix first if that is due. */
PetscErrorCode MatShadowChoose(Mat A, MatShadow *s, PetscBool transpose, MatShadowCSR *csr, MatShadowRun *run)
{
  MatShadowTrial          *trial    = &s->trial[transpose];
  const MatShadowPatience *patience = &s->patience;
  const PetscBool          measure = MatShadowMeasures(s), device = MatShadowOnDevice(s);
  PetscBool                fresh, tried                           = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(run, sizeof(*run)));
  PetscCall(MatShadowCheckState(A, s, csr));
  fresh = (PetscBool)(!measure || (s->past.sets && s->past.rate >= patience->lasting) || s->served >= patience->update); /* new values may be copied into the format now */
  if (s->look && s->products >= s->look) PetscCall(MatShadowRetry(s));
  if (s->phase == MAT_SHADOW_WAITING) {
    const PetscInt convert = s->past.early ? PetscMin(patience->samples, patience->convert) : patience->convert;
    PetscBool      ready   = PETSC_TRUE;

    if (measure && s->served < convert) {
      if (!device && s->served >= convert - patience->samples) run->trial = trial;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    if (device && measure && convert && MatShadowLoads()) PetscFunctionReturn(PETSC_SUCCESS);
    if (s->tune == MAT_SHADOW_TUNE_ONLINE && !device) PetscCall(MatShadowTuneSetUp(A, s, csr, PETSC_FALSE, &ready));
    if (!ready) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(MatShadowConvert(A, s, csr));
  } else if (device && measure && !s->tuned && s->products >= patience->tune) { /* replaces the model's choice by a measured one */
    PetscCall(MatShadowDropData(s));
    PetscCall(MatShadowMove(s, MAT_SHADOW_RESET));
    PetscCall(PetscMemzero(&s->trial[0], sizeof(s->trial[0])));
    s->tuned = PETSC_TRUE;
    if (s->rows) PetscCall(MatAIJDeviceGetCSR(A, &csr->A, &csr->stream)); /* a conversion reads the whole AIJ */
    PetscCall(MatShadowConvert(A, s, csr));
  } else if (s->phase == MAT_SHADOW_STALE && fresh) PetscCall(MatShadowUpdate(A, s, csr));
  if (s->phase == MAT_SHADOW_STALE) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->phase == MAT_SHADOW_CURRENT && measure && !trial->verdict && device) {
    if (transpose && trial->ncsr++ < patience->convert) PetscFunctionReturn(PETSC_SUCCESS); /* the trial on the transposed matrix allocates memory too */
    PetscCall(MatShadowDeviceTry(A, s, csr, transpose, &tried));                            /* times both sides on scratch vectors */
    if (tried) PetscCall(MatShadowJudge(A, s, transpose));
    else if (!trial->verdict) trial->verdict = MAT_SHADOW_FOR_FORMAT; /* the model's verdict: memory is short for the vectors */
  } else if (s->phase == MAT_SHADOW_CURRENT && measure && !trial->verdict) {
    if (MatShadowTrialOver(trial, patience->samples, PETSC_TRUE)) PetscCall(MatShadowJudge(A, s, transpose));
    else {
      run->trial  = trial;
      run->format = (PetscBool)(trial->nformat < patience->samples);
    }
  }
  if (run->trial ? run->format : s->phase == MAT_SHADOW_CURRENT && trial->verdict != MAT_SHADOW_FOR_AIJ) {
    run->ops  = s->ops;
    run->data = s->data;
  }
  if (measure && !run->trial) PetscCall(MatShadowTuneChoose(A, s, transpose, fresh, csr, run));
  if (device && !s->keep && run->data) PetscCall(MatShadowDeviceFree(A, s, csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Converts or updates the matrix now, without waiting for products that would repay it */
PetscErrorCode MatShadowMakeReady(Mat A, MatShadow *s, void *ctx)
{
  MatShadowCSR csr;

  PetscFunctionBegin;
  if (!A->assembled) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowCheckState(A, s, &csr));
  if (s->phase == MAT_SHADOW_WAITING) {
    s->tuned = PETSC_TRUE;
    PetscCall(MatShadowConvert(A, s, &csr));
  } else if (s->phase == MAT_SHADOW_STALE) PetscCall(MatShadowUpdate(A, s, &csr));
  if (MatShadowOnDevice(s) && !s->keep && s->phase == MAT_SHADOW_CURRENT) PetscCall(MatShadowDeviceFree(A, s, &csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatShadowExpectLevel_One(Mat A, MatShadow *s, void *ctx)
{
  MatShadowCSR csr;
  PetscBool    ready;

  PetscFunctionBegin;
  s->level = PETSC_TRUE;
  PetscCall(MatShadowCheckState(A, s, &csr));
  MatShadowSetPatience(s);
  if (s->phase != MAT_SHADOW_WAITING || s->patience.convert) PetscFunctionReturn(PETSC_SUCCESS);
  if (MatShadowOnDevice(s)) PetscCall(MatShadowConvert(A, s, &csr));
  else if (s->tune == MAT_SHADOW_TUNE_ONLINE) PetscCall(MatShadowTuneSetUp(A, s, &csr, PETSC_FALSE, &ready));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatShadowExpectInterpolation_One(Mat P, MatShadow *s, void *ctx)
{
  PetscFunctionBegin;
  if (s->interpolation || s->level) PetscFunctionReturn(PETSC_SUCCESS);
  s->interpolation = PETSC_TRUE;
  if (s->nz >= 0) MatShadowSetPatience(s);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Converts or updates A for a solver that queues many products, or transposed ones, itself: on the device, by the model, without waiting for products
   that would repay it */
PetscErrorCode MatShadowExpectProducts(Mat A, PetscBool transpose)
{
  MatShadow   *s;
  MatShadowCSR csr;

  PetscFunctionBegin;
  if (!MatAIJIsCUSPARSE(A) || !MatShadowIsSequential(A)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowGet(A, &s));
  if (!MatShadowOnDevice(s)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowCheckState(A, s, &csr));
  if (s->phase == MAT_SHADOW_WAITING) PetscCall(MatShadowConvert(A, s, &csr));
  else if (s->phase == MAT_SHADOW_STALE) PetscCall(MatShadowUpdate(A, s, &csr));
  if (transpose && s->phase == MAT_SHADOW_CURRENT) PetscCall(MatShadowDeviceExpectTranspose(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets *leaves if products of A, or transposed ones, stay on the AIJ on the device for now, and gets its arrays. A level too small for a conversion
   in the set-up stays on the AIJ: the calling solver does not suffer from the AIJ's latency. */
PetscErrorCode MatShadowLeavesToAIJ(Mat A, PetscBool transpose, MatShadowCSR *csr, PetscBool *leaves)
{
  MatShadow *s;

  PetscFunctionBegin;
  *leaves = PETSC_FALSE;
  if (!MatAIJIsCUSPARSE(A) || !MatShadowIsSequential(A)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowGet(A, &s));
  if (!MatShadowOnDevice(s)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowCheckState(A, s, csr));
  if (!csr->A.nz) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->phase == MAT_SHADOW_WAITING) *leaves = (PetscBool)(MatShadowMeasures(s) && (s->served < s->patience.convert || s->patience.convert >= SYS_TUNE_LEVEL));
  else *leaves = (PetscBool)(s->phase == MAT_SHADOW_DECLINED || (s->phase == MAT_SHADOW_CURRENT && s->trial[transpose].verdict == MAT_SHADOW_FOR_AIJ));
  PetscFunctionReturn(PETSC_SUCCESS);
}

MatShadowLevels MatShadowLevelsNow;

/* A is the fine operator of a Galerkin product with P: a smoother will multiply by A in every iteration, and P will restrict. Prepares both during
   the set-up that requested the product; otherwise a first solve would end before a conversion paid. On the host A is converted at its next product: the set-up's
   temporary arrays are gone then. */
PetscErrorCode MatShadowExpectLevel(Mat A, Mat P)
{
  PetscFunctionBegin;
  if (MatShadowLevelsNow.running) {
    if (A != MatShadowLevelsNow.finest) PetscTryMethod(A, "MatShadowSetValues_C", (Mat, MatShadowValues), (A, MatShadowLevelsNow.values));
    PetscTryMethod(P, "MatShadowSetValues_C", (Mat, MatShadowValues), (P, MatShadowLevelsNow.values));
  }
  PetscCall(MatShadowForEach(A, MatShadowExpectLevel_One, NULL));
  PetscCall(MatShadowForEach(P, MatAIJIsCUSPARSE(P) ? MatShadowExpectLevel_One : MatShadowExpectInterpolation_One, NULL));
  PetscCall(MatShadowDeviceExpectTranspose(P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatShadowForgetStale_One(Mat A, MatShadow *s, void *ctx)
{
  MatShadowCSR csr;

  PetscFunctionBegin;
  if (MatShadowOnDevice(s) || !s->data || !s->ops->forget) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowCheckState(A, s, &csr));
  if (s->phase == MAT_SHADOW_STALE) (*s->ops->forget)(s->data);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A set-up computes new values of P^T A P: on the host the format's values of A, if they are older than the AIJ's, make room for temporary arrays. The next update
   writes all values. */
PetscErrorCode MatShadowForgetStale(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatShadowForEach(A, MatShadowForgetStale_One, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
