/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MATAMB, the Adaptive Multi-level Blocking format, as a shadow of AIJ
*/
#include "mat/shadow/core/shadowformat.h"
#include "mat/impls/amb/host/ambhost.h"
#if defined(SYS_HAVE_DEVICE)
  #include "mat/impls/amb/glue/ambdevice.h"
#endif

typedef struct {
  PetscInt block_size; /* 0: the traffic model chooses */
} AmbParams;

extern const MatShadowFormat MatShadowFormatAMB;

static PetscBool  AmbCited      = PETSC_FALSE;
static const char AmbCitation[] = "@phdthesis{nagasaka2019,\n"
                                  "  title  = {Performance Optimization of Sparse Matrix Kernels for Many-core Architectures},\n"
                                  "  author = {Yusuke Nagasaka},\n"
                                  "  school = {Tokyo Institute of Technology},\n"
                                  "  year   = {2019}\n}\n";

/* ------------------------------------------------- host ------------------------------------------------- */

MAT_SHADOW_PARAMS(AmbPlan, AmbCandidate)

/* Lists the block sizes by the traffic model's bytes, or only the best one */
static int RankHost_AMB(const MatShadowCSR *csr, const void *params, MatShadowTune tune, MatShadowCandidate list[], const char **reason)
{
  const AmbParams *p = (const AmbParams *)params;
  AmbPlan          plan;
  int              n = 0;

  if (p->block_size > csr->A.n) {
    *reason = "the matrix has fewer columns than a block";
    return 0;
  }
  if (AmbPlanCreate(&csr->A, (int)p->block_size, 0, csr->threads, csr->workers, AmbHostKernels(), &plan) != SYS_SUCCESS) {
    *reason = "not enough memory for the format";
    return 0;
  }
  for (int b = 1; b <= AMB_MAX_BLOCK; b++) {
    MatShadowCandidate c = {.format = &MatShadowFormatAMB, .bytes = plan.bytes[b]};
    AmbPlan            q = plan;

    if (b != plan.block_size && (tune != MAT_SHADOW_TUNE_ONLINE || plan.bytes[b] == 0)) continue;
    (void)snprintf(c.name, sizeof(c.name), "amb, blocks of %d", b);
    q.block_size = b;
    AmbCandidateSet(&c, &q);
    n = MatShadowCandidateInsert(list, 0, n, &c);
  }
  return n;
}

static SysStatus LayoutHost_AMB(const MatShadowCSR *csr, MatShadowCandidate *c, const MatShadowCandidate *best, double most, const char **reason, void **data)
{
  AmbPlan   plan = AmbCandidateGet(c);
  AmbHost  *host;
  SysStatus status;

  if (c->bytes >= most) {
    *reason = "the traffic model sees no gain";
    return SYS_TOO_MANY_BYTES;
  }
  plan.values = csr->values;
  status      = AmbHostCreate(&csr->A, &plan, csr->workers, AmbHostKernels(), &host);
  if (!status) c->bytes -= (double)(sizeof(SysScalar) - SysStorageSize(host->values.stored)) * AMB_C * host->block_size * (double)host->nstep;
  *data = host;
  return status;
}

static const MatShadowFigure AmbHostFigures[] = {
  {"block_size", MAT_SHADOW_OF_BLOCK  },
  {"chunk_size", MAT_SHADOW_OF_BLOCK  },
  {"sort_scope", MAT_SHADOW_OF_BLOCK  },
  {"tiles",      MAT_SHADOW_OF_PROCESS},
  MAT_SHADOW_VALUES_FIGURES, {NULL,         MAT_SHADOW_OF_BLOCK  }
};

static void DescribeHost_AMB(const void *data, MatShadowInfo *info, double figure[])
{
  const AmbHost *host = (const AmbHost *)data;

  info->format        = "amb";
  info->kernel        = host->kernels->name;
  info->stored_values = (PetscLogDouble)host->nstep * AMB_C * host->block_size;
  info->bytes_stored  = AmbHostBytes(host);
  figure[0]           = host->block_size;
  figure[1]           = AMB_C;
  figure[2]           = host->scope;
  figure[3]           = (double)host->ntile;
  MatShadowValuesDescribe(host->values.stored, host->values.table.n, host->values.exact, figure + 4);
}

