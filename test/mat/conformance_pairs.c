/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "MatConvert() between all types, sequential, of several processes and by their root names, in every reuse mode: as MATAIJ in the place of ours.\n";

#include "../testutil.h"

static PetscScalar ValueSymmetric(PetscInt i, PetscInt j)
{
  return TestReal(PetscMin(i, j), PetscMax(i, j)) + (i == j ? 3.0 : 0.0);
}

static const TestShape shape = {"symmetric", 36, 36, TestRowBlocks, ValueSymmetric, PETSC_FALSE};

/* PETSc's own, then those of petsc-amb, which stand for AIJ */
static const char       *roots[32] = {MATDENSE, MATAIJ, MATBAIJ, MATSBAIJ, MATSELL, MATAIJPERM};
static const int         first     = 6;
static int               nroots;
static const char *const kinds[]  = {"seq", "mpi", ""};
static const char *const modes[]  = {"new", "in place", "into an old one"};
static const MatReuse    reuses[] = {MAT_INITIAL_MATRIX, MAT_INPLACE_MATRIX, MAT_REUSE_MATRIX};

/* The name of a type; plain puts AIJ in the place of ours */
static PetscErrorCode TypeName(int root, int kind, PetscBool plain, char name[], size_t len)
{
  const PetscBool ours = (PetscBool)(root >= first);

  PetscFunctionBeginUser;
  if (ours && plain) PetscCall(PetscSNPrintf(name, len, "%s%s", kinds[kind], MATAIJ));
  else PetscCall(PetscSNPrintf(name, len, "%s%s%s", kinds[kind], ours && kind < 2 ? MATAIJ : "", roots[root]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix of that type, with all that it can carry */
static PetscErrorCode Create(int root, int kind, PetscBool plain, MatNullSpace space, Mat *A)
{
  char name[64];

  PetscFunctionBeginUser;
  PetscCall(TypeName(root < first ? first : root, kind, (PetscBool)(plain || root < first), name, sizeof(name))); /* an AIJ first: others have preallocations of their own */
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(TestShapeSizes(&shape, *A));
  PetscCall(MatSetBlockSize(*A, 3));
  PetscCall(MatSetType(*A, name));
  PetscCall(TestShapePreallocate(&shape, *A));
  PetscCall(TestShapeSetValues(&shape, *A, 1.0, INSERT_VALUES));
  PetscCall(MatSetOption(*A, MAT_SPD, PETSC_TRUE));
  /* SBAIJ refuses Hermitian matrices of complex numbers whose blocks have several rows */
  if (!PetscDefined(USE_COMPLEX) || strcmp(roots[root], MATSBAIJ)) PetscCall(MatSetOption(*A, MAT_HERMITIAN, PETSC_TRUE));
  if (root < first) {
    PetscCall(TypeName(root, kind, plain, name, sizeof(name)));
    PetscCall(MatConvert(*A, name, MAT_INPLACE_MATRIX, A));
  }
  PetscCall(MatSetNullSpace(*A, space));
  PetscCall(MatSetNearNullSpace(*A, space));
  PetscCall(PetscObjectSetName((PetscObject)*A, "converted"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In place A goes, and *B is what it became. Into an old one: that of a conversion before the values doubled. There PETSc 3.18 itself crashes, or leaves a wrong
   matrix, with SBAIJ and AIJPERM: what a plain one is compared with is a new one. */
static PetscErrorCode Convert(Mat A, const char to[], int mode, PetscBool plain, Mat *B)
{
  PetscFunctionBeginUser;
  *B = A;
  if (reuses[mode] == MAT_INPLACE_MATRIX) PetscCall(MatConvert(A, to, MAT_INPLACE_MATRIX, B));
  else {
    if (reuses[mode] == MAT_REUSE_MATRIX && !plain) PetscCall(MatConvert(A, to, MAT_INITIAL_MATRIX, B));
    if (reuses[mode] == MAT_REUSE_MATRIX) PetscCall(MatScale(A, 2.0));
    PetscCall(MatConvert(A, to, plain ? MAT_INITIAL_MATRIX : reuses[mode], B));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The type of A is that of R or, where that is ours, its AIJ with another name */
static PetscErrorCode DiffResultType(TestDiff *d, Mat A, Mat R, int to)
{
  MatShadowInfo info;
  MatType       plain;
  char          name[64];
  PetscBool     same, device;

  PetscFunctionBeginUser;
  PetscCall(MatGetType(R, &plain));
  PetscCall(PetscSNPrintf(name, sizeof(name), "%s%s", plain, to < first ? "" : roots[to]));
  PetscCall(PetscObjectTypeCompare((PetscObject)A, name, &same));
  PetscCall(TestOnDevice(A, &device));
  PetscCall(MatShadowGetInfo(A, &info));
  TestExpect(d, "the result has another type", (PetscBool)(same || (device && to >= first)));
  TestExpect(d, "the result is of ours and should not be, or the other way round", (PetscBool)((info.format != NULL) == (to >= first)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Pair(TestDiff *d, int from, int fromkind, int to, int tokind, int mode, MatNullSpace space)
{
  char           name[2][2][64];
  Mat            A, B[2] = {NULL, NULL};
  PetscErrorCode ierr[2];
  PetscBool      aij, sell, device;

  PetscFunctionBeginUser;
  for (int plain = 0; plain < 2; plain++) {
    PetscCall(TypeName(from, fromkind, (PetscBool)plain, name[plain][0], sizeof(name[0][0])));
    PetscCall(TypeName(to, tokind, (PetscBool)plain, name[plain][1], sizeof(name[0][0])));
    PetscCall(PetscStrcmp(roots[from], MATAIJ, &aij));
    if (plain && (to == 1 || to >= first) && (aij || from >= first) && tokind == 2) PetscCall(TypeName(to, fromkind, PETSC_TRUE, name[1][1], sizeof(name[0][0]))); /* told "aij", an AIJ copies less of itself than told "seqaij" */
    PetscCall(Create(from, fromkind, (PetscBool)plain, space, &A));
    if (!plain) PetscCall(TestOnDevice(A, &device));
    PetscCall(PetscPushErrorHandler(TestKeepMessage, NULL));
    TestErrorMessage[0] = 0;
    ierr[plain]         = Convert(A, name[plain][1], mode, (PetscBool)plain, &B[plain]);
    PetscCall(PetscPopErrorHandler());
    if (ierr[plain]) B[plain] = NULL;
  }
  if (ierr[0] || ierr[1]) TestExpect(d, ierr[0] ? "an error, and none with AIJ" : "no error, and one with AIJ", (PetscBool)(!ierr[0] == !ierr[1]));
  else {
    PetscCall(DiffResultType(d, B[0], B[1], to));
    for (int plain = 0; plain < 2; plain++) PetscCall(MatSetOption(B[plain], MAT_NO_OFF_PROC_ENTRIES, PETSC_FALSE)); /* PETSc's conversion of dense leaves it set */
    if (reuses[mode] != MAT_REUSE_MATRIX) PetscCall(TestDiffTraits(d, B[0], B[1]));
    PetscCall(PetscStrcmp(roots[to], MATSELL, &sell));
    if (!sell || (!device && (tokind == fromkind || tokind == 2))) PetscCall(TestDiffMult(d, B[0], B[1], NULL)); /* that of a SELL made entry by entry, as here otherwise, crashes in PETSc 3.18 */
    PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)B[1], &aij, MATSEQAIJ, MATMPIAIJ, ""));
    if (aij) PetscCall(TestDiffRows(d, B[0], B[1]));
  }
  PetscCall(TestDestroy(&B[0], &B[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From one type to all, those pairs in which there is one of ours */
static PetscErrorCode From(int from, int fromkind, MatNullSpace space)
{
  char     title[128], name[64];
  TestDiff worst = {NULL, 0};

  PetscFunctionBeginUser;
  PetscCall(TypeName(from, fromkind, PETSC_FALSE, name, sizeof(name)));
  PetscCall(PetscSNPrintf(title, sizeof(title), "from %s", name));
  for (int to = from < first ? first : 0; to < nroots; to++) {
    for (int tokind = 0; tokind < 3; tokind++) {
      for (int mode = 0; mode < 3; mode++) {
        TestDiff d = {NULL, 0};

        if (Pair(&d, from, fromkind, to, tokind, mode, space)) TestDiffAdd(&d, "PETSc raised an error, see above", PETSC_MAX_REAL);
        if (d.err <= TEST_TOLERANCE) continue;
        PetscCall(TypeName(to, tokind, PETSC_FALSE, name, sizeof(name)));
        PetscCall(PetscFPrintf(PETSC_COMM_SELF, PETSC_STDERR, "%s to %s, %s: %s\n", title, name, modes[mode], d.what));
        TestDiffAdd(&worst, "not as with AIJ, see the error output", d.err);
      }
    }
  }
  PetscCall(TestReport(title, &worst));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *const *types;
  PetscInt           ntypes;
  PetscMPIInt        size;
  MatNullSpace       space;

  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PetscAMBGetTypes(PETSC_FALSE, &ntypes, &types));
  nroots = first + (int)ntypes;
  PetscCheck(nroots <= (int)PETSC_STATIC_ARRAY_LENGTH(roots), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Too many types");
  for (PetscInt k = 0; k < ntypes; k++) roots[first + k] = types[k];
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &space));
  for (int from = 0; from < nroots; from++) {
    for (int kind = size > 1; kind < 2; kind++) PetscCall(From(from, kind, space));
  }
  PetscCall(MatNullSpaceDestroy(&space));
  return TestFinalize();
}

/*TEST

  testset:
    comments: without the slice height, a PETSc with CUDA takes 16, which its own kernels for AVX2 refuse
    args: -mat_sell_slice_height 8 -mat_shadow_tune off
    test:
      suffix: 1
      nsize: 1
      checks: 24
    test:
      suffix: 2
      nsize: 2
      checks: 12

TEST*/
