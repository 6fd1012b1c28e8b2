/* SPDX-License-Identifier: BSD-2-Clause */
/*
   A shadow's phases and transitions
*/
#include "mat/shadow/core/shadow.h"

#define NONE MAT_SHADOW_PHASES /* the event cannot occur in this phase */

static const MatShadowPhase transitions[MAT_SHADOW_PHASES][MAT_SHADOW_EVENTS] = {
  /*                        RESET               VALUES               CONVERTED           UPDATED             DECLINE              RETRY */
  [MAT_SHADOW_WAITING]  = {MAT_SHADOW_WAITING, MAT_SHADOW_WAITING,  MAT_SHADOW_CURRENT, NONE,               MAT_SHADOW_DECLINED, MAT_SHADOW_WAITING},
  [MAT_SHADOW_CURRENT]  = {MAT_SHADOW_WAITING, MAT_SHADOW_STALE,    MAT_SHADOW_CURRENT, MAT_SHADOW_CURRENT, MAT_SHADOW_DECLINED, MAT_SHADOW_CURRENT},
  [MAT_SHADOW_STALE]    = {MAT_SHADOW_WAITING, MAT_SHADOW_STALE,    MAT_SHADOW_CURRENT, MAT_SHADOW_CURRENT, MAT_SHADOW_DECLINED, MAT_SHADOW_STALE  },
  [MAT_SHADOW_DECLINED] = {MAT_SHADOW_WAITING, MAT_SHADOW_DECLINED, MAT_SHADOW_CURRENT, NONE,               MAT_SHADOW_DECLINED, MAT_SHADOW_WAITING}
};

PetscErrorCode MatShadowMove(MatShadow *s, MatShadowEvent event)
{
  const MatShadowPhase to = transitions[s->phase][event];

  PetscFunctionBegin;
  PetscCheck(to != NONE, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Event %d in phase %d of a shadow", (int)event, (int)s->phase);
  s->phase = to;
  PetscCall((*MatShadowUserFunctions->moved)(s, event));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns to the AIJ, but keeps the candidates' times */
PetscErrorCode MatShadowDropData(MatShadow *s)
{
  MatShadowInfo *info = &s->info, old = *info;

  PetscFunctionBegin;
  if (s->data) (*s->ops->destroy)(s->data);
  s->data = NULL;
  PetscCall(PetscMemzero(info, sizeof(*info)));
  info->format       = "csr";
  info->kernel       = MatShadowOnDevice(s) ? "aijcusparse" : "aij";
  info->reason       = "no products yet";
  info->nonzeros     = old.nonzeros;
  info->bytes_csr    = old.bytes_csr;
  info->time_convert = old.time_convert;
  info->time_update  = old.time_update;
  info->conversions  = old.conversions;
  info->updates      = old.updates;
  PetscFunctionReturn(PETSC_SUCCESS);
}
