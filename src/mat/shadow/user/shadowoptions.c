/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Checks of petsc-amb's options at the end of a program: misspelt, set too late, unused
*/
#include <limits.h>
#include <strings.h>

#include "mat/shadow/core/shadow.h"
#include "mat/shadow/user/shadowoptions.h"

#define OPTIONS_MAX        128
#define OPTIONS_NAME       48  /* bytes of the longest option name */
#define OPTIONS_REMEMBERED 64  /* most used options to remember, because PetscOptionsClear() may remove them */
#define OPTIONS_PREFIXED   128 /* bytes of the longest name with prefix, and of the longest value */
#define OPTIONS_MISSPELT   2   /* letters by which an unused option may differ from one of petsc-amb to count as its misspelling */

/* The options that belong to no format, and the beginnings of such names; docs/options.md explains all options. The library reads them when PETSc
   loads it, and at the creation of each object that they concern. */
static struct {
  const char *name, *object;
  PetscInt64  sought; /* objects created so far */
} common[] = {
  {"petscamb_for_aij",          "AIJ matrix",                   0},
  {"hashgemm_for_aij",          "AIJ matrix",                   0},
  {"petscamb_for_gamg",         "PCGAMG",                       0},
  {"petscamb_gamg_huge_pages",  "PCGAMG",                       0},
  {"petscamb_mg_values",        "PCMG or PCGAMG",               0},
  {"petscamb_mg_values_finest", "PCMG or PCGAMG",               0},
  {"petscamb_mg_graph",         "PCMG or PCGAMG",               0},
  {"petscamb_factor",           "ILU or ICC factor",            0},
  {"petscamb_for_sor",          "PCSOR",                        0},
  {"petscamb_for_ksp",          "solver cg, bcgs or chebyshev", 0},
  {"petscamb_for_vec",          "matrix of petsc-amb on a GPU", 0},
  {"petscamb_view",             NULL,                           0},
  {"petscamb_peers",            NULL,                           0},
  {"petscamb_for_products",     NULL,                           0},
  {"mat_shadow_tune",           NULL,                           0},
  {"mat_shadow_values",         NULL,                           0},
  {"mat_shadow_keep_aij",       NULL,                           0},
  {"mat_shadow_sor",            NULL,                           0},
  {"mat_shadow_halo",           NULL,                           0},
  {"mat_shadow_device",         NULL,                           0},
  {"mat_spmm_tiles",            NULL,                           0}
};
static const char *const families[] = {"petscamb_", "hashgemm_for_", "mat_shadow_"};

static char options[OPTIONS_MAX][OPTIONS_NAME];
static int  noptions;
static struct {
  char name[OPTIONS_PREFIXED], value[OPTIONS_PREFIXED];
} remembered[OPTIONS_REMEMBERED];
static int      nremembered;
static PetscInt unused; /* number of unused options when the used ones were last remembered */

/* Returns the number of letters to add, remove or replace to turn a into b */
static int OptionDistance(const char a[], const char b[])
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

