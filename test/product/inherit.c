/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "What a product of matrices carries besides its entries, as that of MATAIJ does: block sizes, layouts, flags, null spaces, names, what is attached.\n";

#include "../testproduct.h"

/* Blocks of three rows and three columns for A, of three and six for P */
#define NODES  12
#define COARSE 4

/* Aggregate (i / 3) / 3 */
static PetscInt RowAggregates(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  const PetscInt a = PetscMin(i / 9, N / 6 - 1);
  PetscInt       n = 0;

  for (PetscInt c = 0; c < 6; c++) cols[n++] = 6 * a + c;
  return n;
}

static const TestShape shapeA = {"A", 3 * NODES, 3 * NODES, TestRowBlocks, TestValueGeneral, PETSC_FALSE};
static const TestShape shapeD = {"D", 3 * NODES, 3 * NODES, TestRowGrid, TestValueGeneral, PETSC_FALSE};
static const TestShape shapeP = {"P", 3 * NODES, 6 * COARSE, RowAggregates, TestValueGeneral, PETSC_FALSE};

static PetscErrorCode BlockedCreate(const TestShape *shape, PetscInt rbs, PetscInt cbs, PetscBool typed, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetOptionsPrefix(*A, typed ? NULL : "ref_"));
  PetscCall(TestShapeSizes(shape, *A));
  PetscCall(MatSetBlockSizes(*A, rbs, cbs));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(TestShapePreallocate(shape, *A));
  PetscCall(TestShapeSetValues(shape, *A, 1.0, INSERT_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OperandsCreate(const TestShape *shape, PetscBool typed, TestOperands *o)
{
  Mat A, P;

  PetscFunctionBeginUser;
  PetscCall(BlockedCreate(shape, 3, 3, typed, &A));
  PetscCall(BlockedCreate(&shapeP, 3, 6, typed, &P));
  PetscCall(TestOperandsCreate(A, P, o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Operands of the type under test, and plain ones */
static PetscErrorCode BothCreate(const TestShape *shape, TestOperands *o, TestOperands *r)
{
  PetscFunctionBeginUser;
  PetscCall(OperandsCreate(shape, PETSC_TRUE, o));
  PetscCall(OperandsCreate(shape, PETSC_FALSE, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BothDestroy(TestOperands *o, TestOperands *r)
{
  PetscFunctionBeginUser;
  PetscCall(TestOperandsDestroy(o));
  PetscCall(TestOperandsDestroy(r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  const char *name;
  TestProduct product;
  PetscInt    rbs, cbs;     /* of the product */
  const char *algorithm[2]; /* of PETSc, on one process and on several */
} Kind;

static const Kind kinds[] = {
  {"A P",    {MATPRODUCT_AB, "AP"},   3, 6, {"sorted", "nonscalable"}},
  {"P' A",   {MATPRODUCT_AtB, "PA"},  6, 3, {"at*b", "nonscalable"}  },
  {"A L'",   {MATPRODUCT_ABt, "AL"},  3, 6, {"color", "nonscalable"} },
  {"P' A P", {MATPRODUCT_PtAP, "AP"}, 6, 6, {"scalable", "scalable"} },
  {"L A L'", {MATPRODUCT_RARt, "AL"}, 6, 6, {"r*a*rt", "nonscalable"}},
  {"L A P",  {MATPRODUCT_ABC, "LAP"}, 6, 6, {"sorted", "nonscalable"}}
};

/* By one of PETSc's algorithms, also where AIJ has ours as a default */
static PetscErrorCode KindCreatePlain(const Kind *k, const TestOperands *r, Mat *R)
{
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(TestProductCreate(&k->product, r, R));
  PetscCall(MatProductSetAlgorithm(*R, k->algorithm[size > 1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The traits of C against those of R, its entries against those of a new product of these operands */
static PetscErrorCode DiffProduct(TestDiff *d, const Kind *k, Mat C, Mat R, const TestOperands *r)
{
  PetscInt rbs, cbs;
  Mat      F;

  PetscFunctionBeginUser;
  PetscCall(MatGetBlockSizes(C, &rbs, &cbs));
  TestExpect(d, "the block sizes are not those of the operands", (PetscBool)(rbs == k->rbs && cbs == k->cbs));
  if (k->product.type == MATPRODUCT_ABt) PetscCall(MatSetBlockSizes(R, k->rbs, k->cbs)); /* on one process PETSc before 3.26 takes the columns of L for its rows */
  PetscCall(MatSetOption(C, MAT_NO_OFF_PROC_ENTRIES, PETSC_FALSE));                      /* which some of PETSc's algorithms leave on */
  PetscCall(MatSetOption(R, MAT_NO_OFF_PROC_ENTRIES, PETSC_FALSE));
  PetscCall(TestDiffTraits(d, C, R));
  PetscCall(KindCreatePlain(k, r, &F));
  PetscCall(TestProductPhases(F));
  PetscCall(TestDiffMat(d, C, F));
  PetscCall(MatDestroy(&F));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* May an entry be added that the product does not have? */
static PetscErrorCode TakesEntries(Mat C, PetscMPIInt *takes)
{
  PetscInt        first, end, n, N, column = 0;
  const PetscInt *cols;
  PetscErrorCode  ierr = PETSC_SUCCESS;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(C, &first, &end));
  PetscCall(MatGetSize(C, NULL, &N));
  if (end > first) {
    PetscCall(MatGetRow(C, first, &n, &cols, NULL));
    while (column < n && cols[column] == column) column++;
    PetscCall(MatRestoreRow(C, first, &n, &cols, NULL));
    PetscCall(PetscPushErrorHandler(TestKeepMessage, NULL));
    if (column < N) ierr = MatSetValue(C, first, column, 1.0, INSERT_VALUES);
    PetscCall(PetscPopErrorHandler());
  }
  *takes = ierr ? 0 : 1;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, takes, 1, MPI_INT, MPI_MIN, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DiffTakes(TestDiff *d, Mat C, Mat R)
{
  PetscMPIInt takes[2];

  PetscFunctionBeginUser;
  PetscCall(TakesEntries(C, &takes[0]));
  PetscCall(TakesEntries(R, &takes[1]));
  TestExpect(d, "an entry may be added to the product and not to that of AIJ, or the other way round", (PetscBool)(takes[0] == takes[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a program may say of a product before it has entries, and what it attaches */
static PetscErrorCode SetBefore(Mat C, PetscObject attached)
{
  PetscFunctionBeginUser;
  PetscCall(MatSetOptionsPrefix(C, "inherit_"));
  PetscCall(PetscObjectSetName((PetscObject)C, "a product"));
  PetscCall(PetscObjectIncrementTabLevel((PetscObject)C, NULL, 2));
  PetscCall(PetscObjectCompose((PetscObject)C, "TestAttached", attached));
  PetscCall(MatSetOption(C, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatSetOption(C, MAT_SYMMETRY_ETERNAL, PETSC_TRUE));
  PetscCall(MatSetOption(C, MAT_STRUCTURALLY_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatSetOption(C, MAT_STRUCTURAL_SYMMETRY_ETERNAL, PETSC_TRUE));
  PetscCall(MatSetOption(C, MAT_SUBMAT_SINGLEIS, PETSC_TRUE));
  PetscCall(MatSetErrorIfFailure(C, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetSpaces(Mat C, MatNullSpace space[])
{
  PetscFunctionBeginUser;
  PetscCall(MatSetNullSpace(C, space[0]));
  PetscCall(MatSetTransposeNullSpace(C, space[1]));
  PetscCall(MatSetNearNullSpace(C, space[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* And when it has a pattern */
static PetscErrorCode SetAfter(Mat C, MatNullSpace space[])
{
  PetscFunctionBeginUser;
  PetscCall(SetSpaces(C, space));
  PetscCall(MatSetOption(C, MAT_SPD, PETSC_TRUE));
  PetscCall(MatSetOption(C, MAT_SPD_ETERNAL, PETSC_TRUE));
  PetscCall(MatSetOption(C, MAT_NO_OFF_PROC_ZERO_ROWS, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Phase by phase, with what is said of the product in between; then with other values, other operands, operands with other entries, plain ones */
static PetscErrorCode Phases(TestDiff *d, const Kind *k)
{
  TestOperands   o, r, p;
  Mat            C, R;
  MatNullSpace   space[3];
  PetscContainer attached;

  PetscFunctionBeginUser;
  PetscCall(PetscContainerCreate(PETSC_COMM_WORLD, &attached));
  for (int s = 0; s < 3; s++) PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &space[s]));
  PetscCall(BothCreate(&shapeA, &o, &r));
  PetscCall(TestProductCreate(&k->product, &o, &C));
  PetscCall(KindCreatePlain(k, &r, &R));
  PetscCall(SetBefore(C, (PetscObject)attached));
  PetscCall(SetBefore(R, (PetscObject)attached));
  PetscCall(MatProductSetFromOptions(C));
  PetscCall(MatProductSetFromOptions(R));
  PetscCall(MatProductSymbolic(C));
  PetscCall(MatProductSymbolic(R));
  PetscCall(SetAfter(C, space));
  PetscCall(SetAfter(R, space));
  PetscCall(MatProductNumeric(C));
  PetscCall(MatProductNumeric(R));
  PetscCall(DiffProduct(d, k, C, R, &r));

  PetscCall(MatScale(o.A, 2.0));
  PetscCall(MatScale(r.A, 2.0));
  PetscCall(MatProductNumeric(C));
  PetscCall(DiffProduct(d, k, C, R, &r));
  PetscCall(BothDestroy(&o, &r));

  PetscCall(BothCreate(&shapeA, &o, &r));
  PetscCall(TestProductReplace(&k->product, &o, C));
  PetscCall(DiffProduct(d, k, C, R, &r));
  PetscCall(BothDestroy(&o, &r));

  PetscCall(BothCreate(&shapeD, &o, &r));
  PetscCall(TestProductReplace(&k->product, &o, C)); /* which AIJ does not do */
  PetscCall(DiffProduct(d, k, C, R, &r));

  PetscCall(OperandsCreate(&shapeA, PETSC_FALSE, &p)); /* PETSc has another algorithm for these */
  PetscCall(TestProductReplace(&k->product, &p, C));
  PetscCall(TestProductReplace(&k->product, &o, C));
  PetscCall(SetSpaces(C, space)); /* a change of type takes them away */
  PetscCall(DiffProduct(d, k, C, R, &r));
  PetscCall(TestDiffType(d, C));
  PetscCall(TestOperandsDestroy(&p));
  PetscCall(BothDestroy(&o, &r));

  PetscCall(DiffTakes(d, C, R));
  for (int s = 0; s < 3; s++) PetscCall(MatNullSpaceDestroy(&space[s]));
  PetscCall(PetscContainerDestroy(&attached));
  PetscCall(TestDestroy(&C, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Made by one call, and made again */
static PetscErrorCode Calls(TestDiff *d, const Kind *k)
{
  TestOperands o, r;
  Mat          C, R;
  PetscMPIInt  size;
  PetscBool    again;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(BothCreate(&shapeA, &o, &r));
  PetscCall(MatSetOption(o.A, MAT_SPD, PETSC_TRUE));
  PetscCall(MatSetOption(r.A, MAT_SPD, PETSC_TRUE));
  PetscCall(TestProductCall(&k->product, &o, MAT_INITIAL_MATRIX, &C));
  PetscCall(TestProductCall(&k->product, &r, MAT_INITIAL_MATRIX, &R));
  PetscCall(PetscObjectSetName((PetscObject)C, "a product"));
  PetscCall(PetscObjectSetName((PetscObject)R, "a product"));
  PetscCall(DiffProduct(d, k, C, R, &r));
  again = (PetscBool)(size == 1 || k->product.type != MATPRODUCT_ABt);                          /* or PETSc 3.18 crashes */
  for (int l = 0; l < 2 && again; l++) PetscCall(MatSetOption(l ? R : C, MAT_SPD, PETSC_TRUE)); /* until there are other values */
  PetscCall(MatScale(o.A, 2.0));
  PetscCall(MatScale(r.A, 2.0));
  PetscCall(TestProductCall(&k->product, &o, MAT_REUSE_MATRIX, &C));
  if (again) PetscCall(TestProductCall(&k->product, &r, MAT_REUSE_MATRIX, &R));
  PetscCall(DiffProduct(d, k, C, R, &r));
  PetscCall(DiffTakes(d, C, R));
  PetscCall(TestDestroy(&C, &R));
  PetscCall(BothDestroy(&o, &r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In a matrix that is there, of other entries */
static PetscErrorCode Given(TestDiff *d, const Kind *k)
{
  TestOperands o, r;
  Mat          C[2];
  MatNullSpace space[3];

  PetscFunctionBeginUser;
  for (int s = 0; s < 3; s++) PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &space[s]));
  PetscCall(BothCreate(&shapeD, &o, &r));
  PetscCall(TestProductCall(&k->product, &o, MAT_INITIAL_MATRIX, &C[0]));
  PetscCall(TestProductCall(&k->product, &r, MAT_INITIAL_MATRIX, &C[1]));
  PetscCall(BothDestroy(&o, &r));
  PetscCall(BothCreate(&shapeA, &o, &r));
  for (int l = 0; l < 2; l++) {
    const TestOperands *f = l ? &r : &o;

    PetscCall(PetscObjectSetName((PetscObject)C[l], "a product"));
    PetscCall(SetAfter(C[l], space));
    PetscCall(TestProductCreateWithMat(&k->product, f, C[l]));
    PetscCall(TestProductPhases(C[l]));
  }
  PetscCall(DiffProduct(d, k, C[0], C[1], &r));
  for (int s = 0; s < 3; s++) PetscCall(MatNullSpaceDestroy(&space[s]));
  PetscCall(TestDestroy(&C[0], &C[1]));
  PetscCall(BothDestroy(&o, &r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The pattern alone, which some users of PETSc's own ask for */
static PetscErrorCode Pattern(TestDiff *d, const Kind *k)
{
  TestOperands o, r;
  Mat          C[2];
  MatInfo      info[2];

  PetscFunctionBeginUser;
  if (k->product.type != MATPRODUCT_AB && k->product.type != MATPRODUCT_AtB) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(BothCreate(&shapeA, &o, &r));
  PetscCall(TestProductCreate(&k->product, &o, &C[0]));
  PetscCall(KindCreatePlain(k, &r, &C[1]));
  for (int l = 0; l < 2; l++) {
    PetscCall(MatSetOption(C[l], MAT_STRUCTURE_ONLY, PETSC_TRUE));
    PetscCall(MatProductSetFromOptions(C[l]));
    PetscCall(MatProductSymbolic(C[l]));
    PetscCall(MatGetInfo(C[l], MAT_GLOBAL_SUM, &info[l]));
  }
  TestExpect(d, "the pattern has another number of entries", (PetscBool)(info[0].nz_used == info[1].nz_used));
  PetscCall(TestDestroy(&C[0], &C[1]));
  PetscCall(BothDestroy(&o, &r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A program may forbid I-nodes after the symbolic phase, as late as that */
static PetscErrorCode Inodes(TestDiff *d, const Kind *k)
{
  TestOperands o, r;
  Mat          C, block[2] = {NULL, NULL};
  PetscBool    mpi;

  PetscFunctionBeginUser;
  PetscCall(BothCreate(&shapeA, &o, &r));
  PetscCall(TestProductCreate(&k->product, &o, &C));
  PetscCall(MatProductSetFromOptions(C));
  PetscCall(MatProductSymbolic(C));
  PetscCall(MatSetOption(C, MAT_USE_INODES, PETSC_FALSE));
  PetscCall(MatProductNumeric(C));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)C, MATMPIAIJ, &mpi));
  if (mpi) PetscCall(MatMPIAIJGetSeqAIJ(C, &block[0], &block[1], NULL));
  else block[0] = C;
  for (int b = 0; b < 2 && block[b]; b++) {
    PetscInt *sizes = NULL;

    PetscCall(MatInodeGetInodeSizes(block[b], NULL, &sizes, NULL));
    TestExpect(d, "the product has I-nodes, which the program has forbidden", (PetscBool)!sizes);
  }
  PetscCall(MatDestroy(&C));
  PetscCall(BothDestroy(&o, &r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const struct {
    const char *name;
    PetscErrorCode (*run)(TestDiff *, const Kind *);
  } ways[] = {
    {"by phases",     Phases },
    {"by a call",     Calls  },
    {"in a matrix",   Given  },
    {"pattern alone", Pattern},
    {"no I-nodes",    Inodes }
  };

  PetscCall(TestInitialize(&argc, &argv, help));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(kinds); k++) {
    for (size_t w = 0; w < PETSC_STATIC_ARRAY_LENGTH(ways); w++) {
      TestDiff d = {NULL, 0};
      char     name[64];

      if ((*ways[w].run)(&d, &kinds[k])) TestDiffAdd(&d, "PETSc raised an error, see above", PETSC_MAX_REAL);
      PetscCall(PetscSNPrintf(name, sizeof(name), "%s, %s", kinds[k].name, ways[w].name));
      PetscCall(TestReport(name, &d));
    }
  }
  return TestFinalize();
}

/*TEST

  testset:
    tier: check
    comments: every matrix type and every product in a few seconds
    nsize: {{1 2 3}}
    checks: 30
    test:
      suffix: types
      args: -mat_type {{@types}} -mat_shadow_tune off
    test:
      suffix: hashgemm
      args: -mat_type hashgemm
    test:
      suffix: hashgemm_for_aij
      args: -mat_type aij -hashgemm_for_aij

  test:
    suffix: hashgemm_for_aijcusparse
    requires: cuda
    nsize: {{1 2}}
    args: -mat_type aijcusparse -hashgemm_for_aij
    checks: 30

TEST*/
