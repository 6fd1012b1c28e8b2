/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The operands' changes since the last product
*/
#include "mat/impls/hashgemm/glue/hashgemm.h"

/* Gets the state of everything but the entries */
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
  seen->state += A->num_ass; /* a numeric phase inside another product need not raise the state, but AIJCUSPARSE counts assemblies */
  seen->nonzerostate = A->nonzerostate;
  seen->deferred     = MatAIJIsDeferred(A);
  for (int k = 0; k < 2 && block[k]; k++) {
    SysCSR csr;

    PetscCall(MatAIJGetSizes(block[k], &csr));
    seen->i[k]      = csr.i;
    seen->device[k] = MatAIJValuesOnDevice(block[k]);
    if (mpi) seen->state += ((PetscObject)block[k])->state + block[k]->num_ass; /* blocks may change without their matrix's state */
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool HashGEMMSamePattern(const HashGEMMSeen *a, const HashGEMMSeen *b)
{
  return (PetscBool)(a->id == b->id && a->nonzerostate == b->nonzerostate && a->deferred == b->deferred && a->i[0] == b->i[0] && a->i[1] == b->i[1] && a->device[0] == b->device[0] && a->device[1] == b->device[1]);
}

/* Device and host fingerprints differ: an operand that moved counts as a new pattern, and the product starts anew */
static PetscErrorCode HashGEMMFingerprintMat(Mat A, uint64_t *pattern, int *ascending)
{
  Mat             block[2]  = {A, NULL}, device[2];
  const PetscInt *global    = NULL;
  uint64_t        found[2]  = {0, 0};
  int             sorted[2] = {1, 1}, ndevice = 0;
  PetscBool       mpi, done                   = PETSC_FALSE;

  PetscFunctionBegin;
  *pattern   = 0;
  *ascending = 1;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  if (mpi) PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], &global));
  for (int k = 0; k < 2 && block[k]; k++) {
    SysCSR csr;

    PetscCall(MatAIJGetSizes(block[k], &csr));
    if (MatAIJValuesOnDevice(block[k]) && csr.nz) device[ndevice++] = block[k];
  }
  if (ndevice) PetscCall(HashGEMMDeviceLook(ndevice, device, found, sorted, &done));
  ndevice = done ? ndevice : 0;
  for (int k = 0, l = 0; k < 2 && block[k]; k++) {
    SysCSR   csr;
    uint64_t one;
    int      rows;

    if (l < ndevice && device[l] == block[k]) {
      one  = found[l];
      rows = sorted[l++];
    } else {
      PetscCall(MatAIJGetPattern(block[k], &csr));
      one = HashGEMMFingerprint(csr.m, csr.i, csr.j, &rows);
    }
    *pattern   = 31 * *pattern + one;
    *ascending = *ascending && rows;
  }
  if (mpi) {
    const PetscInt i[2] = {0, block[1]->cmap->n};
    int            row;

    *pattern = 31 * *pattern + HashGEMMFingerprint(1, i, global, &row);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares A with *seen, and sets *seen to A unless the product refuses A */
PetscErrorCode HashGEMMGetChange(Mat A, HashGEMMSeen *seen, HashGEMMChange *change)
{
  HashGEMMSeen now;
  int          ascending;

  PetscFunctionBegin;
  PetscCall(HashGEMMGlance(A, &now));
  if (HashGEMMSamePattern(&now, seen)) {
    *change     = now.state == seen->state ? HASHGEMM_SAME : HASHGEMM_NEW_VALUES;
    now.pattern = seen->pattern;
  } else {
    PetscCall(HashGEMMFingerprintMat(A, &now.pattern, &ascending));
    *change = !ascending ? HASHGEMM_NOT_ASCENDING : now.pattern == seen->pattern ? HASHGEMM_NEW_VALUES : HASHGEMM_NEW_PATTERN;
  }
  if (*change != HASHGEMM_NOT_ASCENDING) *seen = now;
  PetscFunctionReturn(PETSC_SUCCESS);
}
