/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The kernels of agghost.h on a CUDA device. The aggregates are the same as those of the host, vertex by vertex.

   Arrays in brackets are on the host, pointers to arrays are on the device. With several processes, a process whose memory is too short returns
   SYS_OUT_OF_MEMORY, and the caller asks all of them before the next step.
*/
#pragma once

#include "sys/syscuda.h"
#include "ksp/pc/impls/gamg/host/agghost.h"

SYS_C_BEGIN

#define AGG_DEVICE_BLOCK 16 /* the largest block size */

typedef struct _AggDevice AggDevice;

/* ------------------------------------------------- graph ------------------------------------------------- */

/* The graph of A on one process, whose arrays d are on the device; there is no o. *served becomes 0, and *g NULL, if the graph has to be made on the host:
   edges without the transposed edge are to be added, or blocks are too large. */
SYS_DEVICE SysStatus AggDeviceCreate(const AggMatrix *A, int symmetrize, double threshold, SysStream stream, AggDevice **g, int *served) SYS_STUB(SYS_SUCCESS);

/* The same in steps, for several processes: the graph with strengths. The arrays o are on the device too; ghost is on the host. */
SYS_DEVICE SysStatus AggDeviceStart(const AggMatrix *A, SysStream stream, AggDevice **g, int *served) SYS_STUB(SYS_SUCCESS);

/* Sorts the transposed edges between vertices and ghosts by the owners of the ghosts, which have the global numbers ghosts[]; global numbers of vertices begin at `first`. Owner k of nowner
   has the ghosts from begin[k] on, and begin[k] becomes its first edge, begin[nowner] the number of edges. Waits for the device. The second function copies the edges to the host,
   rows that are ghosts and columns that are vertices, in global numbers. */
SYS_DEVICE SysStatus AggDeviceSortCut(AggDevice *g, SysInt first, const SysInt ghosts[], int nowner, SysInt begin[], SysStream stream) SYS_STUB(SYS_SUCCESS);
SYS_DEVICE SysStatus AggDeviceGetCut(const AggDevice *g, SysInt n, AggEdge edges[], SysStream stream) SYS_STUB(SYS_SUCCESS);

/* Adds the transposed edges: within this process all of them, and those between processes, which are come[], as other processes got them from AggDeviceGetCut() */
SYS_DEVICE SysStatus AggDeviceSymmetrize(AggDevice *g, SysInt first, SysInt ncome, const AggEdge come[], SysStream stream, int *served) SYS_STUB(SYS_SUCCESS);

/* The strengths of diagonal blocks, in which the caller fills those of ghosts in before the last step */
SYS_DEVICE double   *AggDeviceDiagonal(AggDevice *g) SYS_STUB(NULL);
SYS_DEVICE SysStatus AggDeviceFinish(AggDevice *g, double threshold, SysStream stream) SYS_STUB(SYS_SUCCESS);

/* ------------------------------------------------- aggregates ------------------------------------------------- */

/* The aggregates of AggAggregate(); *nagg becomes their number. The exchanges of x get arrays on the device, and queue their work in the stream; on one process
   x is NULL, and there are no ghosts. Waits for the device. Returns SYS_OUT_OF_MEMORY on all processes or on none. */
SYS_DEVICE SysStatus AggDeviceAggregate(AggDevice *g, int64_t first, const SysInt ghosts[], const AggOptions *options, const AggExchange *x, SysStream stream, SysInt *nagg, int *rounds) SYS_STUB(SYS_SUCCESS);
SYS_DEVICE void      AggDeviceForgetGraph(AggDevice *g) SYS_STUB(); /* frees its memory, if no other aggregates will be made */

/* Brings to the host: vertex or ghost v is in aggregate number[v] of all processes, or in none if that is -1; join[] is as from AggAggregate() */
SYS_DEVICE SysStatus AggDeviceGetAggregates(const AggDevice *g, SysStream stream, SysInt number[], SysInt join[]) SYS_STUB(SYS_SUCCESS);

/* ------------------------------------------------- tentative prolongator ------------------------------------------------- */

/* Vertices of other processes in aggregates of this one, in ascending order of their global numbers: their aggregates, counted on this process, and
   the rows of their vectors, which become rows of the prolongator. Before the vertices of this process come so many of them. */
