/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The functions of this room for core and adopt, through MatShadowUserFunctions
*/
#include "mat/shadow/core/shadow.h"
#include "mat/shadow/user/shadowoptions.h"

const MatShadowUser MatShadowUserTable = {
  .created   = MatShadowReportBegin,
  .moved     = MatShadowReportMoved,
  .destroyed = MatShadowReportEnd,
  .read      = MatShadowReportRead,
  .sought    = MatShadowOptionSought,
  .remember  = MatShadowOptionsRemember,
  .compose   = MatShadowComposeSetters,
  .view      = MatShadowView,
};
