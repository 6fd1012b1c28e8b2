/* SPDX-License-Identifier: BSD-2-Clause */
/*
   SuiteSparse:GraphBLAS, found at run time: -graphblas_lib FILE, or where the loader looks (Debian: libgraphblas7). Its vectors are
   filled and read outside the timed product.
*/
#include "bench.h"
#include <dlfcn.h>

#if defined(PETSC_USE_REAL_DOUBLE) && !defined(PETSC_USE_COMPLEX)

typedef unsigned long long GrBIndex; /* 64 bits, by the specification of GraphBLAS */

static struct {
  void *library, *FP64, *plus_times, *transposed;
  int (*init)(int);
  int (*matrix_import)(void **, void *, GrBIndex, GrBIndex, const GrBIndex *, const GrBIndex *, const double *, GrBIndex, GrBIndex, GrBIndex, int);
  int (*matrix_free)(void **);
  int (*matrix_new)(void **, void *, GrBIndex, GrBIndex);
  int (*matrix_nrows)(GrBIndex *, void *);
  int (*matrix_wait)(void *, int);
  int (*mxm)(void *, void *, void *, void *, void *, void *, void *);
  int (*vector_new)(void **, void *, GrBIndex);
  int (*vector_import)(void **, void *, GrBIndex, void **, GrBIndex, _Bool, void *);
  int (*vector_extract)(GrBIndex *, double *, GrBIndex *, void *);
  int (*vector_free)(void **);
  int (*mxv)(void *, void *, void *, void *, void *, void *, void *);
} GrB;

typedef struct {
  void *A, *x, *y, *squared;
} GrBData;

  #define PetscCallGrB(...) \
    do { \
      int grb_info = (__VA_ARGS__); \
      PetscCheck(!grb_info, PETSC_COMM_SELF, PETSC_ERR_LIB, "GraphBLAS returned %d", grb_info); \
    } while (0)

/* A function, or the value of a variable */
  #define GrBSymbol(member, symbol) (*(void **)&GrB.member = dlsym(GrB.library, symbol))

static void *GrBValue(const char symbol[])
{
  void **p = (void **)dlsym(GrB.library, symbol);

  return p ? *p : NULL;
}

