/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The type "ambagg" of PCGAMG, as an overlay on PETSc's type "agg". PETSc's type keeps its context, its options, the near-null space and, for several
   processes on the host, the smoothing of the prolongator. This type computes the graph, the aggregates and the tentative prolongator. PETSc's context is private and differs between
   versions, so the settings are also kept here: by functions in the place of PETSc's setters, which call these too, and by reading the options once more.

   A PCGAMG without a chosen type has the overlay too, without its hooks. Each set-up installs the hooks if the matrix qualifies.
*/
#include <petscamb.h>
#include <petscdm.h>
#include "ksp/ksp/impls/ambchebyshev/ambchebyshev.h"
#include "ksp/pc/impls/gamg/glue/agg.h"
#include "mat/shadow/user/shadowoptions.h"

_Static_assert(KSPAMB_ESTIMATE_STEPS == AGG_STEPS, "the steps of PETSc's estimates");

PetscLogEvent AMBAGG_Graph, AMBAGG_Coarsen, AMBAGG_Prolongator;

/* The settings of PETSc's type of which this type has a copy: the type, the name, the function that sets it, and the value at the start */
#define PCAMBAGG_SETTINGS(X) \
  X(PetscInt, nsmooths, PCGAMGSetNSmooths, 1) \
  X(PetscInt, aggressive, PCGAMGSetAggressiveLevels, 1) \
  X(PetscInt, mis_k, PCGAMGMISkSetAggressive, 2) \
  X(PetscBool, symmetrize, PCGAMGSetGraphSymmetrize, PETSC_TRUE) \
  X(PetscBool, lowdegree, PCGAMGMISkSetMinDegreeOrdering, PCAMBAGG_LOW_DEGREE)

typedef enum {
  PCAMBAGG_FOR_GPU,
  PCAMBAGG_FOR_ALL,
  PCAMBAGG_FOR_NONE
} PCAmbAggFor;

