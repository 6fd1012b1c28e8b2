/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The local part of products of MPI matrices on the device.

   The host exchanges rows with other processes. The device puts both factors together, multiplies them and cuts the result apart. Only exchanged rows cross the bus, and
   once the pattern of the result unless it is deferred. Each process decides for itself whether it uses the device, and all together whether the result is deferred.
*/
#include "mat/impls/hashgemm/glue/hashgemmparallel.h"

#include "mat/impls/hashgemm/glue/hashgemmdevice.h"

struct _HashGEMMDeviceParallel {
  SpgemmDevice *spgemm;
  HashGEMMRows  left, right, result;  /* memory that only new values need is freed in between */
  PetscBool     failed;               /* there was no memory for a factor */
  int          *place;                /* of the values that were fetched */
  int          *sums, *begin, ntaken; /* the rows of this process that are sums, and where each begins in the array of all of them */
  int          *from, *sumi;
  HashGEMMRows  cut[2];                /* both blocks of a deferred result, until the matrix has them */
  int          *run, *runstart, *even; /* of the halo, for the values that other processes get */
  char         *marks;                 /* on the host: columns of other processes that rows of this process use, until HashGEMMDeviceMarkColumns() */
  PetscBool     taken;                 /* the host has the values that HashGEMMDeviceTakeValues() would take next */
};

/* ------------------------------------------------- memory ------------------------------------------------- */

