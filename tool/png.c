/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Grey images as PNG, without compression: a picture of a pattern has 90,000 bytes at most.
*/
#include "tool.h"

typedef struct {
  unsigned char *bytes;
  size_t         n;
} Stream;

static void Put(Stream *s, const void *bytes, size_t n)
{
  memcpy(s->bytes + s->n, bytes, n);
  s->n += n;
}

static void Put32(Stream *s, uint32_t word)
{
  const unsigned char bytes[4] = {(unsigned char)(word >> 24), (unsigned char)(word >> 16), (unsigned char)(word >> 8), (unsigned char)word};

  Put(s, bytes, 4);
}

/* The checksum that ends a chunk */
static uint32_t Checksum(const unsigned char *p, size_t n)
{
  uint32_t c = 0xffffffffu;

  for (size_t k = 0; k < n; k++) {
    c ^= p[k];
    for (int bit = 0; bit < 8; bit++) c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
  }
  return ~c;
}

/* Begins a chunk, and ends it: the length is known in the end */
static size_t ChunkBegin(Stream *s, const char name[])
{
  const size_t begin = s->n;

  Put32(s, 0);
  Put(s, name, 4);
  return begin;
}

static void ChunkEnd(Stream *s, size_t begin)
{
  Stream length = {s->bytes + begin, 0};

  Put32(&length, (uint32_t)(s->n - begin - 8));
  Put32(s, Checksum(s->bytes + begin + 4, s->n - begin - 4));
}

/* Returns the bytes of a grey image, 0 for black; the caller frees them */
PetscErrorCode PNGMake(int width, int height, const unsigned char grey[], unsigned char **file, size_t *size)
{
  const unsigned char start[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'}, kind[5] = {8, 0, 0, 0, 0}, zlib[2] = {0x78, 0x01};
  const size_t        line = (size_t)width + 1;
  uint32_t            a = 1, b = 0; /* Adler's checksum */
  Stream              s = {NULL, 0};
  size_t              begin;

  PetscFunctionBegin;
  PetscCheck(width > 0 && height > 0 && line <= 65535, PETSC_COMM_SELF, PETSC_ERR_PLIB, "An image of %d x %d", width, height);
  PetscCall(PetscMalloc1((line + 5) * (size_t)height + 128, &s.bytes));
  Put(&s, start, sizeof(start));
  begin = ChunkBegin(&s, "IHDR");
  Put32(&s, (uint32_t)width);
  Put32(&s, (uint32_t)height);
  Put(&s, kind, sizeof(kind));
  ChunkEnd(&s, begin);
  begin = ChunkBegin(&s, "IDAT");
  Put(&s, zlib, sizeof(zlib));
  for (int y = 0; y < height; y++) { /* a stored block for each line of the image; the first byte of a line is its filter */
    const unsigned char  head[6] = {y + 1 == height, (unsigned char)line, (unsigned char)(line >> 8), (unsigned char)~line, (unsigned char)(~line >> 8), 0};
    const unsigned char *pixels  = grey + (size_t)y * (size_t)width;

    Put(&s, head, sizeof(head));
    Put(&s, pixels, (size_t)width);
    for (int x = -1; x < width; x++) {
      a = (a + (x < 0 ? 0 : pixels[x])) % 65521;
      b = (b + a) % 65521;
    }
  }
  Put32(&s, b << 16 | a);
  ChunkEnd(&s, begin);
  begin = ChunkBegin(&s, "IEND");
  ChunkEnd(&s, begin);
  *file = s.bytes;
  *size = s.n;
  PetscFunctionReturn(PETSC_SUCCESS);
}
