/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The passes of conjugate gradients on a CUDA device: all numbers of the iteration live on the device, which also tests the norm. Once a test holds, all later
   passes do nothing. So the host may queue several iterations, and find out later which was the last. Real numbers only.

   An iteration is FusedDeviceDirection(), the product w = A p with p.w, and FusedDeviceStep(). With a single reduction it is FusedDeviceSingle() and the product
   s = A z with z.s. FusedDeviceClose() follows the last queued iteration. The order of a sum depends on the number of entries alone, except for
   sums that a product computes: the result depends neither on the GPU nor on the number of iterations queued together.
*/
#pragma once

#include "sys/syscuda.h"
#include "ksp/ksp/impls/fused/fusedhost.h"

SYS_C_BEGIN

#define FUSED_HISTORY 64                  /* norms that a report holds */
#define FUSED_LENGTH  (FUSED_HISTORY / 2) /* iterations between two reports, at most */

#define FUSED_DEVICE_SUMS 3 /* of a pass, at most */

/* Why passes do nothing */
typedef enum {
  FUSED_GO,
  FUSED_STOP_TEST, /* the norm passed a limit, or the number of iterations did; for the host to judge */
  FUSED_STOP_NORM, /* the norm of the iteration after the last complete one is not finite */
  FUSED_STOP_BETA, /* z.r is not finite */
  FUSED_STOP_ZERO, /* z.r is 0 */
  FUSED_STOP_PC,   /* z.r changed its sign */
  FUSED_STOP_DPI,  /* p.w is not finite */
  FUSED_STOP_MAT,  /* p.w is 0, or changed its sign; BiCGStab: v.q is 0 */
  FUSED_STOP_LAST, /* BiCGStab: t is 0; GMRES: a happy breakdown */
  FUSED_STOP_FAR,  /* GMRES: at a restart the residual differs from the recurrence's */
  FUSED_STOP_NULL, /* GMRES: the last rotation does not exist */
  FUSED_STOP_SMALL /* GMRES: the triangular matrix is singular at a restart */
} FusedStop;

typedef enum {
  FUSED_NORM_NONE,
  FUSED_NORM_Z,      /* of z */
  FUSED_NORM_R,      /* of r */
  FUSED_NORM_NATURAL /* the root of z.r */
} FusedNorm;

typedef struct {
  SysReal beta, betaold, dpi, dpiold, a, b; /* as in the iteration: z.r, p.w, the step along p, the part of the old direction */
  SysReal norm, objective;                  /* objective: less the objective of the start */
  SysReal least, most;                      /* iterations stop at a norm up to least, and from most on */
  int     its, max_it;                      /* complete iterations */
  SysReal c, omega, rr;                     /* BiCGStab: the part of v in the direction, the step along r, r.r before it; beta is r.q, dpi is v.q */
  int     stop;                             /* a FusedStop */
  int     columns, restarts;                /* GMRES: of the triangular matrix; cycles that have begun */
  int     again, used, singular;            /* GMRES: a refinement follows; vectors that make the solution; the row of a zero on the diagonal, or -1 */
  SysReal start;                            /* GMRES: the norm at the start of the cycle */
  int     pending;                          /* CG: the sums of the last step have not been added up */
  SysReal history[FUSED_HISTORY];           /* the norm of iteration k is number (k - 1) % FUSED_HISTORY */
} FusedState;

/* A record of work, as a CUDA graph, that runs many times. Between Begin() and End() the stream records work in place of running it, and replaces the earlier
   record; Begin() creates the record if it is NULL. *recorded is 0 if some work cannot be recorded. */
typedef struct _FusedRecord FusedRecord;

SysStatus FusedRecordBegin(FusedRecord **, SysStream *stream);
SysStatus FusedRecordEnd(FusedRecord *, int *recorded);
SysStatus FusedRecordReplay(const FusedRecord *, SysStream);
void      FusedRecordDestroy(FusedRecord **);

typedef struct _FusedDevice FusedDevice;

SysStatus FusedDeviceCreate(FusedDevice **);
void      FusedDeviceDestroy(FusedDevice **);

