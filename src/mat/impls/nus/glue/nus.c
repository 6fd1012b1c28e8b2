/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MATNUSSELL, non-uniformly segmented SELL-C-sigma, as a shadow of AIJ
*/
#include "mat/shadow/core/shadowformat.h"
#include "mat/impls/nus/host/nushost.h"
#if defined(SYS_HAVE_DEVICE)
  #include "mat/impls/amb/glue/ambdevice.h"
  #include "mat/impls/nus/cuda/nuscuda.h"
#endif

/* Open: parameters of 0, and numbers of segments that are PETSC_DECIDE */
typedef struct {
  MatNUSSELLSegmentation segmentation;
  MatNUSSELLRows         rows;
  MatNUSSELLTune         tune;
  PetscInt               c, sigma, width[2], count[2];
} NusSellParams;

extern const MatShadowFormat MatShadowFormatNUSSELL;

const char *const MatNUSSELLSegmentations[] = {"nonuniform", "uniform", "none", "MatNUSSELLSegmentation", "MAT_NUSSELL_SEGMENTATION_", NULL};
const char *const MatNUSSELLRowses[]        = {"sell", "jds", "MatNUSSELLRows", "MAT_NUSSELL_ROWS_", NULL};
const char *const MatNUSSELLTunes[]         = {"model", "online", "exhaustive", "off", "MatNUSSELLTune", "MAT_NUSSELL_TUNE_", NULL};

static PetscBool  NusCited      = PETSC_FALSE;
static const char NusCitation[] = "@inproceedings{nagasaka2014,\n"
                                  "  title     = {Cache-aware sparse matrix formats for {Kepler} {GPU}},\n"
                                  "  author    = {Yusuke Nagasaka and Akira Nukada and Satoshi Matsuoka},\n"
                                  "  booktitle = {20th IEEE International Conference on Parallel and Distributed Systems (ICPADS)},\n"
                                  "  year      = {2014}\n}\n";

/* ------------------------------------------------- host and device ------------------------------------------------- */

/* Translates the parameters that do not depend on the matrix */
static void NusGetParams(const NusSellParams *from, const MatShadowCSR *csr, NusParams *to)
{
  static const NusSegmentation segmentation[] = {NUS_NONUNIFORM, NUS_UNIFORM, NUS_NONE};

  to->segmentation = segmentation[from->segmentation];
  to->rows         = from->rows == MAT_NUSSELL_ROWS_JDS ? NUS_JDS : NUS_SELL;
  to->c            = (int)from->c;
  to->sigma        = (int)from->sigma;
  for (int k = 0; k < 2; k++) {
    to->width[k] = from->width[k];
    to->count[k] = from->count[k] < 0 ? (from->tune == MAT_NUSSELL_TUNE_OFF ? 0 : -1) : PetscMin(from->count[k], csr->A.n);
  }
  to->values = csr->values;
}

/* The figures of segments; the figures of host or device follow */
enum {
  NUS_FIGURE_S1,
  NUS_FIGURE_K1,
  NUS_FIGURE_S2,
  NUS_FIGURE_K2,
  NUS_FIGURE_GATHERED,
  NUS_FIGURES
};

#define NUS_SEGMENT_FIGURES \
  {"s1", MAT_SHADOW_OF_BLOCK}, {"k1", MAT_SHADOW_OF_BLOCK}, {"s2", MAT_SHADOW_OF_BLOCK}, {"k2", MAT_SHADOW_OF_BLOCK}, \
  { \
    "gathered", MAT_SHADOW_OF_BLOCK \
  }

static void NusDescribeSegments(const NusParams *p, int64_t gathered, double figure[])
{
  figure[NUS_FIGURE_S1]       = (double)p->width[0];
  figure[NUS_FIGURE_K1]       = (double)p->count[0];
  figure[NUS_FIGURE_S2]       = (double)p->width[1];
  figure[NUS_FIGURE_K2]       = (double)p->count[1];
  figure[NUS_FIGURE_GATHERED] = (double)gathered;
}

