/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "Markov clustering of a graph: expansion, a product of the matrix with itself, and inflation, powers of its entries, take turns\n\
until every row has few entries, those of its cluster.\n\
  -f FILE           Matrix Market file: entries are similarities, taken by magnitude and made symmetric\n\
  -groups G         without -f: G groups of -group_size vertices (default 20 of 25), each with chance 1/2 of an edge within\n\
                    a group, and one edge from each group to the next\n\
  -inflation R      power of the inflation (default 2): a higher power makes smaller clusters\n\
  -prune P          smaller entries are left out (default 1e-4)\n\
  -keep K           at most so many entries stay in a row (default 1000)\n\
  -mat_type TYPE    (default hashgemm)\n\
  -times 0          no times, in a form that does not change from run to run\n\
  -csv [FILE], -json [FILE]  results for other programs; without FILE on standard output, in place of the text\n\n\
S. van Dongen, Graph clustering by flow simulation, doctoral thesis, University of Utrecht, 2000. The rows of this program are columns in that thesis.\n\n";

#include <petscmat.h>
#include <petsctime.h>
#include <petscamb.h>
#include <petscambgraph.h>

#include "ksp/examples/commandline.h"

typedef struct {
  PetscReal inflation, prune;
  PetscInt  keep;
} Parameters;

/* Entries in COO form, in any order */
typedef struct {
  PetscCount   n, capacity;
  PetscInt    *i, *j;
  PetscScalar *a;
} Entries;

