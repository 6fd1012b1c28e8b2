/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Facts that belong to every figure: version, commit, date, processor, GPU, and how busy the machine was.
*/
#if !defined(_DEFAULT_SOURCE)
  #define _DEFAULT_SOURCE /* getloadavg(), glob() */
#endif
#include "tool.h"
#include "commit.h" /* made by the makefile */
#include <glob.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Gets the rest of the first line of a file that begins with a word, behind a colon and blanks */
static PetscErrorCode LineOf(const char file[], const char word[], char text[], size_t len)
{
  FILE *f = fopen(file, "r");
  char  line[512];

  PetscFunctionBegin;
  while (f && fgets(line, sizeof(line), f)) {
    const char *colon = strchr(line, ':');

    if (strncmp(line, word, strlen(word)) || !colon) continue;
    line[strcspn(line, "\n")] = 0;
    PetscCall(PetscStrncpy(text, colon + 1 + strspn(colon + 1, " \t"), len));
    break;
  }
  if (f) (void)fclose(f);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AboutGet(About *about)
{
  const time_t now = time(NULL);
  struct tm    utc;
  glob_t       gpus;
  PetscInt     major, minor, subminor;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(about, sizeof(*about)));
  PetscCall(PetscSNPrintf(about->version, sizeof(about->version), "%d.%d.%d", PETSCAMB_VERSION_MAJOR, PETSCAMB_VERSION_MINOR, PETSCAMB_VERSION_SUBMINOR));
  PetscCall(PetscGetVersionNumber(&major, &minor, &subminor, NULL));
  PetscCall(PetscSNPrintf(about->petsc, sizeof(about->petsc), "%" PetscInt_FMT ".%" PetscInt_FMT ".%" PetscInt_FMT " %s %d-bit %d-bit indices%s", major, minor, subminor, PetscDefined(USE_COMPLEX) ? "complex" : "real", (int)(8 * sizeof(PetscReal)), (int)(8 * sizeof(PetscInt)), PetscDefined(USE_DEBUG) ? " debug" : ""));
  PetscCall(PetscStrncpy(about->commit, PETSCAMB_COMMIT, sizeof(about->commit)));
  if (gmtime_r(&now, &utc)) (void)strftime(about->date, sizeof(about->date), "%Y-%m-%dT%H:%M:%SZ", &utc);
  PetscCall(PetscStrncpy(about->cpu, "unknown processor", sizeof(about->cpu)));
  PetscCall(LineOf("/proc/cpuinfo", "model name", about->cpu, sizeof(about->cpu)));
  if (!glob("/proc/driver/nvidia/gpus/*/information", 0, NULL, &gpus)) {
    if (gpus.gl_pathc) PetscCall(LineOf(gpus.gl_pathv[0], "Model", about->gpu, sizeof(about->gpu)));
    globfree(&gpus);
  }
  if (getloadavg(&about->load, 1) != 1) about->load = 0;
  about->processors = (int)sysconf(_SC_NPROCESSORS_ONLN);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool AboutBusy(const About *about)
{
  return (PetscBool)(about->load > about->processors);
}

PetscErrorCode AboutJSON(FILE *f, const About *about)
{
  const char *const names[] = {"version", "petsc", "commit", "date", "cpu", "gpu"};
  const char *const texts[] = {about->version, about->petsc, about->commit, about->date, about->cpu, about->gpu};

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(names); k++) {
    fprintf(f, "\"%s\": ", names[k]);
    PetscCall(JSONString(f, texts[k]));
    fprintf(f, ", ");
  }
  fprintf(f, "\"load\": %.2f", about->load);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AboutCSVHeader(FILE *f)
{
  PetscFunctionBegin;
  fprintf(f, ",version,petsc,commit,date,cpu,gpu,load\n");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AboutCSV(FILE *f, const About *about)
{
  PetscFunctionBegin;
  fprintf(f, ",%s,%s,%s,%s,\"%s\",\"%s\",%.2f\n", about->version, about->petsc, about->commit, about->date, about->cpu, about->gpu, about->load);
  PetscFunctionReturn(PETSC_SUCCESS);
}
