/* SPDX-License-Identifier: BSD-2-Clause */
/*
   When a shadow is made, renewed and used: the products of a sequential matrix with vectors.

   A matrix is converted when as many products were made on the AIJ as the conversion costs, or at once if it is known to be a level of multigrid. The format
   keeps its place if it is no slower; on the host there may be more than one format to try, see shadowtune.c. On the host the last products on the AIJ and
   the first ones on the format are timed for that, see shadowtrial.c; on the device, where a product's time is not known until the queue has run dry, the
   traffic model is trusted until there were enough products to repay tuning, and then both are timed on vectors made for the purpose.
*/
#include "mat/shadow/shadow.h"

/* Products that would repay a conversion, tuning on the device or an update, and products with the same values after which new values are taken over at once */
typedef struct {
  PetscInt convert, tune, update, lasting;
} MatShadowPatience;

#define MAT_SHADOW_LEVEL_PRODUCTS 60      /* of a multigrid level in one solve: ten estimate eigenvalues, and five for each of ten iterations smooth */
#define MAT_SHADOW_DEVICE_CONVERT 15      /* products on the device that a conversion takes, besides what it takes for any matrix, */
#define MAT_SHADOW_DEVICE_FIXED   1.5e-4  /* in seconds */
#define MAT_SHADOW_DEVICE_LATENCY 3.e-6   /* seconds of a product of a small matrix, */
#define MAT_SHADOW_DEVICE_ENTRY   2.5e-12 /* and for each entry */

/* On the host a conversion costs 10 to 30 products and an update 2 to 5, and a product on the format gains half of one. On the device tuning takes up to 170
   products for a few percent, and an update 4, the first one more. */
static MatShadowPatience MatShadowGetPatience(const MatShadow *s)
{
  MatShadowPatience p = {40, 0, 4, 8};

  if (MatShadowOnDevice(s)) {
    p.convert = MAT_SHADOW_DEVICE_CONVERT + (PetscInt)(MAT_SHADOW_DEVICE_FIXED / (MAT_SHADOW_DEVICE_LATENCY + MAT_SHADOW_DEVICE_ENTRY * (double)s->nz));
    p.tune    = s->nz > MAT_SHADOW_LARGE ? 500 : 2000;
    p.update  = 10;
    p.lasting = 16;
  }
  if (s->level && p.convert < MAT_SHADOW_LEVEL_PRODUCTS) p.convert = p.update = 0;
  return p;
}