static PetscErrorCode NusViewSegments(const double figure[], const char where[], PetscViewer viewer)
{
  PetscFunctionBegin;
  if (figure[NUS_FIGURE_K1] + figure[NUS_FIGURE_K2] > 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  %.0f segments of %.0f columns, %.0f of %.0f; %.0f columns in another order%s\n", figure[NUS_FIGURE_K1], figure[NUS_FIGURE_S1], figure[NUS_FIGURE_K2], figure[NUS_FIGURE_S2], figure[NUS_FIGURE_GATHERED], where));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- host ------------------------------------------------- */

MAT_SHADOW_PARAMS(NusParams, NusCandidate)

static void NusCandidateCreate(const SysCSR *A, const NusParams *p, NusBytes *bytes, MatShadowCandidate *c)
{
  NusParams known = *p;

  memset(c, 0, sizeof(*c));
  c->format = &MatShadowFormatNUSSELL;
  NusCandidateSet(c, p);
  if (p->c) (void)snprintf(c->name, sizeof(c->name), "nussell, C = %d", p->c);
  else (void)snprintf(c->name, sizeof(c->name), "nussell, K%d = %d", p->count[0] < 0 ? 2 : 1, (int)PetscMax(p->count[0], p->count[1]));
  if (!known.c) known.c = 8;
  if (NusHostModel(A, &known, bytes, &c->bytes) != SYS_SUCCESS) c->bytes = 0;
}

static const char NusTooLarge[] = "the matrix has too many segments, or is too large for 32-bit positions";

/* Lists the parameters from the model or from timing, and alternatives */
static int RankHost_NUSSELL(const MatShadowCSR *csr, const void *params, MatShadowTune tune, MatShadowCandidate list[], const char **reason)
{
  const NusSellParams *wanted = (const NusSellParams *)params;
  NusParams            asked, p, other[NUS_ALTERNATIVES];
  NusCache             cache;
  NusBytes             bytes = {{0}};
  SysStatus            status;
  int                  tried = 0, n = 0;

  NusGetParams(wanted, csr, &asked);
  p = asked;
  NusHostCache(&cache);
  status = wanted->tune == MAT_NUSSELL_TUNE_EXHAUSTIVE && csr->A.a ? NusHostTune(&csr->A, &cache, csr->threads, NusHostKernels(), &p, &tried) : NusHostPlan(&csr->A, &cache, csr->threads, &p, &bytes);
  if (status != SYS_SUCCESS) {
    *reason = status == SYS_OUT_OF_MEMORY ? "not enough memory for the format" : NusTooLarge;
    return 0;
  }
  NusCandidateCreate(&csr->A, &p, &bytes, &list[0]);
  list[0].tried = tried;
  if (tune == MAT_SHADOW_TUNE_ONLINE) n = NusHostAlternatives(&csr->A, &cache, &asked, &p, other);
  for (int k = 0; k < n; k++) NusCandidateCreate(&csr->A, &other[k], &bytes, &list[k + 1]);
  return n + 1;
}

static SysStatus LayoutHost_NUSSELL(const MatShadowCSR *csr, MatShadowCandidate *c, const MatShadowCandidate *best, double most, const char **reason, void **data)
{
  const NusParams known = NusCandidateGet(best);
  NusParams       p     = NusCandidateGet(c);
  NusHost        *host;
  SysStatus       status;

  if (!p.c) p.c = known.c;
  for (int k = 0; k < 2; k++) {
    if (p.count[k] < 0) p.count[k] = known.count[k];
  }
  p.sigma = NusScopeRows(p.sigma, p.c);
  if (p.count[0] + p.count[1]) (void)snprintf(c->name, sizeof(c->name), "nussell, C = %d, K1 = %d, K2 = %d", p.c, (int)p.count[0], (int)p.count[1]);
  NusCandidateSet(c, &p);
  status = NusHostCreate(&csr->A, &p, csr->threads, csr->workers, NusHostKernels(), most, &c->bytes, &host);
  if (p.rows == NUS_SHARED && csr->A.a && (status == SYS_TOO_MANY_BYTES || (!status && host->values.stored != SYS_STORAGE_SHARED))) { /* the plan sampled rows; others differ */
    NusHostDestroy(host);
    host   = NULL;
    status = NusHostPlanPlain(&csr->A, &p);
    if (!p.count[0] && !p.count[1]) (void)snprintf(c->name, sizeof(c->name), "nussell, C = %d", p.c);
    NusCandidateSet(c, &p);
    if (!status) status = NusHostCreate(&csr->A, &p, csr->threads, csr->workers, NusHostKernels(), most, &c->bytes, &host);
  }
  *data = host;
  if (status == SYS_TOO_LARGE) *reason = NusTooLarge;
  return status;
}

static const MatShadowFigure NusHostFigures[] = {
  NUS_SEGMENT_FIGURES,       {"block_size",      MAT_SHADOW_OF_BLOCK  },
         {"chunk_size",      MAT_SHADOW_OF_BLOCK  },
         {"sort_scope",      MAT_SHADOW_OF_BLOCK  },
         {"tiles",           MAT_SHADOW_OF_PROCESS},
  MAT_SHADOW_VALUES_FIGURES, {"chunks_distinct", MAT_SHADOW_OF_BLOCK  },
         {NULL,              MAT_SHADOW_OF_BLOCK  }
};

static void DescribeHost_NUSSELL(const void *data, MatShadowInfo *info, double figure[])
{
  const NusHost *host = (const NusHost *)data;
  double        *side = figure + NUS_FIGURES;

  info->format        = "nussell";
  info->kernel        = host->kernels->name;
  info->stored_values = (PetscLogDouble)host->nslot;
  info->bytes_stored  = NusHostBytes(host);
  side[0]             = 1;
  side[1]             = host->params.c;
  side[2]             = host->params.sigma;
  side[3]             = (double)host->ntile;
  MatShadowValuesDescribe(host->values.stored, host->values.table.n, host->values.exact, side + 4);
  side[4 + MAT_SHADOW_VALUES_FIGURES_N] = host->values.stored == SYS_STORAGE_SHARED ? (double)host->nblock : 0;
  NusDescribeSegments(&host->params, host->ngathered, figure);
}

static PetscErrorCode ViewHost_NUSSELL(const double figure[], const char where[], PetscViewer viewer)
{
  const double *side = figure + NUS_FIGURES;

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  blocks of %.0f columns, chunks of %.0f rows, scopes of %.0f rows, %.0f tiles%s\n", side[0], side[1], side[2], side[3], where));
  PetscCall(MatShadowValuesView(side + 4, where, viewer));
  if (side[4 + MAT_SHADOW_VALUES_FIGURES_N] > 0) PetscCall(PetscViewerASCIIPrintf(viewer, "  values: shared by equal chunks, %.0f distinct%s\n", side[4 + MAT_SHADOW_VALUES_FIGURES_N], where));
  PetscCall(NusViewSegments(figure, where, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- device ------------------------------------------------- */

#if defined(SYS_HAVE_DEVICE)
typedef struct {
  NusParams     params;
  NusDeviceTune tune;
} NusDeviceChoice;
MAT_SHADOW_PARAMS(NusDeviceChoice, NusDeviceCandidate)

/* Returns why the device cannot use some parameter, or NULL. Products then stay on the AIJ. */
static const char *NusDeviceLacks(const NusSellParams *p)
{
  if (p->c && p->c != NUS_DEVICE_C) return "chunks have 32 rows on the GPU; use -mat_nussell_c 32 or 0, or -mat_shadow_device cpu";
  if (p->sigma && p->sigma != NUS_DEVICE_SIGMA) return "rows are sorted among 32,768 on the GPU; use -mat_nussell_sigma 32768 or 0, or -mat_shadow_device cpu";
  if (p->rows == MAT_NUSSELL_ROWS_JDS) return "jagged diagonals do not run on the GPU; use -mat_nussell_rows sell, or -mat_shadow_device cpu";
  return NULL;
}

/* Lists one candidate: layout() chooses the parameters */
static int RankDevice_NUSSELL(const MatShadowCSR *csr, const void *params, MatShadowTune tune, MatShadowCandidate list[], const char **reason)
{
  const NusSellParams     *wanted = (const NusSellParams *)params;
  const MatShadowCandidate c      = {.format = &MatShadowFormatNUSSELL, .name = MATNUSSELL};
  NusDeviceChoice          choice;

  *reason = NusDeviceLacks(wanted);
  if (params == MatShadowFormatNUSSELL.open) { /* MATAUTOSPARSE already tries this layout as AMB's */
    int cuts = NusDeviceMayCut(csr->A.n);

    if (cuts && tune != MAT_SHADOW_TUNE_MEASURE && NusDeviceCuts(&csr->A, csr->stream, &cuts) != SYS_SUCCESS) cuts = 0;
    if (!cuts) *reason = "segments bring no gain";
  }
  if (*reason) return 0;
  NusGetParams(wanted, csr, &choice.params);
  choice.tune = wanted->tune == MAT_NUSSELL_TUNE_EXHAUSTIVE ? NUS_DEVICE_EXHAUSTIVE : NUS_DEVICE_MODEL;
  list[0]     = c;
  NusDeviceCandidateSet(&list[0], &choice);
  return 1;
}

static SysStatus LayoutDevice_NUSSELL(const MatShadowCSR *csr, MatShadowCandidate *c, const MatShadowCandidate *best, double most, const char **reason, void **data)
{
  const NusDeviceChoice choice = NusDeviceCandidateGet(c);
  const NusDeviceTune   tune   = choice.tune != NUS_DEVICE_MODEL ? choice.tune : csr->measure ? NUS_DEVICE_MEASURE : csr->live ? NUS_DEVICE_LIVE : NUS_DEVICE_MODEL;
  NusDevice            *device;
  NusDeviceInfo         about;
  SysStatus             status = NusDeviceCreate(&csr->A, &choice.params, tune, csr->stream, &device, &about);

  if (status == SYS_TOO_LARGE) *reason = "the matrix has more than 255 segments, or is too large for 32-bit positions on the GPU";
  if (!status) {
    c->tried = (int)about.layout.tried;
    if (about.segments == 1) status = AmbDeviceJudge(&about.layout, most, c); /* bytes do not show the gain of segments */
    else if (about.layout.bytes_stored >= SysCSRBytes(&csr->A)) *reason = "segments keep x in the cache";
  }
  if (!status) *data = device;
  else NusDeviceDestroy(device);
  return status;
}

static const MatShadowFigure NusDeviceFigures[] = {
  NUS_SEGMENT_FIGURES, AMB_DEVICE_FIGURES, {NULL, MAT_SHADOW_OF_BLOCK}
};
_Static_assert(PETSC_STATIC_ARRAY_LENGTH(NusDeviceFigures) <= MAT_SHADOW_FIGURES + 1, "raise MAT_SHADOW_FIGURES");

static void DescribeDevice_NUSSELL(const void *data, MatShadowInfo *info, double figure[])
{
  NusDeviceInfo about;

  NusDeviceGetInfo((const NusDevice *)data, &about);
  AmbDeviceDescribe(&about.layout, info, figure + NUS_FIGURES);
  NusDescribeSegments(&about.params, about.gathered, figure);
  info->format = "nussell";
}

static PetscErrorCode ViewDevice_NUSSELL(const double figure[], const char where[], PetscViewer viewer)
{
  PetscFunctionBegin;
  PetscCall(AmbDeviceView(figure + NUS_FIGURES, where, viewer));
  PetscCall(NusViewSegments(figure, where, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* ------------------------------------------------- parameters ------------------------------------------------- */

/* The check that options and setters share */
static PetscErrorCode NusCheckParams(MPI_Comm comm, const NusSellParams *p)
{
  PetscFunctionBegin;
  PetscCheck(p->c >= 0 && p->c <= NUS_MAX_C && p->c % 8 == 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "A chunk cannot have %" PetscInt_FMT " rows; use 8, 16, 24 or 32, or 0 for an automatic choice", p->c);
  PetscCheck(p->sigma >= 0 && p->sigma <= NUS_MAX_SCOPE, comm, PETSC_ERR_ARG_OUTOFRANGE, "Rows cannot be sorted among %" PetscInt_FMT "; use a number between 1 and %d, or 0 for an automatic choice", p->sigma, NUS_MAX_SCOPE);
  for (int k = 0; k < 2; k++) {
    PetscCheck(p->width[k] >= 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "Segments of %" PetscInt_FMT " columns: S%d must not be negative; use 0 for an automatic choice", p->width[k], k + 1);
    PetscCheck(p->count[k] >= PETSC_DECIDE, comm, PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " segments: K%d must not be less than %d, which stands for an automatic choice", p->count[k], k + 1, PETSC_DECIDE);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces MAT_NUSSELL_TUNE_ONLINE by the model and online tuning of the shadow */
static void NusTuneOnline(NusSellParams *q, MatShadowTune *tune)
{
  if (q->tune != MAT_NUSSELL_TUNE_ONLINE) return;
  q->tune = MAT_NUSSELL_TUNE_MODEL;
  *tune   = MAT_SHADOW_TUNE_ONLINE;
}

static PetscErrorCode NusSetFromOptions(void *params, MatShadowTune *tune, PetscAMBOptionItems PetscOptionsObject)
{
  NusSellParams *p = (NusSellParams *)params, q = *p;

  PetscFunctionBegin;
  q.count[0] = q.count[1] = PETSC_DECIDE;
  PetscCall(PetscOptionsEnum("-mat_nussell_segmentation", "How columns are cut into segments", "MatNUSSELLSetSegmentation", MatNUSSELLSegmentations, (PetscEnum)q.segmentation, (PetscEnum *)&q.segmentation, NULL));
  PetscCall(PetscOptionsEnum("-mat_nussell_rows", "How a segment is stored", "MatNUSSELLSetRows", MatNUSSELLRowses, (PetscEnum)q.rows, (PetscEnum *)&q.rows, NULL));
  PetscCall(PetscOptionsEnum("-mat_nussell_tune", "How open parameters are chosen; exhaustive is for comparison", "MatNUSSELLSetTune", MatNUSSELLTunes, (PetscEnum)q.tune, (PetscEnum *)&q.tune, NULL));
  PetscCall(PetscOptionsInt("-mat_nussell_c", "Rows of a chunk, 8, 16, 24 or 32; 0: chosen", "MatNUSSELLSetChunk", q.c, &q.c, NULL));
  PetscCall(PetscOptionsInt("-mat_nussell_sigma", "Rows among which lengths are sorted; 0: chosen", "MatNUSSELLSetChunk", q.sigma, &q.sigma, NULL));
  PetscCall(PetscOptionsInt("-mat_nussell_s1", "Columns of a segment for the first-level cache; 0: chosen", "MatNUSSELLSetSegments", q.width[0], &q.width[0], NULL));
  PetscCall(PetscOptionsInt("-mat_nussell_k1", "Number of these segments; -1: chosen", "MatNUSSELLSetSegments", q.count[0], &q.count[0], NULL));
  PetscCall(PetscOptionsInt("-mat_nussell_s2", "Columns of a segment for the second-level cache, or of equal segments; 0: chosen", "MatNUSSELLSetSegments", q.width[1], &q.width[1], NULL));
  PetscCall(PetscOptionsInt("-mat_nussell_k2", "Number of these segments; -1: chosen", "MatNUSSELLSetSegments", q.count[1], &q.count[1], NULL));
  PetscCall(NusCheckParams(PETSC_COMM_SELF, &q));
  NusTuneOnline(&q, tune);
  *p = q;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define NUS_SETTER(Name, assignment, ...) MAT_SHADOW_SETTER(MatNUSSELLSet##Name##_NUSSELL, NusSellParams, NusCheckParams, assignment, __VA_ARGS__)
NUS_SETTER(Segmentation, q.segmentation = segmentation, MatNUSSELLSegmentation segmentation)
NUS_SETTER(Rows, q.rows = rows, MatNUSSELLRows rows)
NUS_SETTER(Tune, (q.tune = tune, NusTuneOnline(&q, &shadow_tune)), MatNUSSELLTune tune)
NUS_SETTER(Chunk, (q.c = c, q.sigma = sigma), PetscInt c, PetscInt sigma)
NUS_SETTER(Segments, (q.width[0] = s1, q.count[0] = k1, q.width[1] = s2, q.count[1] = k2), PetscInt s1, PetscInt k1, PetscInt s2, PetscInt k2)

/*@
  MatNUSSELLSetSegmentation - sets how the columns of a `MATNUSSELL` matrix are cut into segments

  Logically Collective

  Input Parameters:
+ A            - the matrix; nothing happens if it is not of type `MATNUSSELL`
- segmentation - `MAT_NUSSELL_SEGMENTATION_NONUNIFORM` (the default), `MAT_NUSSELL_SEGMENTATION_UNIFORM` or `MAT_NUSSELL_SEGMENTATION_NONE`

  Options Database Key:
. -mat_nussell_segmentation <nonuniform,uniform,none> - the same for matrices created later

  Level: intermediate

  Errors:
. `PETSC_ERR_ARG_OUTOFRANGE` - `segmentation` is none of these

.seealso: `MatShadow`, `MATNUSSELL`, `MatNUSSELLSegmentation`, `MatNUSSELLSetSegments()`
@*/
PetscErrorCode MatNUSSELLSetSegmentation(Mat A, MatNUSSELLSegmentation segmentation)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscCheck(segmentation >= MAT_NUSSELL_SEGMENTATION_NONUNIFORM && segmentation <= MAT_NUSSELL_SEGMENTATION_NONE, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE, "No such segmentation: %d; use MAT_NUSSELL_SEGMENTATION_NONUNIFORM, UNIFORM or NONE", (int)segmentation);
  PetscTryMethod(A, "MatNUSSELLSetSegmentation_C", (Mat, MatNUSSELLSegmentation), (A, segmentation));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatNUSSELLSetRows - sets how a segment of a `MATNUSSELL` matrix is stored

  Logically Collective

  Input Parameters:
+ A    - the matrix; nothing happens if it is not of type `MATNUSSELL`
- rows - `MAT_NUSSELL_ROWS_SELL` (the default) or `MAT_NUSSELL_ROWS_JDS`

  Options Database Key:
. -mat_nussell_rows <sell,jds> - the same for matrices created later

  Level: advanced

  Notes:
  There are no jagged diagonals on a GPU: with `MAT_NUSSELL_ROWS_JDS` products stay on the AIJ there.

  Errors:
. `PETSC_ERR_ARG_OUTOFRANGE` - `rows` is none of these

.seealso: `MatShadow`, `MATNUSSELL`, `MatNUSSELLRows`
@*/
PetscErrorCode MatNUSSELLSetRows(Mat A, MatNUSSELLRows rows)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscCheck(rows == MAT_NUSSELL_ROWS_SELL || rows == MAT_NUSSELL_ROWS_JDS, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE, "No such rows: %d; use MAT_NUSSELL_ROWS_SELL or MAT_NUSSELL_ROWS_JDS", (int)rows);
  PetscTryMethod(A, "MatNUSSELLSetRows_C", (Mat, MatNUSSELLRows), (A, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatNUSSELLSetTune - sets how a `MATNUSSELL` matrix chooses its open parameters

  Logically Collective

  Input Parameters:
+ A    - the matrix; nothing happens if it is not of type `MATNUSSELL`
- tune - `MAT_NUSSELL_TUNE_MODEL` (the default), `MAT_NUSSELL_TUNE_ONLINE`, `MAT_NUSSELL_TUNE_EXHAUSTIVE` or `MAT_NUSSELL_TUNE_OFF`

  Options Database Key:
. -mat_nussell_tune <model,online,exhaustive,off> - the same for matrices created later

  Level: intermediate

  Notes:
  `MAT_NUSSELL_TUNE_ONLINE` means `MAT_NUSSELL_TUNE_MODEL` together with `MatShadowSetTune()` and `MAT_SHADOW_TUNE_ONLINE`. To end online tuning, call
  `MatShadowSetTune()` again.

  `MatShadowSetTune()` also sets how to choose between the format and the AIJ.

  Errors:
. `PETSC_ERR_ARG_OUTOFRANGE` - `tune` is none of these

.seealso: `MatShadow`, `MATNUSSELL`, `MatNUSSELLTune`, `MatShadowSetTune()`
@*/
PetscErrorCode MatNUSSELLSetTune(Mat A, MatNUSSELLTune tune)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscCheck(tune >= MAT_NUSSELL_TUNE_MODEL && tune <= MAT_NUSSELL_TUNE_OFF, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE, "No such tuning: %d; use MAT_NUSSELL_TUNE_MODEL, ONLINE, EXHAUSTIVE or OFF", (int)tune);
  PetscTryMethod(A, "MatNUSSELLSetTune_C", (Mat, MatNUSSELLTune), (A, tune));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatNUSSELLSetChunk - sets C and sigma of a `MATNUSSELL` matrix

  Logically Collective

  Input Parameters:
+ A     - the matrix; nothing happens if it is not of type `MATNUSSELL`
. c     - rows that advance together, 8, 16, 24 or 32; 0 (the default) for an automatic choice
- sigma - rows among which lengths are sorted, at most 65,536, rounded up to a multiple of `c`; 0 (the default) for an automatic choice

  Options Database Keys:
+ -mat_nussell_c <c>         - the same for matrices created later
- -mat_nussell_sigma <sigma> - the same for matrices created later

  Level: intermediate

  Notes:
  On a GPU chunks have 32 rows, and rows are sorted among 32,768: with other numbers than these and 0 products stay on the AIJ there.

  Errors:
. `PETSC_ERR_ARG_OUTOFRANGE` - `c` or `sigma` is none of these

  Example:
.vb
  PetscCall(MatNUSSELLSetChunk(A, 8, 1024)); // SELL-8-1024
.ve

.seealso: `MatShadow`, `MATNUSSELL`, `MatNUSSELLSetSegments()`
@*/
PetscErrorCode MatNUSSELLSetChunk(Mat A, PetscInt c, PetscInt sigma)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscTryMethod(A, "MatNUSSELLSetChunk_C", (Mat, PetscInt, PetscInt), (A, c, sigma));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatNUSSELLSetSegments - sets the widths and numbers of the segments of a `MATNUSSELL` matrix

  Logically Collective

  Input Parameters:
+ A  - the matrix; nothing happens if it is not of type `MATNUSSELL`
. s1 - columns of a segment whose part of a vector fits the first-level cache; 0 (the default) for an automatic choice
. k1 - the number of segments of `s1` columns, which get the columns with the most nonzeros; `PETSC_DECIDE` (the default) for an automatic choice
. s2 - columns of a segment whose part of a vector fits the second-level cache; 0 (the default) for an automatic choice
- k2 - the number of segments of `s2` columns, which get the columns with the next most nonzeros; `PETSC_DECIDE` (the default) for an automatic choice

  Options Database Keys:
+ -mat_nussell_s1 <s1> - the same for matrices created later
. -mat_nussell_k1 <k1> - the same for matrices created later
. -mat_nussell_s2 <s2> - the same for matrices created later
- -mat_nussell_k2 <k2> - the same for matrices created later

  Level: intermediate

  Notes:
  With `MAT_NUSSELL_SEGMENTATION_UNIFORM` all segments have `s2` columns, in the order of the matrix, and the other parameters are ignored. With
  `MAT_NUSSELL_SEGMENTATION_NONE` all four are ignored.

  Errors:
. `PETSC_ERR_ARG_OUTOFRANGE` - `s1` or `s2` is negative, or `k1` or `k2` is less than `PETSC_DECIDE`

  Example:
.vb
  PetscCall(MatNUSSELLSetSegmentation(A, MAT_NUSSELL_SEGMENTATION_NONUNIFORM));
  PetscCall(MatNUSSELLSetSegments(A, 4096, 1, 131072, PETSC_DECIDE)); // one segment of 4,096 columns, some of 131,072
.ve

.seealso: `MatShadow`, `MATNUSSELL`, `MatNUSSELLSetSegmentation()`, `MatNUSSELLSetChunk()`
@*/
PetscErrorCode MatNUSSELLSetSegments(Mat A, PetscInt s1, PetscInt k1, PetscInt s2, PetscInt k2)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscTryMethod(A, "MatNUSSELLSetSegments_C", (Mat, PetscInt, PetscInt, PetscInt, PetscInt), (A, s1, k1, s2, k2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NusCompose(Mat A, PetscBool add)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatNUSSELLSetSegmentation_C", add ? MatNUSSELLSetSegmentation_NUSSELL : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatNUSSELLSetRows_C", add ? MatNUSSELLSetRows_NUSSELL : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatNUSSELLSetTune_C", add ? MatNUSSELLSetTune_NUSSELL : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatNUSSELLSetChunk_C", add ? MatNUSSELLSetChunk_NUSSELL : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatNUSSELLSetSegments_C", add ? MatNUSSELLSetSegments_NUSSELL : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const NusSellParams NusOpen = {
  .count = {PETSC_DECIDE, PETSC_DECIDE}
};
static const char *const NusOptions[] = {"mat_nussell_segmentation", "mat_nussell_rows", "mat_nussell_tune", "mat_nussell_c", "mat_nussell_sigma", "mat_nussell_s1", "mat_nussell_k1", "mat_nussell_s2", "mat_nussell_k2", NULL};

/*MC
   MATNUSSELL - `MATNUSSELL` = "nussell" - sparse matrices whose products with vectors run on non-uniformly segmented SELL-C-sigma

   Columns with many nonzeros form segments that fit the caches, if the model of the caches predicts a gain: for graphs whose vectors are larger than the
   second-level cache. Other matrices are stored as SELL-C-sigma. `MatShadow` describes the common behavior of all formats of petsc-amb.

   Options Database Keys:
+  -mat_type nussell                                   - sets the type, in `MatSetFromOptions()`
.  -mat_shadow_device <auto,cpu,gpu>                   - where the matrix is stored
.  -mat_nussell_segmentation <nonuniform,uniform,none> - how columns are cut into segments
.  -mat_nussell_rows <sell,jds>                        - how a segment is stored
.  -mat_nussell_tune <model,online,exhaustive,off>     - how open parameters are chosen; exhaustive is for comparison
.  -mat_nussell_c <c>                                  - rows of a chunk
.  -mat_nussell_sigma <sigma>                          - rows among which lengths are sorted
.  -mat_nussell_s1 <s1>                                - columns of a segment for the first-level cache
.  -mat_nussell_k1 <k1>                                - number of these segments
.  -mat_nussell_s2 <s2>                                - columns of a segment for the second-level cache
-  -mat_nussell_k2 <k2>                                - number of these segments

   Level: beginner

   Errors:
.  `PETSC_ERR_ARG_OUTOFRANGE` - an option has a number that its setter refuses; further errors: `MatShadow`

   Example:
.vb
   bin/solve -f matrix.mtx -mat_type nussell -mat_view ::ascii_info
.ve

.seealso: `MatShadow`, `MatNUSSELLSetSegmentation()`, `MatNUSSELLSetRows()`, `MatNUSSELLSetTune()`, `MatNUSSELLSetChunk()`, `MatNUSSELLSetSegments()`, `MATAMB`, `MATAUTOSPARSE`, `MATAIJ`
M*/
MAT_SHADOW_CONSTRUCTORS(NUSSELL)

const MatShadowFormat MatShadowFormatNUSSELL = {
  .name               = MATNUSSELL,
  .seqtype            = MATSEQAIJNUSSELL,
  .mpitype            = MATMPIAIJNUSSELL,
  .citation           = NusCitation,
  .cited              = &NusCited,
  .params_size        = sizeof(NusSellParams),
  .open               = &NusOpen,
  .host.rank          = RankHost_NUSSELL,
  .host.layout        = LayoutHost_NUSSELL,
  .host.update        = NusHostUpdate,
  .host.mult          = NusHostMult,
  .host.multtranspose = NusHostMultTranspose,
  .host.describe      = DescribeHost_NUSSELL,
  .host.destroy       = NusHostDestroy,
  .host.figures       = NusHostFigures,
  .host.view          = ViewHost_NUSSELL,
#if defined(SYS_HAVE_DEVICE)
  .device.rank          = RankDevice_NUSSELL,
  .device.layout        = LayoutDevice_NUSSELL,
  .device.update        = NusDeviceUpdate,
  .device.mult          = NusDeviceMult,
  .device.multtranspose = NusDeviceMultTranspose,
  .device.describe      = DescribeDevice_NUSSELL,
  .device.destroy       = NusDeviceDestroy,
  .device.figures       = NusDeviceFigures,
  .device.view          = ViewDevice_NUSSELL,
  .device.multdot       = NusDeviceMultDot,
  .device.readsaij      = NusDeviceReadsCSR,
#endif
  .create_seq     = MatCreate_SeqAIJNUSSELL,
  .create_mpi     = MatCreate_MPIAIJNUSSELL,
  .setfromoptions = NusSetFromOptions,
  .compose        = NusCompose,
  .options        = NusOptions,
};
