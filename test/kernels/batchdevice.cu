/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products of batches of sparse matrices with dense matrices on a CUDA device, without PETSc: against sums on the host, for batches with empty matrices, a full row
   and repeated entries, for all widths and alignments, by rows and by atomic operations.

     batchdevice [small] GROUP...     runs groups of tests; small leaves out large batches, for tools that slow everything down

   Prints "ok GROUP" or "not ok GROUP", before it what was wrong. Exit code 77: there is no device.
*/
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function" /* other tests need more of this header */
#include "devicetest.h"
#pragma GCC diagnostic pop
#include "graph/batch/cuda/batchcuda.h"

struct Batch {
  std::string      name;
  int              nmat;
  Rows             A; /* of the batch: a block for each matrix */
  std::vector<int> first;
};

/* Matrices of least to most rows, with as many columns and up to entries numbers in a row, repeated or not in order; every empty-th has none */
static Batch MakeBatch(const std::string &name, int nmat, int least, int most, int entries, int empty, bool full)
{
  Batch B = {name, nmat, {}, {0}};

  seed = 88172645463325252u + (uint64_t)nmat;
  for (int b = 0; b < nmat; b++) {
    const int m = empty && b % empty == 2 ? 0 : least + RandomBelow(most - least + 1), n = empty && b % empty == 1 ? 0 : least + RandomBelow(most - least + 1);

    for (int r = 0; r < m; r++) {
      const int count = !n ? 0 : full && r == 1 ? n : RandomBelow(entries + 1);

      for (int k = 0; k < count; k++) {
        B.A.j.push_back(B.A.n + (count == n ? k : RandomBelow(n)));
        B.A.a.push_back(RandomScalar());
      }
      B.A.i.push_back((int)B.A.j.size());
    }
    B.A.m += m;
    B.A.n += n;
    B.first.push_back(B.A.m);
  }
  return B;
}

static std::vector<Batch> MakeBatches()
{
  std::vector<Batch> batches = {MakeBatch("none", 0, 1, 1, 1, 0, false), MakeBatch("one", 1, 40, 40, 3, 0, false), MakeBatch("few, with a full row", 3, 60, 90, 5, 0, true), MakeBatch("mixed, some empty", 40, 1, 50, 5, 7, false), MakeBatch("many rows", 2, 3000, 3000, 2, 0, false)};

  if (!small) {
    batches.push_back(MakeBatch("one of very many rows", 1, 40000, 40000, 3, 0, false));
    batches.push_back(MakeBatch("hundreds", 300, 32, 256, 5, 50, true));
  }
  return batches;
}

static bool Good(SysStatus status, const std::string &where)
{
  return status == SYS_SUCCESS || Complain(where, SysDeviceErrorText());
}

/* On the device, an array of exactly its size that begins shift numbers behind an aligned address, with guards */
struct Dense {
  std::vector<SysScalar> host;
  int                    shift;
  Array<SysScalar>       memory;

  Dense(size_t n, int shift_, bool random) : host(n + (size_t)shift_ + 1, (SysScalar)12345), shift(shift_), memory(host.size())
  {
    for (size_t k = 0; k < n; k++) host[k + (size_t)shift] = random ? RandomScalar() : NotANumber;
  }
  SysScalar *Data() { return memory.data + shift; }
};

enum How {
  ROWS,
  ADD,
  ATOMIC
};

/* C = A D or C + A D; C comes back to the host */
static bool Multiply(const Batch &B, How how, int width, const std::vector<SysScalar> &a, Dense &D, Dense &C, const std::string &where)
{
  const SysCSR csr  = {B.A.m, B.A.n, (int64_t)B.A.j.size(), B.A.i.data(), B.A.j.data(), NULL};
  BatchDevice *S    = NULL;
  bool         good = Good(BatchDeviceCreate(&csr, B.nmat, B.first.data(), &S, stream), where) && Good(BatchDeviceSetValues(S, a.data(), NULL, stream), where);

  D.memory.Upload(D.host);
  C.memory.Upload(C.host);
  if (good) good = Good(how == ATOMIC ? BatchDeviceMultAtomic(S, width, D.Data(), C.Data(), stream) : BatchDeviceMult(S, how == ADD, width, D.Data(), C.Data(), stream), where);
  if (good) C.host = C.memory.Download();
  BatchDeviceDestroy(&S);
  return good;
}

