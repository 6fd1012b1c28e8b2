/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Policy numbers of NUS-SELL, host and GPU: limits of the model, and of the search for segments. docs/design.md has the measurements ("NUS-SELL").
*/
#pragma once

/* Samples of the model */
#define NUS_SAMPLE_ENTRIES 1048576 /* entries in which the model of the cache counts misses */
#define NUS_SAMPLE_WINDOWS 4       /* windows of consecutive rows, for misses and for bytes */
#define NUS_SAMPLE_ROWS    4096    /* rows of a window for the bytes of chunks, rounded down to chunks */

/* Shared values */
#define NUS_SHARED_WINDOW 2  /* chunks may share values if the distinct ones of the windows are at most 1 / NUS_SHARED_WINDOW of all */
#define NUS_SHARED_PART   8  /* the same for a thread's values in the conversion: 1 / NUS_SHARED_PART */
#define NUS_SHARED_NEAR   16 /* bytes from the second-level cache that take as long as one from memory */

/* Bytes from memory that take as long as one access */
#define NUS_BYTES_L2_HIT   8  /* an entry of x in the second-level cache */
#define NUS_BYTES_NEAR_ROW 16 /* a row of a further segment whose part of y is in the second-level cache */
#define NUS_BYTES_FAR_ROW  40 /* a row of a further segment whose part of y is not */

/* Segments on the host */
#define NUS_SEGMENT_GAIN 0.9    /* ratio of bytes moved: segments must move less than this fraction of the bytes without them */
#define NUS_SEARCH_LEAST 512    /* columns of the narrowest segment in the search */
#define NUS_SEARCH_MOST  131072 /* columns of the widest segment in the search */
#define NUS_SEARCH_TRIED 256    /* most trials of the search */

/* Segments on a GPU, as fractions of the second-level cache, measured on an H200 */
#define NUS_CUDA_SEGMENT_PART 0.36 /* x of one segment */
#define NUS_CUDA_FOUND_PART   0.6  /* what stays there of an x that is read everywhere */
#define NUS_CUDA_BEYOND_PART  0.2  /* fraction of all entries that must miss for segments to pay */

#define NUS_CUDA_LARGE_PRODUCTS 2    /* products of one trial of a large matrix, in place of SYS_TUNE_TRIAL */
#define NUS_CUDA_SEARCH_LEAST   4096 /* columns of the narrowest segment in the search */
#define NUS_CUDA_SAMPLES        256  /* most samples in which first reads of lines of x are counted */
#define NUS_CUDA_SAMPLE_ENTRIES 2048 /* consecutive entries of a sample */
