/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Policy numbers of SpGEMM, host and GPU: which accumulator a row gets, how threads share rows, how much memory a product allocates. docs/products-kernels.md says
   where each accumulator is used, and docs/design.md has the measurements ("Decisions"). Tests compile with smaller values of some numbers.
*/
#pragma once

/* Host: threads and parts */
#define SPGEMM_ROW_PRODUCTS     8      /* products that take as long as the rest of a row's work */
#define SPGEMM_THREAD_PRODUCTS  20000  /* products of the whole from which on a further thread pays */
#define SPGEMM_THREAD_PARTS     8      /* parts a thread: equal products take unequal times */
#define SPGEMM_CACHED_ENTRIES   32768  /* entries of a part that stays in a thread's caches */
#define SPGEMM_UNKNOWN_PRODUCTS 131072 /* products of a part whose number of entries is unknown */
#define SPGEMM_BATCHES          128    /* fewest batches of a matrix, unless a batch would have fewer than SPGEMM_BATCH_LEAST rows */
#if !defined(SPGEMM_BATCH_LEAST)
  #define SPGEMM_BATCH_LEAST 192  /* fewest rows of a batch */
  #define SPGEMM_BATCH_MOST  1536 /* most rows of a batch; runs of rows end with it */
#endif

/* Host: passes over an operand's columns, once for rows that repeat their predecessor's columns, as the unknowns of a node do */
#if !defined(SPGEMM_REPEATS_LEAST)
  #define SPGEMM_REPEATS_LEAST 20000 /* entries of a matrix from which on the sample pays */
#endif
#define SPGEMM_REPEATS_LENGTH 4   /* mean entries of a row from which on a comparison is shorter than the pass */
#define SPGEMM_REPEATS_PLACES 64  /* rows of the sample */
#define SPGEMM_REPEATS_PART   0.5 /* least fraction of the sample where a row or its predecessor repeats */
#define SPGEMM_REPEATS_ROWS   512 /* rows of a thread's piece */

/* Host: the sample of the compression, products an entry of the result */
#define SPGEMM_RATIO_PLACES         32  /* positions of the sample */
#define SPGEMM_RATIO_ROWS           8   /* consecutive rows at each position */
#define SPGEMM_UNCOUNTED_RATIO      16  /* products an entry from which on a product is computed without a count */
#define SPGEMM_UNCOUNTED_RATIO2     6   /* the same in the second of two steps, whose B comes from memory again */
#define SPGEMM_STAMP_RATIO          2.0 /* products an entry from which on rows are stamped */
#define SPGEMM_STAMP_COLUMN_ENTRIES 4   /* entries of the result a column from which on rows are stamped */

/* Host: memory */
#define SPGEMM_COPIED_BYTES      (256 << 20)   /* bytes of a result up to which a copy costs little */
#define SPGEMM_ROOM_FACTOR       4             /* allocated over estimated entries; untouched pages take no memory */
#define SPGEMM_ROOM_FACTOR_SMALL 10            /* the same for a result of at most SPGEMM_SMALL_ENTRIES */
#define SPGEMM_MOVED_BYTES       SYS_HUGE_PAGE /* bytes copied before their memory is released */
#define SPGEMM_MAPPED_PAGES      1             /* huge pages from which on memory is mapped */
#define SPGEMM_UNCACHED_BYTES    (4 << 20)     /* bytes of B from which on its rows exceed a core's caches */
#define SPGEMM_PLACES_RATIO      3             /* most bytes of positions a byte of operands and result */
#if !defined(SPGEMM_PLAN_BYTES)
  #define SPGEMM_PLAN_BYTES (1 << 20) /* bytes of a plan for new values from which on it may be freed after the first product */
#endif
#define SPGEMM_PLAN_RATIO (1. / 8) /* least bytes of a freed plan a byte of operands and result: the first new values then take as long as a product */
#if !defined(SPGEMM_WINDOWS)
  #define SPGEMM_WINDOWS (256 << 20) /* bytes of all threads' windows together */
#endif
#if !defined(SPGEMM_STREAM)
  #define SPGEMM_STREAM (32 << 20) /* bytes of values from which on a result bypasses the caches */
#endif
#define SPGEMM_COPIED_ENTRIES ((double)SPGEMM_COPIED_BYTES / (sizeof(SysInt) + sizeof(SysScalar)))
#define SPGEMM_SMALL_ENTRIES  (SPGEMM_COPIED_ENTRIES / 4)

