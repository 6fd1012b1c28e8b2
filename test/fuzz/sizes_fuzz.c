/* SPDX-License-Identifier: BSD-2-Clause */
/*
   libFuzzer target for sizes near the largest integer: a few rows, and so many columns that arrays of one number for each are refused by the allocator (256 MB, see
   run.sh). A format takes the matrix, or says that memory is short or the matrix too large; no size overflows on the way.
*/
#include <math.h>

#include "fuzz.h"
#include "mat/impls/amb/ambhost.h"
#include "mat/impls/nus/nushost.h"
#include "mat/impls/ccoo/ccoohost.h"
#include "mat/impls/tilecomposite/tilehost.h"

#define ROWS 40
#define LONG 8 /* entries of a row, at most */

/* Columns that ascend, close together and at both ends */
static SysInt Columns(Bytes *b, SysInt n, SysInt j[LONG])
{
  SysInt    count = 0;
  long long next  = 0;

  for (uint32_t k = TakeByte(b) % (LONG + 1); k; k--) {
    const uint32_t c = TakeByte(b);

    if (c % 4 == 0) next += c;
    else if (c % 4 == 1) next += (long long)c << 16;
    else if (c % 4 == 2) next += n / 2;
    else if (next < n - 1 - c / 4) next = n - 1 - c / 4;
    if (next >= n) break;
    j[count++] = (SysInt)next++;
  }
  return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static const SysInt sizes[] = {INT32_MAX, INT32_MAX - 1, INT32_MAX - 7, INT32_MAX - 64, 1 << 30, 2000000000};
  Bytes               b       = {data, size};
  const uint32_t      choice = TakeByte(&b), shape = TakeByte(&b), more = TakeByte(&b);
  const SysInt        n           = sizes[choice / 4 % 6];
  const int           nthread     = 1 + (int)(more % 3);
  SysInt              i[ROWS + 1] = {0}, j[ROWS * LONG];
  SysScalar           a[ROWS * LONG];
  SysCSR              A      = {ROWS, n, 0, i, j, a};
  SysStatus           status = SYS_SUCCESS;
  double              bytes;
  void               *format = NULL;

  for (int r = 0; r < ROWS; r++) i[r + 1] = i[r] + Columns(&b, n, j + i[r]);
  A.nz = i[ROWS];
  for (int k = 0; k < ROWS * LONG; k++) a[k] = k;
  switch (choice % 4) {
  case 0: {
    AmbPlan plan;

    status      = AmbPlanCreate(&A, (int)(shape % 11), 0, nthread, 1, &AmbKernelsPlain, &plan);
    plan.values = SYS_VALUES_EXACT;
    if (!status) status = AmbHostCreate(&A, &plan, 1, &AmbKernelsPlain, (AmbHost **)&format);
    if (format) CHECK(AmbHostBytes((AmbHost *)format) > 0);
    AmbHostDestroy(format);
    break;
  }
  case 1: {
    NusCache  cache;
    NusParams params = {
      .segmentation = (NusSegmentation)(shape % 3), .rows = shape / 3 % 2 ? NUS_JDS : NUS_SELL, .count = {(int64_t)(more % 5) - 1,    (int64_t)(more / 5 % 5) - 1},
                        .width = {shape & 64 ? INT32_MAX : 0, shape & 128 ? n : 0        }
    };
    NusBytes known = {{0}};

    NusHostCache(&cache);
    status = NusHostPlan(&A, &cache, nthread, &params, &known);
    if (!status) status = NusHostCreate(&A, &params, nthread, 1, &NusKernelsPlain, INFINITY, &bytes, (NusHost **)&format);
    NusHostDestroy(format);
    break;
  }
  case 2: {
    CcooParams params = {0, 1 << shape % 4, 1};

    status = CcooHostPlan(&A, &params, &bytes);
    if (!status) status = CcooHostCreate(&A, &params, nthread, 1, &CcooKernelsPlain, INFINITY, &bytes, (CcooHost **)&format);
    CcooHostDestroy(format);
    break;
  }
  default: {
    const TileParams params = {.width = shape & 1 ? 1 << 30 : 0, .tiles = (int)(shape / 2 % 4) - 1, .coo = (int)(shape / 8 % 2)};

    status = TileHostCreate(&A, &params, nthread, 1, &TileKernelsPlain, INFINITY, &bytes, (TileHost **)&format);
    TileHostDestroy(format);
  }
  }
  CHECK(!status == !!format);
  CHECK(!status || status == SYS_OUT_OF_MEMORY || status == SYS_TOO_LARGE);
  return 0;
}
