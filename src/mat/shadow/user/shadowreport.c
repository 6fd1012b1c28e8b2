/* SPDX-License-Identifier: BSD-2-Clause */
/*
   -petscamb_view: a table at the end of a program of petsc-amb's work.

   Each shadow counts its products. The counts are added up when the shadow is destroyed, or at the end of the program.
*/
#include <stdlib.h>
#include <unistd.h>

#include "mat/shadow/core/shadow.h"
#include "mat/shadow/user/shadowoptions.h"

MatShadowCounts MatShadowCounted;
PetscBool       MatShadowReporting = PETSC_FALSE;

#define REPORT_REASONS   8
#define REPORT_GAIN      0.75 /* ratio: assumed time of an untimed product in a format over one on the AIJ, a typical ratio of bytes */
#define REPORT_MODEL     0.9  /* fraction of the seconds below which -petscamb_view advises MAT_SHADOW_TUNE_MODEL */
#define REPORT_LONGEST   96   /* bytes of the longest reason */
#define REPORT_SHORTENED 0.05 /* fraction of threaded loops on fewer threads above which a line on the load appears */
#define REPORT_LOOPS     1000 /* least number of threaded loops for that line: fewer take no time that matters */

/* A format's counts on this process: matrices, those multiplied by a vector, and so on; a block of an MPI matrix counts as a matrix */
typedef struct {
  PetscLogDouble made, used, converted, products[2], timed[2], seconds[2];
} ReportTotals;

/* Why matrices stayed on the AIJ, or why PETSc computed matrix products */
typedef struct {
  PetscLogDouble count, seconds;
  char           text[REPORT_LONGEST];
} ReportReason;

/* Bytes of formats, and of the AIJs beside them: now, and at the formats' maximum */
typedef struct {
  PetscLogDouble aij, format, peak_aij, peak_format;
} ReportBytes;

/* Predicted time of products with MAT_SHADOW_TUNE_MODEL, for matrices with timed products, and their actual time */
typedef struct {
  PetscLogDouble model, taken;
} ReportModel;

static ReportBytes  bytes;
static ReportModel  model;
static ReportTotals totals[MAT_SHADOW_MAX];
static ReportReason reasons[REPORT_REASONS]; /* of matrices on the AIJ */
static ReportReason petsc[REPORT_REASONS];   /* of PETSc's matrix products */
static MatShadow   *first = NULL;            /* in the list of all shadows */
static int          level = 0;               /* nesting depth of matrix products */

/* ------------------------------------------------- counting ------------------------------------------------- */

