/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "What can be asked of a matrix: rows, norms, arrays, info, views, graphs.\n";

#include "../testutil.h"
#include <petscao.h>
#include <petscdmda.h>
#include <petscdraw.h>

static const TestShape grid = {"grid", 400, 400, TestRowGrid, TestValueGeneral, PETSC_FALSE};

/* ------------------------------------------------- numbers ------------------------------------------------- */

/* Matrices after a product and a change of values: queries must return current values */
static PetscErrorCode UsedPairCreate(TestDiff *d, Mat *A, Mat *R)
{
  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&grid, A, R));
  PetscCall(TestDiffMat(d, *A, *R));
  PetscCall(MatScale(*A, 2.0));
  PetscCall(MatScale(*R, 2.0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Norms(TestDiff *d)
{
  const NormType types[3] = {NORM_1, NORM_FROBENIUS, NORM_INFINITY};
  PetscReal      a, r, *ca, *cr;
  Mat            A, R;

  PetscFunctionBeginUser;
  PetscCall(UsedPairCreate(d, &A, &R));
  for (PetscInt k = 0; k < 3; k++) {
    PetscCall(MatNorm(A, types[k], &a));
    PetscCall(MatNorm(R, types[k], &r));
    TestDiffAdd(d, "MatNorm()", PetscAbsReal(a - r) / r);
  }
  PetscCall(PetscMalloc2(grid.N, &ca, grid.N, &cr));
  PetscCall(MatGetColumnNorms(A, NORM_2, ca));
  PetscCall(MatGetColumnNorms(R, NORM_2, cr));
  for (PetscInt j = 0; j < grid.N; j++) TestDiffAdd(d, "MatGetColumnNorms()", PetscAbsReal(ca[j] - cr[j]) / cr[j]);
  PetscCall(PetscFree2(ca, cr));
  PetscCall(TestDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Diagonal(TestDiff *d)
{
  PetscScalar ta, tr;
  Vec         a, r;
  Mat         A, R;

  PetscFunctionBeginUser;
  PetscCall(UsedPairCreate(d, &A, &R));
  PetscCall(MatCreateVecs(A, NULL, &a));
  PetscCall(VecDuplicate(a, &r));
  PetscCall(MatGetDiagonal(A, a));
  PetscCall(MatGetDiagonal(R, r));
  PetscCall(TestDiffVec(d, "MatGetDiagonal()", a, r, NULL));
  PetscCall(MatGetTrace(A, &ta));
  PetscCall(MatGetTrace(R, &tr));
  TestDiffAdd(d, "MatGetTrace()", PetscAbsScalar(ta - tr) / PetscAbsScalar(tr));
  PetscCall(TestDestroy(&a, &r, &A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowReductions(TestDiff *d)
{
  Vec a, r;
  Mat A, R;

  PetscFunctionBeginUser;
  PetscCall(UsedPairCreate(d, &A, &R));
  PetscCall(MatCreateVecs(A, NULL, &a));
  PetscCall(VecDuplicate(a, &r));
  PetscCall(MatGetRowMaxAbs(A, a, NULL));
  PetscCall(MatGetRowMaxAbs(R, r, NULL));
  PetscCall(TestDiffVec(d, "MatGetRowMaxAbs()", a, r, NULL));
  PetscCall(MatGetRowSum(A, a));
  PetscCall(MatGetRowSum(R, r));
  PetscCall(TestDiffVec(d, "MatGetRowSum()", a, r, NULL));
  PetscCall(TestDestroy(&a, &r, &A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Info(TestDiff *d)
{
  MatInfo a, r;
  Mat     A, R;

  PetscFunctionBeginUser;
  PetscCall(UsedPairCreate(d, &A, &R));
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &a));
  PetscCall(MatGetInfo(R, MAT_GLOBAL_SUM, &r));
  TestExpect(d, "nonzeros used", (PetscBool)(a.nz_used == r.nz_used));
  TestExpect(d, "nonzeros allocated", (PetscBool)(a.nz_allocated == r.nz_allocated));
  TestExpect(d, "mallocs", (PetscBool)(a.mallocs == r.mallocs));
  PetscCall(TestDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Equal(TestDiff *d)
{
  PetscBool yes;
  Mat       A, B, R, S;

  PetscFunctionBeginUser;
  PetscCall(UsedPairCreate(d, &A, &R));
  PetscCall(MatMultEqual(A, R, 3, &yes));
  TestExpect(d, "MatMultEqual() with the reference", yes);
  PetscCall(MatMultTransposeEqual(A, R, 3, &yes));
  TestExpect(d, "MatMultTransposeEqual() with the reference", yes);
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(MatEqual(A, B, &yes));
  TestExpect(d, "MatEqual() with a copy", yes);
  PetscCall(MatShift(B, 1.0));
  PetscCall(MatEqual(A, B, &yes));
  TestExpect(d, "MatEqual() with a changed copy", (PetscBool)!yes);
  PetscCall(MatMultEqual(A, B, 3, &yes));
  TestExpect(d, "MatMultEqual() with a changed copy", (PetscBool)!yes);
  PetscCall(MatDestroy(&B));
  PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatIsTranspose(A, B, 1e-12, &yes));
  TestExpect(d, "MatIsTranspose()", yes);
  PetscCall(MatTranspose(R, MAT_INITIAL_MATRIX, &S));
  PetscCall(MatAXPY(B, 1.0, A, UNKNOWN_NONZERO_PATTERN));
  PetscCall(MatAXPY(S, 1.0, R, UNKNOWN_NONZERO_PATTERN));
  PetscCall(MatIsSymmetric(B, 1e-12, &yes));
  TestExpect(d, "MatIsSymmetric() of A + A'", yes);
  PetscCall(TestDiffMat(d, B, S));
  PetscCall(TestDestroy(&B, &S, &A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- structure ------------------------------------------------- */

/* Row pointers and columns of the sequential matrix, or of the diagonal block */
static PetscErrorCode RowIJ(TestDiff *d)
{
  const PetscInt *ia, *ja, *ir, *jr;
  PetscInt        na, nr;
  PetscBool       da, dr, same;
  Mat             A, R, a, r;

  PetscFunctionBeginUser;
  PetscCall(UsedPairCreate(d, &A, &R));
  PetscCall(MatGetDiagonalBlock(A, &a));
  PetscCall(MatGetDiagonalBlock(R, &r));
  for (PetscInt variant = 0; variant < 3; variant++) {
    const PetscInt  shift     = variant == 1 ? 1 : 0;
    const PetscBool symmetric = variant == 2 ? PETSC_TRUE : PETSC_FALSE;

    PetscCall(MatGetRowIJ(a, shift, symmetric, PETSC_FALSE, &na, &ia, &ja, &da));
    PetscCall(MatGetRowIJ(r, shift, symmetric, PETSC_FALSE, &nr, &ir, &jr, &dr));
    TestExpect(d, "MatGetRowIJ() is not done", (PetscBool)(da && dr && na == nr));
    if (da && dr && na == nr) {
      PetscCall(PetscArraycmp(ia, ir, na + 1, &same));
      TestExpect(d, "row pointers", same);
      PetscCall(PetscArraycmp(ja, jr, ia[na] - shift, &same));
      TestExpect(d, "columns", same);
    }
    PetscCall(MatRestoreRowIJ(a, shift, symmetric, PETSC_FALSE, &na, &ia, &ja, &da));
    PetscCall(MatRestoreRowIJ(r, shift, symmetric, PETSC_FALSE, &nr, &ir, &jr, &dr));
  }
  PetscCall(TestDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reading the values does not disturb the products */
static PetscErrorCode ReadArray(TestDiff *d)
{
  const PetscScalar *va, *vr;
  MatInfo            info;
  Mat                A, R, a, r;

  PetscFunctionBeginUser;
  PetscCall(UsedPairCreate(d, &A, &R));
  PetscCall(MatGetDiagonalBlock(A, &a));
  PetscCall(MatGetDiagonalBlock(R, &r));
  PetscCall(MatGetInfo(r, MAT_LOCAL, &info));
  PetscCall(MatSeqAIJGetArrayRead(a, &va));
  PetscCall(MatSeqAIJGetArrayRead(r, &vr));
  for (PetscInt k = 0; k < (PetscInt)info.nz_used; k++) TestDiffAdd(d, "value of the array", PetscAbsScalar(va[k] - vr[k]));
  PetscCall(MatSeqAIJRestoreArrayRead(a, &va));
  PetscCall(MatSeqAIJRestoreArrayRead(r, &vr));
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(TestDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FindRows(TestDiff *d)
{
  IS        a, r, za, zr;
  PetscInt  row = 7;
  PetscBool same;
  Mat       A, R;

  PetscFunctionBeginUser;
  PetscCall(UsedPairCreate(d, &A, &R));
  PetscCall(MatZeroRows(A, 1, &row, 0.0, NULL, NULL));
  PetscCall(MatZeroRows(R, 1, &row, 0.0, NULL, NULL));
  PetscCall(MatFindNonzeroRows(A, &a));
  PetscCall(MatFindNonzeroRows(R, &r));
  PetscCall(ISEqual(a, r, &same));
  TestExpect(d, "MatFindNonzeroRows()", same);
  PetscCall(MatFindZeroDiagonals(A, &za));
  PetscCall(MatFindZeroDiagonals(R, &zr));
  PetscCall(ISEqual(za, zr, &same));
  TestExpect(d, "MatFindZeroDiagonals()", same);
  PetscCall(TestDestroy(&a, &r, &za, &zr, &A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Orderings of the diagonal block, colourings and partitionings by coarse agreement with the reference */
static PetscErrorCode Orderings(TestDiff *d)
{
  const MatOrderingType types[3] = {MATORDERINGNATURAL, MATORDERINGRCM, MATORDERINGND};
  Mat                   A, R, a, r;

  PetscFunctionBeginUser;
  PetscCall(UsedPairCreate(d, &A, &R));
  PetscCall(MatGetDiagonalBlock(A, &a));
  PetscCall(MatGetDiagonalBlock(R, &r));
  for (PetscInt k = 0; k < 3; k++) {
    IS        rowa, cola, rowr, colr;
    PetscBool same;

    PetscCall(MatGetOrdering(a, types[k], &rowa, &cola));
    PetscCall(MatGetOrdering(r, types[k], &rowr, &colr));
    PetscCall(ISEqual(rowa, rowr, &same));
    TestExpect(d, "MatGetOrdering()", same);
    PetscCall(TestDestroy(&rowa, &cola, &rowr, &colr));
  }
  PetscCall(TestDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ColorCount(Mat A, PetscInt *n)
{
  MatColoring mc;
  ISColoring  coloring;

  PetscFunctionBeginUser;
  PetscCall(MatColoringCreate(A, &mc));
  PetscCall(MatColoringSetType(mc, MATCOLORINGGREEDY));
  PetscCall(MatColoringApply(mc, &coloring));
  PetscCall(ISColoringGetIS(coloring, PETSC_USE_POINTER, n, NULL));
  PetscCall(ISColoringDestroy(&coloring));
  PetscCall(MatColoringDestroy(&mc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Colorings(TestDiff *d)
{
  PetscInt a, r;
  Mat      A, R;

  PetscFunctionBeginUser;
  PetscCall(UsedPairCreate(d, &A, &R));
  PetscCall(ColorCount(A, &a));
  PetscCall(ColorCount(R, &r));
  TestExpect(d, "number of colours", (PetscBool)(a == r));
  PetscCall(TestDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is attached to a matrix stays with it through a conversion in place, there and back */
static PetscErrorCode Attached(TestDiff *d)
{
  char         type[64];
  MatNullSpace null, found;
  PetscInt     bs;
  PetscBool    set, flag;
  Mat          A;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, 12, 12));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSetBlockSize(A, 2));
  PetscCall(MatSetUp(A));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &null));
  PetscCall(MatSetNullSpace(A, null));
  PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(TestTypeRoot(type, sizeof(type)));
  for (PetscInt back = 0; back < 2; back++) {
    PetscCall(MatConvert(A, back ? type : MATAIJ, MAT_INPLACE_MATRIX, &A));
    PetscCall(MatGetNullSpace(A, &found));
    TestExpect(d, "the null space is lost", (PetscBool)(found == null));
    PetscCall(MatGetBlockSize(A, &bs));
    TestExpect(d, "the block size is lost", (PetscBool)(bs == 2));
    PetscCall(MatIsSymmetricKnown(A, &set, &flag));
    TestExpect(d, "the symmetry is lost", (PetscBool)(set && flag));
  }
  PetscCall(TestDestroy(&null, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- views ------------------------------------------------- */

/* The text of a view on rank 0, without the lines that name the object, its type, and what only a format of its own adds */
static PetscErrorCode ViewText(Mat A, PetscViewerFormat format, char **text)
{
  char        path[PETSC_MAX_PATH_LEN], line[4096];
  PetscMPIInt rank;
  PetscViewer viewer;
  size_t      used = 0, room = 0;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(TestTemporaryFile(path, sizeof(path)));
  PetscCall(PetscViewerASCIIOpen(PETSC_COMM_WORLD, path, &viewer));
  PetscCall(PetscViewerPushFormat(viewer, format));
  PetscCall(MatView(A, viewer));
  PetscCall(PetscViewerPopFormat(viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  *text = NULL;
  if (rank == 0) {
    FILE *file = fopen(path, "r");

    PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot read back a view");
    while (fgets(line, sizeof(line), file)) {
      const size_t len = strlen(line);

      if (strncmp(line, "Mat Object", 10) == 0 || strncmp(line, "  type: ", 8) == 0 || line[0] == '%') continue;
      if (used + len + 1 > room) {
        room = 2 * (used + len + 1);
        PetscCall(PetscRealloc(room, text));
      }
      PetscCall(PetscArraycpy(*text + used, line, len + 1));
      used += len;
    }
    fclose(file);
  }
  PetscCall(TestRemoveFile(path));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The grid of a shape as a DMDA, which numbers it process by process and gives the matrix a view in the order of the shape */
static PetscErrorCode GridCreate(const TestShape *shape, PetscInt width, Mat *A)
{
  PetscInt    first, end, *rows, *cols;
  PetscMPIInt size;
  char        type[64];
  AO          ao;
  DM          da;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(TestTypeRoot(type, sizeof(type)));
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, width, width, size, 1, 1, 1, NULL, NULL, &da));
  PetscCall(DMSetMatType(da, type));
  PetscCall(DMSetUp(da));
  PetscCall(DMCreateMatrix(da, A));
  PetscCall(DMDAGetAO(da, &ao));
  PetscCall(MatGetOwnershipRange(*A, &first, &end));
  PetscCall(PetscMalloc2(end - first, &rows, 5 * (end - first), &cols));
  for (PetscInt k = first; k < end; k++) rows[k - first] = k;
  PetscCall(AOPetscToApplication(ao, end - first, rows));
  for (PetscInt k = 0; k < end - first; k++) {
    for (PetscInt l = (*shape->row)(rows[k], shape->M, shape->N, cols + 5 * k); l < 5; l++) cols[5 * k + l] = -1;
  }
  PetscCall(AOApplicationToPetsc(ao, 5 * (end - first), cols));
  for (PetscInt k = first; k < end; k++) {
    PetscInt    at[5], row = rows[k - first];
    PetscScalar v[5];

    for (PetscInt l = 0, n = (*shape->row)(row, shape->M, shape->N, at); l < n; l++) v[l] = (*shape->value)(row, at[l]);
    PetscCall(MatSetValues(*A, 1, &k, 5, cols + 5 * (k - first), v, INSERT_VALUES));
  }
  PetscCall(PetscFree2(rows, cols));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether two texts have the same words; PETSc 3.26 prints the matrix of a DMDA on several processes with more blanks */
static PetscBool SameWords(const char *a, const char *b)
{
  const char *blanks = " \t\n";

  for (;;) {
    a += strspn(a, blanks);
    b += strspn(b, blanks);
    if (!*a || !*b) return (PetscBool)(*a == *b);
    const size_t n = strcspn(a, blanks);

    if (strcspn(b, blanks) != n || strncmp(a, b, n)) return PETSC_FALSE;
    a += n;
    b += n;
  }
}

static PetscErrorCode DMDAView(TestDiff *d)
{
  const TestShape small = {"grid", 36, 36, TestRowGrid, TestValueGeneral, PETSC_FALSE};
  char           *a, *r;
  Mat             A, R;

  PetscFunctionBeginUser;
  PetscCall(GridCreate(&small, 6, &A));
  PetscCall(TestShapeCreate(&small, "ref_", &R));
  PetscCall(ViewText(A, PETSC_VIEWER_ASCII_DENSE, &a));
  PetscCall(ViewText(R, PETSC_VIEWER_ASCII_DENSE, &r));
  if (a || r) TestExpect(d, "the views differ", (PetscBool)(a && r && SameWords(a, r)));
  PetscCall(PetscFree(a));
  PetscCall(PetscFree(r));
  PetscCall(TestDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AsciiView(TestDiff *d)
{
  const TestShape         small   = {"grid", 36, 36, TestRowGrid, TestValueGeneral, PETSC_FALSE};
  const PetscViewerFormat same[4] = {PETSC_VIEWER_DEFAULT, PETSC_VIEWER_ASCII_DENSE, PETSC_VIEWER_ASCII_COMMON, PETSC_VIEWER_ASCII_FACTOR_INFO};
  Mat                     A, R;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&small, &A, &R));
  PetscCall(PetscObjectSetName((PetscObject)A, "A"));
  PetscCall(PetscObjectSetName((PetscObject)R, "A"));
  for (PetscInt used = 0; used < 2; used++) {
    for (PetscInt k = 0; k < 4; k++) {
      char *a, *r;

      PetscCall(ViewText(A, same[k], &a));
      PetscCall(ViewText(R, same[k], &r));
      if (a || r) TestExpect(d, "the views differ", (PetscBool)(a && r && strcmp(a, r) == 0));
      PetscCall(PetscFree(a));
      PetscCall(PetscFree(r));
    }
    PetscCall(TestDiffMat(d, A, R));
  }
  PetscCall(TestDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each line that MATAIJ prints about itself is there too; a format may add its own */
static PetscErrorCode InfoView(TestDiff *d)
{
  const PetscViewerFormat formats[2] = {PETSC_VIEWER_ASCII_INFO, PETSC_VIEWER_ASCII_INFO_DETAIL};
  Mat                     A, R;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&grid, &A, &R));
  for (PetscInt used = 0; used < 2; used++) {
    for (PetscInt k = 0; k < 2; k++) {
      char *a, *r, *line;

      PetscCall(ViewText(A, formats[k], &a));
      PetscCall(ViewText(R, formats[k], &r));
      if (r) {
        for (line = strtok(r, "\n"); line; line = strtok(NULL, "\n")) TestExpect(d, "a line of the info is missing", (PetscBool)(a && strstr(a, line) != NULL));
      }
      PetscCall(PetscFree(a));
      PetscCall(PetscFree(r));
    }
    PetscCall(TestDiffMat(d, A, R));
  }
  PetscCall(TestDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Files of the matrix under test and of the reference hold the same bytes */
static PetscErrorCode BinaryView(TestDiff *d)
{
  char        path[2][PETSC_MAX_PATH_LEN], bytes[2][4096];
  PetscMPIInt rank;
  Mat         M[2];

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(UsedPairCreate(d, &M[0], &M[1]));
  for (PetscInt k = 0; k < 2; k++) {
    PetscViewer viewer;

    PetscCall(TestTemporaryFile(path[k], sizeof(path[k])));
    PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, path[k], FILE_MODE_WRITE, &viewer));
    PetscCall(MatView(M[k], viewer));
    PetscCall(PetscViewerDestroy(&viewer));
  }
  if (rank == 0) {
    FILE  *file[2] = {fopen(path[0], "rb"), fopen(path[1], "rb")};
    size_t n[2];

    PetscCheck(file[0] && file[1], PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot read back a view");
    do {
      for (PetscInt k = 0; k < 2; k++) n[k] = fread(bytes[k], 1, sizeof(bytes[k]), file[k]);
      TestExpect(d, "the files differ", (PetscBool)(n[0] == n[1] && memcmp(bytes[0], bytes[1], n[0]) == 0));
    } while (n[0] && n[1]);
    fclose(file[0]);
    fclose(file[1]);
  }
  for (PetscInt k = 0; k < 2; k++) PetscCall(TestRemoveFile(path[k]));
  PetscCall(TestDestroy(&M[0], &M[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DrawView(TestDiff *d)
{
  PetscDraw   draw;
  PetscViewer viewer;
  Mat         A, R;

  PetscFunctionBeginUser;
  PetscCall(UsedPairCreate(d, &A, &R));
  PetscCall(PetscViewerDrawOpen(PETSC_COMM_WORLD, NULL, NULL, 0, 0, 300, 300, &viewer));
  PetscCall(PetscViewerDrawSetDrawType(viewer, PETSC_DRAW_NULL));
  PetscCall(PetscViewerDrawGetDraw(viewer, 0, &draw));
  PetscCall(MatView(A, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(TestDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatTranspose() in place moves the inside of another matrix into A. A shadow made again must not free the string that the program got before. The program frees
   strings of that length first, so that a string freed and made again has another address. */
static PetscErrorCode TypeName(TestDiff *d)
{
  MatShadowInfo info;
  MatType       before, after;
  char         *strings[64];
  Mat           A, R;

  PetscFunctionBeginUser;
  PetscCall(UsedPairCreate(d, &A, &R));
  PetscCall(MatTranspose(A, MAT_INPLACE_MATRIX, &A));
  PetscCall(MatGetType(A, &before));
  for (int k = 0; k < 64; k++) PetscCall(PetscStrallocpy(before, &strings[k]));
  for (int k = 0; k < 64; k++) PetscCall(PetscFree(strings[k]));
  PetscCall(MatShadowGetInfo(A, &info));
  PetscCall(MatGetType(A, &after));
  TestExpect(d, "the string of MatGetType() is freed", (PetscBool)(before == after));
  PetscCall(TestDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const TestCase tests[] = {
  {"MatNorm",                   Norms        },
  {"MatGetDiagonal",            Diagonal     },
  {"MatGetRowMaxAbs and sums",  RowReductions},
  {"MatGetInfo",                Info         },
  {"MatGetType",                TypeName     },
  {"MatEqual and symmetry",     Equal        },
  {"MatGetRowIJ",               RowIJ        },
  {"MatSeqAIJGetArrayRead",     ReadArray    },
  {"MatFindNonzeroRows",        FindRows     },
  {"MatGetOrdering",            Orderings    },
  {"MatColoring",               Colorings    },
  {"block size and null space", Attached     },
  {"MatView ascii",             AsciiView    },
  {"MatView of a DMDA",         DMDAView     },
  {"MatView info",              InfoView     },
  {"MatView binary",            BinaryView   },
  {"MatView draw",              DrawView     },
  {NULL,                        NULL         }
};

int main(int argc, char **argv)
{
  return TestMain(argc, argv, help, tests);
}

/*TEST

  testset:
    nsize: {{1 2 3}}
    checks: 17
    test:
      suffix: aij
      args: -mat_type aij
    test:
      suffix: types
      args: -mat_type {{@types}} -mat_shadow_tune off
    test:
      suffix: nussell_segments
      args: -mat_type nussell -mat_shadow_tune off -mat_nussell_s1 7 -mat_nussell_k1 2 -mat_nussell_s2 50 -mat_nussell_k2 1

  testset:
    args: -mat_type amb
    checks: 17
    test:
      suffix: amb_tuned
      nsize: 2
      args: -mat_shadow_tune {{measure online}}

  testset:
    args: -petscamb_for_aij amb -ref_petscamb_for_aij aij -mat_shadow_tune off
    checks: 17
    test:
      suffix: for_aij
      nsize: 2
      args: -mat_type aij
    test:
      suffix: for_aijcusparse
      requires: cuda
      nsize: {{1 2}}
      args: -mat_type aijcusparse

TEST*/
