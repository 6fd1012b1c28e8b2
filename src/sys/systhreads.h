/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The number of threads of this process's kernels, and stand-ins for OpenMP's functions in a build without OpenMP
*/
#pragma once

#if defined(_OPENMP)
  #include <omp.h>
#else
  #define omp_get_thread_num()  0
  #define omp_get_num_threads() 1
#endif

/* Sets the number: OMP_NUM_THREADS, else all allowed processors for a single process, or one thread for each of several processes */
void SysThreadsChoose(int processes);
int  SysThreads(void);

/* For tests */
void SysThreadsSet(int threads);

/* Returns the processors that this process may use, at most its control group's limit */
int SysProcessors(void);

/* Gets the number of parallel regions so far, and of those that ran on fewer threads because other programs used the processors; 0 without the
   library's own threads */
void SysThreadsGetLoad(double *regions, double *shortened);

/* Returns the processors of the affinity mask (systhreadspool.c) */
int SysPoolProcessors(void);
