/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The threads of this process: how many kernels may use, and OpenMP's questions also where there is no OpenMP
*/
#pragma once

#if defined(_OPENMP)
  #include <omp.h>
#else
  #define omp_get_thread_num()  0
  #define omp_get_num_threads() 1
#endif

/* OMP_NUM_THREADS, or all processors that a single process may run on, or one thread for each of several processes */
void SysThreadsChoose(int processes);
int  SysThreads(void);
