/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Sums over vectors that the host waits for, an update, and numbers gathered through boxes, against the host, without PETSc

     sumsdevice [small] GROUP...     runs groups of tests; small leaves out long vectors, for tools that slow everything down

   Prints "ok GROUP" or "not ok GROUP", before it what was wrong. Exit code 77: there is no device.
*/
#include "mat/halo/halocuda.h"
#include "vec/ambvec/ambveccuda.h"
#include "devicevectors.h"

#include <memory>

typedef std::vector<int> Sizes;

static Sizes MakeSizes()
{
  Sizes sizes = {1, 2, 3, 31, 64, 65, 1000, 2047, 2048, 2049, 30001};

  if (!small) sizes.insert(sizes.end(), {262144, 262145, 1030301, 5000003});
  return sizes;
}

static bool SumsOf(const Sizes &sizes)
{
  bool good = true;

  for (int n : sizes) {
    std::vector<SysScalar> u[2];
    double                 first[2] = {0, 0};

    seed = 88172645463325252u + (uint64_t)n;
    for (auto &v : u) v = RandomVector((size_t)n);
    for (int shift = 0; shift < 4; shift++) { /* each vector may begin beside its alignment */
      Vector x(u[0], (size_t)(shift & 1)), y(u[1], (size_t)(shift >> 1));

      for (int one = 0; one < 2; one++) {
        const std::string name = Text("%d entries, shift %d, %s", n, shift, one ? "x.x" : "x.y");
        long double       sum = 0, size = 0;
        double            got;

        for (size_t k = 0; k < (size_t)n; k++) {
          const long double term = (long double)u[0][k] * (long double)u[one ? 0 : 1][k];

          sum += term;
          size += fabsl(term);
        }
        if (VecCUDADot(n, x.Data(), one ? x.Data() : y.Data(), &got, stream) != SYS_SUCCESS) {
          good = Complain(name, SysDeviceErrorText());
          continue;
        }
        if (!(fabsl(sum - (long double)got) <= 100 * (long double)DBL_EPSILON * size)) good = Complain(name, Text("%.17g, not %.17Lg", got, sum));
        if (shift && got != first[one]) good = Complain(name, "other bits than with alignment");
        if (!shift) first[one] = got;
      }
    }
  }
  return good;
}

/* Several sums have the bits of single ones */
static bool Several(const Sizes &sizes)
{
  bool good = true;

  for (int n : sizes) {
    const std::vector<SysScalar> u = RandomVector((size_t)n), v = RandomVector((size_t)n);
    Vector                       x(u, 0), y(v, 0), z(u, 1);
    const SysReal               *of[] = {y.Data(), z.Data(), x.Data()}, *all[100];
    double                       single[3], got[100];

    for (int k = 0; k < 3; k++) {
      if (VecCUDADot(n, x.Data(), of[k], &single[k], stream) != SYS_SUCCESS) return Complain("sum", SysDeviceErrorText());
    }
    for (int k = 0; k < 100; k++) all[k] = of[k % 5 % 3];
    for (int nv : {1, 2, 3, 7, 8, 9, 40, 64, 65, 100}) {
      if (VecCUDADots(n, x.Data(), nv, all, got, stream) != SYS_SUCCESS) return Complain("sums", SysDeviceErrorText());
      for (int k = 0; k < nv && good; k++) {
        if (got[k] != single[k % 5 % 3]) good = Complain(Text("%d entries, %d vectors", n, nv), Text("sum %d is %.17g, not %.17g", k, got[k], single[k % 5 % 3]));
      }
    }
  }
  return good;
}

/* Each of many sums has to be its own: the second vector changes behind the first sum */
static bool ManySums(const Sizes &)
{
  const int n    = 3000;
  bool      good = true;
  Vector    x(std::vector<SysScalar>((size_t)n, 1), 0), y(std::vector<SysScalar>((size_t)n, 1), 0);
  double    got, expected = n;

  for (int k = 0; k < (small ? 50 : 20000) && good; k++) {
    const bool half = k % 2 == 0;

    if (VecCUDAAYPX(n, (SysReal)(half ? 0.5 : 1.0), x.Data(), y.Data(), stream) != SYS_SUCCESS) return Complain("update", SysDeviceErrorText());
    expected = (half ? 0.5 : 1.0) * expected + n;
    if (VecCUDADot(n, x.Data(), y.Data(), &got, stream) != SYS_SUCCESS) return Complain("sum", SysDeviceErrorText());
    if (!(fabs(got - expected) <= 1e-4 * expected)) good = Complain(Text("sum %d", k), Text("%g, not %g", got, expected));
    expected = got;
  }
  return good;
}

static bool NotFinite(const Sizes &)
{
  const double wrong[] = {(double)NotANumber, (double)Infinity, -(double)Infinity};
  bool         good    = true;

  for (double w : wrong) {
    std::vector<SysScalar> u(5000, 1);
    double                 got;

    u[4321] = (SysScalar)w;
    Vector x(u, 0), y(std::vector<SysScalar>(5000, 1), 0);

    if (VecCUDADot(5000, x.Data(), y.Data(), &got, stream) != SYS_SUCCESS) return Complain("sum", SysDeviceErrorText());
    if (w != w ? got == got : got != w) good = Complain(Text("%g", w), Text("the sum is %g", got));
  }
  return good;
}

