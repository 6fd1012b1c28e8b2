/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The passes of conjugate gradients on a CUDA device, without PETSc: against the same iteration on the host, in blocks of several lengths, recorded and not, and
   all reasons to stop. The matrix has three diagonals: numbers by a formula, and -1 beside them.

     fuseddevice [small] GROUP...     runs groups of tests; small leaves out large systems, for tools that slow everything down

   Prints "ok GROUP" or "not ok GROUP", before it what was wrong. Exit code 77: there is no device.
*/
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function" /* other tests need more of this header */
#include "devicevectors.h"
#pragma GCC diagnostic pop
#include "ksp/ksp/impls/fused/fusedbasiscuda.h"

#include <deque>

/* Which numbers the diagonal of the matrix has, and M */
enum Kind {
  DEFINITE,
  INDEFINITE_MAT, /* every third number of the matrix is negative */
  INDEFINITE_PC,  /* every third number of M is negative */
  IDENTITY,       /* the matrix is twice the identity, M half of it */
  NOT_A_NUMBER    /* a number of the matrix is NaN */
};

struct System {
  std::string name;
  int         n;
  Kind        kind;
  FusedKind   pc;
  FusedNorm   norm;
  int         max_it;
  double      least;
  int         bs;     /* of FUSED_BLOCKS */
  bool        single; /* the form with a single reduction */
  bool        sums;   /* the product leaves sums, one for each row */
};

static __host__ __device__ SysScalar Diagonal(Kind kind, int k)
{
  if (kind == IDENTITY) return 2;
  if (kind == NOT_A_NUMBER && k == 0) return (SysScalar)NAN;
  if (kind == INDEFINITE_MAT && k % 3 == 0) return -4;
  return (SysScalar)(2.5 + 0.5 * (k % 7));
}

static __host__ __device__ SysScalar Entry(Kind kind, int n, int k, const SysScalar *p)
{
  SysScalar sum = Diagonal(kind, k) * p[k];

  if (kind == IDENTITY) return sum;
  if (k > 0) sum -= p[k - 1];
  if (k < n - 1) sum -= p[k + 1];
  return sum;
}

static __global__ void Multiply(Kind kind, int n, const SysScalar *p, SysScalar *w, SysScalar *sums)
{
  const int k = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (k >= n) return;
  w[k] = Entry(kind, n, k, p);
  if (sums) sums[k] = p[k] * w[k];
}

static SysScalar Preconditioner(Kind kind, int k)
{
  const SysScalar d = 1 / Diagonal(kind == INDEFINITE_PC || kind == NOT_A_NUMBER ? DEFINITE : kind, k);

  return kind == INDEFINITE_PC && k % 3 == 0 ? -d : d;
}

/* The entry of M in row k and column j of the block */
static SysScalar BlockEntry(const System &S, int k, int j)
{
  return k % S.bs == j ? Preconditioner(S.kind, k) : (SysScalar)0.01;
}

struct Outcome {
  FusedState             state;
  std::vector<SysScalar> x, history;
  bool                   good;
};

static bool Check(SysStatus status, const System &S)
{
  return status == SYS_SUCCESS || Complain(S.name, SysDeviceErrorText());
}

static bool Product(FusedDevice *f, const FusedPass &pass, const System &S, bool with, cudaStream_t to)
{
  const FusedVector from = S.single ? FUSED_Z : FUSED_P, result = S.single ? FUSED_S : FUSED_W;
  SysReal          *sums = NULL;

  if (with && !Check(FusedDeviceRoom(f, S.n, &sums), S)) return false;
  if (S.n) Multiply<<<(unsigned)(S.n + 255) / 256, 256, 0, to>>>(S.kind, S.n, pass.v[from], pass.v[result], sums);
  return Check(with ? FusedDeviceDotMade(f, S.n, to) : FusedDeviceDot(f, &pass, from, result, to), S);
}

static bool Iterations(FusedDevice *f, const FusedPass &pass, const System &S, int length, cudaStream_t to)
{
  for (int k = 0; k < length; k++) {
    if (S.single) {
      if (!Check(FusedDeviceSingle(f, &pass, S.norm, to), S) || !Product(f, pass, S, S.sums, to)) return false;
    } else {
      if (!Check(FusedDeviceDirection(f, &pass, S.norm, to), S) || !Product(f, pass, S, S.sums, to)) return false;
      if (!Check(FusedDeviceStep(f, &pass, S.norm, to), S)) return false;
    }
  }
  return Check(FusedDeviceClose(f, S.norm, to), S);
}