typedef struct {
  SysInt   n, before, *aggregate;
  SysReal *block;
} AggGuests;

/* The tentative prolongator, as from AggFactor(), in g; data[] has nvec vectors one after the other; NULL stands for ones. r[] is that of AggFactor(). On one
   process guests is NULL. */
SYS_DEVICE SysStatus AggDeviceFactor(AggDevice *g, int bs, int nvec, const SysReal data[], AggGuests *guests, SysStream stream, SysReal r[]) SYS_STUB(SYS_SUCCESS);

/* Vertices of this process in aggregates of other ones, ascending, and these aggregates; the caller frees *vertex. ghosts[] become the aggregates of all ghosts. */
SYS_DEVICE SysStatus AggDeviceGetLeaving(const AggDevice *g, SysStream stream, SysInt *n, SysInt **vertex, SysInt **number, SysInt ghosts[]) SYS_STUB(SYS_SUCCESS);

/* The tentative prolongator: bs rows of nvec entries for each vertex, then for each ghost. The caller fills in those of leaving vertices and of ghosts. */
SYS_DEVICE SysReal  *AggDeviceBlocks(AggDevice *g) SYS_STUB(NULL);
SYS_DEVICE SysStatus AggDevicePutBlocks(AggDevice *g, SysInt n, const SysInt vertex[], size_t size, const SysReal block[], SysStream stream) SYS_STUB(SYS_SUCCESS);

/* ------------------------------------------------- prolongator ------------------------------------------------- */

/* The columns of the second part of the prolongator on several processes, of which there are nfar: vertex or ghost vertex[k] has column[k], counted in aggregates */
SYS_DEVICE SysStatus AggDeviceSetColumns(AggDevice *g, SysInt nfar, SysInt n, const SysInt vertex[], const SysInt column[], SysStream stream) SYS_STUB(SYS_SUCCESS);

/* The prolongator (I + alpha D^-1 A) P of the tentative prolongator P, D being the diagonal of A; where D is 0, D^-1 is 0. P itself if A is NULL. A is on the
   device, and so are the arrays of the result, which belong to g. Each row has the columns of its own aggregate, and those of the aggregates of its columns in A.
   Part 0 has the columns of this process, part 1 those of the others. SYS_TOO_LARGE: the result has too many entries. */
SYS_DEVICE SysStatus AggDeviceProlong(AggDevice *g, int bs, int nvec, const AggMatrix *A, double alpha, int part, SysStream stream, SysCSR *P) SYS_STUB(SYS_SUCCESS);

/* The arrays of this part of the prolongator no longer belong to g */
SYS_DEVICE void AggDeviceDetach(AggDevice *g, int part) SYS_STUB();

/* ------------------------------------------------- estimate of eigenvalues ------------------------------------------------- */

/* Vectors, the inverse of the diagonal, and the numbers of the method; all arrays are on the device */
typedef struct {
  int64_t   n, stride;   /* entries of a vector, and from one start to the next */
  SysReal  *v, *inverse; /* vectors one after the other; D^-1, which has 1 for zeros of D */
  SysReal  *sum;         /* sums of the last pass over the entries of this process; with several processes the caller adds up the sums of all, or gathers AGG_STEPS of each process in all[] */
  SysReal  *all;
  SysReal  *partial, *scale, *h;
  char     *memory;
  SysStream stream; /* in which the pool gave the memory */
} AggEstimate;

/* Allocates room for `vectors` vectors (AGG_STEPS + 1, or 3 for conjugate gradients) and for the sums of nproc processes. The caller sets the first vector, and calls
   AggEstimateDestroy() after a failure as well. */
SYS_DEVICE SysStatus AggEstimateCreate(const SysCSR *A, int vectors, int nproc, SysStream stream, AggEstimate *e) SYS_STUB(SYS_SUCCESS);
SYS_DEVICE void      AggEstimateDestroy(AggEstimate *e) SYS_STUB();
SYS_DEVICE SysStatus AggEstimateGetNumbers(const AggEstimate *e, SysReal h[], SysStream stream) SYS_STUB(SYS_SUCCESS);
SYS_DEVICE SysStatus AggEstimateGetSums(const AggEstimate *e, SysReal sum[], SysStream stream) SYS_STUB(SYS_SUCCESS);
SYS_DEVICE SysStatus AggEstimatePutSums(AggEstimate *e, const SysReal sum[], SysStream stream) SYS_STUB(SYS_SUCCESS);
SYS_DEVICE SysStatus AggEstimateAddAll(AggEstimate *e, int nproc, SysStream stream) SYS_STUB(SYS_SUCCESS); /* adds up all[], in the order of the processes */

