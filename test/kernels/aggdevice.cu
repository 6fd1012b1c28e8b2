/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Aggregates and prolongators on a CUDA device, without PETSc. The reference is another algorithm: it takes the vertices one after the other, in the
   order of their keys, which has the same result.

     aggdevice [small] GROUP...     runs groups of tests; small leaves out large shapes

   Prints "ok GROUP" or "not ok GROUP", before it what was wrong. Exit code 77: there is no device.
*/
#include "ksp/pc/impls/gamg/cuda/aggcuda.h"
#include "ksp/pc/impls/gamg/host/aggkeys.h"
#include "devicetest.h"

#include <map>
#include <set>

struct Shape {
  std::string name;
  Rows        A;
  int         bs;
};

/* The pattern of A and that of its transpose, with values that are symmetric or not, and a diagonal */
static Rows Symmetric(const Rows &A, bool values)
{
  std::vector<std::set<int>> cols(A.m);
  Rows                       S;

  for (int r = 0; r < A.m; r++) {
    for (int k = A.i[r]; k < A.i[r + 1]; k++) {
      cols[r].insert(A.j[k]);
      cols[A.j[k]].insert(r);
    }
  }
  S.m = S.n = A.m;
  for (int r = 0; r < A.m; r++) {
    for (int c : cols[r]) {
      seed = 88172645463325252u + (uint64_t)(values ? std::min(r, c) : r) * 1000003 + (uint64_t)(values ? std::max(r, c) : c);
      (void)Random();
      S.j.push_back(c);
      S.a.push_back(r == c ? (SysScalar)(3 + r % 5) : RandomScalar());
    }
    S.i.push_back((int)S.j.size());
  }
  return S;
}

/* A hub has 80 neighbours, each with 100 leaves. Leaves become roots, and the hub is two edges apart from them. */
static const int Hub = 81 + 80 * 100;

static void Hubs(int r, std::vector<int> &cols)
{
  const int hub = r / Hub * Hub, v = r - hub;

  cols.push_back(r);
  if (v) cols.push_back(v <= 80 ? hub : hub + 1 + (v - 81) / 100);
}

static std::vector<Shape> MakeShapes()
{
  std::vector<Shape> shapes;
  const int          N   = small ? 6 : 30;
  const auto         add = [&](const char *name, const Rows &A, int bs) {
    shapes.push_back({Text("%s, symmetric", name), Symmetric(A, true), bs});
    shapes.push_back({name, Symmetric(A, false), bs});
  };

  add("no rows", MakeRows(0, 0, Runs(0, 1, 1)), 1);
  add("no edges", MakeRows(50, 50, [](int r, std::vector<int> &cols) { cols.push_back(r); }), 1);
  add("one row", MakeRows(1, 1, [](int, std::vector<int> &cols) { cols.push_back(0); }), 1);
  add("a full matrix", MakeRows(70, 70, [](int, std::vector<int> &cols) { Run(cols, 0, 70); }), 1);
  add("a star",
      MakeRows(3000, 3000,
               [](int r, std::vector<int> &cols) {
                 cols.push_back(0);
                 cols.push_back(r);
               }),
      1);
  add("hubs", MakeRows((small ? 1 : 3) * Hub, (small ? 1 : 3) * Hub, Hubs), 1);
  add("7 points", MakeRows(N * N * N, N * N * N, Stencil(N, N, N, true, 1)), 1);
  add("27 points", MakeRows(N * N * N, N * N * N, Stencil(N, N, N, false, 1)), 1);
  add("blocks of 3", MakeRows(3 * N * N * 4, 3 * N * N * 4, Stencil(N, N, 4, false, 3)), 3);
  add("blocks of 6", MakeRows(6 * N * N, 6 * N * N, Stencil(N, N, 1, true, 6)), 6);
  add("sparse blocks", MakeRows(4 * N * N, 4 * N * N, Runs(4 * N * N, 3, 3)), 4);
  add("far apart", MakeRows(50 * N, 50 * N, Runs(50 * N, 6, 1)), 1);
  add("power law", MakeRows(40 * N, 40 * N, PowerLaw(40 * N)), 1);
  return shapes;
}

/* The graph: neighbours with their weights */
typedef std::vector<std::map<int, uint32_t>> Graph;

