/* SPDX-License-Identifier: BSD-2-Clause */
#include "matrix.h"

#include <algorithm>
#include <cctype>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

extern "C" {
#include "mat/io/mtxparse.h"
}

/* The finalizer of splitmix64 */
static uint64_t Hash(uint64_t k)
{
  uint64_t z = k * 0x9E3779B97F4A7C15ULL + 0x9E3779B97F4A7C15ULL;

  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

double MatrixUniform(uint64_t k)
{
  return ((double)(Hash(k) >> 11) + 1.0) / 9007199254740992.0;
}

/* Counts in i[1..m] become offsets */
static bool Offsets(Matrix &A)
{
  int64_t total = 0;

  for (int64_t r = 0; r < A.m; r++) {
    total += A.i[r + 1];
    if (total > INT_MAX) return false;
    A.i[r + 1] = (int)total;
  }
  A.j.resize(total);
  A.a.resize(total);
  return true;
}

struct Entry {
  int    i, j;
  double a;
};

/* Entries in any order become rows with ascending columns; entries that meet add up */
static bool Assemble(const std::vector<Entry> &entries, Matrix &A)
{
  std::vector<int> fill, length(A.m);

  A.i.assign(A.m + 1, 0);
  for (const Entry &e : entries) A.i[e.i + 1]++;
  if (!Offsets(A)) return false;
  fill = A.i;
  for (const Entry &e : entries) {
    A.j[fill[e.i]]   = e.j;
    A.a[fill[e.i]++] = e.a;
  }
#pragma omp parallel
  {
    std::vector<std::pair<int, double>> row;

#pragma omp for schedule(dynamic, 256)
    for (int64_t r = 0; r < A.m; r++) {
      int n = A.i[r];

      row.clear();
      for (int k = A.i[r]; k < A.i[r + 1]; k++) row.emplace_back(A.j[k], A.a[k]);
      std::stable_sort(row.begin(), row.end(), [](const auto &p, const auto &q) { return p.first < q.first; });
      for (const auto &p : row) {
        if (n > A.i[r] && A.j[n - 1] == p.first) A.a[n - 1] += p.second;
        else {
          A.j[n]   = p.first;
          A.a[n++] = p.second;
        }
      }
      length[r] = n - A.i[r];
    }
  }
  int next = 0;
  for (int64_t r = 0; r < A.m; r++) {
    const int first = A.i[r];

    A.i[r] = next;
    for (int k = first; k < first + length[r]; k++, next++) {
      A.j[next] = A.j[k];
      A.a[next] = A.a[k];
    }
  }
  A.i[A.m] = next;
  A.j.resize(next);
  A.a.resize(next);
  return true;
}

/* ---- Files ---- */

static std::string ReadFile(FILE *f, Matrix &A)
{
  std::vector<char>    text;
  std::vector<int64_t> i(1024), j(1024);
  std::vector<double>  re(1024), im(1024);
  std::vector<Entry>   entries;
  MtxReader            r;
  MtxBatch             batch  = {i.data(), j.data(), re.data(), im.data(), i.size(), 0};
  MtxStatus            status = MTX_FULL;
  size_t               begin  = 0, used;

  for (size_t got = 1; got;) {
    const size_t have = text.size();

    text.resize(have + (32 << 20));
    got = fread(text.data() + have, 1, text.size() - have, f);
    text.resize(have + got);
  }
  MtxReaderInit(&r);
  if (MtxReadHeader(&r, text.data(), text.size(), 1, &begin) != MTX_OK) return r.reason;
  const MtxHeader h = r.header;
  if (h.format != MTX_COORDINATE || h.field == MTX_COMPLEX) return "neither arrays nor complex matrices are measured here";
  if (h.m > INT_MAX - 1 || h.n > INT_MAX - 1) return "too many rows or columns for 32-bit indices";
  A.m = h.m;
  A.n = h.n;
  while (status == MTX_FULL) {
    batch.count = 0;
    status      = MtxReadEntries(&r, text.data() + begin, text.size() - begin, 1, &batch, &used);
    if (status == MTX_BAD) return r.reason;
    begin += used;
    for (size_t k = 0; k < batch.count; k++) {
      const double a = h.field == MTX_PATTERN ? MatrixUniform(entries.size()) : re[k];

      entries.push_back({(int)i[k], (int)j[k], a});
      if (h.symmetry != MTX_GENERAL && i[k] != j[k]) entries.push_back({(int)j[k], (int)i[k], h.symmetry == MTX_SKEW ? -a : a});
    }
  }
  if (r.entries != h.entries) return "the file ends too early";
  return Assemble(entries, A) ? "" : "too many nonzeros for 32-bit indices";
}

/* ---- Generators ---- */

#define FLOATS 65536

/* The (2 r + 1)^dim neighbourhood of each node of a grid, or only the neighbours along an axis, in blocks of bs x bs. Values are random, or constant along
   diagonals with up to 'distinct' of them, or random floats if distinct is FLOATS. */
static bool Grid(Matrix &A, int64_t s, int dim, bool star, int bs, double diagonal, const std::vector<double> &arg)
{
  const uint64_t distinct = arg.size() > 1 ? (uint64_t)arg[1] : 0;

  const int64_t nodes = dim == 3 ? s * s * s : s * s;
  const int     rz    = dim == 3 ? 1 : 0;

  if (nodes * bs > INT_MAX - 1) return false;
  A.m = A.n = nodes * bs;
  A.i.assign(A.m + 1, 0);
  for (int pass = 0; pass < 2; pass++) {
#pragma omp parallel for schedule(static)
    for (int64_t r = 0; r < A.m; r++) {
      const int64_t node = r / bs, x = node % s, y = node / s % s, z = node / s / s;
      int64_t       k = pass ? A.i[r] : 0;

      for (int64_t Z = std::max<int64_t>(z - rz, 0); Z <= std::min<int64_t>(z + rz, dim == 3 ? s - 1 : 0); Z++) {
        for (int64_t Y = std::max<int64_t>(y - 1, 0); Y <= std::min(y + 1, s - 1); Y++) {
          for (int64_t X = std::max<int64_t>(x - 1, 0); X <= std::min(x + 1, s - 1); X++) {
            if (star && std::abs(X - x) + std::abs(Y - y) + std::abs(Z - z) > 1) continue;
            for (int d = 0; d < bs; d++, k++) {
              if (!pass) continue;
              const int64_t c = ((Z * s + Y) * s + X) * bs + d;
              const double  u = distinct && distinct < FLOATS ? (double)(Hash((uint64_t)((c - r) * bs + r % bs)) % distinct) / (double)distinct : MatrixUniform((uint64_t)k);

              A.j[k] = (int)c;
              A.a[k] = bs > 1 ? 2 * u - 1 : (c == r ? diagonal : -1.0) * (0.95 + 0.1 * u);
              if (distinct >= FLOATS) A.a[k] = (float)A.a[k];
            }
          }
        }
      }
      if (!pass) A.i[r + 1] = (int)k;
    }
    if (!pass && !Offsets(A)) return false;
  }
  return true;
}

/* R-MAT: at every level of an edge one of four quadrants, the first three with the given probabilities */
static bool Graph(Matrix &A, int scale, double factor, double a, double b, double c)
{
  const int64_t edges = scale < 31 ? (int64_t)(factor * (double)(1LL << scale)) : INT64_MAX;

  if (edges > INT_MAX) return false;
  std::vector<Entry> entries(edges);
  A.m = A.n = 1LL << scale;
#pragma omp parallel for schedule(static)
  for (int64_t e = 0; e < edges; e++) {
    int row = 0, col = 0;

    for (int level = 0; level < scale; level++) {
      const double u = MatrixUniform((uint64_t)(e * 64 + level));
      const int    q = u <= a ? 0 : (u <= a + b ? 1 : (u <= a + b + c ? 2 : 3));

      row = 2 * row + (q >> 1);
      col = 2 * col + (q & 1);
    }
    entries[e] = {row, col, MatrixUniform((uint64_t)(e * 64 + 63))};
  }
  return Assemble(entries, A);
}

/* In each row the diagonal and d - 1 random positions at most w columns away from it; those that meet or lie outside are fewer */
static bool Band(Matrix &A, int64_t n, int64_t w, int64_t d)
{
  if (n > INT_MAX - 1 || (double)n * (double)d > INT_MAX) return false;
  std::vector<Entry> entries;
  A.m = A.n = n;
  for (int64_t r = 0; r < n; r++) {
    for (int64_t k = 0; k < d; k++) {
      const uint64_t at = (uint64_t)(r * d + k) * 2;
      const int64_t  c  = k ? r - w + (int64_t)(MatrixUniform(at) * (double)(2 * w + 1)) : r;

      if (c >= 0 && c < n) entries.push_back({(int)r, (int)c, 2 * MatrixUniform(at + 1) - 1});
    }
  }
  return Assemble(entries, A);
}

/* Entries at random columns, as many in every row but for those that meet */
static bool Scattered(Matrix &A, int64_t m, int64_t n, int64_t entries)
{
  std::vector<int> columns;

  if (m > INT_MAX || n > INT_MAX || m * entries > INT_MAX) return false;
  A.m = m;
  A.n = n;
  A.i.assign(m + 1, 0);
  columns.resize(m * entries);
#pragma omp parallel for schedule(dynamic, 4096)
  for (int64_t r = 0; r < m; r++) {
    int *c = columns.data() + r * entries;

    for (int64_t k = 0; k < entries; k++) c[k] = (int)(Hash((uint64_t)(r * entries + k)) % (uint64_t)n);
    std::sort(c, c + entries);
    A.i[r + 1] = (int)(std::unique(c, c + entries) - c);
  }
  if (!Offsets(A)) return false;
#pragma omp parallel for schedule(dynamic, 4096)
  for (int64_t r = 0; r < m; r++) {
    for (int k = A.i[r]; k < A.i[r + 1]; k++) {
      A.j[k] = columns[r * entries + (k - A.i[r])];
      A.a[k] = MatrixUniform((4ULL << 40) + (uint64_t)k);
    }
  }
  return true;
}

static std::string Generate(const std::string &name, Matrix &A)
{
  const size_t        colon = name.find(':');
  const std::string   kind  = name.substr(0, colon);
  std::vector<double> arg;
  bool                fits;

  for (const char *p = name.c_str() + std::min(colon, name.size()); *p;) {
    char *end;

    arg.push_back(strtod(p + 1, &end));
    if (end == p + 1 || (*end && *end != ',') || !(arg.back() >= 1)) return "numbers of at least 1 must follow the generator's name";
    p = end;
  }
  if (kind == "p5" && arg.size() >= 1 && arg.size() <= 2) fits = Grid(A, (int64_t)arg[0], 2, true, 1, 4, arg);
  else if (kind == "p9" && arg.size() >= 1 && arg.size() <= 2) fits = Grid(A, (int64_t)arg[0], 2, false, 1, 8, arg);
  else if (kind == "p7" && arg.size() >= 1 && arg.size() <= 2) fits = Grid(A, (int64_t)arg[0], 3, true, 1, 6, arg);
  else if (kind == "p27" && arg.size() >= 1 && arg.size() <= 2) fits = Grid(A, (int64_t)arg[0], 3, false, 1, 26, arg);
  else if (kind == "elas" && arg.size() >= 1 && arg.size() <= 2) fits = Grid(A, (int64_t)arg[0], 3, false, 3, 0, arg);
  else if (kind == "er" && arg.size() == 2) fits = Graph(A, (int)arg[0], arg[1], .25, .25, .25);
  else if (kind == "g500" && arg.size() == 2) fits = Graph(A, (int)arg[0], arg[1], .57, .19, .19);
  else if (kind == "band" && arg.size() == 3) fits = Band(A, (int64_t)arg[0], (int64_t)arg[1], (int64_t)arg[2]);
  else if (kind == "rand" && arg.size() == 3) fits = Scattered(A, (int64_t)arg[0], (int64_t)arg[1], (int64_t)arg[2]);
  else return "no file that can be read, and no generator (p5:S p7:S p9:S p27:S elas:S with ,DISTINCT or ,65536 for floats, er:S,F g500:S,F band:N,W,D rand:M,N,D)";
  return fits ? "" : "too large for 32-bit indices";
}

std::string MatrixCreate(const std::string &name, Matrix &A)
{
  std::unique_ptr<FILE, int (*)(FILE *)> file(fopen(name.c_str(), "rb"), fclose);
  const std::string                      reason = file ? ReadFile(file.get(), A) : Generate(name, A);

  return reason.empty() ? "" : name + ": " + reason;
}

Matrix MatrixTranspose(const Matrix &A)
{
  Matrix T;

  T.m = A.n;
  T.n = A.m;
  T.i.assign(T.m + 1, 0);
  for (int c : A.j) T.i[c + 1]++;
  (void)Offsets(T);
  std::vector<int> fill = T.i;
  for (int64_t r = 0; r < A.m; r++) {
    for (int k = A.i[r]; k < A.i[r + 1]; k++) {
      const int to = fill[A.j[k]]++;

      T.j[to] = (int)r;
      T.a[to] = A.a[k];
    }
  }
  return T;
}