/* Solves; resumes that often after a test has stopped the device */
static Outcome Solve(const System &S, int length, bool record, int resume)
{
  const size_t           n = (size_t)S.n;
  std::vector<SysScalar> d(n * (size_t)S.bs), nan(n, NotANumber);
  FusedDevice           *f = NULL;
  const FusedState      *state;
  Outcome                out = {};
  int                    recorded;

  seed = 88172645463325252u;
  for (int j = 0; j < S.bs; j++) {
    for (int k = 0; k < S.n; k++) d[(size_t)j * n + (size_t)k] = BlockEntry(S, k, j);
  }
  {
    Vector    x(std::vector<SysScalar>(n, 1), 1), r(RandomVector(n), 1), p(nan, 1), w(nan, 1), z(S.single ? nan : std::vector<SysScalar>(), 1), s(S.single ? nan : std::vector<SysScalar>(), 1), diagonal(d, 1);
    FusedPass pass = {};

    pass.kind       = S.pc;
    pass.bs         = S.bs;
    pass.n          = S.n;
    pass.d          = diagonal.Data();
    pass.v[FUSED_X] = x.Data();
    pass.v[FUSED_R] = r.Data();
    pass.v[FUSED_Z] = S.pc == FUSED_NONE ? r.Data() : S.single ? z.Data() : w.Data();
    pass.v[FUSED_S] = s.Data();
    pass.v[FUSED_P] = p.Data();
    pass.v[FUSED_W] = w.Data();
    SysReal *sums;

    if (!Check(FusedDeviceCreate(&f), S) || !Check(FusedDeviceRoom(f, S.sums ? S.n : 0, &sums), S)) return out;
    if (!Check(FusedDeviceStart(f, &pass, S.norm, stream), S) || !Check(FusedDeviceLimits(f, (SysReal)S.least, std::numeric_limits<SysReal>::max(), S.max_it, stream), S)) return out;
    if (!Check(FusedDeviceSend(f, 1, stream), S) || !Check(FusedDeviceReceive(f, 1, &state), S)) return out;
    out.history.push_back(state->norm);
    if (S.single && (!Product(f, pass, S, false, stream) || !Check(FusedDeviceClose(f, S.norm, stream), S))) return out;
    for (int again = 0; record && again < 2; again++) { /* the second record takes the place of the first */
      cudaStream_t to;

      if (!Check(FusedDeviceRecordBegin(f, &to), S) || !Iterations(f, pass, S, length, to) || !Check(FusedDeviceRecordEnd(f, &recorded), S)) return out;
      if (!recorded) {
        Complain(S.name, "could not be recorded");
        return out;
      }
    }
    for (int block = 0; block <= S.max_it; block++) {
      if (record ? !Check(FusedDeviceReplay(f, stream), S) : !Iterations(f, pass, S, length, stream)) return out;
      if (!Check(FusedDeviceSend(f, block % 2, stream), S) || !Check(FusedDeviceReceive(f, block % 2, &state), S)) return out;
      for (int k = (int)out.history.size(); k <= state->its; k++) out.history.push_back(state->history[(k - 1) % FUSED_HISTORY]);
      if (state->stop == FUSED_STOP_TEST && state->its < S.max_it && resume-- > 0) {
        if (!Check(FusedDeviceResume(f, &pass, stream), S)) return out;
      } else if (state->stop) break;
    }
    out.state = *state;
    out.good  = x.Get(out.x) && p.Get(nan) && w.Get(nan) && r.Get(nan) && z.Get(nan) && s.Get(nan);
    if (!out.good) Complain(S.name, "something was written outside");
  }
  FusedDeviceDestroy(&f);
  FusedDeviceDestroy(&f);
  return out;
}

