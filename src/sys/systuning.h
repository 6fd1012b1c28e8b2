/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The numbers of the tuning policy, each defined once.

   A matrix stays on the AIJ until enough products were made to repay a conversion. Then a candidate is laid out and timed against the best so far: on the host
   in products that the solver makes anyway, on a device with vectors made for the purpose.
*/
#pragma once

#include <stdint.h>
#include <time.h>

/* Seconds on a clock of the system, for any thread: kernels and other threads may not call PETSc's */
static inline double SysSeconds(clockid_t clock)
{
  struct timespec t;

  (void)clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Patience on the host with one thread: products on the AIJ before a conversion. A conversion costs as much as 10 to 30 products, an update of values as 2 to 5; a
   product in a format saves half of one. With more threads see SysTunePatience(). */
#define SYS_TUNE_CONVERT 40
#define SYS_TUNE_UPDATE  4   /* products with new values before these are taken over; */
#define SYS_TUNE_LASTING 8   /* new values are taken over at once if the previous ones were used in so many products */
#define SYS_TUNE_PRODUCT 0.5 /* the time of a product in a format on one thread, in products on the AIJ */
#define SYS_TUNE_SERIAL  0.1 /* the part of a conversion, an update or a product that threads do not share */

/*
   Patience on the host with several threads, from that with one. The AIJ uses one thread, formats use all: the time of a conversion, of an update and of a product in
   the format shrinks to

     share = serial + (1 - serial) / threads.

   Patience is the cost of a conversion over the gain of a product, cost / (1 - product) with one thread and cost share / (1 - product share) with several.
*/
static inline int SysTunePatience(int one, int threads)
{
  const double share = SYS_TUNE_SERIAL + (1 - SYS_TUNE_SERIAL) / threads;
  const double exact = one * (1 - SYS_TUNE_PRODUCT) * share / (1 - SYS_TUNE_PRODUCT * share);
  const int    below = (int)(exact + 1e-9);

  return exact > below + 1e-9 ? below + 1 : below;
}

/*
   A program with new values before SYS_TUNE_CONVERT products converts on the time that has passed: a conversion may take this part of the time since the pattern came up, and all
   such conversions together this part of the time of the program. A program that ends right after the conversion loses no more.
*/
#define SYS_TUNE_EARLY         (1. / 32)
#define SYS_TUNE_CONVERT_FIXED 1.e-4 /* expected seconds of a conversion on the host with one thread, for any matrix, */
#define SYS_TUNE_CONVERT_ENTRY 5.e-9 /* for each nonzero, */
#define SYS_TUNE_CONVERT_ROW   5.e-8 /* and for each row */
#define SYS_TUNE_RECENT        4     /* in the average of products with one set of values, a set counts as at most so many times SYS_TUNE_LASTING products */
#define SYS_TUNE_REPAID        1.25  /* an update must be repaid so many times by the products that recent sets of values had, once both were measured */
#define SYS_TUNE_UPDATE_MOST   32    /* products with new values after which these are taken over, whatever was measured */

/* Patience on a device: a conversion costs as much as so many products, plus so many seconds for any matrix */
#define SYS_TUNE_DEVICE_CONVERT 15
#define SYS_TUNE_DEVICE_FIXED   1.5e-4
#define SYS_TUNE_DEVICE_LATENCY 3.e-6   /* seconds of a product of a small matrix */
#define SYS_TUNE_DEVICE_ENTRY   2.5e-12 /* seconds of a product for each entry */
#define SYS_TUNE_DEVICE_UPDATE  10      /* an update costs as much as four products, the first update more */
#define SYS_TUNE_DEVICE_LASTING 16

/* Tuning on a device takes up to 170 products and gains a few percent: it begins after so many products of a small or of a large matrix */
#define SYS_TUNE_DEVICE_SMALL 2000
#define SYS_TUNE_DEVICE_LARGE 500

/* Products of a multigrid level in one solve: ten to estimate eigenvalues, and five in each of ten iterations to smooth */
#define SYS_TUNE_LEVEL 60

/* A matrix with more entries is large: no cache holds it, and one product takes long enough to be timed */
#define SYS_TUNE_LARGE 20000000

/* A trial on the products of the solver: at most so many rounds, of SYS_TUNE_LEAST products on either side */
#define SYS_TUNE_ROUNDS  3
#define SYS_TUNE_LEAST   4
#define SYS_TUNE_MOST    32
#define SYS_TUNE_ENTRIES 2000000
#define SYS_TUNE_CLEAR   0.1 /* a round is clear if one side is faster by more than this part */
#define SYS_TUNE_SCATTER 1.3 /* if the ratios of the rounds differ by more than this factor, they contradict each other */
#define SYS_TUNE_AGAIN   10  /* an unclear verdict is tried again after so many times the products before it */

/* Products on either side of a round when an unclear verdict is tried again. A small matrix takes more of them: in the first products after those of the other side
   the processor has yet to learn the lengths of the rows, and of a small matrix it can learn them all. */
static inline int SysTuneSamples(int64_t nz)
{
  if (nz * SYS_TUNE_LEAST >= SYS_TUNE_ENTRIES) return SYS_TUNE_LEAST;
  return nz * SYS_TUNE_MOST <= SYS_TUNE_ENTRIES ? SYS_TUNE_MOST : (int)(SYS_TUNE_ENTRIES / nz);
}

/* A trial on vectors made for the purpose: products timed after one that is not */
#define SYS_TUNE_TRIAL        5
#define SYS_TUNE_REPEAT       3 /* on the host */
#define SYS_TUNE_TRIAL_ROUNDS 2 /* of the format against AIJCUSPARSE, of which the faster one counts */

/* Further candidates */
#define SYS_TUNE_GAIN    0.98 /* a candidate must take less than this part of the time of the best so far */
#define SYS_TUNE_FAR     1.25 /* a candidate with more than so many times the bytes or the time of the best so far is not tried */
#define SYS_TUNE_NEAR    1.15 /* the same limit if the solver waits for conversions */
#define SYS_TUNE_BUDGET  60   /* the solver may lose the time of so many products on the AIJ, on the host */
#define SYS_TUNE_RESERVE 1.5  /* a candidate is expected to cost at most so many times the dearest one so far */
#define SYS_TUNE_SAVES   0.1  /* the part of a product that a further candidate may save, for a solver that waits for its conversion */
#define SYS_TUNE_THREADS 2    /* threads that lay out candidates besides the solver, whatever the number of matrices */

/* So many entries are worth a further thread of the host */
#define SYS_TUNE_THREAD_NONZEROS 20000
