/* SPDX-License-Identifier: BSD-2-Clause */
/*
   libFuzzer target for sizes near the largest integer: a few rows, and so many columns that arrays of one number for each are refused by the allocator (256 MB, see
   fuzz.sh). A format or a product takes the matrix, or says that memory is short or the matrix too large; no size overflows on the way.
*/
#include <math.h>
#include <sys/mman.h>

#include "fuzz.h"
#include "mat/impls/amb/host/ambhost.h"
#include "mat/impls/nus/host/nushost.h"
#include "mat/impls/ccoo/host/ccoohost.h"
#include "mat/impls/tilecomposite/host/tilehost.h"
#include "mat/impls/hashgemm/host/spgemmhost.h"
#include "mat/impls/spmm/host/spmmhost.h"
#include "graph/batch/host/batchhost.h"
#include "graph/host/graphhost.h"

/* The allocator maps large blocks by itself, past the limit of the sanitizer: the linker puts this in the place of mmap() */
void *__wrap_mmap(void *, size_t, int, int, int, off_t);
void *__real_mmap(void *, size_t, int, int, int, off_t);

void *__wrap_mmap(void *p, size_t size, int protection, int flags, int fd, off_t offset)
{
  return size > 256 << 20 ? MAP_FAILED : __real_mmap(p, size, protection, flags, fd, offset);
}

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

/* ------------------------------------------------- products ------------------------------------------------- */

/* L A, where L has the entries (r, r) and (r, next[r]): each row of the result has the columns of both rows, with the sums of their values */
static void JudgeProduct(const SysInt *next, const SysCSR *A, const SysInt *i, const SysInt *j, const SysScalar *a)
{
  for (int r = 0; r < ROWS; r++) {
    SysInt found = 0, terms = 0;

    for (SysInt k = i[r]; k < i[r + 1]; k++) {
      SysScalar sum = 0;

      CHECK(k == i[r] || j[k] > j[k - 1]);
      for (int side = 0; side < (next[r] == r ? 1 : 2); side++) {
        const SysInt s = side ? next[r] : r;

        for (SysInt q = A->i[s]; q < A->i[s + 1]; q++) {
          if (A->j[q] != j[k]) continue;
          sum += (side ? 2 : 1) * A->a[q];
          terms++;
        }
      }
      CHECK(sum == a[k]);
      found++;
    }
    CHECK(terms == A->i[r + 1] - A->i[r] + (next[r] == r ? 0 : A->i[next[r] + 1] - A->i[next[r]]) && found <= terms);
  }
}

/* Sparse products of the wide matrix: with a small one from the left, which must succeed, and those whose result has as many rows as the matrix has columns */
static SysStatus Product(Bytes *b, uint32_t shape, int nthread, const SysCSR *A)
{
  static const SpgemmType types[] = {SPGEMM_AB, SPGEMM_ATB, SPGEMM_ABT, SPGEMM_PTAP};
  const SpgemmType        type    = types[shape % 4];
  const SpgemmOptions     options = {.accumulator = (SpgemmAccumulator)(shape / 4 % 7), .nthread = nthread};
  SysInt                  i[ROWS + 1], j[2 * ROWS], next[ROWS];
  SysScalar               a[2 * ROWS];
  SysCSR                  L = {ROWS, ROWS, 0, i, j, a};
  Spgemm                 *S = NULL;
  SpgemmInfo              info;
  SysStatus               status;

  for (int r = 0; r < ROWS; r++) {
    next[r] = r + (SysInt)(TakeByte(b) % (uint32_t)(ROWS - r));
    i[r]    = (SysInt)L.nz;
    j[L.nz] = r;
    a[L.nz] = 1;
    L.nz++;
    if (next[r] == r) continue;
    j[L.nz] = next[r];
    a[L.nz] = 2;
    L.nz++;
  }
  i[ROWS] = (SysInt)L.nz;
  status  = SpgemmCreate(type, type == SPGEMM_AB || type == SPGEMM_PTAP ? &L : A, A, NULL, &options, &S, &info);
  CHECK(!status == !!S);
  if (!status) {
    const int64_t nz = SpgemmNonzeros(S);
    int64_t       m, n;
    SysInt       *ci, *cj;
    SysScalar    *ca;

    SpgemmSize(type, type == SPGEMM_AB || type == SPGEMM_PTAP ? &L : A, A, NULL, &m, &n);
    CHECK(type == SPGEMM_AB || type == SPGEMM_ABT); /* the others have 2^31 rows */
    ci = Exactly(m + 1, sizeof(*ci));
    cj = Exactly(nz, sizeof(*cj));
    ca = Exactly(nz, sizeof(*ca));
    CHECK(SpgemmFill(S, type == SPGEMM_AB ? &L : A, A, NULL, ci, cj, ca) == SYS_SUCCESS && ci[m] == nz);
    if (type == SPGEMM_AB) JudgeProduct(next, A, ci, cj, ca);
    free(ci);
    free(cj);
    free(ca);
  }
  SpgemmDestroy(&S);
  return status;
}

