/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Aggregates on a CUDA device against those of the host, without PETSc. The reference is another algorithm: it takes the vertices one after the other, in the
   order of their keys, which has the same result.

     aggdevice [small] GROUP...     runs groups of tests; small leaves out large shapes

   Prints "ok GROUP" or "not ok GROUP", before it what was wrong. Exit code 77: there is no device.
*/
#include "ksp/pc/impls/gamg/aggcuda.h"
#include "ksp/pc/impls/gamg/aggkeys.h"
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
  return root;
}

static bool Check(const Shape &s, bool symmetrize, double threshold, const AggOptions &options)
{
  const int         n     = s.A.m / s.bs;
  const int64_t     first = 1000;
  const std::string where = Text("%s, threshold %g, %d hops%s%s", s.name.c_str(), threshold, options.hops, options.lowdegree ? ", low degree" : "", options.strongest ? ", strongest" : "");
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
    if (AggDeviceAggregate(g, first, &options, stream, run ? again.data() : number.data(), run ? NULL : join.data(), &nagg, &rounds)) return Complain(where, SysDeviceErrorText());
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
        for (int kind = 0; kind < 3; kind++) {
          AggOptions options = {};

          options.hops      = hops;
          options.lowdegree = kind == 1;
          options.strongest = kind == 2;
          good &= Check(s, s.name.find("symmetric") == std::string::npos, threshold, options);
        }
      }
    }
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
      std::vector<int> number(s.A.m / s.bs + 1);
      int              served, nagg, rounds;

      options.hops = 2;
      M.d          = {s.A.m, s.A.n, (int64_t)s.A.j.size(), i.data, j.data, a.data};
      M.bs         = s.bs;
      if (AggDeviceCreate(&M, 1, threshold, stream, &g, &served) || !served || AggDeviceAggregate(g, 0, &options, stream, number.data(), NULL, &nagg, &rounds)) good = Complain(s.name, SysDeviceErrorText());
      AggDeviceDestroy(&g);
    }
  }
  return good;
}

int main(int argc, char **argv)
{
  const Group<std::vector<Shape>> groups[] = {
    {"aggregates", Aggregates},
    {"one-sided",  OneSided  },
    {"not finite", NotFinite }
  };
  int failures;

  if (!StartTests(argc, argv)) return 77;
  failures = RunTests(groups, MakeShapes(), argc, argv);
  EndTests();
  return failures ? 1 : 0;
}
