/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Listing of a bit mask's words, for kernels without AVX-512; needs SYS_INLINE
*/
typedef struct {
  int64_t n;
} Counter;

static SYS_INLINE void CountBlock(Counter *counter, uint64_t *mask)
{
  for (int l = 0; l < SPGEMM_BLOCK / 64; l++) {
    counter->n += __builtin_popcountll(mask[l]);
    mask[l] = 0;
  }
}

static SYS_INLINE int64_t CountSum(Counter counter)
{
  return counter.n;
}

static SYS_INLINE int64_t ListBlock(uint64_t *mask, SysInt col, uint64_t *bits, SysInt *cols)
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

static SYS_INLINE void EmitWord(uint64_t bits, SysInt col, SysInt *j)
{
  for (; bits; bits &= bits - 1) *j++ = col + __builtin_ctzll(bits);
}
