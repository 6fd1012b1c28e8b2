/* SPDX-License-Identifier: BSD-2-Clause */
/*
   A process of MPI that waits for another one sleeps. Open MPI polls and calls sched_yield() between two polls. Where a run has more processes than it has
   cores, Linux then returns to the waiting process again and again, and these calls take most of the time of the tests on two and three processes.

   test/runtests.py preloads this library into the processes that mpiexec starts.
*/
#include <sched.h>
#include <time.h>

int sched_yield(void)
{
  const struct timespec pause = {0, 20000};

  (void)nanosleep(&pause, NULL);
  return 0;
}
