/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Intel MKL's inspector-executor products, found at run time: -mkl_dir DIR, $MKLROOT, an active Python environment ($VIRTUAL_ENV; MKL is
   on PyPI as "mkl"), then where the loader looks.
*/
#include "bench.h"
#include <dlfcn.h>
#if defined(_OPENMP)
  #include <omp.h>
#endif

#if defined(PETSC_USE_REAL_DOUBLE) && !defined(PETSC_USE_COMPLEX) && !defined(PETSC_USE_64BIT_INDICES)

/* The values of MKL's enumerations, from its documentation */
enum {
  MKL_SUCCESS       = 0,
  MKL_NON_TRANSPOSE = 10,
  MKL_TRANSPOSE     = 11,
  MKL_GENERAL       = 20,
  MKL_COLUMNS       = 102, /* dense matrices are stored by columns */
  MKL_THREADING_GNU = 3,
  MKL_SEQUENTIAL    = 1
};
typedef struct {
  int type, mode, diag;
} MKLDescription;

static struct {
  void *library;
  char  where[PETSC_MAX_PATH_LEN];
  int (*set_threading_layer)(int);
  void (*set_num_threads)(int);
  int (*create)(void **, int, int, int, int *, int *, int *, double *);
  int (*set_mv_hint)(void *, int, MKLDescription, int);
  int (*set_mm_hint)(void *, int, MKLDescription, int, int, int);
  int (*optimize)(void *);
  int (*mv)(int, double, void *, MKLDescription, const double *, double, double *);
  int (*mm)(int, double, void *, MKLDescription, int, const double *, int, int, double, double *, int);
  int (*spmm)(int, void *, void *, void **);
  int (*order)(void *);
  int (*destroy)(void *);
} MKL;

typedef struct {
  void *A, *squared;
} MKLData;

static const MKLDescription General = {MKL_GENERAL, 0, 0};
static const int            Calls   = 1000; /* the number of products that the inspector optimises for */

