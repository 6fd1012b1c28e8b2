/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Operations that create matrices, in all ways in which PETSc lets a program do so
*/
#include "differ.h"
#include <petscdmda.h>

/* A shape from the two spaces, square ones of the first more often */
typedef struct {
  PetscInt   space[2], bs[2], n[2], first[2];
  DifferFill fill;
} Shape;

static PetscErrorCode ShapeDraw(DifferStep *s, Shape *h)
{
  const DifferPool *pool = s->pool;
  const PetscInt    kind = DifferDraw(s, 6);

  PetscFunctionBeginUser;
  h->space[0] = kind == 4 || kind == 5;
  h->space[1] = kind == 3 || kind == 5;
  for (int k = 0; k < 2; k++) {
    h->bs[k]    = pool->bs[h->space[k]];
    h->n[k]     = pool->n[h->space[k]];
    h->first[k] = 0;
    PetscCallMPI(MPI_Exscan(&h->n[k], &h->first[k], 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  }
  DifferFillDraw(s, pool->N[h->space[0]], pool->N[h->space[1]], h->bs[0], h->bs[1], &h->fill);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix with sizes, mostly with block sizes, and a type */
static PetscErrorCode Begin(DifferStep *s, const Shape *h, Mat *A)
{
  const PetscInt blocks = DifferDraw(s, 4);

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, h->n[0], h->n[1], h->fill.M, h->fill.N));
  if (blocks) PetscCall(MatSetBlockSizes(*A, h->bs[0], h->bs[1]));
  PetscCall(MatSetFromOptions(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lengths of the rows in both blocks, and the longest of each */
static PetscErrorCode Lengths(const Shape *h, PetscInt **diag, PetscInt **off, PetscInt longest[2])
{
  PetscInt *cols;

  PetscFunctionBeginUser;
  longest[0] = longest[1] = 0;
  PetscCall(PetscMalloc1(2 * h->fill.N + 16, &cols));
  PetscCall(PetscCalloc2(h->n[0], diag, h->n[0], off));
  for (PetscInt i = 0; i < h->n[0]; i++) {
    const PetscInt n = DifferFillRow(&h->fill, h->first[0] + i, cols);

    for (PetscInt k = 0; k < n; k++) ++*((cols[k] >= h->first[1] && cols[k] < h->first[1] + h->n[1] ? *diag : *off) + i);
    longest[0] = PetscMax(longest[0], (*diag)[i]);
    longest[1] = PetscMax(longest[1], (*off)[i]);
  }
  PetscCall(PetscFree(cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows from first, in several calls if they are long */
static PetscErrorCode SetRows(const Shape *h, Mat A, PetscInt first, PetscInt n, InsertMode mode)
{
  PetscInt    *cols;
  PetscScalar *values;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(2 * h->fill.N + 16, &cols, 2 * h->fill.N + 16, &values));
  for (PetscInt i = first; i < first + n; i++) {
    const PetscInt length = DifferFillRow(&h->fill, i, cols);

    for (PetscInt k = 0; k < length; k++) values[k] = DifferFillValue(&h->fill, i, cols[k]);
    PetscCall(MatSetValues(A, 1, &i, length, cols, values, mode));
  }
  PetscCall(PetscFree2(cols, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CSR(const Shape *h, PetscInt **i, PetscInt **j, PetscScalar **a)
{
  PetscInt *cols, nz = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(2 * h->fill.N + 16, &cols));
  for (PetscInt r = 0; r < h->n[0]; r++) nz += DifferFillRow(&h->fill, h->first[0] + r, cols);
  PetscCall(PetscMalloc3(h->n[0] + 1, i, nz, j, nz, a));
  (*i)[0] = nz = 0;
  for (PetscInt r = 0; r < h->n[0]; r++) {
    const PetscInt n = DifferFillRow(&h->fill, h->first[0] + r, cols);

    for (PetscInt k = 0; k < n; k++) {
      (*j)[nz]   = cols[k];
      (*a)[nz++] = DifferFillValue(&h->fill, h->first[0] + r, cols[k]);
    }
    (*i)[r + 1] = nz;
  }
  PetscCall(PetscFree(cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- entry by entry ------------------------------------------------- */

static PetscErrorCode Preallocated(DifferStep *s)
{
  Shape     h;
  PetscInt *diag, *off, longest[2];
  Mat       A;

  PetscFunctionBeginUser;
  PetscCall(ShapeDraw(s, &h));
  PetscCall(Begin(s, &h, &A));
  PetscCall(Lengths(&h, &diag, &off, longest));
  switch (DifferDraw(s, 4)) {
  case 0:
    PetscCall(MatSeqAIJSetPreallocation(A, 0, diag)); /* the wrong length on several processes, and not used */
    PetscCall(MatMPIAIJSetPreallocation(A, 0, diag, 0, off));
    break;
  case 1:
    for (PetscInt i = 0; i < h.n[0]; i++) diag[i] += h.n[0] > 0;
    PetscCall(MatSeqAIJSetPreallocation(A, 0, diag));
    PetscCall(MatMPIAIJSetPreallocation(A, 0, diag, 0, off));
    PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    break;
  case 2:
    PetscCall(MatSeqAIJSetPreallocation(A, longest[0], NULL));
    PetscCall(MatMPIAIJSetPreallocation(A, longest[0], NULL, longest[1], NULL));
    break;
  default:
    PetscCall(MatSetUp(A));
    PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  }
  PetscCall(PetscFree2(diag, off));
  PetscCall(SetRows(&h, A, h.first[0], h.n[0], DifferDraw(s, 2) ? INSERT_VALUES : ADD_VALUES));
  PetscCall(DifferAssemble(A));
  PetscCall(DifferGive(s, PETSC_TRUE, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of another process, in two assemblies with a flush in between */
static PetscErrorCode OffProcess(DifferStep *s)
{
  Shape       h;
  PetscMPIInt rank, size;
  PetscInt    n, first;
  Mat         A;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(ShapeDraw(s, &h));
  PetscCall(Begin(s, &h, &A));
  PetscCall(MatSetUp(A));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  first = rank * (h.fill.M / size); /* whoever they belong to */
  n     = rank == size - 1 ? h.fill.M - first : h.fill.M / size;
  PetscCall(SetRows(&h, A, first, n, ADD_VALUES));
  if (DifferDraw(s, 2)) {
    PetscCall(MatAssemblyBegin(A, MAT_FLUSH_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FLUSH_ASSEMBLY));
    PetscCall(SetRows(&h, A, first, n, ADD_VALUES));
  }
  PetscCall(DifferAssemble(A));
  PetscCall(DifferGive(s, PETSC_TRUE, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Assembled with no entries at first, then filled */
static PetscErrorCode Twice(DifferStep *s)
{
  Shape h;
  Mat   A;

  PetscFunctionBeginUser;
  PetscCall(ShapeDraw(s, &h));
  PetscCall(Begin(s, &h, &A));
  PetscCall(MatSetUp(A));
  PetscCall(DifferAssemble(A));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATIONS, PETSC_TRUE));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(SetRows(&h, A, h.first[0], h.n[0], ADD_VALUES));
  PetscCall(DifferAssemble(A));
  PetscCall(DifferGive(s, PETSC_TRUE, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Blocked(DifferStep *s)
{
  Shape        h;
  PetscInt     node, nodes;
  PetscScalar *values;
  Mat          A;

  PetscFunctionBeginUser;
  PetscCall(ShapeDraw(s, &h));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, h.n[0], h.n[1], h.fill.M, h.fill.N));
  PetscCall(MatSetBlockSizes(A, h.bs[0], h.bs[1]));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSetUp(A));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(PetscMalloc1(h.bs[0] * h.bs[1], &values));
  node  = h.first[0] / h.bs[0];
  nodes = h.fill.N / h.bs[1];
  for (PetscInt i = node; i < node + h.n[0] / h.bs[0]; i++) {
    for (PetscInt k = 0; k < PetscMin(3, nodes); k++) {
      const PetscInt j = (i + 3 * k) % nodes;

      for (PetscInt e = 0; e < h.bs[0] * h.bs[1]; e++) values[e] = TestNumber(i + h.fill.seed, 40 * j + e);
      PetscCall(MatSetValuesBlocked(A, 1, &i, 1, &j, values, ADD_VALUES));
    }
  }
  PetscCall(PetscFree(values));
  PetscCall(DifferAssemble(A));
  PetscCall(DifferGive(s, PETSC_TRUE, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* By local numbers, which go one node into the next process */
static PetscErrorCode Local(DifferStep *s)
{
  Shape       h;
  PetscInt    rows, cols;
  PetscScalar v[2];
  Mat         A;

  PetscFunctionBeginUser;
  PetscCall(ShapeDraw(s, &h));
  PetscCall(Begin(s, &h, &A));
  PetscCall(MatSetLocalToGlobalMapping(A, s->pool->map[h.space[0]], s->pool->map[h.space[1]]));
  PetscCall(MatSetUp(A));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(ISLocalToGlobalMappingGetSize(s->pool->map[h.space[0]], &rows));
  PetscCall(ISLocalToGlobalMappingGetSize(s->pool->map[h.space[1]], &cols));
  for (PetscInt i = 0; i < rows && cols; i++) {
    const PetscInt j[2] = {i % cols, (3 * i + 1) % cols};

    v[0] = TestNumber(i, h.fill.seed);
    v[1] = j[0] == j[1] ? 0 : 1 + v[0];
    PetscCall(MatSetValuesLocal(A, 1, &i, 2, j, v, ADD_VALUES));
  }
  PetscCall(DifferAssemble(A));
  PetscCall(DifferGive(s, PETSC_TRUE, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Preallocator(DifferStep *s)
{
  Shape h;
  Mat   A, p;

  PetscFunctionBeginUser;
  PetscCall(ShapeDraw(s, &h));
  PetscCall(Begin(s, &h, &A));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &p));
  PetscCall(MatSetType(p, MATPREALLOCATOR));
  PetscCall(MatSetSizes(p, h.n[0], h.n[1], h.fill.M, h.fill.N));
  PetscCall(MatSetUp(p));
  PetscCall(SetRows(&h, p, h.first[0], h.n[0], INSERT_VALUES));
  PetscCall(DifferAssemble(p));
  PetscCall(MatPreallocatorPreallocate(p, PETSC_TRUE, A));
  PetscCall(SetRows(&h, A, h.first[0], h.n[0], INSERT_VALUES));
  PetscCall(DifferAssemble(A));
  PetscCall(MatDestroy(&p));
  PetscCall(DifferGive(s, PETSC_TRUE, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A type by its full name, MPI on one process too */
static PetscErrorCode FullName(DifferStep *s)
{
  Shape       h;
  PetscInt   *diag, *off, longest[2];
  PetscMPIInt size;
  char        type[64];
  Mat         A;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(ShapeDraw(s, &h));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, h.n[0], h.n[1], h.fill.M, h.fill.N));
  PetscCall(MatSetBlockSizes(A, h.bs[0], h.bs[1]));
  PetscCall(DifferTypeName(s, size > 1 || DifferDraw(s, 3) ? 1 : 0, type, sizeof(type)));
  PetscCall(MatSetType(A, type));
  PetscCall(Lengths(&h, &diag, &off, longest));
  PetscCall(MatXAIJSetPreallocation(A, 1, diag, off, NULL, NULL));
  PetscCall(MatSeqAIJSetPreallocation(A, 0, diag));
  PetscCall(MatMPIAIJSetPreallocation(A, 0, diag, 0, off));
  PetscCall(PetscFree2(diag, off));
  PetscCall(SetRows(&h, A, h.first[0], h.n[0], INSERT_VALUES));
  PetscCall(DifferAssemble(A));
  PetscCall(DifferGive(s, PETSC_TRUE, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- at once ------------------------------------------------- */

static PetscErrorCode PreallocationCSR(DifferStep *s)
{
  Shape        h;
  PetscInt    *i, *j;
  PetscScalar *a;
  Mat          A;

  PetscFunctionBeginUser;
  PetscCall(ShapeDraw(s, &h));
  PetscCall(Begin(s, &h, &A));
  PetscCall(CSR(&h, &i, &j, &a));
  PetscCall(MatSeqAIJSetPreallocationCSR(A, i, j, a));
  PetscCall(MatMPIAIJSetPreallocationCSR(A, i, j, a));
  PetscCall(PetscFree3(i, j, a));
  PetscCall(DifferGive(s, PETSC_TRUE, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* By a function that fixes aij: a conversion makes the matrix one of the type under test, or the pair stays plain */
static PetscErrorCode WithArrays(DifferStep *s)
{
  Shape        h;
  PetscInt    *i, *j;
  PetscScalar *a;
  PetscBool    convert = (PetscBool)(DifferDraw(s, 3) > 0);
  char         type[64];
  Mat          A;

  PetscFunctionBeginUser;
  PetscCall(ShapeDraw(s, &h));
  PetscCall(CSR(&h, &i, &j, &a));
  PetscCall(MatCreateMPIAIJWithArrays(PETSC_COMM_WORLD, h.n[0], h.n[1], h.fill.M, h.fill.N, i, j, a, &A));
  PetscCall(PetscFree3(i, j, a));
  PetscCall(DifferTypeName(s, 2, type, sizeof(type)));
  if (convert) PetscCall(MatConvert(A, type, MAT_INPLACE_MATRIX, &A));
  PetscCall(DifferGive(s, convert, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateAIJ(DifferStep *s)
{
  Shape     h;
  PetscInt *diag, *off, longest[2];
  PetscBool convert = (PetscBool)(DifferDraw(s, 3) > 0);
  char      type[64];
  Mat       A;

  PetscFunctionBeginUser;
  PetscCall(ShapeDraw(s, &h));
  PetscCall(Lengths(&h, &diag, &off, longest));
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, h.n[0], h.n[1], h.fill.M, h.fill.N, 0, diag, 0, off, &A));
  PetscCall(PetscFree2(diag, off));
  PetscCall(SetRows(&h, A, h.first[0], h.n[0], INSERT_VALUES));
  PetscCall(DifferAssemble(A));
  PetscCall(DifferTypeName(s, 2, type, sizeof(type)));
  if (convert) PetscCall(MatConvert(A, type, MAT_INPLACE_MATRIX, &A));
  PetscCall(DifferGive(s, convert, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* By coordinates, some of them twice, some of other processes */
static PetscErrorCode SetCoordinates(DifferStep *s, Mat A)
{
  PetscInt     n, first, end, M, N, *i, *j;
  PetscScalar *v;
  PetscInt     seed = DifferDraw(s, 1000);

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &M, &N));
  PetscCall(PetscLayoutGetRange(A->rmap, &first, &end));
  n = M && N ? 3 * (end - first) : 0;
  PetscCall(PetscMalloc3(n, &i, n, &j, n, &v));
  for (PetscInt k = 0; k < n; k++) {
    i[k] = k % 5 == 4 ? (first + k) % M : first + k / 3;
    j[k] = TestInteger(first + k, seed, N);
    v[k] = TestNumber(first + k, seed);
  }
  PetscCall(MatSetPreallocationCOO(A, n, i, j));
  PetscCall(MatSetValuesCOO(A, v, INSERT_VALUES));
  if (DifferDraw(s, 2)) PetscCall(MatSetValuesCOO(A, v, ADD_VALUES));
  PetscCall(PetscFree3(i, j, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Coordinates(DifferStep *s)
{
  Shape h;
  Mat   A;

  PetscFunctionBeginUser;
  PetscCall(ShapeDraw(s, &h));
  PetscCall(Begin(s, &h, &A));
  PetscCall(PetscLayoutSetUp(A->rmap));
  PetscCall(PetscLayoutSetUp(A->cmap));
  PetscCall(SetCoordinates(s, A));
  DifferRound(s, 100); /* sums of entries that occur more than once */
  PetscCall(DifferGive(s, PETSC_TRUE, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In place of the entries that the matrix had. A product gets other blocks with them: PETSc would write into these when it makes the product again, and hashgemm makes
   it anew, with its block sizes. */
static PetscErrorCode CoordinatesAgain(DifferStep *s)
{
  Mat A;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ, &A);
  s->merged = PETSC_TRUE;
  if (A->product) PetscCall(MatProductClear(A));
  PetscCall(SetCoordinates(s, A));
  DifferRound(s, 100);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- from elsewhere ------------------------------------------------- */

/* Saved and loaded */
static PetscErrorCode Load(DifferStep *s)
{
  Mat  A, B;
  char path[PETSC_MAX_PATH_LEN];

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ | DIFFER_WORLD, &A);
  PetscCall(TestTemporaryFile(path, sizeof(path)));
  PetscCall(TestMatSave(A, path));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &B));
  if (DifferDraw(s, 2)) PetscCall(MatSetSizes(B, A->rmap->n, A->cmap->n, A->rmap->N, A->cmap->N));
  PetscCall(MatSetFromOptions(B));
  PetscCall(TestMatLoad(B, path));
  PetscCall(TestRemoveFile(path));
  PetscCall(DifferGive(s, PETSC_TRUE, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of a grid, with stencils */
static PetscErrorCode Grid(DifferStep *s)
{
  const PetscInt dof = 1 + DifferDraw(s, 3), m = 3 + DifferDraw(s, 4), box = DifferDraw(s, 2), empty = DifferDraw(s, 2);
  PetscInt       corner[2], n[2];
  char           type[64];
  MatStencil     row, col;
  DM             da;
  Mat            A;

  PetscFunctionBeginUser;
  if (s->side == DIFFER_REFERENCE) { /* one grid for both: what the matrices have of it is then the same object */
    PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, box ? DMDA_STENCIL_BOX : DMDA_STENCIL_STAR, m, m + 1, PETSC_DECIDE, PETSC_DECIDE, dof, 1, NULL, NULL, &da));
    PetscCall(DMSetUp(da));
    s->shared = (PetscObject)da;
  }
  da = (DM)s->shared;
  PetscCall(DifferTypeName(s, 2, type, sizeof(type)));
  PetscCall(DMSetMatType(da, type));
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(DMDAGetCorners(da, &corner[0], &corner[1], NULL, &n[0], &n[1], NULL));
  row.k = col.k = 0;
  for (row.j = corner[1]; row.j < corner[1] + n[1] && !empty; row.j++) {
    for (row.i = corner[0]; row.i < corner[0] + n[0]; row.i++) {
      for (row.c = 0; row.c < dof; row.c++) {
        for (PetscInt d = 0; d < 2; d++) {
          PetscScalar v = TestNumber(row.i + 31 * row.j, 7 * row.c + d) + (d ? 0 : 4);

          col = row;
          if (d) col.i = row.i ? row.i - 1 : 1;
          PetscCall(MatSetValuesStencil(A, 1, &row, 1, &col, &v, INSERT_VALUES));
        }
      }
    }
  }
  PetscCall(DifferAssemble(A));
  PetscCall(DifferGive(s, PETSC_TRUE, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One matrix below the other, each of one process */
static PetscErrorCode Concatenate(DifferStep *s)
{
  Shape        h;
  PetscInt    *i, *j;
  PetscScalar *a;
  char         type[64];
  Mat          A, B;

  PetscFunctionBeginUser;
  PetscCall(ShapeDraw(s, &h));
  PetscCall(CSR(&h, &i, &j, &a));
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(MatSetSizes(A, h.n[0], h.fill.N, h.n[0], h.fill.N));
  PetscCall(DifferTypeName(s, 0, type, sizeof(type)));
  PetscCall(MatSetType(A, type));
  PetscCall(MatSeqAIJSetPreallocationCSR(A, i, j, a));
  PetscCall(PetscFree3(i, j, a));
  PetscCall(MatCreateMPIMatConcatenateSeqMat(PETSC_COMM_WORLD, A, h.n[1], MAT_INITIAL_MATRIX, &B));
  PetscCall(MatDestroy(&A));
  PetscCall(DifferGive(s, PETSC_TRUE, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Operands of other kinds for products */
static PetscErrorCode Dense(DifferStep *s)
{
  const int rows = (int)DifferDraw(s, 2);
  PetscInt  N = 1 + DifferDraw(s, 6), seed = DifferDraw(s, 1000), first, end, lda;
  Mat       A;

  PetscFunctionBeginUser;
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, s->pool->n[rows], PETSC_DECIDE, s->pool->N[rows], N, NULL, &A));
  PetscCall(MatGetOwnershipRange(A, &first, &end));
  {
    PetscScalar *a;

    PetscCall(MatDenseGetLDA(A, &lda));
    PetscCall(MatDenseGetArrayWrite(A, &a));
    for (PetscInt j = 0; j < N; j++) {
      for (PetscInt i = first; i < end; i++) a[i - first + lda * j] = TestNumber(i + seed, j);
    }
    PetscCall(MatDenseRestoreArrayWrite(A, &a));
  }
  PetscCall(DifferAssemble(A));
  PetscCall(DifferGive(s, PETSC_FALSE, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A plain AIJ on both sides */
static PetscErrorCode Plain(DifferStep *s)
{
  Shape h;
  Mat   A;

  PetscFunctionBeginUser;
  PetscCall(ShapeDraw(s, &h));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, h.n[0], h.n[1], h.fill.M, h.fill.N));
  if (DifferDraw(s, 2)) PetscCall(MatSetBlockSizes(A, h.bs[0], h.bs[1]));
  PetscCall(MatSetType(A, MATAIJ));
  PetscCall(MatSetUp(A));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(SetRows(&h, A, h.first[0], h.n[0], INSERT_VALUES));
  PetscCall(DifferAssemble(A));
  PetscCall(DifferGive(s, PETSC_FALSE, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DifferOp DifferCreations[] = {
  {"create",              Preallocated,     6},
  {"create_off_rank",     OffProcess,       2},
  {"create_twice",        Twice,            1},
  {"create_blocked",      Blocked,          2},
  {"create_local",        Local,            2},
  {"create_preallocator", Preallocator,     1},
  {"create_full_name",    FullName,         2},
  {"create_csr",          PreallocationCSR, 2},
  {"create_arrays",       WithArrays,       1},
  {"create_aij",          CreateAIJ,        2},
  {"create_coo",          Coordinates,      2},
  {"coo_again",           CoordinatesAgain, 1},
  {"load",                Load,             1},
  {"create_dmda",         Grid,             1},
  {"concatenate",         Concatenate,      1},
  {"create_dense",        Dense,            1},
  {"create_plain",        Plain,            1},
  {NULL,                  NULL,             0}
};
