/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The compilers that all sources are known to pass without a warning. For these, configure.py and the tests of the kernels make warnings errors; for newer ones a warning
   must not keep a user from building.
*/
#if defined(__clang__)
  #if __clang_major__ > 16
    #error a newer clang than those of the tests
  #endif
#elif __GNUC__ > 13
  #error a newer gcc than those of the tests
#endif