static PetscErrorCode OptionsAdd(const char name[], const char word[])
{
  PetscFunctionBegin;
  PetscCheck(noptions < OPTIONS_MAX, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Too many options: raise OPTIONS_MAX");
  PetscCall(PetscSNPrintf(options[noptions++], OPTIONS_NAME, name, word));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lists the options of all registered formats */
static PetscErrorCode OptionsList(void)
{
  const MatShadowFormat *const *formats;
  int                           n;

  PetscFunctionBegin;
  noptions = 0;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(common); k++) PetscCall(OptionsAdd("%s", common[k].name));
  n = MatShadowGetFormats(&formats);
  for (int f = 0; f < n; f++) {
    PetscCall(OptionsAdd("mat_%s_device", formats[f]->name)); /* old names */
    PetscCall(OptionsAdd("mat_%s_halo", formats[f]->name));
    for (int k = 0; formats[f]->options && formats[f]->options[k]; k++) PetscCall(OptionsAdd("%s", formats[f]->options[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns PETSC_TRUE if the begin of this option's name is petsc-amb's, even if the rest is misspelt */
static PetscBool OptionIsFamily(const char name[])
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

/* Returns the end of an option's name after a format's: "_c" of "mat_nussell_c" */
static const char *OptionEnding(const char name[])
{
  const char *end = strncmp(name, "mat_", 4) ? NULL : strchr(name + 4, '_');

  return end ? end : name;
}

/* Finds petsc-amb's option nearest to this name; returns the distance */
static int OptionNearest(const char name[], const char **nearest)
{
  int least = INT_MAX;

  for (int k = 0; k < noptions; k++) {
    int distance = OptionDistance(name, options[k]);

    if (distance > OPTIONS_MISSPELT && !strcasecmp(OptionEnding(name), OptionEnding(options[k]))) distance = OPTIONS_MISSPELT + 1; /* the option of another format */
    if (distance >= least) continue;
    least    = distance;
    *nearest = options[k];
  }
  return least;
}

/* Returns PETSC_TRUE if this is petsc-amb's option, with any prefix. Otherwise *meant is the option that the user may have meant, or NULL. */
static PetscBool OptionExists(const char name[], const char **meant, int *prefix)
{
  *meant = NULL;
  for (const char *part = name; part; part = strchr(part, '_') ? strchr(part, '_') + 1 : NULL) {
    const char *nearest  = NULL;
    const int   distance = OptionNearest(part, &nearest);

    if (!distance) return PETSC_TRUE;
    if (*meant || (!OptionIsFamily(part) && distance > OPTIONS_MISSPELT)) continue;
    *meant  = nearest;
    *prefix = (int)(part - name);
  }
  return PETSC_FALSE;
}

/* Sets *is if this option selects a matrix type of petsc-amb, with any prefix */
static PetscErrorCode OptionIsType(const char name[], const char value[], PetscBool *is)
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

/* Sets *found if this is petsc-amb's option, or selects one of its matrix types, with any prefix */
static PetscErrorCode OptionIsAMB(const char name[], const char value[], PetscBool *found)
{
  PetscFunctionBegin;
  PetscCall(OptionIsType(name, value, found));
  for (int k = 0; k < noptions && !*found; k++) {
    PetscBool same;

    PetscCall(PetscStrendswith(name, options[k], &same));
    if (same) *found = (PetscBool)(strlen(name) == strlen(options[k]) || name[strlen(name) - strlen(options[k]) - 1] == '_');
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool OptionIsRemembered(const char name[], const char value[])
{
  for (int k = 0; k < nremembered; k++) {
    if (strcmp(name, remembered[k].name) == 0 && strcmp(value ? value : "", remembered[k].value) == 0) return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

/* A changed number of unused options shows that code used one, so there is something to remember */
PetscErrorCode MatShadowOptionsRemember(void)
{
  PetscInt left;
  char   **word, *all;
  int      n;

  PetscFunctionBegin;
  PetscCall(PetscOptionsAllUsed(NULL, &left));
  if (left == unused) PetscFunctionReturn(PETSC_SUCCESS);
  unused = left;
  PetscCall(OptionsList());
  PetscCall(PetscOptionsGetAll(NULL, &all));
  PetscCall(PetscStrToArray(all, ' ', &n, &word));
  for (int k = 0; k < n && nremembered < OPTIONS_REMEMBERED; k++) {
    const char *value;
    PetscBool   used = PETSC_FALSE, found, set;

    if (word[k][0] == '-') PetscCall(PetscOptionsUsed(NULL, word[k] + 1, &used));
    if (!used) continue;
    PetscCall(PetscOptionsFindPair(NULL, NULL, word[k], &value, &set));
    PetscCall(OptionIsAMB(word[k] + 1, value, &found));
    if (!found || OptionIsRemembered(word[k] + 1, value)) continue;
    PetscCall(PetscStrncpy(remembered[nremembered].name, word[k] + 1, OPTIONS_PREFIXED));
    PetscCall(PetscStrncpy(remembered[nremembered++].value, value ? value : "", OPTIONS_PREFIXED));
  }
  PetscCall(PetscStrToArrayDestroy(n, word));
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatShadowOptionSought(const char name[])
{
  PetscFunctionBegin;
  PetscCall(MatShadowOptionsRemember());
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(common); k++) {
    if (strcmp(name + 1, common[k].name) == 0) common[k].sought++;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatShadowOptionsRegister(void)
{
  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(common); k++) common[k].sought = 0;
  nremembered = 0;
  unused      = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns the object for which an unused option came too late, or NULL */
static const char *OptionLateFor(const char name[])
{
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(common); k++) {
    if (strcmp(name, common[k].name) == 0 && common[k].sought) return common[k].object;
  }
  return NULL;
}

PetscErrorCode MatShadowOptionsReport(PetscBool table, PetscBool made, const char others[])
{
  FILE       *file  = table ? PETSC_STDOUT : PETSC_STDERR;
  const char *start = table ? "  " : "petsc-amb: ";
  PetscInt    n;
  char      **names, **values;

  PetscFunctionBegin;
  PetscCall(MatShadowOptionsRemember());
  PetscCall(OptionsList());
  PetscCall(PetscOptionsLeftGet(NULL, &n, &names, &values));
  for (PetscInt k = 0; k < n; k++) {
    const char *meant, *late = OptionLateFor(names[k]);
    int         prefix = 0;
    PetscBool   type;

    if (OptionIsRemembered(names[k], values[k])) continue; /* PetscOptionsClear() reset PETSc's record */
    PetscCall(OptionIsType(names[k], values[k], &type));
    if (type && (table || !made)) {
      if (!made && others[0]) PetscCall(PetscFPrintf(PETSC_COMM_SELF, file, "%soption -%s %s: no matrix used it; the program fixes the types of its matrices (%s)\n", start, names[k], values[k], others));
      else PetscCall(PetscFPrintf(PETSC_COMM_SELF, file, "%soption -%s %s: no matrix used it; give another of -mat_type, -dm_mat_type (a DM makes the matrix) and -petscamb_for_aij (the program fixes aij)\n", start, names[k], values[k]));
    } else if (late) {
      PetscCall(PetscFPrintf(PETSC_COMM_SELF, file, "%soption -%s%s%s: set after the last %s was created, too late; set it before, or give it on the command line or in PETSC_OPTIONS\n", start, names[k], values[k] ? " " : "", values[k] ? values[k] : "", late));
    } else if (OptionExists(names[k], &meant, &prefix)) {
      if (table) PetscCall(PetscFPrintf(PETSC_COMM_SELF, file, "  option -%s: no matrix used it\n", names[k]));
    } else if (meant) PetscCall(PetscFPrintf(PETSC_COMM_SELF, file, "%soption -%s: there is none; the nearest is -%.*s%s\n", start, names[k], prefix, names[k], meant));
  }
  PetscCall(PetscOptionsLeftRestore(NULL, &n, &names, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The functions of this room for core and adopt, through MatShadowUserFunctions */
const MatShadowUser MatShadowUserTable = {
  .created   = MatShadowReportBegin,
  .moved     = MatShadowReportMoved,
  .destroyed = MatShadowReportEnd,
  .read      = MatShadowReportRead,
  .sought    = MatShadowOptionSought,
  .remember  = MatShadowOptionsRemember,
  .compose   = MatShadowComposeSetters,
  .view      = MatShadowView,
};
