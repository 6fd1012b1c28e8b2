/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MATNUSSELL: the declarations that its two sides, host and device, share
*/
#pragma once

#include "mat/shadow/shadowformat.h"
#include "mat/impls/nus/nusparams.h"

/* Parameters that are 0, and numbers of segments that are PETSC_DECIDE, are left open */
typedef struct {
  MatNUSSELLSegmentation segmentation;
  MatNUSSELLRows         rows;
  MatNUSSELLTune         tune;
  PetscInt               c, sigma, width[2], count[2];
} NusSellParams;

extern const MatShadowFormat MatShadowFormatNUSSELL;

extern void           NusGetParams(const NusSellParams *, PetscInt n, NusParams *);
extern void           NusDescribeSegments(const NusParams *, int64_t gathered, double figure[]);
extern PetscErrorCode NusViewSegments(const double figure[], const char where[], PetscViewer);

/* The figures of segments; those of the side follow */
enum {
  NUS_FIGURE_S1,
  NUS_FIGURE_K1,
  NUS_FIGURE_S2,
  NUS_FIGURE_K2,
  NUS_FIGURE_GATHERED,
  NUS_FIGURES
};

#define NUS_SEGMENT_FIGURES \
  {"s1", MAT_SHADOW_OF_BLOCK}, {"k1", MAT_SHADOW_OF_BLOCK}, {"s2", MAT_SHADOW_OF_BLOCK}, {"k2", MAT_SHADOW_OF_BLOCK}, \
  { \
    "gathered", MAT_SHADOW_OF_BLOCK \
  }

/* The functions of the device side */
extern int                   RankDevice_NUSSELL(const MatShadowCSR *, const void *params, MatShadowTune, MatShadowCandidate list[], const char **reason);
extern SysStatus             LayoutDevice_NUSSELL(const MatShadowCSR *, MatShadowCandidate *, const MatShadowCandidate *best, double most, const char **reason, void **data);
extern void                  DescribeDevice_NUSSELL(const void *data, MatShadowInfo *, double figure[]);
extern PetscErrorCode        ViewDevice_NUSSELL(const double figure[], const char where[], PetscViewer);
extern const MatShadowFigure NusDeviceFigures[];
#define NUS_DEVICE_OPS \
  { \
    RankDevice_NUSSELL, LayoutDevice_NUSSELL, NusDeviceUpdate, NusDeviceMult, NusDeviceMultTranspose, DescribeDevice_NUSSELL, NusDeviceDestroy, NULL, NusDeviceFigures, ViewDevice_NUSSELL \
  }