/* The same iteration on the host */
static Outcome OnHost(const System &S)
{
  const size_t           n = (size_t)S.n;
  std::vector<SysScalar> x(n, 1), r, z(n), p(n), w(n);
  double                 beta, old = 1, dpi;
  Outcome                out = {};

  seed = 88172645463325252u;
  r    = RandomVector(n);

  auto sums = [&]() {
    double zr = 0, zz = 0, rr = 0;

    for (size_t k = 0; k < n; k++) {
      double mr = 0;

      for (int j = 0; j < S.bs; j++) mr += (double)BlockEntry(S, (int)k, j) * (double)r[k - k % (size_t)S.bs + (size_t)j];
      z[k] = S.pc == FUSED_NONE ? r[k] : (SysScalar)mr;
      zr += (double)z[k] * (double)r[k];
      zz += (double)z[k] * (double)z[k];
      rr += (double)r[k] * (double)r[k];
    }
    beta = zr;
    out.history.push_back((SysScalar)(S.norm == FUSED_NORM_Z ? sqrt(zz) : S.norm == FUSED_NORM_R ? sqrt(rr) : S.norm == FUSED_NORM_NATURAL ? sqrt(fabs(zr)) : 0));
  };

  sums();
  for (int i = 0; i < S.max_it; i++) {
    for (size_t k = 0; k < n; k++) p[k] = i ? (SysScalar)(z[k] + beta / old * p[k]) : z[k];
    dpi = 0;
    for (size_t k = 0; k < n; k++) {
      w[k] = Entry(S.kind, S.n, (int)k, p.data());
      dpi += (double)p[k] * (double)w[k];
    }
    for (size_t k = 0; k < n; k++) {
      x[k] += (SysScalar)(beta / dpi * p[k]);
      r[k] -= (SysScalar)(beta / dpi * w[k]);
    }
    old = beta;
    sums();
    if (S.norm != FUSED_NORM_NONE && out.history.back() <= (SysScalar)S.least) break;
  }
  out.x = x;
  return out;
}

static std::vector<System> MakeSystems()
{
  std::vector<System> systems;

  for (int n : {37, 1000, 5000, 300000, 3000000}) {
    if (small && n > 5000) continue;
    for (FusedKind pc : {FUSED_NONE, FUSED_POINT}) {
      for (FusedNorm norm : {FUSED_NORM_NONE, FUSED_NORM_Z, FUSED_NORM_R, FUSED_NORM_NATURAL}) {
        for (int form = 0; form < (n <= 1000 || (n <= 300000 && norm == FUSED_NORM_Z) ? 4 : 1); form++)
          systems.push_back({Text("%d rows, M %d, norm %d, form %d", n, (int)pc, (int)norm, form), n, DEFINITE, pc, norm, 12, 1e-9, 1, form >= 2, form % 2 > 0});
      }
    }
    for (int bs : {2, 5, FUSED_BLOCKS_MAX}) {
      if (n < bs || n > 300000) continue;
      for (int form = 0; form < 4; form += 2) systems.push_back({Text("%d rows, blocks of %d, form %d", n / bs * bs, bs, form), n / bs * bs, DEFINITE, FUSED_BLOCKS, form ? FUSED_NORM_R : FUSED_NORM_Z, 12, 1e-9, bs, form >= 2, false});
    }
  }
  return systems;
}

static bool IterationsOf(const std::vector<System> &systems)
{
  const long double tolerance = 2000 * Eps;
  bool              good      = true;

  for (const System &S : systems) {
    const Outcome a = Solve(S, 4, false, 0), b = OnHost(S);

    good = good && a.good;
    if (a.history.size() != b.history.size()) good = Complain(S.name, Text("%d iterations, not %d", (int)a.history.size() - 1, (int)b.history.size() - 1));
    for (size_t k = 0; k < std::min(a.history.size(), b.history.size()); k++) {
      if (!(fabsl((long double)a.history[k] - b.history[k]) <= tolerance * b.history[0])) good = Complain(S.name, Text("norm %d is %g, not %g", (int)k, (double)a.history[k], (double)b.history[k]));
    }
    for (size_t k = 0; k < a.x.size() && a.history.size() == b.history.size(); k++) {
      if (!(fabsl((long double)a.x[k] - b.x[k]) <= tolerance)) {
        good = Complain(S.name, Text("entry %d is %g, not %g", (int)k, (double)a.x[k], (double)b.x[k]));
        break;
      }
    }
  }
  return good;
}

static bool SameBits(const std::vector<System> &systems)
{
  bool good = true;

  for (const System &S : systems) {
    const Outcome a = Solve(S, 1, false, 0);

    for (int length : {1, 3, 16, FUSED_LENGTH}) {
      for (int record = 0; record < 2; record++) {
        const Outcome b = Solve(S, length, record, 0);

        if (a.x.size() != b.x.size() || memcmp(a.x.data(), b.x.data(), a.x.size() * sizeof(SysScalar))) good = Complain(S.name, Text("another solution in blocks of %d", length));
        if (a.history != b.history || a.state.its != b.state.its || a.state.stop != b.state.stop) good = Complain(S.name, Text("another end in blocks of %d", length));
      }
    }
  }
  return good;
}

