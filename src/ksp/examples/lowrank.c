/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "Guesses ratings: a matrix of users and items, of which few entries are known, becomes a product U V^T of low rank. U and V are found by turns,\n\
each by some steps of conjugate gradients for least squares over the known entries. A step is MatSDDMM(), for the entries of U V^T that are known, and a\n\
product of a sparse and a dense matrix. A tenth of the entries is held back, and shows how good a guess is. All is on the host.\n\
  -f FILE           Matrix Market file with the ratings; if all of its entries are equal, ratings are made up\n\
  -users M          without -f: users (default 600)\n\
  -items N          without -f: items (default 400)\n\
  -known K          without -f: ratings of a user (default 30)\n\
  -rank R           columns of U and V (default 8)\n\
  -regular L        weight of the squares of U and V (default 3)\n\
  -epochs E         (default 8)\n\
  -fit_ksp_max_it S steps for U, and for V, of an epoch (default 4)\n\
  -mat_type TYPE    (default amb)\n\
  -times 0          no times\n\
  -csv [FILE], -json [FILE]  results for other programs; without FILE on standard output, in place of the text\n\n\
Y. Koren, R. Bell, C. Volinsky, Matrix factorization techniques for recommender systems, IEEE Computer 42, 2009.\n\n";

#include <petscksp.h>
#include <petsctime.h>
#include <petscamb.h>

#include "ksp/examples/commandline.h"

#define HIDDEN 4 /* rank of generated ratings */

/* Uniform in -1 to 1, the same on any number of processes */
static PetscReal Number(PetscInt i, PetscInt k)
{
  unsigned int h = (unsigned int)i * 2654435761u + (unsigned int)k * 40503u + 12345u;

  h ^= h >> 15;
  h *= 2246822519u;
  h ^= h >> 13;
  h *= 3266489917u;
  h ^= h >> 16;
  return (PetscReal)(h & 0xffffff) / (PetscReal)0x800000 - 1;
}

/* ------------------------------------------------- ratings ------------------------------------------------- */

/* A made-up rating: tastes of a hidden rank, and noise of 0.14 in the mean of squares */
static PetscReal MadeUp(PetscInt i, PetscInt j)
{
  PetscReal r = (PetscReal)3.5 + (PetscReal)0.25 * Number(i, j + 17);

  for (PetscInt k = 0; k < HIDDEN; k++) r += Number(i, -1 - k) * Number(j, -101 - k);
  return r;
}

/* The entries of the rows of this process: to learn from, or held back */
typedef struct {
  PetscInt     n, *i, *j;
  PetscScalar *a;
} Entries;

