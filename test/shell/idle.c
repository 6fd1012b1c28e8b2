/* SPDX-License-Identifier: BSD-2-Clause */
/*
   A process of MPI that waits for another one sleeps. Open MPI polls and calls sched_yield() between two polls. Where a run has more processes than cores,
   Linux returns to the waiting process again and again, and these calls took most of the time of the tests on two and three processes.

   A series is calls with less than IDLE_GAP between them. Its first IDLE_POLLS calls return at once, since many waits are short and MUMPS polls without a
   wait; the others sleep.

   test/runtests.py preloads this library into the processes that mpiexec starts.
*/
#include <sched.h>
#include <time.h>

#define IDLE_POLLS 200   /* calls of a series that do not sleep */
#define IDLE_GAP   5000  /* nanoseconds between two series */
#define IDLE_SLEEP 20000 /* nanoseconds of a sleep, to which Linux adds 50 microseconds */

static __thread struct timespec last;
static __thread int             calls;

int sched_yield(void)
{
  const struct timespec pause = {0, IDLE_SLEEP};
  struct timespec       now;

  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  if ((now.tv_sec - last.tv_sec) * 1000000000L + now.tv_nsec - last.tv_nsec > IDLE_GAP) calls = 0;
  if (calls < IDLE_POLLS) {
    calls++;
    last = now;
    return 0;
  }
  (void)nanosleep(&pause, NULL);
  (void)clock_gettime(CLOCK_MONOTONIC, &last);
  return 0;
}
