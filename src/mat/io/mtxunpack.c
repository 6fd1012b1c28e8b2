/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The text of files that gzip, xz or bzip2 has compressed: each by the library of its own project, as far as configure.py has found it
*/
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "mat/io/mtxunpack.h"
#if defined(PETSCAMB_HAVE_ZLIB)
  #include <zlib.h>
#endif
#if defined(PETSCAMB_HAVE_LZMA)
  #include <lzma.h>
#endif
#if defined(PETSCAMB_HAVE_BZ2)
  #include <bzlib.h>
#endif

#define PACKED_SIZE ((size_t)1 << 18) /* compressed bytes read at a time */

struct MtxUnpacker {
  int fd;
  long (*read)(MtxUnpacker *, char *, size_t, const char **);
  void (*close)(MtxUnpacker *);
  unsigned char *packed; /* compressed bytes, for libraries that do not read files */
  int            last;   /* the file ends with these bytes */
  int            done;   /* the compressed data have ended */
#if defined(PETSCAMB_HAVE_ZLIB)
  gzFile gz;
#endif
#if defined(PETSCAMB_HAVE_LZMA)
  lzma_stream xz;
#endif
#if defined(PETSCAMB_HAVE_BZ2)
  bz_stream bz;
#endif
};

const char *MtxUnpackProgram(const unsigned char magic[])
{
  if (magic[0] == 0x1f && magic[1] == 0x8b) return "gzip";
  if (!memcmp(magic,
              "\xfd"
              "7zXZ",
              6))
    return "xz";
  if (!memcmp(magic, "BZh", 3) && magic[3] >= '1' && magic[3] <= '9') return "bzip2";
  return NULL;
}

#if defined(PETSCAMB_HAVE_ZLIB)
static long ReadGzip(MtxUnpacker *u, char *text, size_t size, const char **reason)
{
  int         error;
  const int   got     = gzread(u->gz, text, (unsigned)size);
  const char *message = gzerror(u->gz, &error); /* gzread() reports no error for a file that was cut off, but gzerror() does */

  if (!strncmp(message, "<fd:", 4) && strstr(message, ": ")) message = strstr(message, ": ") + 2; /* the caller knows the name of the file */
  if (got >= 0 && ((size_t)got == size || error == Z_OK)) return got;
  *reason = error == Z_ERRNO ? strerror(errno) : message;
  return -1;
}

static void CloseGzip(MtxUnpacker *u)
{
  (void)gzclose(u->gz);
  u->fd = -1;
}
#endif

#if defined(PETSCAMB_HAVE_LZMA) || defined(PETSCAMB_HAVE_BZ2)
/* Reads the next compressed bytes; -1 if the file cannot be read */
static long ReadPacked(MtxUnpacker *u, const char **reason)
{
  ssize_t got;

  do got = read(u->fd, u->packed, PACKED_SIZE);
  while (got < 0 && errno == EINTR);
  if (got < 0) *reason = strerror(errno);
  u->last = got == 0;
  return (long)got;
}
#endif

#if defined(PETSCAMB_HAVE_LZMA)
static long ReadXz(MtxUnpacker *u, char *text, size_t size, const char **reason)
{
  u->xz.next_out  = (uint8_t *)text;
  u->xz.avail_out = size;
  while (u->xz.avail_out && !u->done) {
    lzma_ret code;

    if (!u->xz.avail_in && !u->last) {
      const long got = ReadPacked(u, reason);

      if (got < 0) return -1;
      u->xz.next_in  = u->packed;
      u->xz.avail_in = (size_t)got;
    }
    code = lzma_code(&u->xz, u->last ? LZMA_FINISH : LZMA_RUN);
    if (code == LZMA_STREAM_END) u->done = 1;
    else if (code != LZMA_OK) {
      *reason = code == LZMA_BUF_ERROR ? "unexpected end of file" : code == LZMA_MEM_ERROR ? "no memory" : "wrong data";
      return -1;
    }
  }
  return (long)(size - u->xz.avail_out);
}

