/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "PCBJACOBI and PCASM with several blocks a process beside those of a MATAIJ: block Jacobi, restricted and basic Schwarz, orderings, new values, one solve on a GPU for all blocks.\n";

#include "../testutil.h"
#include "ksp/pc/impls/blocks/glue/pcblocks.h"
#include <petsc/private/pcasmimpl.h>

static const TestShape convection = {"convection", 900, 900, TestRowGrid, TestValueConvection, PETSC_FALSE};
static const TestShape symmetric  = {"symmetric", 900, 900, TestRowGrid, TestValueSymmetric, PETSC_FALSE};

static PetscScalar ValueNodes(PetscInt i, PetscInt j)
{
  return i == j ? 8.0 : 0.5 * TestReal(PetscMin(i, j), PetscMax(i, j));
}

/* Nodes of three rows; the block size is set */
static const TestShape nodes = {"nodes", 324, 324, TestRowBlocks, ValueNodes, PETSC_FALSE};

static const struct {
  const char      *options;
  const TestShape *shape;
  PetscBool        grouped; /* one solve on a GPU */
} cases[] = {
  {"-pc_type bjacobi -pc_bjacobi_local_blocks 5",                                                     &convection, PETSC_TRUE },
  {"-pc_type bjacobi -pc_bjacobi_local_blocks 3 -sub_pc_factor_mat_ordering_type rcm",                &convection, PETSC_TRUE },
  {"-pc_type bjacobi -pc_bjacobi_local_blocks 4 -sub_pc_type icc",                                    &symmetric,  PETSC_TRUE },
  {"-pc_type bjacobi -pc_bjacobi_local_blocks 4 -sub_ksp_type richardson -sub_ksp_max_it 2",          &convection, PETSC_FALSE},
  {"-pc_type bjacobi -pc_bjacobi_local_blocks 4 -sub_pc_type sor -mat_shadow_sor natural",            &convection, PETSC_FALSE},
  {"-pc_type bjacobi -pc_bjacobi_local_blocks 4",                                                     &nodes,      PETSC_TRUE },
  {"-pc_type bjacobi -pc_bjacobi_local_blocks 4 -sub_pc_type icc",                                    &nodes,      PETSC_TRUE },
  {"-pc_type asm -pc_asm_local_blocks 4 -pc_asm_overlap 2",                                           &convection, PETSC_TRUE },
  {"-pc_type asm -pc_asm_local_blocks 3 -pc_asm_type basic -sub_pc_factor_mat_ordering_type rcm",     &convection, PETSC_TRUE },
  {"-pc_type asm -pc_asm_local_blocks 3 -pc_asm_type basic -sub_pc_type icc",                         &symmetric,  PETSC_TRUE },
  {"-pc_type asm -pc_asm_local_blocks 3 -pc_asm_overlap 0 -sub_pc_factor_mat_ordering_type ambcolor", &convection, PETSC_TRUE },
  {"-pc_type asm -pc_asm_local_blocks 3 -pc_asm_local_type multiplicative",                           &convection, PETSC_FALSE}
};