/* A product and a sum with a rounding each */
static bool Updates(const Sizes &sizes)
{
  bool good = true;

  for (int n : sizes) {
    const SysReal          a = (SysReal)0.3;
    std::vector<SysScalar> u = RandomVector((size_t)n), v = RandomVector((size_t)n), got;
    Vector                 x(u, 1), y(v, 1);

    if (VecCUDAAYPX(n, a, x.Data(), y.Data(), stream) != SYS_SUCCESS) return Complain("update", SysDeviceErrorText());
    if (!y.Get(got)) good = Complain(Text("%d entries", n), "something was written outside");
    for (size_t k = 0; k < (size_t)n; k++) {
      volatile SysReal product = a * v[k];

      if (got[k] != product + u[k]) {
        good = Complain(Text("%d entries", n), Text("entry %d", (int)k));
        break;
      }
    }
  }
  return good;
}

/* Processes that are streams of one device, each some exchanges ahead as may be; then numbers that never come, with a limit to the wait */
static bool Gathers(const Sizes &)
{
  bool good = true;

  for (int nproc : {2, 3, HALO_PEERS}) {
    for (int words : {1, 6, HALO_PEER_BYTES / 4}) {
      const int                                          exchanges = small ? 5 : 100;
      std::vector<std::unique_ptr<Array<unsigned char>>> box;
      std::vector<std::unique_ptr<Array<unsigned>>>      mine, all;
      std::vector<cudaStream_t>                          streams((size_t)nproc);
      HaloPeers                                          p = {};

      p.nproc = nproc;
      for (int k = 0; k < nproc; k++) {
        std::vector<unsigned> numbers;

        for (int e = 0; e < exchanges * words; e++) numbers.push_back((unsigned)(1000000 * k + e));
        box.emplace_back(new Array<unsigned char>(HALO_BOX));
        CallCuda(cudaMemset(box.back()->data, 0, HALO_BOX));
        p.box[k] = box.back()->data;
        mine.emplace_back(new Array<unsigned>(numbers));
        all.emplace_back(new Array<unsigned>(std::vector<unsigned>((size_t)(exchanges * words * nproc), ~0u))); /* initcheck misses what kernels write that wait for each other */
        CallCuda(cudaStreamCreateWithFlags(&streams[(size_t)k], cudaStreamNonBlocking));
      }
      CallCuda(cudaDeviceSynchronize());
      for (int e = 0; e < exchanges; e++) {
        for (int k = 0; k < nproc; k++) {
          p.rank = k;
          if (HaloGather(&p, (size_t)(4 * words), mine[(size_t)k]->data + e * words, all[(size_t)k]->data + e * words * nproc, 0, streams[(size_t)k]) != SYS_SUCCESS) return Complain("gather", SysDeviceErrorText());
        }
      }
      CallCuda(cudaDeviceSynchronize());
      for (int k = 0; k < nproc; k++) {
        const std::vector<unsigned> got = all[(size_t)k]->Download();

        for (size_t w = 0; w < got.size() && good; w++) {
          const int e = (int)w / (words * nproc), from = (int)w / words % nproc;

          if (got[w] != (unsigned)(1000000 * from + e * words + (int)w % words)) good = Complain(Text("%d processes, %d words", nproc, words), Text("process %d, exchange %d: %u from %d", k, e, got[w], from));
        }
      }
      p.rank = 0;
      if (HaloGather(&p, (size_t)(4 * words), mine[0]->data, all[0]->data, 1000000, streams[0]) != SYS_SUCCESS) return Complain("gather", SysDeviceErrorText());
      CallCuda(cudaDeviceSynchronize());
      if (all[0]->Download()[(size_t)words] != 0 || all[0]->Download()[0] != 0) good = Complain("numbers that do not come", "are there");
      for (cudaStream_t s : streams) CallCuda(cudaStreamDestroy(s));
    }
  }
  return good;
}

/* Halos of processes that are streams of one device: process k sends n entries to k + 1, twice as many to k + 2, and none back; several exchanges there and back, one after the
   other, with entries that change. */
