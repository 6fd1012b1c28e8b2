/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "One solve on many GPUs, or many cores: time per iteration and per product, the halo, and how often the host waits.\n\
  -n N                    27-point problem on N^3 points, in slabs (default 40)\n\
  -per_process M          or with M unknowns for each process, in a cube of all of them\n\
  -random N -density P    or N rows of random columns, P percent of them (default 0.0002), unsymmetric: take -ksp_type bcgs\n\
  -f FILE                 or a matrix from a file, Matrix Market (.mtx, .mtx.gz) or PETSc binary\n\
  -mat_amb_partition none,nnz,bitonic,parmetis\n\
                          rows are dealt to the processes as they come (the default), in contiguous blocks of about as many rows and\n\
                          nonzeros, by length to and fro, or by ParMETIS or PTScotch\n\
  -types A,B              matrix types, one after the other (default aij,amb); those of PETSc first: once amb is on the GPU all aijcusparse are amb\n\
  -solvers A,B            KSP types, one after the other (default cg), with -pc_type jacobi unless another is given\n\
  -halos A,B              how matrices of petsc-amb exchange entries of x on GPUs, one way after the other (default: that of -mat_shadow_halo)\n\
  -its N                  iterations, whatever the residual; 0: products only (default: until it converges)\n\
  -rounds N               solves with each type, of which the fastest counts (default 3)\n\
  -times 0                correctness only, in a form that does not change from run to run\n\
  -csv [FILE], -json [FILE]  results for other programs; without FILE on standard output, in place of the text\n\n";

#include <petscksp.h>
#include <petsctime.h>
#include <petscamb.h>

#include "ksp/examples/commandline.h"

#define MAX_LIST 8  /* types, solvers or ways of exchange */
#define MAX_RUNS 64 /* combinations of these */
#define PRODUCTS 50 /* products between two readings of the clock */

typedef struct {
  char           type[32], solver[32];
  PetscInt       its;
  PetscLogDouble solve, mult;       /* seconds, of one solve and one product */
  PetscLogDouble reductions;        /* number in one iteration; each waits for the GPU and for all processes */
  PetscLogDouble halo_bytes, syncs; /* in one product: bytes that one process receives, and times that its host waits for the GPU */
  const char    *halo;
  PetscBool      enough; /* the true residual meets the tolerance */
} Outcome;

typedef struct {
  PetscInt ntypes, nsolvers, nhalos, its, rounds;
  char    *types[MAX_LIST], *solvers[MAX_LIST], *halos[MAX_LIST];
} Choice;

/* ------------------------------------------------- matrices ------------------------------------------------- */

/* The columns of other processes that are used, 64 to a word, and the number of these in the words before. PETSc would ask a hash table for each entry. */
typedef struct {
  unsigned long long used;
  PetscInt           before;
} Columns;

/* The rows of this process, the columns [first,last) and the others in a CSR each; if j is NULL entries are only counted, and columns noted */
typedef struct {
  PetscInt     first, last, n[2];
  PetscInt    *j[2];
  PetscScalar *a[2];
  Columns     *columns;
} Rows;

static void Add(Rows *rows, PetscInt column, PetscScalar value)
{
  const int                block = column < rows->first || column >= rows->last;
  Columns                 *word  = &rows->columns[column / 64];
  const unsigned long long bit   = 1ULL << column % 64;

  if (rows->j[block]) {
    rows->j[block][rows->n[block]] = block ? word->before + __builtin_popcountll(word->used & (bit - 1)) : column - rows->first;
    rows->a[block][rows->n[block]] = value;
  } else if (block) word->used |= bit;
  rows->n[block]++;
}

/* 26 on the diagonal and -1 for each neighbour: positive definite, because neighbours outside the grid are missing */
static void StencilRow(PetscInt n, PetscInt r, Rows *rows)
{
  const PetscInt x = r % n, y = r / n % n, z = r / n / n;

  for (PetscInt dz = -1; dz <= 1; dz++) {
    for (PetscInt dy = -1; dy <= 1; dy++) {
      for (PetscInt dx = -1; dx <= 1; dx++) {
        if (x + dx < 0 || x + dx >= n || y + dy < 0 || y + dy >= n || z + dz < 0 || z + dz >= n) continue;
        Add(rows, r + dx + n * (dy + n * dz), dx || dy || dz ? -1 : 26);
      }
    }
  }
}

