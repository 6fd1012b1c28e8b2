/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The functions of testutil.h, linked to every test program
*/
#include "testutil.h"
#include <petscdm.h>
#include <petsc/private/matimpl.h>
#if defined(PETSC_HAVE_CUDA)
  #include <petscdevice_cuda.h>
#endif
#include <stdlib.h>
#include <unistd.h>

static PetscInt TestFailures = 0;

void TestDiffAdd(TestDiff *d, const char *what, PetscReal err)
{
  if (err <= d->err) return;
  d->what = what;
  d->err  = PetscIsNanReal(err) ? PETSC_MAX_REAL : err;
}

/* A figure of the format that A is stored in, for an expression; -1 if there is none */
PetscLogDouble TestFigure(Mat A, const char name[])
{
  PetscLogDouble value = -1;

  PetscCallAbort(PETSC_COMM_SELF, MatShadowGetFigure(A, name, &value));
  return value;
}

void TestExpect(TestDiff *d, const char *what, PetscBool holds)
{
  TestDiffAdd(d, what, holds ? 0 : 1);
}

PetscBool TestSharesGPU(void)
{
  int gpus = 0;

#if defined(PETSC_HAVE_CUDA)
  if (cudaGetDeviceCount(&gpus) != cudaSuccess) gpus = 0;
#endif
  return (PetscBool)(gpus && PetscGlobalSize > gpus);
}