/* Host: the accumulator of a row */
#define SPGEMM_INSERTION_PRODUCTS  16    /* products up to which insertion sorts them; a window would be scanned and cleared, at least 512 columns of it */
#define SPGEMM_SORT_COLUMNS        16    /* columns a product from which on short rows are sorted */
#define SPGEMM_BYTES_COLUMNS       16    /* columns a product up to which bytes are the faster marks */
#define SPGEMM_DENSE_COLUMNS       16384 /* columns a product up to which the dense accumulator is faster */
#define SPGEMM_SPARSE_HASH_ENTRIES 8192  /* entries up to which a hash table is a quarter full, then half */
#define SPGEMM_STAMP_PRODUCTS      12    /* products beyond which columns are listed once */
#if !defined(SPGEMM_DENSE_MAX)
  #define SPGEMM_DENSE_MAX (1 << 22) /* most columns of a dense accumulator */
#endif

/* Host: rows whose products are listed first, rows computed together, and runs of shifted rows. Lengths are means over the rows of B. */
#define SPGEMM_LISTED_PRODUCTS     1024      /* most listed products of a row */
#define SPGEMM_LISTED_LENGTH       24        /* length up to which products are listed */
#define SPGEMM_LISTED_LENGTH_LEAST 0.5       /* length from which on products are listed */
#define SPGEMM_RARE_LENGTH         0.25      /* length up to which the kernel finds the entries of A first whose row of B is not empty */
#define SPGEMM_BRIEF_LENGTH        8         /* length up to which new values need neither a list nor positions */
#define SPGEMM_BRIEF_RATIO         2         /* products an entry of the result from which on SPGEMM_BRIEF_LENGTH applies */
#define SPGEMM_PLACES_LISTED       1024      /* products listed at a time where positions are known */
#define SPGEMM_PLACES_LONG         40        /* longest row of B for these lists */
#define SPGEMM_PLACES_FEW          65536     /* most products of a matrix for the loop without a list, whatever the length */
#define SPGEMM_PLACES_CLEARED      512       /* most entries of several rows of the result cleared at a time */
#define SPGEMM_GROUP_ROWS          8         /* most rows computed together */
#define SPGEMM_GROUP_SUMS          (1 << 20) /* most sums of rows computed together */
#define SPGEMM_RUN_ROWS            4         /* fewest rows of a run */
#define SPGEMM_RUN_ENTRIES         2048      /* most entries of a run's row of the result: their sums stay in a cache */
#define SPGEMM_RUN_PRODUCTS        (1 << 18) /* most products of a run's row: each has a stored position */

/* Host: loads and stores */
#define SPGEMM_PREFETCH_ENTRIES 8    /* entries of A ahead */
#define SPGEMM_PREFETCH_LISTED  24   /* the same for listed rows */
#define SPGEMM_STREAM_ENTRIES   4096 /* entries of a row from which on its values bypass the caches */
#define SPGEMM_STREAM_PIECE     256  /* entries of one such store */

/* GPU: the kernel of a row, by its words of 32 columns */
#define SPGEMM_LONG_ROW            256          /* entries in A up to which a team has the row */
#define SPGEMM_TEAM_ENTRIES        512          /* entries of the result up to which a team has the row's values */
#define SPGEMM_COPIED_ROW          1024         /* most entries of a row of C that is a multiple of a row of B */
#define SPGEMM_CLUSTERED           2            /* products a word from which on a row is computed by words */
#define SPGEMM_SORTED_WORDS        384          /* words of a row beyond which it gets a window, unless its words are sparse, or the accumulator is words */
#define SPGEMM_SPARSE_WINDOW       8            /* words of a window a word of the row from which on a hash table is faster */
#define SPGEMM_SPARSE_WINDOW_LARGE 64           /* the same beyond SPGEMM_SORTED_WORDS */
#define SPGEMM_HASH_WORDS2         768          /* most words for the second largest hash table, whatever the row's entries */
#define SPGEMM_SORTING_ROWS        32768        /* rows of A below which rows are sorted even if B's columns are clustered; above, the launches take longer than sorting saves */
#define SPGEMM_SCATTER_SAMPLE      8            /* one block in this many counts how scattered B's columns are */
#define SPGEMM_COUNTED_PAIRS       (1ull << 32) /* pairs from which on positions are not kept: 32 bits cannot count them, or a row's products */
#define SPGEMM_KEPT_WORDS          64           /* most words a row kept from the count */
#define SPGEMM_LONG_BLOCKS         512          /* thread blocks for the long rows of B */