static Graph MakeGraph(const Shape &s, bool symmetrize, double threshold)
{
  const int                          n = s.A.m / s.bs;
  std::vector<std::map<int, double>> strength(n);
  Graph                              g(n);

  for (int r = 0; r < s.A.m; r++) {
    for (int k = s.A.i[r]; k < s.A.i[r + 1]; k++) strength[r / s.bs][s.A.j[k] / s.bs] += std::fabs((double)s.A.a[k]);
  }
  if (symmetrize) {
    const auto before = strength;

    for (int v = 0; v < n; v++) {
      for (const auto &edge : before[v]) strength[edge.first][v] += edge.second;
    }
  }
  for (int v = 0; v < n; v++) {
    for (const auto &edge : strength[v]) {
      const auto   scale = [&](int u) { return strength[u].count(u) && strength[u][u] != 0 ? std::sqrt(1 / strength[u][u]) : 0; };
      const double w     = edge.second * (scale(v) * scale(edge.first));

      if (edge.first != v && (threshold < 0 || w > threshold)) g[v][edge.first] = AggInteger(w);
    }
  }
  return g;
}

/* The vertices within that many edges of v */
static std::set<int> Near(const Graph &g, int v, int hops)
{
  std::set<int> near = {v};

  for (int h = 0; h < hops; h++) {
    const std::set<int> before = near;

    for (int u : before) {
      for (const auto &edge : g[u]) near.insert(edge.first);
    }
  }
  return near;
}

/* The root of each vertex, or -1 */
static std::vector<int> Reference(const Graph &g, int64_t first, const AggOptions &options)
{
  const int             n = (int)g.size();
  std::vector<uint64_t> key(n);
  std::vector<int>      order, root(n, -1), size(n, 0), state(n, AGG_UNDECIDED);
  const auto            better = [&](int a, int b) { return key[a] > key[b]; };

  for (int v = 0; v < n; v++) {
    key[v] = AggKey((uint64_t)(first + v), (int64_t)g[v].size(), options.lowdegree);
    if (!g[v].empty()) order.push_back(v);
  }
  std::sort(order.begin(), order.end(), better);
  for (int v : order) {
    if (state[v] != AGG_UNDECIDED) continue;
    for (int u : Near(g, v, options.hops)) state[u] = AGG_OUT;
    state[v] = AGG_ROOT;
    root[v]  = v;
  }
  for (int v : order) {
    int to = -1;

    if (state[v] == AGG_ROOT) continue;
    for (const auto &edge : g[v]) {
      const int u = edge.first;

      if (state[u] != AGG_ROOT) continue;
      if (to < 0 || (options.strongest && edge.second != g[v].at(to) ? edge.second > g[v].at(to) : better(u, to))) to = u;
    }
    root[v] = to;
  }
  for (int h = 1; h < options.hops; h++) {
    const std::vector<int> before = root;

    if (h == 1) {
      for (int v = 0; v < n; v++) {
        if (before[v] >= 0) size[before[v]]++;
      }
    }
    for (int v : order) {
      std::map<int, uint64_t> sum;

      if (before[v] >= 0) continue;
      for (const auto &edge : g[v]) {
        if (before[edge.first] >= 0) sum[before[edge.first]] += edge.second;
      }
      for (const auto &r : sum) {
        const int b = root[v];

        if (b < 0 || r.second > sum[b] || (r.second == sum[b] && (size[r.first] < size[b] || (size[r.first] == size[b] && better(r.first, b))))) root[v] = r.first;
      }
    }
  }
  if (options.least > 1) {
    const std::vector<int> before = root;
    std::vector<bool>      stays(n, false);

    std::fill(size.begin(), size.end(), 0);
    for (int v : order) size[before[v]]++;
    for (int v : order) {
      std::map<int, uint64_t> sum;

      if (size[before[v]] >= options.least) continue;
      root[v] = -1;
      for (const auto &edge : g[v]) {
        if (size[before[edge.first]] >= options.least) sum[before[edge.first]] += edge.second;
      }
      for (const auto &r : sum) {
        const int b = root[v];

        if (b < 0 || r.second > sum[b] || (r.second == sum[b] && (size[r.first] < size[b] || (size[r.first] == size[b] && better(r.first, b))))) root[v] = r.first;
      }
      if (root[v] < 0) stays[before[v]] = true;
    }
    for (int v : order) {
      if (stays[before[v]]) root[v] = before[v];
    }
  }
  return root;
}