/* Makes a row with ascending columns: the row is cut into equal stretches, with one entry in each. The diagonal outweighs the rest. */
static void RandomRow(PetscInt n, PetscInt r, PetscInt length, Rows *rows)
{
  unsigned long long seed     = (unsigned long long)r * 6364136223846793005ULL + 1442695040888963407ULL;
  PetscBool          diagonal = PETSC_FALSE;
  PetscInt           last     = 0;

  for (PetscInt k = 0; k < length; k++) {
    const PetscInt first = last;
    PetscInt       c;

    last = (PetscInt)((PetscInt64)n * (k + 1) / length);
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    c    = first + (PetscInt)((seed >> 32) * (unsigned long long)(last - first) >> 32);
    if (!diagonal && c >= r) {
      Add(rows, r, 2 * length);
      diagonal = PETSC_TRUE;
    }
    if (c != r) Add(rows, c, (PetscReal)(seed >> 40) / (PetscReal)(1 << 24) - 0.5);
  }
  if (!diagonal) Add(rows, r, 2 * length);
}

/* Counts the entries of m rows in the two blocks, or stores them */
static void MakeRows(PetscInt m, PetscInt n, PetscInt random, PetscInt length, PetscInt *lengths[2], Rows *rows)
{
  rows->n[0] = rows->n[1] = 0;
  for (PetscInt r = 0; r < m; r++) {
    const PetscInt before[2] = {rows->n[0], rows->n[1]};

    if (random) RandomRow(random, rows->first + r, length, rows);
    else StencilRow(n, rows->first + r, rows);
    for (int k = 0; k < 2; k++) lengths[k][r] = rows->n[k] - before[k];
  }
}

