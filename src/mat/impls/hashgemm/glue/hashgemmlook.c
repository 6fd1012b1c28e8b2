/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The changes of operands since the last product
*/
#include "mat/impls/hashgemm/glue/hashgemmdevicestub.h"

/* Sees all but the entries */
PetscErrorCode HashGEMMGlance(Mat A, HashGEMMSeen *seen)
{
  Mat       block[2] = {A, NULL};
  PetscBool mpi;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(seen, sizeof(*seen)));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  if (mpi) PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
  PetscCall(PetscObjectGetId((PetscObject)A, &seen->id));
  PetscCall(PetscObjectStateGet((PetscObject)A, &seen->state));
  seen->nonzerostate = A->nonzerostate;
  for (int k = 0; k < 2 && block[k]; k++) {
    SysCSR csr;

    PetscCall(MatShadowGetPattern(block[k], &csr));
    seen->i[k]      = csr.i;
    seen->device[k] = MatShadowValuesOnDevice(block[k]);
    if (mpi) seen->state += ((PetscObject)block[k])->state; /* blocks may change and their matrix not notice */
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool HashGEMMSamePattern(const HashGEMMSeen *a, const HashGEMMSeen *b)
{
  return (PetscBool)(a->id == b->id && a->nonzerostate == b->nonzerostate && a->i[0] == b->i[0] && a->i[1] == b->i[1] && a->device[0] == b->device[0] && a->device[1] == b->device[1]);
}

/* The device has other fingerprints than the host: an operand that has moved looks like a new pattern, and the product is made anew */
static PetscErrorCode HashGEMMFingerprintBlock(Mat A, uint64_t *pattern, int *ascending)
{
  SysCSR    csr;
  PetscBool done = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(MatShadowGetPattern(A, &csr));
  if (MatShadowValuesOnDevice(A) && csr.nz) PetscCall(HashGEMMDeviceLook(A, pattern, ascending, &done));
  if (!done) *pattern = HashGEMMFingerprint(csr.m, csr.i, csr.j, ascending);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HashGEMMFingerprintMat(Mat A, uint64_t *pattern)
{
  Mat             block[2] = {A, NULL};
  const PetscInt *global   = NULL;
  PetscBool       mpi;
  int             ascending = 1;

  PetscFunctionBegin;
  *pattern = 0;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  if (mpi) PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], &global));
  for (int k = 0; k < 2 && block[k]; k++) {
    uint64_t one = 0;

    PetscCall(HashGEMMFingerprintBlock(block[k], &one, &ascending));
    *pattern = 31 * *pattern + one;
    PetscCheck(ascending, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "An operand has a row whose columns are not in ascending order, or repeated; assemble the operand with MatSetValues(), or use another algorithm");
  }
  if (mpi) {
    const PetscInt i[2] = {0, block[1]->cmap->n};

    *pattern = 31 * *pattern + HashGEMMFingerprint(1, i, global, &ascending);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares A with *seen, which becomes A */
PetscErrorCode HashGEMMLook(Mat A, HashGEMMSeen *seen, HashGEMMChange *change)
{
  HashGEMMSeen now;

  PetscFunctionBegin;
  PetscCall(HashGEMMGlance(A, &now));
  if (HashGEMMSamePattern(&now, seen)) {
    *change     = now.state == seen->state ? HASHGEMM_SAME : HASHGEMM_NEW_VALUES;
    now.pattern = seen->pattern;
  } else {
    PetscCall(HashGEMMFingerprintMat(A, &now.pattern));
    *change = now.pattern == seen->pattern ? HASHGEMM_NEW_VALUES : HASHGEMM_NEW_PATTERN;
  }
  *seen = now;
  PetscFunctionReturn(PETSC_SUCCESS);
}