static bool Check(const Shape &s, bool symmetrize, double threshold, const AggOptions &options)
{
  const int         n     = s.A.m / s.bs;
  const int64_t     first = 1000;
  const std::string where = Text("%s, threshold %g, %d hops%s%s, least %d", s.name.c_str(), threshold, options.hops, options.lowdegree ? ", low degree" : "", options.strongest ? ", strongest" : "", options.least);
  Array<int>        i(s.A.i), j(s.A.j);
  Array<SysScalar>  a(s.A.a);
  AggMatrix         A = {};
  AggDevice        *g = NULL;
  std::vector<int>  number(n + 1), join(n + 1), again(n + 1), of;
  int               served, nagg, rounds;

  A.d  = {s.A.m, s.A.n, (int64_t)s.A.j.size(), i.data, j.data, a.data};
  A.bs = s.bs;
  if (AggDeviceCreate(&A, symmetrize, threshold, stream, &g, &served) || !served) return Complain(where, served ? SysDeviceErrorText() : "the device does not serve");
  for (int run = 0; run < 2; run++) {
    if (AggDeviceAggregate(g, first, NULL, &options, NULL, stream, &nagg, &rounds) || AggDeviceGetAggregates(g, stream, run ? again.data() : number.data(), join.data())) return Complain(where, SysDeviceErrorText());
  }
  AggDeviceDestroy(&g);
  if (number != again) return Complain(where, "other aggregates in a second run");
  const std::vector<int> root = Reference(MakeGraph(s, symmetrize, threshold), first, options);

  for (int v = 0, next = 0; v < n; v++) of.push_back(root[v] == v ? next++ : -1);
  for (int v = 0; v < n; v++) {
    if (number[v] != (root[v] < 0 ? -1 : of[root[v]])) return Complain(where, Text("vertex %d is in aggregate %d, not in %d", v, number[v], root[v] < 0 ? -1 : of[root[v]]));
    if ((join[v] == v) != (root[v] == v) || (join[v] < 0) != (root[v] < 0)) return Complain(where, Text("vertex %d joins %d", v, join[v]));
  }
  return nagg == std::count_if(of.begin(), of.end(), [](int k) { return k >= 0; }) || Complain(where, "another number of aggregates");
}

static bool Aggregates(const std::vector<Shape> &shapes)
{
  bool good = true;

  for (const Shape &s : shapes) {
    for (double threshold : {-1., 0., 0.05}) {
      for (int hops = 1; hops <= 3; hops++) {
        for (int kind = 0; kind < 5; kind++) {
          AggOptions options = {};

          options.hops      = hops;
          options.lowdegree = kind == 1;
          options.strongest = kind == 2;
          options.least     = kind == 3 ? 3 : kind == 4 ? 6 : 0;
          good &= Check(s, s.name.find("symmetric") == std::string::npos, threshold, options);
        }
      }
    }
  }
  return good;
}

/* A prolongator as a map from the columns of a row to values */
typedef std::vector<std::map<int, double>> Map;

/* The columns of Q are orthonormal on each aggregate that has enough rows, and Q R is the near-null space, R being upper triangular */
static bool CheckFactor(const std::string &where, const std::vector<std::vector<int>> &rows, int nvec, const std::vector<SysReal> &data, const Map &Q, const std::vector<SysReal> &r)
{
  const int    nagg = (int)rows.size(), m = (int)Q.size();
  const double eps = 200 * (double)Eps;

  for (int k = 0; k < nagg; k++) {
    const auto entry = [&](int row, int c) { return Q[row].at(k * nvec + c); };

    for (int c = 0; c < nvec; c++) {
      double most = 0;

      for (int row : rows[k]) most = std::max(most, std::fabs((double)data[(size_t)c * m + row]));
      for (int row : rows[k]) {
        double sum = 0;

        for (int d = 0; d < nvec; d++) sum += entry(row, d) * r[((size_t)c * nagg + k) * nvec + d];
        if (!(std::fabs(sum - data[(size_t)c * m + row]) <= eps * rows[k].size() * most)) return Complain(where, Text("Q R is %g, not %g, in row %d", sum, (double)data[(size_t)c * m + row], row));
      }
      for (int d = c + 1; d < nvec; d++) {
        if (r[((size_t)c * nagg + k) * nvec + d] != 0) return Complain(where, "R has an entry below its diagonal");
      }
      for (int d = 0; d <= c && (int)rows[k].size() >= nvec; d++) {
        double sum = 0;

        for (int row : rows[k]) sum += entry(row, c) * entry(row, d);
        if (!(std::fabs(sum - (c == d)) <= eps)) return Complain(where, Text("vectors %d and %d of aggregate %d have the product %g", c, d, k, sum));
      }
    }
  }
  return true;
}

