/* SPDX-License-Identifier: BSD-2-Clause */
/*
   What the device benchmarks have in common: number types for cuSPARSE, checks of calls, formatted text
*/
#pragma once

#include "matrix.h"
#include "sys/systypes.h"

#include <cuda_runtime.h>
#include <cusparse.h>

#include <algorithm>
#include <cfloat>
#include <chrono>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#if defined(SYS_SINGLE)
static const cudaDataType Type = CUDA_R_32F;
static const double       Eps  = FLT_EPSILON;
#else
static const cudaDataType Type = CUDA_R_64F;
static const double       Eps  = DBL_EPSILON;
#endif

static void Stop(const char *call, const char *reason)
{
  fflush(stdout);
  fprintf(stderr, "%s: %s\n", call, reason);
  exit(2);
}

#define CallCuda(call) \
  do { \
    const cudaError_t error_ = (call); \
    if (error_ != cudaSuccess) Stop(#call, cudaGetErrorString(error_)); \
  } while (0)

static std::string Text(const char *format, ...)
{
  char    text[512];
  va_list args;

  va_start(args, format);
  vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  return text;
}

static double Median(std::vector<double> t)
{
  std::sort(t.begin(), t.end());
  return t.empty() ? 0 : t.size() % 2 ? t[t.size() / 2] : (t[t.size() / 2 - 1] + t[t.size() / 2]) / 2;
}
