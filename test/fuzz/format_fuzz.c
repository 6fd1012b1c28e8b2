/* SPDX-License-Identifier: BSD-2-Clause */
/*
   libFuzzer target for the formats of matrices on the host: any matrix, any parameters, every instruction set. A format takes the matrix, and then its products, plain
   and transposed, before and after new values, are those of plain loops; or it refuses the matrix, with a reason that is true.
*/
#include "csr.h"
#include "mat/impls/amb/host/ambhost.h"
#include "mat/impls/nus/host/nushost.h"
#include "mat/impls/ccoo/host/ccoohost.h"
#include "mat/impls/tilecomposite/host/tilehost.h"

typedef struct {
  int       nthread, nworker, set;
  double    most;
  SysValues values;
} Common;

/* A format: creates the matrix with parameters of the input's choice */
typedef struct {
  SysStatus (*create)(Bytes *, const SysCSR *, const Common *, void **);
  SysStatus (*update)(void *, const SysCSR *, SysStream);
  SysStatus (*mult[2])(void *, const SysCSR *, SysScalar, const SysScalar *, SysScalar, const SysScalar *, SysScalar *, SysStream);
  void (*destroy)(void *);
  int sorted; /* only takes rows whose columns ascend */
} Format;

/* The kernels for the instruction set that the input chose, or the best there are */
#define KERNELS(name, set) ((set) == 0 ? &name##Plain : (set) == 1 && name##AVX2.supported() ? &name##AVX2 : name##AVX512.supported() ? &name##AVX512 : &name##Plain)

static SysStatus CreateAmb(Bytes *b, const SysCSR *A, const Common *c, void **data)
{
  static const int  scopes[] = {0, 0, 8, 64, 1000, AMB_MAX_SCOPE};
  const AmbKernels *kernels  = KERNELS(AmbKernels, c->set);
  const int         block    = (int)(TakeByte(b) % (AMB_MAX_BLOCK + 1));
  AmbPlan           plan;
  AmbHost          *host   = NULL;
  SysStatus         status = AmbPlanCreate(A, block > A->n ? 0 : block, scopes[TakeByte(b) % 6], c->nthread, c->nworker, kernels, &plan);

  plan.values = c->values;
  plan.trial  = 1;
  if (!status) status = AmbHostCreate(A, &plan, c->nworker, kernels, &host);
  *data = host;
  return status;
}

static SysStatus CreateNus(Bytes *b, const SysCSR *A, const Common *c, void **data)
{
  static const int      chunks[] = {0, 8, 16, 32}, sigmas[] = {0, 1, 8, 40, 1000, NUS_MAX_SCOPE};
  static const NusCache cache  = {256, 1024, 4096, 64};
  const uint32_t        shape  = TakeByte(b);
  NusParams             params = {.segmentation = (NusSegmentation)(shape % 3), .rows = shape / 3 % 2 ? NUS_JDS : NUS_SELL, .c = chunks[shape / 6 % 4], .sigma = sigmas[shape / 24 % 6], .values = c->values};
  NusBytes              known  = {{0}};
  double                bytes;
  NusHost              *host = NULL;
  SysStatus             status;

  for (int k = 0; k < 2; k++) {
    params.width[k] = TakeByte(b) % 4 ? TakeByte(b) : TakeWord(b);
    params.count[k] = (int64_t)(TakeByte(b) % 9) - 1;
    if (params.count[k] > A->n) params.count[k] = A->n;
  }
  status = NusHostPlan(A, &cache, c->nthread, &params, &known);
  if (!status) status = NusHostCreate(A, &params, c->nthread, c->nworker, KERNELS(NusKernels, c->set), c->most, &bytes, &host);
  *data = host;
  return status;
}

static SysStatus CreateCcoo(Bytes *b, const SysCSR *A, const Common *c, void **data)
{
  const uint32_t shape  = TakeByte(b);
  CcooParams     params = {shape % 5 ? 16 << shape % 5 : 0, shape / 5 % 5 ? 1 << (shape / 5 % 5 - 1) : 0, (int)(shape / 25 % 2)};
  double         bytes;
  CcooHost      *host   = NULL;
  SysStatus      status = CcooHostPlan(A, &params, &bytes);

  if (!status) status = CcooHostCreate(A, &params, c->nthread, c->nworker, KERNELS(CcooKernels, c->set), c->most, &bytes, &host);
  *data = host;
  return status;
}

static SysStatus CreateTile(Bytes *b, const SysCSR *A, const Common *c, void **data)
{
  static const int works[] = {0, 32, 33, 100, 1024, 32768};
  const uint32_t   shape   = TakeByte(b);
  TileParams       params  = {.width = shape % 3 ? (int)TakeWord(b) : 0, .tiles = (int)(shape / 3 % 5) - 1, .work = works[shape / 15 % 6], .coo = (int)(shape / 90 % 2)};
  double           bytes;
  TileHost        *host   = NULL;
  SysStatus        status = TileHostCreate(A, &params, c->nthread, c->nworker, KERNELS(TileKernels, c->set), c->most, &bytes, &host);

  *data = host;
  return status;
}

static const Format formats[] = {
  {CreateAmb,  AmbHostUpdate,  {AmbHostMult, AmbHostMultTranspose},   AmbHostDestroy,  1},
  {CreateNus,  NusHostUpdate,  {NusHostMult, NusHostMultTranspose},   NusHostDestroy,  0},
  {CreateCcoo, CcooHostUpdate, {CcooHostMult, CcooHostMultTranspose}, CcooHostDestroy, 0},
  {CreateTile, TileHostUpdate, {TileHostMult, TileHostMultTranspose}, TileHostDestroy, 0}
};