/* The arrays of the AIJ on the side where its products are, and its pattern on the host */
static PetscErrorCode MatShadowGetCSR(Mat A, const MatShadow *s, MatShadowCSR *csr, const PetscInt **i, const PetscInt **j)
{
  PetscScalar *a;
  PetscInt     m;
  PetscBool    done;

  PetscFunctionBegin;
  PetscCall((*MatShadowBaseSeq.getrowij)(A, 0, PETSC_FALSE, PETSC_FALSE, &m, i, j, &done)); /* nothing is copied, and there is nothing to restore */
  csr->A.m     = A->rmap->n;
  csr->A.n     = A->cmap->n;
  csr->A.nz    = (*i)[csr->A.m];
  csr->A.i     = *i;
  csr->A.j     = *j;
  csr->A.a     = NULL;
  csr->stream  = NULL;
  csr->threads = csr->workers = 0;
#if defined(MAT_SHADOW_HAVE_DEVICE)
  if (MatShadowOnDevice(s)) {
    if (csr->A.nz) PetscCall(MatShadowDeviceGetCSR(A, csr));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(MatSeqAIJGetCSRAndMemType(A, NULL, NULL, &a, NULL));
  csr->A.a = a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Back to the AIJ; what is known of the candidates stays */
PetscErrorCode MatShadowDropData(MatShadow *s)
{
  MatShadowInfo *info = &s->info, old = *info;

  PetscFunctionBegin;
  if (s->data) PetscCall((*s->ops->destroy)(&s->data));
  s->stale = PETSC_FALSE;
  PetscCall(PetscMemzero(info, sizeof(*info)));
  info->format       = "csr";
  info->kernel       = MatShadowOnDevice(s) ? "aijcusparse" : "aij";
  info->reason       = "no products yet";
  info->nonzeros     = old.nonzeros;
  info->bytes_csr    = old.bytes_csr;
  info->time_convert = old.time_convert;
  info->time_update  = old.time_update;
  info->conversions  = old.conversions;
  info->updates      = old.updates;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Back to the AIJ, as a new shadow is */
PetscErrorCode MatShadowDrop(MatShadow *s)
{
  PetscFunctionBegin;
  PetscCall(MatShadowTuneEnd(s));
  PetscCall(MatShadowDropData(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Products stay with the AIJ for as long as its pattern does */
static PetscErrorCode MatShadowDecline(Mat A, MatShadow *s, const char reason[])
{
  PetscFunctionBegin;
  PetscCall(MatShadowDropData(s));
  s->declined    = PETSC_TRUE;
  s->info.reason = reason;
  PetscCall(PetscInfo(A, "Products stay on the AIJ: %s\n", reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares the shadow with the matrix: another pattern, or the other side, makes it void, other values make it stale */
static PetscErrorCode MatShadowCheckState(Mat A, MatShadow *s, MatShadowCSR *csr)
{
  const MatShadowOps *side = MatShadowOnDevice(s) ? &s->format->device : &s->format->host;
  const PetscInt     *i, *j;
  PetscObjectState    state;
  PetscBool           same;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  PetscCall(MatShadowGetCSR(A, s, csr, &i, &j));
  same = (PetscBool)(s->side == side && s->nonzerostate == A->nonzerostate && s->i == i && s->j == j && s->nz == csr->A.nz);
  if (same && s->state == state) PetscFunctionReturn(PETSC_SUCCESS);
  if (!same) {
    PetscCall(MatShadowDrop(s));
    s->side             = side;
    s->ops              = side;
    s->declined         = PETSC_FALSE;
    s->nonzerostate     = A->nonzerostate;
    s->i                = i;
    s->j                = j;
    s->nz               = csr->A.nz;
    s->products         = 0;
    s->look             = 0;
    s->tuned            = PETSC_FALSE;
    s->info.time_update = 0;
    s->info.nonzeros    = (PetscLogDouble)csr->A.nz;
    s->info.bytes_csr   = s->info.nonzeros * (sizeof(PetscScalar) + sizeof(PetscInt)) + (csr->A.m + 1.0) * sizeof(PetscInt);
    PetscCall(PetscArrayzero(s->trial, 2));
  } else {
    if (s->data) s->stale = PETSC_TRUE;
    PetscCall(MatShadowTuneStale(s));
  }
  s->state   = state;
  s->lasting = (PetscBool)(s->served >= MatShadowGetPatience(s).lasting);
  s->served  = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatShadowTry(Mat A, MatShadow *s, const MatShadowCSR *csr, PetscBool transpose);
static PetscErrorCode MatShadowVerdict(Mat A, MatShadow *s, PetscBool transpose);

/* By a format that has a convert(): with tuning if that was waited for, or is there no memory for it, without */
PetscErrorCode MatShadowConvertWith(MatShadow *s, const MatShadowFormat *format, const void *params, const MatShadowCSR *csr)
{
  static const PetscReal most[] = {1e20, 1, 1.25}; /* by tuning: what is timed anyway is given the benefit of the doubt */
  const MatShadowTune    tune   = PetscMin(s->tune, MAT_SHADOW_TUNE_MEASURE);
  const MatShadowOps    *ops    = MatShadowOnDevice(s) ? &format->device : &format->host;

  PetscFunctionBegin;
  if (tune < MAT_SHADOW_TUNE_MEASURE || s->tuned) PetscCall((*ops->convert)(csr, params, tune, most[tune], &s->info, &s->data));
  if (tune == MAT_SHADOW_TUNE_MEASURE && !s->data) PetscCall((*ops->convert)(csr, params, MAT_SHADOW_TUNE_MODEL, most[tune], &s->info, &s->data));
  if (s->data) {
    s->ops = ops;
    s->info.conversions++;
    PetscCall(PetscCitationsRegister(format->citation, format->cited));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatShadowConvert(Mat A, MatShadow *s, const MatShadowCSR *csr)
{
  PetscLogDouble t0, t1;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(MAT_ShadowConvert, A, 0, 0, 0));
  PetscCall(PetscTime(&t0));
  s->info.time_convert = 0;
  if (MatShadowOnDevice(s) && !csr->A.nz) s->info.reason = "no entries";
#if defined(MAT_SHADOW_HAVE_DEVICE)
  else if (MatShadowOnDevice(s) && s->side->rank) PetscCall(MatShadowTuneConvertDevice(A, s, csr));
#endif
  else if (s->side->rank) PetscCall(MatShadowTuneConvert(A, s, csr));
  else PetscCall(MatShadowConvertWith(s, s->format, s->params, csr));
  s->stale = PETSC_FALSE;
  if (s->data) {
    if (MatShadowOnDevice(s) && s->tune >= MAT_SHADOW_TUNE_MEASURE && !s->trial[0].settled) {
      if (s->trial[0].time_format > 0) PetscCall(MatShadowVerdict(A, s, PETSC_FALSE));
      else if (s->tuned) PetscCall(MatShadowTry(A, s, csr, PETSC_FALSE));
      else s->trial[0].settled = PETSC_TRUE;
    }
  } else {
    const PetscLogDouble model = s->info.bytes_model;

    PetscCall(MatShadowDecline(A, s, s->info.reason));
    s->info.bytes_model = model;
  }
  PetscCall(PetscTime(&t1));
  MatShadowCounted.convert += t1 - t0;
  s->info.time_convert = PetscMax(s->info.time_convert, t1 - t0); /* more, if another thread has done a part of it */
  PetscCall(PetscLogEventEnd(MAT_ShadowConvert, A, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatShadowUpdate(Mat A, MatShadow *s, const MatShadowCSR *csr)
{
  PetscLogDouble t0, t1;
  PetscBool      done = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(MAT_ShadowUpdate, A, 0, 0, 0));
  PetscCall(PetscTime(&t0));
  PetscCall((*s->ops->update)(s->data, csr, &done));
  PetscCall(PetscTime(&t1));
  MatShadowCounted.update += t1 - t0;
  if (done) {
    s->info.time_update = t1 - t0;
    s->info.updates++;
    s->stale = PETSC_FALSE;
  } else {
    PetscCall(MatShadowTuneEnd(s));
    PetscCall(MatShadowDecline(A, s, "not enough memory for new values"));
  }
  PetscCall(PetscLogEventEnd(MAT_ShadowUpdate, A, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The format stays where it was no slower; without the plain product it is not worth its memory. Times that contradict each other do not speak against
   the traffic model. What is not clear is looked at again. */
static PetscErrorCode MatShadowVerdict(Mat A, MatShadow *s, PetscBool transpose)
{
  MatShadowTrial      *trial = &s->trial[transpose];
  const PetscLogDouble ratio = MatShadowTrialRatio(trial), model = s->info.bytes_model;
  const PetscBool      doubt = (PetscBool)(trial->noisy && model < s->info.bytes_csr);

  PetscFunctionBegin;
  trial->settled = PETSC_TRUE;
  trial->on_aij  = (PetscBool)(ratio > 1 && !doubt);
  PetscCall(PetscInfo(A, "Measured for the %sproduct: %g s, on the AIJ %g s, %g times that in the median of %d rounds%s\n", transpose ? "transposed " : "", (double)trial->time_format, (double)trial->time_csr, (double)ratio, trial->rounds, trial->noisy ? ", which contradict each other" : ""));
  PetscCall(MatShadowTuneVerdict(s, trial));
  if (ratio > 1 - MAT_SHADOW_CLEAR) s->look = MAT_SHADOW_AGAIN * s->products;
  if (transpose) PetscFunctionReturn(PETSC_SUCCESS);
  s->info.reason = doubt ? "the traffic model sees a gain; the times of products contradict each other" : "measured to be faster than the AIJ";
  if (trial->on_aij) {
    PetscCall(MatShadowDecline(A, s, "measured: the AIJ is faster"));
    s->info.bytes_model = model;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A verdict that was not clear may have been made while something else ran: both sides are timed once more */
static PetscErrorCode MatShadowLookAgain(MatShadow *s)
{
  PetscFunctionBegin;
  if (!s->data) PetscCall(MatShadowTuneEnd(s));
  PetscCall(PetscArrayzero(s->trial, 2));
  s->declined = PETSC_FALSE;
  s->look     = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On the device: both sides on vectors made for the purpose. Where there is no memory for these the word of the model stands. */
static PetscErrorCode MatShadowTry(Mat A, MatShadow *s, const MatShadowCSR *csr, PetscBool transpose)
{
  PetscBool tried = PETSC_FALSE;

  PetscFunctionBegin;
#if defined(MAT_SHADOW_HAVE_DEVICE)
  PetscCall(MatShadowDeviceTry(A, s, csr, transpose, &tried));
#endif
  if (tried) PetscCall(MatShadowVerdict(A, s, transpose));
  else s->trial[transpose].settled = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On the device, and so far by the model: whatever came of that */
static PetscErrorCode MatShadowTuneDevice(Mat A, MatShadow *s, const MatShadowCSR *csr)
{
  PetscFunctionBegin;
  PetscCall(MatShadowDropData(s));
  PetscCall(PetscMemzero(&s->trial[0], sizeof(s->trial[0])));
  s->declined = PETSC_FALSE;
  s->tuned    = PETSC_TRUE;
  PetscCall(MatShadowConvert(A, s, csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Decides what this product runs on, converting or updating if it is time to */
static PetscErrorCode MatShadowChoose(Mat A, MatShadow *s, PetscBool transpose, MatShadowCSR *csr, MatShadowRun *run)
{
  MatShadowTrial   *trial   = &s->trial[transpose];
  const PetscBool   measure = (PetscBool)(s->tune >= MAT_SHADOW_TUNE_MEASURE), device = MatShadowOnDevice(s);
  MatShadowPatience patience;
  PetscBool         fresh;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(run, sizeof(*run)));
  PetscCall(MatShadowCheckState(A, s, csr));
  patience = MatShadowGetPatience(s);
  fresh    = (PetscBool)(!measure || s->lasting || s->served >= patience.update); /* is it time for new values? */
  if (s->look && s->products >= s->look) PetscCall(MatShadowLookAgain(s));
  if (!s->data && !s->declined) {
    PetscBool ready = PETSC_TRUE;

    if (measure && s->served < patience.convert) {
      if (!device && s->served >= patience.convert - MAT_SHADOW_SAMPLES) run->trial = trial;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    if (s->tune == MAT_SHADOW_TUNE_ONLINE && !device && s->side->rank) PetscCall(MatShadowTuneSetUp(A, s, csr, PETSC_FALSE, &ready));
    if (!ready) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(MatShadowConvert(A, s, csr));
  } else if (device && measure && !s->tuned && s->products >= patience.tune) PetscCall(MatShadowTuneDevice(A, s, csr));
  else if (s->stale && fresh) PetscCall(MatShadowUpdate(A, s, csr));
  if (s->stale) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->data && measure && !trial->settled && device) {
    if (transpose && trial->ncsr++ < patience.convert) PetscFunctionReturn(PETSC_SUCCESS); /* the transposed matrix is stored too from the trial on */
    PetscCall(MatShadowTry(A, s, csr, transpose));
  } else if (s->data && measure && !trial->settled) {
    if (MatShadowTrialOver(trial, PETSC_TRUE)) PetscCall(MatShadowVerdict(A, s, transpose));
    else {
      run->trial  = trial;
      run->format = (PetscBool)(trial->nformat < MAT_SHADOW_SAMPLES);
    }
  }
  if (run->trial ? run->format : s->data && !trial->on_aij) {
    run->ops  = s->ops;
    run->data = s->data;
  }
  if (measure && !run->trial) PetscCall(MatShadowTuneChoose(A, s, transpose, fresh, csr, run));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatShadowHostMult(MatShadow *s, const MatShadowRun *run, const MatShadowCSR *csr, PetscBool transpose, Vec xx, Vec yy, Vec zz, PetscBool *done)
{
  const PetscScalar *x, *y;
  PetscScalar       *z;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(xx, &x));
  if (!yy) {
    PetscCall(VecGetArrayWrite(zz, &z));
    y = NULL;
  } else if (yy == zz) {
    PetscCall(VecGetArray(zz, &z));
    y = z;
  } else {
    PetscCall(VecGetArrayWrite(zz, &z));
    PetscCall(VecGetArrayRead(yy, &y));
  }
  PetscCall((*(transpose ? run->ops->multtranspose : run->ops->mult))(run->data, csr, 1, x, yy ? 1 : 0, y, z, done));
  PetscCall(VecRestoreArrayRead(xx, &x));
  if (!yy) PetscCall(VecRestoreArrayWrite(zz, &z));
  else if (yy == zz) PetscCall(VecRestoreArray(zz, &z));
  else {
    PetscCall(VecRestoreArrayWrite(zz, &z));
    PetscCall(VecRestoreArrayRead(yy, &y));
  }
  if (*done) PetscCall(PetscLogFlops(2.0 * s->nz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The product as the AIJ or the AIJCUSPARSE makes it */
static PetscErrorCode MatShadowBaseMult(Mat A, const MatShadow *s, PetscBool transpose, Vec xx, Vec yy, Vec zz)
{
  const struct _MatOps *base = &MatShadowBaseSeq;

  PetscFunctionBegin;
#if defined(MAT_SHADOW_HAVE_DEVICE)
  if (MatShadowOnDevice(s)) base = &MatShadowBaseSeqCUSPARSE;
  if (MatShadowOnDevice(s) && transpose && yy && yy != zz) { /* here AIJCUSPARSE adds to what is in z */
    PetscCall(MatShadowDeviceCopy(yy, zz));
    yy = zz;
  }
#endif
  if (transpose && !yy && base == &MatShadowBaseSeq) { /* AIJ would call VecSet(), which is collective, where only some processes may be on the AIJ */
    PetscScalar *z;

    PetscCall(VecGetArrayWrite(zz, &z));
    PetscCall(PetscArrayzero(z, A->cmap->n));
    PetscCall(VecRestoreArrayWrite(zz, &z));
    yy = zz;
  }
  if (transpose) {
    if (yy) PetscCall((*base->multtransposeadd)(A, xx, yy, zz));
    else PetscCall((*base->multtranspose)(A, xx, zz));
  } else {
    if (yy) PetscCall((*base->multadd)(A, xx, yy, zz));
    else PetscCall((*base->mult)(A, xx, zz));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatShadowProductWith(Mat A, MatShadow *s, PetscBool transpose, Vec xx, Vec yy, Vec zz)
{
  MatShadowCSR   csr;
  MatShadowRun   run;
  PetscBool      done = PETSC_TRUE;
  PetscLogDouble t0   = 0, t1;

  PetscFunctionBegin;
  PetscCall(MatShadowChoose(A, s, transpose, &csr, &run));
  s->served++;
  s->products++;
  if (run.trial || MatShadowReporting) PetscCall(PetscTime(&t0));
  if (run.data) {
#if defined(MAT_SHADOW_HAVE_DEVICE)
    if (MatShadowOnDevice(s)) PetscCall(MatShadowDeviceMult(s, &csr, transpose, xx, yy, zz, &done));
    else
#endif
      PetscCall(MatShadowHostMult(s, &run, &csr, transpose, xx, yy, zz, &done));
    if (!done) PetscCall(PetscInfo(A, "Not enough memory for the %sproduct, which goes back to the AIJ\n", transpose ? "transposed " : ""));
  }
  if (!done && run.data == s->data) {
    s->trial[transpose].settled = s->trial[transpose].on_aij = PETSC_TRUE;
    run.trial                                                = NULL;
  }
  if (!done || !run.data) PetscCall(MatShadowBaseMult(A, s, transpose, xx, yy, zz));
  PetscCall(MatShadowCount(s, (PetscBool)(done && run.data), t0));
  if (run.trial) {
    PetscCall(PetscTime(&t1));
    MatShadowTrialTake(run.trial, run.format, done ? t1 - t0 : PETSC_MAX_REAL);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z = A x + y, or z = A x if y is NULL; y may be z */
static PetscErrorCode MatShadowProduct(Mat A, PetscBool transpose, Vec xx, Vec yy, Vec zz)
{
  MatShadow *s;

  PetscFunctionBegin;
  PetscCall(MatShadowGet(A, &s));
#if defined(MAT_SHADOW_HAVE_DEVICE)
  if (MatShadowOnDevice(s)) {
    const int k = transpose ? 1 : 0;
    Vec       x, y = yy, z;

    PetscCall(MatShadowDeviceBring(A, k, xx, xx, &x));
    PetscCall(MatShadowDeviceBring(A, 1 - k, zz, yy, &z));
    if (z != zz && yy) y = z;
    else if (yy) PetscCall(MatShadowDeviceBring(A, 1 - k, yy, yy, &y));
    PetscCall(MatShadowProductWith(A, s, transpose, x, y, z));
    PetscCall(MatShadowDeviceTake(z, zz));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(MatShadowProductWith(A, s, transpose, xx, yy, zz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatMult_Shadow(Mat A, Vec xx, Vec yy)
{
  PetscFunctionBegin;
  PetscCall(MatShadowProduct(A, PETSC_FALSE, xx, NULL, yy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatMultAdd_Shadow(Mat A, Vec xx, Vec yy, Vec zz)
{
  PetscFunctionBegin;
  PetscCall(MatShadowProduct(A, PETSC_FALSE, xx, yy, zz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatMultTranspose_Shadow(Mat A, Vec xx, Vec yy)
{
  PetscFunctionBegin;
  PetscCall(MatShadowProduct(A, PETSC_TRUE, xx, NULL, yy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatMultTransposeAdd_Shadow(Mat A, Vec xx, Vec yy, Vec zz)
{
  PetscFunctionBegin;
  PetscCall(MatShadowProduct(A, PETSC_TRUE, xx, yy, zz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the shadow ready now, whatever the next products would have told */
PetscErrorCode MatShadowMakeReady(Mat A, MatShadow *s, void *ctx)
{
  MatShadowCSR csr;

  PetscFunctionBegin;
  if (!A->assembled) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowCheckState(A, s, &csr));
  if (!s->data && !s->declined) {
    s->tuned = PETSC_TRUE;
    PetscCall(MatShadowConvert(A, s, &csr));
  } else if (s->stale) PetscCall(MatShadowUpdate(A, s, &csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatShadowExpectLevel_One(Mat A, MatShadow *s, void *ctx)
{
  MatShadowCSR csr;
  PetscBool    ready;

  PetscFunctionBegin;
  s->level = PETSC_TRUE;
  PetscCall(MatShadowCheckState(A, s, &csr));
  if (s->data || s->declined || MatShadowGetPatience(s).convert) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->tune == MAT_SHADOW_TUNE_ONLINE && !MatShadowOnDevice(s) && s->side->rank) PetscCall(MatShadowTuneSetUp(A, s, &csr, PETSC_FALSE, &ready));
  else PetscCall(MatShadowConvert(A, s, &csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A is the fine operator of a Galerkin product with P: a smoother will multiply with it in every iteration of the solves to come, and P will restrict. Both
   are made ready here, while the set-up that asked for the product goes on; without this, a first solve would end before it was worth a conversion. */
PetscErrorCode MatShadowExpectLevel(Mat A, Mat P)
{
  PetscFunctionBegin;
  PetscCall(MatShadowForEach(A, MatShadowExpectLevel_One, NULL));
#if defined(MAT_SHADOW_HAVE_DEVICE)
  if (MatShadowIsCUSPARSE(P)) PetscCall(MatShadowForEach(P, MatShadowExpectLevel_One, NULL));
  PetscCall(MatShadowDeviceExpectTranspose(P));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}