PetscErrorCode TestReport(const char *name, const TestDiff *d)
{
  struct {
    double err;
    int    rank;
  } worst;
  PetscMPIInt rank;
  char        what[128] = "";

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  worst.err  = (double)d->err;
  worst.rank = rank;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_DOUBLE_INT, MPI_MAXLOC, PETSC_COMM_WORLD));
  if (worst.err <= TEST_TOLERANCE) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "ok %s\n", name));
  } else {
    TestFailures++;
    if (d->what) PetscCall(PetscStrncpy(what, d->what, sizeof(what)));
    PetscCallMPI(MPI_Bcast(what, (PetscMPIInt)sizeof(what), MPI_CHAR, worst.rank, PETSC_COMM_WORLD));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "not ok %s: %s (%.1e on rank %d)\n", name, what, worst.err, worst.rank));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestRunCase(const TestCase *test)
{
  TestDiff       d = {NULL, 0};
  PetscErrorCode ierr;

  PetscFunctionBeginUser;
  ierr = (*test->run)(&d);
  if (ierr) TestDiffAdd(&d, "PETSc raised an error, see above", PETSC_MAX_REAL);
  PetscCall(TestReport(test->name, &d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestRun(const TestCase tests[])
{
  char      only[128];
  PetscBool some, same;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-test_only", only, sizeof(only), &some));
  for (const TestCase *t = tests; t->name; t++) {
    if (some) {
      PetscCall(PetscStrcmp(only, t->name, &same));
      if (!same) continue;
    }
    PetscCall(TestRunCase(t));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestInitialize(int *argc, char ***argv, const char help[])
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(argc, argv, NULL, help));
  PetscCall(PetscAMBInitializePackage());
  PetscFunctionReturn(PETSC_SUCCESS);
}

char TestErrorMessage[2048];

PetscErrorCode TestKeepMessage(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode n, PetscErrorType type, const char *text, void *ctx)
{
  if (type == PETSC_ERROR_INITIAL && text) (void)PetscStrncpy(TestErrorMessage, text, sizeof(TestErrorMessage));
  return n;
}

int TestFinalize(void)
{
  const PetscInt failures = TestFailures;
  PetscErrorCode ierr     = PetscFinalize();

  return ierr || failures ? 1 : 0;
}

int TestMain(int argc, char **argv, const char help[], const TestCase tests[])
{
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(TestRun(tests));
  return TestFinalize();
}

PetscErrorCode TestTemporaryFile(char path[], size_t len)
{
  PetscMPIInt rank;
  char        tmp[PETSC_MAX_PATH_LEN - 64];

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(PetscGetTmp(PETSC_COMM_WORLD, tmp, sizeof(tmp)));
  if (rank == 0) {
    PetscCall(PetscSNPrintf(path, len, "%s/petscamb-test-XXXXXX", tmp));
    int fd = mkstemp(path);
    PetscCheck(fd >= 0, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot create a temporary file in %s", tmp);
    close(fd);
  }
  PetscCallMPI(MPI_Bcast(path, (PetscMPIInt)len, MPI_CHAR, 0, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestRemoveFile(const char path[])
{
  PetscMPIInt rank;
  char        info[PETSC_MAX_PATH_LEN];

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  if (rank == 0) {
    (void)remove(path);
    PetscCall(PetscSNPrintf(info, sizeof(info), "%s.info", path)); /* binary viewers may leave one */
    (void)remove(info);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The names of petsc-amb's types and of AIJCUSPARSE become AIJ's */
static PetscErrorCode TestPlainTypes(char *line)
{
  const char *const *types;
  PetscInt           n;

  PetscFunctionBeginUser;
  PetscCall(PetscAMBGetTypes(PETSC_FALSE, &n, &types));
  for (PetscInt k = 0; k <= n; k++) {
    char name[64], *at;

    PetscCall(PetscSNPrintf(name, sizeof(name), "aij%s", k < n ? types[k] : "cusparse"));
    while ((at = strstr(line, name)) != NULL) memmove(at + 3, at + strlen(name), strlen(at + strlen(name)) + 1);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatShadowView() indents its lines more than the first of them. PETSc names its own algorithm, and AIJCUSPARSE has no I-nodes and another package. */
PetscErrorCode TestCleanView(char *view, PetscBool *whole)
{
  char  *to   = view, *end;
  size_t ours = 0;

  PetscFunctionBeginUser;
  *whole = PETSC_TRUE;
  for (char *line = view; *line; line = end + 1) {
    size_t    indent = strspn(line, " ");
    PetscBool added;

    end = strchr(line, '\n');
    if (!end) {
      *whole = PETSC_FALSE;
      break;
    }
    *end = 0;
    PetscCall(PetscStrbeginswith(line + indent, "products run on ", &added));
    if (added) ours = indent;
    else if (ours && indent > ours) added = PETSC_TRUE;
    else ours = 0;
    if (added || strstr(line, "I-node") || strstr(line, "MatPtAP() implementation") || strstr(line, "package used to perform factorization")) continue;
    PetscCall(TestPlainTypes(line));
    indent = strlen(line);
    memmove(to, line, indent);
    to[indent] = '\n';
    to += indent + 1;
  }
  *to = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestMatSave(Mat A, const char path[])
{
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, path, FILE_MODE_WRITE, &viewer));
  PetscCall(MatView(A, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestMatLoad(Mat A, const char path[])
{
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, path, FILE_MODE_READ, &viewer));
  PetscCall(MatLoad(A, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscReal TestReal(PetscInt i, PetscInt j)
{
  uint64_t h = 0x9e3779b97f4a7c15u * (uint64_t)(i + 1) + 0xd1b54a32d192ed03u * (uint64_t)(j + 2);

  for (int round = 0; round < 3; round++) {
    h ^= h >> 31;
    h *= 0xd6e8feb86659fd93u;
  }
  return (PetscReal)(2 * ((double)(h >> 11) / 9007199254740992.0) - 1);
}

PetscScalar TestNumber(PetscInt i, PetscInt j)
{
#if defined(PETSC_USE_COMPLEX)
  return PetscCMPLX(TestReal(i, j), TestReal(j + 5, i));
#else
  return TestReal(i, j);
#endif
}

PetscInt TestInteger(PetscInt i, PetscInt j, PetscInt n)
{
  PetscInt k = (PetscInt)(0.5 * (TestReal(i, j) + 1) * n);

  return PetscMin(k, n - 1);
}

PetscScalar TestValueGeneral(PetscInt i, PetscInt j)
{
  return TestNumber(i, j) + (i == j ? 3.0 : 0.0);
}

PetscScalar TestValueConvection(PetscInt i, PetscInt j)
{
  return i == j ? 4.3 : -1 + 0.3 * PetscAbsReal(TestReal(i, j)) + (i < j ? 0.4 : -0.4);
}

PetscScalar TestValueSymmetric(PetscInt i, PetscInt j)
{
  return i == j ? 4.05 : -1 + 0.3 * PetscAbsReal(TestReal(PetscMin(i, j), PetscMax(i, j)));
}

PetscScalar TestValueNodes(PetscInt i, PetscInt j)
{
  return i == j ? 8.0 + PetscAbsReal(TestReal(i, i)) : 0.5 * TestReal(PetscMin(i, j), PetscMax(i, j));
}

PetscScalar TestValueIndefinite(PetscInt i, PetscInt j)
{
  return i == j ? (i % 3 ? 4.0 : -4.0) : 0.1;
}

PetscScalar TestValueNeumann(PetscInt i, PetscInt j)
{
  PetscInt cols[5];

  return i == j ? (PetscReal)TestRowGrid(i, 900, 900, cols) - 1.0 : -1.0;
}

PetscInt TestRowPairs(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  cols[0] = i % 2 ? i - 1 : i + 1;
  return 1;
}

PetscScalar TestValueSkew(PetscInt i, PetscInt j)
{
  return i < j ? 1.0 : -1.0;
}

PetscInt TestRowNone(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  return 0;
}

PetscInt TestRowFull(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  for (PetscInt k = 0; k < N; k++) cols[k] = k;
  return N;
}

PetscInt TestRowHub(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  PetscInt n = 0;

  if (i == 5) return TestRowFull(i, M, N, cols);
  if (i % 3 == 1) return 0;
  if (N > 2) cols[n++] = 2;
  if (i % N > 2) cols[n++] = i % N;
  return n;
}

PetscInt TestRowGrid(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  PetscInt n = (PetscInt)(PetscSqrtReal((PetscReal)M) + 0.5), k = 0;

  if (i >= n) cols[k++] = i - n;
  if (i % n > 0) cols[k++] = i - 1;
  cols[k++] = i;
  if (i % n < n - 1) cols[k++] = i + 1;
  if (i + n < M) cols[k++] = i + n;
  return k;
}

PetscInt TestRowFar(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  const PetscInt near[] = {i - 66000, i - 300, i, i + 300, i + 66000};
  PetscInt       n      = 0;

  for (int k = 0; k < 5; k++) {
    if (near[k] >= 0 && near[k] < N) cols[n++] = near[k];
  }
  return n;
}

PetscInt TestRowRandom(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  const PetscInt most = TestInteger(i, M, (i % 13 == 5 ? N : PetscMin(N, 8)) + 1);
  PetscInt       n    = 0;

  for (PetscInt j = 0; j < N; j++) {
    if (TestInteger(i, j + M, N) < most) cols[n++] = j;
  }
  return n;
}

PetscInt TestRowBlocks(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  PetscInt nodes = M / 3, node = i / 3, k = 0;

  for (PetscInt other = 0; other < nodes; other++) {
    if (PetscAbsInt(other - node) > 1 && PetscAbsInt(other - node) != 17) continue;
    for (PetscInt dof = 0; dof < 3; dof++) cols[k++] = 3 * other + dof;
  }
  return k;
}

/* The first row of node v, where nodes have 1, 2, 3, 4, 5, 1, 2, ... rows */
static PetscInt NodeStart(PetscInt v)
{
  static const PetscInt first[] = {0, 1, 3, 6, 10};

  return v / 5 * 15 + first[v % 5];
}

static PetscInt RowNodes(PetscInt i, PetscInt N, PetscInt far, PetscInt cols[])
{
  const PetscInt distance[] = {-far, -1, 0, 1, far};
  PetscInt       v = i / 15 * 5, n = 0;

  while (NodeStart(v + 1) <= i) v++;
  for (int k = 0; k < 5; k++) {
    const PetscInt other = v + distance[k];

    for (PetscInt c = other < 0 ? 0 : NodeStart(other); other >= 0 && c < PetscMin(N, NodeStart(other + 1)); c++) cols[n++] = c;
  }
  return n;
}

PetscInt TestRowNodes(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  return RowNodes(i, N, 20, cols);
}

PetscInt TestRowNodesFar(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  return RowNodes(i, N, 22500, cols);
}

PetscErrorCode TestShapeSizes(const TestShape *shape, Mat A)
{
  PetscInt    m = PETSC_DECIDE, n = PETSC_DECIDE;
  PetscMPIInt rank, size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (shape->last) {
    m = rank == size - 1 ? shape->M : 0;
    n = rank == size - 1 ? shape->N : 0;
  }
  PetscCall(MatSetSizes(A, m, n, shape->M, shape->N));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestShapePreallocate(const TestShape *shape, Mat A)
{
  PetscInt   *cols, *dnnz, *onnz, r0, r1, c0, c1;
  PetscLayout rmap, cmap;

  PetscFunctionBeginUser;
  PetscCall(MatGetLayouts(A, &rmap, &cmap));
  PetscCall(PetscLayoutSetUp(rmap));
  PetscCall(PetscLayoutSetUp(cmap));
  PetscCall(PetscLayoutGetRange(rmap, &r0, &r1));
  PetscCall(PetscLayoutGetRange(cmap, &c0, &c1));
  PetscCall(PetscMalloc3(shape->N, &cols, r1 - r0, &dnnz, r1 - r0, &onnz));
  for (PetscInt r = r0; r < r1; r++) {
    const PetscInt n = (*shape->row)(r, shape->M, shape->N, cols);

    dnnz[r - r0] = 0;
    for (PetscInt k = 0; k < n; k++) dnnz[r - r0] += cols[k] >= c0 && cols[k] < c1;
    onnz[r - r0] = n - dnnz[r - r0];
  }
  PetscCall(MatSeqAIJSetPreallocation(A, 0, dnnz));
  PetscCall(MatMPIAIJSetPreallocation(A, 0, dnnz, 0, onnz));
  PetscCall(PetscFree3(cols, dnnz, onnz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestShapeSetValues(const TestShape *shape, Mat A, PetscScalar factor, InsertMode mode)
{
  PetscInt    *cols, r0, r1;
  PetscScalar *vals;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(shape->N, &cols, shape->N, &vals));
  PetscCall(MatGetOwnershipRange(A, &r0, &r1));
  for (PetscInt r = r0; r < r1; r++) {
    const PetscInt n = (*shape->row)(r, shape->M, shape->N, cols);

    for (PetscInt k = 0; k < n; k++) vals[k] = factor * (*shape->value)(r, cols[k]);
    PetscCall(MatSetValues(A, 1, &r, n, cols, vals, mode));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscFree2(cols, vals));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestShapeCreate(const TestShape *shape, const char prefix[], Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetOptionsPrefix(*A, prefix));
  PetscCall(TestShapeSizes(shape, *A));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(TestShapePreallocate(shape, *A));
  PetscCall(TestShapeSetValues(shape, *A, 1.0, INSERT_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestShapeCreateEmpty(const TestShape *shape, MatType type, const char prefix[], Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetOptionsPrefix(*A, prefix));
  PetscCall(TestShapeSizes(shape, *A));
  PetscCall(MatSetType(*A, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestShapeCreateBad(const TestShape *shape, MatType type, const char option[], const char value[])
{
  Mat            A;
  PetscErrorCode ierr;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, option, value));
  ierr = TestShapeCreateEmpty(shape, type, "bad_", &A);
  PetscCall(PetscOptionsClearValue(NULL, option));
  PetscFunctionReturn(ierr);
}

PetscErrorCode TestShapeArrays(const TestShape *shape, PetscInt r0, PetscInt r1, PetscInt **i, PetscInt **j, PetscScalar **a)
{
  PetscInt *cols, nz = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(shape->N, &cols));
  for (PetscInt r = r0; r < r1; r++) nz += (*shape->row)(r, shape->M, shape->N, cols);
  PetscCall(PetscFree(cols));
  PetscCall(PetscMalloc3(r1 - r0 + 1, i, nz, j, nz, a));
  (*i)[0] = nz = 0;
  for (PetscInt r = r0; r < r1; r++) {
    const PetscInt n = (*shape->row)(r, shape->M, shape->N, *j + nz);

    for (PetscInt k = nz; k < nz + n; k++) (*a)[k] = (*shape->value)(r, (*j)[k]);
    (*i)[r - r0 + 1] = nz += n;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestDenseSet(Mat D, TestDenseFunction f)
{
  PetscInt     r0, r1, N, lda;
  PetscScalar *d;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(D, &r0, &r1));
  PetscCall(MatGetSize(D, NULL, &N));
  PetscCall(MatDenseGetLDA(D, &lda));
  PetscCall(MatDenseGetArrayWrite(D, &d));
  for (PetscInt j = 0; j < N; j++) {
    for (PetscInt i = r0; i < r1; i++) d[i - r0 + j * lda] = (*f)(i, j);
  }
  PetscCall(MatDenseRestoreArrayWrite(D, &d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestDenseCreate(PetscInt m, PetscInt K, PetscInt gap, TestDenseFunction f, Mat *D)
{
  char         type[64] = MATDENSE;
  PetscInt     lda;
  PetscScalar *d;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-dense_type", type, sizeof(type), NULL));
  PetscCall(MatCreate(PETSC_COMM_WORLD, D));
  PetscCall(MatSetSizes(*D, m, PETSC_DECIDE, PETSC_DETERMINE, K));
  PetscCall(MatSetType(*D, MATDENSE));
  PetscCall(MatDenseSetLDA(*D, PetscMax(m + gap, 1)));
  PetscCall(MatSetUp(*D));
  PetscCall(MatDenseGetLDA(*D, &lda));
  PetscCall(MatDenseGetArrayWrite(*D, &d));
  for (PetscInt k = 0; m && k < lda * K; k++) d[k] = NAN;
  PetscCall(MatDenseRestoreArrayWrite(*D, &d));
  PetscCall(TestDenseSet(*D, f));
  PetscCall(MatAssemblyBegin(*D, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*D, MAT_FINAL_ASSEMBLY));
  PetscCall(MatConvert(*D, type, MAT_INPLACE_MATRIX, D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestReferenceInodes(const TestShape *shape)
{
  PetscBool device;
  Mat       A;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(shape, NULL, &A));
  PetscCall(TestOnDevice(A, &device));
  PetscCall(MatDestroy(&A));
  if (!device) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscOptionsSetValue(NULL, "-ref_mat_no_inode", "1"));
  PetscCall(PetscOptionsSetValue(NULL, "-mat_no_inode", "1")); /* the blocks of an MPIAIJ have no prefix */
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestPairCreate(const TestShape *shape, Mat *A, Mat *R)
{
  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(shape, NULL, A));
  PetscCall(TestShapeCreate(shape, "ref_", R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestDestroyObjects(void *const object[])
{
  PetscFunctionBeginUser;
  for (; *object; object++) PetscCall(PetscObjectDestroy((PetscObject *)*object));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestViewText(Mat A, size_t size, char text[])
{
  PetscViewer viewer;
  char        path[PETSC_MAX_PATH_LEN];
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(TestTemporaryFile(path, sizeof(path)));
  PetscCall(PetscViewerASCIIOpen(PETSC_COMM_WORLD, path, &viewer));
  PetscCall(PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_INFO));
  PetscCall(MatView(A, viewer));
  PetscCall(PetscViewerPopFormat(viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  text[0] = 0;
  if (!rank) {
    FILE *file = fopen(path, "r");

    PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s", path);
    text[fread(text, 1, size - 1, file)] = 0;
    (void)fclose(file);
  }
  PetscCall(TestRemoveFile(path));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestExpectLine(TestDiff *d, Mat A, const char line[], PetscBool expected)
{
  char        text[8192];
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(TestViewText(A, sizeof(text), text));
  if (!rank) TestExpect(d, line, (PetscBool)((strstr(text, line) != NULL) == expected));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestTypeRoot(char type[], size_t len)
{
  PetscFunctionBeginUser;
  PetscCall(PetscStrncpy(type, MATAIJ, len));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mat_type", type, len, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestTypeFull(PetscMPIInt size, char type[], size_t len)
{
  char      root[64];
  PetscBool isaij;

  PetscFunctionBeginUser;
  PetscCall(TestTypeRoot(root, sizeof(root)));
  PetscCall(PetscStrbeginswith(root, MATAIJ, &isaij));
  PetscCall(PetscSNPrintf(type, len, "%s%s%s", size == 1 ? "seq" : "mpi", isaij ? "" : MATAIJ, root));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestOnDevice(Mat A, PetscBool *device)
{
  return PetscObjectTypeCompareAny((PetscObject)A, device, MATSEQAIJCUSPARSE, MATMPIAIJCUSPARSE, "");
}

/* On the GPU a matrix of ours has a shadow, and another name */
static PetscErrorCode TestIsType(Mat A, const char type[], PetscBool *same)
{
  MatShadowInfo info;
  PetscBool     device;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, type, same));
  PetscCall(TestOnDevice(A, &device));
  if (*same || !device) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowGetInfo(A, &info));
  *same = (PetscBool)(info.format != NULL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With -petscamb_for_aij an AIJ keeps its name; -test_shadow asks whether it is one of ours all the same */
static PetscErrorCode TestDiffForAIJ(TestDiff *d, Mat A)
{
  MatShadowInfo info;
  PetscBool     given, assembled;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsHasName(NULL, NULL, "-test_shadow", &given));
  PetscCall(MatAssembled(A, &assembled));
  PetscCall(MatShadowGetInfo(A, &info));
  if (given && assembled) TestExpect(d, "an AIJ has no shadow", (PetscBool)(info.format != NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestDiffType(TestDiff *d, Mat A)
{
  PetscMPIInt size;
  char        type[64];
  PetscBool   same, base;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  PetscCall(TestTypeFull(size, type, sizeof(type)));
  PetscCall(TestIsType(A, type, &same));
  TestExpect(d, "MatGetType() is not the type under test", same);
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, size == 1 ? MATSEQAIJ : MATMPIAIJ, &base));
  TestExpect(d, "PetscObjectBaseTypeCompare() does not see an AIJ", base);
  PetscCall(TestDiffForAIJ(d, A));
  if (size > 1 && base) {
    Mat diag, off;

    PetscCall(MatMPIAIJGetSeqAIJ(A, &diag, &off, NULL));
    PetscCall(TestTypeFull(1, type, sizeof(type)));
    PetscCall(TestIsType(diag, type, &same));
    TestExpect(d, "the diagonal block is not of the type under test", same);
    PetscCall(TestIsType(off, type, &same));
    TestExpect(d, "the off-diagonal block is not of the type under test", same);
    PetscCall(TestDiffForAIJ(d, diag));
    PetscCall(TestDiffForAIJ(d, off));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestMultiply(Mat A, PetscInt times)
{
  Vec x, y;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1.0));
  for (PetscInt k = 0; k < times; k++) PetscCall(MatMult(A, x, y));
  PetscCall(TestDestroy(&x, &y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestVecSet(Vec v, PetscInt seed)
{
  PetscScalar *a;
  PetscInt     r0, r1;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(v, &r0, &r1));
  PetscCall(VecGetArrayWrite(v, &a));
  for (PetscInt r = r0; r < r1; r++) a[r - r0] = TestNumber(r, seed);
  PetscCall(VecRestoreArrayWrite(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest difference of this process's entries, each relative to its scale */
static PetscErrorCode VecError(Vec y, Vec z, Vec scale, PetscReal *err)
{
  const PetscScalar *ya, *za, *sa = NULL;
  PetscInt           n, nz;

  PetscFunctionBeginUser;
  *err = 0;
  PetscCall(VecGetLocalSize(y, &n));
  PetscCall(VecGetLocalSize(z, &nz));
  PetscCheck(n == nz, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "Vectors of %" PetscInt_FMT " and %" PetscInt_FMT " entries", n, nz);
  PetscCall(VecGetArrayRead(y, &ya));
  PetscCall(VecGetArrayRead(z, &za));
  if (scale) PetscCall(VecGetArrayRead(scale, &sa));
  for (PetscInt i = 0; i < n; i++) {
    const PetscReal s = sa ? 1 + PetscRealPart(sa[i]) : 1, e = PetscAbsScalar(ya[i] - za[i]) / s;

    if (!(e <= *err)) *err = PetscIsNanReal(e) ? PETSC_MAX_REAL : e;
  }
  PetscCall(VecRestoreArrayRead(y, &ya));
  PetscCall(VecRestoreArrayRead(z, &za));
  if (scale) PetscCall(VecRestoreArrayRead(scale, &sa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestDiffVec(TestDiff *d, const char *what, Vec y, Vec z, Vec scale)
{
  PetscReal err;

  PetscFunctionBeginUser;
  PetscCall(VecError(y, z, scale, &err));
  TestDiffAdd(d, what, err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestScales(Mat R, Vec *rows, Vec *cols)
{
  PetscInt     r0, r1;
  PetscScalar *sums;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(R, cols, rows));
  PetscCall(VecSet(*cols, 0));
  PetscCall(VecGetArrayWrite(*rows, &sums));
  PetscCall(MatGetOwnershipRange(R, &r0, &r1));
  for (PetscInt r = r0; r < r1; r++) {
    const PetscInt    *c;
    const PetscScalar *v;
    PetscInt           n;

    sums[r - r0] = 0;
    PetscCall(MatGetRow(R, r, &n, &c, &v));
    for (PetscInt k = 0; k < n; k++) {
      sums[r - r0] += PetscAbsScalar(v[k]);
      PetscCall(VecSetValue(*cols, c[k], PetscAbsScalar(v[k]), ADD_VALUES));
    }
    PetscCall(MatRestoreRow(R, r, &n, &c, &v));
  }
  PetscCall(VecRestoreArrayWrite(*rows, &sums));
  PetscCall(VecAssemblyBegin(*cols));
  PetscCall(VecAssemblyEnd(*cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest of all processes */
static PetscErrorCode VecErrorMax(Mat A, PetscReal err, PetscReal *most)
{
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Allreduce(&err, most, 1, MPIU_REAL, MPIU_MAX, PetscObjectComm((PetscObject)A)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = A x against z. A wrong product is made once more: if it is right then, the matrix is, too. */
static PetscErrorCode DiffMult(TestDiff *d, Mat A, Vec x, Vec y, Vec z, Vec scale)
{
  const char *what = "MatMult()";
  PetscReal   err, again, most;

  PetscFunctionBeginUser;
  PetscCall(MatMult(A, x, y));
  PetscCall(VecError(y, z, scale, &err));
  PetscCall(VecErrorMax(A, err, &most));
  if (most > TEST_TOLERANCE) {
    PetscCall(MatMult(A, x, y));
    PetscCall(VecError(y, z, scale, &again));
    PetscCall(VecErrorMax(A, again, &most));
    if (most <= TEST_TOLERANCE) what = "MatMult(), but not once more";
  }
  TestDiffAdd(d, what, err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* right and left: vectors of R, which give others their layouts; a layout of its own costs each vector two messages to all processes */
static PetscErrorCode DiffMults(TestDiff *d, Mat A, Mat R, Vec right, Vec left, Vec scale)
{
  Vec x, y, z, w;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(right, &x));
  PetscCall(VecDuplicate(left, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecDuplicate(y, &w));
  for (PetscInt k = 0; k < 2; k++) {
    PetscCall(TestVecSet(x, k));
    PetscCall(TestVecSet(y, 9)); /* what y held before must not matter */
    PetscCall(MatMult(R, x, z));
    PetscCall(DiffMult(d, A, x, y, z, scale));
  }
  PetscCall(TestVecSet(w, 3));
  PetscCall(MatMultAdd(R, x, w, z));
  PetscCall(MatMultAdd(A, x, w, y));
  PetscCall(TestDiffVec(d, "MatMultAdd()", y, z, scale));
  PetscCall(MatMultAdd(A, x, w, w));
  PetscCall(TestDiffVec(d, "MatMultAdd() in place", w, z, scale));
  PetscCall(TestDestroy(&x, &y, &z, &w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DiffMultTransposes(TestDiff *d, Mat A, Mat R, Vec right, Vec left, Vec scale)
{
  Vec x, y, z, w;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(left, &x));
  PetscCall(VecDuplicate(right, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecDuplicate(y, &w));
  PetscCall(TestVecSet(x, 2));
  PetscCall(TestVecSet(y, 9));
  PetscCall(MatMultTranspose(A, x, y));
  PetscCall(MatMultTranspose(R, x, z));
  PetscCall(TestDiffVec(d, "MatMultTranspose()", y, z, scale));
  PetscCall(TestVecSet(w, 3));
  PetscCall(MatMultTransposeAdd(R, x, w, z));
  PetscCall(MatMultTransposeAdd(A, x, w, y));
  PetscCall(TestDiffVec(d, "MatMultTransposeAdd()", y, z, scale));
  PetscCall(MatMultTransposeAdd(A, x, w, w));
  PetscCall(TestDiffVec(d, "MatMultTransposeAdd() in place", w, z, scale));
  PetscCall(TestDestroy(&x, &y, &z, &w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DiffWithVecs(TestDiff *d, Mat A, Mat R, Vec scale, PetscErrorCode (*diff)(TestDiff *, Mat, Mat, Vec, Vec, Vec))
{
  Vec right, left;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(R, &right, &left));
  PetscCall((*diff)(d, A, R, right, left, scale));
  PetscCall(TestDestroy(&right, &left));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestDiffMult(TestDiff *d, Mat A, Mat R, Vec scale)
{
  return DiffWithVecs(d, A, R, scale, DiffMults);
}

PetscErrorCode TestDiffMultTranspose(TestDiff *d, Mat A, Mat R, Vec scale)
{
  return DiffWithVecs(d, A, R, scale, DiffMultTransposes);
}

PetscErrorCode TestDiffRows(TestDiff *d, Mat A, Mat R)
{
  PetscInt r0, r1;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &r0, &r1));
  for (PetscInt r = r0; r < r1; r++) {
    const PetscInt    *ca, *cr;
    const PetscScalar *va, *vr;
    PetscInt           na, nr;

    PetscCall(MatGetRow(A, r, &na, &ca, &va));
    PetscCall(MatGetRow(R, r, &nr, &cr, &vr));
    TestExpect(d, "number of entries in a row", (PetscBool)(na == nr));
    for (PetscInt k = 0; k < PetscMin(na, nr); k++) {
      TestExpect(d, "column of an entry", (PetscBool)(ca[k] == cr[k]));
      TestDiffAdd(d, "value of an entry", PetscAbsScalar(va[k] - vr[k]) / (1 + PetscAbsScalar(vr[k])));
    }
    PetscCall(MatRestoreRow(A, r, &na, &ca, &va));
    PetscCall(MatRestoreRow(R, r, &nr, &cr, &vr));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestDiffMat(TestDiff *d, Mat A, Mat R)
{
  PetscInt mA, nA, mR, nR;
  Vec      rows, cols;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &mA, &nA));
  PetscCall(MatGetLocalSize(R, &mR, &nR));
  PetscCheck(mA == mR && nA == nR, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "Local sizes %" PetscInt_FMT " x %" PetscInt_FMT " against %" PetscInt_FMT " x %" PetscInt_FMT, mA, nA, mR, nR);
  PetscCall(TestScales(R, &rows, &cols));
  PetscCall(DiffMults(d, A, R, cols, rows, rows));
  PetscCall(DiffMultTransposes(d, A, R, cols, rows, cols));
  PetscCall(TestDiffRows(d, A, R));
  PetscCall(TestDestroy(&rows, &cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* R and its diagonal block have no shadow */
static PetscErrorCode TestDiffPlain(TestDiff *d, Mat R)
{
  MatShadowInfo info;
  PetscBool     mpi;
  Mat           block;

  PetscFunctionBeginUser;
  PetscCall(MatShadowGetInfo(R, &info));
  TestExpect(d, "the reference is not a plain AIJ", (PetscBool)!info.format);
  PetscCall(PetscObjectTypeCompare((PetscObject)R, MATMPIAIJ, &mpi));
  if (mpi) {
    PetscCall(MatMPIAIJGetSeqAIJ(R, &block, NULL, NULL));
    PetscCall(MatShadowGetInfo(block, &info));
    TestExpect(d, "a block of the reference is not a plain AIJ", (PetscBool)!info.format);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestCompareAndDestroy(TestDiff *d, const TestShape *shape, Mat *A)
{
  Mat R;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(shape, "ref_", &R));
  PetscCall(TestDiffPlain(d, R));
  PetscCall(TestDiffType(d, *A));
  PetscCall(TestDiffMat(d, *A, R));
  PetscCall(TestDestroy(A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------- traits ------------------------------------------------------- */

/* A line for each trait, the name of the trait first */
typedef struct {
  char   text[8192];
  size_t used;
} TestTraits;

static PetscErrorCode TestTrait(TestTraits *t, const char format[], ...) PETSC_ATTRIBUTE_FORMAT(2, 3);

static PetscErrorCode TestTrait(TestTraits *t, const char format[], ...)
{
  va_list args;
  size_t  n;

  PetscFunctionBeginUser;
  va_start(args, format);
  PetscCall(PetscVSNPrintf(t->text + t->used, sizeof(t->text) - t->used, format, &n, args));
  va_end(args);
  PetscCall(PetscStrlen(t->text + t->used, &n));
  t->used += n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestTraitObject(TestTraits *t, const char name[], PetscObject object)
{
  PetscObjectId id = 0;

  PetscFunctionBeginUser;
  if (object) PetscCall(PetscObjectGetId(object, &id));
  PetscCall(TestTrait(t, "%s %" PetscInt64_FMT "\n", name, (PetscInt64)id));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestTraitLayout(TestTraits *t, const char name[], PetscLayout layout)
{
  PetscInt first, end, n, bs;

  PetscFunctionBeginUser;
  PetscCall(PetscLayoutGetRange(layout, &first, &end));
  PetscCall(PetscLayoutGetSize(layout, &n));
  PetscCall(PetscLayoutGetBlockSize(layout, &bs));
  PetscCall(TestTrait(t, "%s from %" PetscInt_FMT " to %" PetscInt_FMT " of %" PetscInt_FMT "\n%s' block size %" PetscInt_FMT "\n", name, first, end, n, name, PetscAbs(bs)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestGetTraits(Mat A, TestTraits *t)
{
  const char            *text;
  PetscLayout            rows, cols;
  ISLocalToGlobalMapping map[2];
  MatNullSpace           space;
  PetscBool              mpi;
  VecType                vectype;
  DM                     dm;
  PetscObject            attached;

  PetscFunctionBeginUser;
  t->used    = 0;
  t->text[0] = 0;
  PetscCall(MatGetLayouts(A, &rows, &cols));
  PetscCall(TestTraitLayout(t, "rows", rows));
  PetscCall(TestTraitLayout(t, "columns", cols));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  if (mpi && A->assembled) {
    Mat      block[2];
    PetscInt rbs, cbs;

    PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
    PetscCall(MatGetBlockSizes(block[0], &rbs, &cbs));
    PetscCall(TestTrait(t, "diagonal block's block sizes %" PetscInt_FMT " %" PetscInt_FMT "\n", rbs, cbs));
    PetscCall(MatGetBlockSizes(block[1], &rbs, NULL));
    PetscCall(TestTrait(t, "off-diagonal block's row block size %" PetscInt_FMT "\n", rbs));
  }
  PetscCall(TestTrait(t, "symmetric %d%s\n", (int)A->symmetric, A->symmetry_eternal ? " for ever" : ""));
  PetscCall(TestTrait(t, "hermitian %d\n", (int)A->hermitian));
  PetscCall(TestTrait(t, "structurally symmetric %d%s\n", (int)A->structurally_symmetric, A->structural_symmetry_eternal ? " for ever" : ""));
  PetscCall(TestTrait(t, "positive definite %d%s\n", (int)A->spd, A->spd_eternal ? " for ever" : ""));
  PetscCall(TestTrait(t, "options %d %d %d %d %d %d %d %d %d\n", A->nooffprocentries, A->nooffproczerorows, A->assembly_subset, A->submat_singleis, A->structure_only, A->sortedfull, A->force_diagonals, A->erroriffailure, A->form_explicit_transpose));
  PetscCall(TestTrait(t, "assembled %d\n", A->assembled));
  PetscCall(MatGetOptionsPrefix(A, &text));
  PetscCall(TestTrait(t, "prefix %s\n", text ? text : "none"));
  PetscCall(TestTrait(t, "name %s\n", ((PetscObject)A)->name ? ((PetscObject)A)->name : "none"));
  PetscCall(MatGetVecType(A, &vectype));
  PetscCall(PetscStrcmp(vectype, VECCUDA, &mpi)); /* where the matrix lives is another matter */
  PetscCall(TestTrait(t, "vectors %s\n", mpi ? VECSTANDARD : vectype));
  PetscCall(MatGetNullSpace(A, &space));
  PetscCall(TestTraitObject(t, "null space", (PetscObject)space));
  PetscCall(MatGetTransposeNullSpace(A, &space));
  PetscCall(TestTraitObject(t, "null space of the transpose", (PetscObject)space));
  PetscCall(MatGetNearNullSpace(A, &space));
  PetscCall(TestTraitObject(t, "near null space", (PetscObject)space));
  PetscCall(MatGetLocalToGlobalMapping(A, &map[0], &map[1]));
  PetscCall(TestTraitObject(t, "mapping of the rows", (PetscObject)map[0]));
  PetscCall(TestTraitObject(t, "mapping of the columns", (PetscObject)map[1]));
  PetscCall(TestTrait(t, "stencil of %" PetscInt_FMT " dimensions\n", A->stencil.dim));
  PetscCall(MatGetDM(A, &dm));
  PetscCall(TestTraitObject(t, "DM", (PetscObject)dm));
  PetscCall(PetscObjectQuery((PetscObject)A, "TestAttached", &attached));
  PetscCall(TestTraitObject(t, "attached object", attached));
  PetscCall(TestTrait(t, "variable blocks %" PetscInt_FMT "\n", A->nblocks));
  PetscCall(TestTrait(t, "tabs %" PetscInt_FMT "\n", (PetscInt)((PetscObject)A)->tablevel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestDiffTraits(TestDiff *d, Mat A, Mat R)
{
  static char what[256];
  TestTraits  a, r;
  char       *la = a.text, *lr = r.text;

  PetscFunctionBeginUser;
  PetscCall(TestGetTraits(A, &a));
  PetscCall(TestGetTraits(R, &r));
  while (*la || *lr) {
    char *enda, *endr;

    PetscCall(PetscStrchr(la, '\n', &enda));
    PetscCall(PetscStrchr(lr, '\n', &endr));
    *enda = *endr = 0;
    if (strcmp(la, lr)) {
      if (d->err < 1) PetscCall(PetscSNPrintf(what, sizeof(what), "%s, of AIJ: %s", la, lr));
      TestDiffAdd(d, what, 1);
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    la = enda + 1;
    lr = endr + 1;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestSolve(const TestShape *shape, const char options[], PetscReal rtol, PetscInt maxits, KSPConvergedReason *reason, PetscInt *its)
{
  PetscOptions database;
  Mat          A;
  Vec          x, b;
  KSP          ksp;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(shape, NULL, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(TestVecSet(b, 5));
  PetscCall(PetscOptionsCreate(&database));
  PetscCall(PetscOptionsInsertString(database, options));
  PetscCall(PetscOptionsPush(database));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetTolerances(ksp, rtol, PETSC_DEFAULT, PETSC_DEFAULT, maxits));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(PetscOptionsPop());
  PetscCall(KSPGetConvergedReason(ksp, reason));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(PetscOptionsDestroy(&database));
  PetscCall(TestDestroy(&x, &b, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
