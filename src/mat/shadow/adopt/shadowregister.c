/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Registration of formats
*/
#include "mat/shadow/core/shadow.h"

PetscErrorCode MatShadowRegister(const MatShadowFormat *f)
{
  PetscFunctionBegin;
  PetscCheck(MatShadowFormatAdd(f), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Too many shadow formats: raise MAT_SHADOW_MAX");
  PetscCall(MatRegister(f->seqtype, f->create_seq));
  PetscCall(MatRegister(f->mpitype, f->create_mpi));
  PetscCall(MatRegisterRootName(f->name, f->seqtype, f->mpitype));
  PetscCall(MatSeqAIJRegister(f->seqtype, MatShadowConvertType));
  PetscCall(MatSeqAIJRegister(f->name, MatShadowConvertType));
  if (MatShadowHasDevice(f)) PetscCall(MatShadowDeviceVecOptions(f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatAIJSetUp() precedes the first format: until then the constructors of AIJ are PETSc's */
PetscErrorCode MatShadowRegisterAll(int n, const MatShadowFormat *const list[])
{
  PetscFunctionBegin;
  PetscCall(MatAIJSetUp());
  PetscCall(PetscLogEventRegister("MatShadowConvert", MAT_CLASSID, &MAT_ShadowConvert));
  PetscCall(PetscLogEventRegister("MatShadowUpdate", MAT_CLASSID, &MAT_ShadowUpdate));
  for (int k = 0; k < n; k++) PetscCall(MatShadowRegister(list[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatShadowRegisterFinalize(void)
{
  PetscFunctionBegin;
  MatShadowFormatsReset();
  MatShadowForAIJ = NULL;
  PetscCall(MatShadowTuneFinalize());
  PetscCall(MatShadowDeviceEnd());
  if (MatShadowExchangeOfVectors) PetscCall((*MatShadowExchangeOfVectors->finalize)());
  PetscFunctionReturn(PETSC_SUCCESS);
}
