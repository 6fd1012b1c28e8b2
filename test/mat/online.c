/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "Tuning while the solver runs: products, changes and ends of matrices while another thread converts them.\n\
  -online_products N prints the microseconds of the first products of a 7-point Laplacian of N x N x N, how many there were when its tuning had ended, and\n\
     nothing else; -mat_type and -mat_shadow_tune choose what is tuned\n\
  -online_file FILE does so for a matrix in a Matrix Market file\n";

#include "../testutil.h"

#define BEGUN 41    /* products after which the thread runs */
#define MANY  20000 /* products that it may take at most */
#define FEW   60    /* first products that are printed */

/* Nodes of three unknowns on a line, as TestRowBlocks(), but fast */
static PetscInt RowBlocks(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  const PetscInt distance[] = {-17, -1, 0, 1, 17};
  PetscInt       k          = 0;

  for (int d = 0; d < 5; d++) {
    const PetscInt other = i / 3 + distance[d];

    if (other < 0 || other >= M / 3) continue;
    for (PetscInt dof = 0; dof < 3; dof++) cols[k++] = 3 * other + dof;
  }
  return k;
}

/* Rows of 3 to 14 entries at positions without an order, for which AMB and NUS-SELL store about as many bytes */
static PetscInt RowScattered(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  const PetscInt n = 3 + i % 12, part = N / n;

  for (PetscInt k = 0; k < n; k++) cols[k] = k * part + (PetscInt)(((PetscInt64)i * 7919 + (PetscInt64)k * 104729 * (i % 97)) % part);
  return n;
}

/* A grid of n x n x n points */
static PetscInt RowCube(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  const PetscInt n = (PetscInt)(PetscPowReal((PetscReal)M, 1.0 / 3) + 0.5), step[] = {1, n, n * n};
  PetscInt       k = 0;

  for (int d = 2; d >= 0; d--) {
    if (i / step[d] % n > 0) cols[k++] = i - step[d];
  }
  cols[k++] = i;
  for (int d = 0; d < 3; d++) {
    if (i / step[d] % n < n - 1) cols[k++] = i + step[d];
  }
  return k;
}

static PetscScalar ValueLaplace(PetscInt i, PetscInt j)
{
  return i == j ? 6 : -1;
}

static const TestShape scattered = {"scattered", 20000, 20000, RowScattered, TestValueGeneral, PETSC_FALSE};
static const TestShape blocks    = {"blocks", 15000, 15000, RowBlocks, TestValueGeneral, PETSC_FALSE};
static const TestShape grid      = {"grid", 40000, 40000, TestRowGrid, TestValueGeneral, PETSC_FALSE};

/* A pair with the vectors of its products, and what these have to be */
typedef struct {
  Mat A, R;
  Vec x[2], y[2], z[2], scale[2]; /* plain and transposed */
} Pair;

