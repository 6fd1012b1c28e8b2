/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The halo of an MPI matrix on a CUDA device: operations on raw device arrays, without PETSc's objects. All work is queued on the stream that the caller
   gives. Real numbers and 32-bit indices only.
*/
#pragma once

#include "sys/syscuda.h"

SYS_C_BEGIN

/* The rows of a matrix that have entries, in compressed form: row k of the n listed ones is rows[k] and has the entries start[k] to start[k + 1] */
typedef struct {
  int        n;
  int        lanes; /* threads that share a row: a power of two, at most 32 */
  const int *rows, *start;
} HaloRows;

/* The columns of a matrix: column k of n has the entries start[k] to start[k + 1]; row[] and place[] have the row and the index of the value of each entry */
typedef struct {
  int        n, lanes;
  const int *start, *row, *place;
} HaloColumns;

/* Sums for some entries of a vector: entry rows[k] of the n listed ones gets the sums at place[start[k]] to place[start[k + 1]] */
typedef struct {
  int        n;
  const int *rows, *start, *place;
} HaloSums;

/* Lists the rows that have entries, of m: *n rows, and then the n + 1 places where they begin and the last ends, in new memory; NULL if there are none. Waits for the device. */
SysStatus HaloListRows(int m, const int *i, int *n, int **list, SysStream);

/* to[k] = x[entries[k]] */
SysStatus HaloPack(int n, const int *entries, const SysScalar *x, SysScalar *to, SysStream);

/* y = alpha A x + y; only the listed rows of y are read and written */
SysStatus HaloAdd(const HaloRows *, const int *j, const SysScalar *a, SysScalar alpha, const SysScalar *x, SysScalar *y, SysStream);

/* y = A x + y, with partial sums of the dot product of v and A x. The number of sums does not depend on the device. */
int       HaloAddSumCount(const HaloRows *);
SysStatus HaloAddDot(const HaloRows *, const int *j, const SysScalar *a, const SysScalar *x, SysScalar *y, const SysScalar *v, SysScalar *sums, SysStream);

/* y = A^T x, a value for each column */
SysStatus HaloMultTranspose(const HaloColumns *, const SysScalar *a, const SysScalar *x, SysScalar *y, SysStream);

/* y += sums; each listed entry gets its sums in the order of their places */
SysStatus HaloAddSums(const HaloSums *, const SysScalar *sums, SysScalar *y, SysStream);

/* Boxes in the memory of several devices, which all of them can reach. Box number rank belongs to this process. */
#define HALO_PEERS      16
#define HALO_PEER_BYTES 512                /* that a process gives, at most */
#define HALO_BOX        (2 << 20)          /* bytes of a box, which has an allocation of its own */
#define HALO_TRIAL      ((int64_t)2 << 30) /* clocks */
typedef struct {
  int   nproc, rank;
  void *box[HALO_PEERS];
} HaloPeers;

/* Gathers bytes, a multiple of 4, of each process in their order. All processes make the same calls, each in the order of its stream. With a limit, of clocks, bytes
   that do not come are 0; without, the device waits for ever. */
SysStatus HaloGather(const HaloPeers *, size_t bytes, const void *mine, void *all, int64_t limit, SysStream);

/* An exchange of entries with neighbours. Each process has a room, which all of them can reach. Entries offset[p] to offset[p + 1] of the list to send go to process peer[p], into
   its room from place[p] on; the process receives come entries. */
#define HALO_ROOM_HEAD 256 /* bytes before the two sets of stride entries */
typedef struct {
  int     npeers, rank, come, peer[HALO_PEERS], offset[HALO_PEERS + 1], place[HALO_PEERS];
  int64_t stride;
  void   *room[HALO_PEERS];
} HaloRoute;

/* Sends x[entries[k]], or x[k] without entries, and receives in. The heads of new rooms are 0. All processes make the same exchanges of a room, each in the order of its
   stream; the device waits for ever. */
SysStatus HaloExchange(const HaloRoute *, const int *entries, const SysScalar *x, SysScalar *in, SysStream);

SYS_C_END
