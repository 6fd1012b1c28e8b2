/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Numbers that host and GPU share in breadth-first searches.
*/
#pragma once

#define GRAPH_SEARCH_SOURCES 64 /* searches in one pass: the bits of a word */
#define GRAPH_SEARCH_PUSH    8  /* a level follows the edges that leave the last one if these are fewer than 1 / GRAPH_SEARCH_PUSH of all edges */