/* The ring of a dense matrix with 2^31 rows holds the rows that are needed at a time; the pattern of the transposed matrix does not fit */
static SysStatus Dense(const SysCSR *A)
{
  const int64_t  ring  = SpmmRing(A->m, A->n, A->i, A->j);
  SysInt         least = (SysInt)A->n, greatest = -1;
  SpmmTransposed T;
  SysStatus      status;

  for (int64_t k = 0; k < A->nz; k++) {
    if (A->j[k] < least) least = A->j[k];
    if (A->j[k] > greatest) greatest = A->j[k];
  }
  CHECK(!ring || (ring <= A->n && !(ring & (ring - 1)) && ring >= (int64_t)greatest - least + 1));
  status = SpmmTranspose(A, &T);
  if (!status) SpmmTransposedDestroy(&T);
  return status;
}

/* Entries of a batch with 2^31 rows or columns, in any order */
static SysStatus Entries(uint32_t shape, const SysCSR *A)
{
  SysInt       row[ROWS * LONG];
  BatchEntries E;
  SysStatus    status;

  for (SysInt r = 0; r < A->m; r++) {
    for (SysInt k = A->i[r]; k < A->i[r + 1]; k++) row[k] = r;
  }
  if (shape % 2) status = BatchEntriesCreate(A->n, A->m, A->nz, A->j, row, &E);
  else status = BatchEntriesCreate(A->m, A->n, A->nz, row, A->j, &E);
  if (!status) BatchEntriesDestroy(&E);
  return status;
}

/* Rows without their smallest entries: no array depends on the columns */
static void Prune(uint32_t shape, int nthread, const SysCSR *A)
{
  const int64_t keep  = 1 + shape % LONG;
  const SysReal least = (SysReal)(shape / LONG);
  SysInt        i[ROWS + 1], j[ROWS * LONG];
  SysScalar     a[ROWS * LONG];
  SysReal       work[2 * LONG * 3];

  i[0] = 0;
  GraphPruneCount(nthread, A, least, keep, LONG, i + 1, work);
  for (int r = 0; r < ROWS; r++) {
    const SysInt n = A->i[r + 1] - A->i[r];

    CHECK(i[r + 1] <= n && i[r + 1] <= keep && (i[r + 1] > 0) == (n > 0));
    i[r + 1] += i[r];
  }
  GraphPruneFill(nthread, A, least, keep, LONG, i, j, a, work);
  for (int r = 0; r < ROWS; r++) {
    for (SysInt k = i[r]; k < i[r + 1]; k++) {
      SysInt q = A->i[r];

      while (q < A->i[r + 1] && A->j[q] != j[k]) q++;
      CHECK(q < A->i[r + 1] && a[k] == A->a[q] && (k == i[r] || j[k] > j[k - 1]));
    }
  }
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
  if (choice >= 128) {
    if (choice % 4 == 0) status = Product(&b, shape, nthread, &A);
    else if (choice % 4 == 1) status = Dense(&A);
    else if (choice % 4 == 2) status = Entries(shape, &A);
    else Prune(shape, nthread, &A);
    CHECK(!status || status == SYS_OUT_OF_MEMORY || status == SYS_TOO_LARGE);
    return 0;
  }
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
