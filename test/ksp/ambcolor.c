/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "The ordering ambcolor: permutations, blocks that stay together, few levels, iterations beside the natural order.\n\
  -ambcolor_table : prints levels and iterations of twelve problems, with ILU(0) or ICC(0), in both orders\n\
  -ambcolor_sor_table : the same with symmetric sweeps of SOR in the natural order and by color, for -mat_type amb\n\
  -ambcolor_scale N : grids of N times as many points along each edge\n";

#include "../testutil.h"
#include "mat/aij/aij.h"
#include "mat/order/host/orderhost.h"

/* ------------------------------------------------- problems ------------------------------------------------- */

/* A coefficient of the face between two points, or the value of a jump in the middle of the domain */
typedef struct {
  const char *name;
  PetscInt    n[3]; /* points along each axis */
  PetscReal   jump; /* the coefficient in the middle half of the domain, 1 outside */
  PetscReal   axis[3];
  PetscReal   wind; /* upwind convection along a circle, over diffusion */
  PetscInt    bs;   /* 1: scalar; 2 or 3: elasticity; -3: Stokes in two dimensions with stabilized pressure */
  PetscReal   shift;
  PetscBool   symmetric;
} Problem;

static const Problem problems[] = {
  {"Poisson, 2D",             {64, 64, 1},  1,    {1, 1, 1},   0,   1,  0, PETSC_TRUE },
  {"Poisson, 3D",             {20, 20, 20}, 1,    {1, 1, 1},   0,   1,  0, PETSC_TRUE },
  {"jumps of 1e4, 2D",        {64, 64, 1},  1e4,  {1, 1, 1},   0,   1,  0, PETSC_TRUE },
  {"jumps of 1e-4, 3D",       {20, 20, 20}, 1e-4, {1, 1, 1},   0,   1,  0, PETSC_TRUE },
  {"anisotropic 1:100, 2D",   {64, 64, 1},  1,    {1, 100, 1}, 0,   1,  0, PETSC_TRUE },
  {"anisotropic 100:1, 2D",   {64, 64, 1},  1,    {100, 1, 1}, 0,   1,  0, PETSC_TRUE },
  {"anisotropic 1:1:100, 3D", {20, 20, 20}, 1,    {1, 1, 100}, 0,   1,  0, PETSC_TRUE },
  {"implicit time step, 3D",  {20, 20, 20}, 1,    {1, 1, 1},   0,   1,  1, PETSC_TRUE },
  {"convection, 2D",          {64, 64, 1},  1,    {1, 1, 1},   0.1, 1,  0, PETSC_FALSE},
  {"strong convection, 3D",   {20, 20, 20}, 1,    {1, 1, 1},   100, 1,  0, PETSC_FALSE},
  {"elasticity, 3D",          {10, 10, 10}, 1,    {1, 1, 1},   0,   3,  0, PETSC_TRUE },
  {"Stokes, stabilized, 2D",  {32, 32, 1},  1,    {1, 1, 1},   0,   -3, 0, PETSC_FALSE}
};

static PetscReal Coefficient(const Problem *p, const PetscInt n[3], const PetscInt x[3])
{
  for (int d = 0; d < 3; d++) {
    if (n[d] > 1 && (4 * x[d] < n[d] || 4 * x[d] >= 3 * n[d])) return 1;
  }
  return p->jump;
}

