/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "Operations on graphs against plain loops over all entries: MatMatMultMaskSum(), MatGraphOrient(), MatGraphPermute(), MatPruneRows(), MatPowEntries(), MatMaskEntries(), MatMultOr(), MatCountTriangles(),\n\
MatBreadthFirst(), MatMarkovCluster(), VecGetTop(), VecShiftToSum() and VecScaleToSum(), on rectangular matrices with empty rows and a hub, and on a graph with equal degrees.\n\n";

#include <petscmat.h>
#include <petscamb.h>

static PetscErrorCode Check(const char name[], PetscBool fine)
{
  PetscMPIInt all = fine;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s %s\n", all ? "ok" : "not ok", name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Matrix NONE has no entries */
#define NONE -1

/* Entry (i,j) of matrix s, or 0: small whole numbers of both signs, which occur often; row 0 is full, every fifth row is empty */
static PetscReal Entry(PetscInt s, PetscInt i, PetscInt j)
{
  const unsigned h = ((unsigned)(s * 131 + i) * 2654435761u) ^ ((unsigned)j * 40503u + 77u) * 2246822519u;

  if (i % 5 == 3 || s == NONE) return 0;
  return i == 0 || (h >> 13) % 4 == 0 ? (PetscReal)((int)((h >> 20) % 7) - 3) : 0;
}

/* An empty matrix with room for most entries in a row, and the rows of this process */
static PetscErrorCode Begin(PetscInt m, PetscInt n, PetscInt most, Mat *A, PetscInt *first, PetscInt *last)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, m, n));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, most, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, most, NULL, most, NULL));
  PetscCall(MatGetOwnershipRange(*A, first, last));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Make(PetscInt s, PetscInt m, PetscInt n, Mat *A)
{
  PetscInt first, last;

  PetscFunctionBeginUser;
  PetscCall(Begin(m, n, n, A, &first, &last));
  for (PetscInt i = first; i < last; i++) {
    for (PetscInt j = 0; j < n; j++) {
      if (Entry(s, i, j) != 0) PetscCall(MatSetValue(*A, i, j, Entry(s, i, j), INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestMaskSum(void)
{
  const PetscInt m = 23, k = 31, n = 17;
  Mat            A, B, M;
  PetscLogDouble sum, want = 0;

  PetscFunctionBeginUser;
  PetscCall(Make(1, m, k, &A));
  PetscCall(Make(2, k, n, &B));
  PetscCall(Make(3, m, n, &M));
  for (PetscInt i = 0; i < m; i++) {
    for (PetscInt j = 0; j < n; j++) {
      for (PetscInt q = 0; q < k; q++) want += Entry(1, i, q) * Entry(2, q, j) * Entry(3, i, j);
    }
  }
  PetscCall(MatMatMultMaskSum(A, B, M, &sum));
  PetscCall(Check("sum of the entries of a product under a mask", (PetscBool)(sum == want && want != 0)));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries of 1, but for one at the end of one matrix: the sum is a count until a value is met that is not 1. The matrices have so many entries that threads look at
   them in several pieces. */
static PetscErrorCode TestMaskSumOnes(void)
{
  const PetscInt n = 150;
  Mat            one[3];
  PetscLogDouble sum;
  PetscBool      right = PETSC_TRUE, last = PETSC_FALSE;

  PetscFunctionBeginUser;
  for (int f = 0; f < 3; f++) {
    PetscInt r0, r1;

    PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n, n, n, NULL, n, NULL, &one[f]));
    PetscCall(MatGetOwnershipRange(one[f], &r0, &r1));
    last = (PetscBool)(r1 == n);
    for (PetscInt i = r0; i < r1; i++) {
      for (PetscInt j = 0; j < n; j++) PetscCall(MatSetValue(one[f], i, j, 1.0, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(one[f], MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(one[f], MAT_FINAL_ASSEMBLY));
  }
  PetscCall(MatMatMultMaskSum(one[0], one[0], one[0], &sum));
  if (sum != (PetscLogDouble)n * n * n) right = PETSC_FALSE;
  for (int f = 0; f < 3; f++) {
    for (int set = 1; set >= 0; set--) { /* n of the products have the value */
      if (last) PetscCall(MatSetValue(one[f], n - 1, n - 1, set ? 3.0 : 1.0, INSERT_VALUES));
      PetscCall(MatAssemblyBegin(one[f], MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(one[f], MAT_FINAL_ASSEMBLY));
      PetscCall(MatMatMultMaskSum(one[0], one[1], one[2], &sum));
      if (sum != (PetscLogDouble)n * n * n + (set ? 2 * n : 0)) right = PETSC_FALSE;
    }
  }
  PetscCall(Check("sum of a product of ones, and of a value that is not 1", right));
  for (int f = 0; f < 3; f++) PetscCall(MatDestroy(&one[f]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does entry (i,j) of A stay among the keep largest of its row that are not smaller than least? */
static PetscBool Stays(PetscInt i, PetscInt j, PetscInt n, PetscReal least, PetscInt keep)
{
  const PetscReal a      = PetscAbsReal(Entry(4, i, j));
  PetscReal       most   = 0;
  PetscInt        before = 0;

  for (PetscInt q = 0; q < n; q++) {
    const PetscReal b = PetscAbsReal(Entry(4, i, q));

    most = PetscMax(most, b);
    before += b > a || (b == a && q < j);
  }
  return (PetscBool)(a > 0 && before < keep && (a >= least || a == most));
}

/* Should a matrix have the entry (i, j)? It then has this value. */
typedef PetscBool (*Wanted)(const void *context, PetscInt i, PetscInt j, PetscReal *value);

/* Compares the local rows of a matrix with the entries that are wanted, whose values may differ by a part of them */
static PetscErrorCode CompareRows(Mat A, Wanted wanted, const void *context, PetscReal part, PetscBool *fine)
{
  PetscInt n, first, last;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, NULL, &n));
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt i = first; i < last; i++) {
    PetscInt           length, at = 0;
    const PetscInt    *j;
    const PetscScalar *v;

    PetscCall(MatGetRow(A, i, &length, &j, &v));
    for (PetscInt q = 0; q < n; q++) {
      PetscReal want;

      if (!wanted(context, i, q, &want)) continue;
      *fine = (PetscBool)(*fine && at < length && j[at] == q && PetscAbsScalar(v[at] - want) <= part * want);
      at++;
    }
    *fine = (PetscBool)(*fine && at == length);
    PetscCall(MatRestoreRow(A, i, &length, &j, &v));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  PetscInt  n, keep;
  PetscReal least;
} Pruned;

static PetscBool WantedPruned(const void *context, PetscInt i, PetscInt j, PetscReal *value)
{
  const Pruned *p = (const Pruned *)context;

  *value = Entry(4, i, j);
  return Stays(i, j, p->n, p->least, p->keep);
}

static PetscErrorCode TestPrune(PetscReal least, PetscInt keep)
{
  const PetscInt m = 26, n = 40;
  const Pruned   pruned = {n, keep, least};
  Mat            A, B;
  MatType        a, b;
  PetscBool      fine;
  char           name[128];

  PetscFunctionBeginUser;
  PetscCall(Make(4, m, n, &A));
  PetscCall(MatPruneRows(A, least, keep, &B));
  PetscCall(MatGetType(A, &a));
  PetscCall(MatGetType(B, &b));
  PetscCall(PetscStrcmp(a, b, &fine));
  PetscCall(CompareRows(B, WantedPruned, &pruned, 0, &fine));
  PetscCall(PetscSNPrintf(name, sizeof(name), "rows pruned to %d entries of at least %g", (int)keep, (double)least));
  PetscCall(Check(name, fine));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The entries of matrix 5 to a power */
static PetscBool WantedPower(const void *context, PetscInt i, PetscInt j, PetscReal *value)
{
  *value = PetscPowReal(PetscAbsReal(Entry(5, i, j)), *(const PetscReal *)context);
  return (PetscBool)(Entry(5, i, j) != 0);
}

/* Powers of values that are on a GPU, if there is one: the products, the entries and a copy have the new ones */
static PetscErrorCode TestPower(PetscReal power)
{
  const PetscInt  m = 12, n = 30;
  const PetscReal part = power == 1.5 ? 4 * PETSC_MACHINE_EPSILON : 0;
  Mat             A, B;
  Vec             x, y;
  PetscInt        first, last;
  PetscBool       fine = PETSC_TRUE;
  char            name[128];

  PetscFunctionBeginUser;
  PetscCall(Make(5, m, n, &A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1.0));
  for (int k = 0; k < 50; k++) PetscCall(MatMult(A, x, y)); /* a format has the old values */
  PetscCall(MatPowEntries(A, power));
  PetscCall(MatMaskEntries(A, A, PETSC_FALSE, &B));
  PetscCall(CompareRows(B, WantedPower, &power, part, &fine));
  PetscCall(MatMult(A, x, y));
  PetscCall(CompareRows(A, WantedPower, &power, part, &fine));
  PetscCall(VecGetOwnershipRange(y, &first, &last));
  for (PetscInt i = first; i < last; i++) {
    PetscReal   want = 0;
    PetscScalar got;

    for (PetscInt j = 0; j < n; j++) {
      if (Entry(5, i, j) != 0) want += PetscPowReal(PetscAbsReal(Entry(5, i, j)), power);
    }
    PetscCall(VecGetValues(y, 1, &i, &got));
    fine = (PetscBool)(fine && PetscAbsScalar(got - want) <= 100 * PETSC_MACHINE_EPSILON * want);
  }
  PetscCall(PetscSNPrintf(name, sizeof(name), "entries to the power %g", (double)power));
  PetscCall(Check(name, fine));
  PetscCall(MatDestroy(&B));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  PetscInt  s, mask;
  PetscBool complement;
} Masked;

static PetscBool WantedMasked(const void *context, PetscInt i, PetscInt j, PetscReal *value)
{
  const Masked *m = (const Masked *)context;

  *value = Entry(m->s, i, j);
  return (PetscBool)(*value != 0 && (Entry(m->mask, i, j) != 0) != m->complement);
}

/* The entries of matrix s at the positions of the mask, or at the others */
static PetscErrorCode TestMaskEntries(PetscInt s, Mat M, PetscInt mask, PetscBool complement, const char name[])
{
  const Masked masked = {s, mask, complement};
  Mat          A, B;
  MatType      a, b;
  PetscInt     m, n;
  PetscBool    fine;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(M, &m, &n));
  PetscCall(Make(s, m, n, &A));
  PetscCall(MatMaskEntries(A, M, complement, &B));
  PetscCall(MatGetType(A, &a));
  PetscCall(MatGetType(B, &b));
  PetscCall(PetscStrcmp(a, b, &fine));
  PetscCall(CompareRows(B, WantedMasked, &masked, 0, &fine));
  PetscCall(Check(name, fine));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Masks of several shapes */
static PetscErrorCode TestMasks(void)
{
  const PetscInt size[][2] = {
    {26,  40 },
    {1,   1  },
    {2,   300},
    {700, 33 }
  };
  char name[128];

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(size); k++) {
    for (int complement = 0; complement < 2; complement++) {
      const char *which = complement ? "not under" : "under";
      Mat         M;
      PetscInt    first, last;

      PetscCall(Make(7, size[k][0], size[k][1], &M));
      PetscCall(PetscSNPrintf(name, sizeof(name), "entries %s a mask, %d x %d", which, (int)size[k][0], (int)size[k][1]));
      PetscCall(TestMaskEntries(4, M, 7, (PetscBool)complement, name));
      PetscCall(PetscSNPrintf(name, sizeof(name), "entries %s a mask of the same places, %d x %d", which, (int)size[k][0], (int)size[k][1]));
      PetscCall(TestMaskEntries(7, M, 7, (PetscBool)complement, name));
      PetscCall(MatScale(M, 0.0)); /* the zeros stay stored */
      PetscCall(PetscSNPrintf(name, sizeof(name), "entries %s a mask of zeros, %d x %d", which, (int)size[k][0], (int)size[k][1]));
      PetscCall(TestMaskEntries(4, M, 7, (PetscBool)complement, name));
      PetscCall(PetscSNPrintf(name, sizeof(name), "no entries %s a mask, %d x %d", which, (int)size[k][0], (int)size[k][1]));
      PetscCall(TestMaskEntries(NONE, M, 7, (PetscBool)complement, name));
      PetscCall(MatDestroy(&M));
      PetscCall(Begin(size[k][0], size[k][1], 0, &M, &first, &last));
      PetscCall(MatAssemblyBegin(M, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(M, MAT_FINAL_ASSEMBLY));
      PetscCall(PetscSNPrintf(name, sizeof(name), "entries %s an empty mask, %d x %d", which, (int)size[k][0], (int)size[k][1]));
      PetscCall(TestMaskEntries(4, M, NONE, (PetscBool)complement, name));
      PetscCall(MatDestroy(&M));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix under its own positions is itself, bit for bit, with a NaN, an infinity and a zero of each sign; what is left out is nothing */
static PetscErrorCode TestMaskBits(void)
{
  const PetscScalar odd[] = {0.0, -0.0, (PetscScalar)NAN, (PetscScalar)INFINITY, (PetscScalar)(-1e-310), 1};
  const PetscInt    n     = 64;
  Mat               A, B, C;
  MatInfo           info;
  PetscInt          first, last;
  PetscBool         fine = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(Begin(n, n, 3, &A, &first, &last));
  for (PetscInt i = first; i < last; i++) {
    for (PetscInt k = 0; k < 3; k++) PetscCall(MatSetValue(A, i, (i + 21 * k) % n, odd[(i + k) % 6], INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatMaskEntries(A, A, PETSC_FALSE, &B));
  PetscCall(MatMaskEntries(A, A, PETSC_TRUE, &C));
  PetscCall(MatGetInfo(C, MAT_GLOBAL_SUM, &info));
  for (PetscInt i = first; i < last; i++) {
    PetscInt           length[2];
    const PetscInt    *j[2];
    const PetscScalar *v[2];
    PetscBool          same[2];

    PetscCall(MatGetRow(A, i, &length[0], &j[0], &v[0]));
    PetscCall(MatGetRow(B, i, &length[1], &j[1], &v[1]));
    fine = (PetscBool)(fine && length[0] == 3 && length[1] == 3);
    if (fine) {
      PetscCall(PetscMemcmp(j[0], j[1], 3 * sizeof(PetscInt), &same[0]));
      PetscCall(PetscMemcmp(v[0], v[1], 3 * sizeof(PetscScalar), &same[1]));
      fine = (PetscBool)(same[0] && same[1]);
    }
    PetscCall(MatRestoreRow(B, i, &length[1], &j[1], &v[1]));
    PetscCall(MatRestoreRow(A, i, &length[0], &j[0], &v[0]));
  }
  PetscCall(Check("a matrix under its own places, bit for bit", (PetscBool)(fine && info.nz_used == 0)));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The edges of matrix 6 from a vertex that comes before another one by its key, i * 7 % 5, or with the same key by its number */
static PetscBool WantedOriented(const void *context, PetscInt i, PetscInt j, PetscReal *value)
{
  const PetscInt from = i * 7 % 5, to = j * 7 % 5;

  (void)context;
  *value = Entry(6, i, j);
  return (PetscBool)(*value != 0 && (from < to || (from == to && i < j)));
}

static PetscErrorCode TestOrient(void)
{
  const PetscInt n = 33;
  Mat            A, B;
  Vec            key;
  PetscInt       first, last;
  PetscBool      fine = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(Make(6, n, n, &A));
  PetscCall(MatCreateVecs(A, &key, NULL));
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt i = first; i < last; i++) PetscCall(VecSetValue(key, i, (PetscReal)(i * 7 % 5), INSERT_VALUES));
  PetscCall(VecAssemblyBegin(key));
  PetscCall(VecAssemblyEnd(key));
  PetscCall(MatGraphOrient(A, key, &B));
  PetscCall(CompareRows(B, WantedOriented, NULL, 0, &fine));
  PetscCall(Check("one direction of each edge", fine));
  PetscCall(VecDestroy(&key));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A transpose of a square and of a rectangular matrix, with rows and columns that are empty */
static PetscErrorCode TestTranspose(void)
{
  PetscFunctionBeginUser;
  for (PetscInt n = 5; n <= 33; n += 28) {
    Mat       A, B, T;
    PetscBool same, right;
    MatType   type;
    char      name[64];

    PetscCall(Make(6, 33, n, &A));
    PetscCall(MatGraphTranspose(A, &B));
    PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &T));
    PetscCall(MatEqual(B, T, &same));
    PetscCall(MatGetType(A, &type));
    PetscCall(PetscObjectTypeCompare((PetscObject)B, type, &right));
    PetscCall(PetscSNPrintf(name, sizeof(name), "the transpose, %d columns", (int)n));
    PetscCall(Check(name, (PetscBool)(same && right)));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
    PetscCall(MatDestroy(&T));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The permutations that a test of n rows or columns tries */
typedef enum {
  PERMUTE_IDENTITY,
  PERMUTE_REVERSE,
  PERMUTE_SHUFFLE,
  PERMUTE_DEAL,  /* every size-th, ascending, as the bitonic deal does */
  PERMUTE_LAST,  /* all to the last process */
  PERMUTE_PAIRS, /* in blocks of 2 */
  PERMUTATIONS
} Permutation;

/* The index set of a permutation; this process is next the owner of the part from begin to end */
static PetscErrorCode MakePermutation(Permutation kind, PetscInt n, IS *is)
{
  PetscMPIInt rank, size;
  PetscInt   *index, *all, begin, end, m = PETSC_DECIDE;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (kind == PERMUTE_LAST) m = rank == size - 1 ? n : 0;
  else if (kind == PERMUTE_PAIRS) m = rank ? 2 * (n / 2 / size) : n - 2 * (n / 2 / size) * (size - 1);
  else PetscCall(PetscSplitOwnership(PETSC_COMM_WORLD, &m, &n));
  PetscCallMPI(MPI_Scan(&m, &end, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  begin = end - m;
  PetscCall(PetscMalloc2(n, &all, m, &index));
  for (PetscInt k = 0; k < n; k++) all[k] = kind == PERMUTE_REVERSE || kind == PERMUTE_LAST ? n - 1 - k : kind == PERMUTE_PAIRS ? (n - 2 - 2 * (k / 2) + k % 2) : k;
  if (kind == PERMUTE_DEAL) {
    PetscInt at = 0;

    for (PetscInt p = 0; p < size; p++) {
      for (PetscInt k = p; k < n; k += size) all[at++] = k;
    }
  }
  for (PetscInt k = n - 1; kind == PERMUTE_SHUFFLE && k > 0; k--) {
    const PetscInt other = (PetscInt)(((unsigned)k * 2654435761u >> 8) % (unsigned)(k + 1)), t = all[k];

    all[k]     = all[other];
    all[other] = t;
  }
  for (PetscInt k = 0; k < m; k++) index[k] = all[begin + k];
  PetscCall(ISCreateGeneral(PETSC_COMM_WORLD, m, index, PETSC_COPY_VALUES, is));
  if (kind == PERMUTE_PAIRS) PetscCall(ISSetBlockSize(*is, 2));
  PetscCall(PetscFree2(all, index));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New numbers, against the matrix that PETSc makes */
static PetscErrorCode TestPermute(Mat A, Permutation rowkind, Permutation columnkind, const char name[])
{
  Mat       B, C, D;
  IS        rows, columns;
  MatType   type;
  PetscBool same, right, back;
  PetscInt  M, N, bs[4];
  Vec       x, y, z;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &M, &N));
  PetscCall(MakePermutation(rowkind, M, &rows));
  PetscCall(MakePermutation(columnkind, N, &columns));
  if (rowkind == columnkind && M == N) { /* one index set for both */
    PetscCall(ISDestroy(&columns));
    PetscCall(PetscObjectReference((PetscObject)rows));
    columns = rows;
  }
  PetscCall(MatGraphPermute(A, rows, columns, &B));
  PetscCall(MatCreateSubMatrix(A, rows, columns, MAT_INITIAL_MATRIX, &C));
  PetscCall(MatEqual(B, C, &same));
  PetscCall(MatGetType(A, &type));
  PetscCall(PetscObjectTypeCompare((PetscObject)B, type, &right));
  PetscCall(MatGetBlockSizes(B, &bs[0], &bs[1]));
  PetscCall(MatGetBlockSizes(C, &bs[2], &bs[3]));
  PetscCall(MatCreateVecs(B, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(MatMult(B, x, y));
  PetscCall(MatMult(C, x, z));
  PetscCall(VecAXPY(y, -1.0, z));
  PetscCall(VecNorm(y, NORM_INFINITY, &norm));
  PetscCall(MatTranspose(B, MAT_INITIAL_MATRIX, &D)); /* the blocks are whole for functions that take the matrix apart */
  PetscCall(MatDestroy(&C));
  PetscCall(MatGraphTranspose(B, &C));
  PetscCall(MatEqual(C, D, &back));
  PetscCall(Check(name, (PetscBool)(same && right && back && norm <= 100 * PETSC_MACHINE_EPSILON && bs[0] == bs[2] && bs[1] == bs[3])));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&columns));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestPermutations(void)
{
  Mat      A;
  PetscInt first, last;

  PetscFunctionBeginUser;
  for (int rows = 0; rows < PERMUTATIONS; rows++) {
    for (int columns = 0; columns < PERMUTATIONS; columns++) {
      char name[64];

      PetscCall(Make(6, 34, 20, &A));
      PetscCall(PetscSNPrintf(name, sizeof(name), "new numbers, rows %d and columns %d", rows, columns));
      PetscCall(TestPermute(A, (Permutation)rows, (Permutation)columns, name));
      PetscCall(MatDestroy(&A));
    }
  }
  PetscCall(Make(6, 801, 801, &A)); /* rows of more than 48 entries, and enough for threads */
  PetscCall(TestPermute(A, PERMUTE_SHUFFLE, PERMUTE_SHUFFLE, "new numbers, long rows"));
  PetscCall(TestPermute(A, PERMUTE_DEAL, PERMUTE_DEAL, "new numbers, long rows dealt"));
  PetscCall(MatDestroy(&A));
  PetscCall(Make(6, 2, 400, &A)); /* a process has no row, and one digit is too few for the columns */
  PetscCall(TestPermute(A, PERMUTE_REVERSE, PERMUTE_SHUFFLE, "new numbers, few rows"));
  PetscCall(MatDestroy(&A));
  PetscCall(Begin(9, 9, 1, &A, &first, &last));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(TestPermute(A, PERMUTE_SHUFFLE, PERMUTE_REVERSE, "new numbers, no entries"));
  PetscCall(MatDestroy(&A));
  PetscCall(Begin(0, 0, 1, &A, &first, &last));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(TestPermute(A, PERMUTE_IDENTITY, PERMUTE_IDENTITY, "new numbers, no rows"));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Index sets that are no permutations are refused by all processes */
static PetscErrorCode TestNoPermutation(void)
{
  Mat            A, B;
  IS             fine, wrong;
  PetscErrorCode got[3];
  PetscInt       begin, end, *index;

  PetscFunctionBeginUser;
  PetscCall(Make(6, 12, 12, &A));
  PetscCall(MakePermutation(PERMUTE_REVERSE, 12, &fine));
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  PetscCall(PetscMalloc1(end - begin, &index));
  for (int k = 0; k < 3; k++) {
    const PetscInt bad[] = {12, 5, 0};

    for (PetscInt r = begin; r < end; r++) index[r - begin] = r == 11 ? bad[k] : r;
    PetscCall(ISCreateGeneral(PETSC_COMM_WORLD, end - begin - (k == 2 && end == 12), index, PETSC_COPY_VALUES, &wrong));
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    got[k] = MatGraphPermute(A, k == 1 ? fine : wrong, k == 1 ? wrong : fine, &B);
    PetscCall(PetscPopErrorHandler());
    PetscCall(ISDestroy(&wrong));
  }
  PetscCall(Check("errors: a number that is too large, one that is there twice, one that is missing", (PetscBool)(got[0] == PETSC_ERR_ARG_OUTOFRANGE && got[1] == PETSC_ERR_ARG_WRONG && got[2] == PETSC_ERR_ARG_SIZ)));
  PetscCall(PetscFree(index));
  PetscCall(ISDestroy(&fine));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static uint64_t Word(PetscInt s, PetscInt k)
{
  return s == 0 && k % 3 ? 0 : (uint64_t)(k + s + 1) * 0x9E3779B97F4A7C15ULL;
}

static PetscErrorCode TestOr(PetscBool transpose)
{
  const PetscInt m = 28, n = 19;
  Mat            A;
  PetscInt       first, last, firstx, lastx, length = transpose ? m : n;
  uint64_t      *x, *y, *want;
  PetscBool      fine = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(Make(7, m, n, &A));
  if (transpose) {
    PetscCall(MatGetOwnershipRange(A, &firstx, &lastx));
    PetscCall(MatGetOwnershipRangeColumn(A, &first, &last));
  } else {
    PetscCall(MatGetOwnershipRange(A, &first, &last));
    PetscCall(MatGetOwnershipRangeColumn(A, &firstx, &lastx));
  }
  PetscCall(PetscMalloc3(lastx - firstx, &x, last - first, &y, last - first, &want));
  for (PetscInt k = firstx; k < lastx; k++) x[k - firstx] = Word(0, k);
  for (PetscInt k = first; k < last; k++) {
    want[k - first] = Word(1, k);
    y[k - first]    = Word(2, k);
  }
  PetscCall(MatMultOr(A, transpose, x, want, y));
  for (PetscInt k = first; k < last; k++) {
    uint64_t all = 0;

    for (PetscInt q = 0; q < length; q++) {
      if (Entry(7, transpose ? q : k, transpose ? k : q) != 0) all |= Word(0, q);
    }
    fine = (PetscBool)(fine && y[k - first] == (Word(2, k) | (all & Word(1, k))));
  }
  PetscCall(Check(transpose ? "bits along columns" : "bits along rows", fine));
  PetscCall(PetscFree3(x, y, want));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Triangles of directed edges, some of them in both directions, with loops and a hub */
static PetscErrorCode TestTriangles(PetscInt n)
{
  Mat        A;
  PetscInt64 count, want = 0;
  char       name[64];

  PetscFunctionBeginUser;
  PetscCall(Make(8, n, n, &A));
#define NEAR(i, j) (Entry(8, i, j) != 0 || Entry(8, j, i) != 0)
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt j = i + 1; j < n; j++) {
      for (PetscInt k = j + 1; NEAR(i, j) && k < n; k++) want += NEAR(i, k) && NEAR(j, k);
    }
  }
#undef NEAR
  PetscCall(MatCountTriangles(A, &count));
  PetscCall(PetscSNPrintf(name, sizeof(name), "triangles of %d vertices", (int)n));
  PetscCall(Check(name, (PetscBool)(count == want)));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Searches along the edges i -> 2 i + 1, 3 i + 1, of which every seventh is missing: the levels of the vertices from each source are those that repeated sweeps find */
static PetscErrorCode TestBreadthFirst(PetscInt nsource)
{
  const PetscInt n = 400;
  Mat            A;
  PetscInt       first, last, source[130];
  PetscInt64    *level, *want, reached, farthest, again[2], all = 0, most = 0;
  PetscBool      fine = PETSC_TRUE;
  char           name[64];

  PetscFunctionBeginUser;
  PetscCall(Begin(n, n, 2, &A, &first, &last));
  for (PetscInt i = first; i < last; i++) {
    for (PetscInt k = 2; k < 4 && i % 7; k++) PetscCall(MatSetValue(A, i, (k * i + 1) % n, 1.0, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  for (PetscInt q = 0; q < nsource; q++) source[q] = q * 29 % n;
  PetscCall(PetscMalloc2(nsource * (last - first), &level, n, &want));
  PetscCall(MatBreadthFirst(A, nsource, source, level, &reached, &farthest));
  PetscCall(MatBreadthFirst(A, nsource, source, NULL, &again[0], &again[1]));
  for (PetscInt q = 0; q < nsource; q++) {
    PetscBool more = PETSC_TRUE;

    for (PetscInt v = 0; v < n; v++) want[v] = v == source[q] ? 0 : -1;
    for (PetscInt64 now = 0; more; now++) {
      more = PETSC_FALSE;
      for (PetscInt v = 0; v < n; v++) {
        for (PetscInt k = 2; k < 4 && v % 7 && want[v] == now; k++) {
          if (want[(k * v + 1) % n] >= 0) continue;
          want[(k * v + 1) % n] = now + 1;
          more                  = PETSC_TRUE;
        }
      }
    }
    for (PetscInt v = 0; v < n; v++) {
      all += want[v] >= 0;
      most = PetscMax(most, want[v]);
      if (v >= first && v < last) fine = (PetscBool)(fine && level[q * (last - first) + v - first] == want[v]);
    }
  }
  PetscCall(PetscSNPrintf(name, sizeof(name), "levels from %d sources", (int)nsource));
  PetscCall(Check(name, fine));
  PetscCall(PetscSNPrintf(name, sizeof(name), "vertices that %d sources reach", (int)nsource));
  PetscCall(Check(name, (PetscBool)(reached == all && farthest == most && again[0] == all && again[1] == most)));
  PetscCall(PetscFree2(level, want));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Count(PetscInt iteration, PetscReal chaos, void *context)
{
  PetscInt *count = (PetscInt *)context;

  PetscFunctionBeginUser;
  *count = iteration == *count + 1 && chaos >= 0 ? iteration : -1000;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cliques of ten vertices, each with an edge to the next one, fall apart; with keep = 6 the rows of the product are cut to their largest entries */
static PetscErrorCode TestMarkov(PetscInt keep, PetscReal batch)
{
  const PetscInt n = 90;
  Mat            M;
  PetscInt       first, last, iterations, seen = 0;
  PetscReal      chaos;
  PetscBool      fine = PETSC_TRUE;
  char           name[64];

  PetscFunctionBeginUser;
  PetscCall(Begin(n, n, 12, &M, &first, &last));
  for (PetscInt i = first; i < last; i++) {
    const PetscReal ends = (i % 10 == 9 && i < n - 1) || (i % 10 == 0 && i) ? 11 : 10;

    for (PetscInt j = 0; j < n; j++) {
      if (i / 10 == j / 10 || (PetscAbs(i - j) == 1)) PetscCall(MatSetValue(M, i, j, 1 / ends, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(M, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(M, MAT_FINAL_ASSEMBLY));
  PetscCall(MatMarkovCluster(&M, 2, 1e-4, keep, batch, 1e-5, 100, Count, &seen, &iterations, &chaos));
  PetscCall(MatGetOwnershipRange(M, &first, &last));
  for (PetscInt i = first; i < last; i++) {
    PetscInt        length;
    const PetscInt *j;

    PetscCall(MatGetRow(M, i, &length, &j, NULL));
    fine = (PetscBool)(fine && length && length <= keep && j[0] / 10 == i / 10 && j[length - 1] / 10 == i / 10);
    PetscCall(MatRestoreRow(M, i, &length, &j, NULL));
  }
  PetscCall(PetscSNPrintf(name, sizeof(name), "clusters, %d entries, batches of %g", (int)keep, (double)batch));
  PetscCall(Check(name, (PetscBool)(fine && chaos <= 1e-5 && iterations == seen && seen > 1 && seen < 100)));
  PetscCall(MatDestroy(&M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestTop(PetscInt k)
{
  const PetscInt n = 50;
  PetscInt       got, index[60], first, last;
  PetscReal      value[60], a[50];
  Vec            x;
  PetscBool      fine;
  char           name[64];

  PetscFunctionBeginUser;
  PetscCall(VecCreate(PETSC_COMM_WORLD, &x));
  PetscCall(VecSetSizes(x, PETSC_DECIDE, n));
  PetscCall(VecSetType(x, VECSTANDARD));
  PetscCall(VecGetOwnershipRange(x, &first, &last));
  for (PetscInt i = 0; i < n; i++) {
    a[i] = (PetscReal)(i * 29 % 13) - 5;
    if (i >= first && i < last) PetscCall(VecSetValue(x, i, a[i], INSERT_VALUES));
  }
  PetscCall(VecAssemblyBegin(x));
  PetscCall(VecAssemblyEnd(x));
  PetscCall(VecGetTop(x, k, &got, index, value));
  fine = (PetscBool)(got == PetscMin(k, n));
  for (PetscInt p = 0; fine && p < got; p++) {
    PetscInt before = 0;

    for (PetscInt i = 0; i < n; i++) before += a[i] > a[index[p]] || (a[i] == a[index[p]] && i < index[p]);
    fine = (PetscBool)(before == p && value[p] == a[index[p]]);
  }
  PetscCall(PetscSNPrintf(name, sizeof(name), "the %d greatest entries", (int)k));
  PetscCall(Check(name, fine));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries of a vector: few different ones with zeros of both signs, the same everywhere, numbers of all sizes, or numbers that are none among others */
typedef enum {
  TOP_FEW,
  TOP_SAME,
  TOP_WIDE,
  TOP_ODD,
  TOP_KINDS
} TopKind;

static PetscReal TopEntry(TopKind kind, PetscInt i)
{
  const PetscReal odd[] = {(PetscReal)NAN, (PetscReal)INFINITY, -(PetscReal)INFINITY, -0.0, 0.0, (PetscReal)0x1p-140, (PetscReal)0x1p-1060, -PETSC_MAX_REAL, PETSC_MAX_REAL, 1};
  const unsigned  h     = ((unsigned)i + 1) * 2654435761u;

  switch (kind) {
  case TOP_FEW:
    return (h >> 9) % 7 == 0 ? -0.0 : (PetscReal)((int)((h >> 13) % 5) - 3);
  case TOP_SAME:
    return -2.5;
  case TOP_WIDE:
    return (h & 1 ? 1 : -1) * PetscPowReal(2, (PetscReal)((int)((h >> 8) % 200) - 100)) * (1 + (PetscReal)(h >> 16) / 65536);
  default:
    return odd[(h >> 11) % PETSC_STATIC_ARRAY_LENGTH(odd)];
  }
}

/* The entries of a vector of a matrix, which are on a GPU if there is one, against those of a vector on the host, bit for bit */
static PetscErrorCode TestTopWhere(PetscInt n, const char share[], PetscInt k, TopKind kind)
{
  Mat              A;
  Vec              x, host;
  PetscInt         first, last, got[2], *index[2];
  PetscReal       *value[2];
  PetscOffloadMask mask[2];
  PetscBool        fine, same[2];
  char             name[64];

  PetscFunctionBeginUser;
  PetscCall(Begin(n, n, 1, &A, &first, &last));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(A, &x, NULL));
  PetscCall(VecCreate(PETSC_COMM_WORLD, &host));
  PetscCall(VecSetSizes(host, last - first, n));
  PetscCall(VecSetType(host, VECSTANDARD));
  PetscCall(PetscMalloc4(k, &index[0], k, &index[1], k, &value[0], k, &value[1]));
  for (PetscInt i = first; i < last; i++) {
    PetscCall(VecSetValue(x, i, -TopEntry(kind, i), INSERT_VALUES));
    PetscCall(VecSetValue(host, i, TopEntry(kind, i), INSERT_VALUES));
  }
  PetscCall(VecAssemblyBegin(x));
  PetscCall(VecAssemblyEnd(x));
  PetscCall(VecAssemblyBegin(host));
  PetscCall(VecAssemblyEnd(host));
  PetscCall(VecScale(x, -1.0));
  PetscCall(VecGetOffloadMask(x, &mask[0]));
  PetscCall(VecGetTop(x, k, &got[0], index[0], value[0]));
  PetscCall(VecGetOffloadMask(x, &mask[1]));
  PetscCall(VecGetTop(host, k, &got[1], index[1], value[1]));
  fine = (PetscBool)(got[0] == PetscMin(k, n) && got[0] == got[1] && (k > (last - first) / 2 || mask[0] == mask[1])); /* few entries do not cost a copy of the vector */
  if (fine) {
    PetscCall(PetscMemcmp(index[0], index[1], (size_t)got[0] * sizeof(PetscInt), &same[0]));
    for (PetscInt q = 0; q < got[0]; q++) { /* the bits of a NaN are another matter */
      if (PetscIsNanReal(value[0][q]) && PetscIsNanReal(value[1][q])) value[0][q] = value[1][q] = 0;
    }
    PetscCall(PetscMemcmp(value[0], value[1], (size_t)got[0] * sizeof(PetscReal), &same[1]));
    fine = (PetscBool)(same[0] && same[1]);
  }
  PetscCall(PetscSNPrintf(name, sizeof(name), "the %s (%d) greatest of %d entries, kind %d", share, (int)k, (int)n, (int)kind));
  PetscCall(Check(name, fine));
  PetscCall(PetscFree4(index[0], index[1], value[0], value[1]));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&host));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestTops(void)
{
  const PetscInt size[] = {1, 2, 60, 3000, 100000};

  PetscFunctionBeginUser;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(size); s++) {
    for (int kind = 0; kind < TOP_KINDS; kind++) {
      PetscCall(TestTopWhere(size[s], "one", 1, (TopKind)kind));
      PetscCall(TestTopWhere(size[s], "ten", 10, (TopKind)kind));
      PetscCall(TestTopWhere(size[s], "sixth", size[s] / 6 + 1, (TopKind)kind));
      PetscCall(TestTopWhere(size[s], "all", size[s], (TopKind)kind));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vectors with other sums, against the same by PETSc's operations; where: every third entry alone is changed */
static PetscErrorCode TestToSum(Mat A, PetscBool where)
{
  Vec         x, z, w                = NULL, y;
  PetscReal   change, wanted, weight = 0;
  PetscScalar sum;
  PetscInt    first, last, n;
  PetscBool   zero, fine;
  char        name[64];

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, NULL));
  PetscCall(VecDuplicate(x, &z));
  PetscCall(VecDuplicate(x, &w));
  PetscCall(VecGetSize(x, &n));
  PetscCall(VecGetOwnershipRange(x, &first, &last));
  for (PetscInt i = first; i < last; i++) {
    PetscCall(VecSetValue(x, i, (PetscScalar)(i % 11) / 4, INSERT_VALUES));
    PetscCall(VecSetValue(z, i, (PetscScalar)(i % 7) / 8 - 1, INSERT_VALUES));
    PetscCall(VecSetValue(w, i, !where || i % 3 == 0 ? 1 : 0, INSERT_VALUES));
  }
  PetscCall(VecAssemblyBegin(x));
  PetscCall(VecAssemblyEnd(x));
  PetscCall(VecAssemblyBegin(z));
  PetscCall(VecAssemblyEnd(z));
  PetscCall(VecAssemblyBegin(w));
  PetscCall(VecAssemblyEnd(w));
  for (PetscInt i = 0; i < n; i++) weight += !where || i % 3 == 0;
  PetscCall(VecDuplicate(z, &y));
  for (int scale = 0; scale < 2; scale++) {
    PetscCall(VecCopy(z, y));
    PetscCall(VecSum(y, &sum));
    if (scale) PetscCall(VecScale(y, (PetscScalar)2.5 / sum));
    else PetscCall(VecAXPY(y, ((PetscScalar)2.5 - sum) / weight, w));
    if (scale) PetscCall(VecScaleToSum(z, 2.5, x, &change, &zero));
    else PetscCall(VecShiftToSum(z, where ? w : NULL, weight, 2.5, x, &change));
    PetscCall(VecAXPY(y, -1.0, z));
    PetscCall(VecNorm(y, NORM_INFINITY, &wanted));
    fine = (PetscBool)(wanted <= 100 * PETSC_MACHINE_EPSILON);
    PetscCall(VecWAXPY(y, -1.0, z, x));
    PetscCall(VecNorm(y, NORM_1, &wanted));
    fine = (PetscBool)(fine && PetscAbsReal(wanted - change) <= (n + 10) * PETSC_MACHINE_EPSILON * wanted);
    PetscCall(VecSum(z, &sum));
    fine = (PetscBool)(fine && PetscAbsScalar(sum - (PetscScalar)2.5) <= 10 * (n + 10) * PETSC_MACHINE_EPSILON && !(scale && zero));
    PetscCall(PetscSNPrintf(name, sizeof(name), "%s to a sum, %d entries%s", scale ? "scaled" : "shifted", (int)n, where ? ", some of them" : ""));
    PetscCall(Check(name, fine));
  }
  PetscCall(VecSet(z, 0.0));
  PetscCall(VecScaleToSum(z, 1.0, NULL, &change, &zero));
  PetscCall(VecNorm(z, NORM_1, &wanted));
  PetscCall(PetscSNPrintf(name, sizeof(name), "a sum of 0 cannot be scaled, %d entries%s", (int)n, where ? ", some of them" : ""));
  PetscCall(Check(name, (PetscBool)(zero && wanted == 0 && change == 0)));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The bitonic deal against positions by counting: rows before this one by length, and by number among equals */
static PetscErrorCode TestBitonic(PetscInt n, PetscInt parts)
{
  Mat             A;
  MatPartitioning partitioning;
  IS              owner, whole;
  PetscInt       *length, rows[2] = {PETSC_MAX_INT, 0};
  const PetscInt *deal;
  PetscBool       fine = PETSC_TRUE;
  char            name[64];

  PetscFunctionBeginUser;
  PetscCall(Make(1, n, n, &A));
  PetscCall(PetscCalloc1(n, &length));
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt j = 0; j < n; j++) length[i] += Entry(1, i, j) != 0;
  }
  PetscCall(MatPartitioningCreate(PETSC_COMM_WORLD, &partitioning));
  PetscCall(MatPartitioningSetAdjacency(partitioning, A));
  PetscCall(MatPartitioningSetType(partitioning, MATPARTITIONINGBITONIC));
  PetscCall(MatPartitioningSetNParts(partitioning, parts));
  PetscCall(MatPartitioningApply(partitioning, &owner));
  PetscCall(ISAllGather(owner, &whole));
  PetscCall(ISGetIndices(whole, &deal));
  for (PetscInt i = 0; i < n; i++) {
    PetscInt position = 0;

    for (PetscInt k = 0; k < n; k++) position += length[k] > length[i] || (length[k] == length[i] && k < i);
    fine = (PetscBool)(fine && deal[i] == (position / parts % 2 ? parts - 1 - position % parts : position % parts));
  }
  for (PetscInt p = 0; p < parts; p++) {
    PetscInt mine = 0;

    for (PetscInt i = 0; i < n; i++) mine += deal[i] == p;
    rows[0] = PetscMin(rows[0], mine);
    rows[1] = PetscMax(rows[1], mine);
  }
  PetscCall(PetscSNPrintf(name, sizeof(name), "the bitonic deal of %d rows to %d parts", (int)n, (int)parts));
  PetscCall(Check(name, (PetscBool)(fine && rows[1] - rows[0] <= 1)));
  PetscCall(ISRestoreIndices(whole, &deal));
  PetscCall(ISDestroy(&whole));
  PetscCall(ISDestroy(&owner));
  PetscCall(MatPartitioningDestroy(&partitioning));
  PetscCall(PetscFree(length));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestErrors(void)
{
  Mat            A, B;
  PetscLogDouble sum;
  PetscErrorCode prune, size, dense, square, source, chaos;
  PetscInt64     count[2];
  PetscInt       far = 9, iterations;
  PetscReal      rest;
  Mat            C;

  PetscFunctionBeginUser;
  PetscCall(Make(8, 6, 9, &A));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 6, 9, NULL, &B));
  PetscCall(Make(8, 9, 9, &C));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  prune  = MatPruneRows(A, 0, 0, NULL);
  size   = MatMatMultMaskSum(A, A, A, &sum);
  dense  = MatPowEntries(B, 1);
  square = MatCountTriangles(A, count);
  source = MatBreadthFirst(C, 1, &far, NULL, &count[0], &count[1]);
  chaos  = MatMarkovCluster(&C, 1, 0, 1, 1, 0, 1, NULL, NULL, &iterations, &rest);
  PetscCall(PetscPopErrorHandler());
  PetscCall(Check("errors: no entries to keep, sizes that do not fit, a dense matrix", (PetscBool)(prune == PETSC_ERR_ARG_OUTOFRANGE && size == PETSC_ERR_ARG_SIZ && dense == PETSC_ERR_SUP)));
  PetscCall(Check("errors: a graph that is not square, a source that is no row, no inflation", (PetscBool)(square == PETSC_ERR_ARG_SIZ && source == PETSC_ERR_ARG_OUTOFRANGE && chaos == PETSC_ERR_ARG_OUTOFRANGE)));
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscAMBInitializePackage());
  PetscCall(TestMaskSum());
  PetscCall(TestMaskSumOnes());
  PetscCall(TestPrune(0, 1000));
  PetscCall(TestPrune(2, 1000));
  PetscCall(TestPrune(9, 1000));
  PetscCall(TestPrune(0, 1));
  PetscCall(TestPrune(0, 4));
  PetscCall(TestPrune(2, 3));
  PetscCall(TestPower(0));
  PetscCall(TestPower(1));
  PetscCall(TestPower(2));
  PetscCall(TestPower(1.5));
  PetscCall(TestMasks());
  PetscCall(TestMaskBits());
  PetscCall(TestOrient());
  PetscCall(TestTranspose());
  PetscCall(TestPermutations());
  PetscCall(TestNoPermutation());
  PetscCall(TestOr(PETSC_FALSE));
  PetscCall(TestOr(PETSC_TRUE));
  PetscCall(TestTriangles(1));
  PetscCall(TestTriangles(37));
  PetscCall(TestTriangles(601)); /* rows of more than 128 entries */
  PetscCall(TestBreadthFirst(1));
  PetscCall(TestBreadthFirst(64));
  PetscCall(TestBreadthFirst(130));
  PetscCall(TestMarkov(1000, 1e6));
  PetscCall(TestMarkov(1000, 500));
  PetscCall(TestMarkov(6, 1e6));
  PetscCall(TestTop(0));
  PetscCall(TestTop(1));
  PetscCall(TestTop(7));
  PetscCall(TestTop(60));
  PetscCall(TestTops());
  for (PetscInt n = 1; n < 5000; n = 17 * n + 60) {
    Mat A;

    PetscCall(Make(3, n, n, &A));
    PetscCall(TestToSum(A, PETSC_FALSE));
    PetscCall(TestToSum(A, PETSC_TRUE));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(TestBitonic(60, 4));
  PetscCall(TestBitonic(33, 7));
  PetscCall(TestBitonic(5, 1));
  PetscCall(TestErrors());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    requires: !complex
    nsize: {{1 2 3}}
    args: -mat_type {{aij @types-tilecomposite}}
    checks: 219

  test:
    requires: !complex
    suffix: threads
    nsize: 2
    env: OMP_NUM_THREADS=3
    args: -mat_type {{aij amb}} -malloc_dump
    checks: 219

TEST*/