/* The pass has the vectors and M, of any kind but FUSED_OTHER. The start makes z = M r, z.r and the norm. */
SysStatus FusedDeviceStart(FusedDevice *, const FusedPass *, FusedNorm, SysStream);
SysStatus FusedDeviceDirection(FusedDevice *, const FusedPass *, FusedNorm, SysStream);
SysStatus FusedDeviceStep(FusedDevice *, const FusedPass *, FusedNorm, SysStream);
SysStatus FusedDeviceClose(FusedDevice *, FusedNorm, SysStream);

/* The product of two vectors, p and w, or z and s. Or, if a product with a matrix writes n partial sums: Room() returns space for them, and DotMade() adds them up */
SysStatus FusedDeviceDot(FusedDevice *, const FusedPass *, FusedVector, FusedVector, SysStream);
SysStatus FusedDeviceRoom(FusedDevice *, int64_t n, SysReal **sums);
SysStatus FusedDeviceDotMade(FusedDevice *, int64_t n, SysStream);

/* The pass of the form with a single reduction; z and w are two arrays. The first one follows the start, s = A z and z.s. */
SysStatus FusedDeviceSingle(FusedDevice *, const FusedPass *, FusedNorm, SysStream);

/* Sets the limits after the start */
SysStatus FusedDeviceLimits(FusedDevice *, SysReal least, SysReal most, int max_it, SysStream);

/* Goes on after FUSED_STOP_TEST. Makes z = M r again, since products that were queued behind the test may have written into its array as w. */
SysStatus FusedDeviceResume(FusedDevice *, const FusedPass *, SysStream);

/* Queues a copy of the state to slot 0 or 1 of the host; waits for such a copy. The state that is returned is valid until the slot is used again. */
SysStatus FusedDeviceSend(FusedDevice *, int slot, SysStream);
SysStatus FusedDeviceReceive(FusedDevice *, int slot, const FusedState **);

/* A record. Iterations of CG are recorded after a FusedDeviceClose(), and the record ends with one. */
SysStatus FusedDeviceRecordBegin(FusedDevice *, SysStream *stream);
SysStatus FusedDeviceRecordEnd(FusedDevice *, int *recorded);
SysStatus FusedDeviceReplay(FusedDevice *, SysStream);

/* The passes of BiCGStab, as FusedKernels describes them, of any kind but FUSED_OTHER. The start is FusedDeviceStart() of the kind FUSED_NONE. */
SysStatus FusedDeviceBiDirection(FusedDevice *, const FusedPass *, SysStream);
SysStatus FusedDeviceBiShadow(FusedDevice *, const FusedPass *, SysStream);
SysStatus FusedDeviceBiHalf(FusedDevice *, const FusedPass *, SysStream);
SysStatus FusedDeviceBiDots(FusedDevice *, const FusedPass *, SysStream);
SysStatus FusedDeviceBiStep(FusedDevice *, const FusedPass *, FusedNorm, SysStream);

/* BiCGStab goes on after FUSED_STOP_TEST. Products that were queued behind the test may have written into v: z = M p if there is a z; v = A p or v = A z by the
   caller; v = M v if there is no z, and the next direction. */
SysStatus FusedDeviceBiResumeBegin(FusedDevice *, const FusedPass *, SysStream);
SysStatus FusedDeviceBiResumeEnd(FusedDevice *, const FusedPass *, SysStream);

/* For several processes, each with a device. With more than one, a pass stores FUSED_DEVICE_SUMS numbers in *mine. The caller gathers the numbers of all processes in
   *all, in the order of the processes. The next pass of CG adds them up; a start and the passes of BiCGStab end by a function. All devices come to the same numbers. */
SysStatus FusedDeviceShare(FusedDevice *, int nproc, SysReal **mine, SysReal **all);
SysStatus FusedDeviceFinishStart(FusedDevice *, FusedNorm, SysStream);
SysStatus FusedDeviceFinishBiShadow(FusedDevice *, SysStream);
SysStatus FusedDeviceFinishBiDots(FusedDevice *, SysStream);
SysStatus FusedDeviceFinishBiStep(FusedDevice *, FusedNorm, SysStream);

/* The pass of Chebyshev, as FusedKernels describes it, of the kinds FUSED_NONE, FUSED_POINT and FUSED_BLOCKS; never overwrites w */
SysStatus FusedDeviceChebyshev(const FusedPass *, SysStream);

/* Sets the entries that are number j of their block of bs to 1, and the others to 0 */
SysStatus FusedDeviceUnit(int64_t n, int bs, int j, SysReal *v, SysStream);

SYS_C_END
