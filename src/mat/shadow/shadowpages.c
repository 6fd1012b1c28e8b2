/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Huge pages for what PETSc allocates for a while: in a set-up of multigrid, and for a matrix that goes to a device. Matrices have arrays of one entry per row or per
   nonzero on the host, and the system makes the pages of each at their first use: with pages of 4 KiB this takes longer than the loops that fill them, and so
   does pinning them for the way to the device.

   PetscMalloc() calls through a pointer, which PETSc itself exchanges for a while (PetscMallocSetDRAM()). The function that takes its place calls the one before it
   and gives advice to the system: the memory is the same, and PetscFree() need not know of it.
*/
#include "sys/sysmemory.h"
#include "mat/shadow/shadow.h"
#include "mat/shadow/shadowoptions.h"

typedef PetscErrorCode (*MatShadowMalloc)(size_t, PetscBool, int, const char[], const char[], void **);

static MatShadowMalloc before = NULL;
static PetscBool       used   = PETSC_TRUE;
static int             depth  = 0; /* a set-up may contain another one */

static PetscErrorCode MatShadowMallocAdvised(size_t bytes, PetscBool clear, int line, const char function[], const char file[], void **result)
{
  const PetscBool large = (PetscBool)(bytes >= 4 * SYS_HUGE_PAGE);
  PetscErrorCode  raised;

  raised = (*before)(bytes, (PetscBool)(clear && !large), line, function, file, result);
  if (raised || !large || !*result) return raised;
  SysAdvise(*result, bytes);
  if (clear) memset(*result, 0, bytes);
  return PETSC_SUCCESS;
}

void MatShadowPagesUse(PetscBool use)
{
  used = use;
}

/* For an object that is created now */
PetscErrorCode MatShadowPagesRead(void)
{
  PetscFunctionBegin;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-petscamb_gamg_huge_pages", &used, NULL));
  PetscCall(MatShadowOptionSought("-petscamb_gamg_huge_pages"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void MatShadowPagesBegin(void)
{
  if (depth++ || !used || PetscTrMalloc == MatShadowMallocAdvised) return;
  before        = PetscTrMalloc;
  PetscTrMalloc = MatShadowMallocAdvised;
}

void MatShadowPagesEnd(void)
{
  if (!depth || --depth || PetscTrMalloc != MatShadowMallocAdvised) return; /* somebody may have exchanged it since */
  PetscTrMalloc = before;
}