#define PCAMBAGG_FIELDS(T, name, Set, start) \
  T name; \
  PetscErrorCode (*set_##name)(PC, T); /* PETSc's setter, or NULL */

typedef struct {
  struct _PCGAMGOps base;   /* PETSc's hooks */
  PetscBool         chosen; /* by the name of the type; if not, each set-up chooses */
  PetscErrorCode (*setup)(PC);
  PCAMBAGG_SETTINGS(PCAMBAGG_FIELDS)
  PetscBool    strongest; /* settings of ambagg */
  PetscInt     least;
  AmbAggLevel *level;    /* between the hooks */
  PetscBool    smoothed; /* the prolongator of this level needs no smoothing any more */
} PCAmbAgg;

static inline PC_GAMG *PCAmbAggGAMG(PC pc)
{
  return (PC_GAMG *)((PC_MG *)pc->data)->innerctx;
}

static PetscErrorCode PCAmbAggGet(PC pc, PCAmbAgg **agg)
{
  PetscFunctionBegin;
  PetscCall(PetscAMBObjectContainerQuery((PetscObject)pc, "PCAmbAgg", (void **)agg));
  PetscCheck(*agg, PetscObjectComm((PetscObject)pc), PETSC_ERR_PLIB, "The preconditioner is not of type ambagg");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- settings ------------------------------------------------- */

#define PCAMBAGG_SETTER(T, name, Set, start) \
  static PetscErrorCode Set##_AmbAgg(PC pc, T value) \
  { \
    PCAmbAgg *agg; \
\
    PetscFunctionBegin; \
    PetscCall(PCAmbAggGet(pc, &agg)); \
    agg->name = value; \
    if (agg->set_##name) PetscCall((*agg->set_##name)(pc, value)); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }

PCAMBAGG_SETTINGS(PCAMBAGG_SETTER)

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

  Notes:
  The strongest edge saves some iterations with jumping coefficients and on elasticity. The complexity of the operators changes by -5 to +7 percent.

  The next computation of aggregates uses the setting.

  Example:
.vb
  PetscCall(PCSetType(pc, PCGAMG));
  PetscCall(PCGAMGSetType(pc, PCGAMGAMBAGG));
  PetscCall(PCGAMGAmbAggSetStrongest(pc, PETSC_TRUE));
.ve

.seealso: `PCGAMGAMBAGG`, `PCGAMGSetAggressiveLevels()`
@*/
PetscErrorCode PCGAMGAmbAggSetStrongest(PC pc, PetscBool strongest)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscTryMethod(pc, "PCGAMGAmbAggSetStrongest_C", (PC, PetscBool), (pc, strongest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCGAMGAmbAggSetMinAggregateSize_AmbAgg(PC pc, PetscInt least)
{
  PCAmbAgg *agg;

  PetscFunctionBegin;
  PetscCheck(least >= 1 && least <= 1000000, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "The least size of an aggregate is %" PetscInt_FMT "; give a number from 1, which dissolves none, to 1000000", least);
  PetscCall(PCAmbAggGet(pc, &agg));
  agg->least = least;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCGAMGAmbAggSetMinAggregateSize - sets the size below which an aggregate is dissolved

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner, of type `PCGAMG`; this function does nothing if its type of multigrid is not `PCGAMGAMBAGG`
- least - the number of vertices; 1, the default, dissolves no aggregate

  Options Database Key:
. -pc_gamg_ambagg_min_aggregate_size <least> - the same

  Level: advanced

  Notes:
  Each vertex of a smaller aggregate joins the aggregate beside it that it is connected to most strongly. If one of them has none beside it that is not
  smaller, the aggregate stays as it is.

  Without aggressive coarsening, 4 makes operators on grids half as complex, with up to two iterations more. With it there are few such aggregates.

  The next computation of aggregates uses the setting.

  Errors:
. `PETSC_ERR_ARG_OUTOFRANGE` - the number is less than 1, or more than 1000000

  Example:
.vb
  PetscCall(PCSetType(pc, PCGAMG));
  PetscCall(PCGAMGSetType(pc, PCGAMGAMBAGG));
  PetscCall(PCGAMGSetAggressiveLevels(pc, 0));
  PetscCall(PCGAMGAmbAggSetMinAggregateSize(pc, 4));
.ve

.seealso: `PCGAMGAMBAGG`, `PCGAMGAmbAggSetStrongest()`, `PCGAMGSetAggressiveLevels()`
@*/
PetscErrorCode PCGAMGAmbAggSetMinAggregateSize(PC pc, PetscInt least)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, least, 2);
  PetscTryMethod(pc, "PCGAMGAmbAggSetMinAggregateSize_C", (PC, PetscInt), (pc, least));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc reads its options; then this function reads the options again whose settings it stores, without help */
static PetscErrorCode PCSetFromOptions_AmbAgg(PC pc, PetscAMBOptionItems PetscOptionsObject)
{
  PCAmbAgg   *agg;
  const char *prefix;
  PetscInt    least;
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
  PetscCall(PetscOptionsInt("-pc_gamg_ambagg_min_aggregate_size", "An aggregate of fewer vertices is dissolved", "PCGAMGAmbAggSetMinAggregateSize", agg->least, &least, &set));
  PetscOptionsHeadEnd();
  if (set) PetscCall(PCGAMGAmbAggSetMinAggregateSize_AmbAgg(pc, least));
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
  if (agg->least > 1) PetscCall(PetscViewerASCIIPrintf(viewer, "        Aggregates of fewer than %" PetscInt_FMT " vertices are dissolved\n", agg->least));
  PetscCall(PetscViewerASCIIPrintf(viewer, "        Number smoothing steps to construct prolongation %" PetscInt_FMT "\n", agg->nsmooths));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- hooks ------------------------------------------------- */

/* The coarsener cannot be chosen, but the components of a block that count can be */
static PetscErrorCode PCAmbAggCoarsenOptions(PC pc, PetscInt *nindex, PetscInt index[])
{
  const char *prefix;
  char        type[64] = "";
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
  agg->level->depth = gamg->current_level;
  PetscCall(PetscLogEventEnd(petsc_gamg_setup_events[GAMG_GRAPH], 0, 0, 0, 0));
  *G = A; /* PETSc needs a matrix here, and reads it only to form blocks of ASM by its own coarsening */
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
  options.least     = (int)agg->least;
  PetscCall(PetscLogEventBegin(petsc_gamg_setup_events[GAMG_COARSEN], 0, 0, 0, 0));
  PetscCall(AmbAggLevelCoarsen(agg->level, &options));
  if (gamg->use_aggs_in_asm) PetscCall(AmbAggLevelLists(agg->level, lists));
  else PetscCall(PetscCDCreate(0, lists));
  PetscCall(PetscLogEventEnd(petsc_gamg_setup_events[GAMG_COARSEN], 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The function that computes the prolongator also smooths it if that is one step without a filter */
static PetscErrorCode PCAmbAggSmooths(PC pc, const PCAmbAgg *agg, PetscBool *smooths)
{
  PetscReal filter = 0;

  PetscFunctionBegin;
  PetscTryMethod(pc, "PCGAMGGetProlongatorFilter_C", (PC, PetscReal *), (pc, &filter));
  *smooths = (PetscBool)(agg->nsmooths == 1 && !(filter > 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The weight of PETSc's smoothing, from an estimate of eigenvalues that smoothers of the level may take, too */
static PetscErrorCode PCAmbAggWeight(PC pc, PCAmbAgg *agg, PetscReal *alpha)
{
  PC_MG         *mg   = (PC_MG *)pc->data;
  PC_GAMG       *gamg = PCAmbAggGAMG(pc);
  const PetscInt l    = gamg->current_level;
  PetscReal      emin = gamg->emin, emax = gamg->emax;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(petsc_gamg_setup_events[GAMG_OPT], 0, 0, 0, 0));
  if (emax <= 0) PetscCall(AmbAggEstimate(pc, agg->level, &emin, &emax));
  PetscCheck(emax != 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_PLIB, "The largest eigenvalue of D^-1 A is estimated as 0: the matrix may be zero; use -pc_gamg_agg_nsmooths 0");
  mg->min_eigen_DinvA[l] = gamg->use_sa_esteig ? emin : 0;
  mg->max_eigen_DinvA[l] = gamg->use_sa_esteig ? emax : 0;
  *alpha                 = -1.4 / emax;
  PetscCall(PetscLogEventEnd(petsc_gamg_setup_events[GAMG_OPT], 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the prolongator on the device, smoothed if the device can smooth it */
static PetscErrorCode PCAmbAggDeviceProlongator(PC pc, PCAmbAgg *agg, PetscReal **coarse, Mat *P, PetscBool *done)
{
  PC_GAMG       *gamg       = PCAmbAggGAMG(pc);
  const PetscInt nvec       = gamg->data_cell_cols;
  PetscReal      alpha      = 0;
  SysCSR         entries[2] = {{0}};
  PetscBool      smooths;

  PetscFunctionBegin;
  PetscCall(AmbAggDeviceFactor(agg->level, nvec, gamg->data, coarse, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCAmbAggSmooths(pc, agg, &smooths));
  if (smooths) {
    PetscCall(PCAmbAggWeight(pc, agg, &alpha));
    PetscCall(AmbAggLogSmoothing(agg->level, PETSC_TRUE));
  }
  PetscCall(AmbAggDeviceProlongator(agg->level, nvec, alpha, entries, P, done));
  if (*done) PetscCall(AmbAggInherit(agg->level->A, agg->level->bs, nvec, P));
  if (*done) PetscCall(AmbAggDeviceSetEntries(agg->level, *P, entries));
  if (smooths) {
    PetscCall(AmbAggLogSmoothing(agg->level, PETSC_FALSE));
    if (*done) PetscCall(MatViewFromOptions(*P, NULL, "-pc_gamg_agg_view_prolongation"));
    agg->smoothed = *done;
  }
  if (!*done) PetscCall(PetscFree(*coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The host wants the data after all */
static PetscErrorCode PCAmbAggMakeOnes(PC_GAMG *gamg, PetscInt n)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &gamg->data));
  for (PetscInt k = 0; k < n; k++) gamg->data[k] = 1;
  gamg->data_sz = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same on the host, where PETSc smooths the prolongators of several processes */
static PetscErrorCode PCAmbAggHostProlongator(PC pc, PCAmbAgg *agg, PetscReal **coarse, Mat *P)
{
  PC_GAMG  *gamg    = PCAmbAggGAMG(pc);
  PetscReal alpha   = 0;
  PetscBool smooths = PETSC_FALSE, seq, on = PETSC_FALSE;

  PetscFunctionBegin;
  if (!gamg->data) PetscCall(PCAmbAggMakeOnes(gamg, agg->level->n));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)agg->level->A, MATSEQAIJ, &seq));
  PetscCall(AmbAggOnDevice(agg->level->A, &on));
  if (seq && !on && !MatAIJIsCUSPARSE(agg->level->A) && agg->level->all) PetscCall(PCAmbAggSmooths(pc, agg, &smooths));
  if (smooths) PetscCall(PCAmbAggWeight(pc, agg, &alpha));
  PetscCall(AmbAggLevelProlongator(agg->level, gamg->data_cell_cols, gamg->data, alpha, coarse, P));
  if (smooths && *P) PetscCall(MatViewFromOptions(*P, NULL, "-pc_gamg_agg_view_prolongation"));
  agg->smoothed = smooths;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets *ones if the near-null space of PCGAMG would be the vector of ones. PETSc also finds one that belongs to the first field of a DM. */
static PetscErrorCode PCAmbAggOnes(PC pc, Mat A, PetscBool *ones)
{
  PC_GAMG     *gamg = PCAmbAggGAMG(pc);
  MatNullSpace near;
  PetscInt     bs, fields = 0;
  PetscObject  field = NULL, space = NULL;
  DM           dm;

  PetscFunctionBegin;
  PetscCall(MatGetBlockSize(A, &bs));
  PetscCall(MatGetNearNullSpace(A, &near));
  PetscCall(PCGetDM(pc, &dm));
  if (!dm) PetscCall(MatGetDM(A, &dm));
  if (dm) PetscCall(DMGetNumFields(dm, &fields));
  if (fields) PetscCall(DMGetField(dm, 0, NULL, &field));
  if (field) PetscCall(PetscObjectQuery(field, "nearnullspace", &space));
  if (field && !space) PetscCall(PetscObjectQuery(field, "nullspace", &space));
  *ones = (PetscBool)(bs == 1 && !near && !space && gamg->reuse_prol); /* PETSc copies it unless it reuses the prolongators */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The vector of ones of a matrix on the device is not made on the host: no data stand for it */
static PetscErrorCode PCGAMGCreateDefaultData_AmbAgg(PC pc, Mat A)
{
  PC_GAMG  *gamg = PCAmbAggGAMG(pc);
  PCAmbAgg *agg;
  PetscBool ones = PETSC_FALSE, on = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PCAmbAggGet(pc, &agg));
  PetscCall(AmbAggOnDevice(A, &on));
  if (on) PetscCall(PCAmbAggOnes(pc, A, &ones));
  if (!ones) PetscCall((*agg->base.createdefaultdata)(pc, A));
  else {
    gamg->data_cell_rows = gamg->data_cell_cols = 1;
    gamg->data_sz                               = 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCGAMGProlongator_AmbAgg(PC pc, Mat A, PetscCoarsenData *lists, Mat *P)
{
  PC_GAMG   *gamg = PCAmbAggGAMG(pc);
  PCAmbAgg  *agg;
  PetscReal *coarse = NULL;
  PetscBool  done   = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PCAmbAggGet(pc, &agg));
  agg->smoothed = PETSC_FALSE;
  PetscCall(PetscLogEventBegin(petsc_gamg_setup_events[GAMG_PROL], 0, 0, 0, 0));
  if (agg->level->device && agg->level->all) PetscCall(PCAmbAggDeviceProlongator(pc, agg, &coarse, P, &done));
  if (!done) PetscCall(PCAmbAggHostProlongator(pc, agg, &coarse, P));
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

static PetscErrorCode PCGAMGOptProlongator_AmbAgg(PC pc, Mat A, Mat *P)
{
  PCAmbAgg *agg;

  PetscFunctionBegin;
  PetscCall(PCAmbAggGet(pc, &agg));
  if (!agg->smoothed) PetscCall((*agg->base.optprolongator)(pc, A, P));
  agg->smoothed = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PETSC_UNUSED PetscErrorCode PCGAMGProlongatorGraph_AmbAgg(PC pc, Mat A, Mat G, PetscCoarsenData *lists, Mat *P)
{
  return PCGAMGProlongator_AmbAgg(pc, A, lists, P);
}

/* The smoother of the finest level if it is Jacobi's method on the device, or NULL */
static PetscErrorCode PCAmbAggGetJacobi(PC pc, PC *jacobi)
{
  PetscInt  levels;
  PetscBool same = PETSC_FALSE, on = PETSC_FALSE;
  KSP       smoother;

  PetscFunctionBegin;
  *jacobi = NULL;
  PetscCall(PCMGGetLevels(pc, &levels));
  PetscCall(AmbAggOnDevice(pc->pmat, &on));
  if (levels < 2 || !on) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCMGGetSmoother(pc, levels - 1, &smoother));
  PetscCall(KSPGetPC(smoother, jacobi));
  PetscCall(PetscObjectTypeCompare((PetscObject)*jacobi, PCJACOBI, &same));
  if (!same) *jacobi = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define PCAMBAGG_FORGET(T, name, Set, start) PetscCall(PetscObjectComposeFunction((PetscObject)pc, #Set "_C", NULL));

static PetscErrorCode PCDestroy_AmbAgg(PC pc)
{
  PCAmbAgg *agg;

  PetscFunctionBegin;
  PetscCall(PCAmbAggGet(pc, &agg));
  if (agg->base.destroy) PetscCall((*agg->base.destroy)(pc));
  pc->ops->setup = agg->setup;
  PCAMBAGG_SETTINGS(PCAMBAGG_FORGET)
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCGAMGAmbAggSetStrongest_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCGAMGAmbAggSetMinAggregateSize_C", NULL));
  PetscCall(PetscObjectCompose((PetscObject)pc, "PCAmbAgg", NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- overlay ------------------------------------------------- */

/* Sets the hooks of ambagg, or of agg; the settings stay in both cases */
static PetscErrorCode PCAmbAggSetHooks(PC pc, const PCAmbAgg *agg, PetscBool on)
{
  PC_GAMG *gamg = PCAmbAggGAMG(pc);

  PetscFunctionBegin;
  *gamg->ops                = agg->base;
  gamg->ops->setfromoptions = PCSetFromOptions_AmbAgg;
  gamg->ops->destroy        = PCDestroy_AmbAgg;
  gamg->type                = on ? PCGAMGAMBAGG : PCGAMGAGG;
  PetscCall(PetscFree(gamg->gamg_type_name));
  PetscCall(PetscStrallocpy(gamg->type, &gamg->gamg_type_name));
  if (!on) PetscFunctionReturn(PETSC_SUCCESS);
  gamg->ops->creategraph       = PCGAMGCreateGraph_AmbAgg;
  gamg->ops->coarsen           = PCGAMGCoarsen_AmbAgg;
  gamg->ops->prolongator       = PCAMBAGG_PROLONGATOR(gamg->ops, PCGAMGProlongator_AmbAgg, PCGAMGProlongatorGraph_AmbAgg);
  gamg->ops->createdefaultdata = PCGAMGCreateDefaultData_AmbAgg;
  gamg->ops->optprolongator    = PCGAMGOptProlongator_AmbAgg;
  gamg->ops->view              = PCView_AmbAgg;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char *const AmbAggFors[] = {"gpu", "all", "none", "PCAmbAggFor", "PCAMBAGG_FOR_", NULL};
static PCAmbAggFor       AmbAggFor    = PCAMBAGG_FOR_GPU; /* -petscamb_for_gamg */

/* Sets whether ambagg sets up a PCGAMG without a chosen type. It does not if the user chose a coarsener, which belongs to agg. */
static PetscErrorCode PCAmbAggQualifies(PC pc, PetscBool *qualifies)
{
  const MatShadowFormat *format;
  MatShadow             *shadow;
  const char            *prefix;
  PetscBool              other, aij;

  PetscFunctionBegin;
  *qualifies = PETSC_FALSE;
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(PetscOptionsHasName(((PetscObject)pc)->options, prefix, "-" PCAMBAGG_COARSEN_PREFIX "type", &other));
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)pc->pmat, &aij, MATSEQAIJ, MATMPIAIJ, ""));
  if (!aij || other) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowGetFormat(pc->pmat, &format));
  if (format) PetscCall(MatShadowGet(pc->pmat, &shadow));
  *qualifies = (PetscBool)(AmbAggFor == PCAMBAGG_FOR_ALL || (format && MatShadowOnDevice(shadow)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc would factor the coarsest level in the first solve. Of an MPI matrix it factors the diagonal block, and the side of these solves, host or GPU, is not chosen yet. */
static PetscErrorCode PCAmbAggSetUpCoarsest(PC pc)
{
  PetscInt  levels;
  PetscBool bjacobi, mpi, on = PETSC_FALSE;
  KSP       coarsest;
  PC        solver;
  Mat       A, d;

  PetscFunctionBegin;
  PetscCall(PCMGGetLevels(pc, &levels));
  if (levels < 2) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCMGGetCoarseSolve(pc, &coarsest));
  PetscCall(KSPGetPC(coarsest, &solver));
  PetscCall(PetscObjectTypeCompare((PetscObject)solver, PCBJACOBI, &bjacobi));
  if (!bjacobi) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetOperators(coarsest, NULL, &A));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  if (mpi) {
    PetscCall(AmbAggOnDevice(A, &on));
    PetscCall(MatMPIAIJGetSeqAIJ(A, &d, NULL, NULL));
    if (on) PetscCall(MatAIJCUSPARSESetCPUSolve(d));
  }
  PetscCall(KSPSetUpOnBlocks(coarsest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Jacobi's method takes the diagonal of new values in the set-up, but for the first time when it is applied */
static PetscErrorCode PCSetUp_AmbAgg(PC pc)
{
  PCAmbAgg      *agg;
  PetscBool      qualifies;
  PC             jacobi;
  PetscErrorCode raised;

  PetscFunctionBegin;
  PetscCall(PCAmbAggGet(pc, &agg));
  if (!agg->chosen) {
    PetscCall(PCAmbAggQualifies(pc, &qualifies));
    PetscCall(PCAmbAggSetHooks(pc, agg, qualifies));
    if (!qualifies) {
      PetscCall((*agg->setup)(pc));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  PetscCall(PCAmbAggGetJacobi(pc, &jacobi));
  if (jacobi) PetscCall(AmbAggSetJacobi(jacobi, pc->pmat));
  MatAIJPagesBegin();
  raised = (*agg->setup)(pc);
  MatAIJPagesEnd();
  PetscCall(raised);
  if (!jacobi) {
    PetscCall(PCAmbAggGetJacobi(pc, &jacobi));
    if (jacobi) PetscCall(AmbAggSetJacobi(jacobi, pc->pmat));
  }
  PetscCall(PCAmbAggSetUpCoarsest(pc));
  PetscCall(AmbAggDeviceTrim(pc->pmat));
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

#define PCAMBAGG_START(T, name, Set, start) \
  agg->name = start; \
  PetscCall(PetscObjectQueryFunction((PetscObject)pc, #Set "_C", &agg->set_##name)); \
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, #Set "_C", Set##_AmbAgg));

/* Lays ambagg over the type agg, which the preconditioner has */
static PetscErrorCode PCAmbAggInstall(PC pc, PetscBool chosen)
{
  PC_GAMG  *gamg = PCAmbAggGAMG(pc);
  PCAmbAgg *agg;
  PetscFunctionBegin;
  PetscCall(PetscNew(&agg));
  PetscCall(PetscAMBObjectContainerCompose((PetscObject)pc, "PCAmbAgg", agg, PCAmbAggDestroyContext));
  agg->base      = *gamg->ops;
  agg->chosen    = chosen;
  agg->setup     = pc->ops->setup;
  pc->ops->setup = PCSetUp_AmbAgg;
  agg->least     = 1;
  PCAMBAGG_SETTINGS(PCAMBAGG_START)
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCGAMGAmbAggSetStrongest_C", PCGAMGAmbAggSetStrongest_AmbAgg));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCGAMGAmbAggSetMinAggregateSize_C", PCGAMGAmbAggSetMinAggregateSize_AmbAgg));
  PetscCall(PCAmbAggSetHooks(pc, agg, chosen));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   PCGAMGAMBAGG - `PCGAMGAMBAGG` = "ambagg" - smoothed aggregation whose set-up is parallel: the threads of each process compute the graph, the aggregates and
   the tentative prolongator.

   A type of `PCGAMG` for matrices of type `MATAIJ` and its subtypes. All options of `PCGAMGAGG` keep their meaning. The aggregates come from a maximal
   independent set as in `PCGAMGAGG`, in another order of its vertices: iterations and complexity are as good. They are the same for any number of threads
   and of processes. The squared graph is not formed for aggressive coarsening.

   Options Database Keys:
+  -pc_gamg_type ambagg                       - sets the type
.  -petscamb_for_gamg <gpu>                   - sets where this type takes the place of `PCGAMGAGG` if no type is set: gpu (matrices of petsc-amb on a GPU), all, or none
.  -pc_gamg_ambagg_strongest <bool>           - see `PCGAMGAmbAggSetStrongest()`
-  -pc_gamg_ambagg_min_aggregate_size <least> - see `PCGAMGAmbAggSetMinAggregateSize()`

   Level: intermediate

   Notes:
   With a matrix on a GPU the device makes all of these, and the smoothed prolongator. Each process has a part of the matrix on its device.

   Products with a type of petsc-amb, such as `MATAMB`, make the largest part of the set-up faster.

   `-pc_gamg_mat_coarsen_type` (`-mat_coarsen_type` before PETSc 3.20) may not name another coarsener: `PCGAMGAGG` takes all coarseners, `MATCOARSENAMBMIS`
   among them.

   Errors:
+  `PETSC_ERR_SUP`     - the matrix is not of `MATAIJ` or a type that extends it, or the options ask for another coarsener
.  `PETSC_ERR_ARG_SIZ` - the block size of the matrix does not divide the rows of a process
-  `PETSC_ERR_MEM`     - there is too little memory for a level

   Example:
.vb
   bin/solve -f matrix.mtx -mat_type amb -ksp_type cg -pc_type gamg -pc_gamg_type ambagg -ksp_view
.ve

.seealso: `PCGAMG`, `PCGAMGSetType()`, `PCGAMGAGG`, `MATCOARSENAMBMIS`, `PCGAMGAmbAggSetStrongest()`, `PCGAMGAmbAggSetMinAggregateSize()`, `MATAMB`
M*/
static PetscErrorCode PCCreateGAMG_AmbAgg(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCGAMGSetType(pc, PCGAMGAGG));
  PetscCall(PCAmbAggInstall(pc, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode (*PCCreate_GAMG)(PC); /* PETSc's */

static PetscErrorCode PCCreate_GAMG_AMB(PC pc)
{
  PetscBool agg;

  PetscFunctionBegin;
  PetscCall((*PCCreate_GAMG)(pc));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-petscamb_for_gamg", AmbAggFors, (PetscEnum *)&AmbAggFor, NULL));
  PetscCall(MatShadowOptionSought("-petscamb_for_gamg"));
  PetscCall(MatAIJPagesSetFromOptions());
  PetscCall(MatShadowOptionSought("-petscamb_gamg_huge_pages"));
  if (AmbAggFor == PCAMBAGG_FOR_NONE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrcmp(PCAmbAggGAMG(pc)->gamg_type_name, PCGAMGAGG, &agg));
  if (agg) PetscCall(PCAmbAggInstall(pc, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- registration ------------------------------------------------- */

PetscErrorCode AmbAggRegister(void)
{
  PetscBool pages = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(PCInitializePackage());
  AmbAggFor = PCAMBAGG_FOR_GPU;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "petsc-amb, GAMG", "PC");
  PetscCall(PetscOptionsEnum("-petscamb_for_gamg", "PCGAMG is of type ambagg by default: for matrices of petsc-amb on a GPU, for all, for none", "PCGAMGAMBAGG", AmbAggFors, (PetscEnum)AmbAggFor, (PetscEnum *)&AmbAggFor, NULL));
  PetscCall(PetscOptionsBool("-petscamb_gamg_huge_pages", "What PETSc allocates for a set-up, and for matrices that go to a GPU, lies on huge pages", "PCGAMGAMBAGG", pages, &pages, NULL));
  PetscOptionsEnd();
  MatAIJPagesSetUse(pages);
  PetscCall(PetscLogEventRegister("AMBAGG graph", PC_CLASSID, &AMBAGG_Graph));
  PetscCall(PetscLogEventRegister("AMBAGG coarsen", PC_CLASSID, &AMBAGG_Coarsen));
  PetscCall(PetscLogEventRegister("AMBAGG prolong", PC_CLASSID, &AMBAGG_Prolongator));
  PetscCall(PCGAMGRegister(PCGAMGAMBAGG, PCCreateGAMG_AmbAgg));
  PetscCall(PetscFunctionListFind(PCList, PCGAMG, &PCCreate_GAMG));
  PetscCall(PCRegister(PCGAMG, PCCreate_GAMG_AMB));
  KSPAMBEstimateSteps = AmbAggEstimateSteps;
  PetscFunctionReturn(PETSC_SUCCESS);
}
