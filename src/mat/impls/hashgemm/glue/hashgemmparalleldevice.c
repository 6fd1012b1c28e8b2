/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The local part of products of MPI matrices on the device.

   The device merges both factors, multiplies them, adds up the rows of the result that several processes contribute to, and cuts the result into blocks. The host has lists of rows and
   of ghost columns, which are surfaces, and sends what the device has packed into pinned memory; the whole pattern of the result only unless the result is deferred. Each process
   decides for itself whether it uses the device, and all together whether the result is deferred.

   While PETSc's stream computes the values of the local product, a second stream merges the pattern of exchanged rows.
*/
#include "mat/impls/hashgemm/glue/hashgemmparallel.h"

#include "mat/impls/hashgemm/glue/hashgemmdevice.h"

struct _HashGEMMDeviceParallel {
  SpgemmDevice *spgemm;
  HashGEMMRows  left, right, result;                /* memory that only new values need is freed in between */
  PetscBool     failed;                             /* there was no memory for a factor */
  int          *known, *global;                     /* ghost columns of the right factor's matrix, until the right factor has its pattern, and of q->columns */
  int          *wanted;                             /* rows of the right factor that other processes get, followed by the starts of these rows among all that go */
  int          *place;                              /* of the values that were fetched */
  PetscScalar  *in;                                 /* pinned memory that these values come to */
  int          *lists;                              /* memory of sums.row and others */
  int          *sumi, *sumj, *term, *source, *from; /* as in HashGEMMDeviceSumPattern(), and the sum of each row of this process or -1 */
  PetscScalar  *suma;
  PetscInt     *ends;   /* on the host: the starts of rows of the result that other processes get */
  HashGEMMRows  cut[2]; /* both blocks of a deferred result, until the matrix has them */
  PetscScalar  *came;   /* room for the values of rows that come, until HashGEMMDeviceSum() has added them */

  HashGEMMDeviceSums sums;
};

/* ------------------------------------------------- memory ------------------------------------------------- */

