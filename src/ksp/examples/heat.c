/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "Heat in a cube of varying material, by implicit time steps: the values of the matrix change in every step, its pattern does not.\n\
Runs once with a type of PETSc and once with amb, and prints the bytes copied to and from a GPU in the solves.\n\
  -n N           N^3 cells (default 40)\n\
  -steps N       time steps (default 4)\n\
  -dt T          the first step; every further step is 1.5 times as long as the one before (default 0.01)\n\
  -base TYPE     the type of PETSc (default aij; aijcusparse for the GPU)\n\
  -mat_type TYPE the other type (default amb)\n\
  -times 0       iterations and agreement only, in a form that does not change from run to run\n\
  -csv [FILE], -json [FILE]  results for other programs; without FILE on standard output, in place of the text\n\n";

#include <petscksp.h>
#include <petsctime.h>
#include <petscamb.h>

#include "ksp/examples/commandline.h"

typedef struct {
  PetscInt  n, steps;
  PetscReal dt;
} Problem;

typedef struct {
  char           type[64], vec[64];
  PetscInt       its;
  PetscLogDouble assembly, solve;  /* seconds */
  PetscLogDouble to_gpu, from_gpu; /* bytes copied in the solves, without scalars */
  Vec            u;
} Outcome;

/* The conductance of the face between two cells */
static PetscReal Conductivity(PetscInt a, PetscInt b)
{
  const unsigned int h = 2654435761u * (unsigned int)(a + b) ^ 2246822519u * (unsigned int)PetscAbs(a - b);

  return 0.1 + (PetscReal)(h >> 8) / (PetscReal)(1u << 24);
}

/* Makes the rows of this process: entries in COO form, the diagonal first in each row. If i and j are NULL only values are set; if a is NULL entries are only counted. */
static PetscCount Entries(const Problem *p, PetscInt first, PetscInt last, PetscReal dt, PetscInt i[], PetscInt j[], PetscScalar a[])
{
  const PetscInt  stride[3] = {1, p->n, p->n * p->n};
  const PetscReal h2        = (PetscReal)((p->n + 1) * (p->n + 1));
  PetscCount      k         = 0;

  for (PetscInt r = first; r < last; r++) {
    const PetscInt   at[3]    = {r % p->n, r / p->n % p->n, r / (p->n * p->n)};
    const PetscCount diagonal = k++;
    PetscReal        sum      = 0;

    for (int d = 0; d < 3; d++) {
      for (int side = -1; side <= 1; side += 2) {
        const PetscBool inside = (PetscBool)(at[d] + side >= 0 && at[d] + side < p->n);
        const PetscInt  c      = r + side * stride[d];
        const PetscReal q      = dt * h2 * (inside ? Conductivity(PetscMin(r, c), PetscMax(r, c)) : 1);

        sum += q;
        if (!inside) continue; /* the temperature of the surface is 0 */
        if (i) i[k] = r;
        if (j) j[k] = c;
        if (a) a[k] = -q;
        k++;
      }
    }
    if (i) i[diagonal] = r;
    if (j) j[diagonal] = r;
    if (a) a[diagonal] = 1 + sum;
  }
  return k;
}

