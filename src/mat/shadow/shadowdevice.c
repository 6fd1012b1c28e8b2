/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The device side of shadows: products of an AIJCUSPARSE, and how its matrices become ours.

   PETSc compares the type name of an AIJCUSPARSE exactly in many places and keeps its own structure in spptr, so that the matrix keeps both.
   What PETSc makes "of the same type" passes through the constructor of AIJCUSPARSE or is converted to it from AIJ. Both are therefore replaced,
   but not before the first matrix of ours is put on the device, or all AIJ are asked to be ours, so that other programs never meet this.
*/
#include "mat/halo/halo.h"

#if defined(MAT_SHADOW_HAVE_DEVICE)
  #include <petscdevice_cuda.h>
#endif

/* Is there a device that PETSc may use? Nothing is started on it. */
PetscErrorCode MatShadowDeviceFound(PetscBool *found)
{
#if defined(MAT_SHADOW_HAVE_DEVICE)
  static const char *const enable[] = {"-device_enable", "-device_enable_cuda"};
  int                      n        = 0;
#endif

  PetscFunctionBegin;
  *found = PETSC_FALSE;
#if defined(MAT_SHADOW_HAVE_DEVICE)
  for (int k = 0; k < 2; k++) {
    char      value[16] = "";
    PetscBool none;

    PetscCall(PetscOptionsGetString(NULL, NULL, enable[k], value, sizeof(value), NULL));
    PetscCall(PetscStrcasecmp(value, "none", &none));
    if (none) PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (cudaGetDeviceCount(&n) != cudaSuccess) {
    n = 0;
    (void)cudaGetLastError(); /* not to be found by whoever looks for errors next */
  }
  *found = (PetscBool)(n > 0);
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A program that makes its vectors with VecSetFromOptions(), or a DM with -dm_vec_type, would have them on the host while -mat_type puts its
   matrices on the device. AIJCUSPARSE expects that -vec_type cuda is given too; here that follows from -mat_type, for each options prefix, unless
   the user says otherwise. */
PetscErrorCode MatShadowDeviceVecOptions(const MatShadowFormat *format)
{
  char    **word, *all;
  int       n;
  PetscBool looked = PETSC_FALSE, found = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetAll(NULL, &all));
  PetscCall(PetscStrToArray(all, ' ', &n, &word));
  for (int k = 0; k + 1 < n; k++) {
    const int              prefix = (int)strlen(word[k]) - (int)strlen("mat_type"); /* its length, with the hyphen */
    char                   name[256], value[16] = "";
    const MatShadowFormat *wanted;
    PetscBool              type, dm, cpu, given;

    PetscCall(PetscStrendswith(word[k], "mat_type", &type));
    PetscCall(MatShadowFind(word[k + 1], &wanted));
    if (!type || wanted != format) continue;
    if (!looked) PetscCall(MatShadowDeviceFound(&found));
    looked = PETSC_TRUE;
    if (!found) break;
    PetscCall(PetscStrendswith(word[k], "dm_mat_type", &dm));
    PetscCall(PetscSNPrintf(name, sizeof(name), "%.*smat_%s_device", prefix - (dm ? (int)strlen("dm_") : 0), word[k], format->name));
    PetscCall(PetscOptionsGetString(NULL, NULL, name, value, sizeof(value), NULL));
    PetscCall(PetscStrcasecmp(value, "cpu", &cpu));
    PetscCall(PetscSNPrintf(name, sizeof(name), "%.*svec_type", prefix, word[k]));
    PetscCall(PetscOptionsHasName(NULL, NULL, name, &given));
    if (given || cpu) continue;
    PetscCall(PetscOptionsSetValue(NULL, name, VECCUDA));
    PetscCall(PetscOptionsHasName(NULL, NULL, name, &given)); /* so that nobody is told of an option that was not used */
    PetscCall(PetscInfo(NULL, "%s %s, because of %s %s\n", name, VECCUDA, word[k], word[k + 1]));
  }
  PetscCall(PetscStrToArrayDestroy(n, word));
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(MAT_SHADOW_HAVE_DEVICE)

typedef PetscErrorCode (*MatConvertFunction)(Mat, MatType, MatReuse, Mat *);

  #define CONVERT_SEQ "MatConvert_seqaij_seqaijcusparse_C"
  #define CONVERT_MPI "MatConvert_mpiaij_mpiaijcusparse_C"

struct _MatOps                MatShadowBaseSeqCUSPARSE, MatShadowBaseMPICUSPARSE;
static const MatShadowFormat *device_format   = NULL;        /* what every AIJCUSPARSE of this process becomes */
static PetscBool              device_expected = PETSC_FALSE; /* another format may still take its place */
static PetscBool              device_ready    = PETSC_FALSE; /* the operations of AIJCUSPARSE are known */

/* PETSc's own: the constructors of AIJ and AIJCUSPARSE, and the conversions from the one to the other */
static PetscErrorCode (*create_seq)(Mat), (*create_mpi)(Mat), (*create_seqcusparse)(Mat), (*create_mpicusparse)(Mat);
static MatConvertFunction convert_seq, convert_mpi;

static PetscErrorCode MatShadowDeviceHarvest(PetscErrorCode (*create)(Mat), struct _MatOps *ops)
{
  Mat A;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(MatSetOptionsPrefix(A, "mat_shadow_base_"));
  PetscCall(MatSetSizes(A, 1, 1, 1, 1));
  PetscCall((*create)(A));
  *ops = *A->ops;
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before the first AIJCUSPARSE: to look at one starts the device */
static PetscErrorCode MatShadowDeviceReady(void)
{
  PetscFunctionBegin;
  if (device_ready) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowDeviceHarvest(create_seqcusparse, &MatShadowBaseSeqCUSPARSE));
  PetscCall(MatShadowDeviceHarvest(create_mpicusparse, &MatShadowBaseMPICUSPARSE));
  device_ready = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A factored matrix has nothing to multiply with */
static PetscErrorCode MatCreate_SeqAIJCUSPARSE_Shadow(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatShadowDeviceReady());
  PetscCall((*create_seqcusparse)(A));
  if (A->factortype == MAT_FACTOR_NONE) PetscCall(MatShadowAttach(A, device_format, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCreate_MPIAIJCUSPARSE_Shadow(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatShadowDeviceReady());
  PetscCall((*create_mpicusparse)(A));
  if (A->factortype == MAT_FACTOR_NONE) PetscCall(MatShadowAttach(A, device_format, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes an AIJ, which need not be assembled, an AIJCUSPARSE in place, not one of ours yet */
PetscErrorCode MatShadowDeviceConvert(Mat A)
{
  const MatShadowFormat *format;
  PetscBool              seq;

  PetscFunctionBegin;
  PetscCall(MatShadowGetFormat(A, &format));
  if (format) PetscCall(MatShadowDetach(A)); /* -petscamb_for_aij has made it one of ours on the host */
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSEQAIJ, &seq));
  PetscCall((*(seq ? convert_seq : convert_mpi))(A, seq ? MATSEQAIJCUSPARSE : MATMPIAIJCUSPARSE, MAT_INPLACE_MATRIX, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatConvert_AIJ_AIJCUSPARSE_Shadow(Mat A, MatType type, MatReuse reuse, Mat *newmat)
{
  Mat B = *newmat;

  PetscFunctionBegin;
  PetscCall(MatShadowDeviceReady());
  if (reuse == MAT_REUSE_MATRIX) {
    PetscCall(MatCopy(A, B, SAME_NONZERO_PATTERN));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(MatShadowDeviceConvert(B));
  if (B->factortype == MAT_FACTOR_NONE) PetscCall(MatShadowAttach(B, device_format, NULL));
  *newmat = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCreate_SeqAIJ_Shadow(Mat A)
{
  PetscFunctionBegin;
  PetscCall((*create_seq)(A));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, CONVERT_SEQ, MatConvert_AIJ_AIJCUSPARSE_Shadow));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCreate_MPIAIJ_Shadow(Mat A)
{
  PetscFunctionBegin;
  PetscCall((*create_mpi)(A));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, CONVERT_MPI, MatConvert_AIJ_AIJCUSPARSE_Shadow));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatShadowDeviceReplace(MatType type, PetscErrorCode (*ours)(Mat), PetscErrorCode (**theirs)(Mat))
{
  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(MatList, type, theirs));
  PetscCall(MatRegister(type, ours));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes what will be an AIJCUSPARSE one of this format; nothing is started on the device. PETSc forgets what is registered by itself. */
PetscErrorCode MatShadowDeviceExpect(const MatShadowFormat *format)
{
  Mat A;

  PetscFunctionBegin;
  if (device_format) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowHarvestMat(MATSEQAIJ, &A));
  PetscCall(PetscObjectQueryFunction((PetscObject)A, CONVERT_SEQ, &convert_seq));
  PetscCall(MatDestroy(&A));
  PetscCall(MatShadowHarvestMat(MATMPIAIJ, &A));
  PetscCall(PetscObjectQueryFunction((PetscObject)A, CONVERT_MPI, &convert_mpi));
  PetscCall(MatDestroy(&A));
  PetscCall(MatShadowDeviceReplace(MATSEQAIJ, MatCreate_SeqAIJ_Shadow, &create_seq));
  PetscCall(MatShadowDeviceReplace(MATMPIAIJ, MatCreate_MPIAIJ_Shadow, &create_mpi));
  PetscCall(MatShadowDeviceReplace(MATSEQAIJCUSPARSE, MatCreate_SeqAIJCUSPARSE_Shadow, &create_seqcusparse));
  PetscCall(MatShadowDeviceReplace(MATMPIAIJCUSPARSE, MatCreate_MPIAIJCUSPARSE_Shadow, &create_mpicusparse));
  device_format   = format;
  device_expected = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before the first matrix of this format goes to the device */
PetscErrorCode MatShadowDeviceStart(const MatShadowFormat *format)
{
  PetscFunctionBegin;
  PetscCall(MatShadowDeviceExpect(format));
  if (device_expected) device_format = format;
  device_expected = PETSC_FALSE;
  PetscCall(MatShadowDeviceReady());
  PetscCall(MatShadowLoadStart(format));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatShadowDeviceEnd(void)
{
  PetscFunctionBegin;
  PetscCall(MatShadowLoadEnd());
  PetscCall(MatHaloEnd());
  device_format   = NULL;
  device_expected = PETSC_FALSE;
  device_ready    = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatShadowDeviceGetFormat(const MatShadowFormat **format)
{
  PetscFunctionBegin;
  *format = device_format;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Memory that is pinned crosses the bus three to eight times as fast; to pin what is there already costs less than one crossing without it */
void MatShadowDevicePin(const void *memory, size_t bytes, PetscBool *pinned)
{
  *pinned = (PetscBool)(bytes >= (size_t)4 << 20 && cudaHostRegister((void *)memory, bytes, cudaHostRegisterDefault) == cudaSuccess);
  if (!*pinned) (void)cudaGetLastError();
}

void MatShadowDeviceUnpin(const void *memory, PetscBool pinned)
{
  if (pinned && cudaHostUnregister((void *)memory) != cudaSuccess) (void)cudaGetLastError();
}

/* The arrays of AIJCUSPARSE. Values that are newer on the host are copied to the device, and the pattern if it is not there yet, as AIJCUSPARSE does before its
   own products; never the other way. */
PetscErrorCode MatShadowDeviceGetCSR(Mat A, MatShadowCSR *csr)
{
  const PetscBool new_pattern = (PetscBool)(A->offloadmask == PETSC_OFFLOAD_UNALLOCATED), new_values = (PetscBool)(new_pattern || A->offloadmask == PETSC_OFFLOAD_CPU);
  PetscBool       pinned[2] = {PETSC_FALSE, PETSC_FALSE};
  const PetscInt *i, *j = NULL;
  PetscScalar    *a = NULL;
  PetscInt        m;
  PetscBool       done;

  PetscFunctionBegin;
  if (new_values) {
    PetscCall((*MatShadowBaseSeq.getrowij)(A, 0, PETSC_FALSE, PETSC_FALSE, &m, &i, &j, &done));
    PetscCall(MatSeqAIJGetArrayRead(A, (const PetscScalar **)&a));
    if (new_pattern) MatShadowDevicePin(j, i[m] * sizeof(*j), &pinned[0]);
    MatShadowDevicePin(a, i[m] * sizeof(*a), &pinned[1]);
  }
  PetscCall(MatSeqAIJCUSPARSEGetIJ(A, PETSC_FALSE, &csr->A.i, &csr->A.j));
  PetscCall(MatSeqAIJCUSPARSEGetArrayRead(A, &csr->A.a));
  if (new_values) {
    MatShadowDeviceUnpin(j, pinned[0]);
    MatShadowDeviceUnpin(a, pinned[1]);
    PetscCall(MatSeqAIJRestoreArrayRead(A, (const PetscScalar **)&a));
  }
  csr->stream = PetscDefaultCudaStream; /* that of AIJCUSPARSE */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For what is in the stream, before the clock is looked at */
PetscErrorCode MatShadowDeviceWait(const MatShadowCSR *csr)
{
  PetscFunctionBegin;
  PetscCallCUDA(cudaStreamSynchronize((cudaStream_t)csr->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatShadowDeviceTransfer(Vec device, Vec host, PetscBool up)
{
  PetscScalar       *d, *h;
  const PetscScalar *r;
  PetscInt           n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(host, &n));
  if (up) {
    PetscCall(VecGetArrayRead(host, &r));
    PetscCall(VecCUDAGetArrayWrite(device, &d));
    PetscCallCUDA(cudaMemcpyAsync(d, r, n * sizeof(*d), cudaMemcpyHostToDevice, PetscDefaultCudaStream));
    PetscCallCUDA(cudaStreamSynchronize(PetscDefaultCudaStream));
    PetscCall(VecCUDARestoreArrayWrite(device, &d));
    PetscCall(VecRestoreArrayRead(host, &r));
    PetscCall(PetscLogCpuToGpu(n * sizeof(*d)));
  } else {
    PetscCall(VecCUDAGetArrayRead(device, &r));
    PetscCall(VecGetArrayWrite(host, &h));
    PetscCallCUDA(cudaMemcpyAsync(h, r, n * sizeof(*h), cudaMemcpyDeviceToHost, PetscDefaultCudaStream));
    PetscCallCUDA(cudaStreamSynchronize(PetscDefaultCudaStream));
    PetscCall(VecRestoreArrayWrite(host, &h));
    PetscCall(VecCUDARestoreArrayRead(device, &r));
    PetscCall(PetscLogGpuToCpu(n * sizeof(*h)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v itself where its array is on the device, else a vector of the shadow, a row (k is 0) or a column of A, with the values of from if that is
   not NULL. AIJCUSPARSE takes vectors of the host too, but only PETSc's debug build says that the result is wrong. */
PetscErrorCode MatShadowDeviceBring(Mat A, int k, Vec v, Vec from, Vec *device)
{
  MatShadow *s;
  PetscInt   n, have;
  PetscBool  cuda, bound;

  PetscFunctionBegin;
  *device = v;
  PetscCall(VecBoundToCPU(v, &bound));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)v, &cuda, VECSEQCUDA, VECMPICUDA, ""));
  if (cuda && !bound) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowGet(A, &s));
  PetscCall(VecGetLocalSize(v, &n));
  if (s->work[k]) PetscCall(VecGetLocalSize(s->work[k], &have));
  if (s->work[k] && n != have) PetscCall(VecDestroy(&s->work[k]));
  if (!s->work[k]) {
    PetscCall(PetscInfo(A, "Vectors are on the host and are copied to the GPU and back; make them with MatCreateVecs() or -vec_type cuda\n"));
    PetscCall(VecCreateSeqCUDA(PETSC_COMM_SELF, n, &s->work[k]));
  }
  *device = s->work[k];
  if (from) PetscCall(MatShadowDeviceTransfer(*device, from, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The values of what MatShadowDeviceBring() gave go back to v */
PetscErrorCode MatShadowDeviceTake(Vec device, Vec v)
{
  PetscFunctionBegin;
  if (device != v) PetscCall(MatShadowDeviceTransfer(device, v, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Between vectors on the device, one of which may be of a block and the other of the whole matrix: VecCopy() would not have that */
PetscErrorCode MatShadowDeviceCopy(Vec from, Vec to)
{
  const PetscScalar *f;
  PetscScalar       *t;
  PetscInt           n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(to, &n));
  PetscCall(VecCUDAGetArrayRead(from, &f));
  PetscCall(VecCUDAGetArrayWrite(to, &t));
  PetscCallCUDA(cudaMemcpyAsync(t, f, n * sizeof(*t), cudaMemcpyDeviceToDevice, PetscDefaultCudaStream));
  PetscCall(VecCUDARestoreArrayWrite(to, &t));
  PetscCall(VecCUDARestoreArrayRead(from, &f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatShadowDeviceMult(MatShadow *s, const MatShadowCSR *csr, PetscBool transpose, Vec xx, Vec yy, Vec zz, PetscBool *done)
{
  const PetscScalar *x, *y = NULL;
  PetscScalar       *z;

  PetscFunctionBegin;
  PetscCall(VecCUDAGetArrayRead(xx, &x));
  if (yy && yy != zz) PetscCall(VecCUDAGetArrayRead(yy, &y));
  if (yy == zz) {
    PetscCall(VecCUDAGetArray(zz, &z));
    y = z;
  } else PetscCall(VecCUDAGetArrayWrite(zz, &z));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall((*(transpose ? s->ops->multtranspose : s->ops->mult))(s->data, csr, 1, x, yy ? 1 : 0, y, z, done));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(VecCUDARestoreArrayRead(xx, &x));
  if (yy && yy != zz) PetscCall(VecCUDARestoreArrayRead(yy, &y));
  if (yy == zz) PetscCall(VecCUDARestoreArray(zz, &z));
  else PetscCall(VecCUDARestoreArrayWrite(zz, &z));
  if (*done) PetscCall(PetscLogGpuFlops(2.0 * s->nz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

  #define MAT_SHADOW_DEVICE_ROUNDS 2 /* of timing, of which the faster counts */

/* The same product on the format and on AIJCUSPARSE, three back to back in a round, or one where that takes long enough to tell. With the first one on
   either side, for what is done once, these are 14 products, or 6. */
static PetscErrorCode MatShadowDeviceTryOn(Mat A, MatShadow *s, const MatShadowCSR *csr, PetscBool transpose, Vec x, Vec y, PetscBool *tried)
{
  PetscErrorCode (*base)(Mat, Vec, Vec) = transpose ? MatShadowBaseSeqCUSPARSE.multtranspose : MatShadowBaseSeqCUSPARSE.mult;
  const int       products              = s->nz > MAT_SHADOW_LARGE ? 1 : 3;
  MatShadowTrial *trial                 = &s->trial[transpose];
  cudaEvent_t     event[2];

  PetscFunctionBegin;
  PetscCall((*base)(A, x, y));
  PetscCall(MatShadowDeviceMult(s, csr, transpose, x, NULL, y, tried));
  if (!*tried) { /* no memory for the transposed matrix */
    trial->on_aij = PETSC_TRUE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  trial->time_csr = trial->time_format = 0;
  for (int k = 0; k < 2; k++) PetscCallCUDA(cudaEventCreate(&event[k]));
  for (int round = 0; round < MAT_SHADOW_DEVICE_ROUNDS; round++) {
    for (int format = 0; format < 2; format++) {
      PetscLogDouble *least = format ? &trial->time_format : &trial->time_csr, seconds;
      float           milliseconds;

      PetscCallCUDA(cudaEventRecord(event[0], (cudaStream_t)csr->stream));
      for (int k = 0; k < products; k++) {
        if (format) PetscCall(MatShadowDeviceMult(s, csr, transpose, x, NULL, y, tried));
        else PetscCall((*base)(A, x, y));
      }
      PetscCallCUDA(cudaEventRecord(event[1], (cudaStream_t)csr->stream));
      PetscCallCUDA(cudaEventSynchronize(event[1]));
      PetscCallCUDA(cudaEventElapsedTime(&milliseconds, event[0], event[1]));
      seconds = 1.e-3 * (PetscLogDouble)milliseconds / products;
      if (*least == 0 || seconds < *least) *least = seconds;
    }
  }
  for (int k = 0; k < 2; k++) PetscCallCUDA(cudaEventDestroy(event[k]));
  trial->nformat += MAT_SHADOW_DEVICE_ROUNDS * products;
  trial->ncsr += MAT_SHADOW_DEVICE_ROUNDS * products;
  s->info.tried += 2 * (1 + MAT_SHADOW_DEVICE_ROUNDS * products);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vectors of zeros on the device for a product with A, or none where memory is short; *array is for cudaFree() */
static PetscErrorCode MatShadowDeviceCreateVecs(PetscInt n, PetscInt m, void *stream, Vec *x, Vec *y, PetscScalar **array)
{
  const size_t second = 32 * (((size_t)n + 31) / 32), bytes = (second + (size_t)m) * sizeof(PetscScalar); /* both aligned as cudaMalloc() does */

  PetscFunctionBegin;
  if (cudaMalloc((void **)array, bytes) != cudaSuccess) {
    (void)cudaGetLastError();
    *array = NULL;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallCUDA(cudaMemsetAsync(*array, 0, bytes, (cudaStream_t)stream));
  PetscCall(VecCreateSeqCUDAWithArray(PETSC_COMM_SELF, 1, n, *array, x));
  PetscCall(VecCreateSeqCUDAWithArray(PETSC_COMM_SELF, 1, m, *array + second, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatShadowDeviceDestroyVecs(Vec *x, Vec *y, PetscScalar **array)
{
  PetscFunctionBegin;
  PetscCall(VecDestroy(x));
  PetscCall(VecDestroy(y));
  PetscCallCUDA(cudaFree(*array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Times the product on the format and on AIJCUSPARSE, on vectors of zeros; *tried is PETSC_FALSE where memory for them is short */
PetscErrorCode MatShadowDeviceTry(Mat A, MatShadow *s, const MatShadowCSR *csr, PetscBool transpose, PetscBool *tried)
{
  PetscScalar *array;
  Vec          x, y;

  PetscFunctionBegin;
  PetscCall(MatShadowDeviceCreateVecs(transpose ? csr->A.m : csr->A.n, transpose ? csr->A.n : csr->A.m, csr->stream, &x, &y, &array));
  *tried = (PetscBool)(array != NULL);
  if (!array) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowDeviceTryOn(A, s, csr, transpose, x, y, tried));
  PetscCall(MatShadowDeviceDestroyVecs(&x, &y, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the transposed product ready: that of the format, if A is in it, or the transpose that AIJCUSPARSE uses. Either would come with the first such product. */
PetscErrorCode MatShadowDeviceExpectTranspose(Mat A)
{
  MatShadow   *s = NULL;
  Mat          B = A;
  PetscBool    seq, done;
  PetscScalar *array;
  Vec          x, y;

  PetscFunctionBegin;
  if (!MatShadowIsCUSPARSE(A)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSEQAIJCUSPARSE, &seq));
  if (!seq) PetscCall(MatMPIAIJGetSeqAIJ(A, &B, NULL, NULL));
  if (B->boundtocpu || !B->rmap->n || !B->cmap->n) PetscFunctionReturn(PETSC_SUCCESS);
  if (B->ops->mult == MatMult_Shadow) PetscCall(MatShadowGet(B, &s));
  if (s && s->data ? s->stale || s->trial[1].settled : !B->form_explicit_transpose || B->transupdated) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowDeviceReady());
  PetscCall(MatShadowDeviceCreateVecs(B->rmap->n, B->cmap->n, PetscDefaultCudaStream, &x, &y, &array));
  if (!array) PetscFunctionReturn(PETSC_SUCCESS);
  if (s && s->data) {
    MatShadowCSR csr = {
      .A = {.m = B->rmap->n, .n = B->cmap->n, .nz = s->nz}
    };

    PetscCall(MatShadowDeviceGetCSR(B, &csr));
    PetscCall(MatShadowDeviceMult(s, &csr, PETSC_TRUE, x, NULL, y, &done));
    s->trial[1].settled = PETSC_TRUE;
    s->trial[1].on_aij  = (PetscBool)!done;
  } else PetscCall((*MatShadowBaseSeqCUSPARSE.multtranspose)(B, x, y));
  PetscCall(MatShadowDeviceDestroyVecs(&x, &y, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