/* Adds a value to the entry of unknown r at the point x and unknown c at the point with this offset; outside all unknowns are zero */
static PetscErrorCode Add(Mat A, const PetscInt n[3], const PetscInt x[3], int dx, int dy, int dz, PetscInt bs, PetscInt r, PetscInt c, PetscReal v)
{
  const PetscInt y[3] = {x[0] + dx, x[1] + dy, x[2] + dz};

  PetscFunctionBeginUser;
  for (int d = 0; d < 3; d++) {
    if (y[d] < 0 || y[d] >= n[d]) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatSetValue(A, bs * (x[0] + n[0] * (x[1] + n[1] * x[2])) + r, bs * (y[0] + n[0] * (y[1] + n[1] * y[2])) + c, v, ADD_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* - div (k grad u) + shift u, with upwind convection along circles around the middle */
static PetscErrorCode AddDiffusion(Mat A, const Problem *p, const PetscInt n[3], const PetscInt x[3], PetscInt bs, PetscInt r, const PetscReal axis[3])
{
  const PetscReal k = Coefficient(p, n, x);

  PetscFunctionBeginUser;
  PetscCall(Add(A, n, x, 0, 0, 0, bs, r, r, p->shift));
  for (int d = 0; d < 3; d++) {
    const PetscReal along = d == 2 ? 0 : (d == 0 ? 1 : -1) * (2. * x[1 - d] / n[1 - d] - 1) * p->wind;

    if (n[d] == 1) continue;
    for (int side = -1; side <= 1; side += 2) {
      PetscInt  y[3] = {x[0], x[1], x[2]};
      PetscReal face, flow = PetscMax(-side * along, 0);

      y[d] += side;
      face = y[d] < 0 || y[d] >= n[d] ? k : 2 / (1 / k + 1 / Coefficient(p, n, y));
      face = face * axis[d] + flow;
      PetscCall(Add(A, n, x, 0, 0, 0, bs, r, r, face));
      PetscCall(Add(A, n, x, d == 0 ? side : 0, d == 1 ? side : 0, d == 2 ? side : 0, bs, r, r, -face));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* - grad div u by central differences, where the mixed derivatives couple the diagonal neighbours */
static PetscErrorCode AddMixed(Mat A, const PetscInt n[3], const PetscInt x[3])
{
  PetscFunctionBeginUser;
  for (int r = 0; r < 3; r++) {
    for (int c = 0; c < 3; c++) {
      if (r == c) continue;
      for (int s = -1; s <= 1; s += 2) {
        for (int t = -1; t <= 1; t += 2) PetscCall(Add(A, n, x, (r == 0) * s + (c == 0) * t, (r == 1) * s + (c == 1) * t, (r == 2) * s + (c == 2) * t, 3, r, c, -0.25 * s * t));
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Velocities u and v with the gradient of the pressure, its divergence, and a Laplacian of the pressure */
static PetscErrorCode AddStokes(Mat A, const Problem *p, const PetscInt n[3], const PetscInt x[3])
{
  const PetscReal weak[3] = {-0.1, -0.1, 0};

  PetscFunctionBeginUser;
  for (int d = 0; d < 2; d++) {
    PetscCall(AddDiffusion(A, p, n, x, 3, d, p->axis));
    for (int s = -1; s <= 1; s += 2) {
      PetscCall(Add(A, n, x, d == 0 ? s : 0, d == 1 ? s : 0, 0, 3, d, 2, 0.5 * s));
      PetscCall(Add(A, n, x, d == 0 ? s : 0, d == 1 ? s : 0, 0, 3, 2, d, -0.5 * s));
    }
  }
  PetscCall(AddDiffusion(A, p, n, x, 3, 2, weak));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(const Problem *p, PetscInt scale, const char prefix[], Mat *A)
{
  const PetscInt bs = PetscAbsInt(p->bs), n[3] = {p->n[0] * scale, p->n[1] * scale, p->n[2] > 1 ? p->n[2] * scale : 1}, rows = bs * n[0] * n[1] * n[2];
  PetscInt       x[3];

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, rows, rows, rows, rows));
  PetscCall(MatSetOptionsPrefix(*A, prefix));
  PetscCall(MatSetBlockSize(*A, bs));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatXAIJSetPreallocation(*A, bs, NULL, NULL, NULL, NULL));
  PetscCall(MatSeqAIJSetPreallocation(*A, p->bs == 3 ? 33 : bs * 7, NULL));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (x[2] = 0; x[2] < n[2]; x[2]++) {
    for (x[1] = 0; x[1] < n[1]; x[1]++) {
      for (x[0] = 0; x[0] < n[0]; x[0]++) {
        if (p->bs < 0) PetscCall(AddStokes(*A, p, n, x));
        else if (p->bs == 1) PetscCall(AddDiffusion(*A, p, n, x, 1, 0, p->axis));
        else {
          for (int r = 0; r < 3; r++) {
            const PetscReal axis[3] = {1. + (r == 0), 1. + (r == 1), 1. + (r == 2)};

            PetscCall(AddDiffusion(*A, p, n, x, 3, r, axis));
          }
          PetscCall(AddMixed(*A, n, x));
        }
      }
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- levels and iterations ------------------------------------------------- */

#define NODES "ambcolor_nodes"

/* The ordering ambcolor as it is for large matrices on a GPU */
static PetscErrorCode OrderNodes(Mat A, MatOrderingType type, IS *rows, IS *cols)
{
  SysCSR    csr = {0};
  PetscInt *perm, bs;
  int64_t   colours;

  PetscFunctionBeginUser;
  PetscCall(MatAIJGetArrays(A, &csr));
  PetscCall(MatGetBlockSize(A, &bs));
  PetscCall(PetscMalloc1(csr.m, &perm));
  PetscCheck(OrderColour(&csr, bs, ORDER_ROWS, 1, perm, &colours) == SYS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_MEM, "No order");
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, (PetscInt)csr.m, perm, PETSC_OWN_POINTER, rows));
  PetscCall(ISDuplicate(*rows, cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The levels of L of a factor without fill: the longest chain of rows, each of which depends on the one before */
static PetscErrorCode Levels(Mat A, MatOrderingType type, PetscInt *levels)
{
  IS              rows, cols;
  Mat             B;
  PetscInt       *level, n, m;
  const PetscInt *j;

  PetscFunctionBeginUser;
  *levels = 0;
  PetscCall(MatGetOrdering(A, type, &rows, &cols));
  PetscCall(MatPermute(A, rows, cols, &B));
  PetscCall(MatGetSize(B, &n, NULL));
  PetscCall(PetscCalloc1(n, &level));
  for (PetscInt r = 0; r < n; r++) {
    PetscCall(MatGetRow(B, r, &m, &j, NULL));
    for (PetscInt k = 0; k < m && j[k] < r; k++) level[r] = PetscMax(level[r], level[j[k]] + 1);
    PetscCall(MatRestoreRow(B, r, &m, &j, NULL));
    *levels = PetscMax(*levels, level[r] + 1);
  }
  PetscCall(PetscFree(level));
  PetscCall(TestDestroy(&B, &rows, &cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With an incomplete factor in this ordering, or without one with symmetric sweeps of SOR */
static PetscErrorCode Iterations(Mat A, const Problem *p, MatOrderingType type, PetscInt *its)
{
  KSPConvergedReason reason;
  KSP                ksp;
  PC                 pc;
  Vec                x, b;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(TestVecSet(b, 5));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetOptionsPrefix(ksp, "ambcolor_"));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, p->symmetric ? KSPCG : KSPGMRES));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 2000));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, !type ? PCSOR : p->symmetric ? PCICC : PCILU));
  if (type) PetscCall(PCFactorSetMatOrderingType(pc, type));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  if (reason < 0) *its = -1;
  PetscCall(TestDestroy(&ksp, &x, &b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Table(PetscInt scale)
{
  const MatOrderingType types[] = {MATORDERINGNATURAL, MATORDERINGAMBCOLOR, NODES, MATORDERINGRCM};

  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "| problem | rows | levels, natural | `ambcolor` | large, GPU | iterations, natural | `ambcolor` | large, GPU | `rcm` |\n|---|---|---|---|---|---|---|---|---|\n"));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(problems); k++) {
    PetscInt rows, levels[4], its[4];
    Mat      A;

    PetscCall(Create(&problems[k], scale, NULL, &A));
    PetscCall(MatGetSize(A, &rows, NULL));
    for (int t = 0; t < 4; t++) {
      PetscCall(Levels(A, types[t], &levels[t]));
      PetscCall(Iterations(A, &problems[k], types[t], &its[t]));
    }
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "| %s | %" PetscInt_FMT " | %" PetscInt_FMT " | %" PetscInt_FMT " | %" PetscInt_FMT " | %" PetscInt_FMT " | %" PetscInt_FMT " | %" PetscInt_FMT " | %" PetscInt_FMT " |\n", problems[k].name, rows, levels[0], levels[1], levels[2], its[0], its[1], its[2], its[3]));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TableSOR(PetscInt scale)
{
  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "| problem | rows | iterations, natural | `color` |\n|---|---|---|---|\n"));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(problems); k++) {
    PetscInt rows, its[2];
    Mat      A;

    PetscCall(Create(&problems[k], scale, NULL, &A));
    PetscCall(MatGetSize(A, &rows, NULL));
    for (int t = 0; t < 2; t++) {
      PetscCall(MatShadowSetSOR(A, t ? MAT_SHADOW_SOR_COLOR : MAT_SHADOW_SOR_NATURAL));
      PetscCall(Iterations(A, &problems[k], NULL, &its[t]));
    }
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "| %s | %" PetscInt_FMT " | %" PetscInt_FMT " | %" PetscInt_FMT " |\n", problems[k].name, rows, its[0], its[1]));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- checks ------------------------------------------------- */

static PetscScalar ValueNaN(PetscInt i, PetscInt j)
{
  return i % 7 == 3 ? NAN : TestValueGeneral(i, j);
}

static PetscInt RowOne(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  cols[0] = (i * 7 + 3) % N;
  return 1;
}

static const TestShape shapes[] = {
  {"one row",      1,    1,    TestRowFull,   TestValueGeneral, PETSC_FALSE},
  {"full",         100,  100,  TestRowFull,   TestValueGeneral, PETSC_FALSE},
  {"hub",          1000, 1000, TestRowHub,    TestValueGeneral, PETSC_FALSE},
  {"grid",         900,  900,  TestRowGrid,   TestValueGeneral, PETSC_FALSE},
  {"not a number", 900,  900,  TestRowGrid,   ValueNaN,         PETSC_FALSE},
  {"blocks",       324,  324,  TestRowBlocks, TestValueGeneral, PETSC_FALSE},
  {"one-sided",    500,  500,  RowOne,        TestValueGeneral, PETSC_FALSE},
  {"without rows", 300,  300,  TestRowNone,   TestValueGeneral, PETSC_FALSE}
};

static PetscErrorCode IsPermutation(TestDiff *d, IS is, PetscInt n, PetscInt bs, const char what[])
{
  const PetscInt *k;
  PetscInt        m;
  PetscBool      *seen;

  PetscFunctionBeginUser;
  PetscCall(ISGetLocalSize(is, &m));
  TestExpect(d, what, (PetscBool)(m == n));
  PetscCall(ISGetIndices(is, &k));
  PetscCall(PetscCalloc1(n, &seen));
  for (PetscInt p = 0; p < PetscMin(m, n); p++) {
    const PetscBool good = (PetscBool)(k[p] >= 0 && k[p] < n && !seen[k[p]]);

    TestExpect(d, what, good);
    if (good) seen[k[p]] = PETSC_TRUE;
    TestExpect(d, "rows of a block are apart", (PetscBool)(p % bs == 0 || k[p] == k[p - 1] + 1));
  }
  PetscCall(PetscFree(seen));
  PetscCall(ISRestoreIndices(is, &k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Permutations(TestDiff *d)
{
  PetscFunctionBeginUser;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(shapes); s++) {
    Mat       A, R;
    IS        rows, cols, again, unused;
    PetscBool same;

    PetscCall(TestPairCreate(&shapes[s], &A, &R));
    PetscCall(MatGetOrdering(A, MATORDERINGAMBCOLOR, &rows, &cols));
    PetscCall(IsPermutation(d, rows, shapes[s].M, 1, shapes[s].name));
    PetscCall(IsPermutation(d, cols, shapes[s].M, 1, shapes[s].name));
    TestExpect(d, "rows and columns are one object, of which PCILU destroys one reference", (PetscBool)(rows != cols));
    PetscCall(MatGetOrdering(R, MATORDERINGAMBCOLOR, &again, &unused));
    PetscCall(ISEqualUnsorted(rows, again, &same));
    TestExpect(d, "another order than with MATAIJ", same);
    PetscCall(TestDestroy(&rows, &cols, &again, &unused, &A, &R));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Unknowns of a node stay together, and matrices that store blocks are ordered by blocks */
static PetscErrorCode Blocks(TestDiff *d)
{
  const MatType types[] = {NULL, MATSEQBAIJ, MATSEQSBAIJ};

  PetscFunctionBeginUser;
  for (int t = 0; t < 3; t++) {
    PetscInt rows, its;
    Mat      A;
    IS       r, c;

    PetscCall(Create(&problems[10], 1, NULL, &A));
    PetscCall(MatGetSize(A, &rows, NULL));
    if (types[t]) {
      PetscCall(MatConvert(A, MATSEQAIJ, MAT_INPLACE_MATRIX, &A));
      PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
      PetscCall(MatConvert(A, types[t], MAT_INPLACE_MATRIX, &A));
    }
    PetscCall(MatGetOrdering(A, MATORDERINGAMBCOLOR, &r, &c));
    PetscCall(IsPermutation(d, r, types[t] ? rows / 3 : rows, types[t] ? 1 : 3, "an ordering of blocks"));
    PetscCall(TestDestroy(&r, &c));
    if (t < 2) {
      PetscCall(Iterations(A, t ? &problems[8] : &problems[10], MATORDERINGAMBCOLOR, &its)); /* ILU for BAIJ */
      TestExpect(d, "a solve with blocks diverges", (PetscBool)(its > 0 && its < 50));
    }
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Few levels where bonds are alike, not many more iterations than with the natural order, and the same with every package */
static PetscErrorCode Orders(TestDiff *d)
{
  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(problems); k++) {
    PetscInt natural[2], color[2], own;
    Mat      A;

    PetscCall(Create(&problems[k], 1, NULL, &A));
    PetscCall(Levels(A, MATORDERINGNATURAL, &natural[0]));
    PetscCall(Levels(A, MATORDERINGAMBCOLOR, &color[0]));
    PetscCall(Iterations(A, &problems[k], MATORDERINGNATURAL, &natural[1]));
    PetscCall(Iterations(A, &problems[k], MATORDERINGAMBCOLOR, &color[1]));
    if (k < 2) TestExpect(d, "many levels", (PetscBool)(3 * color[0] < natural[0]));
    TestExpect(d, problems[k].name, (PetscBool)(color[1] > 0 && 2 * color[1] < 3 * natural[1] + 20));
    PetscCall(PetscOptionsSetValue(NULL, "-ambcolor_pc_factor_mat_solver_type", MATSOLVERAMB));
    PetscCall(Iterations(A, &problems[k], MATORDERINGAMBCOLOR, &own));
    PetscCall(PetscOptionsClearValue(NULL, "-ambcolor_pc_factor_mat_solver_type"));
    TestExpect(d, "other iterations with MATSOLVERAMB", (PetscBool)(PetscAbsInt(own - color[1]) <= 1));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Single nodes have as many levels as colors, two or four; lines, flows and saddle points keep their blocks */
static PetscErrorCode Nodes(TestDiff *d)
{
  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(problems); k++) {
    const Problem  *p     = &problems[k];
    const PetscBool alike = (PetscBool)(p->symmetric && p->axis[0] == p->axis[2] && p->axis[0] == p->axis[1]);
    PetscInt        levels, its[2], bs = PetscAbsInt(p->bs), n;
    IS              rows, cols, blocks, unused;
    PetscBool       same;
    Mat             A;

    PetscCall(Create(p, 1, NULL, &A));
    PetscCall(MatGetSize(A, &n, NULL));
    PetscCall(MatGetOrdering(A, NODES, &rows, &cols));
    PetscCall(MatGetOrdering(A, MATORDERINGAMBCOLOR, &blocks, &unused));
    PetscCall(IsPermutation(d, rows, n, bs, p->name));
    PetscCall(ISEqualUnsorted(rows, blocks, &same));
    TestExpect(d, p->name, (PetscBool)(same == !alike));
    if (alike) {
      PetscCall(Levels(A, NODES, &levels));
      PetscCall(Iterations(A, p, MATORDERINGNATURAL, &its[0]));
      PetscCall(Iterations(A, p, NODES, &its[1]));
      TestExpect(d, "levels of single nodes", (PetscBool)(levels <= (bs > 1 ? 12 : 2)));
      TestExpect(d, "iterations of single nodes", (PetscBool)(its[1] > 0 && its[1] < 2 * its[0]));
    }
    PetscCall(TestDestroy(&rows, &cols, &blocks, &unused, &A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const TestCase tests[] = {
  {"permutations", Permutations},
  {"blocks",       Blocks      },
  {"nodes",        Nodes       },
  {"orders",       Orders      },
  {NULL,           NULL        }
};

int main(int argc, char **argv)
{
  PetscInt  scale = 1;
  PetscBool table = PETSC_FALSE, sor = PETSC_FALSE;

  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(MatOrderingRegister(NODES, OrderNodes));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-ambcolor_table", &table, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-ambcolor_scale", &scale, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-ambcolor_sor_table", &sor, NULL));
  if (table) PetscCall(Table(scale));
  else if (sor) PetscCall(TableSOR(scale));
  else PetscCall(TestRun(tests));
  return TestFinalize();
}

/*TEST

  test:
    requires: double !complex
    args: -mat_type {{aij amb}} -petscamb_factor device -mat_shadow_tune off -options_left no
    checks: 4

TEST*/
