/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The yardstick: the simplest loop over compressed rows, as the compiler optimises it, with threads over rows.
*/
#include "bench.h"

static PetscErrorCode PeerCreate_CSR(Contender c, Case *k)
{
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)k->A), &size));
  if (size > 1) PetscCall(PetscSNPrintf(c->absent, sizeof(c->absent), "a loop over the rows of one process: run it on one rank, with threads"));
  c->data  = &k->rows;
  c->bytes = k->shape.bytes_csr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void RowsMult(const Rows *rows, const PetscScalar *x, const PetscScalar *z, PetscScalar *y)
{
  const PetscInt *restrict i = rows->i, *restrict j = rows->j;
  const PetscScalar *restrict a = rows->a;

#pragma omp parallel for schedule(static)
  for (PetscInt r = 0; r < rows->m; r++) {
    PetscScalar sum = z ? z[r] : 0.0;

    for (PetscInt k = i[r]; k < i[r + 1]; k++) sum += a[k] * x[j[k]];
    y[r] = sum;
  }
}

static PetscErrorCode PeerMultAdd_CSR(Contender c, Vec x, Vec z, Vec y)
{
  const PetscScalar *xa, *za = NULL;
  PetscScalar       *ya;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(x, &xa));
  if (z) PetscCall(VecGetArrayRead(z, &za));
  PetscCall(VecGetArrayWrite(y, &ya));
  RowsMult((const Rows *)c->data, xa, za, ya);
  PetscCall(VecRestoreArrayWrite(y, &ya));
  if (z) PetscCall(VecRestoreArrayRead(z, &za));
  PetscCall(VecRestoreArrayRead(x, &xa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PeerMult_CSR(Contender c, Vec x, Vec y)
{
  return PeerMultAdd_CSR(c, x, NULL, y);
}

/* Uses one thread, because several rows add to the same result */
static PetscErrorCode PeerMultTranspose_CSR(Contender c, Vec x, Vec y)
{
  const Rows        *rows = (const Rows *)c->data;
  const PetscScalar *xa;
  PetscScalar       *ya;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(x, &xa));
  PetscCall(VecGetArrayWrite(y, &ya));
  PetscCall(PetscArrayzero(ya, rows->N));
  for (PetscInt r = 0; r < rows->m; r++) {
    for (PetscInt k = rows->i[r]; k < rows->i[r + 1]; k++) ya[rows->j[k]] += rows->a[k] * xa[r];
  }
  PetscCall(VecRestoreArrayWrite(y, &ya));
  PetscCall(VecRestoreArrayRead(x, &xa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Both factors are read where PETSc stores them, by columns */
static PetscErrorCode PeerSample_CSR(Contender c, Case *k, PetscLogDouble *seconds)
{
  const Rows        *rows = (const Rows *)c->data;
  PetscBool          made;
  const PetscScalar *d1, *d2;
  PetscScalar       *a;
  PetscInt           ld1, ld2;
  PetscLogDouble     t0, t1;

  PetscFunctionBegin;
  PetscCall(ContenderFactors(c, k, k->xt, k->x, &made));
  if (made) PetscCall(MatDuplicate(k->A, MAT_COPY_VALUES, &c->sampled));
  PetscCall(MatDenseGetLDA(c->factor[0], &ld1));
  PetscCall(MatDenseGetLDA(c->factor[1], &ld2));
  PetscCall(MatDenseGetArrayRead(c->factor[0], &d1));
  PetscCall(MatDenseGetArrayRead(c->factor[1], &d2));
  PetscCall(MatSeqAIJGetArray(c->sampled, &a));
  PetscCall(MachineTime(&t0));
#pragma omp parallel for schedule(static)
  for (PetscInt r = 0; r < rows->m; r++) {
    for (PetscInt l = rows->i[r]; l < rows->i[r + 1]; l++) {
      PetscScalar sum = 0.0;

      for (PetscInt q = 0; q < k->columns; q++) sum += d1[r + q * ld1] * d2[rows->j[l] + q * ld2];
      a[l] = sum;
    }
  }
  PetscCall(MachineTime(&t1));
  PetscCall(MatSeqAIJRestoreArray(c->sampled, &a));
  PetscCall(MatDenseRestoreArrayRead(c->factor[0], &d1));
  PetscCall(MatDenseRestoreArrayRead(c->factor[1], &d2));
  *seconds = t1 - t0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PeerDestroy_CSR(Contender c)
{
  return PETSC_SUCCESS;
}

const Peer PeerCSR = {.name = "csr", .create = PeerCreate_CSR, .mult = PeerMult_CSR, .multtranspose = PeerMultTranspose_CSR, .multadd = PeerMultAdd_CSR, .destroy = PeerDestroy_CSR, .sample = PeerSample_CSR};
