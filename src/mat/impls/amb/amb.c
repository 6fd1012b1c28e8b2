/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MATAMB, the Adaptive Multi-level Blocking format, as a shadow of AIJ
*/
#include "mat/impls/amb/ambshadow.h"
#if defined(MAT_SHADOW_HAVE_DEVICE)
  #include "mat/impls/amb/ambdevice.h"
#endif

static PetscBool  AmbCited      = PETSC_FALSE;
static const char AmbCitation[] = "@phdthesis{nagasaka2019,\n"
                                  "  title  = {Sparse Matrix Computations on Many-core Processors},\n"
                                  "  author = {Yusuke Nagasaka},\n"
                                  "  school = {Tokyo Institute of Technology},\n"
                                  "  year   = {2019}\n}\n";

/* Without PETSc, as is LayoutHost_AMB(): the block sizes, by the bytes that the traffic model counts, or only the best */
static int RankHost_AMB(const MatShadowCSR *csr, const void *params, MatShadowTune tune, MatShadowCandidate list[], const char **reason)
{
  const AmbParams *p = (const AmbParams *)params;
  AmbPlan          plan;
  int              n = 0;

  if (p->block_size > csr->A.n) {
    *reason = "fewer columns than a block has";
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
    memcpy(c.params, &q, sizeof(q));
    n = MatShadowCandidateInsert(list, 0, n, &c);
  }
  return n;
}

static const char *LayoutHost_AMB(const MatShadowCSR *csr, MatShadowCandidate *c, const MatShadowCandidate *best, double most, void **data)
{
  AmbHost  *host;
  SysStatus status;

  if (c->bytes >= most) return "the traffic model sees no gain";
  status = AmbHostCreate(&csr->A, (const AmbPlan *)c->params, csr->workers, AmbHostKernels(), &host);
  *data  = host;
  if (status == SYS_OUT_OF_MEMORY) return "not enough memory for the format";
  if (status == SYS_NOT_ASCENDING) return "rows whose columns are not in ascending order, or repeated";
  return NULL;
}

