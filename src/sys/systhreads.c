/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sys/systhreads.h"

static int threads = 1;

#if defined(_OPENMP)
/* Returns the control group's limit in processors, rounded up; 0: no limit */
static int SysThreadsQuota(void)
{
  char  line[256], name[300];
  long  quota = -1, period = 0;
  int   found = 0;
  FILE *file  = fopen("/proc/self/cgroup", "r");

  (void)snprintf(name, sizeof(name), "/sys/fs/cgroup/cpu.max");
  while (file && !found && fgets(line, sizeof(line), file)) {
    line[strcspn(line, "\n")] = 0;
    found                     = !strncmp(line, "0::/", 4);
    if (found && line[4]) (void)snprintf(name, sizeof(name), "/sys/fs/cgroup%s/cpu.max", line + 3);
  }
  if (file) (void)fclose(file);
  file = fopen(name, "r");
  if (!file) file = fopen("/sys/fs/cgroup/cpu.max", "r"); /* in a container the path may be the host's */
  if (!file) return 0;
  if (fscanf(file, "%ld %ld", &quota, &period) != 2) quota = -1; /* max */
  (void)fclose(file);
  return quota > 0 && period > 0 ? (int)((quota + period - 1) / period) : 0;
}
#endif

int SysProcessors(void)
{
#if defined(_OPENMP)
  const int quota = SysThreadsQuota();
  #if defined(PETSCAMB_HAVE_POOL)
  const int allowed = SysPoolProcessors();
  #else
  const int allowed = omp_get_num_procs();
  #endif

  return quota > 0 && quota < allowed ? quota : allowed;
#else
  return 1;
#endif
}

void SysThreadsChoose(int processes)
{
#if defined(_OPENMP)
  const char *given = getenv("OMP_NUM_THREADS");

  threads = given ? atoi(given) : 0; /* the first of a list counts */
  if (threads < 1) threads = given || processes == 1 ? SysProcessors() : 1;
  #if !defined(PETSCAMB_HAVE_POOL) && defined(__clang__)
  if (!getenv("KMP_BLOCKTIME") && !getenv("OMP_WAIT_POLICY")) kmp_set_blocktime(1); /* milliseconds that threads spin; the default is 200 */
  #endif
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

#if !defined(PETSCAMB_HAVE_POOL)
void SysThreadsGetLoad(double *regions, double *shortened)
{
  *regions   = 0;
  *shortened = 0;
}
#endif