static PetscErrorCode GrBFind(PetscBool *found)
{
  const char *const name[] = {"libgraphblas.so", "libgraphblas.so.7", "libgraphblas.so.9", "libgraphblas.so.10"};
  char              path[PETSC_MAX_PATH_LEN];
  PetscBool         given;

  PetscFunctionBegin;
  *found = GrB.plus_times ? PETSC_TRUE : PETSC_FALSE;
  if (*found) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscOptionsGetString(NULL, NULL, "-graphblas_lib", path, sizeof(path), &given));
  if (given) GrB.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  for (int n = 0; !given && n < 4 && !GrB.library; n++) GrB.library = dlopen(name[n], RTLD_NOW | RTLD_LOCAL);
  if (!GrB.library) PetscFunctionReturn(PETSC_SUCCESS);
  if (!GrBSymbol(init, "GrB_init") || !GrBSymbol(matrix_import, "GrB_Matrix_import_FP64") || !GrBSymbol(matrix_free, "GrB_Matrix_free")) PetscFunctionReturn(PETSC_SUCCESS);
  if (!GrBSymbol(vector_new, "GrB_Vector_new") || !GrBSymbol(vector_import, "GxB_Vector_import_Full") || !GrBSymbol(vector_free, "GrB_Vector_free")) PetscFunctionReturn(PETSC_SUCCESS);
  if (!GrBSymbol(matrix_new, "GrB_Matrix_new") || !GrBSymbol(matrix_nrows, "GrB_Matrix_nrows") || !GrBSymbol(matrix_wait, "GrB_Matrix_wait") || !GrBSymbol(mxm, "GrB_mxm")) PetscFunctionReturn(PETSC_SUCCESS);
  if (!GrBSymbol(vector_extract, "GrB_Vector_extractTuples_FP64") || !GrBSymbol(mxv, "GrB_mxv")) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallGrB((*GrB.init)(1)); /* 1: blocking, so that a product is done when it returns */
  GrB.FP64       = GrBValue("GrB_FP64");
  GrB.transposed = GrBValue("GrB_DESC_T0");
  GrB.plus_times = GrBValue("GrB_PLUS_TIMES_SEMIRING_FP64");
  *found         = GrB.plus_times ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PeerCreate_GraphBLAS(Contender c, Case *k)
{
  const Rows *rows = &k->rows;
  GrBData    *data;
  GrBIndex   *i, *j;
  PetscMPIInt size;
  PetscBool   found;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)k->A), &size));
  PetscCall(GrBFind(&found));
  if (!found) PetscCall(PetscSNPrintf(c->absent, sizeof(c->absent), "no usable libgraphblas.so: install libgraphblas-dev, or -graphblas_lib FILE"));
  else if (size > 1) PetscCall(PetscSNPrintf(c->absent, sizeof(c->absent), "GraphBLAS multiplies within one process: run it on one rank, with threads"));
  else if (!rows->i[rows->m]) PetscCall(PetscSNPrintf(c->absent, sizeof(c->absent), "GraphBLAS imports no matrix without entries"));
  if (c->absent[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&data));
  PetscCall(PetscMalloc2(rows->m + 1, &i, rows->i[rows->m], &j));
  for (PetscInt r = 0; r <= rows->m; r++) i[r] = (GrBIndex)rows->i[r];
  for (PetscInt e = 0; e < rows->i[rows->m]; e++) j[e] = (GrBIndex)rows->j[e];
  PetscCallGrB((*GrB.matrix_import)(&data->A, GrB.FP64, (GrBIndex)rows->M, (GrBIndex)rows->N, i, j, rows->a, (GrBIndex)rows->m + 1, (GrBIndex)rows->i[rows->m], (GrBIndex)rows->i[rows->m], 0));
  PetscCall(PetscFree2(i, j));
  c->data  = data;
  c->bytes = 16.0 * k->shape.nonzeros + 8.0 * (k->shape.M + 1); /* its indices have 64 bits */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PeerLoad_GraphBLAS(Contender c, Vec x)
{
  GrBData           *data = (GrBData *)c->data;
  const PetscScalar *xa;
  PetscInt           n;
  void              *copy;

  PetscFunctionBegin;
  if (data->x) PetscCallGrB((*GrB.vector_free)(&data->x));
  PetscCall(VecGetSize(x, &n));
  copy = malloc((size_t)PetscMax(n, 1) * sizeof(double)); /* GraphBLAS frees it */
  PetscCheck(copy, PETSC_COMM_SELF, PETSC_ERR_MEM, "No memory for a vector of GraphBLAS");
  PetscCall(VecGetArrayRead(x, &xa));
  memcpy(copy, xa, (size_t)n * sizeof(double));
  PetscCall(VecRestoreArrayRead(x, &xa));
  PetscCallGrB((*GrB.vector_import)(&data->x, GrB.FP64, (GrBIndex)n, &copy, (GrBIndex)n * sizeof(double), 0, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GrBMult(Contender c, void *A, Vec y, void *descriptor)
{
  GrBData *data = (GrBData *)c->data;

  PetscFunctionBegin;
  if (!data->y) {
    PetscInt m;

    PetscCall(VecGetSize(y, &m));
    PetscCallGrB((*GrB.vector_new)(&data->y, GrB.FP64, (GrBIndex)m));
  }
  PetscCallGrB((*GrB.mxv)(data->y, NULL, NULL, GrB.plus_times, A, data->x, descriptor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PeerMult_GraphBLAS(Contender c, Vec x, Vec y)
{
  return GrBMult(c, ((GrBData *)c->data)->A, y, NULL);
}

static PetscErrorCode PeerMultTranspose_GraphBLAS(Contender c, Vec x, Vec y)
{
  return GrBMult(c, ((GrBData *)c->data)->A, y, GrB.transposed);
}

static PetscErrorCode PeerFetch_GraphBLAS(Contender c, Vec y)
{
  GrBData     *data = (GrBData *)c->data;
  PetscScalar *ya;
  double      *v;
  GrBIndex    *i, entries;
  PetscInt     m;

  PetscFunctionBegin;
  PetscCall(VecGetSize(y, &m));
  entries = (GrBIndex)m;
  PetscCall(PetscMalloc2(m, &i, m, &v));
  PetscCallGrB((*GrB.vector_extract)(i, v, &entries, data->y));
  PetscCall(VecGetArrayWrite(y, &ya));
  PetscCall(PetscArrayzero(ya, m)); /* rows without entries have none in the result either */
  for (GrBIndex e = 0; e < entries; e++) ya[i[e]] = v[e];
  PetscCall(VecRestoreArrayWrite(y, &ya));
  PetscCall(PetscFree2(i, v));
  PetscCallGrB((*GrB.vector_free)(&data->y)); /* the next product may be of another shape */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PeerDestroy_GraphBLAS(Contender c)
{
  GrBData *data = (GrBData *)c->data;

  PetscFunctionBegin;
  if (!data) PetscFunctionReturn(PETSC_SUCCESS);
  if (data->x) PetscCallGrB((*GrB.vector_free)(&data->x));
  if (data->y) PetscCallGrB((*GrB.vector_free)(&data->y));
  if (data->A) PetscCallGrB((*GrB.matrix_free)(&data->A));
  if (data->squared) PetscCallGrB((*GrB.matrix_free)(&data->squared));
  PetscCall(PetscFree(c->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* GrB_wait() sorts the rows of the result */
static PetscErrorCode PeerSquare_GraphBLAS(Contender c, PetscLogDouble *seconds)
{
  GrBData       *data = (GrBData *)c->data;
  PetscLogDouble t0, t1;
  GrBIndex       n;

  PetscFunctionBegin;
  if (data->squared) PetscCallGrB((*GrB.matrix_free)(&data->squared));
  PetscCallGrB((*GrB.matrix_nrows)(&n, data->A));
  PetscCall(MachineTime(&t0));
  PetscCallGrB((*GrB.matrix_new)(&data->squared, GrB.FP64, n, n));
  PetscCallGrB((*GrB.mxm)(data->squared, NULL, NULL, GrB.plus_times, data->A, data->A, NULL));
  PetscCallGrB((*GrB.matrix_wait)(data->squared, 1));
  PetscCall(MachineTime(&t1));
  *seconds = t1 - t0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PeerSquareMult_GraphBLAS(Contender c, Case *k, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(GrBMult(c, ((GrBData *)c->data)->squared, y, NULL));
  PetscCall(PeerFetch_GraphBLAS(c, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const Peer PeerGraphBLAS = {.name = "graphblas", .create = PeerCreate_GraphBLAS, .mult = PeerMult_GraphBLAS, .multtranspose = PeerMultTranspose_GraphBLAS, .load = PeerLoad_GraphBLAS, .fetch = PeerFetch_GraphBLAS, .destroy = PeerDestroy_GraphBLAS, .square = PeerSquare_GraphBLAS, .squaremult = PeerSquareMult_GraphBLAS};

#else

static PetscErrorCode PeerCreate_GraphBLAS(Contender c, Case *k)
{
  return PetscSNPrintf(c->absent, sizeof(c->absent), "compared in real double precision alone");
}

static PetscErrorCode PeerDestroy_GraphBLAS(Contender c)
{
  return PETSC_SUCCESS;
}

const Peer PeerGraphBLAS = {.name = "graphblas", .create = PeerCreate_GraphBLAS, .destroy = PeerDestroy_GraphBLAS};

#endif
