/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The machine: names and the rates of its memory. A sparse product can at most reach the rate of a loop that only reads.
*/
#if !defined(_GNU_SOURCE)
  #define _GNU_SOURCE /* sched_getaffinity(), MADV_HUGEPAGE */
#endif
#include "tool.h"
#include <petscdevice.h>
#include <petsctime.h>
#include <time.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>
#if defined(_OPENMP)
  #include <omp.h>
#endif

typedef double Wide __attribute__((vector_size(64)));

/* Sums n bytes, a multiple of 512. With ahead it prefetches lines, which is faster on some machines for data in memory, and slower for data in the cache. */
WIDEST_VECTORS static double ReadBytes(const char *p, size_t n)
{
  Wide s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, s4 = {0}, s5 = {0}, s6 = {0}, s7 = {0};

  for (const Wide *q = (const Wide *)p, *end = (const Wide *)(p + n); q < end; q += 8) {
    s0 += q[0];
    s1 += q[1];
    s2 += q[2];
    s3 += q[3];
    s4 += q[4];
    s5 += q[5];
    s6 += q[6];
    s7 += q[7];
  }
  s0 += s1 + s2 + s3 + s4 + s5 + s6 + s7;
  return s0[0] + s0[1] + s0[2] + s0[3] + s0[4] + s0[5] + s0[6] + s0[7];
}

WIDEST_VECTORS static double ReadBytesAhead(const char *p, size_t n)
{
  Wide s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};

  for (const Wide *q = (const Wide *)p, *end = (const Wide *)(p + n); q < end; q += 4) {
    for (int k = 0; k < 4; k++) __builtin_prefetch(q + 32 + k);
    s0 += q[0];
    s1 += q[1];
    s2 += q[2];
    s3 += q[3];
  }
  s0 += s1 + s2 + s3;
  return s0[0] + s0[1] + s0[2] + s0[3] + s0[4] + s0[5] + s0[6] + s0[7];
}

/* The share of one thread, in whole units of 512 bytes */
static void Share(size_t bytes, size_t *first, size_t *length)
{
  const size_t units = bytes / 512;
#if defined(_OPENMP)
  const size_t threads = (size_t)omp_get_num_threads(), me = (size_t)omp_get_thread_num();
#else
  const size_t threads = 1, me = 0;
#endif

  *first  = units * me / threads * 512;
  *length = units * (me + 1) / threads * 512 - *first;
}

static PetscBool ofprocessor = PETSC_FALSE;

/* From here on MachineTime() is the time that the processors give to this process: other programs that share them do not lengthen it */
void MachineTimeOfProcessor(void)
{
  ofprocessor = PETSC_TRUE;
}