static bool CheckProlong(const Shape &s, int nvec)
{
  const int                     n = s.A.m / s.bs, m = s.A.m;
  const std::string             where = Text("%s, %d vectors", s.name.c_str(), nvec);
  Array<int>                    i(s.A.i), j(s.A.j);
  Array<SysScalar>              a(s.A.a);
  AggMatrix                     A       = {};
  AggOptions                    options = {};
  AggDevice                    *g       = NULL;
  int                           served, nagg, rounds;
  std::vector<int>              number(n + 1), join(n + 1);
  std::vector<SysReal>          data((size_t)m * nvec);
  std::vector<std::vector<int>> rows;
  Map                           P[2];

  A.d          = {m, m, (int64_t)s.A.j.size(), i.data, j.data, a.data};
  A.bs         = s.bs;
  options.hops = 2;
  if (AggDeviceCreate(&A, s.name.find("symmetric") == std::string::npos, 0, stream, &g, &served) || !served) return Complain(where, "there is no graph");
  if (AggDeviceAggregate(g, 0, NULL, &options, NULL, stream, &nagg, &rounds) || AggDeviceGetAggregates(g, stream, number.data(), join.data())) return Complain(where, SysDeviceErrorText());
  AggDeviceForgetGraph(g);
  if (!nagg) {
    AggDeviceDestroy(&g);
    return true;
  }
  for (int c = 0; c < nvec; c++) {
    for (int r = 0; r < m; r++) data[(size_t)c * m + r] = nvec == 1 ? 1 : RandomScalar();
  }
  std::vector<SysReal> r((size_t)nagg * nvec * nvec);

  if (AggDeviceFactor(g, s.bs, nvec, data.data(), NULL, stream, r.data())) return Complain(where, SysDeviceErrorText());
  for (int smooth = 0; smooth < 2; smooth++) {
    SysCSR                 csr;
    std::vector<int>       starts(m + 1), columns;
    std::vector<SysScalar> values;

    if (AggDeviceProlong(g, s.bs, nvec, smooth ? &A : NULL, -0.7, 0, stream, &csr)) return Complain(where, SysDeviceErrorText());
    columns.resize((size_t)csr.nz + 1);
    values.resize((size_t)csr.nz + 1);
    CallCuda(cudaStreamSynchronize(stream));
    CallCuda(cudaMemcpy(starts.data(), csr.i, (size_t)(m + 1) * sizeof(int), cudaMemcpyDeviceToHost));
    CallCuda(cudaMemcpy(columns.data(), csr.j, (size_t)csr.nz * sizeof(int), cudaMemcpyDeviceToHost));
    CallCuda(cudaMemcpy(values.data(), csr.a, (size_t)csr.nz * sizeof(SysScalar), cudaMemcpyDeviceToHost));
    P[smooth].resize(m);
    for (int row = 0; row < m; row++) {
      for (int k = starts[row]; k < starts[row + 1]; k++) {
        if (k > starts[row] && columns[k] <= columns[k - 1]) return Complain(where, Text("columns of row %d do not ascend", row));
        P[smooth][row][columns[k]] = (double)values[k];
      }
    }
    if (starts[m] != csr.nz || csr.n != (int64_t)nagg * nvec) return Complain(where, "another size");
  }
  AggDeviceDestroy(&g);
  rows.resize(nagg);
  for (int row = 0; row < m; row++) {
    if (number[row / s.bs] >= 0) rows[number[row / s.bs]].push_back(row);
    if (P[0][row].size() != (number[row / s.bs] < 0 ? 0 : (size_t)nvec)) return Complain(where, Text("row %d of the tentative prolongator has %d entries", row, (int)P[0][row].size()));
  }
  if (!CheckFactor(where, rows, nvec, data, P[0], r)) return false;
  for (int row = 0; row < m; row++) {
    std::map<int, double> sum      = P[0][row];
    double                diagonal = 0, most = 1;

    for (int k = s.A.i[row]; k < s.A.i[row + 1]; k++) diagonal += s.A.j[k] == row ? (double)s.A.a[k] : 0;
    for (int k = s.A.i[row]; k < s.A.i[row + 1]; k++) {
      for (const auto &entry : P[0][s.A.j[k]]) {
        const double x = diagonal != 0 ? -0.7 * (double)s.A.a[k] * entry.second / diagonal : 0;

        sum[entry.first] += x;
        most += std::fabs(x);
      }
    }
    if (sum.size() != P[1][row].size()) return Complain(where, Text("row %d has %d entries, not %d", row, (int)P[1][row].size(), (int)sum.size()));
    for (const auto &entry : sum) {
      if (!P[1][row].count(entry.first) || !(std::fabs(P[1][row][entry.first] - entry.second) <= 10 * (double)Eps * most)) return Complain(where, Text("another entry in row %d, column %d", row, entry.first));
    }
  }
  return true;
}

