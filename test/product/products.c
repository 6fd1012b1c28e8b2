/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "Products of matrices: all of PETSc's, with operands of the type under test, plain ones and mixtures, made and made again with other values.\n\
  -products_times N  all of them so many times (default 1)\n";

#include "../testproduct.h"

/* ------------------------------------------------- operands ------------------------------------------------- */

/* Row 5 is full, every third row empty, the rest nearly diagonal */
static PetscInt RowHub(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  PetscInt n = 0;

  if (i == 5) {
    for (n = 0; n < N; n++) cols[n] = n;
  } else if (i % 3) {
    cols[n++] = i % N;
    if (i % N != 5 % N) cols[n++] = 5 % N;
    if (n == 2 && cols[0] > cols[1]) {
      cols[0] = 5 % N;
      cols[1] = i % N;
    }
  }
  return n;
}

/* On two processes, the first one's rows of P' A have columns 5 and 6 of the other one, and its rows of A columns 4 and 5: as many, but not the same */
static PetscInt RowMovedA(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  cols[0] = i == 0 ? 5 : i == 1 ? 4 : i == 4 ? 6 : i;
  return 1;
}

static PetscInt RowMovedP(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  cols[0] = i == 0 ? 1 : i == 1 ? 5 : i == 4 ? 2 : i;
  return 1;
}

/* A is M by M, P is M by N. On one process no product has just 32 rows with entries: cuSPARSE, which multiplies products with vectors, gets the last of these wrong where
   processes share a GPU (docs/troubleshooting.md). */
typedef struct {
  const char     *name;
  PetscInt        M, N;
  TestRowFunction rowA, rowP;
  PetscBool       last;
} Pair;

static const Pair pairs[] = {
  {"grid",                 400, 100,   TestRowGrid,   TestRowAggregate, PETSC_FALSE},
  {"blocks",               108, 27,    TestRowBlocks, TestRowAggregate, PETSC_FALSE},
  {"hub row",              300, 60,    RowHub,        RowHub,           PETSC_FALSE},
  {"one column",           100, 1,     TestRowGrid,   TestRowAggregate, PETSC_FALSE},
  {"wide",                 121, 70000, TestRowGrid,   TestRowAggregate, PETSC_FALSE},
  {"no entries",           100, 30,    TestRowGrid,   TestRowNone,      PETSC_FALSE},
  {"all on the last rank", 100, 30,    TestRowGrid,   TestRowAggregate, PETSC_TRUE },
  {"moved columns",        8,   8,     RowMovedA,     RowMovedP,        PETSC_FALSE}
};