static PetscErrorCode HashGEMMDeviceAllocate(size_t bytes, void *memory, PetscBool *done)
{
  PetscFunctionBegin;
  PetscCall(HashGEMMDeviceCheck(SysPoolAllocate(bytes, memory, PetscDefaultCudaStream), done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HashGEMMDeviceAllocateRows(HashGEMMRows *rows, PetscBool *done)
{
  PetscFunctionBegin;
  PetscCall(HashGEMMDeviceAllocate((rows->m + 1) * sizeof(*rows->i), &rows->i, done));
  if (*done) PetscCall(HashGEMMDeviceAllocate(rows->nz * sizeof(*rows->j), &rows->j, done));
  if (*done) PetscCall(HashGEMMDeviceAllocate(rows->nz * sizeof(*rows->a), &rows->a, done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void HashGEMMDeviceFreeRows(HashGEMMRows *rows)
{
  if (!rows->borrowed) {
    MatAIJPoolRelease(rows->i);
    MatAIJPoolRelease(rows->j);
    MatAIJPoolRelease(rows->a);
  }
  rows->i = rows->j = NULL;
  rows->a           = NULL;
}

/* A copy of an array of the host, which may change right afterwards */
static PetscErrorCode HashGEMMDeviceUpload(size_t bytes, const void *host, void *memory, PetscBool *done)
{
  PetscFunctionBegin;
  PetscCall(HashGEMMDeviceAllocate(bytes, memory, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaMemcpyAsync(*(void **)memory, host, bytes, cudaMemcpyHostToDevice, PetscDefaultCudaStream));
  PetscCall(PetscLogCpuToGpu(bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes note that so many bytes were not there, unless done */
static void HashGEMMDeviceNote(PetscBool done, double bytes, SpgemmInfo *info, SysStatus *status)
{
  if (done) return;
  *status           = SYS_OUT_OF_MEMORY;
  info->bytes_asked = PetscMax(1, bytes);
}

/* ------------------------------------------------- factors ------------------------------------------------- */

static PetscErrorCode HashGEMMDeviceGetBlocks(Mat A, SysCSR block[2])
{
  Mat    b[2];
  SysCSR csr;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(block, 2 * sizeof(*block)));
  PetscCall(MatMPIAIJGetSeqAIJ(A, &b[0], &b[1], NULL));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatAIJGetSizes(b[k], &csr));
    block[k].m = csr.m;
    block[k].n = csr.n;
    if (csr.nz) PetscCall(HashGEMMDeviceGetCSR(b[k], &block[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Not for matrices that are on the host, nor for an A whose diagonal block has no entries, nor for a B without entries. The diagonal block of a P may have none: the few columns of a
   coarsest level belong to the first process, and the others would multiply on the host while that one waits. */
PetscErrorCode HashGEMMDeviceParallelCreate(Mat C, Mat A, Mat B, const HashGEMMProduct *p, HashGEMMParallel *q)
{
  Mat       block[4];
  PetscBool done;

  PetscFunctionBegin;
  if (p->result.id && C->boundtocpu) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
  PetscCall(MatMPIAIJGetSeqAIJ(B, &block[2], &block[3], NULL));
  for (int k = 0; k < 4; k++) {
    SysCSR csr, rest = {0};

    PetscCall(MatAIJGetSizes(block[k], &csr));
    if (k % 2 == 0 && !csr.nz) {
      if (k) PetscCall(MatAIJGetSizes(block[k + 1], &rest));
      if (!rest.nz) PetscFunctionReturn(PETSC_SUCCESS);
      continue;
    }
    if (!MatAIJValuesOnDevice(block[k])) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(HashGEMMDeviceStart(&done));
  if (done) PetscCall(PetscNew(&q->device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HashGEMMDeviceParallelDestroy(HashGEMMParallel *q)
{
  HashGEMMDeviceParallel *d = q->device;

  PetscFunctionBegin;
  if (!d) PetscFunctionReturn(PETSC_SUCCESS);
  if (HashGEMMDeviceContext) {
    SpgemmDeviceDestroy(&d->spgemm, PetscDefaultCudaStream);
    HashGEMMDeviceFreeRows(&d->left);
    HashGEMMDeviceFreeRows(&d->right);
    HashGEMMDeviceFreeRows(&d->result);
    for (int k = 0; k < 2; k++) HashGEMMDeviceFreeRows(&d->cut[k]);
    MatAIJPoolRelease(d->place);
    MatAIJPoolRelease(d->sums);
    MatAIJPoolRelease(d->begin);
    MatAIJPoolRelease(d->from);
    MatAIJPoolRelease(d->sumi);
    MatAIJPoolRelease(d->run);
    MatAIJPoolRelease(d->runstart);
    MatAIJPoolRelease(d->even);
  }
  PetscCall(PetscFree(d->marks));
  PetscCall(PetscFree(q->device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gathers the columns of n rows of both blocks on the host, with two waits; rows[] is on the device. Row rows[k] of block b has the entries ends[2 (b n + k)] to ends[2 (b n + k) + 1],
   and its columns begin at (*j)[i[b (n + 1) + k]] */
static PetscErrorCode HashGEMMDeviceGather(const SysCSR csr[2], PetscInt n, const int *rows, PetscInt ends[], PetscInt i[], PetscInt **j, PetscBool *done)
{
  const SysStream stream = PetscDefaultCudaStream;
  PetscInt        sum    = 0;
  int            *dends = NULL, *dbegin = NULL, *taken = NULL;

  PetscFunctionBegin;
  *j = NULL;
  PetscCall(HashGEMMDeviceAllocate(4 * n * sizeof(*dends), &dends, done));
  if (*done) {
    PetscCallCUDA(cudaMemsetAsync(dends, 0, 4 * n * sizeof(*dends), stream));
    for (int b = 0; b < 2 && *done; b++) {
      if (csr[b].nz) PetscCall(HashGEMMDeviceCheck(HashGEMMDeviceRowEnds(n, rows, csr[b].i, dends + 2 * b * n, stream), done));
    }
    PetscCallCUDA(cudaMemcpyAsync(ends, dends, 4 * n * sizeof(*ends), cudaMemcpyDeviceToHost, stream));
    PetscCallCUDA(cudaStreamSynchronize(stream));
    for (PetscInt b = 0, place = 0; b < 2; b++) {
      for (PetscInt k = b * n; k < (b + 1) * n; k++) {
        i[place++] = sum;
        sum += ends[2 * k + 1] - ends[2 * k];
      }
      i[place++] = sum;
    }
    PetscCall(HashGEMMDeviceUpload(2 * (n + 1) * sizeof(*i), i, &dbegin, done));
  }
  if (*done) PetscCall(HashGEMMDeviceAllocate(sum * sizeof(*taken), &taken, done));
  if (*done) {
    PetscCall(PetscMalloc1(sum, j));
    for (int b = 0; b < 2 && *done; b++) {
      if (csr[b].nz) PetscCall(HashGEMMDeviceCheck(HashGEMMDeviceTakeColumns(n, rows, dbegin + b * (n + 1), csr[b].i, csr[b].j, taken, stream), done));
    }
    PetscCallCUDA(cudaMemcpyAsync(*j, taken, sum * sizeof(**j), cudaMemcpyDeviceToHost, stream));
    PetscCallCUDA(cudaStreamSynchronize(stream));
    PetscCall(PetscLogGpuToCpu((4 * n + sum) * sizeof(PetscInt)));
  }
  MatAIJPoolRelease(dends);
  MatAIJPoolRelease(dbegin);
  MatAIJPoolRelease(taken);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As HashGEMMGetWanted() does on the host */
PetscErrorCode HashGEMMDeviceGetRows(Mat B, const PetscInt rows[], const PetscInt known[], HashGEMMHalo *h, PetscInt **columns, SpgemmInfo *info, SysStatus *status, PetscBool *done)
{
  const PetscInt n = h->nrun;
  SysCSR         block[2];
  PetscInt      *ends, *i, *j = NULL;
  int           *drows;

  PetscFunctionBegin;
  PetscCall(HashGEMMDeviceStart(done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HashGEMMDeviceGetBlocks(B, block));
  PetscCall(PetscMalloc2(4 * n, &ends, 2 * (n + 1), &i));
  PetscCall(HashGEMMDeviceUpload(n * sizeof(*rows), rows, &drows, done));
  if (*done) PetscCall(HashGEMMDeviceGather(block, n, drows, ends, i, &j, done));
  if (*done) {
    for (PetscInt k = 0; k < 2 * n; k++) h->run[k] = ends[k] + ends[2 * n + k];
    PetscCall(HashGEMMHaloStart(h, info, status));
    PetscCall(PetscMalloc1(h->start[n], columns));
    for (PetscInt k = 0; k < n; k++) {
      if (h->start[k + 1] > h->start[k]) HashGEMMMergeColumns(1, i + k, j, i + n + 1 + k, j, B->cmap->rstart, 0, known, *columns + h->start[k]);
    }
  }
  MatAIJPoolRelease(drows);
  PetscCall(PetscFree(j));
  PetscCall(PetscFree2(ends, i));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As HashGEMMMakeLeft() does on the host */
PetscErrorCode HashGEMMDeviceMakeLeft(Mat A, PetscBool square, HashGEMMParallel *q)
{
  HashGEMMDeviceParallel *d      = q->device;
  HashGEMMRows           *left   = &d->left;
  const SysStream         stream = PetscDefaultCudaStream;
  SysCSR                  block[2];
  PetscBool               done;

  PetscFunctionBegin;
  PetscCall(HashGEMMDeviceGetBlocks(A, block));
  *left = HashGEMMRowsBorrow(&block[0]);
  if (!block[1].n) PetscFunctionReturn(PETSC_SUCCESS);
  *left = (HashGEMMRows){.m = block[0].m + (square ? block[1].n : 0), .n = block[0].n + block[1].n, .nz = block[0].nz + block[1].nz};
  PetscCall(HashGEMMDeviceAllocateRows(left, &done));
  d->failed = (PetscBool)!done;
  if (!done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HashGEMMDeviceCheck(HashGEMMDeviceMerge(&block[0], &block[1], (int)block[0].n, NULL, left->i, left->j, left->a, stream), &done));
  if (left->m > block[0].m) { /* the rows below are empty */
    int nz = (int)left->nz, *i;

    PetscCall(PetscMalloc1(left->m - block[0].m, &i));
    for (int64_t r = 0; r < left->m - block[0].m; r++) i[r] = nz;
    PetscCallCUDA(cudaMemcpyAsync(left->i + block[0].m + 1, i, (left->m - block[0].m) * sizeof(*i), cudaMemcpyHostToDevice, stream));
    PetscCall(PetscFree(i));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The pattern of the right factor. The host has made the ends and the columns of the rows that were fetched. */
PetscErrorCode HashGEMMDeviceMakeRight(Mat B, PetscInt nknown, const PetscInt map[], HashGEMMParallel *q, PetscBool *done)
{
  HashGEMMDeviceParallel *d      = q->device;
  HashGEMMRows           *right  = &d->right;
  const SysStream         stream = PetscDefaultCudaStream;
  SysCSR                  block[2];
  int                    *dmap = NULL;
  PetscInt                nz;

  PetscFunctionBegin;
  *done           = PETSC_TRUE;
  right->borrowed = q->right.borrowed;
  if (right->borrowed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HashGEMMDeviceGetBlocks(B, block));
  nz        = (PetscInt)(block[0].nz + block[1].nz);
  right->m  = q->right.m;
  right->n  = q->right.n;
  right->nz = q->right.nz;
  PetscCall(HashGEMMDeviceAllocateRows(right, done));
  if (*done && map) PetscCall(HashGEMMDeviceUpload(nknown * sizeof(*map), map, &dmap, done));
  if (*done && q->fetched.n) PetscCall(HashGEMMDeviceUpload(q->fetched.n * sizeof(*d->place), q->fetched.place, &d->place, done));
  if (*done) {
    PetscCallCUDA(cudaMemcpyAsync(right->i + block[0].m + 1, q->right.i + block[0].m + 1, (right->m - block[0].m) * sizeof(*right->i), cudaMemcpyHostToDevice, stream));
    PetscCallCUDA(cudaMemcpyAsync(right->j + nz, q->right.j + nz, (right->nz - nz) * sizeof(*right->j), cudaMemcpyHostToDevice, stream));
    PetscCall(PetscLogCpuToGpu((right->m - block[0].m + right->nz - nz) * sizeof(PetscInt)));
    PetscCall(HashGEMMDeviceCheck(HashGEMMDeviceMerge(&block[0], &block[1], q->columns.n, dmap, right->i, right->j, NULL, stream), done));
  }
  MatAIJPoolRelease(dmap);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the runs of values that other processes get to the host. Without memory on the device each run is a copy by itself. */
static PetscErrorCode HashGEMMDeviceTakeRuns(HashGEMMParallel *q)
{
  HashGEMMDeviceParallel *d = q->device;
  HashGEMMHalo           *h = &q->fetched;
  const PetscInt          n = h->start[h->nrun];
  PetscScalar            *taken, *out;
  PetscBool               done = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &out));
  h->out = (char *)out;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  if (!d->run) PetscCall(HashGEMMDeviceUpload(2 * h->nrun * sizeof(*h->run), h->run, &d->run, &done));
  if (done && !d->runstart) {
    PetscInt *even;

    PetscCall(HashGEMMDeviceUpload(h->nrun * sizeof(*h->start), h->start, &d->runstart, &done));
    PetscCall(PetscMalloc1(h->nrun, &even));
    for (PetscInt k = 0; k < h->nrun; k++) even[k] = 2 * k; /* run k is row 2 k of a matrix whose rows begin at run[] */
    if (done) PetscCall(HashGEMMDeviceUpload(h->nrun * sizeof(*even), even, &d->even, &done));
    PetscCall(PetscFree(even));
  }
  if (done && d->even) PetscCall(HashGEMMDeviceAllocate(n * sizeof(*taken), &taken, &done));
  if (done && d->even) {
    PetscCall(HashGEMMDeviceCheck(HashGEMMDeviceTakeRows(h->nrun, d->even, d->runstart, d->run, d->right.a, taken, PetscDefaultCudaStream), &done));
    PetscCallCUDA(cudaMemcpyAsync(out, taken, n * sizeof(*out), cudaMemcpyDeviceToHost, PetscDefaultCudaStream));
    MatAIJPoolRelease(taken);
  } else {
    for (PetscInt k = 0; k < h->nrun; k++) PetscCallCUDA(cudaMemcpyAsync(out + h->start[k], d->right.a + h->run[2 * k], (h->start[k + 1] - h->start[k]) * sizeof(*out), cudaMemcpyDeviceToHost, PetscDefaultCudaStream));
  }
  PetscCallCUDA(cudaStreamSynchronize(PetscDefaultCudaStream));
  PetscCall(PetscLogGpuToCpu(n * sizeof(*out)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The values of the right factor, of which those that other processes have asked for are sent */
PetscErrorCode HashGEMMDeviceRightBegin(Mat B, HashGEMMParallel *q)
{
  HashGEMMDeviceParallel *d = q->device;
  SysCSR                  block[2];
  PetscBool               done;

  PetscFunctionBegin;
  PetscCall(HashGEMMDeviceGetBlocks(B, block));
  if (d->right.borrowed) d->right = HashGEMMRowsBorrow(&block[0]);
  else PetscCall(HashGEMMDeviceCheck(HashGEMMDeviceMerge(&block[0], &block[1], q->columns.n, NULL, NULL, NULL, d->right.a, PetscDefaultCudaStream), &done));
  if (q->fetched.comm != MPI_COMM_NULL) {
    PetscCall(HashGEMMDeviceTakeRuns(q));
    PetscCall(HashGEMMHaloPost(&q->fetched, MPIU_SCALAR, sizeof(PetscScalar), q->fetched.values));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HashGEMMDeviceRightEnd(HashGEMMParallel *q)
{
  HashGEMMDeviceParallel *d = q->device;
  PetscScalar            *values;
  PetscBool               done;

  PetscFunctionBegin;
  if (!q->fetched.n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HashGEMMDeviceUpload(q->fetched.n * sizeof(*values), q->fetched.values, &values, &done));
  if (!done) d->failed = PETSC_TRUE;
  if (!done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HashGEMMDeviceCheck(HashGEMMDeviceScatter(q->fetched.n, d->place, values, d->right.a, PetscDefaultCudaStream), &done));
  MatAIJPoolRelease(values);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- the local product ------------------------------------------------- */

/* The local product. The host gets the starts of its rows, and the columns of all rows by HashGEMMDeviceFetchColumns(), or of some by HashGEMMDeviceFetchSums(). */
PetscErrorCode HashGEMMDeviceMakeResult(Mat C, SpgemmType type, const HashGEMMProduct *p, HashGEMMParallel *q, PetscBool *done)
{
  HashGEMMDeviceParallel *d         = q->device;
  HashGEMMRows           *rows      = &d->result;
  const SysCSR            factor[3] = {HashGEMMRowsCSR(&d->left), HashGEMMRowsCSR(&d->right)};
  SpgemmInfo              info;
  SysStatus               status;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  if (d->failed || !d->left.nz || !d->right.nz) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(HashGEMMDeviceMake(type, p->options.accumulator, factor, &d->spgemm, &info, rows, &status));
  PetscCall(PetscLogGpuTimeEnd());
  if (status == SYS_TOO_LARGE) PetscFunctionReturn(PETSC_SUCCESS); /* the host will find the same, and all processes agree on the error */
  PetscCall(HashGEMMDeviceCheck(status, done));
  *done = (PetscBool)(*done && rows->nz && rows->a);
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  *done = (PetscBool)!HashGEMMRowsCreate(rows->m, rows->n, rows->nz, PETSC_TRUE, &q->result, &info);
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HashGEMMDeviceFetch(q->result.i, rows->i, (rows->m + 1) * sizeof(*rows->i)));
  HashGEMMDeviceFreeRows(&d->left);
  PetscCall(HashGEMMDeviceTell(C, &info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HashGEMMDeviceFetchColumns(HashGEMMParallel *q)
{
  PetscFunctionBegin;
  PetscCall(HashGEMMDeviceFetch(q->result.j, q->device->result.j, q->result.nz * sizeof(*q->result.j)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Uploads the list of the rows that are sums */
static PetscErrorCode HashGEMMDeviceListSums(PetscInt nsum, const PetscInt sums[], HashGEMMParallel *q, PetscBool *done)
{
  HashGEMMDeviceParallel *d = q->device;
  const PetscInt         *i = q->result.i;
  int                    *begin;

  PetscFunctionBegin;
  *done = PETSC_TRUE;
  if (!nsum || d->sums) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(nsum + 1, &begin));
  begin[0] = 0;
  for (PetscInt t = 0; t < nsum; t++) begin[t + 1] = begin[t] + i[sums[t] + 1] - i[sums[t]];
  d->ntaken = begin[nsum];
  if (!d->begin) PetscCall(HashGEMMDeviceUpload(nsum * sizeof(*begin), begin, &d->begin, done));
  if (*done) PetscCall(HashGEMMDeviceUpload(nsum * sizeof(*sums), sums, &d->sums, done));
  PetscCall(PetscFree(begin));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Puts rows that the device has gathered one after the other to their places in a host array of all rows */
static PetscErrorCode HashGEMMDevicePlaceRows(PetscInt nsum, const PetscInt sums[], const PetscInt i[], size_t size, const void *gathered, void *all)
{
  const char *from = (const char *)gathered;

  PetscFunctionBegin;
  for (PetscInt t = 0; t < nsum; t++) {
    const size_t bytes = (size_t)(i[sums[t] + 1] - i[sums[t]]) * size;

    PetscCall(PetscMemcpy((char *)all + (size_t)i[sums[t]] * size, from, bytes));
    from += bytes;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Queues the marks of the columns of other processes that occur in the first m rows. Without memory all are marked: a column more costs little. */
static PetscErrorCode HashGEMMDeviceMarkBegin(HashGEMMParallel *q, PetscInt m)
{
  HashGEMMDeviceParallel *d = q->device;
  const PetscInt          n = q->columns.nglobal;
  char                   *used;
  PetscBool               done;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &d->marks));
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < n; k++) d->marks[k] = 1;
  PetscCall(HashGEMMDeviceAllocate(n, &used, &done));
  if (!done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaMemsetAsync(used, 0, n, PetscDefaultCudaStream));
  PetscCall(HashGEMMDeviceCheck(HashGEMMDeviceMarkUsed(m, d->result.i, d->result.j, q->columns.n, used, PetscDefaultCudaStream), &done));
  PetscCallCUDA(cudaMemcpyAsync(d->marks, used, n, cudaMemcpyDeviceToHost, PetscDefaultCudaStream));
  PetscCall(PetscLogGpuToCpu(n));
  MatAIJPoolRelease(used);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fetches, with one wait, what the host needs of a local product: columns and values of rows that other processes get, from row m on, and of rows that get something from other
   processes, degree[r] > 0, and the marks of HashGEMMDeviceMarkColumns(). The host has room for all entries, whose other pages it never touches. */
PetscErrorCode HashGEMMDeviceFetchSums(PetscInt m, const PetscInt degree[], HashGEMMParallel *q)
{
  HashGEMMDeviceParallel *d     = q->device;
  const PetscInt         *i     = q->result.i;
  const PetscInt          first = i[m], sent = (PetscInt)q->result.nz - first;
  const SysStream         stream = PetscDefaultCudaStream;
  PetscInt               *sums, *columns, nsum = 0;
  PetscScalar            *values, *takena = NULL;
  int                    *taken = NULL;
  PetscBool               done;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(m, &sums));
  for (PetscInt r = 0; r < m; r++) {
    if (degree[r]) sums[nsum++] = r;
  }
  PetscCall(HashGEMMDeviceMarkBegin(q, m));
  PetscCall(HashGEMMDeviceListSums(nsum, sums, q, &done));
  if (done) PetscCall(HashGEMMDeviceAllocate(d->ntaken * sizeof(*taken), &taken, &done));
  if (done) PetscCall(HashGEMMDeviceAllocate(d->ntaken * sizeof(*takena), &takena, &done));
  if (done) {
    PetscCall(PetscMalloc2(d->ntaken, &columns, d->ntaken, &values));
    if (nsum) {
      PetscCall(HashGEMMDeviceCheck(HashGEMMDeviceTakeColumns(nsum, d->sums, d->begin, d->result.i, d->result.j, taken, stream), &done));
      PetscCall(HashGEMMDeviceCheck(HashGEMMDeviceTakeRows(nsum, d->sums, d->begin, d->result.i, d->result.a, takena, stream), &done));
      PetscCallCUDA(cudaMemcpyAsync(columns, taken, d->ntaken * sizeof(*columns), cudaMemcpyDeviceToHost, stream));
      PetscCallCUDA(cudaMemcpyAsync(values, takena, d->ntaken * sizeof(*values), cudaMemcpyDeviceToHost, stream));
    }
    if (sent) {
      PetscCallCUDA(cudaMemcpyAsync(q->result.j + first, d->result.j + first, sent * sizeof(*columns), cudaMemcpyDeviceToHost, stream));
      PetscCallCUDA(cudaMemcpyAsync(q->result.a + first, d->result.a + first, sent * sizeof(*values), cudaMemcpyDeviceToHost, stream));
    }
    PetscCallCUDA(cudaStreamSynchronize(stream));
    PetscCall(PetscLogGpuToCpu((d->ntaken + sent) * (sizeof(*columns) + sizeof(*values))));
    PetscCall(HashGEMMDevicePlaceRows(nsum, sums, i, sizeof(*columns), columns, q->result.j));
    PetscCall(HashGEMMDevicePlaceRows(nsum, sums, i, sizeof(*values), values, q->result.a));
    PetscCall(PetscFree2(columns, values));
  } else PetscCall(HashGEMMDeviceFetchColumns(q));
  d->taken = done;
  MatAIJPoolRelease(taken);
  MatAIJPoolRelease(takena);
  PetscCall(PetscFree(sums));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Marks the columns of other processes that occur in the first m rows */
PetscErrorCode HashGEMMDeviceMarkColumns(HashGEMMParallel *q, PetscInt m, char marks[])
{
  HashGEMMDeviceParallel *d = q->device;

  PetscFunctionBegin;
  if (!d->marks) {
    PetscCall(HashGEMMDeviceMarkBegin(q, m));
    PetscCallCUDA(cudaStreamSynchronize(PetscDefaultCudaStream));
  }
  PetscCall(PetscArraycpy(marks, d->marks, q->columns.nglobal));
  PetscCall(PetscFree(d->marks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HashGEMMDeviceRenewResult(HashGEMMParallel *q, SpgemmInfo *info, SysStatus *status)
{
  HashGEMMDeviceParallel *d         = q->device;
  HashGEMMRows           *rows      = &d->result;
  const SysCSR            factor[3] = {HashGEMMRowsCSR(&d->left), HashGEMMRowsCSR(&d->right)};
  SpgemmInfo              own;
  PetscBool               done = (PetscBool)!d->failed;

  PetscFunctionBegin;
  if (done) PetscCall(HashGEMMDeviceAllocate(rows->nz * sizeof(*rows->a), &rows->a, &done));
  if (done) {
    PetscCall(PetscLogGpuTimeBegin());
    PetscCall(HashGEMMDeviceCheck(SpgemmDeviceRevalue(d->spgemm, &factor[0], &factor[1], &factor[2], rows->i, rows->j, rows->a, PetscDefaultCudaStream), &done));
    PetscCall(PetscLogGpuTimeEnd());
  }
  HashGEMMDeviceNote(done, (double)rows->nz * sizeof(*rows->a), info, status);
  HashGEMMDeviceFreeRows(&d->left);
  SpgemmDeviceGetInfo(d->spgemm, &own);
  if (done) PetscCall(PetscLogGpuFlops(2 * own.products));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- the result ------------------------------------------------- */

/* Copies values to the host: those of rows that other processes get, from row m on, and those of rows that get something from other processes */
PetscErrorCode HashGEMMDeviceTakeValues(PetscInt m, HashGEMMParallel *q, SpgemmInfo *info, SysStatus *status)
{
  HashGEMMDeviceParallel *d     = q->device;
  const PetscInt         *i     = q->result.i;
  const PetscInt          first = i[m], sent = (PetscInt)q->result.nz - first;
  PetscScalar            *taken, *host;
  PetscBool               done;

  PetscFunctionBegin;
  if (d->taken) {
    d->taken = PETSC_FALSE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (sent) {
    PetscCallCUDA(cudaMemcpyAsync(q->result.a + first, d->result.a + first, sent * sizeof(*taken), cudaMemcpyDeviceToHost, PetscDefaultCudaStream));
    PetscCall(PetscLogGpuToCpu(sent * sizeof(*taken)));
  }
  PetscCall(HashGEMMDeviceListSums(q->nsum, q->sums, q, &done));
  if (done && d->ntaken) PetscCall(HashGEMMDeviceAllocate(d->ntaken * sizeof(*taken), &taken, &done));
  HashGEMMDeviceNote(done, (double)d->ntaken * sizeof(*taken), info, status);
  if (done && d->ntaken) {
    PetscCall(HashGEMMDeviceCheck(HashGEMMDeviceTakeRows(q->nsum, d->sums, d->begin, d->result.i, d->result.a, taken, PetscDefaultCudaStream), &done));
    PetscCall(PetscMalloc1(d->ntaken, &host));
    PetscCallCUDA(cudaMemcpyAsync(host, taken, d->ntaken * sizeof(*taken), cudaMemcpyDeviceToHost, PetscDefaultCudaStream));
    PetscCall(PetscLogGpuToCpu(d->ntaken * sizeof(*taken)));
    MatAIJPoolRelease(taken);
  }
  PetscCallCUDA(cudaStreamSynchronize(PetscDefaultCudaStream));
  if (done && d->ntaken) {
    PetscCall(HashGEMMDevicePlaceRows(q->nsum, q->sums, i, sizeof(*host), host, q->result.a));
    PetscCall(PetscFree(host));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of the local product and, in place of some, the sums of the host: their values, which the caller frees, or their columns */
static PetscErrorCode HashGEMMDeviceGetCutRows(PetscInt m, HashGEMMParallel *q, HashGEMMDeviceCutRows *rows, PetscBool values, void **sum, PetscBool *done)
{
  HashGEMMDeviceParallel *d = q->device;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(rows, sizeof(*rows)));
  *sum    = NULL;
  *done   = PETSC_TRUE;
  rows->i = d->result.i;
  rows->j = d->result.j;
  rows->a = d->result.a;
  if (!q->nsum || !q->sum.nz) PetscFunctionReturn(PETSC_SUCCESS);
  if (!d->from) PetscCall(HashGEMMDeviceUpload(m * sizeof(*q->from), q->from, &d->from, done));
  if (*done && !d->sumi) PetscCall(HashGEMMDeviceUpload((q->sum.m + 1) * sizeof(*q->sum.i), q->sum.i, &d->sumi, done));
  if (*done && values) PetscCall(HashGEMMDeviceUpload(q->sum.nz * sizeof(*q->sum.a), q->sum.a, sum, done));
  if (*done && !values) PetscCall(HashGEMMDeviceUpload(q->sum.nz * sizeof(*q->sum.j), q->sum.j, sum, done));
  rows->from   = d->from;
  rows->otheri = d->sumi;
  if (values) rows->othera = (const PetscScalar *)*sum;
  else rows->otherj = (const int *)*sum;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The blocks of a deferred result, whose patterns are made here; HashGEMMDeviceCut() gives them their entries. `far` columns belong to other processes. */
PetscErrorCode HashGEMMDeviceMakeBlocks(const HashGEMMCut *cut, PetscInt far, HashGEMMParallel *q, Mat block[2], SpgemmInfo *info, SysStatus *status)
{
  HashGEMMDeviceParallel *d      = q->device;
  const SysStream         stream = PetscDefaultCudaStream;
  HashGEMMDeviceCutRows   rows;
  int                    *map = NULL, nz[2] = {0, 0};
  void                   *columns;
  PetscBool               done;

  PetscFunctionBegin;
  PetscCall(HashGEMMDeviceGetCutRows((PetscInt)cut->m, q, &rows, PETSC_FALSE, &columns, &done));
  if (done && cut->map) PetscCall(HashGEMMDeviceUpload(q->columns.nglobal * sizeof(*map), cut->map, &map, &done));
  for (int k = 0; k < 2; k++) {
    d->cut[k] = (HashGEMMRows){.m = cut->m, .n = k ? far : cut->n};
    if (done) PetscCall(HashGEMMDeviceAllocate((cut->m + 1) * sizeof(*d->cut[k].i), &d->cut[k].i, &done));
  }
  if (done) PetscCall(HashGEMMDeviceCheck(HashGEMMDeviceCutStarts(&rows, cut->m, cut->n, d->cut[0].i, d->cut[1].i, stream), &done));
  if (done) {
    for (int k = 0; k < 2; k++) PetscCallCUDA(cudaMemcpyAsync(&nz[k], d->cut[k].i + cut->m, sizeof(nz[k]), cudaMemcpyDeviceToHost, stream));
    PetscCallCUDA(cudaStreamSynchronize(stream));
  }
  for (int k = 0; k < 2; k++) {
    SysCSR csr;

    d->cut[k].nz = nz[k];
    if (done) PetscCall(HashGEMMDeviceAllocate(nz[k] * sizeof(*d->cut[k].j), &d->cut[k].j, &done));
    if (done) PetscCall(HashGEMMDeviceAllocate(nz[k] * sizeof(*d->cut[k].a), &d->cut[k].a, &done));
    csr = HashGEMMRowsCSR(&d->cut[k]);
    PetscCall(MatAIJDeferCreate(&csr, &block[k]));
  }
  if (done) PetscCall(HashGEMMDeviceCheck(HashGEMMDeviceCutColumns(&rows, cut->m, cut->n, map, d->cut[0].i, d->cut[1].i, d->cut[0].j, d->cut[1].j, stream), &done));
  HashGEMMDeviceNote(done, (double)q->result.nz * (sizeof(PetscInt) + sizeof(PetscScalar)), info, status);
  MatAIJPoolRelease(columns);
  MatAIJPoolRelease(map);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives a deferred result its entries, or ends the access to the values of another one */
static PetscErrorCode HashGEMMDeviceRestore(Mat C, Mat const block[2], PetscScalar *a[2], HashGEMMDeviceParallel *d)
{
  const PetscBool news = (PetscBool)(d->cut[0].i != NULL);

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) {
    if (news) {
      const SysCSR csr = HashGEMMRowsCSR(&d->cut[k]);

      PetscCall(MatAIJDefer(block[k], &csr, PETSC_TRUE, PETSC_TRUE));
      HashGEMMDeviceFreeRows(&d->cut[k]);
    } else if (a[k]) PetscCall(MatAIJDeviceRestoreWrite(block[k], &a[k]));
  }
  if (news) PetscCall(MatAIJDeferMPI(C, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The values of C, from the local product and from the sums of the host. Does nothing unless the device has made the local product. */
PetscErrorCode HashGEMMDeviceCut(Mat C, HashGEMMParallel *q, SpgemmInfo *info, SysStatus *status)
{
  HashGEMMDeviceParallel *d = q->device;
  HashGEMMDeviceCutRows   rows;
  Mat                     block[2];
  const int              *i[2] = {NULL, NULL}, *j;
  PetscScalar            *a[2] = {NULL, NULL};
  void                   *sum  = NULL;
  PetscBool               done = PETSC_TRUE;

  PetscFunctionBegin;
  if (!d) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatMPIAIJGetSeqAIJ(C, &block[0], &block[1], NULL));
  for (int k = 0; k < 2; k++) {
    SysCSR csr;

    i[k] = d->cut[k].i;
    a[k] = d->cut[k].a;
    if (i[k]) continue;
    PetscCall(MatAIJGetSizes(block[k], &csr));
    if (!csr.nz) continue;
    if (MatAIJIsDeferred(block[k])) {
      PetscCall(MatAIJDeviceGetWrite(block[k], &i[k], &j, &a[k]));
      continue;
    }
    if (done) PetscCall(HashGEMMDeviceRoom(block[k], &done));
    if (done) PetscCall(HashGEMMDeviceGetArrays(block[k], &i[k], &j, &a[k]));
  }
  if (done) PetscCall(HashGEMMDeviceGetCutRows(C->rmap->n, q, &rows, PETSC_TRUE, &sum, &done));
  HashGEMMDeviceNote(done, (double)q->result.nz * (sizeof(PetscInt) + sizeof(PetscScalar)), info, status);
  if (done) PetscCall(HashGEMMDeviceCheck(HashGEMMDeviceCutValues(&rows, C->rmap->n, i[0], i[1], a[0], a[1], PetscDefaultCudaStream), &done));
  MatAIJPoolRelease(sum);
  MatAIJPoolRelease(d->result.a);
  d->result.a = NULL;
  PetscCall(HashGEMMDeviceRestore(C, block, a, d));
  PetscFunctionReturn(PETSC_SUCCESS);
}
