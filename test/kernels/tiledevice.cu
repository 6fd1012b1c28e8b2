/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Tile-composite on a CUDA device against sums on the host, without PETSc: shapes and sizes of all kinds, rectangles of all kinds, new values, the table of the
   performance model, what must be refused, and what must be given back.

     tiledevice [small] GROUP...     runs groups of tests; small leaves out large shapes, for tools that slow everything down

   Prints "ok GROUP" or "not ok GROUP", before it what was wrong. Exit code 77: there is no device.
*/
#include "devicevectors.h"
#include "mat/impls/tilecomposite/cuda/tilecuda.h"

typedef NamedRows Shape;

#define ALL 99999 /* tiles: as many as have columns with several entries; with -1 the model chooses */
static const TileParams cases[] = {
  {0,     ALL, 0,    0},
  {0,     0,   0,    0},
  {7,     ALL, 32,   0},
  {100,   2,   512,  0},
  {50,    -1,  32,   1},
  {0,     -1,  1024, 1},
  {70000, ALL, 0,    0},
  {1,     3,   8192, 0},
  {1000,  -1,  0,    0}
};
#define NCASES (sizeof(cases) / sizeof(*cases))

/* A shape on the device, and what was made of it */
struct Matrix : DeviceRows {
  TileParams  params;
  TileDevice *A = nullptr;

  Matrix(const Shape &shape, const TileParams &p) : DeviceRows(shape), params(p) { }
  ~Matrix() { TileDeviceDestroy(A); }
  Matrix      Again() const { return {S, params}; }
  std::string Where() const { return Text("%s, width %d, tiles %d, work %d%s", S.name.c_str(), params.width, params.tiles, params.work, params.coo ? ", coo" : ""); }
  bool        Called(const char *what, SysStatus status) const { return status == SYS_SUCCESS || Complain(Where(), Text("%s returned %d, %s", what, (int)status, SysDeviceErrorText())); }
  bool        Counted()
  {
    const TileLayout *L = TileDeviceLayout(A);
    double            n = 0;

    for (int k = 0; k < 3; k++) n += L->entries[k];
    if (n != (double)L->nentry || L->nentry < (int64_t)S.j.size() || TileLayoutBytes(L) < (double)L->nentry) return Complain(Where(), "it stores less than the matrix has");
    if ((L->count[2] > 0) != (params.coo && L->ntile > 0)) return Complain(Where(), Text("%d rectangles in coordinates", (int)L->count[2]));
    if (params.tiles >= 0 && L->ntile > params.tiles) return Complain(Where(), Text("%d tiles", L->ntile));
    return true;
  }
  bool Create()
  {
    const SysCSR csr = CSR();
    int          regular;

    return Called("conversion", TileDeviceCreate(&csr, &params, nullptr, 0, &regular, stream, &A)) && Counted();
  }
  bool Update()
  {
    const SysCSR csr = CSR();

    return Called("update", TileDeviceUpdate(A, &csr, stream)) && Counted();
  }
  bool Mult(bool transpose, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z) const
  {
    const SysCSR csr = CSR();

    return Called(transpose ? "transposed product" : "product", (transpose ? TileDeviceMultTranspose : TileDeviceMult)(A, &csr, alpha, x, beta, y, z, stream));
  }
};

typedef std::function<bool(Matrix &, size_t)> Test;

static bool ForAll(const std::vector<Shape> &shapes, const Test &test)
{
  bool good = true;

  for (size_t s = 0; s < shapes.size(); s++) {
    for (size_t c = 0; c < NCASES; c++) {
      if (small && (s + c) % 3) continue;
      Matrix M(shapes[s], cases[c]);

      seed = 0x2545F4914F6CDD1DULL + s * 1000 + c;
      good = M.Create() && test(M, s + c) && good;
    }
  }
  return good;
}

static bool NewValues(const std::vector<Shape> &shapes)
{
  return ForAll(shapes, [](Matrix &M, size_t turn) {
    if (turn % 2 && !CheckProducts(M, M.S.a, true, 0, "")) return false;
    for (int pass = 0; pass < 2; pass++) {
      const std::vector<SysScalar> a = RandomVector(M.S.a.size());

      M.a.Upload(a);
      if (!M.Update() || !CheckProducts(M, a, false, 0, ", new values") || !CheckProducts(M, a, turn % 2, 0, ", new values")) return false;
    }
    M.a.Upload(M.S.a);
    return M.Update() && CheckProducts(M, M.S.a, turn % 2, 0, ", the first values again");
  });
}

/* Rows of all lengths in one tile: rectangles of both kinds, rows in several pieces, and rows whose pieces a warp adds */
static bool Rectangles(const std::vector<Shape> &)
{
  Shape S;

  static_cast<Rows &>(S) = MakeRows(3000, 80000, [](int r, std::vector<int> &cols) { Run(cols, r % 1000, r == 0 ? 79000 : r < 10 ? 5000 : r < 100 ? 300 : r % 7); });
  S.name                 = "rows of all lengths";
  for (int tiles : {ALL, 0, 1}) {
    Matrix            M(S, {1000, tiles, 1024, 0});
    const TileLayout *L;

    if (!M.Create() || !CheckProducts(M, S.a, false, 0, "") || !CheckProducts(M, S.a, false, 3, ", x not finite")) return false;
    L = TileDeviceLayout(M.A);
    if (!L->count[TILE_COLUMNS] || !L->count[TILE_ROWS] || !L->nlong || L->nsum <= L->nlong) return Complain(M.Where(), "not all kinds");
  }
  return true;
}

