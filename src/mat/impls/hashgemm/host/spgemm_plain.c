/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The SpGEMM kernels in plain C
*/
#define SYS_ISA     Plain
#define SPGEMM_KEYS 8

#include <string.h>

#include "mat/impls/hashgemm/host/spgemmimpl.h"

static SYS_INLINE unsigned KeyMask(const SysInt *keys, SysInt key)
{
  unsigned m = 0;

  for (int l = 0; l < SPGEMM_KEYS; l++) m |= (unsigned)(keys[l] == key) << l;
  return m;
}

static SYS_INLINE uint64_t Flags(uint8_t *flag)
{
  uint64_t m = 0;

  for (int l = 0; l < 64; l++) m |= (uint64_t)flag[l] << l;
  if (m) memset(flag, 0, 64);
  return m;
}

static SYS_INLINE void Stream(void *to, const void *from, size_t size)
{
  memcpy(to, from, size);
}

static SYS_INLINE void StreamEnd(void) { }

#include "mat/impls/hashgemm/host/spgemmwords.h"

static int SpgemmSupportedPlain(void)
{
  return 1;
}

#include "mat/impls/hashgemm/host/spgemmkernels.h"