/* Is the product that of plain loops? Left out are sums of numbers that single precision does not hold, if values are stored so, or that alpha makes overflow. */
static void Judge(const Csr *A, int transpose, int single, SysReal alpha, const SysScalar *x, SysReal beta, const SysScalar *y, const SysScalar *z)
{
  const int64_t n   = transpose ? A->n : A->m;
  Sum          *sum = calloc((size_t)n + 1, sizeof(*sum));
  char         *out = calloc((size_t)n + 1, 1);

  for (int64_t r = 0; r < A->m; r++) {
    for (int64_t k = A->i[r]; k < A->i[r + 1]; k++) {
      const int64_t to = transpose ? A->j[k] : r, from = transpose ? r : A->j[k];

      SumAdd(&sum[to], alpha, A->a[k], x[from]);
      if ((single && Size(A->a[k]) > FLT_MAX / 2) || Size(x[from]) > SCALAR_MAX / 4 || (x[from] != 0 && Size(x[from]) < 4 * SCALAR_TINY)) out[to] |= IsFinite(x[from]); /* alpha times it over- or underflows */
      if (single) sum[to].size += FLT_MIN * (1 + Size(x[from]));
    }
  }
  for (int64_t r = 0; r < n; r++) {
    if (beta != 0) SumAdd(&sum[r], beta, 1, y[r]);
    if (out[r] || SumIs(&sum[r], z[r], single ? FLT_EPSILON : SCALAR_EPS)) continue;
    fprintf(stderr, "row %lld of %s: %g in place of %g, size %g\n", (long long)r, transpose ? "the transpose" : "the matrix", (double)creal(z[r]), (double)creall(sum[r].exact), (double)sum[r].size);
    abort();
  }
  free(sum);
  free(out);
}

static void Multiply(Bytes *b, const Format *F, void *data, const Csr *A, int single)
{
  static const SysReal alphas[] = {1, -1, 2, (SysReal).5}, betas[] = {0, 1, -1, (SysReal).5};
  const SysCSR         csr   = CsrGet(A);
  const uint32_t       c     = TakeByte(b);
  const SysReal        alpha = alphas[c % 4], beta = betas[c / 4 % 4];

  for (int transpose = 0; transpose < 2; transpose++) {
    const int64_t nx = transpose ? A->m : A->n, nz = transpose ? A->n : A->m;
    SysScalar    *x = VectorTake(b, nx), *y = VectorTake(b, nz), *z = c / 16 % 2 ? y : Exactly(nz, sizeof(*z)), *kept = Exactly(nz, sizeof(*kept));

    memcpy(kept, y, (size_t)nz * sizeof(*y));
    CHECK((*F->mult[transpose])(data, &csr, alpha, x, beta, y, z, NULL) == SYS_SUCCESS);
    Judge(A, transpose, single, alpha, x, beta, kept, z);
    if (z != y) free(z);
    free(kept);
    free(x);
    free(y);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  Bytes          b      = {data, size};
  const uint32_t choice = TakeByte(&b), threads = TakeByte(&b);
  const Format  *F       = &formats[choice % 4];
  Common         common  = {1 + (int)(threads % 7), 1 + (int)(threads / 8 % 5), (int)(choice / 4 % 3), threads == 255 ? 1000 : INFINITY, (SysValues)(choice / 16 % 4)};
  const int      pattern = (int)(choice / 64 % 2); /* values come later */
  const CsrOrder order   = (CsrOrder)(TakeByte(&b) % 8 < 5 ? CSR_ASCENDING : TakeByte(&b) % 3);
  const int64_t  m = TakeSize(&b, 1), n = TakeSize(&b, 1);
  Bytes          params = b;
  void          *A      = NULL;
  Csr            csr;
  SysCSR         given;
  SysStatus      status;
  int            single = 0;

  for (int k = 0; k < 12; k++) (void)TakeByte(&b); /* where the parameters are read */
  CsrTake(&b, m, n, order, &csr);
  given = CsrGet(&csr);
  if (pattern) given.a = NULL;
#if defined(SYS_HAVE_STORAGE_SINGLE)
  single = common.values == SYS_VALUES_SINGLE && F != &formats[2] && F != &formats[3];
#endif
  status = (*F->create)(&params, &given, &common, &A);
  CHECK(!status == !!A);
  CHECK(!status || (status == SYS_NOT_ASCENDING && F->sorted && !csr.ascending) || (status == SYS_TOO_MANY_BYTES && isfinite(common.most)) || (status == SYS_TOO_LARGE && F == &formats[1]));
  if (A) {
    if (pattern) {
      given = CsrGet(&csr);
      CHECK((*F->update)(A, &given, NULL) == SYS_SUCCESS);
    }
    Multiply(&b, F, A, &csr, single);
    for (uint32_t change = TakeByte(&b) % 4; change; change--) {
      CsrChange(&csr, TakeByte(&b));
      given = CsrGet(&csr);
      CHECK((*F->update)(A, &given, NULL) == SYS_SUCCESS);
      Multiply(&b, F, A, &csr, single);
    }
    (*F->destroy)(A);
  }
  CsrDestroy(&csr);
  return 0;
}
