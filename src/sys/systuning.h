/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The numbers of the tuning policy, each defined once.

   A matrix stays on the AIJ until so many products were made that they would repay a conversion. Then a candidate is laid out and timed against the best so
   far: on products that the solver makes anyway, or, on a device, on vectors made for the purpose.
*/
#pragma once

/* Patience: products on the AIJ before a conversion. A conversion on the host costs 10 to 30 products, an update of values 2 to 5, and a product in a format
   gains half of one. */
#define SYS_TUNE_CONVERT 40
#define SYS_TUNE_UPDATE  4 /* products with new values before these are taken over, */
#define SYS_TUNE_LASTING 8 /* but none if the values before were used that often */

/* The same on a device: a conversion takes so many products, and so many seconds for any matrix */
#define SYS_TUNE_DEVICE_CONVERT 15
#define SYS_TUNE_DEVICE_FIXED   1.5e-4
#define SYS_TUNE_DEVICE_LATENCY 3.e-6   /* seconds of a product of a small matrix, */
#define SYS_TUNE_DEVICE_ENTRY   2.5e-12 /* and for each entry */
#define SYS_TUNE_DEVICE_UPDATE  10      /* an update costs four products, the first one more */
#define SYS_TUNE_DEVICE_LASTING 16

/* Tuning on a device takes up to 170 products, for a few percent: it waits for so many products of a small and of a large matrix */
#define SYS_TUNE_DEVICE_SMALL 2000
#define SYS_TUNE_DEVICE_LARGE 500

/* A multigrid level in one solve: ten products estimate eigenvalues, and five for each of ten iterations smooth */
#define SYS_TUNE_LEVEL 60

/* Entries of a large matrix: none of the caches holds it, and one product takes long enough to be timed */
#define SYS_TUNE_LARGE 20000000

/* A trial on the products of the solver: at most so many rounds, of so many products on either side */
#define SYS_TUNE_ROUNDS  3
#define SYS_TUNE_SAMPLES 4
#define SYS_TUNE_CLEAR   0.1 /* faster or slower by more than this part: the round is clear */
#define SYS_TUNE_SCATTER 1.3 /* times the least ratio of the rounds: beyond that the times contradict each other, and the traffic model decides */
#define SYS_TUNE_AGAIN   10  /* times as many products as before a verdict that was not clear: then the matrix is tried again */

/* A trial on vectors made for the purpose: products timed after one that is not */
#define SYS_TUNE_TRIAL        5
#define SYS_TUNE_REPEAT       3 /* on the host */
#define SYS_TUNE_TRIAL_ROUNDS 2 /* of the format against AIJCUSPARSE, of which the faster one counts */

/* Further candidates */
#define SYS_TUNE_GAIN    0.98 /* times the time of the best so far: a candidate must take less */
#define SYS_TUNE_FAR     1.25 /* times the bytes or the time of the best so far: a candidate is not tried */
#define SYS_TUNE_NEAR    1.15 /* the same if the solver waits for conversions */
#define SYS_TUNE_BUDGET  60   /* products on the AIJ that the solver may lose on the host */
#define SYS_TUNE_RESERVE 1.5  /* times the dearest candidate so far: the most that the next one is expected to cost */
#define SYS_TUNE_THREADS 2    /* threads that lay out candidates beside the solver, whatever the number of matrices */

/* Entries that make a further thread of the host worth while */
#define SYS_TUNE_THREAD_NONZEROS 20000
