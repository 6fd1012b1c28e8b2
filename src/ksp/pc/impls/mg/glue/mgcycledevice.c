/* SPDX-License-Identifier: BSD-2-Clause */
/*
   A cycle of PCMG on GPUs, one for each process. Each application lists its steps as kernels on raw arrays, with everything that these depend on. If some
   applications had the same list, a CUDA graph records it, and later applications with this list replay the graph.

   All processes run the steps on their GPUs, or none: they agree in each application. A process may replay a graph while another queues the same kernels, since the exchanges are
   among the kernels.

   A cycle converts no matrix that products would not convert: if products use the AIJ's arrays, the cycle does, too.
*/
#include <petscdevice_cuda.h>

#include "vec/ambvec/ambvec.h"
#include "mat/halo/halo.h"
#include "ksp/ksp/impls/fused/fusedcuda.h"
#include "ksp/pc/impls/mg/glue/mgcycle.h"
#include "ksp/pc/impls/mg/cuda/mgcyclecuda.h"

/* A step on raw arrays. Bytes are compared: all of it is set to 0 first. */
typedef struct {
  MGCycleKind            kind;
  PetscInt               conversions, updates; /* of the shadow, when the format laid out its data */
  PetscObjectId          id;
  PetscObjectState       state;
  MatShadowMultFunction *mult; /* NULL: on the arrays of the AIJ */
  void                  *data;
  SysCSR                 A;
  const SysInt          *from; /* where the values of a transposed AIJ are */
  PetscScalar            alpha, beta;
  PetscInt               n; /* rows of the coarsest level, or of a vector whose mean is removed */
  const PetscScalar     *x, *y;
  PetscScalar           *z;
  FusedPass              pass;
  SORDevice              layout; /* of a sweep; NULL: this process has no rows */
  PetscInt               made;   /* the number of the layout */
  SORSweep               sweep;
  SORResult              result;
  PetscReal              shift;
  MatHaloShare           share; /* of a product of several processes */
  PetscBool              transpose;
  PetscObjectState       share_state; /* of their matrix */
} Kernel;

typedef struct {
  Vec          v;
  PetscScalar *array;
} Array;

#define ARRAYS 128 /* vectors of a cycle; PCMG has at most 15 levels */
#define LEVELS 16

/* A record costs as much time as it spares in four or five applications. A preconditioner that is applied for the third time with the same values is likely to be applied
   so often. */
#define QUEUED_FIRST 2

/* The transposed pattern of an AIJ */
typedef struct {
  PetscObjectId     id;
  PetscObjectState  nonzerostate;
  const SysInt     *i, *j; /* the arrays of the matrix that was transposed */
  MGCycleTransposed T;
} Transposed;

struct _MGCycleDevice {
  FusedRecord       *graph;
  Kernel            *kernel, *last; /* of this application, and of the one before */
  PetscInt           nlast, room;
  PetscInt           queued;           /* applications with these kernels */
  PetscBool          recorded, failed; /* the kernels of the last application are a graph, or cannot be one */
  PetscBool          copies;           /* b and x have changed twice from one application to the next, and are copied */
  const PetscScalar *b;                /* their arrays in the application before */
  PetscScalar       *x;
  PetscInt           moved; /* how often they changed */
  Vec                work[2];
  Vec                sums; /* work space of MGCycleRemoveMean() */
  Array              array[ARRAYS];
  PetscInt           narray;
  Transposed         transposed[LEVELS];
  PetscInt           ntransposed;
  PetscObjectId      levels; /* of the coarsest operator: other levels have another one */
};

static PetscErrorCode MGCycleCheck(SysStatus status)
{
  PetscFunctionBegin;
  PetscCheck(status == SYS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_GPU, "A cycle of multigrid on the GPU: %s", status == SYS_OUT_OF_MEMORY ? "out of memory" : SysDeviceErrorText());
  PetscFunctionReturn(PETSC_SUCCESS);
}
#define CALL(call) PetscCall(MGCycleCheck(call))

/* ------------------------------------------------- kernels ------------------------------------------------- */