PetscErrorCode MachineTime(PetscLogDouble *t)
{
  struct timespec now;

  PetscFunctionBegin;
  *t = 0;
  if (!ofprocessor) {
    PetscCall(PetscTime(t));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(!clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now), PETSC_COMM_SELF, PETSC_ERR_SYS, "No time of the processor");
  *t = (PetscLogDouble)now.tv_sec + 1e-9 * (PetscLogDouble)now.tv_nsec;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the first bytes of the buffer of this process once, with all its threads */
PetscErrorCode MachineRead(const Machine *machine, size_t bytes, int kernel, PetscLogDouble *seconds)
{
  static volatile double sink;
  double                 sum = 0.0;
  PetscLogDouble         t0, t1;

  PetscFunctionBegin;
  PetscCall(MachineTime(&t0));
#pragma omp parallel reduction(+ : sum)
  {
    size_t first, length;

    Share(bytes, &first, &length);
    sum += kernel ? ReadBytesAhead(machine->buffer + first, length) : ReadBytes(machine->buffer + first, length);
  }
  PetscCall(MachineTime(&t1));
  sink     = sum;
  *seconds = t1 - t0;
  (void)sink;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MachineCopy(const Machine *machine, PetscLogDouble *seconds)
{
  const size_t   half = machine->bytes / 1024 * 512;
  PetscLogDouble t0, t1;

  PetscFunctionBegin;
  PetscCall(MachineTime(&t0));
#pragma omp parallel
  {
    size_t first, length;

    Share(half, &first, &length);
    memcpy(machine->buffer + half + first, machine->buffer + first, length);
  }
  PetscCall(MachineTime(&t1));
  *seconds = t1 - t0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rate of all processes together: their bytes over the time of the slowest, the best of several passes. They end after `seconds` if two of each kind
   have run: beside other programs, a pass over a gigabyte takes seconds. */
static PetscErrorCode Rate(MPI_Comm comm, const Machine *machine, size_t bytes, PetscBool copy, PetscLogDouble seconds, PetscLogDouble *rate)
{
  const int      passes = copy ? 7 : 14, least = copy ? 2 : 2 * MACHINE_READ_KERNELS;
  PetscLogDouble spent = 0;

  PetscFunctionBegin;
  *rate = 0;
  for (int pass = 0; pass < passes && (pass < least || spent < seconds); pass++) {
    PetscLogDouble t, total = (PetscLogDouble)bytes;

    PetscCallMPI(MPI_Barrier(comm));
    if (copy) PetscCall(MachineCopy(machine, &t));
    else PetscCall(MachineRead(machine, bytes, pass % MACHINE_READ_KERNELS, &t));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &t, 1, MPI_DOUBLE, MPI_MAX, comm));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_DOUBLE, MPI_SUM, comm));
    spent += t;
    if (pass >= MACHINE_READ_KERNELS || copy) *rate = PetscMax(*rate, total / t);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The last-level cache that a core sees; on some machines sysconf() has only the size for the whole socket */
static PetscLogDouble CacheBytes(void)
{
  double bytes = 0;

  for (int index = 4; index >= 2 && bytes <= 0; index--) {
    char  name[96];
    FILE *f;

    (void)snprintf(name, sizeof(name), "/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
    f = fopen(name, "r");
    if (!f) continue;
    if (fscanf(f, "%lfK", &bytes) == 1) bytes *= 1024;
    (void)fclose(f);
  }
#if defined(_SC_LEVEL3_CACHE_SIZE)
  if (bytes <= 0) bytes = (double)sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
  return bytes > 0 ? bytes : 32 * 1048576.0;
}

int MachineThreads(void)
{
#if defined(_OPENMP)
  return omp_get_max_threads();
#else
  return 1;
#endif
}

PetscErrorCode MachineCreate(MPI_Comm comm, PetscLogDouble seconds, Machine *machine)
{
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(AboutGet(&machine->about));
  machine->ranks   = size;
  machine->threads = MachineThreads();
  machine->allowed = machine->about.processors;
  machine->llc     = CacheBytes();
#if defined(__linux__)
  {
    cpu_set_t set;

    if (!sched_getaffinity(0, sizeof(set), &set)) machine->allowed = CPU_COUNT(&set);
  }
#endif
  machine->bytes       = (size_t)PetscMin(8 * machine->llc, 1e9) / (size_t)size / 1024 * 1024;
  machine->cache_bytes = (size_t)(machine->llc / 2) / (size_t)size / 1024 * 1024;
  /* large pages, or misses of the page tables would hide the rate of the memory */
  machine->buffer = (char *)mmap(NULL, machine->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  PetscCheck(machine->buffer != MAP_FAILED, PETSC_COMM_SELF, PETSC_ERR_MEM, "%g bytes to measure the memory with are not to be had", (double)machine->bytes);
#if defined(MADV_HUGEPAGE)
  (void)madvise(machine->buffer, machine->bytes, MADV_HUGEPAGE);
#endif
#pragma omp parallel
  {
    size_t first, length;

    Share(machine->bytes, &first, &length);
    memset(machine->buffer + first, 0, length);
  }
  PetscCall(Rate(comm, machine, machine->bytes, PETSC_FALSE, seconds, &machine->read_memory));
  PetscCall(Rate(comm, machine, machine->cache_bytes, PETSC_FALSE, seconds, &machine->read_cache));
  PetscCall(Rate(comm, machine, machine->bytes, PETSC_TRUE, seconds, &machine->copy_memory));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MachineDestroy(Machine *machine)
{
  PetscFunctionBegin;
  (void)munmap(machine->buffer, machine->bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The clock of the slowest process, once its GPU has done its work */
PetscErrorCode MachineNow(Vec x, PetscLogDouble *t)
{
  PetscBool device = PETSC_FALSE;

  PetscFunctionBegin;
#if defined(PETSC_HAVE_CUDA)
  PetscCall(PetscObjectTypeCompareAny((PetscObject)x, &device, VECSEQCUDA, VECMPICUDA, ""));
#endif
  if (device) {
    PetscDeviceContext context;

    PetscCall(PetscDeviceContextGetCurrentContext(&context));
    PetscCall(PetscDeviceContextSynchronize(context));
  }
  PetscCallMPI(MPI_Barrier(PetscObjectComm((PetscObject)x)));
  PetscCall(PetscTime(t));
  PetscFunctionReturn(PETSC_SUCCESS);
}