static void CloseXz(MtxUnpacker *u)
{
  lzma_end(&u->xz);
}
#endif

#if defined(PETSCAMB_HAVE_BZ2)
static long ReadBzip2(MtxUnpacker *u, char *text, size_t size, const char **reason)
{
  u->bz.next_out  = text;
  u->bz.avail_out = (unsigned)size;
  while (u->bz.avail_out && !u->done) {
    int code;

    if (!u->bz.avail_in) {
      const long got = ReadPacked(u, reason);

      if (!got) *reason = "unexpected end of file";
      if (got <= 0) return -1;
      u->bz.next_in  = (char *)u->packed;
      u->bz.avail_in = (unsigned)got;
    }
    code = BZ2_bzDecompress(&u->bz);
    if (code == BZ_STREAM_END) { /* another stream may follow, as of parallel compressors */
      char    *next = u->bz.next_in, *out = u->bz.next_out;
      unsigned left = u->bz.avail_in, room = u->bz.avail_out;

      (void)BZ2_bzDecompressEnd(&u->bz);
      memset(&u->bz, 0, sizeof(u->bz));
      if (!left) {
        const long got = ReadPacked(u, reason);

        if (got < 0) return -1;
        next = (char *)u->packed;
        left = (unsigned)got;
        if (!got) u->done = 1;
      }
      if (BZ2_bzDecompressInit(&u->bz, 0, 0) != BZ_OK) {
        *reason = "no memory";
        return -1;
      }
      u->bz.next_in   = next;
      u->bz.avail_in  = left;
      u->bz.next_out  = out;
      u->bz.avail_out = room;
    } else if (code != BZ_OK) {
      *reason = code == BZ_MEM_ERROR ? "no memory" : "wrong data";
      return -1;
    }
  }
  return (long)(size - u->bz.avail_out);
}

static void CloseBzip2(MtxUnpacker *u)
{
  (void)BZ2_bzDecompressEnd(&u->bz);
}
#endif

MtxUnpacker *MtxUnpackOpen(int fd, const char program[], int *supported)
{
  MtxUnpacker *u = (MtxUnpacker *)calloc(1, sizeof(*u));

  *supported = 1;
  if (!u) return NULL;
  u->fd     = fd;
  u->packed = (unsigned char *)malloc(PACKED_SIZE);
#if defined(PETSCAMB_HAVE_ZLIB)
  if (u->packed && !strcmp(program, "gzip")) {
    u->gz = gzdopen(fd, "rb");
    if (u->gz) {
      (void)gzbuffer(u->gz, (unsigned)PACKED_SIZE);
      u->read  = ReadGzip;
      u->close = CloseGzip;
    }
  }
#else
  if (!strcmp(program, "gzip")) *supported = 0;
#endif
#if defined(PETSCAMB_HAVE_LZMA)
  if (u->packed && !strcmp(program, "xz") && lzma_stream_decoder(&u->xz, UINT64_MAX, LZMA_CONCATENATED) == LZMA_OK) {
    u->read  = ReadXz;
    u->close = CloseXz;
  }
#else
  if (!strcmp(program, "xz")) *supported = 0;
#endif
#if defined(PETSCAMB_HAVE_BZ2)
  if (u->packed && !strcmp(program, "bzip2") && BZ2_bzDecompressInit(&u->bz, 0, 0) == BZ_OK) {
    u->read  = ReadBzip2;
    u->close = CloseBzip2;
  }
#else
  if (!strcmp(program, "bzip2")) *supported = 0;
#endif
  if (u->read) return u;
  free(u->packed);
  free(u);
  return NULL;
}

long MtxUnpackRead(MtxUnpacker *u, char *text, size_t size, const char **reason)
{
  return (*u->read)(u, text, size, reason);
}

void MtxUnpackClose(MtxUnpacker *u)
{
  (*u->close)(u);
  if (u->fd >= 0) (void)close(u->fd);
  free(u->packed);
  free(u);
}