static PetscErrorCode Add(Entries *e, PetscInt i, PetscInt j, PetscReal a)
{
  PetscFunctionBeginUser;
  if (e->n == e->capacity) {
    const PetscCount capacity = 2 * e->capacity + 1024;

    PetscCall(PetscRealloc(sizeof(*e->i) * capacity, &e->i));
    PetscCall(PetscRealloc(sizeof(*e->j) * capacity, &e->j));
    PetscCall(PetscRealloc(sizeof(*e->a) * capacity, &e->a));
    e->capacity = capacity;
  }
  e->i[e->n]   = i;
  e->j[e->n]   = j;
  e->a[e->n++] = a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the matrix of the entries, and frees these. Entries at the same position add up. */
static PetscErrorCode Assemble(Entries *e, PetscInt n, const char type[], Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetPreallocationCOO(*A, e->n, e->i, e->j));
  PetscCall(MatSetValuesCOO(*A, e->a, ADD_VALUES));
  PetscCall(PetscFree(e->i));
  PetscCall(PetscFree(e->j));
  PetscCall(PetscFree(e->a));
  PetscCall(PetscMemzero(e, sizeof(*e)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Graph(const char type[], Mat *A)
{
  Entries     e      = {0, 0, NULL, NULL, NULL};
  PetscInt    groups = 20, size = 25, n;
  PetscBool   given;
  PetscMPIInt rank;
  char        name[PETSC_MAX_PATH_LEN];

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-f", name, sizeof(name), &given));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-groups", &groups, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-group_size", &size, NULL));
  PetscCheck(groups > 0 && size > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-groups %" PetscInt_FMT " and -group_size %" PetscInt_FMT " are positive", groups, size);
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (given) {
    Mat      file;
    PetscInt m, first, last;

    PetscCall(MatCreate(PETSC_COMM_WORLD, &file));
    PetscCall(MatSetType(file, MATAIJ));
    PetscCall(MatLoadMatrixMarket(file, name));
    PetscCall(MatGetSize(file, &m, &n));
    PetscCheck(m == n, PETSC_COMM_WORLD, PETSC_ERR_ARG_SIZ, "%s: %" PetscInt_FMT " x %" PetscInt_FMT ", but the matrix of a graph is square", name, m, n);
    PetscCall(MatGetOwnershipRange(file, &first, &last));
    for (PetscInt r = first; r < last; r++) {
      PetscInt           length;
      const PetscInt    *j;
      const PetscScalar *a;

      PetscCall(MatGetRow(file, r, &length, &j, &a));
      for (PetscInt q = 0; q < length; q++) {
        if (j[q] == r || a[q] == 0.0) continue;
        PetscCall(Add(&e, r, j[q], PetscAbsScalar(a[q])));
        PetscCall(Add(&e, j[q], r, PetscAbsScalar(a[q])));
      }
      PetscCall(MatRestoreRow(file, r, &length, &j, &a));
    }
    PetscCall(MatDestroy(&file));
  } else {
    unsigned int random = 12345;

    n = groups * size;
    for (PetscInt g = 0; g < groups && rank == 0; g++) {
      for (PetscInt i = 0; i < size; i++) {
        for (PetscInt j = 0; j < i; j++) {
          random = random * 1664525u + 1013904223u;
          if (random >> 31) continue;
          PetscCall(Add(&e, g * size + i, g * size + j, 1));
          PetscCall(Add(&e, g * size + j, g * size + i, 1));
        }
      }
      if (g + 1 < groups) {
        PetscCall(Add(&e, g * size, (g + 1) * size, 1));
        PetscCall(Add(&e, (g + 1) * size, g * size, 1));
      }
    }
  }
  PetscCall(Assemble(&e, n, type, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The K-th greatest of n numbers; b has room for n numbers */
static PetscErrorCode Threshold(PetscInt n, const PetscReal a[], PetscInt keep, PetscReal b[], PetscReal *least)
{
  PetscFunctionBeginUser;
  *least = 0;
  if (n <= keep) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscArraycpy(b, a, n));
  PetscCall(PetscSortReal(n, b));
  *least = b[n - keep];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Raises the entries of each row to a power, scales the row to the sum one and leaves small entries out; with loops it adds the greatest entry of the row to the
   diagonal first. *chaos is the largest difference, over all rows, between the greatest entry and the sum of squares: 0 if all entries of each row are equal. */
static PetscErrorCode Inflate(Mat A, const Parameters *p, PetscReal power, PetscBool loops, Mat *B, PetscReal *chaos)
{
  Entries    e = {0, 0, NULL, NULL, NULL};
  PetscInt   first, last, n, longest = 0;
  PetscReal *v, *work;
  MatType    type;

  PetscFunctionBeginUser;
  PetscCall(MatGetType(A, &type));
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt r = first; r < last; r++) {
    PetscInt length;

    PetscCall(MatGetRow(A, r, &length, NULL, NULL));
    longest = PetscMax(longest, length);
    PetscCall(MatRestoreRow(A, r, &length, NULL, NULL));
  }
  PetscCall(PetscMalloc2(longest, &v, longest, &work));
  *chaos = 0;
  for (PetscInt r = first; r < last; r++) {
    PetscInt           length;
    const PetscInt    *j;
    const PetscScalar *a;
    PetscReal          sum = 0, most = 0, squares = 0, least, loop;

    PetscCall(MatGetRow(A, r, &length, &j, &a));
    for (PetscInt q = 0; q < length; q++) {
      v[q] = PetscPowReal(PetscRealPart(a[q]), power);
      sum += v[q];
      most = PetscMax(most, v[q]);
    }
    loop = loops ? (most > 0 ? most : 1) : 0;
    sum += loop;
    most = PetscMax(most, loop);
    PetscCall(Threshold(length, v, p->keep, work, &least));
    least = PetscMax(least, p->prune * sum);
    least = PetscMin(least, most);
    sum   = loop;
    for (PetscInt q = 0; q < length; q++) sum += v[q] >= least ? v[q] : 0;
    if (loop > 0) PetscCall(Add(&e, r, r, loop / sum));
    for (PetscInt q = 0; q < length; q++) {
      if (v[q] < least || v[q] == 0) continue;
      PetscCall(Add(&e, r, j[q], v[q] / sum));
      squares += PetscSqr(v[q] / sum);
    }
    squares += PetscSqr(loop / sum);
    *chaos = PetscMax(*chaos, most / sum - squares);
    PetscCall(MatRestoreRow(A, r, &length, &j, &a));
  }
  PetscCall(PetscFree2(v, work));
  PetscCall(Assemble(&e, n, type, B));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, chaos, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows with the same first column belong to one cluster */
static PetscErrorCode Clusters(Mat M, PetscInt *clusters, PetscInt *largest)
{
  PetscInt           n, first, last;
  Vec                members, all;
  VecScatter         scatter;
  const PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(M, &n, NULL));
  PetscCall(MatGetOwnershipRange(M, &first, &last));
  PetscCall(VecCreate(PETSC_COMM_WORLD, &members));
  PetscCall(VecSetSizes(members, last - first, n));
  PetscCall(VecSetType(members, VECSTANDARD));
  for (PetscInt r = first; r < last; r++) {
    PetscInt        length;
    const PetscInt *j;

    PetscCall(MatGetRow(M, r, &length, &j, NULL));
    if (length) PetscCall(VecSetValue(members, j[0], 1, ADD_VALUES));
    PetscCall(MatRestoreRow(M, r, &length, &j, NULL));
  }
  PetscCall(VecAssemblyBegin(members));
  PetscCall(VecAssemblyEnd(members));
  PetscCall(VecScatterCreateToAll(members, &scatter, &all));
  PetscCall(VecScatterBegin(scatter, members, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, members, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetArrayRead(all, &a));
  *clusters = *largest = 0;
  for (PetscInt k = 0; k < n; k++) {
    *clusters += PetscRealPart(a[k]) > 0.5;
    *largest = PetscMax(*largest, (PetscInt)(PetscRealPart(a[k]) + 0.5));
  }
  PetscCall(VecRestoreArrayRead(all, &a));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecDestroy(&all));
  PetscCall(VecDestroy(&members));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run(PetscBool *right)
{
  Mat            A, M, E;
  MatInfo        info;
  Parameters     p = {2, 1e-4, 1000};
  PetscInt       n, clusters = 0, largest = 0, turn = 0;
  PetscReal      chaos = 1;
  PetscLogDouble t0, t1, expansion = 0, most = 0;
  PetscBool      times    = PETSC_TRUE;
  char           type[64] = MATHASHGEMM;

  PetscFunctionBeginUser;
  PetscCall(PetscAMBInitializePackage());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mat_type", type, sizeof(type), NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-inflation", &p.inflation, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-prune", &p.prune, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-keep", &p.keep, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-times", &times, NULL));
  PetscCheck(p.inflation > 1 && p.prune >= 0 && p.prune < 1 && p.keep > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-inflation %g is more than 1, -prune %g from 0 to less than 1, -keep %" PetscInt_FMT " at least 1", (double)p.inflation, (double)p.prune, p.keep);
  PetscCall(Graph(type, &A));
  PetscCall(Inflate(A, &p, 1, PETSC_TRUE, &M, &chaos));
  PetscCall(MatDestroy(&A));
  for (chaos = 1; chaos > 1e-5 && turn < 100; turn++) {
    PetscCall(PetscTime(&t0));
    PetscCall(MatMatMult(M, M, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &E));
    PetscCall(PetscTime(&t1));
    expansion += t1 - t0;
    PetscCall(MatGetInfo(E, MAT_GLOBAL_SUM, &info));
    most = PetscMax(most, info.nz_used);
    PetscCall(MatDestroy(&M));
    PetscCall(Inflate(E, &p, p.inflation, PETSC_FALSE, &M, &chaos));
    PetscCall(MatDestroy(&E));
  }
  PetscCall(MatGetSize(M, &n, NULL));
  PetscCall(Clusters(M, &clusters, &largest));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " vertices in %" PetscInt_FMT " clusters, the largest of %" PetscInt_FMT "%s\n", n, clusters, largest, chaos > 1e-5 ? " (NOT AT REST)" : ""));
  if (times) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %" PetscInt_FMT " products %.4g s, the largest with %.0f entries\n", type, turn, expansion, most));
  PetscCall(CommandAdd("type", type, 0));
  PetscCall(CommandAdd("vertices", NULL, n));
  PetscCall(CommandAdd("clusters", NULL, clusters));
  PetscCall(CommandAdd("largest", NULL, largest));
  PetscCall(CommandAdd("products", NULL, turn));
  PetscCall(CommandAdd("products_s", NULL, expansion));
  PetscCall(CommandAdd("most_nonzeros", NULL, most));
  PetscCall(MatDestroy(&M));
  *right = (PetscBool)(chaos <= 1e-5);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *const own[] = {"f", "groups", "group_size", "inflation", "prune", "keep", "times", "csv", "json"};

  return CommandMain("mcl", argc, argv, help, PETSC_STATIC_ARRAY_LENGTH(own), own, Run);
}

/*TEST

  test:
    requires: double
    nsize: {{1 2 3}}
    args: -times 0 -mat_type {{aij hashgemm amb}}
    output:
      500 vertices in 20 clusters, the largest of 25

TEST*/
