/* SPDX-License-Identifier: BSD-2-Clause */
/*
   -petscamb_view: a report at the end of a program of what petsc-amb did, and a warning of misspelt options of petsc-amb.

   Each shadow counts its products. The counts are added up when the shadow is destroyed, or at the end of the program.
*/
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "mat/shadow/shadow.h"

MatShadowCounts MatShadowCounted;
PetscBool       MatShadowReporting = PETSC_FALSE;

/* The options that belong to no format, and the beginnings of such names; docs/options.md explains all options */
static const char *const common[]   = {"petscamb_for_aij",          "petscamb_for_gamg", "petscamb_for_ksp", "petscamb_for_vec", "petscamb_peers",    "petscamb_gamg_huge_pages", "petscamb_mg_values", "petscamb_mg_graph",
                                       "petscamb_mg_values_finest", "petscamb_view",     "hashgemm_for_aij", "mat_shadow_tune",  "mat_shadow_values", "mat_shadow_keep_aij",      "mat_shadow_halo"};
static const char *const families[] = {"petscamb_", "hashgemm_for_", "mat_shadow_"};

#define REPORT_OPTIONS   128 /* at most */
#define REPORT_NAME      48  /* bytes of the longest name of an option */
#define REPORT_REASONS   8
#define REPORT_LONGEST   96   /* bytes of the longest reason */
#define REPORT_SHORTENED 0.05 /* a line on the load appears if more than this part of the threaded loops ran on fewer threads */
#define REPORT_MISSPELT  2    /* letters; an unused option that differs no more from one of petsc-amb is taken for a misspelling of that */

/* Counts for a format on this process: matrices, those of them that were multiplied by a vector, and so on; a block of an MPI matrix counts as a matrix */
typedef struct {
  PetscLogDouble made, used, converted, products[2], seconds[2];
} ReportTotals;

/* Why matrices stayed on the AIJ */
typedef struct {
  PetscLogDouble count;
  char           text[REPORT_LONGEST];
} ReportReason;

static ReportTotals totals[MAT_SHADOW_MAX];
static ReportReason reasons[REPORT_REASONS];
static char         options[REPORT_OPTIONS][REPORT_NAME];
static int          noptions;
static MatShadow   *first = NULL; /* in the list of all shadows */
static int          level = 0;    /* depth of products of matrices made inside others */

/* ------------------------------------------------- counting ------------------------------------------------- */

static PetscErrorCode ReportAddReason(const char text[], PetscLogDouble count)
{
  int k = 0;

  PetscFunctionBegin;
  while (k < REPORT_REASONS - 1 && reasons[k].count > 0 && strncmp(reasons[k].text, text, REPORT_LONGEST - 1)) k++;
  if (!(reasons[k].count > 0)) PetscCall(PetscStrncpy(reasons[k].text, k < REPORT_REASONS - 1 ? text : "other reasons", REPORT_LONGEST));
  reasons[k].count += count;
  PetscFunctionReturn(PETSC_SUCCESS);
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
    t->seconds[side] += s->seconds[side];
  }
  if (!s->made[0] && !s->made[1]) PetscFunctionReturn(PETSC_SUCCESS);
  t->used++;
  if (s->phase != MAT_SHADOW_DECLINED && s->made[1]) t->converted++;
  else if (s->format->host.layout) PetscCall(ReportAddReason(s->phase == MAT_SHADOW_DECLINED ? s->info.reason : "fewer products than a conversion takes", 1)); /* MATHASHGEMM has no layout(): its products with vectors always run on the AIJ */
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

PetscErrorCode MatShadowReportEnd(MatShadow *s)
{
  PetscFunctionBegin;
  PetscCall(ReportAdd(s));
  if (s->next) s->next->previous = s->previous;
  if (s->previous) s->previous->next = s->next;
  else if (first == s) first = s->next;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts a product of matrices so many times, on the first of its processes */
PetscErrorCode MatShadowReportProduct(Mat C, PetscBool ours, int times)
{
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)C), &rank));
  if (!rank) *(ours ? &MatShadowCounted.ours : &MatShadowCounted.petsc) += times;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* These two functions enclose a phase of a product of matrices, and take its time */