static PetscErrorCode CreateMatrix(PetscInt n, PetscInt random, PetscReal density, Mat *A)
{
  const PetscInt N = random ? random : n * n * n, length = PetscMax(1, (PetscInt)(density / 100 * random));
  PetscInt       m = PETSC_DECIDE, M = N, nglobal = 0, *lengths[2], *global;
  Rows           rows = {0};
  Mat            block[2];
  PetscMPIInt    size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscSplitOwnership(PETSC_COMM_WORLD, &m, &M));
  PetscCallMPI(MPI_Scan(&m, &rows.last, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  rows.first = rows.last - m;
  PetscCall(PetscMalloc2(m, &lengths[0], m, &lengths[1]));
  PetscCall(PetscCalloc1(N / 64 + 1, &rows.columns));
  MakeRows(m, n, random, length, lengths, &rows);
  for (PetscInt w = 0; w < N / 64 + 1; w++) {
    rows.columns[w].before = nglobal;
    nglobal += __builtin_popcountll(rows.columns[w].used);
  }
  for (int k = 0; k < 2; k++) {
    const PetscInt *j;

    PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, m, k ? nglobal : m, 0, lengths[k], &block[k]));
    PetscCall(MatSeqAIJGetCSRAndMemType(block[k], NULL, &j, &rows.a[k], NULL));
    rows.j[k] = (PetscInt *)j;
  }
  MakeRows(m, n, random, length, lengths, &rows);
  PetscCall(PetscMalloc1(nglobal, &global));
  nglobal = 0;
  for (PetscInt c = 0; c < N; c++) {
    if (rows.columns[c / 64].used >> c % 64 & 1) global[nglobal++] = c;
  }
  PetscCall(PetscFree2(lengths[0], lengths[1]));
  PetscCall(PetscFree(rows.columns));
  for (int k = 0; k < 2; k++) {
    if (rows.n[k]) PetscCall(MatSeqAIJSetColumnIndices(block[k], rows.j[k])); /* the columns are stored already: this call sets the lengths of the rows */
    PetscCall(MatAssemblyBegin(block[k], MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(block[k], MAT_FINAL_ASSEMBLY));
  }
  if (size > 1) {
#if PETSC_VERSION_LT(3, 23, 0) /* from 3.23 on the new matrix owns the column numbers */
    PetscCall(MatCreateMPIAIJWithSeqAIJ(PETSC_COMM_WORLD, block[0], block[1], global, A));
    PetscCall(PetscFree(global));
#else
    PetscCall(MatCreateMPIAIJWithSeqAIJ(PETSC_COMM_WORLD, N, N, block[0], block[1], global, A));
#endif
  } else {
    *A = block[0];
    PetscCall(MatDestroy(&block[1]));
    PetscCall(PetscFree(global));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- distribution of rows ------------------------------------------------- */

/* Contiguous blocks of equal weight: half of the weight of a row is the same for all rows, the other half is for its nonzeros */
static PetscErrorCode DealByNonzeros(Mat A, PetscInt owner[])
{
  PetscInt    first, last, length;
  PetscMPIInt size;
  PetscReal   sum[2] = {0, 0}, before[2], total[2];

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt r = first; r < last; r++) {
    PetscCall(MatGetRow(A, r, &length, NULL, NULL));
    sum[0] += 1;
    sum[1] += length;
    PetscCall(MatRestoreRow(A, r, &length, NULL, NULL));
  }
  PetscCallMPI(MPI_Allreduce(sum, total, 2, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Scan(sum, before, 2, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  for (int k = 0; k < 2; k++) before[k] -= sum[k];
  for (PetscInt r = first; r < last; r++) {
    PetscCall(MatGetRow(A, r, &length, NULL, NULL));
    owner[r - first] = PetscMin((PetscInt)(size * ((before[0] + 0.5) / total[0] + (before[1] + 0.5 * length) / PetscMax(total[1], 1)) / 2), size - 1);
    before[0] += 1;
    before[1] += length;
    PetscCall(MatRestoreRow(A, r, &length, NULL, NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* By a partitioner of PETSc, or the bitonic deal of petsc-amb, which takes the matrix as it is */
static PetscErrorCode DealByGraph(Mat A, PetscBool bitonic, IS *owner)
{
  Mat             graph = A;
  MatPartitioning partitioning;

  PetscFunctionBeginUser;
  PetscCheck(bitonic || PetscDefined(HAVE_PARMETIS) || PetscDefined(HAVE_PTSCOTCH), PETSC_COMM_WORLD, PETSC_ERR_SUP, "-mat_amb_partition parmetis needs a PETSc with ParMETIS or PTScotch; take nnz or bitonic");
  if (!bitonic) PetscCall(MatConvert(A, MATMPIADJ, MAT_INITIAL_MATRIX, &graph));
  PetscCall(MatPartitioningCreate(PETSC_COMM_WORLD, &partitioning));
  PetscCall(MatPartitioningSetAdjacency(partitioning, graph));
  PetscCall(MatPartitioningSetType(partitioning, bitonic ? MATPARTITIONINGBITONIC : PetscDefined(HAVE_PARMETIS) ? MATPARTITIONINGPARMETIS : MATPARTITIONINGPTSCOTCH));
  PetscCall(MatPartitioningSetFromOptions(partitioning));
  PetscCall(MatPartitioningApply(partitioning, owner));
  PetscCall(MatPartitioningDestroy(&partitioning));
  if (!bitonic) PetscCall(MatDestroy(&graph));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest numbers of rows and of nonzeros of a process, relative to equal shares */
static PetscErrorCode Balance(Mat A, PetscReal balance[])
{
  MatInfo        info;
  PetscInt       m;
  PetscMPIInt    size;
  PetscLogDouble sum[2], most[2];

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(MatGetLocalSize(A, &m, NULL));
  PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
  sum[0] = most[0] = m;
  sum[1] = most[1] = info.nz_used;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  for (int k = 0; k < 2; k++) balance[k] = (PetscReal)(sum[k] > 0 ? most[k] * size / sum[k] : 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Moves rows, and columns alike, to the processes as the option says; in a process they keep their order */
static PetscErrorCode Partition(Mat *A)
{
  const char *const kinds[] = {"none", "nnz", "bitonic", "parmetis"};
  PetscInt          kind    = 0, m, *deal;
  IS                owner, rows;
  Mat               B;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-mat_amb_partition", kinds, 4, &kind, NULL));
  if (!kind) PetscFunctionReturn(PETSC_SUCCESS);
  if (kind >= 2) PetscCall(DealByGraph(*A, (PetscBool)(kind == 2), &owner));
  else {
    PetscCall(MatGetLocalSize(*A, &m, NULL));
    PetscCall(PetscMalloc1(m, &deal));
    PetscCall(DealByNonzeros(*A, deal));
    PetscCall(ISCreateGeneral(PETSC_COMM_WORLD, m, deal, PETSC_OWN_POINTER, &owner));
  }
  PetscCall(ISBuildTwoSided(owner, NULL, &rows));
  PetscCall(ISSort(rows));
  PetscCall(MatGraphPermute(*A, rows, rows, &B));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&owner));
  PetscCall(MatDestroy(A));
  *A = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- measurements ------------------------------------------------- */

/* Waits for the GPU, and for all processes. VecNorm() may not do that, because a norm may be known already. */
static PetscErrorCode Finish(Vec v)
{
  PetscScalar dot;

  PetscFunctionBeginUser;
  PetscCall(VecTDot(v, v, &dot));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The number of reductions so far: calls whose result is a number known to all processes */
static PetscErrorCode Reductions(PetscLogDouble *count)
{
  static const char *const names[] = {"VecTDot", "VecDot", "VecMDot", "VecNorm", "VecReduceEnd"};

  PetscFunctionBeginUser;
  *count = 0;
  for (int k = 0; k < (int)PETSC_STATIC_ARRAY_LENGTH(names); k++) {
    PetscLogEvent      event;
    PetscEventPerfInfo info;

    PetscCall(PetscLogEventGetId(names[k], &event));
    if (event < 0) continue;
    PetscCall(PetscLogEventGetPerfInfo(PETSC_DEFAULT, event, &info));
    *count += info.count;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates a solver and sets it up: the solver has its memory, and Jacobi its diagonal, which PETSc checks on the host */
static PetscErrorCode CreateSolver(Mat A, const char type[], PetscInt its, Vec b, Vec x, KSP *solver)
{
  KSP      ksp;
  PC       pc;
  PetscInt most;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, type));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, its > 0 ? its : PETSC_DEFAULT));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPGetTolerances(ksp, NULL, NULL, NULL, &most));
  PetscCall(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 2));
  PetscCall(VecSet(x, 0));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, most));
  if (its > 0) PetscCall(KSPSetConvergenceTest(ksp, KSPConvergedSkip, NULL, NULL));
  *solver = ksp;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TimeSolve(KSP ksp, PetscInt its, Vec b, Vec x, Outcome *out)
{
  KSPConvergedReason reason;
  PetscLogDouble     t0, t1, before, after;
  Mat                A;
  Vec                r;

  PetscFunctionBeginUser;
  PetscCall(VecSet(x, 0));
  PetscCall(Finish(x));
  PetscCall(Reductions(&before));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(PetscTime(&t0));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(Reductions(&after));
  PetscCall(Finish(x));
  PetscCall(PetscTime(&t1));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCheck(reason > 0 || its > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "%s: %s", out->type, KSPConvergedReasons[reason]);
  PetscCall(KSPGetIterationNumber(ksp, &out->its));
  t1 -= t0;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &t1, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  if (out->solve == 0 || t1 < out->solve) out->solve = t1;
  out->reductions = (after - before) / PetscMax(out->its, 1);
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1.0, b));
  PetscCall(ExampleResidualIsEnough(ksp, A, b, x, r, &out->enough));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TimeMult(Mat A, Vec x, Vec y, Outcome *out)
{
  PetscLogDouble t0, t1;

  PetscFunctionBeginUser;
  PetscCall(Finish(y));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(PetscTime(&t0));
  for (int k = 0; k < PRODUCTS; k++) PetscCall(MatMult(A, x, y));
  PetscCall(Finish(y)); /* a fiftieth of its time is in the reported time of a product */
  PetscCall(PetscTime(&t1));
  t1 = (t1 - t0) / PRODUCTS;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &t1, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  if (out->mult == 0 || t1 < out->mult) out->mult = t1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef enum {
  ALLREDUCE,
  TDOT,
  NORM,
  AXPY,
  PARTS
} Part;

/* Times the operations of a solver besides products, one at a time: the median time of the slowest process */
static PetscErrorCode TimeParts(Vec x, Vec y, PetscReal median[])
{
  PetscReal   t[PRODUCTS], norm;
  PetscScalar dot;

  PetscFunctionBeginUser;
  for (Part part = ALLREDUCE; part < PARTS; part++) {
    for (int k = 0; k < PRODUCTS; k++) {
      PetscReal      sum = 1;
      PetscLogDouble t0, t1;

      PetscCall(VecAXPY(y, 1e-3, x)); /* changes y, or its norm would be known */
      PetscCall(Finish(y));
      PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
      PetscCall(PetscTime(&t0));
      if (part == ALLREDUCE) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
      if (part == TDOT) PetscCall(VecTDot(x, y, &dot));
      if (part == AXPY) PetscCall(Finish(x));
      if (part == NORM) PetscCall(VecNorm(y, NORM_2, &norm));
      PetscCall(PetscTime(&t1));
      t[k] = (PetscReal)(t1 - t0);
      if (part < AXPY) continue;
      PetscCall(PetscTime(&t0));
      for (int l = 0; l < 10; l++) PetscCall(VecAXPY(y, 1e-3, x));
      PetscCall(Finish(x));
      PetscCall(PetscTime(&t1));
      t[k] = ((PetscReal)(t1 - t0) - t[k]) / 10;
    }
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, t, PRODUCTS, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
    PetscCall(PetscSortReal(PRODUCTS, t));
    median[part] = t[PRODUCTS / 2];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs all solvers with one matrix */
static PetscErrorCode RunSolvers(Mat A, const char type[], const Choice *choice, Vec x, Vec b, Vec y, PetscInt *nruns, Outcome out[])
{
  MatShadowHaloInfo halo;
  MatShadowInfo     info;
  PetscInt          products = 0;
  PetscLogDouble    syncs    = 0;
  KSP               ksp      = NULL;

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < choice->nsolvers; k++) {
    Outcome *o = &out[*nruns];

    PetscCheck(*nruns < MAX_RUNS, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "More than %d combinations of types, solvers and ways of exchange", MAX_RUNS);
    (*nruns)++;
    PetscCall(PetscMemzero(o, sizeof(*o)));
    PetscCall(PetscStrncpy(o->type, type, sizeof(o->type)));
    PetscCall(PetscStrncpy(o->solver, choice->solvers[k], sizeof(o->solver)));
    if (choice->its) PetscCall(CreateSolver(A, o->solver, choice->its, b, x, &ksp));
    for (PetscInt round = 0; round < choice->rounds; round++) {
      PetscCall(MatShadowGetHaloInfo(A, &halo));
      products = halo.products;
      syncs    = halo.syncs;
      PetscCall(TimeMult(A, b, y, o));
      if (choice->its) PetscCall(TimeSolve(ksp, choice->its, b, x, o));
    }
    PetscCall(KSPDestroy(&ksp));
    PetscCall(MatShadowGetInfo(A, &info));
    PetscCall(MatShadowGetHaloInfo(A, &halo));
    o->halo       = halo.path;
    o->halo_bytes = halo.bytes;
    if (halo.products > products) o->syncs = (halo.syncs - syncs) / (halo.products - products);
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &o->halo_bytes, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run(Mat A, const char type[], PetscBool last, const Choice *choice, PetscInt *nruns, Outcome out[], PetscReal parts[])
{
  Mat B = A;
  Vec x, b, y;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(A, type, last ? MAT_INPLACE_MATRIX : MAT_INITIAL_MATRIX, &B));
  if (last) PetscCall(PetscObjectReference((PetscObject)A));
  PetscCall(MatCreateVecs(B, &x, &b));
  PetscCall(VecDuplicate(b, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(MatMult(B, x, b));
  if (!choice->nhalos) PetscCall(RunSolvers(B, type, choice, x, b, y, nruns, out));
  for (PetscInt k = 0; k < choice->nhalos; k++) {
    MatShadowInfo info;
    PetscInt      halo;
    PetscBool     found;

    PetscCall(MatShadowGetInfo(B, &info));
    PetscCall(PetscEListFind(5, MatShadowHalos, choice->halos[k], &halo, &found));
    PetscCheck(found, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-halos %s: take auto, mpi, nccl or staged", choice->halos[k]);
    PetscCall(MatShadowSetHalo(B, (MatShadowHalo)halo));
    if (info.format || k == 0) PetscCall(RunSolvers(B, type, choice, x, b, y, nruns, out));
  }
  PetscCall(TimeParts(x, y, parts));
  PetscCall(MatViewFromOptions(B, NULL, "-view"));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Report(Mat A, PetscInt nruns, const Outcome out[], const PetscReal parts[])
{
  PetscInt    M;
  PetscMPIInt size;
  PetscReal   balance[2] = {1, 1};

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(MatGetSize(A, &M, NULL));
  PetscCall(Balance(A, balance));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d processes, %" PetscInt_FMT " unknowns; the most of a process, relative to an equal share: rows %.3f, nonzeros %.3f\n", size, M, (double)balance[0], (double)balance[1]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-12s %-8s %10s %12s %12s %8s %12s %14s %14s\n", "matrix", "solver", "iterations", "us/iteration", "us/product", "halo", "halo bytes", "waits/product", "reductions/it"));
  for (PetscInt t = 0; t < nruns; t++) {
    const Outcome *o = &out[t];

    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-12s %-8s %10" PetscInt_FMT " %12.2f %12.2f %8s", o->type, o->solver, o->its, o->its ? 1e6 * o->solve / o->its : 0., 1e6 * o->mult, o->halo ? o->halo : "PETSc's"));
    if (o->halo) PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %12.0f %14.2f", o->halo_bytes, o->syncs));
    else PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %12s %14s", "-", "-"));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %14.2f\n", o->reductions));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "in us: MPI_Allreduce of a number %.2f, VecTDot %.2f, VecNorm %.2f, VecAXPY %.2f\n", 1e6 * (double)parts[ALLREDUCE], 1e6 * (double)parts[TDOT], 1e6 * (double)parts[NORM], 1e6 * (double)parts[AXPY]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the list of words of an option, or the default word */
static PetscErrorCode List(const char option[], const char first[], const char second[], PetscInt *n, char *words[])
{
  PetscBool given;

  PetscFunctionBeginUser;
  *n = MAX_LIST;
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, option, words, n, &given));
  if (given) PetscFunctionReturn(PETSC_SUCCESS);
  *n = 0;
  if (first) PetscCall(PetscStrallocpy(first, &words[(*n)++]));
  if (second) PetscCall(PetscStrallocpy(second, &words[(*n)++]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ListFree(PetscInt n, char *words[])
{
  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < n; k++) PetscCall(PetscFree(words[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MakeMatrix(Mat *A)
{
  PetscInt    n = 40, M = 0, random = 0;
  PetscReal   density = 0.0002;
  PetscBool   given;
  PetscMPIInt size;
  char        file[PETSC_MAX_PATH_LEN];

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-per_process", &M, &given));
  PetscCheck(!given || M > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-per_process %" PetscInt_FMT " is not positive", M);
  if (given) n = (PetscInt)(PetscPowReal((PetscReal)M * size, (PetscReal)(1. / 3)) + 0.5);
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-random", &random, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-density", &density, NULL));
  PetscCheck(n > 0 && n <= 1290 && random >= 0 && density > 0 && density <= 100, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-n is 1 to 1290, -random is positive, -density is 0 to 100");
  PetscCall(PetscOptionsGetString(NULL, NULL, "-f", file, sizeof(file), &given));
  if (given) PetscCall(ExampleLoadMatrix(file, A));
  else PetscCall(CreateMatrix(n, random, density, A));
  PetscCall(Partition(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunAll(PetscBool *right)
{
  Choice    choice = {.its = -1, .rounds = 3};
  PetscInt  nruns  = 0;
  PetscBool times  = PETSC_TRUE;
  Outcome   out[MAX_RUNS];
  PetscReal parts[PARTS];
  Mat       A;

  PetscFunctionBeginUser;
  PetscCall(PetscLogDefaultBegin()); /* counts reductions */
  PetscCall(PetscAMBInitializePackage());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-its", &choice.its, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-rounds", &choice.rounds, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-times", &times, NULL));
  PetscCheck(choice.rounds > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-rounds %" PetscInt_FMT " is not positive", choice.rounds);
  PetscCall(List("-types", MATAIJ, MATAMB, &choice.ntypes, choice.types));
  PetscCall(List("-solvers", KSPCG, NULL, &choice.nsolvers, choice.solvers));
  PetscCall(List("-halos", NULL, NULL, &choice.nhalos, choice.halos));
  PetscCall(MakeMatrix(&A));
  for (PetscInt t = 0; t < choice.ntypes; t++) PetscCall(Run(A, choice.types[t], (PetscBool)(t + 1 == choice.ntypes), &choice, &nruns, out, parts));
  if (times) PetscCall(Report(A, nruns, out, parts));
  for (PetscInt t = 0; t < nruns && !times; t++) {
    const char *what = choice.its >= 0 ? "stopped after the iterations of -its" : out[t].enough ? "the solution is right" : "THE SOLUTION IS WRONG";

    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s, %s: %s\n", out[t].type, out[t].solver, what));
  }
  for (PetscInt t = 0; t < nruns; t++) {
    PetscCall(CommandAdd("type", out[t].type, 0));
    PetscCall(CommandAdd("solver", out[t].solver, 0));
    PetscCall(CommandAdd("iterations", NULL, out[t].its));
    PetscCall(CommandAdd("solve_s", NULL, out[t].solve));
    PetscCall(CommandAdd("mult_s", NULL, out[t].mult));
    PetscCall(CommandAdd("halo", out[t].halo ? out[t].halo : "", 0));
    PetscCall(CommandAdd("halo_bytes", NULL, out[t].halo_bytes));
    PetscCall(CommandAdd("waits_per_product", NULL, out[t].syncs));
    PetscCall(CommandAdd("reductions_per_iteration", NULL, out[t].reductions));
  }
  for (PetscInt t = 0; t < nruns && choice.its < 0; t++) *right = out[t].enough ? *right : PETSC_FALSE;
  PetscCall(ListFree(choice.ntypes, choice.types));
  PetscCall(ListFree(choice.nsolvers, choice.solvers));
  PetscCall(ListFree(choice.nhalos, choice.halos));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *const own[] = {"n", "per_process", "random", "density", "f", "mat_amb_partition", "types", "solvers", "halos", "its", "rounds", "times", "csv", "json", "view"};

  return CommandMain("multigpu", argc, argv, help, PETSC_STATIC_ARRAY_LENGTH(own), own, RunAll);
}

/*TEST

  testset:
    requires: double
    nsize: {{1 2 3 4}}
    args: -times 0 -rounds 1 -mat_shadow_tune off
    test:
      suffix: stencil
      args: -n 13 -types aij,amb,nussell -solvers cg,pipecg,groppcg
      output:
        aij, cg: the solution is right
        aij, pipecg: the solution is right
        aij, groppcg: the solution is right
        amb, cg: the solution is right
        amb, pipecg: the solution is right
        amb, groppcg: the solution is right
        nussell, cg: the solution is right
        nussell, pipecg: the solution is right
        nussell, groppcg: the solution is right
    test:
      suffix: random
      args: -random 3000 -density 0.3 -solvers bcgs,bicg -mat_amb_partition {{none nnz bitonic}}
      output:
        aij, bcgs: the solution is right
        aij, bicg: the solution is right
        amb, bcgs: the solution is right
        amb, bicg: the solution is right
    testset:
      output:
        aij, cg: the solution is right
        amb, cg: the solution is right
      test:
        suffix: partition
        args: -n 12 -mat_amb_partition {{nnz bitonic}} -halos {{auto staged peer}}
      test:
        suffix: empty
        args: -n 1

TEST*/
