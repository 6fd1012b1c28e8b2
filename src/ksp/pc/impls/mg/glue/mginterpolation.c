/* SPDX-License-Identifier: BSD-2-Clause */
/*
   On a GPU, the interpolations and restrictions of PCMG get the type of the level to which they interpolate.

   A DM creates them as AIJ unless the name of its matrix type begins with "aij" (ConvertToAIJ() in PETSc's dainterp.c). With a type of petsc-amb the operators would be on
   the GPU and the interpolations on the host, and each product with an interpolation would copy its vectors. On the host they stay AIJ: their rows are short, and a format
   costs more than it saves.
*/
#include <petsc/private/pcmgimpl.h>

#include "mat/shadow/core/shadow.h"

PetscErrorCode MGInterpolationRegister(void);

#define SETUP "PCMGInterpolationSetUp_C" /* the set-up without this file, composed with the PC */

/* Sets *A to the operator of a level if it makes its products on a device, in a format of petsc-amb, or else to the matrix of its preconditioner if that does, or else to NULL */
static PetscErrorCode MGInterpolationOperator(const PC_MG_Levels *level, Mat *A)
{
  PetscBool set[2];
  Mat       operators[2];

  PetscFunctionBegin;
  *A = NULL;
  PetscCall(KSPGetOperatorsSet(level->smoothd, &set[0], &set[1]));
  if (!set[0] || !set[1]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetOperators(level->smoothd, &operators[0], &operators[1]));
  for (int k = 0; k < 2 && !*A; k++) {
    const MatShadowFormat *format;
    MatShadow             *s;

    PetscCall(MatShadowGetFormat(operators[k], &format));
    if (!format) continue;
    PetscCall(MatShadowGet(operators[k], &s));
    if (MatShadowOnDevice(s)) *A = operators[k];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As PETSc does for AIJCUSPARSE, an interpolation of several unknowns in a point becomes an AIJ if the set-up created it: MAIJ has no products on a device */
static PetscErrorCode MGInterpolationExpand(Mat P)
{
  const PetscInt bs[2] = {P->rmap->bs, P->cmap->bs};
  PetscBool      seq, maij;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)P, &maij, MATSEQMAIJ, MATMPIMAIJ, ""));
  if (!maij) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompare((PetscObject)P, MATSEQMAIJ, &seq));
  PetscCall(MatConvert(P, seq ? MATSEQAIJ : MATMPIAIJ, MAT_INPLACE_MATRIX, &P));
  PetscCall(MatSetBlockSizes(P, bs[0], bs[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A vector that PCMGGetRScale() made of a restriction on the host becomes one of the coarse level's type */
static PetscErrorCode MGInterpolationScale(PC pc, PetscInt l)
{
  const PC_MG *mg = (PC_MG *)pc->data;
  const Vec    b = mg->levels[l - 1]->b, scale = mg->levels[l]->rscale;
  PetscBool    same;
  Vec          v;

  PetscFunctionBegin;
  if (!b || !scale) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompare((PetscObject)scale, ((PetscObject)b)->type_name, &same));
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDuplicate(b, &v));
  PetscCall(VecCopy(scale, v));
  PetscCall(PCMGSetRScale(pc, l, v));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Its arrays are uploaded here, and not in the first solve */
static PetscErrorCode MGInterpolationFollow(Mat P, Mat A)
{
  PetscFunctionBegin;
  if (!P) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowFollow(P, A));
  PetscCall(MatAIJDeviceUpload(P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Flags for the operators of a level that the program has set */
typedef struct {
  PetscBool interpolation, scale;
} MGInterpolationGiven;

static PetscErrorCode PCSetUp_MGInterpolation(PC pc)
{
  PC_MG *mg = (PC_MG *)pc->data;
  PetscErrorCode (*setup)(PC);
  const PetscInt        n = mg->levels ? mg->nlevels : 0;
  MGInterpolationGiven *given;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(n, &given));
  for (PetscInt l = 1; l < n; l++) {
    given[l].interpolation = (PetscBool)(mg->levels[l]->interpolate || mg->levels[l]->restrct);
    given[l].scale         = (PetscBool)(mg->levels[l]->rscale != NULL);
  }
  PetscCall(PetscObjectQueryFunction((PetscObject)pc, SETUP, &setup));
  PetscCall((*setup)(pc));
  for (PetscInt l = 1; l < mg->nlevels; l++) {
    const PC_MG_Levels *level = mg->levels[l];
    Mat                 A;

    PetscCall(MGInterpolationOperator(level, &A));
    if (!A) continue;
    if (l >= n || !given[l].interpolation) {
      PetscCall(MGInterpolationExpand(level->interpolate));
      PetscCall(MGInterpolationExpand(level->restrct));
    }
    if (l >= n || !given[l].scale) PetscCall(MGInterpolationScale(pc, l));
    PetscCall(MGInterpolationFollow(level->interpolate, A));
    PetscCall(MGInterpolationFollow(level->restrct, A));
    PetscCall(MGInterpolationFollow(level->inject, A));
  }
  PetscCall(PetscFree(given));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode (*create_mg)(PC);

/* PCGAMG and others that begin as a PCMG replace the set-up */
static PetscErrorCode PCCreate_MGInterpolation(PC pc)
{
  PetscFunctionBegin;
  PetscCall((*create_mg)(pc));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, SETUP, pc->ops->setup));
  pc->ops->setup = PCSetUp_MGInterpolation;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before the registration of the storage of values, which is set on matrices that have a format */
PetscErrorCode MGInterpolationRegister(void)
{
  PetscFunctionBegin;
  if (!PetscDefined(HAVE_CUDA)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCInitializePackage());
  PetscCall(PetscFunctionListFind(PCList, PCMG, &create_mg));
  PetscCall(PCRegister(PCMG, PCCreate_MGInterpolation));
  PetscFunctionReturn(PETSC_SUCCESS);
}
