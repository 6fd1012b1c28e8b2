/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The type "ambagg" of PCGAMG, as an overlay on PETSc's type "agg". PETSc's type keeps its context, its options, the near-null space and the smoothing of the
   prolongator. The graph, the aggregates and the tentative prolongator are made here. PETSc's context is private and differs between versions, so the settings
   are also kept here: by functions in the place of PETSc's setters, which call these too, and by reading the options once more.
*/
#include <petscamb.h>
#include "ksp/pc/impls/gamg/ambagg.h"

PetscLogEvent AMBAGG_Graph, AMBAGG_Coarsen, AMBAGG_Prolongator;

typedef PetscErrorCode (*AmbAggSetInt)(PC, PetscInt);
typedef PetscErrorCode (*AmbAggSetBool)(PC, PetscBool);

typedef struct {
  struct _PCGAMGOps base;                        /* PETSc's hooks */
  PetscInt          nsmooths, aggressive, mis_k; /* settings of PETSc's */
  PetscBool         symmetrize, lowdegree;
  PetscBool         strongest;                           /* a setting of ambagg */
  AmbAggSetInt      setnsmooths, setaggressive, setmisk; /* PETSc's setters, or NULL */
  AmbAggSetBool     setsymmetrize, setlowdegree;
  AmbAggLevel      *level; /* between the hooks */
} PCAmbAgg;

static inline PC_GAMG *PCAmbAggGAMG(PC pc)
{
  return (PC_GAMG *)((PC_MG *)pc->data)->innerctx;
}