static bool Stops(const std::vector<System> &)
{
  static const struct {
    Kind      kind;
    FusedKind pc;
    FusedNorm norm;
    int       max_it;
    FusedStop stop;
    bool      single;
  } cases[] = {
    {DEFINITE,       FUSED_POINT, FUSED_NORM_Z,    5,  FUSED_STOP_TEST, false},
    {DEFINITE,       FUSED_POINT, FUSED_NORM_NONE, 5,  FUSED_STOP_TEST, false},
    {DEFINITE,       FUSED_POINT, FUSED_NORM_Z,    0,  FUSED_STOP_TEST, false},
    {INDEFINITE_MAT, FUSED_NONE,  FUSED_NORM_R,    50, FUSED_STOP_MAT,  false},
    {INDEFINITE_PC,  FUSED_POINT, FUSED_NORM_R,    50, FUSED_STOP_PC,   false},
    {IDENTITY,       FUSED_POINT, FUSED_NORM_Z,    50, FUSED_STOP_TEST, false},
    {IDENTITY,       FUSED_POINT, FUSED_NORM_NONE, 50, FUSED_STOP_ZERO, false},
    {NOT_A_NUMBER,   FUSED_POINT, FUSED_NORM_Z,    50, FUSED_STOP_DPI,  false},
    {DEFINITE,       FUSED_POINT, FUSED_NORM_Z,    5,  FUSED_STOP_TEST, true },
    {DEFINITE,       FUSED_POINT, FUSED_NORM_Z,    0,  FUSED_STOP_TEST, true },
    {INDEFINITE_MAT, FUSED_NONE,  FUSED_NORM_R,    50, FUSED_STOP_MAT,  true },
    {INDEFINITE_PC,  FUSED_POINT, FUSED_NORM_R,    50, FUSED_STOP_PC,   true },
    {IDENTITY,       FUSED_POINT, FUSED_NORM_NONE, 50, FUSED_STOP_ZERO, true },
    {NOT_A_NUMBER,   FUSED_POINT, FUSED_NORM_Z,    50, FUSED_STOP_NORM, true }
  };
  bool good = true;

  for (const auto &c : cases) {
    const System  S = {Text("kind %d, norm %d, %d iterations", (int)c.kind, (int)c.norm, c.max_it), 1000, c.kind, c.pc, c.norm, c.max_it, 0, 1, c.single, false};
    const Outcome a = Solve(S, 8, true, 0);

    if (!a.good) good = false;
    else if (a.state.stop != c.stop) {
      /* which of two tests ends an indefinite system first is left to rounding; so is whether z.r or p.w of a solution that is nearly exact is 0 first */
      const bool indefinite = (c.stop == FUSED_STOP_MAT || c.stop == FUSED_STOP_PC) && (a.state.stop == FUSED_STOP_MAT || a.state.stop == FUSED_STOP_PC);
      const bool either     = indefinite || (c.stop == FUSED_STOP_ZERO && a.state.stop == FUSED_STOP_MAT);

      if (!either) good = Complain(S.name, Text("stops for reason %d after %d iterations, not for %d", a.state.stop, a.state.its, (int)c.stop));
    }
  }
  return good;
}

/* After a test that the host does not share, the iterations go on as if the test had not been made */
static bool Resumed(const std::vector<System> &systems)
{
  bool good = true;

  for (System S : systems) {
    System  T = S;
    Outcome a, b;

    if (S.n < 1000 || S.norm == FUSED_NORM_NONE) continue;
    T.least = 0;
    S.least = 1e30;
    a       = Solve(S, 3, false, 1000);
    b       = Solve(T, 3, false, 0);
    if (a.history != b.history || memcmp(a.x.data(), b.x.data(), a.x.size() * sizeof(SysScalar))) good = Complain(S.name, "other iterations after a test");
  }
  return good;
}

/* Two processes that have the same system each, on one device. All sums are twice those of one process, which is no rounding: both must come to the bits of one. */
struct Shared {
  FusedDevice *f[2] = {NULL, NULL};
  SysReal     *mine[2], *all[2];

  ~Shared()
  {
    for (FusedDevice *&device : f) FusedDeviceDestroy(&device);
  }
  bool Create(const System &S)
  {
    for (int q = 0; q < 2; q++) {
      if (!Check(FusedDeviceCreate(&f[q]), S) || !Check(FusedDeviceShare(f[q], 2, &mine[q], &all[q]), S)) return false;
    }
    return true;
  }
  void Gather()
  {
    for (int k = 0; k < 4; k++) cudaMemcpyAsync(all[k / 2] + k % 2 * FUSED_DEVICE_SUMS, mine[k % 2], FUSED_DEVICE_SUMS * sizeof(SysReal), cudaMemcpyDeviceToDevice, stream);
  }
};

