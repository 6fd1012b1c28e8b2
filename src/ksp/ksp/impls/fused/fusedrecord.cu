/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "sys/syscuda.cuh"
#include "ksp/ksp/impls/fused/fusedcuda.h"

struct _FusedRecord {
  cudaStream_t    stream;
  cudaGraphExec_t exec;
};

/* What was recorded before is destroyed here: CUDA gives a record up in which a graph is destroyed */
SysStatus FusedRecordBegin(FusedRecord **r, SysStream *stream)
{
  if (!*r) {
    cudaStream_t own;

    SYS_CUDA(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));
    *r = (FusedRecord *)calloc(1, sizeof(**r));
    if (!*r) {
      (void)cudaStreamDestroy(own);
      return SYS_OUT_OF_MEMORY;
    }
    (*r)->stream = own;
  }
  if ((*r)->exec) SYS_CUDA(cudaGraphExecDestroy((*r)->exec));
  (*r)->exec = NULL;
  SYS_CUDA(cudaStreamBeginCapture((*r)->stream, cudaStreamCaptureModeThreadLocal));
  *stream = (*r)->stream;
  return SYS_SUCCESS;
}

SysStatus FusedRecordEnd(FusedRecord *r, int *recorded)
{
  cudaGraph_t graph = NULL;

  *recorded = cudaStreamEndCapture(r->stream, &graph) == cudaSuccess && graph && cudaGraphInstantiate(&r->exec, graph, 0) == cudaSuccess;
  if (graph) (void)cudaGraphDestroy(graph);
  if (!*recorded) {
    r->exec = NULL;
    (void)cudaGetLastError();
  }
  return SYS_SUCCESS;
}

SysStatus FusedRecordReplay(const FusedRecord *r, SysStream stream)
{
  SYS_CUDA(cudaGraphLaunch(r->exec, stream));
  return SYS_SUCCESS;
}

void FusedRecordDestroy(FusedRecord **r)
{
  if (!*r) return;
  if ((*r)->exec) (void)cudaGraphExecDestroy((*r)->exec);
  if ((*r)->stream) (void)cudaStreamDestroy((*r)->stream);
  free(*r);
  *r = NULL;
}
