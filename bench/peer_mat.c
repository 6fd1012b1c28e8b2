/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The Mat types of PETSc and of petsc-amb, through the same calls that a program makes.
*/
#include "bench.h"
#if defined(PETSC_HAVE_CUDA)
  #include <petscdevice_cuda.h>
#endif

#define BATCH       20 /* products on a GPU between two waits for it */
#define BATCH_DENSE 4  /* products with a dense matrix */

/* Some types do not exist in every PETSc, or not for every matrix: a type that is missing is reported and is no error */
static PetscErrorCode MatConvertOrNot(Mat A, const char type[], Mat *B)
{
  PetscErrorCode ierr;
  Mat            probe;

  PetscFunctionBegin;
  *B = NULL;
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), &probe));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  ierr = MatSetType(probe, type);
  if (!ierr) ierr = MatConvert(A, type, MAT_INITIAL_MATRIX, B);
  PetscCall(PetscPopErrorHandler());
  PetscCall(MatDestroy(&probe));
  if (ierr) *B = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatBytes(Contender c, Case *k)
{
  const char *const known[] = {"aij", "sell", "aijperm"};
  PetscLogDouble    bytes[] = {k->shape.bytes_csr, k->shape.bytes_sell, k->shape.bytes_csr + (PetscLogDouble)sizeof(PetscInt) * k->shape.M};

  PetscFunctionBegin;
  for (int t = 0; t < 3; t++) {
    PetscBool same;

    PetscCall(PetscStrcmp(c->type, known[t], &same));
    if (same) c->bytes = bytes[t];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* If the matrix makes vectors on a GPU, these replace the vectors of the case, as in a program that gets its vectors from MatCreateVecs() */
static PetscErrorCode DeviceVecs(Contender c, Case *k)
{
  const Vec host[] = {k->x, k->yt, k->y, k->z, k->xt}; /* two like rows, three like columns */
  PetscBool device = PETSC_FALSE;
  Vec       like[2];

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(c->A, &like[0], &like[1]));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)like[0], &device, VECSEQCUDA, VECMPICUDA, ""));
  for (int v = 0; v < 5 && device; v++) {
    c->host[v] = host[v];
    PetscCall(VecDuplicate(like[v > 1], &c->device[v]));
  }
  for (int v = 0; v < 2; v++) PetscCall(VecDestroy(&like[v]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static Vec DeviceVec(Contender c, Vec v)
{
  for (int w = 0; w < 5; w++) {
    if (c->device[w] && c->host[w] == v) return c->device[w];
  }
  return v;
}

static PetscErrorCode PeerLoad_Mat(Contender c, Vec v)
{
  return VecTransfer(v, DeviceVec(c, v));
}

static PetscErrorCode PeerFetch_Mat(Contender c, Vec v)
{
  return VecTransfer(DeviceVec(c, v), v);
}

static PetscErrorCode PeerWait_Mat(Contender c, int *batch)
{
  PetscFunctionBegin;
  *batch = c->device[0] ? BATCH : 1;
#if defined(PETSC_HAVE_CUDA)
  if (c->device[0]) PetscCallCUDA(cudaStreamSynchronize(PetscDefaultCudaStream));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PeerCreate_Mat(Contender c, Case *k)
{
  const char *const *types;
  PetscInt           n;
  PetscBool          same;

  PetscFunctionBegin;
  PetscCall(PetscAMBGetTypes(PETSC_FALSE, &n, &types));
  for (PetscInt t = 0; t < n; t++) {
    PetscCall(PetscStrcmp(c->type, types[t], &same));
    if (same) c->shadow = PETSC_TRUE;
  }
  PetscCall(PetscStrcmp(c->type, MATHASHGEMM, &same)); /* its products with vectors are those of aij */
  if (same) c->shadow = PETSC_FALSE;
  PetscCall(PetscStrcmp(c->type, MATAIJ, &same));
  if (c->prefix[0]) PetscCall(ConvertPrefixed(k->A, c->type, c->prefix, &c->A));
  else if (same) PetscCall(MatDuplicate(k->A, MAT_COPY_VALUES, &c->A));
  else if (c->shadow) PetscCall(MatConvert(k->A, c->type, MAT_INITIAL_MATRIX, &c->A)); /* a type of petsc-amb must not fail */
  else PetscCall(MatConvertOrNot(k->A, c->type, &c->A));
  if (!c->A) {
    PetscCall(PetscSNPrintf(c->absent, sizeof(c->absent), "no library of that name, and no Mat type that this PETSc makes of this matrix"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatBytes(c, k));
  PetscCall(DeviceVecs(c, k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PeerDescribe_Mat(Contender c)
{
  MatShadowInfo info;
  char          figures[160];
  PetscBool     fallen, chosen, products;

  PetscFunctionBegin;
  PetscCall(MatShadowGetInfo(c->A, &info));
  PetscCall(PetscStrcmp(c->type, MATHASHGEMM, &products));
  if (!c->shadow && info.format && !products) PetscCall(PetscSNPrintf(c->note, sizeof(c->note), "a matrix of petsc-amb: one was on the GPU before it"));
  if (!c->shadow) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrcmp(info.format, "csr", &fallen));
  c->bytes = fallen ? info.bytes_csr : info.bytes_stored;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &c->bytes, 1, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)c->A)));
  if (fallen) PetscCall(PetscSNPrintf(c->note, sizeof(c->note), "stays csr"));
  else {
    PetscCall(FiguresPrint(c->A, figures, sizeof(figures)));
    PetscCall(PetscSNPrintf(c->note, sizeof(c->note), "%s, %s", figures, info.kernel));
  }
  PetscCall(PetscStrcmp(c->type, MATAUTOSPARSE, &chosen));
  if (info.candidates > 1 || chosen) {
    char tuning[96];

    PetscCall(PetscSNPrintf(tuning, sizeof(tuning), "; %s, %" PetscInt_FMT " tried for %.0f products of aij", info.format, info.candidates, info.time_csr > 0 ? info.time_tune / info.time_csr : 0.));
    PetscCall(PetscStrlcat(c->note, tuning, sizeof(c->note)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PeerMult_Mat(Contender c, Vec x, Vec y)
{
  return MatMult(c->A, DeviceVec(c, x), DeviceVec(c, y));
}

static PetscErrorCode PeerMultTranspose_Mat(Contender c, Vec x, Vec y)
{
  return MatMultTranspose(c->A, DeviceVec(c, x), DeviceVec(c, y));
}

static PetscErrorCode PeerMultAdd_Mat(Contender c, Vec x, Vec z, Vec y)
{
  return MatMultAdd(c->A, DeviceVec(c, x), DeviceVec(c, z), DeviceVec(c, y));
}

/* Converts a plain AIJ to a matrix that is ready to multiply; in place, so that no copy of the AIJ is counted */
static PetscErrorCode PeerConvert_Mat(Contender c, Case *k, PetscLogDouble *seconds)
{
  PetscLogDouble t0, t1;

  PetscFunctionBegin;
  PetscCall(MatDestroy(&c->fresh));
  PetscCall(MatDuplicate(k->A, MAT_COPY_VALUES, &c->fresh));
  if (c->prefix[0]) PetscCall(MatSetOptionsPrefix(c->fresh, c->prefix));
  c->sign = 1.0;
  PetscCall(ContenderTime(c, NULL, &t0));
  PetscCall(MatConvert(c->fresh, c->type, MAT_INPLACE_MATRIX, &c->fresh));
  if (c->shadow) {
    PetscCall(MatShadowSetTune(c->fresh, MAT_SHADOW_TUNE_OFF));
    PetscCall(MatShadowSetUp(c->fresh));
  }
  PetscCall(ContenderTime(c, NULL, &t1));
  *seconds = t1 - t0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets new values; the pattern stays */
static PetscErrorCode PeerUpdate_Mat(Contender c, Case *k, PetscLogDouble *seconds)
{
  PetscLogDouble t0, t1;

  PetscFunctionBegin;
  if (!c->fresh) PetscCall(PeerConvert_Mat(c, k, seconds));
  if (c->shadow) {
    PetscCall(MatScale(c->fresh, -1.0));
    c->sign = -c->sign;
  }
  PetscCall(ContenderTime(c, NULL, &t0));
  if (c->shadow) PetscCall(MatShadowSetUp(c->fresh));
  else PetscCall(MatConvert(k->A, c->type, MAT_REUSE_MATRIX, &c->fresh));
  PetscCall(ContenderTime(c, NULL, &t1));
  *seconds = t1 - t0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PeerMultFresh_Mat(Contender c, Vec x, Vec y)
{
  return MatMult(c->fresh, DeviceVec(c, x), DeviceVec(c, y));
}

static PetscErrorCode PeerDestroy_Mat(Contender c)
{
  PetscFunctionBegin;
  for (int v = 0; v < 5; v++) PetscCall(VecDestroy(&c->device[v]));
  PetscCall(MatDestroy(&c->A));
  PetscCall(MatDestroy(&c->fresh));
  PetscCall(MatDestroy(&c->squared));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PeerSquare_Mat(Contender c, PetscLogDouble *seconds)
{
  PetscLogDouble t0, t1;

  PetscFunctionBegin;
  PetscCall(MatDestroy(&c->squared));
  c->squaredfactor = 1;
  PetscCall(ContenderTime(c, NULL, &t0));
  PetscCall(ContenderProduct(c, MATPRODUCT_AB, c->A, c->A, &c->squared));
  PetscCall(ContenderTime(c, NULL, &t1));
  *seconds = t1 - t0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of 2 A, 4 A and so on, so that a product that kept its values is wrong; powers of two change no rounding */
static PetscErrorCode PeerResquare_Mat(Contender c, PetscLogDouble *seconds)
{
  PetscLogDouble t0, t1;

  PetscFunctionBegin;
  if (!c->squared) PetscCall(PeerSquare_Mat(c, seconds));
  c->squaredfactor = c->squaredfactor < 65536 ? 2 * c->squaredfactor : 2;
  PetscCall(MatScale(c->A, c->squaredfactor));
  PetscCall(ContenderTime(c, NULL, &t0));
  PetscCall(MatProductNumeric(c->squared));
  PetscCall(ContenderTime(c, NULL, &t1));
  PetscCall(MatScale(c->A, 1 / c->squaredfactor));
  *seconds = t1 - t0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PeerSquareMult_Mat(Contender c, Case *k, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(MatMult(c->squared, DeviceVec(c, x), DeviceVec(c, y)));
  PetscCall(VecScale(DeviceVec(c, y), 1 / PetscSqr(c->squaredfactor)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PeerDense_Mat(Contender c, Case *k, PetscBool transpose, PetscLogDouble *seconds)
{
  PetscBool      made;
  PetscLogDouble t0, t1;
  int            batch;

  PetscFunctionBegin;
  PetscCall(ContenderDense(c, k, transpose, DeviceVec(c, transpose ? k->xt : k->x), &made));
  if (made) PetscCall(ContenderProduct(c, transpose ? MATPRODUCT_AtB : MATPRODUCT_AB, c->A, c->dense[0], &c->dense[1]));
  PetscCall(ContenderTime(c, &batch, &t0));
  batch = PetscMin(batch, BATCH_DENSE);
  for (int n = 0; n < batch; n++) PetscCall(MatProductNumeric(c->dense[1]));
  PetscCall(ContenderTime(c, NULL, &t1));
  *seconds = (t1 - t0) / batch;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PeerSample_Mat(Contender c, Case *k, PetscLogDouble *seconds)
{
  PetscBool      made;
  PetscLogDouble t0, t1;
  int            batch;

  PetscFunctionBegin;
  PetscCall(ContenderFactors(c, k, DeviceVec(c, k->xt), DeviceVec(c, k->x), &made));
  if (made) PetscCall(MatSDDMM(c->A, c->factor[0], c->factor[1], PETSC_FALSE, MAT_INITIAL_MATRIX, &c->sampled));
  PetscCall(ContenderTime(c, &batch, &t0));
  batch = PetscMin(batch, BATCH_DENSE);
  for (int n = 0; n < batch; n++) PetscCall(MatSDDMM(c->A, c->factor[0], c->factor[1], PETSC_FALSE, MAT_REUSE_MATRIX, &c->sampled));
  PetscCall(ContenderTime(c, NULL, &t1));
  *seconds = (t1 - t0) / batch;
  PetscFunctionReturn(PETSC_SUCCESS);
}

const Peer PeerMat = {.name = "", .create = PeerCreate_Mat, .describe = PeerDescribe_Mat, .mult = PeerMult_Mat, .multtranspose = PeerMultTranspose_Mat, .multadd = PeerMultAdd_Mat, .load = PeerLoad_Mat, .fetch = PeerFetch_Mat, .wait = PeerWait_Mat, .multfresh = PeerMultFresh_Mat, .convert = PeerConvert_Mat, .update = PeerUpdate_Mat, .destroy = PeerDestroy_Mat, .square = PeerSquare_Mat, .resquare = PeerResquare_Mat, .squaremult = PeerSquareMult_Mat, .dense = PeerDense_Mat, .densecolumn = ContenderDenseColumn, .sample = PeerSample_Mat};