static bool SharedOf(const std::vector<System> &systems)
{
  bool good = true;

  for (const System &S : systems) {
    const size_t           n     = (size_t)S.n;
    const int              parts = S.single ? 1 : 2; /* of an iteration, each ends with a gather */
    std::vector<SysScalar> d(n * (size_t)S.bs), nan(n, NotANumber), x;
    const FusedState      *state;
    Shared                 two;

    if (S.norm != FUSED_NORM_NONE) continue;

    const Outcome one = Solve(S, 4, false, 0);

    for (int k = 0; k < S.n; k++) d[(size_t)k] = BlockEntry(S, k, 0);
    if (!two.Create(S)) return false;
    {
      std::deque<Vector> v;

      seed = 88172645463325252u;

      const std::vector<SysScalar> r = RandomVector(n);
      FusedPass                    pass[2];

      for (int q = 0; q < 2; q++) {
        pass[q]      = {};
        pass[q].kind = S.pc;
        pass[q].bs   = 1;
        pass[q].n    = S.n;
        v.emplace_back(d, 1);
        pass[q].d = v.back().Data();
        for (FusedVector k : {FUSED_X, FUSED_R, FUSED_P, FUSED_W, FUSED_Z, FUSED_S}) {
          v.emplace_back(k == FUSED_X ? std::vector<SysScalar>(n, 1) : k == FUSED_R ? r : nan, 1);
          pass[q].v[k] = v.back().Data();
        }
        if (S.pc == FUSED_NONE) pass[q].v[FUSED_Z] = pass[q].v[FUSED_R];
      }
      for (int q = 0; q < 2; q++) good = Check(FusedDeviceStart(two.f[q], &pass[q], S.norm, stream), S) && good;
      two.Gather();
      for (int q = 0; q < 2; q++) good = Check(FusedDeviceFinishStart(two.f[q], S.norm, stream), S) && Check(FusedDeviceLimits(two.f[q], 0, 1, S.max_it, stream), S) && good;
      for (int q = 0; q < 2 && S.single; q++) good = Product(two.f[q], pass[q], S, S.sums, stream) && good;
      if (S.single) two.Gather();
      for (int k = 0; k < parts * S.max_it; k++) {
        for (int q = 0; q < 2; q++) {
          if (S.single) good = Check(FusedDeviceSingle(two.f[q], &pass[q], S.norm, stream), S) && good;
          else if (k % 2) good = Check(FusedDeviceStep(two.f[q], &pass[q], S.norm, stream), S) && good;
          else good = Check(FusedDeviceDirection(two.f[q], &pass[q], S.norm, stream), S) && good;
          if (S.single || k % 2 == 0) good = Product(two.f[q], pass[q], S, S.sums, stream) && good;
        }
        two.Gather();
      }
      for (int q = 0; q < 2; q++) {
        good = Check(FusedDeviceClose(two.f[q], S.norm, stream), S) && Check(FusedDeviceSend(two.f[q], 0, stream), S) && Check(FusedDeviceReceive(two.f[q], 0, &state), S) && good;
        if (!v[(size_t)(7 * q + 1)].Get(x) || x != one.x) good = Complain(S.name, Text("process %d of two has another solution", q));
        if (state->its != one.state.its || state->stop != one.state.stop || state->beta != 2 * one.state.beta) good = Complain(S.name, Text("process %d of two ends in another way", q));
      }
    }
  }
  return good;
}