static PetscErrorCode DenseCreate(PetscInt m, PetscInt n, PetscInt M, PetscInt N, Mat *X)
{
  PetscInt     r0, r1, lda;
  PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, m, n, M, N, NULL, X));
  PetscCall(MatGetOwnershipRange(*X, &r0, &r1));
  PetscCall(MatGetSize(*X, NULL, &N));
  PetscCall(MatDenseGetLDA(*X, &lda));
  PetscCall(MatDenseGetArrayWrite(*X, &a));
  for (PetscInt j = 0; j < N; j++) {
    for (PetscInt i = r0; i < r1; i++) a[i - r0 + j * lda] = TestNumber(i, j);
  }
  PetscCall(MatDenseRestoreArrayWrite(*X, &a));
  PetscCall(MatAssemblyBegin(*X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*X, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* typedA and typedP tell which operands are of the type under test; the others are plain */
static PetscErrorCode OperandsCreate(const Pair *pair, PetscBool typedA, PetscBool typedP, TestOperands *o)
{
  const TestShape shapeA = {"A", pair->M, pair->M, pair->rowA, TestValueGeneral, pair->last};
  const TestShape shapeP = {"P", pair->M, pair->N, pair->rowP, TestValueGeneral, pair->last};
  PetscInt        m;
  Mat             A, P;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&shapeA, typedA ? NULL : "ref_", &A));
  PetscCall(TestShapeCreate(&shapeP, typedP ? NULL : "ref_", &P));
  PetscCall(TestOperandsCreate(A, P, o));
  PetscCall(MatGetLocalSize(A, &m, NULL));
  PetscCall(DenseCreate(m, PETSC_DECIDE, PETSC_DETERMINE, 6, &o->X)); /* six columns */
  PetscCall(DenseCreate(PETSC_DECIDE, m, 6, PETSC_DETERMINE, &o->Y)); /* and six rows */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- products ------------------------------------------------- */

static const PetscReal fill = 2.0;

typedef struct {
  const char *name;
  const char *factors; /* of the product from left to right, small letters transposed: what C x must equal */
  TestProduct product;
  PetscBool   steps; /* by the phases of MatProduct */
  PetscBool   again; /* on several ranks: PETSc 3.18 itself gets A A' wrong, or crashes, when it makes it again with other values */
} ProductCase;

static const ProductCase products[] = {
  {"A P",               "AP",  {MATPRODUCT_AB, "AP"},   PETSC_FALSE, PETSC_TRUE },
  {"A A",               "AA",  {MATPRODUCT_AB, "AA"},   PETSC_FALSE, PETSC_TRUE },
  {"P' A by its rows",  "LA",  {MATPRODUCT_AB, "LA"},   PETSC_FALSE, PETSC_TRUE },
  {"P' A",              "pA",  {MATPRODUCT_AtB, "PA"},  PETSC_FALSE, PETSC_TRUE },
  {"A A'",              "Aa",  {MATPRODUCT_ABt, "AA"},  PETSC_FALSE, PETSC_FALSE},
  {"P' A P",            "pAP", {MATPRODUCT_PtAP, "AP"}, PETSC_FALSE, PETSC_TRUE },
  {"R A R'",            "LAl", {MATPRODUCT_RARt, "AL"}, PETSC_FALSE, PETSC_TRUE },
  {"R A P",             "LAP", {MATPRODUCT_ABC, "LAP"}, PETSC_FALSE, PETSC_TRUE },
  {"A dense",           "AX",  {MATPRODUCT_AB, "AX"},   PETSC_FALSE, PETSC_TRUE },
  {"P' dense",          "pX",  {MATPRODUCT_AtB, "PX"},  PETSC_FALSE, PETSC_TRUE },
  {"dense P",           "YP",  {MATPRODUCT_AB, "YP"},   PETSC_FALSE, PETSC_TRUE },
  {"MatProduct A P",    "AP",  {MATPRODUCT_AB, "AP"},   PETSC_TRUE,  PETSC_TRUE },
  {"MatProduct P' A P", "pAP", {MATPRODUCT_PtAP, "AP"}, PETSC_TRUE,  PETSC_TRUE }
};

/* ------------------------------------------------- comparison ------------------------------------------------- */

/* C x against the factors applied to x one after the other, relative to the norms of the factors */
static PetscErrorCode DiffFactors(TestDiff *d, Mat C, const TestOperands *o, const char factors[])
{
  size_t    n;
  PetscReal scale = 1, norm, err;
  Vec       x, y, z;

  PetscFunctionBeginUser;
  PetscCall(PetscStrlen(factors, &n));
  PetscCall(MatCreateVecs(C, &x, &y));
  PetscCall(TestVecSet(x, 4));
  PetscCall(MatMult(C, x, y));
  while (n--) {
    const PetscBool transposed = (PetscBool)(factors[n] >= 'a');
    Mat             F          = TestOperand(o, factors[n]);

    if (transposed) {
      PetscCall(MatCreateVecs(F, &z, NULL));
      PetscCall(MatMultTranspose(F, x, z));
    } else {
      PetscCall(MatCreateVecs(F, NULL, &z));
      PetscCall(MatMult(F, x, z));
    }
    PetscCall(MatNorm(F, transposed ? NORM_1 : NORM_INFINITY, &norm));
    scale *= PetscMax(norm, 1);
    PetscCall(VecDestroy(&x));
    x = z;
  }
  PetscCall(VecAXPY(y, -1.0, x));
  PetscCall(VecNorm(y, NORM_INFINITY, &err));
  TestDiffAdd(d, "the product is not that of its factors", err / scale);
  PetscCall(TestDestroy(&x, &y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The factors of the reference are plain: nothing of the type under test takes part in what C is compared with */
static PetscErrorCode RunProduct(TestDiff *d, const ProductCase *p, const Pair *pair, PetscBool typedA, PetscBool typedP)
{
  PetscMPIInt  size;
  PetscInt     rounds;
  TestOperands o, r;
  Mat          C = NULL, D = NULL;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  rounds = size > 1 && !p->again ? 1 : 2;
  PetscCall(OperandsCreate(pair, typedA, typedP, &o));
  PetscCall(OperandsCreate(pair, PETSC_FALSE, PETSC_FALSE, &r));
  for (PetscInt round = 0; round < rounds; round++) {
    const MatReuse reuse = round ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX;

    if (round) {
      PetscCall(TestChangeValues(o.A, 5));
      PetscCall(TestChangeValues(r.A, 5));
    }
    PetscCall(p->steps ? TestProductSteps(&p->product, &o, reuse, &C) : TestProductCall(&p->product, &o, reuse, &C));
    PetscCall(p->steps ? TestProductSteps(&p->product, &r, reuse, &D) : TestProductCall(&p->product, &r, reuse, &D));
    PetscCall(TestDiffMat(d, C, D));
    PetscCall(DiffFactors(d, C, &r, p->factors));
  }
  PetscCall(TestDestroy(&C, &D));
  PetscCall(TestOperandsDestroy(&o));
  PetscCall(TestOperandsDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunProducts(PetscBool typedA, PetscBool typedP, const char title[])
{
  char name[64];

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(products); k++) {
    TestDiff d = {NULL, 0};

    for (size_t l = 0; l < (typedA && typedP ? PETSC_STATIC_ARRAY_LENGTH(pairs) : 3); l++) {
      const PetscReal before = PetscMax(d.err, TEST_TOLERANCE);

      if (RunProduct(&d, &products[k], &pairs[l], typedA, typedP)) TestDiffAdd(&d, "PETSc raised an error, see above", PETSC_MAX_REAL);
      if (d.err > before) PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s, %s: %s\n", products[k].name, pairs[l].name, d.what));
    }
    PetscCall(PetscSNPrintf(name, sizeof(name), "%s, %s", products[k].name, title));
    PetscCall(TestReport(name, &d));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The product with an interpolation of three unknowns per node, which knows only that of one */
static PetscErrorCode MAIJ(TestDiff *d)
{
  const TestShape fine = {"A", 108, 108, TestRowBlocks, TestValueGeneral, PETSC_FALSE}, coarse = {"P", 36, 9, TestRowAggregate, TestValueGeneral, PETSC_FALSE};
  Mat             A, R, P, Q, PM, QM, C, D;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&fine, &A, &R));
  PetscCall(TestPairCreate(&coarse, &P, &Q));
  PetscCall(MatCreateMAIJ(P, 3, &PM));
  PetscCall(MatCreateMAIJ(Q, 3, &QM));
  PetscCall(MatPtAP(A, PM, MAT_INITIAL_MATRIX, fill, &C));
  PetscCall(MatPtAP(R, QM, MAT_INITIAL_MATRIX, fill, &D));
  PetscCall(TestDiffMat(d, C, D));
  PetscCall(MatScale(A, 2.0));
  PetscCall(MatScale(R, 2.0));
  PetscCall(MatPtAP(A, PM, MAT_REUSE_MATRIX, fill, &C));
  PetscCall(MatPtAP(R, QM, MAT_REUSE_MATRIX, fill, &D));
  PetscCall(TestDiffMat(d, C, D));
  PetscCall(TestDestroy(&C, &D, &PM, &QM, &P, &Q, &A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A, P and P' A P of the type under test: so is the coarse matrix, and the products of a coarser level run on it */
static PetscErrorCode CoarseType(TestDiff *d)
{
  const Pair  *pair = &pairs[0];
  TestOperands o;
  Mat          C;

  PetscFunctionBeginUser;
  PetscCall(OperandsCreate(pair, PETSC_TRUE, PETSC_TRUE, &o));
  PetscCall(MatPtAP(o.A, o.P, MAT_INITIAL_MATRIX, fill, &C));
  PetscCall(TestDiffType(d, C));
  PetscCall(MatDestroy(&C));
  PetscCall(MatMatMult(o.A, o.P, MAT_INITIAL_MATRIX, fill, &C));
  PetscCall(TestDiffType(d, C));
  PetscCall(MatDestroy(&C));
  PetscCall(MatTransposeMatMult(o.P, o.A, MAT_INITIAL_MATRIX, fill, &C));
  PetscCall(TestDiffType(d, C));
  PetscCall(MatDestroy(&C));
  PetscCall(TestOperandsDestroy(&o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Factors that are transposes by name only, and make their products with whatever there is */
static PetscErrorCode Virtual(TestDiff *d)
{
  const Pair  *pair = &pairs[0];
  TestOperands o, r;
  Mat          T, S, C, D;

  PetscFunctionBeginUser;
  PetscCall(OperandsCreate(pair, PETSC_TRUE, PETSC_TRUE, &o));
  PetscCall(OperandsCreate(pair, PETSC_FALSE, PETSC_FALSE, &r));
  PetscCall(MatCreateTranspose(o.A, &T));
  PetscCall(MatCreateTranspose(r.A, &S));
  PetscCall(MatMatMult(T, o.P, MAT_INITIAL_MATRIX, fill, &C));
  PetscCall(MatMatMult(S, r.P, MAT_INITIAL_MATRIX, fill, &D));
  PetscCall(TestDiffMat(d, C, D));
  PetscCall(TestDestroy(&C, &D));
  PetscCall(MatMatMult(o.A, T, MAT_INITIAL_MATRIX, fill, &C));
  PetscCall(MatMatMult(r.A, S, MAT_INITIAL_MATRIX, fill, &D));
  PetscCall(TestDiffMat(d, C, D));
  PetscCall(TestDestroy(&C, &D, &T, &S));
  PetscCall(TestOperandsDestroy(&o));
  PetscCall(TestOperandsDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MAT_FORCE_DIAGONAL_ENTRIES: the result has its diagonal, if only with zeros */
static PetscErrorCode Diagonal(TestDiff *d)
{
  const TestShape hub = {"A", 60, 60, RowHub, TestValueGeneral, PETSC_FALSE};
  Mat             A, R, C[2];
  Vec             diagonal;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&hub, &A, &R));
  PetscCall(MatCreateVecs(A, &diagonal, NULL));
  PetscCall(VecSet(diagonal, 3.0));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatProductCreate(k ? R : A, k ? R : A, NULL, &C[k]));
    PetscCall(MatProductSetType(C[k], MATPRODUCT_AB));
    PetscCall(MatSetOption(C[k], MAT_FORCE_DIAGONAL_ENTRIES, PETSC_TRUE));
    PetscCall(TestProductPhases(C[k]));
    PetscCall(MatSetOption(C[k], MAT_NEW_NONZERO_LOCATION_ERR, PETSC_TRUE));
    PetscCall(MatDiagonalSet(C[k], diagonal, INSERT_VALUES)); /* an error where an entry is not there */
  }
  PetscCall(VecDestroy(&diagonal));
  PetscCall(TestDiffMat(d, C[0], C[1]));
  PetscCall(TestDestroy(&C[0], &C[1], &A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A sequential matrix and one of a type for several processes: on one process PETSc has no such product */
static PetscErrorCode Kinds(TestDiff *d)
{
  const TestShape grid = {"A", 100, 100, TestRowGrid, TestValueGeneral, PETSC_FALSE};
  PetscErrorCode  ierr[2];
  PetscMPIInt     size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (int swap = 0; swap < 2 && size == 1; swap++) {
    for (int typed = 0; typed < 2; typed++) {
      Mat  C = NULL, M[2];
      char type[64];

      for (int k = 0; k < 2; k++) {
        PetscCall(PetscStrncpy(type, k ? MATMPIAIJ : MATSEQAIJ, sizeof(type)));
        if (typed) PetscCall(TestTypeFull(k ? 2 : 1, type, sizeof(type)));
        PetscCall(MatCreate(PETSC_COMM_WORLD, &M[k]));
        PetscCall(MatSetOptionsPrefix(M[k], typed ? NULL : "ref_"));
        PetscCall(TestShapeSizes(&grid, M[k]));
        PetscCall(MatSetType(M[k], type));
        PetscCall(TestShapePreallocate(&grid, M[k]));
        PetscCall(TestShapeSetValues(&grid, M[k], 1.0, INSERT_VALUES));
      }
      PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
      ierr[typed] = MatMatMult(M[swap], M[!swap], MAT_INITIAL_MATRIX, fill, &C);
      PetscCall(PetscPopErrorHandler());
      PetscCall(TestDestroy(&M[0], &M[1]));
    }
    TestExpect(d, "the error is not that of AIJ", (PetscBool)(ierr[0] && ierr[0] == ierr[1]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const TestCase tests[] = {
  {"P' A P with MATMAIJ",                 MAIJ      },
  {"products with virtual transposes",    Virtual   },
  {"entries forced on the diagonal",      Diagonal  },
  {"products of one type have that type", CoarseType},
  {"operands of two kinds of AIJ",        Kinds     },
  {NULL,                                  NULL      }
};

int main(int argc, char **argv)
{
  PetscInt times = 1;

  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-products_times", &times, NULL));
  for (PetscInt t = 0; t < times; t++) {
    PetscCall(RunProducts(PETSC_TRUE, PETSC_TRUE, "one type"));
    PetscCall(RunProducts(PETSC_TRUE, PETSC_FALSE, "P plain"));
    PetscCall(RunProducts(PETSC_FALSE, PETSC_TRUE, "A plain"));
  }
  PetscCall(TestRun(tests));
  return TestFinalize();
}

/*TEST

  testset:
    nsize: {{1 2 3}}
    checks: 44
    test:
      suffix: aij
      args: -mat_type aij
    test:
      suffix: types
      args: -mat_type {{@types-ccoo-tilecomposite}} -mat_shadow_tune off
    test:
      suffix: hashgemm
      args: -mat_type hashgemm
    test:
      suffix: hashgemm_for_aij
      args: -mat_type aij -hashgemm_for_aij
    test:
      suffix: hashgemm_for_aijcusparse
      requires: cuda
      args: -mat_type aijcusparse -hashgemm_for_aij

  testset:
    nsize: {{1 2 3}}
    args: -mat_type amb -mat_shadow_tune off
    checks: 44
    test:
      suffix: triple_by_petsc
      args: -matmatmatmult_via scalable -matptap_via scalable
    test: # of an AIJ on the host and one on the GPU, PETSc has these two itself, and crashes
      suffix: transposes_by_petsc
      requires: !cuda
      args: -matrart_via r*art -matmattransmult_via color
    test:
      suffix: all_by_petsc
      args: -matmatmult_via scalable -mattransposematmult_via at*b -matmatmatmult_via scalable -matptap_via scalable -mat_product_algorithm scalable
    test:
      suffix: none_by_petsc
      args: -petscamb_for_products

  testset:
    args: -mat_type amb
    checks: 44
    test:
      suffix: amb_tuned
      nsize: 2
      args: -mat_shadow_tune measure
    test:
      suffix: amb_malloc
      nsize: 2
      args: -mat_shadow_tune off -malloc_dump

  testset:
    args: -petscamb_for_aij amb -ref_petscamb_for_aij aij -mat_shadow_tune off
    checks: 44
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
