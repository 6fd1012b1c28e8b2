/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MATCCOO: the declarations that its two sides, host and device, share
*/
#pragma once

#include "mat/shadow/shadowformat.h"
#include "mat/impls/ccoo/ccooparams.h"

/* Sizes that are 0 are left open */
typedef struct {
  PetscInt  block, items;
  PetscBool table, atomics;
} CcooMatParams;

extern const MatShadowFormat MatShadowFormatCCOO;

extern CcooParams     CcooGetParams(const CcooMatParams *);
extern const char     CcooTooLarge[];
extern void           CcooDescribe(const CcooParams *, int ntable, const int64_t count[CCOO_FORMATS], double figure[]);
extern PetscErrorCode CcooView(const double figure[], const char where[], PetscViewer);

/* The figures of both sides; the chunks of each format follow, as CcooFormat() numbers these */
enum {
  CCOO_FIGURE_BLOCK,
  CCOO_FIGURE_ITEMS,
  CCOO_FIGURE_TABLE,
  CCOO_FIGURE_FORMATS
};
extern const MatShadowFigure CcooFigures[];

/* The functions of the device side */
extern int       RankDevice_CCOO(const MatShadowCSR *, const void *params, MatShadowTune, MatShadowCandidate list[], const char **reason);
extern SysStatus LayoutDevice_CCOO(const MatShadowCSR *, MatShadowCandidate *, const MatShadowCandidate *best, double most, const char **reason, void **data);
extern void      DescribeDevice_CCOO(const void *data, MatShadowInfo *, double figure[]);
#define CCOO_DEVICE_OPS \
  { \
    RankDevice_CCOO, LayoutDevice_CCOO, CcooDeviceUpdate, CcooDeviceMult, CcooDeviceMultTranspose, DescribeDevice_CCOO, CcooDeviceDestroy, NULL, CcooFigures, CcooView \
  }
