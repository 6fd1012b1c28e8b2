/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The arrays of PETSc's factors, by functions that PETSc exports. Nothing but the starts of rows is copied.
*/
#include "mat/factor/glue/factor.h"

PetscErrorCode FactorArraysGet(Mat F, const MatFactorAMB *f, FactorArrays *s)
{
  const PetscInt  n = F->rmap->n;
  const PetscInt *i, *j;
  PetscInt        m;
  PetscBool       done;
  PetscScalar    *a;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(s, sizeof(*s)));
  PetscCall((*(f->symmetric ? F->ops->getrowij : MatAIJBaseSeq.getrowij))(F, 0, PETSC_FALSE, f->symmetric, &m, &i, &j, &done)); /* copies nothing */
  PetscCall(PetscMalloc2(n + 1, &s->begin, n + 1, &s->diagonal));
  if (f->symmetric) {
    for (PetscInt r = 0; r < n; r++) s->diagonal[r] = i[r + 1] - 1;
    s->nz = i[n];
    PetscCall(MatSeqSBAIJGetArray(F, &a));
    s->a = a;
    PetscCall(MatSeqSBAIJRestoreArray(F, &a));
    s->rows[1] = (FactorRows){n, i, s->diagonal, j, NULL};
  } else {
    s->nz = i[n];
    for (PetscInt r = n; r-- > 0;) {
      s->begin[r] = s->nz;
      while (j[s->nz] != r) s->nz++;
      s->diagonal[r] = s->nz++;
    }
    PetscCall(MatSeqAIJGetArrayRead(F, &s->a));
    PetscCall(MatSeqAIJRestoreArrayRead(F, (const PetscScalar **)&a));
    s->rows[0] = (FactorRows){n, i, i + 1, j, NULL};
    s->rows[1] = (FactorRows){n, s->begin, s->diagonal, j, NULL};
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorArraysFree(FactorArrays *s)
{
  PetscFunctionBegin;
  PetscCall(PetscFree2(s->begin, s->diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorGetNodes(Mat A, PetscInt *n, PetscInt **start)
{
  PetscInt *sizes = NULL;

  PetscFunctionBegin;
  *n     = 0;
  *start = NULL;
  PetscCall(MatInodeGetInodeSizes(A, n, &sizes, NULL));
  if (*n <= 0 || !sizes) *n = 0;
  if (!*n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(*n + 1, start));
  if (sizes[0]) { /* lengths, before PETSc 3.19 */
    (*start)[0] = 0;
    for (PetscInt v = 0; v < *n; v++) (*start)[v + 1] = (*start)[v] + sizes[v];
  } else PetscCall(PetscArraycpy(*start, sizes, *n + 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}
