/* SPDX-License-Identifier: BSD-2-Clause */
/* OpenMP's questions, also where there is no OpenMP */
#pragma once

#if defined(_OPENMP)
  #include <omp.h>
#else
  #define omp_get_thread_num()  0
  #define omp_get_num_threads() 1
#endif
