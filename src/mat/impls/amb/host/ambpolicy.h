/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Policy numbers of AMB, host and GPU: limits of the model and of the tuner. docs/design.md has the measurements ("AMB on the GPU": one H200).
*/
#pragma once

/* Host and GPU */
#define AMB_MAX_BLOCK 10 /* columns of the longest block */

/* Host */
#define AMB_MODEL_ROWS    4096 /* most rows of a window of the traffic model */
#define AMB_MODEL_WINDOWS 8    /* fewest windows of the model; all windows if the matrix has fewer */
#define AMB_MODEL_EVERY   12   /* windows: the model samples at least one in this many */
#define AMB_TABLE_SCOPES  8    /* the trial of the table of values multiplies the first 1 / AMB_TABLE_SCOPES of the scopes */
#define AMB_TABLE_GAIN    0.95 /* ratio of times: the table must take less than this fraction of the time without it */

/* GPU: the model */
#define AMB_CUDA_MODEL_WINDOWS 1024   /* most windows of 32 rows */
#define AMB_CUDA_MODEL_ENTRIES 256    /* most entries of a row */
#define AMB_CUDA_BUSY_THREADS  135168 /* threads that fill the chip: 132 multiprocessors of an H200, 1024 each */
#define AMB_CUDA_STEPS_LEAST   8      /* steps of a task: the loads that a warp can have in flight */
#define AMB_CUDA_STEPS_MOST    64     /* steps of a task */
#define AMB_CUDA_STEPS_GAIN    0.94   /* ratio of bytes below which a task gets more steps; armadillo took 1.08 times as long without it */

/* GPU: the tuner */
#define AMB_CUDA_LARGE_BYTES    150.e6 /* bytes of a matrix that no cache holds; the fewest bytes then decide without a trial */
#define AMB_CUDA_LARGE_PRODUCTS 1      /* products of one trial of a large matrix, in place of SYS_TUNE_TRIAL */
#define AMB_CUDA_TRIED_MOST     36     /* products of all trials of a conversion */
#define AMB_CUDA_BUDGET         220    /* products whose time the trials of further layouts may take; boyd1 would need 1,500 */
#define AMB_CUDA_TRY_SIZE       1.12   /* ratio of bytes to the best up to which another block size is tried */
#define AMB_CUDA_TRY_ORDER      1.3    /* the same for the other order of rows */

/* GPU: the choice of the kernel during the solver's products */
#define AMB_LIVE_KERNELS 6     /* kernels: two depths, three sizes of thread blocks */
#define AMB_LIVE_ROUNDS  4     /* most timed products a kernel */
#define AMB_LIVE_FAR     1.15  /* ratio of times to the best beyond which a kernel is dropped after two rounds */
#define AMB_LIVE_TICK    2.e-4 /* milliseconds: resolution of events */

/* GPU: storage of values */
#define AMB_CUDA_TABLE_VALUES  6  /* mean values a lane below which a table of values takes longer than plain values */
#define AMB_STENCIL_SHORT      10 /* entries of a stencil up to which a lane has few rows */
#define AMB_STENCIL_OTHERS     50 /* at most one row in this many may have entries outside the stencil */
#define AMB_STENCIL_MASK_LANES 8  /* lanes a row while the masks are set */
