/* SPDX-License-Identifier: BSD-2-Clause */
/* Traps of floating-point exceptions, which PETSc's -fp_trap turns on */
#pragma once

/* Returns whether an invalid operation in this thread, such as 0 times infinity, ends the program. Only x86 is checked; most others cannot trap. */
static inline int SysTrapsInvalid(void)
{
#if defined(__x86_64__)
  return !(__builtin_ia32_stmxcsr() & 0x80); /* the mask of the invalid operation */
#else
  return 0;
#endif
}
