/* SPDX-License-Identifier: BSD-2-Clause */
/*
   A process of MPI that waits for another one sleeps. Open MPI polls and calls sched_yield() between two polls. Where a run has more processes than cores,
   Linux returns to the waiting process again and again, and these calls took most of the time of the tests on two and three processes.

   A series is calls with less than IDLE_GAP between them. Its first calls return at once, since many waits are short and MUMPS polls without a wait; the others
   sleep. There are IDLE_POLLS first calls, or IDLE_POLLS_CROWDED where a run has more processes than cores: the process that is waited for then wants this core.

   test/runtests.py preloads this library into the processes that mpiexec starts.
*/
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define IDLE_POLLS         200   /* calls of a series that do not sleep */
#define IDLE_POLLS_CROWDED 50    /* the same with more processes than cores: three on two cores take 0.82 of the processor time */
#define IDLE_GAP           5000  /* nanoseconds between two series */
#define IDLE_SLEEP         20000 /* nanoseconds of a sleep, to which Linux adds 50 microseconds */

static __thread struct timespec last;
static __thread int             calls;
static int                      polls = IDLE_POLLS;

__attribute__((constructor)) static void SetPolls(void)
{
  const char *processes = getenv("OMPI_COMM_WORLD_LOCAL_SIZE");

  if (processes && atol(processes) > sysconf(_SC_NPROCESSORS_ONLN)) polls = IDLE_POLLS_CROWDED;
}

int sched_yield(void)
{
  const struct timespec pause = {0, IDLE_SLEEP};
  struct timespec       now;

  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  if ((now.tv_sec - last.tv_sec) * 1000000000L + now.tv_nsec - last.tv_nsec > IDLE_GAP) calls = 0;
  if (calls < polls) {
    calls++;
    last = now;
    return 0;
  }
  (void)nanosleep(&pause, NULL);
  (void)clock_gettime(CLOCK_MONOTONIC, &last);
  return 0;
}
