/*
   The kernels of sparse products in plain C
*/
#define SPGEMM_NAME(name)   name##Plain
#define SPGEMM_KERNELS_NAME "plain"
#define SPGEMM_KEYS         8
#define MAYBE_INLINE        inline __attribute__((always_inline))

#include <string.h>

#include "spgemmimpl.h"

static MAYBE_INLINE unsigned KeyMask(const AmbInt *keys, AmbInt key)
{
  unsigned m = 0;

  for (int l = 0; l < SPGEMM_KEYS; l++) m |= (unsigned)(keys[l] == key) << l;
  return m;
}

static MAYBE_INLINE uint64_t Flags(uint8_t *flag)
{
  uint64_t m = 0;

  for (int l = 0; l < 64; l++) m |= (uint64_t)flag[l] << l;
  if (m) memset(flag, 0, 64);
  return m;
}

typedef struct {
  int64_t n;
} Counter;

static MAYBE_INLINE void CountBlock(Counter *counter, uint64_t *mask)
{
  for (int l = 0; l < SPGEMM_BLOCK / 64; l++) {
    counter->n += __builtin_popcountll(mask[l]);
    mask[l] = 0;
  }
}

static MAYBE_INLINE int64_t CountSum(Counter counter)
{
  return counter.n;
}

static MAYBE_INLINE int64_t ListBlock(uint64_t *mask, AmbInt col, uint64_t *bits, AmbInt *cols)
{
  int64_t n = 0;

  for (int l = 0; l < SPGEMM_BLOCK / 64; l++) {
    bits[n] = mask[l];
    cols[n] = col + 64 * l;
    n += mask[l] != 0;
    mask[l] = 0;
  }
  return n;
}

static MAYBE_INLINE void EmitWord(uint64_t bits, AmbInt col, AmbInt *j)
{
  for (; bits; bits &= bits - 1) *j++ = col + __builtin_ctzll(bits);
}

static int SupportedPlain(void)
{
  return 1;
}

#include "spgemmkernels.h"