static bool Prolongators(const std::vector<Shape> &shapes)
{
  bool good = true;

  for (const Shape &s : shapes) {
    for (int nvec : {1, 2, 3, 6, 7}) good &= CheckProlong(s, nvec);
  }
  return good;
}

/* An edge without its transposed edge: the host has to do the work */
static bool OneSided(const std::vector<Shape> &)
{
  const Rows       A = MakeRows(300, 300, [](int r, std::vector<int> &cols) {
    cols.push_back(r);
    cols.push_back(r + 1);
  });
  Array<int>       i(A.i), j(A.j);
  Array<SysScalar> a(A.a);
  AggMatrix        M = {};
  AggDevice       *g = NULL;
  int              served;

  M.d  = {A.m, A.n, (int64_t)A.j.size(), i.data, j.data, a.data};
  M.bs = 1;
  if (AggDeviceCreate(&M, 1, -1, stream, &g, &served)) return Complain("one-sided", SysDeviceErrorText());
  return (!served && !g) || Complain("one-sided", "the device makes a graph");
}

/* All memory of the device, but for less than a megabyte at a time */
struct Hog {
  std::vector<void *> taken;

  Hog()
  {
    size_t size, total;
    void  *p;

    SysPoolTrim();
    CallCuda(cudaMemGetInfo(&size, &total));
    for (; size >= 1 << 20; size /= 2) {
      while (cudaMalloc(&p, size) == cudaSuccess) taken.push_back(p);
      (void)cudaGetLastError();
    }
  }

  ~Hog()
  {
    for (void *p : taken) CallCuda(cudaFree(p));
  }
};

/* Each step says that memory is short, and succeeds as soon as there is some */
static bool NoMemory(const std::vector<Shape> &)
{
  const int              N = 80;
  const Rows             A = Symmetric(MakeRows(N * N * N, N * N * N, Stencil(N, N, N, true, 1)), true);
  Array<int>             i(A.i), j(A.j);
  Array<SysScalar>       a(A.a);
  AggMatrix              M       = {};
  AggOptions             options = {};
  AggDevice             *g       = NULL;
  AggEstimate            e       = {};
  SysCSR                 P;
  int                    served, nagg, rounds;
  std::vector<SysReal>   r;
  std::vector<SysStatus> status;
  const auto             twice = [&](const std::function<SysStatus()> &step) {
    {
      Hog hog;

      status.push_back(step());
    }
    status.push_back(step());
  };

  M.d          = {A.m, A.n, (int64_t)A.j.size(), i.data, j.data, a.data};
  M.bs         = 1;
  options.hops = 2;
  twice([&]() { return AggDeviceCreate(&M, 0, -1, stream, &g, &served); });
  if (!g) return Complain("no memory", SysDeviceErrorText());
  twice([&]() { return AggDeviceAggregate(g, 0, NULL, &options, NULL, stream, &nagg, &rounds); });
  r.resize((size_t)nagg);
  twice([&]() { return AggDeviceFactor(g, 1, 1, NULL, NULL, stream, r.data()); });
  twice([&]() { return AggDeviceProlong(g, 1, 1, &M, 0.5, 0, stream, &P); });
  twice([&]() { return AggEstimateCreate(&M.d, AGG_STEPS + 1, 1, stream, &e); });
  AggEstimateDestroy(&e);
  AggDeviceDestroy(&g);
  for (size_t k = 0; k < status.size(); k++) {
    if (status[k] != (k % 2 ? SYS_SUCCESS : SYS_OUT_OF_MEMORY)) return Complain("no memory", Text("step %d returns %d", (int)k, (int)status[k]));
  }
  return true;
}

