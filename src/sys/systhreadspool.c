/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The library's own threads: the part of the run-time interface of gcc's OpenMP (libgomp) that this library's objects call.

   gcc turns each parallel region into a function and calls GOMP_parallel(function, data, n), which calls the function once for each of n members.
   Here a member is work, not a thread: any free thread runs it, and the calling thread runs all members that no worker has begun. So the caller waits
   only for members that have begun, and the partition, with every bit of a result, depends on n and not on the number of threads. No member may wait
   for one that has not begun: regions contain no barrier (the linker reports GOMP_barrier or GOMP_loop_end as undefined); use a second region
   instead.

     caller     member 0 | runs members that have not begun  | waits for those that have
     worker 1   member 1 | (fewer workers than members: further members) | spins, then sleeps
     worker 2   member 2 | ...

   Each member has a slot with its own cache line. A slot's state is the region's number and open or taken; compare-and-swap from open to taken of the
   same region is the only way to take a member, and a region ends after its last taken member.

   A second thread that opens a region meanwhile, and a member that opens one, run all of that region's members themselves.

   Waits spin for a bounded time, then sleep (futex). The number of working threads follows the time that threads lost to other programs: wall time
   minus processor time of a thread that did not sleep. A thread that ends late because its member has more work has lost nothing. If the loss exceeds
   5 %, half of the threads continue; they return when the system has fewer runnable threads than processors (/proc/loadavg), after a pause that
   doubles with each further loss.

   After fork() the child has no workers. It starts with an empty pool and open locks.
*/
#if !defined(_GNU_SOURCE)
  #define _GNU_SOURCE
#endif
#include <linux/futex.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sys/systhreads.h"
#include "sys/systuning.h"

#define POOL_MEMBERS 1024 /* most members of a region */
#define POOL_LINE    128  /* bytes of a processor's prefetch unit */

/* All in nanoseconds */
#define POOL_SPIN    50000    /* shortest spin of a wait */
#define POOL_CLOSE   2000000  /* time between regions below which waits spin longer */
#define POOL_CHECK   1000000  /* time between checks of the loss */
#define POOL_LOSS    1000000  /* loss beyond 5 % that means that other programs use the processors */
#define POOL_SHORTER 10000000 /* shortest pause before dropped threads return */
#define POOL_LONGEST 500000000

enum {
  POOL_OPEN,
  POOL_TAKEN
};

/* Shared data of a region's members */
typedef struct {
  void (*run)(void *);
  void       *data;
  int         n;
  atomic_uint next;          /* chunk of a loop with schedule(dynamic) */
  atomic_uint turn, waiting; /* the chunk whose ordered part may run, and the members that wait for their turn */
} SysTeam;

/* The member that a thread runs */
typedef struct {
  SysTeam           *team;
  int                number;
  unsigned long long start, step, chunk, length; /* its loop with schedule(dynamic) */
  unsigned int       at;                         /* its chunk */
  bool               passed;                     /* the chunk has passed its turn on */
} SysMember;

/* The system's counters for a thread */
typedef struct {
  int64_t wall, processor, slept;
  long    switches, sleeps;
} SysUsage;

typedef struct {
  _Alignas(POOL_LINE) atomic_uint state; /* 2 * region + POOL_OPEN or POOL_TAKEN */
  atomic_uint  asleep;
  atomic_llong called; /* time of the worker's last wake-up */
} SysSlot;

static SysSlot slots[POOL_MEMBERS]; /* slot 0 belongs to the caller */

static struct {
  SysTeam     *team; /* of the region */
  unsigned int region;
  bool         spare; /* the region has more members than threads */
  int          workers, processors;
  int          limit;         /* number of working threads, including the caller */
  int64_t      ended, gap;    /* end of the last region; average time between regions */
  int64_t      checked, debt; /* time of the last check; the loss beyond 5 % */
  int64_t      pause, resume; /* length of the pause, and its end */
  SysUsage     usage;         /* of the caller at the last check */
  double       regions, shortened;
  bool         begun, passive;
} pool;

static atomic_int   owned;    /* a thread has a region with workers */
static atomic_uint  pending;  /* members of the region that have not ended */
static atomic_uint  sleeping; /* the caller sleeps until they end */
static atomic_llong lost;     /* nanoseconds that workers lost since the caller's last check */
static atomic_llong spinning; /* nanoseconds that waits spin */
static atomic_uint  atomics;  /* the lock of atomic regions. 0: open, 1: locked, 2: locked, and a thread may sleep */

