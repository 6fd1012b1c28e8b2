/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The numbers of the tuning policy, each defined once. A kernel family's own numbers are in its policy.h (amb, nus, tilecomposite, spmm).

   A matrix stays on the AIJ until enough products ran to repay a conversion. Then a candidate is laid out and timed against the best so far: on the
   host in the solver's own products, on a device on scratch vectors.

   Units: "products" counts products of the matrix; "in products" is a time in products on the AIJ; fractions and ratios have no unit.
*/
#pragma once

#include <stdint.h>
#include <time.h>

/* Returns the seconds of a system clock, in any thread: kernels and worker threads may not call PETSc's clock */
static inline double SysSeconds(clockid_t clock)
{
  struct timespec t;

  (void)clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Patience on the host: products on the AIJ before a conversion, with one thread. A conversion took as long as 10 to 30 products, an update of values
   as 2 to 5, and a product in a format half as long. SysTunePatience() converts this to several threads. */
#define SYS_TUNE_CONVERT 40  /* products */
#define SYS_TUNE_UPDATE  4   /* products with new values before an update */
#define SYS_TUNE_LASTING 8   /* products of one set of values after which the next set is updated at once */
#define SYS_TUNE_PRODUCT 0.5 /* ratio: a product in a format over one on the AIJ, one thread */
#define SYS_TUNE_WAITS   2   /* factor on the products before a conversion of an interpolation, whose two products a cycle seldom repay the format's memory */
#define SYS_TUNE_SERIAL  0.1 /* fraction of a conversion, an update or a product that does not run in parallel */

/* Returns the time of a conversion, an update or a product in a format with several threads, over that with one */
static inline double SysTuneShare(int threads)
{
  return SYS_TUNE_SERIAL + (1 - SYS_TUNE_SERIAL) / threads;
}

/*
   Returns the patience on the host with several threads, given that with one. The AIJ uses one thread and formats use all. Patience is the cost of a
   conversion over the gain of a product: cost / (1 - product) with one thread, cost share / (1 - product share) with several.
*/
static inline int SysTunePatience(int one, int threads)
{
  const double share = SysTuneShare(threads);
  const double exact = one * (1 - SYS_TUNE_PRODUCT) * share / (1 - SYS_TUNE_PRODUCT * share);
  const int    below = (int)(exact + 1e-9);

  return exact > below + 1e-9 ? below + 1 : below;
}

/*
   A program whose values change before the products that repay a conversion converts by elapsed time. It may end: the part of the conversion that
   this set of values and SYS_TUNE_SETS of the sets so far do not repay is at most SYS_TUNE_EARLY of the time since the pattern was new, and of all
   conversions together SYS_TUNE_EARLY of the program's time.
*/
#define SYS_TUNE_SETS          0.125     /* ratio: sets of values still to come over those so far */
#define SYS_TUNE_AIJ_ENTRY     4.e-10    /* expected seconds of a product on the AIJ that is in a cache, a nonzero */
#define SYS_TUNE_AIJ_ROW       1.e-9     /* seconds a row */
#define SYS_TUNE_EARLY         (1. / 32) /* fraction of time */
#define SYS_TUNE_CONVERT_FIXED 1.e-4     /* expected seconds of a conversion on the host, one thread: constant part */
#define SYS_TUNE_CONVERT_ENTRY 5.e-9     /* seconds a nonzero */
#define SYS_TUNE_CONVERT_ROW   5.e-8     /* seconds a row */
#define SYS_TUNE_MAPPED_BYTES  8388608.  /* bytes of values from which on the format's memory is new to the process, and the system clears it */
#define SYS_TUNE_MAPPED_BYTE   5.e-10    /* seconds a byte of these; 0.1 to 2.4 ns were measured in a virtual machine */
#define SYS_TUNE_RECENT        4         /* limit, in SYS_TUNE_LASTING products, of one set of values in the average of products a set */
#define SYS_TUNE_REPAID        1.25      /* ratio: measured gain of the recent sets of values over the measured cost of an update, from which on sets are updated */
#define SYS_TUNE_UPDATE_MOST   32        /* products with new values after which they are updated whatever the measurements */

/* Patience on a device: SYS_TUNE_DEVICE_CONVERT products plus SYS_TUNE_DEVICE_FIXED seconds, the cost of a conversion */
#define SYS_TUNE_DEVICE_CONVERT 15      /* products */
#define SYS_TUNE_DEVICE_FIXED   1.5e-4  /* seconds, for any matrix */
#define SYS_TUNE_DEVICE_LATENCY 3.e-6   /* seconds of the shortest product */
#define SYS_TUNE_DEVICE_ENTRY   2.5e-12 /* seconds of a product, per nonzero */
#define SYS_TUNE_DEVICE_UPDATE  10      /* products with new values before an update, which took as long as four products; the first took longer */
#define SYS_TUNE_DEVICE_LASTING 16      /* products of one set of values after which the next set is updated at once */

/* Products before tuning on a device, which takes up to 170 products and gained a few percent: for matrices of up to, and of more than,
   SYS_TUNE_LARGE nonzeros */
#define SYS_TUNE_DEVICE_SMALL 2000 /* products */
#define SYS_TUNE_DEVICE_LARGE 500  /* products */

/* Products of a multigrid level in one solve: ten for eigenvalue estimates, five in each of ten iterations for smoothing */
#define SYS_TUNE_LEVEL 60 /* products */

/* Nonzeros beyond which a matrix is large: no cache holds it, and one product is long enough to time */
#define SYS_TUNE_LARGE 20000000

/* A trial on the solver's products: at most SYS_TUNE_ROUNDS rounds of SYS_TUNE_LEAST to SYS_TUNE_MOST products a side, about SYS_TUNE_ENTRIES
   nonzeros */
#define SYS_TUNE_ROUNDS  3       /* rounds */
#define SYS_TUNE_LEAST   4       /* products */
#define SYS_TUNE_MOST    32      /* products */
#define SYS_TUNE_ENTRIES 2000000 /* nonzeros in all products of a side */
#define SYS_TUNE_CLEAR   0.1     /* fraction by which one side must be faster in a round for a clear verdict */
#define SYS_TUNE_SCATTER 1.3     /* ratio between rounds beyond which they contradict each other */
#define SYS_TUNE_AGAIN   10      /* factor on the products before a trial is repeated after an unclear verdict */

/* Returns the products a side of a round when a trial is repeated. Small matrices need more: after the other side's products the branch predictor has
   to learn the lengths of the rows again, and for a small matrix it can learn all of them. */
static inline int SysTuneSamples(int64_t nz)
{
  if (nz * SYS_TUNE_LEAST >= SYS_TUNE_ENTRIES) return SYS_TUNE_LEAST;
  return nz * SYS_TUNE_MOST <= SYS_TUNE_ENTRIES ? SYS_TUNE_MOST : (int)(SYS_TUNE_ENTRIES / nz);
}

/* A trial on scratch vectors: SYS_TUNE_TRIAL timed products after an untimed one */
#define SYS_TUNE_TRIAL        5 /* products */
#define SYS_TUNE_REPEAT       3 /* timed products on the host */
#define SYS_TUNE_TRIAL_ROUNDS 2 /* rounds of the format against AIJCUSPARSE; the faster round counts */

/* Further candidates, after the first conversion: */
#define SYS_TUNE_GAIN    0.98 /* ratio of times to the best so far below which a candidate wins */
#define SYS_TUNE_FAR     1.25 /* ratio of bytes or times to the best so far beyond which a candidate is not tried */
#define SYS_TUNE_NEAR    1.15 /* the same if the solver waits for conversions */
#define SYS_TUNE_BUDGET  60   /* products on the AIJ whose time the solver may lose on the host */
#define SYS_TUNE_RESERVE 1.5  /* safety factor: expected cost of a candidate over the cost of the most expensive one so far */
#define SYS_TUNE_SAVES   0.1  /* fraction of a product that a further candidate may save; for solvers that wait for its conversion */
#define SYS_TUNE_THREADS 2    /* threads that lay out candidates beside the solver, for all matrices together */

/* Nonzeros for each further thread of the host */
#define SYS_TUNE_THREAD_NONZEROS 20000
