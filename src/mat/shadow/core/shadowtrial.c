/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The judgement between two ways to make the same product, from the times of products that a solver makes anyway.

   Times are taken in rounds: a block of products on one side, then a block on the other. Blocks and not single products take turns, because two matrices
   each of which fits the cache, but not both together, would evict each other. Other programs on the machine disturb some rounds and not others: the
   rounds are compared with each other, and the median decides.
*/
#include "mat/shadow/core/shadow.h"

/* Adds the time of a product to the round at hand */
void MatShadowTrialTake(MatShadowTrial *t, PetscBool format, PetscLogDouble seconds)
{
  PetscInt       *n     = format ? &t->nformat : &t->ncsr;
  PetscLogDouble *round = format ? &t->round_format : &t->round_csr, *least = format ? &t->time_format : &t->time_csr;

  if (*n == 0 || seconds < *round) *round = seconds;
  if (*least == 0 || seconds < *least) *least = seconds;
  if (format) t->sum_format += seconds;
  if (format) t->total++;
  (*n)++;
}

/* The median of the rounds' ratios of the time on the format to the time on the AIJ. Of two rounds the larger ratio; without rounds the ratio of the shortest times. */
PetscLogDouble MatShadowTrialRatio(const MatShadowTrial *t)
{
  const PetscLogDouble *r = t->ratio;

  if (t->rounds == 0) return t->time_csr > 0 ? t->time_format / t->time_csr : 1;
  if (t->rounds == 1) return r[0];
  if (t->rounds == 2) return PetscMax(r[0], r[1]);
  return PetscMax(PetscMin(r[0], r[1]), PetscMin(PetscMax(r[0], r[1]), r[2]));
}

/* Closes a complete round, which has so many samples of either side; returns whether the rounds suffice for a verdict. One round suffices if it is clear, and for the side for which a wrong verdict costs
   little; two suffice if both are clear and agree. */
PetscBool MatShadowTrialOver(MatShadowTrial *t, PetscInt samples, PetscBool format_is_safe)
{
  const PetscLogDouble *r = t->ratio;
  PetscBool             better, worse;

  if (t->nformat < samples || t->ncsr < samples) return PETSC_FALSE;
  t->ratio[t->rounds++] = t->round_format / t->round_csr;
  t->nformat = t->ncsr = 0;
  better = worse = PETSC_TRUE;
  for (int k = 0; k < t->rounds; k++) {
    better = (PetscBool)(better && r[k] < 1 - SYS_TUNE_CLEAR);
    worse  = (PetscBool)(worse && r[k] > 1 + SYS_TUNE_CLEAR);
  }
  if (t->rounds == 1) return format_is_safe ? better : worse;
  if (t->rounds == 2) return (PetscBool)(better || worse);
  t->noisy = (PetscBool)(PetscMax(r[0], PetscMax(r[1], r[2])) > SYS_TUNE_SCATTER * PetscMin(r[0], PetscMin(r[1], r[2])));
  return PETSC_TRUE;
}
