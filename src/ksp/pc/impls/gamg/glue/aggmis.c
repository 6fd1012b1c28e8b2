/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The coarsener "ambmis" of MatCoarsen: the aggregates of "ambagg" for PETSc's type "agg"
*/
#include <petscamb.h>
#include "ksp/pc/impls/gamg/glue/agg.h"

static PetscErrorCode MatCoarsenApply_AmbMIS(MatCoarsen crs)
{
  const PetscInt k = (PetscInt)(size_t)crs->subctx;
  AmbAggLevel   *level;
  AggOptions     options = {.hops = (int)PetscMax(k, 1)};

  PetscFunctionBegin;
  PetscCall(AmbAggLevelCreate(crs->graph, PETSC_FALSE, -1, 0, NULL, &level));
  PetscCall(AmbAggLevelCoarsen(level, &options));
  PetscCall(AmbAggLevelLists(level, &crs->agg_lists));
  PetscCall(AmbAggLevelDestroy(&level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCoarsenView_AmbMIS(MatCoarsen crs, PetscViewer viewer)
{
  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  AMBMIS aggregator, k = %d\n", (int)PetscMax((size_t)crs->subctx, (size_t)1)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   MATCOARSENAMBMIS - `MATCOARSENAMBMIS` = "ambmis" - the aggregates of `PCGAMGAMBAGG` as a coarsener of `MatCoarsen`

   Level: advanced

   Options Database Key:
. -pc_gamg_mat_coarsen_type ambmis - in `PCGAMG` of type `PCGAMGAGG`; before PETSc 3.20 it is -mat_coarsen_type

   Notes:
   `MatCoarsenMISKSetDistance()` sets the distance, as for the coarsener misk.

   From PETSc 3.20 on `PCGAMGAGG` squares the graph of an aggressive level and takes its own coarsener there. With
   `-pc_gamg_aggressive_square_graph false` it takes this one everywhere.

   Keeping no context is on purpose: `PCGAMGAGG` writes the distance into the context of any coarsener.

   Example:
.vb
   bin/solve -f matrix.mtx -pc_type gamg -pc_gamg_type agg -pc_gamg_mat_coarsen_type ambmis
.ve

.seealso: `MatCoarsenSetType()`, `PCGAMGAMBAGG`, `PCGAMGAGG`
M*/
static PetscErrorCode MatCoarsenCreate_AmbMIS(MatCoarsen crs)
{
  PetscFunctionBegin;
  crs->ops->apply = MatCoarsenApply_AmbMIS;
  crs->ops->view  = MatCoarsenView_AmbMIS;
  crs->subctx     = (void *)(size_t)1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AmbMISRegister(void)
{
  PetscFunctionBegin;
  PetscCall(MatCoarsenRegister(MATCOARSENAMBMIS, MatCoarsenCreate_AmbMIS));
  PetscFunctionReturn(PETSC_SUCCESS);
}