static PetscErrorCode RefreshHost_AMB(const void *data, MatShadowInfo *info)
{
  const AmbHost *host = (const AmbHost *)data;

  PetscFunctionBegin;
  info->format        = "amb";
  info->kernel        = host->kernels->name;
  info->block_size    = host->block_size;
  info->chunk_size    = AMB_C;
  info->sort_scope    = host->scope;
  info->segments      = (PetscInt)host->ntile;
  info->stored_values = (PetscLogDouble)host->nstep * AMB_C * host->block_size;
  info->bytes_stored  = AmbHostBytes(host);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode UpdateHost_AMB(void *data, const MatShadowCSR *csr, PetscBool *done)
{
  PetscFunctionBegin;
  *done = (PetscBool)(AmbHostUpdate((AmbHost *)data, &csr->A) == SYS_SUCCESS);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MultHost_AMB(void *data, const MatShadowCSR *csr, PetscScalar alpha, const PetscScalar *x, PetscScalar beta, const PetscScalar *y, PetscScalar *z, PetscBool *done)
{
  AmbHost *A = (AmbHost *)data;

  PetscFunctionBegin;
  (*A->kernels->mult)(A, alpha, x, beta, y, z);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MultTransposeHost_AMB(void *data, const MatShadowCSR *csr, PetscScalar alpha, const PetscScalar *x, PetscScalar beta, const PetscScalar *y, PetscScalar *z, PetscBool *done)
{
  AmbHost *A = (AmbHost *)data;

  PetscFunctionBegin;
  *done = (PetscBool)(AmbHostPrepareTranspose(A) == SYS_SUCCESS);
  if (*done) (*A->kernels->multtranspose)(A, alpha, x, beta, y, z);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DestroyHost_AMB(void **data)
{
  AmbHost *A = (AmbHost *)*data;

  PetscFunctionBegin;
  AmbHostDestroy(&A);
  *data = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(MAT_SHADOW_HAVE_DEVICE)
static PetscErrorCode ConvertDevice_AMB(const MatShadowCSR *csr, const void *params, MatShadowTune tune, PetscReal most, MatShadowInfo *info, void **data)
{
  const AmbParams      *p      = (const AmbParams *)params;
  const AmbDeviceParams wanted = {.block_size = (int)p->block_size, .measure = tune == MAT_SHADOW_TUNE_MEASURE};
  AmbDevice            *device = NULL;
  AmbDeviceInfo         about;
  SysStatus             status;
  PetscBool             done;

  PetscFunctionBegin;
  *data = NULL;
  if (p->block_size > csr->A.n) {
    info->reason = "fewer columns than a block has";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  status = AmbDeviceCreate(&csr->A, &wanted, (SysStream)csr->stream, &device, &about);
  PetscCall(AmbDeviceCheck(status, &done));
  if (!done) AmbDeviceReason(status, info);
  else if (AmbDeviceTooMany(&about, most, info)) AmbDeviceDestroy(&device);
  else {
    *data = device;
    AmbDeviceTell(&about, info);
    info->format   = "amb";
    info->reason   = about.bytes_stored < info->bytes_csr ? "it has fewer bytes" : "tried although it has more bytes";
    info->segments = 1;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The transposed matrix is stored too once it is used */
static PetscErrorCode RefreshDevice_AMB(const void *data, MatShadowInfo *info)
{
  AmbDeviceInfo about;

  PetscFunctionBegin;
  AmbDeviceGetInfo((const AmbDevice *)data, &about);
  info->bytes_extra = about.bytes_extra;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode UpdateDevice_AMB(void *data, const MatShadowCSR *csr, PetscBool *done)
{
  PetscFunctionBegin;
  PetscCall(AmbDeviceCheck(AmbDeviceUpdate((AmbDevice *)data, &csr->A, (SysStream)csr->stream), done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MultDevice_AMB(void *data, const MatShadowCSR *csr, PetscScalar alpha, const PetscScalar *x, PetscScalar beta, const PetscScalar *y, PetscScalar *z, PetscBool *done)
{
  PetscFunctionBegin;
  PetscCall(AmbDeviceCheck(AmbDeviceMult((AmbDevice *)data, &csr->A, alpha, x, beta, y, z, (SysStream)csr->stream), done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MultTransposeDevice_AMB(void *data, const MatShadowCSR *csr, PetscScalar alpha, const PetscScalar *x, PetscScalar beta, const PetscScalar *y, PetscScalar *z, PetscBool *done)
{
  PetscFunctionBegin;
  PetscCall(AmbDeviceCheck(AmbDeviceMultTranspose((AmbDevice *)data, &csr->A, alpha, x, beta, y, z, (SysStream)csr->stream), done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DestroyDevice_AMB(void **data)
{
  AmbDevice *A = (AmbDevice *)*data;

  PetscFunctionBegin;
  AmbDeviceDestroy(&A);
  *data = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void LoadDevice_AMB(void *stream)
{
  (void)AmbDeviceLoad((SysStream)stream); /* what fails here will fail, and be told, where it is needed */
}
#endif

static PetscErrorCode AmbSetFromOptions(MatShadow *s, PetscAMBOptionItems PetscOptionsObject)
{
  AmbParams *p = (AmbParams *)s->params;
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
  MatShadow *s;
  AmbParams *p;

  PetscFunctionBegin;
  PetscCall(MatShadowGet(A, &s));
  p = (AmbParams *)s->params;
  if (p->block_size == b) PetscFunctionReturn(PETSC_SUCCESS);
  p->block_size = b;
  PetscCall(MatShadowParamsChanged(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatAMBSetBlockSize - sets how many contiguous columns share one index in a `MATAMB` matrix

  Logically Collective

  Input Parameters:
+ A - the matrix; nothing happens if it is not of type `MATAMB`
- b - the block size, 1 to 10, or 0 to let the traffic model choose

  Options Database Key:
. -mat_amb_block_size <b> - the same for matrices created later

  Level: intermediate

  Notes:
  A block of b columns holds b values and one 16-bit index; columns of it that the row does not have are filled with zeros. The traffic model
  counts the bytes of every block size and takes the least. This has nothing to do with the block size of `MatSetBlockSize()`.

.seealso: `MATAMB`, `MatShadowSetTune()`, `MatShadowGetInfo()`
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

static PetscErrorCode MatCreate_SeqAIJAMB(Mat);
static PetscErrorCode MatCreate_MPIAIJAMB(Mat);

const MatShadowFormat MatShadowFormatAMB = {
  .name        = MATAMB,
  .seqtype     = MATSEQAIJAMB,
  .mpitype     = MATMPIAIJAMB,
  .citation    = AmbCitation,
  .cited       = &AmbCited,
  .params_size = sizeof(AmbParams),
  .host        = {.update = UpdateHost_AMB,     .mult = MultHost_AMB,       .multtranspose = MultTransposeHost_AMB, .destroy = DestroyHost_AMB,               .refresh = RefreshHost_AMB,   .rank = RankHost_AMB,         .layout = LayoutHost_AMB},
#if defined(MAT_SHADOW_HAVE_DEVICE)
  .device = {.convert = ConvertDevice_AMB, .update = UpdateDevice_AMB, .mult = MultDevice_AMB,                 .multtranspose = MultTransposeDevice_AMB, .destroy = DestroyDevice_AMB, .refresh = RefreshDevice_AMB, .load = LoadDevice_AMB  },
#endif
  .create_seq     = MatCreate_SeqAIJAMB,
  .create_mpi     = MatCreate_MPIAIJAMB,
  .setfromoptions = AmbSetFromOptions,
  .compose        = AmbCompose
};

/*MC
   MATAMB - `MATAMB` = "amb" - sparse matrices whose products with vectors run on the Adaptive Multi-level Blocking format.

   A subtype of `MATAIJ`: `MATSEQAIJAMB` on one process, `MATMPIAIJAMB` on several. Everything that `MATAIJ` does is inherited; the products
   `MatMult()`, `MatMultAdd()`, `MatMultTranspose()` and `MatMultTransposeAdd()` run on a second copy of the matrix with 16-bit column indices,
   made after the first few products and kept where it was measured to be faster.

   In a PETSc with CUDA, and with a GPU there, the matrix and the vectors it makes live on the GPU. The type name of the matrix is then that of
   `MATAIJCUSPARSE`, from which everything but these products is inherited.

   Options Database Keys:
+  -mat_type amb                               - sets the type, in `MatSetFromOptions()`
.  -petscamb_for_aij amb                       - all `MATAIJ` and `MATAIJCUSPARSE` matrices of the program become ours, whoever creates them
.  -petscamb_view                              - tells at the end what was converted and multiplied
.  -mat_amb_device <auto,cpu,gpu>              - where the matrix lives
.  -mat_amb_block_size <b>                     - columns that share one index, 1 to 10, or 0 for the best by the traffic model
-  -mat_shadow_tune <off,model,measure,online> - what decides between the format and the AIJ

   Level: beginner

.seealso: `MatAMBSetBlockSize()`, `MatShadowSetTune()`, `MatShadowSetDevice()`, `MatShadowGetInfo()`, `MATAIJ`, `MATAIJCUSPARSE`
M*/
static PetscErrorCode MatCreate_SeqAIJAMB(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatShadowCreateSeq(A, &MatShadowFormatAMB));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCreate_MPIAIJAMB(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatShadowCreateMPI(A, &MatShadowFormatAMB));
  PetscFunctionReturn(PETSC_SUCCESS);
}
