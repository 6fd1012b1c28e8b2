/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "Every public setter changes something that a program can see. test/mat/setters.sh compares the names here with petscamb.h.\n";

#include <petscksp.h>

#include "../testutil.h"

/* Few values, so that formats with a table of values use it */
static PetscScalar ValueFew(PetscInt i, PetscInt j)
{
  return (PetscScalar)(PetscReal)(1 + (i + 2 * j) % 5);
}

static const TestShape shape = {"hub", 324, 324, TestRowHub, TestValueGeneral, PETSC_FALSE}, few = {"few values", 324, 324, TestRowHub, ValueFew, PETSC_FALSE};

#define TEXT 4096

/* Copies the first line of the file that contains key, from key on, to text; "" if there is none */
static PetscErrorCode ReadLine(const char name[], const char key[], char text[TEXT])
{
  FILE       *file = fopen(name, "r");
  const char *found;

  PetscFunctionBeginUser;
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s", name);
  do {
    text[0] = 0;
    if (!fgets(text, TEXT, file)) break;
    found = strstr(text, key);
  } while (!found);
  if (text[0]) memmove(text, found, strlen(found) + 1);
  (void)fclose(file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Calls the setter, converts the matrix if convert, multiplies it once, and writes its figures without times, or the error, to text */
static PetscErrorCode Describe(const char type[], PetscBool convert, PetscErrorCode (*set)(Mat), char text[TEXT])
{
  Mat            A;
  PetscViewer    viewer;
  PetscBool      ccoo;
  MatShadowInfo  info;
  const char    *name;
  PetscLogDouble figure;
  PetscErrorCode ierr;
  size_t         used;
  char           line[TEXT];

  PetscFunctionBeginUser;
  PetscCall(PetscStrcmp(type, MATCCOO, &ccoo));
  PetscCall(TestShapeCreate(ccoo ? &few : &shape, "plain_", &A));
  PetscCall(MatConvert(A, type, MAT_INPLACE_MATRIX, &A));
  PetscCall(MatShadowSetTune(A, MAT_SHADOW_TUNE_OFF));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  ierr = (*set)(A);
  if (!ierr && convert) ierr = MatShadowSetUp(A);
  if (!ierr) ierr = TestMultiply(A, 1);
  PetscCall(PetscPopErrorHandler());
  PetscCall(MatShadowGetInfo(A, &info));
  PetscCall(PetscViewerASCIIOpen(PETSC_COMM_SELF, "setters.txt", &viewer));
  PetscCall(PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_INFO));
  PetscCall(MatView(A, viewer));
  PetscCall(PetscViewerPopFormat(viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(ReadLine("setters.txt", "copy of the AIJ on the GPU", line));
  PetscCall(PetscSNPrintf(text, TEXT, "%serror %d, %s, %s, %s, %g bytes, %d conversions, %d candidates, %d products to tune, tuning %d;", line, (int)ierr, info.format, info.kernel, info.reason, info.bytes_stored, (int)info.conversions, (int)info.candidates,
                          (int)info.tried, (int)info.tuning));
  for (PetscInt k = 0;; k++) {
    PetscCall(MatShadowGetFigureAt(A, k, &name, &figure));
    if (!name) break;
    PetscCall(PetscStrlen(text, &used));
    PetscCall(PetscSNPrintf(text + used, TEXT - used, " %s %g", name, figure));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Without this, a matrix is converted by its first product, or later */
static PetscErrorCode MatShadowSetUp_First(Mat A)
{
  return MatShadowSetTune(A, MAT_SHADOW_TUNE_MEASURE);
}

static PetscErrorCode MatShadowSetUp_Second(Mat A)
{
  PetscFunctionBeginUser;
  PetscCall(MatShadowSetTune(A, MAT_SHADOW_TUNE_MEASURE));
  PetscCall(MatShadowSetUp(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- preconditioners, batches, products ------------------------------------------------- */

static PetscErrorCode ReadFile(const char name[], char text[TEXT])
{
  FILE *file = fopen(name, "r");

  PetscFunctionBeginUser;
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s", name);
  text[fread(text, 1, TEXT - 1, file)] = 0;
  (void)fclose(file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DescribePC(PetscBool set, PetscBool strongest, char text[TEXT])
{
  Mat         A;
  PC          pc;
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&shape, "plain_", &A));
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetType(pc, PCGAMG));
  PetscCall(PCGAMGSetType(pc, PCGAMGAMBAGG));
  if (set && strongest) PetscCall(PCGAMGAmbAggSetStrongest(pc, PETSC_TRUE));
  if (set && !strongest) PetscCall(PCGAMGAmbAggSetMinAggregateSize(pc, 4));
  PetscCall(PetscViewerASCIIOpen(PETSC_COMM_SELF, "setters.txt", &viewer));
  PetscCall(PCView(pc, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(ReadFile("setters.txt", text));
  PetscCall(TestDestroy(&pc, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DescribeILU(PetscBool set, PetscBool type, char text[TEXT])
{
  Mat         A;
  PC          pc;
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&shape, "plain_", &A));
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetType(pc, PCAMBILU));
  if (set && type) PetscCall(PCAMBILUSetType(pc, PC_AMBILU_ISAI));
  if (set && !type) PetscCall(PCAMBILUSetOrderingType(pc, MATORDERINGRCM));
  PetscCall(PetscViewerASCIIOpen(PETSC_COMM_SELF, "setters.txt", &viewer));
  PetscCall(PCView(pc, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(ReadFile("setters.txt", text));
  PetscCall(TestDestroy(&pc, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A batch of one matrix of one entry: its norm and view, with other values or with atomic operations if set */
static PetscErrorCode DescribeBatch(PetscBool set, PetscBool atomic, char text[TEXT])
{
  const PetscInt    one[1] = {1}, i[2] = {0, 1}, j[1] = {0};
  const PetscScalar value[2] = {2, 3};
  PetscReal         norm;
  MatBatch          B;
  PetscViewer       viewer;
  char              line[TEXT];
  Vec               x, y;

  PetscFunctionBeginUser;
  PetscCall(MatBatchCreateCSR(PETSC_COMM_SELF, 1, one, one, i, j, value, &B));
  if (set && !atomic) PetscCall(MatBatchSetValues(B, value + 1));
  if (set && atomic) PetscCall(MatBatchSetAtomic(B, PETSC_TRUE));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, 1, &x));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(MatBatchMult(B, 1, x, y));
  PetscCall(VecNorm(y, NORM_2, &norm));
  PetscCall(PetscViewerASCIIOpen(PETSC_COMM_SELF, "setters.txt", &viewer));
  PetscCall(MatBatchView(B, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(ReadLine("setters.txt", "atomic operations", line));
  PetscCall(PetscSNPrintf(text, TEXT, "%g %s", (double)norm, line));
  PetscCall(TestDestroy(&x, &y));
  PetscCall(MatBatchDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes the rows of each accumulator, from the message of PetscInfo() about a product, to text */
static PetscErrorCode DescribeProduct(PetscBool set, char text[TEXT])
{
  Mat A, C;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&shape, "plain_", &A));
  PetscCall(MatConvert(A, MATHASHGEMM, MAT_INPLACE_MATRIX, &A));
  PetscCall(MatHashGEMMSetAccumulator(A, set ? MAT_HASHGEMM_HEAP : MAT_HASHGEMM_HASH));
  PetscCall(PetscInfoSetFile("setters", "w"));
  PetscCall(PetscInfoAllow(PETSC_TRUE));
  PetscCall(MatMatMult(A, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(PetscInfoAllow(PETSC_FALSE));
  PetscCall(PetscInfoSetFile(NULL, NULL));
  PetscCall(ReadLine("setters.0", "; rows ", text));
  PetscCheck(text[0], PETSC_COMM_SELF, PETSC_ERR_PLIB, "PetscInfo() printed no line with the rows of a product");
  text[strcspn(text + 1, ";") + 1] = 0;
  PetscCall(TestDestroy(&C, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- matrices ------------------------------------------------- */

/* A setter for matrices: its name, the type, and two calls that differ in what follows from them */
#define SETTERS(S) \
  S(MatShadowSetTune, MATAMB, (A, MAT_SHADOW_TUNE_OFF), (A, MAT_SHADOW_TUNE_MEASURE)) \
  S(MatShadowSetValues, MATAMB, (A, MAT_SHADOW_VALUES_DOUBLE), (A, MAT_SHADOW_VALUES_SINGLE)) \
  S(MatShadowSetDevice, MATAMB, (A, MAT_SHADOW_DEVICE_CPU), (A, MAT_SHADOW_DEVICE_GPU)) \
  S(MatAMBSetBlockSize, MATAMB, (A, 1), (A, 4)) \
  S(MatNUSSELLSetSegmentation, MATNUSSELL, (A, MAT_NUSSELL_SEGMENTATION_NONE), (A, MAT_NUSSELL_SEGMENTATION_UNIFORM)) \
  S(MatNUSSELLSetRows, MATNUSSELL, (A, MAT_NUSSELL_ROWS_SELL), (A, MAT_NUSSELL_ROWS_JDS)) \
  S(MatNUSSELLSetTune, MATNUSSELL, (A, MAT_NUSSELL_TUNE_OFF), (A, MAT_NUSSELL_TUNE_EXHAUSTIVE)) \
  S(MatNUSSELLSetChunk, MATNUSSELL, (A, 8, 8), (A, 32, 32768)) /* the second is the chunk of GPUs */ \
  S(MatNUSSELLSetSegments, MATNUSSELL, (A, 32, 1, 64, 1), (A, 64, 2, 128, 1)) \
  S(MatCCOOSetChunk, MATCCOO, (A, 32, 1), (A, 256, 8)) \
  S(MatCCOOSetTable, MATCCOO, (A, PETSC_TRUE), (A, PETSC_FALSE)) \
  S(MatCCOOSetAtomics, MATCCOO, (A, PETSC_TRUE), (A, PETSC_FALSE)) \
  S(MatShadowSetKeepAIJ, MATAMB, (A, PETSC_TRUE), (A, PETSC_FALSE)) \
  S(MatTileCompositeSetTiles, MATTILECOMPOSITE, (A, 64, 0), (A, 64, 3)) \
  S(MatTileCompositeSetWork, MATTILECOMPOSITE, (A, 32), (A, 1024)) \
  S(MatTileCompositeSetCOO, MATTILECOMPOSITE, (A, PETSC_TRUE), (A, PETSC_FALSE))

#define SETTER_FUNCTIONS(name, type, first, second) \
  static PetscErrorCode name##_First(Mat A) \
  { \
    return name first; \
  } \
  static PetscErrorCode name##_Second(Mat A) \
  { \
    return name second; \
  }
SETTERS(SETTER_FUNCTIONS)

/* Setters whose effect only a GPU shows */
static const char *const device[] = {"MatShadowSetKeepAIJ", "MatCCOOSetAtomics"};

static PetscErrorCode Judge(const char name[], const char before[], const char after[])
{
  PetscBool same, values, needs = PETSC_FALSE;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(device) && !needs; k++) PetscCall(PetscStrcmp(name, device[k], &needs));
  if (needs && !strstr(before, "cuda,")) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "skip %s: only a GPU shows it\n", name));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscStrcmp(name, "MatShadowSetValues", &values));
  if (values && (PetscDefined(USE_COMPLEX) || PetscDefined(USE_REAL_SINGLE))) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "skip %s: only real numbers of double precision are stored in single precision\n", name));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscStrcmp(before, after, &same));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%sok %s\n", same ? "not " : "", name));
  if (same) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "    %s\n", before));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Setters of the time of the conversion are judged without MatShadowSetUp() */
static PetscErrorCode JudgeMat(const char name[], const char type[], PetscErrorCode (*first)(Mat), PetscErrorCode (*second)(Mat))
{
  static char     text[2][TEXT];
  const PetscBool convert = (PetscBool)(strcmp(name, "MatShadowSetTune") && strcmp(name, "MatShadowSetUp"));

  PetscFunctionBeginUser;
  PetscCall(Describe(type, convert, first, text[0]));
  PetscCall(Describe(type, convert, second, text[1]));
  PetscCall(Judge(name, text[0], text[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define SETTER_JUDGE(name, type, first, second) PetscCall(JudgeMat(#name, type, name##_First, name##_Second));

int main(int argc, char **argv)
{
  static char text[2][TEXT];

  PetscCall(TestInitialize(&argc, &argv, help));
  SETTERS(SETTER_JUDGE)
  PetscCall(JudgeMat("MatShadowSetUp", MATAMB, MatShadowSetUp_First, MatShadowSetUp_Second));
  for (int side = 0; side < 2; side++) PetscCall(DescribePC((PetscBool)side, PETSC_TRUE, text[side]));
  PetscCall(Judge("PCGAMGAmbAggSetStrongest", text[0], text[1]));
  for (int side = 0; side < 2; side++) PetscCall(DescribePC((PetscBool)side, PETSC_FALSE, text[side]));
  PetscCall(Judge("PCGAMGAmbAggSetMinAggregateSize", text[0], text[1]));
  for (int side = 0; side < 2; side++) PetscCall(DescribeILU((PetscBool)side, PETSC_TRUE, text[side]));
  PetscCall(Judge("PCAMBILUSetType", text[0], text[1]));
  for (int side = 0; side < 2; side++) PetscCall(DescribeILU((PetscBool)side, PETSC_FALSE, text[side]));
  PetscCall(Judge("PCAMBILUSetOrderingType", text[0], text[1]));
  for (int side = 0; side < 2; side++) PetscCall(DescribeProduct((PetscBool)side, text[side]));
  PetscCall(Judge("MatHashGEMMSetAccumulator", text[0], text[1]));
  if (PetscDefined(USE_COMPLEX)) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "skip MatBatchSetValues and MatBatchSetAtomic: batches are real\n"));
  else {
    for (int side = 0; side < 2; side++) PetscCall(DescribeBatch((PetscBool)side, PETSC_FALSE, text[side]));
    PetscCall(Judge("MatBatchSetValues", text[0], text[1]));
    for (int side = 0; side < 2; side++) PetscCall(DescribeBatch((PetscBool)side, PETSC_TRUE, text[side]));
    PetscCall(Judge("MatBatchSetAtomic", text[0], text[1]));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "skip MatShadowSetSOR: test/ksp/sor.c shows it in sweeps\n"));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "skip MatSetPreallocationBlockCOO: test/mat/blockcoo.c compares what it assembles\n"));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "skip MatSetValuesBlockCOO: test/mat/blockcoo.c compares what it assembles\n"));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "skip MatShadowSetHalo: src/ksp/examples/multigpu.c shows it on several processes\n"));
  return TestFinalize();
}
