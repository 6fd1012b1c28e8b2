/* SPDX-License-Identifier: BSD-2-Clause */
/*
   How the levels of PCMG and PCGAMG store values: with -petscamb_mg_values the operators below the finest level, and the interpolations and restrictions between
   all levels, get this storage. The finest operator keeps its own, because the Krylov method multiplies by it too.

   The storage is set while the set-up makes these matrices, before any of them is converted, and after the set-up for those that it took from the program.
*/
#include <petsc/private/pcmgimpl.h>

#include "mat/shadow/core/shadow.h"
#include "mat/shadow/user/shadowoptions.h"

PetscErrorCode MGValuesRegister(void);

static MatShadowValues MGValues; /* -petscamb_mg_values */
static PetscBool       MGGiven;  /* each matrix has its own storage, which is not double by default, unless that option was given */
static PetscBool       MGFinest; /* -petscamb_mg_values_finest */

typedef struct {
  PetscErrorCode (*setup)(PC); /* without petsc-amb's storage of values */
  Mat finest, twin;            /* the finest operator that has a twin, which keeps it, and its twin */
} PCMGValues;

static PetscErrorCode PCMGValuesSet(PC pc, Mat A)
{
  PetscFunctionBegin;
  if (A && A != pc->mat && A != pc->pmat) PetscCall(MatShadowSetValues(A, MGValues));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The smoother and the residual of the finest level multiply by the twin. The smoother's own preconditioner uses the matrix. The operator is replaced without
   KSPSetOperators(), after which the smoother would estimate its eigenvalues once more. */
static PetscErrorCode PCMGValuesReplaceFinest(PC pc, PCMGValues *own)
{
  PC_MG        *mg         = (PC_MG *)pc->data;
  PC_MG_Levels *level      = mg->levels[mg->nlevels - 1];
  const KSP     smoother[] = {level->smoothd, level->smoothu};

  PetscFunctionBegin;
  if (own->finest != pc->pmat) {
    PetscCall(MatDestroy(&own->twin));
    PetscCall(MatShadowTwinCreate(pc->pmat, MGValues, &own->twin));
    own->finest = own->twin ? pc->pmat : NULL;
  }
  if (!own->twin) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowTwinSetUp(own->twin));
  for (int k = 0; k < 2; k++) {
    PetscBool pointwise;
    PC        jacobi;

    if (!smoother[k] || (k && smoother[1] == smoother[0])) continue;
    PetscCall(KSPGetPC(smoother[k], &jacobi));
    PetscCall(PetscObjectTypeCompareAny((PetscObject)jacobi, &pointwise, PCJACOBI, PCPBJACOBI, PCSOR, PCNONE, ""));
    if (!pointwise || jacobi->mat != pc->pmat) continue;
    PetscCall(PetscObjectReference((PetscObject)own->twin));
    PetscCall(MatDestroy(&jacobi->mat));
    jacobi->mat = own->twin;
  }
  if (level->residual == PCMGResidualDefault && level->A == pc->pmat) PetscCall(PCMGSetResidual(pc, mg->nlevels - 1, PCMGResidualDefault, own->twin));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_MGValues(PC pc)
{
  const MatShadowLevels before = MatShadowLevelsNow;
  PCMGValues           *own;
  PetscErrorCode        error;
  PC_MG                *mg;

  PetscFunctionBegin;
  PetscCall(PetscAMBObjectContainerQuery((PetscObject)pc, "PCMGValues", (void **)&own));
  MatShadowLevelsNow = (MatShadowLevels){PETSC_TRUE, MGValues, pc->pmat};
  error              = (*own->setup)(pc);
  MatShadowLevelsNow = before;
  PetscCall(error);
  mg = (PC_MG *)pc->data;
  for (PetscInt l = 0; l < mg->nlevels; l++) {
    const KSP smoother[] = {mg->levels[l]->smoothd, mg->levels[l]->smoothu};
    Mat       A, P;

    for (int k = 0; k < 2 && l < mg->nlevels - 1; k++) {
      if (!smoother[k]) continue;
      PetscCall(KSPGetOperators(smoother[k], &A, &P));
      PetscCall(PCMGValuesSet(pc, A));
      PetscCall(PCMGValuesSet(pc, P));
    }
    PetscCall(PCMGValuesSet(pc, mg->levels[l]->interpolate));
    PetscCall(PCMGValuesSet(pc, mg->levels[l]->restrct));
  }
  if (MGFinest && mg->nlevels > 1) PetscCall(PCMGValuesReplaceFinest(pc, own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCMGValuesDestroy(PetscAMBCtxArgument arg)
{
  PCMGValues *own = (PCMGValues *)PetscAMBCtxGet(arg);

  PetscFunctionBegin;
  PetscCall(MatDestroy(&own->twin));
  PetscCall(PetscFree(own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces the set-up if the options say so */
static PetscErrorCode PCMGValuesInstall(PC pc)
{
  PCMGValues *own;
  PetscBool   set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-petscamb_mg_values", MatShadowValuesNames, (PetscEnum *)&MGValues, &set));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-petscamb_mg_values_finest", &MGFinest, NULL));
  PetscCall(MatShadowOptionSought("-petscamb_mg_values"));
  PetscCall(MatShadowOptionSought("-petscamb_mg_values_finest"));
  if (set) MGGiven = PETSC_TRUE;
  if (!MGGiven) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&own));
  own->setup     = pc->ops->setup;
  pc->ops->setup = PCSetUp_MGValues;
  PetscCall(PetscAMBObjectContainerCompose((PetscObject)pc, "PCMGValues", own, PCMGValuesDestroy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode (*create_mg)(PC), (*create_gamg)(PC);

static PetscErrorCode PCCreate_MG_Values(PC pc)
{
  PetscFunctionBegin;
  PetscCall((*create_mg)(pc));
  PetscCall(PCMGValuesInstall(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCCreate_GAMG_Values(PC pc)
{
  PetscFunctionBegin;
  PetscCall((*create_gamg)(pc));
  PetscCall(PCMGValuesInstall(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After the registration of ambagg, whose constructor of PCGAMG is called here */
PetscErrorCode MGValuesRegister(void)
{
  PetscFunctionBegin;
  PetscCall(PCInitializePackage());
  MGValues = MAT_SHADOW_VALUES_DOUBLE;
  MGFinest = PETSC_FALSE;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "petsc-amb, values of multigrid", "PC");
  PetscCall(PetscOptionsEnum("-petscamb_mg_values", "How the levels of PCMG and PCGAMG below the finest store values; not given, each matrix says so", "MatShadowSetValues", MatShadowValuesNames, (PetscEnum)MGValues, (PetscEnum *)&MGValues, &MGGiven));
  PetscCall(PetscOptionsBool("-petscamb_mg_values_finest", "The smoother of the finest level has a copy of the matrix with this storage", "MatShadowSetValues", MGFinest, &MGFinest, NULL));
  PetscOptionsEnd();
  PetscCall(PetscFunctionListFind(PCList, PCMG, &create_mg));
  PetscCall(PetscFunctionListFind(PCList, PCGAMG, &create_gamg));
  PetscCall(PCRegister(PCMG, PCCreate_MG_Values));
  PetscCall(PCRegister(PCGAMG, PCCreate_GAMG_Values));
  PetscFunctionReturn(PETSC_SUCCESS);
}