/* GPU: units of windows, and parts of long rows */
#define SPGEMM_UNIT_WORDS        2048   /* most words of a unit */
#define SPGEMM_UNIT_WORDS_LEAST  4      /* fewest words of a unit */
#define SPGEMM_UNIT_PRODUCTS     131072 /* usual products of a unit */
#define SPGEMM_PART_ENTRIES      1024   /* most entries of a part */
#define SPGEMM_PART_LEAST        256    /* fewest entries of a part */
#define SPGEMM_PART_PRODUCTS     32768  /* usual products of a part */
#define SPGEMM_PART_NARROW_SHARE 2      /* a part with fewer words than 1 / this of its class's entries has an array of them */
#define SPGEMM_PART_WORDS_SHARE  4      /* a part with at most 1 / this of them has a table of words */
#define SPGEMM_PARTS_LENGTH      20     /* mean entries of B's rows from which on a warp takes one row of B at a time if positions are known */
#define SPGEMM_PARTS_IN_FLIGHT   4      /* products of a thread in flight */
#define SPGEMM_PARTS_BLOCKS      4096   /* exceeds the resident blocks */

/* GPU: rows computed while counting. Above SPGEMM_SAMPLE_PRODUCTS, a sample estimates the memory of sorted rows, and their words of B are not kept. That
   took up to 7 % longer, so SPGEMM_AUTO does it only where memory for all products would take gigabytes. */
#if !defined(SPGEMM_SAMPLE_PRODUCTS)
  #define SPGEMM_SAMPLE_PRODUCTS (1 << 21)
#endif
#if !defined(SPGEMM_SAMPLE_AUTO)
  #define SPGEMM_SAMPLE_AUTO (1 << 28) /* the same for SPGEMM_AUTO */
#endif
#if !defined(SPGEMM_SAMPLE_ROWS)
  #define SPGEMM_SAMPLE_ROWS 1024 /* rows of the sample */
#endif
#define SPGEMM_SAMPLE_MORE   (1 + 1. / 32) /* ratio: allocated over estimated entries */
#define SPGEMM_MADE_PRODUCTS 512           /* most products of a row for esc */
#define SPGEMM_ESC_MEAN      20            /* SPGEMM_AUTO: fewest mean products of such rows */
#if !defined(SPGEMM_ESC_PRODUCTS)
  #define SPGEMM_ESC_PRODUCTS (1 << 21) /* products of a matrix up to which SPGEMM_AUTO always takes esc: launching the other kernels takes longer */
#endif
#define SPGEMM_MERGE_MOST   (1 << 20) /* most products of a row for merge */
#define SPGEMM_MERGE_CHUNK  512       /* products that merge sorts at a time */
#define SPGEMM_MERGE_SHARED 512       /* entries of merge's sequence in shared memory */
#define SPGEMM_MERGE_MOVED  4         /* entries that a lane moves at a time */
#define SPGEMM_HEAP_ENTRIES 16        /* most entries in A of a row for heap */
#define SPGEMM_TABLE_MOST   (1 << 20) /* most products of a row for hash */
#define SPGEMM_TABLE_SORTED 512       /* most columns that hash sorts in registers */
#if !defined(SPGEMM_TABLE_LARGE)
  #define SPGEMM_TABLE_LARGE 6144 /* most products of the largest table in shared memory */
#endif

/* GPU: lines of shifted rows */
#if !defined(SPGEMM_LINE_LEAST)
  #define SPGEMM_LINE_LEAST (1 << 25) /* products of a matrix from which on lines are searched */
#endif
#define SPGEMM_LINE_ENTRIES    128        /* most entries of a row of the result */
#define SPGEMM_LINE_PRODUCTS   4          /* fewest products an entry */
#define SPGEMM_LINE_LENGTH     255        /* most entries of a row of B */
#define SPGEMM_LINE_ROWS_LEAST 16         /* fewest rows of a group; the other kernels are faster below */
#define SPGEMM_LINE_SHARED     (96 << 10) /* most bytes of shared memory of a block */
#define SPGEMM_LINE_SEARCHED   1024       /* rows that a block searches */
#define SPGEMM_LINE_SAMPLE     8          /* one block in this many counts shifted rows of B */
#define SPGEMM_LINE_CHUNK      4          /* consecutive entries of a row for a warp */
#define SPGEMM_LINE_WARPS      8          /* warps of a block for a group */
