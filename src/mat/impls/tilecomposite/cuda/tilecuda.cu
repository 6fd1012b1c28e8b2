/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Tile-composite on a CUDA device: conversion, updates, products

   tilehost.h has the idea.
*/
#include <climits>
#include <cstdlib>
#include <cstring>
#include <new>

#include "mat/impls/tilecomposite/cuda/tilecuda.cuh"

struct _TileDevice {
  TileLayout    layout; /* figures only: its arrays are freed */
  TileView      view   = {};
  int           blocks = 0, table = 0;
  char         *memory     = NULL; /* holds all arrays of view */
  int          *from       = NULL; /* layout.nentry entries */
  AmbTransposed transposed = {};
};

/* Host memory that its destructor frees */
struct TileCopy {
  void *memory = NULL;

  ~TileCopy() { free(memory); }
};

/* Copies an array from the device */
template <typename T>
static SysStatus TileFetch(TileCopy *copy, const T *from, size_t n, const T **to, cudaStream_t stream)
{
  copy->memory = malloc(sizeof(T) * (n ? n : 1));
  if (!copy->memory) return SYS_OUT_OF_MEMORY;
  SYS_CUDA(cudaMemcpyAsync(copy->memory, from, sizeof(T) * n, cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  *to = (const T *)copy->memory;
  return SYS_SUCCESS;
}

static __global__ void TileValues(int64_t n, const int *from, const SysScalar *a, SysScalar *val)
{
  SYS_FOR_EACH(k, n) val[k] = from[k] < 0 ? 0 : a[from[k]];
}

/* Uses the given table if it is of this device and scalar type, else the default model */
static SysStatus TileChooseModel(const TileModel *given, TileModel *model, TileDevice *A)
{
  cudaDeviceProp prop;
  int            device;

  SYS_CUDA(cudaGetDevice(&device));
  SYS_CUDA(cudaGetDeviceProperties(&prop, device));
  TileModelDefault(model);
  model->warps = A->blocks * (TILE_THREADS / SYS_WARP);
  model->units = prop.multiProcessorCount;
  A->table     = given ? 2 : 0;
  if (given && given->scalar == (int)sizeof(SysScalar) && !strncmp(given->gpu, prop.name, TILE_GPU_NAME - 1)) {
    *model   = *given;
    A->table = 1;
  }
  return SYS_SUCCESS;
}

template <typename T>
static SysStatus TileBring(const T *to, const T *from, int64_t n, cudaStream_t stream)
{
  SYS_CUDA(cudaMemcpyAsync((void *)to, from, sizeof(T) * (size_t)n, cudaMemcpyHostToDevice, stream));
  return SYS_SUCCESS;
}

/* Copies the layout to the device */
static SysStatus TileUpload(TileDevice *A, TileLayout *L, cudaStream_t stream)
{
  TileView *v     = &A->view;
  SysArena  arena = {NULL, 0};

  v->nwork   = (int)L->nwork;
  v->ncol    = (int)L->ncol;
  v->nsum    = (int)L->nsum;
  v->nlong   = (int)L->nlong;
  v->ntile   = L->ntile;
  v->width   = L->params.width;
  v->nnarrow = L->nnarrow;
  for (int pass = 0; pass < 2; pass++) {
    SysArenaTake(&arena, (SysScalar **)&v->val, (size_t)L->nentry);
    SysArenaTake(&arena, &v->xs, (size_t)L->ncol);
    SysArenaTake(&arena, &v->sums, (size_t)L->nslot);
    SysArenaTake(&arena, &v->meet, 1);
    SysArenaTake(&arena, (TileWork **)&v->work, (size_t)L->nwork);
    SysArenaTake(&arena, (int **)&v->perm, (size_t)L->ncol);
    SysArenaTake(&arena, (int **)&v->target, (size_t)L->npiece);
    SysArenaTake(&arena, (int **)&v->row, (size_t)L->nsum);
    SysArenaTake(&arena, (int **)&v->slot, (size_t)L->nsum + 1);
    SysArenaTake(&arena, (uint16_t **)&v->narrow, (size_t)L->nnarrow);
    SysArenaTake(&arena, (uint32_t **)&v->wide, (size_t)(L->nentry - L->nnarrow));
    SysArenaTake(&arena, (uint16_t **)&v->piece, (size_t)L->ncoo);
    SysArenaTake(&arena, &A->from, (size_t)L->nentry);
    if (pass) break;
    SYS_CALL(SysArenaAllocate(&arena));
    A->memory = arena.memory;
  }
  SYS_CUDA(cudaMemsetAsync(v->meet, 0, sizeof(*v->meet), stream));
  SYS_CALL(TileBring(v->work, L->work, L->nwork, stream));
  SYS_CALL(TileBring(v->perm, L->perm, L->ncol, stream));
  SYS_CALL(TileBring(v->target, L->target, L->npiece, stream));
  SYS_CALL(TileBring(v->row, L->row, L->nsum, stream));
  SYS_CALL(TileBring(v->slot, L->slot, L->nsum + 1, stream));
  SYS_CALL(TileBring(v->narrow, L->narrow, L->nnarrow, stream));
  SYS_CALL(TileBring(v->wide, L->wide, L->nentry - L->nnarrow, stream));
  SYS_CALL(TileBring(v->piece, L->piece, L->ncoo, stream));
  SYS_CALL(TileBring((const int *)A->from, L->from, L->nentry, stream));
  SYS_CUDA(cudaStreamSynchronize(stream)); /* the host's arrays are freed next */
  return SYS_SUCCESS;
}

static SysStatus TileConvert(TileDevice *A, const SysCSR *csr, const TileParams *params, const TileModel *given, double most, int *regular, cudaStream_t stream)
{
  TileCopy   i, j;
  SysCSR     host = {csr->m, csr->n, csr->nz, NULL, NULL, NULL};
  TileModel  model;
  TileLayout L;
  SysStatus  status;

  SYS_CALL(TileBlocks(&A->blocks));
  SYS_CALL(TileChooseModel(given, &model, A));
  SYS_CALL(TileFetch(&i, csr->i, (size_t)csr->m + 1, &host.i, stream));
  SYS_CALL(TileFetch(&j, csr->j, (size_t)csr->nz, &host.j, stream));
  *regular = most > 0 && TileIsRegular(&host);
  if (*regular) return SYS_TOO_MANY_BYTES;
  if (most > 0) {
    double bytes;

    SYS_CALL(TileLayoutCreate(&host, params, &model, 1, 1, &L));
    bytes = TileLayoutBytes(&L);
    TileLayoutDestroy(&L);
    if (bytes > most) return SYS_TOO_MANY_BYTES;
  }
  SYS_CALL(TileLayoutCreate(&host, params, &model, 0, 1, &L));
  status    = L.nentry >= (int64_t)INT_MAX * SYS_WARP || L.nwork >= INT_MAX ? SYS_TOO_LARGE : TileUpload(A, &L, stream);
  A->layout = L;
  TileLayoutDestroy(&L);
  A->layout.perm   = NULL;
  A->layout.work   = NULL;
  A->layout.target = A->layout.row = A->layout.slot = A->layout.from = NULL;
  A->layout.narrow = A->layout.piece = NULL;
  A->layout.wide                     = NULL;
  return status ? status : TileDeviceUpdate(A, csr, stream);
}

SysStatus TileDeviceCreate(const SysCSR *csr, const TileParams *params, const TileModel *model, double most, int *regular, SysStream stream, TileDevice **out)
{
  TileDevice *A = NULL;
  SysStatus   status;

  *out     = NULL;
  *regular = 0;
  if (csr->m >= INT_MAX || csr->n >= INT_MAX || csr->nz >= INT_MAX) return SYS_TOO_LARGE;
  A = new (std::nothrow) TileDevice;
  if (!A) return SYS_OUT_OF_MEMORY;
  A->layout = TileLayout{};
  status    = TileConvert(A, csr, params, model, most, regular, stream);
  if (status) TileDeviceDestroy(A);
  else *out = A;
  return status;
}

SysStatus TileDeviceUpdate(void *data, const SysCSR *csr, SysStream stream)
{
  TileDevice *A = (TileDevice *)data;

  A->transposed.stale = 1;
  if (!A->layout.nentry) return SYS_SUCCESS;
  return SysLaunch(TileValues, SysBlocksLoop(A->layout.nentry), SYS_THREADS, 0, stream, A->layout.nentry, A->from, csr->a, (SysScalar *)A->view.val);
}

SysStatus TileDeviceMult(void *data, const SysCSR *csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream stream)
{
  const TileDevice *A = (const TileDevice *)data;

  if (!csr->m) return SYS_SUCCESS;
  return TileLaunch(&A->view, A->blocks, alpha, x, beta, y, z, stream);
}

SysStatus TileDeviceMultTranspose(void *data, const SysCSR *csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream stream)
{
  TileDevice *A = (TileDevice *)data;

  return AmbTransposedMult(&A->transposed, csr, 0, alpha, x, beta, y, z, stream);
}

const TileLayout *TileDeviceLayout(const TileDevice *A)
{
  return &A->layout;
}

double TileDeviceExtra(const TileDevice *A)
{
  return AmbTransposedBytes(&A->transposed);
}

int TileDeviceTable(const TileDevice *A)
{
  return A->table;
}

void TileDeviceDestroy(void *data)
{
  TileDevice *A = (TileDevice *)data;

  if (!A) return;
  (void)cudaFree(A->memory);
  AmbTransposedDestroy(&A->transposed);
  delete A;
}