/* The arrays of vectors that are read, and that get new values */
static PetscErrorCode MGCycleRead(Vec v, const PetscScalar **array)
{
  const PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(VecCUDAGetArrayRead(v, &a));
  *array = a;
  PetscCall(VecCUDARestoreArrayRead(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MGCycleWritten(Vec v, PetscScalar **array)
{
  PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(VecCUDAGetArrayWrite(v, &a));
  *array = a;
  PetscCall(VecCUDARestoreArrayWrite(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The array of a vector that the cycle writes before it reads it, or that is in the list already */
static PetscErrorCode MGCycleArray(struct _MGCycleDevice *d, Vec v, PetscScalar **array, const char **why)
{
  PetscBool is;

  PetscFunctionBegin;
  for (PetscInt k = d->narray - 1; k >= 0; k--) {
    if (d->array[k].v != v) continue;
    *array = d->array[k].array;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  *array = NULL;
  if (!v) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecAMBOnDevice(v, &is));
  if (!is) *why = "vectors of a level are on the host";
  else if (d->narray == ARRAYS) *why = "there are too many vectors";
  if (*why) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MGCycleWritten(v, array));
  d->array[d->narray++] = (Array){v, *array};
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MGCycleForgetTransposed(struct _MGCycleDevice *d)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < d->ntransposed; k++) MGCycleTransposedDestroy(&d->transposed[k].T);
  d->ntransposed = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces an AIJ's arrays by the arrays of the transposed matrix, whose pattern stays */
static PetscErrorCode MGCycleTransposeAIJ(struct _MGCycleDevice *d, Mat A, SysCSR *csr, const SysInt **from, const char **why)
{
  Transposed   *t = NULL;
  PetscObjectId id;
  SysStatus     status;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetId((PetscObject)A, &id));
  for (PetscInt k = 0; k < d->ntransposed && !t; k++) {
    if (d->transposed[k].id == id) t = d->transposed + k;
  }
  if (!t && d->ntransposed == LEVELS) {
    *why = "there are too many levels";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!t) {
    t = d->transposed + d->ntransposed++;
    PetscCall(PetscMemzero(t, sizeof(*t)));
    t->id = id;
  }
  if (!t->T.memory || t->nonzerostate != A->nonzerostate || t->i != csr->i || t->j != csr->j) {
    MGCycleTransposedDestroy(&t->T);
    status = MGCycleTranspose(csr, &t->T, PetscDefaultCudaStream);
    if (status != SYS_SUCCESS) MGCycleTransposedDestroy(&t->T);
    if (status == SYS_OUT_OF_MEMORY) {
      *why = "memory on the GPU is short";
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    CALL(status);
    t->nonzerostate = A->nonzerostate;
    t->i            = csr->i;
    t->j            = csr->j;
  }
  *csr  = (SysCSR){csr->n, csr->m, csr->nz, t->T.i, t->T.j, csr->a};
  *from = t->T.from;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MGCycleProduct(struct _MGCycleDevice *d, const MGCycleStep *step, Kernel *k, const char **why)
{
  const MatShadowOps *ops  = NULL;
  void               *data = NULL;
  PetscBool           aij  = PETSC_FALSE;
  MatShadowCSR        csr;
  SysCSR              host;
  MatShadow          *s;
  Mat                 A, blocks[2];
  const PetscInt     *columns;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&csr, sizeof(csr)));
  PetscCall(MatAIJGetBlocks(step->A, blocks, &columns));
  A            = blocks[0]; /* whose product this process makes alone */
  k->transpose = step->transpose;
  k->alpha     = step->alpha;
  k->beta      = step->y ? 1.0 : 0.0;
  if (blocks[1]) {
    PetscCall(MatHaloShareSetUp(step->A, step->transpose, &k->share));
    if (!k->share.halo) *why = "the processes do not exchange entries in the stream";
    PetscCall(PetscObjectStateGet((PetscObject)step->A, &k->share_state));
    PetscCall(MatAIJGetSizes(A, &host));
    if (!host.nz) { /* z is y, or 0 */
      k->A.m = step->transpose ? A->cmap->n : A->rmap->n;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  PetscCall(MatShadowDeviceSettled(A, step->transpose, &csr, &ops, &data));
  if (!ops) PetscCall(MatShadowLeavesToAIJ(A, step->transpose, &csr, &aij));
  if (!ops && !aij) {
    PetscCall(MatShadowExpectProducts(A, step->transpose));
    PetscCall(MatShadowDeviceSettled(A, step->transpose, &csr, &ops, &data));
    if (!ops) PetscCall(MatShadowLeavesToAIJ(A, step->transpose, &csr, &aij));
  }
  k->A = csr.A;
  if (ops) {
    k->mult = step->transpose ? ops->multtranspose : ops->mult;
    k->data = data;
  } else if (!aij) *why = "no format on the GPU makes a product";
  else if (step->transpose) PetscCall(MGCycleTransposeAIJ(d, A, &k->A, &k->from, why));
  if (*why) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowGet(A, &s));
  PetscCall(PetscObjectGetId((PetscObject)A, &k->id));
  PetscCall(PetscObjectStateGet((PetscObject)A, &k->state));
  k->conversions = s->info.conversions;
  k->updates     = s->info.updates;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* before: the last pass, if the same smoother made it */
static PetscErrorCode MGCyclePass(const MGCycleStep *step, const Kernel *before, Kernel *k)
{
  KSPAMB  *amb;
  PetscInt n;

  PetscFunctionBegin;
  PetscCall(KSPAMBGet(step->smoother, &amb));
  PetscCall(VecGetLocalSize(step->v[FUSED_X], &n));
  k->pass.kind = amb->kind;
  k->pass.bs   = (int)amb->bs;
  k->pass.n    = n;
  k->pass.a    = step->a;
  k->pass.b    = step->b;
  k->pass.c    = step->c;
  if (before) k->pass.d = before->pass.d;
  else PetscCall(KSPAMBDeviceGetPC(step->smoother, amb, n, &k->pass.d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The vectors of a step whose result is a of something of x, + b v[FUSED_P] + c v[FUSED_Z] */
static PetscErrorCode MGCycleResult(struct _MGCycleDevice *d, const MGCycleStep *step, Kernel *k, const char **why)
{
  PetscScalar *array[4] = {NULL};
  const Vec    v[4]     = {step->x, step->v[FUSED_X], step->v[FUSED_P], step->v[FUSED_Z]};

  PetscFunctionBegin;
  for (int i = 0; i < 4 && !*why; i++) PetscCall(MGCycleArray(d, v[i], &array[i], why));
  k->x        = array[0];
  k->z        = array[1];
  k->result.a = step->a;
  k->result.b = step->b;
  k->result.c = step->c;
  k->result.p = (const SysReal *)array[2];
  k->result.z = (const SysReal *)array[3];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A sweep of a smoother. The layout has the diagonal for the factor of relaxation and the shift of the smoother. */
static PetscErrorCode MGCycleSweep(struct _MGCycleDevice *d, const MGCycleStep *step, Kernel *k, const char **why)
{
  const PetscInt *columns;
  Mat             blocks[2], P;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(step->smoother->pc, NULL, &P));
  PetscCall(MatAIJGetBlocks(P, blocks, &columns));
  PetscCall(MatSORAMBGetDevice(blocks[0], &step->call, &k->layout, &k->made, why));
  for (const Kernel *before = d->kernel; before < k && !*why; before++) {
    if (before->kind == MG_CYCLE_SWEEP && before->layout == k->layout && (before->sweep.omega != step->call.sweep.omega || before->shift != step->call.shift)) *why = "two smoothers of a matrix have different factors of relaxation";
  }
  PetscCall(MGCycleResult(d, step, k, why));
  k->sweep.forward  = step->call.sweep.forward;
  k->sweep.backward = step->call.sweep.backward;
  k->sweep.zero     = step->call.sweep.zero;
  k->sweep.its      = step->call.sweep.its;
  k->sweep.omega    = step->call.sweep.omega;
  k->shift          = step->call.shift;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The removal of a mean */
static PetscErrorCode MGCycleRemove(struct _MGCycleDevice *d, const MGCycleStep *step, Kernel *k, const char **why)
{
  PetscScalar *sums = NULL;

  PetscFunctionBegin;
  if (!d->sums) PetscCall(VecCreateSeqCUDA(PETSC_COMM_SELF, MG_CYCLE_SUMS, &d->sums));
  PetscCall(MGCycleResult(d, step, k, why));
  if (*why) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MGCycleWritten(d->sums, &sums));
  PetscCall(VecGetLocalSize(step->x, &k->n));
  k->data = sums;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Turns the steps into kernels */
static PetscErrorCode MGCycleKernels(MGCycle *c, const char **why)
{
  struct _MGCycleDevice *d    = c->device;
  PetscInt               pass = -1; /* the last one */

  PetscFunctionBegin;
  if (c->nstep > d->room) {
    PetscCall(PetscFree(d->kernel));
    PetscCall(PetscFree(d->last));
    PetscCall(PetscMalloc1(c->nstep, &d->kernel));
    PetscCall(PetscMalloc1(c->nstep, &d->last));
    d->room  = c->nstep;
    d->nlast = 0;
  }
  PetscCall(PetscArrayzero(d->kernel, c->nstep));
  for (PetscInt i = 0; i < c->nstep && !*why; i++) {
    const MGCycleStep *step    = c->step + i;
    Kernel            *k       = d->kernel + i;
    const PetscScalar *inverse = NULL;
    PetscScalar       *x = NULL, *y = NULL;

    k->kind = step->kind;
    if (step->kind == MG_CYCLE_PASS) {
      PetscCall(MGCyclePass(step, pass >= 0 && c->step[pass].smoother == step->smoother ? d->kernel + pass : NULL, k));
      for (int v = 0; v < FUSED_VECTORS && !*why; v++) {
        PetscCall(MGCycleArray(d, step->v[v], &x, why));
        k->pass.v[v] = (SysReal *)x;
      }
      pass = i;
      continue;
    }
    if (step->kind == MG_CYCLE_SWEEP) {
      PetscCall(MGCycleSweep(d, step, k, why));
      continue;
    }
    if (step->kind == MG_CYCLE_REMOVE) {
      PetscCall(MGCycleRemove(d, step, k, why));
      continue;
    }
    if (step->kind == MG_CYCLE_PRODUCT) PetscCall(MGCycleProduct(d, step, k, why));
    else {
      PetscCall(VecGetLocalSize(step->x, &k->n));
      PetscCall(MGCycleRead(c->inverse, &inverse));
      k->data = (void *)inverse;
    }
    if (!*why) PetscCall(MGCycleArray(d, step->x, &x, why));
    if (!*why) PetscCall(MGCycleArray(d, step->y, &y, why));
    if (!*why) PetscCall(MGCycleArray(d, step->z, &k->z, why));
    if (*why) break;
    k->x = x;
    k->y = y;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z = alpha A x + y of the rows, or the columns, that this process has */
static SysStatus MGCycleQueueBlock(const Kernel *k, SysStream stream)
{
  if (k->mult) return (*k->mult)(k->data, &k->A, k->alpha, k->x, k->beta, k->y, k->z, stream);
  return MGCycleCSRMult(&k->A, k->from, (SysReal)PetscRealPart(k->alpha), (const SysReal *)k->x, (const SysReal *)k->y, (SysReal *)k->z, stream);
}

static PetscErrorCode MGCycleQueue(const Kernel kernel[], PetscInt n, SysStream stream, SysStatus *status)
{
  PetscFunctionBegin;
  *status = SYS_SUCCESS;
  for (const Kernel *k = kernel; k < kernel + n && *status == SYS_SUCCESS; k++) {
    if (k->kind == MG_CYCLE_PRODUCT) {
      if (k->share.halo) PetscCall(MatHaloShareBegin(&k->share, k->transpose, k->x, (cudaStream_t)stream, status));
      if (*status == SYS_SUCCESS && k->A.m) *status = MGCycleQueueBlock(k, stream);
      if (k->share.halo) PetscCall(MatHaloShareEnd(&k->share, k->transpose, k->alpha, k->z, (cudaStream_t)stream, status));
    } else if (k->kind == MG_CYCLE_PASS) {
      if (k->pass.n) *status = FusedDeviceChebyshev(&k->pass, stream);
    } else if (k->kind == MG_CYCLE_SWEEP) {
      if (k->layout) *status = SORDeviceSweep(k->layout, &k->sweep, &k->result, (const SysReal *)k->x, (SysReal *)k->z, stream);
    } else if (k->kind == MG_CYCLE_REMOVE) {
      *status = MGCycleRemoveMean(k->n, k->result.a, (const SysReal *)k->x, (SysReal *)k->data, k->result.b, k->result.p, k->result.c, k->result.z, (SysReal *)k->z, stream);
    } else *status = MGCycleDenseMult((int)k->n, (const SysReal *)k->data, (const SysReal *)k->x, (SysReal *)k->z, stream);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- applications ------------------------------------------------- */

static PetscErrorCode MGCycleRecord(PC pc, MGCycle *c)
{
  struct _MGCycleDevice *d = c->device;
  SysStream              stream;
  SysStatus              status;
  int                    recorded;

  PetscFunctionBegin;
  CALL(FusedRecordBegin(&d->graph, &stream));
  PetscCall(MGCycleQueue(d->kernel, c->nstep, stream, &status));
  CALL(FusedRecordEnd(d->graph, &recorded));
  d->recorded = (PetscBool)(recorded && status == SYS_SUCCESS);
  d->failed   = (PetscBool)!d->recorded;
  PetscCall(PetscInfo(pc, "%" PetscInt_FMT " steps of a cycle are %s\n", c->nstep, d->recorded ? "recorded, to be replayed" : "queued one by one: they could not be recorded"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts the products, and the operations of passes */
static PetscErrorCode MGCycleCount(const MGCycle *c)
{
  PetscLogDouble  flops = 0;
  const PetscInt *columns;
  Mat             blocks[2];

  PetscFunctionBegin;
  for (PetscInt i = 0; i < c->nstep; i++) {
    const Kernel *k = c->device->kernel + i;

    if (k->kind == MG_CYCLE_PRODUCT) {
      PetscCall(MatAIJGetBlocks(c->step[i].A, blocks, &columns));
      PetscCall(MatShadowDeviceMade(blocks[0], 1, (PetscBool)!k->mult));
      if (blocks[1]) PetscCall(MatHaloShareMade(c->step[i].A, 1));
    } else if (k->kind == MG_CYCLE_PASS) flops += (6.0 + (PetscLogDouble)k->pass.bs) * (PetscLogDouble)k->pass.n;
    else if (k->kind == MG_CYCLE_SWEEP) flops += k->layout ? (k->sweep.forward + k->sweep.backward) * k->sweep.its * (PetscLogDouble)SORDeviceEntries(k->layout) : 0.0;
    else if (k->kind == MG_CYCLE_REMOVE) flops += 7.0 * (PetscLogDouble)k->n;
    else flops += 2.0 * (PetscLogDouble)k->n * (PetscLogDouble)k->n;
  }
  PetscCall(PetscLogGpuFlops(flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MGCycleRun(PC pc, MGCycle *c, const char **why)
{
  struct _MGCycleDevice *d = c->device;
  PetscBool              same;
  SysStatus              status;
  PetscMPIInt            nproc;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &nproc));
  same = (PetscBool)(c->nstep == d->nlast);
  if (same) PetscCall(PetscMemcmp(d->kernel, d->last, (size_t)c->nstep * sizeof(*d->kernel), &same));
  if (!same) {
    d->recorded = d->failed = PETSC_FALSE;
    d->queued               = 0;
  }
  if (d->queued >= QUEUED_FIRST && !d->recorded && !d->failed) PetscCall(MGCycleRecord(pc, c));
  if (d->recorded) {
    CALL(FusedRecordReplay(d->graph, PetscDefaultCudaStream));
    c->applied[MG_CYCLE_REPLAYED]++;
  } else {
    PetscCall(MGCycleQueue(d->kernel, c->nstep, PetscDefaultCudaStream, &status));
    if (status == SYS_OUT_OF_MEMORY && nproc == 1) {
      d->nlast = 0;
      *why     = "memory on the GPU is short";
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    CALL(status);
    d->queued++;
    c->applied[MG_CYCLE_QUEUED]++;
  }
  if (!same) {
    Kernel *last = d->last;

    d->last   = d->kernel;
    d->kernel = last;
    d->nlast  = c->nstep;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The vectors of the kernels: b and x, or copies of them if these change again and again */
static PetscErrorCode MGCycleEnds(MGCycle *c, Vec b, Vec x, Vec *from, Vec *to)
{
  struct _MGCycleDevice *d       = c->device;
  const PetscScalar     *read    = NULL;
  PetscScalar           *written = NULL;

  PetscFunctionBegin;
  PetscCall(MGCycleRead(b, &read));
  PetscCall(MGCycleWritten(x, &written));
  if (d->nlast && (read != d->b || written != d->x)) d->copies = (PetscBool)(d->moved++ > 0);
  d->b = read;
  d->x = written;
  if (d->copies) {
    PetscInt n, have = -1;

    PetscCall(VecGetLocalSize(b, &n));
    if (d->work[0]) PetscCall(VecGetLocalSize(d->work[0], &have));
    for (int k = 0; k < 2 && n != have; k++) {
      PetscCall(VecDestroy(&d->work[k]));
      PetscCall(VecDuplicate(b, &d->work[k]));
    }
  }
  *from = d->copies ? d->work[0] : b;
  *to   = d->copies ? d->work[1] : x;
  PetscCall(MGCycleRead(*from, &read));
  d->narray             = 0;
  d->array[d->narray++] = (Array){*from, (PetscScalar *)read};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The steps take other vectors in the place of b and x */
static void MGCycleExchange(MGCycle *c, Vec b, Vec x, Vec from, Vec to)
{
  for (MGCycleStep *s = c->step; s < c->step + c->nstep; s++) {
    Vec *const v[3] = {&s->x, &s->y, &s->z};

    for (int k = 0; k < 3; k++) *v[k] = *v[k] == b ? from : *v[k] == x ? to : *v[k];
    for (int k = 0; k < FUSED_VECTORS; k++) s->v[k] = s->v[k] == b ? from : s->v[k] == x ? to : s->v[k];
  }
}

PetscErrorCode MGCycleExpectDevice(const MGCycle *c)
{
  const PetscInt *columns;
  Mat             blocks[2];

  PetscFunctionBegin;
  for (const MGCycleStep *s = c->step; s < c->step + c->nstep; s++) {
    if (s->kind != MG_CYCLE_PRODUCT) continue;
    PetscCall(MatAIJGetBlocks(s->A, blocks, &columns));
    if (blocks[1]) PetscCall(MatHaloExpect(s->A, s->transpose));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MGCycleApplyDevice(PC pc, MGCycle *c, Vec b, Vec x, const char **why)
{
  PetscBool plain[2];
  Vec       from = b, to = x;

  PetscFunctionBegin;
  PetscCall(VecAMBOnDevice(b, &plain[0]));
  PetscCall(VecAMBOnDevice(x, &plain[1]));
  if (!plain[0] || !plain[1]) PetscFunctionReturn(PETSC_SUCCESS); /* as on all other processes */
  PetscCall(MGCycleBuild(pc, c, b, x, why));
  if (!*why) { /* else values would cross the bus for nothing */
    if (!c->device) PetscCall(PetscNew(&c->device));
    if (c->device->levels != c->id) PetscCall(MGCycleForgetTransposed(c->device));
    c->device->levels = c->id;
    PetscCall(MGCycleEnds(c, b, x, &from, &to));
    if (from != b) MGCycleExchange(c, b, x, from, to);
    PetscCall(MGCycleKernels(c, why));
  }
  PetscCall(MGCycleAgree(pc, why));
  if (*why) PetscFunctionReturn(PETSC_SUCCESS);
  if (from != b) PetscCall(VecCopy(b, from));
  PetscCall(MGCycleCount(c));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(MGCycleRun(pc, c, why));
  PetscCall(PetscLogGpuTimeEnd());
  if (to != x && !*why) PetscCall(VecCopy(to, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MGCycleDestroyDevice(MGCycle *c)
{
  struct _MGCycleDevice *d = c->device;

  PetscFunctionBegin;
  if (!d) PetscFunctionReturn(PETSC_SUCCESS);
  FusedRecordDestroy(&d->graph);
  PetscCall(MGCycleForgetTransposed(d));
  PetscCall(PetscFree(d->kernel));
  PetscCall(PetscFree(d->last));
  for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&d->work[k]));
  PetscCall(VecDestroy(&d->sums));
  PetscCall(PetscFree(c->device));
  PetscFunctionReturn(PETSC_SUCCESS);
}
