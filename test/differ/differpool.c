/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The pool of pairs: random numbers, choice of operands, patterns and values, types of both sides
*/
#include "differ.h"
#include "mat/shadow/core/shadow.h"

/* ------------------------------------------------------- random numbers ------------------------------------------------------- */

uint64_t DifferMix(uint64_t x)
{
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

PetscInt DifferDraw(DifferStep *s, PetscInt n)
{
  s->state = DifferMix(s->state);
  return n > 1 ? (PetscInt)((s->state >> 16) % (uint64_t)n) : 0;
}

PetscScalar DifferNumber(DifferStep *s)
{
  static const PetscReal plain[] = {0, 1, -1, 0.5, 2};
  const PetscInt         k       = DifferDraw(s, 12);

  return k < 5 ? plain[k] : 2 * TestNumber(DifferDraw(s, 100000), k);
}

/* ------------------------------------------------------- types ------------------------------------------------------- */

static const MatShadowFormat *forAIJ = NULL; /* what -petscamb_for_aij chose */
static PetscBool              looked = PETSC_FALSE;
static char                   root[64];       /* the value of -mat_type */
static char                   third[64] = ""; /* the third type, if there is one */
static PetscBool              plainly   = PETSC_FALSE;

PetscBool DifferForAIJ(void)
{
  if (!looked) forAIJ = MatShadowForAIJ;
  if (!looked) PetscCallAbort(PETSC_COMM_SELF, TestTypeRoot(root, sizeof(root)));
  looked = PETSC_TRUE;
  return (PetscBool)(forAIJ != NULL);
}

PetscErrorCode DifferSetThird(const char name[])
{
  return PetscStrncpy(third, name ? name : "", sizeof(third));
}

const char *DifferThird(void)
{
  return third[0] && !plainly ? third : NULL;
}

/* What chooses a type is away while an operation is applied to another side, or matrices that PETSc makes would get the format under test there too */
void DifferSetSide(int side)
{
  static const MatShadowFormat *kept = NULL; /* the format of AIJCUSPARSE, which the first matrix on a GPU chooses */

  if (MatShadowForAIJCUSPARSE) kept = MatShadowForAIJCUSPARSE;
  MatShadowForAIJCUSPARSE = side == DIFFER_TEST && !plainly ? kept : NULL;
  if (DifferForAIJ()) MatShadowForAIJ = side == DIFFER_TEST ? forAIJ : NULL;
  if (side == DIFFER_REFERENCE) PetscCallAbort(PETSC_COMM_SELF, PetscOptionsClearValue(NULL, "-mat_type"));
  else PetscCallAbort(PETSC_COMM_SELF, PetscOptionsSetValue(NULL, "-mat_type", side == DIFFER_TEST ? root : third));
}

void DifferBePlain(PetscBool plain)
{
  static const MatShadowFormat *kept;
  static char                   name[64];

  if (plain) {
    (void)DifferForAIJ();
    kept = forAIJ;
    PetscCallAbort(PETSC_COMM_SELF, PetscStrncpy(name, root, sizeof(name)));
  }
  plainly = plain;
  forAIJ = MatShadowForAIJ = plain ? NULL : kept;
  PetscCallAbort(PETSC_COMM_SELF, PetscStrncpy(root, plain ? MATAIJ : name, sizeof(root)));
}

PetscBool DifferIsPlain(void)
{
  return (PetscBool)(!DifferForAIJ() && strncmp(root, MATAIJ, strlen(MATAIJ)) == 0);
}

PetscErrorCode DifferTypeName(DifferStep *s, int kind, char name[], size_t len)
{
  static const char *const kinds[] = {"seq", "mpi", ""};
  const char              *type    = s->side == DIFFER_TEST ? root : s->side == DIFFER_THIRD ? third : MATAIJ;
  PetscBool                aij;

  PetscFunctionBeginUser;
  PetscCall(PetscStrbeginswith(type, MATAIJ, &aij));
  PetscCall(PetscSNPrintf(name, len, "%s%s%s", kinds[kind], aij || kind == 2 ? "" : MATAIJ, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DifferCanConvert(Mat A, const char type[], PetscBool *can)
{
  const PetscInt *map;
  PetscBool       mpi;

  PetscFunctionBeginUser;
  *can = (PetscBool)(strcmp(type, MATBAIJ) != 0 || (PetscAbs(A->rmap->bs) == PetscAbs(A->cmap->bs) && A->rmap->n % PetscAbs(A->rmap->bs) == 0 && A->cmap->n % PetscAbs(A->rmap->bs) == 0));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  if (mpi && strcmp(type, MATIS) == 0) {
    PetscCall(MatMPIAIJGetSeqAIJ(A, NULL, NULL, &map));
    *can = (PetscBool)(map != NULL);
  }
  PetscCall(DifferOnAll(1, can));
  if (*can) PetscCall(MatSetBlockSizes(A, PetscAbs(A->rmap->bs), PetscAbs(A->cmap->bs))); /* one that is not set is -1, which is an error on the way back from BAIJ */
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DifferIsCompressed(Mat A, PetscBool *compressed)
{
  Mat       block[2] = {A, NULL};
  PetscBool mpi;

  PetscFunctionBeginUser;
  *compressed = PETSC_FALSE;
  if (!DifferThird()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  if (mpi) PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
  for (int b = 0; b < 2 && block[b]; b++) {
    PetscInt empty = 0, n;

    for (PetscInt i = 0; i < block[b]->rmap->n; i++) {
      PetscCall(MatGetRow(block[b], i, &n, NULL, NULL));
      empty += n == 0;
      PetscCall(MatRestoreRow(block[b], i, &n, NULL, NULL));
    }
    if (10 * empty >= 6 * block[b]->rmap->n) *compressed = PETSC_TRUE; /* MatCheckCompressedRow() */
  }
  PetscCall(DifferOnAny(1, compressed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool DifferTakesApart(const char type[])
{
  return (PetscBool)(strcmp(type, MATBAIJ) == 0 || strcmp(type, MATSELL) == 0);
}

void DifferTakeApart(DifferStep *s)
{
  const Mat R = s->pool->pair[s->picks[0]].m[DIFFER_REFERENCE];

  s->pool->pair[s->picks[0]].apart = PETSC_TRUE;
  for (PetscInt k = 0; k < DIFFER_SLOTS; k++) {
    const Mat C = s->pool->pair[k].m[DIFFER_REFERENCE];

    if (C && C->product && (C->product->A == R || C->product->B == R || C->product->C == R)) s->pool->pair[k].apart = PETSC_TRUE;
  }
}

PetscBool DifferIsAIJ(Mat A)
{
  const char *type = ((PetscObject)A)->type_name;

  return (PetscBool)(type && (strncmp(type, MATSEQAIJ, strlen(MATSEQAIJ)) == 0 || strncmp(type, MATMPIAIJ, strlen(MATMPIAIJ)) == 0));
}

/* ------------------------------------------------------- the pool ------------------------------------------------------- */

static PetscErrorCode Mapping(PetscInt bs, PetscInt n, PetscInt N, ISLocalToGlobalMapping *map)
{
  PetscInt *indices, first = 0;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Exscan(&n, &first, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(PetscMalloc1(n / bs + 1, &indices));
  for (PetscInt k = 0; k < n / bs; k++) indices[k] = first / bs + k;
  indices[n / bs] = (first + n) / bs % PetscMax(N / bs, 1); /* a node of the next process */
  PetscCall(ISLocalToGlobalMappingCreate(PETSC_COMM_WORLD, bs, n / bs + (N ? 1 : 0), indices, PETSC_OWN_POINTER, map));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DifferPoolCreate(uint64_t seed, DifferPool *pool)
{
  static const PetscInt sizes[] = {1, 1, 1, 2, 2, 3, 3, 4, 5, 6};
  DifferStep            s       = {.state = seed};
  PetscMPIInt           rank, size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscMemzero(pool, sizeof(*pool)));
  pool->size = size;
  for (int k = 0; k < 2; k++) {
    const PetscInt nodes = k ? 4 : 12, even = DifferDraw(&s, 3);

    pool->bs[k] = sizes[DifferDraw(&s, (PetscInt)PETSC_STATIC_ARRAY_LENGTH(sizes))];
    for (PetscMPIInt r = 0; r < size; r++) {
      PetscInt n = even ? nodes : DifferDraw(&s, 2 * nodes);

      if (DifferDraw(&s, 8) == 0) n = 0;
      if (r == rank) pool->n[k] = pool->bs[k] * n;
      pool->N[k] += pool->bs[k] * n;
    }
    PetscCall(Mapping(pool->bs[k], pool->n[k], pool->N[k], &pool->map[k]));
  }
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &pool->space));
  PetscCall(PetscContainerCreate(PETSC_COMM_WORLD, &pool->attached));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DifferPairDestroy(DifferPair *pair)
{
  PetscFunctionBeginUser;
  for (int side = 0; side < DIFFER_SIDES; side++) {
    DifferSetSide(side);
    PetscCall(MatDestroy(&pair->m[side]));
  }
  DifferSetSide(DIFFER_TEST);
  PetscCall(PetscMemzero(pair, sizeof(*pair)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DifferPoolDestroy(DifferPool *pool)
{
  PetscFunctionBeginUser;
  for (int k = 0; k < DIFFER_SLOTS; k++) PetscCall(DifferPairDestroy(&pool->pair[k]));
  for (int k = 0; k < 2; k++) PetscCall(ISLocalToGlobalMappingDestroy(&pool->map[k]));
  PetscCall(MatNullSpaceDestroy(&pool->space));
  PetscCall(PetscContainerDestroy(&pool->attached));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A number that is another one if a matrix has another nonzero state, another inside or, on this process, another pattern: another inside may have the same state by chance */
static PetscErrorCode PatternState(Mat A, PetscObjectState *state)
{
  uint64_t hash = DifferMix((uint64_t)A->nonzerostate) + DifferMix((uint64_t)(uintptr_t)A->data);

  PetscFunctionBeginUser;
  for (PetscInt i = A->rmap->rstart; i < A->rmap->rend && A->assembled && DifferIsAIJ(A); i++) {
    PetscInt     n, *cols;
    PetscScalar *values;

    PetscCall(DifferGetRow(A, i, &n, &cols, &values));
    for (PetscInt k = 0; k < n; k++) hash = DifferMix(hash + (uint64_t)cols[k]);
    hash = DifferMix(hash + (uint64_t)n);
    PetscCall(PetscFree2(cols, values));
  }
  *state = (PetscObjectState)(hash / 2);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of a product and its operands; zeros for no product. PETSc's P^T A P transposes the blocks of P again, and raises an error if a conversion has given P another block off the
   diagonal. */
static PetscErrorCode PatternStates(Mat C, PetscObjectState state[4])
{
  PetscBool mpi;

  PetscFunctionBeginUser;
  PetscCall(PetscArrayzero(state, 4));
  if (!C->product) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PatternState(C, &state[0]));
  if (C->product->A) PetscCall(PatternState(C->product->A, &state[1]));
  if (C->product->B) PetscCall(PatternState(C->product->B, &state[2]));
  if (C->product->C) PetscCall(PatternState(C->product->C, &state[3]));
  if (C->product->type == MATPRODUCT_PtAP) {
    PetscCall(PetscObjectBaseTypeCompare((PetscObject)C->product->B, MATMPIAIJ, &mpi));
    if (mpi) {
      PetscObjectId id;
      Mat           block;

      PetscCall(MatMPIAIJGetSeqAIJ(C->product->B, NULL, &block, NULL));
      PetscCall(PetscObjectGetId((PetscObject)block, &id));
      state[2] += id;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DifferPairUpdate(DifferPair *pair, PetscBool product)
{
  const Mat R = pair->m[DIFFER_REFERENCE];

  PetscFunctionBeginUser;
  pair->norm = -1;
  if (!R) PetscFunctionReturn(PETSC_SUCCESS);
  if (R->assembled && R->ops->norm) PetscCall(MatNorm(R, NORM_FROBENIUS, &pair->norm));
  if (product) PetscCall(PatternStates(R, pair->pattern));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's own algorithms make a product again only in the pattern that it had; not A B^T on several processes, where PETSc 3.18 crashes */
static PetscErrorCode CanBeMadeAgain(const DifferPair *pair, PetscBool *can)
{
  const Mat        R = pair->m[DIFFER_REFERENCE];
  PetscObjectState state[4];

  PetscFunctionBeginUser;
  *can = PETSC_FALSE;
  if (!R->product || !R->product->A || !R->ops->productnumeric || !pair->pattern[0] || R->product->type == MATPRODUCT_ABt) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PatternStates(R, state));
  *can = (PetscBool)(memcmp(state, pair->pattern, sizeof(state)) == 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool DifferSameLayout(PetscLayout a, PetscLayout b)
{
  return (PetscBool)(a->setupcalled && b->setupcalled && a->size == b->size && memcmp(a->range, b->range, (size_t)(a->size + 1) * sizeof(PetscInt)) == 0);
}

static PetscBool Fits(const DifferStep *s, int slot, unsigned needs)
{
  const DifferPair *pair = &s->pool->pair[slot];
  const Mat         R = pair->m[DIFFER_REFERENCE], first = s->npicks ? s->pool->pair[s->picks[0]].m[DIFFER_REFERENCE] : NULL;

  if (!R || s->dropped[slot]) return PETSC_FALSE;
  if (!(needs & DIFFER_OPEN) && !R->assembled) return PETSC_FALSE;
  if ((needs & DIFFER_WORLD) && R->rmap->size != s->pool->size) return PETSC_FALSE;
  if ((needs & DIFFER_AIJ) && !DifferIsAIJ(R)) return PETSC_FALSE;
  if ((needs & DIFFER_SEQ) && strncmp(((PetscObject)R)->type_name, "seq", 3) != 0) return PETSC_FALSE;
  if ((needs & DIFFER_FINITE) && !(pair->norm >= 0 && pair->norm < PETSC_MAX_REAL)) return PETSC_FALSE;
  if ((needs & DIFFER_SQUARE) && !DifferSameLayout(R->rmap, R->cmap)) return PETSC_FALSE;
  if ((needs & DIFFER_FILLED) && (R->rmap->N == 0 || R->cmap->N == 0)) return PETSC_FALSE;
  if ((needs & DIFFER_MAPPED) && (!R->rmap->mapping || !R->cmap->mapping)) return PETSC_FALSE;
  if (!first) return PETSC_TRUE;
  if ((needs & (DIFFER_ROWS_ROWS | DIFFER_ROWS_COLS | DIFFER_COLS_COLS)) && strncmp(((PetscObject)R)->type_name, ((PetscObject)first)->type_name, 3) != 0) return PETSC_FALSE; /* both sequential or both MPI */
  if ((needs & DIFFER_OTHER) && R == first) return PETSC_FALSE;
  if ((needs & DIFFER_ROWS_ROWS) && !DifferSameLayout(R->rmap, first->rmap)) return PETSC_FALSE;
  if ((needs & DIFFER_ROWS_COLS) && !DifferSameLayout(R->rmap, first->cmap)) return PETSC_FALSE;
  if ((needs & DIFFER_COLS_COLS) && !DifferSameLayout(R->cmap, first->cmap)) return PETSC_FALSE;
  return PETSC_TRUE;
}

PetscErrorCode DifferPick(DifferStep *s, unsigned needs, Mat *A)
{
  const PetscInt start = DifferDraw(s, DIFFER_SLOTS);
  PetscInt       slot  = -1;
  PetscBool      fits[DIFFER_SLOTS];

  PetscFunctionBeginUser;
  *A = NULL;
  PetscCheck(s->npicks < DIFFER_PICKS, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Too many picks");
  if (s->side == DIFFER_REFERENCE) {
    for (int k = 0; k < DIFFER_SLOTS; k++) {
      fits[k] = Fits(s, k, needs);
      if (fits[k] && (needs & DIFFER_PRODUCT)) PetscCall(CanBeMadeAgain(&s->pool->pair[k], &fits[k]));
    }
    PetscCall(DifferOnAll(DIFFER_SLOTS, fits)); /* sequential matrices differ from process to process */
    for (PetscInt k = 0; k < DIFFER_SLOTS && slot < 0; k++) {
      if (fits[(start + k) % DIFFER_SLOTS]) slot = (start + k) % DIFFER_SLOTS;
    }
    s->used[s->npicks] = slot;
  } else slot = s->used[s->npicks];
  s->picks[s->npicks++] = PetscMax(slot, 0);
  if (slot < 0) PetscFunctionReturn(PETSC_SUCCESS);
  s->touched[slot] = PETSC_TRUE;
  *A               = s->pool->pair[slot].m[s->side];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool DifferIsOurs(const DifferStep *s, PetscInt pick)
{
  return s->pool->pair[s->picks[pick]].ours;
}

PetscErrorCode DifferGive(DifferStep *s, PetscBool ours, Mat A)
{
  PetscFunctionBeginUser;
  PetscCheck(s->nresults[s->side] < DIFFER_RESULTS, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Too many results");
  s->ours[s->nresults[s->side]]               = ours;
  s->results[s->side][s->nresults[s->side]++] = A;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DifferGetRow(Mat A, PetscInt i, PetscInt *n, PetscInt **cols, PetscScalar **values)
{
  Mat                block[2] = {A, NULL};
  const PetscInt    *map      = NULL, *c;
  const PetscScalar *v;
  PetscInt           length, total = 0, row = i, first = 0;
  PetscBool          mpi;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  if (mpi) {
    PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], &map));
    row -= A->rmap->rstart;
    first = A->cmap->rstart;
  }
  for (int b = 0; b < 2 && block[b]; b++) {
    PetscCall(MatGetRow(block[b], row, &length, &c, &v));
    total += length;
    PetscCall(MatRestoreRow(block[b], row, &length, &c, &v));
  }
  PetscCall(PetscMalloc2(total, cols, total, values));
  *n = 0;
  for (int b = 0; b < 2 && block[b]; b++) {
    PetscCall(MatGetRow(block[b], row, &length, &c, &v));
    for (PetscInt k = 0; k < length; k++) {
      (*cols)[*n]   = b ? map[c[k]] : first + c[k];
      (*values)[*n] = v[k];
      *n += 1;
    }
    PetscCall(MatRestoreRow(block[b], row, &length, &c, &v));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DifferOwn(DifferStep *s, Mat *A)
{
  Mat       B;
  PetscBool mpi;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)*A, MATMPIAIJ, &mpi));
  if (!mpi) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatDuplicate(*A, MAT_COPY_VALUES, &B));
  PetscCall(DifferGive(s, DifferIsOurs(s, 0), B));
  *A = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void DifferDrop(DifferStep *s)
{
  for (PetscInt k = 0; k < DIFFER_SLOTS; k++) {
    if (s->touched[k]) s->dropped[k] = PETSC_TRUE;
  }
}

PetscErrorCode DifferAgree(PetscErrorCode ierr)
{
  int worst = (int)ierr;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD));
  PetscFunctionReturn((PetscErrorCode)worst);
}

static PetscErrorCode Reduce(PetscInt n, PetscBool flags[], MPI_Op op)
{
  int values[DIFFER_SLOTS];

  PetscFunctionBeginUser;
  PetscCheck(n <= DIFFER_SLOTS, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Too many flags");
  for (PetscInt k = 0; k < n; k++) values[k] = flags[k] ? 1 : 0;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, values, (PetscMPIInt)n, MPI_INT, op, PETSC_COMM_WORLD));
  for (PetscInt k = 0; k < n; k++) flags[k] = values[k] ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DifferOnAll(PetscInt n, PetscBool flags[])
{
  return Reduce(n, flags, MPI_MIN);
}

PetscErrorCode DifferOnAny(PetscInt n, PetscBool flags[])
{
  return Reduce(n, flags, MPI_MAX);
}

/* ------------------------------------------------------- patterns and values ------------------------------------------------------- */

void DifferFillDraw(DifferStep *s, PetscInt M, PetscInt N, PetscInt rbs, PetscInt cbs, DifferFill *f)
{
  f->kind     = DifferDraw(s, 6);
  f->seed     = DifferDraw(s, 100000);
  f->M        = M;
  f->N        = N;
  f->rbs      = rbs;
  f->cbs      = cbs;
  f->diagonal = (PetscBool)(DifferDraw(s, 4) > 0 && M == N);
}

/* Random rows, blocks, a band, a few full rows, one entry a row, none */
PetscInt DifferFillRow(const DifferFill *f, PetscInt i, PetscInt cols[])
{
  PetscInt n = 0, kept = 0, most;

  if (!f->N) return 0;
  switch (f->kind) {
  case 0:
    most = TestInteger(i, f->seed, 7);
    for (PetscInt k = 0; k < PetscMin(most, f->N - 1); k++) cols[n++] = TestInteger(7 * i + k, f->seed, f->N);
    break;
  case 1:
    for (PetscInt k = 0; k < 3 && (k + 1) * f->cbs <= f->N; k++) {
      const PetscInt block = k ? TestInteger(3 * (i / f->rbs) + k, f->seed, f->N / f->cbs) : i / f->rbs % (f->N / f->cbs);

      for (PetscInt c = 0; c < f->cbs; c++) cols[n++] = block * f->cbs + c;
    }
    break;
  case 2:
    for (PetscInt d = -1; d <= 1; d++) {
      if (i + d >= 0 && i + d < f->N) cols[n++] = i + d;
    }
    if (i + 5 < f->N) cols[n++] = i + 5;
    break;
  case 3:
    if (TestInteger(i, f->seed, 9) == 0) {
      while (n < f->N) {
        cols[n] = n;
        n++;
      }
    }
    break;
  case 4:
    cols[n++] = (i + f->seed) % f->N;
    break;
  }
  if (f->diagonal && n < f->N) cols[n++] = i;
  (void)PetscSortInt(n, cols);
  for (PetscInt k = 0; k < n; k++) {
    if (!kept || cols[kept - 1] != cols[k]) cols[kept++] = cols[k];
  }
  return kept;
}

PetscScalar DifferFillValue(const DifferFill *f, PetscInt i, PetscInt j)
{
  return TestNumber(i + 1000 * f->seed, j) + (i == j && f->diagonal ? 4.0 : 0.0);
}

PetscErrorCode DifferAssemble(Mat A)
{
  PetscFunctionBeginUser;
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}
