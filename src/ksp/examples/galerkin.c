/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "Elasticity of a cube, clamped at the bottom, by CG and algebraic multigrid: the Galerkin products of its set-up with plain aij and\n\
with -mat_type, the first time and, with new values, once more.\n\
  -ne N          N^3 elements (default 12)\n\
  -base TYPE     the type to compare with (default aij)\n\
  -mat_type TYPE (default hashgemm)\n\
  -times 0       iterations only, in a form that does not change from run to run\n\
  -csv [FILE], -json [FILE]  results for other programs; without FILE on standard output, in place of the text\n\
and all options of KSP and PC.\n\n";

#include <petscksp.h>
#include <petsctime.h>
#include <petscamb.h>

#include "ksp/examples/commandline.h"

typedef struct {
  char           type[64];
  PetscInt       its[2];
  PetscLogDouble setup[2], products[2], solve[2]; /* seconds; the set-up includes the products */
} Outcome;

/* The stiffness matrix, 24 x 24, of a cube of edge 1: trilinear displacements, E = 1, nu = 0.25, 2 x 2 x 2 integration points. Corner c is at
   (c & 1, c >> 1 & 1, c >> 2). */
static void Stiffness(PetscReal K[24][24])
{
  const PetscReal mu = 0.4, lambda = 0.4, g[2] = {0.5 - 0.5 / PetscSqrtReal(3.0), 0.5 + 0.5 / PetscSqrtReal(3.0)};

  for (int r = 0; r < 24; r++) {
    for (int c = 0; c < 24; c++) K[r][c] = 0;
  }
  for (int q = 0; q < 8; q++) {
    const PetscReal x[3] = {g[q & 1], g[q >> 1 & 1], g[q >> 2]};
    PetscReal       d[8][3];

    for (int c = 0; c < 8; c++) {
      for (int k = 0; k < 3; k++) {
        d[c][k] = c >> k & 1 ? 1 : -1;
        for (int l = 0; l < 3; l++) {
          if (l != k) d[c][k] *= c >> l & 1 ? x[l] : 1 - x[l];
        }
      }
    }
    for (int a = 0; a < 8; a++) {
      for (int b = 0; b < 8; b++) {
        const PetscReal dot = d[a][0] * d[b][0] + d[a][1] * d[b][1] + d[a][2] * d[b][2];

        for (int i = 0; i < 3; i++) {
          for (int j = 0; j < 3; j++) K[3 * a + i][3 * b + j] += (lambda * d[a][i] * d[b][j] + mu * d[a][j] * d[b][i] + (i == j ? mu * dot : 0)) / 8;
        }
      }
    }
  }
}