static PetscErrorCode EntriesAllocate(PetscInt n, Entries *e)
{
  PetscFunctionBeginUser;
  e->n = 0;
  PetscCall(PetscMalloc3(n, &e->i, n, &e->j, n, &e->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void Add(Entries e[2], PetscInt i, PetscInt j, PetscReal a)
{
  Entries *to = &e[Number(j, i + 5) > (PetscReal)0.8]; /* a tenth of the numbers is greater */

  to->i[to->n]   = i;
  to->j[to->n]   = j;
  to->a[to->n++] = a;
}

static PetscErrorCode Assemble(const PetscInt size[4], const Entries *e, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, size[0], size[1], size[2], size[3]));
  PetscCall(ExampleSetType(*A));
  PetscCall(MatShadowSetDevice(*A, MAT_SHADOW_DEVICE_CPU)); /* the vectors are on the host */
  PetscCall(MatSetPreallocationCOO(*A, e->n, e->i, e->j));
  PetscCall(MatSetValuesCOO(*A, e->a, INSERT_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All entries of a file, or made up; size gets the local and global numbers of rows and columns */
static PetscErrorCode Load(const char name[], PetscInt size[4], Entries e[2])
{
  Mat       file;
  MatInfo   info;
  PetscInt  r0, r1;
  PetscReal least = PETSC_MAX_REAL, most = PETSC_MIN_REAL;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &file));
  PetscCall(MatSetType(file, MATAIJ));
  PetscCall(MatLoadMatrixMarket(file, name));
  PetscCall(MatGetLocalSize(file, &size[0], &size[1]));
  PetscCall(MatGetSize(file, &size[2], &size[3]));
  PetscCall(MatGetOwnershipRange(file, &r0, &r1));
  PetscCall(MatGetInfo(file, MAT_LOCAL, &info));
  for (int k = 0; k < 2; k++) PetscCall(EntriesAllocate((PetscInt)info.nz_used, &e[k]));
  for (int pass = 0; pass < 2; pass++) { /* the first pass sees whether the entries differ */
    for (PetscInt i = r0; i < r1; i++) {
      PetscInt           n;
      const PetscInt    *j;
      const PetscScalar *a;

      PetscCall(MatGetRow(file, i, &n, &j, &a));
      for (PetscInt k = 0; k < n; k++) {
        if (pass) Add(e, i, j[k], least < most ? PetscRealPart(a[k]) : MadeUp(i, j[k]));
        else {
          least = PetscMin(least, PetscRealPart(a[k]));
          most  = PetscMax(most, PetscRealPart(a[k]));
        }
      }
      PetscCall(MatRestoreRow(file, i, &n, &j, &a));
    }
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPIU_REAL, MPIU_MIN, PETSC_COMM_WORLD));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  }
  if (!(least < most)) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "the file has no ratings: the program generates them\n"));
  PetscCall(MatDestroy(&file));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Generate(PetscInt size[4], Entries e[2])
{
  PetscInt M = 600, N = 400, known = 30, r0 = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-users", &M, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-items", &N, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-known", &known, NULL));
  PetscCheck(M > 0 && known > 0 && known <= N, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-users and -known are 1 or more, and -items is not less than -known");
  size[0] = size[1] = PETSC_DECIDE;
  size[2]           = M;
  size[3]           = N;
  PetscCall(PetscSplitOwnership(PETSC_COMM_WORLD, &size[0], &size[2]));
  PetscCall(PetscSplitOwnership(PETSC_COMM_WORLD, &size[1], &size[3]));
  PetscCallMPI(MPI_Exscan(&size[0], &r0, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  for (int k = 0; k < 2; k++) PetscCall(EntriesAllocate(size[0] * known, &e[k]));
  for (PetscInt i = r0; i < r0 + size[0]; i++) {
    for (PetscInt k = 0; k < known; k++) { /* one of each of `known` groups of items */
      const PetscInt first = k * N / known, next = (k + 1) * N / known;
      const PetscInt j = first + (PetscInt)((Number(i, 7 * k + 3) + 1) / 2 * (PetscReal)(next - first));

      Add(e, i, PetscMin(j, next - 1), MadeUp(i, PetscMin(j, next - 1)));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- least squares ------------------------------------------------- */

/* A dense matrix that borrows the array of a vector */
typedef struct {
  Mat                D;
  Vec                v;
  const PetscScalar *read;
  PetscScalar       *write;
} Factor;

/* Sparse matrices of the known entries: the ratings, the entries of U V^T, and ones */
enum {
  RATINGS,
  GUESSES,
  ONES,
  SPARSE
};

typedef struct {
  Mat       sparse[SPARSE];
  Factor    factor[2], result[SPARSE][2]; /* U and V, sides 0 and 1; A V and A^T U for each sparse matrix A */
  PetscReal regular;
  PetscInt  side; /* of the factor that is sought */
  KSP       ksp[2];
  Mat       A[2];
  Vec       diagonal[2], rhs[2];
} Fit;

static PetscErrorCode PlaceRead(Factor *f, Vec v)
{
  PetscFunctionBeginUser;
  f->v = v;
  PetscCall(VecGetArrayRead(v, &f->read));
  PetscCall(MatDensePlaceArray(f->D, f->read));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PlaceWrite(Factor *f, Vec v)
{
  PetscFunctionBeginUser;
  f->v = v;
  PetscCall(VecGetArrayWrite(v, &f->write));
  PetscCall(MatDensePlaceArray(f->D, f->write));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Take(Factor *f)
{
  const PetscScalar *a;

  PetscFunctionBeginUser;
  if (f->write) { /* copies a product from the GPU to the placed array */
    PetscCall(MatDenseGetArrayRead(f->D, &a));
    PetscCall(MatDenseRestoreArrayRead(f->D, &a));
  }
  PetscCall(MatDenseResetArray(f->D));
  if (f->write) PetscCall(VecRestoreArrayWrite(f->v, &f->write));
  else PetscCall(VecRestoreArrayRead(f->v, &f->read));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = A V for side 0, A^T U for side 1; the other factor is in place */
static PetscErrorCode Multiply(Fit *fit, int which, PetscInt side, Vec y)
{
  Factor *result = &fit->result[which][side];

  PetscFunctionBeginUser;
  PetscCall(PlaceWrite(result, y));
  if (side) PetscCall(MatTransposeMatMult(fit->sparse[which], fit->factor[0].D, MAT_REUSE_MATRIX, PETSC_DEFAULT, &result->D));
  else PetscCall(MatMatMult(fit->sparse[which], fit->factor[1].D, MAT_REUSE_MATRIX, PETSC_DEFAULT, &result->D));
  PetscCall(Take(result));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix of the least squares for one factor x: with G, the known entries of x V^T, y = G V + regular x; or y = G^T U + regular x for the known entries of U x^T */
static PetscErrorCode MatMult_Fit(Mat A, Vec x, Vec y)
{
  Fit *fit;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(A, &fit));
  PetscCall(PlaceRead(&fit->factor[fit->side], x));
  PetscCall(MatSDDMM(fit->sparse[RATINGS], fit->factor[0].D, fit->factor[1].D, PETSC_FALSE, MAT_REUSE_MATRIX, &fit->sparse[GUESSES]));
  PetscCall(Take(&fit->factor[fit->side]));
  PetscCall(Multiply(fit, GUESSES, fit->side, y));
  PetscCall(VecAXPY(y, fit->regular, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGetDiagonal_Fit(Mat A, Vec d)
{
  Fit *fit;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(A, &fit));
  PetscCall(VecCopy(fit->diagonal[fit->side], d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A dense matrix of n rows and K columns, and a vector of as many numbers */
static PetscErrorCode FactorCreate(PetscInt n, PetscInt N, PetscInt K, Factor *f, Vec *v)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, n, PETSC_DECIDE, N, K, NULL, &f->D));
  PetscCall(VecCreate(PETSC_COMM_WORLD, v));
  PetscCall(VecSetSizes(*v, n * K, N * K));
  PetscCall(VecSetType(*v, VECSTANDARD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Conjugate gradients with the diagonal as preconditioner */
static PetscErrorCode SolverCreate(Mat A, KSP *ksp)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOptionsPrefix(*ksp, "fit_"));
  PetscCall(KSPSetType(*ksp, KSPCG));
  PetscCall(KSPSetInitialGuessNonzero(*ksp, PETSC_TRUE));
  PetscCall(KSPSetTolerances(*ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 4));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* U begins with 0, V with random numbers */
static PetscErrorCode FitCreate(PetscInt K, PetscReal regular, Fit *fit, Vec v[2])
{
  const Mat R = fit->sparse[RATINGS];

  PetscFunctionBeginUser;
  fit->regular = regular;
  for (PetscInt side = 0; side < 2; side++) {
    PetscInt     n, N, n0;
    PetscScalar *a;

    PetscCall(side ? MatGetLocalSize(R, NULL, &n) : MatGetLocalSize(R, &n, NULL));
    PetscCall(side ? MatGetSize(R, NULL, &N) : MatGetSize(R, &N, NULL));
    PetscCall(side ? MatGetOwnershipRangeColumn(R, &n0, NULL) : MatGetOwnershipRange(R, &n0, NULL));
    PetscCall(FactorCreate(n, N, K, &fit->factor[side], &v[side]));
    PetscCall(VecDuplicate(v[side], &fit->diagonal[side]));
    PetscCall(VecDuplicate(v[side], &fit->rhs[side]));
    PetscCall(MatCreateShell(PETSC_COMM_WORLD, n * K, n * K, N * K, N * K, fit, &fit->A[side]));
    PetscCall(MatShellSetOperation(fit->A[side], MATOP_MULT, (void (*)(void))MatMult_Fit));
    PetscCall(MatShellSetOperation(fit->A[side], MATOP_GET_DIAGONAL, (void (*)(void))MatGetDiagonal_Fit));
    PetscCall(SolverCreate(fit->A[side], &fit->ksp[side]));
    PetscCall(VecGetArrayWrite(v[side], &a));
    for (PetscInt r = 0; r < n; r++) {
      for (PetscInt k = 0; k < K; k++) a[r + k * n] = side * Number(n0 + r, 1000 + k);
    }
    PetscCall(VecRestoreArrayWrite(v[side], &a));
  }
  PetscCall(MatDuplicate(R, MAT_DO_NOT_COPY_VALUES, &fit->sparse[GUESSES]));
  for (int k = 0; k < SPARSE; k++) {
    PetscCall(MatMatMult(fit->sparse[k], fit->factor[1].D, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &fit->result[k][0].D));
    PetscCall(MatTransposeMatMult(fit->sparse[k], fit->factor[0].D, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &fit->result[k][1].D));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FitDestroy(Fit *fit)
{
  PetscFunctionBeginUser;
  for (PetscInt side = 0; side < 2; side++) {
    for (int k = 0; k < SPARSE; k++) PetscCall(MatDestroy(&fit->result[k][side].D));
    PetscCall(MatDestroy(&fit->factor[side].D));
    PetscCall(MatDestroy(&fit->A[side]));
    PetscCall(VecDestroy(&fit->diagonal[side]));
    PetscCall(VecDestroy(&fit->rhs[side]));
    PetscCall(KSPDestroy(&fit->ksp[side]));
  }
  for (int k = 0; k < SPARSE; k++) PetscCall(MatDestroy(&fit->sparse[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes one factor better while the other one stays. The diagonal for the entry (i, k) of U is regular + the sum over known (i, j) of v_jk^2. */
static PetscErrorCode Improve(Fit *fit, PetscInt side, Vec v[2])
{
  const PetscInt other = 1 - side;
  Vec            squares;

  PetscFunctionBeginUser;
  fit->side = side;
  PetscCall(VecDuplicate(v[other], &squares));
  PetscCall(VecPointwiseMult(squares, v[other], v[other]));
  PetscCall(PlaceRead(&fit->factor[other], squares));
  PetscCall(Multiply(fit, ONES, side, fit->diagonal[side]));
  PetscCall(Take(&fit->factor[other]));
  PetscCall(VecShift(fit->diagonal[side], fit->regular));
  PetscCall(VecDestroy(&squares));
  PetscCall(PlaceRead(&fit->factor[other], v[other]));
  PetscCall(Multiply(fit, RATINGS, side, fit->rhs[side]));
  PetscCall(MatAssemblyBegin(fit->A[side], MAT_FINAL_ASSEMBLY)); /* the preconditioner gets a new diagonal */
  PetscCall(MatAssemblyEnd(fit->A[side], MAT_FINAL_ASSEMBLY));
  PetscCall(KSPSolve(fit->ksp[side], fit->rhs[side], v[side]));
  PetscCall(Take(&fit->factor[other]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The root of the mean square of the differences between U V^T and the entries of A. O has the pattern of A. */
static PetscErrorCode Deviation(Fit *fit, Vec v[2], Mat A, Mat *O, PetscReal *rms)
{
  MatInfo info;

  PetscFunctionBeginUser;
  for (int side = 0; side < 2; side++) PetscCall(PlaceRead(&fit->factor[side], v[side]));
  PetscCall(MatSDDMM(A, fit->factor[0].D, fit->factor[1].D, PETSC_FALSE, *O ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, O));
  for (int side = 0; side < 2; side++) PetscCall(Take(&fit->factor[side]));
  PetscCall(MatAXPY(*O, -1, A, SAME_NONZERO_PATTERN));
  PetscCall(MatNorm(*O, NORM_FROBENIUS, rms));
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  *rms /= PetscSqrtReal(PetscMax((PetscReal)info.nz_used, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run(PetscBool *right)
{
  PetscInt       rank = 8, epochs = 8, size[4];
  PetscReal      regular = 3, sum[2] = {0, 0}, rms[2];
  PetscBool      given, times        = PETSC_TRUE;
  char           name[PETSC_MAX_PATH_LEN];
  Entries        e[2];
  Mat            held, guesses = NULL;
  Fit            fit;
  Vec            v[2];
  PetscLogDouble t0, t1, least = PETSC_MAX_REAL;

  PetscFunctionBeginUser;
  PetscCall(PetscAMBInitializePackage());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-f", name, sizeof(name), &given));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-rank", &rank, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-epochs", &epochs, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-regular", &regular, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-times", &times, NULL));
  PetscCheck(rank >= 1 && epochs >= 1 && regular > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-rank and -epochs are 1 or more, and -regular is positive");
  if (given) PetscCall(Load(name, size, e));
  else PetscCall(Generate(size, e));
  for (PetscInt k = 0; k < e[0].n; k++) sum[0] += PetscRealPart(e[0].a[k]);
  sum[1] = (PetscReal)e[0].n;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  sum[0] /= PetscMax(sum[1], 1);
  for (int k = 0; k < 2; k++) {
    for (PetscInt q = 0; q < e[k].n; q++) e[k].a[q] -= sum[0];
    PetscCall(Assemble(size, &e[k], k ? &held : &fit.sparse[RATINGS]));
  }
  for (PetscInt q = 0; q < e[0].n; q++) e[0].a[q] = 1;
  PetscCall(Assemble(size, &e[0], &fit.sparse[ONES]));
  for (int k = 0; k < 2; k++) PetscCall(PetscFree3(e[k].i, e[k].j, e[k].a));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " users, %" PetscInt_FMT " items, %.0f ratings to learn from, mean %.2f\n", size[2], size[3], (double)sum[1], (double)sum[0]));
  PetscCall(FitCreate(rank, regular, &fit, v));
  for (PetscInt k = 1; k <= epochs; k++) {
    PetscCall(PetscTime(&t0));
    for (PetscInt side = 0; side < 2; side++) PetscCall(Improve(&fit, side, v));
    PetscCall(Deviation(&fit, v, fit.sparse[RATINGS], &fit.sparse[GUESSES], &rms[0]));
    PetscCall(PetscTime(&t1));
    PetscCall(Deviation(&fit, v, held, &guesses, &rms[1]));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "epoch %2" PetscInt_FMT ": root of the mean square %.3f, of entries held back %.3f\n", k, (double)rms[0], (double)rms[1]));
    PetscCall(CommandAdd("epoch", NULL, k));
    PetscCall(CommandAdd("rms", NULL, (double)rms[0]));
    PetscCall(CommandAdd("rms_held_back", NULL, (double)rms[1]));
    PetscCall(CommandAdd("epoch_s", NULL, t1 - t0));
    least = PetscMin(least, t1 - t0);
  }
  if (times) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "an epoch: %.4f s\n", least));
  *right = (PetscBool)!PetscIsInfOrNanReal(rms[0]);
  for (int side = 0; side < 2; side++) PetscCall(VecDestroy(&v[side]));
  PetscCall(FitDestroy(&fit));
  PetscCall(MatDestroy(&guesses));
  PetscCall(MatDestroy(&held));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *const own[] = {"f", "users", "items", "known", "rank", "regular", "epochs", "times", "csv", "json"};

  return CommandMain("lowrank", argc, argv, help, PETSC_STATIC_ARRAY_LENGTH(own), own, Run);
}

/*TEST

  testset:
    requires: double !complex
    args: -times 0 -malloc_dump
    output:
      600 users, 400 items, 16254 ratings to learn from, mean 3.50
      epoch  1: root of the mean square 0.569, of entries held back 0.662
      epoch  2: root of the mean square 0.392, of entries held back 0.530
      epoch  3: root of the mean square 0.256, of entries held back 0.345
      epoch  4: root of the mean square 0.229, of entries held back 0.290
      epoch  5: root of the mean square 0.228, of entries held back 0.281
      epoch  6: root of the mean square 0.228, of entries held back 0.279
      epoch  7: root of the mean square 0.228, of entries held back 0.278
      epoch  8: root of the mean square 0.228, of entries held back 0.278
    test:
      nsize: {{1 2}}
      args: -mat_type {{aij amb}}
    test:
      suffix: cuda
      requires: cuda
      args: -mat_type aijcusparse

TEST*/
