/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The text of files that gzip, xz or bzip2 has compressed
*/
#pragma once

#include <stddef.h>

typedef struct MtxUnpacker MtxUnpacker;

/* The name of the program that compressed a file, by its first MTX_MAGIC bytes; NULL for any other file */
#define MTX_MAGIC 6
extern const char *MtxUnpackProgram(const unsigned char magic[]);

/* Begins to read a file, from its first byte. The unpacker closes fd in the end. Returns NULL without memory, or if the library lacks the decompressor (*supported is 0). */
extern MtxUnpacker *MtxUnpackOpen(int fd, const char program[], int *supported);

/* Reads size bytes of text, fewer at the end of the file. Returns -1 if the data are damaged or cut off, with the reason. */
extern long MtxUnpackRead(MtxUnpacker *, char *text, size_t size, const char **reason);
extern void MtxUnpackClose(MtxUnpacker *);
