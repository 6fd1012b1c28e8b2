/* SPDX-License-Identifier: BSD-2-Clause */
/*
   libFuzzer target for compressed files: whatever the bytes are, text comes in the sizes that were asked for, up to its end or to damage that has a reason
*/
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "mat/io/mtxunpack.h"

#define MOST (1 << 20) /* bytes of text that are read: little may unpack to much */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  unsigned char magic[MTX_MAGIC] = {0};
  const char   *program;
  size_t        piece, total  = 0;
  int           fd, supported = 1;
  MtxUnpacker  *u;

  if (size < 2) return 0;
  piece = data[0] % 16 ? 1 + data[0] : 65536;
  data++;
  size--;
  memcpy(magic, data, size < sizeof(magic) ? size : sizeof(magic));
  program = MtxUnpackProgram(magic);
  if (!program) return 0;
  fd = memfd_create("input", 0);
  CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0);
  u = MtxUnpackOpen(fd, program, &supported);
  if (!u) {
    CHECK(!supported);
    (void)close(fd);
    return 0;
  }
  while (total < MOST) {
    char       *text   = malloc(piece);
    const char *reason = NULL;
    const long  n      = MtxUnpackRead(u, text, piece, &reason);

    CHECK(n <= (long)piece && (n >= 0 || reason));
    for (long k = 0, sum = 0; k < n; k++) CHECK((sum += text[k] != 0) <= n); /* the sanitizer sees what was not written */
    free(text);
    if (n > 0) total += (size_t)n;
    if (n < (long)piece) break;
  }
  MtxUnpackClose(u);
  return 0;
}
