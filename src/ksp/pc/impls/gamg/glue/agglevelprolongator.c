/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The members of aggregates, on the processes of their roots, and the prolongator of these aggregates
*/
#include "sys/systhreads.h"
#include "ksp/pc/impls/gamg/glue/agg.h"

/* The aggregates with a root on this process. Aggregate k has the members start[k] to start[k + 1] - 1, in ascending order of their global numbers id[]; member
   l has place[l] in what gather() collects. */
typedef struct {
  PetscSF  sf; /* from the aggregates to their members; NULL on one process, where a vertex is its own place */
  PetscInt nplace, *start, *place, *id;
} AmbAggMembers;

static PetscErrorCode AmbAggMembersDestroy(AmbAggMembers *m)
{
  PetscFunctionBegin;
  PetscCall(PetscSFDestroy(&m->sf));
  PetscCall(PetscFree(m->start));
  PetscCall(PetscFree2(m->place, m->id));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On one process: vertices by their aggregates */
static PetscErrorCode AmbAggMembersSort(const AmbAggLevel *level, AmbAggMembers *m)
{
  PetscFunctionBegin;
  PetscCall(PetscCalloc1(level->nagg + 2, &m->start));
  PetscCall(PetscMalloc2(level->n, &m->place, level->n, &m->id));
  m->nplace = level->n;
  for (PetscInt v = 0; v < level->n; v++) {
    if (level->aggregate[v] >= 0) m->start[level->aggregate[v] + 2]++;
  }
  for (PetscInt k = 0; k < level->nagg; k++) m->start[k + 2] += m->start[k + 1];
  for (PetscInt v = 0; v < level->n; v++) {
    if (level->aggregate[v] < 0) continue;
    m->id[m->start[level->aggregate[v] + 1]]      = v;
    m->place[m->start[level->aggregate[v] + 1]++] = v;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AmbAggMembersCreate(const AmbAggLevel *level, AmbAggMembers *m)
{
  PetscLayout     layout;
  PetscInt       *vertex, *number, *aggregate, n = 0;
  const PetscInt *degree;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(m, sizeof(*m)));
  if (!level->sf) {
    PetscCall(AmbAggMembersSort(level, m));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc3(level->n, &vertex, level->n, &number, level->n, &aggregate));
  for (PetscInt v = 0; v < level->n; v++) {
    number[v] = level->first + v;
    if (level->aggregate[v] < 0) continue;
    vertex[n]      = v;
    aggregate[n++] = level->aggregate[v];
  }
  PetscCall(PetscLayoutCreateFromSizes(level->comm, level->nagg, PETSC_DECIDE, 1, &layout));
  PetscCall(PetscSFCreate(level->comm, &m->sf));
  PetscCall(PetscSFSetGraphLayout(m->sf, layout, n, vertex, PETSC_COPY_VALUES, aggregate));
  PetscCall(PetscLayoutDestroy(&layout));
  PetscCall(PetscSFComputeDegreeBegin(m->sf, &degree));
  PetscCall(PetscSFComputeDegreeEnd(m->sf, &degree));
  PetscCall(PetscCalloc1(level->nagg + 1, &m->start));
  for (PetscInt k = 0; k < level->nagg; k++) m->start[k + 1] = m->start[k] + degree[k];
  m->nplace = m->start[level->nagg];
  PetscCall(PetscMalloc2(m->nplace, &m->place, m->nplace, &m->id));
  PetscCall(PetscSFGatherBegin(m->sf, MPIU_INT, number, m->id));
  PetscCall(PetscSFGatherEnd(m->sf, MPIU_INT, number, m->id));
  for (PetscInt l = 0; l < m->nplace; l++) m->place[l] = l;
  for (PetscInt k = 0; k < level->nagg; k++) PetscCall(PetscSortIntWithArray(m->start[k + 1] - m->start[k], m->id + m->start[k], m->place + m->start[k]));
  PetscCall(PetscFree3(vertex, number, aggregate));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- lists of PETSc ------------------------------------------------- */

/* A matrix that has a column for each member of another process */
static PetscErrorCode AmbAggListsMat(const AmbAggLevel *level, const AmbAggMembers *m, const PetscInt root[], Mat *G)
{
  PetscInt *lengths;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(level->n, &lengths));
  for (PetscInt k = 0; k < level->nagg; k++) {
    for (PetscInt l = m->start[k]; l < m->start[k + 1]; l++) lengths[root[k]] += m->id[l] < level->first || m->id[l] >= level->first + level->n;
  }
  PetscCall(MatCreateAIJ(level->comm, level->n, level->n, PETSC_DETERMINE, PETSC_DETERMINE, 0, NULL, 0, lengths, G));
  for (PetscInt k = 0; k < level->nagg; k++) {
    for (PetscInt l = m->start[k]; l < m->start[k + 1]; l++) {
      if (m->id[l] < level->first || m->id[l] >= level->first + level->n) PetscCall(MatSetValue(*G, level->first + root[k], m->id[l], 1, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*G, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*G, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscFree(lengths));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AmbAggLevelLists(AmbAggLevel *level, PetscCoarsenData **lists)
{
  AmbAggMembers m;
  PetscInt     *root, k = 0;

  PetscFunctionBegin;
  PetscCall(AmbAggLevelFetch(level));
  PetscCall(AmbAggMembersCreate(level, &m));
  PetscCall(PetscMalloc1(level->nagg, &root));
  PetscCall(PetscCDCreate(level->n, lists));
  for (PetscInt v = 0; v < level->n; v++) {
    if (level->join[v] != v) continue;
    root[k] = v;
    PetscCall(PetscCDAppendID(*lists, v, level->first + v));
    for (PetscInt l = m.start[k]; l < m.start[k + 1]; l++) {
      if (m.id[l] != level->first + v) PetscCall(PetscCDAppendID(*lists, v, m.id[l]));
    }
    k++;
  }
  if (level->sf) {
    Mat G;

    PetscCall(AmbAggListsMat(level, &m, root, &G));
    PetscCall(PetscCDSetMat(*lists, G));
  }
  PetscCall(PetscFree(root));
  PetscCall(AmbAggMembersDestroy(&m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- prolongator ------------------------------------------------- */

/* block[] has the vectors by rows, and gets the entries of the prolongator; *coarse becomes the vectors of the coarse level */
static PetscErrorCode AmbAggFactor(const AmbAggLevel *level, PetscInt bs, PetscInt nvec, PetscReal block[], PetscReal **coarse)
{
  AmbAggMembers m;
  MPI_Datatype  type;
  PetscReal    *gathered = block;
  SysStatus     status;

  PetscFunctionBegin;
  PetscCall(AmbAggMembersCreate(level, &m));
  PetscCall(PetscMalloc1(level->nagg * nvec * nvec, coarse));
  if (m.sf) {
    PetscCallMPI(MPI_Type_contiguous((PetscMPIInt)(bs * nvec), MPIU_REAL, &type));
    PetscCallMPI(MPI_Type_commit(&type));
    PetscCall(PetscMalloc1(m.nplace * bs * nvec, &gathered));
    PetscCall(PetscSFGatherBegin(m.sf, type, block, gathered));
    PetscCall(PetscSFGatherEnd(m.sf, type, block, gathered));
  }
  status = AggFactor(level->nagg, m.start, m.place, (int)bs, (int)nvec, SysThreads(), gathered, *coarse);
  PetscCall(AmbAggCheck(level->comm, status, "prolongator"));
  if (m.sf) {
    PetscCall(PetscSFScatterBegin(m.sf, type, gathered, block));
    PetscCall(PetscSFScatterEnd(m.sf, type, gathered, block));
    PetscCallMPI(MPI_Type_free(&type));
    PetscCall(PetscFree(gathered));
  }
  PetscCall(AmbAggMembersDestroy(&m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The aggregates of other processes that vertices of this one belong to, ascending */
static PetscErrorCode AmbAggOthers(const AmbAggLevel *level, PetscInt *n, PetscInt **others)
{
  PetscFunctionBegin;
  *n = 0;
  PetscCall(PetscMalloc1(level->sf ? level->n : 0, others));
  if (!level->sf) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt v = 0; v < level->n; v++) {
    const PetscInt k = level->aggregate[v] - level->firstagg;

    if (level->aggregate[v] >= 0 && (k < 0 || k >= level->nagg)) (*others)[(*n)++] = level->aggregate[v];
  }
  PetscCall(PetscSortRemoveDupsInt(n, *others));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One block of the prolongator: the rows of the vertices whose aggregates have their root here, or of those that do not. Column number[v] + c of block rows v. */
static PetscErrorCode AmbAggMakeBlock(MatType type, PetscInt nvertex, PetscInt bs, PetscInt nvec, PetscInt columns, const PetscInt number[], const PetscReal block[], Mat *B)
{
  PetscInt    *lengths;
  PetscScalar *a;
  SysCSR       csr;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(nvertex * bs, &lengths));
  for (PetscInt r = 0; r < nvertex * bs; r++) lengths[r] = number[r / bs] < 0 ? 0 : nvec;
  PetscCall(MatCreate(PETSC_COMM_SELF, B));
  PetscCall(MatSetSizes(*B, nvertex * bs, columns, nvertex * bs, columns));
  PetscCall(MatSetType(*B, type));
  PetscCall(MatSeqAIJSetPreallocation(*B, 0, lengths));
  PetscCall(PetscFree(lengths));
  PetscCall(MatAIJGetPattern(*B, &csr));
  PetscCall(MatSeqAIJGetArrayWrite(*B, &a));
  if (csr.j) {
    PetscInt *j = (PetscInt *)csr.j;

#pragma omp parallel for num_threads(SysThreads()) schedule(static)
    for (PetscInt v = 0; v < nvertex; v++) {
      if (number[v] < 0) continue;
      for (PetscInt r = 0; r < bs; r++) {
        const PetscInt start = csr.i[v * bs + r];

        for (PetscInt c = 0; c < nvec; c++) {
          j[start + c] = number[v] * nvec + c;
          a[start + c] = block[(v * bs + r) * nvec + c];
        }
      }
    }
  }
  PetscCall(MatSeqAIJRestoreArrayWrite(*B, &a));
  MatAIJSetHostNewest(*B);
  if (csr.j) PetscCall(MatSeqAIJSetColumnIndices(*B, (PetscInt *)csr.j)); /* the columns are in place: this call sets the lengths of the rows */
  PetscCall(MatAssemblyBegin(*B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*B, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AmbAggInherit(Mat A, PetscInt bs, PetscInt nvec, Mat *P)
{
  const MatShadowFormat *format;
  MatShadow             *s;
  PetscBool              same;

  PetscFunctionBegin;
  PetscCall(MatSetBlockSizes(*P, bs, nvec));
  PetscCall(MatShadowGetFormat(A, &format));
  if (format) {
    PetscCall(MatShadowGet(A, &s));
    PetscCall(MatShadowGetFormat(*P, &format)); /* if all AIJ of the program are */
    if (format) PetscCall(MatShadowDetach(*P));
    PetscCall(MatShadowAttach(*P, s->format, s));
  } else {
    PetscCall(PetscStrcmp(MatAIJGetType(A), ((PetscObject)*P)->type_name, &same));
    if (!same) PetscCall(MatConvert(*P, MatAIJGetType(A), MAT_INPLACE_MATRIX, P));
  }
#if defined(PETSC_HAVE_DEVICE)
  if (A->boundtocpu) {
    PetscCall(MatBindToCPU(*P, PETSC_TRUE));
    PetscCall(MatSetBindingPropagates(*P, PETSC_TRUE));
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The smoothed prolongator of a sequential matrix on the host */
static PetscErrorCode AmbAggMakeSmoothed(const AmbAggLevel *level, PetscInt nvec, PetscReal alpha, const PetscReal block[], Mat *P)
{
  const PetscInt bs = level->bs, columns = level->nagg * nvec;
  PetscInt      *lengths;
  PetscScalar   *a;
  SysCSR         A, csr;
  AggMarks       marks;

  PetscFunctionBegin;
  PetscCall(MatAIJGetArrays(level->A, &A));
  PetscCall(AmbAggCheck(level->comm, AggMarksCreate(&A, level->nagg, SysThreads(), &marks), "prolongator"));
  PetscCall(PetscMalloc1(A.m, &lengths));
  AggSmoothLengths(&A, level->aggregate, (int)bs, (int)nvec, &marks, lengths);
  PetscCall(MatCreate(PETSC_COMM_SELF, P));
  PetscCall(MatSetSizes(*P, (PetscInt)A.m, columns, (PetscInt)A.m, columns));
  PetscCall(MatSetType(*P, MATSEQAIJ));
  PetscCall(MatSeqAIJSetPreallocation(*P, 0, lengths));
  PetscCall(PetscFree(lengths));
  PetscCall(MatAIJGetPattern(*P, &csr));
  PetscCall(MatSeqAIJGetArrayWrite(*P, &a));
  if (csr.j) AggSmooth(&A, level->aggregate, (int)bs, (int)nvec, block, (double)alpha, &marks, csr.i, (PetscInt *)csr.j, a);
  AggMarksDestroy(&marks);
  PetscCall(MatSeqAIJRestoreArrayWrite(*P, &a));
  if (csr.j) PetscCall(MatSeqAIJSetColumnIndices(*P, (PetscInt *)csr.j)); /* as in AmbAggMakeBlock() */
  PetscCall(MatAssemblyBegin(*P, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*P, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AmbAggMakeProlongator(const AmbAggLevel *level, Mat A, PetscInt bs, PetscInt nvec, const PetscReal block[], Mat *P)
{
  PetscInt *number, *far, *others, nothers;
  PetscBool seq;
  Mat       d, o;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQAIJ, &seq));
  if (seq) {
    PetscCall(AmbAggMakeBlock(MatAIJIsCUSPARSE(A) ? MatAIJGetType(A) : MATSEQAIJ, level->n, bs, nvec, level->nagg * nvec, level->aggregate, block, P));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(AmbAggOthers(level, &nothers, &others));
  PetscCall(PetscMalloc2(level->n, &number, level->n, &far));
  for (PetscInt v = 0; v < level->n; v++) {
    const PetscInt k = level->aggregate[v] - level->firstagg;

    number[v] = far[v] = -1;
    if (level->aggregate[v] < 0) continue;
    if (k >= 0 && k < level->nagg) number[v] = k;
    else PetscCall(PetscFindInt(level->aggregate[v], nothers, others, &far[v]));
  }
  PetscCall(AmbAggMakeBlock(MATSEQAIJ, level->n, bs, nvec, level->nagg * nvec, number, block, &d));
  PetscCall(AmbAggMakeBlock(MATSEQAIJ, level->n, bs, nvec, nothers * nvec, far, block, &o));
  PetscCall(PetscFree2(number, far));
  {
    PetscInt *columns;

    PetscCall(PetscMalloc1(nothers * nvec, &columns));
    for (PetscInt k = 0; k < nothers * nvec; k++) columns[k] = others[k / nvec] * nvec + k % nvec;
    PetscCall(PetscFree(others));
    PetscCall(PetscAMBCreateMPIAIJWithSeqAIJ(level->comm, A->rmap->N, level->all * nvec, d, o, columns, P));
  }
  if (MatAIJIsCUSPARSE(A)) PetscCall(MatConvert(*P, MatAIJGetType(A), MAT_INPLACE_MATRIX, P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AmbAggLevelProlongator(AmbAggLevel *level, PetscInt nvec, const PetscReal data[], PetscReal alpha, PetscReal **coarse, Mat *P)
{
  const Mat      A  = level->A;
  const PetscInt bs = level->bs;
  PetscReal     *block;

  PetscFunctionBegin;
  *P = NULL;
  if (!level->all) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(AMBAGG_Prolongator, A, 0, 0, 0));
  PetscCall(AmbAggLevelFetch(level));
  PetscCall(PetscMalloc1(level->n * bs * nvec, &block));
  for (PetscInt c = 0; c < nvec; c++) {
    for (PetscInt r = 0; r < level->n * bs; r++) block[r * nvec + c] = data[c * level->n * bs + r];
  }
  PetscCall(AmbAggFactor(level, bs, nvec, block, coarse));
  if (alpha != 0) {
    PetscCall(AmbAggLogSmoothing(level, PETSC_TRUE));
    PetscCall(AmbAggMakeSmoothed(level, nvec, alpha, block, P));
    PetscCall(AmbAggLogSmoothing(level, PETSC_FALSE));
  } else PetscCall(AmbAggMakeProlongator(level, A, bs, nvec, block, P));
  PetscCall(PetscFree(block));
  PetscCall(AmbAggInherit(A, bs, nvec, P));
  PetscCall(PetscLogEventEnd(AMBAGG_Prolongator, A, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
