/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Huge pages for what PETSc allocates during a set-up. Matrices on the host have new arrays of one entry per row or per nonzero, and the system makes the pages of
   each at their first use: with pages of 4 KiB this takes longer than the loops that fill them.

   PetscMalloc() calls through a pointer, which PETSc itself exchanges for a while (PetscMallocSetDRAM()). The function that takes its place calls the one before it
   and gives advice to the system: the memory is the same, and PetscFree() need not know of it.
*/
#include <stdlib.h>

#include "sys/sysmemory.h"
#include "ksp/pc/impls/gamg/ambagg.h"

typedef PetscErrorCode (*AmbAggMalloc)(size_t, PetscBool, int, const char[], const char[], void **);

static AmbAggMalloc before = NULL;
static int          depth  = 0; /* a set-up may contain another one */

static PetscErrorCode AmbAggMallocAdvised(size_t bytes, PetscBool clear, int line, const char function[], const char file[], void **result)
{
  const PetscBool large = (PetscBool)(bytes >= 4 * SYS_HUGE_PAGE);
  PetscErrorCode  raised;

  raised = (*before)(bytes, (PetscBool)(clear && !large), line, function, file, result);
  if (raised || !large || !*result) return raised;
  SysAdvise(*result, bytes);
  if (clear) memset(*result, 0, bytes);
  return PETSC_SUCCESS;
}

void AmbAggPagesBegin(void)
{
  if (depth++ || getenv("AMB_NO_PAGES")) return; /* the variable: until it has been tried */
  before        = PetscTrMalloc;
  PetscTrMalloc = AmbAggMallocAdvised;
}

void AmbAggPagesEnd(void)
{
  if (!depth || --depth || !before) return;
  if (PetscTrMalloc == AmbAggMallocAdvised) PetscTrMalloc = before; /* else somebody has exchanged it since */
}
