/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "Products with vectors for many shapes, against sums computed by hand from the formula of the matrix and against MATAIJ.\n";

#include "../testutil.h"
#include <math.h>

/* ------------------------------------------------- patterns ------------------------------------------------- */

static PetscInt RowDiagonal(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  if (i >= N) return 0;
  cols[0] = i;
  return 1;
}

/* Up to 14 columns anywhere; a fifth of the rows are empty */
static PetscInt RowRandom(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  const PetscInt wanted = TestInteger(i, 7, 5) ? 1 + TestInteger(i, 8, 14) : 0;
  PetscInt       n      = PetscMin(wanted, N);

  for (PetscInt k = 0; k < n; k++) cols[k] = TestInteger(i, 100 + k, N);
  PetscCallAbort(PETSC_COMM_SELF, PetscSortRemoveDupsInt(&n, cols));
  return n;
}

/* Row lengths from 0 to 1024 in no order, so that sorting by length and several chunk widths matter */
static PetscInt RowUneven(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  const PetscInt length = (PetscInt)1 << TestInteger(i, 3, 11), n = TestInteger(i, 4, 4) ? PetscMin(length, N) : 0;

  for (PetscInt k = 0; k < n; k++) cols[k] = k * (N / n) + TestInteger(i, k, N / n);
  return n;
}

/* Row 7 and column 7 are full, the rest is diagonal */
static PetscInt RowHub(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  PetscInt n = 0;

  if (i == 7) return TestRowFull(i, M, N, cols);
  if (i < 7 && i < N) cols[n++] = i;
  cols[n++] = 7;
  if (i > 7 && i < N) cols[n++] = i;
  return n;
}

/* Columns on either side of every multiple of 65,536, the last one, and some between; some segments have no entry in a row */
static PetscInt RowSegments(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  PetscInt n = 0;

  if (i % 5 == 4) return 0;
  cols[n++] = TestInteger(i, 1, N);
  if (i % 5 != 3) {
    for (PetscInt edge = 65536; edge < N; edge += 65536) {
      cols[n++] = edge - 1;
      cols[n++] = edge;
    }
  }
  cols[n++] = i % N;
  if (i % 5 != 2) cols[n++] = N - 1;
  PetscCallAbort(PETSC_COMM_SELF, PetscSortRemoveDupsInt(&n, cols));
  return n;
}

/* Runs of 1 to 12 neighbours, which straddle the positions where blocks of columns could begin */
static PetscInt RowRuns(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  PetscInt n = 0, c = TestInteger(i, 1, 9);

  for (PetscInt run = 0; run < 4; run++) {
    const PetscInt length = 1 + TestInteger(i, 10 + run, 12);

    for (PetscInt k = 0; k < length && c < N; k++) cols[n++] = c++;
    c += 1 + TestInteger(i, 20 + run, 40);
  }
  return n;
}

/* Every third entry is stored and zero */
static PetscScalar ValueZeros(PetscInt i, PetscInt j)
{
  return (i + j) % 3 ? TestNumber(i, j) : 0.0;
}

static const TestShape shapes[] = {
  {"five-point grid",        900,    900,    TestRowGrid,   TestValueGeneral, PETSC_FALSE},
  {"3 x 3 blocks",           120,    120,    TestRowBlocks, TestValueGeneral, PETSC_FALSE},
  {"random",                 700,    700,    RowRandom,     TestValueGeneral, PETSC_FALSE},
  {"tall",                   9001,   37,     RowRandom,     TestValueGeneral, PETSC_FALSE},
  {"uneven rows",            5003,   1500,   RowUneven,     TestValueGeneral, PETSC_FALSE},
  {"runs of columns",        4500,   300,    RowRuns,       TestValueGeneral, PETSC_FALSE},
  {"full",                   65,     65,     TestRowFull,   TestValueGeneral, PETSC_FALSE},
  {"hub row and column",     3000,   3000,   RowHub,        TestValueGeneral, PETSC_FALSE},
  {"stored zeros",           400,    400,    TestRowGrid,   ValueZeros,       PETSC_FALSE},
  {"70,000 columns",         60,     70000,  RowSegments,   TestValueGeneral, PETSC_FALSE},
  {"70,000 columns, random", 2000,   70000,  RowRandom,     TestValueGeneral, PETSC_FALSE},
  {"70,000 rows",            70000,  70000,  RowDiagonal,   TestValueGeneral, PETSC_FALSE},
  {"200,000 columns",        6000,   200000, RowSegments,   TestValueGeneral, PETSC_FALSE},
  {"140,000 rows",           140000, 300,    RowRandom,     TestValueGeneral, PETSC_FALSE},
  {"full row of 70,000",     1,      70000,  TestRowFull,   TestValueGeneral, PETSC_FALSE},
  {"one row",                1,      300,    RowRandom,     TestValueGeneral, PETSC_FALSE},
  {"one column",             300,    1,      TestRowFull,   TestValueGeneral, PETSC_FALSE},
  {"one entry",              1,      1,      TestRowFull,   TestValueGeneral, PETSC_FALSE},
  {"no entries",             50,     60,     TestRowNone,   TestValueGeneral, PETSC_FALSE},
  {"no rows",                0,      7,      TestRowNone,   TestValueGeneral, PETSC_FALSE},
  {"no columns",             7,      0,      TestRowNone,   TestValueGeneral, PETSC_FALSE},
  {"0 x 0",                  0,      0,      TestRowNone,   TestValueGeneral, PETSC_FALSE},
  {"more rows than columns", 90,     30,     RowDiagonal,   TestValueGeneral, PETSC_FALSE},
  {"all on the last rank",   400,    400,    TestRowGrid,   TestValueGeneral, PETSC_TRUE },
  {"five rows",              5,      5,      TestRowFull,   TestValueGeneral, PETSC_FALSE}
};