static bool Check(const Batch &B, int width, const std::vector<SysScalar> &a, const Dense &D, const Dense *begin, const Dense &C, const std::string &where)
{
  for (int r = 0; r < B.A.m; r++) {
    for (int c = 0; c < width; c++) {
      const size_t    at    = (size_t)r * width + c + C.shift;
      const SysScalar value = C.host[at];
      long double     sum = begin ? begin->host[at] : 0, scale = fabsl(sum);

      for (int k = B.A.i[r]; k < B.A.i[r + 1]; k++) {
        const long double product = (long double)a[k] * D.host[(size_t)B.A.j[k] * width + c + D.shift];

        sum += product;
        scale += fabsl(product);
      }
      if (std::isnan(sum) ? !std::isnan(value) : std::isinf(sum) ? value != (SysScalar)sum : !(fabsl((long double)value - sum) <= 100 * Eps * scale)) return Complain(where, Text("row %d, column %d is %g, not %g", r, c, (double)value, (double)sum));
    }
  }
  if (C.host.back() != 12345 || (C.shift && C.host[0] != 12345)) return Complain(where, "a number outside of the result");
  return true;
}

static const int Widths[] = {0, 1, 2, 3, 4, 7, 8, 16, 31, 32, 33, 64, 65, 130, 512};

static bool Products(const std::vector<Batch> &batches, How how)
{
  bool good = true;

  for (const Batch &B : batches) {
    for (const int width : Widths) {
      if ((int64_t)B.A.m * width > (small ? 200000 : 4000000)) continue;
      for (int shift = 0; shift < 3; shift++) {
        const std::string where = B.name + Text(", %d columns, %d numbers off", width, shift);
        Dense             D((size_t)B.A.n * width, shift, true), C((size_t)B.A.m * width, shift, how == ADD), begin(C.host.size() - (size_t)shift - 1, shift, false);

        begin.host = C.host;
        good       = Multiply(B, how, width, B.A.a, D, C, where) && Check(B, width, B.A.a, D, how == ADD ? &begin : NULL, C, where) && good;
      }
    }
  }
  return good;
}

static bool ByRows(const std::vector<Batch> &batches)
{
  return Products(batches, ROWS);
}

static bool Added(const std::vector<Batch> &batches)
{
  return Products(batches, ADD);
}

static bool Atomic(const std::vector<Batch> &batches)
{
  return Products(batches, ATOMIC);
}

/* So many columns that a lane has two vectors, and so many that a group of lanes has several rows */
static bool Wide(const std::vector<Batch> &batches)
{
  bool good = true;

  for (const int width : {1024, small ? 60000 : 2048}) {
    const Batch       B     = MakeBatch("wide", small ? 2 : 100, small ? 20 : 300, small ? 30 : 400, 3, 0, true);
    const std::string where = B.name + Text(", %d columns", width);

    for (const How how : {ROWS, ATOMIC}) {
      Dense D((size_t)B.A.n * width, 0, true), C((size_t)B.A.m * width, 0, false);

      good = Multiply(B, how, width, B.A.a, D, C, where) && Check(B, width, B.A.a, D, NULL, C, where) && good;
    }
  }
  return good;
}

static bool NotFinite(const std::vector<Batch> &batches)
{
  bool good = true;

  for (const Batch &B : batches) {
    if (B.A.n < 20) continue;
    for (const How how : {ROWS, ATOMIC}) {
      Dense D((size_t)B.A.n * 12, 0, true), C((size_t)B.A.m * 12, 0, false);

      D.host[5]           = NotANumber;
      D.host[12 * 7 + 11] = std::numeric_limits<SysScalar>::infinity();
      good                = Multiply(B, how, 12, B.A.a, D, C, B.name) && Check(B, 12, B.A.a, D, NULL, C, B.name) && good;
    }
  }
  return good;
}

/* Two products by rows have the same bits, after other values too */
static bool SameBits(const std::vector<Batch> &batches)
{
  bool good = true;

  for (const Batch &B : batches) {
    std::vector<SysScalar> other(B.A.a);
    Dense                  D((size_t)B.A.n * 40, 0, true), C((size_t)B.A.m * 40, 0, false), again((size_t)B.A.m * 40, 0, false), third((size_t)B.A.m * 40, 0, false);

    for (SysScalar &a : other) a = 3 - a;
    good = Multiply(B, ROWS, 40, B.A.a, D, C, B.name) && Multiply(B, ROWS, 40, other, D, third, B.name) && Multiply(B, ROWS, 40, B.A.a, D, again, B.name) && good;
    good = Check(B, 40, other, D, NULL, third, B.name) && good;
    if (memcmp(C.host.data(), again.host.data(), C.host.size() * sizeof(SysScalar))) good = Complain(B.name, "other bits");
  }
  return good;
}

int main(int argc, char **argv)
{
  const Group<std::vector<Batch>> groups[] = {
    {"rows",              ByRows   },
    {"added",             Added    },
    {"atomic operations", Atomic   },
    {"wide",              Wide     },
    {"not finite",        NotFinite},
    {"same bits",         SameBits }
  };

  return RunProgram(groups, MakeBatches, argc, argv);
}