PetscErrorCode MatShadowReportProductBegin(PetscLogDouble *since)
{
  PetscFunctionBegin;
  PetscCall(PetscTime(since));
  level++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatShadowReportProductEnd(Mat C, PetscLogDouble since, PetscBool renewed)
{
  PetscLogDouble now;
  PetscMPIInt    rank;

  PetscFunctionBegin;
  PetscCall(PetscTime(&now));
  if (--level == 0) MatShadowCounted.seconds += now - since;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)C), &rank));
  if (!level && !rank && renewed) MatShadowCounted.renewed++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- options ------------------------------------------------- */

/* The number of letters to add, to remove or to replace to turn a into b */
static int ReportDistance(const char a[], const char b[])
{
  int row[64], n = (int)PetscMin(strlen(b), 63);

  for (int j = 0; j <= n; j++) row[j] = j;
  for (int i = 1; a[i - 1]; i++) {
    int diagonal = row[0];

    row[0] = i;
    for (int j = 1; j <= n; j++) {
      const int replaced = diagonal + (a[i - 1] != b[j - 1]);

      diagonal = row[j];
      row[j]   = PetscMin(replaced, 1 + PetscMin(row[j], row[j - 1]));
    }
  }
  return row[n];
}

static PetscErrorCode ReportListOption(const char name[], const char word[])
{
  PetscFunctionBegin;
  PetscCheck(noptions < REPORT_OPTIONS, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Too many options: raise REPORT_OPTIONS");
  PetscCall(PetscSNPrintf(options[noptions++], REPORT_NAME, name, word));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lists the options of all formats that are registered */
static PetscErrorCode ReportListOptions(void)
{
  const MatShadowFormat *const *formats;
  int                           n;

  PetscFunctionBegin;
  noptions = 0;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(common); k++) PetscCall(ReportListOption("%s", common[k]));
  n = MatShadowGetFormats(&formats);
  for (int f = 0; f < n; f++) {
    PetscCall(ReportListOption("mat_%s_device", formats[f]->name));
    PetscCall(ReportListOption("mat_%s_halo", formats[f]->name));
    for (int k = 0; formats[f]->options && formats[f]->options[k]; k++) PetscCall(ReportListOption("%s", formats[f]->options[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does an option with this name belong to petsc-amb by the beginning of the name, even if the rest is misspelt? */
static PetscBool ReportIsFamily(const char name[])
{
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(families); k++) {
    if (strncmp(name, families[k], strlen(families[k])) == 0) return PETSC_TRUE;
  }
  for (int k = 0; k < noptions; k++) { /* "mat_" and the name of a format */
    const char *end = strstr(options[k], "_device");

    if (end && strncmp(name, options[k], (size_t)(end - options[k]) + 1) == 0) return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

/* Finds the option of petsc-amb that is the nearest to this name; returns its distance */
static int ReportNearest(const char name[], const char **nearest)
{
  int least = INT_MAX;

  for (int k = 0; k < noptions; k++) {
    const int distance = ReportDistance(name, options[k]);

    if (distance >= least) continue;
    least    = distance;
    *nearest = options[k];
  }
  return least;
}

/* For an option that no code has used: is it an option of petsc-amb, with any prefix? If not, *meant is the option that the user may have meant, or NULL. */
static PetscBool ReportOption(const char name[], const char **meant, int *prefix)
{
  *meant = NULL;
  for (const char *part = name; part; part = strchr(part, '_') ? strchr(part, '_') + 1 : NULL) {
    const char *nearest  = NULL;
    const int   distance = ReportNearest(part, &nearest);

    if (!distance) return PETSC_TRUE;
    if (*meant || (!ReportIsFamily(part) && distance > REPORT_MISSPELT)) continue;
    *meant  = nearest;
    *prefix = (int)(part - name);
  }
  return PETSC_FALSE;
}

/* For an option that no code has used: does it ask for a matrix of petsc-amb, with any prefix? */
static PetscErrorCode ReportIsType(const char name[], const char value[], PetscBool *is)
{
  const MatShadowFormat *const *formats;
  int                           n;

  PetscFunctionBegin;
  *is = PETSC_FALSE;
  if (value) PetscCall(PetscStrendswith(name, "mat_type", is));
  if (!*is) PetscFunctionReturn(PETSC_SUCCESS);
  *is = PETSC_FALSE;
  n   = MatShadowGetFormats(&formats);
  for (int f = 0; f < n && !*is; f++) PetscCall(PetscStrendswith(value, formats[f]->name, is)); /* also seqaijamb */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Has this process had a matrix of petsc-amb? */
static PetscBool ReportMade(void)
{
  for (int k = 0; k < MAT_SHADOW_MAX; k++) {
    if (totals[k].made > 0) return PETSC_TRUE;
  }
  return first ? PETSC_TRUE : PETSC_FALSE;
}

/* Called on the first process: prints misspelt options, and types that nothing took though no matrix is of petsc-amb, to the error output; or in the report, if that is wanted,
   together with correct options that were not used */
static PetscErrorCode ReportOptions(void)
{
  FILE       *file  = MatShadowReporting ? PETSC_STDOUT : PETSC_STDERR;
  const char *start = MatShadowReporting ? "  " : "petsc-amb: ";
  PetscInt    n;
  char      **names, **values;

  PetscFunctionBegin;
  PetscCall(ReportListOptions());
  PetscCall(PetscOptionsLeftGet(NULL, &n, &names, &values));
  for (PetscInt k = 0; k < n; k++) {
    const char *meant;
    int         prefix = 0;
    PetscBool   type;

    PetscCall(ReportIsType(names[k], values[k], &type));
    if (type && (MatShadowReporting || !ReportMade())) {
      PetscCall(PetscFPrintf(PETSC_COMM_SELF, file, "%soption -%s %s: no matrix has asked for it; give another of -mat_type, -dm_mat_type (a DM makes the matrix) and -petscamb_for_aij (the program fixes aij)\n", start, names[k], values[k]));
    } else if (ReportOption(names[k], &meant, &prefix)) {
      if (MatShadowReporting) PetscCall(PetscFPrintf(PETSC_COMM_SELF, file, "  option -%s: no matrix has asked for it\n", names[k]));
    } else if (meant) PetscCall(PetscFPrintf(PETSC_COMM_SELF, file, "%soption -%s: there is none; the nearest is -%.*s%s\n", start, names[k], prefix, names[k], meant));
  }
  PetscCall(PetscOptionsLeftRestore(NULL, &n, &names, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- the report ------------------------------------------------- */

PetscErrorCode MatShadowReportRegister(void)
{
  PetscFunctionBegin;
  MatShadowReporting = PETSC_FALSE;
  level              = 0;
  first              = NULL;
  PetscCall(PetscArrayzero(totals, MAT_SHADOW_MAX));
  PetscCall(PetscArrayzero(reasons, REPORT_REASONS));
  PetscCall(PetscMemzero(&MatShadowCounted, sizeof(MatShadowCounted)));
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "petsc-amb, its report", "Mat");
  PetscCall(PetscOptionsBool("-petscamb_view", "Print at the end which matrices were converted, their products, and why others were not converted", "PetscAMBInitializePackage", MatShadowReporting, &MatShadowReporting, NULL));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds up the counts of all processes, on the first */
static PetscErrorCode ReportSum(PetscLogDouble counts[], size_t bytes, PetscMPIInt rank)
{
  const PetscMPIInt n = (PetscMPIInt)(bytes / sizeof(*counts));

  PetscFunctionBegin;
  PetscCallMPI(MPI_Reduce(rank ? (void *)counts : MPI_IN_PLACE, rank ? NULL : (void *)counts, n, MPI_DOUBLE, MPI_SUM, 0, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gathers the reasons of all processes, on the first */
static PetscErrorCode ReportGatherReasons(PetscMPIInt rank, PetscMPIInt size)
{
  ReportReason *all = NULL;

  PetscFunctionBegin;
  if (!rank) PetscCall(PetscMalloc1((size_t)size * REPORT_REASONS, &all));
  PetscCallMPI(MPI_Gather(reasons, (PetscMPIInt)sizeof(reasons), MPI_BYTE, all, (PetscMPIInt)sizeof(reasons), MPI_BYTE, 0, PETSC_COMM_WORLD));
  for (size_t k = REPORT_REASONS; !rank && k < (size_t)size * REPORT_REASONS; k++) {
    if (all[k].count > 0) PetscCall(ReportAddReason(all[k].text, all[k].count));
  }
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether times that made matrices stay on the AIJ were taken on a machine that had more to do */
static PetscErrorCode ReportLoad(void)
{
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  double     load;
  PetscBool  measured = PETSC_FALSE;

  PetscFunctionBegin;
  for (int k = 0; !measured && k < REPORT_REASONS && reasons[k].count > 0; k++) PetscCall(PetscStrbeginswith(reasons[k].text, "measured", &measured));
  if (measured && getloadavg(&load, 1) == 1 && load > (double)processors)
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "  the load of the last minute was %.1f on %ld processors: on an idle machine, or with fewer threads (OMP_NUM_THREADS), the format may be faster\n", load, processors));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReportPrint(PetscMPIInt size)
{
  const MatShadowFormat *const *formats;
  int                           n, rows = 0;

  PetscFunctionBegin;
  n = MatShadowGetFormats(&formats);
  for (int k = 0; k < n; k++) rows += totals[k].made > 0;
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "petsc-amb on %d process%s%s\n", size, size > 1 ? "es, sums over them" : "", rows ? "; matrices that were multiplied by vectors, blocks of MPI matrices by themselves" : ""));
  if (rows) PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %-10s %8s %9s | products %9s %9s | seconds %9s %9s\n", "type", "matrices", "converted", "on it", "on AIJ", "on it", "on AIJ"));
  else PetscCall(PetscPrintf(PETSC_COMM_SELF, "  no matrix was of a type of petsc-amb: give -mat_type amb, -dm_mat_type amb, or -petscamb_for_aij amb if the program fixes aij\n"));
  for (int k = 0; k < n; k++) {
    const ReportTotals *t = &totals[k];

    if (t->made > 0) PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %-10s %8.0f %9.0f |          %9.0f %9.0f |         %9.3g %9.3g\n", formats[k]->name, t->used, t->converted, t->products[1], t->products[0], t->seconds[1], t->seconds[0]));
  }
  if (rows) PetscCall(PetscPrintf(PETSC_COMM_SELF, "  conversions %.3g s, new values %.3g s\n", MatShadowCounted.convert, MatShadowCounted.update));
  if (MatShadowCounted.ours + MatShadowCounted.petsc > 0)
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "  products of matrices: %.0f by hashgemm, %.0f times with new values, %.3g s; %.0f by PETSc\n", MatShadowCounted.ours, MatShadowCounted.renewed, MatShadowCounted.seconds, MatShadowCounted.petsc));
  for (int k = 0; k < REPORT_REASONS && reasons[k].count > 0; k++) PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s%.0f (%s)", k ? ", " : "  stayed on the AIJ: ", reasons[k].count, reasons[k].text));
  if (reasons[0].count > 0) PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n"));
  PetscCall(ReportLoad());
  if (MatShadowCounted.shortened > REPORT_SHORTENED * MatShadowCounted.regions)
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %.0f of %.0f threaded loops ran on fewer threads, because other programs used the processors\n", MatShadowCounted.shortened, MatShadowCounted.regions));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints the report. Collective: all processes are in PetscFinalize(). */
PetscErrorCode MatShadowReport(void)
{
  PetscMPIInt rank, size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (MatShadowReporting) {
    for (const MatShadow *s = first; s; s = s->next) PetscCall(ReportAdd(s));
    SysThreadsGetLoad(&MatShadowCounted.regions, &MatShadowCounted.shortened);
    PetscCall(ReportSum((PetscLogDouble *)totals, sizeof(totals), rank));
    PetscCall(ReportSum((PetscLogDouble *)&MatShadowCounted, sizeof(MatShadowCounted), rank));
    PetscCall(ReportGatherReasons(rank, size));
    if (!rank) PetscCall(ReportPrint(size));
  }
  if (!rank) PetscCall(ReportOptions());
  PetscFunctionReturn(PETSC_SUCCESS);
}
