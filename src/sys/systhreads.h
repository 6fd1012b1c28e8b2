/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The number of threads that kernels of this process may use, and stand-ins for OpenMP's functions in a build without OpenMP
*/
#pragma once

#if defined(_OPENMP)
  #include <omp.h>
#else
  #define omp_get_thread_num()  0
  #define omp_get_num_threads() 1
#endif

/* Sets the number: OMP_NUM_THREADS; if that is not set, all processors that a single process may run on, or one thread for each of several processes */
void SysThreadsChoose(int processes);
int  SysThreads(void);

/* For tests */
void SysThreadsSet(int threads);

/* The processors that threads of this process may run on, no more than its control group allows */
int SysProcessors(void);

/* Parallel regions so far, and those of them that ran on fewer threads because other programs used the processors; 0 without the library's own threads */
void SysThreadsGetLoad(double *regions, double *shortened);

/* The processors of the affinity mask, in systhreadspool.c */
int SysPoolProcessors(void);
