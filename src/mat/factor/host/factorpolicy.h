/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The numbers that decide how a factor solves: on the GPU or on the host, and there from which layout
*/
#pragma once

#define FACTOR_LEVEL_SECONDS  0.7e-6  /* a level: a number written by one multiprocessor and read by another */
#define FACTOR_BOX_SECONDS    8e-6    /* a level of boxes: the same, and up to 32 rows one after the other */
#define FACTOR_BOX_ROWS       1000000 /* rows from which on boxes are tried: 1.0 and 2.1 million gained 1.6 and 2.0, half a million lost a tenth */
#define FACTOR_LAUNCH_SECONDS 10.e-6  /* both launches */
#define FACTOR_LAUNCH_BYTES   4e6     /* bytes of a level from which on each level has a launch: it takes as long to read them as to launch */
#define FACTOR_LAUNCH_LEVEL   2.5e-6  /* such a level, and its bytes */
#define FACTOR_DEVICE_RATE    1.5e12  /* bytes of a second on the GPU */
#define FACTOR_ENTRY_SECONDS  1.2e-9  /* an entry on the host, one thread */
#define FACTOR_WAIT_SECONDS   30.e-6  /* the host waits for the right-hand side, and the GPU for the solution */
#define FACTOR_BUS_RATE       1.2e10  /* bytes of a second between host and GPU */

/* Solves with a factor before it is laid out for the host, and before new values are brought. The layout takes as long as 6 of PETSc's solves, new values as 2, and a
   solve gains a third. */
#define FACTOR_LAYOUT_SOLVES 20
#define FACTOR_UPDATE_SOLVES 6

/* The same with I-nodes, of which PETSc's solves are sooner: 25 and 3, and a solve gains two fifths */
#define FACTOR_NODES_LAYOUT_SOLVES 70
#define FACTOR_NODES_UPDATE_SOLVES 10

/* The same for sweeps of PCSOR, which nobody requested: a program that ends right after the layout, or after new values, loses at most a twentieth of its sweeps' time */
#define SOR_LAYOUT_SWEEPS 120
#define SOR_UPDATE_SWEEPS 40

static inline double FactorDeviceSeconds(double latency, double bytes)
{
  return FACTOR_LAUNCH_SECONDS + latency + bytes / FACTOR_DEVICE_RATE;
}

static inline double FactorHostSeconds(double rows, double entries, double number)
{
  return FACTOR_WAIT_SECONDS + entries * FACTOR_ENTRY_SECONDS + 2 * rows * number / FACTOR_BUS_RATE;
}