/* Arnoldi's method for D^-1 A, with classical Gram-Schmidt. Step k has three parts: vector k + 1 = A vector k by the caller, the dots, and what they remove. The last
   entry of its column of AGG_H() is the root of the sum that it leaves; the next step stores it. */
SYS_DEVICE SysStatus AggArnoldiStart(AggEstimate *e, SysStream stream) SYS_STUB(SYS_SUCCESS);
SYS_DEVICE SysStatus AggArnoldiDots(AggEstimate *e, int k, SysStream stream) SYS_STUB(SYS_SUCCESS);
SYS_DEVICE SysStatus AggArnoldiRemove(AggEstimate *e, int k, SysStream stream) SYS_STUB(SYS_SUCCESS);

/* Conjugate gradients with Jacobi's method, without the solution. Step k: the direction, vector 2 = A vector 1 by the caller, the dot, the step. It leaves the numbers
   r.z and p.w, 2 k and 2 k + 1. */
SYS_DEVICE SysStatus AggCGStart(AggEstimate *e, SysStream stream) SYS_STUB(SYS_SUCCESS);
SYS_DEVICE SysStatus AggCGDirection(AggEstimate *e, int k, SysStream stream) SYS_STUB(SYS_SUCCESS);
SYS_DEVICE SysStatus AggCGDot(AggEstimate *e, SysStream stream) SYS_STUB(SYS_SUCCESS);
SYS_DEVICE SysStatus AggCGStep(AggEstimate *e, int k, SysStream stream) SYS_STUB(SYS_SUCCESS);

/* ------------------------------------------------- others ------------------------------------------------- */

/* Entries of size bytes, of which n are listed: packed to an array, unpacked from one, or added up. to and from may be pinned memory of the host. */
SYS_DEVICE SysStatus AggDevicePack(SysInt n, const SysInt *list, size_t size, const void *from, void *to, SysStream stream) SYS_STUB(SYS_SUCCESS);
SYS_DEVICE SysStatus AggDeviceUnpack(SysInt n, const SysInt *list, size_t size, const void *from, void *to, SysStream stream) SYS_STUB(SYS_SUCCESS);
SYS_DEVICE SysStatus AggDeviceAddUp(SysInt n, const SysInt *list, const SysInt *from, SysInt *to, SysStream stream) SYS_STUB(SYS_SUCCESS);

/* The same with words of 8 bytes for entries of 1 or 4 bytes; without a list entry k is word k */
SYS_DEVICE SysStatus AggDevicePackWords(SysInt n, const SysInt *list, size_t size, const void *from, uint64_t *to, SysStream stream) SYS_STUB(SYS_SUCCESS);
SYS_DEVICE SysStatus AggDeviceUnpackWords(SysInt n, size_t size, const uint64_t *from, void *to, SysStream stream) SYS_STUB(SYS_SUCCESS);
SYS_DEVICE SysStatus AggDeviceAddUpWords(SysInt n, const SysInt *list, const uint64_t *from, SysInt *to, SysStream stream) SYS_STUB(SYS_SUCCESS);

/* Random numbers between -1.1 and 1.1, which depend on first + k alone: those of PETSc's KSPSetNoisy_Private() */
SYS_DEVICE SysStatus AggDeviceNoise(int64_t n, int64_t first, SysScalar x[], SysStream stream) SYS_STUB(SYS_SUCCESS);

/* *found becomes 0 if no entry of the diagonal is zero or missing */
SYS_DEVICE SysStatus AggDeviceZeros(const SysCSR *A, SysStream stream, int *found) SYS_STUB(SYS_SUCCESS);
SYS_DEVICE void      AggDeviceDestroy(AggDevice **g) SYS_STUB();

SYS_C_END
