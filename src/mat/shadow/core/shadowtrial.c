/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The verdict between two ways to compute the same product, from the times of the solver's own products.

   A round times a block of products on the format, then one on the AIJ; in the trial of a candidate, on the candidate and on the best so far. Blocks
   alternate rather than single products, because two matrices that fit the cache only separately would evict each other. Other programs disturb some
   rounds and not others: the median of three rounds decides.
*/
#include "mat/shadow/core/shadow.h"

/* Adds a product's time to the current round */
void MatShadowTrialAdd(MatShadowTrial *t, PetscBool format, PetscLogDouble seconds)
{
  PetscInt       *n     = format ? &t->nformat : &t->ncsr;
  PetscLogDouble *round = format ? &t->round_format : &t->round_csr, *least = format ? &t->time_format : &t->time_csr;

  if (*n == 0 || seconds < *round) *round = seconds;
  if (*least == 0 || seconds < *least) *least = seconds;
  if (format) t->sum_format += seconds;
  if (format) t->total++;
  (*n)++;
}

/* Returns the median of the rounds' ratios of times format / AIJ; of two rounds the larger; without rounds the ratio of the shortest times */
PetscLogDouble MatShadowTrialRatio(const MatShadowTrial *t)
{
  const PetscLogDouble *r = t->ratio;

  if (t->rounds == 0) return t->time_csr > 0 ? t->time_format / t->time_csr : 1;
  if (t->rounds == 1) return r[0];
  if (t->rounds == 2) return PetscMax(r[0], r[1]);
  return PetscMax(PetscMin(r[0], r[1]), PetscMin(PetscMax(r[0], r[1]), r[2]));
}

/* Closes the round once both sides have `samples` times, and returns whether the rounds suffice for a verdict. The first round ends the trial only if it clearly favors the
   format (format_is_safe) or the AIJ (otherwise); the second if both clearly favor the same side; the third always. */
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
