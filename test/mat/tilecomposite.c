/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "Setters, options and figures of a matrix of type tilecomposite, its performance model, and what it refuses.\n";

#include "../testutil.h"
#include "mat/impls/tilecomposite/host/tileplan.h"

#define MOST_WARPS 120

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
  MatShadowInfo info;
  Mat           A, B, R;
  PetscBool     device;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&hubs, &A, &R));
  PetscCall(MatShadowSetTune(A, MAT_SHADOW_TUNE_OFF));
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(MatShadowGetInfo(A, &info));
  PetscCall(PetscStrcmp(info.kernel, "cuda", &device));
  TestExpect(d, "other parameters by default", (PetscBool)((TestFigure(A, "tiles") == 1 || (device && TestFigure(A, "tiles") == 0)) && TestFigure(A, "tile_width") == 65535 && TestFigure(A, "columns_rectangles") + TestFigure(A, "rows_rectangles") > 0 && TestFigure(A, "coo_rectangles") == 0));
  PetscCall(MatTileCompositeSetTiles(A, 40, 3));
  PetscCall(TestDiffMat(d, A, R));
  TestExpect(d, "tiles", (PetscBool)(TestFigure(A, "tiles") == 3 && TestFigure(A, "tile_width") == 40 && TestFigure(A, "slots") > 0));
  PetscCall(MatTileCompositeSetTiles(A, 40, device ? 1000 : -1)); /* on a GPU -1 leaves the number to the model */
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
  PetscCall(TestDestroy(&A, &R));
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
  PetscCall(TestDestroy(&A, &R));
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
  PetscCall(TestDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The time that algorithm 3 predicts, one rectangle after the other, and the warps of each ordered by their ends */
static double Predict(const TileModel *T, PetscInt n, const PetscInt length[], int64_t work)
{
  double    alone[MOST_WARPS] = {0}, full[MOST_WARPS] = {0}, time = 0, now = 0;
  PetscBool ended[MOST_WARPS] = {PETSC_FALSE};
  PetscInt  in                = 0;

  for (PetscInt p = 0; p < n; in++) {
    int          rows;
    const double w = (double)length[p], h = (double)TileShape(length[p], work, &rows), wide = rows ? 32 * PetscCeilReal(w / 32) : w;

    alone[in % T->warps] += wide * h / TilePerformance(T->alone[0], wide, h);
    full[in % T->warps] += wide * h / TilePerformance(T->full[0][TILE_NEAR], wide, h);
    p += (PetscInt)h;
  }
  for (PetscInt k = 0; k < T->warps; k++) { /* until the next warp ends, those that have not ended go on together */
    PetscInt next = -1;
    double   need = 0;

    for (PetscInt l = 0; l < T->warps; l++) {
      if (ended[l]) continue;
      need += alone[l] > 0 ? full[l] / alone[l] : 0;
      if (next < 0 || alone[l] < alone[next]) next = l;
    }
    time += (alone[next] - now) * PetscMax(1, need);
    now         = alone[next];
    ended[next] = PETSC_TRUE;
  }
  return time;
}

/* Predictions for runs of equal lengths are those for single pieces; no size of rectangles that algorithm 2 tries has less time than the one it takes; what is read far
   away, and few warps, take longer */
static PetscErrorCode Model(TestDiff *d)
{
  enum {
    N = 5000
  };
  TileModel T;
  TileRun   run[N];
  TilePart  part[2] = {
     {0, run, 0, 0, 0},
     {0, run, 0, 0, 0}
  };
  PetscInt length[N], nrun = 0;
  double   least, both, buffer[2 * MOST_WARPS];

  PetscFunctionBeginUser;
  TileModelDefault(&T);
  for (PetscInt p = 0; p < N; p++) {
    length[p] = PetscMax(1, 1000 / (p + 1));
    if (!nrun || run[nrun - 1].length != length[p]) run[nrun++] = (TileRun){length[p], 0};
    run[nrun - 1].count++;
  }
  part[0].nrun = part[1].nrun = nrun;
  part[0].read = part[1].read = T.read[0];
  for (T.warps = 1; T.warps <= MOST_WARPS; T.warps = 3 * T.warps + 1) {
    for (int64_t w = 32; w < 5000; w = w * 3 / 2) {
      double one = Predict(&T, N, length, w), all;

      part[0].work = w;
      all          = TilePredict(&T, 1, part, buffer);
      TestExpect(d, "runs and pieces differ", (PetscBool)(PetscAbsReal((PetscReal)(one - all)) <= 1e-2 * one));
    }
    least = TilePartition(&T, 1, part, INFINITY, buffer);
    TestExpect(d, "not the time of the choice", (PetscBool)(PetscAbsReal((PetscReal)(least - TilePredict(&T, 1, part, buffer))) <= 1e-9 * least));
    for (int64_t w = 64; w <= TILE_MOST; w *= 2) {
      TilePart other = part[0];

      other.work = w;
      TestExpect(d, "another size is better", (PetscBool)(TilePredict(&T, 1, &other, buffer) >= least * (1 - 1e-9)));
    }
    both = TilePartition(&T, 2, part, 0, buffer);
    TestExpect(d, "a size for each part without being asked", (PetscBool)(part[0].work == part[1].work));
    TestExpect(d, "sizes of their own take longer", (PetscBool)(TilePartition(&T, 2, part, INFINITY, buffer) <= both * (1 + 1e-9)));
  }
  T.warps      = 1;
  part[0].work = 256;
  least        = TilePredict(&T, 1, part, buffer);
  for (int k = 0; k < TILE_SHAPES * TILE_SHAPES; k++) (&T.alone[0][0][0])[k] /= 2;
  TestExpect(d, "a warp alone takes as long at half the rate", (PetscBool)(TilePredict(&T, 1, part, buffer) > 1.5 * least));
  T.warps = MOST_WARPS;
  for (int wide = 0; wide < 2; wide++) {
    for (int k = 0; k < TILE_SHAPES * TILE_SHAPES; k++) (&T.alone[wide][0][0])[k] *= 1e3; /* so that the device is full */
    part[0].wide = wide;
    least        = 0;
    for (int k = 0; k < TILE_READS; k += 2) {
      double time;

      part[0].read = T.read[k];
      time         = TilePredict(&T, 1, part, buffer);
      TestExpect(d, "what is farther is nearer", (PetscBool)(time >= least));
      least = time;
    }
    both         = TilePredict(&T, 1, part, buffer);
    part[0].read = T.read[0];
    TestExpect(d, "where x is makes no difference", (PetscBool)(both > (wide ? 5 : 2) * TilePredict(&T, 1, part, buffer)));
  }
  least = 0;
  for (double bytes = 1000; bytes < 1e9; bytes *= 1.7) {
    const double often = TileRead(&T, bytes, 1e9), once = TileRead(&T, bytes, 0);

    TestExpect(d, "one more entry", (PetscBool)(often >= T.read[0] && often < 1e-9 && once >= often));
    TestExpect(d, "the first read of an entry finds it near", (PetscBool)(once > 2 * T.read[0]));
    least = PetscMax(least, often);
  }
  TestExpect(d, "entries far away are as near", (PetscBool)(least >= T.read[TILE_READS - 1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A table is written and read; what is no table is refused with the name of the file */
static PetscErrorCode Table(TestDiff *d)
{
#define HEAD "petscamb tile-composite 2\ngpu X\nscalar 8 warps "
#define READ "read 1 1 1 1 1 1 1 1 1 1 1 1 1 1 "
  static const char *const bad[][2] = {
    {"",                                                                                      "not a table"     },
    {"another file\n",                                                                        "not a table"     },
    {"petscamb tile-composite 1\ngpu X\nscalar 8 warps 9 bandwidth 1e9 launch 1e-6\n1 2 3\n", "another version" },
    {"petscamb tile-composite 2\n",                                                           "name of a GPU"   },
    {HEAD "9 bandwidth 1e9 launch 1e-6\n",                                                    "line 3 must have"},
    {HEAD "0 units 9 launch 1 meet 1 copy 1 sum 1\n",                                         "in line 3"       },
    {HEAD "9999999 units 9 launch 1 meet 1 copy 1 sum 1\n",                                   "in line 3"       },
    {HEAD "9 units 0 launch 1 meet 1 copy 1 sum 1\n",                                         "in line 3"       },
    {HEAD "9 units 9 launch 1 meet nan copy 1 sum 1\n",                                       "in line 3"       },
    {HEAD "9 units 9 launch 1 meet 1 copy 1 sum 1\n" READ "\n",                               "line 4"          },
    {HEAD "9 units 9 launch 1 meet 1 copy 1 sum 1\n" READ "0\n",                              "line 4"          },
    {HEAD "9 units 9 launch 1 meet 1 copy 1 sum 1\n" READ "1\n1 2 3\n",                       "an entry"        },
    {HEAD "9 units 9 launch 1 meet 1 copy 1 sum 1\n" READ "1\n1 2 -3\n",                      "an entry"        }
  };
  TileModel   T, read;
  char        path[PETSC_MAX_PATH_LEN];
  PetscMPIInt rank;
  const char *wrong;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(TestTemporaryFile(path, sizeof(path)));
  TileModelDefault(&T);
  PetscCall(PetscStrncpy(T.gpu, "NVIDIA Something 9", sizeof(T.gpu)));
  if (!rank) TestExpect(d, "the table is not written", (PetscBool)(TileModelWrite(path, &T) != 0));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  wrong = TileModelRead(path, &read);
  TestExpect(d, "the table is not read", (PetscBool)(!wrong && !strcmp(read.gpu, T.gpu) && read.warps == T.warps && read.scalar == T.scalar && PetscAbsReal((PetscReal)(read.full[1][TILE_FAR][3][5] / T.full[1][TILE_FAR][3][5] - 1)) < 1e-3 && PetscAbsReal((PetscReal)(read.alone[1][10][3] / T.alone[1][10][3] - 1)) < 1e-3 && PetscAbsReal((PetscReal)(read.read[TILE_READS - 1] / T.read[TILE_READS - 1] - 1)) < 1e-3 && PetscAbsReal((PetscReal)(read.sum / T.sum - 1)) < 1e-2));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  {
    Mat A, R; /* a table of another GPU is no error */

    PetscCall(PetscOptionsSetValue(NULL, "-opt_mat_tilecomposite_table", path));
    PetscCall(TestShapeCreate(&hubs, "opt_", &A));
    PetscCall(PetscOptionsClearValue(NULL, "-opt_mat_tilecomposite_table"));
    PetscCall(TestShapeCreate(&hubs, "ref_", &R));
    PetscCall(MatConvert(A, MATTILECOMPOSITE, MAT_INPLACE_MATRIX, &A));
    PetscCall(TestDiffMat(d, A, R));
    PetscCall(TestDestroy(&A, &R));
  }
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(bad); k++) {
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    if (!rank) {
      FILE *f = fopen(path, "w");

      if (f) (void)fputs(bad[k][0], f);
      if (f) (void)fclose(f);
    }
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    wrong = TileModelRead(path, &read);
    TestExpect(d, bad[k][1], (PetscBool)(wrong && strstr(wrong, bad[k][1])));
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
  PetscCall(TestDestroy(&A, &R));
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
  return TestMain(argc, argv, help, tests);
}

/*TEST

  test:
    nsize: {{1 2}}
    args: -mat_type tilecomposite
    checks: 6

TEST*/
