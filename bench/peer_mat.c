/*
   PETSc's own Mat types and ours, all through the same calls that a program makes.
*/
#include "bench.h"
#include <petsctime.h>

/* The root names of the types that MatShadowGetInfo() knows */
static const char *const Shadows[] = {MATAMB, MATNUSSELL};

/* Some types do not exist in every PETSc, or not for every matrix: that is an answer here and no error */
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

static PetscErrorCode PeerCreate_Mat(Contender c, Case *k)
{
  PetscBool same;

  PetscFunctionBegin;
  for (int s = 0; s < (int)PETSC_STATIC_ARRAY_LENGTH(Shadows); s++) {
    PetscCall(PetscStrcmp(c->type, Shadows[s], &same));
    if (same) c->shadow = PETSC_TRUE;
  }
  PetscCall(PetscStrcmp(c->type, MATAIJ, &same));
  if (same) PetscCall(MatDuplicate(k->A, MAT_COPY_VALUES, &c->A));
  else if (c->shadow) PetscCall(MatConvert(k->A, c->type, MAT_INITIAL_MATRIX, &c->A)); /* ours must not fail */
  else PetscCall(MatConvertOrNot(k->A, c->type, &c->A));
  if (!c->A) {
    PetscCall(PetscSNPrintf(c->absent, sizeof(c->absent), "no library of that name, and no Mat type that this PETSc makes of this matrix"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (c->shadow) PetscCall(MatShadowSetUp(c->A));
  PetscCall(MatBytes(c, k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PeerDescribe_Mat(Contender c)
{
  MatShadowInfo info;
  PetscBool     fallen;

  PetscFunctionBegin;
  if (!c->shadow) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowGetInfo(c->A, &info));
  PetscCall(PetscStrcmp(info.format, "csr", &fallen));
  c->bytes = fallen ? info.bytes_csr : info.bytes_stored;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &c->bytes, 1, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)c->A)));
  if (fallen) PetscCall(PetscSNPrintf(c->note, sizeof(c->note), "stays csr"));
  else if (info.segment_count[0] || info.segment_count[1])
    PetscCall(PetscSNPrintf(c->note, sizeof(c->note), "segments %" PetscInt_FMT " x %" PetscInt_FMT " + %" PetscInt_FMT " x %" PetscInt_FMT ", chunks of %" PetscInt_FMT ", %s", info.segment_count[0], info.segment_width[0], info.segment_count[1], info.segment_width[1],
                            info.chunk_size, info.kernel));
  else if (info.block_size > 1) PetscCall(PetscSNPrintf(c->note, sizeof(c->note), "blocks of %" PetscInt_FMT ", %s", info.block_size, info.kernel));
  else PetscCall(PetscSNPrintf(c->note, sizeof(c->note), "chunks of %" PetscInt_FMT ", %s", info.chunk_size, info.kernel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PeerMult_Mat(Contender c, Vec x, Vec y)
{
  return MatMult(c->A, x, y);
}

static PetscErrorCode PeerMultTranspose_Mat(Contender c, Vec x, Vec y)
{
  return MatMultTranspose(c->A, x, y);
}

static PetscErrorCode PeerMultAdd_Mat(Contender c, Vec x, Vec z, Vec y)
{
  return MatMultAdd(c->A, x, z, y);
}

/* From a plain AIJ to a matrix that is ready to multiply, in place, so that no copy of the AIJ is counted */
static PetscErrorCode PeerConvert_Mat(Contender c, Case *k, PetscLogDouble *seconds)
{
  PetscLogDouble t0, t1;

  PetscFunctionBegin;
  PetscCall(MatDestroy(&c->fresh));
  PetscCall(MatDuplicate(k->A, MAT_COPY_VALUES, &c->fresh));
  c->sign = 1.0;
  PetscCall(PetscTime(&t0));
  PetscCall(MatConvert(c->fresh, c->type, MAT_INPLACE_MATRIX, &c->fresh));
  if (c->shadow) {
    PetscCall(MatShadowSetTune(c->fresh, MAT_SHADOW_TUNE_OFF));
    PetscCall(MatShadowSetUp(c->fresh));
  }
  PetscCall(PetscTime(&t1));
  *seconds = t1 - t0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values in the old pattern */
static PetscErrorCode PeerUpdate_Mat(Contender c, Case *k, PetscLogDouble *seconds)
{
  PetscLogDouble t0, t1;

  PetscFunctionBegin;
  if (!c->fresh) PetscCall(PeerConvert_Mat(c, k, seconds));
  if (c->shadow) {
    PetscCall(MatScale(c->fresh, -1.0));
    c->sign = -c->sign;
  }
  PetscCall(PetscTime(&t0));
  if (c->shadow) PetscCall(MatShadowSetUp(c->fresh));
  else PetscCall(MatConvert(k->A, c->type, MAT_REUSE_MATRIX, &c->fresh));
  PetscCall(PetscTime(&t1));
  *seconds = t1 - t0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PeerDestroy_Mat(Contender c)
{
  PetscFunctionBegin;
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
  PetscCall(PetscTime(&t0));
  PetscCall(MatProductCreate(c->A, c->A, NULL, &c->squared));
  PetscCall(MatProductSetType(c->squared, MATPRODUCT_AB));
  if (c->algorithm[0]) PetscCall(MatProductSetAlgorithm(c->squared, c->algorithm));
  PetscCall(MatProductSetFill(c->squared, PETSC_DEFAULT));
  PetscCall(MatProductSetFromOptions(c->squared));
  PetscCall(MatProductSymbolic(c->squared));
  PetscCall(MatProductNumeric(c->squared));
  PetscCall(PetscTime(&t1));
  *seconds = t1 - t0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The square of -A is that of A */
static PetscErrorCode PeerResquare_Mat(Contender c, PetscLogDouble *seconds)
{
  PetscLogDouble t0, t1;

  PetscFunctionBegin;
  if (!c->squared) PetscCall(PeerSquare_Mat(c, seconds));
  PetscCall(MatScale(c->A, -1.0));
  PetscCall(PetscTime(&t0));
  PetscCall(MatProductNumeric(c->squared));
  PetscCall(PetscTime(&t1));
  PetscCall(MatScale(c->A, -1.0));
  *seconds = t1 - t0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PeerSquareMult_Mat(Contender c, Case *k, Vec x, Vec y)
{
  return MatMult(c->squared, x, y);
}

const Peer PeerMat = {.name = "", .create = PeerCreate_Mat, .describe = PeerDescribe_Mat, .mult = PeerMult_Mat, .multtranspose = PeerMultTranspose_Mat, .multadd = PeerMultAdd_Mat, .convert = PeerConvert_Mat, .update = PeerUpdate_Mat, .destroy = PeerDestroy_Mat, .square = PeerSquare_Mat, .resquare = PeerResquare_Mat, .squaremult = PeerSquareMult_Mat};