static PetscErrorCode Copied(PetscLogDouble *to_gpu, PetscLogDouble *from_gpu)
{
  PetscFunctionBeginUser;
  *to_gpu = *from_gpu = 0;
#if defined(PETSC_HAVE_DEVICE)
  {
    PetscLogEvent      solve;
    PetscEventPerfInfo info;

    PetscCall(PetscLogEventGetId("KSPSolve", &solve));
    PetscCall(PetscLogEventGetPerfInfo(PETSC_DEFAULT, solve, &info));
    *to_gpu   = info.CpuToGpuSize;
    *from_gpu = info.GpuToCpuSize;
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run(const Problem *p, const char type[], Outcome *out)
{
  Mat            A;
  KSP            ksp;
  PetscInt       N = p->n * p->n * p->n, first, last;
  PetscInt      *i, *j;
  PetscScalar   *a;
  PetscCount     nz;
  PetscReal      dt = p->dt;
  PetscLogDouble t0, t1, to_gpu, from_gpu;
  MatType        made;
  VecType        vec;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(out, sizeof(*out)));
  PetscCall(PetscStrncpy(out->type, type, sizeof(out->type)));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, N, N));
  PetscCall(MatSetType(A, type));
  PetscCall(MatSetUp(A));
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  nz = Entries(p, first, last, dt, NULL, NULL, NULL);
  PetscCall(PetscMalloc3(nz, &i, nz, &j, nz, &a));
  (void)Entries(p, first, last, dt, i, j, NULL);
  PetscCall(MatSetPreallocationCOO(A, nz, i, j));
  PetscCall(MatCreateVecs(A, &out->u, NULL));
  PetscCall(VecSet(out->u, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(Copied(&to_gpu, &from_gpu));
  for (PetscInt step = 0; step < p->steps; step++, dt *= 1.5) {
    PetscInt           its;
    KSPConvergedReason reason;

    PetscCall(PetscTime(&t0));
    (void)Entries(p, first, last, dt, NULL, NULL, a);
    PetscCall(MatSetValuesCOO(A, a, INSERT_VALUES));
    PetscCall(KSPSetUp(ksp));
    PetscCall(PetscTime(&t1));
    out->assembly += t1 - t0;
    PetscCall(KSPSolve(ksp, out->u, out->u));
    PetscCall(PetscTime(&t0));
    out->solve += t0 - t1;
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "Step %" PetscInt_FMT " with %s: %s", step, type, KSPConvergedReasons[reason]);
    PetscCall(KSPGetIterationNumber(ksp, &its));
    out->its += its;
  }
  PetscCall(Copied(&out->to_gpu, &out->from_gpu));
  out->to_gpu -= to_gpu;
  out->from_gpu -= from_gpu;
  PetscCall(MatGetType(A, &made));
  PetscCall(VecGetType(out->u, &vec));
  PetscCall(PetscStrncpy(out->type, made, sizeof(out->type)));
  PetscCall(PetscStrncpy(out->vec, vec, sizeof(out->vec)));
  PetscCall(PetscFree3(i, j, a));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest difference, relative to the largest value. The vectors may be of different types. */
static PetscErrorCode Difference(Vec u, Vec v, PetscReal *difference)
{
  const PetscScalar *a, *b;
  PetscInt           n;
  PetscReal          most[2] = {0, 0};

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(u, &n));
  PetscCall(VecGetArrayRead(u, &a));
  PetscCall(VecGetArrayRead(v, &b));
  for (PetscInt k = 0; k < n; k++) {
    most[0] = PetscMax(most[0], PetscAbsScalar(a[k] - b[k]));
    most[1] = PetscMax(most[1], PetscAbsScalar(a[k]));
  }
  PetscCall(VecRestoreArrayRead(u, &a));
  PetscCall(VecRestoreArrayRead(v, &b));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 2, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  *difference = most[1] > 0 ? most[0] / most[1] : most[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunAll(PetscBool *right)
{
  Problem   p          = {40, 4, 0.01};
  PetscBool times      = PETSC_TRUE, gpu;
  PetscReal difference = 0;
  Outcome   out[2];
  char      base[64] = MATAIJ, type[64] = MATAMB;

  PetscFunctionBeginUser;
  PetscCall(PetscLogDefaultBegin());
  PetscCall(PetscAMBInitializePackage());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &p.n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-steps", &p.steps, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-dt", &p.dt, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-times", &times, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-base", base, sizeof(base), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mat_type", type, sizeof(type), NULL));
  PetscCheck(p.n > 0 && p.n <= 1000 && p.steps > 0 && p.dt > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-n %" PetscInt_FMT " -steps %" PetscInt_FMT " -dt %g: the first is 1 to 1000, the others are positive", p.n, p.steps, (double)p.dt);
  PetscCall(Run(&p, base, &out[0])); /* this run comes first: once a matrix is amb on the GPU, every new AIJCUSPARSE is amb too */
  PetscCall(Run(&p, type, &out[1]));
  PetscCall(PetscStrendswith(out[1].vec, "cuda", &gpu));
  PetscCall(Difference(out[0].u, out[1].u, &difference));
  if (times) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-16s %-8s %10s %12s %10s %14s %14s\n", "matrix", "vectors", "iterations", "assembly s", "solve s", "MB to GPU", "MB from GPU"));
    for (int k = 0; k < 2; k++)
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-16s %-8s %10" PetscInt_FMT " %12.4f %10.4f %14.3f %14.3f\n", k ? type : out[k].type, out[k].vec, out[k].its, out[k].assembly, out[k].solve, 1e-6 * out[k].to_gpu, 1e-6 * out[k].from_gpu));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s; copies are those in the solves\n", gpu ? "on the GPU" : "on the host"));
  }
  *right = (PetscBool)(difference < 1e-6 && PetscAbs(out[0].its - out[1].its) <= p.steps);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s\n", *right ? "both agree" : "THEY DISAGREE"));
  for (int k = 0; k < 2; k++) {
    PetscCall(CommandAdd("type", k ? type : out[k].type, 0));
    PetscCall(CommandAdd("vectors", out[k].vec, 0));
    PetscCall(CommandAdd("iterations", NULL, out[k].its));
    PetscCall(CommandAdd("assembly_s", NULL, out[k].assembly));
    PetscCall(CommandAdd("solve_s", NULL, out[k].solve));
    PetscCall(CommandAdd("bytes_to_gpu", NULL, out[k].to_gpu));
    PetscCall(CommandAdd("bytes_from_gpu", NULL, out[k].from_gpu));
    PetscCall(VecDestroy(&out[k].u));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *const own[] = {"n", "steps", "dt", "base", "times", "csv", "json"};

  return CommandMain("heat", argc, argv, help, PETSC_STATIC_ARRAY_LENGTH(own), own, RunAll);
}

/*TEST

  testset:
    requires: double
    nsize: {{1 2 3}}
    args: -n 12 -times 0 -pc_type jacobi -mat_shadow_tune {{off measure}}
    output:
      both agree
    test:
      suffix: cg
    test:
      suffix: bcgs
      args: -ksp_type bcgs

TEST*/