/* Values that are no numbers end, with some aggregates */
static bool NotFinite(const std::vector<Shape> &shapes)
{
  bool good = true;

  for (Shape s : shapes) {
    for (size_t k = 0; k < s.A.a.size(); k += 17) s.A.a[k] = NotANumber;
    for (double threshold : {-1., 0.05}) {
      Array<int>       i(s.A.i), j(s.A.j);
      Array<SysScalar> a(s.A.a);
      AggMatrix        M       = {};
      AggOptions       options = {};
      AggDevice       *g       = NULL;
      int              served, nagg, rounds;

      options.hops = 2;
      M.d          = {s.A.m, s.A.n, (int64_t)s.A.j.size(), i.data, j.data, a.data};
      M.bs         = s.bs;
      if (AggDeviceCreate(&M, 1, threshold, stream, &g, &served) || !served || AggDeviceAggregate(g, 0, NULL, &options, NULL, stream, &nagg, &rounds)) good = Complain(s.name, SysDeviceErrorText());
      AggDeviceDestroy(&g);
    }
  }
  return good;
}

/* ------------------------------------------------- estimate of eigenvalues ------------------------------------------------- */

static __global__ void MultKernel(SysCSR A, const SysReal *x, SysReal *y)
{
  const int64_t r = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;

  if (r >= A.m) return;
  y[r] = 0;
  for (int k = A.i[r]; k < A.i[r + 1]; k++) y[r] += A.a[k] * x[A.j[k]];
}

static void Mult(const SysCSR &A, const AggEstimate &e, int from, int to)
{
  if (A.m) MultKernel<<<(A.m + 255) / 256, 256, 0, stream>>>(A, e.v + from * e.stride, e.v + to * e.stride);
  CallCuda(cudaGetLastError());
}

typedef std::vector<long double> Long;

static Long Mult(const Rows &A, const Long &x)
{
  Long y((size_t)A.m);

  for (int r = 0; r < A.m; r++) {
    for (int k = A.i[r]; k < A.i[r + 1]; k++) y[r] += (long double)A.a[k] * x[A.j[k]];
  }
  return y;
}

static long double Dot(const Long &x, const Long &y)
{
  long double sum = 0;

  for (size_t k = 0; k < x.size(); k++) sum += x[k] * y[k];
  return sum;
}

/* The numbers of Arnoldi's method in AGG_H(), in the textbook's form; those after a vector of length 0 are 0 */
static Long ReferenceArnoldi(const Rows &A, const Long &inverse, const Long &start)
{
  std::vector<Long> v(1, start);
  Long              h(AGG_NUMBERS);
  long double       length;

  for (int r = 0; r < A.m; r++) v[0][r] *= inverse[r];
  length = sqrtl(Dot(v[0], v[0]));
  for (int k = 0; k < AGG_STEPS && length > 0; k++) {
    Long w;

    for (long double &x : v[k]) x /= length;
    w = Mult(A, v[k]);
    for (int r = 0; r < A.m; r++) w[r] *= inverse[r];
    for (int j = 0; j <= k; j++) h[AGG_H(j, k)] = Dot(v[j], w);
    for (int j = 0; j <= k; j++) {
      for (int r = 0; r < A.m; r++) w[r] -= h[AGG_H(j, k)] * v[j][r];
    }
    length             = sqrtl(Dot(w, w));
    h[AGG_H(k + 1, k)] = length;
    v.push_back(w);
  }
  return h;
}

