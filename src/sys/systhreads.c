/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "sys/systhreads.h"

static int threads = 1;

void SysThreadsChoose(int processes)
{
#if defined(_OPENMP)
  if (getenv("OMP_NUM_THREADS")) threads = omp_get_max_threads();
  else threads = processes == 1 ? omp_get_num_procs() : 1;
#else
  (void)processes;
#endif
}

void SysThreadsSet(int n)
{
  threads = n;
}

int SysThreads(void)
{
  return threads;
}
