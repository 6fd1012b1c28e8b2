/* SPDX-License-Identifier: BSD-2-Clause */
/*
   GMRES on a CUDA device: the basis, the small least-squares problem and the tests live there, so that the host may queue iterations ahead of their results, as in
   fusedcuda.h. Real numbers only.

   An iteration is the product w = A p, dots, and an update; its kernels find the number of the vector in the state, so that all iterations of a cycle replay one record.
   p and w are two arrays of the caller. With a refinement, dots and update follow once more; they do nothing if the first norm needs no refinement.

       dots     h = V'(M w)        a read of the basis
       update   v = M w - V h      a read of the basis; the norm of v, its rotation and the test; p = v, or p = M v with the preconditioner from the right

   A vector of the basis is stored as the update computes it, with a scale. The sums of thread blocks are added by the last thread block that arrives.
   With several processes it stores the sums for the other processes, and a kernel of one thread block ends the pass.
*/
#pragma once

#include "ksp/ksp/impls/fused/fusedcuda.h"
#include "ksp/ksp/impls/fused/fusedhessenberg.h"

SYS_C_BEGIN

#define FUSED_BASIS_MOST 256 /* vectors before a restart, at most */

typedef struct {
  int     restart, flexible; /* flexible: ends as fgmres does */
  int     stored;            /* the preconditioned basis is stored, by FusedBasisDeviceStore() */
  int     modified, refine;  /* modified Gram-Schmidt; classical with a refinement never (0), if needed (1), always (2) */
  int     given;             /* the caller computes p, from the vector of FusedBasisDeviceGetNewest() */
  SysReal haptol, breakdowntol;
} FusedBasisMethod;

/* The vectors of passes, and M from the left or from the right (NULL: none) */
typedef struct {
  int64_t        n;
  SysReal       *p, *w;
  const SysReal *left, *right;
} FusedBasisPass;

typedef struct _FusedBasisDevice FusedBasisDevice;

/* Creates a basis for vectors of n entries, which shares the state and the reports of a FusedDevice */
SysStatus FusedBasisDeviceCreate(FusedBasisDevice **, FusedDevice *, int64_t n, int restart, int nproc);
void      FusedBasisDeviceDestroy(FusedBasisDevice **);
void      FusedBasisDeviceSet(FusedBasisDevice *, const FusedBasisMethod *);

/* Allocates m vectors of the basis, and the preconditioned ones if stored; existing vectors do not move */
SysStatus FusedBasisDeviceRoom(FusedBasisDevice *, int m, SysStream);

/* Returns the number of sums of dots; sums after the newest vector mean nothing; the other passes have one. *mine: this process's sums; *all: space for the sums of all
   processes, in groups of at most FUSED_BASIS_GROUP numbers: the first process's, then the next one's */
#define FUSED_BASIS_GROUP 64
int FusedBasisDeviceSums(const FusedBasisDevice *, SysReal **mine, SysReal **all);

/* Begins a cycle from the residual w: first, the first one, or another one, which begins only if the basis is full and no test holds */
SysStatus FusedBasisDeviceStart(FusedBasisDevice *, const FusedBasisPass *, int first, SysStream);
SysStatus FusedBasisDeviceFinishStart(FusedBasisDevice *, int first, SysStream);

/* The passes of an iteration, or of a refinement if again */
SysStatus FusedBasisDeviceDots(FusedBasisDevice *, const FusedBasisPass *, int again, SysStream);
SysStatus FusedBasisDeviceFinishDots(FusedBasisDevice *, int again, SysStream);
SysStatus FusedBasisDeviceUpdate(FusedBasisDevice *, const FusedBasisPass *, int again, SysStream);
SysStatus FusedBasisDeviceFinishUpdate(FusedBasisDevice *, int again, SysStream);

/* u = the newest vector of the basis, of norm 1; stores p as the preconditioned one */
SysStatus FusedBasisDeviceGetNewest(FusedBasisDevice *, int64_t n, SysReal *u, SysStream);
SysStatus FusedBasisDeviceStore(FusedBasisDevice *, int64_t n, const SysReal *p, SysStream);

/* Solves the triangular system: at a restart only if the basis is full and no test holds. Then to = from + M V y, or to = V y if from is NULL; FusedBasisDeviceAdd() adds
   v to x. Both do nothing, or give 0, if the system was not solved. */
SysStatus FusedBasisDeviceSolve(FusedBasisDevice *, int restart, SysStream);
SysStatus FusedBasisDeviceCombine(FusedBasisDevice *, int64_t n, const SysReal *from, const SysReal *right, SysReal *to, SysStream);
SysStatus FusedBasisDeviceAdd(FusedBasisDevice *, int64_t n, const SysReal *v, SysReal *x, SysStream);

/* Goes on after FUSED_STOP_TEST */
SysStatus FusedBasisDeviceResume(FusedBasisDevice *, SysStream);

SYS_C_END
