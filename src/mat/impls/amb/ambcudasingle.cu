/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products in the AMB format on a CUDA device whose values are rounded to single precision
*/
#include "mat/impls/amb/ambcudamult.cuh"

#if defined(SYS_HAVE_STORAGE_SINGLE)
const AmbLaunchers AmbLaunchersSingle = AMB_LAUNCHERS(SYS_STORAGE_SINGLE);
#endif