static PetscErrorCode HashGEMMDeviceAllocateOn(SysStream stream, size_t bytes, void *memory, PetscBool *done)
{
  PetscFunctionBegin;
  PetscCall(HashGEMMDeviceCheck(SysPoolAllocate(bytes, memory, stream), done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HashGEMMDeviceAllocate(size_t bytes, void *memory, PetscBool *done)
{
  PetscFunctionBegin;
  PetscCall(HashGEMMDeviceAllocateOn(PetscDefaultCudaStream, bytes, memory, done));
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

/* The ghost columns of A on the device, as its blocks number them */
static PetscErrorCode HashGEMMDeviceGetKnown(Mat A, HashGEMMDeviceParallel *d, HashGEMMDeviceColumns *c, PetscBool *done)
{
  const PetscInt *garray;
  Mat             o;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, NULL, &o, &garray));
  *c    = (HashGEMMDeviceColumns){(int)A->cmap->rstart, (int)A->cmap->n, (int)o->cmap->n, NULL};
  *done = PETSC_TRUE;
  if (!d->known) PetscCall(HashGEMMDeviceUpload(o->cmap->n * sizeof(*garray), garray, &d->known, done));
  c->global = d->known;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the n ghost columns on the device to c, and waits for the stream */
static PetscErrorCode HashGEMMDeviceFetchColumns(int n, const int *global, HashGEMMColumns *c, SysStream stream)
{
  PetscFunctionBegin;
  c->nglobal = n;
  PetscCall(PetscMalloc1(n, &c->global));
  if (n) PetscCallCUDA(cudaMemcpyAsync(c->global, global, n * sizeof(*c->global), cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscCall(PetscLogGpuToCpu(n * sizeof(*c->global)));
  c->nbelow = HashGEMMCountBelow(n, c->global, c->first);
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
    MatAIJPoolRelease(d->known);
    MatAIJPoolRelease(d->global);
    MatAIJPoolRelease(d->wanted);
    MatAIJPoolRelease(d->place);
    MatAIJPoolRelease(d->lists);
    MatAIJPoolRelease(d->sumi);
    MatAIJPoolRelease(d->sumj);
    MatAIJPoolRelease(d->term);
    MatAIJPoolRelease(d->source);
    MatAIJPoolRelease(d->from);
    MatAIJPoolRelease(d->suma);
    MatAIJPoolRelease(d->came);
  }
  PetscCall(PetscFree(d->ends));
  PetscCall(PetscFree(q->device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the lengths of the rows of B that other processes get, and lists these rows on the device. Waits for the device. */
PetscErrorCode HashGEMMDeviceGetWanted(Mat B, const PetscInt rows[], HashGEMMParallel *q, SpgemmInfo *info, SysStatus *status, PetscBool *done)
{
  HashGEMMDeviceParallel *d      = q->device;
  HashGEMMHalo           *h      = &q->fetched;
  const PetscInt          n      = h->nrun;
  const SysStream         stream = PetscDefaultCudaStream;
  HashGEMMDeviceColumns   known;
  SysCSR                  block[2];
  PetscInt               *pinned, *ends;
  int                    *dends = NULL;

  PetscFunctionBegin;
  PetscCall(HashGEMMDeviceGetBlocks(B, block));
  PetscCall(HashGEMMDeviceGetKnown(B, d, &known, done));
  h->start[0] = 0;
  if (!n || !*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatAIJPinnedMemory((size_t)n * 5 * sizeof(*pinned), &pinned));
  ends = pinned + n;
  PetscCall(HashGEMMDeviceAllocate(2 * n * sizeof(*d->wanted), &d->wanted, done));
  if (*done) PetscCall(HashGEMMDeviceAllocate(4 * n * sizeof(*dends), &dends, done));
  if (*done) {
    PetscCallCUDA(cudaStreamSynchronize(stream)); /* it may still read the pinned memory */
    PetscCall(PetscArraycpy(pinned, rows, n));
    PetscCallCUDA(cudaMemcpyAsync(d->wanted, pinned, n * sizeof(*rows), cudaMemcpyHostToDevice, stream));
    PetscCallCUDA(cudaMemsetAsync(dends, 0, 4 * n * sizeof(*dends), stream));
    for (int b = 0; b < 2 && *done; b++) {
      if (block[b].nz) PetscCall(HashGEMMDeviceCheck(HashGEMMDeviceRowEnds(n, d->wanted, block[b].i, dends + 2 * b * n, stream), done));
    }
    PetscCallCUDA(cudaMemcpyAsync(ends, dends, 4 * n * sizeof(*ends), cudaMemcpyDeviceToHost, stream));
    PetscCallCUDA(cudaStreamSynchronize(stream));
    for (PetscInt k = 0; k < 2 * n; k++) h->run[k] = ends[k] + ends[2 * n + k];
    PetscCall(HashGEMMHaloStart(h, info, status));
    PetscCall(PetscArraycpy(pinned, h->start, n));
    PetscCallCUDA(cudaMemcpyAsync(d->wanted + n, pinned, n * sizeof(*h->start), cudaMemcpyHostToDevice, stream));
    PetscCall(PetscLogGpuToCpu(4 * n * sizeof(*ends)));
    PetscCall(PetscLogCpuToGpu(2 * n * sizeof(*rows)));
  }
  MatAIJPoolRelease(dends);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Packs the columns or the values of these rows into pinned memory. in is pinned memory for the rows that come. */
static PetscErrorCode HashGEMMDevicePackWanted(Mat B, HashGEMMParallel *q, size_t size, PetscInt **columns, PetscScalar **values, void *in)
{
  HashGEMMDeviceParallel *d     = q->device;
  HashGEMMHalo           *h     = &q->fetched;
  const size_t            ngone = (size_t)h->start[h->nrun];
  HashGEMMDeviceColumns   known;
  HashGEMMDeviceSource    source = {.first = (int)B->cmap->rstart, .n = (int)B->cmap->n};
  const PetscInt         *garray;
  SysCSR                  block[2];
  PetscBool               done;
  char                   *out;
  Mat                     o;

  PetscFunctionBegin;
  PetscCall(MatAIJPinnedMemory((ngone + (size_t)h->n) * size, &out));
  *(char **)in = out + ngone * size;
  if (columns) *columns = (PetscInt *)out;
  if (values) *values = (PetscScalar *)out;
  if (!ngone) {
    PetscCallCUDA(cudaStreamSynchronize(PetscDefaultCudaStream)); /* the stream may still read what came the last time */
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(HashGEMMDeviceGetBlocks(B, block));
  PetscCall(MatMPIAIJGetSeqAIJ(B, NULL, &o, &garray));
  source.d      = block[0];
  source.o      = block[1];
  source.nbelow = (int)HashGEMMCountBelow(o->cmap->n, garray, B->cmap->rstart);
  if (columns) PetscCall(HashGEMMDeviceGetKnown(B, d, &known, &done));
  if (columns) source.global = known.global;
  PetscCall(HashGEMMDeviceCheck(HashGEMMDevicePack(&source, h->nrun, d->wanted, d->wanted + h->nrun, columns ? *columns : NULL, values ? *values : NULL, PetscDefaultCudaStream), &done));
  PetscCallCUDA(cudaStreamSynchronize(PetscDefaultCudaStream));
  PetscCall(PetscLogGpuToCpu((PetscLogDouble)(ngone * size)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Exchanges the columns of the rows that HashGEMMDeviceGetWanted() listed. *columns become those that come, valid until the next exchange. */
PetscErrorCode HashGEMMDeviceFetchRows(Mat B, HashGEMMParallel *q, PetscInt **columns)
{
  HashGEMMHalo *h = &q->fetched;
  PetscInt     *out;

  PetscFunctionBegin;
  PetscCall(HashGEMMDevicePackWanted(B, q, sizeof(*out), &out, NULL, columns));
  PetscCall(HashGEMMHaloPost(h, MPIU_INT, sizeof(*out), out, *columns, h->requests));
  PetscCallMPI(MPI_Waitall(h->nfrom + h->nto, h->requests, MPI_STATUSES_IGNORE));
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

/* Sets the columns of the right factor: the ghosts of B, and the columns of the received rows that belong to other processes */
static PetscErrorCode HashGEMMDeviceMakeColumns(Mat B, const int *columns, HashGEMMParallel *q, PetscBool *done)
{
  HashGEMMDeviceParallel *d = q->device;
  HashGEMMColumns        *c = &q->columns;
  HashGEMMDeviceColumns   known;
  int                     n;

  PetscFunctionBegin;
  PetscCall(HashGEMMDeviceGetKnown(B, d, &known, done));
  *c = (HashGEMMColumns){.first = B->cmap->rstart, .n = B->cmap->n};
  n  = known.nglobal;
  if (*done && q->fetched.n) PetscCall(HashGEMMDeviceCheck(HashGEMMDeviceListGhosts(&known, NULL, q->fetched.n, columns, (int)B->cmap->N, &d->global, &n, PetscDefaultCudaStream), done));
  else {
    d->global = d->known;
    d->known  = NULL;
  }
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HashGEMMDeviceFetchColumns(n, d->global, c, PetscDefaultCudaStream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static HashGEMMDeviceColumns HashGEMMDeviceGetColumns(const HashGEMMParallel *q)
{
  return (HashGEMMDeviceColumns){(int)q->columns.first, (int)q->columns.n, (int)q->columns.nglobal, q->device->global};
}

/* The pattern of the right factor: the rows of B that this process has, and nrow rows that came, with columns[], which are on the host. Frees what it made unless *done. */
PetscErrorCode HashGEMMDeviceMakeRight(Mat B, PetscInt nrow, const PetscInt columns[], HashGEMMParallel *q, PetscBool *done)
{
  HashGEMMDeviceParallel *d      = q->device;
  HashGEMMRows           *right  = &d->right;
  const SysStream         stream = PetscDefaultCudaStream;
  HashGEMMDeviceColumns   c;
  SysCSR                  block[2];
  PetscInt               *map  = NULL, *starts, nknown;
  int                    *dmap = NULL, *came = NULL, nz;
  const PetscInt         *known;
  Mat                     o;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(B, NULL, &o, &known));
  PetscCall(HashGEMMDeviceGetBlocks(B, block));
  nknown = o->cmap->n;
  *done  = (PetscBool)(block[0].nz + block[1].nz + q->fetched.n <= INT_MAX);
  if (*done && q->fetched.n) PetscCall(HashGEMMDeviceUpload(q->fetched.n * sizeof(*columns), columns, &came, done));
  if (*done) PetscCall(HashGEMMDeviceMakeColumns(B, came, q, done));
  if (*done && nrow <= 0 && !nknown) { /* there are no other entries */
    right->borrowed = 1;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  nz        = (int)(block[0].nz + block[1].nz);
  right->m  = block[0].m + nrow;
  right->n  = q->columns.n + q->columns.nglobal;
  right->nz = nz + q->fetched.n;
  if (*done) PetscCall(HashGEMMDeviceAllocateRows(right, done));
  if (*done) PetscCall(HashGEMMColumnsMap(&q->columns, nknown, known, &map));
  if (*done && map) PetscCall(HashGEMMDeviceUpload(nknown * sizeof(*map), map, &dmap, done));
  if (*done && q->fetched.n) PetscCall(HashGEMMDeviceAllocate(q->fetched.n * sizeof(*d->place), &d->place, done));
  if (*done) PetscCall(HashGEMMDeviceCheck(HashGEMMDeviceMerge(&block[0], &block[1], q->columns.n, dmap, right->i, right->j, NULL, stream), done));
  if (*done && nrow) {
    c = HashGEMMDeviceGetColumns(q);
    PetscCall(PetscMalloc1(nrow + 1, &starts));
    for (PetscInt r = 0; r <= nrow; r++) starts[r] = nz + q->fetched.first[r];
    PetscCallCUDA(cudaMemcpyAsync(right->i + block[0].m, starts, (nrow + 1) * sizeof(*starts), cudaMemcpyHostToDevice, stream));
    PetscCall(PetscLogCpuToGpu((nrow + 1) * sizeof(*starts)));
    PetscCall(PetscFree(starts));
    if (q->fetched.n) PetscCall(HashGEMMDeviceCheck(HashGEMMDeviceNumberRows(&c, nrow, right->i + block[0].m, came, right->j, d->place, stream), done));
  }
  if (!*done) PetscCall(PetscFree(q->columns.global));
  MatAIJPoolRelease(d->known);
  d->known = NULL;
  MatAIJPoolRelease(came);
  MatAIJPoolRelease(dmap);
  PetscCall(PetscFree(map));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the rows that came to the right factor on the host, whose own rows the caller adds */
PetscErrorCode HashGEMMDeviceCopyRight(HashGEMMParallel *q, SpgemmInfo *info, SysStatus *status)
{
  HashGEMMDeviceParallel *d = q->device;
  HashGEMMHalo           *h = &q->fetched;
  const int64_t           m = d->right.m - h->nrow, nz = d->right.nz - h->n;

  PetscFunctionBegin;
  q->right.borrowed = d->right.borrowed;
  if (d->right.borrowed) PetscFunctionReturn(PETSC_SUCCESS);
  *status = HashGEMMRowsCreate(d->right.m, d->right.n, d->right.nz, PETSC_FALSE, &q->right, info);
  if (*status) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt r = 0; r < h->nrow; r++) q->right.i[m + r + 1] = (PetscInt)nz + h->first[r + 1];
  if (!h->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaMemcpyAsync(q->right.j + nz, d->right.j + nz, h->n * sizeof(*q->right.j), cudaMemcpyDeviceToHost, PetscDefaultCudaStream));
  PetscCallCUDA(cudaMemcpyAsync(h->place, d->place, h->n * sizeof(*h->place), cudaMemcpyDeviceToHost, PetscDefaultCudaStream));
  PetscCallCUDA(cudaStreamSynchronize(PetscDefaultCudaStream));
  PetscCall(PetscArraycpy(h->values, d->in, h->n));
  PetscCall(PetscLogGpuToCpu(h->n * (sizeof(*h->place) + sizeof(*q->right.j))));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The values of the right factor, of which those that other processes have asked for are sent */
PetscErrorCode HashGEMMDeviceRightBegin(Mat B, HashGEMMParallel *q)
{
  HashGEMMDeviceParallel *d = q->device;
  PetscScalar            *out;
  SysCSR                  block[2];
  PetscBool               done;

  PetscFunctionBegin;
  PetscCall(HashGEMMDeviceGetBlocks(B, block));
  if (q->fetched.comm != MPI_COMM_NULL) {
    PetscCall(HashGEMMDevicePackWanted(B, q, sizeof(*out), NULL, &out, &d->in));
    PetscCall(HashGEMMHaloPost(&q->fetched, MPIU_SCALAR, sizeof(*out), out, d->in, q->fetched.requests));
  }
  if (d->right.borrowed) d->right = HashGEMMRowsBorrow(&block[0]);
  else PetscCall(HashGEMMDeviceCheck(HashGEMMDeviceMerge(&block[0], &block[1], q->columns.n, NULL, NULL, NULL, d->right.a, PetscDefaultCudaStream), &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HashGEMMDeviceRightEnd(HashGEMMParallel *q)
{
  HashGEMMDeviceParallel *d = q->device;
  HashGEMMHalo           *h = &q->fetched;
  PetscScalar            *values;
  PetscBool               done;

  PetscFunctionBegin;
  if (h->comm != MPI_COMM_NULL) PetscCallMPI(MPI_Waitall(h->nfrom + h->nto, h->requests, MPI_STATUSES_IGNORE));
  if (!h->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HashGEMMDeviceUpload(h->n * sizeof(*values), d->in, &values, &done));
  if (!done) d->failed = PETSC_TRUE;
  if (!done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HashGEMMDeviceCheck(HashGEMMDeviceScatter(h->n, d->place, values, d->right.a, PetscDefaultCudaStream), &done));
  MatAIJPoolRelease(values);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- the local product ------------------------------------------------- */

/* The local product. The host gets the starts of its rows from row m on. */
PetscErrorCode HashGEMMDeviceMakeResult(Mat C, SpgemmType type, PetscInt m, const HashGEMMProduct *p, HashGEMMParallel *q, PetscBool *done)
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
  q->result = (HashGEMMRows){.m = rows->m, .n = rows->n, .nz = rows->nz};
  PetscCall(PetscMalloc1(rows->m + 1 - m, &d->ends));
  PetscCall(HashGEMMDeviceFetch(d->ends, rows->i + m, (rows->m + 1 - m) * sizeof(*rows->i)));
  HashGEMMDeviceFreeRows(&d->left);
  PetscCall(HashGEMMDeviceTell(C, &info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the whole pattern to the host */
PetscErrorCode HashGEMMDeviceFetchPattern(HashGEMMParallel *q)
{
  SpgemmInfo info;

  PetscFunctionBegin;
  PetscCheck(q->result.i || !HashGEMMRowsCreate(q->result.m, q->result.n, q->result.nz, PETSC_TRUE, &q->result, &info), PETSC_COMM_SELF, PETSC_ERR_MEM, "The host lacks memory for the pattern of a product on the GPU");
  PetscCall(HashGEMMDeviceFetch(q->result.i, q->device->result.i, (q->result.m + 1) * sizeof(*q->result.i)));
  PetscCall(HashGEMMDeviceFetch(q->result.j, q->device->result.j, q->result.nz * sizeof(*q->result.j)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Queues marks of the ghost columns that occur in the first m rows. *used is NULL if memory is short. */
static PetscErrorCode HashGEMMDeviceMark(PetscInt m, HashGEMMParallel *q, char **used, SysStream stream)
{
  HashGEMMDeviceParallel *d = q->device;
  PetscBool               done;

  PetscFunctionBegin;
  *used = NULL;
  if (!q->columns.nglobal) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HashGEMMDeviceAllocateOn(stream, q->columns.nglobal, used, &done));
  if (!done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaMemsetAsync(*used, 0, q->columns.nglobal, stream));
  PetscCall(HashGEMMDeviceCheck(HashGEMMDeviceMarkUsed(m, d->result.i, d->result.j, q->columns.n, *used, stream), &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- rows of the result that belong elsewhere ------------------------------------------------- */

/* Exchanges the columns, or the values, of the rows from row m on. Entries of other processes go to there[], on the device, unless it is NULL; the others get theirs in any case. */
static PetscErrorCode HashGEMMDeviceExchange(PetscInt m, HashGEMMParallel *q, PetscBool columns, void *there, SysStream stream)
{
  HashGEMMDeviceParallel *d      = q->device;
  HashGEMMHalo           *h      = &q->sent;
  HashGEMMDeviceSource    source = {.merged = 1, .first = (int)q->columns.first, .n = (int)q->columns.n, .nbelow = (int)q->columns.nbelow, .global = d->global};
  const size_t            nout = (size_t)h->start[h->nrun], nin = (size_t)h->n, size = columns ? sizeof(PetscInt) : sizeof(PetscScalar);
  char                   *out, *in;
  PetscBool               done;

  PetscFunctionBegin;
  PetscCall(MatAIJPinnedMemory((nout + nin) * size, &out));
  in         = out + nout * size;
  source.d   = HashGEMMRowsCSR(&d->result);
  source.d.i = d->result.i + m;
  if (nout) PetscCall(HashGEMMDeviceCheck(HashGEMMDevicePack(&source, d->result.m - m, NULL, NULL, columns ? (int *)out : NULL, columns ? NULL : (PetscScalar *)out, stream), &done));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscCall(HashGEMMHaloPost(h, columns ? MPIU_INT : MPIU_SCALAR, size, out, in, h->requests));
  PetscCallMPI(MPI_Waitall(h->nto + h->nfrom, h->requests, MPI_STATUSES_IGNORE));
  if (there && nin) PetscCallCUDA(cudaMemcpyAsync(there, in, nin * size, cudaMemcpyHostToDevice, stream));
  PetscCall(PetscLogGpuToCpu((PetscLogDouble)(nout * size)));
  PetscCall(PetscLogCpuToGpu((PetscLogDouble)(nin * size)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lists the rows of this process that are sums, of which degree[r] rows come for row r, and the rows that come. Waits for the stream. */
static PetscErrorCode HashGEMMDeviceListSums(PetscInt m, const PetscInt degree[], HashGEMMParallel *q, SysStream stream, PetscBool *done)
{
  HashGEMMDeviceParallel *d = q->device;
  HashGEMMDeviceSums     *s = &d->sums;
  HashGEMMHalo           *h = &q->sent;
  PetscInt               *lists, *row, *begin, *sum, *first, *arrive, *ends;
  int                    *dends = NULL;

  PetscFunctionBegin;
  *s    = (HashGEMMDeviceSums){.ncame = (int)h->nrow, .nterm = (int)h->n};
  *done = PETSC_TRUE;
  for (PetscInt r = 0; r < m; r++) s->n += degree[r] > 0;
  if (!s->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc2(2 * s->n + 3 * s->ncame + 2, &lists, 2 * s->n, &ends));
  row    = lists;
  begin  = row + s->n;
  sum    = begin + s->n + 1;
  first  = sum + s->ncame;
  arrive = first + s->ncame + 1;
  for (PetscInt r = 0, t = 0, k = 0; r < m; r++) {
    if (!degree[r]) continue;
    for (PetscInt l = 0; l < degree[r]; l++) sum[k++] = t;
    row[t++] = r;
  }
  PetscCall(PetscArraycpy(first, h->first, s->ncame + 1));
  PetscCall(PetscArraycpy(arrive, h->arrive ? h->arrive : h->first, s->ncame));
  PetscCall(HashGEMMDeviceAllocateOn(stream, (2 * s->n + 3 * s->ncame + 2) * sizeof(*lists), &d->lists, done));
  if (*done) {
    PetscCallCUDA(cudaMemcpyAsync(d->lists, row, s->n * sizeof(*row), cudaMemcpyHostToDevice, stream));
    PetscCall(HashGEMMDeviceAllocateOn(stream, 2 * s->n * sizeof(*ends), &dends, done));
  }
  if (*done) {
    PetscCall(HashGEMMDeviceCheck(HashGEMMDeviceRowEnds(s->n, d->lists, d->result.i, dends, stream), done));
    PetscCallCUDA(cudaMemcpyAsync(ends, dends, 2 * s->n * sizeof(*ends), cudaMemcpyDeviceToHost, stream));
    PetscCallCUDA(cudaStreamSynchronize(stream));
    begin[0] = 0;
    for (int t = 0; t < s->n; t++) begin[t + 1] = begin[t] + ends[2 * t + 1] - ends[2 * t];
    s->nown = begin[s->n];
    PetscCallCUDA(cudaMemcpyAsync(d->lists + s->n, begin, (s->n + 3 * s->ncame + 2) * sizeof(*lists), cudaMemcpyHostToDevice, stream));
    PetscCall(PetscLogGpuToCpu(2 * s->n * sizeof(*ends)));
    PetscCall(PetscLogCpuToGpu((2 * s->n + 3 * s->ncame + 2) * sizeof(*lists)));
    s->row    = d->lists;
    s->begin  = d->lists + (begin - lists);
    s->sum    = d->lists + (sum - lists);
    s->first  = d->lists + (first - lists);
    s->arrive = d->lists + (arrive - lists);
  }
  SysPoolRelease(dends, stream);
  PetscCall(PetscFree2(lists, ends));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Allocates memory for HashGEMMDeviceSum() */
static PetscErrorCode HashGEMMDeviceSumRoom(HashGEMMParallel *q, PetscBool *done)
{
  HashGEMMDeviceParallel *d = q->device;

  PetscFunctionBegin;
  *done = PETSC_TRUE;
  if (!d->sums.n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HashGEMMDeviceAllocate(((int64_t)d->sums.nown + d->sums.nterm) * sizeof(*d->suma), &d->suma, done));
  if (*done) PetscCall(HashGEMMDeviceAllocate(q->sent.n * sizeof(*d->came), &d->came, done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Exchanges the values of the rows from row m on and computes the values of the sums, for which there is room or not */
static PetscErrorCode HashGEMMDeviceSum(PetscInt m, HashGEMMParallel *q, PetscBool room)
{
  HashGEMMDeviceParallel   *d    = q->device;
  const HashGEMMDeviceSums *s    = &d->sums;
  const int64_t             most = (int64_t)s->nown + s->nterm;
  PetscBool                 done;

  PetscFunctionBegin;
  PetscCall(HashGEMMDeviceExchange(m, q, PETSC_FALSE, room ? d->came : NULL, PetscDefaultCudaStream));
  if (room && s->n) {
    PetscCall(HashGEMMDeviceCheck(HashGEMMDeviceSumValues(most, d->sumi + s->n, d->term, d->source, d->result.a, d->came, d->suma, PetscDefaultCudaStream), &done));
    PetscCall(PetscLogGpuFlops((PetscLogDouble)most * PETSC_FLOPS_PER_OP));
  }
  MatAIJPoolRelease(d->came);
  d->came = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the ghosts of the result: the columns of other processes in the first m rows and in the received rows */
static PetscErrorCode HashGEMMDeviceMakeFinal(PetscInt m, const int *columns, PetscInt N, HashGEMMParallel *q, HashGEMMColumns *c, int **global, SysStream stream, PetscBool *done)
{
  const HashGEMMDeviceColumns before = HashGEMMDeviceGetColumns(q);
  char                       *used;
  int                         n = 0;

  PetscFunctionBegin;
  PetscCall(HashGEMMDeviceMark(m, q, &used, stream));
  PetscCall(HashGEMMDeviceCheck(HashGEMMDeviceListGhosts(&before, used, q->sent.n, columns, (int)N, global, &n, stream), done));
  SysPoolRelease(used, stream);
  *c = (HashGEMMColumns){.first = q->columns.first, .n = q->columns.n};
  PetscCall(HashGEMMDeviceFetchColumns(*done ? n : 0, *global, c, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the pattern of the sums to the host, which makes the pattern of the result */
static PetscErrorCode HashGEMMDeviceFetchSums(PetscInt m, const PetscInt degree[], const HashGEMMColumns *c, HashGEMMParallel *q, SysStream stream, SpgemmInfo *info, SysStatus *status)
{
  HashGEMMDeviceParallel *d = q->device;
  PetscInt               *starts;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(1, &q->sums, m, &q->from, 1, &q->piece));
  for (PetscInt r = 0; r < m; r++) q->from[r] = degree[r] ? (SysInt)q->nsum++ : -1;
  if (!q->nsum || *status) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(q->nsum + 1, &starts));
  PetscCallCUDA(cudaMemcpyAsync(starts, d->sumi, (q->nsum + 1) * sizeof(*starts), cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  *status = HashGEMMRowsCreate(q->nsum, c->n + c->nglobal, starts[q->nsum], PETSC_TRUE, &q->sum, info);
  if (!*status) {
    PetscCall(PetscArraycpy(q->sum.i, starts, q->nsum + 1));
    PetscCallCUDA(cudaMemcpyAsync(q->sum.j, d->sumj, q->sum.nz * sizeof(*q->sum.j), cudaMemcpyDeviceToHost, stream));
    PetscCallCUDA(cudaStreamSynchronize(stream));
    PetscCall(PetscLogGpuToCpu((q->nsum + 1 + q->sum.nz) * sizeof(*starts)));
  }
  PetscCall(PetscFree(starts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Exchanges the rows of the local product that belong to other processes, which are rows global[] of the layout, and adds up those that come. c gets the columns of the result, which
   has N of them in all. Columns travel while the device computes the local values. */
PetscErrorCode HashGEMMDeviceMakeSums(PetscLayout layout, const PetscInt global[], PetscInt N, HashGEMMParallel *q, HashGEMMColumns *c, SpgemmInfo *info, SysStatus *status)
{
  HashGEMMDeviceParallel     *d      = q->device;
  HashGEMMDeviceSums         *s      = &d->sums;
  const HashGEMMDeviceColumns before = HashGEMMDeviceGetColumns(q);
  const PetscInt              m      = layout->n;
  PetscInt                   *degree;
  int                        *columns = NULL, *final = NULL;
  int64_t                     most;
  PetscBool                   done, room, listed;
  SysStream                   stream;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(m, &degree));
  PetscCall(HashGEMMDeviceGetPatternStream(&stream));
  PetscCall(HashGEMMHaloOffer(layout, (PetscInt)q->result.m - m, global, d->ends, &q->sent, degree, info, status));
  PetscCall(HashGEMMDeviceListSums(m, degree, q, stream, &listed)); /* without room here, other processes exchange all the same */
  PetscCall(HashGEMMDeviceAllocateOn(stream, q->sent.n * sizeof(*columns), &columns, &room));
  PetscCall(HashGEMMDeviceExchange(m, q, PETSC_TRUE, columns, stream));
  done = (PetscBool)(room && listed);
  *c   = (HashGEMMColumns){0};
  if (done) PetscCall(HashGEMMDeviceMakeFinal(m, columns, N, q, c, &final, stream, &done));
  most = (int64_t)s->nown + s->nterm;
  if (most >= INT_MAX) {
    *status        = SYS_TOO_LARGE;
    info->nonzeros = (double)most;
  }
  if (done && s->n && !*status) {
    const HashGEMMDeviceColumns after = {before.first, before.n, (int)c->nglobal, final};

    PetscCall(HashGEMMDeviceAllocateOn(stream, (s->n + 1) * sizeof(*d->sumi), &d->sumi, &done));
    if (done) PetscCall(HashGEMMDeviceAllocateOn(stream, most * sizeof(*d->sumj), &d->sumj, &done));
    if (done) PetscCall(HashGEMMDeviceAllocateOn(stream, (most + 1) * sizeof(*d->term), &d->term, &done));
    if (done) PetscCall(HashGEMMDeviceAllocateOn(stream, most * sizeof(*d->source), &d->source, &done));
    if (done) PetscCall(HashGEMMDeviceAllocateOn(stream, m * sizeof(*d->from), &d->from, &done));
    if (done) PetscCall(HashGEMMDeviceCheck(HashGEMMDeviceInvert(m, s->n, s->row, d->from, stream), &done));
    if (done) PetscCall(HashGEMMDeviceCheck(HashGEMMDeviceSumPattern(s, &before, &after, d->result.i, d->result.j, columns, d->sumi, d->sumj, d->term, d->source, stream), &done));
    if (done) PetscCall(HashGEMMDeviceSumRoom(q, &done));
  }
  HashGEMMDeviceNote(done, (double)most * 4 * sizeof(PetscInt), info, status);
  if (!q->defer) PetscCall(HashGEMMDeviceFetchSums(m, degree, c, q, stream, info, status));
  SysPoolRelease(columns, stream);
  SysPoolRelease(final, stream);
  PetscCall(HashGEMMDeviceJoinPatternStream());
  PetscCall(HashGEMMDeviceSum(m, q, (PetscBool)(done && !*status)));
  PetscCall(PetscFree(degree));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same for new values */
PetscErrorCode HashGEMMDeviceRenewSums(PetscInt m, HashGEMMParallel *q, SpgemmInfo *info, SysStatus *status)
{
  HashGEMMDeviceParallel *d = q->device;
  PetscBool               done;

  PetscFunctionBegin;
  PetscCall(HashGEMMDeviceSumRoom(q, &done));
  PetscCall(HashGEMMDeviceSum(m, q, done));
  HashGEMMDeviceNote(done, (double)((int64_t)d->sums.nown + d->sums.nterm) * sizeof(*d->suma), info, status);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- new values ------------------------------------------------- */

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

/* ------------------------------------------------- blocks of the result ------------------------------------------------- */

/* The rows of the local product and, in place of some, the sums */
static HashGEMMDeviceCutRows HashGEMMDeviceGetCutRows(const HashGEMMDeviceParallel *d)
{
  return (HashGEMMDeviceCutRows){.i = d->result.i, .j = d->result.j, .a = d->result.a, .otheri = d->sumi, .otherj = d->sumj, .othera = d->suma, .from = d->sums.n ? d->from : NULL};
}

/* The blocks of a deferred result, whose patterns are made here; HashGEMMDeviceCut() gives them their entries. `far` columns belong to other processes. */
PetscErrorCode HashGEMMDeviceMakeBlocks(const HashGEMMCut *cut, PetscInt far, HashGEMMParallel *q, Mat block[2], SpgemmInfo *info, SysStatus *status)
{
  HashGEMMDeviceParallel *d      = q->device;
  const SysStream         stream = PetscDefaultCudaStream;
  HashGEMMDeviceCutRows   rows   = HashGEMMDeviceGetCutRows(d);
  int                    *map = NULL, nz[2] = {0, 0};
  PetscBool               done = PETSC_TRUE;

  PetscFunctionBegin;
  if (cut->map) PetscCall(HashGEMMDeviceUpload(q->columns.nglobal * sizeof(*map), cut->map, &map, &done));
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
      SysCSR csr = HashGEMMRowsCSR(&d->cut[k]);

      PetscCall(MatAIJDefer(block[k], &csr, PETSC_TRUE, PETSC_TRUE));
      d->cut[k].borrowed = !csr.i; /* by the block */
      HashGEMMDeviceFreeRows(&d->cut[k]);
    } else if (a[k]) PetscCall(MatAIJDeviceRestoreWrite(block[k], &a[k]));
  }
  if (news) PetscCall(MatAIJDeferMPI(C, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The values of C, from the local product and the sums. Does nothing unless the device has made the local product. */
PetscErrorCode HashGEMMDeviceCut(Mat C, HashGEMMParallel *q, SpgemmInfo *info, SysStatus *status)
{
  HashGEMMDeviceParallel *d = q->device;
  HashGEMMDeviceCutRows   rows;
  Mat                     block[2];
  const int              *i[2] = {NULL, NULL}, *j;
  PetscScalar            *a[2] = {NULL, NULL};
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
  rows = HashGEMMDeviceGetCutRows(d);
  HashGEMMDeviceNote(done, (double)q->result.nz * (sizeof(PetscInt) + sizeof(PetscScalar)), info, status);
  if (done) PetscCall(HashGEMMDeviceCheck(HashGEMMDeviceCutValues(&rows, C->rmap->n, i[0], i[1], a[0], a[1], PetscDefaultCudaStream), &done));
  MatAIJPoolRelease(d->suma);
  MatAIJPoolRelease(d->result.a);
  d->suma = d->result.a = NULL;
  PetscCall(HashGEMMDeviceRestore(C, block, a, d));
  PetscFunctionReturn(PETSC_SUCCESS);
}
