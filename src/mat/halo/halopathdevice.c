/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The choice of the fastest path that a halo can take from one process to another
*/
#include "mat/halo/halo.h"

#define MAT_HALO_PATIENCE 200   /* products of a halo before paths are compared */
#define MAT_HALO_ROUNDS   5     /* timed rounds, of which the median counts */
#define MAT_HALO_REPEAT   4     /* exchanges in a round */
#define MAT_HALO_START    0.5   /* seconds that NCCL takes to start */
#define MAT_HALO_NCCL     16e-6 /* seconds of an exchange of few bytes by NCCL */
#define MAT_HALO_RATE     100e9 /* bytes a second by NCCL, for many bytes */
#define MAT_HALO_WAIT     25e-6 /* seconds lost on the other paths while the host waits and queues no kernels */

/* Gets the reason why a path is not possible, the same on all processes; NULL if the path is possible */
static PetscErrorCode MatHaloWhyNot(MatHalo *h, MatShadowHalo path, const char **why)
{
  PetscFunctionBegin;
  *why = NULL;
  if (path == MAT_SHADOW_HALO_MPI && !use_gpu_aware_mpi) *why = "the MPI is not CUDA-aware, or -use_gpu_aware_mpi 0 was given";
  if (path == MAT_SHADOW_HALO_NCCL) {
    PetscCall(MatHaloStartNCCL(h->comm, h->about));
    *why = h->about->without;
  }
  if (path == MAT_SHADOW_HALO_PEER) {
    PetscBool ok = PETSC_FALSE;

    PetscCall(MatHaloStartPeers(h->about));
    if (!h->about->peers.nproc) *why = "the GPUs of these processes do not reach each other's memory";
    else {
      PetscCall(MatHaloRouteSetUp(h, &ok));
      if (!ok) *why = "memory on a GPU is short";
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the seconds that an exchange takes, the longest of all processes */
static PetscErrorCode MatHaloTime(MatHalo *h, PetscBool back, const PetscScalar *x, PetscReal *seconds)
{
  PetscReal      t[MAT_HALO_ROUNDS + 1];
  PetscLogDouble t0, t1;

  PetscFunctionBegin;
  for (int round = 0; round <= MAT_HALO_ROUNDS; round++) { /* the first is not counted */
    PetscCallCUDA(cudaStreamSynchronize(PetscDefaultCudaStream));
    PetscCallMPI(MPI_Barrier(h->comm));
    PetscCall(PetscTime(&t0));
    for (int k = 0; k < MAT_HALO_REPEAT; k++) {
      PetscCall(MatHaloExchangeBegin(h, back, x, PetscDefaultCudaStream));
      PetscCall(MatHaloExchangeWait(h, back));
      PetscCall(MatHaloExchangeEnd(h, PetscDefaultCudaStream));
    }
    PetscCallCUDA(cudaStreamSynchronize(PetscDefaultCudaStream));
    PetscCall(PetscTime(&t1));
    t[round] = (PetscReal)((t1 - t0) / MAT_HALO_REPEAT);
  }
  PetscCall(PetscSortReal(MAT_HALO_ROUNDS, t + 1));
  *seconds = t[1 + MAT_HALO_ROUNDS / 2];
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, seconds, 1, MPIU_REAL, MPI_MAX, h->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Times a path for halos of this size, once. All processes have the same times, which are used for both directions. */
static PetscErrorCode MatHaloMeasure(Mat A, MatHalo *h, MatShadowHalo path, PetscBool back, const PetscScalar *x)
{
  PetscReal           *seconds = &h->about->seconds[h->size][path];
  const PetscLogDouble syncs   = h->syncs;
  const char          *why;

  PetscFunctionBegin;
  if (*seconds > 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatHaloWhyNot(h, path, &why));
  if (why) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatHaloUse(h, path));
  PetscCall(MatHaloTime(h, back, x, seconds));
  h->syncs = syncs;
  PetscCall(PetscInfo(A, "Halo by %s: %g s for an exchange of less than 2^%d bytes a process\n", MatShadowHalos[path], (double)*seconds, h->size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Chooses peer memory, without a measurement, if each process has its own GPU and the GPUs reach each other's memory, or else NCCL if it has started: the host does not wait.
   Otherwise chooses the fastest of the paths that cost nothing to start. NCCL starts once the time that it would have saved in all halos among these processes exceeds
   the time of its start. All processes decide the same. */
static PetscErrorCode MatHaloChooseBest(Mat A, MatHalo *h, PetscBool back, const PetscScalar *x, MatShadowHalo *best)
{
  MatHaloComm     *c       = h->about;
  const PetscReal *seconds = c->seconds[h->size];
  const char      *why;
  PetscBool        own;

  PetscFunctionBegin;
  PetscCall(MatHaloCommOwn(c, &own));
  if (own) {
    PetscCall(MatHaloWhyNot(h, MAT_SHADOW_HALO_PEER, &why));
    *best     = MAT_SHADOW_HALO_PEER;
    h->chosen = (PetscBool)!why;
    if (h->chosen) PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (c->nccl) {
    *best     = MAT_SHADOW_HALO_NCCL;
    h->chosen = PETSC_TRUE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  *best = use_gpu_aware_mpi ? MAT_SHADOW_HALO_MPI : MAT_SHADOW_HALO_STAGED;
  if (!(seconds[*best] > 0) && h->products < MAT_HALO_PATIENCE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatHaloMeasure(A, h, MAT_SHADOW_HALO_MPI, back, x));
  PetscCall(MatHaloMeasure(A, h, MAT_SHADOW_HALO_STAGED, back, x));
  if (seconds[MAT_SHADOW_HALO_MPI] > 0 && seconds[MAT_SHADOW_HALO_STAGED] > 0) *best = seconds[MAT_SHADOW_HALO_MPI] < seconds[MAT_SHADOW_HALO_STAGED] ? MAT_SHADOW_HALO_MPI : MAT_SHADOW_HALO_STAGED;
  if (!c->looked) {
    c->gain += PetscMax(0, seconds[*best] + MAT_HALO_WAIT - MAT_HALO_NCCL - PetscPowRealInt(2, h->size) / MAT_HALO_RATE);
    if (c->gain < MAT_HALO_START) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(MatHaloStartNCCL(h->comm, c));
    PetscCall(PetscInfo(A, "Halos would have taken %g s less by NCCL: %s\n", (double)c->gain, c->without ? c->without : "it is started"));
    if (c->nccl) *best = MAT_SHADOW_HALO_NCCL;
  }
  h->chosen = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes the path that the user asked for, or the best one */
PetscErrorCode MatHaloChoose(Mat A, MatHalo *h, MatShadowHalo wanted, PetscBool back, const PetscScalar *x)
{
  const MatShadowHalo before = h->path;
  const char         *why;
  PetscBool           own;

  PetscFunctionBegin;
  if (wanted == MAT_SHADOW_HALO_AUTO && h->size) PetscCall(MatHaloChooseBest(A, h, back, x, &wanted));
  else {
    h->chosen = PETSC_TRUE;
    if (!h->size) wanted = MAT_SHADOW_HALO_STAGED;  /* the processes exchange nothing */
    else PetscCall(MatHaloCommOwn(h->about, &own)); /* collective; MatHaloShareSetUp() reads it */
    PetscCall(MatHaloWhyNot(h, wanted, &why));
    PetscCheck(!why, h->comm, PETSC_ERR_SUP, "The halo cannot go by %s: %s; use -mat_shadow_halo auto", MatShadowHalos[wanted], why);
  }
  PetscCall(MatHaloUse(h, wanted));
  if (before != wanted) PetscCall(PetscInfo(A, "Halo by %s: %" PetscInt_FMT " entries come from %d processes, %d go to %d\n", MatShadowHalos[wanted], h->n, h->from.n, h->to.offset[h->to.n], h->to.n));
  PetscFunctionReturn(PETSC_SUCCESS);
}
