/* SPDX-License-Identifier: BSD-2-Clause */
#include "tool.h"

PetscErrorCode JSONString(FILE *f, const char text[])
{
  PetscFunctionBegin;
  fputc('"', f);
  for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
    if (*p == '"' || *p == '\\') fprintf(f, "\\%c", *p);
    else if (*p < 0x20) fprintf(f, "\\u%04x", *p);
    else fputc(*p, f);
  }
  fputc('"', f);
  PetscFunctionReturn(PETSC_SUCCESS);
}
