/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "MatSOR() of petsc-amb beside PETSc's: sweeps, factors, shifts, guesses, new values and patterns, duplicates, zeros on the diagonal, the same bits. By color: beside a sweep that takes one row after the other.\n";

#include "../testutil.h"

static PetscScalar ValueBlocks(PetscInt i, PetscInt j)
{
  return i == j ? 8.0 : 0.5 * TestReal(PetscMin(i, j), PetscMax(i, j));
}

static PetscScalar ValueZero(PetscInt i, PetscInt j)
{
  return i == j && i == 70 ? 0.0 : TestValueConvection(i, j);
}

static PetscScalar ValueNodes(PetscInt i, PetscInt j)
{
  return i == j ? 30.0 : 0.5 * TestReal(i, j);
}

static PetscInt RowChain(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  PetscInt n = 0;

  for (PetscInt k = PetscMax(i - 1, 0); k < PetscMin(i + 2, N); k++) cols[n++] = k;
  return n;
}

static const TestShape grid   = {"grid", 4096, 4096, TestRowGrid, TestValueConvection, PETSC_FALSE};
static const TestShape blocks = {"blocks", 999, 999, TestRowBlocks, ValueBlocks, PETSC_FALSE};
static const TestShape far    = {"far", 70000, 70000, TestRowFar, TestValueConvection, PETSC_FALSE};
static const TestShape nodes  = {"nodes", 3000, 3000, TestRowNodes, ValueNodes, PETSC_FALSE};
static const TestShape apart  = {"nodes far apart", 72000, 72000, TestRowNodesFar, ValueNodes, PETSC_FALSE};
static const TestShape chain  = {"chain", 1000, 1000, RowChain, TestValueConvection, PETSC_FALSE};
static const TestShape zero   = {"zero", 400, 400, TestRowGrid, ValueZero, PETSC_FALSE};

#define SWEEPS 125 /* after some of them petsc-amb has its layout */

static PetscErrorCode Install(Mat A)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetType(pc, PCSOR));
  PetscCall(PCSetUp(pc));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A pair of matrices, of which the set-up of PCSOR gives the first one MatSOR() of petsc-amb */
