/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "Setters, options and figures of a matrix of type tilecomposite, its performance model, and what it refuses.\n";

#include "testutil.h"
#include "mat/impls/tilecomposite/tileplan.h"

/* Degrees as of a graph with hubs: row i and column i have about n / (i + 1) entries, at least two */
static PetscInt RowHubs(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  PetscInt n = 0;

  for (PetscInt j = 0; j < N; j++) {
    if (j == i || j == (i * 7 + 3) % N || TestInteger(i, j, (i + 1) * (j + 1) / 8 + 1) == 0) cols[n++] = j;
  }
  return n;
}

static const TestShape hubs = {"hubs", 800, 800, RowHubs, TestValueGeneral, PETSC_FALSE};
static const TestShape grid = {"grid", 2500, 2500, TestRowGrid, TestValueGeneral, PETSC_FALSE};

/* Every setter, with products that must be right after it */
static PetscErrorCode Setters(TestDiff *d)
{
  Mat A, B, R;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&hubs, &A, &R));
  PetscCall(MatShadowSetTune(A, MAT_SHADOW_TUNE_OFF));
  PetscCall(TestDiffMat(d, A, R));
  TestExpect(d, "other parameters by default", (PetscBool)(TestFigure(A, "tiles") == 1 && TestFigure(A, "tile_width") == 65535 && TestFigure(A, "columns_rectangles") + TestFigure(A, "rows_rectangles") > 0 && TestFigure(A, "coo_rectangles") == 0));
  PetscCall(MatTileCompositeSetTiles(A, 40, 3));
  PetscCall(TestDiffMat(d, A, R));
  TestExpect(d, "tiles", (PetscBool)(TestFigure(A, "tiles") == 3 && TestFigure(A, "tile_width") == 40 && TestFigure(A, "slots") > 0));
  PetscCall(MatTileCompositeSetTiles(A, 40, -1));
  PetscCall(MatTileCompositeSetWork(A, 64));
  PetscCall(TestDiffMat(d, A, R));
  TestExpect(d, "as many tiles as have columns with several entries", (PetscBool)(TestFigure(A, "tiles") > 3));
  PetscCall(MatTileCompositeSetCOO(A, PETSC_TRUE));
  PetscCall(TestDiffMat(d, A, R));
  TestExpect(d, "coordinates", (PetscBool)(TestFigure(A, "coo_rectangles") > 0));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(TestDiffMat(d, B, R));
  TestExpect(d, "a duplicate has other parameters", (PetscBool)(TestFigure(B, "coo_rectangles") == TestFigure(A, "coo_rectangles") && TestFigure(B, "tiles") == TestFigure(A, "tiles")));
  PetscCall(MatDestroy(&B));
  PetscCall(MatTileCompositeSetTiles(A, 0, 0));
  PetscCall(TestDiffMat(d, A, R));
  TestExpect(d, "tiles although there shall be none", (PetscBool)(TestFigure(A, "tiles") == 0 && TestFigure(A, "coo_rectangles") == 0));
  PetscCall(MatScale(A, -1.5));
  PetscCall(MatScale(R, -1.5));
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(TestPairDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A grid stays on the AIJ, and the reason says why; hubs alone do not decline it */
static PetscErrorCode Declines(TestDiff *d)
{
  MatShadowInfo info;
  Mat           A, R;
  PetscBool     csr;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&grid, &A, &R));
  PetscCall(MatShadowSetTune(A, MAT_SHADOW_TUNE_MODEL));
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(MatShadowGetInfo(A, &info));
  PetscCall(PetscStrcmp(info.format, "csr", &csr));
  TestExpect(d, "a grid in tiles", (PetscBool)(csr && strstr(info.reason, "similar lengths")));
  PetscCall(TestPairDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode View(TestDiff *d)
{
  static const char *const words[] = {"tiles of 40 columns", "rectangles column by column", "sums of rows", "per nonzero"};
  Mat                      A, R;
  char                     text[8192];

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&hubs, &A, &R));
  PetscCall(MatShadowSetTune(A, MAT_SHADOW_TUNE_OFF));
  PetscCall(MatTileCompositeSetTiles(A, 40, 2));
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(TestViewText(A, sizeof(text), text));
  for (size_t k = 0; *text && k < PETSC_STATIC_ARRAY_LENGTH(words); k++) TestExpect(d, words[k], (PetscBool)(strstr(text, words[k]) != NULL));
  PetscCall(TestPairDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The time that algorithm 3 predicts, one rectangle after the other */
static double Predict(const TileModel *T, PetscInt n, const PetscInt length[], int64_t work)
{
  double   time = 0, size = 0, rate = 0;
  PetscInt in = 0;

  for (PetscInt p = 0; p < n;) {
    int          rows;
    const double w = (double)length[p], h = (double)TileShape(length[p], work, &rows), wide = rows ? 32 * PetscCeilReal(w / 32) : w;

    size += wide * h;
    rate += TilePerformance(T, 1, wide, h);
    in++;
    p += (PetscInt)h;
    if (in == T->warps || p >= n) {
      time += size / (rate / in);
      size = rate = 0;
      in          = 0;
    }
  }
  return time;
}

/* Predictions for runs of equal lengths are those for single pieces; no size of rectangles that algorithm 2 tries has less time than the one it takes */
static PetscErrorCode Model(TestDiff *d)
{
  enum {
    N = 5000
  };
  TileModel T;
  TileRun   run[N];
  PetscInt  length[N], nrun = 0;
  double    least;
  int64_t   work;

  PetscFunctionBeginUser;
  TileModelDefault(&T);
  T.warps = 7;
  for (PetscInt p = 0; p < N; p++) {
    length[p] = PetscMax(1, 1000 / (p + 1));
    if (!nrun || run[nrun - 1].length != length[p]) run[nrun++] = (TileRun){length[p], 0};
    run[nrun - 1].count++;
  }
  for (int64_t w = 32; w < 5000; w = w * 3 / 2) {
    const double one = Predict(&T, N, length, w), all = TilePredict(&T, 1, nrun, run, w);

    TestExpect(d, "runs and pieces differ", (PetscBool)(PetscAbsReal((PetscReal)(one - all)) <= 1e-5 * one));
  }
  work = TilePartition(&T, 1, nrun, run, &least);
  TestExpect(d, "not a multiple of the longest piece", (PetscBool)(work % 1000 == 0));
  TestExpect(d, "not the time of the choice", (PetscBool)(PetscAbsReal((PetscReal)(least - TilePredict(&T, 1, nrun, run, work))) <= 1e-6 * least));
  for (int64_t w = 1000; w <= 5000; w += 1000) {
    if (w <= 12487 / T.warps) TestExpect(d, "another size is better", (PetscBool)(TilePredict(&T, 1, nrun, run, w) >= least * (1 - 1e-9)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A table is written and read; what is no table is refused with the name of the file */
static PetscErrorCode Table(TestDiff *d)
{
  static const char *const bad[] = {"", "another file\n", "petscamb tile-composite 1\n", "petscamb tile-composite 1\ngpu X\nscalar 8 warps 0 bandwidth 1 launch 1\n", "petscamb tile-composite 1\ngpu X\nscalar 8 warps 9 bandwidth 1e9 launch 1e-6\n1 2 3\n"};
  TileModel                T, read;
  char                     path[PETSC_MAX_PATH_LEN];
  PetscMPIInt              rank;
  const char              *wrong;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(TestTemporaryFile(path, sizeof(path)));
  TileModelDefault(&T);
  PetscCall(PetscStrncpy(T.gpu, "NVIDIA Something 9", sizeof(T.gpu)));
  if (!rank) TestExpect(d, "the table is not written", (PetscBool)(TileModelWrite(path, &T) != 0));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  wrong = TileModelRead(path, &read);
  TestExpect(d, "the table is not read", (PetscBool)(!wrong && !strcmp(read.gpu, T.gpu) && read.warps == T.warps && PetscAbsReal((PetscReal)(read.sparse[3][5] / T.sparse[3][5] - 1)) < 1e-3));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  {
    Mat A, R; /* a table of another GPU is no error */

    PetscCall(PetscOptionsSetValue(NULL, "-opt_mat_tilecomposite_table", path));
    PetscCall(TestShapeCreate(&hubs, "opt_", &A));
    PetscCall(PetscOptionsClearValue(NULL, "-opt_mat_tilecomposite_table"));
    PetscCall(TestShapeCreate(&hubs, "ref_", &R));
    PetscCall(MatConvert(A, MATTILECOMPOSITE, MAT_INPLACE_MATRIX, &A));
    PetscCall(TestDiffMat(d, A, R));
    PetscCall(TestPairDestroy(&A, &R));
  }
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(bad); k++) {
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    if (!rank) {
      FILE *f = fopen(path, "w");

      if (f) (void)fputs(bad[k], f);
      if (f) (void)fclose(f);
    }
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    TestExpect(d, "a file that is no table is read", (PetscBool)(TileModelRead(path, &read) != NULL));
  }
  TestExpectError(d, PETSC_ERR_FILE_UNEXPECTED, "cannot be read", TestShapeCreateBad(&hubs, MATTILECOMPOSITE, "-bad_mat_tilecomposite_table", "no/such/file"));
  PetscCall(TestRemoveFile(path));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BadParameters(TestDiff *d)
{
  Mat A, R;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&hubs, &A, &R));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "cannot have -1 columns", MatTileCompositeSetTiles(A, -1, 0));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "cannot have -2 tiles", MatTileCompositeSetTiles(A, 0, -2));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "32 to 32768", MatTileCompositeSetWork(A, 31));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "32 to 32768", MatTileCompositeSetWork(A, 40000));
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(MatTileCompositeSetTiles(R, -1, -2)); /* setters leave matrices of other types alone */
  PetscCall(MatTileCompositeSetWork(R, 1));
  PetscCall(MatTileCompositeSetCOO(R, PETSC_TRUE));
  PetscCall(TestPairDestroy(&A, &R));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "32 to 32768", TestShapeCreateBad(&hubs, MATTILECOMPOSITE, "-bad_mat_tilecomposite_work", "5"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const TestCase tests[] = {
  {"setters",        Setters      },
  {"declines",       Declines     },
  {"view",           View         },
  {"model",          Model        },
  {"table",          Table        },
  {"bad parameters", BadParameters},
  {NULL,             NULL         }
};

int main(int argc, char **argv)
{
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(TestRun(tests));
  return TestFinalize();
}

/*TEST

  test:
    nsize: {{1 2}}
    args: -mat_type tilecomposite
    output_file: output/tilecomposite.out

TEST*/