/* Steps of Chebyshev iterations: the first one without a guess and with one, a later one, and the last one, which writes over p */
static bool Chebyshev(const std::vector<System> &systems)
{
  enum Step {
    FRESH,
    FIRST,
    LATER,
    LAST
  };
  std::vector<int> sizes;
  bool             good = true;

  for (const System &S : systems) {
    if (sizes.empty() || sizes.back() != S.n) sizes.push_back(S.n);
  }
  for (int rows : sizes) {
    for (int bs : {0, 1, 2, 5}) { /* 0: no preconditioner */
      for (Step step : {FRESH, FIRST, LATER, LAST}) {
        const int              blocks = std::max(bs, 1), n = rows / blocks * blocks;
        const std::string      name = Text("%d rows, blocks of %d, step %d", n, bs, (int)step);
        std::vector<SysScalar> u[4], d, x, expected((size_t)n), nan((size_t)n, NotANumber);
        FusedPass              pass = {};

        seed = 88172645463325252u;
        for (auto &v : u) v = RandomVector((size_t)n);
        d      = RandomVector((size_t)n * (size_t)blocks);
        pass.a = (SysReal)0.75;
        pass.b = (SysReal)1.5;
        pass.c = (SysReal)-0.5;
        for (int k = 0; k < n; k++) {
          const size_t i   = (size_t)k;
          double       sum = 0;

          for (int j = 0; j < blocks; j++) {
            const size_t from = (size_t)(k / blocks * blocks + j);

            sum += (bs ? (double)d[(size_t)j * (size_t)n + i] : 1.0) * ((double)u[0][from] - (step == FRESH ? 0.0 : (double)u[1][from]));
          }
          sum *= (double)pass.a;
          if (step != FRESH) sum += (double)pass.b * (double)u[2][i];
          if (step >= LATER) sum += (double)pass.c * (double)u[3][i];
          expected[i] = (SysScalar)sum;
        }
        {
          Vector r(u[0], 1), w(step == FRESH ? nan : u[1], 1), p(u[2], 1), z(u[3], 1), m(d, 1), apart(nan, 1);

          pass.kind       = bs == 0 ? FUSED_NONE : bs == 1 ? FUSED_POINT : FUSED_BLOCKS;
          pass.bs         = blocks;
          pass.n          = n;
          pass.d          = m.Data();
          pass.v[FUSED_R] = r.Data();
          pass.v[FUSED_W] = w.Data();
          pass.v[FUSED_P] = step == FRESH ? NULL : p.Data();
          pass.v[FUSED_Z] = step < LATER ? NULL : z.Data();
          pass.v[FUSED_X] = step == LATER ? z.Data() : step == LAST ? p.Data() : apart.Data();
          if (FusedDeviceChebyshev(&pass, stream) != SYS_SUCCESS) {
            good = Complain(name, SysDeviceErrorText());
            continue;
          }
          if (!(step == LATER ? z : step == LAST ? p : apart).Get(x)) good = Complain(name, "something was written outside");
        }
        for (int k = 0; k < n; k++) {
          if (!(fabs((double)x[(size_t)k] - (double)expected[(size_t)k]) <= 64 * (double)Eps)) {
            good = Complain(name, Text("entry %d is %g, not %g", k, (double)x[(size_t)k], (double)expected[(size_t)k]));
            break;
          }
        }
      }
    }
  }
  return good;
}

/* ------------------------------------------------- GMRES ------------------------------------------------- */

/* A cycle of GMRES; side: of M, a diagonal, 0: none, 1: left, 2: right */
struct Cycle {
  std::string name;
  int         n, restart, side, modified, refine, max_it;
  Kind        kind;
};

static SysScalar Applied(const Cycle &C, int side, int k)
{
  return C.side == side ? 1 / Diagonal(DEFINITE, k) : 1;
}

/* The norms of the same cycle on the host, with modified Gram-Schmidt, and the solution of a cycle that begins with 0 */
static void CycleOnHost(const Cycle &C, const std::vector<SysScalar> &b, std::vector<double> &norms, std::vector<double> &x)
{
  const size_t                     n = (size_t)C.n;
  std::vector<std::vector<double>> v;
  std::vector<double>              r((size_t)(C.restart + 2) * (size_t)(C.restart + 2)), cs(r), sn(r), g(r), y(r), w(n);
  const size_t                     ld = (size_t)C.restart + 2;
  int                              it = 0;

  auto normalise = [&]() {
    double norm = 0;

    for (double a : w) norm += a * a;
    norm = sqrt(norm);
    v.push_back(w);
    for (double &a : v.back()) a /= norm;
    return norm;
  };

  for (size_t k = 0; k < n; k++) w[k] = b[k];
  g[0] = normalise();
  norms.assign(1, g[0]);
  for (; it < C.restart && it < C.max_it; it++) {
    double *const h = &r[ld * (size_t)it];

    for (int k = 0; k < C.n; k++) {
      auto at = [&](int i) { return v[(size_t)it][(size_t)i] * (double)Applied(C, 2, i); };

      w[(size_t)k] = ((double)Diagonal(C.kind, k) * at(k) - (k > 0 ? at(k - 1) : 0) - (k < C.n - 1 ? at(k + 1) : 0)) * (double)Applied(C, 1, k);
    }
    for (int j = 0; j <= it; j++) {
      h[j] = 0;
      for (size_t k = 0; k < n; k++) h[j] += w[k] * v[(size_t)j][k];
      for (size_t k = 0; k < n; k++) w[k] -= h[j] * v[(size_t)j][k];
    }
    h[it + 1] = normalise();
    for (int j = 0; j < it; j++) {
      const double t = h[j];

      h[j]     = cs[(size_t)j] * t + sn[(size_t)j] * h[j + 1];
      h[j + 1] = cs[(size_t)j] * h[j + 1] - sn[(size_t)j] * t;
    }
    const double t = hypot(h[it], h[it + 1]);

    cs[(size_t)it]    = h[it] / t;
    sn[(size_t)it]    = h[it + 1] / t;
    g[(size_t)it + 1] = -sn[(size_t)it] * g[(size_t)it];
    g[(size_t)it] *= cs[(size_t)it];
    h[it] = t;
    norms.push_back(fabs(g[(size_t)it + 1]));
  }
  x.assign(n, 0);
  for (int j = it - 1; j >= 0; j--) {
    y[(size_t)j] = g[(size_t)j];
    for (int i = j + 1; i < it; i++) y[(size_t)j] -= r[ld * (size_t)i + (size_t)j] * y[(size_t)i];
    y[(size_t)j] /= r[ld * (size_t)j + (size_t)j];
    for (size_t k = 0; k < n; k++) x[k] += y[(size_t)j] * v[(size_t)j][k] * (double)Applied(C, 2, (int)k);
  }
}

