/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "Breadth-first search from several vertices at once: the frontiers are the columns of a tall, skinny matrix F. The next frontiers\n\
are those of A^T F, without the vertices that were reached before.\n\
  -f FILE        Matrix Market file: an entry (i,j) is an edge from i to j\n\
  -n N           without -f: an N x N grid, whose levels are known and checked (default 30)\n\
  -sources K     vertices to start from, evenly spread (default 8)\n\
  -mat_type TYPE (default hashgemm)\n\
  -times 0       no times, in a form that does not change from run to run\n\
  -csv [FILE], -json [FILE]  results for other programs; without FILE on standard output, in place of the text\n\n";

#include <petscmat.h>
#include <petsctime.h>
#include <petscamb.h>
#include <petscambgraph.h>

#include "ksp/examples/commandline.h"

static PetscErrorCode Grid(PetscInt n, const char type[], Mat *A)
{
  PetscInt first, last;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSeqAIJSetPreallocation(*A, 4, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 4, NULL, 4, NULL));
  PetscCall(MatGetOwnershipRange(*A, &first, &last));
  for (PetscInt r = first; r < last; r++) {
    if (r % n > 0) PetscCall(MatSetValue(*A, r, r - 1, 1, INSERT_VALUES));
    if (r % n < n - 1) PetscCall(MatSetValue(*A, r, r + 1, 1, INSERT_VALUES));
    if (r >= n) PetscCall(MatSetValue(*A, r, r - n, 1, INSERT_VALUES));
    if (r < n * n - n) PetscCall(MatSetValue(*A, r, r + n, 1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Marks the vertices that next reaches for the first time with their level, and makes them the frontier; *reached is their number on all processes */
static PetscErrorCode Frontier(Mat A, Mat next, PetscInt k, PetscInt level, PetscInt levels[], Mat *F, PetscInt64 *reached)
{
  PetscInt     first, last, m, M;
  PetscInt    *i, *j;
  PetscScalar *a;
  PetscCount   nz = 0, n = 0;
  MatType      type;

  PetscFunctionBeginUser;
  PetscCall(MatGetType(A, &type));
  PetscCall(MatGetOwnershipRange(next, &first, &last));
  for (PetscInt r = first; r < last; r++) {
    PetscInt length;

    PetscCall(MatGetRow(next, r, &length, NULL, NULL));
    nz += length;
    PetscCall(MatRestoreRow(next, r, &length, NULL, NULL));
  }
  PetscCall(PetscMalloc3(nz, &i, nz, &j, nz, &a));
  for (PetscInt r = first; r < last; r++) {
    PetscInt        length;
    const PetscInt *col;

    PetscCall(MatGetRow(next, r, &length, &col, NULL));
    for (PetscInt q = 0; q < length; q++) {
      PetscInt *at = levels + (r - first) * k + col[q];

      if (*at >= 0) continue;
      *at    = level;
      i[n]   = r;
      j[n]   = col[q];
      a[n++] = 1;
    }
    PetscCall(MatRestoreRow(next, r, &length, &col, NULL));
  }
  PetscCall(MatGetLocalSize(next, &m, NULL));
  PetscCall(MatGetSize(next, &M, NULL));
  PetscCall(MatCreate(PETSC_COMM_WORLD, F));
  PetscCall(MatSetSizes(*F, m, PETSC_DECIDE, M, k));
  PetscCall(MatSetType(*F, type));
  PetscCall(MatSetPreallocationCOO(*F, n, i, j));
  PetscCall(MatSetValuesCOO(*F, a, INSERT_VALUES));
  PetscCall(PetscFree3(i, j, a));
  *reached = n;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, reached, 1, MPIU_INT64, MPI_SUM, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt Source(PetscInt c, PetscInt k, PetscInt n)
{
  return (PetscInt)((PetscInt64)c * n / k);
}

/* Makes the first frontier: one entry in each column, at its source */
static PetscErrorCode Sources(Mat A, PetscInt k, Mat *S)
{
  PetscInt m, n, first, last;
  MatType  type;

  PetscFunctionBeginUser;
  PetscCall(MatGetType(A, &type));
  PetscCall(MatGetLocalSize(A, &m, NULL));
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(MatCreate(PETSC_COMM_WORLD, S));
  PetscCall(MatSetSizes(*S, m, PETSC_DECIDE, n, k));
  PetscCall(MatSetType(*S, type));
  PetscCall(MatSeqAIJSetPreallocation(*S, k, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*S, k, NULL, k, NULL));
  PetscCall(MatGetOwnershipRange(*S, &first, &last));
  for (PetscInt c = 0; c < k; c++) {
    if (Source(c, k, n) >= first && Source(c, k, n) < last) PetscCall(MatSetValue(*S, Source(c, k, n), c, 1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*S, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*S, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On a grid the level is the distance along its lines */
static PetscErrorCode CheckGrid(Mat A, PetscInt side, PetscInt k, const PetscInt levels[], PetscBool *right)
{
  PetscInt   n, first, last;
  PetscInt64 wrong = 0;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt r = first; r < last; r++) {
    for (PetscInt c = 0; c < k; c++) {
      const PetscInt s = Source(c, k, n);

      wrong += levels[(r - first) * k + c] != PetscAbs(r % side - s % side) + PetscAbs(r / side - s / side);
    }
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPIU_INT64, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt64_FMT " of the levels are wrong\n", wrong));
  *right = (PetscBool)!wrong;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run(PetscBool *right)
{
  Mat            A, T, F, next;
  PetscInt       n = 30, k = 8, M, N, m, level = 0, *levels;
  PetscInt64     reached, all = 0;
  PetscLogDouble t0, t1, products = 0;
  PetscBool      given, times = PETSC_TRUE;
  char           type[64] = MATHASHGEMM, name[PETSC_MAX_PATH_LEN];

  PetscFunctionBeginUser;
  PetscCall(PetscAMBInitializePackage());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-f", name, sizeof(name), &given));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mat_type", type, sizeof(type), NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-sources", &k, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-times", &times, NULL));
  PetscCheck(n > 0 && n <= 40000 && k > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-n %" PetscInt_FMT " is 1 to 40000, -sources %" PetscInt_FMT " at least 1", n, k);
  if (given) {
    PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
    PetscCall(MatSetType(A, type));
    PetscCall(MatLoadMatrixMarket(A, name));
  } else PetscCall(Grid(n, type, &A));
  PetscCall(MatGetSize(A, &M, &N));
  PetscCheck(M == N && M > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_SIZ, "%" PetscInt_FMT " x %" PetscInt_FMT ", but the matrix of a graph is square and has rows", M, N);
  PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &T));
  PetscCall(MatGetLocalSize(A, &m, NULL));
  PetscCall(PetscMalloc1(m * k, &levels));
  for (PetscInt q = 0; q < m * k; q++) levels[q] = -1;
  PetscCall(Sources(A, k, &next));
  PetscCall(Frontier(A, next, k, level, levels, &F, &reached));
  PetscCall(MatDestroy(&next));
  while (reached) {
    all += reached;
    level++;
    PetscCall(PetscTime(&t0));
    PetscCall(MatMatMult(T, F, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &next));
    PetscCall(PetscTime(&t1));
    products += t1 - t0;
    PetscCall(MatDestroy(&F));
    PetscCall(Frontier(A, next, k, level, levels, &F, &reached));
    PetscCall(MatDestroy(&next));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " vertices, %" PetscInt_FMT " sources: %" PetscInt64_FMT " reached in %" PetscInt_FMT " levels\n", M, k, all, level - 1));
  if (!given) PetscCall(CheckGrid(A, n, k, levels, right));
  if (times) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: products %.4g s\n", type, products));
  PetscCall(CommandAdd("type", type, 0));
  PetscCall(CommandAdd("vertices", NULL, M));
  PetscCall(CommandAdd("sources", NULL, k));
  PetscCall(CommandAdd("reached", NULL, (double)all));
  PetscCall(CommandAdd("levels", NULL, level - 1));
  PetscCall(CommandAdd("products_s", NULL, products));
  PetscCall(PetscFree(levels));
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&T));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *const own[] = {"f", "n", "sources", "times", "csv", "json"};

  return CommandMain("bfs", argc, argv, help, PETSC_STATIC_ARRAY_LENGTH(own), own, Run);
}

/*TEST

  testset:
    nsize: {{1 2 3}}
    args: -times 0 -n 12 -mat_type {{aij hashgemm amb}}
    output:
      144 vertices, 8 sources: 1152 reached in 22 levels
      0 of the levels are wrong
    test:
      suffix: grid

TEST*/