static PetscErrorCode MKLOpen(const char directory[])
{
  const char *const folder[] = {"", "lib/", "lib/intel64/"}, *const name[] = {"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so"};

  PetscFunctionBegin;
  for (int p = 0; p < 3 && !MKL.library; p++) {
    for (int n = 0; n < 3 && !MKL.library; n++) {
      if (directory) PetscCall(PetscSNPrintf(MKL.where, sizeof(MKL.where), "%s/%s%s", directory, folder[p], name[n]));
      else PetscCall(PetscSNPrintf(MKL.where, sizeof(MKL.where), "%s", name[n]));
      MKL.library = dlopen(MKL.where, RTLD_NOW | RTLD_LOCAL);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

  #define MKLSymbol(member, symbol) (*(void **)&MKL.member = dlsym(MKL.library, symbol))

static PetscErrorCode MKLFind(PetscBool *found)
{
  char      directory[PETSC_MAX_PATH_LEN];
  PetscBool given;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mkl_dir", directory, sizeof(directory), &given));
  if (!MKL.library) {
    if (given) PetscCall(MKLOpen(directory));
    else {
      if (getenv("MKLROOT")) PetscCall(MKLOpen(getenv("MKLROOT")));
      if (getenv("VIRTUAL_ENV")) PetscCall(MKLOpen(getenv("VIRTUAL_ENV")));
      PetscCall(MKLOpen(NULL));
    }
  }
  *found = PETSC_FALSE;
  if (!MKL.library) PetscFunctionReturn(PETSC_SUCCESS);
  if (!MKLSymbol(set_threading_layer, "MKL_Set_Threading_Layer") || !MKLSymbol(set_num_threads, "MKL_Set_Num_Threads")) PetscFunctionReturn(PETSC_SUCCESS);
  if (!MKLSymbol(create, "mkl_sparse_d_create_csr") || !MKLSymbol(set_mv_hint, "mkl_sparse_set_mv_hint")) PetscFunctionReturn(PETSC_SUCCESS);
  if (!MKLSymbol(optimize, "mkl_sparse_optimize")) PetscFunctionReturn(PETSC_SUCCESS);
  if (!MKLSymbol(set_mm_hint, "mkl_sparse_set_mm_hint") || !MKLSymbol(mm, "mkl_sparse_d_mm")) PetscFunctionReturn(PETSC_SUCCESS);
  if (!MKLSymbol(spmm, "mkl_sparse_spmm") || !MKLSymbol(order, "mkl_sparse_order")) PetscFunctionReturn(PETSC_SUCCESS);
  if (!MKLSymbol(mv, "mkl_sparse_d_mv") || !MKLSymbol(destroy, "mkl_sparse_destroy")) PetscFunctionReturn(PETSC_SUCCESS);
  *found = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MKLCreate(const Rows *rows, void **A)
{
  int *i = (int *)rows->i;

  PetscFunctionBegin;
  PetscCheck((*MKL.create)(A, 0, rows->m, rows->N, i, i + 1, (int *)rows->j, (double *)rows->a) == MKL_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_LIB, "mkl_sparse_d_create_csr() failed");
  (void)(*MKL.set_mv_hint)(*A, MKL_NON_TRANSPOSE, General, Calls); /* a hint may be refused */
  PetscCheck((*MKL.optimize)(*A) == MKL_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_LIB, "mkl_sparse_optimize() failed");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PeerCreate_MKL(Contender c, Case *k)
{
  MKLData    *data;
  PetscMPIInt size;
  PetscBool   found   = PETSC_FALSE;
  int         threads = 1;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)k->A), &size));
  PetscCall(MKLFind(&found));
  if (!found) PetscCall(PetscSNPrintf(c->absent, sizeof(c->absent), "no usable libmkl_rt.so: pip install mkl, then -mkl_dir DIR, MKLROOT or an active environment"));
  else if (size > 1) PetscCall(PetscSNPrintf(c->absent, sizeof(c->absent), "MKL multiplies within one process: run it on one rank, with threads"));
  if (c->absent[0]) PetscFunctionReturn(PETSC_SUCCESS);
  #if defined(_OPENMP)
  threads = omp_get_max_threads();
  #endif
  /* this program uses GNU's OpenMP; MKL's own would be a second one in the process */
  (void)(*MKL.set_threading_layer)(threads > 1 ? MKL_THREADING_GNU : MKL_SEQUENTIAL);
  (*MKL.set_num_threads)(threads);
  PetscCall(PetscNew(&data));
  c->data = data;
  PetscCall(MKLCreate(&k->rows, &data->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MKLMult(void *A, int operation, double beta, Vec x, Vec y)
{
  const PetscScalar *xa;
  PetscScalar       *ya;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(x, &xa));
  if (beta == 0.0) PetscCall(VecGetArrayWrite(y, &ya));
  else PetscCall(VecGetArray(y, &ya));
  PetscCheck((*MKL.mv)(operation, 1.0, A, General, xa, beta, ya) == MKL_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_LIB, "mkl_sparse_d_mv() failed");
  if (beta == 0.0) PetscCall(VecRestoreArrayWrite(y, &ya));
  else PetscCall(VecRestoreArray(y, &ya));
  PetscCall(VecRestoreArrayRead(x, &xa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PeerMult_MKL(Contender c, Vec x, Vec y)
{
  return MKLMult(((MKLData *)c->data)->A, MKL_NON_TRANSPOSE, 0.0, x, y);
}

static PetscErrorCode PeerMultTranspose_MKL(Contender c, Vec x, Vec y)
{
  return MKLMult(((MKLData *)c->data)->A, MKL_TRANSPOSE, 0.0, x, y);
}

static PetscErrorCode PeerMultAdd_MKL(Contender c, Vec x, Vec z, Vec y)
{
  PetscFunctionBegin;
  PetscCall(VecCopy(z, y));
  PetscCall(MKLMult(((MKLData *)c->data)->A, MKL_NON_TRANSPOSE, 1.0, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PeerConvert_MKL(Contender c, Case *k, PetscLogDouble *seconds)
{
  MKLData       *data = (MKLData *)c->data;
  PetscLogDouble t0, t1;

  PetscFunctionBegin;
  (void)(*MKL.destroy)(data->A);
  PetscCall(MachineTime(&t0));
  PetscCall(MKLCreate(&k->rows, &data->A));
  PetscCall(MachineTime(&t1));
  *seconds = t1 - t0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PeerDestroy_MKL(Contender c)
{
  MKLData *data = (MKLData *)c->data;

  PetscFunctionBegin;
  if (!data) PetscFunctionReturn(PETSC_SUCCESS);
  if (data->A) (void)(*MKL.destroy)(data->A);
  if (data->squared) (void)(*MKL.destroy)(data->squared);
  PetscCall(PetscFree(c->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sorts the rows of the result, as PETSc needs them */
static PetscErrorCode PeerSquare_MKL(Contender c, PetscLogDouble *seconds)
{
  MKLData       *data = (MKLData *)c->data;
  PetscLogDouble t0, t1;

  PetscFunctionBegin;
  if (data->squared) (void)(*MKL.destroy)(data->squared);
  data->squared = NULL;
  PetscCall(MachineTime(&t0));
  PetscCheck((*MKL.spmm)(MKL_NON_TRANSPOSE, data->A, data->A, &data->squared) == MKL_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_LIB, "mkl_sparse_spmm() failed");
  PetscCheck((*MKL.order)(data->squared) == MKL_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_LIB, "mkl_sparse_order() failed");
  PetscCall(MachineTime(&t1));
  *seconds = t1 - t0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PeerSquareMult_MKL(Contender c, Case *k, Vec x, Vec y)
{
  return MKLMult(((MKLData *)c->data)->squared, MKL_NON_TRANSPOSE, 0.0, x, y);
}

static PetscErrorCode PeerDense_MKL(Contender c, Case *k, PetscBool transpose, PetscLogDouble *seconds)
{
  MKLData           *data      = (MKLData *)c->data;
  const int          operation = transpose ? MKL_TRANSPOSE : MKL_NON_TRANSPOSE;
  PetscBool          made;
  PetscInt           n, m;
  const PetscScalar *d;
  PetscScalar       *r;
  PetscLogDouble     t0, t1;

  PetscFunctionBegin;
  PetscCall(ContenderDense(c, k, transpose, transpose ? k->xt : k->x, &made));
  if (made) {
    (void)(*MKL.set_mm_hint)(data->A, operation, General, MKL_COLUMNS, k->columns, Calls); /* a hint may be refused */
    PetscCheck((*MKL.optimize)(data->A) == MKL_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_LIB, "mkl_sparse_optimize() failed");
    PetscCall(VecGetLocalSize(transpose ? k->yt : k->y, &m));
    PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, m, k->columns, NULL, &c->dense[1]));
  }
  PetscCall(MatDenseGetLDA(c->dense[0], &n));
  PetscCall(MatDenseGetLDA(c->dense[1], &m));
  PetscCall(MatDenseGetArrayRead(c->dense[0], &d));
  PetscCall(MatDenseGetArrayWrite(c->dense[1], &r));
  PetscCall(MachineTime(&t0));
  PetscCheck((*MKL.mm)(operation, 1.0, data->A, General, MKL_COLUMNS, d, k->columns, n, 0.0, r, m) == MKL_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_LIB, "mkl_sparse_d_mm() failed");
  PetscCall(MachineTime(&t1));
  PetscCall(MatDenseRestoreArrayWrite(c->dense[1], &r));
  PetscCall(MatDenseRestoreArrayRead(c->dense[0], &d));
  *seconds = t1 - t0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

const Peer PeerMKL = {.name = "mkl", .create = PeerCreate_MKL, .mult = PeerMult_MKL, .multtranspose = PeerMultTranspose_MKL, .multadd = PeerMultAdd_MKL, .convert = PeerConvert_MKL, .destroy = PeerDestroy_MKL, .square = PeerSquare_MKL, .squaremult = PeerSquareMult_MKL, .dense = PeerDense_MKL, .densecolumn = ContenderDenseColumn};

#else

static PetscErrorCode PeerCreate_MKL(Contender c, Case *k)
{
  return PetscSNPrintf(c->absent, sizeof(c->absent), "compared in real double precision with 32-bit indices alone");
}

static PetscErrorCode PeerDestroy_MKL(Contender c)
{
  return PETSC_SUCCESS;
}

const Peer PeerMKL = {.name = "mkl", .create = PeerCreate_MKL, .destroy = PeerDestroy_MKL};

#endif
