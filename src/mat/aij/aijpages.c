/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Huge pages for large arrays that PETSc allocates in a multigrid set-up, or for a matrix that goes to a device. The system creates the pages of a
   new array at first use; with pages of 4 KiB this, and pinning them for the copy to the device, took longer than the loops that fill the array.

   PetscMalloc() calls through a pointer, which PETSc itself exchanges temporarily (PetscMallocSetDRAM()). MatAIJPagesBegin() sets it to a function
   that calls the previous one and then advises the system: the memory is the same, and PetscFree() frees it.
*/
#include "sys/sysmemory.h"
#include "mat/aij/aij.h"

typedef PetscErrorCode (*MatAIJMalloc)(size_t, PetscBool, int, const char[], const char[], void **);

static MatAIJMalloc before = NULL;
static PetscBool    used   = PETSC_TRUE;
static int          depth  = 0; /* set-ups may nest */

static PetscErrorCode MatAIJMallocAdvised(size_t bytes, PetscBool clear, int line, const char function[], const char file[], void **result)
{
  const PetscBool large = (PetscBool)(bytes >= 4 * SYS_HUGE_PAGE);
  PetscErrorCode  raised;

  raised = (*before)(bytes, (PetscBool)(clear && !large), line, function, file, result);
  if (raised || !large || !*result) return raised;
  SysAdvise(*result, bytes);
  if (clear) memset(*result, 0, bytes);
  return PETSC_SUCCESS;
}

void MatAIJPagesSetUse(PetscBool use)
{
  used = use;
}

PetscErrorCode MatAIJPagesSetFromOptions(void)
{
  PetscFunctionBegin;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-petscamb_gamg_huge_pages", &used, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void MatAIJPagesBegin(void)
{
  if (depth++ || !used || PetscTrMalloc == MatAIJMallocAdvised) return;
  before        = PetscTrMalloc;
  PetscTrMalloc = MatAIJMallocAdvised;
}

void MatAIJPagesEnd(void)
{
  if (!depth || --depth || PetscTrMalloc != MatAIJMallocAdvised) return; /* other code may have changed it in between */
  PetscTrMalloc = before;
}