static PetscErrorCode ViewHost_AMB(const double figure[], const char where[], PetscViewer viewer)
{
  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  blocks of %.0f columns, chunks of %.0f rows, scopes of %.0f rows, %.0f tiles%s\n", figure[0], figure[1], figure[2], figure[3], where));
  PetscCall(MatShadowValuesView(figure + 4, where, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- device ------------------------------------------------- */

#if defined(SYS_HAVE_DEVICE)
MAT_SHADOW_PARAMS(AmbDeviceParams, AmbDeviceCandidate)

/* Lists one candidate: layout() chooses the parameters */
static int RankDevice_AMB(const MatShadowCSR *csr, const void *params, MatShadowTune tune, MatShadowCandidate list[], const char **reason)
{
  const AmbParams         *p      = (const AmbParams *)params;
  const AmbDeviceParams    wanted = {.block_size = (int)p->block_size};
  const MatShadowCandidate c      = {.format = &MatShadowFormatAMB, .name = MATAMB};

  if (p->block_size > csr->A.n) {
    *reason = "the matrix has fewer columns than a block";
    return 0;
  }
  list[0] = c;
  AmbDeviceCandidateSet(&list[0], &wanted);
  return 1;
}

static SysStatus LayoutDevice_AMB(const MatShadowCSR *csr, MatShadowCandidate *c, const MatShadowCandidate *best, double most, const char **reason, void **data)
{
  AmbDeviceParams params = AmbDeviceCandidateGet(c);
  AmbDevice      *device;
  AmbDeviceInfo   about;
  SysStatus       status;

  params.measure = csr->measure;
  params.live    = csr->live;
  params.values  = csr->values;
  status         = AmbDeviceCreate(&csr->A, &params, csr->stream, &device, &about);
  if (!status) {
    c->tried = (int)about.tried;
    status   = AmbDeviceJudge(&about, most, c);
  }
  if (!status) *data = device;
  else AmbDeviceDestroy(device);
  return status;
}

static const MatShadowFigure AmbDeviceFigures[] = {
  AMB_DEVICE_FIGURES, {NULL, MAT_SHADOW_OF_BLOCK}
};

static void DescribeDevice_AMB(const void *data, MatShadowInfo *info, double figure[])
{
  AmbDeviceInfo about;

  AmbDeviceGetInfo((const AmbDevice *)data, &about);
  AmbDeviceDescribe(&about, info, figure);
  info->format = "amb";
}

static void LoadDevice_AMB(SysStream stream)
{
  (void)AmbDeviceLoad(stream); /* a later conversion or product repeats and reports a failure */
}
#endif

/* ------------------------------------------------- parameters ------------------------------------------------- */

static PetscErrorCode AmbSetFromOptions(void *params, MatShadowTune *tune, PetscAMBOptionItems PetscOptionsObject)
{
  AmbParams *p = (AmbParams *)params;
  PetscInt   b = p->block_size;
  PetscBool  set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsInt("-mat_amb_block_size", "Columns that share one index, 1 to 10; 0: the traffic model chooses", "MatAMBSetBlockSize", b, &b, &set));
  PetscCheck(b >= 0 && b <= AMB_MAX_BLOCK, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-mat_amb_block_size %" PetscInt_FMT " is not between 0 and %d; 0 lets the traffic model choose", b, AMB_MAX_BLOCK);
  p->block_size = b;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatAMBSetBlockSize_AMB(Mat A, PetscInt b)
{
  AmbParams     p;
  MatShadowTune tune;

  PetscFunctionBegin;
  PetscCall(MatShadowGetParams(A, &p, &tune));
  p.block_size = b;
  PetscCall(MatShadowSetParams(A, &p, tune));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatAMBSetBlockSize - sets how many contiguous columns share one index in a `MATAMB` matrix

  Logically Collective

  Input Parameters:
+ A - the matrix; nothing happens if it is not of type `MATAMB`
- b - the block size, 1 to 10, or 0 (the default) to let the traffic model choose

  Options Database Key:
. -mat_amb_block_size <b> - the same for matrices created later

  Level: intermediate

  Notes:
  A block of b columns holds b values and one 16-bit index; columns of the block in which the row has no entry are filled with zeros. The traffic
  model counts the bytes of every block size and chooses the one with the fewest. The block size of `MatSetBlockSize()` has no influence.

  Errors:
. `PETSC_ERR_ARG_OUTOFRANGE` - `b` is negative or more than 10

  Example:
.vb
  PetscCall(MatAMBSetBlockSize(A, 3)); // three unknowns a node
.ve

.seealso: `MatShadow`, `MATAMB`, `MatShadowSetTune()`, `MatShadowGetInfo()`
@*/
PetscErrorCode MatAMBSetBlockSize(Mat A, PetscInt b)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscCheck(b >= 0 && b <= AMB_MAX_BLOCK, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE, "Block size %" PetscInt_FMT " is not between 0 and %d; 0 lets the traffic model choose", b, AMB_MAX_BLOCK);
  PetscTryMethod(A, "MatAMBSetBlockSize_C", (Mat, PetscInt), (A, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AmbCompose(Mat A, PetscBool add)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatAMBSetBlockSize_C", add ? MatAMBSetBlockSize_AMB : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const AmbParams   AmbOpen      = {0};
static const char *const AmbOptions[] = {"mat_amb_block_size", NULL};

/*MC
   MATAMB - `MATAMB` = "amb" - sparse matrices whose products with vectors run on Adaptive Multi-level Blocking (AMB)

   Blocks of contiguous columns share one column index of 16 bits. A traffic model chooses the length of the blocks. `MatShadow` has what all formats of petsc-amb
   have in common.

   Options Database Keys:
+  -mat_type amb                  - sets the type, in `MatSetFromOptions()`
.  -mat_shadow_device <auto,cpu,gpu> - where the matrix is stored
-  -mat_amb_block_size <b>        - columns that share one index, 1 to 10, or 0 for the best by the traffic model

   Level: beginner

   Errors:
.  `PETSC_ERR_ARG_OUTOFRANGE` - the block size is none of these; further errors: `MatShadow`

   Example:
.vb
   PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
   PetscCall(MatSetSizes(A, m, m, PETSC_DETERMINE, PETSC_DETERMINE));
   PetscCall(MatSetType(A, MATAMB)); // or MatSetFromOptions(A) with -mat_type amb
   PetscCall(MatSetUp(A));           // then MatSetValues() and the assembly, as with MATAIJ
.ve

.seealso: `MatShadow`, `MatAMBSetBlockSize()`, `MATNUSSELL`, `MATAUTOSPARSE`, `MATAIJ`, `MATAIJCUSPARSE`
M*/
MAT_SHADOW_CONSTRUCTORS(AMB)

const MatShadowFormat MatShadowFormatAMB = {
  .name               = MATAMB,
  .seqtype            = MATSEQAIJAMB,
  .mpitype            = MATMPIAIJAMB,
  .citation           = AmbCitation,
  .cited              = &AmbCited,
  .params_size        = sizeof(AmbParams),
  .open               = &AmbOpen,
  .host.rank          = RankHost_AMB,
  .host.layout        = LayoutHost_AMB,
  .host.update        = AmbHostUpdate,
  .host.mult          = AmbHostMult,
  .host.multtranspose = AmbHostMultTranspose,
  .host.describe      = DescribeHost_AMB,
  .host.destroy       = AmbHostDestroy,
  .host.forget        = AmbHostForget,
  .host.figures       = AmbHostFigures,
  .host.view          = ViewHost_AMB,
#if defined(SYS_HAVE_DEVICE)
  .device.rank          = RankDevice_AMB,
  .device.layout        = LayoutDevice_AMB,
  .device.update        = AmbDeviceUpdate,
  .device.mult          = AmbDeviceMult,
  .device.multtranspose = AmbDeviceMultTranspose,
  .device.describe      = DescribeDevice_AMB,
  .device.destroy       = AmbDeviceDestroy,
  .device.load          = LoadDevice_AMB,
  .device.figures       = AmbDeviceFigures,
  .device.view          = AmbDeviceView,
  .device.multdot       = AmbDeviceMultDot,
  .device.readsaij      = AmbDeviceReadsCSR,
#endif
  .create_seq     = MatCreate_SeqAIJAMB,
  .create_mpi     = MatCreate_MPIAIJAMB,
  .setfromoptions = AmbSetFromOptions,
  .compose        = AmbCompose,
  .options        = AmbOptions,
};