/* ------------------------------------------------- references by hand ------------------------------------------------- */

typedef struct {
  Vec ax, aty;        /* A x for x = TestVecSet(., 0), A^T y for y = TestVecSet(., 1) */
  Vec rowsum, colsum; /* sums of |a_ij| */
} HandProducts;

/* Every rank walks all rows and keeps its own part: no communication, no PETSc product, no stored matrix */
static PetscErrorCode HandProductsCreate(const TestShape *shape, Mat A, HandProducts *h)
{
  PetscInt    *cols, r0, r1, c0, c1;
  PetscScalar *ax, *aty, *rowsum, *colsum;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &h->aty, &h->ax));
  PetscCall(VecDuplicate(h->ax, &h->rowsum));
  PetscCall(VecDuplicate(h->aty, &h->colsum));
  PetscCall(VecSet(h->ax, 0));
  PetscCall(VecSet(h->aty, 0));
  PetscCall(VecSet(h->rowsum, 0));
  PetscCall(VecSet(h->colsum, 0));
  PetscCall(VecGetOwnershipRange(h->ax, &r0, &r1));
  PetscCall(VecGetOwnershipRange(h->aty, &c0, &c1));
  PetscCall(VecGetArray(h->ax, &ax));
  PetscCall(VecGetArray(h->aty, &aty));
  PetscCall(VecGetArray(h->rowsum, &rowsum));
  PetscCall(VecGetArray(h->colsum, &colsum));
  PetscCall(PetscMalloc1(shape->N, &cols));
  for (PetscInt i = 0; i < shape->M; i++) {
    const PetscBool mine = (PetscBool)(i >= r0 && i < r1);
    const PetscInt  n    = (*shape->row)(i, shape->M, shape->N, cols);

    for (PetscInt k = 0; k < n; k++) {
      const PetscInt j = cols[k];

      if (!mine && (j < c0 || j >= c1)) continue;
      const PetscScalar a = (*shape->value)(i, j);

      if (mine) {
        ax[i - r0] += a * TestNumber(j, 0);
        rowsum[i - r0] += PetscAbsScalar(a);
      }
      if (j >= c0 && j < c1) {
        aty[j - c0] += a * TestNumber(i, 1);
        colsum[j - c0] += PetscAbsScalar(a);
      }
    }
  }
  PetscCall(PetscFree(cols));
  PetscCall(VecRestoreArray(h->ax, &ax));
  PetscCall(VecRestoreArray(h->aty, &aty));
  PetscCall(VecRestoreArray(h->rowsum, &rowsum));
  PetscCall(VecRestoreArray(h->colsum, &colsum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HandProductsDestroy(HandProducts *h)
{
  return TestDestroy(&h->ax, &h->aty, &h->rowsum, &h->colsum);
}

static PetscErrorCode DiffByHand(TestDiff *d, Mat A, const HandProducts *h)
{
  Vec x, y, z, w;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(x, &w));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(TestVecSet(x, 0));
  PetscCall(MatMult(A, x, z));
  PetscCall(TestDiffVec(d, "MatMult() by hand", z, h->ax, h->rowsum));
  PetscCall(TestVecSet(y, 1));
  PetscCall(MatMultAdd(A, x, y, z));
  PetscCall(VecAXPY(z, -1.0, y));
  PetscCall(TestDiffVec(d, "MatMultAdd() by hand", z, h->ax, h->rowsum));
  PetscCall(MatMultTranspose(A, y, w));
  PetscCall(TestDiffVec(d, "MatMultTranspose() by hand", w, h->aty, h->colsum));
  PetscCall(MatMultTransposeAdd(A, y, x, w));
  PetscCall(VecAXPY(w, -1.0, x));
  PetscCall(TestDiffVec(d, "MatMultTransposeAdd() by hand", w, h->aty, h->colsum));
  PetscCall(TestDestroy(&x, &y, &z, &w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The products of one shape, new, with the same pattern and other values, and through a duplicate */
static PetscErrorCode Products(TestDiff *d, const TestShape *shape)
{
  HandProducts h;
  Mat          A, B, R;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(shape, &A, &R));
  PetscCall(TestDiffType(d, A));
  PetscCall(HandProductsCreate(shape, A, &h));
  PetscCall(DiffByHand(d, A, &h));
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(TestShapeSetValues(shape, A, -0.5, INSERT_VALUES));
  PetscCall(VecScale(h.ax, -0.5));
  PetscCall(VecScale(h.aty, -0.5));
  PetscCall(DiffByHand(d, A, &h));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(DiffByHand(d, B, &h));
  PetscCall(HandProductsDestroy(&h));
  PetscCall(TestDestroy(&B, &A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- NaN and Inf ------------------------------------------------- */

/* Writes the first stored value of the first rank, which stands in row 0 */
static PetscErrorCode SetFirstValue(Mat A, PetscScalar v)
{
  PetscMPIInt  rank;
  PetscScalar *a;
  Mat          diag;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(MatGetDiagonalBlock(A, &diag));
  PetscCall(MatSeqAIJGetArray(diag, &a));
  if (rank == 0) a[0] = v;
  PetscCall(MatSeqAIJRestoreArray(diag, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One that is no number among the values reaches its row and no other; one in x reaches every row that meets it */
static PetscErrorCode NotANumber(TestDiff *d)
{
  const TestShape   shape    = {"grid", 400, 400, TestRowGrid, TestValueGeneral, PETSC_FALSE};
  const PetscScalar bad[2]   = {NAN, INFINITY};
  const PetscInt    first[1] = {0};
  Vec               x, y, z;
  Mat               A, R;

  PetscFunctionBeginUser;
  if (PetscDefined(USE_COMPLEX)) PetscCall(PetscFPTrapPush(PETSC_FP_TRAP_OFF)); /* for -fp_trap: a complex product with infinity has infinity times 0 in it */
  PetscCall(TestPairCreate(&shape, &A, &R));
  PetscCall(MatSetErrorIfFailure(A, PETSC_FALSE));
  PetscCall(MatSetErrorIfFailure(R, PETSC_FALSE));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  for (PetscInt k = 0; k < 2; k++) {
    for (PetscInt invec = 0; invec < 2; invec++) {
      const PetscScalar *ya, *za;
      PetscInt           n;

      PetscCall(TestVecSet(x, 0));
      if (invec) PetscCall(VecSetValues(x, 1, first, &bad[k], INSERT_VALUES));
      PetscCall(VecAssemblyBegin(x));
      PetscCall(VecAssemblyEnd(x));
      PetscCall(SetFirstValue(A, invec ? 1.0 : bad[k]));
      PetscCall(SetFirstValue(R, invec ? 1.0 : bad[k]));
      for (int transpose = 0; transpose < 2; transpose++) {
        PetscCall((*(transpose ? MatMultTranspose : MatMult))(A, x, y));
        PetscCall((*(transpose ? MatMultTranspose : MatMult))(R, x, z));
        PetscCall(VecGetLocalSize(y, &n));
        PetscCall(VecGetArrayRead(y, &ya));
        PetscCall(VecGetArrayRead(z, &za));
        for (PetscInt i = 0; i < n; i++) {
          if (PetscIsInfOrNanScalar(za[i])) TestExpect(d, "a NaN or Inf is lost", PetscIsInfOrNanScalar(ya[i]));
          else if (PetscIsInfOrNanScalar(ya[i])) TestExpect(d, "a NaN or Inf spreads to other rows", PETSC_FALSE);
          else TestDiffAdd(d, "other rows", PetscAbsScalar(ya[i] - za[i]));
        }
        PetscCall(VecRestoreArrayRead(y, &ya));
        PetscCall(VecRestoreArrayRead(z, &za));
      }
    }
  }
  PetscCall(TestDestroy(&x, &y, &z, &A, &R));
  if (PetscDefined(USE_COMPLEX)) PetscCall(PetscFPTrapPop());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vectors that are a part of an array and so are not aligned to the registers of a vector unit */
static PetscErrorCode UnalignedVectors(TestDiff *d)
{
  const TestShape shape = {"grid", 400, 400, TestRowGrid, TestValueGeneral, PETSC_FALSE};
  PetscScalar    *xa, *ya;
  PetscInt        n, N;
  Vec             x, y, z, scale, unused;
  Mat             A, R;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&shape, &A, &R));
  PetscCall(TestScales(R, &scale, &unused));
  PetscCall(VecDuplicate(scale, &z));
  PetscCall(VecGetLocalSize(scale, &n));
  PetscCall(VecGetSize(scale, &N));
  PetscCall(PetscMalloc2(n + 3, &xa, n + 3, &ya));
  for (PetscInt shift = 0; shift < 4; shift++) {
    PetscCall(VecCreateMPIWithArray(PETSC_COMM_WORLD, 1, n, N, xa + shift, &x));
    PetscCall(VecCreateMPIWithArray(PETSC_COMM_WORLD, 1, n, N, ya + 3 - shift, &y));
    PetscCall(TestVecSet(x, shift));
    PetscCall(MatMult(R, x, z));
    PetscCall(MatMult(A, x, y));
    PetscCall(TestDiffVec(d, "MatMult() of unaligned vectors", y, z, scale));
    PetscCall(MatMultAdd(R, x, z, z));
    PetscCall(MatMultAdd(A, x, y, y));
    PetscCall(TestDiffVec(d, "MatMultAdd() of unaligned vectors", y, z, scale));
    PetscCall(TestDestroy(&x, &y));
  }
  PetscCall(PetscFree2(xa, ya));
  PetscCall(TestDestroy(&z, &scale, &unused, &A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const TestCase tests[] = {
  {"NaN and Inf",       NotANumber      },
  {"unaligned vectors", UnalignedVectors},
  {NULL,                NULL            }
};

int main(int argc, char **argv)
{
  PetscCall(TestInitialize(&argc, &argv, help));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(shapes); k++) {
    TestDiff d = {NULL, 0};

    PetscCall(Products(&d, &shapes[k]));
    PetscCall(TestReport(shapes[k].name, &d));
  }
  PetscCall(TestRun(tests));
  return TestFinalize();
}

/*TEST

  testset:
    nsize: {{1 2 3}}
    checks: 27
    test:
      suffix: aij
      args: -mat_type aij
    test:
      suffix: types
      args: -mat_type {{@types}} -mat_shadow_tune off
    test:
      suffix: fp_trap
      nsize: 1
      requires: !cuda
      args: -mat_type {{aij @types}} -mat_shadow_tune off -options_left no -fp_trap
    test:
      suffix: nussell_segments
      args: -mat_type nussell -mat_shadow_tune off -mat_nussell_s1 7 -mat_nussell_k1 2 -mat_nussell_s2 50 -mat_nussell_k2 1
    test:
      suffix: nussell_model
      args: -mat_type nussell

  testset:
    args: -mat_type amb
    checks: 27
    test:
      suffix: amb_tuned
      nsize: 2
      args: -mat_shadow_tune {{model measure online}}
    test:
      suffix: amb_blocks
      nsize: 1
      args: -mat_shadow_tune off -mat_amb_block_size {{1 2 3 4 5 6 7 8 9 10}}
    test:
      suffix: amb_values
      nsize: {{1 2}}
      args: -mat_shadow_tune off -mat_shadow_values {{exact table}}
    test:
      suffix: amb_values_blocks
      nsize: 1
      args: -mat_shadow_tune off -mat_shadow_values table -mat_amb_block_size {{1 2 3 5 9}}

  testset:
    args: -mat_type nussell -mat_shadow_tune off
    checks: 27
    test:
      suffix: nussell_chunks
      args: -mat_nussell_c {{8 16 24 32}} -mat_nussell_sigma {{0 64}}
    test:
      suffix: nussell_uniform
      args: -mat_nussell_segmentation uniform -mat_nussell_s2 1000
    test:
      suffix: nussell_jds
      args: -mat_nussell_rows jds -mat_nussell_segmentation {{none nonuniform}} -mat_nussell_k2 1 -mat_nussell_s2 60
    test:
      suffix: nussell_tried
      args: -mat_nussell_tune {{off exhaustive}}

  testset:
    args: -mat_type ccoo
    checks: 27
    test:
      suffix: ccoo_tuned
      nsize: 2
      args: -mat_shadow_tune {{model measure online}}
    test:
      suffix: ccoo_chunks
      args: -mat_shadow_tune off -mat_ccoo_block 32 -mat_ccoo_items {{1 2 4 8}}
    test:
      suffix: ccoo_plain
      args: -mat_shadow_tune off -mat_ccoo_items {{1 8}} -mat_ccoo_table false

  testset:
    args: -mat_type tilecomposite
    checks: 27
    test:
      suffix: tilecomposite_tuned
      nsize: 2
      args: -mat_shadow_tune {{measure online}}
    test:
      suffix: tilecomposite_tiles
      args: -mat_shadow_tune off -mat_tilecomposite_width 50 -mat_tilecomposite_tiles 99999 -mat_tilecomposite_work 32 -mat_tilecomposite_coo {{false true}}
    test:
      suffix: tilecomposite_wide
      args: -mat_shadow_tune off -mat_tilecomposite_width 70000 -mat_tilecomposite_tiles {{-1 99999}}

TEST*/
