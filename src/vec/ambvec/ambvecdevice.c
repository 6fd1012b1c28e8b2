/* SPDX-License-Identifier: BSD-2-Clause */
/*
   PETSc's vectors on a GPU make a dot product by cuBLAS: two kernels, a copy and a wait for the stream. Here it is one kernel that writes to the host. Vectors are
   found in products: a solver makes its sums of these. VecDuplicate() hands the operations on, VecBindToCPU() and VecSetType() remove them.

   PETSc computes everything else: other norms, vectors of another type or side, numbers out of range, a device context that is not CUDA's.
*/
#include <petscdevice_cuda.h>

#include "vec/ambvec/ambvec.h"
#include "vec/ambvec/ambveccuda.h"

/* The squares between these limits lose no digits that count */
#if defined(PETSC_USE_REAL_SINGLE)
  #define SQUARES_LEAST 1e-60
  #define SQUARES_MOST  1e70
#else
  #define SQUARES_LEAST 1e-280
  #define SQUARES_MOST  1e300
#endif

static struct _VecOps petsc[2]; /* of seqcuda and mpicuda, set with the first vector, since vectors start the device */
static PetscBool      known = PETSC_FALSE;

/* The stream in which PETSc's own operation would run; *supported is PETSC_FALSE if it is none of CUDA's */
static PetscErrorCode VecAMBStream(cudaStream_t *stream, PetscBool *supported)
{
#if PETSC_VERSION_LT(3, 20, 0)
  PetscFunctionBegin;
  *stream    = PetscDefaultCudaStream;
  *supported = PETSC_TRUE;
#else
  PetscDeviceContext dctx;
  PetscDeviceType    type;
  cudaStream_t      *handle;

  PetscFunctionBegin;
  PetscCall(PetscDeviceContextGetCurrentContext(&dctx));
  PetscCall(PetscDeviceContextGetDeviceType(dctx, &type));
  *supported = (PetscBool)(type == PETSC_DEVICE_CUDA);
  if (*supported) {
    PetscCall(PetscDeviceContextGetStreamHandle(dctx, (void **)&handle));
    *stream = *handle;
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecAMBOnDevice(Vec v, PetscBool *is)
{
  PetscFunctionBegin;
  *is = PETSC_FALSE;
  if (!v->boundtocpu) PetscCall(PetscObjectTypeCompareAny((PetscObject)v, is, VECSEQCUDA, VECMPICUDA, ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sum of the products of the entries that this process has */
static PetscErrorCode VecAMBSum(Vec x, Vec y, double *sum, PetscBool *made)
{
  const PetscScalar *a, *b;
  cudaStream_t       stream = NULL;
  SysStatus          status;

  PetscFunctionBegin;
  *made = PETSC_FALSE;
  if (!x->map->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecAMBOnDevice(x, made));
  if (*made && y != x) PetscCall(VecAMBOnDevice(y, made));
  if (*made) PetscCall(VecAMBStream(&stream, made));
  if (!*made) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecCUDAGetArrayRead(x, &a));
  b = a;
  if (y != x) PetscCall(VecCUDAGetArrayRead(y, &b));
  PetscCall(PetscLogGpuTimeBegin());
  status = VecCUDADot(x->map->n, a, b, sum, stream);
  PetscCall(PetscLogGpuTimeEnd());
  PetscCheck(status == SYS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_GPU, "A sum on the GPU: %s", SysDeviceErrorText());
  if (y != x) PetscCall(VecCUDARestoreArrayRead(y, &b));
  PetscCall(VecCUDARestoreArrayRead(x, &a));
  PetscCall(PetscLogGpuFlops(2.0 * x->map->n - 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define SUM_VECTORS 64 /* whose arrays are held at a time */

/* The products of x with several vectors */
static PetscErrorCode VecAMBSums(Vec x, PetscInt nv, const Vec y[], PetscScalar z[], PetscBool *made)
{
  const PetscScalar *a, *b[SUM_VECTORS];
  double             sum[SUM_VECTORS];
  cudaStream_t       stream = NULL;
  SysStatus          status = SYS_SUCCESS;

  PetscFunctionBegin;
  *made = PETSC_FALSE;
  if (!x->map->n || nv < 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecAMBOnDevice(x, made));
  for (PetscInt k = 0; k < nv && *made; k++) PetscCall(VecAMBOnDevice(y[k], made));
  if (*made) PetscCall(VecAMBStream(&stream, made));
  if (!*made) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecCUDAGetArrayRead(x, &a));
  for (PetscInt first = 0; first < nv; first += SUM_VECTORS) {
    const int m = (int)PetscMin(nv - first, SUM_VECTORS);

    for (int k = 0; k < m; k++) PetscCall(VecCUDAGetArrayRead(y[first + k], &b[k]));
    PetscCall(PetscLogGpuTimeBegin());
    status = VecCUDADots(x->map->n, a, m, b, sum, stream);
    PetscCall(PetscLogGpuTimeEnd());
    PetscCheck(status == SYS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_GPU, "Sums on the GPU: %s", SysDeviceErrorText());
    for (int k = 0; k < m; k++) {
      PetscCall(VecCUDARestoreArrayRead(y[first + k], &b[k]));
      z[first + k] = (PetscScalar)sum[k];
    }
  }
  PetscCall(VecCUDARestoreArrayRead(x, &a));
  PetscCall(PetscLogGpuFlops((2.0 * x->map->n - 1) * nv));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- the operations ------------------------------------------------- */

/* VecDot() and VecTDot() are the same for real numbers */
static PetscErrorCode VecDotLocal_AMB(Vec x, Vec y, PetscScalar *z)
{
  PetscBool made;
  double    sum;

  PetscFunctionBegin;
  PetscCall(VecAMBSum(x, y, &sum, &made));
  if (made) *z = (PetscScalar)sum;
  else PetscCall((*petsc[0].dot)(x, y, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecNormLocal_AMB(Vec x, NormType type, PetscReal *z)
{
  PetscBool made = PETSC_FALSE;
  double    sum;

  PetscFunctionBegin;
  if (type == NORM_2 || type == NORM_FROBENIUS) PetscCall(VecAMBSum(x, x, &sum, &made));
  if (made && sum > SQUARES_LEAST && sum < SQUARES_MOST) *z = (PetscReal)sqrt(sum);
  else PetscCall((*petsc[0].norm)(x, type, z)); /* cuBLAS scales */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecMDotLocal_AMB(Vec x, PetscInt nv, const Vec y[], PetscScalar z[])
{
  PetscBool made;

  PetscFunctionBegin;
  PetscCall(VecAMBSums(x, nv, y, z, &made));
  if (!made) PetscCall((*petsc[0].mdot)(x, nv, y, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecDotMPI_AMB(Vec x, Vec y, PetscScalar *z)
{
  PetscFunctionBegin;
  PetscCall(VecDotLocal_AMB(x, y, z));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, z, 1, MPIU_SCALAR, MPIU_SUM, PetscObjectComm((PetscObject)x)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecMDotMPI_AMB(Vec x, PetscInt nv, const Vec y[], PetscScalar z[])
{
  PetscFunctionBegin;
  PetscCall(VecMDotLocal_AMB(x, nv, y, z));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, z, (PetscMPIInt)nv, MPIU_SCALAR, MPIU_SUM, PetscObjectComm((PetscObject)x)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecNormMPI_AMB(Vec x, NormType type, PetscReal *z)
{
  PetscFunctionBegin;
  if (type == NORM_2 || type == NORM_FROBENIUS) {
    PetscCall(VecNormLocal_AMB(x, type, z));
    *z *= *z;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, z, 1, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)x)));
    *z = PetscSqrtReal(*z);
  } else PetscCall((*petsc[1].norm)(x, type, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc makes two kernels of it: a product and a sum. The bits are the same. */
static PetscErrorCode VecAYPX_AMB(Vec y, PetscScalar alpha, Vec x)
{
  const PetscScalar *a;
  PetscScalar       *b;
  cudaStream_t       stream = NULL;
  SysStatus          status;
  PetscBool          supported = PETSC_FALSE;

  PetscFunctionBegin;
  if (y->map->n && x != y && alpha != (PetscScalar)0.0 && alpha != (PetscScalar)1.0) PetscCall(VecAMBOnDevice(y, &supported));
  if (supported) PetscCall(VecAMBOnDevice(x, &supported));
  if (supported) PetscCall(VecAMBStream(&stream, &supported));
  if (!supported) {
    PetscCall((*petsc[0].aypx)(y, alpha, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecCUDAGetArray(y, &b));
  PetscCall(VecCUDAGetArrayRead(x, &a));
  PetscCall(PetscLogGpuTimeBegin());
  status = VecCUDAAYPX(y->map->n, alpha, a, b, stream);
  PetscCall(PetscLogGpuTimeEnd());
  PetscCheck(status == SYS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_GPU, "VecAYPX() on the GPU: %s", SysDeviceErrorText());
  PetscCall(VecCUDARestoreArrayRead(x, &a));
  PetscCall(VecCUDARestoreArray(y, &b));
  PetscCall(PetscLogGpuFlops(2.0 * y->map->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- taking vectors ------------------------------------------------- */

#define VecAMBLocal .dot_local = VecDotLocal_AMB, .tdot_local = VecDotLocal_AMB, .norm_local = VecNormLocal_AMB, .mdot_local = VecMDotLocal_AMB, .aypx = VecAYPX_AMB
static const struct _VecOps ours[2] = {
  {.dot = VecDotLocal_AMB, .tdot = VecDotLocal_AMB, .norm = VecNormLocal_AMB, .mdot = VecMDotLocal_AMB, VecAMBLocal},
  {.dot = VecDotMPI_AMB,   .tdot = VecDotMPI_AMB,   .norm = VecNormMPI_AMB,   .mdot = VecMDotMPI_AMB,   VecAMBLocal}
};

/* An operation that is not the one expected stays */
static void VecAMBReplace(struct _VecOps *ops, const struct _VecOps *from, const struct _VecOps *to)
{
  if (ops->dot == from->dot) ops->dot = to->dot;
  if (ops->tdot == from->tdot) ops->tdot = to->tdot;
  if (ops->norm == from->norm) ops->norm = to->norm;
  if (ops->mdot == from->mdot) ops->mdot = to->mdot;
  if (ops->mdot_local == from->mdot_local) ops->mdot_local = to->mdot_local;
  if (ops->dot_local == from->dot_local) ops->dot_local = to->dot_local;
  if (ops->tdot_local == from->tdot_local) ops->tdot_local = to->tdot_local;
  if (ops->norm_local == from->norm_local) ops->norm_local = to->norm_local;
  if (ops->aypx == from->aypx) ops->aypx = to->aypx;
}

PetscErrorCode VecAMBSetOperations(Vec v)
{
  PetscBool cuda, mpi;

  PetscFunctionBegin;
  if (!VecAMBWanted || v->ops->tdot == VecDotLocal_AMB || v->ops->tdot == VecDotMPI_AMB) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecAMBOnDevice(v, &cuda));
  if (!cuda) PetscFunctionReturn(PETSC_SUCCESS);
  if (!known) {
    PetscCall(VecAMBGetOperations(VECSEQCUDA, &petsc[0]));
    PetscCall(VecAMBGetOperations(VECMPICUDA, &petsc[1]));
  }
  known = PETSC_TRUE;
  PetscCall(PetscObjectTypeCompare((PetscObject)v, VECMPICUDA, &mpi));
  VecAMBReplace(v->ops, &petsc[mpi], &ours[mpi]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecAMBRestoreOperations(PetscBool mpi, struct _VecOps *ops)
{
  PetscFunctionBegin;
  if (known) VecAMBReplace(ops, &ours[mpi], &petsc[mpi]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecAMBEnd(void)
{
  PetscFunctionBegin;
  VecCUDAEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}