/* An entry of a list with an empty text is unused */
static PetscErrorCode ReportAddReason(ReportReason list[], const char text[], PetscLogDouble count, PetscLogDouble seconds)
{
  int k = 0;

  PetscFunctionBegin;
  while (k < REPORT_REASONS - 1 && list[k].text[0] && strncmp(list[k].text, text, REPORT_LONGEST - 1)) k++;
  if (!list[k].text[0]) PetscCall(PetscStrncpy(list[k].text, k < REPORT_REASONS - 1 ? text : "other reasons", REPORT_LONGEST));
  list[k].count += count;
  list[k].seconds += seconds;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns why a matrix's products ran on the AIJ */
static const char *ReportReasonOf(const MatShadow *s)
{
  if (s->phase == MAT_SHADOW_DECLINED) return s->info.reason;
  if (s->made[0] < s->patience.convert) return "fewer products than a conversion takes";
  return s->fresh ? "new values before the products repaid a conversion" : "new patterns before the products repaid a conversion";
}

/* Adds the prediction for MAT_SHADOW_TUNE_MODEL, which converts a matrix at its first product and updates new values at once. Unmeasured costs
   come from the tuning policy. */
static void ReportAddModel(const MatShadow *s)
{
  const PetscLogDouble all = (PetscLogDouble)(s->made[0] + s->made[1]), aij = s->timed[0] ? s->seconds[0] / (PetscLogDouble)s->timed[0] : 0;
  PetscLogDouble       format, update, convert;

  if (!s->format->host.layout || s->phase == MAT_SHADOW_DECLINED || s->tune < MAT_SHADOW_TUNE_MEASURE || s->timed[0] != s->made[0] || s->timed[1] != s->made[1] || !s->timed[0] || s->cusparse) return;
  format  = s->timed[1] ? s->seconds[1] / (PetscLogDouble)s->timed[1] : (s->info.bytes_model > 0 ? s->info.bytes_model / s->info.bytes_csr : REPORT_GAIN) * aij;
  convert = s->info.time_convert > 0 ? s->info.time_convert : SYS_TUNE_CONVERT * (1 - SYS_TUNE_PRODUCT) * aij;
  update  = s->info.time_update > 0 ? s->info.time_update : SYS_TUNE_UPDATE * (1 - SYS_TUNE_PRODUCT) * aij;
  model.taken += s->seconds[0] + s->seconds[1] + (s->info.conversions ? s->info.time_convert : 0) + (PetscLogDouble)s->info.updates * s->info.time_update;
  model.model += all * format + convert + (PetscLogDouble)s->fresh * update;
}

static PetscErrorCode ReportAdd(const MatShadow *s)
{
  const MatShadowFormat *const *formats;
  ReportTotals                 *t;
  int                           n, k = 0;

  PetscFunctionBegin;
  if (s->mpi) PetscFunctionReturn(PETSC_SUCCESS);
  n = MatShadowGetFormats(&formats);
  while (k < n && formats[k] != s->format) k++;
  t = &totals[k];
  t->made++;
  for (int side = 0; side < 2; side++) {
    t->products[side] += (PetscLogDouble)s->made[side];
    t->timed[side] += (PetscLogDouble)s->timed[side];
    t->seconds[side] += s->seconds[side];
  }
  if (!s->made[0] && !s->made[1]) PetscFunctionReturn(PETSC_SUCCESS);
  t->used++;
  ReportAddModel(s);
  if (s->phase != MAT_SHADOW_DECLINED && s->made[1]) t->converted++;
  else if (s->format->host.layout) PetscCall(ReportAddReason(reasons, ReportReasonOf(s), 1, 0)); /* MATHASHGEMM has no layout(): its products with vectors always run on the AIJ */
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatShadowReportBegin(MatShadow *s)
{
  PetscFunctionBegin;
  s->next = first;
  if (first) first->previous = s;
  first = s;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets a shadow's bytes */
static void ReportSetBytes(MatShadow *s, PetscLogDouble aij, PetscLogDouble format)
{
  bytes.aij += aij - s->bytes[0];
  bytes.format += format - s->bytes[1];
  s->bytes[0] = aij;
  s->bytes[1] = format;
  if (bytes.format <= bytes.peak_format) return;
  bytes.peak_format = bytes.format;
  bytes.peak_aij    = bytes.aij;
}

/* Called after each transition of a shadow */
PetscErrorCode MatShadowReportMoved(MatShadow *s, MatShadowEvent event)
{
  PetscFunctionBegin;
  if (event == MAT_SHADOW_VALUES && s->served) s->fresh++;
  ReportSetBytes(s, s->data ? s->info.bytes_csr : 0, s->data ? s->info.bytes_stored + s->info.bytes_extra : 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatShadowReportEnd(MatShadow *s)
{
  PetscFunctionBegin;
  PetscCall(ReportAdd(s));
  ReportSetBytes(s, 0, 0);
  if (s->next) s->next->previous = s->previous;
  if (s->previous) s->previous->next = s->next;
  else if (first == s) first = s->next;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns PETSC_TRUE inside a phase of a matrix product */
PetscBool MatShadowReportInProduct(void)
{
  return (PetscBool)(level > 0);
}

/* Begins a phase of a matrix product, by hashgemm or PETSc; collective on C. One of the next two functions ends it. Nested phases are part of the
   outer one. */
PetscErrorCode MatShadowReportProductBegin(PetscLogDouble *since)
{
  PetscFunctionBegin;
  PetscCall(PetscTime(since));
  level++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ends a phase of hashgemm. The first process counts the product. */
PetscErrorCode MatShadowReportProductEnd(Mat C, PetscLogDouble since, MatShadowProductPhase phase)
{
  PetscLogDouble now;
  PetscMPIInt    rank;

  PetscFunctionBegin;
  PetscCall(PetscTime(&now));
  if (--level) PetscFunctionReturn(PETSC_SUCCESS);
  MatShadowCounted.seconds += now - since;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)C), &rank));
  if (!rank && phase == MAT_SHADOW_PRODUCT_CREATED) MatShadowCounted.hashgemm++;
  if (!rank && phase == MAT_SHADOW_PRODUCT_RENEWED) MatShadowCounted.renewed++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ends a phase of PETSc, with its reason */
PetscErrorCode MatShadowReportProductByPETSc(Mat C, const char reason[], PetscLogDouble since, MatShadowProductPhase phase)
{
  PetscLogDouble now, made;
  PetscMPIInt    rank;

  PetscFunctionBegin;
  PetscCall(PetscTime(&now));
  if (--level) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)C), &rank));
  made = !rank && phase == MAT_SHADOW_PRODUCT_CREATED ? 1 : 0;
  MatShadowCounted.petsc += made;
  PetscCall(ReportAddReason(petsc, reason, made, now - since));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- report ------------------------------------------------- */

PetscErrorCode MatShadowReportRegister(void)
{
  PetscFunctionBegin;
  MatShadowReporting = PETSC_FALSE;
  level              = 0;
  first              = NULL;
  PetscCall(PetscArrayzero(totals, MAT_SHADOW_MAX));
  PetscCall(PetscArrayzero(reasons, REPORT_REASONS));
  PetscCall(PetscArrayzero(petsc, REPORT_REASONS));
  PetscCall(PetscMemzero(&MatShadowCounted, sizeof(MatShadowCounted)));
  PetscCall(PetscMemzero(&bytes, sizeof(bytes)));
  PetscCall(PetscMemzero(&model, sizeof(model)));
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "petsc-amb, its report", "Mat");
  PetscCall(PetscOptionsBool("-petscamb_view", "Print at the end which matrices were converted, their products, and why others were not converted", "PetscAMBInitializePackage", MatShadowReporting, &MatShadowReporting, NULL));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called when a matrix is created, and at the end */
PetscErrorCode MatShadowReportRead(void)
{
  PetscFunctionBegin;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-petscamb_view", &MatShadowReporting, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sums the counts of all processes on the first */
static PetscErrorCode ReportSum(PetscLogDouble counts[], size_t bytes, PetscMPIInt rank)
{
  const PetscMPIInt n = (PetscMPIInt)(bytes / sizeof(*counts));

  PetscFunctionBegin;
  PetscCallMPI(MPI_Reduce(rank ? (void *)counts : MPI_IN_PLACE, rank ? NULL : (void *)counts, n, MPI_DOUBLE, MPI_SUM, 0, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gathers the reasons of all processes on the first */
static PetscErrorCode ReportGatherReasons(ReportReason list[], PetscMPIInt rank, PetscMPIInt size)
{
  const PetscMPIInt bytes = REPORT_REASONS * (PetscMPIInt)sizeof(*list);
  ReportReason     *all   = NULL;

  PetscFunctionBegin;
  if (!rank) PetscCall(PetscMalloc1((size_t)size * REPORT_REASONS, &all));
  PetscCallMPI(MPI_Gather(list, bytes, MPI_BYTE, all, bytes, MPI_BYTE, 0, PETSC_COMM_WORLD));
  for (size_t k = REPORT_REASONS; !rank && k < (size_t)size * REPORT_REASONS; k++) {
    if (all[k].text[0]) PetscCall(ReportAddReason(list, all[k].text, all[k].count, all[k].seconds));
  }
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints whether matrices stay on the AIJ because of times on a busy machine */
static PetscErrorCode ReportLoad(void)
{
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  double     load;
  PetscBool  measured = PETSC_FALSE;

  PetscFunctionBegin;
  for (int k = 0; !measured && k < REPORT_REASONS && reasons[k].text[0]; k++) PetscCall(PetscStrbeginswith(reasons[k].text, "measured", &measured));
  if (measured && getloadavg(&load, 1) == 1 && load > (double)processors)
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "  the load of the last minute was %.1f on %ld processors: on an idle machine, or with fewer threads (OMP_NUM_THREADS), the format may be faster\n", load, processors));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints advice for a program without matrices of petsc-amb */
static PetscErrorCode ReportNothing(const char others[])
{
  PetscFunctionBegin;
  if (MatShadowForAIJ) PetscCall(PetscPrintf(PETSC_COMM_SELF, "  no matrix was of a type of petsc-amb: -petscamb_for_aij is in force, but the program has assembled no aij since\n"));
  else if (others[0]) PetscCall(PetscPrintf(PETSC_COMM_SELF, "  no matrix was of a type of petsc-amb\n"));
  else PetscCall(PetscPrintf(PETSC_COMM_SELF, "  no matrix was of a type of petsc-amb: give -mat_type amb, -dm_mat_type amb, or -petscamb_for_aij amb if the program fixes aij\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets text to the microseconds of a timed product, or to a hyphen */
static PetscErrorCode ReportEach(const ReportTotals *t, int side, char text[], size_t size)
{
  PetscFunctionBegin;
  if (t->timed[side] > 0) PetscCall(PetscSNPrintf(text, size, "%.3g", 1e6 * t->seconds[side] / t->timed[side]));
  else PetscCall(PetscStrncpy(text, "-", size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReportReasons(const char start[], const ReportReason list[], PetscBool seconds)
{
  PetscFunctionBegin;
  for (int k = 0; k < REPORT_REASONS && list[k].text[0]; k++) {
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s%.0f ", k ? ", " : start, list[k].count));
    if (seconds) PetscCall(PetscPrintf(PETSC_COMM_SELF, "in %.3g s ", list[k].seconds));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "(%s)", list[k].text));
  }
  if (list[0].text[0]) PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReportPrint(PetscMPIInt size, const char others[])
{
  const MatShadowFormat *const *formats;
  PetscLogDouble                untimed = 0;
  int                           n, rows = 0;

  PetscFunctionBegin;
  n = MatShadowGetFormats(&formats);
  for (int k = 0; k < n; k++) rows += totals[k].made > 0;
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "petsc-amb on %d process%s%s\n", size, size > 1 ? "es, sums over them" : "", rows ? "; matrices that were multiplied by vectors, blocks of MPI matrices by themselves" : ""));
  if (rows) PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %-10s %8s %9s | products %9s %9s | seconds %9s %9s | us each %9s %9s\n", "type", "matrices", "converted", "on it", "on AIJ", "on it", "on AIJ", "on it", "on AIJ"));
  else PetscCall(ReportNothing(others));
  for (int k = 0; k < n; k++) {
    const ReportTotals *t = &totals[k];
    char                each[2][16];

    for (int side = 0; side < 2; side++) {
      untimed += t->products[side] - t->timed[side];
      PetscCall(ReportEach(t, side, each[side], sizeof(each[side])));
    }
    if (t->made > 0)
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %-10s %8.0f %9.0f |          %9.0f %9.0f |         %9.3g %9.3g |         %9s %9s\n", formats[k]->name, t->used, t->converted, t->products[1], t->products[0], t->seconds[1], t->seconds[0], each[1], each[0]));
  }
  if (rows) PetscCall(PetscPrintf(PETSC_COMM_SELF, "  conversions %.3g s, new values %.3g s\n", MatShadowCounted.convert, MatShadowCounted.update));
  if (untimed > 0) PetscCall(PetscPrintf(PETSC_COMM_SELF, "  without the seconds of %.0f products that were not timed\n", untimed));
  if (bytes.peak_format > 0) PetscCall(PetscPrintf(PETSC_COMM_SELF, "  memory: formats had at most %.3g MB beside %.3g MB of their AIJs, at the end %.3g MB\n", 1e-6 * bytes.peak_format, 1e-6 * bytes.peak_aij, 1e-6 * bytes.format));
  if (MatShadowCounted.hashgemm + MatShadowCounted.petsc > 0)
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "  products of matrices: %.0f by hashgemm, %.0f times with new values, %.3g s; %.0f by PETSc\n", MatShadowCounted.hashgemm, MatShadowCounted.renewed, MatShadowCounted.seconds, MatShadowCounted.petsc));
  if (MatShadowCounted.blocks > 0) PetscCall(PetscPrintf(PETSC_COMM_SELF, "  products of baij and sbaij with vectors: %.0f by petsc-amb, from the matrices' own arrays\n", MatShadowCounted.blocks));
  PetscCall(ReportReasons("  products by PETSc: ", petsc, PETSC_TRUE));
  PetscCall(ReportReasons("  stayed on the AIJ: ", reasons, PETSC_FALSE));
  if (model.model < REPORT_MODEL * model.taken) PetscCall(PetscPrintf(PETSC_COMM_SELF, "  -mat_shadow_tune model may be faster: about %.3g s in place of %.3g s\n", model.model, model.taken));
  if (others[0]) PetscCall(PetscPrintf(PETSC_COMM_SELF, "  of types that petsc-amb does not convert: %s\n", others));
  PetscCall(ReportLoad());
  if (MatShadowCounted.regions >= REPORT_LOOPS && MatShadowCounted.shortened > REPORT_SHORTENED * MatShadowCounted.regions)
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %.0f of %.0f threaded loops ran on fewer threads, because other programs used the processors\n", MatShadowCounted.shortened, MatShadowCounted.regions));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints the table and misused options. Collective: all processes are in PetscFinalize(), but perhaps only some have the option. */
PetscErrorCode MatShadowReport(void)
{
  PetscMPIInt rank, size, wanted;
  char        others[512];
  PetscBool   made = (PetscBool)(first != NULL);

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (int k = 0; k < MAT_SHADOW_MAX; k++) made = (PetscBool)(made || totals[k].made > 0);
  PetscCall(MatShadowReportRead());
  wanted = MatShadowReporting;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &wanted, 1, MPI_INT, MPI_LOR, PETSC_COMM_WORLD));
  MatShadowReporting = (PetscBool)(wanted != 0);
  PetscCall(MatShadowOthersList(others, sizeof(others)));
  if (MatShadowReporting) {
    for (const MatShadow *s = first; s; s = s->next) PetscCall(ReportAdd(s));
    SysThreadsGetLoad(&MatShadowCounted.regions, &MatShadowCounted.shortened);
    PetscCall(ReportSum((PetscLogDouble *)totals, sizeof(totals), rank));
    PetscCall(ReportSum((PetscLogDouble *)&MatShadowCounted, sizeof(MatShadowCounted), rank));
    PetscCall(ReportSum((PetscLogDouble *)&bytes, sizeof(bytes), rank));
    PetscCall(ReportSum((PetscLogDouble *)&model, sizeof(model), rank));
    PetscCall(ReportGatherReasons(reasons, rank, size));
    PetscCall(ReportGatherReasons(petsc, rank, size));
    if (!rank) PetscCall(ReportPrint(size, others));
  }
  if (!rank) PetscCall(MatShadowOptionsReport(MatShadowReporting, made, others));
  PetscFunctionReturn(PETSC_SUCCESS);
}
