/* SPDX-License-Identifier: BSD-2-Clause */
#include <petscdevice_cuda.h>

#include "graph/glue/graphdevice.h"
#include "graph/cuda/graphcuda.h"
#include "graph/glue/graph.h"

/* Gets the pattern on the device, if A is there and has entries */
static PetscErrorCode PatternGet(Mat A, SysCSR *csr, PetscBool *on)
{
  PetscFunctionBegin;
  *on = PETSC_FALSE;
  if (!MatAIJValuesOnDevice(A)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatAIJDeviceGetArrays(A, csr));
  *on = (PetscBool)(csr->nz > 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Check(Mat A, SysStatus status, const char what[], PetscBool *done)
{
  PetscFunctionBegin;
  PetscCheck(status != SYS_ERROR, PETSC_COMM_SELF, PETSC_ERR_GPU, "%s on the GPU: %s", what, SysDeviceErrorText());
  *done = (PetscBool)(status == SYS_SUCCESS);
  if (!*done) PetscCall(PetscInfo(A, "Not enough memory on the GPU for %s: it runs on the host\n", what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GraphTrianglesDevice(Mat A, PetscInt64 *count, PetscBool *done)
{
  SysCSR  csr;
  int64_t found;

  PetscFunctionBegin;
  PetscCall(PatternGet(A, &csr, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(Check(A, GraphTrianglesCount(&csr, &found, PetscDefaultCudaStream), "counting triangles", done));
  PetscCall(PetscLogGpuTimeEnd());
  *count = (PetscInt64)found;
  if (*done) PetscCall(PetscInfo(A, "Counted triangles on the GPU\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the iteration's matrix on the host; after a failure it is the one before */
static PetscErrorCode MarkovFetch(GraphMarkov *g, Mat *M)
{
  PetscInt      *i, *j;
  PetscScalar   *a;
  const PetscInt nz = (PetscInt)GraphMarkovEntries(g);
  Mat            E;
  PetscBool      done;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((*M)->rmap->n + 1, &i));
  PetscCall(PetscMalloc2(nz, &j, nz, &a));
  PetscCall(Check(*M, GraphMarkovFetch(g, i, j, a, PetscDefaultCudaStream), "Markov clustering", &done));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)*M), &E));
  PetscCall(MatSetSizes(E, (*M)->rmap->n, (*M)->cmap->n, (*M)->rmap->N, (*M)->cmap->N));
  PetscCall(MatSetType(E, MATSEQAIJ));
  PetscCall(MatSeqAIJSetPreallocationCSR(E, i, j, a));
  PetscCall(PetscFree2(j, a));
  PetscCall(PetscFree(i));
  PetscCall(MatDestroy(M));
  *M = E;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GraphMarkovOnDevice(Mat *M, const GraphMarkovParameters *p, PetscInt *iterations, PetscReal *chaos, PetscBool *done)
{
  const GraphMarkovOptions options = {.inflation = (double)p->inflation, .prune = (double)p->prune, .batch = (double)p->batch, .keep = p->keep};
  SysCSR                   csr;
  GraphMarkov             *g;
  SysStatus                status;

  PetscFunctionBegin;
  PetscCall(PatternGet(*M, &csr, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogGpuTimeBegin());
  status = GraphMarkovCreate(&csr, &g);
  while (status == SYS_SUCCESS && *chaos > p->rest && *iterations < p->most) {
    double now;

    status = GraphMarkovStep(g, &options, &now, PetscDefaultCudaStream);
    if (status) break;
    *chaos = (PetscReal)now;
    (*iterations)++;
    if (p->monitor) PetscCall((*p->monitor)(*iterations, *chaos, p->context));
  }
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(Check(*M, status, "Markov clustering", done));
  if (*iterations) PetscCall(MarkovFetch(g, M)); /* memory was short for all iterations: the host continues from here */
  GraphMarkovDestroy(g, PetscDefaultCudaStream);
  PetscFunctionReturn(PETSC_SUCCESS);
}