/* Passes that are queued in blocks, recorded or not; more of them than the cycle has iterations, which must do nothing */
static bool CycleOnDevice(const Cycle &C, const std::vector<SysScalar> &b, int length, bool record, std::vector<SysScalar> &norms, std::vector<SysScalar> &x)
{
  const System           S = {C.name, C.n, C.kind, FUSED_NONE, FUSED_NORM_R, C.max_it, 0, 1, false, false};
  const size_t           n = (size_t)C.n;
  std::vector<SysScalar> m(n), nan(n, NotANumber);
  FusedBasisMethod       method = {};
  FusedDevice           *f      = NULL;
  FusedBasisDevice      *basis  = NULL;
  const FusedState      *state;
  bool                   good;

  for (int k = 0; k < C.n; k++) m[(size_t)k] = 1 / Diagonal(DEFINITE, k);
  {
    Vector         p(nan, 1), w(b, 1), diagonal(m, 1), solution(std::vector<SysScalar>(n, 0), 1);
    FusedBasisPass pass = {C.n, p.Data(), w.Data(), C.side == 1 ? diagonal.Data() : NULL, C.side == 2 ? diagonal.Data() : NULL};

    method.restart      = C.restart;
    method.modified     = C.modified;
    method.refine       = C.refine;
    method.haptol       = (SysReal)1e-30;
    method.breakdowntol = (SysReal)0.1;
    if (!Check(FusedDeviceCreate(&f), S) || !Check(FusedBasisDeviceCreate(&basis, f, C.n, C.restart, 1), S)) return false;
    FusedBasisDeviceSet(basis, &method);
    if (!Check(FusedBasisDeviceRoom(basis, C.restart + 1, stream), S) || !Check(FusedBasisDeviceStart(basis, &pass, 1, stream), S)) return false;
    if (!Check(FusedDeviceLimits(f, -1, std::numeric_limits<SysReal>::max(), C.max_it, stream), S)) return false;
    if (!Check(FusedDeviceSend(f, 1, stream), S) || !Check(FusedDeviceReceive(f, 1, &state), S)) return false;
    norms.assign(1, state->start);
    auto block = [&](cudaStream_t to) {
      for (int k = 0; k < length; k++) {
        Multiply<<<(unsigned)(S.n + 255) / 256, 256, 0, to>>>(S.kind, S.n, pass.p, pass.w, NULL);
        if (!Check(FusedBasisDeviceDots(basis, &pass, 0, to), S) || !Check(FusedBasisDeviceUpdate(basis, &pass, 0, to), S)) return false;
        if (C.refine && (!Check(FusedBasisDeviceDots(basis, &pass, 1, to), S) || !Check(FusedBasisDeviceUpdate(basis, &pass, 1, to), S))) return false;
      }
      return true;
    };

    if (record) {
      cudaStream_t to;
      int          recorded;

      if (!Check(FusedDeviceRecordBegin(f, &to), S) || !block(to) || !Check(FusedDeviceRecordEnd(f, &recorded), S)) return false;
      if (!recorded) return Complain(S.name, "could not be recorded");
    }
    for (int k = 0; k < C.restart + 3; k += length) {
      if (record ? !Check(FusedDeviceReplay(f, stream), S) : !block(stream)) return false;
      if (!Check(FusedDeviceSend(f, 0, stream), S) || !Check(FusedDeviceReceive(f, 0, &state), S)) return false;
      for (int i = (int)norms.size(); i <= state->its; i++) norms.push_back(state->history[(i - 1) % FUSED_HISTORY]);
    }
    if (!Check(FusedBasisDeviceSolve(basis, 0, stream), S) || !Check(FusedBasisDeviceCombine(basis, C.n, solution.Data(), pass.right, solution.Data(), stream), S)) return false;
    good = solution.Get(x) && p.Get(nan) && w.Get(nan);
    if (!good) Complain(S.name, "something was written outside");
  }
  FusedBasisDeviceDestroy(&basis);
  FusedDeviceDestroy(&f);
  return good;
}

