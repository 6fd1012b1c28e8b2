/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Loading of kernels ahead of their first calls. CUDA loads the code of each kernel at its first call, in a tenth of a millisecond or more, and a set-up of multigrid
   calls a hundred of them once. All kernels of a file are in one module of CUDA's driver, which can list them (CUDA 12.4 and newer).
*/
#include <cuda.h>
#include <vector>

#include "sys/syscuda.cuh"
#include "sys/sysload.h"

static SysKernels *files = NULL;

SysKernels::SysKernels(const void *k) : kernel(k), next(files)
{
  files = this;
}

#if CUDART_VERSION >= 12050
/* The driver's functions, asked for by name: the library does not link the driver, which is missing where there is no GPU */
struct Driver {
  CUresult (*module)(CUmodule *, CUfunction);
  CUresult (*count)(unsigned *, CUmodule);
  CUresult (*list)(CUfunction *, unsigned, CUmodule);
  CUresult (*load)(CUfunction);
};

template <typename F>
static bool DriverFind(const char name[], F *function)
{
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  void                           *p     = NULL;

  if (cudaGetDriverEntryPointByVersion(name, &p, 12040, cudaEnableDefault, &found) != cudaSuccess || found != cudaDriverEntryPointSuccess) return false;
  *function = (F)p;
  return true;
}

static void LoadFile(const Driver &driver, const void *kernel)
{
  cudaFunction_t          function;
  CUmodule                module;
  unsigned                n;
  std::vector<CUfunction> all;

  if (cudaGetFuncBySymbol(&function, kernel) != cudaSuccess || driver.module(&module, (CUfunction)function) != CUDA_SUCCESS || driver.count(&n, module) != CUDA_SUCCESS) return;
  all.resize(n);
  if (!n || driver.list(all.data(), n, module) != CUDA_SUCCESS) return;
  for (CUfunction f : all) (void)driver.load(f);
}
#endif

/* Failures are ignored: a kernel that is not loaded here is loaded at its first call */
void SysLoadKernels(void)
{
#if CUDART_VERSION >= 12050
  Driver driver;

  if (DriverFind("cuFuncGetModule", &driver.module) && DriverFind("cuModuleGetFunctionCount", &driver.count) && DriverFind("cuModuleEnumerateFunctions", &driver.list) && DriverFind("cuFuncLoad", &driver.load)) {
    for (const SysKernels *file = files; file; file = file->next) LoadFile(driver, file->kernel);
  }
  (void)cudaGetLastError();
#endif
}
