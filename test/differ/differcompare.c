/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Everything that can be observed after a step: errors, figures, types, traits, states, patterns, values, products with vectors
*/
#include "differ.h"
#include <petscdm.h>
#include <stdlib.h>

/* ------------------------------------------------------- notes ------------------------------------------------------- */

static DifferNote *Note(DifferStep *s, const char *what)
{
  DifferNote *note = &s->notes[s->side][PetscMin(s->nnotes[s->side], DIFFER_NOTES - 1)];

  s->nnotes[s->side]++;
  memset(note, 0, sizeof(*note));
  note->what = what;
  return note;
}

void DifferNoteInt(DifferStep *s, const char *what, PetscInt value)
{
  Note(s, what)->value[0] = (double)value;
}

void DifferNoteScalar(DifferStep *s, const char *what, PetscScalar value, PetscReal scale)
{
  DifferNote *note = Note(s, what);

  note->value[0] = (double)PetscRealPart(value);
  note->value[1] = (double)PetscImaginaryPart(value);
  note->scale    = (double)scale;
}

void DifferNoteText(DifferStep *s, const char *what, const char *text)
{
  DifferNote *note = Note(s, what);

  (void)PetscStrncpy(note->text, text ? text : "none", sizeof(note->text));
}

PetscErrorCode DifferNoteVec(DifferStep *s, const char *what, Vec v, PetscReal scale)
{
  const PetscScalar *a;
  PetscInt           n, bs;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VecGetBlockSize(v, &bs));
  DifferNoteInt(s, what, n);
  DifferNoteInt(s, what, bs);
  PetscCall(VecGetArrayRead(v, &a));
  for (PetscInt k = 0; k < n; k++) DifferNoteScalar(s, what, a[k], scale);
  PetscCall(VecRestoreArrayRead(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DifferNoteIS(DifferStep *s, const char *what, IS is)
{
  const PetscInt *indices;
  PetscInt        n;

  PetscFunctionBeginUser;
  PetscCall(ISGetLocalSize(is, &n));
  PetscCall(ISGetIndices(is, &indices));
  DifferNoteInt(s, what, n);
  for (PetscInt k = 0; k < n; k++) DifferNoteInt(s, what, indices[k]);
  PetscCall(ISRestoreIndices(is, &indices));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DifferNoteMat(DifferStep *s, const char *what, Mat A, PetscReal scale)
{
  PetscInt first, end, bs[2];

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &first, &end));
  PetscCall(MatGetBlockSizes(A, &bs[0], &bs[1]));
  DifferNoteInt(s, what, first);
  DifferNoteInt(s, what, A->rmap->N);
  DifferNoteInt(s, what, A->cmap->n);
  DifferNoteInt(s, what, A->cmap->N);
  DifferNoteInt(s, "row block size", bs[0]);
  DifferNoteInt(s, "column block size", bs[1]);
  for (PetscInt i = first; i < end; i++) {
    PetscInt     n, *cols;
    PetscScalar *values;

    PetscCall(DifferGetRow(A, i, &n, &cols, &values));
    DifferNoteInt(s, what, n);
    for (PetscInt k = 0; k < n; k++) {
      DifferNoteInt(s, what, cols[k]);
      DifferNoteScalar(s, what, values[k], scale);
    }
    PetscCall(PetscFree2(cols, values));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DifferNoteLines(DifferStep *s, const char *what, char *text, PetscReal scale)
{
  static const char blanks[] = " =,[]()\t\n";
  PetscBool         whole;

  PetscFunctionBeginUser;
  PetscCall(TestCleanView(text, &whole));
  PetscCheck(whole, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The last line of a view has no end");
  while (*text) { /* words and numbers with a decimal point */
    char  *number = text, word[40];
    size_t n      = strcspn(text, blanks);
    double value;

    PetscCall(PetscStrncpy(word, text, PetscMin(n + 1, sizeof(word))));
    value = strtod(word, &number);
    if (n && number != word && !*number && strpbrk(word, ".e")) DifferNoteScalar(s, what, (PetscScalar)value, scale * PetscAbsReal((PetscReal)value));
    else if (n) DifferNoteText(s, what, word);
    text += n;
    text += strspn(text, blanks);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Same bits, or no numbers on both sides, or within rounding */
static double Off(double a, double b, double scale)
{
  if (a == b || (a != a && b != b)) return 0;
  if (!(scale > 0) || a != a || b != b || a - b != a - b) return PETSC_MAX_REAL;
  return PetscAbsReal(a - b) / scale;
}

static void DiffNotes(TestDiff *d, const DifferStep *s)
{
  const PetscInt n = PetscMin(PetscMin(s->nnotes[0], s->nnotes[1]), DIFFER_NOTES);

  for (PetscInt k = 0; k < n; k++) {
    const DifferNote *a = &s->notes[DIFFER_TEST][k], *r = &s->notes[DIFFER_REFERENCE][k];
    double            off = a->what == r->what && strcmp(a->text, r->text) == 0 ? 0 : PETSC_MAX_REAL;

    for (int part = 0; part < 2; part++) off = PetscMax(off, Off(a->value[part], r->value[part], r->scale));
    if (off > TEST_TOLERANCE && d->err <= TEST_TOLERANCE) {
      static char what[256];

      (void)PetscSNPrintf(what, sizeof(what), "%s: %.17g %s, of AIJ %s: %.17g %s", a->what, a->value[0], a->text, r->what, r->value[0], r->text);
      TestDiffAdd(d, what, (PetscReal)off);
    }
  }
  if (d->err <= TEST_TOLERANCE && s->nnotes[0] != s->nnotes[1]) TestDiffAdd(d, "another number of figures", 1);
}

/* ------------------------------------------------------- pairs ------------------------------------------------------- */

void DifferRound(DifferStep *s, PetscReal scale)
{
  if (s->side == DIFFER_REFERENCE) s->scale = PetscMax(s->scale, scale > 1 && scale < PETSC_MAX_REAL ? scale : 1);
}

/* The type of A is that of R or, if the matrix is expected to be ours, the subtype of it */
static PetscErrorCode DiffType(TestDiff *d, const DifferStep *s, Mat A, Mat R, PetscBool ours)
{
  static char   what[256];
  char          root[64], plain[64], name[128];
  const char   *a = ((PetscObject)A)->type_name, *r = ((PetscObject)R)->type_name;
  MatShadowInfo info;
  PetscBool     aij, device, good, third = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(TestTypeRoot(root, sizeof(root)));
  PetscCall(PetscStrbeginswith(root, MATAIJ, &aij));
  PetscCall(TestOnDevice(A, &device));
  PetscCall(MatShadowGetInfo(A, &info));
  if (s->against == DIFFER_THIRD) {
    PetscCall(PetscStrcmp(r + 3, DifferThird(), &third));
    ours = third; /* PETSc chooses the types of mixed products, and petsc-amb takes over all AIJCUSPARSE */
  }
  ours = (PetscBool)(DifferIsAIJ(R) && (DifferForAIJ() || (ours && !aij)));
  PetscCall(PetscStrncpy(plain, r, sizeof(plain)));
  if (third) plain[strlen(MATSEQAIJ)] = 0; /* seqaijcusparse stands for seqaij */
  PetscCall(PetscSNPrintf(name, sizeof(name), "%s%s", plain, ours && !DifferForAIJ() ? root : ""));
  good = (PetscBool)(strcmp(a, name) == 0);
  if (device && (ours || aij)) good = PETSC_TRUE;
  if (ours != (PetscBool)(info.format != NULL) && !(DifferForAIJ() && !A->assembled)) good = PETSC_FALSE;
  if (!good) {
    PetscCall(PetscSNPrintf(what, sizeof(what), "the type is %s with the format %s, of AIJ %s", a, info.format ? info.format : "none", r));
    TestDiffAdd(d, what, 1);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows: columns and, but for rounding, values */
static PetscErrorCode DiffRows(TestDiff *d, Mat A, Mat R, PetscReal scale)
{
  PetscInt first, end;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(R, &first, &end));
  for (PetscInt i = first; i < end; i++) {
    PetscInt     na, nr, *ca, *cr;
    PetscScalar *va, *vr;

    PetscCall(DifferGetRow(A, i, &na, &ca, &va));
    PetscCall(DifferGetRow(R, i, &nr, &cr, &vr));
    TestExpect(d, "number of entries in a row", (PetscBool)(na == nr));
    for (PetscInt k = 0; k < PetscMin(na, nr); k++) {
      TestExpect(d, "column of an entry", (PetscBool)(ca[k] == cr[k]));
      TestDiffAdd(d, "value of an entry", (PetscReal)PetscMax(Off((double)PetscRealPart(va[k]), (double)PetscRealPart(vr[k]), (double)scale), Off((double)PetscImaginaryPart(va[k]), (double)PetscImaginaryPart(vr[k]), (double)scale)));
    }
    PetscCall(PetscFree2(ca, va));
    PetscCall(PetscFree2(cr, vr));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sums of |r_ij| over rows and over columns, the scale of a rounding error of a product */
static PetscErrorCode Scales(Mat R, Vec *rows, Vec *cols)
{
  PetscInt first, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(R, cols, rows));
  PetscCall(VecSet(*rows, 0));
  PetscCall(VecSet(*cols, 0));
  PetscCall(MatGetOwnershipRange(R, &first, &end));
  for (PetscInt i = first; i < end; i++) {
    PetscInt     n, *c;
    PetscScalar *v;
    PetscReal    sum = 0;

    PetscCall(DifferGetRow(R, i, &n, &c, &v));
    for (PetscInt k = 0; k < n; k++) {
      v[k] = PetscAbsScalar(v[k]);
      sum += PetscRealPart(v[k]);
    }
    PetscCall(VecSetValues(*cols, n, c, v, ADD_VALUES));
    PetscCall(VecSetValue(*rows, i, sum, INSERT_VALUES));
    PetscCall(PetscFree2(c, v));
  }
  PetscCall(VecAssemblyBegin(*rows));
  PetscCall(VecAssemblyEnd(*rows));
  PetscCall(VecAssemblyBegin(*cols));
  PetscCall(VecAssemblyEnd(*cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The differences of all processes: the worst of them, on all */
static PetscErrorCode Reduce(TestDiff *d)
{
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &d->err, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Mappings that PETSc has made for each of both and that say the same become one object */
static PetscErrorCode ShareMappings(Mat A, Mat R)
{
  const PetscLayout a[2] = {A->rmap, A->cmap}, r[2] = {R->rmap, R->cmap};

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++) {
    const PetscInt *indices[2];
    PetscInt        n[2], bs[2];
    PetscBool       same;

    if (!a[k]->mapping || !r[k]->mapping || a[k]->mapping == r[k]->mapping) continue;
    PetscCall(ISLocalToGlobalMappingGetSize(a[k]->mapping, &n[0]));
    PetscCall(ISLocalToGlobalMappingGetSize(r[k]->mapping, &n[1]));
    PetscCall(ISLocalToGlobalMappingGetBlockSize(a[k]->mapping, &bs[0]));
    PetscCall(ISLocalToGlobalMappingGetBlockSize(r[k]->mapping, &bs[1]));
    if (n[0] != n[1] || bs[0] != bs[1]) continue;
    PetscCall(ISLocalToGlobalMappingGetIndices(a[k]->mapping, &indices[0]));
    PetscCall(ISLocalToGlobalMappingGetIndices(r[k]->mapping, &indices[1]));
    PetscCall(PetscArraycmp(indices[0], indices[1], (size_t)n[0], &same));
    PetscCall(ISLocalToGlobalMappingRestoreIndices(a[k]->mapping, &indices[0]));
    PetscCall(ISLocalToGlobalMappingRestoreIndices(r[k]->mapping, &indices[1]));
    if (same) PetscCall(PetscLayoutSetISLocalToGlobalMapping(r[k], a[k]->mapping));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A conversion in place and one by a root name take other ways through MatConvert(), of which some keep flags that the others forget */
static PetscErrorCode ShareFlags(Mat A, Mat R)
{
  PetscBool3 *a[4] = {&A->symmetric, &A->hermitian, &A->structurally_symmetric, &A->spd}, *r[4] = {&R->symmetric, &R->hermitian, &R->structurally_symmetric, &R->spd};
  DM          dm[2];

  PetscFunctionBeginUser;
  for (int k = 0; k < 4; k++) {
    if (*a[k] == PETSC_BOOL3_UNKNOWN || *r[k] == PETSC_BOOL3_UNKNOWN) *r[k] = *a[k];
  }
  PetscCall(MatGetDM(A, &dm[0]));
  PetscCall(MatGetDM(R, &dm[1]));
  if (dm[0] && !dm[1]) PetscCall(MatSetDM(R, dm[0]));
  if (!R->stencil.dim) R->stencil = A->stencil; /* an AIJ converted to its own type is duplicated without its stencil and its DM; a conversion to another type calls MatDuplicate(), which copies both */
  R->nooffproczerorows = A->nooffproczerorows;
  R->nooffprocentries  = A->nooffprocentries;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One pair; what needs communication only after all processes agree on what does not */
static PetscErrorCode DiffPair(DifferStep *s, const DifferPair *pair, PetscBool products, TestDiff *d)
{
  Mat         A = pair->m[DIFFER_TEST], R = pair->m[DIFFER_REFERENCE];
  MatInfo     info[2];
  Vec         rows, cols;
  PetscMPIInt size[2] = {0, 0};

  PetscFunctionBeginUser;
  if (!A && !R) PetscFunctionReturn(PETSC_SUCCESS);
  TestExpect(d, "a matrix, and none of AIJ, or the other way round", (PetscBool)(A && R));
  if (A && R) {
    PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size[0]));
    PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)R), &size[1]));
  }
  TestExpect(d, "the communicator has another size", (PetscBool)(size[0] == size[1]));
  PetscCall(Reduce(d));
  if (d->err > TEST_TOLERANCE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DiffType(d, s, A, R, pair->ours));
  TestExpect(d, "preallocated", (PetscBool)(A->preallocated == R->preallocated));
  TestExpect(d, "set up", (PetscBool)(A->rmap->setupcalled == R->rmap->setupcalled));
  TestExpect(d, "insert mode", (PetscBool)(A->insertmode == R->insertmode));
  TestExpect(d, "whether it is a factor", (PetscBool)(A->factortype == R->factortype));
  if (!s->retyped || !DifferThird()) TestExpect(d, "whether it is a product", (PetscBool)((A->product != NULL) == (R->product != NULL))); /* a matrix that leaves the GPU is a new one */
  if (A->product && R->product) TestExpect(d, "the kind of product", (PetscBool)(A->product->type == R->product->type));
  PetscCall(Reduce(d));
  if (d->err > TEST_TOLERANCE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ShareMappings(A, R));
  if (s->retyped || s->merged) PetscCall(ShareFlags(A, R)); /* an assembly forgets flags if the nonzero state is another number, see merged */
  if (R->rmap->setupcalled) PetscCall(TestDiffTraits(d, A, R));
  PetscCall(Reduce(d));
  if (d->err > TEST_TOLERANCE || !R->assembled || !DifferIsAIJ(R)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DiffRows(d, A, R, s->scale));
  for (int kind = 0; kind < 2; kind++) {
    PetscCall(MatGetInfo(A, kind ? MAT_GLOBAL_SUM : MAT_LOCAL, &info[0]));
    PetscCall(MatGetInfo(R, kind ? MAT_GLOBAL_SUM : MAT_LOCAL, &info[1]));
    TestExpect(d, "MatGetInfo()'s number of entries", (PetscBool)(info[0].nz_used == info[1].nz_used));
  }
  PetscCall(Reduce(d));
  products = (PetscBool)(products && s->against == DIFFER_REFERENCE && pair->norm >= 0 && pair->norm < PETSC_MAX_REAL);
  PetscCall(DifferOnAll(1, &products));
  if (d->err > TEST_TOLERANCE || !products) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Scales(R, &rows, &cols));
  if (s->scale > 0) {
    PetscCall(VecShift(rows, s->scale));
    PetscCall(VecShift(cols, s->scale));
  }
  PetscCall(TestDiffMult(d, A, R, rows));
  PetscCall(TestDiffMultTranspose(d, A, R, cols));
  PetscCall(TestDestroy(&rows, &cols));
  PetscCall(Reduce(d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The bits of the entries of A in R, so that later operations can be asked for the same bits */
static PetscErrorCode CopyBits(Mat A, Mat R)
{
  Mat         a[2] = {A, NULL}, r[2] = {R, NULL};
  PetscMPIInt size;
  PetscBool   mpi;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)R), &size));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)R, MATMPIAIJ, &mpi));
  if (mpi) {
    PetscCall(MatMPIAIJGetSeqAIJ(A, &a[0], &a[1], NULL));
    PetscCall(MatMPIAIJGetSeqAIJ(R, &r[0], &r[1], NULL));
  }
  for (int block = 0; block < 2 && a[block]; block++) {
    const PetscScalar *from;
    PetscScalar       *to;
    MatInfo            info;

    PetscCall(MatGetInfo(r[block], MAT_LOCAL, &info));
    PetscCall(MatSeqAIJGetArrayRead(a[block], &from));
    PetscCall(MatSeqAIJGetArray(r[block], &to));
    PetscCall(PetscArraycpy(to, from, (size_t)info.nz_used));
    PetscCall(MatSeqAIJRestoreArray(r[block], &to));
    PetscCall(MatSeqAIJRestoreArrayRead(a[block], &from));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------- steps ------------------------------------------------------- */

/* Did the operation change the state of a matrix on one side only? A state that must be higher and is not hides new values from a format. */
static void DiffStates(TestDiff *d, const DifferStep *s, const DifferPair *pair, const PetscObjectState before[DIFFER_SIDES][2])
{
  PetscBool moved[2][2];

  for (int side = 0; side < 2; side++) {
    PetscObjectState now;

    if (!pair->m[side] || !before[side][0]) return;
    (void)PetscObjectStateGet((PetscObject)pair->m[side], &now);
    moved[side][0] = (PetscBool)(now + 1 != before[side][0]);
    moved[side][1] = (PetscBool)(pair->m[side]->nonzerostate + 1 != before[side][1]);
  }
  TestExpect(d, "the object state did not change, but that of AIJ did", (PetscBool)(pair->apart || moved[DIFFER_TEST][0] || !moved[DIFFER_REFERENCE][0]));
  TestExpect(d, "the object state changed, but not that of AIJ", (PetscBool)(s->retyped || s->anew || !moved[DIFFER_TEST][0] || moved[DIFFER_REFERENCE][0]));
  TestExpect(d, "the nonzero state changed and not that of AIJ, or the other way round", (PetscBool)(s->retyped || s->merged || s->anew || pair->apart || moved[DIFFER_TEST][1] == moved[DIFFER_REFERENCE][1]));
}

PetscErrorCode DifferCompare(DifferStep *s, const PetscObjectState before[][DIFFER_SIDES][2], const PetscErrorCode ierr[], PetscBool failed, PetscBool all, TestDiff *d)
{
  PetscFunctionBeginUser;
  if (ierr[DIFFER_TEST] != ierr[DIFFER_REFERENCE]) {
    static char what[2400];

    PetscCall(PetscSNPrintf(what, sizeof(what), "error %d, of AIJ %d: %s", (int)ierr[DIFFER_TEST], (int)ierr[DIFFER_REFERENCE], TestErrorMessage));
    TestDiffAdd(d, what, 1);
  }
  PetscCall(Reduce(d));
  if (d->err > TEST_TOLERANCE || failed) PetscFunctionReturn(PETSC_SUCCESS);
  DiffNotes(d, s);
  TestExpect(d, "another number of results", (PetscBool)(s->nresults[0] == s->nresults[1]));
  for (int k = 0; k < DIFFER_SLOTS; k++) {
    if (s->touched[k] && !s->dropped[k]) DiffStates(d, s, &s->pool->pair[k], before[k]);
  }
  PetscCall(Reduce(d));
  for (PetscInt k = 0; k < s->nresults[0] && d->err <= TEST_TOLERANCE; k++) {
    DifferPair pair = {.ours = s->ours[k]};

    for (int side = 0; side < DIFFER_SIDES; side++) pair.m[side] = s->results[side][k];

    PetscCall(DifferPairUpdate(&pair, PETSC_FALSE));
    PetscCall(DiffPair(s, &pair, (PetscBool)(all || s->seed & 1), d));
    if (s->scale > 0 && d->err <= TEST_TOLERANCE && pair.m[0] && pair.m[1]->assembled && DifferIsAIJ(pair.m[1])) PetscCall(CopyBits(pair.m[DIFFER_TEST], pair.m[DIFFER_REFERENCE]));
  }
  for (int k = 0; k < DIFFER_SLOTS && d->err <= TEST_TOLERANCE; k++) {
    DifferPair *pair = &s->pool->pair[k];

    if (!all && (!s->touched[k] || s->dropped[k])) continue;
    PetscCall(DifferPairUpdate(pair, PETSC_FALSE));
    PetscCall(DiffPair(s, pair, (PetscBool)(all || s->seed & 2), d));
    if (s->scale > 0 && d->err <= TEST_TOLERANCE && pair->m[0] && pair->m[1]->assembled && DifferIsAIJ(pair->m[1])) PetscCall(CopyBits(pair->m[DIFFER_TEST], pair->m[DIFFER_REFERENCE]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