static bool Basis(const std::vector<System> &)
{
  const long double  tolerance = 20000 * Eps;
  std::vector<Cycle> cycles;
  bool               good = true;

  for (int n : {37, 1000, 5000, 300000}) {
    if (small && n > 5000) continue;
    for (int side = 0; side < 3; side++) {
      for (int way = 0; way < 4; way++) cycles.push_back({Text("%d rows, M %d, way %d", n, side, way), n, 13 + 7 * (way % 2), side, way == 1, way > 1 ? way - 1 : 0, way == 2 ? 9 : 100, DEFINITE});
    }
  }
  for (const Cycle &C : cycles) {
    std::vector<double>    norms, x;
    std::vector<SysScalar> b, first, got, start, solution;

    seed = 88172645463325252u;
    b    = RandomVector((size_t)C.n);
    CycleOnHost(C, b, norms, x);
    for (int length : {1, 4}) {
      for (int record = 0; record < 2; record++) {
        if (!CycleOnDevice(C, b, length, record, got, solution)) {
          good = false;
          continue;
        }
        if (first.empty()) {
          first = got;
          start = solution;
        }
        if (first != got || memcmp(start.data(), solution.data(), solution.size() * sizeof(SysScalar))) good = Complain(C.name, Text("other bits in blocks of %d", length));
      }
    }
    if (first.size() != norms.size()) good = Complain(C.name, Text("%d iterations, not %d", (int)first.size() - 1, (int)norms.size() - 1));
    for (size_t k = 0; k < std::min(first.size(), norms.size()); k++) {
      if (!(fabsl((long double)first[k] - norms[k]) <= tolerance * norms[0])) good = Complain(C.name, Text("norm %d is %g, not %g", (int)k, (double)first[k], norms[k]));
    }
    for (size_t k = 0; k < start.size(); k++) {
      if (!(fabsl((long double)start[k] - x[k]) <= tolerance)) {
        good = Complain(C.name, Text("entry %d is %g, not %g", (int)k, (double)start[k], x[k]));
        break;
      }
    }
  }
  return good;
}

/* A NaN stops the device in its first iteration; the identity in a happy one or a norm of 0 */
static bool BasisStops(const std::vector<System> &)
{
  const Cycle            bad = {"NaN in the matrix", 1000, 10, 0, 0, 0, 50, NOT_A_NUMBER}, one = {"twice the identity", 1000, 10, 0, 0, 2, 1, IDENTITY};
  std::vector<SysScalar> norms, x;
  bool                   good = true;

  if (!CycleOnDevice(bad, std::vector<SysScalar>(1000, 1), 3, true, norms, x)) good = false;
  if (norms.size() != 1) good = Complain(bad.name, Text("%d iterations, not 0", (int)norms.size() - 1));
  if (!CycleOnDevice(one, std::vector<SysScalar>(1000, 1), 3, true, norms, x)) good = false;
  if (norms.size() != 2 || !(norms[1] <= 1000 * Eps * norms[0])) good = Complain(one.name, "is not solved by one iteration");
  for (SysScalar a : x) {
    if (!(fabsl((long double)a - 0.5L) <= 1000 * Eps)) {
      good = Complain(one.name, Text("an entry is %g, not 0.5", (double)a));
      break;
    }
  }
  return good;
}

int main(int argc, char **argv)
{
  const Group<std::vector<System>> groups[] = {
    {"iterations",  IterationsOf},
    {"same bits",   SameBits    },
    {"stops",       Stops       },
    {"resumed",     Resumed     },
    {"shared",      SharedOf    },
    {"chebyshev",   Chebyshev   },
    {"basis",       Basis       },
    {"basis stops", BasisStops  }
  };

  return RunProgram(groups, MakeSystems, argc, argv);
}
