/* SPDX-License-Identifier: BSD-2-Clause */
/* The parameters of NUS-SELL, on the host and on a device */
#pragma once

#include <stdint.h>

#include "sys/sysvalues.h"

typedef enum {
  NUS_NONE,
  NUS_UNIFORM,
  NUS_NONUNIFORM
} NusSegmentation;

/* NUS_SHARED is NUS_SELL whose chunks share values; host only, with SYS_VALUES_EXACT */
typedef enum {
  NUS_SELL,
  NUS_JDS,
  NUS_SHARED
} NusRows;

/* A parameter of 0 and a negative count are open. Segments of equal width have width[1]. */
typedef struct {
  NusSegmentation segmentation;
  NusRows         rows;
  int             c;        /* rows of a chunk: 8, 16, 24 or 32 */
  int             sigma;    /* rows of a scope, a multiple of c */
  int64_t         width[2]; /* S1, S2 */
  int64_t         count[2]; /* K1, K2 */
  SysValues       values;   /* requested storage of values. No other parameter depends on it, so every storage adds in the same order */
} NusParams;