static PetscErrorCode Begin(const TestShape *shape, Mat *A, Mat *R)
{
  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(shape, A, R));
  PetscCall(MatShadowSetSOR(*A, MAT_SHADOW_SOR_NATURAL));
  PetscCall(Install(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(TestDiff *d, Mat A, Mat R, PetscReal omega, int type, PetscReal shift, PetscInt its, PetscInt sweeps, PetscBool bits)
{
  Vec x, b, y, c;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(MatCreateVecs(R, &y, &c));
  PetscCall(TestVecSet(b, 3));
  PetscCall(TestVecSet(c, 3));
  PetscCall(TestVecSet(y, 4));
  PetscCall(MatSOR(R, c, omega, (MatSORType)type, shift, its, 1, y));
  for (PetscInt k = 0; k < sweeps; k++) {
    PetscCall(TestVecSet(x, 4)); /* a guess of zero must not read it */
    PetscCall(MatSOR(A, b, omega, (MatSORType)type, shift, its, 1, x));
    if (k % 124 == 0) PetscCall(TestDiffVec(d, "MatSOR", x, y, NULL));
  }
  if (bits) {
    PetscBool same;

    PetscCall(VecEqual(x, y, &same));
    TestExpect(d, "other bits than PETSc's", same);
  }
  PetscCall(TestDestroy(&x, &b, &y, &c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Can bits be compared? Not on several processes, whose products have other sums, not on a GPU, whose vectors differ in type, and not if PETSc's compiler fused a multiplication with a subtraction: b - v x keeps the low digits then. */
static PetscErrorCode HasBits(Mat A, PetscBool *bits)
{
  const PetscScalar    v = 1 + 3 * PETSC_MACHINE_EPSILON, x = 1 + 5 * PETSC_MACHINE_EPSILON;
  volatile PetscScalar product = v * x;
  PetscScalar         *a;
  PetscBool            device;
  PetscMPIInt          nproc;
  Mat                  B;
  Vec                  b, y;

  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 2, 2, 2, NULL, &B));
  PetscCall(MatSetValue(B, 0, 0, 1.0, INSERT_VALUES));
  PetscCall(MatSetValue(B, 1, 0, v, INSERT_VALUES));
  PetscCall(MatSetValue(B, 1, 1, 1.0, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(B, &y, &b));
  PetscCall(VecGetArrayWrite(b, &a));
  a[0] = x;
  a[1] = product;
  PetscCall(VecRestoreArrayWrite(b, &a));
  PetscCall(MatSOR(B, b, 1.0, (MatSORType)(SOR_FORWARD_SWEEP | SOR_ZERO_INITIAL_GUESS), 0.0, 1, 1, y));
  PetscCall(VecGetArray(y, &a));
  *bits = (PetscBool)(a[1] == 0.0);
  PetscCall(VecRestoreArray(y, &a));
  PetscCall(TestDestroy(&b, &y, &B));
  PetscCall(TestOnDevice(A, &device));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &nproc));
  if (device || nproc > 1) *bits = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const int types[] = {SOR_LOCAL_SYMMETRIC_SWEEP, SOR_LOCAL_FORWARD_SWEEP, SOR_LOCAL_BACKWARD_SWEEP};

static PetscErrorCode Sweeps(TestDiff *d)
{
  static const TestShape *const shapes[] = {&grid, &blocks, &far, &chain, &nodes, &apart};

  PetscFunctionBeginUser;
  for (int s = 0; s < 6; s++) {
    PetscBool bits = PETSC_FALSE;
    Mat       A, R;

    PetscCall(Begin(shapes[s], &A, &R));
    PetscCall(HasBits(A, &bits));
    for (int t = 0; t < 3; t++) {
      for (int k = 0; k < 3; k++) {
        const PetscReal omega = k == 1 ? 1.3 : 1, shift = k == 2 ? 0.2 : 0;

        PetscCall(Compare(d, A, R, omega, types[t] | SOR_ZERO_INITIAL_GUESS, shift, 1, t || k ? 2 : SWEEPS, bits));
        PetscCall(Compare(d, A, R, omega, types[t], shift, 1, 1, bits));
        PetscCall(Compare(d, A, R, omega, types[t] | SOR_ZERO_INITIAL_GUESS, shift, 2, 1, bits));
      }
    }
    PetscCall(TestDestroy(&A, &R));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values, a new pattern, a duplicate, and a matrix that becomes a MATAIJ */
static PetscErrorCode Changed(TestDiff *d, const TestShape *shape)
{
  const int symmetric = SOR_LOCAL_SYMMETRIC_SWEEP | SOR_ZERO_INITIAL_GUESS;
  PetscInt  begin, end, rows;
  Mat       A, R, B;

  PetscFunctionBeginUser;
  PetscCall(Begin(shape, &A, &R));
  PetscCall(Compare(d, A, R, 1, symmetric, 0, 1, SWEEPS, PETSC_FALSE));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatShift(A, 0.5));
    PetscCall(MatShift(R, 0.5));
    PetscCall(Compare(d, A, R, 1, symmetric, 0, 1, k ? SWEEPS : 2, PETSC_FALSE));
  }
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(Compare(d, B, R, 1, symmetric, 0, 1, 2, PETSC_FALSE));
  PetscCall(MatDestroy(&B));
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  PetscCall(MatGetSize(A, &rows, NULL));
  for (int k = 0; k < 2; k++) {
    Mat M = k ? R : A;

    PetscCall(MatSetOption(M, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    if (end - begin > 9) PetscCall(MatSetValue(M, begin + 8, begin + 2, 0.25, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(M, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(M, MAT_FINAL_ASSEMBLY));
  }
  PetscCall(Compare(d, A, R, 1, symmetric, 0, 1, SWEEPS, PETSC_FALSE));
  PetscCall(MatConvert(A, MATAIJ, MAT_INPLACE_MATRIX, &A));
  PetscCall(Compare(d, A, R, 1, symmetric, 0, 1, SWEEPS, PETSC_FALSE));
  PetscCall(TestDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Changes(TestDiff *d)
{
  PetscFunctionBeginUser;
  PetscCall(Changed(d, &grid));
  PetscCall(Changed(d, &nodes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A diagonal block of a node becomes singular after the layout: no sweep is finite, as in PETSc */
static PetscErrorCode ZeroNode(TestDiff *d)
{
  const MatSORType  forward = (MatSORType)(SOR_LOCAL_FORWARD_SWEEP | SOR_ZERO_INITIAL_GUESS);
  const PetscInt    rows[]  = {1, 2};
  const PetscScalar ones[]  = {1, 1, 1, 1};
  PetscReal         norm;
  PetscInt          n;
  PetscBool         device;
  Mat               A, R;
  Vec               x, b;

  PetscFunctionBeginUser;
  PetscCall(Begin(&nodes, &A, &R));
  PetscCall(Compare(d, A, R, 1, (int)forward, 0, 1, SWEEPS, PETSC_FALSE));
  PetscCall(TestOnDevice(A, &device));
  PetscCall(MatInodeGetInodeSizes(A, &n, NULL, NULL));
  PetscCall(MatSetValues(A, 2, rows, 2, rows, ones, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(TestVecSet(b, 3));
  for (int k = 0; k < 45 && n > 0 && !device; k++) {
    PetscCall(MatSOR(A, b, 1.0, forward, 0.0, 1, 1, x));
    PetscCall(VecNorm(x, NORM_1, &norm));
    TestExpect(d, "a sweep with a singular block is finite", PetscIsInfOrNanReal(norm));
  }
  PetscCall(TestDestroy(&x, &b, &A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc raises an error for a zero on the diagonal, and a shift removes it */
static PetscErrorCode Zero(TestDiff *d)
{
  const MatSORType forward = (MatSORType)(SOR_LOCAL_FORWARD_SWEEP | SOR_ZERO_INITIAL_GUESS);
  PetscMPIInt      nproc;
  Mat              A, R;
  Vec              x, b;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &nproc));
  PetscCall(Begin(&zero, &A, &R));
  PetscCall(Compare(d, A, R, 1, (int)forward, 0.5, 1, SWEEPS, PETSC_FALSE));
  if (nproc == 1) {
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(TestVecSet(b, 3));
    TestExpectError(d, PETSC_ERR_ARG_INCOMP, "Zero diagonal on row 70", MatSOR(A, b, 1.0, forward, 0.0, 1, 1, x));
    PetscCall(TestDestroy(&x, &b));
    PetscCall(ZeroNode(d));
  }
  PetscCall(TestDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- by color ------------------------------------------------- */

/* Nodes of bs rows on a grid of 13 columns, with neighbours within `reach`; with one, every seventh node has no entry for the node before it. All rows are on the last process if last. */
typedef struct {
  const char *name;
  PetscInt    nodes, bs, reach;
  PetscBool   one, last, cross;
  PetscInt    colors; /* on one process */
} Grid;

#define WIDTH 13

static PetscScalar ValueGrid(PetscInt i, PetscInt j, PetscReal factor)
{
  return i == j ? factor * 9 : factor * (0.3 + 0.2 * PetscSinReal((PetscReal)(3 * i + 5 * j)));
}

static PetscErrorCode GridSetValues(const Grid *g, PetscReal factor, Mat A)
{
  PetscInt begin, end;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt i = begin; i < end; i++) {
    const PetscInt node = i / g->bs, x = node % WIDTH, y = node / WIDTH;

    for (PetscInt dy = -g->reach; dy <= g->reach; dy++) {
      for (PetscInt dx = -g->reach; dx <= g->reach; dx++) {
        const PetscInt other = node + dy * WIDTH + dx;

        if (x + dx < 0 || x + dx >= WIDTH || y + dy < 0 || other >= g->nodes || (g->cross && dx && dy)) continue;
        if (g->one && node % 7 == 3 && other == node - 1) continue;
        for (PetscInt k = 0; k < g->bs; k++) PetscCall(MatSetValue(A, i, other * g->bs + k, ValueGrid(i, other * g->bs + k, factor), INSERT_VALUES));
      }
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GridCreate(const Grid *g, PetscReal factor, Mat *A)
{
  const PetscInt most = (2 * g->reach + 1) * (2 * g->reach + 1) * g->bs;
  PetscMPIInt    rank, nproc;
  PetscInt       m;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &nproc));
  m = g->last ? (rank == nproc - 1 ? g->nodes : 0) : g->nodes / nproc + (rank < g->nodes % nproc);
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, m * g->bs, m * g->bs, g->nodes * g->bs, g->nodes * g->bs));
  PetscCall(MatSetBlockSize(*A, g->bs));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, most, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, most, NULL, most, NULL));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(GridSetValues(g, factor, *A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Colors the nodes of a sequential matrix */
static PetscErrorCode GridColor(Mat D, PetscInt bs, PetscInt n, PetscInt color[], PetscInt *colors)
{
  PetscBool *near;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1(n * n, &near));
  for (PetscInt i = 0; i < n * bs; i++) {
    const PetscInt *cols;
    PetscInt        length;

    PetscCall(MatGetRow(D, i, &length, &cols, NULL));
    for (PetscInt k = 0; k < length; k++) near[i / bs * n + cols[k] / bs] = near[cols[k] / bs * n + i / bs] = PETSC_TRUE;
    PetscCall(MatRestoreRow(D, i, &length, &cols, NULL));
  }
  *colors = 0;
  for (PetscInt v = 0; v < n; v++) {
    PetscBool again = PETSC_TRUE;

    for (color[v] = -1; again;) {
      color[v]++;
      again = PETSC_FALSE;
      for (PetscInt u = 0; u < v; u++) {
        if (near[v * n + u] && color[u] == color[v]) again = PETSC_TRUE;
      }
    }
    *colors = PetscMax(*colors, color[v] + 1);
  }
  PetscCall(PetscFree(near));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves a small system by Gauss with pivots */
static void GridSolve(PetscInt n, PetscScalar A[], PetscScalar x[])
{
  for (PetscInt c = 0; c < n; c++) {
    for (PetscInt r = c + 1; r < n; r++) {
      const PetscScalar f = A[r * n + c] / A[c * n + c];

      for (PetscInt k = c; k < n; k++) A[r * n + k] -= f * A[c * n + k];
      x[r] -= f * x[c];
    }
  }
  for (PetscInt r = n - 1; r >= 0; r--) {
    for (PetscInt k = r + 1; k < n; k++) x[r] -= A[r * n + k] * x[k];
    x[r] /= A[r * n + r];
  }
}

/* A node after the other: x = (1 - omega) x + omega D^-1 (b - the rest of A x) */
static PetscErrorCode GridNode(Mat D, PetscInt bs, PetscInt v, PetscReal omega, PetscReal shift, const PetscScalar b[], PetscScalar x[])
{
  PetscScalar block[64] = {0}, sum[8];

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < bs; r++) {
    const PetscScalar *vals;
    const PetscInt    *cols;
    PetscInt           length;

    sum[r] = b[v * bs + r];
    PetscCall(MatGetRow(D, v * bs + r, &length, &cols, &vals));
    for (PetscInt k = 0; k < length; k++) {
      if (cols[k] / bs == v) block[r * bs + cols[k] % bs] = vals[k];
      else sum[r] -= vals[k] * x[cols[k]];
    }
    PetscCall(MatRestoreRow(D, v * bs + r, &length, &cols, &vals));
    block[r * bs + r] += shift;
  }
  GridSolve(bs, block, sum);
  for (PetscInt r = 0; r < bs; r++) x[v * bs + r] = (1 - omega) * x[v * bs + r] + omega * sum[r];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What MatSOR() is to compute, with rows by color on each process */
static PetscErrorCode GridSOR(const Grid *g, Mat R, Vec b, PetscReal omega, int type, PetscReal shift, PetscInt its, PetscInt lits, Vec x, PetscInt *colors)
{
  const PetscScalar *from;
  PetscScalar       *to;
  PetscInt           n, *color;
  Mat                D;
  Vec                rest, local, product;

  PetscFunctionBeginUser;
  PetscCall(MatGetDiagonalBlock(R, &D));
  PetscCall(MatGetLocalSize(D, &n, NULL));
  PetscCall(PetscMalloc1(n / g->bs + 1, &color));
  PetscCall(GridColor(D, g->bs, n / g->bs, color, colors));
  PetscCall(VecDuplicate(b, &rest));
  PetscCall(MatCreateVecs(D, &local, &product));
  if (type & SOR_ZERO_INITIAL_GUESS) PetscCall(VecSet(x, 0.0));
  for (PetscInt outer = 0; outer < its; outer++) {
    PetscCall(MatMult(R, x, rest)); /* rest = b less the products with other processes' entries */
    PetscCall(VecAYPX(rest, -1.0, b));
    PetscCall(VecGetArrayRead(x, &from));
    PetscCall(VecGetArrayWrite(local, &to));
    PetscCall(PetscArraycpy(to, from, n));
    PetscCall(VecRestoreArrayWrite(local, &to));
    PetscCall(VecRestoreArrayRead(x, &from));
    PetscCall(MatMult(D, local, product));
    PetscCall(VecGetArrayRead(product, &from));
    PetscCall(VecGetArray(rest, &to));
    for (PetscInt k = 0; k < n; k++) to[k] += from[k];
    PetscCall(VecRestoreArray(rest, &to));
    PetscCall(VecRestoreArrayRead(product, &from));
    PetscCall(VecGetArrayRead(rest, &from));
    PetscCall(VecGetArray(x, &to));
    for (PetscInt half = 0; half < 2 * lits; half++) {
      if (!(type & (half % 2 ? SOR_LOCAL_BACKWARD_SWEEP : SOR_LOCAL_FORWARD_SWEEP))) continue;
      for (PetscInt c = 0; c < *colors; c++) {
        for (PetscInt v = 0; v < n / g->bs; v++) {
          if (color[v] == (half % 2 ? *colors - 1 - c : c)) PetscCall(GridNode(D, g->bs, v, omega, shift, from, to));
        }
      }
    }
    PetscCall(VecRestoreArray(x, &to));
    PetscCall(VecRestoreArrayRead(rest, &from));
  }
  PetscCall(TestDestroy(&rest, &local, &product));
  PetscCall(PetscFree(color));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ColorsOf(const Grid *g, TestDiff *d, Mat A, Mat R)
{
  const PetscInt repeats[3][2] = {
    {1, 1},
    {1, 3},
    {2, 2}
  };
  PetscInt    colors = 0;
  PetscMPIInt nproc;
  Vec         x, b, y, c;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &nproc));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(MatCreateVecs(R, &y, &c));
  PetscCall(TestVecSet(b, 3));
  PetscCall(TestVecSet(c, 3));
  for (int t = 0; t < 3; t++) {
    for (int k = 0; k < 18; k++) {
      const PetscReal omega = k % 3 == 1 ? 1.3 : 1, shift = k % 3 == 2 ? 0.2 : 0;
      const PetscInt *times = repeats[k / 3 % 3];
      const int       type  = types[t] | (k < 9 ? SOR_ZERO_INITIAL_GUESS : 0);

      PetscCall(TestVecSet(x, 4));
      PetscCall(TestVecSet(y, 4));
      PetscCall(MatSOR(A, b, omega, (MatSORType)type, shift, times[0], times[1], x));
      PetscCall(GridSOR(g, R, c, omega, type, shift, nproc > 1 ? times[0] : 1, nproc > 1 ? times[1] : times[0] * times[1], y, &colors));
      PetscCall(TestDiffVec(d, g->name, x, y, NULL));
    }
  }
  if (nproc == 1) TestExpect(d, "another number of colors", (PetscBool)(colors == g->colors));
  PetscCall(TestDestroy(&x, &b, &y, &c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is the view of PCSOR that of rows by color? Processes without rows have none. */
static PetscErrorCode ColorsView(TestDiff *d, Mat A, const char line[])
{
  char        text[2000], path[PETSC_MAX_PATH_LEN];
  PetscViewer viewer;
  FILE       *file;
  PC          pc;
  Vec         x, b;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1.0));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetType(pc, PCSOR));
  PetscCall(PCApply(pc, b, x));
  PetscCall(TestTemporaryFile(path, sizeof(path)));
  PetscCall(PetscViewerASCIIOpen(PETSC_COMM_WORLD, path, &viewer));
  PetscCall(PCView(pc, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  file = fopen(path, "r");
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s", path);
  text[fread(text, 1, sizeof(text) - 1, file)] = 0;
  (void)fclose(file);
  PetscCall(TestRemoveFile(path));
  TestExpect(d, line, (PetscBool)(strstr(text, line) != NULL));
  PetscCall(TestDestroy(&pc, &x, &b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Colors(TestDiff *d)
{
  static const Grid grids[] = {
    {"5 points",            WIDTH * 11, 1, 1,  PETSC_FALSE, PETSC_FALSE, PETSC_TRUE,  2        },
    {"9 points",            WIDTH * 11, 1, 1,  PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, 4        },
    {"25 points",           WIDTH * 9,  1, 2,  PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, 9        },
    {"one-sided",           WIDTH * 7,  1, 1,  PETSC_TRUE,  PETSC_FALSE, PETSC_FALSE, 4        },
    {"diagonal",            50,         1, 0,  PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, 1        },
    {"dense",               WIDTH * 6,  1, 12, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, WIDTH * 6},
    {"blocks of 2",         WIDTH * 5,  2, 1,  PETSC_FALSE, PETSC_FALSE, PETSC_TRUE,  2        },
    {"blocks of 3",         WIDTH * 5,  3, 1,  PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, 4        },
    {"blocks of 4",         WIDTH * 3,  4, 1,  PETSC_TRUE,  PETSC_FALSE, PETSC_FALSE, 4        },
    {"one process has all", WIDTH * 3,  1, 1,  PETSC_FALSE, PETSC_TRUE,  PETSC_FALSE, 4        }
  };
  PetscMPIInt nproc;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &nproc));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(grids); k++) {
    const Grid *g      = &grids[k];
    PetscBool   wanted = PETSC_TRUE;
    PetscErrorCode (*setter)(Mat, MatShadowSOR);
    Mat A, R;

    PetscCall(GridCreate(g, 1, &A));
    PetscCall(PetscObjectQueryFunction((PetscObject)A, "MatShadowSetSOR_C", &setter));
    PetscCall(PetscOptionsGetBool(NULL, NULL, "-petscamb_for_sor", &wanted, NULL));
    if (setter && wanted) {
      PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &R));
      PetscCall(MatShadowSetSOR(A, MAT_SHADOW_SOR_COLOR));
      PetscCall(Install(A));
      PetscCall(ColorsOf(g, d, A, R));
      PetscCall(GridSetValues(g, 2, A));
      PetscCall(GridSetValues(g, 2, R));
      PetscCall(ColorsOf(g, d, A, R));
      if (nproc == 1) PetscCall(ColorsView(d, A, "rows by color"));
      PetscCall(MatDestroy(&R));
    }
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A zero on the diagonal raises PETSc's error */
static PetscErrorCode ColorsZero(TestDiff *d)
{
  const MatSORType forward = (MatSORType)(SOR_LOCAL_FORWARD_SWEEP | SOR_ZERO_INITIAL_GUESS);
  PetscMPIInt      nproc;
  Mat              A, R;
  Vec              x, b;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &nproc));
  PetscCall(Begin(&zero, &A, &R));
  PetscCall(MatShadowSetSOR(A, MAT_SHADOW_SOR_COLOR));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(TestVecSet(b, 3));
  PetscCall(MatSOR(A, b, 1.0, forward, 0.5, 1, 1, x));
  if (nproc == 1) TestExpectError(d, PETSC_ERR_ARG_INCOMP, "Zero diagonal on row 70", MatSOR(A, b, 1.0, forward, 0.0, 1, 1, x));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "MAT_SHADOW_SOR_AUTO", MatShadowSetSOR(A, (MatShadowSOR)3));
  PetscCall(TestDestroy(&x, &b, &A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCEISENSTAT after PCSOR, which has given the matrix its sweeps: all parts of Eisenstat's trick have one order of rows */
static PetscErrorCode Eisenstat(TestDiff *d)
{
  const TestShape *const shapes[] = {&grid, &blocks};
  const PCType           pcs[]    = {PCSOR, PCEISENSTAT, PCEISENSTAT, PCEISENSTAT};
  PetscMPIInt            size;
  KSPConvergedReason     reason;
  PetscReal              norm, err;
  KSP                    ksp;
  PC                     pc;
  Mat                    A;
  Vec                    b, x, r;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (int s = 0; s < 4 && size == 1; s++) { /* on several processes, PETSc's PCEISENSTAT calls an operation that MATMPIAIJ does not have */
    PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
    PetscCall(TestShapeSizes(shapes[s / 2], A));
    PetscCall(MatSetBlockSize(A, s > 2 ? 3 : 1));
    PetscCall(PetscOptionsSetValue(NULL, "-mat_shadow_sor", s % 2 ? "color" : "auto"));
    PetscCall(MatSetFromOptions(A));
    PetscCall(TestShapePreallocate(shapes[s / 2], A));
    if (s == 3) PetscCall(MatSetOption(A, MAT_USE_INODES, PETSC_FALSE)); /* blocks by color */
    PetscCall(TestShapeSetValues(shapes[s / 2], A, 1.0, INSERT_VALUES));
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(VecDuplicate(b, &r));
    PetscCall(TestVecSet(b, 2));
    for (int k = 0; k < 4; k++) {
      PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
      PetscCall(KSPSetOperators(ksp, A, A));
      PetscCall(KSPSetType(ksp, KSPGMRES));
      PetscCall(KSPSetTolerances(ksp, 1e3 * PETSC_SQRT_MACHINE_EPSILON, PETSC_DEFAULT, PETSC_DEFAULT, 400));
      PetscCall(KSPGetPC(ksp, &pc));
      PetscCall(PCSetType(pc, pcs[k]));
      if (k == 2) PetscCall(PCEisenstatSetOmega(pc, 1.2));
      if (k == 3) {
        PetscCall(TestVecSet(x, 5));
        PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
      }
      PetscCall(KSPSolve(ksp, b, x));
      PetscCall(KSPGetConvergedReason(ksp, &reason));
      PetscCall(MatMult(A, x, r));
      PetscCall(VecAYPX(r, -1.0, b));
      PetscCall(VecNorm(r, NORM_2, &err));
      PetscCall(VecNorm(b, NORM_2, &norm));
      TestExpect(d, "the solver does not converge", (PetscBool)(reason > 0));
      TestExpect(d, "the solution does not fit the system", (PetscBool)(err <= 1e5 * PETSC_SQRT_MACHINE_EPSILON * norm));
      PetscCall(KSPDestroy(&ksp));
    }
    PetscCall(TestDestroy(&A, &b, &x, &r));
  }
  PetscCall(PetscOptionsClearValue(NULL, "-mat_shadow_sor"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const TestCase tests[] = {
  {"sweeps",      Sweeps    },
  {"changes",     Changes   },
  {"zero",        Zero      },
  {"colors",      Colors    },
  {"colors zero", ColorsZero},
  {"eisenstat",   Eisenstat },
  {NULL,          NULL      }
};

int main(int argc, char **argv)
{
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(TestReferenceInodes(&zero));
  PetscCall(TestRun(tests));
  return TestFinalize();
}

/*TEST

  test:
    nsize: {{1 3}}
    args: -mat_type {{aij amb hashgemm}} -petscamb_for_sor {{true false}} -mat_shadow_tune off -options_left no
    checks: 6

TEST*/