static PetscErrorCode PCAmbAggGet(PC pc, PCAmbAgg **agg)
{
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)pc, "PCAmbAgg", (PetscObject *)&container));
  PetscAssert(container, PetscObjectComm((PetscObject)pc), PETSC_ERR_PLIB, "The preconditioner is not of type ambagg");
  PetscCall(PetscContainerGetPointer(container, (void **)agg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- settings ------------------------------------------------- */

#define PCAMBAGG_SETTER(Name, T, field, base) \
  static PetscErrorCode Name(PC pc, T value) \
  { \
    PCAmbAgg *agg; \
\
    PetscFunctionBegin; \
    PetscCall(PCAmbAggGet(pc, &agg)); \
    agg->field = value; \
    if (agg->base) PetscCall((*agg->base)(pc, value)); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }

PCAMBAGG_SETTER(PCGAMGSetNSmooths_AmbAgg, PetscInt, nsmooths, setnsmooths)
PCAMBAGG_SETTER(PCGAMGSetAggressiveLevels_AmbAgg, PetscInt, aggressive, setaggressive)
PCAMBAGG_SETTER(PCGAMGMISkSetAggressive_AmbAgg, PetscInt, mis_k, setmisk)
PCAMBAGG_SETTER(PCGAMGSetGraphSymmetrize_AmbAgg, PetscBool, symmetrize, setsymmetrize)
PCAMBAGG_SETTER(PCGAMGMISkSetMinDegreeOrdering_AmbAgg, PetscBool, lowdegree, setlowdegree)

static PetscErrorCode PCGAMGAmbAggSetStrongest_AmbAgg(PC pc, PetscBool strongest)
{
  PCAmbAgg *agg;

  PetscFunctionBegin;
  PetscCall(PCAmbAggGet(pc, &agg));
  agg->strongest = strongest;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCGAMGAmbAggSetStrongest - sets the root that a vertex joins on levels whose coarsening is not aggressive

  Logically Collective

  Input Parameters:
+ pc        - the preconditioner, of type `PCGAMG`; this function does nothing if its type of multigrid is not `PCGAMGAMBAGG`
- strongest - `PETSC_TRUE` for the neighbouring root with the strongest edge, `PETSC_FALSE` (the default) for the one that comes first in the order of roots

  Options Database Key:
. -pc_gamg_ambagg_strongest <bool> - the same

  Level: advanced

  Note:
  The strongest edge saves some iterations with jumping coefficients and on elasticity. The complexity of the operators changes by -5 to +7 percent.

.seealso: `PCGAMGAMBAGG`, `PCGAMGSetAggressiveLevels()`
@*/
PetscErrorCode PCGAMGAmbAggSetStrongest(PC pc, PetscBool strongest)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscTryMethod(pc, "PCGAMGAmbAggSetStrongest_C", (PC, PetscBool), (pc, strongest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc reads its options; those of the settings that are kept here are read again, without help */
static PetscErrorCode PCSetFromOptions_AmbAgg(PC pc, PetscAMBOptionItems PetscOptionsObject)
{
  PCAmbAgg   *agg;
  const char *prefix;
  PetscBool   set;

  PetscFunctionBegin;
  PetscCall(PCAmbAggGet(pc, &agg));
  if (agg->base.setfromoptions) PetscCall((*agg->base.setfromoptions)(pc, PetscOptionsObject));
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
#if PETSC_VERSION_LT(3, 19, 0)
  agg->aggressive = 1; /* as PETSc has it, whatever PCGAMGSetAggressiveLevels() said */
#endif
  PetscCall(PetscOptionsGetInt(((PetscObject)pc)->options, prefix, "-pc_gamg_square_graph", &agg->aggressive, NULL));
  PetscCall(PetscOptionsGetInt(((PetscObject)pc)->options, prefix, "-pc_gamg_aggressive_coarsening", &agg->aggressive, NULL));
  PetscCall(PetscOptionsGetInt(((PetscObject)pc)->options, prefix, "-pc_gamg_agg_nsmooths", &agg->nsmooths, NULL));
  PetscCall(PetscOptionsGetInt(((PetscObject)pc)->options, prefix, "-pc_gamg_aggressive_mis_k", &agg->mis_k, NULL));
  PetscCall(PetscOptionsGetBool(((PetscObject)pc)->options, prefix, "-pc_gamg_graph_symmetrize", &agg->symmetrize, NULL));
  PetscCall(PetscOptionsGetBool(((PetscObject)pc)->options, prefix, "-pc_gamg_mis_k_minimum_degree_ordering", &agg->lowdegree, NULL));
  PetscOptionsHeadBegin(PetscOptionsObject, "GAMG-AMBAGG options");
  PetscCall(PetscOptionsBool("-pc_gamg_ambagg_strongest", "A vertex joins the root with the strongest edge", "PCGAMGAmbAggSetStrongest", agg->strongest, &agg->strongest, &set));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCView_AmbAgg(PC pc, PetscViewer viewer)
{
  PCAmbAgg *agg;

  PetscFunctionBegin;
  PetscCall(PCAmbAggGet(pc, &agg));
  PetscCall(PetscViewerASCIIPrintf(viewer, "      AMBAGG specific options\n"));
  PetscCall(PetscViewerASCIIPrintf(viewer, "        Number of levels of aggressive coarsening %" PetscInt_FMT ", with MIS-%" PetscInt_FMT "\n", agg->aggressive, agg->mis_k));
  PetscCall(PetscViewerASCIIPrintf(viewer, "        Vertices join the %s\n", agg->strongest ? "root with the strongest edge" : "root that comes first"));
  PetscCall(PetscViewerASCIIPrintf(viewer, "        Number smoothing steps to construct prolongation %" PetscInt_FMT "\n", agg->nsmooths));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- hooks ------------------------------------------------- */

/* The coarsener cannot be chosen, but the components of a block that count can be */
static PetscErrorCode PCAmbAggCoarsenOptions(PC pc, PetscInt *nindex, PetscInt index[])
{
  const char *prefix;
  char        type[64];
  PetscInt    bs;
  PetscBool   set, own;

  PetscFunctionBegin;
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(PetscOptionsGetString(((PetscObject)pc)->options, prefix, "-" PCAMBAGG_COARSEN_PREFIX "type", type, sizeof(type), &set));
  PetscCall(PetscStrcmp(type, MATCOARSENAMBMIS, &own));
  PetscCheck(!set || own, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, "-" PCAMBAGG_COARSEN_PREFIX "type %s asks for another coarsener than that of -pc_gamg_type ambagg; use -pc_gamg_type agg with it, or leave it out", type);
  PetscCall(PetscOptionsGetIntArray(((PetscObject)pc)->options, prefix, "-" PCAMBAGG_COARSEN_PREFIX "strength_index", index, nindex, &set));
  if (!set) *nindex = 0;
  PetscCall(MatGetBlockSize(pc->pmat, &bs));
  for (PetscInt k = 0; k < *nindex; k++) {
    PetscCheck(index[k] >= 0 && index[k] < bs, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "-" PCAMBAGG_COARSEN_PREFIX "strength_index has %" PetscInt_FMT ", but blocks have components 0 to %" PetscInt_FMT, index[k], bs - 1);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCGAMGCreateGraph_AmbAgg(PC pc, Mat A, Mat *G)
{
  PC_GAMG  *gamg = PCAmbAggGAMG(pc);
  PCAmbAgg *agg;
  PetscInt  index[16], nindex = PETSC_STATIC_ARRAY_LENGTH(index);

  PetscFunctionBegin;
  PetscCall(PCAmbAggGet(pc, &agg));
  PetscCall(PCAmbAggCoarsenOptions(pc, &nindex, index));
  PetscCall(PetscLogEventBegin(petsc_gamg_setup_events[GAMG_GRAPH], 0, 0, 0, 0));
  PetscCall(AmbAggLevelDestroy(&agg->level));
  PetscCall(AmbAggLevelCreate(A, agg->symmetrize, gamg->threshold[gamg->current_level], nindex, index, &agg->level));
  PetscCall(PetscLogEventEnd(petsc_gamg_setup_events[GAMG_GRAPH], 0, 0, 0, 0));
  *G = A; /* PETSc wants a matrix and does not look at it, unless it makes blocks of ASM by a coarsening of its own */
#if PETSC_VERSION_GE(3, 20, 0)
  if (gamg->asm_hem_aggs) {
    PetscCall((*agg->base.creategraph)(pc, A, G));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(PetscObjectReference((PetscObject)A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCGAMGCoarsen_AmbAgg(PC pc, Mat *G, PetscCoarsenData **lists)
{
  PC_GAMG   *gamg = PCAmbAggGAMG(pc);
  PCAmbAgg  *agg;
  PetscBool  aggressive;
  AggOptions options;

  PetscFunctionBegin;
  PetscCall(PCAmbAggGet(pc, &agg));
  aggressive        = (PetscBool)(gamg->current_level < agg->aggressive);
  options.hops      = aggressive ? (int)PetscMax(agg->mis_k, 1) : 1;
  options.lowdegree = agg->lowdegree && !aggressive;
  options.strongest = agg->strongest;
  PetscCall(PetscLogEventBegin(petsc_gamg_setup_events[GAMG_COARSEN], 0, 0, 0, 0));
  PetscCall(AmbAggLevelCoarsen(agg->level, &options));
  if (gamg->use_aggs_in_asm) PetscCall(AmbAggLevelLists(agg->level, lists));
  else PetscCall(PetscCDCreate(0, lists));
  PetscCall(PetscLogEventEnd(petsc_gamg_setup_events[GAMG_COARSEN], 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCGAMGProlongator_AmbAgg(PC pc, Mat A, PetscCoarsenData *lists, Mat *P)
{
  PC_GAMG   *gamg = PCAmbAggGAMG(pc);
  PCAmbAgg  *agg;
  PetscReal *coarse = NULL;

  PetscFunctionBegin;
  PetscCall(PCAmbAggGet(pc, &agg));
  PetscCall(PetscLogEventBegin(petsc_gamg_setup_events[GAMG_PROL], 0, 0, 0, 0));
  PetscCall(AmbAggLevelProlongator(agg->level, A, gamg->data_cell_cols, gamg->data, &coarse, P));
  if (*P) {
    PetscCall(PetscFree(gamg->data));
    gamg->data           = coarse;
    gamg->data_cell_rows = gamg->data_cell_cols;
    gamg->data_sz        = gamg->data_cell_cols * gamg->data_cell_cols * agg->level->nagg;
  }
  PetscCall(AmbAggLevelDestroy(&agg->level));
  PetscCall(PetscLogEventEnd(petsc_gamg_setup_events[GAMG_PROL], 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PETSC_UNUSED PetscErrorCode PCGAMGProlongatorGraph_AmbAgg(PC pc, Mat A, Mat G, PetscCoarsenData *lists, Mat *P)
{
  PetscFunctionBegin;
  PetscCall(PCGAMGProlongator_AmbAgg(pc, A, lists, P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDestroy_AmbAgg(PC pc)
{
  static const char *const setters[] = {"PCGAMGSetNSmooths_C", "PCGAMGSetAggressiveLevels_C", "PCGAMGMISkSetAggressive_C", "PCGAMGSetGraphSymmetrize_C", "PCGAMGMISkSetMinDegreeOrdering_C", "PCGAMGAmbAggSetStrongest_C"};
  PCAmbAgg                *agg;

  PetscFunctionBegin;
  PetscCall(PCAmbAggGet(pc, &agg));
  if (agg->base.destroy) PetscCall((*agg->base.destroy)(pc));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(setters); k++) PetscCall(PetscObjectComposeFunction((PetscObject)pc, setters[k], NULL));
  PetscCall(PetscObjectCompose((PetscObject)pc, "PCAmbAgg", NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCAmbAggDestroyContext(PetscAMBCtxArgument arg)
{
  PCAmbAgg *agg = (PCAmbAgg *)PetscAMBCtxGet(arg);

  PetscFunctionBegin;
  PetscCall(AmbAggLevelDestroy(&agg->level));
  PetscCall(PetscFree(agg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   PCGAMGAMBAGG - `PCGAMGAMBAGG` = "ambagg" - smoothed aggregation whose set-up is parallel: the graph, the aggregates and the tentative prolongator are made
   by the threads of each process.

   A type of `PCGAMG` for matrices of type `MATAIJ` and its subtypes. All options of `PCGAMGAGG` keep their meaning. The aggregates are those of a maximal
   independent set as in `PCGAMGAGG`, in another order of its vertices: iterations and complexity are as good. They are the same for any number of threads
   and of processes. The squared graph is not formed for aggressive coarsening.

   Options Database Keys:
+  -pc_gamg_type ambagg             - sets the type
-  -pc_gamg_ambagg_strongest <bool> - see `PCGAMGAmbAggSetStrongest()`

   Level: intermediate

   Notes:
   Products with a type of petsc-amb, such as `MATAMB`, make the largest part of the set-up faster.

   `-pc_gamg_mat_coarsen_type` (`-mat_coarsen_type` before PETSc 3.20) with another coarsener is an error: `PCGAMGAGG` takes all coarseners, `MATCOARSENAMBMIS`
   among them.

.seealso: `PCGAMG`, `PCGAMGSetType()`, `PCGAMGAGG`, `MATCOARSENAMBMIS`, `PCGAMGAmbAggSetStrongest()`, `MATAMB`
M*/
static PetscErrorCode PCCreateGAMG_AmbAgg(PC pc)
{
  PC_GAMG       *gamg = PCAmbAggGAMG(pc);
  PCAmbAgg      *agg;
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PCGAMGSetType(pc, PCGAMGAGG));
  gamg->type = PCGAMGAMBAGG;
  PetscCall(PetscFree(gamg->gamg_type_name));
  PetscCall(PetscStrallocpy(PCGAMGAMBAGG, &gamg->gamg_type_name));
  PetscCall(PetscNew(&agg));
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
  PetscCall(PetscContainerSetPointer(container, agg));
  PetscCall(PetscContainerSetCtxDestroy(container, PCAmbAggDestroyContext));
  PetscCall(PetscObjectCompose((PetscObject)pc, "PCAmbAgg", (PetscObject)container));
  PetscCall(PetscContainerDestroy(&container));
  agg->base       = *gamg->ops;
  agg->nsmooths   = 1;
  agg->aggressive = 1;
  agg->mis_k      = 2;
  agg->symmetrize = PETSC_TRUE;
  agg->lowdegree  = PCAMBAGG_LOW_DEGREE;

  gamg->ops->creategraph    = PCGAMGCreateGraph_AmbAgg;
  gamg->ops->coarsen        = PCGAMGCoarsen_AmbAgg;
  gamg->ops->prolongator    = PCAMBAGG_PROLONGATOR(gamg->ops, PCGAMGProlongator_AmbAgg, PCGAMGProlongatorGraph_AmbAgg);
  gamg->ops->setfromoptions = PCSetFromOptions_AmbAgg;
  gamg->ops->destroy        = PCDestroy_AmbAgg;
  gamg->ops->view           = PCView_AmbAgg;
  PetscCall(PetscObjectQueryFunction((PetscObject)pc, "PCGAMGSetNSmooths_C", &agg->setnsmooths));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCGAMGSetNSmooths_C", PCGAMGSetNSmooths_AmbAgg));
  PetscCall(PetscObjectQueryFunction((PetscObject)pc, "PCGAMGSetAggressiveLevels_C", &agg->setaggressive));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCGAMGSetAggressiveLevels_C", PCGAMGSetAggressiveLevels_AmbAgg));
  PetscCall(PetscObjectQueryFunction((PetscObject)pc, "PCGAMGMISkSetAggressive_C", &agg->setmisk));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCGAMGMISkSetAggressive_C", PCGAMGMISkSetAggressive_AmbAgg));
  PetscCall(PetscObjectQueryFunction((PetscObject)pc, "PCGAMGSetGraphSymmetrize_C", &agg->setsymmetrize));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCGAMGSetGraphSymmetrize_C", PCGAMGSetGraphSymmetrize_AmbAgg));
  PetscCall(PetscObjectQueryFunction((PetscObject)pc, "PCGAMGMISkSetMinDegreeOrdering_C", &agg->setlowdegree));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCGAMGMISkSetMinDegreeOrdering_C", PCGAMGMISkSetMinDegreeOrdering_AmbAgg));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCGAMGAmbAggSetStrongest_C", PCGAMGAmbAggSetStrongest_AmbAgg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- coarsener ------------------------------------------------- */

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

/* ------------------------------------------------- registration ------------------------------------------------- */

PetscErrorCode AmbAggRegister(void)
{
  PetscFunctionBegin;
  PetscCall(PCInitializePackage());
  PetscCall(PetscLogEventRegister("AMBAGG graph", PC_CLASSID, &AMBAGG_Graph));
  PetscCall(PetscLogEventRegister("AMBAGG coarsen", PC_CLASSID, &AMBAGG_Coarsen));
  PetscCall(PetscLogEventRegister("AMBAGG prolong", PC_CLASSID, &AMBAGG_Prolongator));
  PetscCall(PCGAMGRegister(PCGAMGAMBAGG, PCCreateGAMG_AmbAgg));
  PetscCall(MatCoarsenRegister(MATCOARSENAMBMIS, MatCoarsenCreate_AmbMIS));
  PetscFunctionReturn(PETSC_SUCCESS);
}