static PetscErrorCode Create(Mat A, const TestShape *shape, const char options[], const char sub[], PC *pc)
{
  PetscOptions database;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsCreate(&database));
  PetscCall(PetscOptionsInsertString(database, "-mat_partitioning_type current -ref_mat_partitioning_type current")); /* not at random */
  PetscCall(PetscOptionsInsertString(database, options));
  PetscCall(PetscOptionsInsertString(database, sub));
  PetscCall(PetscOptionsPush(database));
  if (shape == &nodes) PetscCall(MatSetBlockSize(A, 3));
  PetscCall(PCCreate(PETSC_COMM_WORLD, pc));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(PCSetFromOptions(*pc));
  PetscCall(PCSetUp(*pc));
  PetscCall(PCSetUpOnBlocks(*pc));
  PetscCall(PetscOptionsPop());
  PetscCall(PetscOptionsDestroy(&database));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Near(TestDiff *d, const char what[], Vec x, Vec y)
{
  PetscReal norm, err;

  PetscFunctionBeginUser;
  PetscCall(VecNorm(y, NORM_2, &norm));
  PetscCall(VecAXPY(x, -1.0, y));
  PetscCall(VecNorm(x, NORM_2, &err));
  TestDiffAdd(d, what, err / norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same with both matrices. group: PETSC_TRUE if all blocks have one solve. */
static PetscErrorCode Compare(TestDiff *d, PC petsc, PC own, PetscInt seed, PetscBool group)
{
  PCBlocks *c;
  Vec       b[2], x[2], y;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(petsc->pmat, &x[0], &b[0]));
  PetscCall(MatCreateVecs(own->pmat, &x[1], &b[1]));
  PetscCall(VecDuplicate(x[0], &y));
  for (int k = 0; k < 2; k++) PetscCall(TestVecSet(b[k], seed));
  PetscCall(VecSet(x[1], 3.0)); /* nothing that is left in x may change the result */
  PetscCall(PCApply(petsc, b[0], x[0]));
  PetscCall(PCApply(own, b[1], x[1]));
  PetscCall(VecCopy(x[1], y));
  PetscCall(Near(d, "another result", y, x[0]));
  PetscCall(PCBlocksGet(own, &c));
  TestExpect(d, "blocks have one solve, or have not", (PetscBool)(group == (PetscBool)(c && c->group)));
  for (int k = 0; k < 2; k++) { PetscCall(TestDestroy(&b[k], &x[k])); }
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first application, the next one, new values, another pattern */
static PetscErrorCode Apply(TestDiff *d)
{
  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); k++) {
    PetscBool   device, schwarz;
    PetscMPIInt size;
    PCBlocks   *c;
    Mat         A, R;
    PC          petsc, own;

    PetscCall(TestPairCreate(cases[k].shape, &A, &R));
    PetscCall(TestOnDevice(A, &device));
    device = (PetscBool)(device && MatShadowIsOurs(A) && cases[k].grouped);
    PetscCall(Create(R, cases[k].shape, cases[k].options, "", &petsc));
    PetscCall(Create(A, cases[k].shape, cases[k].options, "", &own));
    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
    PetscCall(PetscObjectTypeCompare((PetscObject)own, PCASM, &schwarz));
    PetscCall(Compare(d, petsc, own, 1, device));
    PetscCall(Compare(d, petsc, own, 2, device));
    for (int round = 0; round < 2; round++) {
      PetscCall(MatShift(A, 0.7));
      PetscCall(MatShift(R, 0.7));
      PetscCall(PCSetUp(petsc));
      PetscCall(PCSetUp(own));
      if (round) PetscCall(PCSetUpOnBlocks(own));
      PetscCall(Compare(d, petsc, own, 3 + round, device));
      PetscCall(PCBlocksGet(own, &c));
      TestExpect(d, "new values pass through the host, or do not", (PetscBool)((device && (size == 1 || !schwarz)) == (c && c->blocks)));
    }
    PetscCall(TestDestroy(&petsc, &own, &A, &R));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The places of a group, with solves block by block on the host */
static PetscErrorCode PlacesOf(TestDiff *d, PC pc, PetscBool wanted)
{
  const char        *why = NULL;
  PCBlocks           c   = {0};
  PC_ASM            *osm;
  PetscInt           n, total = 0, *source, *target;
  const PetscScalar *from;
  PetscScalar       *to;
  KSP               *ksp;
  Mat                F[8];
  Vec                b, x, y, lb, lx, out;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCASM, &c.schwarz));
  osm = c.schwarz ? (PC_ASM *)pc->data : NULL;
  if (osm) PetscCall(PCASMGetSubKSP(pc, &n, NULL, &ksp));
  else PetscCall(PCBJacobiGetSubKSP(pc, &n, NULL, &ksp));
  for (PetscInt k = 0; k < n; k++) {
    PC sub;

    PetscCall(KSPGetPC(ksp[k], &sub));
    PetscCall(PCFactorGetMatrix(sub, &F[k]));
    total += F[k]->rmap->n;
  }
  PetscCall(PetscMalloc2(total, &source, total, &target));
  PetscCall(PCBlocksGetPlaces(pc, &c, n, F, source, target, &why));
  TestExpect(d, "solutions have places, or have not", (PetscBool)(wanted == !why));
  if (why) {
    PetscCall(PetscFree2(source, target));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatCreateVecs(pc->pmat, &x, &b));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(TestVecSet(b, 5));
  PetscCall(PCApply(pc, b, y));
  lb = osm ? osm->lx : b;
  lx = osm ? osm->ly : x;
  PetscCall(VecSet(x, 0.0));
  PetscCall(VecSet(lx, 0.0));
  if (osm) {
    PetscCall(VecScatterBegin(osm->restriction, b, lb, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterEnd(osm->restriction, b, lb, INSERT_VALUES, SCATTER_FORWARD));
  }
  out = c.y ? c.y : lx;
  PetscCall(VecGetArrayRead(lb, &from));
  PetscCall(VecGetArray(out, &to));
  for (PetscInt k = 0, first = 0; k < n; first += F[k++]->rmap->n) {
    const PetscInt *rows, *cols;
    MatFactorAMB   *f;
    PetscScalar    *a;
    Vec             r, s;

    PetscCall(MatFactorAMBGet(F[k], &f));
    PetscCall(ISGetIndices(f->rows, &rows));
    PetscCall(ISGetIndices(f->cols, &cols));
    PetscCall(MatCreateVecs(F[k], &s, &r));
    PetscCall(VecGetArrayWrite(r, &a));
    for (PetscInt p = 0; p < F[k]->rmap->n; p++) a[rows[p]] = from[source[first + p]];
    PetscCall(VecRestoreArrayWrite(r, &a));
    PetscCall(MatSolve(F[k], r, s));
    PetscCall(VecGetArray(s, &a));
    for (PetscInt p = 0; p < F[k]->rmap->n; p++) {
      if (target[first + p] >= 0) to[target[first + p]] = a[cols[p]];
    }
    PetscCall(VecRestoreArray(s, &a));
    PetscCall(TestDestroy(&r, &s));
    PetscCall(ISRestoreIndices(f->cols, &cols));
    PetscCall(ISRestoreIndices(f->rows, &rows));
  }
  PetscCall(VecRestoreArray(out, &to));
  PetscCall(VecRestoreArrayRead(lb, &from));
  if (c.y) {
    PetscCall(VecScatterBegin(c.back, c.y, lx, ADD_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterEnd(c.back, c.y, lx, ADD_VALUES, SCATTER_FORWARD));
  }
  if (osm) {
    PetscCall(VecScatterBegin(osm->restriction, lx, x, ADD_VALUES, c.y ? SCATTER_REVERSE : SCATTER_REVERSE_LOCAL));
    PetscCall(VecScatterEnd(osm->restriction, lx, x, ADD_VALUES, c.y ? SCATTER_REVERSE : SCATTER_REVERSE_LOCAL));
  }
  PetscCall(Near(d, "another result of the places", x, y));
  PetscCall(PetscFree2(source, target));
  PetscCall(TestDestroy(&c.back, &c.y, &b, &x, &y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Places(TestDiff *d)
{
  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); k++) {
    Mat A;
    PC  pc;

    if (!cases[k].grouped) continue;
    PetscCall(TestShapeCreate(cases[k].shape, "ref_", &A));
    PetscCall(Create(A, cases[k].shape, cases[k].options, "-sub_pc_factor_mat_solver_type amb", &pc));
    PetscCall(PlacesOf(d, pc, PETSC_TRUE));
    PetscCall(TestDestroy(&pc, &A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Subdomains of the program, whose own parts overlap */
static PetscErrorCode Overlap(TestDiff *d)
{
  PetscInt start, end;
  Mat      A;
  PC       pc;
  IS       is[2];

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&convection, "ref_", &A));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, (end - start) / 2 + 5, start, 1, &is[0]));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, (end - start) / 2, end - (end - start) / 2, 1, &is[1]));
  PetscCall(PetscOptionsSetValue(NULL, "-sub_pc_factor_mat_solver_type", MATSOLVERAMB));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetType(pc, PCASM));
  PetscCall(PCASMSetLocalSubdomains(pc, 2, is, is));
  PetscCall(PCASMSetOverlap(pc, 0));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCSetUp(pc));
  PetscCall(PCSetUpOnBlocks(pc));
  PetscCall(PetscOptionsClearValue(NULL, "-sub_pc_factor_mat_solver_type"));
  PetscCall(PlacesOf(d, pc, PETSC_FALSE));
  PetscCall(PCDestroy(&pc));
  for (int k = 0; k < 2; k++) PetscCall(ISDestroy(&is[k]));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const TestCase tests[] = {
  {"apply",   Apply  },
  {"places",  Places },
  {"overlap", Overlap},
  {NULL,      NULL   }
};

int main(int argc, char **argv)
{
  return TestMain(argc, argv, help, tests);
}

/*TEST

  test:
    nsize: {{1 2}}
    args: -mat_type {{aij amb}} -petscamb_factor {{model device}} -mat_shadow_tune off -options_left no
    checks: 3

TEST*/