/* r.z and p.w of each step of conjugate gradients with Jacobi's method */
static Long ReferenceCG(const Rows &A, const Long &inverse, const Long &start)
{
  Long r = start, p((size_t)A.m), h(AGG_NUMBERS);

  for (int k = 0; k < AGG_STEPS; k++) {
    Long z = r, w;

    for (int l = 0; l < A.m; l++) z[l] *= inverse[l];
    h[2 * k] = Dot(r, z);
    for (int l = 0; l < A.m; l++) p[l] = z[l] + (k ? h[2 * k] / h[2 * k - 2] : 0) * p[l];
    w            = Mult(A, p);
    h[2 * k + 1] = Dot(p, w);
    for (int l = 0; l < A.m; l++) r[l] -= h[2 * k] / h[2 * k + 1] * w[l];
  }
  return h;
}

/* Errors grow as vectors become short, up to where the numbers mean nothing: on matrices with few eigenvalues the method comes to its end */
static bool SameNumbers(const std::string &name, bool cg, const Long &expected, const std::vector<SysReal> &h)
{
  long double loss = 1;

  for (int step = 0; step < AGG_STEPS; step++) {
    if (cg) loss = std::max(loss, expected[0] / expected[2 * step]);
    else if (step) loss *= std::max(1.L, 1 / expected[AGG_H(step, step - 1)]);
    if (!(1e4L * Eps * loss < 1e-2L)) break;
    for (int row = 0; row < (cg ? 2 : step + 2); row++) {
      const int         k     = cg ? 2 * step + row : AGG_H(row, step);
      const long double scale = cg ? fabsl(expected[k]) : 1;

      if (!(fabsl(expected[k] - (long double)h[k]) <= 1e4L * Eps * loss * scale)) return Complain(name, Text("%s, number %d is %.17g in place of %.17g", cg ? "conjugate gradients" : "Arnoldi", k, (double)h[k], (double)expected[k]));
    }
  }
  return true;
}

/* The sums of two processes, of which the second has none */
static SysStatus AddAll(AggEstimate &e)
{
  CallCuda(cudaMemcpyAsync(e.all, e.sum, AGG_STEPS * sizeof(SysReal), cudaMemcpyDeviceToDevice, stream));
  CallCuda(cudaMemsetAsync(e.all + AGG_STEPS, 0, AGG_STEPS * sizeof(SysReal), stream));
  CallCuda(cudaMemsetAsync(e.sum, 0, AGG_STEPS * sizeof(SysReal), stream));
  return AggEstimateAddAll(&e, 2, stream);
}

static bool CheckEstimate(Shape s, bool cg)
{
  const int n = s.A.m;
  Long      inverse((size_t)n), start;

  for (int r = 0; r < n; r++) { /* definite */
    long double sum = 0, most = 0;

    for (int k = s.A.i[r]; k < s.A.i[r + 1]; k++) sum += s.A.j[k] == r ? 0 : std::fabs((double)s.A.a[k]);
    for (int k = s.A.i[r]; k < s.A.i[r + 1]; k++) {
      if (s.A.j[k] == r) s.A.a[k] = r % 50 == 49 && !cg ? 0 : (SysScalar)(1.5L + sum);
      if (s.A.j[k] == r) most = (long double)s.A.a[k];
    }
    if (cg && most == 0) return true; /* without a diagonal it is not definite */
    inverse[r] = most != 0 ? 1 / most : 1;
  }
  {
    Array<int>           i(s.A.i), j(s.A.j);
    Array<SysScalar>     a(s.A.a);
    const SysCSR         A      = {s.A.m, s.A.n, (int64_t)s.A.j.size(), i.data, j.data, a.data};
    AggEstimate          e      = {};
    SysStatus            status = AggEstimateCreate(&A, cg ? 3 : AGG_STEPS + 1, 2, stream, &e);
    std::vector<SysReal> v((size_t)n), h(AGG_NUMBERS), sum(AGG_STEPS);

    seed = 88172645463325252u;
    for (SysReal &x : v) x = RandomScalar();
    start.assign(v.begin(), v.end());
    if (!status && n) CallCuda(cudaMemcpyAsync(e.v, v.data(), v.size() * sizeof(SysReal), cudaMemcpyHostToDevice, stream));
    if (!status) status = cg ? AggCGStart(&e, stream) : AggArnoldiStart(&e, stream);
    for (int k = 0; k < AGG_STEPS && !status; k++) {
      if (cg) status = AggCGDirection(&e, k, stream);
      if (cg) Mult(A, e, 1, 2);
      else Mult(A, e, k, k + 1);
      if (!status) status = cg ? AggCGDot(&e, stream) : AggArnoldiDots(&e, k, stream);
      if (!status) status = AddAll(e);
      if (!status) status = cg ? AggCGStep(&e, k, stream) : AggArnoldiRemove(&e, k, stream);
    }
    if (!status) status = AggEstimateGetNumbers(&e, h.data(), stream);
    if (!status) status = AggEstimateGetSums(&e, sum.data(), stream);
    AggEstimateDestroy(&e);
    if (status) return Complain(s.name, SysDeviceErrorText());
    if (!cg) h[AGG_H(AGG_STEPS, AGG_STEPS - 1)] = std::sqrt(sum[0]);
    return !n || SameNumbers(s.name, cg, cg ? ReferenceCG(s.A, inverse, start) : ReferenceArnoldi(s.A, inverse, start), h);
  }
}

