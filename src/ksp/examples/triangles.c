/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "Counts the triangles of a graph by a product of sparse matrices: with L and U the parts of the adjacency matrix A below and\n\
above the diagonal, entry (i,j) of L U is the number of vertices k < i, j next to both; summed over the edges (i,j) each triangle counts twice.\n\
  -f FILE         Matrix Market file: an entry off the diagonal is an edge; its direction does not matter\n\
  -scale S        without -f: a random graph of 2^S vertices, with hubs (R-MAT; default 10)\n\
  -edge_factor F  and F times as many edges; equal edges count once (default 8)\n\
  -complete N     without -f: the complete graph of N vertices\n\
  -mat_type TYPE  (default hashgemm)\n\
  -check          counts once more from A A with plain aij\n\
  -times 0        no times, in a form that does not change from run to run\n\
  -csv [FILE], -json [FILE]  results for other programs; without FILE on standard output, in place of the text\n\n";

#include <petscmat.h>
#include <petsctime.h>
#include <petscamb.h>
#include <petscambgraph.h>

#include "ksp/examples/commandline.h"

/* A number in [0,1) that depends on k alone */
static PetscReal Uniform(unsigned long long k)
{
  unsigned long long z = k * 0x9E3779B97F4A7C15ULL + 0x9E3779B97F4A7C15ULL;

  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return (PetscReal)((double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0);
}

static PetscErrorCode AddEdge(Mat A, PetscInt i, PetscInt j)
{
  PetscFunctionBeginUser;
  if (i == j) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSetValue(A, i, j, 1, INSERT_VALUES));
  PetscCall(MatSetValue(A, j, i, 1, INSERT_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every process makes its share of the edges */
static PetscErrorCode Generate(Mat A, PetscInt n, PetscInt scale, PetscInt factor, PetscBool complete)
{
  const PetscInt64 edges = complete ? (PetscInt64)n * n : (PetscInt64)factor * n;
  PetscMPIInt      rank, size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (PetscInt64 e = rank; e < edges; e += size) {
    PetscInt i = 0, j = 0;

    if (complete) {
      i = (PetscInt)(e / n);
      j = (PetscInt)(e % n);
    } else {
      for (PetscInt s = 0; s < scale; s++) {
        const PetscReal u = Uniform((unsigned long long)(e * scale + s));

        i = 2 * i + (u >= 0.76);
        j = 2 * j + ((u >= 0.57 && u < 0.76) || u >= 0.95);
      }
    }
    PetscCall(AddEdge(A, i, j));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The edges of a file, in both directions, without loops and without values */
static PetscErrorCode FromFile(Mat A, Mat file)
{
  PetscInt first, last;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(file, &first, &last));
  for (PetscInt r = first; r < last; r++) {
    PetscInt        n;
    const PetscInt *j;

    PetscCall(MatGetRow(file, r, &n, &j, NULL));
    for (PetscInt k = 0; k < n; k++) PetscCall(AddEdge(A, r, j[k]));
    PetscCall(MatRestoreRow(file, r, &n, &j, NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NewMatrix(PetscInt n, const char type[], Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetType(*A, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Graph(const char type[], Mat *A)
{
  Mat       file = NULL;
  PetscInt  n = 0, scale = 10, factor = 8;
  PetscBool given, complete;
  char      name[PETSC_MAX_PATH_LEN];

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-f", name, sizeof(name), &given));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-complete", &n, &complete));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-scale", &scale, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-edge_factor", &factor, NULL));
  PetscCheck(scale > 0 && scale < 31 && factor > 0 && n >= 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-scale %" PetscInt_FMT " is 1 to 30, -edge_factor %" PetscInt_FMT " and -complete %" PetscInt_FMT " are positive", scale, factor, n);
  if (given) {
    PetscInt m;

    PetscCall(MatCreate(PETSC_COMM_WORLD, &file));
    PetscCall(MatSetType(file, MATAIJ));
    PetscCall(MatLoadMatrixMarket(file, name));
    PetscCall(MatGetSize(file, &m, &n));
    PetscCheck(m == n, PETSC_COMM_WORLD, PETSC_ERR_ARG_SIZ, "%s: %" PetscInt_FMT " x %" PetscInt_FMT ", but the matrix of a graph is square", name, m, n);
  } else if (!complete) n = (PetscInt)1 << scale;
  PetscCall(NewMatrix(n, type, A));
  PetscCall(MatSetUp(*A));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  if (file) PetscCall(FromFile(*A, file));
  else PetscCall(Generate(*A, n, scale, factor, complete));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatDestroy(&file));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The entries of A on one side of the diagonal */
static PetscErrorCode Triangle(Mat A, const char type[], PetscBool lower, Mat *T)
{
  PetscInt     first, last, n, *i, *j;
  PetscScalar *a;
  PetscCount   nz = 0, k = 0;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(NewMatrix(n, type, T));
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt r = first; r < last; r++) {
    PetscInt length;

    PetscCall(MatGetRow(A, r, &length, NULL, NULL));
    nz += length;
    PetscCall(MatRestoreRow(A, r, &length, NULL, NULL));
  }
  PetscCall(PetscMalloc3(nz, &i, nz, &j, nz, &a));
  for (PetscInt r = first; r < last; r++) {
    PetscInt        length;
    const PetscInt *col;

    PetscCall(MatGetRow(A, r, &length, &col, NULL));
    for (PetscInt q = 0; q < length; q++) {
      if ((lower && col[q] >= r) || (!lower && col[q] <= r)) continue;
      i[k]   = r;
      j[k]   = col[q];
      a[k++] = 1;
    }
    PetscCall(MatRestoreRow(A, r, &length, &col, NULL));
  }
  PetscCall(MatSetPreallocationCOO(*T, k, i, j));
  PetscCall(MatSetValuesCOO(*T, a, INSERT_VALUES));
  PetscCall(PetscFree3(i, j, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sum of the entries of C at the positions where A has an entry */
static PetscErrorCode SumWhere(Mat C, Mat A, PetscInt64 *sum)
{
  PetscInt first, last;

  PetscFunctionBeginUser;
  *sum = 0;
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt r = first; r < last; r++) {
    PetscInt           nc, na, q = 0;
    const PetscInt    *jc, *ja;
    const PetscScalar *c;

    PetscCall(MatGetRow(C, r, &nc, &jc, &c));
    PetscCall(MatGetRow(A, r, &na, &ja, NULL));
    for (PetscInt k = 0; k < na; k++) {
      while (q < nc && jc[q] < ja[k]) q++;
      if (q < nc && jc[q] == ja[k]) *sum += (PetscInt64)(PetscRealPart(c[q]) + 0.5);
    }
    PetscCall(MatRestoreRow(A, r, &na, &ja, NULL));
    PetscCall(MatRestoreRow(C, r, &nc, &jc, &c));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPIU_INT64, MPI_SUM, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run(PetscBool *right)
{
  Mat            A, L, U, C;
  MatInfo        info;
  PetscInt       n;
  PetscInt64     count, again;
  PetscLogDouble t0, t1, t2;
  PetscBool      check = PETSC_FALSE, times = PETSC_TRUE;
  char           type[64] = MATHASHGEMM;

  PetscFunctionBeginUser;
  PetscCall(PetscAMBInitializePackage());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mat_type", type, sizeof(type), NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-check", &check, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-times", &times, NULL));
  PetscCall(Graph(type, &A));
  PetscCall(Triangle(A, type, PETSC_TRUE, &L));
  PetscCall(Triangle(A, type, PETSC_FALSE, &U));
  PetscCall(PetscTime(&t0));
  PetscCall(MatMatMult(L, U, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(PetscTime(&t1));
  PetscCall(SumWhere(C, A, &count));
  PetscCall(PetscTime(&t2));
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " vertices, %.0f edges, %" PetscInt64_FMT " triangles\n", n, info.nz_used / 2, count / 2));
  if (times) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: product %.4g s, sum over the edges %.4g s\n", type, t1 - t0, t2 - t1));
  PetscCall(CommandAdd("type", type, 0));
  PetscCall(CommandAdd("vertices", NULL, n));
  PetscCall(CommandAdd("edges", NULL, info.nz_used / 2));
  PetscCall(CommandAdd("triangles", NULL, (double)(count / 2)));
  PetscCall(CommandAdd("product_s", NULL, t1 - t0));
  PetscCall(CommandAdd("sum_s", NULL, t2 - t1));
  PetscCall(MatDestroy(&C));
  if (check) {
    Mat plain;

    PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &plain));
    PetscCall(MatMatMult(plain, plain, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
    PetscCall(SumWhere(C, plain, &again));
    *right = (PetscBool)(again == 3 * count);
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "counted from A A: %s\n", *right ? "the same" : "ANOTHER NUMBER"));
    PetscCall(MatDestroy(&C));
    PetscCall(MatDestroy(&plain));
  }
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&L));
  PetscCall(MatDestroy(&U));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *const own[] = {"f", "scale", "edge_factor", "complete", "check", "times", "csv", "json"};

  return CommandMain("triangles", argc, argv, help, PETSC_STATIC_ARRAY_LENGTH(own), own, Run);
}

/*TEST

  testset:
    requires: double
    nsize: {{1 2 3}}
    args: -times 0 -check -mat_type {{aij hashgemm amb}}
    test:
      suffix: rmat
      args: -scale 8
      output:
        256 vertices, 1303 edges, 4012 triangles
        counted from A A: the same
    test:
      suffix: complete
      args: -complete 40
      output:
        40 vertices, 780 edges, 9880 triangles
        counted from A A: the same

TEST*/