/* The table: measured, written, read, used for this device and number, and not used for another one */
static bool Table(const std::vector<Shape> &shapes)
{
  const char *name = "tiledevice.table";
  TileModel   model, other;
  const char *wrong;
  bool        good = true;

  if (TileDeviceMeasure(&model) || !TileModelWrite(name, &model)) return Complain("table", Text("not measured: %s", SysDeviceErrorText()));
  wrong = TileModelRead(name, &other);
  (void)remove(name);
  if (wrong || strcmp(model.gpu, other.gpu) || other.warps != model.warps) return Complain("table", wrong ? wrong : "what is read is not what was written");
  for (int w = 0; w < TILE_SHAPES; w++) {
    for (int h = 0; h < TILE_SHAPES; h++) {
      for (int wide = 0; wide < 2; wide++) {
        for (int level = 0; level < TILE_LEVELS - !wide; level++) {
          if ((1 << (w + h) <= TILE_MOST) != (other.full[wide][level][w][h] > 0)) good = Complain("table", Text("the performance of %d x %d is %g", 1 << w, 1 << h, other.full[wide][level][w][h]));
        }
        if ((1 << (w + h) <= TILE_MOST) != (other.alone[wide][w][h] > 0)) good = Complain("table", Text("the performance of %d x %d alone is %g", 1 << w, 1 << h, other.alone[wide][w][h]));
      }
    }
  }
  for (int foreign = 0; foreign < 2; foreign++) {
    Matrix       M(shapes[3], cases[0]);
    const SysCSR csr = M.CSR();
    int          regular;

    if (foreign) other.gpu[0]++;
    if (!M.Called("conversion", TileDeviceCreate(&csr, &M.params, &other, 0, &regular, stream, &M.A)) || !CheckProducts(M, M.S.a, false, 0, ", with a table")) return false;
    if (TileDeviceTable(M.A) != 1 + foreign) good = Complain(M.Where(), "a table of this device is not used, or one of another is");
  }
  return good;
}

/* Columns by chance, values and sizes by chance */
static bool RandomShapes(const std::vector<Shape> &)
{
  bool good = true;

  for (int k = 0; k < (small ? 6 : 100); k++) {
    seed               = 0x9E3779B97F4A7C15ULL * (uint64_t)(k + 1);
    const int        m = RandomBelow(small ? 300 : 5000) + 1, n = RandomBelow(RandomBelow(4) ? 5000 : 200000) + 1, runs = RandomBelow(20), length = 1 + RandomBelow(5);
    const TileParams p = {RandomBelow(2) ? 0 : 1 + RandomBelow(3000), RandomBelow(6) - 1, RandomBelow(2) ? 0 : 32 + RandomBelow(2000), RandomBelow(2)};
    Shape            S;

    static_cast<Rows &>(S) = MakeRows(m, n, k % 3 ? Runs(n, runs, length) : PowerLaw(n));
    S.name                 = Text("random shape %d", k);
    Matrix M(S, p);

    good = M.Create() && CheckProducts(M, S.a, false, 0, "") && CheckProducts(M, S.a, k % 5 == 0, 3, ", x not finite") && good;
  }
  return good;
}

static bool Refused(const std::vector<Shape> &shapes)
{
  Matrix          M(shapes[7], cases[0]);
  SysCSR          csr = M.CSR();
  int             regular;
  const SysStatus few = TileDeviceCreate(&csr, &M.params, nullptr, 1, &regular, stream, &M.A), status = (csr.n = (int64_t)1 << 31, TileDeviceCreate(&csr, &M.params, nullptr, 0, &regular, stream, &M.A));

  return (few == SYS_TOO_MANY_BYTES && status == SYS_TOO_LARGE && !M.A) || Complain(M.Where(), Text("status %d and %d", (int)few, (int)status));
}

static bool MemoryGivenBack(const std::vector<Shape> &shapes)
{
  bool good = true;

  for (const Shape &S : shapes) {
    size_t before = 0;

    for (int pass = 0; pass < 12; pass++) {
      Matrix M(S, cases[pass % NCASES]);

      if (pass == 4) before = FreeMemory();
      if (!M.Create() || !CheckProducts(M, S.a, pass % 2, 0, "") || !M.Update()) return false;
      TileDeviceDestroy(M.A);
      M.A = nullptr;
      if (pass >= 4 && FreeMemory() != before) {
        good = Complain(M.Where(), "memory is not given back");
        break;
      }
    }
  }
  return good;
}

int main(int argc, char **argv)
{
  const Group<std::vector<Shape>> groups[] = {
    {"products",        Products<Matrix, ForAll>},
    {"transposed products",                 TransposedProducts<Matrix,            ForAll>},
    {"new values",          NewValues             },
    {"not finite",NotFinite<Matrix, ForAll>},
    {"same bits",   SameBits<Matrix,           ForAll>},
    {"random shapes",       RandomShapes    },
    {"all rectangles",                 Rectangles                 },
    {"table",                 Table            },
    {"refused",                 Refused        },
    {"memory given back",                 MemoryGivenBack           }
  };

  return RunProgram(groups, MakeLongRows, argc, argv);
}