static _Thread_local SysMember member;
static _Thread_local int64_t   slept; /* nanoseconds of this thread in PoolSleep() */
static _Thread_local long      sleeps;

/* ------------------------------------------------- waits ------------------------------------------------- */

static int64_t PoolClock(clockid_t clock)
{
  struct timespec t;

  (void)clock_gettime(clock, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t PoolNow(void)
{
  return PoolClock(CLOCK_MONOTONIC);
}

static void PoolRelax(void)
{
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("yield" ::: "memory");
#else
  atomic_signal_fence(memory_order_seq_cst);
#endif
}

/* Spins while *word == value, for at most `most` nanoseconds; returns whether it changed */
static bool PoolSpin(atomic_uint *word, unsigned int value, int64_t most)
{
  int64_t begin = 0;

  for (;;) {
    for (int k = 0; k < 32; k++) {
      if (atomic_load_explicit(word, memory_order_acquire) != value) return true;
      PoolRelax();
    }
    if (!begin) begin = PoolNow();
    else if (PoolNow() - begin >= most) return false;
  }
}

/* Sleeps while *word == value; may return early */
static void PoolSleep(atomic_uint *word, unsigned int value)
{
  const int64_t begin = PoolNow();

  (void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
  slept += PoolNow() - begin;
  sleeps++;
}

static void PoolWake(atomic_uint *word, int most)
{
  (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, most, NULL, NULL, 0);
}

/* ------------------------------------------------- load of other programs ------------------------------------------------- */

/* Returns the nanoseconds that this thread was runnable but did not run since the last call; 0 if it also slept elsewhere */
static int64_t PoolLost(SysUsage *last)
{
  struct rusage r;
  SysUsage      now;
  int64_t       loss;

  if (getrusage(RUSAGE_THREAD, &r)) return 0;
  now.wall      = PoolNow();
  now.processor = PoolClock(CLOCK_THREAD_CPUTIME_ID); /* getrusage() is only as fresh as the last tick */
  now.slept     = slept;
  now.switches  = r.ru_nvcsw;
  now.sleeps    = sleeps;
  loss          = now.wall - last->wall - (now.processor - last->processor) - (now.slept - last->slept);
  if (!last->wall || now.switches - last->switches > now.sleeps - last->sleeps) loss = 0;
  *last = now;
  return loss > 0 ? loss : 0;
}

/* Returns the number of processors that no other program uses now, according to the system */
static int PoolFree(void)
{
  FILE *file = fopen("/proc/loadavg", "r");
  int   running, awake = 1, got;

  if (!file) return pool.processors;
  got = fscanf(file, "%*f %*f %*f %d/", &running);
  (void)fclose(file);
  for (int k = 1; k <= pool.workers; k++) awake += !atomic_load_explicit(&slots[k].asleep, memory_order_relaxed);
  return got == 1 ? (int)sysconf(_SC_NPROCESSORS_ONLN) - (running - awake) : pool.processors;
}

/* Checks the caller's loss, and sets the number of working threads and the spin time of waits */
static void PoolCheck(int64_t now)
{
  const int64_t wall = now - pool.checked, loss = PoolLost(&pool.usage) + atomic_exchange(&lost, 0);

  pool.checked = now;
  pool.debt += loss - wall / 20;
  if (pool.debt < 0) pool.debt = 0;
  if (pool.debt > POOL_LOSS) {
    pool.debt   = 0;
    pool.limit  = (pool.limit + 1) / 2;
    pool.pause  = 2 * pool.pause < POOL_LONGEST ? 2 * pool.pause : POOL_LONGEST;
    pool.resume = now + pool.pause;
  } else if (now >= pool.resume) {
    if (pool.limit < pool.processors) {
      const int idle = PoolFree();

      if (idle > pool.limit) pool.limit = idle < pool.processors ? idle : pool.processors;
      pool.resume = now + pool.pause;
    } else if (now >= pool.resume + 16 * pool.pause) pool.pause = POOL_SHORTER;
  }
  if (!pool.passive) atomic_store(&spinning, POOL_SPIN + (pool.limit == pool.processors && pool.gap < POOL_CLOSE ? 2 * pool.gap : 0));
}

/* ------------------------------------------------- members ------------------------------------------------- */

static void PoolRunMember(SysTeam *team, int number)
{
  const SysMember before = member;

  member.team   = team;
  member.number = number;
  member.chunk  = 0;
  (*team->run)(team->data);
  member = before;
}

static void PoolRunAll(SysTeam *team)
{
  for (int k = 0; k < team->n; k++) PoolRunMember(team, k);
}

/* Takes a member of the region if it is open */
static bool PoolEnter(int number, unsigned int open)
{
  return atomic_load_explicit(&slots[number].state, memory_order_relaxed) == open && atomic_compare_exchange_strong(&slots[number].state, &open, open | POOL_TAKEN);
}

/* Ends n members; the region's data may be gone afterwards */
static void PoolEnd(unsigned int n)
{
  if (atomic_fetch_sub(&pending, n) == n && atomic_load(&sleeping)) PoolWake(&pending, 1);
}

/* ------------------------------------------------- processors ------------------------------------------------- */

#pragma weak omp_get_num_places
#pragma weak omp_get_place_num_procs
#pragma weak omp_get_place_proc_ids

/* Gets the processors for the workers; false if the system does not report them. If the program's OpenMP library has bound the caller to one place,
   gets the processors of all places. */
static bool PoolProcessors(cpu_set_t *set)
{
  if (sched_getaffinity(0, sizeof(*set), set)) return false;
  for (int p = 0; omp_get_num_places && p < omp_get_num_places(); p++) {
    int       ids[CPU_SETSIZE];
    const int n = omp_get_place_num_procs(p);

    if (n > CPU_SETSIZE) return false;
    omp_get_place_proc_ids(p, ids);
    for (int k = 0; k < n; k++) CPU_SET(ids[k], set);
  }
  return true;
}

int SysPoolProcessors(void)
{
  cpu_set_t set;

  return PoolProcessors(&set) ? CPU_COUNT(&set) : (int)sysconf(_SC_NPROCESSORS_ONLN);
}

/* ------------------------------------------------- workers ------------------------------------------------- */

/* Waits until this worker's slot changes; *loss: the time from wake-up call to wake-up, if long */
static void PoolNext(SysSlot *slot, int64_t *loss)
{
  unsigned int state = atomic_load(&slot->state);
  int64_t      called, late;

  *loss = 0;
  if (!(state & POOL_TAKEN) || PoolSpin(&slot->state, state, atomic_load_explicit(&spinning, memory_order_relaxed))) return;
  atomic_store(&slot->called, 0);
  atomic_store(&slot->asleep, 1);
  if (atomic_load(&slot->state) == state) PoolSleep(&slot->state, state);
  atomic_store(&slot->asleep, 0);
  called = atomic_load(&slot->called);
  late   = called ? PoolNow() - called : 0;
  if (late > POOL_CHECK) *loss = late;
}

static void *PoolWork(void *arg)
{
  SysSlot *slot  = arg;
  SysUsage usage = {0};

  (void)PoolLost(&usage);
  for (;;) {
    unsigned int open;
    int64_t      loss;

    PoolNext(slot, &loss);
    open = atomic_load(&slot->state);
    if (!(open & POOL_TAKEN) && PoolEnter((int)(slot - slots), open)) {
      SysTeam *team  = pool.team;
      int      n     = team->n;
      bool     spare = pool.spare;

      PoolRunMember(team, (int)(slot - slots));
      for (int k = 1; spare && k < n; k++) {
        if (!PoolEnter(k, open)) continue;
        PoolRunMember(team, k);
        PoolEnd(1);
      }
      if (PoolNow() - usage.wall > POOL_CHECK) loss += PoolLost(&usage);
      if (loss) atomic_fetch_add(&lost, loss);
      PoolEnd(1);
    }
  }
  return NULL;
}

/* Starts one more worker, on the process's processors, with signals blocked so that the program's threads get them */
static bool PoolStart(void)
{
  SysSlot       *slot = &slots[pool.workers + 1];
  pthread_attr_t attr;
  pthread_t      thread;
  sigset_t       all, before;
  cpu_set_t      set;
  bool           started;

  if (pthread_attr_init(&attr)) return false;
  (void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
  if (PoolProcessors(&set)) (void)pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
  (void)sigfillset(&all);
  for (const int *s = (const int[]){SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, 0}; *s; s++) (void)sigdelset(&all, *s);
  (void)pthread_sigmask(SIG_BLOCK, &all, &before);
  atomic_store(&slot->state, POOL_TAKEN);
  atomic_store(&slot->asleep, 0);
  started = !pthread_create(&thread, &attr, PoolWork, slot);
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  (void)pthread_attr_destroy(&attr);
  pool.workers += started;
  return started;
}

/* In the child of fork(), which has only the calling thread */
static void PoolForked(void)
{
  for (int k = 0; k <= pool.workers; k++) {
    atomic_store(&slots[k].state, POOL_TAKEN);
    atomic_store(&slots[k].asleep, 0);
  }
  pool.workers = 0;
  pool.usage   = (SysUsage){0};
  pool.limit   = pool.processors;
  atomic_store(&owned, 0);
  atomic_store(&pending, 0);
  atomic_store(&sleeping, 0);
  atomic_store(&lost, 0);
  atomic_store(&atomics, 0);
}

static void PoolBegin(int64_t now)
{
  const char *policy = getenv("OMP_WAIT_POLICY");

  pool.begun      = true;
  pool.processors = SysProcessors();
  pool.passive    = policy && (policy[0] == 'p' || policy[0] == 'P');
  pool.pause      = POOL_SHORTER;
  pool.gap        = POOL_CLOSE;
  pool.ended      = now;
  pool.checked    = now;
  pool.limit      = PoolFree();
  if (pool.limit > pool.processors) pool.limit = pool.processors;
  if (pool.limit < 1) pool.limit = 1;
  atomic_store(&spinning, pool.passive ? 0 : POOL_SPIN);
  (void)PoolLost(&pool.usage);
  (void)pthread_atfork(NULL, NULL, PoolForked);
}

/* ------------------------------------------------- regions ------------------------------------------------- */

/* Returns the number of threads for a region of n members that begins now */
static int PoolThreads(int n, int64_t now)
{
  const int64_t gap = now - pool.ended;
  int           threads;

  if (!pool.begun) PoolBegin(now);
  pool.gap += ((gap < 2 * POOL_CLOSE ? gap : 2 * POOL_CLOSE) - pool.gap) / 8;
  if (pool.processors > 1 && now - pool.checked > POOL_CHECK) PoolCheck(now);
  threads = n < pool.limit ? n : pool.limit;
  pool.regions++;
  pool.shortened += threads < n && threads < pool.processors;
  while (pool.workers < threads - 1 && PoolStart()) { }
  return threads < pool.workers + 1 ? threads : pool.workers + 1;
}

/* Waits for members that others have begun. They take about as long as the caller's, unless their threads do not run. */
static void PoolWait(int64_t begin)
{
  const int64_t most = pool.passive ? 0 : PoolNow() - begin + POOL_SPIN;
  unsigned int  n;

  while ((n = atomic_load(&pending))) {
    if (PoolSpin(&pending, n, most)) continue;
    atomic_store(&sleeping, 1);
    PoolSleep(&pending, n);
    atomic_store(&sleeping, 0);
  }
}

static void PoolRegion(SysTeam *team)
{
  const int64_t begin   = PoolNow();
  const int     threads = PoolThreads(team->n, begin);
  unsigned int  open, done = 1;

  if (threads == 1) PoolRunAll(team);
  else {
    open       = 2 * ++pool.region | POOL_OPEN;
    pool.team  = team;
    pool.spare = threads < team->n;
    atomic_store(&pending, (unsigned int)team->n);
    for (int k = threads; k < team->n; k++) atomic_store_explicit(&slots[k].state, open, memory_order_release);
    for (int k = 1; k < threads; k++) {
      atomic_store(&slots[k].state, open);
      if (!atomic_load(&slots[k].asleep) || !atomic_exchange(&slots[k].asleep, 0)) continue;
      atomic_store(&slots[k].called, begin);
      PoolWake(&slots[k].state, 1);
    }
    PoolRunMember(team, 0);
    for (int k = team->n - 1; k > 0; k--) {
      if (!PoolEnter(k, open)) continue;
      PoolRunMember(team, k);
      done++;
    }
    if (atomic_fetch_sub(&pending, done) != done) PoolWait(begin);
  }
  pool.ended = PoolNow();
}

void SysThreadsGetLoad(double *regions, double *shortened)
{
  *regions   = pool.regions;
  *shortened = pool.shortened;
}

/* ------------------------------------------------- entry points of gcc's OpenMP ------------------------------------------------- */

#pragma GCC visibility push(hidden)

int omp_get_thread_num(void)
{
  return member.number;
}

int omp_get_num_threads(void)
{
  return member.team ? member.team->n : 1;
}

void GOMP_parallel(void (*run)(void *), void *data, unsigned int n, unsigned int flags)
{
  SysTeam team = {.run = run, .data = data, .n = n ? (n < POOL_MEMBERS ? (int)n : POOL_MEMBERS) : SysThreads()};

  (void)flags;
  if (team.n == 1 || atomic_exchange(&owned, 1)) PoolRunAll(&team);
  else {
    PoolRegion(&team);
    atomic_store(&owned, 0);
  }
}

void GOMP_atomic_start(void)
{
  unsigned int state = 0;

  if (atomic_compare_exchange_strong(&atomics, &state, 1)) return;
  while (atomic_exchange(&atomics, 2)) {
    if (!PoolSpin(&atomics, 2, POOL_SPIN)) PoolSleep(&atomics, 2);
  }
}

void GOMP_atomic_end(void)
{
  if (atomic_exchange(&atomics, 0) == 2) PoolWake(&atomics, 1);
}

/* Waits until the chunk's ordered part may run */
static void PoolTurn(void)
{
  SysTeam     *team = member.team;
  unsigned int turn;

  while ((turn = atomic_load(&team->turn)) != member.at) {
    if (PoolSpin(&team->turn, turn, POOL_SPIN)) continue;
    atomic_fetch_add(&team->waiting, 1);
    PoolSleep(&team->turn, turn);
    atomic_fetch_sub(&team->waiting, 1);
  }
}

/* Lets the next chunk's ordered part run */
static void PoolPass(void)
{
  PoolTurn();
  atomic_store(&member.team->turn, member.at + 1);
  if (atomic_load(&member.team->waiting)) PoolWake(&member.team->turn, INT_MAX);
  member.passed = true;
}

/* Gets the next chunk of a loop with schedule(dynamic): iterations *begin to *end - 1 */
static bool PoolChunk(bool ordered, unsigned long long *begin, unsigned long long *end)
{
  SysMember         *m = &member;
  unsigned long long lo, hi;

  if (ordered && !m->passed) PoolPass();
  m->at     = atomic_fetch_add(&m->team->next, 1);
  m->passed = false;
  lo        = m->at * m->chunk;
  hi        = lo + m->chunk < m->length ? lo + m->chunk : m->length;
  *begin    = m->start + lo * m->step;
  *end      = m->start + hi * m->step;
  return lo < m->length;
}

static bool PoolLoop(bool ordered, bool up, bool some, unsigned long long start, unsigned long long stop, unsigned long long step, unsigned long long chunk, unsigned long long *begin, unsigned long long *end)
{
  if (member.chunk) {
    (void)fputs("petsc-amb: a parallel region has a second loop with schedule(dynamic); make it a region of its own (CONTRIBUTING.md)\n", stderr);
    abort();
  }
  member.start  = start;
  member.step   = step;
  member.chunk  = chunk;
  member.length = !some ? 0 : up ? (stop - start + step - 1) / step : (start - stop - step - 1) / -step;
  member.passed = true;
  return PoolChunk(ordered, begin, end);
}

void GOMP_ordered_start(void)
{
  PoolTurn();
}

void GOMP_ordered_end(void)
{
  if (member.chunk == 1) PoolPass();
}

void GOMP_loop_end_nowait(void) { }

/* Loops over long and unsigned long long */
#define POOL_LOOPS(name, ull_name, ordered) \
  bool GOMP_loop_##name##_start(long start, long stop, long step, long chunk, long *begin, long *end) \
  { \
    unsigned long long lo, hi; \
    const bool         more = PoolLoop(ordered, step > 0, step > 0 ? start < stop : start > stop, (unsigned long long)start, (unsigned long long)stop, (unsigned long long)step, (unsigned long long)chunk, &lo, &hi); \
\
    *begin = (long)lo; \
    *end   = (long)hi; \
    return more; \
  } \
  bool GOMP_loop_##name##_next(long *begin, long *end) \
  { \
    unsigned long long lo, hi; \
    const bool         more = PoolChunk(ordered, &lo, &hi); \
\
    *begin = (long)lo; \
    *end   = (long)hi; \
    return more; \
  } \
  bool GOMP_loop_##ull_name##_start(bool up, unsigned long long start, unsigned long long stop, unsigned long long step, unsigned long long chunk, unsigned long long *begin, unsigned long long *end) \
  { \
    return PoolLoop(ordered, up, up ? start < stop : start > stop, start, stop, step, chunk, begin, end); \
  } \
  bool GOMP_loop_##ull_name##_next(unsigned long long *begin, unsigned long long *end) \
  { \
    return PoolChunk(ordered, begin, end); \
  }

POOL_LOOPS(dynamic, ull_dynamic, false)
POOL_LOOPS(nonmonotonic_dynamic, ull_nonmonotonic_dynamic, false)
POOL_LOOPS(ordered_dynamic, ull_ordered_dynamic, true)

#pragma GCC visibility pop
