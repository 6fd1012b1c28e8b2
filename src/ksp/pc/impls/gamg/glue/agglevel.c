/* SPDX-License-Identifier: BSD-2-Clause */
/*
   A level that is being coarsened: the graph of its matrix, the exchange between processes, and the numbers of aggregates
*/
#include "sys/systhreads.h"
#include "ksp/pc/impls/gamg/glue/agg.h"

PetscErrorCode AmbAggCheck(MPI_Comm comm, SysStatus status, const char what[])
{
  PetscMPIInt worst = (PetscMPIInt)status, size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (size > 1) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, comm));
  PetscCheck(worst != SYS_OUT_OF_MEMORY, comm, PETSC_ERR_MEM, "Not enough memory for the %s of a level of multigrid; use more processes, or -pc_gamg_type agg", what);
  PetscCheck(worst == SYS_SUCCESS, comm, PETSC_ERR_LIB, "The %s of a level of multigrid was not made, see the error above", what);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AmbAggLevelDestroy(AmbAggLevel **level)
{
  PetscFunctionBegin;
  if (!*level) PetscFunctionReturn(PETSC_SUCCESS);
  AggGraphDestroy(&(*level)->graph);
  PetscCall(AmbAggDeviceDestroy(*level));
  PetscCall(PetscSFDestroy(&(*level)->sf));
  PetscCall(MatDestroy(&(*level)->A));
  PetscCall(PetscFree((*level)->index));
  PetscCall(PetscFree((*level)->ghosts));
  PetscCall(PetscFree((*level)->ghost));
  PetscCall(PetscFree2((*level)->join, (*level)->aggregate));
  PetscCall(PetscFree(*level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- exchanges ------------------------------------------------- */

static int AmbAggFetch(void *ctx, size_t size, void *array)
{
  const AmbAggLevel *level = ctx;
  const MPI_Datatype type  = size == 1 ? MPI_UNSIGNED_CHAR : size == 4 ? MPI_INT : MPI_INT64_T;
  char              *leaf  = (char *)array + (size_t)level->n * size;

  PetscFunctionBegin;
  PetscCall(PetscSFBcastBegin(level->sf, type, array, leaf, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(level->sf, type, array, leaf, MPI_REPLACE));
  PetscFunctionReturn((int)PETSC_SUCCESS);
}

static int AmbAggAddUp(void *ctx, SysInt array[])
{
  const AmbAggLevel *level = ctx;

  PetscFunctionBegin;
  PetscCall(PetscSFReduceBegin(level->sf, MPIU_INT, array + level->n, array, MPI_SUM));
  PetscCall(PetscSFReduceEnd(level->sf, MPIU_INT, array + level->n, array, MPI_SUM));
  PetscCall(AmbAggFetch(ctx, sizeof(*array), array));
  PetscFunctionReturn((int)PETSC_SUCCESS);
}

static int AmbAggTotal(void *ctx, int64_t *sum)
{
  const AmbAggLevel *level = ctx;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_INT64_T, MPI_SUM, level->comm));
  PetscFunctionReturn((int)PETSC_SUCCESS);
}

static int AmbAggBefore(void *ctx, int64_t *sum)
{
  const AmbAggLevel *level = ctx;
  const int64_t      mine  = *sum;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Scan(MPI_IN_PLACE, sum, 1, MPI_INT64_T, MPI_SUM, level->comm));
  *sum -= mine;
  PetscFunctionReturn((int)PETSC_SUCCESS);
}

/* The exchange between vertices and ghosts[] */
static PetscErrorCode AmbAggConnect(AmbAggLevel *level)
{
  PetscLayout layout;

  PetscFunctionBegin;
  PetscCall(PetscSFDestroy(&level->sf));
  PetscCall(PetscLayoutCreateFromSizes(level->comm, level->n, PETSC_DECIDE, 1, &layout));
  PetscCall(PetscSFCreate(level->comm, &level->sf));
  PetscCall(PetscSFSetGraphLayout(level->sf, layout, level->nghost, NULL, PETSC_OWN_POINTER, level->ghosts));
  PetscCall(PetscLayoutDestroy(&layout));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- matrices ------------------------------------------------- */

/* The vertices that n ascending columns belong to become ghosts, each once */
static PetscErrorCode AmbAggMakeGhosts(AmbAggLevel *level, PetscInt n, const PetscInt columns[])
{
  const PetscInt bs = level->bs;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &level->ghosts));
  PetscCall(PetscMalloc1(n, &level->ghost));
  for (PetscInt c = 0; c < n; c++) {
    if (!level->nghost || level->ghosts[level->nghost - 1] != columns[c] / bs) level->ghosts[level->nghost++] = columns[c] / bs;
    level->ghost[c] = (level->nghost - 1) * bs + columns[c] % bs;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- symmetrization between processes ------------------------------------------------- */

/* The edges of the host's graph to ghosts */
static PetscErrorCode AmbAggCutEdges(const AmbAggLevel *level, PetscInt *n, AggEdge **cut)
{
  const AggGraph *g = &level->graph;

  PetscFunctionBegin;
  *n = 0;
  for (int64_t k = 0; k < g->i[g->n]; k++) *n += g->j[k] >= g->n;
  PetscCall(PetscMalloc1(*n, cut));
  *n = 0;
  for (PetscInt v = 0; v < level->n; v++) {
    for (int64_t k = g->i[v]; k < g->i[v + 1]; k++) {
      if (g->j[k] < g->n) continue;
      (*cut)[*n].row    = v;
      (*cut)[*n].column = (SysInt)(g->j[k] - g->n);
      (*cut)[(*n)++].s  = g->s[k];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Columns of edges that came become ghosts too */
static PetscErrorCode AmbAggAddGhosts(AmbAggLevel *level, PetscInt n, const AggEdge come[])
{
  AggGraph *g = &level->graph;
  PetscInt *all, *later, nall = level->nghost + n;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(nall, &all));
  PetscCall(PetscArraycpy(all, level->ghosts, level->nghost));
  for (PetscInt k = 0; k < n; k++) all[level->nghost + k] = come[k].column;
  PetscCall(PetscSortRemoveDupsInt(&nall, all));
  PetscCall(PetscMalloc1(level->nghost, &later));
  for (PetscInt c = 0, l = 0; c < level->nghost; c++) {
    while (all[l] != level->ghosts[c]) l++;
    later[c] = l;
  }
  for (int64_t k = 0; k < g->i[g->n]; k++) {
    if (g->j[k] >= g->n) g->j[k] = (SysInt)(g->n + later[g->j[k] - g->n]);
  }
  PetscCall(AmbAggCheck(level->comm, AggGraphAddGhosts(g, nall), "graph"));
  PetscCall(PetscFree(later));
  PetscCall(PetscFree(level->ghosts));
  level->ghosts = all;
  level->nghost = nall;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AmbAggSymmetrize(AmbAggLevel *level)
{
  AggEdges other = {NULL, NULL, NULL};
  AggEdge *come  = NULL, *cut;
  PetscInt ncome = 0, ncut;

  PetscFunctionBegin;
  if (level->sf) {
    PetscCall(AmbAggCutEdges(level, &ncut, &cut));
    PetscCall(AmbAggSwapEdges(level, ncut, cut, &ncome, &come));
    PetscCall(PetscFree(cut));
    PetscCall(AmbAggAddGhosts(level, ncome, come));
    PetscCall(AmbAggConnect(level));
    PetscCall(PetscCalloc1(level->n + 2, &other.i));
    PetscCall(PetscMalloc2(ncome, &other.j, ncome, &other.s));
    for (PetscInt k = 0; k < ncome; k++) other.i[come[k].row - level->first + 2]++;
    for (PetscInt v = 0; v < level->n; v++) other.i[v + 2] += other.i[v + 1];
    for (PetscInt k = 0; k < ncome; k++) {
      const int64_t place = other.i[come[k].row - level->first + 1]++;
      PetscInt      c;

      PetscCall(PetscFindInt(come[k].column, level->nghost, level->ghosts, &c));
      other.j[place] = level->n + c;
      other.s[place] = come[k].s;
    }
    PetscCall(PetscFree(come));
  }
  PetscCall(AmbAggCheck(level->comm, AggGraphSymmetrize(&level->graph, level->sf ? &other : NULL, SysThreads()), "graph"));
  PetscCall(PetscFree(other.i));
  PetscCall(PetscFree2(other.j, other.s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- levels ------------------------------------------------- */

PetscErrorCode AmbAggLogSmoothing(const AmbAggLevel *level, PetscBool begin)
{
  const PetscLogEvent events[] = {petsc_gamg_setup_events[GAMG_OPT], petsc_gamg_setup_events[GAMG_OPTSM], petsc_gamg_setup_matmat_events[level->depth][2]};
  const int           n        = PETSC_STATIC_ARRAY_LENGTH(events);

  PetscFunctionBegin;
  for (int k = 0; k < n; k++) {
    if (begin) PetscCall(PetscLogEventBegin(events[k], 0, 0, 0, 0));
    else PetscCall(PetscLogEventEnd(events[n - 1 - k], 0, 0, 0, 0));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The ghosts of a matrix on several processes, and the exchange of their entries */
static PetscErrorCode AmbAggGhosts(AmbAggLevel *level)
{
  const PetscInt *columns;
  Mat             d, o;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(level->A, &d, &o, &columns));
  PetscCall(AmbAggMakeGhosts(level, o->cmap->n, columns));
  if (level->bs == 1) PetscCall(MatAIJGetScatter(level->A, &level->sf));
  else PetscCall(AmbAggConnect(level));
  level->exchange.ctx    = level;
  level->exchange.fetch  = AmbAggFetch;
  level->exchange.addup  = AmbAggAddUp;
  level->exchange.total  = AmbAggTotal;
  level->exchange.before = AmbAggBefore;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AmbAggHostGraph(AmbAggLevel *level)
{
  AggMatrix M = {.bs = (int)level->bs, .nindex = (int)level->nindex, .index = level->index, .nghost = level->nghost, .ghost = level->ghost};
  PetscBool mpi;
  Mat       d = level->A, o;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)level->A, MATMPIAIJ, &mpi));
  if (mpi) PetscCall(MatMPIAIJGetSeqAIJ(level->A, &d, &o, NULL));
  PetscCall(MatAIJGetArrays(d, &M.d));
  if (level->sf) PetscCall(MatAIJGetArrays(o, &M.o));
  PetscCall(AmbAggCheck(level->comm, AggGraphCreate(&M, SysThreads(), &level->graph), "graph"));
  if (level->symmetrize) PetscCall(AmbAggSymmetrize(level));
  if (level->sf) PetscCall((PetscErrorCode)AmbAggFetch(level, sizeof(*level->graph.diag), level->graph.diag));
  PetscCall(AmbAggCheck(level->comm, AggGraphFinish(&level->graph, level->threshold, SysThreads()), "graph"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AmbAggLevelCreate(Mat A, PetscBool symmetrize, PetscReal threshold, PetscInt nindex, const PetscInt index[], AmbAggLevel **created)
{
  AmbAggLevel *level;
  PetscInt     bs;
  PetscBool    seq, mpi, set, symmetric, done = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(AMBAGG_Graph, A, 0, 0, 0));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQAIJ, &seq));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  PetscCheck(seq || mpi, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "-pc_gamg_type ambagg needs a matrix of type aij, or a subtype of it, but this one is a %s; use MatConvert() to aij or amb", ((PetscObject)A)->type_name);
  PetscCall(MatGetBlockSize(A, &bs));
  PetscCheck(A->rmap->n % bs == 0, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "The process has %" PetscInt_FMT " rows, which its block size %" PetscInt_FMT " does not divide; set local sizes that hold whole blocks", A->rmap->n, bs);
  PetscCall(PetscNew(&level));
  *created = level;
  PetscCall(PetscObjectReference((PetscObject)A));
  level->A         = A;
  level->comm      = PetscObjectComm((PetscObject)A);
  level->bs        = bs;
  level->n         = A->rmap->n / bs;
  level->first     = A->rmap->rstart / bs;
  level->threshold = threshold;
  level->nindex    = nindex;
  PetscCall(PetscMalloc1(nindex, &level->index));
  PetscCall(PetscArraycpy(level->index, index, nindex));
  PetscCallMPI(MPI_Comm_size(level->comm, &level->size));
  PetscCall(MatIsSymmetricKnown(A, &set, &symmetric));
  level->symmetrize = (PetscBool)(symmetrize && !(set && symmetric));
  if (mpi && level->size > 1) PetscCall(AmbAggGhosts(level));
  PetscCall(AmbAggDeviceGraph(level, &done));
  if (!done) PetscCall(AmbAggHostGraph(level));
  PetscCall(PetscLogEventEnd(AMBAGG_Graph, A, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool  AmbAggCited      = PETSC_FALSE;
static const char AmbAggCitation[] = "@article{bell2012exposing,\n"
                                     "  title   = {Exposing fine-grained parallelism in algebraic multigrid methods},\n"
                                     "  author  = {Nathan Bell and Steven Dalton and Luke N. Olson},\n"
                                     "  journal = {SIAM Journal on Scientific Computing},\n"
                                     "  volume  = {34},\n"
                                     "  number  = {4},\n"
                                     "  year    = {2012}\n}\n";

/* The aggregates of this process among all */
static PetscErrorCode AmbAggCountAll(AmbAggLevel *level)
{
  PetscFunctionBegin;
  PetscCallMPI(MPI_Scan(&level->nagg, &level->firstagg, 1, MPIU_INT, MPI_SUM, level->comm));
  level->firstagg -= level->nagg;
  PetscCallMPI(MPI_Allreduce(&level->nagg, &level->all, 1, MPIU_INT, MPI_SUM, level->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Roots get their numbers in order. A vertex has the number of the vertex that it joins, which may itself have joined another. */
static PetscErrorCode AmbAggNumber(AmbAggLevel *level, int hops)
{
  PetscInt *number = level->aggregate, next;

  PetscFunctionBegin;
  level->nagg = 0;
  for (PetscInt v = 0; v < level->n; v++) level->nagg += level->join[v] == v;
  PetscCall(AmbAggCountAll(level));
  next = level->firstagg;
  for (PetscInt v = 0; v < level->n; v++) number[v] = level->join[v] == v ? next++ : -1;
  for (int h = 0; h <= hops; h++) {
    if (level->sf) PetscCall((PetscErrorCode)AmbAggFetch(level, sizeof(*number), number));
    if (h == hops) break;
    for (PetscInt v = 0; v < level->n; v++) {
      if (number[v] < 0 && level->join[v] >= 0) number[v] = number[level->join[v]];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AmbAggLevelCoarsen(AmbAggLevel *level, const AggOptions *options)
{
  int       rounds = 0;
  PetscBool done   = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(AMBAGG_Coarsen, 0, 0, 0, 0));
  PetscCall(PetscCitationsRegister(AmbAggCitation, &AmbAggCited));
  if (level->device) {
    PetscCall(AmbAggDeviceCoarsen(level, options, &rounds, &done));
    if (done) PetscCall(AmbAggCountAll(level));
    else PetscCall(AmbAggHostGraph(level));
  }
  if (!done) {
    PetscCall(PetscMalloc2(level->n, &level->join, level->n + level->nghost, &level->aggregate));
    PetscCall(AmbAggCheck(level->comm, AggAggregate(&level->graph, level->first, level->ghosts, options, level->sf ? &level->exchange : NULL, SysThreads(), level->join, &rounds), "aggregates"));
    PetscCall(AmbAggNumber(level, AGG_REACH(options)));
  }
  PetscCall(PetscInfo(NULL, "%" PetscInt_FMT " aggregates, made in %d rounds with %d hops\n", level->all, rounds, options->hops));
  PetscCall(PetscLogEventEnd(AMBAGG_Coarsen, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AmbAggLevelFetch(AmbAggLevel *level)
{
  PetscFunctionBegin;
  if (level->join || !level->device) PetscFunctionReturn(PETSC_SUCCESS); /* a process without vertices has no array */
  PetscCall(PetscMalloc2(level->n, &level->join, level->n + level->nghost, &level->aggregate));
  PetscCall(AmbAggDeviceFetch(level));
  PetscFunctionReturn(PETSC_SUCCESS);
}