static bool Estimates(const std::vector<Shape> &shapes)
{
  bool good = true;

  for (size_t k = 0; k < shapes.size(); k++) {
    good &= CheckEstimate(shapes[k], false);
    if (k % 2 == 0) good &= CheckEstimate(shapes[k], true); /* the symmetric ones */
  }
  return good;
}

/* Calls that wait for the device or map memory, counted by device.sh's --wrap */
static int allocations, waits;

#define COUNT(name, counter, parameters, arguments) \
  extern "C" cudaError_t __real_##name parameters; \
  extern "C" cudaError_t __wrap_##name parameters \
  { \
    counter++; \
    return __real_##name arguments; \
  }

COUNT(cudaMalloc, allocations, (void **memory, size_t bytes), (memory, bytes))
COUNT(cudaFree, allocations, (void *memory), (memory))
COUNT(cudaStreamSynchronize, waits, (cudaStream_t s), (s))

/* The steps of a level wait where the host needs a number, and take all memory from the pool */
static bool Waits(const std::vector<Shape> &shapes)
{
  for (const Shape &s : shapes) {
    Array<int>           i(s.A.i), j(s.A.j);
    Array<SysScalar>     a(s.A.a);
    AggMatrix            M       = {};
    AggOptions           options = {};
    AggDevice           *g       = NULL;
    SysCSR               P;
    int                  served, nagg, rounds, create, factor;
    std::vector<SysReal> r((size_t)s.A.m);

    M.d          = {s.A.m, s.A.n, (int64_t)s.A.j.size(), i.data, j.data, a.data};
    M.bs         = s.bs;
    options.hops = 2;
    allocations = waits = 0;
    if (AggDeviceCreate(&M, 1, -1, stream, &g, &served)) return Complain(s.name, SysDeviceErrorText());
    create = waits;
    if (!served) continue;
    if (AggDeviceAggregate(g, 0, NULL, &options, NULL, stream, &nagg, &rounds)) return Complain(s.name, SysDeviceErrorText());
    waits = 0;
    if (AggDeviceFactor(g, s.bs, 1, NULL, NULL, stream, r.data())) return Complain(s.name, SysDeviceErrorText());
    factor = waits;
    if (AggDeviceProlong(g, s.bs, 1, &M, 0.5, 0, stream, &P)) return Complain(s.name, SysDeviceErrorText());
    AggDeviceDestroy(&g);
    if (create > 2 || waits > 2) return Complain(s.name, Text("%d waits for a graph, %d for a tentative prolongator, %d with the prolongator", create, factor, waits));
    if (allocations) return Complain(s.name, Text("%d allocations besides the pool's", allocations));
  }
  return true;
}

int main(int argc, char **argv)
{
  const Group<std::vector<Shape>> groups[] = {
    {"aggregates",   Aggregates  },
    {"prolongators", Prolongators},
    {"no memory",    NoMemory    },
    {"one-sided",    OneSided    },
    {"not finite",   NotFinite   },
    {"estimates",    Estimates   },
    {"waits",        Waits       }
  };

  return RunProgram(groups, MakeShapes, argc, argv);
}
