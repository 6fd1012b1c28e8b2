/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "The library's own threads: what kernels use of OpenMP, regions inside regions, two callers, and children of fork(). A child that hangs is ended by an alarm.\n\n";

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/systhreads.h"
#include "../testutil.h"

#define MEMBERS 5
#define LENGTH  10007

/* All constructs once; the number of wrong results */
static int Constructs(void)
{
  long sum = 0, longest = 0, dynamic = 0, down = 0;
  int  wrong = 0, turn = 0, inner = 0;
  int  seen[MEMBERS] = {0};

  for (int round = 0; round < 50; round++) {
    sum = longest = dynamic = down = turn = inner = 0;
#pragma omp                                  parallel for num_threads(MEMBERS) schedule(static) reduction(+ : sum) reduction(max : longest)
    for (long k = 0; k < LENGTH; k++) {
                                       sum += k;
                                       longest = k > longest ? k : longest;
    }
                                 #pragma omp parallel for num_threads(MEMBERS) schedule(dynamic, 3) reduction(+ : dynamic)
    for (long k = -7; k < LENGTH; k += 2) dynamic += k;
#pragma omp parallel for num_threads(MEMBERS) schedule(dynamic, 4) reduction(+ : down)
    for (unsigned long k = LENGTH; k > 7; k -= 3) down += (long)k;
#pragma omp parallel num_threads(MEMBERS) reduction(+ : wrong)
    {
                                       const int me = omp_get_thread_num();

                                       seen[me]++;
                                       wrong += omp_get_num_threads() != MEMBERS;
#pragma omp for schedule(dynamic, 1) ordered nowait
      for (int k = 0; k < 40; k++) {
#pragma omp ordered
        wrong += turn++ != k;
      }
#pragma omp parallel num_threads(3)
      {
#pragma omp atomic
        inner += 1 + 0 * omp_get_thread_num();
      }
      wrong += omp_get_thread_num() != me;
    }
    for (long k = -7; k < LENGTH; k += 2) dynamic -= k;
    for (unsigned long k = LENGTH; k > 7; k -= 3) down -= (long)k;
    wrong += sum != (long)LENGTH * (LENGTH - 1) / 2 || longest != LENGTH - 1 || dynamic || down || turn != 40 || inner < MEMBERS;
    for (int k = 0; k < MEMBERS; k++) wrong += seen[k] != round + 1;
    wrong += omp_get_num_threads() != 1 || omp_get_thread_num() != 0;
  }
  return wrong;
}

static PetscErrorCode Once(TestDiff *d)
{
  PetscFunctionBeginUser;
  TestExpect(d, "a construct has a wrong result", (PetscBool)!Constructs());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static atomic_int ended;

static void *Regions(void *wrong)
{
  int n = 0;

  for (int round = 0; round < 400; round++) {
    long sum = 0;

#pragma omp parallel for num_threads(MEMBERS) schedule(static) reduction(+ : sum)
    for (long k = 0; k < LENGTH; k++) sum += k;
    n += sum != (long)LENGTH * (LENGTH - 1) / 2;
  }
  *(int *)wrong = n;
  atomic_fetch_add(&ended, 1);
  return NULL;
}

static PetscBool ChildWorks(void)
{
  int         status = -1;
  const pid_t child  = fork();

  if (!child) {
    (void)alarm(60);
    _exit(Constructs() ? 1 : 7);
  }
  return (PetscBool)(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

/* A second thread opens regions all the while; children are made when it has the pool, and when it has not */
static PetscErrorCode Callers(TestDiff *d)
{
  pthread_t other;
  int       theirs = -1, ours = -1;

  PetscFunctionBeginUser;
  atomic_store(&ended, 0);
  TestExpect(d, "a thread cannot be made", (PetscBool)!pthread_create(&other, NULL, Regions, &theirs));
  for (int k = 0; k < 20; k++) TestExpect(d, "a child does not return while another thread has a region", ChildWorks());
  (void)Regions(&ours);
  (void)pthread_join(other, NULL);
  TestExpect(d, "one of two callers has a wrong result", (PetscBool)(ours == 0 && theirs == 0 && atomic_load(&ended) == 2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Children(TestDiff *d)
{
  PetscFunctionBeginUser;
  for (int k = 0; k < 5; k++) TestExpect(d, "a child does not return", ChildWorks());
  TestExpect(d, "a construct has a wrong result after fork()", (PetscBool)!Constructs());
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const TestCase tests[] = {
    {"a child before the first region", Children},
    {"constructs",                      Once    },
    {"two callers",                     Callers },
    {"children",                        Children},
    {NULL,                              NULL    }
  };

  return TestMain(argc, argv, help, tests);
}

/*TEST

  testset:
    requires: openmp
    checks: 4
    test:
      suffix: two
      env: OMP_NUM_THREADS=2
    test:
      suffix: four
      env: OMP_NUM_THREADS=4

TEST*/