/* Every process makes some of the elements. Of the rows and columns of the clamped nodes only the diagonal is stored. */
static PetscErrorCode Elasticity(PetscInt ne, const char type[], Mat *A)
{
  const PetscInt nn = ne + 1, N = 3 * nn * nn * nn, elements = ne * ne * ne;
  PetscReal      K[24][24];
  PetscInt      *i, *j;
  PetscScalar   *a;
  PetscCount     n = 0;
  PetscMPIInt    rank, size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  Stiffness(K);
  PetscCall(PetscMalloc3((PetscCount)576 * (elements / size + 1), &i, (PetscCount)576 * (elements / size + 1), &j, (PetscCount)576 * (elements / size + 1), &a));
  for (PetscInt e = (PetscInt)((PetscInt64)elements * rank / size); e < (PetscInt)((PetscInt64)elements * (rank + 1) / size); e++) {
    const PetscInt corner = e % ne + e / ne % ne * nn + e / (ne * ne) * nn * nn;
    PetscInt       node[8];

    for (int c = 0; c < 8; c++) node[c] = corner + (c & 1) + (c >> 1 & 1) * nn + (c >> 2) * nn * nn;
    for (int r = 0; r < 24; r++) {
      for (int c = 0; c < 24; c++) {
        const PetscBool clamped = (PetscBool)(node[r / 3] < nn * nn || node[c / 3] < nn * nn);

        if (clamped && r != c) continue;
        i[n]   = 3 * node[r / 3] + r % 3;
        j[n]   = 3 * node[c / 3] + c % 3;
        a[n++] = K[r][c];
      }
    }
  }
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, N, N));
  PetscCall(MatSetBlockSize(*A, 3));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetPreallocationCOO(*A, n, i, j));
  PetscCall(MatSetValuesCOO(*A, a, ADD_VALUES));
  PetscCall(PetscFree3(i, j, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The motions of a rigid body, which the coarse levels of multigrid must represent */
static PetscErrorCode RigidBody(Mat A, PetscInt ne)
{
  const PetscInt nn = ne + 1;
  Vec            coordinates;
  PetscScalar   *c;
  PetscInt       first, last;
  MatNullSpace   space;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &coordinates, NULL));
  PetscCall(VecSetBlockSize(coordinates, 3));
  PetscCall(VecGetOwnershipRange(coordinates, &first, &last));
  PetscCall(VecGetArrayWrite(coordinates, &c));
  for (PetscInt r = first; r < last; r++) {
    const PetscInt node = r / 3, at[3] = {node % nn, node / nn % nn, node / (nn * nn)};

    c[r - first] = (PetscReal)at[r % 3];
  }
  PetscCall(VecRestoreArrayWrite(coordinates, &c));
  PetscCall(MatNullSpaceCreateRigidBody(coordinates, &space));
  PetscCall(MatSetNearNullSpace(A, space));
  PetscCall(MatNullSpaceDestroy(&space));
  PetscCall(VecDestroy(&coordinates));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ProductTime(PetscLogDouble *seconds)
{
  const char *const events[] = {"MatMatMultSym", "MatMatMultNum", "MatPtAPSymbolic", "MatPtAPNumeric", "MatTrnMatMultSym", "MatTrnMatMultNum"};

  PetscFunctionBeginUser;
  *seconds = 0;
  for (int k = 0; k < 6; k++) {
    PetscLogEvent      event;
    PetscEventPerfInfo info;

    PetscCall(PetscLogEventGetId(events[k], &event));
    if (event < 0) continue;
    PetscCall(PetscLogEventGetPerfInfo(PETSC_DEFAULT, event, &info));
    *seconds += info.time;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run(PetscInt ne, const char type[], Outcome *out)
{
  Mat            A;
  Vec            x, b;
  KSP            ksp;
  PC             pc;
  PetscLogDouble t0, t1, p0, p1;

  PetscFunctionBeginUser;
  PetscCall(PetscStrncpy(out->type, type, sizeof(out->type)));
  PetscCall(Elasticity(ne, type, &A));
  PetscCall(RigidBody(A, ne));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCGAMG));
  PetscCall(PCGAMGSetReuseInterpolation(pc, PETSC_TRUE));
  PetscCall(KSPSetFromOptions(ksp));
  for (int turn = 0; turn < 2; turn++) {
    KSPConvergedReason reason;

    if (turn) PetscCall(MatScale(A, 2));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(ProductTime(&p0));
    PetscCall(PetscTime(&t0));
    PetscCall(KSPSetUp(ksp));
    PetscCall(PetscTime(&t1));
    PetscCall(ProductTime(&p1));
    out->setup[turn]    = t1 - t0;
    out->products[turn] = p1 - p0;
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(PetscTime(&t0));
    out->solve[turn] = t0 - t1;
    PetscCall(KSPGetIterationNumber(ksp, &out->its[turn]));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "With %s: %s", type, KSPConvergedReasons[reason]);
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunAll(PetscBool *right)
{
  Outcome   out[2];
  PetscInt  ne       = 12;
  PetscBool times    = PETSC_TRUE;
  char      base[64] = MATAIJ, type[64] = MATHASHGEMM;

  PetscFunctionBeginUser;
  PetscCall(PetscLogDefaultBegin());
  PetscCall(PetscAMBInitializePackage());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-ne", &ne, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-times", &times, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-base", base, sizeof(base), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mat_type", type, sizeof(type), NULL));
  PetscCheck(ne > 0 && ne <= 800, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-ne %" PetscInt_FMT " is 1 to 800", ne);
  PetscCall(PetscMemzero(out, sizeof(out)));
  PetscCall(Run(ne, base, &out[0]));
  PetscCall(Run(ne, type, &out[1]));
  if (times) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-12s %-12s %12s %16s %10s %12s\n", "matrix", "set-up", "seconds", "of it products", "solve", "iterations"));
    for (int turn = 0; turn < 2; turn++) {
      for (int k = 0; k < 2; k++)
        PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-12s %-12s %12.4f %16.4f %10.4f %12" PetscInt_FMT "\n", out[k].type, turn ? "new values" : "first", out[k].setup[turn], out[k].products[turn], out[k].solve[turn], out[k].its[turn]));
    }
  }
  for (int k = 0; k < 4; k++) {
    const Outcome *o = &out[k % 2];

    PetscCall(CommandAdd("type", o->type, 0));
    PetscCall(CommandAdd("setup", k / 2 ? "new values" : "first", 0));
    PetscCall(CommandAdd("setup_s", NULL, o->setup[k / 2]));
    PetscCall(CommandAdd("products_s", NULL, o->products[k / 2]));
    PetscCall(CommandAdd("solve_s", NULL, o->solve[k / 2]));
    PetscCall(CommandAdd("iterations", NULL, o->its[k / 2]));
  }
  *right = (PetscBool)(PetscAbs(out[0].its[0] - out[1].its[0]) <= 1 && PetscAbs(out[0].its[1] - out[1].its[1]) <= 1);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s\n", *right ? "iterations agree" : "ITERATIONS DIFFER"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *const own[] = {"ne", "base", "times", "csv", "json"};

  return CommandMain("galerkin", argc, argv, help, PETSC_STATIC_ARRAY_LENGTH(own), own, RunAll);
}

/*TEST

  test:
    requires: double
    nsize: {{1 2 3}}
    args: -ne 6 -times 0 -mat_type {{hashgemm amb}}
    output:
      iterations agree

TEST*/
