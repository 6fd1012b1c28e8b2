/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Sweeps by color on a GPU: the layout of a matrix and its values, which do not pass through the host
*/
#include <petscdevice_cuda.h>

#include "vec/ambvec/ambvec.h"
#include "mat/factor/glue/sor.h"

static PetscErrorCode SORCheck(SysStatus status)
{
  PetscFunctionBegin;
  PetscCheck(status == SYS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_GPU, "Sweeps of SOR on the GPU: %s", SysDeviceErrorText());
  PetscFunctionReturn(PETSC_SUCCESS);
}

void SORColorResetDevice(SORColor *color)
{
  SORDeviceDestroy(&color->device);
}

PetscErrorCode SORColorSetUpDevice(Mat A, SORColor *color, PetscReal omega, PetscReal shift)
{
  SORColorState   *of = &color->of[1];
  PetscObjectState state;
  MatShadowCSR     csr;
  SysCSR           host;
  SORPlan          plan = {0};
  int              singular;
  MatShadow       *s;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  if (color->device && of->current && of->state == state && of->numbers && of->omega == omega && of->shift == shift) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatAIJGetPattern(A, &host));
  PetscCall(MatShadowGet(A, &s));
  PetscCall(MatShadowDeviceGetRows(A, s, &csr));
  csr.A.m  = host.m;
  csr.A.n  = host.n;
  csr.A.nz = host.nz;
  if (!color->device) {
    PetscCall(SORColorPlan(A, color, &plan));
    if (!color->reason && plan.colors) {
      const SysStatus status = SORDeviceCreate(&plan, &csr.A, &color->device, PetscDefaultCudaStream);

      if (status == SYS_OUT_OF_MEMORY) color->reason = "memory on the GPU is short";
      else PetscCall(SORCheck(status));
    }
    SORPlanDestroy(&plan);
    of->current = PETSC_FALSE;
  }
  if (!color->device) PetscFunctionReturn(PETSC_SUCCESS);
  if (!of->current || of->state != state) {
    PetscCall(SORCheck(SORDeviceUpdate(color->device, &csr.A, PetscDefaultCudaStream)));
    of->numbers = PETSC_FALSE;
  }
  if (!of->numbers || of->omega != omega || of->shift != shift) {
    PetscCall(SORCheck(SORDeviceSetDiagonal(color->device, &csr.A, omega, shift, &singular, PetscDefaultCudaStream)));
    of->singular = (PetscBool)singular;
  }
  of->current = of->numbers = PETSC_TRUE;
  of->state                 = state;
  of->omega                 = omega;
  of->shift                 = shift;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets *done if the GPU sweeps */
PetscErrorCode SORColorSweepDevice(Mat A, SORColor *color, const MatSORAMBCall *call, Vec b, Vec x, PetscBool *done)
{
  const SORResult    result = {1, 0, 0, NULL, NULL};
  const PetscScalar *from;
  PetscScalar       *to;
  PetscBool          on[2];
  SysStatus          status;

  PetscFunctionBegin;
  PetscCall(VecAMBOnDevice(b, &on[0]));
  PetscCall(VecAMBOnDevice(x, &on[1]));
  if (!on[0] || !on[1] || !A->rmap->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SORColorSetUpDevice(A, color, call->sweep.omega, call->shift));
  if (!color->device || color->of[1].singular) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecCUDAGetArrayRead(b, &from));
  if (call->sweep.zero) PetscCall(VecCUDAGetArrayWrite(x, &to));
  else PetscCall(VecCUDAGetArray(x, &to));
  PetscCall(PetscLogGpuTimeBegin());
  status = SORDeviceSweep(color->device, &call->sweep, &result, from, to, PetscDefaultCudaStream);
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(SORCheck(status));
  if (call->sweep.zero) PetscCall(VecCUDARestoreArrayWrite(x, &to));
  else PetscCall(VecCUDARestoreArray(x, &to));
  PetscCall(VecCUDARestoreArrayRead(b, &from));
  PetscCall(PetscLogGpuFlops((call->sweep.forward + call->sweep.backward) * call->sweep.its * (PetscLogDouble)SORDeviceEntries(color->device)));
  *done = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