static PetscErrorCode PairExpect(Pair *p)
{
  PetscFunctionBeginUser;
  for (int t = 0; t < 2; t++) PetscCall(VecDestroy(&p->scale[t]));
  PetscCall(TestScales(p->R, &p->scale[0], &p->scale[1]));
  PetscCall(MatMult(p->R, p->x[0], p->z[0]));
  PetscCall(MatMultTranspose(p->R, p->x[1], p->z[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PairCreate(const TestShape *shape, Pair *p)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(p, sizeof(*p)));
  PetscCall(TestPairCreate(shape, &p->A, &p->R));
  PetscCall(MatCreateVecs(p->R, &p->x[0], &p->y[0]));
  PetscCall(MatCreateVecs(p->R, &p->y[1], &p->x[1]));
  for (int t = 0; t < 2; t++) {
    PetscCall(VecDuplicate(p->y[t], &p->z[t]));
    PetscCall(TestVecSet(p->x[t], 1 + t));
  }
  PetscCall(PairExpect(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PairDestroy(Pair *p)
{
  PetscFunctionBeginUser;
  PetscCall(TestDestroy(&p->A, &p->R));
  for (int t = 0; t < 2; t++) { PetscCall(TestDestroy(&p->x[t], &p->y[t], &p->z[t], &p->scale[t])); }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every product is right, whatever it runs on */
static PetscErrorCode Products(TestDiff *d, Pair *p, Mat A, int transpose, PetscInt n)
{
  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(TestVecSet(p->y[transpose], 7 + k));
    if (transpose) PetscCall(MatMultTranspose(A, p->x[1], p->y[1]));
    else PetscCall(MatMult(A, p->x[0], p->y[0]));
    PetscCall(TestDiffVec(d, transpose ? "MatMultTranspose()" : "MatMult()", p->y[transpose], p->z[transpose], p->scale[transpose]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Products until a candidate has replaced the AIJ on all processes, and was judged; on a GPU no other thread converts, and a conversion is judged at once */
static PetscErrorCode ProductsUntil(TestDiff *d, Pair *p, int transpose)
{
  PetscMPIInt judged = 0;
  PetscBool   device;

  PetscFunctionBeginUser;
  PetscCall(TestOnDevice(p->A, &device));
  for (PetscInt made = 0; made < MANY && !judged; made += 8) {
    MatShadowInfo info;

    PetscCall(Products(d, p, p->A, transpose, 8));
    if (!device) PetscCall(PetscSleep(0.001));
    PetscCall(MatShadowGetInfo(p->A, &info));
    judged = device ? info.conversions > 0 : info.candidates > 0;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &judged, 1, MPI_INT, MPI_MIN, PETSC_COMM_WORLD));
  }
  TestExpect(d, "nothing was tried", (PetscBool)(judged != 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On a GPU a matrix is tuned after very many products */
static PetscErrorCode ProductsTuned(TestDiff *d, Pair *p, int transpose)
{
  PetscBool device;
  PetscInt  made = 0;

  PetscFunctionBeginUser;
  PetscCall(TestOnDevice(p->A, &device));
  for (PetscMPIInt tuning = device; tuning && made < MANY; made++) {
    MatShadowInfo info;

    PetscCall(transpose ? MatMultTranspose(p->A, p->x[1], p->y[1]) : MatMult(p->A, p->x[0], p->y[0]));
    if (made % 64) continue;
    PetscCall(MatShadowGetInfo(p->A, &info));
    tuning = info.tuning;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &tuning, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD));
  }
  TestExpect(d, "it is never tuned", (PetscBool)(made < MANY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode View(Mat A)
{
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(PetscViewerASCIIOpen(PETSC_COMM_WORLD, "/dev/null", &viewer));
  PetscCall(PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_INFO));
  PetscCall(MatView(A, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solver that goes on for long enough: the plain product alone, the transposed one alone, then both */
static PetscErrorCode Solvers(TestDiff *d)
{
  const TestShape *const shapes[] = {&blocks, &grid};
  Pair                   p;

  PetscFunctionBeginUser;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(shapes); s++) {
    for (int transpose = 0; transpose < 2; transpose++) {
      PetscCall(PairCreate(shapes[s], &p));
      PetscCall(ProductsUntil(d, &p, transpose));
      PetscCall(ProductsTuned(d, &p, transpose));
      for (int k = 0; k < 100; k++) PetscCall(Products(d, &p, p.A, k % 2, 2));
      PetscCall(View(p.A));
      PetscCall(TestDiffMat(d, p.A, p.R));
      PetscCall(PairDestroy(&p));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values before the thread is done, when its work is taken over, while it is tried, and after */
static PetscErrorCode Values(TestDiff *d)
{
  Pair p;

  PetscFunctionBeginUser;
  for (PetscInt every = 1; every < 40; every += 12) {
    PetscCall(PairCreate(&blocks, &p));
    PetscCall(Products(d, &p, p.A, 0, BEGUN));
    for (int k = 0; k < 20; k++) {
      PetscCall(MatScale(p.A, 1 + 0.01 * k));
      PetscCall(MatScale(p.R, 1 + 0.01 * k));
      PetscCall(PairExpect(&p));
      PetscCall(Products(d, &p, p.A, k % 8 == 7, every));
    }
    PetscCall(PairDestroy(&p));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddEntry(Mat A, PetscInt k)
{
  PetscInt r0, r1, N;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, NULL, &N));
  PetscCall(MatGetOwnershipRange(A, &r0, &r1));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetValue(A, (r0 + r1) / 2, (r0 + 17 * (k + 1)) % N, 1.5, ADD_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Another pattern while the thread works on the old one */
static PetscErrorCode Patterns(TestDiff *d)
{
  Pair p;

  PetscFunctionBeginUser;
  PetscCall(PairCreate(&blocks, &p));
  for (PetscInt k = 0; k < 10; k++) {
    PetscCall(Products(d, &p, p.A, 0, BEGUN + k));
    PetscCall(AddEntry(p.A, k));
    PetscCall(AddEntry(p.R, k));
    PetscCall(PairExpect(&p));
  }
  PetscCall(ProductsUntil(d, &p, 0));
  PetscCall(PairDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gone before anything came of it, or soon after */
static PetscErrorCode Destroys(TestDiff *d)
{
  Pair p;

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < 6; k++) {
    PetscCall(PairCreate(&blocks, &p));
    PetscCall(Products(d, &p, p.A, 0, BEGUN + k * k * k));
    PetscCall(PairDestroy(&p));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A duplicate, which begins anew, and its original, and which of them goes first */
static PetscErrorCode Duplicates(TestDiff *d)
{
  Pair p;
  Mat  B;

  PetscFunctionBeginUser;
  for (int first = 0; first < 2; first++) {
    PetscCall(PairCreate(&blocks, &p));
    PetscCall(Products(d, &p, p.A, 0, BEGUN));
    PetscCall(MatDuplicate(p.A, MAT_COPY_VALUES, &B));
    PetscCall(Products(d, &p, B, 0, BEGUN));
    PetscCall(Products(d, &p, p.A, 0, BEGUN));
    if (first) PetscCall(MatDestroy(&p.A));
    else PetscCall(MatDestroy(&B));
    PetscCall(Products(d, &p, first ? B : p.A, 0, 40));
    PetscCall(MatDestroy(&B));
    PetscCall(PairDestroy(&p));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The inside of one matrix becomes that of another, both with a thread at work */
static PetscErrorCode Replaces(TestDiff *d)
{
  Pair p;
  Mat  B;

  PetscFunctionBeginUser;
  for (int merge = 0; merge < 2; merge++) { /* MatHeaderReplace(), and MatHeaderMerge(), which is not for everybody */
    PetscCall(PairCreate(&blocks, &p));
    PetscCall(MatDuplicate(p.A, MAT_COPY_VALUES, &B));
    PetscCall(Products(d, &p, p.A, 0, BEGUN));
    PetscCall(Products(d, &p, B, 0, BEGUN));
    if (!merge) PetscCall(MatHeaderReplace(p.A, &B));
    else {
      PetscCall(MatTranspose(p.A, MAT_INPLACE_MATRIX, &p.A));
      PetscCall(MatTranspose(p.R, MAT_INPLACE_MATRIX, &p.R));
      PetscCall(PairExpect(&p));
      PetscCall(MatDestroy(&B));
    }
    PetscCall(Products(d, &p, p.A, 0, 40));
    PetscCall(ProductsUntil(d, &p, 0));
    PetscCall(PairDestroy(&p));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* More matrices than there are threads for */
static PetscErrorCode Several(TestDiff *d)
{
  Pair p[6];
  int  n = (int)PETSC_STATIC_ARRAY_LENGTH(p);

  PetscFunctionBeginUser;
  for (int k = 0; k < n; k++) PetscCall(PairCreate(k % 2 ? &grid : &blocks, p + k));
  for (int round = 0; round < 30; round++) {
    for (int k = 0; k < n; k++) PetscCall(Products(d, p + k, p[k].A, 0, 3));
  }
  for (int k = 0; k < n; k++) PetscCall(ProductsUntil(d, p + k, 0));
  for (int k = 0; k < n; k++) PetscCall(PairDestroy(p + k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Setters, a conversion and a view, which do not wait for products */
static PetscErrorCode Setters(TestDiff *d)
{
  Pair p;

  PetscFunctionBeginUser;
  PetscCall(PairCreate(&blocks, &p));
  for (int k = 0; k < 7; k++) {
    PetscCall(Products(d, &p, p.A, 0, BEGUN));
    if (k == 0) PetscCall(MatAMBSetBlockSize(p.A, 3));
    if (k == 1) PetscCall(MatNUSSELLSetChunk(p.A, 16, 0));
    if (k == 2) PetscCall(MatShadowSetTune(p.A, MAT_SHADOW_TUNE_MEASURE));
    if (k == 3) PetscCall(MatShadowSetTune(p.A, MAT_SHADOW_TUNE_ONLINE));
    if (k == 4) PetscCall(MatShadowSetUp(p.A));
    if (k == 5) PetscCall(View(p.A));
    PetscCall(Products(d, &p, p.A, 0, 2 * BEGUN));
  }
  PetscCall(PairDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the model alone decides two matrices make the same bits, from the first product on; on a GPU it alone decides with MAT_SHADOW_TUNE_ONLINE, too */
static PetscErrorCode SameBits(TestDiff *d)
{
  const MatShadowTune tunes[] = {MAT_SHADOW_TUNE_OFF, MAT_SHADOW_TUNE_MODEL, MAT_SHADOW_TUNE_ONLINE};
  Pair                p;
  Vec                 y;
  PetscBool           same, device;

  PetscFunctionBeginUser;
  PetscCall(PairCreate(&blocks, &p));
  PetscCall(VecDuplicate(p.y[0], &y));
  PetscCall(TestOnDevice(p.A, &device));
  for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(tunes) - !device; t++) {
    Mat B;

    PetscCall(MatShadowSetTune(p.A, tunes[t] == MAT_SHADOW_TUNE_ONLINE ? MAT_SHADOW_TUNE_MODEL : tunes[t]));
    PetscCall(MatDuplicate(p.A, MAT_COPY_VALUES, &B));
    PetscCall(MatShadowSetTune(B, tunes[t]));
    PetscCall(MatMult(p.A, p.x[0], y));
    for (int k = 0; k < 40; k++) {
      PetscCall(Products(d, &p, B, 0, 1));
      PetscCall(VecEqual(y, p.y[0], &same));
      TestExpect(d, "other bits", same);
    }
    PetscCall(MatDestroy(&B));
  }
  PetscCall(VecDestroy(&y));
  PetscCall(PairDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the solver waits for conversions, a verdict is not followed by the next one at once: a solver that soon ends would have it for nothing */
static PetscErrorCode Calm(TestDiff *d)
{
  Pair          p;
  MatShadowInfo info   = {.tuning = PETSC_TRUE};
  PetscInt      judged = 0;
  PetscBool     device;
  PetscMPIInt   size;

  PetscFunctionBeginUser;
  PetscCall(PairCreate(&scattered, &p));
  PetscCall(MatShadowSetTune(p.A, MAT_SHADOW_TUNE_MEASURE));
  PetscCall(TestOnDevice(p.A, &device));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (PetscInt made = 0; size == 1 && !device && info.tuning && made < MANY; made++) {
    PetscCall(Products(d, &p, p.A, 0, 1));
    PetscCall(MatShadowGetInfo(p.A, &info));
    if (info.candidates && judged < 4) TestExpect(d, "the next candidate does not wait", (PetscBool)(info.conversions == 1));
    if (info.candidates) judged++;
  }
  TestExpect(d, "tuning does not end", (PetscBool)(size > 1 || device || !info.tuning));
  PetscCall(PairDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- the first products ------------------------------------------------- */

/* Products of a new matrix until its tuning has ended, and FEW at least; microseconds of each if the host waits for its norm, as solvers do */
static PetscErrorCode FirstProducts(PetscInt n, const char path[], PetscBool wait, PetscReal us[], PetscInt *made, PetscInt *tuned)
{
  const TestShape laplace = {"7-point", n * n * n, n * n * n, RowCube, ValueLaplace, PETSC_FALSE};
  MatShadowInfo   info    = {.tuning = PETSC_TRUE};
  Mat             A;
  Vec             x, y;
  PetscReal       norm;
  PetscLogDouble  since, now;

  PetscFunctionBeginUser;
  if (path[0]) {
    PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
    PetscCall(MatSetFromOptions(A));
    PetscCall(MatLoadMatrixMarket(A, path));
  } else PetscCall(TestShapeCreate(&laplace, NULL, &A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(VecNorm(x, NORM_2, &norm));
  *tuned = 0;
  for (*made = 0; *made < MANY && (*made < FEW || info.tuning); (*made)++) {
    PetscCall(PetscTime(&since));
    PetscCall(MatMult(A, x, y));
    if (wait) PetscCall(VecNorm(y, NORM_2, &norm));
    PetscCall(PetscTime(&now));
    us[*made] = (PetscReal)(1e6 * (now - since));
    if (info.tuning) PetscCall(MatShadowGetInfo(A, &info));
    if (!info.tuning && !*tuned) *tuned = *made + 1;
  }
  PetscCall(TestDestroy(&x, &y, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first matrix pays for what a process does once; the figures are those of the two after it */
static PetscErrorCode First(PetscInt n, const char path[])
{
  PetscReal *us, sum = 0, median;
  PetscInt   made, tuned, asked;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(MANY, &us));
  PetscCall(FirstProducts(n, path, PETSC_TRUE, us, &made, &tuned));
  PetscCall(FirstProducts(n, path, PETSC_FALSE, us, &made, &asked));
  PetscCall(FirstProducts(n, path, PETSC_TRUE, us, &made, &tuned));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "product,microseconds\n"));
  for (PetscInt k = 0; k < PetscMin(made, FEW); k++) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT ",%.1f\n", k + 1, (double)us[k]));
  for (PetscInt k = 0; k < tuned; k++) sum += us[k];
  PetscCall(PetscSortReal(made - tuned, us + tuned));
  median = made > tuned ? us[tuned + (made - tuned) / 2] : us[made - 1];
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "a host that waits: tuned after %" PetscInt_FMT " products, which took %.3f ms more than as many later ones of %.1f us\n", tuned, 1e-3 * (double)(sum - tuned * median), (double)median));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "a host that does not wait: had asked for %" PetscInt_FMT " products\n", asked));
  PetscCall(PetscFree(us));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const TestCase tests[] = {
  {"solvers",    Solvers   },
  {"new values", Values    },
  {"patterns",   Patterns  },
  {"destroys",   Destroys  },
  {"duplicates", Duplicates},
  {"replaces",   Replaces  },
  {"several",    Several   },
  {"setters",    Setters   },
  {"same bits",  SameBits  },
  {"calm",       Calm      },
  {NULL,         NULL      }
};

int main(int argc, char **argv)
{
  char      path[PETSC_MAX_PATH_LEN] = "";
  PetscBool products, file;
  PetscInt  n = 1;

  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-online_products", &n, &products));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-online_file", path, sizeof(path), &file));
  if (products || file) PetscCall(First(n, path));
  else PetscCall(TestRun(tests));
  return TestFinalize();
}

/*TEST

  testset:
    checks: 10
    test:
      suffix: amb
      nsize: {{1 2}}
      args: -mat_type amb -mat_shadow_tune online
    test:
      suffix: nussell
      args: -mat_type nussell -mat_nussell_tune online -mat_nussell_s1 100 -mat_nussell_k1 2 -mat_nussell_s2 1000 -mat_nussell_k2 1
    test:
      suffix: autosparse
      nsize: {{1 2}}
      args: -mat_type autosparse -mat_shadow_tune online -malloc_dump
    test:
      suffix: autosparse_measure
      args: -mat_type autosparse -mat_shadow_tune measure

TEST*/
