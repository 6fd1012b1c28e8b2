/* SPDX-License-Identifier: BSD-2-Clause */
/* Traps of floating-point exceptions, which PETSc's -fp_trap turns on */
#pragma once

/* Does an invalid operation of this thread, such as 0 times infinity, end the program? Only the host's x86 is asked; others mostly cannot trap. */
static inline int SysTrapsInvalid(void)
{
#if defined(__x86_64__)
  return !(__builtin_ia32_stmxcsr() & 0x80); /* the mask of the invalid operation */
#else
  return 0;
#endif
}
