/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "Setters, options and figures of a shadow; whatever is wrong is refused with a message that helps.\n";

#include "../testutil.h"

static const TestShape blocks = {"blocks", 324, 324, TestRowBlocks, TestValueGeneral, PETSC_FALSE};
static const TestShape grid   = {"grid", 400, 400, TestRowGrid, TestValueGeneral, PETSC_FALSE};

/* ------------------------------------------------- expected errors ------------------------------------------------- */

static PetscErrorCode BadBlockSize(TestDiff *d)
{
  Mat A, R;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&grid, &A, &R));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "0 lets", MatAMBSetBlockSize(A, 11));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "0 lets", MatAMBSetBlockSize(A, -1));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "0 lets", MatAMBSetBlockSize(R, 11));
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(TestDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BadOptions(TestDiff *d)
{
  PetscFunctionBeginUser;
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "-mat_amb_block_size 99", TestShapeCreateBad(&grid, MATAMB, "-bad_mat_amb_block_size", "99"));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "-mat_amb_block_size -3", TestShapeCreateBad(&grid, MATAMB, "-bad_mat_amb_block_size", "-3"));
  TestExpectError(d, 0, "three", TestShapeCreateBad(&grid, MATAMB, "-bad_mat_amb_block_size", "three"));
  TestExpectError(d, 0, "sometimes", TestShapeCreateBad(&grid, MATAMB, "-bad_mat_shadow_tune", "sometimes"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Setters leave matrices of other types alone, and those whose type was replaced by another one; of these there is nothing to tell */
static PetscErrorCode OtherTypes(TestDiff *d)
{
  MatShadowInfo info;
  Mat           A, R, D, C;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&grid, &A, &R));
  PetscCall(MatConvert(R, MATDENSE, MAT_INITIAL_MATRIX, &D));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &C));
  PetscCall(TestShapeSizes(&grid, C));
  PetscCall(MatSetFromOptions(C));
  PetscCall(MatSetType(C, MATBAIJ));
  PetscCall(MatSetUp(C));
  PetscCall(TestShapeSetValues(&grid, C, 1.0, INSERT_VALUES));
  for (PetscInt k = 0; k < 3; k++) {
    Mat M = k == 0 ? R : k == 1 ? D : C;

    PetscCall(MatAMBSetBlockSize(M, 3));
    PetscCall(MatShadowSetTune(M, MAT_SHADOW_TUNE_OFF));
    PetscCall(MatShadowSetValues(M, MAT_SHADOW_VALUES_EXACT));
    PetscCall(MatShadowSetDevice(M, MAT_SHADOW_DEVICE_CPU));
    PetscCall(MatShadowSetUp(M));
    PetscCall(MatShadowGetInfo(M, &info));
    TestExpect(d, "a matrix without a shadow has a format", (PetscBool)(info.format == NULL));
  }
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(TestDestroy(&C, &D, &A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Unassembled(TestDiff *d)
{
  MatShadowInfo info;
  Vec           x, y;
  Mat           A, R;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(TestShapeSizes(&grid, A));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatAMBSetBlockSize(A, 3)); /* before anything else is known */
  PetscCall(MatShadowSetTune(A, MAT_SHADOW_TUNE_OFF));
  TestExpectError(d, PETSC_ERR_ARG_WRONGSTATE, "MatAssemblyBegin", MatShadowSetUp(A));
  PetscCall(TestShapePreallocate(&grid, A));
  PetscCall(MatCreateVecs(A, &x, &y));
  TestExpectError(d, PETSC_ERR_ARG_WRONGSTATE, "assembled", MatMult(A, x, y));
  TestExpectError(d, PETSC_ERR_ARG_WRONGSTATE, "MatAssemblyBegin", MatShadowSetUp(A));
  PetscCall(TestShapeSetValues(&grid, A, 1.0, INSERT_VALUES));
  PetscCall(MatShadowSetUp(A));
  PetscCall(MatShadowGetInfo(A, &info));
  TestExpect(d, "a block size set before assembly is lost", (PetscBool)(TestFigure(A, "block_size") == 3));
  PetscCall(TestShapeCreate(&grid, "ref_", &R));
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(TestDestroy(&x, &y, &A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt RowWrapped(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  cols[0] = i % N;
  return 1;
}

static PetscErrorCode WrongVectors(TestDiff *d)
{
  const TestShape shape = {"rectangular", 60, 40, RowWrapped, TestValueGeneral, PETSC_FALSE};
  Vec             w, x, y;
  Mat             A, R;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&shape, &A, &R));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1.0));
  PetscCall(VecSet(y, 1.0));
  PetscCall(VecDuplicate(x, &w));
  TestExpectError(d, PETSC_ERR_ARG_SIZ, "dim", MatMult(A, y, x));
  TestExpectError(d, PETSC_ERR_ARG_SIZ, "dim", MatMult(A, x, w));
  TestExpectError(d, PETSC_ERR_ARG_SIZ, "dim", MatMultTranspose(A, x, y));
  TestExpectError(d, PETSC_ERR_ARG_SIZ, "dim", MatMultAdd(A, x, x, y));
  TestExpectError(d, PETSC_ERR_ARG_SIZ, "dim", MatMultTransposeAdd(A, y, y, x));
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(TestDestroy(&w, &x, &y, &A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The factors of a block are no matrix to multiply with; setters leave them alone */
static PetscErrorCode Factored(TestDiff *d)
{
  MatFactorInfo factor;
  IS            rows, cols;
  Vec           x, y;
  Mat           A, R, diag, F;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&grid, &A, &R));
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(MatGetDiagonalBlock(A, &diag));
  PetscCall(MatGetOrdering(diag, MATORDERINGND, &rows, &cols));
  PetscCall(MatFactorInfoInitialize(&factor));
  PetscCall(MatGetFactor(diag, MATSOLVERPETSC, MAT_FACTOR_LU, &F));
  PetscCall(MatLUFactorSymbolic(F, diag, rows, cols, &factor));
  PetscCall(MatLUFactorNumeric(F, diag, &factor));
  PetscCall(MatCreateVecs(diag, &x, &y));
  TestExpectError(d, PETSC_ERR_ARG_WRONGSTATE, "factored", MatMult(F, x, y));
  PetscCall(MatAMBSetBlockSize(F, 3));
  PetscCall(MatShadowSetTune(F, MAT_SHADOW_TUNE_OFF));
  PetscCall(TestVecSet(x, 1));
  PetscCall(MatSolve(F, x, y));
  PetscCall(MatMult(diag, y, x));
  PetscCall(TestVecSet(y, 1));
  PetscCall(TestDiffVec(d, "A A^-1 b is not b", x, y, NULL));
  PetscCall(TestDestroy(&x, &y, &rows, &cols, &F));
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(TestDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- setters and options ------------------------------------------------- */

/* The block size a new shadow of A has */
static PetscErrorCode GetBlockSize(Mat A, PetscInt *b)
{
  MatShadowInfo info;

  PetscFunctionBeginUser;
  PetscCall(MatShadowSetUp(A));
  PetscCall(MatShadowGetInfo(A, &info));
  *b = (PetscInt)TestFigure(A, "block_size");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every block size on a matrix in use, and what becomes of it in copies */
static PetscErrorCode BlockSizes(TestDiff *d)
{
  PetscInt b = 0;
  Mat      A, B, R;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&blocks, &A, &R));
  PetscCall(MatShadowSetTune(A, MAT_SHADOW_TUNE_OFF));
  for (PetscInt k = 1; k <= 11; k++) {
    const PetscInt wanted = k % 11; /* 0, the choice of the model, comes last */

    PetscCall(MatAMBSetBlockSize(A, wanted));
    PetscCall(TestDiffMat(d, A, R));
    PetscCall(GetBlockSize(A, &b));
    TestExpect(d, "the block size is not the one set", (PetscBool)(wanted ? b == wanted : b >= 1 && b <= 10));
    PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
    PetscCall(GetBlockSize(B, &b));
    TestExpect(d, "a duplicate has another block size", (PetscBool)(!wanted || b == wanted));
    PetscCall(MatDestroy(&B));
  }
  PetscCall(TestDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Tunes(TestDiff *d)
{
  const MatShadowTune tunes[5] = {MAT_SHADOW_TUNE_OFF, MAT_SHADOW_TUNE_MEASURE, MAT_SHADOW_TUNE_MODEL, MAT_SHADOW_TUNE_MEASURE, MAT_SHADOW_TUNE_OFF};
  MatShadowInfo       info;
  Mat                 A, R;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&blocks, &A, &R));
  for (PetscInt k = 0; k < 5; k++) {
    PetscCall(MatShadowSetTune(A, tunes[k]));
    for (PetscInt products = 0; products < 6; products++) PetscCall(TestDiffMat(d, A, R)); /* enough for any verdict */
    PetscCall(MatShadowGetInfo(A, &info));
    TestExpect(d, "a shadow has no format", (PetscBool)(info.format != NULL && info.reason != NULL && info.kernel != NULL));
    if (tunes[k] == MAT_SHADOW_TUNE_OFF && info.nonzeros > 0) TestExpect(d, "without tuning the format is not amb", (PetscBool)(strcmp(info.format, "amb") == 0));
  }
  PetscCall(TestDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Paths that are possible everywhere; what does not run on GPUs of several processes has none */
static PetscErrorCode Halos(TestDiff *d)
{
  const MatShadowHalo halos[4] = {MAT_SHADOW_HALO_STAGED, MAT_SHADOW_HALO_AUTO, MAT_SHADOW_HALO_STAGED, MAT_SHADOW_HALO_AUTO};
  MatShadowHaloInfo   info;
  Mat                 A, R;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&grid, &A, &R));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "MAT_SHADOW_HALO_AUTO", MatShadowSetHalo(A, (MatShadowHalo)5));
  TestExpectError(d, 0, "pigeon", TestShapeCreateBad(&grid, MATAMB, "-bad_mat_shadow_halo", "pigeon"));
  TestExpectError(d, 0, "pigeon", TestShapeCreateBad(&grid, MATAMB, "-bad_mat_amb_halo", "pigeon"));
  PetscCall(MatShadowSetHalo(R, MAT_SHADOW_HALO_STAGED));
  for (PetscInt k = 0; k < 4; k++) {
    PetscCall(MatShadowSetHalo(A, halos[k]));
    for (PetscInt products = 0; products < 40; products++) PetscCall(TestDiffMat(d, A, R)); /* enough for paths to be compared */
    PetscCall(MatShadowGetHaloInfo(A, &info));
    TestExpect(d, "the path is not the one set", (PetscBool)(!info.path || halos[k] == MAT_SHADOW_HALO_AUTO || strcmp(info.path, MatShadowHalos[halos[k]]) == 0));
    PetscCall(MatScale(A, 2));
    PetscCall(MatScale(R, 2));
  }
  PetscCall(TestDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Options of a prefix reach the matrices of that prefix only */
static PetscErrorCode Prefixes(TestDiff *d)
{
  PetscInt b = 0;
  Mat      A, B;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, "-one_mat_type", "amb"));
  PetscCall(PetscOptionsSetValue(NULL, "-two_mat_type", "amb"));
  PetscCall(PetscOptionsSetValue(NULL, "-one_mat_shadow_tune", "off"));
  PetscCall(PetscOptionsSetValue(NULL, "-two_mat_shadow_tune", "off"));
  PetscCall(PetscOptionsSetValue(NULL, "-one_mat_amb_block_size", "7"));
  PetscCall(PetscOptionsSetValue(NULL, "-two_mat_amb_block_size", "2"));
  PetscCall(TestShapeCreate(&blocks, "one_", &A));
  PetscCall(TestShapeCreate(&blocks, "two_", &B));
  PetscCall(GetBlockSize(A, &b));
  TestExpect(d, "-one_mat_amb_block_size", (PetscBool)(b == 7));
  PetscCall(GetBlockSize(B, &b));
  TestExpect(d, "-two_mat_amb_block_size", (PetscBool)(b == 2));
  PetscCall(TestDiffMat(d, A, B));
  PetscCall(TestDestroy(&A, &B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values cost an update, a new pattern a conversion, and nothing new nothing */
static PetscErrorCode Counts(TestDiff *d)
{
  MatShadowInfo before, after;
  Vec           x, y;
  Mat           A, diag;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&blocks, NULL, &A));
  PetscCall(MatShadowSetTune(A, MAT_SHADOW_TUNE_OFF));
  PetscCall(MatGetDiagonalBlock(A, &diag));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1.0));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatShadowGetInfo(diag, &before));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatShadowGetInfo(diag, &after));
  TestExpect(d, "a product without a change converts or updates", (PetscBool)(after.conversions == before.conversions && after.updates == before.updates));
  PetscCall(MatScale(A, 2.0));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatShadowGetInfo(diag, &after));
  TestExpect(d, "new values are not updated", (PetscBool)(after.conversions == before.conversions && after.updates == before.updates + 1));
  TestExpect(d, "an update changes the bytes", (PetscBool)(after.bytes_stored == before.bytes_stored));
  PetscCall(TestDestroy(&x, &y, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is told must hang together */
static PetscErrorCode Figures(TestDiff *d)
{
  MatShadowInfo info;
  MatInfo       aij;
  Mat           A;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&blocks, NULL, &A));
  PetscCall(MatShadowSetTune(A, MAT_SHADOW_TUNE_OFF));
  PetscCall(MatShadowSetUp(A));
  PetscCall(MatShadowGetInfo(A, &info));
  PetscCall(MatGetInfo(A, MAT_LOCAL, &aij));
  TestExpect(d, "nonzeros", (PetscBool)(info.nonzeros == aij.nz_used));
  TestExpect(d, "fewer values stored than there are", (PetscBool)(info.stored_values >= info.nonzeros));
  TestExpect(d, "fewer bytes than the values take", (PetscBool)(info.bytes_stored >= info.stored_values * sizeof(PetscScalar)));
  TestExpect(d, "bytes of the AIJ", (PetscBool)(info.bytes_csr >= info.nonzeros * (sizeof(PetscScalar) + sizeof(PetscInt))));
  TestExpect(d, "bytes of the model", (PetscBool)(info.bytes_model > 0));
  TestExpect(d, "parameters", (PetscBool)(TestFigure(A, "block_size") > 0 && (TestFigure(A, "threads") > 0 || (TestFigure(A, "chunk_size") > 0 && TestFigure(A, "sort_scope") > 0 && TestFigure(A, "tiles") > 0))));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The figures of an MPI matrix are the sums of those of its blocks, or those of the diagonal block */
static PetscErrorCode SumsOverBlocks_One(TestDiff *d, PetscBool exhaustive)
{
  MatShadowInfo whole, one, two;
  Vec           x, y;
  Mat           A, block[2];
  PetscBool     mpi, device;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&blocks, NULL, &A));
  if (exhaustive) {
    PetscCall(MatConvert(A, MATNUSSELL, MAT_INPLACE_MATRIX, &A));
    PetscCall(MatShadowSetTune(A, MAT_SHADOW_TUNE_OFF));
    PetscCall(MatNUSSELLSetTune(A, MAT_NUSSELL_TUNE_EXHAUSTIVE));
  } else PetscCall(MatShadowSetTune(A, MAT_SHADOW_TUNE_ONLINE));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1.0));
  for (PetscInt k = 0; k < (exhaustive ? 0 : 400); k++) {
    PetscCall(MatMult(A, x, y));
    if (k % 100 == 99) PetscCall(MatScale(A, 0.5));
  }
  PetscCall(MatShadowSetUp(A));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  if (mpi) {
    PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
    PetscCall(MatShadowGetInfo(A, &whole));
    PetscCall(MatShadowGetInfo(block[0], &one));
    PetscCall(MatShadowGetInfo(block[1], &two));
    device = (PetscBool)(strcmp(one.kernel, "cuda") == 0); /* tunes on vectors made for the purpose, after thousands of products */
    TestExpect(d, "the format is not that of the diagonal block", (PetscBool)(whole.format == one.format && whole.reason == one.reason && whole.kernel == one.kernel));
    TestExpect(d, "the times are not those of the diagonal block", (PetscBool)(whole.time_csr == one.time_csr && whole.time_format == one.time_format));
    TestExpect(d, "tuning", (PetscBool)(whole.tuning == (one.tuning || two.tuning)));
    TestExpect(d, "products spent on tuning", (PetscBool)(whole.tried == one.tried + two.tried && (!exhaustive || two.tried > 0)));
    TestExpect(d, "candidates", (PetscBool)(whole.candidates == one.candidates + two.candidates));
    TestExpect(d, "conversions", (PetscBool)(whole.conversions == one.conversions + two.conversions && one.conversions > 0));
    TestExpect(d, "updates", (PetscBool)(whole.updates == one.updates + two.updates));
    TestExpect(d, "nonzeros", (PetscBool)(whole.nonzeros == one.nonzeros + two.nonzeros && two.nonzeros > 0));
    TestExpect(d, "stored values", (PetscBool)(whole.stored_values == one.stored_values + two.stored_values));
    TestExpect(d, "bytes of the AIJ", (PetscBool)(whole.bytes_csr == one.bytes_csr + two.bytes_csr && two.bytes_csr > 0));
    TestExpect(d, "bytes of the model", (PetscBool)(whole.bytes_model == one.bytes_model + two.bytes_model));
    TestExpect(d, "bytes stored", (PetscBool)(whole.bytes_stored == one.bytes_stored + two.bytes_stored));
    TestExpect(d, "more bytes", (PetscBool)(whole.bytes_extra == one.bytes_extra + two.bytes_extra));
    TestExpect(d, "times of conversions", (PetscBool)(whole.time_convert == one.time_convert + two.time_convert && one.time_convert > 0));
    TestExpect(d, "times of updates", (PetscBool)(whole.time_update == one.time_update + two.time_update));
    TestExpect(d, "times of tuning", (PetscBool)(whole.time_tune == one.time_tune + two.time_tune && (exhaustive || device || one.time_tune > 0)));
    TestExpect(d, "times of tuning beside the solver", (PetscBool)(whole.time_tune_beside == one.time_tune_beside + two.time_tune_beside));
    PetscCall(MatShadowSetTune(A, MAT_SHADOW_TUNE_OFF));
    PetscCall(MatShadowSetTune(block[1], MAT_SHADOW_TUNE_MEASURE));
    PetscCall(MatShadowGetInfo(A, &whole));
    TestExpect(d, "the off-diagonal block alone is tuning", (PetscBool)(whole.tuning || device));
  }
  PetscCall(TestDestroy(&x, &y, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SumsOverBlocks(TestDiff *d)
{
  PetscFunctionBeginUser;
  PetscCall(SumsOverBlocks_One(d, PETSC_FALSE));
  PetscCall(SumsOverBlocks_One(d, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The reason follows what happens to a sequential matrix, and so do its figures before and after */
static PetscErrorCode Reasons(TestDiff *d)
{
  MatShadowInfo info;
  Mat           A, B;
  PetscBool     device;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&blocks, NULL, &A));
  PetscCall(TestOnDevice(A, &device));
  PetscCall(MatGetDiagonalBlock(A, &B));
  PetscCall(MatShadowGetInfo(B, &info));
  if (device) { /* a GPU has other kernels and other words */
    PetscCall(MatDestroy(&A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  TestExpect(d, "before a product", (PetscBool)(!strcmp(info.format, "csr") && !strcmp(info.kernel, "aij") && !strcmp(info.reason, "no products yet") && info.conversions == 0));
  PetscCall(MatShadowSetTune(B, MAT_SHADOW_TUNE_MODEL));
  PetscCall(MatShadowSetUp(B));
  PetscCall(MatShadowGetInfo(B, &info));
  TestExpect(d, "converted", (PetscBool)(!strcmp(info.format, "amb") && !strcmp(info.reason, "the traffic model sees a gain") && info.conversions == 1 && info.bytes_model < info.bytes_csr && !info.tuning));
  PetscCall(MatShadowSetTune(B, MAT_SHADOW_TUNE_OFF));
  PetscCall(MatAMBSetBlockSize(B, 10));
  PetscCall(MatShadowGetInfo(B, &info));
  TestExpect(d, "with new parameters", (PetscBool)(!strcmp(info.format, "csr") && !strcmp(info.reason, "no products yet") && info.bytes_stored == 0 && info.nonzeros > 0 && info.bytes_csr > 0 && info.conversions == 1));
  PetscCall(MatShadowSetUp(B));
  PetscCall(MatShadowGetInfo(B, &info));
  TestExpect(d, "converted against the model", (PetscBool)(info.bytes_model < info.bytes_csr || !strcmp(info.reason, "tried against the traffic model")));
  TestExpect(d, "converted again", (PetscBool)(info.conversions == 2 && info.time_convert > 0));
  PetscCall(MatShadowSetTune(B, MAT_SHADOW_TUNE_MODEL));
  PetscCall(MatShadowSetUp(B));
  PetscCall(MatShadowGetInfo(B, &info));
  if (!strcmp(info.format, "csr")) TestExpect(d, "declined", (PetscBool)(!strcmp(info.reason, "the traffic model sees no gain") && info.bytes_model > info.bytes_csr && info.bytes_stored == 0 && info.conversions == 2));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* More columns in a block than the matrix has */
static PetscErrorCode FewColumns(TestDiff *d)
{
  const TestShape shape = {"small", 9, 9, TestRowGrid, TestValueGeneral, PETSC_FALSE};
  Mat             A, R;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&shape, &A, &R));
  PetscCall(MatShadowSetTune(A, MAT_SHADOW_TUNE_OFF));
  PetscCall(MatAMBSetBlockSize(A, 10));
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(TestDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const TestCase tests[] = {
  {"block sizes out of range",        BadBlockSize  },
  {"bad option values",               BadOptions    },
  {"matrices of other types",         OtherTypes    },
  {"unassembled matrix",              Unassembled   },
  {"vectors of a wrong size",         WrongVectors  },
  {"factored matrix",                 Factored      },
  {"MatAMBSetBlockSize",              BlockSizes    },
  {"MatShadowSetTune",                Tunes         },
  {"MatShadowSetHalo",                Halos         },
  {"options prefixes",                Prefixes      },
  {"conversions and updates",         Counts        },
  {"MatShadowGetInfo",                Figures       },
  {"sums over the blocks",            SumsOverBlocks},
  {"reasons",                         Reasons       },
  {"more block columns than columns", FewColumns    },
  {NULL,                              NULL          }
};

int main(int argc, char **argv)
{
  return TestMain(argc, argv, help, tests);
}

/*TEST

  test:
    nsize: {{1 2 3}}
    args: -mat_type amb
    checks: 15

TEST*/