static bool Exchanges(const Sizes &)
{
  bool good = true;

  for (int nproc : {2, 3, 5}) {
    for (int n : {1, 300, 20000}) {
      const int                                          exchanges = small ? 3 : 20, most = 3 * n, steps = nproc > 2 ? 2 : 1;
      std::vector<std::unique_ptr<Array<unsigned char>>> room;
      std::vector<std::unique_ptr<Array<SysScalar>>>     x, there, back;
      std::vector<std::unique_ptr<Array<int>>>           entries;
      std::vector<cudaStream_t>                          streams((size_t)nproc);
      std::vector<HaloRoute>                             to((size_t)nproc), from((size_t)nproc);
      const int                                          sent = steps == 2 ? 3 * n : n;

      for (int k = 0; k < nproc; k++) {
        std::vector<SysScalar> values;
        std::vector<int>       list;

        for (int e = 0; e < exchanges * sent; e++) values.push_back((SysScalar)(k + 1) * 1000000 + e % 999983);
        for (int e = 0; e < sent; e++) list.push_back(sent - 1 - e);
        room.emplace_back(new Array<unsigned char>(HALO_ROOM_HEAD + 2 * (size_t)most * sizeof(SysScalar)));
        CallCuda(cudaMemset(room.back()->data, 0, HALO_ROOM_HEAD));
        x.emplace_back(new Array<SysScalar>(values));
        there.emplace_back(new Array<SysScalar>(std::vector<SysScalar>((size_t)(exchanges * sent), -1)));
        back.emplace_back(new Array<SysScalar>(std::vector<SysScalar>((size_t)(exchanges * sent), -1)));
        entries.emplace_back(new Array<int>(list));
        CallCuda(cudaStreamCreateWithFlags(&streams[(size_t)k], cudaStreamNonBlocking));
      }
      for (int k = 0; k < nproc; k++) {
        HaloRoute *r = &to[(size_t)k], *b = &from[(size_t)k];

        *r        = {};
        r->rank   = k;
        r->come   = sent;
        r->stride = most;
        for (int p = 0; p < nproc; p++) r->room[p] = room[(size_t)p]->data;
        *b = *r;
        for (int s = 0; s < steps; s++) {
          r->peer[r->npeers]    = (k + 1 + s) % nproc; /* the entries of k + 2 come after those of k + 1 here, and after those of the process between there */
          r->offset[s + 1]      = r->offset[s] + (s + 1) * n;
          r->place[r->npeers++] = s ? n : 0;
          b->peer[b->npeers]    = (k + nproc - 1 - s) % nproc;
          b->offset[s + 1]      = b->offset[s] + (s + 1) * n;
          b->place[b->npeers++] = s ? n : 0;
        }
        for (int s = 0; s < steps; s++) { /* the other ends, with which flags are exchanged alone */
          for (HaloRoute *way : {r, b}) {
            const int peer          = way == r ? (k + nproc - 1 - s) % nproc : (k + 1 + s) % nproc;
            bool      there_already = false;

            for (int p = 0; p < way->npeers; p++) there_already = there_already || way->peer[p] == peer;
            if (there_already) continue;
            way->peer[way->npeers]       = peer;
            way->offset[way->npeers + 1] = way->offset[way->npeers];
            way->npeers++;
          }
        }
      }
      CallCuda(cudaDeviceSynchronize());
      for (int e = 0; e < exchanges; e++) {
        for (int k = 0; k < nproc; k++) {
          const size_t at = (size_t)k;

          if (HaloExchange(&to[at], entries[at]->data, x[at]->data + e * sent, there[at]->data + e * sent, streams[at]) != SYS_SUCCESS) return Complain("exchange", SysDeviceErrorText());
        }
        for (int k = 0; k < nproc; k++) {
          const size_t at = (size_t)k;

          if (HaloExchange(&from[at], NULL, there[at]->data + e * sent, back[at]->data + e * sent, streams[at]) != SYS_SUCCESS) return Complain("exchange", SysDeviceErrorText());
        }
      }
      CallCuda(cudaDeviceSynchronize());
      for (int k = 0; k < nproc && good; k++) {
        const std::vector<SysScalar> got = back[(size_t)k]->Download(), in = x[(size_t)k]->Download();

        for (size_t w = 0; w < got.size() && good; w++) {
          const size_t e = w / (size_t)sent, position = w % (size_t)sent;

          if (got[w] != in[e * (size_t)sent + (size_t)sent - 1 - position]) good = Complain(Text("%d processes, %d entries", nproc, n), Text("process %d, exchange %d, place %d", k, (int)e, (int)position));
        }
      }
      for (cudaStream_t s : streams) CallCuda(cudaStreamDestroy(s));
    }
  }
  return good;
}

/* Gives the memory back */
static bool Ends(const Sizes &)
{
  double got;
  Vector x(std::vector<SysScalar>(10, 1), 0);

  VecCUDAEnd();
  if (VecCUDADot(10, x.Data(), x.Data(), &got, stream) != SYS_SUCCESS || got != 10) return Complain("a sum after the end", SysDeviceErrorText());
  VecCUDAEnd();
  return true;
}

int main(int argc, char **argv)
{
  const Group<Sizes> groups[] = {
    {"sums",       SumsOf   },
    {"several",    Several  },
    {"many",       ManySums },
    {"not finite", NotFinite},
    {"updates",    Updates  },
    {"gathers",    Gathers  },
    {"exchanges",  Exchanges},
    {"ends",       Ends     }
  };

  return RunProgram(groups, MakeSizes, argc, argv, VecCUDAEnd);
}
