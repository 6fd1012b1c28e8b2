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
  PetscBool table;
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
